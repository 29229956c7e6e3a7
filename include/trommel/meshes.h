/* Meshes from and to files, and surfaces to mesh files (docs/formats.md).
 *
 *     tml_mesh_file file;
 *     status = tml_mesh_load(tml, "bunny.obj", NULL, &file);
 *     ... file.mesh.vertex_count, file.mesh.positions, file.mesh.indices
 *     status = tml_mesh_save(tml, "bunny.glb", &file.mesh);
 *     tml_mesh_file_free(tml, &file);
 *
 * A mesh that is too large for memory is written in pieces: tml_mesh_stream_open, _write, _finish.
 * tml_surface_save makes a surface and writes it. tml_volume_to_mesh (volumes.h) and
 * tml_points_to_mesh (points.h) begin with a file. mesh.h defines tml_mesh and its filters. */
#ifndef TROMMEL_MESHES_H
#define TROMMEL_MESHES_H

#include <trommel/files.h>
#include <trommel/labels.h>
#include <trommel/surface.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- meshes --------------------------------------------------------------------------------- */

/* A mesh that was read from a file, as triangles.
 * mesh             the mesh, with indices of 32 bits. Vertices and triangles have the file's order,
 *                  welded vertices that of the first of each. normals: if each vertex has just one.
 *                  uvs: if each corner has some. values, attributes: other numbers of the vertices,
 *                  a colour being the attribute "color". origin: 0 unless coordinates are too far
 *                  from 0 for floats, or a load desc says otherwise
 * faces            triangle_count: number of the file's face that each triangle is of, from 0.
 *                  NULL: the triangle's own number
 * face_count       faces of the file
 * polygon_count    faces with more than three corners, which were cut into triangles
 * concave_count    polygons that are not convex
 * crossed_count    polygons whose outline crosses itself: no triangles of it are right
 * welded_count     vertices that became part of another one
 * skipped_count    points, lines and curves, which are no faces
 * crease_vertices  crease_count x 2: the ends of edges that stay sharp when subdivided
 * crease_sharpness crease_count: levels that the edge stays sharp for; 10 and more: always
 * corner_vertices  corner_count: vertices that stay sharp
 * corner_sharpness corner_count: as crease_sharpness
 * format           "OBJ", "PLY", "STL", "OFF", "glTF", "VTP", "VTK"
 * value_name       name of mesh.values
 * comment          other facts for people; may be empty */
typedef struct tml_mesh_file {
    tml_mesh mesh;
    uint32_t *faces;
    uint64_t face_count;
    uint64_t polygon_count;
    uint64_t concave_count;
    uint64_t crossed_count;
    uint64_t welded_count;
    uint64_t skipped_count;
    uint32_t *crease_vertices;
    float *crease_sharpness;
    uint32_t *corner_vertices;
    float *corner_sharpness;
    uint64_t crease_count, corner_count;
    char format[16];
    char value_name[32];
    char comment[128];
} tml_mesh_file;

/* Reads a mesh: OBJ, PLY, STL, OFF, glTF, VTP or legacy VTK (docs/formats.md). The format is found
 * by content. A face with fewer than three different corners, and a vertex without finite
 * coordinates, are left out with a warning; so are normals and texture coordinates of which one is
 * missing.
 * desc  optional: memory_limit, strict, weld, origin and recenter are used
 * out   released by tml_mesh_file_free
 * Errors: FILE_ACCESS, FILE_FORMAT (also if no face is left, or most faces name vertices that do
 *         not exist; the message has line, row or byte), UNSUPPORTED, INVALID_ARGUMENT,
 *         OUT_OF_MEMORY, CANCELLED.
 * After: Meisters: Polygons Have Ears. 1975 (concave polygons are cut into triangles so). */
TML_API TML_MUST_CHECK tml_status tml_mesh_load(tml_context *tml, const char *path,
                                                const tml_load_desc *desc, tml_mesh_file *out);
/* Releases a mesh that tml_mesh_load made. */
TML_API void tml_mesh_file_free(tml_context *tml, tml_mesh_file *file);

/* Writes a mesh. docs/formats.md says what of it each format holds; the log gets a warning of what
 * is lost. A mesh without triangles makes a valid file.
 * path  .ply, .stl, .obj, .glb or .vtp: binary but for OBJ
 * mesh  origin is added if the format has doubles (PLY, OBJ, VTP), placed in the node of a GLB, and
 *       added as floats in STL. A soup is written without welding
 * Errors: FILE_ACCESS (a full disk with the bytes needed), UNSUPPORTED (another ending, or the
 *         format does not hold the mesh's size, quads or labels), INVALID_ARGUMENT, OUT_OF_MEMORY,
 *         CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_save(tml_context *tml, const char *path,
                                                const tml_mesh *mesh);
/* Writes line segments.
 * path      .obj
 * segments  count x 6: x, y, z of both ends
 * origin    3 numbers that are added
 * Errors: FILE_ACCESS, UNSUPPORTED (another ending), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_lines_save(tml_context *tml, const char *path,
                                                 const float *segments, uint64_t count,
                                                 const double origin[3]);

/* Repairs what edge collapse may leave in a mesh, in place.
 *   flat    triangles flatter than 2^-20 of their longest edge: the edge is flipped, which moves
 *           nothing, or else the third corner moves off the edge by 2^-10 of its length
 *   fins    pairs of triangles with the same corners, on an edge that other triangles have, too,
 *           are removed
 *   edges   edges of four triangles and more: each two triangles that enclose a wedge get an edge
 *           of their own; all but one are cut at a vertex just inside the wedge. Not if the mesh
 *           has texture coordinates or labels
 * mesh  arrays from tml_alloc in their exact sizes; an array whose length changes is replaced.
 *       Indices of 32 bits
 * Errors: OUT_OF_MEMORY (the mesh is then repaired in part).
 * After: Dey, Edelsbrunner, Guha, Nekhayev: Topology Preserving Edge Contraction. 1999. */
TML_API TML_MUST_CHECK tml_status tml_mesh_mend(tml_context *tml, tml_mesh *mesh);

/* ---- a mesh in pieces ------------------------------------------------------------------------ */

/* A mesh file that is written piece by piece. The file is the one, bit for bit, that tml_mesh_save
 * writes of the whole mesh. */
typedef struct tml_mesh_stream tml_mesh_stream;

/* A mesh file to write in pieces.
 * mesh  describes the file and each piece; may be a piece itself. Copied, without arrays. Used are
 *         normals, values, face_labels   not NULL: each piece has them. Labels: of face_label_type,
 *                                        not with soup or edit
 *         attributes, attribute_count    names and components of each piece's attributes, in order
 *         indices64                      size of each piece's indices
 *         quads                          each piece has quads. Not with soup or edit
 *         origin, value_name, comment, up   of the file
 *         parts, part_count              optional: the counts that each part will have, of which
 *                                        triangle_count and, without soup, vertex_count are used.
 *                                        The pieces must have as many
 * soup  pieces have no indices
 * edit  optional, not with soup: changes the mesh before it is written, and may make it smaller, as
 *       tml_mesh_clean does. tml_mesh_stream_finish calls it if there is a vertex. The arrays are
 *       mapped files; mesh->release_pages releases their pages. An error ends the call
 * user  passed to edit
 * team  optional: each rank writes the pieces of its share, whose numbers begin at 0 in each part,
 *       and all finish together. Triangles may name vertices of the next rank. Pieces of a soup
 *       have indices here. NULL: this process alone */
typedef struct tml_mesh_stream_desc {
    tml_mesh mesh;
    bool soup;
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
    const tml_team *team;
} tml_mesh_stream_desc;

/* Opens a mesh file for writing.
 * path  as for tml_mesh_save
 * Memory: some megabytes for a mesh of any size. Pieces lie in unnamed files beside the target
 *         until the end, so that the disk needs room for the mesh twice. With desc->mesh.parts, and
 *         without edit and team, the pieces of a PLY, GLB, VTP and, of a soup, STL are written in
 *         place. In a team, all ranks write PLY, STL and VTP at once; for OBJ, GLB and edit, rank 0
 *         collects the pieces.
 * Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_open(tml_context *tml, const char *path,
                                                       const tml_mesh_stream_desc *desc,
                                                       tml_mesh_stream **out);
/* Appends a piece to a part.
 * part   0, 1 ..., in any order; the file has part after part
 * piece  arrays and counts are used. Indices count from the part's first vertex, and may name
 *        vertices of later pieces
 * Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_write(tml_mesh_stream *stream, uint32_t part,
                                                        const tml_mesh *piece);
/* Completes the file and releases the stream.
 * status  TML_OK; otherwise the file that was there stays
 * Returns: the first failure, status included. In a team, only ranks whose status is OK take part,
 *          and rank 0 replaces the file after all have succeeded.
 * Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_finish(tml_mesh_stream *stream,
                                                         tml_status status);

/* ---- a surface to a mesh file ---------------------------------------------------------------- */

/* Defined in volumes.h. */
typedef struct tml_volume tml_volume;
typedef struct tml_volume_stream tml_volume_stream;
typedef struct tml_volume_index tml_volume_index;

/* The part of a call that failed. */
typedef enum tml_side {
    TML_SIDE_NONE,
    TML_SIDE_SOURCE,  /* a volume, mask, attribute or points file could not be read */
    TML_SIDE_INDEX,   /* desc.index belongs to another volume */
    TML_SIDE_SURFACE, /* the surface could not be made */
    TML_SIDE_MESH,    /* the mesh could not be written */
} tml_side;

/* How a surface is made. */
typedef enum tml_surface_making {
    TML_MAKE_AUTO,  /* in slabs if the volume is a stream or comes from callbacks, else whole */
    TML_MAKE_SLABS, /* neither the volume nor the mesh is ever whole in memory */
    TML_MAKE_WHOLE, /* whole in memory, where it can be smoothed and edited */
} tml_surface_making;

/* A surface to make and write.
 * slabs   surface or boundaries, components and field_values as for tml_surface_slabs.
 *         In slabs also read, map, memory, slab_layers and, without a team, layer_first and
 *         layer_count. surface may ask for largest_component and drop_degenerate. write is
 *         optional, and sees each piece before it is written.
 *         Whole, surface and boundaries are as for tml_surface and tml_surface_labels, without
 *         outputs, indices16, octahedral_normals and vertex_stride
 * file    the mesh file: mesh.origin, value_name, comment, up and attributes, edit, user and team
 *         are used, the rest follows from slabs. attributes name slabs.field_values, in order.
 *         edit, in slabs: sees the mesh after the filters.
 *         edit, whole: sees the mesh in host memory, and may replace its arrays by others that stay
 *         valid until the call returns. *out is then complete but for the time of writing
 * making  in slabs, or whole
 * values  optional: slope and intercept of the values in slabs.surface->attribute
 * keep_empty     writes a mesh without triangles, too
 * In slabs:
 * volume         optional, in place of slabs.read and map: a stream of another context, which a
 *                thread of the call uses meanwhile. slabs.type, has_mask and attribute_type are
 *                then not used. Samples are mapped if all streams can be mapped, else read
 * mask           optional, with volume: samples that are 0 are missing. Any scalar type
 * attribute      optional, with volume: its physical values become those of the vertices
 * index          optional, with volume: skips bricks that the surface does not cross. They are not
 *                read, either, if volume is mapped and has neither mask nor attribute. At least 512
 *                rows of the volume are compared with the index
 * copy_samples   reads also what could be mapped: for files that may be shortened meanwhile
 * count_first    looks at mapped samples twice, the first time to count, so that a PLY, STL, GLB or
 *                VTP without filters is written in place. Pays if the volume is in memory
 * Whole:
 * smooth         iterations of tml_mesh_smooth on the mesh of slabs.surface: TAUBIN, or with field
 *                LAPLACIAN, weighted by tml_field_smooth_weights. 0: none
 * field          optional: tml_field_prepared.balls of points, for smooth and slabs.field_values,
 *                of which the vertices get the means */
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

/* The result of tml_surface_save, tml_volume_to_mesh and tml_points_to_mesh.
 * surface       counts, parts (also of separate boundaries, one per label), stages and, with
 *               slabs.components, components (not of whole soups and quads). Whole, also buffers.
 *               In a team, counts of all ranks
 * field_values  whole: the means
 * isovalue      from files: the first one, as a physical value
 * is_empty      the surface has no triangle, and without desc.keep_empty there is no file
 * is_mapped     from a volume file: the samples were mapped
 * failed        the part of the call that failed; NONE after TML_OK
 * seconds       time of the surface alone; in slabs, of all
 * stages        times before the surface: "load", "spacing" (all of the field); and after it:
 *               "smooth", "attributes", "components", "save"
 * stage_count   stages that are there */
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

/* Makes a surface and writes it to a mesh file. In slabs, the file is the one, bit for bit, that
 * tml_mesh_save writes of the mesh of tml_surface or tml_surface_labels.
 * path  as for tml_mesh_save. With separate boundaries, a name with a place for a number stands for
 *       a file per label (tml_path_number). NULL, whole: nothing is written
 * out   released by tml_surface_saved_free
 * Returns: the first failure, with its message in tml, also of a stream of another context. Without
 *          a triangle: TML_OK, out->is_empty, and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: in slabs, that of tml_surface_slabs and tml_mesh_stream_open. Whole, that of tml_surface,
 *         tml_mesh_smooth, tml_field_mean and tml_mesh_save.
 * Errors: as these calls and tml_volume_stream_read, and what edit returns. A file at path stays as
 *         it was; *out is empty but for failed. */
TML_API TML_MUST_CHECK tml_status tml_surface_save(tml_context *tml, const char *path,
                                                   const tml_surface_save_desc *desc,
                                                   tml_surface_saved *out);
/* Releases what out has, its buffers included. */
TML_API void tml_surface_saved_free(tml_context *tml, tml_surface_saved *saved);

#ifdef __cplusplus
}
#endif
#endif
