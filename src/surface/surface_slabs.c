/* Meshes of volumes that do not fit in memory: a producer (slab_producer.h) makes them slab by
 * slab.
 *
 * A slab's vertices and triangles are contiguous in the mesh, so a slab needs only the counts of
 * the slabs before it. */
#include <inttypes.h>
#include <string.h>

#include "core/call.h"
#include "labels/labels_slabs.h"
#include "surface/slab_components.h"
#include "surface/slab_isosurface.h"
#include "surface/slab_samples.h"
#include "surface/soup_carry.h"
#include "surface/surface_internal.h"

static const uint64_t memory_default = (uint64_t)1 << 30;
/* Larger slabs are not faster. With smaller slabs, reading overlaps computing earlier. */
static const uint64_t slab_size_most = (uint64_t)256 << 20;

typedef struct stream {
    tml_context *tml;
    const tml_surface_slabs_desc *desc;
    slab_producer producer;
    uint64_t own_first, own_end; /* layers of this share */
    uint64_t layers;             /* own layers per slab */
    uint64_t piece_size;         /* most bytes per piece */
    /* Per part: the counts of this share so far; firsts: the counts of the shares before it. */
    tml_mesh_part *done;
    soup_carry *carries;         /* one per part, for soups; otherwise NULL */
    slab_components *components; /* one per part, if requested; otherwise NULL */
    tml_surface_seam *seams;     /* likewise, for a share */
    tml_surface_result *result;
} stream;

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status resolve_share(stream *s)
{
    const tml_surface_slabs_desc *desc = s->desc;
    const surface_box *region = &s->producer.region;
    uint64_t first = region->first[2], end = first + region->count[2];
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
    if (s->producer.soup && s->own_end < end)
        return slab_error(s->tml, TML_ERROR_UNSUPPORTED,
                          "desc.surface.soup of a share that does not end the region: its last "
                          "triangles have vertices of the next share");
    return TML_OK;
}

/* Returns whether a part's numbers stay below 2^64. A soup has three vertices per triangle. */
static bool has_numbers(const slab_producer *p, const tml_mesh_part *before)
{
    uint64_t samples = 1, vertices, triangles, corners;
    for (int a = 0; a < 3; a++)
        if (!tml_mul(samples, p->region.count[a] + 2, &samples))
            return false;
    return tml_mul(samples, p->vertices_most, &vertices) &&
           tml_mul(samples, p->triangles_most, &triangles) &&
           before->vertex_count <= UINT64_MAX - vertices &&
           before->triangle_count <= UINT64_MAX - triangles &&
           (!p->soup || tml_mul(before->triangle_count + triangles, 3, &corners));
}

static tml_status check_before(const stream *s)
{
    for (uint32_t p = 0; s->desc->before && p < s->producer.part_count; p++) {
        const tml_mesh_part *before = &s->desc->before[p];
        if (!has_numbers(&s->producer, before))
            return tml_error(
                s->tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_surface_slabs: desc.before[%" PRIu32 "] has %" PRIu64 " vertices and %" PRIu64
                " triangles, after which 64 bits do not number this share's; needs the "
                "counts of the shares before it, added up",
                p, before->vertex_count, before->triangle_count);
    }
    return TML_OK;
}

/* Opens the producer, which checks the desc. */
static tml_status open_producer(stream *s)
{
    const tml_surface_slabs_desc *desc = s->desc;
    if (!desc->surface == !desc->boundaries)
        return slab_error(s->tml, TML_ERROR_INVALID_ARGUMENT,
                          desc->surface ? "desc.surface and desc.boundaries exclude each other"
                                        : "desc.surface is NULL, needs what tml_surface takes");
    tml_status status = tml_refuse_recording(s->tml, "tml_surface_slabs", NULL);
    if (status != TML_OK)
        return status;
    return desc->boundaries ? nets_slabs_open(&s->producer) : isosurface_slabs_open(&s->producer);
}

static tml_status resolve_slabs(stream *s)
{
    slab_producer *p = &s->producer;
    tml_status status = open_producer(s);
    TML_THEN(status, resolve_share(s));
    TML_THEN(status, check_before(s));
    TML_THEN(status, slab_samples_begin(p));
    return status == TML_OK && p->verbs->begin ? p->verbs->begin(p) : status;
}

/* ---- slabs ----------------------------------------------------------------------------------- */

static slab_layers slab_at(const stream *s, uint64_t own_first, uint32_t place)
{
    const slab_producer *p = &s->producer;
    slab_layers out = {.own_first = own_first, .place = place};
    out.own_end = TML_MIN_OF(own_first + s->layers, s->own_end);
    if (!p->samples.reads)
        return out;
    out.held_first = own_first - TML_MIN_OF(own_first - p->held_first, p->halo_below);
    out.held_end = TML_MIN_OF(out.own_end + p->halo_above, p->held_end);
    return out;
}

static uint64_t held_most(const slab_producer *p, uint64_t layers)
{
    return TML_MIN_OF(layers + p->halo_below + p->halo_above, p->held_end - p->held_first);
}

/* Returns the bytes that slabs of this many own layers need: samples twice, and scratch. */
static uint64_t memory_with(slab_producer *p, uint64_t layers)
{
    const uint64_t held = held_most(p, layers);
    return slab_samples_size(&p->samples, held) + p->verbs->scratch_size(p, held);
}

static void choose_layers(stream *s)
{
    uint64_t memory = s->desc->memory ? s->desc->memory : memory_default;
    uint64_t all = s->own_end - s->own_first;
    uint64_t layer = TML_MAX_OF(s->producer.samples.sources[TML_SURFACE_VOLUME].layer, (uint64_t)1);
    s->piece_size = memory / 2;
    if (s->desc->slab_layers) {
        s->layers = TML_MIN_OF(s->desc->slab_layers, all);
        return;
    }
    uint64_t most = TML_MAX_OF(slab_size_most / layer, (uint64_t)1);
    uint64_t fits = 1, too_many = TML_MIN_OF(all, most) + 1;
    while (fits + 1 < too_many) {
        uint64_t middle = fits + (too_many - fits) / 2;
        if (memory_with(&s->producer, middle) <= memory / 2)
            fits = middle;
        else
            too_many = middle;
    }
    s->layers = fits;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static uint64_t piece_bytes(const stream *s, uint64_t vertices, uint64_t triangles)
{
    return vertices * s->producer.vertex_size + triangles * s->producer.triangle_size +
           (s->components ? forest_size(vertices) : 0);
}

/* Returns the indices of the part that begins with triangle first; NULL for a slab without any. */
static void *indices_at(const slab_producer *p, const tml_mesh *all, uint64_t first)
{
    size_t row = (p->quads ? 4 : 3) * (p->indices64 ? sizeof(uint64_t) : sizeof(uint32_t));
    return all->indices ? (uint8_t *)all->indices + first * row : NULL;
}

/* Passes a part's piece of the slab's arrays to desc.write, as a soup if desc.surface.soup. */
static tml_status piece_write(stream *s, uint32_t number, const slab_layers *at,
                              const tml_mesh *all)
{
    const slab_producer *p = &s->producer;
    const slab_part *part = &p->parts[number];
    const tml_mesh_part *done = &s->done[number];
    uint64_t v = part->vertex_first;
    tml_mesh_attribute means[TML_MESH_MAX_ATTRIBUTES];
    tml_surface_piece piece = {
        .index = number,
        .part = {part->value, done->vertex_first + done->vertex_count, part->vertex_count,
                 done->triangle_first + done->triangle_count, part->triangle_count, part->label},
        .layer_first = at->own_first,
        .layer_count = at->own_end - at->own_first,
        .mesh = *all,
    };
    tml_mesh *mesh = &piece.mesh;
    mesh->positions = all->positions + 3 * v;
    mesh->normals = all->normals ? all->normals + 3 * v : NULL;
    mesh->values = all->values ? all->values + v : NULL;
    mesh->indices = indices_at(p, all, part->triangle_first);
    mesh->vertex_count = part->vertex_count;
    mesh->triangle_count = part->triangle_count;
    mesh->indices64 = p->indices64;
    mesh->quads = p->quads;
    mesh->attributes = means;
    for (uint32_t i = 0; i < mesh->attribute_count; i++) {
        means[i] = all->attributes[i];
        if (means[i].data)
            means[i].data += v * means[i].components;
    }
    if (!s->carries)
        return s->desc->write(s->desc->user, &piece);
    tml_surface_piece soup;
    tml_status status = soup_carry_add(s->tml, &s->carries[number], &piece, &soup);
    if (status == TML_OK && soup.mesh.triangle_count)
        status = s->desc->write(s->desc->user, &soup);
    return status;
}

/* ---- components ------------------------------------------------------------------------------ */

/* Counts the vertices of a share's first layer, which the share below names. */
static tml_status count_below(stream *s, const slab_layers *at)
{
    slab_producer *p = &s->producer;
    slab_layers lowest = *at;
    lowest.own_end = lowest.own_first + 1;
    tml_status status = p->verbs->count(p, &lowest);
    for (uint32_t i = 0; i < p->part_count; i++)
        s->components[i].below_count = p->parts[i].vertex_count;
    p->verbs->end(p, &lowest);
    return status;
}

static tml_status add_components(stream *s, const tml_mesh *all)
{
    const slab_producer *p = &s->producer;
    tml_status status = TML_OK;
    double start = tml_seconds();
    for (uint32_t i = 0; s->components && i < p->part_count && status == TML_OK; i++) {
        const slab_part *part = &p->parts[i];
        if (part->vertex_count || part->triangle_count)
            status = slab_components_add(
                s->tml, &s->components[i], indices_at(p, all, part->triangle_first), p->indices64,
                part->triangle_count, s->done[i].vertex_first + s->done[i].vertex_count,
                part->vertex_count);
    }
    if (s->components)
        surface_time(s->result, "components", tml_seconds() - start);
    return status;
}

/* Adds the components to the result; for a share, also the seams with its neighbours. */
static tml_status finish_components(stream *s)
{
    const surface_box *region = &s->producer.region;
    uint32_t count = s->components ? s->producer.part_count : 0;
    bool is_share =
        s->own_first > region->first[2] || s->own_end < region->first[2] + region->count[2];
    for (uint32_t p = 0; p < count; p++)
        s->result->components += s->components[p].closed;
    if (!is_share || !count)
        return TML_OK;
    s->seams = tml_alloc_array(s->tml, count, sizeof *s->seams);
    if (!s->seams)
        return slab_error(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    memset(s->seams, 0, count * sizeof *s->seams);
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < count && status == TML_OK; p++)
        status = slab_components_seam(s->tml, &s->components[p], &s->seams[p]);
    if (status != TML_OK)
        surface_seams_free(s->tml, s->seams, count);
    return status;
}

/* ---- the work -------------------------------------------------------------------------------- */

/* Sets each part's places in the slab's arrays, and its vertex_base. */
static tml_status place_pieces(stream *s, uint64_t *vertices, uint64_t *triangles)
{
    *vertices = *triangles = 0;
    for (uint32_t p = 0; p < s->producer.part_count; p++) {
        slab_part *part = &s->producer.parts[p];
        uint64_t number = s->done[p].vertex_first + s->done[p].vertex_count;
        part->vertex_first = *vertices;
        part->triangle_first = *triangles;
        part->vertex_base = number - part->vertex_first;
        *vertices += part->vertex_count;
        *triangles += part->triangle_count;
        if (!s->producer.indices64 && number + part->vertex_count > (uint64_t)UINT32_MAX + 1)
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

static tml_status run_slab(stream *s, const slab_layers *at);

static tml_status run_halves(stream *s, const slab_layers *at)
{
    slab_layers low = *at, high = *at;
    low.own_end = high.own_first = at->own_first + (at->own_end - at->own_first) / 2;
    tml_status status = run_slab(s, &low);
    return status == TML_OK ? run_slab(s, &high) : status;
}

static void slabs_add_counts(stream *s)
{
    for (uint32_t p = 0; p < s->producer.part_count; p++) {
        const slab_part *part = &s->producer.parts[p];
        s->done[p].vertex_count += part->vertex_count;
        s->done[p].triangle_count += part->triangle_count;
        s->result->active_cells += part->active_cells;
    }
}

/* Writes the pieces of an emitted slab. */
static tml_status write_slab(stream *s, const slab_layers *at, const tml_mesh *all)
{
    const slab_producer *p = &s->producer;
    tml_status status = add_components(s, all);
    double start = tml_seconds();
    for (uint32_t i = 0; i < p->part_count && status == TML_OK; i++)
        if (p->parts[i].vertex_count || p->parts[i].triangle_count)
            status = piece_write(s, i, at, all);
    surface_time(s->result, "pieces", tml_seconds() - start);
    return status;
}

/* Counts and emits a slab. If its piece is too large, runs the two halves of its layers instead. */
static tml_status run_slab(stream *s, const slab_layers *whole)
{
    slab_producer *p = &s->producer;
    slab_layers at = *whole;
    uint64_t vertices = 0, triangles = 0;
    const bool is_divisible = at.own_end - at.own_first > 1;
    at.from = TML_MAX_OF(progress_at(s, at.own_first), p->progress);
    at.to = TML_MAX_OF(progress_at(s, at.own_end), at.from);
    tml_status status = p->verbs->count(p, &at);
    TML_THEN(status, place_pieces(s, &vertices, &triangles));
    const bool is_written = status == TML_OK && (vertices || triangles) && s->desc->write;
    bool is_too_large =
        is_written && is_divisible && piece_bytes(s, vertices, triangles) > s->piece_size;
    if (is_written && !is_too_large) {
        tml_mesh_attribute means[TML_MESH_MAX_ATTRIBUTES];
        tml_mesh all = {.attributes = means};
        status = p->verbs->emit(p, &at, &all);
        is_too_large = status == TML_ERROR_OUT_OF_DEVICE_MEMORY && is_divisible;
        TML_THEN(status, write_slab(s, &at, &all));
        if (is_too_large)
            p->progress = at.to; /* the producer may have reported it */
    }
    if (status == TML_OK && !is_too_large)
        slabs_add_counts(s);
    p->verbs->end(p, &at);
    return is_too_large ? run_halves(s, whole) : status;
}

static tml_status stream_slabs(stream *s)
{
    slab_producer *p = &s->producer;
    slab_loading next;
    slab_layers at = slab_at(s, s->own_first, 0), none = {0};
    slab_load_begin(&next, p, &at, &none);
    tml_status status = slab_load_end(&next, &at);
    while (status == TML_OK) {
        bool is_last = at.own_end == s->own_end;
        slab_layers after = {0};
        if (!is_last) {
            after = slab_at(s, at.own_end, 1 - at.place);
            slab_load_begin(&next, p, &after, &at);
        }
        if (s->components && at.own_first == s->own_first && at.own_first > p->region.first[2])
            status = count_below(s, &at);
        TML_THEN(status, run_slab(s, &at));
        if (is_last)
            break;
        if (status != TML_OK) { /* the thread must end before its buffers are freed */
            slab_load_stop(&next);
            break;
        }
        status = slab_load_end(&next, &after);
        at = after;
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Starts each part's numbers after those of earlier shares (desc.before). */
static tml_status begin_parts(stream *s)
{
    const slab_producer *producer = &s->producer;
    uint32_t count = producer->part_count;
    s->done = tml_alloc_array(s->tml, count, sizeof *s->done);
    if (!s->done)
        return slab_error(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    for (uint32_t p = 0; p < count; p++) {
        const tml_mesh_part *before = s->desc->before ? &s->desc->before[p] : NULL;
        s->done[p] =
            (tml_mesh_part){.value = producer->parts[p].value, .label = producer->parts[p].label};
        if (!before)
            continue;
        s->done[p].vertex_first = before->vertex_count;
        s->done[p].triangle_first = before->triangle_count;
    }
    if (s->desc->components && s->desc->write) {
        s->components = tml_alloc_array(s->tml, count, sizeof *s->components);
        if (!s->components)
            return slab_error(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
        memset(s->components, 0, count * sizeof *s->components);
    }
    if (!producer->soup)
        return TML_OK;
    s->carries = tml_alloc_array(s->tml, count, sizeof *s->carries);
    if (!s->carries)
        return slab_error(s->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    for (uint32_t p = 0; p < count; p++)
        s->carries[p] = (soup_carry){.done = s->done[p].triangle_first};
    return TML_OK;
}

/* Reports the parts as tml_surface does. */
static void finish_parts(stream *s)
{
    tml_surface_result *out = s->result;
    out->parts = s->done;
    out->part_count = s->producer.part_count;
    out->seams = s->seams;
    s->done = NULL;
    for (uint32_t p = 0; p < out->part_count; p++) {
        tml_mesh_part *part = &out->parts[p];
        if (s->carries)
            part->vertex_count = 3 * part->triangle_count;
        part->vertex_first = out->vertex_count;
        part->triangle_first = out->triangle_count;
        out->vertex_count += part->vertex_count;
        out->triangle_count += part->triangle_count;
    }
}

static void slabs_free(stream *s)
{
    uint32_t part_count = s->producer.part_count;
    for (uint32_t p = 0; s->components && p < part_count; p++)
        slab_components_free(s->tml, &s->components[p]);
    tml_free(s->tml, s->components, part_count * sizeof *s->components);
    for (uint32_t p = 0; s->carries && p < part_count; p++)
        soup_carry_free(s->tml, &s->carries[p]);
    tml_free(s->tml, s->carries, part_count * sizeof *s->carries);
    tml_free(s->tml, s->done, part_count * sizeof *s->done);
    slab_samples_free(&s->producer);
    if (s->producer.verbs)
        s->producer.verbs->close(&s->producer);
}

static tml_status surface_in_slabs(tml_context *tml, const tml_surface_slabs_desc *desc,
                                   tml_surface_result *out)
{
    stream s = {.tml = tml,
                .desc = desc,
                .producer = {.tml = tml, .desc = desc, .result = out},
                .result = out};
    const slab_producer *p = &s.producer;
    tml_status status = resolve_slabs(&s);
    bool is_flat = false; /* no cells, so no surface */
    for (int a = 0; a < 3 && status == TML_OK && !p->caps; a++)
        is_flat = is_flat || p->region.count[a] < 2;
    TML_THEN(status, begin_parts(&s));
    if (status == TML_OK && !is_flat) {
        choose_layers(&s);
        status = slab_samples_make(&s.producer, held_most(p, s.layers));
        TML_THEN(status, stream_slabs(&s));
    }
    TML_THEN(status, finish_components(&s));
    if (status == TML_OK)
        finish_parts(&s);
    else
        *out = (tml_surface_result){0};
    slabs_free(&s);
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
