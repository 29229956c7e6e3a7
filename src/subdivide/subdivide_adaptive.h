/* Shared by the files of adaptive refinement. subdivide_down.c makes and measures the levels.
 * subdivide_up.c finds and writes the leaves. subdivide_adaptive.c runs both, and describes the
 * algorithm. */
#ifndef SUBDIVIDE_ADAPTIVE_H
#define SUBDIVIDE_ADAPTIVE_H

#include "stream/program.h"
#include "subdivide/subdivide_internal.h"

/* The tally: all counts of a run as words. Each level has TALLY_LEVEL words. The counts of the
 * whole mesh follow. */
enum {
    TALLY_SELECTED,
    TALLY_LEAVES,
    TALLY_WORST,    /* float: the largest error of a leaf */
    TALLY_VERTICES, /* per topology */
    TALLY_LEVEL = TALLY_VERTICES + SUBDIVIDE_TOPOLOGIES,
    TALLY_USED = TALLY_LEVEL * (TML_SUBDIVIDE_MAX_LEVELS + 1), /* vertices, per topology */
    TALLY_WORDS = TALLY_USED + SUBDIVIDE_TOPOLOGIES,
};

/* The arrays of a level that are read on the way up. Topology [0] is the mesh. */
typedef struct part_level {
    tml_buffer halves[SUBDIVIDE_TOPOLOGIES], firsts[SUBDIVIDE_TOPOLOGIES];
    tml_buffer errors, wants, places, list, origins, reds, codes;
    tml_buffer sizes; /* LEVEL_...; from level 1 on */
} part_level;

/* The arrays of a run. In an enqueued run they are arrays of its program. A run that waits has
 * several programs, so its arrays are buffers, which the subdivider keeps for the next call. All
 * members are tml_buffers: subdivide_adaptive_destroy reads the struct as one array. */
typedef struct adaptive_arrays {
    part_level levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    tml_buffer wearing, touched, selects, ranks, owns, numbers, want_ranks;
    tml_buffer vertices[SUBDIVIDE_TOPOLOGIES][2]; /* level l at [l % 2] */
    tml_buffer points[SUBDIVIDE_VALUES][2];
    tml_buffer limits[SUBDIVIDE_VALUES][2], fresh_limits[SUBDIVIDE_VALUES];
    tml_buffer worn_limits[SUBDIVIDE_VALUES];
    tml_buffer normals[2], fresh_normals, worn_normals, vertex_normals;
    tml_buffer used[SUBDIVIDE_TOPOLOGIES], used_numbers[SUBDIVIDE_TOPOLOGIES];
    tml_buffer kept, middles, low_ends, high_ends, edge_errors, leaf_errors, depths;
    tml_buffer counts[TALLY_WORDS]; /* one element each */
    tml_buffer count, worst, camera, tally, written;
} adaptive_arrays;

struct subdivide_adaptive {
    adaptive_arrays arrays;
    /* The tally of an earlier run with this threshold. 0 before the first run. */
    float known_threshold;
    uint32_t known_depth;
    uint32_t known[TALLY_WORDS];
};

/* The counts of a level: triangles, selected triangles, vertices. In a run with lengths on the
 * device they are upper bounds. */
typedef struct level_counts {
    uint64_t triangles, selected;
    uint64_t vertices[SUBDIVIDE_TOPOLOGIES];
} level_counts;

typedef struct adaptive_run {
    program p; /* its status is the run's; steps after a failure do nothing */
    tml_subdivider *subdivider;
    tml_context *tml;
    struct subdivide_adaptive *memory; /* of a run that waits; otherwise NULL */
    adaptive_arrays *arrays;
    const tml_subdivide_adaptive_desc *desc;
    float threshold;   /* this run's */
    tml_buffer camera; /* for TML_SPLIT_PIXELS */
    uint32_t max_depth;
    uint32_t depth;      /* the finest level; with expected sizes an upper bound */
    uint64_t leaf_bound; /* a run stops at more triangles than this; 0: never */
    bool is_beyond;
    bool is_counted; /* lengths are on the device, with these bounds */
    uint32_t bounds[TALLY_WORDS];
    uint64_t level_room; /* enqueued: most triangles per level; otherwise 0 */
    double progress;     /* the largest reported so far */
    uint32_t tally[TALLY_WORDS];
    uint32_t places[TALLY_WORDS], place_count; /* entries of tally not yet read */
    level_counts levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    bool has_middles[SUBDIVIDE_TOPOLOGIES]; /* false at level 0: its half-edges are the mesh's */
    /* The results of the run. */
    uint64_t triangle_count, vertex_count[SUBDIVIDE_TOPOLOGIES];
    uint64_t level_leaves[TML_SUBDIVIDE_MAX_LEVELS + 1];
    uint32_t finest;            /* the finest level with triangles */
    float error, deepest_error; /* largest of leaves above max_depth; of leaves at max_depth */
} adaptive_run;

/* ---- streams and counts (subdivide_down.c) --------------------------------------------------- */

/* Runs the steps so far. */
void adaptive_flush(adaptive_run *run);
/* Gives *array room for count elements. A run that waits keeps the existing buffer if it suffices.
 * Otherwise it makes one with a quarter more room, because the next run's streams have other
 * lengths. */
tml_buffer adaptive_room(adaptive_run *run, tml_buffer *array, tml_type type, uint64_t count);
/* Maps length elements to an array of the same length. */
tml_buffer adaptive_map(adaptive_run *run, tml_length length, tml_buffer *out,
                        const tml_map_desc *desc);
tml_params adaptive_params(uint64_t count, uint32_t flags);
/* Writes a word to length elements. */
void adaptive_fill(adaptive_run *run, uint32_t word, tml_length length, tml_buffer out);
/* The tally's entry for a count of level l, such as TALLY_SELECTED. */
uint32_t adaptive_tally_place(uint32_t l, uint32_t which);
/* The one-element buffer on the device for entry place of the tally, which an operation writes. */
tml_buffer adaptive_count_room(adaptive_run *run, uint32_t place, tml_type type);
/* Call this after the operation that counts. Reads the count or, with expected sizes, leaves it to
 * adaptive_read_tally. */
void adaptive_take_count(adaptive_run *run, uint32_t place);
/* Entry place of the tally. With lengths on the device it is an upper bound. */
uint64_t adaptive_count_of(const adaptive_run *run, uint32_t place);
/* Reads the counts that adaptive_take_count left. They are collected on the device, and read by one
 * transfer. */
void adaptive_read_tally(adaptive_run *run);
/* The triangles of level l, and its vertices in topology t. */
tml_length adaptive_triangles(const adaptive_run *run, uint32_t l);
tml_length adaptive_vertices(const adaptive_run *run, uint32_t l, uint32_t t);
/* Computes the exclusive prefix sum of marks, each 0 or 1, from start on.
 * place  the tally's entry for start plus the sum
 * Returns: that count, or its upper bound (adaptive_count_of). */
uint64_t adaptive_rank_marks(adaptive_run *run, tml_buffer marks, tml_length length,
                             tml_buffer start, tml_buffer *out, uint32_t place);
/* Keeps the elements whose marks are set. */
tml_keep adaptive_marked(tml_buffer marks);
/* Writes the largest of length floats to out. */
void adaptive_reduce_max(adaptive_run *run, tml_buffer in, tml_length length, tml_buffer out);
/* The half-edges of level l in topology t; its limits of values number v (0: positions). */
tml_buffer adaptive_halves(const adaptive_run *run, uint32_t l, uint32_t t);
tml_buffer adaptive_limits(const adaptive_run *run, uint32_t l, uint32_t v);

/* ---- the steps of a run ---------------------------------------------------------------------- */

/* Refines until no triangle is wanted. run->depth is then the finest level. Stops early, with
 * is_beyond, if the wanted triangles alone make more than leaf_bound leaves. */
void adaptive_go_down(adaptive_run *run);
/* Writes the desc's camera to the device, and its nearest depth if that is automatic. */
void adaptive_set_camera(adaptive_run *run);
/* Finds the red triangles and the leaves of each level, and counts the triangles that the leaves
 * make. */
void adaptive_go_up(adaptive_run *run);
/* Marks the vertices of the result in used: those of level 0, and those that split an edge of a red
 * triangle. used_numbers, the exclusive prefix sum, is their number in the result. */
void adaptive_number_vertices(adaptive_run *run);
void adaptive_write_triangles(adaptive_run *run, const tml_subdivide_buffers *buffers);
void adaptive_write_vertices(adaptive_run *run, const tml_subdivide_buffers *buffers);
/* The number of triangles that fit in every output. */
uint64_t adaptive_triangle_room(const adaptive_run *run, const tml_subdivide_buffers *to);
/* Writes desc.counts and desc.draw. If channel values do not fit, sets the same bit of counts[2] as
 * for vertices. */
void adaptive_report(adaptive_run *run, const tml_subdivide_buffers *to);

#endif
