/* Scan on the Vulkan engine (shaders/scan_body.glsl).
 *
 *   LOOK_BACK         one dispatch per pass. Integers only: a tile adds the aggregates and
 *                     inclusive prefixes that happen to be published, in a varying order, and a
 *                     float sum would vary with that order. In place only with forward progress:
 *                     the fallback reads a predecessor's elements, which must not be
 *                     overwritten.
 *   REDUCE_THEN_SCAN  three dispatches per pass; one for a short stream.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */
#include "vulkan/vulkan_internal.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"

enum { SHORT_TILES = 2 }; /* most elements for one workgroup in place of three dispatches */

/* A scan bound to its shader. */
typedef struct scan_kind {
    const vk_module *module;
    uint32_t tile;     /* elements */
    uint32_t sum_size; /* bytes */
    uint32_t words;    /* of a look-back state; 0: no look-back */
    uint32_t specs[SCAN_SPECS];
} scan_kind;

static scan_kind kind_for(tml_type sum_type)
{
    switch (sum_type) {
    case TML_F32:
        return (scan_kind){&vk_shader_scan_f32, SCAN_TILE_OF_4, 4, 0, {0}};
    case TML_F64:
        return (scan_kind){&vk_shader_scan_f64, SCAN_TILE_OF_8, 8, 0, {0}};
    case TML_U64:
    case TML_I64:
        return (scan_kind){&vk_shader_scan_u64, SCAN_TILE_OF_8, 8, 3, {0}};
    default:
        return (scan_kind){&vk_shader_scan_u32, SCAN_TILE_OF_4, 4, 2, {0}};
    }
}

/* Scans for the smallest or the largest compare codes, which are integers of the numbers' size. */
static scan_kind kind_for_fold(const tml_scan_desc *desc, tml_type type)
{
    if (desc->fold == TML_FOLD_SUM)
        return kind_for(type);
    scan_kind kind = kind_for(tml_type_size(type) == 4 ? TML_U32 : TML_U64);
    kind.module = kind.sum_size == 4 ? &vk_shader_scan_most_u32 : &vk_shader_scan_most_u64;
    return kind;
}

static void set_input(scan_kind *kind, tml_type type, bool inclusive)
{
    kind->specs[SCAN_SPEC_IN_LOG2] = (uint32_t)__builtin_ctzll(tml_type_size(type));
    kind->specs[SCAN_SPEC_SIGNED] = tml_type_is_signed(type);
    kind->specs[SCAN_SPEC_INCLUSIVE] = inclusive;
}

static uint32_t vk_scan_tiles(const scan_kind *kind, uint64_t count)
{
    return (uint32_t)TML_MAX_OF(TML_CEIL_DIV(count, kind->tile), (uint64_t)1);
}

static uint32_t state_words(const scan_kind *kind, uint64_t count)
{
    return STATES_FIRST + kind->words * vk_scan_tiles(kind, count);
}

static tml_status scan_dispatch(tml_context *tml, const scan_kind *kind, uint32_t mode,
                                const scan_args *args, uint32_t groups, vk_address grid)
{
    vk_dispatch_info info = {.module = kind->module,
                             .spec_count = SCAN_SPECS,
                             .look = mode != SCAN_ONE_PASS         ? LOOK_NONE
                                     : args->in_at == args->out_at ? LOOK_SCAN_IN_PLACE
                                                                   : LOOK_SCAN,
                             .args = args,
                             .args_size = sizeof *args,
                             .groups = groups,
                             .indirect = grid};
    for (uint32_t s = 0; s < SCAN_SPECS; s++)
        info.specs[s] = kind->specs[s];
    info.specs[SCAN_SPEC_MODE] = mode;
    return vk_dispatch(tml, &info);
}

/* Scans args->bound elements by decoupled look-back. */
static tml_status scan_in_one_pass(tml_context *tml, scan_kind *kind, scan_args *args,
                                   vk_address own_states, vk_address grid)
{
    uint32_t tiles = vk_scan_tiles(kind, args->bound);
    vk_states states;
    tml_status status = vk_take_states(tml, state_words(kind, args->bound), own_states, &states);
    if (status)
        return status;
    args->states = states.words;
    args->clear = states.clear;
    args->clear_count = states.clear_count;
    args->stalled = states.stalled;
    return scan_dispatch(tml, kind, SCAN_ONE_PASS, args, tiles, grid);
}

static tml_status vk_scan_reduce_then_scan(tml_context *tml, const scan_kind *kind, scan_args *args,
                                           vk_address sums, vk_address grid)
{
    uint32_t tiles = vk_scan_tiles(kind, args->bound);
    args->states = sums;
    tml_status status = scan_dispatch(tml, kind, SCAN_SUMS, args, tiles, grid);
    if (status)
        return status;
    scan_kind of_sums = *kind;
    set_input(&of_sums, kind->sum_size == 4 ? TML_U32 : TML_U64, false);
    scan_args middle = *args;
    middle.in_at = middle.out_at = sums;
    status = scan_dispatch(tml, &of_sums, SCAN_TILES, &middle, 1, 0);
    return status ? status : scan_dispatch(tml, kind, SCAN_ADD, args, tiles, grid);
}

/* Scans args->bound elements. scratch: for a recording, the states; without look-back, one sum per
 * tile. */
static tml_status scan_pass(tml_context *tml, scan_kind *kind, scan_args *args, bool looks_back,
                            vk_address scratch, vk_address grid)
{
    if (args->bound <= SHORT_TILES * kind->tile)
        return scan_dispatch(tml, kind, SCAN_ALL, args, 1, 0);
    return looks_back ? scan_in_one_pass(tml, kind, args, scratch, grid)
                      : vk_scan_reduce_then_scan(tml, kind, args, scratch, grid);
}

/* ---- tml_scan -------------------------------------------------------------------------------- */

typedef struct scan_job {
    scan_kind kind;
    vk_passes passes;
    vk_address scratch;  /* of a pass */
    vk_address bases[2]; /* the prefix that a pass begins with; passes alternate */
} scan_job;

static void vk_scan_lay_out(tml_context *tml, const tml_scan_desc *desc, vk_arena *arena,
                            scan_job *job)
{
    *job = (scan_job){.kind = kind_for_fold(desc, tml_slot_of(tml, desc->out)->type)};
    set_input(&job->kind, tml_slot_of(tml, desc->in)->type, desc->inclusive);
    job->passes = vk_passes_take(tml, &desc->length, arena);
    if (job->passes.count > 1)
        for (int i = 0; i < 2; i++)
            job->bases[i] = vk_take(arena, 1, job->kind.sum_size);
    uint64_t longest = TML_MIN_OF(job->passes.bound, job->passes.items);
    if (desc->method == TML_METHOD_LOOK_BACK)
        job->scratch = vk_take(arena, state_words(&job->kind, longest), sizeof(uint32_t));
    else if (desc->method == TML_METHOD_REDUCE_THEN_SCAN)
        job->scratch = vk_take(arena, vk_scan_tiles(&job->kind, longest), job->kind.sum_size);
}

static bool supports(tml_context *tml, const void *argument)
{
    const tml_scan_desc *desc = &((const tml_scan_resolved *)argument)->desc;
    const vk_caps *caps = vk_caps_of(tml);
    tml_type type = tml_slot_of(tml, desc->out)->type;
    bool in_place = vk_address_of(tml, desc->in) == vk_address_of(tml, desc->out);
    if (type == TML_F64 && desc->fold == TML_FOLD_SUM && !caps->float64)
        return false;
    if (desc->method == TML_METHOD_LOOK_BACK)
        return kind_for_fold(desc, type).words != 0 && (!in_place || caps->forward_progress);
    return desc->method == TML_METHOD_REDUCE_THEN_SCAN;
}

static size_t vk_scan_scratch_size(tml_context *tml, const void *argument)
{
    vk_arena arena = {0};
    scan_job job;
    vk_scan_lay_out(tml, &((const tml_scan_resolved *)argument)->desc, &arena, &job);
    return arena.size;
}

static tml_status vk_scan_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_scan_resolved *resolved = argument;
    const tml_scan_desc *desc = &resolved->desc;
    vk_arena arena = vk_arena_of(scratch);
    scan_job job;
    vk_scan_lay_out(tml, desc, &arena, &job);
    const tml_slot *in = tml_slot_of(tml, desc->in), *out = tml_slot_of(tml, desc->out);
    tml_status status = vk_passes_lend(tml, &desc->length, &job.passes);
    for (uint64_t p = 0; p < job.passes.count && !status; p++) {
        vk_pass pass = vk_pass_at(&job.passes, p);
        bool is_last = p + 1 == job.passes.count;
        scan_args args = {.in_at = vk_slot_address(in) + pass.first * in->element_size,
                          .out_at = vk_slot_address(out) + pass.first * out->element_size,
                          .length_at = pass.length,
                          .base = p ? job.bases[p % 2] : 0,
                          .start = vk_address_of(tml, desc->start),
                          .total = is_last ? vk_address_of(tml, desc->total) : 0,
                          .next_base = is_last ? 0 : job.bases[(p + 1) % 2],
                          .bound = pass.bound,
                          .flip_low = (uint32_t)resolved->flip,
                          .flip_high = (uint32_t)(resolved->flip >> 32),
                          .real_low = (uint32_t)resolved->real_flip,
                          .real_high = (uint32_t)(resolved->real_flip >> 32),
                          .least_low = (uint32_t)resolved->least,
                          .least_high = (uint32_t)(resolved->least >> 32)};
        status = scan_pass(tml, &job.kind, &args, desc->method == TML_METHOD_LOOK_BACK, job.scratch,
                           vk_pass_grid(&pass, job.kind.tile));
    }
    return status;
}

const tml_engine_op vk_op_scan = {supports, vk_scan_scratch_size, vk_scan_run};

/* ---- counts ---------------------------------------------------------------------------------- */

static scan_kind kind_of_counts(void)
{
    scan_kind kind = kind_for(TML_U32);
    set_input(&kind, TML_U32, false);
    kind.specs[SCAN_SPEC_COUNTS] = true;
    return kind;
}

size_t vk_scan_counts_scratch(uint32_t count)
{
    const scan_kind kind = kind_of_counts();
    return count <= SHORT_TILES * kind.tile ? 0 : state_words(&kind, count) * sizeof(uint32_t);
}

static tml_status scan_counts(tml_context *tml, scan_args args, vk_address scratch)
{
    scan_kind kind = kind_of_counts();
    args.out_at = args.in_at;
    return scan_pass(tml, &kind, &args, vk_caps_of(tml)->forward_progress, scratch, 0);
}

tml_status vk_scan_counts(tml_context *tml, vk_address values, uint32_t count, vk_address scratch,
                          vk_address base, vk_address total)
{
    return scan_counts(
        tml, (scan_args){.in_at = values, .base = base, .total = total, .bound = count}, scratch);
}

tml_status vk_scan_counts_of(tml_context *tml, vk_address values, uint32_t count, vk_address length,
                             vk_address scratch)
{
    return scan_counts(tml, (scan_args){.in_at = values, .length_at = length, .bound = count},
                       scratch);
}
