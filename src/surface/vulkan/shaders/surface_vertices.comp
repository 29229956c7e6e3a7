/* Vertices of every type but double, without normals and attributes. */
#include "surface_vertices.glsl"
