/* The surface program's plan: what surface.c resolves from the desc and the engine's part executes.
 *
 * A part is one isovalue or label. COUNT makes a part's sign bits and row table and returns its
 * sizes; EMIT writes its share of the outputs. All isovalues are counted in one reading of the
 * volume, and their bits are kept for EMIT. Labels, which may be thousands, share one workspace:
 * EMIT makes the bits again, inside the label's bounding box. Volume, mask and attribute may lie on
 * the host (tml_slot.on_host) on engines that take such buffers, but not for INDEX and ENQUEUE. */
#ifndef TML_SURFACE_INTERNAL_H
#define TML_SURFACE_INTERNAL_H

#include <string.h>

#include "core/core_internal.h"
#include "core/scalars.h"
#include "field/field_slabs.h"

typedef enum surface_stage {
    SURFACE_COUNT,
    SURFACE_EMIT,
    SURFACE_INDEX,   /* write brick minima and maxima */
    SURFACE_ENQUEUE, /* one part's COUNT and EMIT without a look in between */
    SURFACE_END,     /* give back *kept, which is not NULL */
} surface_stage;

/* A box of samples in the whole volume. */
typedef struct surface_box {
    uint64_t first[3];
    uint64_t count[3];
} surface_box;

typedef struct surface_part {
    double iso;
    uint64_t label;  /* surface_label */
    surface_box box; /* samples that matter; the region, or less for a label */
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t active_cells;

    /* Of a part's share of a slab (plan.held_count): the box holds layers before and after the slab's
     * own (pads counted), which only tell the own ones' edges and the numbers beyond them; and a cap's
     * pad lies below or above it only where the part ends there. Counts and outputs are of the own
     * layers; vertex_first and triangle_first are places in the outputs, and the first vertex's
     * number is this much more. */
    uint32_t before, after;
    bool no_pad_below, no_pad_above;
    uint64_t vertex_base;
} surface_part;

typedef struct surface_plan {
    surface_stage stage;
    surface_part *parts; /* the parts of this run */
    uint32_t part_count;

    /* Input. */
    const tml_slot *volume; /* NULL: field */
    field_plan *field;
    tml_type type;    /* of the samples; F32 for fields */
    uint64_t dims[3]; /* of the whole volume */
    const tml_slot *mask;
    const tml_slot *attribute;
    const tml_slot *index;
    bool labels;
    bool caps;

    /* Of a slab, on engines that take such: volume, mask and attribute hold layers held_first to
     * held_first + held_count of the whole volume; held_count 0: all of it. */
    uint64_t held_first, held_count;

    /* How. */
    tml_normals normals;
    bool flip_winding;
    bool indices64;
    bool soup;               /* of engines that make soups: three vertices a triangle, no indices */
    double origin[3];        /* position of sample (0, 0, 0), less the position origin */
    double step[3][3];       /* step[a]: one step along axis a */
    float normal_rows[3][3]; /* to surface_normal */

    /* Output of EMIT: host or device memory; NULL where not wanted. */
    tml_slot *positions;
    tml_slot *vertex_normals;
    tml_slot *vertex_values;
    tml_slot *indices;

    /* What EMIT may write, where the counts are not known to fit: vertices, triangles. The engines
     * that count on the host need not look. */
    uint64_t vertex_capacity, triangle_capacity;
    /* Of tml_surface_enqueue: results on the device, and an isovalue there. */
    const tml_slot *counts, *draw;
    const tml_slot *iso_on_device;
    uint64_t iso_index;

    /* Where an engine holds what it keeps, beside the scratch, from COUNT to EMIT. */
    void **kept;

    /* Output of INDEX. */
    tml_slot *bricks;

    /* With all_labels the parts array has room for part_capacity. */
    bool all_labels;
    uint32_t part_capacity;

    /* Scratch that an engine may plan with; one that can do with less (in slabs of the volume) asks
     * for less where this is less. */
    size_t scratch_limit;
    /* Of EMIT: the size of the scratch that COUNT had and that still holds what it left there; 0:
     * nothing is left. */
    size_t kept_scratch;

    /* Progress: this run goes from progress_first to progress_last of the whole call. */
    double progress_first, progress_last;
    tml_surface_result *result; /* stages are timed here */
} surface_plan;

/* What an engine does for surfaces, by tml_engine.part. */
typedef struct surface_parts {
    const tml_engine_op *op; /* surface_plan; NULL: nothing */
    bool reads_host_volumes; /* and masks and attributes: those that stay on the host */
    bool takes_slabs;        /* of a volume: surface_plan.held_count, surface_part.before */
    bool numbers_slabs;      /* from surface_part.vertex_base on; if not, the host raises indices */
    bool makes_soups;        /* by itself: surface_plan.soup */
} surface_parts;
extern const surface_parts surface_parts_of[PART_COUNT];
static inline const surface_parts *surface_engine(const tml_context *tml)
{
    return &surface_parts_of[tml->engine->part];
}

/* Samples of a brick of the index, and the index's types. */
enum { SURFACE_BRICK_X = 64, SURFACE_BRICK_Y = 4, SURFACE_BRICK_Z = 4 };
extern const tml_type surface_index_types[];

/* The number of a volume's type whose low bytes are bits, as 64 bits with its sign. */
static inline uint64_t surface_label(tml_type type, uint64_t bits)
{
    unsigned unused = 64 - 8 * (unsigned)tml_type_size(type);
    return tml_type_is_signed(type) ? (uint64_t)((int64_t)(bits << unused) >> unused)
                                    : bits << unused >> unused;
}

static inline bool surface_label_less(tml_type type, uint64_t a, uint64_t b)
{
    return tml_type_is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

/* The bits of sample i of an array. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)
static inline uint64_t surface_bits_at(const void *samples, uint64_t i, size_t size)
{
    union {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } bits;
    switch (size) {
    case 1:
        return ((const uint8_t *)samples)[i];
    case 2:
        memcpy(&bits.u16, (const uint8_t *)samples + 2 * i, 2);
        return bits.u16;
    case 4:
        memcpy(&bits.u32, (const uint8_t *)samples + 4 * i, 4);
        return bits.u32;
    default: /* 8 */
        memcpy(&bits.u64, (const uint8_t *)samples + 8 * i, 8);
        return bits.u64;
    }
}

/* An integer's key (surface_limits) from its low bytes, and these from the key. */
static inline uint64_t surface_integer_key(tml_type type, uint64_t bits)
{
    unsigned width = 8 * (unsigned)tml_type_size(type);
    uint64_t sign = tml_type_is_signed(type) ? (uint64_t)1 << (width - 1) : 0;
    return (bits & UINT64_MAX >> (64 - width)) ^ sign;
}

/* How inside is told from outside, and where an isovalue lies between samples. A
 * sample's key is a number in the order of the samples' values (surface/gpu/surface_keys.glsl); inside are
 * keys from limit to limit + range, or none. src/surface/surface_limits.c */
typedef struct surface_limits {
    uint64_t limit, range;
    bool is_none;
    float index_iso; /* the least float that is not below the isovalue; 0 as -0 */
    uint32_t
        iso_words[3]; /* a float; for double the double's two words; for 32- and 64-bit integers
                            * the key of its floor and the rest as a float; for labels the label's
                            * key */
} surface_limits;
surface_limits surface_limits_of(tml_type type, double iso);
surface_limits surface_limits_of_part(const surface_plan *plan, const surface_part *part);

/* Fills in the boxes of the parts, whose labels ascend; with all_labels finds the parts themselves.
 * samples: the whole volume. src/surface/surface_labels.c. Errors: UNSUPPORTED (more labels than
 * part_capacity), CANCELLED. */
tml_status surface_labels(tml_context *tml, surface_plan *plan, const void *samples);

/* What tml_surface and tml_surface_slabs share (surface.c). The first four resolve a desc into a plan
 * and name what is wrong; parts are one block, freed by the caller. */
tml_status surface_resolve_grid(tml_context *tml, const char *call, const tml_grid *grid,
                                tml_grid *out);
/* Checks samples, which may stay on the host where the engine reads them there. */
tml_status surface_check_samples(tml_context *tml, const char *call, const char *field,
                                 tml_buffer buffer, const tml_type *types, uint64_t count);
/* The box that a region stands for, within the volume. */
tml_status surface_resolve_region(tml_context *tml, const char *call, const tml_region *region,
                                  const uint64_t dims[3], surface_box *box);
tml_status surface_check_dims(tml_context *tml, const char *call, const uint64_t dims[3],
                              uint64_t *count);
tml_status surface_resolve_axes(tml_context *tml, const tml_grid *grid,
                                const double position_origin[3], bool flip, surface_plan *plan);
tml_status surface_resolve_parts(tml_context *tml, const tml_surface_desc *desc,
                                 surface_plan *plan);
uint64_t surface_brick_count(const uint64_t dims[3]);
void surface_drop_flat_parts(surface_plan *plan);
/* The value that a part is reported under. */
double surface_part_value(const surface_plan *plan, const surface_part *part);
/* Runs a stage with scratch from the arena; from ... to: its share of the call's progress. */
tml_status surface_run_stage(tml_context *tml, surface_plan *plan, surface_stage stage, double from,
                             double to);

/* Adds seconds to the named stage of a result. */
void surface_time(tml_surface_result *result, const char *stage, double seconds);

#endif
