/* A context's memory: allocation, blocks that are kept for later buffers, the scratch arena. */
#include <string.h>

#include "core/call.h"

static void *default_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return tml_platform_alloc(size, alignment);
}

static void default_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    tml_platform_free(memory);
}

const tml_allocator tml_default_allocator = {default_alloc, default_free, NULL};

void *tml_alloc(tml_context *tml, size_t size)
{
    if (!tml || size == 0)
        return NULL;
    tml->counters.allocations++;
    tml_hook_begin(tml);
    void *memory = tml->allocator.alloc(tml->allocator.user, size, TML_ALIGNMENT);
    tml_hook_end(tml);
    return memory;
}

void tml_free(tml_context *tml, void *memory, size_t size)
{
    if (!tml || !memory)
        return;
    tml_hook_begin(tml);
    tml->allocator.free(tml->allocator.user, memory, size);
    tml_hook_end(tml);
}

void *tml_grow(tml_context *tml, tml_growing *array, size_t size)
{
    if (array->room - array->size < size) {
        const size_t room = TML_MAX_OF(2 * array->room, array->size + size + 1024);
        void *memory = tml_alloc(tml, room);
        if (!memory)
            return NULL;
        if (array->size > 0)
            memcpy(memory, array->memory, array->size);
        tml_free(tml, array->memory, array->room);
        array->memory = memory;
        array->room = room;
    }
    void *bytes = (unsigned char *)array->memory + array->size;
    array->size += size;
    return bytes;
}

static void kept_free(tml_context *tml, tml_kept_block *block)
{
    tml_free(tml, block->memory, block->size);
    *block = (tml_kept_block){NULL, 0};
}

void *tml_memory_alloc(tml_context *tml, size_t size)
{
    for (uint32_t i = 0; i < TML_KEPT_BLOCKS; i++) {
        tml_kept_block block = tml->kept[i];
        if (block.memory && block.size >= size && block.size - size <= size / 4) {
            tml->kept[i] = (tml_kept_block){NULL, 0};
            return block.memory;
        }
    }
    void *memory = tml_alloc(tml, size);
    if (memory || size == 0)
        return memory;
    tml_memory_release(tml);
    return tml_alloc(tml, size);
}

void tml_memory_free(tml_context *tml, void *memory, size_t size)
{
    if (!memory || tml->allocator.alloc != tml_default_allocator.alloc || size > TML_KEPT_SIZE ||
        !tml_platform_lend(memory, size)) {
        tml_free(tml, memory, size);
        return;
    }
    kept_free(tml, &tml->kept[tml->kept_next]);
    tml->kept[tml->kept_next] = (tml_kept_block){memory, size};
    size_t sum = 0;
    for (uint32_t i = 0; i < TML_KEPT_BLOCKS; i++) { /* from the youngest on */
        tml_kept_block *block = &tml->kept[(tml->kept_next - i) % TML_KEPT_BLOCKS];
        sum += block->size;
        if (sum > TML_KEPT_SIZE)
            kept_free(tml, block);
    }
    tml->kept_next = (tml->kept_next + 1) % TML_KEPT_BLOCKS;
}

void tml_memory_release(tml_context *tml)
{
    for (uint32_t i = 0; i < TML_KEPT_BLOCKS; i++)
        kept_free(tml, &tml->kept[i]);
}

/* ---- the scratch arena ----------------------------------------------------------------------- */

/* Frees before it allocates, since the old contents need not be kept: the peak is the larger
 * size. */
static tml_status scratch_resize(tml_context *tml, const char *call, size_t size)
{
    tml_status status = TML_OK;
    if (tml->engine->scratch_resize) {
        status = tml->engine->scratch_resize(tml, call, size, &tml->scratch);
    } else {
        tml_free(tml, tml->scratch, tml->scratch_size);
        tml->scratch = tml_alloc(tml, size);
        if (!tml->scratch && size > 0)
            status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                               "%s: no memory for %zu bytes of scratch", call, size);
    }
    if (status == TML_OK)
        tml->scratch_size = size;
    else if (!tml->scratch)
        tml->scratch_size = 0;
    return status;
}

void *tml_prepare_scratch(tml_context *tml, size_t size)
{
    /* Above every address of a host or device, and as far below the end as a size can be. */
    const uintptr_t nowhere = UINTPTR_MAX / 4 + 1;
    if (size > 0) /* room to align a caller's buffer */
        tml->prepared.scratch_size = TML_MAX_OF(tml->prepared.scratch_size, size + TML_ALIGNMENT);
    return (void *)nowhere;
}

tml_status tml_scratch(tml_context *tml, const char *call, size_t size, void **out)
{
    if (tml->is_preparing) {
        *out = tml_prepare_scratch(tml, size);
        return TML_OK;
    }
    if (tml->scratch_held)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: takes the arena, which the program of streams that runs has", call);
    tml_status status = size > tml->scratch_size ? scratch_resize(tml, call, size) : TML_OK;
    *out = tml->scratch;
    tml->scratch_used |= size > 0;
    return status;
}

void tml_scratch_release(tml_context *tml)
{
    (void)scratch_resize(tml, "scratch", 0); /* a resize to 0 bytes cannot fail */
}

tml_status tml_reserve(tml_context *tml, size_t size)
{
    tml_status status = TML_ENTER(tml);
    if (status != TML_OK)
        return status;
    return tml_leave(tml, size > tml->scratch_size ? scratch_resize(tml, __func__, size) : TML_OK);
}
