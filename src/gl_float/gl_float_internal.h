/* The operations of the float tier, for its table. */
#ifndef TML_GL_FLOAT_INTERNAL_H
#define TML_GL_FLOAT_INTERNAL_H

#include "gl/device/gl_float.h"

#endif
