/* Distances to a mesh on a grid, on the host. A task takes a tile of lines along x. The crossings
 * of a line with the mesh give the sides of its samples. The lines are then cut into blocks, and
 * the samples of blocks near the mesh search for their nearest triangle. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stream/desc.h"
#include "tree/tree_points_device.h"

static const char call[] = "tml_tree_distance_grid";

/* Samples along a block's edge, and tiles between two progress reports. */
enum { BLOCK = 8, TILES_A_ROUND = 64 };

typedef struct grid_job {
    const tml_tree_distance_grid_desc *desc;
    const points_loops *loops;
    const float *at[3]; /* coordinates of the samples per axis */
    uint32_t dims[3];
    uint32_t tiles_wide;
    uint64_t first_tile;
    float *out;
} grid_job;

typedef struct span {
    uint32_t first, end;
} span;

static span block_of(uint32_t number, uint32_t count)
{
    uint32_t first = number * BLOCK;
    return (span){first, count - first < BLOCK ? count : first + BLOCK};
}

static float *line_of(const grid_job *job, uint32_t y, uint32_t z)
{
    return job->out + (uint64_t)job->dims[0] * (y + (uint64_t)job->dims[1] * z);
}

static double limit_of(const grid_job *job)
{
    double band = job->desc->band > 0 ? (double)job->desc->band : (double)INFINITY;
    return band * band;
}

/* Returns the radius of a ball that contains the block, and sets its centre. */
static double ball_of(const grid_job *job, const span blocks[3], float center[3])
{
    double radius = 0;
    for (int k = 0; k < 3; k++) {
        float low = job->at[k][blocks[k].first], high = job->at[k][blocks[k].end - 1];
        center[k] = low / 2 + high / 2;
        double reach = fmax((double)high - (double)center[k], (double)center[k] - (double)low);
        radius += reach * reach;
    }
    return sqrt(radius) * (1 + 0x1p-40);
}

/* Whether any sample of the block may be within the band: searches for a triangle that is within
 * the band of the block's ball. */
static bool is_near(const grid_job *job, const span blocks[3])
{
    float center[3];
    if (!(job->desc->band > 0))
        return true;
    double limit = (ball_of(job, blocks, center) + (double)job->desc->band) * (1 + 0x1p-20);
    points_nearest nearest = points_none(job->desc->tree, center, limit * limit);
    job->loops->find(&nearest);
    return nearest.slot != COLLIDE_NO_TRIANGLE;
}

/* Decides the sides of a block by the solid angle: for the whole block at once if its ball has one
 * side, otherwise for each half of the block. */
static void sides_by_angle(const grid_job *job, const span blocks[3])
{
    float center[3];
    uint32_t longest = 0, lengths[3];
    for (uint32_t k = 0; k < 3; k++) {
        lengths[k] = blocks[k].end - blocks[k].first;
        longest = lengths[k] > lengths[longest] ? k : longest;
    }
    double radius = ball_of(job, blocks, center);
    bool is_sure = false;
    uint32_t side = TML_TREE_OUTSIDE;
    if (lengths[longest] == 1) {
        side = points_side_of(job->loops, job->desc->tree, job->desc->rule, center);
        is_sure = true;
    } else if (points_covers_half(job->loops, job->desc->tree, center, radius, &is_sure)) {
        side = TML_TREE_INSIDE;
    }
    if (!is_sure) {
        span halves[3] = {blocks[0], blocks[1], blocks[2]};
        halves[longest].end = blocks[longest].first + lengths[longest] / 2;
        sides_by_angle(job, halves);
        halves[longest] = (span){halves[longest].end, blocks[longest].end};
        sides_by_angle(job, halves);
        return;
    }
    for (uint32_t z = blocks[2].first; z < blocks[2].end; z++)
        for (uint32_t y = blocks[1].first; y < blocks[1].end; y++)
            for (uint32_t x = blocks[0].first; x < blocks[0].end; x++)
                memcpy(line_of(job, y, z) + x, &side, sizeof side);
}

static tml_tree_side side_at(const grid_job *job, const float *sample)
{
    uint32_t side = TML_TREE_OUTSIDE;
    if (job->desc->is_signed)
        memcpy(&side, sample, sizeof side);
    return (tml_tree_side)side;
}

/* The value of a sample: its distance from the nearest triangle, clamped to the band. */
static float distance_of(const grid_job *job, const points_nearest *nearest, tml_tree_side side)
{
    float band = job->desc->band;
    float distance = nearest->slot == COLLIDE_NO_TRIANGLE && band > 0 && side != TML_TREE_ON
                         ? INFINITY
                         : points_distance(job->loops, nearest, side);
    if (!(band > 0) || fabsf(distance) <= band)
        return distance;
    return side == TML_TREE_INSIDE ? -band : band;
}

/* Computes the block's samples in boustrophedon order, so that each sample is next to the one
 * before. The search for a sample starts with the triangle of that one. */
static void block_run(const grid_job *job, const span blocks[3])
{
    bool is_looked_up = is_near(job, blocks);
    points_nearest nearest = {.slot = COLLIDE_NO_TRIANGLE};
    uint32_t wide = blocks[0].end - blocks[0].first, high = blocks[1].end - blocks[1].first;
    for (uint32_t z = blocks[2].first; z < blocks[2].end; z++)
        for (uint32_t j = 0; j < high; j++) {
            uint32_t y = (z & 1) ? blocks[1].end - 1 - j : blocks[1].first + j;
            float *line = line_of(job, y, z);
            for (uint32_t i = 0; i < wide; i++) {
                uint32_t x = ((z ^ j) & 1) ? blocks[0].end - 1 - i : blocks[0].first + i;
                const float point[3] = {job->at[0][x], job->at[1][y], job->at[2][z]};
                uint32_t last = nearest.slot;
                nearest = points_none(job->desc->tree, point, limit_of(job));
                if (is_looked_up) {
                    if (last != COLLIDE_NO_TRIANGLE)
                        job->loops->offer(&nearest, last);
                    job->loops->find(&nearest);
                }
                line[x] = distance_of(job, &nearest, side_at(job, line + x));
            }
        }
}

static void tile_task(void *argument, uint32_t task)
{
    const grid_job *job = argument;
    uint64_t tile = job->first_tile + task;
    span blocks[3] = {{0, 0},
                      block_of((uint32_t)(tile % job->tiles_wide), job->dims[1]),
                      block_of((uint32_t)(tile / job->tiles_wide), job->dims[2])};
    bool by_angle = job->desc->rule == TML_TREE_RULE_SOLID_ANGLE;
    for (uint32_t z = blocks[2].first; z < blocks[2].end && job->desc->is_signed && !by_angle; z++)
        for (uint32_t y = blocks[1].first; y < blocks[1].end; y++) {
            points_line line = {.tree = job->desc->tree,
                                .x = job->at[0],
                                .count = job->dims[0],
                                .y = job->at[1][y],
                                .z = job->at[2][z],
                                .is_winding = job->desc->rule == TML_TREE_RULE_WINDING,
                                .sides = (uint32_t *)(void *)line_of(job, y, z)};
            job->loops->cross_line(&line);
        }
    for (uint32_t first = 0; first * BLOCK < job->dims[0]; first++) {
        blocks[0] = block_of(first, job->dims[0]);
        if (job->desc->is_signed && by_angle)
            sides_by_angle(job, blocks);
        block_run(job, blocks);
    }
}

static tml_status run_tiles(tml_context *tml, grid_job *job)
{
    job->tiles_wide = TML_CEIL_DIV(job->dims[1], BLOCK);
    uint64_t tiles = (uint64_t)job->tiles_wide * TML_CEIL_DIV(job->dims[2], BLOCK);
    for (; job->first_tile < tiles; job->first_tile += TILES_A_ROUND) {
        if (!tml_progress(tml, "distances", (double)job->first_tile / (double)tiles))
            return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
        uint64_t left = tiles - job->first_tile;
        tml_parallel_for(tml, (uint32_t)TML_MIN_OF(left, (uint64_t)TILES_A_ROUND), tile_task, job);
    }
    return TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks the grid and sets its defaults. Sides are below 2^30, like those of other volumes on GPUs,
 * and the number of samples fits 64 bits. */
static tml_status check_grid(tml_context *tml, tml_grid *grid, uint64_t *samples)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    bool is_turned = false, has_direction = false, has_spacing = false;
    for (int i = 0; i < 9; i++) {
        is_turned |= grid->direction[i] != identity[i];
        has_direction |= grid->direction[i] != 0;
    }
    if (is_turned && has_direction)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.grid.direction turns the grid, needs the identity, or zeros; "
                         "turn the mesh instead",
                         call);
    for (int k = 0; k < 3; k++)
        has_spacing |= grid->spacing[k] != 0;
    *samples = 1;
    for (int k = 0; k < 3; k++) {
        if (!has_spacing)
            grid->spacing[k] = 1;
        uint64_t dim = grid->dims[k];
        if (dim == 0 || dim >= (uint64_t)1 << 30 || *samples > ((uint64_t)1 << 40) / dim)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.grid.dims are %" PRIu64 " x %" PRIu64 " x %" PRIu64
                             ", needs 1 to 2^30 - 1 each and 2^40 samples at most",
                             call, grid->dims[0], grid->dims[1], grid->dims[2]);
        *samples *= dim;
        double last = grid->origin[k] + grid->spacing[k] * (double)(dim - 1);
        if (!(grid->spacing[k] > 0) || !(fabs(grid->origin[k]) <= (double)FLT_MAX) ||
            !(fabs(last) <= (double)FLT_MAX))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.grid has samples from %g to %g along axis %d, %g apart; "
                             "needs a positive spacing and ends that are floats",
                             call, grid->origin[k], last, k, grid->spacing[k]);
    }
    return TML_OK;
}

enum { TREE, RULE, BAND, OUT };
static const desc_range lengths = {0, FLT_MAX, "a length, or 0 for distances everywhere"};
static const desc_row rows[] = {
    [TREE] = DESC_ROW(tml_tree_distance_grid_desc, tree, DESC_POINTER, .of = "a tree"),
    [RULE] = DESC_ROW(tml_tree_distance_grid_desc, rule, DESC_ENUM, .of = "tml_tree_rule",
                      .most = TML_TREE_RULE_SOLID_ANGLE),
    [BAND] = DESC_ROW(tml_tree_distance_grid_desc, band, DESC_F32, .range = &lengths),
    [OUT] = DESC_ROW(tml_tree_distance_grid_desc, out, DESC_OUT, .types = stream_f32_types,
                     .count = DESC_SECOND)};

static tml_status grid_check_desc(tml_context *tml, tml_tree_distance_grid_desc *desc)
{
    desc_numbers numbers = {0};
    tml_status status = check_grid(tml, &desc->grid, &numbers.of[DESC_SECOND]);
    TML_THEN(status, desc_check(tml, call, &DESC_TABLE(rows), desc, &numbers));
    TML_THEN(status, tml_refuse_recording(tml, call, NULL));
    TML_THEN(status, tree_fetch(tml, call, desc->tree, COLLIDE_STALE_ALL));
    if (status == TML_OK && desc->is_signed)
        status = points_prepare_rule(tml, call, desc->tree, desc->rule);
    return status;
}

/* Writes the samples' coordinates to memory, axis after axis. */
static void place_samples(grid_job *job, const tml_grid *grid, float *memory)
{
    for (int k = 0; k < 3; k++) {
        job->at[k] = memory;
        job->dims[k] = (uint32_t)grid->dims[k];
        for (uint32_t i = 0; i < job->dims[k]; i++)
            *memory++ = (float)(grid->origin[k] + grid->spacing[k] * (double)i);
    }
}

static tml_status distance_grid(tml_context *tml, const tml_tree_distance_grid_desc *given)
{
    tml_tree_distance_grid_desc desc = *given;
    grid_job job = {.desc = &desc, .loops = SIMD_CHOOSE(points_loops)};
    tml_status status = grid_check_desc(tml, &desc);
    if (status != TML_OK)
        return status;
    uint64_t count = desc.grid.dims[0] + desc.grid.dims[1] + desc.grid.dims[2];
    float *memory = tml_alloc_array(tml, count, sizeof *memory);
    if (!memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %" PRIu64 " coordinates",
                         call, count);
    place_samples(&job, &desc.grid, memory);
    bool is_told = false;
    void *out = NULL;
    status = grid_on_device(tml, &desc, (const float *const *)job.at, &is_told);
    if (status == TML_OK && !is_told)
        status = tml_buffer_map(tml, desc.out, &out);
    if (out) {
        job.out = out;
        status = run_tiles(tml, &job);
        tml_buffer_unmap(tml, desc.out);
    }
    tml_free(tml, memory, count * sizeof *memory);
    return status;
}

tml_status tml_tree_distance_grid(tml_context *tml, const tml_tree_distance_grid_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, distance_grid(tml, desc));
}
