/* Cells with the topology of the trilinear interpolant: decides which mesh of the generated table
 * (surface_topology_tables.h, from tools/make_surface_tables.c) a cell has.
 *
 * In a cell the interpolant of its eight samples is trilinear, and on a face bilinear. The surface
 * has the topology of the interpolant's level set just below the isovalue, so a sample or a saddle
 * exactly at the isovalue is inside. For 128 of the 256 cases, two questions remain:
 *
 * faces     Corners around a face are in and out in turn: are the inside corners joined? They are
 *           if the face's saddle is inside. The sign of a determinant decides that: the asymptotic
 *           decider.
 * tunnel    Are two regions joined in the cell that the cell's border keeps apart? If the faces
 *           allow it according to the table, they are joined if the six lines of the hexagon (see
 *           the table's source) are in the cell. That is: in a sweep along each axis, the
 *           determinant is a quadratic with two roots between 0 and 1.
 *
 * Both are signs of polynomials of degree 2, 3 and 4 in the samples minus the isovalue. The signs
 * are exact for every type and every finite isovalue (surface_topology.c), so two cells never
 * disagree on a face. An infinite sample counts as the largest finite double. */
#ifndef TML_SURFACE_TOPOLOGY_H
#define TML_SURFACE_TOPOLOGY_H

#include <math.h>

#include "core/inline.h"
#include "surface/surface_internal.h"

/* A cell's own vertices, not on its edges: the middle of a fan, or the ring of a tunnel. */
enum { TOPOLOGY_OWN_MOST = 6, TOPOLOGY_TRIANGLES_MOST = 24 };

/* A cell without missing samples. The cells of a batch have one type and one isovalue. */
typedef struct topology_cell {
    tml_type type;
    double iso;
    unsigned index;   /* its case */
    unsigned pads;    /* corners that lie in a pad of caps: outside, without samples */
    double values[8]; /* the samples; 64-bit integers are rounded */
    uint64_t bits[8]; /* only for 64-bit integers: surface_label */
} topology_cell;

/* Sets the sample of corner c of a cell, given its address; sets all corners, given four rows of
 * samples and a column. */
void topology_set_corner(topology_cell *cell, unsigned c, const void *sample);
void topology_set_corners(topology_cell *cell, const unsigned char *const rows[4], uint64_t x);

/* The corners of the two faces on each axis: first two across the diagonal, then the other two. */
static const uint8_t topology_corners_of[3][2][4] = {
    {{0, 6, 2, 4}, {1, 7, 3, 5}}, {{0, 5, 4, 1}, {2, 7, 6, 3}}, {{0, 3, 1, 2}, {4, 7, 5, 6}}};

/* Returns whether samples of the type are rounded to double. */
static inline bool topology_is_rounded(tml_type type)
{
    return !tml_type_is_float(type) && tml_type_size(type) == 8;
}

/* Bits 0 to 5: a cell's six faces, two per axis. Bits 6, 8, 10: the pairs of opposite faces.
 * positive: the determinant (of a pair, its mixed part) is. unsure: doubles cannot decide it. */
typedef struct topology_faces {
    uint16_t positive, unsure;
} topology_faces;

/* The cells of one volume whose faces are examined together, eight per vector. */
enum { TOPOLOGY_BATCH = 16 };
typedef double topology_doubles __attribute__((vector_size(64)));
typedef int64_t topology_bits __attribute__((vector_size(64)));

/* Sets a bit of positive and unsure for the determinant of face a (a == b: two products), or for
 * the mixed part of faces a and b (four products). Bounds: surface_topology.c. */
ALWAYS_INLINE void topology_look_at(const topology_doubles corners[8], const uint8_t a[4],
                                    const uint8_t b[4], const topology_doubles *bound, unsigned bit,
                                    topology_bits *positive, topology_bits *unsure)
{
    topology_doubles value = corners[a[0]] * corners[b[1]] - corners[a[2]] * corners[b[3]];
    if (a != b)
        value += corners[b[0]] * corners[a[1]] - corners[b[2]] * corners[a[3]];
    const topology_doubles size = (topology_doubles)((topology_bits)value & INT64_MAX);
    *positive |= (value > 0) & (int64_t)1 << bit;
    *unsure |= ~(size > (a == b ? *bound : 4 * *bound)) & (int64_t)1 << bit;
}

ALWAYS_INLINE void topology_look_at_eight(const topology_cell *cells, uint32_t count,
                                          topology_faces out[8])
{
    const double iso = cells->iso, rounded = topology_is_rounded(cells->type) ? 1 : 0;
    topology_doubles corners[8], largest = {0};
    for (unsigned i = 0; i < 8; i++) {
        const topology_cell *cell = &cells[i < count ? i : 0];
        for (unsigned c = 0; c < 8; c++)
            corners[c][i] = cell->pads >> c & 1 ? 0 : cell->values[c] - iso;
    }
    for (unsigned c = 0; c < 8; c++) {
        const topology_bits size = (topology_bits)corners[c] & INT64_MAX;
        const topology_bits is_larger = size > (topology_bits)largest; /* like the doubles */
        largest = (topology_doubles)((size & is_larger) | ((topology_bits)largest & ~is_larger));
    }
    const topology_doubles error = largest + rounded * (largest + fabs(iso));
    const topology_doubles bound = 0x1p-49 * error * largest;
    topology_bits positive = {0}, unsure = ~((largest > 0x1p-200) & (error < 0x1p200));
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint8_t *low = topology_corners_of[axis][0], *high = topology_corners_of[axis][1];
        topology_look_at(corners, low, low, &bound, 2 * axis, &positive, &unsure);
        topology_look_at(corners, high, high, &bound, 2 * axis + 1, &positive, &unsure);
        topology_look_at(corners, low, high, &bound, 2 * axis + 6, &positive, &unsure);
    }
    for (unsigned i = 0; i < 8; i++)
        out[i] = (topology_faces){(uint16_t)positive[i], (uint16_t)unsure[i]};
}

static inline void topology_look_at_faces(const topology_cell *cells, uint32_t count,
                                          topology_faces out[TOPOLOGY_BATCH])
{
    for (uint32_t i = 0; i < count; i += 8)
        topology_look_at_eight(cells + i, count - i, out + i);
}

/* The triangles of an open cell, that is, one whose case does not determine them. */
typedef struct topology_mesh {
    /* Place in topology_corners. Each triangle has three corners: edges of the case table, or own
     * vertices from 12 on. */
    uint32_t first;
    uint8_t triangle_count, own_count;
    uint16_t around; /* the edges around the only own vertex; otherwise 0 */
} topology_mesh;

/* Per case: its ambiguous faces; its first choice, which joins none of them, or -1. Per choice: its
 * mesh; the first of two meshes with a tunnel of the inside, and of the outside, or 0. */
enum { TOPOLOGY_CHOICES = 528, TOPOLOGY_MESHES = 1008, TOPOLOGY_TRIANGLES = 13152 };
extern const uint8_t topology_ambiguous[];
extern const int16_t topology_choices[];
extern const uint16_t topology_meshes_of[][3];
extern const topology_mesh topology_meshes[];
extern const uint8_t topology_corners[]; /* padded for reads of 16 */

/* Returns whether the case has more than one mesh. */
bool topology_is_open(unsigned index);
/* Returns the number of triangles of that case with TML_TOPOLOGY_SEPARATED. */
unsigned topology_separated_count(unsigned index);
/* Returns the number of a cell's mesh. */
uint16_t topology_find(const topology_cell *cell, topology_faces faces);
/* Computes the places of the cell's own vertices, 0 to 1 on each axis. */
void topology_place(const topology_cell *cell, uint16_t number, double out[TOPOLOGY_OWN_MOST][3]);

/* Splits a number into the two words of an odd magnitude (or 0), the exponent of its lowest bit,
 * and 1 if it is negative. */
void topology_split(double number, uint32_t out[4]);

/* Two values at a place in the cell: the trilinear interpolant of eight numbers; the gradient of
 * the samples' interpolant, times a positive number. */
double topology_mix(const double corners[8], const double at[3]);
void topology_gradient(const topology_cell *cell, const double at[3], double out[3]);

#endif
