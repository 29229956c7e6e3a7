/* Saves meshes: checks, chooses the format by the ending of the name, and writes a whole file by
 * its layout. */
#include <strings.h>

#include "io/meshes/mesh_format.h"

static const mesh_format formats[] = {
    {".ply", tml_ply_describe, NULL, MESH_SHARES_NUMBERS, false, true},
    {".stl", tml_stl_describe, NULL, MESH_SHARES_CORNERS, false, false},
    {".obj", NULL, tml_mesh_write_obj, MESH_SHARES_NOT, false, true},
    {".glb", tml_glb_describe, NULL, MESH_SHARES_NOT, true, false},
    {".vtp", tml_vtp_describe, NULL, MESH_SHARES_NUMBERS, false, true},
};

/* ---- a whole file ---------------------------------------------------------------------------- */

tml_status tml_mesh_write(tml_context *tml, const char *path, const mesh_format *format,
                          const tml_mesh *mesh, const mesh_share *share)
{
    if (!format->describe)
        return format->write(tml, path, mesh);
    if (format->describe == tml_stl_describe && !share)
        tml_stl_tell_of_rounding(tml, path, mesh);
    mesh_layout layout = {0};
    mesh_box box = {0};
    tml_status status = format->describe(tml, path, mesh, &box, &layout);
    if (status == TML_OK && format->has_box) {
        box = tml_mesh_box_empty();
        layout = (mesh_layout){0};
        status = tml_mesh_box_add(tml, path, mesh, &box);
        TML_THEN(status, format->describe(tml, path, mesh, &box, &layout));
    }
    io_writer writer;
    if (status == TML_OK && share)
        status = tml_io_team_create(tml, MESH_CALL, path, layout.size, share->team, &writer);
    else if (status == TML_OK)
        status = tml_io_create(tml, MESH_CALL, path, layout.size, &writer);
    if (status != TML_OK)
        return status;
    const char *text = layout.text;
    for (uint32_t i = 0; i < layout.chunk_count && status == TML_OK; i++) {
        const mesh_chunk *chunk = &layout.chunks[i];
        if (chunk->fill) {
            tml_mesh with = mesh_with_attribute(mesh, chunk->attribute);
            status = tml_mesh_write_rows(&writer, share, &with, chunk->rows, chunk->row_size,
                                         chunk->fill);
            continue;
        }
        tml_io_write(&writer, text, chunk->size);
        text += chunk->size;
    }
    return tml_io_finish(&writer, status);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status check_uvs(tml_context *tml, const tml_mesh *mesh)
{
    uint64_t largest = 0;
    if (!mesh->uvs)
        return TML_OK;
    if (mesh->uv_count > UINT64_MAX / 64 ||
        (!mesh->uv_indices && mesh->uv_count != mesh->vertex_count))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            MESH_CALL ": mesh.uv_count is %llu, needs vertex_count %llu where there are "
                      "no uv_indices",
            (unsigned long long)mesh->uv_count, (unsigned long long)mesh->vertex_count);
    for (uint64_t i = 0; mesh->uv_indices && i < mesh_corners(mesh) * mesh->triangle_count; i++)
        largest = mesh->uv_indices[i] > largest ? mesh->uv_indices[i] : largest;
    if (mesh->uv_indices && mesh->triangle_count > 0 && largest >= mesh->uv_count)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.uv_indices reach %llu, needs less than uv_count %llu",
                         (unsigned long long)largest, (unsigned long long)mesh->uv_count);
    return TML_OK;
}

tml_status tml_mesh_check_attributes(tml_context *tml, const tml_mesh *mesh)
{
    if (mesh->attribute_count > TML_MESH_MAX_ATTRIBUTES ||
        (mesh->attribute_count && !mesh->attributes))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.attribute_count is %u, needs at most %d, and attributes",
                         mesh->attribute_count, TML_MESH_MAX_ATTRIBUTES);
    for (uint32_t i = 0; i < mesh->attribute_count; i++) {
        const tml_mesh_attribute *a = &mesh->attributes[i];
        size_t length = a->name ? strlen(a->name) : 0;
        bool is_good = length > 0 && length < 64 && a->components >= 1 && a->components <= 4 &&
                       (a->data || mesh->vertex_count == 0);
        for (uint32_t k = 0; k < i && is_good; k++)
            is_good = strcmp(a->name, mesh->attributes[k].name) != 0;
        if (!is_good)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             MESH_CALL
                             ": mesh.attributes[%u] is \"%.64s\" of %u components, needs a "
                             "name of 1 to 63 bytes that no other has, 1 to 4 "
                             "components, and data",
                             i, a->name ? a->name : "", a->components);
    }
    return TML_OK;
}

enum { CHECK_BLOCK = 1 << 18, CHECK_BLOCKS = MESH_RELIEF / (CHECK_BLOCK * sizeof(uint64_t)) };

typedef struct index_job {
    const tml_mesh *mesh;
    uint64_t first; /* first corner of the round */
    uint64_t largest[CHECK_BLOCKS];
} index_job;

static void find_largest(void *argument, uint32_t block)
{
    index_job *job = argument;
    const uint64_t corners = mesh_corners(job->mesh) * job->mesh->triangle_count;
    const uint64_t first = job->first + (uint64_t)block * CHECK_BLOCK;
    const uint64_t end = first + CHECK_BLOCK < corners ? first + CHECK_BLOCK : corners;
    const uint64_t *wide = job->mesh->indices;
    const uint32_t *narrow = job->mesh->indices;
    uint64_t largest = 0;
    uint32_t largest32 = 0;
    for (uint64_t i = first; i < end && job->mesh->indices64; i++)
        largest = wide[i] > largest ? wide[i] : largest;
    for (uint64_t i = first; i < end && !job->mesh->indices64; i++)
        largest32 = narrow[i] > largest32 ? narrow[i] : largest32;
    job->largest[block] = job->mesh->indices64 ? largest : largest32;
}

static uint64_t largest_index(tml_context *tml, const tml_mesh *mesh)
{
    const uint64_t corners = mesh_corners(mesh) * mesh->triangle_count,
                   round = (uint64_t)CHECK_BLOCK * CHECK_BLOCKS;
    uint64_t largest = 0;
    for (index_job job = {.mesh = mesh}; job.first < corners; job.first += round) {
        uint64_t left = corners - job.first, blocks = (left + CHECK_BLOCK - 1) / CHECK_BLOCK;
        uint32_t count = blocks < CHECK_BLOCKS ? (uint32_t)blocks : CHECK_BLOCKS;
        tml_parallel_for(tml, count, find_largest, &job);
        for (uint32_t b = 0; b < count; b++)
            largest = job.largest[b] > largest ? job.largest[b] : largest;
        mesh_release_pages(mesh);
    }
    return largest;
}

tml_status tml_mesh_check(tml_context *tml, const tml_mesh *mesh)
{
    if (mesh->vertex_count > UINT64_MAX / 64 || mesh->triangle_count > UINT64_MAX / 64)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh counts are %llu vertices and %llu triangles, needs less "
                                   "than 2^58",
                         (unsigned long long)mesh->vertex_count,
                         (unsigned long long)mesh->triangle_count);
    if (!mesh->positions && mesh->vertex_count > 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.positions is NULL, needs %llu x 3",
                         (unsigned long long)mesh->vertex_count);
    if (!mesh->indices && mesh->vertex_count != 3 * mesh->triangle_count)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            MESH_CALL ": mesh.vertex_count is %llu, a soup of %llu triangles needs %llu; "
                      "pass indices for a welded mesh",
            (unsigned long long)mesh->vertex_count, (unsigned long long)mesh->triangle_count,
            (unsigned long long)(3 * mesh->triangle_count));
    if (mesh->quads && !mesh->indices)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, MESH_CALL ": mesh.quads needs indices");
    if ((unsigned)mesh->up > TML_UP_MINUS_X)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.up is %d, needs a tml_up", (int)mesh->up);
    if (mesh->face_labels &&
        (mesh->face_label_type < TML_U8 || mesh->face_label_type >= TML_SCALAR_END ||
         tml_type_is_float(mesh->face_label_type)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.face_label_type is %s, needs an integer's",
                         tml_type_name(mesh->face_label_type));
    uint64_t largest = mesh->indices ? largest_index(tml, mesh) : 0;
    if (mesh->triangle_count > 0 && largest >= mesh->vertex_count)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         MESH_CALL ": mesh.indices reach %llu, needs less than vertex_count %llu",
                         (unsigned long long)largest, (unsigned long long)mesh->vertex_count);
    tml_status status = tml_mesh_check_attributes(tml, mesh);
    return status == TML_OK ? check_uvs(tml, mesh) : status;
}

tml_status tml_mesh_format_of(tml_context *tml, const char *path, const mesh_format **out)
{
    const char *ending = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; ending && i < sizeof formats / sizeof formats[0]; i++) {
        if (strcasecmp(ending, formats[i].ending) == 0) {
            *out = &formats[i];
            return TML_OK;
        }
    }
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     MESH_CALL
                     ": path is %s, needs one that ends in .ply, .stl, .obj, .glb or .vtp",
                     path ? path : "NULL");
}

tml_status tml_mesh_check_quads(tml_context *tml, const char *path, const mesh_format *format,
                                bool quads)
{
    if (!quads || format->has_quads)
        return TML_OK;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     MESH_CALL ": %s holds triangles only; write quads to .ply, .obj or .vtp",
                     path);
}

tml_status tml_mesh_check_labels(tml_context *tml, const char *path, const mesh_format *format,
                                 const tml_mesh *mesh)
{
    return format->describe == tml_ply_describe && mesh->face_labels
               ? tml_ply_check_labels(tml, path, mesh)
               : TML_OK;
}

tml_status tml_mesh_save(tml_context *tml, const char *path, const tml_mesh *mesh)
{
    const mesh_format *format = NULL;
    tml_status status = tml_mesh_format_of(tml, path, &format);
    TML_THEN(status, tml_mesh_check(tml, mesh));
    TML_THEN(status, tml_mesh_check_quads(tml, path, format, mesh->quads));
    TML_THEN(status, tml_mesh_check_labels(tml, path, format, mesh));
    return status == TML_OK ? tml_mesh_write(tml, path, format, mesh, NULL) : status;
}
