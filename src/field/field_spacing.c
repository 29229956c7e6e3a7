/* Spacing of points: the median distance to the sixth-nearest other point, by a k-d tree.
 *
 * A uniform grid fails here: scans vary in density, and one outlier would put all other points into
 * one cell. The nearest neighbour alone fails as well: points of a scan come in close pairs along
 * the scan line, and so do particles on jittered lattices. The distance to the sixth-nearest point
 * is the lattice constant on a cubic lattice, and the size of the gaps on a sheet of random points.
 *
 * After: Bentley: Multidimensional binary search trees used for associative searching. 1975. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field/field_internal.h"

enum {
    NEIGHBOURS = 6,
    LEAF = 16,       /* points of a leaf, at most */
    SAMPLES = 20000, /* query points; they give the median to about 1 % */
    SAMPLES_A_TASK = 64,
};

typedef struct point3 {
    float at[3];
} point3;

typedef struct kd_split {
    float position;
    int axis;
} kd_split;

typedef struct kd_tree {
    point3 *points; /* in tree order: a node's points are contiguous */
    uint64_t count;
    kd_split *splits; /* breadth first */
    uint32_t depth;
    uint32_t level; /* the level that build_node builds */
    uint64_t sample_count;
    double *samples; /* distances; 0: not counted */
} kd_tree;

/* The points [first, last) of a node. Each level halves the range. */
static void node_range(const kd_tree *tree, uint32_t level, uint64_t node, uint64_t *first,
                       uint64_t *last)
{
    *first = 0, *last = tree->count;
    while (level-- > 0) {
        uint64_t middle = *first + (*last - *first) / 2;
        if (node >> level & 1)
            *first = middle;
        else
            *last = middle;
    }
}

/* Quickselect (Hoare: Find. 1961): moves the point of that rank along the axis to its place, with
 * smaller ones before it. Pivots come from a fixed pseudorandom sequence, so no regular input is
 * the worst case. */
static void select_rank(point3 *points, int64_t first, int64_t last, int64_t rank, int axis)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    while (first < last) {
        hash = hash * 6364136223846793005u + 1442695040888963407u;
        float pivot = points[first + (int64_t)(hash >> 33) % (last - first + 1)].at[axis];
        int64_t i = first, j = last;
        while (i <= j) {
            while (points[i].at[axis] < pivot)
                i++;
            while (points[j].at[axis] > pivot)
                j--;
            if (i <= j) {
                point3 swap = points[i];
                points[i++] = points[j];
                points[j--] = swap;
            }
        }
        if (rank > j && rank < i)
            return;
        if (rank <= j)
            last = j;
        else
            first = i;
    }
}

static void build_node(void *argument, uint32_t node)
{
    kd_tree *tree = argument;
    uint64_t first, last;
    node_range(tree, tree->level, node, &first, &last);
    int axis = 0;
    double widest = -1.0;
    for (int a = 0; a < 3; a++) {
        float low = INFINITY, high = -INFINITY;
        for (uint64_t i = first; i < last; i++) {
            low = TML_MIN_OF(low, tree->points[i].at[a]);
            high = TML_MAX_OF(high, tree->points[i].at[a]);
        }
        if ((double)high - (double)low > widest)
            widest = (double)high - (double)low, axis = a;
    }
    uint64_t middle = first + (last - first) / 2;
    select_rank(tree->points, (int64_t)first, (int64_t)last - 1, (int64_t)middle, axis);
    tree->splits[((uint64_t)1 << tree->level) - 1 + node] =
        (kd_split){tree->points[middle].at[axis], axis};
}

/* The nearest points so far, nearest first. Squared distances are double, because the square of a
 * difference of floats may overflow a float. */
typedef struct kd_nearest {
    double squared[NEIGHBOURS];
    int count;
} kd_nearest;

static void nearest_add(kd_nearest *best, const float a[3], const float b[3])
{
    double squared = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double d = (double)a[axis] - (double)b[axis];
        squared += d * d;
    }
    if (squared == 0.0 || (best->count == NEIGHBOURS && squared >= best->squared[NEIGHBOURS - 1]))
        return;
    int at = best->count < NEIGHBOURS ? best->count++ : NEIGHBOURS - 1;
    for (; at > 0 && best->squared[at - 1] > squared; at--)
        best->squared[at] = best->squared[at - 1];
    best->squared[at] = squared;
}

/* Searches a node, which holds points [first, last). */
static void search(const kd_tree *tree, uint32_t level, uint64_t node, uint64_t first,
                   uint64_t last, const float query[3], kd_nearest *best)
{
    if (level == tree->depth) {
        for (uint64_t i = first; i < last; i++)
            nearest_add(best, query, tree->points[i].at);
        return;
    }
    const kd_split *split = &tree->splits[((uint64_t)1 << level) - 1 + node];
    double past = (double)query[split->axis] - (double)split->position;
    uint64_t middle = first + (last - first) / 2;
    for (int turn = 0; turn < 2; turn++) {
        bool upper = (past >= 0.0) == (turn == 0); /* the query's side first */
        bool out_of_reach =
            turn == 1 && best->count == NEIGHBOURS && past * past >= best->squared[NEIGHBOURS - 1];
        if (!out_of_reach)
            search(tree, level + 1, 2 * node + upper, upper ? middle : first, upper ? last : middle,
                   query, best);
    }
}

/* Query point s. Query points are evenly spread in tree order, and therefore in space. */
static const point3 *sample_of(const kd_tree *tree, uint64_t s)
{
    return &tree->points[s * tree->count / tree->sample_count];
}

static void sample_task(void *argument, uint32_t index)
{
    const kd_tree *tree = argument;
    uint64_t first = (uint64_t)index * SAMPLES_A_TASK;
    uint64_t last = TML_MIN_OF(first + SAMPLES_A_TASK, tree->sample_count);
    for (uint64_t s = first; s < last; s++) {
        const point3 *query = sample_of(tree, s);
        /* Coinciding points are adjacent in the tree. Only the first one is a query: otherwise many
         * coinciding points, such as a scanner's invalid returns, would visit one another in
         * quadratic time. */
        tree->samples[s] = 0.0;
        if (s > 0 && memcmp(sample_of(tree, s - 1), query, sizeof *query) == 0)
            continue;
        kd_nearest best = {.count = 0};
        search(tree, 0, 0, 0, tree->count, query->at, &best);
        tree->samples[s] = best.count ? sqrt(best.squared[best.count - 1]) : 0.0;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Builds the tree level by level, then computes the median distance. */
static double tree_spacing(tml_context *tml, kd_tree *tree)
{
    for (tree->level = 0; tree->level < tree->depth; tree->level++)
        tml_parallel_for(tml, (uint32_t)1 << tree->level, build_node, tree);
    tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(tree->sample_count, SAMPLES_A_TASK), sample_task,
                     tree);
    uint64_t found = 0;
    for (uint64_t s = 0; s < tree->sample_count; s++)
        if (tree->samples[s] > 0.0)
            tree->samples[found++] = tree->samples[s];
    qsort(tree->samples, found, sizeof *tree->samples, compare_doubles);
    return found ? tree->samples[found / 2] : 0.0;
}

tml_status field_spacing(tml_context *tml, const float *points, uint64_t count, double *out)
{
    kd_tree tree = {.count = 0};
    size_t points_size = count * sizeof *tree.points;
    tree.points = tml_alloc_array(tml, count, sizeof *tree.points);
    if (!tree.points && count)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_field: no memory for %zu bytes of k-d tree", points_size);
    assert(tree.points || count == 0);
    for (uint64_t i = 0; i < count; i++) {
        const float *p = points + 3 * i;
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
            memcpy(tree.points[tree.count++].at, p, sizeof tree.points[0].at);
    }
    while (tree.count >> tree.depth > LEAF)
        tree.depth++;
    tree.sample_count = TML_MIN_OF(tree.count, (uint64_t)SAMPLES);
    size_t splits_size = ((size_t)1 << tree.depth) * sizeof *tree.splits;
    size_t samples_size = (size_t)tree.sample_count * sizeof *tree.samples;
    tree.splits = tml_alloc_array(tml, (uint64_t)1 << tree.depth, sizeof *tree.splits);
    tree.samples = tml_alloc(tml, samples_size);
    tml_status status = TML_OK;
    if (tree.splits && (tree.samples || samples_size == 0))
        *out = tree_spacing(tml, &tree);
    else
        status =
            tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                      "tml_field: no memory for %zu bytes of k-d tree", splits_size + samples_size);
    tml_free(tml, tree.samples, samples_size);
    tml_free(tml, tree.splits, splits_size);
    tml_free(tml, tree.points, points_size);
    return status;
}
