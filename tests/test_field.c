/* Field against a naive sum over all points in double precision, on every device; slabs, threads
 * and SIMD levels bit for bit; automatic radius and grid; refusals. */
#include <trommel/field.h>
#include <trommel/surface.h>

#include "core/simd.h"
#include "field/field_internal.h"
#include "field_resolved.h"
#include "test.h"

#include "contexts.h"

/* ---- points and grids ------------------------------------------------------------------------ */

/* Uniform in [0, 1); the same on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* A context on a device other than the CPU, by its number in tml_devices; kept to the end, since
 * software devices take their time to make pipelines. NULL: no such device. */
enum { MAX_DEVICES = 8 };
static tml_context *device_contexts[MAX_DEVICES];
static tml_context *device_context(uint32_t number)
{
    tml_device_info infos[MAX_DEVICES];
    char name[8];
    uint32_t count = tml_devices(infos, MAX_DEVICES);
    if (number >= count || number >= MAX_DEVICES || infos[number].engine == TML_ENGINE_CPU)
        return NULL;
    snprintf(name, sizeof name, "%u", number);
    if (!device_contexts[number])
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = name}, &device_contexts[number]));
    return device_contexts[number];
}

enum { MAX_POINTS = 400, MAX_SAMPLES = 40 * 40 * 40 };

typedef struct point_cloud {
    float points[3 * MAX_POINTS];
    float radii[MAX_POINTS];
    float densities[MAX_POINTS];
    float shapes[2][3 * MAX_POINTS];
    bool has_shape[MAX_POINTS]; /* one that counts */
    uint64_t count;
} point_cloud;

static void to_world(const tml_grid *grid, const double index[3], double out[3])
{
    for (int row = 0; row < 3; row++) {
        out[row] = grid->origin[row];
        for (int a = 0; a < 3; a++)
            out[row] += grid->direction[3 * row + a] * grid->spacing[a] * index[a];
    }
}

/* Any rotation of a matrix of eigenvalues from 1 to FLATTEST; some are none. */
enum { FLATTEST = 5 };
static void make_shapes(point_cloud *cloud)
{
    uint64_t state = 3;
    for (uint64_t i = 0; i < cloud->count; i++) {
        float *diagonal = cloud->shapes[0] + 3 * i, *others = cloud->shapes[1] + 3 * i;
        double w = uniform(&state) - 0.5, x = uniform(&state) - 0.5, y = uniform(&state) - 0.5,
               z = uniform(&state) - 0.5, s = 2.0 / (w * w + x * x + y * y + z * z);
        const double axes[3][3] = {
            {1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
            {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
            {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
        double g[3][3] = {{0}};
        for (int k = 0; k < 3; k++) {
            double length = i % 4 == 0 ? 1.0 : 1.0 + (FLATTEST - 1) * uniform(&state);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    g[a][b] += length * axes[k][a] * axes[k][b];
        }
        for (int a = 0; a < 3; a++) {
            diagonal[a] = (float)g[a][a];
            others[a] = (float)g[(a + 1) % 3][(a + 2) % 3];
        }
        cloud->has_shape[i] = true;
    }
    if (cloud->count > 60) {
        cloud->shapes[0][3 * 50] = NAN;
        cloud->shapes[1][3 * 51] = INFINITY;
        cloud->shapes[0][3 * 52] = 0.5f;
        cloud->shapes[0][3 * 53 + 1] = 2000.0f;
        cloud->shapes[0][3 * 54 + 2] = -3.0f;
        cloud->shapes[1][3 * 55] = 100.0f;
        memset(cloud->has_shape + 50, 0, 6 * sizeof *cloud->has_shape);
    }
}

/* Points over the grid and a little outside it: anywhere, on samples, on brick borders, on the
 * grid's own borders; some that must be ignored. spread: largest over smallest radius. */
static void make_cloud(point_cloud *cloud, const tml_grid *grid, uint64_t count, double radius,
                       double spread)
{
    uint64_t state = 7 + count;
    cloud->count = count;
    for (uint64_t i = 0; i < count; i++) {
        double index[3], world[3];
        for (int a = 0; a < 3; a++) {
            double last = (double)(grid->dims[a] - 1);
            index[a] = (uniform(&state) * 1.4 - 0.2) * (last + 1.0);
            if (i % 5 == 1)
                index[a] = floor(index[a]);
            else if (i % 5 == 2)
                index[a] = floor(index[a] / FIELD_BRICK) * FIELD_BRICK;
            else if (i % 5 == 3)
                index[a] = uniform(&state) < 0.5 ? 0.0 : last;
        }
        to_world(grid, index, world);
        for (int a = 0; a < 3; a++)
            cloud->points[3 * i + a] = (float)world[a];
        cloud->radii[i] = (float)(radius * pow(spread, -uniform(&state)));
        cloud->densities[i] = (float)(0.5 + (double)(i % 7));
    }
    if (count > 20) {
        cloud->points[3 * 4] = NAN;
        cloud->points[3 * 9 + 2] = INFINITY;
        cloud->radii[14] = 0.0f;
        cloud->radii[15] = -1.0f;
        cloud->radii[16] = NAN;
        cloud->densities[17] = 0.0f;
        cloud->densities[18] = NAN;
        cloud->densities[19] = -1.0f;
        cloud->densities[20] = INFINITY;
    }
    make_shapes(cloud);
}

/* ---- the reference --------------------------------------------------------------------------- */

static double reference_weight(tml_field_kernel kernel, double q)
{
    double t = 1.0 - q;
    if (q >= 1.0)
        return 0.0;
    if (kernel == TML_FIELD_WENDLAND_C2)
        return t * t * t * t * (4.0 * q + 1.0);
    if (kernel == TML_FIELD_CUBIC_SPLINE)
        return q < 0.5 ? 1.0 - 6.0 * q * q + 6.0 * q * q * q : 2.0 * t * t * t;
    if (kernel == TML_FIELD_POLY6)
        return pow(1.0 - q * q, 3.0);
    return q < 1.0 / 3.0 ? 1.0 - 3.0 * q * q : 1.5 * t * t;
}

/* Of a resolved desc's point; 0 where its own is no radius. */
static double radius_of(const tml_field_desc *desc, const point_cloud *cloud, uint64_t i)
{
    double own = (double)cloud->radii[i];
    if (tml_buffer_is_none(desc->radii))
        return desc->radius;
    return !(own > 0.0) ? 0.0 : desc->radius > 0.0 ? fmin(own, desc->radius) : own;
}

/* One sample, and the error that its evaluation in float may have. Each point's position is rounded
 * relative to its bin and brick, some samples away (so by some 2^-24 of a bin or of the reach), and
 * q and the term by some operations; no kernel is steeper than 2 in q. */
static double reference_sample(const tml_field_desc *desc, const point_cloud *cloud,
                               const double at[3], double *bound)
{
    const double ulp = 0x1p-24;
    bool distance = desc->kind == TML_FIELD_DISTANCE;
    double value = distance ? -desc->margin : 0.0;
    double step = fmax(fmax(desc->grid.spacing[0], desc->grid.spacing[1]), desc->grid.spacing[2]);
    double terms = 0.0;
    *bound = distance ? ulp * desc->margin : 0.0;
    for (uint64_t i = 0; i < cloud->count; i++) {
        const float *p = cloud->points + 3 * i;
        double radius = radius_of(desc, cloud, i);
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]) || !(radius > 0.0))
            continue;
        double d[3];
        for (int a = 0; a < 3; a++)
            d[a] = (double)p[a] - at[a];
        double flattest = 1.0;
        if (!tml_buffer_is_none(desc->shapes[0])) {
            const float *g = cloud->shapes[0] + 3 * i, *o = cloud->shapes[1] + 3 * i;
            const double e[3] = {d[0], d[1], d[2]};
            if (!cloud->has_shape[i])
                continue;
            for (int a = 0; a < 3; a++)
                d[a] = (double)g[a] * e[a] + (double)o[(a + 2) % 3] * e[(a + 1) % 3] +
                       (double)o[(a + 1) % 3] * e[(a + 2) % 3];
            flattest = FLATTEST;
        }
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double reach = distance ? radius + desc->margin : radius;
        if (length > 1.001 * reach)
            continue;
        terms++;
        if (distance) {
            value = fmax(value, radius - length);
            *bound = fmax(*bound, ulp * (16.0 * reach + 64.0 * step));
        } else {
            double weight = reference_weight(desc->kernel, length / reach), density = 1.0;
            if (!tml_buffer_is_none(desc->densities))
                density = (double)cloud->densities[i];
            if (!(density >= 1e-30 && density <= 1e30))
                continue;
            value += weight / density;
            *bound += flattest * ulp * (32.0 + 128.0 * step / reach) / density;
        }
    }
    *bound += ulp * terms * fabs(value);
    return value;
}

static void check_against_reference(const tml_field_desc *desc, const point_cloud *cloud,
                                    const float *samples, const char *name)
{
    const tml_grid *grid = &desc->grid;
    uint64_t wrong = 0;
    double worst = 0.0;
    for (uint64_t s = 0; s < grid->dims[0] * grid->dims[1] * grid->dims[2]; s++) {
        uint64_t x = s % grid->dims[0], y = s / grid->dims[0] % grid->dims[1];
        double index[3] = {(double)x, (double)y, (double)(s / (grid->dims[0] * grid->dims[1]))};
        double world[3], bound;
        to_world(grid, index, world);
        double expected = reference_sample(desc, cloud, world, &bound);
        double error = fabs((double)samples[s] - expected);
        worst = fmax(worst, bound > 0.0 ? error / bound : error > 0.0 ? INFINITY : 0.0);
        if (!(error <= bound) && wrong++ < 2)
            test_fail(__FILE__, __LINE__, "%s: sample %g %g %g is %.9g, expected %.9g within %g",
                      name, index[0], index[1], index[2], (double)samples[s], expected, bound);
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(worst <= 1.0);
}

/* ---- the cases ------------------------------------------------------------------------------- */

static const double rotated[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};
static const double sheared[9] = {1.0, 0.3, -0.2, 0.0, 0.9, 0.4, 0.1, 0.0, 1.1};
static const double mirrored[9] = {-1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0};
static const double straight[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

typedef struct field_case {
    const char *name;
    uint64_t dims[3];
    double spacing[3];
    double origin[3];
    const double *direction;
    uint64_t points;
    double radius;
    double spread; /* of per-point radii; 0: one radius */
} field_case;

static const field_case cases[] = {
    {"one brick", {8, 8, 8}, {1, 1, 1}, {0, 0, 0}, straight, 5, 2.5, 0},
    {"primes", {23, 19, 29}, {1, 1, 1}, {0, 0, 0}, straight, 300, 3, 0},
    {"one sample", {1, 1, 1}, {1, 1, 1}, {5, 6, 7}, straight, 9, 2, 0},
    {"one row", {37, 1, 1}, {1, 1, 1}, {0, 0, 0}, straight, 60, 2, 0},
    {"one column", {1, 1, 37}, {1, 1, 1}, {0, 0, 0}, straight, 60, 2, 0},
    {"past a brick", {9, 17, 25}, {1, 1, 1}, {-4, -8, -12}, straight, 200, 1.25, 0},
    {"smaller than a step", {21, 20, 19}, {1, 1, 1}, {0, 0, 0}, straight, 300, 0.4, 0},
    {"support beyond the grid", {17, 9, 11}, {1, 1, 1}, {0, 0, 0}, straight, 25, 60, 0},
    {"anisotropic", {31, 22, 9}, {0.5, 0.75, 3}, {-7, 100, 3}, straight, 200, 2.2, 0},
    {"rotated", {22, 18, 20}, {0.5, 0.5, 0.75}, {-30, 20, -10}, rotated, 200, 2.2, 0},
    {"sheared", {22, 18, 20}, {1, 0.8, 1.2}, {3, -2, 1}, sheared, 200, 3.1, 0},
    {"mirrored", {18, 21, 16}, {1, 1, 2}, {0, 0, 0}, mirrored, 200, 3.1, 0},
    {"far from zero", {16, 16, 16}, {0.25, 0.25, 0.25}, {4096, -8192, 2048}, straight, 100, 1, 0},
    {"small units", {20, 12, 14}, {1e-9, 1e-9, 1e-9}, {0, 0, 0}, straight, 100, 3e-9, 0},
    {"large units", {20, 12, 14}, {1e9, 1e9, 1e9}, {1e10, 0, 0}, straight, 100, 3e9, 0},
    {"radii 1:3", {24, 24, 24}, {1, 1, 1}, {0, 0, 0}, straight, 200, 4, 3},
    {"radii 1:50", {24, 30, 26}, {1, 1, 1}, {-3, 0, 9}, straight, 300, 15, 50},
    {"radii 1:1e7", {24, 17, 26}, {1, 1, 1}, {0, 0, 0}, rotated, 300, 40, 1e7},
};

/* The same on every other device, within the same bound; known: what they will evaluate, with the
 * CPU's buffers. */
static void samples_on_devices(const tml_field_desc *known, const point_cloud *cloud,
                               const char *name)
{
    static float samples[MAX_SAMPLES];
    const uint64_t *dims = known->grid.dims;
    for (uint32_t d = 0; d < MAX_DEVICES; d++) {
        tml_context *tml = device_context(d);
        if (!tml)
            continue;
        tml_field_desc desc = *known;
        desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, cloud->points);
        if (!tml_buffer_is_none(desc.radii))
            desc.radii = buffer_of(tml, TML_F32, cloud->count, cloud->radii);
        const uint64_t count = dims[0] * dims[1] * dims[2];
        tml_buffer out = buffer_of(tml, TML_F32, count, NULL);
        for (int i = 0; i < 2 && !tml_buffer_is_none(known->shapes[0]); i++)
            desc.shapes[i] = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, cloud->shapes[i]);
        if (!tml_buffer_is_none(desc.densities)) { /* binned by the host, then by the device */
            static float of_host[MAX_SAMPLES];
            const tml_buffer_desc lent = {
                .type = TML_F32, .count = cloud->count, .host = (void *)cloud->densities};
            CHECK_OK(tml, tml_buffer_create(tml, &lent, &desc.densities));
            CHECK_OK(tml, tml_field(tml, &desc, out));
            CHECK_OK(tml, tml_buffer_read(tml, out, of_host));
            tml_buffer_destroy(tml, desc.densities);
            desc.densities = buffer_of(tml, TML_F32, cloud->count, cloud->densities);
            CHECK_OK(tml, tml_field(tml, &desc, out));
            CHECK_OK(tml, tml_buffer_read(tml, out, samples));
            CHECK(memcmp(samples, of_host, count * sizeof *samples) == 0);
        }
        CHECK_OK(tml, tml_field(tml, &desc, out));
        CHECK_OK(tml, tml_buffer_read(tml, out, samples));
        check_against_reference(&desc, cloud, samples, name);
        tml_buffer_destroy(tml, desc.points);
        tml_buffer_destroy(tml, desc.radii);
        tml_buffer_destroy(tml, desc.densities);
        tml_buffer_destroy(tml, desc.shapes[0]);
        tml_buffer_destroy(tml, desc.shapes[1]);
        tml_buffer_destroy(tml, out);
    }
}

static void samples_of_case(const field_case *test, tml_field_kind kind, tml_field_kernel kernel,
                            bool has_densities, bool has_shapes)
{
    static point_cloud cloud;
    static float samples[MAX_SAMPLES], again[MAX_SAMPLES];
    tml_context *tml = open_cpu(1), *tml2 = open_cpu(2);
    tml_field_desc desc = {.kind = kind, .kernel = kernel};
    desc.radius = test->spread > 0 ? 0.7 * test->radius : test->radius; /* some are cut */
    memcpy(desc.grid.dims, test->dims, sizeof test->dims);
    memcpy(desc.grid.spacing, test->spacing, sizeof test->spacing);
    memcpy(desc.grid.origin, test->origin, sizeof test->origin);
    memcpy(desc.grid.direction, test->direction, sizeof desc.grid.direction);
    make_cloud(&cloud, &desc.grid, test->points, test->radius, test->spread > 0 ? test->spread : 1);
    uint64_t count = test->dims[0] * test->dims[1] * test->dims[2];
    size_t size = count * sizeof(float);

    tml_field_desc desc2 = desc;
    desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
    desc2.points = buffer_of(tml2, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
    if (test->spread > 0) {
        desc.radii = buffer_of(tml, TML_F32, cloud.count, cloud.radii);
        desc2.radii = buffer_of(tml2, TML_F32, cloud.count, cloud.radii);
    }
    if (has_densities) {
        desc.densities = buffer_of(tml, TML_F32, cloud.count, cloud.densities);
        desc2.densities = buffer_of(tml2, TML_F32, cloud.count, cloud.densities);
    }
    for (int i = 0; i < 2 && has_shapes; i++) {
        desc.shapes[i] = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.shapes[i]);
        desc2.shapes[i] = buffer_of(tml2, TML_VEC(TML_F32, 3), cloud.count, cloud.shapes[i]);
    }
    tml_buffer out = buffer_of(tml, TML_F32, count, NULL),
               out2 = buffer_of(tml2, TML_F32, count, NULL);
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, samples));
    tml_field_desc resolved;
    CHECK_OK(tml, resolve_field(tml, &desc, &resolved, NULL));
    check_against_reference(&resolved, &cloud, samples, test->name);
    samples_on_devices(&resolved, &cloud, test->name);

    CHECK_OK(tml2, tml_field(tml2, &desc2, out2));
    CHECK_OK(tml2, tml_buffer_read(tml2, out2, again));
    CHECK(memcmp(samples, again, size) == 0);

    field_plan *plan = NULL;
    CHECK_OK(tml, field_plan_create(tml, &resolved, &plan));
    static const uint64_t slabs[] = {1, 3, FIELD_BRICK, 11};
    tml_simd best = tml_simd_level();
    uint64_t slice = test->dims[0] * test->dims[1];
    for (size_t i = 0; plan && i < TML_ARRAY_SIZE(slabs); i++) {
        tml_simd_force((tml_simd)TML_MIN_OF(i, (size_t)best));
        memset(again, 0x7f, size);
        for (uint64_t z = 0; z < test->dims[2]; z += slabs[i]) {
            uint64_t slices = TML_MIN_OF(slabs[i], test->dims[2] - z);
            cpu_field_slab(plan, z, slices, again + z * slice);
            if (field_slab_is_empty(plan, z, slices))
                for (uint64_t s = z * slice; s < (z + slices) * slice; s++)
                    CHECK(samples[s] == plan->background);
        }
        CHECK(memcmp(samples, again, size) == 0);
    }
    tml_simd_force(best);
    field_plan_destroy(tml, plan);
    tml_close(tml2);
    tml_close(tml);
}

TEST(wendland_sums_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_KERNEL_SUM, TML_FIELD_WENDLAND_C2, false, false);
}

TEST(poly6_sums_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_KERNEL_SUM, TML_FIELD_POLY6, false, false);
}

TEST(metaball_sums_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_KERNEL_SUM, TML_FIELD_METABALL, false, false);
}

TEST(spline_sums_over_densities_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_KERNEL_SUM, TML_FIELD_CUBIC_SPLINE, true, false);
    samples_of_case(&cases[1], TML_FIELD_KERNEL_SUM, TML_FIELD_CUBIC_SPLINE, false, false);
    samples_of_case(&cases[1], TML_FIELD_KERNEL_SUM, TML_FIELD_METABALL, true, false);
}

TEST(sums_of_ellipsoids_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_KERNEL_SUM, TML_FIELD_CUBIC_SPLINE, true, true);
    for (size_t i = 0; i < 4; i++)
        samples_of_case(&cases[8 + i], TML_FIELD_KERNEL_SUM, (tml_field_kernel)i, false, true);
}

TEST(distances_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        samples_of_case(&cases[i], TML_FIELD_DISTANCE, TML_FIELD_WENDLAND_C2, false, false);
}

/* ---- bins ------------------------------------------------------------------------------------ */

static void desc_of_case(const field_case *test, tml_field_desc *desc, point_cloud *cloud)
{
    *desc = (tml_field_desc){.radius = test->radius};
    memcpy(desc->grid.dims, test->dims, sizeof test->dims);
    memcpy(desc->grid.spacing, test->spacing, sizeof test->spacing);
    memcpy(desc->grid.origin, test->origin, sizeof test->origin);
    memcpy(desc->grid.direction, test->direction, sizeof desc->grid.direction);
    make_cloud(cloud, &desc->grid, test->points, test->radius, test->spread > 0 ? test->spread : 1);
}

/* Some points reach farther than the largest radius that is given. */
static void cut_radii(tml_context *tml, const point_cloud *cloud, tml_field_desc *desc)
{
    desc->radii = buffer_of(tml, TML_F32, cloud->count, cloud->radii);
    desc->radius *= 0.7;
}

/* Compares what a device bins with what the CPU engine does. */
static void check_bins(tml_context *tml, tml_context *cpu, const tml_field_desc *desc,
                       const point_cloud *cloud, const char *name)
{
    tml_field_desc resolved, of_host = *desc;
    field_plan *host = NULL, *device = NULL;
    CHECK_OK(tml, resolve_field(tml, desc, &resolved, NULL));
    CHECK(field_bins_on_device(tml, &resolved));
    CHECK_OK(tml, field_plan_create(tml, &resolved, &device));
    of_host.points = buffer_of(cpu, TML_VEC(TML_F32, 3), cloud->count, cloud->points);
    if (!tml_buffer_is_none(desc->radii))
        of_host.radii = buffer_of(cpu, TML_F32, cloud->count, cloud->radii);
    CHECK_OK(cpu, resolve_field(cpu, &of_host, &resolved, NULL));
    CHECK_OK(cpu, field_plan_create(cpu, &resolved, &host));
    if (host && device) {
        CHECK_EQ_U64(device->level_count, host->level_count);
        CHECK(host->starts && !device->starts);
        CHECK_EQ_U64(device->bin_count, host->bin_count);
        CHECK(memcmp(device->words, host->words, sizeof host->words) == 0);
        uint32_t *starts = fetch(tml, device->device.starts, host->bin_count + 1);
        field_point *points = fetch(tml, device->device.points, host->point_count);
        for (uint64_t b = 0; b <= host->bin_count; b++)
            if (starts[b] != host->starts[b])
                test_fail(__FILE__, __LINE__, "%s: bin %u begins at %u, not %u", name, (unsigned)b,
                          starts[b], (unsigned)host->starts[b]);
        CHECK(host->point_count == 0 ||
              memcmp(points, host->points, host->point_count * sizeof *points) == 0);
        free(starts);
        free(points);
    }
    field_plan_destroy(cpu, host);
    field_plan_destroy(tml, device);
    tml_buffer_destroy(cpu, of_host.points);
    tml_buffer_destroy(cpu, of_host.radii);
}

TEST(devices_bin_points_as_the_host_does)
{
    static point_cloud cloud;
    bool has_device = false;
    tml_context *cpu = open_cpu(2);
    for (uint32_t d = 0; d < MAX_DEVICES; d++) {
        tml_context *tml = device_context(d);
        for (size_t i = 0; i < TML_ARRAY_SIZE(cases) && tml; i++) {
            tml_field_desc desc;
            desc_of_case(&cases[i], &desc, &cloud);
            desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
            if (cases[i].spread > 0)
                cut_radii(tml, &cloud, &desc);
            check_bins(tml, cpu, &desc, &cloud, cases[i].name);
            desc.kind = TML_FIELD_DISTANCE;
            desc.margin = 0.3 * cases[i].radius;
            check_bins(tml, cpu, &desc, &cloud, cases[i].name);
            desc.radius = 1e-30; /* reaches no sample, but by its margin */
            check_bins(tml, cpu, &desc, &cloud, cases[i].name);
            desc.kind = TML_FIELD_KERNEL_SUM;
            check_bins(tml, cpu, &desc, &cloud, cases[i].name);
            tml_buffer_destroy(tml, desc.points);
            tml_buffer_destroy(tml, desc.radii);
            has_device = true;
        }
    }
    tml_close(cpu);
    if (!has_device)
        SKIP("no device but the CPU");
}

/* A field of the first points alone is that of all, of which the others are none. */
static void check_length(tml_context *tml, const tml_field_desc *known, const point_cloud *cloud,
                         uint64_t length, bool is_wide)
{
    static point_cloud first;
    static float expected[MAX_SAMPLES], actual[MAX_SAMPLES];
    const uint64_t *dims = known->grid.dims, count = dims[0] * dims[1] * dims[2];
    const uint64_t wide[3] = {7, 0, length};
    const uint32_t narrow[3] = {7, 0, (uint32_t)length};
    first = *cloud;
    for (uint64_t i = TML_MIN_OF(length, cloud->count); i < cloud->count; i++)
        first.points[3 * i] = NAN;
    tml_field_desc desc = *known;
    tml_buffer all = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, cloud->points);
    desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, first.points);
    tml_buffer out = buffer_of(tml, TML_F32, count, NULL);
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, expected));
    tml_buffer_destroy(tml, desc.points);
    desc.points = all;
    desc.length.device =
        buffer_of(tml, is_wide ? TML_U64 : TML_U32, 3, is_wide ? (const void *)wide : narrow);
    desc.length.device_index = 2;
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, actual));
    CHECK(memcmp(actual, expected, count * sizeof *actual) == 0);
    tml_buffer_destroy(tml, desc.length.device);
    tml_buffer_destroy(tml, desc.points);
    tml_buffer_destroy(tml, out);
}

TEST(lengths_on_the_device_count)
{
    static point_cloud cloud;
    static const uint64_t lengths[] = {0, 1, 5, 255, 256, 257, 300, 4000};
    tml_context *cpu = open_cpu(1);
    for (uint32_t d = 0; d <= MAX_DEVICES; d++) {
        tml_context *tml = d < MAX_DEVICES ? device_context(d) : cpu;
        for (size_t i = 0; i < TML_ARRAY_SIZE(lengths) && tml; i++) {
            tml_field_desc desc;
            desc_of_case(&cases[1], &desc, &cloud);
            check_length(tml, &desc, &cloud, lengths[i], i % 2 == 0);
        }
    }
    const uint64_t beyond = (uint64_t)1 << 32 | 2; /* more than 32 bits tell */
    tml_field_desc desc;
    desc_of_case(&cases[1], &desc, &cloud);
    check_length(cpu, &desc, &cloud, beyond, true);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_length(device_context(d), &desc, &cloud, beyond, true);
    tml_close(cpu);
}

/* Points after the last have no share in means either, and positions after the last have no
 * mean. */
static void check_first_means(tml_context *tml)
{
    enum { POSITIONS = 100, COUNTED = 77 };
    static point_cloud cloud;
    const uint32_t length[2] = {0, 123}, counted[2] = {COUNTED, 9};
    float means[2][POSITIONS], untouched[POSITIONS];
    tml_field_desc field;
    desc_of_case(&cases[15], &field, &cloud);
    field.radii = buffer_of(tml, TML_F32, cloud.count, cloud.radii);
    for (int i = 0; i < POSITIONS; i++)
        untouched[i] = -1.0f;
    tml_field_mean_desc desc = {.field = &field};
    desc.positions = buffer_of(tml, TML_VEC(TML_F32, 3), POSITIONS, cloud.points + 3 * 20);
    desc.values[1] = buffer_of(tml, TML_F32, cloud.count, cloud.points);
    desc.means[1] = buffer_of(tml, TML_F32, POSITIONS, untouched);
    tml_buffer lengths[] = {buffer_of(tml, TML_U32, 2, length),
                            buffer_of(tml, TML_U32, 2, counted)};
    for (int turn = 0; turn < 2; turn++) {
        field.length =
            turn ? (tml_length){0} : (tml_length){.device = lengths[0], .device_index = 1};
        desc.length.device = turn ? (tml_buffer){0, 0} : lengths[1];
        for (uint64_t i = length[1]; i < cloud.count && turn == 1; i++)
            cloud.points[3 * i + 1] = NAN;
        field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
        CHECK_OK(tml, tml_field_mean(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[1], means[turn]));
        tml_buffer_destroy(tml, field.points);
    }
    int some = 0;
    for (int i = 0; i < POSITIONS; i++) {
        some += means[1][i] != 0;
        CHECK(i < COUNTED || means[0][i] == -1.0f);
    }
    CHECK(some > 20 && memcmp(means[0], means[1], COUNTED * sizeof(float)) == 0);
    const tml_buffer buffers[] = {field.radii,   desc.positions, desc.values[1],
                                  desc.means[1], lengths[0],     lengths[1]};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        tml_buffer_destroy(tml, buffers[i]);
}

TEST(means_are_of_the_first_points)
{
    tml_context *cpu = open_cpu(1);
    check_first_means(cpu);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_first_means(device_context(d));
    tml_close(cpu);
}

/* ---- enqueued surfaces ----------------------------------------------------------------------- */

/* A whole mesh, whose volume comes from points that the host has binned: they have radii, of which
 * it finds the largest. own: the radii of known. */
static tml_surface_result mesh_by_host(tml_context *tml, const tml_field_desc *known,
                                       const float *own, const tml_surface_desc *surface)
{
    static float radii[MAX_POINTS];
    const uint64_t *dims = known->grid.dims, count = known->length.count;
    for (uint64_t i = 0; i < count; i++)
        radii[i] = own ? own[i] : (float)known->radius;
    tml_field_desc field = *known;
    tml_surface_desc desc = *surface;
    tml_surface_result out = {0};
    field.radii = buffer_of(tml, TML_F32, count, radii);
    field.radius = 0;
    desc.field = NULL;
    desc.grid = field.grid;
    desc.volume = buffer_of(tml, TML_F32, dims[0] * dims[1] * dims[2], NULL);
    desc.mesh = (tml_mesh_buffers){0};
    desc.counts = (tml_buffer){0, 0};
    CHECK_OK(tml, tml_field(tml, &field, desc.volume));
    CHECK_OK(tml, tml_surface(tml, &desc, &out));
    tml_buffer_destroy(tml, field.radii);
    tml_buffer_destroy(tml, desc.volume);
    return out;
}

static void check_same(tml_context *tml, tml_buffer actual, tml_buffer expected, uint64_t count,
                       const char *name)
{
    tml_type type = TML_U8;
    tml_buffer_describe(tml, expected, &type, NULL);
    void *a = fetch(tml, actual, count), *b = fetch(tml, expected, count);
    if (memcmp(a, b, count * tml_type_size(type)) != 0)
        test_fail(__FILE__, __LINE__, "%s: another mesh", name);
    free(a);
    free(b);
}

/* Twice, with fewer points the second time. */
static void check_enqueued(tml_context *tml, const field_case *test)
{
    enum { ROOM = 20000 };
    static point_cloud cloud;
    tml_field_desc field;
    desc_of_case(test, &field, &cloud);
    bool has_radii = test->spread > 0;
    field.radius = (double)(float)field.radius;
    cloud.radii[0] = (float)field.radius; /* the largest */
    field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
    if (has_radii)
        field.radii = buffer_of(tml, TML_F32, cloud.count, cloud.radii);
    field.length.device = buffer_of(tml, TML_U32, 1, NULL);
    field.length.count = cloud.count;
    tml_surface_desc surface = {
        .field = &field,
        .iso = 0.3,
        .normals = TML_NORMALS_CENTRAL,
        .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, NULL),
                 .normals = buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, NULL),
                 .indices = buffer_of(tml, TML_VEC(TML_U32, 3), ROOM, NULL)},
        .counts = buffer_of(tml, TML_U64, 2, NULL)};
    for (uint32_t turn = 1; turn <= 2; turn++) {
        uint64_t counts[2] = {9, 9};
        const uint32_t length = (uint32_t)cloud.count / turn;
        CHECK_OK(tml, tml_buffer_write(tml, field.length.device, 0, 1, &length));
        CHECK_OK(tml, tml_surface_enqueue(tml, &surface));
        CHECK_OK(tml, tml_buffer_read(tml, surface.counts, counts));
        tml_surface_result whole =
            mesh_by_host(tml, &field, has_radii ? cloud.radii : NULL, &surface);
        CHECK(whole.vertex_count > 0 && whole.vertex_count < ROOM && whole.triangle_count < ROOM);
        CHECK_EQ_U64(counts[0], whole.vertex_count);
        CHECK_EQ_U64(counts[1], whole.triangle_count);
        check_same(tml, surface.mesh.positions, whole.mesh.positions, whole.vertex_count,
                   test->name);
        check_same(tml, surface.mesh.normals, whole.mesh.normals, whole.vertex_count, test->name);
        check_same(tml, surface.mesh.indices, whole.mesh.indices, whole.triangle_count, test->name);
        tml_surface_free(tml, &whole);
    }
    field.radius = 0;
    CHECK_STATUS(tml_surface_enqueue(tml, &surface), TML_ERROR_UNSUPPORTED);
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_surface_enqueue(tml, &surface)), 0);
    const tml_buffer buffers[] = {
        field.points,         field.radii,          field.length.device, surface.mesh.positions,
        surface.mesh.normals, surface.mesh.indices, surface.counts};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        tml_buffer_destroy(tml, buffers[i]);
}

TEST(enqueued_fields_are_their_surfaces)
{
    tml_context *cpu = open_cpu(2);
    for (uint32_t d = 0; d <= MAX_DEVICES; d++) {
        tml_context *tml = d < MAX_DEVICES ? device_context(d) : cpu;
        if (tml) {
            check_enqueued(tml, &cases[1]);  /* primes */
            check_enqueued(tml, &cases[8]);  /* anisotropic */
            check_enqueued(tml, &cases[9]);  /* rotated */
            check_enqueued(tml, &cases[15]); /* radii 1:3 */
            check_enqueued(tml, &cases[16]); /* 1:50 */
        }
    }
    tml_close(cpu);
}

/* Known by hand: the kernels' centre and half way, and a sphere's distance along an axis. */
static void check_known_values(tml_context *tml)
{
    const float centre[3] = {0, 0, 0};
    tml_field_desc desc = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 1, centre),
                           .radius = 2.0,
                           .grid = {.dims = {4, 1, 1}}};
    tml_buffer out = buffer_of(tml, TML_F32, 4, NULL);
    static const float half_way[] = {0.1875f, 0.421875f, 0.375f, 0.25f}; /* at q = 1/2 */
    float samples[4];
    for (int kernel = 0; kernel < 4; kernel++) {
        desc.kernel = (tml_field_kernel)kernel;
        CHECK_OK(tml, tml_field(tml, &desc, out));
        CHECK_OK(tml, tml_buffer_read(tml, out, samples));
        CHECK_NEAR((double)samples[0], 1.0, 0.0);
        CHECK_NEAR((double)samples[1], (double)half_way[kernel], 0x1p-22);
        CHECK_NEAR((double)samples[2], 0.0, 0.0);
        CHECK_NEAR((double)samples[3], 0.0, 0.0);
    }
    desc.kind = TML_FIELD_DISTANCE;
    desc.margin = 0.5;
    CHECK_OK(tml, tml_field(tml, &desc, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, samples));
    const double distances[4] = {2.0, 1.0, 0.0, -0.5};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR((double)samples[i], distances[i], 0x1p-22);
}

/* The calls that do the same by themselves: from points on the host, too, of a part of them, of a
 * box. And weights of smoothing: 0 at the last point, which is alone, and 1 in the middle. */
static void check_recipes(tml_context *tml, const tml_field_desc *given, float *points,
                          const float *needed, uint64_t count, int middle)
{
    enum { WAYS = 4 };
    tml_field_desc field = *given;
    tml_buffer host = {0, 0};
    CHECK_OK(tml,
             tml_buffer_create(
                 tml,
                 &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3), .count = count, .host = points},
                 &host));
    for (int way = 0; way < WAYS; way++) {
        double worst = 0;
        field = *given;
        field.points = way == 1 ? host : given->points;
        field.resolution = 99;                         /* they do not depend on the grid */
        field.length.count = way == 2 ? count - 1 : 0; /* without the lone one */
        field.lower[0] = way == 3 ? 3.5 : 0;
        field.upper[0] = way == 3 ? 4.5 : 0;
        tml_field_prepared made;
        CHECK_OK(tml,
                 tml_field_prepare(
                     tml, &(tml_field_prepare_desc){.field = field, .densities = true}, &made));
        CHECK_NEAR(made.iso, 0.6, 0);
        float *found = fetch(tml, made.field.densities, count);
        tml_field_prepared_free(tml, &made);
        for (uint64_t i = 0; i < (way == 2 ? count - 1 : count); i++)
            if (way != 3 || points[3 * i] == 4)
                worst = fmax(worst, fabs((double)found[i] - (double)needed[i]));
        CHECK(worst < 1e-5);
        free(found);
    }

    const double origin[3] = {1, 2, 3};
    float places[6], weights[2];
    const int at[2] = {middle, (int)count - 1};
    for (int i = 0; i < 6; i++)
        places[i] = points[3 * at[i / 3] + i % 3] - (float)origin[i % 3];
    const tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 2, places);
    const tml_buffer made = buffer_of(tml, TML_F32, 2, NULL);
    field = *given;
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    CHECK_OK(tml, tml_field_smooth_weights(tml, &field, vertices, origin, made));
    CHECK_OK(tml, tml_buffer_read(tml, made, weights));
    CHECK_NEAR((double)weights[0], 1, 1e-6);
    CHECK_NEAR((double)weights[1], 0, 0);
    CHECK_STATUS(tml_field_smooth_weights(tml, &field, vertices, origin, vertices),
                 TML_ERROR_INVALID_ARGUMENT);
    field.length.count = count - 1;
    CHECK_STATUS(tml_field_smooth_weights(tml, &field, vertices, origin, made),
                 TML_ERROR_UNSUPPORTED);
    tml_buffer_destroy(tml, host);
    tml_buffer_destroy(tml, vertices);
    tml_buffer_destroy(tml, made);
}

/* By hand: points a unit apart have 6, 12 and 8 others nearer than 2. */
static void check_densities(tml_context *tml)
{
    enum { SIDE = 9, POINTS = SIDE * SIDE * SIDE + 1, SAMPLES = 2 * SIDE - 1 };
    static float points[3 * POINTS], densities[POINTS], values[SAMPLES * SAMPLES * SAMPLES];
    for (int i = 0; i < POINTS; i++) {
        points[3 * i] = (float)(i % SIDE);
        points[3 * i + 1] = (float)(i / SIDE % SIDE);
        points[3 * i + 2] = (float)(i / (SIDE * SIDE) + (i == POINTS - 1 ? 50 : 0));
    }
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points),
                            .radius = 2,
                            .kernel = TML_FIELD_CUBIC_SPLINE,
                            .grid.spacing = {1.5, 1.5, 1.5}};
    const tml_field_mean_desc mean = {.field = &field,
                                      .positions = field.points,
                                      .weights = buffer_of(tml, TML_F32, POINTS, NULL),
                                      .exact_reach = true};
    CHECK_OK(tml, tml_field_mean(tml, &mean));
    CHECK_OK(tml, tml_buffer_read(tml, mean.weights, densities));
    const double inside = 1 + 6 * 0.25 + 12 * 2 * pow(1 - sqrt(0.5), 3) +
                          8 * 2 * pow(1 - sqrt(0.75), 3); /* the spline's norm, pi, but for 3e-4 */
    const int middle = (SIDE * SIDE + SIDE + 1) * (SIDE / 2);
    CHECK_NEAR((double)densities[middle], inside, 1e-5);
    CHECK_NEAR((double)densities[POINTS - 1], 1, 0);

    check_recipes(tml, &field, points, densities, POINTS, middle);
    double iso = 0;
    field.densities = mean.weights;
    field.grid = (tml_grid){.dims = {SAMPLES, SAMPLES, SAMPLES}, .spacing = {0.5, 0.5, 0.5}};
    CHECK_OK(tml, resolve_field(tml, &field, &field, &iso));
    CHECK_NEAR(iso, 0.6, 0);
    tml_buffer out = buffer_of(tml, TML_F32, SAMPLES * SAMPLES * SAMPLES, NULL);
    CHECK_OK(tml, tml_field(tml, &field, out));
    CHECK_OK(tml, tml_buffer_read(tml, out, values));
    for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++) {
        const int at[3] = {i % SAMPLES, i / SAMPLES % SAMPLES, i / (SAMPLES * SAMPLES)};
        bool is_inside = true, is_point = true;
        for (int a = 0; a < 3; a++) {
            is_inside = is_inside && at[a] >= 8 && at[a] <= SAMPLES - 9;
            is_point = is_point && at[a] % 2 == 0;
        }
        if (is_inside) /* points that reach here have all their neighbours */
            CHECK_NEAR((double)values[i], 1, is_point ? 1e-5 : 0.01);
    }
    const tml_buffer buffers[] = {field.points, mean.weights, out};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        tml_buffer_destroy(tml, buffers[i]);
}

TEST(densities_make_one_of_the_inside)
{
    tml_context *cpu = open_cpu(2);
    check_densities(cpu);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_densities(device_context(d));
    tml_close(cpu);
}

TEST(known_values)
{
    tml_context *tml = open_cpu(1);
    check_known_values(tml);
    tml_close(tml);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_known_values(device_context(d));
}

/* ---- resolution ------------------------------------------------------------------------------ */

/* The spacing by looking at all pairs; points of the same place as an earlier one count, or not. */
static double reference_spacing(const float *points, uint64_t count, bool count_all)
{
    double *medians = malloc(count * sizeof *medians);
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        double best[6];
        int have = 0;
        bool repeated = false;
        for (uint64_t j = 0; j < count; j++) {
            double d[3], squared = 0.0;
            for (int a = 0; a < 3; a++) {
                d[a] = (double)points[3 * i + a] - (double)points[3 * j + a];
                squared += d[a] * d[a];
            }
            repeated = repeated || (squared == 0.0 && j < i);
            if (!(squared > 0.0) || !isfinite(squared))
                continue;
            int at = have < 6 ? have++ : squared < best[5] ? 5 : 6;
            for (; at > 0 && at < 6 && best[at - 1] > squared; at--)
                best[at] = best[at - 1];
            if (at < 6)
                best[at] = squared;
        }
        if (have == 0 || (repeated && !count_all))
            continue;
        uint64_t at = found++;
        double length = sqrt(best[have - 1]);
        for (; at > 0 && medians[at - 1] > length; at--)
            medians[at] = medians[at - 1];
        medians[at] = length;
    }
    double median = found ? medians[found / 2] : 0.0;
    free(medians);
    return median;
}

static void check_spacing(tml_context *tml, const float *points, uint64_t count)
{
    double spacing = -1.0;
    CHECK_OK(tml, field_spacing(tml, points, count, &spacing));
    /* Copies of one place move the median only towards that place's value. */
    double all = reference_spacing(points, count, true),
           once = reference_spacing(points, count, false);
    CHECK(spacing >= fmin(all, once) && spacing <= fmax(all, once));
}

TEST(spacing_is_the_median_of_the_sixth_neighbour)
{
    enum { COUNT = 1500 };
    static float points[3 * COUNT];
    tml_context *tml = open_cpu(2);
    uint64_t state = 3;
    static const uint64_t counts[] = {1, 2, 3, 6, 7, 8, 16, 17, 33, 100, 997, COUNT};
    for (size_t i = 0; i < TML_ARRAY_SIZE(counts); i++) {
        for (uint64_t j = 0; j < 3 * COUNT; j++)
            points[j] = (float)(uniform(&state) * 10.0 - 5.0);
        check_spacing(tml, points, counts[i]);
        for (uint64_t j = 0; j < COUNT; j++)
            points[3 * j + 2] = 1.0f; /* a plane */
        check_spacing(tml, points, counts[i]);
        for (uint64_t j = 0; j < COUNT; j++)
            points[3 * j] = floorf(points[3 * j]); /* lines, with ties */
        check_spacing(tml, points, counts[i]);
        for (uint64_t j = 0; j < COUNT; j += 2)
            memset(points + 3 * j, 0, 3 * sizeof(float)); /* half of them coincide */
        check_spacing(tml, points, counts[i]);
        points[0] = 1e30f;
        points[3] = NAN;
        check_spacing(tml, points, counts[i]);
    }
    tml_close(tml);
}

/* Many points in one place must not be compared with one another. */
TEST(spacing_of_coinciding_points_is_quick)
{
    enum { COUNT = 300000 };
    tml_context *tml = open_cpu(2);
    float *points = calloc(3 * COUNT, sizeof *points);
    double spacing = -1.0;
    CHECK_OK(tml, field_spacing(tml, points, COUNT, &spacing));
    CHECK_NEAR(spacing, 0.0, 0.0);
    for (uint64_t i = 0; i < COUNT / 3; i++)
        points[3 * i] = (float)i;
    CHECK_OK(tml, field_spacing(tml, points, COUNT, &spacing));
    CHECK_NEAR(spacing, 3.0, 0.0);
    free(points);
    tml_close(tml);
}

static tml_status resolve_points(tml_context *tml, const float *points, uint64_t count,
                                 tml_field_desc *desc)
{
    desc->points = buffer_of(tml, TML_VEC(TML_F32, 3), count, points);
    tml_field_desc given = *desc;
    double iso = -1.0;
    tml_status status = resolve_field(tml, &given, desc, &iso);
    if (status == TML_OK)
        CHECK_NEAR(iso, desc->kind == TML_FIELD_KERNEL_SUM ? 0.5 : 0.0, 0.0);
    return status;
}

/* A grid's longest side has resolution samples, whatever rounding does to extent and step. */
TEST(resolution_is_kept)
{
    tml_context *tml = NULL;
    uint64_t state = 11;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml)))
        return;
    for (uint32_t resolution = 8; resolution < 800; resolution++) {
        float points[6];
        for (int i = 0; i < 6; i++)
            points[i] = (float)(1000 * uniform(&state));
        tml_field_desc desc = {
            .points = buffer_of(tml, TML_VEC(TML_F32, 3), 2, points),
            .radius = 0.1 + uniform(&state),
            .resolution = resolution,
        };
        if (CHECK_OK(tml, resolve_field(tml, &desc, &desc, NULL))) {
            const uint64_t *dims = desc.grid.dims;
            uint64_t most = dims[0] > dims[1] ? dims[0] : dims[1];
            CHECK_EQ_U64(most > dims[2] ? most : dims[2], resolution);
        }
        tml_buffer_destroy(tml, desc.points);
    }
    tml_close(tml);
}

/* Every border sample of an automatic grid is background: the surface closes inside. */
static void check_closed(tml_context *tml, const tml_field_desc *desc)
{
    const uint64_t *dims = desc->grid.dims;
    uint64_t count = dims[0] * dims[1] * dims[2], inside = 0;
    if (!CHECK(count > 0 && count <= 1u << 24))
        return;
    tml_buffer out = buffer_of(tml, TML_F32, count, NULL);
    void *memory;
    CHECK_OK(tml, tml_field(tml, desc, out));
    CHECK_OK(tml, tml_buffer_map(tml, out, &memory));
    const float *samples = memory;
    double iso = desc->kind == TML_FIELD_KERNEL_SUM ? 0.5 : 0.0;
    for (uint64_t s = 0; s < count; s++) {
        uint64_t at[3] = {s % dims[0], s / dims[0] % dims[1], s / dims[0] / dims[1]};
        bool border = false;
        for (int a = 0; a < 3; a++)
            border = border || at[a] == 0 || at[a] == dims[a] - 1;
        inside += (double)samples[s] >= iso;
        if (border && !CHECK((double)samples[s] < iso))
            break;
    }
    CHECK(inside > 0);
    tml_buffer_unmap(tml, out);
    tml_buffer_destroy(tml, out);
}

TEST(automatic_grids_close)
{
    tml_context *tml = open_cpu(2);
    static float lattice[3 * 1000], line[3 * 50];
    for (int i = 0; i < 1000; i++) {
        lattice[3 * i] = (float)(i % 10) * 0.25f - 100.0f;
        lattice[3 * i + 1] = (float)(i / 10 % 10) * 0.25f;
        lattice[3 * i + 2] = (float)(i / 100) * 0.25f + 7.0f;
    }
    for (int i = 0; i < 50; i++)
        line[3 * i + 1] = (float)i * 3.0f;
    const float one[3] = {1e6f, -1e6f, 1e6f};
    const float same[9] = {4, 5, 6, 4, 5, 6, 4, 5, 6};
    struct {
        const float *points;
        uint64_t count;
        double spacing;
    } clouds[] = {
        {lattice, 1000, 0.25}, {lattice, 100, 0.25}, {line, 50, 9}, {one, 1, 1}, {same, 3, 1}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(clouds); i++)
        for (int kind = 0; kind < 2; kind++) {
            tml_field_desc desc = {.kind = (tml_field_kind)kind};
            CHECK_OK(tml, resolve_points(tml, clouds[i].points, clouds[i].count, &desc));
            CHECK(desc.radius > 0.0);
            if (i == 0 || i > 1)
                CHECK_NEAR(desc.radius, (kind == 0 ? 2.0 : 1.0) * clouds[i].spacing,
                           1e-6 * desc.radius);
            check_closed(tml, &desc);
            desc = (tml_field_desc){.kind = (tml_field_kind)kind, .resolution = 40};
            memcpy(desc.grid.direction, rotated, sizeof rotated);
            CHECK_OK(tml, resolve_points(tml, clouds[i].points, clouds[i].count, &desc));
            uint64_t longest = 0;
            for (int a = 0; a < 3; a++)
                longest = TML_MAX_OF(longest, desc.grid.dims[a]);
            CHECK(longest >= 38 && longest <= 42);
            check_closed(tml, &desc);
            desc = (tml_field_desc){.kind = (tml_field_kind)kind, .resolution = 16};
            CHECK_OK(tml, resolve_points(tml, clouds[i].points, clouds[i].count, &desc));
            check_closed(tml, &desc);
        }
    tml_close(tml);
}

TEST(radii_of_points_decide_the_grid)
{
    tml_context *tml = open_cpu(1);
    const float points[9] = {0, 0, 0, 10, 0, 0, NAN, 0, 0};
    const float radii[3] = {1.0f, 4.0f, 1e9f};
    tml_field_desc desc = {.kind = TML_FIELD_DISTANCE, .radii = buffer_of(tml, TML_F32, 3, radii)};
    CHECK_OK(tml, resolve_points(tml, points, 3, &desc));
    double right = desc.grid.origin[0] + desc.grid.spacing[0] * (double)(desc.grid.dims[0] - 1);
    CHECK(desc.grid.origin[0] < -1.0 && desc.grid.origin[0] > -3.0);
    CHECK(right > 14.0 && right < 16.0);
    CHECK(desc.radius == 4.0); /* of points that are somewhere */
    check_closed(tml, &desc);
    tml_field_desc cut = {.kind = TML_FIELD_DISTANCE, .radii = desc.radii, .radius = 2.1};
    CHECK_OK(tml, resolve_points(tml, points, 3, &cut));
    right = cut.grid.origin[0] + cut.grid.spacing[0] * (double)(cut.grid.dims[0] - 1);
    CHECK(right > 12.1 && right < 13.5 && cut.radius == (double)2.1f);
    check_closed(tml, &cut);
    tml_close(tml);
}

TEST(outliers_neither_crash_nor_allocate_absurdly)
{
    tml_context *tml = open_cpu(1);
    float points[3 * 101] = {0};
    for (int i = 0; i < 100; i++)
        points[3 * i] = (float)i;
    points[300] = 1e20f;
    tml_field_desc desc = {.grid = {.dims = {0}}};
    CHECK_OK(tml, resolve_points(tml, points, 101, &desc));
    check_closed(tml, &desc);
    desc = (tml_field_desc){.grid = {.spacing = {0.5, 0.5, 0.5}}};
    CHECK_STATUS(resolve_points(tml, points, 101, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "101 points") != NULL);
    CHECK(strstr(tml_last_error(tml), "e+20") != NULL);
    points[300] = -3e38f;
    points[301] = 3e38f;
    desc = (tml_field_desc){.grid = {.dims = {0}}};
    CHECK_STATUS(resolve_points(tml, points, 101, &desc), TML_ERROR_INVALID_ARGUMENT);
    /* A grid given around the others is fine. */
    desc = (tml_field_desc){.grid = {.dims = {50, 20, 20}, .origin = {-2, -10, -10}}};
    CHECK_OK(tml, resolve_points(tml, points, 101, &desc));
    tml_buffer out = buffer_of(tml, TML_F32, 50 * 20 * 20, NULL);
    CHECK_OK(tml, tml_field(tml, &desc, out));
    tml_close(tml);
}

/* A plan's memory follows its points, not its grid. */
TEST(large_grids_of_few_points_have_small_plans)
{
    tml_context *tml = open_cpu(1);
    const float points[6] = {0, 0, 0, 9000, 9000, 9000};
    tml_field_desc desc = {.radius = 2.0, .grid = {.dims = {10000, 10000, 10000}}};
    CHECK_OK(tml, resolve_points(tml, points, 2, &desc));
    field_plan *plan = NULL;
    CHECK_OK(tml, field_plan_create(tml, &desc, &plan));
    CHECK(plan->bin_count <= 4096);
    CHECK(!field_slab_is_empty(plan, 0, 8));
    CHECK(field_slab_is_empty(plan, 5000, 1000));
    CHECK(!field_slab_is_empty(plan, 8992, 16));
    field_plan_destroy(tml, plan);
    tml_close(tml);
}

/* ---- surfaces without the samples ------------------------------------------------------------ */

static void check_mesh(tml_context *tml, const tml_surface_desc *of_field, tml_buffer samples,
                       const char *name)
{
    tml_surface_desc of_samples = *of_field;
    tml_surface_result actual = {0}, expected = {0};
    of_samples.field = NULL;
    of_samples.volume = samples;
    of_samples.grid = of_field->field->grid;
    if (!CHECK_OK(tml, tml_surface(tml, of_field, &actual)) ||
        !CHECK_OK(tml, tml_surface(tml, &of_samples, &expected)))
        return;
    CHECK_EQ_U64(actual.vertex_count, expected.vertex_count);
    CHECK_EQ_U64(actual.triangle_count, expected.triangle_count);
    if (actual.vertex_count == expected.vertex_count && actual.vertex_count > 0) {
        check_same(tml, actual.mesh.positions, expected.mesh.positions, actual.vertex_count, name);
        if (of_field->normals)
            check_same(tml, actual.mesh.normals, expected.mesh.normals, actual.vertex_count, name);
    }
    if (actual.triangle_count == expected.triangle_count && actual.triangle_count > 0)
        check_same(tml, actual.mesh.indices, expected.mesh.indices, actual.triangle_count, name);
    tml_surface_free(tml, &actual);
    tml_surface_free(tml, &expected);
}

/* A surface on the CPU evaluates only bricks that it needs: where points are, and then around its
 * vertices. */
TEST(surfaces_of_fields_are_those_of_their_samples)
{
    static const struct {
        const char *name;
        uint64_t dims[3], count;
        double radius;
        tml_region region;
    } fields[] = {{"full", {41, 35, 29}, 300, 5.5, {{0}, {0}}},
                  {"sparse", {150, 67, 70}, 60, 3.1, {{0}, {0}}},
                  {"cut", {150, 67, 70}, 200, 3.1, {{3, 9, 6}, {131, 50, 33}}},
                  {"cut to bricks", {150, 67, 70}, 200, 3.1, {{16, 8, 8}, {64, 24, 16}}},
                  {"slabs", {2100, 760, 25}, 400, 3.1, {{0}, {0}}}};
    static const double isos[] = {0.3, -0.2, 0.0, 0.9};
    static point_cloud cloud;
    tml_context *tml = open_cpu(2);
    for (size_t f = 0; f < TML_ARRAY_SIZE(fields); f++)
        for (int kind = TML_FIELD_KERNEL_SUM; kind <= TML_FIELD_DISTANCE; kind++) {
            tml_field_desc field = {
                .kind = (tml_field_kind)kind,
                .radius = fields[f].radius,
                .grid = {.spacing = {1, 1, 1}, .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
            memcpy(field.grid.dims, fields[f].dims, sizeof field.grid.dims);
            make_cloud(&cloud, &field.grid, fields[f].count, fields[f].radius, 1.0);
            field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
            const uint64_t *dims = fields[f].dims;
            tml_buffer samples = buffer_of(tml, TML_F32, dims[0] * dims[1] * dims[2], NULL);
            CHECK_OK(tml, tml_field(tml, &field, samples));
            for (uint32_t n = 0; n <= TML_NORMALS_SOBEL; n++) {
                tml_surface_desc desc = {.field = &field,
                                         .iso = isos[n],
                                         .region = fields[f].region,
                                         .normals = (tml_normals)n,
                                         .caps = n % 2 == 0};
                check_mesh(tml, &desc, samples, fields[f].name);
                desc.topology = TML_TOPOLOGY_TRILINEAR;
                desc.caps = !desc.caps;
                desc.isovalues = isos + n / 2;
                desc.isovalue_count = 3;
                if (f < TML_ARRAY_SIZE(fields) - 1)
                    check_mesh(tml, &desc, samples, fields[f].name);
            }
            tml_buffer_destroy(tml, samples);
            tml_buffer_destroy(tml, field.points);
        }
    tml_close(tml);
}

/* ---- lattices -------------------------------------------------------------------------------- */

enum { FLUID = 3000, LATTICE_VERTICES = 1 << 16 };

/* A drop of a fluid: points in a ball of radius 1 around 0, at multiples of 2^-12. */
static void make_drop(float *points)
{
    uint64_t state = 5;
    for (uint64_t i = 0; i < FLUID;) {
        double p[3], squared = 0.0;
        for (int a = 0; a < 3; a++) {
            p[a] = floor((2.0 * uniform(&state) - 1.0) * 4096.0) / 4096.0;
            squared += p[a] * p[a];
        }
        if (squared > 1.0)
            continue;
        for (int a = 0; a < 3; a++)
            points[3 * i + (uint64_t)a] = (float)p[a];
        i++;
    }
}

static int compare_vertices(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(float));
}

/* The surface's vertices less origin, sorted by their bits; returns how many. */
static uint64_t lattice_surface(tml_context *tml, const float *points, uint64_t count, double cell,
                                const double origin[3], tml_grid *grid, float *vertices)
{
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), count, points),
                            .radius = 0.25,
                            .grid = {.spacing = {cell, cell, cell}}};
    tml_surface_result result = {0};
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    *grid = field.grid;
    tml_surface_desc desc = {.field = &field, .iso = 0.5};
    memcpy(desc.position_origin, origin, sizeof desc.position_origin);
    if (CHECK_OK(tml, tml_surface(tml, &desc, &result)) &&
        CHECK(result.vertex_count > 100 && result.vertex_count <= LATTICE_VERTICES))
        CHECK_OK(tml, tml_buffer_read(tml, result.mesh.positions, vertices));
    uint64_t vertex_count = result.vertex_count;
    qsort(vertices, vertex_count, 3 * sizeof *vertices, compare_vertices);
    tml_surface_free(tml, &result);
    tml_buffer_destroy(tml, field.points);
    return vertex_count;
}

/* How many of the sorted vertices of a are among those of b? */
static uint64_t vertices_in(const float *a, uint64_t a_count, const float *b, uint64_t b_count)
{
    uint64_t found = 0;
    for (uint64_t i = 0, k = 0; i < a_count; i++) {
        while (k < b_count && compare_vertices(b + 3 * k, a + 3 * i) < 0)
            k++;
        found += k < b_count && compare_vertices(b + 3 * k, a + 3 * i) == 0;
    }
    return found;
}

static float drop[3 * (FLUID + 1)], moved_drop[3 * (FLUID + 1)];
static float still[3 * LATTICE_VERTICES], moved[3 * LATTICE_VERTICES];

/* Points moved by whole cells: by bricks of them the same mesh bit for bit; by others, where bricks
 * sum in another order, as many vertices within rounding. */
TEST(translation_by_cells_translates_the_mesh)
{
    static const double cells[][3] = {
        {8, 0, 0}, {0, -16, 0}, {-800, 80, 24}, {1, 0, 0}, {-3, 5, 7}};
    const double cell = 0x1p-4, zero[3] = {0, 0, 0};
    tml_grid grid;
    make_drop(drop);
    tml_context *tml = open_cpu(2);
    uint64_t count = lattice_surface(tml, drop, FLUID, cell, zero, &grid, still);
    for (size_t i = 0; i < TML_ARRAY_SIZE(cells); i++) {
        double by[3], worst = 0.0;
        for (int a = 0; a < 3; a++)
            by[a] = cells[i][a] * cell;
        for (uint64_t k = 0; k < 3 * FLUID; k++)
            moved_drop[k] = (float)((double)drop[k] + by[k % 3]);
        uint64_t again = lattice_surface(tml, moved_drop, FLUID, cell, by, &grid, moved);
        CHECK_EQ_U64(again, count);
        if (i < 3) {
            CHECK_EQ_U64(vertices_in(still, count, moved, again), count);
            continue;
        }
        for (uint64_t v = 0; v < count && i < 4; v++) { /* each has one near */
            double nearest = INFINITY;
            for (uint64_t w = 0; w < again; w++) {
                double d = 0.0;
                for (int a = 0; a < 3; a++)
                    d += fabs((double)still[3 * v + (uint64_t)a] -
                              (double)moved[3 * w + (uint64_t)a]);
                nearest = fmin(nearest, d);
            }
            worst = fmax(worst, nearest);
        }
        CHECK(worst < 1e-4 * cell);
    }
    tml_close(tml);
}

/* A splash that flies away makes the grid larger, and changes no vertex of the rest. */
TEST(a_far_point_changes_no_vertex)
{
    static const float places[][3] = {{3, 0, 0}, {-2.7f, 0.1f, 0}, {0.3f, -7, 4}, {-9, -9, -9}};
    static const double cells[] = {0x1p-4, 0x1p-3, 0.06};
    const double zero[3] = {0, 0, 0};
    tml_grid grid, larger;
    make_drop(drop);
    tml_context *tml = open_cpu(2);
    for (size_t c = 0; c < TML_ARRAY_SIZE(cells); c++) {
        uint64_t count = lattice_surface(tml, drop, FLUID, cells[c], zero, &grid, still);
        for (size_t i = 0; i < TML_ARRAY_SIZE(places); i++) {
            memcpy(drop + 3 * FLUID, places[i], sizeof places[i]);
            uint64_t more = lattice_surface(tml, drop, FLUID + 1, cells[c], zero, &larger, moved);
            CHECK(more > count);
            CHECK(memcmp(grid.dims, larger.dims, sizeof grid.dims) != 0);
            uint64_t same = vertices_in(still, count, moved, more);
            if (c < 2)
                CHECK_EQ_U64(same, count);
            else /* 0.06 is no float: a point may be rounded otherwise */
                CHECK(same >= count - count / 100);
        }
    }
    tml_close(tml);
}

/* Frames of a sequence: every sample lies on one lattice, which goes through the desc's origin. */
TEST(frames_share_a_lattice)
{
    tml_context *tml = open_cpu(1);
    make_drop(drop);
    for (int frame = 0; frame < 12; frame++) {
        tml_field_desc desc = {.radius = 0.2,
                               .grid = {.spacing = {0.07, 0.05, 0.06}, .origin = {0.01, -3, 50}}};
        const double origin[3] = {0.01, -3, 50};
        bool is_rotated = frame % 2 == 1;
        if (is_rotated)
            memcpy(desc.grid.direction, rotated, sizeof rotated);
        for (uint64_t k = 0; k < 3 * FLUID; k++)
            moved_drop[k] = drop[k] + 0.0123f * (float)(frame * (int)(k % 3));
        CHECK_OK(tml, resolve_points(tml, moved_drop, FLUID, &desc));
        double inverse[9];
        CHECK(field_invert(desc.grid.direction, inverse));
        for (int a = 0; a < 3; a++) {
            double steps = 0.0;
            for (int k = 0; k < 3; k++)
                steps += inverse[3 * a + k] * (desc.grid.origin[k] - origin[k]);
            steps /= desc.grid.spacing[a];
            CHECK_NEAR(steps, round(steps), 1e-9);
            CHECK_NEAR(fmod(round(steps), FIELD_BRICK), 0.0, 0.0);
        }
        check_closed(tml, &desc);
        tml_buffer_destroy(tml, desc.points);
    }
    tml_close(tml);
}

/* Bounds cut, and leave the samples inside as they are. */
TEST(bounds_are_kept)
{
    tml_context *tml = open_cpu(1);
    make_drop(drop);
    tml_field_desc desc = {.radius = 0.25,
                           .grid = {.spacing = {0.125, 0.125, 0.125}},
                           .lower = {-0.5, -INFINITY, 0},
                           .upper = {0.3, 0.25, 0}};
    CHECK_OK(tml, resolve_points(tml, drop, FLUID, &desc));
    const tml_grid *grid = &desc.grid;
    CHECK_NEAR(grid->origin[0], -0.5, 0.0);
    CHECK_EQ_U64(grid->dims[0], 8); /* -0.5 to 0.375 */
    CHECK_NEAR(grid->origin[1], -2.0, 0.0);
    CHECK_EQ_U64(grid->dims[1], 19); /* to 0.25 */
    CHECK_NEAR(grid->origin[2], -2.0, 0.0);
    CHECK_EQ_U64(grid->dims[2], 29); /* to 1.25 and two steps more */
    for (int a = 0; a < 3; a++)
        CHECK(desc.lower[a] == 0.0 &&
              desc.upper[a] == 0.0); /* resolved: resolving again is no error */
    CHECK_OK(tml, resolve_field(tml, &desc, &desc, NULL));

    /* Without a spacing, the longest side still has resolution samples. */
    desc = (tml_field_desc){
        .radius = 0.25, .resolution = 33, .lower = {-4, -1, -1}, .upper = {4, 1, 1}};
    CHECK_OK(tml, resolve_points(tml, drop, FLUID, &desc));
    CHECK_EQ_U64(grid->dims[0], 33);
    CHECK_NEAR(grid->origin[0], -4.0, 0.0);
    CHECK_NEAR(grid->origin[0] + 32 * grid->spacing[0], 4.0, 1e-12);
    CHECK_EQ_U64(grid->dims[1], 9);

    desc = (tml_field_desc){.radius = 0.25, .lower = {5, 0, 0}, .upper = {INFINITY, 0, 0}};
    CHECK_STATUS(resolve_points(tml, drop, FLUID, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "lower[0] is 5") != NULL);
    desc = (tml_field_desc){.lower = {0, 2, 0}, .upper = {0, 1, 0}};
    CHECK_STATUS(resolve_points(tml, drop, FLUID, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = (tml_field_desc){.lower = {0, NAN, 0}, .upper = {0, 1, 0}};
    CHECK_STATUS(resolve_points(tml, drop, FLUID, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = (tml_field_desc){.grid.dims = {8, 8, 8}, .upper = {0, 1, 0}};
    CHECK_STATUS(resolve_points(tml, drop, FLUID, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = (tml_field_desc){.radius = 1e-20, .grid.spacing = {1e-20, 1e-20, 1e-20}};
    CHECK_STATUS(resolve_points(tml, drop + 3, 1, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "2^50") != NULL);
    tml_close(tml);
}

/* ---- means ----------------------------------------------------------------------------------- */

enum { MEAN_POSITIONS = 300 };

/* The kernel-weighted mean of the values at a position, and the error that it may have: of each
 * weight that of a sample's share, of the position that of its floats. */
static void reference_mean(const tml_field_desc *desc, const point_cloud *cloud, const double at[3],
                           const float *values, uint32_t width, double out[4], double bound[4])
{
    const double ulp = 0x1p-24;
    bool distance = desc->kind == TML_FIELD_DISTANCE;
    double step = 0.0, weights[MAX_POINTS], errors[MAX_POINTS], total = 0.0;
    for (int a = 0; a < 3; a++) {
        const double *d = desc->grid.direction;
        double length =
            desc->grid.spacing[a] * sqrt(d[a] * d[a] + d[3 + a] * d[3 + a] + d[6 + a] * d[6 + a]);
        step = fmax(step, length);
    }
    for (uint64_t i = 0; i < cloud->count; i++) {
        const float *p = cloud->points + 3 * i;
        double radius = radius_of(desc, cloud, i);
        weights[i] = errors[i] = 0.0;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]) || !(radius > 0.0))
            continue;
        double squared = 0.0;
        for (int a = 0; a < 3; a++)
            squared += ((double)p[a] - at[a]) * ((double)p[a] - at[a]);
        double reach = (distance ? radius + desc->margin : radius) + step;
        weights[i] = reference_weight(distance ? TML_FIELD_WENDLAND_C2 : desc->kernel,
                                      sqrt(squared) / reach);
        errors[i] = sqrt(squared) < 1.001 * reach ? ulp * (64.0 + 1024.0 * step / reach) : 0.0;
        total += weights[i];
    }
    for (uint32_t c = 0; c < width; c++) {
        double sum = 0.0, magnitude = 0.0, error = 0.0;
        for (uint64_t i = 0; i < cloud->count; i++)
            sum += weights[i] > 0.0 ? weights[i] * (double)values[width * i + c] : 0.0;
        out[c] = total > 0.0 ? sum / total : 0.0;
        for (uint64_t i = 0; i < cloud->count; i++) {
            if (errors[i] == 0.0)
                continue; /* whatever its value is */
            magnitude += weights[i] * fabs((double)values[width * i + c]);
            error += errors[i] * fabs((double)values[width * i + c] - out[c]);
        }
        bound[c] = total > 0.0 ? (error + 1e-5 * magnitude) / total : 0.0;
    }
}

/* The means at positions, on a context; position_origin is the grid's. */
static void means_on(tml_context *tml, const tml_field_desc *known, const point_cloud *cloud,
                     const float *positions, float *const values[4], float *const out[4])
{
    tml_field_desc field = *known;
    field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, cloud->points);
    if (!tml_buffer_is_none(known->radii))
        field.radii = buffer_of(tml, TML_F32, cloud->count, cloud->radii);
    tml_field_mean_desc desc = {.field = &field,
                                .positions =
                                    buffer_of(tml, TML_VEC(TML_F32, 3), MEAN_POSITIONS, positions)};
    memcpy(desc.position_origin, known->grid.origin, sizeof desc.position_origin);
    for (uint32_t w = 0; w < 4; w++) {
        tml_type type = w ? TML_VEC(TML_F32, w + 1) : TML_F32;
        const tml_buffer_desc on_host = {.type = type, .count = cloud->count, .host = values[w]};
        if (w == 1)
            CHECK_OK(tml, tml_buffer_create(tml, &on_host, &desc.values[2 * w]));
        else
            desc.values[2 * w] = buffer_of(tml, type, cloud->count, values[w]);
        desc.means[2 * w] = buffer_of(tml, type, MEAN_POSITIONS, NULL);
    }
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    for (uint32_t w = 0; w < 4; w++) {
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[2 * w], out[w]));
        tml_buffer_destroy(tml, desc.means[2 * w]);
        tml_buffer_destroy(tml, desc.values[2 * w]);
    }
    tml_buffer_destroy(tml, desc.positions);
    tml_buffer_destroy(tml, field.points);
    tml_buffer_destroy(tml, field.radii);
}

/* Positions within the grid, so far from its border that no point beyond has a weight there; false:
 * there are none. */
static bool make_positions(const tml_field_desc *desc, float *positions)
{
    double inverse[9], step = 0.0;
    uint64_t state = 17;
    CHECK(field_invert(desc->grid.direction, inverse));
    for (int a = 0; a < 3; a++) {
        const double *d = desc->grid.direction;
        step = fmax(step, desc->grid.spacing[a] *
                              sqrt(d[a] * d[a] + d[3 + a] * d[3 + a] + d[6 + a] * d[6 + a]));
    }
    for (int i = 0; i < MEAN_POSITIONS; i++) {
        double index[3], world[3];
        for (int a = 0; a < 3; a++) {
            const double *row = inverse + 3 * a;
            double border = 0.01 + step / desc->grid.spacing[a] *
                                       sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
            double room = (double)(desc->grid.dims[a] - 1) - 2.0 * border;
            if (room < 0.0)
                return false;
            index[a] = border + room * uniform(&state);
        }
        to_world(&desc->grid, index, world);
        for (int a = 0; a < 3; a++)
            positions[3 * i + a] = (float)(world[a] - desc->grid.origin[a]);
    }
    return true;
}

static void check_means(const tml_field_desc *desc, const point_cloud *cloud,
                        const float *positions, float *const values[4], float *const out[4],
                        const char *name)
{
    uint64_t wrong = 0;
    for (int i = 0; i < MEAN_POSITIONS; i++)
        for (uint32_t w = 0; w < 4; w++) {
            double at[3], expected[4], bound[4];
            for (int a = 0; a < 3; a++)
                at[a] = (double)positions[3 * i + a] + desc->grid.origin[a];
            reference_mean(desc, cloud, at, values[w], w + 1, expected, bound);
            for (uint32_t c = 0; c <= w; c++) {
                double found = (double)out[w][(w + 1) * (uint32_t)i + c];
                if (!(fabs(found - expected[c]) <= bound[c]) && wrong++ < 2)
                    test_fail(__FILE__, __LINE__, "%s: mean %d of width %u is %.9g, not %.9g (%g)",
                              name, i, w + 1, found, expected[c], bound[c]);
            }
        }
    CHECK_EQ_U64(wrong, 0);
}

static void means_of_case(const field_case *test, tml_field_kind kind, tml_field_kernel kernel)
{
    static point_cloud cloud;
    static float positions[3 * MEAN_POSITIONS], values[4][4 * MAX_POINTS];
    static float out[4][4 * MEAN_POSITIONS], again[4][4 * MEAN_POSITIONS];
    float *const all_values[4] = {values[0], values[1], values[2], values[3]};
    float *const all_out[4] = {out[0], out[1], out[2], out[3]};
    float *const all_again[4] = {again[0], again[1], again[2], again[3]};
    uint64_t state = 99;
    tml_field_desc desc = {.kind = kind, .kernel = kernel, .radius = test->radius};
    if (test->spread > 0) /* whose largest is to be found, or given: some are cut */
        desc.radius = test->spread > 3 ? 0.0 : 0.7 * test->radius;
    memcpy(desc.grid.dims, test->dims, sizeof test->dims);
    memcpy(desc.grid.spacing, test->spacing, sizeof test->spacing);
    memcpy(desc.grid.origin, test->origin, sizeof test->origin);
    memcpy(desc.grid.direction, test->direction, sizeof desc.grid.direction);
    if (!make_positions(&desc, positions))
        return;
    make_cloud(&cloud, &desc.grid, test->points, test->radius, test->spread > 0 ? test->spread : 1);
    for (uint64_t i = 0; i < 4 * MAX_POINTS; i++)
        for (int w = 0; w < 4; w++)
            values[w][i] = (float)(10.0 * uniform(&state) - 3.0);
    tml_context *tml = open_cpu(1), *tml2 = open_cpu(2);
    tml_field_desc given = desc;
    given.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
    if (test->spread > 0)
        given.radii = buffer_of(tml, TML_F32, cloud.count, cloud.radii);
    CHECK_OK(tml, resolve_field(tml, &given, &desc, NULL));
    means_on(tml, &desc, &cloud, positions, all_values, all_out);
    check_means(&desc, &cloud, positions, all_values, all_out, test->name);
    means_on(tml2, &desc, &cloud, positions, all_values, all_again);
    CHECK(memcmp(out, again, sizeof out) == 0);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d)) {
            means_on(device_context(d), &desc, &cloud, positions, all_values, all_again);
            check_means(&desc, &cloud, positions, all_values, all_again, test->name);
        }
    tml_close(tml2);
    tml_close(tml);
}

TEST(means_agree_with_the_reference)
{
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++)
        means_of_case(&cases[i], i % 4 == 3 ? TML_FIELD_DISTANCE : TML_FIELD_KERNEL_SUM,
                      (tml_field_kernel)(i % 4));
}

/* As many means as positions, whatever surrounds them: of a position that is no place, or of none
 * near, 0; of ignored points nothing, also where their values are NaN. */
static void check_mean_lengths(tml_context *tml)
{
    enum { ROOM = 260, ODD = 7 };
    static const uint64_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    static const float odd[ODD][3] = {
        {NAN, 5, 5},       {5, NAN, 5},   {5, 5, -NAN},           {INFINITY, 5, 5},
        {5, -INFINITY, 5}, {5, 5, 1e30f}, {-3e38f, -3e38f, 3e38f}};
    static point_cloud cloud;
    static float positions[3 * MEAN_POSITIONS], values[3 * MAX_POINTS], narrow[MAX_POINTS];
    static float found[3 * ROOM], found_narrow[ROOM], untouched[3 * ROOM];
    tml_field_desc field;
    desc_of_case(&cases[1], &field, &cloud);
    CHECK(make_positions(&field, positions));
    memcpy(positions, odd, sizeof odd);
    uint64_t state = 3;
    for (uint64_t i = 0; i < cloud.count; i++) {
        for (int a = 0; a < 3; a++)
            values[3 * i + a] = isfinite(cloud.points[3 * i] + cloud.points[3 * i + 2])
                                    ? (float)uniform(&state)
                                    : NAN;
        narrow[i] = values[3 * i];
    }
    for (int i = 0; i < 3 * ROOM; i++)
        untouched[i] = -1.0f;
    field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points);
    tml_field_mean_desc desc = {.field = &field,
                                .positions = buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, positions),
                                .values = {buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, values),
                                           buffer_of(tml, TML_F32, cloud.count, narrow)},
                                .means = {buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, NULL),
                                          buffer_of(tml, TML_F32, ROOM, NULL)}};
    for (size_t l = 0; l < TML_ARRAY_SIZE(lengths); l++) {
        uint64_t wrong = 0;
        desc.length = tml_length_of(lengths[l]);
        CHECK_OK(tml, tml_buffer_write(tml, desc.means[0], 0, ROOM, untouched));
        CHECK_OK(tml, tml_buffer_write(tml, desc.means[1], 0, ROOM, untouched));
        CHECK_OK(tml, tml_field_mean(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[0], found));
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[1], found_narrow));
        for (uint64_t i = 0; i < ROOM; i++) {
            double at[3] = {(double)positions[3 * i], (double)positions[3 * i + 1],
                            (double)positions[3 * i + 2]};
            double expected[4] = {0, 0, 0, 0}, bound[4] = {0, 0, 0, 0};
            if (i >= lengths[l])
                expected[0] = expected[1] = expected[2] = -1.0;
            else if (i >= ODD)
                reference_mean(&field, &cloud, at, values, 3, expected, bound);
            for (uint64_t c = 0; c < 3; c++)
                wrong += !(fabs((double)found[3 * i + c] - expected[c]) <= bound[c]);
            wrong += !(fabs((double)found_narrow[i] - expected[0]) <= bound[0]);
        }
        CHECK_EQ_U64(wrong, 0);
    }
    const tml_buffer buffers[] = {field.points,  desc.positions, desc.values[0],
                                  desc.means[0], desc.values[1], desc.means[1]};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        tml_buffer_destroy(tml, buffers[i]);
}

TEST(means_of_any_positions)
{
    tml_context *cpu = open_cpu(2);
    check_mean_lengths(cpu);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_mean_lengths(device_context(d));
    tml_close(cpu);
}

/* However many attributes come in one call, and of whatever widths: bit for bit what each alone
 * has. */
static void check_together(tml_context *tml, const tml_field_desc *field, tml_buffer positions,
                           uint32_t count, uint32_t first_width)
{
    static float values[4 * FLUID], alone[4 * MEAN_POSITIONS], found[4 * MEAN_POSITIONS];
    tml_field_mean_desc desc = {.field = field, .positions = positions};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = (first_width + i * 5) % 4 + 1;
        tml_type type = width > 1 ? TML_VEC(TML_F32, width) : TML_F32;
        for (uint32_t k = 0; k < FLUID * width; k++)
            values[k] = (float)((k * 7919 + i) % 1009) / 64.0f - 5.0f;
        desc.values[i] = buffer_of(tml, type, FLUID, values);
        desc.means[i] = buffer_of(tml, type, MEAN_POSITIONS, NULL);
    }
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    for (uint32_t i = 0; i < count; i++) {
        size_t size = MEAN_POSITIONS * sizeof(float) * ((first_width + i * 5) % 4 + 1);
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[i], found));
        CHECK_OK(tml, tml_field_mean(tml, &(tml_field_mean_desc){.field = field,
                                                                 .positions = positions,
                                                                 .values = {desc.values[i]},
                                                                 .means = {desc.means[i]}}));
        CHECK_OK(tml, tml_buffer_read(tml, desc.means[i], alone));
        if (!CHECK(memcmp(alone, found, size) == 0))
            printf("    attribute %u of %u, widths from %u\n", i, count, first_width);
        tml_buffer_destroy(tml, desc.values[i]);
        tml_buffer_destroy(tml, desc.means[i]);
    }
}

static void check_all_together(tml_context *tml)
{
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop),
                            .radius = 0.2,
                            .grid = {.spacing = {0.07, 0.07, 0.07}}};
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    tml_buffer positions = buffer_of(tml, TML_VEC(TML_F32, 3), MEAN_POSITIONS, drop);
    for (uint32_t count = 2; count <= TML_FIELD_MAX_ATTRIBUTES; count++)
        for (uint32_t width = 0; width < 4; width++)
            check_together(tml, &field, positions, count, width);
    tml_buffer_destroy(tml, field.points);
    tml_buffer_destroy(tml, positions);
}

TEST(attributes_together_are_those_alone)
{
    make_drop(drop);
    tml_context *cpu = open_cpu(2);
    check_all_together(cpu);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_all_together(device_context(d));
    tml_close(cpu);
}

/* The sum of the weights, alone and beside a mean. */
static void check_weights(tml_context *tml)
{
    static float values[FLUID], weights[MEAN_POSITIONS], again[MEAN_POSITIONS];
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop),
                            .radius = 0.2,
                            .grid = {.spacing = {0.07, 0.07, 0.07}}};
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    tml_field_mean_desc desc = {.field = &field,
                                .positions =
                                    buffer_of(tml, TML_VEC(TML_F32, 3), MEAN_POSITIONS, drop),
                                .weights = buffer_of(tml, TML_F32, MEAN_POSITIONS, NULL)};
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.weights, weights));
    double worst = 0, most = 0;
    for (uint64_t i = 0; i < MEAN_POSITIONS; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < FLUID; k++) {
            double squares = 0;
            for (int a = 0; a < 3; a++)
                squares += pow((double)drop[3 * i + a] - (double)drop[3 * k + a], 2);
            double q = fmin(sqrt(squares) / 0.27, 1);
            sum += pow(1 - q, 4) * (4 * q + 1);
        }
        worst = fmax(worst, fabs((double)weights[i] - sum) / sum);
        most = fmax(most, sum);
    }
    CHECK(worst < 1e-4 && most > 2);
    desc.values[0] = buffer_of(tml, TML_F32, FLUID, values);
    desc.means[0] = buffer_of(tml, TML_F32, MEAN_POSITIONS, NULL);
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.weights, again));
    CHECK(memcmp(weights, again, sizeof weights) == 0);
    tml_field_mean_desc bad = desc;
    bad.weights = (tml_buffer){0, 0};
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_field_mean_enqueue(tml, &desc)), SCRATCH_OF(tml, tml_field_mean_enqueue(tml, &bad)));
    bad.weights = desc.means[0];
    CHECK_EQ_I64(tml_field_mean(tml, &bad), TML_ERROR_INVALID_ARGUMENT);
    bad.weights = desc.positions;
    CHECK_EQ_I64(tml_field_mean(tml, &bad), TML_ERROR_INVALID_ARGUMENT);
    const tml_buffer buffers[] = {field.points, desc.positions, desc.weights, desc.values[0],
                                  desc.means[0]};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        tml_buffer_destroy(tml, buffers[i]);
}

TEST(weights_are_summed)
{
    make_drop(drop);
    tml_context *cpu = open_cpu(2);
    check_weights(cpu);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        if (device_context(d))
            check_weights(device_context(d));
    tml_close(cpu);
}

/* Of the field's own points, the CPU finds the weights another way than at a copy of their
 * places. */
static void check_own_weights(tml_context *tml, tml_field_desc field, const float *radii,
                              float *weights)
{
    static float others[FLUID];
    field.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop);
    if (radii)
        field.radii = buffer_of(tml, TML_F32, FLUID, radii);
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    tml_field_mean_desc desc = {.field = &field,
                                .positions = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop),
                                .weights = buffer_of(tml, TML_F32, FLUID, NULL),
                                .exact_reach = true};
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.weights, others));
    tml_buffer_destroy(tml, desc.positions);
    desc.positions = field.points;
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.weights, weights));
    double worst = 0, most = 0;
    for (int i = 0; i < FLUID; i++) {
        worst = fmax(worst, fabs((double)weights[i] - (double)others[i]) / (double)others[i]);
        most = fmax(most, (double)others[i]);
    }
    CHECK(worst < 1e-4 && most > 2);
    tml_buffer_destroy(tml, desc.weights);
    tml_buffer_destroy(tml, field.points);
    tml_buffer_destroy(tml, field.radii);
}

TEST(weights_of_own_points)
{
    static float radii[FLUID], weights[FLUID], again[FLUID];
    static const double reaches[] = {0.2, 0.1, 30}; /* at last all is near */
    const tml_simd best = tml_simd_level();
    tml_context *one = open_cpu(1), *two = open_cpu(2);
    make_drop(drop);
    for (int i = 0; i < FLUID; i++)
        radii[i] = 0.1f + 0.02f * (float)(i % 5); /* one level */
    for (int i = 0; i < 3 * 4 * 3; i++) {
        if (i == 3 * 4 * 2) /* two drops in a box so large that bins are many kernels wide */
            for (int k = 3 * FLUID / 2; k < 3 * FLUID; k++)
                drop[k] += 16.0f;
        const double reach = reaches[i % 3], spacing = reach / 7.9;
        tml_field_desc field = {.radius = reach,
                                .kernel = (tml_field_kernel)(i / 3 % 4),
                                .grid = {.spacing = {spacing, 0.7 * spacing, spacing}}};
        const bool has_radii = i >= 3 * 4 && i % 3 == 0;
        if (i % 2)
            memcpy(field.grid.direction, sheared, sizeof sheared);
        check_own_weights(one, field, has_radii ? radii : NULL, weights);
        tml_simd_force((tml_simd)TML_MIN_OF((size_t)i % 2, (size_t)best));
        check_own_weights(two, field, has_radii ? radii : NULL, again);
        tml_simd_force(best);
        CHECK(memcmp(weights, again, sizeof weights) == 0);
    }
    tml_close(one);
    tml_close(two);
}

/* A point that flies away makes the box larger, and its bins others: densities of the rest keep
 * their bits. */
TEST(a_far_point_changes_no_weight)
{
    static const float places[][3] = {{3, 0, 0}, {-2.7f, 0.1f, 0}, {0.3f, -7, 4}, {-9, -9, -9}};
    static float weights[2][FLUID + 1];
    tml_context *tml = open_cpu(2);
    make_drop(drop);
    for (size_t i = 0; i < 2 * TML_ARRAY_SIZE(places); i++)
        for (uint64_t more = 0; more < 2; more++) {
            tml_field_desc field = {.radius = 0.2, .grid = {.spacing = {0.06, 0.06, 0.05}}};
            memcpy(drop + 3 * FLUID, places[i / 2], sizeof places[i / 2]);
            if (i % 2)
                memcpy(field.grid.direction, rotated, sizeof rotated);
            field.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID + more, drop);
            CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
            const tml_field_mean_desc desc = {.field = &field,
                                              .positions = field.points,
                                              .weights =
                                                  buffer_of(tml, TML_F32, FLUID + more, NULL),
                                              .exact_reach = true};
            CHECK_OK(tml, tml_field_mean(tml, &desc));
            CHECK_OK(tml, tml_buffer_read(tml, desc.weights, weights[more]));
            tml_buffer_destroy(tml, desc.weights);
            tml_buffer_destroy(tml, field.points);
            CHECK(more == 0 || memcmp(weights[0], weights[1], FLUID * sizeof weights[0][0]) == 0);
        }
    tml_close(tml);
}

/* Every vertex of a surface has some point near, even where samples are far apart, and equal values
 * stay what they are.
 */
static void check_every_vertex(tml_context *tml, tml_field_kind kind, double cell)
{
    static float values[FLUID];
    for (int i = 0; i < FLUID; i++)
        values[i] = 7.0f;
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop),
                            .kind = kind,
                            .radius = 0.2,
                            .grid = {.spacing = {cell, cell, cell}}};
    tml_surface_result made = {0};
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    tml_surface_desc desc = {.field = &field, .iso = kind ? 0.0 : 0.01};
    CHECK_OK(tml, tml_surface(tml, &desc, &made));
    CHECK(made.vertex_count > 50);
    tml_buffer in = buffer_of(tml, TML_F32, FLUID, values);
    tml_buffer out = buffer_of(tml, TML_F32, made.vertex_count, NULL);
    CHECK_OK(tml, tml_field_mean(tml, &(tml_field_mean_desc){.field = &field,
                                                             .positions = made.mesh.positions,
                                                             .values = {in},
                                                             .means = {out}}));
    float *means = fetch(tml, out, made.vertex_count);
    uint64_t wrong = 0;
    for (uint64_t v = 0; v < made.vertex_count; v++)
        wrong += !(fabs((double)means[v] - 7.0) < 1e-4);
    CHECK_EQ_U64(wrong, 0);
    free(means);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, out);
    tml_buffer_destroy(tml, field.points);
    tml_surface_free(tml, &made);
}

TEST(every_vertex_has_a_mean)
{
    make_drop(drop);
    tml_context *cpu = open_cpu(2);
    for (uint32_t d = 0; d <= MAX_DEVICES; d++) {
        tml_context *tml = d < MAX_DEVICES ? device_context(d) : cpu;
        for (int i = 0; i < 4 && tml; i++)
            check_every_vertex(tml, (tml_field_kind)(i / 2), i % 2 ? 0.3 : 0.07);
    }
    tml_close(cpu);
}

/* ---- means in slabs -------------------------------------------------------------------------- */

enum { CARRIED = 4 };

/* What the pieces of a stream have, one after another. */
typedef struct pieces {
    float *positions, *means[CARRIED];
    uint64_t count;
} pieces;

static tml_status take_piece(void *user, const tml_surface_piece *piece)
{
    pieces *p = user;
    size_t more = (size_t)piece->mesh.vertex_count;
    for (int i = -1; i < CARRIED; i++) { /* the i-th has i + 1 components */
        size_t width = i < 0 ? 3 : (size_t)i + 1;
        float **to = i < 0 ? &p->positions : &p->means[i];
        const float *from = i < 0 ? piece->mesh.positions : piece->mesh.attributes[i].data;
        *to = realloc(*to, (p->count + more) * width * sizeof **to + 1);
        CHECK(from || !more);
        memcpy(*to + p->count * width, from, more * width * sizeof **to);
    }
    CHECK_EQ_U64(piece->mesh.attribute_count, CARRIED);
    p->count += more;
    return TML_OK;
}

/* Equal to the whole's, bit for bit. */
static void check_pieces(tml_context *tml, const tml_surface_desc *surface,
                         const tml_buffer *carried, const pieces *found)
{
    tml_surface_result whole = {0};
    void *memory;
    CHECK_OK(tml, tml_surface(tml, surface, &whole));
    tml_field_mean_desc desc = {.field = surface->field, .positions = whole.mesh.positions};
    memcpy(desc.position_origin, surface->position_origin, sizeof desc.position_origin);
    if (!CHECK_EQ_U64(found->count, whole.vertex_count))
        return;
    CHECK_OK(tml, tml_buffer_map(tml, whole.mesh.positions, &memory));
    CHECK(memcmp(memory, found->positions, whole.vertex_count * 12) == 0);
    tml_buffer_unmap(tml, whole.mesh.positions);
    for (uint32_t i = 0; i < CARRIED; i++) {
        tml_type type = i ? TML_VEC(TML_F32, i + 1) : TML_F32;
        desc.values[0] = carried[i];
        desc.means[0] = buffer_of(tml, type, whole.vertex_count, NULL);
        CHECK_OK(tml, tml_field_mean(tml, &desc));
        CHECK_OK(tml, tml_buffer_map(tml, desc.means[0], &memory));
        CHECK(memcmp(memory, found->means[i], whole.vertex_count * (i + 1) * sizeof(float)) == 0);
        tml_buffer_unmap(tml, desc.means[0]);
        tml_buffer_destroy(tml, desc.means[0]);
    }
    tml_surface_free(tml, &whole);
}

TEST(means_in_slabs_are_those_at_once)
{
    static float values[4 * FLUID];
    make_drop(drop);
    for (int i = 0; i < 4 * FLUID; i++)
        values[i] = (float)(i * 7919 % 1009) / 100.0f - 3.0f;
    tml_context *tml = open_cpu(3);
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), FLUID, drop),
                            .radius = 0.2,
                            .grid = {.spacing = {0.1, 0.1, 0.1}}};
    tml_buffer carried[CARRIED];
    for (uint32_t i = 0; i < CARRIED; i++)
        carried[i] = buffer_of(tml, i ? TML_VEC(TML_F32, i + 1) : TML_F32, FLUID, values);
    CHECK_OK(tml, resolve_field(tml, &field, &field, NULL));
    const uint64_t layers[] = {1, 7, 8, 9, 0};
    for (int i = 0; i < 2 * 5; i++) {
        pieces found = {0};
        tml_surface_result counts = {0};
        const double isovalues[] = {0.3, 0.9};
        tml_surface_desc surface = {.field = &field,
                                    .isovalues = isovalues,
                                    .isovalue_count = 1,
                                    .soup = i >= 5,
                                    .position_origin = {0.5, -100, 0}};
        tml_surface_slabs_desc desc = {
            .surface = &surface,
            .write = take_piece,
            .user = &found,
            .field_values =
                {carried[0], {0, 0}, carried[1], {0, 0}, carried[2], {0, 0}, carried[3]},
            .slab_layers = layers[i % 5]};
        CHECK_OK(tml, tml_surface_slabs(tml, &desc, &counts));
        CHECK(found.count > 500);
        check_pieces(tml, &surface, carried, &found);
        tml_surface_free(tml, &counts);
        desc.field_values[1] = buffer_of(tml, TML_F32, FLUID - 1, values);
        CHECK_STATUS(tml_surface_slabs(tml, &desc, &counts), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "tml_surface_slabs: desc.field_values[1]") != NULL);
        surface.field = NULL;
        CHECK_STATUS(tml_surface_slabs(tml, &desc, &counts), TML_ERROR_INVALID_ARGUMENT);
        for (int a = 0; a < CARRIED; a++)
            free(found.means[a]);
        free(found.positions);
    }
    tml_close(tml);
}

TEST(bad_mean_descs_are_refused)
{
    const float points[9] = {1, 2, 3, 4, 5, 6, 2, 2, 2}, far[3] = {100, 100, 100};
    tml_context *tml = open_cpu(1);
    tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 3, points),
                            .radius = 1,
                            .grid = {.dims = {8, 8, 8}}};
    tml_buffer three = buffer_of(tml, TML_F32, 3, points), two = buffer_of(tml, TML_F32, 2, points),
               wide = buffer_of(tml, TML_VEC(TML_F32, 2), 3, points),
               whole = buffer_of(tml, TML_U32, 3, points), out = buffer_of(tml, TML_F32, 1, NULL);
    const tml_field_mean_desc good = {.field = &field,
                                      .positions = buffer_of(tml, TML_VEC(TML_F32, 3), 1, far),
                                      .values = {three},
                                      .means = {out}};
    tml_field_mean_desc desc = good;
    CHECK_OK(tml, tml_field_mean(tml, &desc));
    float value = -1.0f;
    CHECK_OK(tml, tml_buffer_read(tml, out, &value));
    CHECK_NEAR((double)value, 0.0, 0.0); /* nothing near */
    const tml_buffer bad[][2] = {{two, out},    {wide, out},     {whole, out},
                                 {{0, 0}, out}, {three, {0, 0}}, {three, whole}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(bad); i++) {
        desc.values[0] = bad[i][0];
        desc.means[0] = bad[i][1];
        tml_status status = tml_field_mean(tml, &desc);
        CHECK(status == TML_ERROR_INVALID_ARGUMENT || status == TML_ERROR_INVALID_HANDLE);
        CHECK(strstr(tml_last_error(tml), "desc.values[0]") != NULL ||
              strstr(tml_last_error(tml), "desc.means[0]") != NULL);
    }
    desc = good;
    desc.field = NULL;
    CHECK_STATUS(tml_field_mean(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = good;
    desc.position_origin[1] = NAN;
    CHECK_STATUS(tml_field_mean(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = good;
    desc.positions = three;
    CHECK_STATUS(tml_field_mean(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void check_refused(tml_context *tml, const tml_field_desc *desc, const char *word)
{
    tml_field_desc resolved = {.radius = -7.0};
    CHECK_STATUS(resolve_field(tml, desc, &resolved, NULL), TML_ERROR_INVALID_ARGUMENT);
    if (!strstr(tml_last_error(tml), word))
        test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", word, tml_last_error(tml));
    CHECK_NEAR(resolved.radius, -7.0, 0.0);
}

TEST(bad_descs_are_refused)
{
    tml_context *tml = open_cpu(1);
    const float points[6] = {0, 0, 0, 1, 1, 1}, nans[3] = {NAN, 0, 0}, none[2] = {0, -1};
    tml_field_desc good = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 2, points)}, desc;
    check_refused(tml,
                  (desc = good, desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), 0, NULL), &desc),
                  "0 points");
    check_refused(tml,
                  (desc = good, desc.points = buffer_of(tml, TML_VEC(TML_F32, 3), 1, nans), &desc),
                  "1 points");
    check_refused(tml, (desc = good, desc.points = buffer_of(tml, TML_F32, 3, nans), &desc),
                  "f32x3");
    check_refused(tml, (desc = good, desc.radii = buffer_of(tml, TML_F32, 1, none), &desc),
                  "radii");
    check_refused(tml, (desc = good, desc.radii = buffer_of(tml, TML_F32, 2, none), &desc),
                  "radius");
    check_refused(tml, (desc = good, desc.kind = (tml_field_kind)2, &desc), "kind");
    check_refused(tml, (desc = good, desc.kernel = (tml_field_kernel)4, &desc), "kernel");
    check_refused(tml, (desc = good, desc.densities = buffer_of(tml, TML_F32, 1, none), &desc),
                  "desc.densities");
    check_refused(tml,
                  (desc = good, desc.densities = buffer_of(tml, TML_F32, 2, none),
                   desc.kind = TML_FIELD_DISTANCE, &desc),
                  "desc.densities");
    check_refused(tml, (desc = good, desc.radius = -1, &desc), "radius");
    check_refused(tml, (desc = good, desc.radius = NAN, &desc), "radius");
    check_refused(tml, (desc = good, desc.radius = 1e300, &desc), "radius");
    check_refused(tml, (desc = good, desc.margin = -1, &desc), "margin");
    check_refused(tml, (desc = good, desc.resolution = 7, &desc), "resolution");
    check_refused(tml, (desc = good, desc.resolution = UINT32_MAX, &desc), "2^40");
    check_refused(tml, (desc = good, desc.grid.dims[0] = 8, &desc), "dims");
    check_refused(tml, (desc = good, desc.length.count = 3, &desc), "points");
    check_refused(tml, (desc = good, desc.length.device = good.points, &desc), "length.device");
    check_refused(tml, (desc = good, desc.length = tml_length_of(0), &desc), "0 points");
    tml_grid grid = {.dims = {8, 8, 8}, .spacing = {1, 1, 1}};
    good.grid = grid;
    check_refused(tml, (desc = good, desc.grid.dims[1] = UINT64_MAX, &desc), "dims");
    check_refused(tml, (desc = good, desc.grid.spacing[1] = 0, &desc), "spacing[1]");
    check_refused(tml, (desc = good, desc.grid.spacing[2] = -1, &desc), "spacing[2]");
    check_refused(tml, (desc = good, desc.grid.origin[1] = INFINITY, &desc), "origin[1]");
    check_refused(tml, (desc = good, desc.grid.direction[4] = 1, &desc), "direction");
    check_refused(tml, (desc = good, desc.grid.direction[4] = NAN, &desc), "direction");
    const double steep[9] = {1e-30, 0, 1e-31, 1e-31, 1e-31, 1e+31, -12, -4e-3, 0};
    desc = good;
    memcpy(desc.grid.direction, steep, sizeof steep);
    check_refused(tml, &desc, "samples along axis");
    desc = good;
    desc.points = (tml_buffer){99, 1};
    tml_buffer small = buffer_of(tml, TML_F32, 511, NULL),
               ints = buffer_of(tml, TML_U32, 512, NULL);
    CHECK_STATUS(tml_field(tml, &desc, small), TML_ERROR_INVALID_HANDLE);
    CHECK_STATUS(tml_field(tml, &good, small), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_field(tml, &good, ints), TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}

static bool stop_half_way(void *user, const char *stage, double fraction)
{
    (void)stage;
    *(double *)user = fraction;
    return fraction < 0.5;
}

TEST(fields_can_be_cancelled)
{
    double seen = 0.0;
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .progress = stop_half_way,
                                             .progress_user = &seen},
                            &tml));
    const float points[3] = {4, 4, 4};
    tml_field_desc desc = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 1, points),
                           .radius = 3,
                           .grid = {.dims = {64, 64, 64}}};
    tml_buffer out = buffer_of(tml, TML_F32, 64 * 64 * 64, NULL);
    CHECK_STATUS(tml_field(tml, &desc, out), TML_ERROR_CANCELLED);
    CHECK_NEAR(seen, 0.5, 0.02);
    tml_close(tml);
}

/* ---- allocation failure ---------------------------------------------------------------------- */

typedef struct alloc_limit {
    int left; /* allocations before one fails */
    int64_t live;
} alloc_limit;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    alloc_limit *limit = user;
    void *memory = limit->left-- <= 0 ? NULL : tml_platform_alloc(size, alignment);
    if (!memory)
        return NULL;
    limit->live++;
    return memory;
}

static void failing_free(void *user, void *memory, size_t size)
{
    (void)size;
    ((alloc_limit *)user)->live--;
    tml_platform_free(memory);
}

TEST(every_failed_allocation_is_reported)
{
    const float points[9] = {1, 2, 3, 4, 5, 6, 2, 2, 2};
    alloc_limit limit = {.left = 1000};
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .threads = 1,
                                             .allocator = {failing_alloc, failing_free, &limit}},
                            &tml));
    tml_field_desc desc = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 3, points),
                           .grid = {.dims = {8, 8, 8}}};
    tml_buffer out = buffer_of(tml, TML_F32, 512, NULL);
    int64_t live = limit.live;
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    for (int n = 0; status == TML_ERROR_OUT_OF_MEMORY && n < 100; n++) {
        limit.left = n;
        status = tml_field(tml, &desc, out);
        CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
        CHECK_EQ_I64(limit.live, live);
    }
    CHECK_OK(tml, status);
    limit.left = 1000;
    const tml_field_mean_desc mean = {.field = &desc,
                                      .positions = desc.points,
                                      .values = {buffer_of(tml, TML_F32, 3, points)},
                                      .means = {buffer_of(tml, TML_F32, 3, NULL)}};
    live = limit.live;
    status = TML_ERROR_OUT_OF_MEMORY;
    for (int n = 0; status == TML_ERROR_OUT_OF_MEMORY && n < 100; n++) {
        limit.left = n;
        status = tml_field_mean(tml, &mean);
        CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
        /* The context keeps the memory of a program of streams: itself, arrays, steps, descs and
         * lives. */
        CHECK(status == TML_OK || limit.live <= live + 5);
    }
    CHECK_OK(tml, status);
    limit.left = 1000;
    tml_close(tml);
    CHECK_EQ_I64(limit.live, 0);
}

int main(int argc, char **argv)
{
    int status = test_main(argc, argv);
    for (uint32_t d = 0; d < MAX_DEVICES; d++)
        tml_close(device_contexts[d]);
    return status;
}
