/* The descent on the device: a stream of pairs (node of a, node of b, pose), expanded level by
 * level.
 *
 * A step splits one side of every pair: a map computes a mask of the eight children that meet the
 * other side, and an expansion makes a pair for each bit. The last two steps split a leaf of b,
 * then a leaf of a, into triangles; the very last one answers no, yes or unsure for each pair of
 * triangles. All steps are enqueued at once with their lengths on the device, and one element is
 * read back at the end: how many pairs there are, and whether a step made more than there was room
 * for. If so, the buffers grow. Where memory is too short for that, the pairs that went into the
 * step are read back and followed in slices. A slice of an eighth of the room cannot fail in its
 * next step, so this ends.
 *
 * Where pairs are only counted, those that certainly cross are added up on the device, pose by
 * pose, and the host sees the unsure ones alone. Where one a pose is enough, a probe comes first: a
 * stream in which each pose keeps a few pairs of nodes at each step. What it answers leaves, and
 * only the other poses are followed whole.
 *
 * After: Lauterbach, Mo, Manocha: gProximity. 2010 (a front of pairs on the device); Ziegler, Tevs,
 * Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids. 2006 (expansion without
 * overflow). */
#include <inttypes.h>
#include <string.h>

#include "collide/collide_internal.h"
#include "kernels/kernel.h"
#include "stream/program.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_stream.k.h"

#include "collide_library.h"

/* Words of params.u for the split kernels. */
enum { SPLIT_GROUP, SPLIT_OTHER_GROUP, SPLIT_CHILD_COUNT, SPLIT_LEVELS };
TML_KERNEL_WITH(collide, uint, collide_split_b,
                (uvec3 pair, tml_words a_boxes, tml_words b_boxes, tml_words poses, tml_params p), {
                    uint met = collide_split_node(pair, b_boxes, p.u[0], p.u[2], a_boxes, p.u[1],
                                                  poses, true);
                    if ((p.u[3] & COLLIDE_IS_SELF) != 0u)
                        for (uint i = 0u; i < COLLIDE_WIDTH; i++)
                            if (!collide_in_order(
                                    pair.x, p.u[3] & COLLIDE_LEVEL_BITS, COLLIDE_WIDTH * pair.y + i,
                                    p.u[3] >> COLLIDE_LEVEL_B_SHIFT & COLLIDE_LEVEL_BITS))
                                met &= ~(1u << i);
                    return met;
                })

TML_KERNEL_WITH(collide, uint, collide_split_a,
                (uvec3 pair, tml_words a_boxes, tml_words b_boxes, tml_words poses, tml_params p), {
                    uint met = collide_split_node(pair, a_boxes, p.u[0], p.u[2], b_boxes, p.u[1],
                                                  poses, false);
                    if ((p.u[3] & COLLIDE_IS_SELF) != 0u)
                        for (uint i = 0u; i < COLLIDE_WIDTH; i++)
                            if (!collide_in_order(
                                    COLLIDE_WIDTH * pair.x + i, p.u[3] & COLLIDE_LEVEL_BITS, pair.y,
                                    p.u[3] >> COLLIDE_LEVEL_B_SHIFT & COLLIDE_LEVEL_BITS))
                                met &= ~(1u << i);
                    return met;
                })

/* Splits a leaf of b into triangles, tested against a leaf of a. u[0], u[3]: as
 * collide_leaf_lanes has them, of b; u[1]: the first group of a's leaves; u[2]: the first word of
 * their slabs. */
TML_KERNEL_WITH(collide, uint, collide_split_leaf,
                (uvec3 pair, tml_words a_boxes, tml_words b_triangles, tml_words poses,
                 tml_params p),
                {
                    collide_rows rows = collide_rows_at(poses, COLLIDE_POSE_WORDS * pair.z);
                    collide_box leaf = collide_box_at(a_boxes, p.u[1], pair.x);
                    collide_slab slab = collide_slab_at(a_boxes, p.u[2], pair.x);
                    uint lanes = collide_leaf_lanes(p.u[0], p.u[3], pair.y);
                    uint met = 0u;
                    for (uint i = 0u; i < lanes; i++) {
                        uint slot = COLLIDE_WIDTH * pair.y + i;
                        vec3 b0 = collide_move(rows, collide_corner_at(b_triangles, slot, 0u));
                        vec3 b1 = collide_move(rows, collide_corner_at(b_triangles, slot, 1u));
                        vec3 b2 = collide_move(rows, collide_corner_at(b_triangles, slot, 2u));
                        float gap = max(collide_box_gap(collide_box_of(b0, b1, b2), leaf),
                                        collide_slab_gap(slab, b0, b1, b2));
                        if (gap <= 0.0f)
                            met |= 1u << i;
                    }
                    return met;
                })

/* Tests a triangle of b against the triangles of a leaf of a. u[0], u[3]: as collide_leaf_lanes has
 * them, of a; u[1]: not 0 for a mesh against itself; u[2]: not 0 where one is enough: the first
 * certain one, if there is any. Bits 0 to 7: certain crossings; 8 to 15: unsure; 16 to 23:
 * tested. */
TML_KERNEL_WITH(collide, uint, collide_test_leaf,
                (uvec3 pair, tml_words a_triangles, tml_words b_triangles, tml_words poses,
                 tml_params p),
                {
                    collide_rows rows = collide_rows_at(poses, COLLIDE_POSE_WORDS * pair.z);
                    vec3 b0 = collide_move(rows, collide_corner_at(b_triangles, pair.y, 0u));
                    vec3 b1 = collide_move(rows, collide_corner_at(b_triangles, pair.y, 1u));
                    vec3 b2 = collide_move(rows, collide_corner_at(b_triangles, pair.y, 2u));
                    collide_box box = collide_box_of(b0, b1, b2);
                    uint lanes = collide_leaf_lanes(p.u[0], p.u[3], pair.x);
                    uint met = 0u, near = 0u;
                    for (uint i = 0u; i < lanes; i++) {
                        uint slot = COLLIDE_WIDTH * pair.x + i;
                        vec3 a0 = collide_corner_at(a_triangles, slot, 0u);
                        vec3 a1 = collide_corner_at(a_triangles, slot, 1u);
                        vec3 a2 = collide_corner_at(a_triangles, slot, 2u);
                        bool is_near = collide_box_gap(collide_box_of(a0, a1, a2), box) <= 0.0f;
                        if (is_near && (p.u[1] == 0u || slot < pair.y)) {
                            uint answer = p.u[1] == 0u ? collide_triangles(a0, a1, a2, b0, b1, b2)
                                                       : collide_neighbours(a0, a1, a2, b0, b1, b2);
                            near |= 65536u << i;
                            if (answer == COLLIDE_CROSSING)
                                met |= 1u << i;
                            if (answer == COLLIDE_UNSURE)
                                met |= 256u << i;
                        }
                    }
                    if (p.u[2] != 0u && (met & 0xffu) != 0u)
                        met &= 0u - met;
                    return met | near;
                })

/* u[1]: bits of met that count. */
TML_KERNEL_WITH(collide, uint, collide_child_count, (uint met, tml_params p),
                { return popcount32(collide_children(met, p.u[1])); })

/* The k-th child of a pair. u[0]: 1 where b is split; u[1]: as above. An unsure pair of triangles
 * is marked in its pose. */
TML_KERNEL_WITH(collide, uvec3, collide_child, (uint met, uvec3 pair, tml_rank k, tml_params p), {
    uint left = collide_children(met, p.u[1]);
    for (uint i = 0u; i < k; i++)
        left &= left - 1u;
    uint lane = lowest_bit32(left);
    uint pose = ((met >> 8u) & (1u << lane)) != 0u ? pair.z | COLLIDE_UNSURE_POSE : pair.z;
    return p.u[0] == 1u ? UVEC3(pair.x, COLLIDE_WIDTH * pair.y + lane, pose)
                        : UVEC3(COLLIDE_WIDTH * pair.x + lane, pair.y, pose);
})

/* Pairs of triangles that a pair of the last step has tested. */
TML_KERNEL(uint, collide_tested_count, (uint met), { return popcount32(met >> 16u); })

/* How many pairs each step makes, and how many are left at the end: word u[0] is total. */
TML_KERNEL(uint, collide_made, (uint made, tml_words total, tml_index i, tml_params p),
           { return U(i) == p.u[0] ? tml_word(total, 0u) : made; })

/* Certain crossings of a pair, and their pose. u[0]: the first pose. */
TML_KERNEL(uint, collide_sure_count, (uint met), { return popcount32(met & 0xffu); })
TML_KERNEL(uint, collide_pose_bin, (uvec3 pair, tml_params p), { return pair.z - p.u[0]; })

/* Is a pair one of the first u[0] of its pose, or unsure? */
TML_KERNEL_WITH(collide, bool, collide_is_early,
                (uvec3 pair, tml_words pairs, tml_index at, tml_params p), {
                    bool is_early = at < p.u[0];
                    if (!is_early)
                        is_early = tml_word(pairs, 3u * (at - p.u[0]) + 2u) != pair.z;
                    return is_early || pair.z >= COLLIDE_UNSURE_POSE;
                })

/* ---- steps ----------------------------------------------------------------------------------- */

enum {
    ROOM_AT_FIRST = 1 << 16,
    POSES_MOST = 1 << 27, /* their words are indexed by 32 bits */
    ROOM_LEAST = 64,      /* pairs: a slice of 8, with 8 children each */
    ROOM_MOST = 1 << 28,  /* whose crossings 32 bits count */
    PAIR_BYTES = 2 * 12 + 4,
    MADE_AT_THE_END = COLLIDE_STEPS_MAX,
    MADE_TESTED,
    MADE_WORDS,
    TOTAL_TESTED = 2,
    TOTALS,
    PROBE_WIDTH = 32, /* pairs that a pose keeps in a probe: of tori 16 find all that touch */
};

void collide_forget(tml_context *tml, tml_tree *tree)
{
    tml_buffer_destroy(tml, tree->device_shape);
    tree->device_shape = (tml_buffer){0, 0};
    tree->near_room = tree->pair_room = 0;
}

/* Pairs on the host that are the input of a step, followed slice by slice. */
typedef struct breadth_part {
    uint32_t step;
    tml_uvec3 *pairs;
    uint64_t count, done, slice;
} breadth_part;

typedef struct breadth_run {
    collide_job *job;
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    /* Pairs: room of the arrays; room that memory sufficed for; room that the limit allows. */
    uint64_t room, sure_room, most_room;
    bool is_probe;
    tml_uvec3 *found; /* pairs of triangles on the host */
    uint64_t found_room;
    uint32_t *crossings; /* COUNT: pose_count of the job */

    /* The program that runs: steps [first, end) over pairs of the host's, in order of poses. */
    program p;
    uint32_t first, end;
    const tml_uvec3 *in;
    uint64_t in_count;
    uint32_t first_pose, pose_count; /* of these pairs, about */
    breadth_part *part;              /* takes what the last step makes; NULL: the job does */
    tml_buffer poses;
    tml_buffer pairs[2], met;  /* room pairs each */
    int last;                  /* which of pairs is the input of the next step, then the result */
    tml_buffer totals[TOTALS]; /* how many pairs there are in pairs[i]; tested by the last step */
    tml_buffer made;           /* by each step, and at the end */
    tml_buffer sums;           /* COUNT: certain crossings of each pose */
    /* What it came to. */
    bool has_run;
    uint32_t
        lacking; /* the first step that made more pairs than there was room for; without one, end */
    uint64_t count; /* pairs that it makes, or that are left at the end */
} breadth_run;

/* Is a pair that the float test is certain of to be reported? */
static bool wants_crossings(const collide_job *job)
{
    return job->classes >> TML_COLLIDE_CLASS_CROSSING & 1;
}

/* Adds the map of a step: which children meet. */
static void add_met(breadth_run *run, uint32_t number, tml_length length)
{
    const collide_job *job = run->job;
    const collide_step *step = &run->steps[number];
    const tml_tree *a = job->a, *b = job->b;
    tml_map_desc map = {.in = {run->pairs[run->last], a->device_boxes, b->device_boxes, run->poses},
                        .length = length,
                        .out = run->met};
    uint32_t *u = map.params.u;
    if (step->a_level == 1 && step->b_level == 1) {
        map.kernel = TML_USE(collide_split_leaf);
        map.in[2] = b->device_triangles;
        u[0] = collide_leaf_words(b, &u[3]);
        u[1] = a->level_group[1];
        u[2] = (uint32_t)COLLIDE_BOX_WORDS * a->group_count;
    } else if (step->b_level == 0) {
        map.kernel = TML_USE(collide_test_leaf);
        map.in[1] = a->device_triangles;
        map.in[2] = b->device_triangles;
        u[0] = collide_leaf_words(a, &u[3]);
        u[1] = job->is_self;
        u[2] = job->want == TML_COLLIDE_WANT_FIRST && wants_crossings(job);
    } else {
        uint32_t a_level = step->a_level - !step->splits_b,
                 b_level = step->b_level - step->splits_b;
        map.kernel = step->splits_b ? TML_USE(collide_split_b) : TML_USE(collide_split_a);
        u[SPLIT_GROUP] = step->splits_b ? b->level_group[b_level] : a->level_group[a_level];
        u[SPLIT_OTHER_GROUP] = step->splits_b ? a->level_group[a_level] : b->level_group[b_level];
        u[SPLIT_CHILD_COUNT] = step->splits_b ? b->level_count[b_level] : a->level_count[a_level];
        u[SPLIT_LEVELS] = COLLIDE_WIDTH_LOG2 * a_level |
                          COLLIDE_WIDTH_LOG2 * b_level << COLLIDE_LEVEL_B_SHIFT |
                          (job->is_self ? COLLIDE_IS_SELF : 0);
    }
    program_map(&run->p, &map);
}

/* Adds what writes a word of made: totals[which]. */
static void add_made(breadth_run *run, uint32_t word, int which)
{
    program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(collide_made),
                                         .params = {.u = {word}},
                                         .in = {run->made, run->totals[which]},
                                         .length = {.count = MADE_WORDS},
                                         .out = run->made});
}

/* Adds the count of pairs of triangles that the last step has tested: the length of an expansion
 * that makes nothing. */
static void add_tested(breadth_run *run, tml_length length)
{
    program_expand(&run->p, &(tml_expand_desc){.count_kernel = TML_USE(collide_tested_count),
                                               .in = {run->met},
                                               .length = length,
                                               .total = run->totals[TOTAL_TESTED]});
    add_made(run, MADE_TESTED, TOTAL_TESTED);
}

/* COUNT: adds the sums of the last step's certain crossings by pose. */
static void add_crossings(breadth_run *run, tml_length length)
{
    program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(collide_sure_count),
                                         .in = {run->met},
                                         .length = length,
                                         .out = run->met});
    program_histogram(&run->p, &(tml_histogram_desc){.kernel = TML_USE(collide_pose_bin),
                                                     .params = {.u = {run->first_pose}},
                                                     .in = {run->pairs[run->last]},
                                                     .length = length,
                                                     .bins = run->pose_count,
                                                     .weights = run->met,
                                                     .out = run->sums});
}

/* FIRST: how many pairs of a pose go on after a step; 0: all. */
static uint32_t most_a_pose(const breadth_run *run, uint32_t number)
{
    if (number + 1 == run->step_count)
        return run->job->want == TML_COLLIDE_WANT_FIRST && wants_crossings(run->job);
    return run->is_probe && number + 2 < run->step_count ? PROBE_WIDTH : 0;
}

static tml_length pairs_left(const breadth_run *run)
{
    return (tml_length){.count = run->room, .device = run->totals[run->last]};
}

/* FIRST: adds what keeps the first most pairs of each pose. */
static void add_early(breadth_run *run, uint32_t most)
{
    const tml_buffer pairs = run->pairs[run->last];
    program_compact(&run->p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_early),
                                                          .params = {.u = {most}},
                                                          .in = {pairs, pairs}},
                                                 .payloads = {{pairs, run->pairs[!run->last]}},
                                                 .length = pairs_left(run),
                                                 .count = run->totals[!run->last]});
    run->last = !run->last;
}

/* Adds a step and its word of made. */
static void add_step(breadth_run *run, uint32_t number, tml_length length)
{
    const collide_job *job = run->job;
    bool is_last = number + 1 == run->step_count;
    bool is_counted = is_last && job->want == TML_COLLIDE_WANT_COUNT;
    uint32_t mask = is_last && (is_counted || !wants_crossings(job)) ? 0xff00u : 0xffffu;
    add_met(run, number, length);
    program_expand(&run->p, &(tml_expand_desc){.count_kernel = TML_USE(collide_child_count),
                                               .emit_kernel = TML_USE(collide_child),
                                               .params = {.u = {run->steps[number].splits_b, mask}},
                                               .in = {run->met, run->pairs[run->last]},
                                               .length = length,
                                               .out = run->pairs[!run->last],
                                               .total = run->totals[!run->last]});
    if (is_last)
        add_tested(run, length);
    if (is_counted && wants_crossings(job))
        add_crossings(run, length);
    run->last = !run->last;
    add_made(run, number, run->last);
    const uint32_t most = most_a_pose(run, number);
    if (most)
        add_early(run, most);
}

/* ---- what is found --------------------------------------------------------------------------- */

typedef struct settle_work {
    const collide_job *job;
    const tml_uvec3 *found; /* a's slot, b's slot, pose */
    uint8_t *kinds;
    uint64_t count;
} settle_work;

enum { SETTLE_A_TASK = 1024 };

/* Has FIRST this pose's pair? */
static bool is_answered(const collide_job *job, uint32_t pose)
{
    return job->want == TML_COLLIDE_WANT_FIRST && job->pose_counts[pose] > 0;
}

/* Classifies pairs of slots. */
static void settle_task(void *argument, uint32_t task)
{
    const settle_work *work = argument;
    const collide_job *job = work->job;
    uint64_t first = (uint64_t)task * SETTLE_A_TASK;
    uint64_t end = TML_MIN_OF(first + SETTLE_A_TASK, work->count);
    for (uint64_t i = first; i < end; i++) {
        const tml_uvec3 *pair = &work->found[i];
        uint32_t pose = pair->z & ~COLLIDE_UNSURE_POSE;
        work->kinds[i] = TML_COLLIDE_CLASS_NONE;
        if (is_answered(job, pose) || tml_is_cancelled(job->tml))
            continue;
        work->kinds[i] = pair->z == pose
                             ? (uint8_t)TML_COLLIDE_CLASS_CROSSING
                             : (uint8_t)collide_settle(job, &job->poses[pose], pair->x, pair->y);
    }
}

/* Classifies the count pairs in run->found and adds them to the job's counts and pairs. kinds:
 * scratch, one byte a pair. */
static tml_status found_take(breadth_run *run, uint64_t count, uint8_t *kinds)
{
    collide_job *job = run->job;
    settle_work work = {job, run->found, kinds, count};
    tml_parallel_for(job->tml, (uint32_t)TML_CEIL_DIV(count, SETTLE_A_TASK), settle_task, &work);
    if (tml_is_cancelled(job->tml)) /* some pairs may not have been settled */
        return tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide: cancelled");
    tml_status status =
        job->want == TML_COLLIDE_WANT_COUNT ? TML_OK : collide_pairs_grow(job, count);
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        const tml_uvec3 *pair = &run->found[i];
        uint32_t pose = pair->z & ~COLLIDE_UNSURE_POSE;
        uint32_t a = job->a->ids[pair->x], b = job->b->ids[pair->y];
        job->unsure += pair->z != pose;
        if (!(job->classes >> kinds[i] & 1) || is_answered(job, pose))
            continue;
        job->pose_counts[pose]++;
        job->class_counts[kinds[i]]++;
        if (job->want == TML_COLLIDE_WANT_COUNT)
            continue;
        bool is_turned = job->is_self && a > b;
        job->pairs[job->pair_count++] =
            (tml_collide_pair){is_turned ? b : a, is_turned ? a : b, pose, kinds[i]};
    }
    return status;
}

/* COUNT: reads the slice's sums of certain crossings and adds them to the job. */
static tml_status crossings_read(breadth_run *run)
{
    collide_job *job = run->job;
    tml_status status =
        tml_buffer_read_range(job->tml, run->sums, 0, run->pose_count, run->crossings);
    for (uint32_t i = 0; i < run->pose_count && status == TML_OK; i++) {
        job->pose_counts[run->first_pose + i] += run->crossings[i];
        job->class_counts[TML_COLLIDE_CLASS_CROSSING] += run->crossings[i];
    }
    return status;
}

/* Brings to the host what the count pairs in run->found need of the trees. */
static tml_status found_fetch(const breadth_run *run, uint64_t count)
{
    const collide_job *job = run->job;
    uint32_t parts = COLLIDE_STALE_IDS;
    for (uint64_t i = 0; i < count && !(parts & COLLIDE_STALE_TRIANGLES); i++)
        if (run->found[i].z & COLLIDE_UNSURE_POSE)
            parts |= COLLIDE_STALE_TRIANGLES;
    return collide_trees_fetch(job->tml, "tml_collide", job->a, job->b, parts);
}

/* Reads the pairs of triangles from the device and adds them to the job. */
static tml_status found_read(breadth_run *run)
{
    tml_context *tml = run->job->tml;
    const uint64_t count = run->count;
    if (run->job->want == TML_COLLIDE_WANT_COUNT && wants_crossings(run->job)) {
        tml_status status = crossings_read(run);
        if (status != TML_OK)
            return status;
    }
    if (count == 0)
        return TML_OK;
    if (count > run->found_room) {
        tml_free(tml, run->found, (size_t)run->found_room * sizeof *run->found);
        run->found = tml_alloc_array(tml, count, sizeof *run->found);
        run->found_room = run->found ? count : 0;
    }
    uint8_t *kinds = tml_alloc_array(tml, count, 1);
    tml_status status = TML_OK;
    if (!run->found || !kinds)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory for %" PRIu64 " pairs", count);
    TML_THEN(status, tml_buffer_read_range(tml, run->pairs[run->last], 0, count, run->found));
    TML_THEN(status, found_fetch(run, count));
    TML_THEN(status, found_take(run, count, kinds));
    tml_free(tml, kinds, (size_t)count);
    return status;
}

/* ---- a program ------------------------------------------------------------------------------- */

static tml_status no_memory(const breadth_run *run, uint64_t count)
{
    return tml_error(run->job->tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_collide: no memory for %" PRIu64 " pairs of nodes", count);
}

/* A step on the host: the pairs and their poses. */
static tml_status write_in(program *p, void *user)
{
    const breadth_run *run = user;
    tml_status status = tml_buffer_write(p->tml, run->pairs[0], 0, run->in_count, run->in);
    return status ? status
                  : tml_buffer_write(p->tml, run->poses,
                                     (uint64_t)COLLIDE_POSE_WORDS * run->first_pose,
                                     (uint64_t)COLLIDE_POSE_WORDS * run->pose_count,
                                     run->job->poses + run->first_pose);
}

/* A step on the host: takes the results if all steps had room. Adds the pairs of nodes, and the
 * pairs of triangles tested, to the job's. */
static tml_status take_out(program *p, void *user)
{
    breadth_run *run = user;
    collide_job *job = run->job;
    uint32_t made[MADE_WORDS];
    run->has_run = true;
    run->sure_room = run->room;
    tml_status status = tml_buffer_read(p->tml, run->made, made);
    for (run->lacking = run->first; run->lacking < run->end && !status; run->lacking++) {
        run->count = made[run->lacking];
        if (run->count > run->room)
            return TML_OK;
    }
    if (status != TML_OK)
        return status;
    run->count = made[MADE_AT_THE_END];
    job->tested += run->end == run->step_count ? made[MADE_TESTED] : 0;
    for (uint32_t step = run->first; step < run->end && step + 2 < run->step_count; step++) {
        job->step_pairs[step + 1] += made[step]; /* the last two make triangles */
        job->node_pairs += made[step];
    }
    if (!run->part)
        return found_read(run);
    run->part->pairs = tml_alloc_array(p->tml, run->count, sizeof *run->part->pairs);
    if (!run->part->pairs)
        return no_memory(run, run->count);
    run->part->count = run->count;
    return tml_buffer_read_range(p->tml, run->pairs[run->last], 0, run->count, run->part->pairs);
}

/* Runs steps [first, end) over count pairs; at least one step and one pair. The results go to part
 * or, if part is NULL, to the job. If memory is too short for the room, the first step lacks room,
 * and the room is smaller from then on. */
static tml_status steps_run(breadth_run *run, uint32_t first, uint32_t end, const tml_uvec3 *pairs,
                            uint64_t count, breadth_part *part)
{
    const collide_job *job = run->job;
    program *p = &run->p;
    const tml_type uvec3_type = TML_VEC(TML_U32, 3);
    *p = program_begin(job->tml, "tml_collide");
    run->first = run->lacking = first;
    run->end = end;
    run->in = pairs;
    run->in_count = run->count = count;
    run->part = part;
    run->last = 0;
    run->has_run = false;
    run->first_pose = pairs[0].z;
    run->pose_count = pairs[count - 1].z - pairs[0].z + 1;
    run->poses = program_array(p, TML_F32, (uint64_t)COLLIDE_POSE_WORDS * job->pose_count);
    run->pairs[0] = program_array(p, uvec3_type, run->room);
    run->pairs[1] = program_array(p, uvec3_type, run->room);
    run->met = program_array(p, TML_U32, run->room);
    for (int i = 0; i < TOTALS; i++)
        run->totals[i] = program_array(p, TML_U32, 1);
    run->made = program_array(p, TML_U32, MADE_WORDS);
    run->sums = program_array(p, TML_U32, run->pose_count);
    program_host(
        p, &(program_host_desc){.run = write_in, .user = run, .uses = {run->pairs[0], run->poses}});
    for (uint32_t step = first; step < end; step++)
        add_step(run, step, step == first ? tml_length_of(count) : pairs_left(run));
    add_made(run, MADE_AT_THE_END, run->last);
    program_host(p, &(program_host_desc){.run = take_out,
                                         .user = run,
                                         .uses = {run->made, run->sums, run->pairs[run->last]}});
    tml_status status = program_run(*p, (tml_buffer){0, 0});
    const bool lacks_memory =
        status == TML_ERROR_OUT_OF_MEMORY || status == TML_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!lacks_memory || run->has_run || run->room <= run->sure_room)
        return status;
    run->most_room = run->room = run->sure_room;
    return TML_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Makes a part of the results of steps [first, step) over count pairs. The caller frees out->pairs,
 * also on failure. */
static tml_status part_make(breadth_run *run, uint32_t first, uint32_t step, const tml_uvec3 *pairs,
                            uint64_t count, breadth_part *out)
{
    *out = (breadth_part){.step = step, .slice = run->room / COLLIDE_WIDTH};
    if (step > first)
        return steps_run(run, first, step, pairs, count, out);
    out->pairs = tml_alloc_array(run->job->tml, count, sizeof *out->pairs);
    if (!out->pairs)
        return no_memory(run, count);
    memcpy(out->pairs, pairs, (size_t)count * sizeof *pairs);
    out->count = count;
    return TML_OK;
}

/* Gives arrays more room. False where the limit or the device does not allow it. */
static bool room_grow(breadth_run *run, uint64_t needed)
{
    const uint64_t before = run->room;
    run->room = TML_MIN_OF(TML_MAX_OF(needed + needed / 4, 2 * before), run->most_room);
    return run->room > before;
}

/* The next slice of a part, without the pairs of poses that are answered: what is left of it moves
 * to its end, which is where done begins. 0: nothing is left. */
static uint64_t slice_next(const collide_job *job, breadth_part *part, uint64_t most)
{
    uint64_t end = part->done, kept = 0;
    for (; end < part->count && kept < most; end++)
        if (!is_answered(job, part->pairs[end].z))
            part->pairs[part->done + kept++] = part->pairs[end];
    memmove(part->pairs + end - kept, part->pairs + part->done, (size_t)kept * sizeof *part->pairs);
    part->done = end - kept;
    return kept;
}

/* FIRST: a probe of all roots, in slices for which there is room. A slice that lacks it is left to
 * parts_run. */
static tml_status probe_run(breadth_run *run, breadth_part roots)
{
    enum { PAIRS_A_POSE = PROBE_WIDTH * COLLIDE_WIDTH };
    tml_status status = TML_OK;
    uint64_t count = 1;
    /* On llvmpipe a probe is faster where arrays are larger than it needs. */
    if (!run->job->tml->engine->is_host || roots.count * PAIRS_A_POSE > run->room)
        (void)room_grow(run, roots.count * PAIRS_A_POSE);
    run->is_probe = true;
    while (status == TML_OK && count > 0) {
        count = slice_next(run->job, &roots, TML_MAX_OF(run->room / PAIRS_A_POSE, (uint64_t)1));
        if (count > 0)
            status = steps_run(run, 0, run->step_count, roots.pairs + roots.done, count, NULL);
        roots.done += count;
    }
    run->is_probe = false;
    return status;
}

/* Follows the first part's pairs to the end, in order. A slice for which a step lacks room becomes
 * a part of its own at that step, with smaller slices. */
static tml_status parts_run(breadth_run *run, breadth_part first)
{
    collide_job *job = run->job;
    breadth_part parts[COLLIDE_STEPS_MAX + 1];
    uint32_t depth = 1;
    tml_status status = TML_OK;
    parts[0] = first;
    while (depth > 0) {
        breadth_part *part = &parts[depth - 1];
        uint64_t count =
            status == TML_OK ? slice_next(job, part, TML_MIN_OF(part->slice, run->room)) : 0;
        if (count == 0) {
            if (depth > 1)
                tml_free(job->tml, part->pairs, (size_t)part->count * sizeof *part->pairs);
            depth--;
            continue;
        }
        if (depth == 1 &&
            !tml_progress(job->tml, "pairs", (double)part->done / (double)part->count)) {
            status = tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide: cancelled");
            continue;
        }
        const tml_uvec3 *pairs = part->pairs + part->done;
        status = steps_run(run, part->step, run->step_count, pairs, count, NULL);
        if (status != TML_OK)
            continue;
        if (run->lacking == run->step_count) {
            job->parts++;
            part->done += count;
        } else if (!room_grow(run, run->count)) {
            status = part_make(run, part->step, run->lacking, pairs, count, &parts[depth]);
            depth++;
            part->done += count;
        }
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status run_prepare(breadth_run *run)
{
    collide_job *job = run->job;
    tml_context *tml = job->tml;
    const uint64_t limit = collide_memory_limit(tml, job->memory_limit);
    run->most_room =
        TML_MIN_OF(TML_MAX_OF(limit / PAIR_BYTES, (uint64_t)ROOM_LEAST), (uint64_t)ROOM_MOST);
    run->sure_room = TML_MIN_OF((uint64_t)ROOM_AT_FIRST, run->most_room);
    run->room = TML_MIN_OF(TML_MAX_OF(job->a->pair_room, run->sure_room), run->most_room);
    tml_status status = tree_upload(tml, job->a);
    TML_THEN(status, tree_upload(tml, job->b));
    if (status == TML_OK && job->want == TML_COLLIDE_WANT_COUNT) {
        run->crossings = tml_alloc_array(tml, job->pose_count, sizeof *run->crossings);
        if (!run->crossings)
            status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                               "tml_collide: no memory for counts of %u poses", job->pose_count);
    }
    return status;
}

tml_status collide_breadth_first(collide_job *job)
{
    tml_context *tml = job->tml;
    breadth_run run = {.job = job};
    run.step_count =
        collide_schedule(job->a, job->b, collide_scale_of(job->poses, job->pose_count), run.steps);
    if (run.step_count == 0) /* a mesh without triangles */
        return TML_OK;
    job->step_count = run.step_count - 1; /* the last one tests triangles */
    if (job->pose_count > POSES_MOST)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_collide: BREADTH_FIRST takes at most 2^27 poses");
    tml_status status = run_prepare(&run);
    breadth_part roots = {.step = 0};
    if (status == TML_OK) {
        roots.pairs = tml_alloc_array(tml, job->pose_count, sizeof *roots.pairs);
        if (!roots.pairs)
            status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_collide: no memory for %u roots",
                               job->pose_count);
    }
    if (status == TML_OK) {
        job->node_pairs = job->step_pairs[0] = roots.count = collide_roots(job, roots.pairs);
        if (job->want == TML_COLLIDE_WANT_FIRST && roots.count > 0)
            status = probe_run(&run, roots);
        roots.slice = run.room;
    }
    if (status == TML_OK) {
        status = parts_run(&run, roots);
        job->parts = TML_MAX_OF(job->parts, 1u); /* no roots meet */
        job->a->pair_room = run.sure_room;
    }
    tml_free(tml, roots.pairs, (size_t)job->pose_count * sizeof *roots.pairs);
    tml_free(tml, run.crossings, (size_t)job->pose_count * sizeof *run.crossings);
    tml_free(tml, run.found, (size_t)run.found_room * sizeof *run.found);
    return status;
}

#include "kernels/kernel_end.h"
