/* Contexts and buffers that must come to be, for tests; include after test.h. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <stdio.h>
#include <stdlib.h>

#include "core/platform.h"

/* threads 0: as many as there are processors. */
tml_context *open_cpu(uint32_t threads);

/* Opens the number-th device of all engines; NULL when there are no more. */
tml_context *open_device(uint32_t number);

/* Takes addresses, not memory, until none are left for a buffer of PTRDIFF_MAX / 2 bytes: where
 * they have 32 bits, there may be some at first. */
void fill_addresses(tml_context *tml);
tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data);

/* An allocator that counts what it is asked for in user, a uint64_t. */
static inline void *counted_alloc(void *user, size_t size, size_t alignment)
{
    ++*(uint64_t *)user;
    return tml_platform_alloc(size, alignment);
}

void counted_free(void *user, void *memory, size_t size);

/* A buffer's first elements on the heap. */
void *fetch(tml_context *tml, tml_buffer buffer, uint64_t count);

#endif
