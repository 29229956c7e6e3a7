/* Mesh files: every format, with and without its options, against strict small readers that share
 * no code with the writers; numbers as text; and what happens when a file cannot be written. */
#include <dirent.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#ifndef _WIN32
#    include <sys/resource.h>
#endif

#include <trommel/points.h>

#include "io/number_format.h"
#include "test.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static tml_context *open_context(void)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.threads = 1}, &tml));
    return tml;
}

/* A folder of its own, made at first use and emptied by remove_folder. */
static const char *folder(void)
{
    static char path[64];
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/tml-mesh-XXXXXX");
        if (!mkdtemp(path))
            abort();
    }
    return path;
}

/* Counts the folder's files, and removes them if asked. */
static int files_in_folder(bool remove_them)
{
    int count = 0;
    DIR *listing = opendir(folder());
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove_them)
            unlink(test_path(folder(), entry->d_name));
    }
    closedir(listing);
    return count;
}

typedef struct bytes {
    uint8_t *data; /* one more byte than size, 0, so that text can be searched */
    size_t size;
} bytes;

static bytes read_file(const char *path)
{
    bytes file = {0};
    FILE *stream = fopen(path, "rb");
    struct stat info;
    if (stream && fstat(fileno(stream), &info) == 0) {
        file.size = (size_t)info.st_size;
        file.data = calloc(1, file.size + 1);
        if (fread(file.data, 1, file.size, stream) != file.size)
            file.size = 0;
    }
    if (stream)
        fclose(stream);
    return file;
}

static uint32_t load_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t load_u64(const uint8_t *at)
{
    return load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

static float load_f32(const uint8_t *at)
{
    uint32_t bits = load_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double load_f64(const uint8_t *at)
{
    uint64_t bits = load_u64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

enum {
    WITH_NORMALS = 1,
    WITH_VALUES = 2,
    WITH_ORIGIN = 4,
    WITH_INDICES64 = 8,
    AS_SOUP = 16,
    ALL_OPTIONS = 32
};

/* A winding strip of triangles; owns its arrays. */
typedef struct strip {
    tml_mesh mesh;
    float *positions, *normals, *values;
    void *indices;
} strip;

static uint64_t strip_corner(uint64_t triangle, uint64_t corner)
{
    return triangle + (triangle % 2 && corner ? 3 - corner : corner);
}

static strip make_strip(uint64_t triangles, int options)
{
    strip s = {0};
    uint64_t vertices = options & AS_SOUP ? 3 * triangles : triangles ? triangles + 2 : 0;
    s.positions = calloc(3 * vertices + 1, sizeof *s.positions);
    s.normals = calloc(3 * vertices + 1, sizeof *s.normals);
    s.values = calloc(vertices + 1, sizeof *s.values);
    s.indices = calloc(3 * triangles + 1, sizeof(uint64_t));
    for (uint64_t i = 0; i < vertices; i++) {
        uint64_t at = options & AS_SOUP ? strip_corner(i / 3, i % 3) : i;
        float angle = 0.37f * (float)at;
        float p[3] = {0.1f * (float)at, sinf(angle), at % 2 ? 1.0f : cosf(angle) * 1e-5f};
        float n[3] = {0.0f, sinf(angle), cosf(angle)};
        memcpy(s.positions + 3 * i, p, sizeof p);
        memcpy(s.normals + 3 * i, n, sizeof n);
        s.values[i] = (float)at - 0.3f;
    }
    for (uint64_t i = 0; i < 3 * triangles; i++) {
        if (options & WITH_INDICES64)
            ((uint64_t *)s.indices)[i] = strip_corner(i / 3, i % 3);
        else
            ((uint32_t *)s.indices)[i] = (uint32_t)strip_corner(i / 3, i % 3);
    }
    s.mesh = (tml_mesh){
        .positions = s.positions,
        .normals = options & WITH_NORMALS ? s.normals : NULL,
        .values = options & WITH_VALUES ? s.values : NULL,
        .indices = options & AS_SOUP ? NULL : s.indices,
        .vertex_count = vertices,
        .triangle_count = triangles,
        .indices64 = options & WITH_INDICES64,
        .value_name = "wall shear",
        .comment = "a <mesh> -- \"of\" \\ tests &\nmore",
    };
    if (options & WITH_ORIGIN) {
        s.mesh.origin[0] = 665187.5;
        s.mesh.origin[1] = 5648349.125;
        s.mesh.origin[2] = -240.0;
    }
    return s;
}

static void free_strip(strip *s)
{
    free(s->positions);
    free(s->normals);
    free(s->values);
    free(s->indices);
}

static uint64_t corner_of(const tml_mesh *mesh, uint64_t corner)
{
    return !mesh->indices    ? corner
           : mesh->indices64 ? ((const uint64_t *)mesh->indices)[corner]
                             : ((const uint32_t *)mesh->indices)[corner];
}

static bool has_origin(const tml_mesh *mesh)
{
    return mesh->origin[0] != 0.0;
}

/* ---- one strict reader for each format ------------------------------------------------------- */

static bool check_ply(const tml_mesh *mesh, const bytes *file)
{
    const char *head = (const char *)file->data, *end = strstr(head, "end_header\n");
    char expected[1024];
    const char *real = has_origin(mesh) ? "double" : "float";
    snprintf(
        expected, sizeof expected,
        "ply\nformat binary_little_endian 1.0\ncomment Trommel a <mesh> -- \"of\" \\ tests &?more\n"
        "element vertex %" PRIu64 "\nproperty %s x\nproperty %s y\nproperty %s z\n%s%s"
        "element face %" PRIu64 "\nproperty list uchar int vertex_indices\n",
        mesh->vertex_count, real, real, real,
        mesh->normals ? "property float nx\nproperty float ny\nproperty float nz\n" : "",
        mesh->values ? "property float wall_shear\n" : "", mesh->triangle_count);
    if (!CHECK(end && (size_t)(end - head) == strlen(expected) &&
               memcmp(head, expected, strlen(expected)) == 0))
        return false;
    const uint8_t *at = (const uint8_t *)end + strlen("end_header\n");
    size_t row = (has_origin(mesh) ? 24 : 12) + (mesh->normals ? 12 : 0) + (mesh->values ? 4 : 0);
    if (!CHECK_EQ_U64(file->data + file->size - at,
                      row * mesh->vertex_count + 13 * mesh->triangle_count))
        return false;
    bool same = true;
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        for (int axis = 0; axis < 3; axis++, at += has_origin(mesh) ? 8 : 4) {
            float local = mesh->positions[3 * i + (uint64_t)axis];
            same &= has_origin(mesh) ? load_f64(at) == mesh->origin[axis] + (double)local
                                     : load_f32(at) == local;
        }
        for (int axis = 0; mesh->normals && axis < 3; axis++, at += 4)
            same &= load_f32(at) == mesh->normals[3 * i + (uint64_t)axis];
        if (mesh->values) {
            same &= load_f32(at) == mesh->values[i];
            at += 4;
        }
    }
    for (uint64_t i = 0; i < mesh->triangle_count; i++) {
        same &= *at++ == 3;
        for (uint64_t c = 0; c < 3; c++, at += 4)
            same &= load_u32(at) == corner_of(mesh, 3 * i + c);
    }
    return CHECK(same);
}

static bool check_stl(const tml_mesh *mesh, const bytes *file)
{
    if (!CHECK_EQ_U64(file->size, 84 + 50 * mesh->triangle_count) ||
        !CHECK(memcmp(file->data, "solid", 5) != 0) ||
        !CHECK_EQ_U64(load_u32(file->data + 80), mesh->triangle_count))
        return false;
    bool same = true, normal = true;
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        const uint8_t *row = file->data + 84 + 50 * t;
        double p[3][3], n[3], length = 0.0;
        for (uint64_t c = 0; c < 3; c++) {
            for (int axis = 0; axis < 3; axis++) {
                uint64_t at = 3 * corner_of(mesh, 3 * t + c) + (uint64_t)axis;
                p[c][axis] = (double)mesh->positions[at];
                same &= load_f32(row + 12 * (c + 1) + 4 * axis) ==
                        (float)(mesh->origin[axis] + p[c][axis]);
            }
        }
        for (int axis = 0; axis < 3; axis++) {
            n[axis] = (double)load_f32(row + 4 * axis);
            length += n[axis] * n[axis];
        }
        normal &= fabs(length - 1.0) < 1e-6;
        /* At right angles to two edges, and on their right-hand side: their triple product is
         * positive. */
        double u[3], v[3], along_u = 0.0, along_v = 0.0, side = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            u[axis] = p[1][axis] - p[0][axis];
            v[axis] = p[2][axis] - p[0][axis];
            along_u += u[axis] * n[axis];
            along_v += v[axis] * n[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            side += n[axis] *
                    (u[(axis + 1) % 3] * v[(axis + 2) % 3] - u[(axis + 2) % 3] * v[(axis + 1) % 3]);
        normal &= fabs(along_u) < 1e-6 && fabs(along_v) < 1e-6 && side > 0.0;
        same &= row[48] == 0 && row[49] == 0;
    }
    return CHECK(same) & CHECK(normal);
}

/* Takes a line "keyword a b c"; false at anything else. */
static bool take_numbers(const char **at, const char *keyword, double numbers[3])
{
    size_t length = strlen(keyword);
    if (strncmp(*at, keyword, length) != 0)
        return false;
    *at += length;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*(*at)++ != ' ')
            return false;
        numbers[i] = strtod(*at, &end);
        if (end == *at)
            return false;
        *at = end;
    }
    return *(*at)++ == '\n';
}

static bool check_obj(const tml_mesh *mesh, const bytes *file)
{
    const char *at = (const char *)file->data;
    const char *comment = "# Trommel a <mesh> -- \"of\" \\ tests &?more\n";
    if (!CHECK(strncmp(at, comment, strlen(comment)) == 0))
        return false;
    at += strlen(comment);
    bool same = true;
    double n[3];
    for (uint64_t i = 0; i < mesh->vertex_count && same; i++) {
        same = take_numbers(&at, "v", n);
        for (int axis = 0; axis < 3; axis++) {
            float local = mesh->positions[3 * i + (uint64_t)axis];
            same &=
                has_origin(mesh) /* a tenth of the last bit of the strip's largest coordinate */
                    ? fabs(n[axis] - mesh->origin[axis] - (double)local) <= 1e-8 + 1e-8 * (double)i
                    : (float)n[axis] == local;
        }
    }
    for (uint64_t i = 0; mesh->normals && i < mesh->vertex_count && same; i++) {
        same = take_numbers(&at, "vn", n);
        for (int axis = 0; axis < 3; axis++)
            same &= (float)n[axis] == mesh->normals[3 * i + (uint64_t)axis];
    }
    for (uint64_t t = 0; t < mesh->triangle_count && same; t++) {
        same = *at++ == 'f';
        for (uint64_t c = 0; c < 3 && same; c++) {
            char *end = (char *)(uintptr_t)at;
            same = *at == ' ' && strtoull(at, &end, 10) == corner_of(mesh, 3 * t + c) + 1;
            at = end;
            if (mesh->normals && same) {
                same = strncmp(at, "//", 2) == 0 &&
                       strtoull(at + 2, &end, 10) == corner_of(mesh, 3 * t + c) + 1;
                at = end;
            }
        }
        same = same && *at++ == '\n';
    }
    return CHECK(same) && CHECK(at == (const char *)file->data + file->size);
}

/* The number after the nth key of that name in a JSON text. */
static double json_number(const char *json, const char *key, int nth)
{
    for (; (json = strstr(json, key)); json += strlen(key))
        if (nth-- == 0)
            return strtod(json + strlen(key), NULL);
    return NAN;
}

static bool same_floats(const uint8_t *at, const float *expected, uint64_t count)
{
    bool same = true;
    for (uint64_t i = 0; i < count; i++)
        same &= load_f32(at + 4 * i) == expected[i];
    return same;
}

static bool check_glb(const tml_mesh *mesh, const bytes *file)
{
    const uint8_t *data = file->data;
    uint32_t json_size = file->size >= 20 ? load_u32(data + 12) : 0;
    if (!CHECK(file->size >= 20 && memcmp(data, "glTF", 4) == 0) ||
        !CHECK_EQ_U64(load_u32(data + 4), 2) || !CHECK_EQ_U64(load_u32(data + 8), file->size) ||
        !CHECK(memcmp(data + 16, "JSON", 4) == 0) ||
        !CHECK(json_size % 4 == 0 && 20 + json_size <= file->size))
        return false;
    char *json = calloc(1, json_size + 1);
    memcpy(json, data + 20, json_size);
    int depth = 0;
    for (const char *at = json; *at; at++)
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    bool good =
        CHECK_EQ_I64(depth, 0) & CHECK(strstr(json, "a <mesh> -- \\\"of\\\" \\\\ tests &?more"));
    if (has_origin(mesh))
        good &= CHECK(strstr(json, "\"translation\":[665187.5,5648349.125,-240]"));
    if (mesh->triangle_count == 0) {
        good &= CHECK(!strstr(json, "meshes")) & CHECK_EQ_U64(file->size, 20 + json_size);
        free(json);
        return good;
    }
    const uint8_t *bin = data + 20 + json_size;
    uint64_t sizes[4] = {12 * mesh->vertex_count, mesh->normals ? 12 * mesh->vertex_count : 0,
                         mesh->values ? 4 * mesh->vertex_count : 0,
                         mesh->indices ? 12 * mesh->triangle_count : 0};
    uint64_t total = sizes[0] + sizes[1] + sizes[2] + sizes[3], offset = 0;
    good &= CHECK(memcmp(bin + 4, "BIN", 4) == 0) & CHECK_EQ_U64(load_u32(bin), total) &
            CHECK_EQ_U64(file->size, 28 + json_size + total);
    for (int view = 0, part = 0; good && part < 4; part++) {
        if (sizes[part] == 0)
            continue;
        good &=
            CHECK_NEAR(json_number(json, "\"byteOffset\":", view), (double)offset, 0.0) &
            CHECK_NEAR(json_number(json, "\"byteLength\":", view), (double)sizes[part], 0.0) &
            CHECK_NEAR(json_number(json, "\"count\":", view),
                       (double)(part == 3 ? 3 * mesh->triangle_count : mesh->vertex_count), 0.0) &
            CHECK_NEAR(json_number(json, "\"componentType\":", view), part == 3 ? 5125.0 : 5126.0,
                       0.0);
        const uint8_t *at = bin + 8 + offset;
        bool same = true;
        for (uint64_t i = 0; part == 3 && i < 3 * mesh->triangle_count; i++)
            same &= load_u32(at + 4 * i) == corner_of(mesh, i);
        const float *floats = part == 0   ? mesh->positions
                              : part == 1 ? mesh->normals
                                          : mesh->values;
        good &= CHECK(part == 3 ? same : same_floats(at, floats, sizes[part] / 4));
        offset += sizes[part];
        view++;
    }
    float lower = FLT_MAX, upper = -FLT_MAX;
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        lower = fminf(lower, mesh->positions[3 * i]);
        upper = fmaxf(upper, mesh->positions[3 * i]);
    }
    good &= CHECK((float)json_number(json, "\"min\":[", 0) == lower) &
            CHECK((float)json_number(json, "\"max\":[", 0) == upper) &
            CHECK(!mesh->values == !strstr(json, "\"_VALUE\":")) &
            CHECK(!mesh->normals == !strstr(json, "\"NORMAL\":"));
    free(json);
    return good;
}

static bool check_vtp(const tml_mesh *mesh, const bytes *file)
{
    const char *xml = (const char *)file->data;
    const char *mark = "<AppendedData encoding=\"raw\">\n_",
               *tail = "\n</AppendedData>\n</VTKFile>\n";
    const char *start = strstr(xml, mark);
    if (!CHECK(start) ||
        !CHECK(strstr(xml, "a &lt;mesh&gt; _- &quot;of&quot; \\ tests &amp;?more -->")) ||
        !CHECK_NEAR(json_number(xml, "NumberOfPoints=\"", 0), (double)mesh->vertex_count, 0.0) ||
        !CHECK_NEAR(json_number(xml, "NumberOfPolys=\"", 0), (double)mesh->triangle_count, 0.0) ||
        !CHECK(!mesh->values == !strstr(xml, "Scalars=\"wall shear\"")) ||
        !CHECK(!mesh->normals == !strstr(xml, "Normals=\"Normals\"")))
        return false;
    const uint8_t *base = (const uint8_t *)start + strlen(mark), *at = base;
    const uint8_t *end = file->data + file->size - strlen(tail);
    const uint64_t sizes[] = {(has_origin(mesh) ? 24 : 12) * mesh->vertex_count,
                              12 * mesh->vertex_count, 4 * mesh->vertex_count,
                              24 * mesh->triangle_count, 8 * mesh->triangle_count};
    bool good = true;
    int array = 0;
    for (int part = 0; part < 5 && good; part++) {
        if ((part == 1 && !mesh->normals) || (part == 2 && !mesh->values))
            continue;
        good = CHECK_NEAR(json_number(xml, "offset=\"", array++), (double)(at - base), 0.0) &&
               CHECK((size_t)(end - at) >= 8 + sizes[part]) &&
               CHECK_EQ_U64(load_u64(at), sizes[part]);
        if (!good)
            break;
        at += 8;
        bool same = true;
        if (part == 0 && has_origin(mesh))
            for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
                same &= load_f64(at + 8 * i) == mesh->origin[i % 3] + (double)mesh->positions[i];
        else if (part <= 2)
            same = same_floats(at,
                               part == 0   ? mesh->positions
                               : part == 1 ? mesh->normals
                                           : mesh->values,
                               sizes[part] / 4);
        for (uint64_t i = 0; part == 3 && i < 3 * mesh->triangle_count; i++)
            same &= load_u64(at + 8 * i) == corner_of(mesh, i);
        for (uint64_t i = 0; part == 4 && i < mesh->triangle_count; i++)
            same &= load_u64(at + 8 * i) == 3 * (i + 1);
        good = CHECK(same);
        at += sizes[part];
    }
    return good && CHECK(at == end && memcmp(end, tail, strlen(tail)) == 0);
}

static const struct {
    const char *ending;
    bool (*check)(const tml_mesh *mesh, const bytes *file);
} formats[] = {
    {".ply", check_ply}, {".stl", check_stl}, {".obj", check_obj},
    {".glb", check_glb}, {".vtp", check_vtp},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static void check_saved(tml_context *tml, const tml_mesh *mesh, int options)
{
    for (int f = 0; f < FORMATS; f++) {
        char name[32];
        snprintf(name, sizeof name, "mesh%s", formats[f].ending);
        const char *path = test_path(folder(), name);
        bool good = CHECK_OK(tml, tml_mesh_save(tml, path, mesh));
        bytes file = read_file(path);
        if (!good || !formats[f].check(mesh, &file))
            printf("    %s, %" PRIu64 " triangles, options %d\n", name, mesh->triangle_count,
                   options);
        free(file.data);
    }
    files_in_folder(true);
}

/* ---- meshes of every kind -------------------------------------------------------------------- */

TEST(every_format_with_every_option)
{
    tml_context *tml = open_context();
    for (int options = 0; options < ALL_OPTIONS; options++) {
        strip s = make_strip(7, options);
        check_saved(tml, &s.mesh, options);
        free_strip(&s);
    }
    tml_close(tml);
}

/* Rows go through a buffer of 1 MiB: 20971 triangles of STL, 80659 of PLY, 43690 of VTP. */
TEST(counts_on_the_seams)
{
    static const uint64_t counts[] = {0, 1, 2, 20971, 20972, 43690, 43691, 80659, 80660};
    tml_context *tml = open_context();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        int options = WITH_NORMALS | WITH_VALUES | (i % 2 ? AS_SOUP : 0);
        strip s = make_strip(counts[i], options);
        check_saved(tml, &s.mesh, options);
        free_strip(&s);
    }
    tml_close(tml);
}

TEST(ply_comes_back_through_the_points_reader)
{
    tml_context *tml = open_context();
    strip s = make_strip(1000, WITH_NORMALS | WITH_VALUES | WITH_ORIGIN);
    const char *path = test_path(folder(), "points.ply");
    tml_points points;
    if (CHECK_OK(tml, tml_mesh_save(tml, path, &s.mesh)) &&
        CHECK_OK(tml, tml_points_load(tml, path, NULL, &points))) {
        CHECK_EQ_U64(points.count, s.mesh.vertex_count);
        CHECK_STR(points.value_name, "wall_shear");
        for (uint64_t i = 0; i < points.count; i++) {
            CHECK(points.values[i] == s.values[i]);
            for (uint64_t axis = 0; axis < 3; axis++)
                CHECK_NEAR(points.origin[axis] + (double)points.positions[3 * i + axis],
                           s.mesh.origin[axis] + (double)s.positions[3 * i + axis], 1e-5);
        }
        tml_points_free(tml, &points);
    }
    free_strip(&s);
    files_in_folder(true);
    tml_close(tml);
}

/* A triangle with every kind of attribute. */
static float tip_velocity[9] = {1, 2, 3, -4, 5, 6, 7, 8, -9},
             tip_color[9] = {0, 0.5f, 1, 2, -1, NAN, 0.25f, 1, 0.0f}, tip_heat[3] = {10, 20, 30},
             tip_pair[6] = {1, 2, 3, 4, 5, 6};
static tml_mesh_attribute tip_attributes[] = {{"velocity", 3, tip_velocity},
                                              {"color", 3, tip_color},
                                              {"heat < 9", 1, tip_heat},
                                              {"uv", 2, tip_pair}};
static float tip_positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
static uint32_t tip_indices[3] = {0, 1, 2};
static const tml_mesh tip = {.positions = tip_positions,
                             .indices = tip_indices,
                             .vertex_count = 3,
                             .triangle_count = 1,
                             .attributes = tip_attributes,
                             .attribute_count = 4};

TEST(attributes_are_written)
{
    static const uint8_t bytes_of_color[9] = {0, 128, 255, 255, 0, 0, 64, 255, 0};
    tml_context *tml = open_context();
    const char *path = test_path(folder(), "tip.ply");
    CHECK_OK(tml, tml_mesh_save(tml, path, &tip));
    bytes file = read_file(path);
    const char *end = strstr((const char *)file.data, "end_header\n");
    CHECK(end && strstr((const char *)file.data,
                        "z\nproperty float velocity_x\nproperty float velocity_y\n"
                        "property float velocity_z\nproperty uchar red\nproperty uchar green\n"
                        "property uchar blue\nproperty float heat_<_9\nproperty float uv_x\n"
                        "property float uv_y\nelement face 1\n"));
    const uint8_t *at = (const uint8_t *)end + strlen("end_header\n");
    CHECK_EQ_U64(file.data + file.size - at, 3 * (12 + 12 + 3 + 4 + 8) + 13);
    for (uint64_t v = 0; v < 3; v++, at += 39)
        CHECK(same_floats(at + 12, tip_velocity + 3 * v, 3) &&
              memcmp(at + 24, bytes_of_color + 3 * v, 3) == 0 &&
              same_floats(at + 27, tip_heat + v, 1) && same_floats(at + 31, tip_pair + 2 * v, 2));
    free(file.data);

    path = test_path(folder(), "tip.vtp");
    CHECK_OK(tml, tml_mesh_save(tml, path, &tip));
    file = read_file(path);
    const char *xml = (const char *)file.data, *start = strstr(xml, "\"raw\">\n_");
    CHECK(strstr(xml, "\"UInt8\" Name=\"color\" NumberOfComponents=\"3\""));
    CHECK(strstr(xml, "\"Float32\" Name=\"heat &lt; 9\" NumberOfComponents=\"1\""));
    at = (const uint8_t *)start + strlen("\"raw\">\n_") + 8 + 36;
    CHECK(load_u64(at) == 36 && same_floats(at + 8, tip_velocity, 9));
    CHECK(load_u64(at + 44) == 9 && memcmp(at + 52, bytes_of_color, 9) == 0);
    CHECK(load_u64(at + 61) == 12 && same_floats(at + 69, tip_heat, 3));
    free(file.data);

    path = test_path(folder(), "tip.glb");
    CHECK_OK(tml, tml_mesh_save(tml, path, &tip));
    file = read_file(path);
    uint32_t json_size = load_u32(file.data + 12);
    const char *json = (const char *)file.data + 20;
    CHECK(strstr(json, "\"POSITION\":0,\"_VELOCITY\":1,\"COLOR_0\":2,\"_HEAT___9\":3,\"_UV\":4}"));
    at = file.data + 28 + json_size + 36;
    CHECK(same_floats(at, tip_velocity, 9) && same_floats(at + 72, tip_heat, 3));
    const float half = load_f32(at + 40); /* 0.5 of sRGB */
    CHECK_NEAR((double)half, 0.21404114, 1e-6);
    CHECK(load_f32(at + 36) == 0.0f && load_f32(at + 44) == 1.0f && load_f32(at + 48) == 1.0f &&
          load_f32(at + 56) == 0.0f);
    free(file.data);
    for (int f = 0; f < 2; f++)
        CHECK_OK(tml, tml_mesh_save(tml, test_path(folder(), f ? "tip.stl" : "tip.obj"), &tip));

    static tml_mesh_attribute bad[][2] = {
        {{"a", 1, tip_heat}, {"a", 1, tip_heat}},  {{"a", 1, tip_heat}, {"", 1, tip_heat}},
        {{"a", 1, tip_heat}, {NULL, 1, tip_heat}}, {{"a", 1, tip_heat}, {"b", 0, tip_heat}},
        {{"a", 1, tip_heat}, {"b", 5, tip_heat}},  {{"a", 1, tip_heat}, {"b", 1, NULL}}};
    tml_mesh wrong = tip;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wrong.attributes = bad[i];
        wrong.attribute_count = 2;
        CHECK_STATUS(tml_mesh_save(tml, path, &wrong), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "attributes[1]") != NULL);
    }
    wrong.attribute_count = 9;
    CHECK_STATUS(tml_mesh_save(tml, path, &wrong), TML_ERROR_INVALID_ARGUMENT);
    files_in_folder(true);
    tml_close(tml);
}

/* ---- numbers as text ------------------------------------------------------------------------- */

/* Digits from the first that is not 0 to the last that is not 0. */
static int significant_digits(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

static void check_float(float value)
{
    char ours[NUMBER_TEXT_MAX + 1], shortest[64] = "";
    size_t length = tml_format_f32(ours, value);
    ours[length] = '\0';
    int digits = 1;
    do {
        snprintf(shortest, sizeof shortest, "%.*g", digits, (double)value);
    } while (strtof(shortest, NULL) != value && digits++ < 9);
    float back = strtof(ours, NULL);
    /* From 2^24 on a decimal can lie just on the edge between two floats; ours leaves those out. */
    bool is_short = fabsf(value) >= 16777216.0f || significant_digits(ours) == digits;
    if (!CHECK(memcmp(&back, &value, sizeof back) == 0) || !CHECK(is_short))
        printf("    %a is %s, not %s\n", (double)value, ours, shortest);
}

static void keep_warning(void *user, tml_log_level level, const char *message)
{
    if (level == TML_LOG_WARNING)
        snprintf(user, 512, "%s", message);
}

/* STL has floats alone: where they are too coarse for a mesh, that is told, of a mesh and of a
 * stream of soup; other formats say nothing. */
TEST(stl_far_from_zero_is_told)
{
    static float positions[] = {0, 0, 0, 0.1f, 0, 0, 0, 0.1f, 0};
    static uint32_t indices[] = {0, 1, 2};
    static const struct {
        const char *ending;
        double origin;
        bool is_told;
    } cases[] = {
        {".stl", 4e6, true}, {".stl", -4e6, true}, {".stl", 1e4, true},  {".stl", 1000, false},
        {".stl", 0, false},  {".ply", 4e6, false}, {".obj", 4e6, false}, {".glb", 4e6, false},
    };
    char message[512];
    tml_context *tml = NULL;
    CHECK_OK(
        NULL,
        tml_open(&(tml_open_desc){.threads = 1, .log = keep_warning, .log_user = message}, &tml));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16];
        const tml_mesh mesh = {.positions = positions,
                               .indices = indices,
                               .vertex_count = 3,
                               .triangle_count = 1,
                               .origin = {cases[i].origin, 0, 5}};
        snprintf(name, sizeof name, "far%s", cases[i].ending);
        const char *path = test_path(folder(), name);
        message[0] = '\0';
        CHECK_OK(tml, tml_mesh_save(tml, path, &mesh));
        CHECK(!cases[i].is_told == !strstr(message, "STL holds floats, which are"));
        tml_mesh_file file;
        if (strcmp(cases[i].ending, ".stl") != 0 &&
            CHECK_OK(tml, tml_mesh_load(tml, path, NULL, &file))) {
            for (int k = 0; k < 9; k++) /* what is advised does hold it */
                CHECK_NEAR(file.mesh.origin[k % 3] + (double)file.mesh.positions[k],
                           mesh.origin[k % 3] + (double)positions[k], 1e-6);
            tml_mesh_file_free(tml, &file);
        }
        for (int is_soup = 0; is_soup < 2; is_soup++) {
            tml_mesh_stream *stream;
            tml_mesh_part part = {.vertex_count = 3, .triangle_count = 1};
            const tml_mesh_stream_desc desc = {
                .mesh = {.origin = {cases[i].origin, 0, 5}, .parts = &part, .part_count = 1},
                .soup = is_soup};
            tml_mesh piece = mesh;
            piece.indices = is_soup ? NULL : indices;
            message[0] = '\0';
            if (!CHECK_OK(tml, tml_mesh_stream_open(tml, path, &desc, &stream)))
                continue;
            CHECK_OK(tml, tml_mesh_stream_finish(stream, tml_mesh_stream_write(stream, 0, &piece)));
            CHECK(!cases[i].is_told == !strstr(message, "STL holds floats, which are"));
        }
    }
    files_in_folder(true);
    tml_close(tml);
}

TEST(floats_as_text_are_short_and_exact)
{
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = (uint32_t)(state >> 32);
        if (i % 2) /* as often within some powers of ten of 1 as anywhere */
            bits = (bits & 0x807fffffu) | (110 + (bits >> 23) % 30) << 23;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0.0f && fabsf(value) > 1e-13f && fabsf(value) < 1e22f)
            check_float(value);
    }
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.0f, "0"},
        {-0.0f, "-0"},
        {0.1f, "0.1"},
        {-1.5f, "-1.5"},
        {100000.0f, "100000"},
        {16777216.0f, "16777216"},
        {1e9f, "1e9"},
        {1e-5f, "0.00001"},
        {1.25e-7f, "1.25e-7"},
        {9.999999e9f, "9.999999e9"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {FLT_MAX, "3.40282347e+38"},
        {FLT_TRUE_MIN, "1.40129846e-45"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUMBER_TEXT_MAX + 1];
        text[tml_format_f32(text, cases[i].value)] = '\0';
        CHECK_STR(text, cases[i].text);
    }
}

TEST(fixed_and_whole_numbers_as_text)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = {
        {0.0, 3, "0"},
        {-0.0004, 3, "0"},
        {0.0005, 3, "0.001"},
        {5648349.8950352, 6, "5648349.895035"},
        {-241.5, 6, "-241.5"},
        {-0.05, 2, "-0.05"},
        {1e300, 3, "1.0000000000000001e+300"},
        {120.0, 0, "120"},
        {NAN, 2, "nan"},
    };
    char text[NUMBER_TEXT_MAX + 1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text[tml_format_fixed(text, cases[i].value, cases[i].decimals)] = '\0';
        CHECK_STR(text, cases[i].text);
    }
    static const uint64_t whole[] = {0, 9, 10, 99, 100, 12345, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%" PRIu64, whole[i]);
        text[tml_format_u64(text, whole[i])] = '\0';
        CHECK_STR(text, expected);
    }
}

TEST(files_do_not_follow_the_locale)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma is installed");
    tml_context *tml = open_context();
    strip s = make_strip(7, WITH_NORMALS | WITH_ORIGIN);
    s.positions[0] = 1e-30f; /* goes through the C library */
    const char *path = test_path(folder(), "locale.obj"),
               *scene = test_path(folder(), "locale.glb");
    CHECK_OK(tml, tml_mesh_save(tml, path, &s.mesh));
    CHECK_OK(tml, tml_mesh_save(tml, scene, &s.mesh));
    setlocale(LC_ALL, "C");
    bytes file = read_file(path), binary = read_file(scene);
    CHECK(check_obj(&s.mesh, &file));
    CHECK(check_glb(&s.mesh, &binary));
    free(file.data);
    free(binary.data);
    free_strip(&s);
    files_in_folder(true);
    tml_close(tml);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(wrong_meshes_are_refused)
{
    tml_context *tml = open_context();
    strip s = make_strip(3, 0);
    const char *path = test_path(folder(), "wrong.ply");
    tml_mesh wrong = s.mesh;
    CHECK_STATUS(tml_mesh_save(tml, test_path(folder(), "wrong.fbx"), &wrong),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), ".vtp"));
    CHECK_STATUS(tml_mesh_save(tml, "ply", &wrong), TML_ERROR_UNSUPPORTED);
    wrong.vertex_count = 4; /* the strip uses 5 */
    CHECK_STATUS(tml_mesh_save(tml, path, &wrong), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "indices reach 4"));
    wrong = s.mesh;
    wrong.indices = NULL;
    CHECK_STATUS(tml_mesh_save(tml, path, &wrong), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "needs 9"));
    wrong.positions = NULL;
    CHECK_STATUS(tml_mesh_save(tml, path, &wrong), TML_ERROR_INVALID_ARGUMENT);
    s.positions[4] = NAN;
    CHECK_STATUS(tml_mesh_save(tml, test_path(folder(), "nan.glb"), &s.mesh),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "NaN"));
    CHECK_EQ_I64(files_in_folder(true), 0);
    free_strip(&s);
    tml_close(tml);
}

/* Counts past the formats' limits; none of the arrays is read before the refusal. */
TEST(meshes_too_large_for_a_format_are_refused)
{
    static const struct {
        const char *name;
        uint64_t triangles;
        const char *word;
    } cases[] = {
        {"large.stl", (uint64_t)UINT32_MAX + 1, "at most 4294967295"},
        {"large.ply", (uint64_t)UINT32_MAX / 3 + 1, "2^32"},
        {"large.glb", 120000000, "4 GiB"},
    };
    tml_context *tml = open_context();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_mesh mesh = {.positions = (float *)(uintptr_t)folder(),
                         .vertex_count = 3 * cases[i].triangles,
                         .triangle_count = cases[i].triangles};
        CHECK_STATUS(tml_mesh_save(tml, test_path(folder(), cases[i].name), &mesh),
                     TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), cases[i].word));
    }
    CHECK_EQ_I64(files_in_folder(true), 0);
    tml_close(tml);
}

/* Writes "old" into a file, so that a test can see that it is still there. */
static void write_old(const char *path)
{
    FILE *stream = fopen(path, "wb");
    fputs("old", stream);
    fclose(stream);
}

static void check_old(const char *path)
{
    bytes file = read_file(path);
    CHECK_EQ_U64(file.size, 3);
    CHECK(file.data && memcmp(file.data, "old", 3) == 0);
    free(file.data);
}

#ifndef _WIN32
TEST(a_failed_write_leaves_the_old_file)
{
    tml_context *tml = open_context();
    strip s = make_strip(100000, WITH_NORMALS);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1200000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int f = 0; f < FORMATS; f++) {
        char name[32];
        snprintf(name, sizeof name, "old%s", formats[f].ending);
        const char *path = test_path(folder(), name);
        write_old(path);
        setrlimit(RLIMIT_FSIZE, &limit);
        tml_status status = tml_mesh_save(tml, path, &s.mesh);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK_STATUS(status, TML_ERROR_FILE_ACCESS);
        CHECK(strstr(tml_last_error(tml), name));
        check_old(path);
        CHECK_EQ_I64(files_in_folder(true), 1); /* and nothing beside it */
    }
    signal(SIGXFSZ, handler);
    free_strip(&s);
    tml_close(tml);
}

TEST(a_full_disk_is_named_with_the_bytes_needed)
{
    const char *path = test_path(folder(), "full.stl");
    if (access("/dev/full", W_OK) != 0 || symlink("/dev/full", path) != 0)
        SKIP("there is no /dev/full");
    tml_context *tml = open_context();
    strip s = make_strip(1000, 0);
    CHECK_STATUS(tml_mesh_save(tml, path, &s.mesh), TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "disk is full"));
    CHECK(strstr(tml_last_error(tml), "50084 bytes"));
    free_strip(&s);
    files_in_folder(true);
    tml_close(tml);
}

#endif

static bool cancel_half_way(void *user, const char *stage, double fraction)
{
    (void)user;
    return strcmp(stage, "write") != 0 || fraction < 0.5;
}

TEST(cancel)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.threads = 1, .progress = cancel_half_way};
    if (!CHECK_OK(NULL, tml_open(&desc, &tml)))
        return;
    strip s = make_strip(100000, WITH_NORMALS);
    for (int f = 0; f < FORMATS; f++) {
        char name[32];
        snprintf(name, sizeof name, "old%s", formats[f].ending);
        const char *path = test_path(folder(), name);
        write_old(path);
        CHECK_STATUS(tml_mesh_save(tml, path, &s.mesh), TML_ERROR_CANCELLED);
        tml_cancel_clear(tml);
        check_old(path);
        CHECK_EQ_I64(files_in_folder(true), 1);
    }
    free_strip(&s);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    int result = test_main(argc, argv);
    files_in_folder(true);
    rmdir(folder());
    return result;
}
