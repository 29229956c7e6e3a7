/* The Vulkan engine's toolkit for programs.
 *
 * Everything a shader reads or writes it reaches by device address, which travels in push
 * constants; there are no descriptor sets. An operation is C that lays out its scratch, fills
 * argument structs (src/kernels/kernel.h, ARGS_BEGIN) and calls vk_dispatch; each dispatch waits for
 * the ones before it. No operation reads anything back. */
#ifndef TML_VULKAN_PARTS_H
#define TML_VULKAN_PARTS_H

#include "core/core_internal.h"

typedef uint64_t vk_address;

enum {
    VK_GROUP = 256,         /* invocations of every workgroup: SwiftShader has no more */
    VK_GROUPS_X = 32768,    /* groups along x; more go along y */
    VK_SPECS_MAX = 12,      /* specialisation constants 0 ... 11 of a shader, each a u32 */
    VK_SPEC_SUBGROUP = 100, /* the constant that holds the subgroup's size, set by vk_dispatch */
};

/* ---- shaders --------------------------------------------------------------------------------- */

/* SPIR-V with the entry point main. Those of a shaders folder are declared, as vk_shader_NAME, in a
 * generated header (src/vulkan/shaders: vulkan_shaders.h). Pipelines are cached by the module's address
 * and constants. */
typedef struct vk_module {
    const char *name;
    const uint32_t *code;
    size_t size; /* bytes */
} vk_module;

typedef struct vk_dispatch_info {
    const vk_module *module;
    uint32_t spec_count;
    uint32_t specs[VK_SPECS_MAX];
    const void *args; /* push constants, at most 128 bytes */
    uint32_t args_size;
    uint64_t groups; /* 0 records nothing. The grid may hold more: shaders compare group_index() */
    bool unordered;  /* may overlap the dispatch before: no barrier in between */
    vk_address indirect; /* groups x, y, z as three u32 on the device in place of groups; 0: none */
} vk_dispatch_info;

/* Records one dispatch, behind a barrier for all memory of the dispatches before. Errors:
 * OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST, INTERNAL (pipeline refused), with messages. */
tml_status vk_dispatch(tml_context *tml, const vk_dispatch_info *info);

/* count words of value at an address (a multiple of 4); copies of size bytes between addresses
 * (multiples of 4, size too) that do not overlap. By shaders of our own: the addresses may lie in
 * anyone's buffer. */
tml_status vk_fill(tml_context *tml, vk_address at, uint64_t count, uint32_t value);
tml_status vk_copy(tml_context *tml, vk_address out, vk_address in, uint64_t size);

/* ---- the device ------------------------------------------------------------------------------ */

/* What operations ask about the device. */
typedef struct vk_caps {
    uint32_t subgroup;     /* lanes, the same in every subgroup of our pipelines; 4 ... 128 */
    bool forward_progress; /* a workgroup that waits for another one's store will see it */
    bool begins_in_order;  /* and workgroups begin in the order of their numbers */
    bool float64;          /* shaderFloat64 */
    bool int64;            /* shaderInt64 */
    bool is_software;      /* runs on the host's processors */
    uint32_t loop_limit;   /* iterations after which the driver ends loops silently; 0: none */
    uint64_t pass_items;   /* elements in a pass; a power of two, at most 2^30 */
} vk_caps;
const vk_caps *vk_caps_of(const tml_context *tml);

/* Device address of a buffer's first element; of a zeroed handle: 0. */
vk_address vk_address_of(const tml_context *tml, tml_buffer buffer);
vk_address vk_slot_address(const tml_slot *slot);
/* The memory of a slot that lies on the host. */
const void *vk_slot_host(const tml_slot *slot);

/* ---- scratch --------------------------------------------------------------------------------- */

/* Takes pieces, 256-byte aligned, from a block of scratch that begins at base. With base 0 the
 * sizes are only added up, and addresses mean nothing. An operation lays out twice with one
 * function: for its scratch_size and for its run. (scratch in run() is the address in a pointer.) */
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

/* Bytes that scratch may have, as far as the driver tells: what the arena has, and what is left
 * beside everything else, less a share for what else may be needed. May wait. */
uint64_t vk_scratch_room(tml_context *tml);

/* A place in the order of what was submitted; 0: before everything. */
typedef uint32_t vk_mark;
/* Submits what is recorded. */
tml_status vk_mark_here(tml_context *tml, vk_mark *out);

/* Copies the host's memory to a place in scratch, for the work that is recorded from here on; in may
 * be reused on return. last_use: of that place. Work that is submitted goes on meanwhile. */
tml_status vk_upload(tml_context *tml, vk_address to, size_t size, const void *in,
                     vk_mark last_use);

/* count words of zero for a look-back's states, and a block of clear_count words at clear that the
 * operation must set to zero itself (with its own groups: that saves a dispatch). What is recorded
 * into the caller's command buffer runs at any time and any number of times, so it shares no states
 * with other work: there they are own, room for count words in the operation's scratch, behind a
 * recorded fill, and clear_count is 0.
 * A shader that waits in vain and cannot do without sets the word at stalled to 1: the next call that
 * waits then returns TML_ERROR_STALLED. */
typedef struct vk_states {
    vk_address words;
    vk_address clear;
    uint32_t clear_count;
    vk_address stalled;
} vk_states;
tml_status vk_take_states(tml_context *tml, uint32_t count, vk_address own, vk_states *out);

#endif
