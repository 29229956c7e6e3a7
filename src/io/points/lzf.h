/* LZF decompression, for PCD files. */
#ifndef TML_LZF_H
#define TML_LZF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No LZF stream unpacks to more than so many times its size: three bytes name at most 264. */
enum { LZF_RATIO_MAX = 88 };

/* Unpacks in to exactly out_size bytes. False when the stream is damaged or unpacks to another
 * size. */
bool tml_lzf_unpack(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size);

#endif
