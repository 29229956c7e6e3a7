/* Points from and to files, and mesh files of points (docs/points.md, docs/formats.md).
 *
 *     tml_points points;
 *     status = tml_points_load(tml, "scan.las", NULL, &points);
 *     ... points.count, points.positions, points.origin
 *     tml_points_free(tml, &points);
 *
 * From a points file to a mesh file, of a fluid's particles:
 *
 *     const tml_points_mesh_desc desc = {.kind = TML_POINTS_DENSITY};
 *     tml_surface_saved saved;
 *     status = tml_points_to_mesh(tml, "dam.vtk", "dam.ply", &desc, NULL, NULL, &saved);
 *     tml_surface_saved_free(tml, &saved);
 *
 * field.h computes with points in buffers. */
#ifndef TROMMEL_POINTS_H
#define TROMMEL_POINTS_H

#include <trommel/field.h>
#include <trommel/meshes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- points --------------------------------------------------------------------------------- */

/* Points in host memory.
 * positions        count x 3, relative to origin: map coordinates of seven digits keep their
 *                  millimetres in floats
 * radii            count, or NULL if the file has none (PLY, VTK: radius, pscale)
 * values           count, or NULL: one number per point, such as an intensity
 * count            points
 * origin           added to positions
 * format           "PLY", "XYZ", "PCD", "LAS", "VTK", "VTU", "BGEO"
 * value_name       name of values
 * dropped          points that were left out, because a coordinate is NaN or infinite
 * attributes       attribute_count, at most 64: what else the file's points carry. data: count x
 *                  components; NULL if the attribute was not asked for
 * attribute_count  0: none */
typedef struct tml_points {
    float *positions;
    float *radii;
    float *values;
    uint64_t count;
    double origin[3];
    char format[16];
    char value_name[32];
    uint64_t dropped;
    tml_mesh_attribute *attributes;
    uint32_t attribute_count;
} tml_points;

/* Reads points: PLY, XYZ and other text, PCD, LAS, legacy VTK, VTU or BGEO (docs/formats.md).
 * Coordinates are the file's numbers; no unit is converted. docs/points.md says how attributes are
 * named, and how text is read.
 * desc  optional: memory_limit, strict, names, origin and recenter are used
 * out   released by tml_points_free
 * Errors: FILE_ACCESS, FILE_FORMAT, UNSUPPORTED (LAZ, and VTU in a build without expat, with the
 *         remedy), INVALID_ARGUMENT (the file has no attribute of that name; the message lists
 *         those that it has), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_points_load(tml_context *tml, const char *path,
                                                  const tml_load_desc *desc, tml_points *out);
/* Releases points that tml_points_load made. */
TML_API void tml_points_free(tml_context *tml, tml_points *points);
/* Writes points to a binary PLY.
 * path    .ply
 * points  positions with origin added, as doubles if it is not 0; radii, values and attributes if
 *         they are there. "color" of 3 or 4 components becomes bytes red, green, blue, alpha;
 *         "normal" floats nx, ny, nz; others floats NAME, or NAME_x to NAME_w. Names have at most
 *         63 bytes
 * Errors: FILE_ACCESS, UNSUPPORTED (another ending), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_points_save(tml_context *tml, const char *path,
                                                  const tml_points *points);

/* What points look like. */
typedef enum tml_points_look {
    TML_POINTS_LOOK_PARTICLES, /* they fill space, move, have radii, or are fewer than 200 */
    TML_POINTS_LOOK_ORIENTED,  /* a scan: they have an attribute "normal" */
    TML_POINTS_LOOK_FLAT,      /* a scan: most have their nearest 20 on a plane */
} tml_points_look;

/* Returns whether points look like a scan, of which tml_points_to_mesh makes a shell with walls on
 * both sides. Looks at the attributes' names, and at the neighbours of 63 points among all. */
TML_API tml_points_look tml_points_look_scanned(const tml_points *points);

/* ---- from a points file to a mesh file ------------------------------------------------------- */

/* The field that tml_points_to_mesh makes. */
typedef enum tml_points_field {
    TML_POINTS_KERNEL_SUM,  /* TML_FIELD_KERNEL_SUM */
    TML_POINTS_DISTANCE,    /* TML_FIELD_DISTANCE */
    TML_POINTS_DENSITY,     /* a sum of TML_FIELD_CUBIC_SPLINE over densities: about 1
                             * inside */
    TML_POINTS_ANISOTROPIC, /* a density of ellipsoids (tml_field_prepare) */
} tml_points_field;

/* Samples along the longest side of a field, if neither spacing nor resolution is given. */
#define TML_POINTS_RESOLUTION 128

/* How tml_points_to_mesh makes a mesh. Zeroed: a sum of kernels, with a radius from the file or the
 * points' spacing.
 * load      optional: how the file is read. The attributes that it names become those of the mesh,
 *           at most TML_MESH_MAX_ATTRIBUTES
 * kind      which field
 * field     radius (0: the file's radii, or the one of tml_field_prepare), kernel, margin,
 *           grid.spacing, lower, upper (in the file's coordinates) and resolution (0:
 *           TML_POINTS_RESOLUTION, if there is no spacing) are used. Samples lie at multiples of
 *           the spacing in the file's coordinates
 * cell      spacing as a share of the radius, in place of field.grid.spacing; 0: none
 * save      how the surface is made and written (tml_surface_save). Used are
 *             slabs.surface     optional: isovalues (NULL: the one of tml_field_prepare), region,
 *                               topology, normals, soup, caps, flip, indices64, largest_component
 *                               and drop_degenerate
 *             slabs             memory, slab_layers, components, write and user
 *             file              without origin and attributes
 *             making            AUTO: whole. In slabs, the field is computed slab by slab
 *             keep_empty, smooth
 * collapse  collapses edges shorter than this share of the grid's least spacing; 0: none. Not in
 *           slabs
 * decide    optional: sees the points, the resolved field, and known's isovalue and stages, before
 *           the surface is made, and may change save, which is a copy. The call ends if it returns
 *           an error, and returns the same
 * user      passed to decide */
typedef struct tml_points_mesh_desc {
    const tml_load_desc *load;
    tml_points_field kind;
    tml_field_desc field;
    double cell;
    tml_surface_save_desc save;
    double collapse;
    tml_status (*decide)(void *user, const tml_points *points, const tml_field_desc *field,
                         const tml_surface_saved *known, tml_surface_save_desc *save);
    void *user;
} tml_points_mesh_desc;

/* Makes a mesh file of a points file: reads the points, makes a field of them, extracts its surface
 * and writes it.
 * path       of the points
 * mesh_path  of the mesh, as for tml_surface_save
 * desc       NULL: zeroed
 * points     optional: what the file says, without arrays
 * field      optional: the resolved field, without buffers: radius and grid
 * out        released by tml_surface_saved_free
 * Returns: the first failure; out->failed has the part of the call. Without a triangle: TML_OK,
 *          out->is_empty, and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: the points, that of tml_field_prepare, and that of tml_surface_save.
 * Errors: as tml_points_load, tml_field_prepare and tml_surface_save; INVALID_ARGUMENT also if an
 *         ANISOTROPIC field has points with radii and no field.radius. A file at mesh_path stays as
 *         it was. */
TML_API TML_MUST_CHECK tml_status tml_points_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_points_mesh_desc *desc,
                                                     tml_points *points, tml_field_desc *field,
                                                     tml_surface_saved *out);

#ifdef __cplusplus
}
#endif
#endif
