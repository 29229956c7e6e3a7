/* What the mesh writers share. A writer makes its file from rows (vertices, triangles): it fills a
 * buffer with as many as fit, and the rest is the same for all. */
#ifndef TML_MESH_FORMAT_H
#define TML_MESH_FORMAT_H

#include "io/io_internal.h"

/* What the rows of a file are of. */
typedef enum mesh_rows {
    MESH_VERTICES,
    MESH_TRIANGLES,
    MESH_TRIANGLE_NUMBERS, /* rows that follow from the triangle's number alone */
    MESH_UVS,
} mesh_rows;

/* Rows of vertices' numbers: of a soup, they follow from the triangle's. */
static inline mesh_rows mesh_face_rows(const tml_mesh *mesh)
{
    return mesh->indices ? MESH_TRIANGLES : MESH_TRIANGLE_NUMBERS;
}

/* Rows of the arrays that lie one after another in the whole mesh, too. */
typedef struct mesh_stretch {
    uint64_t first, count; /* here */
    uint64_t place;        /* of the first in the whole */
} mesh_stretch;

/* One process's share of a mesh that several write: the arrays hold these stretches, and perhaps other
 * rows, while the mesh's counts and indices are those of the whole. */
typedef struct mesh_share {
    const tml_team *team;
    const mesh_stretch *vertices, *triangles;
    uint32_t stretch_count;
} mesh_share;

/* Of a mesh in mapped files: forgets what lies in memory of its arrays. Called now and then by whoever goes
 * through them; a NULL relief or a NULL function is none. Of a share: says so. */
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
/* Bytes of an array between two calls. */
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
/* How several processes write shares of such a file: rows must have sizes that are known beforehand. */
typedef enum mesh_sharing {
    MESH_SHARES_NOT,
    MESH_SHARES_NUMBERS, /* triangles are rows of vertices' numbers in the whole */
    MESH_SHARES_CORNERS, /* ... of corners, which indices say where to find in the arrays here */
} mesh_sharing;
mesh_sharing tml_mesh_sharing(mesh_writer write);
/* Are counts, pointers and indices those of a mesh? Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status tml_mesh_check(tml_context *tml, const tml_mesh *mesh,
                                         const mesh_relief *relief);

/* The name that messages begin with. */
#define MESH_CALL "tml_mesh_save"

/* Puts rows [first, first + count) at out and returns how many bytes they are. */
typedef size_t (*mesh_fill)(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* Begins a file of size bytes (0: not known), or, of a share, this process's part in it. */
TML_MUST_CHECK tml_status tml_mesh_create(tml_context *tml, const char *path, uint64_t size,
                                          const mesh_relief *relief, io_writer *out);
/* Writes the mesh's rows of one kind, at most row_size bytes each, a buffer at a time; of a share, exactly
 * so many. */
TML_MUST_CHECK tml_status tml_mesh_write_rows(io_writer *writer, const mesh_relief *relief,
                                              const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                                              mesh_fill fill);

/* src/io/mesh_team.c: the same, by several processes. */
TML_MUST_CHECK tml_status tml_mesh_team_write_rows(io_writer *writer, const mesh_relief *relief,
                                                   const tml_mesh *mesh, mesh_rows rows,
                                                   size_t row_size, mesh_fill fill);

/* Fills that several formats need; little-endian. */
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

/* Coordinate axis of a vertex in the world. */
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
