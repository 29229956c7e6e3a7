/* Bins points on the device, as stream operations. A map finds each point's bin and record. A
 * stable sort by bin keeps the source order within a bin. A binary search over the sorted bins
 * finds where each one begins. The plan is the same bit for bit as the host's (field_plan.c), and
 * nothing is read back. */
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "field/field_internal.h"

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

/* Copies the words of head. Then finds, for each bin, the first sorted point in that bin or a later
 * one.
 * p.u[0]  bound of the number of points
 * p.u[1]  words of the number on the device: 1, 2 (u64), or 0 if there is none
 * p.u[2]  index of its first word
 * p.u[3]  words of head */
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

/* The kernels count the points' words in 32 bits. The field's shaders add supports to positions in
 * 32 bits. */
static const uint64_t most_points = (uint64_t)1 << 30, most_samples = (uint64_t)1 << 28;

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

/* The number of bits of n, at least 1. */
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

void field_put_plan(program *p, const field_plan *plan, tml_buffer words)
{
    const uint32_t used = FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * plan->level_count;
    program_put(p, words, plan->words, used * sizeof *plan->words);
}

void field_find_bins(program *p, const tml_field_desc *resolved, tml_buffer words, tml_buffer bins,
                     tml_buffer records)
{
    const bool has_radii = !tml_buffer_is_none(resolved->radii);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(field_bin_point),
                                   .in = {resolved->points, words,
                                          has_radii ? resolved->radii : resolved->points},
                                   .out = {bins, records},
                                   .length = resolved->length});
}

void field_sort_bins(program *p, const tml_field_desc *resolved, tml_buffer bins,
                     uint64_t bin_count, const tml_sort_desc *payloads)
{
    tml_sort_desc sort = *payloads;
    sort.keys = sort.sorted = bins;
    sort.length = resolved->length;
    sort.bit_count = bits_of(bin_count);
    program_sort(p, &sort);
}

void field_find_firsts(program *p, const tml_field_desc *resolved, tml_buffer sorted,
                       tml_buffer head, uint32_t head_count, uint64_t bin_count, tml_buffer out)
{
    const tml_length length = resolved->length;
    const tml_slot *counter = tml_slot_of(p->tml, length.device);
    const uint32_t words = counter ? (uint32_t)(counter->element_size / sizeof(uint32_t)) : 0;
    program_map(p, &(tml_map_desc){.kernel = TML_USE(field_bin_first),
                                   .params.u = {(uint32_t)length.count, words,
                                                words * (uint32_t)length.device_index, head_count},
                                   .in = {sorted, counter ? length.device : sorted, head},
                                   .out = {out},
                                   .length = tml_length_of(head_count + bin_count + 1)});
}

static uint64_t room_of(const tml_field_desc *resolved)
{
    return TML_MAX_OF(resolved->length.count, (uint64_t)1);
}

static bool has_densities(const tml_field_desc *resolved)
{
    return FIELD_HAS_WEIGHTS && !tml_buffer_is_none(resolved->densities);
}

/* Bins the points into the plan's device buffers. */
static void add_bins(program *p, const tml_field_desc *resolved, field_plan *plan)
{
    tml_buffer bins = program_array(p, TML_U32, room_of(resolved));
    tml_buffer records = program_array(p, TML_VEC(TML_U32, 4), room_of(resolved));
    tml_sort_desc sort = {.payloads = {{records, plan->device.points}}};
    if (has_densities(resolved))
        sort.payloads[1] = (tml_payload){resolved->densities, plan->device.densities};
    field_learn(p->tml);
    field_put_plan(p, plan, plan->device.words);
    field_find_bins(p, resolved, plan->device.words, bins, records);
    field_sort_bins(p, resolved, bins, plan->bin_count, &sort);
    field_find_firsts(p, resolved, bins, bins, 0, plan->bin_count, plan->device.starts);
    plan->point_count = resolved->length.count;
}

/* Records the binning, and then the part. The part gets desc or, if desc is NULL, the plan, which
 * is made in own. */
static program field_record(tml_context *tml, const char *call, const tml_field_desc *resolved,
                            field_plan *own, field_plan **plan, const tml_engine_op *part,
                            const void *desc)
{
    program p = program_begin(tml, call);
    field_plan_begin(resolved, own);
    field_plan_known(resolved, own);
    own->device.points = program_array(&p, TML_VEC(TML_U32, 4), room_of(resolved));
    own->device.starts = program_array(&p, TML_U32, own->bin_count + 1);
    own->device.words = program_array(&p, TML_U32, FIELD_PLAN_WORDS);
    own->device.bricks = program_array(&p, TML_U32, 1 + own->device.brick_room);
    if (has_densities(resolved))
        own->device.densities = program_array(&p, TML_F32, room_of(resolved));
    if (plan)
        *plan = own;
    add_bins(&p, resolved, own);
    program_part(&p, part, "no fields", desc ? desc : own, 0);
    const tml_buffer used[] = {own->device.points, own->device.starts, own->device.words,
                               own->device.bricks, own->device.densities};
    for (size_t i = 0; i < TML_ARRAY_SIZE(used); i++)
        program_use(&p, used[i]);
    return p;
}

tml_status field_run_after(tml_context *tml, const char *call, const tml_field_desc *resolved,
                           tml_buffer out, field_plan **plan, const tml_engine_op *part,
                           const void *desc)
{
    field_plan own;
    program p = field_record(tml, call, resolved, &own, plan, part, desc);
    own.out = out;
    return program_enqueue(p, (tml_buffer){0, 0});
}

tml_status field_plan_bin(tml_context *tml, const tml_field_desc *resolved, field_plan *plan)
{
    const uint64_t room = room_of(resolved);
    field_plan_known(resolved, plan);
    program p = program_begin(tml, "tml_field");
    program_keep(&p, TML_VEC(TML_U32, 4), room, "field points", &plan->device.points);
    if (has_densities(resolved))
        program_keep(&p, TML_F32, room, "field densities", &plan->device.densities);
    program_keep(&p, TML_U32, plan->bin_count + 1, "field bins", &plan->device.starts);
    program_keep(&p, TML_U32, FIELD_PLAN_WORDS, "field plan", &plan->device.words);
    program_keep(&p, TML_U32, 1 + plan->device.brick_room, "field bricks", &plan->device.bricks);
    add_bins(&p, resolved, plan);
    return program_enqueue(p, (tml_buffer){0, 0});
}
