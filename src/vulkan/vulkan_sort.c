/* Radix sort on the Vulkan engine, from the lowest digit to the highest; each digit is a stable
 * move.
 *
 *   LOOK_BACK         all digits are counted in one read; then one dispatch per digit, in which
 *                     tiles find their positions by decoupled look-back (shaders/sort_sweep.glsl)
 *   REDUCE_THEN_SCAN  for each digit: the counts of each tile; their exclusive scan; the move
 *
 * A stream of one tile is sorted by one workgroup. A word moves with each key. It is a payload of 4
 * bytes if that is the only payload; otherwise it is the element's index, by which payloads are
 * gathered at the end.
 *
 * After: Adinets, Merrill: Onesweep: A Faster Least Significant Digit Radix Sort for GPUs. 2022. */
#include "vulkan/vulkan_sort.h"
#include "vulkan/vulkan_compact.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_sort.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

enum {
    /* For the histogram: workgroups that fill a large GPU, and the least elements per
     * invocation. */
    GROUPS_ENOUGH = 1024,
    EACH_LEAST = 16,
    /* Elements of a tile per invocation. Large tiles store longer runs of elements together. Small
     * tiles leave more workgroups resident (registers, and shared memory for a window of half a
     * tile) and suit short streams. Pairs, whose stores are twice as many, gain by large tiles from
     * PAIRS_LONG on. H100, u32 keys of 2^16 / 2^20 / 2^24 / 2^28, ms: 16: .052 .076 .55 8.2; 20:
     * .054 .077 .61 9.2; 28: .065 .085 .59 8.5; 32: .070 .085 .60 8.3; 36: 11; in windows of 8
     * rows, which leave more workgroups resident, 24: .063 .085 .63 9.3; 32: .070 .088 .61 8.7.
     * Pairs: 16: .059 .089 .89 14.9; 28: .077 .112 .79 11.6. Drivers with small subgroups run on
     * the CPU, and compile long unrolled loops slowly. */
    ITEMS = 16,
    ITEMS_PAIRS = 28,
    ITEMS_WIDE = 14, /* of 8-byte keys */
    ITEMS_SMALL = 8,
    PAIRS_LONG = 1 << 22,
};

/* ---- plan ------------------------------------------------------------------------------------ */

static void take_plane(const vk_sort *job, sort_plane *plane, vk_arena *arena)
{
    uint64_t bound = job->parts.bound;
    if (!plane->out && (plane->is_stored || (job->digits > 2 && !job->is_short)))
        plane->out = vk_take(arena, bound, plane->size);
    plane->first = plane->out;
    if (job->is_short)
        return;
    if (job->digits > 1)
        plane->aside = vk_take(arena, bound, plane->size);
    if (job->digits % 2 == 0)
        plane->first = plane->aside;
    else if (plane->out && plane->in == plane->out && job->spans.bound)
        plane->in = vk_take(arena, bound, plane->size);
    else if (plane->out && plane->in == plane->out)
        plane->first = vk_take(arena, bound, plane->size);
}

static void bind_codes(tml_context *tml, vk_sort *job)
{
    const tml_sort_desc *desc = &job->resolved->desc;
    bool is_sorted = !tml_buffer_is_none(desc->sorted);
    job->codes = (sort_plane){.in = vk_address_of(tml, desc->keys),
                              .out = job->key_size < 4 ? 0 : vk_address_of(tml, desc->sorted),
                              .size = job->key_size == 8 ? 8 : 4,
                              .is_stored = is_sorted};
}

/* A single payload of 4 bytes moves with the keys. Otherwise the index does, if there is anything
 * but keys to move. */
static void bind_words(tml_context *tml, vk_sort *job)
{
    const tml_sort_desc *desc = &job->resolved->desc;
    const tml_payload *payloads = desc->payloads;
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    bool has_payload = !tml_buffer_is_none(payloads[0].in);
    if (!indices && !has_payload)
        return;
    job->words = (sort_plane){.size = 4, .is_stored = true};
    job->values = SORT_VALUES_INDEX;
    if (!indices && tml_buffer_is_none(payloads[1].in) &&
        tml_slot_of(tml, payloads[0].in)->element_size == 4) {
        job->values = SORT_VALUES_MOVED;
        job->words.in = vk_address_of(tml, payloads[0].in);
        job->words.out = vk_address_of(tml, payloads[0].out);
    } else if (indices && indices->type == TML_U32) {
        job->words.out = vk_slot_address(indices);
    }
}

void vk_sort_bind(tml_context *tml, const tml_sort_resolved *resolved, vk_arena *arena,
                  vk_sort *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    *job = (vk_sort){.resolved = resolved,
                     .parts = vk_passes_take(tml, &desc->length, arena),
                     .key_size = (uint32_t)tml_slot_of(tml, desc->keys)->element_size,
                     .method = desc->method,
                     .first_bit = desc->first_bit,
                     .bit_count = desc->bit_count,
                     .flip = resolved->flip,
                     .real_flip = resolved->real_flip};
    bind_codes(tml, job);
    bind_words(tml, job);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && job->values == SORT_VALUES_INDEX; p++) {
        const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
        if (out && vk_slot_address(out) == vk_address_of(tml, desc->payloads[p].in))
            job->payloads[p] = vk_take(arena, job->parts.bound, out->element_size);
    }
}

static uint64_t tiles_in(const vk_sort *job, uint64_t items)
{
    return job->spans.bound ? job->spans.bound : TML_CEIL_DIV(items, job->tile);
}

static void take_places(vk_sort *job, vk_arena *arena)
{
    uint64_t items = TML_MIN_OF(job->parts.bound, job->parts.items), parts = job->parts.count;
    uint64_t words = tiles_in(job, items) * job->bins;
    if (job->method == TML_METHOD_LOOK_BACK) {
        job->control_words = (uint32_t)(parts * (job->digits + 1)) + job->digits * job->bins;
        job->own_control = vk_take(arena, job->control_words, sizeof(uint32_t));
        for (int i = 0; i < 2; i++) {
            job->states[i] = vk_take(arena, words, sizeof(uint32_t));
            job->bases[i] = vk_take(arena, job->bins, sizeof(uint32_t));
        }
    } else {
        job->tiles = tiles_in(job, items) * (parts - 1) +
                     tiles_in(job, job->parts.bound - items * (parts - 1));
        uint32_t counts = (uint32_t)(job->tiles * job->bins);
        job->counts = vk_take(arena, counts, sizeof(uint32_t));
        job->scan_scratch = vk_take(arena, vk_scan_counts_scratch(counts), 1);
    }
}

static uint32_t items_of(tml_context *tml, const vk_sort *job)
{
    uint32_t key_size = job->key_size;
    if (vk_caps_of(tml)->subgroup < 32)
        return key_size == 8 ? ITEMS_SMALL / 2 : ITEMS_SMALL;
    if (key_size == 8)
        return ITEMS_WIDE;
    return job->values && job->parts.bound >= PAIRS_LONG ? ITEMS_PAIRS : ITEMS;
}

static void take_spans(vk_sort *job, uint64_t segments, vk_arena *arena)
{
    job->spans = (vk_spans){.bound = SORT_MOST_SPANS(job->parts.bound, job->tile, segments)};
    job->spans.records = vk_take(arena, job->spans.bound, SORT_SPAN_WORDS * sizeof(uint32_t));
    job->spans.head = vk_take(arena, SORT_HEAD, sizeof(uint32_t));
    job->spans.tables = vk_take(arena, segments * job->digits * job->bins, sizeof(uint32_t));
}

void vk_sort_take(tml_context *tml, vk_arena *arena, uint64_t segments, vk_sort *job)
{
    job->items = items_of(tml, job);
    job->tile = job->items * VK_GROUP;
    job->bins = TML_MIN_OF(SORT_BINS, SORT_COUNTERS * vk_caps_of(tml)->subgroup / VK_GROUP);
    job->digit_bits = (uint32_t)__builtin_ctz(job->bins);
    job->digits = TML_CEIL_DIV(job->bit_count, job->digit_bits);
    job->is_short = !segments && job->parts.bound <= job->tile && job->parts.count == 1;
    if (segments)
        take_spans(job, segments, arena);
    take_plane(job, &job->codes, arena);
    if (job->values)
        take_plane(job, &job->words, arena);
    if (!job->is_short)
        take_places(job, arena);
}

static void vk_sort_lay_out(tml_context *tml, const tml_sort_resolved *resolved, vk_arena *arena,
                            vk_sort *job)
{
    vk_sort_bind(tml, resolved, arena, job);
    vk_sort_take(tml, arena, 0, job);
}

static bool sort_supports(tml_context *tml, const void *argument)
{
    const tml_sort_desc *desc = &((const tml_sort_resolved *)argument)->desc;
    (void)tml;
    return desc->length.count <= UINT32_MAX &&
           (desc->method == TML_METHOD_LOOK_BACK || desc->method == TML_METHOD_REDUCE_THEN_SCAN);
}

static size_t sort_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    vk_sort job;
    vk_sort_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

/* ---- moves ----------------------------------------------------------------------------------- */

static vk_address target_of(const vk_sort *job, const sort_plane *plane, uint32_t move)
{
    uint32_t after = job->digits - 1 - move;
    return after == 0 && !plane->is_stored ? 0
           : move == 0                     ? plane->first
           : after % 2 == 0                ? plane->out
                                           : plane->aside;
}
static vk_address source_of(const vk_sort *job, const sort_plane *plane, uint32_t move)
{
    return move == 0 ? plane->in : target_of(job, plane, move - 1);
}

static void set_key(const vk_sort *job, uint32_t move, uint32_t *specs)
{
    uint32_t size = move == 0 ? job->key_size : job->codes.size;
    specs[SORT_KEY_LOG2] = (uint32_t)__builtin_ctz(size);
    specs[SORT_ENCODES] = move == 0;
    specs[SORT_DECODES] = move + 1 == job->digits && job->key_size >= 4;
    specs[SORT_VALUES] = move == 0 || !job->values ? job->values : SORT_VALUES_MOVED;
    specs[SORT_LONG] = job->parts.count > 1;
    specs[SORT_ITEMS] = job->items;
    specs[SORT_SPANS] = job->spans.bound ? job->tile : 0;
}

/* The elements that a dispatch moves: a part of the stream, or the tiles of all long segments, by
 * their number. */
static vk_pass part_at(const vk_sort *job, uint64_t number)
{
    if (job->spans.bound)
        return (vk_pass){.bound = (uint32_t)job->spans.bound,
                         .length = job->spans.head + SORT_HEAD_TILES * sizeof(uint32_t)};
    return vk_pass_at(&job->parts, number);
}
static vk_address grid_of(const vk_sort *job, const vk_pass *part)
{
    uint32_t grid = MAP_ITEMS; /* the largest of the grids' sizes that is less than a tile */
    while (2 * grid <= job->tile)
        grid *= 2;
    return job->spans.bound ? job->spans.head + SORT_HEAD_GRID * sizeof(uint32_t)
                            : vk_pass_grid(part, grid);
}

/* Arguments of a move of a part. */
static sort_args args_of(const vk_sort *job, uint32_t move, const vk_pass *part)
{
    uint32_t first_bit = job->first_bit + move * job->digit_bits;
    vk_address values = source_of(job, &job->words, move);
    return (sort_args){
        .keys = source_of(job, &job->codes, move) +
                part->first * (move == 0 ? job->key_size : job->codes.size),
        .keys_out = target_of(job, &job->codes, move),
        .values = values ? values + part->first * sizeof(uint32_t) : 0,
        .values_out = target_of(job, &job->words, move),
        .spans = job->spans.records,
        .length_at = part->length,
        .bound = part->bound,
        .first = (uint32_t)part->first,
        .bits = first_bit | (job->first_bit + job->bit_count) << 8,
        .flip_low = (uint32_t)job->flip,
        .flip_high = (uint32_t)(job->flip >> 32),
        .real_low = (uint32_t)job->real_flip,
        .real_high = (uint32_t)(job->real_flip >> 32),
    };
}

static tml_status move_dispatch(tml_context *tml, const vk_sort *job, const vk_module *of_4,
                                const vk_module *of_8, vk_dispatch_info info, uint32_t move,
                                const sort_args *args)
{
    info.module = job->key_size == 8 ? of_8 : of_4;
    info.spec_count = SORT_SPECS;
    set_key(job, move, info.specs);
    info.args = args;
    info.args_size = sizeof *args;
    return vk_dispatch(tml, &info);
}

/* All digits in one dispatch. */
static tml_status sort_short(tml_context *tml, const vk_sort *job)
{
    vk_pass part = vk_pass_at(&job->parts, 0);
    sort_args args = args_of(job, 0, &part);
    args.keys_out = job->codes.is_stored ? job->codes.out : 0;
    args.values_out = job->words.out;
    vk_sort whole = *job;
    whole.digits = 1; /* the first move is the last */
    return move_dispatch(tml, &whole, &vk_shader_sort_short_of_4, &vk_shader_sort_short_of_8,
                         (vk_dispatch_info){.groups = 1}, 0, &args);
}

/* Counts all digits of a part. The dispatch for the first part also zeroes the states of the first
 * sweep. */
static tml_status count_digits(tml_context *tml, const vk_sort *job, const vk_states *control,
                               uint32_t number)
{
    vk_pass part = part_at(job, number);
    bool has_spans = job->spans.bound != 0;
    sort_args move = args_of(job, 0, &part);
    uint64_t parts = job->parts.count, sweeps = parts * job->digits;
    uint64_t each = TML_MAX_OF(part.bound / (VK_GROUP * GROUPS_ENOUGH), (uint64_t)EACH_LEAST);
    const sort_histogram_args args = {
        .keys = move.keys,
        .counts =
            has_spans ? job->spans.tables : control->words + sizeof(uint32_t) * (sweeps + parts),
        .spans = job->spans.records,
        .counter = control->words + sizeof(uint32_t) * (sweeps + number),
        .states = job->states[0],
        .clear = control->clear,
        .length_at = part.length,
        .bound = part.bound,
        .clear_count = number == 0 ? control->clear_count : 0,
        .tile = number == 0 ? job->tile : 0,
        .each = (uint32_t)TML_ALIGN_UP(each, (uint64_t)SORT_HISTOGRAM_ROWS),
        .is_last = number + 1 == parts,
        .first_bit = job->first_bit,
        .end_bit = job->first_bit + job->bit_count,
        .flip_low = move.flip_low,
        .flip_high = move.flip_high,
        .real_low = move.real_low,
        .real_high = move.real_high,
    };
    vk_dispatch_info info = {.module = &vk_shader_sort_histogram,
                             .spec_count = SORT_SPANS + 1,
                             .args = &args,
                             .args_size = sizeof args,
                             .groups =
                                 TML_CEIL_DIV((uint64_t)part.bound, (uint64_t)args.each * VK_GROUP),
                             .indirect = has_spans ? grid_of(job, &part) : 0};
    set_key(job, 0, info.specs);
    return vk_dispatch(tml, &info);
}

/* Moves a part by a digit. */
static tml_status sweep(tml_context *tml, const vk_sort *job, const vk_states *control,
                        uint32_t move, uint32_t number)
{
    vk_pass part = part_at(job, number);
    uint32_t parts = (uint32_t)job->parts.count, sweeps = parts * job->digits;
    uint32_t nth = move * parts + number;
    sort_args args = args_of(job, move, &part);
    args.states = job->states[nth % 2];
    args.clear = job->states[1 - nth % 2];
    args.ticket = control->words + sizeof(uint32_t) * nth;
    args.stalled = control->stalled;
    vk_address counted = sizeof(uint32_t) * move * job->bins;
    args.bases = job->spans.bound ? job->spans.tables + counted
                 : number > 0     ? job->bases[number % 2]
                                  : control->words + sizeof(uint32_t) * (sweeps + parts) + counted;
    args.next_bases = number + 1 < parts ? job->bases[(number + 1) % 2] : 0;
    if (nth + 1 < sweeps) {
        vk_pass next = vk_pass_at(&job->parts, (number + 1) % parts);
        args.tiles = parts == 1 ? UINT32_MAX : (uint32_t)TML_CEIL_DIV(next.bound, job->tile);
    }
    vk_dispatch_info info = {
        .look = LOOK_SORT, .groups = tiles_in(job, part.bound), .indirect = grid_of(job, &part)};
    return move_dispatch(tml, job, &vk_shader_sort_sweep_of_4, &vk_shader_sort_sweep_of_8, info,
                         move, &args);
}

static tml_status one_sweep(tml_context *tml, const vk_sort *job)
{
    vk_states control;
    tml_status status = vk_take_states(tml, job->control_words, job->own_control, &control);
    for (uint32_t p = 0; p < job->parts.count && !status; p++)
        status = count_digits(tml, job, &control, p);
    for (uint32_t move = 0; move < job->digits && !status; move++)
        for (uint32_t p = 0; p < job->parts.count && !status; p++)
            status = sweep(tml, job, &control, move, p);
    return status;
}

/* Counts a digit, or moves by it. */
static tml_status place_step(tml_context *tml, const vk_sort *job, uint32_t move, bool counts)
{
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < job->parts.count && !status; p++) {
        vk_pass part = part_at(job, p);
        sort_args args = args_of(job, move, &part);
        args.tiles = (uint32_t)job->tiles;
        args.states =
            job->counts + sizeof(uint32_t) * p * TML_CEIL_DIV(job->parts.items, job->tile);
        vk_dispatch_info info = {.specs = {[SORT_PLACED] = 1},
                                 .groups = tiles_in(job, part.bound),
                                 .indirect = job->spans.bound ? grid_of(job, &part) : 0,
                                 .unordered = p > 0};
        status = move_dispatch(
            tml, job, counts ? &vk_shader_sort_count_of_4 : &vk_shader_sort_sweep_of_4,
            counts ? &vk_shader_sort_count_of_8 : &vk_shader_sort_sweep_of_8, info, move, &args);
    }
    return status;
}

static tml_status vk_sort_reduce_then_scan(tml_context *tml, const vk_sort *job)
{
    tml_status status = TML_OK;
    for (uint32_t move = 0; move < job->digits && !status; move++) {
        status = place_step(tml, job, move, true);
        if (!status)
            status = vk_scan_counts_of(
                tml, job->counts, (uint32_t)(job->tiles * job->bins),
                job->spans.bound ? job->spans.head + SORT_HEAD_COUNTS * sizeof(uint32_t) : 0,
                job->scan_scratch);
        if (!status)
            status = place_step(tml, job, move, false);
    }
    return status;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Stores words as elements of size bytes. */
static tml_status finish(tml_context *tml, const vk_sort *job, vk_address from, const tml_slot *out)
{
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < job->parts.count && !status; p++) {
        vk_pass part = vk_pass_at(&job->parts, p);
        const sort_finish_args args = {.from = from + part.first * sizeof(uint32_t),
                                       .to = vk_slot_address(out) + part.first * out->element_size,
                                       .length_at = part.length,
                                       .bound = part.bound,
                                       .flip = (uint32_t)job->flip,
                                       .real_flip = (uint32_t)job->real_flip};
        uint64_t words = part.bound;
        if (out->element_size < 4) /* one more, since the first may be shared with others */
            words = part.bound / (4 / out->element_size) + 2;
        status = vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_sort_finish,
                                                      .spec_count = 1,
                                                      .specs = {(uint32_t)out->element_size},
                                                      .args = &args,
                                                      .args_size = sizeof args,
                                                      .groups = TML_CEIL_DIV(words, VK_GROUP),
                                                      .unordered = p > 0});
    }
    return status;
}

static tml_status gather(tml_context *tml, const vk_sort *job, uint32_t p, bool unordered)
{
    const tml_slot *in = tml_slot_of(tml, job->resolved->desc.payloads[p].in);
    vk_address out = vk_address_of(tml, job->resolved->desc.payloads[p].out);
    const vk_gather gather = {.ordered = job->payloads[p] ? job->payloads[p] : out,
                              .placed = vk_slot_address(in),
                              .indices = job->words.out,
                              .range = in->count,
                              .size = (uint32_t)in->element_size};
    tml_status status = TML_OK;
    for (uint64_t n = 0; n < job->parts.count && !status; n++) {
        vk_pass part = vk_pass_at(&job->parts, n);
        status = vk_gather_pass(tml, &gather, &part, unordered || n > 0);
    }
    return status;
}

static tml_status copy_back(tml_context *tml, const vk_sort *job, vk_address to, vk_address from,
                            uint32_t size)
{
    return vk_copy_counted(tml, to, from, size, job->parts.bound, job->parts.total);
}

tml_status vk_sort_complete(tml_context *tml, const vk_sort *job)
{
    const tml_sort_desc *desc = &job->resolved->desc;
    const tml_slot *sorted = tml_slot_of(tml, desc->sorted);
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    tml_status status = TML_OK;
    if (sorted && job->key_size < 4 && !status)
        status = finish(tml, job, job->codes.out, sorted);
    if (indices && indices->type == TML_U64 && !status)
        status = finish(tml, job, job->words.out, indices);
    if (job->values != SORT_VALUES_INDEX)
        return status;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
        if (!tml_buffer_is_none(desc->payloads[p].in))
            status = gather(tml, job, p, p > 0);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
        if (job->payloads[p]) {
            const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
            status = copy_back(tml, job, vk_slot_address(out), job->payloads[p],
                               (uint32_t)out->element_size);
        }
    return status;
}

tml_status vk_sort_move(tml_context *tml, const vk_sort *job)
{
    const sort_plane *planes[] = {&job->codes, &job->words};
    tml_status status = job->is_short                         ? sort_short(tml, job)
                        : job->method == TML_METHOD_LOOK_BACK ? one_sweep(tml, job)
                                                              : vk_sort_reduce_then_scan(tml, job);
    for (int i = 0; i < 2 && !status && job->digits == 1 && !job->spans.bound; i++)
        if (planes[i]->is_stored && planes[i]->first != planes[i]->out)
            status = copy_back(tml, job, planes[i]->out, planes[i]->first, planes[i]->size);
    return status;
}

static tml_status sort_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_sort_resolved *resolved = argument;
    vk_arena arena = vk_arena_of(scratch);
    vk_sort job;
    vk_sort_lay_out(tml, resolved, &arena, &job);
    if (job.parts.bound == 0)
        return TML_OK;
    tml_status status = vk_passes_begin(tml, &resolved->desc.length, &job.parts);
    if (!status)
        status = vk_sort_move(tml, &job);
    return status ? status : vk_sort_complete(tml, &job);
}

const tml_engine_op vk_op_sort = {sort_supports, sort_scratch_size, sort_run};
