/* Divisors for shaders (shaders/gl_divide.glsl). */
#ifndef TML_GL_DIVIDE_H
#define TML_GL_DIVIDE_H

#include "gl/device/gl_internal.h"

/* A uniform uvec2 for divide(); n is 1 ... 2^31 - 1. */
static inline gl_uniform gl_divisor(const char *name, uint64_t n)
{
    gl_uniform inverse = {.f = {1.0f / (float)n}};
    return (gl_uniform)GL_UINT2(name, (uint32_t)n, inverse.u[0]);
}

#endif
