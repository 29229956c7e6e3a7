/* Random numbers, and samples of tests that differ from run to run: TML_SEED, a number, selects
 * them. */
#ifndef SEED_H
#define SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns TML_SEED; 1 if it is unset. Programs that use it print it. */
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

/* Sanitizers take up to 10 times as long, emulators 40 times. */
#if defined(TML_SANITIZED) || defined(TML_EMULATED)
enum { TEST_IS_SLOW = 1 };
#else
enum { TEST_IS_SLOW = 0 };
#endif

/* Does this run include item i? A slow run includes one item in one_of. */
static inline bool test_takes(uint64_t i, uint64_t one_of)
{
    return !TEST_IS_SLOW || (i + test_seed()) % one_of == 0;
}

#endif
