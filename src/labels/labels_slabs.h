/* The boundaries of labels, slab by slab: the header that the room publishes. */
#ifndef TML_LABELS_SLABS_H
#define TML_LABELS_SLABS_H

#include "surface/surface_calls.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/surface_nets.k.h"

#include "kernels/kernel_end.h"

typedef uint64_t nets_word;
enum { NETS_GROUP = 8 }; /* words of a row that are taken together */

/* A net: a bit for each edge that is a face, and where its vertices and faces begin. */
typedef struct nets_planes {
    nets_word *edges;       /* [axis][z][y][word] */
    uint32_t *vertex_rows;  /* [z][y]: vertices of the layer's cells before row y */
    uint32_t *face_rows;    /* the same of faces */
    uint64_t *vertex_first; /* [z], and the end: vertices of layers before z */
    uint64_t *face_first;
} nets_planes;

enum { NETS_RATES = 4 }; /* of two iterations, there and back */

typedef struct nets_plan {
    tml_context *tml;
    const void *samples;
    uint64_t layer_first; /* of the volume: where samples begin */
    tml_type type;
    size_t sample_size;
    bool is_signed;
    uint64_t dims[3];
    surface_box box;
    uint64_t pad;            /* 1 with caps */
    uint64_t size[3];        /* of the box with its pads, in samples */
    uint64_t face_layers[2]; /* layers of samples, first and end, whose faces are written */
    uint64_t words;          /* of a row of bits */
    nets_word last_cells[NETS_GROUP]; /* bits of a row's last group of words that are cells */

    uint64_t background;
    const uint64_t *chosen; /* ascending; NULL: all labels */
    uint64_t chosen_count;
    const uint64_t *between; /* faces of other pairs are left out; NULL: none is */
    bool no_background;

    uint32_t moves; /* of all vertices: two an iteration */
    /* of moves 0, 1 ...: of the way to the neighbours' mean; then the same again */
    float rates[NETS_RATES];
    int16_t bound; /* in units of NETS_HALF */
    bool quads, separate, manifold, indices64;
    bool flip_winding;
    double origin[3], step[3][3];        /* as in surface_plan */
    uint64_t words32;                    /* of a row of bits on a device */
    uint32_t constants[NETS_PLAN_WORDS]; /* of the kernels, but for what the device adds */

    void *background_row; /* box.count[0] samples of background */
    nets_word *members;   /* [z][y][word]: samples with a chosen label; NULL: all */
    nets_planes net,
        kept; /* kept: of the faces that are written; the same unless some are left out */
    unsigned char *state;     /* NETS_STATE bytes a vertex of the net, for moves */
    float *places;            /* of kept vertices, in the state's memory where all are kept */
    struct nets_parts *parts; /* of separate meshes, from their count on */
    struct nets_device *device;

    /* Outputs, in host memory. */
    float *positions; /* of shared vertices: their places */
    void *indices;
    unsigned char *face_labels;

    tml_surface_labels_result *result;
    uint64_t memory;                   /* of nets_alloc, in use */
    double call_from, call_to;         /* this net's share of the call's progress */
    double progress_from, progress_to; /* of the step in progress */
    double *progress;                  /* so far: it never goes back, when the host begins again */
    uint64_t first_layer;              /* of the batch of layers in progress */
} nets_plan;

/* A cell is 2 NETS_HALF units long, so that six places in it add up to less than 2^16. A vertex's
 * state holds two places, of this move and of the next, in the memory of its position. */
enum { NETS_STATE = 3 * sizeof(float), NETS_SMOOTH_MAX = 1000 };
/* Checks a desc; read: the type of samples that are read later, or NONE. */
TML_MUST_CHECK tml_status nets_resolve(tml_context *tml, const tml_surface_labels_desc *desc,
                                       tml_type read, nets_plan *plan);

/* A slab of the net (src/labels/surface_nets_slabs.c). */
enum { NETS_SLAB_OUTPUTS = 3 };
typedef struct nets_slab {
    nets_plan plan;
    tml_surface_labels_result result; /* its stages and scratch_size */
    uint64_t cells[2];                /* own layers of cells, in plan's, first and end */
    uint64_t vertex_count, face_count;
    const float *positions; /* of own vertices; indices and labels are plan's */
    void *outputs[NETS_SLAB_OUTPUTS];
    uint64_t sizes[NETS_SLAB_OUTPUTS];
} nets_slab;

/* Layers of the box that a slab of own layers [first, end) looks at. */
static inline uint64_t nets_held_first(const nets_plan *plan, uint64_t first)
{
    const uint64_t below = plan->moves + (uint64_t)1;
    return first > below ? first - below : 0;
}
static inline uint64_t nets_held_end(const nets_plan *plan, uint64_t end)
{
    return TML_MIN_OF(end + plan->moves + 3, plan->box.count[2]);
}
/* Bytes of scratch a layer, without vertices. */
static inline uint64_t nets_layer_size(const nets_plan *plan)
{
    const uint64_t selects = plan->between || plan->no_background;
    const uint64_t planes = 3 + (plan->chosen != NULL) + 3 * selects;
    return plan->size[1] * (planes * plan->words * sizeof(nets_word) + 8 * (1 + selects));
}
static inline uint64_t nets_held_most(const nets_plan *plan, uint64_t own)
{
    return TML_MIN_OF(own + 2 * (uint64_t)plan->moves + 4, plan->box.count[2]);
}
/* Counts own vertices and faces, of own layers [first, end) of the whole's box; samples begin at
 * nets_held_first. Then writes them, with vertices numbered from vertex_base on. Free in any
 * case. */
TML_MUST_CHECK tml_status nets_slab_count(const nets_plan *whole, const void *samples,
                                          uint64_t first, uint64_t end, nets_slab *out);
TML_MUST_CHECK tml_status nets_slab_write(nets_slab *slab, uint64_t vertex_base);
void nets_slab_free(nets_slab *slab);

#endif
