/* trommel-io: points from and to files, and points to mesh files. */
#ifndef TROMMEL_POINTS_H
#define TROMMEL_POINTS_H

#include <trommel/field.h>
#include <trommel/meshes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- points --------------------------------------------------------------------------------- */

/* Points in host memory. Positions are relative to origin, so that map coordinates of seven digits
 * keep their millimetres in 32-bit floats. */
typedef struct tml_points {
    float *positions; /* count x 3 */
    float *radii;     /* count, or NULL where the file has none (PLY and VTK: radius, pscale) */
    float *values;    /* count, or NULL: one scalar a point (intensity, density ...) */
    uint64_t count;
    double origin[3];
    char format[16]; /* "PLY", "XYZ", "PCD", "LAS", "VTK", "VTU", "BGEO" */
    char value_name[32];
    uint64_t dropped;                /* points left out because a coordinate is NaN or infinite */
    tml_mesh_attribute *attributes; /* up to 64 that the file has; data NULL: not asked for */
    uint32_t attribute_count;
} tml_points;

/* Reads points, by content: PLY (ascii, binary, both endians), XYZ/TXT/CSV, PCD 0.7 (ascii, binary,
 * binary_compressed), LAS 1.0-1.4 (LAZ: UNSUPPORTED, with how to convert), legacy VTK points
 * (ascii, binary), VTK XML (one piece; ascii, base64, appended, zlib; UNSUPPORTED in a build
 * without expat), Houdini's classic BGEO (also in gzip). desc may be NULL.
 * Names of attributes. PLY, PCD, XYZ: each column but position and radius has its name; three in a
 * row that end in x, y, z or 0, 1, 2 are one of their common name (vx, vy, vz: "velocity"; nx, ny,
 * nz: "normal"). VTK, VTU and BGEO: point data of up to four components (Cd: "color"). LAS:
 * "intensity", and "color" where the format has it. Colours (red green blue, r g b, PCD's packed
 * rgb, COLOR_SCALARS) are "color" and 0 to 1: bytes are divided by 255, other numbers by 65535 or
 * 255 if any is above 255 or 1. Text: lines end in LF, CR LF or CR; columns are separated by
 * blanks, tabs, commas or semicolons; "1,5" is a number where something else separates. The names
 * x, y, z may have a unit behind them in brackets. Without names, the first three columns are the
 * position, the fourth is the value, and each from the fourth on is an attribute "column N".
 * Warnings, errors with desc.strict: a row that is no point, a point with NaN or infinity (not of
 * PCD, where it means that nothing was seen), lines of prose before the points, and faces of a mesh
 * whose vertices are read as points. Errors in any case: as many rows without a point as with one,
 * a last line without an end that has too few columns, and a count that is not that of the rows.
 * Coordinates are the file's numbers; no point format but LAS states a unit, and none is converted.
 * Release the result with tml_points_free. Errors: as tml_volume_load, and INVALID_ARGUMENT (the
 * points have no such attribute; the message lists those they have). */
TML_API TML_MUST_CHECK tml_status tml_points_load(tml_context *tml, const char *path,
                                                  const tml_load_desc *desc,
                                                  tml_points *out);
TML_API void tml_points_free(tml_context *tml, tml_points *points);
/* Writes PLY (.ply, binary little-endian): positions with origin added, as doubles where it is not
 * 0, radius, the value, and attributes with values, where there are some. "color" of 3 or 4
 * components becomes bytes red, green, blue, alpha; "normal" floats nx, ny, nz; others floats NAME,
 * or NAME_x to NAME_w. Errors: FILE_ACCESS, UNSUPPORTED (the name ends in
 * something else), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_points_save(tml_context *tml, const char *path,
                                                  const tml_points *points);
/* What points seem to be. */
typedef enum tml_points_look {
    TML_POINTS_LOOK_PARTICLES, /* they fill space, move, have radii, or are fewer than 200 */
    TML_POINTS_LOOK_ORIENTED,  /* they have an attribute "normal": a scan */
    TML_POINTS_LOOK_FLAT,      /* about most of them the nearest 20 lie on a plane: a scan */
} tml_points_look;
/* Tells a scan, of whose surface a field of blobs makes a shell with walls on both sides, from
 * particles. By attributes' names, and by the neighbourhoods of 63 points: a search among all
 * points each. */
TML_API tml_points_look tml_points_look_scanned(const tml_points *points);

/* ---- from a points file to a mesh file ------------------------------------------------------- */

/* Which field tml_points_to_mesh makes of points. */
typedef enum tml_points_field {
    TML_POINTS_KERNEL_SUM, /* as tml_field_kind has it */
    TML_POINTS_DISTANCE,
    /* A sum of TML_FIELD_CUBIC_SPLINE over densities: about 1 inside */
    TML_POINTS_DENSITY,
    TML_POINTS_ANISOTROPIC, /* a density of ellipsoids (tml_field_prepare) */
} tml_points_field;

/* Samples along a field's longest side, where nothing else says how fine it is. */
#define TML_POINTS_RESOLUTION 128

/* How tml_points_to_mesh makes a mesh. Zeroed: a sum of kernels within a radius that is chosen.
 * load      optional: how to read the file; the attributes that it names become the mesh's, at most
 *           TML_MESH_MAX_ATTRIBUTES
 * kind      which field
 * field     radius (0: the file's radii, or as tml_field_prepare), kernel, margin, grid.spacing,
 *           lower, upper (places in the file's coordinates) and resolution (0:
 *           TML_POINTS_RESOLUTION, where there is no spacing) are used. With a spacing samples lie
 *           at multiples of it in the file's coordinates
 * cell      spacing as a share of the radius, in place of field.grid.spacing; 0: none
 * save      slabs.surface, optional: isovalues of the field, isovalue_count of them; NULL: the one
 *           that tml_field_prepare suggests. region, topology, normals, soup, caps, flip, indices64
 *           and the filters largest_component and drop_degenerate are used.
 *           slabs.memory, slab_layers, components, write and user; file without origin and
 *           attributes; making; keep_empty and smooth are used. In slabs the field is evaluated slab
 *           by slab
 * collapse  not in slabs: edges shorter than this share of the grid's least spacing are collapsed; 0:
 *           none
 * decide    optional: sees the points, the resolved field, and known's isovalue and stages, before
 *           the surface is made, and may change what is used of save, which is a copy. A status other
 *           than OK ends the call, which returns it
 * user      of decide */
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

/* Makes a mesh file of a points file: reads, makes the points' field, its surface, and writes.
 * path       of the points
 * mesh_path  as of tml_surface_save
 * desc       NULL: zeroed
 * points     optional: what the file says, without arrays
 * field      optional: resolved, without buffers: radius and grid
 * out        released by tml_surface_saved_free
 * Returns: the first failure; out->failed says of what. Without a triangle: TML_OK, out->is_empty
 *          and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: the points, as tml_field_prepare, and as tml_surface_save.
 * Errors: as tml_points_load, tml_field_prepare and tml_surface_save; INVALID_ARGUMENT also for
 *         ANISOTROPIC of points that have radii, without field.radius. The file at mesh_path is then
 *         as it was. */
TML_API TML_MUST_CHECK tml_status tml_points_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_points_mesh_desc *desc,
                                                     tml_points *points, tml_field_desc *field,
                                                     tml_surface_saved *out);

#ifdef __cplusplus
}
#endif
#endif
