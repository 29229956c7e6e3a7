/* The operations of the float tier, for its table. */
#ifndef TML_GL_FLOAT_INTERNAL_H
#define TML_GL_FLOAT_INTERNAL_H

#include "gl/device/gl_float.h"

extern const tml_engine_op gl_op_float_map, gl_op_float_reduce, gl_op_float_compact,
    gl_op_float_expand;

#endif
