/* Label boundaries as a surface net: the resolved call, its bit planes, and the steps that the host
 * takes for every engine (src/labels/cpu/cpu_nets*.c).
 *
 * Samples, the layer of background around them that caps add, and edges are numbered by the low
 * corner; a cell by its lowest sample. An edge between unlike samples is a face of the net, whose
 * corners are the four cells around it. Edges on the border, which fewer cells surround, have none,
 * so each cell that a face touches has a vertex, and each vertex a face. */
#ifndef TML_SURFACE_NETS_H
#define TML_SURFACE_NETS_H

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
    bool inner_only;

    uint32_t moves; /* of all vertices: two an iteration */
    /* of moves 0, 1 ...: of the way to the neighbours' mean; then the same again */
    float rates[NETS_RATES];
    int16_t bound; /* in units of NETS_HALF */
    bool quads, separate, manifold, indices64;
    surface_axes axes;
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

    tml_surface_result *result;
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

/* What vertices keep from their cells' sides, so that those of two cells never meet in one place:
 * 1/1024 of a cell. */
enum { NETS_MARGIN = 8 };

/* Stores the low bytes of a label as element i. */
static inline void nets_store(void *labels, uint64_t i, size_t size, uint64_t label)
{
    const union {
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;
    } bits[3] = {{.u64 = label}, {.u32 = (uint32_t)label}, {.u16 = (uint16_t)label}};
    unsigned char *at = (unsigned char *)labels + i * size;
    switch (size) {
    case 1:
        *at = (unsigned char)label;
        break;
    case 2:
        memcpy(at, &bits[2], 2);
        break;
    case 4:
        memcpy(at, &bits[1], 4);
        break;
    default: /* 8 */
        memcpy(at, &bits[0], 8);
        break;
    }
}

static inline uint64_t nets_cells(const nets_plan *plan, int axis)
{
    return plan->size[axis] - 1;
}
static inline uint64_t nets_row(const nets_plan *plan, uint64_t y, uint64_t z)
{
    return y + plan->size[1] * z;
}
static inline nets_word *nets_edges_at(const nets_plan *plan, const nets_planes *planes, int axis,
                                       uint64_t y, uint64_t z)
{
    const uint64_t rows = plan->size[1] * plan->size[2];
    return planes->edges + ((uint64_t)axis * rows + nets_row(plan, y, z)) * plan->words;
}
static inline const nets_word *nets_edges(const nets_plan *plan, const nets_planes *planes,
                                          int axis, uint64_t y, uint64_t z)
{
    return nets_edges_at(plan, planes, axis, y, z);
}
static inline uint64_t nets_vertices(const nets_plan *plan, const nets_planes *planes)
{
    return planes->vertex_first[nets_cells(plan, 2)];
}
/* Faces that are written for one of the net, and corners of each. */
static inline uint64_t nets_rows(const nets_plan *plan)
{
    return plan->quads ? 1 : 2;
}
static inline uint64_t nets_corners(const nets_plan *plan)
{
    return plan->quads ? 4 : 3;
}
static inline uint64_t nets_faces(const nets_plan *plan, const nets_planes *planes)
{
    return planes->face_first[plan->size[2]];
}

/* A row of samples: those of the volume, or background. */
typedef struct nets_samples {
    const void *samples;      /* of the box's first column; NULL: background */
    const nets_word *members; /* NULL: all */
} nets_samples;

static inline nets_samples nets_samples_of(const nets_plan *plan, uint64_t y, uint64_t z)
{
    const uint64_t y_box = y - plan->pad, z_box = z - plan->pad;
    if (y_box >= plan->box.count[1] || z_box >= plan->box.count[2])
        return (nets_samples){NULL, NULL};
    const uint64_t z_held = plan->box.first[2] - plan->layer_first + z_box;
    const uint64_t row = plan->box.first[1] + y_box + plan->dims[1] * z_held;
    const uint64_t first = plan->box.first[0] + plan->dims[0] * row;
    return (nets_samples){(const unsigned char *)plan->samples + first * plan->sample_size,
                          plan->members ? plan->members + nets_row(plan, y, z) * plan->words
                                        : NULL};
}

/* The label of a row's sample x, widened; other labels than the chosen ones are background. */
static inline uint64_t nets_label(const nets_plan *plan, const nets_samples *row, uint64_t x)
{
    const uint64_t x_box = x - plan->pad;
    if (!row->samples || x_box >= plan->box.count[0] ||
        (row->members && !(row->members[x / 64] >> x % 64 & 1)))
        return plan->background;
    const uint64_t bits = surface_bits_at(row->samples, x_box, plan->sample_size);
    const unsigned unused = 64 - 8 * (unsigned)plan->sample_size;
    return plan->is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* Is a the side that a face's normal points away from? The background never is. */
static inline bool nets_is_first(const nets_plan *plan, uint64_t a, uint64_t b)
{
    if (a == plan->background || b == plan->background)
        return b == plan->background;
    return plan->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Is a face between these labels written? */
static inline bool nets_keeps(const nets_plan *plan, uint64_t a, uint64_t b)
{
    if (plan->inner_only && (a == plan->background || b == plan->background))
        return false;
    const uint64_t *pair = plan->between;
    return !pair || (a == pair[0] && b == pair[1]) || (a == pair[1] && b == pair[0]);
}

/* Adds seconds to a stage; reports the progress of one, false: cancelled, with a message. */
void nets_time(const nets_plan *plan, const char *stage, double seconds);
TML_MUST_CHECK bool nets_report(const nets_plan *plan, const char *stage, double fraction);
/* Runs task(plan, i), which does layer plan->first_layer + i, for count layers: of a step's parts
 * the one of this number. Errors: CANCELLED. */
TML_MUST_CHECK tml_status nets_run_layers(nets_plan *plan, const char *stage, uint32_t part,
                                          uint32_t parts, uint64_t count, tml_task_fn task);
/* Memory of the call, counted in result.scratch_size. NULL, with a message, when it is short. */
void *nets_alloc(nets_plan *plan, uint64_t count, size_t size);
void nets_free(nets_plan *plan, void *memory, uint64_t count, size_t size);

typedef struct nets_parts nets_parts;

/* The host's steps, in this order. Errors: OUT_OF_MEMORY, CANCELLED. */
typedef struct nets_steps {
    tml_status (*count)(nets_plan *plan);
    tml_status (*place)(nets_plan *plan); /* smooths, and writes places */
    tml_status (*emit)(nets_plan *plan);  /* writes faces */
    /* Of separate meshes: finds result.parts and counts, after count; and in place of emit. */
    tml_status (*count_parts)(nets_plan *plan);
    tml_status (*emit_parts)(nets_plan *plan);
    void (*release)(nets_plan *plan);
} nets_steps;
extern const nets_steps *const nets_on_host; /* src/labels/labels_parts.c */

tml_status nets_run_step(nets_plan *plan, double from, double to, tml_status (*step)(nets_plan *));
/* Smooths the net and writes its places: in the memory of the vertices where those are the net's,
 * else in its own. Faces are written from places. */
TML_MUST_CHECK tml_status nets_place_and_emit(nets_plan *plan);
/* A page has none. */
#ifdef __EMSCRIPTEN__
enum { NETS_HAS_DEVICE = 0 };
#else
enum { NETS_HAS_DEVICE = 1 };
#endif
/* Can the device make the net? Its buffers are then read and written there. Errors: also
 * OUT_OF_DEVICE_MEMORY. */
bool nets_run_on_device(const nets_plan *plan);
tml_status nets_device_count(nets_plan *plan, tml_buffer volume);
tml_status nets_device_write(nets_plan *plan, tml_buffer vertices, tml_buffer indices,
                             tml_buffer labels);
void nets_device_end(nets_plan *plan);

#endif
