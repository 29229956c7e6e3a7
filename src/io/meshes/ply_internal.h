/* The header of a PLY file, and a fast reader of files that hold nothing but vertices and
 * triangles. */
#ifndef TML_PLY_INTERNAL_H
#define TML_PLY_INTERNAL_H

#include "io/meshes/mesh_sink.h"
#include "io/points/points_internal.h"

enum { PLY_ELEMENTS_MAX = 16, PLY_PROPERTIES_MAX = 256 };

typedef struct ply_property {
    char name[32];
    tml_type type;
    tml_type list_count; /* type of a list's length; TML_TYPE_NONE: not a list */
} ply_property;

typedef struct ply_element {
    char name[32];
    uint64_t count;
    uint32_t first, property_count; /* range of ply_header.properties */
} ply_element;

typedef struct ply_header {
    bool has_format;
    io_number_form encoding;
    ply_element elements[PLY_ELEMENTS_MAX];
    ply_property properties[PLY_PROPERTIES_MAX];
    uint32_t element_count, property_count;
} ply_header;

/* The columns of the vertex table that the mesh uses; -1: none. */
typedef struct ply_columns {
    int32_t position[3], normal[3], uv[2], value;
    int32_t properties[TML_MESH_MAX_ATTRIBUTES][4]; /* by the sink's property and component */
} ply_columns;

/* Reads a binary file's vertices and triangles in blocks and in parallel, into arrays that the
 * sink's finish uses.
 * header    its first element is the vertices, all scalars, its second and last the faces, each a
 *           list of 4-byte integers with a length of one byte
 * data      what follows the header
 * *is_done  false if the general reader must do it: other polygons, coordinates that are not
 *           floats, welding, or an error, which it reports with its place
 * Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status tml_ply_read_triangles(mesh_sink *sink, const ply_header *header,
                                                 const ply_columns *columns, io_span data,
                                                 bool *is_done);

#endif
