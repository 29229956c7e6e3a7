/* The breadth-first descent on the device: a stream of pairs (node of a, node of b, pose), expanded
 * level by level.
 *
 * A step splits one side of every pair: a map computes a mask of the eight children that meet the
 * other side, and an expansion makes a pair per bit. The last two steps split a leaf of b, then a
 * leaf of a, into triangles; the very last one answers no, yes or unsure for each pair of
 * triangles. All steps are enqueued at once, with their lengths on the device. One element is read
 * back at the end: how many pairs there are, and whether a step made more than there was room for.
 * If so, the buffers grow. If there is no memory for that, the input pairs of the step are read
 * back and followed in slices. A slice of an eighth of the room cannot fail in its next step, so
 * this ends.
 *
 * For COUNT, certain crossings are summed on the device, per pose, and the host reads only the
 * unsure pairs. For FIRST, a probe comes first: a stream that keeps only a few pairs of nodes per
 * pose at each step. Poses that it answers are done, and only the others are followed completely.
 *
 * After: Lauterbach, Mo, Manocha: gProximity. 2010 (a front of pairs on the device); Ziegler, Tevs,
 * Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids. 2006 (expansion without
 * overflow). */
#include <inttypes.h>
#include <string.h>

#include "collide/collide_pairs_breadth.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Needs the headers above. */
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

/* Splits a leaf of b into triangles, and tests these against a leaf of a. u[0], u[3]: least and
 * more (collide_leaf_lanes) of b; u[1]: first group of a's leaves; u[2]: first word of their
 * slabs. */
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

/* Tests a triangle of b against the triangles of a leaf of a. u[0], u[3]: least and more
 * (collide_leaf_lanes) of a; u[1]: not 0 for a mesh against itself; u[2]: not 0 if one certain
 * crossing is enough: the others are then dropped. Bits 0 to 7: certain crossings; 8 to 15: unsure;
 * 16 to 23: tested. */
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

/* Number of a pair's children. u[1]: the bits of met that count. */
TML_KERNEL_WITH(collide, uint, collide_child_count, (uint met, tml_params p),
                { return popcount32(collide_children(met, p.u[1])); })

/* The k-th child of a pair. u[0]: 1 if b is split; u[1]: the bits of met that count. An unsure pair
 * of triangles is marked in its pose. */
TML_KERNEL_WITH(collide, uvec3, collide_child, (uint met, uvec3 pair, tml_rank k, tml_params p), {
    uint left = collide_children(met, p.u[1]);
    for (uint i = 0u; i < k; i++)
        left &= left - 1u;
    uint lane = lowest_bit32(left);
    uint pose = ((met >> 8u) & (1u << lane)) != 0u ? pair.z | COLLIDE_UNSURE_POSE : pair.z;
    return p.u[0] == 1u ? UVEC3(pair.x, COLLIDE_WIDTH * pair.y + lane, pose)
                        : UVEC3(COLLIDE_WIDTH * pair.x + lane, pair.y, pose);
})

/* Number of triangle pairs that a pair of the last step has tested. */
TML_KERNEL(uint, collide_tested_count, (uint met), { return popcount32(met >> 16u); })

/* Number of pairs that each step made; word u[0] is set to total. */
TML_KERNEL(uint, collide_made, (uint made, tml_words total, tml_index i, tml_params p),
           { return U(i) == p.u[0] ? tml_word(total, 0u) : made; })

/* A pair's certain crossings, and its pose relative to u[0], the first one. */
TML_KERNEL(uint, collide_sure_count, (uint met), { return popcount32(met & 0xffu); })
TML_KERNEL(uint, collide_pose_bin, (uvec3 pair, tml_params p), { return pair.z - p.u[0]; })

/* Whether a pair is unsure, or one of the first u[0] pairs of its pose. */
TML_KERNEL_WITH(collide, bool, collide_is_early,
                (uvec3 pair, tml_words pairs, tml_index at, tml_params p), {
                    bool is_early = at < p.u[0];
                    if (!is_early)
                        is_early = tml_word(pairs, 3u * (at - p.u[0]) + 2u) != pair.z;
                    return is_early || pair.z >= COLLIDE_UNSURE_POSE;
                })

/* ---- buffers --------------------------------------------------------------------------------- */

enum {
    ROOM_AT_FIRST = 1 << 16,
    POSES_MOST = 1 << 27, /* 32 bits index their words */
    ROOM_LEAST = 64,      /* pairs: a slice of 8, with 8 children each */
    ROOM_MOST = 1 << 28,  /* 32 bits count their crossings */
    PAIR_BYTES = 2 * 12 + 4,
    MADE_AT_THE_END = COLLIDE_STEPS_MAX,
    MADE_TESTED,
    MADE_WORDS,
    PROBE_WIDTH = 32, /* pairs per pose in a probe: with tori, 16 find all that touch */
};

static void room_destroy(tml_context *tml, struct collide_stream *stream)
{
    tml_buffer_destroy(tml, stream->pairs[0]);
    tml_buffer_destroy(tml, stream->pairs[1]);
    tml_buffer_destroy(tml, stream->met);
    stream->pairs[0] = stream->pairs[1] = stream->met = (tml_buffer){0, 0};
    stream->room = 0;
}

void collide_forget(tml_context *tml, tml_tree *tree)
{
    struct collide_stream *stream = tree->stream;
    tml_buffer_destroy(tml, tree->device_shape);
    tree->device_shape = (tml_buffer){0, 0};
    tree->distance_room = 0;
    if (!stream)
        return;
    room_destroy(tml, stream);
    tml_buffer_destroy(tml, stream->poses);
    for (int i = 0; i < TOTALS; i++)
        tml_buffer_destroy(tml, stream->totals[i]);
    tml_buffer_destroy(tml, stream->made);
    tml_buffer_destroy(tml, stream->crossings);
    tml_free(tml, stream, sizeof *stream);
    tree->stream = NULL;
}

/* Makes the buffers of counts that the tree keeps, unless they exist. */
static tml_status stream_make(tml_context *tml, tml_tree *tree)
{
    if (tree->stream)
        return TML_OK;
    struct collide_stream *stream = tml_alloc(tml, sizeof *stream);
    if (!stream)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_collide: no memory for a tree's handles");
    memset(stream, 0, sizeof *stream);
    tml_status status =
        tml_buffer_make(tml, TML_U32, MADE_WORDS, NULL, "pairs of each step", &stream->made);
    for (int i = 0; i < TOTALS && status == TML_OK; i++)
        status = tml_buffer_make(tml, TML_U32, 1, NULL, "pair count", &stream->totals[i]);
    if (status == TML_OK) {
        tree->stream = stream;
        tree->forget = collide_forget;
        return TML_OK;
    }
    tml_buffer_destroy(tml, stream->made);
    for (int i = 0; i < TOTALS; i++)
        tml_buffer_destroy(tml, stream->totals[i]);
    tml_free(tml, stream, sizeof *stream);
    return status;
}

static tml_status room_make(tml_context *tml, struct collide_stream *stream, uint64_t room)
{
    room_destroy(tml, stream);
    tml_status status =
        tml_buffer_make(tml, TML_VEC(TML_U32, 3), room, NULL, "pairs", &stream->pairs[0]);
    TML_THEN(status,
             tml_buffer_make(tml, TML_VEC(TML_U32, 3), room, NULL, "pairs", &stream->pairs[1]));
    TML_THEN(status, tml_buffer_make(tml, TML_U32, room, NULL, "children that meet", &stream->met));
    if (status == TML_OK)
        stream->room = room;
    else
        room_destroy(tml, stream);
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Enqueues the map of a step over pairs[from]: which children meet the other side. */
static tml_status met_enqueue(const breadth_run *run, uint32_t number, tml_length length, int from)
{
    const collide_job *job = run->job;
    const collide_step *step = &run->steps[number];
    struct collide_stream *stream = run->stream;
    const tml_tree *a = job->a, *b = job->b;
    tml_map_desc map = {
        .in = {stream->pairs[from], a->device_boxes, b->device_boxes, stream->poses},
        .length = length,
        .out = {stream->met}};
    uint32_t *u = map.params.u;
    if (step->a_level == 1 && step->b_level == 1) {
        map.kernel = TML_USE(collide_split_leaf);
        map.in[2] = b->device_triangles;
        u[0] = tree_leaf_words(b, &u[3]);
        u[1] = a->level_group[1];
        u[2] = (uint32_t)COLLIDE_BOX_WORDS * a->group_count;
    } else if (step->b_level == 0) {
        map.kernel = TML_USE(collide_test_leaf);
        map.in[1] = a->device_triangles;
        map.in[2] = b->device_triangles;
        u[0] = tree_leaf_words(a, &u[3]);
        u[1] = job->is_self;
        u[2] = job->want == TML_COLLIDE_WANT_FIRST && breadth_wants_crossings(job);
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
    return tml_map(job->tml, &map);
}

/* Enqueues: set a word of made to totals[which]. */
static tml_status made_enqueue(const breadth_run *run, uint32_t word, int which)
{
    struct collide_stream *stream = run->stream;
    return tml_map(run->job->tml, &(tml_map_desc){.kernel = TML_USE(collide_made),
                                                  .params = {.u = {word}},
                                                  .in = {stream->made, stream->totals[which]},
                                                  .length = {.count = MADE_WORDS},
                                                  .out = {stream->made}});
}

/* Enqueues a count of the triangle pairs that the last step tested: an expansion's total. */
static tml_status tested_enqueue(const breadth_run *run, tml_length length)
{
    struct collide_stream *stream = run->stream;
    tml_status status =
        tml_expand(run->job->tml, &(tml_expand_desc){.count_kernel = TML_USE(collide_tested_count),
                                                     .in = {stream->met},
                                                     .length = length,
                                                     .total = stream->totals[TOTAL_TESTED]});
    return status == TML_OK ? made_enqueue(run, MADE_TESTED, TOTAL_TESTED) : status;
}

/* COUNT: enqueues sums of the last step's certain crossings, per pose. */
static tml_status crossings_enqueue(const breadth_run *run, tml_length length, int from)
{
    struct collide_stream *stream = run->stream;
    tml_status status =
        tml_map(run->job->tml, &(tml_map_desc){.kernel = TML_USE(collide_sure_count),
                                               .in = {stream->met},
                                               .length = length,
                                               .out = {stream->met}});
    if (status != TML_OK)
        return status;
    return tml_histogram(run->job->tml, &(tml_histogram_desc){.kernel = TML_USE(collide_pose_bin),
                                                              .params = {.u = {run->first_pose}},
                                                              .in = {stream->pairs[from]},
                                                              .length = length,
                                                              .bins = run->pose_count,
                                                              .weights = stream->met,
                                                              .out = stream->crossings});
}

/* FIRST: the number of pairs per pose that are kept after a step; 0: all. */
static uint32_t most_a_pose(const breadth_run *run, uint32_t number)
{
    if (number + 1 == run->step_count)
        return run->job->want == TML_COLLIDE_WANT_FIRST && breadth_wants_crossings(run->job);
    return run->is_probe && number + 2 < run->step_count ? PROBE_WIDTH : 0;
}

/* Enqueues a step from pairs[from] to pairs[!from], and its word of made. */
static tml_status step_enqueue(const breadth_run *run, uint32_t number, tml_length length, int from)
{
    const collide_job *job = run->job;
    struct collide_stream *stream = run->stream;
    bool is_last = number + 1 == run->step_count;
    bool is_counted = is_last && job->want == TML_COLLIDE_WANT_COUNT;
    uint32_t mask = is_last && (is_counted || !breadth_wants_crossings(job)) ? 0xff00u : 0xffffu;
    tml_expand_desc expand = {.count_kernel = TML_USE(collide_child_count),
                              .emit_kernel = TML_USE(collide_child),
                              .params = {.u = {run->steps[number].splits_b, mask}},
                              .in = {stream->met, stream->pairs[from]},
                              .length = length,
                              .out = {stream->pairs[!from]},
                              .total = stream->totals[!from]};
    tml_status status = met_enqueue(run, number, length, from);
    TML_THEN(status, tml_expand(job->tml, &expand));
    if (status == TML_OK && is_last)
        status = tested_enqueue(run, length);
    if (status == TML_OK && is_counted && breadth_wants_crossings(job))
        status = crossings_enqueue(run, length, from);
    TML_THEN(status, made_enqueue(run, number, !from));
    return status;
}

/* FIRST: enqueues a copy of the first `most` pairs per pose from pairs[from] to pairs[!from]. */
static tml_status early_enqueue(const breadth_run *run, uint32_t most, int from)
{
    struct collide_stream *stream = run->stream;
    return tml_compact(
        run->job->tml,
        &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_early),
                                     .params = {.u = {most}},
                                     .in = {stream->pairs[from], stream->pairs[from]}},
                            .payloads = {{stream->pairs[from], stream->pairs[!from]}},
                            .length = {.count = stream->room, .device = stream->totals[from]},
                            .count = stream->totals[!from]});
}

/* Sets the range of poses of the pairs, which are sorted by pose. */
static void poses_note(breadth_run *run, const tml_uvec3 *pairs, uint64_t count)
{
    run->first_pose = pairs[0].z;
    run->pose_count = pairs[count - 1].z - pairs[0].z + 1;
}

/* The outcome of a run of steps. */
typedef struct breadth_report {
    uint32_t step;  /* first step that lacked room; the end if all had room */
    uint64_t count; /* pairs that this step makes, or that are left at the end */
    int last;       /* stream->pairs[last] has the results */
} breadth_report;

/* Enqueues steps [first, end) over `count` pairs. */
static tml_status steps_enqueue(breadth_run *run, uint32_t first, uint32_t end,
                                const tml_uvec3 *pairs, uint64_t count, breadth_report *report)
{
    tml_status status = tml_buffer_write(run->job->tml, run->stream->pairs[0], 0, count, pairs);
    tml_length length = {.count = count};
    int last = 0;
    poses_note(run, pairs, count);
    for (uint32_t step = first; step < end && status == TML_OK; step++) {
        if (step > first)
            length = (tml_length){.count = run->stream->room, .device = run->stream->totals[last]};
        status = step_enqueue(run, step, length, last);
        last = !last;
        uint32_t most = most_a_pose(run, step);
        if (status == TML_OK && most) {
            status = early_enqueue(run, most, last);
            last = !last;
        }
    }
    report->last = last;
    return status == TML_OK && first < end ? made_enqueue(run, MADE_AT_THE_END, last) : status;
}

/* Runs steps [first, end) over `count` pairs, at least one. If all steps have room, adds the
 * numbers of node pairs and of tested triangle pairs to the job's. */
static tml_status steps_run(breadth_run *run, uint32_t first, uint32_t end, const tml_uvec3 *pairs,
                            uint64_t count, breadth_report *report)
{
    collide_job *job = run->job;
    uint32_t made[MADE_WORDS];
    *report = (breadth_report){.step = first, .count = count};
    tml_status status = steps_enqueue(run, first, end, pairs, count, report);
    if (status == TML_OK && first < end)
        status = tml_buffer_read(job->tml, run->stream->made, made);
    if (status != TML_OK || first == end)
        return status;
    for (; report->step < end; report->step++) {
        report->count = made[report->step];
        if (report->count > run->stream->room)
            return TML_OK;
    }
    report->count = made[MADE_AT_THE_END];
    job->tested += end == run->step_count ? made[MADE_TESTED] : 0;
    for (uint32_t step = first; step < end && step + 2 < run->step_count;
         step++) { /* the last two make triangles */
        job->step_pairs[step + 1] += made[step];
        job->node_pairs += made[step];
    }
    return TML_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Pairs on the host that are input of a step, followed slice by slice. */
typedef struct breadth_part {
    uint32_t step;
    tml_uvec3 *pairs;
    uint64_t count, done, slice;
} breadth_part;

/* Runs steps [first, step) over `count` pairs, and reads the results into a new part. The caller
 * frees out->pairs, also on failure. */
static tml_status part_make(breadth_run *run, uint32_t first, uint32_t step, const tml_uvec3 *pairs,
                            uint64_t count, breadth_part *out)
{
    tml_context *tml = run->job->tml;
    breadth_report report;
    *out = (breadth_part){.step = step};
    tml_status status = steps_run(run, first, step, pairs, count, &report);
    if (status != TML_OK)
        return status;
    out->count = report.count;
    out->slice = run->stream->room / COLLIDE_WIDTH;
    out->pairs = tml_alloc_array(tml, out->count, sizeof *out->pairs);
    if (!out->pairs)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_collide: no memory for %" PRIu64 " pairs of nodes", out->count);
    return tml_buffer_read_range(tml, run->stream->pairs[report.last], 0, out->count, out->pairs);
}

/* Enlarges the stream's buffers. Returns false if the limit or the device does not allow it;
 * stream->room is 0 if the old buffers are lost as well. */
static bool room_grow(breadth_run *run, uint64_t needed)
{
    tml_context *tml = run->job->tml;
    uint64_t before = run->stream->room;
    uint64_t room = TML_MIN_OF(TML_MAX_OF(needed + needed / 4, 2 * before), run->most_room);
    if (room <= before)
        return false;
    if (room_make(tml, run->stream, room) == TML_OK)
        return true;
    run->most_room = before;
    return false;
}

/* Prepares the next slice of a part, at most `most` pairs, without those of answered poses. The
 * kept pairs move to the end of the range that was looked at, and part->done to the first of them.
 * Returns: their number; 0: nothing is left. */
static uint64_t slice_next(const collide_job *job, breadth_part *part, uint64_t most)
{
    uint64_t end = part->done, kept = 0;
    for (; end < part->count && kept < most; end++)
        if (!breadth_is_answered(job, part->pairs[end].z))
            part->pairs[part->done + kept++] = part->pairs[end];
    memmove(part->pairs + end - kept, part->pairs + part->done, (size_t)kept * sizeof *part->pairs);
    part->done = end - kept;
    return kept;
}

/* FIRST: probes all roots, in slices that have room. A slice without is left to parts_run. */
static tml_status probe_run(breadth_run *run, breadth_part roots)
{
    enum { PAIRS_A_POSE = PROBE_WIDTH * COLLIDE_WIDTH };
    tml_status status = TML_OK;
    (void)room_grow(run, roots.count * PAIRS_A_POSE);
    if (run->stream->room == 0)
        status = room_make(run->job->tml, run->stream, run->most_room);
    run->is_probe = true;
    uint64_t most = TML_MAX_OF(run->stream->room / PAIRS_A_POSE, (uint64_t)1), count;
    while (status == TML_OK && (count = slice_next(run->job, &roots, most)) > 0) {
        breadth_report report;
        status = steps_run(run, 0, run->step_count, roots.pairs + roots.done, count, &report);
        if (status == TML_OK && report.step == run->step_count)
            status = breadth_found_read(run, report.count, report.last);
        roots.done += count;
    }
    run->is_probe = false;
    return status;
}

/* Follows the first part's pairs to the end, in order. If a step lacks room for a slice, the slice
 * becomes a part of its own at that step, with smaller slices. */
static tml_status parts_run(breadth_run *run, breadth_part first)
{
    collide_job *job = run->job;
    breadth_part parts[COLLIDE_STEPS_MAX + 1];
    uint32_t depth = 1;
    tml_status status = TML_OK;
    parts[0] = first;
    while (depth > 0) {
        breadth_part *part = &parts[depth - 1];
        uint64_t count = status == TML_OK ? slice_next(job, part, part->slice) : 0;
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
        breadth_report report;
        status = steps_run(run, part->step, run->step_count, pairs, count, &report);
        if (status != TML_OK)
            continue;
        if (report.step == run->step_count) {
            job->parts++;
            status = breadth_found_read(run, report.count, report.last);
            part->done += count;
        } else if (!room_grow(run, report.count)) {
            if (run->stream->room == 0) /* room_grow has freed the old buffers */
                status = room_make(job->tml, run->stream, run->most_room);
            if (status == TML_OK) {
                status = part_make(run, part->step, report.step, pairs, count, &parts[depth]);
                depth++;
                part->done += count;
            }
        }
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status poses_upload(const breadth_run *run)
{
    const collide_job *job = run->job;
    struct collide_stream *stream = run->stream;
    uint64_t words = (uint64_t)COLLIDE_POSE_WORDS * job->pose_count;
    if (stream->pose_room < words) {
        tml_buffer_destroy(job->tml, stream->poses);
        stream->poses = (tml_buffer){0, 0};
        stream->pose_room = 0;
        tml_status status =
            tml_buffer_make(job->tml, TML_F32, words, job->poses, "poses", &stream->poses);
        stream->pose_room = status == TML_OK ? words : 0;
        return status;
    }
    return tml_buffer_write(job->tml, stream->poses, 0, words, job->poses);
}

static tml_status crossings_make(breadth_run *run)
{
    const collide_job *job = run->job;
    struct collide_stream *stream = run->stream;
    tml_status status = TML_OK;
    if (stream->crossing_room < job->pose_count) {
        tml_buffer_destroy(job->tml, stream->crossings);
        stream->crossings = (tml_buffer){0, 0};
        stream->crossing_room = 0;
        status = tml_buffer_make(job->tml, TML_U32, job->pose_count, NULL, "crossings of poses",
                                 &stream->crossings);
        stream->crossing_room = status == TML_OK ? job->pose_count : 0;
    }
    run->crossings = tml_alloc_array(job->tml, job->pose_count, sizeof *run->crossings);
    if (status == TML_OK && !run->crossings)
        status = tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory for counts of %u poses", job->pose_count);
    return status;
}

static tml_status run_prepare(breadth_run *run)
{
    collide_job *job = run->job;
    tml_context *tml = job->tml;
    uint64_t limit = collide_memory_limit(tml, job->memory_limit);
    run->most_room =
        TML_MIN_OF(TML_MAX_OF(limit / PAIR_BYTES, (uint64_t)ROOM_LEAST), (uint64_t)ROOM_MOST);
    tml_status status = tree_upload(tml, job->a);
    TML_THEN(status, tree_upload(tml, job->b));
    TML_THEN(status, stream_make(tml, job->a));
    if (status != TML_OK)
        return status;
    run->stream = job->a->stream;
    if (run->stream->room == 0 || run->stream->room > run->most_room)
        status = room_make(tml, run->stream, TML_MIN_OF((uint64_t)ROOM_AT_FIRST, run->most_room));
    TML_THEN(status, poses_upload(run));
    return status == TML_OK && job->want == TML_COLLIDE_WANT_COUNT ? crossings_make(run) : status;
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
        roots.slice = run.stream->room;
    }
    if (status == TML_OK) {
        status = parts_run(&run, roots);
        job->parts = TML_MAX_OF(job->parts, 1u); /* no roots meet */
    }
    tml_free(tml, roots.pairs, (size_t)job->pose_count * sizeof *roots.pairs);
    tml_free(tml, run.crossings, (size_t)job->pose_count * sizeof *run.crossings);
    tml_free(tml, run.found, (size_t)run.found_room * sizeof *run.found);
    return status;
}

#include "kernels/kernel_end.h"
