/* The k elements with the smallest codes (kernels/sort.k.h), on the Vulkan engine:
 *
 *   sample   one workgroup samples the stream, and finds a limit that somewhat more than k elements
 *            almost surely do not follow
 *   sift     compacts those elements, the candidates, in one pass: only this reads the whole stream
 *   digit    finds the k-th code among the candidates, one digit per dispatch
 *   keep     the positions of the elements before that code, and of enough elements that equal it:
 *            two compactions
 *   store    values and indices
 *
 * If there are fewer candidates than k, or more than there is room for, digit and keep read the
 * whole stream instead. The device decides that; the dispatches are the same. If k is more than an
 * eighth of the stream's bound, there is no room for candidates.
 *
 * After: Alabi, Blanchard, Gordon, Steinbach: Fast k-Selection Algorithms for Graphics Processing
 * Units. 2012; Floyd, Rivest: Expected Time Bounds for Selection. 1975. */
#include "vulkan/vulkan_compact.h"

#include "kernels/kernel.h"

#include "kernels/top_k.k.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_top_k.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

typedef struct top_k_job {
    const tml_top_k_resolved *resolved;
    uint32_t bound, most, key_size,
        room; /* elements of the stream, of results; room for candidates */
    vk_address keys, state, counts;
    vk_passes length;         /* of the stream */
    vk_passes sifted, source; /* of the state's words */
    vk_address candidates, candidate_indices, positions;
    vk_address found, kept; /* u64: elements sifted out up to each pass; kept up to each, twice */
    vk_address states;
} top_k_job;

static vk_passes take_passes(tml_context *tml, uint64_t bound, vk_arena *arena)
{
    const tml_length length = tml_length_of(bound);
    vk_passes passes = vk_passes_take(tml, &length, arena);
    passes.total = vk_take(arena, 1, sizeof(uint64_t));
    passes.lengths = vk_take(arena, passes.count, VK_PASS_SIZE);
    return passes;
}

static void vk_top_k_lay_out(tml_context *tml, const tml_top_k_resolved *resolved, vk_arena *arena,
                             top_k_job *job)
{
    const tml_top_k_desc *desc = &resolved->desc;
    uint64_t bound = desc->length.count, most = desc->k.count;
    *job = (top_k_job){.resolved = resolved,
                       .bound = (uint32_t)bound,
                       .most = (uint32_t)most,
                       .key_size = (uint32_t)tml_slot_of(tml, desc->keys)->element_size,
                       .keys = vk_address_of(tml, desc->keys),
                       .length = vk_passes_take(tml, &desc->length, arena)};
    job->state = vk_take(arena, TOP_K_STATE, sizeof(uint32_t));
    job->counts = vk_take(arena, job->key_size * (TOP_K_BINS + 1), sizeof(uint32_t));
    job->source = take_passes(tml, bound, arena);
    job->kept = vk_take(arena, 2 * job->source.count + 1, sizeof(uint64_t));
    job->positions = vk_take(arena, most, sizeof(uint32_t));
    job->states = vk_one_pass_states_take(arena, &job->source);
    if (bound < TOP_K_SAMPLED_LEAST)
        return; /* of shorter streams there are no more candidates */
    float samples = (float)TOP_K_SAMPLED(bound);
    float room = top_k_candidates((float)TML_MIN_OF(most, bound / 8), (float)bound, samples);
    job->room = (uint32_t)TML_MIN_OF((uint64_t)room, bound);
    job->sifted = take_passes(tml, bound, arena);
    job->found = vk_take(arena, job->sifted.count + 1, sizeof(uint64_t));
    job->candidates = vk_take(arena, job->room, job->key_size);
    job->candidate_indices = vk_take(arena, job->room, sizeof(uint32_t));
}

static bool top_k_supports(tml_context *tml, const void *argument)
{
    (void)tml;
    return ((const tml_top_k_resolved *)argument)->desc.length.count <= UINT32_MAX;
}

static size_t top_k_scratch_size(tml_context *tml, const void *resolved)
{
    vk_arena arena = {0};
    top_k_job job;
    vk_top_k_lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

/* ---- sample and sift ------------------------------------------------------------------------- */

static tml_status vk_top_k_begin(tml_context *tml, const top_k_job *job, const vk_module *module)
{
    const tml_top_k_resolved *r = job->resolved;
    const tml_slot *k = tml_slot_of(tml, r->desc.k.device);
    const top_k_sample_args args = {
        .keys = job->keys,
        .state = job->state,
        .length_at = job->length.total,
        .k_at = k ? vk_slot_address(k) + r->desc.k.device_index * k->element_size : 0,
        .found = job->room ? job->found + sizeof(uint64_t) * job->sifted.count : 0,
        .bound = job->bound,
        .k_bound = job->most,
        .k_wide = k && k->type == TML_U64,
        .room = job->room,
        .flip_low = (uint32_t)r->flip,
        .flip_high = (uint32_t)(r->flip >> 32),
        .real_low = (uint32_t)r->real_flip,
        .real_high = (uint32_t)(r->real_flip >> 32)};
    return vk_dispatch(
        tml,
        &(vk_dispatch_info){.module = module,
                            .spec_count = module == &vk_shader_top_k_sample,
                            .specs = {[TOP_K_KEY_LOG2] = (uint32_t)__builtin_ctz(job->key_size)},
                            .args = &args,
                            .args_size = sizeof args,
                            .groups = 1});
}

/* A pass of a compaction by one of the modes. */
static tml_status compact(tml_context *tml, const top_k_job *job, uint32_t mode,
                          const vk_one_pass *outputs, const vk_passes *passes, uint64_t number)
{
    const tml_top_k_resolved *r = job->resolved;
    const vk_module *module = outputs->out ? &vk_shader_top_k_sift : &vk_shader_top_k_keep;
    uint64_t first = vk_pass_at(passes, number).first * job->key_size;
    uint32_t specs[VK_KERNEL_SPECS] = {
        [TOP_K_KEY_LOG2] = (uint32_t)__builtin_ctz(job->key_size), [TOP_K_MODE] = mode};
    compact_args args = {
        .in = {outputs->out ? job->keys + first : job->candidates, job->state, job->keys},
        .values.u = {(uint32_t)r->flip, (uint32_t)(r->flip >> 32), (uint32_t)r->real_flip,
                     (uint32_t)(r->real_flip >> 32)}};
    return vk_one_pass_record(tml, module, specs, &args, outputs, passes, number);
}

static tml_status sift(tml_context *tml, const top_k_job *job)
{
    const vk_one_pass outputs = {.out = job->key_size == 4 ? job->candidates : 0,
                                 .indices = job->candidate_indices,
                                 .room = job->room,
                                 .totals = job->found,
                                 .states = job->states,
                                 .is_chained = true};
    tml_status status =
        vk_passes_read(tml, job->state + sizeof(uint32_t) * TOP_K_SIFTED, true, &job->sifted);
    for (uint64_t p = 0; p < job->sifted.count && !status; p++)
        status = compact(tml, job, TOP_K_SIFT, &outputs, &job->sifted, p);
    if (!status)
        status = vk_top_k_begin(tml, job, &vk_shader_top_k_source);
    const vk_pass all = {.bound = job->room,
                         .length = job->state + sizeof(uint32_t) * TOP_K_CANDIDATES};
    const vk_gather gather = {.ordered = job->candidates,
                              .placed = job->keys,
                              .indices = job->candidate_indices,
                              .range = job->bound,
                              .size = job->key_size};
    return status || outputs.out ? status : vk_gather_pass(tml, &gather, &all, false);
}

/* ---- digit, keep, store ---------------------------------------------------------------------- */

static tml_status find_code(tml_context *tml, const top_k_job *job)
{
    const tml_top_k_resolved *r = job->resolved;
    uint64_t words = (uint64_t)job->key_size * (TOP_K_BINS + 1);
    tml_status status = vk_fill(tml, job->counts, words, 0);
    for (uint32_t d = job->key_size; d-- > 0 && !status;) {
        const top_k_digit_args args = {
            .keys = job->keys,
            .candidates = job->candidates,
            .state = job->state,
            .counts = job->counts + sizeof(uint32_t) * d * (TOP_K_BINS + 1),
            .shift = TOP_K_DIGIT * d,
            .flip_low = (uint32_t)r->flip,
            .flip_high = (uint32_t)(r->flip >> 32),
            .real_low = (uint32_t)r->real_flip,
            .real_high = (uint32_t)(r->real_flip >> 32),
        };
        uint64_t groups = TML_CEIL_DIV((uint64_t)job->bound, TOP_K_ITEMS * VK_GROUP);
        status = vk_dispatch(
            tml, &(vk_dispatch_info){
                     .module = &vk_shader_top_k_digit,
                     .spec_count = 1,
                     .specs = {[TOP_K_KEY_LOG2] = (uint32_t)__builtin_ctz(job->key_size)},
                     .args = &args,
                     .args_size = sizeof args,
                     .groups = TML_MIN_OF(groups, (uint64_t)TOP_K_GROUPS)});
    }
    return status;
}

static tml_status vk_top_k_keep(tml_context *tml, const top_k_job *job)
{
    vk_one_pass outputs = {.indices = job->positions,
                           .room = job->most,
                           .totals = job->kept,
                           .states = job->states,
                           .is_chained = true};
    tml_status status =
        vk_passes_read(tml, job->state + sizeof(uint32_t) * TOP_K_LENGTH, true, &job->source);
    for (uint32_t mode = TOP_K_BELOW; mode <= TOP_K_EQUAL && !status; mode++) {
        for (uint64_t p = 0; p < job->source.count && !status; p++)
            status = compact(tml, job, mode, &outputs, &job->source, p);
        outputs.totals += sizeof(uint64_t) * job->source.count;
        outputs.has_first = true;
    }
    return status;
}

static tml_status store(tml_context *tml, const top_k_job *job)
{
    const tml_top_k_desc *desc = &job->resolved->desc;
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    const top_k_store_args args = {.keys = job->keys,
                                   .candidates = job->candidates,
                                   .candidate_indices = job->candidate_indices,
                                   .state = job->state,
                                   .positions = job->positions,
                                   .values = vk_address_of(tml, desc->values),
                                   .indices = vk_slot_address(indices),
                                   .wide = indices && indices->type == TML_U64};
    return vk_dispatch(
        tml,
        &(vk_dispatch_info){.module = &vk_shader_top_k_store,
                            .spec_count = 1,
                            .specs = {[TOP_K_KEY_LOG2] = (uint32_t)__builtin_ctz(job->key_size)},
                            .args = &args,
                            .args_size = sizeof args,
                            .groups = TML_CEIL_DIV((uint64_t)job->most, VK_GROUP)});
}

static tml_status top_k_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_top_k_resolved *resolved = argument;
    vk_arena arena = vk_arena_of(scratch);
    top_k_job job;
    vk_top_k_lay_out(tml, resolved, &arena, &job);
    tml_status status = vk_passes_begin(tml, &resolved->desc.length, &job.length);
    if (!status)
        status = vk_top_k_begin(tml, &job, &vk_shader_top_k_sample);
    if (!status && job.most > 0) {
        status = job.room ? sift(tml, &job) : TML_OK;
        if (!status)
            status = find_code(tml, &job);
        if (!status)
            status = vk_top_k_keep(tml, &job);
        if (!status)
            status = store(tml, &job);
    }
    return status ? status : vk_store_count(tml, resolved->desc.count, job.state);
}

const tml_engine_op vk_op_top_k = {top_k_supports, top_k_scratch_size, top_k_run};
