/* The weight that each pixel has in averages by halving; and averages of padded blocks with the
 * 2019 article's correction. These are plain loops on the host: they show what is computed, not how
 * fast.
 *
 *   blit         levels of half the size, rounded down, by a linear filter, as a chain of blits or
 *                glGenerateMipmap does. From 3 texels to 1, only the middle one counts
 *   even blit    the same, but the last row and column of an odd size are dropped first
 *   blocks of 8  levels of an eighth of the size, rounded down, as long as there are 8; then one
 *                block of the rest
 *
 * Each weighs columns and rows separately, so a pixel's weight is the product of two weights. */
#include "papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the contribution of each of the size texels of the level above to texel `to` of a level of
 * half texels. */
static void spread(papers_reduction how, uint32_t size, uint32_t half, uint32_t to, double weight,
                   double *above)
{
    if (size == 1) {
        above[0] += weight;
    } else if (how == PAPERS_BLIT) {
        double at = (to + 0.5) * size / half - 0.5, part = at - floor(at);
        uint32_t left = (uint32_t)at, right = left + 1 < size ? left + 1 : left;
        above[left] += weight * (1 - part);
        above[right] += weight * part;
    } else {
        uint32_t block = how == PAPERS_EVEN_BLIT ? 2 : size < 8 ? size : 8;
        for (uint32_t i = 0; i < block; i++)
            above[to * block + i] += weight / block;
    }
}

static uint32_t size_below(papers_reduction how, uint32_t size)
{
    uint32_t below = how == PAPERS_BLOCKS_OF_8 ? size / 8 : size / 2;
    return below > 0 ? below : 1;
}

tml_status papers_axis_weights(papers_reduction how, uint32_t size, double *out)
{
    uint32_t sizes[40], levels = 0;
    double *below = malloc(size * sizeof *below);
    if (!below)
        return TML_ERROR_OUT_OF_MEMORY;
    for (sizes[0] = size; sizes[levels] > 1; levels++)
        sizes[levels + 1] = size_below(how, sizes[levels]);
    out[0] = 1;
    while (levels > 0) { /* from the last texel up */
        uint32_t half = sizes[levels--];
        memcpy(below, out, half * sizeof *below);
        memset(out, 0, sizes[levels] * sizeof *out);
        for (uint32_t i = 0; i < half; i++)
            spread(how, sizes[levels], half, i, below[i], out);
    }
    free(below);
    return TML_OK;
}

papers_coverage papers_coverage_of(const double *columns, uint32_t width, const double *rows,
                                   uint32_t height)
{
    const double *axes[2] = {columns, rows};
    const uint32_t sizes[2] = {width, height};
    double seen = 1, squares = 1, largest = 1;
    for (int a = 0; a < 2; a++) {
        double axis_seen = 0, axis_squares = 0, axis_largest = 0;
        for (uint32_t i = 0; i < sizes[a]; i++) {
            axis_seen += axes[a][i] > 0;
            axis_squares += axes[a][i] * axes[a][i];
            axis_largest = fmax(axis_largest, axes[a][i]);
        }
        seen *= axis_seen / sizes[a];
        squares *= axis_squares * sizes[a];
        largest *= axis_largest * sizes[a];
    }
    return (papers_coverage){.unseen = 1 - seen, .effective = 1 / squares, .largest = largest};
}

double papers_weighted(const float *values, uint32_t stride, const double *columns, uint32_t width,
                       const double *rows, uint32_t height)
{
    double sum = 0;
    for (uint32_t y = 0; y < height; y++) {
        double row = 0;
        for (uint32_t x = 0; x < width && rows[y] > 0; x++)
            row += columns[x] * (double)values[(size_t)y * stride + x];
        sum += rows[y] * row;
    }
    return sum;
}

/* ---- padded blocks --------------------------------------------------------------------------- */

/* A number rounded to a 16-bit float, to nearest, ties to even. Finite numbers below 65520. */
static double as_half(double x)
{
    int exponent;
    frexp(x, &exponent);
    double unit = ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
    return rint(x / unit) * unit;
}

static uint32_t blocks_of(uint32_t size, uint32_t side)
{
    return (size + side - 1) / side;
}

tml_status papers_padded_average(const float *values, uint32_t stride, uint32_t width,
                                 uint32_t height, const papers_padding *how, papers_padded *out)
{
    double *level = malloc((size_t)width * height * sizeof *level);
    double pixels = (double)width * height, powers[2] = {1, 1}, cell = 1;
    const uint32_t side = how->side;
    if (!level)
        return TML_ERROR_OUT_OF_MEMORY;
    for (int a = 0; a < 2; a++)
        while (powers[a] < (a == 0 ? width : height))
            powers[a] *= side;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            level[(size_t)y * width + x] = (double)values[(size_t)y * stride + x];
    while (width > 1 || height > 1) {
        uint32_t across = how->is_target && width == 1 ? 1 : side;
        uint32_t down = how->is_target && height == 1 ? 1 : side;
        uint32_t columns = blocks_of(width, across), rows = blocks_of(height, down);
        for (uint32_t by = 0; by < rows; by++)
            for (uint32_t bx = 0; bx < columns; bx++) {
                double sum = 0;
                for (uint32_t y = by * down; y < height && y < (by + 1) * down; y++)
                    for (uint32_t x = bx * across; x < width && x < (bx + 1) * across; x++)
                        sum += level[(size_t)y * width + x];
                sum /= (double)across * down;
                /* In place: a block's mean goes before all that later blocks read. */
                level[(size_t)by * columns + bx] =
                    how->in_halves ? as_half(sum) : (double)(float)sum;
            }
        width = columns;
        height = rows;
        cell *= (double)across * down;
    }
    *out = (papers_padded){.plain = level[0],
                           .by_article = level[0] * powers[0] * powers[1] / pixels,
                           .by_passes = level[0] * cell / pixels};
    free(level);
    return TML_OK;
}
