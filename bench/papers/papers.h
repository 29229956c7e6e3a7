/* The library trommel-papers: methods of papers, to compare the library with. One file per paper.
 *
 * These use public operations and kernels. They run wherever kernels may have tml_words parameters:
 * on the CPU, Vulkan and OpenGL ES 3.
 *   horn_2005.c        running counts, then a binary search for each output
 *   append_counter.c   outputs in any order, numbered by one atomic counter
 *   batcher_1968.c     a sorting network that sorts the rejected to the end
 *   averages_2019.c    mip chains that drop odd rows; averages of padded blocks
 *   floats_in_bytes.c  floats in the bytes of a texture by logarithms
 *   averages_sizes.c   the weight of each pixel in such averages, by size
 *   self_contained.c   Loop subdivision of triangles that carry their neighbours
 *   oriented_boxes.c   collision by trees of oriented boxes, on the CPU
 *   image_space.c      collision by depth buffers, on the CPU
 * These depend on textures and use the OpenGL ES engine's toolkit. On other engines: UNSUPPORTED.
 *   ziegler_2006.c     HistoPyramids of floats, in Z order
 *   dyken_2008.c       marching cubes by such HistoPyramids
 *   pyramid_picture.c  a picture of the library's own HistoPyramid
 *
 * Calls enqueue and return errors as those of trommel/stream.h do. */
#ifndef PAPERS_H
#define PAPERS_H

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters --------------------------------------------------------------------------------- */

/* Scratch memory of horn_2005.c and batcher_1968.c: a buffer of flags and two of sums or keys. */
typedef struct papers_space {
    uint64_t count;
    tml_buffer flags, words[2];
} papers_space;
/* For streams of count elements. */
TML_MUST_CHECK tml_status papers_space_create(tml_context *tml, uint64_t count, papers_space *out);
void papers_space_destroy(tml_context *tml, papers_space *space);

typedef struct papers_filter_desc {
    const tml_kernel *keep; /* bool of one array parameter, as tml_compact's */
    tml_params params;
    tml_buffer in;             /* u32, at most 2^30 elements */
    tml_buffer out;            /* u32; elements beyond its size are not written */
    tml_buffer count;          /* u32: elements kept */
    const papers_space *space; /* created with in's count; not used by HistoPyramids */
} papers_filter_desc;

tml_status papers_scan_search_filter(tml_context *tml, const papers_filter_desc *desc);
tml_status papers_search_passes_filter(tml_context *tml, const papers_filter_desc *desc);
tml_status papers_bitonic_filter(tml_context *tml, const papers_filter_desc *desc);
/* A pyramid with one sum per texel: a descent fetches three children per level. Waits only with
 * exact counts (tml_gl_desc). UNSUPPORTED for more than 2^24 elements, up to which floats count
 * exactly. */
tml_status papers_three_fetches_filter(tml_context *tml, const papers_filter_desc *desc);
/* The same, with the sums of the four children in one texel: one fetch per level. */
tml_status papers_one_fetch_filter(tml_context *tml, const papers_filter_desc *desc);
/* Variants of papers_one_fetch_filter: with levels that are copied into one texture; and with a
 * descent in the vertex shader for each output. */
tml_status papers_copied_levels_filter(tml_context *tml, const papers_filter_desc *desc);
tml_status papers_vertices_filter(tml_context *tml, const papers_filter_desc *desc);

/* In no order. UNSUPPORTED on OpenGL ES. */
tml_status papers_append_filter(tml_context *tml, const papers_filter_desc *desc);

/* A list of the filters. */
typedef enum papers_order {
    PAPERS_IN_ORDER,
    PAPERS_IN_Z_ORDER, /* of a square */
    PAPERS_UNORDERED
} papers_order;
typedef struct papers_filter {
    const char *name;
    tml_status (*run)(tml_context *tml, const papers_filter_desc *desc);
    papers_order order; /* of the outputs */
} papers_filter;
enum { PAPERS_FILTERS = 8 };
extern const papers_filter papers_filters[PAPERS_FILTERS];

/* papers_square_side: the side, a power of two, of the square that holds count elements row by row.
 * papers_square_index: the element at position z of the square's Z order. */
uint32_t papers_square_side(uint64_t count);
uint64_t papers_square_index(uint32_t side, uint64_t z);

/* ---- other streams --------------------------------------------------------------------------- */

/* Inclusive prefix sums of u32 by Hillis and Steele, saturated at 2^32 - 1. space: created with
 * in's count. */
TML_MUST_CHECK tml_status papers_scan(tml_context *tml, tml_buffer in, tml_buffer out,
                                      const papers_space *space);

/* tml_expand by running counts and a binary search for each output. */
typedef struct papers_expand_desc {
    tml_buffer counts;         /* u32, one a source */
    tml_buffer source, rank;   /* u32, of the same size; outputs beyond it are not written */
    tml_buffer total;          /* u32; saturated at 2^32 - 1 */
    const papers_space *space; /* with counts' count */
} papers_expand_desc;
TML_MUST_CHECK tml_status papers_expand(tml_context *tml, const papers_expand_desc *desc);

/* ---- surfaces -------------------------------------------------------------------------------- */

typedef enum papers_normals {
    PAPERS_NORMALS_NONE,
    PAPERS_NORMALS_FORWARD, /* forward differences; at the volume's end backward ones */
    PAPERS_NORMALS_PREWITT, /* central differences of sums of 3 x 3 samples */
} papers_normals;

/* Marching cubes of 2008: a pyramid over all cells, and a descent for each vertex of each
 * triangle. */
typedef struct papers_surface_desc {
    tml_buffer volume; /* f32 */
    uint64_t dims[3];
    float iso;
    bool one_fetch; /* one fetch per level, of the sums of four children; otherwise three */
    /* Without a pyramid: fifteen vertices per sample, zeros after those of a cell's triangles. */
    bool scattered;
    papers_normals normals; /* made with the positions */
    uint64_t room;          /* most vertices that are made; they stay in a pooled texture */
    tml_buffer out;         /* optional: f32x3, room of them: a copy, in units of samples */
    tml_buffer out_normals; /* optional: f32x3, room of them, of length 1, toward lower samples */
    tml_buffer count;       /* optional: u32, the number of vertices; not where scattered */
} papers_surface_desc;

/* Does not wait. UNSUPPORTED for a square of more than 2^24 cells, which floats cannot count.
 * Floats cannot count more than 2^24 vertices either: count is wrong then. */
TML_MUST_CHECK tml_status papers_surface(tml_context *tml, const papers_surface_desc *desc);

/* ---- averages -------------------------------------------------------------------------------- */

/* A mip level from the level above: each texel is the mean of 2 x 2. Sizes are rounded down, so odd
 * rows and columns are dropped. in: f32, width * height * channels; out: max(width / 2, 1) x
 * max(height / 2, 1). */
TML_MUST_CHECK tml_status papers_box_level(tml_context *tml, tml_buffer in, uint32_t width,
                                           uint32_t height, uint32_t channels, tml_buffer out);

/* Averages of a picture's Rec. 709 luminances, and of their logarithms to base 2. Level by level,
 * means of blocks of 4 x 4 are computed; blocks at the border are padded with zeros. At the end the
 * average is corrected by the ratio of the padded to the true number of pixels. NaN and infinite
 * pixels count as 0, and so do the logarithms of pixels without one. */
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

/* Averages by halving, on the host (averages_sizes.c says which). */
typedef enum papers_reduction {
    PAPERS_BLIT,
    PAPERS_EVEN_BLIT,
    PAPERS_BLOCKS_OF_8,
    PAPERS_REDUCTIONS
} papers_reduction;

/* The weights of size columns or rows in the last texel; their sum is 1. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status papers_axis_weights(papers_reduction how, uint32_t size, double *out);

typedef struct papers_coverage {
    double unseen;    /* share of the pixels that have no weight */
    double effective; /* 1 / (pixels * sum of squared weights); 1 if all weights are equal */
    double largest;   /* weight, times pixels */
} papers_coverage;
papers_coverage papers_coverage_of(const double *columns, uint32_t width, const double *rows,
                                   uint32_t height);
/* The weighted sum of values, whose rows begin stride apart. */
double papers_weighted(const float *values, uint32_t stride, const double *columns, uint32_t width,
                       const double *rows, uint32_t height);

/* The average by blocks of side x side; blocks at the border are padded with zeros.
 *   plain       uncorrected
 *   by_article  times the 2019 article's factor, which uses a power of side for each axis, and is
 *               too small if the axes have different numbers of passes
 *   by_passes   times the number of a block's pixels for each pass
 * Errors: OUT_OF_MEMORY. */
typedef struct papers_padding {
    uint32_t side;
    /* With a side of 2: the picture is part of a target whose sides are powers of two, zero
     * elsewhere, and an axis of one texel is not halved again. */
    bool is_target;
    bool in_halves; /* levels are stored in 16-bit floats, else in 32-bit ones */
} papers_padding;
typedef struct papers_padded {
    double plain, by_article, by_passes;
} papers_padded;
TML_MUST_CHECK tml_status papers_padded_average(const float *values, uint32_t stride,
                                                uint32_t width, uint32_t height,
                                                const papers_padding *how, papers_padded *out);

/* ---- floats in bytes ------------------------------------------------------------------------- */

/* Of count bit patterns, from first on with a step, counts those that the article's formulas pack
 * into wrong bytes, and those that they unpack to a wrong float. Waits. */
typedef struct papers_floats {
    uint64_t packed_wrong, unpacked_wrong;
} papers_floats;
TML_MUST_CHECK tml_status papers_floats_count(tml_context *tml, uint32_t first, uint32_t step,
                                              uint64_t count, papers_floats *out);
/* Of the 1,268 positive normal floats within two of a power of two, counts those that are packed
 * wrongly. Waits. */
TML_MUST_CHECK tml_status papers_floats_near_powers(tml_context *tml, uint64_t *wrong);
/* The formulas on the host. */
uint32_t papers_floats_pack(float x);
float papers_floats_unpack(uint32_t bits);

/* ---- collision ------------------------------------------------------------------------------- */

/* The test that a pair of nodes must pass in addition to that of their axis-aligned boxes. */
typedef enum papers_volume {
    PAPERS_VOLUME_AXES,            /* nothing */
    PAPERS_VOLUME_SLABS,           /* of leaves: the library's slabs */
    PAPERS_VOLUME_ORIENTED_LEAVES, /* of leaves: oriented boxes, by 15 axes */
    PAPERS_VOLUME_ORIENTED_6,      /* oriented boxes, by their own axes */
    PAPERS_VOLUME_ORIENTED_15,     /* also by the products of their axes */
    PAPERS_VOLUMES
} papers_volume;

/* Oriented boxes around all nodes of a tree, from its triangles' current positions. Host memory. */
typedef struct papers_oriented papers_oriented;
TML_MUST_CHECK tml_status papers_oriented_create(tml_context *tml, const tml_tree *tree,
                                                 papers_oriented **out);
/* NULL is allowed. */
void papers_oriented_destroy(tml_context *tml, papers_oriented *oriented);

/* tml_collide's depth-first descent on one thread, which counts pairs: of two trees; or of one tree
 * given twice, which then counts as two meshes in one place. */
typedef struct papers_volume_desc {
    tml_tree *a, *b;
    papers_volume volume;
    const papers_oriented *a_boxes, *b_boxes; /* volumes that are oriented: of a and b */
    const float
        *poses; /* pose_count x 12: rotations and translations alone where boxes are oriented */
    uint32_t pose_count;
} papers_volume_desc;
typedef struct papers_volume_result {
    uint64_t pairs;      /* of triangles that meet: the same by every volume */
    uint64_t node_pairs; /* that passed */
    uint64_t tested;     /* pairs of triangles */
} papers_volume_result;
TML_MUST_CHECK tml_status papers_volume_collide(tml_context *tml, const papers_volume_desc *desc,
                                                papers_volume_result *out);

typedef struct papers_image_mesh {
    const float *vertices;   /* x y z each */
    const uint32_t *indices; /* three a triangle */
    uint32_t vertex_count, triangle_count;
} papers_image_mesh;
/* Sets kept[m][i] for each triangle of two meshes that may meet the other mesh: those that depth
 * buffers of side x side pixels, from six sides, do not exclude. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status papers_image_candidates(const papers_image_mesh meshes[2], uint32_t side,
                                                  uint8_t *kept[2]);

/* ---- subdivision ----------------------------------------------------------------------------- */

/* One level of Loop subdivision of records, f32x4 and 12 a triangle (self_contained.c says which).
 * out: four times as many; the children of triangle i are 4 i to 4 i + 3, as
 * tml_subdivide_uniform_enqueue's. At most 2^24 triangles. */
TML_MUST_CHECK tml_status papers_self_split(tml_context *tml, uint64_t triangle_count,
                                            tml_buffer in, tml_buffer out);
/* The records of a torus of `around` rings with `across` points each, both at least 3. Two
 * triangles per point: corners (i, k), (i + 1, k), (i + 1, k + 1) and (i, k), (i + 1, k + 1), (i, k
 * + 1). records: 96 floats per point. */
void papers_self_torus(const float *points, uint32_t around, uint32_t across, float *records);

/* ---- the picture of a pyramid ---------------------------------------------------------------- */

/* A picture of the HistoPyramid by which the OpenGL ES engine compacts. Each level is a band, the
 * apex at the top, the base at the bottom; a band has several rows if the level is wider than the
 * picture. A node's colour shows the fraction of kept elements below it: nearly black for none,
 * light yellow for all. rgba: as many pixels as papers_picture_size returns, rows from the top.
 * count may be zeroed. Waits. */
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
