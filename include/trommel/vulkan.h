/* Trommel inside your own Vulkan program: for programs that own the device, a queue, buffers,
 * images or the command buffer. docs/vulkan.md has examples, and what recordings and frames in
 * flight mean in practice.
 *
 *     tml_vulkan_features(proc, instance, gpu, &features, &features12, NULL);     before the device
 *     tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &mine}, &tml);
 *     tml_vulkan_record(tml, commands, NULL, NULL);
 *     tml_compact(tml, &cull);                                     into commands, and nothing else
 *     tml_vulkan_indirect(tml, &arguments);
 *     tml_vulkan_record_end(tml);                                  submit as often as you like
 *
 * Requires: Vulkan 1.2, a queue with compute, bufferDeviceAddress. Used if the device has them:
 * shaderFloat64 (else f64 elements are UNSUPPORTED), subgroup size control, timestamps. Nothing is
 * linked: the loader (libvulkan.so.1) is opened at run time.
 *
 * What a program may give, and is never destroyed, freed or waited for beyond what the calls say:
 *   nothing              tml_open finds a device (discrete before integrated; software drivers only
 *                        on request) and owns what it makes
 *   instance and device  tml_vulkan_desc: the context makes its buffers and pipelines on the
 *                        device, and submits to the queue
 *   memory, pipelines    tml_vulkan_desc: an allocator, a pipeline cache
 *   buffers              tml_buffer_desc.vulkan
 *   images               tml_image.vulkan (trommel/image.h)
 *   a command buffer     tml_vulkan_record
 *   semaphores           tml_vulkan_after, tml_vulkan_signal
 *
 * The queue: no other thread may use it during a call that waits or submits, unless desc.lock_queue
 * keeps the threads apart. tml_open is such a call, since it tries the device with one small
 * dispatch, and so is every call outside a recording. A submission begins and ends with a barrier
 * for all commands and all memory accesses of the queue.
 *
 * Every call here returns UNSUPPORTED for a context on another engine.
 *
 * If the instance has VK_EXT_debug_utils (the context's own has it if the loader does), pipelines
 * and memory have names, and the commands of a call are in a region of the call's name. */
#ifndef TROMMEL_VULKAN_H
#define TROMMEL_VULKAN_H

#include <trommel/core.h>
#include <trommel/kernel.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opening --------------------------------------------------------------------------------- */

/* Adds what the library can use of the physical device's features, for the program's
 * vkCreateDevice. The program chains the structs itself. A feature that is set stays set.
 * size_control  may be NULL. Its result goes into tml_vulkan_desc.has_size_control, and requires
 *               VK_EXT_subgroup_size_control before Vulkan 1.3
 * Returns: false if the device lacks what the library requires. */
TML_API bool tml_vulkan_features(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                 VkInstance instance, VkPhysicalDevice physical_device,
                                 VkPhysicalDeviceFeatures *features,
                                 VkPhysicalDeviceVulkan12Features *features12,
                                 VkPhysicalDeviceSubgroupSizeControlFeatures *size_control);

/* A VkBuffer with its memory, made by a tml_vulkan_allocator. */
typedef struct tml_vulkan_allocation {
    VkBuffer buffer;
    void *mapped;     /* its first byte, if the memory type is HOST_VISIBLE; else ignored */
    void *allocation; /* the program's, for destroy */
} tml_vulkan_allocation;

/* Makes a context's device memory: blocks of 32 MiB that its buffers share, and a block for each
 * piece above 16 MiB. Called within calls that create buffers or need scratch, by their thread;
 * must not call the context.
 * create   makes a buffer by info in memory of this type (index of
 *          VkPhysicalDeviceMemoryProperties.memoryTypes), allocated with
 *          VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT and mapped if the type is HOST_VISIBLE. A result
 *          other than VK_SUCCESS becomes the call's error; destroy is not called then
 * destroy  is called when the device has completed all work with the buffer */
typedef struct tml_vulkan_allocator {
    VkResult (*create)(void *user, const VkBufferCreateInfo *info, uint32_t memory_type,
                       tml_vulkan_allocation *out);
    void (*destroy)(void *user, const tml_vulkan_allocation *allocation);
    void *user;
} tml_vulkan_allocator;

/* The forms of one TML_KERNEL in SPIR-V, as it is or packed by the CMake function
 * trommel_add_kernels(). The library finds a kernel by the text of its GLSL and of its library. */
enum { TML_VULKAN_KERNEL_FORMS = 3 };
typedef struct tml_vulkan_kernel {
    const char *glsl;                              /* tml_kernel.glsl; NULL ends a list */
    const uint32_t *code[TML_VULKAN_KERNEL_FORMS]; /* map, keep, compact; NULL: form not built */
    size_t size[TML_VULKAN_KERNEL_FORMS];          /* bytes */
    const char *library;                           /* tml_kernel.library */
} tml_vulkan_kernel;

/* tml_open_desc.vulkan, copied by tml_open. What a pointer refers to must outlive the context only
 * if its field says so. */
typedef struct tml_vulkan_desc {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; /* NULL: libvulkan.so.1's */
    /* The device: all of these or none. It has bufferDeviceAddress and, if it offers them, the
     * features that tml_vulkan_features names. Must outlive the context. */
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    /* The device was made with subgroupSizeControl and computeFullSubgroups. If it offers them and
     * was made without, its subgroups must have one size only: else INVALID_ARGUMENT. */
    bool has_size_control;
    /* Kernels of trommel_add_kernels(), ended by a zeroed one; must outlive the context. Other
     * kernels are compiled at run time if libshaderc is found. */
    const tml_vulkan_kernel *kernels;
    /* Most bytes of device memory for the context; 0: as many as the driver gives. tml_surface
     * works in slabs if a volume does not fit. */
    uint64_t memory_limit;
    /* Called around each submission to the queue by the thread that submits, for programs whose
     * other threads submit to it. Both or none; must not call the context. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;
    /* The rest only with a device of the program's. */
    tml_vulkan_allocator allocator; /* of device memory; create NULL: vkAllocateMemory */
    /* Makes the pipelines, and tml_cache copies its contents; NULL: the context has its own. Must
     * outlive the context, and be made without EXTERNALLY_SYNCHRONIZED. */
    VkPipelineCache pipeline_cache;
    /* At most 8 families whose queues use the context's buffers, which are CONCURRENT to them and
     * queue_family: ownership is not transferred. Copied. */
    const uint32_t *sharing_families;
    uint32_t sharing_family_count;
} tml_vulkan_desc;

/* Writes the context's own objects, to share its buffers. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_handles(tml_context *tml, tml_vulkan_desc *out);

/* ---- buffers and images ---------------------------------------------------------------------- */

/* tml_buffer_desc.vulkan: a buffer of the program's in place of the context's memory. Must outlive
 * the tml_buffer.
 * buffer  usage STORAGE_BUFFER, SHADER_DEVICE_ADDRESS, TRANSFER_SRC and TRANSFER_DST; for scratch
 *         INDIRECT_BUFFER too
 * offset  bytes, a multiple of the scalar's size and at least of 4 */
typedef struct tml_vulkan_memory {
    VkBuffer buffer;
    VkDeviceSize offset;
} tml_vulkan_memory;

/* Writes where a buffer lies, to bind it to the program's pipelines at memory.offset: buffers of
 * the context share VkBuffers. Each pointer may be NULL. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_buffer(tml_context *tml, tml_buffer buffer,
                                                    tml_vulkan_memory *memory,
                                                    VkDeviceAddress *address);

/* tml_image.vulkan: an image of the program's in place of a buffer, fetched as a sampled image.
 * view    2D, of the colour aspect; its first level has at least tml_image's width and height; its
 *         image has usage SAMPLED. Only barriers order its memory: the program's own, and those of
 *         recordings and submissions
 * layout  the image's when the operation runs: SHADER_READ_ONLY_OPTIMAL (UNDEFINED means that too)
 *         or GENERAL. The program brings it there and away by barriers
 * format  the view's: normalised or float, 8 to 32 bits per component, sRGB and packed ones
 *         (B10G11R11_UFLOAT_PACK32, E5B9G9R9_UFLOAT_PACK32, A2B10G10R10_UNORM_PACK32) included
 * The view must live until the work that reads it has completed; a view that a recording names,
 * until tml_vulkan_forget_recordings. */
typedef struct tml_vulkan_texture {
    VkImageView view;
    VkImageLayout layout;
    VkFormat format;
} tml_vulkan_texture;

/* ---- your command buffer --------------------------------------------------------------------- */

/* A barrier between the program's commands and a recording, whose work is in the stages
 * COMPUTE_SHADER, TRANSFER and DRAW_INDIRECT. Zeroed: all commands, all memory accesses. */
typedef struct tml_vulkan_barrier {
    VkPipelineStageFlags stages; /* of the program's commands; 0: ALL_COMMANDS, after it HOST too */
    VkAccessFlags access;        /* of the program's commands; 0: MEMORY_READ and MEMORY_WRITE */
    bool none; /* no barrier: the program has one, or nothing is shared, scratch included */
} tml_vulkan_barrier;

/* Records operations into commands up to tml_vulkan_record_end.
 * commands  in the recording state, outside a render pass, of the context's queue family
 * before    from the program's commands to the recording; NULL: as zeroed
 * after     from the recording to the program's commands; NULL: as zeroed
 * Operations, and calls that end in _enqueue, submit nothing, wait for nothing and allocate no
 * device memory. A pipeline that is lacking is made: tml_prepare_begin makes it before.
 * Errors: INVALID_ARGUMENT: calls that read, write, map, sync or create buffers with data, up to
 * the end; SCRATCH_TOO_SMALL: an operation, without tml_reserve of what tml_prepare_end reports or
 * a desc.scratch of that size.
 * After: the commands may be submitted any number of times, with any number of frames in flight,
 * whatever else runs, grows or is created between, until a buffer or view that they name is
 * destroyed (desc.scratch included), tml_vulkan_forget_recordings or tml_close.
 * Memory: a recording keeps the arena that it was recorded with. Recordings with the context's
 * arena, and the context's own work, must not run at once on different queues; what must needs a
 * desc.scratch of its own. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_record(tml_context *tml, VkCommandBuffer commands,
                                                    const tml_vulkan_barrier *before,
                                                    const tml_vulkan_barrier *after);
TML_API TML_MUST_CHECK tml_status tml_vulkan_record_end(tml_context *tml);

/* Releases the memory and descriptor sets that recordings keep. The program promises that no
 * command buffer recorded so far will be submitted again, and that the device has completed those
 * that were. Errors: INVALID_ARGUMENT while recording. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_forget_recordings(tml_context *tml);

/* Submits enqueued work without a wait. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_flush(tml_context *tml);

/* Orders work by a semaphore: what is enqueued later begins when the semaphore has the value. What
 * was enqueued before is submitted, without a wait.
 * semaphore  binary, or a timeline; a device of the program's requires timelineSemaphore for that
 * value      of a timeline
 * Errors: INVALID_ARGUMENT: while recording, or more than 8 between two submissions. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_after(tml_context *tml, VkSemaphore semaphore,
                                                   uint64_t value);
/* Submits enqueued work, and sets the semaphore to the value when all of the context's work so far
 * has completed. Does not wait. Errors: INVALID_ARGUMENT while recording. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_signal(tml_context *tml, VkSemaphore semaphore,
                                                    uint64_t value);

/* Returns whether the work that the device has finished went well: for frames of recorded commands,
 * after their fence. Never waits, submits or allocates; allowed while recording.
 * Errors: DEVICE_LOST; STALLED, once, by this call or the first that waits: a workgroup waited
 * about a second for another of its dispatch, gave up, and results since the last check are wrong.
 * Only a scan in place, alone or within compact, sort and unique, and only on drivers that are
 * known to keep workgroups moving, can stall.
 * After STALLED: the context does without such waits. Run the work again, and record it anew, since
 * it may need more scratch. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_check(tml_context *tml);

/* The arguments that a count becomes. */
typedef enum tml_vulkan_indirect_kind {
    /* VkDispatchIndirectCommand: ceil(count / group) groups, in x up to 65535 and then in y; the
     * last row may be in excess */
    TML_VULKAN_INDIRECT_DISPATCH,
    TML_VULKAN_INDIRECT_DRAW, /* VkDrawIndirectCommand: count * group vertices, one instance */
    /* VkDrawIndexedIndirectCommand: count * group indices, one instance */
    TML_VULKAN_INDIRECT_DRAW_INDEXED,
    TML_VULKAN_INDIRECT_INSTANCES, /* VkDrawIndirectCommand: group vertices, count instances */
    /* VkDrawIndexedIndirectCommand: group indices, count instances */
    TML_VULKAN_INDIRECT_INSTANCES_INDEXED,
} tml_vulkan_indirect_kind;

typedef struct tml_vulkan_indirect_desc {
    tml_vulkan_indirect_kind kind;
    tml_buffer count; /* u32 or u64 */
    uint64_t count_index;
    uint64_t limit;     /* a larger count becomes it; 0: what the arguments hold */
    uint32_t group;     /* 0: 1 */
    tml_buffer out;     /* u32; 3, 4, 5, 4 and 5 elements respectively */
    uint64_t out_index; /* first element to write */
    /* Draws: firstVertex or firstIndex, vertexOffset (indexed draws) and firstInstance (above 0 the
     * device needs drawIndirectFirstInstance). */
    uint32_t first;
    int32_t vertex_offset;
    uint32_t first_instance;
} tml_vulkan_indirect_desc;
/* Enqueues the writing of indirect arguments from a count on the device. tml_surface_enqueue and
 * tml_subdivide_adaptive_enqueue write their draw's arguments themselves. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_indirect(tml_context *tml,
                                                      const tml_vulkan_indirect_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
