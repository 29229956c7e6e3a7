/* Shared by the mesh writers. A writer describes its file as a layout of text and rows (of
 * vertices, of triangles) and fills a buffer with as many rows as fit. All formats share the
 * rest. */
#ifndef TML_MESH_FORMAT_H
#define TML_MESH_FORMAT_H

#include <trommel/meshes.h>

#include "io/io_internal.h"

/* The elements that a file's rows describe. */
typedef enum mesh_rows {
    MESH_VERTICES,
    MESH_TRIANGLES,
    MESH_TRIANGLE_NUMBERS, /* rows that depend only on the triangle's number */
    MESH_UVS,
} mesh_rows;

/* Returns the kind of rows that hold a triangle's vertex numbers. Without indices, the vertex
 * numbers depend only on the triangle's number. */
static inline mesh_rows mesh_face_rows(const tml_mesh *mesh)
{
    return mesh->indices ? MESH_TRIANGLES : MESH_TRIANGLE_NUMBERS;
}

/* Rows that are contiguous both in this process's arrays and in the whole mesh. */
typedef struct mesh_stretch {
    uint64_t first, count; /* in the arrays of this process */
    uint64_t place;        /* number of the first row in the whole mesh */
} mesh_stretch;

/* One process's share of a mesh that several processes write. Its arrays hold these stretches, and
 * perhaps other rows. The mesh's counts and indices are those of the whole mesh. */
typedef struct mesh_share {
    const tml_team *team;
    const mesh_stretch *vertices, *triangles;
    uint32_t stretch_count;
} mesh_share;

/* Limits the resident memory of a mesh whose arrays are mapped files. Loops over the arrays call it
 * every MESH_RELIEF bytes. */
static inline void mesh_release_pages(const tml_mesh *mesh)
{
    if (mesh->release_pages)
        mesh->release_pages(mesh->user);
}
enum { MESH_RELIEF = 32 << 20 };

/* Writes rows [first, first + count) to out. Several threads may call it at once. Returns the size
 * of the rows in bytes. */
typedef size_t (*mesh_fill)(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* A range of a file: text, or rows of the mesh, each of exactly row_size bytes. */
typedef struct mesh_chunk {
    mesh_fill fill; /* NULL: text */
    mesh_rows rows;
    size_t row_size;
    uint64_t size;      /* bytes */
    uint32_t attribute; /* number of the one that fill gets as the first */
} mesh_chunk;

enum {
    MESH_TEXT_MAX = 5120 + TML_MESH_MAX_ATTRIBUTES * 1024,
    MESH_CHUNKS_MAX = 12 + 2 * TML_MESH_MAX_ATTRIBUTES
};

/* A file as a list of chunks. */
typedef struct mesh_layout {
    char text[MESH_TEXT_MAX]; /* the text of all chunks */
    size_t text_size;
    mesh_chunk chunks[MESH_CHUNKS_MAX];
    uint32_t chunk_count;
    uint64_t size; /* bytes of the file */
} mesh_layout;

/* Append text, which must fit, or the mesh's rows of one kind. For reals see tml_io_print. */
void tml_layout_bytes(mesh_layout *layout, const void *bytes, size_t size);
void tml_layout_print(mesh_layout *layout, const char *format, ...) TML_FORMAT(2, 3);
void tml_layout_rows(mesh_layout *layout, const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                     mesh_fill fill);
void tml_layout_attribute(mesh_layout *layout, const tml_mesh *mesh, uint32_t number,
                          size_t row_size, mesh_fill fill);

/* The box of a mesh's positions. */
typedef struct mesh_box {
    float lower[3], upper[3];
} mesh_box;

/* How several processes can write shares of a file. A file without a layout cannot be shared. */
typedef enum mesh_sharing {
    MESH_SHARES_NOT,
    MESH_SHARES_NUMBERS, /* a triangle is a row of vertex numbers of the whole mesh */
    MESH_SHARES_CORNERS, /* a triangle is a row of corners; indices are the share's */
} mesh_sharing;

typedef struct mesh_format {
    const char *ending;
    /* Makes the layout of a file for a mesh of these counts and origin. Only checks which arrays
     * are NULL and reads none. The size of the text depends neither on the box nor on positions.
     * NULL: rows have no fixed size, and write makes the file.
     * box   used only if has_box */
    tml_status (*describe)(tml_context *tml, const char *path, const tml_mesh *mesh,
                           const mesh_box *box, mesh_layout *out);
    tml_status (*write)(tml_context *tml, const char *path, const tml_mesh *mesh);
    mesh_sharing sharing;
    bool has_box; /* requires finite positions and their box */
    bool has_quads;
} mesh_format;
/* Checks that labels of 64 bits fit in 32. Errors: UNSUPPORTED, with the first that does not. */
TML_MUST_CHECK tml_status tml_ply_check_labels(tml_context *tml, const char *path,
                                               const tml_mesh *mesh);
tml_status tml_ply_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
/* Logs a warning if floats are too coarse for the mesh's coordinates: STL has no doubles and no
 * origin. */
void tml_stl_tell_of_rounding(tml_context *tml, const char *path, const tml_mesh *mesh);
tml_status tml_stl_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_glb_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_vtp_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out);
tml_status tml_mesh_write_obj(tml_context *tml, const char *path, const tml_mesh *mesh);

/* Finds the format by the ending of a name. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_format_of(tml_context *tml, const char *path,
                                             const mesh_format **out);
/* Writes a file of a mesh that has been checked.
 * share   this process's share of a larger mesh, or NULL */
TML_MUST_CHECK tml_status tml_mesh_write(tml_context *tml, const char *path,
                                         const mesh_format *format, const tml_mesh *mesh,
                                         const mesh_share *share);
/* Checks that the format has quads if quads are to be written. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_check_quads(tml_context *tml, const char *path,
                                               const mesh_format *format, bool quads);
/* Checks that the format has room for labels of 64 bits. Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_mesh_check_labels(tml_context *tml, const char *path,
                                                const mesh_format *format, const tml_mesh *mesh);
/* Checks that counts, pointers and indices are consistent. Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status tml_mesh_check(tml_context *tml, const tml_mesh *mesh);

/* Write a file in pieces; require io_writes_rows. tml_mesh_put_text writes the text,
 * tml_mesh_put_rows the rows of a piece.
 * base   vertex of the whole mesh that the piece's index 0 names
 * vertex_first, triangle_first   numbers of the piece's first rows in the whole mesh */
TML_MUST_CHECK tml_status tml_mesh_put_text(io_writer *writer, const mesh_layout *layout);
TML_MUST_CHECK tml_status tml_mesh_put_rows(io_writer *writer, const mesh_layout *layout,
                                            const tml_mesh *piece, uint64_t base,
                                            uint64_t vertex_first, uint64_t triangle_first);

/* Makes an empty box; adds a mesh's positions to a box. Errors: INVALID_ARGUMENT if a position is
 * not finite. */
mesh_box tml_mesh_box_empty(void);
TML_MUST_CHECK tml_status tml_mesh_box_add(tml_context *tml, const char *path, const tml_mesh *mesh,
                                           mesh_box *box);

/* The function that messages name. */
#define MESH_CALL "tml_mesh_save"

/* Writes the mesh's rows of one kind, of at most row_size bytes each. With a share, or if the
 * file's size is known, each row must have exactly that size. */
TML_MUST_CHECK tml_status tml_mesh_write_rows(io_writer *writer, const mesh_share *share,
                                              const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                                              mesh_fill fill);

/* mesh_stretches.c: tml_mesh_write_rows by several processes. Each has a buffer of that many
 * bytes. */
enum { TEAM_BUFFER = 8 << 20 };
TML_MUST_CHECK tml_status tml_mesh_team_write_rows(io_writer *writer, const mesh_share *share,
                                                   const tml_mesh *mesh, mesh_rows rows,
                                                   size_t row_size, mesh_fill fill);
/* *out receives the largest of all ranks' numbers. */
TML_MUST_CHECK tml_status tml_mesh_team_largest(tml_context *tml, const tml_team *team,
                                                uint64_t mine, uint64_t *out);
/* Records and returns OUT_OF_MEMORY. */
tml_status tml_mesh_team_no_memory(tml_context *tml, uint64_t size);

/* Fill functions that several formats share. All numbers are little-endian. */
size_t tml_mesh_fill_positions(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_placed(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_fill_values(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);

/* Rows of two labels: fills them; returns the bytes of one. */
size_t tml_mesh_fill_labels(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
size_t tml_mesh_labels_size(const tml_mesh *mesh);

/* Checks the attributes as tml_mesh describes them. Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status tml_mesh_check_attributes(tml_context *tml, const tml_mesh *mesh);
/* Returns whether it is a colour: its rows in PLY and VTP are bytes. */
bool tml_mesh_is_color(const tml_mesh_attribute *attribute);
size_t tml_mesh_attribute_size(const tml_mesh_attribute *attribute);
/* Fills rows of the first attribute: floats, or bytes if it is a colour. */
size_t tml_mesh_fill_attribute(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out);
/* Returns the mesh with that attribute as its first, for functions that fill rows. */
static inline tml_mesh mesh_with_attribute(const tml_mesh *mesh, uint32_t number)
{
    tml_mesh with = *mesh;
    with.attributes = mesh->attributes ? mesh->attributes + number : NULL;
    return with;
}

/* Copies text as one line of printable ASCII, which all formats accept unchanged. Other characters
 * become '?'. */
void tml_mesh_line(char *out, size_t size, const char *text);

static inline bool mesh_has_origin(const tml_mesh *mesh)
{
    return mesh->origin[0] != 0.0 || mesh->origin[1] != 0.0 || mesh->origin[2] != 0.0;
}

/* Returns a vertex's world coordinate along an axis: origin plus position. */
static inline double mesh_placed(const tml_mesh *mesh, uint64_t vertex, int axis)
{
    return mesh->origin[axis] + (double)mesh->positions[3 * vertex + (uint64_t)axis];
}

/* Returns the number of corners per face. */
static inline uint64_t mesh_corners(const tml_mesh *mesh)
{
    return mesh->quads ? 4 : 3;
}

/* Returns the vertex of a corner. Corners are numbered through all faces. */
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
