/* Meshes that are written as they are made. If rows have a fixed size and the counts are known,
 * pieces are written in place. Otherwise, since a file has counts before arrays and one array after
 * another, pieces are first stored in unlinked files (spools) beside the target, one per array. At
 * the end the spools are mapped and written as a mesh by the usual writers. Pages that a writer has
 * passed are released, to keep the process's memory small. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "io/io_system.h"
#include "io/meshes/mesh_spool.h"

enum { NAME_TRIES = 100, NAME_SHOWN = 200, SEGMENTS_FIRST = 64 };

static const char call[] = "tml_mesh_stream";

/* ---- spools --------------------------------------------------------------------------------- */

static tml_status mesh_stream_fail(tml_mesh_stream *stream, const char *what)
{
    uint64_t size = 0;
    for (int i = 0; i < ARRAYS; i++)
        size += stream->spools[i].size;
    if (tml_io_is_disk_full(errno))
        return tml_error(stream->tml, TML_ERROR_FILE_ACCESS,
                         "%s: %s: the disk is full (%s): the mesh is %" PRIu64
                         " bytes so far, and needs twice what it will be; free some room or write "
                         "elsewhere",
                         call, stream->path, strerror(errno), size);
    return tml_error(stream->tml, TML_ERROR_FILE_ACCESS, "%s: %s: a file beside it %s: %s", call,
                     stream->path, what, strerror(errno));
}

tml_status tml_spool_open(tml_mesh_stream *stream, spool *out)
{
    char name[2 * IO_PATH_SIZE];
    for (int i = 0; i < NAME_TRIES && out->fd < 0; i++) {
        snprintf(name, sizeof name, "%s.%lu-%d.tmp", stream->folder, tml_io_process_number(), i);
        out->fd = tml_io_file_create_spool(name);
        if (out->fd < 0 && errno != EEXIST)
            break;
    }
    if (out->fd < 0)
        return mesh_stream_fail(stream, "cannot be made");
    return TML_OK;
}

tml_status tml_spool_append(tml_mesh_stream *stream, spool *to, const void *data, uint64_t size)
{
    const uint8_t *from = data;
    while (size) {
        size_t most = size < MESH_COPY ? (size_t)size : MESH_COPY;
        if (tml_is_cancelled(stream->tml))
            return tml_error(stream->tml, TML_ERROR_CANCELLED, "%s: %s: cancelled", call,
                             stream->path);
        int64_t wrote = tml_io_file_write_at(to->fd, from, most, to->size);
        if (wrote < 0)
            return mesh_stream_fail(stream, "cannot be written");
        from += wrote;
        size -= (uint64_t)wrote;
        to->size += (uint64_t)wrote;
    }
    return TML_OK;
}

tml_status tml_spool_read(tml_mesh_stream *stream, const spool *from, uint64_t offset, void *out,
                          size_t size)
{
    for (uint8_t *to = out; size;) {
        int64_t got = tml_io_file_read_at(from->fd, to, size, offset);
        if (got <= 0)
            return mesh_stream_fail(stream, "cannot be read");
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return TML_OK;
}

static void unmap(spool *s)
{
    if (s->mapped)
        tml_io_unmap(s->mapped, (size_t)s->size);
    s->mapped = NULL;
}

void tml_spool_close(spool *s)
{
    unmap(s);
    if (s->fd >= 0)
        (void)tml_io_file_close(s->fd);
    s->fd = -1;
}

/* ---- opening --------------------------------------------------------------------------------- */

void tml_mesh_stream_free(tml_mesh_stream *stream)
{
    for (int i = 0; i < ARRAYS; i++)
        tml_spool_close(&stream->spools[i]);
    tml_free(stream->tml, stream->places, stream->place_count * sizeof *stream->places);
    tml_free(stream->tml, stream->segments, stream->segment_room * sizeof *stream->segments);
    tml_free(stream->tml, stream, sizeof *stream);
}

static tml_type label_type_of(const tml_mesh_stream_desc *desc)
{
    return desc->mesh.face_labels ? desc->mesh.face_label_type : TML_TYPE_NONE;
}

/* Returns whether pieces can be written in place. If triangles are rows of corners, a piece must
 * hold all vertices of its triangles, as a soup's does. */
static bool goes_in_place(const tml_mesh_stream_desc *desc, const mesh_format *format,
                          const char *path)
{
    uint64_t vertices = 0;
    for (uint32_t p = 0; p < desc->mesh.part_count; p++)
        vertices +=
            desc->soup ? desc->mesh.parts[p].triangle_count : desc->mesh.parts[p].vertex_count;
    return vertices && format->describe && !desc->edit && !desc->team &&
           (desc->soup || format->sharing != MESH_SHARES_CORNERS) && tml_io_is_regular(path);
}

/* Creates the file that is written in place, and writes its text. */
static tml_status create_whole(tml_mesh_stream *stream, const tml_mesh_stream_desc *desc)
{
    static float promised[3];
    tml_mesh *whole = &stream->whole;
    mesh_layout *layout = &stream->layout;
    *whole = stream->mesh;
    whole->positions = promised;
    whole->normals = desc->mesh.normals ? promised : NULL;
    whole->values = desc->mesh.values ? promised : NULL;
    for (uint32_t i = 0; i < desc->mesh.attribute_count; i++)
        stream->attributes[i].data = promised;
    whole->indices = desc->soup ? NULL : promised;
    whole->face_labels = label_type_of(desc) ? promised : NULL;
    stream->places = tml_alloc(stream->tml, desc->mesh.part_count * sizeof *stream->places);
    if (!stream->places)
        return tml_error(stream->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %" PRIu32 " parts", call, desc->mesh.part_count);
    stream->place_count = desc->mesh.part_count;
    for (uint32_t p = 0; p < desc->mesh.part_count; p++) {
        const uint64_t triangles = desc->mesh.parts[p].triangle_count;
        const uint64_t vertices = desc->soup ? 3 * triangles : desc->mesh.parts[p].vertex_count;
        stream->places[p] =
            (mesh_place){whole->vertex_count, vertices, whole->triangle_count, triangles, 0, 0};
        whole->vertex_count += vertices;
        whole->triangle_count += triangles;
    }
    stream->box = tml_mesh_box_empty();
    tml_status status =
        stream->format->describe(stream->tml, stream->path, whole, &(mesh_box){0}, layout);
    TML_THEN(status,
             tml_io_create(stream->tml, MESH_CALL, stream->path, layout->size, &stream->writer));
    if (status != TML_OK)
        return status;
    stream->writer.progress.next = UINT64_MAX; /* not reported: the caller reports its progress */
    status = tml_mesh_put_text(&stream->writer, layout);
    return status == TML_OK ? TML_OK : tml_io_finish(&stream->writer, status);
}

/* Checks and copies the attributes of desc. sizes receives the size of each one's rows. */
static tml_status take_attributes(tml_mesh_stream *stream, const tml_mesh_stream_desc *desc,
                                  size_t *sizes)
{
    tml_mesh *mesh = &stream->mesh;
    mesh->attributes = (tml_mesh_attribute *)(uintptr_t)desc->mesh.attributes;
    mesh->attribute_count = desc->mesh.attribute_count;
    tml_status status = tml_mesh_check_attributes(stream->tml, mesh);
    mesh->attributes = stream->attributes;
    for (uint32_t i = 0; i < desc->mesh.attribute_count && status == TML_OK; i++) {
        snprintf(stream->attribute_names[i], sizeof stream->attribute_names[i], "%s",
                 desc->mesh.attributes[i].name);
        stream->attributes[i] = (tml_mesh_attribute){stream->attribute_names[i],
                                                     desc->mesh.attributes[i].components, NULL};
        sizes[i] = desc->mesh.attributes[i].components * sizeof(float);
    }
    return status;
}

static tml_status check_stream_desc(tml_context *tml, const char *path,
                                    const tml_mesh_stream_desc *desc, const mesh_format *format)
{
    if (strlen(path) >= IO_PATH_SIZE - NAME_SHOWN)
        return tml_error(tml, TML_ERROR_FILE_ACCESS, "%s: path is longer than %d bytes", call,
                         IO_PATH_SIZE - NAME_SHOWN - 1);
    if (desc->mesh.quads && (desc->edit || desc->soup))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.mesh.quads goes with neither desc.soup nor desc.edit", call);
    if (desc->edit && desc->soup)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.edit is for welded meshes, not soup", call);
    if (desc->mesh.face_labels && (desc->edit || desc->soup))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.mesh.face_labels goes with neither desc.soup nor desc.edit",
                         call);
    const tml_mesh labeled = {.indices = "",
                              .quads = desc->mesh.quads,
                              .face_labels = desc->mesh.face_labels ? "" : NULL,
                              .face_label_type = label_type_of(desc)};
    tml_status status = tml_mesh_check(tml, &labeled);
    return status == TML_OK ? tml_mesh_check_quads(tml, path, format, desc->mesh.quads) : status;
}

/* Copies the path and the names of desc. Temporary files go to the folder of the file itself,
 * behind links. */
static void name_stream(tml_mesh_stream *stream, const char *path, const tml_mesh_stream_desc *desc)
{
    snprintf(stream->path, sizeof stream->path, "%s", path);
    char target[IO_PATH_SIZE];
    const char *real = tml_io_path_resolve(path, target, sizeof target) ? target : path;
    const char *slash = strrchr(real, '/');
    int folder = slash ? (int)(slash + 1 - real) : 0;
    snprintf(stream->folder, sizeof stream->folder, "%.*s%.*s", folder, real, NAME_SHOWN,
             real + folder);
    snprintf(stream->value_name, sizeof stream->value_name, "%s",
             desc->mesh.value_name ? desc->mesh.value_name : "");
    snprintf(stream->comment, sizeof stream->comment, "%s",
             desc->mesh.comment ? desc->mesh.comment : "");
    stream->mesh.value_name = desc->mesh.value_name ? stream->value_name : NULL;
    stream->mesh.comment = desc->mesh.comment ? stream->comment : NULL;
}

tml_status tml_mesh_stream_open(tml_context *tml, const char *path,
                                const tml_mesh_stream_desc *desc, tml_mesh_stream **out)
{
    *out = NULL;
    const mesh_format *format = NULL;
    tml_status status = tml_mesh_format_of(tml, path, &format);
    TML_THEN(status, check_stream_desc(tml, path, desc, format));
    if (status != TML_OK)
        return status;
    tml_mesh_stream *stream = tml_alloc(tml, sizeof *stream);
    if (!stream)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call,
                         sizeof *stream);
    *stream = (tml_mesh_stream){.tml = tml,
                                .format = format,
                                .soup = desc->soup && !desc->team,
                                .edit = desc->edit,
                                .user = desc->user,
                                .team = desc->team,
                                .in_place = goes_in_place(desc, format, path),
                                .team_soup = desc->soup && desc->team};
    name_stream(stream, path, desc);
    tml_mesh *mesh = &stream->mesh;
    mesh->indices64 = desc->mesh.indices64;
    mesh->quads = desc->mesh.quads;
    mesh->face_label_type = label_type_of(desc);
    memcpy(mesh->origin, desc->mesh.origin, sizeof mesh->origin);
    mesh->up = desc->mesh.up;
    size_t sizes[ARRAYS] = {
        [POSITIONS] = 3 * sizeof(float),
        [NORMALS] = desc->mesh.normals ? 3 * sizeof(float) : 0,
        [VALUES] = desc->mesh.values ? sizeof(float) : 0,
        [INDICES] = stream->soup ? 0
                                 : mesh_corners(mesh) *
                                       tml_type_size(desc->mesh.indices64 ? TML_U64 : TML_U32),
        [LABELS] = 2 * tml_type_size(label_type_of(desc))};
    status = take_attributes(stream, desc, &sizes[ATTRIBUTES]);
    for (int i = 0; i < ARRAYS; i++)
        stream->spools[i] = (spool){.fd = -1, .row_size = sizes[i]};
    if (status == TML_OK && stream->in_place)
        status = create_whole(stream, desc);
    for (int i = 0; i < ARRAYS && status == TML_OK && !stream->in_place; i++)
        if (sizes[i])
            status = tml_spool_open(stream, &stream->spools[i]);
    if (status == TML_OK)
        *out = stream;
    else
        tml_mesh_stream_free(stream);
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

tml_status tml_mesh_add_segment(tml_mesh_stream *stream, const segment *piece)
{
    if (stream->segment_count == stream->segment_room) {
        uint64_t room = stream->segment_room ? 2 * stream->segment_room : SEGMENTS_FIRST;
        segment *more = tml_alloc_array(stream->tml, room, sizeof *more);
        if (!more)
            return tml_error(stream->tml, TML_ERROR_OUT_OF_MEMORY,
                             "%s: no memory for %" PRIu64 " pieces", call, room);
        if (stream->segment_count)
            memcpy(more, stream->segments, stream->segment_count * sizeof *more);
        tml_free(stream->tml, stream->segments, stream->segment_room * sizeof *more);
        stream->segments = more;
        stream->segment_room = room;
    }
    stream->segments[stream->segment_count++] = *piece;
    return TML_OK;
}

static const void *array_of(const tml_mesh *piece, int array)
{
    return array == POSITIONS ? (const void *)piece->positions
           : array == NORMALS ? piece->normals
           : array == VALUES  ? piece->values
           : array == INDICES ? piece->indices
           : array == LABELS  ? piece->face_labels
           : (uint32_t)(array - ATTRIBUTES) < piece->attribute_count && piece->attributes
               ? piece->attributes[array - ATTRIBUTES].data
               : NULL;
}

static tml_status check_piece(tml_mesh_stream *stream, const tml_mesh *piece)
{
    static const char *const names[ARRAYS] = {[POSITIONS] = "positions",
                                              [NORMALS] = "normals",
                                              [VALUES] = "values",
                                              [INDICES] = "indices",
                                              [LABELS] = "face_labels"};
    const uint32_t attributes = stream->mesh.attribute_count;
    for (int i = 0; i < ARRAYS; i++)
        if (stream->spools[i].row_size &&
            (i >= INDICES ? piece->triangle_count : piece->vertex_count) && !array_of(piece, i))
            return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: piece.%s is NULL, which the stream's desc promised", call,
                             names[i] ? names[i] : "attributes[].data");
    bool is_alike = piece->attribute_count == attributes;
    for (uint32_t i = 0; i < attributes && is_alike && piece->vertex_count; i++)
        is_alike = piece->attributes[i].components == stream->attributes[i].components;
    if (!is_alike && (piece->vertex_count || piece->attribute_count))
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: piece.attribute_count is %" PRIu32 ", needs the desc's %" PRIu32
                         " attributes, of the same components",
                         call, piece->attribute_count, attributes);
    if (piece->triangle_count && piece->quads != stream->mesh.quads)
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: piece.quads is not the desc's", call);
    if (piece->face_labels && piece->face_label_type != stream->mesh.face_label_type)
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: piece.face_label_type is %s, needs the desc's %s", call,
                         tml_type_name(piece->face_label_type),
                         tml_type_name(stream->mesh.face_label_type));
    if (stream->soup && piece->vertex_count != 3 * piece->triangle_count)
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: piece.vertex_count is %" PRIu64 ", a soup of %" PRIu64
                         " triangles needs three times as many",
                         call, piece->vertex_count, piece->triangle_count);
    if (!stream->soup && piece->triangle_count && piece->indices64 != stream->mesh.indices64)
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: piece.indices64 is not the desc's", call);
    return TML_OK;
}

/* Writes a piece's rows in place. */
static tml_status put_piece(tml_mesh_stream *stream, uint32_t part, const tml_mesh *piece)
{
    const tml_mesh *whole = &stream->whole;
    mesh_place *place = part < stream->place_count ? &stream->places[part] : NULL;
    if (!place || piece->vertex_count > place->vertex_count - place->vertices ||
        piece->triangle_count > place->triangle_count - place->triangles)
        return tml_error(stream->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: a piece of part %" PRIu32 " with %" PRIu64 " vertices and %" PRIu64
                         " triangles is more than desc.mesh.parts says",
                         call, part, piece->vertex_count, piece->triangle_count);
    tml_mesh rows = *whole;
    rows.positions = piece->positions;
    rows.normals = whole->normals ? piece->normals : NULL;
    rows.values = whole->values ? piece->values : NULL;
    rows.indices = whole->indices ? piece->indices : NULL;
    rows.face_labels = whole->face_labels ? piece->face_labels : NULL;
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
    memcpy(attributes, stream->attributes, sizeof attributes);
    for (uint32_t i = 0; i < rows.attribute_count && piece->vertex_count; i++)
        attributes[i].data = piece->attributes[i].data;
    rows.attributes = attributes;
    rows.triangle_count = piece->triangle_count;
    rows.vertex_count = place->vertex_count; /* indices may name vertices of later pieces */
    tml_status status = TML_OK;
    if (piece->triangle_count && rows.indices && rows.positions)
        status = tml_mesh_check(stream->tml, &rows);
    rows.vertex_count = piece->vertex_count;
    if (status == TML_OK && stream->format->has_box)
        status = tml_mesh_box_add(stream->tml, stream->path, &rows, &stream->box);
    TML_THEN(status, tml_mesh_put_rows(&stream->writer, &stream->layout, &rows, place->vertex_first,
                                       place->vertex_first + place->vertices,
                                       place->triangle_first + place->triangles));
    place->vertices += piece->vertex_count;
    place->triangles += piece->triangle_count;
    return status;
}

tml_status tml_mesh_stream_write(tml_mesh_stream *stream, uint32_t part, const tml_mesh *piece)
{
    tml_mesh *mesh = &stream->mesh;
    const segment added = {part, mesh->vertex_count, piece->vertex_count, mesh->triangle_count,
                           piece->triangle_count};
    tml_status status = stream->status;
    TML_THEN(status, check_piece(stream, piece));
    if (status == TML_OK && stream->in_place && stream->soup && mesh->triangle_count == 0 &&
        stream->format->describe == tml_stl_describe) {
        tml_mesh first = *piece; /* in a soup, whose indices are not used */
        first.indices = NULL;
        memcpy(first.origin, mesh->origin, sizeof first.origin);
        tml_stl_tell_of_rounding(stream->tml, stream->path, &first);
    }
    TML_THEN(status, tml_mesh_check_labels(stream->tml, stream->path, stream->format, piece));
    TML_THEN(status, stream->in_place ? put_piece(stream, part, piece)
                                      : tml_mesh_add_segment(stream, &added));
    for (int i = 0; i < ARRAYS && status == TML_OK && !stream->in_place; i++) {
        spool *to = &stream->spools[i];
        uint64_t rows = i >= INDICES ? piece->triangle_count : piece->vertex_count;
        if (to->row_size)
            status = tml_spool_append(stream, to, array_of(piece, i), rows * to->row_size);
    }
    mesh->vertex_count += piece->vertex_count;
    mesh->triangle_count += piece->triangle_count;
    stream->status = status;
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compare_segments(const void *a, const void *b)
{
    const segment *s = a, *t = b;
    if (s->part != t->part)
        return s->part < t->part ? -1 : 1;
    return (s->vertex_first > t->vertex_first) - (s->vertex_first < t->vertex_first);
}

void tml_mesh_raise(void *indices, bool indices64, size_t size, uint64_t base)
{
    uint8_t *bytes = indices;
    uint64_t wide;
    uint32_t narrow;
    for (size_t i = 0; i < size && indices64; i += sizeof wide) {
        memcpy(&wide, bytes + i, sizeof wide);
        wide += base;
        memcpy(bytes + i, &wide, sizeof wide);
    }
    for (size_t i = 0; i < size && !indices64; i += sizeof narrow) {
        memcpy(&narrow, bytes + i, sizeof narrow);
        narrow += (uint32_t)base;
        memcpy(bytes + i, &narrow, sizeof narrow);
    }
}

/* Copies size bytes of a spool from offset on to the end of another spool. Adds base to indices. */
static tml_status copy_rows(tml_mesh_stream *stream, const spool *from, uint64_t offset,
                            uint64_t size, uint64_t base, uint8_t *buffer, spool *to)
{
    bool is_index = from == &stream->spools[INDICES];
    tml_status status = TML_OK;
    while (size && status == TML_OK) {
        size_t n = size < MESH_COPY ? (size_t)size : MESH_COPY;
        status = tml_spool_read(stream, from, offset, buffer, n);
        if (status == TML_OK && is_index && base)
            tml_mesh_raise(buffer, stream->mesh.indices64, n, base);
        TML_THEN(status, tml_spool_append(stream, to, buffer, n));
        offset += n;
        size -= n;
    }
    return status;
}

tml_status tml_mesh_check_numbers(const tml_mesh_stream *stream)
{
    if (stream->mesh.indices64 || stream->mesh.vertex_count <= (uint64_t)UINT32_MAX + 1)
        return TML_OK;
    return tml_error(stream->tml, TML_ERROR_UNSUPPORTED,
                     "%s: %s: %" PRIu64 " vertices need 64-bit indices; set desc.mesh.indices64",
                     call, stream->path, stream->mesh.vertex_count);
}

/* If there are several parts, sorts the segments by part and makes indices relative to the whole
 * mesh. */
tml_status tml_mesh_order_parts(tml_mesh_stream *stream)
{
    bool in_order = true;
    for (uint64_t i = 0; i < stream->segment_count; i++)
        in_order = in_order && stream->segments[i].part == stream->segments[0].part;
    if (in_order || stream->segment_count == 0)
        return TML_OK;
    tml_status status = stream->soup ? TML_OK : tml_mesh_check_numbers(stream);
    if (status != TML_OK)
        return status;
    qsort(stream->segments, stream->segment_count, sizeof *stream->segments, compare_segments);
    uint8_t *buffer = tml_alloc(stream->tml, MESH_COPY);
    if (!buffer)
        return tml_error(stream->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %d bytes", call,
                         MESH_COPY);
    for (int i = 0; i < ARRAYS && status == TML_OK; i++) {
        spool *from = &stream->spools[i], to = {.fd = -1, .row_size = from->row_size};
        if (!from->row_size)
            continue;
        status = tml_spool_open(stream, &to);
        uint64_t before = 0, base = 0; /* vertices of the segments so far; of earlier parts */
        for (uint64_t k = 0; k < stream->segment_count && status == TML_OK; k++) {
            const segment *s = &stream->segments[k];
            if (k && s->part != s[-1].part)
                base = before;
            before += s->vertex_count;
            status = copy_rows(stream, from, spool_first(s, i) * from->row_size,
                               spool_rows(s, i) * from->row_size, base, buffer, &to);
        }
        tml_spool_close(from);
        *from = to;
    }
    tml_free(stream->tml, buffer, MESH_COPY);
    return status;
}

/* Releases the pages of the mapped arrays. The system's page cache still holds them. */
static void release_spools(void *user)
{
    tml_mesh_stream *stream = user;
    for (int i = 0; i < ARRAYS; i++)
        if (stream->spools[i].mapped)
            tml_io_map_release(stream->spools[i].mapped, (size_t)stream->spools[i].size);
}

tml_status tml_mesh_map_arrays(tml_mesh_stream *stream)
{
    float **const reals[ATTRIBUTES] = {&stream->mesh.positions, &stream->mesh.normals,
                                       &stream->mesh.values};
    static float nothing[3];
    stream->mesh.release_pages = release_spools;
    stream->mesh.user = stream;
    for (int i = 0; i < ARRAYS; i++) {
        spool *s = &stream->spools[i];
        if (!s->row_size)
            continue;
        void *memory = nothing; /* not NULL: an empty array counts as given */
        if (s->size) {
            s->mapped = tml_io_map(s->fd, 0, (size_t)s->size, true);
            if (!s->mapped)
                return mesh_stream_fail(stream, "cannot be mapped");
            tml_io_map_in_order(s->mapped, (size_t)s->size);
            memory = s->mapped;
        }
        if (i == INDICES)
            stream->mesh.indices = memory;
        else if (i == LABELS)
            stream->mesh.face_labels = memory;
        else if (i >= ATTRIBUTES)
            stream->attributes[i - ATTRIBUTES].data = memory;
        else
            *reals[i] = memory;
    }
    return TML_OK;
}

void tml_mesh_unmap_arrays(tml_mesh_stream *stream)
{
    for (int i = 0; i < ARRAYS; i++)
        unmap(&stream->spools[i]);
    stream->mesh.positions = stream->mesh.normals = stream->mesh.values = NULL;
    stream->mesh.indices = stream->mesh.face_labels = NULL;
}

/* Describes each part's rows; segments are sorted. */
static void describe_parts(const tml_mesh_stream *stream, tml_mesh_part *parts)
{
    uint64_t vertices = 0, triangles = 0, p = 0;
    for (uint64_t k = 0; k < stream->segment_count; k++) {
        const segment *s = &stream->segments[k];
        if (k == 0 || s->part != s[-1].part)
            parts[p++] = (tml_mesh_part){.vertex_first = vertices, .triangle_first = triangles};
        parts[p - 1].vertex_count += s->vertex_count;
        parts[p - 1].triangle_count += s->triangle_count;
        vertices += s->vertex_count;
        triangles += s->triangle_count;
    }
}

static tml_status edit_mesh(tml_mesh_stream *stream)
{
    tml_mesh *mesh = &stream->mesh;
    uint64_t count = 0;
    for (uint64_t k = 0; k < stream->segment_count; k++)
        count += k == 0 || stream->segments[k].part != stream->segments[k - 1].part;
    tml_mesh_part *parts = tml_alloc_array(stream->tml, count, sizeof *parts);
    if (!parts)
        return tml_error(stream->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %" PRIu64 " parts", call, count);
    describe_parts(stream, parts);
    mesh->parts = parts;
    mesh->part_count = (uint32_t)count;
    tml_status status = stream->edit(stream->user, mesh);
    mesh->parts = NULL;
    tml_free(stream->tml, parts, count * sizeof *parts);
    return status;
}

tml_status tml_mesh_finish_whole(tml_mesh_stream *stream)
{
    tml_status status = tml_mesh_order_parts(stream);
    TML_THEN(status, tml_mesh_map_arrays(stream));
    TML_THEN(status, tml_mesh_check(stream->tml, &stream->mesh));
    if (status == TML_OK && stream->edit && stream->mesh.triangle_count)
        status = edit_mesh(stream);
    TML_THEN(status,
             tml_mesh_write(stream->tml, stream->path, stream->format, &stream->mesh, NULL));
    return status;
}
