/* Makes small TIFF and OpenEXR files whose stored samples have the size that a test chooses. */
#ifndef TML_TEST_MADE_FILES_H
#define TML_TEST_MADE_FILES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { MADE_FILE_MOST = 2048 };

/* Makes a page of 8-bit samples in one strip of count stored bytes. compression: TIFF's number.
 * This function and the others return the file's size. */
size_t made_tiff(uint8_t file[MADE_FILE_MOST], uint32_t compression, const uint8_t *strip,
                 size_t count, uint32_t width, uint32_t height);

/* Makes a page of 16 x 16 bytes. Its one strip of deflate contains count bytes, at most 1024; byte
 * i is 1 + i % 250. */
size_t made_deflate_tiff(uint8_t file[MADE_FILE_MOST], size_t count);

/* Makes two rows of four half floats of channel Y. Each row is stored as row_size bytes; 8 is right
 * without compression. green: y of the green primary's chromaticity, 0.6 in sRGB. */
size_t made_exr(uint8_t file[MADE_FILE_MOST], uint8_t compression, const uint8_t *row,
                uint32_t row_size, float green);

#endif
