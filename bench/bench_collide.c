/* Benchmarked collisions. */
#include "bench_collide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One job: a tree, or a query. */
typedef struct collide_case {
    tml_context *tml;
    tml_tree_desc mesh;
    tml_tree *tree;
    tml_collide_desc desc; /* a is NULL: build; or refit the tree if there is one */
    enum { ON_HOST, BUILT_THERE, REFITTED_THERE } where;
    tml_tree_nearest_desc points; /* or none */
    tml_tree_cast_desc rays;      /* or none */
    tml_tree_distance_grid_desc volume;
    tml_collide_distance_desc apart; /* or none */
    tml_collide_distance_result *distances;
    tml_collide_distance_desc frame; /* the same in a frame, or none */
    uint64_t pairs;
    const bench_pace *pace;
    void (*take)(void *user, const bench_collide_row *row);
    void *take_user;
} collide_case;

static bool run_case(void *user)
{
    collide_case *job = user;
    if (job->rays.tree)
        return tml_tree_cast(job->tml, &job->rays) == TML_OK && tml_sync(job->tml) == TML_OK;
    if (job->points.tree)
        return tml_tree_nearest(job->tml, &job->points) == TML_OK;
    if (job->volume.tree)
        return tml_tree_distance_grid(job->tml, &job->volume) == TML_OK;
    if (job->frame.a)
        return tml_collide_distance_enqueue(job->tml, &job->frame) == TML_OK &&
               tml_sync(job->tml) == TML_OK;
    if (job->apart.a)
        return tml_collide_distance(job->tml, &job->apart, job->distances) == TML_OK;
    if (job->desc.a) {
        tml_collide_result result;
        if (tml_collide(job->tml, &job->desc, &result))
            return false;
        job->pairs = result.count;
        tml_collide_free(job->tml, &result);
        return true;
    }
    if (job->tree && job->where)
        return tml_tree_update_enqueue(job->tml, job->tree, job->mesh.vertices,
                                       job->where == BUILT_THERE ? TML_TREE_REBUILD
                                                                 : TML_TREE_REFIT) == TML_OK &&
               tml_sync(job->tml) == TML_OK;
    if (job->tree)
        return tml_tree_update(job->tml, job->tree, job->mesh.vertices, TML_TREE_REFIT) == TML_OK;
    tml_tree *tree;
    if (tml_tree_create(job->tml, &job->mesh, &tree))
        return false;
    tml_tree_destroy(job->tml, tree);
    return true;
}

/* Do both descents find the same? (For FIRST: which poses have a pair.) */
static tml_status check_case(const collide_case *job)
{
    tml_collide_result results[2];
    for (int i = 0; i < 2; i++) {
        tml_collide_desc desc = job->desc;
        desc.method = i ? TML_COLLIDE_METHOD_BREADTH_FIRST : TML_COLLIDE_METHOD_DEPTH_FIRST;
        tml_status status = tml_collide(job->tml, &desc, &results[i]);
        if (status != TML_OK) {
            if (i)
                tml_collide_free(job->tml, &results[0]);
            return status;
        }
    }
    bool is_same = memcmp(results[0].first, results[1].first,
                          ((size_t)results[0].pose_count + 1) * sizeof *results[0].first) == 0;
    if (is_same && job->desc.want == TML_COLLIDE_WANT_ALL && results[0].count > 0)
        is_same = memcmp(results[0].pairs, results[1].pairs,
                         (size_t)results[0].count * sizeof *results[0].pairs) == 0;
    tml_collide_free(job->tml, &results[0]);
    tml_collide_free(job->tml, &results[1]);
    return is_same
               ? TML_OK
               : tml_error(job->tml, TML_ERROR_INTERNAL, "the two descents find different pairs");
}

/* Are the hits those of the host? Only the host returns weights. */
static tml_status check_rays(const collide_case *job)
{
    tml_tree_cast_desc desc = job->rays;
    size_t count = (size_t)desc.length.count;
    tml_status status = TML_OK;
    uint32_t *hits[4] = {NULL};
    for (int i = 0; i < 4; i++) {
        hits[i] = malloc(count * sizeof **hits);
        if (!hits[i])
            status = tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu hits", count);
    }
    TML_THEN(status, tml_buffer_create(job->tml,
                                       &(tml_buffer_desc){.type = TML_VEC(TML_F32, 2),
                                                          .count = desc.length.count},
                                       &desc.barycentrics));
    for (int i = 0; i < 2 && status == TML_OK; i++) {
        status = tml_tree_cast(job->tml, i ? &job->rays : &desc);
        TML_THEN(status, tml_buffer_read(job->tml, desc.triangles, hits[2 * i]));
        TML_THEN(status, tml_buffer_read(job->tml, desc.t, hits[2 * i + 1]));
    }
    for (int i = 0; i < 2 && status == TML_OK; i++)
        if (memcmp(hits[i], hits[2 + i], count * sizeof **hits) != 0)
            status = tml_error(job->tml, TML_ERROR_INTERNAL, "the host finds other hits");
    for (int i = 0; i < 4; i++)
        free(hits[i]);
    tml_buffer_destroy(job->tml, desc.barycentrics);
    return status;
}

/* Do both methods return the same? */
static tml_status check_distances(const collide_case *job)
{
    tml_collide_distance_desc desc = job->apart;
    uint32_t count = desc.pose_count < BENCH_COLLIDE_POSES ? desc.pose_count : BENCH_COLLIDE_POSES;
    tml_collide_distance_result deep[BENCH_COLLIDE_POSES];
    desc.pose_count = count;
    desc.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
    tml_status status = tml_collide_distance(job->tml, &desc, deep);
    desc.method = TML_COLLIDE_METHOD_BREADTH_FIRST;
    TML_THEN(status, tml_collide_distance(job->tml, &desc, job->distances));
    for (uint32_t p = 0; p < count && status == TML_OK; p++) {
        const tml_collide_distance_result *x = &deep[p], *y = &job->distances[p];
        if (x->distance != y->distance || x->a != y->a || x->b != y->b)
            status = tml_error(
                job->tml, TML_ERROR_INTERNAL,
                "pose %u: %.17g of %u and %u depth first, %.17g of %u and %u breadth first", p,
                x->distance, x->a, x->b, y->distance, y->a, y->b);
    }
    return status;
}

static void time_case(collide_case *job, const char *name, uint32_t poses, tml_status *status)
{
    bench_job timed = {.name = name, .run = run_case, .user = job};
    if (!bench_begins(job->pace, name))
        return;
    if (*status == TML_OK && job->desc.a)
        *status = check_case(job);
    if (*status == TML_OK && job->rays.tree && job->rays.want == TML_TREE_CAST_NEAREST)
        *status = check_rays(job);
    if (*status == TML_OK && job->apart.a)
        *status = check_distances(job);
    if (*status != TML_OK)
        return;
    if (!bench_run(&timed, 1, job->pace)) {
        *status = tml_is_cancelled(job->tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
        return;
    }
    job->take(job->take_user,
              &(bench_collide_row){.name = name,
                                   .poses = poses,
                                   .pairs = job->pairs,
                                   .rays = job->rays.tree ? job->rays.length.count : 0,
                                   .time = timed.time});
}

/* Creates buffers: on the device, or over the mesh's own memory. */
static tml_status upload(tml_context *tml, const bench_mesh *mesh, tml_tree_desc *out)
{
    const void *vertices = out->on_device ? mesh->vertices : NULL;
    const void *indices = out->on_device ? mesh->indices : NULL;
    tml_status status =
        tml_buffer_create(tml,
                          &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                             .count = mesh->vertex_count,
                                             .data = vertices,
                                             .host = vertices ? NULL : mesh->vertices},
                          &out->vertices);
    TML_THEN(status, tml_buffer_create(tml,
                                       &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3),
                                                          .count = mesh->triangle_count,
                                                          .data = indices,
                                                          .host = indices ? NULL : mesh->indices},
                                       &out->indices));
    return status;
}

/* The mesh on the device: a tree is built there from it, rebuilt and refitted. */
static tml_status time_there(const collide_case *host, const bench_mesh *mesh)
{
    collide_case job = *host;
    job.mesh = (tml_tree_desc){.on_device = true};
    job.tree = NULL;
    tml_status status = upload(job.tml, mesh, &job.mesh);
    time_case(&job, "build one on the device", 0, &status);
    TML_THEN(status, tml_tree_create(job.tml, &job.mesh, &job.tree));
    job.where = BUILT_THERE;
    time_case(&job, "build it anew there", 0, &status);
    job.where = REFITTED_THERE;
    time_case(&job, "refit it there", 0, &status);
    tml_tree_destroy(job.tml, job.tree);
    tml_buffer_destroy(job.tml, job.mesh.vertices);
    tml_buffer_destroy(job.tml, job.mesh.indices);
    return status;
}

/* A number from 0 to 1. */
static float next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-24f;
}

static tml_status points_make(tml_context *tml, const tml_vec3 *points, tml_buffer *out)
{
    return tml_buffer_create(tml,
                             &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                .count = BENCH_COLLIDE_POINTS,
                                                .data = points},
                             out);
}

/* Two rows: which points of the box around the mesh, in random order, lie inside the mesh; and what
 * is nearest to points within a hundredth of the box's size of a vertex. */
static tml_status time_points(const collide_case *host, const bench_mesh *mesh, tml_tree *tree)
{
    collide_case job = *host;
    const uint64_t count = BENCH_COLLIDE_POINTS;
    tml_tree_info box;
    tml_tree_describe(tree, &box);
    tml_vec3 *within = malloc(2 * BENCH_COLLIDE_POINTS * sizeof *within), *near_mesh = within;
    if (!within)
        return tml_error(job.tml, TML_ERROR_OUT_OF_MEMORY, "no memory for points");
    near_mesh += count;
    uint32_t state = 1;
    for (uint64_t i = 0; i < count; i++) {
        const float *vertex = mesh->vertices + 3 * (i * 7919 % mesh->vertex_count);
        float at[2][3];
        for (int axis = 0; axis < 3; axis++) {
            float size = box.upper[axis] - box.lower[axis];
            at[0][axis] = box.lower[axis] + size * next_random(&state);
            at[1][axis] = vertex[axis] + 0.02f * size * (next_random(&state) - 0.5f);
        }
        within[i] = (tml_vec3){at[0][0], at[0][1], at[0][2]};
        near_mesh[i] = (tml_vec3){at[1][0], at[1][1], at[1][2]};
    }
    tml_buffer points[2] = {{0, 0}, {0, 0}}, sides = {0, 0}, distances = {0, 0}, positions = {0, 0},
               triangles = {0, 0};
    tml_status status = points_make(job.tml, within, &points[0]);
    TML_THEN(status, points_make(job.tml, near_mesh, &points[1]));
    free(within);
    const struct {
        tml_buffer *buffer;
        tml_type type;
    } outputs[] = {{&sides, TML_U8},
                   {&distances, TML_F32},
                   {&positions, TML_VEC(TML_F32, 3)},
                   {&triangles, TML_U32}};
    for (int i = 0; i < 4 && status == TML_OK; i++)
        status =
            tml_buffer_create(job.tml, &(tml_buffer_desc){.type = outputs[i].type, .count = count},
                              outputs[i].buffer);
    job.points = (tml_tree_nearest_desc){.tree = tree, .points = points[0], .sides = sides};
    time_case(&job, "2^20 points, inside?", 0, &status);
    job.points = (tml_tree_nearest_desc){.tree = tree,
                                         .points = points[1],
                                         .distances = distances,
                                         .positions = positions,
                                         .triangles = triangles};
    time_case(&job, "nearest of 2^20 points", 0, &status);
    tml_buffer_destroy(job.tml, points[0]);
    tml_buffer_destroy(job.tml, points[1]);
    for (int i = 0; i < 4; i++)
        tml_buffer_destroy(job.tml, *outputs[i].buffer);
    return status;
}

/* Signed distances within three samples of the mesh, on a grid around it. */
static tml_status time_volume(const collide_case *host, tml_tree *tree, uint32_t side)
{
    collide_case job = *host;
    tml_tree_info box;
    char name[40];
    tml_tree_describe(tree, &box);
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, (double)box.upper[k] - (double)box.lower[k]);
    double spacing = size / (side - 9);
    job.volume = (tml_tree_distance_grid_desc){
        .tree = tree, .is_signed = true, .band = (float)(3 * spacing)};
    for (int k = 0; k < 3; k++) {
        job.volume.grid.dims[k] = side;
        job.volume.grid.spacing[k] = spacing;
        job.volume.grid.origin[k] =
            ((double)box.lower[k] + (double)box.upper[k] - spacing * (side - 1)) / 2;
    }
    snprintf(name, sizeof name, "band of +-3 cells, %u^3", side);
    tml_status status = tml_buffer_create(
        job.tml, &(tml_buffer_desc){.type = TML_F32, .count = (uint64_t)side * side * side},
        &job.volume.out);
    time_case(&job, name, 0, &status);
    tml_buffer_destroy(job.tml, job.volume.out);
    return status;
}

/* Measures the nearest hits of rays, and whether rays hit anything. */
static tml_status time_rays(const collide_case *host, const bench_mesh *mesh, uint64_t count)
{
    collide_case job = *host;
    tml_tree_desc desc = {.skip_broken = false};
    tml_tree *tree = NULL;
    char name[48];
    float *rays = malloc((size_t)count * 6 * sizeof *rays);
    if (!rays)
        return tml_error(job.tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu rays",
                         (unsigned long long)count);
    bench_rays(mesh, count, rays, rays + 3 * count);
    tml_buffer *const buffers[] = {&job.rays.origins, &job.rays.directions, &job.rays.triangles,
                                   &job.rays.t, &job.rays.hits};
    const tml_type types[] = {TML_VEC(TML_F32, 3), TML_VEC(TML_F32, 3), TML_U32, TML_F32, TML_U8};
    tml_status status = upload(job.tml, mesh, &desc);
    TML_THEN(status, tml_tree_create(job.tml, &desc, &tree));
    for (uint32_t i = 0; i < 5 && status == TML_OK; i++)
        status = tml_buffer_create(job.tml,
                                   &(tml_buffer_desc){.type = types[i],
                                                      .count = count,
                                                      .data = i < 2 ? rays + 3 * count * i : NULL},
                                   buffers[i]);
    free(rays);
    job.rays.tree = tree;
    job.rays.length = tml_length_of(count);
    snprintf(name, sizeof name, "%llu rays, nearest hit", (unsigned long long)count);
    tml_buffer triangles = job.rays.triangles, t = job.rays.t, hits = job.rays.hits;
    job.rays.hits = (tml_buffer){0, 0};
    time_case(&job, name, 0, &status);
    snprintf(name, sizeof name, "%llu rays, any hit", (unsigned long long)count);
    job.rays.want = TML_TREE_CAST_ANY;
    job.rays.triangles = job.rays.t = (tml_buffer){0, 0};
    job.rays.hits = hits;
    time_case(&job, name, 0, &status);
    job.rays.triangles = triangles;
    job.rays.t = t;
    for (uint32_t i = 0; i < 5; i++)
        tml_buffer_destroy(job.tml, *buffers[i]);
    tml_tree_destroy(job.tml, tree);
    tml_buffer_destroy(job.tml, desc.vertices);
    tml_buffer_destroy(job.tml, desc.indices);
    return status;
}

/* A torus of a 64th of the triangles. */
static tml_status coarse_tree(tml_context *tml, uint32_t across, tml_tree **out)
{
    bench_mesh mesh;
    tml_tree_desc desc = {.skip_broken = false};
    if (!bench_torus(0.3, across * 5 / 2, across, &mesh))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a coarse torus");
    tml_status status = upload(tml, &mesh, &desc);
    TML_THEN(status, tml_tree_create(tml, &desc, out));
    tml_buffer_destroy(tml, desc.vertices);
    tml_buffer_destroy(tml, desc.indices);
    bench_mesh_free(&mesh);
    return status;
}

/* Queries with many poses, in random order, of which half touch: for all pairs, for their number,
 * and for one pair per pose. */
static tml_status time_poses(collide_case *job, tml_collide_desc desc, uint32_t count)
{
    static const char *const wants[] = {"all", "count", "first"};
    tml_status status = TML_OK;
    float *poses = malloc((size_t)count * 12 * sizeof *poses);
    if (!poses)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %u poses", count);
    for (uint32_t p = 0; p < count; p++) { /* linked ones touch below a shift of 0.15 */
        bench_scene_pose(BENCH_LINKED, poses + 12 * (size_t)p);
        poses[12 * (size_t)p + 3] += 0.3f * (float)((uint64_t)p * 7919 % count) / (float)count;
    }
    for (int want = TML_COLLIDE_WANT_ALL; want <= TML_COLLIDE_WANT_FIRST; want++) {
        char name[40];
        snprintf(name, sizeof name, "%s, %u poses", wants[want], count);
        job->desc = desc;
        job->desc.poses = poses;
        job->desc.pose_count = count;
        job->desc.want = (tml_collide_want)want;
        time_case(job, name, count, &status);
    }
    free(poses);
    return status;
}

static tml_status ball_tree(tml_context *tml, uint64_t triangles, tml_tree **out)
{
    bench_mesh mesh;
    tml_tree_desc desc = {.skip_broken = false};
    if (!bench_ball((uint32_t)sqrt((double)triangles / 2) + 1, &mesh))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a ball");
    tml_status status = upload(tml, &mesh, &desc);
    TML_THEN(status, tml_tree_create(tml, &desc, out));
    tml_buffer_destroy(tml, desc.vertices);
    tml_buffer_destroy(tml, desc.indices);
    bench_mesh_free(&mesh);
    return status;
}

/* host: the row of the host's own; NULL: none. */
static void time_distances(collide_case *job, tml_collide_method method, const char *name,
                           const char *host, const float *poses, uint32_t count, tml_status *status)
{
    tml_collide_distance_result *distances = malloc((size_t)count * sizeof *distances);
    if (!distances && *status == TML_OK)
        *status = tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %u distances", count);
    job->distances = distances;
    job->apart.poses = poses;
    job->apart.pose_count = count;
    job->apart.method = method;
    time_case(job, name, count, status);
    job->apart.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
    if (host)
        time_case(job, host, count, status);
    free(distances);
}

/* The same as the first of these distances, recorded as a frame, with a wait at its end. Skipped if
 * the device has no doubles. */
static void time_frame(const collide_case *host, const float *poses, uint32_t count,
                       const char *name, tml_status *status)
{
    collide_case job = *host;
    tml_device_info device;
    double told = 0;
    uint32_t needed = 0;
    tml_context_describe(job.tml, &device);
    if (*status != TML_OK || device.engine == TML_ENGINE_GL)
        return;
    job.frame = (tml_collide_distance_desc){.a = job.apart.a, .b = job.apart.b};
    *status = tml_buffer_create(
        job.tml, &(tml_buffer_desc){.type = TML_F32, .count = (uint64_t)12 * count, .data = poses},
        &job.frame.pose_buffer);
    TML_THEN(*status,
             tml_buffer_create(job.tml, &(tml_buffer_desc){.type = TML_F64, .count = count},
                               &job.frame.distances));
    TML_THEN(*status, tml_buffer_create(job.tml, &(tml_buffer_desc){.type = TML_U32, .count = 1},
                                        &job.frame.needed));
    tml_collide_distance_result nearest;
    job.apart.poses = poses;
    job.apart.pose_count = 1;
    job.apart.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
    TML_THEN(*status, tml_collide_distance(job.tml, &job.apart, &nearest));
    for (bool is_known = false; *status == TML_OK && !is_known;) { /* what room it needs */
        *status = tml_collide_distance_enqueue(job.tml, &job.frame);
        TML_THEN(*status, tml_buffer_read(job.tml, job.frame.needed, &needed));
        const uint64_t usual = count > 64 ? (uint64_t)1024 * count : 65536;
        is_known = needed <= (job.frame.capacity ? job.frame.capacity : usual);
        if (!is_known)
            job.frame.capacity = needed;
    }
    TML_THEN(*status, tml_buffer_read_range(job.tml, job.frame.distances, 0, 1, &told));
    if (*status == TML_OK && told != nearest.distance)
        *status = tml_error(job.tml, TML_ERROR_INTERNAL, "%.17g in a frame, %.17g on the host",
                            told, nearest.distance);
    job.apart.a = NULL;
    time_case(&job, name, count, status);
    tml_buffer_destroy(job.tml, job.frame.pose_buffer);
    tml_buffer_destroy(job.tml, job.frame.distances);
    tml_buffer_destroy(job.tml, job.frame.needed);
}

/* The distances of balls: two large balls in one pose, and small balls in many rotated poses at all
 * distances. */
static tml_status time_balls(const collide_case *host, const bench_collide_desc *what)
{
    enum { SMALL = 20000 };
    collide_case job = *host;
    uint32_t most = what->poses, few = most / 10 + 1;
    uint64_t small_size = what->balls / 10 < SMALL ? what->balls / 10 : SMALL;
    float one[12];
    float *poses = malloc((size_t)12 * most * sizeof *poses);
    tml_tree *large[2] = {NULL, NULL}, *small[2] = {NULL, NULL};
    tml_status status = TML_OK;
    char name[40], host_name[40];
    if (!poses)
        return tml_error(job.tml, TML_ERROR_OUT_OF_MEMORY, "no memory for poses");
    for (uint32_t p = 0; p < most; p++) {
        double t = (double)((uint64_t)p * 7919 % most) / most;
        bench_pose(poses + 12 * (size_t)p, (double[]){1, t, 0.5}, 20 * t,
                   (double[]){2.05 + t, 0.3 * sin(50 * t), 0.3 * cos(70 * t)});
    }
    for (int i = 0; i < 2 && status == TML_OK; i++) {
        status = ball_tree(job.tml, what->balls, &large[i]);
        TML_THEN(status, ball_tree(job.tml, small_size, &small[i]));
    }
    bench_ball_pose(one);
    job.pairs = 0;
    job.apart = (tml_collide_distance_desc){.a = large[0], .b = large[1]};
    time_distances(&job, what->method, "distance of two balls", "the same on the host", one, 1,
                   &status);
    time_frame(&job, one, 1, "distance in a frame", &status);
    job.apart = (tml_collide_distance_desc){.a = small[0], .b = small[1]};
    snprintf(name, sizeof name, "distances, %u poses", few);
    snprintf(host_name, sizeof host_name, "the same %u on the host", few);
    time_distances(&job, what->method, name, host_name, poses, few, &status);
    snprintf(name, sizeof name, "distances, %u poses in a frame", few);
    time_frame(&job, poses, few, name, &status);
    snprintf(name, sizeof name, "distances, %u poses in all", most);
    time_distances(&job, what->method, name, NULL, poses, most, &status);
    for (int i = 0; i < 2; i++) {
        tml_tree_destroy(job.tml, large[i]);
        tml_tree_destroy(job.tml, small[i]);
    }
    free(poses);
    return status;
}

tml_status bench_collide(tml_context *tml, const bench_collide_desc *what, const bench_pace *pace,
                         void (*take)(void *user, const bench_collide_row *row), void *user)
{
    bench_mesh mesh;
    uint32_t across = (uint32_t)sqrt((double)what->triangles / 5), around = across * 5 / 2;
    if (!bench_torus(0.3, around, across, &mesh))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu triangles",
                         (unsigned long long)what->triangles);
    static float poses[12 * BENCH_COLLIDE_POSES];
    float one[BENCH_SCENES][12];
    for (int scene = 0; scene < BENCH_SCENES; scene++)
        bench_scene_pose((bench_scene)scene, one[scene]);
    for (uint32_t p = 0; p < BENCH_COLLIDE_POSES; p++) { /* the linked ones, slid along */
        memcpy(poses + 12 * p, one[BENCH_LINKED], sizeof one[BENCH_LINKED]);
        poses[12 * p + 3] += 0.001f * (float)p;
    }
    collide_case job = {.tml = tml, .pace = pace, .take = take, .take_user = user};
    tml_status status = upload(tml, &mesh, &job.mesh);
    time_case(&job, "build a tree", 0, &status);
    tml_tree *a = NULL, *b = NULL, *coarse = NULL;
    TML_THEN(status, tml_tree_create(tml, &job.mesh, &a));
    TML_THEN(status, tml_tree_create(tml, &job.mesh, &b));
    job.tree = a;
    time_case(&job, "refit it", 0, &status);
    TML_THEN(status, time_there(&job, &mesh));
    TML_THEN(status, time_points(&job, &mesh, a));
    TML_THEN(status, time_rays(&job, what->target ? what->target : &mesh, what->rays));
    TML_THEN(status, time_volume(&job, a, what->triangles < 100000 ? 64 : 512));
    for (int scene = 0; scene < BENCH_SCENES; scene++) {
        job.desc = (tml_collide_desc){
            .a = a, .b = b, .poses = one[scene], .pose_count = 1, .method = what->method};
        time_case(&job, bench_scene_name((bench_scene)scene), 1, &status);
    }
    job.desc = (tml_collide_desc){
        .a = a, .b = b, .poses = poses, .pose_count = BENCH_COLLIDE_POSES, .method = what->method};
    time_case(&job, "linked tori, 100 poses", BENCH_COLLIDE_POSES, &status);
    job.desc = (tml_collide_desc){.a = a, .method = what->method};
    time_case(&job, "one torus and itself", 1, &status);
    TML_THEN(status, coarse_tree(tml, across / 8 + 2, &coarse));
    bench_small_pose(one[0]);
    job.desc = (tml_collide_desc){
        .a = coarse, .b = b, .poses = one[0], .pose_count = 1, .method = what->method};
    time_case(&job, "small and fine on large", 1, &status);
    tml_tree_destroy(tml, coarse);
    for (int i = 0; i < 2 && status == TML_OK; i++)
        status = time_poses(&job, (tml_collide_desc){.a = a, .b = b, .method = what->method},
                            i ? what->poses : BENCH_COLLIDE_POSES);
    job.desc = (tml_collide_desc){.a = NULL};
    TML_THEN(status, time_balls(&job, what));
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
    tml_buffer_destroy(tml, job.mesh.vertices);
    tml_buffer_destroy(tml, job.mesh.indices);
    bench_mesh_free(&mesh);
    return status;
}
