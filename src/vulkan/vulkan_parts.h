/* The Vulkan engine's toolkit for programs.
 *
 * Shaders access all memory by device address. Addresses are passed as push constants. The only
 * descriptor is a caller-owned image, for a dispatch that reads one. An operation lays out its
 * scratch, fills argument structs (src/kernels/kernel.h, ARGS_BEGIN) and calls vk_dispatch. A
 * memory barrier orders each dispatch after the preceding ones. No operation reads back. */
#ifndef TML_VULKAN_PARTS_H
#define TML_VULKAN_PARTS_H

#include "core/core_internal.h"
#include "gpu/look_back.h"

typedef uint64_t vk_address;

enum {
    VK_GROUP = 256,         /* invocations of every workgroup: SwiftShader's limit */
    VK_GROUPS_X = 32768,    /* workgroups along x; more go along y */
    VK_SPECS_MAX = 9,       /* specialization constants 0 ... 8 of a shader, each a u32 */
    VK_SPEC_SUBGROUP = 100, /* the constant_id of the subgroup size, set by vk_dispatch */
};

/* ---- shaders --------------------------------------------------------------------------------- */

/* SPIR-V with the entry point main, as it is or packed (vulkan_spirv.h). A generated header
 * declares the modules of a shaders folder as vk_shader_NAME (for src/vulkan/shaders:
 * vulkan_shaders.h). Pipelines are cached by module address and constants. */
typedef struct vk_module {
    const char *name;
    const uint32_t *code;
    size_t size; /* bytes */
} vk_module;

/* A caller-owned image (trommel/vulkan.h), which shaders fetch from (shaders/sampled.glsl). */
typedef struct tml_vulkan_texture vk_sampled;

typedef struct vk_dispatch_info {
    const vk_module *module;
    uint32_t spec_count;
    uint32_t specs[VK_SPECS_MAX];
    look_operation look; /* how long its workgroups wait for each other: more constants */
    const void *args;    /* push constants, at most 128 bytes */
    uint32_t args_size;
    uint64_t groups; /* 0 records nothing. The grid may be larger: shaders compare group_index() */
    bool unordered;  /* no barrier before it: may overlap the dispatch before */
    vk_address indirect; /* VkDispatchIndirectCommand on the device, replaces groups; 0: none */
    const vk_sampled *sampled; /* for modules that include sampled.glsl */
} vk_dispatch_info;

/* Records one dispatch, after a memory barrier. Errors, with messages: OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, DEVICE_LOST, INTERNAL (the driver refused the pipeline). */
tml_status vk_dispatch(tml_context *tml, const vk_dispatch_info *info);

/* Can shaders fetch floats from the image's texels, up to width and height? *components: 1 to 4.
 * Errors: INVALID_ARGUMENT, UNSUPPORTED. Messages name the call's field. */
tml_status vk_sampled_check(tml_context *tml, const char *call, const char *field,
                            const vk_sampled *texture, uint32_t width, uint32_t height,
                            uint32_t *components);

/* Fill count words with value; copy size bytes. Addresses and size are multiples of 4, and the
 * ranges do not overlap. Both dispatch shaders, so an address may be in any buffer of the
 * device. */
tml_status vk_fill(tml_context *tml, vk_address at, uint64_t count, uint32_t value);
tml_status vk_copy(tml_context *tml, vk_address out, vk_address in, uint64_t size);

/* ---- the device ------------------------------------------------------------------------------ */

/* Capabilities of the device. */
typedef struct vk_caps {
    uint32_t subgroup;     /* invocations, the same in every subgroup; 4 ... 128 */
    bool forward_progress; /* workgroups that have started do: a wait for another's store ends */
    bool begins_in_order;  /* workgroups also start in the order of their index */
    uint32_t resident;     /* at least so many workgroups run at the same time; 0: unknown */
    bool float64;
    bool int64;
    bool is_software;    /* runs on the CPU */
    uint32_t loop_limit; /* iterations after which the driver ends a loop silently; 0: none */
    uint64_t pass_items; /* elements in a pass; a power of two, at most 2^30 */
} vk_caps;
const vk_caps *vk_caps_of(const tml_context *tml);

/* Device address of a buffer's first element; of a zeroed handle: 0. */
vk_address vk_address_of(const tml_context *tml, tml_buffer buffer);
vk_address vk_slot_address(const tml_slot *slot);
/* Host pointer to a slot's memory. */
const void *vk_slot_host(const tml_slot *slot);

/* ---- scratch --------------------------------------------------------------------------------- */

/* Takes 256-byte aligned pieces from scratch that begins at base. With base 0, addresses are
 * meaningless and only the size counts. So one layout function of an operation serves both
 * scratch_size and run. run() receives the device address in its pointer scratch. */
typedef struct vk_arena {
    vk_address base;
    size_t size;
} vk_arena;
static inline vk_address vk_take(vk_arena *arena, uint64_t count, size_t element_size)
{
    vk_address at = arena->base + arena->size;
    arena->size += (size_t)TML_ALIGN_UP(count * element_size, 256u);
    return at;
}
static inline vk_arena vk_arena_of(void *scratch)
{
    return (vk_arena){(vk_address)(uintptr_t)scratch, 0};
}

/* The largest scratch possible, as far as the driver reports: the arena plus the free memory, less
 * a reserve. In bytes. May wait. */
uint64_t vk_scratch_room(tml_context *tml);

/* A point in the order of submissions; 0: before all of them. */
typedef uint32_t vk_mark;
/* Submits what is recorded. The mark is the end of that submission. */
tml_status vk_mark_here(tml_context *tml, vk_mark *out);

/* Copies host memory to an address in scratch, before all work that is recorded later. in may be
 * reused on return. last_use: the last work that uses the old contents. Submitted work continues
 * meanwhile. */
tml_status vk_upload(tml_context *tml, vk_address to, size_t size, const void *in,
                     vk_mark last_use);

/* A table of count words in device memory. fill writes it at its first use; it lives until the
 * context is closed. Not for recordings. */
tml_status vk_table(tml_context *tml, void (*fill)(uint32_t *out), uint32_t count, vk_address *out);

/* Memory for look-back.
 *   words    count zeroed words for states
 *   clear    a block of clear_count words that the operation's own workgroups must zero, which
 *            saves a dispatch
 *   stalled  a shader whose look-back gives up sets this word to 1; the next call that waits then
 *            returns TML_ERROR_STALLED
 * A caller-owned command buffer may run at any time and any number of times, so it shares no
 * states: words is then "own", count words of the operation's scratch, which a recorded fill
 * zeroes, and clear_count is 0. */
typedef struct vk_states {
    vk_address words;
    vk_address clear;
    uint32_t clear_count;
    vk_address stalled;
} vk_states;
tml_status vk_take_states(tml_context *tml, uint32_t count, vk_address own, vk_states *out);

#endif
