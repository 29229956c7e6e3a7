/* The picture of how many triangles each cell has. */
#ifndef CELLS_H
#define CELLS_H

#include <trommel/trommel.h>

/* Writes a PNG of the cells of a volume, slice beside slice, as near to a square as goes: 0 to 5
 * triangles are black, blue, green, yellow, orange, red. desc: as for tml_surface_cells. *triangles gets
 * their sum. Errors: UNSUPPORTED (a picture of more than 16384 pixels along a side), and those of
 * tml_surface_cells and tml_png_save. */
tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc,
                      uint64_t *triangles);

#endif
