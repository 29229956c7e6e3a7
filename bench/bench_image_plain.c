/* The averages of a picture as a C programmer writes them first, and leaves to the compiler: no
 * options, no extremes, floats added in any order. Only this file is compiled with -ffast-math,
 * with which gcc uses log2f of glibc's vector library (libmvec). */
#include "bench_image.h"

#include <math.h>

#include "core/simd.h"

enum { CHANNELS = 4, SHARE_PIXELS = 1 << 15, PART_PIXELS = 4096 };

ALWAYS_INLINE float luminance_of(const float *pixel)
{
    return 0.2126f * pixel[0] + 0.7152f * pixel[1] + 0.0722f * pixel[2];
}

ALWAYS_INLINE double sum(const float *pixels, size_t count, bool of_logarithms)
{
    double total = 0.0;
    for (size_t first = 0; first < count; first += PART_PIXELS) {
        size_t end = first + PART_PIXELS < count ? first + PART_PIXELS : count;
        float part = 0.0f;
        if (of_logarithms)
            for (size_t i = first; i < end; i++)
                part += log2f(luminance_of(pixels + CHANNELS * i));
        else
            for (size_t i = first; i < end; i++)
                part += luminance_of(pixels + CHANNELS * i);
        total += (double)part;
    }
    return total;
}

SIMD_INSTANTIATE(double, sum, (const float *pixels, size_t count, bool of_logarithms),
                 return of_logarithms ? sum(pixels, count, true) : sum(pixels, count, false))

typedef double (*sum_fn)(const float *pixels, size_t count, bool of_logarithms);
static const sum_fn sum_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(sum);

static void sum_share(void *argument, uint32_t index)
{
    bench_image *image = argument;
    size_t pixels = (size_t)image->desc.width * image->desc.height;
    size_t first = (size_t)index * SHARE_PIXELS;
    size_t count = pixels - first < SHARE_PIXELS ? pixels - first : SHARE_PIXELS;
    image->sums[index] = sum_for[tml_simd_level()]((const float *)image->data + CHANNELS * first,
                                                   count, image->desc.kind == BENCH_IMAGE_LOG);
}

bool bench_image_has_plain(const bench_image_desc *desc)
{
    return desc->type == TML_F32 &&
           (desc->kind == BENCH_IMAGE_LOG || desc->kind == BENCH_IMAGE_MEAN);
}

bool bench_image_run_plain(void *user)
{
    bench_image *image = user;
    size_t pixels = (size_t)image->desc.width * image->desc.height;
    uint32_t shares = (uint32_t)((pixels + SHARE_PIXELS - 1) / SHARE_PIXELS);
    if (shares > BENCH_IMAGE_SHARES)
        return false;
    tml_parallel_for(image->tml, shares, sum_share, image);
    image->plain = 0.0;
    for (uint32_t share = 0; share < shares; share++)
        image->plain += image->sums[share] / (double)pixels;
    return true;
}
