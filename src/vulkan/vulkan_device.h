/* The state of an open device: for the files of the engine's core alone (vulkan_device.c,
 * vulkan_memory.c, vulkan_record.c, vulkan_pipeline.c, vulkan_kernel.c). Operations see
 * vulkan_internal.h. */
#ifndef TML_VULKAN_DEVICE_H
#define TML_VULKAN_DEVICE_H

#include "vulkan/vulkan_internal.h"

enum {
    VK_BATCHES = 8,          /* command buffers in flight */
    VK_OWN_KERNELS = 4,      /* lists of programs' kernels */
    VK_BATCH_OPS = 64,       /* dispatches after which a batch is submitted unasked */
    VK_STAGE_SIZE = 8 << 20, /* each half of the staging ring, bytes */
};

/* Memory that belongs together: one allocation with one VkBuffer over all of it. */
typedef struct vk_block vk_block;

/* What a slot's memory points to: a piece of a block, or of the caller's buffer. */
typedef struct vk_buffer {
    VkBuffer handle;
    VkDeviceSize offset, size; /* size as taken from the block */
    vk_address address;
    vk_block *block;           /* NULL: lent */
    void *host;                /* where it is mapped, or NULL */
    void *mapping;             /* tml_buffer_map: a copy in the host's memory, until tml_buffer_unmap */
    struct vk_buffer *next;    /* in the list that holds it once it is nobody's */
    uint32_t last_batch;       /* that may use it */
} vk_buffer;

typedef struct vk_memory {
    vk_block *blocks;
    uint64_t used, limit; /* device-local bytes in blocks; the most there may be */
    uint32_t local_type, staging_type;
    uint32_t heap;     /* of the local type */
    bool host_visible; /* device-local memory is mapped and as good as the host's own */
} vk_memory;

/* Commands recorded or running. */
typedef struct vk_batch {
    VkCommandBuffer commands;
    VkFence fence;
    bool is_recording, is_submitted;
    uint32_t dispatches;
} vk_batch;

typedef struct vk_pipeline {
    const vk_module *module;
    uint32_t spec_count;
    uint32_t specs[VK_SPECS_MAX];
    VkPipeline pipeline;
} vk_pipeline;

struct vk_device {
    tml_context *tml;
    void *library; /* NULL: the caller's loader */
    vk_functions fn;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    bool is_lent;
    bool is_lost;
    bool has_budget;       /* VK_EXT_memory_budget */
    bool has_size_control; /* pipelines can ask for a subgroup size and full subgroups */
    vk_caps caps;
    VkDeviceSize max_buffer;  /* bytes; what may be allocated at once the driver decides */
    double timestamp_seconds; /* of one tick; 0: the queue has none */
    uint64_t timestamp_mask;

    vk_memory memory;
    vk_buffer *arena;     /* behind tml->scratch */
    bool arena_recorded;  /* commands of the caller's address it */
    vk_buffer *retired;   /* arenas that were outgrown, which commands of the caller's address */
    vk_buffer *discarded; /* to be given back after their last batch */

    VkCommandPool pool;
    vk_batch batches[VK_BATCHES];
    uint32_t batch;                /* the current one */
    VkCommandBuffer lent_commands; /* while recording into the caller's */
    bool after_barrier;            /* nothing was recorded since the last barrier */
    bool only_compute;             /* nothing but dispatches was */
    VkQueryPool queries;           /* two timestamps */

    /* Staging ring: two halves, each reusable once the batch that copied from it is done. */
    vk_buffer *stages[2];
    uint32_t stage_batch[2]; /* batch + 1 that uses the half; 0: none */
    uint32_t stage;

    VkPipelineLayout layout;
    VkPipelineCache cache;
    vk_pipeline *pipelines; /* hash table, open addressing */
    uint32_t pipeline_count, pipeline_capacity;

    /* Look-back states: two blocks, of which the first zeroed words are zero. */
    vk_buffer *states[2];
    uint32_t state_capacity, state_zeroed[2], state_dirty[2], state_next;
    vk_buffer *stalled; /* the word of vk_states.stalled, mapped; vk_probe's */

    const tml_vulkan_kernel *kernels;
    const tml_vulkan_kernel *own_kernels[VK_OWN_KERNELS]; /* of programs; NULL ends them */
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
/* The status and message for a Vulkan call that failed: what names the call, "tml_buffer_read: vkMap...". */
tml_status vk_failed(tml_context *tml, VkResult result, const char *what);

/* ---- vulkan_probe.c -------------------------------------------------------------------------- */

/* Last in tml_open: one submission, waited for. NO_DEVICE, with a message, where the device does not do
 * what shaders rely on; where only one workgroup's look does not see another's store the context goes on
 * without what needs that. */
tml_status vk_probe(tml_context *tml);

/* ---- vulkan_memory.c ------------------------------------------------------------------------- */

typedef enum vk_memory_kind { VK_MEMORY_DEVICE, VK_MEMORY_STAGING } vk_memory_kind;
tml_status vk_memory_open(tml_context *tml, const tml_vulkan_desc *desc);
void vk_memory_close(tml_context *tml);
/* size bytes, 256-byte aligned; size 0 takes some. call is for the message. */
tml_status vk_memory_take(tml_context *tml, const char *call, vk_memory_kind kind,
                          VkDeviceSize size, vk_buffer **out);
void vk_memory_give(tml_context *tml, vk_buffer *buffer);
/* The same once the device has done what is enqueued so far; does not wait. */
void vk_memory_discard(tml_context *tml, vk_buffer *buffer);
/* A batch is done: gives back what it was the last to use. */
void vk_memory_collect(tml_context *tml, uint32_t batch);

tml_status vk_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc);
void vk_buffer_destroy(tml_context *tml, tml_slot *slot);
tml_status vk_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out);
tml_status vk_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, const void *in);
/* Behind a wait for all. */
tml_status vk_map(tml_context *tml, tml_slot *slot, void **out);
void vk_unmap(tml_context *tml, tml_slot *slot);
/* The buffer, ours or the caller's, that an address lies in. */
bool vk_find_buffer(const tml_context *tml, vk_address address, VkBuffer *handle,
                    VkDeviceSize *offset);
tml_status vk_scratch_resize(tml_context *tml, const char *call, size_t size, void **out);
/* Nothing that was recorded will run again: its scratch need not be kept. */
void vk_scratch_forget(tml_context *tml);

/* ---- vulkan_record.c ------------------------------------------------------------------------- */

tml_status vk_record_open(tml_context *tml);
void vk_record_close(tml_context *tml);
/* The command buffer to record into, begun, behind a barrier for all memory. */
typedef enum vk_work {
    VK_WORK_UNORDERED, /* a dispatch without that barrier */
    VK_WORK_COMPUTE,
    VK_WORK_INDIRECT,
    VK_WORK_OTHER, /* copies, queries */
} vk_work;
tml_status vk_commands(tml_context *tml, vk_work work, VkCommandBuffer *out);
tml_status vk_submit(tml_context *tml); /* what is recorded */
tml_status vk_sync(tml_context *tml);   /* submits and waits */
void vk_lose(tml_context *tml); /* what was enqueued will not be done: every later call says so */
/* The last batch that has work which may not be done; false: there is none. */
bool vk_batch_last(const vk_device *device, uint32_t *batch);
/* Waits for one batch. */
tml_status vk_batch_wait(tml_context *tml, uint32_t batch);
/* TML_ERROR_STALLED, once, where a shader gave up waiting in what the device has finished. For every call of
 * the caller's that waits. */
tml_status vk_take_stall(tml_context *tml);

/* ---- vulkan_pipeline.c ----------------------------------------------------------------------- */

tml_status vk_pipelines_open(tml_context *tml, const tml_vulkan_desc *desc);
void vk_pipelines_close(tml_context *tml);
tml_status vk_pipeline_get(tml_context *tml, const vk_dispatch_info *info, VkPipeline *out);

/* ---- vulkan_kernel.c ------------------------------------------------------------------------- */

void vk_kernels_learn(tml_context *tml, const tml_vulkan_kernel *kernels);
void vk_kernels_close(tml_context *tml);

#endif
