/* The picture of how many triangles each cell has. */
#ifndef CELLS_H
#define CELLS_H

#include <trommel/trommel.h>

#include "report/cell_counts.h"

/* May there be a picture of desc's region? Errors: UNSUPPORTED (more than 16384 pixels along a
 * side). */
tml_status cells_check(tml_context *tml, const tml_surface_desc *desc, cells_by by);

/* Writes a PNG of the cells of a volume, or of a region of it, slice beside slice, as near to a
 * square as goes: 0 to 5 triangles are black, blue, green, yellow, orange, red, if not by place.
 * desc: as for tml_surface_cells. counts: how many cells have 0 to 5. Errors: as cells_check, and
 * those of tml_surface_cells and tml_picture_save. */
tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc, cells_by by,
                      uint64_t counts[CELL_COUNTS]);

#endif
