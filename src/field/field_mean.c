/* tml_field_mean: means of the points' values, at positions. A map over the positions, whose kernel
 * reads the plan's bins. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/call.h"
#include "field/field_internal.h"
#include "stream/desc.h"

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

TML_KERNEL_OUTS_WITH(field, (uint cell, vec4 point), field_mean_cells,
                     (uint bin, uvec4 record, tml_words plan), {
    field_mean_point p = field_mean_point_of(plan, bin, record);
    field_mean_cells_out o;
    o.cell = p.cell;
    o.point = p.point;
    return o;
})

/* Writes the values of one attribute into its group's rows, in the order of cells.
 * p.u[0]  words per row
 * p.u[1]  first word of the attribute in a row
 * p.u[2]  words of the attribute per point
 * p.u[3]  the word of plan that is the number of points */
TML_KERNEL(uint, field_mean_rows,
           (tml_index i, uint before, tml_words order, tml_words values, tml_words plan,
            tml_params p), {
    uint point = U(i) / p.u[0];
    uint at = U(i) - point * p.u[0] - p.u[1];
    if (at >= p.u[2] || point >= tml_word(plan, p.u[3]))
        return before;
    return tml_word(values, tml_word(order, point) * p.u[2] + at);
})

/* Takes components of a quad, from p.u[0] on. */
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

static const char call[] = "tml_field_mean";
static const tml_type value_types[] = {TML_F32, TML_VEC(TML_F32, 2), TML_VEC(TML_F32, 3),
                                       TML_VEC(TML_F32, 4), TML_TYPE_NONE};
/* The kernels count the words of the values in 32 bits. */
static const uint64_t most_points = (uint64_t)1 << 30;
/* Bounds of a level's cells: CELLS_A_POINT per point, at least MIN_CELLS, at most MAX_CELLS. A
 * level has more only if its bins are more. */
enum { CELLS_A_POINT = 2, MIN_CELLS = 4096, MAX_CELLS = 1 << 26 };

/* Attributes that share the search and their weights. Each lies in one of up to four quads of
 * floats. */
enum { MAX_QUADS = TML_MAX_OUTS, MAX_GROUPS = TML_CEIL_DIV(TML_FIELD_MAX_ATTRIBUTES, MAX_QUADS) };
typedef struct mean_group {
    uint32_t number[TML_FIELD_MAX_ATTRIBUTES], width[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t quad[TML_FIELD_MAX_ATTRIBUTES], first[TML_FIELD_MAX_ATTRIBUTES]; /* its component */
    uint32_t count, quads, used[MAX_QUADS];
} mean_group;

typedef struct mean_level {
    uint32_t edge_log2;
    uint64_t cells[3], first_cell;
} mean_level;

/* The arrays of a call: the program's, or buffers if they outlive it. */
enum {
    BINS,     /* u32: each point's bin, then its cell; finally sorted */
    RECORDS,  /* u32x4: each point's record */
    READABLE, /* f32x4: each point as the kernels read it */
    BIN_PLAN,
    HEAD,
    ORDER,  /* u32: index in the desc of each point, cell by cell */
    POINTS, /* f32x4: the points in that order */
    WORDS,  /* u32: the head, then where each cell's points begin */
    ROWS,   /* per group, in that order: a row of quads, or the one attribute itself */
    QUADS = ROWS + MAX_GROUPS, /* means of several attributes each, before they are separated */
    ARRAYS = QUADS + MAX_QUADS,
};

struct field_means {
    tml_field_desc field; /* resolved, with a radius; arrays on the host are replaced by copies */
    field_plan plan;
    mean_level levels[FIELD_MAX_LEVELS];
    uint64_t cell_count;
    uint32_t head[FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * FIELD_MAX_LEVELS], head_count;
    mean_group groups[MAX_GROUPS];
    uint32_t group_count;
    tml_buffer values[TML_FIELD_MAX_ATTRIBUTES];
    tml_buffer arrays[ARRAYS];
    tml_buffer owned[ARRAYS + 2 + TML_FIELD_MAX_ATTRIBUTES]; /* buffers to destroy */
    uint32_t owned_count;
};

typedef struct mean_job {
    tml_context *tml;
    const char *call;
    bool enqueues; /* without a wait */
    const tml_field_mean_desc *desc;
    uint64_t point_count;
    tml_length length; /* of the positions */
} mean_job;

static tml_status too_many_points(tml_context *tml, const char *name_of_call, uint64_t count)
{
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "%s: the field has %llu points, needs at most 2^30", name_of_call,
                     (unsigned long long)count);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status check_values(const mean_job *job, int number)
{
    const tml_buffer of_points = job->desc->values[number], means = job->desc->means[number];
    char values[32], out[32];
    snprintf(values, sizeof values, "desc.values[%d]", number);
    snprintf(out, sizeof out, "desc.means[%d]", number);
    tml_status status = tml_check_buffer_anywhere(job->tml, job->call, values, of_points,
                                                  value_types, job->point_count);
    TML_THEN(status,
             tml_check_buffer(job->tml, job->call, out, means, value_types, job->length.count));
    tml_type type, out_type;
    if (status != TML_OK || !tml_buffer_describe(job->tml, of_points, &type, NULL) ||
        !tml_buffer_describe(job->tml, means, &out_type, NULL))
        return status;
    if (type != out_type)
        return tml_error(job->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is %s, needs %s as values",
                         job->call, out, tml_type_name(out_type), tml_type_name(type));
    if (job->enqueues && tml_slot_of(job->tml, of_points)->on_host)
        return tml_error(job->tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s lies on the host (tml_buffer_desc.host); tml_field_mean copies it",
                         job->call, values);
    status = stream_check_apart(job->tml, job->call, out, means, "desc.positions",
                                job->desc->positions, false);
    TML_THEN(status, stream_check_apart(job->tml, job->call, out, means, "desc.weights",
                                        job->desc->weights, false));
    TML_THEN(status, stream_check_apart(job->tml, job->call, out, means, values, of_points, false));
    return status;
}

static bool is_used(const tml_field_mean_desc *desc, int number)
{
    return !tml_buffer_is_none(desc->values[number]) || !tml_buffer_is_none(desc->means[number]);
}

/* Values and means have no rows: each pair has types of its own. */
enum { LENGTH, POSITIONS, WEIGHTS };
static const desc_row rows[] = {
    [LENGTH] = DESC_ROW(tml_field_mean_desc, length, DESC_LENGTHS, .like = DESC_LIKE(POSITIONS)),
    [POSITIONS] = DESC_ROW(tml_field_mean_desc, positions, DESC_IN, .types = stream_f32x3_types,
                           .count = DESC_LENGTH),
    [WEIGHTS] = DESC_ROW(tml_field_mean_desc, weights, DESC_OUT, .is_optional = true,
                         .types = stream_f32_types, .count = DESC_LENGTH)};

static tml_status field_mean_check_desc(mean_job *job)
{
    tml_field_mean_desc d = *job->desc;
    desc_numbers numbers = {0};
    tml_status status = desc_check(job->tml, job->call, &DESC_TABLE(rows), &d, &numbers);
    job->length = d.length;
    for (int c = 0; c < 3 && status == TML_OK; c++)
        if (!isfinite(d.position_origin[c]))
            status = tml_error(job->tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: desc.position_origin[%d] is not finite", call, c);
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++)
        if (is_used(&d, i))
            status = check_values(job, i);
    if (status == TML_OK && job->point_count > most_points)
        status = too_many_points(job->tml, job->call, job->point_count);
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

/* Halves a level's bins until a cell is at most half as wide as the support, or until more cells
 * would exceed the bound. */
static void plan_cells(field_means *means, uint32_t l, double step)
{
    const field_plan *plan = &means->plan;
    const field_level *level = &plan->levels[l];
    mean_level *to = &means->levels[l];
    double narrowest = INFINITY;
    for (int a = 0; a < 3; a++)
        narrowest = fmin(narrowest, level->support[a] + step * plan->extent[a]);
    uint64_t cells = level->bins[0] * level->bins[1] * level->bins[2];
    uint64_t most = TML_MAX_OF(CELLS_A_POINT * means->field.length.count, (uint64_t)MIN_CELLS);
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

static void fill_head(field_means *means, const double origin[3], double step)
{
    const tml_field_desc *field = &means->field;
    uint32_t *words = means->head;
    const field_plan *plan = &means->plan;
    double matrix[9], inverse[9], shift[3];
    for (int a = 0; a < 3; a++) {
        for (int row = 0; row < 3; row++)
            matrix[3 * row + a] = field->grid.direction[3 * row + a] * field->grid.spacing[a];
        shift[a] = origin[a] - field->grid.origin[a];
    }
    field_invert(matrix, inverse); /* has an inverse: checked before */
    const double frame[6] = {plan->frame.xx, plan->frame.xy, plan->frame.xz,
                             plan->frame.yy, plan->frame.yz, plan->frame.zz};
    put_floats(words + FIELD_MEAN_INVERSE, inverse, 9);
    put_floats(words + FIELD_MEAN_SHIFT, shift, 3);
    put_floats(words + FIELD_MEAN_FRAME, frame, 6);
    put_floats(words + FIELD_MEAN_STEP, &step, 1);
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

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Destroys all owned buffers from index first on. */
static void destroy_buffers(tml_context *tml, field_means *means, uint32_t first)
{
    while (means->owned_count > first)
        tml_buffer_destroy(tml, means->owned[--means->owned_count]);
}

/* Replaces a buffer on the host by a copy on the device. */
static tml_status copy_to_device(tml_context *tml, field_means *means, tml_buffer *buffer)
{
    const tml_slot *slot = tml_slot_of(tml, *buffer);
    if (!slot || !slot->on_host)
        return TML_OK;
    tml_status status = tml_copy_to_device(tml, *buffer, "field mean", buffer);
    if (!status)
        means->owned[means->owned_count++] = *buffer;
    return status;
}

static void make_array(program *p, field_means *means, uint32_t number, bool is_kept, tml_type type,
                       uint64_t count)
{
    tml_buffer *array = &means->arrays[number];
    if (!is_kept)
        *array = program_array(p, type, TML_MAX_OF(count, (uint64_t)1));
    else if (!p->status)
        p->status = tml_buffer_create(
            p->tml, &(tml_buffer_desc){.type = type, .count = count, .label = "field mean"}, array);
    if (is_kept && !p->status)
        means->owned[means->owned_count++] = *array;
}

static uint32_t width_of(const tml_context *tml, tml_buffer values)
{
    return (uint32_t)(tml_slot_of(tml, values)->element_size / sizeof(float));
}

/* Makes all arrays but the quads. is_kept: the arrays that a later call reads are buffers. */
static void make_arrays(program *p, field_means *means, bool is_kept)
{
    const uint64_t points = means->field.length.count;
    for (uint32_t g = 0; g < means->group_count; g++) {
        const mean_group *group = &means->groups[g];
        if (group->count == 1)
            make_array(p, means, ROWS + g, is_kept, value_types[group->width[0] - 1], points);
        else
            make_array(p, means, ROWS + g, is_kept, TML_U32, 4 * group->quads * points);
    }
    make_array(p, means, POINTS, is_kept, value_types[3], points);
    make_array(p, means, WORDS, is_kept, TML_U32, means->head_count + means->cell_count + 1);
    make_array(p, means, BINS, false, TML_U32, points);
    make_array(p, means, RECORDS, false, TML_VEC(TML_U32, 4), points);
    make_array(p, means, READABLE, false, value_types[3], points);
    make_array(p, means, BIN_PLAN, false, TML_U32, FIELD_PLAN_WORDS);
    make_array(p, means, HEAD, false, TML_U32, means->head_count);
    make_array(p, means, ORDER, false, TML_U32, points);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Copies a group's values into the order of cells. */
static void add_rows(program *p, const field_means *means, uint32_t g)
{
    const mean_group *group = &means->groups[g];
    const tml_buffer to = means->arrays[ROWS + g];
    const tml_length length = means->field.length;
    if (group->count == 1) {
        program_gather(p, &(tml_gather_desc){.indices = means->arrays[ORDER],
                                             .length = length,
                                             .payloads = {{means->values[group->number[0]], to}}});
        return;
    }
    const uint32_t width = 4 * group->quads;
    for (uint32_t i = 0; i < group->count; i++) {
        const tml_buffer values = means->values[group->number[i]];
        program_map(p,
                    &(tml_map_desc){.kernel = TML_USE(field_mean_rows),
                                    .params.u = {width, 4 * group->quad[i] + group->first[i],
                                                 width_of(p->tml, values),
                                                 means->head_count + (uint32_t)means->cell_count},
                                    .in = {to, means->arrays[ORDER], values, means->arrays[WORDS]},
                                    .out = {to},
                                    .length = tml_length_of(length.count * width)});
    }
}

/* Adds the steps that order points and values by cell. */
static void add_points(program *p, field_means *means)
{
    const tml_field_desc *field = &means->field;
    const tml_buffer *a = means->arrays;
    field_put_plan(p, &means->plan, a[BIN_PLAN]);
    program_put(p, a[HEAD], means->head, means->head_count * sizeof *means->head);
    field_find_bins(p, field, a[BIN_PLAN], a[BINS], a[RECORDS]);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(field_mean_cells),
                                   .in = {a[BINS], a[RECORDS], a[HEAD]},
                                   .out = {a[BINS], a[READABLE]},
                                   .length = field->length});
    field_sort_bins(p, field, a[BINS], means->cell_count,
                    &(tml_sort_desc){.payloads = {{a[READABLE], a[POINTS]}}, .indices = a[ORDER]});
    field_find_firsts(p, field, a[BINS], a[HEAD], means->head_count, means->cell_count, a[WORDS]);
    for (uint32_t g = 0; g < means->group_count; g++)
        add_rows(p, means, g);
}

/* ---- the means ------------------------------------------------------------------------------- */

/* Puts an attribute into the group's first quad with room. Returns false if the group is full. */
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

/* The output that holds a quad alone, so that the kernel writes it directly: an attribute of four
 * floats, or the only one of the group. NULL: the quad is separated afterwards. */
static const tml_buffer *own_out(const mean_group *group, uint32_t quad, const tml_buffer *outs)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->quad[i] == quad && (group->width[i] == 4 || group->count == 1))
            return &outs[group->number[i]];
    return NULL;
}

static void add_parts(program *p, const mean_group *group, const tml_buffer *quads,
                      tml_length length, const tml_buffer *outs)
{
    static const tml_kernel *const parts[] = {TML_USE(field_part_1), TML_USE(field_part_2),
                                              TML_USE(field_part_3)};
    for (uint32_t i = 0; i < group->count; i++)
        if (!own_out(group, group->quad[i], outs))
            program_map(p, &(tml_map_desc){.kernel = parts[group->width[i] - 1],
                                           .params.u = {group->first[i]},
                                           .in = {quads[group->quad[i]]},
                                           .length = length,
                                           .out = {outs[group->number[i]]}});
}

/* Adds the means of a group. Groups use the same quads one after another. */
static void add_means(program *p, const field_means *means, uint32_t g, tml_buffer positions,
                      tml_length length, const tml_buffer *outs)
{
    static const tml_kernel *const ones[] = {TML_USE(field_mean_1), TML_USE(field_mean_2),
                                             TML_USE(field_mean_3), TML_USE(field_mean_4)};
    static const tml_kernel *const several[] = {TML_USE(field_mean_4), TML_USE(field_mean_8),
                                                TML_USE(field_mean_12), TML_USE(field_mean_16)};
    const mean_group *group = &means->groups[g];
    const tml_buffer *a = means->arrays;
    tml_buffer quads[MAX_QUADS] = {{0}};
    for (uint32_t q = 0; q < group->quads; q++) {
        const tml_buffer *own = own_out(group, q, outs);
        quads[q] = own ? *own : a[QUADS + q];
    }
    program_map(p, &(tml_map_desc){.kernel = group->count == 1 ? ones[group->width[0] - 1]
                                                               : several[group->quads - 1],
                                   .in = {positions, a[WORDS], a[POINTS], a[ROWS + g]},
                                   .length = length,
                                   .out = {quads[0], quads[1], quads[2], quads[3]}});
    add_parts(p, group, quads, length, outs);
}

/* Makes the quads that are needed, and adds the means of all groups. */
static void add_all_means(program *p, field_means *means, bool is_kept, tml_buffer positions,
                          tml_length length, const tml_buffer *outs)
{
    bool is_made[MAX_QUADS] = {false};
    for (uint32_t g = 0; g < means->group_count; g++)
        for (uint32_t q = 0; q < means->groups[g].quads; q++)
            if (!own_out(&means->groups[g], q, outs) && !is_made[q]) {
                is_made[q] = true;
                make_array(p, means, QUADS + q, is_kept, value_types[3], length.count);
            }
    for (uint32_t g = 0; g < means->group_count; g++)
        add_means(p, means, g, positions, length, outs);
}

/* ---- means for other programs ---------------------------------------------------------------- */

tml_status field_means_check(tml_context *tml, const tml_field_desc *resolved,
                             const char *name_of_call, const char *name, tml_buffer values)
{
    const uint64_t count = resolved->length.count;
    tml_status status =
        tml_check_buffer_anywhere(tml, name_of_call, name, values, value_types, count);
    if (status == TML_OK && count > most_points)
        status = too_many_points(tml, name_of_call, count);
    return status;
}

/* Sets everything that does not depend on the points, copies arrays on the host to the device, and
 * forms the groups. Waits for the radii if the desc has no radius. */
static tml_status field_mean_begin(tml_context *tml, const tml_field_desc *resolved,
                                   const double origin[3], const tml_buffer *values, uint32_t count,
                                   bool exact_reach, field_means *means)
{
    *means = (field_means){.field = *resolved};
    field_learn(tml);
    tml_status status = field_find_radius(tml, &means->field);
    if (!status)
        status = copy_to_device(tml, means, &means->field.points);
    if (!status)
        status = copy_to_device(tml, means, &means->field.radii);
    for (uint32_t i = 0; i < count && !status; i++) {
        const uint32_t width = width_of(tml, values[i]);
        means->values[i] = values[i];
        status = copy_to_device(tml, means, &means->values[i]);
        if (means->group_count == 0 ||
            !join_group(&means->groups[means->group_count - 1], i, width))
            join_group(&means->groups[means->group_count++], i, width);
    }
    const double step = exact_reach ? 0 : step_of(&means->field.grid);
    field_plan_begin(&means->field, &means->plan);
    field_plan_known(&means->field, &means->plan);
    for (uint32_t l = 0; l < means->plan.level_count; l++)
        plan_cells(means, l, step);
    means->head_count = FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * means->plan.level_count;
    fill_head(means, origin, step);
    return status;
}

static tml_status no_memory(tml_context *tml, size_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call, size);
}

tml_status field_means_create(tml_context *tml, const tml_field_desc *resolved,
                              const double origin[3], const tml_buffer *values, uint32_t count,
                              field_means **out)
{
    field_means *means = *out = tml_alloc(tml, sizeof **out);
    if (!means)
        return no_memory(tml, sizeof *means);
    tml_status status = field_mean_begin(tml, resolved, origin, values, count, false, means);
    if (status)
        return status;
    program p = program_begin(tml, call);
    make_arrays(&p, means, true);
    add_points(&p, means);
    return program_enqueue(p, (tml_buffer){0, 0});
}

tml_status field_means_at(tml_context *tml, field_means *means, tml_buffer positions,
                          const tml_buffer *outs)
{
    const uint32_t owned = means->owned_count;
    const tml_length length = {.count = stream_count_of(tml, positions), .exact = true};
    program p = program_begin(tml, call);
    if (length.count > 0)
        add_all_means(&p, means, true, positions, length, outs);
    tml_status status = program_enqueue(p, (tml_buffer){0, 0});
    destroy_buffers(tml, means, owned);
    return status;
}

void field_means_destroy(tml_context *tml, field_means *means)
{
    if (!means)
        return;
    destroy_buffers(tml, means, 0);
    tml_free(tml, means, sizeof *means);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status field_mean_run(tml_context *tml, const tml_field_mean_desc *desc,
                                 tml_length length, const tml_field_desc *resolved)
{
    tml_buffer values[TML_FIELD_MAX_ATTRIBUTES], outs[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        if (is_used(desc, i)) {
            values[count] = desc->values[i];
            outs[count++] = desc->means[i];
        }
    field_means means;
    tml_status status = field_mean_begin(tml, resolved, desc->position_origin, values, count,
                                         FIELD_HAS_WEIGHTS && desc->exact_reach, &means);
    program p = program_begin(tml, call);
    if (status)
        p.status = status;
    make_arrays(&p, &means, false);
    add_points(&p, &means);
    add_all_means(&p, &means, false, desc->positions, length, outs);
    if (FIELD_HAS_WEIGHTS && !tml_buffer_is_none(desc->weights))
        program_map(
            &p, &(tml_map_desc){.kernel = field_weights_kernel,
                                .in = {desc->positions, means.arrays[WORDS], means.arrays[POINTS]},
                                .length = length,
                                .out = {desc->weights}});
    status = program_enqueue(p, (tml_buffer){0, 0});
    destroy_buffers(tml, &means, 0);
    return status;
}

tml_status field_map_near(tml_context *tml, const char *name_of_call,
                          const tml_field_desc *resolved, tml_map_desc *map)
{
    static const double no_origin[3] = {0, 0, 0};
    field_means means;
    tml_status status = field_mean_begin(tml, resolved, no_origin, NULL, 0, true, &means);
    program p = program_begin(tml, name_of_call);
    if (status)
        p.status = status;
    make_arrays(&p, &means, false);
    add_points(&p, &means);
    map->in[1] = means.arrays[WORDS];
    map->in[2] = means.arrays[POINTS];
    program_map(&p, map);
    status = program_enqueue(p, (tml_buffer){0, 0});
    destroy_buffers(tml, &means, 0);
    return status;
}

/* Makes a grid only for its bins: the sums at the points do not depend on it. A bin of 8 samples
 * is slightly wider than four radii, so few bins are empty. Bins lie on a lattice through the
 * world's origin. So the sums of points at rest are rounded alike in all frames of a sequence,
 * wherever other points move. */
static void widen_bins(tml_field_desc *field)
{
    tml_grid *grid = &field->grid;
    double inverse[9], shifted[3];
    field_invert(grid->direction, inverse); /* has an inverse: checked before */
    for (int a = 0; a < 3; a++) {
        const double *row = inverse + 3 * a;
        const double spacing = field->radius / 1.98, step = spacing / grid->spacing[a];
        double bins =
            row[0] * grid->origin[0] + row[1] * grid->origin[1] + row[2] * grid->origin[2];
        bins /= FIELD_BRICK * spacing;
        shifted[a] = floor(bins) * FIELD_BRICK * spacing;
        grid->dims[a] =
            (uint64_t)((double)(grid->dims[a] - 1) / step + FIELD_BRICK * (bins - floor(bins))) + 2;
        grid->spacing[a] = spacing;
    }
    for (int row = 0; row < 3; row++) {
        const double *d = grid->direction + 3 * row;
        grid->origin[row] = d[0] * shifted[0] + d[1] * shifted[1] + d[2] * shifted[2];
    }
}

/* If a call asks only for the weights of the field's points at themselves, lets the engine find
 * them bin by bin, several points at a time. is_done: set if it did. */
static tml_status run_at_points(tml_context *tml, const tml_field_mean_desc *desc,
                                tml_length length, const tml_field_desc *resolved, bool *is_done)
{
    const tml_slot *points = tml_slot_of(tml, resolved->points);
    const tml_slot *positions = tml_slot_of(tml, desc->positions);
    field_weights_fn *weights = field_parts_of[tml->engine->part].weights;
    bool is_asked = weights && desc->exact_reach && !tml_buffer_is_none(desc->weights) &&
                    points->memory == positions->memory && length.count == positions->count &&
                    tml_buffer_is_none(length.device) && points->count == positions->count &&
                    points->count == resolved->length.count &&
                    tml_buffer_is_none(resolved->length.device);
    for (int c = 0; c < 3; c++)
        is_asked = is_asked && desc->position_origin[c] == 0;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        is_asked = is_asked && !is_used(desc, i);
    if (!is_asked)
        return TML_OK;
    tml_field_desc wide = *resolved;
    widen_bins(&wide);
    field_plan *plan;
    tml_status status = field_plan_create_ordered(tml, &wide, &plan);
    if (status != TML_OK)
        return status;
    const field_level *level = &plan->levels[0];
    double edge = (double)((uint64_t)1 << level->edge_log2);
    *is_done = plan->level_count == 1 && plan->point_count == resolved->length.count;
    for (int a = 0; a < 3; a++) /* wider bins hold too many points that are not near */
        *is_done = *is_done && edge <= 32 * level->support[a];
    if (*is_done)
        status = weights(tml, plan, desc->weights);
    field_plan_destroy(tml, plan);
    return status;
}

static tml_status check_call(mean_job *job, tml_field_desc *resolved)
{
    const tml_field_desc *field = job->desc->field;
    tml_status status = TML_OK;
    if (job->tml->engine->tier)
        return tml_refuse(job->tml, job->call, "no fields");
    if (!field)
        return tml_error(job->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.field is NULL, needs the desc of the points' field", job->call);
    if (job->enqueues) {
        status = field_resolve_enqueued(job->tml, job->call, "desc.field", field, resolved);
    } else {
        status = tml_refuse_recording(job->tml, job->call, "record tml_field_mean_enqueue");
        TML_THEN(status, field_resolve_desc(job->tml, field, resolved, NULL));
    }
    job->point_count = status == TML_OK ? resolved->length.count : 0;
    return status ? status : field_mean_check_desc(job);
}

static tml_status find_means(mean_job job)
{
    tml_field_desc field;
    bool is_done = false;
    tml_status status = check_call(&job, &field);
    if (status == TML_OK && FIELD_HAS_WEIGHTS && !job.tml->is_preparing && job.length.count > 0)
        status = run_at_points(job.tml, job.desc, job.length, &field, &is_done);
    if (status == TML_OK && !is_done && job.length.count > 0)
        status = field_mean_run(job.tml, job.desc, job.length, &field);
    return status;
}

tml_status tml_field_mean(tml_context *tml, const tml_field_mean_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    const mean_job job = {.tml = tml, .call = call, .desc = desc};
    return status ? status : tml_leave(tml, find_means(job));
}

tml_status tml_field_mean_enqueue(tml_context *tml, const tml_field_mean_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    const mean_job job = {
        .tml = tml, .call = "tml_field_mean_enqueue", .enqueues = true, .desc = desc};
    return status ? status : tml_leave(tml, find_means(job));
}
