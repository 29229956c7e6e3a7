/* Surface: volume, or points through a field, to triangle mesh, by marching cubes.
 *
 * For pictures, prints and simulations of what scanners and solvers sample.
 *
 *     #include <trommel/trommel.h>
 *     tml_context *tml;
 *     tml_buffer volume;
 *     tml_surface_result made;
 *     tml_open(NULL, &tml);
 *     tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = x * y * z,
 *                                               .data = samples}, &volume);      (copies samples)
 *     tml_surface(tml, &(tml_surface_desc){.volume = volume, .grid.dims = {x, y, z}, .iso = 80},
 *                 &made);
 *     tml_buffer_read(tml, made.mesh.positions, positions);   (made.vertex_count x 3 floats)
 *     tml_buffer_read(tml, made.mesh.indices, indices);       (made.triangle_count x 3 uint32_t)
 *     tml_surface_free(tml, &made);
 *     tml_close(tml);                                         (destroys volume, too)
 *
 * tml_open, tml_buffer_create, tml_surface and tml_buffer_read return TML_OK, which is 0, or a
 * failure; tml_last_error(tml) then says why. examples/first_surface.c is a whole program.
 *
 * Which call: tml_surface, unless the mesh is for a frame (tml_surface_enqueue: nothing comes back
 * to the host) or larger than memory (tml_surface_slabs). The boundaries of labels, shared by both
 * sides: trommel/labels.h. Checks, clean-up and smoothing of a mesh: trommel/mesh.h.
 *
 * A cell is 2 x 2 x 2 neighbouring samples. Each grid edge between an inside and an outside sample
 * has one vertex; a table of 256 cases, by which corners of a cell are inside, joins them to
 * triangles. Inside corners across a face are apart in every case of the table, so that
 * neighbouring cells agree and closed fields give closed meshes.
 *   inside     value >= iso, for every type. A sample exactly at the isovalue makes no hole
 *   missing    NaN samples, samples whose mask byte is 0, and samples outside the region. A cell
 *              with such a corner has no triangle: the surface ends there, open, without a wall
 *   vertex     at t = (iso - a) / (b - a) from the endpoint a of the lower index; in double for
 *              f64, u32, i32, u64 and i64 samples, in float otherwise. If b - a overflows, t = 1/2
 *   clearance  t is clamped to [d, 1 - d] with d = 2^-10, so that triangles have area, and a mesh
 *              that is a closed manifold by its indices is one by its positions. float holds d up
 *              to 8192 samples along an axis, near 0 (position_origin)
 *   order      vertices by row (z, then y), in a row by axis x, y, z, then by x, last those within
 *              cells (TRILINEAR); triangles by cell, then by table. The same on every engine and
 *              for any number of threads
 *   winding    counter-clockwise seen from the low side (outside), also for mirrored grids
 *   normals    unit length, pointing to the low side; 0 0 0 where the gradient is zero
 *   position   origin + direction * spacing * index - position_origin, computed in double and
 *              rounded once to float
 *   engines    counts, order, indices and parts are the same on all. GPUs compute t and positions
 *              in float, off by at most 8 * 2^-24 of |origin - position_origin| plus the grid's
 *              extent on the axis; GPUs subtract u64 and i64 samples exactly, the CPU rounds
 *              samples beyond 2^53 first. Limits of an engine: docs/numbers.md
 * After: Lorensen, Cline: Marching Cubes. 1987; Montani, Scateni, Scopigno: A modified look-up
 * table for implicit disambiguation of Marching Cubes. 1994; Schroeder, Maynard, Geveci: Flying
 * Edges. 2015. */
#ifndef TROMMEL_SURFACE_H
#define TROMMEL_SURFACE_H

#include <trommel/core.h>
#include <trommel/field.h>
#include <trommel/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a surface ------------------------------------------------------------------------------ */

typedef enum tml_normals {
    TML_NORMALS_NONE,
    TML_NORMALS_FORWARD, /* forward differences: least smooth; slower than CENTRAL on the CPU */
    TML_NORMALS_CENTRAL, /* central differences, one-sided at the border */
    TML_NORMALS_SOBEL,   /* Sobel's weights in three dimensions, 3x3x3 samples: smoothest */
} tml_normals;

/* The topology in cells whose corners alone do not decide it: in and out by turns around a face, or
 * alike but for two corners across the cell. */
typedef enum tml_topology {
    /* Inside corners across a face are apart, and nothing is joined through the cell. From the
     * signs of samples alone: the fastest. */
    TML_TOPOLOGY_SEPARATED,
    /* The topology of the trilinear interpolant of the cell's samples, decided exactly for every
     * type, so that the mesh is closed and a manifold where that of SEPARATED is.
     *   face       inside corners across it are joined if its saddle is inside (the asymptotic
     *              decider); a saddle at the isovalue is inside
     *   cell       regions are joined through it if the interpolant has a tunnel
     *   vertices   a cell may have some of its own: six on the interpolant's surface in a tunnel,
     *              or one amid a loop of eight edges and more. Their normals are the interpolant's
     *              gradient, their values interpolated in the cell
     *   infinite   samples count as the largest finite double
     * Not with labels. On a GPU supported by tml_surface of volumes alone.
     * After: Nielson, Hamann: The Asymptotic Decider. 1991; Chernyaev: Marching Cubes 33. 1995;
     * Custodio, Etiene, Pesco, Silva: Practical considerations on Marching Cubes 33 topological
     * correctness. 2013; Grosso: Construction of Topologically Correct and Manifold Isosurfaces.
     * 2016. */
    TML_TOPOLOGY_TRILINEAR,
} tml_topology;

/* A box of samples. Zeroed: the whole volume. */
typedef struct tml_region {
    uint64_t first[3];
    uint64_t count[3]; /* 0 on an axis: to the end */
} tml_region;

/* The form of vertices and indices in memory, for renderers that read them without a pass in
 * between. Zeroed: buffers of their own, of f32 normals and u32 indices.
 *
 * stride              0: positions, normals and values are in buffers of their own. Otherwise bytes
 *                     per vertex, at most 64: mesh.positions is of TML_RECORD(stride), and holds
 *                     all three at the offsets below, which do not overlap; mesh.normals and
 *                     mesh.values are none. Other bytes of a vertex are undefined
 * position_offset     f32x3. Stride and offsets are multiples of 4
 * normal_offset       f32x3 or i16x2
 * value_offset        f32
 * octahedral_normals  i16x2 in place of f32x3, normalised (VK_FORMAT_R16G16_SNORM, GL_SHORT): x and
 *                     y of n / (|n.x| + |n.y| + |n.z|), if z < 0 (1 - |y|, 1 - |x|) with the signs
 *                     of x and y, to the nearest 1 / 32767. Off by at most 0.0038 degrees; 0 0 0
 *                     becomes 0 0 1. In a shader:
 *                         vec3 n = vec3(v, 1.0 - abs(v.x) - abs(v.y));
 *                         float t = max(-n.z, 0.0);
 *                         n = normalize(n + vec3(n.x < 0.0 ? t : -t, n.y < 0.0 ? t : -t, 0.0));
 * indices16           u16 indices, for at most 65535 vertices: index 65535 may restart primitives.
 *                     With more vertices tml_surface returns CAPACITY and the counts, and
 *                     tml_surface_enqueue makes a triangle of a later vertex 0 0 0, which draws
 *                     nothing. On OpenGL ES the last of an odd number of indices is followed by a 0
 *                     where there is room
 * After: Meyer, Suessmuth, Sussner, Stamminger, Greiner: On Floating-Point Normal Vectors. 2010;
 * Cigolle et al.: A Survey of Efficient Representations for Independent Unit Vectors. 2014. */
typedef struct tml_vertex_layout {
    uint32_t stride;
    uint32_t position_offset, normal_offset, value_offset;
    bool octahedral_normals;
    bool indices16;
} tml_vertex_layout;

/* A surface to extract; volume and grid.dims, or field, are required.
 *
 * volume             product of grid.dims samples, x fastest, any scalar type; may stay on the
 *                    host (tml_buffer_desc.host), as mask and attribute may
 * grid               dims, fewer than 2^30 samples in a slice; spacing (0: 1), origin and direction
 *                    (0: along the axes), which positions are in
 * field              in place of volume and grid: evaluated slab by slab and never stored
 * region             of the volume; zeroed: all of it
 * mask               optional: u8, one per sample of the whole volume; 0 is missing
 * attribute          optional: scalar volume of the same dims, interpolated onto vertices
 * index              optional, from tml_surface_index of this volume
 *
 * iso                the isovalue; finite
 * iso_buffer         tml_surface_enqueue alone; optional: f32, whose element iso_index stands for
 *                    iso. NaN: nothing is inside
 * isovalues          in place of iso, several in one read, at most 64: a part for each, in order
 * labels             in place of isovalues, of integer volumes: a part for each label. Inside is
 *                    value == label, and t is 1/2. Ascending, without repeats, at most 65536;
 *                    negative ones as (uint64_t)(int64_t)label
 * all_labels         in place of labels: every value but 0 that occurs, ascending
 *
 * topology           TRILINEAR: not with labels
 * normals            with labels: of the binary volume
 * soup               three vertices per triangle, no indices
 * caps               closes the surface where it leaves the region, by a wall on the border
 *                    samples, as if a layer of outside samples lay around them at no distance.
 *                    Where two walls meet, each one's vertices are d / 4 off the edge
 * flip               reverses winding and normals: inside is low
 * indices64          u64 indices; required for more than 2^32 vertices
 * layout             the form of vertices and indices
 * cells              also makes triangle_cells: the number of the cell's lowest sample, x + dims[0]
 *                    * (y + dims[1] * z). Cells of caps, which begin beside the region, have that
 *                    of the nearest sample
 * position_origin    subtracted from positions in double, before rounding
 *                    (tml_grid_position_origin)
 *
 * drop_degenerate    leaves out triangles with two corners of equal float position, which become
 *                    one vertex: a closed mesh stays closed, but need not stay a manifold. There
 *                    are none unless float does not hold d (above)
 * largest_component  keeps, of each part, the component with the most triangles
 * collapse           then collapses edges shorter than this (tml_mesh_collapse), a third of a cell,
 *                    say; 0: none
 *
 * mesh               outputs: positions f32x3; normals f32x3, if asked for; values f32, with
 *                    attribute; indices u32x3, not of a soup. The call makes the buffers that are
 *                    zeroed; buffers of the caller's are used as they are (core.h, what programs
 *                    make)
 * triangle_cells     output, with cells: u32 or u64; the call makes u32 up to 2^32 samples
 * counts             tml_surface_enqueue alone; optional: u32 or u64, 2: vertices and triangles of
 *                    the surface, which may be more than there is room for. u32 saturates
 * draw               tml_surface_enqueue alone; optional: u32, 5: a VkDrawIndexedIndirectCommand of
 *                    the triangles in mesh.indices, one instance. For a soup the first four are a
 *                    VkDrawIndirectCommand of the vertices in mesh.positions */
typedef struct tml_surface_desc {
    tml_buffer volume;
    tml_grid grid;
    const tml_field_desc *field;
    tml_region region;
    tml_buffer mask;
    tml_buffer attribute;
    tml_buffer index;

    double iso;
    tml_buffer iso_buffer;
    uint64_t iso_index;
    const double *isovalues;
    uint32_t isovalue_count;
    const uint64_t *labels;
    uint32_t label_count;
    bool all_labels;

    tml_topology topology;
    tml_normals normals;
    bool soup;
    bool caps;
    bool flip;
    bool indices64;
    tml_vertex_layout layout;
    bool cells;
    double position_origin[3];

    bool drop_degenerate;
    bool largest_component;
    double collapse;

    tml_mesh_buffers mesh;
    tml_buffer triangle_cells;
    tml_buffer counts;
    tml_buffer draw;
} tml_surface_desc;

typedef struct tml_surface_stage {
    const char *name; /* "sign bits", "counts", "vertices", "triangles" ... */
    double seconds;   /* on a device the time to enqueue the stage */
} tml_surface_stage;

/* Where the components of a part of a share go on, for tml_surface_join.
 * sets         below_count + above_count numbers, one per vertex: the first place in sets that is
 *              connected to it, or UINT64_MAX where no triangle of the share uses it
 * below_count  vertices of the share's first layer, which the share below may name; 0 in the
 *              region's first share
 * above_count  vertices of the next share's first layer that this share's triangles name */
typedef struct tml_surface_seam {
    uint64_t *sets;
    uint64_t below_count, above_count;
} tml_surface_seam;

/* The result of tml_surface, tml_surface_slabs and tml_surface_labels. Free it with
 * tml_surface_free.
 *
 * mesh            the outputs: those given, and those that the call made
 * triangle_cells  with desc.cells
 * face_labels     of tml_surface_labels: two per triangle or quad, of the volume's type
 * owned           a bit per output that the call made, from bit 0 on: positions, normals, values,
 *                 indices, triangle_cells, face_labels (core.h, what programs make)
 * triangle_count  of quads the number of quads
 * parts           part_count of them: isovalues, or labels
 * active_cells    of tml_surface: cells with at least one triangle, before filters, over all parts
 * components      of tml_surface_slabs with desc.components: connected components, of triangles
 *                 that share a vertex. For a share, the ones that it holds whole
 * seams           part_count seams, for the other components of a share
 * scratch_size    bytes of scratch that the call used at its peak
 * stages          stage_count of them */
typedef struct tml_surface_result {
    tml_mesh_buffers mesh;
    tml_buffer triangle_cells;
    tml_buffer face_labels;
    uint32_t owned;
    uint64_t vertex_count, triangle_count;
    tml_mesh_part *parts;
    uint32_t part_count;
    uint64_t active_cells;
    uint64_t components;
    tml_surface_seam *seams;
    size_t scratch_size;
    tml_surface_stage stages[8];
    uint32_t stage_count;
} tml_surface_result;

/* Extracts a surface. Reports progress and can be cancelled.
 * Returns: *out, whose sizes are known; zeroed on failure, but for the counts needed with CAPACITY.
 * Waits: for the counts, on every engine; cannot be recorded.
 * Memory: 0.2 to 1.3 bytes of scratch per sample beside the mesh, by engine (docs/numbers.md). A
 *         volume too large for a Vulkan device goes through it in slabs.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY (sizes given),
 *         CAPACITY, UNSUPPORTED, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_surface(tml_context *tml, const tml_surface_desc *desc,
                                              tml_surface_result *out);
/* Frees what the call made: parts, seams, and the buffers that were not given. Zeroes *result. */
TML_API void tml_surface_free(tml_context *tml, tml_surface_result *result);

/* Finds the minimum and maximum of each brick of 64 x 4 x 4 samples, so that tml_surface's next
 * isovalue reads only bricks that it crosses. The volume no longer changes.
 * desc  volume and grid.dims are used
 * out   the index, for tml_surface_desc.index; the caller destroys it
 * Waits: no.
 * Memory: 8 bytes per 1024 samples.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_surface_index(tml_context *tml, const tml_surface_desc *desc,
                                                    tml_buffer *out);

/* ---- in a frame ----------------------------------------------------------------------------- */

/* Enqueues a surface: what a frame's next commands need is written where they look for it, and
 * nothing comes back to the host. Never waits and, when the arena was reserved (tml_reserve),
 * allocates nothing; may be recorded (tml_vulkan_record).
 * desc  all outputs are given; their sizes are the capacities. One isovalue; no labels or filters,
 *       nothing on the host; on a GPU topology SEPARATED. A field has radius (with radii, too)
 *       and grid.dims; its length may be on the device
 * If there is no room: the first vertices and triangles are written, and nothing past a capacity;
 *       triangles may name vertices that were not. Vertices: the smallest of their buffers counts.
 *       A soup has whole triangles; one of which a corner is not among the welded mesh's first
 *       vertices (three per triangle with room) is three zeros.
 * Memory: the scratch that tml_prepare_end reports (docs/numbers.md).
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED (also a
 *         soup with room for 2^32 vertices and more). */
TML_API TML_MUST_CHECK tml_status tml_surface_enqueue(tml_context *tml,
                                                      const tml_surface_desc *desc);

/* ---- beside a surface ----------------------------------------------------------------------- */

/* Counts the triangles of each cell on the host: to look at, and to check a mesh against.
 * desc   volume, grid.dims, iso, topology, mask and region are used
 * cells  caller-owned host memory, a byte per cell, dims - 1 of them along each axis, x fastest: 0
 *        to 5 (24 with TRILINEAR); 0 outside the region and where a corner is missing
 * Waits: for the volume and mask.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED (2^30 samples or more in a slice),
 *         OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_surface_cells(tml_context *tml, const tml_surface_desc *desc,
                                                    uint8_t *cells);

/* Chooses position_origin for a grid, since floats lose precision far from 0.
 * grid  spacing, origin and direction are used
 * out   the grid's origin, if floats from 0 would lose about a thousandth of a step between samples
 *       or more, as with map coordinates; else 0 0 0 */
TML_API void tml_grid_position_origin(const tml_grid *grid, double out[3]);
/* The same for points or vertices in a box, as tml_points_load and tml_mesh_load do it for files
 * whose numbers are not floats.
 * out  a round number near the box's middle, if the box is more than 64 times as far from 0 as it
 *      is large; else 0 0 0 */
TML_API void tml_box_position_origin(const double lower[3], const double upper[3], double out[3]);

/* ---- volumes larger than memory ------------------------------------------------------------- */

/* The sources that tml_surface_slabs reads. */
typedef enum tml_surface_source {
    TML_SURFACE_VOLUME,
    TML_SURFACE_MASK, /* u8 */
    TML_SURFACE_ATTRIBUTE,
} tml_surface_source;

/* A stretch of one part of the mesh: the vertices and triangles of some layers, in the order of the
 * whole. Pieces of a part follow one another without a gap.
 * index        number of the part
 * part         its isovalue or label; the piece's vertices and triangles within the part, after
 *              those of tml_surface_slabs_desc.before
 * layer_first  the piece has the vertices on the edges that begin in layers [layer_first,
 *              layer_first + layer_count) of the volume, and the triangles of cells that begin
 *              there
 * mesh         indices are numbers within the part, and may be those of the next piece's first
 *              layer. attributes are the means of field_values that are given, in their order,
 *              without names. face_labels and quads are of boundaries */
typedef struct tml_surface_piece {
    uint32_t index;
    tml_mesh_part part;
    uint64_t layer_first, layer_count;
    tml_mesh mesh;
} tml_surface_piece;

struct tml_surface_labels_desc; /* trommel/labels.h */

/* A surface in slabs: layers go in, pieces come out, and neither the volume nor the mesh is ever
 * whole in memory.
 *
 * surface         as for tml_surface, without all_labels, cells, filters, layout and outputs. A
 *                 field is evaluated slab by slab, and nothing is read. Otherwise volume, mask and
 *                 attribute are either all buffers of the whole volume, or all zeroed, and read or
 *                 mapped
 * boundaries      in place of surface: the boundaries of labels as tml_surface_labels makes them,
 *                 SHARED, without outputs, as one part. A slab reads 2 smooth + 1 layers below
 *                 it and 2 smooth + 3 above again, so that slabs should be thicker; their vertices,
 *                 some 40 bytes each, come on top of memory. The host computes, on any engine
 * type            of the samples that are read
 * has_mask        a mask is read, too
 * attribute_type  an attribute of this type is read, too; TML_TYPE_NONE: none
 * field_values    of a field: what its points carry, as tml_field_mean_desc.values; the pieces have
 *                 the means at their vertices. Memory: 8 bytes per point and the values again
 *
 * read            puts layers [first, first + count) of a source, dims[0] x dims[1] samples each,
 *                 at out. Each layer is asked for once, in ascending order. Called from a thread of
 *                 its own while slabs are computed, one call at a time: must not use the context
 * map             in place of read, for sources that are memory anyway (mapped files): sets *out to
 *                 the layers, which stay there until the second call after this one for the same
 *                 source. Layers at the seams of slabs are asked for again. Data that is slow to
 *                 arrive should arrive within the call
 * write           gets a piece, whose memory is good until it returns; called by the calling
 *                 thread. NULL: only counts, in about a tenth of the time
 *                 A status of read, map or write other than OK ends the call, which returns it
 *
 * memory          bytes that samples, scratch and a piece may occupy; 0: 1 GiB
 * slab_layers     layers per slab; 0: as memory allows
 * layer_first     one share of several, as of machines that work on one volume: the region's layers
 * layer_count     [layer_first, layer_first + layer_count); layer_count 0: to the region's end. The
 *                 pieces of all shares, one share after another, are those of the whole
 * before          per part: vertex_count and triangle_count of the results of the shares before
 *                 this one, added up. NULL: numbers begin at 0
 * components      counts connected components: result.components, and of a share result.seams.
 *                 Memory: 4 bytes per vertex of the piece, within memory, and 8 per vertex of a
 *                 layer */
typedef struct tml_surface_slabs_desc {
    const tml_surface_desc *surface;
    const struct tml_surface_labels_desc *boundaries;
    tml_type type;
    bool has_mask;
    tml_type attribute_type;
    tml_buffer field_values[TML_FIELD_MAX_ATTRIBUTES];

    tml_status (*read)(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                       void *out);
    tml_status (*map)(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                      const void **out);
    tml_status (*write)(void *user, const tml_surface_piece *piece);
    void *user;

    uint64_t memory;
    uint64_t slab_layers;
    uint64_t layer_first, layer_count;
    const tml_mesh_part *before;
    bool components;
} tml_surface_slabs_desc;

/* Extracts in slabs: the vertices, triangles and numbers of tml_surface, bit for bit, for any
 * slab_layers.
 * Returns: parts and counts (of this share), no buffers; vertex_first and triangle_first of parts
 *          are those of the whole mesh if before is NULL and the share is everything. Free *out
 *          with tml_surface_free.
 * Waits: until the last piece is written.
 * Memory: half of desc.memory for two slabs of samples and scratch, half for a piece; a slab with
 *         more is cut again. At least four layers of samples and their scratch, and one layer's
 *         piece.
 * Errors: as tml_surface, and what read, map and write return; UNSUPPORTED also on OpenGL, and for
 *         u32 indices of more than 2^32 vertices in a part; INVALID_ARGUMENT for before whose
 *         counts leave no 64-bit number. */
TML_API TML_MUST_CHECK tml_status tml_surface_slabs(tml_context *tml,
                                                    const tml_surface_slabs_desc *desc,
                                                    tml_surface_result *out);

/* Joins the components of shares, of a part, from the lowest share up. The sum of all shares'
 * result.components and of what all calls add is the number of the whole.
 * seam        of this share; its sets above below_count become places among themselves, for the
 *             next call
 * below       what the call for the share below left: sets + below_count of its seam, above_count
 *             numbers; NULL for the lowest share
 * components  the components that end in this share are added to *components
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_surface_join(tml_context *tml, tml_surface_seam *seam,
                                                   const uint64_t *below, uint64_t below_count,
                                                   uint64_t *components);

#ifdef __cplusplus
}
#endif
#endif
