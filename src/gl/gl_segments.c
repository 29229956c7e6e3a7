/* Segmented reduce and scan on OpenGL ES.
 *
 * Blocks of 2^k elements are counted from each segment's first element. If segments do not overlap,
 * at most one such block ends within any 2^k consecutive elements. So each whole block has a texel
 * of its own, without a list (shaders/fold_blocks.frag), and the work is proportional to the number
 * of elements. If offsets decrease, some blocks are never drawn; nothing else depends on the order
 * of offsets. */
#include <stdio.h>

#include "gl/gl_fold.h"
#include "gl/gl_scan.h"
#include "gl/gl_segments.h"
#include "gl_shaders.h"

static const gl_texture *offsets_of(const tml_context *tml, tml_buffer offsets)
{
    return gl_texture_of(tml, offsets);
}

static uint64_t segments_in(const tml_context *tml, tml_buffer offsets)
{
    return tml_slot_of(tml, offsets)->count - 1;
}

static const char *offset_defines(const tml_context *tml, tml_buffer offsets, bool are_starts)
{
    static const char *const defines[2][2] = {
        {"#define SEGMENTED\n", "#define SEGMENTED\n#define OFFSETS_WIDE\n"},
        {"#define SEGMENTED\n#define STARTS\n",
         "#define SEGMENTED\n#define STARTS\n#define OFFSETS_WIDE\n"}};
    return defines[are_starts][tml_slot_of(tml, offsets)->type == TML_U64];
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static bool has_starts(const tml_reduce_desc *desc)
{
    return !tml_buffer_is_none(desc->segments.starts);
}

static uint64_t most_segments(const tml_context *tml, const tml_reduce_desc *desc)
{
    return has_starts(desc) ? desc->segments.count.count : segments_in(tml, desc->segments.offsets);
}

static bool fold_bind_segments(tml_context *tml, const tml_reduce_desc *desc, gl_fold *fold)
{
    tml_buffer offsets = has_starts(desc) ? desc->segments.starts : desc->segments.offsets;
    uint64_t elements = desc->length.count;
    bool is_supported = gl_fold_bind(tml, desc->folds[0].fold, desc->in, elements,
                                     tml_slot_of(tml, desc->folds[0].out)->type, fold);
    fold->segmented = offset_defines(tml, offsets, has_starts(desc));
    fold->offsets = (gl_input){"offsets", offsets_of(tml, offsets)};
    fold->segment_count = (gl_uniform)GL_UINT("segment_count", (uint32_t)most_segments(tml, desc));
    fold->segment_elements = (gl_uniform)GL_UINT("segment_elements", (uint32_t)elements);
    if (has_starts(desc)) {
        fold->counts = (gl_input){"counts", gl_texture_of(tml, desc->segments.count.device)};
        fold->ends = (gl_input){"ends", gl_texture_of(tml, desc->length.device)};
        fold->count_place = gl_length_place(tml, "count_place", &desc->segments.count);
        fold->end_place = gl_length_place(tml, "end_place", &desc->length);
    }
    return is_supported;
}

static bool reduce_segments_supports(tml_context *tml, const tml_reduce_desc *desc)
{
    gl_fold fold;
    return fold_bind_segments(tml, desc, &fold);
}

static tml_status reduce_segments_run(tml_context *tml, const tml_reduce_desc *desc)
{
    uint64_t segments = most_segments(tml, desc);
    if (segments == 0)
        return TML_OK;
    gl_fold fold;
    fold_bind_segments(tml, desc, &fold);
    const gl_texture *results;
    tml_status status = gl_fold_blocks(tml, &fold, 1);
    TML_THEN(status, gl_fold_results(tml, &fold, NULL, segments, &results));
    return status == TML_OK ? gl_store_results(tml, results, segments,
                                               has_starts(desc) ? &desc->segments.count : NULL,
                                               desc->folds[0].out)
                            : status;
}

GL_OP(reduce_segments, tml_reduce_desc, reduce_segments_supports, reduce_segments_run)

/* ---- first elements of segments -------------------------------------------------------------- */

enum { WINDOW = 64 }; /* as in segments_*.frag */

gl_segments gl_segments_of(const tml_context *tml, tml_buffer offsets, uint64_t elements)
{
    uint64_t segments = segments_in(tml, offsets);
    return (gl_segments){
        .defines = offset_defines(tml, offsets, false),
        .offsets = {"offsets", offsets_of(tml, offsets)},
        .count = GL_UINT("segment_count", (uint32_t)segments),
        .elements = GL_UINT("segment_elements", (uint32_t)elements),
        .segments = segments,
        .element_count = elements,
    };
}

gl_segments gl_segments_of_starts(const tml_context *tml, tml_buffer starts,
                                  const tml_length *count, const tml_length *length)
{
    return (gl_segments){
        .defines = offset_defines(tml, starts, true),
        .offsets = {"offsets", offsets_of(tml, starts)},
        .counts = {"counts", gl_texture_of(tml, count->device)},
        .ends = {"ends", gl_texture_of(tml, length->device)},
        .count = GL_UINT("segment_count", (uint32_t)count->count),
        .elements = GL_UINT("segment_elements", (uint32_t)length->count),
        .count_place = gl_length_place(tml, "count_place", count),
        .end_place = gl_length_place(tml, "end_place", length),
        .segments = count->count,
        .element_count = length->count,
    };
}

/* By bisection, first for every 64th element, then between those. */
tml_status gl_segments_begins(tml_context *tml, const gl_segments *segments,
                              const gl_texture *begins)
{
    uint64_t windows = segments->element_count / WINDOW + 2; /* one past the last element's */
    const tml_length all = {.count = segments->element_count};
    const gl_texture *at;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, windows, &at);
    TML_THEN(status,
             gl_draw(tml, &(gl_draw_info){
                              .shader = &gl_shader_segments_windows,
                              .defines = segments->defines,
                              .inputs = {segments->offsets, segments->counts, segments->ends},
                              .uniforms = {segments->count, segments->elements,
                                           segments->count_place, segments->end_place},
                              .targets = {at},
                              .count = windows,
                          }));
    TML_THEN(
        status,
        gl_draw(
            tml,
            &(gl_draw_info){
                .shader = &gl_shader_segments_begins,
                .defines = segments->defines,
                .length = segments->length ? segments->length : &all,
                .inputs = {segments->offsets, {"windows", at}, segments->counts, segments->ends},
                .uniforms = {segments->count, segments->elements, segments->count_place,
                             segments->end_place},
                .targets = {begins},
                .count = segments->element_count,
            }));
    gl_release(tml, at);
    return status;
}

/* ---- scan ------------------------------------------------------------------------------------ */

static bool scan_segments_supports(tml_context *tml, const tml_scan_desc *desc)
{
    gl_scan scan;
    return gl_scan_bind(tml, desc->in, desc->length.count, desc->out, &scan);
}

/* Draws the carries of the segments' blocks; for integers, the inclusive scan of the whole
 * array. */
static tml_status prepare_scan(tml_context *tml, const gl_segments *view, const gl_texture *begins,
                               gl_scan *scan, gl_sums *scanned)
{
    *scanned = (gl_sums){NULL, NULL};
    if (scan->is_float) {
        scan->segmented = view->defines;
        scan->offsets = view->offsets;
        scan->begins = (gl_input){"begins", begins};
        scan->segment_count = view->count;
        scan->segment_elements = view->elements;
    }
    tml_status status = gl_scan_carries(tml, scan);
    return status == TML_OK && !scan->is_float ? gl_scan_elements(tml, scan, true, scanned)
                                               : status;
}

static tml_status store_scan(tml_context *tml, const tml_scan_desc *desc, const gl_segments *view,
                             const gl_texture *begins, const gl_scan *scan, const gl_sums *scanned)
{
    const tml_slot *out = tml_slot_of(tml, desc->out);
    char defines[GL_SCAN_DEFINES + 128];
    snprintf(defines, sizeof defines, "%s%s#define LEVELS %u\n", scan->constants, view->defines,
             scan->level_count);
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_scan_segments,
                 .defines = defines,
                 .inputs = {{"elements", scan->in},
                            {"carries", scan->carries.low},
                            {"carries_high", scan->carries.high},
                            {"scanned", scanned->low},
                            {"scanned_high", scanned->high},
                            {"begins", begins},
                            view->offsets},
                 .uniforms = {GL_UINT("inclusive", desc->inclusive), view->count, view->elements},
                 .targets = {gl_slot_texture(out)},
                 .count = gl_words(view->element_count, out->element_size),
                 .in_place = scan->is_float && gl_slot_texture(out) == scan->in,
             });
}

static tml_status scan_segments_run(tml_context *tml, const tml_scan_desc *desc)
{
    gl_segments view = gl_segments_of(tml, desc->segments.offsets, desc->length.count);
    if (view.segments == 0 || view.element_count == 0)
        return TML_OK;
    gl_scan scan;
    gl_scan_bind(tml, desc->in, view.element_count, desc->out, &scan);
    const gl_texture *begins;
    gl_sums scanned;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, view.element_count, &begins);
    TML_THEN(status, gl_segments_begins(tml, &view, begins));
    TML_THEN(status, prepare_scan(tml, &view, begins, &scan, &scanned));
    return status == TML_OK ? store_scan(tml, desc, &view, begins, &scan, &scanned) : status;
}

GL_OP(scan_segments, tml_scan_desc, scan_segments_supports, scan_segments_run)
