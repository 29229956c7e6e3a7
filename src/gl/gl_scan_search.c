/* SCAN_SEARCH on OpenGL ES: running counts by the scan of Hillis and Steele, whose passes are plain
 * gathers, then a binary search for each output. Steps are those of the CPU's cpu_scan_search.c.
 *
 * After: Hillis, Steele: Data Parallel Algorithms. 1986; Horn: Stream Reduction Operations for GPGPU
 * Applications. GPU Gems 2, 2005. */
#include "gl/gl_locate.h"

#include "gl_shaders.h"

/* Running counts go back and forth between two textures; *running is where they end. */
static tml_status scan(tml_context *tml, const gl_pyramid *items, uint64_t count,
                       const gl_texture **running)
{
    const gl_texture *from = NULL, *to = NULL;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, count, &from);
    if (!status)
        status = gl_temporary(tml, GL_FORMAT_WORDS, count, &to);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_scan_search_start,
                                  .defines = items->is_bits ? "#define FROM_BITS\n" : NULL,
                                  .inputs = {{"items", items->base}},
                                  .targets = {from},
                                  .count = count,
                              });
    for (uint64_t stride = 1; stride < count && !status; stride *= 2) {
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_scan_search_step,
                                  .inputs = {{"running", from}},
                                  .uniforms = {GL_UINT("stride", (uint32_t)stride)},
                                  .targets = {to},
                                  .count = count,
                              });
        const gl_texture *read = from;
        from = to;
        to = read;
    }
    gl_release(tml, to);
    *running = from;
    return status;
}

tml_status gl_scan_search(tml_context *tml, const gl_locate_info *info, const gl_pyramid *pyramid,
                          gl_located *out)
{
    uint64_t count = TML_MAX_OF(pyramid->items, (uint64_t)1);
    const gl_texture *running;
    tml_status status = scan(tml, pyramid, count, &running);
    if (!status)
        status = gl_temporary(tml, GL_FORMAT_QUADS, 1, &out->total);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_scan_search_total,
                                  .inputs = {{"running", running}},
                                  .uniforms = {GL_UINT("last", (uint32_t)(count - 1))},
                                  .targets = {out->total},
                                  .count = 1,
                              });
    if (!status)
        status = gl_locate_outputs(tml, info, out);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_scan_search_sources,
                                  .defines = info->has_others  ? "#define OTHERS\n"
                                             : info->has_ranks ? "#define RANKS\n"
                                                               : NULL,
                                  .length = info->length,
                                  .inputs = {{"running", running}, {"totals", out->total}},
                                  .uniforms = {GL_UINT("item_count", (uint32_t)count)},
                                  .targets = {out->sources, out->ranks},
                                  .count = (out->outputs + 3) / 4,
                              });
    return status;
}
