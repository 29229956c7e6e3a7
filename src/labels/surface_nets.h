/* Label boundaries as a surface net: the resolved call, its bit planes, and the host's steps, which
 * serve every engine (src/labels/cpu/cpu_nets*.c).
 *
 * Samples are numbered from the low corner, including the layer of background that caps add around
 * them. An edge has the number of its lower sample, a cell that of its lowest sample. An edge
 * between samples of unlike labels makes a face of the net; the face's corners are the vertices of
 * the four cells around the edge. Edges on the border have fewer cells and make no face. A cell has
 * a vertex if at least one face touches it. */
#ifndef TML_SURFACE_NETS_H
#define TML_SURFACE_NETS_H

#include "surface/surface_calls.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/surface_nets.k.h"

#include "kernels/kernel_end.h"

typedef uint64_t nets_word;
enum { NETS_GROUP = 8 }; /* words of a row that are processed together */

/* A net: a bit per edge, set if the edge makes a face; and the first vertex and face of each row
 * and layer. */
typedef struct nets_planes {
    nets_word *edges;       /* [axis][z][y][word] */
    uint32_t *vertex_rows;  /* [z][y]: vertices of the layer's cells before row y */
    uint32_t *face_rows;    /* the same for faces */
    uint64_t *vertex_first; /* [size[2] + 1]: vertices of the layers before z */
    uint64_t *face_first;
} nets_planes;

enum { NETS_RATES = 4 }; /* of two iterations, each with a forward and a backward move */

typedef struct nets_plan {
    tml_context *tml;
    const void *samples;
    uint64_t layer_first; /* the volume's layer at which samples begin */
    tml_type type;
    size_t sample_size;
    bool is_signed;
    uint64_t dims[3];
    surface_box box;
    uint64_t pad;            /* layers of background: 1 with caps or separate meshes, else 0 */
    uint64_t size[3];        /* of the box with pad on both sides, in samples */
    uint64_t face_layers[2]; /* [first, end): layers of samples whose faces are written */
    uint64_t words;          /* per row of bits */
    nets_word last_cells[NETS_GROUP]; /* mask of the cells in a row's last group of words */

    uint64_t background;
    const uint64_t *chosen; /* ascending; NULL: all labels */
    uint64_t chosen_count;
    const uint64_t *between; /* two labels: other pairs' faces are omitted; NULL: all faces */
    bool inner_only;

    uint32_t moves; /* two per iteration */
    /* Of moves 0, 1 ..., repeating: the fraction of the way to the neighbours' mean. */
    float rates[NETS_RATES];
    int16_t bound; /* of a vertex's offset from the cell's middle; NETS_HALF: half a cell */
    bool quads, separate, manifold, indices64;
    surface_axes axes;
    uint64_t words32;                    /* per row of bits on a device */
    uint32_t constants[NETS_PLAN_WORDS]; /* all but NETS_ALIGNED and NETS_CHOSEN */

    void *background_row; /* box.count[0] samples of background */
    nets_word *members;   /* [z][y][word]: samples with a chosen label; NULL: all */
    nets_planes net,
        kept; /* kept: of the faces that are written; it equals net if no face is omitted */
    unsigned char *state;     /* NETS_STATE bytes per vertex of the net, for moves */
    float *places;            /* positions of kept vertices; in state's memory if all are kept */
    struct nets_parts *parts; /* for separate meshes, from count_parts on */
    struct nets_device *device;

    /* Outputs, in host memory. */
    float *positions; /* equals places if vertices are shared */
    void *indices;
    unsigned char *face_labels;

    tml_surface_result *result;
    uint64_t memory;                   /* bytes from nets_alloc in use */
    double call_from, call_to;         /* this net's share of the call's progress */
    double progress_from, progress_to; /* the current step's share */
    double *progress;                  /* reported so far; kept if the host starts over */
    uint64_t first_layer;              /* of the current batch of layers */
} nets_plan;

/* A cell is 2 NETS_HALF units long, so that six places in it add up to less than 2^16. A vertex's
 * state holds its places before and after a move, in the memory of its position. */
enum { NETS_STATE = 3 * sizeof(float) };
/* Checks desc, and resolves it into plan.
 * read  the type of samples that are read later; TML_TYPE_NONE: desc.volume has the samples */
TML_MUST_CHECK tml_status nets_resolve(tml_context *tml, const tml_surface_labels_desc *desc,
                                       tml_type read, nets_plan *plan);

/* Distance of a vertex from its cell's sides, at least: 1/1024 of a cell. Vertices of different
 * cells therefore never coincide. */
enum { NETS_MARGIN = 8 };

/* Stores the low size bytes of a label as element i. */
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
/* Quads or triangles that are written per face of the net, and corners of each. */
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

/* A row of samples, of the volume or of background. */
typedef struct nets_samples {
    const void *samples;      /* from the box's first column on; NULL: background */
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

/* Returns the label of a row's sample x, widened; background if the label is not chosen. */
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

/* Does the normal of a face between a and b point away from a? It never points away from the
 * background. */
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

/* nets_time adds seconds to a stage. nets_report reports the progress of a stage; if the call is
 * cancelled, it sets the error message and returns false. */
void nets_time(const nets_plan *plan, const char *stage, double seconds);
TML_MUST_CHECK bool nets_report(const nets_plan *plan, const char *stage, double fraction);
/* Runs a task for count layers: task(plan, i) handles layer plan->first_layer + i.
 * part  number of these layers' part in the step's progress, from 0; parts: how many there are
 * Errors: CANCELLED. */
TML_MUST_CHECK tml_status nets_run_layers(nets_plan *plan, const char *stage, uint32_t part,
                                          uint32_t parts, uint64_t count, tml_task_fn task);
/* Allocates count * size bytes, counted in result.scratch_size. If memory is short, sets the error
 * message and returns NULL. */
void *nets_alloc(nets_plan *plan, uint64_t count, size_t size);
void nets_free(nets_plan *plan, void *memory, uint64_t count, size_t size);

typedef struct nets_parts nets_parts;

/* The host's steps, in this order. Errors: OUT_OF_MEMORY, CANCELLED. */
typedef struct nets_steps {
    tml_status (*count)(nets_plan *plan);
    tml_status (*place)(nets_plan *plan); /* smooths the net, and writes places */
    tml_status (*emit)(nets_plan *plan);  /* writes faces */
    /* For separate meshes. count_parts, after count, fills result.parts and result's counts;
     * emit_parts, in place of emit, writes vertices and faces. */
    tml_status (*count_parts)(nets_plan *plan);
    tml_status (*emit_parts)(nets_plan *plan);
    void (*release)(nets_plan *plan);
} nets_steps;
extern const nets_steps *const nets_on_host; /* src/labels/labels_parts.c */

tml_status nets_run_step(nets_plan *plan, double from, double to, tml_status (*step)(nets_plan *));
/* Runs the host's steps after the counts: smooths the net, and writes vertices and faces.
 * Memory: NETS_STATE bytes per vertex of the net if meshes are separate, or if vertices move and
 *         some are omitted. Otherwise the state is in the memory of the positions. */
TML_MUST_CHECK tml_status nets_place_and_emit(nets_plan *plan);
/* In web pages the host makes all nets. */
#ifdef __EMSCRIPTEN__
enum { NETS_HAS_DEVICE = 0 };
#else
enum { NETS_HAS_DEVICE = 1 };
#endif
/* Returns whether the device can make the net. If so, nets_device_count finds the counts,
 * nets_device_write fills the outputs, and nets_device_end frees what the two made.
 * Errors: those of nets_steps, and OUT_OF_DEVICE_MEMORY. */
bool nets_run_on_device(const nets_plan *plan);
tml_status nets_device_count(nets_plan *plan, tml_buffer volume);
tml_status nets_device_write(nets_plan *plan, tml_buffer vertices, tml_buffer indices,
                             tml_buffer labels);
void nets_device_end(nets_plan *plan);

#endif
