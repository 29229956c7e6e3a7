/* Vertices and triangles (surface_emit.glsl), of every type but double. */
#include "surface_emit.glsl"
