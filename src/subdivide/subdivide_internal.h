/* What the files of src/subdivide share. subdivide_topology.c makes half-edges of a mesh on the host,
 * subdivide.c a subdivider of them on the device, subdivide_uniform.c and subdivide_adaptive.c refine it
 * by the kernels of subdivide_kernels.c, whose formulas are in src/kernels/subdivide.k.h. */
#ifndef TML_SUBDIVIDE_INTERNAL_H
#define TML_SUBDIVIDE_INTERNAL_H

#include "core/core_internal.h"
#include "kernels/subdivide_layout.k.h"

/* ---- on the host (subdivide_topology.c) ------------------------------------------------------ */

/* A mesh as half-edges; memory by the context's allocator. Half-edge 3f + k runs from corner k of triangle
 * f to the next. */
typedef struct subdivide_mesh {
    uint64_t vertex_count, triangle_count, edge_count;
    uint64_t source_count;      /* vertices that came in: vertex i beyond is a copy of ... */
    uint32_t *corners;          /* 3 a triangle */
    uint32_t *twins;            /* 3 a triangle */
    float *sharp;               /* 3 a triangle: of its edge */
    uint32_t *starts;           /* a vertex's half-edge; LOOP_NONE without */
    float *vertex_sharp;        /* one a vertex */
    uint32_t *vertex_sources;   /* one a vertex; NULL where every one is its own */
    uint32_t *triangle_origins; /* one a triangle; NULL where every one is its own */
    uint8_t *flipped;           /* one a triangle of the input; NULL: none is */
    size_t vertex_room;         /* entries of starts, vertex_sharp and vertex_sources */
    uint64_t removed_count, flipped_count; /* removed: all of them */
    uint64_t duplicate_count;
    uint64_t boundary_edge_count, sharp_edge_count;
    uint32_t max_valence;
    float max_sharpness;
} subdivide_mesh;

/* What is known of a mesh before it has half-edges; all on the host. */
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

/* The mesh's half-edges, checked or mended. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
tml_status subdivide_mesh_create(tml_context *tml, const subdivide_input *input,
                                 subdivide_mesh *out);
/* A channel's, over the same triangles: seams are boundaries. indices and value_count: of the input. */
tml_status subdivide_mesh_create_channel(tml_context *tml, const subdivide_mesh *mesh,
                                         const uint32_t *indices, uint64_t value_count,
                                         tml_subdivide_seams seams, uint32_t number,
                                         subdivide_mesh *out);
void subdivide_mesh_free(tml_context *tml, subdivide_mesh *mesh);

/* ---- on the device --------------------------------------------------------------------------- */

/* A mesh's topology at one level; the arrays are described in subdivide.k.h. */
typedef struct subdivide_level {
    uint64_t vertex_count, edge_count, triangle_count;
    tml_buffer halves, vertices, firsts;
} subdivide_level;

/* The mesh, or a channel over its triangles. Levels that uniform subdivision has made stay. */
typedef struct subdivide_topology {
    subdivide_level levels[TML_SUBDIVIDE_MAX_LEVELS];
    uint32_t level_count;
    uint32_t flags; /* LOOP_PINNED, LOOP_LINEAR */
} subdivide_topology;

/* Values at the vertices of a topology: positions (first), attributes, channel values. */
typedef struct subdivide_values {
    uint32_t topology;   /* 0: the mesh; 1 + c: channel c */
    uint32_t components; /* floats in each */
    tml_buffer base;     /* level 0 */
    tml_buffer sources;  /* u32: which of the caller's values each one is; none: its own */
    uint64_t source_count;
} subdivide_values;

enum {
    SUBDIVIDE_TOPOLOGIES = 1 + TML_SUBDIVIDE_MAX_CHANNELS,
    SUBDIVIDE_VALUES = 1 + TML_SUBDIVIDE_MAX_ATTRIBUTES + TML_SUBDIVIDE_MAX_CHANNELS,
};

/* Memory that calls use again: grown when too small. */
typedef struct subdivide_spare {
    tml_buffer buffer;
    tml_type type;
    uint64_t count;
} subdivide_spare;

struct tml_subdivider {
    tml_context *tml;
    tml_subdivider_info info;
    subdivide_topology topologies[SUBDIVIDE_TOPOLOGIES];
    uint32_t topology_count;
    subdivide_values values[SUBDIVIDE_VALUES];
    uint32_t value_count, attribute_count;
    uint32_t
        attribute_slots[TML_SUBDIVIDE_MAX_ATTRIBUTES]; /* value 1 + a is the desc's attribute [a] */
    uint32_t channel_slots[TML_SUBDIVIDE_MAX_CHANNELS]; /* topology 1 + c is its channel [c] */
    tml_buffer turns;                    /* f32x2 for each n: cosine and sine of 2 pi / n */
    tml_buffer triangle_origins;         /* u32, where fix took triangles away; none: their own */
    subdivide_spare values_spare[4][3];  /* by components: two levels' and one more */
    struct subdivide_adaptive *adaptive; /* subdivide_adaptive.c's; NULL before its first call */
};

/* The spare of a type with room for count elements, its contents undefined. */
tml_status subdivide_spare_get(tml_subdivider *subdivider, subdivide_spare *spare, tml_type type,
                               uint64_t count, tml_buffer *out);
/* f32, f32x2 ... of so many components. */
tml_type subdivide_value_type(uint32_t components);

/* Result buffers: makes what is zeroed and wanted, checks what is given. created: those made here, to be
 * destroyed on failure. */
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
void subdivide_buffers_destroy(tml_context *tml, const tml_subdivide_buffers *buffers);
/* Hands the outputs over to a result. */
void subdivide_outputs_deliver(const subdivide_outputs *outputs, tml_subdivide_result *out);
/* The output of values number v. */
tml_buffer subdivide_output_of(const tml_subdivider *subdivider,
                               const tml_subdivide_buffers *buffers, uint32_t v);

/* Likewise of a topology's triangles. */
tml_buffer subdivide_indices_of(const tml_subdivider *subdivider,
                                const tml_subdivide_buffers *buffers, uint32_t topology);

void subdivide_level_destroy(tml_context *tml, subdivide_level *level);

void subdivide_adaptive_destroy(tml_context *tml, struct subdivide_adaptive *adaptive);

/* ---- a short cut on the CPU (subdivide_cpu.c) ------------------------------------------------ */

/* Does it take topology number t? */
bool subdivide_cpu_takes(const tml_subdivider *subdivider, uint32_t t);
/* From values number v at the level after parent, by the table of parent: the next level's, or where they end
 * up; bit for bit as subdivide_child_kernels and subdivide_limit_kernels make them. */
tml_status subdivide_cpu_values(tml_subdivider *subdivider, uint32_t v, uint32_t parent, bool limit,
                                tml_buffer values, tml_buffer out);
/* Normals of the level after parent, of its positions, as subdivide_vertex_normal and subdivide_child_normal
 * make them. */
tml_status subdivide_cpu_normals(tml_subdivider *subdivider, uint32_t parent, tml_buffer positions,
                                 tml_buffer out);
/* Triangles two levels after parent, by its table. */
tml_status subdivide_cpu_triangles(tml_subdivider *subdivider, uint32_t t, uint32_t parent,
                                   tml_buffer out);

/* ---- kernels (subdivide_kernels.c) ----------------------------------------------------------- */

/* Kernels for values have a form for each number of components, at [components - 1]. */
extern const tml_kernel *const subdivide_copy_kernels[4];   /* (tml_words values, uint source) */
extern const tml_kernel *const subdivide_child_kernels[4];  /* next level's values */
extern const tml_kernel *const subdivide_limit_kernels[4];  /* limit of the next level's */
extern const tml_kernel *const subdivide_settle_kernels[4]; /* limit of a level's own */
extern const tml_kernel *const subdivide_vertex_normal;
extern const tml_kernel *const subdivide_child_normal;

#endif
