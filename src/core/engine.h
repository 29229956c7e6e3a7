/* The engine table: the functions that an engine (CPU, Vulkan, OpenGL ES) implements for contexts
 * and buffers, and the type of its operations. An engine includes neither another engine nor a
 * program.
 *
 * An engine's implementation of a call is a part: a tml_engine_op in a table of the call, indexed
 * by tml_engine.part (stream/stream_parts.h, image/image_parts.c). So a program that never uses the
 * call does not link its parts. Parts of streams are in the engine's folder; parts of the programs
 * surface, field and image are in the program's folder. A part's run function receives the resolved
 * internal desc, which this header or the program's header in src/ defines. */
#ifndef TML_ENGINE_H
#define TML_ENGINE_H

#include <trommel/trommel.h>

typedef struct tml_slot tml_slot;
typedef struct tml_reading tml_reading;
struct tml_vulkan_kernel;

/* In desc, bit_count is not 0 and method is not AUTO. Keys compare as the codes of
 * kernels/sort.k.h, which has the formula. */
typedef struct tml_sort_resolved {
    tml_sort_desc desc;
    uint64_t flip;
    uint64_t real_flip; /* of keys whose highest bit is set */
    /* The most segments. desc.segments has a resolved count. */
    uint64_t segments;
} tml_sort_resolved;

/* MIN and MAX select the largest code of kernels/sort.k.h (EXTREME_IS_NAN). For SUM, all are 0. */
typedef struct tml_scan_resolved {
    tml_scan_desc desc;
    uint64_t flip, real_flip, least;
} tml_scan_resolved;

/* A part writes values, indices and count, in source order if desc.in_source_order says so; desc's
 * other results are steps of src/stream. k.count is at most length.count. Whatever desc.smallest
 * says, the elements with the smallest codes (kernels/sort.k.h) are selected. */
typedef struct tml_top_k_resolved {
    tml_top_k_desc desc;
    uint64_t flip, real_flip;
} tml_top_k_resolved;

/* Elements compare as the codes of kernels/sort.k.h. */
typedef struct tml_search_resolved {
    tml_search_desc desc;
    uint64_t flip, real_flip;
    uint64_t minus_zero; /* the bits that are treated as those of 0; 0: none */
    /* sorted has one more element, the end. The result is a u32: the query's bin in a histogram
     * with these edges (its position less one), or 2^32 - 1 for a query after the end. desc.out is
     * unused. */
    bool as_bins;
} tml_search_resolved;

/* In desc, bins is not 0. Bins of equal width are computed by a kernel. */
typedef struct tml_histogram_resolved {
    tml_histogram_desc desc;
    tml_search_resolved search; /* with desc.edges */
} tml_histogram_resolved;

/* How many outputs a kernel has, and the type of output k. */
static inline uint32_t tml_kernel_outs(const tml_kernel *kernel)
{
    return kernel->out_count ? kernel->out_count : 1;
}
static inline tml_type tml_kernel_out_type(const tml_kernel *kernel, uint32_t k)
{
    return kernel->out_count ? kernel->outs[k] : kernel->result;
}
/* Results of a resolved tml_reduce_desc. Used entries come first. */
static inline uint32_t tml_reduce_results(const tml_reduce_desc *desc)
{
    uint32_t count = 0;
    while (count < TML_MAX_FOLDS && !tml_buffer_is_none(desc->folds[count].out))
        count++;
    return count;
}

/* One operation on one engine. Its functions receive only checked and resolved descs: no method is
 * AUTO, and every length has a bound. */
typedef struct tml_engine_op {
    bool (*supports)(tml_context *tml, const void *desc);       /* NULL: always */
    size_t (*scratch_size)(tml_context *tml, const void *desc); /* NULL: none */
    tml_status (*run)(tml_context *tml, const void *desc, void *scratch, size_t scratch_size);
} tml_engine_op;

/* Index of an engine in a program's table of parts. In the public interface, both tiers of OpenGL
 * ES are TML_ENGINE_GL. */
typedef enum tml_part {
    PART_CPU,
    PART_VULKAN,
    PART_GL,
    PART_GL_FLOAT,
    PART_COUNT,
} tml_part;

typedef struct tml_engine {
    tml_engine_kind kind;
    tml_part part;
    const char *name;
    /* Lists the engine's devices, best first, and returns their number. desc: that of tml_open;
     * NULL in tml_devices. Entry NULL: another engine of the same kind opens the devices, and may
     * switch to this one. */
    uint32_t (*devices)(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity);
    /* Does desc supply the device? Then tml_open lists none. NULL: never. */
    bool (*is_lent)(const tml_open_desc *desc);
    /* Called after AUTO has opened this engine: does the engine lack operations of the CPU engine,
     * and does no field of desc request it? If so, AUTO tries the next device. NULL: never. */
    bool (*yields)(const tml_open_desc *desc);
    /* Opens tml->device, index tml->device_number of the device list, and fills tml->engine_state.
     * If desc supplies the device, open also fills tml->device. */
    tml_status (*open)(tml_context *tml, const tml_open_desc *desc);
    void (*close)(tml_context *tml);
    tml_status (*buffer_create)(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc);
    void (*buffer_destroy)(tml_context *tml, tml_slot *slot);
    tml_status (*read)(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out);
    tml_status (*write)(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size,
                        const void *in);
    /* Writes a few words from a slot's first word on, also into a recording. Copies the words
     * before it returns, and does not wait. Entry NULL: write does so. */
    tml_status (*put)(tml_context *tml, tml_slot *slot, size_t size, const void *in);
    /* Reads without a wait (reads.c): begin enqueues a copy of reading->size bytes from offset on;
     * poll copies it to out if it has arrived (*done); free releases what the reading keeps.
     * Entries NULL: the engine has no such reads. */
    tml_status (*read_begin)(tml_context *tml, tml_slot *slot, uint64_t offset,
                             tml_reading *reading);
    tml_status (*read_poll)(tml_context *tml, tml_reading *reading, void *out, bool *done);
    void (*read_free)(tml_context *tml, tml_reading *reading);
    tml_status (*map)(tml_context *tml, tml_slot *slot, void **out);
    void (*unmap)(tml_context *tml, tml_slot *slot);
    tml_status (*sync)(tml_context *tml);
    /* Replaces the scratch arena by one of size bytes (0: none) with undefined contents. *out holds
     * the old arena's address and receives the new one's, also on failure. A device address is cast
     * to a pointer. Entry NULL: the context's allocator supplies host memory. */
    tml_status (*scratch_resize)(tml_context *tml, const char *call, size_t size, void **out);
    /* Makes a slot without memory a buffer over scratch, for an array of a program
     * (tml_array_slot). Entry NULL: the engine's scratch is not memory, and buffer_create and
     * buffer_destroy are used. */
    void (*lay)(tml_context *tml, tml_slot *slot, void *scratch);
    /* While a frame is prepared (frames.c), do parts run, to compile what they need and nothing
     * else? false: parts do not run then. */
    bool compiles;
    /* The ends of preparing. end returns how many programs are still being compiled. Entries NULL:
     * nothing is to be done. */
    void (*prepare_begin)(tml_context *tml);
    uint32_t (*prepare_end)(tml_context *tml);
    /* The data of tml_cache, as it says. Entries NULL: the engine compiles nothing. */
    tml_status (*cache_get)(tml_context *tml, void *data, size_t *size);
    tml_status (*cache_add)(tml_context *tml, const void *data, size_t size);
    /* Device time between the two, in turns (frames.c). Entries NULL: the host's clock. */
    tml_status (*time_begin)(tml_context *tml);
    tml_status (*time_end)(tml_context *tml, double *seconds);
    /* Are operations recorded into a caller-owned command buffer? NULL: never. */
    bool (*is_recording)(const tml_context *tml);
    /* Address of a slot's first element, on the host or the device, to detect overlap. */
    uint64_t (*address)(const tml_slot *slot);
    /* Name of the context's tier for messages ("path packed"). NULL: the engine has no tiers. */
    const char *(*tier)(const tml_context *tml);
    /* Does the engine run kernels on the host's processors, in host memory? */
    bool is_host;
    /* Registers kernels that the build compiled for a program, as tml_vulkan_desc.kernels does. The
     * list must outlive the context. Registering it again is harmless. NULL: not required. */
    void (*learn)(tml_context *tml, const struct tml_vulkan_kernel *kernels);
    /* On the context's device, does AUTO prefer every other supported method to this one? NULL:
     * no. */
    bool (*avoids)(const tml_context *tml, tml_method method);
} tml_engine;

/* Engines in order of preference, NULL-ended. */
extern const tml_engine *const tml_engines[];
extern const tml_engine tml_cpu_engine;      /* src/cpu/cpu_engine.c */
extern const tml_engine tml_vulkan_engine;   /* src/vulkan/vulkan_engine.c */
extern const tml_engine tml_gl_engine;       /* src/gl/gl_engine.c */
extern const tml_engine tml_gl_float_engine; /* src/gl_float/gl_float_engine.c */

#endif
