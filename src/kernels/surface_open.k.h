/* Cells whose case does not determine their topology (surface/surface_topology.h), called open:
 * words of such cells, and the numbers of the corners of a cell's triangles. */

/* As in surface.k.h, unless that is included. */
#ifndef WORD
#    define WORD uint
#endif

/* Is a face ambiguous: do its corners alternate between inside and outside? a, b and c, d are its
 * diagonals. */
FUNCTION(WORD) surface_ambiguous(WORD a, WORD b, WORD c, WORD d)
{
    return (a ^ c) & ~(a ^ b) & ~(c ^ d);
}

/* Mask of the open cells: those with an ambiguous face, and those in which exactly the two ends of
 * one space diagonal differ from the other six corners. b: both ends of a diagonal are inside; n:
 * neither is. */
FUNCTION(WORD)
surface_open_cells(WORD c0, WORD c1, WORD c2, WORD c3, WORD c4, WORD c5, WORD c6, WORD c7)
{
    WORD b0 = c0 & c7;
    WORD b1 = c1 & c6;
    WORD b2 = c2 & c5;
    WORD b3 = c3 & c4;
    WORD n0 = ~(c0 | c7);
    WORD n1 = ~(c1 | c6);
    WORD n2 = ~(c2 | c5);
    WORD n3 = ~(c3 | c4);
    WORD mixed01 = (b0 & n1) | (n0 & b1);
    WORD mixed23 = (b2 & n3) | (n2 & b3);
    WORD alike01 = (b0 & b1) | (n0 & n1);
    WORD alike23 = (b2 & b3) | (n2 & n3);
    return (mixed01 & alike23) | (alike01 & mixed23) | surface_ambiguous(c0, c3, c1, c2) |
           surface_ambiguous(c4, c7, c5, c6) | surface_ambiguous(c0, c5, c1, c4) |
           surface_ambiguous(c2, c7, c3, c6) | surface_ambiguous(c0, c6, c2, c4) |
           surface_ambiguous(c1, c7, c3, c5);
}

/* The number of a corner of a cell's triangle, from the cell's edge on which the corner lies. It is
 * the cell's counter for the stream of that edge: four streams along x, two each along y and z. 8
 * is added if the edge lies one step along x and the counter's own edge is crossed, since the
 * corner's vertex is then the next one in the stream. */
FUNCTION(uint) surface_case_corner(uint index, uint edge)
{
    uint axis = edge / 4u;
    uint place = edge % 4u;
    if (axis == 0u)
        return place;
    uint stream = 2u + 2u * axis + place / 2u;
    if ((place & 1u) == 0u)
        return stream;
    /* Corners of the cell at both ends of the counter's edge. */
    uint low = axis == 1u ? (place & 2u) << 1u : place & 2u;
    uint high = low | 1u << axis;
    bool crossed = (index >> low & 1u) != (index >> high & 1u);
    return crossed ? stream | 8u : stream;
}

/* May the cell have a tunnel? On each axis, LOW and HIGH must have one sign and MIXED the other.
 * positive: the signs of LOW and HIGH (surface_topology.k.h), two bits per axis; from bit 6 on the
 * sign of MIXED, every second bit. */
FUNCTION(bool) topology_may_tunnel(uint positive)
{
    return (~(positive ^ positive >> 1) & (positive ^ positive >> 6) & 0x15u) == 0x15u;
}
