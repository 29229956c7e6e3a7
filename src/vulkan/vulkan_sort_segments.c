/* Sort of segments on the Vulkan engine. Short segments take one dispatch, which reads and writes
 * their elements once (shaders/sort_window.glsl). Long segments are sorted by digits
 * (vulkan_sort.c), all in the same sweeps. A tile contains elements of one segment only, and a tile
 * finds its position in a bin among the tiles of its segment alone. */
#include "vulkan/vulkan_sort.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_sort.k.h"
#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

/* Elements per invocation, of 4 bytes. At most 8, since an invocation merges 8 at a time. H100,
 * 2^26 u32 keys in segments of 8 / 64 / 1024 / 4096, ms: 4: .78 1.3 6.0; 8: .71 1.2 2.6 2.3; 16:
 * 1.1 1.6 4.0 2.6. Drivers with small subgroups compile long unrolled loops slowly. */
enum { ITEMS = 8, ITEMS_SMALL = 4 };

_Static_assert(SORT_GRID_X == VK_GROUPS_X, "one width of grids");

typedef struct segments_job {
    vk_sort stream; /* the outputs for all elements */
    vk_sort longs;  /* the moves of long segments */
    bool has_longs;
    vk_passes count;
    sort_segments_args args;
    uint32_t items;
    uint64_t window, windows;
    vk_address scan_scratch;
} segments_job;

static void take_longs(tml_context *tml, segments_job *job, vk_arena *arena)
{
    vk_sort *longs = &job->longs;
    *longs = job->stream;
    longs->parts =
        (vk_passes){.count = 1, .bound = longs->parts.bound, .items = longs->parts.bound};
    vk_sort_take(tml, arena, job->windows, longs);
    job->stream.codes.out = longs->codes.out;
    job->stream.words.out = longs->words.out;
    job->args.longs = vk_take(arena, job->windows, sizeof(uint32_t));
    job->args.spans = longs->spans.records;
    job->args.tables = longs->spans.tables;
    job->args.head = longs->spans.head;
    job->args.digits = longs->digits;
    job->scan_scratch = vk_take(arena, vk_scan_counts_scratch((uint32_t)job->windows), 1);
}

static void take_outputs(vk_sort *stream, vk_arena *arena)
{
    if (stream->codes.is_stored && !stream->codes.out)
        stream->codes.out = vk_take(arena, stream->parts.bound, stream->codes.size);
    if (stream->values && !stream->words.out)
        stream->words.out = vk_take(arena, stream->parts.bound, sizeof(uint32_t));
}

static void vk_sort_segments_lay_out(tml_context *tml, const tml_sort_resolved *resolved,
                                     vk_arena *arena, segments_job *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    bool has_starts = !tml_buffer_is_none(desc->segments.starts);
    const tml_slot *offsets =
        tml_slot_of(tml, has_starts ? desc->segments.starts : desc->segments.offsets);
    *job = (segments_job){.items = vk_caps_of(tml)->subgroup < 32 ? ITEMS_SMALL : ITEMS};
    vk_sort *stream = &job->stream;
    vk_sort_bind(tml, resolved, arena, stream);
    job->items /= stream->codes.size / 4;
    job->window = SORT_WINDOW(job->items * VK_GROUP);
    job->windows = TML_CEIL_DIV(stream->parts.bound, job->window);
    job->has_longs = stream->parts.bound > job->window;
    job->count = vk_passes_take(tml, &desc->segments.count, arena);
    job->args = (sort_segments_args){
        .keys = stream->codes.in,
        .values = stream->words.in,
        .offsets = vk_slot_address(offsets),
        .windows = vk_take(arena, job->windows, SORT_WINDOW_WORDS * sizeof(uint32_t)),
        .count_at = job->count.total, /* the low words */
        .length_at = stream->parts.total,
        .segments = (uint32_t)resolved->segments,
        .bound = (uint32_t)stream->parts.bound,
        .kind = (offsets->type == TML_U64 ? SEGMENTS_WIDE : 0) |
                (has_starts ? SEGMENTS_STARTS : 0) | desc->first_bit << 8 |
                (desc->first_bit + desc->bit_count) << 16,
        .flip_low = (uint32_t)stream->flip,
        .flip_high = (uint32_t)(stream->flip >> 32),
        .real_low = (uint32_t)stream->real_flip,
        .real_high = (uint32_t)(stream->real_flip >> 32),
    };
    if (job->has_longs)
        take_longs(tml, job, arena);
    take_outputs(stream, arena);
    job->args.keys_out = stream->codes.is_stored ? stream->codes.out : 0;
    job->args.values_out = stream->words.out;
}

/* Shaders index all elements with 31 bits. */
static bool sort_segments_supports(tml_context *tml, const void *argument)
{
    const tml_sort_resolved *resolved = argument;
    return vk_op_sort.supports(tml, argument) && resolved->desc.length.count <= INT32_MAX &&
           resolved->segments < INT32_MAX;
}

static size_t sort_segments_scratch_size(tml_context *tml, const void *resolved)
{
    vk_arena arena = {0};
    segments_job job;
    vk_sort_segments_lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

static vk_dispatch_info step_of(const segments_job *job, const vk_module *module)
{
    const vk_sort *stream = &job->stream;
    return (vk_dispatch_info){.module = module,
                              .spec_count = SORT_SPANS + 1,
                              .specs = {[SORT_KEY_LOG2] = (uint32_t)__builtin_ctz(stream->key_size),
                                        [SORT_ENCODES] = 1,
                                        [SORT_DECODES] = stream->key_size >= 4,
                                        [SORT_VALUES] = stream->values,
                                        [SORT_ITEMS] = job->items,
                                        [SORT_SPANS] = job->longs.tile},
                              .args = &job->args,
                              .args_size = sizeof job->args,
                              .groups = job->windows};
}

static tml_status do_shorts(tml_context *tml, const segments_job *job)
{
    vk_dispatch_info windows = step_of(job, &vk_shader_sort_windows);
    windows.groups = TML_CEIL_DIV(job->windows, (uint64_t)VK_GROUP);
    const vk_dispatch_info shorts =
        step_of(job, job->stream.codes.size == 8 ? &vk_shader_sort_segments_of_8
                                                 : &vk_shader_sort_segments_of_4);
    tml_status status = vk_dispatch(tml, &windows);
    return status ? status : vk_dispatch(tml, &shorts);
}

static tml_status do_longs(tml_context *tml, const segments_job *job)
{
    vk_dispatch_info spans = step_of(job, &vk_shader_sort_spans);
    spans.groups = TML_CEIL_DIV(job->longs.spans.bound, (uint64_t)VK_GROUP);
    tml_status status = vk_scan_counts(tml, job->args.longs, (uint32_t)job->windows,
                                       job->scan_scratch, 0, job->args.head);
    if (!status)
        status = vk_dispatch(tml, &spans);
    return status ? status : vk_sort_move(tml, &job->longs);
}

/* Before short segments are sorted in place. */
static tml_status copy_longs(tml_context *tml, const segments_job *job)
{
    const sort_plane *from[] = {&job->stream.codes, &job->stream.words};
    const sort_plane *to[] = {&job->longs.codes, &job->longs.words};
    tml_status status = TML_OK;
    for (int i = 0; i < 2 && !status && job->has_longs; i++)
        if (to[i]->in != from[i]->in)
            status = vk_copy(tml, to[i]->in, from[i]->in, job->longs.parts.bound * to[i]->size);
    return status;
}

static tml_status sort_segments_run(tml_context *tml, const void *argument, void *scratch,
                                    size_t size)
{
    (void)size;
    const tml_sort_resolved *resolved = argument;
    vk_arena arena = vk_arena_of(scratch);
    segments_job job;
    vk_sort_segments_lay_out(tml, resolved, &arena, &job);
    if (job.stream.parts.bound == 0)
        return TML_OK;
    tml_status status = vk_passes_begin(tml, &resolved->desc.length, &job.stream.parts);
    if (!status)
        status = vk_passes_begin(tml, &resolved->desc.segments.count, &job.count);
    if (!status)
        status = copy_longs(tml, &job);
    if (!status)
        status = do_shorts(tml, &job);
    if (!status && job.has_longs)
        status = do_longs(tml, &job);
    return status ? status : vk_sort_complete(tml, &job.stream);
}

const tml_engine_op vk_op_sort_segments = {sort_segments_supports, sort_segments_scratch_size,
                                           sort_segments_run};
