/* The OpenGL ES engine's toolkit for programs: textures and draws, divisors, HistoPyramids. */
#ifndef TML_GL_PARTS_H
#define TML_GL_PARTS_H

#include "gl/device/gl_internal.h"
#include "gl/gl_divide.h"
#include "gl/gl_pyramid.h"

#endif
