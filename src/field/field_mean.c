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
    return field_mean(at, plan, points, values, 1u).x;
})
TML_KERNEL_WITH(field, vec2, field_mean_2,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    vec4 v = field_mean(at, plan, points, values, 2u);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(field, vec3, field_mean_3,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    vec4 v = field_mean(at, plan, points, values, 3u);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(field, vec4, field_mean_4,
                (vec3 at, tml_words plan, tml_words points, tml_words values), {
    return field_mean(at, plan, points, values, 4u);
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

struct field_means {
    const field_plan *plan;
    uint64_t point_count;     /* of the desc */
    tml_buffer words, points; /* the plan's, as the kernels read them */
    tml_buffer sorted[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count;
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
    tml_buffer_describe(job->tml, desc->field->points, NULL, &job->point_count);
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

static void fill_head(const field_plan *plan, const tml_field_desc *field, const double origin[3],
                      uint32_t *words)
{
    double matrix[9], inverse[9], shift[3], step = 0.0;
    for (int a = 0; a < 3; a++) {
        double squared = 0.0;
        for (int row = 0; row < 3; row++) {
            matrix[3 * row + a] = field->grid.direction[3 * row + a] * field->grid.spacing[a];
            squared += matrix[3 * row + a] * matrix[3 * row + a];
        }
        step = fmax(step, sqrt(squared));
        shift[a] = origin[a] - field->grid.origin[a];
    }
    field_invert(matrix, inverse); /* checked before */
    const double frame[6] = {plan->frame.xx, plan->frame.xy, plan->frame.xz,
                             plan->frame.yy, plan->frame.yz, plan->frame.zz};
    put_floats(words + FIELD_MEAN_INVERSE, inverse, 9);
    put_floats(words + FIELD_MEAN_SHIFT, shift, 3);
    put_floats(words + FIELD_MEAN_FRAME, frame, 6);
    put_floats(words + FIELD_MEAN_EXTENT, plan->extent, 3);
    put_floats(words + FIELD_MEAN_STEP, &step, 1);
    words[FIELD_MEAN_FORMULA] =
        plan->formula == FIELD_DISTANCE ? FIELD_WENDLAND_C2 : (uint32_t)plan->formula;
    words[FIELD_MEAN_LEVELS] = plan->level_count;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const field_level *level = &plan->levels[l];
        uint32_t *to = words + FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * l;
        to[0] = (uint32_t)level->first_bin;
        to[1] = level->edge_log2;
        for (int a = 0; a < 3; a++)
            to[2 + a] = (uint32_t)level->bins[a];
        put_floats(to + 5, level->support, 3);
    }
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

static tml_status upload_plan(tml_context *tml, const tml_field_desc *field, const double origin[3],
                              field_means *means)
{
    const field_plan *plan = means->plan;
    uint64_t head = FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * (uint64_t)plan->level_count;
    uint64_t count = head + plan->bin_count + 1;
    uint32_t *words = tml_alloc_array(tml, count, sizeof *words);
    if (!words)
        return no_memory(tml, count * sizeof *words);
    fill_head(plan, field, origin, words);
    for (uint64_t b = 0; b <= plan->bin_count; b++)
        words[head + b] = (uint32_t)plan->starts[b];
    tml_status status = make_buffer(tml, TML_U32, count, words, "field mean's plan", &means->words);
    tml_free(tml, words, count * sizeof *words);
    if (status == TML_OK && tml->engine->is_host)
        status = make_buffer(tml, TML_RECORD(sizeof *plan->points), plan->point_count, plan->points,
                             "field mean's points", &means->points);
    else if (status == TML_OK)
        means->points = plan->device.points;
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
    tml_buffer_describe(tml, resolved->points, NULL, &(*out)->point_count);
    return upload_plan(tml, resolved, origin, *out);
}

void field_means_destroy(tml_context *tml, field_means *means)
{
    if (!means)
        return;
    for (uint32_t i = 0; i < means->count; i++)
        tml_buffer_destroy(tml, means->sorted[i]);
    tml_buffer_destroy(tml, means->words);
    if (tml->engine->is_host)
        tml_buffer_destroy(tml, means->points);
    tml_free(tml, means, sizeof *means);
}

/* ---- the means ------------------------------------------------------------------------------- */

/* An attribute's values in the order of the plan's points. */
static tml_status sort_values(tml_context *tml, const field_plan *plan, tml_buffer values,
                              tml_buffer *out)
{
    tml_type type = TML_F32;
    void *from;
    tml_buffer_describe(tml, values, &type, NULL);
    tml_status status = tml_buffer_map(tml, values, &from);
    if (status != TML_OK)
        return status;
    uint64_t count = plan->point_count;
    size_t width = tml_type_size(type) / sizeof(float);
    float *sorted = tml_alloc_array(tml, count, width * sizeof *sorted);
    for (uint64_t i = 0; i < count && sorted; i++)
        memcpy(sorted + width * i, (const float *)from + width * plan->order[i],
               width * sizeof *sorted);
    tml_buffer_unmap(tml, values);
    if (!sorted && count)
        return no_memory(tml, count * width * sizeof *sorted);
    status = make_buffer(tml, type, count, sorted, "field mean's values", out);
    tml_free(tml, sorted, count * width * sizeof *sorted);
    return status;
}

static tml_status map_values(tml_context *tml, const field_means *means, tml_buffer sorted,
                             tml_buffer positions, tml_buffer out)
{
    static const tml_kernel *const kernels[] = {TML_USE(field_mean_1), TML_USE(field_mean_2),
                                                TML_USE(field_mean_3), TML_USE(field_mean_4)};
    tml_type type = TML_F32;
    uint64_t count = 0;
    tml_buffer_describe(tml, sorted, &type, NULL);
    tml_buffer_describe(tml, positions, NULL, &count);
    return tml_map(tml, &(tml_map_desc){.kernel = kernels[tml_type_size(type) / sizeof(float) - 1],
                                        .in = {positions, means->words, means->points, sorted},
                                        .length = {.count = count},
                                        .out = out});
}

tml_status field_means_add(tml_context *tml, field_means *means, const char *name_of_call,
                           const char *name, tml_buffer values)
{
    tml_status status =
        tml_check_buffer_anywhere(tml, name_of_call, name, values, value_types, means->point_count);
    if (status == TML_OK && means->point_count > most_points)
        status = too_many_points(tml, name_of_call, means->point_count);
    if (status != TML_OK)
        return status;
    return sort_values(tml, means->plan, values, &means->sorted[means->count++]);
}

tml_status field_means_at(tml_context *tml, const field_means *means, uint32_t number,
                          tml_buffer positions, tml_buffer out)
{
    return map_values(tml, means, means->sorted[number], positions, out);
}

static tml_status run_attribute(const mean_job *job, const field_means *means,
                                const tml_field_attribute *a)
{
    tml_buffer sorted = {0};
    tml_status status = sort_values(job->tml, means->plan, a->values, &sorted);
    if (status == TML_OK)
        status = map_values(job->tml, means, sorted, job->desc->positions, a->out);
    tml_buffer_destroy(job->tml, sorted);
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
    if (status == TML_OK)
        status = check_desc(job);
    if (status != TML_OK || job->position_count == 0)
        return status;
    status = field_plan_create_ordered(tml, &field, &plan);
    if (status == TML_OK)
        status = field_means_create(tml, &field, plan, desc->position_origin, &means);
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++)
        if (is_used(&desc->attributes[i]))
            status = run_attribute(job, means, &desc->attributes[i]);
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
