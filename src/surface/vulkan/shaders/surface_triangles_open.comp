/* Those of open cells too. */
#define SURFACE_OPEN
#include "surface_triangles.comp"
