/* Field: points to volume.
 *
 * A field is evaluated by gathering: each sample sums over the points near it, which a binning by
 * count and scan has brought together. No float atomics, so the result does not depend on threads.
 * Only bricks of 8x8x8 samples near a point cost anything; the others hold the background value. */
#ifndef TROMMEL_FIELD_H
#define TROMMEL_FIELD_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tml_field_kind {
    TML_FIELD_KERNEL_SUM, /* sum over points of w(|x - p| / radius); background 0; inside is high */
    TML_FIELD_DISTANCE,   /* signed distance to the union of spheres: max of (radius - |x - p|), cut
                           * off at   -margin; background -margin; inside is high, the spheres' surface
                           * at 0 */
} tml_field_kind;

typedef enum tml_field_kernel {
    TML_WENDLAND_C2, /* (1 - q)^4 (4q + 1). Wendland: Piecewise polynomial, positive definite and
                      * compactly supported radial functions. 1995 */
    TML_POLY6,    /* (1 - q^2)^3. Mueller, Charypar, Gross: Particle-Based Fluid Simulation. 2003 */
    TML_METABALL, /* 1 - 3q^2 | 3/2 (1 - q)^2. Nishimura et al.: Object Modeling by Distribution
                   * Function. 1985 */
} tml_field_kernel;

typedef struct tml_field_desc {
    tml_buffer points; /* f32x3; points with NaN or infinity are ignored */
    tml_buffer radii;  /* optional: f32, one a point; 0 or less ignores the point. The kernel's
                        * support (KERNEL_SUM) or the sphere's radius (DISTANCE) */
    double radius;     /* where there are no radii; 0: automatic, twice the median distance to the
                        * nearest neighbour (KERNEL_SUM) or once (DISTANCE) */
    tml_field_kind kind;
    tml_field_kernel kernel;
    double margin; /* DISTANCE: how far outside the spheres the distance is exact; 0: two
                    * grid steps */
    /* The grid. dims zeroed: chosen to cover all points and their radii with about resolution
     * samples along the longest side (0: 128), spacing equal on all axes. Otherwise as given. */
    tml_grid grid;
    uint32_t resolution;
} tml_field_desc;

/* desc with every zero resolved: radius, margin, grid. Reads the points (waits). iso, if not NULL,
 * gets the suggested isovalue: half the kernel's value at its centre for one point (KERNEL_SUM), 0
 * (DISTANCE). Errors: INVALID_ARGUMENT (no usable point; grid over 2^40 samples), OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_field_resolve(tml_context *tml, const tml_field_desc *desc,
                                                    tml_field_desc *resolved, double *iso);

/* Evaluates the field on its whole grid into out (f32, dims product elements). For grids too large
 * to hold, give the desc to tml_surface instead, which evaluates slab by slab. */
TML_API TML_MUST_CHECK tml_status tml_field(tml_context *tml, const tml_field_desc *desc,
                                            tml_buffer out);

#ifdef __cplusplus
}
#endif
#endif
