/* An order along a Z curve through a tree's box. */
#ifndef COLLIDE_ORDER_H
#define COLLIDE_ORDER_H

#include "collide/collide_internal.h"

enum { COLLIDE_CODE_BITS = 10, COLLIDE_DIGIT_BITS = 10, COLLIDE_DIGITS = 1 << COLLIDE_DIGIT_BITS };

/* The lowest ten bits of x, two zeros between. */
static inline uint32_t collide_spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* A point's place on the curve: bits of each coordinate, at most COLLIDE_CODE_BITS. */
static inline uint32_t collide_code(const tml_tree *tree, const float point[3], uint32_t bits)
{
    const float most = (float)((1u << bits) - 1);
    uint32_t code = 0;
    for (uint32_t k = 0; k < 3; k++) {
        float size = tree->upper[k] - tree->lower[k];
        float at = (point[k] - tree->lower[k]) / size * most;
        code |= collide_spread((uint32_t)(at > 0.0f ? TML_MIN_OF(at, most) : 0.0f))
                << k; /* NaN: 0 */
    }
    return code;
}

/* Sorts by bits 32 to 61, stably, from the least digit on. other: as much room; they change places. */
static inline void collide_sort_codes(uint64_t **order, uint64_t **other, uint64_t count)
{
    for (uint32_t shift = 32; shift < 32 + 3 * COLLIDE_CODE_BITS; shift += COLLIDE_DIGIT_BITS) {
        uint32_t starts[COLLIDE_DIGITS] = {0}, sum = 0;
        uint64_t *from = *order, *to = *other;
        for (uint64_t i = 0; i < count; i++)
            starts[from[i] >> shift & (COLLIDE_DIGITS - 1)]++;
        for (uint32_t digit = 0; digit < COLLIDE_DIGITS; digit++) {
            uint32_t here = starts[digit];
            starts[digit] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++)
            to[starts[from[i] >> shift & (COLLIDE_DIGITS - 1)]++] = from[i];
        *order = to;
        *other = from;
    }
}

#endif
