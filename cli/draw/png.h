/* Pixels as a screen has them, to a PNG of any name. */
#ifndef CLI_PNG_H
#define CLI_PNG_H

#include <trommel/pictures.h>

/* rgba: width x height, 8 bits, sRGB, top row first. */
static inline tml_status png_save(tml_context *tml, const char *path, uint8_t *rgba, uint32_t width,
                                  uint32_t height)
{
    const tml_picture picture = {.data = rgba,
                                 .type = TML_U8,
                                 .width = width,
                                 .height = height,
                                 .channels = 4,
                                 .srgb = true,
                                 .format = "PNG"};
    return tml_picture_save(tml, path, &picture);
}

#endif
