/* Small TIFF and OpenEXR files. */
#include "made_files.h"

static void made_put(uint8_t *file, size_t *size, const void *data, size_t count)
{
    memcpy(file + *size, data, count);
    *size += count;
}

static void made_number(uint8_t *file, size_t *size, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        file[(*size)++] = (uint8_t)(value >> 8 * i);
}

size_t made_tiff(uint8_t file[MADE_FILE_MOST], uint32_t compression, const uint8_t *strip,
                 size_t count, uint32_t width, uint32_t height)
{
    const uint32_t tags[][3] = {{256, 3, width},       {257, 3, height}, {258, 3, 8},
                                {259, 3, compression}, {262, 3, 1},      {273, 4, 8},
                                {277, 3, 1},           {278, 3, height}, {279, 4, (uint32_t)count}};
    size_t size = 0, link = 4;
    made_number(file, &size, 0x002a4949, 4);
    made_number(file, &size, 0, 4);
    made_put(file, &size, strip, count);
    if (count % 2)
        file[size++] = 0;
    made_number(file, &link, size, 4);
    made_number(file, &size, sizeof tags / sizeof tags[0], 2);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        made_number(file, &size, tags[i][0], 2);
        made_number(file, &size, tags[i][1], 2);
        made_number(file, &size, 1, 4);
        made_number(file, &size, tags[i][2], 4);
    }
    made_number(file, &size, 0, 4);
    return size;
}

size_t made_deflate_tiff(uint8_t file[MADE_FILE_MOST], size_t count)
{
    uint8_t plain[1024], packed[MADE_FILE_MOST / 2];
    uLongf stored = sizeof packed;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(1 + i % 250);
    if (compress(packed, &stored, plain, (uLong)count) != Z_OK)
        abort();
    return made_tiff(file, 8, packed, stored, 16, 16);
}

static void made_attribute(uint8_t *file, size_t *size, const char *name, const char *type,
                           const void *data, uint32_t count)
{
    made_put(file, size, name, strlen(name) + 1);
    made_put(file, size, type, strlen(type) + 1);
    made_number(file, size, count, 4);
    made_put(file, size, data, count);
}

size_t made_exr(uint8_t file[MADE_FILE_MOST], uint8_t compression, const uint8_t *row,
                uint32_t row_size, float green)
{
    static const int32_t window[] = {0, 0, 3, 1};
    const float primaries[] = {0.64f, 0.33f, 0.30f, green, 0.15f, 0.06f, 0.3127f, 0.3290f};
    size_t size = 0;
    made_put(file, &size, "\x76\x2f\x31\x01\2\0\0\0", 8);
    made_attribute(file, &size, "channels", "chlist", "Y\0\1\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0", 19);
    made_attribute(file, &size, "chromaticities", "chromaticities", primaries, 32);
    made_attribute(file, &size, "compression", "compression", &compression, 1);
    made_attribute(file, &size, "dataWindow", "box2i", window, 16);
    made_attribute(file, &size, "displayWindow", "box2i", window, 16);
    made_attribute(file, &size, "lineOrder", "lineOrder", "", 1);
    made_attribute(file, &size, "pixelAspectRatio", "float", &(float){1}, 4);
    made_attribute(file, &size, "screenWindowCenter", "v2f", (float[]){0, 0}, 8);
    made_attribute(file, &size, "screenWindowWidth", "float", &(float){1}, 4);
    made_attribute(file, &size, "whiteLuminance", "float", &(float){80}, 4);
    made_put(file, &size, "", 1);
    for (uint64_t y = 0, at = size + 16; y < 2; y++, at += 8 + row_size)
        made_number(file, &size, at, 8);
    for (uint32_t y = 0; y < 2; y++) {
        made_number(file, &size, y, 4);
        made_number(file, &size, row_size, 4);
        made_put(file, &size, row, row_size);
    }
    return size;
}
