/* Field: the plan of a field, for the engines' parts.
 *
 * A plan has the points sorted into bins. A bin is a cube of samples whose edge is a power of two
 * and at least FIELD_BRICK. Bins are numbered x fastest, so rows and layers of bins are contiguous.
 * A brick gathers points from the bins that its samples' support touches: bins in order, and points
 * of a bin in source order. That fixed order makes every sample the same bit for bit however the
 * work is split.
 *
 * Points are kept in levels by reach, each for a range of 1 : 4 with its own bins. So one large
 * point does not make every brick search distant bins for small points.
 *
 * Memory: 16 bytes a point that reaches the grid, 20 with a density, 56 with a shape, 8 bytes a
 * bin, at most FIELD_MAX_BINS bins a level. */
#ifndef TML_FIELD_INTERNAL_H
#define TML_FIELD_INTERNAL_H

#include "field/field_slabs.h"
#include "stream/program.h"

enum {
    FIELD_MAX_LEVELS = 8,     /* the last level also takes every smaller radius */
    FIELD_MAX_BINS = 1 << 26, /* a level; larger grids get larger bins */
    FIELD_PLAN_LEVELS = 52,   /* the first word of the first level, kernels/real64_bins.k.h */
    FIELD_PLAN_WORDS = FIELD_PLAN_LEVELS + 8 * FIELD_MAX_LEVELS,
    FIELD_LIST_BRICKS = 1 << 20, /* room of device.bricks, unless the grid has fewer bricks */
};

/* Samples to a kernel's reach in a field that is made for its bins: these, of 8 samples, are then
 * just wider than kernels. */
#define FIELD_BIN_SAMPLES 7.9

typedef struct field_point {
    float position[3]; /* in samples, from its bin's first sample */
    float reach;       /* world units beyond which the point adds nothing: radius + margin */
} field_point;

typedef struct field_level {
    double reach;       /* the largest of the level's points, in world units */
    double support[3];  /* the same along each axis, in samples */
    uint32_t edge_log2; /* a bin's edge in samples */
    uint64_t bins[3];
    uint64_t first_bin; /* in starts */
} field_level;

/* World coordinates rotated so that the grid's x axis is along x and its y axis in the xy plane.
 * Sample (i, j, k) is at (xx i + xy j + xz k, yy j + yz k, zz k): a step along a row changes x
 * alone, for any direction matrix. */
typedef struct field_frame {
    double xx, xy, xz, yy, yz, zz;
} field_frame;
static inline double field_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/* steps: along the grid's axes. */
void field_grid_steps(const tml_grid *grid, double steps[3][3]);
/* Of the steps along the grid's axes, which it makes orthogonal (Gram-Schmidt). */
void field_frame_of(double step[3][3], field_frame *out);

/* A point's shape, as shaders read it: a frame of its own, in which the ellipsoid is the ball of
 * radius 1. */
enum { FIELD_SHAPE_WORDS = 10 };
typedef struct field_shape_record {
    float frame[6]; /* xx xy xz yy yz zz */
    float share;    /* what its kernel is multiplied by */
    /* Half the size of the ellipsoid's box along each axis, in samples; below 0: it adds
     * nothing. */
    float support[3];
} field_shape_record;
/* steps: along the grid's axes; diagonal, others: tml_field_desc.shapes. */
field_shape_record field_shape_record_of(const double steps[3][3], const float diagonal[3],
                                         const float others[3], double reach, float share);

struct field_plan {
    tml_buffer out; /* f32, dims product; none for field_slab */
    uint64_t dims[3];
    int formula;      /* FIELD_WENDLAND_C2 ... of kernels/field.k.h */
    float background; /* of samples that no point reaches */
    float margin;     /* FIELD_DISTANCE; else 0 */
    field_frame frame;
    double extent[3]; /* half-width along each axis, in samples, of a ball of radius 1 */
    uint32_t level_count;
    field_level levels[FIELD_MAX_LEVELS];
    uint64_t bin_count;
    uint32_t words[FIELD_PLAN_WORDS]; /* what the binning needs: kernels/real64_bins.k.h */
    /* On the host, unless the points were binned on the device: */
    uint64_t *starts; /* bin_count + 1: bin b holds points [starts[b], starts[b + 1]) */
    field_point *points;
    /* in the same order; NULL: the desc has none, or shapes, whose records have them */
    float *densities;
    field_shape_record *shapes; /* likewise */
    uint32_t *order;            /* the desc's number of each, of field_plan_create_ordered */
    uint64_t point_count;       /* binned on the device: at most */
    /* Copies in device memory, for engines other than the CPU. */
    struct {
        tml_buffer points;    /* records of 16 bytes */
        tml_buffer densities; /* f32; none: as on the host */
        tml_buffer shapes;    /* FIELD_SHAPE_WORDS f32 a point */
        tml_buffer starts;    /* u32 */
        /* The plan's words. Of each level: first_bin, edge_log2, bins x y z, support x y z rounded
         * up to whole samples. */
        tml_buffer words;
        /* u32, scratch of an engine: a count, then the numbers of that many bricks to evaluate, at
         * most brick_room, which is at least a layer of bricks. */
        tml_buffer bricks;
        uint64_t brick_room;
    } device;
};

/* An engine's functions for fields, by tml_engine.part; NULL: none. */
typedef tml_status field_slab_fn(tml_context *tml, const field_plan *plan, uint64_t z_first,
                                 uint64_t z_count, void *out);
/* Adds up, at each of a plan's points, the kernels of all; out: f32, by the desc's numbers. The
 * plan is ordered and has one level and all points of the desc. */
typedef tml_status field_weights_fn(tml_context *tml, const field_plan *plan, tml_buffer out);
typedef struct field_parts {
    const tml_engine_op *field; /* evaluates a field_plan into its out */
    field_slab_fn *slab;        /* field_slab */
    field_weights_fn *weights;
} field_parts;
extern const field_parts field_parts_of[PART_COUNT];
extern const tml_engine_op cpu_op_field, vk_op_field, gl_op_field;
field_slab_fn cpu_field_slabs, vk_field_slab, gl_field_slab;
field_weights_fn cpu_field_weights;

/* The bins along an axis that the support of samples [first, last] touches; both ends inclusive. */
void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last);

/* Is every sample of layers [z_first, z_first + z_count) background? Conservative: false if bins
 * near the slab have points, even if none reaches it. */
bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count);

/* Evaluates a slab on this thread alone, without a context. src/field/cpu/cpu_field.c */
void cpu_field_slab(const field_plan *plan, uint64_t z_first, uint64_t z_count, float *out);

/* ---- between the files of src/field ---------------------------------------------------------- */

/* Limits of lengths (radius, margin, spacing), so that float holds their squares' ratios. */
#define FIELD_MIN_LENGTH 1e-30
#define FIELD_MAX_LENGTH 1e30

/* A desc's points on the host. */
typedef struct field_input {
    const float *points; /* 3 a point */
    const float *radii;  /* NULL: the desc's radius for all */
    const float *densities;
    const float *shapes[2]; /* 3 a point; NULL: none */
    uint64_t count;
} field_input;
tml_status field_map(tml_context *tml, const tml_field_desc *desc, field_input *out);
void field_unmap(tml_context *tml, const tml_field_desc *desc);

/* field_plan_create of at most 2^32 points, on the host, that knows their numbers. */
tml_status field_plan_create_ordered(tml_context *tml, const tml_field_desc *resolved,
                                     field_plan **out);

/* Starts a plan of a resolved desc: all but the levels, and what the points decide. */
void field_plan_begin(const tml_field_desc *resolved, field_plan *plan);
/* Makes the levels of a resolved desc that has a radius: of all points, or the largest. */
void field_plan_known(const tml_field_desc *resolved, field_plan *plan);
/* Makes the levels that reaches from smallest to largest need, for that many points at most. None
 * if none is near. The last one is where reaches are at most a brick, whose bins are as small as
 * bins are. */
void field_plan_levels(field_plan *plan, double smallest, double largest, uint64_t bound);

/* Bins the points of a resolved desc on the device, into buffers of a plan that was begun. Errors:
 * those of buffers and of scratch. */
tml_status field_plan_bin(tml_context *tml, const tml_field_desc *resolved, field_plan *plan);

/* Steps of binning, of a resolved desc with a radius. Each adds one to a program.
 *   field_put_plan     words: the plan's
 *   field_find_bins    bins, records: each point's; a point without a bin has the one after all
 *                      others
 *   field_sort_bins    sorts by bins, of which there are bin_count; payloads: a desc that has what
 *                      moves along
 *   field_find_firsts  out: the words of head, and then the first sorted point of each bin, and the
 *                      end */
void field_put_plan(program *p, const field_plan *plan, tml_buffer words);
void field_find_bins(program *p, const tml_field_desc *resolved, tml_buffer words, tml_buffer bins,
                     tml_buffer records);
void field_sort_bins(program *p, const tml_field_desc *resolved, tml_buffer bins,
                     uint64_t bin_count, const tml_sort_desc *payloads);
void field_find_firsts(program *p, const tml_field_desc *resolved, tml_buffer sorted,
                       tml_buffer head, uint32_t head_count, uint64_t bin_count, tml_buffer out);
/* Are tml_field_mean_desc.weights, and tml_field_desc.densities and shapes, part of this build? The
 * one for JavaScript, which has no room for them, counts every byte. */
#ifdef TML_WEB
enum { FIELD_HAS_WEIGHTS = false };
#else
enum { FIELD_HAS_WEIGHTS = true };
#endif
/* Runs a map whose kernel reads, as arrays 1 and 2, the plan and the points as
 * kernels/field_mean.k.h has them. */
tml_status field_map_near(tml_context *tml, const char *name_of_call,
                          const tml_field_desc *resolved, tml_map_desc *map);
extern const tml_kernel *const field_weights_kernel; /* of a position, the plan and the points */
tml_status field_weights_check(tml_context *tml, const char *call, const tml_field_mean_desc *desc,
                               tml_length length);

/* Finds the sum of the field's kernels at each of its points.
 * field  points, radii, length, radius, kind and kernel are used; lower and upper, of a field of
 *        this box alone; grid.origin, of a lattice, which decides the order of a sum
 * out    f32, one per point
 * Waits as field_resolve_desc does. */
tml_status field_densities_find(tml_context *tml, const tml_field_desc *field, tml_buffer out);

/* Shapes of tml_field_prepare: of a resolved field with densities and one radius, into buffers of
 * one a point. */
typedef struct field_shapes_desc {
    const tml_field_desc *field;
    double smoothing, ratio, lone;
    uint32_t fewest;
    tml_buffer centres, densities, shapes[2];
} field_shapes_desc;
/* Checks the choices and sets their defaults; of field kind, radii and shapes. */
tml_status field_shapes_check(tml_context *tml, field_shapes_desc *desc);
tml_status field_shapes_find(tml_context *tml, const field_shapes_desc *desc);

/* Gives the engine the room's own kernels. */
void field_learn(tml_context *tml);

/* Sets the radius of a resolved desc that has radii alone to the largest of them. Waits. */
tml_status field_find_radius(tml_context *tml, tml_field_desc *resolved);

/* Inverts a row-major 3x3 matrix. False if it is singular or not finite. */
bool field_invert(const double matrix[9], double out[9]);

/* The median, over up to 20000 of the points, of the distance to the sixth-nearest point elsewhere,
 * or to the farthest of fewer. 0 if all finite points coincide. */
tml_status field_spacing(tml_context *tml, const float *points, uint64_t count, double *out);

#endif
