/* The float tier's toolkit for programs: textures and draws, HistoPyramids of whole floats. */
#ifndef TML_GL_FLOAT_PARTS_H
#define TML_GL_FLOAT_PARTS_H

#include "gl_float/gl_float_pyramid.h"

#endif
