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

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The picture's layout. Sizes are of cells. */
typedef struct sheet {
    uint64_t dims[3];            /* of the volume */
    uint64_t first[3], count[3]; /* of the region */
    uint64_t columns;            /* of tiles: those that make it most nearly square */
    uint64_t width, height;
} sheet;

static sheet sheet_of(const tml_surface_desc *desc)
{
    sheet s = {.columns = 1};
    for (int a = 0; a < 3; a++) {
        uint64_t samples = desc->grid.dims[a];
        uint64_t first = least(desc->region.first[a], samples), held = samples - first;
        if (desc->region.count[a])
            held = least(held, desc->region.count[a]);
        s.dims[a] = samples > 1 ? samples - 1 : 1;
        s.first[a] = first;
        s.count[a] = held > 1 ? held - 1 : 1;
    }
    while (s.columns < s.count[2] && s.columns * (s.count[0] + GAP) < (s.count[2] + s.columns - 1) /
                                                                          s.columns *
                                                                          (s.count[1] + GAP))
        s.columns++;
    s.width = s.columns * (s.count[0] + GAP) - GAP;
    s.height = (s.count[2] + s.columns - 1) / s.columns * (s.count[1] + GAP) - GAP;
    return s;
}

tml_status cells_check(tml_context *tml, const tml_surface_desc *desc)
{
    sheet s = sheet_of(desc);
    if (s.width <= MOST_PIXELS && s.height <= MOST_PIXELS)
        return TML_OK;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "a picture of the cells would be %llu x %llu pixels, at most %d along a "
                     "side; choose a smaller region",
                     (unsigned long long)s.width, (unsigned long long)s.height, MOST_PIXELS);
}

static void paint(const uint8_t *cells, const sheet *s, uint8_t *rgba, uint64_t counts[CELL_COUNTS])
{
    for (uint64_t i = 0; i < s->width * s->height; i++)
        memcpy(rgba + PIXEL * i, colors[BETWEEN], PIXEL);
    memset(counts, 0, CELL_COUNTS * sizeof *counts);
    for (uint64_t z = 0; z < s->count[2]; z++)
        for (uint64_t y = 0; y < s->count[1]; y++) {
            const uint8_t *row = cells +
                                 ((s->first[2] + z) * s->dims[1] + s->first[1] + y) * s->dims[0] +
                                 s->first[0];
            uint64_t px = z % s->columns * (s->count[0] + GAP);
            uint64_t py = z / s->columns * (s->count[1] + GAP) + y;
            for (uint64_t x = 0; x < s->count[0]; x++) {
                memcpy(rgba + PIXEL * (py * s->width + px + x), colors[row[x]], PIXEL);
                counts[row[x]]++;
            }
        }
}

tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc,
                      uint64_t counts[CELL_COUNTS])
{
    sheet s = sheet_of(desc);
    tml_status status = cells_check(tml, desc);
    if (status)
        return status;
    uint64_t count = s.dims[0] * s.dims[1] * s.dims[2];
    size_t size = s.width * s.height * PIXEL;
    uint8_t *cells = tml_alloc(tml, count), *rgba = tml_alloc(tml, size);
    if (!cells || !rgba)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture of the cells");
    if (status == TML_OK)
        status = tml_surface_cells(tml, desc, cells);
    if (status == TML_OK) {
        paint(cells, &s, rgba, counts);
        status = tml_png_save(tml, path, rgba, (uint32_t)s.width, (uint32_t)s.height);
    }
    tml_free(tml, cells, count);
    tml_free(tml, rgba, size);
    return status;
}
