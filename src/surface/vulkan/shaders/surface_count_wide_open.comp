/* Counts open cells too. */
#define SURFACE_OPEN
#include "surface_count_wide.comp"
