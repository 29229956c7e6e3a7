/* What the Vulkan engine's files share.
 *
 * Everything a shader reads or writes it reaches by device address, which travels in push
 * constants; there are no descriptor sets. An operation is C that lays out its scratch, fills
 * argument structs (src/kernels/kernel.h, ARGS_BEGIN) and calls vk_dispatch; each dispatch waits for
 * the ones before it. No operation reads anything back.
 *
 * Streams longer than a pass (vk_device.pass_items, 2^30 by default) run in passes, whose addresses
 * are moved on the host, so that shaders count with 32 bits; running totals travel between passes
 * on the device as uvec2 (low, high). */
#ifndef TML_VULKAN_INTERNAL_H
#define TML_VULKAN_INTERNAL_H

#include <trommel/vulkan.h>

#include "core/core_internal.h"
#include "vulkan/vulkan_load.h"

typedef uint64_t vk_address;

enum {
    VK_GROUP = 256,         /* invocations of every workgroup: SwiftShader has no more */
    VK_GROUPS_X = 32768,    /* groups along x; more go along y */
    VK_SPECS_MAX = 12,      /* specialisation constants 0 ... 11 of a shader, each a u32 */
    VK_SPEC_SUBGROUP = 100, /* the constant that holds the subgroup's size, set by vk_dispatch */
};

/* ---- shaders --------------------------------------------------------------------------------- */

/* SPIR-V with the entry point main. Those of src/vulkan/shaders are declared, as vk_shader_NAME, in
 * the generated vulkan_shaders.h. Pipelines are cached by the module's address and constants. */
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

typedef struct vk_device vk_device; /* vulkan_device.h: what only the engine's core looks into */

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

/* Is the context recording into the caller's command buffer? */
bool vk_is_recording(const tml_context *tml);

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
tml_status vk_mark_wait(tml_context *tml, vk_mark mark);

/* Copies the host's memory to a place in scratch, for the work that is recorded from here on; in may
 * be reused on return. last_use: of that place. Work that is submitted goes on meanwhile. */
tml_status vk_upload(tml_context *tml, vk_address to, size_t size, const void *in,
                     vk_mark last_use);

/* How often a workgroup looks in vain for one that nobody can stand in for, before it gives up and the
 * next wait is TML_STALLED. A look is a round trip to memory, 0.7 us on an H200: 0.7 s in all. A tile's
 * work takes some microseconds, so that a million looks are patience enough for a device that is
 * shared; and watchdogs, which end not the wait but the device, let work run for 2 s (Windows), some
 * seconds (Linux, for some drivers). All who wait for a tile wait at the same time. */
enum { VK_PATIENCE = 1 << 20 };

/* count words of zero for a look-back's states, and a block of clear_count words at clear that the
 * operation must set to zero itself (with its own groups: that saves a dispatch). What is recorded
 * into the caller's command buffer runs at any time and any number of times, so it shares no states
 * with other work: there they are own, room for count words in the operation's scratch, behind a
 * recorded fill, and clear_count is 0.
 * A shader that waits in vain and cannot do without sets the word at stalled to 1: the next call that
 * waits then returns TML_STALLED. */
typedef struct vk_states {
    vk_address words;
    vk_address clear;
    uint32_t clear_count;
    vk_address stalled;
} vk_states;
tml_status vk_take_states(tml_context *tml, uint32_t count, vk_address own, vk_states *out);

/* ---- lengths and passes ---------------------------------------------------------------------- */

/* A stretch of a stream that shaders can count with 32 bits. Its length is bound or, when length is
 * not 0, the u32 there. */
typedef struct vk_pass {
    uint64_t first; /* its first element */
    uint32_t bound;
    vk_address length;
    vk_address grids; /* for vk_pass_grid; 0: none */
} vk_pass;

typedef struct vk_passes {
    uint64_t count; /* at least 1, so that an empty stream still writes its counts */
    uint64_t bound;
    uint64_t items;
    vk_address lengths; /* u32 a pass, then the grids; 0: the length is the bound */
    vk_address total;   /* u64: the stream's length on the device; 0 likewise */
} vk_passes;

/* Bytes for the length and the grids of a pass. */
enum { VK_PASS_SIZE = 13 * sizeof(uint32_t) };
/* Lays out what a device length needs (nothing for a host length). */
vk_passes vk_passes_take(tml_context *tml, const tml_length *length, vk_arena *arena);
/* The same in passes of items elements, a power of two, for operations that need shorter ones. */
vk_passes vk_passes_take_of(const tml_length *length, uint64_t items, vk_arena *arena);
/* Records the reading of a device length. Once, before the first pass. */
tml_status vk_passes_begin(tml_context *tml, const tml_length *length, const vk_passes *passes);
/* The same of a u32, or if wide a u64, at an address. */
tml_status vk_passes_read(tml_context *tml, vk_address from, bool wide, const vk_passes *passes);
vk_pass vk_pass_at(const vk_passes *passes, uint64_t number);
/* A grid of as many workgroups of items elements each as the length needs, at least one, where that is
 * worth it; else 0. For vk_dispatch_info.indirect. items: MAP_ITEMS times 1, 2, 4 or 8. */
vk_address vk_pass_grid(const vk_pass *pass, uint32_t items);

/* ---- users' kernels (vulkan_kernel.c) -------------------------------------------------------- */

typedef enum vk_kernel_form {
    VK_KERNEL_MAP,     /* shaders/kernel_map.comp */
    VK_KERNEL_KEEP,    /* shaders/kernel_keep.comp: bits and counts of tiles */
    VK_KERNEL_COMPACT, /* shaders/kernel_compact.comp: one pass */
} vk_kernel_form;

/* Can the kernel be had on this device? Says no for types the device lacks, and where it was
 * neither built with the program nor libshaderc is found. Compiles nothing yet. */
bool vk_kernel_supported(tml_context *tml, const tml_kernel *kernel);
/* The kernel's module, compiled at first use; kept until the context closes. Errors: OUT_OF_MEMORY,
 * UNSUPPORTED (with the compiler's message). */
tml_status vk_kernel_module(tml_context *tml, const tml_kernel *kernel, vk_kernel_form form,
                            const vk_module **out);

/* The constants 0 ... 3 of a kernel shader: how parameter p's array is read, as its tml_type. */
enum { VK_KERNEL_SPECS = 4 };
void vk_kernel_specs(const tml_context *tml, const tml_kernel *kernel,
                     const tml_buffer in[TML_MAX_INPUTS], uint32_t specs[VK_KERNEL_SPECS]);
/* Fills the kernel's own share of an argument struct (vulkan_args.k.h): addresses, one for each
 * parameter that is an array and, but for tml_words, moved on by first elements; values; and how many
 * words each array has, unless word_counts is NULL: only for kernels without tml_words. */
struct kernel_values;
void vk_kernel_args(const tml_context *tml, const tml_kernel *kernel, const tml_params *params,
                    const tml_buffer in[TML_MAX_INPUTS], uint64_t first,
                    vk_address addresses[TML_MAX_INPUTS], struct kernel_values *values,
                    uint32_t word_counts[TML_MAX_INPUTS]);

/* ---- shared steps of the operations ---------------------------------------------------------- */

/* Scans count u32 values in place to exclusive sums, by blocks of blocks (vulkan_scan.c). total: 0,
 * or a u64 (two words) that gets the sum added to what base holds; base: 0, or a u64 that each
 * pass begins with. All sums must fit u32 within a pass. */
size_t vk_scan_counts_scratch(uint32_t count);
tml_status vk_scan_counts(tml_context *tml, vk_address values, uint32_t count, vk_address scratch,
                          vk_address base, vk_address total);

/* Stores a u64 at from (two words) into a one-element u32 or u64 buffer; none: nothing. A u32 stays
 * at its largest value. */
tml_status vk_store_count(tml_context *tml, tml_buffer out, vk_address from);

extern const tml_engine_op vk_op_map, vk_op_reduce, vk_op_scan, vk_op_compact, vk_op_partition,
    vk_op_expand, vk_op_unique, vk_op_reduce_segments, vk_op_scan_segments;

#endif
