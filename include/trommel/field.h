/* Field: points to volume.
 *
 * A field is evaluated by gathering: each sample sums over the points near it, which a binning by
 * count and scan has brought together. No float atomics, so the result does not depend on threads.
 * Where radius (of radii the largest) and grid are given, points, radii and densities lie on the
 * device, there are no shapes, the points are at most 2^30, and no side of the grid has more than
 * 2^28 samples, Vulkan and OpenGL ES bin the points themselves: the host neither reads them nor
 * waits. The bins, the points in them and their order are the host's bit for bit, and so is each
 * sample. Only bricks of 8x8x8 samples near a point cost anything; the others hold the background
 * value.
 *
 * Samples are computed in float. With step the grid's longest spacing and reach a point's radius
 * (for distances its radius and margin), each point's share of a kernel sum is within 2^-24 * (32 +
 * 128 * step / reach) of its exact value, and adding n of them is within 2^-24 * n of the sum; a
 * distance is within 2^-24 * (16 * reach + 64 * step). The share of a point of a density is as
 * exact, divided by it, and that of a point of a shape less so by G's largest eigenvalue.
 * So on every engine: two of them differ by at
 * most twice that. On one engine a sample is the same bit for bit for any number of threads, and
 * whether the field is evaluated whole or in slabs. */
#ifndef TROMMEL_FIELD_H
#define TROMMEL_FIELD_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tml_field_kind {
    TML_FIELD_KERNEL_SUM, /* sum over points of w(|x - p| / radius); background 0; inside is high */
    /* signed distance to the union of spheres: max of (radius - |x - p|), cut off at -margin;
     * background -margin; inside is high, the spheres' surface at 0 */
    TML_FIELD_DISTANCE,
} tml_field_kind;

/* Each is 1 at the centre and 0 from q = 1 on. */
typedef enum tml_field_kernel {
    /* (1 - q)^4 (4q + 1). Wendland: Piecewise polynomial, positive definite and compactly
     * supported radial functions. 1995 */
    TML_FIELD_WENDLAND_C2,
    /* (1 - q^2)^3. Mueller, Charypar, Gross: Particle-Based Fluid Simulation. 2003 */
    TML_FIELD_POLY6,
    /* 1 - 3q^2 | 3/2 (1 - q)^2. Nishimura et al.: Object Modeling by Distribution Function. 1985 */
    TML_FIELD_METABALL,
    /* 1 - 6q^2 (1 - q) | 2 (1 - q)^3. Monaghan: Smoothed particle hydrodynamics. 1992 */
    TML_FIELD_CUBIC_SPLINE,
} tml_field_kernel;

typedef struct tml_field_desc {
    /* f32x3; points with NaN or infinity are ignored. Where the host bins them (above), an engine
     * that computes elsewhere waits for them, unless they and the radii lie there
     * (tml_buffer_desc.host): then tml_field waits for nothing on OpenGL. */
    tml_buffer points;
    /* Optional: f32, one a point: the kernel's support (KERNEL_SUM) or the sphere's radius
     * (DISTANCE). Outside 1e-30 to 1e30 (so 0, negative, NaN) the point is ignored. Radii may
     * differ by any factor: points are binned by reach, in steps of 4 from the largest down to
     * eight samples. */
    tml_buffer radii;
    /* Optional, KERNEL_SUM: f32, one a point: what its kernel is divided by. Of tml_field_mean's
     * weights at the points themselves, without_step, the field is smoothed particle hydrodynamics'
     * sum of m_j / rho_j W(x - x_j): its masses and the kernel's norm cancel where all are alike,
     * and it is about 1 inside and 1 at a lone point. Points of a density outside 1e-30 to 1e30 add
     * nothing, but count in the grid. */
    tml_buffer densities;
    /* Optional, KERNEL_SUM, both or none: f32x3, one a point: a symmetric matrix G, [0] its xx, yy,
     * zz and [1] yz, xz, xy. The kernel is then w(|G (x - p)| / radius): an ellipsoid inside the
     * ball of the point's radius. So G's eigenvalues are at least 1, and its entries at most 1000;
     * points of others add nothing, but count in the grid. The host bins them. tml_field_shapes
     * makes shapes that follow the surface. CPU, Vulkan, OpenGL. */
    tml_buffer shapes[2];
    /* Without radii that of all points. 0: automatic, twice (KERNEL_SUM) or once (DISTANCE) the
     * median distance to the sixth-nearest other point, which is the spacing of a lattice and the
     * gaps of an unordered scan. On an automatic grid at least three of its steps. 1 where all
     * points coincide.
     * With radii the largest that counts, rounded to float: larger ones count as it. It decides the
     * size of the bins, and so in which order a sample adds its points. 0: the largest there is,
     * for which the host reads them. */
    double radius;
    tml_field_kind kind;
    tml_field_kernel kernel;
    /* DISTANCE: how far outside the spheres the distance is exact. 0: two grid steps. */
    double margin;
    /* dims zeroed: chosen to cover all points and their radii and two steps more, so that surfaces
     * close; a given direction is kept. A given spacing is kept, too, and then every sample lies
     * whole steps from origin: fields of one origin and spacing, as of a fluid's frames, share a
     * lattice, and samples that the same points reach are the same in each, but for rounding: bit
     * for bit where steps and coordinates are exact, the largest radius and the points' order are
     * the same and a grid has at most 4096 samples a point. Without a spacing, origin is ignored.
     * dims given: the grid as given; points outside reach in as far as their radius goes. */
    tml_grid grid;
    /* Of an automatic grid: a box along its directions, to cover in place of all points; what is
     * outside is cut off, where caps close the surface. With a given spacing, its ends go outwards
     * to the next step. An infinite end is the points' own; both ends 0: both are. */
    double lower[3], upper[3];
    /* Samples along an automatic grid's longest side where no spacing is given, at least 8. 0:
     * eight to the median radius, within 64 to 512. */
    uint32_t resolution;
    /* How many of the points count; their number may be on the device, as kernels that move,
     * compact and append them leave it. The bound, length.count, decides the bins, and so in which
     * order a sample adds its points. */
    tml_length length;
} tml_field_desc;

/* desc with every zero resolved: radius, margin, grid, length. Reads the points (waits), unless
 * grid.dims and radius or radii are given (of those with grid.dims, radius stays 0). iso, if not
 * NULL, gets the suggested isovalue: half the kernel's value at its centre for one point
 * (KERNEL_SUM), 0.6 (with densities), 0 (DISTANCE). Logs a warning when points are likely to fall
 * between the samples. Lengths, those between the grid's samples included, must lie between 1e-30
 * and 1e30. Errors: INVALID_ARGUMENT (no usable point, where they are read; grid over 2^40 samples:
 * the message tells points and extent), INVALID_HANDLE, OUT_OF_MEMORY. On failure *resolved is left
 * as it was. */
TML_API TML_MUST_CHECK tml_status tml_field_resolve(tml_context *tml, const tml_field_desc *desc,
                                                    tml_field_desc *resolved, double *iso);

/* Evaluates the field on its whole grid into out (f32, dims product elements; apart from points,
 * radii, densities, shapes and length.device). Where a device bins the points (above) it only
 * enqueues: it reads nothing back, waits for nothing and, when the arena was reserved
 * (tml_reserve), allocates nothing; so it may stand between tml_vulkan_record and
 * tml_vulkan_record_end. Scratch is then some 52 bytes a point (56 with densities) and 4 a bin;
 * where the device has less, the host bins them. For grids too large to hold, give the desc to
 * tml_surface instead, which evaluates slab by slab. */
TML_API TML_MUST_CHECK tml_status tml_field(tml_context *tml, const tml_field_desc *desc,
                                            tml_buffer out);

/* ---- what points carry ----------------------------------------------------------------------- */

/* Values of the points, and room for their means: f32, f32x2, f32x3 or f32x4, both alike. */
typedef struct tml_field_attribute {
    tml_buffer values; /* one a point of the field */
    tml_buffer out;    /* one a position, or more */
} tml_field_attribute;

enum { TML_FIELD_MAX_ATTRIBUTES = 8 };

typedef struct tml_field_mean_desc {
    const tml_field_desc *field;
    tml_buffer positions;      /* f32x3: a surface's vertices, or any others */
    double position_origin[3]; /* added to positions, as subtracted by tml_surface_desc's */
    tml_field_attribute attributes[TML_FIELD_MAX_ATTRIBUTES]; /* unused ones zeroed */
    /* How many of the positions count; their number may be on the device, as tml_surface_enqueue's
     * counts have it: the means after it stay as they were. */
    tml_length length;
    /* Optional: f32, one a position or more: the sum of the weights there, which tells how crowded
     * the points are. At a lone point it is 1. */
    tml_buffer weights;
    /* over the points' reach alone: so weights are tml_field's own sums there, without densities */
    bool without_step;
} tml_field_mean_desc;

/* Velocity, colour or whatever the points carry, at positions: the mean of the values of the points
 * near, each of the weight of the field's kernel there (of a DISTANCE: WENDLAND_C2), over the
 * point's reach and one step of the grid more, so that every vertex of the field's surface has some
 * point near. 0 where there is none. The field's densities and shapes do not count. Points whose
 * reach, without that step, meets no sample of the grid do not count. Each weight is as exact as a
 * point's share of a sample is (above), so a mean is less sure where only the rims of kernels
 * reach; it is the same bit for bit for any number of threads. Attributes of up to 16 numbers
 * together share the search and the weights. Where radius (of radii the largest) and grid.dims are
 * given, it only enqueues: it reads nothing back, waits for nothing and, when the arena was
 * reserved (tml_reserve) and nothing lies on the host, allocates nothing; so it may stand between
 * tml_vulkan_record and tml_vulkan_record_end. Otherwise it first waits for what tml_field_resolve
 * reads, and radii. Scratch: some 52 bytes a point, 4 a cell, of which there are at most two a
 * point or as many as bins, the values again and, of several attributes, 16 to 64 bytes a position.
 * CPU, Vulkan, OpenGL ES 3 and WebGL 2; the float tier: UNSUPPORTED, as are more than 2^30 points.
 * Errors: as tml_field, and SCRATCH_TOO_SMALL. */
TML_API TML_MUST_CHECK tml_status tml_field_mean(tml_context *tml, const tml_field_mean_desc *desc);

/* ---- particles ------------------------------------------------------------------------------- */

/* Finds the densities of smoothed particle hydrodynamics: at each point the sum of the kernels of
 * all points. They are the field's densities then, and its isovalue 0.6 (tml_field_resolve).
 * field   points, radii, length, radius, kind and kernel are used (KERNEL_SUM;
 *         TML_FIELD_CUBIC_SPLINE is usual). lower, upper: of a field of this box alone; points a
 *         radius outside of it still count. grid.origin: as of a lattice, decides the order of a
 *         sum, and so its last bits
 * out     f32, one a point
 * Waits: for what tml_field_resolve reads. Memory: as tml_field_mean, and for points on the host a
 * copy of them. Errors: as tml_field_resolve and tml_field_mean. */
TML_API TML_MUST_CHECK tml_status tml_field_densities(tml_context *tml, const tml_field_desc *field,
                                                      tml_buffer out);

/* Finds the weights of tml_mesh_smooth for a field's surface: drops of one point keep their size,
 * and where points are crowded bumps go. A weight is 0 at a lone point, and 1 where half as much is
 * near as at the median point.
 * field            as of the surface, resolved, with radius and grid; densities and shapes are
 *                  ignored. All of the points count
 * vertices         f32x3, of the surface
 * position_origin  3 numbers, as of the surface; NULL: 0 0 0
 * out              f32, one a vertex
 * Waits: for the median, and for the points' sums, which the host turns into weights. Memory: 8
 * bytes a point and as tml_field_mean. Errors: as tml_field_mean and tml_sort; UNSUPPORTED (a
 * length that is not the points'). */
TML_API TML_MUST_CHECK tml_status tml_field_smooth_weights(tml_context *tml,
                                                           const tml_field_desc *field,
                                                           tml_buffer vertices,
                                                           const double position_origin[3],
                                                           tml_buffer out);

/* ---- kernels that follow the surface --------------------------------------------------------- */

typedef struct tml_field_shapes_desc {
    /* Points of smoothed particle hydrodynamics: points, radius (more than 0), densities, length;
     * KERNEL_SUM, without radii and shapes. The rest does not count. */
    const tml_field_desc *field;
    double smoothing; /* how far centres move to the mean of their neighbours, up to 1; 0: 0.9 */
    double ratio;     /* of the longest axis to the shortest, 1 to 64; 0: 4 */
    double lone;      /* radius of a point with few neighbours, as a share, 0.125 to 1.5; 0: 0.5 */
    /* Few are so many or fewer, the point itself among them. 0: 12, fewer than at the rim of a
     * sheet of one layer. (The paper's 25 make beads of it.) */
    uint32_t fewest;
    /* For a field of radius TML_FIELD_SHAPES_REACH * field->radius. One a point or more, apart from
     * one another and the points and densities: */
    tml_buffer centres;   /* f32x3: its points */
    tml_buffer densities; /* f32: its densities */
    tml_buffer shapes[2]; /* f32x3: its shapes */
} tml_field_shapes_desc;

/* What the radius of a field of shapes is multiplied by. */
#define TML_FIELD_SHAPES_REACH 1.5

/* Anisotropic kernels: each point's kernel becomes an ellipsoid, flat where the points near it lie
 * in a sheet or along a surface, and its centre moves to the mean of these, so that the surface has
 * no bumps, and edges stay sharp. Neighbours are nearer than twice the radius, each of weight 1 -
 * (d / (2 radius))^3. The axes are the eigenvectors of their covariance, as long as its eigenvalues
 * times such a factor that a point with neighbours all around keeps its ball; the longest is half
 * to TML_FIELD_SHAPES_REACH times the radius. densities become such that what each point adds in
 * all stays the same. Yu, Turk: Reconstructing surfaces of particle-based fluids using anisotropic
 * kernels. 2013. The points' extents are read on the host (waits); the rest is enqueued, so never
 * between tml_vulkan_record and tml_vulkan_record_end. Centres of points that are not finite are
 * not either. On every engine of tml_field_mean, to within rounding; its scratch, and its
 * errors. */
TML_API TML_MUST_CHECK tml_status tml_field_shapes(tml_context *tml,
                                                   const tml_field_shapes_desc *desc);

/* ---- from points to their field -------------------------------------------------------------- */

/* How tml_field_prepare makes a field of points. Zeroed but for field.points: as tml_field_resolve.
 * field      as for tml_field_resolve; of shapes, none
 * cell       spacing of the grid as a share of the radius, in place of field.grid.spacing: of
 *            field.radius, of the largest of field.radii, or of the radius that is found. 0: none
 * densities  finds densities (tml_field_densities), unless field has them
 * shapes     makes the kernels ellipsoids (tml_field_shapes); needs densities, and no
 *            field.radii */
typedef struct tml_field_prepare_desc {
    tml_field_desc field;
    double cell;
    bool densities, shapes;
} tml_field_prepare_desc;

/* A field that is ready for tml_surface and tml_field.
 * field   resolved; of shapes, with centres, densities and radius of its own
 * balls   the same without shapes: for tml_field_mean and tml_field_smooth_weights
 * iso     the isovalue that tml_field_resolve suggests
 * owned   buffers that tml_field_prepared_free destroys */
typedef struct tml_field_prepared {
    tml_field_desc field, balls;
    double iso;
    tml_buffer owned[5];
} tml_field_prepared;

/* Makes a field of points: radius, grid, densities and shapes, in the order in which they need each
 * other.
 * Waits: for what tml_field_resolve, tml_field_densities and tml_field_shapes read.
 * Memory: 4 bytes a point of densities, 40 of shapes, and 12 if points with shapes lie on the host.
 * Errors: as these three calls; INVALID_ARGUMENT for a cell that is below 0 or not finite. *out is
 *         zeroed then. */
TML_API TML_MUST_CHECK tml_status tml_field_prepare(tml_context *tml,
                                                    const tml_field_prepare_desc *desc,
                                                    tml_field_prepared *out);
/* Destroys what tml_field_prepare made, and zeroes it. Points and radii stay. */
TML_API void tml_field_prepared_free(tml_context *tml, tml_field_prepared *prepared);

#ifdef __cplusplus
}
#endif
#endif
