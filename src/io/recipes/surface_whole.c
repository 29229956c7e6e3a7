/* Makes surfaces whole in memory, for a mesh file: tml_surface_save.
 *
 * Order: surface, or boundaries of labels -> smooth -> means of the points' attributes ->
 * components -> arrays on the host -> the caller's edit -> the file, or a file per label. */
#include <inttypes.h>

#include "io/io_internal.h"
#include "io/io_system.h"
#include "io/recipes/surface_save.h"

static const char call[] = "tml_surface_save";

typedef struct whole_saving {
    tml_context *tml;
    const char *path; /* NULL: nothing is written */
    const tml_surface_save_desc *desc;
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
    tml_mesh mesh;
    tml_surface_saved *out;
} whole_saving;

static void add_stage(whole_saving *w, const char *name, double start)
{
    w->out->stages[w->out->stage_count++] =
        (tml_surface_stage){.name = name, .seconds = tml_io_seconds() - start};
}

/* ---- the surface ----------------------------------------------------------------------------- */

/* Makes labels' boundaries: shared, as a mesh of one part, or separate. */
static tml_status make_boundaries(whole_saving *w)
{
    tml_status status = tml_surface_labels(w->tml, w->desc->slabs.boundaries, &w->out->surface);
    w->out->surface.active_cells = w->out->surface.vertex_count;
    return status;
}

static tml_status make_surface(whole_saving *w)
{
    const double start = tml_io_seconds();
    tml_status status = w->desc->slabs.boundaries
                            ? make_boundaries(w)
                            : tml_surface(w->tml, w->desc->slabs.surface, &w->out->surface);
    w->out->seconds = tml_io_seconds() - start;
    return status;
}

/* ---- what is done to it ---------------------------------------------------------------------- */

static tml_status smooth_whole(whole_saving *w)
{
    const tml_surface_result *made = &w->out->surface;
    const double start = tml_io_seconds();
    tml_mesh_smooth_desc desc = {.mesh = made->mesh,
                                 .iterations = w->desc->smooth,
                                 .out = made->mesh.positions,
                                 .normals = made->mesh.normals};
    tml_status status = TML_OK;
    if (!w->desc->smooth || w->desc->slabs.boundaries)
        return TML_OK;
    if (w->desc->field && made->vertex_count) {
        const tml_buffer_desc weights = {
            .type = TML_F32, .count = made->vertex_count, .label = "weights"};
        desc.method = TML_SMOOTH_LAPLACIAN;
        status = tml_buffer_create(w->tml, &weights, &desc.weights);
        TML_THEN(status,
                 tml_field_smooth_weights(w->tml, w->desc->field, made->mesh.positions,
                                          w->desc->slabs.surface->position_origin, desc.weights));
    }
    TML_THEN(status, tml_mesh_smooth(w->tml, &desc));
    tml_buffer_destroy(w->tml, desc.weights);
    add_stage(w, "smooth", start);
    return status;
}

/* Computes means of the points' attributes at the vertices. */
static tml_status find_means(whole_saving *w)
{
    const tml_surface_save_desc *desc = w->desc;
    const double start = tml_io_seconds();
    tml_field_mean_desc mean = {.field = desc->field, .positions = w->out->surface.mesh.positions};
    tml_status status = TML_OK;
    if (!desc->field || !desc->file.mesh.attribute_count)
        return TML_OK;
    memcpy(mean.position_origin, desc->slabs.surface->position_origin, sizeof mean.position_origin);
    for (uint32_t i = 0; i < desc->file.mesh.attribute_count && status == TML_OK; i++) {
        tml_buffer_desc means = {.count = w->out->surface.vertex_count, .label = "means"};
        tml_buffer_describe(w->tml, desc->slabs.field_values[i], &means.type, NULL);
        status = tml_buffer_create(w->tml, &means, &w->out->field_values[i]);
        mean.values[i] = desc->slabs.field_values[i];
        mean.means[i] = w->out->field_values[i];
    }
    TML_THEN(status, tml_field_mean(w->tml, &mean));
    add_stage(w, "attributes", start);
    return status;
}

static tml_status count_components(whole_saving *w)
{
    const tml_surface_save_desc *desc = w->desc;
    const bool is_soup = desc->slabs.surface && desc->slabs.surface->soup;
    const double start = tml_io_seconds();
    tml_mesh_stats stats;
    if (!desc->slabs.components || is_soup ||
        (desc->slabs.boundaries && desc->slabs.boundaries->quads))
        return TML_OK;
    tml_status status = tml_mesh_examine(w->tml, &w->out->surface.mesh, true, &stats);
    add_stage(w, "components", start);
    w->out->surface.components = status == TML_OK ? stats.components : 0;
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Maps a result's array to the host. *out is NULL if the settings exclude the array. */
static tml_status map_if_any(whole_saving *w, bool is_wanted, tml_buffer buffer, void **out)
{
    static float nothing[3]; /* stands for an array without elements */
    *out = NULL;
    tml_status status = tml_buffer_is_none(buffer) ? TML_OK : tml_buffer_map(w->tml, buffer, out);
    if (is_wanted && !*out)
        *out = nothing;
    return status;
}

static tml_status map_mesh(whole_saving *w)
{
    const tml_surface_save_desc *desc = w->desc;
    const tml_surface_desc *surface = desc->slabs.surface;
    const tml_surface_result *made = &w->out->surface;
    tml_mesh *mesh = &w->mesh;
    void *arrays[5], *means;
    tml_type label_type = TML_TYPE_NONE;
    const struct {
        tml_buffer buffer;
        bool is_wanted;
    } from[] = {{made->mesh.positions, true},
                {made->mesh.normals, surface && surface->normals != TML_NORMALS_NONE},
                {made->mesh.values, surface && !tml_buffer_is_none(surface->attribute)},
                {made->mesh.indices, !surface || !surface->soup},
                {w->out->surface.face_labels, false}};
    tml_status status = TML_OK;
    for (size_t i = 0; i < sizeof from / sizeof *from && status == TML_OK; i++)
        status = map_if_any(w, from[i].is_wanted, from[i].buffer, &arrays[i]);
    if (status != TML_OK)
        return status;
    *mesh =
        (tml_mesh){.positions = arrays[0],
                   .normals = arrays[1],
                   .values = arrays[2],
                   .indices = arrays[3],
                   .vertex_count = made->vertex_count,
                   .triangle_count = made->triangle_count,
                   .indices64 = surface ? surface->indices64 : desc->slabs.boundaries->indices64,
                   .value_name = desc->file.mesh.value_name,
                   .comment = desc->file.mesh.comment,
                   .up = desc->file.mesh.up,
                   .attributes = w->attributes,
                   .attribute_count = desc->file.mesh.attribute_count,
                   .face_labels = arrays[4],
                   .quads = desc->slabs.boundaries && desc->slabs.boundaries->quads};
    memcpy(mesh->origin, desc->file.mesh.origin, sizeof mesh->origin);
    tml_buffer_describe(w->tml, w->out->surface.face_labels, &label_type, NULL);
    mesh->face_label_type = tml_type_scalar(label_type);
    for (uint32_t i = 0; i < mesh->attribute_count && status == TML_OK; i++) {
        w->attributes[i] = desc->file.mesh.attributes[i];
        status = map_if_any(w, true, w->out->field_values[i], &means);
        w->attributes[i].data = means;
    }
    float *value = desc->values ? arrays[2] : NULL;
    if (value)
        save_scale(desc->values, value, made->vertex_count, value);
    return status;
}

static void unmap_mesh(whole_saving *w)
{
    const tml_surface_result *made = &w->out->surface;
    const tml_buffer buffers[] = {made->mesh.positions, made->mesh.normals, made->mesh.values,
                                  made->mesh.indices, w->out->surface.face_labels};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (!tml_buffer_is_none(buffers[i]))
            tml_buffer_unmap(w->tml, buffers[i]);
    for (uint32_t i = 0; i < TML_MESH_MAX_ATTRIBUTES; i++)
        if (!tml_buffer_is_none(w->out->field_values[i]))
            tml_buffer_unmap(w->tml, w->out->field_values[i]);
}

/* Saves a label's mesh. indices: room for the label with most faces. */
static tml_status save_label(whole_saving *w, const tml_mesh_part *part, void *indices)
{
    char path[IO_PATH_SIZE];
    tml_mesh mesh = w->mesh;
    const uint64_t corners = mesh.quads ? 4 : 3, first = corners * part->triangle_first;
    for (uint64_t i = 0; i < corners * part->triangle_count; i++) {
        if (mesh.indices64)
            ((uint64_t *)indices)[i] =
                ((const uint64_t *)mesh.indices)[first + i] - part->vertex_first;
        else
            ((uint32_t *)indices)[i] =
                ((const uint32_t *)mesh.indices)[first + i] - (uint32_t)part->vertex_first;
    }
    mesh.indices = indices;
    mesh.positions += 3 * part->vertex_first;
    mesh.face_labels = (uint8_t *)mesh.face_labels +
                       2 * part->triangle_first * tml_type_size(mesh.face_label_type);
    mesh.vertex_count = part->vertex_count;
    mesh.triangle_count = part->triangle_count;
    if (!tml_path_number(w->path, part->label, tml_type_is_signed(mesh.face_label_type), path,
                         sizeof path))
        return tml_error(w->tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s: is longer than %d bytes",
                         call, w->path, IO_PATH_SIZE - 1);
    return tml_mesh_save(w->tml, path, &mesh);
}

/* Saves each label's mesh in its own file. */
static tml_status save_labels(whole_saving *w)
{
    const tml_surface_result *net = &w->out->surface;
    uint64_t most = 0;
    for (uint64_t p = 0; p < net->part_count; p++)
        most = net->parts[p].triangle_count > most ? net->parts[p].triangle_count : most;
    const size_t row =
        (w->mesh.quads ? 4 : 3) * (w->mesh.indices64 ? sizeof(uint64_t) : sizeof(uint32_t));
    void *indices = tml_alloc_array(w->tml, most + 1, row);
    if (!indices)
        return tml_error(w->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %" PRIu64 " faces",
                         call, most);
    tml_status status = TML_OK;
    for (uint64_t p = 0; p < net->part_count && status == TML_OK; p++)
        status = save_label(w, &net->parts[p], indices);
    tml_free(w->tml, indices, (most + 1) * row);
    return status;
}

static tml_status save_mesh(whole_saving *w)
{
    const bool is_by_label = w->path && w->desc->slabs.boundaries &&
                             w->desc->slabs.boundaries->sharing != TML_LABELS_SHARED &&
                             tml_path_number(w->path, 0, false, NULL, 0);
    const double start = tml_io_seconds();
    tml_status status = save_fails(&w->out->failed, TML_SIDE_SURFACE, map_mesh(w));
    if (status == TML_OK && w->desc->file.edit)
        status = save_fails(&w->out->failed, TML_SIDE_MESH,
                            w->desc->file.edit(w->desc->file.user, &w->mesh));
    if (status == TML_OK && w->path) {
        const double written = w->desc->file.edit ? tml_io_seconds() : start;
        status = is_by_label ? save_labels(w) : tml_mesh_save(w->tml, w->path, &w->mesh);
        status = save_fails(&w->out->failed, TML_SIDE_MESH, status);
        add_stage(w, "save", written);
    }
    unmap_mesh(w);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

tml_status tml_surface_save_whole(tml_context *tml, const char *path,
                                  const tml_surface_save_desc *desc, tml_surface_saved *out)
{
    whole_saving w = {.tml = tml, .path = path, .desc = desc, .out = out};
    if (!desc->slabs.surface == !desc->slabs.boundaries) {
        out->failed = TML_SIDE_SURFACE;
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: needs one of desc.slabs.surface and boundaries", call);
    }
    tml_status status = make_surface(&w);
    TML_THEN(status, smooth_whole(&w));
    out->is_empty = status == TML_OK && !out->surface.triangle_count && !desc->keep_empty;
    if (status == TML_OK && !out->is_empty)
        status = find_means(&w);
    if (status == TML_OK && !out->is_empty)
        status = count_components(&w);
    status = save_fails(&out->failed, TML_SIDE_SURFACE, status);
    if (status == TML_OK && !out->is_empty)
        status = save_mesh(&w);
    return status;
}
