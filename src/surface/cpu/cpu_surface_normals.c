/* Normals of surface vertices: gradients at the two samples of an edge, interpolated. The body is
 * written once (kernels/surface_gradient.k.h) and compiled for each sample type by constant
 * propagation. */
#include "surface/cpu/cpu_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface.k.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A sample as a float. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)
ALWAYS_INLINE float load(tml_type type, const void *row, uint64_t x)
{
    switch (type) {
#define LOAD_CASE(name, size, ctype)                                                               \
    case TML_##name:                                                                               \
        return SCALAR_KIND_##name == SCALAR_FLOAT && (size) == 2                                   \
                   ? tml_half_to_float((uint32_t)((const ctype *)row)[x])                          \
                   : F(((const ctype *)row)[x]);
        TML_SCALAR_LIST(LOAD_CASE)
#undef LOAD_CASE
    }
    return 0.0f;
}

typedef struct gradient_source {
    const normal_task *task;
    const uint64_t *dims;
    bool labels;
} gradient_source;

/* Sample at column x of row (dy, dz) of the task's rows. */
ALWAYS_INLINE float at(tml_type type, const gradient_source *source, uint64_t x, int dy, int dz)
{
    const unsigned char *row = source->task->rows[dz][dy];
    if (source->labels) { /* whether it is the one */
        size_t size = tml_type_size(type);
        return surface_bits_at(row, x, size) == surface_bits_at(&source->task->label, 0, size)
                   ? 1.0f
                   : 0.0f;
    }
    return load(type, row, x);
}

#undef FUNCTION
#define FUNCTION(T) ALWAYS_INLINE T
#define GRADIENT_PARAMS                                                                            \
    tml_type type, tml_normals kind, const gradient_source *source, const uint64_t columns[3],     \
        int dy, int dz
#define GRADIENT_ARGS        type, kind, source, columns, dy, dz
#define GRADIENT_SAMPLE(d)   sample_at(GRADIENT_ARGS, d)
#define GRADIENT_FORWARD     (kind == TML_NORMALS_FORWARD)
#define GRADIENT_SOBEL       (kind == TML_NORMALS_SOBEL)
#define GRADIENT_UNROLL_TAPS _Pragma("GCC unroll 9")
#ifdef __wasm__ /* small rather than fast */
#    define GRADIENT_UNROLL_SIDES
#else
#    define GRADIENT_UNROLL_SIDES _Pragma("GCC unroll 3")
#endif
/* Which compilers know to be false of integers. */
#define GRADIENT_IS_NAN(s) ((s) != (s))

/* columns: the sample's own and those beside it; (dy, dz): its row of the task's. */
ALWAYS_INLINE float sample_at(GRADIENT_PARAMS, ivec3 d)
{
    (void)kind;
    return at(type, source, columns[1 + d.x], dy + d.y, dz + d.z);
}

#include "kernels/surface_gradient.k.h"

/* Gradient at sample (x, y, z), which is row (dy, dz) of the task. */
ALWAYS_INLINE vec3 gradient(tml_type type, tml_normals kind, const gradient_source *source,
                            uint64_t x, uint64_t y, uint64_t z, int dy, int dz)
{
    const uint64_t *dims = source->dims;
    const uint64_t columns[3] = {x > 0 ? x - 1 : x, x, x + 1 < dims[0] ? x + 1 : x};
    return surface_gradient(GRADIENT_ARGS, IVEC3(I(x), I(y), I(z)),
                            IVEC3(I(dims[0]), I(dims[1]), I(dims[2])));
}

ALWAYS_INLINE void normals(tml_type type, tml_normals kind, const surface_plan *plan,
                           const normal_task *task, float *out)
{
    const gradient_source source = {task, plan->dims, plan->labels};
    vec3 rows[3];
    for (int c = 0; c < 3; c++)
        rows[c] = VEC3(plan->normal_rows[c][0], plan->normal_rows[c][1], plan->normal_rows[c][2]);
    /* The other end of an edge into a pad is the border sample itself. */
    uint64_t x_step = task->axis == 0, y_step = task->axis == 1, z_step = task->axis == 2;
    uint64_t y1 = TML_MIN_OF(task->y + y_step, plan->dims[1] - 1);
    uint64_t z1 = TML_MIN_OF(task->z + z_step, plan->dims[2] - 1);
    for (uint64_t i = 0; i < task->n; i++) {
        uint64_t x = task->x[i], x1 = TML_MIN_OF(x + x_step, plan->dims[0] - 1);
        vec3 a = gradient(type, kind, &source, x, task->y, task->z, 1, 1);
        vec3 b = gradient(type, kind, &source, x1, y1, z1, (int)(1 + y1 - task->y),
                          (int)(1 + z1 - task->z));
        vec3 n = surface_normal(surface_mix3(a, b, task->t[i]), rows[0], rows[1], rows[2]);
        out[3 * i] = n.x;
        out[3 * i + 1] = n.y;
        out[3 * i + 2] = n.z;
    }
}

#define NORMALS_OF(name, size, ctype)                                                              \
    static void normals_##name(const surface_plan *plan, const normal_task *task, float *out)      \
    {                                                                                              \
        switch (plan->normals) {                                                                   \
        case TML_NORMALS_FORWARD:                                                                  \
            normals(TML_##name, TML_NORMALS_FORWARD, plan, task, out);                             \
            break;                                                                                 \
        case TML_NORMALS_CENTRAL:                                                                  \
            normals(TML_##name, TML_NORMALS_CENTRAL, plan, task, out);                             \
            break;                                                                                 \
        default:                                                                                   \
            normals(TML_##name, TML_NORMALS_SOBEL, plan, task, out);                               \
        }                                                                                          \
    }
TML_SCALAR_LIST(NORMALS_OF)

void surface_normals(const surface_plan *plan, const normal_task *task, float *out)
{
    switch (plan->type) {
#define NORMALS_CASE(name, size, ctype)                                                            \
    case TML_##name:                                                                               \
        normals_##name(plan, task, out);                                                           \
        break;
        TML_SCALAR_LIST(NORMALS_CASE)
    }
}

float surface_sample(tml_type type, const void *row, uint64_t x)
{
    return load(type, row, x);
}

#include "kernels/kernel_end.h"
