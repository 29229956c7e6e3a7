/* How many triangles cells have, and how a picture of them is coloured. */
#ifndef CLI_CELL_COUNTS_H
#define CLI_CELL_COUNTS_H

enum { CELL_COUNTS = 6 };

/* Colours. BY_PLACE: x in red, y in green, z in blue, of cells with triangles; those are shown a
 * second time, beside the slices, as a compaction leaves them. */
typedef enum cells_by { CELLS_BY_TRIANGLES, CELLS_BY_PLACE } cells_by;

#endif
