/* Shared by the files of src/subdivide. subdivide_topology.c builds the half-edges of a mesh on the
 * host. subdivide.c uploads them as a subdivider. subdivide_uniform.c and subdivide_adaptive.c
 * refine it on the device, by the kernels of subdivide_kernels.c. src/kernels/subdivide.k.h has the
 * formulas. */
#ifndef TML_SUBDIVIDE_INTERNAL_H
#define TML_SUBDIVIDE_INTERNAL_H

#include "core/core_internal.h"
#include "kernels/subdivide_layout.k.h"

/* The most triangles of a mesh, and of a level that is refined. The records of the half-edges are
 * 12 words per triangle (3 of 4, subdivide.k.h), and words are indexed by a uint32_t. */
enum { SUBDIVIDE_MAX_TRIANGLES = 0xffffffffu / 12 };

/* ---- on the host (subdivide_topology.c) ------------------------------------------------------ */

/* A mesh as half-edges, in memory from the context's allocator. Half-edge 3f + k goes from corner k
 * of triangle f to the next corner. */
typedef struct subdivide_mesh {
    uint64_t vertex_count, triangle_count, edge_count;
    uint64_t source_count;      /* vertices of the input; copies follow them */
    uint32_t *corners;          /* 3 per triangle */
    uint32_t *twins;            /* 3 per triangle */
    float *sharp;               /* 3 per triangle: sharpness of the half-edge's edge */
    uint32_t *starts;           /* 1 per vertex: a half-edge that leaves it, or LOOP_NONE */
    float *vertex_sharp;        /* 1 per vertex */
    uint32_t *vertex_sources;   /* 1 per vertex: the input's vertex; NULL: the same */
    uint32_t *triangle_origins; /* 1 per triangle: the input's triangle; NULL: the same */
    uint8_t *flipped;           /* 1 per input triangle: reversed by fix; NULL: none was */
    size_t vertex_room;         /* capacity of starts, vertex_sharp and vertex_sources */
    uint64_t removed_count, flipped_count; /* removed_count includes duplicates */
    uint64_t duplicate_count;
    uint64_t boundary_edge_count, sharp_edge_count;
    uint32_t max_valence;
    float max_sharpness;
} subdivide_mesh;

/* An indexed mesh on the host, as given by the caller. */
typedef struct subdivide_input {
    const float *positions;
    const uint32_t *indices;
    uint64_t vertex_count, triangle_count;
    const uint32_t *crease_edges;
    const float *crease_sharpness; /* NULL: infinite */
    uint64_t crease_count;
    const uint32_t *corners;
    const float *corner_sharpness; /* NULL: infinite */
    uint64_t corner_count;
    tml_subdivide_boundary boundary;
    bool fix;
} subdivide_input;

/* Builds a mesh's half-edges. A mesh that is not an oriented manifold is repaired with fix, and
 * refused without. The caller frees *out, which is empty on failure.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
tml_status subdivide_mesh_create(tml_context *tml, const subdivide_input *input,
                                 subdivide_mesh *out);
/* Builds the half-edges of a channel over the mesh's triangles. The channel's seams are boundaries.
 * indices  as given by the caller, for the input's triangles
 * number   the channel's, for messages */
tml_status subdivide_mesh_create_channel(tml_context *tml, const subdivide_mesh *mesh,
                                         const uint32_t *indices, uint64_t value_count,
                                         tml_subdivide_seams seams, uint32_t number,
                                         subdivide_mesh *out);
void subdivide_mesh_free(tml_context *tml, subdivide_mesh *mesh);

/* ---- on the device --------------------------------------------------------------------------- */

/* A mesh's topology at one level; subdivide.k.h describes the arrays. */
typedef struct subdivide_level {
    uint64_t vertex_count, edge_count, triangle_count;
    tml_buffer halves, vertices, firsts;
} subdivide_level;

/* The topology of the mesh, or of a channel over its triangles. Levels that uniform subdivision
 * made are kept for later calls. */
typedef struct subdivide_topology {
    subdivide_level levels[TML_SUBDIVIDE_MAX_LEVELS];
    uint32_t level_count;
    uint32_t flags; /* LOOP_PINNED, LOOP_LINEAR */
} subdivide_topology;

/* Values at the vertices of a topology: first positions, then attributes and channel values. */
typedef struct subdivide_values {
    uint32_t topology;   /* 0: the mesh; 1 + c: channel c */
    uint32_t components; /* floats per value */
    tml_buffer base;     /* level 0 */
    tml_buffer sources;  /* u32, 1 per value: its index in the caller's buffer */
    uint64_t source_count;
} subdivide_values;

enum {
    SUBDIVIDE_TOPOLOGIES = 1 + TML_SUBDIVIDE_MAX_CHANNELS,
    SUBDIVIDE_VALUES = 1 + TML_SUBDIVIDE_MAX_ATTRIBUTES + TML_SUBDIVIDE_MAX_CHANNELS,
};

struct tml_subdivider {
    tml_context *tml;
    tml_subdivider_info info;
    subdivide_topology topologies[SUBDIVIDE_TOPOLOGIES];
    uint32_t topology_count;
    subdivide_values values[SUBDIVIDE_VALUES];
    uint32_t value_count, attribute_count;
    /* The desc's attributes[attribute_slots[a]] are values 1 + a. Its channels[channel_slots[c]] is
     * topology 1 + c. */
    uint32_t attribute_slots[TML_SUBDIVIDE_MAX_ATTRIBUTES];
    uint32_t channel_slots[TML_SUBDIVIDE_MAX_CHANNELS];
    tml_buffer turns;            /* f32x2, [n]: cosine and sine of 2 pi / n */
    tml_buffer triangle_origins; /* u32, 1 per triangle: the input's; absent: the same */
    /* For subdivide_adaptive.c. NULL before its first call. */
    struct subdivide_adaptive *adaptive;
};

tml_type subdivide_value_type(uint32_t components);

/* The buffers of a result. Buffers that the caller gave are checked. Missing buffers are created if
 * the call makes their contents.
 * buffers  all of these
 * created  only the created ones, to be destroyed on failure */
typedef struct subdivide_outputs {
    tml_subdivide_buffers buffers;
    tml_subdivide_buffers created;
} subdivide_outputs;
typedef struct subdivide_counts {
    uint64_t vertices, triangles;
    uint64_t values[TML_SUBDIVIDE_MAX_CHANNELS];
} subdivide_counts;
tml_status subdivide_outputs_create(tml_subdivider *subdivider, const char *call,
                                    const tml_subdivide_buffers *given, bool normals, bool origins,
                                    const subdivide_counts *counts, subdivide_outputs *out);
/* Checks the buffers that an enqueued call writes. All are given, and their sizes are the
 * capacities. */
tml_status subdivide_outputs_given(tml_subdivider *subdivider, const char *call,
                                   const tml_subdivide_adaptive_desc *desc,
                                   tml_subdivide_buffers *out);
void subdivide_buffers_destroy(tml_context *tml, const tml_subdivide_buffers *buffers);
/* Stores the buffers in a result, which then owns the created ones. */
void subdivide_outputs_deliver(const subdivide_outputs *outputs, tml_subdivide_result *out);
/* Returns the output buffer of values number v. */
tml_buffer subdivide_output_of(const tml_subdivider *subdivider,
                               const tml_subdivide_buffers *buffers, uint32_t v);

/* Returns the output buffer of a topology's triangles. */
tml_buffer subdivide_indices_of(const tml_subdivider *subdivider,
                                const tml_subdivide_buffers *buffers, uint32_t topology);

/* Returns the counts of the next level. */
subdivide_level subdivide_next_counts(const subdivide_level *level);
void subdivide_level_destroy(tml_context *tml, subdivide_level *level);

void subdivide_adaptive_destroy(tml_context *tml, struct subdivide_adaptive *adaptive);

/* ---- a short cut on the CPU (subdivide_cpu.c) ------------------------------------------------ */

/* Returns whether the functions below apply to topology number t: on the CPU engine, unless it is
 * LOOP_LINEAR. */
bool subdivide_cpu_takes(const tml_subdivider *subdivider, uint32_t t);
/* A step of a program on the CPU engine. It computes the same bits as the kernels that it
 * replaces. */
typedef enum subdivide_cpu_task {
    /* in: values number which of level parent + 1. out: the same, refined to level parent + 2.
     * Reads only the half-edges of levels up to parent. */
    SUBDIVIDE_CPU_VALUES,
    SUBDIVIDE_CPU_LIMITS, /* the same in; out: their limits */
    /* in: the positions of level parent + 1. out: normals of the limit surface at its vertices. */
    SUBDIVIDE_CPU_NORMALS,
    /* out: the triangles of level parent + 2 in topology which, made from the half-edges of level
     * parent. */
    SUBDIVIDE_CPU_TRIANGLES,
} subdivide_cpu_task;
typedef struct subdivide_cpu_desc {
    tml_subdivider *subdivider;
    subdivide_cpu_task task;
    uint32_t which, parent;
    tml_buffer in, out;
} subdivide_cpu_desc;
struct program;
/* Adds the step. Returns false, and adds nothing, if subdivide_cpu_takes returns false. */
bool subdivide_cpu_add(struct program *p, const subdivide_cpu_desc *desc);

/* ---- kernels (subdivide_kernels.c) ----------------------------------------------------------- */

/* Kernels for values. Element [n - 1] is for n components. */
extern const tml_kernel *const subdivide_copy_kernels[4];   /* (tml_words values, uint source) */
extern const tml_kernel *const subdivide_child_kernels[4];  /* values of the next level */
extern const tml_kernel *const subdivide_limit_kernels[4];  /* limits of the next level's values */
extern const tml_kernel *const subdivide_settle_kernels[4]; /* limits of a level's own values */
extern const tml_kernel *const subdivide_vertex_normal;
extern const tml_kernel *const subdivide_child_normal;

#endif
