/* Normals from the samples around the ends of edges, for cpu_surface_loops.h. The loops have no
 * branches, so that compilers vectorise them. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* c ? a : b by masks. Compilers turn chains of ?: into branches, which they do not vectorise. */
ALWAYS_INLINE float choose(bool c, float a, float b)
{
    uint32_t mask = 0u - (uint32_t)c;
    return uintBitsToFloat((floatBitsToUint(a) & mask) | (floatBitsToUint(b) & ~mask));
}

#undef FUNCTION
#define FUNCTION(T) ALWAYS_INLINE T
#define GRADIENT_PARAMS                                                                            \
    tml_normals kind, bool has_nan, const float(*around)[NORMAL_LANES], uint64_t lane
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

enum { NORMAL_VECTOR = 16 }; /* floats in a vector of AVX-512; other sets take several vectors */

/* has_border: taps->at is to be looked at. */
ALWAYS_INLINE void normals_of(tml_normals kind, bool has_nan, bool has_border,
                              const surface_around *taps, const float rows[3][3],
                              float *restrict out)
{
    const vec3 row[3] = {VEC3(rows[0][0], rows[0][1], rows[0][2]),
                         VEC3(rows[1][0], rows[1][1], rows[1][2]),
                         VEC3(rows[2][0], rows[2][1], rows[2][2])};
    const ivec3 three = IVEC3(3, 3, 3), one = IVEC3(1, 1, 1);
    const ivec3 dims = has_border ? IVEC3(taps->dims[0], taps->dims[1], taps->dims[2]) : three;
    for (uint64_t first = 0; first < taps->count; first += NORMAL_VECTOR) {
        float g[2][3][NORMAL_VECTOR], n[NORMAL_VECTOR][3];
        for (int end = 0; end < 2; end++)
            for (uint64_t i = 0; i < NORMAL_VECTOR; i++) {
                uint64_t lane = first + i;
                ivec3 at = has_border ? IVEC3(taps->at[end][0][lane], taps->at[end][1][lane],
                                              taps->at[end][2][lane])
                                      : one;
                vec3 v = surface_gradient(
                    kind, has_nan,
                    taps->samples + (uint32_t)end * surface_neighbour_count(kind, has_nan), lane,
                    at, dims);
                g[end][0][i] = v.x;
                g[end][1][i] = v.y;
                g[end][2][i] = v.z;
            }
        for (uint64_t i = 0; i < NORMAL_VECTOR; i++) {
            vec3 a = VEC3(g[0][0][i], g[0][1][i], g[0][2][i]);
            vec3 b = VEC3(g[1][0][i], g[1][1][i], g[1][2][i]);
            vec3 v = surface_normal(surface_mix3(a, b, taps->t[first + i]), row[0], row[1], row[2]);
            n[i][0] = v.x;
            n[i][1] = v.y;
            n[i][2] = v.z;
        }
        if (taps->count - first >= NORMAL_VECTOR) /* whole vectors, in place of a call */
            memcpy(out + 3 * first, n, sizeof n);
        else
            memcpy(out + 3 * first, n, (taps->count - first) * sizeof *n);
    }
}

static void normals_row(tml_normals kind, bool has_nan, const surface_around *taps,
                        const float rows[3][3], float *out)
{
    bool has_border = !HAS_USUAL || taps->has_border;
    switch (kind) {
    case TML_NORMALS_FORWARD:
        normals_of(TML_NORMALS_FORWARD, true, true, taps, rows, out);
        break;
    case TML_NORMALS_CENTRAL:
        if (has_nan)
            normals_of(TML_NORMALS_CENTRAL, true, true, taps, rows, out);
        else if (has_border)
            normals_of(TML_NORMALS_CENTRAL, false, true, taps, rows, out);
        else
            normals_of(TML_NORMALS_CENTRAL, false, false, taps, rows, out);
        break;
    default:
        if (has_nan)
            normals_of(TML_NORMALS_SOBEL, true, true, taps, rows, out);
        else
            normals_of(TML_NORMALS_SOBEL, false, true, taps, rows, out);
    }
}
