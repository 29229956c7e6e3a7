/* BITONIC on OpenGL ES: sorts the rejected to the end. An item's key is its index, with the highest bit
 * set when it is not kept, so that the rejected come in order behind the kept, as partition wants them.
 * Here for comparison only, as the method that the first GPU compactions used. Steps are those of the
 * CPU's cpu_bitonic.c.
 *
 * After: Batcher: Sorting networks and their applications. 1968. */
#include "gl/gl_locate.h"

#include "gl_shaders.h"

/* A network has a power of two of wires. */
static uint64_t wires_for(uint64_t items)
{
    uint64_t wires = 1;
    while (wires < items)
        wires *= 2;
    return wires;
}

/* *keys: sorted in the end. */
static tml_status sort(tml_context *tml, uint64_t wires, const gl_texture **keys)
{
    const gl_texture *from = *keys, *to = NULL;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, wires, &to);
    for (uint64_t run = 2; run <= wires; run *= 2)
        for (uint64_t stride = run / 2; stride > 0 && !status; stride /= 2) {
            status = gl_draw(tml, &(gl_draw_info){
                                      .shader = &gl_shader_bitonic_step,
                                      .inputs = {{"keys", from}},
                                      .uniforms = {GL_UINT("run", (uint32_t)run),
                                                   GL_UINT("stride", (uint32_t)stride)},
                                      .targets = {to},
                                      .count = wires,
                                  });
            const gl_texture *read = from;
            from = to;
            to = read;
        }
    gl_release(tml, to);
    *keys = from;
    return status;
}

tml_status gl_bitonic(tml_context *tml, const gl_locate_info *info, const gl_pyramid *pyramid,
                      gl_located *out)
{
    uint64_t wires = wires_for(pyramid->items);
    const gl_texture *keys;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, wires, &keys);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_bitonic_start,
                                  .length = info->length,
                                  .inputs = {{"items", pyramid->base}},
                                  .targets = {keys},
                                  .count = wires,
                              });
    if (!status)
        status = sort(tml, wires, &keys);
    if (!status)
        status = gl_temporary(tml, GL_FORMAT_QUADS, 1, &out->total);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_bitonic_total,
                                  .inputs = {{"keys", keys}},
                                  .uniforms = {GL_UINT("key_count", (uint32_t)wires)},
                                  .targets = {out->total},
                                  .count = 1,
                              });
    if (!status)
        status = gl_locate_outputs(tml, info, out);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_bitonic_sources,
                                  .defines = info->has_others ? "#define OTHERS\n" : NULL,
                                  .inputs = {{"keys", keys}},
                                  .uniforms = {GL_UINT("key_count", (uint32_t)wires)},
                                  .targets = {out->sources},
                                  .count = (out->outputs + 3) / 4,
                              });
    return status;
}
