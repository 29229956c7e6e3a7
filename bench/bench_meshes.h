/* Meshes for benchmarks of collision, and their poses: the same for every program. */
#ifndef BENCH_MESHES_H
#define BENCH_MESHES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of malloc; release with bench_mesh_free. */
typedef struct bench_mesh {
    float *vertices;   /* vertex_count x 3 */
    uint32_t *indices; /* triangle_count x 3 */
    uint32_t vertex_count, triangle_count;
} bench_mesh;

/* A torus around the z axis: a tube of radius thickness around a circle of radius 1, with 2 x
 * around x across triangles. Returns false if out of memory. */
bool bench_torus(double thickness, uint32_t around, uint32_t across, bench_mesh *out);
/* A ball of radius 1 around the origin with waves of 2 % on its surface, with 2 x n x n
 * triangles. */
bool bench_ball(uint32_t n, bench_mesh *out);
void bench_mesh_free(bench_mesh *mesh);

/* Rays in random order, from random points of a sphere around the mesh to random points of its box:
 * count x 3 floats each. */
void bench_rays(const bench_mesh *mesh, uint64_t count, float *origins, float *directions);

/* A rotation by angle around an axis, then a translation, in the form of tml_collide's poses. */
void bench_pose(float pose[12], const double axis[3], double angle, const double move[3]);

/* Two tori of thickness 0.3: */
typedef enum bench_scene {
    BENCH_LINKED, /* linked like a chain's, and pressed into each other on one side */
    /* nearly in one place: rotated by 0.01 around an oblique axis, moved by 0.001 */
    BENCH_COINCIDENT,
    BENCH_APART, /* linked and not touching */
    BENCH_SCENES
} bench_scene;
const char *bench_scene_name(bench_scene scene);
/* The pose of the second torus, in the form of tml_collide's poses. */
void bench_scene_pose(bench_scene scene, float pose[12]);
/* A pose that makes the second torus a tenth as large and puts it on the first one's outer rim. */
void bench_small_pose(float pose[12]);
/* A pose that puts a second ball next to the first one, at a distance of about a hundredth of the
 * diagonal of its box. */
void bench_ball_pose(float pose[12]);

#ifdef __cplusplus
}
#endif
#endif
