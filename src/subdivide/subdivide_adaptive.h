/* What the files of adaptive refinement share. subdivide_down.c makes the levels and measures them,
 * subdivide_up.c finds the leaves and writes them, subdivide_adaptive.c runs both, and says how
 * they work. */
#ifndef SUBDIVIDE_ADAPTIVE_H
#define SUBDIVIDE_ADAPTIVE_H

#include "stream/program.h"
#include "subdivide/subdivide_internal.h"

/* The tally, all counts of a run as words: TALLY_LEVEL for each level, then those of the whole
 * mesh. */
enum {
    TALLY_SELECTED,
    TALLY_LEAVES,
    TALLY_WORST,    /* a float: the largest error of a leaf */
    TALLY_VERTICES, /* by topology */
    TALLY_LEVEL = TALLY_VERTICES + SUBDIVIDE_TOPOLOGIES,
    TALLY_USED = TALLY_LEVEL * (TML_SUBDIVIDE_MAX_LEVELS + 1), /* vertices, by topology */
    TALLY_WORDS = TALLY_USED + SUBDIVIDE_TOPOLOGIES,
};

/* The arrays of one level that the way up reads. Topology [0] is the mesh. */
typedef struct part_level {
    tml_buffer halves[SUBDIVIDE_TOPOLOGIES], firsts[SUBDIVIDE_TOPOLOGIES];
    tml_buffer errors, wants, places, list, origins, reds, codes;
    tml_buffer sizes; /* LEVEL_..., from level 1 on */
} part_level;

/* The arrays of a run. An enqueued run's are arrays of its program. A run that waits has several
 * programs; its arrays are buffers, which the subdivider keeps for the next call. All members are
 * of type tml_buffer: subdivide_adaptive_destroy reads the struct as one array. */
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
    /* The tally of an earlier run with known_threshold, which is 0 before the first run. */
    float known_threshold;
    uint32_t known_depth;
    uint32_t known[TALLY_WORDS];
};

/* Of one level: its triangles, how many are selected, its vertices. In a run with lengths on the
 * device these are upper bounds. */
typedef struct level_counts {
    uint64_t triangles, selected;
    uint64_t vertices[SUBDIVIDE_TOPOLOGIES];
} level_counts;

typedef struct adaptive_run {
    program p; /* its status is the run's: after the first failure nothing more is done */
    tml_subdivider *subdivider;
    tml_context *tml;
    struct subdivide_adaptive *memory; /* of a run that waits, else NULL */
    adaptive_arrays *arrays;
    const tml_subdivide_adaptive_desc *desc;
    float threshold;   /* of this run */
    tml_buffer camera; /* PIXELS */
    uint32_t max_depth;
    uint32_t depth;      /* the finest level, or with expected sizes an upper bound */
    uint64_t leaf_bound; /* the run stops beyond so many triangles; 0: never */
    bool is_beyond;
    bool is_counted; /* lengths are on the device, with these bounds */
    uint32_t bounds[TALLY_WORDS];
    uint64_t level_room; /* enqueued: triangles of a level at most; else 0 */
    double progress;     /* the largest reported; further runs do not report less */
    uint32_t tally[TALLY_WORDS];
    uint32_t places[TALLY_WORDS], place_count; /* entries of tally that are still to be read */
    level_counts levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    bool has_middles[SUBDIVIDE_TOPOLOGIES]; /* level 0: else its half-edges are the mesh's */
    /* What the run made. */
    uint64_t triangle_count, vertex_count[SUBDIVIDE_TOPOLOGIES];
    uint64_t level_leaves[TML_SUBDIVIDE_MAX_LEVELS + 1];
    uint32_t finest;            /* level that has triangles */
    float error, deepest_error; /* the largest of leaves above max_depth; of leaves at it */
} adaptive_run;

/* ---- streams and counts (subdivide_down.c) --------------------------------------------------- */

/* Takes the steps so far. */
void adaptive_flush(adaptive_run *run);
/* Gives *array room for count elements. A run that waits keeps the buffer that is there, or makes
 * one with room for a quarter more, since the next run's streams have other lengths. */
tml_buffer adaptive_room(adaptive_run *run, tml_buffer *array, tml_type type, uint64_t count);
/* Maps length elements into an array of as many. */
tml_buffer adaptive_map(adaptive_run *run, tml_length length, tml_buffer *out,
                        const tml_map_desc *desc);
tml_params adaptive_params(uint64_t count, uint32_t flags);
/* Writes a word to length elements. */
void adaptive_fill(adaptive_run *run, uint32_t word, tml_length length, tml_buffer out);
/* The entry of the tally for level l: TALLY_SELECTED and so on. */
uint32_t adaptive_tally_place(uint32_t l, uint32_t which);
/* The one-element buffer on the device into which an operation counts entry place of the tally. */
tml_buffer adaptive_count_room(adaptive_run *run, uint32_t place, tml_type type);
/* Follows the operation that counts: reads the count, or with expected sizes leaves that to
 * adaptive_read_tally. */
void adaptive_take_count(adaptive_run *run, uint32_t place);
/* Entry place of the tally: exact, or with lengths on the device an upper bound. */
uint64_t adaptive_count_of(const adaptive_run *run, uint32_t place);
/* Reads the counts that adaptive_take_count left, all by one transfer: they are collected on the
 * device first. */
void adaptive_read_tally(adaptive_run *run);
/* Of level l: its triangles, and its vertices in topology t. */
tml_length adaptive_triangles(const adaptive_run *run, uint32_t l);
tml_length adaptive_vertices(const adaptive_run *run, uint32_t l, uint32_t t);
/* out: the exclusive prefix sum of marks, each 0 or 1, from start on. Counts the end at place, and
 * returns it, or an upper bound (adaptive_count_of). */
uint64_t adaptive_rank_marks(adaptive_run *run, tml_buffer marks, tml_length length,
                             tml_buffer start, tml_buffer *out, uint32_t place);
/* Keeps the elements whose marks are set. */
tml_keep adaptive_marked(tml_buffer marks);
/* out: the largest of length floats. */
void adaptive_reduce_max(adaptive_run *run, tml_buffer in, tml_length length, tml_buffer out);
/* Of level l: half-edges of topology t, limit positions or values. */
tml_buffer adaptive_halves(const adaptive_run *run, uint32_t l, uint32_t t);
tml_buffer adaptive_limits(const adaptive_run *run, uint32_t l, uint32_t v);

/* ---- the steps of a run ---------------------------------------------------------------------- */

/* Refines until no triangle is wanted; run->depth is then the finest level. Stops early with
 * is_beyond if the wanted triangles alone make more than leaf_bound leaves. */
void adaptive_go_down(adaptive_run *run);
/* Writes the desc's camera to the device, with its nearest depth where that is automatic. */
void adaptive_set_camera(adaptive_run *run);
/* Finds the red triangles and the leaves of each level, and counts what the leaves give. */
void adaptive_go_up(adaptive_run *run);
/* used: marks of the vertices that the result has: those of level 0, and those that split an edge
 * at which a triangle is red. used_numbers: their exclusive prefix sum, which is their number in
 * the result. */
void adaptive_number_vertices(adaptive_run *run);
void adaptive_write_triangles(adaptive_run *run, const tml_subdivide_buffers *buffers);
void adaptive_write_vertices(adaptive_run *run, const tml_subdivide_buffers *buffers);
/* Triangles that have room in all of the outputs. */
uint64_t adaptive_triangle_room(const adaptive_run *run, const tml_subdivide_buffers *to);
/* Writes desc.counts and desc.draw. The bit of counts[2] for channel values that have no room is
 * that of the vertices. */
void adaptive_report(adaptive_run *run, const tml_subdivide_buffers *to);

#endif
