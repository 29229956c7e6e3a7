/* Numbers by chance, and samples that differ from run to run: what of a sample is taken depends on
 * TML_SEED, a number. */
#ifndef SEED_H
#define SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* 1 without it. Programs that use it print it. */
static inline uint64_t test_seed(void)
{
    const char *seed = getenv("TML_SEED");
    return seed && *seed ? strtoull(seed, NULL, 10) : 1;
}

/* The next number of a sequence: splitmix64. Steele, Lea, Flood: Fast splittable pseudorandom
 * number generators. 2014 */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Sanitizers take up to ten times as long, emulators forty. */
#if defined(TML_SANITIZED) || defined(TML_EMULATED)
enum { TEST_IS_SLOW = 1 };
#else
enum { TEST_IS_SLOW = 0 };
#endif

/* A slow run sees one of so many: is i of those? */
static inline bool test_takes(uint64_t i, uint64_t one_of)
{
    return !TEST_IS_SLOW || (i + test_seed()) % one_of == 0;
}

#endif
