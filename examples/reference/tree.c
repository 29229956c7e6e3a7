/* Trees: what rays hit of a mesh, which points lie inside and what is nearest to them. */
#include "reference.h"

/* Which points lie inside a closed mesh: here a tetrahedron of four triangles. */
static void inside(tml_context *tml)
{
    static const tml_vec3 corners[] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 4}};
    static const uint32_t faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    static const tml_vec3 points[] = {{1, 1, 1}, {3, 3, 3}, {1, 1, 2}};
    const uint8_t expected[] = {TML_TREE_INSIDE, TML_TREE_OUTSIDE, TML_TREE_ON};
    uint8_t sides[3];
    tml_buffer out = buffer_of(tml, TML_U8, 3, NULL);
    tml_tree *tree;
    MUST(tml_tree_create(
        tml,
        &(tml_tree_desc){.vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 4, corners),
                         .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 4, faces)},
        &tree));
    MUST(tml_tree_nearest(
        tml, &(tml_tree_nearest_desc){.tree = tree,
                                      .points = buffer_of(tml, TML_VEC(TML_F32, 3), 3, points),
                                      .rule = TML_TREE_RULE_EVEN_ODD,
                                      .sides = out}));
    MUST(tml_buffer_read(tml, out, sides));
    CHECK(!memcmp(sides, expected, sizeof expected));
    tml_tree_destroy(tml, tree);
}

/* What of a mesh is nearest to each point, and how far; in a closed mesh, negative inside. k: how
 * many triangles. */
static void nearest(tml_context *tml)
{
    static const tml_vec3 points[] = {{1, 1, 3}, {9, 0, 0}};
    tml_tree *tree = square_tree(tml);
    tml_tree_nearest_desc desc = {.tree = tree,
                                  .points = buffer_of(tml, TML_VEC(TML_F32, 3), 2, points),
                                  .k = 1,
                                  .is_signed = false,
                                  .distances = buffer_of(tml, TML_F32, 2, NULL),
                                  .positions = buffer_of(tml, TML_VEC(TML_F32, 3), 2, NULL),
                                  .triangles = buffer_of(tml, TML_U32, 2, NULL),
                                  .features = buffer_of(tml, TML_U8, 2, NULL)};
    MUST(tml_tree_nearest(tml, &desc));
    float distances[2];
    tml_vec3 positions[2];
    uint32_t triangles[2];
    uint8_t features[2];
    MUST(tml_buffer_read(tml, desc.distances, distances));
    MUST(tml_buffer_read(tml, desc.positions, positions));
    MUST(tml_buffer_read(tml, desc.triangles, triangles));
    MUST(tml_buffer_read(tml, desc.features, features));
    CHECK(distances[0] == 3 && positions[0].z == 0 && distances[1] == 5 && positions[1].x == 4);
    CHECK(triangles[1] == 0 && features[1] == TML_TREE_CORNER_1);
    desc.k = TML_TREE_NEAREST_MAX + 1; /* more than a call tells */
    CHECK(tml_tree_nearest(tml, &desc) == TML_ERROR_INVALID_ARGUMENT);
    tml_tree_destroy(tml, tree);
}

/* What rays hit: of the square, which two triangles are, each of these once, on their shared edge,
 * too. */
static void cast(tml_context *tml)
{
    static const tml_vec3 origins[] = {{2, 2, 8}, {3, 1, 8}, {9, 9, 8}};
    static const tml_vec3 directions[] = {{0, 0, -2}, {0, 0, -2}, {0, 0, -2}};
    tml_tree *tree = square_tree(tml);
    tml_tree_cast_desc desc = {.tree = tree,
                               .origins = buffer_of(tml, TML_VEC(TML_F32, 3), 3, origins),
                               .directions = buffer_of(tml, TML_VEC(TML_F32, 3), 3, directions),
                               .triangles = buffer_of(tml, TML_U32, 3, NULL),
                               .t = buffer_of(tml, TML_F32, 3, NULL)};
    uint32_t triangles[3], counts[3];
    float t[3];
    MUST(tml_tree_cast(tml, &desc)); /* TML_TREE_CAST_NEAREST */
    MUST(tml_buffer_read(tml, desc.triangles, triangles));
    MUST(tml_buffer_read(tml, desc.t, t));
    CHECK(t[0] == 4 && triangles[1] == 0 && triangles[2] == UINT32_MAX);
    const tml_tree_cast_desc segments = {.tree = tree,
                                         .origins = desc.origins,
                                         .directions = desc.directions,
                                         .t_max = 4, /* to the square, which they touch */
                                         .want = TML_TREE_CAST_COUNT,
                                         .counts = buffer_of(tml, TML_U32, 3, NULL)};
    MUST(tml_tree_cast(tml, &segments));
    MUST(tml_buffer_read(tml, segments.counts, counts));
    CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 0);
    tml_tree_destroy(tml, tree);
}

/* Every hit, for what follows in a frame: nothing is read back before. */
static void cast_in_a_frame(tml_context *tml)
{
    static const tml_vec3 origins[] = {{2, 2, 8}, {9, 9, 8}, {3, 1, 8}};
    static const tml_vec3 directions[] = {{0, 0, -2}, {0, 0, -2}, {0, 0, -4}};
    tml_tree *tree = square_tree(tml);
    const tml_tree_cast_desc all = {.tree = tree,
                                    .origins = buffer_of(tml, TML_VEC(TML_F32, 3), 3, origins),
                                    .directions =
                                        buffer_of(tml, TML_VEC(TML_F32, 3), 3, directions),
                                    .want = TML_TREE_CAST_ALL,
                                    .rays = buffer_of(tml, TML_U32, 8, NULL),
                                    .t = buffer_of(tml, TML_F32, 8, NULL),
                                    .total = buffer_of(tml, TML_U32, 1, NULL),
                                    .unsure = buffer_of(tml, TML_U32, 3, NULL),
                                    .unsure_count = buffer_of(tml, TML_U32, 1, NULL)};
    uint32_t rays[8], total, unsure;
    float t[8];
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_tree_cast_enqueue(tml, &all))));
    MUST(tml_tree_cast_enqueue(tml, &all));
    MUST(tml_buffer_read(tml, all.total, &total));
    MUST(tml_buffer_read(tml, all.unsure_count, &unsure));
    MUST(tml_buffer_read(tml, all.rays, rays));
    MUST(tml_buffer_read(tml, all.t, t));
    CHECK(total == 2 && unsure == 0 && rays[0] == 0 && rays[1] == 2 && t[0] == 4 && t[1] == 2);
    tml_tree_destroy(tml, tree);
}

/* A volume of the distances to a mesh, which goes into tml_surface: here along one line, cut off at
 * 2. */
static void distance_volume(tml_context *tml)
{
    tml_tree *tree = square_tree(tml);
    tml_buffer out = buffer_of(tml, TML_F32, 5, NULL);
    float distances[5];
    MUST(tml_tree_distance_grid(
        tml, &(tml_tree_distance_grid_desc){.tree = tree,
                                            .grid = {.dims = {1, 1, 5}, .origin = {1, 1, -1}},
                                            .rule = TML_TREE_RULE_EVEN_ODD,
                                            .is_signed = false, /* the square is open */
                                            .band = 2,
                                            .out = out}));
    MUST(tml_buffer_read(tml, out, distances));
    CHECK(distances[0] == 1 && distances[1] == 0 && distances[3] == 2 && distances[4] == 2);
    tml_tree_destroy(tml, tree);
}

/* A mesh that moves: new vertices in the same tree, which is fitted to them, or sorted anew. */
static void update(tml_context *tml)
{
    const tml_vec3 raised[] = {{0, 0, 5}, {4, 0, 5}, {4, 4, 5}, {0, 4, 5}};
    tml_tree *tree = square_tree(tml);
    tml_tree_info info;
    tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 4, raised);
    MUST(tml_tree_update(tml, tree, vertices, TML_TREE_REFIT));
    MUST(tml_tree_update(tml, tree, vertices, TML_TREE_REBUILD));
    tml_tree_describe(tree, &info);
    CHECK(info.triangle_count == 2 && info.lower[2] == 5 && info.upper[0] == 4);
    tml_tree_destroy(tml, tree);
}

/* A tree as bytes, for a file, and back. */
static void save_and_load(tml_context *tml)
{
    tml_tree *tree = square_tree(tml), *again;
    tml_tree_info info;
    size_t size = 0;
    MUST(tml_tree_save(tml, tree, NULL, &size)); /* asks how many bytes */
    void *bytes = malloc(size);
    CHECK(bytes);
    MUST(tml_tree_save(tml, tree, bytes, &size));
    MUST(tml_tree_load(tml, bytes, size, &again));
    tml_tree_describe(again, &info);
    CHECK(info.triangle_count == 2);
    free(bytes);
    tml_tree_destroy(tml, tree);
    tml_tree_destroy(tml, again);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){inside, nearest, cast, cast_in_a_frame, distance_volume,
                                           update, save_and_load, NULL});
}
