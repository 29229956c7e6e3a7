/* surface_triangles.comp with open cells. */
#define SURFACE_OPEN
#include "surface_triangles.comp"
