/* The OpenGL ES engine's table. */
#include "gl/device/gl_device.h"
#include "gl/gl_ops.h"

const tml_engine tml_gl_engine = {
    GL_ENGINE,
    .read_begin = gl_read_begin,
    .read_poll = gl_read_poll,
    .read_free = gl_read_free,
    .compiles = true,
    .prepare_begin = gl_prepare_begin,
    .prepare_end = gl_prepare_end,
    .part = PART_GL,
    .devices = gl_devices,
    .is_lent = gl_is_lent,
    .open = gl_open,
};
