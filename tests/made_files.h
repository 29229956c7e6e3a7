/* Small TIFF and OpenEXR files whose stored samples are as long as a test wants. */
#ifndef TML_TEST_MADE_FILES_H
#define TML_TEST_MADE_FILES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { MADE_FILE_MOST = 2048 };

/* A page of bytes in one strip, of a compression by TIFF's number, which has count stored bytes. */
size_t made_tiff(uint8_t file[MADE_FILE_MOST], uint32_t compression, const uint8_t *strip,
                 size_t count, uint32_t width, uint32_t height);

/* A page of 16 x 16 bytes, byte i being 1 + i % 250, in one strip of deflate that holds count
 * bytes, at most 1024. */
size_t made_deflate_tiff(uint8_t file[MADE_FILE_MOST], size_t count);

/* Two rows of four halves Y; each row is stored as row_size bytes, of which 8 are right where
 * nothing is compressed. green: the y of green's chromaticity, 0.6 in sRGB. */
size_t made_exr(uint8_t file[MADE_FILE_MOST], uint8_t compression, const uint8_t *row,
                uint32_t row_size, float green);

#endif
