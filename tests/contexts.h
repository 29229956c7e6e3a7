/* Contexts and buffers for tests; a failure to create one fails the test. Include after test.h. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <stdio.h>
#include <stdlib.h>

#include "core/platform.h"

/* Opens a context of the CPU engine. threads 0: one per processor. */
tml_context *open_cpu(uint32_t threads);

/* Opens the number-th device of all engines; NULL if there are no more. */
tml_context *open_device(uint32_t number);

/* Creates buffers of PTRDIFF_MAX / 2 bytes until that fails. They take addresses, not memory; with
 * 32-bit addresses, there may be room for some. */
void fill_addresses(tml_context *tml);
tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data);

/* An allocator that counts its requests in user, a uint64_t. */
static inline void *counted_alloc(void *user, size_t size, size_t alignment)
{
    ++*(uint64_t *)user;
    return tml_platform_alloc(size, alignment);
}

void counted_free(void *user, void *memory, size_t size);

/* Reads a buffer's first elements into memory that the caller frees. */
void *fetch(tml_context *tml, tml_buffer buffer, uint64_t count);

#endif
