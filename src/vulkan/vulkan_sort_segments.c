/* Sort of segments on the Vulkan engine. Short segments take one dispatch, which reads and writes their elements once
 * (shaders/sort_window.glsl). The elements of long ones are listed, and the list is sorted stably by digits
 * (vulkan_sort.c), first by the keys and then by the segments: as much as one sort with the segment in the key, of
 * these elements alone. Without long segments that list is empty. */
#include "vulkan/vulkan_sort.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_sort.k.h"
#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

/* Elements per invocation of a workgroup that does a window of half as many: a wide window for long segments, since
 * each segment that is longer goes the long way; a small one where most are short, so that many workgroups are
 * resident. The widest fits 16 KiB of shared memory. Drivers with small subgroups compile long unrolled loops slowly.
 */
enum { ITEMS = 14, ITEMS_MIDDLING = 8, ITEMS_SMALL = 4, WINDOW_SEGMENTS = 16 };

typedef struct segments_job {
    vk_sort stream; /* what the caller wants of all elements */
    vk_passes count;
    sort_segments_args args;
    uint32_t items;
    uint64_t window, windows;
    /* long segments */
    bool has_longs;
    vk_address total, scan_scratch;
    vk_sort by_key, by_segment;
} segments_job;

/* The list's two sorts, which use the same scratch, one after the other. */
static void take_longs(tml_context *tml, segments_job *job, vk_arena *arena)
{
    const vk_sort *stream = &job->stream;
    uint64_t bound = stream->parts.bound;
    uint32_t code_size = stream->codes.size, bits = 1;
    while (job->windows >> bits)
        bits++;
    job->args.longs = vk_take(arena, job->windows, sizeof(uint32_t));
    job->args.codes = vk_take(arena, bound, code_size);
    job->args.ids = vk_take(arena, bound, sizeof(uint32_t));
    job->args.places = vk_take(arena, bound, sizeof(uint32_t));
    job->total = vk_take(arena, 1, sizeof(uint64_t));
    job->scan_scratch = vk_take(arena, vk_scan_counts_scratch((uint32_t)job->windows), 1);
    /* any buffer as device: the length is on the device */
    const tml_length listed = {.count = bound, .device = stream->resolved->desc.keys};
    job->by_key = (vk_sort){
        .parts = vk_passes_take(tml, &listed, arena),
        .method = stream->method,
        .key_size = code_size,
        .values = SORT_VALUES_INDEX,
        .first_bit = stream->first_bit,
        .bit_count = stream->bit_count,
        .codes = {.in = job->args.codes, .size = code_size},
        .words = {.out = vk_take(arena, bound, sizeof(uint32_t)), .size = 4, .is_stored = true}};
    job->by_segment = (vk_sort){.parts = job->by_key.parts,
                                .method = stream->method,
                                .key_size = 4,
                                .values = SORT_VALUES_MOVED,
                                .bit_count = bits,
                                .codes = {.in = vk_take(arena, bound, sizeof(uint32_t)), .size = 4},
                                .words = {.in = job->by_key.words.out,
                                          .out = vk_take(arena, bound, sizeof(uint32_t)),
                                          .size = 4,
                                          .is_stored = true}};
    vk_arena first = *arena;
    vk_sort_take(tml, &first, &job->by_key);
    vk_sort_take(tml, arena, &job->by_segment);
    arena->size = TML_MAX_OF(arena->size, first.size);
}

/* Long segments are put where they belong in any order, so that a payload in place is gathered by its index. */
static void take_words(segments_job *job, vk_arena *arena)
{
    vk_sort *stream = &job->stream;
    uint64_t bound = stream->parts.bound;
    if (stream->values == SORT_VALUES_MOVED && stream->words.in == stream->words.out) {
        stream->values = SORT_VALUES_INDEX;
        stream->words = (sort_plane){.size = 4, .is_stored = true};
        stream->payloads[0] = vk_take(arena, bound, sizeof(uint32_t));
    }
    if (stream->codes.is_stored && !stream->codes.out)
        stream->codes.out = vk_take(arena, bound, stream->codes.size);
    if (stream->values && !stream->words.out)
        stream->words.out = vk_take(arena, bound, sizeof(uint32_t));
}

static uint32_t items_of(const tml_context *tml, const tml_sort_resolved *resolved)
{
    uint64_t segments = TML_MAX_OF(resolved->segments, (uint64_t)1);
    uint64_t each = WINDOW_SEGMENTS * (resolved->desc.length.count / segments);
    bool is_counted = !tml_buffer_is_none(resolved->desc.count.device); /* there may be fewer */
    if (vk_caps_of(tml)->subgroup < 32 || (each <= ITEMS_SMALL * VK_GROUP / 2 && !is_counted))
        return ITEMS_SMALL;
    return each <= ITEMS_MIDDLING * VK_GROUP / 2 && !is_counted ? ITEMS_MIDDLING : ITEMS;
}

static void lay_out(tml_context *tml, const tml_sort_resolved *resolved, vk_arena *arena,
                    segments_job *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    bool has_starts = !tml_buffer_is_none(desc->starts);
    const tml_slot *offsets = tml_slot_of(tml, has_starts ? desc->starts : desc->offsets);
    *job = (segments_job){.items = items_of(tml, resolved)};
    vk_sort *stream = &job->stream;
    vk_sort_bind(tml, resolved, arena, stream);
    take_words(job, arena);
    job->items /= stream->codes.size / 4;
    job->window = job->items * VK_GROUP / 2;
    job->windows = TML_CEIL_DIV(stream->parts.bound, job->window);
    job->has_longs = stream->parts.bound > job->window;
    job->count = vk_passes_take(tml, &desc->count, arena);
    job->args = (sort_segments_args){
        .keys = stream->codes.in,
        .keys_out = stream->codes.is_stored ? stream->codes.out : 0,
        .values = stream->words.in,
        .values_out = stream->words.out,
        .offsets = vk_slot_address(offsets),
        .windows = vk_take(arena, job->windows + 1, sizeof(uint32_t)),
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
    lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

static vk_dispatch_info step_of(const segments_job *job, const vk_module *of_4,
                                const vk_module *of_8)
{
    const vk_sort *stream = &job->stream;
    return (vk_dispatch_info){.module = stream->codes.size == 8 ? of_8 : of_4,
                              .spec_count = SORT_ITEMS + 1,
                              .specs = {[SORT_KEY_LOG2] = (uint32_t)__builtin_ctz(stream->key_size),
                                        [SORT_ENCODES] = 1,
                                        [SORT_DECODES] = stream->key_size >= 4,
                                        [SORT_VALUES] = stream->values,
                                        [SORT_ITEMS] = job->items},
                              .args = &job->args,
                              .args_size = sizeof job->args,
                              .groups = job->windows};
}

static tml_status do_shorts(tml_context *tml, const segments_job *job)
{
    vk_dispatch_info windows = step_of(job, &vk_shader_sort_windows, &vk_shader_sort_windows);
    windows.groups = TML_CEIL_DIV(job->windows + 1, (uint64_t)VK_GROUP);
    vk_dispatch_info shorts =
        step_of(job, &vk_shader_sort_segments_of_4, &vk_shader_sort_segments_of_8);
    tml_status status = vk_dispatch(tml, &windows);
    return status ? status : vk_dispatch(tml, &shorts);
}

/* Lists the elements of long segments. */
static tml_status collect(tml_context *tml, const segments_job *job)
{
    const vk_dispatch_info step =
        step_of(job, &vk_shader_sort_collect_of_4, &vk_shader_sort_collect_of_8);
    tml_status status = vk_scan_counts(tml, job->args.longs, (uint32_t)job->windows,
                                       job->scan_scratch, 0, job->total);
    if (!status)
        status = vk_passes_read(tml, job->total, true, &job->by_key.parts);
    return status ? status : vk_dispatch(tml, &step);
}

static tml_status sort_list(tml_context *tml, const segments_job *job)
{
    const vk_gather ids = {.ordered = job->by_segment.codes.in,
                           .placed = job->args.ids,
                           .indices = job->by_key.words.out,
                           .range = job->by_key.parts.bound,
                           .size = sizeof(uint32_t)};
    tml_status status = vk_sort_move(tml, &job->by_key);
    for (uint64_t p = 0; p < job->by_key.parts.count && !status; p++) {
        vk_pass part = vk_pass_at(&job->by_key.parts, p);
        status = vk_gather_pass(tml, &ids, &part, p > 0);
    }
    return status ? status : vk_sort_move(tml, &job->by_segment);
}

static tml_status place_list(tml_context *tml, const segments_job *job)
{
    tml_status status = TML_OK;
    for (uint64_t p = 0; p < job->by_key.parts.count && !status; p++) {
        vk_pass part = vk_pass_at(&job->by_key.parts, p);
        const sort_place_args args = {
            .keys_out = job->args.keys_out,
            .values = job->args.values,
            .values_out = job->args.values_out,
            .codes = job->args.codes,
            .sources = job->by_segment.words.out + part.first * sizeof(uint32_t),
            .places_to = job->args.places + part.first * sizeof(uint32_t),
            .places = job->args.places,
            .length_at = part.length,
            .bound = part.bound,
            .flip_low = job->args.flip_low,
            .flip_high = job->args.flip_high,
            .real_low = job->args.real_low,
            .real_high = job->args.real_high,
        };
        vk_dispatch_info info =
            step_of(job, &vk_shader_sort_place_of_4, &vk_shader_sort_place_of_8);
        info.args = &args;
        info.args_size = sizeof args;
        info.groups = TML_CEIL_DIV((uint64_t)part.bound, (uint64_t)VK_GROUP);
        info.unordered = p > 0;
        status = vk_dispatch(tml, &info);
    }
    return status;
}

static tml_status sort_segments_run(tml_context *tml, const void *argument, void *scratch,
                                    size_t size)
{
    (void)size;
    const tml_sort_resolved *resolved = argument;
    vk_arena arena = vk_arena_of(scratch);
    segments_job job;
    lay_out(tml, resolved, &arena, &job);
    if (job.stream.parts.bound == 0)
        return TML_OK;
    tml_status status = vk_passes_begin(tml, &resolved->desc.length, &job.stream.parts);
    if (!status)
        status = vk_passes_begin(tml, &resolved->desc.count, &job.count);
    if (!status)
        status = do_shorts(tml, &job);
    if (!status && job.has_longs)
        status = collect(tml, &job);
    if (!status && job.has_longs)
        status = sort_list(tml, &job);
    if (!status && job.has_longs)
        status = place_list(tml, &job);
    return status ? status : vk_sort_complete(tml, &job.stream);
}

const tml_engine_op vk_op_sort_segments = {sort_segments_supports, sort_segments_scratch_size,
                                           sort_segments_run};
