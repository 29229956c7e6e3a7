/* A tree on the host: levels, memory, boxes and slabs. Also registers the room's kernels. */
#include <math.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel tree_own_kernels[]; /* made by the build */
#endif

#include "tree/tree_points.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/mesh.k.h"
/* Needs the headers above. */
#include "kernels/collide_build.k.h"
#include "kernels/collide_slab_host.h"

/* Boxes per task of a parallel loop. */
enum { LEAVES_A_TASK = 512 };

void tree_learn(tml_context *tml)
{
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, tree_own_kernels);
#else
    (void)tml;
#endif
}

void tree_shape(tml_tree *tree)
{
    uint32_t leaves = 1, level = 1;
    if (tree->count == 0)
        return;
    while (TML_CEIL_DIV((uint64_t)tree->count, leaves) > COLLIDE_WIDTH)
        leaves *= 2;
    tree->lanes = (uint32_t)(TML_CEIL_DIV((uint64_t)tree->count, leaves));
    tree->level_count[0] = COLLIDE_WIDTH * leaves;
    for (uint32_t count = leaves;; count = TML_CEIL_DIV(count, COLLIDE_WIDTH), level++) {
        tree->level_count[level] = count;
        tree->level_group[level] = tree->group_count;
        tree->group_count += TML_CEIL_DIV(count, COLLIDE_WIDTH);
        if (count == 1)
            break;
    }
    tree->levels = level;
}

void tree_host_free(tml_context *tml, tml_tree *tree)
{
    tml_free(tml, tree->ids, tree_ids_size(tree));
    tml_free(tml, tree->corners, 3 * tree_ids_size(tree));
    tml_free(tml, tree->triangles, tree_triangles_size(tree));
    tml_free(tml, tree->boxes, tree_boxes_size(tree));
    tml_free(tml, tree->dipoles, points_dipoles_size(tree));
    tree->dipoles = NULL;
    tree->ids = tree->corners = NULL;
    tree->triangles = tree->boxes = NULL;
}

tml_status tree_allocate(tml_context *tml, const char *call, tml_tree *tree)
{
    if (tree->boxes || tree->count == 0)
        return TML_OK;
    tree->ids = tml_alloc_array(tml, tree_slots(tree), sizeof *tree->ids);
    tree->corners = tml_alloc_array(tml, tree_slots(tree), 3 * sizeof *tree->corners);
    tree->triangles = tml_alloc_array(tml, tree_slots(tree), 9 * sizeof *tree->triangles);
    tree->boxes = tml_alloc_array(tml, tree_box_words(tree), sizeof *tree->boxes);
    if (tree->ids && tree->corners && tree->triangles && tree->boxes)
        return TML_OK;
    tree_host_free(tml, tree);
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of a tree", call,
                     4 * tree_ids_size(tree) + tree_triangles_size(tree) + tree_boxes_size(tree));
}

/* ---- boxes ----------------------------------------------------------------------------------- */

typedef struct fit_job {
    tml_tree *tree;
    const float *vertices; /* NULL: tree->triangles is already filled */
    uint32_t level;
} fit_job;

static void empty_lane(float *group, uint32_t lane)
{
    for (int k = 0; k < 3; k++) {
        group[COLLIDE_WIDTH * k + lane] = INFINITY;
        group[COLLIDE_WIDTH * (3 + k) + lane] = -INFINITY;
    }
}

static float *box_lane(tml_tree *tree, uint32_t level, uint32_t box)
{
    return tree->boxes +
           (size_t)COLLIDE_BOX_WORDS * (tree->level_group[level] + box / COLLIDE_WIDTH) +
           box % COLLIDE_WIDTH;
}

/* As collide_leaf_slab, but for eight triangles at once. */
static collide_slab leaf_slab(const float *at, collide_box box)
{
    const float scale = collide_box_scale(box);
    float x[COLLIDE_WIDTH], y[COLLIDE_WIDTH], z[COLLIDE_WIDTH], square[COLLIDE_WIDTH];
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        const float *a = at + i, *b = a + COLLIDE_CORNER_WORDS, *c = b + COLLIDE_CORNER_WORDS;
        enum { Y = COLLIDE_WIDTH, Z = 2 * COLLIDE_WIDTH };
        vec3 normal = collide_scaled_normal(VEC3(a[0], a[Y], a[Z]), VEC3(b[0], b[Y], b[Z]),
                                            VEC3(c[0], c[Y], c[Z]), scale);
        x[i] = normal.x;
        y[i] = normal.y;
        z[i] = normal.z;
        square[i] = dot3(normal, normal);
    }
    uint32_t largest = 0;
    for (uint32_t i = 1; i < COLLIDE_WIDTH; i++)
        largest = square[i] > square[largest] ? i : largest;
    const vec3 to = VEC3(x[largest], y[largest], z[largest]);
    vec3 sum = VEC3(0, 0, 0);
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        vec3 normal = VEC3(x[i], y[i], z[i]);
        sum = add3(sum, scale3(normal, collide_normal_sign(normal, to)));
    }
    return collide_slab_around(collide_slab_direction(sum), at);
}

static void fit_leaf(const fit_job *job, uint32_t leaf)
{
    tml_tree *tree = job->tree;
    float *triangles = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    if (job->vertices)
        for (uint32_t i = 0; i < 3 * COLLIDE_WIDTH; i++) {
            const float *vertex =
                job->vertices + 3 * (size_t)tree->corners[3 * (size_t)COLLIDE_WIDTH * leaf + i];
            for (uint32_t k = 0; k < 3; k++)
                triangles[COLLIDE_WIDTH * (3 * (i % 3) + k) + i / 3] = vertex[k];
        }
    float *box = box_lane(tree, 1, leaf), bounds[2][3];
    for (uint32_t k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (uint32_t corner = 0; corner < 3; corner++)
            for (uint32_t lane = 0; lane < COLLIDE_WIDTH; lane++) {
                float at = triangles[COLLIDE_WIDTH * (3 * corner + k) + lane];
                low = TML_MIN_OF(low, at);
                high = TML_MAX_OF(high, at);
            }
        box[COLLIDE_WIDTH * k] = bounds[0][k] = low;
        box[COLLIDE_WIDTH * (3 + k)] = bounds[1][k] = high;
    }
    const collide_box leaf_box = {VEC3(bounds[0][0], bounds[0][1], bounds[0][2]),
                                  VEC3(bounds[1][0], bounds[1][1], bounds[1][2])};
    collide_slab_store(leaf_slab(triangles, leaf_box), tree_slab_words(tree, leaf));
}

static void fit_node(const fit_job *job, uint32_t node)
{
    tml_tree *tree = job->tree;
    const float *children = tree_group(tree, job->level - 1, node);
    float *box = box_lane(tree, job->level, node);
    for (uint32_t k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (uint32_t lane = 0; lane < COLLIDE_WIDTH; lane++) {
            low = TML_MIN_OF(low, children[COLLIDE_WIDTH * k + lane]);
            high = TML_MAX_OF(high, children[COLLIDE_WIDTH * (3 + k) + lane]);
        }
        box[COLLIDE_WIDTH * k] = low;
        box[COLLIDE_WIDTH * (3 + k)] = high;
    }
}

static void fit_task(void *argument, uint32_t task)
{
    const fit_job *job = argument;
    uint32_t count = job->tree->level_count[job->level];
    uint32_t first = task * LEAVES_A_TASK, end = TML_MIN_OF(first + LEAVES_A_TASK, count);
    for (uint32_t i = first; i < end; i++)
        if (job->level == 1)
            fit_leaf(job, i);
        else
            fit_node(job, i);
}

double tree_diagonal(const float *box, uint32_t stride)
{
    double squares = 0;
    for (uint32_t k = 0; k < 3; k++) {
        double side = (double)box[(size_t)stride * (3 + k)] - (double)box[(size_t)stride * k];
        squares += side * side;
    }
    return sqrt(squares);
}

static double mean_diagonal(tml_tree *tree, uint32_t level)
{
    uint64_t count = tree->level_count[level];
    double sum = 0;
    for (uint32_t i = 0; i < COLLIDE_SAMPLES; i++)
        sum += tree_diagonal(box_lane(tree, level, (uint32_t)(count * i / COLLIDE_SAMPLES)),
                             COLLIDE_WIDTH);
    return sum / COLLIDE_SAMPLES;
}

void tree_fit(tml_context *tml, tml_tree *tree, const float *vertices)
{
    fit_job job = {.tree = tree, .vertices = vertices};
    tree->has_edges = tree->has_dipoles = false;
    for (job.level = 1; job.level <= tree->levels; job.level++) {
        uint32_t count = tree->level_count[job.level];
        float *last = box_lane(tree, job.level, count - 1) - (count - 1) % COLLIDE_WIDTH;
        for (uint32_t lane = count % COLLIDE_WIDTH; lane % COLLIDE_WIDTH > 0; lane++)
            empty_lane(last, lane);
        tml_parallel_for(tml, TML_CEIL_DIV(count, LEAVES_A_TASK), fit_task, &job);
        tree->level_size[job.level] = mean_diagonal(tree, job.level);
    }
    for (uint32_t k = 0; k < 3 && tree->levels; k++) {
        const float *root = tree_group(tree, tree->levels, 0);
        tree->lower[k] = root[COLLIDE_WIDTH * k];
        tree->upper[k] = root[COLLIDE_WIDTH * (3 + k)];
    }
}
