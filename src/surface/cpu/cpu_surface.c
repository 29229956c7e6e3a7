/* The surface on the CPU, part one: sign bits, counts and their prefix sums.
 *
 * The volume is read once, into one sign bit per sample. Topology is then arithmetic on words of
 * sign bits, which stay in cache. Crossed edges are the exclusive or of neighbouring rows; vertices
 * are their population count; surface_triangles counts triangles without the case table. */
#include <inttypes.h>
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface.k.h"
#include "surface_tables.k.h"
/* Undefines the short names of kernel.h, which are not used below. */
#include "kernels/kernel_end.h"

/* Samples per chunk: enough to amortise a task, few enough for load balance and cache. */
enum { CHUNK_SAMPLES = 1 << 15, CHUNK_ROWS_MAX = 256 };
/* Halo layers of a field's slab: one below, two above (surface_emit). */
enum { GHOST_SLICES = 3 };

/* ---- workspaces ------------------------------------------------------------------------------ */

static void workspace_layout(const surface_plan *plan, surface_part *part, workspace *space,
                             cpu_arena *arena)
{
    surface_space of_part = surface_space_of(plan, part);
    *space = (workspace){.part = part,
                         .pad = of_part.pad,
                         .pad_below = of_part.pad_low,
                         .pad_above = of_part.pad_high,
                         .own_first = of_part.own_first,
                         .own_end = of_part.own_end};
    memcpy(space->size, of_part.size, sizeof space->size);
    space->words = (space->size[0] + 63) / 64;
    space->rows = space->size[1] * space->size[2];
    uint64_t rows = CHUNK_SAMPLES / space->size[0] + 1;
    rows = TML_MIN_OF(rows, (uint64_t)CHUNK_ROWS_MAX);
    space->chunk_rows = TML_MIN_OF(rows, space->size[1]);
    space->chunks_per_slice = TML_CEIL_DIV(space->size[1], space->chunk_rows);
    space->chunk_count = space->chunks_per_slice * space->size[2];
    /* One more word, as count_row reads one word past the last row. */
    space->bits = cpu_arena_take(arena, space->rows * space->words + 1, sizeof(surface_word));
    space->sample_mask = cpu_arena_take(arena, 3 * space->words, sizeof(surface_word));
    space->x_mask = space->sample_mask ? space->sample_mask + space->words : NULL;
    space->no_mask = space->sample_mask ? space->sample_mask + 2 * space->words : NULL;
    space->entries = cpu_arena_take(arena, space->rows, sizeof(row_entry));
    space->flags = cpu_arena_take(arena, space->rows, 1);
    space->open = plan->trilinear ? cpu_arena_take(arena, space->rows, sizeof(open_entry)) : NULL;
    space->chunks = cpu_arena_take(arena, space->chunk_count, sizeof(chunk_entry));
}

/* Lays out the start of the scratch block: the workspace structs of all parts, a field's slab, and
 * the marks of the slab's bricks. */
static void layout_head(const surface_plan *plan, cpu_arena *arena, workspace **spaces,
                        float **slab, uint8_t **marks)
{
    uint64_t slice = plan->dims[0] * plan->dims[1];
    *spaces = cpu_arena_take(arena, plan->part_count, sizeof **spaces);
    *slab = NULL;
    *marks = NULL;
    if (!plan->field)
        return;
    *slab = cpu_arena_take(arena, (field_slab_slices(plan) + GHOST_SLICES) * slice, sizeof(float));
    /* A slab with a halo may begin and end within bricks. field_row_bits reads the marks of nine
     * bricks at a time. */
    *marks = cpu_arena_take(arena,
                            field_bricks_along(plan->dims[0]) * field_bricks_along(plan->dims[1]) *
                                    (field_slab_slices(plan) / FIELD_BRICK + 2) +
                                FIELD_BRICK,
                            1);
}

/* Lays out the scratch block: the start, then the arrays of the workspaces. The workspaces of
 * labels share one place. An arena without memory only adds up sizes. */
static void layout(const surface_plan *plan, cpu_arena *arena)
{
    workspace *spaces;
    float *slab;
    uint8_t *marks;
    layout_head(plan, arena, &spaces, &slab, &marks);
    cpu_arena start = *arena;
    for (uint32_t p = 0; p < plan->part_count; p++) {
        workspace ignored;
        cpu_arena turn = plan->labels ? start : *arena;
        workspace_layout(plan, &plan->parts[p], spaces ? &spaces[p] : &ignored, &turn);
        arena->size = TML_MAX_OF(arena->size, turn.size);
    }
}

static bool makes_mesh(const surface_plan *plan)
{
    return plan->stage == SURFACE_COUNT || plan->stage == SURFACE_EMIT;
}

static size_t cpu_surface_scratch_size(tml_context *tml, const void *desc)
{
    (void)tml;
    cpu_arena arena = {NULL, 0};
    if (makes_mesh(desc))
        layout(desc, &arena);
    return arena.size;
}

/* ---- thresholds ------------------------------------------------------------------------------ */

static threshold threshold_of(const surface_plan *plan, const surface_part *part)
{
    surface_limits limits = surface_limits_of_part(plan, part);
    if (plan->type == TML_F64)
        return (threshold){.value.f64 = part->iso};
    if (tml_type_is_float(plan->type)) /* f16 samples are compared as floats */
        return (threshold){.value.f32 = limits.index_iso};
    threshold t = {.kind = limits.is_none      ? THRESHOLD_NONE
                           : limits.limit == 0 ? THRESHOLD_ALL
                                               : THRESHOLD_VALUE};
    const uint64_t value = surface_integer_key(plan->type, limits.limit);
    switch (tml_type_size(plan->type)) {
    case 1:
        t.value.u8 = (uint8_t)value;
        break;
    case 2:
        t.value.u16 = (uint16_t)value;
        break;
    case 4:
        t.value.u32 = (uint32_t)value;
        break;
    default:
        t.value.u64 = value;
    }
    return t;
}

/* Sets a workspace's threshold and masks. Clears the word past its bits. */
static void workspace_begin(const surface_plan *plan, workspace *space)
{
    space->limit = threshold_of(plan, space->part);
    uint64_t n = space->size[0];
    for (uint64_t w = 0; w < space->words; w++) {
        space->sample_mask[w] = n - 64 * w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n % 64) - 1;
        space->x_mask[w] = space->sample_mask[w];
        space->no_mask[w] = 0;
    }
    space->x_mask[(n - 1) / 64] &= ~((uint64_t)1 << (n - 1) % 64);
    space->bits[space->rows * space->words] = 0;
}

/* ---- sign bits ------------------------------------------------------------------------------- */

/* Shifts a row's bits by one column. In a workspace with a pad, column 0 is the pad. */
static void shift_into_pad(surface_word *row, uint64_t words)
{
    surface_word carry = 0;
    for (uint64_t w = 0; w < words; w++) {
        surface_word word = row[w];
        row[w] = word << 1 | carry;
        carry = word >> 63;
    }
}

/* Decides a word of samples by the range of its brick. Returns 1 if all are inside, 0 if all are
 * outside, -1 if undecided. */
static int index_answer(const surface_plan *plan, uint64_t word, uint64_t y, uint64_t z, double iso)
{
    uint64_t bricks_x = TML_CEIL_DIV(plan->dims[0], SURFACE_BRICK_X);
    uint64_t bricks_y = TML_CEIL_DIV(plan->dims[1], SURFACE_BRICK_Y);
    const float *range =
        (const float *)plan->index->memory +
        2 * (word + bricks_x * (y / SURFACE_BRICK_Y + bricks_y * (z / SURFACE_BRICK_Z)));
    if ((double)range[1] < iso)
        return 0;
    return (double)range[0] >= iso ? 1 : -1;
}

/* Computes the sign bits of row (y, z) of a field. Samples in unmarked bricks are outside. */
static uint32_t field_row_bits(const surface_job *job, const workspace *space, uint64_t y,
                               uint64_t z, surface_word *out)
{
    const surface_plan *plan = job->plan;
    const uint64_t n = space->part->box.count[0], first = space->part->box.first[0];
    const uint64_t shift = first % FIELD_BRICK;
    const unsigned char *samples = sample_row(job, y, z) + first * sizeof(float);
    const uint8_t *marks =
        job->marks + first / FIELD_BRICK +
        field_bricks_along(plan->dims[0]) *
            (y / FIELD_BRICK + field_bricks_along(plan->dims[1]) *
                                   (z / FIELD_BRICK - job->window.first / FIELD_BRICK));
    uint32_t flags = 0;
    for (uint64_t w = 0; 64 * w < n; w++, marks += FIELD_BRICK) {
        const uint64_t left = TML_MIN_OF(n - 64 * w, (uint64_t)64), own = UINT64_MAX >> (64 - left);
        uint64_t marked = 0;
        for (unsigned b = 0; b < FIELD_BRICK; b++)
            marked |= (uint64_t)marks[b] << (8 * b);
        if (shift)
            marked = marked >> shift | (uint64_t)marks[FIELD_BRICK] << (64 - shift);
        out[w] = 0;
        if (marked & own)
            job->simd->bits[TML_F32](samples + 256 * w, left, &space->limit.value, out + w);
        out[w] &= marked & own;
        flags |= (out[w] ? ROW_INSIDE : 0u) | (out[w] != own ? ROW_OUTSIDE : 0u);
    }
    return flags;
}

/* Computes the sign bits of row (y, z) of the volume, in the part's columns, without the pad. */
static uint32_t row_bits(const surface_job *job, const workspace *space, uint64_t y, uint64_t z,
                         surface_word *out)
{
    const threshold *limit = &space->limit;
    const surface_plan *plan = job->plan;
    const surface_part *part = space->part;
    uint64_t n = part->box.count[0];
    const unsigned char *samples = sample_row(job, y, z) + part->box.first[0] * job->sample_size;
    if (FIELD_HAS_MARKS && plan->field)
        return field_row_bits(job, space, y, z, out);
    if (plan->labels)
        return job->simd->equal[plan->type](samples, n, &limit->value, out);
    if (limit->kind != THRESHOLD_VALUE) {
        for (uint64_t w = 0; w < (n + 63) / 64; w++)
            out[w] = limit->kind == THRESHOLD_ALL
                         ? (n - 64 * w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n % 64) - 1)
                         : 0;
        return limit->kind == THRESHOLD_ALL ? ROW_INSIDE : ROW_OUTSIDE;
    }
    if (!plan->index)
        return job->simd->bits[plan->type](samples, n, &limit->value, out);
    uint32_t flags = 0;
    for (uint64_t w = 0; 64 * w < n; w++) {
        uint64_t left = TML_MIN_OF(n - 64 * w, (uint64_t)64);
        int answer = index_answer(plan, w, y, z, part->iso);
        if (answer < 0) {
            flags |= job->simd->bits[plan->type](samples + 64 * w * job->sample_size, left,
                                                 &limit->value, out + w);
        } else {
            out[w] = answer ? ~(uint64_t)0 >> (64 - left) : 0;
            flags |= answer ? ROW_INSIDE : ROW_OUTSIDE;
        }
    }
    return flags;
}

/* Computes the sign bits of a chunk's rows, for all isovalues or for one label. */
static void bits_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    if (tml_is_cancelled(job->tml))
        return;
    uint32_t parts = job->plan->labels ? 1 : job->plan->part_count;
    workspace *spaces = job->plan->labels ? job->space : job->spaces;
    chunk_place place = chunk_locate(job->space, job->first_chunk + index);
    for (uint64_t y = place.y_first; y < place.y_end; y++)
        for (uint32_t p = 0; p < parts; p++) { /* the row is in cache after the first part */
            workspace *space = &spaces[p];
            surface_word *out = space->bits + (y + space->size[1] * place.z) * space->words;
            uint8_t *flags = &space->flags[y + space->size[1] * place.z];
            if (is_in_pad(space, 1, y) || is_in_pad(space, 2, place.z)) {
                memset(out, 0, space->words * sizeof *out);
                *flags = ROW_OUTSIDE;
                continue;
            }
            out[space->words - 1] = 0; /* if the word is all pad, row_bits does not write it */
            uint32_t found =
                row_bits(job, space, box_index(space, 1, y), box_index(space, 2, place.z), out);
            if (space->pad) {
                shift_into_pad(out, space->words);
                found |= ROW_OUTSIDE;
            }
            if (found & ROW_NAN)
                atomic_store_explicit(&job->nan, true, memory_order_relaxed);
            *flags = (uint8_t)found;
        }
}

/* ---- missing samples ------------------------------------------------------------------------- */

static void present_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    workspace *space = job->space;
    const surface_plan *plan = job->plan;
    chunk_place place = chunk_locate(space, job->first_chunk + index);
    for (uint64_t y = place.y_first; y < place.y_end; y++) {
        surface_word *out = space->present + (y + space->size[1] * place.z) * space->words;
        memcpy(out, space->sample_mask, space->words * sizeof *out);
        if (is_in_pad(space, 1, y) || is_in_pad(space, 2, place.z))
            continue;
        uint64_t vy = box_index(space, 1, y), vz = box_index(space, 2, place.z);
        uint64_t first = space->part->box.first[0], n = space->part->box.count[0];
        job->simd->present[plan->type](sample_row(job, vy, vz) + first * job->sample_size, n, out);
        if (plan->mask) {
            const uint8_t *mask = (const uint8_t *)plan->mask->memory +
                                  (held_slice(plan, vz) * plan->dims[1] + vy) * plan->dims[0] +
                                  first;
            for (uint64_t i = 0; i < n; i++)
                if (!mask[i])
                    out[i / 64] &= ~((uint64_t)1 << i % 64);
        }
        if (space->pad) {
            shift_into_pad(out, space->words);
            uint64_t last = space->size[0] - 1;
            out[0] |= 1;
            out[last / 64] |= (uint64_t)1 << last % 64;
        }
    }
}

static void cells_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    workspace *space = job->space;
    chunk_place place = chunk_locate(space, job->first_chunk + index);
    for (uint64_t y = place.y_first; y < place.y_end; y++) {
        surface_word *out = space->cells + (y + space->size[1] * place.z) * space->words;
        memset(out, 0, space->words * sizeof *out);
        if (y + 1 == space->size[1] || place.z + 1 == space->size[2])
            continue;
        memcpy(out, space->x_mask, space->words * sizeof *out);
        for (uint64_t i = 0; i < 4; i++) {
            const surface_word *row =
                plane_row(space, space->present, y + (i & 1), place.z + (i >> 1));
            for (uint64_t w = 0; w < space->words; w++)
                out[w] &= row[w] & surface_step_x(row[w], row[w + 1]);
        }
    }
}

static tml_status find_missing(surface_job *job, double from, double to)
{
    workspace *space = job->space;
    uint64_t count = space->rows * space->words + 1, size = count * sizeof(surface_word);
    space->present = tml_alloc_array(job->tml, count, sizeof(surface_word));
    space->cells = tml_alloc_array(job->tml, count, sizeof(surface_word));
    if (!space->present || !space->cells)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for %" PRIu64 " bytes to mark missing samples",
                         2 * size);
    space->present[space->rows * space->words] = 0;
    space->cells[space->rows * space->words] = 0;
    job->plan->result->scratch_size += 2 * size;
    double middle = (from + to) / 2;
    if (!run_chunks(job, 0, space->size[2], present_task, "missing samples", from, middle) ||
        !run_chunks(job, 0, space->size[2], cells_task, "missing samples", middle, to))
        return TML_ERROR_CANCELLED;
    return TML_OK;
}

static void missing_free(surface_job *job, workspace *space)
{
    size_t size = (space->rows * space->words + 1) * sizeof(surface_word);
    tml_free(job->tml, space->present, size);
    tml_free(job->tml, space->cells, size);
    space->present = space->cells = NULL;
    if (has_open(space))
        meshes_free(job, space);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static surface_row_counts count_row_with_missing(const workspace *space, const surface_rows *rows,
                                                 uint64_t y, uint64_t z)
{
    surface_row_counts out = {{0}, 0, 0};
    surface_edges edges;
    for (uint64_t w = 0; w < space->words; w++) {
        if (w % GROUP_WORDS == 0)
            find_edges(&surface_simd_plain, space, y, z, w, &edges);
        for (int axis = 0; axis < 3; axis++)
            out.crossings[axis] +=
                (uint64_t)__builtin_popcountll(edges.words[axis][w % GROUP_WORDS]);
        surface_row_counts cells;
        surface_rows here = {
            {rows->row[0] + w, rows->row[1] + w, rows->row[2] + w, rows->row[3] + w}};
        const surface_word *mask = plane_row(space, space->cells, y, z) + w;
        surface_simd_plain.count(&here, 1, mask, mask, mask, &cells);
        out.triangles += cells.triangles;
        out.cells += cells.cells;
    }
    return out;
}

static void count_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    workspace *space = job->space;
    if (tml_is_cancelled(job->tml))
        return;
    uint64_t chunk = job->first_chunk + index;
    chunk_place place = chunk_locate(space, chunk);
    bool last_z = place.z + 1 == space->size[2];
    uint64_t vertices = 0, triangles = 0, cells = 0, open = 0;
    for (uint64_t y = place.y_first; y < place.y_end; y++) {
        row_entry *entry = &space->entries[y + space->size[1] * place.z];
        *entry = (row_entry){(uint32_t)vertices, (uint32_t)triangles, 0, 0};
        if (has_open(space))
            space->open[y + space->size[1] * place.z] = (open_entry){(uint32_t)open, 0, 0, 0};
        bool last_y = y + 1 == space->size[1];
        const uint8_t *flags = space->flags + y + space->size[1] * place.z;
        uint64_t next_z = last_z ? 0 : space->size[1];
        uint8_t found = flags[0] | flags[!last_y] | flags[next_z] | flags[next_z + !last_y];
        if (!(found & ROW_INSIDE) || !(found & ROW_OUTSIDE))
            continue; /* no crossed edge */
        surface_rows rows = rows_at(space, y, place.z);
        surface_row_counts counts;
        if (space->cells)
            counts = count_row_with_missing(space, &rows, y, place.z);
        else
            job->simd->count(&rows, space->words, space->sample_mask, space->x_mask,
                             last_y || last_z ? space->no_mask : space->x_mask, &counts);
        entry->x_edges = (uint32_t)counts.crossings[0];
        entry->y_edges = (uint32_t)counts.crossings[1];
        vertices += counts.crossings[0] + counts.crossings[1] + counts.crossings[2];
        if (has_open(space) && counts.cells) {
            const uint64_t *crossings = counts.crossings;
            open_entry *row = &space->open[y + space->size[1] * place.z];
            row->count = (uint32_t)job->simd->count_open(
                &rows, space->words,
                space->cells ? plane_row(space, space->cells, y, place.z) : space->x_mask);
            row->on_edges = (uint32_t)(crossings[0] + crossings[1] + crossings[2]);
            open += row->count;
        }
        triangles += counts.triangles;
        cells += counts.cells;
    }
    space->chunks[chunk] = (chunk_entry){vertices, triangles, cells, open};
}

/* Returns the end of the layers to count: own ones and one more, whose vertices triangles name. */
static uint64_t counted_end(const workspace *space)
{
    return TML_MIN_OF(space->own_end + 1, space->size[2]);
}

/* Computes the chunks' exclusive prefix sums, from the first own layer on, and the part's
 * totals. */
static void scan_chunks(workspace *space)
{
    surface_part *part = space->part;
    uint64_t own_end = space->own_end * space->chunks_per_slice;
    uint64_t end = counted_end(space) * space->chunks_per_slice;
    chunk_entry sum = {0, 0, 0, 0};
    part->vertex_count = part->triangle_count = part->active_cells = 0;
    for (uint64_t c = space->own_first * space->chunks_per_slice; c < end; c++) {
        chunk_entry counts = space->chunks[c];
        space->chunks[c].vertices = sum.vertices;
        space->chunks[c].triangles = sum.triangles;
        sum.vertices += counts.vertices;
        sum.triangles += counts.triangles;
        sum.cells += counts.cells;
        if (c + 1 != own_end)
            continue;
        part->vertex_count = sum.vertices;
        part->triangle_count = sum.triangles;
        part->active_cells = sum.cells;
    }
}

/* Computes the sign bits slab by slab. A volume is one slab. */
static tml_status make_bits(surface_job *job, double from, double to)
{
    const surface_plan *plan = job->plan;
    workspace *space = job->space;
    uint64_t slices = plan->volume ? space->size[2] : field_slab_slices(plan);
    for (uint64_t z = 0; z < space->size[2]; z += slices) {
        uint64_t end = TML_MIN_OF(z + slices, space->size[2]);
        double start = from + (to - from) * (double)z / (double)space->size[2];
        double stop = from + (to - from) * (double)end / (double)space->size[2];
        uint64_t low = box_index(space, 2, z), high = box_index(space, 2, end - 1);
        double began = tml_seconds();
        tml_status status = window_load(job, low, high - low + 1, false);
        if (plan->field)
            surface_time(plan->result, "field", tml_seconds() - began);
        if (status != TML_OK)
            return status;
        if (!run_chunks(job, z, end, bits_task, "sign bits", start, stop))
            return TML_ERROR_CANCELLED;
    }
    return TML_OK;
}

/* Computes sign bits, missing samples and counts: for all isovalues, or for job->space's label. */
static tml_status count_part(surface_job *job, double from, double to)
{
    const surface_plan *plan = job->plan;
    uint32_t together = plan->labels ? 1 : plan->part_count;
    workspace *spaces = plan->labels ? job->space : job->spaces;
    double span = (to - from) / (3.0 * together);
    for (uint32_t p = 0; p < together; p++)
        workspace_begin(plan, &spaces[p]);
    atomic_store_explicit(&job->nan, false, memory_order_relaxed);
    job->space = spaces;
    tml_status status = make_bits(job, from, from + span * together);
    bool missing = plan->mask || atomic_load_explicit(&job->nan, memory_order_relaxed);
    for (uint32_t p = 0; p < together && status == TML_OK; p++) {
        double at = from + span * (together + 2.0 * p);
        job->space = &spaces[p];
        if (missing)
            status = find_missing(job, at, at + span);
        const uint64_t first = job->space->own_first, end = counted_end(job->space);
        const double middle = at + (has_open(job->space) ? 1.2 : 2) * span;
        if (status == TML_OK &&
            !run_chunks(job, first, end, count_task, "counts", at + span, middle))
            status = TML_ERROR_CANCELLED;
        if (status == TML_OK && has_open(job->space))
            status = find_meshes(job, first, end, middle, at + 2 * span);
        if (status == TML_OK)
            scan_chunks(job->space);
    }
    return status;
}

/* ---- the operation --------------------------------------------------------------------------- */

/* Expands the case table, whose edges have the numbers 4 * axis + position. flip: exchanges the
 * second and third corner of each triangle. trilinear: open cases get no triangles. */
static void expand_cases(surface_case cases[256], bool flip, bool trilinear)
{
    static const uint8_t edge_of_counter[8] = {0, 1, 2, 3, 4, 6, 8, 10};
    for (unsigned i = 0; i < 256; i++) {
        surface_case *entry = &cases[i];
        *entry = (surface_case){.index_count = (uint8_t)(3 * surface_case_count[i])};
        if (SURFACE_HAS_TRILINEAR && trilinear && topology_is_open(i))
            entry->index_count = 0;
        for (unsigned k = 0; k < entry->index_count; k++) {
            uint32_t edge = surface_case_edges[2 * i + k / 8] >> (4 * (k % 8)) & 0xf;
            entry->lanes[flip ? k / 3 * 3 + (3 - k % 3) % 3 : k] = surface_lane_of_edge[edge];
        }
        for (unsigned c = 0; c < 8; c++) {
            unsigned edge = edge_of_counter[c];
            unsigned axis = edge / 4, place = edge % 4;
            unsigned low = axis == 0   ? (place & 1) << 1 | (place & 2) << 1
                           : axis == 1 ? (place & 1) | (place & 2) << 1
                                       : place;
            entry->advance[c] = (i >> low & 1) != (i >> (low | 1u << axis) & 1);
        }
    }
}

static tml_status count_and_emit(surface_job *job)
{
    const surface_plan *plan = job->plan;
    double from = plan->progress.first, to = plan->progress.last;
    if (plan->stage == SURFACE_COUNT && !plan->labels)
        return count_part(job, from, to);
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        double at = from + (to - from) * p / plan->part_count;
        double end = from + (to - from) * (p + 1) / plan->part_count;
        double middle = plan->labels ? (at + end) / 2 : at;
        job->space = &job->spaces[p];
        if (plan->labels)
            status = count_part(job, at, middle);
        if (plan->stage == SURFACE_EMIT && status == TML_OK)
            status = surface_emit(job, middle, end);
        missing_free(job, &job->spaces[p]);
    }
    return status;
}

static uint64_t triangles_of(const surface_plan *plan)
{
    uint64_t count = 0;
    for (uint32_t p = 0; p < plan->part_count; p++)
        count += plan->parts[p].triangle_count;
    return count;
}

/* Emits 32-bit indices to temporary memory, small for so few vertices, and narrows them. */
static tml_status emit_indices16(surface_job *job)
{
    const surface_plan *plan = job->plan;
    surface_plan wide = *plan;
    tml_slot indices = *plan->mesh.indices;
    const uint64_t count = triangles_of(plan);
    const size_t size = 3 * sizeof(uint32_t);
    indices.memory = tml_alloc_array(job->tml, count, size);
    if (!indices.memory && count)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for %" PRIu64 " triangles", count);
    wide.mesh.indices = &indices;
    job->plan = &wide;
    tml_status status = count_and_emit(job);
    job->plan = plan;
    if (status == TML_OK)
        surface_store_indices16(plan->mesh.indices->memory, indices.memory, count);
    tml_free(job->tml, indices.memory, count * size);
    return status;
}

static tml_status cpu_surface_run(tml_context *tml, const void *desc, void *scratch,
                                  size_t scratch_size)
{
    const surface_plan *plan = desc;
    surface_job job = {.tml = tml,
                       .plan = plan,
                       .simd = SIMD_CHOOSE_OF_3(surface_simd),
                       .sample_size = tml_type_size(plan->type)};
    atomic_init(&job.nan, false);
    if (plan->stage == SURFACE_INDEX)
        return surface_index_run(&job);
    if (plan->stage == SURFACE_SOUP)
        return surface_soup_run(&job);
    if (plan->stage == SURFACE_END) { /* COUNT ran without an EMIT */
        job.spaces = *plan->kept;
        *plan->kept = NULL;
        for (uint32_t p = 0; p < plan->part_count; p++)
            missing_free(&job, &job.spaces[p]);
        return TML_OK;
    }

    surface_case cases[256];
    expand_cases(cases, plan->axes.flip_winding, plan->trilinear);
    job.cases = cases;
    float *slab;
    if (plan->stage == SURFACE_COUNT) {
        layout(plan, &(cpu_arena){scratch, 0});
        plan->result->scratch_size = scratch_size;
    }
    /* EMIT uses the workspaces that COUNT left. */
    layout_head(plan, &(cpu_arena){scratch, 0}, &job.spaces, &slab, &job.marks);
    job.window.samples = (const unsigned char *)slab;
    const bool narrow = plan->stage == SURFACE_EMIT && surface_layout_of(plan)->indices16;
    tml_status status = (narrow ? emit_indices16 : count_and_emit)(&job);
    /* After a failure, no EMIT follows. Otherwise EMIT uses COUNT's marks of missing samples. */
    for (uint32_t p = 0; status != TML_OK && p < plan->part_count; p++)
        missing_free(&job, &job.spaces[p]);
    bool is_kept = plan->stage == SURFACE_COUNT && status == TML_OK && plan->part_count > 0;
    *plan->kept = is_kept ? job.spaces : NULL;
    return status;
}

/* ENQUEUE is for engines that count on a device. Here, tml_surface_enqueue calls tml_surface. */
static bool cpu_surface_supports(tml_context *tml, const void *desc)
{
    (void)tml;
    return ((const surface_plan *)desc)->stage != SURFACE_ENQUEUE;
}

const tml_engine_op cpu_op_surface = {
    .supports = cpu_surface_supports,
    .scratch_size = cpu_surface_scratch_size,
    .run = cpu_surface_run,
};
