/* The header of a PLY file, and the reading of files that hold nothing but vertices and
 * triangles. */
#ifndef TML_PLY_INTERNAL_H
#define TML_PLY_INTERNAL_H

#include "io/meshes/mesh_sink.h"
#include "io/points/points_internal.h"

enum { PLY_ELEMENTS_MAX = 16, PLY_PROPERTIES_MAX = 256 };

typedef struct ply_property {
    char name[32];
    tml_type type;
    tml_type list_count; /* type of a list's length; TML_TYPE_NONE: no list */
} ply_property;

typedef struct ply_element {
    char name[32];
    uint64_t count;
    uint32_t first, property_count; /* of ply_header.properties */
} ply_element;

typedef struct ply_header {
    bool has_format;
    io_number_form encoding;
    ply_element elements[PLY_ELEMENTS_MAX];
    ply_property properties[PLY_PROPERTIES_MAX];
    uint32_t element_count, property_count;
} ply_header;

/* The columns of the vertex table that a mesh is made of; -1: not there. */
typedef struct ply_columns {
    int32_t position[3], normal[3], uv[2], value;
    int32_t properties[TML_MESH_MAX_ATTRIBUTES][4]; /* of each of the sink's, its components */
} ply_columns;

/* Reads a binary file's vertices and triangles in blocks and in parallel, into arrays that the
 * sink's finish hands on. data: what follows the header, whose first element is the vertices, of
 * scalars, and whose second and last the faces, each a list of a byte and 4-byte integers. *is_done
 * is false where the file takes more: faces of other counts, coordinates that are no floats,
 * welding, or anything wrong, which the other way of reading tells with its place. Errors:
 * OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_ply_read_triangles(mesh_sink *sink, const ply_header *header,
                                                 const ply_columns *columns, io_span data,
                                                 bool *is_done);

#endif
