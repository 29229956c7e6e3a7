/* Loading points: which format a file has, the sink that its reader fills, and the finish, which
 * chooses the origin and rounds positions to float. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/points/points_internal.h"

/* ---- the sink -------------------------------------------------------------------------------- */

enum { BLOCK_POINTS = 65536 };

struct point_block {
    point_block *next;
    uint32_t count;
    double positions[BLOCK_POINTS][3];
    float radii[BLOCK_POINTS];
    float values[BLOCK_POINTS];
    float floats[]; /* sink.float_count a point */
};

static size_t block_size(const point_sink *sink)
{
    return sizeof(point_block) + BLOCK_POINTS * sink->float_count * sizeof(float);
}

static tml_status sink_grow(point_sink *sink)
{
    double fraction = sink->expected ? (double)sink->count / (double)sink->expected : 0.0;
    if (!tml_progress(sink->file->tml, "points", fraction < 1.0 ? fraction : 1.0))
        return tml_io_error(sink->file, TML_ERROR_CANCELLED, "cancelled");
    point_block *block = tml_alloc(sink->file->tml, block_size(sink));
    if (!block)
        return tml_io_error(sink->file, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu points",
                            (unsigned long long)(sink->count + BLOCK_POINTS));
    block->next = NULL;
    block->count = 0;
    if (sink->last)
        sink->last->next = block;
    else
        sink->first = block;
    sink->last = block;
    return TML_OK;
}

static bool is_float_range(double value)
{
    return fabs(value) <= (double)FLT_MAX; /* false for NaN */
}

tml_status tml_points_push(point_sink *sink, const double position[3], double radius, double value)
{
    if (!is_float_range(position[0]) || !is_float_range(position[1]) ||
        !is_float_range(position[2])) {
        sink->dropped++;
        return TML_OK;
    }
    if (!sink->last || sink->last->count == BLOCK_POINTS) {
        tml_status status = sink_grow(sink);
        if (status != TML_OK)
            return status;
    }
    point_block *block = sink->last;
    assert(block);
    uint32_t i = block->count++;
    for (int axis = 0; axis < 3; axis++) {
        double x = position[axis];
        block->positions[i][axis] = x;
        sink->inexact |= (double)(float)x != x;
        if (sink->count == 0 || x < sink->lower[axis])
            sink->lower[axis] = x;
        if (sink->count == 0 || x > sink->upper[axis])
            sink->upper[axis] = x;
    }
    if (sink->has_radii)
        block->radii[i] = (float)radius;
    if (sink->has_values)
        block->values[i] = (float)value;
    memcpy(block->floats + (size_t)i * sink->float_count, sink->floats,
           sink->float_count * sizeof(float));
    sink->count++;
    return TML_OK;
}

tml_status tml_points_tell_of_mesh(const point_sink *sink, uint64_t count, const char *what)
{
    return count == 0
               ? TML_OK
               : tml_io_warn(sink->file,
                             "holds a mesh, whose vertices are read as points; its %llu %s%s left "
                             "out",
                             (unsigned long long)count, what, count == 1 ? " is" : "s are");
}

static void sink_drop_first(point_sink *sink)
{
    point_block *block = sink->first;
    sink->first = block->next;
    tml_free(sink->file->tml, block, block_size(sink));
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Names that common programs give to columns which are no scalar to make a surface from. */
static const char *const skipped_columns[] = {
    "nx",  "ny",   "nz",          "normal_x",      "normal_y",     "normal_z", "r",
    "g",   "b",    "a",           "red",           "green",        "blue",     "alpha",
    "rgb", "rgba", "diffuse_red", "diffuse_green", "diffuse_blue", "id",       "index",
    "_",
};

void tml_points_column(point_sink *sink, point_columns *columns, int32_t index, const char *name,
                       tml_type type)
{
    static const char *const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; axis++) {
        if (strcasecmp(name, axes[axis]) == 0) {
            if (columns->position[axis] < 0)
                columns->position[axis] = index;
            return;
        }
    }
    if (strcasecmp(name, "radius") == 0 || strcasecmp(name, "pscale") == 0) {
        columns->radius = index;
        return;
    }
    tml_points_list(sink, name, 1, index, type);
    for (size_t i = 0; i < sizeof skipped_columns / sizeof skipped_columns[0]; i++)
        if (strcasecmp(name, skipped_columns[i]) == 0)
            return;
    if (columns->value < 0) {
        columns->value = index;
        snprintf(sink->value_name, sizeof sink->value_name, "%s", name);
    }
}

tml_status tml_points_columns_done(point_sink *sink, const point_columns *columns)
{
    for (int axis = 0; axis < 3; axis++)
        if (columns->position[axis] < 0)
            return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                "the points have no \"%c\"; needs x, y and z", "xyz"[axis]);
    sink->has_radii = columns->radius >= 0;
    sink->has_values = columns->value >= 0;
    return tml_points_choose(sink);
}

tml_status tml_points_push_row(point_sink *sink, const point_columns *columns, const double *values)
{
    const double position[3] = {values[columns->position[0]], values[columns->position[1]],
                                values[columns->position[2]]};
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *a = &sink->attributes[i];
        double numbers[4];
        for (uint32_t c = 0; c < a->components && a->place >= 0; c++)
            numbers[c] = values[a->columns[c]];
        if (a->place >= 0)
            tml_points_set(sink, a, numbers);
    }
    return tml_points_push(sink, position, columns->radius < 0 ? 0.0 : values[columns->radius],
                           columns->value < 0 ? 0.0 : values[columns->value]);
}

tml_status tml_points_push_numbers(point_sink *sink, const point_columns *columns,
                                   points_number number, const void *user)
{
    double position[3];
    for (uint32_t axis = 0; axis < 3; axis++)
        position[axis] = number(user, columns->position[axis], axis);
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *a = &sink->attributes[i];
        double numbers[4] = {0};
        for (uint32_t c = 0; c < (a->is_packed ? 1 : a->components) && a->place >= 0; c++)
            numbers[c] = number(user, a->columns[c], c);
        if (a->place >= 0)
            tml_points_set(sink, a, numbers);
    }
    return tml_points_push(sink, position,
                           columns->radius < 0 ? 0.0 : number(user, columns->radius, 0),
                           columns->value < 0 ? 0.0 : number(user, columns->value, 0));
}

/* ---- the finish ------------------------------------------------------------------------------ */

static tml_status no_memory(const point_sink *sink)
{
    return tml_io_error(sink->file, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu points",
                        (unsigned long long)sink->count);
}

/* The list of attributes, with room for the values of those that are asked for. */
static bool make_attributes(const point_sink *sink, tml_points *points)
{
    tml_context *tml = sink->file->tml;
    if (sink->attribute_count == 0)
        return true;
    points->attributes = tml_alloc(tml, sink->attribute_count * sizeof *points->attributes);
    if (!points->attributes)
        return false;
    points->attribute_count = sink->attribute_count;
    bool is_good = true;
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *from = &sink->attributes[i];
        tml_point_attribute *to = &points->attributes[i];
        *to = (tml_point_attribute){.components = from->components};
        memcpy(to->name, from->name, sizeof to->name);
        if (from->place >= 0)
            to->values = tml_alloc_array(tml, sink->count, from->components * sizeof(float));
        is_good &= to->values || from->place < 0 || sink->count == 0;
    }
    return is_good;
}

static void take_floats(const point_sink *sink, const point_block *block, uint64_t done,
                        const tml_points *points)
{
    for (uint32_t a = 0; a < points->attribute_count; a++) {
        const point_attribute *from = &sink->attributes[a];
        float *to = points->attributes[a].values;
        for (uint32_t i = 0; i < block->count && to; i++)
            memcpy(to + (done + i) * from->components,
                   block->floats + (size_t)i * sink->float_count + from->place,
                   from->components * sizeof(float));
    }
}

/* Moves the blocks into arrays, giving each back as soon as it is copied: memory never holds the
 * points twice. */
static tml_status sink_finish(point_sink *sink, tml_points *out)
{
    tml_context *tml = sink->file->tml;
    tml_points points = {.count = sink->count, .dropped = sink->dropped};
    if (sink->origin)
        memcpy(points.origin, sink->origin, sizeof points.origin);
    else
        tml_io_choose_origin(sink->lower, sink->upper, sink->inexact, points.origin);
    memcpy(points.value_name, sink->value_name, sizeof points.value_name);
    points.positions = tml_alloc_array(tml, sink->count, 3 * sizeof(float));
    points.radii = sink->has_radii ? tml_alloc_array(tml, sink->count, sizeof(float)) : NULL;
    points.values = sink->has_values ? tml_alloc_array(tml, sink->count, sizeof(float)) : NULL;
    bool is_good = make_attributes(sink, &points);
    if (!is_good || (sink->count > 0 && (!points.positions || (sink->has_radii && !points.radii) ||
                                         (sink->has_values && !points.values)))) {
        tml_points_free(sink->file->tml, &points);
        return no_memory(sink);
    }
    uint64_t done = 0;
    while (sink->first) {
        const point_block *block = sink->first;
        for (uint32_t i = 0; i < block->count; i++)
            for (int axis = 0; axis < 3; axis++)
                points.positions[3 * (done + i) + (size_t)axis] =
                    (float)(block->positions[i][axis] - points.origin[axis]);
        if (points.radii)
            memcpy(points.radii + done, block->radii, block->count * sizeof(float));
        if (points.values)
            memcpy(points.values + done, block->values, block->count * sizeof(float));
        take_floats(sink, block, done, &points);
        done += block->count;
        sink_drop_first(sink);
    }
    for (uint32_t a = 0; a < points.attribute_count; a++)
        if (points.attributes[a].values && sink->attributes[a].is_color &&
            !(sink->attributes[a].scale > 0.0))
            tml_points_scale_colors(&sink->attributes[a], points.attributes[a].values, sink->count);
    *out = points;
    return TML_OK;
}

/* ---- which format ---------------------------------------------------------------------------- */

typedef struct points_format {
    const char *name;
    const char *magic; /* the contents' first bytes */
    points_reader read;
} points_format;

#define BGEO_MAGIC "BgeoV"
static const points_format formats[] = {
    {"PLY", "ply\n", tml_points_read_ply},      {"PLY", "ply\r", tml_points_read_ply},
    {"PCD", "# .PCD", tml_points_read_pcd},     {"PCD", "VERSION", tml_points_read_pcd},
    {"LAS", "LASF", tml_points_read_las},       {"VTK", "# vtk DataFile", tml_points_read_vtk},
    {"VTU", "<?xml", tml_points_read_vtk_xml},  {"VTU", "<VTKFile", tml_points_read_vtk_xml},
    {"BGEO", BGEO_MAGIC, tml_points_read_bgeo},
};
static const points_format xyz_format = {"XYZ", "", tml_points_read_xyz};

#define FORMATS      "PLY, XYZ, PCD, LAS, VTK, VTU or BGEO"
#define MESH_MESSAGE "the file holds a mesh, not points; use " FORMATS

/* Formats that people may well try, known by their first bytes or their ending, with the way
 * out. */
static const struct {
    const char *magics[2]; /* NULL: none */
    const char *ending;
    const char *message;
} refused[] = {
    {{"\x7fNSJ"},
     ".bgeo",
     "Houdini geometry since version 12 is not read; save as its classic .bgeo or as PLY, for "
     "example with Partio's partconvert"},
    {{"\x1f\x8b"}, NULL, "the file is compressed with gzip; unpack it with gunzip first"},
    {{"glTF"}, ".glb", MESH_MESSAGE},
    {{NULL}, ".obj", MESH_MESSAGE},
    {{NULL}, ".stl", MESH_MESSAGE},
    {{NULL}, ".off", MESH_MESSAGE},
};

static bool begins_with(const uint8_t *data, size_t size, const char *magic)
{
    size_t length = magic ? strlen(magic) : 0;
    return length > 0 && size >= length && memcmp(data, magic, length) == 0;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = ending ? strlen(ending) : 0;
    return ending && length >= ending_length &&
           strcasecmp(name + length - ending_length, ending) == 0;
}

/* Text has no control bytes but white space; a look at the beginning tells. */
static bool looks_like_text(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && i < 1024; i++)
        if (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r') &&
            !(data[i] == 0x1a && i + 1 == size)) /* DOS's end of a file */
            return false;
    return true;
}

static tml_status find_format(const point_sink *sink, const uint8_t *data, size_t size,
                              const points_format **out)
{
    if (size == 0)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the file is empty");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (begins_with(data, size, formats[i].magic)) {
            *out = &formats[i];
            return TML_OK;
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (begins_with(data, size, refused[i].magics[0]) ||
            begins_with(data, size, refused[i].magics[1]) ||
            has_ending(sink->file->path, refused[i].ending))
            return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED, "%s", refused[i].message);
    if (!looks_like_text(data, size))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the contents are none of " FORMATS);
    *out = &xyz_format;
    return TML_OK;
}

/* Is it BGEO, or gzip of it? */
static bool is_bgeo(const io_file *file)
{
    io_block head = {0};
    bool is = tml_io_read_head(file, sizeof BGEO_MAGIC - 1, &head) == TML_OK &&
              begins_with(head.data, head.size, BGEO_MAGIC);
    tml_io_block_free(file, &head);
    return is;
}

/* The file; of BGEO in gzip, which is how programs write it, as much as the last bytes say that there is. */
static tml_status read_contents(const io_file *file, io_block *out)
{
    uint8_t start[3] = {0}, size[4];
    if (file->size < 18 || tml_io_read(file, 0, start, sizeof start) != TML_OK ||
        !tml_io_is_gzip(start, sizeof start) || !is_bgeo(file))
        return tml_io_read_all(file, out);
    tml_status status = tml_io_read(file, file->size - sizeof size, size, sizeof size);
    return status == TML_OK ? tml_io_read_head(file, io_load_u32(size, false), out) : status;
}

/* ---- public ---------------------------------------------------------------------------------- */

static tml_status read_points(const io_file *file, const tml_points_load_desc *desc,
                              tml_points *out)
{
    *out = (tml_points){0};
    point_sink sink = {.file = file,
                       .wanted = desc->names,
                       .wanted_count = desc->name_count,
                       .origin = desc->origin};
    const points_format *format = NULL;
    io_block block = {0};
    tml_status status = read_contents(file, &block);
    if (status == TML_OK)
        status = find_format(&sink, block.data, block.size, &format);
    assert(status != TML_OK || format);
    if (status == TML_OK)
        status = format->read(&sink, block.data, block.size);
    tml_io_block_free(file, &block); /* before the finish, which needs memory of its own */
    /* PCD has NaN where a scanner saw nothing. */
    if (status == TML_OK && sink.dropped > 0 && format->read != tml_points_read_pcd)
        status = tml_io_warn(file, "%llu %s a coordinate that is no finite float %s left out",
                             (unsigned long long)sink.dropped,
                             sink.dropped == 1 ? "point with" : "points with",
                             sink.dropped == 1 ? "is" : "are");
    if (status == TML_OK)
        status = sink_finish(&sink, out);
    if (status == TML_OK)
        snprintf(out->format, sizeof out->format, "%s", format->name);
    while (sink.first)
        sink_drop_first(&sink);
    return status;
}

tml_status tml_points_read_attributes(const io_file *file, const char *const *names,
                                      uint32_t name_count, tml_points *out)
{
    const tml_points_load_desc desc = {.names = names, .name_count = name_count};
    return read_points(file, &desc, out);
}

#ifdef __EMSCRIPTEN__ /* a page sets none, and its scripts are small */
#    define check_limit(file, limit, p) TML_OK
#else
static tml_status check_limit(const io_file *file, uint64_t limit, const tml_points *p)
{
    uint64_t numbers = 3 + (p->radii != NULL) + (p->values != NULL);
    for (uint32_t i = 0; i < p->attribute_count; i++)
        numbers += p->attributes[i].values ? p->attributes[i].components : 0;
    const uint64_t size = p->count * numbers * sizeof(float);
    return limit && size > limit ? tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                                                "needs %llu bytes, desc.memory_limit is %llu",
                                                (unsigned long long)size, (unsigned long long)limit)
                                 : TML_OK;
}
#endif

tml_status tml_points_load(tml_context *tml, const char *path, const tml_points_load_desc *desc,
                           tml_points *out)
{
    static const tml_points_load_desc defaults;
    desc = desc ? desc : &defaults;
    io_file file;
    *out = (tml_points){0};
    tml_status status = tml_io_open(tml, "tml_points_load", path, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc->strict;
    status = read_points(&file, desc, out);
    if (status == TML_OK && (status = check_limit(&file, desc->memory_limit, out)) != TML_OK)
        tml_points_free(tml, out);
    tml_io_close(&file);
    return status;
}

const char *tml_points_format(tml_context *tml, const char *path)
{
    enum { HEAD_SIZE = 1024 };
    io_file file;
    uint8_t head[HEAD_SIZE];
    if (tml_io_open(tml, "tml_points_format", path, &file) != TML_OK)
        return NULL;
    const point_sink sink = {.file = &file};
    const points_format *format = NULL;
    size_t size = file.size < sizeof head ? (size_t)file.size : sizeof head;
    if (is_bgeo(&file))
        (void)!find_format(&sink, (const uint8_t *)BGEO_MAGIC, sizeof BGEO_MAGIC - 1, &format);
    else if (tml_io_read(&file, 0, head, size) == TML_OK &&
             find_format(&sink, head, size, &format) != TML_OK)
        format = NULL;
    tml_io_close(&file);
    return format ? format->name : NULL;
}

void tml_points_free(tml_context *tml, tml_points *points)
{
    size_t size = points->count * sizeof(float);
    tml_free(tml, points->positions, 3 * size);
    tml_free(tml, points->radii, size);
    tml_free(tml, points->values, size);
    for (uint32_t a = 0; a < points->attribute_count; a++)
        tml_free(tml, points->attributes[a].values, size * points->attributes[a].components);
    tml_free(tml, points->attributes, points->attribute_count * sizeof *points->attributes);
    *points = (tml_points){0};
}
