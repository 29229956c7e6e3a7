/* Meshes with integer coordinates, for exact arithmetic, and trees of such meshes scaled by a power
 * of two. Include after test.h. */
#ifndef INTEGER_MESH_H
#define INTEGER_MESH_H

#include <trommel/collide.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#else
typedef int64_t wide; /* tests that need more bits are skipped */
#endif

extern uint64_t random_state;

static inline int64_t random_below(int64_t count)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)count);
}

typedef struct point {
    int64_t at[3];
} point;

typedef struct mesh {
    point *corners;
    uint32_t count; /* of triangles */
} mesh;

void add_triangle(mesh *m, point a, point b, point c);
tml_buffer buffer(tml_context *tml, tml_type type, uint64_t count, const void *data);

extern const tml_type vec3_type;

float *floats_of(const point *points, uint32_t count, int exponent);
tml_tree *tree_of(tml_context *tml, const mesh *m, int exponent);

#endif
