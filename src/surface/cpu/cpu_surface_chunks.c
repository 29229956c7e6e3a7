/* The ranges that the steps of a surface on the CPU iterate over: windows of samples, chunks of
 * rows, edges of a row. */
#include <math.h>
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

enum { SLAB_BYTES = 48 << 20 }; /* size of a field's slab */

/* ---- windows and tasks ----------------------------------------------------------------------- */

uint64_t field_slab_slices(const surface_plan *plan)
{
    uint64_t slice = plan->dims[0] * plan->dims[1] * sizeof(float);
    uint64_t slices = SLAB_BYTES / slice / FIELD_BRICK * FIELD_BRICK;
    return TML_MAX_OF(slices, (uint64_t)FIELD_BRICK);
}

/* Finds the samples of a workspace, along an axis, at most two away from a brick. Only vertices
 * among them read the brick: a gradient reads one sample beyond an edge. False: there are none. */
static bool samples_around(const workspace *space, int axis, uint64_t brick, uint64_t *first,
                           uint64_t *last)
{
    enum { AROUND = 2 };
    const int64_t low = (int64_t)(FIELD_BRICK * brick + pad_before(space, axis)) -
                        (int64_t)space->part->box.first[axis] - AROUND;
    const int64_t high = low + FIELD_BRICK - 1 + 2 * AROUND;
    *first = low > 0 ? (uint64_t)low : 0;
    *last = TML_MIN_OF((uint64_t)(high < 0 ? 0 : high), space->size[axis] - 1);
    return high >= 0 && *first <= *last;
}

/* Returns the bits first to last that are in word w, which begins at bit 64 w. */
static uint64_t bits_within(uint64_t w, uint64_t first, uint64_t last)
{
    uint64_t bits = UINT64_MAX;
    if (first > 64 * w)
        bits &= UINT64_MAX << (first - 64 * w);
    if (last < 64 * w + 63)
        bits &= UINT64_MAX >> (64 * w + 63 - last);
    return bits;
}

/* In a row of bricks, marks each brick with samples of both signs in or near it. */
static void mark_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    const workspace *space = job->space;
    const uint64_t bricks = field_bricks_along(job->plan->dims[0]),
                   rows = field_bricks_along(job->plan->dims[1]);
    uint8_t *marks = job->marks + index * bricks, found = 0;
    uint64_t y_first, y_last, z_first, z_last, any[2] = {0, 0}, all[2] = {0, 0}, known = 0;
    memset(marks, 0, bricks);
    if (!samples_around(space, 1, index % rows, &y_first, &y_last) ||
        !samples_around(space, 2, job->window.first / FIELD_BRICK + index / rows, &z_first,
                        &z_last))
        return;
    for (uint64_t z = z_first; z <= z_last; z++)
        for (uint64_t y = y_first; y <= y_last; y++)
            found |= space->flags[y + space->size[1] * z];
    if (!(found & ROW_INSIDE) || !(found & ROW_OUTSIDE))
        return;
    for (uint64_t b = 0; b < bricks; b++) {
        uint64_t first, last, inside = 0, outside = 0;
        if (!samples_around(space, 0, b, &first, &last))
            continue;
        for (uint64_t w = first / 64; w <= last / 64; w++) {
            if (known <= w) { /* words [0, known) are in any and all */
                known = w + 1;
                any[w % 2] = 0;
                all[w % 2] = UINT64_MAX;
                for (uint64_t z = z_first; z <= z_last; z++)
                    for (uint64_t y = y_first; y <= y_last; y++) {
                        const surface_word word = plane_row(space, space->bits, y, z)[w];
                        any[w % 2] |= word;
                        all[w % 2] &= word;
                    }
            }
            inside |= any[w % 2] & bits_within(w, first, last);
            outside |= ~all[w % 2] & bits_within(w, first, last);
        }
        marks[b] = inside && outside ? FIELD_MARKED : 0;
    }
}

/* Returns whether the field is outside, for all isovalues, where no point is near. most: receives
 * the limit of the largest isovalue. */
static bool is_background_outside(const surface_plan *plan, float *most)
{
    bool is_outside = true;
    *most = -INFINITY;
    for (uint32_t p = 0; p < plan->part_count; p++) {
        const float limit = surface_limits_of_part(plan, &plan->parts[p]).index_iso;
        is_outside &= field_background(plan->field) < limit;
        *most = TML_MAX_OF(*most, limit);
    }
    return is_outside;
}

tml_status window_load(surface_job *job, uint64_t first, uint64_t count, bool has_bits)
{
    const surface_plan *plan = job->plan;
    if (plan->volume) {
        uint64_t held = plan->held_count ? plan->held_count : plan->dims[2];
        job->window = (sample_window){plan->volume->memory, plan->held_first, held};
        return TML_OK;
    }
    job->window.first = first;
    job->window.count = count;
    if (!FIELD_HAS_MARKS)
        return field_slab(job->tml, plan->field, first, count,
                          (void *)(uintptr_t)job->window.samples);
    const uint64_t layers = (first + count - 1) / FIELD_BRICK - first / FIELD_BRICK + 1;
    float most;
    const bool finds = !has_bits && is_background_outside(plan, &most);
    if (has_bits)
        tml_parallel_for(job->tml, (uint32_t)(layers * field_bricks_along(plan->dims[1])),
                         mark_task, job);
    else if (!finds)
        memset(job->marks, FIELD_MARKED,
               layers * field_bricks_along(plan->dims[1]) * field_bricks_along(plan->dims[0]));
    return cpu_field_bricks(job->tml, plan->field, first, count, job->marks, finds ? &most : NULL,
                            (float *)(uintptr_t)job->window.samples);
}

tml_status run_windows(surface_job *job, uint64_t z_first, uint64_t z_end, uint64_t back,
                       uint64_t ahead, tml_task_fn task, const char *stage, double from, double to)
{
    const surface_plan *plan = job->plan;
    const workspace *space = job->space;
    uint64_t slices = plan->volume ? space->size[2] : field_slab_slices(plan);
    for (uint64_t z = z_first; z < z_end; z += slices) {
        uint64_t end = TML_MIN_OF(z + slices, z_end);
        uint64_t low = box_index(space, 2, z), high = box_index(space, 2, end - 1);
        low -= TML_MIN_OF(low, back);
        high = TML_MIN_OF(high + ahead, plan->dims[2] - 1);
        double start = tml_seconds();
        tml_status status = window_load(job, low, high - low + 1, true);
        if (plan->field)
            surface_time(plan->result, "field", tml_seconds() - start);
        if (status != TML_OK)
            return status;
        if (!run_chunks(job, z, end, task, stage,
                        from + (to - from) * (double)z / (double)space->size[2],
                        from + (to - from) * (double)end / (double)space->size[2]))
            return TML_ERROR_CANCELLED;
    }
    return TML_OK;
}

bool run_chunks(surface_job *job, uint64_t z_first, uint64_t z_end, tml_task_fn task,
                const char *stage, double from, double to)
{
    uint64_t first = z_first * job->space->chunks_per_slice;
    uint64_t end = z_end * job->space->chunks_per_slice;
    uint64_t batches = job->tml->progress ? 8 : 1;
    batches = TML_MAX_OF(batches, (end - first) >> 30); /* a task's number has 32 bits */
    double start = tml_seconds();
    for (uint64_t b = 0; b < batches; b++) {
        uint64_t low = first + (end - first) * b / batches;
        uint64_t high = first + (end - first) * (b + 1) / batches;
        job->first_chunk = low;
        tml_parallel_for(job->tml, (uint32_t)(high - low), task, job);
        if (surface_report(job->tml, job->plan, stage,
                           from + (to - from) * (double)(b + 1) / (double)batches) != TML_OK)
            return false;
    }
    surface_time(job->plan->result, stage, tml_seconds() - start);
    return true;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* Returns word w of the marks of cells at (y, z) with all corners present; 0 past the border. */
static surface_word present_cells(const workspace *space, uint64_t y, uint64_t z, uint64_t w)
{
    /* If y or z is -1, it wraps to a large number, which is past the border too. */
    return y < space->size[1] && z < space->size[2] ? plane_row(space, space->cells, y, z)[w] : 0;
}

/* Returns word w of the edges along an axis at (y, z) that touch a cell of present corners. */
static surface_word allowed_edges(const workspace *space, int axis, uint64_t y, uint64_t z,
                                  uint64_t w)
{
    surface_word here = 0, before = 0; /* words w and w - 1 of the cells around the edges */
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t dy = i & 1, dz = i >> 1;
        if ((axis == 1 && dy) || (axis == 2 && dz))
            continue; /* cells at x and x - 1 count instead */
        here |= present_cells(space, y - dy, z - dz, w);
        before |= axis && w ? present_cells(space, y - dy, z - dz, w - 1) : 0;
    }
    return axis ? here | here << 1 | before >> 63 : here;
}

uint64_t find_edges(const surface_simd *simd, const workspace *space, uint64_t y, uint64_t z,
                    uint64_t first, surface_edges *out)
{
    uint64_t words = TML_MIN_OF(space->words - first, (uint64_t)GROUP_WORDS);
    surface_rows rows = rows_at(space, y, z);
    for (int i = 0; i < 4; i++)
        rows.row[i] += first;
    simd->edges(&rows, words, space->sample_mask + first, space->x_mask + first, out);
    if (!space->cells)
        return words;
    for (int axis = 0; axis < 3; axis++) {
        for (uint64_t w = 0; w < words; w++)
            out->words[axis][w] &= allowed_edges(space, axis, y, z, first + w);
        out->runs[axis] = UINT64_MAX >> (64 - 4 * words); /* may mark a run without edges */
    }
    return words;
}
