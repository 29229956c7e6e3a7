/* Contact sheets: small pictures side by side in one. */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include <trommel/extend.h>
#include <trommel/core.h>

typedef struct sheet_tile {
    uint8_t *rgba; /* width x height x 4, rows from the top */
    uint32_t width, height;
} sheet_tile;

/* Writes a PNG of count tiles, in rows of `columns` tiles, left to right. All cells have the size
 * of the largest tile, or a whole multiple of it so that they are at least 128 pixels. Each tile is
 * enlarged by the largest whole factor that fits its cell. Errors: UNSUPPORTED (more than 16384
 * pixels along a side), OUT_OF_MEMORY, and those of tml_picture_save. */
tml_status sheet_save(tml_context *tml, const char *path, const sheet_tile *tiles, uint32_t count,
                      uint32_t columns);

#endif
