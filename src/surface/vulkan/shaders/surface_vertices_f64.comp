/* Vertices if samples or attributes are double. */
#define SURFACE_DOUBLE
#define SURFACE_FULL
#include "surface_vertices.glsl"
