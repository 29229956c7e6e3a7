/* Vertices with normals and attributes, of every type but double. */
#define SURFACE_FULL
#include "surface_vertices.glsl"
