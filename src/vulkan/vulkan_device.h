/* State of an open device, private to the core of the engine. Operations use vulkan_internal.h
 * instead. */
#ifndef TML_VULKAN_DEVICE_H
#define TML_VULKAN_DEVICE_H

#include "vulkan/vulkan_internal.h"

enum {
    VK_BATCHES = 8,          /* command buffers in flight */
    VK_OWN_KERNELS = 10,     /* lists of the library's and programs' kernels */
    VK_TABLES = 2,           /* of programs (vk_table) */
    VK_BATCH_OPS = 64,       /* dispatches and copies after which a batch is submitted */
    VK_STAGE_SIZE = 8 << 20, /* bytes of each half of the staging ring */
    VK_AFTER_MAX = 8,        /* semaphores that a submission waits for */
    VK_SHARING_MAX = 8,      /* tml_vulkan_desc.sharing_families */
};

/* One allocation of device memory, with one VkBuffer over all of it. */
typedef struct vk_block vk_block;

/* The memory of a slot: a piece of a block, or a caller-owned VkBuffer, or caller-owned host
 * memory. */
typedef struct vk_buffer {
    VkBuffer handle;
    VkDeviceSize offset, size; /* size as taken from the block */
    vk_address address;
    vk_block *block; /* NULL: the caller's */
    void *host;      /* host pointer, if it is mapped; else NULL */
    void *mapping;   /* tml_buffer_map: a copy in the host's memory, until tml_buffer_unmap */
    struct vk_buffer *next; /* in the list of discarded or of retired buffers */
    uint32_t last_batch;    /* the last batch that may use it */
} vk_buffer;

typedef struct vk_memory {
    vk_block *blocks;
    uint64_t used, limit; /* device-local bytes in blocks, and their limit */
    uint32_t local_type, staging_type;
    uint32_t heap;                  /* heap index of local_type */
    bool host_visible;              /* local_type is host-visible, host-coherent and host-cached */
    tml_vulkan_allocator allocator; /* create is NULL: the engine's own */
    uint32_t families[VK_SHARING_MAX + 1], family_count; /* below 2: buffers are EXCLUSIVE */
} vk_memory;

/* A command buffer and the fence of its submission. */
typedef struct vk_batch {
    VkCommandBuffer commands;
    VkFence fence;
    bool is_recording, is_submitted;
    uint32_t dispatches;
    uint64_t serial;   /* of its submission, from 1 */
    const char *label; /* the call in whose region commands are recorded; NULL: none */
} vk_batch;

/* All specialization constants of a pipeline: the dispatch's own, those of the look-back, and the
 * subgroup size. */
enum { VK_SPECS_ALL = VK_SPECS_MAX + LOOK_SPECS + 1 };
typedef struct vk_specs {
    uint32_t count;
    uint32_t ids[VK_SPECS_ALL], values[VK_SPECS_ALL];
} vk_specs;

typedef struct vk_pipeline {
    const vk_module *module;
    vk_specs specs;
    VkPipeline pipeline;
} vk_pipeline;

typedef struct vk_sets vk_sets; /* vulkan_sampled.c */

struct vk_device {
    tml_context *tml;
    void *library; /* NULL: the caller gave get_instance_proc_addr */
    vk_functions fn;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    bool is_lent;
    bool is_lost;
    bool has_budget;       /* VK_EXT_memory_budget */
    bool has_size_control; /* subgroupSizeControl and computeFullSubgroups are enabled */
    vk_caps caps;
    VkDeviceSize max_buffer;  /* maxBufferSize, bytes; an allocation of that size may fail */
    double timestamp_seconds; /* seconds per tick; 0: the queue has no timestamps */
    uint64_t timestamp_mask;

    vk_memory memory;
    vk_buffer *arena;     /* the memory of tml->scratch */
    bool arena_recorded;  /* a caller-owned command buffer addresses it */
    vk_buffer *retired;   /* outgrown arenas that a caller-owned command buffer addresses */
    vk_buffer *discarded; /* to be freed when their last batch has completed */

    VkCommandPool pool;
    vk_batch batches[VK_BATCHES];
    uint32_t batch;                  /* index of the current one */
    uint64_t serial;                 /* submissions so far */
    VkCommandBuffer lent_commands;   /* the caller's command buffer, while recording into it */
    bool after_barrier;              /* nothing was recorded since the last barrier */
    bool only_compute;               /* only dispatches were recorded since then */
    const char *lent_label;          /* as vk_batch.label, of lent_commands */
    tml_vulkan_barrier lent_after;   /* which ends the recording */
    VkQueryPool queries;             /* two timestamps */
    VkSemaphore after[VK_AFTER_MAX]; /* which the next submission waits for */
    uint64_t after_values[VK_AFTER_MAX];
    uint32_t after_count;
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;

    /* Staging ring of two halves. A half is reused once the batch that copied with it has
     * completed. */
    vk_buffer *stages[2];
    uint32_t stage_batch[2]; /* 1 + the batch that uses the half; 0: none */
    uint32_t stage;

    VkDescriptorSetLayout set_layout;
    vk_sets *sets;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    bool is_cache_lent;
    vk_pipeline *pipelines; /* hash table, open addressing */
    uint32_t pipeline_count, pipeline_capacity;

    /* Look-back states: two blocks of state_capacity words (vk_take_states). */
    vk_buffer *states[2];
    uint32_t state_capacity, state_zeroed[2], state_dirty[2], state_next;
    vk_buffer *stalled;           /* the word of vk_states.stalled, mapped; made by vk_probe */
    vk_buffer *tables[VK_TABLES]; /* by vk_table, one for each fill */
    void (*table_fills[VK_TABLES])(uint32_t *out);

    const tml_vulkan_kernel *kernels;
    const tml_vulkan_kernel *own_kernels[VK_OWN_KERNELS]; /* of programs; unused entries are NULL */
    struct vk_kernel_cache *kernel_cache;                 /* vulkan_kernel.c */
};

static inline vk_device *vk_device_of(const tml_context *tml)
{
    return tml->engine_state;
}

/* ---- vulkan_device.c ------------------------------------------------------------------------- */

uint32_t vk_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity);
tml_status vk_open(tml_context *tml, const tml_open_desc *desc);
void vk_close(tml_context *tml);

/* ---- vulkan_error.c -------------------------------------------------------------------------- */

/* Status and message of a failed Vulkan call. what: names the call, as "tml_open:
 * vkCreateDevice". */
tml_status vk_failed(tml_context *tml, VkResult result, const char *what);
/* Names an object for debuggers, if the instance has VK_EXT_debug_utils. */
void vk_name(const vk_device *device, VkObjectType type, uint64_t handle, const char *name);

/* ---- vulkan_probe.c -------------------------------------------------------------------------- */

/* Last step of tml_open: submits probe.comp and waits. Returns NO_DEVICE, with a message, if the
 * device lacks a property that shaders require. If the device lacks only forward progress, clears
 * the vk_caps that depend on it. */
tml_status vk_probe(tml_context *tml);

/* ---- vulkan_memory.c ------------------------------------------------------------------------- */

typedef enum vk_memory_kind { VK_MEMORY_DEVICE, VK_MEMORY_STAGING } vk_memory_kind;
tml_status vk_memory_open(tml_context *tml, const tml_vulkan_desc *desc);
void vk_memory_close(tml_context *tml);
/* Allocates size bytes, 256-byte aligned; size 0 allocates 256. call: begins the error message. */
tml_status vk_memory_take(tml_context *tml, const char *call, vk_memory_kind kind,
                          VkDeviceSize size, vk_buffer **out);
void vk_memory_give(tml_context *tml, vk_buffer *buffer);
/* Frees buffer once the device has completed all work enqueued so far. Does not wait. */
void vk_memory_discard(tml_context *tml, vk_buffer *buffer);
/* Frees the discarded buffers whose last batch is this one, which has completed. */
void vk_memory_collect(tml_context *tml, uint32_t batch);

tml_status vk_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc);
void vk_buffer_destroy(tml_context *tml, tml_slot *slot);
void vk_buffer_lay(tml_context *tml, tml_slot *slot, void *scratch);
/* Finds the VkBuffer, engine-owned or caller-owned, that contains an address; false if there is
 * none. */
bool vk_find_buffer(const tml_context *tml, vk_address address, VkBuffer *handle,
                    VkDeviceSize *offset);
tml_status vk_scratch_resize(tml_context *tml, const char *call, size_t size, void **out);
/* Frees the retired arenas: the caller will not submit its recordings again. */
void vk_scratch_forget(tml_context *tml);
/* Releases the host memory of tml_buffer_map for a buffer that is not itself mapped. */
static inline size_t vk_mapping_size(const tml_slot *slot)
{
    return TML_MAX_OF((size_t)slot->size, (size_t)1);
}

/* ---- vulkan_copy.c --------------------------------------------------------------------------- */

tml_status vk_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out);
tml_status vk_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, const void *in);
/* tml_engine.put, by the shader that stores kernels' parameters. vulkan_kernel.c */
tml_status vk_put(tml_context *tml, tml_slot *slot, size_t size, const void *in);
tml_status vk_read_begin(tml_context *tml, tml_slot *slot, uint64_t offset, tml_reading *reading);
tml_status vk_read_poll(tml_context *tml, tml_reading *reading, void *out, bool *done);
void vk_read_free(tml_context *tml, tml_reading *reading);
/* The caller of vk_map has waited for all work. */
tml_status vk_map(tml_context *tml, tml_slot *slot, void **out);
void vk_unmap(tml_context *tml, tml_slot *slot);

/* ---- vulkan_record.c ------------------------------------------------------------------------- */

tml_status vk_record_open(tml_context *tml);
void vk_record_close(tml_context *tml);
/* vk_commands returns the command buffer to record into, after recording the memory barrier that
 * "work" requires. */
typedef enum vk_work {
    VK_WORK_UNORDERED, /* a dispatch that needs no barrier */
    VK_WORK_COMPUTE,
    VK_WORK_INDIRECT,
    VK_WORK_OTHER, /* copies, queries */
} vk_work;
/* The engine's entries of these names (core/engine.h); vulkan_pipeline.c has those of the cache. */
tml_status vk_cache_get(tml_context *tml, void *data, size_t *size);
tml_status vk_cache_add(tml_context *tml, const void *data, size_t size);
tml_status vk_time_begin(tml_context *tml);
tml_status vk_time_end(tml_context *tml, double *seconds);
tml_status vk_commands(tml_context *tml, vk_work work, VkCommandBuffer *out);
tml_status vk_submit(tml_context *tml); /* ends and submits the current batch */
tml_status vk_sync(tml_context *tml);   /* submits, and waits for all batches */
void vk_lose(tml_context *tml); /* marks the device as lost: enqueued work will not be done */
/* The last batch with work that may be pending; false: there is none. */
bool vk_batch_last(const vk_device *device, uint32_t *batch);
tml_status vk_batch_wait(tml_context *tml, uint32_t batch);
/* Has the submission with this serial completed? Does not wait. */
tml_status vk_batch_poll(tml_context *tml, uint64_t serial, bool *done);
/* Returns TML_ERROR_STALLED, once, if a look-back in completed work gave up waiting: in
 * tml_compact, tml_unique, tml_scan, or a scan of counts (vk_scan_counts). Every public call that
 * waits calls it. */
tml_status vk_take_stall(tml_context *tml);

/* ---- vulkan_pipeline.c ----------------------------------------------------------------------- */

tml_status vk_pipelines_open(tml_context *tml, const tml_vulkan_desc *desc);
void vk_pipelines_close(tml_context *tml);
tml_status vk_pipeline_get(tml_context *tml, const vk_dispatch_info *info, VkPipeline *out);

/* ---- vulkan_sampled.c ------------------------------------------------------------------------ */

VkResult vk_sampled_open(vk_device *device);
void vk_sampled_close(tml_context *tml);
/* Binds a descriptor set of this image, valid for as long as the commands are. */
tml_status vk_sampled_bind(tml_context *tml, VkCommandBuffer commands, const vk_sampled *texture);
/* Reclaims the sets of a batch that has completed, and the sets of the caller's recordings. */
void vk_sampled_collect(vk_device *device, uint32_t batch);
void vk_sampled_forget(vk_device *device);

/* ---- vulkan_kernel.c ------------------------------------------------------------------------- */

void vk_kernels_learn(tml_context *tml, const tml_vulkan_kernel *kernels);
void vk_kernels_close(tml_context *tml);

#endif
