/* The shapes of tml_field_prepare against plain code over all pairs in double precision, and against what is known
 * of sheets, on every device that there is. */
#include <math.h>
#include <stdlib.h>

#include "core/core_internal.h"
#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

enum { MAX_POINTS = 6000 };

typedef struct point_cloud {
    float points[MAX_POINTS][3];
    float densities[MAX_POINTS];
    uint64_t count;
} point_cloud;

typedef struct shapes {
    float centres[MAX_POINTS][3];
    float shapes[2][MAX_POINTS][3];
    float densities[MAX_POINTS];
} shapes;

static uint64_t random_state;

static double noise(void)
{
    return (double)(test_random(&random_state) >> 40) * 0x1p-24 - 0.5;
}

/* ---- clouds ---------------------------------------------------------------------------------- */

/* nx x ny x nz points a unit apart, from at on, each moved by up to half of jitter. */
static void add_lattice(point_cloud *cloud, const double at[3], int nx, int ny, int nz,
                        double jitter)
{
    for (int i = 0; i < nx * ny * nz; i++) {
        const int place[3] = {i % nx, i / nx % ny, i / (nx * ny)};
        for (int a = 0; a < 3; a++)
            cloud->points[cloud->count][a] = (float)(at[a] + place[a] + jitter * noise());
        cloud->densities[cloud->count++] = (float)(1.0 + (i % 5));
    }
}

/* A sheet on edge, a rod, a block, points by themselves, some in one place, and some that are not
 * finite. */
static void make_mixed(point_cloud *cloud)
{
    const double sheet[3] = {0, 0, 0}, rod[3] = {40, 3, 5}, block[3] = {-30, -8, 2};
    random_state = 5;
    cloud->count = 0;
    add_lattice(cloud, sheet, 17, 1, 13, 0.5);
    for (uint64_t i = 0; i < cloud->count; i++) {
        float *p = cloud->points[i];
        p[1] += 0.75f * p[0]; /* at a slant */
    }
    add_lattice(cloud, rod, 31, 2, 2, 0.3);
    add_lattice(cloud, block, 9, 9, 9, 0.8);
    for (int i = 0; i < 40; i++) {
        const double at[3] = {0, 0, 60 + 3.0 * i};
        add_lattice(cloud, at, 1, 1, 1, 0);
    }
    for (int i = 0; i < 30; i++) {
        const double at[3] = {-40, 50, 0};
        add_lattice(cloud, at, 1, 1, 1, 0);
    }
    cloud->points[7][1] = NAN;
    cloud->points[8][2] = INFINITY;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Eigenvalues, and eigenvectors in columns, by rotations of the largest entry. */
static void eigen(double m[3][3], double vectors[3][3])
{
    for (int i = 0; i < 9; i++)
        vectors[i / 3][i % 3] = i % 4 == 0;
    for (int turn = 0; turn < 60; turn++) {
        int p = 0, q = 1;
        for (int k = 1; k < 3; k++)
            if (fabs(m[k == 2][2]) > fabs(m[p][q]))
                p = k == 2, q = 2;
        if (m[p][q] == 0.0)
            return;
        double angle = 0.5 * atan2(2 * m[p][q], m[p][p] - m[q][q]), c = cos(angle), s = sin(angle);
        for (int r = 0; r < 3; r++) { /* columns */
            double a = m[r][p], b = m[r][q];
            m[r][p] = c * a + s * b, m[r][q] = c * b - s * a;
            a = vectors[r][p], b = vectors[r][q];
            vectors[r][p] = c * a + s * b, vectors[r][q] = c * b - s * a;
        }
        for (int r = 0; r < 3; r++) { /* rows */
            double a = m[p][r], b = m[q][r];
            m[p][r] = c * a + s * b, m[q][r] = c * b - s * a;
        }
    }
}

static double limited(double x, double least, double most)
{
    return fmin(fmax(x, least), most);
}

/* Of a desc without zeros. */
static void reference(const tml_field_prepare_desc *desc, const point_cloud *cloud, uint64_t i,
                      double centre[3], double g[3][3], double *density)
{
    double reach = 2 * desc->field.radius, weights = 0, count = 0, mean[3] = {0},
           second[3][3] = {{0}};
    const float *p = cloud->points[i];
    for (uint64_t j = 0; j < cloud->count; j++) {
        double d[3], square = 0;
        for (int a = 0; a < 3; a++) {
            d[a] = ((double)cloud->points[j][a] - (double)p[a]) / reach;
            square += d[a] * d[a];
        }
        if (!(square < 1))
            continue;
        double weight = 1 - square * sqrt(square);
        weights += weight;
        count++;
        for (int a = 0; a < 3; a++) {
            mean[a] += weight * d[a];
            for (int b = 0; b < 3; b++)
                second[a][b] += weight * d[a] * d[b];
        }
    }
    double vectors[3][3], lengths[3] = {desc->lone, desc->lone, desc->lone};
    for (int a = 0; a < 3; a++) {
        mean[a] /= weights;
        centre[a] = (double)p[a] + desc->smoothing * reach * mean[a];
    }
    for (int a = 0; a < 9; a++)
        second[a / 3][a % 3] = second[a / 3][a % 3] / weights - mean[a / 3] * mean[a % 3];
    eigen(second, vectors);
    if (count > desc->fewest) {
        double longest = fmax(second[0][0], fmax(second[1][1], second[2][2])) / 0.15;
        longest = limited(longest, 0.5, TML_FIELD_SHAPES_REACH);
        for (int k = 0; k < 3; k++)
            lengths[k] = limited(second[k][k] / 0.15, longest / desc->ratio, longest);
    }
    *density = (double)cloud->densities[i] * lengths[0] * lengths[1] * lengths[2];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            g[a][b] = 0;
            for (int k = 0; k < 3; k++)
                g[a][b] += TML_FIELD_SHAPES_REACH / lengths[k] * vectors[a][k] * vectors[b][k];
        }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void find_shapes(tml_context *tml, const point_cloud *cloud, tml_field_prepare_desc desc,
                        shapes *out)
{
    tml_field_prepared made;
    desc.field.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud->count, cloud->points);
    desc.field.densities = buffer_of(tml, TML_F32, cloud->count, cloud->densities);
    desc.shapes = true;
    CHECK_OK(tml, tml_field_prepare(tml, &desc, &made));
    CHECK_OK(tml, tml_buffer_read(tml, made.field.points, out->centres));
    CHECK_OK(tml, tml_buffer_read(tml, made.field.densities, out->densities));
    for (int i = 0; i < 2; i++)
        CHECK_OK(tml, tml_buffer_read(tml, made.field.shapes[i], out->shapes[i]));
    CHECK_NEAR(made.field.radius, TML_FIELD_SHAPES_REACH * desc.field.radius, 0);
    tml_field_prepared_free(tml, &made);
    tml_buffer_destroy(tml, desc.field.points);
    tml_buffer_destroy(tml, desc.field.densities);
}

static void check_shapes(tml_context *tml, const point_cloud *cloud, tml_field_prepare_desc desc)
{
    static shapes found;
    find_shapes(tml, cloud, desc, &found);
    desc.smoothing = desc.smoothing == 0 ? 0.9 : desc.smoothing;
    desc.ratio = desc.ratio == 0 ? 4 : desc.ratio;
    desc.lone = desc.lone == 0 ? 0.5 : desc.lone;
    desc.fewest = desc.fewest == 0 ? 12 : desc.fewest;
    double worst = 0;
    for (uint64_t i = 0; i < cloud->count; i++) {
        double centre[3], g[3][3], density, norm = 0;
        const float *p = cloud->points[i], *own = found.centres[i];
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) {
            CHECK(!isfinite(own[0]) || !isfinite(own[1]) || !isfinite(own[2]));
            continue;
        }
        reference(&desc, cloud, i, centre, g, &density);
        for (int a = 0; a < 3; a++)
            norm = fmax(norm, g[a][a]);
        for (int a = 0; a < 3; a++) {
            double scale = desc.field.radius + fabs((double)p[a]) / 64;
            worst = fmax(worst, fabs((double)own[a] - centre[a]) / scale);
            worst = fmax(worst, fabs((double)found.shapes[0][i][a] - g[a][a]) / norm / desc.ratio);
            worst = fmax(worst, fabs((double)found.shapes[1][i][a] - g[(a + 1) % 3][(a + 2) % 3]) /
                                    norm / desc.ratio);
        }
        worst = fmax(worst, fabs((double)found.densities[i] / density - 1) / desc.ratio);
    }
    if (!(worst <= 2e-5))
        test_fail(__FILE__, __LINE__, "off by %g, of %d points", worst, (int)cloud->count);
}

TEST(plain_code_agrees)
{
    static point_cloud cloud;
    tml_field_desc field = {.radius = 2};
    tml_context *tml;
    for (uint32_t d = 0; (tml = open_device(d)); d++) {
        make_mixed(&cloud);
        check_shapes(tml, &cloud, (tml_field_prepare_desc){.field = field});
        check_shapes(tml, &cloud,
                     (tml_field_prepare_desc){
                         .field = field, .smoothing = 0.3, .ratio = 10, .lone = 1, .fewest = 25});
        check_shapes(tml, &cloud,
                     (tml_field_prepare_desc){.field = field, .ratio = 1, .fewest = 1000});
        static const uint64_t counts[] = {0, 1, 2, 31, 256, 257, 1009};
        for (size_t i = 0; i < TML_ARRAY_SIZE(counts); i++) {
            cloud.count = counts[i];
            for (uint64_t k = 0; k < 3 * cloud.count; k++)
                cloud.points[k / 3][k % 3] = (float)(noise() * 0.01);
            field.radius = 0.001;
            if (cloud.count > 0)
                check_shapes(tml, &cloud, (tml_field_prepare_desc){.field = field, .fewest = 2});
        }
        field.radius = 2;
        tml_close(tml);
    }
}

/* By hand: a layer's points have no extent across it, so a quarter of that along it; and what a
 * point adds in all stays. */
static void check_sheet(tml_context *tml)
{
    static point_cloud cloud;
    static shapes found;
    const double at[3] = {0, 0, 0};
    enum { SIDE = 15, MIDDLE = SIDE * (SIDE / 2) + SIDE / 2 };
    cloud.count = 0;
    add_lattice(&cloud, at, SIDE, SIDE, 1, 0);
    find_shapes(tml, &cloud, (tml_field_prepare_desc){.field.radius = 2}, &found);
    const float *g = found.shapes[0][MIDDLE], *others = found.shapes[1][MIDDLE];
    const double determinant = (double)g[0] * (double)g[1] * (double)g[2];
    CHECK_NEAR((double)g[0], (double)g[1], 1e-4);
    CHECK_NEAR((double)g[2] / (double)g[0], 4, 1e-4);
    CHECK(g[0] > 1.2f && g[0] < 1.4f); /* of a whole disc 1.26: 1.5 * 0.15 / 0.1786 */
    for (int a = 0; a < 3; a++)
        CHECK_NEAR((double)others[a], 0, 1e-5);
    CHECK_NEAR(pow(TML_FIELD_SHAPES_REACH, 3) / determinant,
               (double)found.densities[MIDDLE] / (double)cloud.densities[MIDDLE], 1e-4);
}

/* The root of the mean square of the triangles' angles to the sheet, in degrees, far from its edge;
 * by their areas. */
static double roughness(tml_context *tml, const tml_field_desc *field, double side)
{
    tml_surface_result surface;
    double sum = 0, areas = 0;
    CHECK_OK(tml, tml_surface(tml, &(tml_surface_desc){.field = field, .iso = 0.6}, &surface));
    float *at = fetch(tml, surface.mesh.positions, surface.vertex_count);
    uint32_t *corners = fetch(tml, surface.mesh.indices, surface.triangle_count);
    for (uint64_t t = 0; t < surface.triangle_count; t++) {
        const float *p = at + 3 * corners[3 * t];
        double edges[2][3], normal[3], area = 0;
        if (!(p[0] > 5 && p[0] < side - 6 && p[1] > 5 && p[1] < side - 6))
            continue;
        for (int e = 0; e < 2; e++)
            for (int a = 0; a < 3; a++)
                edges[e][a] = (double)at[3 * corners[3 * t + 1 + e] + a] - (double)p[a];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            normal[a] = edges[0][b] * edges[1][c] - edges[0][c] * edges[1][b];
            area += normal[a] * normal[a];
        }
        area = sqrt(area);
        double angle = area > 0 ? acos(fmin(fabs(normal[2]) / area, 1.0)) : 0;
        sum += area * angle * angle;
        areas += area;
    }
    free(at);
    free(corners);
    tml_surface_free(tml, &surface);
    CHECK(areas > 100);
    return sqrt(sum / areas) * 180 / acos(-1.0);
}

/* A sheet of three uneven layers becomes flat. */
TEST(sheets_become_flat)
{
    static point_cloud cloud;
    enum { SIDE = 30 };
    const double at[3] = {0, 0, 0};
    tml_context *tml;
    for (uint32_t d = 0; (tml = open_device(d)); d++) {
        check_sheet(tml);
        random_state = 3;
        cloud.count = 0;
        add_lattice(&cloud, at, SIDE, SIDE, 3, 0.5);
        const tml_field_prepare_desc desc = {
            .field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), cloud.count, cloud.points),
                      .kernel = TML_FIELD_CUBIC_SPLINE,
                      .radius = 2,
                      .grid.spacing = {0.25, 0.25, 0.25}},
            .densities = true,
            .shapes = true};
        tml_field_prepared made;
        CHECK_OK(tml, tml_field_prepare(tml, &desc, &made));
        double before = roughness(tml, &made.balls, SIDE),
               after = roughness(tml, &made.field, SIDE);
        printf("  normals of a sheet: %.2f degrees, with shapes %.2f\n", before, after);
        CHECK(after < before / 2);
        tml_field_prepared_free(tml, &made);
        tml_close(tml);
    }
}

TEST(nonsense_is_refused)
{
    tml_context *tml = open_cpu(1);
    const tml_field_prepare_desc good = {
        .field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 4, (float[12]){0}),
                  .densities = buffer_of(tml, TML_F32, 4, (float[]){1, 1, 1, 1}),
                  .radius = 1},
        .shapes = true};
    tml_field_prepared made;
    CHECK_OK(tml, tml_field_prepare(tml, &good, &made));
    tml_field_prepared_free(tml, &made);
    enum { RADII, NO_DENSITIES, DISTANCE, SHAPED, FLAT, LONG, FAR, NO_NUMBER, LONE, CASES };
    static const char *const messages[CASES] = {
        [RADII] = "radii",         [NO_DENSITIES] = "desc.field.densities",
        [DISTANCE] = "KERNEL_SUM", [SHAPED] = "shapes",
        [FLAT] = "desc.ratio",     [LONG] = "desc.ratio",
        [FAR] = "desc.smoothing",  [NO_NUMBER] = "desc.smoothing",
        [LONE] = "desc.lone"};
    for (int i = 0; i < CASES; i++) {
        tml_field_prepare_desc desc = good;
        if (i == RADII)
            desc.field.radii = good.field.densities;
        if (i == NO_DENSITIES)
            desc.field.densities = (tml_buffer){0, 0};
        if (i == DISTANCE)
            desc.field.kind = TML_FIELD_DISTANCE;
        if (i == SHAPED)
            desc.field.shapes[0] = desc.field.shapes[1] = good.field.points;
        desc.ratio = i == FLAT ? 0.5 : i == LONG ? 65 : 0;
        desc.smoothing = i == FAR ? 1.5 : i == NO_NUMBER ? NAN : 0;
        desc.lone = i == LONE ? 2 : 0;
        CHECK_STATUS(tml_field_prepare(tml, &desc, &made), TML_ERROR_INVALID_ARGUMENT);
        if (!strstr(tml_last_error(tml), messages[i]))
            test_fail(__FILE__, __LINE__, "\"%s\" does not tell %s", tml_last_error(tml),
                      messages[i]);
        for (size_t b = 0; b < TML_ARRAY_SIZE(made.owned); b++)
            CHECK(tml_buffer_is_none(made.owned[b]));
    }
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
