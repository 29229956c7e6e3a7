/* Reduce on the Vulkan engine: one dispatch for each pass (shaders/reduce_body.glsl). */
#include "vulkan/vulkan_fold.h"
#include "vulkan_shaders.h"

#include "gpu/fold_kinds.h"

bool vk_fold_bind(const tml_context *tml, tml_fold fold, tml_type in_type, tml_type out_type,
                  vk_fold *out)
{
    bool has_doubles = vk_caps_of(tml)->float64;
    fold_constants c = fold_constants_of(fold, in_type, out_type);
    *out = (vk_fold){
        .specs = {c.kind, c.size_log2, c.is_signed, c.is_float, c.is_largest, c.to, c.is_mean},
        .in_double = c.kind == FOLD_DOUBLE || (c.is_mean && c.kind == FOLD_SUM && has_doubles),
        .tile_log2 = FOLD_TILE_LOG2 - c.size_log2,
    };
    return c.kind != FOLD_DOUBLE || has_doubles;
}

/* What a workgroup does at its end, a store that all must see and an atomic, takes as long as a tile.
 * Where there are tiles enough for all of a large GPU a workgroup folds several: 0.262 instead of
 * 0.293 ms for 2^28 u32 on an H200 (two: 0.273; eight: 0.266). */
enum { MANY_TILES = 2048, TILES_A_GROUP = 4 };

typedef struct reduce_job {
    vk_fold fold;
    vk_passes passes;
    uint32_t tiles, fans; /* of the longest pass */
    vk_address states;    /* for a recording */
    reduce_args args;
} reduce_job;

static uint32_t tiles_of(const reduce_job *job, uint64_t count)
{
    uint64_t tile = (uint64_t)1 << job->fold.tile_log2;
    return (uint32_t)TML_MAX_OF(TML_CEIL_DIV(count, tile), (uint64_t)1);
}

static bool lay_out(tml_context *tml, const tml_reduce_desc *desc, vk_arena *arena, reduce_job *job)
{
    *job = (reduce_job){.tiles = 1};
    bool is_supported = vk_fold_bind(tml, desc->fold, tml_slot_of(tml, desc->in)->type,
                                     tml_slot_of(tml, desc->out)->type, &job->fold);
    job->passes = vk_passes_take(tml, &desc->length, arena);
    job->tiles = tiles_of(job, TML_MIN_OF(job->passes.bound, job->passes.items));
    job->fans = TML_CEIL_DIV(job->tiles, FOLD_FAN);
    job->args.partials = vk_take(arena, job->tiles, 16);
    job->args.fans = vk_take(arena, job->fans, 16);
    job->args.running = vk_take(arena, 1, 16);
    if (job->tiles > 1)
        job->states = vk_take(arena, 1 + job->fans, sizeof(uint32_t));
    return is_supported;
}

static bool supports(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    reduce_job job;
    return lay_out(tml, desc, &arena, &job);
}

static size_t scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    reduce_job job;
    lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status run_pass(tml_context *tml, reduce_job *job, vk_address in, size_t size,
                           uint64_t number)
{
    vk_pass pass = vk_pass_at(&job->passes, number);
    uint32_t tiles = tiles_of(job, pass.bound);
    reduce_args *args = &job->args;
    vk_states states = {0};
    if (tiles > 1) {
        tml_status status = vk_take_states(tml, 1 + job->fans, job->states, &states);
        if (status)
            return status;
    }
    args->in_at = in + pass.first * size;
    args->length_at = pass.length;
    args->bound = pass.bound;
    args->counters = states.words;
    args->clear = states.clear;
    args->clear_count = states.clear_count;
    args->first_low = (uint32_t)pass.first;
    args->first_high = (uint32_t)(pass.first >> 32);
    args->is_first = number == 0;
    args->is_last = number + 1 == job->passes.count;
    args->each = tiles >= MANY_TILES ? TILES_A_GROUP : 1;
    vk_dispatch_info info = {
        .module = job->fold.in_double ? &vk_shader_reduce_double : &vk_shader_reduce,
        .spec_count = VK_FOLD_SPECS,
        .args = args,
        .args_size = sizeof *args,
        .groups = TML_CEIL_DIV(tiles, args->each),
    };
    for (uint32_t s = 0; s < VK_FOLD_SPECS; s++)
        info.specs[s] = job->fold.specs[s];
    return vk_dispatch(tml, &info);
}

static tml_status run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_reduce_desc *desc = argument;
    vk_arena arena = vk_arena_of(scratch);
    reduce_job job;
    lay_out(tml, desc, &arena, &job);
    job.args.out_at = vk_address_of(tml, desc->out);
    job.args.whole = job.passes.total;
    job.args.whole_low = (uint32_t)job.passes.bound;
    job.args.whole_high = (uint32_t)(job.passes.bound >> 32);
    const tml_slot *in = tml_slot_of(tml, desc->in);
    tml_status status = vk_passes_begin(tml, &desc->length, &job.passes);
    for (uint64_t p = 0; p < job.passes.count && !status; p++)
        status = run_pass(tml, &job, vk_slot_address(in), in->element_size, p);
    return status;
}

const tml_engine_op vk_op_reduce = {supports, scratch_size, run};
