/* The surface's inner loops: a set per SIMD level (core/simd.h). cpu_surface.c chooses one. */
#ifndef TML_CPU_SURFACE_SIMD_H
#define TML_CPU_SURFACE_SIMD_H

#include "core/core_internal.h"
#include "surface/surface_topology.h"

typedef uint64_t surface_word;

/* Kinds of samples that occur in a row. */
enum { ROW_OUTSIDE = 1, ROW_INSIDE = 2, ROW_NAN = 4 };

/* Sign bits of the four rows of samples around a row of cells: (y, z), (y + 1, z), (y, z + 1),
 * (y + 1, z + 1). */
typedef struct surface_rows {
    const surface_word *row[4];
} surface_rows;

typedef struct surface_row_counts {
    uint64_t crossings[3]; /* by axis: crossed edges that the first row owns */
    uint64_t triangles;
    uint64_t cells; /* active cells */
} surface_row_counts;

/* A case of the expanded case table. lanes: the running counter of each index; 0 ... 7 for its
 * value before the cell, 8 ... 15 for its value after the cell. */
typedef struct surface_case {
    uint8_t lanes[16];
    uint8_t advance[8];  /* the cell's addition to each running counter */
    uint8_t index_count; /* 3 per triangle */
} surface_case;

/* The lane of each edge of the case table. An odd y- or z-edge is one step along x, so its number
 * is its counter's value after the cell. */
static const uint8_t surface_lane_of_edge[16] = {0, 1, 2, 3, 4, 12, 5, 13, 6, 14, 7, 15};

/* The open cells of a row (topology_is_open), whose cases do not determine their triangles. */
typedef struct surface_open {
    const uint16_t *meshes; /* of the next cells */
    uint32_t own;           /* number of the next own vertex */
    bool flips;             /* exchanges the second and third corner of each triangle */
} surface_open;

/* Writes the next cell's triangles. counters: before the cell, then after it. Returns their end. */
uint32_t *open_write(surface_open *open, const uint32_t counters[16], uint32_t *out);

/* The eight running counters of a row of cells: x-edges of rows 0 1 2 3, y-edges of rows 0 and 2,
 * z-edges of rows 0 and 1. */
enum { SURFACE_COUNTERS = 8 };

/* Crossed edges of a group of words of a row, by axis. */
enum { GROUP_WORDS = 8, GROUP = 64 * GROUP_WORDS };
typedef struct surface_edges {
    surface_word words[3][GROUP_WORDS];
    uint64_t runs[3]; /* bit i is 0: none of the edges 16 i ... 16 i + 15 is crossed */
} surface_edges;

/* Vertices that are computed together, in the order of the outputs. Functions may write up to
 * LANE_SLACK lanes past the last. */
enum { SURFACE_LANES = 64, LANE_SLACK = 16, LANES_HELD = SURFACE_LANES + LANE_SLACK };
typedef struct surface_lanes {
    uint64_t count;
    uint32_t x[LANES_HELD];         /* columns of the edges' lower ends in the workspace */
    uint64_t sample[2][LANES_HELD]; /* numbers of the samples at both ends */
    uint8_t axis[LANES_HELD];       /* of the edges */
    float index[3][LANES_HELD];     /* of the lower ends, by axis; for place */
    union {                         /* values of the samples; wide: SURFACE_IN_DOUBLE */
        struct {
            float low[LANES_HELD], high[LANES_HELD];
        } narrow;
        struct {
            double low[LANES_HELD], high[LANES_HELD];
        } wide;
    } ends;
} surface_lanes;

/* The members of surface_lanes for an edge at column 0. */
typedef struct surface_first {
    int axis;
    uint32_t index[3];
    uint64_t sample[2];
} surface_first;

/* The samples that the gradients at both ends of up to SURFACE_LANES edges read, as floats.
 * surface_neighbour numbers the neighbour (x, y, z) of an end, each -1 ... 1. Past the volume's
 * border the border sample repeats. FORWARD: the lower neighbour is the end itself, unless the end
 * is the last sample on the axis. */
enum { NEIGHBOURS = 27, SURFACE_STENCIL = 2 * NEIGHBOURS };
typedef struct surface_around {
    int32_t dims[3];                 /* 1 if the volume has one sample on the axis, otherwise 3 */
    int32_t at[2][3][SURFACE_LANES]; /* an end's place on an axis: 0 first, 2 last, otherwise 1 */
    float samples[SURFACE_STENCIL][SURFACE_LANES]; /* around the lower ends, then the upper ends */
} surface_around;

/* Returns the number of neighbours that a gradient reads. The last one is the end itself, which
 * FORWARD needs, and the other differences only if samples may be NaN (has_nan). */
static inline uint32_t surface_neighbour_count(tml_normals kind, bool has_nan)
{
    return kind == TML_NORMALS_SOBEL ? NEIGHBOURS : kind == TML_NORMALS_FORWARD || has_nan ? 7 : 6;
}
static inline uint32_t surface_neighbour(tml_normals kind, int x, int y, int z)
{
    int i = x + 2 * y + 3 * z;
    return (uint32_t)(kind == TML_NORMALS_SOBEL ? 13 + x + 3 * y + 9 * z
                      : i < 0                   ? i + 3
                      : i > 0                   ? i + 2
                                                : 6);
}

/* The samples around up to SURFACE_LANES vertices: neighbour k of vertex i is offsets[i][k] samples
 * from sample[i]. */
typedef struct surface_stencil {
    uint32_t count; /* neighbours per vertex */
    uint64_t sample[SURFACE_LANES];
    const int64_t *offsets[SURFACE_LANES];
} surface_stencil;

typedef struct surface_simd {
    /* Computes the sign bits of n samples: sample >= threshold. Returns ROW_ flags. threshold has
     * the type that samples are compared as: float for f16, otherwise the samples' own. */
    uint32_t (*bits[TML_SCALAR_END])(const void *samples, uint64_t n, const void *threshold,
                                     surface_word *out);
    /* Computes the bits of sample == label. Returns ROW_ flags. label has the samples' type. */
    uint32_t (*equal[TML_SCALAR_END])(const void *samples, uint64_t n, const void *label,
                                      surface_word *out);
    /* Sets a bit per sample that is not NaN. */
    void (*present[TML_SCALAR_END])(const void *samples, uint64_t n, surface_word *out);
    /* Finds the smallest and largest sample, rounded outward to float. False: a sample is NaN. */
    bool (*range[TML_SCALAR_END])(const void *samples, uint64_t n, float *smallest, float *largest);
    /* Adds n edges of a row without a pad. x: their columns. */
    void (*add)(surface_lanes *lanes, const surface_first *first, const uint32_t *x, uint64_t n);
    /* Writes the columns of a group's crossed edges along an axis, and up to 16 columns past the
     * last. first: the group's first column. Returns the number of columns. */
    uint64_t (*columns)(const surface_edges *edges, int axis, uint64_t words, uint32_t first,
                        uint32_t *out);
    /* Reads the values of the samples at both ends. */
    void (*ends[TML_SCALAR_END])(const void *samples, surface_lanes *lanes);
    /* Replaces low by t of the crossing point on each edge. */
    void (*cross)(surface_lanes *lanes, float iso);
    void (*cross_wide)(surface_lanes *lanes, double iso);
    /* Writes positions that are indices. axes: the axis of each component. */
    void (*place)(const surface_lanes *lanes, const int axes[3], float *out);
    /* Writes neighbour k of each of n vertices to out[k], as float. */
    void (*gather[TML_SCALAR_END])(const void *samples, const surface_stencil *stencil, uint64_t n,
                                   float (*out)[SURFACE_LANES]);
    /* Writes the differences of the neighbours along each axis, first of the lower ends, then of
     * the upper ends. NULL: use gather. */
    void (*differences[TML_SCALAR_END])(const void *samples, const surface_lanes *lanes,
                                        const int64_t strides[3], float (*out)[SURFACE_LANES]);
    /* Computes n normals at t of the vertices' edges. rows: last arguments of surface_normal. */
    void (*normals)(tml_normals kind, bool has_nan, const surface_around *around, const float *t,
                    uint64_t n, const float rows[3][3], float *out);
    /* Does the same from the output of differences. */
    void (*usual_normals)(const surface_around *around, const float *t, uint64_t n,
                          const float rows[3][3], float *out);
    /* Finds the crossed edges that some words of a row of samples own; words <= GROUP_WORDS. */
    void (*edges)(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                  const surface_word *x_mask, surface_edges *out);
    /* Counts the crossed edges that a row of samples owns, and the triangles and active cells of
     * the row of cells there. The masks have a bit per sample, x-edge and cell that counts. */
    void (*count)(const surface_rows *rows, uint64_t words, const surface_word *sample_mask,
                  const surface_word *x_mask, const surface_word *cell_mask,
                  surface_row_counts *out);
    /* Writes the triangles of a row of cells to [out, end). Returns the end of the written ones. */
    uint32_t *(*triangles)(const surface_rows *rows, uint64_t words, const surface_word *cell_mask,
                           const surface_case *cases, uint32_t counters[SURFACE_COUNTERS],
                           uint32_t *out, uint32_t *end);
    /* Does the same for a row with open cells, whose cases have index_count 0. */
    uint32_t *(*open_triangles)(const surface_rows *rows, uint64_t words,
                                const surface_word *cell_mask, const surface_case *cases,
                                uint32_t counters[SURFACE_COUNTERS], uint32_t *out, uint32_t *end,
                                surface_open *open);
    /* Marks the open cells among those in the mask. Returns their number. */
    uint64_t (*open)(const surface_rows *rows, uint64_t words, const surface_word *cell_mask,
                     surface_word *out);
    uint64_t (*count_open)(const surface_rows *rows, uint64_t words, const surface_word *cell_mask);
    /* See topology_look_at_faces. */
    void (*look_at_faces)(const topology_cell *cells, uint32_t count,
                          topology_faces out[TOPOLOGY_BATCH]);
} surface_simd;

extern const surface_simd surface_simd_plain, surface_simd_avx2, surface_simd_avx512;

/* Types whose crossing points are computed in double. */
#define SURFACE_IN_DOUBLE(type)                                                                    \
    ((type) == TML_F64 || (type) == TML_U32 || (type) == TML_I32 || (type) == TML_U64 ||           \
     (type) == TML_I64)
static inline bool surface_in_double(tml_type type)
{
    return SURFACE_IN_DOUBLE(type);
}

#endif
