/* What the Vulkan engine's files share beside what programs use too (vulkan_parts.h).
 *
 * Streams longer than a pass (vk_caps.pass_items, 2^30 by default) run in passes, whose addresses
 * are moved on the host, so that shaders count with 32 bits; running totals travel between passes
 * on the device as uvec2 (low, high). */
#ifndef TML_VULKAN_INTERNAL_H
#define TML_VULKAN_INTERNAL_H

#include <trommel/vulkan.h>

#include "vulkan/vulkan_load.h"
#include "vulkan/vulkan_parts.h"

/* ---- the device ------------------------------------------------------------------------------ */

typedef struct vk_device vk_device; /* vulkan_device.h: what only the engine's core looks into */

/* Is the context recording into the caller's command buffer? */
bool vk_is_recording(const tml_context *tml);

tml_status vk_mark_wait(tml_context *tml, vk_mark mark);

/* How often a workgroup looks in vain for one that nobody can stand in for, before it gives up and the
 * next wait is TML_ERROR_STALLED. A look is a round trip to memory, 0.7 us on an H200: 0.7 s in all. A tile's
 * work takes some microseconds, so that a million looks are patience enough for a device that is
 * shared; and watchdogs, which end not the wait but the device, let work run for 2 s (Windows), some
 * seconds (Linux, for some drivers). All who wait for a tile wait at the same time. */
enum { VK_PATIENCE = 1 << 20 };

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

/* Records kernel(...) of a pass's elements to out: tml_map's dispatch. */
tml_status vk_map_pass(tml_context *tml, const tml_kernel *kernel, const tml_params *params,
                       const tml_buffer in[TML_MAX_INPUTS], const vk_pass *pass, vk_address out,
                       bool unordered);

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

extern const tml_engine_op vk_op_map, vk_op_reduce, vk_op_histogram, vk_op_scan, vk_op_compact,
    vk_op_partition, vk_op_expand, vk_op_unique, vk_op_reduce_segments, vk_op_scan_segments;

#endif
