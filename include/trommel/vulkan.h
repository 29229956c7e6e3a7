/* Trommel inside your own Vulkan program.
 *
 * Needs: Vulkan 1.2, a queue with compute, bufferDeviceAddress. Used where the device has them,
 * and replaced where not: shaderFloat64 (f64 elements: without it they are UNSUPPORTED),
 * subgroup size control, timestamps. Nothing is linked: the loader (libvulkan.so.1) is opened at
 * run time.
 *
 * The program chooses what it lends:
 *   nothing              tml_open finds a device (discrete before integrated; software drivers
 *                        only on request) and owns all it makes.
 *   instance and device  tml_vulkan_desc: the context makes its buffers and pipelines on your
 *                        device, and submits to your queue, which must not be used by another
 *                        thread during a call that waits or submits (tml_open, which tries the
 *                        device with one small dispatch, and every call but those between
 *                        tml_vulkan_record and tml_vulkan_record_end), unless desc.lock_queue
 *                        keeps it out. What it submits begins and ends with a barrier for all
 *                        commands and all memory accesses of that queue.
 *   memory, pipelines    tml_vulkan_desc: memory from your allocator, your pipeline cache
 *   buffers              tml_buffer_desc.vulkan
 *   images               tml_image.vulkan, where pictures are read (trommel/image.h)
 *   a command buffer     tml_vulkan_record: operations are recorded into it and nothing else
 *                        happens
 *   semaphores           tml_vulkan_after, tml_vulkan_signal: order between the context's own
 *                        submissions and those of other queues.
 * What was lent is never destroyed, freed or waited for beyond what the calls say.
 *
 * A frame without a readback: record tml_compact with a count buffer, turn the count into
 * indirect arguments with tml_vulkan_indirect, dispatch or draw from those. tml_surface_enqueue
 * writes its draw arguments itself. */
#ifndef TROMMEL_VULKAN_H
#define TROMMEL_VULKAN_H

#include <trommel/core.h>
#include <trommel/kernel.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kernels built with the program ---------------------------------------------------------- */

/* The forms of one TML_KERNEL in SPIR-V, as it is or packed as the CMake function
 * trommel_add_kernels() does. The library finds a kernel by the text of its GLSL and of its
 * function library. */
enum { TML_VULKAN_KERNEL_FORMS = 3 };
typedef struct tml_vulkan_kernel {
    const char *glsl;                              /* tml_kernel.glsl; NULL ends a list */
    const uint32_t *code[TML_VULKAN_KERNEL_FORMS]; /* map, keep, compact; NULL: form not built */
    size_t size[TML_VULKAN_KERNEL_FORMS];          /* bytes */
    const char *library;                           /* tml_kernel.library */
} tml_vulkan_kernel;

/* ---- opening --------------------------------------------------------------------------------- */

/* A VkBuffer with its memory, as a tml_vulkan_allocator made it. */
typedef struct tml_vulkan_allocation {
    VkBuffer buffer;
    void *mapped;     /* its first byte, where the memory type is HOST_VISIBLE; else ignored */
    void *allocation; /* yours, for destroy */
} tml_vulkan_allocation;

/* Makes the device memory of a context: blocks of 32 MiB that its buffers share, and one for each
 * piece above 16 MiB. Called within calls that create buffers or need scratch, by the thread that
 * makes them; must not call the context.
 * create   makes a buffer by info, in memory of this type (index of
 *          VkPhysicalDeviceMemoryProperties.memoryTypes) that was allocated with
 *          VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, and stays mapped if the type is HOST_VISIBLE.
 *          What it returns but VK_SUCCESS becomes the call's error; nothing is destroyed then
 * destroy  the device has completed all work with it */
typedef struct tml_vulkan_allocator {
    VkResult (*create)(void *user, const VkBufferCreateInfo *info, uint32_t memory_type,
                       tml_vulkan_allocation *out);
    void (*destroy)(void *user, const tml_vulkan_allocation *allocation);
    void *user;
} tml_vulkan_allocator;

/* tml_open_desc.vulkan: copied by tml_open; what its pointers mean must outlive the context only
 * where that is said. */
typedef struct tml_vulkan_desc {
    /* NULL: libvulkan.so.1's. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /* All of these, or none. The device must have been made with bufferDeviceAddress and, where it
     * offers them, the features that tml_vulkan_features names. Must outlive the context. */
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    /* The device was made with subgroupSizeControl and computeFullSubgroups. Where it could
     * have been and was not, subgroups must be of one size only: else tml_open returns
     * INVALID_ARGUMENT. */
    bool has_size_control;
    /* Kernels from trommel_add_kernels(), ended by a zeroed one; must outlive the context. Kernels
     * that are not here are compiled at run time where libshaderc is found. */
    const tml_vulkan_kernel *kernels;
    /* Contents of a pipeline cache that tml_vulkan_cache once gave; copied. */
    const void *cache;
    size_t cache_size;
    /* Bytes of device memory that the context may take; 0: as many as the driver gives. Within it
     * tml_surface works in slabs where a volume does not fit. */
    uint64_t memory_limit;
    /* Called around each submission to the queue, by the thread whose call submits: for programs in
     * which other threads submit to it. Both or none; must not call the context. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;
    /* The rest only with a lent device. */
    /* Where the context's device memory comes from; create NULL: vkAllocateMemory. */
    tml_vulkan_allocator allocator;
    /* Pipelines are made with it, and tml_vulkan_cache gives its contents; NULL: the context has
     * one of its own. Must outlive the context, and not be made with EXTERNALLY_SYNCHRONIZED. */
    VkPipelineCache pipeline_cache;
    /* At most 8 families whose queues use the context's buffers, which are CONCURRENT to them and
     * queue_family then: ownership is not transferred. Copied. */
    const uint32_t *sharing_families;
    uint32_t sharing_family_count;
} tml_vulkan_desc;

/* Adds to features, features12 and size_control what the library can use and the
 * physical device has, so that a VkDevice made with them serves it. Chain them yourself; a feature
 * that is already set stays set. Returns false when the device lacks what the library needs.
 * size_control may be NULL; what it gets goes into tml_vulkan_desc.has_size_control, and below
 * Vulkan 1.3 needs the extension VK_EXT_subgroup_size_control. */
TML_API bool tml_vulkan_features(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                 VkInstance instance, VkPhysicalDevice physical_device,
                                 VkPhysicalDeviceFeatures *features,
                                 VkPhysicalDeviceVulkan12Features *features12,
                                 VkPhysicalDeviceSubgroupSizeControlFeatures *size_control);

/* The context's own objects, to share buffers with it. UNSUPPORTED on other engines.
 *
 * Where the instance has VK_EXT_debug_utils (one of the context's own has it where the loader
 * does), pipelines and memory have names and each call's commands are in a region named after the
 * call, for RenderDoc, Nsight and messages of validation layers. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_handles(tml_context *tml, tml_vulkan_desc *out);
/* Contents of the pipeline cache, to give to the next tml_open. *size is the room in data (NULL:
 * asks for the size) and becomes the bytes written: in less room than the contents need at least
 * the header, their first 32 bytes, where that fits. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_cache(tml_context *tml, void *data, size_t *size);
/* Adds what tml_vulkan_cache once gave, in another context or process, so that pipelines in it need
 * no compiling; as tml_vulkan_desc.cache, for those who choose the data by the device. Its first 32
 * bytes name device and driver; data of others, or without them, is ignored. Copied. Errors:
 * UNSUPPORTED on other engines, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_cache_add(tml_context *tml, const void *data,
                                                       size_t size);

/* ---- buffers --------------------------------------------------------------------------------- */

/* tml_buffer_desc.vulkan: your buffer in place of memory of the context's. Usage must hold
 * STORAGE_BUFFER, SHADER_DEVICE_ADDRESS, TRANSFER_SRC and TRANSFER_DST, and INDIRECT_BUFFER when
 * it is lent as scratch; offset a multiple of the scalar's size and at least of 4. Must outlive the
 * tml_buffer. */
typedef struct tml_vulkan_memory {
    VkBuffer buffer;
    VkDeviceSize offset; /* bytes */
} tml_vulkan_memory;

/* Where a buffer lies: to bind it to your own pipelines, at memory.offset, since buffers of the
 * context share VkBuffers. Each pointer may be NULL. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_buffer(tml_context *tml, tml_buffer buffer,
                                                    tml_vulkan_memory *memory,
                                                    VkDeviceAddress *address);

/* ---- textures -------------------------------------------------------------------------------- */

/* tml_image.vulkan: your image in place of a buffer, fetched from as a sampled image.
 * view    2D, of the colour aspect, whose first level has tml_image's width and height or more; of
 *         an image with usage SAMPLED. In the order of a device's memory nothing is known of it but
 *         what barriers say: yours, or those that recording and submissions begin and end with
 * layout  that the image is in when the operation runs: SHADER_READ_ONLY_OPTIMAL (UNDEFINED, so
 *         zeroed, means that too) or GENERAL. You bring it there and away, by barriers before the
 *         operation and after it; the library changes no layout
 * format  the view's: normalised or float, of 8 to 32 bits a component, packed ones
 *         (B10G11R11_UFLOAT_PACK32, E5B9G9R9_UFLOAT_PACK32, A2B10G10R10_UNORM_PACK32) and sRGB
 *         among them
 * The view must live until the work that reads it has completed; what was recorded reads it at each
 * submission and keeps the descriptor set that names it until tml_vulkan_forget_recordings, so a
 * view that a recording names is to be destroyed after that call alone. */
typedef struct tml_vulkan_texture {
    VkImageView view;
    VkImageLayout layout;
    VkFormat format;
} tml_vulkan_texture;

/* ---- your command buffer --------------------------------------------------------------------- */

/* Where a recording meets your commands. The library's own work is in the stages COMPUTE_SHADER,
 * TRANSFER and DRAW_INDIRECT. Zeroed: all commands, all memory accesses, as tml_vulkan_record has
 * it. */
typedef struct tml_vulkan_barrier {
    VkPipelineStageFlags stages; /* of your commands; 0: ALL_COMMANDS, and behind it HOST */
    VkAccessFlags access;        /* of your commands; 0: all, MEMORY_READ and MEMORY_WRITE */
    bool none; /* no barrier: you have one, or nothing is shared, scratch included; else zeroed */
} tml_vulkan_barrier;
/* From here to tml_vulkan_record_end, operations are recorded into commands (recording state,
 * outside a render pass, of the context's queue family). They submit nothing, wait for nothing
 * and allocate no device memory: scratch must have been reserved (tml_reserve with what
 * tml_prepare_end reports, or desc.scratch), else the operation returns SCRATCH_TOO_SMALL. A
 * pipeline that is used for the first time is made then; tml_prepare_begin keeps that out of a
 * frame. Calls that read, write, map, sync or create buffers with data return
 * INVALID_ARGUMENT meanwhile. Barriers: recording begins with one from all commands to compute,
 * and tml_vulkan_record_end adds one from compute to all commands; all memory accesses. Between
 * operations the library's own hold. before and after are other barriers, from your commands to the
 * library's and from the library's to yours, so that what you have in flight need not drain; NULL: as
 * said.
 *
 * What was recorded stays valid. The command buffer may be submitted any number of times, with
 * any number of frames in flight and with any operation, tml_reserve, growth of scratch,
 * creation of buffers or other recording in between, and does the same each time, until a buffer
 * or view that it names is destroyed (desc.scratch and VkBuffers that were lent included), or until
 * tml_vulkan_forget_recordings or tml_close.
 * It owns the scratch that it was recorded with: an arena that the context outgrows afterwards
 * is kept, which costs at most as much memory as the arena that took its place. Scratch is
 * shared: command buffers recorded with the context's arena and work of the context itself must
 * not run at once on different queues (on one queue the barriers keep them apart). What runs
 * beside other work needs a desc.scratch of its own. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_record(tml_context *tml, VkCommandBuffer commands,
                                                    const tml_vulkan_barrier *before,
                                                    const tml_vulkan_barrier *after);
TML_API TML_MUST_CHECK tml_status tml_vulkan_record_end(tml_context *tml);

/* Says that no command buffer recorded so far will be submitted again, and that the device has
 * completed those that were: gives back the memory and the descriptor sets that were kept for them.
 * Does not wait.
 * INVALID_ARGUMENT while recording, UNSUPPORTED on other engines. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_forget_recordings(tml_context *tml);

/* Hands work that is enqueued but not yet submitted to the queue; does not wait. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_flush(tml_context *tml);

/* Semaphores between the context's own submissions and other queues. value: of a timeline
 * semaphore; for a binary one ignored. A lent device needs timelineSemaphore for timelines; the
 * context's own has it. Errors of both: INVALID_ARGUMENT while recording, UNSUPPORTED on other
 * engines.
 * after    what is enqueued from here on begins when the semaphore has the value; what was enqueued
 *          before is submitted. At most 8 between two submissions
 * signal   submits what is enqueued, and sets the semaphore to the value when all of the context's
 *          work up to here has completed, also where nothing is enqueued. Does not wait */
TML_API TML_MUST_CHECK tml_status tml_vulkan_after(tml_context *tml, VkSemaphore semaphore,
                                                   uint64_t value);
TML_API TML_MUST_CHECK tml_status tml_vulkan_signal(tml_context *tml, VkSemaphore semaphore,
                                                    uint64_t value);

/* Says without waiting whether the work that the device has finished went well: for frames of
 * recorded commands, once their fence has been waited for; costs a load. OK, DEVICE_LOST, or
 * STALLED: a workgroup waited for another one of the same dispatch that did not come, gave up after
 * about a second, and results since the last check are wrong. Only where the driver is known to
 * keep workgroups moving do scans in place, those within operations, compact, sort and unique wait
 * in such a way; all others do the work of one that does not come. STALLED is returned once, by
 * this call or the first one that waits. From then on the context chooses its ways as on devices
 * without that promise: run the work again, and record it anew (it may need more scratch). Never
 * waits, submits or allocates; may be called while recording. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_check(tml_context *tml);

/* What arguments a count becomes. */
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

/* Writes indirect arguments on the device from element count_index of a u32 or u64 count buffer,
 * clamped to limit (0: to what the arguments hold). out: u32, 3, 4, 5, 4 or 5 elements. */
typedef struct tml_vulkan_indirect_desc {
    tml_vulkan_indirect_kind kind;
    tml_buffer count;
    uint64_t count_index;
    uint64_t limit;
    uint32_t group; /* 0: 1 */
    tml_buffer out;
    uint64_t out_index; /* first element to write */
    /* Draws: the command's firstVertex or firstIndex, vertexOffset (indexed draws) and
     * firstInstance (above 0 your device needs drawIndirectFirstInstance). */
    uint32_t first;
    int32_t vertex_offset;
    uint32_t first_instance;
} tml_vulkan_indirect_desc;
TML_API TML_MUST_CHECK tml_status tml_vulkan_indirect(tml_context *tml,
                                                      const tml_vulkan_indirect_desc *desc);

/* ---- time ------------------------------------------------------------------------------------ */

/* Seconds of device time between begin and end by the device's own clock, for what was enqueued in
 * between. end waits. UNSUPPORTED where the queue has no timestamps, or on other engines. */
TML_API TML_MUST_CHECK tml_status tml_vulkan_time_begin(tml_context *tml);
TML_API TML_MUST_CHECK tml_status tml_vulkan_time_end(tml_context *tml, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
