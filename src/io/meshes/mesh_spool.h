/* A mesh that is saved in pieces: mesh_stream.c keeps the pieces in unlinked files until the end,
 * and mesh_team.c makes one file of several processes' pieces. */
#ifndef TML_MESH_SPOOL_H
#define TML_MESH_SPOOL_H

#include <trommel/meshes.h>

#include "io/meshes/mesh_format.h"

/* The arrays of vertices, then those of triangles. */
enum {
    POSITIONS,
    NORMALS,
    VALUES,
    ATTRIBUTES,
    INDICES = ATTRIBUTES + TML_MESH_MAX_ATTRIBUTES,
    LABELS,
    ARRAYS
};
enum { MESH_COPY = 1 << 20 };

typedef struct spool {
    int fd;          /* -1: none */
    size_t row_size; /* bytes per vertex or triangle */
    uint64_t size;
    void *mapped;
} spool;

/* One piece of the mesh: rows of the spools. */
typedef struct segment {
    uint32_t part;
    uint64_t vertex_first, vertex_count; /* rows in the spools */
    uint64_t triangle_first, triangle_count;
} segment;

/* A part's rows in a file that is written in place. */
typedef struct mesh_place {
    uint64_t vertex_first, vertex_count; /* rows in the file */
    uint64_t triangle_first, triangle_count;
    uint64_t vertices, triangles; /* written so far */
} mesh_place;

struct tml_mesh_stream {
    tml_context *tml;
    char path[IO_PATH_SIZE];
    char folder[IO_PATH_SIZE]; /* folder and name of the target, a prefix of the spools' names */
    const mesh_format *format;
    tml_mesh mesh; /* counts and arrays of the whole mesh */
    bool soup;     /* pieces have no indices */
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
    const tml_team *team;
    bool team_soup; /* pieces have indices; the file becomes a soup */
    char value_name[64], comment[256];
    char attribute_names[TML_MESH_MAX_ATTRIBUTES][64];
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
    spool spools[ARRAYS];
    segment *segments;
    uint64_t segment_count, segment_room;
    bool in_place;    /* each piece is written to the file at once; no spools */
    io_writer writer; /* of the file in place */
    tml_mesh whole;   /* the mesh's counts; an array is not NULL if pieces have it */
    mesh_layout layout;
    mesh_box box;
    mesh_place *places; /* one per part */
    uint32_t place_count;
    tml_status status; /* the first failure */
};

/* Opens an unlinked file beside the target. Errors: FILE_ACCESS. */
TML_MUST_CHECK tml_status tml_spool_open(tml_mesh_stream *stream, spool *out);
TML_MUST_CHECK tml_status tml_spool_append(tml_mesh_stream *stream, spool *to, const void *data,
                                           uint64_t size);
TML_MUST_CHECK tml_status tml_spool_read(tml_mesh_stream *stream, const spool *from,
                                         uint64_t offset, void *out, size_t size);
void tml_spool_close(spool *s);
static inline uint64_t spool_rows(const segment *s, int array)
{
    return array >= INDICES ? s->triangle_count : s->vertex_count;
}
static inline uint64_t spool_first(const segment *s, int array)
{
    return array >= INDICES ? s->triangle_first : s->vertex_first;
}

TML_MUST_CHECK tml_status tml_mesh_add_segment(tml_mesh_stream *stream, const segment *piece);
/* Adds base to indices of 32 or 64 bits. size: bytes of all indices. */
void tml_mesh_raise(void *indices, bool indices64, size_t size, uint64_t base);
/* Checks that the type of indices can name all vertices. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_check_numbers(const tml_mesh_stream *stream);
/* tml_mesh_order_parts sorts the pieces by part and makes indices relative to the whole mesh.
 * tml_mesh_map_arrays then maps the spools as the mesh's arrays. */
TML_MUST_CHECK tml_status tml_mesh_order_parts(tml_mesh_stream *stream);
TML_MUST_CHECK tml_status tml_mesh_map_arrays(tml_mesh_stream *stream);
void tml_mesh_unmap_arrays(tml_mesh_stream *stream);
/* Orders, maps, edits and writes the pieces that this process has. */
TML_MUST_CHECK tml_status tml_mesh_finish_whole(tml_mesh_stream *stream);

void tml_mesh_stream_free(tml_mesh_stream *stream);

/* Writes one file from the pieces of all streams of the team. */
TML_MUST_CHECK tml_status tml_mesh_team_finish(tml_mesh_stream *stream);

#endif
