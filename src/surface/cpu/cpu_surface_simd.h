/* The surface's inner loops, one set for each instruction set. cpu_surface_loops.h holds them once
 * and is compiled three times; cpu_surface.c picks a set at run time. */
#ifndef TML_CPU_SURFACE_SIMD_H
#define TML_CPU_SURFACE_SIMD_H

#include "core/core_internal.h"

typedef uint64_t surface_word;

/* What a row of sign bits holds. */
enum { ROW_OUTSIDE = 1, ROW_INSIDE = 2, ROW_NAN = 4 }; /* samples of that kind occur */

/* The bits of four neighbouring rows of samples, y y+1 at z, then at z+1. */
typedef struct surface_rows {
    const surface_word *row[4];
} surface_rows;

typedef struct surface_row_counts {
    uint64_t crossings[3]; /* of the edges that the first row owns */
    uint64_t triangles;
    uint64_t cells; /* active */
} surface_row_counts;

/* Expanded case table: what the triangle loop needs of a case in one place. */
typedef struct surface_case {
    uint8_t
        lanes[16]; /* for each index to write: lane 0 ... 7 of the running counters before the cell,
                          * 8 ... 15 after it */
    uint8_t advance[8];  /* added to the running counters by the cell */
    uint8_t index_count; /* 3 for each triangle */
} surface_case;

/* The eight running counters of a row of cells: x-edges of rows 0 1 2 3, y-edges of rows 0 and 2,
 * z-edges of rows 0 and 1. */
enum { SURFACE_COUNTERS = 8 };

/* Crossed edges of a group of a row's words, by axis. */
enum { GROUP_WORDS = 8, GROUP = 64 * GROUP_WORDS };
typedef struct surface_edges {
    surface_word words[3][GROUP_WORDS];
    uint64_t runs[3]; /* bit i: one of the edges 16 i ... 16 i + 15 is crossed */
} surface_edges;

/* The samples at the ends of the crossed edges of a group, packed. Whole vectors are written past
 * the last one. */
enum { ENDS = GROUP + 16 };
typedef struct surface_ends {
    uint64_t count;
    uint32_t x[ENDS]; /* sample of the lower end, from the group's first */
    union {           /* double for types that are computed in double */
        struct {
            float low[ENDS], high[ENDS];
        } narrow;
        struct {
            double low[ENDS], high[ENDS];
        } wide;
    } at;
} surface_ends;

/* Samples around both ends of up to NORMAL_LANES edges, as floats: what their vertices' normals are
 * computed from. The neighbour (x, y, z), each of -1 ... 1, of an end is sample surface_neighbour of
 * it; past the volume's border lie the samples on it. FORWARD: below an end lies its own sample,
 * except where the end is the last of an axis. */
enum { NORMAL_LANES = 64, NEIGHBOURS = 27 };
typedef struct surface_around {
    uint32_t count;
    int32_t dims[3];                /* of the whole volume: 1, or 3 for more */
    int32_t at[2][3][NORMAL_LANES]; /* the ends on the axes: 0 the first, 2 the last, 1 between */
    float t[NORMAL_LANES];          /* of the vertices on their edges */
    float samples[2 * NEIGHBOURS][NORMAL_LANES]; /* one end's, then the other's */
} surface_around;

/* has_nan: samples may be NaN; else nobody asks for an end's own, but FORWARD. */
static inline uint32_t surface_neighbour_count(tml_normals kind, bool has_nan)
{
    return kind == TML_NORMALS_SOBEL ? NEIGHBOURS : kind == TML_NORMALS_FORWARD || has_nan ? 7 : 6;
}
static inline uint32_t surface_neighbour(tml_normals kind, int x, int y, int z)
{
    int i = x + 2 * y + 3 * z; /* the end's own comes last */
    return (uint32_t)(kind == TML_NORMALS_SOBEL ? 13 + x + 3 * y + 9 * z
                      : i < 0                   ? i + 3
                      : i > 0                   ? i + 2
                                                : 6);
}

/* Samples that lie alike around each column of a row. */
enum { SURFACE_STENCIL = 2 * NEIGHBOURS };
typedef struct surface_stencil {
    uint32_t count;
    const void *at[SURFACE_STENCIL]; /* the sample of column 0 */
} surface_stencil;

typedef struct surface_simd {
    const char *name;
    /* Sign bits of n samples: bit = sample >= iso. Returns ROW_ flags. threshold is a T. */
    uint32_t (*bits[TML_SCALAR_END])(const void *samples, uint64_t n, const void *threshold,
                                     surface_word *out);
    /* Bits of sample == label (a T). */
    uint32_t (*equal[TML_SCALAR_END])(const void *samples, uint64_t n, const void *label,
                                      surface_word *out);
    /* Bits of sample is not NaN. */
    void (*present[TML_SCALAR_END])(const void *samples, uint64_t n, surface_word *out);
    /* Smallest and largest of n samples, rounded outward to float; false when one is NaN. */
    bool (*range[TML_SCALAR_END])(const void *samples, uint64_t n, float *smallest, float *largest);
    /* Packs the samples at both ends of an axis's crossed edges; low and high are the rows
     * there. */
    void (*pack[TML_SCALAR_END])(const void *low, const void *high, const surface_edges *edges,
                                 int axis, uint64_t words, surface_ends *out);
    /* Crossing points from the packed ends, in place of low. */
    void (*cross)(surface_ends *ends, float iso);
    void (*cross_wide)(surface_ends *ends, double iso);
    /* Sample k of a stencil for each of n columns, as floats, to out[k]. */
    void (*gather[TML_SCALAR_END])(const surface_stencil *stencil, const uint32_t *columns,
                                   uint64_t n, float (*out)[NORMAL_LANES]);
    /* Normals of the vertices on taps' edges. has_nan: samples may be NaN. rows: to
     * surface_normal. */
    void (*normals)(tml_normals kind, bool has_nan, const surface_around *taps,
                    const float rows[3][3], float *out);
    /* The crossed edges that a row of samples owns, for words <= GROUP_WORDS of it. */
    void (*edges)(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                  const surface_word *x_mask, surface_edges *out);
    /* Counts of the edges that a row of samples owns, and of the row of cells at it. The masks have
     * a bit for each sample, for each x-edge and for each cell that counts. */
    void (*count)(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                  const surface_word *x_mask, const surface_word *cell_mask,
                  surface_row_counts *out);
    /* Triangles of a row of cells into out ... end; counters as above; returns the new out. */
    uint32_t *(*triangles)(const surface_rows *rows, uint64_t words, const surface_word *cell_mask,
                           const surface_case *cases, uint32_t counters[SURFACE_COUNTERS],
                           uint32_t *out, uint32_t *end);
} surface_simd;

extern const surface_simd surface_simd_plain;
#if defined(__x86_64__)
extern const surface_simd surface_simd_avx2;
extern const surface_simd surface_simd_avx512;
#endif

/* Types whose crossing points are computed in double. */
#define SURFACE_IN_DOUBLE(type)                                                                    \
    ((type) == TML_F64 || (type) == TML_U32 || (type) == TML_I32 || (type) == TML_U64 ||           \
     (type) == TML_I64)
static inline bool surface_in_double(tml_type type)
{
    return SURFACE_IN_DOUBLE(type);
}

#endif
