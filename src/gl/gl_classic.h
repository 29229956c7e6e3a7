/* HistoPyramids as they were first published, kept to compare with: sums in floats over a square of
 * texels, whose quarters are the four children of a texel above. Outputs come in Z order. After:
 * Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids. 2006; Dyken,
 * Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008.
 *
 * No part of the library's interface: for its benchmarks and tests. */
#ifndef TML_GL_CLASSIC_H
#define TML_GL_CLASSIC_H

#include <trommel/gl.h>

typedef enum gl_classic_form {
    GL_CLASSIC_FOUR_FETCHES, /* a sum a texel; a descent fetches four children a level */
    GL_CLASSIC_PARTIAL_SUMS, /* the four children's sums in a texel: one fetch a level */
} gl_classic_form;

typedef struct gl_classic_desc {
    gl_classic_form form;
    const tml_kernel *keep; /* bool of one array parameter, as tml_compact's */
    tml_params params;
    tml_buffer in;    /* elements of 4 bytes: the square's rows, one after the other */
    tml_buffer out;   /* of in's type; what there is no room for is not written */
    tml_buffer count; /* u32: elements kept */
} gl_classic_desc;

/* The square's side: a power of two, of which the part past count elements keeps nothing. */
uint32_t gl_classic_side(uint64_t count);
/* Where output j of Z order comes from: item number z of a square, as an index into its rows. */
uint64_t gl_classic_index(uint32_t side, uint64_t z);

/* Waits only with exact counts (tml_gl_desc). Errors: UNSUPPORTED for more elements than floats can
 * count, 2^24; otherwise as tml_compact. */
TML_MUST_CHECK tml_status gl_classic_compact(tml_context *tml, const gl_classic_desc *desc);

/* Marching cubes of 2008: a pyramid of four fetches a level over all cells, and a descent for each vertex
 * of each triangle. */
typedef struct gl_classic_surface_desc {
    tml_buffer volume; /* f32 */
    uint64_t dims[3];
    float iso;
    uint64_t room;    /* vertices to be made at most; they stay in a texture of the pool */
    tml_buffer out;   /* optional: f32x3, room of them: gets a copy, in samples */
    tml_buffer count; /* optional: u32: vertices that there are */
} gl_classic_surface_desc;

/* Waits for nothing. Errors: UNSUPPORTED for a square of more than 2^24 cells, which floats may not be
 * able to count; nor can they more than 2^24 vertices, so count is wrong then. */
TML_MUST_CHECK tml_status gl_classic_surface(tml_context *tml, const gl_classic_surface_desc *desc);

#endif
