/* Meshes with integer coordinates, and trees of them. */
#include "test.h"

#include "integer_mesh.h"

uint64_t random_state = 1;

void add_triangle(mesh *m, point a, point b, point c)
{
    m->corners = realloc(m->corners, 3 * (m->count + 1) * sizeof *m->corners);
    point *to = m->corners + 3 * m->count++;
    to[0] = a, to[1] = b, to[2] = c;
}

tml_buffer buffer(tml_context *tml, tml_type type, uint64_t count, const void *data)
{
    tml_buffer out = {0, 0};
    CHECK_OK(tml, tml_buffer_create(
                      tml, &(tml_buffer_desc){.type = type, .count = count, .data = data}, &out));
    return out;
}

const tml_type vec3_type = TML_VEC(TML_F32, 3);

float *floats_of(const point *points, uint32_t count, int exponent)
{
    float *out = malloc(((size_t)3 * count + 1) * sizeof *out);
    for (uint32_t i = 0; i < 3 * count; i++)
        out[i] = ldexpf((float)points[i / 3].at[i % 3], exponent);
    return out;
}

tml_tree *tree_of(tml_context *tml, const mesh *m, int exponent)
{
    float *corners = floats_of(m->corners, 3 * m->count, exponent);
    tml_buffer vertices = buffer(tml, vec3_type, (uint64_t)3 * m->count, corners);
    tml_tree *tree = NULL;
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices}, &tree));
    tml_buffer_destroy(tml, vertices);
    free(corners);
    return tree;
}
