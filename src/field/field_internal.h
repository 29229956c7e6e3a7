/* Field: what the plan of a field holds, for the engines' parts.
 *
 * A plan is the points sorted into bins. A bin is a cube of samples whose edge is a power of two
 * and at least FIELD_BRICK; bins lie on the grid like samples do, x fastest, so whole rows and
 * layers of bins are contiguous. A brick gathers from the bins that its samples' support touches:
 * bins in order, and in each bin the points in source order. That fixed order is what makes every
 * sample the same bit for bit however the work is split.
 *
 * Points whose radii differ much are kept in levels, each for a range of 1 : 4 with its own bins,
 * so that one large point does not make every brick look far away for small ones.
 *
 * Memory: 16 bytes a point that reaches the grid, 8 bytes a bin, at most FIELD_MAX_BINS bins a
 * level. */
#ifndef TML_FIELD_INTERNAL_H
#define TML_FIELD_INTERNAL_H

#include "field/field_slabs.h"

enum {
    FIELD_MAX_LEVELS = 8,        /* the last level also takes every smaller radius */
    FIELD_MAX_BINS = 1 << 22,    /* a level; larger grids get larger bins */
    FIELD_LEVEL_WORDS = 8,       /* of device.levels */
    FIELD_LIST_BRICKS = 1 << 20, /* in the list at least, where the grid has as many */
};

typedef struct field_point {
    float position[3]; /* in samples, from its bin's first sample */
    float reach;       /* world units beyond which it adds nothing: radius, or radius + margin */
} field_point;

typedef struct field_level {
    double support[3];  /* samples along each axis that no point of the level reaches beyond */
    uint32_t edge_log2; /* a bin's edge in samples */
    uint64_t bins[3];
    uint64_t first_bin; /* in starts */
} field_level;

struct field_plan {
    tml_buffer
        out; /* f32, dims product: for the engine's operation; none when slabs are evaluated */
    uint64_t dims[3];
    int formula;      /* FIELD_WENDLAND_C2 ... of kernels/field.k.h */
    float background; /* of samples that no point reaches */
    float margin;     /* FIELD_DISTANCE; else 0 */
    /* Distances are measured in the world turned so that x lies along the grid's x axis and y in
     * its xy plane. There sample (i, j, k), for any direction matrix, stands at (xx i + xy j + xz
     * k, yy j + yz k, zz k): one step along a row changes x alone. */
    struct {
        double xx, xy, xz, yy, yz, zz;
    } frame;
    double extent[3]; /* samples along each axis that a reach of 1 covers */
    uint32_t level_count;
    field_level levels[FIELD_MAX_LEVELS];
    uint64_t bin_count;
    uint64_t *starts; /* bin_count + 1: bin b holds points [starts[b], starts[b + 1]) */
    uint64_t point_count;
    field_point *points;
    /* What engines other than the CPU need of the above, in their memory. */
    struct {
        tml_buffer points; /* records of 16 bytes */
        tml_buffer starts; /* u32 */
        /* FIELD_LEVEL_WORDS u32 a level: first_bin, edge_log2, bins x y z, support x y z in whole
         * samples, rounded up. */
        tml_buffer levels;
        /* u32, undefined contents: a count, and the numbers of so many bricks that an engine is
         * about to evaluate, brick_room of them at most; at least a layer of the grid. */
        tml_buffer bricks;
        uint64_t brick_room;
    } device;
};

/* What an engine does for fields, by tml_engine.part; NULL: it has none. */
typedef tml_status field_slab_fn(tml_context *tml, const field_plan *plan, uint64_t z_first,
                                 uint64_t z_count, void *out);
typedef struct field_parts {
    const tml_engine_op *field; /* field_plan, into its out */
    field_slab_fn *slab;        /* field_slab */
} field_parts;
extern const field_parts field_parts_of[PART_COUNT];
extern const tml_engine_op cpu_op_field, vk_op_field, gl_op_field;
field_slab_fn cpu_field_slabs, vk_field_slab, gl_field_slab;

/* Bricks, or parts of one, along that many samples. */
static inline uint64_t field_bricks_along(uint64_t samples)
{
    return TML_CEIL_DIV(samples, FIELD_BRICK);
}

/* The bins along an axis that samples [first, last] must look into. Inclusive. */
void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last);

/* Is every sample of slices [z_first, z_first + z_count) background? May say no for a slab that
 * points come close to but do not reach. */
bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count);

/* A slab by this thread alone, which needs no context. src/field/cpu/cpu_field.c */
void cpu_field_slab(const field_plan *plan, uint64_t z_first, uint64_t z_count, float *out);

/* ---- between the files of src/field ---------------------------------------------------------- */

/* Lengths (radius, margin, spacing) must lie between these, so that ratios and their squares stay
 * within float. */
#define FIELD_MIN_LENGTH 1e-30
#define FIELD_MAX_LENGTH 1e30

/* A desc's points on the host. */
typedef struct field_input {
    const float *points; /* 3 a point */
    const float *radii;  /* NULL: the desc's radius for all */
    uint64_t count;
} field_input;
tml_status field_map(tml_context *tml, const tml_field_desc *desc, field_input *out);
void field_unmap(tml_context *tml, const tml_field_desc *desc);

/* Inverse of a row-major 3x3 matrix; false if it is singular or not finite. */
bool field_invert(const double matrix[9], double out[9]);

/* The median, over some thousand of the points, of the distance to the sixth-nearest point that
 * lies elsewhere (fewer points: to the farthest). 0 when all finite points coincide. */
tml_status field_spacing(tml_context *tml, const float *points, uint64_t count, double *out);

#endif
