/* Surface formulas: counts from bit words, crossing points from samples, normals from gradients.
 *
 * A sample's inside flag is one bit of a word, which covers consecutive samples along x; every
 * decision about topology is made on whole words. c0 ... c7 are the words of the eight corners of a
 * run of cells; corner c of a cell lies at (c & 1, c >> 1 & 1, c >> 2 & 1).
 *
 * After: Lorensen, Cline: Marching Cubes. 1987; Schroeder, Maynard, Geveci: Flying Edges. 2015
 * (edges owned by their lower end); Sobel, Feldman: A 3x3 Isotropic Gradient Operator for Image
 * Processing. 1968 (weights 1 2 1, here along both axes across the difference's). */
/* ---- words (not in GLSL ES 1.00, which has no bit operators) --------------------------------- */
#ifndef TML_ES100

/* The widest integer that every device has. An including file may define several in its place, with
 * the number of set bits of each. */
#    ifdef TML_GLSL
#        define WORD          uint
#        define WORD_SUM      uint
#        define WORD_BITS     32u
#        define WORD_COUNT(w) popcount32(w)
#    elif !defined(WORD)
#        define WORD          uint64_t
#        define WORD_SUM      uint
#        define WORD_BITS     64u
#        define WORD_COUNT(w) ((uint)__builtin_popcountll(w))
#    endif

/* Bit i of the result is bit i + 1 of the row: the sample one step along x. */
FUNCTION(WORD) surface_step_x(WORD word, WORD next)
{
    return (word >> 1u) | (next << (WORD_BITS - 1u));
}

/* Mask of the active cells, which have corners inside and outside. */
FUNCTION(WORD)
surface_active(WORD c0, WORD c1, WORD c2, WORD c3, WORD c4, WORD c5, WORD c6, WORD c7)
{
    return (c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7) & ~(c0 & c1 & c2 & c3 & c4 & c5 & c6 & c7);
}

/* Number of triangles of the cells in the mask, without case indices. A cell with V inside corners
 * and F faces that are fully inside has V - 2F triangles; plus 4 if all corners are inside (8 - 12
 * + 4 = 0); minus 4 if only two opposite corners are outside (two caps of one triangle each, while
 * V - 2F is 6). This holds for the table that separates inside corners on ambiguous faces; the
 * table's generator asserts it. */
FUNCTION(WORD_SUM)
surface_triangles(WORD c0, WORD c1, WORD c2, WORD c3, WORD c4, WORD c5, WORD c6, WORD c7,
                  WORD cells)
{
    WORD low = c0 & c1 & c2 & c3 & cells;
    WORD high = c4 & c5 & c6 & c7 & cells;
    WORD_SUM corners = WORD_COUNT(c0 & cells) + WORD_COUNT(c1 & cells) + WORD_COUNT(c2 & cells) +
                       WORD_COUNT(c3 & cells) + WORD_COUNT(c4 & cells) + WORD_COUNT(c5 & cells) +
                       WORD_COUNT(c6 & cells) + WORD_COUNT(c7 & cells);
    WORD_SUM faces = WORD_COUNT(low) + WORD_COUNT(high) + WORD_COUNT(c0 & c2 & c4 & c6 & cells) +
                     WORD_COUNT(c1 & c3 & c5 & c7 & cells) + WORD_COUNT(c0 & c1 & c4 & c5 & cells) +
                     WORD_COUNT(c2 & c3 & c6 & c7 & cells);
    /* The pairs of opposite corners are 0-7, 1-6, 2-5 and 3-4. At most one of the four terms counts
     * a cell. */
    WORD opposite =
        (c1 & c2 & c3 & c4 & c5 & c6 & ~c0 & ~c7) | (c0 & c2 & c3 & c4 & c5 & c7 & ~c1 & ~c6) |
        (c0 & c1 & c3 & c4 & c6 & c7 & ~c2 & ~c5) | (c0 & c1 & c2 & c5 & c6 & c7 & ~c3 & ~c4);
    return corners + 4u * WORD_COUNT(low & high) - 2u * faces - 4u * WORD_COUNT(opposite & cells);
}

#endif
/* ---- samples --------------------------------------------------------------------------------- */

/* The clearance: the least distance of a vertex from the ends of its edge, as a fraction of the
 * edge. Without it, if a sample equals the isovalue, up to six edges would have their vertices at
 * that sample: triangles would have no area, and sheets would touch. With it, triangles have area,
 * and a mesh that is manifold by its indices is manifold by its positions. 2^-10 of a cell is less
 * than the error of linear interpolation, and float represents it for up to 8192 samples along an
 * axis. */
#define SURFACE_CLEARANCE 0.0009765625f

/* Position of the isovalue on the edge from sample a (0) to sample b (1). a is the end with the
 * lower index, so that all cells around an edge compute the same bits. largest: the type's largest
 * number; if |b - a| exceeds it, the difference overflowed, and the position is 1/2. */
#define SURFACE_CROSSING(REAL, largest)                                                            \
    REAL difference = b - a;                                                                       \
    REAL t = (iso - a) / difference;                                                               \
    t = difference <= (largest) && difference >= -(largest) ? t : 0.5f;                            \
    t = t > SURFACE_CLEARANCE ? t : SURFACE_CLEARANCE;                                             \
    return t < 1.0f - SURFACE_CLEARANCE ? t : 1.0f - SURFACE_CLEARANCE
FUNCTION(float) surface_crossing(float a, float b, float iso)
{
    SURFACE_CROSSING(float, 3.4028234e38f);
}
#ifndef TML_GLSL
FUNCTION(double) surface_crossing_f64(double a, double b, double iso)
{
    SURFACE_CROSSING(double, 1.7976931348623157e308);
}
#endif

/* A 3x3 neighbourhood with the Sobel weights 1 2 1 along both axes. corners, edges: sums of four
 * samples each. */
FUNCTION(float) surface_smooth9(float corners, float edges, float centre)
{
    return (corners + 2.0f * edges + 4.0f * centre) * 0.0625f;
}

/* How far the vertex of a cap moves along an axis across its edge, in cells. The vertex lies on a
 * sample of the border. If that sample is also the first or last one of another axis, so that it
 * lies on an edge of the box, two caps have a vertex there. Each then moves into its cap by a
 * quarter of the clearance. (With half of it, three vertices could lie on one line.) */
FUNCTION(float) surface_cap_shift(bool is_first, bool is_last)
{
    return (is_first ? 0.25f * SURFACE_CLEARANCE : 0.0f) -
           (is_last ? 0.25f * SURFACE_CLEARANCE : 0.0f);
}

FUNCTION(vec3) surface_mix3(vec3 a, vec3 b, float t)
{
    return add3(a, scale3(sub3(b, a), t));
}

/* An attribute interpolated from a (t = 0) to b (t = 1); exactly b at t = 1. */
FUNCTION(float) surface_mix(float a, float b, float t)
{
    return t == 1.0f ? b : a + t * (b - a);
}

/* Outward unit normal of a cap on the low (side = -1) or high (side = 1) face of an axis. rows:
 * that axis's components of row_x, row_y and row_z in surface_normal. */
FUNCTION(vec3) surface_cap_normal(vec3 rows, float side)
{
    vec3 n = scale3(rows, -side);
    float size = length3(n);
    return VEC3(n.x / size, n.y / size, n.z / size);
}

/* Unit normal toward lower values, from the gradient in index space. row_x, row_y, row_z: the rows
 * of the negated inverse transpose of direction * spacing; not negated for flipped surfaces. */
FUNCTION(vec3) surface_normal(vec3 gradient, vec3 row_x, vec3 row_y, vec3 row_z)
{
    vec3 n = VEC3(dot3(row_x, gradient), dot3(row_y, gradient), dot3(row_z, gradient));
    /* Divides by the largest component first, since squares of tiny or huge components underflow or
     * overflow. */
    float x = n.x < 0.0f ? -n.x : n.x;
    float y = n.y < 0.0f ? -n.y : n.y;
    float z = n.z < 0.0f ? -n.z : n.z;
    float largest = x > y ? x : y;
    largest = largest > z ? largest : z;
    bool is_direction = largest > 0.0f && largest <= 3.4028234e38f;
    /* Scales by a power of two, without rounding: a device may flush a tiny divisor, or the
     * reciprocal of a huge divisor, to 0. */
    float scale = largest < 1e-30f  ? 18446744073709551616.0f
                  : largest > 1e30f ? 5.421010862427522e-20f
                                    : 1.0f;
    n = scale3(n, scale);
    largest *= scale;
    n = VEC3(n.x / largest, n.y / largest, n.z / largest);
    n = scale3(n, 1.0f / length3(n));
    return VEC3(is_direction ? n.x : 0.0f, is_direction ? n.y : 0.0f, is_direction ? n.z : 0.0f);
}
