/* Surfaces of volumes that do not fit in memory. The engine counts and emits slab after slab of
 * layers.
 *
 * A slab owns layers. It emits the vertices on edges whose lower end lies in an own layer, and the
 * triangles of cells whose lowest corner does. Both are contiguous in the mesh, so a slab needs
 * only the counts of the slabs before it. Its halo is in surface_space.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "labels/labels_slabs.h"
#include "stream/stream_internal.h"
#include "surface/slab_components.h"
#include "surface/soup_carry.h"
#include "surface/surface_space.h"

enum { SOURCES = 3 }; /* tml_surface_source */

static const uint64_t memory_default = (uint64_t)1 << 30;
/* Larger slabs are not faster; with smaller ones reading overlaps computing sooner. */
static const uint64_t slab_size_most = (uint64_t)256 << 20;

typedef struct slab_source {
    tml_type type;      /* TML_TYPE_NONE: not wanted */
    uint64_t layer;     /* bytes of a layer */
    uint64_t size;      /* bytes of a place */
    void *places[2];    /* double buffer: one slab is computed while the next is read */
    tml_buffer lent[2]; /* the places as host buffers */
} slab_source;

/* Layers of the volume in one of the two places. */
typedef struct slab {
    uint32_t place;
    uint64_t own_first, own_end;
    uint64_t held_first, held_end; /* with the halo */
} slab;

typedef struct stream {
    tml_context *tml;
    const tml_surface_slabs_desc *desc;
    surface_plan plan;
    nets_plan net; /* of desc.boundaries */
    surface_box region;
    uint64_t own_first, own_end; /* layers of this share */
    uint64_t layers;             /* own layers of a slab */
    uint64_t piece_size;         /* most bytes of a piece */
    bool reads;                  /* desc.read, desc.map or a field gives the samples */
    bool maps;                   /* desc.map */
    field_plan *field;           /* NULL: no field */
    field_means *means;          /* of desc.field_values; NULL: none */
    tml_type value_types[TML_FIELD_MAX_ATTRIBUTES];
    slab_source sources[SOURCES];
    /* Of each part: counts of this share so far; firsts: the counts of the shares before it. */
    tml_surface_part *done;
    soup_carry *carries;         /* one a part, for soups; else NULL */
    slab_components *components; /* one a part, if they are counted; else NULL */
    tml_surface_seam *seams;     /* likewise, of a share */
    double progress; /* reported so far; a slab that is done again in halves goes on from there */
    tml_surface_result *result;
} stream;

static tml_status bad_desc(tml_context *tml, tml_status status, const char *what)
{
    return tml_error(tml, status, "tml_surface_slabs: %s", what);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool has_field_values(const tml_surface_slabs_desc *desc)
{
    bool has_any = false;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        has_any = has_any || !tml_buffer_is_none(desc->field_values[i]);
    return has_any;
}

static tml_status check_boundaries(tml_context *tml, const tml_surface_slabs_desc *desc)
{
    const tml_surface_labels_desc *net = desc->boundaries;
    if (net->separate)
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.boundaries asks for separate; tml_surface_labels makes them");
    if (net->quads && desc->components)
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.boundaries asks for quads, and desc.components counts triangles");
    if (desc->has_mask || desc->attribute_type || has_field_values(desc))
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        "desc.boundaries have neither mask nor attribute");
    if (!tml_buffer_is_none(net->vertices) || !tml_buffer_is_none(net->indices) ||
        !tml_buffer_is_none(net->face_labels))
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        "desc.boundaries has output buffers; the mesh goes to desc.write");
    return TML_OK;
}

static tml_status check_options(tml_context *tml, const tml_surface_slabs_desc *desc)
{
    const tml_surface_desc *surface = desc->surface;
    if (desc->boundaries)
        return check_boundaries(tml, desc);
    if (!surface_engine(tml)->takes_slabs)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_slabs: the %s engine does not take slabs; open the CPU or "
                         "the Vulkan engine",
                         tml->engine->name);
    if (surface->field && !surface_engine(tml)->numbers_slabs)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_slabs: desc.surface.field: the %s engine takes no slabs of "
                         "fields; open the CPU engine",
                         tml->engine->name);
    if (surface->all_labels || surface->largest_component || surface->drop_degenerate ||
        surface->collapse > 0)
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.surface asks for all_labels, largest_component, collapse or "
                        "drop_degenerate, which need the whole volume or mesh; tml_surface has it");
    if (SURFACE_LAYOUTS &&
        (surface->vertex_stride || surface->octahedral_normals || surface->indices16))
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.surface asks for vertex_stride, octahedral_normals or indices16; "
                        "pieces are packed arrays");
    if (surface->cells)
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.surface.cells: pieces have none; tml_surface makes them");
    if (surface->field &&
        (!tml_buffer_is_none(surface->volume) || desc->type || !tml_buffer_is_none(surface->mask) ||
         desc->has_mask || !tml_buffer_is_none(surface->attribute) || desc->attribute_type ||
         !tml_buffer_is_none(surface->index) || surface->label_count))
        return bad_desc(tml, TML_ERROR_UNSUPPORTED,
                        "desc.surface.field stands instead of a volume, and has no mask, "
                        "attribute, index or labels");
    if (!surface->field && has_field_values(desc))
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        "desc.field_values are of a field's points; needs desc.surface.field");
    if (!tml_buffer_is_none(surface->vertices) || !tml_buffer_is_none(surface->vertex_normals) ||
        !tml_buffer_is_none(surface->vertex_values) || !tml_buffer_is_none(surface->indices) ||
        !tml_buffer_is_none(surface->triangle_cells))
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        "desc.surface has output buffers; the mesh goes to desc.write");
    if ((uint32_t)surface->normals > TML_NORMALS_SOBEL)
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        "desc.surface.normals is none of TML_NORMALS_...");
    return surface_check_topology(tml, "tml_surface_slabs", surface, false);
}

static bool is_scalar(tml_type type)
{
    return type > TML_TYPE_NONE && type < TML_SCALAR_END;
}

/* Where samples come from: buffers of the whole volume, desc.read, desc.map or a field. */
static tml_status resolve_sources(stream *s, uint64_t count)
{
    const tml_surface_slabs_desc *desc = s->desc;
    const tml_surface_desc *surface = desc->surface;
    tml_context *tml = s->tml;
    surface_plan *plan = &s->plan;
    const struct {
        const char *field;
        tml_buffer buffer;
        const tml_type *types;
        const tml_slot **slot;
        tml_type read;
    } sources[SOURCES] = {
        {"desc.surface.volume", surface->volume, stream_scalar_types, &plan->volume, desc->type},
        {"desc.surface.mask", surface->mask, stream_flag_types, &plan->mask,
         desc->has_mask ? TML_U8 : TML_TYPE_NONE},
        {"desc.surface.attribute", surface->attribute, stream_scalar_types, &plan->attribute,
         desc->attribute_type}};
    s->reads = tml_buffer_is_none(surface->volume);
    if (surface->field) { /* load evaluates its layers into the places */
        s->sources[TML_SURFACE_VOLUME].type = plan->type = TML_F32;
        s->sources[TML_SURFACE_VOLUME].layer = plan->dims[0] * plan->dims[1] * sizeof(float);
        return TML_OK;
    }
    s->maps = s->reads && desc->map;
    if (s->reads && ((!desc->read && !desc->map) || !is_scalar(desc->type) ||
                     (desc->attribute_type && !is_scalar(desc->attribute_type))))
        return bad_desc(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "without desc.surface.volume needs desc.read or desc.map, and a scalar as desc.type "
            "(and as desc.attribute_type, if any)");
    for (int i = 0; i < SOURCES; i++) {
        bool is_read = sources[i].read != TML_TYPE_NONE,
             is_given = !tml_buffer_is_none(sources[i].buffer);
        if (s->reads ? is_given : is_read)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_surface_slabs: %s: volume, mask and attribute are either all "
                             "buffers or all read",
                             sources[i].field);
        if (is_read) {
            s->sources[i].type = sources[i].read;
            s->sources[i].layer = plan->dims[0] * plan->dims[1] * tml_type_size(sources[i].read);
        } else if (is_given) {
            tml_status status = surface_check_samples(tml, "tml_surface_slabs", sources[i].field,
                                                      sources[i].buffer, sources[i].types, count);
            if (status != TML_OK)
                return status;
            *sources[i].slot = tml_slot_of(tml, sources[i].buffer);
        }
    }
    plan->type = s->reads ? desc->type : plan->volume->type;
    if (tml_buffer_is_none(surface->index))
        return TML_OK;
    plan->index = tml_slot_of(tml, surface->index);
    return tml_check_buffer(tml, "tml_surface_slabs", "desc.surface.index", surface->index,
                            surface_index_types, surface_brick_count(plan->dims));
}

static tml_status resolve_share(stream *s)
{
    const tml_surface_slabs_desc *desc = s->desc;
    uint64_t first = s->region.first[2], end = first + s->region.count[2];
    s->own_first = first;
    s->own_end = end;
    if (desc->layer_first == 0 && desc->layer_count == 0)
        return TML_OK;
    uint64_t count = desc->layer_count;
    if (desc->layer_first < first || desc->layer_first >= end || count > end - desc->layer_first)
        return tml_error(s->tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_slabs: layers [%" PRIu64 ", +%" PRIu64
                         ") are outside the region's [%" PRIu64 ", %" PRIu64 ")",
                         desc->layer_first, count, first, end);
    s->own_first = desc->layer_first;
    s->own_end = count ? s->own_first + count : end;
    if (desc->surface->soup && s->own_end < end)
        return bad_desc(s->tml, TML_ERROR_UNSUPPORTED,
                        "desc.surface.soup of a share that does not end the region: its last "
                        "triangles have vertices of the next share");
    return TML_OK;
}

/* Do a part's vertex and triangle numbers stay below 2^64? A sample, also of a pad, owns at most
 * three edges and a cell of five triangles, or with six vertices of its own and 24 triangles, or
 * three quads of a net. A soup has three vertices a triangle. */
static bool has_numbers(const stream *s, const tml_surface_part *before)
{
    uint64_t samples = 1, vertices, triangles, corners;
    for (int a = 0; a < 3; a++)
        if (!tml_mul(samples, s->region.count[a] + 2, &samples))
            return false;
    return tml_mul(samples, s->plan.trilinear ? 9 : 3, &vertices) &&
           tml_mul(samples, s->plan.trilinear ? 24 : 6, &triangles) &&
           before->vertex_count <= UINT64_MAX - vertices &&
           before->triangle_count <= UINT64_MAX - triangles &&
           (!s->desc->surface->soup || tml_mul(before->triangle_count + triangles, 3, &corners));
}

static tml_status check_before(const stream *s)
{
    for (uint32_t p = 0; s->desc->before && p < s->plan.part_count; p++) {
        const tml_surface_part *before = &s->desc->before[p];
        if (!has_numbers(s, before))
            return tml_error(
                s->tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_surface_slabs: desc.before[%" PRIu32 "] has %" PRIu64 " vertices and %" PRIu64
                " triangles, after which 64 bits do not number this share's; needs the "
                "counts of the shares before it, added up",
                p, before->vertex_count, before->triangle_count);
    }
    return TML_OK;
}

/* What the points carry. */
static tml_status create_means(stream *s, const tml_field_desc *field)
{
    tml_status status = TML_OK;
    tml_buffer all[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++) {
        const tml_buffer values = s->desc->field_values[i];
        char name[32];
        if (tml_buffer_is_none(values))
            continue;
        snprintf(name, sizeof name, "desc.field_values[%d]", i);
        status = field_means_check(s->tml, field, "tml_surface_slabs", name, values);
        tml_buffer_describe(s->tml, values, &s->value_types[i], NULL);
        all[count++] = values;
    }
    return status ? status
                  : field_means_create(s->tml, field, s->desc->surface->position_origin, all, count,
                                       &s->means);
}

static tml_status resolve_slabs(stream *s)
{
    const tml_surface_desc *surface = s->desc->surface;
    tml_grid grid = {0};
    uint64_t count = 0;
    tml_field_desc field = {.grid = surface->grid};
    tml_status status = tml_refuse_recording(s->tml, "tml_surface_slabs", NULL);
    TML_THEN(status, check_options(s->tml, s->desc));
    if (status == TML_OK && surface->field)
        status = tml_field_resolve(s->tml, surface->field, &field, NULL);
    TML_THEN(status, surface_resolve_grid(s->tml, "tml_surface_slabs", &field.grid, &grid));
    TML_THEN(status, surface_check_dims(s->tml, "tml_surface_slabs", grid.dims, &count));
    if (status != TML_OK)
        return status;
    memcpy(s->plan.dims, grid.dims, sizeof grid.dims);
    if ((status = resolve_sources(s, count)) != TML_OK ||
        (status = surface_resolve_axes(s->tml, "tml_surface", &grid, surface->position_origin,
                                       surface->flip, &s->plan)) != TML_OK ||
        (status = surface_resolve_parts(s->tml, surface, &s->plan)) != TML_OK)
        return status;
    s->region = s->plan.parts[0].box;
    status = resolve_share(s);
    if (status == TML_OK && s->desc->boundaries)
        status = nets_resolve(s->tml, s->desc->boundaries, s->reads ? s->plan.type : TML_TYPE_NONE,
                              &s->net);
    TML_THEN(status, check_before(s));
    if (status == TML_OK && surface->field)
        status = field_plan_create(s->tml, &field, &s->field);
    if (status == TML_OK && surface->field && has_field_values(s->desc))
        status = create_means(s, &field);
    return status;
}

/* ---- slabs ----------------------------------------------------------------------------------- */

/* Cuts a part to the slab of these own layers, with its halo. */
static void cut_part(const stream *s, uint64_t own_first, uint64_t own_end, surface_part *part)
{
    surface_space region = surface_space_of(&s->plan, &(surface_part){.box = s->region});
    surface_slab cut = surface_slab_of(&region, own_first, own_end, true);
    part->box = s->region;
    part->box.first[2] = cut.z_first;
    part->box.count[2] = cut.to - cut.from - cut.pad_low - cut.pad_high;
    part->no_pad_below = !cut.pad_low;
    part->no_pad_above = !cut.pad_high;
    part->before = (uint32_t)(cut.own_first - cut.from);
    part->after = (uint32_t)(cut.to - cut.own_end);
}

static slab slab_at(const stream *s, uint64_t own_first, uint64_t layers, uint32_t place)
{
    slab out = {.place = place, .own_first = own_first};
    out.own_end = TML_MIN_OF(own_first + layers, s->own_end);
    if (s->desc->boundaries) {
        const uint64_t first = s->region.first[2];
        out.held_first = first + nets_held_first(&s->net, own_first - first);
        out.held_end = first + nets_held_end(&s->net, out.own_end - first);
        return out;
    }
    out.held_first = surface_held_first(own_first);
    out.held_end = surface_held_end(out.own_end, s->plan.dims[2]);
    return out;
}

static uint64_t held_most(const stream *s, uint64_t layers)
{
    return s->desc->boundaries ? nets_held_most(&s->net, layers)
                               : surface_held_most(layers, s->plan.dims[2]);
}

/* Bytes that slabs of so many own layers need: samples twice, scratch, marks of missing samples. */
static uint64_t memory_with(stream *s, uint64_t layers)
{
    if (s->desc->boundaries)
        return held_most(s, layers) * (2 * s->sources[0].layer + nets_layer_size(&s->net));
    const tml_engine_op *op = surface_engine(s->tml)->op;
    uint64_t held = surface_held_most(layers, s->plan.dims[2]), size = 0;
    for (int i = 0; i < SOURCES; i++)
        size += 2 * held * s->sources[i].layer;
    for (uint32_t p = 0; p < s->plan.part_count; p++) { /* sized like a region of held layers */
        surface_part *part = &s->plan.parts[p];
        *part = (surface_part){.iso = part->iso, .label = part->label, .box = s->region};
        part->box.count[2] = TML_MIN_OF(held, s->region.count[2]);
    }
    s->plan.stage = SURFACE_COUNT;
    size += op->scratch_size ? op->scratch_size(s->tml, &s->plan) : 0;
    if (surface_may_miss(&s->plan) || s->sources[TML_SURFACE_MASK].type)
        size += held * s->plan.dims[0] * s->plan.dims[1] / 4;
    return size;
}

static void choose_layers(stream *s)
{
    uint64_t memory = s->desc->memory ? s->desc->memory : memory_default;
    uint64_t all = s->own_end - s->own_first, layer = TML_MAX_OF(s->sources[0].layer, (uint64_t)1);
    s->piece_size = memory / 2;
    if (s->desc->slab_layers) {
        s->layers = TML_MIN_OF(s->desc->slab_layers, all);
        return;
    }
    uint64_t most = TML_MAX_OF(slab_size_most / layer, (uint64_t)1);
    uint64_t fits = 1, too_many = TML_MIN_OF(all, most) + 1;
    while (fits + 1 < too_many) {
        uint64_t middle = fits + (too_many - fits) / 2;
        if (memory_with(s, middle) <= memory / 2)
            fits = middle;
        else
            too_many = middle;
    }
    s->layers = fits;
}

/* ---- samples --------------------------------------------------------------------------------- */

static tml_status lend(const stream *s, slab_source *source, int place, uint64_t layers,
                       const void *samples)
{
    const tml_buffer_desc desc = {.type = source->type,
                                  .count = layers * source->layer / tml_type_size(source->type),
                                  .host = (void *)(uintptr_t)samples, /* only read */
                                  .label = "slab"};
    return tml_buffer_create(s->tml, &desc, &source->lent[place]);
}

static tml_status places_make(stream *s)
{
    if (s->maps)
        return TML_OK;
    uint64_t held = held_most(s, s->layers);
    for (int i = 0; i < SOURCES; i++) {
        slab_source *source = &s->sources[i];
        source->size = held * source->layer;
        for (int place = 0; place < 2 && source->type; place++) {
            source->places[place] = tml_alloc_array(s->tml, source->size, 1);
            if (!source->places[place])
                return tml_error(s->tml, TML_ERROR_OUT_OF_MEMORY,
                                 "tml_surface_slabs: no memory for %" PRIu64 " bytes of %" PRIu64
                                 " layers; make desc.memory or slab_layers less",
                                 source->size, held);
            tml_status status = lend(s, source, place, held, source->places[place]);
            if (status != TML_OK)
                return status;
        }
    }
    return TML_OK;
}

static void places_free(stream *s)
{
    for (int i = 0; i < SOURCES; i++)
        for (int place = 0; place < 2; place++) {
            tml_buffer_destroy(s->tml, s->sources[i].lent[place]);
            tml_free(s->tml, s->sources[i].places[place], s->sources[i].size);
        }
}

/* Fills a place on a thread of its own: copies the layers that the previous slab also holds, and
 * reads the others. With desc.map it gets the layers' address. */
typedef struct loading {
    const stream *s;
    slab to, before; /* before.held_end is 0 for the first slab */
    tml_thread thread;
    bool is_threaded;
    const void *mapped[SOURCES];
    tml_status status;
} loading;

static void slabs_load(void *argument)
{
    loading *job = argument;
    const stream *s = job->s;
    uint64_t from = TML_MAX_OF(job->to.held_first, job->before.held_end);
    uint64_t common = from - job->to.held_first;
    job->status = TML_OK;
    for (int i = 0; i < SOURCES && job->status == TML_OK; i++) {
        const slab_source *source = &s->sources[i];
        if (!source->type)
            continue;
        if (s->maps) {
            job->status = s->desc->map(s->desc->user, (tml_surface_source)i, job->to.held_first,
                                       job->to.held_end - job->to.held_first, &job->mapped[i]);
            continue;
        }
        uint8_t *to = source->places[job->to.place];
        if (common) {
            uint64_t skipped = job->to.held_first - job->before.held_first;
            memcpy(to, (const uint8_t *)source->places[job->before.place] + skipped * source->layer,
                   common * source->layer);
        }
        if (from < job->to.held_end && s->field)
            job->status = field_slab(s->tml, s->field, from, job->to.held_end - from,
                                     to + common * source->layer);
        else if (from < job->to.held_end)
            job->status = s->desc->read(s->desc->user, (tml_surface_source)i, from,
                                        job->to.held_end - from, to + common * source->layer);
    }
}

static void load_begin(loading *job, const stream *s, const slab *to, const slab *before)
{
    *job = (loading){
        .s = s, .to = *to, .before = *before, .thread = {.run = slabs_load, .argument = job}};
    if (!s->reads || s->field)
        return;
    job->is_threaded = tml_thread_start(&job->thread);
    if (!job->is_threaded)
        slabs_load(job);
}

/* Replaces the buffer of the slab before the previous one by one at the mapped address. */
static tml_status lend_mapped(const stream *s, slab_source *source, int place, uint64_t layers,
                              const void *samples)
{
    if (!samples)
        return bad_desc(s->tml, TML_ERROR_INVALID_ARGUMENT, "desc.map set no address");
    tml_buffer_destroy(s->tml, source->lent[place]);
    source->lent[place] = (tml_buffer){0, 0};
    return lend(s, source, place, layers, samples);
}

static tml_status load_end(stream *s, loading *job)
{
    double start = tml_seconds();
    if (job->is_threaded)
        tml_thread_join(&job->thread);
    job->is_threaded = false;
    if (s->field)
        slabs_load(job);
    surface_time(s->result, s->field ? "field" : "wait for samples", tml_seconds() - start);
    if (s->field && job->status != TML_OK)
        return job->status;
    if (job->status != TML_OK)
        return tml_error(s->tml, job->status,
                         "tml_surface_slabs: layers %" PRIu64 " to %" PRIu64
                         " could not be read: desc.%s returned %s",
                         job->to.held_first, job->to.held_end - 1, s->maps ? "map" : "read",
                         tml_status_name(job->status));
    tml_status status = TML_OK;
    for (int i = 0; i < SOURCES && s->maps && status == TML_OK; i++)
        if (s->sources[i].type)
            status = lend_mapped(s, &s->sources[i], (int)job->to.place,
                                 job->to.held_end - job->to.held_first, job->mapped[i]);
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

enum {
    PIECE_POSITIONS,
    PIECE_NORMALS,
    PIECE_VALUES,
    PIECE_INDICES,
    PIECE_MEANS,
    PIECE_ARRAYS = PIECE_MEANS + TML_FIELD_MAX_ATTRIBUTES
};

/* A slab's outputs, with all parts one after another. */
typedef struct piece_arrays {
    tml_buffer buffers[PIECE_ARRAYS];
    uint8_t *memory[PIECE_ARRAYS]; /* the mapped buffer, or a copy */
    size_t copied[PIECE_ARRAYS];   /* bytes of the copy; 0: mapped */
    const void *face_labels;       /* of boundaries */
} piece_arrays;

static tml_type piece_type(const stream *s, int array)
{
    switch (array) {
    case PIECE_VALUES:
        return TML_F32;
    case PIECE_INDICES:
        return TML_VEC(s->plan.indices64 ? TML_U64 : TML_U32, s->net.quads ? 4 : 3);
    case PIECE_POSITIONS:
    case PIECE_NORMALS:
        return TML_VEC(TML_F32, 3);
    default:
        return s->value_types[array - PIECE_MEANS];
    }
}

static bool piece_has(const stream *s, int array)
{
    if (array == PIECE_NORMALS)
        return s->plan.normals != TML_NORMALS_NONE;
    if (array >= PIECE_MEANS)
        return s->value_types[array - PIECE_MEANS] != TML_TYPE_NONE;
    return array != PIECE_VALUES || s->plan.attribute;
}

static uint64_t piece_bytes(const stream *s, uint64_t vertices, uint64_t triangles)
{
    uint64_t size = 0;
    for (int i = 0; i < PIECE_ARRAYS; i++)
        if (piece_has(s, i))
            size += (i == PIECE_INDICES ? triangles : vertices) * tml_type_size(piece_type(s, i));
    if (s->desc->boundaries) /* places while they are smoothed, and labels */
        size += vertices * NETS_STATE + triangles * 2 * s->net.sample_size;
    if (s->plan.trilinear) /* marks of cells, two bytes each, which have two triangles and more */
        size += triangles;
    return size + (s->components ? forest_size(vertices) : 0);
}

static void pieces_destroy(stream *s, piece_arrays *arrays)
{
    for (int i = 0; i < PIECE_ARRAYS; i++) {
        if (arrays->copied[i])
            tml_free(s->tml, arrays->memory[i], arrays->copied[i]);
        else if (arrays->memory[i])
            tml_buffer_unmap(s->tml, arrays->buffers[i]);
        tml_buffer_destroy(s->tml, arrays->buffers[i]);
    }
}

/* Maps an array of an engine on the host. Copies that of another engine, since unmapping would
 * write it back to the device. */
static tml_status piece_fetch(stream *s, int array, piece_arrays *out)
{
    const tml_slot *slot = tml_slot_of(s->tml, out->buffers[array]);
    if (surface_engine(s->tml)->numbers_slabs)
        return tml_buffer_map(s->tml, out->buffers[array], (void **)&out->memory[array]);
    if (slot->size == 0)
        return TML_OK;
    out->memory[array] = tml_alloc(s->tml, slot->size);
    if (!out->memory[array])
        return bad_desc(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a piece of the mesh");
    out->copied[array] = slot->size;
    return tml_buffer_read(s->tml, out->buffers[array], out->memory[array]);
}

/* Adds vertex_base to a part's indices, modulo 2^32 or 2^64. */
static void raise_indices(const stream *s, const piece_arrays *arrays)
{
    for (uint32_t p = 0; p < s->plan.part_count; p++) {
        const surface_part *part = &s->plan.parts[p];
        uint64_t first = 3 * part->triangle_first, end = first + 3 * part->triangle_count;
        uint64_t *wide = (void *)arrays->memory[PIECE_INDICES];
        uint32_t *narrow = (void *)arrays->memory[PIECE_INDICES];
        for (uint64_t i = first; i < end; i++)
            if (s->plan.indices64)
                wide[i] += part->vertex_base;
            else
                narrow[i] += (uint32_t)part->vertex_base;
    }
}

/* The means at the vertices, in an engine's host memory. */
static tml_status find_means(stream *s, piece_arrays *out)
{
    tml_status status = TML_OK;
    double start = tml_seconds();
    tml_buffer outs[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = PIECE_MEANS; i < PIECE_ARRAYS; i++)
        if (piece_has(s, i))
            outs[count++] = out->buffers[i];
    if (s->means)
        status = field_means_at(s->tml, s->means, out->buffers[PIECE_POSITIONS], outs);
    if (s->means)
        surface_time(s->result, "attributes", tml_seconds() - start);
    return status;
}

/* Runs EMIT into new buffers, and fetches them. */
static tml_status pieces_make(stream *s, uint64_t vertices, uint64_t triangles, double from,
                              double to, piece_arrays *out)
{
    tml_slot **const slots[PIECE_MEANS] = {&s->plan.positions, &s->plan.vertex_normals,
                                           &s->plan.vertex_values, &s->plan.indices};
    tml_status status = TML_OK;
    for (int i = 0; i < PIECE_ARRAYS && status == TML_OK; i++) {
        if (i < PIECE_MEANS)
            *slots[i] = NULL;
        if (!piece_has(s, i))
            continue;
        const tml_buffer_desc desc = {.type = piece_type(s, i),
                                      .count = i == PIECE_INDICES ? triangles : vertices,
                                      .label = "piece of a surface"};
        status = tml_buffer_create(s->tml, &desc, &out->buffers[i]);
        if (i < PIECE_MEANS)
            *slots[i] = tml_slot_of(s->tml, out->buffers[i]);
    }
    TML_THEN(status, surface_run_stage(s->tml, &s->plan, SURFACE_EMIT, from, to));
    TML_THEN(status, find_means(s, out));
    for (int i = 0; i < PIECE_ARRAYS && status == TML_OK; i++)
        if (piece_has(s, i))
            status = piece_fetch(s, i, out);
    if (status == TML_OK && !surface_engine(s->tml)->numbers_slabs)
        raise_indices(s, out);
    return status;
}

/* Gives a part's piece to desc.write, as a soup if desc.surface.soup. */
static tml_status piece_write(stream *s, uint32_t p, const slab *at, const piece_arrays *arrays)
{
    const surface_part *part = &s->plan.parts[p];
    const tml_surface_part *done = &s->done[p];
    uint64_t v = part->vertex_first, t = part->triangle_first;
    size_t index_size = s->plan.indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    tml_surface_piece piece = {
        .part = p,
        .value = surface_part_value(&s->plan, part),
        .label = s->plan.labels ? part->label : 0,
        .layer_first = at->own_first,
        .layer_count = at->own_end - at->own_first,
        .vertex_first = done->vertex_first + done->vertex_count,
        .vertex_count = part->vertex_count,
        .triangle_first = done->triangle_first + done->triangle_count,
        .triangle_count = part->triangle_count,
        .positions = (const float *)arrays->memory[PIECE_POSITIONS] + 3 * v,
        .indices64 = s->plan.indices64,
        .quads = s->net.quads,
        .face_labels = arrays->face_labels,
    };
    if (arrays->memory[PIECE_INDICES]) /* NULL: no triangles in the slab */
        piece.indices = arrays->memory[PIECE_INDICES] + 3 * t * index_size;
    if (arrays->memory[PIECE_NORMALS])
        piece.normals = (const float *)arrays->memory[PIECE_NORMALS] + 3 * v;
    if (arrays->memory[PIECE_VALUES])
        piece.values = (const float *)arrays->memory[PIECE_VALUES] + v;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        if (arrays->memory[PIECE_MEANS + i])
            piece.field_values[i] = (const float *)arrays->memory[PIECE_MEANS + i] +
                                    v * tml_type_size(s->value_types[i]) / sizeof(float);
    if (!s->carries)
        return s->desc->write(s->desc->user, &piece);
    tml_surface_piece soup;
    tml_status status = soup_carry_add(s->tml, &s->carries[p], &piece, &soup);
    if (status == TML_OK && soup.triangle_count)
        status = s->desc->write(s->desc->user, &soup);
    return status;
}

/* ---- boundaries ------------------------------------------------------------------------------ */

/* The samples of a slab: what is read, or the whole volume. */
static tml_buffer net_volume(const stream *s, const slab *at)
{
    return s->reads ? s->sources[0].lent[at->place] : s->desc->boundaries->volume;
}

/* Counts a slab of the net. end_net in any case. */
static tml_status begin_net(stream *s, const slab *at, nets_slab *out)
{
    const uint64_t first = s->region.first[2], own_first = at->own_first - first;
    const uint64_t layer = s->plan.dims[0] * s->plan.dims[1] * s->net.sample_size;
    const uint64_t skipped =
        first + nets_held_first(&s->net, own_first) - (s->reads ? at->held_first : 0);
    void *samples = NULL;
    *out = (nets_slab){.plan = s->net};
    tml_status status = tml_buffer_map(s->tml, net_volume(s, at), &samples);
    TML_THEN(status, nets_slab_count(&s->net, (const uint8_t *)samples + skipped * layer, own_first,
                                     at->own_end - first, out));
    s->plan.parts[0].vertex_count = s->plan.parts[0].active_cells = out->vertex_count;
    s->plan.parts[0].triangle_count = out->face_count;
    return status;
}

static void end_net(stream *s, const slab *at, nets_slab *net)
{
    for (uint32_t i = 0; i < net->result.stage_count; i++)
        surface_time(s->result, net->result.stages[i].name, net->result.stages[i].seconds);
    s->result->scratch_size = TML_MAX_OF(s->result->scratch_size, net->result.scratch_size);
    nets_slab_free(net);
    tml_buffer_unmap(s->tml, net_volume(s, at));
}

/* ---- components ------------------------------------------------------------------------------ */

/* The vertices of a share's first layer, which the share below names. */
static tml_status count_below(stream *s, const slab *at)
{
    if (s->desc->boundaries) {
        slab lowest = *at;
        nets_slab net;
        lowest.own_end = lowest.own_first + 1;
        tml_status counted = begin_net(s, &lowest, &net);
        end_net(s, &lowest, &net);
        s->components[0].below_count = s->plan.parts[0].vertex_count;
        return counted;
    }
    for (uint32_t p = 0; p < s->plan.part_count; p++)
        cut_part(s, s->own_first, s->own_first + 1, &s->plan.parts[p]);
    tml_status status = surface_run_stage(s->tml, &s->plan, SURFACE_COUNT, 0, 0);
    if (*s->plan.kept) {
        tml_status ended = surface_run_stage(s->tml, &s->plan, SURFACE_END, 0, 0);
        status = status != TML_OK ? status : ended;
    }
    for (uint32_t p = 0; p < s->plan.part_count && status == TML_OK; p++)
        s->components[p].below_count = s->plan.parts[p].vertex_count;
    return status;
}

static tml_status add_components(stream *s, const piece_arrays *arrays)
{
    tml_status status = TML_OK;
    double start = tml_seconds();
    size_t row = 3 * (s->plan.indices64 ? sizeof(uint64_t) : sizeof(uint32_t));
    for (uint32_t p = 0; s->components && p < s->plan.part_count && status == TML_OK; p++) {
        const surface_part *part = &s->plan.parts[p];
        const uint8_t *indices = arrays->memory[PIECE_INDICES];
        if (part->vertex_count || part->triangle_count)
            status = slab_components_add(
                s->tml, &s->components[p], indices ? indices + part->triangle_first * row : NULL,
                s->plan.indices64, part->triangle_count,
                s->done[p].vertex_first + s->done[p].vertex_count, part->vertex_count);
    }
    if (s->components)
        surface_time(s->result, "components", tml_seconds() - start);
    return status;
}

/* Gives the result the count and, of a share, what goes on in its neighbours. */
static tml_status finish_components(stream *s)
{
    uint32_t count = s->components ? s->plan.part_count : 0;
    bool is_share =
        s->own_first > s->region.first[2] || s->own_end < s->region.first[2] + s->region.count[2];
    for (uint32_t p = 0; p < count; p++)
        s->result->components += s->components[p].closed;
    if (!is_share || !count)
        return TML_OK;
    s->seams = tml_alloc_array(s->tml, count, sizeof *s->seams);
    if (!s->seams)
        return bad_desc(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    memset(s->seams, 0, count * sizeof *s->seams);
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < count && status == TML_OK; p++)
        status = slab_components_seam(s->tml, &s->components[p], &s->seams[p]);
    if (status != TML_OK)
        surface_seams_free(s->tml, s->seams, count);
    return status;
}

/* ---- the work -------------------------------------------------------------------------------- */

/* Sets each part's places in the slab's arrays and its vertex_base. */
static tml_status place_pieces(stream *s, uint64_t *vertices, uint64_t *triangles)
{
    *vertices = *triangles = 0;
    for (uint32_t p = 0; p < s->plan.part_count; p++) {
        surface_part *part = &s->plan.parts[p];
        uint64_t number = s->done[p].vertex_first + s->done[p].vertex_count;
        part->vertex_first = *vertices;
        part->triangle_first = *triangles;
        part->vertex_base = number - part->vertex_first;
        *vertices += part->vertex_count;
        *triangles += part->triangle_count;
        if (!s->plan.indices64 && number + part->vertex_count > (uint64_t)UINT32_MAX + 1)
            return tml_error(s->tml, TML_ERROR_UNSUPPORTED,
                             "tml_surface_slabs: part %" PRIu32 " has more than %" PRIu64
                             " vertices, which need 64-bit indices; set desc.surface.indices64",
                             p, number);
    }
    return TML_OK;
}

static double progress_at(const stream *s, uint64_t layer)
{
    return (double)(layer - s->own_first) / (double)(s->own_end - s->own_first);
}

static tml_status run_slab(stream *s, const slab *at);

static tml_status run_halves(stream *s, const slab *at)
{
    slab low = *at, high = *at;
    low.own_end = high.own_first = at->own_first + (at->own_end - at->own_first) / 2;
    tml_status status = run_slab(s, &low);
    return status == TML_OK ? run_slab(s, &high) : status;
}

static void slabs_add_counts(stream *s)
{
    for (uint32_t p = 0; p < s->plan.part_count; p++) {
        s->done[p].vertex_count += s->plan.parts[p].vertex_count;
        s->done[p].triangle_count += s->plan.parts[p].triangle_count;
        s->result->active_cells += s->plan.parts[p].active_cells;
    }
}

/* The same of a slab of the net. */
static tml_status run_net(stream *s, const slab *at)
{
    nets_slab net;
    uint64_t vertices = 0, triangles = 0;
    s->net.call_from = TML_MAX_OF(progress_at(s, at->own_first), s->progress);
    s->net.call_to = TML_MAX_OF(progress_at(s, at->own_end), s->net.call_from);
    tml_status status = begin_net(s, at, &net);
    TML_THEN(status, place_pieces(s, &vertices, &triangles));
    if (status == TML_OK && at->own_end - at->own_first > 1 &&
        piece_bytes(s, vertices, triangles) > s->piece_size && s->desc->write) {
        end_net(s, at, &net);
        return run_halves(s, at);
    }
    if (status == TML_OK && (vertices || triangles) && s->desc->write) {
        status = nets_slab_write(&net, s->plan.parts[0].vertex_base);
        piece_arrays arrays = {.memory = {[PIECE_POSITIONS] = (uint8_t *)(uintptr_t)net.positions,
                                          [PIECE_INDICES] = net.plan.indices},
                               .face_labels = net.plan.face_labels};
        TML_THEN(status, add_components(s, &arrays));
        const double start = tml_seconds();
        TML_THEN(status, piece_write(s, 0, at, &arrays));
        surface_time(s->result, "pieces", tml_seconds() - start);
    }
    if (status == TML_OK)
        slabs_add_counts(s);
    end_net(s, at, &net);
    return status;
}

/* Counts and emits a slab. Where its piece is too large, does the two halves of its layers. */
static tml_status run_slab(stream *s, const slab *at)
{
    if (s->desc->boundaries)
        return run_net(s, at);
    double from = TML_MAX_OF(progress_at(s, at->own_first), s->progress);
    double to = TML_MAX_OF(progress_at(s, at->own_end), from);
    double middle = (from + to) / 2;
    uint64_t vertices = 0, triangles = 0, layers = at->own_end - at->own_first;
    for (uint32_t p = 0; p < s->plan.part_count; p++)
        cut_part(s, at->own_first, at->own_end, &s->plan.parts[p]);
    tml_status status = surface_run_stage(s->tml, &s->plan, SURFACE_COUNT, from, middle);
    s->progress = middle;
    s->result->scratch_size = TML_MAX_OF(s->result->scratch_size, tml_reserved(s->tml));
    TML_THEN(status, place_pieces(s, &vertices, &triangles));
    if (status != TML_OK)
        return status;
    bool is_too_large = layers > 1 && piece_bytes(s, vertices, triangles) > s->piece_size;
    bool is_done = vertices == 0 || !s->desc->write;
    if ((is_done || is_too_large) && *s->plan.kept) /* no EMIT follows */
        status = surface_run_stage(s->tml, &s->plan, SURFACE_END, middle, middle);
    if (is_done && status == TML_OK)
        slabs_add_counts(s);
    if (is_done || status != TML_OK)
        return status;
    if (is_too_large)
        return run_halves(s, at);
    piece_arrays arrays = {0};
    status = pieces_make(s, vertices, triangles, middle, to, &arrays);
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY && layers > 1) {
        pieces_destroy(s, &arrays);
        s->progress = to; /* what the stage may have reported */
        return run_halves(s, at);
    }
    TML_THEN(status, add_components(s, &arrays));
    double start = tml_seconds();
    for (uint32_t p = 0; p < s->plan.part_count && status == TML_OK; p++)
        if (s->plan.parts[p].vertex_count)
            status = piece_write(s, p, at, &arrays);
    slabs_add_counts(s);
    surface_time(s->result, "pieces", tml_seconds() - start);
    pieces_destroy(s, &arrays);
    return status;
}

static tml_status stream_slabs(stream *s)
{
    loading next;
    slab at = slab_at(s, s->own_first, s->layers, 0), none = {0};
    load_begin(&next, s, &at, &none);
    tml_status status = load_end(s, &next);
    while (status == TML_OK) {
        bool is_last = at.own_end == s->own_end;
        slab after = {0};
        if (!is_last) {
            after = slab_at(s, at.own_end, s->layers, 1 - at.place);
            load_begin(&next, s, &after, &at);
        }
        if (s->reads) {
            const tml_slot **const slots[SOURCES] = {&s->plan.volume, &s->plan.mask,
                                                     &s->plan.attribute};
            for (int i = 0; i < SOURCES; i++)
                *slots[i] = tml_slot_of(s->tml, s->sources[i].lent[at.place]);
            s->plan.held_first = at.held_first;
            s->plan.held_count = at.held_end - at.held_first;
        }
        if (s->components && at.own_first == s->own_first && at.own_first > s->region.first[2])
            status = count_below(s, &at);
        TML_THEN(status, run_slab(s, &at));
        if (is_last)
            break;
        if (status != TML_OK) { /* the thread must end before its buffers are freed */
            if (next.is_threaded)
                tml_thread_join(&next.thread);
            break;
        }
        status = load_end(s, &next);
        at = after;
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Starts each part's numbers after those of the shares before (desc.before). */
static tml_status begin_parts(stream *s)
{
    uint32_t count = s->plan.part_count;
    s->done = tml_alloc_array(s->tml, count, sizeof *s->done);
    if (!s->done)
        return bad_desc(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    for (uint32_t p = 0; p < count; p++) {
        const tml_surface_part *before = s->desc->before ? &s->desc->before[p] : NULL;
        s->done[p] = (tml_surface_part){.value = surface_part_value(&s->plan, &s->plan.parts[p]),
                                        .label = s->plan.labels ? s->plan.parts[p].label : 0};
        if (!before)
            continue;
        s->done[p].vertex_first = before->vertex_count;
        s->done[p].triangle_first = before->triangle_count;
    }
    if (s->desc->components && s->desc->write) {
        s->components = tml_alloc_array(s->tml, count, sizeof *s->components);
        if (!s->components)
            return bad_desc(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
        memset(s->components, 0, count * sizeof *s->components);
    }
    if (!s->desc->surface->soup)
        return TML_OK;
    s->carries = tml_alloc_array(s->tml, count, sizeof *s->carries);
    if (!s->carries)
        return bad_desc(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    for (uint32_t p = 0; p < count; p++) {
        s->carries[p] = (soup_carry){.done = s->done[p].triangle_first, .components = {3, 3, 1}};
        for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
            s->carries[p].components[3 + i] =
                (uint8_t)(tml_type_size(s->value_types[i]) / sizeof(float));
    }
    return TML_OK;
}

/* Reports the parts as tml_surface does. */
static void finish_parts(stream *s)
{
    tml_surface_result *out = s->result;
    out->parts = s->done;
    out->part_count = s->plan.part_count;
    out->seams = s->seams;
    s->done = NULL;
    for (uint32_t p = 0; p < out->part_count; p++) {
        tml_surface_part *part = &out->parts[p];
        if (s->carries)
            part->vertex_count = 3 * part->triangle_count;
        part->vertex_first = out->vertex_count;
        part->triangle_first = out->triangle_count;
        out->vertex_count += part->vertex_count;
        out->triangle_count += part->triangle_count;
    }
}

static void slabs_free(stream *s, uint32_t part_count)
{
    for (uint32_t p = 0; s->components && p < part_count; p++)
        slab_components_free(s->tml, &s->components[p]);
    tml_free(s->tml, s->components, part_count * sizeof *s->components);
    for (uint32_t p = 0; s->carries && p < part_count; p++)
        soup_carry_free(s->tml, &s->carries[p]);
    tml_free(s->tml, s->carries, part_count * sizeof *s->carries);
    tml_free(s->tml, s->done, part_count * sizeof *s->done);
    tml_free(s->tml, s->plan.parts, s->plan.part_capacity * sizeof *s->plan.parts);
}

static tml_status surface_in_slabs(tml_context *tml, const tml_surface_slabs_desc *desc,
                                   tml_surface_result *out)
{
    if (!desc->surface == !desc->boundaries)
        return bad_desc(tml, TML_ERROR_INVALID_ARGUMENT,
                        desc->surface ? "desc.surface and desc.boundaries exclude each other"
                                      : "desc.surface is NULL, needs what tml_surface takes");
    void *kept = NULL;
    const tml_surface_labels_desc *net = desc->boundaries;
    const tml_surface_desc of_net = net ? (tml_surface_desc){.volume = net->volume,
                                                             .grid = net->grid,
                                                             .region = net->region,
                                                             .caps = net->caps,
                                                             .indices64 = net->indices64}
                                        : (tml_surface_desc){.iso = 0};
    tml_surface_slabs_desc seen = *desc;
    if (net)
        seen.surface = &of_net;
    desc = &seen;
    stream s = {.tml = tml,
                .desc = desc,
                .net = {.tml = tml, .progress = &s.progress},
                .result = out,
                .plan = {.caps = desc->surface->caps,
                         .trilinear = desc->surface->topology == TML_TOPOLOGY_TRILINEAR,
                         .normals = desc->surface->normals,
                         .indices64 = desc->surface->indices64 || desc->surface->soup,
                         .vertex_capacity = UINT64_MAX,
                         .triangle_capacity = UINT64_MAX,
                         .kept = &kept,
                         .progress_reached = &s.progress,
                         .result = out}};
    tml_status status = resolve_slabs(&s);
    bool is_flat = false; /* no cells, so no surface */
    for (int a = 0; a < 3 && status == TML_OK && !s.plan.caps; a++)
        is_flat = is_flat || s.region.count[a] < 2;
    TML_THEN(status, begin_parts(&s));
    if (status == TML_OK && !is_flat) {
        choose_layers(&s);
        status = places_make(&s);
        TML_THEN(status, stream_slabs(&s));
        if (kept)
            (void)!surface_run_stage(tml, &s.plan, SURFACE_END, 1.0, 1.0);
        places_free(&s);
    }
    field_means_destroy(tml, s.means);
    field_plan_destroy(tml, s.field);
    uint32_t count = s.plan.part_count;
    TML_THEN(status, finish_components(&s));
    if (status == TML_OK)
        finish_parts(&s);
    else
        *out = (tml_surface_result){0};
    slabs_free(&s, count);
    return status;
}

tml_status tml_surface_slabs(tml_context *tml, const tml_surface_slabs_desc *desc,
                             tml_surface_result *out)
{
    if (out)
        *out = (tml_surface_result){0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, surface_in_slabs(tml, desc, out));
}
