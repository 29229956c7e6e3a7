/* Field: points to volume, and what points carry to positions.
 *
 * For fluids and scans: particles become a field of samples, whose surface tml_surface makes.
 *
 *     tml_field_prepared made;
 *     tml_field_prepare(tml, &(tml_field_prepare_desc){.field = {.points = points}}, &made);
 *     tml_surface(tml, &(tml_surface_desc){.field = &made.field, .iso = made.iso}, &mesh);
 *     tml_field_mean(tml, &(tml_field_mean_desc){.field = &made.balls,
 *         .positions = mesh.mesh.positions, .values = {colours}, .means = {vertex_colours}});
 *     tml_field_prepared_free(tml, &made);
 *
 * Order of calls: tml_field_prepare finds radius, grid and isovalue. tml_surface or tml_field
 * evaluates the field. tml_field_mean carries colours and the like to the surface's vertices. In a
 * frame, where radius and grid are known, the calls that end in _enqueue do the same without a
 * wait.
 *
 * Each sample sums over the points near it, which are found through bins: points are counted per
 * bin, and a scan of the counts brings the points of a bin together. Only bricks of 8 x 8 x 8
 * samples near a point are evaluated; the others hold the background value.
 *   precision  samples are computed in float. With step the grid's longest spacing and reach a
 *              point's radius (of DISTANCE its radius and margin), a point's share of a sum is
 *              within 2^-24 * (32 + 128 * step / reach) of its exact value, n of them add
 *              2^-24 * n of the sum; a distance is within 2^-24 * (16 * reach + 64 * step).
 *              Densities and shapes: docs/numbers.md
 *   same       on one engine a sample is the same bit for bit for any number of threads, whole or
 *              in slabs; two engines differ by at most twice the bound. Bins and the points' order
 *              are the same on every engine
 *   engines    where a GPU bins the points itself, and where the host does: docs/numbers.md */
#ifndef TROMMEL_FIELD_H
#define TROMMEL_FIELD_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the field of points -------------------------------------------------------------------- */

typedef enum tml_field_kind {
    /* Sum over points of w(|x - p| / radius); inside is high, background 0. */
    TML_FIELD_KERNEL_SUM,
    /* Signed distance to the union of spheres: the largest radius - |x - p|, at least -margin,
     * which is the background; inside is high, the spheres' surface is at 0. */
    TML_FIELD_DISTANCE,
} tml_field_kind;

/* The kernel w of q = |x - p| / radius: 1 at the centre, 0 from q = 1 on. */
typedef enum tml_field_kernel {
    /* (1 - q)^4 (4q + 1). After: Wendland: Piecewise polynomial, positive definite and compactly
     * supported radial functions. 1995 */
    TML_FIELD_WENDLAND_C2,
    /* (1 - q^2)^3. After: Mueller, Charypar, Gross: Particle-Based Fluid Simulation. 2003 */
    TML_FIELD_POLY6,
    /* 1 - 3q^2, from q = 1/3 on 3/2 (1 - q)^2. After: Nishimura et al.: Object Modeling by
     * Distribution Function. 1985 */
    TML_FIELD_METABALL,
    /* 1 - 6q^2 (1 - q), from q = 1/2 on 2 (1 - q)^3. After: Monaghan: Smoothed particle
     * hydrodynamics. 1992 */
    TML_FIELD_CUBIC_SPLINE,
} tml_field_kernel;

/* A field of points; only points is required.
 *
 * points      f32x3; points with NaN or infinity are ignored. May stay on the host
 *             (tml_buffer_desc.host), as radii may
 * length      how many of the points count; the number may be on the device. length.count, the
 *             bound, decides the bins, and so the order in which a sample adds its points
 * radius      the kernel's support, or the sphere's radius. 0, without radii: twice (DISTANCE:
 *             once) the median distance to the sixth-nearest other point; on an automatic grid at
 *             least three steps; 1 where all points coincide. With radii: the largest radius that
 *             counts, which larger ones count as; 0: the largest of radii
 * radii       optional: f32, one per point. Points of a radius outside 1e-30 to 1e30 are ignored.
 *             Radii may differ by any factor
 * kind        what is evaluated
 * kernel      of KERNEL_SUM
 * margin      of DISTANCE: how far outside the spheres the distance is exact. 0: two grid steps
 * grid        dims 0: chosen, to cover all points, their radii and two steps more, so that surfaces
 *             close; a given direction is kept. A given spacing is kept, too, and every sample is
 *             whole steps from origin, so that fields of one origin and spacing share a lattice.
 *             Without a spacing origin is ignored. dims given: the grid as it is; points outside
 *             count as far as their radius reaches in
 * lower       of a chosen grid: with upper, a box along the grid's directions to cover in place of
 * upper       all points; points outside are cut off. An end that is infinite is that of the
 *             points. Both 0: all points
 * resolution  of a chosen grid without a spacing: samples along its longest side, at least 8. 0:
 *             eight per median radius, within 64 to 512
 * densities   optional, of KERNEL_SUM: f32, one per point, which its kernel is divided by. Those
 *             that tml_field_prepare finds make the field the sum of m_j / rho_j W(x - x_j) of
 *             smoothed particle hydrodynamics: about 1 inside, and 1 at a lone point. A point of a
 *             density outside 1e-30 to 1e30 adds nothing, but counts in the grid
 * shapes      optional, of KERNEL_SUM, both or none: f32x3, one per point: a symmetric matrix G,
 *             [0] its xx, yy, zz and [1] its yz, xz, xy. The kernel is then
 *             w(|G (x - p)| / radius), an ellipsoid within the point's ball. G's eigenvalues are
 *             at least 1, its entries at most 1000; a point of another G adds nothing, but counts
 *             in the grid. Unsupported by the OpenGL float tier */
typedef struct tml_field_desc {
    tml_buffer points;
    tml_length length;
    double radius;
    tml_buffer radii;
    tml_field_kind kind;
    tml_field_kernel kernel;
    double margin;
    tml_grid grid;
    double lower[3], upper[3];
    uint32_t resolution;
    tml_buffer densities;
    tml_buffer shapes[2];
} tml_field_desc;

/* How tml_field_prepare makes a field ready; only field.points is required.
 *
 * field      of shapes: neither radii nor shapes
 * cell       spacing of the grid, as a share of the radius, in place of field.grid.spacing. 0: none
 * densities  finds field.densities, unless they are given: at each point the sum of all kernels
 *            (TML_FIELD_CUBIC_SPLINE is usual)
 * shapes     finds field.shapes; requires densities. Each point's kernel becomes an ellipsoid, flat
 *            where the points near it lie in a sheet, and its centre moves to the mean of its
 *            neighbours, so that the surface has no bumps, and edges stay sharp
 * smoothing  of shapes: how far centres move towards that mean, up to 1; 0: 0.9
 * ratio      of shapes: of the longest axis to the shortest, 1 to 64; 0: 4
 * lone       of shapes: radius of a point with few neighbours, as a share, 0.125 to
 *            TML_FIELD_SHAPES_REACH; 0: 0.5
 * fewest     of shapes: so many neighbours or fewer are few, the point itself counted; 0: 12, fewer
 *            than at the rim of a sheet of one layer */
typedef struct tml_field_prepare_desc {
    tml_field_desc field;
    double cell;
    bool densities, shapes;
    double smoothing, ratio, lone;
    uint32_t fewest;
} tml_field_prepare_desc;

/* The radius of a field of shapes, per radius of its points. */
#define TML_FIELD_SHAPES_REACH 1.5

/* A field that is ready for tml_surface and tml_field.
 *
 * field  every zero resolved: radius, margin, grid, length. With shapes: points, densities
 *        and radius are its own
 * balls  the same without shapes: for tml_field_mean and tml_field_smooth_weights
 * iso    the suggested isovalue: 0.5, half a lone point's largest sample; with densities 0.6; of
 *        DISTANCE 0
 * owned  buffers that tml_field_prepared_free destroys; none without densities and shapes */
typedef struct tml_field_prepared {
    tml_field_desc field, balls;
    double iso;
    tml_buffer owned[5];
} tml_field_prepared;

/* Makes a field of points ready: finds radius, grid and isovalue, and on request densities and
 * shapes. Logs a warning if points are likely to fall between the samples.
 * Returns: *out, zeroed on failure; free it with tml_field_prepared_free.
 * Waits: for the points, unless grid.dims and radius or radii are given.
 * Memory: 4 bytes per point for densities, 40 for shapes, and 12 if points with shapes lie on the
 *         host; for the time of the call as tml_field_mean.
 * Errors: INVALID_ARGUMENT (no usable point; a grid over 2^40 samples; lengths outside 1e-30 to
 *         1e30), INVALID_HANDLE, OUT_OF_MEMORY, UNSUPPORTED, and those of tml_field_mean.
 * After: Monaghan: Smoothed particle hydrodynamics. 1992 (densities); Yu, Turk: Reconstructing
 *        surfaces of particle-based fluids using anisotropic kernels. 2013 (shapes). */
TML_API TML_MUST_CHECK tml_status tml_field_prepare(tml_context *tml,
                                                    const tml_field_prepare_desc *desc,
                                                    tml_field_prepared *out);
/* Destroys the buffers that tml_field_prepare made, and zeroes the struct. The caller's stay. */
TML_API void tml_field_prepared_free(tml_context *tml, tml_field_prepared *prepared);

/* Evaluates a field on its whole grid. If the grid is too large to hold, give the desc to
 * tml_surface, which evaluates slab by slab.
 * desc  zeroes are resolved as by tml_field_prepare
 * out   f32, product of grid.dims elements; overlaps no input
 * Waits: for the points, where radius or grid is not given, or where the host bins the points.
 * Memory: scratch of some 52 bytes per point (56 with densities) and 4 per bin.
 * Errors: as tml_field_prepare, and UNSUPPORTED (the OpenGL float tier), CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_field(tml_context *tml, const tml_field_desc *desc,
                                            tml_buffer out);
/* Enqueues the same. Never waits, reads nothing back and, when the arena was reserved
 * (tml_reserve), allocates nothing; may be recorded (tml_vulkan_record).
 * desc  radius (with radii, too) and grid.dims are given. On a GPU: no shapes, points, radii and
 *       densities in device memory, at most 2^30 points, sides of at most 2^28 samples
 * Errors: as tml_field; UNSUPPORTED also for a desc beyond these limits; SCRATCH_TOO_SMALL,
 *         OUT_OF_DEVICE_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_field_enqueue(tml_context *tml, const tml_field_desc *desc,
                                                    tml_buffer out);

/* ---- what points carry ----------------------------------------------------------------------- */

enum { TML_FIELD_MAX_ATTRIBUTES = 8 };

/* Means of what points carry, at positions; at least one of means and weights is given.
 *
 * field            of the points; densities and shapes do not count
 * positions        f32x3: a surface's vertices, or any others
 * position_origin  added to positions, as tml_surface_desc.position_origin was subtracted
 * length           how many of the positions count; the number may be on the device, such as
 *                  tml_surface_desc.counts. Means after that stay as they were
 * values           f32, f32x2, f32x3 or f32x4, one per point; unused ones zeroed. Values of up to
 *                  16 numbers together share the search
 * means            of each of values, of its type, one per position or more
 * weights          optional: f32, one per position or more: the sum of the weights there, so how
 *                  crowded the points are; 1 at a lone point
 * exact_reach      a point reaches as far as its radius. Without it one step of the grid farther,
 *                  so that every vertex of the field's surface has some point near. weights are
 *                  then tml_field's own sums, without densities */
typedef struct tml_field_mean_desc {
    const tml_field_desc *field;
    tml_buffer positions;
    double position_origin[3];
    tml_length length;
    tml_buffer values[TML_FIELD_MAX_ATTRIBUTES];
    tml_buffer means[TML_FIELD_MAX_ATTRIBUTES];
    tml_buffer weights;
    bool exact_reach;
} tml_field_mean_desc;

/* Carries velocity, colour or other values of points to positions: the mean of the values of the
 * points near, each weighted by the field's kernel there (of DISTANCE: WENDLAND_C2). 0 where no
 * point is near. Points whose radius meets no sample of the grid do not count. The same bit for
 * bit for any number of threads; each weight is as exact as a point's share of a sample.
 * Waits: for the points, where radius or grid is not given.
 * Memory: scratch of some 52 bytes per point, 4 per cell (at most two per point, or the bins), the
 *         values again and, of several values, 16 to 64 bytes per position.
 * Errors: as tml_field, and SCRATCH_TOO_SMALL; UNSUPPORTED also for more than 2^30 points. */
TML_API TML_MUST_CHECK tml_status tml_field_mean(tml_context *tml, const tml_field_mean_desc *desc);
/* Enqueues the same. Never waits, reads nothing back and, when the arena was reserved
 * (tml_reserve), allocates nothing; may be recorded (tml_vulkan_record).
 * desc  of field, radius (with radii, too) and grid.dims are given. On a GPU nothing is on the
 *       host
 * Errors: as tml_field_mean; UNSUPPORTED also for a desc beyond these limits. */
TML_API TML_MUST_CHECK tml_status tml_field_mean_enqueue(tml_context *tml,
                                                         const tml_field_mean_desc *desc);

/* Finds the weights of tml_mesh_smooth for a field's surface: drops of one point keep their size,
 * and bumps go where points are crowded. A weight is 0 at a lone point, and 1 where half as much is
 * near as at the median point.
 * field            of the surface, with radius and grid given; densities and shapes do not count.
 *                  All of the points count
 * vertices         f32x3, of the surface
 * position_origin  3 numbers, as of the surface; NULL: 0 0 0
 * out              f32, one per vertex
 * Waits: for the median, and for the points' sums, which the host turns into weights.
 * Memory: 8 bytes per point, and as tml_field_mean.
 * Errors: as tml_field_mean and tml_sort; UNSUPPORTED (a length that is not the points').
 * After: Loeschner, Boettcher, Jeske, Bender: Weighted Laplacian Smoothing for Surface
 *        Reconstruction of Particle-based Fluids. 2023. */
TML_API TML_MUST_CHECK tml_status tml_field_smooth_weights(tml_context *tml,
                                                           const tml_field_desc *field,
                                                           tml_buffer vertices,
                                                           const double position_origin[3],
                                                           tml_buffer out);

#ifdef __cplusplus
}
#endif
#endif
