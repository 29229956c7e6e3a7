/* The engine table: what a device offers to the operations. The dispatch in src/stream and the
 * programs call these; engines implement them and never include one another, nor a program.
 *
 * A program that is more than streams and kernels (surface, field, image) has parts, each for one engine:
 * operations like any other, but in the program's room and in its own table by tml_engine.part. Their run
 * functions get the resolved internal desc that the program's header in src/ defines. */
#ifndef TML_ENGINE_H
#define TML_ENGINE_H

#include <trommel/trommel.h>

typedef struct tml_slot tml_slot;
struct tml_vulkan_kernel;

typedef enum tml_op {
    TML_OP_MAP,             /* tml_map_desc */
    TML_OP_REDUCE,          /* tml_reduce_desc */
    TML_OP_HISTOGRAM,       /* tml_histogram_desc */
    TML_OP_SCAN,            /* tml_scan_desc */
    TML_OP_COMPACT,         /* tml_compact_desc */
    TML_OP_PARTITION,       /* tml_partition_desc */
    TML_OP_EXPAND,          /* tml_expand_desc */
    TML_OP_UNIQUE,          /* tml_unique_desc */
    TML_OP_REDUCE_SEGMENTS, /* tml_reduce_segments_desc */
    TML_OP_SCAN_SEGMENTS,   /* tml_scan_segments_desc */
    TML_OP_COUNT
} tml_op;

/* The results of a resolved tml_reduce_desc: its own, and those of also, which stand at its front. */
static inline tml_reduce_result tml_reduce_result_at(const tml_reduce_desc *desc, uint32_t k)
{
    return k ? desc->also[k - 1] : (tml_reduce_result){desc->fold, desc->out};
}
static inline uint32_t tml_reduce_results(const tml_reduce_desc *desc)
{
    uint32_t count = 1;
    while (count < TML_MAX_FOLDS && !tml_buffer_is_none(desc->also[count - 1].out))
        count++;
    return count;
}

/* One operation on one engine. desc is checked and resolved (method never AUTO, lengths bounded)
 * before any of these is called. */
typedef struct tml_engine_op {
    bool (*supports)(tml_context *tml, const void *desc);       /* NULL: always */
    size_t (*scratch_size)(tml_context *tml, const void *desc); /* NULL: none */
    tml_status (*run)(tml_context *tml, const void *desc, void *scratch, size_t scratch_size);
} tml_engine_op;

/* The engines as programs tell them apart: both tiers of OpenGL ES are TML_ENGINE_GL in public. */
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
    /* What there is, best first. desc: of the tml_open that asks; NULL: of tml_devices. NULL: no devices of
     * its own; the open of another engine of the kind turns to this one (tml_engine_of). */
    uint32_t (*devices)(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity);
    /* Does desc lend a device of this engine's? Then nothing is listed. NULL: never. */
    bool (*is_lent)(const tml_open_desc *desc);
    /* Of a context that AUTO opened: does it lack operations that the CPU engine has, and does desc
     * not ask for it in a field of its own? Then AUTO goes on. NULL: never. */
    bool (*yields)(const tml_open_desc *desc);
    /* Opens tml->device, number tml->device_number of that list, and fills tml->engine_state. A
     * device that desc lends is described here. */
    tml_status (*open)(tml_context *tml, const tml_open_desc *desc);
    void (*close)(tml_context *tml);
    tml_status (*buffer_create)(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc);
    void (*buffer_destroy)(tml_context *tml, tml_slot *slot);
    tml_status (*read)(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out);
    tml_status (*write)(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size,
                        const void *in);
    tml_status (*map)(tml_context *tml, tml_slot *slot, void **out);
    void (*unmap)(tml_context *tml, tml_slot *slot);
    tml_status (*sync)(tml_context *tml);
    /* Replaces the scratch for run() by one of size bytes (0: none), contents undefined. *out is
     * what there was and becomes what there is, also on failure. NULL: host memory by the context's
     * allocator. An engine whose addresses are not the host's passes them in a pointer. */
    tml_status (*scratch_resize)(tml_context *tml, const char *call, size_t size, void **out);
    /* Is work only recorded, for later? NULL: never. */
    bool (*is_recording)(const tml_context *tml);
    /* Where a slot's first element lies, in the engine's own kind of address: to tell overlaps. */
    uint64_t (*address)(const tml_slot *slot);
    /* What lacks operations that the engine has, for messages: "path packed". NULL: nothing. */
    const char *(*tier)(const tml_context *tml);
    /* Are its kernels run by the host's processors, in the host's memory? */
    bool is_host;
    /* Gets a program's own kernels, which the build has compiled: a list that lasts, as in
     * tml_vulkan_desc.kernels. May be given again. NULL: needs none. */
    void (*learn)(tml_context *tml, const struct tml_vulkan_kernel *kernels);
    /* Does AUTO pass this method over where another one is supported? NULL: none. */
    bool (*avoids)(const tml_context *tml, tml_method method);
    const tml_engine_op *ops[TML_OP_COUNT]; /* NULL: UNSUPPORTED */
} tml_engine;

/* Engines in order of preference, NULL-ended. */
extern const tml_engine *const tml_engines[];
extern const tml_engine tml_cpu_engine;      /* src/cpu/cpu_engine.c */
extern const tml_engine tml_vulkan_engine;   /* src/vulkan/vulkan_engine.c */
extern const tml_engine tml_gl_engine;       /* src/gl/gl_engine.c */
extern const tml_engine tml_gl_float_engine; /* src/gl_float/gl_float_engine.c */
/* The one of tml_engines, or NULL. */
const tml_engine *tml_engine_of(tml_part part);

#endif
