/* Contact sheets (sheet.h). */
#include "draw/sheet.h"
#include "draw/png.h"

#include <string.h>

enum { MOST_PIXELS = 16384, LEAST_PIXELS = 128, GAP = 4, PIXEL = 4 };
static const uint8_t between[PIXEL] = {70, 70, 70, 255};

/* How often side fits into room. */
static uint64_t times(uint64_t room, uint32_t side)
{
    return side ? room / side : 0;
}

static void paint(const sheet_tile *tile, uint32_t scale, uint8_t *at, uint64_t width)
{
    for (uint64_t y = 0; y < (uint64_t)tile->height * scale; y++)
        for (uint64_t x = 0; x < (uint64_t)tile->width * scale; x++)
            memcpy(at + PIXEL * (y * width + x),
                   tile->rgba + PIXEL * (y / scale * tile->width + x / scale), PIXEL);
}

tml_status sheet_save(tml_context *tml, const char *path, const sheet_tile *tiles, uint32_t count,
                      uint32_t columns)
{
    uint64_t room[2] = {1, 1}, rows = (count + columns - 1) / columns;
    for (uint32_t i = 0; i < count; i++) {
        room[0] = tiles[i].width > room[0] ? tiles[i].width : room[0];
        room[1] = tiles[i].height > room[1] ? tiles[i].height : room[1];
    }
    uint64_t enlarged = 1, width, height;
    do { /* a sheet of a few pixels shows nothing */
        width = columns * (enlarged * room[0] + GAP) - GAP;
        height = rows * (enlarged * room[1] + GAP) - GAP;
    } while (width < LEAST_PIXELS && height < LEAST_PIXELS && enlarged++);
    room[0] *= enlarged;
    room[1] *= enlarged;
    if (width > MOST_PIXELS || height > MOST_PIXELS)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "a sheet would be %llu x %llu pixels, at most %d along a side",
                         (unsigned long long)width, (unsigned long long)height, MOST_PIXELS);
    size_t size = width * height * PIXEL;
    uint8_t *rgba = tml_alloc(tml, size);
    if (!rgba)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a sheet of pictures");
    for (uint64_t i = 0; i < width * height; i++)
        memcpy(rgba + PIXEL * i, between, PIXEL);
    for (uint32_t i = 0; i < count; i++) {
        const sheet_tile *tile = &tiles[i];
        uint64_t across = times(room[0], tile->width), down = times(room[1], tile->height);
        uint64_t x = i % columns * (room[0] + GAP), y = i / columns * (room[1] + GAP);
        paint(tile, (uint32_t)(across < down ? across : down), rgba + PIXEL * (y * width + x),
              width);
    }
    tml_status status = png_save(tml, path, rgba, (uint32_t)width, (uint32_t)height);
    tml_free(tml, rgba, size);
    return status;
}
