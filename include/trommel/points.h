/* trommel-io: points from and to files, and points to mesh files. */
#ifndef TROMMEL_POINTS_H
#define TROMMEL_POINTS_H

#include <trommel/field.h>
#include <trommel/meshes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- points --------------------------------------------------------------------------------- */

/* What a file's points carry beside position and radius. */
typedef struct tml_point_attribute {
    char name[32];
    uint32_t components; /* 1 to 4 */
    float *values;       /* count x components; NULL: not asked for */
} tml_point_attribute;

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
    tml_point_attribute *attributes; /* up to 64 that the file has */
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

/* What tml_points_to_mesh read and made. Released by tml_points_mesh_free.
 * whole      the mesh; of slabs whole.surface without buffers
 * points     what the file says. Arrays are there while the call runs, and NULL afterwards
 * field      resolved, without buffers after the call: radius and grid
 * isovalue   the first one
 * in_slabs   so it was made
 * stages     what came before the surface: "load", "spacing" (all of the field) */
typedef struct tml_points_mesh_result {
    tml_surface_whole whole;
    tml_points points;
    tml_field_desc field;
    double isovalue;
    bool in_slabs;
    tml_surface_stage stages[2];
    uint32_t stage_count;
} tml_points_mesh_result;

/* How tml_points_to_mesh makes a mesh. Zeroed: a sum of kernels within a radius that is chosen.
 * kind        which field
 * field       radius (0: the file's radii, or as tml_field_prepare), kernel, margin, grid.spacing,
 *             lower, upper (places in the file's coordinates) and resolution (0:
 *             TML_POINTS_RESOLUTION, where there is no spacing) are used. With a spacing samples
 *             lie at multiples of it in the file's coordinates
 * cell        spacing as a share of the radius, in place of field.grid.spacing; 0: none
 * isovalues   of the field, isovalue_count of them. NULL: the one that tml_field_prepare suggests
 * surface     region, topology, normals, soup, caps, flip, indices64 and the filters
 *             largest_component and drop_degenerate are used
 * collapse    edges shorter than this share of the grid's least spacing are collapsed; 0: none
 * smooth      as of tml_surface_whole_desc
 * load        optional: how to read the file; the attributes that it names become the mesh's, at
 *             most TML_MESH_MAX_ATTRIBUTES
 * components, keeps_empty   as of tml_surface_whole_desc
 * comment, up   of the mesh's file, as in tml_mesh
 * slabs       optional: the field is evaluated, and the mesh written, in slabs (tml_surface_save).
 *             Of it slabs.memory, slab_layers, write and user, and mesh.team, edit and user are
 *             used. Not with collapse and smooth. NULL: all of it in memory
 * decide      optional: sees points, field and isovalue before the surface is made. *in_slabs is
 *             whether slabs is given; false has it made in memory. A status other than OK ends the
 *             call, which returns it
 * edit        optional, in memory: as of tml_surface_whole_desc
 * user        of decide and edit */
typedef struct tml_points_mesh_desc {
    tml_points_field kind;
    tml_field_desc field;
    double cell;
    const double *isovalues;
    uint32_t isovalue_count;
    tml_surface_desc surface;
    double collapse;
    uint32_t smooth;
    const tml_load_desc *load;
    bool components, keeps_empty;
    const char *comment;
    tml_up up;
    const tml_surface_save_desc *slabs;
    tml_status (*decide)(void *user, const tml_points_mesh_result *known, bool *in_slabs);
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
} tml_points_mesh_desc;

/* Makes a mesh file of a points file: reads, makes the points' field, its surface, and writes.
 * path        of the points
 * mesh_path   .ply, .stl, .obj, .glb or .vtp; NULL, without slabs: nothing is written
 * desc        NULL: zeroed
 * Returns: the first failure; out->whole.failed says of what. Without a triangle: TML_OK,
 *          out->whole.is_empty and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: the points, as tml_field_prepare, and as tml_surface_save_whole or tml_surface_save.
 * Errors: as tml_points_load, tml_field_prepare and these two; INVALID_ARGUMENT also for
 * ANISOTROPIC
 *         of points that have radii, without field.radius. The file at mesh_path is then as it
 *         was. */
TML_API TML_MUST_CHECK tml_status tml_points_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_points_mesh_desc *desc,
                                                     tml_points_mesh_result *out);
TML_API void tml_points_mesh_free(tml_context *tml, tml_points_mesh_result *result);

#ifdef __cplusplus
}
#endif
#endif
