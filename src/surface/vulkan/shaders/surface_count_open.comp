/* Counts open cells too. */
#define SURFACE_OPEN
#include "surface_count.comp"
