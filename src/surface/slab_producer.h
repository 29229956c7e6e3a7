/* Producers of slabs make a mesh layer by layer, for tml_surface_slabs (surface_slabs.c).
 * Isosurfaces (slab_isosurface.c) and the boundaries of labels (labels/labels_slabs.h) are
 * producers. The room publishes this header.
 *
 * Order of calls: the producer's open, then begin; for each slab count, emit unless the slab is
 * empty, end; close in any case.
 *
 * A slab owns layers of samples. The halo is the layers that a producer reads beside them. The
 * parts of a slab's mesh (isovalues, labels) follow one another in the same arrays. */
#ifndef SLAB_PRODUCER_H
#define SLAB_PRODUCER_H

#include "surface/surface_calls.h"

enum { SLAB_SOURCES = 3 }; /* tml_surface_source */

typedef struct slab_source {
    tml_buffer given;   /* of the whole volume; none: samples are read, or not needed */
    tml_type type;      /* of the samples to read; TML_TYPE_NONE: none */
    uint64_t layer;     /* bytes of a layer to read; otherwise 0 */
    uint64_t size;      /* bytes of a place */
    void *places[2];    /* double buffer: one slab is computed while the next is read */
    tml_buffer lent[2]; /* the places, as host buffers */
} slab_source;

/* The origin of samples: buffers of the whole volume, desc.read, desc.map or a field. */
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
    tml_buffer samples[SLAB_SOURCES]; /* TML_SURFACE_VOLUME ...; none: not needed */
    uint32_t place;                   /* index in slab_source.places */
    double from, to;                  /* the slab's range of the call's progress */
} slab_layers;

typedef struct slab_part {
    double value;   /* isovalue or label, as in tml_mesh_part */
    uint64_t label; /* 0 unless it is a label */
    /* Counts of the slab's own layers; set by count. */
    uint64_t vertex_count, triangle_count, active_cells;
    /* For emit: the part's places in the slab's arrays. vertex_base is added to a vertex's place to
     * get its number. */
    uint64_t vertex_first, triangle_first, vertex_base;
} slab_part;

typedef struct slab_producer slab_producer;

typedef struct slab_verbs {
    /* Optional. Prepares what takes long, after all checks. */
    tml_status (*begin)(slab_producer *producer);
    /* Returns the bytes of scratch for a slab that holds this many layers, samples and meshes
     * apart. */
    uint64_t (*scratch_size)(slab_producer *producer, uint64_t held);
    /* Sets the parts' counts. The caller always calls end afterwards. */
    tml_status (*count)(slab_producer *producer, const slab_layers *at);
    /* Sets the arrays and the origin of out to the slab's mesh in host memory, which is valid until
     * end. out->attributes has room for all. After OUT_OF_DEVICE_MEMORY, the caller may try the
     * slab in halves. */
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
    uint64_t halo_below, halo_above; /* layers; samples are only read in [held_first, held_end) */
    uint64_t held_first, held_end;

    slab_part *parts;
    uint32_t part_count;
    uint32_t vertices_most, triangles_most; /* per sample, in a part */
    bool indices64;
    bool quads; /* instead of triangles */
    bool soup;
    uint64_t vertex_size, triangle_size; /* bytes for each, in a piece and to make it */

    double progress; /* reported so far */
};

/* For producers. */
typedef struct slab_given {
    const char *field;
    tml_buffer buffer;
    tml_type read; /* of the desc; TML_TYPE_NONE: not read */
} slab_given;
/* Fills samples from the parts of a desc and the volume's size. The producer checks the buffers.
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
