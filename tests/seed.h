/* Samples differ from run to run: what of a sample is taken depends on TML_SEED, a number. */
#ifndef SEED_H
#define SEED_H

#include <stdint.h>
#include <stdlib.h>

/* 1 without it. Programs that use it print it. */
static inline uint64_t test_seed(void)
{
    const char *seed = getenv("TML_SEED");
    return seed && *seed ? strtoull(seed, NULL, 10) : 1;
}

#endif
