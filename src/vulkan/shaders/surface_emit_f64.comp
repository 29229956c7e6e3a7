/* Vertices and triangles (surface_emit.glsl) where samples or attributes are double. */
#define SURFACE_DOUBLE
#include "surface_emit.glsl"
