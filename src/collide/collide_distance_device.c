/* The distance of two meshes on the device: a stream of pairs of nodes, level by level, without those that are certainly
 * farther apart than two triangles already seen.
 *
 * What has been seen comes from greedy descents, a thread each: first one a pose, from the roots; then one from each pair
 * that is left after the first step, and of many poses after each. The stream begins some levels below the roots, with
 * all pairs of nodes there, and splits both sides at once where their levels take turns, since a step costs more than
 * what it does. Of triangles, both bounds of the distance are computed, and the host settles the pairs whose lower bound
 * is not above the least upper one. All is enqueued at once, with lengths on the device; two words are read back first: how many pairs the fullest
 * step made, and how many are left. Where there was too little room, buffers grow; if they may not, fewer poses go at a
 * time; and a single pose is followed on the host.
 *
 * After: Larsen, Gottschalk, Lin, Manocha: Fast Proximity Queries with Swept Sphere Volumes. 1999; Lauterbach, Mo,
 * Manocha: gProximity. 2010 (a front of pairs on the device). */
#include <math.h>
#include <string.h>

#include "collide/collide_distance.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Uses both. */
#include "kernels/collide_distance.k.h"

#include "collide_distance_library.h"

/* A pair of roots. f[0]: the limit. */
TML_KERNEL(uvec4, collide_near_root, (tml_index i, tml_params p),
           { return UVEC4(0u, 0u, U(i), floatBitsToUint(p.f[0])); })

/* All pairs of u[0] nodes of a and u[1] of b. above: of each pose. f[0]: the limit; f[1]: what the host's distances may be
 * off by. */
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_first,
                (tml_words above, tml_index i, tml_params p), {
                    uint pose = U(i) / (p.u[0] * p.u[1]);
                    uint pair = U(i) % (p.u[0] * p.u[1]);
                    return UVEC4(pair % p.u[0], pair / p.u[0], pose,
                                 collide_near_bound(tml_word_float(above, pose), p.f[1],
                                                    floatBitsToUint(p.f[0]), pair == 0u));
                })

/* u[0]: levels, in these three. */
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_descent,
                (uvec4 pair, tml_words a_boxes, tml_words b_boxes, tml_words view, tml_params p),
                { return collide_near_leaves(pair, a_boxes, b_boxes, view, p.u[0]); })
/* Which children are near enough, and how many. */
TML_KERNEL_OUTS_WITH(collide_distance, (uvec2 met, uint count), collide_near_split,
                     (uvec4 pair, tml_words a_boxes, tml_words b_boxes, tml_words view,
                      tml_params p),
                     {
                         collide_near_split_out o;
                         o.met = collide_near_children(pair, a_boxes, b_boxes, view, p.u[0]);
                         o.count = popcount32(o.met.x) + popcount32(o.met.y);
                         return o;
                     })
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_child,
                (uvec2 met, uvec4 pair, tml_rank k, tml_params p), {
                    uint bit = collide_near_bit(met, k);
                    uint i = bit % COLLIDE_WIDTH;
                    uint j = bit / COLLIDE_WIDTH;
                    pair.x = (p.u[0] & COLLIDE_NEAR_SPLITS_A) != 0u ? COLLIDE_WIDTH * pair.x + i
                                                                    : pair.x;
                    pair.y = (p.u[0] & COLLIDE_NEAR_SPLITS_B) != 0u ? COLLIDE_WIDTH * pair.y + j
                                                                    : pair.y;
                    return pair;
                })

TML_KERNEL_OUTS_WITH(collide_distance, (uvec2 met, uint count), collide_near_split_leaves,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_split_leaves_out o;
                         o.met = collide_near_triangles(pair, a_triangles, b_triangles, view);
                         o.count = popcount32(o.met.x) + popcount32(o.met.y);
                         return o;
                     })

/* What two leaves are certainly not farther apart than, and their pose. */
TML_KERNEL_OUTS_WITH(collide_distance, (float above, uint pose), collide_near_seen,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_seen_out o;
                         o.above = collide_near_above(pair, a_triangles, b_triangles, view);
                         o.pose = pair.z;
                         return o;
                     })

/* A pair with what its pose has seen since. f[1]: as above. */
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_lower,
                (uvec4 pair, tml_words above, tml_words pairs, tml_index i, tml_params p), {
                    bool is_first = U(i) == 0u;
                    if (!is_first)
                        is_first = tml_word(pairs, 4u * U(i) - 2u) != pair.z;
                    pair.w =
                        collide_near_bound(tml_word_float(above, pair.z), p.f[1], pair.w, is_first);
                    return pair;
                })

TML_KERNEL_OUTS_WITH(collide_distance, (float below, float above, uint pose), collide_near_pair,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_pair_out o;
                         triangle_corners t = collide_near_posed(collide_near_rows(view, pair.z),
                                                                 b_triangles, pair.y);
                         vec2 bounds =
                             collide_near_bounds(collide_near_triangle(a_triangles, pair.x), t);
                         o.below = bounds.x;
                         o.above = bounds.y;
                         o.pose = pair.z;
                         return o;
                     })

TML_KERNEL_WITH(collide_distance, bool, collide_is_near,
                (float below, uvec4 pair, tml_words above, tml_params p), {
                    float bound =
                        min(tml_word_float(above, pair.z) + p.f[1], uintBitsToFloat(pair.w));
                    return pair.w == COLLIDE_NEAR_MET || below <= bound;
                })

/* The largest of four totals; of two, and the count beside it. */
TML_KERNEL(uint, collide_near_largest, (uint largest, tml_words x, tml_words y, tml_words z),
           { return max(max(largest, tml_word(x, 0u)), max(tml_word(y, 0u), tml_word(z, 0u))); })
TML_KERNEL(uvec2, collide_near_told, (uint largest, tml_words last, tml_words count),
           { return UVEC2(max(largest, tml_word(last, 0u)), tml_word(count, 0u)); })

/* ---- buffers --------------------------------------------------------------------------------- */

enum {
    ROOM_AT_FIRST = 1 << 17,
    ROOM_LEAST = 1 << 10,
    ROOM_MOST = 1 << 26,
    /* two lists of pairs, masks, two bounds, a pose */
    PAIR_BYTES = 2 * 16 + 8 + 2 * 4 + 4,
    POSES_AT_ONCE = 1 << 14,
    FIRST_PAIRS = 1 << 12, /* all nodes of one level by all of another, for all poses */
    TOTALS = COLLIDE_STEPS_MAX + 1,
};

/* What a tree keeps on the device if it is the a of a call. */
struct collide_near {
    tml_buffer pairs[2], met, below, above, pose; /* room elements each; pose: also a count */
    uint64_t room;
    tml_buffer view, best, queries, places; /* of pose_room poses; queries: 0, 1 ... pose_room */
    uint32_t pose_room;
    tml_buffer totals[TOTALS]; /* pairs that each step made */
    tml_buffer largest[2], count, told;
};

typedef struct broad_run {
    distance_job *job;
    struct collide_near *kept;
    tml_buffer boxes[2], triangles[2]; /* a's, b's */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    uint64_t most_room;
    tml_status status;     /* once something failed, nothing more is done */
    uint32_t first, count; /* poses now */
    float limit, error;
    int from; /* where the pairs are */
    tml_length length;
    uint32_t total_count;
    uint32_t *words; /* of the view, with room for word_room */
    size_t word_room;
    /* On the host: what is left, and where each pose's part begins. */
    tml_uvec4 *found;
    uint32_t found_count, *starts;
    uint64_t found_room;
    uint32_t start_room;
} broad_run;

static void make(broad_run *run, tml_type type, uint64_t count, const void *data, const char *label,
                 tml_buffer *out)
{
    if (run->status == TML_OK && tml_buffer_is_none(*out))
        run->status = tml_buffer_create(
            run->job->tml,
            &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = label}, out);
}

static void drop(tml_context *tml, tml_buffer *buffer)
{
    tml_buffer_destroy(tml, *buffer);
    *buffer = (tml_buffer){0, 0};
}

static void room_drop(tml_context *tml, struct collide_near *kept)
{
    tml_buffer *const all[] = {&kept->pairs[0], &kept->pairs[1], &kept->met,
                               &kept->below,    &kept->above,    &kept->pose};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        drop(tml, all[i]);
    kept->room = 0;
}

static void poses_drop(tml_context *tml, struct collide_near *kept)
{
    tml_buffer *const all[] = {&kept->view, &kept->best, &kept->queries, &kept->places};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        drop(tml, all[i]);
    kept->pose_room = 0;
}

void collide_near_destroy(tml_context *tml, tml_tree *tree)
{
    struct collide_near *kept = tree->near;
    if (!kept)
        return;
    room_drop(tml, kept);
    poses_drop(tml, kept);
    for (uint32_t i = 0; i < TOTALS; i++)
        drop(tml, &kept->totals[i]);
    tml_buffer *const rest[] = {&kept->largest[0], &kept->largest[1], &kept->count, &kept->told};
    for (size_t i = 0; i < TML_ARRAY_SIZE(rest); i++)
        drop(tml, rest[i]);
    tml_free(tml, kept, sizeof *kept);
    tree->near = NULL;
}

static void room_make(broad_run *run, uint64_t room)
{
    struct collide_near *kept = run->kept;
    room_drop(run->job->tml, kept);
    make(run, TML_VEC(TML_U32, 4), room, NULL, "pairs", &kept->pairs[0]);
    make(run, TML_VEC(TML_U32, 4), room, NULL, "pairs", &kept->pairs[1]);
    make(run, TML_VEC(TML_U32, 2), room, NULL, "children that are near", &kept->met);
    make(run, TML_F32, room, NULL, "lower bounds", &kept->below);
    make(run, TML_F32, room, NULL, "upper bounds", &kept->above);
    make(run, TML_U32, room, NULL, "poses of pairs", &kept->pose);
    if (run->status == TML_OK)
        kept->room = room;
    else
        room_drop(run->job->tml, kept);
}

static void poses_make(broad_run *run, uint32_t room)
{
    struct collide_near *kept = run->kept;
    uint64_t words = COLLIDE_VIEW_POSES + (uint64_t)COLLIDE_VIEW_POSE * room;
    poses_drop(run->job->tml, kept);
    for (uint32_t i = 0; i <= room; i++)
        run->words[i] = i;
    make(run, TML_U32, words, NULL, "trees and poses", &kept->view);
    make(run, TML_F32, room, NULL, "bounds of poses", &kept->best);
    make(run, TML_U32, (uint64_t)room + 1, run->words, "poses", &kept->queries);
    make(run, TML_U32, (uint64_t)room + 1, NULL, "first pairs of poses", &kept->places);
    if (run->status == TML_OK)
        kept->pose_room = room;
    else
        poses_drop(run->job->tml, kept);
}

static void kept_make(broad_run *run)
{
    tml_tree *a = run->job->a;
    if (!a->near) {
        a->near = tml_alloc(run->job->tml, sizeof *a->near);
        if (!a->near) {
            run->status = tml_error(run->job->tml, TML_ERROR_OUT_OF_MEMORY,
                                    "tml_collide_distance: no memory for a tree's handles");
            return;
        }
        memset(a->near, 0, sizeof *a->near);
    }
    run->kept = a->near;
    for (uint32_t i = 0; i <= run->step_count; i++)
        make(run, TML_U32, 1, NULL, "pair count", &run->kept->totals[i]);
    make(run, TML_U32, 1, NULL, "pair count", &run->kept->largest[0]);
    make(run, TML_U32, 1, NULL, "pair count", &run->kept->largest[1]);
    make(run, TML_U32, 1, NULL, "pair count", &run->kept->count);
    make(run, TML_VEC(TML_U32, 2), 1, NULL, "pair counts", &run->kept->told);
}

/* ---- what is enqueued ------------------------------------------------------------------------ */

static void map(broad_run *run, const tml_map_desc *desc)
{
    if (run->status == TML_OK)
        run->status = tml_map(run->job->tml, desc);
}

/* The least of kept->above of each pose, into kept->best. */
static void best_enqueue(broad_run *run)
{
    struct collide_near *kept = run->kept;
    tml_context *tml = run->job->tml;
    if (run->status != TML_OK)
        return;
    if (kept->pose_room == 1) {
        run->status = tml_reduce(tml, &(tml_reduce_desc){.fold = TML_FOLD_MIN,
                                                         .in = kept->above,
                                                         .length = run->length,
                                                         .out = kept->best});
        return;
    }
    run->status = tml_search(tml, &(tml_search_desc){.sorted = kept->pose,
                                                     .sorted_length = run->length,
                                                     .queries = kept->queries,
                                                     .out = kept->places});
    if (run->status == TML_OK)
        run->status = tml_reduce_segments(tml, &(tml_reduce_segments_desc){.fold = TML_FOLD_MIN,
                                                                           .in = kept->above,
                                                                           .offsets = kept->places,
                                                                           .out = kept->best});
}

static uint32_t level_word(const collide_step *step)
{
    return step->a_level | step->b_level << COLLIDE_NEAR_B_SHIFT;
}

/* Descends from each pair, and notes what it sees. */
static void descents_enqueue(broad_run *run, uint32_t levels)
{
    struct collide_near *kept = run->kept;
    map(run,
        &(tml_map_desc){.kernel = TML_USE(collide_near_descent),
                        .params = {.u = {levels}},
                        .in = {kept->pairs[run->from], run->boxes[0], run->boxes[1], kept->view},
                        .length = run->length,
                        .out = kept->pairs[!run->from]});
    map(run, &(tml_map_desc){
                 .kernel = TML_USE(collide_near_seen),
                 .in = {kept->pairs[!run->from], run->triangles[0], run->triangles[1], kept->view},
                 .length = run->length,
                 .out = kept->above,
                 .also = {kept->pose}});
}

/* Makes the pairs of kept->met, which kept->pose counts. */
static void pairs_enqueue(broad_run *run, uint32_t levels)
{
    struct collide_near *kept = run->kept;
    if (run->status == TML_OK)
        run->status =
            tml_expand(run->job->tml, &(tml_expand_desc){.counts = kept->pose,
                                                         .emit_kernel = TML_USE(collide_near_child),
                                                         .params = {.u = {levels}},
                                                         .in = {kept->met, kept->pairs[run->from]},
                                                         .length = run->length,
                                                         .out = kept->pairs[!run->from],
                                                         .total = kept->totals[run->total_count]});
    run->from = !run->from;
    run->length = (tml_length){.count = kept->room, .device = kept->totals[run->total_count++]};
}

/* The first step after which all pairs of nodes are few; not beyond the leaves. */
static uint32_t first_step(const broad_run *run)
{
    const distance_job *job = run->job;
    uint32_t number = 0;
    for (uint32_t s = 1; s + 2 <= run->step_count; s++) {
        uint64_t pairs = (uint64_t)job->a->level_count[run->steps[s].a_level] *
                         job->b->level_count[run->steps[s].b_level];
        if (pairs * run->count > TML_MIN_OF((uint64_t)FIRST_PAIRS, run->kept->room))
            break;
        number = s;
    }
    return number;
}

static void first_pairs_enqueue(broad_run *run, uint32_t number)
{
    struct collide_near *kept = run->kept;
    const uint32_t a_count = run->job->a->level_count[run->steps[number].a_level];
    const uint32_t b_count = run->job->b->level_count[run->steps[number].b_level];
    run->from = 0;
    run->total_count = 0;
    run->length = tml_length_of(run->count);
    map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_root),
                             .params = {.f = {run->limit}},
                             .length = run->length,
                             .out = kept->pairs[0]});
    descents_enqueue(run, level_word(&run->steps[0]));
    run->length = tml_length_of((uint64_t)run->count * a_count * b_count);
    map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_first),
                             .params = {.f = {run->limit, run->error}, .u = {a_count, b_count}},
                             .in = {kept->above},
                             .length = run->length,
                             .out = kept->pairs[0]});
}

/* Splits nodes; both sides if the next step has the other one. Returns the next step's number. */
static uint32_t step_enqueue(broad_run *run, uint32_t number)
{
    struct collide_near *kept = run->kept;
    const collide_step *step = &run->steps[number];
    uint32_t levels = level_word(step);
    bool is_both = number + 3 < run->step_count && step[1].splits_b != step->splits_b;
    if (is_both || step->splits_b)
        levels |= COLLIDE_NEAR_SPLITS_B;
    if (is_both || !step->splits_b)
        levels |= COLLIDE_NEAR_SPLITS_A;
    map(run,
        &(tml_map_desc){.kernel = TML_USE(collide_near_split),
                        .params = {.u = {levels}},
                        .in = {kept->pairs[run->from], run->boxes[0], run->boxes[1], kept->view},
                        .length = run->length,
                        .out = kept->met,
                        .also = {kept->pose}});
    pairs_enqueue(run, levels);
    return number + (is_both ? 2 : 1);
}

static void triangles_enqueue(broad_run *run)
{
    struct collide_near *kept = run->kept;
    map(run, &(tml_map_desc){
                 .kernel = TML_USE(collide_near_split_leaves),
                 .in = {kept->pairs[run->from], run->triangles[0], run->triangles[1], kept->view},
                 .length = run->length,
                 .out = kept->met,
                 .also = {kept->pose}});
    pairs_enqueue(run, COLLIDE_NEAR_SPLITS_A | COLLIDE_NEAR_SPLITS_B);
    map(run, &(tml_map_desc){
                 .kernel = TML_USE(collide_near_pair),
                 .in = {kept->pairs[run->from], run->triangles[0], run->triangles[1], kept->view},
                 .length = run->length,
                 .out = kept->below,
                 .also = {kept->above, kept->pose}});
    best_enqueue(run);
    if (run->status == TML_OK)
        run->status = tml_compact(
            run->job->tml,
            &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_near),
                                         .params = {.f = {0, run->error}},
                                         .in = {kept->below, kept->pairs[run->from], kept->best}},
                                .payloads = {{kept->pairs[run->from], kept->pairs[!run->from]}},
                                .length = run->length,
                                .count = kept->count});
    run->from = !run->from;
}

static void told_enqueue(broad_run *run)
{
    struct collide_near *kept = run->kept;
    const tml_buffer *totals = kept->totals;
    tml_buffer largest = totals[0];
    uint32_t last = run->total_count - 1;
    for (uint32_t i = 1, k = 0; i < last; i += 3, k = !k) {
        map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_largest),
                                 .in = {largest, totals[i], totals[TML_MIN_OF(i + 1, last)],
                                        totals[TML_MIN_OF(i + 2, last)]},
                                 .length = tml_length_of(1),
                                 .out = kept->largest[k]});
        largest = kept->largest[k];
    }
    map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_told),
                             .in = {largest, totals[last], kept->count},
                             .length = tml_length_of(1),
                             .out = kept->told});
}

static void all_enqueue(broad_run *run)
{
    struct collide_near *kept = run->kept;
    uint32_t number = first_step(run);
    bool has_seen = false;
    first_pairs_enqueue(run, number);
    while (number + 2 < run->step_count) {
        number = step_enqueue(run, number);
        if ((has_seen && run->count == 1) || number + 2 >= run->step_count)
            continue;
        has_seen = true;
        descents_enqueue(run, level_word(&run->steps[number]));
        best_enqueue(run);
        map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_lower),
                                 .params = {.f = {0, run->error}},
                                 .in = {kept->pairs[run->from], kept->best, kept->pairs[run->from]},
                                 .length = run->length,
                                 .out = kept->pairs[!run->from]});
        run->from = !run->from;
    }
    triangles_enqueue(run);
    told_enqueue(run);
}

/* ---- poses ----------------------------------------------------------------------------------- */

static void view_write(const tml_tree *tree, uint32_t words[COLLIDE_VIEW_WORDS])
{
    words[COLLIDE_VIEW_LEVELS] = tree->levels;
    words[COLLIDE_VIEW_LEAST] = collide_leaf_words(tree, &words[COLLIDE_VIEW_MORE]);
    for (uint32_t level = 1; level <= tree->levels; level++) {
        words[COLLIDE_VIEW_GROUPS + 2 * level] = tree->level_group[level];
        words[COLLIDE_VIEW_GROUPS + 2 * level + 1] =
            TML_MIN_OF(tree->level_count[level], COLLIDE_WIDTH);
    }
    _Static_assert(COLLIDE_VIEW_GROUPS + 2 * COLLIDE_LEVELS_MAX + 2 <= COLLIDE_VIEW_WORDS,
                   "room for all levels");
}

/* The largest difference of coordinates that a distance of these poses is of. */
static double extent_of(const broad_run *run)
{
    const tml_tree *a = run->job->a, *b = run->job->b;
    double extent = 0;
    for (uint32_t p = run->first; p < run->first + run->count; p++)
        for (int r = 0; r < 3; r++) {
            const float *m = run->job->poses[p].matrix + 4 * r;
            double reach =
                fabs((double)m[3]) + fmax(fabs((double)a->lower[r]), fabs((double)a->upper[r]));
            for (int c = 0; c < 3; c++)
                reach +=
                    fabs((double)m[c]) * fmax(fabs((double)b->lower[c]), fabs((double)b->upper[c]));
            extent = fmax(extent, reach);
        }
    return extent;
}

/* A float that is no less. */
static float above(double x)
{
    float rounded = (float)fmin(x, (double)INFINITY);
    return rounded < INFINITY ? rounded * (1 + 0x1p-20f) + 0x1p-100f : rounded;
}

static void view_upload(broad_run *run)
{
    const distance_job *job = run->job;
    memset(run->words, 0, COLLIDE_VIEW_POSES * sizeof *run->words);
    view_write(job->a, run->words);
    view_write(job->b, run->words + COLLIDE_VIEW_WORDS);
    for (uint32_t p = 0; p < run->count; p++)
        memcpy(run->words + COLLIDE_VIEW_POSES + (size_t)COLLIDE_VIEW_POSE * p,
               job->poses[run->first + p].matrix, sizeof job->poses->matrix);
    run->error = above(0x1p-44 * extent_of(run));
    run->limit = above(job->limit + (double)run->error);
    if (run->status == TML_OK)
        run->status = tml_buffer_write(
            job->tml, run->kept->view, 0,
            COLLIDE_VIEW_POSES + (uint64_t)COLLIDE_VIEW_POSE * run->count, run->words);
}

/* ---- what is left ---------------------------------------------------------------------------- */

enum { POSES_A_TASK = 8 };

/* Settles poses. A distance below 0: to be followed depth first. */
static void settle_task(void *argument, uint32_t task)
{
    const broad_run *run = argument;
    uint32_t end = TML_MIN_OF(task * POSES_A_TASK + POSES_A_TASK, run->count);
    for (uint32_t p = task * POSES_A_TASK; p < end; p++) {
        tml_collide_distance_result best = distance_none(run->job);
        bool has_met = false;
        for (uint32_t i = run->starts[p]; i < run->starts[p + 1] && !has_met; i++) {
            has_met = run->found[i].w == COLLIDE_NEAR_MET;
            if (!has_met)
                distance_offer(run->job, run->first + p, run->found[i].x, run->found[i].y, &best);
            has_met |= best.distance == 0;
        }
        distance_finish(run->job, run->first + p, best);
        if (has_met)
            run->job->out[run->first + p].distance = -1;
    }
}

static void follow_task(void *argument, uint32_t task)
{
    const broad_run *run = argument;
    if (run->job->out[run->first + task].distance < 0)
        distance_of_pose(run->job, run->first + task);
}

/* Follows on the host the poses that are marked. */
static void follow_marked(broad_run *run)
{
    const distance_job *job = run->job;
    bool is_any = false;
    for (uint32_t p = 0; p < run->count; p++)
        is_any |= job->out[run->first + p].distance < 0;
    if (run->status != TML_OK || !is_any)
        return;
    run->status =
        collide_trees_fetch(job->tml, "tml_collide_distance", job->a, job->b, COLLIDE_STALE_ALL);
    if (run->status == TML_OK)
        tml_parallel_for(job->tml, run->count, follow_task, run);
}

static void found_read(broad_run *run)
{
    tml_context *tml = run->job->tml;
    if (run->found_count > run->found_room) {
        tml_free(tml, run->found, (size_t)run->found_room * sizeof *run->found);
        run->found = tml_alloc_array(tml, run->found_count, sizeof *run->found);
        run->found_room = run->found ? run->found_count : 0;
        if (!run->found)
            run->status =
                tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                          "tml_collide_distance: no memory for %u pairs", run->found_count);
    }
    if (run->status == TML_OK && run->found_count > 0)
        run->status = tml_buffer_read_range(tml, run->kept->pairs[run->from], 0, run->found_count,
                                            run->found);
}

static void settle(broad_run *run)
{
    const distance_job *job = run->job;
    found_read(run);
    if (run->status == TML_OK)
        run->status = collide_trees_fetch(job->tml, "tml_collide_distance", job->a, job->b,
                                          COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES);
    if (run->status != TML_OK)
        return;
    for (uint32_t p = 0, i = 0; p <= run->count; p++) {
        run->starts[p] = i;
        while (p < run->count && i < run->found_count && run->found[i].z == p)
            i++;
    }
    tml_parallel_for(job->tml, TML_CEIL_DIV(run->count, POSES_A_TASK), settle_task, run);
    follow_marked(run);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* More room, for a step that made so many pairs; or fewer poses; or the only one on the host, which is then done. */
static bool overflow(broad_run *run, uint64_t needed)
{
    uint64_t before = run->kept->room;
    uint64_t room = TML_MIN_OF(TML_MAX_OF(needed + needed / 4, 2 * before), run->most_room);
    if (room > before) {
        room_make(run, room);
        if (run->status == TML_OK)
            return false;
        run->status = TML_OK;
        run->most_room = before;
        room_make(run, before);
        return false;
    }
    if (run->count > 1) {
        run->count = TML_CEIL_DIV(run->count, 8);
        return false;
    }
    run->job->out[run->first].distance = -1;
    follow_marked(run);
    return true;
}

static void poses_run(broad_run *run)
{
    const distance_job *job = run->job;
    uint32_t at_once = TML_MIN_OF(run->kept->pose_room, job->pose_count);
    while (run->first < job->pose_count && run->status == TML_OK) {
        uint32_t told[2] = {0, 0};
        if (!tml_progress(job->tml, "distance", (double)run->first / job->pose_count)) {
            run->status =
                tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide_distance: cancelled");
            return;
        }
        run->count = TML_MIN_OF(job->pose_count - run->first, at_once);
        view_upload(run);
        all_enqueue(run);
        if (run->status == TML_OK)
            run->status = tml_buffer_read(job->tml, run->kept->told, told);
        if (run->status != TML_OK)
            return;
        run->found_count = told[1];
        bool is_done = told[0] <= run->kept->room;
        if (is_done)
            settle(run);
        else
            is_done = overflow(run, told[0]);
        if (is_done)
            run->first += run->count;
        else
            at_once = run->count;
    }
}

static void prepare(broad_run *run)
{
    const distance_job *job = run->job;
    tml_context *tml = job->tml;
    uint32_t poses = TML_MIN_OF(job->pose_count, (uint32_t)POSES_AT_ONCE);
    uint64_t limit = collide_memory_limit(tml, job->memory_limit);
    run->most_room =
        TML_MIN_OF(TML_MAX_OF(limit / PAIR_BYTES, (uint64_t)ROOM_LEAST), (uint64_t)ROOM_MOST);
    run->word_room = COLLIDE_VIEW_POSES + (size_t)COLLIDE_VIEW_POSE * poses;
    run->start_room = poses + 1;
    run->words = tml_alloc_array(tml, run->word_room, sizeof *run->words);
    run->starts = tml_alloc_array(tml, run->start_room, sizeof *run->starts);
    if (!run->words || !run->starts) {
        run->status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                                "tml_collide_distance: no memory for %u poses", poses);
        return;
    }
    collide_learn(tml);
    run->status = collide_device_tree(tml, job->a, &run->boxes[0], &run->triangles[0]);
    if (run->status == TML_OK)
        run->status = collide_device_tree(tml, job->b, &run->boxes[1], &run->triangles[1]);
    if (run->status == TML_OK)
        kept_make(run);
    if (run->status != TML_OK)
        return;
    if (run->kept->room == 0 || run->kept->room > run->most_room)
        room_make(run, TML_MIN_OF((uint64_t)ROOM_AT_FIRST, run->most_room));
    poses = (uint32_t)TML_MIN_OF((uint64_t)poses, run->most_room / COLLIDE_WIDTH);
    if (run->kept->pose_room < poses || (poses == 1) != (run->kept->pose_room == 1))
        poses_make(run, poses);
}

tml_status distance_on_device(distance_job *job)
{
    tml_context *tml = job->tml;
    broad_run run = {.job = job};
    run.step_count =
        collide_schedule(job->a, job->b, collide_scale_of(job->poses, job->pose_count), run.steps);
    if (run.step_count == 0) { /* a mesh without triangles */
        for (uint32_t p = 0; p < job->pose_count; p++)
            distance_finish(job, p, distance_none(job));
        return TML_OK;
    }
    prepare(&run);
    if (run.status == TML_OK)
        poses_run(&run);
    tml_free(tml, run.words, run.word_room * sizeof *run.words);
    tml_free(tml, run.starts, run.start_room * sizeof *run.starts);
    tml_free(tml, run.found, (size_t)run.found_room * sizeof *run.found);
    return run.status;
}

#include "kernels/kernel_end.h"
