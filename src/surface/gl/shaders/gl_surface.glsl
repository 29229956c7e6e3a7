/* Shared by the surface's shaders: numbers of rows and quads in a workspace, and rows of bits.
 *
 * A workspace is the box of samples of one part; with caps, a layer of outside samples surrounds
 * it. Its rows have the numbers y + size.y * z. A row's bits are quads of 128 columns, padded with
 * zeros; rows follow one another. TYPE: tml_type of a sample. OPTIONS: SURFACE_... */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "kernels/surface.k.h"
#include "surface/gpu/surface_options.k.h"
#include "surface/gpu/surface_keys.glsl"

uniform uvec3 size;            /* samples, with the pad */
uniform uvec2 quads, size_y;   /* divisors: quads per row, rows per layer */

bool has(uint option)
{
    return (OPTIONS & option) != 0u;
}

/* ---- places ---------------------------------------------------------------------------------- */

struct quad_place {
    uint row, q; /* the row's number; the quad's number in it */
    uint y, z;
};
quad_place place_of_quad(uint i)
{
    quad_place place;
    place.row = divide(i, quads);
    place.q = i - place.row * quads.x;
    place.z = divide(place.row, size_y);
    place.y = place.row - place.z * size_y.x;
    return place;
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* Returns the low n bits set; all bits from n = 32 on. */
uint low_bits(uint n)
{
    return n >= 32u ? 0xffffffffu : (1u << n) - 1u;
}
/* Returns the bits of the columns of quad q that are less than column n of the row. */
uvec4 columns_below(uint q, uint n)
{
    uint left = n - min(n, 128u * q);
    return uvec4(low_bits(left), low_bits(left - min(left, 32u)), low_bits(left - min(left, 64u)),
                 low_bits(left - min(left, 96u)));
}
uint count_bits(uvec4 bits)
{
    return popcount32(bits.x) + popcount32(bits.y) + popcount32(bits.z) + popcount32(bits.w);
}
bool is_zero(uvec4 bits)
{
    return (bits.x | bits.y | bits.z | bits.w) == 0u;
}
/* Returns word i of a quad. */
uint word_of(uvec4 quad, uint i)
{
    return i < 2u ? (i == 0u ? quad.x : quad.y) : (i == 2u ? quad.z : quad.w);
}
/* Returns in bit i the row's bit i + 1. next: the first word of the next quad. */
uvec4 step_quad(uvec4 quad, uint next)
{
    return uvec4(surface_step_x(quad.x, quad.y), surface_step_x(quad.y, quad.z),
                 surface_step_x(quad.z, quad.w), surface_step_x(quad.w, next));
}

/* Return quad q of a row; the first word of the next quad, or 0 at the row's end. */
uvec4 row_quad(highp usampler2D rows, uint row, uint q)
{
    return load_quad(rows, row * quads.x + q);
}
uint row_next(highp usampler2D rows, uint row, uint q)
{
    return q + 1u < quads.x ? load_quad(rows, row * quads.x + q + 1u).x : 0u;
}
