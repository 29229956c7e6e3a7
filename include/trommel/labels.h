/* Labels: the boundaries between the labels of a volume, as one mesh.
 *
 * For segmentations of organs, grains or cells: vertices and faces are shared by the labels on both
 * sides, so that nothing gapes and nothing overlaps. (tml_surface with labels makes a surface of
 * marching cubes per label instead.)
 *
 *     tml_surface_result net;
 *     tml_surface_labels(tml, &(tml_surface_labels_desc){.volume = labels, .grid = grid,
 *                                                        .smooth = 16}, &net);
 *     tml_buffer_read(tml, net.face_labels, pairs);   (which two labels a triangle parts)
 *     tml_surface_free(tml, &net);
 *
 * A surface net, all from one read of the volume:
 *   cell       2 x 2 x 2 neighbouring samples
 *   face       a quad for each pair of neighbouring samples of unlike labels, whose corners are in
 *              the four cells around the edge between them. An edge on the border has fewer cells,
 *              and a face only with caps
 *   vertex     one for each cell that a face touches, shared by its faces; at the middle of the
 *              cell, or where smoothing moves it, but never outside its cell
 *   smoothing  keeps volumes: an iteration moves all vertices at once by lambda of the way to the
 *              mean of their neighbours along faces' edges, and then by lambda / (1 - lambda / 50)
 *              of the way to the new mean back. lambda is by turns the lesser of relaxation and
 *              1/2, and the lesser of 9/5 relaxation and 4/5 + relaxation / 5. In whole steps of
 *              2^-13 cells, so that every engine and any number of threads give the same bytes. 16
 *              iterations change an organ's volume by about 0.5 %; a ball of radius 3 keeps 98 %,
 *              and what is one sample thick wanes
 *   labels     a face has those of its two samples. Its normal points from the first to the second,
 *              and it is counter-clockwise seen from the second, also for mirrored grids. The
 *              background is never first; of other labels the smaller one is
 *   triangles  each quad is cut along its shorter diagonal, the same way for both labels
 *   order      faces by the first sample of their edge (z, then y, then x), then by axis; vertices
 *              by cell
 * After: Gibson: Constrained Elastic Surface Nets. 1998; Taubin: A Signal Processing Approach to
 * Fair Surface Design. 1995; Schroeder, Tsalikis, Halle, Frisken: A High-Performance SurfaceNets
 * Discrete Isocontouring Algorithm. 2024. */
#ifndef TROMMEL_LABELS_H
#define TROMMEL_LABELS_H

#include <trommel/surface.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tml_labels_sharing {
    /* One mesh, whose vertices and faces are shared by the labels on both sides. A label's sheets
     * may meet in a vertex, or in an edge of four faces. */
    TML_LABELS_SHARED,
    /* A closed mesh per label that occurs but the background, with vertices and faces of its own at
     * the places of the shared ones, and normals that point out of the label. A face between two
     * labels is then in both meshes. Capped. Vertices and faces come label by label. */
    TML_LABELS_SEPARATE,
    /* The same, and each mesh is a manifold: where a label touches itself at an edge or a corner
     * alone, each sheet has a vertex of its own, moved by less than 1/128 of a cell. The
     * mesh is a manifold also in a file without indices, such as STL, as far as floats distinguish
     * places 1/1000 of a cell apart. */
    TML_LABELS_MANIFOLD,
} tml_labels_sharing;

/* A boundary net to extract; volume and grid.dims are required.
 *
 * volume           product of grid.dims integers of any type; may stay on the host
 * grid             fewer than 2^30 samples in a slice
 * region           zeroed: all of the volume
 * background       a label, negative ones as (uint64_t)(int64_t)label
 * labels           label_count of them, ascending, without repeats: others count as background.
 *                  NULL: all that occur
 * between          two labels: only faces between them. NULL: all faces. SHARED only
 * inner_only       leaves out faces that have the background on a side. SHARED only
 * caps             closes the mesh on the border, as if a layer of background lay around the
 *                  samples at no distance; vertices there stay in the plane of the border
 * sharing          one mesh for all labels, or one each
 * smooth           iterations, of two moves; 8 to 16 suffice; at most 1000
 * relaxation       above 0, at most 1; 0: 0.5
 * bound            how far a vertex moves along an axis, in half cells, above 0, at most 1; always
 *                  1/1024 of a cell from the cell's sides. 0: 1
 * quads            faces are quads, not two triangles each
 * indices64        u64 indices; required for more than 2^32 vertices
 * position_origin  subtracted from positions in double, before rounding
 * mesh             outputs (core.h, what programs make): positions, and indices of triangles or
 *                  quads (u32x4 or u64x4); no normals, no values
 * face_labels      output: two per triangle or quad, of the volume's type */
typedef struct tml_surface_labels_desc {
    tml_buffer volume;
    tml_grid grid;
    tml_region region;

    uint64_t background;
    const uint64_t *labels;
    uint64_t label_count;
    const uint64_t *between;
    bool inner_only;
    bool caps;

    tml_labels_sharing sharing;
    uint32_t smooth;
    double relaxation;
    double bound;
    bool quads;
    bool indices64;
    double position_origin[3];

    tml_mesh_buffers mesh;
    tml_buffer face_labels;
} tml_surface_labels_desc;

/* Extracts the boundaries. Reports progress and can be cancelled. Volumes larger than memory:
 * tml_surface_slabs_desc.boundaries.
 * Returns: *out: mesh, face_labels, counts, stages, and of SEPARATE and MANIFOLD a part per label;
 *          zeroed on failure, but for the counts needed with CAPACITY. Free it with
 *          tml_surface_free.
 * Waits: for the counts; cannot be recorded.
 * Memory: 3 to 7 bits of the host's memory per sample, or 13 to 22 of a device's, 12 to 40 bytes
 *         per vertex, and the outputs (docs/numbers.md).
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CAPACITY,
 *         UNSUPPORTED, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_surface_labels(tml_context *tml,
                                                     const tml_surface_labels_desc *desc,
                                                     tml_surface_result *out);

#ifdef __cplusplus
}
#endif
#endif
