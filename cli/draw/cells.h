/* A picture that shows how many triangles each cell has. */
#ifndef CELLS_H
#define CELLS_H

#include <trommel/trommel.h>

#include "report/cell_counts.h"

/* Can a picture of desc's region be made? Errors: UNSUPPORTED (more than 16384 pixels along a
 * side). */
tml_status cells_check(tml_context *tml, const tml_surface_desc *desc, cells_by by);

/* Writes a PNG of the cells of a volume, or of a region of it: the slices side by side, nearly a
 * square in all. 0 to 5 triangles are black, blue, green, yellow, orange, red, unless colours are
 * by position. desc: as for tml_surface_cells. counts: the number of cells with 0 to 5 triangles.
 * Errors: those of cells_check, tml_surface_cells and tml_picture_save. */
tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc, cells_by by,
                      uint64_t counts[CELL_COUNTS]);

#endif
