/* Unique on the Vulkan engine. An element's head flag is set if it differs from its predecessor: a
 * run begins there. Values are a compaction of the elements by head flags; starts, of their
 * positions. Lengths are first written as starts, and then replaced in place by the differences to
 * the next starts.
 *
 * Elements of 4 bytes without lengths take a single pass (shaders/compact.glsl). An in-place call
 * goes through scratch, as in vulkan_compact.c. */
#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan/vulkan_compact.h"
#include "vulkan_shaders.h"

typedef struct unique_job {
    vk_column values, starts, lengths; /* to is 0: not asked for */
    vk_address aside;                  /* in place: the values, copied back at the end */
    bool one_pass;
    vk_passes passes;
    vk_address states; /* one_pass, while recording */
    vk_keep_bits bits; /* of the longest pass */
    vk_address totals; /* u64, passes + 1: runs before each pass, and in all */
    vk_address ends;   /* u64 per tile of runs, for as many runs as a pass has elements */
} unique_job;

static vk_column column_of(tml_context *tml, tml_buffer out, uint64_t bound)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    if (!slot)
        return (vk_column){0};
    return (vk_column){
        .to = vk_slot_address(slot),
        .room = TML_MIN_OF(slot->count, bound),
        .size = (uint32_t)slot->element_size,
    };
}

static bool is_one_pass(const tml_unique_desc *desc, const unique_job *job, size_t size)
{
    bool has_values = !tml_buffer_is_none(desc->values),
         has_starts = !tml_buffer_is_none(desc->starts);
    uint64_t bound = desc->length.count;
    if (size != 4 || !tml_buffer_is_none(desc->lengths))
        return false;
    if (has_starts &&
        (job->starts.size != 4 || (has_values && job->values.room != job->starts.room)))
        return false;
    uint64_t room = has_values ? job->values.room : has_starts ? job->starts.room : bound;
    return vk_one_pass_fits(bound, room);
}

static void vk_unique_lay_out(tml_context *tml, const tml_unique_desc *desc, vk_arena *arena,
                              unique_job *job)
{
    uint64_t bound = desc->length.count;
    *job = (unique_job){
        .values = column_of(tml, desc->values, bound),
        .starts = column_of(tml, desc->starts, bound),
        .lengths = column_of(tml, desc->lengths, bound),
    };
    const tml_slot *in = tml_slot_of(tml, desc->in);
    job->values.from = vk_slot_address(in);
    job->one_pass = is_one_pass(desc, job, in->element_size);
    bool in_place = job->values.to == job->values.from;
    if (in_place)
        job->aside = vk_take(arena, job->values.room, job->values.size);

    job->passes = vk_passes_take(tml, &desc->length, arena);
    uint64_t part = TML_MIN_OF(bound, job->passes.items);
    if (job->one_pass) {
        job->states = vk_one_pass_states_take(arena, &job->passes);
    } else {
        job->bits = vk_keep_take(arena, part);
    }
    if (!job->one_pass || in_place || job->passes.count > 1)
        job->totals = vk_take(arena, job->passes.count + 1, sizeof(uint64_t));
    if (!tml_buffer_is_none(desc->lengths)) {
        job->lengths.next = vk_take(arena, 1, sizeof(uint64_t));
        job->ends = vk_take(arena, job->bits.tiles, sizeof(uint64_t));
    }
}

static vk_address total_at(const unique_job *job, uint64_t pass)
{
    return job->totals + pass * sizeof(uint64_t);
}

/* ---- single pass ----------------------------------------------------------------------------- */

static tml_status one_pass(tml_context *tml, const tml_unique_desc *desc, const unique_job *job)
{
    static const uint32_t specs[VK_KERNEL_SPECS] = {0};
    const tml_slot *count = tml_slot_of(tml, desc->count);
    vk_one_pass outputs = {
        .out = job->aside ? job->aside : job->values.to,
        .indices = job->starts.to,
        .room = job->values.to   ? job->values.room
                : job->starts.to ? job->starts.room
                                 : desc->length.count,
        .totals = job->totals,
        .states = job->states,
        .is_chained = job->totals != 0,
    };
    if (!outputs.is_chained && count) {
        outputs.totals = vk_slot_address(count);
        outputs.is_wide = count->type == TML_U64;
    }
    tml_status status = TML_OK;
    for (uint64_t p = 0; p < job->passes.count && status == TML_OK; p++) {
        uint64_t first = vk_pass_at(&job->passes, p).first;
        compact_args args = {.in = {job->values.from + first * sizeof(uint32_t)}};
        status = vk_one_pass_record(tml, &vk_shader_compact_heads, specs, &args, &outputs,
                                    &job->passes, p);
    }
    return status;
}

/* ---- by keep bits ---------------------------------------------------------------------------- */

static tml_status mark_heads(tml_context *tml, const unique_job *job, size_t size,
                             const vk_pass *pass, const vk_keep_bits *bits)
{
    vk_address in = job->values.from + pass->first * size;
    const heads_args args = {
        .in_at = in,
        .before = in - size,
        .bits = bits->words,
        .counts = bits->counts,
        .length_at = pass->length,
        .bound = pass->bound,
        .is_first = pass->first == 0,
    };
    return vk_keep_dispatch(tml,
                            &(vk_dispatch_info){
                                .module = &vk_shader_heads_keep,
                                .specs = {(uint32_t)size},
                                .args = &args,
                                .args_size = sizeof args,
                            },
                            pass, bits);
}

static tml_status move_runs(tml_context *tml, const unique_job *job, const vk_pass *pass,
                            const vk_keep_bits *bits, tml_buffer count)
{
    vk_column columns[] = {job->values, job->starts, job->lengths};
    if (job->aside)
        columns[0].to = job->aside;
    vk_move move = {.total = total_at(job, job->passes.count), .count = count};
    tml_status status = TML_OK;
    for (size_t c = 0; c < TML_ARRAY_SIZE(columns) && status == TML_OK; c++) {
        if (!columns[c].to)
            continue;
        status = vk_move_record(tml, &columns[c], pass, bits, &move);
        move.unordered = true;
        move.count = (tml_buffer){0};
    }
    return status;
}

/* Replaces the starts in lengths by lengths, part by part. */
static tml_status make_lengths(tml_context *tml, const unique_job *job)
{
    const vk_column *lengths = &job->lengths;
    tml_status status = TML_OK;
    for (uint64_t first = 0; first < lengths->room && status == TML_OK;
         first += job->passes.items) {
        uint64_t runs = TML_MIN_OF(lengths->room - first, job->passes.items);
        uint32_t tiles = (uint32_t)TML_CEIL_DIV(runs, TILE_ITEMS);
        const runs_args args = {
            .starts = lengths->to,
            .ends = job->ends,
            .runs = total_at(job, job->passes.count),
            .next = lengths->next,
            .total = job->passes.total,
            .total_low = (uint32_t)job->passes.bound,
            .total_high = (uint32_t)(job->passes.bound >> 32),
            .first_low = (uint32_t)first,
            .first_high = (uint32_t)(first >> 32),
            .room_low = (uint32_t)lengths->room,
            .room_high = (uint32_t)(lengths->room >> 32),
            .tiles = tiles,
        };
        vk_dispatch_info info = {
            .module = &vk_shader_run_ends,
            .spec_count = 1,
            .specs = {lengths->size == sizeof(uint64_t)},
            .args = &args,
            .args_size = sizeof args,
            .groups = TML_CEIL_DIV(tiles, VK_GROUP),
        };
        status = vk_dispatch(tml, &info);
        info.module = &vk_shader_run_lengths;
        info.groups = tiles;
        TML_THEN(status, vk_dispatch(tml, &info));
    }
    return status;
}

static tml_status by_bits(tml_context *tml, const tml_unique_desc *desc, const unique_job *job)
{
    size_t size = tml_slot_of(tml, desc->in)->element_size;
    tml_status status = TML_OK;
    for (uint64_t p = 0; p < job->passes.count && status == TML_OK; p++) {
        vk_pass pass = vk_pass_at(&job->passes, p);
        vk_keep_bits bits = vk_keep_of_pass(&job->bits, &pass, true);
        bits.totals = total_at(job, p);
        bits.is_first = p == 0;
        bool is_last = p + 1 == job->passes.count;
        status = mark_heads(tml, job, size, &pass, &bits);
        TML_THEN(status,
                 move_runs(tml, job, &pass, &bits, is_last ? desc->count : (tml_buffer){0}));
    }
    if (status == TML_OK && job->lengths.to)
        status = make_lengths(tml, job);
    return status;
}

/* ---- the operation --------------------------------------------------------------------------- */

static size_t unique_scratch_size(tml_context *tml, const void *desc)
{
    unique_job job;
    vk_arena arena = {0};
    vk_unique_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status unique_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_unique_desc *d = desc;
    unique_job job;
    vk_arena arena = vk_arena_of(scratch);
    vk_unique_lay_out(tml, d, &arena, &job);
    tml_status status = vk_passes_begin(tml, &d->length, &job.passes);
    TML_THEN(status, job.one_pass ? one_pass(tml, d, &job) : by_bits(tml, d, &job));
    vk_address total = total_at(&job, job.passes.count);
    if (status == TML_OK && job.aside)
        status =
            vk_copy_counted(tml, job.values.to, job.aside, job.values.size, job.values.room, total);
    bool has_outputs = job.values.to || job.starts.to || job.lengths.to;
    bool is_stored = !job.totals || (!job.one_pass && has_outputs);
    return status || is_stored ? status : vk_store_count(tml, d->count, total);
}

const tml_engine_op vk_op_unique = {NULL, unique_scratch_size, unique_run};
