/* Meshes that several processes make together. Each process has the pieces of its share. This file
 * finds the places of the pieces in the whole mesh and writes one file.
 *
 * If rows have a fixed size, all processes write at once. Each writes its stretches of every array:
 * a part's rows follow those of lower ranks. For other formats, or if the mesh is edited, rank 0
 * gets all pieces and continues alone.
 *
 * Triangles at the end of a share name vertices of the next share. For files with vertex numbers,
 * adding a base to the numbers suffices. For files with corners (STL, soups), the process borrows
 * the vertices and keeps them after its own. */
#include <inttypes.h>

#include "io/meshes/mesh_spool.h"

static const char call[] = "tml_mesh_stream";

/* The counts of one part. */
typedef struct team_part {
    uint64_t vertices, triangles;               /* in this share */
    uint64_t vertices_before, triangles_before; /* of the part, in the shares of lower ranks */
    uint64_t vertices_all, triangles_all;       /* of the part, in all shares */
    uint64_t lent;                              /* vertices borrowed from the next share */
} team_part;

typedef struct team_mesh {
    tml_mesh_stream *stream;
    const tml_team *team;
    uint32_t part_count;
    team_part *parts;
    uint64_t *numbers; /* 6 per part, for exchanges between ranks */
    mesh_stretch *stretches;
} team_mesh;

/* ---- counts of parts ------------------------------------------------------------------------- */

/* Counts each part's vertices and triangles: in this share, in lower ranks, in all. */
static tml_status count_parts(team_mesh *m)
{
    uint32_t n = m->part_count;
    uint64_t *mine = m->numbers, *before = mine + 2 * (uint64_t)n, *all = before + 2 * (uint64_t)n;
    const tml_mesh_stream *stream = m->stream;
    memset(m->parts, 0, n * sizeof *m->parts);
    for (uint64_t k = 0; k < stream->segment_count; k++) {
        team_part *part = &m->parts[stream->segments[k].part];
        part->vertices += stream->segments[k].vertex_count;
        part->triangles += stream->segments[k].triangle_count;
    }
    for (uint32_t p = 0; p < n; p++) {
        mine[2 * p] = m->parts[p].vertices;
        mine[2 * p + 1] = m->parts[p].triangles;
    }
    tml_status status =
        m->team->scan(m->team->user, stream->tml, 2 * (uint64_t)n, mine, before, all);
    for (uint32_t p = 0; p < n && status == TML_OK; p++) {
        m->parts[p].vertices_before = before[2 * p];
        m->parts[p].triangles_before = before[2 * p + 1];
        m->parts[p].vertices_all = all[2 * p];
        m->parts[p].triangles_all = all[2 * p + 1];
    }
    return status;
}

static uint64_t table_size(uint32_t part_count)
{
    return part_count * (sizeof(team_part) + 6 * sizeof(uint64_t) + 2 * sizeof(mesh_stretch));
}

static tml_status open_parts(team_mesh *m)
{
    const tml_mesh_stream *stream = m->stream;
    uint64_t count = 0, most;
    for (uint64_t k = 0; k < stream->segment_count; k++)
        if (stream->segments[k].part >= count)
            count = stream->segments[k].part + (uint64_t)1;
    tml_status status = tml_mesh_team_largest(stream->tml, m->team, count, &most);
    if (status != TML_OK)
        return status;
    m->part_count = (uint32_t)most;
    m->parts = tml_alloc_array(stream->tml, table_size(m->part_count) + 1, 1);
    if (!m->parts)
        return tml_mesh_team_no_memory(stream->tml, table_size(m->part_count));
    m->numbers = (uint64_t *)(void *)(m->parts + m->part_count);
    m->stretches = (mesh_stretch *)(void *)(m->numbers + 6 * (uint64_t)m->part_count);
    return count_parts(m);
}

/* ---- borrowed vertices ----------------------------------------------------------------------- */

/* Counts the vertices of the next share that each part's triangles name. */
static tml_status count_lent(team_mesh *m, uint8_t *buffer)
{
    tml_mesh_stream *stream = m->stream;
    const spool *indices = &stream->spools[INDICES];
    size_t size = stream->mesh.indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    tml_status status = TML_OK;
    for (uint64_t k = 0; k < stream->segment_count; k++) {
        const segment *s = &stream->segments[k];
        team_part *part = &m->parts[s->part];
        uint64_t at = s->triangle_first * indices->row_size,
                 end = at + s->triangle_count * indices->row_size;
        for (size_t n; at < end && status == TML_OK; at += n) {
            n = end - at < MESH_COPY ? (size_t)(end - at) : MESH_COPY;
            status = tml_spool_read(stream, indices, at, buffer, n);
            const tml_mesh corners = {.indices = buffer, .indices64 = stream->mesh.indices64};
            for (size_t i = 0; i < n / size && status == TML_OK; i++) {
                uint64_t needed = mesh_corner(&corners, i) + 1;
                if (needed > part->vertices + part->lent)
                    part->lent = needed - part->vertices;
            }
        }
    }
    return status;
}

/* Copies the first asked[p] rows of each part p to out. */
static tml_status take_first_rows(team_mesh *m, int array, const uint64_t *asked, uint8_t *out)
{
    tml_mesh_stream *stream = m->stream;
    const spool *from = &stream->spools[array];
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < m->part_count; p++) {
        uint64_t left = asked[p];
        for (uint64_t k = 0; k < stream->segment_count && left && status == TML_OK; k++) {
            const segment *s = &stream->segments[k];
            uint64_t rows = s->vertex_count < left ? s->vertex_count : left;
            if (s->part != p)
                continue;
            status = tml_spool_read(stream, from, s->vertex_first * from->row_size, out,
                                    rows * from->row_size);
            out += rows * from->row_size;
            left -= rows;
        }
        if (left && status == TML_OK)
            status = tml_error(stream->tml, TML_ERROR_INTERNAL,
                               "%s: part %" PRIu32 " of rank %" PRIu32 " has no %" PRIu64
                               " vertices, which triangles of the rank before name",
                               call, p, m->team->rank, asked[p]);
    }
    return status;
}

/* Appends the borrowed vertices to their parts. */
static tml_status add_lent(team_mesh *m, uint8_t *const arrays[ARRAYS])
{
    tml_mesh_stream *stream = m->stream;
    uint64_t at = 0;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < m->part_count && status == TML_OK; p++) {
        uint64_t count = m->parts[p].lent;
        const segment added = {p, stream->mesh.vertex_count, count, stream->mesh.triangle_count, 0};
        if (count)
            status = tml_mesh_add_segment(stream, &added);
        for (int i = 0; i < INDICES && count && status == TML_OK; i++) {
            size_t row = stream->spools[i].row_size;
            if (row)
                status =
                    tml_spool_append(stream, &stream->spools[i], arrays[i] + at * row, count * row);
        }
        stream->mesh.vertex_count += count;
        at += count;
    }
    return status;
}

static tml_status exchange_lent(team_mesh *m, const uint64_t *asked)
{
    tml_context *tml = m->stream->tml;
    uint64_t lent = 0, given = 0;
    uint8_t *in[ARRAYS] = {0}, *out = NULL;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < m->part_count; p++) {
        lent += m->parts[p].lent;
        given += asked[p];
    }
    for (int i = 0; i < INDICES && status == TML_OK; i++) {
        uint64_t row = m->stream->spools[i].row_size;
        if (!row)
            continue;
        in[i] = tml_alloc_array(tml, lent * row + 1, 1);
        out = tml_alloc_array(tml, given * row + 1, 1);
        if (!in[i] || !out)
            status = tml_mesh_team_no_memory(tml, (lent + given) * row);
        TML_THEN(status, take_first_rows(m, i, asked, out));
        TML_THEN(status,
                 m->team->shift(m->team->user, tml, true, out, given * row, in[i], lent * row));
        tml_free(tml, out, given * row + 1);
    }
    TML_THEN(status, add_lent(m, in));
    for (int i = 0; i < INDICES; i++)
        if (in[i])
            tml_free(tml, in[i], lent * m->stream->spools[i].row_size + 1);
    return status;
}

static tml_status borrow(team_mesh *m)
{
    tml_context *tml = m->stream->tml;
    uint64_t *wanted = m->numbers, *asked = wanted + m->part_count, size;
    uint8_t *buffer = tml_alloc(tml, MESH_COPY);
    tml_status status = buffer ? count_lent(m, buffer) : tml_mesh_team_no_memory(tml, MESH_COPY);
    tml_free(tml, buffer, buffer ? MESH_COPY : 0);
    for (uint32_t p = 0; p < m->part_count; p++) {
        wanted[p] = m->parts[p].lent;
        asked[p] = 0;
    }
    size = m->part_count * sizeof *wanted;
    bool is_last = m->team->rank + 1 == m->team->count;
    TML_THEN(status, m->team->shift(m->team->user, tml, false, wanted, is_last ? 0 : size, asked,
                                    m->team->rank ? size : 0));
    return status == TML_OK ? exchange_lent(m, asked) : status;
}

/* ---- soups ----------------------------------------------------------------------------------- */

/* Appends the array's rows of all triangles' corners to a spool. */
static tml_status spread_rows(team_mesh *m, int array, uint8_t *buffer, spool *to)
{
    tml_mesh_stream *stream = m->stream;
    const uint8_t *rows = stream->spools[array].mapped;
    size_t row = to->row_size, used = 0;
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < 3 * stream->mesh.triangle_count && status == TML_OK; i++) {
        memcpy(buffer + used, rows + mesh_corner(&stream->mesh, i) * row, row);
        used += row;
        if (used + row <= MESH_COPY)
            continue;
        status = tml_spool_append(stream, to, buffer, used);
        used = 0;
    }
    return status == TML_OK ? tml_spool_append(stream, to, buffer, used) : status;
}

/* Converts the pieces and the borrowed vertices to a soup: triangles without shared vertices, one
 * piece per part. */
static tml_status make_soup(team_mesh *m)
{
    tml_mesh_stream *stream = m->stream;
    uint8_t *buffer = tml_alloc(stream->tml, MESH_COPY);
    tml_status status =
        buffer ? tml_mesh_order_parts(stream) : tml_mesh_team_no_memory(stream->tml, MESH_COPY);
    TML_THEN(status, tml_mesh_map_arrays(stream));
    spool soup[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        soup[i] = (spool){.fd = -1, .row_size = i < INDICES ? stream->spools[i].row_size : 0};
        if (!soup[i].row_size || status != TML_OK)
            continue;
        status = tml_spool_open(stream, &soup[i]);
        TML_THEN(status, spread_rows(m, i, buffer, &soup[i]));
    }
    tml_mesh_unmap_arrays(stream);
    for (int i = 0; i < ARRAYS; i++) {
        tml_spool_close(&stream->spools[i]);
        stream->spools[i] = soup[i];
    }
    tml_free(stream->tml, buffer, buffer ? MESH_COPY : 0);
    stream->soup = true;
    stream->segment_count = 0;
    stream->mesh.vertex_count = 3 * stream->mesh.triangle_count;
    uint64_t first = 0;
    for (uint32_t p = 0; p < m->part_count && status == TML_OK; p++) {
        uint64_t count = m->parts[p].triangles;
        const segment part = {p, 3 * first, 3 * count, first, count};
        if (count)
            status = tml_mesh_add_segment(stream, &part);
        first += count;
    }
    return status == TML_OK ? count_parts(m) : status;
}

/* ---- all pieces to rank 0 -------------------------------------------------------------------- */

/* Makes indices relative to the part in place of the share. */
static tml_status raise_segments(team_mesh *m, uint8_t *buffer)
{
    tml_mesh_stream *stream = m->stream;
    spool *indices = &stream->spools[INDICES];
    tml_status status = TML_OK;
    uint64_t end = indices->size;
    for (uint64_t k = 0; k < stream->segment_count && !stream->soup; k++) {
        const segment *s = &stream->segments[k];
        uint64_t at = s->triangle_first * indices->row_size;
        uint64_t left = s->triangle_count * indices->row_size;
        for (size_t n; left && status == TML_OK; left -= n, at += n) {
            n = left < MESH_COPY ? (size_t)left : MESH_COPY;
            status = tml_spool_read(stream, indices, at, buffer, n);
            tml_mesh_raise(buffer, stream->mesh.indices64, n, m->parts[s->part].vertices_before);
            indices->size = at; /* tml_spool_append writes there */
            TML_THEN(status, tml_spool_append(stream, indices, buffer, n));
        }
    }
    indices->size = end;
    return status;
}

/* Appends size bytes of a rank's array to rank 0's array. */
static tml_status collect_array(team_mesh *m, uint32_t from, int array, uint64_t size,
                                uint8_t *buffer)
{
    tml_mesh_stream *stream = m->stream;
    spool *s = &stream->spools[array];
    tml_status status = TML_OK;
    for (uint64_t at = 0; at < size && status == TML_OK;) {
        size_t n = size - at < MESH_COPY ? (size_t)(size - at) : MESH_COPY;
        if (m->team->rank == from)
            status = tml_spool_read(stream, s, at, buffer, n);
        TML_THEN(status, m->team->collect(m->team->user, stream->tml, from, buffer, n));
        if (status == TML_OK && m->team->rank == 0)
            status = tml_spool_append(stream, s, buffer, n);
        at += n;
    }
    return status;
}

/* Appends all pieces of another rank to those of rank 0. */
static tml_status collect_rank(team_mesh *m, uint32_t from, const uint64_t counts[3],
                               uint8_t *buffer)
{
    tml_mesh_stream *stream = m->stream;
    const tml_team *team = m->team;
    uint64_t size = counts[0] * sizeof(segment);
    bool is_sender = team->rank == from;
    segment *segments = stream->segments;
    if (!is_sender)
        segments = team->rank == 0 ? tml_alloc_array(stream->tml, size + 1, 1) : NULL;
    tml_status status =
        segments || size == 0 || team->rank ? TML_OK : tml_mesh_team_no_memory(stream->tml, size);
    TML_THEN(status, team->collect(team->user, stream->tml, from, segments, size));
    for (uint64_t k = 0; k < counts[0] && team->rank == 0 && status == TML_OK; k++) {
        segments[k].vertex_first += stream->mesh.vertex_count;
        segments[k].triangle_first += stream->mesh.triangle_count;
        status = tml_mesh_add_segment(stream, &segments[k]);
    }
    if (!is_sender)
        tml_free(stream->tml, segments, size + 1);
    for (int i = 0; i < ARRAYS && status == TML_OK; i++)
        status = collect_array(m, from, i,
                               counts[i >= INDICES ? 2 : 1] * stream->spools[i].row_size, buffer);
    if (team->rank == 0) {
        stream->mesh.vertex_count += counts[1];
        stream->mesh.triangle_count += counts[2];
    }
    return status;
}

static tml_status collect_all(team_mesh *m)
{
    tml_mesh_stream *stream = m->stream;
    const tml_team *team = m->team;
    const uint64_t mine[3] = {stream->segment_count, stream->mesh.vertex_count,
                              stream->mesh.triangle_count};
    uint64_t size = 3 * team->count * sizeof *mine;
    uint8_t *buffer = tml_alloc(stream->tml, MESH_COPY);
    uint64_t *counts = tml_alloc_array(stream->tml, size, 1);
    tml_status status =
        buffer && counts ? raise_segments(m, buffer) : tml_mesh_team_no_memory(stream->tml, size);
    TML_THEN(status, team->gather(team->user, stream->tml, 3, mine, counts));
    for (uint32_t r = 1; r < team->count && status == TML_OK; r++)
        status = collect_rank(m, r, counts + 3 * (uint64_t)r, buffer);
    tml_free(stream->tml, buffer, buffer ? MESH_COPY : 0);
    tml_free(stream->tml, counts, counts ? size : 0);
    return status;
}

/* ---- all ranks write ------------------------------------------------------------------------- */

/* Computes the stretches of all parts. Sets the mesh's counts to those of the whole mesh. */
static void place_stretches(team_mesh *m)
{
    mesh_stretch *vertices = m->stretches, *triangles = vertices + m->part_count;
    uint64_t v = 0, t = 0, v_all = 0, t_all = 0;
    for (uint32_t p = 0; p < m->part_count; p++) {
        const team_part *part = &m->parts[p];
        vertices[p] = (mesh_stretch){v, part->vertices, v_all + part->vertices_before};
        triangles[p] = (mesh_stretch){t, part->triangles, t_all + part->triangles_before};
        v += part->vertices + part->lent;
        t += part->triangles;
        v_all += part->vertices_all;
        t_all += part->triangles_all;
    }
    m->stream->mesh.vertex_count = v_all;
    m->stream->mesh.triangle_count = t_all;
}

/* Makes indices relative to the whole mesh. */
static tml_status raise_parts(const team_mesh *m)
{
    tml_mesh_stream *stream = m->stream;
    const mesh_stretch *vertices = m->stretches, *triangles = vertices + m->part_count;
    size_t row = stream->spools[INDICES].row_size;
    uint8_t *indices = stream->spools[INDICES].mapped;
    tml_status status = tml_mesh_check_numbers(stream);
    if (status != TML_OK)
        return status;
    for (uint32_t p = 0; p < m->part_count && indices; p++)
        tml_mesh_raise(indices + triangles[p].first * row, stream->mesh.indices64,
                       triangles[p].count * row, vertices[p].place - vertices[p].first);
    return TML_OK;
}

static tml_status write_share(team_mesh *m)
{
    tml_mesh_stream *stream = m->stream;
    tml_status status = tml_mesh_order_parts(stream);
    TML_THEN(status, tml_mesh_map_arrays(stream));
    if (status != TML_OK)
        return status;
    tml_mesh here = stream->mesh;
    place_stretches(m);
    if (!stream->soup && stream->format->sharing == MESH_SHARES_NUMBERS) {
        here.vertex_count = stream->mesh.vertex_count;
        status = raise_parts(m);
    }
    const mesh_share share = {m->team, m->stretches, m->stretches + m->part_count, m->part_count};
    TML_THEN(status, tml_mesh_check(stream->tml, &here));
    TML_THEN(status,
             tml_mesh_write(stream->tml, stream->path, stream->format, &stream->mesh, &share));
    return status;
}

tml_status tml_mesh_team_finish(tml_mesh_stream *stream)
{
    team_mesh m = {.stream = stream, .team = stream->team};
    mesh_sharing sharing = stream->edit ? MESH_SHARES_NOT : stream->format->sharing;
    tml_status status = open_parts(&m);
    if (status == TML_OK && (stream->team_soup || sharing == MESH_SHARES_CORNERS))
        status = borrow(&m);
    if (status == TML_OK && stream->team_soup)
        status = make_soup(&m);
    if (status == TML_OK && sharing == MESH_SHARES_NOT) {
        status = collect_all(&m);
        if (status == TML_OK && m.team->rank == 0)
            status = tml_mesh_finish_whole(stream);
    } else if (status == TML_OK) {
        status = write_share(&m);
    }
    uint64_t done;
    if (status == TML_OK) /* a rank returns success only after rank 0 has succeeded */
        status = tml_mesh_team_largest(stream->tml, stream->team, 0, &done);
    if (m.parts)
        tml_free(stream->tml, m.parts, table_size(m.part_count) + 1);
    return status;
}
