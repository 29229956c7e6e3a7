/* Contexts and buffers that must come to be, for tests; include after test.h. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <stdio.h>
#include <stdlib.h>

#include "core/platform.h"

/* threads 0: as many as there are processors. */
static inline tml_context *open_cpu(uint32_t threads)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = threads}, &tml));
    return tml;
}

/* Opens the number-th device of all engines; NULL when there are no more. */
static inline tml_context *open_device(uint32_t number)
{
    enum { DEVICES = 16 };
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    tml_context *tml = NULL;
    char device[16];
    if (number >= count || number >= DEVICES)
        return NULL;
    snprintf(device, sizeof device, "%u", number);
    CHECK_OK(NULL,
             tml_open(&(tml_open_desc){.engine = infos[number].engine, .device = device}, &tml));
    return tml;
}

/* Takes addresses, not memory, until none are left for a buffer of PTRDIFF_MAX / 2 bytes: where
 * they have 32 bits, there may be some at first. */
static inline void fill_addresses(tml_context *tml)
{
    tml_buffer taken;
    while (tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U8, .count = PTRDIFF_MAX / 2},
                             &taken) == TML_OK)
        continue;
}

static inline tml_buffer buffer_of(tml_context *tml, tml_type type, uint64_t count,
                                   const void *data)
{
    tml_buffer buffer = {0, 0};
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                               &buffer));
    return buffer;
}

/* An allocator that counts what it is asked for in user, a uint64_t. */
static inline void *counted_alloc(void *user, size_t size, size_t alignment)
{
    ++*(uint64_t *)user;
    return tml_platform_alloc(size, alignment);
}
static inline void counted_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    tml_platform_free(memory);
}

/* A buffer's first elements on the heap. */
static inline void *fetch(tml_context *tml, tml_buffer buffer, uint64_t count)
{
    tml_type type = TML_U8;
    tml_buffer_describe(tml, buffer, &type, NULL);
    void *out = malloc(count * tml_type_size(type) + 1);
    if (count)
        CHECK_OK(tml, tml_buffer_read_range(tml, buffer, 0, count, out));
    return out;
}

#endif
