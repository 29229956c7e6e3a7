/* surface_count.comp with open cells. */
#define SURFACE_OPEN
#include "surface_count.comp"
