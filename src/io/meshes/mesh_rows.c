/* The rows of mesh files: layouts, functions that fill rows, and the writing of the rows of a mesh
 * or of a piece of one. */
#include <float.h>
#include <math.h>
#include <stdarg.h>

#include "io/meshes/mesh_format.h"

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t row_count(const tml_mesh *mesh, mesh_rows rows)
{
    return rows == MESH_VERTICES ? mesh->vertex_count
           : rows == MESH_UVS    ? mesh->uv_count
                                 : mesh->triangle_count;
}

typedef struct rows_source {
    const tml_mesh *mesh;
    mesh_fill fill;
    uint64_t base; /* added to indices */
} rows_source;

static size_t fill_rows(const void *user, uint64_t first, uint64_t count, uint8_t *out)
{
    const rows_source *source = user;
    return source->fill(source->mesh, first, count, out);
}

/* fill_rows for faces whose indices are raised by source->base. */
static size_t fill_raised(const void *user, uint64_t first, uint64_t count, uint8_t *out)
{
    enum { FACES = 512 };
    const rows_source *source = user;
    uint64_t corners[4 * FACES];
    tml_mesh raised = *source->mesh;
    raised.indices = corners;
    raised.indices64 = true;
    size_t size = 0;
    const size_t row = tml_mesh_labels_size(&raised);
    uint8_t *labels = raised.face_labels;
    const uint64_t of_face = mesh_corners(&raised);
    for (uint64_t end = first + count; first < end; first += FACES) {
        uint64_t n = end - first < FACES ? end - first : FACES;
        for (uint64_t i = 0; i < of_face * n; i++)
            corners[i] = mesh_corner(source->mesh, of_face * first + i) + source->base;
        raised.face_labels = labels ? labels + first * row : NULL;
        size += source->fill(&raised, 0, n, out + size);
    }
    return size;
}

/* Writes rows by all threads, a part at a time, and releases pages after each part. */
static tml_status write_in_parallel(io_writer *writer, const rows_source *source, uint64_t count,
                                    size_t row_size)
{
    const uint64_t part = MESH_RELIEF / row_size;
    for (uint64_t first = 0; first < count; first += part) {
        uint64_t n = count - first < part ? count - first : part;
        if (!tml_io_write_rows(writer, first, n, row_size, fill_rows, source))
            return writer->status;
        mesh_release_pages(source->mesh);
    }
    return writer->status;
}

tml_status tml_mesh_write_rows(io_writer *writer, const mesh_share *share, const tml_mesh *mesh,
                               mesh_rows kind, size_t row_size, mesh_fill fill)
{
    if (share)
        return tml_mesh_team_write_rows(writer, share, mesh, kind, row_size, fill);
    uint64_t count = row_count(mesh, kind);
    if (io_writes_rows(writer))
        return write_in_parallel(writer, &(rows_source){mesh, fill, 0}, count, row_size);
    uint8_t *buffer = tml_alloc(writer->tml, IO_WRITER_BUFFER);
    if (!buffer)
        return tml_error(writer->tml, TML_ERROR_OUT_OF_MEMORY,
                         MESH_CALL ": %s: no memory for %d bytes", writer->path, IO_WRITER_BUFFER);
    tml_status status = TML_OK;
    uint64_t rows = IO_WRITER_BUFFER / row_size;
    for (uint64_t first = 0; first < count && status == TML_OK; first += rows) {
        uint64_t n = count - first < rows ? count - first : rows;
        if (!tml_io_write(writer, buffer, fill(mesh, first, n, buffer)))
            status = writer->status;
        /* The size of a text file is not known beforehand, so the writer cannot report progress. */
        else if (writer->expected == 0 &&
                 !tml_progress(writer->tml, "write", (double)(first + n) / (double)count))
            status = tml_error(writer->tml, TML_ERROR_CANCELLED, MESH_CALL ": %s: cancelled",
                               writer->path);
        if (first / rows % (MESH_RELIEF / IO_WRITER_BUFFER) == 0)
            mesh_release_pages(mesh);
    }
    tml_free(writer->tml, buffer, IO_WRITER_BUFFER);
    return status;
}

static size_t fill_floats(const float *values, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        io_store_f32le(out + 4 * i, values[i]);
    return 4 * count;
}

size_t tml_mesh_fill_positions(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    return fill_floats(mesh->positions + 3 * first, 3 * count, out);
}

size_t tml_mesh_fill_placed(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++)
            io_store_f64le(out + 24 * i + 8 * axis, mesh_placed(mesh, first + i, axis));
    return 24 * count;
}

size_t tml_mesh_fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    return fill_floats(mesh->normals + 3 * first, 3 * count, out);
}

size_t tml_mesh_fill_values(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    return fill_floats(mesh->values + first, count, out);
}

size_t tml_mesh_labels_size(const tml_mesh *mesh)
{
    return mesh->face_labels ? 2 * tml_type_size(mesh->face_label_type) : 0;
}

size_t tml_mesh_fill_labels(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const size_t row = tml_mesh_labels_size(mesh), size = row / 2;
    const uint8_t *from = (const uint8_t *)mesh->face_labels + first * row;
    for (uint64_t i = 0; i < 2 * count; i++)
        for (size_t k = 0; k < size; k++)
            out[i * size + k] = from[i * size + (IO_HOST_IS_BIG_ENDIAN ? size - 1 - k : k)];
    return count * row;
}

bool tml_mesh_is_color(const tml_mesh_attribute *attribute)
{
    return strcmp(attribute->name, "color") == 0 && attribute->components >= 3;
}

size_t tml_mesh_attribute_size(const tml_mesh_attribute *attribute)
{
    return attribute->components * (tml_mesh_is_color(attribute) ? 1 : sizeof(float));
}

size_t tml_mesh_fill_attribute(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const tml_mesh_attribute *attribute = mesh->attributes;
    const float *from = attribute->data + first * attribute->components;
    count *= attribute->components;
    if (!tml_mesh_is_color(attribute))
        return fill_floats(from, count, out);
    for (uint64_t i = 0; i < count; i++) /* NaN becomes 0 */
        out[i] = from[i] >= 1.0f ? 255 : from[i] > 0.0f ? (uint8_t)(255.0f * from[i] + 0.5f) : 0;
    return count;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void add_text(mesh_layout *layout, size_t size)
{
    if (layout->chunk_count == 0 || layout->chunks[layout->chunk_count - 1].fill)
        layout->chunks[layout->chunk_count++] = (mesh_chunk){.fill = NULL};
    layout->chunks[layout->chunk_count - 1].size += size;
    layout->text_size += size;
    layout->size += size;
}

void tml_layout_bytes(mesh_layout *layout, const void *bytes, size_t size)
{
    memcpy(layout->text + layout->text_size, bytes, size);
    add_text(layout, size);
}

void tml_layout_print(mesh_layout *layout, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* Never truncated: the formats' texts are constant except for a few strings of bounded size. */
    int length = vsnprintf(layout->text + layout->text_size, MESH_TEXT_MAX - layout->text_size,
                           format, arguments);
    va_end(arguments);
    add_text(layout, (size_t)length);
}

void tml_layout_rows(mesh_layout *layout, const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                     mesh_fill fill)
{
    const uint64_t size = row_count(mesh, rows) * row_size;
    layout->chunks[layout->chunk_count++] = (mesh_chunk){fill, rows, row_size, size, 0};
    layout->size += size;
}

void tml_layout_attribute(mesh_layout *layout, const tml_mesh *mesh, uint32_t number,
                          size_t row_size, mesh_fill fill)
{
    tml_layout_rows(layout, mesh, MESH_VERTICES, row_size, fill);
    layout->chunks[layout->chunk_count - 1].attribute = number;
}

mesh_box tml_mesh_box_empty(void)
{
    return (mesh_box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

tml_status tml_mesh_box_add(tml_context *tml, const char *path, const tml_mesh *mesh, mesh_box *box)
{
    for (uint64_t i = 0; i < mesh->vertex_count; i++) {
        if (i % (MESH_RELIEF / (3 * sizeof(float))) == 0)
            mesh_release_pages(mesh);
        for (int axis = 0; axis < 3; axis++) {
            float x = mesh->positions[3 * i + (uint64_t)axis];
            if (!isfinite(x))
                return tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    MESH_CALL ": %s: mesh.positions has NaN or infinity, which glTF forbids", path);
            box->lower[axis] = x < box->lower[axis] ? x : box->lower[axis];
            box->upper[axis] = x > box->upper[axis] ? x : box->upper[axis];
        }
    }
    return TML_OK;
}

tml_status tml_mesh_put_text(io_writer *writer, const mesh_layout *layout)
{
    const char *text = layout->text;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < layout->chunk_count; i++) {
        const mesh_chunk *chunk = &layout->chunks[i];
        if (!chunk->fill && tml_io_seek(writer, offset) && tml_io_write(writer, text, chunk->size))
            text += chunk->size;
        offset += chunk->size;
    }
    return writer->status;
}

tml_status tml_mesh_put_rows(io_writer *writer, const mesh_layout *layout, const tml_mesh *piece,
                             uint64_t base, uint64_t vertex_first, uint64_t triangle_first)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < layout->chunk_count && writer->status == TML_OK; i++) {
        const mesh_chunk *chunk = &layout->chunks[i];
        const uint64_t place = chunk->rows == MESH_VERTICES ? vertex_first : triangle_first;
        const uint64_t first = chunk->rows == MESH_TRIANGLE_NUMBERS ? place : 0;
        const bool is_raised = chunk->rows == MESH_TRIANGLES && piece->indices && base;
        const tml_mesh with = mesh_with_attribute(piece, chunk->attribute);
        const rows_source source = {&with, chunk->fill, base};
        const uint64_t count = chunk->fill ? row_count(piece, chunk->rows) : 0;
        if (count && tml_io_seek(writer, offset + place * chunk->row_size))
            tml_io_write_rows(writer, first, count, chunk->row_size,
                              is_raised ? fill_raised : fill_rows, &source);
        offset += chunk->size;
    }
    return writer->status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void tml_mesh_line(char *out, size_t size, const char *text)
{
    size_t length = 0;
    for (; text && text[length] && length + 1 < size; length++)
        out[length] = text[length] >= ' ' && text[length] <= '~' ? text[length] : '?';
    out[length] = '\0';
}
