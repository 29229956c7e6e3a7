/* Rays against trees, against a loop over all triangles in exact arithmetic that shares nothing
 * with the library's: coordinates are small integers times a power of two, and the origin is moved
 * in earnest, all coordinates multiplied by 2^46 before, so that no ray meets an edge or a
 * corner. */
#include <trommel/trommel.h>

#include "core/simd.h"
#include "test.h"
#include "tree/tree_cast.h"

#include "integer_mesh.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/exact_sum.k.h"
#include "kernels/kernel_end.h"

static int64_t random_in(int64_t low, int64_t high)
{
    return low + random_below(high - low + 1);
}

/* ---- meshes and rays of integers ------------------------------------------------------------- */

typedef struct ray {
    point from, way;
    int64_t limits[2]; /* in quarters */
} ray;

static void add_random(mesh *m, uint32_t count, int64_t range)
{
    for (uint32_t i = 0; i < count; i++) {
        point p[3];
        for (int k = 0; k < 9; k++)
            p[k / 3].at[k % 3] = random_in(0, range);
        add_triangle(m, p[0], p[1], p[2]);
    }
}

/* A closed surface about the origin: a cube's faces of n x n cells, each corner moved by f. */
static void add_box(mesh *m, int64_t size, int64_t n, bool is_round)
{
    for (int face = 0; face < 6; face++)
        for (int64_t cell = 0; cell < n * n; cell++) {
            point p[4];
            for (int i = 0; i < 4; i++) {
                int64_t s = cell % n + (i == 1 || i == 2), t = cell / n + (i >= 2);
                int axis = face % 3;
                double at[3], length = 0;
                at[axis] = face < 3 ? -1 : 1;
                at[(axis + 1) % 3] = 2.0 * (double)s / (double)n - 1;
                at[(axis + 2) % 3] = 2.0 * (double)t / (double)n - 1;
                for (int k = 0; k < 3; k++)
                    length += at[k] * at[k];
                for (int k = 0; k < 3; k++)
                    p[i].at[k] = llround((double)size * (is_round ? at[k] / sqrt(length) : at[k]));
            }
            add_triangle(m, p[0], p[face < 3 ? 2 : 1], p[face < 3 ? 1 : 2]);
            add_triangle(m, p[0], p[face < 3 ? 3 : 2], p[face < 3 ? 2 : 3]);
        }
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct hit {
    float t;
    uint32_t triangle;
} hit;

static int sign_of(wide x)
{
    return (x > 0) - (x < 0);
}

static wide determinant(wide e[3][3])
{
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* By the line of the ray whose origin is moved. */
static bool passes(const point t[3], const ray *r)
{
    int sign[3];
    for (int i = 0; i < 3; i++) {
        wide e[3][3];
        for (int k = 0; k < 3; k++) {
            wide moved = (wide)r->from.at[k] * ((wide)1 << 46) + (k == 0   ? (wide)1 << 30
                                                                  : k == 1 ? (wide)1 << 15
                                                                           : 1);
            e[0][k] = r->way.at[k];
            e[1][k] = (wide)t[i].at[k] * ((wide)1 << 46) - moved;
            e[2][k] = (wide)t[(i + 1) % 3].at[k] * ((wide)1 << 46) - moved;
        }
        sign[i] = sign_of(determinant(e));
    }
    return sign[0] != 0 && sign[0] == sign[1] && sign[1] == sign[2];
}

static bool meets(const point t[3], const ray *r, float *out)
{
    wide n[3][3], m[3][3];
    if (!passes(t, r))
        return false;
    for (int k = 0; k < 3; k++) {
        n[0][k] = m[0][k] = t[1].at[k] - t[0].at[k];
        n[1][k] = m[1][k] = t[2].at[k] - t[0].at[k];
        n[2][k] = t[0].at[k] - r->from.at[k];
        m[2][k] = r->way.at[k];
    }
    wide dividend = determinant(n), divisor = determinant(m);
    if (divisor < 0)
        dividend = -dividend, divisor = -divisor;
    *out = (float)((double)dividend / (double)divisor); /* of few digits, so rounded but once */
    return dividend >= 0 && 4 * dividend >= r->limits[0] * divisor &&
           4 * dividend <= r->limits[1] * divisor;
}

static int compare_hits(const void *a, const void *b)
{
    const hit *x = a, *y = b;
    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

typedef struct hits {
    hit *list;
    uint32_t *first; /* a ray; and the end of the last */
} hits;

static hits reference(const mesh *m, const ray *rays, uint32_t count)
{
    hits out = {NULL, malloc((count + 1) * sizeof *out.first)};
    uint32_t found = 0, room = 0;
    for (uint32_t i = 0; i < count; i++) {
        out.first[i] = found;
        for (uint32_t t = 0; t < m->count; t++) {
            if (found == room)
                out.list = realloc(out.list, (room = 2 * room + 64) * sizeof *out.list);
            if (meets(m->corners + 3 * t, &rays[i], &out.list[found].t))
                out.list[found++].triangle = t;
        }
        qsort(out.list + out.first[i], found - out.first[i], sizeof *out.list, compare_hits);
    }
    out.first[count] = found;
    return out;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const tml_type vec2_type = TML_VEC(TML_F32, 2);

/* NULL: there is no such device. */
static tml_context *open_engine(tml_engine_kind engine, uint32_t threads)
{
    tml_context *tml = NULL;
    tml_status status = tml_open(&(tml_open_desc){.engine = engine, .threads = threads}, &tml);
    CHECK(status == TML_OK || engine != TML_ENGINE_CPU);
    return status == TML_OK ? tml : NULL;
}

/* Buffers of rays: from, way, limits. The directions' power of two is way_exponent. */
static void load_rays(tml_context *tml, const ray *rays, uint32_t count, int exponent,
                      int way_exponent, tml_tree_cast_desc *desc)
{
    float *at = malloc(((size_t)8 * count + 1) * sizeof *at);
    float *way = at + 3 * (size_t)count, *limits = way + 3 * (size_t)count;
    for (uint32_t i = 0; i < 3 * count; i++) {
        at[i] = ldexpf((float)rays[i / 3].from.at[i % 3], exponent);
        way[i] = ldexpf((float)rays[i / 3].way.at[i % 3], way_exponent);
    }
    for (uint32_t i = 0; i < 2 * count; i++)
        limits[i] = ldexpf((float)rays[i / 2].limits[i % 2], exponent - way_exponent - 2);
    desc->origins = buffer(tml, vec3_type, count, at);
    desc->directions = buffer(tml, vec3_type, count, way);
    desc->limits = buffer(tml, vec2_type, count, limits);
    free(at);
}

static void free_rays(tml_context *tml, const tml_tree_cast_desc *desc)
{
    tml_buffer_destroy(tml, desc->origins);
    tml_buffer_destroy(tml, desc->directions);
    tml_buffer_destroy(tml, desc->limits);
}

static void *read_and_free(tml_context *tml, tml_buffer buffer)
{
    tml_type type;
    uint64_t count;
    CHECK(tml_buffer_describe(tml, buffer, &type, &count));
    void *out = malloc(count * tml_type_size(type) + 1);
    CHECK_OK(tml, tml_buffer_read(tml, buffer, out));
    tml_buffer_destroy(tml, buffer);
    return out;
}

/* How rays are cast: by the call that waits, or enqueued, where those that the device cannot follow
 * are listed. */
static bool enqueues;
static uint8_t is_unsure[1 << 14];
static uint32_t unsure_count, overflows;

static void cast(tml_context *tml, const tml_tree_cast_desc *desc, uint32_t count)
{
    memset(is_unsure, 0, sizeof is_unsure);
    unsure_count = 0;
    if (!enqueues) {
        CHECK_OK(tml, tml_tree_cast(tml, desc));
        return;
    }
    uint64_t listed = 0, last = 0;
    tml_tree_cast_desc frame = *desc;
    frame.unsure = buffer(tml, TML_U32, count, NULL);
    frame.unsure_count = buffer(tml, TML_U64, 1, NULL);
    CHECK_OK(tml, tml_tree_cast_enqueue(tml, &frame));
    CHECK_OK(tml, tml_buffer_read(tml, frame.unsure_count, &listed));
    uint32_t *list = read_and_free(tml, frame.unsure);
    tml_buffer_destroy(tml, frame.unsure_count);
    CHECK(listed <= count);
    for (uint64_t i = 0; i < listed && listed <= count; i++) {
        CHECK(list[i] < count && (i == 0 || list[i] > last));
        is_unsure[list[i] % sizeof is_unsure] = 1;
        last = list[i];
    }
    unsure_count = (uint32_t)listed;
    free(list);
}

static uint32_t hits_of(const hits *expected, uint32_t i)
{
    return is_unsure[i] ? 0 : expected->first[i + 1] - expected->first[i];
}

static void check_counts(tml_context *tml, tml_tree_cast_desc desc, uint32_t count,
                         const hits *expected)
{
    uint64_t wrong = 0, total = 0, sum = 0;
    desc.want = TML_TREE_CAST_COUNT;
    desc.counts = buffer(tml, TML_U32, count, NULL);
    desc.total = buffer(tml, TML_U64, 1, NULL);
    cast(tml, &desc, count);
    CHECK_OK(tml, tml_buffer_read(tml, desc.total, &total));
    tml_buffer_destroy(tml, desc.total);
    desc.total = (tml_buffer){0, 0};
    uint32_t *counts = read_and_free(tml, desc.counts);
    for (uint32_t i = 0; i < count; i++) {
        wrong += counts[i] != hits_of(expected, i);
        sum += hits_of(expected, i);
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK_EQ_U64(total, sum);
    desc.counts = (tml_buffer){0, 0};
    desc.want = TML_TREE_CAST_ANY;
    desc.hits = buffer(tml, TML_U8, count, NULL);
    cast(tml, &desc, count);
    uint8_t *any = read_and_free(tml, desc.hits);
    for (uint32_t i = 0; i < count; i++)
        wrong += any[i] != (hits_of(expected, i) > 0);
    CHECK_EQ_U64(wrong, 0);
    free(counts);
    free(any);
}

static void check_nearest(tml_context *tml, tml_tree_cast_desc desc, uint32_t count,
                          const hits *expected, int shift)
{
    uint64_t wrong = 0, found = 0;
    uint32_t total = 0;
    desc.want = TML_TREE_CAST_NEAREST;
    desc.triangles = buffer(tml, TML_U32, count, NULL);
    desc.t = buffer(tml, TML_F32, count, NULL);
    desc.total = buffer(tml, TML_U32, 1, NULL);
    cast(tml, &desc, count);
    CHECK_OK(tml, tml_buffer_read(tml, desc.total, &total));
    tml_buffer_destroy(tml, desc.total);
    uint32_t *triangles = read_and_free(tml, desc.triangles);
    float *t = read_and_free(tml, desc.t);
    for (uint32_t i = 0; i < count; i++) {
        bool is_hit = hits_of(expected, i) > 0;
        found += is_hit;
        hit nearest = is_hit ? expected->list[expected->first[i]] : (hit){INFINITY, UINT32_MAX};
        if (triangles[i] == nearest.triangle && t[i] == ldexpf(nearest.t, shift))
            continue;
        if (wrong++ == 0)
            printf("    exponent %d: ray %u: triangle %u at %g, expected %u at %g\n", shift, i,
                   triangles[i], (double)t[i], nearest.triangle, (double)ldexpf(nearest.t, shift));
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK_EQ_U64(total, found);
    free(triangles);
    free(t);
}

static void check_all(tml_context *tml, tml_tree_cast_desc desc, uint32_t count,
                      const hits *expected, int shift)
{
    uint64_t wrong = 0, total = 0, sum = 0, found = expected->first[count], at = 0;
    uint64_t room = found / 2 + (uint64_t)random_below(4) * (found / 2 + 1);
    desc.want = TML_TREE_CAST_ALL;
    desc.rays = buffer(tml, TML_U32, room, NULL);
    desc.triangles = buffer(tml, TML_U32, room + 3, NULL);
    desc.t = buffer(tml, TML_F32, room + 1, NULL);
    desc.total = buffer(tml, TML_U64, 1, NULL);
    desc.counts = buffer(tml, TML_U32, count, NULL);
    cast(tml, &desc, count);
    CHECK_OK(tml, tml_buffer_read(tml, desc.total, &total));
    uint32_t *rays = read_and_free(tml, desc.rays), *triangles = read_and_free(tml, desc.triangles);
    uint32_t *counts = read_and_free(tml, desc.counts);
    float *t = read_and_free(tml, desc.t);
    /* More triangles close by than there is room for: nobody counts them. */
    bool is_over = enqueues && total == UINT32_MAX;
    overflows += is_over;
    for (uint32_t i = 0; i < count && !is_over; i++) {
        const hit *list = expected->list + expected->first[i];
        uint32_t number = hits_of(expected, i);
        sum += number;
        wrong += counts[i] != number;
        for (uint32_t k = 0; k < number && at < room; k++, at++)
            wrong += rays[at] != i || triangles[at] != list[k].triangle ||
                     t[at] != ldexpf(list[k].t, shift);
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(is_over || total == sum);
    tml_buffer_destroy(tml, desc.total);
    free(counts);
    free(rays);
    free(triangles);
    free(t);
}

static void check_on(tml_context *tml, const mesh *m, const ray *rays, uint32_t count, int exponent,
                     int way_exponent, const hits *expected)
{
    tml_tree_cast_desc desc = {.tree = tree_of(tml, m, exponent)};
    load_rays(tml, rays, count, exponent, way_exponent, &desc);
    bool is_moderate = exponent >= -100 && way_exponent >= -40;
    for (int i = 0; i < (tml->device.engine == TML_ENGINE_GL ? 1 : 2); i++) {
        enqueues = i == 1;
        check_counts(tml, desc, count, expected);
        check_nearest(tml, desc, count, expected, exponent - way_exponent);
        check_all(tml, desc, count, expected, exponent - way_exponent);
        CHECK(unsure_count == 0 || (!is_moderate && tml->device.engine == TML_ENGINE_VULKAN));
    }
    enqueues = false;
    free_rays(tml, &desc);
    tml_tree_destroy(tml, desc.tree);
}

#define SKIP_IF_NARROW()                                                                           \
    if (sizeof(wide) < 16)                                                                         \
    SKIP("no integers of 128 bits")

/* One context for all, since drivers take seconds to compile the shaders; NULL without a device. */
static tml_context *shared_vulkan;
static tml_context *vulkan(void)
{
    static bool was_tried;
    if (!was_tried)
        shared_vulkan = open_engine(TML_ENGINE_VULKAN, 1);
    was_tried = true;
    return shared_vulkan;
}

/* On one thread and three, with each level of SIMD, on each engine, and as large and as small as
 * floats go. */
static void check_rays(const mesh *m, const ray *rays, uint32_t count)
{
    static const int exponents[][2] = {
        {-3, -3},    {0, 40},  {70, 70},  {-60, -100}, {-149, -149}, {40, 0},    {90, 120},
        {-40, -100}, {-3, -3}, {22, -39}, {-90, -38},  {-20, 0},     {-110, -60}};
    hits expected = reference(m, rays, count);
    CHECK(expected.first[count] > 0);
    for (int i = 0; i < (int)(sizeof exponents / sizeof *exponents); i++) {
        tml_context *tml = i < 8 ? open_engine(TML_ENGINE_CPU, i % 2 ? 3 : 1) : vulkan();
        if (!tml)
            continue;
        tml_simd_force(i % 4 < 2 ? TML_SIMD_LEVELS : TML_SIMD_BASE);
        check_on(tml, m, rays, count, exponents[i][0], exponents[i][1], &expected);
        tml_simd_force(TML_SIMD_LEVELS);
        if (i < 8)
            tml_close(tml);
    }
    printf("    %u rays, %u hits; enqueued with too little room for those close by: %u\n", count,
           expected.first[count], overflows);
    overflows = 0;
    free(expected.list);
    free(expected.first);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Rays among few integers: most pass through edges, corners and planes. */
static ray random_ray(int64_t low, int64_t high, int64_t way)
{
    ray r = {.limits = {0, 1 << 20}};
    bool is_still = true;
    for (int k = 0; k < 3; k++)
        r.from.at[k] = random_in(low, high);
    while (is_still)
        for (int k = 0; k < 3; k++) {
            r.way.at[k] = random_in(-way, way);
            is_still = is_still && r.way.at[k] == 0;
        }
    if (random_below(2))
        r.limits[1] = random_in(0, 40);
    if (random_below(4) == 0)
        r.limits[0] = random_in(-8, 8);
    return r;
}

TEST(few_integers)
{
    SKIP_IF_NARROW();
    enum { COUNT = TEST_IS_SLOW ? 900 : 3000 };
    ray *rays = malloc(COUNT * sizeof *rays);
    static const uint32_t sizes[] = {1, 2, 8, 9, 60, 700};
    for (int i = 0; i < 6; i++) {
        mesh m = {0};
        add_random(&m, sizes[i], 8);
        for (uint32_t r = 0; r < COUNT; r++)
            rays[r] = random_ray(-2, 10, 2);
        check_rays(&m, rays, i < 5 ? COUNT : COUNT / 3);
        free(m.corners);
    }
    free(rays);
}

static tml_uvec3 bits_of(point p, int exponent)
{
    uint32_t bits[3];
    for (int k = 0; k < 3; k++) {
        float at = ldexpf((float)p.at[k], exponent);
        memcpy(&bits[k], &at, sizeof at);
    }
    return (tml_uvec3){bits[0], bits[1], bits[2]};
}

/* What devices settle by exact sums, here. */
TEST(exact_sums)
{
    SKIP_IF_NARROW();
    static const int exponents[][2] = {{0, 0}, {-3, 7}, {22, -39}, {-100, -40}, {-140, -100}};
    uint64_t wrong = 0, met = 0, negative = 0;
    for (int i = 0; i < 200000; i++) {
        point t[3];
        float expected;
        int e = exponents[i % 5][0], way = exponents[i % 5][1];
        int64_t size = i % 2 ? 4 : 200;
        for (int k = 0; k < 9; k++)
            t[k / 3].at[k % 3] = random_in(0, size);
        ray r = random_ray(-2, size + 2, 3);
        r.limits[0] = -((int64_t)1 << 40), r.limits[1] = -r.limits[0];
        bool passes_through = passes(t, &r);
        tml_uvec3 a = bits_of(t[0], e), b = bits_of(t[1], e), c = bits_of(t[2], e);
        tml_uvec3 from = bits_of(r.from, e), direction = bits_of(r.way, way);
        wrong += exact_line_passes(a, b, c, from, direction) != passes_through;
        if (!passes_through)
            continue;
        tml_uvec3 got = exact_line_t(a, b, c, from, direction);
        bool is_above = meets(t, &r, &expected);
        float rounded;
        memcpy(&rounded, &got.z, sizeof rounded);
        expected = ldexpf(expected, e - way);
        wrong += rounded != expected || is_above != (got.x >> 31 == 0);
        met += is_above;
        negative += !is_above;
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(met > 5000 && negative > 1000);
}

/* Through the corners, the edges' middles and the inner points of closed surfaces, and beside them;
 * from there, too. */
static void check_closed(int64_t size, int64_t n, bool is_round)
{
    enum { COUNT = TEST_IS_SLOW ? 900 : 3000 };
    mesh m = {0};
    ray *rays = malloc(COUNT * sizeof *rays);
    add_box(&m, size, n, is_round);
    for (uint32_t i = 0; i < COUNT; i++) {
        const point *t = m.corners + 3 * random_below(m.count);
        int64_t weights[3] = {4, 0, 0};
        if (i % 3 == 1)
            weights[0] = weights[1] = 2;
        else if (i % 3 == 2)
            weights[0] = 2, weights[1] = weights[2] = 1;
        rays[i] = random_ray(-2 * size, 2 * size, 2);
        if (i % 8 == 7)
            continue;
        for (int k = 0; k < 3; k++) {
            int64_t to =
                t[0].at[k] * weights[0] + t[1].at[k] * weights[1] + t[2].at[k] * weights[2];
            rays[i].way.at[k] = to / 4 - (i % 5 ? rays[i].from.at[k] / 4 * 4 : 0);
            if (i % 5 == 0)
                rays[i].from.at[k] = i % 2 ? 0 : to / 4;
            else
                rays[i].from.at[k] = rays[i].from.at[k] / 4 * 4;
        }
        rays[i].limits[0] = 0;
        rays[i].limits[1] = i % 4 ? 1 << 20 : 4;
    }
    for (uint32_t i = 0; i < COUNT; i++)
        if (!rays[i].way.at[0] && !rays[i].way.at[1] && !rays[i].way.at[2])
            rays[i].way.at[i % 3] = 1;
    check_rays(&m, rays, COUNT);
    free(rays);
    free(m.corners);
}

TEST(closed_surfaces)
{
    SKIP_IF_NARROW();
    check_closed(16, 4, false);
    check_closed(64, 6, true);
}

/* A line through a closed mesh passes an even number of times, whatever it meets. */
TEST(lines_leave_closed_meshes)
{
    enum { COUNT = 20000 };
    tml_context *tml = open_engine(TML_ENGINE_CPU, 2);
    mesh m = {0};
    add_box(&m, 1 << 20, 20, true);
    tml_tree_cast_desc desc = {.tree = tree_of(tml, &m, -20), .want = TML_TREE_CAST_COUNT};
    float *from = malloc((size_t)6 * COUNT * sizeof *from), *way = from + 3 * COUNT;
    for (uint32_t i = 0; i < COUNT; i++) {
        const point *t = m.corners + 3 * random_below(m.count);
        for (int k = 0; k < 3; k++) {
            float a = ldexpf((float)t[0].at[k], -20), b = ldexpf((float)t[1].at[k], -20);
            from[3 * i + k] = k == 0 ? 2.0f : (float)random_in(-999, 999) / 1000.0f;
            way[3 * i + k] = (i % 2 ? a : (a + b) / 2) - from[3 * i + k];
        }
    }
    desc.origins = buffer(tml, vec3_type, COUNT, from);
    desc.directions = buffer(tml, vec3_type, COUNT, way);
    desc.counts = buffer(tml, TML_U32, COUNT, NULL);
    CHECK_OK(tml, tml_tree_cast(tml, &desc));
    uint32_t *counts = read_and_free(tml, desc.counts), odd = 0, twice = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        odd += counts[i] % 2;
        twice += counts[i] == 2;
    }
    CHECK_EQ_U64(odd, 0);
    CHECK(twice > COUNT / 2);
    free_rays(tml, &desc);
    tml_tree_destroy(tml, desc.tree);
    tml_close(tml);
    free(counts);
    free(from);
    free(m.corners);
}

/* What is not a ray, trees of no triangle and of one, and triangles without area. */
static void check_what_hits_nothing(tml_engine_kind engine)
{
    static const float rays[][8] = {{NAN, 0, -1, 0, 0, 1, 0, 9},
                                    {0, 0, -1, 0, INFINITY, 1, 0, 9},
                                    {0, -INFINITY, -1, 0, 0, 1, 0, 9},
                                    {0, 0, -1, 0, 0, NAN, 0, 9},
                                    {0, 0, -1, 0, 0, 0, 0, 9},
                                    {0, 0, -1, -0.0f, 0, -0.0f, 0, 9},
                                    {0, 0, -1, 0, 0, 1, NAN, 9},
                                    {0, 0, -1, 0, 0, 1, 0, NAN},
                                    {0, 0, -1, 0, 0, 1, 2, 1},
                                    {0, 0, -1, 0, 0, 1, 1.5f, INFINITY},
                                    {0, 0, -1, 0, 0, 1, -INFINITY, 0.99f},
                                    {0, 0, -1, 0, 0, -1, -INFINITY, INFINITY},
                                    {0, 0, -1, 0, 1e-30f, 1e-40f, 0, INFINITY},
                                    {3e38f, 3e38f, -3e38f, 0, 0, 1, 0, INFINITY},
                                    {0, 0, -1, 1, 0, 0, 0, INFINITY},
                                    /* these hit the triangle, if it is one */
                                    {0, 0, -1, 0, 0, 1, 0, INFINITY},
                                    {0, 0, -1, 0, 0, 1e-25f, -INFINITY, INFINITY},
                                    {0, 0, -1, 0, 0, 3e38f, 0, 1},
                                    {0, 0, 0, 0, 0, 1, 0, 0},
                                    {0, 0, -3e38f, 0, 0, 3e38f, 0, INFINITY}};
    enum { KINDS = sizeof rays / sizeof *rays, MISSES = 15, COUNT = 100 * KINDS };
    static float from[3 * COUNT], way[3 * COUNT], limits[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        memcpy(from + 3 * i, rays[i % KINDS], 12);
        memcpy(way + 3 * i, rays[i % KINDS] + 3, 12);
        memcpy(limits + 2 * i, rays[i % KINDS] + 6, 8);
    }
    tml_context *tml = open_engine(engine, 1);
    if (!tml)
        SKIP("no such device here");
    for (int kind = 0; kind < 3; kind++) {
        mesh m = {0};
        point p[] = {{{-4, -4, 0}}, {{8, -4, 0}}, {{-4, 8, 0}}};
        if (kind)
            add_triangle(&m, p[0], p[1], kind == 1 ? p[0] : p[2]);
        tml_tree_cast_desc desc = {.tree = tree_of(tml, &m, 0),
                                   .origins = buffer(tml, vec3_type, COUNT, from),
                                   .directions = buffer(tml, vec3_type, COUNT, way),
                                   .limits = buffer(tml, vec2_type, COUNT, limits),
                                   .hits = buffer(tml, TML_U8, COUNT, NULL),
                                   .barycentrics = buffer(tml, vec2_type, COUNT, NULL)};
        CHECK_OK(tml, tml_tree_cast(tml, &desc));
        uint8_t *is_hit = read_and_free(tml, desc.hits);
        float *weights = read_and_free(tml, desc.barycentrics);
        desc.barycentrics = (tml_buffer){0, 0};
        desc.hits = buffer(tml, TML_U8, COUNT, NULL);
        CHECK_OK(tml, tml_tree_cast(tml, &desc));
        CHECK(engine == TML_ENGINE_CPU || !kind || desc.tree->cast);
        uint8_t *again = read_and_free(tml, desc.hits);
        CHECK(memcmp(is_hit, again, COUNT) == 0);
        free(again);
        for (int i = 0; i < COUNT; i++) {
            CHECK_EQ_U64(is_hit[i], kind == 2 && i % KINDS >= MISSES);
            if (is_hit[i])
                CHECK(weights[2 * i] == (float)(1 / 3.0) && weights[2 * i + 1] == weights[2 * i]);
            else
                CHECK(isnan(weights[2 * i]) && isnan(weights[2 * i + 1]));
        }
        free_rays(tml, &desc);
        tml_tree_destroy(tml, desc.tree);
        free(m.corners);
        free(is_hit);
        free(weights);
    }
    tml_close(tml);
}

TEST(what_hits_nothing)
{
    check_what_hits_nothing(TML_ENGINE_CPU);
}

TEST(what_hits_nothing_on_vulkan)
{
    check_what_hits_nothing(TML_ENGINE_VULKAN);
}

/* Counts at the seams of tasks, a length on the device, and what lies after it. */
static void check_lengths(tml_engine_kind engine)
{
    enum { COUNT = 4100 };
    tml_context *tml = open_engine(engine, 2);
    if (!tml)
        SKIP("no such device here");
    mesh m = {0};
    add_box(&m, 2, 1, false);
    tml_tree *tree = tree_of(tml, &m, 0);
    static float from[3 * COUNT], way[3 * COUNT];
    static uint8_t is_hit[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        from[3 * i] = i % 3 ? 9 : 1;
        way[3 * i + 2] = 1;
    }
    tml_buffer origins = buffer(tml, vec3_type, COUNT, from);
    tml_buffer directions = buffer(tml, vec3_type, COUNT, way);
    static const uint64_t lengths[] = {0, 1, 1023, 1024, 1025, 4095, 4096, 4100, 9999};
    for (int i = 0; i < 9; i++) {
        memset(is_hit, 7, sizeof is_hit);
        tml_buffer out = buffer(tml, TML_U8, COUNT, is_hit);
        uint32_t narrow = (uint32_t)lengths[i];
        tml_buffer length =
            i % 2 ? buffer(tml, TML_U32, 1, &narrow) : buffer(tml, TML_U64, 1, &lengths[i]);
        CHECK_OK(tml, tml_tree_cast(tml, &(tml_tree_cast_desc){.tree = tree,
                                                               .origins = origins,
                                                               .directions = directions,
                                                               .length.device = length,
                                                               .want = (tml_tree_cast_want)(i % 4),
                                                               .hits = out}));
        CHECK_OK(tml, tml_buffer_read(tml, out, is_hit));
        uint64_t wrong = 0, end = lengths[i] < COUNT ? lengths[i] : COUNT;
        for (uint64_t k = 0; k < COUNT; k++)
            wrong += is_hit[k] != (k >= end ? 7 : k % 3 == 0);
        CHECK_EQ_U64(wrong, 0);
        tml_buffer_destroy(tml, length);
        tml_buffer_destroy(tml, out);
    }
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

TEST(lengths)
{
    check_lengths(TML_ENGINE_CPU);
}

TEST(lengths_on_vulkan)
{
    check_lengths(TML_ENGINE_VULKAN);
}

/* Rays through poses hit what rays hit that were moved before. */
static void check_poses(tml_engine_kind engine)
{
    enum { COUNT = 3000, POSES = 3 };
    tml_context *tml = open_engine(engine, 1);
    if (!tml)
        SKIP("no such device here");
    mesh m = {0};
    add_box(&m, 64, 6, true);
    tml_tree *tree = tree_of(tml, &m, 0);
    static float matrices[12 * POSES], from[3 * COUNT], way[3 * COUNT], moved[6 * COUNT];
    static uint32_t pose_of[COUNT];
    for (int i = 0; i < 12 * POSES; i++)
        matrices[i] = (float)random_in(-1000, 1000) / 1000.0f * (i % 4 == 3 ? 20 : 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        pose_of[i] = (uint32_t)random_below(POSES + 1);
        for (uint32_t k = 0; k < 3; k++) {
            from[3 * i + k] = (float)random_in(-9000, 9000) / 100.0f;
            way[3 * i + k] = (float)random_in(-999, 999) / 300.0f;
        }
        for (uint32_t k = 0; k < 3; k++) {
            const float *row = matrices + 12 * (pose_of[i] % POSES) + 4 * k;
            const float *p = from + 3 * i, *d = way + 3 * i;
            moved[3 * i + k] = ((row[0] * p[0] + row[1] * p[1]) + row[2] * p[2]) + row[3];
            moved[3 * (COUNT + i) + k] = (row[0] * d[0] + row[1] * d[1]) + row[2] * d[2];
            if (pose_of[i] == POSES)
                moved[3 * (COUNT + i) + k] = 0; /* a pose that is not there */
        }
    }
    tml_tree_cast_desc desc = {.tree = tree,
                               .origins = buffer(tml, vec3_type, COUNT, from),
                               .directions = buffer(tml, vec3_type, COUNT, way),
                               .poses = buffer(tml, TML_VEC(TML_F32, 4), 3 * POSES, matrices),
                               .pose_of = buffer(tml, TML_U32, COUNT, pose_of),
                               .triangles = buffer(tml, TML_U32, COUNT, NULL),
                               .t = buffer(tml, TML_F32, COUNT, NULL)};
    tml_tree_cast_desc plain = {.tree = tree,
                                .origins = buffer(tml, vec3_type, COUNT, moved),
                                .directions = buffer(tml, vec3_type, COUNT, moved + 3 * COUNT),
                                .triangles = buffer(tml, TML_U32, COUNT, NULL),
                                .t = buffer(tml, TML_F32, COUNT, NULL)};
    CHECK_OK(tml, tml_tree_cast(tml, &desc));
    CHECK_OK(tml, tml_tree_cast(tml, &plain));
    uint32_t *got = read_and_free(tml, desc.triangles);
    uint32_t *expected = read_and_free(tml, plain.triangles);
    float *t = read_and_free(tml, desc.t), *expected_t = read_and_free(tml, plain.t);
    CHECK(memcmp(got, expected, sizeof pose_of) == 0 && memcmp(t, expected_t, sizeof pose_of) == 0);
    uint32_t missed = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        missed += got[i] == UINT32_MAX;
    CHECK(missed > COUNT / 4 && missed < COUNT);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(got);
    free(expected);
    free(t);
    free(expected_t);
    free(m.corners);
}

TEST(poses)
{
    check_poses(TML_ENGINE_CPU);
}

TEST(poses_on_vulkan)
{
    check_poses(TML_ENGINE_VULKAN);
}

/* A tree that was built on the device, fitted to other vertices there, and fitted on the host: the
 * device's hits of each are those of the host with a tree of its own, to the bit. */
static void *cast_words(tml_context *tml, tml_tree_cast_desc desc, uint32_t count)
{
    uint32_t *words = malloc((size_t)16 * count);
    desc.length = tml_length_of(count);
    desc.triangles = buffer(tml, TML_U32, count, NULL);
    desc.t = buffer(tml, TML_F32, count, NULL);
    desc.barycentrics = buffer(tml, vec2_type, count, NULL);
    CHECK_OK(tml, tml_tree_cast(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.triangles, words));
    CHECK_OK(tml, tml_buffer_read(tml, desc.t, words + count));
    CHECK_OK(tml, tml_buffer_read(tml, desc.barycentrics, words + 2 * count));
    tml_buffer_destroy(tml, desc.triangles);
    tml_buffer_destroy(tml, desc.t);
    tml_buffer_destroy(tml, desc.barycentrics);
    return words;
}

static uint64_t stream_count(tml_context *tml, tml_buffer of)
{
    uint64_t count = 0;
    CHECK(tml_buffer_describe(tml, of, NULL, &count));
    return count;
}

static void check_same(tml_context *tml, tml_tree_cast_desc desc, uint32_t count,
                       const float *corners, uint32_t triangles, const float *from)
{
    tml_context *other = open_engine(TML_ENGINE_CPU, 2);
    tml_tree_desc mesh_desc = {.vertices = buffer(other, vec3_type, 3 * triangles, corners)};
    tml_tree_cast_desc on_host = {
        .origins = buffer(other, vec3_type, count, from),
        .directions = buffer(other, vec3_type, count, from + 3 * stream_count(tml, desc.origins))};
    CHECK_OK(other, tml_tree_create(other, &mesh_desc, &on_host.tree));
    uint32_t *got = cast_words(tml, desc, count), *expected = cast_words(other, on_host, count);
    uint32_t wrong[4] = {0}, found = 0, left = 1;
    for (uint32_t i = 0; i < 4 * count; i++)
        wrong[i / count] += got[i] != expected[i];
    for (uint32_t i = 0; i < count; i++)
        found += got[i] != UINT32_MAX;
    for (int i = 0; i < 4; i++)
        CHECK_EQ_U64(wrong[i], 0);
    CHECK(found > count / 4);
    CHECK(desc.tree->cast != NULL);
    CHECK_OK(tml, cast_left_count(tml, desc.tree, &left));
    CHECK_EQ_U64(left, 0);
    tml_tree_destroy(other, on_host.tree);
    tml_close(other);
    free(got);
    free(expected);
}

TEST(trees_that_change_on_the_device)
{
    enum { COUNT = 50000 };
    tml_context *tml = open_engine(TML_ENGINE_VULKAN, 1);
    if (!tml)
        SKIP("no such device here");
    mesh m = {0};
    add_box(&m, 1 << 20, 40, true);
    float *corners = floats_of(m.corners, 3 * m.count, -20);
    tml_tree_desc mesh_desc = {.vertices = buffer(tml, vec3_type, 3 * m.count, corners),
                               .on_device = true};
    tml_tree_cast_desc desc = {.tree = NULL};
    CHECK_OK(tml, tml_tree_create(tml, &mesh_desc, &desc.tree));
    float *from = malloc((size_t)6 * COUNT * sizeof *from), *way = from + 3 * COUNT;
    for (uint32_t i = 0; i < 3 * COUNT; i++) {
        from[i] = (float)random_in(-2000, 2000) / 1000.0f;
        way[i] = (float)random_in(-1000, 1000) / 1000.0f - from[i] * (i / 3 % 2 ? 1.0f : 0.0f);
    }
    desc.origins = buffer(tml, vec3_type, COUNT, from);
    desc.directions = buffer(tml, vec3_type, COUNT, way);
    check_same(tml, desc, COUNT, corners, m.count, from);
    for (uint32_t i = 0; i < 9 * m.count; i++)
        corners[i] *= i % 3 ? 0.875f : 1.25f;
    CHECK_OK(tml, tml_buffer_write(tml, mesh_desc.vertices, 0, 3 * m.count, corners));
    CHECK_OK(tml, tml_tree_update_enqueue(tml, desc.tree, mesh_desc.vertices, TML_TREE_REFIT));
    check_same(tml, desc, COUNT, corners, m.count, from);
    for (uint32_t i = 0; i < 9 * m.count; i++)
        corners[i] *= 0.75f;
    CHECK_OK(tml, tml_buffer_write(tml, mesh_desc.vertices, 0, 3 * m.count, corners));
    CHECK_OK(tml, tml_tree_update(tml, desc.tree, mesh_desc.vertices, TML_TREE_REFIT));
    check_same(tml, desc, COUNT, corners, m.count, from);
    CHECK_OK(tml, tml_tree_update_enqueue(tml, desc.tree, mesh_desc.vertices, TML_TREE_REBUILD));
    check_same(tml, desc, COUNT / 2, corners, m.count, from);
    free_rays(tml, &desc);
    tml_buffer_destroy(tml, mesh_desc.vertices);
    tml_tree_destroy(tml, desc.tree);
    tml_close(tml);
    free(m.corners);
    free(corners);
    free(from);
}

TEST(what_is_refused)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 1);
    mesh m = {0};
    add_box(&m, 2, 1, false);
    tml_buffer rays = buffer(tml, vec3_type, 2, NULL), words = buffer(tml, TML_U32, 2, NULL);
    tml_buffer few = buffer(tml, TML_U8, 1, NULL), flags = buffer(tml, TML_U8, 2, NULL);
    tml_buffer rows = buffer(tml, TML_VEC(TML_F32, 4), 4, NULL);
    tml_tree *tree = tree_of(tml, &m, 0);
    const tml_tree_cast_desc good = {
        .tree = tree, .origins = rays, .directions = rays, .hits = flags};
    CHECK_OK(tml, tml_tree_cast(tml, &good));
    tml_tree_cast_desc bad[12];
    for (int i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].tree = NULL;
    bad[1].hits = (tml_buffer){0, 0};
    bad[2].hits = few;
    bad[3].counts = words;
    bad[4].want = (tml_tree_cast_want)4;
    bad[5].t_max = NAN;
    bad[6].t_max = -1;
    bad[7].pose_of = words;
    bad[8].poses = rows;
    bad[9].triangles = bad[9].t = words;
    bad[10].directions = words;
    bad[11].want = TML_TREE_CAST_ANY;
    bad[11].barycentrics = rays;
    for (int i = 0; i < 12; i++) {
        CHECK_STATUS(tml_tree_cast(tml, &bad[i]), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "desc.") != NULL || i == 1);
    }
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

/* OpenGL has the host's. */
TEST(opengl)
{
    enum { COUNT = 3000 };
    SKIP_IF_NARROW();
    tml_context *tml = open_engine(TML_ENGINE_GL, 2);
    if (!tml)
        SKIP("no such device here");
    mesh m = {0};
    add_random(&m, 200, 8);
    ray *rays = malloc(COUNT * sizeof *rays);
    for (uint32_t r = 0; r < COUNT; r++)
        rays[r] = random_ray(-2, 10, 2);
    hits expected = reference(&m, rays, COUNT);
    check_on(tml, &m, rays, COUNT, -4, 1, &expected);
    free(expected.list);
    free(expected.first);
    free(rays);
    free(m.corners);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    int status = test_main(argc, argv);
    tml_close(shared_vulkan);
    return status;
}
