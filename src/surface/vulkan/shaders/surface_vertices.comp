/* Vertices of every type except double, without normals and attributes. */
#include "surface_vertices.glsl"
