/* The surface program's plan: surface_resolve.c resolves it from the desc, the engine's part
 * executes it.
 *
 * A part is one isovalue or label. COUNT makes a part's sign bits and row table and returns its
 * counts; EMIT writes its triangles and vertices. COUNT reads the volume once for all isovalues and
 * keeps their sign bits for EMIT. Labels, which may be thousands, share one workspace: EMIT makes
 * the sign bits again, inside the label's bounding box. Volume, mask and attribute may lie on the
 * host (tml_slot.on_host) on engines that take such buffers, but not for INDEX and ENQUEUE. */
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
    surface_box box; /* samples around the surface: the region, or less for a label */
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t active_cells;
    bool is_undecided; /* an engine's COUNT cannot tell a cell's topology: counts mean nothing */

    /* For a part in a slab (plan.held_count). before, after: halo layers of the box, pads counted.
     * Counts and outputs are of the other, own layers. no_pad_below, no_pad_above: the part goes on
     * past that end of the slab. vertex_base: a vertex's number less its place in the outputs. */
    uint32_t before, after;
    bool no_pad_below, no_pad_above;
    uint64_t vertex_base;
} surface_part;

/* How the mesh lies in memory. In a vertex's record of stride bytes positions, normals and values
 * are at these offsets; a plan's slots for them are then one. stride 0: arrays of their own, at
 * offset 0. In both, a vertex's element is as large as the slot's. */
typedef struct surface_layout {
    uint32_t stride, position, normal, value;
    bool octahedral;
    bool indices16;
} surface_layout;

/* The build for JavaScript, which counts every byte, has packed arrays alone. */
#ifdef TML_WEB
enum { SURFACE_LAYOUTS = false };
#else
enum { SURFACE_LAYOUTS = true };
#endif

/* Indices of 16 bits: vertices that they number. The largest may restart primitives. */
enum { SURFACE_VERTICES16 = UINT16_MAX };

/* A mesh in host or device memory; NULL where not wanted. */
typedef struct surface_arrays {
    tml_slot *positions;
    tml_slot *vertex_normals;
    tml_slot *vertex_values;
    tml_slot *indices;
    tml_slot *triangle_cells; /* u32 or u64 */
} surface_arrays;

/* The welded mesh that a soup is gathered from: what EMIT wrote. With records it is positions and
 * indices. */
typedef struct surface_welded {
    surface_arrays mesh;
    uint64_t vertex_count;   /* that exist: a triangle with another corner becomes three zeros */
    uint64_t triangle_count; /* that are gathered */
} surface_welded;

/* For ENQUEUE: counts, draw arguments and the isovalue in device memory; NULL: none. */
typedef struct surface_on_device {
    const tml_slot *counts, *draw;
    const tml_slot *iso;
    uint64_t iso_index;
} surface_on_device;

/* The stage's share of the call's progress. */
typedef struct surface_progress {
    double first, last;
    double *reached; /* so far, over all stages; NULL: not kept */
} surface_progress;

/* Is TML_TOPOLOGY_TRILINEAR part of this build? A page need not load it. */
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
    const tml_slot *volume; /* NULL: field */
    field_plan *field;
    tml_type type;    /* samples' type; F32 for fields */
    uint64_t dims[3]; /* samples of the whole volume */
    const tml_slot *mask;
    const tml_slot *attribute;
    const tml_slot *index;
    bool labels;
    bool caps;
    bool trilinear; /* tml_surface_desc.topology; false where the build lacks it */

    /* A slab, on engines that take slabs: volume, mask and attribute hold layers [held_first,
     * held_first + held_count) of the whole volume. held_count 0: all layers. */
    uint64_t held_first, held_count;

    /* How. */
    tml_normals normals;
    bool indices64;
    bool soup; /* ENQUEUE, and EMIT on engines with emits_soups: three vertices a triangle */
    surface_axes axes;

    surface_arrays mesh; /* output of EMIT */
    surface_layout layout;

    /* Elements that the outputs hold, for ENQUEUE, where the host does not know the counts; of a
     * soup, elements that its welded mesh, in scratch, has room for. */
    uint64_t vertex_capacity, triangle_capacity;

    surface_welded welded; /* for SOUP */
    surface_on_device device;

    /* COUNT and EMIT are the host's (surface_on_host.h), on an engine whose buffers these are;
     * NULL: the engine's own. */
    struct surface_host *host;

    /* What an engine keeps from COUNT to EMIT beside the scratch. */
    void **kept;

    /* Output of INDEX. */
    tml_slot *bricks;

    /* With all_labels the parts array has room for part_capacity. */
    bool all_labels;
    uint32_t part_capacity;

    /* Bytes of scratch that an engine may ask for. An engine that works in slabs keeps to it. */
    size_t scratch_limit;
    /* For EMIT: bytes of COUNT's scratch, where it still holds COUNT's results, else 0. */
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

/* Reports the call's progress: never less than before, nor past the stage's end, wherever sums are
 * rounded to. Errors: CANCELLED. */
TML_MUST_CHECK tml_status surface_report(tml_context *tml, const surface_plan *plan,
                                         const char *stage, double fraction);
/* Reports the fraction of the stage that is done. */
TML_MUST_CHECK tml_status surface_step_done(tml_context *tml, const surface_plan *plan,
                                            const char *stage, double done);

/* Calls that may have TML_TOPOLOGY_TRILINEAR. */
typedef enum surface_trilinear {
    SURFACE_TRILINEAR_NEVER,
    SURFACE_TRILINEAR_ON_HOST, /* tml_surface of volumes, by surface_plan.host */
    /* the same by the engine, but for those with a part that is_undecided */
    SURFACE_TRILINEAR_VOLUMES,
    SURFACE_TRILINEAR_ALWAYS,
} surface_trilinear;

/* What an engine supports for surfaces, by tml_engine.part. */
typedef struct surface_parts {
    const tml_engine_op *op; /* surface_plan; NULL: nothing */
    bool reads_host_volumes; /* volumes, masks and attributes that stay on the host */
    bool takes_slabs;        /* surface_plan.held_count, surface_part.before */
    bool numbers_slabs;      /* adds surface_part.vertex_base to indices; else the host adds it */
    bool emits_soups;        /* EMIT makes soups and no welded meshes */
    bool emits_cells;        /* surface_plan.triangle_cells */
    bool emits_layouts;      /* surface_plan.layout */
    surface_trilinear trilinear; /* where surface_plan.trilinear may be */
} surface_parts;
extern const surface_parts surface_parts_of[PART_COUNT];
static inline const surface_parts *surface_engine(const tml_context *tml)
{
    return &surface_parts_of[tml->engine->part];
}

/* Samples of a brick of the index, and the index's types. */
enum { SURFACE_BRICK_X = 64, SURFACE_BRICK_Y = 4, SURFACE_BRICK_Z = 4 };
extern const tml_type surface_index_types[];

/* Key (surface_limits) of an integer from its low bytes. The function is its own inverse. */
static inline uint64_t surface_integer_key(tml_type type, uint64_t bits)
{
    unsigned width = 8 * (unsigned)tml_type_size(type);
    uint64_t sign = tml_type_is_signed(type) ? (uint64_t)1 << (width - 1) : 0;
    return (bits & UINT64_MAX >> (64 - width)) ^ sign;
}

/* An isovalue or label as shaders compare samples with it. A sample's key is an unsigned number in
 * the order of the samples' values (surface/gpu/surface_keys.glsl). A sample is inside if its key
 * lies in [limit, limit + range]; is_none: no sample is inside. src/surface/surface_limits.c */
typedef struct surface_limits {
    uint64_t limit, range;
    bool is_none;
    float index_iso; /* the least float >= the isovalue; 0 as -0 */
    /* Isovalue for t: a float; for f64 the double's two words; for 32- and 64-bit integers the key
     * of its floor, and its fraction as a float; for labels the label's key. */
    uint32_t iso_words[3];
} surface_limits;
surface_limits surface_limits_of(tml_type type, double iso);
surface_limits surface_limits_of_part(const surface_plan *plan, const surface_part *part);

/* Sets the bounding boxes of the parts, whose labels ascend. With all_labels it makes the parts.
 * samples: the whole volume. src/surface/surface_labels.c. Errors: OUT_OF_MEMORY, UNSUPPORTED (more
 * labels than part_capacity), CANCELLED. */
tml_status surface_labels(tml_context *tml, surface_plan *plan, const void *samples);

/* These check a desc and resolve it into a plan: src/surface/surface_resolve.c. The caller frees
 * plan->parts. */
/* Checks a volume, mask or attribute. It may stay on the host if the engine reads it there. */
tml_status surface_check_samples(tml_context *tml, const char *call, const char *field,
                                 tml_buffer buffer, const tml_type *types, uint64_t count);
/* A buffer of a desc that may be left out. */
typedef struct surface_optional {
    const char *field;
    tml_buffer buffer;
    const tml_type *types;
    uint64_t count;
    const tml_slot **slot; /* set if the buffer is given */
    bool samples;          /* a volume, mask or attribute: surface_check_samples */
} surface_optional;
tml_status surface_check_optional(tml_context *tml, const char *call,
                                  const surface_optional *buffers, size_t count);
/* Volume or field, grid, mask, attribute and index. */
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
/* tml_mesh_part.value of a part. */
double surface_part_value(const surface_plan *plan, const surface_part *part);
/* May a call have the topology of its desc? on_host: any engine will do. (surface_topology.c) */
tml_status surface_check_topology(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                  bool on_host);
/* Runs a stage with scratch from the arena. Its share of the call's progress is [from, to]. */
tml_status surface_run_stage(tml_context *tml, surface_plan *plan, surface_stage stage, double from,
                             double to);

/* What desc asks for. */
surface_layout surface_layout_wanted(const tml_surface_desc *desc);
/* slots->layout: of the outputs. own: none that the caller gave. */
void surface_outputs_describe(const tml_context *tml, const tml_surface_desc *desc,
                              const surface_plan *plan, bool own, uint64_t vertex_count,
                              uint64_t triangle_count, tml_surface_result *result,
                              surface_plan *slots, surface_output outputs[SURFACE_OUTS]);
/* Checks what desc says of them, and describes the given ones. */
tml_status surface_outputs_resolve(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   surface_plan *plan, tml_surface_result *result,
                                   surface_output outputs[SURFACE_OUTS]);
/* Checks that the given outputs overlap neither one another nor an input. */
tml_status surface_check_apart(tml_context *tml, const char *call, const tml_surface_desc *desc,
                               const surface_output outputs[SURFACE_OUTS]);
/* Refuses the fields that only tml_surface_enqueue takes. */
tml_status surface_refuse_enqueued(tml_context *tml, const char *call,
                                   const tml_surface_desc *desc);

/* On the host: stores words of each of count vertices, from vertex first on, at an offset in the
 * slot's elements. */
void surface_store(const tml_slot *slot, uint32_t offset, uint64_t first, uint64_t count,
                   const void *values, uint32_t words);
/* The same of normals, in the plan's slot and layout. */
void surface_store_normals(const surface_plan *plan, uint64_t first, uint64_t count,
                           const float *normals);
/* Indices of 16 bits from 32. A triangle with a vertex that has none gets three zeros. out may be
 * in. */
void surface_store_indices16(uint16_t *out, const uint32_t *in, uint64_t triangle_count);

/* Adds seconds to the named stage of a result. */
void surface_time(tml_surface_result *result, const char *stage, double seconds);

#endif
