/* Cells with the topology of the trilinear interpolant: which of the meshes in the generated table
 * (surface_topology_tables.h, from tools/make_surface_tables.c) a cell has.
 *
 * In a cell the interpolant of its eight samples is trilinear, and on a face bilinear. The surface has
 * the topology of the interpolant's level set just below the isovalue, so that whatever has a value
 * at the isovalue, sample or saddle, is inside. Two questions remain, for 128 of the 256 cases:
 *
 *   faces     where the corners of a face are in and out by turns, are those inside joined? They are
 *             if the saddle is inside, that is, by the sign of a determinant: the asymptotic decider.
 *   tunnel    may two regions that the cell's border keeps apart be joined in the cell? Where the
 *             table says that the faces allow it, they are if the six lines of the hexagon (see the
 *             table's source) are in the cell: on each axis the quadratic that the determinant is in a
 *             sweep has two roots between 0 and 1.
 *
 * These are signs of polynomials of degree 2, 3 and 4 in the samples less the isovalue. They are exact
 * for every type and every finite isovalue (surface_topology.c), so that two cells never disagree on a
 * face. An infinite sample counts as the largest finite double. */
#ifndef TML_SURFACE_TOPOLOGY_H
#define TML_SURFACE_TOPOLOGY_H

#include "surface/surface_internal.h"

/* Own vertices of a cell, beside those on its edges: the middle of a fan, or the ring of a tunnel. */
enum { TOPOLOGY_OWN_MOST = 6, TOPOLOGY_TRIANGLES_MOST = 24 };

/* A cell of which no sample is missing. */
typedef struct topology_cell {
    tml_type type;
    double iso;
    unsigned index;   /* its case */
    unsigned pads;    /* corners that lie in a pad of caps: outside, without samples */
    double values[8]; /* 64-bit integers rounded */
    uint64_t bits[8]; /* of 64-bit integers alone: surface_label */
} topology_cell;

/* The sample of corner c of a cell, from its place in memory; all of them, from four rows of samples. */
void topology_set_corner(topology_cell *cell, unsigned c, const void *sample);
void topology_set_corners(topology_cell *cell, const unsigned char *const rows[4], uint64_t x);

/* The triangles of a cell. */
typedef struct topology_mesh {
    uint32_t triangle_count;
    uint32_t own_count;
    const uint8_t
        *corners; /* three for each triangle: an edge of the case table, or 12 and more: own */
} topology_mesh;

/* Has the case more than one mesh? */
bool topology_is_open(unsigned index);
/* Triangles of that case with TML_TOPOLOGY_SEPARATED. */
unsigned topology_separated_count(unsigned index);
/* The number of a cell's mesh, and the mesh with that number. */
uint16_t topology_find(const topology_cell *cell);
topology_mesh topology_mesh_of(uint16_t number);
/* The places of its own vertices in the cell, 0 to 1 on each axis. */
void topology_place(const topology_cell *cell, uint16_t number, double out[TOPOLOGY_OWN_MOST][3]);

/* At a place of the cell: the trilinear interpolant of eight numbers; the gradient of that of the
 * samples, times a positive number. */
double topology_mix(const double corners[8], const double at[3]);
void topology_gradient(const topology_cell *cell, const double at[3], double out[3]);

#endif
