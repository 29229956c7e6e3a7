/* Measures how fast points become a field: a million points in 256^3 and 1024^3, evaluated slab by
 * slab as tml_surface does, so that 1024^3 does not need a volume of 4 GiB. Prints; asserts
 * nothing.
 *   dense    a jittered lattice that fills the box: every brick has work
 *   fluid    the same points in an eighth of the box: the rest is background
 *   updates  samples that lie within a point's reach: the work that no method of gathering or
 *            scattering avoids; the inner loop processes rows of eight at a time */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <trommel/field.h>

#include "field/field_internal.h"

enum { POINTS = 1000000, REPEATS = 3 };

/* The peak of this process; ru_maxrss would include the process that started it. */
static long peak_kilobytes(void)
{
    long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(const tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return;
    fprintf(stderr, "bench_field: %s\n", tml ? tml_last_error(tml) : tml_status_text(status));
    exit(1);
}

/* Points in [0, size)^3, one in each cell of a 100^3 lattice. */
static float *make_points(float size)
{
    float *points = malloc(3 * sizeof *points * POINTS);
    uint64_t state = 1;
    for (uint64_t i = 0; points && i < POINTS; i++) {
        uint64_t cell[3] = {i % 100, i / 100 % 100, i / 10000};
        for (int a = 0; a < 3; a++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            float jitter = (float)(state >> 40) * 0x1p-24f;
            points[3 * i + (uint64_t)a] = ((float)cell[a] + jitter) * (size / 100.0f);
        }
    }
    return points;
}

typedef struct slab_job {
    const field_plan *plan;
    float *slabs; /* one for each task of a batch */
    uint64_t first_slab;
} slab_job;

static void slab_task(void *argument, uint32_t index)
{
    const slab_job *job = argument;
    const uint64_t *dims = job->plan->dims;
    uint64_t z = (job->first_slab + index) * FIELD_BRICK;
    if (z < dims[2])
        cpu_field_slab(job->plan, z, TML_MIN_OF(dims[2] - z, (uint64_t)FIELD_BRICK),
                       job->slabs + index * FIELD_BRICK * dims[0] * dims[1]);
}

static void bench(tml_context *tml, const char *name, uint64_t side, double part, double reach,
                  tml_field_kind kind, tml_field_kernel kernel)
{
    double size = part * (double)side;
    float *points = make_points((float)size);
    tml_field_desc desc = {.radius = reach * size / 100.0,
                           .kind = kind,
                           .kernel = kernel,
                           .grid = {.dims = {side, side, side}}};
    if (kind == TML_FIELD_DISTANCE)
        desc.margin = 0.5 * desc.radius, desc.radius *= 0.5;
    tml_buffer_desc buffer = {.type = TML_VEC(TML_F32, 3), .count = POINTS, .host = points};
    check(tml, tml_buffer_create(tml, &buffer, &desc.points));
    tml_field_prepared made;
    check(tml, tml_field_prepare(tml, &(tml_field_prepare_desc){.field = desc}, &made));
    desc = made.field;

    uint32_t batch = 2 * tml_concurrency(tml);
    slab_job job = {.slabs = malloc(batch * FIELD_BRICK * side * side * sizeof(float))};
    double best_plan = INFINITY, best_slabs = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        field_plan *plan;
        double start = now();
        check(tml, field_plan_create(tml, &desc, &plan));
        double planned = now();
        job.plan = plan;
        uint64_t slabs = (side + FIELD_BRICK - 1) / FIELD_BRICK;
        for (job.first_slab = 0; job.first_slab < slabs; job.first_slab += batch)
            tml_parallel_for(tml, batch, slab_task, &job);
        double done = now();
        best_plan = fmin(best_plan, planned - start);
        best_slabs = fmin(best_slabs, done - planned);
        field_plan_destroy(tml, plan);
    }
    double updates =
        4.0 / 3.0 * acos(-1.0) * pow(desc.radius + (kind ? desc.margin : 0.0), 3.0) * POINTS;
    const long peak = peak_kilobytes();
    printf("%5llu^3 %-6s %-10s reach %4.1f samples: plan %6.3f s, slabs %6.3f s, %6.2f M points/s, "
           "%7.1f M samples/s, %7.1f M updates/s, peak %ld MiB\n",
           (unsigned long long)side, name,
           kind                              ? "distance"
           : kernel == TML_FIELD_WENDLAND_C2 ? "wendland"
           : kernel == TML_FIELD_POLY6       ? "poly6"
           : kernel == TML_FIELD_METABALL    ? "metaball"
                                             : "spline",
           desc.radius + (kind ? desc.margin : 0.0), best_plan, best_slabs,
           1e-6 * POINTS / best_slabs, 1e-6 * pow((double)side, 3.0) / best_slabs,
           1e-6 * updates / best_slabs, peak / 1024);
    free(job.slabs);
    tml_buffer_destroy(tml, desc.points);
    free(points);
}

static void bench_spacing(tml_context *tml)
{
    float *points = make_points(256.0f);
    double spacing, start = now();
    check(tml, field_spacing(tml, points, POINTS, &spacing));
    printf("median distance to the sixth neighbour: %.2f, %.3f s\n", spacing, now() - start);
    free(points);
}

int main(int argc, char **argv)
{
    tml_context *tml = NULL;
    tml_open_desc open = {.engine = TML_ENGINE_CPU,
                          .threads = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0};
    check(NULL, tml_open(&open, &tml));
    printf("%s, %u threads\n", tml->device.name, tml_concurrency(tml));
    bench_spacing(tml);
    for (int kernel = 0; kernel < 4; kernel++)
        bench(tml, "dense", 256, 1.0, 2.0, TML_FIELD_KERNEL_SUM, (tml_field_kernel)kernel);
    bench(tml, "dense", 256, 1.0, 2.0, TML_FIELD_DISTANCE, TML_FIELD_WENDLAND_C2);
    bench(tml, "fluid", 256, 0.5, 2.0, TML_FIELD_KERNEL_SUM, TML_FIELD_WENDLAND_C2);
    bench(tml, "fluid", 1024, 0.25, 2.0, TML_FIELD_KERNEL_SUM, TML_FIELD_WENDLAND_C2);
    bench(tml, "fluid", 1024, 0.5, 2.0, TML_FIELD_KERNEL_SUM, TML_FIELD_WENDLAND_C2);
    bench(tml, "dense", 1024, 1.0, 1.0, TML_FIELD_KERNEL_SUM, TML_FIELD_POLY6);
    tml_close(tml);
    return 0;
}
