/* Contexts of the CPU engine for tests of files. */
#include "test.h"

#include "memory_watch.h"

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

tml_context *open_watched(memory_watch *watch)
{
    tml_context *tml = NULL;
    *watch = (memory_watch){0};
    tml_open_desc desc = {
        .engine = TML_ENGINE_CPU, .threads = 1, .allocator = {watched_alloc, watched_free, watch}};
    CHECK_OK(tml, tml_open(&desc, &tml));
    watch->largest = 0;
    return tml;
}

tml_context *open_plain(void)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 1};
    CHECK_OK(tml, tml_open(&desc, &tml));
    return tml;
}
