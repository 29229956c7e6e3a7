/* Field: means of what the points carry, at positions. A map over the positions, whose kernel reads the plan's bins. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "core/call.h"
#include "field/field_internal.h"
#include "stream/stream_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
/* Uses the formulas above. */
#include "kernels/field_mean.k.h"

#include "field_library.h"

/* clang-format off */
TML_KERNEL_WITH(field, float, field_mean_1,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    return field_mean(at, plan, points, values, 1u).a.x;
})
TML_KERNEL_WITH(field, vec2, field_mean_2,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    vec4 v = field_mean(at, plan, points, values, 2u).a;
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(field, vec3, field_mean_3,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    vec4 v = field_mean(at, plan, points, values, 3u).a;
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(field, vec4, field_mean_4,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    return field_mean(at, plan, points, values, 4u).a;
})
TML_KERNEL_OUTS_WITH(field, (vec4 a, vec4 b), field_mean_8,
                     (vec3 at, tml_words plan, tml_words points, tml_words values), {
    field_mean_sum means = field_mean(at, plan, points, values, 8u);
    field_mean_8_out o;
    o.a = means.a;
    o.b = means.b;
    return o;
})
TML_KERNEL_OUTS_WITH(field, (vec4 a, vec4 b, vec4 c), field_mean_12,
                     (vec3 at, tml_words plan, tml_words points, tml_words values), {
    field_mean_sum means = field_mean(at, plan, points, values, 12u);
    field_mean_12_out o;
    o.a = means.a;
    o.b = means.b;
    o.c = means.c;
    return o;
})
TML_KERNEL_OUTS_WITH(field, (vec4 a, vec4 b, vec4 c, vec4 d), field_mean_16,
                     (vec3 at, tml_words plan, tml_words points, tml_words values), {
    field_mean_sum means = field_mean(at, plan, points, values, 16u);
    field_mean_16_out o;
    o.a = means.a;
    o.b = means.b;
    o.c = means.c;
    o.d = means.d;
    return o;
})

/* Components of a quad, from p.u[0] on. */
TML_KERNEL(float, field_part_1, (vec4 v, tml_params p), {
    return p.u[0] == 0u ? v.x : p.u[0] == 1u ? v.y : p.u[0] == 2u ? v.z : v.w;
})
TML_KERNEL(vec2, field_part_2, (vec4 v, tml_params p), {
    return VEC2(p.u[0] == 0u ? v.x : p.u[0] == 1u ? v.y : v.z,
                p.u[0] == 0u ? v.y : p.u[0] == 1u ? v.z : v.w);
})
TML_KERNEL(vec3, field_part_3, (vec4 v, tml_params p), {
    return VEC3(p.u[0] == 0u ? v.x : v.y, p.u[0] == 0u ? v.y : v.z, p.u[0] == 0u ? v.z : v.w);
})
/* clang-format on */
#include "kernels/kernel_end.h"

#ifdef TML_VULKAN
extern const tml_vulkan_kernel field_own_kernels[]; /* made by the build */
#endif

static const char call[] = "tml_field_mean";
static const tml_type value_types[] = {TML_F32, TML_VEC(TML_F32, 2), TML_VEC(TML_F32, 3),
                                       TML_VEC(TML_F32, 4), TML_TYPE_NONE};
/* The kernel counts the words of the values in 32 bits. */
static const uint64_t most_points = (uint64_t)1 << 30;
/* A level has at most CELLS_A_POINT cells a point, or MIN_CELLS, and MAX_CELLS, unless the field's bins are more. */
enum { CELLS_A_POINT = 2, MIN_CELLS = 4096, MAX_CELLS = 1 << 26 };

/* Attributes that share their weights: each in one of up to four quads of floats. */
enum { MAX_QUADS = TML_MAX_OUTS, MAX_GROUPS = TML_CEIL_DIV(TML_FIELD_MAX_ATTRIBUTES, MAX_QUADS) };
typedef struct mean_group {
    uint32_t number[TML_FIELD_MAX_ATTRIBUTES], width[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t quad[TML_FIELD_MAX_ATTRIBUTES], first[TML_FIELD_MAX_ATTRIBUTES]; /* component */
    uint32_t count, quads, used[MAX_QUADS];
    tml_buffer
        values; /* in the kernels' order of points: a row of quads or, of one attribute, its own type */
} mean_group;

/* A level's cells. */
typedef struct mean_level {
    uint32_t edge_log2;
    uint64_t cells[3], first_cell;
} mean_level;

struct field_means {
    const field_plan *plan;
    uint64_t point_count; /* of the desc */
    mean_level levels[FIELD_MAX_LEVELS];
    uint64_t cell_count;
    uint32_t *order;          /* the desc's number of each point, cell by cell */
    tml_buffer words, points; /* as the kernels read them */
    mean_group groups[MAX_GROUPS];
    uint32_t group_count;
};

typedef struct mean_job {
    tml_context *tml;
    const tml_field_mean_desc *desc;
    uint64_t point_count, position_count;
} mean_job;

static tml_status too_many_points(tml_context *tml, const char *name_of_call, uint64_t count)
{
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "%s: the field has %llu points, needs at most 2^30", name_of_call,
                     (unsigned long long)count);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status check_attribute(const mean_job *job, int number)
{
    const tml_field_attribute *a = &job->desc->attributes[number];
    char values[32], out[32];
    snprintf(values, sizeof values, "desc.attributes[%d].values", number);
    snprintf(out, sizeof out, "desc.attributes[%d].out", number);
    tml_status status =
        tml_check_buffer_anywhere(job->tml, call, values, a->values, value_types, job->point_count);
    if (status == TML_OK)
        status = tml_check_buffer(job->tml, call, out, a->out, value_types, job->position_count);
    tml_type type, out_type;
    if (status != TML_OK || !tml_buffer_describe(job->tml, a->values, &type, NULL) ||
        !tml_buffer_describe(job->tml, a->out, &out_type, NULL))
        return status;
    if (type != out_type)
        return tml_error(job->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is %s, needs %s as values",
                         call, out, tml_type_name(out_type), tml_type_name(type));
    status = stream_check_apart(job->tml, call, out, a->out, "desc.positions", job->desc->positions,
                                false);
    if (status == TML_OK && !tml_slot_of(job->tml, a->values)->on_host)
        status = stream_check_apart(job->tml, call, out, a->out, values, a->values, false);
    return status;
}

static bool is_used(const tml_field_attribute *a)
{
    return !tml_buffer_is_none(a->values) || !tml_buffer_is_none(a->out);
}

static tml_status check_desc(mean_job *job)
{
    static const tml_type position_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
    const tml_field_mean_desc *desc = job->desc;
    tml_status status =
        tml_check_buffer(job->tml, call, "desc.positions", desc->positions, position_types, 0);
    if (status == TML_OK)
        tml_buffer_describe(job->tml, desc->positions, NULL, &job->position_count);
    for (int c = 0; c < 3 && status == TML_OK; c++)
        if (!isfinite(desc->position_origin[c]))
            status = tml_error(job->tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: desc.position_origin[%d] is not finite", call, c);
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++)
        if (is_used(&desc->attributes[i]))
            status = check_attribute(job, i);
    if (status == TML_OK && job->point_count > most_points)
        status = too_many_points(job->tml, call, job->point_count);
    return status;
}

/* ---- the plan as words ----------------------------------------------------------------------- */

static void put_floats(uint32_t *to, const double *from, int count)
{
    for (int i = 0; i < count; i++) {
        float value = (float)from[i];
        memcpy(to + i, &value, sizeof value);
    }
}

/* The longest of the grid's steps, in world units. */
static double step_of(const tml_grid *grid)
{
    double step = 0.0;
    for (int a = 0; a < 3; a++) {
        double squared = 0.0;
        for (int row = 0; row < 3; row++) {
            double along = grid->direction[3 * row + a] * grid->spacing[a];
            squared += along * along;
        }
        step = fmax(step, sqrt(squared));
    }
    return step;
}

/* Halves a level's bins until a cell is at most half as wide as the support, unless there would be too many. */
static void plan_cells(field_means *means, uint32_t l, double step)
{
    const field_plan *plan = means->plan;
    const field_level *level = &plan->levels[l];
    mean_level *to = &means->levels[l];
    double narrowest = INFINITY;
    for (int a = 0; a < 3; a++)
        narrowest = fmin(narrowest, level->support[a] + step * plan->extent[a]);
    uint64_t cells = level->bins[0] * level->bins[1] * level->bins[2];
    uint64_t most = TML_MAX_OF(CELLS_A_POINT * plan->point_count, (uint64_t)MIN_CELLS);
    most = TML_MIN_OF(most, (uint64_t)MAX_CELLS);
    uint32_t halvings = 0;
    while (halvings < level->edge_log2 && 8 * cells <= most &&
           (double)((uint64_t)2 << (level->edge_log2 - halvings)) > narrowest) {
        halvings++;
        cells *= 8;
    }
    to->edge_log2 = level->edge_log2 - halvings;
    to->first_cell = means->cell_count;
    for (int a = 0; a < 3; a++)
        to->cells[a] = level->bins[a] << halvings;
    means->cell_count += cells;
}

static void fill_head(const field_means *means, const tml_field_desc *field, const double origin[3],
                      double step, uint32_t *words)
{
    const field_plan *plan = means->plan;
    double matrix[9], inverse[9], shift[3];
    for (int a = 0; a < 3; a++) {
        for (int row = 0; row < 3; row++)
            matrix[3 * row + a] = field->grid.direction[3 * row + a] * field->grid.spacing[a];
        shift[a] = origin[a] - field->grid.origin[a];
    }
    field_invert(matrix, inverse); /* checked before */
    const double frame[6] = {plan->frame.xx, plan->frame.xy, plan->frame.xz,
                             plan->frame.yy, plan->frame.yz, plan->frame.zz};
    put_floats(words + FIELD_MEAN_INVERSE, inverse, 9);
    put_floats(words + FIELD_MEAN_SHIFT, shift, 3);
    put_floats(words + FIELD_MEAN_FRAME, frame, 6);
    words[FIELD_MEAN_FORMULA] =
        plan->formula == FIELD_DISTANCE ? FIELD_WENDLAND_C2 : (uint32_t)plan->formula;
    words[FIELD_MEAN_LEVELS] = plan->level_count;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const mean_level *level = &means->levels[l];
        uint32_t *to = words + FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * l;
        double support[3];
        to[0] = (uint32_t)level->first_cell;
        to[1] = level->edge_log2;
        to[2] = plan->levels[l].edge_log2;
        for (int a = 0; a < 3; a++) {
            to[3 + a] = (uint32_t)level->cells[a];
            support[a] = plan->levels[l].support[a] + step * plan->extent[a];
        }
        put_floats(to + 6, support, 3);
    }
}

/* ---- points by cells --------------------------------------------------------------------------- */

typedef struct cell_job {
    field_means *means;
    double step;
    uint32_t *starts;    /* of each cell */
    field_point *points; /* as the kernels read them */
} cell_job;

/* The cell of a point of a bin, whose coordinates are at. One beyond the grid is in a cell at the bin's border. */
static uint64_t cell_of(const cell_job *job, uint32_t l, const uint64_t at[3],
                        const field_point *point)
{
    const mean_level *level = &job->means->levels[l];
    uint32_t more = job->means->plan->levels[l].edge_log2 - level->edge_log2;
    uint64_t cell[3];
    for (int a = 0; a < 3; a++) {
        float most = (float)(((uint32_t)1 << more) - 1);
        float along = point->position[a] / (float)((uint64_t)1 << level->edge_log2);
        along = along > 0.0f ? along : 0.0f;
        cell[a] = (at[a] << more) + (uint64_t)(along < most ? along : most);
    }
    return level->first_cell + cell[0] + level->cells[0] * (cell[1] + level->cells[1] * cell[2]);
}

/* A point as the kernels read it. */
static field_point framed(const cell_job *job, const field_point *point)
{
    const field_plan *plan = job->means->plan;
    const double x = (double)point->position[0], y = (double)point->position[1],
                 z = (double)point->position[2];
    return (field_point){{(float)(plan->frame.xx * x + plan->frame.xy * y + plan->frame.xz * z),
                          (float)(plan->frame.yy * y + plan->frame.yz * z),
                          (float)(plan->frame.zz * z)},
                         (float)(1.0 / ((double)point->reach + job->step))};
}

/* Calls once for each point of a layer of bins: to count them, or to place them. */
static void each_point(const cell_job *job, uint32_t l, uint64_t layer, bool places)
{
    const field_plan *plan = job->means->plan;
    const field_level *level = &plan->levels[l];
    uint64_t at[3] = {0, 0, layer};
    uint64_t bin = level->first_bin + level->bins[0] * level->bins[1] * layer;
    for (at[1] = 0; at[1] < level->bins[1]; at[1]++)
        for (at[0] = 0; at[0] < level->bins[0]; at[0]++, bin++)
            for (uint64_t i = plan->starts[bin]; i < plan->starts[bin + 1]; i++) {
                uint32_t *cell = &job->starts[cell_of(job, l, at, &plan->points[i])];
                if (places) {
                    job->points[*cell] = framed(job, &plan->points[i]);
                    job->means->order[*cell] = (uint32_t)plan->order[i];
                }
                ++*cell;
            }
}

/* Sorts the points of one layer of bins, which follow each other, by cell, stably. So do the layer's cells, and no other
 * task touches either. */
static void layer_task(void *argument, uint32_t index)
{
    const cell_job *job = argument;
    const field_plan *plan = job->means->plan;
    uint32_t l = 0;
    uint64_t layer = index;
    while (layer >= plan->levels[l].bins[2])
        layer -= plan->levels[l++].bins[2];
    const field_level *level = &plan->levels[l];
    const mean_level *cells = &job->means->levels[l];
    uint64_t layers = cells->cells[2] / level->bins[2]; /* of cells in one of bins */
    uint64_t count = cells->cells[0] * cells->cells[1] * layers;
    uint32_t *starts = job->starts + cells->first_cell + count * layer;
    uint32_t first =
        (uint32_t)plan->starts[level->first_bin + level->bins[0] * level->bins[1] * layer];
    memset(starts, 0, count * sizeof *starts);
    each_point(job, l, layer, false);
    uint32_t sum = first;
    for (uint64_t c = 0; c < count; c++) {
        uint32_t here = starts[c];
        starts[c] = sum;
        sum += here;
    }
    each_point(job, l, layer, true);
    memmove(starts + 1, starts, (count - 1) * sizeof *starts); /* each is the next one's first */
    starts[0] = first;
}

static tml_status no_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %llu bytes", call,
                     (unsigned long long)size);
}

static tml_status make_buffer(tml_context *tml, tml_type type, uint64_t count, const void *data,
                              const char *label, tml_buffer *out)
{
    return tml_buffer_create(
        tml, &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = label}, out);
}

/* Sorts the points by cells, and puts what the kernels read into buffers. */
static tml_status upload_plan(tml_context *tml, const tml_field_desc *field, const double origin[3],
                              field_means *means)
{
    const field_plan *plan = means->plan;
    cell_job job = {.means = means, .step = step_of(&field->grid)};
    uint64_t layers = 0, head = FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * (uint64_t)plan->level_count;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        plan_cells(means, l, job.step);
        layers += plan->levels[l].bins[2];
    }
    uint64_t count = head + means->cell_count + 1, points = plan->point_count;
    uint32_t *words = tml_alloc_array(tml, count, sizeof *words);
    job.points = tml_alloc_array(tml, points, sizeof *job.points);
    means->order = tml_alloc_array(tml, points, sizeof *means->order);
    tml_status status = TML_OK;
    if (!words || (points && (!job.points || !means->order)))
        status = no_memory(tml, count * sizeof *words + points * (sizeof *job.points + 4));
    if (status == TML_OK) {
        job.starts = words + head;
        fill_head(means, field, origin, job.step, words);
        tml_parallel_for(tml, (uint32_t)layers, layer_task, &job);
        job.starts[means->cell_count] = (uint32_t)points;
        status = make_buffer(tml, TML_U32, count, words, "field mean's cells", &means->words);
    }
    if (status == TML_OK)
        status = make_buffer(tml, TML_VEC(TML_F32, 4), points, job.points, "field mean's points",
                             &means->points);
    tml_free(tml, words, count * sizeof *words);
    tml_free(tml, job.points, points * sizeof *job.points);
    return status;
}

tml_status field_means_create(tml_context *tml, const tml_field_desc *resolved,
                              const field_plan *plan, const double origin[3], field_means **out)
{
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, field_own_kernels);
#endif
    *out = tml_alloc(tml, sizeof **out);
    if (!*out)
        return no_memory(tml, sizeof **out);
    **out = (field_means){.plan = plan};
    (*out)->point_count = resolved->length.count;
    return upload_plan(tml, resolved, origin, *out);
}

void field_means_destroy(tml_context *tml, field_means *means)
{
    if (!means)
        return;
    for (uint32_t g = 0; g < means->group_count; g++)
        tml_buffer_destroy(tml, means->groups[g].values);
    tml_buffer_destroy(tml, means->words);
    tml_buffer_destroy(tml, means->points);
    tml_free(tml, means->order, means->plan->point_count * sizeof *means->order);
    tml_free(tml, means, sizeof *means);
}

/* ---- the means ------------------------------------------------------------------------------- */

static uint32_t width_of(tml_context *tml, tml_buffer values)
{
    tml_type type = TML_F32;
    tml_buffer_describe(tml, values, &type, NULL);
    return (uint32_t)(tml_type_size(type) / sizeof(float));
}

/* Writes an attribute's values, in the kernels' order of points, a row of width floats each. */
static tml_status order_values(tml_context *tml, const field_means *means, tml_buffer values,
                               float *to, uint32_t width)
{
    void *from;
    size_t size = width_of(tml, values) * sizeof(float);
    tml_status status = tml_buffer_map(tml, values, &from);
    if (status != TML_OK)
        return status;
    for (uint64_t i = 0; i < means->plan->point_count; i++)
        memcpy(to + width * i, (const char *)from + size * means->order[i], size);
    tml_buffer_unmap(tml, values);
    return TML_OK;
}

/* Puts an attribute into the group's first quad with room; false: the group is full. */
static bool join_group(mean_group *group, uint32_t number, uint32_t width)
{
    uint32_t quad = 0, i = group->count;
    while (quad < group->quads && group->used[quad] + width > 4)
        quad++;
    if (quad == MAX_QUADS)
        return false;
    group->quads = TML_MAX_OF(group->quads, quad + 1);
    group->number[i] = number;
    group->width[i] = width;
    group->quad[i] = quad;
    group->first[i] = group->used[quad];
    group->used[quad] += width;
    group->count++;
    return true;
}

static tml_status fill_group(tml_context *tml, const field_means *means, const tml_buffer *values,
                             mean_group *group)
{
    uint64_t count = means->plan->point_count;
    uint32_t width = group->count == 1 ? group->width[0] : 4 * group->quads;
    size_t size = count * width * sizeof(float);
    float *rows = tml_alloc(tml, size);
    if (!rows && size)
        return no_memory(tml, size);
    if (size)
        memset(rows, 0, size);
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < group->count && rows && status == TML_OK; i++)
        status = order_values(tml, means, values[group->number[i]],
                              rows + 4 * group->quad[i] + group->first[i], width);
    bool is_one = group->count == 1;
    if (status == TML_OK)
        status = make_buffer(tml, value_types[is_one ? width - 1 : 3],
                             is_one ? count : count * group->quads, rows, "field mean's values",
                             &group->values);
    tml_free(tml, rows, size);
    return status;
}

tml_status field_means_check(tml_context *tml, const field_means *means, const char *name_of_call,
                             const char *name, tml_buffer values)
{
    tml_status status =
        tml_check_buffer_anywhere(tml, name_of_call, name, values, value_types, means->point_count);
    if (status == TML_OK && means->point_count > most_points)
        status = too_many_points(tml, name_of_call, means->point_count);
    return status;
}

tml_status field_means_take(tml_context *tml, field_means *means, const tml_buffer *values,
                            uint32_t count)
{
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < count && status == TML_OK; i++) {
        uint32_t width = width_of(tml, values[i]);
        if (means->group_count == 0 ||
            !join_group(&means->groups[means->group_count - 1], i, width))
            join_group(&means->groups[means->group_count++], i, width);
    }
    for (uint32_t g = 0; g < means->group_count && status == TML_OK; g++)
        status = fill_group(tml, means, values, &means->groups[g]);
    return status;
}

/* The attribute that fills a quad by itself, or is alone in the group; NULL: the quad has parts. */
static const tml_buffer *own_out(const mean_group *group, uint32_t quad, const tml_buffer *outs)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->quad[i] == quad && (group->width[i] == 4 || group->count == 1))
            return &outs[group->number[i]];
    return NULL;
}

static tml_status map_parts(tml_context *tml, const mean_group *group, const tml_buffer *quads,
                            uint64_t count, const tml_buffer *outs)
{
    static const tml_kernel *const parts[] = {TML_USE(field_part_1), TML_USE(field_part_2),
                                              TML_USE(field_part_3)};
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < group->count && status == TML_OK; i++)
        if (!own_out(group, group->quad[i], outs))
            status = tml_map(tml, &(tml_map_desc){.kernel = parts[group->width[i] - 1],
                                                  .params.u = {group->first[i]},
                                                  .in = {quads[group->quad[i]]},
                                                  .length = {.count = count},
                                                  .out = outs[group->number[i]]});
    return status;
}

static tml_status map_group(tml_context *tml, const field_means *means, const mean_group *group,
                            tml_buffer positions, uint64_t count, const tml_buffer *outs)
{
    static const tml_kernel *const ones[] = {TML_USE(field_mean_1), TML_USE(field_mean_2),
                                             TML_USE(field_mean_3), TML_USE(field_mean_4)};
    static const tml_kernel *const several[] = {TML_USE(field_mean_4), TML_USE(field_mean_8),
                                                TML_USE(field_mean_12), TML_USE(field_mean_16)};
    tml_buffer quads[MAX_QUADS] = {{0}};
    tml_status status = TML_OK;
    for (uint32_t q = 0; q < group->quads && status == TML_OK; q++) {
        const tml_buffer *own = own_out(group, q, outs);
        if (own)
            quads[q] = *own;
        else
            status = make_buffer(tml, value_types[3], count, NULL, "field mean's quads", &quads[q]);
    }
    if (status == TML_OK)
        status = tml_map(
            tml, &(tml_map_desc){.kernel = group->count == 1 ? ones[group->width[0] - 1]
                                                             : several[group->quads - 1],
                                 .in = {positions, means->words, means->points, group->values},
                                 .length = {.count = count},
                                 .out = quads[0],
                                 .also = {quads[1], quads[2], quads[3]}});
    if (status == TML_OK)
        status = map_parts(tml, group, quads, count, outs);
    for (uint32_t q = 0; q < group->quads; q++)
        if (!own_out(group, q, outs))
            tml_buffer_destroy(tml, quads[q]);
    return status;
}

tml_status field_means_at(tml_context *tml, const field_means *means, tml_buffer positions,
                          const tml_buffer *outs)
{
    uint64_t count = 0;
    tml_status status = TML_OK;
    tml_buffer_describe(tml, positions, NULL, &count);
    for (uint32_t g = 0; g < means->group_count && count > 0 && status == TML_OK; g++)
        status = map_group(tml, means, &means->groups[g], positions, count, outs);
    return status;
}

static tml_status run_means(mean_job *job)
{
    tml_context *tml = job->tml;
    const tml_field_mean_desc *desc = job->desc;
    tml_field_desc field;
    field_plan *plan = NULL;
    field_means *means = NULL;
    if (!desc->field)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.field is NULL, needs the desc of the points' field", call);
    tml_status status = tml_field_resolve(tml, desc->field, &field, NULL);
    job->point_count = status == TML_OK ? field.length.count : 0;
    if (status == TML_OK)
        status = check_desc(job);
    if (status != TML_OK || job->position_count == 0)
        return status;
    status = field_plan_create_ordered(tml, &field, &plan);
    if (status == TML_OK)
        status = field_means_create(tml, &field, plan, desc->position_origin, &means);
    tml_buffer values[TML_FIELD_MAX_ATTRIBUTES], outs[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        if (is_used(&desc->attributes[i])) {
            values[count] = desc->attributes[i].values;
            outs[count++] = desc->attributes[i].out;
        }
    if (status == TML_OK)
        status = field_means_take(tml, means, values, count);
    if (status == TML_OK)
        status = field_means_at(tml, means, desc->positions, outs);
    field_means_destroy(tml, means);
    field_plan_destroy(tml, plan);
    return status;
}

tml_status tml_field_mean(tml_context *tml, const tml_field_mean_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    if (status != TML_OK)
        return status;
    mean_job job = {.tml = tml, .desc = desc};
    if (tml->engine->tier)
        return tml_leave(tml, tml_refuse(tml, call, "no fields"));
    return tml_leave(tml, run_means(&job));
}
