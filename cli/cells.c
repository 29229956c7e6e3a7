/* Slices of cells as tiles of one picture; see the header. */
#include "cells.h"
#include "cli.h"

#include <string.h>
#include <trommel/io.h>

enum { MOST_PIXELS = 16384, GAP = 1, PIXEL = 4 };

/* By the number of triangles; then, what lies between tiles. */
static const uint8_t colors[][PIXEL] = {
    {0, 0, 0, 255},      {40, 80, 220, 255}, {40, 190, 70, 255}, {250, 220, 50, 255},
    {245, 140, 30, 255}, {220, 40, 40, 255}, {70, 70, 70, 255},
};
enum { BETWEEN = sizeof colors / sizeof colors[0] - 1 };

/* Columns of tiles that make the picture most nearly square. */
static uint64_t columns_of(const uint64_t side[3])
{
    uint64_t columns = 1;
    while (columns < side[2] &&
           columns * (side[0] + GAP) < (side[2] + columns - 1) / columns * (side[1] + GAP))
        columns++;
    return columns;
}

static void paint(const uint8_t *cells, const uint64_t side[3], uint64_t columns, uint64_t width,
                  uint64_t height, uint8_t *rgba)
{
    for (uint64_t i = 0; i < width * height; i++)
        memcpy(rgba + PIXEL * i, colors[BETWEEN], PIXEL);
    for (uint64_t z = 0; z < side[2]; z++)
        for (uint64_t y = 0; y < side[1]; y++)
            for (uint64_t x = 0; x < side[0]; x++) {
                uint64_t px = z % columns * (side[0] + GAP) + x;
                uint64_t py = z / columns * (side[1] + GAP) + y;
                memcpy(rgba + PIXEL * (py * width + px), colors[*cells++], PIXEL);
            }
}

tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc,
                      uint64_t *triangles)
{
    uint64_t side[3];
    for (int a = 0; a < 3; a++)
        side[a] = desc->grid.dims[a] > 1 ? desc->grid.dims[a] - 1 : 1;
    uint64_t count = side[0] * side[1] * side[2], columns = columns_of(side);
    uint64_t width = columns * (side[0] + GAP) - GAP;
    uint64_t height = (side[2] + columns - 1) / columns * (side[1] + GAP) - GAP;
    if (width > MOST_PIXELS || height > MOST_PIXELS)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "a picture of the cells would be %llu x %llu pixels, at most %d along a "
                         "side; choose a smaller volume",
                         (unsigned long long)width, (unsigned long long)height, MOST_PIXELS);
    size_t size = width * height * PIXEL;
    uint8_t *cells = tml_alloc(tml, count), *rgba = tml_alloc(tml, size);
    tml_status status = TML_OK;
    if (!cells || !rgba)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture of the cells");
    if (status == TML_OK)
        status = tml_surface_cells(tml, desc, cells);
    *triangles = 0;
    for (uint64_t i = 0; i < count && status == TML_OK; i++)
        *triangles += cells[i];
    if (status == TML_OK) {
        paint(cells, side, columns, width, height, rgba);
        status = tml_png_save(tml, path, rgba, (uint32_t)width, (uint32_t)height);
    }
    tml_free(tml, cells, count);
    tml_free(tml, rgba, size);
    return status;
}
