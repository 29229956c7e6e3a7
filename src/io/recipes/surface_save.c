/* Makes surfaces in slabs, from volumes to a mesh file: tml_surface_save. File streams (or the
 * caller) deliver layers, tml_surface_slabs makes pieces, and a tml_mesh_stream writes the pieces.
 * Filters edit the mesh once it is complete in the stream's files. In a team, each process works on
 * a share of the layers.
 *
 * Order: sources (bricks, mapped or read) -> share -> count (if that saves disk space) -> open the
 * mesh -> slabs -> join the shares -> finish. If one slab holds the volume, its piece is the mesh:
 * the mesh is then opened with the piece, and nothing is counted before.
 *
 * While the calling thread works with its context, another thread reads from the streams. So the
 * streams have another context, whose errors are copied to the caller's context afterwards. */
#include <inttypes.h>

#include "io/io_system.h"
#include "io/meshes/mesh_format.h"
#include "io/recipes/surface_save.h"
#include "io/recipes/surface_share.h"
#include "io/volumes/volume_internal.h"

enum { SOURCES = 3 }; /* number of tml_surface_source */

static float promised[1]; /* an array that all pieces will have */

static const char call[] = "tml_surface_save";

typedef struct mask_bytes {
    uint8_t *data;
    size_t size;
} mask_bytes;

typedef struct save_source {
    tml_volume_stream *stream; /* NULL: not given */
    const tml_volume *info;
    const void *mapped;
    uint64_t at_work; /* first layer of the slab that is being made */
} save_source;

typedef struct saving {
    tml_context *tml;
    const char *path;
    const tml_surface_save_desc *desc;
    /* The descs in use. Either surface or boundaries is used. */
    tml_surface_desc surface;
    tml_surface_labels_desc boundaries;
    tml_surface_slabs_desc slabs;
    tml_mesh_stream_desc file;
    const mesh_format *format;
    save_source sources[SOURCES];
    /* The first source that could not be read. The reading thread writes these; they are read after
     * tml_surface_slabs has returned. */
    const save_source *broken;
    tml_side broken_side;
    tml_status broken_status;
    tml_side failed;
    tml_buffer index, mapped; /* of the bricks' ranges, and of the mapped volume */
    mask_bytes mask[2];       /* of two slabs, unless the mask's samples are bytes */
    int mask_turn;
    tml_mesh_stream *out;
    /* opens_late: the first piece opens the mesh, if it is the only one. is_split: it is not. */
    bool opens_late, is_split;
    tml_mesh_part only;
    const tml_volume *attribute; /* has slope and intercept; NULL: values are physical */
    float *values;               /* a piece's values in physical units */
    size_t values_size;
    tml_surface_result *result;
} saving;

static tml_status refuse(saving *s, const char *what)
{
    return save_fails(
        &s->failed, TML_SIDE_SURFACE,
        tml_error(s->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s: %s", call, s->path, what));
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Converts a mask's samples to bytes that are 0 or 1. */
void tml_mark_samples(tml_type type, uint64_t count, const void *samples, uint8_t *out)
{
    const size_t size = tml_type_size(type);
    const uint64_t sign = tml_type_is_float(type) ? (uint64_t)1 << (8 * size - 1) : 0;
    const uint16_t *halves = samples;
    const uint32_t *words = samples;
    const uint64_t *longs = samples;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t bits = size == 2 ? halves[i] : size == 4 ? words[i] : longs[i];
        out[i] = (bits & ~sign) != 0; /* -0 counts as 0 */
    }
}

static tml_status break_off(saving *s, tml_surface_source source, tml_side side, tml_status status)
{
    if (status != TML_OK) {
        s->broken = &s->sources[source];
        s->broken_side = side;
        s->broken_status = status;
    }
    return status;
}

static tml_status refuse_bricks(const saving *s, tml_context *tml)
{
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: %s: desc.index is that of another volume than desc.volume", call,
                     s->path);
}

/* Implements tml_surface_slabs_desc.read, on the reading thread. */
static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    saving *s = user;
    save_source *from = &s->sources[source];
    const tml_volume *info = from->info;
    const size_t sample_size = tml_type_size(info->type);
    const uint64_t layer = info->grid.dims[0] * info->grid.dims[1];
    tml_context *reader = tml_volume_stream_context(from->stream);
    tml_status status = TML_OK;
    if (source != TML_SURFACE_MASK || sample_size == 1) {
        status = tml_volume_stream_read(from->stream, first, count, out);
        if (status == TML_OK && source == TML_SURFACE_VOLUME && s->desc->index &&
            !tml_volume_index_holds(s->desc->index, out, first, count, 1))
            return break_off(s, source, TML_SIDE_INDEX, refuse_bricks(s, reader));
        return break_off(s, source, TML_SIDE_SOURCE, status);
    }
    void *samples = tml_alloc_array(reader, layer, sample_size);
    if (!samples)
        status = tml_error(reader, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a layer of the mask",
                           call);
    for (uint64_t z = 0; z < count && status == TML_OK; z++) {
        status = tml_volume_stream_read(from->stream, first + z, 1, samples);
        if (status == TML_OK)
            tml_mark_samples(info->type, layer, samples, (uint8_t *)out + z * layer);
    }
    tml_free(reader, samples, layer * sample_size);
    return break_off(s, source, TML_SIDE_SOURCE, status);
}

/* Converts a mapped mask to bytes. The bytes of the call before are still in use. */
static tml_status mark_mapped(saving *s, uint64_t count, const void **out)
{
    const save_source *from = &s->sources[TML_SURFACE_MASK];
    tml_context *reader = tml_volume_stream_context(from->stream);
    s->mask_turn = !s->mask_turn;
    mask_bytes *bytes = &s->mask[s->mask_turn];
    if (count > bytes->size) {
        tml_free(reader, bytes->data, bytes->size);
        bytes->data = tml_alloc_array(reader, count, 1);
        bytes->size = bytes->data ? count : 0;
        if (!bytes->data)
            return tml_error(reader, TML_ERROR_OUT_OF_MEMORY,
                             "%s: no memory for %" PRIu64 " bytes of the mask", call, count);
    }
    tml_mark_samples(from->info->type, count, *out, bytes->data);
    *out = bytes->data;
    return TML_OK;
}

/* Implements tml_surface_slabs_desc.map, on the reading thread. The slab of the call before is
 * being made; layers below it are released. */
static tml_status map_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                             const void **out)
{
    saving *s = user;
    save_source *from = &s->sources[source];
    const tml_volume *info = from->info;
    const uint64_t layer = info->grid.dims[0] * info->grid.dims[1];
    const size_t sample_size = tml_type_size(info->type);
    tml_volume_stream_release(from->stream, from->at_work);
    from->at_work = first;
    *out = (const char *)from->mapped + first * layer * sample_size;
    tml_status status = tml_volume_stream_prefetch(from->stream, first, count);
    if (status == TML_OK && source == TML_SURFACE_MASK && sample_size > 1)
        status = mark_mapped(s, count * layer, out);
    return break_off(s, source, TML_SIDE_SOURCE, status);
}

/* Returns the step between the rows that are compared with an index: 1 for a small volume, else for
 * about ROWS rows. It is coprime to the height, so that their y differs. */
static uint64_t choose_step(const tml_volume *v)
{
    enum { SMALL = 16 << 20, ROWS = 512 };
    const uint64_t *dims = v->grid.dims;
    if (dims[0] * dims[1] * dims[2] * tml_type_size(v->type) <= SMALL)
        return 1;
    uint64_t step = dims[1] * dims[2] / ROWS;
    for (step = step ? step : 1; step > 1; step++) {
        uint64_t a = step, b = dims[1];
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return step;
}

/* Uses the index, and maps the file as the volume, so that bricks without a surface are not read.
 * If the file cannot be mapped, the index saves computation but not reading, and read_layers
 * compares all samples with it. */
static tml_status use_bricks(saving *s)
{
    const tml_volume_index *bricks = s->desc->index;
    const tml_volume *info = s->sources[0].info;
    const void *samples;
    if (memcmp(bricks->dims, info->grid.dims, sizeof bricks->dims) != 0 ||
        bricks->type != info->type)
        return save_fails(&s->failed, TML_SIDE_INDEX, refuse_bricks(s, s->tml));
    tml_status status = tml_buffer_create(s->tml,
                                          &(tml_buffer_desc){.type = TML_VEC(TML_F32, 2),
                                                             .count = bricks->count,
                                                             .data = bricks->ranges,
                                                             .label = "index"},
                                          &s->index);
    s->surface.index = s->index;
    if (status != TML_OK || s->desc->copy_samples ||
        tml_volume_stream_map(s->sources[0].stream, &samples) != TML_OK)
        return status;
    if (!tml_volume_index_holds(bricks, samples, 0, info->grid.dims[2], choose_step(info)))
        return save_fails(&s->failed, TML_SIDE_INDEX, refuse_bricks(s, s->tml));
    if (s->desc->mask || s->desc->attribute)
        return TML_OK;
    const uint64_t *dims = info->grid.dims;
    status =
        tml_buffer_create(s->tml,
                          &(tml_buffer_desc){.type = info->type,
                                             .count = dims[0] * dims[1] * dims[2],
                                             .host = (void *)(uintptr_t)samples, /* only read */
                                             .label = "volume"},
                          &s->mapped);
    s->surface.volume = s->mapped;
    return status;
}

static bool can_map_all(saving *s)
{
    bool can = !s->desc->copy_samples;
    for (int i = 0; i < SOURCES && can; i++)
        can = !s->sources[i].stream ||
              tml_volume_stream_map(s->sources[i].stream, &s->sources[i].mapped) == TML_OK;
    return can;
}

/* The caller's hooks, with the caller's pointer: tml_surface_slabs passes the saving. */
static tml_status read_callers(void *user, tml_surface_source source, uint64_t first,
                               uint64_t count, void *out)
{
    const tml_surface_slabs_desc *given = &((saving *)user)->desc->slabs;
    return given->read(given->user, source, first, count, out);
}

static tml_status map_callers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              const void **out)
{
    const tml_surface_slabs_desc *given = &((saving *)user)->desc->slabs;
    return given->map(given->user, source, first, count, out);
}

/* Makes the streams the sources of the slabs. */
static tml_status begin_sources(saving *s)
{
    tml_volume_stream *const given[SOURCES] = {s->desc->volume, s->desc->mask, s->desc->attribute};
    tml_surface_slabs_desc *slabs = &s->slabs;
    if (!given[0])
        return given[1] || given[2] || s->desc->index
                   ? refuse(s, "desc.mask, attribute and index go with desc.volume")
                   : TML_OK;
    for (int i = 0; i < SOURCES; i++) {
        if (!given[i])
            continue;
        if (tml_volume_stream_context(given[i]) == s->tml)
            return refuse(s, "desc.volume, mask and attribute need a context of their own");
        s->sources[i] = (save_source){.stream = given[i], .info = tml_volume_stream_info(given[i])};
        if (memcmp(s->sources[i].info->grid.dims, s->sources[0].info->grid.dims,
                   sizeof s->sources[0].info->grid.dims) != 0)
            return refuse(s, "desc.mask and attribute need the dims of desc.volume");
    }
    if (given[TML_SURFACE_ATTRIBUTE])
        s->attribute = s->sources[TML_SURFACE_ATTRIBUTE].info;
    if (!tml_buffer_is_none(s->surface.volume) || !tml_buffer_is_none(s->surface.index) ||
        !tml_buffer_is_none(s->boundaries.volume) || s->surface.field)
        return refuse(s, "desc.slabs has a volume, an index or a field beside desc.volume");
    if (s->desc->index && slabs->boundaries)
        return refuse(s, "desc.index is for isosurfaces, not for desc.slabs.boundaries");
    tml_status status = s->desc->index ? use_bricks(s) : TML_OK;
    if (status != TML_OK || !tml_buffer_is_none(s->surface.volume))
        return save_fails(&s->failed, TML_SIDE_SOURCE, status);
    slabs->type = s->sources[0].info->type;
    slabs->has_mask = given[1] != NULL;
    slabs->attribute_type = given[2] ? s->sources[2].info->type : TML_TYPE_NONE;
    slabs->read = read_layers;
    slabs->map = can_map_all(s) ? map_layers : NULL;
    return TML_OK;
}

static void end_sources(saving *s)
{
    for (int i = 0; i < 2 && s->sources[TML_SURFACE_MASK].stream; i++)
        tml_free(tml_volume_stream_context(s->sources[TML_SURFACE_MASK].stream), s->mask[i].data,
                 s->mask[i].size);
    tml_buffer_destroy(s->tml, s->index);
    tml_buffer_destroy(s->tml, s->mapped);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static tml_status scale_values(saving *s, const float *values, uint64_t count)
{
    if (count * sizeof *values > s->values_size) {
        tml_free(s->tml, s->values, s->values_size);
        s->values_size = count * sizeof *values;
        s->values = tml_alloc(s->tml, s->values_size);
        if (!s->values) {
            s->values_size = 0;
            return tml_error(s->tml, TML_ERROR_OUT_OF_MEMORY,
                             "%s: no memory for %" PRIu64 " values", call, count);
        }
    }
    save_scale(s->attribute, values, count, s->values);
    return TML_OK;
}

static tml_status add_piece(saving *s, const tml_surface_piece *piece)
{
    tml_mesh mesh = piece->mesh;
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
    mesh.attributes = attributes;
    mesh.attribute_count = s->file.mesh.attribute_count;
    for (uint32_t i = 0; i < mesh.attribute_count; i++) {
        attributes[i] = s->file.mesh.attributes[i];
        attributes[i].data =
            i < piece->mesh.attribute_count ? piece->mesh.attributes[i].data : NULL;
    }
    return save_fails(&s->failed, TML_SIDE_MESH,
                      tml_mesh_stream_write(s->out, piece->index, &mesh));
}

static const uint64_t *dims_of(const saving *s)
{
    return s->sources[0].info    ? s->sources[0].info->grid.dims
           : s->surface.field    ? s->surface.field->grid.dims
           : s->slabs.boundaries ? s->boundaries.grid.dims
                                 : s->surface.grid.dims;
}

static layer_share region_layers(const saving *s)
{
    const tml_region *region = s->slabs.boundaries ? &s->boundaries.region : &s->surface.region;
    const uint64_t dim = dims_of(s)[2], first = region->first[2];
    const uint64_t most = first < dim ? dim - first : 0;
    return (layer_share){first,
                         region->count[2] && region->count[2] < most ? region->count[2] : most};
}

/* Opens the mesh if the piece is all of it. */
static tml_status open_with(saving *s, const tml_surface_piece *piece)
{
    s->is_split = piece->layer_count < region_layers(s).count;
    if (s->is_split)
        return TML_ERROR_CANCELLED;
    s->only = (tml_mesh_part){.vertex_count = piece->mesh.vertex_count,
                              .triangle_count = piece->mesh.triangle_count};
    s->file.mesh.parts = &s->only;
    s->file.mesh.part_count = 1;
    return save_fails(&s->failed, TML_SIDE_MESH,
                      tml_mesh_stream_open(s->tml, s->path, &s->file, &s->out));
}

/* Implements tml_surface_slabs_desc.write. */
static tml_status write_piece(void *user, const tml_surface_piece *piece)
{
    saving *s = user;
    tml_surface_piece scaled = *piece;
    tml_status status = s->out ? TML_OK : open_with(s, piece);
    if (status != TML_OK)
        return status;
    if (piece->layer_first > 0 && s->sources[0].stream && !s->slabs.boundaries)
        /* the layer below is still in use */
        tml_volume_stream_release(s->sources[0].stream, piece->layer_first - 1);
    if (piece->mesh.values && s->attribute) {
        status = scale_values(s, piece->mesh.values, piece->mesh.vertex_count);
        scaled.mesh.values = s->values;
    }
    if (status == TML_OK && s->desc->slabs.write)
        status = s->desc->slabs.write(s->desc->slabs.user, &scaled);
    return status == TML_OK ? add_piece(s, &scaled) : status;
}

/* Sets the result's parts to those that the filters left. */
static void take_parts(tml_surface_result *result, const tml_mesh *mesh)
{
    tml_mesh_part end = {0}; /* empty, behind the parts so far */
    for (uint32_t p = 0, k = 0; p < result->part_count; p++) {
        const tml_mesh_part of = result->parts[p];
        if (of.vertex_count) /* empty ones had no piece */
            end = mesh->parts[k++];
        result->parts[p] = end;
        result->parts[p].value = of.value;
        result->parts[p].label = of.label;
        end = (tml_mesh_part){.vertex_first = end.vertex_first + end.vertex_count,
                              .triangle_first = end.triangle_first + end.triangle_count};
    }
}

/* Implements tml_mesh_stream_desc.edit. */
static tml_status edit_mesh(void *user, tml_mesh *mesh)
{
    saving *s = user;
    const tml_surface_desc *asked = s->desc->slabs.surface;
    const bool counts = asked->largest_component || s->desc->slabs.components;
    tml_status status =
        tml_mesh_clean(s->tml, mesh, asked->largest_component, asked->drop_degenerate,
                       counts ? &s->result->components : NULL);
    if (status == TML_OK && s->desc->file.edit)
        status = s->desc->file.edit(s->desc->file.user, mesh);
    s->result->vertex_count = mesh->vertex_count;
    s->result->triangle_count = mesh->triangle_count;
    if (status == TML_OK)
        take_parts(s->result, mesh);
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Derives the descs in use from the given ones. */
static tml_status begin_descs(saving *s)
{
    const tml_surface_save_desc *desc = s->desc;
    const bool filters = desc->slabs.surface && (desc->slabs.surface->largest_component ||
                                                 desc->slabs.surface->drop_degenerate);
    const bool edits = filters || (desc->slabs.surface && desc->file.edit);
    s->slabs = desc->slabs;
    s->file = desc->file;
    if (!desc->slabs.surface == !desc->slabs.boundaries)
        return refuse(s, "needs one of desc.slabs.surface and boundaries");
    if (desc->smooth)
        return refuse(s, "desc.smooth: in slabs there is never a whole mesh; make it whole");
    if (desc->slabs.boundaries) {
        s->boundaries = *desc->slabs.boundaries;
        s->slabs.boundaries = &s->boundaries;
    } else {
        s->surface = *desc->slabs.surface;
        s->surface.largest_component = s->surface.drop_degenerate = false; /* edit_mesh does this */
        s->slabs.surface = &s->surface;
    }
    s->slabs.write = write_piece;
    s->slabs.read = desc->slabs.read ? read_callers : NULL;
    s->slabs.map = desc->slabs.map ? map_callers : NULL;
    s->slabs.user = s;
    s->slabs.components = desc->slabs.components && !edits; /* otherwise edit_mesh counts */
    s->file.edit = edits ? edit_mesh : NULL;
    s->file.user = s;
    s->file.mesh.parts = NULL;
    s->file.mesh.part_count = 0;
    return save_fails(&s->failed, TML_SIDE_MESH, tml_mesh_format_of(s->tml, s->path, &s->format));
}

/* Describes the mesh's file, as the surface implies. A sample has at most three vertices. */
static void describe_mesh(saving *s)
{
    const uint64_t *dims = dims_of(s);
    const bool is_net = s->slabs.boundaries != NULL;
    const bool is_wide = dims[0] * dims[1] * dims[2] > UINT32_MAX / 3;
    bool *indices64 = is_net ? &s->boundaries.indices64 : &s->surface.indices64;
    *indices64 = *indices64 || is_wide;
    const bool has_values =
        s->slabs.attribute_type != TML_TYPE_NONE || !tml_buffer_is_none(s->surface.attribute);
    s->file.mesh.normals = !is_net && s->surface.normals != TML_NORMALS_NONE ? promised : NULL;
    s->file.mesh.values = !is_net && has_values ? promised : NULL;
    s->file.mesh.face_label_type = TML_TYPE_NONE;
    s->file.mesh.quads = is_net && s->boundaries.quads;
    s->file.soup = !is_net && s->surface.soup;
    s->file.mesh.indices64 = *indices64;
    if (is_net && (s->file.mesh.face_label_type = s->slabs.type) == TML_TYPE_NONE)
        tml_buffer_describe(s->tml, s->boundaries.volume, &s->file.mesh.face_label_type, NULL);
    s->file.mesh.face_labels = is_net ? promised : NULL;
    if (s->file.team) /* the stream makes the soup when it has all vertices */
        s->surface.soup = false;
}

/* Chooses this process's layers; without a team the given ones (count 0: all). */
static layer_share choose_layers(const saving *s)
{
    const layer_share all = region_layers(s);
    if (!s->file.team || !all.count) /* without layers, tml_surface_slabs reports the error */
        return (layer_share){s->slabs.layer_first, s->slabs.layer_count};
    return tml_share_layers(all.first, all.count, s->file.team, s->desc->index, &s->surface);
}

/* Does one slab hold a volume of one part? Estimates what tml_surface_slabs needs: samples twice
 * and scratch, in half of the memory. If that is wrong, open_with notices. */
static bool fits_one_slab(const saving *s)
{
    const uint64_t memory = s->slabs.memory ? s->slabs.memory : (uint64_t)1 << 30;
    const uint64_t most = (uint64_t)256 << 20, *dims = dims_of(s);
    const uint64_t samples = dims[0] * dims[1] * dims[2];
    uint64_t sample_size = tml_type_size(s->slabs.type) + s->slabs.has_mask;
    if (s->slabs.attribute_type != TML_TYPE_NONE)
        sample_size += tml_type_size(s->slabs.attribute_type);
    return !s->slabs.boundaries && !s->is_split && s->format->describe != tml_stl_describe &&
           s->surface.isovalue_count <= 1 && !s->surface.label_count && !s->slabs.layer_count &&
           (!s->slabs.slab_layers || s->slabs.slab_layers >= region_layers(s).count) &&
           samples * sample_size <= most && (2 * sample_size + 1) * samples <= memory / 2;
}

/* Counts a mesh that can then be written in place. Counting reads the volume a second time. While
 * the system's page cache holds the volume, that takes less time than storing the mesh twice. */
static tml_status count_mesh(saving *s, tml_surface_result *counted)
{
    tml_surface_slabs_desc counting = s->slabs;
    tml_surface_desc surface = s->surface;
    if (!s->slabs.map || !s->desc->count_first || s->file.edit || s->file.team ||
        !s->format->describe || (s->format->describe == tml_stl_describe && s->slabs.boundaries))
        return TML_OK;
    s->opens_late = fits_one_slab(s);
    if (s->opens_late)
        return TML_OK;
    counting.write = NULL;
    counting.surface = s->slabs.boundaries ? NULL : &surface;
    surface.soup = false;
    tml_status status = tml_surface_slabs(s->tml, &counting, counted);
    for (int i = 0; i < SOURCES; i++)
        s->sources[i].at_work = 0;
    return status;
}

/* STL has rows of corners: makes the pieces soups, and drops what STL cannot store. */
static void make_corners(saving *s)
{
    s->surface.soup = s->file.soup = true;
    s->surface.normals = TML_NORMALS_NONE;
    s->slabs.attribute_type = TML_TYPE_NONE;
    s->file.mesh.normals = s->file.mesh.values = NULL;
}

/* Extracts this process's slabs, and joins the results of all processes. */
static tml_status extract(saving *s)
{
    const tml_team *team = s->file.team;
    tml_status status = TML_OK;
    if (!team || s->slabs.layer_count)
        status = tml_surface_slabs(s->tml, &s->slabs, s->result);
    if (team && status == TML_OK && s->slabs.components)
        status = tml_share_join_components(s->tml, team, s->result);
    if (team && status == TML_OK)
        status = tml_share_join_results(s->tml, team, s->file.soup, s->result);
    return status;
}

/* Counts if that helps, extracts, and writes the file. */
static tml_status surface_save_run(saving *s, bool *is_empty)
{
    tml_surface_result counted = {0};
    tml_surface_result *result = s->result;
    tml_status status = save_fails(&s->failed, TML_SIDE_SURFACE, count_mesh(s, &counted));
    s->file.mesh.parts = counted.parts;
    s->file.mesh.part_count = counted.part_count;
    const bool has_corners = counted.triangle_count && !s->file.soup && !s->slabs.boundaries &&
                             s->format->describe == tml_stl_describe;
    if (has_corners)
        make_corners(s);
    if (status == TML_OK && !s->opens_late)
        status = save_fails(&s->failed, TML_SIDE_MESH,
                            tml_mesh_stream_open(s->tml, s->path, &s->file, &s->out));
    if (status != TML_OK) {
        tml_surface_free(s->tml, &counted);
        return status;
    }
    status = save_fails(&s->failed, TML_SIDE_SURFACE, extract(s));
    if (s->opens_late && s->is_split) { /* nothing was written: start again, and count */
        s->opens_late = false;
        s->failed = TML_SIDE_NONE;
        return surface_save_run(s, is_empty);
    }
    if (!s->out && status == TML_OK) /* there was no piece */
        status = save_fails(&s->failed, TML_SIDE_MESH,
                            tml_mesh_stream_open(s->tml, s->path, &s->file, &s->out));
    if (!s->out)
        return status;
    for (uint32_t p = 0; has_corners && status == TML_OK && p < result->part_count; p++)
        result->parts[p] = counted.parts[p];
    if (has_corners)
        result->vertex_count = counted.vertex_count;
    tml_surface_free(s->tml, &counted);
    *is_empty = status == TML_OK && result->triangle_count == 0 && !s->desc->keep_empty;
    tml_status end = tml_mesh_stream_finish(s->out, *is_empty ? TML_ERROR_CANCELLED : status);
    return *is_empty ? TML_OK : save_fails(&s->failed, TML_SIDE_MESH, end);
}

/* Appends the message of the broken stream's context, without its call's name, to the caller's. */
static tml_status tell(saving *s, tml_status status)
{
    if (!s->broken || s->failed != TML_SIDE_SURFACE || status != s->broken_status)
        return status;
    const char *why = tml_last_error(tml_volume_stream_context(s->broken->stream));
    const char *colon = strncmp(why, "tml_", 4) == 0 ? strstr(why, ": ") : NULL;
    s->failed = s->broken_side;
    return tml_error(s->tml, status, "%s: %s", tml_last_error(s->tml), colon ? colon + 2 : why);
}

static tml_status save_slabs(tml_context *tml, const char *path, const tml_surface_save_desc *desc,
                             tml_surface_saved *out)
{
    saving s = {
        .tml = tml, .path = path, .desc = desc, .attribute = desc->values, .result = &out->surface};
    const double start = tml_io_seconds();
    tml_status status = begin_descs(&s);
    TML_THEN(status, begin_sources(&s));
    if (status == TML_OK) {
        describe_mesh(&s);
        const layer_share share = choose_layers(&s);
        s.slabs.layer_first = share.first;
        s.slabs.layer_count = share.count;
        status = tell(&s, surface_save_run(&s, &out->is_empty));
    }
    end_sources(&s);
    tml_free(tml, s.values, s.values_size);
    out->failed = s.failed;
    out->seconds = tml_io_seconds() - start;
    return status;
}

void tml_surface_saved_free(tml_context *tml, tml_surface_saved *saved)
{
    tml_surface_free(tml, &saved->surface);
    for (uint32_t i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        tml_buffer_destroy(tml, saved->field_values[i]);
    memset(saved->field_values, 0, sizeof saved->field_values);
}

tml_status tml_surface_save_more(tml_context *tml, const char *path,
                                 const tml_surface_save_desc *desc, tml_surface_saved *out)
{
    const bool reads = desc->volume || desc->slabs.read || desc->slabs.map;
    const bool in_slabs =
        desc->making == TML_MAKE_SLABS || (desc->making == TML_MAKE_AUTO && reads);
    tml_status status =
        in_slabs ? save_slabs(tml, path, desc, out) : tml_surface_save_whole(tml, path, desc, out);
    if (status != TML_OK)
        tml_surface_saved_free(tml, out);
    return status;
}

tml_status tml_surface_save(tml_context *tml, const char *path, const tml_surface_save_desc *desc,
                            tml_surface_saved *out)
{
    memset(out, 0, sizeof *out);
    return tml_surface_save_more(tml, path, desc, out);
}
