/* LZF decompression, for PCD files. */
#ifndef TML_LZF_H
#define TML_LZF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest compression ratio of an LZF stream: three bytes make at most 264. */
enum { LZF_RATIO_MAX = 88 };

/* Decompresses in to exactly out_size bytes. Returns false if the stream is damaged or has another
 * size. */
bool tml_lzf_unpack(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size);

#endif
