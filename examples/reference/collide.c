/* Collide: which triangles of two meshes meet, and how far meshes are apart. */
#include "reference.h"

/* A triangle that stands across the square of reference.h. */
static const tml_vec3 blade[] = {{3, 1, -1}, {3, 1, 1}, {3, 2, 1}};

static tml_tree *blade_tree(tml_context *tml)
{
    tml_tree *tree; /* without indices each three vertices are a triangle */
    MUST(tml_tree_create(
        tml, &(tml_tree_desc){.vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 3, blade)}, &tree));
    return tree;
}

/* All pairs that meet, with how they do and the segment that they share. */
static void collide(tml_context *tml)
{
    tml_tree *a = square_tree(tml), *b = blade_tree(tml);
    tml_collide_result hits;
    MUST(tml_collide(tml, &(tml_collide_desc){.a = a, .b = b, .segments = true}, &hits));
    const tml_collide_pair *pair = &hits.pairs[0];
    const float *segment = hits.segments; /* six coordinates per pair */
    CHECK(hits.count == 1 && pair->a == 0 && pair->b == 0);
    CHECK(pair->kind == TML_COLLIDE_CLASS_CROSSING);
    CHECK(segment[0] == 3 && segment[1] == 1 && segment[4] == 1.5f);
    tml_collide_free(tml, &hits);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

/* Many poses of one mesh in a call: does it meet the other in each? */
static void poses(tml_context *tml)
{
    const float matrices[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},  /* where it is */
                                   {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 9}}; /* 9 higher */
    tml_tree *a = square_tree(tml), *b = blade_tree(tml);
    tml_collide_result hits;
    MUST(tml_collide(
        tml,
        &(tml_collide_desc){
            .a = a, .b = b, .poses = matrices[0], .pose_count = 2, .want = TML_COLLIDE_WANT_FIRST},
        &hits));
    CHECK(hits.first[1] - hits.first[0] == 1 && hits.first[2] - hits.first[1] == 0);
    CHECK(hits.step_count <= TML_COLLIDE_MAX_STEPS);
    tml_collide_free(tml, &hits);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

/* How many pairs of each class, of those that are asked for. */
static void count_classes(tml_context *tml)
{
    tml_tree *a = square_tree(tml), *b = blade_tree(tml);
    tml_collide_result hits;
    MUST(tml_collide(tml,
                     &(tml_collide_desc){.a = a,
                                         .b = b,
                                         .want = TML_COLLIDE_WANT_COUNT,
                                         .classes = 1u << TML_COLLIDE_CLASS_CROSSING,
                                         .method = TML_COLLIDE_METHOD_DEPTH_FIRST},
                     &hits));
    for (int kind = 0; kind < TML_COLLIDE_CLASS_COUNT; kind++) {
        const bool is_crossing = !strcmp(tml_collide_class_name(kind), "crossing");
        CHECK(hits.class_counts[kind] == (is_crossing ? 1 : 0));
    }
    tml_collide_free(tml, &hits);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

/* The smallest distance, and the two points that have it. */
static void distance(tml_context *tml)
{
    const float pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 9};
    tml_tree *a = square_tree(tml), *b = blade_tree(tml);
    tml_collide_distance_result nearest;
    MUST(tml_collide_distance(
        tml, &(tml_collide_distance_desc){.a = a, .b = b, .poses = pose, .pose_count = 1},
        &nearest));
    CHECK(nearest.distance == 8 && nearest.point_a[2] == 0 && nearest.point_b[2] == 8);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

/* The same in a frame: from poses on the device, into buffers there, and with no wait. */
static void distance_in_a_frame(tml_context *tml)
{
    const float poses[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 9,
                             1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5};
    tml_tree *a = square_tree(tml), *b = blade_tree(tml);
    tml_buffer distances;
    double told[2];
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F64, .count = 2}, &distances));
    tml_collide_distance_desc desc = {
        .a = a, .b = b, .pose_buffer = buffer_of(tml, TML_F32, 24, poses), .distances = distances};
    MUST(tml_collide_distance_enqueue(tml, &desc)); /* or between tml_vulkan_record and its end */
    MUST(tml_buffer_read(tml, distances, told));
    CHECK(told[0] == 8 && told[1] == 4);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

/* A mesh that the device moves, frame by frame: trees are built and refitted there, without a
 * wait. */
static void frames(tml_context *tml)
{
    const tml_vec3 raised[] = {{0, 0, 5}, {4, 0, 5}, {4, 4, 5}, {0, 4, 5}};
    tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), 4, square_vertices);
    tml_tree *a, *b = blade_tree(tml);
    tml_collide_result hits;
    MUST(tml_tree_create(
        tml,
        &(tml_tree_desc){.vertices = vertices,
                         .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 2, square_corners),
                         .on_device = true},
        &a));
    MUST(tml_collide(tml, &(tml_collide_desc){.a = a, .b = b}, &hits));
    CHECK(hits.count == 1);
    tml_collide_free(tml, &hits);
    MUST(tml_buffer_write(tml, vertices, 0, 4, raised)); /* or kernels, in your command buffer */
    MUST(
        tml_tree_update_enqueue(tml, a, vertices, TML_TREE_REFIT)); /* its shape is much the same */
    MUST(tml_tree_update_enqueue(tml, a, vertices, TML_TREE_REBUILD)); /* or not */
    MUST(tml_collide(tml, &(tml_collide_desc){.a = a, .b = b}, &hits));
    CHECK(hits.count == 0);
    tml_collide_free(tml, &hits);
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){collide, poses, count_classes, distance,
                                           distance_in_a_frame, frames, NULL});
}
