/* Shared by the mesh readers: a sink for vertices and faces. A reader gets a whole file as bytes
 * and pushes its elements in file order. Arrays grow by the elements that are really there, never
 * by a count in a header. tml_mesh_finish does the checks that need the whole file, welds vertices
 * and cuts polygons into triangles. */
#ifndef TML_MESH_SINK_H
#define TML_MESH_SINK_H

#include <trommel/meshes.h>

#include "io/io_internal.h"

/* An array that grows. size: the bytes in use. */
typedef struct mesh_array {
    uint8_t *data;
    size_t size, capacity;
} mesh_array;

/* Means "no vertex"; one more than the largest number of a vertex. */
#define MESH_NONE UINT32_MAX

/* The largest number of one kind that a face names, and its place in the file. */
typedef struct mesh_reach {
    uint64_t number, place;
    bool is_any;
} mesh_reach;

typedef struct mesh_corner_ref {
    uint32_t vertex, uv, normal; /* MESH_NONE: none */
} mesh_corner_ref;

/* Items of one kind that are left out: their number, and the place and fault of the first for the
 * one message about all. */
typedef struct mesh_fault {
    uint64_t count, place; /* place: of the first */
    const char *place_name;
    char what[80];
} mesh_fault;

/* A property of vertices beside position, normal and value. */
typedef struct mesh_property {
    char name[64];
    uint32_t components; /* 1 to 4 */
    bool is_color;
    double scale; /* a colour's factor to [0, 1]; 0: 1/65535, 1/255 or 1, by its largest number */
    mesh_array data; /* floats, components per vertex */
} mesh_property;

typedef struct mesh_sink {
    const io_file *file;
    uint64_t memory_limit;
    tml_weld weld;
    const char *place_name; /* the unit of places: "line", "row", "byte" */
    uint64_t number_base;   /* the number of the file's first vertex, for messages */
    mesh_array positions;   /* 3 doubles per vertex */
    mesh_array normals;     /* 3 floats per normal */
    mesh_array values;      /* 1 float per vertex, or empty */
    mesh_array uvs;         /* 2 floats per pair of coordinates */
    mesh_array corners, corner_uvs, corner_normals; /* 1 uint32_t per corner of each face */
    mesh_array sizes;                               /* 1 uint32_t per face: its corners */
    mesh_array face; /* mesh_corner_ref: corners of the unfinished face */
    mesh_array crease_vertices, crease_sharpness; /* 2 uint32_t, 1 float */
    mesh_array corner_vertices, corner_sharpness; /* 1 uint32_t, 1 float */
    mesh_reach vertex_reach, uv_reach, normal_reach;
    mesh_reach tag_reach;     /* vertices of creases and sharp corners */
    mesh_fault short_faces;   /* faces of fewer than three different corners */
    mesh_fault lost_vertices; /* vertices without a finite position; their faces go, too */
    mesh_fault lost_faces;    /* triangles of a soup that have such a corner */
    mesh_fault lost_corners;  /* corners of faces that name no vertex of the file */
    mesh_property properties[TML_MESH_MAX_ATTRIBUTES];
    uint32_t property_count;
    mesh_array face_numbers; /* 1 uint32_t per kept face; empty: all are kept */
    bool has_box;            /* lower and upper are set */
    uint64_t allocated;      /* bytes of all arrays */
    uint64_t polygon_count;  /* faces of more than three corners */
    uint64_t skipped_count;  /* elements of the file that are not faces */
    uint64_t
        welded_count;   /* vertices that are not in made, because another has the same position */
    uint64_t ear_tests; /* tests for ears so far */
    tml_mesh made;      /* a mesh that the reader made as a whole, in arrays of its exact size */
    double lower[3], upper[3];
    bool is_inexact;      /* some coordinate is not a float */
    const double *origin; /* the requested one; NULL: it is chosen */
    char value_name[32];
    char comment[128];
} mesh_sink;

static inline uint64_t mesh_vertex_count(const mesh_sink *sink)
{
    return sink->positions.size / (3 * sizeof(double));
}
static inline uint64_t mesh_face_count(const mesh_sink *sink)
{
    return sink->sizes.size / sizeof(uint32_t);
}

/* Records and returns OUT_OF_MEMORY: all arrays together would need size bytes. */
tml_status tml_mesh_over_limit(const mesh_sink *sink, uint64_t size);
/* Appends size bytes, or room for them if data is NULL. Invalidates earlier pointers into the
 * array.
 * Returns: their address; NULL after recording OUT_OF_MEMORY. */
void *tml_mesh_append(mesh_sink *sink, mesh_array *array, const void *data, size_t size);

/* Releases an array's memory. */
void tml_mesh_drop(mesh_sink *sink, mesh_array *array);

/* Push elements; each call records its errors.
 * place   place of the element in the file, in units of place_name */
TML_MUST_CHECK tml_status tml_mesh_push_vertex(mesh_sink *sink, const double position[3],
                                               uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_normal(mesh_sink *sink, const double normal[3]);
TML_MUST_CHECK tml_status tml_mesh_push_uv(mesh_sink *sink, const double uv[2]);
TML_MUST_CHECK tml_status tml_mesh_push_value(mesh_sink *sink, double value);
/* Adds a property of vertices.
 * Returns: its number; UINT32_MAX if the mesh has no room for it, or has one of that name. */
uint32_t tml_mesh_add_property(mesh_sink *sink, const char *name, uint32_t components,
                               bool is_color, double scale);
TML_MUST_CHECK tml_status tml_mesh_push_property(mesh_sink *sink, uint32_t property,
                                                 const double *numbers);
/* Counts an item that is left out. Keeps the place and the text of the first. */
void tml_mesh_add_fault(const mesh_sink *sink, mesh_fault *fault, uint64_t place,
                        const char *format, ...) TML_FORMAT(4, 5);
/* Push a face: its corners one by one, then its end. A corner of vertex MESH_NONE names no vertex
 * of the file; the reader has added it to lost_corners. tml_mesh_finish leaves out, and reports, a
 * face of fewer than three different corners, one that names a missing vertex, and one with a
 * vertex that has no finite position. */
TML_MUST_CHECK tml_status tml_mesh_push_corner(mesh_sink *sink, mesh_corner_ref corner,
                                               uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_end_face(mesh_sink *sink, uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_crease(mesh_sink *sink, uint32_t first, uint32_t second,
                                               double sharpness, uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_sharp_corner(mesh_sink *sink, uint32_t vertex,
                                                     double sharpness, uint64_t place);
/* Records an error such as "line 12: ..." and returns FILE_FORMAT. */
tml_status tml_mesh_error(const mesh_sink *sink, uint64_t place, const char *format, ...)
    TML_FORMAT(3, 4);

/* Checks what faces name, and makes the mesh. */
TML_MUST_CHECK tml_status tml_mesh_finish(mesh_sink *sink, tml_mesh_file *out);
void tml_mesh_sink_free(mesh_sink *sink);

/* The memory of tml_mesh_file.mesh.attributes, which points to list. */
typedef struct mesh_attributes {
    tml_mesh_attribute list[TML_MESH_MAX_ATTRIBUTES];
    char names[TML_MESH_MAX_ATTRIBUTES][64];
} mesh_attributes;

/* The shape of a polygon's outline. */
typedef enum polygon_kind { POLYGON_CONVEX, POLYGON_CONCAVE, POLYGON_CROSSED } polygon_kind;

/* Cuts a polygon of count corners into count - 2 triangles, 3 corner numbers each. A strictly
 * convex polygon becomes a fan around corner apex.
 * next, previous   scratch for count numbers
 * flat     scratch for 2 * count numbers
 * *tests   counts the work of all calls
 * Returns: false once *tests reaches POLYGON_TESTS_MAX. */
#define POLYGON_TESTS_MAX ((uint64_t)1 << 28)
TML_MUST_CHECK bool tml_polygon_cut(const double *positions, const uint32_t *corners,
                                    uint32_t count, uint32_t apex, uint32_t *next,
                                    uint32_t *previous, double *flat, uint64_t *tests,
                                    uint32_t *triangles, polygon_kind *kind);

/* The readers, one per file. data holds the whole file. */
typedef tml_status (*mesh_reader)(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_obj(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_ply(mesh_sink *sink, const uint8_t *data, size_t size);
/* Returns whether the start of a PLY file describes points: vertices and no faces. A file without
 * either is an empty mesh if its header names faces. False if the header is damaged or longer than
 * head. */
bool tml_ply_is_points(const io_file *file, io_span head);
tml_status tml_mesh_read_stl(mesh_sink *sink, const uint8_t *data, size_t size);
/* Returns whether head is the start of an STL text file. */
bool tml_stl_is_text(io_span head);
/* Reads a binary STL file directly from the sink's file, in parallel. *is_done: false if the file
 * is not binary STL, is damaged, or is too large for this; then tml_mesh_read_stl reads it or
 * reports the error. */
tml_status tml_stl_read_triangles(mesh_sink *sink, bool *is_done);
/* Removes the word OFF and the letters before it from the front; counts may follow without a
 * blank. */
bool tml_off_take_word(io_text *words, io_span *letters);
tml_status tml_mesh_read_off(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size);

tml_status tml_mesh_read_vtk(mesh_sink *sink, const uint8_t *data, size_t size);

/* Reads a VTP file, one array after another. *is_done is always true. */
tml_status tml_vtp_read(mesh_sink *sink, bool *is_done);

/* tml_mesh_load of an open file, which may be a block of memory. */
TML_MUST_CHECK tml_status tml_mesh_read(const io_file *file, const tml_load_desc *desc,
                                        tml_mesh_file *out);

#endif
