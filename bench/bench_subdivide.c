/* Benchmarks of subdivision. */
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

/* One job: a subdivider and its results, computed repeatedly into the same buffers. */
typedef struct subdivide_case {
    tml_context *tml;
    tml_subdivider_desc mesh;
    tml_subdivider *subdivider;
    tml_subdivide_uniform_desc uniform;
    tml_subdivide_adaptive_desc adaptive;
    tml_subdivide_result result;       /* whose buffers the next run fills */
    tml_subdivide_adaptive_desc frame; /* the same enqueued */
    uint32_t frames;                   /* looked at so far */
    const bench_pace *pace;
    void (*take)(void *user, const bench_subdivide_row *row);
    void *take_user;
} subdivide_case;

/* A subdivider without levels, only the mesh. */
static bool renew(void *user)
{
    subdivide_case *job = user;
    tml_subdivider_destroy(job->tml, job->subdivider);
    return tml_subdivider_create(job->tml, &job->mesh, &job->subdivider) == TML_OK;
}

static bool run_uniform(void *user)
{
    subdivide_case *job = user;
    uint32_t owned = job->result.owned;
    job->uniform.buffers = job->result.buffers;
    tml_status status = tml_subdivide_uniform_enqueue(job->subdivider, &job->uniform, &job->result);
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

/* Above the torus and to its side, which fills most of the picture. */
static tml_subdivide_camera make_camera(double angle)
{
    const double distance = 3.4, focal = 2.2; /* focal length over half the height */
    double c = cos(angle), s = sin(angle), near = 0.1, far = 10;
    double depth_scale = (far + near) / (far - near), depth_shift = 2 * far * near / (far - near);
    double x_scale = focal * HEIGHT / WIDTH;
    tml_subdivide_camera camera = {.width = WIDTH, .height = HEIGHT, .nearest = 0.01f};
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

/* Each run sees the torus from another side, alternately from above and below. */
static void move_camera(subdivide_case *job)
{
    uint32_t step = job->frames++ % 16;
    job->adaptive.camera = make_camera(0.8 + 0.01 * (step < 8 ? step : 16 - step));
}

static bool run_moved(void *user)
{
    move_camera(user);
    return run_adaptive(user);
}

static bool run_frame(void *user)
{
    subdivide_case *job = user;
    float camera[TML_SUBDIVIDE_CAMERA_FLOATS] = {0};
    move_camera(job);
    memcpy(camera, job->adaptive.camera.matrix, sizeof job->adaptive.camera.matrix);
    camera[16] = WIDTH, camera[17] = HEIGHT, camera[18] = job->adaptive.camera.nearest;
    return tml_buffer_write(job->tml, job->frame.camera_buffer, 0, TML_SUBDIVIDE_CAMERA_FLOATS,
                            camera) == TML_OK &&
           tml_subdivide_adaptive_enqueue(job->subdivider, &job->frame) == TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Is the point approximately on the torus? A smoothed surface lies slightly inside it. */
static bool is_on_torus(const float p[3])
{
    double radius = hypot((double)p[0], (double)p[1]) - 1;
    double from_circle = hypot(radius, (double)p[2]);
    return from_circle < 1.001 * thickness && from_circle > 0.97 * thickness;
}

/* Counts how often triangles use each vertex: six times if every triangle was split into four. */
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
        tml_buffer_read_range(job->tml, job->result.buffers.mesh.positions, 0, vertices, points);
    if (status == TML_OK)
        status = tml_buffer_read_range(job->tml, job->result.buffers.mesh.indices, 0, triangles,
                                       indices);
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
                                          &out->mesh.positions);
    TML_THEN(status, tml_buffer_create(tml,
                                       &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3),
                                                          .count = mesh.triangle_count,
                                                          .data = mesh.indices},
                                       &out->mesh.indices));
    bench_mesh_free(&mesh);
    return status;
}

static void end_case(subdivide_case *job)
{
    tml_subdivide_free(job->tml, &job->result);
    tml_subdivider_destroy(job->tml, job->subdivider);
    tml_buffer_destroy(job->tml, job->mesh.mesh.positions);
    tml_buffer_destroy(job->tml, job->mesh.mesh.indices);
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

/* Jobs are timed by the device's clock if it has one. If not, a job that only enqueues waits at its
 * end. */
static tml_status time_uniform(subdivide_case job)
{
    tml_context *tml = job.tml;
    tml_status status = upload(tml, COARSE_AROUND, COARSE_ACROSS, &job.mesh);
    TML_THEN(status, tml_subdivider_create(tml, &job.mesh, &job.subdivider));
    TML_THEN(status, tml_subdivide_uniform_enqueue(job.subdivider, &job.uniform, &job.result));
    TML_THEN(status, check(&job, "uniform", true));
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
        status = tml_subdivide_uniform_enqueue(job.subdivider, &job.uniform, &job.result);
    }
    TML_THEN(status, check(&job, "limit", true));
    time_case(timed, "limit", &status);
    end_case(&job);
    return status;
}

/* The buffers of a frame, with room for a quarter more than the mesh so far, and for as many
 * levels. */
static tml_status make_frame(subdivide_case *job)
{
    tml_context *tml = job->tml;
    tml_mesh_buffers *to = &job->frame.buffers.mesh;
    const uint64_t vertices = job->result.vertex_count + job->result.vertex_count / 4;
    const uint64_t triangles = job->result.triangle_count + job->result.triangle_count / 4;
    const struct {
        tml_buffer *buffer;
        tml_buffer_desc desc;
    } all[] = {{&to->positions, {.type = TML_VEC(TML_F32, 3), .count = vertices}},
               {&to->indices, {.type = TML_VEC(TML_U32, 3), .count = triangles}},
               {&job->frame.camera_buffer, {.type = TML_F32, .count = TML_SUBDIVIDE_CAMERA_FLOATS}},
               {&job->frame.counts, {.type = TML_U32, .count = 3}},
               {&job->frame.draw, {.type = TML_U32, .count = 5}}};
    tml_status status = TML_OK;
    tml_subdivide_free(tml, &job->result);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == TML_OK; i++)
        status = tml_buffer_create(tml, &all[i].desc, all[i].buffer);
    return status;
}

/* One frame, whose mesh is then the result. */
static tml_status check_frame(subdivide_case *job)
{
    uint32_t counts[3];
    if (!run_frame(job))
        return TML_ERROR_INTERNAL;
    tml_status status = tml_buffer_read(job->tml, job->frame.counts, counts);
    if (status != TML_OK)
        return status;
    job->result = (tml_subdivide_result){
        .buffers = job->frame.buffers, .vertex_count = counts[0], .triangle_count = counts[1]};
    return counts[2]
               ? tml_error(job->tml, TML_ERROR_CAPACITY, "enqueued: too little room, %u", counts[2])
               : check(job, "enqueued", false);
}

static void time_frame(subdivide_case *job, tml_status *status)
{
    const uint32_t depth = job->result.depth;
    job->frame = job->adaptive;
    job->frame.buffers = (tml_subdivide_buffers){.origins = {0, 0}};
    job->frame.max_depth = depth;
    TML_THEN(*status, make_frame(job));
    TML_THEN(*status, check_frame(job));
    time_case((bench_job){.user = job,
                          .name = "the same, enqueued in a frame",
                          .run = run_frame,
                          .device = job->tml},
              "frame", status);
    TML_THEN(*status, check_frame(job));
    tml_buffer_destroy(job->tml, job->frame.buffers.mesh.positions);
    tml_buffer_destroy(job->tml, job->frame.buffers.mesh.indices);
    tml_buffer_destroy(job->tml, job->frame.camera_buffer);
    tml_buffer_destroy(job->tml, job->frame.counts);
    tml_buffer_destroy(job->tml, job->frame.draw);
    job->result = (tml_subdivide_result){.owned = 0};
}

static tml_status time_adaptive(subdivide_case job)
{
    tml_context *tml = job.tml;
    tml_status status = upload(tml, FINE_AROUND, FINE_ACROSS, &job.mesh);
    TML_THEN(status, tml_subdivider_create(tml, &job.mesh, &job.subdivider));
    TML_THEN(status, tml_subdivide_adaptive(job.subdivider, &job.adaptive, &job.result));
    TML_THEN(status, check(&job, "adaptive", false));
    time_case((bench_job){.user = &job, .name = "adaptive, edges of 8 pixels", .run = run_adaptive},
              "adaptive", &status);
    time_case((bench_job){.user = &job, .name = "the same, the camera moved", .run = run_moved},
              "moved", &status);
    time_frame(&job, &status);
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
                                       .camera = make_camera(0.8)},
                          .pace = pace,
                          .take = take,
                          .take_user = user};
    tml_status status = time_uniform(job);
    tml_status other =
        status == TML_OK || status == TML_ERROR_CANCELLED ? time_adaptive(job) : status;
    return status == TML_OK ? other : status;
}
