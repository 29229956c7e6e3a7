/* The depth-first descent's inner loops, compiled once per SIMD level (core/simd.h). They run the
 * formulas of collide.k.h over the eight lanes of a group, which compilers vectorise. */
#include <float.h>
#include <math.h>

#include "collide/collide_pairs_depth.h"
#include "core/lanes.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Needs the headers above. */
#include "kernels/collide_slab_host.h"

/* A benchmark that compares bounding volumes defines all three: the table's name, a further test
 * that a pair of nodes must pass to enter a step, and whether slabs are tested. */
#ifndef DEPTH_SET
#    define DEPTH_SET                     depth_loops
#    define DEPTH_PASSES(run, pair, step) true
#    define DEPTH_HAS_SLABS(run)          true
#endif

/* Eight boxes in a's frame (here) and b's (there): the tree's own group, or one in room. */
typedef struct lanes {
    const float *here, *there;
    float room[2 * COLLIDE_BOX_WORDS];
} lanes;

/* Returns a bit per lane whose gap is at most 0. */
ALWAYS_INLINE uint32_t lanes_met(const float gap[COLLIDE_WIDTH])
{
#if SIMD_FILE >= SIMD_FILE_AVX2
    return (uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps(_mm256_loadu_ps(gap), _mm256_setzero_ps(), _CMP_LE_OQ));
#elif TML_NEON
    return neon_bits_8(vclezq_f32(vld1q_f32(gap)), vclezq_f32(vld1q_f32(gap + 4)));
#else
    uint32_t met = 0;
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++)
        met |= (uint32_t)(gap[i] <= 0.0f) << i;
    return met;
#endif
}

/* Rows [number, number + 3) of a lane. */
ALWAYS_INLINE vec3 lane3(const float *at, uint32_t number, uint32_t lane)
{
    at += COLLIDE_WIDTH * number;
    return VEC3(at[lane], at[COLLIDE_WIDTH + lane], at[2 * COLLIDE_WIDTH + lane]);
}

ALWAYS_INLINE vec4 row_of(const float matrix[12], uint32_t row)
{
    const float *m = matrix + 4 * row;
    return VEC4(m[0], m[1], m[2], m[3]);
}

/* Moves eight boxes by a matrix. */
ALWAYS_INLINE void lanes_move(const float matrix[12], const float *in, float *out)
{
    for (uint32_t r = 0; r < 3; r++) {
        vec4 row = row_of(matrix, r);
        LANES
        {
            out[COLLIDE_WIDTH * r + i] = collide_pose_low(row, lane3(in, 0, i), lane3(in, 3, i));
            out[COLLIDE_WIDTH * (3 + r) + i] =
                collide_pose_high(row, lane3(in, 0, i), lane3(in, 3, i));
        }
    }
}

/* Puts a group of boxes of a or b into both frames. Without a pose the frames are the same. */
ALWAYS_INLINE void lanes_make(const float *group, const collide_pose *pose, bool is_posed,
                              bool is_b, lanes *out)
{
    enum { HALF = COLLIDE_BOX_WORDS / 2 };
    float *moved = out->room, *widened = out->room + COLLIDE_BOX_WORDS;
    out->here = out->there = group;
    if (!is_posed)
        return;
    lanes_move(is_b ? pose->matrix : pose->inverse, group, moved);
    if (!is_b) {
        out->there = moved;
        return;
    }
    for (uint32_t k = 0; k < 3; k++)
        LANES
        {
            uint32_t at = COLLIDE_WIDTH * k + i;
            widened[at] = group[at] - pose->margin[k];
            widened[HALF + at] = group[HALF + at] + pose->margin[k];
        }
    out->here = moved;
    out->there = widened;
}

ALWAYS_INLINE void gaps(const float box[6], const float *boxes, float gap[COLLIDE_WIDTH])
{
    vec3 low = VEC3(box[0], box[1], box[2]), high = VEC3(box[3], box[4], box[5]);
    LANES
    gap[i] = collide_gap(low, high, lane3(boxes, 0, i), lane3(boxes, 3, i));
}

/* Returns a bit per lane whose box meets the node's. */
ALWAYS_INLINE uint32_t lanes_meet(const depth_node *node, const lanes *others, bool is_posed)
{
    float here[COLLIDE_WIDTH], there[COLLIDE_WIDTH];
    gaps(node->here, others->here, here);
    if (is_posed) {
        gaps(node->there, others->there, there);
        LANES
        here[i] = max(here[i], there[i]);
    }
    return lanes_met(here);
}

ALWAYS_INLINE void lane_node(const lanes *from, uint32_t lane, uint32_t index, bool is_posed,
                             depth_node *out)
{
    out->index = index;
    for (uint32_t k = 0; k < 6; k++)
        out->here[k] = from->here[COLLIDE_WIDTH * k + lane];
    for (uint32_t k = 0; k < 6 && is_posed; k++)
        out->there[k] = from->there[COLLIDE_WIDTH * k + lane];
}

/* The largest difference of coordinates; 0 if the points coincide. */
ALWAYS_INLINE float collide_between(vec3 p, vec3 q)
{
    return max(max(abs(p.x - q.x), abs(p.y - q.y)), abs(p.z - q.z));
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Computes the boxes of eight triangles. */
ALWAYS_INLINE void triangle_boxes(const float *at, float *box)
{
    enum { HALF = COLLIDE_BOX_WORDS / 2 }; /* three coordinates of eight */
    for (uint32_t i = 0; i < HALF; i++) {
        box[i] = min(min(at[i], at[HALF + i]), at[2 * HALF + i]);
        box[HALF + i] = max(max(at[i], at[HALF + i]), at[2 * HALF + i]);
    }
}

ALWAYS_INLINE void leaf_load(depth_run *run, uint32_t index, bool is_posed)
{
    depth_leaf *leaf = run->leaf;
    const tml_tree *b = run->call->job->b;
    if (leaf->index == index)
        return;
    const float *own = b->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * index;
    leaf->index = index;
    leaf->at = is_posed ? leaf->room : own;
    for (uint32_t corner = 0; corner < 9 && is_posed; corner += 3)
        for (uint32_t r = 0; r < 3; r++) {
            vec4 row = row_of(run->pose->matrix, r);
            float *moved = leaf->room + COLLIDE_WIDTH * (corner + r);
            LANES
            moved[i] = collide_pose_row(row, lane3(own, corner, i));
        }
    triangle_boxes(leaf->at, leaf->box);
    leaf->has_slab = false;
}

/* The slab of b's leaf under the pose. Its normal is the leaf's own, moved like a plane's, by the
 * inverse's transpose. (Any normal is correct. A pose without an inverse gives 0.) */
ALWAYS_INLINE collide_slab leaf_slab(depth_run *run, bool is_posed)
{
    depth_leaf *leaf = run->leaf;
    const float *words = tree_slab_words(run->call->job->b, leaf->index);
    if (!is_posed)
        return collide_slab_load(words);
    if (!leaf->has_slab) {
        vec3 own = collide_slab_load(words).normal;
        const float *m = run->pose->inverse;
        double direction[3];
        for (uint32_t k = 0; k < 3; k++)
            direction[k] = (double)m[k] * (double)own.x + (double)m[4 + k] * (double)own.y +
                           (double)m[8 + k] * (double)own.z;
        collide_slab_store(collide_slab_around(collide_slab_normal(direction), leaf->at),
                           leaf->slab);
        leaf->has_slab = true;
    }
    return collide_slab_load(leaf->slab);
}

/* Returns a bit per triangle, of eight, that may have a point in the slab. */
ALWAYS_INLINE uint32_t lanes_within(collide_slab slab, const float *at)
{
    float gap[COLLIDE_WIDTH];
    LANES
    gap[i] = collide_slab_gap(slab, lane3(at, 0, i), lane3(at, 3, i), lane3(at, 6, i));
    return lanes_met(gap);
}

/* counted: for each vertex of eight triangles, the distance to the nearest of `corners`, the
 * vertices of another triangle of the same mesh. A shared vertex has distance 0 and does not count:
 * if all other vertices lie on one side of a plane, the triangles have nothing else in common. */
ALWAYS_INLINE void lanes_counted(const float *at, const vec3 *corners, float *counted)
{
    for (uint32_t corner = 0; corner < 3; corner++)
        LANES
        {
            vec3 p = lane3(at, 3 * corner, i);
            counted[COLLIDE_WIDTH * corner + i] =
                min(min(collide_between(corners[0], p), collide_between(corners[1], p)),
                    collide_between(corners[2], p));
        }
}

/* Returns a bit per triangle, of eight, that does not certainly lie on one side of a plane.
 * counted: from lanes_counted; NULL: all vertices count. */
ALWAYS_INLINE uint32_t lanes_across(collide_plane plane, const float *at, const float *counted)
{
    float apart[COLLIDE_WIDTH];
    LANES
    {
        vec3 p = collide_sides(plane, lane3(at, 0, i));
        vec3 q = collide_sides(plane, lane3(at, 3, i));
        vec3 r = collide_sides(plane, lane3(at, 6, i));
        float bound = p.z + q.z + r.z;
        float any = 1.0f;
        if (counted) {
            float x = counted[i], y = counted[COLLIDE_WIDTH + i],
                  z = counted[2 * COLLIDE_WIDTH + i];
            any = max(max(x, y), z);
            p.x = x > 0.0f ? p.x : FLT_MAX;
            p.y = x > 0.0f ? p.y : FLT_MAX;
            q.x = y > 0.0f ? q.x : FLT_MAX;
            q.y = y > 0.0f ? q.y : FLT_MAX;
            r.x = z > 0.0f ? r.x : FLT_MAX;
            r.y = z > 0.0f ? r.y : FLT_MAX;
        }
        float above = min(min(p.x, q.x), r.x);
        float below = min(min(p.y, q.y), r.y);
        float most = max(above, below);
        most = any > 0.0f ? most : 0.0f;
        apart[i] = bound < 0x1p100f ? most : 0.0f;
    }
    return lanes_met(apart);
}

/* Returns a bit per triangle, of eight, whose plane may not have all corners on one side. */
ALWAYS_INLINE uint32_t lanes_around(const float *at, const vec3 *corners)
{
    float apart[COLLIDE_WIDTH];
    LANES
    {
        collide_plane plane = collide_plane_of(lane3(at, 0, i), lane3(at, 3, i), lane3(at, 6, i));
        vec3 p = collide_sides(plane, corners[0]);
        vec3 q = collide_sides(plane, corners[1]);
        vec3 r = collide_sides(plane, corners[2]);
        float bound = p.z + q.z + r.z;
        float most = max(min(min(p.x, q.x), r.x), min(min(p.y, q.y), r.y));
        apart[i] = bound < 0x1p100f ? most : 0.0f;
    }
    return lanes_met(apart);
}

ALWAYS_INLINE void leaf_pair(depth_run *run, const depth_pair *pair, bool is_posed, bool is_self)
{
    const collide_job *job = run->call->job;
    const tml_tree *a = job->a;
    const float *a_at = a->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * pair->a.index;
    float gap[COLLIDE_WIDTH], a_box[COLLIDE_BOX_WORDS];
    leaf_load(run, pair->b.index, is_posed);
    const depth_leaf *leaf = run->leaf;

    gaps(pair->a.here, leaf->box, gap);
    uint32_t b_met = lanes_met(gap);
    if (b_met)
        b_met &= tree_used(job->b, pair->b.index);
    if (b_met && DEPTH_HAS_SLABS(run))
        b_met &= lanes_within(collide_slab_load(tree_slab_words(a, pair->a.index)), leaf->at);
    if (!b_met)
        return;
    triangle_boxes(a_at, a_box);
    gaps(pair->b.here, a_box, gap);
    uint32_t a_met = lanes_met(gap) & tree_used(a, pair->a.index);
    if (!a_met)
        return;
    /* Triangles that b's slab excludes still count as tested, since the device has no such test. */
    uint32_t a_within = a_met;
    if (DEPTH_HAS_SLABS(run))
        a_within &= lanes_within(leaf_slab(run, is_posed), a_at);
    for (; b_met; b_met &= b_met - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(b_met);
        uint32_t b_slot = COLLIDE_WIDTH * pair->b.index + lane;
        float b_box[6];
        for (uint32_t k = 0; k < 6; k++)
            b_box[k] = leaf->box[COLLIDE_WIDTH * k + lane];
        gaps(b_box, a_box, gap);
        uint32_t met = lanes_met(gap) & a_met;
        if (is_self && pair->a.index == pair->b.index)
            met &= (1u << lane) - 1;
        run->tested += (uint32_t)__builtin_popcount(met);
        met &= a_within;
        if (!met)
            continue;
        vec3 corners[3] = {lane3(leaf->at, 0, lane), lane3(leaf->at, 3, lane),
                           lane3(leaf->at, 6, lane)};
        float counted[3 * COLLIDE_WIDTH];
        if (is_self)
            lanes_counted(a_at, corners, counted);
        met &= lanes_across(collide_plane_of(corners[0], corners[1], corners[2]), a_at,
                            is_self ? counted : NULL);
        if (met && !is_self)
            met &= lanes_around(a_at, corners);
        for (; met; met &= met - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(met);
            vec3 p = lane3(a_at, 0, i), q = lane3(a_at, 3, i), r = lane3(a_at, 6, i);
            uint32_t answer = is_self
                                  ? collide_neighbours(p, q, r, corners[0], corners[1], corners[2])
                                  : collide_triangles(p, q, r, corners[0], corners[1], corners[2]);
            if (answer == 0)
                continue;
            depth_take(run, COLLIDE_WIDTH * pair->a.index + i, b_slot, answer == 1);
            if (run->is_over)
                return;
        }
    }
}

/* ---- descent --------------------------------------------------------------------------------- */

/* For a mesh against itself, each pair of nodes is followed once: if the first slot below a's node
 * is not after the last slot below b's. Returns a bit per child of the split with such a pair. */
ALWAYS_INLINE uint32_t lanes_in_order(const collide_step *step, uint32_t a, uint32_t b)
{
    uint32_t met = 0;
    uint32_t a_shift = COLLIDE_WIDTH_LOG2 * (step->a_level - !step->splits_b);
    uint32_t b_shift = COLLIDE_WIDTH_LOG2 * (step->b_level - step->splits_b);
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        uint64_t first = (uint64_t)(step->splits_b ? a : COLLIDE_WIDTH * a + i) << a_shift;
        uint64_t end = (uint64_t)((step->splits_b ? COLLIDE_WIDTH * b + i : b) + 1) << b_shift;
        met |= (uint32_t)(first < end) << i;
    }
    return met;
}

/* Recurses once per step, at most COLLIDE_STEPS_MAX deep. */
static void descend(depth_run *run, const depth_pair *pair, uint32_t number, bool is_posed,
                    bool is_self)
{
    const depth_call *call = run->call;
    const collide_job *job = call->job;
    const collide_step *step = &call->steps[number];
    if (number == run->stop_step) {
        if (run->stopped_count < run->stopped_capacity)
            run->stopped[run->stopped_count] = *pair;
        run->stopped_count++;
        return;
    }
    run->step_pairs[number]++;
    if (step->a_level == 1 && step->b_level == 1) {
        /* Constant arguments give each case its own loop. A choice inside one loop would become
         * masked loads of memory that does not exist. */
        if (is_self)
            leaf_pair(run, pair, false, true);
        else if (is_posed)
            leaf_pair(run, pair, true, false);
        else
            leaf_pair(run, pair, false, false);
        return;
    }
    if (tml_is_cancelled(job->tml) ||
        (run->first_only && atomic_load_explicit(run->found, memory_order_relaxed) < run->number)) {
        run->is_over = true;
        return;
    }
    const tml_tree *tree = step->splits_b ? job->b : job->a;
    const depth_node *split = step->splits_b ? &pair->b : &pair->a;
    const depth_node *other = step->splits_b ? &pair->a : &pair->b;
    uint32_t level = (step->splits_b ? step->b_level : step->a_level) - 1;
    lanes children;
    lanes_make(tree_group(tree, level, split->index), run->pose, is_posed, step->splits_b,
               &children);
    uint32_t met = lanes_meet(other, &children, is_posed);
    uint32_t left = tree->level_count[level] - COLLIDE_WIDTH * split->index;
    if (left < COLLIDE_WIDTH)
        met &= (1u << left) - 1;
    if (is_self)
        met &= lanes_in_order(step, pair->a.index, pair->b.index);
    depth_pair next;
    depth_node *child = step->splits_b ? &next.b : &next.a;
    *(step->splits_b ? &next.a : &next.b) = *other;
    next.pose = pair->pose;
    for (; met && !run->is_over; met &= met - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(met);
        lane_node(&children, lane, COLLIDE_WIDTH * split->index + lane, is_posed, child);
        if (DEPTH_PASSES(run, &next, number + 1))
            descend(run, &next, number + 1, is_posed, is_self);
    }
}

static void run_descend(depth_run *run, const depth_pair *pair, uint32_t step)
{
    depth_leaf leaf;
    leaf.index = COLLIDE_NO_TRIANGLE;
    run->leaf = &leaf;
    if (run->call->job->is_self)
        descend(run, pair, step, false, true);
    else if (run->pose->is_identity)
        descend(run, pair, step, false, false);
    else
        descend(run, pair, step, true, false);
    run->leaf = NULL;
}

/* A group of eight copies of the root. Its bounds are known even if the host's boxes are stale. */
static void root_group(const tml_tree *tree, float out[COLLIDE_BOX_WORDS])
{
    for (uint32_t k = 0; k < 3; k++)
        LANES
        {
            out[COLLIDE_WIDTH * k + i] = tree->lower[k];
            out[COLLIDE_WIDTH * (3 + k) + i] = tree->upper[k];
        }
}

static bool run_root(depth_run *run, depth_pair *out)
{
    const collide_job *job = run->call->job;
    bool is_posed = !run->pose->is_identity;
    float roots[2][COLLIDE_BOX_WORDS];
    lanes a, b;
    root_group(job->a, roots[0]);
    root_group(job->b, roots[1]);
    lanes_make(roots[0], run->pose, is_posed, false, &a);
    lanes_make(roots[1], run->pose, is_posed, true, &b);
    lane_node(&a, 0, 0, is_posed, &out->a);
    lane_node(&b, 0, 0, is_posed, &out->b);
    out->pose = run->pose_number;
    return lanes_meet(&out->a, &b, is_posed) & 1;
}

const depth_loops SIMD_SET(DEPTH_SET) = {run_root, run_descend};

#include "kernels/kernel_end.h"
