/* The plan of a field, for the engines' parts.
 *
 * A plan has the points sorted into bins. A bin is a cube of samples whose edge is a power of two
 * and at least FIELD_BRICK. Bins are numbered x fastest, so rows and layers of bins are contiguous.
 * A brick gathers points from the bins that its samples' support touches: bins in ascending order,
 * and the points of a bin in source order. Because this order is fixed, every sample is the same
 * bit for bit however the work is split.
 *
 * Points are divided into levels by reach. The reaches of a level span a factor of 4, and each
 * level has bins of its own. So one large point does not make every brick search distant bins for
 * small points.
 *
 * Memory: per point that reaches the grid 16 bytes, 20 with densities, 56 with shapes; 8 bytes per
 * bin, at most FIELD_MAX_BINS bins per level. */
#ifndef TML_FIELD_INTERNAL_H
#define TML_FIELD_INTERNAL_H

#include "field/field_slabs.h"
#include "stream/program.h"

enum {
    FIELD_MAX_LEVELS = 8,     /* the last level also has all smaller reaches */
    FIELD_MAX_BINS = 1 << 26, /* per level; larger grids have larger bins */
    FIELD_PLAN_LEVELS = 52,   /* the first word of the first level, kernels/real64_bins.k.h */
    FIELD_PLAN_WORDS = FIELD_PLAN_LEVELS + 8 * FIELD_MAX_LEVELS,
    FIELD_LIST_BRICKS = 1 << 20, /* capacity of device.bricks, unless the grid has fewer bricks */
};

/* Samples per kernel reach in a field that exists only for its bins. A bin of 8 samples is then
 * slightly wider than the reach. */
#define FIELD_BIN_SAMPLES 7.9

typedef struct field_point {
    float position[3]; /* in samples, from its bin's first sample */
    float reach;       /* world units: radius + margin; beyond it the point adds nothing */
} field_point;

typedef struct field_level {
    double reach;       /* no point of the level reaches farther; in world units */
    double support[3];  /* that reach along each axis, in samples */
    uint32_t edge_log2; /* log2 of a bin's edge in samples */
    uint64_t bins[3];
    uint64_t first_bin; /* index in starts */
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
/* Returns the steps along the grid's axes. */
void field_grid_steps(const tml_grid *grid, double steps[3][3]);
/* Makes the frame from the steps along the grid's axes. Makes the steps orthogonal
 * (Gram-Schmidt). */
void field_frame_of(double step[3][3], field_frame *out);

/* A point's shape, as shaders read it: a frame of its own, in which the ellipsoid is the ball of
 * radius 1. */
enum { FIELD_SHAPE_WORDS = 10 };
typedef struct field_shape_record {
    float frame[6]; /* xx xy xz yy yz zz */
    float share;    /* factor of the point's kernel */
    /* Half the size of the ellipsoid's bounding box along each axis, in samples. Below 0: the point
     * adds nothing. */
    float support[3];
} field_shape_record;
/* Makes the record of a point.
 * steps             the grid's, field_grid_steps
 * diagonal, others  as in tml_field_desc.shapes
 * share             factor of the kernel */
field_shape_record field_shape_record_of(const double steps[3][3], const float diagonal[3],
                                         const float others[3], double reach, float share);

struct field_plan {
    tml_buffer out; /* f32, one per sample; none if field_slab is called */
    uint64_t dims[3];
    int formula;      /* FIELD_WENDLAND_C2 and so on, kernels/field.k.h */
    float background; /* value of samples that no point reaches */
    float margin;     /* of FIELD_DISTANCE; otherwise 0 */
    field_frame frame;
    double extent[3]; /* half-width along each axis, in samples, of a ball of radius 1 */
    uint32_t level_count;
    field_level levels[FIELD_MAX_LEVELS];
    uint64_t bin_count;
    uint32_t words[FIELD_PLAN_WORDS]; /* the input of the binning: kernels/real64_bins.k.h */
    /* The arrays on the host; NULL if the device binned the points. */
    uint64_t *starts; /* bin_count + 1: bin b holds points [starts[b], starts[b + 1]) */
    field_point *points;
    /* In the order of points. NULL: the desc has none, or has shapes, whose records include
     * them. */
    float *densities;
    field_shape_record *shapes; /* in the same order, or NULL */
    uint32_t *order;            /* index of each point in the desc; of field_plan_create_ordered */
    uint64_t point_count;       /* an upper bound if the device binned the points */
    /* Copies in device memory. The CPU engine has none. */
    struct {
        tml_buffer points;    /* records of 16 bytes */
        tml_buffer densities; /* f32; none where the host's array is NULL */
        tml_buffer shapes;    /* FIELD_SHAPE_WORDS f32 per point */
        tml_buffer starts;    /* u32 */
        /* The plan's words. The eight of each level: first_bin, edge_log2, bins x y z, support x y
         * z rounded up to whole samples. */
        tml_buffer words;
        /* u32, an engine's scratch: a count, then the numbers of that many bricks to evaluate.
         * There are at most brick_room, which is at least one layer of bricks. */
        tml_buffer bricks;
        uint64_t brick_room;
    } device;
};

/* The functions of an engine for fields, by tml_engine.part. NULL: the engine has none. */
typedef tml_status field_slab_fn(tml_context *tml, const field_plan *plan, uint64_t z_first,
                                 uint64_t z_count, void *out);
/* Finds the sum of all points' kernels at each point of the plan.
 * plan  ordered, with one level and all points of the desc
 * out   f32, in the order of the desc's points */
typedef tml_status field_weights_fn(tml_context *tml, const field_plan *plan, tml_buffer out);
typedef struct field_parts {
    const tml_engine_op *field; /* evaluates a field_plan into plan.out */
    field_slab_fn *slab;        /* runs field_slab */
    field_weights_fn *weights;
} field_parts;
extern const field_parts field_parts_of[PART_COUNT];
extern const tml_engine_op cpu_op_field, vk_op_field, gl_op_field;
field_slab_fn cpu_field_slabs, vk_field_slab, gl_field_slab;
field_weights_fn cpu_field_weights;

/* Finds the bins along an axis that the support of samples [first, last] touches: [bin_first,
 * bin_last], both inclusive. */
void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last);

/* Returns whether every sample of layers [z_first, z_first + z_count) is background. Conservative:
 * false if bins near the slab have points, even if none reaches it. */
bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count);

/* Evaluates a slab on the calling thread, without a context. src/field/cpu/cpu_field.c */
void cpu_field_slab(const field_plan *plan, uint64_t z_first, uint64_t z_count, float *out);

/* ---- between the files of src/field ---------------------------------------------------------- */

/* Limits of lengths (radius, margin, spacing). The ratio of two squared lengths then fits a
 * float. */
#define FIELD_MIN_LENGTH 1e-30
#define FIELD_MAX_LENGTH 1e30

/* A desc's points on the host. */
typedef struct field_input {
    const float *points; /* 3 floats per point */
    const float *radii;  /* NULL: all points have the desc's radius */
    const float *densities;
    const float *shapes[2]; /* 3 floats per point, or NULL */
    uint64_t count;
} field_input;
tml_status field_map(tml_context *tml, const tml_field_desc *desc, field_input *out);
void field_unmap(tml_context *tml, const tml_field_desc *desc);

/* As field_plan_create, of at most 2^32 points on the host. The plan also has order. */
tml_status field_plan_create_ordered(tml_context *tml, const tml_field_desc *resolved,
                                     field_plan **out);

/* Starts a plan of a resolved desc: sets all fields but the levels and those that depend on the
 * points. */
void field_plan_begin(const tml_field_desc *resolved, field_plan *plan);
/* Makes the levels of a resolved desc that has a radius: that of all points or, with radii, the
 * largest. */
void field_plan_known(const tml_field_desc *resolved, field_plan *plan);
/* Makes the levels for at most bound points, whose reaches lie between smallest and largest. Makes
 * none if smallest > largest (no point is near). Reaches of the last possible level are at most a
 * brick, because no bin is smaller than a brick. */
void field_plan_levels(field_plan *plan, double smallest, double largest, uint64_t bound);

/* Bins the points of a resolved desc on the device, into buffers of a plan that field_plan_begin
 * started.
 * Errors: those of buffers and of scratch. */
tml_status field_plan_bin(tml_context *tml, const tml_field_desc *resolved, field_plan *plan);

/* Each adds a step of binning to a program. resolved has a radius.
 *   field_put_plan     uploads the plan's words to words
 *   field_find_bins    finds each point's bin and record; a point without a bin gets the number
 *                      after the last bin
 *   field_sort_bins    sorts by bins, which are below bin_count; payloads is a desc of the arrays
 *                      that move along
 *   field_find_firsts  writes to out: the head_count words of head, then the first sorted point of
 *                      each bin, then the number of points */
void field_put_plan(program *p, const field_plan *plan, tml_buffer words);
void field_find_bins(program *p, const tml_field_desc *resolved, tml_buffer words, tml_buffer bins,
                     tml_buffer records);
void field_sort_bins(program *p, const tml_field_desc *resolved, tml_buffer bins,
                     uint64_t bin_count, const tml_sort_desc *payloads);
void field_find_firsts(program *p, const tml_field_desc *resolved, tml_buffer sorted,
                       tml_buffer head, uint32_t head_count, uint64_t bin_count, tml_buffer out);
/* Whether this build has tml_field_mean_desc.weights, and tml_field_desc.densities and shapes. The
 * build for JavaScript leaves them out to be smaller. */
#ifdef TML_WEB
enum { FIELD_HAS_WEIGHTS = false };
#else
enum { FIELD_HAS_WEIGHTS = true };
#endif
/* Runs a map whose kernel reads the plan and the points as arrays 1 and 2, in the layout of
 * kernels/field_mean.k.h. */
tml_status field_map_near(tml_context *tml, const char *name_of_call,
                          const tml_field_desc *resolved, tml_map_desc *map);
extern const tml_kernel *const field_weights_kernel; /* arguments: position, plan, points */

/* Finds the sum of the field's kernels at each of its points.
 * field  Used are points, radii, length, radius, kind and kernel; lower and upper, if the sums need
 *        be right in this box only; and of a lattice grid.origin, which decides the order of a sum.
 * out    f32, one per point
 * Waits: as field_resolve_desc. */
tml_status field_densities_find(tml_context *tml, const tml_field_desc *field, tml_buffer out);

/* The arguments of field_shapes_find, which makes the shapes of tml_field_prepare.
 * field                       resolved, with densities and one radius for all points
 * smoothing ... fewest        as in tml_field_prepare_desc
 * centres, densities, shapes  outputs, one element per point */
typedef struct field_shapes_desc {
    const tml_field_desc *field;
    double smoothing, ratio, lone;
    uint32_t fewest;
    tml_buffer centres, densities, shapes[2];
} field_shapes_desc;
/* Checks the field's kind, radii and shapes. */
tml_status field_shapes_check(tml_context *tml, const tml_field_desc *field);
tml_status field_shapes_find(tml_context *tml, const field_shapes_desc *desc);

/* Gives the engine the kernels of src/field, compiled ahead by the build. */
void field_learn(tml_context *tml);

/* If a resolved desc has radii but no radius, sets radius to the largest of radii. Waits. */
tml_status field_find_radius(tml_context *tml, tml_field_desc *resolved);

/* Inverts a row-major 3x3 matrix. Returns false if it is singular or not finite. */
bool field_invert(const double matrix[9], double out[9]);

/* Finds the median distance from a point to its sixth-nearest other point, over up to 20000 points.
 * Coinciding points do not count as neighbours. A point with fewer than six neighbours counts with
 * its farthest. The result is 0 if all finite points coincide. */
tml_status field_spacing(tml_context *tml, const float *points, uint64_t count, double *out);

#endif
