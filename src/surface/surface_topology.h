/* Cells with the topology of the trilinear interpolant: which of the meshes in the generated table
 * (surface_topology_tables.h, from tools/make_surface_tables.c) a cell has.
 *
 * In a cell the interpolant of its eight samples is trilinear, and on a face bilinear. The surface
 * has the topology of the interpolant's level set just below the isovalue, so that whatever has a
 * value at the isovalue, sample or saddle, is inside. Two questions remain, for 128 of the 256
 * cases:
 *
 *   faces     where the corners of a face are in and out by turns, are those inside joined? They
 *             are if the saddle is inside, that is, by the sign of a determinant: the asymptotic
 *             decider.
 *   tunnel    may two regions that the cell's border keeps apart be joined in the cell? Where the
 *             table says that the faces allow it, they are if the six lines of the hexagon (see the
 *             table's source) are in the cell: on each axis the quadratic that the determinant is
 *             in a sweep has two roots between 0 and 1.
 *
 * These are signs of polynomials of degree 2, 3 and 4 in the samples less the isovalue. They are
 * exact for every type and every finite isovalue (surface_topology.c), so that two cells never
 * disagree on a face. An infinite sample counts as the largest finite double. */
#ifndef TML_SURFACE_TOPOLOGY_H
#define TML_SURFACE_TOPOLOGY_H

#include <math.h>

#include "core/inline.h"
#include "surface/surface_internal.h"

/* Own vertices of a cell, beside those on its edges: the middle of a fan, or the ring of a
 * tunnel. */
enum { TOPOLOGY_OWN_MOST = 6, TOPOLOGY_TRIANGLES_MOST = 24 };

/* A cell of which no sample is missing. Those of one batch have one type and one isovalue. */
typedef struct topology_cell {
    tml_type type;
    double iso;
    unsigned index;   /* its case */
    unsigned pads;    /* corners that lie in a pad of caps: outside, without samples */
    double values[8]; /* 64-bit integers rounded */
    uint64_t bits[8]; /* of 64-bit integers alone: surface_label */
} topology_cell;

/* The sample of corner c of a cell, from its place in memory; all of them, from four rows of
 * samples. */
void topology_set_corner(topology_cell *cell, unsigned c, const void *sample);
void topology_set_corners(topology_cell *cell, const unsigned char *const rows[4], uint64_t x);

/* Corners of the two faces across each axis: two across the diagonal, then the other two. */
static const uint8_t topology_corners_of[3][2][4] = {
    {{0, 6, 2, 4}, {1, 7, 3, 5}}, {{0, 5, 4, 1}, {2, 7, 6, 3}}, {{0, 3, 1, 2}, {4, 7, 5, 6}}};

/* Is the type read as a double that may be rounded? */
static inline bool topology_is_rounded(tml_type type)
{
    return !tml_type_is_float(type) && tml_type_size(type) == 8;
}

/* A bit of each of a cell's six faces, two for an axis, and from bit 6 on for every second one of
 * each pair of opposite faces: is the determinant (of a pair, its mixed part) positive; can doubles
 * not tell? */
typedef struct topology_faces {
    uint16_t positive, unsure;
} topology_faces;

/* Cells of one volume whose faces are looked at side by side: eight in a vector. */
enum { TOPOLOGY_BATCH = 16 };
typedef double topology_doubles __attribute__((vector_size(64)));
typedef int64_t topology_bits __attribute__((vector_size(64)));

/* Two or four products' sum, of faces a and b: once or both ways. Why the bounds hold:
 * surface_topology.c. */
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
        const topology_bits is_larger = size > (topology_bits)largest; /* as the doubles are */
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

/* The triangles of an open cell. */
typedef struct topology_mesh {
    /* in topology_corners: three for each triangle, an edge of the case table, or 12 and more:
     * own */
    uint32_t first;
    uint8_t triangle_count, own_count;
    uint16_t around; /* the edges around the only own vertex; else 0 */
} topology_mesh;

/* Of a case: its ambiguous faces, and its first choice, which is of none joined. Of a choice: its
 * mesh, and the first of two with a tunnel of inside or of outside, or 0. */
enum { TOPOLOGY_CHOICES = 528, TOPOLOGY_MESHES = 1008, TOPOLOGY_TRIANGLES = 13152 };
extern const uint8_t topology_ambiguous[];
extern const int16_t topology_choices[];
extern const uint16_t topology_meshes_of[][3];
extern const topology_mesh topology_meshes[];
extern const uint8_t topology_corners[]; /* 16 may be read at once */

/* Has the case more than one mesh? */
bool topology_is_open(unsigned index);
/* Triangles of that case with TML_TOPOLOGY_SEPARATED. */
unsigned topology_separated_count(unsigned index);
/* The number of a cell's mesh. */
uint16_t topology_find(const topology_cell *cell, topology_faces faces);
/* The places of its own vertices in the cell, 0 to 1 on each axis. */
void topology_place(const topology_cell *cell, uint16_t number, double out[TOPOLOGY_OWN_MOST][3]);

/* A number as an odd magnitude's words, or 0, the exponent of its lowest bit, and 1 if it is
 * negative. */
void topology_split(double number, uint32_t out[4]);

/* At a place of the cell: the trilinear interpolant of eight numbers; the gradient of that of the
 * samples, times a positive number. */
double topology_mix(const double corners[8], const double at[3]);
void topology_gradient(const topology_cell *cell, const double at[3], double out[3]);

#endif
