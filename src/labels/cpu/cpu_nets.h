/* For the steps of surface nets on the CPU: loops over rows of cells and of samples, a group of
 * words at a time. */
#ifndef TML_CPU_NETS_H
#define TML_CPU_NETS_H

#include <string.h>

#include "cpu/cpu_parts.h"
#include "labels/surface_nets.h"

tml_status cpu_nets_place(nets_plan *plan); /* nets_steps */
tml_status cpu_nets_emit(nets_plan *plan);
tml_status cpu_nets_count_parts(nets_plan *plan);
tml_status cpu_nets_emit_parts(nets_plan *plan);
void cpu_nets_parts_free(nets_plan *plan);

/* The words of a group, and the word after it. Words past the row's end are undefined. */
typedef struct nets_group {
    nets_word words[NETS_GROUP + 1];
} nets_group;

ALWAYS_INLINE nets_group nets_load(const nets_word *row, uint64_t first)
{
    nets_group out;
    memcpy(out.words, row + first, sizeof out.words);
    return out;
}

/* The edges around a row of cells. x[y][z], y[z] and z[y] have edges along x, y and z at the cells'
 * lower and upper coordinates. Along y and z, a cell also has the edges of the next column. */
typedef struct nets_around {
    nets_group x[2][2], y[2], z[2];
} nets_around;

ALWAYS_INLINE void nets_load_around(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                                    uint64_t z, uint64_t first, nets_around *out)
{
    for (uint64_t k = 0; k < 2; k++) {
        out->x[0][k] = nets_load(nets_edges(plan, planes, 0, y, z + k), first);
        out->x[1][k] = nets_load(nets_edges(plan, planes, 0, y + 1, z + k), first);
        out->y[k] = nets_load(nets_edges(plan, planes, 1, y, z + k), first);
        out->z[k] = nets_load(nets_edges(plan, planes, 2, y + k, z), first);
    }
}

/* Returns for each cell whether the bit of its own or of the next column is set. */
ALWAYS_INLINE nets_word nets_both(const nets_group *edges, int i)
{
    return edges->words[i] | edges->words[i] >> 1 | edges->words[i + 1] << 63;
}

/* Finds the cells of a group that have a vertex, because one of their edges makes a face. */
ALWAYS_INLINE void nets_active_of(const nets_plan *plan, const nets_around *a, uint64_t first,
                                  nets_word out[NETS_GROUP])
{
    for (int i = 0; i < NETS_GROUP; i++)
        out[i] = a->x[0][0].words[i] | a->x[0][1].words[i] | a->x[1][0].words[i] |
                 a->x[1][1].words[i] | nets_both(&a->y[0], i) | nets_both(&a->y[1], i) |
                 nets_both(&a->z[0], i) | nets_both(&a->z[1], i);
    if (first + NETS_GROUP >= plan->words)
        for (int i = 0; i < NETS_GROUP; i++)
            out[i] &= plan->last_cells[i];
}
ALWAYS_INLINE void nets_active(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                               uint64_t z, uint64_t first, nets_word out[NETS_GROUP])
{
    nets_around a;
    nets_load_around(plan, planes, y, z, first, &a);
    nets_active_of(plan, &a, first, out);
}

/* As nets_active. Finds none if the row does not exist, before the first row or layer of cells or
 * after the last. */
ALWAYS_INLINE void nets_active_if_any(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                                      uint64_t z, uint64_t first, nets_word out[NETS_GROUP])
{
    if (y < nets_cells(plan, 1) && z < nets_cells(plan, 2))
        nets_active(plan, planes, y, z, first, out);
    else
        memset(out, 0, NETS_GROUP * sizeof *out);
}

/* Returns the vertices before a row of cells; 0 if the row does not exist. */
ALWAYS_INLINE uint64_t nets_row_vertices(const nets_plan *plan, const nets_planes *planes,
                                         uint64_t y, uint64_t z)
{
    return y < nets_cells(plan, 1) && z < nets_cells(plan, 2)
               ? planes->vertex_first[z] + planes->vertex_rows[nets_row(plan, y, z)]
               : 0;
}
/* Does a row of cells have vertices, or a row of samples faces? Requires that row y + 1 exists. */
ALWAYS_INLINE bool nets_has_vertices(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                                     uint64_t z)
{
    const uint32_t *rows = planes->vertex_rows + nets_row(plan, y, z);
    return rows[0] != rows[1];
}
ALWAYS_INLINE bool nets_has_faces(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                                  uint64_t z)
{
    const uint32_t *rows = planes->face_rows + nets_row(plan, y, z);
    return rows[0] != rows[1];
}

ALWAYS_INLINE uint64_t nets_ones(nets_word word)
{
    return (uint64_t)__builtin_popcountll(word);
}
ALWAYS_INLINE nets_word nets_below(int bit)
{
    return ((nets_word)1 << bit) - 1;
}

/* ---- faces ----------------------------------------------------------------------------------- */

ALWAYS_INLINE tml_vec3 nets_place_of(const nets_plan *plan, uint64_t vertex)
{
    const float *at = plan->places + 3 * vertex;
    return tml_make3(at[0], at[1], at[2]);
}
/* Is a quad cut from corner 1 to corner 3? */
ALWAYS_INLINE bool nets_is_cut_other_way(const nets_plan *plan, const uint64_t corner[4])
{
    return !plan->quads &&
           nets_cuts_other_way(nets_place_of(plan, corner[0]), nets_place_of(plan, corner[1]),
                               nets_place_of(plan, corner[2]), nets_place_of(plan, corner[3]));
}

/* Writes face n. Its corners are counter-clockwise as seen from the side of label other. */
ALWAYS_INLINE void nets_write_face(const nets_plan *plan, uint64_t n, const uint64_t corner[4],
                                   bool cuts_other_way, uint64_t label, uint64_t other)
{
    static const uint8_t orders[3][6] = {{0, 1, 2, 0, 2, 3}, {1, 2, 3, 1, 3, 0}, {0, 1, 2, 3}};
    const size_t size = plan->sample_size;
    const uint64_t rows = nets_rows(plan), count = rows * nets_corners(plan);
    const uint8_t *order = orders[plan->quads ? 2 : cuts_other_way];
    for (uint64_t k = 0; k < count; k++)
        if (plan->indices64)
            ((uint64_t *)plan->indices)[n * count + k] = corner[order[k]];
        else
            ((uint32_t *)plan->indices)[n * count + k] = (uint32_t)corner[order[k]];
    for (uint64_t r = n * rows; r < (n + 1) * rows; r++) {
        nets_store(plan->face_labels, 2 * r, size, label);
        nets_store(plan->face_labels, 2 * r + 1, size, other);
    }
}

/* [axis]: the four cells around the edge that begins at a sample and goes along axis,
 * counter-clockwise as seen from the edge's end. Each cell is given by its steps back along x, y
 * and z from the sample's own cell. */
static const uint8_t nets_back[3][4][3] = {{{0, 1, 1}, {0, 0, 1}, {0, 0, 0}, {0, 1, 0}},
                                           {{1, 0, 1}, {1, 0, 0}, {0, 0, 0}, {0, 0, 1}},
                                           {{1, 1, 0}, {0, 1, 0}, {0, 0, 0}, {1, 0, 0}}};

/* A face of the net.
 * axis    of its edge
 * label   of the edge's first and second sample
 * corner  the vertices of nets_back's cells */
typedef struct nets_face {
    uint64_t number;
    int axis;
    uint64_t label[2];
    uint64_t corner[4];
} nets_face;

/* The cells around a group's samples, indexed by steps back along y and z. */
typedef struct nets_cells_around {
    nets_word active[2][2][NETS_GROUP]; /* cells with a vertex */
    uint64_t at[2][2];                  /* vertices before the current word */
} nets_cells_around;

/* Consumes a face. Inlined into its caller. */
typedef void (*nets_face_fn)(void *user, const nets_face *face);

ALWAYS_INLINE void nets_visit_row(const nets_plan *plan, const nets_planes *planes, uint64_t y,
                                  uint64_t z, nets_face_fn take, void *user)
{
    const nets_samples own = nets_samples_of(plan, y, z);
    const nets_samples beyond[3] = {own, nets_samples_of(plan, y + 1, z),
                                    nets_samples_of(plan, y, z + 1)};
    const nets_word *edges[3];
    nets_face face = {.number = planes->face_first[z] + planes->face_rows[nets_row(plan, y, z)]};
    nets_cells_around cells;
    for (int a = 0; a < 3; a++)
        edges[a] = nets_edges(plan, planes, a, y, z);
    for (uint64_t k = 0; k < 4; k++)
        cells.at[k & 1][k >> 1] = nets_row_vertices(plan, planes, y - (k & 1), z - (k >> 1));
    for (uint64_t first = 0; first < plan->words; first += NETS_GROUP) {
        for (uint64_t k = 0; k < 4; k++)
            nets_active_if_any(plan, planes, y - (k & 1), z - (k >> 1), first,
                               cells.active[k & 1][k >> 1]);
        for (int i = 0; i < NETS_GROUP && first + (uint64_t)i < plan->words; i++) {
            const uint64_t w = first + (uint64_t)i;
            for (nets_word rest = edges[0][w] | edges[1][w] | edges[2][w]; rest; rest &= rest - 1) {
                const int bit = __builtin_ctzll(rest);
                const uint64_t x = 64 * w + (uint64_t)bit;
                uint64_t rank[2][2];
                for (int k = 0; k < 4; k++)
                    rank[k & 1][k >> 1] =
                        cells.at[k & 1][k >> 1] +
                        nets_ones(cells.active[k & 1][k >> 1][i] & nets_below(bit));
                face.label[0] = nets_label(plan, &own, x);
                for (int a = 0; a < 3; a++) {
                    if (!(edges[a][w] >> bit & 1))
                        continue;
                    face.axis = a;
                    face.label[1] = nets_label(plan, &beyond[a], x + (a == 0));
                    for (int k = 0; k < 4; k++) {
                        const uint8_t *back = nets_back[a][k];
                        face.corner[k] = rank[back[1]][back[2]] - back[0];
                    }
                    take(user, &face);
                    face.number++;
                }
            }
            for (int k = 0; k < 4; k++)
                cells.at[k & 1][k >> 1] += nets_ones(cells.active[k & 1][k >> 1][i]);
        }
    }
}

/* Visits the faces of the edges that begin in a layer of samples, by sample, then by axis. */
ALWAYS_INLINE void nets_visit_faces(const nets_plan *plan, const nets_planes *planes, uint64_t z,
                                    nets_face_fn take, void *user)
{
    for (uint64_t y = 0; y < nets_cells(plan, 1); y++)
        if (nets_has_faces(plan, planes, y, z))
            nets_visit_row(plan, planes, y, z, take, user);
}

#endif
