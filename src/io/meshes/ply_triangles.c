/* Reads binary PLY files of vertices and triangles: rows of constant size, in parallel blocks. */
#include <math.h>
#include <stdatomic.h>

#include "io/meshes/ply_internal.h"

/* Rows per task; bytes of a triangle's row. */
enum { BLOCK = 1 << 15, TRIANGLE_ROW = 13 };

/* A column of the vertex table. */
typedef struct ply_column {
    size_t offset;
    tml_type type;
} ply_column;

typedef struct triangles_job {
    const uint8_t *vertices, *faces; /* the file's rows */
    size_t vertex_row;
    uint64_t vertex_count, triangle_count;
    bool is_big_endian;
    ply_column position[3], normal[3], value;
    float *positions, *normals, *values; /* normals and values may be NULL */
    ply_column properties[TML_MESH_MAX_ATTRIBUTES][4];
    mesh_property *made; /* property_count, each with room for all vertices */
    uint32_t property_count;
    uint32_t *indices;
    _Atomic uint8_t *used; /* if there are normals: 1 for each vertex of a triangle */
    atomic_bool is_other;  /* the file needs the general reader */
    atomic_bool lacks_normal;
} triangles_job;

static double ply_triangles_load(const triangles_job *job, const uint8_t *row,
                                 const ply_column *column)
{
    const uint8_t *at = row + column->offset;
    if (column->type == TML_F32)
        return (double)io_load_f32(at, job->is_big_endian);
    return tml_io_number(at, column->type, job->is_big_endian);
}

static void vertices_task(void *argument, uint32_t task)
{
    triangles_job *job = argument;
    uint64_t first = (uint64_t)task * BLOCK, end = first + BLOCK;
    bool is_other = false;
    end = end < job->vertex_count ? end : job->vertex_count;
    for (uint64_t i = first; i < end; i++) {
        const uint8_t *row = job->vertices + i * job->vertex_row;
        for (int k = 0; k < 3; k++) {
            double x = ply_triangles_load(job, row, &job->position[k]);
            job->positions[3 * i + (uint64_t)k] = (float)x;
            is_other |= !isfinite((float)x) || (double)(float)x != x;
            if (job->normals)
                job->normals[3 * i + (uint64_t)k] =
                    (float)ply_triangles_load(job, row, &job->normal[k]);
        }
        if (job->values)
            job->values[i] = (float)ply_triangles_load(job, row, &job->value);
        for (uint32_t p = 0; p < job->property_count; p++) {
            const mesh_property *made = &job->made[p];
            float *to = (float *)(void *)made->data.data + i * made->components;
            const double scale = made->is_color && made->scale > 0 ? made->scale : 1;
            for (uint32_t c = 0; c < made->components; c++)
                to[c] = (float)(scale * ply_triangles_load(job, row, &job->properties[p][c]));
        }
    }
    if (is_other)
        atomic_store_explicit(&job->is_other, true, memory_order_relaxed);
}

static void triangles_task(void *argument, uint32_t task)
{
    triangles_job *job = argument;
    uint64_t first = (uint64_t)task * BLOCK, end = first + BLOCK;
    bool is_other = false;
    end = end < job->triangle_count ? end : job->triangle_count;
    for (uint64_t t = first; t < end && !is_other; t++) {
        const uint8_t *row = job->faces + t * TRIANGLE_ROW;
        uint32_t before[3] = {0};
        is_other = row[0] != 3;
        for (uint64_t k = 0; k < 3; k++) {
            uint32_t vertex = io_load_u32(row + 1 + 4 * k, job->is_big_endian);
            job->indices[3 * t + k] = before[k] = vertex;
            if (vertex >= job->vertex_count)
                is_other = true;
            else if (job->used)
                atomic_store_explicit(&job->used[vertex], 1, memory_order_relaxed);
        }
        is_other |= before[0] == before[1] || before[1] == before[2] || before[2] == before[0];
    }
    if (is_other)
        atomic_store_explicit(&job->is_other, true, memory_order_relaxed);
}

/* Only vertices with a triangle have normals, and if one of them is not finite, there are none: the
 * same as for all formats. */
static void normals_task(void *argument, uint32_t task)
{
    triangles_job *job = argument;
    uint64_t first = (uint64_t)task * BLOCK, end = first + BLOCK;
    end = end < job->vertex_count ? end : job->vertex_count;
    for (uint64_t i = first; i < end; i++) {
        float *n = job->normals + 3 * i;
        if (!atomic_load_explicit(&job->used[i], memory_order_relaxed))
            n[0] = n[1] = n[2] = 0;
        else if (!isfinite(n[0]) || !isfinite(n[1]) || !isfinite(n[2]))
            atomic_store_explicit(&job->lacks_normal, true, memory_order_relaxed);
    }
}

/* Finds the offsets of the columns in a row, and its size. */
static void place_columns(const ply_header *header, const ply_columns *columns, triangles_job *job)
{
    const ply_element *vertex = &header->elements[0];
    for (int32_t i = 0; i < (int32_t)vertex->property_count; i++) {
        tml_type type = header->properties[vertex->first + (uint32_t)i].type;
        const ply_column here = {job->vertex_row, type};
        for (int k = 0; k < 3; k++) {
            if (columns->position[k] == i)
                job->position[k] = here;
            if (columns->normal[k] == i)
                job->normal[k] = here;
        }
        if (columns->value == i)
            job->value = here;
        for (uint32_t p = 0; p < job->property_count; p++)
            for (uint32_t c = 0; c < job->made[p].components; c++)
                if (columns->properties[p][c] == i)
                    job->properties[p][c] = here;
        job->vertex_row += tml_type_size(type);
    }
}

static bool has_all(const int32_t columns[3])
{
    return columns[0] >= 0 && columns[1] >= 0 && columns[2] >= 0;
}

static tml_status read_all(mesh_sink *sink, triangles_job *job, bool *is_done)
{
    tml_context *tml = sink->file->tml;
    const uint32_t vertex_blocks = (uint32_t)((job->vertex_count + BLOCK - 1) / BLOCK);
    tml_parallel_for(tml, (uint32_t)((job->triangle_count + BLOCK - 1) / BLOCK), triangles_task,
                     job);
    tml_parallel_for(tml, vertex_blocks, vertices_task, job);
    if (job->normals)
        tml_parallel_for(tml, vertex_blocks, normals_task, job);
    *is_done = !atomic_load_explicit(&job->is_other, memory_order_relaxed);
    if (!tml_progress(tml, "faces", 1))
        return tml_io_error(sink->file, TML_ERROR_CANCELLED, "cancelled");
    return TML_OK;
}

/* Allocates arrays for all that is read. If this or a later step fails, the sink frees them. */
static bool make_room(mesh_sink *sink, triangles_job *job, bool has_normals, bool has_values)
{
    const uint64_t vertices = job->vertex_count, triangles = job->triangle_count;
    tml_mesh *made = &sink->made;
    made->positions = job->positions = tml_io_alloc(sink->file, 12 * vertices);
    made->indices = job->indices = tml_io_alloc(sink->file, 12 * triangles);
    made->vertex_count = vertices;
    made->triangle_count = triangles;
    if (has_normals) {
        made->normals = job->normals = tml_io_alloc(sink->file, 12 * vertices);
        job->used = tml_io_alloc(sink->file, vertices);
    }
    if (has_values)
        made->values = job->values = tml_io_alloc(sink->file, 4 * vertices);
    bool has_room = job->positions && job->indices &&
                    (!has_normals || (job->normals && job->used)) && (!has_values || job->values);
    for (uint32_t p = 0; p < sink->property_count; p++) {
        mesh_property *property = &sink->properties[p];
        const size_t bytes = (size_t)(vertices * property->components * sizeof(float));
        property->data = (mesh_array){tml_io_alloc(sink->file, bytes), 0, 0};
        has_room &= property->data.data != NULL;
        if (property->data.data)
            property->data.size = property->data.capacity = bytes;
        sink->allocated += property->data.capacity;
    }
    return has_room;
}

tml_status tml_ply_read_triangles(mesh_sink *sink, const ply_header *header,
                                  const ply_columns *columns, io_span data, bool *is_done)
{
    const uint64_t vertices = header->elements[0].count, triangles = header->elements[1].count;
    triangles_job job = {.vertices = (const uint8_t *)data.text,
                         .vertex_count = vertices,
                         .triangle_count = triangles,
                         .is_big_endian = header->encoding == IO_NUMBERS_BIG_ENDIAN,
                         .made = sink->properties,
                         .property_count = sink->property_count};
    place_columns(header, columns, &job);
    *is_done = false;
    if (sink->weld == TML_WELD_ALWAYS || !has_all(columns->position) || vertices == 0 ||
        vertices >= MESH_NONE || triangles == 0 || triangles > MESH_NONE ||
        vertices > data.size / job.vertex_row ||
        triangles > (data.size - vertices * job.vertex_row) / TRIANGLE_ROW)
        return TML_OK;
    bool has_normals = has_all(columns->normal), has_values = columns->value >= 0;
    uint64_t size =
        vertices * (12 + (has_normals ? 13 : 0) + (has_values ? 4 : 0)) + 12 * triangles;
    for (uint32_t p = 0; p < sink->property_count; p++)
        size += vertices * sink->properties[p].components * sizeof(float);
    if (sink->memory_limit && size > sink->memory_limit)
        return TML_OK;
    job.faces = job.vertices + vertices * job.vertex_row;
    tml_mesh *made = &sink->made;
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    if (make_room(sink, &job, has_normals, has_values)) {
        if (job.used)
            memset((void *)job.used, 0, vertices);
        status = read_all(sink, &job, is_done);
    }
    tml_free(sink->file->tml, (void *)job.used, vertices);
    if (atomic_load_explicit(&job.lacks_normal, memory_order_relaxed)) {
        tml_free(sink->file->tml, job.normals, 12 * vertices);
        made->normals = NULL;
    }
    if (!*is_done && status == TML_OK) {
        tml_mesh_file other = {.mesh = *made};
        tml_mesh_file_free(sink->file->tml, &other);
        *made = (tml_mesh){0};
        for (uint32_t p = 0; p < sink->property_count; p++)
            tml_mesh_drop(sink, &sink->properties[p].data);
    }
    return status;
}
