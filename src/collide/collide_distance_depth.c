/* The smallest distance between two meshes by branch and bound. Descends both trees, the nearest
 * pair of boxes first, and skips pairs that are farther apart than the nearest triangles so far.
 *
 * Boxes are compared in a's frame. Poses round monotonically, so b's posed boxes contain its posed
 * vertices exactly (collide.k.h). Only the distance of the boxes, computed in double, is
 * rounded. */
#include <math.h>
#include <string.h>

#include "collide/collide_distance.h"
#include "collide/triangle_distance.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"

/* Low x y z, high x y z. */
typedef struct distance_box {
    float at[6];
} distance_box;

typedef struct distance_run {
    const distance_job *job;
    uint32_t pose;
    collide_step steps[COLLIDE_STEPS_MAX];
    tml_collide_distance_result best;
    double bound; /* pairs that are farther apart are skipped */
} distance_run;

static distance_box box_of(const tml_tree *tree, uint32_t level, uint32_t box)
{
    const float *group = tree_group(tree, level, box / COLLIDE_WIDTH) + box % COLLIDE_WIDTH;
    distance_box out;
    for (int k = 0; k < 6; k++)
        out.at[k] = group[COLLIDE_WIDTH * k];
    return out;
}

/* A box of b, in a's frame. */
static distance_box posed_box(const collide_pose *pose, distance_box box)
{
    distance_box out;
    if (pose->is_identity)
        return box;
    vec3 low = VEC3(box.at[0], box.at[1], box.at[2]), high = VEC3(box.at[3], box.at[4], box.at[5]);
    for (int r = 0; r < 3; r++) {
        const float *m = pose->matrix + 4 * r;
        out.at[r] = collide_pose_low(VEC4(m[0], m[1], m[2], m[3]), low, high);
        out.at[3 + r] = collide_pose_high(VEC4(m[0], m[1], m[2], m[3]), low, high);
    }
    return out;
}

static distance_box box_of_triangle(const float at[9])
{
    distance_box out;
    for (int k = 0; k < 3; k++) {
        out.at[k] = min(min(at[k], at[3 + k]), at[6 + k]);
        out.at[3 + k] = max(max(at[k], at[3 + k]), at[6 + k]);
    }
    return out;
}

/* A lower bound of the distance that collide_triangle_distance computes for triangles in the boxes.
 * 2^-40 of the result is subtracted for roundings here, and 2^-46 of the largest difference of
 * coordinates for roundings there. */
static double boxes_apart(const distance_box *p, const distance_box *q)
{
    double sum = 0, extent = 0;
    for (int k = 0; k < 3; k++) {
        double ahead = (double)p->at[3 + k] - (double)q->at[k];
        double behind = (double)q->at[3 + k] - (double)p->at[k];
        double gap = fmax(0, -fmin(ahead, behind));
        sum += gap * gap;
        extent = fmax(extent, fmax(ahead, behind));
    }
    return sqrt(sum) * (1 - 0x1p-40) - 0x1p-46 * extent;
}

/* A child of a split node, and the distance of its box from the other side's box. child_add keeps
 * children sorted, the nearest first. */
typedef struct distance_child {
    double apart;
    uint32_t index;
    distance_box box;
} distance_child;

static void child_add(distance_child *children, uint32_t *count, distance_child child)
{
    uint32_t i = (*count)++;
    for (; i > 0 && children[i - 1].apart > child.apart; i--)
        children[i] = children[i - 1];
    children[i] = child;
}

void distance_offer(const distance_job *job, uint32_t pose, uint32_t a_slot, uint32_t b_slot,
                    tml_collide_distance_result *best)
{
    float a[9], b[9];
    collide_nearest nearest;
    uint32_t a_id = job->a->ids[a_slot], b_id = job->b->ids[b_slot];
    tree_triangle(job->a, a_slot, a);
    collide_posed_triangle(job->b, &job->poses[pose], b_slot, b);
    if (!collide_triangle_distance(a, b, INFINITY, &nearest) || nearest.distance > best->distance)
        return;
    if (nearest.distance == best->distance && (a_id != best->a ? a_id > best->a : b_id >= best->b))
        return;
    best->distance = nearest.distance;
    best->a = a_id;
    best->b = b_id;
    memcpy(best->point_a, nearest.a, sizeof nearest.a);
    memcpy(best->point_b, nearest.b, sizeof nearest.b);
}

/* Offers a pair of triangles, and updates the bound. If the meshes meet, the search ends. */
static void distance_take(distance_run *run, uint32_t a_slot, uint32_t b_slot)
{
    distance_offer(run->job, run->pose, a_slot, b_slot, &run->best);
    if (run->best.a != UINT32_MAX)
        run->bound =
            run->best.distance > 0 ? run->best.distance / (1 + run->job->tolerance) : -INFINITY;
}

static void distance_leaves(distance_run *run, uint32_t a_leaf, const distance_box *a_box,
                            uint32_t b_leaf, const distance_box *b_box)
{
    const tml_tree *a = run->job->a, *b = run->job->b;
    distance_child a_near[COLLIDE_WIDTH], b_near[COLLIDE_WIDTH];
    uint32_t a_count = 0, b_count = 0;
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        uint32_t a_slot = COLLIDE_WIDTH * a_leaf + i, b_slot = COLLIDE_WIDTH * b_leaf + i;
        float at[9];
        if (a->ids[a_slot] != COLLIDE_NO_TRIANGLE) {
            tree_triangle(a, a_slot, at);
            distance_box box = box_of_triangle(at);
            child_add(a_near, &a_count, (distance_child){boxes_apart(&box, b_box), a_slot, box});
        }
        if (b->ids[b_slot] != COLLIDE_NO_TRIANGLE) {
            collide_posed_triangle(b, &run->job->poses[run->pose], b_slot, at);
            distance_box box = box_of_triangle(at);
            child_add(b_near, &b_count, (distance_child){boxes_apart(&box, a_box), b_slot, box});
        }
    }
    for (uint32_t j = 0; j < b_count && b_near[j].apart <= run->bound; j++)
        for (uint32_t i = 0; i < a_count && a_near[i].apart <= run->bound; i++)
            if (boxes_apart(&a_near[i].box, &b_near[j].box) <= run->bound)
                distance_take(run, a_near[i].index, b_near[j].index);
}

/* Recurses once per step, at most COLLIDE_STEPS_MAX deep. */
static void distance_descend(distance_run *run, uint32_t number, uint32_t a,
                             const distance_box *a_box, uint32_t b, const distance_box *b_box)
{
    const collide_step *step = &run->steps[number];
    distance_child children[COLLIDE_WIDTH];
    uint32_t count = 0;
    if (tml_is_cancelled(run->job->tml))
        return;
    if (step->a_level == 1 && step->b_level == 1) {
        distance_leaves(run, a, a_box, b, b_box);
        return;
    }
    const tml_tree *tree = step->splits_b ? run->job->b : run->job->a;
    uint32_t level = (step->splits_b ? step->b_level : step->a_level) - 1;
    uint32_t first = COLLIDE_WIDTH * (step->splits_b ? b : a);
    for (uint32_t i = first; i < first + COLLIDE_WIDTH && i < tree->level_count[level]; i++) {
        distance_box box = box_of(tree, level, i);
        if (step->splits_b)
            box = posed_box(&run->job->poses[run->pose], box);
        double apart = boxes_apart(&box, step->splits_b ? a_box : b_box);
        if (apart <= run->bound)
            child_add(children, &count, (distance_child){apart, i, box});
    }
    for (uint32_t i = 0; i < count && children[i].apart <= run->bound; i++)
        if (step->splits_b)
            distance_descend(run, number + 1, a, a_box, children[i].index, &children[i].box);
        else
            distance_descend(run, number + 1, children[i].index, &children[i].box, b, b_box);
}

tml_collide_distance_result distance_none(const distance_job *job)
{
    return (tml_collide_distance_result){.distance = job->limit, .a = UINT32_MAX, .b = UINT32_MAX};
}

void distance_finish(const distance_job *job, uint32_t pose, tml_collide_distance_result best)
{
    if (best.a == UINT32_MAX)
        best.distance = INFINITY;
    job->out[pose] = best;
}

void distance_of_pose(const distance_job *job, uint32_t pose)
{
    const tml_tree *a = job->a, *b = job->b;
    distance_run run = {.job = job, .pose = pose, .best = distance_none(job), .bound = job->limit};
    if (collide_schedule(a, b, 0, run.steps) > 0) {
        distance_box a_box = box_of(a, a->levels, 0);
        distance_box b_box = posed_box(&job->poses[pose], box_of(b, b->levels, 0));
        if (boxes_apart(&a_box, &b_box) <= run.bound)
            distance_descend(&run, 0, 0, &a_box, 0, &b_box);
    }
    distance_finish(job, pose, run.best);
}

static void distance_task(void *argument, uint32_t task)
{
    const distance_job *job = argument;
    distance_of_pose(job, job->first + task);
}

tml_status distance_depth_first(distance_job *job)
{
    enum { POSES_A_ROUND = 256 };
    for (job->first = 0; job->first < job->pose_count;) {
        uint32_t count = TML_MIN_OF(job->pose_count - job->first, (uint32_t)POSES_A_ROUND);
        tml_parallel_for(job->tml, count, distance_task, job);
        job->first += count;
        if (!tml_progress(job->tml, "distance", (double)job->first / job->pose_count))
            return tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide_distance: cancelled");
    }
    return TML_OK;
}

#include "kernels/kernel_end.h"
