/* tml_map on the float tier: one fragment per word of the output, as on the integer path. */
#include "gl/device/gl_float.h"

#include "gl_float_shaders.h"

static bool float_map_supports(tml_context *tml, const tml_map_desc *desc)
{
    const gl_kernel_use use = {desc->kernel, &desc->params, desc->in};
    return desc->kernel->out_count == 0 &&
           gl_float_count_supported(tml, "tml_map: length", desc->length.count) &&
           gl_float_kernel_supported(tml, &gl_shader_float_map, NULL,
                                     gl_float_format(gl_device_of(tml), desc->kernel->result),
                                     &use);
}

static tml_status float_map_run(tml_context *tml, const tml_map_desc *desc)
{
    return gl_map_draw(tml, desc, &gl_shader_float_map);
}

GL_OP(float_map, tml_map_desc, float_map_supports, float_map_run)
