/* How many triangles cells have, and how a picture of the cells is coloured. */
#ifndef CLI_CELL_COUNTS_H
#define CLI_CELL_COUNTS_H

enum { CELL_COUNTS = 6 };

/* Colours. BY_PLACE: red is x, green is y, blue is z, for cells with triangles. These cells are
 * shown a second time, next to the slices, as a compaction leaves them. */
typedef enum cells_by { CELLS_BY_TRIANGLES, CELLS_BY_PLACE } cells_by;

#endif
