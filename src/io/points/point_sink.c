/* The sink that point readers fill, and its finish, which chooses the origin and rounds positions
 * to floats. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/points/points_internal.h"

/* ---- the sink -------------------------------------------------------------------------------- */

enum { BLOCK_POINTS = 65536 };

struct point_block {
    point_block *next;
    uint32_t count;
    double positions[BLOCK_POINTS][3];
    float radii[BLOCK_POINTS];
    float values[BLOCK_POINTS];
    float floats[]; /* sink.float_count per point */
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

void tml_points_drop_first(point_sink *sink)
{
    point_block *block = sink->first;
    sink->first = block->next;
    tml_free(sink->file->tml, block, block_size(sink));
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Names that common programs give to columns that are not a scalar field for a surface. */
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

/* An attribute, and the name that follows all attributes. */
#define ATTRIBUTE_SIZE (sizeof(tml_mesh_attribute) + sizeof(((point_attribute *)0)->name))

/* Allocates the list of attributes, and the values of those that are asked for. */
static bool make_attributes(const point_sink *sink, tml_points *points)
{
    tml_context *tml = sink->file->tml;
    if (sink->attribute_count == 0)
        return true;
    points->attributes = tml_alloc(tml, sink->attribute_count * ATTRIBUTE_SIZE);
    if (!points->attributes)
        return false;
    char *names = (char *)(points->attributes + sink->attribute_count);
    points->attribute_count = sink->attribute_count;
    bool is_good = true;
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *from = &sink->attributes[i];
        tml_mesh_attribute *to = &points->attributes[i];
        *to = (tml_mesh_attribute){.name = names + i * sizeof from->name,
                                   .components = from->components};
        memcpy(names + i * sizeof from->name, from->name, sizeof from->name);
        if (from->place >= 0)
            to->data = tml_alloc_array(tml, sink->count, from->components * sizeof(float));
        is_good &= to->data || from->place < 0 || sink->count == 0;
    }
    return is_good;
}

static void take_floats(const point_sink *sink, const point_block *block, uint64_t done,
                        const tml_points *points)
{
    for (uint32_t a = 0; a < points->attribute_count; a++) {
        const point_attribute *from = &sink->attributes[a];
        float *to = points->attributes[a].data;
        for (uint32_t i = 0; i < block->count && to; i++)
            memcpy(to + (done + i) * from->components,
                   block->floats + (size_t)i * sink->float_count + from->place,
                   from->components * sizeof(float));
    }
}

/* Moves the points from blocks to arrays. Each block is freed once it is copied. */
tml_status tml_points_finish(point_sink *sink, tml_points *out)
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
        tml_points_drop_first(sink);
    }
    for (uint32_t a = 0; a < points.attribute_count; a++)
        if (points.attributes[a].data && sink->attributes[a].is_color &&
            !(sink->attributes[a].scale > 0.0))
            tml_points_scale_colors(&sink->attributes[a], points.attributes[a].data, sink->count);
    *out = points;
    return TML_OK;
}

void tml_points_free(tml_context *tml, tml_points *points)
{
    size_t size = points->count * sizeof(float);
    tml_free(tml, points->positions, 3 * size);
    tml_free(tml, points->radii, size);
    tml_free(tml, points->values, size);
    for (uint32_t a = 0; a < points->attribute_count; a++)
        tml_free(tml, points->attributes[a].data, size * points->attributes[a].components);
    tml_free(tml, points->attributes, points->attribute_count * ATTRIBUTE_SIZE);
    *points = (tml_points){0};
}
