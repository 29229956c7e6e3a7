/* Prints the table of oriented_boxes.c. */
#include "papers_boxes.h"
#include "papers_table.h"

#include "bench_meshes.h"
#include "bench_run.h"
#include "papers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/meshes.h>

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef enum solid_kind { TORUS, INNER_TORUS, SPOT, SUZANNE, FANDISK, SOLIDS } solid_kind;

static const struct {
    const char *file; /* NULL: a torus */
    double thickness;
    uint32_t levels; /* of subdivision */
} solids[SOLIDS] = {
    {NULL, 0.3, 0}, {NULL, 0.297, 0}, {"spot", 0, 3}, {"suzanne", 0, 4}, {"fandisk", 0, 2}};

typedef struct solid {
    tml_tree *tree;
    papers_oriented *boxes;
} solid;

static tml_status upload(tml_context *tml, const void *vertices, uint64_t vertex_count,
                         const void *indices, uint64_t triangle_count, tml_buffer out[2])
{
    const tml_buffer_desc descs[] = {
        {.type = TML_VEC(TML_F32, 3), .count = vertex_count, .data = vertices},
        {.type = TML_VEC(TML_U32, 3), .count = triangle_count, .data = indices}};
    tml_status status = tml_buffer_create(tml, &descs[0], &out[0]);
    return status ? status : tml_buffer_create(tml, &descs[1], &out[1]);
}

/* Moves a mesh's middle to 0 and makes its longest side 2. */
static void normalise(float *vertices, uint64_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)vertices[i]);
        high[i % 3] = fmax(high[i % 3], (double)vertices[i]);
    }
    double side = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    for (uint64_t i = 0; i < 3 * count; i++)
        vertices[i] = (float)(((double)vertices[i] - (low[i % 3] + high[i % 3]) / 2) * 2 / side);
}

static tml_status load(tml_context *tml, const char *folder, solid_kind kind, tml_buffer out[2])
{
    char path[1024];
    tml_mesh_file file;
    tml_buffer coarse[2] = {{0, 0}};
    tml_subdivider *subdivider = NULL;
    tml_subdivide_result fine;
    snprintf(path, sizeof path, "%s/meshes/%s.obj", folder, solids[kind].file);
    tml_status status = tml_mesh_load(tml, path, NULL, &file);
    if (status)
        return status;
    float *vertices = file.mesh.positions; /* the file's own */
    normalise(vertices, file.mesh.vertex_count);
    status = upload(tml, vertices, file.mesh.vertex_count, file.mesh.indices,
                    file.mesh.triangle_count, coarse);
    if (!status)
        status = tml_subdivider_create(
            tml,
            &(tml_subdivider_desc){.mesh = {.positions = coarse[0], .indices = coarse[1]},
                                   .fix = true},
            &subdivider);
    if (!status)
        status = tml_subdivide_uniform_enqueue(
            subdivider, &(tml_subdivide_uniform_desc){.levels = solids[kind].levels}, &fine);
    if (!status) {
        out[0] = fine.buffers.mesh.positions;
        out[1] = fine.buffers.mesh.indices;
    }
    tml_subdivider_destroy(tml, subdivider);
    tml_buffer_destroy(tml, coarse[0]);
    tml_buffer_destroy(tml, coarse[1]);
    tml_mesh_file_free(tml, &file);
    return status;
}

static tml_status make_torus(tml_context *tml, double thickness, uint64_t triangles,
                             tml_buffer out[2])
{
    bench_mesh mesh;
    uint32_t across = (uint32_t)ceil(sqrt((double)triangles / 5)), around = across * 5 / 2;
    if (!bench_torus(thickness, around, across, &mesh))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a torus");
    tml_status status =
        upload(tml, mesh.vertices, mesh.vertex_count, mesh.indices, mesh.triangle_count, out);
    bench_mesh_free(&mesh);
    return status;
}

/* Makes a mesh's tree and boxes, and prints their memory and time. */
static tml_status make_solid(tml_context *tml, solid_kind kind, uint64_t triangles,
                             const char *folder, solid *out)
{
    tml_buffer mesh[2] = {{0, 0}};
    tml_status status = solids[kind].file
                            ? load(tml, folder, kind, mesh)
                            : make_torus(tml, solids[kind].thickness, triangles, mesh);
    double times[4] = {bench_now()};
    for (int again = 0; again < 2 && !status; again++) { /* once to warm up */
        tml_tree_destroy(tml, out->tree);
        papers_oriented_destroy(tml, out->boxes);
        *out = (solid){.tree = NULL};
        times[1] = bench_now();
        status = tml_tree_create(tml, &(tml_tree_desc){.vertices = mesh[0], .indices = mesh[1]},
                                 &out->tree);
        times[2] = bench_now();
        if (!status)
            status = papers_oriented_create(tml, out->tree, &out->boxes);
        times[3] = bench_now();
    }
    tml_tree_info info;
    if (!status) {
        tml_tree_describe(out->tree, &info);
        printf("%-9s %7llu triangles: tree %.0f ms, oriented boxes %.0f ms more\n",
               solids[kind].file ? solids[kind].file
               : kind == TORUS   ? "torus"
                                 : "... inner",
               (unsigned long long)info.triangle_count, 1e3 * (times[2] - times[1]),
               1e3 * (times[3] - times[2]));
    }
    tml_buffer_destroy(tml, mesh[0]);
    tml_buffer_destroy(tml, mesh[1]);
    return status;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

enum { RANDOM_POSES = 64 };

static double random_unit(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-24;
}

/* A random rotation (Shoemake: Uniform Random Rotations. 1992), then a translation by 0.4 to 1.2 in
 * a random direction. */
static void random_poses(float *poses)
{
    uint32_t state = 35;
    const double turn = 6.283185307179586;
    for (int p = 0; p < RANDOM_POSES; p++, poses += 12) {
        double u = random_unit(&state), v = turn * random_unit(&state),
               w = turn * random_unit(&state);
        double q[4] = {sqrt(1 - u) * sin(v), sqrt(1 - u) * cos(v), sqrt(u) * sin(w),
                       sqrt(u) * cos(w)};
        double z = 2 * random_unit(&state) - 1, phi = turn * random_unit(&state);
        double far = 0.4 + 0.8 * random_unit(&state), r = far * sqrt(1 - z * z);
        bench_pose(poses, q, 2 * acos(q[3]), (double[]){r * cos(phi), r * sin(phi), far * z});
    }
}

typedef struct box_scene {
    const char *name;
    solid_kind a, b;
    uint32_t pose_count;
    float poses[12 * RANDOM_POSES];
} box_scene;

enum { OWN_SCENES = 5, SCENES = 8 };

static void make_scenes(box_scene scenes[SCENES])
{
    static const box_scene named[SCENES] = {
        {.name = "linked tori", .a = TORUS, .b = TORUS, .pose_count = 1},
        {.name = "nearly coincident ones", .a = TORUS, .b = TORUS, .pose_count = 1},
        {.name = "tori apart", .a = TORUS, .b = TORUS, .pose_count = 1},
        {.name = "a torus in a torus", .a = TORUS, .b = INNER_TORUS, .pose_count = 1},
        {.name = "tori, 64 poses at random", .a = TORUS, .b = TORUS, .pose_count = RANDOM_POSES},
        {.name = "spot, 64 poses at random", .a = SPOT, .b = SPOT, .pose_count = RANDOM_POSES},
        {.name = "spot with itself, turned", .a = SPOT, .b = SPOT, .pose_count = 1},
        {.name = "suzanne, fandisk, 64 poses",
         .a = SUZANNE,
         .b = FANDISK,
         .pose_count = RANDOM_POSES},
    };
    memcpy(scenes, named, sizeof named);
    for (int i = 0; i < BENCH_SCENES; i++)
        bench_scene_pose((bench_scene)i, scenes[i].poses);
    bench_pose(scenes[3].poses, (double[]){0, 0, 1}, 0.001, (double[]){0, 0, 0});
    bench_pose(scenes[6].poses, (double[]){1, 2, 3}, 0.02, (double[]){0, 0, 0});
    random_poses(scenes[4].poses);
    random_poses(scenes[5].poses);
    random_poses(scenes[7].poses);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct box_job {
    tml_context *tml;
    papers_volume_desc desc;
    papers_volume_result result;
} box_job;

static bool run_job(void *user)
{
    box_job *job = user;
    return papers_volume_collide(job->tml, &job->desc, &job->result) == TML_OK;
}

static tml_status print_scene(tml_context *tml, const box_scene *scene, const solid *solid_of,
                              uint32_t repeats)
{
    box_job jobs[PAPERS_VOLUMES];
    bench_job timed[PAPERS_VOLUMES];
    const solid *a = &solid_of[scene->a], *b = &solid_of[scene->b];
    for (int v = 0; v < PAPERS_VOLUMES; v++) {
        jobs[v] = (box_job){.tml = tml,
                            .desc = {.a = a->tree,
                                     .b = b->tree,
                                     .volume = (papers_volume)v,
                                     .a_boxes = a->boxes,
                                     .b_boxes = b->boxes,
                                     .poses = scene->poses,
                                     .pose_count = scene->pose_count}};
        timed[v] = (bench_job){.name = scene->name, .run = run_job, .user = &jobs[v]};
    }
    if (!bench_run(timed, PAPERS_VOLUMES,
                   &(bench_pace){.goes_on = papers_tell_row, .repeats = repeats}))
        return TML_ERROR_INTERNAL;
    printf("%-27s %8.3g", scene->name, 1e3 * timed[0].time.min_s);
    for (int v = 0; v < PAPERS_VOLUMES; v++) {
        const papers_volume_result *found = &jobs[v].result;
        if (found->pairs != jobs[0].result.pairs)
            return tml_error(tml, TML_ERROR_INTERNAL, "%s: volumes find %llu and %llu pairs",
                             scene->name, (unsigned long long)found->pairs,
                             (unsigned long long)jobs[0].result.pairs);
        char counts[32];
        snprintf(counts, sizeof counts, "(%.4g, %.4g)", (double)found->node_pairs / 1e3,
                 (double)found->tested / 1e3);
        printf(" %5.2f %-14s", timed[v].time.min_s / timed[0].time.min_s, counts);
    }
    putchar('\n');
    return TML_OK;
}

tml_status boxes_print(tml_context *tml, uint64_t triangles, const char *folder, uint32_t repeats)
{
    static const char *const volumes[PAPERS_VOLUMES] = {
        "axes alone", "and slabs (ours)", "leaves, 15 axes", "oriented, 6", "oriented, 15"};
    static box_scene scenes[SCENES];
    solid all[SOLIDS] = {{NULL, NULL}};
    tml_status status = TML_OK;
    make_scenes(scenes);
    printf(
        "boxes: collision on one thread by bounding volumes; ms by boxes along the axes, then the "
        "share of\nthat time and, in thousands, pairs of nodes and of triangles tested\n\n");
    for (int k = 0; k < (folder ? SOLIDS : SPOT) && !status; k++)
        status = make_solid(tml, (solid_kind)k, triangles, folder, &all[k]);
    printf("\n%-27s %8s", "", "ms");
    for (int v = 0; v < PAPERS_VOLUMES; v++)
        printf(" %-20s", volumes[v]);
    putchar('\n');
    for (int i = 0; i < (folder ? SCENES : OWN_SCENES) && !status; i++)
        status = print_scene(tml, &scenes[i], all, repeats);
    for (int k = 0; k < SOLIDS; k++) {
        tml_tree_destroy(tml, all[k].tree);
        papers_oriented_destroy(tml, all[k].boxes);
    }
    return status;
}
