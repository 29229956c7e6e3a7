/* tml_map on OpenGL ES: one draw, a fragment per word of the output. */
#include "gl/device/gl_internal.h"

#include "gl_shaders.h"

static bool map_supports(tml_context *tml, const tml_map_desc *desc)
{
    return gl_kernel_supported(tml, desc->kernel);
}

static tml_status map_run(tml_context *tml, const tml_map_desc *desc)
{
    return gl_map_draw(tml, desc, &gl_shader_kernel_map);
}

GL_OP(map, tml_map_desc)
