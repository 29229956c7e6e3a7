/* The surface program's plan: surface_resolve.c makes it from the desc, and the engine's part
 * executes it.
 *
 * A part is one isovalue or label. COUNT makes a part's sign bits and row table, and returns its
 * counts. EMIT writes its triangles and vertices. With isovalues, COUNT reads the volume once for
 * all parts and keeps their sign bits for EMIT. Labels, which may be thousands, share one
 * workspace: EMIT makes the sign bits again, inside the label's bounding box. If the engine
 * supports it, volume, mask and attribute may be on the host (tml_slot.on_host), but not for INDEX
 * and ENQUEUE. */
#ifndef TML_SURFACE_INTERNAL_H
#define TML_SURFACE_INTERNAL_H

#include "field/field_slabs.h"
#include "surface/surface_calls.h"

typedef enum surface_stage {
    SURFACE_COUNT,
    SURFACE_EMIT,
    SURFACE_INDEX,   /* write the brick index */
    SURFACE_SOUP,    /* gather the outputs from plan.welded, which EMIT wrote */
    SURFACE_ENQUEUE, /* COUNT and EMIT of one part, and SOUP; the counts stay on the device */
    SURFACE_END,     /* free *kept, which is not NULL */
} surface_stage;

typedef struct surface_part {
    double iso;
    uint64_t label;  /* surface_label */
    surface_box box; /* samples around the surface: the region, or a smaller box for a label */
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t active_cells;
    bool is_undecided; /* COUNT could not decide a cell's topology: the counts mean nothing */

    /* For a part in a slab (plan.held_count).
     * before, after   halo layers of the box, pads included. Counts and outputs are of the other
     *                 layers
     * no_pad_...      the part continues beyond that end of the slab
     * vertex_base     a vertex's number minus its place in the outputs */
    uint32_t before, after;
    bool no_pad_below, no_pad_above;
    uint64_t vertex_base;
} surface_part;

/* The mesh's layout in memory. stride 0: arrays of their own, at offset 0. Otherwise a vertex is a
 * record of stride bytes, with position, normal and value at these offsets; the plan has one slot
 * for all three. In both cases, the size of the slot's element is the distance between vertices. */
typedef struct surface_layout {
    uint32_t stride, position, normal, value;
    bool octahedral;
    bool indices16;
} surface_layout;

/* The JavaScript build, where every byte counts, has packed arrays only. */
#ifdef TML_WEB
enum { SURFACE_LAYOUTS = false };
#else
enum { SURFACE_LAYOUTS = true };
#endif

/* The number of vertices that 16-bit indices can name. The largest index may restart primitives. */
enum { SURFACE_VERTICES16 = UINT16_MAX };

/* A mesh in host or device memory. NULL: not requested. */
typedef struct surface_arrays {
    tml_slot *positions;
    tml_slot *vertex_normals;
    tml_slot *vertex_values;
    tml_slot *indices;
    tml_slot *triangle_cells; /* u32 or u64 */
} surface_arrays;

/* The welded mesh that EMIT wrote and from which SOUP gathers. With records, positions and indices
 * are enough. */
typedef struct surface_welded {
    surface_arrays mesh;
    uint64_t vertex_count;   /* vertices that exist; a triangle with another becomes three zeros */
    uint64_t triangle_count; /* triangles to gather */
} surface_welded;

/* For ENQUEUE: counts, draw arguments and isovalue in device memory. NULL: none. */
typedef struct surface_on_device {
    const tml_slot *counts, *draw;
    const tml_slot *iso;
    uint64_t iso_index;
} surface_on_device;

/* The range of the call's progress that a stage covers. */
typedef struct surface_progress {
    double first, last;
    double *reached; /* the most reported so far, over all stages; NULL: not kept */
} surface_progress;

/* Whether this build has TML_TOPOLOGY_TRILINEAR: a web page need not load it. */
#ifdef __EMSCRIPTEN__
enum { SURFACE_HAS_TRILINEAR = 0 };
#else
enum { SURFACE_HAS_TRILINEAR = 1 };
#endif

typedef struct surface_plan {
    surface_stage stage;
    surface_part *parts; /* the parts of this run */
    uint32_t part_count;

    /* Input. */
    const tml_slot *volume; /* NULL: the plan has a field */
    field_plan *field;
    tml_type type;    /* of the samples; F32 for fields */
    uint64_t dims[3]; /* samples of the whole volume */
    const tml_slot *mask;
    const tml_slot *attribute;
    const tml_slot *index;
    bool labels;
    bool caps;
    bool trilinear; /* tml_surface_desc.topology; false if the build lacks it */

    /* A slab, on engines with takes_slabs: volume, mask and attribute hold layers [held_first,
     * held_first + held_count) of the whole volume. held_count 0: all layers. */
    uint64_t held_first, held_count;

    /* Choices. */
    tml_normals normals;
    bool indices64;
    bool soup; /* three vertices per triangle; for ENQUEUE, and for EMIT if emits_soups */
    surface_axes axes;

    surface_arrays mesh; /* output of EMIT */
    surface_layout layout;

    /* For ENQUEUE, whose counts the host does not know: elements that the outputs hold. For a soup:
     * elements that its welded mesh in scratch has room for. */
    uint64_t vertex_capacity, triangle_capacity;

    surface_welded welded; /* for SOUP */
    surface_on_device device;

    /* Not NULL: the host runs COUNT and EMIT (surface_on_host.h) for the engine that owns the
     * buffers. NULL: the engine runs them. */
    struct surface_host *host;

    /* Kept by an engine from COUNT to EMIT, besides the scratch. */
    void **kept;

    /* Output of INDEX. */
    tml_slot *bricks;

    /* With all_labels, the array parts has room for part_capacity parts. */
    bool all_labels;
    uint32_t part_capacity;

    /* The most bytes of scratch that an engine may request. Engines that work in slabs obey it. */
    size_t scratch_limit;
    /* For EMIT: bytes of COUNT's scratch if it still holds COUNT's results; otherwise 0. */
    size_t kept_scratch;

    surface_progress progress;
    tml_surface_result *result; /* stages are timed here */
} surface_plan;

static inline const surface_layout *surface_layout_of(const surface_plan *plan)
{
    static const surface_layout packed;
    return SURFACE_LAYOUTS ? &plan->layout : &packed;
}

static inline uint32_t surface_normal_size(const surface_layout *layout)
{
    return layout->octahedral ? 4 : 12;
}

/* Reports the call's progress. The reported value never decreases and never passes the stage's end,
 * however sums are rounded. Errors: CANCELLED. */
TML_MUST_CHECK tml_status surface_report(tml_context *tml, const surface_plan *plan,
                                         const char *stage, double fraction);
/* Reports the fraction of the stage that is done. */
TML_MUST_CHECK tml_status surface_step_done(tml_context *tml, const surface_plan *plan,
                                            const char *stage, double done);

/* The calls for which an engine supports TML_TOPOLOGY_TRILINEAR. */
typedef enum surface_trilinear {
    SURFACE_TRILINEAR_NEVER,
    SURFACE_TRILINEAR_ON_HOST, /* tml_surface of volumes; the host computes (surface_plan.host) */
    /* tml_surface of volumes; the engine computes, or the host if a part is_undecided */
    SURFACE_TRILINEAR_VOLUMES,
    SURFACE_TRILINEAR_ALWAYS,
} surface_trilinear;

/* An engine's support for surfaces; indexed by tml_engine.part. */
typedef struct surface_parts {
    const tml_engine_op *op; /* runs a surface_plan; NULL: no surfaces */
    bool reads_host_volumes; /* volume, mask and attribute may stay on the host */
    bool takes_slabs;        /* supports surface_plan.held_count and surface_part.before */
    bool numbers_slabs;      /* adds surface_part.vertex_base to indices; otherwise the host does */
    bool emits_soups;        /* EMIT makes soups instead of welded meshes */
    bool emits_cells;        /* supports surface_arrays.triangle_cells */
    bool emits_layouts;      /* supports surface_plan.layout */
    surface_trilinear trilinear; /* supports surface_plan.trilinear for these calls */
} surface_parts;
extern const surface_parts surface_parts_of[PART_COUNT];
static inline const surface_parts *surface_engine(const tml_context *tml)
{
    return &surface_parts_of[tml->engine->part];
}

/* The samples per brick of the index on each axis, and the index's types. */
enum { SURFACE_BRICK_X = 64, SURFACE_BRICK_Y = 4, SURFACE_BRICK_Z = 4 };
extern const tml_type surface_index_types[];

/* Returns the key (surface_limits) of an integer, given its low bytes. It is its own inverse. */
static inline uint64_t surface_integer_key(tml_type type, uint64_t bits)
{
    unsigned width = 8 * (unsigned)tml_type_size(type);
    uint64_t sign = tml_type_is_signed(type) ? (uint64_t)1 << (width - 1) : 0;
    return (bits & UINT64_MAX >> (64 - width)) ^ sign;
}

/* An isovalue or label in the form that shaders compare with samples. A sample's key is an unsigned
 * number; keys are in the order of the values (surface/gpu/surface_keys.glsl). A sample is inside
 * if its key is in [limit, limit + range]; is_none: no sample is inside. In surface_limits.c. */
typedef struct surface_limits {
    uint64_t limit, range;
    bool is_none;
    float index_iso; /* the smallest float >= the isovalue; 0 is stored as -0 */
    /* The isovalue for computing t. A float; for f64 the double's two words; for 32- and 64-bit
     * integers the key of its floor, then its fraction as a float; for labels the label's key. */
    uint32_t iso_words[3];
} surface_limits;
surface_limits surface_limits_of(tml_type type, double iso);
surface_limits surface_limits_of_part(const surface_plan *plan, const surface_part *part);

/* Sets the bounding boxes of the parts, whose labels must ascend. With all_labels, makes the parts.
 * samples: the whole volume. In surface_labels.c. Errors: OUT_OF_MEMORY, UNSUPPORTED (more labels
 * than part_capacity), CANCELLED. */
tml_status surface_labels(tml_context *tml, surface_plan *plan, const void *samples);

/* Checks of a desc, which also resolve it into a plan; in surface_resolve.c. The caller frees
 * plan->parts. */
/* Checks a volume, mask or attribute. It may stay on the host if the engine reads it there. */
tml_status surface_check_samples(tml_context *tml, const char *call, const char *field,
                                 tml_buffer buffer, const tml_type *types, uint64_t count);
/* An optional buffer of a desc. */
typedef struct surface_optional {
    const char *field;
    tml_buffer buffer;
    const tml_type *types;
    uint64_t count;
    const tml_slot **slot; /* set if the buffer is given */
    bool samples;          /* is a volume, mask or attribute (surface_check_samples) */
} surface_optional;
tml_status surface_check_optional(tml_context *tml, const char *call,
                                  const surface_optional *buffers, size_t count);
/* Resolves volume or field, grid, mask, attribute and index. */
tml_status surface_resolve_input(tml_context *tml, const tml_surface_desc *desc, tml_grid *grid,
                                 tml_field_desc *field, surface_plan *plan);
static inline bool surface_wants_labels(const tml_surface_desc *desc)
{
    return desc->label_count > 0 || desc->all_labels;
}
tml_status surface_resolve_parts(tml_context *tml, const tml_surface_desc *desc,
                                 surface_plan *plan);
uint64_t surface_brick_count(const uint64_t dims[3]);
void surface_drop_flat_parts(surface_plan *plan);
/* Returns tml_mesh_part.value of a part. */
double surface_part_value(const surface_plan *plan, const surface_part *part);
/* Checks the desc's normals and collapse, and that a call supports its topology.
 * on_host  the host can run it for any engine */
tml_status surface_check_choices(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                 bool on_host);
/* The part of these checks for TRILINEAR. */
tml_status surface_check_trilinear(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   bool on_host);
/* Runs a stage with scratch from the arena. The stage covers [from, to] of the call's progress. */
tml_status surface_run_stage(tml_context *tml, surface_plan *plan, surface_stage stage, double from,
                             double to);

/* Returns the layout that desc requests. */
surface_layout surface_layout_wanted(const tml_surface_desc *desc);
/* Describes the outputs, in slots->layout. own: ignores the buffers that the caller gave. */
void surface_outputs_describe(const tml_context *tml, const tml_surface_desc *desc,
                              const surface_plan *plan, bool own, uint64_t vertex_count,
                              uint64_t triangle_count, tml_surface_result *result,
                              surface_plan *slots, surface_output outputs[SURFACE_OUTS]);
/* Checks the outputs in desc, and describes the given ones. */
tml_status surface_outputs_resolve(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   surface_plan *plan, tml_surface_result *result,
                                   surface_output outputs[SURFACE_OUTS]);
/* Checks iso_buffer, counts and draw, and that the given outputs overlap neither one another nor an
 * input. */
tml_status surface_check_buffers(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                 const surface_output outputs[SURFACE_OUTS]);
/* Refuses the fields that only tml_surface_enqueue uses. */
tml_status surface_refuse_enqueued(tml_context *tml, const char *call,
                                   const tml_surface_desc *desc);

/* On the host: stores some words of each vertex of [first, first + count).
 * offset  bytes from the start of the slot's element */
void surface_store(const tml_slot *slot, uint32_t offset, uint64_t first, uint64_t count,
                   const void *values, uint32_t words);
/* Does the same with normals, in the plan's slot and layout. */
void surface_store_normals(const surface_plan *plan, uint64_t first, uint64_t count,
                           const float *normals);
/* Converts 32-bit indices to 16 bits. A triangle with a vertex beyond them becomes three zeros. out
 * may be in. */
void surface_store_indices16(uint16_t *out, const uint32_t *in, uint64_t triangle_count);

/* Adds seconds to the named stage of a result. */
void surface_time(tml_surface_result *result, const char *stage, double seconds);

#endif
