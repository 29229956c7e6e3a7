/* Surface: volume, or points through a field, to triangle mesh.
 *
 * Marching cubes whose 256-case table separates inside corners on ambiguous faces, so that
 * neighbouring cells always agree and closed fields give closed meshes. On request the topology is
 * that of the trilinear interpolant instead (tml_topology): exact decisions, so that cells agree,
 * too.
 *   inside     value >= iso, for every type; a sample exactly at the isovalue makes no hole
 *   missing    NaN samples, samples whose mask byte is 0 and samples outside the region: a cell
 *              with such a corner makes no triangle, so the surface ends there (open, no false
 *              wall)
 *   vertex     lies on a grid edge between an inside and an outside sample; t = (iso - a) / (b - a)
 *              from the endpoint with the lower index, in double for f64, u32, i32, u64 and i64 and
 *              in float otherwise. Where b - a overflows, t = 1/2
 *   clearance  t is clamped to [d, 1 - d] with d = 2^-10. Otherwise a sample that equals the
 *              isovalue would have up to six vertices. So triangles have area, and a mesh that is a
 *              closed manifold by its indices is one by its positions, as slicers read it. float
 *              holds d up to 8192 samples along an axis, where positions are not far from 0
 *              (position_origin). Normals and attributes are those of the vertex's place
 *   order      vertices by row (z, then y), within a row by axis x, y, z, then by x, and last those
 *              in the cells of the row (TRILINEAR), by x; triangles by cell, then by table. The
 *              same on every engine and for any number of threads.
 *   winding    counter-clockwise seen from the low side (outside), also for mirrored grids
 *   normals    unit length, pointing to the low side; of a zero gradient: 0 0 0
 *   position   origin + direction * spacing * index, computed in double and rounded once to float.
 *              Relative to position_origin when that is given.
 *   engines    counts, order, indices and parts are the same on all. The Vulkan and OpenGL engines
 *              compute t and positions in float, off by at most 8 * 2^-24 of
 *              |origin - position_origin| plus the grid's extent on that axis; of u64 and i64
 *              samples they take exact differences, where the CPU rounds samples beyond 2^53 first.
 *              f64 samples need shaderFloat64 on Vulkan and are UNSUPPORTED on OpenGL. Vulkan: rows
 *              have at most 2^20 samples. OpenGL: at most 2^32 / 3 samples, rows counted as whole
 *              128, and arrays that fit a texture (trommel/gl.h). */
#ifndef TROMMEL_SURFACE_H
#define TROMMEL_SURFACE_H

#include <trommel/core.h>
#include <trommel/field.h>
#include <trommel/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tml_normals {
    TML_NORMALS_NONE,
    TML_NORMALS_FORWARD, /* forward differences: least smooth. Costs the CPU more than CENTRAL */
    TML_NORMALS_CENTRAL, /* central differences, one-sided at the border */
    TML_NORMALS_SOBEL,   /* Sobel's weights in three dimensions, 3x3x3 samples: smoothest */
} tml_normals;

/* Which topology the surface has in a cell whose corners do not tell: where on a face they are in
 * and out by turns, or where all but two across the cell are alike. */
typedef enum tml_topology {
    /* Inside corners across a face's diagonal are apart, and nothing is joined through the cell.
     * From the signs of samples alone: the quickest. */
    TML_TOPOLOGY_SEPARATED,
    /* As the trilinear interpolant of the cell's samples has it: inside corners across a face are
     * joined where its saddle is inside (the asymptotic decider), and regions are joined through
     * the cell where the interpolant has a tunnel. A saddle at the isovalue is inside, as a sample
     * is; an infinite sample counts as the largest finite double. Decisions are exact for every
     * type, so the mesh is closed and a manifold where that of SEPARATED is. A cell may have
     * vertices of its own, six on the interpolant's surface in a tunnel or one amid a loop of eight
     * edges and more; their normals are the interpolant's gradient, their values interpolated in
     * the cell. Takes 8 bytes a row and 2 a cell more, on Vulkan 1.3 a sample. By Vulkan and OpenGL
     * of volumes, by tml_surface; the host computes for OpenGL, and for Vulkan if a row has over
     * 2^17 samples or a cell's, less the isovalue, take over 90 bits. After: Nielson, Hamann: The
     * Asymptotic Decider. 1991; Chernyaev: Marching Cubes 33. 1995; Custodio, Etiene, Pesco, Silva:
     * Practical considerations on Marching Cubes 33 topological correctness. 2013; Grosso:
     * Construction of Topologically Correct and Manifold Isosurfaces. 2016. */
    TML_TOPOLOGY_TRILINEAR,
} tml_topology;

typedef struct tml_region {
    uint64_t first[3];
    uint64_t count[3]; /* samples; 0 on an axis: to the end */
} tml_region;

/* Minimum and maximum of each brick of 64 x 4 x 4 samples, so that the next isovalue looks only
 * into bricks that it crosses. Made by tml_surface_index from a volume that no longer changes. */
typedef struct tml_surface_desc {
    /* Input: a volume or a field. */
    tml_buffer volume; /* dims product samples, any scalar type; may stay on the host, like mask and
                        * attribute (tml_buffer_desc.host) */
    tml_grid grid;     /* fewer than 2^30 samples in a slice */
    /* Instead of volume and grid: a field, evaluated slab by slab and never stored (on Vulkan:
     * whole in scratch where it fits). */
    const tml_field_desc *field;
    tml_buffer index;     /* optional, from tml_surface_index for this volume */
    tml_region region;    /* zeroed: everything */
    tml_buffer mask;      /* optional: u8, one a sample of the whole volume; 0 is missing */
    tml_buffer attribute; /* optional: scalar volume of the same dims, interpolated onto vertices */

    /* What. One isovalue (finite), or several in one read. */
    double iso;
    /* tml_surface_enqueue alone. Optional: f32, whose element iso_index stands for iso; NaN:
     * nothing is inside */
    tml_buffer iso_buffer;
    uint64_t iso_index;
    const double *isovalues; /* NULL: iso alone. Parts come in this order. At most 64 */
    uint32_t isovalue_count;
    const uint64_t *labels; /* instead of isovalues, for integer volumes: inside is value == label
                             * and t is 1/2; one part for each. Ascending, without repeats, at most
                             * 65536; negative ones as (uint64_t)(int64_t)label */
    uint32_t label_count;
    bool all_labels; /* one part for each value but 0 that occurs, ascending */

    /* How. */
    tml_topology topology; /* TRILINEAR: not with labels */
    tml_normals normals;   /* with labels: of the binary volume */
    bool soup;             /* three vertices a triangle, no indices */
    bool caps;             /* close the surface where it leaves the region, by a wall on the border
                             * samples: as though one layer of outside samples lay around them, at
                             * no distance. On the region's edges, where two walls meet, each one's
                             * vertices lie d / 4 off the edge */
    bool flip;             /* reverse winding and normals: inside is low */
    bool indices64;        /* u64 indices; without it more than 2^32 vertices is UNSUPPORTED */
    /* leave out triangles with two equal corners (equal float positions); those corners become
     * one vertex, so a closed mesh stays closed. It need not stay a manifold: sheets that met in
     * such triangles alone are joined, and edges of four triangles arise. There are none but where
     * float does not hold d (above) */
    bool drop_degenerate;
    /* also the cell that each triangle is in. Its number is that of its lowest sample, x + dims[0]
     * * (y + dims[1] * z). Cells of caps, which begin beside the region, have the nearest
     * sample's */
    bool cells;
    bool largest_component; /* keep, of each part, the component with the most triangles */
    /* then collapse edges shorter than this (tml_mesh_collapse), a third of a cell, say; 0: none */
    double collapse;
    double position_origin[3]; /* subtracted from positions in double, before rounding */

    /* Output (core.h, what programs make). */
    /* positions: with vertex_stride TML_RECORD(vertex_stride). normals: if normals; i16x2 with
     * octahedral_normals. values: if attribute. indices: unless soup; or u16x3 */
    tml_mesh_buffers mesh;
    tml_buffer triangle_cells; /* u32 or u64, if cells. The call makes u32 up to 2^32 samples */
    /* tml_surface_enqueue alone. Optional: u32 or u64, 2: vertices and triangles that the surface
     * has, which may be more than there is room for. A u32 stays at its largest */
    tml_buffer counts;
    /* tml_surface_enqueue alone. Optional: u32, 5: a VkDrawIndexedIndirectCommand of the triangles
     * that are in mesh.indices, one instance; of a soup the first four are a VkDrawIndirectCommand
     * of the vertices that are in mesh.positions */
    tml_buffer draw;

    /* As a renderer takes it, without a pass in between. UNSUPPORTED on OpenGL ES without integer
     * textures.
     * 0: positions, normals and values are in buffers of their own. Else a vertex is so many bytes
     * of mesh.positions, at most 64, and has them (f32x3, f32x3 or i16x2, f32) at the offsets
     * below, apart; mesh.normals and mesh.values are none. Stride and offsets are multiples of 4.
     * The other bytes are undefined */
    uint32_t vertex_stride;
    uint32_t position_offset, normal_offset, value_offset;
    /* normals as two signed normalised numbers of 16 bits (VK_FORMAT_R16G16_SNORM; normalised
     * GL_SHORT): x and y of n / (|n.x| + |n.y| + |n.z|), or where z < 0 (1 - |y|, 1 - |x|) with the
     * signs of x and y, to the nearest 1 / 32767. In a shader:
     *     vec3 n = vec3(v, 1.0 - abs(v.x) - abs(v.y));
     *     float t = max(-n.z, 0.0);
     *     n = normalize(n + vec3(n.x < 0.0 ? t : -t, n.y < 0.0 ? t : -t, 0.0));
     * which is off by at most 0.0038 degrees. 0 0 0 becomes 0 0, hence 0 0 1. After: Meyer,
     * Suessmuth, Sussner, Stamminger, Greiner: On Floating-Point Normal Vectors. 2010; Cigolle et
     * al.: A Survey of Efficient Representations for Independent Unit Vectors. 2014 */
    bool octahedral_normals;
    /* u16 indices, for meshes of at most 65535 vertices: 65535 itself may restart primitives. With
     * more tml_surface is CAPACITY, and the result has the counts; of tml_surface_enqueue
     * triangles with a later vertex have the indices 0 0 0 and draw nothing, and counts tells. On
     * OpenGL ES the last of an odd number of indices is followed by a 0 where there is room */
    bool indices16;
} tml_surface_desc;

/* Where the components of a part of a share go on: at vertices of the share's first layer, which
 * the share below may name (none in the region's first share), and at those of the next share's
 * first layer that this one's triangles name. sets has below_count + above_count numbers, one a
 * vertex: the first place in sets that is connected to it, or UINT64_MAX where no triangle of the
 * share uses it. */
typedef struct tml_surface_seam {
    uint64_t *sets;
    uint64_t below_count, above_count;
} tml_surface_seam;

typedef struct tml_surface_stage {
    const char *name; /* "sign bits", "counts", "vertices", "triangles" ... */
    double seconds;
} tml_surface_stage;

typedef struct tml_surface_result {
    tml_mesh_buffers mesh;
    tml_buffer triangle_cells;
    uint32_t owned; /* bit 0: mesh.positions, and so on (core.h, what programs make) */
    uint64_t vertex_count, triangle_count;
    tml_mesh_part *parts; /* part_count of them, freed by tml_surface_free */
    uint32_t part_count;
    uint64_t active_cells; /* cells with at least one triangle, before filters; over all parts */
    size_t scratch_size;   /* bytes of scratch that the call used at its peak */
    tml_surface_stage stages[8];
    uint32_t stage_count;
    /* Of tml_surface_slabs with desc.components: connected components, of triangles that share a
     * vertex. Of a share, those that it holds whole, and part_count seams for the others. */
    uint64_t components;
    tml_surface_seam *seams;
} tml_surface_result;

/* Extracts. Synchronous on every engine: the result's sizes are known on return. Memory: 0.16 to
 * 0.3 bytes a sample of scratch (arena) for each isovalue, 0.25 more while samples are missing,
 * plus the outputs; on Vulkan 0.53 and 16 a row, 0.25 more of float volumes or with a mask, a field
 * is 4 bytes a sample more, and what stays on the host is copied to scratch. Where that is more
 * than the Vulkan device has left (tml_vulkan_desc.memory_limit, VK_EXT_memory_budget), the volume
 * goes through in slabs of as many layers as fit, twice: to count and to emit, the host copying the
 * next slab while the device works. The mesh is the same to the bit; it must fit the device beside
 * a slab. On OpenGL all that is textures of its pool: 0.9 bytes a sample, 0.25 more of float
 * volumes or with a mask, rows counted as whole 128; of more than four isovalues at a time one's
 * share is taken. Soups and the filters first make the whole welded mesh, beside the outputs; the
 * device gathers a soup from it, and the host filters. Reports progress and can be cancelled.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY and OUT_OF_DEVICE_MEMORY (sizes given),
 * CAPACITY, UNSUPPORTED (on Vulkan also a soup whose welded mesh has more than 2^32 vertices),
 * CANCELLED. On failure the outputs that the call created are destroyed again. After: Lorensen,
 * Cline: Marching Cubes. 1987; Montani, Scateni, Scopigno: A modified look-up table for implicit
 * disambiguation of Marching Cubes. 1994; Schroeder, Maynard, Geveci: Flying Edges. 2015. */
TML_API TML_MUST_CHECK tml_status tml_surface(tml_context *tml, const tml_surface_desc *desc,
                                              tml_surface_result *out);
/* Frees what the call made: parts, and the buffers that were not given to it. Zeroes the result. */
TML_API void tml_surface_free(tml_context *tml, tml_surface_result *result);

/* ---- far from 0 ------------------------------------------------------------------------------ */

/* What a mesh's positions should be relative to (position_origin), since floats lose precision far
 * from 0.
 * grid   spacing, origin and direction count
 * out    the grid's origin, if floats that count from 0 would lose about a thousandth of a step
 *        between samples or more, as of map coordinates; else 0 0 0 */
TML_API void tml_grid_position_origin(const tml_grid *grid, double out[3]);
/* The same of points or vertices.
 * lower, upper   the box around the points
 * out            a round number near the box's middle, if the box is more than 64 times as far from
 *                0 as it is large; else 0 0 0. tml_points_load and tml_mesh_load choose so if the
 *                file's numbers are no floats */
TML_API void tml_box_position_origin(const double lower[3], const double upper[3], double out[3]);

/* ---- labels with shared boundaries ----------------------------------------------------------- */

/* The boundaries between the labels of a volume, all from one read: a surface net, whose vertices
 * and faces are shared by the labels on both sides, so that nothing gapes and nothing overlaps.
 *   cell       2 x 2 x 2 neighbouring samples
 *   face       for each pair of neighbouring samples of unlike labels one quad, whose corners are
 *              in the four cells around the edge between them. On the border fewer cells surround
 *              an edge, which then has none; with caps all have
 *   vertex     one for each cell that a face touches, shared by all of them; at the middle of the
 *              cell, or where smoothing moves it, but never outside its cell
 *   smoothing  keeps volumes: an iteration is two moves of all vertices at once, by lambda of the
 *              way to the mean of their neighbours, which a face's edge joins them to, and then by
 *              lambda / (1 - lambda / 50) of the way to the new mean back. lambda is the lesser of
 *              relaxation and 1/2 in the first iteration, the lesser of 9/5 relaxation and 4/5 +
 *              relaxation / 5 in the second, and so on by turns. A vertex stays at most bound half
 *              cells along each axis from its cell's middle, and 1/1024 of a cell from its sides,
 *              so that no two meet. In whole steps of 2^-13 cells, so that every engine and any
 *              number of threads give the same bytes. 16 iterations change an organ's volume by
 *              about 0.5 %; a ball of a radius of 3 samples keeps 98 %, and what is one sample
 *              thick wanes
 *   caps       as though one layer of background lay around the samples, at no distance: vertices
 *              of cells that reach into it are on the border samples and stay in their plane
 *   labels     a face has those of its two samples. Its normal points from the first to the second,
 *              and it is counter-clockwise seen from the second, also for mirrored grids. The
 *              background is never first; of other labels the smaller one is
 *   order      faces by their edges' first sample (z, then y, then x), then axis; vertices by cell
 *   triangles  each quad is cut along its shorter diagonal, the same way for both labels
 *   separate   a closed mesh for each label that occurs but the background, with faces and vertices
 *              of its own at the places of the shared ones, and normals that point out of the
 *              label. A face between two labels is then in both meshes, cut the same way. Caps are
 *              there without asking. Vertices and faces come label by label
 *   manifold   where a label touches itself at an edge or a corner alone, its sheets meet in a
 *              vertex or an edge of four faces. Of separate meshes, these have a vertex for each
 *              sheet instead, moved apart by less than 1/128 of a cell: each label's mesh is then a
 *              closed manifold, also in a file without indices such as STL, as far as floats tell
 *              places 1/1000 of a cell apart. (Shared vertices cannot be split so: one label's
 *              sheets may be joined by a neighbour's.) */
typedef struct tml_surface_labels_desc {
    tml_buffer volume; /* dims product integers of any type; may stay on the host */
    tml_grid grid;     /* fewer than 2^30 samples in a slice */
    tml_region region; /* zeroed: everything */

    /* Which. Labels that are negative: as (uint64_t)(int64_t)label. */
    uint64_t background;
    const uint64_t *labels; /* ascending, without repeats: others count as background. NULL: all */
    uint64_t label_count;
    const uint64_t *between; /* two labels: only faces between them, as of the whole. NULL: all */
    bool no_background;      /* leave out faces that have the background on a side */
    bool caps;

    /* How. */
    bool separate;             /* without between and no_background */
    bool manifold;             /* only with separate */
    uint32_t smooth;           /* iterations, of two moves; 8 to 16 suffice. At most 1000 */
    double relaxation;         /* above 0, at most 1; 0: 0.5 */
    double bound;              /* above 0, at most 1; 0: 1, all but anywhere in the cell */
    bool quads;                /* and not two triangles each */
    bool indices64;            /* u64 indices; without it more than 2^32 vertices is UNSUPPORTED */
    double position_origin[3]; /* subtracted from positions in double, before rounding */

    /* Output (core.h, what programs make). */
    tml_mesh_buffers mesh;  /* without normals and values; indices of quads are u32x4 or u64x4 */
    tml_buffer face_labels; /* two a triangle or quad, of the volume's type */
} tml_surface_labels_desc;

/* A label's share of separate meshes; indices are into the whole. */
typedef struct tml_surface_label_part {
    uint64_t label; /* widened */
    uint64_t vertex_first, vertex_count;
    uint64_t face_first, face_count;
} tml_surface_label_part;

typedef struct tml_surface_labels_result {
    tml_mesh_buffers mesh;
    tml_buffer face_labels;
    uint32_t owned; /* bit 0: mesh.positions, and so on (core.h, what programs make) */
    uint64_t vertex_count;
    uint64_t face_count;           /* triangles, or quads */
    tml_surface_label_part *parts; /* of separate meshes: labels ascend. Freed by _free */
    uint64_t part_count;
    size_t scratch_size;         /* bytes used at the call's peak, besides outputs and textures */
    tml_surface_stage stages[8]; /* on a device the time to enqueue them */
    uint32_t stage_count;
} tml_surface_labels_result;

/* Extracts. Waits for the counts; cannot be recorded. Its time follows the boundaries but for one
 * read of the volume. Memory of the host, from the allocator: 3 bits a sample, rows counted as
 * whole 64, and 8 bytes a row; 1 bit more with labels, and where faces are left out 3 more, and
 * with smoothing 12 bytes a vertex. Smoothing takes 4.3 bytes for each vertex of 4 smooth + 2
 * layers of cells, those that have the most. Separate meshes take 12 bytes for each shared vertex,
 * 16 a label and thread, and about 100 for each vertex of two layers and thread. Vulkan and OpenGL
 * ES make the net on the device, with the same bytes; in its scratch memory, 13 bits a sample, 1
 * more with labels and 8 where faces are left out, 4 bytes a vertex and with smoothing 36 more, and
 * 16 a face. OpenGL ES makes what it counts twice. The host computes instead, and buffers are
 * copied there and back, with separate or indices64, for volumes of 2^32 / 3 samples or more, where
 * a spacing is below 2^-30 or above 2^30, and where the device's memory is short. Reports progress
 * and can be cancelled. Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY and
 * OUT_OF_DEVICE_MEMORY, CAPACITY, UNSUPPORTED, CANCELLED. On failure the outputs that the call
 * created are destroyed again. After: Gibson: Constrained Elastic Surface Nets. 1998; Taubin: A
 * Signal Processing Approach to Fair Surface Design. 1995; Schroeder, Tsalikis, Halle, Frisken: A
 * High-Performance SurfaceNets Discrete Isocontouring Algorithm. 2024. */
TML_API TML_MUST_CHECK tml_status tml_surface_labels(tml_context *tml,
                                                     const tml_surface_labels_desc *desc,
                                                     tml_surface_labels_result *out);
/* Frees what the call made: parts, and the buffers that were not given to it. Zeroes the result. */
TML_API void tml_surface_labels_free(tml_context *tml, tml_surface_labels_result *result);

/* ---- volumes larger than memory -------------------------------------------------------------- */

/* What tml_surface_slabs asks for. */
typedef enum tml_surface_source {
    TML_SURFACE_VOLUME,
    TML_SURFACE_MASK, /* u8 */
    TML_SURFACE_ATTRIBUTE,
} tml_surface_source;

/* A stretch of one part of the mesh: the vertices and triangles of some layers, in the order of the
 * whole. Pieces of a part follow one another without a gap.
 * value           isovalue or label
 * label           exact, as tml_mesh_part's
 * layer_first     layer_count layers of the volume: the piece has the vertices on the edges that
 *                 begin in them, and the triangles of the cells that begin there
 * vertex_first    the first vertex's number within the part, after those of desc.before
 * triangle_first  likewise
 * mesh            indices are numbers within the part, and may be those of the next piece's first
 *                 layer. attributes are the means of desc.field_values that are given, in their
 *                 order, without names. face_labels and quads are of boundaries */
typedef struct tml_surface_piece {
    uint32_t part;
    double value;
    uint64_t label;
    uint64_t layer_first, layer_count;
    uint64_t vertex_first;
    uint64_t triangle_first;
    tml_mesh mesh;
} tml_surface_piece;

/* A surface in slabs: layers go in, pieces come out, and neither the volume nor the mesh is ever
 * whole in memory. */
typedef struct tml_surface_slabs_desc {
    /* As for tml_surface, without all_labels, cells, largest_component, drop_degenerate,
     * vertex_stride, octahedral_normals, indices16 and outputs. A field is evaluated slab by slab,
     * from all its points, and nothing is read. Otherwise volume, mask and attribute are either all
     * buffers of the whole volume, which only the mesh is too large for, or all zeroed and read or
     * mapped. */
    const tml_surface_desc *surface;
    /* Instead of surface, which is then NULL: the boundaries of labels as tml_surface_labels makes
     * them, without separate and outputs, as one part; counts are of quads with quads. A slab looks
     * at 2 smooth + 1 layers below it and at 2 smooth + 3 above, and works on them again, so that
     * slabs should be thicker; their vertices, some 40 bytes each, come on top of memory. Any
     * engine; the host computes. */
    const tml_surface_labels_desc *boundaries;
    tml_type type;           /* what is read: samples of this type ... */
    bool has_mask;           /* ... a mask ... */
    tml_type attribute_type; /* ... and an attribute of this type; TML_TYPE_NONE: none */
    /* Of a field, what its points carry, as tml_field_attribute's values (unused ones zeroed): the
     * pieces have the means at their vertices, the same bit for bit that tml_field_mean makes.
     * Takes 8 bytes a point and the values again, beside memory. */
    tml_buffer field_values[TML_FIELD_MAX_ATTRIBUTES];

    /* Puts layers [first, first + count) of a source, dims[0] x dims[1] samples each, at out. Each
     * layer is asked for once, in ascending order, one more than is worked on below and two above
     * (but see boundaries).
     * Called from a thread of its own while slabs are computed, one call at a time: it must not use
     * the context. A status other than OK ends the stream, which then returns it. */
    tml_status (*read)(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                       void *out);
    /* Optional, in place of read, for sources that are memory anyway (mapped files): sets *out to
     * layers [first, first + count), where they must stay until the second call after this one for
     * the same source begins. As read, but with the neighbours of each slab, so that layers at the
     * seams are asked for again. What takes time to come to memory should come within the call. */
    tml_status (*map)(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                      const void **out);
    /* Takes a piece, whose memory is good until it returns. Called from the calling thread. A
     * status other than OK ends the stream, which then returns it (tml_error may tell why). NULL:
     * only counts, which takes about a tenth of the time. */
    tml_status (*write)(void *user, const tml_surface_piece *piece);
    void *user;

    uint64_t memory;      /* bytes that samples, scratch and a piece may take; 0: 1 GiB */
    uint64_t slab_layers; /* layers a slab; 0: as memory allows */

    /* One share of several, as of machines that work on one volume: the region's layers
     * [layer_first, layer_first + layer_count). The shares' pieces, one share after another, are
     * those of the whole. count 0: to the region's end. */
    uint64_t layer_first, layer_count;
    /* Of each part, what the shares before this one have: vertex_count and triangle_count of their
     * results, added up. NULL: nothing; the numbers then begin at 0, to be raised afterwards.
     * Counts after which 64 bits could not number this share's vertices and triangles are
     * INVALID_ARGUMENT. */
    const tml_mesh_part *before;
    /* Counts them: result.components, and result.seams of a share. A slab at a time, in 4 bytes a
     * vertex of the piece, within memory, and 8 a vertex of a layer. */
    bool components;
} tml_surface_slabs_desc;

/* Extracts in slabs: the same vertices, triangles and numbers as tml_surface, bit for bit, for any
 * slab_layers. out: parts and counts (of this share), no buffers; vertex_first and triangle_first
 * are those of the whole mesh where before is NULL and the share is everything. Free it with
 * tml_surface_free. Memory: of what desc.memory allows, half for two slabs of samples (one is read
 * or mapped while the other is worked on) and scratch, half for a piece; a slab with more is cut
 * again. The least is four layers of samples and their scratch, and one layer's piece. Of u32
 * indices, more than 2^32 vertices in a part are UNSUPPORTED. CPU and Vulkan engine; on OpenGL
 * UNSUPPORTED. On Vulkan a slab is uploaded while the next is read, its piece is copied back, and
 * of a slab that has too little of the device's memory the halves come one after the other. Errors:
 * as tml_surface, and what read, map and write return. */
TML_API TML_MUST_CHECK tml_status tml_surface_slabs(tml_context *tml,
                                                    const tml_surface_slabs_desc *desc,
                                                    tml_surface_result *out);

/* Joins the components of shares, from the lowest one up: adds to *components those that end in
 * this share, of a part. below: what this call left of the share below, sets + below_count of its
 * seam, above_count numbers; none for the lowest share. Leaves the sets of this share's vertices
 * above at that place, as places among themselves, for the next. The sum of all shares'
 * result.components and of what all calls add is what one process counts. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_surface_join(tml_context *tml, tml_surface_seam *seam,
                                                   const uint64_t *below, uint64_t below_count,
                                                   uint64_t *components);

/* Makes the index buffer (destroy it yourself); 8 bytes for each 1024 samples. */
TML_API TML_MUST_CHECK tml_status tml_surface_index(tml_context *tml,
                                                    const tml_surface_desc *desc,
                                                    tml_buffer *out);

/* Enqueues an extraction for a frame: what is needed is written where the frame's next commands
 * look for it. All output buffers are given; their sizes are the capacities. One isovalue; no
 * labels or filters, and nothing that stays on the host. A field has radius (with radii, too) and
 * grid.dims; how many points it has may be on the device (its length). Reads nothing back, waits for nothing, and, when the arena was reserved
 * (tml_reserve), allocates nothing; so it may stand between tml_vulkan_record and
 * tml_vulkan_record_end. Of a surface that has no room the first vertices and triangles are
 * written, and nothing past a capacity; triangles may then name vertices that were not. Of vertices
 * the smallest of their buffers counts. Of a soup whole triangles are written; one with a corner
 * that is not among the welded mesh's first vertices, as many as the triangles with room have
 * corners, is three zeros. (The CPU engine has finished when the call returns.)
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED (a soup
 * with room for 2^32 vertices and more is, too). */
TML_API TML_MUST_CHECK tml_status tml_surface_enqueue(tml_context *tml,
                                                      const tml_surface_desc *desc);

/* How many triangles each cell gets, 0 to 5 (24 with TRILINEAR), found from the samples alone and
 * on the host, whatever the engine: to look at, and to check a mesh against. cells: host memory, a
 * byte a cell, dims - 1 of them along each axis, x fastest. Of desc, volume, grid.dims, iso,
 * topology, mask and region count; cells outside the region, and such as miss a corner, have none.
 * Waits. Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED (2^30 samples or more in a slice),
 * OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_surface_cells(tml_context *tml, const tml_surface_desc *desc,
                                                    uint8_t *cells);

#ifdef __cplusplus
}
#endif
#endif
