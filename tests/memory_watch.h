/* Contexts of the CPU engine for tests of files: one that counts its memory and can be made to run
 * out of it, and a plain one. Stands after test.h. */
#ifndef TML_TEST_MEMORY_WATCH_H
#define TML_TEST_MEMORY_WATCH_H

#include <stdlib.h>

#include "core/platform.h"

typedef struct memory_watch {
    size_t largest;   /* request so far */
    size_t live;      /* bytes not given back */
    size_t peak;      /* the most of them at once */
    uint64_t count;   /* requests so far */
    uint64_t fail_at; /* this request gets nothing; 0: none */
} memory_watch;

static void *watched_alloc(void *user, size_t size, size_t alignment)
{
    memory_watch *watch = user;
    watch->count++;
    watch->largest = size > watch->largest ? size : watch->largest;
    void *memory = watch->count == watch->fail_at ? NULL : tml_platform_alloc(size, alignment);
    if (!memory)
        return NULL;
    watch->live += size;
    watch->peak = watch->live > watch->peak ? watch->live : watch->peak;
    return memory;
}

static void watched_free(void *user, void *memory, size_t size)
{
    memory_watch *watch = user;
    watch->live -= size;
    tml_platform_free(memory);
}

static tml_context *open_watched(memory_watch *watch)
{
    tml_context *tml = NULL;
    *watch = (memory_watch){0};
    tml_open_desc desc = {
        .engine = TML_ENGINE_CPU, .threads = 1, .allocator = {watched_alloc, watched_free, watch}};
    CHECK_OK(tml, tml_open(&desc, &tml));
    watch->largest = 0;
    return tml;
}

static inline tml_context *open_plain(void)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1};
    CHECK_OK(tml, tml_open(&desc, &tml));
    return tml;
}

#endif
