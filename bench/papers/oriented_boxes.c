/* Which volume bounds the nodes of a tree of triangles best? The library has axis-aligned boxes,
 * and a slab around each leaf. The chapter of 2005 has oriented boxes, as its predecessor RAPID
 * has; here a node's box follows the principal axes of its vertices. The library's own descent
 * (collide_pairs_depth_loops.h) tests the oriented boxes of every pair of nodes whose axis-aligned
 * boxes meet: by 6 axes (the boxes' own), or by 15 (also the products of an edge of each). All
 * volumes give the same pairs of triangles.
 *
 * After: Gottschalk, Lin, Manocha: OBBTree: A Hierarchical Structure for Rapid Interference
 * Detection. 1996; Horn: Stream Reduction Operations for GPGPU Applications. GPU Gems 2, chapter
 * 36. 2005. */
#include "oriented_boxes.h"

#include "core/simd.h"

#include <math.h>
#include <string.h>

/* Margin for roundings, relative to the coordinates: many times 2^-24. It is added to a box's half
 * sides, and to the bounds by which boxes are separated. */
static const float slack = 0x1p-18f;

/* ---- boxes ----------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The eigenvectors of a symmetric matrix, as rows, by Jacobi's rotations. They are orthonormal for
 * any matrix. */
static void principal_axes(double m[3][3], double axes[3][3])
{
    memset(axes, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++)
        axes[k][k] = 1;
    for (int turn = 0; turn < 24; turn++) {
        int p = turn % 3, q = (p + 1) % 3;
        if (m[p][q] == 0)
            continue;
        double angle = 0.5 * atan(2 * m[p][q] / (m[q][q] - m[p][p])); /* at most 45 degrees */
        double c = cos(angle), s = sin(angle);
        for (int k = 0; k < 3; k++) {
            double x = m[k][p], y = m[k][q], u = axes[p][k], v = axes[q][k];
            m[k][p] = c * x - s * y;
            m[k][q] = s * x + c * y;
            axes[p][k] = c * u - s * v;
            axes[q][k] = s * u + c * v;
        }
        for (int k = 0; k < 3; k++) {
            double x = m[p][k], y = m[q][k];
            m[p][k] = c * x - s * y;
            m[q][k] = s * x + c * y;
        }
    }
}

/* Corner number of the triangles of slots from first on. */
static void corner_at(const tml_tree *tree, uint32_t first, uint32_t number, double out[3])
{
    float corners[9];
    tree_triangle(tree, first + number / 3, corners);
    for (int k = 0; k < 3; k++)
        out[k] = (double)corners[3 * (number % 3) + (uint32_t)k];
}

static oriented_box fit(const tml_tree *tree, uint32_t first, uint32_t slots)
{
    double mean[3] = {0}, spread[3][3] = {{0}}, axes[3][3], p[3], reach = 0;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < 3 * slots; i++) {
        corner_at(tree, first, i, p);
        for (int k = 0; k < 3; k++) {
            mean[k] += p[k] / (3 * slots);
            reach = fmax(reach, fabs(p[k]));
        }
    }
    for (uint32_t i = 0; i < 3 * slots; i++) {
        corner_at(tree, first, i, p);
        for (int k = 0; k < 9; k++)
            spread[k / 3][k % 3] += (p[k / 3] - mean[k / 3]) * (p[k % 3] - mean[k % 3]);
    }
    principal_axes(spread, axes);
    for (uint32_t i = 0; i < 3 * slots; i++) {
        corner_at(tree, first, i, p);
        for (int k = 0; k < 3; k++) {
            double along = dot(axes[k], p);
            low[k] = fmin(low[k], along);
            high[k] = fmax(high[k], along);
        }
    }
    oriented_box box = {{0}, {{0}}, {0}};
    for (int k = 0; k < 3; k++) {
        box.half[k] = (float)((high[k] - low[k]) / 2) + slack * (float)reach;
        for (int c = 0; c < 3; c++) {
            box.axes[k][c] = (float)axes[k][c];
            box.center[c] += (float)((low[k] + high[k]) / 2 * axes[k][c]);
        }
    }
    return box;
}

tml_status papers_oriented_create(tml_context *tml, const tml_tree *tree, papers_oriented **out)
{
    papers_oriented *own = *out = tml_alloc(tml, sizeof *own);
    if (own)
        *own = (papers_oriented){.count = 0};
    for (uint32_t level = 1; own && level <= tree->levels; level++) {
        own->first[level] = own->count;
        own->count += tree->level_count[level];
    }
    if (own)
        own->boxes = tml_alloc_array(tml, own->count + 1, sizeof *own->boxes);
    if (!own || !own->boxes) {
        papers_oriented_destroy(tml, own);
        *out = NULL;
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for oriented boxes");
    }
    for (uint32_t level = 1; level <= tree->levels; level++)
        for (uint32_t i = 0; i < tree->level_count[level]; i++) {
            uint64_t width = UINT64_C(1) << COLLIDE_WIDTH_LOG2 * level, first = width * i;
            uint64_t slots = TML_MIN_OF(width, tree->level_count[0] - first);
            own->boxes[own->first[level] + i] = fit(tree, (uint32_t)first, (uint32_t)slots);
        }
    return TML_OK;
}

void papers_oriented_destroy(tml_context *tml, papers_oriented *oriented)
{
    if (oriented)
        tml_free(tml, oriented->boxes, (oriented->count + 1) * sizeof *oriented->boxes);
    tml_free(tml, oriented, sizeof *oriented);
}

/* ---- separating axes ------------------------------------------------------------------------- */

static float dotf(const float *a, const float *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A box relative to another box, in the other's frame. between: the vector from its centre to the
 * other's; turned[i][j]: the product of axis i of one and axis j of the other. */
typedef struct beside {
    float to[3], turned[3][3], size[3][3]; /* size: at least the magnitude of turned */
} beside;

static beside put_beside(const oriented_box *a, const oriented_box *b, const float m[12])
{
    beside out;
    float to[3], axis[3];
    for (int r = 0; r < 3; r++)
        to[r] = dotf(m + 4 * r, b->center) + m[4 * r + 3] - a->center[r];
    for (int j = 0; j < 3; j++) {
        for (int r = 0; r < 3; r++)
            axis[r] = dotf(m + 4 * r, b->axes[j]);
        out.to[j] = dotf(a->axes[j], to);
        for (int i = 0; i < 3; i++) {
            out.turned[i][j] = dotf(a->axes[i], axis);
            out.size[i][j] = fabsf(out.turned[i][j]) + slack;
        }
    }
    return out;
}

static bool are_parted(const oriented_box *a, const oriented_box *b, const float m[12], bool by_15)
{
    const beside s = put_beside(a, b, m);
    for (int i = 0; i < 3; i++)
        if (fabsf(s.to[i]) > a->half[i] + dotf(b->half, s.size[i]))
            return true;
    for (int j = 0; j < 3; j++) {
        const float along[3] = {s.turned[0][j], s.turned[1][j], s.turned[2][j]};
        const float size[3] = {s.size[0][j], s.size[1][j], s.size[2][j]};
        if (fabsf(dotf(s.to, along)) > b->half[j] + dotf(a->half, size))
            return true;
    }
    for (int k = 0; k < 9 && by_15; k++) {
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3,
            j2 = (j + 2) % 3;
        float between = fabsf(s.to[i2] * s.turned[i1][j] - s.to[i1] * s.turned[i2][j]);
        if (between > a->half[i1] * s.size[i2][j] + a->half[i2] * s.size[i1][j] +
                          b->half[j1] * s.size[i][j2] + b->half[j2] * s.size[i][j1])
            return true;
    }
    return false;
}

bool oriented_meet(const oriented_run *run, const depth_pair *pair, uint32_t step)
{
    const collide_step *at = &run->run.call->steps[step];
    bool is_leaf = at->a_level == 1 && at->b_level == 1;
    if (run->volume < PAPERS_VOLUME_ORIENTED_LEAVES ||
        (run->volume == PAPERS_VOLUME_ORIENTED_LEAVES && !is_leaf))
        return true;
    return !are_parted(&run->a->boxes[run->a->first[at->a_level] + pair->a.index],
                       &run->b->boxes[run->b->first[at->b_level] + pair->b.index],
                       run->run.pose->matrix, run->volume != PAPERS_VOLUME_ORIENTED_6);
}

/* ---- the descent ----------------------------------------------------------------------------- */

tml_status papers_volume_collide(tml_context *tml, const papers_volume_desc *desc,
                                 papers_volume_result *out)
{
    collide_job job = {.tml = tml,
                       .a = desc->a,
                       .b = desc->b,
                       .want = TML_COLLIDE_WANT_COUNT,
                       .classes = (1u << TML_COLLIDE_CLASS_COUNT) - 2};
    depth_call call = {.job = &job};
    const depth_loops *loops = SIMD_CHOOSE(oriented_loops);
    call.step_count = collide_schedule(job.a, job.b, 1, call.steps);
    *out = (papers_volume_result){.pairs = 0};
    for (uint32_t p = 0; p < desc->pose_count && call.step_count > 0; p++) {
        collide_pose pose;
        tml_status status = collide_pose_make(tml, "papers_volume_collide", job.a, job.b,
                                              desc->poses + 12 * (size_t)p, p, &pose);
        if (status)
            return status;
        oriented_run run = {
            .run = {.call = &call, .pose = &pose, .pose_number = p, .stop_step = UINT32_MAX},
            .volume = desc->volume,
            .a = desc->a_boxes,
            .b = desc->b_boxes};
        depth_pair roots;
        if (loops->root(&run.run, &roots) && oriented_meet(&run, &roots, 0))
            loops->descend(&run.run, &roots, 0);
        out->pairs += run.run.count;
        for (int step = 0; step < COLLIDE_STEPS_MAX; step++)
            out->node_pairs += run.run.step_pairs[step];
        out->tested += run.run.tested;
    }
    return TML_OK;
}
