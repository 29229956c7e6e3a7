/* trommel-io: meshes from and to files, and surfaces to mesh files. */
#ifndef TROMMEL_MESHES_H
#define TROMMEL_MESHES_H

#include <trommel/files.h>
#include <trommel/labels.h>
#include <trommel/surface.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- meshes --------------------------------------------------------------------------------- */

/* Writes PLY (binary little-endian), STL (binary), OBJ, GLB (glTF 2.0 binary) or VTP (VTK XML, raw
 * appended), by the name's ending. Soup is written unwelded. A non-zero origin is added where the
 * format has doubles (PLY, OBJ, VTP), is the node's translation in GLB, and is added in float in
 * STL, with a warning where floats are too coarse there for the mesh's edges. STL holds no normals
 * or values of vertices, OBJ no values; GLB calls values _VALUE. GLB is y-up: where up is another
 * axis, its node has the matrix that turns it there, and its vertices are as they were. The other
 * formats do not say what is up, and nothing is turned. Of the formats only OBJ is given uvs.
 * Attributes go to PLY, GLB and VTP, and a colour to OBJ, behind the position and without alpha.
 * PLY: floats NAME, or NAME_x to NAME_w; a colour becomes bytes red, green, blue, alpha. GLB:
 * _NAME, its letters large; a colour becomes COLOR_0, linear as glTF wants it. VTP: arrays, of
 * bytes for a colour. Labels go to PLY, as face properties label and other_label, those of
 * 64 bits as int or uint, and to VTP, as cell data BoundaryLabels, in their type. A label that
 * PLY's 32 bits do not hold is UNSUPPORTED there. Quads go to PLY, OBJ and VTP. An empty mesh makes
 * a valid, empty file. Errors: FILE_ACCESS (disk
 * full is named with the bytes needed), UNSUPPORTED (ending unknown, or counts or quads that the
 * format cannot hold), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_save(tml_context *tml, const char *path,
                                                const tml_mesh *mesh);

/* Mends what edge collapse may leave in a mesh, in place. A mesh without these stays as it is:
 *   flat    a triangle flatter than 2^-20 of its longest edge: the edge is flipped, which moves
 *           nothing, or else the third corner moves off the edge by 2^-10 of its length
 *   fins    two triangles of the same corners, on an edge that others have, too: are removed
 *   edges   an edge of four triangles and more: each two that enclose a wedge get an edge of their
 *           own; all but one are cut at a vertex just inside the wedge. Not with texture
 *           coordinates or labels
 * mesh   arrays from tml_alloc in their exact sizes, which are replaced where a length changes;
 *        indices of 32 bits
 * Errors: OUT_OF_MEMORY (the mesh is then mended in part). After: Dey, Edelsbrunner, Guha,
 * Nekhayev: Topology Preserving Edge Contraction. 1999. */
TML_API TML_MUST_CHECK tml_status tml_mesh_mend(tml_context *tml, tml_mesh *mesh);

/* Writes line segments, count x 6 floats (x y z of either end), to an OBJ file: two vertices and an
 * l statement each. Errors: FILE_ACCESS, UNSUPPORTED (the name ends in something else),
 * OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_lines_save(tml_context *tml, const char *path,
                                                 const float *segments, uint64_t count,
                                                 const double origin[3]);

/* What a mesh file holds, as triangles, in host memory. */
typedef struct tml_mesh_file {
    /* Always indexed, by uint32_t. The arrays belong to this struct, and so does value_name.
     * Vertices have the file's order, or, where they were welded, that of the first of each.
     * Triangles have the faces' order and winding. normals are there where each vertex has just
     * one; uvs where each corner has some; origin is not 0 where coordinates are too far from 0 for
     * floats, as in tml_points. attributes are what else vertices have, at most
     * TML_MESH_MAX_ATTRIBUTES, as tml_mesh_save writes them; a colour is "color". */
    tml_mesh mesh;
    /* The file's face, counted from 0, that a triangle is of: triangle_count; NULL: its own
     * number */
    uint32_t *faces;
    uint64_t face_count;
    uint64_t polygon_count; /* faces of more than three corners, cut into triangles */
    uint64_t concave_count; /* of these, those that are not convex */
    uint64_t crossed_count; /* and those whose outline crosses itself: no triangles are right */
    uint64_t welded_count;  /* vertices that became part of another */
    uint64_t skipped_count; /* points, lines, curves: what is no face */
    /* crease_count x 2: the ends of edges that stay sharp when subdivided */
    uint32_t *crease_vertices;
    float *crease_sharpness;   /* crease_count: levels to stay sharp for; 10 and more: for ever */
    uint32_t *corner_vertices; /* corner_count: vertices that do */
    float *corner_sharpness;   /* corner_count */
    uint64_t crease_count, corner_count;
    char format[16];     /* "OBJ", "PLY", "STL", "OFF", "glTF", "VTP", "VTK" */
    char value_name[32]; /* of mesh.values */
    char comment[128];   /* what else a person would like to know; may be empty */
} tml_mesh_file;

/* Reads, by content:
 *   OBJ   v, vt, vn and f, polygons too, with numbers from the front or the back; v with a colour
 *         of three numbers behind x y z. Sharp edges and vertices are OpenSubdiv's tags: "t crease
 *         2/1/0 first second sharpness" and "t corner 1/1/0 vertex sharpness", their vertices
 *         counted from 0. Materials, groups and smoothing are left out
 *   PLY   ascii and binary, both byte orders, any types; lists vertex_index or vertex_indices of
 *         polygons, and tristrips; nx ny nz; s t, u v or texture_u texture_v of vertices,
 *         texcoord lists of faces; the first other property of vertices that is no colour
 *         becomes values, and all others attributes, named as those of points
 *   STL   ascii, in letters of either case, and binary. The triangles' normals are not used.
 *         Binary: bytes behind the last triangle are left out; a count of 0, or one that is less
 *         than the whole triangles that the bytes are, is not believed
 *   OFF   OFF, COFF, NOFF, STOFF and their mixtures, with polygons; counts may be glued to the
 *         word. Colours of vertices: whole numbers of 0 to 255, or with points of 0 to 1; those of
 *         faces are left out. Binary, 4OFF and nOFF: UNSUPPORTED
 *   glTF  2.0, .glb and .gltf with its buffers in the file or beside it: triangles, strips and
 *         fans of the default scene, placed as its nodes say (a mirrored one keeps its outside) and
 *         repeated as EXT_mesh_gpu_instancing says, with their normals, the first texture
 *         coordinates, COLOR_0 (as sRGB), _VALUE and other attributes of names that begin with _.
 *         Sparse accessors and KHR_mesh_quantization are read. Skins and morphs are not applied.
 *         Compressed by Draco or meshoptimizer, and other extensions that are required and might
 *         change the shape: UNSUPPORTED. There where the build found jsmn (TML_GLTF). glTF's unit
 *         is the metre and its up is y: coordinates are the file's
 *   VTP   VTK XML PolyData of one piece: polygons and strips, with the active normals and scalars
 *         and other arrays of points; ascii, base64, raw, zlib. There where the build found expat
 *         (TML_XML)
 *   VTK   legacy VTK: POLYGONS and TRIANGLE_STRIPS of POLYDATA, flat faces (triangle, strip,
 *         polygon, pixel, quad) of UNSTRUCTURED_GRID; ascii and binary, versions 1 to 5.1, with
 *         normals, texture coordinates, scalars, colours and other arrays of points. Without faces
 *         it is no mesh, but points
 * What cannot be part of a mesh is left out, with a warning, or an error with desc.strict: a face
 * of fewer than three different corners (of a repeated corner one stays), a face that names a
 * vertex which is not there, and a vertex whose coordinate is NaN, infinite or beyond float, with
 * the faces that use it. Vertices keep their order, and faces tells the file's numbers. Normals and
 * texture coordinates are left out where one that is named is not there.
 * Polygons are cut into triangles: strictly convex ones as a fan about their first corner (or
 * one with just two faces), others by cutting off ears (Meisters: Polygons Have Ears. 1975),
 * seen along their normal (Newell's). path is UTF-8. desc may be NULL. Release the result with
 * tml_mesh_file_free. Errors: FILE_ACCESS, FILE_FORMAT (also where no face would be left, or more
 * faces name vertices that are not there than others; the message has line, row or byte),
 * UNSUPPORTED, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_load(tml_context *tml, const char *path,
                                                const tml_load_desc *desc, tml_mesh_file *out);
TML_API void tml_mesh_file_free(tml_context *tml, tml_mesh_file *file);
/* ---- a mesh in pieces ------------------------------------------------------------------------ */

/* A mesh that is written as it is made, piece by piece, to the same file, bit for bit, that
 * tml_mesh_save makes of the whole. Until the end, pieces lie in nameless files beside the target:
 * formats want counts first, or arrays one after another. So the disk needs room for the mesh
 * twice (but see desc.mesh.parts); memory is some megabytes, whatever the mesh. */
typedef struct tml_mesh_stream tml_mesh_stream;

/* A mesh file that is written in pieces.
 * mesh  describes the file and each piece, so that it may be a piece itself; copied, without data.
 *       Of its arrays only whether they are there counts.
 *         normals, values, face_labels   each piece has some; the labels are of face_label_type, and
 *                               go neither with soup nor with edit
 *         attributes            names and components of what each piece has, in this order
 *         indices64             of each piece's indices
 *         quads                 each piece's faces are. Not with soup and edit
 *         origin, value_name, comment, up   of the file
 *         parts                 optional: triangle_count and, of welded meshes, vertex_count of each
 *                               part. Without edit and team, a PLY, a GLB, a VTP and, of a soup, an
 *                               STL then need no room on the disk but their own: rows are written
 *                               where they belong. More pieces or, together, fewer are
 *                               INVALID_ARGUMENT. NULL: not known
 * soup  pieces have no indices
 * edit  optional, not of soups: may change the mesh before it is written, and make it less, as
 *       tml_mesh_clean does. Called by tml_mesh_stream_finish, once there is a vertex. The arrays
 *       are mapped files, whose pages release_pages releases
 * user  of edit
 * team  optional: each rank adds the pieces of its share, in which numbers begin at 0 in each part,
 *       and all of them finish together, to the file that one process would write of all shares.
 *       Triangles may name vertices of the next rank. Pieces of soups have indices, which become
 *       corners at the end. PLY, STL and VTP are written by all ranks at once; for OBJ and GLB, and
 *       for edit, all pieces first come to rank 0, whose disk needs room for them */
typedef struct tml_mesh_stream_desc {
    tml_mesh mesh;
    bool soup;
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
    const tml_team *team;
} tml_mesh_stream_desc;

/* Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_open(tml_context *tml, const char *path,
                                                       const tml_mesh_stream_desc *desc,
                                                       tml_mesh_stream **out);
/* Appends a piece to a part.
 * part   0, 1 ..., in any order; in the file, parts follow one another
 * piece  arrays and counts are used. Indices are numbers within the part, and may be those of later
 *        pieces */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_write(tml_mesh_stream *stream, uint32_t part,
                                                        const tml_mesh *piece);
/* Writes the file where status is OK, else leaves what was there; frees the stream in either case.
 * Returns: the first failure, status included. In a team, only ranks whose status is OK take part,
 *          and rank 0 replaces the file after all have succeeded.
 * Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_finish(tml_mesh_stream *stream,
                                                         tml_status status);

/* ---- a surface to a mesh file ---------------------------------------------------------------- */

/* In volumes.h. */
typedef struct tml_volume tml_volume;
typedef struct tml_volume_stream tml_volume_stream;
typedef struct tml_volume_index tml_volume_index;

/* The part of a call that failed. */
typedef enum tml_side {
    TML_SIDE_NONE,
    TML_SIDE_SOURCE,  /* a volume, mask, attribute or points could not be read */
    TML_SIDE_INDEX,   /* desc.index is that of another volume */
    TML_SIDE_SURFACE, /* the surface could not be made */
    TML_SIDE_MESH,    /* the mesh could not be written */
} tml_side;

/* How a surface is made that is written to a file. */
typedef enum tml_surface_making {
    TML_MAKE_AUTO,  /* in slabs if the volume is read or mapped, else whole */
    TML_MAKE_SLABS, /* neither the volume nor the mesh is ever whole in memory */
    TML_MAKE_WHOLE, /* whole in memory, where it can be changed */
} tml_surface_making;

/* A surface that is made and written to a file.
 * slabs   as for tml_surface_slabs: surface or boundaries, field_values and components. Made in
 *         slabs, also read, map, memory, slab_layers and, without a team, layer_first and
 *         layer_count; surface may also ask for largest_component and drop_degenerate, which are
 *         done in the file; and write is optional: it sees each piece before the piece is written.
 *         Made whole, surface and boundaries are as for tml_surface and tml_surface_labels, without
 *         outputs and indices16, octahedral_normals, vertex_stride
 * file    mesh.value_name, comment, up, origin and attributes, edit, user and team are used; the
 *         rest follows from slabs. attributes name slabs.field_values, in their order. edit is
 *         optional: in slabs it sees the mesh after the filters. Whole, it sees the mesh in host
 *         memory, and may replace its arrays by others, which stay there until the call returns;
 *         *out is complete by then but for the time of writing
 * making  in slabs, or whole
 * values  optional: slope and intercept of the values in slabs.surface->attribute
 * keep_empty  writes a mesh without triangles, too
 * In slabs:
 * volume     optional, in place of slabs.read and slabs.map: a stream that was opened on another
 *            context, which the call uses from a thread of its own. slabs.type, has_mask and
 *            attribute_type are then those of the streams. Samples are mapped if all streams can be
 *            mapped, else read
 * mask       optional, with volume: samples that are 0 are missing. Any scalar type
 * attribute  optional, with volume: its physical values come to the vertices
 * index      optional, with volume: bricks that the surface does not cross are not looked at, and
 *            not read where the volume is mapped and neither mask nor attribute is given. At least
 *            512 rows of the volume are compared with the index
 * copy_samples  reads also where samples could be mapped: of files that may be shortened meanwhile
 * count_first   looks at mapped samples twice, first to count, so that a PLY, STL, GLB or VTP
 *               without filters needs no room on the disk but its own. Worth it while the volume is
 *               in memory
 * Whole:
 * smooth  iterations of tml_mesh_smooth on the mesh of slabs.surface: TAUBIN, or with field
 *         LAPLACIAN, weighted by tml_field_smooth_weights. 0: none
 * field   optional, of points: tml_field_prepared.balls, for smoothing and slabs.field_values, of
 *         which the vertices get the means. slabs.components: not of soups and quads */
typedef struct tml_surface_save_desc {
    tml_surface_slabs_desc slabs;
    tml_mesh_stream_desc file;
    tml_surface_making making;
    const tml_volume *values;
    bool keep_empty;
    tml_volume_stream *volume, *mask, *attribute;
    const tml_volume_index *index;
    bool copy_samples;
    bool count_first;
    uint32_t smooth;
    const tml_field_desc *field;
} tml_surface_save_desc;

/* What tml_surface_save, tml_volume_to_mesh and tml_points_to_mesh made. Released by
 * tml_surface_saved_free.
 * surface       parts (also of separate boundaries, one a label), counts, components and stages; in
 *               a team, those of all. Made whole, also buffers
 * field_values  made whole: the means
 * isovalue      of the recipes from files: the first one, physical
 * is_empty      there is no triangle and, without desc.keep_empty, no file
 * is_mapped     of tml_volume_to_mesh: the samples were not copied
 * failed        the part of the call that failed; NONE after TML_OK
 * seconds       of the surface alone; in slabs, of all
 * stages        what came before it: "load", "spacing" (all of the field); and after it: "smooth",
 *               "attributes", "components", "save" */
typedef struct tml_surface_saved {
    tml_surface_result surface;
    tml_buffer field_values[TML_FIELD_MAX_ATTRIBUTES];
    double isovalue;
    bool is_empty;
    bool is_mapped;
    tml_side failed;
    double seconds;
    tml_surface_stage stages[6];
    uint32_t stage_count;
} tml_surface_saved;

/* Makes a surface and writes it. In slabs: the file that tml_mesh_save writes of tml_surface's or
 * tml_surface_labels' mesh, bit for bit.
 * path     .ply, .stl, .obj, .glb or .vtp. With separate boundaries, a name that has "%d" or "%04d"
 *          stands for a file a label (tml_path_number). NULL, made whole: nothing is written
 * Returns: the first failure. Its message is in tml, also where a stream's context had it. Without
 *          a triangle: TML_OK, out->is_empty and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: in slabs as tml_surface_slabs and tml_mesh_stream_open; whole as tml_surface,
 *         tml_mesh_smooth, tml_field_mean and tml_mesh_save, and of a file a label, the indices of
 *         the largest once more.
 * Errors: as these calls and tml_volume_stream_read, and what edit returns. The file at path is then
 *         as it was; out is empty but for failed. */
TML_API TML_MUST_CHECK tml_status tml_surface_save(tml_context *tml, const char *path,
                                                   const tml_surface_save_desc *desc,
                                                   tml_surface_saved *out);
TML_API void tml_surface_saved_free(tml_context *tml, tml_surface_saved *saved);

#ifdef __cplusplus
}
#endif
#endif
