/* Vertices with normals and attributes, and triangles, of every type but double. */
#define SURFACE_FULL
#include "surface_emit.glsl"
