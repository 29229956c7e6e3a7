/* Benchmarked subdivision. */
#include "bench_subdivide.h"

#include "bench_meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double thickness = 0.3;

enum {
    COARSE_AROUND = 64,
    COARSE_ACROSS = 32,
    FINE_AROUND = 384,
    FINE_ACROSS = 128,
    WIDTH = 3840,
    HEIGHT = 2160
};
static const float longest_pixels = 8.0f;

/* One job: a subdivider and what is made of it, again and again, in the same buffers. */
typedef struct subdivide_case {
    tml_context *tml;
    tml_subdivider_desc mesh;
    tml_subdivider *subdivider;
    tml_subdivide_uniform_desc uniform;
    tml_subdivide_adaptive_desc adaptive;
    tml_subdivide_result result; /* whose buffers the next run fills */
    const bench_pace *pace;
    void (*take)(void *user, const bench_subdivide_row *row);
    void *take_user;
} subdivide_case;

/* A subdivider without levels: the mesh alone. */
static bool renew(void *user)
{
    subdivide_case *job = user;
    tml_subdivider_destroy(job->subdivider);
    return tml_subdivider_create(job->tml, &job->mesh, &job->subdivider) == TML_OK;
}

static bool run_uniform(void *user)
{
    subdivide_case *job = user;
    uint32_t owned = job->result.owned;
    job->uniform.buffers = job->result.buffers;
    tml_status status = tml_subdivide_uniform(job->subdivider, &job->uniform, &job->result);
    job->result.owned |= owned;
    return status == TML_OK;
}

static bool run_adaptive(void *user)
{
    subdivide_case *job = user;
    uint32_t owned = job->result.owned;
    job->adaptive.buffers = job->result.buffers;
    tml_status status = tml_subdivide_adaptive(job->subdivider, &job->adaptive, &job->result);
    job->result.owned |= owned;
    return status == TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Is the point on the torus, nearly? A surface that is smoothed lies a little inside. */
static bool is_on_torus(const float p[3])
{
    double radius = hypot((double)p[0], (double)p[1]) - 1;
    double from_circle = hypot(radius, (double)p[2]);
    return from_circle < 1.001 * thickness && from_circle > 0.97 * thickness;
}

/* How often triangles use each vertex: six times where every triangle was cut into four. */
static bool is_used(const uint32_t *triangles, uint64_t triangle_count, uint8_t *uses,
                    uint64_t vertex_count, bool is_regular)
{
    memset(uses, 0, vertex_count);
    for (uint64_t i = 0; i < 3 * triangle_count; i++) {
        if (triangles[i] >= vertex_count)
            return false;
        uses[triangles[i]] += uses[triangles[i]] < 255;
    }
    bool is_right = true;
    for (uint64_t v = 0; v < vertex_count; v++)
        is_right &= is_regular ? uses[v] == 6 : uses[v] >= 3;
    return is_right;
}

/* A closed torus has two triangles for each vertex. */
static tml_status check(const subdivide_case *job, const char *name, bool is_regular)
{
    uint64_t vertices = job->result.vertex_count, triangles = job->result.triangle_count;
    size_t size = (size_t)(12 * (vertices + triangles) + vertices);
    float *points = tml_alloc(job->tml, size);
    if (!points)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %zu bytes on the host", name, size);
    uint32_t *indices = (uint32_t *)(points + 3 * vertices);
    tml_status status =
        tml_buffer_read_range(job->tml, job->result.buffers.positions, 0, vertices, points);
    if (status == TML_OK)
        status =
            tml_buffer_read_range(job->tml, job->result.buffers.indices, 0, triangles, indices);
    bool is_right =
        triangles == 2 * vertices &&
        is_used(indices, triangles, (uint8_t *)(indices + 3 * triangles), vertices, is_regular);
    for (uint64_t v = 0; v < vertices; v++)
        is_right &= is_on_torus(points + 3 * v);
    tml_free(job->tml, points, size);
    if (status != TML_OK || is_right)
        return status;
    return tml_error(job->tml, TML_ERROR_INTERNAL, "%s: what comes out is no torus", name);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static tml_status upload(tml_context *tml, uint32_t around, uint32_t across,
                         tml_subdivider_desc *out)
{
    bench_mesh mesh;
    if (!bench_torus(thickness, around, across, &mesh))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a torus");
    tml_status status = tml_buffer_create(tml,
                                          &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                             .count = mesh.vertex_count,
                                                             .data = mesh.vertices},
                                          &out->positions);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3),
                                                      .count = mesh.triangle_count,
                                                      .data = mesh.indices},
                                   &out->indices);
    bench_mesh_free(&mesh);
    return status;
}

static void end_case(subdivide_case *job)
{
    tml_subdivide_free(job->tml, &job->result);
    tml_subdivider_destroy(job->subdivider);
    tml_buffer_destroy(job->tml, job->mesh.positions);
    tml_buffer_destroy(job->tml, job->mesh.indices);
}

static void time_case(bench_job timed, const char *key, tml_status *status)
{
    const subdivide_case *job = timed.user;
    if (!bench_begins(job->pace, timed.name) || *status != TML_OK)
        return;
    if (bench_run(&timed, 1, job->pace))
        job->take(job->take_user, &(bench_subdivide_row){.name = timed.name,
                                                         .key = key,
                                                         .triangles = job->result.triangle_count,
                                                         .time = timed.time});
    else
        *status = tml_is_cancelled(job->tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
}

/* The device's clock counts where it has one, and what only enqueues is waited for where not. */
static tml_status time_uniform(subdivide_case job)
{
    tml_context *tml = job.tml;
    tml_status status = upload(tml, COARSE_AROUND, COARSE_ACROSS, &job.mesh);
    if (status == TML_OK)
        status = tml_subdivider_create(tml, &job.mesh, &job.subdivider);
    if (status == TML_OK)
        status = tml_subdivide_uniform(job.subdivider, &job.uniform, &job.result);
    if (status == TML_OK)
        status = check(&job, "uniform", true);
    bench_job timed = {.user = &job, .run = run_uniform, .device = tml};
    timed.name = "topology and positions", timed.before = renew;
    time_case(timed, "first", &status);
    timed.name = "triangles, positions again", timed.before = NULL;
    time_case(timed, "again", &status);
    timed.name = "and limit, normals";
    job.uniform.limit = job.uniform.normals = true;
    if (status == TML_OK) {
        tml_subdivide_free(tml, &job.result);
        job.uniform.buffers = job.result.buffers;
        status = tml_subdivide_uniform(job.subdivider, &job.uniform, &job.result);
    }
    if (status == TML_OK)
        status = check(&job, "limit", true);
    time_case(timed, "limit", &status);
    end_case(&job);
    return status;
}

/* Above the torus and to its side, which fills most of the picture. */
static tml_subdivide_camera make_camera(void)
{
    const double angle = 0.8, distance = 3.4, focal = 2.2; /* focal length over half the height */
    double c = cos(angle), s = sin(angle), near = 0.1, far = 10;
    double depth_scale = (far + near) / (far - near), depth_shift = 2 * far * near / (far - near);
    double x_scale = focal * HEIGHT / WIDTH;
    tml_subdivide_camera camera = {.width = WIDTH, .height = HEIGHT};
    const double rows[16] = {x_scale,
                             0,
                             0,
                             0,
                             0,
                             focal * c,
                             focal * s,
                             0,
                             0,
                             depth_scale * s,
                             -depth_scale * c,
                             depth_scale * distance - depth_shift,
                             0,
                             s,
                             -c,
                             distance};
    for (int i = 0; i < 16; i++)
        camera.matrix[i] = (float)rows[i];
    return camera;
}

static tml_status time_adaptive(subdivide_case job)
{
    tml_context *tml = job.tml;
    tml_status status = upload(tml, FINE_AROUND, FINE_ACROSS, &job.mesh);
    if (status == TML_OK)
        status = tml_subdivider_create(tml, &job.mesh, &job.subdivider);
    if (status == TML_OK)
        status = tml_subdivide_adaptive(job.subdivider, &job.adaptive, &job.result);
    if (status == TML_OK)
        status = check(&job, "adaptive", false);
    time_case((bench_job){.user = &job, .name = "adaptive, edges of 8 pixels", .run = run_adaptive},
              "adaptive", &status);
    end_case(&job);
    return status;
}

tml_status bench_subdivide(tml_context *tml, uint32_t levels, const bench_pace *pace,
                           void (*take)(void *user, const bench_subdivide_row *row), void *user)
{
    subdivide_case job = {.tml = tml,
                          .uniform.levels = levels,
                          .adaptive = {.criterion = TML_SPLIT_PIXELS,
                                       .threshold = longest_pixels,
                                       .camera = make_camera()},
                          .pace = pace,
                          .take = take,
                          .take_user = user};
    tml_status status = time_uniform(job);
    tml_status other =
        status == TML_OK || status == TML_ERROR_CANCELLED ? time_adaptive(job) : status;
    return status == TML_OK ? other : status;
}
