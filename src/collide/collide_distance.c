/* The smallest distance between two meshes, by branch and bound: both trees are followed down, the
 * nearest pair of boxes first, without pairs that are farther apart than the nearest triangles so
 * far.
 *
 * Boxes are compared in a's frame. A pose rounds monotonically, so b's posed boxes contain its
 * posed vertices exactly (collide.k.h), and only the computation of their distance in double
 * rounds. */
#include <math.h>
#include <string.h>

#include "collide/collide_internal.h"
#include "collide/triangle_distance.h"
#include "core/call.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"

/* Low x y z, high x y z. */
typedef struct near_box {
    float at[6];
} near_box;

typedef struct near_run {
    const tml_context *tml;
    const tml_tree *a, *b;
    const collide_pose *pose;
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    tml_collide_distance_result best;
} near_run;

static near_box box_of(const tml_tree *tree, uint32_t level, uint32_t box)
{
    const float *group = collide_group(tree, level, box / COLLIDE_WIDTH) + box % COLLIDE_WIDTH;
    near_box out;
    for (int k = 0; k < 6; k++)
        out.at[k] = group[COLLIDE_WIDTH * k];
    return out;
}

/* A box of b in a's frame. */
static near_box posed_box(const collide_pose *pose, near_box box)
{
    near_box out;
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

static near_box box_of_triangle(const float at[9])
{
    near_box out;
    for (int k = 0; k < 3; k++) {
        out.at[k] = min(min(at[k], at[3 + k]), at[6 + k]);
        out.at[3 + k] = max(max(at[k], at[3 + k]), at[6 + k]);
    }
    return out;
}

/* A lower bound of the distance between points of the boxes: 2^-40 of it is taken off for
 * rounding. */
static double boxes_apart(const near_box *p, const near_box *q)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double gap =
            fmax((double)p->at[k] - (double)q->at[3 + k], (double)q->at[k] - (double)p->at[3 + k]);
        sum += gap > 0 ? gap * gap : 0;
    }
    return sqrt(sum) * (1 - 0x1p-40);
}

/* A child of a split node and the distance of its box from the other side's; child_add keeps the
 * nearest first. */
typedef struct near_child {
    double apart;
    uint32_t index;
    near_box box;
} near_child;

static void child_add(near_child *children, uint32_t *count, near_child child)
{
    uint32_t i = (*count)++;
    for (; i > 0 && children[i - 1].apart > child.apart; i--)
        children[i] = children[i - 1];
    children[i] = child;
}

static void near_leaves(near_run *run, uint32_t a_leaf, const near_box *a_box, uint32_t b_leaf,
                        const near_box *b_box)
{
    near_child a_near[COLLIDE_WIDTH], b_near[COLLIDE_WIDTH];
    float a_at[COLLIDE_WIDTH][9], b_at[COLLIDE_WIDTH][9];
    uint32_t a_count = 0, b_count = 0;
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        uint32_t a_slot = COLLIDE_WIDTH * a_leaf + i, b_slot = COLLIDE_WIDTH * b_leaf + i;
        if (run->a->ids[a_slot] != COLLIDE_NO_TRIANGLE) {
            collide_triangle(run->a, a_slot, a_at[i]);
            near_box box = box_of_triangle(a_at[i]);
            child_add(a_near, &a_count, (near_child){boxes_apart(&box, b_box), i, box});
        }
        if (run->b->ids[b_slot] != COLLIDE_NO_TRIANGLE) {
            collide_posed_triangle(run->b, run->pose, b_slot, b_at[i]);
            near_box box = box_of_triangle(b_at[i]);
            child_add(b_near, &b_count, (near_child){boxes_apart(&box, a_box), i, box});
        }
    }
    for (uint32_t j = 0; j < b_count && b_near[j].apart < run->best.distance; j++)
        for (uint32_t i = 0; i < a_count && a_near[i].apart < run->best.distance; i++) {
            collide_nearest nearest;
            if (boxes_apart(&a_near[i].box, &b_near[j].box) >= run->best.distance ||
                !collide_triangle_distance(a_at[a_near[i].index], b_at[b_near[j].index],
                                           run->best.distance, &nearest) ||
                nearest.distance >= run->best.distance)
                continue;
            run->best = (tml_collide_distance_result){
                .distance = nearest.distance,
                .a = run->a->ids[COLLIDE_WIDTH * a_leaf + a_near[i].index],
                .b = run->b->ids[COLLIDE_WIDTH * b_leaf + b_near[j].index]};
            memcpy(run->best.point_a, nearest.a, sizeof nearest.a);
            memcpy(run->best.point_b, nearest.b, sizeof nearest.b);
        }
}

/* Recurses once a step, at most COLLIDE_STEPS_MAX deep. */
static void near_descend(near_run *run, uint32_t number, uint32_t a, const near_box *a_box,
                         uint32_t b, const near_box *b_box)
{
    const collide_step *step = &run->steps[number];
    near_child children[COLLIDE_WIDTH];
    uint32_t count = 0;
    if (tml_is_cancelled(run->tml))
        return;
    if (step->a_level == 1 && step->b_level == 1) {
        near_leaves(run, a, a_box, b, b_box);
        return;
    }
    const tml_tree *tree = step->splits_b ? run->b : run->a;
    uint32_t level = (step->splits_b ? step->b_level : step->a_level) - 1;
    uint32_t first = COLLIDE_WIDTH * (step->splits_b ? b : a);
    for (uint32_t i = first; i < first + COLLIDE_WIDTH && i < tree->level_count[level]; i++) {
        near_box box = box_of(tree, level, i);
        if (step->splits_b)
            box = posed_box(run->pose, box);
        double apart = boxes_apart(&box, step->splits_b ? a_box : b_box);
        if (apart < run->best.distance)
            child_add(children, &count, (near_child){apart, i, box});
    }
    for (uint32_t i = 0; i < count && children[i].apart < run->best.distance; i++)
        if (step->splits_b)
            near_descend(run, number + 1, a, a_box, children[i].index, &children[i].box);
        else
            near_descend(run, number + 1, children[i].index, &children[i].box, b, b_box);
}

typedef struct near_job {
    tml_context *tml;
    const tml_tree *a, *b;
    const collide_pose *poses;
    uint32_t first; /* pose of the first task */
    tml_collide_distance_result *out;
} near_job;

static void near_task(void *argument, uint32_t task)
{
    const near_job *job = argument;
    uint32_t pose = job->first + task;
    near_run run = {.tml = job->tml,
                    .a = job->a,
                    .b = job->b,
                    .pose = &job->poses[pose],
                    .best = {.distance = INFINITY}};
    run.step_count = collide_schedule(job->a, job->b, 0, run.steps);
    if (run.step_count > 0) {
        near_box a = box_of(job->a, job->a->levels, 0);
        near_box b = posed_box(run.pose, box_of(job->b, job->b->levels, 0));
        near_descend(&run, 0, 0, &a, 0, &b);
    }
    job->out[pose] = run.best;
}

static tml_status distance(tml_context *tml, tml_tree *a, tml_tree *b, const float *poses,
                           uint32_t pose_count, tml_collide_distance_result *out)
{
    enum { POSES_A_ROUND = 256 };
    const char *call = "tml_collide_distance";
    if (!poses && pose_count > 1)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: pose_count is %u though poses is NULL; needs 0 or 1", call,
                         pose_count);
    if (poses && pose_count == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: pose_count is 0 though poses is given", call);
    pose_count = TML_MAX_OF(pose_count, 1u);
    collide_pose *made = tml_alloc_array(tml, pose_count, sizeof *made);
    if (!made)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u poses, %zu bytes each",
                         call, pose_count, sizeof *made);
    tml_status status = collide_trees_fetch(tml, call, a, b, COLLIDE_STALE_ALL);
    for (uint32_t p = 0; p < pose_count && status == TML_OK; p++)
        status =
            collide_pose_make(tml, call, a, b, poses ? poses + 12 * (size_t)p : NULL, p, &made[p]);
    near_job job = {.tml = tml, .a = a, .b = b, .poses = made, .out = out};
    while (job.first < pose_count && status == TML_OK) {
        uint32_t count = TML_MIN_OF(pose_count - job.first, (uint32_t)POSES_A_ROUND);
        tml_parallel_for(tml, count, near_task, &job);
        job.first += count;
        if (!tml_progress(tml, "distance", (double)job.first / pose_count))
            status = tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
    }
    tml_free(tml, made, pose_count * sizeof *made);
    return status;
}

tml_status tml_collide_distance(tml_context *tml, tml_tree *a, tml_tree *b, const float *poses,
                                uint32_t pose_count, tml_collide_distance_result *out)
{
    tml_status status = TML_ENTER(tml, a, b, out);
    return status ? status : tml_leave(tml, distance(tml, a, b, poses, pose_count, out));
}

#include "kernels/kernel_end.h"
