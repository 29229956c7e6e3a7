/* What the mesh writers share. A writer produces its file by rows (of vertices, of triangles): it
 * fills a buffer with as many rows as fit, and the rest is the same for all formats. */
#ifndef TML_MESH_FORMAT_H
#define TML_MESH_FORMAT_H

#include <trommel/meshes.h>

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

/* Limits the resident memory of a mesh whose arrays are mapped files: whoever iterates over the
 * arrays calls it every MESH_RELIEF bytes. */
static inline void mesh_release_pages(const tml_mesh *mesh)
{
    if (mesh->release_pages)
        mesh->release_pages(mesh->user);
}
enum { MESH_RELIEF = 32 << 20 };

/* Writes rows [first, first + count) to out and returns their size in bytes. Several threads may
 * call it at once. */
typedef size_t (*mesh_fill)(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* A stretch of a file: bytes of the layout's text, or rows of the mesh, each of exactly row_size
 * bytes. */
typedef struct mesh_chunk {
    mesh_fill fill; /* NULL: text */
    mesh_rows rows;
    size_t row_size;
    uint64_t size;      /* bytes */
    uint32_t attribute; /* that fill takes for the mesh's first */
} mesh_chunk;

enum {
    MESH_TEXT_MAX = 5120 + TML_MESH_MAX_ATTRIBUTES * 1024,
    MESH_CHUNKS_MAX = 12 + 2 * TML_MESH_MAX_ATTRIBUTES
};

/* A file, stretch after stretch. */
typedef struct mesh_layout {
    char text[MESH_TEXT_MAX]; /* of all chunks that are text */
    size_t text_size;
    mesh_chunk chunks[MESH_CHUNKS_MAX];
    uint32_t chunk_count;
    uint64_t size; /* bytes of the file */
} mesh_layout;

/* Append text, which must fit, or the mesh's rows of one kind. Numbers with a point: see
 * tml_io_print. */
void tml_layout_bytes(mesh_layout *layout, const void *bytes, size_t size);
void tml_layout_print(mesh_layout *layout, const char *format, ...) TML_FORMAT(2, 3);
void tml_layout_rows(mesh_layout *layout, const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                     mesh_fill fill);
void tml_layout_attribute(mesh_layout *layout, const tml_mesh *mesh, uint32_t number,
                          size_t row_size, mesh_fill fill);

/* Of the positions of a mesh. */
typedef struct mesh_box {
    float lower[3], upper[3];
} mesh_box;

/* How several processes write shares of a file, which needs a layout. */
typedef enum mesh_sharing {
    MESH_SHARES_NOT,
    MESH_SHARES_NUMBERS, /* triangles are rows of vertex numbers of the whole mesh */
    MESH_SHARES_CORNERS, /* triangles are rows of corners; indices are those of the share */
} mesh_sharing;

typedef struct mesh_format {
    const char *ending;
    /* The layout of a file for a mesh of these counts and origin; arrays that are not NULL are
     * there, and are not looked at. box is NULL unless has_box. The size of the text depends
     * neither on the box nor on positions. NULL: rows have no fixed size, and write makes the
     * file. */
    tml_status (*describe)(tml_context *tml, const char *path, const tml_mesh *mesh,
                           const mesh_box *box, mesh_layout *out);
    tml_status (*write)(tml_context *tml, const char *path, const tml_mesh *mesh);
    mesh_sharing sharing;
    bool has_box; /* of finite numbers */
    bool has_quads;
} mesh_format;
/* Do labels of 64 bits fit in 32? UNSUPPORTED, with the first that does not. */
TML_MUST_CHECK tml_status tml_ply_check_labels(tml_context *tml, const char *path,
                                               const tml_mesh *mesh);
tml_status tml_ply_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
/* Warns where floats are too coarse for a mesh at its place: STL has no doubles, and no origin. */
void tml_stl_tell_of_rounding(tml_context *tml, const char *path, const tml_mesh *mesh);
tml_status tml_stl_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_glb_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_vtp_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_mesh_write_obj(tml_context *tml, const char *path, const tml_mesh *mesh);

/* The format of a name's ending. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_format_of(tml_context *tml, const char *path,
                                             const mesh_format **out);
/* Writes a file. The mesh is checked. share: it is a share of a larger one, or NULL. */
TML_MUST_CHECK tml_status tml_mesh_write(tml_context *tml, const char *path,
                                         const mesh_format *format, const tml_mesh *mesh,
                                         const mesh_share *share);
/* Errors: UNSUPPORTED where the file would be of quads that its format has not. */
TML_MUST_CHECK tml_status tml_mesh_check_quads(tml_context *tml, const char *path,
                                               const mesh_format *format, bool quads);
/* Errors: UNSUPPORTED where the format has no room for a label of 64 bits. */
TML_MUST_CHECK tml_status tml_mesh_check_labels(tml_context *tml, const char *path,
                                                const mesh_format *format, const tml_mesh *mesh);
/* Checks that counts, pointers and indices are consistent. Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status tml_mesh_check(tml_context *tml, const tml_mesh *mesh);

/* A file that is written in pieces, where io_writes_rows: its text, and the rows of a piece, the
 * first of which are these of the whole mesh. The piece's indices are numbers from base on in the
 * whole mesh. */
TML_MUST_CHECK tml_status tml_mesh_put_text(io_writer *writer, const mesh_layout *layout);
TML_MUST_CHECK tml_status tml_mesh_put_rows(io_writer *writer, const mesh_layout *layout,
                                            const tml_mesh *piece, uint64_t base,
                                            uint64_t vertex_first, uint64_t triangle_first);

/* The box of no positions; adding a mesh's. Errors: INVALID_ARGUMENT (a position is not finite). */
mesh_box tml_mesh_box_empty(void);
TML_MUST_CHECK tml_status tml_mesh_box_add(tml_context *tml, const char *path, const tml_mesh *mesh,
                                           mesh_box *box);

/* The name that messages begin with. */
#define MESH_CALL "tml_mesh_save"

/* Writes the mesh's rows of one kind, of at most row_size bytes each; with a share, or where the
 * file's size is known, all rows must have exactly that size. */
TML_MUST_CHECK tml_status tml_mesh_write_rows(io_writer *writer, const mesh_share *share,
                                              const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                                              mesh_fill fill);

/* mesh_stretches.c: the same by several processes, of which each has so many bytes of a buffer. */
enum { TEAM_BUFFER = 8 << 20 };
TML_MUST_CHECK tml_status tml_mesh_team_write_rows(io_writer *writer, const mesh_share *share,
                                                   const tml_mesh *mesh, mesh_rows rows,
                                                   size_t row_size, mesh_fill fill);
/* *out: the largest of all ranks' numbers. */
TML_MUST_CHECK tml_status tml_mesh_team_largest(tml_context *tml, const tml_team *team,
                                                uint64_t mine, uint64_t *out);
/* Records and returns OUT_OF_MEMORY. */
tml_status tml_mesh_team_no_memory(tml_context *tml, uint64_t size);

/* Functions for rows that several formats have, little-endian. */
size_t tml_mesh_fill_positions(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_placed(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_values(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* Rows of two labels, and their size. */
size_t tml_mesh_fill_labels(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_labels_size(const tml_mesh *mesh);

/* Is it a colour? Then its rows in PLY and VTP are bytes. */
/* Are the attributes what tml_mesh says of them? */
TML_MUST_CHECK tml_status tml_mesh_check_attributes(tml_context *tml, const tml_mesh *mesh);
bool tml_mesh_is_color(const tml_mesh_attribute *attribute);
size_t tml_mesh_attribute_size(const tml_mesh_attribute *attribute);
/* Rows of the first attribute: floats, or a colour's bytes. */
size_t tml_mesh_fill_attribute(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
/* A mesh whose first attribute is that one, for functions that fill rows. */
static inline tml_mesh mesh_with_attribute(const tml_mesh *mesh, uint32_t number)
{
    tml_mesh with = *mesh;
    with.attributes = mesh->attributes ? mesh->attributes + number : NULL;
    return with;
}

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

/* Corners of a face. */
static inline uint64_t mesh_corners(const tml_mesh *mesh)
{
    return mesh->quads ? 4 : 3;
}

/* Vertex of a face's corner; corners count through all faces. */
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
