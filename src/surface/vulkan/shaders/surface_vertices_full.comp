/* Vertices of every type except double, with normals and attributes. */
#define SURFACE_FULL
#include "surface_vertices.glsl"
