/* Samples differ from run to run: what of a sample is taken depends on TML_SEED, a number. */
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

#ifdef TML_SANITIZED
enum { TEST_IS_SANITIZED = 1 };
#else
enum { TEST_IS_SANITIZED = 0 };
#endif

/* Sanitizers take up to ten times as long, and see one of so many: is i of those? */
static inline bool test_takes(uint64_t i, uint64_t one_of)
{
    return !TEST_IS_SANITIZED || (i + test_seed()) % one_of == 0;
}

#endif
