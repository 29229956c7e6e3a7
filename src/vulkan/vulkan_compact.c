/* Compact and partition on the Vulkan engine.
 *
 *   LOOK_BACK         single-pass scan with decoupled look-back, one dispatch
 *                     (shaders/compact.glsl): a kernel, flags or a mask selects 4-byte elements of
 *                     one array, their u32 positions, or both, or only counts them. All other calls
 *                     use
 *   REDUCE_THEN_SCAN  keep bits and a count for each tile; an exclusive scan of the counts (done by
 *                     the last workgroup of the preceding dispatch instead, 2^28 elements took 1.1
 *                     times as long); then one dispatch per array, which moves its kept elements.
 *
 * Partition works alike, but uses LOOK_BACK only for short streams; the rejected elements begin at
 * the total count.
 *
 * In place, kept elements go to scratch and are copied back at the end. A workgroup may count the
 * elements of a preceding tile again (fallback), so inputs must not change during a pass.
 *
 * HISTOPYRAMID is in vulkan_locate.c.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "vulkan/vulkan_compact.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan/vulkan_locate.h"
#include "vulkan_shaders.h"

enum { MAX_COLUMNS = TML_MAX_PAYLOADS + 1 };

/* ---- moving ---------------------------------------------------------------------------------- */

tml_status vk_move_record(tml_context *tml, const vk_column *column, const vk_pass *pass,
                          const vk_keep_bits *bits, const vk_move *move)
{
    const tml_slot *count = tml_slot_of(tml, move->count);
    const move_args args = {
        .from = column->from ? column->from + pass->first * column->size : 0,
        .to = column->to,
        .words = bits->words,
        .places = bits->counts,
        .base = bits->is_first ? 0 : bits->totals,
        .total = move->total,
        .count = vk_address_of(tml, move->count),
        .next = column->next,
        .length_at = pass->length,
        .first_low = (uint32_t)pass->first,
        .first_high = (uint32_t)(pass->first >> 32),
        .room_low = (uint32_t)column->room,
        .room_high = (uint32_t)(column->room >> 32),
        .bound = pass->bound,
        .is_wide = count && count->type == TML_U64,
    };
    uint32_t kind = !column->from           ? MOVE_KIND_INDEX
                    : column->size % 4 == 0 ? MOVE_KIND_WORDS
                                            : MOVE_KIND_BYTES;
    bool by_rows = column->size == 4 && !args.next;
    return vk_dispatch(
        tml,
        &(vk_dispatch_info){
            .module = by_rows ? &vk_shader_move_rows : &vk_shader_move,
            .spec_count = 3,
            .specs = {[MOVE_SIZE] = column->size, [MOVE_KIND] = kind, [MOVE_BOTH] = move->is_both},
            .args = &args,
            .args_size = sizeof args,
            .groups = bits->tiles,
            .indirect = vk_pass_grid(pass, TILE_ITEMS),
            .unordered = move->unordered,
        });
}

tml_status vk_copy_counted(tml_context *tml, vk_address to, vk_address from, uint32_t size,
                           uint64_t room, vk_address count)
{
    const uint64_t part = COPY_COUNTED_PART;
    uint64_t bytes = room * size;
    tml_status status = TML_OK;
    for (uint64_t first = 0; first < bytes && status == TML_OK; first += part) {
        uint64_t words = (TML_MIN_OF(bytes - first, part) + 3) / 4;
        const copy_counted_args args = {
            .to = to,
            .from = from,
            .count = count,
            .size = size,
            .first_low = (uint32_t)first,
            .first_high = (uint32_t)(first >> 32),
            .room_low = (uint32_t)bytes,
            .room_high = (uint32_t)(bytes >> 32),
        };
        status = vk_dispatch(tml, &(vk_dispatch_info){
                                      .module = &vk_shader_copy_counted,
                                      .args = &args,
                                      .args_size = sizeof args,
                                      .groups = TML_CEIL_DIV(words, VK_GROUP),
                                      .unordered = first > 0,
                                  });
    }
    return status;
}

/* ---- single pass ----------------------------------------------------------------------------- */

/* The shader's capacity has 32 bits, and UINT32_MAX means that there is no limit. */
bool vk_one_pass_fits(uint64_t bound, uint64_t room)
{
    return room >= bound || room < UINT32_MAX;
}

static uint32_t state_words(uint64_t bound)
{
    return (uint32_t)(STATES_FIRST + vk_keep_tiles(bound));
}

vk_address vk_one_pass_states_take(vk_arena *arena, const vk_passes *passes)
{
    return vk_take(arena, state_words(TML_MIN_OF(passes->bound, passes->items)), sizeof(uint32_t));
}

tml_status vk_one_pass_record(tml_context *tml, const vk_module *module,
                              const uint32_t specs[VK_KERNEL_SPECS], struct compact_args *args,
                              const vk_one_pass *outputs, const vk_passes *passes, uint64_t number)
{
    vk_pass pass = vk_pass_at(passes, number);
    uint64_t tiles = vk_keep_tiles(pass.bound);
    vk_states states;
    tml_status status = vk_take_states(tml, state_words(pass.bound), outputs->states, &states);
    if (status != TML_OK)
        return status;
    args->out_at = outputs->out;
    args->indices = outputs->indices;
    args->states = states.words;
    args->clear = states.clear;
    args->clear_count = states.clear_count;
    args->in[3] = states.stalled;
    args->totals = outputs->totals + (outputs->is_chained ? number * sizeof(uint64_t) : 0);
    args->length_at = pass.length;
    args->values.first_index = (uint32_t)pass.first;
    args->bound = pass.bound;
    bool is_limited = outputs->has_first || outputs->room < passes->bound;
    args->capacity = is_limited ? (uint32_t)outputs->room : UINT32_MAX;
    vk_dispatch_info info = {
        .module = module,
        .spec_count = COMPACT_SPECS,
        .specs = {[COMPACT_OUT] = outputs->out != 0,
                  [COMPACT_INDICES] = outputs->indices != 0,
                  [COMPACT_TOTALS] = !outputs->is_chained                 ? TOTALS_ALONE
                                     : number == 0 && !outputs->has_first ? TOTALS_FIRST
                                                                          : TOTALS_LATER,
                  [COMPACT_WIDE] = outputs->is_wide,
                  [COMPACT_BOTH] = outputs->is_both},
        .look = outputs->is_both ? LOOK_PARTITION : LOOK_COMPACT,
        .args = args,
        .args_size = sizeof *args,
        .groups = tiles,
        .indirect = vk_pass_grid(&pass, TILE_ITEMS),
    };
    for (uint32_t s = 0; s < VK_KERNEL_SPECS; s++)
        info.specs[s] = specs[s];
    return vk_dispatch(tml, &info);
}

/* ---- plan ------------------------------------------------------------------------------------ */

typedef struct compact_job {
    vk_column columns[MAX_COLUMNS];
    vk_address aside[MAX_COLUMNS]; /* in place: the kept elements, copied back at the end */
    uint32_t column_count;
    bool in_place;
    bool is_both; /* a partition */
    bool one_pass;
    bool has_first; /* outputs begin at the first of totals */
    vk_passes passes;
    vk_address states; /* one_pass, while recording */
    vk_address params; /* the kernel's, if it uses their matrix */
    vk_keep_bits bits;
    vk_address totals; /* u64, passes + 1: where each pass's outputs begin, and the end of all */
} compact_job;

static void add_column(compact_job *job, vk_address from, const tml_slot *out)
{
    job->columns[job->column_count++] = (vk_column){
        .from = from,
        .to = vk_slot_address(out),
        .room = out->count,
        .size = (uint32_t)out->element_size,
    };
}

/* The kernel's only array, if its elements have 4 bytes and the type that the kernel declares; else
 * 0. */
static vk_address kernel_elements(tml_context *tml, const tml_keep *keep)
{
    const tml_kernel *kernel = keep->kernel;
    uint32_t arrays = 0, type = TML_TYPE_NONE;
    for (uint32_t p = 0; p < kernel->param_count; p++) {
        if (tml_param_is_array(kernel->params[p])) {
            type = kernel->params[p];
            arrays++;
        }
    }
    const tml_slot *slot = tml_slot_of(tml, keep->in[0]);
    bool fits = arrays == 1 && slot->type == type &&
                (type == TML_F32 || type == TML_U32 || type == TML_I32);
    return fits ? vk_slot_address(slot) : 0;
}

/* At most so many tiles make a short stream: all of them are resident, and one invocation waits for
 * each. */
static uint64_t short_tiles(tml_context *tml)
{
    return TML_MIN_OF(vk_caps_of(tml)->resident, (uint32_t)VK_GROUP);
}

static bool is_one_pass(tml_context *tml, const tml_compact_desc *desc, const compact_job *job)
{
    bool has_indices = !tml_buffer_is_none(desc->indices);
    uint32_t payload_count = job->column_count - has_indices;
    uint64_t bound = desc->length.count;
    if (desc->method != TML_METHOD_LOOK_BACK || payload_count > 1)
        return false;
    /* If outputs begin at 0, a capacity above the bound is equivalent to the bound. */
    uint64_t most = job->has_first ? UINT64_MAX : bound;
    uint64_t room = job->column_count ? TML_MIN_OF(job->columns[0].room, most) : 0;
    for (uint32_t c = 0; c < job->column_count; c++)
        if (job->columns[c].size != 4 || TML_MIN_OF(job->columns[c].room, most) != room)
            return false;
    if (desc->keep.kernel) {
        vk_address elements = kernel_elements(tml, &desc->keep);
        vk_address in = payload_count ? job->columns[0].from : 0;
        if (!elements || (in && in != elements))
            return false;
    }
    if (job->is_both)
        return job->passes.count == 1 && vk_keep_tiles(bound) <= short_tiles(tml);
    return vk_one_pass_fits(most, room);
}

static void vk_compact_lay_out(tml_context *tml, const tml_compact_desc *desc, vk_arena *arena,
                               compact_job *job)
{
    *job = (compact_job){.is_both = desc->partition,
                         .has_first = !tml_buffer_is_none(desc->out_first)};
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !tml_buffer_is_none(desc->payloads[p].in); p++)
        add_column(job, vk_address_of(tml, desc->payloads[p].in),
                   tml_slot_of(tml, desc->payloads[p].out));
    if (!tml_buffer_is_none(desc->indices))
        add_column(job, 0, tml_slot_of(tml, desc->indices));
    job->passes = vk_passes_take(tml, &desc->length, arena);
    job->one_pass = is_one_pass(tml, desc, job);

    uint64_t bound = desc->length.count;
    for (uint32_t c = 0; c < job->column_count; c++) {
        vk_column *column = &job->columns[c];
        if (column->from == column->to) {
            job->in_place = true;
            job->aside[c] = vk_take(arena, TML_MIN_OF(column->room, bound), column->size);
        }
    }
    job->params = vk_params_take(desc->keep.kernel, arena);
    if (job->one_pass) {
        job->states = vk_one_pass_states_take(arena, &job->passes);
    } else {
        uint64_t items = desc->partition ? bound : TML_MIN_OF(bound, job->passes.items);
        job->bits = vk_keep_take(arena, items);
    }
    if (!job->one_pass || job->in_place || job->has_first || job->passes.count > 1)
        job->totals = vk_take(arena, job->passes.count + 1, sizeof(uint64_t));
}

/* ---- running --------------------------------------------------------------------------------- */

static vk_address total_at(const compact_job *job, uint64_t pass)
{
    return job->totals + pass * sizeof(uint64_t);
}

static tml_status one_pass(tml_context *tml, const tml_compact_desc *desc, const compact_job *job)
{
    const tml_keep *keep = &desc->keep;
    const tml_slot *count = tml_slot_of(tml, desc->count);
    vk_one_pass outputs = {.totals = job->totals,
                           .states = job->states,
                           .is_chained = job->totals != 0,
                           .has_first = job->has_first,
                           .is_both = job->is_both,
                           .room = UINT64_MAX};
    if (!outputs.is_chained && count) {
        outputs.totals = vk_slot_address(count);
        outputs.is_wide = count->type == TML_U64;
    }
    vk_address in = 0;
    for (uint32_t c = 0; c < job->column_count; c++) {
        const vk_column *column = &job->columns[c];
        outputs.room = column->room;
        if (column->from) {
            in = column->from;
            outputs.out = job->aside[c] ? job->aside[c] : column->to;
        } else {
            outputs.indices = column->to;
        }
    }

    uint32_t specs[VK_KERNEL_SPECS] = {0};
    const vk_kernel_use use = vk_keep_use(keep, job->params);
    const vk_module *module =
        tml_buffer_is_none(keep->flags) ? &vk_shader_compact_mask : &vk_shader_compact_flags;
    tml_status status = TML_OK;
    if (keep->kernel) {
        status = vk_kernel_module(tml, keep->kernel, VK_KERNEL_COMPACT, &module);
        vk_kernel_specs(tml, keep->kernel, keep->in, specs);
    }
    for (uint64_t p = 0; p < job->passes.count && status == TML_OK; p++) {
        uint64_t first = vk_pass_at(&job->passes, p).first;
        compact_args args = {.in = {in ? in + first * sizeof(uint32_t) : 0}};
        if (keep->kernel)
            vk_kernel_args(tml, &use, first, args.in, &args.values, NULL);
        else if (!tml_buffer_is_none(keep->flags))
            args.in[1] = vk_address_of(tml, keep->flags) + first;
        else
            args.in[1] = vk_address_of(tml, keep->mask) + first / 8;
        status = vk_one_pass_record(tml, module, specs, &args, &outputs, &job->passes, p);
    }
    return status;
}

/* A pass's keep bits. A partition moves elements after the last pass's bits, so it keeps all. */
static vk_keep_bits bits_of(const compact_job *job, const vk_pass *pass, uint64_t number)
{
    vk_keep_bits bits = vk_keep_of_pass(&job->bits, pass, !job->is_both);
    bits.totals = total_at(job, number);
    bits.is_first = number == 0 && !job->has_first;
    return bits;
}

/* Moves a pass's elements; the last dispatch's pass also stores the count. */
static tml_status move_pass(tml_context *tml, const tml_compact_desc *desc, const compact_job *job,
                            uint64_t p)
{
    vk_pass pass = vk_pass_at(&job->passes, p);
    vk_keep_bits bits = bits_of(job, &pass, p);
    vk_move move = {.total = total_at(job, job->passes.count), .is_both = job->is_both};
    if (p + 1 == job->passes.count)
        move.count = desc->count;
    tml_status status = TML_OK;
    for (uint32_t c = 0; c < job->column_count && status == TML_OK; c++) {
        vk_column column = job->columns[c];
        if (job->aside[c])
            column.to = job->aside[c];
        status = vk_move_record(tml, &column, &pass, &bits, &move);
        move.unordered = true;
        move.count = (tml_buffer){0};
    }
    return status;
}

static tml_status vk_compact_reduce_then_scan(tml_context *tml, const tml_compact_desc *desc,
                                              const compact_job *job)
{
    tml_status status = TML_OK;
    for (uint64_t p = 0; p < job->passes.count && status == TML_OK; p++) {
        vk_pass pass = vk_pass_at(&job->passes, p);
        vk_keep_bits bits = bits_of(job, &pass, p);
        status = vk_keep_record(tml, &desc->keep, job->params, &pass, &bits);
        if (status == TML_OK && !job->is_both)
            status = move_pass(tml, desc, job, p);
    }
    for (uint64_t p = 0; p < job->passes.count && status == TML_OK && job->is_both; p++)
        status = move_pass(tml, desc, job, p);
    return status;
}

static tml_status vk_compact_run(tml_context *tml, const tml_compact_desc *desc, void *scratch)
{
    compact_job job;
    vk_arena arena = vk_arena_of(scratch);
    vk_compact_lay_out(tml, desc, &arena, &job);
    tml_status status = tml_buffer_is_none(desc->count) /* which may be in the length's buffer */
                            ? vk_passes_lend(tml, &desc->length, &job.passes)
                            : vk_passes_begin(tml, &desc->length, &job.passes);
    if (status == TML_OK && job.has_first)
        status = vk_first_read(tml, desc->out_first, job.totals);
    TML_THEN(status, vk_params_store(tml, &desc->keep.params, NULL, job.params));
    if (status == TML_OK)
        status =
            job.one_pass ? one_pass(tml, desc, &job) : vk_compact_reduce_then_scan(tml, desc, &job);
    vk_address total = total_at(&job, job.passes.count);
    for (uint32_t c = 0; c < job.column_count && status == TML_OK; c++) {
        const vk_column *column = &job.columns[c];
        if (job.aside[c])
            status = vk_copy_counted(tml, column->to, job.aside[c], column->size,
                                     TML_MIN_OF(column->room, desc->length.count), total);
    }
    bool is_stored = !job.totals || (!job.one_pass && job.column_count > 0);
    return status || is_stored ? status : vk_store_count(tml, desc->count, total);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_supported(tml_context *tml, const void *desc)
{
    const tml_compact_desc *d = desc;
    return d->method == TML_METHOD_HISTOPYRAMID ? vk_locate_compact_supports(tml, d)
                                                : vk_keep_supported(tml, &d->keep);
}

static size_t compact_scratch_size(tml_context *tml, const void *argument)
{
    const tml_compact_desc *desc = argument;
    if (desc->method == TML_METHOD_HISTOPYRAMID)
        return vk_locate_compact_scratch_size(tml, desc);
    compact_job job;
    vk_arena arena = {0};
    vk_compact_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status compact_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)size;
    const tml_compact_desc *d = desc;
    return d->method == TML_METHOD_HISTOPYRAMID ? vk_locate_compact(tml, d, scratch)
                                                : vk_compact_run(tml, d, scratch);
}

const tml_engine_op vk_op_compact = {is_supported, compact_scratch_size, compact_run};
