/* What a file states of its values and their place reaches every command and every reader and
 * writer.
 *
 * One input is written in many ways that mean the same: far from 0, scaled (slope and intercept),
 * with a unit, mirrored, with its axes in another order, labels with large ids. Each row of the
 * tables below is a command that takes such an input, run on every engine; what it finds (areas,
 * volumes, values, counts, pictures) must be what it finds in the plain input, moved by as much. A
 * command or a function of trommel-io that stands in no row fails the test. */
#include <math.h>

#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include "test.h"

#include "contexts.h"
#include "folder.h"
#include "warned.h"

/* ---- running the command --------------------------------------------------------------------- */

enum { TEXT = 1 << 18, LINE = 4096 };
static char out[TEXT], err[TEXT];
static tml_context *tml;

static int run(const char *line)
{
    char command[2 * LINE];
    snprintf(command, sizeof command, "'%s' %s >'%s' 2>'%s' </dev/null", getenv("TML_CLI"), line,
             in_folder("out.txt"), in_folder("err.txt"));
    int status = system(command);
    test_read_text(in_folder("out.txt"), out, TEXT);
    test_read_text(in_folder("err.txt"), err, TEXT);
    return status;
}

/* The number behind "key": in what the command printed, of the count-th such key; NaN where there
 * is none. */
static double printed(const char *key, int count)
{
    char quoted[64];
    const char *at = out;
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    for (int i = 0; at && i <= count; i++)
        at = (at = strstr(at, quoted)) ? at + strlen(quoted) : NULL;
    return at ? strtod(*at == '[' ? at + 1 : at, NULL) : (double)NAN;
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* What a command found: figures that do not depend on where the input lies, and a box that moves
 * with it. */
typedef struct findings {
    int count;
    double figures[24];
    bool has_box;
    double lower[3], upper[3];
} findings;

static void found(findings *f, double figure)
{
    if (f->count < 24)
        f->figures[f->count++] = figure;
}

static void found_place(findings *f, const double at[3])
{
    for (int i = 0; i < 3; i++) {
        f->lower[i] = f->has_box ? fmin(f->lower[i], at[i]) : at[i];
        f->upper[i] = f->has_box ? fmax(f->upper[i], at[i]) : at[i];
    }
    f->has_box = true;
}

/* Area, enclosed volume (signed: it shows the orientation), the values' mean and the box of m.ply
 * or another. */
static void find_mesh(const char *name, findings *f)
{
    tml_mesh_file file;
    if (!CHECK_OK(tml, tml_mesh_load(tml, in_folder(name), NULL, &file)))
        return;
    const tml_mesh *m = &file.mesh;
    const uint32_t *indices = m->indices;
    double area = 0, volume = 0, values = 0, place[3];
    for (uint64_t v = 0; v < m->vertex_count; v++) {
        for (int i = 0; i < 3; i++)
            place[i] = m->origin[i] + (double)m->positions[3 * v + (uint64_t)i];
        found_place(f, place);
        values += m->values ? (double)m->values[v] / (double)m->vertex_count : 0;
    }
    for (uint64_t t = 0; t < m->triangle_count; t++) {
        double p[3][3], n[3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                p[k][i] = (double)m->positions[3 * indices[3 * t + (uint64_t)k] + (uint32_t)i] -
                          (double)m->positions[i];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            n[i] = (p[1][j] - p[0][j]) * (p[2][k] - p[0][k]) -
                   (p[1][k] - p[0][k]) * (p[2][j] - p[0][j]);
        }
        area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
        volume += (n[0] * p[0][0] + n[1] * p[0][1] + n[2] * p[0][2]) / 6;
    }
    found(f, area);
    found(f, volume);
    found(f, values);
    tml_mesh_file_free(tml, &file);
}

/* The same of boundaries that labels share, which enclose nothing by themselves. */
static void find_boundaries(const char *name, findings *f)
{
    find_mesh(name, f);
    f->figures[1] = 0;
}

static double sample(const tml_volume *v, uint64_t i)
{
    const void *d = v->data;
    double stored = v->type == TML_F32   ? (double)((const float *)d)[i]
                    : v->type == TML_F64 ? ((const double *)d)[i]
                    : v->type == TML_I16 ? ((const int16_t *)d)[i]
                    : v->type == TML_U64 ? (double)((const uint64_t *)d)[i]
                                         : (double)NAN;
    return v->slope * stored + v->intercept;
}

/* Where a sample lies. */
static void place_of(const tml_grid *g, const uint64_t at[3], double place[3])
{
    for (int row = 0; row < 3; row++) {
        place[row] = g->origin[row];
        for (int axis = 0; axis < 3; axis++)
            place[row] += g->direction[3 * row + axis] * g->spacing[axis] * (double)at[axis];
    }
}

/* Physical values by their place: their mean and the means weighted by where they are, and the
 * box. */
static void find_volume(const char *name, findings *f)
{
    tml_volume v;
    uint64_t at[3];
    double sums[4] = {0}, place[3], first[3];
    if (!CHECK_OK(tml, tml_volume_load(tml, in_folder(name), NULL, &v)))
        return;
    const uint64_t *dims = v.grid.dims;
    double count = (double)(dims[0] * dims[1] * dims[2]);
    for (at[2] = 0; at[2] < dims[2]; at[2] += dims[2] - 1)
        for (at[1] = 0; at[1] < dims[1]; at[1] += dims[1] - 1)
            for (at[0] = 0; at[0] < dims[0]; at[0] += dims[0] - 1) {
                place_of(&v.grid, at, place);
                found_place(f, place);
            }
    memcpy(first, f->lower, sizeof first);
    for (at[2] = 0; at[2] < dims[2]; at[2]++)
        for (at[1] = 0; at[1] < dims[1]; at[1]++)
            for (at[0] = 0; at[0] < dims[0]; at[0]++) {
                double value = sample(&v, at[0] + dims[0] * (at[1] + dims[1] * at[2])) / count;
                place_of(&v.grid, at, place);
                sums[0] += value;
                for (int i = 0; i < 3; i++)
                    sums[i + 1] += value * (place[i] - first[i]);
            }
    for (int i = 0; i < 4; i++)
        found(f, sums[i]);
    tml_volume_free(tml, &v);
}

static void find_points(const char *name, findings *f)
{
    tml_points p;
    double radii = 0, values = 0, place[3];
    if (!CHECK_OK(tml, tml_points_load(tml, in_folder(name), NULL, &p)))
        return;
    for (uint64_t i = 0; i < p.count; i++) {
        for (uint64_t k = 0; k < 3; k++)
            place[k] = p.origin[k] + (double)p.positions[3 * i + k];
        found_place(f, place);
        radii += p.radii ? (double)p.radii[i] : 0;
        values += p.values ? (double)p.values[i] * (double)(i % 7) : 0;
    }
    found(f, (double)p.count);
    found(f, radii);
    found(f, values);
    tml_points_free(tml, &p);
}

/* The mean grey of each sixteenth of a picture. */
static void find_picture(const char *name, findings *f)
{
    tml_picture p;
    double sums[16] = {0}, counts[16] = {0};
    if (!CHECK_OK(tml, tml_picture_load(tml, in_folder(name), NULL, &p)))
        return;
    const uint8_t *pixels = p.data;
    for (uint32_t y = 0; y < p.height; y++)
        for (uint32_t x = 0; x < p.width; x++) {
            uint32_t part = 4 * (y * 4 / p.height) + x * 4 / p.width;
            for (uint32_t c = 0; c < p.channels && c < 3; c++)
                sums[part] += pixels[(y * p.width + x) * p.channels + c];
            counts[part]++;
        }
    for (int i = 0; i < 16; i++)
        found(f, sums[i] / counts[i] + 100); /* so that dark parts are compared in absolute terms */
    tml_picture_free(tml, &p);
}

/* ---- the inputs ------------------------------------------------------------------------------ */

static const double far_away[3] = {4e6, 5e6, 100};

/* A way to write the same input. */
typedef struct meaning {
    const char *name;
    bool is_far, is_mirrored, is_reordered;
    double slope, intercept;
    const char *unit;
} meaning;

static const meaning meanings[] = {
    {.name = "plain", .slope = 1},
    {.name = "far", .slope = 1, .is_far = true},
    {.name = "scaled", .slope = 0.5, .intercept = -1024},
    {.name = "negative", .slope = -0.5, .intercept = 100},
    {.name = "mm", .slope = 1, .unit = "mm"},
    {.name = "micrometres", .slope = 1, .unit = "\u00b5m"},
    {.name = "mirrored", .slope = 1, .is_mirrored = true},
    {.name = "reordered", .slope = 1, .is_reordered = true},
    {.name = "everything",
     .slope = 0.5,
     .intercept = -1024,
     .unit = "mm",
     .is_far = true,
     .is_mirrored = true,
     .is_reordered = true},
};
enum { MEANINGS = sizeof meanings / sizeof meanings[0], NX = 17, NY = 14, NZ = 11 };
static const double spacing[3] = {1, 1.5, 2};

/* Two balls of unequal size, in halves, so that scaled integers hold it exactly. */
static double physical(uint64_t x, uint64_t y, uint64_t z)
{
    double a = hypot(hypot((double)x - 6.3, 1.5 * ((double)y - 6.2)), 2 * ((double)z - 5.1));
    double b = hypot(hypot((double)x - 12.2, 1.5 * ((double)y - 4.1)), 2 * ((double)z - 4.3));
    return floor(2 * fmax(350 - 61.3 * a, 250 - 71.7 * b)) / 2;
}

/* Labels: three bodies; first and 1, 2 more than that. */
static uint64_t label(uint64_t x, uint64_t y, uint64_t z, uint64_t first)
{
    double value = physical(x, y, z);
    return value < 30 ? 0 : first + (x > 10 ? 2 : y > 6 ? 1 : 0);
}

/* Writes name, a volume of physical values or, with first_label, of labels. */
static void write_volume(const char *name, const meaning *m, tml_type type, uint64_t first_label)
{
    static uint64_t room[NX * NY * NZ];
    static const uint64_t dims[3] = {NX, NY, NZ};
    tml_volume v = {.data = room, .type = type, .slope = m->slope, .intercept = m->intercept};
    int axes[3] = {0, 1, 2}; /* of space, that stored axis i runs along */
    if (m->is_reordered)
        axes[0] = 2, axes[2] = 0;
    for (int i = 0; i < 3; i++) {
        bool is_reversed = m->is_mirrored && axes[i] == 1;
        v.grid.dims[i] = dims[axes[i]];
        v.grid.spacing[i] = spacing[axes[i]];
        v.grid.direction[3 * axes[i] + i] = is_reversed ? -1 : 1;
        v.grid.origin[axes[i]] = (m->is_far ? far_away[axes[i]] : 0) +
                                 (is_reversed ? spacing[axes[i]] * (double)(dims[axes[i]] - 1) : 0);
    }
    v.size = NX * NY * NZ * tml_type_size(type);
    snprintf(v.unit, sizeof v.unit, "%s", m->unit ? m->unit : "");
    uint64_t at[3], from[3] = {0};
    for (at[2] = 0; at[2] < v.grid.dims[2]; at[2]++)
        for (at[1] = 0; at[1] < v.grid.dims[1]; at[1]++)
            for (at[0] = 0; at[0] < v.grid.dims[0]; at[0]++) {
                uint64_t i = at[0] + v.grid.dims[0] * (at[1] + v.grid.dims[1] * at[2]);
                for (int k = 0; k < 3; k++)
                    from[axes[k]] = m->is_mirrored && axes[k] == 1 ? NY - 1 - at[k] : at[k];
                uint64_t id = first_label ? label(from[0], from[1], from[2], first_label) : 0;
                double stored = ((first_label ? (double)id : physical(from[0], from[1], from[2])) -
                                 m->intercept) /
                                m->slope;
                if (type == TML_F32)
                    ((float *)v.data)[i] = (float)stored;
                else if (type == TML_F64)
                    ((double *)v.data)[i] = stored;
                else if (type == TML_I16)
                    ((int16_t *)v.data)[i] = (int16_t)stored;
                else
                    ((uint64_t *)v.data)[i] = id;
            }
    CHECK_OK(tml, tml_volume_save(tml, in_folder(name), &v));
}

static double origin_of(const meaning *m, int axis)
{
    return m->is_far ? far_away[axis] : 0;
}

/* A box of 12 triangles as OBJ, whose text holds doubles. */
static void write_box(const char *name, const meaning *m, double x, double y, double z, double size)
{
    static const char faces[] =
        "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    char text[2048];
    size_t used = 0;
    for (int i = 0; i < 8; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %.17g %.17g %.17g\n",
                                 origin_of(m, 0) + x + (i & 1) * size,
                                 origin_of(m, 1) + y + (i >> 1 & 1) * size,
                                 origin_of(m, 2) + z + (i >> 2) * size);
    used += (size_t)snprintf(text + used, sizeof text - used, "%s", faces);
    write_file(name, text, used);
}

static void write_points(const char *name, const meaning *m)
{
    enum { COUNT = 600 };
    static float positions[3 * COUNT], values[COUNT];
    tml_points p = {.positions = positions, .values = values, .count = COUNT};
    for (int i = 0; i < 3; i++)
        p.origin[i] = origin_of(m, i);
    for (int i = 0; i < COUNT; i++) { /* a spiral about a ball */
        double z = 1 - (2 * i + 1.0) / COUNT, r = sqrt(1 - z * z), turn = 2.399963 * i;
        positions[3 * i] = (float)(3 + 2 * r * cos(turn));
        positions[3 * i + 1] = (float)(4 + 2 * r * sin(turn));
        positions[3 * i + 2] = (float)(5 + 3 * z);
        values[i] = (float)i;
    }
    CHECK_OK(tml, tml_points_save(tml, in_folder(name), &p));
}

/* Beginnings and directions of rays, as text. */
static void write_rays(const char *name, const meaning *m)
{
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "x,y,z,nx,ny,nz\n");
    for (int i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g,%.17g,%.17g,0.1,%g,1\n",
                                 origin_of(m, 0) + 0.05 * i, origin_of(m, 1) + 0.5,
                                 origin_of(m, 2) - 3, 0.01 * i);
    write_file(name, text, used);
}

/* All inputs, as this meaning writes them. */
static void write_inputs(const meaning *m)
{
    write_volume("v.nrrd", m, m->slope == 1 ? TML_F32 : TML_I16, 0);
    write_volume("labels.nrrd", m, m->slope == 1 ? TML_U64 : TML_F64, 5);
    write_box("a.obj", m, 0, 0, 0, 1);
    write_box("b.obj", m, 0.25, 1.001, 0.125, 1); /* 0.001 from a */
    write_box("c.obj", m, 0.5, 0.5, 0.375, 1);    /* meets a */
    write_points("p.ply", m);
    write_rays("rays.csv", m);
}

/* ---- the commands ---------------------------------------------------------------------------- */

typedef void (*find_fn)(const char *name, findings *f);

typedef struct row {
    const char *takes; /* "volume", "points", "mesh" or "labels" */
    const char *line;  /* %s: a path in the test's folder of each following comma-separated name */
    const char *names;
    find_fn find;     /* of the last name's file; NULL: keys alone */
    const char *keys; /* blank-separated, of what --json prints */
    bool on_engines;  /* with each --backend */
    double share;     /* by which figures and places may differ; 0: little */
    bool or_told;     /* or a warning says what the output does not hold */
    bool not_on_gl;   /* which has no slabs */
    bool is_y_up;     /* the file's z is minus its y */
    bool by_axes;     /* depends on the order and the sense of the stored axes */
} row;

static const row rows[] = {
    {"volume", "surface %s --iso 100 -o %s --json", "v.nrrd,m.ply", .find = find_mesh,
     .keys = "iso", .on_engines = true},
    {"volume", "surface %s --iso 100 --normals sobel --soup -o %s", "v.nrrd,m.ply",
     .find = find_mesh, .on_engines = true},
    {"volume", "surface %s --iso 100 --topology trilinear -o %s", "v.nrrd,m.ply",
     .find = find_mesh},
    {"volume", "surface %s --slabs 4 --iso 100 -o %s", "v.nrrd,m.ply", .find = find_mesh,
     .on_engines = true, .not_on_gl = true},
    {"volume", "surface %s -o %s", "v.nrrd,m.ply", .find = find_mesh, .share = 0.04},
    {"volume", "surface %s --iso 100 --flip --caps -o %s", "v.nrrd,m.ply", .find = find_mesh},
    {"volume", "surface %s --iso 100 --flip -o %s", "v.nrrd,m.ply", .find = find_mesh},
    {"volume", "surface %s --iso 100 --caps --collapse 0.3 -o %s", "v.nrrd,m.ply",
     .find = find_mesh},
    {"volume", "surface %s --iso 100 --attribute %s -o %s", "v.nrrd,v.nrrd,m.ply",
     .find = find_mesh, .on_engines = true},
    {"volume", "surface %s --iso 100 -o %s", "v.nrrd,m.glb", .find = find_mesh, .is_y_up = true},
    {"volume", "surface %s --iso 100 -o %s", "v.nrrd,m.vtp", .find = find_mesh},
    {"volume", "surface %s --iso 100 -o %s", "v.nrrd,m.obj", .find = find_mesh},
    {"volume", "surface %s --iso 100 --png %s --size 160x120", "v.nrrd,p.png",
     .find = find_picture},
    {"volume", "surface %s --iso 100 --debug-cells %s", "v.nrrd,p.png", .find = find_picture,
     .by_axes = true},
    {"volume", "info %s --json", "v.nrrd", .keys = "min max mean suggested_iso", .share = 0.01},
    {"volume", "info %s --iso 100 --png %s", "v.nrrd,p.png", .find = find_picture, .by_axes = true},
    {"volume", "convert %s -o %s", "v.nrrd,c.nrrd", .find = find_volume},
    {"volume", "convert %s -o %s", "v.nrrd,c.mha", .find = find_volume, .or_told = true},
    {"volume", "compact %s --crossed 100 --xyz -o %s --json", "v.nrrd,k.npy", .keys = "kept",
     .on_engines = true},
    {"volume", "index %s -o %s --json", "v.nrrd,i.tmx", .keys = "bricks", .by_axes = true},
    {"volume", "surface %s --index %s --iso 100 -o %s", "v.nrrd,i.tmx,m.ply", .find = find_mesh,
     .by_axes = true},
    {"labels", "surface %s --labels all -o %s", "labels.nrrd,m.ply", .find = find_mesh,
     .on_engines = true},
    {"labels", "surface %s --labels 5,7 --smooth 8 -o %s", "labels.nrrd,m.ply",
     .find = find_boundaries},
    {"labels", "surface %s --labels 6 --separate -o %s", "labels.nrrd,m.ply", .find = find_mesh},
    {"points", "surface %s --radius 1 --cell 0.3 -o %s", "p.ply,m.ply", .find = find_mesh,
     .on_engines = true, .share = 0.1},
    {"points", "surface %s --field distance --radius 0.8 --cell 0.3 -o %s", "p.ply,m.ply",
     .find = find_mesh, .on_engines = true, .share = 0.1},
    {"points", "surface %s --radius 1 --cell 0.3 --attribute value -o %s", "p.ply,m.vtp",
     .find = find_mesh, .share = 0.1},
    {"points", "info %s --json", "p.ply", .keys = "points"},
    {"points", "convert %s -o %s", "p.ply,c.ply", .find = find_points},
    {"points", "collide %s %s --find inside --json", "a.obj,p.ply", .keys = "inside",
     .on_engines = true},
    {"points", "rays %s --rays %s --json", "a.obj,rays.csv", .keys = "rays_that_hit",
     .on_engines = true},
    {"mesh", "info %s --json", "a.obj", .keys = "area volume components boundary_edges euler"},
    {"mesh", "convert %s -o %s", "c.obj,m.ply", .find = find_mesh},
    {"mesh", "convert %s -o %s", "c.obj,m.obj", .find = find_mesh},
    {"mesh", "convert %s -o %s", "c.obj,m.glb", .find = find_mesh},
    {"mesh", "convert %s -o %s", "c.obj,m.vtp", .find = find_mesh},
    {"mesh", "draw %s -o %s --size 160x120", "c.obj,p.png", .find = find_picture},
    {"mesh", "collide %s %s --json", "a.obj,b.obj", .keys = "pair_count", .on_engines = true},
    {"mesh", "collide %s %s --json", "b.obj,a.obj", .keys = "pair_count", .on_engines = true},
    {"mesh", "collide %s %s --json", "a.obj,c.obj", .keys = "pair_count poses_in_contact",
     .on_engines = true},
    {"mesh", "collide %s %s --json", "c.obj,a.obj", .keys = "pair_count poses_in_contact",
     .on_engines = true},
    {"mesh", "collide %s %s --find distance --json", "a.obj,b.obj", .keys = "distance",
     .on_engines = true},
    {"mesh", "collide %s %s --find distance --json", "b.obj,a.obj", .keys = "distance",
     .on_engines = true},
    {"mesh", "collide %s --self --json", "c.obj", .keys = "pair_count", .on_engines = true},
    {"mesh", "collide %s %s --png %s --size 160x120", "a.obj,c.obj,p.png", .find = find_picture},
    {"mesh", "distance %s --resolution 14 -o %s", "c.obj,d.nrrd", .find = find_volume,
     .on_engines = true},
    {"mesh", "subdivide %s --levels 2 -o %s", "c.obj,m.ply", .find = find_mesh, .on_engines = true},
    {"mesh", "subdivide %s --levels 1 --png %s --size 160x120", "c.obj,p.png",
     .find = find_picture},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Commands that take no volume, points, mesh or labels. */
static const char *const others[] = {"exposure", "mips", "devices", "scan", "sort", "reduce"};

/* The row's command, on an engine; false where it did not end well. */
static bool find(const row *r, const char *backend, findings *f, bool *is_told)
{
    char line[LINE], names[256], keys[128], last[64] = "";
    const char *at = r->line;
    size_t used = 0;
    *f = (findings){.count = 0};
    snprintf(names, sizeof names, "%s", r->names);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const char *percent = strstr(at, "%s");
        used += (size_t)snprintf(line + used, sizeof line - used, "%.*s'%s'", (int)(percent - at),
                                 at, in_folder(name));
        at = percent + 2;
        snprintf(last, sizeof last, "%s", name);
    }
    snprintf(line + used, sizeof line - used, "%s%s%s", at, backend ? " --backend " : "",
             backend ? backend : "");
    if (!CHECK(run(line) == 0)) {
        printf("  %s\n  %s", line, err);
        return false;
    }
    *is_told = strstr(err, "warning") != NULL;
    snprintf(keys, sizeof keys, "%s", r->keys ? r->keys : "");
    for (char *key = strtok(keys, " "); key; key = strtok(NULL, " ")) {
        double value = printed(key, 0);
        if (!CHECK(!isnan(value)))
            printf("  no \"%s\" of %s\n", key, line);
        found(f, value);
    }
    if (r->find)
        r->find(last, f);
    return true;
}

/* Triangles of the same surface differ where the axes run otherwise, and fields where their grid
 * begins elsewhere. */
static void compare(const row *r, const meaning *m, const char *backend, const findings *f,
                    const findings *plain)
{
    bool is_turned = m->is_mirrored || m->is_reordered;
    double share = r->share ? r->share : is_turned || r->find == find_picture ? 0.02 : 1e-4;
    double near_by = r->share ? r->share : 1e-3;
    char wrong[256] = "";
    if (f->count != plain->count || f->has_box != plain->has_box)
        snprintf(wrong, sizeof wrong, "%d figures, needs %d", f->count, plain->count);
    for (int i = 0; i < f->count && !wrong[0]; i++)
        if (!(fabs(f->figures[i] - plain->figures[i]) <= share * (fabs(plain->figures[i]) + 1e-3)))
            snprintf(wrong, sizeof wrong, "figure %d is %.10g, needs %.10g", i, f->figures[i],
                     plain->figures[i]);
    for (int i = 0; i < 6 && f->has_box && !wrong[0]; i++) {
        int axis = i % 3;
        double shift = !r->is_y_up ? origin_of(m, axis)
                       : axis == 0 ? origin_of(m, 0)
                       : axis == 1 ? origin_of(m, 2)
                                   : -origin_of(m, 1);
        double is = i < 3 ? f->lower[axis] : f->upper[axis];
        double needs = i < 3 ? plain->lower[axis] : plain->upper[axis];
        if (!(fabs(is - shift - needs) <= near_by))
            snprintf(wrong, sizeof wrong, "its box's %s end on axis %d is %.10g, needs %.10g",
                     i < 3 ? "lower" : "upper", axis, is, needs + shift);
    }
    if (wrong[0])
        test_fail(__FILE__, __LINE__, "%s of a %s that is %s, --backend %s: %s", r->line, r->takes,
                  m->name, backend ? backend : "auto", wrong);
}

static bool has_engine(tml_engine_kind kind)
{
    tml_device_info infos[16];
    uint32_t count = tml_devices(infos, 16);
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (infos[i].engine == kind)
            return true;
    return false;
}

/* On the CPU all, on a driver a quarter of the ways, others for each command. */
static bool is_taken(const char *backend, int way, int command)
{
    return !backend || strcmp(backend, "cpu") == 0 || way == 0 ||
           ((uint64_t)(way + command) + test_seed()) % 4 == 0;
}

static void check_commands(const char *backend)
{
    static findings plain[ROWS];
    for (int k = 0; k < MEANINGS; k++) {
        const meaning *m = &meanings[k];
        bool is_of_volumes = m->slope != 1 || m->unit || m->is_mirrored || m->is_reordered;
        write_inputs(m);
        for (int i = 0; i < ROWS; i++) {
            const row *r = &rows[i];
            bool is_volume = strcmp(r->takes, "volume") == 0 || strcmp(r->takes, "labels") == 0;
            findings f;
            if (is_of_volumes && !is_volume)
                continue;
            if (r->by_axes && (m->is_mirrored || m->is_reordered))
                continue;
            if (backend && (!r->on_engines || (r->not_on_gl && strcmp(backend, "gl") == 0)))
                continue;
            if (!is_taken(backend, k, i))
                continue;
            bool is_told;
            if (find(r, backend, &f, &is_told)) {
                if (k == 0)
                    plain[i] = f;
                else if (!(r->or_told && is_told))
                    compare(r, m, backend, &f, &plain[i]);
            }
        }
    }
}

static bool has_command(void)
{
    return getenv("TML_CLI") && *getenv("TML_CLI");
}

TEST(commands_mean_what_files_say_on_the_cpu)
{
    if (!has_command())
        SKIP("no command was built");
    tml = open_cpu(1);
    check_commands(NULL);
    check_commands("cpu");
    tml_close(tml);
}

TEST(commands_mean_what_files_say_on_vulkan)
{
    if (!has_command() || !has_engine(TML_ENGINE_VULKAN))
        SKIP("no command, or no Vulkan device");
    tml = open_cpu(1);
    check_commands("vulkan");
    tml_close(tml);
}

TEST(commands_mean_what_files_say_on_opengl)
{
    if (!has_command() || !has_engine(TML_ENGINE_GL))
        SKIP("no command, or no OpenGL ES device");
    tml = open_cpu(1);
    check_commands("gl");
    tml_close(tml);
}

/* Ids that doubles cannot tell apart. */
TEST(ids_of_labels_are_exact)
{
    static const uint64_t first = 720575940621234567;
    if (!has_command())
        SKIP("no command was built");
    tml = open_cpu(1);
    const meaning *m = &meanings[0];
    findings small, large;
    char line[LINE], path[512];
    for (int k = 0; k < 4; k++) {
        for (int is_large = 0; is_large < 2; is_large++) {
            uint64_t base = is_large ? first : 5;
            findings *f = is_large ? &large : &small;
            *f = (findings){.count = 0};
            write_volume("labels.nrrd", m, TML_U64, base);
            snprintf(path, sizeof path, "%s", in_folder("labels.nrrd"));
            if (k < 3)
                snprintf(line, sizeof line, "surface '%s' --labels %" PRIu64 " -o '%s' --json",
                         path, base + (uint64_t)k, in_folder("m.vtp"));
            else
                snprintf(line, sizeof line, "surface '%s' --labels all -o '%s' --json", path,
                         in_folder("m.vtp"));
            if (!CHECK(run(line) == 0))
                printf("  %s\n  %s", line, err);
            find_mesh("m.vtp", f);
            char digits[32];
            snprintf(digits, sizeof digits, "%" PRIu64, base + (uint64_t)(k % 3));
            CHECK(strstr(out, digits));
        }
        CHECK(small.figures[0] > 0);
        for (int i = 0; i < 2; i++)
            CHECK_NEAR(large.figures[i], small.figures[i], 1e-9);
    }
    tml_close(tml);
}

/* ---- one call from file to file -------------------------------------------------------------- */

/* The call itself, which reads in slabs, by Otsu's method, makes the inside high and labels of
 * floats. */
TEST(one_call_means_what_files_say)
{
    static const double iso[] = {100};
    static const tml_surface_desc at_iso = {.isovalues = iso, .isovalue_count = 1},
                                  flipped = {.isovalues = iso,
                                             .isovalue_count = 1,
                                             .caps = true,
                                             .flip = true};
    static const uint64_t named[] = {5, 7};
    static const tml_surface_labels_desc labels = {.labels = named, .label_count = 2, .smooth = 8};
    char volume[512];
    static findings plain[4];
    tml = open_cpu(1);
    for (int k = 0; k < MEANINGS; k++) {
        const meaning *m = &meanings[k];
        write_inputs(m);
        snprintf(volume, sizeof volume, "%s", in_folder("v.nrrd"));
        const struct {
            row row;
            tml_volume_mesh_desc desc;
        } ways[4] = {
            {{.takes = "volume", .line = "iso 100, attribute"},
             {.attribute = volume, .save.slabs = {.surface = &at_iso, .slab_layers = 4}}},
            {{.takes = "volume", .line = "iso 100, caps, flip"}, {.save.slabs.surface = &flipped}},
            {{.takes = "volume", .line = "Otsu's method", .share = 0.04},
             {.save.slabs.slab_layers = 4}},
            {{.takes = "labels", .line = "labels 5 and 7", .find = find_boundaries},
             {.save.slabs.boundaries = &labels}}};
        for (int i = 0; i < 4; i++) {
            tml_volume info;
            tml_surface_saved saved;
            findings f = {.count = 0};
            CHECK_OK(tml, tml_volume_to_mesh(tml, i == 3 ? in_folder("labels.nrrd") : volume,
                                             in_folder("m.ply"), &ways[i].desc, &info, &saved));
            CHECK(saved.surface.triangle_count > 0);
            CHECK(m->unit ? strcmp(info.unit, m->unit) == 0 : !info.unit[0]);
            tml_surface_saved_free(tml, &saved);
            (ways[i].row.find ? ways[i].row.find : find_mesh)("m.ply", &f);
            if (k == 0)
                plain[i] = f;
            else
                compare(&ways[i].row, m, "cpu", &f, &plain[i]);
        }
    }
    tml_close(tml);
}

/* ---- trommel-io ------------------------------------------------------------------------------ */

/* What each function of trommel-io that takes or gives a volume, points or a mesh is tested by. */
static const char *const functions[][2] = {
    {"tml_volume_load", "rows: convert, surface"},
    {"tml_volume_free", "releases"},
    {"tml_volume_save", "streams_and_writers_keep_what_is_stated"},
    {"tml_volume_stream_open", "streams_and_writers_keep_what_is_stated"},
    {"tml_points_load", "rows: convert"},
    {"tml_points_free", "releases"},
    {"tml_points_save", "rows: convert"},
    {"tml_mesh_load", "rows: convert"},
    {"tml_mesh_file_free", "releases"},
    {"tml_mesh_save", "streams_and_writers_keep_what_is_stated"},
    {"tml_mesh_mend", "keeps coordinates"},
    {"tml_points_look_scanned", "gives no coordinates"},
    {"tml_mesh_stream_open", "rows: surface --slabs"},
    {"tml_mesh_stream_write", "rows: surface --slabs"},
    {"tml_volume_convert", "rows: surface --labels, --flip --caps"},
    {"tml_volume_find_labels", "gives no coordinates"},
    {"tml_surface_save", "rows: surface, surface --slabs"},
    {"tml_volume_to_mesh", "one_call_means_what_files_say"},
    {"tml_points_to_mesh", "rows: surface"},
};

/* Every declaration of its headers with such an argument stands above. */
TEST(no_function_and_no_command_is_left_out)
{
    static char header[1 << 17];
    static const char *const headers[] = {"volumes", "points", "meshes"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char path[256];
        snprintf(path, sizeof path, TML_SOURCE_ROOT "/include/trommel/%s.h", headers[i]);
        test_read_text(path, header + used, sizeof header - used);
        used += strlen(header + used);
    }
    int seen = 0;
    for (const char *at = header; (at = strstr(at, "TML_API")) != NULL; at++) {
        char declaration[1024], name[64];
        const char *end = strchr(at, ';');
        if (!end || (size_t)(end - at) >= sizeof declaration)
            continue;
        snprintf(declaration, sizeof declaration, "%.*s", (int)(end - at), at);
        if (!strstr(declaration, "tml_volume *") && !strstr(declaration, "tml_points *") &&
            !strstr(declaration, "tml_mesh *") && !strstr(declaration, "tml_mesh_file *") &&
            !strstr(declaration, "tml_mesh_stream_desc *") &&
            !strstr(declaration, "tml_surface_save_desc *") &&
            !strstr(declaration, "tml_points_mesh_desc *") &&
            !strstr(declaration, "tml_volume_mesh_desc *"))
            continue;
        const char *open = strchr(declaration, '(');
        const char *start = open;
        while (start > declaration && (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z')))
            start--;
        snprintf(name, sizeof name, "%.*s", (int)(open - start), start);
        bool is_there = false;
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
            is_there |= strcmp(functions[i][0], name) == 0;
        if (!CHECK(is_there))
            printf("  %s takes or gives a volume, points or a mesh, and stands in no row\n", name);
        seen++;
    }
    CHECK(seen >= 10);
    if (!has_command())
        return;
    run("--help");
    const char *list = strstr(out, "Commands:");
    for (const char *at = list ? strchr(list, '\n') : NULL; at && strncmp(at, "\n  ", 3) == 0;
         at = strchr(at + 1, '\n')) {
        char name[32];
        if (sscanf(at, " %31s", name) != 1 || at[3] == ' ')
            continue;
        bool is_there = false;
        for (int i = 0; i < ROWS; i++)
            is_there |= strncmp(rows[i].line, name, strlen(name)) == 0;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            is_there |= strcmp(others[i], name) == 0;
        if (!CHECK(is_there))
            printf("  the command \"%s\" stands in no row\n", name);
    }
}

/* A stream states what a load does; writers keep, or warn of, what their format does not hold. */
TEST(streams_and_writers_keep_what_is_stated)
{
    static const char *const endings[] = {"nrrd", "mha", "npy", "raw"};
    tml = open_listening();
    const meaning *m = &meanings[MEANINGS - 1];
    write_volume("v.nrrd", m, TML_I16, 0);
    tml_volume v, again, info;
    tml_volume_stream *stream;
    CHECK_OK(tml, tml_volume_load(tml, in_folder("v.nrrd"), NULL, &v));
    CHECK_OK(tml, tml_volume_stream_open(tml, in_folder("v.nrrd"), NULL, &info, &stream));
    CHECK(memcmp(&info.grid, &v.grid, sizeof v.grid) == 0 && info.slope == v.slope &&
          info.intercept == v.intercept);
    CHECK_STR(info.unit, m->unit);
    CHECK_STR(v.unit, m->unit);
    tml_volume_stream_close(stream);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[32];
        tml_load_desc desc = {.type = TML_TYPE_NONE};
        snprintf(name, sizeof name, "again.%s", endings[i]);
        if (strcmp(endings[i], "raw") == 0) {
            desc.type = v.type;
            memcpy(desc.dims, v.grid.dims, sizeof desc.dims);
        }
        warned[0] = '\0';
        CHECK_OK(tml, tml_volume_save(tml, in_folder(name), &v));
        if (!CHECK_OK(tml, tml_volume_load(tml, in_folder(name), &desc, &again)))
            continue;
        CHECK(again.size == v.size && memcmp(again.data, v.data, v.size) == 0);
        bool keeps_values = again.slope == v.slope && again.intercept == v.intercept;
        bool keeps_unit = strcmp(again.unit, v.unit) == 0;
        bool keeps_place = true;
        for (int k = 0; k < 3; k++)
            keeps_place = keeps_place && fabs(again.grid.origin[k] - v.grid.origin[k]) < 1e-6 &&
                          fabs(again.grid.spacing[k] - v.grid.spacing[k]) < 1e-9;
        if (!CHECK((keeps_values && keeps_unit && keeps_place) || warned[0]))
            printf("  .%s: values %d, unit %d, place %d, and not a word\n", endings[i],
                   keeps_values, keeps_unit, keeps_place);
        tml_volume_free(tml, &again);
    }
    tml_volume_free(tml, &v);
    /* STL holds floats alone: far from 0 it says so. */
    static float triangle[9] = {0, 0, 0, 0.01f, 0, 0, 0, 0.01f, 0};
    const tml_mesh mesh = {
        .positions = triangle, .vertex_count = 3, .triangle_count = 1, .origin = {4e6, 5e6, 100}};
    warned[0] = '\0';
    CHECK_OK(tml, tml_mesh_save(tml, in_folder("far.stl"), &mesh));
    CHECK(strstr(warned, "STL"));
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main_in_folder("meaning", argc, argv);
}
