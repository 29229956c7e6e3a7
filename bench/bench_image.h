/* Benchmarks of images: pictures of random high dynamic range, and the operations on them. As in
 * bench_ops.h, a job is created once, checked against a plain loop, and run any number of times. */
#ifndef BENCH_IMAGE_H
#define BENCH_IMAGE_H

#include "bench_run.h"

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_image_kind {
    BENCH_IMAGE_LOG,       /* geometric mean */
    BENCH_IMAGE_MEAN,      /* mean, deviation */
    BENCH_IMAGE_HISTOGRAM, /* of logarithms */
    BENCH_IMAGE_ALL,       /* all three */
    BENCH_IMAGE_TONEMAP,   /* Reinhard's curve, to u8 coded as sRGB */
    BENCH_IMAGE_AGX,       /* the same by AgX */
    BENCH_IMAGE_READ,      /* adds up every word: the cost of reading */
    BENCH_IMAGE_MIPS,      /* AREA, all levels */
    BENCH_IMAGE_KAISER,    /* the same by KAISER */
    BENCH_IMAGE_TEXTURE,   /* LOG of a picture that is a Vulkan image */
    BENCH_IMAGE_KIND_COUNT
} bench_image_kind;

const char *bench_image_name(bench_image_kind kind); /* "log mean" */

typedef struct bench_image_desc {
    bench_image_kind kind;
    tml_type type; /* u8, f16 or f32; four channels */
    uint32_t width, height;
} bench_image_desc;

enum { BENCH_IMAGE_SETS = 32, BENCH_IMAGE_SHARES = 1 << 15 };

typedef struct bench_texture bench_texture;
typedef struct bench_drawn bench_drawn;

typedef struct bench_image {
    tml_context *tml;
    bench_image_desc desc;
    uint64_t bytes; /* read once and written once */
    /* Internal: the picture on the host, and sets that the runs use one after the other, as in
     * bench_ops.h. */
    void *data;
    size_t size;
    struct {
        tml_buffer in, out;
        bench_texture *texture; /* Vulkan */
        bench_drawn *drawn;     /* OpenGL ES */
    } sets[BENCH_IMAGE_SETS];
    uint32_t set_count, runs, driver_runs;
    tml_buffer stats;
    double *sums, plain; /* the plain loop's: BENCH_IMAGE_SHARES, and the mean that it found */
    /* For mip chains, after the check: log2 of the last level's luminance over that of the exact
     * mean, of the library's chain and of the driver's; NAN if there is none. */
    double stops_off, driver_stops_off;
} bench_image;

tml_status bench_image_create(tml_context *tml, const bench_image_desc *desc, bench_image *out);
bool bench_image_run(void *image);
tml_status bench_image_check(bench_image *image);
/* The same mean by a plain loop on the host, on as many threads as the context has, for comparison:
 * floats, LOG and MEAN. bench_image_check checks its result. */
bool bench_image_has_plain(const bench_image_desc *desc);
bool bench_image_run_plain(void *image);
/* The driver's mip chain of the same picture, for comparison: MIPS on GPUs. */
bool bench_image_has_driver(const bench_image *image);
bool bench_image_run_driver(void *image);
void bench_image_destroy(bench_image *image);

/* Creates an image with so many levels on the Vulkan context's device from the pixels of a buffer,
 * four channels. After a failure, *out is an object to destroy, or NULL. */
tml_status bench_texture_create(tml_context *tml, tml_buffer pixels, const bench_image_desc *desc,
                                uint32_t levels, bench_texture **out);
const struct tml_vulkan_texture *bench_texture_lent(const bench_texture *t);
/* Enqueues a chain of vkCmdBlitImage with a linear filter. */
tml_status bench_texture_mips(bench_texture *t);
/* The last level's texel to four elements of a buffer. */
tml_status bench_texture_last(bench_texture *t, tml_buffer out);
void bench_texture_destroy(bench_texture *t);

/* The same on OpenGL ES, from pixels on the host, with all levels: glGenerateMipmap. */
tml_status bench_drawn_create(tml_context *tml, const void *pixels, const bench_image_desc *desc,
                              bench_drawn **out);
tml_status bench_drawn_mips(bench_drawn *d);
tml_status bench_drawn_last(bench_drawn *d, tml_buffer out);
void bench_drawn_destroy(bench_drawn *d);

#ifdef __cplusplus
}
#endif
#endif
