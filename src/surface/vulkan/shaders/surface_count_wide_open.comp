/* surface_count_wide.comp with open cells. */
#define SURFACE_OPEN
#include "surface_count_wide.comp"
