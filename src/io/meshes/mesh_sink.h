/* What the mesh readers share: a sink for vertices and faces. A reader gets a whole file as bytes
 * and pushes what it finds, in file order; arrays grow with what was really there and never by a
 * count in a header. The finish checks what only the whole file can tell, welds vertices and cuts
 * polygons into triangles. */
#ifndef TML_MESH_SINK_H
#define TML_MESH_SINK_H

#include <trommel/meshes.h>

#include "io/io_internal.h"

/* An array that grows; size is the bytes in use. */
typedef struct mesh_array {
    uint8_t *data;
    size_t size, capacity;
} mesh_array;

/* Stands for "no vertex", and is one more than the last number that a vertex may have. */
#define MESH_NONE UINT32_MAX

/* The largest number of one kind that a face has referred to, and where in the file. */
typedef struct mesh_reach {
    uint64_t number, place;
    bool is_any;
} mesh_reach;

typedef struct mesh_corner_ref {
    uint32_t vertex, uv, normal; /* MESH_NONE: has none */
} mesh_corner_ref;

/* Items of one kind that are left out: how many, and what the first is, for the one message about
 * them. */
typedef struct mesh_fault {
    uint64_t count, place; /* place: of the first */
    const char *place_name;
    char what[80];
} mesh_fault;

/* What vertices carry beside position, normal and value. */
typedef struct mesh_property {
    char name[64];
    uint32_t components; /* 1 to 4 */
    bool is_color;
    double scale; /* of a colour, to 0 to 1; 0: 1/65535, 1/255 or 1, as its largest number says */
    mesh_array data; /* floats, components a vertex */
} mesh_property;

typedef struct mesh_sink {
    const io_file *file;
    uint64_t memory_limit;
    tml_weld weld;
    const char *place_name; /* what places count: "line", "row", "byte" */
    uint64_t number_base;   /* the file's number of its first vertex, for messages */
    mesh_array positions;   /* 3 doubles a vertex */
    mesh_array normals;     /* 3 floats */
    mesh_array values;      /* a float a vertex, or none at all */
    mesh_array uvs;         /* 2 floats */
    mesh_array corners, corner_uvs, corner_normals; /* 1 uint32_t a corner of each face */
    mesh_array sizes;                               /* uint32_t: corners of each face */
    mesh_array face; /* mesh_corner_ref: the face that is being pushed */
    mesh_array crease_vertices, crease_sharpness; /* 2 uint32_t, a float */
    mesh_array corner_vertices, corner_sharpness; /* uint32_t, a float */
    mesh_reach vertex_reach, uv_reach, normal_reach;
    mesh_reach tag_reach;     /* vertices of creases and sharp corners */
    mesh_fault short_faces;   /* of fewer than three different corners */
    mesh_fault lost_vertices; /* without a finite position; with the faces that use them */
    mesh_fault lost_faces;    /* triangles of a soup with such a corner */
    mesh_fault lost_corners;  /* of faces, that name no vertex of the file */
    mesh_property properties[TML_MESH_MAX_ATTRIBUTES];
    uint32_t property_count;
    mesh_array face_numbers; /* uint32_t, of the faces that are kept; empty: all are */
    bool has_box;            /* lower and upper are those of a vertex */
    uint64_t allocated;      /* bytes of all arrays */
    uint64_t polygon_count;  /* faces of more than three corners */
    uint64_t skipped_count;  /* elements of the file that are no faces */
    uint64_t
        welded_count;   /* vertices that are no part of made, because others are where they are */
    uint64_t ear_tests; /* tests spent so far on cutting ears */
    tml_mesh made;      /* or all of it at once: arrays of a reader's own, of just their size */
    double lower[3], upper[3];
    bool is_inexact;      /* some coordinate is not a float */
    const double *origin; /* the one asked for; NULL: chosen */
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

/* OUT_OF_MEMORY, with a message: all arrays together would take size bytes. */
tml_status tml_mesh_over_limit(const mesh_sink *sink, uint64_t size);
/* Appends size bytes and returns their address; data NULL: the caller fills them. NULL after
 * recording OUT_OF_MEMORY. Invalidates earlier pointers into the array. */
void *tml_mesh_append(mesh_sink *sink, mesh_array *array, const void *data, size_t size);

/* Releases an array's memory. */
void tml_mesh_drop(mesh_sink *sink, mesh_array *array);

/* Each records its errors. place: where in the file the element is (place_name). */
TML_MUST_CHECK tml_status tml_mesh_push_vertex(mesh_sink *sink, const double position[3],
                                               uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_normal(mesh_sink *sink, const double normal[3]);
TML_MUST_CHECK tml_status tml_mesh_push_uv(mesh_sink *sink, const double uv[2]);
TML_MUST_CHECK tml_status tml_mesh_push_value(mesh_sink *sink, double value);
/* Adds a property of vertices, whose number is returned; UINT32_MAX: there are as many as a mesh
 * may have, or one of that name. */
uint32_t tml_mesh_add_property(mesh_sink *sink, const char *name, uint32_t components,
                               bool is_color, double scale);
TML_MUST_CHECK tml_status tml_mesh_push_property(mesh_sink *sink, uint32_t property,
                                                 const double *numbers);
/* Counts an item that is left out, and keeps its place and text if it is the first. */
void tml_mesh_add_fault(const mesh_sink *sink, mesh_fault *fault, uint64_t place,
                        const char *format, ...) TML_FORMAT(4, 5);
/* A face: its corners one by one, then its end. A corner of vertex MESH_NONE names no vertex of the
 * file: the reader has added it to lost_corners. A face of fewer than three different corners, one
 * that names a vertex which is not there, and one with a vertex that has no finite position are
 * left out at the finish, and reported. */
TML_MUST_CHECK tml_status tml_mesh_push_corner(mesh_sink *sink, mesh_corner_ref corner,
                                               uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_end_face(mesh_sink *sink, uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_crease(mesh_sink *sink, uint32_t first, uint32_t second,
                                               double sharpness, uint64_t place);
TML_MUST_CHECK tml_status tml_mesh_push_sharp_corner(mesh_sink *sink, uint32_t vertex,
                                                     double sharpness, uint64_t place);
/* "line 12: ..." */
tml_status tml_mesh_error(const mesh_sink *sink, uint64_t place, const char *format, ...)
    TML_FORMAT(3, 4);

/* Checks what faces name, and makes the result. */
TML_MUST_CHECK tml_status tml_mesh_finish(mesh_sink *sink, tml_mesh_file *out);
void tml_mesh_sink_free(mesh_sink *sink);

/* Memory of tml_mesh_file.mesh.attributes, which point to list. */
typedef struct mesh_attributes {
    tml_mesh_attribute list[TML_MESH_MAX_ATTRIBUTES];
    char names[TML_MESH_MAX_ATTRIBUTES][64];
} mesh_attributes;

/* The shape of a polygon's outline. */
typedef enum polygon_kind { POLYGON_CONVEX, POLYGON_CONCAVE, POLYGON_CROSSED } polygon_kind;

/* Cuts a polygon of count corners into count - 2 triangles, 3 corner numbers each. A strictly
 * convex polygon becomes a fan around corner apex. next and previous: scratch for count numbers,
 * flat for twice as many. *tests counts the work over all calls; once it reaches POLYGON_TESTS_MAX
 * the result is false. */
#define POLYGON_TESTS_MAX ((uint64_t)1 << 28)
TML_MUST_CHECK bool tml_polygon_cut(const double *positions, const uint32_t *corners,
                                    uint32_t count, uint32_t apex, uint32_t *next,
                                    uint32_t *previous, double *flat, uint64_t *tests,
                                    uint32_t *triangles, polygon_kind *kind);

/* The readers, one file each. data holds the whole file. */
typedef tml_status (*mesh_reader)(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_obj(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_ply(mesh_sink *sink, const uint8_t *data, size_t size);
/* Does the start of a PLY file describe points: vertices and no faces? A file without either is an
 * empty mesh if its header names faces. False where the header is damaged or longer than head. */
bool tml_ply_is_points(const io_file *file, io_span head);
tml_status tml_mesh_read_stl(mesh_sink *sink, const uint8_t *data, size_t size);
/* Is that the start of textual STL? */
bool tml_stl_is_text(io_span head);
/* Reads a binary STL file straight from the sink's file, in parallel. *is_done: false where the
 * file is another, faulty, or too large for that, so that tml_mesh_read_stl must tell. */
tml_status tml_stl_read_triangles(mesh_sink *sink, bool *is_done);
/* Takes the word OFF and the letters before it off the front; counts may be glued to it. */
bool tml_off_take_word(io_text *words, io_span *letters);
tml_status tml_mesh_read_off(mesh_sink *sink, const uint8_t *data, size_t size);
tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size);

tml_status tml_mesh_read_vtk(mesh_sink *sink, const uint8_t *data, size_t size);

/* Reads a VTP file, arrays one after another. Always done. */
tml_status tml_vtp_read(mesh_sink *sink, bool *is_done);

/* tml_mesh_load for an open file, which may be a block of memory. */
TML_MUST_CHECK tml_status tml_mesh_read(const io_file *file, const tml_load_desc *desc,
                                        tml_mesh_file *out);

#endif
