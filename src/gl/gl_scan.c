/* Scan on OpenGL ES, by HISTOPYRAMID. Upsweep: the sums of blocks, level by level. Downsweep: the
 * blocks' carries, level by level. Then the sums of four elements at a time from the carries, and
 * finally the output's words.
 *
 * After: Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids.
 * 2006. */
#include "gl/gl_scan.h"

#include <stdio.h>

#include "gl/gl_fold.h"
#include "gl_shaders.h"

enum { BLOCK_LOG2 = 2, FAN_LOG2 = 4, QUAD = 4 }; /* as in gl_scan.glsl */

static uint32_t level_log2(uint32_t l)
{
    return BLOCK_LOG2 + l * FAN_LOG2;
}

void gl_scan_bind_words(const gl_texture *in, tml_type in_type, uint64_t elements,
                        tml_type out_type, gl_scan *scan)
{
    *scan = (gl_scan){
        .segmented = "",
        .in = in,
        .elements = elements,
        .is_wide = tml_type_size(out_type) == 8,
        .is_float = tml_type_is_float(out_type),
    };
    for (uint32_t l = 0; elements >> level_log2(l); l++)
        scan->level_count++;
    snprintf(scan->constants, sizeof scan->constants,
             "%s#define SUM_BITS %u\n#define SIZE_LOG2 %u\n#define IS_SIGNED %s\n",
             scan->is_float ? "#define SUM_FLOAT\n" : "", scan->is_wide ? 64 : 32,
             (unsigned)__builtin_ctzll(tml_type_size(in_type)),
             tml_type_is_signed(in_type) ? "true" : "false");
}

bool gl_scan_bind(tml_context *tml, tml_buffer in, uint64_t elements, tml_buffer out, gl_scan *scan)
{
    const tml_slot *from = tml_slot_of(tml, in), *to = tml_slot_of(tml, out);
    gl_scan_bind_words(gl_slot_texture(from), from->type, elements, to->type, scan);
    return to->type != TML_F64 && scan->level_count <= GL_SCAN_LEVELS;
}

static tml_status take_sums(tml_context *tml, const gl_scan *scan, uint64_t texels, gl_sums *out)
{
    *out = (gl_sums){NULL, NULL};
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, texels, &out->low);
    return status == TML_OK && scan->is_wide
               ? gl_temporary(tml, GL_FORMAT_QUADS, texels, &out->high)
               : status;
}

static void release_sums(tml_context *tml, gl_sums *sums)
{
    gl_release(tml, sums->low);
    gl_release(tml, sums->high);
    *sums = (gl_sums){NULL, NULL};
}

/* Texels of a level's sums. With segments, a block's texel is at the position of the block's end,
 * and blocks that are not whole count as well. */
static uint64_t level_texels(const gl_scan *scan, uint32_t l)
{
    uint64_t size = (uint64_t)1 << level_log2(l);
    uint64_t blocks = (scan->elements + (scan->segmented[0] ? size - 1 : 0)) / size;
    return TML_CEIL_DIV(blocks, QUAD);
}

/* Draws with the inputs of every scan shader, and with the inputs and defines of info. */
static tml_status draw_sums(tml_context *tml, const gl_scan *scan, uint32_t level,
                            const char *defines, gl_sums out, uint64_t texels, gl_draw_info info)
{
    char text[GL_SCAN_DEFINES + 128];
    snprintf(text, sizeof text, "%s%s%s", scan->constants, scan->segmented, defines);
    uint32_t inputs = 0, uniforms = 0;
    while (info.inputs[inputs].name)
        inputs++;
    while (info.uniforms[uniforms].name)
        uniforms++;
    info.uniforms[uniforms++] = (gl_uniform)GL_UINT("level", level);
    if (scan->segmented[0]) {
        info.inputs[inputs++] = scan->offsets;
        info.inputs[inputs++] = scan->begins;
        info.uniforms[uniforms++] = scan->segment_count;
        info.uniforms[uniforms++] = scan->segment_elements;
    }
    info.defines = text;
    info.targets[0] = out.low;
    info.targets[1] = out.high;
    info.count = texels;
    return gl_draw(tml, &info);
}

static tml_status draw_level_sums(tml_context *tml, const gl_scan *scan, uint32_t l,
                                  gl_sums sums[GL_SCAN_LEVELS])
{
    uint64_t texels = level_texels(scan, l);
    tml_status status = take_sums(tml, scan, texels, &sums[l]);
    if (status != TML_OK)
        return status;
    gl_sums below = l ? sums[l - 1] : (gl_sums){scan->in, NULL};
    return draw_sums(tml, scan, level_log2(l), l ? "#define FROM_SUMS\n" : "", sums[l], texels,
                     (gl_draw_info){
                         .shader = &gl_shader_scan_sums,
                         .inputs = {{"below", below.low}, {"below_high", below.high}},
                     });
}

/* Replaces above, the carries of the level above, by those of level l. */
static tml_status draw_level_carries(tml_context *tml, const gl_scan *scan, uint32_t l,
                                     gl_sums sums, gl_sums *above)
{
    gl_sums carries;
    uint64_t texels = level_texels(scan, l);
    tml_status status = take_sums(tml, scan, texels, &carries);
    if (status == TML_OK)
        status =
            draw_sums(tml, scan, level_log2(l), above->low ? "" : "#define TOP\n", carries, texels,
                      (gl_draw_info){
                          .shader = &gl_shader_scan_carries,
                          .inputs = {{"level_sums", sums.low},
                                     {"level_sums_high", sums.high},
                                     {"above", above->low},
                                     {"above_high", above->high}},
                      });
    release_sums(tml, above);
    *above = carries;
    return status;
}

tml_status gl_scan_carries(tml_context *tml, gl_scan *scan)
{
    gl_sums sums[GL_SCAN_LEVELS] = {{NULL, NULL}};
    tml_status status = TML_OK;
    for (uint32_t l = 0; l < scan->level_count && status == TML_OK; l++)
        status = draw_level_sums(tml, scan, l, sums);
    for (uint32_t l = scan->level_count; l-- > 0 && status == TML_OK;) {
        status = draw_level_carries(tml, scan, l, sums[l], &scan->carries);
        release_sums(tml, &sums[l]);
    }
    return status;
}

static tml_status draw_elements(tml_context *tml, const gl_scan *scan, const char *defines,
                                bool inclusive, const tml_length *length, gl_sums out,
                                uint64_t texels)
{
    char text[96];
    snprintf(text, sizeof text, "#define LEVELS %u\n%s%s", scan->level_count, defines,
             scan->start ? "#define START\n" : "");
    return draw_sums(tml, scan, 0, text, out, texels,
                     (gl_draw_info){
                         .shader = &gl_shader_scan_elements,
                         .length = length,
                         .inputs = {{"elements", scan->in},
                                    {"carries", scan->carries.low},
                                    {"carries_high", scan->carries.high},
                                    {"start", scan->start}},
                         .uniforms = {GL_UINT("inclusive", inclusive)},
                     });
}

tml_status gl_scan_elements(tml_context *tml, const gl_scan *scan, bool inclusive, gl_sums *out)
{
    uint64_t texels = TML_CEIL_DIV(scan->elements, QUAD);
    tml_status status = take_sums(tml, scan, texels, out);
    return status != TML_OK ? status : draw_elements(tml, scan, "", inclusive, NULL, *out, texels);
}

/* ---- tml_scan -------------------------------------------------------------------------------- */

/* Scans for the smallest or the largest compare codes, which are integers of the numbers' size. */
static bool bind(tml_context *tml, const tml_scan_resolved *r, gl_scan *scan)
{
    const tml_scan_desc *desc = &r->desc;
    bool can_add = gl_scan_bind(tml, desc->in, desc->length.count, desc->out, scan);
    scan->start = gl_texture_of(tml, desc->start);
    if (desc->fold == TML_FOLD_SUM)
        return can_add;
    const uint64_t codes[] = {r->flip, r->real_flip, r->least};
    static const char *const names[] = {"FLIP", "REAL_FLIP", "LEAST"};
    scan->is_float = false;
    int n = snprintf(scan->constants, sizeof scan->constants,
                     "#define SUM_MOST\n#define SUM_BITS %u\n#define SIZE_LOG2 %u\n"
                     "#define IS_SIGNED false\n",
                     scan->is_wide ? 64 : 32,
                     (unsigned)__builtin_ctzll(tml_slot_of(tml, desc->in)->element_size));
    for (size_t i = 0; i < TML_ARRAY_SIZE(codes); i++)
        n += snprintf(scan->constants + n, sizeof scan->constants - (size_t)n,
                      "#define %s uvec2(%uu, %uu)\n", names[i], (unsigned)codes[i],
                      (unsigned)(codes[i] >> 32));
    return scan->level_count <= GL_SCAN_LEVELS;
}

static tml_status store_total(tml_context *tml, const gl_scan *scan, const tml_length *length,
                              tml_buffer total)
{
    gl_sums sum;
    tml_status status = take_sums(tml, scan, 1, &sum);
    TML_THEN(status, draw_elements(tml, scan, "#define TOTAL\n", false, length, sum, 1));
    return status == TML_OK ? gl_store_results(tml, sum.low, 1, NULL, total) : status;
}

static tml_status scan_run(tml_context *tml, const tml_scan_resolved *resolved)
{
    const tml_scan_desc *desc = &resolved->desc;
    const tml_slot *out = tml_slot_of(tml, desc->out);
    gl_scan scan;
    gl_sums scanned;
    bind(tml, resolved, &scan);
    tml_status status = gl_scan_carries(tml, &scan);
    TML_THEN(status, gl_scan_elements(tml, &scan, desc->inclusive, &scanned));
    if (status == TML_OK && !tml_buffer_is_none(desc->total)) /* before "in" may be overwritten */
        status = store_total(tml, &scan, &desc->length, desc->total);
    return status != TML_OK
               ? status
               : gl_draw(tml,
                         &(gl_draw_info){
                             .shader = &gl_shader_scan_store,
                             .defines = scan.constants,
                             .length = &desc->length,
                             .inputs = {{"scanned", scanned.low}, {"scanned_high", scanned.high}},
                             .targets = {gl_slot_texture(out)},
                             .count = gl_words(scan.elements, out->element_size),
                         });
}

static bool scan_supports(tml_context *tml, const tml_scan_resolved *resolved)
{
    gl_scan scan;
    return resolved->desc.method == TML_METHOD_HISTOPYRAMID && bind(tml, resolved, &scan);
}

GL_OP(scan, tml_scan_resolved, scan_supports, scan_run)
