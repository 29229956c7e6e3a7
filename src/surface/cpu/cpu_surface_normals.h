/* Normals from the samples around the ends of edges; included by cpu_surface_loops.h. The loops
 * have no branches, so that compilers vectorise them. */
#undef FUNCTION
#define FUNCTION(T) ALWAYS_INLINE T
#define GRADIENT_PARAMS                                                                            \
    tml_normals kind, bool has_nan, const float(*around)[SURFACE_LANES], uint64_t lane
#define GRADIENT_ARGS            kind, has_nan, around, lane
#define GRADIENT_SAMPLE(d)       around[surface_neighbour(kind, (d).x, (d).y, (d).z)][lane]
#define GRADIENT_FORWARD         (kind == TML_NORMALS_FORWARD)
#define GRADIENT_SOBEL           (kind == TML_NORMALS_SOBEL)
#define GRADIENT_IS_NAN(s)       (has_nan && (s) != (s))
#define GRADIENT_STEP(has)       1
#define GRADIENT_ARE_THERE(a, b) (!has_nan)
#define GRADIENT_CHOOSE(c, a, b) choose(c, a, b)
#define GRADIENT_UNROLL_TAPS     _Pragma("GCC unroll 9")
#define GRADIENT_UNROLL_SIDES    _Pragma("GCC unroll 3")
#include "kernels/surface_gradient.k.h"

enum { NORMAL_VECTOR = 16 }; /* floats in a vector of AVX-512; other levels use several vectors */

/* Returns the gradient at an end of lane's edge. differences: what around->samples holds. */
ALWAYS_INLINE vec3 gradient_of(tml_normals kind, bool has_nan, bool differences,
                               const surface_around *around, uint32_t end, uint64_t lane)
{
    const float(*samples)[SURFACE_LANES] =
        around->samples + end * (differences ? 3 : surface_neighbour_count(kind, has_nan));
    if (differences)
        return VEC3(surface_central(samples[0][lane]), surface_central(samples[1][lane]),
                    surface_central(samples[2][lane]));
    const int32_t(*at)[SURFACE_LANES] = around->at[end], *dims = around->dims;
    return surface_gradient(kind, has_nan, samples, lane,
                            IVEC3(at[0][lane], at[1][lane], at[2][lane]),
                            IVEC3(dims[0], dims[1], dims[2]));
}

/* Computes the gradients at both ends of NORMAL_VECTOR edges from lane first on. */
typedef float gradient_lanes[2][3][NORMAL_VECTOR];
ALWAYS_INLINE void gradients_of(tml_normals kind, bool has_nan, bool differences,
                                const surface_around *around, uint64_t first, gradient_lanes g)
{
    for (uint32_t end = 0; end < 2; end++)
        for (uint64_t i = 0; i < NORMAL_VECTOR; i++) {
            vec3 v = gradient_of(kind, has_nan, differences, around, end, first + i);
            g[end][0][i] = v.x;
            g[end][1][i] = v.y;
            g[end][2][i] = v.z;
        }
}

/* Computes the normals of NORMAL_VECTOR edges. Writes the first left of them. */
ALWAYS_INLINE void normals_write(gradient_lanes g, const float *t, uint64_t left,
                                 const float rows[3][3], float *restrict out)
{
    const vec3 row[3] = {VEC3(rows[0][0], rows[0][1], rows[0][2]),
                         VEC3(rows[1][0], rows[1][1], rows[1][2]),
                         VEC3(rows[2][0], rows[2][1], rows[2][2])};
    float n[NORMAL_VECTOR][3];
    for (uint64_t i = 0; i < NORMAL_VECTOR; i++) {
        vec3 a = VEC3(g[0][0][i], g[0][1][i], g[0][2][i]);
        vec3 b = VEC3(g[1][0][i], g[1][1][i], g[1][2][i]);
        vec3 v = surface_normal(surface_mix3(a, b, t[i]), row[0], row[1], row[2]);
        n[i][0] = v.x;
        n[i][1] = v.y;
        n[i][2] = v.z;
    }
    if (left >= NORMAL_VECTOR) /* whole vectors, without a call */
        memcpy(out, n, sizeof n);
    else
        memcpy(out, n, left * sizeof *n);
}

static void normals_row(tml_normals kind, bool has_nan, const surface_around *around,
                        const float *t, uint64_t n, const float rows[3][3], float *out)
{
    gradient_lanes g;
    for (uint64_t first = 0; first < n; first += NORMAL_VECTOR) {
        if (kind == TML_NORMALS_FORWARD)
            gradients_of(TML_NORMALS_FORWARD, true, false, around, first, g);
        else if (kind == TML_NORMALS_CENTRAL && has_nan)
            gradients_of(TML_NORMALS_CENTRAL, true, false, around, first, g);
        else if (kind == TML_NORMALS_CENTRAL)
            gradients_of(TML_NORMALS_CENTRAL, false, false, around, first, g);
        else if (has_nan)
            gradients_of(TML_NORMALS_SOBEL, true, false, around, first, g);
        else
            gradients_of(TML_NORMALS_SOBEL, false, false, around, first, g);
        normals_write(g, t + first, n - first, rows, out + 3 * first);
    }
}

static void normals_of_differences(const surface_around *around, const float *t, uint64_t n,
                                   const float rows[3][3], float *out)
{
    gradient_lanes g;
    for (uint64_t first = 0; first < n; first += NORMAL_VECTOR) {
        gradients_of(TML_NORMALS_CENTRAL, false, true, around, first, g);
        normals_write(g, t + first, n - first, rows, out + 3 * first);
    }
}
