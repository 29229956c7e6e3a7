/* What the mesh writers share. A writer produces its file by rows (of vertices, of triangles): it
 * fills a buffer with as many rows as fit, and the rest is the same for all formats. */
#ifndef TML_MESH_FORMAT_H
#define TML_MESH_FORMAT_H

#include "io/io_internal.h"

/* What each row of a file describes. */
typedef enum mesh_rows {
    MESH_VERTICES,
    MESH_TRIANGLES,
    MESH_TRIANGLE_NUMBERS, /* rows that depend on the triangle's number alone */
    MESH_UVS,
} mesh_rows;

/* The kind of rows that hold a triangle's vertex numbers: without indices they depend on its number
 * alone. */
static inline mesh_rows mesh_face_rows(const tml_mesh *mesh)
{
    return mesh->indices ? MESH_TRIANGLES : MESH_TRIANGLE_NUMBERS;
}

/* Rows that are contiguous in this process's arrays and in the whole mesh. */
typedef struct mesh_stretch {
    uint64_t first, count; /* in the arrays of this process */
    uint64_t place;        /* the first row's number in the whole mesh */
} mesh_stretch;

/* One process's share of a mesh that several write: its arrays hold these stretches, and perhaps
 * other rows, while the mesh's counts and indices are those of the whole mesh. */
typedef struct mesh_share {
    const tml_team *team;
    const mesh_stretch *vertices, *triangles;
    uint32_t stretch_count;
} mesh_share;

/* How to limit the resident memory of a mesh whose arrays are mapped files: let_go releases their
 * pages. Whoever iterates over the arrays calls it (mesh_let_go) every MESH_RELIEF bytes; relief or
 * let_go may be NULL. share: the mesh is a share of a larger one, or NULL. */
typedef struct mesh_relief {
    void (*let_go)(void *user);
    void *user;
    const mesh_share *share;
} mesh_relief;
static inline void mesh_let_go(const mesh_relief *relief)
{
    if (relief && relief->let_go)
        relief->let_go(relief->user);
}
/* Bytes of an array between two calls of let_go. */
enum { MESH_RELIEF = 32 << 20 };

/* The writers, one file each. The mesh is checked. */
typedef tml_status (*mesh_writer)(tml_context *tml, const char *path, const tml_mesh *mesh,
                                  const mesh_relief *relief);
tml_status tml_mesh_write_ply(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief);
tml_status tml_mesh_write_stl(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief);
tml_status tml_mesh_write_obj(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief);
tml_status tml_mesh_write_glb(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief);
tml_status tml_mesh_write_vtp(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief);

/* The writer for a name's ending. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_writer_of(tml_context *tml, const char *path, mesh_writer *out);
/* How several processes write shares of such a file, which needs rows whose sizes are known
 * beforehand. */
typedef enum mesh_sharing {
    MESH_SHARES_NOT,
    MESH_SHARES_NUMBERS, /* triangles are rows of vertex numbers of the whole mesh */
    MESH_SHARES_CORNERS, /* triangles are rows of corners; indices are those of the share */
} mesh_sharing;
mesh_sharing tml_mesh_sharing(mesh_writer write);
/* Checks that counts, pointers and indices are consistent. Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status tml_mesh_check(tml_context *tml, const tml_mesh *mesh,
                                         const mesh_relief *relief);

/* A PLY file that is written in pieces: create writes the header for the counts and arrays of the whole
 * mesh (arrays that are not NULL will come), put the rows of a piece, whose indices are numbers within the
 * whole mesh, at their places. Put needs io_writes_rows. */
TML_MUST_CHECK tml_status tml_ply_create(tml_context *tml, const char *path, const tml_mesh *whole,
                                         const mesh_relief *relief, io_writer *out);
TML_MUST_CHECK tml_status tml_ply_put(io_writer *writer, const tml_mesh *whole,
                                      const tml_mesh *piece, uint64_t vertex_first,
                                      uint64_t triangle_first);

/* The name that messages begin with. */
#define MESH_CALL "tml_mesh_save"

/* Writes rows [first, first + count) to out and returns their size in bytes. Several threads may call it
 * at once. */
typedef size_t (*mesh_fill)(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* Opens a file of size bytes (0: unknown) for writing; with a share, this process's part in it. */
TML_MUST_CHECK tml_status tml_mesh_create(tml_context *tml, const char *path, uint64_t size,
                                          const mesh_relief *relief, io_writer *out);
/* Writes the mesh's rows of one kind, of at most row_size bytes each; with a share, or where the file's
 * size is known, all rows must have exactly that size. */
TML_MUST_CHECK tml_status tml_mesh_write_rows(io_writer *writer, const mesh_relief *relief,
                                              const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                                              mesh_fill fill);

/* mesh_team.c: the same by several processes. */
TML_MUST_CHECK tml_status tml_mesh_team_write_rows(io_writer *writer, const mesh_relief *relief,
                                                   const tml_mesh *mesh, mesh_rows rows,
                                                   size_t row_size, mesh_fill fill);

/* Functions for rows that several formats have, little-endian. */
size_t tml_mesh_fill_positions(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_placed(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_values(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* Copies text as one line of printable ASCII, the one thing that all formats take as it is; the
 * rest becomes '?'. */
void tml_mesh_line(char *out, size_t size, const char *text);

static inline bool mesh_has_origin(const tml_mesh *mesh)
{
    return mesh->origin[0] != 0.0 || mesh->origin[1] != 0.0 || mesh->origin[2] != 0.0;
}

/* A vertex's world coordinate along an axis: origin plus position. */
static inline double mesh_placed(const tml_mesh *mesh, uint64_t vertex, int axis)
{
    return mesh->origin[axis] + (double)mesh->positions[3 * vertex + (uint64_t)axis];
}

/* Vertex of a triangle's corner; corners count through all triangles. */
static inline uint64_t mesh_corner(const tml_mesh *mesh, uint64_t corner)
{
    if (!mesh->indices)
        return corner;
    return mesh->indices64 ? ((const uint64_t *)mesh->indices)[corner]
                           : ((const uint32_t *)mesh->indices)[corner];
}

static inline const char *mesh_value_name(const tml_mesh *mesh)
{
    return mesh->value_name && mesh->value_name[0] ? mesh->value_name : "value";
}

#endif
