/* Meshes for benchmarks of collision, and how they are placed: the same for every program. */
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

/* A torus about the z axis: a tube of radius thickness around a circle of radius 1, of 2 x around x
 * across triangles. False when memory is short. */
bool bench_torus(double thickness, uint32_t around, uint32_t across, bench_mesh *out);
/* A ball of radius 1 about the origin whose surface is waved by 2 %, of 2 x n x n triangles. */
bool bench_ball(uint32_t n, bench_mesh *out);
void bench_mesh_free(bench_mesh *mesh);

/* Rays in no order, from random points of a sphere about the mesh to random points of its box:
 * count x 3 each. */
void bench_rays(const bench_mesh *mesh, uint64_t count, float *origins, float *directions);

/* A rotation by angle about an axis, then a move, as tml_collide wants it. */
void bench_pose(float pose[12], const double axis[3], double angle, const double move[3]);

/* Two tori of thickness 0.3: */
typedef enum bench_scene {
    BENCH_LINKED, /* linked like a chain's, and pressed into each other on one side */
    /* nearly in one place: turned by 0.01 about an oblique axis, moved by 0.001 */
    BENCH_COINCIDENT,
    BENCH_APART, /* linked and not touching */
    BENCH_SCENES
} bench_scene;
const char *bench_scene_name(bench_scene scene);
/* The matrix that takes the second one to its place, as tml_collide wants it. */
void bench_scene_pose(bench_scene scene, float pose[12]);
/* Makes the second one a tenth as large and puts it on the first one's outer rim. */
void bench_small_pose(float pose[12]);
/* Puts a second ball beside the first one, a hundredth of its box's diagonal apart, about. */
void bench_ball_pose(float pose[12]);

#ifdef __cplusplus
}
#endif
#endif
