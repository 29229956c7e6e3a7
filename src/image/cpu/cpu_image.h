/* Shared by the CPU's image parts: pixels as planar or interleaved floats. */
#ifndef TML_CPU_IMAGE_H
#define TML_CPU_IMAGE_H

#include "cpu/cpu_parts.h"
#include "image/image_internal.h"

/* Pixels per block. A block's pixels, planes and intermediate arrays stay in the L1 cache. */
enum { IMAGE_BLOCK = 512 };

/* A worker's scratch for decoding and encoding a block. */
typedef struct cpu_image_space {
    _Alignas(64) float interleaved[4 * IMAGE_BLOCK];
    _Alignas(64) float planes[4][IMAGE_BLOCK];
    _Alignas(64) uint16_t codes[4][IMAGE_BLOCK]; /* encoded planes of 8- or 16-bit codes */
} cpu_image_space;

typedef struct cpu_image {
    unsigned char *pixels; /* the view's first pixel */
    uint32_t channels;
    size_t pixel_size;
    uint64_t row_size; /* from one row to the next, in bytes */
    tml_type type;
    bool srgb;
    uint32_t values;      /* tml_image_values */
    float srgb8[2 * 256]; /* for srgb u8: the value of each code as a colour, then as alpha */
    tml_simd level;
} cpu_image;

void cpu_image_bind(const tml_context *tml, const image_view *view, cpu_image *out);

/* Decodes count pixels of row y, from x on, to interleaved floats; encodes such floats. */
void cpu_image_decode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, float *out);
void cpu_image_encode(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                      const float *in);
/* Returns the pixels as interleaved floats: in place if the view has linear floats, otherwise
 * decoded into space. */
const float *cpu_image_floats(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                              float *space);

/* Decodes count <= IMAGE_BLOCK pixels of row y, from x on. Puts each of the first wanted channels
 * into a plane of space, from element at on. */
void cpu_image_load(const cpu_image *image, uint64_t y, uint64_t x, size_t count, uint32_t wanted,
                    cpu_image_space *space, size_t at);

/* Encodes count <= IMAGE_BLOCK pixels into row y, from x on. The pixels are at the start of space's
 * planes, one plane per channel (1, 3 or 4). */
void cpu_image_store(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                     cpu_image_space *space);

#endif
