/* What the CPU engine's image parts share: pixels as planes of floats. */
#ifndef TML_CPU_IMAGE_H
#define TML_CPU_IMAGE_H

#include "cpu/cpu_parts.h"
#include "image/image_internal.h"

/* Pixels at a time: they, their planes and what is computed from them stay in the first level cache. */
enum { IMAGE_BLOCK = 512 };

/* One worker's pixels on their way. */
typedef struct cpu_image_space {
    _Alignas(64) float interleaved[4 * IMAGE_BLOCK];
    _Alignas(64) float planes[4][IMAGE_BLOCK];
    _Alignas(64) uint16_t codes[4][IMAGE_BLOCK]; /* the planes encoded, of one or two bytes each */
} cpu_image_space;

/* A view bound to its memory. */
typedef struct cpu_image {
    unsigned char *pixels; /* the view's first */
    uint32_t channels;
    size_t pixel_size;
    uint64_t row_size; /* from one row to the next, in bytes */
    tml_type type;
    bool srgb;
    float srgb8[2 * 256]; /* srgb and u8: what codes mean as colours, and as alpha */
    tml_simd level;
} cpu_image;

void cpu_image_bind(const tml_context *tml, const image_view *view, cpu_image *out);

/* Decodes count pixels of row y from x on, all channels as they lie; and back. */
void cpu_image_decode(const cpu_image *image, uint64_t y, uint64_t x, size_t count, float *out);
void cpu_image_encode(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                      const float *in);
/* The same pixels as they lie, if they are floats, or decoded into space. */
const float *cpu_image_floats(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                              float *space);

/* Decodes count <= IMAGE_BLOCK pixels of row y from x on: the first `wanted` channels, each into a plane of
 * space from place `at` on. */
void cpu_image_load(const cpu_image *image, uint64_t y, uint64_t x, size_t count, uint32_t wanted,
                    cpu_image_space *space, size_t at);

/* Encodes count <= IMAGE_BLOCK pixels from the first places of space's planes, one for each channel (1, 3
 * or 4), into row y from x on. */
void cpu_image_store(const cpu_image *image, uint64_t y, uint64_t x, size_t count,
                     cpu_image_space *space);

#endif
