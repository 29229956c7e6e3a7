/* The table of marching cubes: as the surface has it. */
#include "surface/gl/shaders/surface_cases.frag"
