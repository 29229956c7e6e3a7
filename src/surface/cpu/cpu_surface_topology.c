/* The open cells of surfaces on the CPU. COUNT chooses their meshes, and keeps one number per cell
 * for EMIT. See surface/surface_topology.h. */
#include <inttypes.h>
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface.k.h"
/* Undefines the short names of kernel.h, which are not used below. */
#include "kernels/kernel_end.h"

/* ---- the open cells of a row ----------------------------------------------------------------- */

/* A walk over the open cells of a row: a group of words, and the samples around the row. */
typedef struct open_walk {
    const surface_job *job;
    uint64_t y, z;
    surface_rows bits;
    uint64_t first, words, word;
    surface_word found[GROUP_WORDS];
    const unsigned char *samples[4]; /* four rows of the whole volume */
} open_walk;

static topology_cell open_cell(const surface_job *job)
{
    return (topology_cell){.type = job->plan->type, .iso = job->space->part->iso};
}

static void walk_begin(open_walk *walk, const surface_job *job, uint64_t y, uint64_t z)
{
    walk->job = job;
    walk->y = y;
    walk->z = z;
    walk->bits = rows_at(job->space, y, z);
    walk->first = walk->words = walk->word = 0;
}

static void walk_take_samples(open_walk *walk)
{
    const workspace *space = walk->job->space;
    for (uint64_t i = 0; i < 4; i++)
        walk->samples[i] = sample_row(walk->job, box_index(space, 1, walk->y + (i & 1)),
                                      box_index(space, 2, walk->z + (i >> 1)));
}

/* Marks the open cells of the next group of words. Returns false after the last group. */
static bool walk_on(open_walk *walk)
{
    const workspace *space = walk->job->space;
    const surface_word *mask =
        space->cells ? plane_row(space, space->cells, walk->y, walk->z) : space->x_mask;
    surface_rows rows = walk->bits;
    walk->first += walk->words;
    walk->words = TML_MIN_OF(space->words - walk->first, (uint64_t)GROUP_WORDS);
    walk->word = 0;
    if (walk->words == 0)
        return false;
    for (int i = 0; i < 4; i++)
        rows.row[i] += walk->first;
    if (!walk->job->simd->open(&rows, walk->words, mask + walk->first, walk->found))
        walk->word = walk->words;
    return true;
}

/* Returns the next cell's place on the row and its case. Returns false if there is none. */
static bool walk_next(open_walk *walk, uint64_t *x, unsigned *index)
{
    for (;;) {
        for (; walk->word < walk->words; walk->word++) {
            surface_word *word = &walk->found[walk->word];
            if (!*word)
                continue;
            const unsigned bit = (unsigned)__builtin_ctzll(*word);
            *word &= *word - 1;
            *x = 64 * (walk->first + walk->word) + bit;
            *index = case_of(&walk->bits, walk->first + walk->word, bit);
            return true;
        }
        if (!walk_on(walk))
            return false;
    }
}

/* Reads the corners of the cell at x. */
static void walk_read(const open_walk *walk, uint64_t x, topology_cell *cell)
{
    const surface_job *job = walk->job;
    const workspace *space = job->space;
    if (!space->pad) {
        topology_set_corners(cell, walk->samples, space->part->box.first[0] + x);
        return;
    }
    cell->pads = 0;
    for (unsigned c = 0; c < 8; c++) {
        const uint64_t at[3] = {x + (c & 1), walk->y + (c >> 1 & 1), walk->z + (c >> 2)};
        for (int a = 0; a < 3; a++)
            cell->pads |= (unsigned)is_in_pad(space, a, at[a]) << c;
        topology_set_corner(cell, c,
                            walk->samples[c >> 1] + box_index(space, 0, at[0]) * job->sample_size);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Chooses the meshes of a row's open cells. Returns how many more triangles they have than
 * separated cells, modulo 2^64. */
static uint64_t find_row_meshes(const surface_job *job, uint64_t y, uint64_t z,
                                topology_cell cells[TOPOLOGY_BATCH], open_entry *row)
{
    uint16_t *mesh = meshes_of_row(job->space, y, z);
    topology_faces faces[TOPOLOGY_BATCH];
    uint64_t triangles = 0;
    open_walk walk;
    walk_begin(&walk, job, y, z);
    walk_take_samples(&walk);
    for (uint32_t left = row->count; left > 0;) {
        const uint32_t count = TML_MIN_OF(left, (uint32_t)TOPOLOGY_BATCH);
        uint64_t x = 0;
        for (uint32_t i = 0; i < count && walk_next(&walk, &x, &cells[i].index); i++)
            walk_read(&walk, x, &cells[i]);
        job->simd->look_at_faces(cells, count, faces);
        for (uint32_t i = 0; i < count; i++) {
            *mesh = topology_find(&cells[i], faces[i]);
            const topology_mesh *found = &topology_meshes[*mesh++];
            triangles += found->triangle_count;
            triangles -= topology_separated_count(cells[i].index);
            row->own += found->own_count;
        }
        left -= count;
    }
    return triangles;
}

static void meshes_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    workspace *space = job->space;
    if (tml_is_cancelled(job->tml))
        return;
    chunk_entry *chunk = &space->chunks[job->first_chunk + index];
    chunk_place place = chunk_locate(space, job->first_chunk + index);
    uint64_t vertices = 0;  /* own vertices of cells so far */
    uint64_t triangles = 0; /* surplus over separated cells, modulo 2^64 */
    topology_cell cells[TOPOLOGY_BATCH];
    for (int i = 0; i < TOPOLOGY_BATCH; i++)
        cells[i] = open_cell(job);
    for (uint64_t y = place.y_first; y < place.y_end; y++) {
        const uint64_t row = y + space->size[1] * place.z;
        open_entry *open = &space->open[row];
        space->entries[row].vertices += (uint32_t)vertices;
        space->entries[row].triangles += (uint32_t)triangles;
        if (!open->count)
            continue;
        triangles += find_row_meshes(job, y, place.z, cells, open);
        vertices += open->own;
    }
    chunk->vertices += vertices;
    chunk->triangles += triangles;
}

tml_status find_meshes(surface_job *job, uint64_t z_first, uint64_t z_end, double from, double to)
{
    workspace *space = job->space;
    uint64_t sum = 0;
    for (uint64_t c = z_first * space->chunks_per_slice; c < z_end * space->chunks_per_slice; c++) {
        const uint64_t count = space->chunks[c].open;
        space->chunks[c].open = sum;
        sum += count;
    }
    space->open_count = sum;
    if (sum == 0)
        return TML_OK;
    space->meshes = tml_alloc_array(job->tml, sum, sizeof *space->meshes);
    if (!space->meshes)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for the meshes of %" PRIu64 " ambiguous cells",
                         sum);
    job->plan->result->scratch_size += sum * sizeof *space->meshes;
    return run_windows(job, z_first, z_end, 0, 1, meshes_task, "topology", from, to);
}

void meshes_free(surface_job *job, workspace *space)
{
    if (space->meshes)
        tml_free(job->tml, space->meshes, space->open_count * sizeof *space->meshes);
    space->meshes = NULL;
}

/* ---- triangles and vertices ------------------------------------------------------------------ */

uint32_t *open_write(surface_open *open, const uint32_t counters[16], uint32_t *out)
{
    const topology_mesh *mesh = &topology_meshes[*open->meshes++];
    const uint8_t *corners = topology_corners + mesh->first;
    const uint32_t second = open->flips ? 2 : 1, third = 3 - second;
    uint32_t numbers[12 + TOPOLOGY_OWN_MOST];
    for (int edge = 0; edge < 12; edge++)
        numbers[edge] = counters[surface_lane_of_edge[edge]];
    for (uint32_t k = 0; k < TOPOLOGY_OWN_MOST; k++)
        numbers[12 + k] = open->own + k;
    for (uint32_t k = 0; k < 3u * mesh->triangle_count; k += 3) {
        out[k] = numbers[corners[k]];
        out[k + 1] = numbers[corners[k + second]];
        out[k + 2] = numbers[corners[k + third]];
    }
    open->own += mesh->own_count;
    return out + 3 * mesh->triangle_count;
}

/* Computes the coordinates of a cell's own vertex, in samples of the volume. With caps, a cell may
 * begin in a pad, where it has no extent. */
static void place_own(const workspace *space, const uint64_t at[3], const double in_cell[3],
                      double out[3])
{
    const surface_box *box = &space->part->box;
    for (int a = 0; a < 3; a++) {
        const double low = (double)box->first[a], high = low + (double)(box->count[a] - 1);
        out[a] = low + (double)at[a] - (double)pad_before(space, a) + in_cell[a];
        if (space->pad)
            out[a] = out[a] < low ? low : out[a] > high ? high : out[a];
    }
}

static float own_value(const surface_job *job, const uint64_t at[3], const double in_cell[3])
{
    const workspace *space = job->space;
    const tml_slot *attribute = job->plan->attribute;
    const uint64_t *dims = job->plan->dims;
    topology_cell cell = {.type = attribute->type};
    for (unsigned c = 0; c < 8; c++) {
        uint64_t index[3];
        for (unsigned a = 0; a < 3; a++)
            index[a] = box_index(space, (int)a, at[a] + (c >> a & 1));
        topology_set_corner(
            &cell, c,
            (const unsigned char *)attribute->memory +
                ((held_slice(job->plan, index[2]) * dims[1] + index[1]) * dims[0] + index[0]) *
                    attribute->element_size);
    }
    return (float)topology_mix(cell.values, in_cell);
}

static void own_normal(const surface_plan *plan, const topology_cell *cell, const double in_cell[3],
                       float out[3])
{
    const float(*rows)[3] = plan->axes.normal_rows;
    double gradient[3];
    topology_gradient(cell, in_cell, gradient);
    tml_vec3 n =
        surface_normal(tml_make3((float)gradient[0], (float)gradient[1], (float)gradient[2]),
                       tml_make3(rows[0][0], rows[0][1], rows[0][2]),
                       tml_make3(rows[1][0], rows[1][1], rows[1][2]),
                       tml_make3(rows[2][0], rows[2][1], rows[2][2]));
    memcpy(out, &n, sizeof n);
}

void open_vertices(const surface_job *job, uint64_t y, uint64_t z, uint64_t first)
{
    const surface_plan *plan = job->plan;
    const surface_layout *layout = surface_layout_of(plan);
    const uint16_t *mesh = meshes_of_row(job->space, y, z);
    open_walk walk;
    uint64_t at[3] = {0, y, z};
    topology_cell cell = open_cell(job);
    walk_begin(&walk, job, y, z);
    walk_take_samples(&walk);
    for (; walk_next(&walk, &at[0], &cell.index); mesh++) {
        const uint32_t count = topology_meshes[*mesh].own_count;
        double places[TOPOLOGY_OWN_MOST][3];
        if (!count)
            continue;
        walk_read(&walk, at[0], &cell);
        topology_place(&cell, *mesh, places);
        for (uint32_t k = 0; k < count; k++, first++) {
            double place[3];
            float position[3], normal[3], value;
            place_own(job->space, at, places[k], place);
            cpu_surface_position(&plan->axes, place, position);
            surface_store(plan->mesh.positions, layout->position, first, 1, position, 3);
            if (plan->mesh.vertex_normals) {
                own_normal(plan, &cell, places[k], normal);
                surface_store_normals(plan, first, 1, normal);
            }
            if (plan->mesh.vertex_values) {
                value = own_value(job, at, places[k]);
                surface_store(plan->mesh.vertex_values, layout->value, first, 1, &value, 1);
            }
        }
    }
}
