/* Declarations that the Vulkan engine's files share, beyond vulkan_parts.h, which programs use too.
 *
 * A stream longer than a pass (vk_caps.pass_items, 2^30 by default) runs pass by pass. The host
 * offsets the addresses of each pass, so shaders index with 32 bits. Running totals stay in device
 * memory between passes, as uvec2 (low, high). */
#ifndef TML_VULKAN_INTERNAL_H
#define TML_VULKAN_INTERNAL_H

#include <trommel/vulkan.h>

#include "vulkan/vulkan_load.h"
#include "vulkan/vulkan_parts.h"

/* ---- the device ------------------------------------------------------------------------------ */

typedef struct vk_device vk_device; /* vulkan_device.h; private to the engine's core */

/* Is the context recording into the caller's command buffer? */
bool vk_is_recording(const tml_context *tml);

tml_status vk_mark_wait(tml_context *tml, vk_mark mark);

/* ---- lengths and passes ---------------------------------------------------------------------- */

/* A range of a stream that shaders index with 32 bits. Its length is bound; if length is not 0, the
 * u32 there. */
typedef struct vk_pass {
    uint64_t first; /* index of its first element */
    uint32_t bound;
    vk_address length;
    vk_address grids; /* for vk_pass_grid; 0: none */
} vk_pass;

typedef struct vk_passes {
    uint64_t count; /* at least 1, so that an empty stream's counts are written */
    uint64_t bound;
    uint64_t items;
    vk_address lengths; /* a u32 per pass, then the grids; 0: the length is the bound */
    vk_address total;   /* u64: the stream's length; 0 if lengths is 0 */
    /* lengths is the caller's u32, which every reader clamps; no grids, no total */
    bool is_lent;
} vk_passes;

/* Bytes of the length and the grids of a pass. */
enum { VK_PASS_SIZE = 19 * sizeof(uint32_t) };
/* Takes scratch for a length on the device; takes none for a length on the host. */
vk_passes vk_passes_take(tml_context *tml, const tml_length *length, vk_arena *arena);
/* The same in passes of items elements, a power of two, for operations that need shorter passes. */
vk_passes vk_passes_take_of(const tml_length *length, uint64_t items, vk_arena *arena);
/* Records lengths.comp, if the length is on the device. Called once, before the first pass. */
tml_status vk_passes_begin(tml_context *tml, const tml_length *length, const vk_passes *passes);
/* The same for an operation that requires no total and does not write the length's buffer. If
 * dispatching over the bound takes no longer than lengths.comp does, shaders read the caller's u32
 * directly. */
tml_status vk_passes_lend(tml_context *tml, const tml_length *length, vk_passes *passes);
/* The same for a u32, or a u64 if wide, at an address. */
tml_status vk_passes_read(tml_context *tml, vk_address from, bool wide, const vk_passes *passes);
vk_pass vk_pass_at(const vk_passes *passes, uint64_t number);
/* The indirect grid (vk_dispatch_info.indirect) with one workgroup per items elements of the
 * length, at least one; 0 if a direct dispatch over the bound is as fast. items: a power of two
 * from 256 to 8,192. */
vk_address vk_pass_grid(const vk_pass *pass, uint32_t items);

/* ---- users' kernels (vulkan_kernel.c) -------------------------------------------------------- */

typedef enum vk_kernel_form {
    VK_KERNEL_MAP,     /* shaders/kernel_map.comp */
    VK_KERNEL_KEEP,    /* shaders/kernel_keep.comp: bits and counts of tiles */
    VK_KERNEL_COMPACT, /* shaders/kernel_compact.comp: one pass */
} vk_kernel_form;

/* Is the kernel available on this device? False if the kernel uses a type that the device lacks, or
 * if it was not built with the program and there is no libshaderc. Does not compile. */
bool vk_kernel_supported(tml_context *tml, const tml_kernel *kernel);
/* The kernel's module, compiled on first use and kept until the context closes. Errors:
 * OUT_OF_MEMORY, UNSUPPORTED (with the compiler's message). */
tml_status vk_kernel_module(tml_context *tml, const tml_kernel *kernel, vk_kernel_form form,
                            const vk_module **out);

/* Fills specialization constants 0 ... 3 of a kernel shader: the tml_type of each array. */
enum { VK_KERNEL_SPECS = 4 };
void vk_kernel_specs(const tml_context *tml, const tml_kernel *kernel,
                     const tml_buffer in[TML_MAX_INPUTS], uint32_t specs[VK_KERNEL_SPECS]);
/* A kernel with its inputs and parameters from a desc. */
typedef struct vk_kernel_use {
    const tml_kernel *kernel;
    const tml_params *params;
    const tml_buffer *in;
    vk_address stored; /* of vk_params_take */
} vk_kernel_use;

/* Takes scratch for the parameters of a kernel that uses their matrix. Returns 0 for other kernels
 * and for NULL. */
vk_address vk_params_take(const tml_kernel *kernel, vk_arena *arena);
/* Records the store of the parameters to `stored`, before the first dispatch that reads them. outs:
 * NULL, or the outputs after the first of an emit kernel. Does nothing if stored is 0. */
tml_status vk_params_store(tml_context *tml, const tml_params *params, const vk_address *outs,
                           vk_address stored);

/* Fills the kernel's part of an argument struct (vulkan_args.k.h): the address of each array
 * parameter, offset by "first" elements unless it is tml_words; the values; and the arrays' lengths
 * in words. word_counts may be NULL for kernels without tml_words. */
struct kernel_values;
void vk_kernel_args(const tml_context *tml, const vk_kernel_use *use, uint64_t first,
                    vk_address addresses[TML_MAX_INPUTS], struct kernel_values *values,
                    uint32_t word_counts[TML_MAX_INPUTS]);

/* Records the dispatch of tml_map for one pass. outs: TML_MAX_OUTS addresses if the kernel has
 * several outputs, else one. */
tml_status vk_map_pass(tml_context *tml, const vk_kernel_use *use, const vk_pass *pass,
                       const vk_address *outs, bool unordered);

/* ---- shared steps of the operations ---------------------------------------------------------- */

/* Exclusive scan of count u32 values in place (vulkan_scan.c). total: 0, or a u64 that gets *base
 * plus the sum of the values. base: 0 (counts as zero), or a u64. A pass's sum must fit u32. */
size_t vk_scan_counts_scratch(uint32_t count);
tml_status vk_scan_counts(tml_context *tml, vk_address values, uint32_t count, vk_address scratch,
                          vk_address base, vk_address total);
/* The same for at most count values. length: 0, or a u32 with their number. */
tml_status vk_scan_counts_of(tml_context *tml, vk_address values, uint32_t count, vk_address length,
                             vk_address scratch);

/* tml_scan of segments of integers (vulkan_scan_segments.c). */
size_t vk_scan_segments_scratch(tml_context *tml, const tml_scan_desc *desc);
tml_status vk_scan_segments(tml_context *tml, const tml_scan_desc *desc, void *scratch);

/* Stores the index of the first output (desc.out_first, which is given) as a u64, at most 2^63. */
tml_status vk_first_read(tml_context *tml, tml_buffer out_first, vk_address to);

/* A pass of tml_gather or tml_scatter (vulkan_gather.c): element i of ordered corresponds to
 * element indices[i] of placed, which has range elements. */
typedef struct vk_gather {
    vk_address ordered, placed, indices; /* of the stream, not of the pass */
    uint64_t range;
    uint32_t size; /* bytes of an element */
    bool is_wide;  /* indices are u64 */
    bool scatters;
} vk_gather;
tml_status vk_gather_pass(tml_context *tml, const vk_gather *gather, const vk_pass *pass,
                          bool unordered);

/* A pass of tml_search (vulkan_search.c), or of the search for the bins of a histogram's edges.
 * Writes u32, or u64 if wide, to out. */
tml_status vk_search_pass(tml_context *tml, const tml_search_resolved *resolved,
                          const vk_pass *pass, vk_address out, bool is_wide, bool unordered);

/* Stores the u64 at from to a buffer of one u32 or u64, if there is one. A u32 saturates. */
tml_status vk_store_count(tml_context *tml, tml_buffer out, vk_address from);
/* The same plus the u64 at base, if there is one (not 0). */
tml_status vk_store_end(tml_context *tml, tml_buffer out, vk_address from, vk_address base);

extern const tml_engine_op vk_op_sort; /* segments have its limits */

#endif
