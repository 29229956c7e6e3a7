/* The meshes whose colliding triangles are recorded in data/collide_pairs.txt. The program that
 * records them (collide_cgal.cpp) and the test that compares them (test_collide_meshes.c) share
 * this header. C and C++. */
#ifndef COLLIDE_MESHES_H
#define COLLIDE_MESHES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/meshes.h>

/* Below TML_DATA's meshes. The first COLLIDE_IN_PLACE files are pairs that are made to be compared
 * without a pose. Cray_right is a half-space, with corners at the largest floats. */
static const char *const collide_files[] = {"pairs/ballA.off",
                                            "pairs/ballB.off",
                                            "pairs/Cray_left.obj",
                                            "pairs/Cray_right.obj",
                                            "pairs/env.obj",
                                            "pairs/rob.obj",
                                            "WusonOBJ.obj",
                                            "bigguyT.obj",
                                            "fandisk.obj",
                                            "fuze.ply",
                                            "plate_holes.stl",
                                            "quadknot.obj",
                                            "rookT.obj",
                                            "round_genus1.stl",
                                            "spot.obj",
                                            "suzanne.obj",
                                            "teapot.obj",
                                            "broken/bunny_nonmanifold.ply",
                                            "broken/shared_edge.stl",
                                            "broken/joined_tetrahedra.obj",
                                            "broken/multibody_flipped.stl"};
enum { COLLIDE_FILES = sizeof collide_files / sizeof collide_files[0], COLLIDE_IN_PLACE = 6 };

#ifdef __cplusplus
extern "C" {
#endif

/* Triangles, three corners of x, y, z each. */
typedef struct collide_mesh {
    float *corners; /* count x 9 */
    uint32_t count;
    uint64_t hash; /* of the corners */
} collide_mesh;

/* Loads a mesh. If the file cannot be read, prints a message and returns false. */
bool collide_mesh_load(tml_context *tml, const char *path, collide_mesh *out);

/* Scale and translation of the second mesh of a pair. */
typedef struct collide_pose {
    float scale, move[3];
} collide_pose;

/* Returns a pose that makes b as large as a, to a factor of 2, with its middle a little beside
 * a's. */
collide_pose collide_pose_of(const collide_mesh *a, const collide_mesh *b);

/* Returns a mesh under a pose. Its vertices have the same bits as in tml_collide with the pose's
 * matrix. */
collide_mesh collide_mesh_moved(const collide_mesh *mesh, const collide_pose *pose);

typedef struct collide_found {
    uint32_t a, b;
    uint32_t kind; /* tml_collide_class */
} collide_found;

/* Writes a line of the record: files, pose, hashes of the first and the moved second mesh, counts
 * by class, and the hash of all found pairs. Sorts found. */
void collide_line(char line[512], int a, int b, const collide_pose *pose, const collide_mesh *first,
                  const collide_mesh *second, collide_found *found, size_t count);

#ifdef __cplusplus
}
#endif

#endif
