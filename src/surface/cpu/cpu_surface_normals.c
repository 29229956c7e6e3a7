/* Normals of surface vertices: gradients at the two samples of an edge, interpolated. The body is
 * written once and compiled for each sample type by constant propagation. */
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

/* Of a position on an axis: the neighbours that exist, as offsets, and how far they are apart. */
typedef struct neighbours {
    int low, high;
    uint32_t steps;
} neighbours;
ALWAYS_INLINE neighbours neighbours_of(uint64_t i, uint64_t count, bool forward)
{
    bool has_low = i > 0, has_high = i + 1 < count;
    if (forward) /* backward at the last sample */
        return (neighbours){has_high || !has_low ? 0 : -1, has_high ? 1 : 0, has_low || has_high};
    return (neighbours){has_low ? -1 : 0, has_high ? 1 : 0, (uint32_t)has_low + (uint32_t)has_high};
}

/* The 3x3 of a plane across an axis, smoothed; the plane lies at offset d from (x, dy, dz). A
 * missing sample counts as the plane's centre; a missing centre makes the plane missing. */
ALWAYS_INLINE float plane9(tml_type type, const gradient_source *source, int axis, int d,
                           const uint64_t columns[3], int dy, int dz)
{
    int ax = axis == 0, ay = axis == 1, az = axis == 2;
    float centre = at(type, source, columns[1 + ax * d], dy + ay * d, dz + az * d);
    float corners = 0.0f, edges = 0.0f;
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++) {
            if (!u && !v)
                continue;
            int dx = axis == 0 ? d : u;
            int ey = axis == 1 ? d : axis == 0 ? u : v;
            int ez = axis == 2 ? d : v;
            float s = at(type, source, columns[1 + dx], dy + ey, dz + ez);
            s = s == s ? s : centre;
            if (u && v)
                corners += s;
            else
                edges += s;
        }
    return surface_smooth9(corners, edges, centre);
}

/* What is differenced along an axis: the sample at offset d, or the smoothed plane there. */
ALWAYS_INLINE float tap(tml_type type, tml_normals kind, const gradient_source *source, int axis,
                        int d, const uint64_t columns[3], int dy, int dz)
{
    if (kind == TML_NORMALS_SOBEL)
        return plane9(type, source, axis, d, columns, dy, dz);
    return at(type, source, columns[axis == 0 ? 1 + d : 1], axis == 1 ? dy + d : dy,
              axis == 2 ? dz + d : dz);
}

/* Gradient at sample (x, y, z), which is row (dy, dz) of the task; one-sided where a neighbour is
 * missing. */
ALWAYS_INLINE tml_vec3 gradient(tml_type type, tml_normals kind, const gradient_source *source,
                                uint64_t x, uint64_t y, uint64_t z, int dy, int dz)
{
    const uint64_t position[3] = {x, y, z};
    const uint64_t columns[3] = {x > 0 ? x - 1 : x, x, x + 1 < source->dims[0] ? x + 1 : x};
    float g[3];
    for (int axis = 0; axis < 3; axis++) {
        neighbours n =
            neighbours_of(position[axis], source->dims[axis], kind == TML_NORMALS_FORWARD);
        float low = tap(type, kind, source, axis, n.low, columns, dy, dz);
        float high = tap(type, kind, source, axis, n.high, columns, dy, dz);
        if (low != low || high != high) {
            float here = tap(type, kind, source, axis, 0, columns, dy, dz);
            n.steps -= (uint32_t)(low != low) + (uint32_t)(high != high);
            low = low == low ? low : here;
            high = high == high ? high : here;
        }
        g[axis] = surface_difference(low, high, n.steps);
    }
    return VEC3(g[0], g[1], g[2]);
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
