/* Producers of slabs: a mesh that is made layer by layer, as tml_surface_slabs (surface_slabs.c)
 * wants it. Isosurfaces (slab_isosurface.c) and the boundaries of labels (labels/labels_slabs.h)
 * are producers. The room publishes this header.
 *
 * The order of calls: the producer's open, then begin; for each slab count, emit unless the slab
 * is empty, end; close in any case.
 *
 * A slab owns layers of samples. The halo is what a producer reads beside them. The parts of a
 * slab's mesh (isovalues, labels) lie one after another in the same arrays. */
#ifndef SLAB_PRODUCER_H
#define SLAB_PRODUCER_H

#include "surface/surface_calls.h"

enum { SLAB_SOURCES = 3 }; /* tml_surface_source */

typedef struct slab_source {
    tml_buffer given;   /* of the whole volume; none: read, or not wanted */
    tml_type type;      /* what is read; TML_TYPE_NONE: nothing */
    uint64_t layer;     /* bytes of a layer that is read; else 0 */
    uint64_t size;      /* bytes of a place */
    void *places[2];    /* double buffer: one slab is computed while the next is read */
    tml_buffer lent[2]; /* the places as host buffers */
} slab_source;

/* Where samples come from: buffers of the whole volume, desc.read, desc.map or a field. */
typedef struct slab_samples {
    slab_source sources[SLAB_SOURCES];
    bool reads;                  /* desc.read, desc.map or a field gives the samples */
    bool maps;                   /* desc.map */
    const tml_field_desc *field; /* resolved; its samples are the volume. NULL: no field */
    struct field_plan *field_plan;
} slab_samples;

typedef struct slab_layers {
    uint64_t own_first, own_end;      /* layers of the volume */
    uint64_t held_first, held_end;    /* layers in samples; both 0: the whole volume */
    tml_buffer samples[SLAB_SOURCES]; /* TML_SURFACE_VOLUME ...; none: not wanted */
    uint32_t place;                   /* of slab_source.places */
    double from, to;                  /* the slab's share of the call's progress */
} slab_layers;

typedef struct slab_part {
    double value;   /* isovalue or label, as in tml_mesh_part */
    uint64_t label; /* 0 unless it is a label */
    /* Of the slab's own layers; count writes them. */
    uint64_t vertex_count, triangle_count, active_cells;
    /* For emit: the part's places in the slab's arrays, and what is added to a vertex's place to
     * get its number. */
    uint64_t vertex_first, triangle_first, vertex_base;
} slab_part;

typedef struct slab_producer slab_producer;

typedef struct slab_verbs {
    /* Optional. Prepares what takes long, after all checks. */
    tml_status (*begin)(slab_producer *producer);
    /* Bytes of scratch for a slab that holds so many layers; samples and meshes not counted. */
    uint64_t (*scratch_size)(slab_producer *producer, uint64_t held);
    /* Writes the parts' counts. end follows in any case. */
    tml_status (*count)(slab_producer *producer, const slab_layers *at);
    /* Sets the arrays and the origin of out to the slab's mesh in host memory, which stays until
     * end. out->attributes has room for all. At OUT_OF_DEVICE_MEMORY the slab may be tried again in
     * halves. */
    tml_status (*emit)(slab_producer *producer, const slab_layers *at, tml_mesh *out);
    void (*end)(slab_producer *producer, const slab_layers *at);
    void (*close)(slab_producer *producer);
} slab_verbs;

struct slab_producer {
    /* Set by the caller of open. */
    tml_context *tml;
    const tml_surface_slabs_desc *desc;
    tml_surface_result *result; /* stages are timed here */

    /* Set by open. */
    const slab_verbs *verbs; /* NULL: open failed before there was anything to close */
    void *state;             /* the producer's own */
    slab_samples samples;
    surface_box region;
    bool caps;
    uint64_t halo_below, halo_above; /* layers; samples are read in [held_first, held_end) alone */
    uint64_t held_first, held_end;

    slab_part *parts;
    uint32_t part_count;
    uint32_t vertices_most, triangles_most; /* of a sample, in a part */
    bool indices64;
    bool quads; /* in place of triangles */
    bool soup;
    uint64_t vertex_size, triangle_size; /* bytes of a piece, and of its making, for each */

    double progress; /* reported so far */
};

/* For producers. */
typedef struct slab_given {
    const char *field;
    tml_buffer buffer;
    tml_type read; /* of the desc; TML_TYPE_NONE: not read */
} slab_given;
/* Fills samples from what a desc gives and the volume's size; the producer checks the buffers.
 * Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status slab_samples_resolve(slab_producer *producer,
                                               const slab_given given[SLAB_SOURCES],
                                               const uint64_t dims[3]);
static inline tml_status slab_error(tml_context *tml, tml_status status, const char *what)
{
    return tml_error(tml, status, "tml_surface_slabs: %s", what);
}
static inline bool slab_has_field_values(const tml_surface_slabs_desc *desc)
{
    bool has_any = false;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        has_any = has_any || !tml_buffer_is_none(desc->field_values[i]);
    return has_any;
}

#endif
