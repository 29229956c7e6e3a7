/* Slices of cells as tiles of one picture (cells.h). */
#include "draw/cells.h"
#include "cli.h"
#include "draw/png.h"

#include <string.h>
enum { MOST_PIXELS = 16384, GAP = 1, BESIDE = 8, PIXEL = 4 };

/* Colours by the number of triangles, as on the web page (web/lib/cell_colors.js); then the colour
 * between tiles. */
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
    uint64_t width, height;      /* of the tiles */
    uint64_t room;               /* pixels next to them; 0: none, colours are by triangles */
} sheet;

static sheet sheet_of(const tml_surface_desc *desc, cells_by by)
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
    if (by == CELLS_BY_PLACE)
        s.room = BESIDE + s.width;
    return s;
}

tml_status cells_check(tml_context *tml, const tml_surface_desc *desc, cells_by by)
{
    sheet s = sheet_of(desc, by);
    if (s.width + s.room <= MOST_PIXELS && s.height <= MOST_PIXELS)
        return TML_OK;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "a picture of the cells would be %llu x %llu pixels, at most %d along a "
                     "side; choose a smaller region",
                     (unsigned long long)(s.width + s.room), (unsigned long long)s.height,
                     MOST_PIXELS);
}

/* The colour of a cell: by its number of triangles; or by its position, if it has triangles. */
static void color_of(const sheet *s, const uint64_t at[3], uint8_t triangles, uint8_t out[PIXEL])
{
    memcpy(out, colors[triangles < BETWEEN ? triangles : BETWEEN - 1], PIXEL);
    for (int a = 0; a < 3 && s->room && triangles; a++)
        out[a] = (uint8_t)(40 + 215 * at[a] / (s->count[a] > 1 ? s->count[a] - 1 : 1));
}

static const uint8_t *row_of(const uint8_t *cells, const sheet *s, const uint64_t at[3])
{
    return cells + ((s->first[2] + at[2]) * s->dims[1] + s->first[1] + at[1]) * s->dims[0] +
           s->first[0];
}

/* Paints the slices. If colours are by position, also paints next to them the cells with triangles,
 * row by row, as a compaction leaves them. Returns the width. */
static uint64_t paint(const uint8_t *cells, const sheet *s, uint8_t *rgba,
                      uint64_t counts[CELL_COUNTS])
{
    uint64_t active = 0, at[3];
    memset(counts, 0, CELL_COUNTS * sizeof *counts);
    for (at[2] = 0; at[2] < s->count[2]; at[2]++)
        for (at[1] = 0; at[1] < s->count[1]; at[1]++) {
            const uint8_t *row = row_of(cells, s, at);
            for (at[0] = 0; at[0] < s->count[0]; at[0]++)
                counts[row[at[0]]]++;
        }
    for (uint64_t k = 1; k < CELL_COUNTS; k++)
        active += counts[k];
    uint64_t strip = (active + s->height - 1) / s->height, filled = 0;
    uint64_t width = s->width + (s->room ? BESIDE + (strip ? strip : 1) : 0);
    for (uint64_t i = 0; i < width * s->height; i++)
        memcpy(rgba + PIXEL * i, colors[BETWEEN], PIXEL);
    for (at[2] = 0; at[2] < s->count[2]; at[2]++)
        for (at[1] = 0; at[1] < s->count[1]; at[1]++) {
            const uint8_t *row = row_of(cells, s, at);
            uint64_t px = at[2] % s->columns * (s->count[0] + GAP);
            uint64_t py = at[2] / s->columns * (s->count[1] + GAP) + at[1];
            for (at[0] = 0; at[0] < s->count[0]; at[0]++) {
                uint8_t *pixel = rgba + PIXEL * (py * width + px + at[0]);
                color_of(s, at, row[at[0]], pixel);
                if (s->room && row[at[0]]) {
                    uint64_t x = s->width + BESIDE + filled % strip, y = filled / strip;
                    memcpy(rgba + PIXEL * (y * width + x), pixel, PIXEL);
                    filled++;
                }
            }
        }
    return width;
}

tml_status cells_save(tml_context *tml, const char *path, const tml_surface_desc *desc, cells_by by,
                      uint64_t counts[CELL_COUNTS])
{
    sheet s = sheet_of(desc, by);
    tml_status status = cells_check(tml, desc, by);
    if (status)
        return status;
    uint64_t count = s.dims[0] * s.dims[1] * s.dims[2];
    size_t size = (s.width + s.room + 1) * s.height * PIXEL;
    uint8_t *cells = tml_alloc_array(tml, count, 1), *rgba = tml_alloc(tml, size);
    if (!cells || !rgba)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture of the cells");
    TML_THEN(status, tml_surface_cells(tml, desc, cells));
    if (status == TML_OK) {
        uint64_t width = paint(cells, &s, rgba, counts);
        status = png_save(tml, path, rgba, (uint32_t)width, (uint32_t)s.height);
    }
    tml_free(tml, cells, count);
    tml_free(tml, rgba, size);
    return status;
}
