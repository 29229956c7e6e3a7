/* The table of marching cubes cases, as the library's surface draws it. */
#include "surface/gl/shaders/surface_cases.frag"
