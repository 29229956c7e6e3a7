/* Programs of papers, to compare the library with: the library trommel-papers. One file a paper.
 *
 *   horn_2005.c        running counts, then a binary search for each output
 *   batcher_1968.c     a sorting network that sorts the rejected to the end
 *   averages_2019.c    mip chains that drop odd rows; averages of padded blocks
 * stand on public operations and kernels and run wherever kernels with tml_words do: the CPU, Vulkan and
 * OpenGL ES 3.
 *   ziegler_2006.c     HistoPyramids of floats, in Z order
 *   dyken_2008.c       marching cubes by them
 *   pyramid_picture.c  what a HistoPyramid of the library's looks like
 * are about textures, and stand on the OpenGL ES engine's toolkit. Elsewhere: UNSUPPORTED.
 *
 * Calls enqueue, and return errors, like those of trommel/stream.h. */
#ifndef PAPERS_H
#define PAPERS_H

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters --------------------------------------------------------------------------------- */

/* What horn_2005.c and batcher_1968.c compute in: a stream of flags and two of sums or keys. */
typedef struct papers_space {
    uint64_t count;
    tml_buffer flags, words[2];
} papers_space;
/* For streams of that many elements. */
TML_MUST_CHECK tml_status papers_space_create(tml_context *tml, uint64_t count, papers_space *out);
void papers_space_destroy(tml_context *tml, papers_space *space);

typedef struct papers_filter_desc {
    const tml_kernel *keep; /* bool of one array parameter, as tml_compact's */
    tml_params params;
    tml_buffer in;             /* u32, at most 2^30 elements */
    tml_buffer out;            /* u32; what there is no room for is not written */
    tml_buffer count;          /* u32: elements kept */
    const papers_space *space; /* of in's count; HistoPyramids need none */
} papers_filter_desc;

tml_status papers_scan_search_filter(tml_context *tml, const papers_filter_desc *desc);
tml_status papers_bitonic_filter(tml_context *tml, const papers_filter_desc *desc);
/* A sum a texel; a descent fetches four children a level. Waits only with exact counts (tml_gl_desc).
 * UNSUPPORTED for more elements than floats can count, 2^24. */
tml_status papers_four_fetches_filter(tml_context *tml, const papers_filter_desc *desc);
/* The same with the four children's sums in a texel: one fetch a level. */
tml_status papers_one_fetch_filter(tml_context *tml, const papers_filter_desc *desc);

/* The filters, to be gone through. */
typedef struct papers_filter {
    const char *name;
    tml_status (*run)(tml_context *tml, const papers_filter_desc *desc);
    bool in_z_order; /* outputs are those of a square, in Z order */
} papers_filter;
enum { PAPERS_FILTERS = 4 };
extern const papers_filter papers_filters[PAPERS_FILTERS];

/* The square that holds count elements, row after row: its side, a power of two; and which element is
 * number z of Z order. */
uint32_t papers_square_side(uint64_t count);
uint64_t papers_square_index(uint32_t side, uint64_t z);

/* ---- other streams --------------------------------------------------------------------------- */

/* Inclusive sums by Hillis and Steele: u32 to u32, which stay at the largest. space: of in's count. */
TML_MUST_CHECK tml_status papers_scan(tml_context *tml, tml_buffer in, tml_buffer out,
                                      const papers_space *space);

/* tml_expand by running counts and a binary search for each output. */
typedef struct papers_expand_desc {
    tml_buffer counts;         /* u32, one a source */
    tml_buffer source, rank;   /* u32, as many of each; outputs past them are not written */
    tml_buffer total;          /* u32; stays at the largest */
    const papers_space *space; /* of counts' count */
} papers_expand_desc;
TML_MUST_CHECK tml_status papers_expand(tml_context *tml, const papers_expand_desc *desc);

/* ---- surfaces -------------------------------------------------------------------------------- */

/* Marching cubes of 2008: a pyramid of four fetches a level over all cells, and a descent for each vertex
 * of each triangle. */
typedef struct papers_surface_desc {
    tml_buffer volume; /* f32 */
    uint64_t dims[3];
    float iso;
    uint64_t room;    /* vertices to be made at most; they stay in a texture of the pool */
    tml_buffer out;   /* optional: f32x3, room of them: gets a copy, in samples */
    tml_buffer count; /* optional: u32: vertices that there are */
} papers_surface_desc;

/* Waits for nothing. UNSUPPORTED for a square of more than 2^24 cells, which floats may not be able to
 * count; nor can they more than 2^24 vertices, so count is wrong then. */
TML_MUST_CHECK tml_status papers_surface(tml_context *tml, const papers_surface_desc *desc);

/* ---- averages -------------------------------------------------------------------------------- */

/* A mip level from the one above: 2 x 2 texels to 1, sizes rounded down, so that odd rows and columns are
 * dropped. f32, width * height * channels; out: of max(width / 2, 1) x max(height / 2, 1). */
TML_MUST_CHECK tml_status papers_box_level(tml_context *tml, tml_buffer in, uint32_t width,
                                           uint32_t height, uint32_t channels, tml_buffer out);

/* Averages of a picture's Rec. 709 luminances and of their logarithms to base 2: those of blocks of 4 x 4,
 * the last ones padded with zeros, level by level, and at the end a correction by padded over true number
 * of pixels. NaN and infinite pixels, and those without a logarithm, add 0. */
typedef struct papers_blocks_desc {
    tml_buffer in; /* f32, width * height * channels; 1 channel: the luminance */
    uint32_t width, height, channels;
    float floor; /* as tml_image_measure_desc's */
    tml_buffer space
        [2]; /* f32x2, as many elements as blocks: papers_blocks(width) * papers_blocks(height) */
    tml_buffer out; /* f32x2, one element: mean of the logarithms, mean */
} papers_blocks_desc;
TML_MUST_CHECK tml_status papers_block_means(tml_context *tml, const papers_blocks_desc *desc);
static inline uint32_t papers_blocks(uint32_t side)
{
    return side / 4 + (side % 4 != 0);
}

/* ---- the picture of a pyramid ---------------------------------------------------------------- */

/* A picture of the HistoPyramid by which the OpenGL ES engine compacts: a band for each level, the apex
 * first, the base last, in rows where it is wider than the picture. A node's colour says how many of the
 * elements below it are kept: none is nearly black, all is light yellow.
 * rgba: as many pixels as papers_picture_size says, rows from the top. count may be none. Waits. */
typedef struct papers_picture_desc {
    tml_keep keep; /* a kernel */
    uint64_t length;
    tml_buffer count; /* optional: u32 or u64, elements kept */
    uint8_t *rgba;
} papers_picture_desc;
TML_MUST_CHECK tml_status papers_picture(tml_context *tml, const papers_picture_desc *desc);
void papers_picture_size(uint64_t length, uint32_t *width, uint32_t *height);

#ifdef __cplusplus
}
#endif
#endif
