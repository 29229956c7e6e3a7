/* Field: points into bins on the device, as streams. A map finds each point's bin and its record, a stable sort by bin
 * keeps source order within bins, and a search of the sorted bins finds where each begins. So the plan is the host's bit for
 * bit (field_plan.c), and nothing is read back. */
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "field/field_internal.h"
#include "stream/stream_internal.h"

#include "kernels/real64_host.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/real64_bins.k.h"

#include "field_bins_library.h"

/* clang-format off */
TML_KERNEL_OUTS_WITH(field_bins, (uint bin, uvec4 record), field_bin_point,
                     (tml_index i, tml_words points, tml_words plan, tml_words radii), {
    field_bin_point_out o;
    o.bin = tml_word(plan, FIELD_BINS_NONE);
    o.record = UVEC4(0u, 0u, 0u, 0u);
    real64 reach = field_reach(plan, radii, i);
    if (real64_is_other_than_zero(reach) != 0u) {
        field_binned binned = field_bin_of(plan, points, i, reach);
        o.bin = binned.bin;
        o.record = binned.record;
    }
    return o;
})

/* Words of head, and then of each bin the first of the sorted points that is in it or in one after it. p.u: their most; 1, or
 * 2 for u64, where their number is on the device, and its word there; how many words head has. */
TML_KERNEL(uint, field_bin_first,
           (tml_index i, tml_words bins, tml_words length, tml_words head, tml_params p), {
    if (U(i) < p.u[3])
        return tml_word(head, U(i));
    uint bin = U(i) - p.u[3];
    uint end = p.u[0];
    uint low = p.u[2] + (p.u[1] == 2u ? TML_LOW_WORD : 0u);
    if (p.u[1] == 1u || (p.u[1] == 2u && tml_word(length, low ^ 1u) == 0u))
        end = min(end, tml_word(length, low));
    uint first = 0u;
    while (first < end) {
        uint middle = first + (end - first) / 2u;
        if (tml_word(bins, middle) < bin)
            first = middle + 1u;
        else
            end = middle;
    }
    return first;
})
/* clang-format on */
#include "kernels/kernel_end.h"

#ifdef TML_VULKAN
extern const tml_vulkan_kernel field_own_kernels[]; /* made by the build */
#endif

/* The kernels count the words of the points in 32 bits, and the field's shaders the samples of a side. */
static const uint64_t most_points = (uint64_t)1 << 30, most_samples = (uint64_t)1 << 28;

enum {
    STEPS = 5
}; /* the plan's words, a point's bin, the sort, the bins' first points, and what the call goes on with */

/* The steps' descs. */
typedef struct binning {
    stream_put_desc put;
    tml_map_desc bins;
    tml_sort_resolved sort;
    tml_map_desc firsts;
    stream_step steps[STEPS];
} binning;

bool field_bins_on_device(const tml_context *tml, const tml_field_desc *desc)
{
    const tml_slot *points = tml_slot_of(tml, desc->points), *radii = tml_slot_of(tml, desc->radii),
                   *densities = tml_slot_of(tml, desc->densities);
    bool is_small = points && points->count <= most_points;
    for (int a = 0; a < 3; a++)
        is_small = is_small && desc->grid.dims[a] > 0 && desc->grid.dims[a] <= most_samples;
    return !tml->engine->is_host && field_parts_of[tml->engine->part].field && is_small &&
           !points->on_host && tml_buffer_is_none(desc->shapes[0]) && desc->radius > 0.0 &&
           !(radii && radii->on_host) && !(densities && densities->on_host);
}

/* Temporaries for what stays within the call. The plan's own arrays are among them, unless it has buffers. */
static void take_temporaries(tml_context *tml, field_plan *plan, uint64_t room, bool has_densities,
                             tml_buffer *bins, tml_buffer *records)
{
    enum { BINS, RECORDS, POINTS, STARTS, WORDS, BRICKS, DENSITIES };
    const tml_type record = TML_VEC(TML_U32, 4);
    *bins = stream_temporary(tml, BINS, TML_U32, room);
    *records = stream_temporary(tml, RECORDS, record, room);
    if (!tml_buffer_is_none(plan->device.points))
        return;
    plan->device.points = stream_temporary(tml, POINTS, record, room);
    plan->device.starts = stream_temporary(tml, STARTS, TML_U32, plan->bin_count + 1);
    plan->device.words = stream_temporary(tml, WORDS, TML_U32, FIELD_PLAN_WORDS);
    plan->device.bricks = stream_temporary(tml, BRICKS, TML_U32, 1 + plan->device.brick_room);
    if (has_densities)
        plan->device.densities = stream_temporary(tml, DENSITIES, TML_F32, room);
}

/* The number of bits that hold n. */
static uint32_t bits_of(uint64_t n)
{
    uint32_t bits = 1;
    while (n >> bits)
        bits++;
    return bits;
}

void field_learn(tml_context *tml)
{
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, field_own_kernels);
#else
    (void)tml;
#endif
}

stream_put_desc field_put_plan(const field_plan *plan, tml_buffer words)
{
    const uint32_t used = FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * plan->level_count;
    return (stream_put_desc){words, plan->words, used * sizeof *plan->words};
}

tml_map_desc field_map_bins(const tml_field_desc *resolved, tml_buffer words, tml_buffer bins,
                            tml_buffer records)
{
    const bool has_radii = !tml_buffer_is_none(resolved->radii);
    return (tml_map_desc){
        .kernel = TML_USE(field_bin_point),
        .in = {resolved->points, words, has_radii ? resolved->radii : resolved->points},
        .out = bins,
        .also = {records},
        .length = resolved->length};
}

tml_status field_sort_bins(tml_context *tml, const char *call, const tml_field_desc *resolved,
                           tml_buffer bins, uint64_t bin_count, tml_sort_resolved *sort)
{
    sort->desc.keys = sort->desc.sorted = bins;
    sort->desc.length = resolved->length;
    sort->desc.bit_count = bits_of(bin_count);
    return stream_complete_sort(tml, call, sort);
}

tml_map_desc field_map_firsts(tml_context *tml, const tml_field_desc *resolved, tml_buffer sorted,
                              tml_buffer head, uint32_t head_count, uint64_t bin_count,
                              tml_buffer out)
{
    const tml_length length = resolved->length;
    const tml_slot *counter = tml_slot_of(tml, length.device);
    const uint32_t words = counter ? (uint32_t)(counter->element_size / sizeof(uint32_t)) : 0;
    return (tml_map_desc){.kernel = TML_USE(field_bin_first),
                          .params.u = {(uint32_t)length.count, words,
                                       words * (uint32_t)length.device_index, head_count},
                          .in = {sorted, counter ? length.device : sorted, head},
                          .out = out,
                          .length = {.count = head_count + bin_count + 1, .exact = true}};
}

/* Makes all steps but the last. On failure the temporaries are ended. */
static tml_status make_steps(tml_context *tml, const char *call, const tml_field_desc *resolved,
                             field_plan *plan, binning *b)
{
    tml_buffer bins, records;
    field_learn(tml);
    const bool has_densities = FIELD_HAS_WEIGHTS && !tml_buffer_is_none(resolved->densities);
    take_temporaries(tml, plan, TML_MAX_OF(resolved->length.count, (uint64_t)1), has_densities,
                     &bins, &records);
    b->put = field_put_plan(plan, plan->device.words);
    b->bins = field_map_bins(resolved, plan->device.words, bins, records);
    b->sort.desc = (tml_sort_desc){.payloads = {{records, plan->device.points}}};
    if (has_densities)
        b->sort.desc.payloads[1] = (tml_payload){resolved->densities, plan->device.densities};
    tml_status status = field_sort_bins(tml, call, resolved, bins, plan->bin_count, &b->sort);
    b->firsts =
        field_map_firsts(tml, resolved, bins, bins, 0, plan->bin_count, plan->device.starts);
    const stream_step steps[STEPS] = {{.desc = &b->put, .program = &stream_put},
                                      {.op = &stream_map, .desc = &b->bins},
                                      {.op = &stream_sort, .desc = &b->sort},
                                      {.op = &stream_map, .desc = &b->firsts}};
    memcpy(b->steps, steps, sizeof steps);
    plan->point_count = resolved->length.count;
    if (status != TML_OK)
        stream_temporaries_end(tml);
    return status;
}

/* A call on its way: its plan and its steps. */
typedef struct device_call {
    field_plan plan;
    binning binning;
} device_call;

static tml_status begin(tml_context *tml, const char *call, const tml_field_desc *resolved,
                        field_plan **plan, const tml_engine_op *program, const void *desc,
                        device_call *c)
{
    field_plan_begin(resolved, &c->plan);
    field_plan_known(resolved, &c->plan);
    if (plan)
        *plan = &c->plan;
    tml_status status = make_steps(tml, call, resolved, &c->plan, &c->binning);
    c->binning.steps[STEPS - 1] = (stream_step){.desc = desc ? desc : &c->plan, .program = program};
    return status;
}

tml_status field_run_after(tml_context *tml, const char *call, const tml_field_desc *resolved,
                           tml_buffer out, field_plan **plan, const tml_engine_op *program,
                           const void *desc)
{
    device_call c;
    tml_status status = begin(tml, call, resolved, plan, program, desc, &c);
    c.plan.out = out;
    if (status == TML_OK)
        status = stream_run_steps(tml, call, c.binning.steps, STEPS, (tml_buffer){0, 0});
    return status;
}

size_t field_scratch_size_before(tml_context *tml, const char *call, const tml_field_desc *resolved,
                                 field_plan **plan, const tml_engine_op *program, const void *desc)
{
    device_call c;
    tml_status status = begin(tml, call, resolved, plan, program, desc, &c);
    return status == TML_OK ? stream_steps_scratch_size(tml, c.binning.steps, STEPS) : 0;
}

static tml_status make_buffer(tml_context *tml, tml_type type, uint64_t count, const char *label,
                              tml_buffer *out)
{
    return tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .label = label},
                             out);
}

tml_status field_plan_bin(tml_context *tml, const tml_field_desc *resolved, field_plan *plan)
{
    binning b;
    uint64_t room = TML_MAX_OF(resolved->length.count, (uint64_t)1);
    field_plan_known(resolved, plan);
    tml_status status =
        make_buffer(tml, TML_VEC(TML_U32, 4), room, "field points", &plan->device.points);
    if (status == TML_OK && !tml_buffer_is_none(resolved->densities))
        status = make_buffer(tml, TML_F32, room, "field densities", &plan->device.densities);
    if (status == TML_OK)
        status = make_buffer(tml, TML_U32, plan->bin_count + 1, "field bins", &plan->device.starts);
    if (status == TML_OK)
        status = make_buffer(tml, TML_U32, FIELD_PLAN_WORDS, "field plan", &plan->device.words);
    if (status == TML_OK)
        status = make_buffer(tml, TML_U32, 1 + plan->device.brick_room, "field bricks",
                             &plan->device.bricks);
    if (status == TML_OK)
        status = make_steps(tml, "tml_field", resolved, plan, &b);
    if (status == TML_OK)
        status = stream_run_steps(tml, "tml_field", b.steps, STEPS - 1, (tml_buffer){0, 0});
    return status;
}
