/* Distances on a grid on the device, with the same bits as on the host. A thread per line traces it
 * through the tree and counts its crossings; lines expand into crossings, which give each sample's
 * side. Blocks near the mesh are compacted, large blocks first. A thread per block lists the tree's
 * leaves within the band, and a thread per sample searches its block's list. Lines of which floats
 * are unsure are left to the host's exact arithmetic. */
#include <math.h>
#include <string.h>

#include "tree/tree_points_device.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_points.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Needs both groups above. */
#include "kernels/collide_points_stream.k.h"
/* Doubles. */
#include "kernels/collide_nearest.k.h"
/* Need all of the above. */
#include "kernels/collide_nearest_stream.k.h"
#include "kernels/collide_volume.k.h"
/* Needs these two. */
#include "kernels/collide_cut.k.h"

#include "tree_volume_library.h"

TML_KERNEL_OUTS_WITH(tree_volume, (uint count, uint is_unsure, uvec4 first), collide_count_line,
                     (tml_words boxes, tml_words triangles, tml_words plan, tml_index line), {
                         collide_count_line_out o;
                         collide_crossings found =
                             collide_line(U(line), COLLIDE_LINE_END, boxes, triangles, plan);
                         o.is_unsure = found.count == COLLIDE_LINE_UNSURE ? 1u : 0u;
                         o.count = o.is_unsure != 0u ? 0u : found.count;
                         o.first = found.first;
                         return o;
                     })

TML_KERNEL(bool, collide_is_unsure_line, (uint is_unsure), { return is_unsure != 0u; })

TML_KERNEL_WITH(tree_volume, uint, collide_line_crossing,
                (uvec4 first, tml_words boxes, tml_words triangles, tml_words plan, tml_index line,
                 tml_rank k),
                {
                    if (U(k) < 4u)
                        return collide_crossing_of(first, U(k));
                    return collide_line(U(line), U(k) + 1u, boxes, triangles, plan).last;
                })

/* A line's first crossing and the end of its crossings. For a line that the host decided: the
 * line's index in the ascending list `unsure`, and LINE_END. u[0]: length of that list. */
TML_KERNEL_WITH(tree_volume, uvec2, collide_line_crossings,
                (uint first, uint count, uint is_unsure, tml_words unsure, tml_index line,
                 tml_params p),
                {
                    uint below = 0u;
                    uint end = p.u[0];
                    if (is_unsure == 0u)
                        return UVEC2(first, first + count);
                    while (below < end) {
                        uint middle = (below + end) / 2u;
                        if (tml_word(unsure, middle) < U(line))
                            below = middle + 1u;
                        else
                            end = middle;
                    }
                    return UVEC2(below, COLLIDE_LINE_END);
                })

/* The band, with the sample's sign; 0 for a sample on a triangle. told: sides that the host
 * decided, two bits each. u[0]: words per line in told. */
TML_KERNEL_WITH(tree_volume, float, collide_fill_sides,
                (tml_words lines, tml_words crossings, tml_words told, tml_words plan, tml_index at,
                 tml_params p),
                {
                    uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
                    uint wide = collide_grid_dim(plan, grid, 0u);
                    uint line = U(at) / wide;
                    uint x = U(at) - wide * line;
                    uint next = tml_word(lines, 2u * line);
                    uint end = tml_word(lines, 2u * line + 1u);
                    float band = tml_word_float(plan, grid + COLLIDE_GRID_BAND);
                    uint sum = 0u;
                    if (end == COLLIDE_LINE_END) {
                        uint side =
                            tml_word(told, p.u[0] * next + x / 16u) >> (2u * (x % 16u)) & 3u;
                        if (side == 2u)
                            return 0.0f;
                        return side == COLLIDE_INSIDE ? -band : band;
                    }
                    while (next < end) {
                        uint crossing = tml_word(crossings, next);
                        if ((crossing & 0x7fffffffu) <= x)
                            sum += (crossing & COLLIDE_LINE_BACK) != 0u ? 0xffffffffu : 1u;
                        next += 1u;
                    }
                    if (tml_word(plan, grid + COLLIDE_GRID_WINDING) == 0u)
                        sum &= 1u;
                    return sum != 0u ? -band : band;
                })
_Static_assert(TML_TREE_ON == 2, "as the kernel has it");

/* The band, for every sample. */
TML_KERNEL(float, collide_fill_band, (tml_params p), { return p.f[0]; })

/* Whether a large block is near the mesh; whether a block of a near large block is. */
TML_KERNEL_WITH(tree_volume, uint, collide_near_large,
                (tml_words boxes, tml_words triangles, tml_words plan, tml_index at), {
                    uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
                    uint parts = COLLIDE_GRID_PARTS;
                    collide_box box = collide_block_box(
                        plan, grid,
                        collide_block_first(plan, grid, U(at) * (parts * parts * parts)),
                        parts * COLLIDE_GRID_EDGE);
                    return U(collide_is_in_reach(box, collide_band_squared(plan, grid), boxes,
                                                 triangles, plan));
                })
TML_KERNEL_WITH(
    tree_volume, uint, collide_near_block,
    (tml_words large, tml_words boxes, tml_words triangles, tml_words plan, tml_index at), {
        uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
        collide_box box = collide_block_box(
            plan, grid, collide_block_first(plan, grid, collide_block_number(large, U(at))),
            COLLIDE_GRID_EDGE);
        return U(
            collide_is_in_reach(box, collide_band_squared(plan, grid), boxes, triangles, plan));
    })
/* Separate maps decide `near` with one thread per block. */
TML_KERNEL(bool, collide_is_told_near, (uint near), { return near != 0u; })

/* Lists a near block's leaves. near[u[0] + at]: its index among the blocks of near large ones. */
TML_KERNEL_OUTS_WITH(tree_volume, (uvec4 a, uvec4 b, uvec4 c, uvec4 d), collide_cut_block,
                     (tml_words near, tml_words large, tml_words boxes, tml_words plan,
                      tml_index at, tml_params p),
                     {
                         collide_cut_block_out o;
                         uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
                         uint block = collide_block_number(large, tml_word(near, p.u[0] + U(at)));
                         collide_box box = collide_block_box(
                             plan, grid, collide_block_first(plan, grid, block), COLLIDE_GRID_EDGE);
                         vec3 middle = scale3(add3(box.low, box.high), 0.5f);
                         collide_cut cut = collide_cut_sorted(
                             collide_cut_about(box, collide_band_squared(plan, grid), boxes, plan),
                             middle, boxes, plan);
                         o.a = collide_cut_words(cut, block, 0u);
                         o.b = collide_cut_words(cut, block, 4u);
                         o.c = collide_cut_words(cut, block, 8u);
                         o.d = collide_cut_words(cut, block, 12u);
                         return o;
                     })
/* Interleaves the four parts of a cut. */
TML_KERNEL_WITH(tree_volume, uvec4, collide_join_cut,
                (tml_words a, tml_words b, tml_words c, tml_words d, tml_index at), {
                    uint first = U(at) / 4u * 4u;
                    if (U(at) % 4u == 0u)
                        return collide_words4(a, first);
                    if (U(at) % 4u == 1u)
                        return collide_words4(b, first);
                    return U(at) % 4u == 2u ? collide_words4(c, first) : collide_words4(d, first);
                })

/* Lists the triangles that may be nearest to a sample of a near block. */
TML_KERNEL_WITH(tree_volume, uvec4, collide_list_nearest,
                (tml_words cuts, tml_words boxes, tml_words triangles, tml_words plan,
                 tml_index at),
                {
                    collide_sample here = collide_sample_at(cuts, U(at), plan);
                    if (here.place == COLLIDE_NONE)
                        return UVEC4(COLLIDE_NONE, COLLIDE_NONE, COLLIDE_NONE, COLLIDE_NONE);
                    return collide_open_in_cut(here.point, cuts, here.cut, boxes, triangles, plan);
                })

/* The distance of a sample's nearest triangle, and the sample's index; NONE if it is outside the
 * grid, or no triangle is in the band. more: not 0 if the triangles are not all listed. */
TML_KERNEL_OUTS_WITH(tree_volume, (float distance, uint place, uint more), collide_look_up,
                     (uvec4 slots, tml_words cuts, tml_words triangles, tml_words plan,
                      tml_index at),
                     {
                         collide_look_up_out o;
                         uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
                         uvec4 left = slots;
                         o.distance = tml_word_float(plan, grid + COLLIDE_GRID_BAND);
                         o.place = COLLIDE_NONE;
                         o.more = slots.x == COLLIDE_MORE ? 1u : 0u;
                         if (o.more != 0u)
                             return o;
                         collide_found found = collide_found_none(collide_band_limit(plan, grid));
                         collide_sample here = collide_sample_at(cuts, U(at), plan);
                         for (uint i = 0u; i < 4u; i++) {
                             if (left.x != COLLIDE_NONE)
                                 found = collide_nearer(found, here.point, left.x, triangles, plan);
                             left = UVEC4(left.y, left.z, left.w, COLLIDE_NONE);
                         }
                         if (found.slot == COLLIDE_NONE)
                             return o;
                         o.distance = collide_distance_of(found, here.point, o.distance, triangles);
                         o.place = here.place;
                         return o;
                     })

/* As collide_look_up, but searches the whole cut in doubles. */
TML_KERNEL_OUTS_WITH(tree_volume, (float distance, uint place), collide_look_up_more,
                     (tml_words cuts, tml_words boxes, tml_words triangles, tml_words plan,
                      tml_index at),
                     {
                         collide_look_up_more_out o;
                         uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
                         collide_sample here = collide_sample_at(cuts, U(at), plan);
                         collide_found found = collide_find_in_cut(
                             collide_found_none(collide_band_limit(plan, grid)), here.point, cuts,
                             here.cut, boxes, triangles, plan);
                         o.distance = tml_word_float(plan, grid + COLLIDE_GRID_BAND);
                         o.place = COLLIDE_NONE;
                         if (found.slot == COLLIDE_NONE)
                             return o;
                         o.distance = collide_distance_of(found, here.point, o.distance, triangles);
                         o.place = here.place;
                         return o;
                     })

/* The distance with the sign of the value that is in its place, and 0 if that value is 0. */
TML_KERNEL(float, collide_take_sign, (float distance, uint place, tml_words told), {
    float before = place == 0xffffffffu ? 1.0f : tml_word_float(told, place);
    if (before == 0.0f)
        return 0.0f;
    return before < 0.0f ? -distance : distance;
})

/* BLOCKS_A_ROUND: blocks per round. LARGE_MOST: most large blocks; only grids that are few samples
 * thick have more. UNSURE_PART: the host decides at most one line in this many. CROSSINGS_A_LINE:
 * most crossings per line, on average; each crossing after a line's fourth traces the line
 * again. */
enum {
    BLOCKS_A_ROUND = 15 << 10,
    LARGE_MOST = 1 << 22,
    UNSURE_PART = 4,
    CROSSINGS_A_LINE = 32,
    MOST_SAMPLES = 1 << 30
};
enum {
    SAMPLES_A_BLOCK = COLLIDE_GRID_EDGE * COLLIDE_GRID_EDGE * COLLIDE_GRID_EDGE,
    BLOCKS_A_LARGE = COLLIDE_GRID_PARTS * COLLIDE_GRID_PARTS * COLLIDE_GRID_PARTS,
    LARGE_EDGE = COLLIDE_GRID_EDGE * COLLIDE_GRID_PARTS,
};

enum { KEPT_MOST = 9 };
typedef struct grid_run {
    tml_context *tml;
    const tml_tree_distance_grid_desc *desc;
    const float *const *at;
    uint32_t dims[3];
    uint64_t samples, lines, large_blocks;
    float band;
    tml_status status; /* the first failure */
    /* Buffers that outlive the programs which fill them. */
    tml_buffer kept[KEPT_MOST];
    uint32_t kept_count;
    tml_buffer plan, boxes, triangles;
    tml_buffer counts, is_unsure, first_four, firsts, unsure; /* per line */
    tml_buffer near_large, near;                              /* lists of near blocks */
    uint32_t crossing_count, unsure_count, large_count, near_count;
    uint32_t *list; /* the unsure lines */
    uint32_t *sides;
} grid_run;

static tml_buffer grid_keep(grid_run *run, tml_type type, uint64_t count, const void *data,
                            const char *label)
{
    tml_buffer made = {0, 0};
    TML_THEN(run->status, tml_buffer_make(run->tml, type, count, data, label, &made));
    if (run->status == TML_OK)
        run->kept[run->kept_count++] = made;
    return made;
}

static const char call[] = "tml_tree_distance_grid";

static program grid_begin(const grid_run *run)
{
    program p = program_begin(run->tml, call);
    if (run->status != TML_OK)
        p.status = run->status;
    return p;
}

static void finish(grid_run *run, program *p)
{
    run->status = program_run(*p, (tml_buffer){0, 0});
}

static void plan_make(grid_run *run)
{
    uint64_t coordinates = (uint64_t)run->dims[0] + run->dims[1] + run->dims[2];
    uint64_t count = COLLIDE_GRID_WORDS + coordinates;
    uint32_t *words = tml_alloc_array(run->tml, count, sizeof *words);
    if (!words) {
        run->status = tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu words",
                                call, (size_t)count);
        return;
    }
    memcpy(words + COLLIDE_GRID_DIMS, run->dims, sizeof run->dims);
    words[COLLIDE_GRID_WINDING] = run->desc->rule == TML_TREE_RULE_WINDING;
    memcpy(words + COLLIDE_GRID_BAND, &run->band, sizeof run->band);
    words[COLLIDE_GRID_BLOCKS] = TML_CEIL_DIV(run->dims[0], LARGE_EDGE);
    words[COLLIDE_GRID_BLOCKS + 1] = TML_CEIL_DIV(run->dims[1], LARGE_EDGE);
    memcpy(words + COLLIDE_GRID_WORDS, run->at[0], (size_t)coordinates * sizeof *words);
    run->large_blocks = (uint64_t)words[COLLIDE_GRID_BLOCKS] * words[COLLIDE_GRID_BLOCKS + 1] *
                        TML_CEIL_DIV(run->dims[2], LARGE_EDGE);
    run->status = points_plan_make(run->tml, call, run->desc->tree, words, count, &run->plan);
    tml_free(run->tml, words, (size_t)count * sizeof *words);
}

/* Counts crossings, and lists the lines whose sides the host must decide. */
static void lines_count(grid_run *run)
{
    run->counts = grid_keep(run, TML_U32, run->lines, NULL, "crossings of lines");
    run->is_unsure = grid_keep(run, TML_U32, run->lines, NULL, "unsure lines");
    run->first_four = grid_keep(run, TML_VEC(TML_U32, 4), run->lines, NULL, "first crossings");
    run->firsts = grid_keep(run, TML_U32, run->lines, NULL, "first crossings");
    run->unsure = grid_keep(run, TML_U32, run->lines, NULL, "unsure lines");
    program p = grid_begin(run);
    const tml_buffer crossings = program_array(&p, TML_U32, 1);
    const tml_buffer unsure = program_array(&p, TML_U32, 1);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_count_line),
                                    .in = {run->boxes, run->triangles, run->plan},
                                    .out = {run->counts, run->is_unsure, run->first_four}});
    program_scan(&p, &(tml_scan_desc){.in = run->counts, .out = run->firsts, .total = crossings});
    program_compact(&p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_unsure_line),
                                                     .in = {run->is_unsure}},
                                            .indices = run->unsure,
                                            .count = unsure});
    program_read(&p, crossings, &run->crossing_count);
    program_read(&p, unsure, &run->unsure_count);
    finish(run, &p);
}

static void tell_task(void *argument, uint32_t task)
{
    const grid_run *run = argument;
    const uint32_t line = run->list[task], wide = run->dims[0];
    points_line told = {.tree = run->desc->tree,
                        .x = run->at[0],
                        .count = wide,
                        .y = run->at[1][line % run->dims[1]],
                        .z = run->at[2][line / run->dims[1]],
                        .is_winding = run->desc->rule == TML_TREE_RULE_WINDING,
                        .sides = run->sides + (size_t)task * wide};
    SIMD_CHOOSE(points_loops)->cross_line(&told);
    /* Packs sixteen sides per word, in place: a word is not after the sides that it receives. */
    for (uint32_t first = 0; first < wide; first += 16) {
        uint32_t word = 0;
        for (uint32_t x = first; x < wide && x < first + 16; x++)
            word |= told.sides[x] << 2 * (x - first);
        told.sides[first / 16] = word;
    }
}

/* Decides the sides of the unsure lines on the host. Returns them in a buffer. */
static tml_buffer lines_tell(grid_run *run)
{
    const uint64_t count = run->unsure_count, words = TML_CEIL_DIV(run->dims[0], 16u);
    tml_buffer told = {0, 0};
    if (count == 0)
        return grid_keep(run, TML_U32, 1, NULL, "sides of lines");
    run->list = tml_alloc_array(run->tml, count, sizeof *run->list);
    run->sides = tml_alloc_array(run->tml, count * run->dims[0], sizeof *run->sides);
    if (!run->list || !run->sides)
        run->status = tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu lines",
                                call, (size_t)count);
    TML_THEN(run->status, tml_buffer_read_range(run->tml, run->unsure, 0, count, run->list));
    if (run->status == TML_OK) {
        tml_parallel_for(run->tml, (uint32_t)count, tell_task, run);
        for (uint64_t i = 1; i < count; i++)
            memmove(run->sides + i * words, run->sides + i * run->dims[0],
                    (size_t)words * sizeof *run->sides);
        told = grid_keep(run, TML_U32, count * words, run->sides, "sides of lines");
    }
    if (run->list)
        tml_free(run->tml, run->list, (size_t)count * sizeof *run->list);
    if (run->sides)
        tml_free(run->tml, run->sides, (size_t)count * run->dims[0] * sizeof *run->sides);
    return told;
}

static void sides_fill(grid_run *run)
{
    const tml_buffer told = lines_tell(run);
    program p = grid_begin(run);
    const tml_buffer crossings = program_array(&p, TML_U32, TML_MAX_OF(run->crossing_count, 1u));
    const tml_buffer bounds = program_array(&p, TML_VEC(TML_U32, 2), run->lines);
    program_expand(
        &p, &(tml_expand_desc){.counts = run->counts,
                               .emit_kernel = TML_USE(collide_line_crossing),
                               .in = {run->first_four, run->boxes, run->triangles, run->plan},
                               .out = {crossings}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_line_crossings),
                                    .params = {.u = {run->unsure_count}},
                                    .in = {run->firsts, run->counts, run->is_unsure, run->unsure},
                                    .out = {bounds}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_fill_sides),
                                    .params = {.u = {TML_CEIL_DIV(run->dims[0], 16u)}},
                                    .in = {bounds, crossings, told, run->plan},
                                    .length = tml_length_of(run->samples),
                                    .out = {run->desc->out}});
    finish(run, &p);
}

static void band_fill(grid_run *run)
{
    program p = grid_begin(run);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_fill_band),
                                    .params = {.f = {run->band}},
                                    .length = tml_length_of(run->samples),
                                    .out = {run->desc->out}});
    finish(run, &p);
}

/* Lists the blocks that the map `tell` finds near. Returns their number. */
static uint32_t near_list(grid_run *run, const tml_map_desc *tell, uint64_t blocks, tml_buffer list)
{
    program p = grid_begin(run);
    tml_map_desc map = *tell;
    uint32_t count = 0;
    map.out[0] = program_array(&p, TML_U32, blocks);
    const tml_buffer total = program_array(&p, TML_U32, 1);
    program_map(&p, &map);
    program_compact(&p, &(tml_compact_desc){
                            .keep = {.kernel = TML_USE(collide_is_told_near), .in = {map.out[0]}},
                            .indices = list,
                            .count = total});
    program_read(&p, total, &count);
    finish(run, &p);
    return count;
}

/* Lists near blocks in run->near: indices among the blocks of those in run->near_large. */
static void blocks_list(grid_run *run)
{
    run->near_large = grid_keep(run, TML_U32, run->large_blocks, NULL, "large near blocks");
    run->large_count = near_list(run,
                                 &(tml_map_desc){.kernel = TML_USE(collide_near_large),
                                                 .in = {run->boxes, run->triangles, run->plan}},
                                 run->large_blocks, run->near_large);
    if (run->large_count == 0 || run->large_count > LARGE_MOST)
        return;
    const uint64_t blocks = (uint64_t)BLOCKS_A_LARGE * run->large_count;
    run->near = grid_keep(run, TML_U32, blocks, NULL, "near blocks");
    run->near_count =
        near_list(run,
                  &(tml_map_desc){.kernel = TML_USE(collide_near_block),
                                  .in = {run->near_large, run->boxes, run->triangles, run->plan}},
                  blocks, run->near);
}

/* Adds: give distances the signs of what is in out, and write them to their places in out. */
static void add_distances(program *p, tml_buffer distances, tml_buffer places, tml_length length,
                          tml_buffer out)
{
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_take_sign),
                                   .in = {distances, places, out},
                                   .length = length,
                                   .out = {distances}});
    program_scatter(
        p, &(tml_gather_desc){.indices = places, .length = length, .payloads = {{distances, out}}});
}

/* Computes the distances of `blocks` near blocks from number `first` on. */
static void round_run(grid_run *run, uint32_t first, uint32_t blocks)
{
    const tml_type vector = TML_VEC(TML_U32, 4);
    const uint64_t samples = (uint64_t)SAMPLES_A_BLOCK * blocks;
    program p = grid_begin(run);
    tml_buffer parts[4]; /* each block's list of near leaves */
    for (int i = 0; i < 4; i++)
        parts[i] = program_array(&p, vector, blocks);
    const tml_buffer cuts = program_array(&p, vector, (uint64_t)blocks * COLLIDE_CUT / 4);
    const tml_buffer slots = program_array(&p, vector, samples); /* triangles near each sample */
    const tml_buffer distances = program_array(&p, TML_F32, samples);
    const tml_buffer places = program_array(&p, TML_U32, samples);
    const tml_buffer more = program_array(&p, TML_U32, samples); /* not 0: not all are listed */
    const tml_buffer more_distances = program_array(&p, TML_F32, samples);
    const tml_buffer more_places = program_array(&p, TML_U32, samples);
    const tml_buffer more_count = program_array(&p, TML_U32, 1);
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_cut_block),
                                    .params = {.u = {first}},
                                    .in = {run->near, run->near_large, run->boxes, run->plan},
                                    .out = {parts[0], parts[1], parts[2], parts[3]}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_join_cut),
                                    .in = {parts[0], parts[1], parts[2], parts[3]},
                                    .out = {cuts}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_list_nearest),
                                    .in = {cuts, run->boxes, run->triangles, run->plan},
                                    .out = {slots}});
    program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_look_up),
                                    .in = {slots, cuts, run->triangles, run->plan},
                                    .out = {distances, places, more}});
    add_distances(&p, distances, places, tml_length_of(samples), run->desc->out);
    program_expand(&p, &(tml_expand_desc){.counts = more,
                                          .emit_kernel = TML_USE(collide_look_up_more),
                                          .in = {cuts, run->boxes, run->triangles, run->plan},
                                          .out = {more_distances, more_places},
                                          .total = more_count});
    add_distances(&p, more_distances, more_places,
                  (tml_length){.count = samples, .device = more_count, .exact = true},
                  run->desc->out);
    finish(run, &p);
}

static void distances_find(grid_run *run)
{
    for (uint32_t first = 0; first < run->near_count && run->status == TML_OK;
         first += BLOCKS_A_ROUND) {
        if (tml_progress(run->tml, "distances", (double)first / (double)run->near_count))
            round_run(run, first, TML_MIN_OF(run->near_count - first, (uint32_t)BLOCKS_A_ROUND));
        else
            run->status = tml_error(run->tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
    }
}

static void run_all(grid_run *run, bool *is_told)
{
    plan_make(run);
    TML_THEN(run->status, tree_on_device(run->tml, run->desc->tree, &run->boxes, &run->triangles));
    blocks_list(run);
    if (run->desc->is_signed)
        lines_count(run);
    *is_told = run->large_count <= LARGE_MOST && run->unsure_count <= run->lines / UNSURE_PART &&
               run->crossing_count <= run->lines * CROSSINGS_A_LINE;
    if (run->status != TML_OK || !*is_told)
        return;
    if (run->desc->is_signed)
        sides_fill(run);
    else
        band_fill(run);
    distances_find(run);
    TML_THEN(run->status, tml_sync(run->tml));
}

/* Whether floats can decide tests with these coordinates. */
static bool is_usual(const float *at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (collide_is_odd(VEC3(at[i], 0.0f, 0.0f)))
            return false;
    return true;
}

tml_status grid_on_device(tml_context *tml, const tml_tree_distance_grid_desc *desc,
                          const float *const *at, bool *is_told)
{
    grid_run run = {.tml = tml, .desc = desc, .at = at, .samples = 1};
    for (int k = 0; k < 3; k++) {
        run.dims[k] = (uint32_t)desc->grid.dims[k];
        run.samples *= run.dims[k];
    }
    run.lines = run.samples / run.dims[0];
    run.band = desc->band > 0 ? desc->band : INFINITY;
    *is_told = false;
    tree_learn(tml);
    if (run.samples < POINTS_LEAST || run.samples > MOST_SAMPLES ||
        desc->rule == TML_TREE_RULE_SOLID_ANGLE || !points_run_on_device(tml, desc->tree) ||
        !is_usual(at[0], (uint64_t)run.dims[0] + run.dims[1] + run.dims[2]) ||
        !stream_supports_op(tml, stream_map.parts[tml->engine->part],
                            &(tml_map_desc){.kernel = TML_USE(collide_look_up)}))
        return TML_OK;
    run_all(&run, is_told);
    tml_buffer_destroy(tml, run.plan);
    for (uint32_t i = 0; i < run.kept_count; i++)
        tml_buffer_destroy(tml, run.kept[i]);
    return run.status;
}

#include "kernels/kernel_end.h"
