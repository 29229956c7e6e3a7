/* The float tier's table, in place of gl_engine.c's. */
#include "gl_float/gl_float_internal.h"

static const char *float_tier(const tml_context *tml)
{
    switch (gl_device_of(tml)->path) {
    case TML_GL_PATH_FLOAT:
        return "path float";
    case TML_GL_PATH_FLOAT_PACKED:
        return "path float-packed";
    default:
        return "path packed";
    }
}

/* Unless the caller chose one of the tier's paths. */
static bool float_yields(const tml_open_desc *desc)
{
    return !desc->gl || desc->gl->path == TML_GL_PATH_AUTO;
}

const tml_engine tml_gl_float_engine = {
    GL_ENGINE,
    .part = PART_GL_FLOAT,
    .tier = float_tier,
    .yields = float_yields,
};
