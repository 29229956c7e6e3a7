/* Reduce on the Vulkan engine, of scalars and vectors: one dispatch per pass
 * (shaders/reduce_body.glsl); with several folds, one dispatch per fold and strip of a pass. */
#include "vulkan/vulkan_fold.h"
#include "vulkan_shaders.h"

#include "core/scalars.h"
#include "gpu/fold_kinds.h"
#include "kernels/kernel.h"

#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"

/* gpu/fold.glsl distinguishes types by kind and size only. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)

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

/* Ending a workgroup, with a store that is visible to the device and an atomic, takes as long as a
 * tile. If there are enough tiles for a large GPU, a workgroup folds several: 0.262 instead of
 * 0.293 ms for 2^28 u32 on an H200 (two tiles: 0.273 ms; eight: 0.266 ms). */
enum { MANY_TILES = 2048, TILES_A_GROUP = 4 };

/* Bytes of a strip. All folds of a call process one strip before the next strip. So a strip is read
 * from memory once, and then from the last-level cache if it fits there. */
static const uint32_t strip_bytes = 32u << 20, strip_bytes_of_host = 2u << 20;

typedef struct reduce_job {
    vk_fold fold;
    reduce_args args; /* with its own partial results and counters */
} reduce_job;

typedef struct reduce_layout {
    vk_passes passes;
    uint32_t components;
    uint32_t tile;        /* elements in a tile, the same for all folds */
    uint32_t tiles, fans; /* of the longest pass; fans: groups of FOLD_FAN tiles */
    vk_address states;    /* counters, while recording */
    uint32_t job_count;
    reduce_job jobs[TML_MAX_FOLDS];
} reduce_layout;

static uint32_t vk_reduce_tiles(const reduce_layout *l, uint64_t count)
{
    return (uint32_t)TML_MAX_OF(TML_CEIL_DIV(count, l->tile), (uint64_t)1);
}

static uint32_t tile_of(uint32_t components, const vk_fold *fold)
{
    if (components == 1)
        return 1u << fold->tile_log2;
    return (FOLD_ROW(components) << (fold->tile_log2 - 8)) / components; /* of rows of 256 pieces */
}

/* Counters of a fold: one for the fans, and one for each fan's tiles. */
static uint32_t states_of(const reduce_layout *l)
{
    return 1 + l->fans;
}

static bool vk_reduce_lay_out(tml_context *tml, const tml_reduce_desc *desc, vk_arena *arena,
                              reduce_layout *l)
{
    const tml_slot *in = tml_slot_of(tml, desc->in);
    bool is_supported = true;
    *l = (reduce_layout){.job_count = tml_reduce_results(desc),
                         .components = tml_type_components(in->type)};
    for (uint32_t j = 0; j < l->job_count; j++) {
        tml_reduce_result result = desc->folds[j];
        is_supported &=
            vk_fold_bind(tml, result.fold, tml_type_scalar(in->type),
                         tml_type_scalar(tml_slot_of(tml, result.out)->type), &l->jobs[j].fold);
    }
    l->passes = vk_passes_take(tml, &desc->length, arena);
    l->tile = tile_of(l->components, &l->jobs[0].fold);
    l->tiles = vk_reduce_tiles(l, TML_MIN_OF(l->passes.bound, l->passes.items));
    l->fans = TML_CEIL_DIV(l->tiles, FOLD_FAN);
    for (uint32_t j = 0; j < l->job_count; j++) {
        reduce_args *args = &l->jobs[j].args;
        uint32_t size = l->components * 16;
        args->partials = vk_take(arena, l->tiles, size);
        args->fans = vk_take(arena, l->fans, size);
        args->running = vk_take(arena, 1, size);
    }
    if (l->tiles > 1)
        l->states = vk_take(arena, (uint64_t)l->job_count * states_of(l), sizeof(uint32_t));
    return is_supported;
}

static bool supports(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    reduce_layout l;
    return vk_reduce_lay_out(tml, desc, &arena, &l);
}

static size_t vk_reduce_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    reduce_layout l;
    vk_reduce_lay_out(tml, desc, &arena, &l);
    return arena.size;
}

/* Folds tiles [first, end) of a pass. */
static tml_status run_strip(tml_context *tml, uint32_t components, reduce_job *job, uint32_t first,
                            uint32_t end, bool unordered)
{
    static const vk_module *const modules[2][2] = {
        {&vk_shader_reduce, &vk_shader_reduce_double},
        {&vk_shader_reduce_vectors, &vk_shader_reduce_vectors_double}};
    reduce_args *args = &job->args;
    args->first_tile = first;
    vk_dispatch_info info = {
        .module = modules[components > 1][job->fold.in_double],
        .specs[VK_FOLD_SPECS] = components,
        .spec_count = VK_FOLD_SPECS + (components > 1),
        .args = args,
        .args_size = sizeof *args,
        .groups = TML_CEIL_DIV(end - first, args->each),
        .unordered = unordered,
    };
    for (uint32_t s = 0; s < VK_FOLD_SPECS; s++)
        info.specs[s] = job->fold.specs[s];
    tml_status status = vk_dispatch(tml, &info);
    args->clear_count = 0; /* this dispatch zeroes it */
    return status;
}

static tml_status run_pass(tml_context *tml, reduce_layout *l, vk_address in, size_t size,
                           uint64_t number)
{
    vk_pass pass = vk_pass_at(&l->passes, number);
    uint32_t tiles = vk_reduce_tiles(l, pass.bound);
    vk_states states = {0};
    tml_status status = TML_OK;
    if (tiles > 1)
        status = vk_take_states(tml, l->job_count * states_of(l), l->states, &states);
    for (uint32_t j = 0; j < l->job_count; j++) {
        reduce_args *args = &l->jobs[j].args;
        args->in_at = in + pass.first * size;
        args->length_at = pass.length;
        args->bound = pass.bound;
        args->counters = states.words + (vk_address)j * states_of(l) * sizeof(uint32_t);
        args->clear = states.clear;
        args->clear_count = j == 0 ? states.clear_count : 0;
        args->first_low = (uint32_t)pass.first;
        args->first_high = (uint32_t)(pass.first >> 32);
        args->is_first = number == 0;
        args->is_last = number + 1 == l->passes.count;
        args->each = tiles >= MANY_TILES ? TILES_A_GROUP : 1;
    }
    uint32_t strip = vk_caps_of(tml)->is_software ? strip_bytes_of_host : strip_bytes;
    strip = l->job_count > 1 ? strip >> FOLD_TILE_LOG2 : tiles;
    for (uint32_t first = 0; first < tiles; first += strip)
        for (uint32_t j = 0; j < l->job_count && !status; j++)
            status = run_strip(tml, l->components, &l->jobs[j], first,
                               TML_MIN_OF(tiles, first + strip), first > 0 || j > 0);
    return status;
}

static tml_status vk_reduce_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_reduce_desc *desc = argument;
    vk_arena arena = vk_arena_of(scratch);
    reduce_layout l;
    vk_reduce_lay_out(tml, desc, &arena, &l);
    for (uint32_t j = 0; j < l.job_count; j++) {
        reduce_args *args = &l.jobs[j].args;
        args->out_at = vk_address_of(tml, desc->folds[j].out);
        args->whole = l.passes.total;
        args->whole_low = (uint32_t)l.passes.bound;
        args->whole_high = (uint32_t)(l.passes.bound >> 32);
    }
    const tml_slot *in = tml_slot_of(tml, desc->in);
    tml_status status = vk_passes_begin(tml, &desc->length, &l.passes);
    for (uint64_t p = 0; p < l.passes.count && !status; p++)
        status = run_pass(tml, &l, vk_slot_address(in), in->element_size, p);
    return status;
}

const tml_engine_op vk_op_reduce = {supports, vk_reduce_scratch_size, vk_reduce_run};
