/* Device memory: blocks, buffers, scratch.
 *
 * A block is one VkDeviceMemory allocation with one VkBuffer over it. Buffers are pieces of blocks,
 * allocated first fit. Small pieces share blocks. Some blocks are kept when they are empty, since
 * drivers take a millisecond to allocate or free one. A piece of more than half a block has a block
 * of its own, so that its memory is freed with it. */
#include "core/call.h"
#include "vulkan/vulkan_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 32 << 20, PIECE_ALIGNMENT = 256, SPARES = 2 };

/* A free range of a block; gaps are sorted by offset. */
typedef struct vk_gap {
    VkDeviceSize offset, size;
} vk_gap;

struct vk_block {
    vk_block *next;
    vk_memory_kind kind;
    VkDeviceMemory memory; /* engine-owned; otherwise, lent holds it */
    VkBuffer handle;
    tml_vulkan_allocation lent; /* of the caller's allocator */
    bool is_counted;            /* in vk_memory.used */
    VkDeviceSize size;
    vk_address address;
    unsigned char *host;
    uint32_t pieces;
    vk_gap *gaps;
    uint32_t gap_count, gap_capacity;
};

/* ---- kinds of memory ------------------------------------------------------------------------- */

static bool find_type(const VkPhysicalDeviceMemoryProperties *memory, VkMemoryPropertyFlags wanted,
                      uint32_t *out)
{
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        if ((memory->memoryTypes[i].propertyFlags & wanted) == wanted) {
            *out = i;
            return true;
        }
    return false;
}

tml_status vk_memory_open(tml_context *tml, const tml_vulkan_desc *desc)
{
    vk_device *device = vk_device_of(tml);
    vk_memory *memory = &device->memory;
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    device->fn.GetPhysicalDeviceMemoryProperties2(device->physical, &properties);
    const VkPhysicalDeviceMemoryProperties *types = &properties.memoryProperties;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    /* The uncached window through which a discrete GPU's memory is host-visible does not count:
     * reading through it is a hundred times slower than a copy. */
    memory->host_visible = !tml->testing.vulkan_staging &&
                           find_type(types, local | host | cached, &memory->local_type);
    if (!memory->host_visible && !find_type(types, local, &memory->local_type))
        return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: %s has no memory of its own",
                         tml->device.name);
    if (!find_type(types, host | cached, &memory->staging_type) &&
        !find_type(types, host, &memory->staging_type))
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: %s has no memory that the host can map", tml->device.name);
    memory->limit = desc->memory_limit ? desc->memory_limit : UINT64_MAX;
    memory->allocator = desc->allocator;
    memory->families[memory->family_count++] = device->family;
    for (uint32_t i = 0; i < desc->sharing_family_count; i++)
        if (desc->sharing_families[i] != device->family)
            memory->families[memory->family_count++] = desc->sharing_families[i];
    memory->heap = types->memoryTypes[memory->local_type].heapIndex;
    return TML_OK;
}

static void block_destroy(tml_context *tml, vk_block *block);

/* Frees empty blocks; false: there are none. */
static bool free_spares(tml_context *tml)
{
    bool has_freed = false;
    for (vk_block *block = vk_device_of(tml)->memory.blocks, *next; block; block = next) {
        next = block->next;
        if (block->pieces == 0) {
            block_destroy(tml, block);
            has_freed = true;
        }
    }
    return has_freed;
}

/* Waits for discarded memory, then frees empty blocks. Returns false if there are none or the wait
 * failed. */
static bool reclaim(tml_context *tml)
{
    bool has_waited = vk_device_of(tml)->discarded && vk_sync(tml) == TML_OK;
    return free_spares(tml) || has_waited;
}

/* Bytes that the driver leaves to this process: from VK_EXT_memory_budget, or else the heap's size
 * less the engine's use. */
static uint64_t heap_room(const vk_device *device)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
        .pNext = device->has_budget ? &budget : NULL};
    device->fn.GetPhysicalDeviceMemoryProperties2(device->physical, &properties);
    const vk_memory *memory = &device->memory;
    uint64_t most = properties.memoryProperties.memoryHeaps[memory->heap].size, used = memory->used;
    if (device->has_budget) {
        most = budget.heapBudget[memory->heap];
        used = budget.heapUsage[memory->heap];
    }
    return most > used ? most - used : 0;
}

uint64_t vk_scratch_room(tml_context *tml)
{
    const vk_device *device = vk_device_of(tml);
    const vk_memory *memory = &device->memory;
    (void)reclaim(tml);
    uint64_t left = memory->limit > memory->used ? memory->limit - memory->used : 0;
    left = TML_MIN_OF(left, heap_room(device));
    left -= TML_MIN_OF(left / 8, (uint64_t)2 * BLOCK_SIZE);
    /* vk_scratch_resize frees an arena that no recording addresses before it allocates another. */
    uint64_t given = device->arena && !device->arena_recorded ? device->arena->size : 0;
    return TML_MIN_OF(TML_MAX_OF(left + given, tml->scratch_size), (uint64_t)device->max_buffer);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void block_unmake(vk_device *device, vk_block *block)
{
    if (block->lent.buffer) {
        tml_hook_begin(device->tml);
        device->memory.allocator.destroy(device->memory.allocator.user, &block->lent);
        tml_hook_end(device->tml);
    } else {
        if (block->handle)
            device->fn.DestroyBuffer(device->device, block->handle, NULL);
        if (block->memory)
            device->fn.FreeMemory(device->device, block->memory, NULL);
    }
    if (block->is_counted)
        device->memory.used -= block->size;
    block->lent = (tml_vulkan_allocation){0};
    block->handle = VK_NULL_HANDLE;
    block->memory = VK_NULL_HANDLE;
    block->is_counted = false;
}

static void block_destroy(tml_context *tml, vk_block *block)
{
    vk_device *device = vk_device_of(tml);
    for (vk_block **link = &device->memory.blocks; *link; link = &(*link)->next)
        if (*link == block) {
            *link = block->next;
            break;
        }
    block_unmake(device, block);
    tml_free(tml, block->gaps, block->gap_capacity * sizeof *block->gaps);
    tml_free(tml, block, sizeof *block);
}

/* The block's buffer with engine-owned memory, mapped if the host accesses it. */
static VkResult block_allocate(const vk_device *device, vk_block *block,
                               const VkBufferCreateInfo *info, uint32_t type, bool is_mapped)
{
    VkResult result = device->fn.CreateBuffer(device->device, info, NULL, &block->handle);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    device->fn.GetBufferMemoryRequirements(device->device, block->handle, &needs);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    result = device->fn.AllocateMemory(device->device, &memory, NULL, &block->memory);
    if (result == VK_SUCCESS)
        result = device->fn.BindBufferMemory(device->device, block->handle, block->memory, 0);
    void *host = NULL;
    if (result == VK_SUCCESS && is_mapped)
        result = device->fn.MapMemory(device->device, block->memory, 0, VK_WHOLE_SIZE, 0, &host);
    block->host = host;
    return result;
}

/* The same with memory from the caller's allocator. */
static VkResult block_borrow(vk_device *device, vk_block *block, const VkBufferCreateInfo *info,
                             uint32_t type, bool is_mapped)
{
    const tml_vulkan_allocator *allocator = &device->memory.allocator;
    tml_vulkan_allocation lent = {0};
    tml_hook_begin(device->tml);
    VkResult result = allocator->create(allocator->user, info, type, &lent);
    tml_hook_end(device->tml);
    if (result != VK_SUCCESS)
        return result;
    block->lent = lent;
    block->handle = lent.buffer;
    block->host = is_mapped ? lent.mapped : NULL;
    return lent.buffer && (!is_mapped || lent.mapped) ? VK_SUCCESS : VK_ERROR_MEMORY_MAP_FAILED;
}

static VkResult block_make(vk_device *device, vk_block *block)
{
    vk_memory *pool = &device->memory;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = block->size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
        .sharingMode =
            pool->family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = pool->family_count > 1 ? pool->family_count : 0,
        .pQueueFamilyIndices = pool->families};
    bool is_device = block->kind == VK_MEMORY_DEVICE;
    uint32_t type = is_device ? pool->local_type : pool->staging_type;
    bool is_mapped = !is_device || pool->host_visible;
    VkResult result = pool->allocator.create
                          ? block_borrow(device, block, &info, type, is_mapped)
                          : block_allocate(device, block, &info, type, is_mapped);
    if (result != VK_SUCCESS)
        return result;
    block->is_counted = is_device;
    if (is_device)
        pool->used += block->size;
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = block->handle};
    block->address = device->fn.GetBufferDeviceAddress(device->device, &address);
    vk_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)block->handle,
            is_device ? "trommel: device memory" : "trommel: staging");
    return VK_SUCCESS;
}

/* A small piece gets a block to share, unless the limit leaves too little for such a block. */
static VkDeviceSize block_size_for(const vk_memory *memory, vk_memory_kind kind, VkDeviceSize size)
{
    bool is_short = kind == VK_MEMORY_DEVICE && memory->limit - memory->used < BLOCK_SIZE;
    return size > BLOCK_SIZE / 2 || is_short ? size : (VkDeviceSize)BLOCK_SIZE;
}

static bool within_limit(const vk_memory *memory, vk_memory_kind kind, VkDeviceSize size)
{
    return kind != VK_MEMORY_DEVICE || size <= memory->limit - memory->used;
}

static tml_status block_create(tml_context *tml, const char *call, vk_memory_kind kind,
                               VkDeviceSize size, vk_block **out)
{
    vk_device *device = vk_device_of(tml);
    vk_memory *memory = &device->memory;
    VkDeviceSize block_size = block_size_for(memory, kind, size);
    char what[128];
    snprintf(what, sizeof what, "%s: %" PRIu64 " bytes of device memory", call, (uint64_t)size);
    if (size > device->max_buffer)
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%s: %s makes buffers of at most %" PRIu64 " bytes", what,
                         tml->device.name, (uint64_t)device->max_buffer);
    if (!within_limit(memory, kind, block_size))
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%s: %" PRIu64 " of the limit of %" PRIu64 " are taken", what,
                         memory->used, memory->limit);
    vk_block *block = tml_alloc(tml, sizeof *block);
    if (!block)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no host memory for its record", what);
    *block = (vk_block){.kind = kind, .size = block_size, .gap_capacity = 16};
    block->gaps = tml_alloc(tml, block->gap_capacity * sizeof *block->gaps);
    if (!block->gaps) {
        block->gap_capacity = 0;
        block_destroy(tml, block);
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no host memory for its record", what);
    }
    block->gaps[block->gap_count++] = (vk_gap){0, block_size};
    VkResult result = block_make(device, block);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && reclaim(tml)) {
        block_unmake(device, block);
        result = block_make(device, block);
    }
    if (result != VK_SUCCESS) {
        block_destroy(tml, block);
        return vk_failed(tml, result, what);
    }
    block->next = memory->blocks;
    memory->blocks = block;
    *out = block;
    return TML_OK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool block_cut(vk_block *block, VkDeviceSize size, VkDeviceSize *offset)
{
    for (uint32_t g = 0; g < block->gap_count; g++) {
        vk_gap *gap = &block->gaps[g];
        if (gap->size < size)
            continue;
        *offset = gap->offset;
        gap->offset += size;
        gap->size -= size;
        if (gap->size == 0)
            memmove(gap, gap + 1, (--block->gap_count - g) * sizeof *gap);
        block->pieces++;
        return true;
    }
    return false;
}

/* Ensures capacity for one gap more than the coming number of pieces, so that freeing never
 * allocates. */
static bool gaps_reserve(tml_context *tml, vk_block *block)
{
    if (block->pieces + 2 < block->gap_capacity)
        return true;
    uint32_t capacity = 2 * block->gap_capacity;
    vk_gap *gaps = tml_alloc(tml, capacity * sizeof *gaps);
    if (!gaps)
        return false;
    memcpy(gaps, block->gaps, block->gap_count * sizeof *gaps);
    tml_free(tml, block->gaps, block->gap_capacity * sizeof *gaps);
    block->gaps = gaps;
    block->gap_capacity = capacity;
    return true;
}

static void block_join(vk_block *block, VkDeviceSize offset, VkDeviceSize size)
{
    uint32_t g = 0;
    while (g < block->gap_count && block->gaps[g].offset < offset)
        g++;
    bool joins_low = g > 0 && block->gaps[g - 1].offset + block->gaps[g - 1].size == offset;
    bool joins_high = g < block->gap_count && offset + size == block->gaps[g].offset;
    if (joins_low && joins_high) {
        block->gaps[g - 1].size += size + block->gaps[g].size;
        memmove(&block->gaps[g], &block->gaps[g + 1],
                (--block->gap_count - g) * sizeof *block->gaps);
    } else if (joins_low) {
        block->gaps[g - 1].size += size;
    } else if (joins_high) {
        block->gaps[g].offset = offset;
        block->gaps[g].size += size;
    } else {
        memmove(&block->gaps[g + 1], &block->gaps[g],
                (block->gap_count++ - g) * sizeof *block->gaps);
        block->gaps[g] = (vk_gap){offset, size};
    }
    block->pieces--;
}

/* The block that the piece was cut from; NULL: no block has a large enough gap. */
static vk_block *find_room(tml_context *tml, vk_memory_kind kind, VkDeviceSize size,
                           VkDeviceSize *offset)
{
    vk_block *block = vk_device_of(tml)->memory.blocks;
    while (block &&
           !(block->kind == kind && gaps_reserve(tml, block) && block_cut(block, size, offset)))
        block = block->next;
    return block;
}

tml_status vk_memory_take(tml_context *tml, const char *call, vk_memory_kind kind,
                          VkDeviceSize size, vk_buffer **out)
{
    vk_device *device = vk_device_of(tml);
    *out = NULL;
    size = TML_ALIGN_UP(TML_MAX_OF(size, (VkDeviceSize)1), (VkDeviceSize)PIECE_ALIGNMENT);
    vk_buffer *buffer = tml_alloc(tml, sizeof *buffer);
    if (!buffer)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no host memory for a buffer's record",
                         call);
    *buffer = (vk_buffer){.size = size};
    const vk_memory *memory = &device->memory;
    vk_block *block = find_room(tml, kind, size, &buffer->offset);
    if (!block && !within_limit(memory, kind, block_size_for(memory, kind, size)) && reclaim(tml))
        block = find_room(tml, kind, size, &buffer->offset);
    tml_status status = TML_OK;
    if (!block) {
        status = block_create(tml, call, kind, size, &block);
        assert(block || status != TML_OK);
        if (status == TML_OK)
            (void)block_cut(block, size, &buffer->offset); /* a new block is large enough */
    }
    if (status != TML_OK) {
        tml_free(tml, buffer, sizeof *buffer);
        return status;
    }
    buffer->block = block;
    buffer->handle = block->handle;
    buffer->address = block->address + buffer->offset;
    buffer->host = block->host ? block->host + buffer->offset : NULL;
    *out = buffer;
    return TML_OK;
}

/* May an empty block be kept? Not if memory is limited, nor if it is caller-owned, since the caller
 * may need it elsewhere. */
static bool is_spare(const vk_memory *memory, const vk_block *empty)
{
    uint32_t others = 0;
    for (const vk_block *block = memory->blocks; block; block = block->next)
        others += block != empty && block->pieces == 0;
    return empty->kind == VK_MEMORY_DEVICE && empty->size == BLOCK_SIZE &&
           memory->limit == UINT64_MAX && !memory->allocator.create && others < SPARES;
}

void vk_memory_give(tml_context *tml, vk_buffer *buffer)
{
    if (!buffer)
        return;
    vk_block *block = buffer->block;
    if (block) {
        block_join(block, buffer->offset, buffer->size);
        if (block->pieces == 0 && !is_spare(&vk_device_of(tml)->memory, block))
            block_destroy(tml, block);
    }
    tml_free(tml, buffer, sizeof *buffer);
}

void vk_memory_discard(tml_context *tml, vk_buffer *buffer)
{
    vk_device *device = vk_device_of(tml);
    if (!buffer || !buffer->block || !vk_batch_last(device, &buffer->last_batch)) {
        vk_memory_give(tml, buffer);
        return;
    }
    buffer->next = device->discarded;
    device->discarded = buffer;
}

void vk_memory_collect(tml_context *tml, uint32_t batch)
{
    for (vk_buffer **link = &vk_device_of(tml)->discarded; *link;) {
        vk_buffer *buffer = *link;
        if (buffer->last_batch != batch) {
            link = &buffer->next;
            continue;
        }
        *link = buffer->next;
        vk_memory_give(tml, buffer);
    }
}

static void give_list(tml_context *tml, vk_buffer **list)
{
    while (*list) {
        vk_buffer *buffer = *list;
        *list = buffer->next;
        vk_memory_give(tml, buffer);
    }
}

void vk_memory_close(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    give_list(tml, &device->discarded);
    give_list(tml, &device->retired);
    for (int i = 0; i < 2; i++) {
        vk_memory_give(tml, device->stages[i]);
        vk_memory_give(tml, device->states[i]);
    }
    vk_memory_give(tml, device->stalled);
    for (int i = 0; i < VK_TABLES; i++)
        vk_memory_give(tml, device->tables[i]);
    while (device->memory.blocks) /* none, unless a failure left one */
        block_destroy(tml, device->memory.blocks);
}

/* ---- scratch --------------------------------------------------------------------------------- */

/* Command buffers that the caller keeps continue to address the arena with which they were
 * recorded. Such an arena is retired, not freed, until the caller forgets its recordings; it is
 * reused if it is large enough. Each new arena is twice as large as the largest retired one, so
 * that all retired arenas together are no larger than the arena in use. */
static void arena_leave(tml_context *tml, bool at_once)
{
    vk_device *device = vk_device_of(tml);
    vk_buffer *arena = device->arena;
    device->arena = NULL;
    if (!arena)
        return;
    if (device->arena_recorded) {
        arena->next = device->retired;
        device->retired = arena;
    } else {
        vk_memory_discard(tml, arena);
        if (at_once)
            (void)reclaim(tml); /* after a failure the device is marked as lost */
    }
    device->arena_recorded = false;
}

/* Takes the smallest retired arena of at least size bytes; NULL if there is none. *largest: the
 * size of the largest retired arena. */
static vk_buffer *arena_return(vk_device *device, size_t size, VkDeviceSize *largest)
{
    vk_buffer **best = NULL;
    *largest = 0;
    for (vk_buffer **link = &device->retired; *link; link = &(*link)->next) {
        *largest = TML_MAX_OF(*largest, (*link)->size);
        if ((*link)->size >= size && (!best || (*link)->size < (*best)->size))
            best = link;
    }
    vk_buffer *arena = best ? *best : NULL;
    if (best)
        *best = arena->next;
    return arena;
}

/* Twice the largest retired arena, if that much memory is available; else size. */
static VkDeviceSize arena_size(tml_context *tml, size_t size, VkDeviceSize largest)
{
    uint64_t room = 2 * largest > size ? vk_scratch_room(tml) : 0;
    return 2 * largest <= room ? TML_MAX_OF(2 * largest, (VkDeviceSize)size) : size;
}

tml_status vk_scratch_resize(tml_context *tml, const char *call, size_t size, void **out)
{
    vk_device *device = vk_device_of(tml);
    bool is_enough = device->arena && size > 0 && device->arena->size >= size;
    if (device->lent_commands && size > 0 && !is_enough)
        return tml_error(tml, TML_ERROR_SCRATCH_TOO_SMALL,
                         "%s: %zu bytes of scratch are needed while recording into a command "
                         "buffer, and there are %zu; call tml_reserve before tml_vulkan_record, "
                         "or give desc.scratch",
                         call, size, tml->scratch_size);
    if (is_enough)
        return TML_OK;
    arena_leave(tml, size == 0);
    *out = NULL;
    if (size == 0)
        return TML_OK;
    VkDeviceSize largest;
    device->arena = arena_return(device, size, &largest);
    device->arena_recorded = device->arena != NULL;
    tml_status status = TML_OK;
    if (!device->arena)
        status = vk_memory_take(tml, call, VK_MEMORY_DEVICE, arena_size(tml, size, largest),
                                &device->arena);
    if (status == TML_OK)
        *out = (void *)(uintptr_t)device->arena->address;
    return status;
}

void vk_scratch_forget(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    while (device->retired) {
        vk_buffer *arena = device->retired;
        device->retired = arena->next;
        vk_memory_discard(tml, arena);
    }
    device->arena_recorded = false;
}

/* ---- buffers --------------------------------------------------------------------------------- */

vk_address vk_slot_address(const tml_slot *slot)
{
    return slot ? ((const vk_buffer *)slot->memory)->address : 0;
}

const void *vk_slot_host(const tml_slot *slot)
{
    return ((const vk_buffer *)slot->memory)->host;
}

vk_address vk_address_of(const tml_context *tml, tml_buffer buffer)
{
    return vk_slot_address(tml_slot_of(tml, buffer));
}

void vk_buffer_lay(tml_context *tml, tml_slot *slot, void *scratch)
{
    vk_buffer *buffer = (vk_buffer *)(void *)((tml_array_slot *)(void *)slot)->record;
    const vk_buffer *arena = vk_device_of(tml)->arena;
    const vk_address address = (vk_address)(uintptr_t)scratch;
    _Static_assert(sizeof *buffer <= sizeof(uint64_t[TML_RECORD_WORDS]), "a record has room");
    *buffer = (vk_buffer){.address = address, .size = slot->size};
    if (arena && address - arena->address < arena->size) {
        const VkDeviceSize at = address - arena->address;
        buffer->handle = arena->handle;
        buffer->offset = arena->offset + at;
        buffer->host = arena->host ? (unsigned char *)arena->host + at : NULL;
    }
    slot->memory = buffer;
}

static tml_status lend_buffer(tml_context *tml, tml_slot *slot, const tml_vulkan_memory *lent,
                              vk_buffer **out)
{
    vk_device *device = vk_device_of(tml);
    if (!lent->buffer || lent->offset % 4 != 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_buffer_create: desc.vulkan has %s, needs a VkBuffer and an offset "
                         "that is a multiple of 4",
                         lent->buffer ? "an odd offset" : "no buffer");
    vk_buffer *buffer = tml_alloc(tml, sizeof *buffer);
    if (!buffer)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_buffer_create: no host memory for a buffer's record");
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = lent->buffer};
    *buffer = (vk_buffer){.handle = lent->buffer, .offset = lent->offset, .size = slot->size};
    buffer->address = device->fn.GetBufferDeviceAddress(device->device, &info) + lent->offset;
    slot->lent = true;
    *out = buffer;
    return TML_OK;
}

/* The caller's host memory, which has no device address. */
static tml_status lend_host(tml_context *tml, tml_slot *slot, void *host, vk_buffer **out)
{
    vk_buffer *buffer = tml_alloc(tml, sizeof *buffer);
    if (!buffer)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_buffer_create: no host memory for a buffer's record");
    *buffer = (vk_buffer){.size = slot->size, .host = host};
    slot->lent = slot->on_host = true;
    *out = buffer;
    return TML_OK;
}

tml_status vk_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc)
{
    vk_buffer *buffer = NULL;
    tml_status status = TML_OK;
    if (desc->host && desc->vulkan)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_buffer_create: desc.host and desc.vulkan exclude each other");
    if (desc->data && slot->size)
        status = tml_refuse_recording(tml, "tml_buffer_create with desc.data", NULL);
    if (status != TML_OK)
        return status;
    if (desc->host)
        status = lend_host(tml, slot, desc->host, &buffer);
    else if (desc->vulkan)
        status = lend_buffer(tml, slot, desc->vulkan, &buffer);
    else
        status = vk_memory_take(tml, "tml_buffer_create", VK_MEMORY_DEVICE, slot->size, &buffer);
    if (status != TML_OK)
        return status;
    slot->memory = buffer;
    if (desc->data && slot->size)
        status = vk_write(tml, slot, 0, slot->size, desc->data);
    if (status != TML_OK) {
        vk_memory_give(tml, buffer);
        slot->memory = NULL;
    }
    return status;
}

void vk_buffer_destroy(tml_context *tml, tml_slot *slot)
{
    vk_buffer *buffer = slot->memory;
    tml_free(tml, buffer->mapping, vk_mapping_size(slot));
    vk_memory_discard(tml, buffer);
    slot->memory = NULL;
}

static tml_status find_buffer(tml_context *tml, tml_buffer buffer, tml_vulkan_memory *memory,
                              VkDeviceAddress *address)
{
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_vulkan_buffer: the context is not on Vulkan");
    tml_status status = tml_check_buffer(tml, "tml_vulkan_buffer", "buffer", buffer, NULL, 0);
    if (status != TML_OK)
        return status;
    const vk_buffer *record = tml_slot_of(tml, buffer)->memory;
    if (memory)
        *memory = (tml_vulkan_memory){record->handle, record->offset};
    if (address)
        *address = record->address;
    return TML_OK;
}

tml_status tml_vulkan_buffer(tml_context *tml, tml_buffer buffer, tml_vulkan_memory *memory,
                             VkDeviceAddress *address)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, find_buffer(tml, buffer, memory, address));
}

bool vk_find_buffer(const tml_context *tml, vk_address address, VkBuffer *handle,
                    VkDeviceSize *offset)
{
    for (const vk_block *block = vk_device_of(tml)->memory.blocks; block; block = block->next)
        if (address - block->address < block->size) {
            *handle = block->handle;
            *offset = address - block->address;
            return true;
        }
    for (uint32_t i = 1; i < tml->slot_count; i++) {
        const tml_slot *slot = tml_slot_at(tml, i);
        const vk_buffer *buffer = slot->generation & 1 && !slot->on_host ? slot->memory : NULL;
        if (buffer && address - buffer->address < buffer->size) {
            *handle = buffer->handle;
            *offset = buffer->offset + (address - buffer->address);
            return true;
        }
    }
    return false;
}
