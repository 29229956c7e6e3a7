/* Prints the tables of image_space.c and self_contained.c. */
#include "papers_meshes.h"
#include "papers_table.h"

#include "bench_meshes.h"
#include "bench_run.h"
#include "papers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tml_status no_memory(tml_context *tml)
{
    (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a torus");
    return TML_ERROR_OUT_OF_MEMORY;
}

static tml_status upload(tml_context *tml, tml_type type, uint64_t count, const void *data,
                         tml_buffer *out)
{
    return tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                             out);
}

/* ---- image space ----------------------------------------------------------------------------- */

/* Two tori as meshes, the second one with the pose applied, and the pairs of triangles that
 * meet. */
typedef struct image_scene {
    bench_mesh mesh[2];
    papers_image_mesh view[2];
    uint8_t *kept[2];
    uint32_t side;
    tml_collide_result exact;
} image_scene;

static void scene_free(tml_context *tml, image_scene *scene)
{
    tml_collide_free(tml, &scene->exact);
    for (int m = 0; m < 2; m++) {
        bench_mesh_free(&scene->mesh[m]);
        free(scene->kept[m]);
    }
}

static tml_status collide_scene(tml_context *tml, image_scene *scene)
{
    tml_tree *trees[2] = {NULL, NULL};
    tml_status status = TML_OK;
    for (int m = 0; m < 2 && !status; m++) {
        const bench_mesh *mesh = &scene->mesh[m];
        tml_buffer vertices = {0, 0}, indices = {0, 0};
        status = upload(tml, TML_VEC(TML_F32, 3), mesh->vertex_count, mesh->vertices, &vertices);
        if (!status)
            status =
                upload(tml, TML_VEC(TML_U32, 3), mesh->triangle_count, mesh->indices, &indices);
        if (!status)
            status = tml_tree_create(
                tml, &(tml_tree_desc){.vertices = vertices, .indices = indices}, &trees[m]);
        tml_buffer_destroy(tml, vertices);
        tml_buffer_destroy(tml, indices);
    }
    if (!status)
        status = tml_collide(tml, &(tml_collide_desc){.a = trees[0], .b = trees[1]}, &scene->exact);
    tml_tree_destroy(tml, trees[0]);
    tml_tree_destroy(tml, trees[1]);
    return status;
}

static tml_status make_scene(tml_context *tml, bench_scene kind, uint64_t triangles,
                             image_scene *out)
{
    uint32_t across = (uint32_t)ceil(sqrt((double)triangles / 5)), around = across * 5 / 2;
    float pose[12];
    bool is_made = true;
    *out = (image_scene){.side = 0};
    bench_scene_pose(kind, pose);
    for (int m = 0; m < 2; m++) {
        bench_mesh *mesh = &out->mesh[m];
        is_made = bench_torus(0.3, around, across, mesh) && is_made;
        out->kept[m] = malloc(mesh->triangle_count);
        is_made = is_made && out->kept[m];
        out->view[m] = (papers_image_mesh){mesh->vertices, mesh->indices, mesh->vertex_count,
                                           mesh->triangle_count};
    }
    for (uint32_t i = 0; i < out->mesh[1].vertex_count && is_made; i++) {
        float *v = out->mesh[1].vertices + 3 * (size_t)i, moved[3];
        for (int r = 0; r < 3; r++)
            moved[r] = pose[4 * r] * v[0] + pose[4 * r + 1] * v[1] + pose[4 * r + 2] * v[2] +
                       pose[4 * r + 3];
        memcpy(v, moved, sizeof moved);
    }
    return is_made ? collide_scene(tml, out) : no_memory(tml);
}

static bool run_images(void *user)
{
    image_scene *scene = user;
    return papers_image_candidates(scene->view, scene->side, scene->kept) == TML_OK;
}

static tml_status print_side(tml_context *tml, image_scene *scene, uint32_t side, uint32_t repeats)
{
    scene->side = side;
    bench_job timed = {.name = "image space", .run = run_images, .user = scene};
    if (!bench_run(&timed, 1, &(bench_pace){.goes_on = papers_tell_row, .repeats = repeats}))
        return no_memory(tml);
    uint64_t missed = 0, kept = 0;
    for (uint64_t i = 0; i < scene->exact.count; i++)
        missed +=
            !scene->kept[0][scene->exact.pairs[i].a] || !scene->kept[1][scene->exact.pairs[i].b];
    for (int m = 0; m < 2; m++)
        for (uint32_t i = 0; i < scene->mesh[m].triangle_count; i++)
            kept += scene->kept[m][i];
    printf("%6u x %-6u %12llu %10llu %8.1f %% %10.0f\n", (unsigned)side, (unsigned)side,
           (unsigned long long)kept, (unsigned long long)missed,
           100.0 * (double)missed / (double)scene->exact.count, 1e3 * timed.time.median_s);
    return TML_OK;
}

tml_status images_print(tml_context *tml, uint64_t triangles, uint32_t repeats)
{
    tml_status status = TML_OK;
    for (int kind = BENCH_LINKED; kind <= BENCH_COINCIDENT && !status; kind++) {
        image_scene scene;
        status = make_scene(tml, (bench_scene)kind, triangles, &scene);
        if (!status)
            printf("image space: %s, %u triangles each, %llu pairs meet\n\n%-15s %12s %10s %10s "
                   "%10s\n",
                   bench_scene_name((bench_scene)kind), (unsigned)scene.mesh[0].triangle_count,
                   (unsigned long long)scene.exact.count, "pixels", "candidates", "missed", "",
                   "ms");
        for (uint32_t side = 128; side <= 2048 && !status; side *= 4)
            status = print_side(tml, &scene, side, repeats);
        scene_free(tml, &scene);
        putchar('\n');
    }
    return status;
}

/* ---- self-contained triangles ---------------------------------------------------------------- */

enum { AROUND = 32, ACROSS = 16, BASE = 2 * AROUND * ACROSS, LEVELS = 5 };

/* levels are made of a torus, both ways. */
typedef struct self_job {
    tml_context *tml;
    uint32_t levels;
    tml_buffer records[LEVELS + 1]; /* of each level; [0]: of the torus */
    tml_buffer mesh[2];
    tml_subdivider *subdivider;
    tml_subdivide_result result;
} self_job;

static bool run_selves(void *user)
{
    const self_job *job = user;
    tml_status status = TML_OK;
    for (uint32_t l = 0; l < job->levels && !status; l++)
        status = papers_self_split(job->tml, (uint64_t)BASE << 2 * l, job->records[l],
                                   job->records[l + 1]);
    return !status && tml_sync(job->tml) == TML_OK;
}

/* A subdivider that has no levels yet. */
static bool renew(void *user)
{
    self_job *job = user;
    tml_subdivider_destroy(job->tml, job->subdivider);
    return tml_subdivider_create(
               job->tml,
               &(tml_subdivider_desc){.mesh = {.positions = job->mesh[0], .indices = job->mesh[1]}},
               &job->subdivider) == TML_OK;
}

static bool run_library(void *user)
{
    self_job *job = user;
    uint32_t owned = job->result.owned;
    tml_status status = tml_subdivide_uniform_enqueue(
        job->subdivider,
        &(tml_subdivide_uniform_desc){.levels = job->levels, .buffers = job->result.buffers},
        &job->result);
    job->result.owned |= owned;
    return !status && tml_sync(job->tml) == TML_OK;
}

/* Do a corner's bits differ from those of the same vertex in an earlier triangle? */
static bool is_apart(const float *corner, float *seen)
{
    if (isnan(seen[0]))
        memcpy(seen, corner, 3 * sizeof *seen);
    return memcmp(corner, seen, 3 * sizeof *seen) != 0;
}

/* The number of corners of the records that have come apart, and the largest distance of a corner
 * from the library's vertex. */
static tml_status compare(const self_job *job, uint64_t *apart, double *farthest)
{
    const uint64_t count = (uint64_t)BASE << 2 * job->levels, words = 3 * job->result.vertex_count;
    float *records = malloc(count * 192), *vertices = malloc(words * 4), *seen = malloc(words * 4);
    uint32_t *indices = malloc(count * 12);
    tml_status status = records && vertices && seen && indices ? TML_OK : no_memory(job->tml);
    *apart = 0;
    *farthest = 0;
    if (!status)
        status = tml_buffer_read(job->tml, job->records[job->levels], records);
    if (!status)
        status = tml_buffer_read(job->tml, job->result.buffers.mesh.positions, vertices);
    if (!status)
        status = tml_buffer_read(job->tml, job->result.buffers.mesh.indices, indices);
    for (uint64_t i = 0; i < words && !status; i++)
        seen[i] = NAN;
    for (uint64_t i = 0; i < 3 * count && !status; i++) {
        const float *corner = records + 48 * (i / 3) + 4 * (i % 3);
        *apart += is_apart(corner, seen + 3 * (size_t)indices[i]);
        for (int k = 0; k < 3; k++)
            *farthest = fmax(*farthest, fabs((double)corner[k] -
                                             (double)vertices[3 * (size_t)indices[i] + (size_t)k]));
    }
    free(records);
    free(vertices);
    free(seen);
    free(indices);
    return status;
}

static tml_status print_level(self_job *job, uint32_t repeats)
{
    bench_job jobs[] = {{.name = "self-contained triangles", .run = run_selves, .user = job},
                        {.name = "library", .run = run_library, .user = job, .before = renew}};
    uint64_t count = (uint64_t)BASE << 2 * job->levels, apart = 0;
    double farthest = 0;
    tml_status status =
        upload(job->tml, TML_VEC(TML_F32, 4), 12 * count, NULL, &job->records[job->levels]);
    if (!status &&
        !bench_run(jobs, 2, &(bench_pace){.goes_on = papers_tell_row, .repeats = repeats}))
        status = TML_ERROR_INTERNAL;
    if (!status)
        status = compare(job, &apart, &farthest);
    /* Three half-edges of four words, and half a vertex of seven. */
    if (!status)
        printf("%9llu %12.1f %12.1f %12.2f %12.2f %12.1f %% %10.1e\n", (unsigned long long)count,
               (double)count * 192 / 0x1p20, (double)count * (48 + 14) / 0x1p20,
               1e3 * jobs[0].time.median_s, 1e3 * jobs[1].time.median_s,
               100.0 * (double)apart / (3.0 * (double)count), farthest);
    tml_subdivide_free(job->tml, &job->result);
    return status;
}

tml_status selves_print(tml_context *tml, uint32_t repeats)
{
    self_job job = {.tml = tml};
    bench_mesh torus;
    tml_device_info device;
    float *records = malloc((size_t)BASE * 192);
    bool is_made = bench_torus(0.3, AROUND, ACROSS, &torus) && records;
    tml_status status = is_made ? TML_OK : no_memory(tml);
    tml_context_describe(tml, &device);
    if (!status) {
        papers_self_torus(torus.vertices, AROUND, ACROSS, records);
        status = upload(tml, TML_VEC(TML_F32, 4), 12 * BASE, records, &job.records[0]);
    }
    if (!status)
        status = upload(tml, TML_VEC(TML_F32, 3), torus.vertex_count, torus.vertices, &job.mesh[0]);
    if (!status)
        status =
            upload(tml, TML_VEC(TML_U32, 3), torus.triangle_count, torus.indices, &job.mesh[1]);
    if (!status)
        printf("self-contained triangles, %s: a torus, subdivided from %d triangles\n\n%9s %25s "
               "%25s %25s\n"
               "%9s %12s %12s %12s %12s %14s %10s\n",
               device.name, BASE, "", "MiB", "ms", "corners apart, and off", "triangles", "self-c.",
               "library", "self-c.", "library", "", "");
    uint32_t most = device.is_software ? LEVELS - 2 : LEVELS;
    for (job.levels = 1; job.levels <= most && !status; job.levels++)
        status = print_level(&job, repeats);
    for (int l = 0; l <= LEVELS; l++)
        tml_buffer_destroy(tml, job.records[l]);
    tml_buffer_destroy(tml, job.mesh[0]);
    tml_buffer_destroy(tml, job.mesh[1]);
    tml_subdivider_destroy(tml, job.subdivider);
    bench_mesh_free(&torus);
    free(records);
    return status;
}
