/* trommel-io: volumes, points, meshes and pictures from and to files. A second library: it needs
 * zlib and the core; the core does not need it.
 *
 * Every loader is strict about what the format demands and says which field of which file is wrong.
 * No size field is trusted: before an allocation it is checked against the bytes that are there.
 * Every writer writes a file beside the target and renames it when complete, so a failed or
 * cancelled run leaves the old file, or none. All memory comes from the context's allocator. */
#ifndef TROMMEL_IO_H
#define TROMMEL_IO_H

#include <trommel/surface.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- volumes -------------------------------------------------------------------------------- */

/* A volume in host memory, in the file's own type and the machine's byte order. */
typedef struct tml_volume {
    void *data;    /* dims[0] * dims[1] * dims[2] samples, x fastest */
    size_t size;   /* bytes in data */
    tml_type type; /* one of the eleven scalars */
    tml_grid grid; /* 2-D files have dims[2] = 1; positions in the file's own space, LPS or RAS as
                      stated */
    double slope; /* physical value = slope * sample + intercept; 1 and 0 where the file has none */
    double intercept;
    /* of grid.spacing and grid.origin, UTF-8: "mm", "µm", "nm", "cm", "m", "Å", "in", or as the
     * file spells another; empty where the file states none */
    char unit[16];
    uint64_t frame_count; /* volumes or components in the file, of which this is one */
    char format[16];      /* "NRRD", "NIfTI-1", "MetaImage", "MRC", "NPY", "VTK", "VTI", "TIFF",
                      * "DICOM", "raw" */
    char space[32];       /* "left-posterior-superior", "right-anterior-superior", or empty */
    char comment[96];     /* what else a person would like to know; may be empty */
} tml_volume;

/* For headerless files, and for choosing within files. Zeroed: take what the file says. */
typedef struct tml_volume_load_desc {
    uint64_t dims[3];  /* raw: required, unless the name says dims and type as in
                        * engine_256x256x128_uint8.raw. Otherwise must be 0 */
    tml_type type;     /* raw: required as dims are */
    bool big_endian;   /* raw */
    uint64_t skip;     /* raw: bytes before the first sample (after unzipping) */
    double spacing[3]; /* overrides the file's when not 0 */
    /* which volume of a 4-D file, or which component of a vector file; of a file of several arrays
     * (comment lists them), components of the active or first scalars first, on cells last */
    uint32_t frame;
    /* refuse volumes larger than this many bytes; 0: no limit beyond malloc */
    uint64_t memory_limit;
    /* Refuse a file of which something would be left out or assumed. By default the log gets a
     * warning of each kind, and the file is read. */
    bool strict;
} tml_volume_load_desc;

/* Reads NRRD (.nrrd .nhdr; bzip2 where the build found libbz2, TML_BZIP2), NIfTI-1/2 (.nii .nii.gz
 * .hdr/.img), MetaImage (.mha .mhd), MRC/CCP4 (.mrc .map .rec .ccp4), NPY, VTK (.vtk of
 * STRUCTURED_POINTS; where the build found expat, TML_XML, .vti of one piece, not LZ4 or LZMA),
 * TIFF (pages are layers, of one grey sample a pixel; where it found libtiff, TML_TIFF), DICOM
 * (TML_DICOM), or raw (.raw, any name when desc gives dims and type; .gz is unzipped). The format
 * is found by content first, then by name. VTK's arrays on cells are volumes of the cells' centres.
 * path is UTF-8. desc may be NULL.
 * DICOM is read where it is not compressed: the frames of a file, or the slices of its series in
 * the file's folder, sorted along their normal; path may be that folder, if it holds one series.
 * TIFF: OME's XML (in a build with expat), ImageJ's and SCIFIO's lines, and the resolution give
 * spacing and unit; ImageJ's linear calibration is slope and intercept; OME says which page of
 * which file is which layer, and other files of the image are read from the same folder. A spacing
 * that is not stated beside one that is goes to the log as a warning. docs/formats.md has all of
 * it. TIFF slices are read from their folder: path is one in which the TIFF files have a page each,
 * all of one size and type, which become layers in natural order (9 before 10). Other files there
 * do not count, but DICOM among them is refused. comment tells of them, and of a missing number.
 * DICOM's slices must be equally spaced (in 2 %), and may be sheared as by a tilted gantry:
 * direction then is no rotation. Slices without positions are ordered by SliceLocation,
 * InstanceNumber or name, with a warning. If slices or frames have slopes of their own, samples
 * are floats of physical values.
 * A pointer of Git LFS or git-annex, and a web page, are UNSUPPORTED, whatever their name.
 * What follows the samples in a file with a header does not matter, compressed or not; headerless
 * samples must be all that there is, or that many volumes.
 * Release the result with tml_volume_free. Errors: FILE_ACCESS, FILE_FORMAT, UNSUPPORTED,
 * OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_load(tml_context *tml, const char *path,
                                                  const tml_volume_load_desc *desc,
                                                  tml_volume *out);
TML_API void tml_volume_free(tml_context *tml, tml_volume *volume);
/* Replaces a loaded volume's samples by the physical values that they stand for; slope is 1 then
 * and intercept 0.
 * volume  data from the context, as tml_volume_load makes it; f32 afterwards where samples were f32
 *         or had at most 16 bits, else f64, each value rounded once
 * Memory: both at once. Errors: OUT_OF_MEMORY; volume is as it was then. */
TML_API TML_MUST_CHECK tml_status tml_volume_make_physical(tml_context *tml, tml_volume *volume);

/* The name of the volume format that a file has, as tml_volume.format has it without version;
 * "gzip" where it is compressed and too damaged to tell (tml_volume_load says how). NULL where it
 * has none or cannot be read. */
TML_API const char *tml_volume_format(tml_context *tml, const char *path);

/* How often which values are among samples. */
typedef struct tml_value_histogram {
    double lower, upper; /* of the finite samples; lower > upper when there are none */
    double mean;         /* of the finite samples; NaN when there are none */
    double first;        /* centre of bins[0] */
    double step;         /* distance of two bins' centres */
    uint32_t bin_count;
    uint64_t *bins;            /* from the context; released by tml_value_histogram_free */
    uint64_t nans, infinities; /* samples that are in no bin */
} tml_value_histogram;

/* Counts count samples at data, in host memory, of a scalar type, a volume's for instance. Types of
 * 8 and 16 bits other than f16 get a bin for each value and are exact, the others 4096 bins over
 * their range. Runs on the context's threads and is the same for any number of them. Release the
 * result with tml_value_histogram_free. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY; *out is zeroed
 * then. */
TML_API TML_MUST_CHECK tml_status tml_value_histogram_make(tml_context *tml, const void *data,
                                                           tml_type type, uint64_t count,
                                                           tml_value_histogram *out);
TML_API void tml_value_histogram_free(tml_context *tml, tml_value_histogram *histogram);

/* The value that best divides the samples into a low and a high class, which is a good first
 * isovalue: the greatest variance between the classes; in the middle where several do. lower where
 * there is nothing to divide. After: Otsu: A Threshold Selection Method from Gray-Level Histograms.
 * 1979. */
TML_API double tml_value_histogram_otsu(const tml_value_histogram *histogram);

/* Are the samples labels as they are: integers, without slope and intercept? */
TML_API bool tml_volume_has_labels(const tml_volume *volume);
/* Makes a volume of labels, for tml_surface and tml_surface_labels: integers that are the physical
 * values of volume (slope * sample + intercept).
 * volume  any scalar type; its samples may be the caller's own
 * out     has memory of its own, slope 1 and intercept 0. Its type is that of the samples where
 *         they are labels as they are; else i32, or where a label needs it i64, or u64
 * Floats are labels where all are whole numbers. The log gets a warning where a float is beyond the
 * numbers that its type has all of (2^24 for f32). With a slope, a value that is as near to a whole
 * number as rounding the slope to 32 bits leaves it is that number.
 * Release the result with tml_volume_free. The same for any number of threads.
 * Errors: INVALID_ARGUMENT (the first sample that is no whole number), UNSUPPORTED (a sample beyond
 * 2^53 with a slope; labels that fit no integer type), OUT_OF_MEMORY; *out is zeroed then. */
TML_API TML_MUST_CHECK tml_status tml_volume_labels(tml_context *tml, const tml_volume *volume,
                                                    tml_volume *out);

/* Labels of a volume beside those that were looked for.
 * count     values but 0 that occur, at most 2^16
 * has_more  there are more
 * first     the first of them in the order of the samples; of signed types an int64_t's bits */
enum { TML_LABELS_LISTED = 6 };
typedef struct tml_other_labels {
    uint64_t count;
    bool has_more;
    uint64_t first[TML_LABELS_LISTED];
} tml_other_labels;

/* Looks for labels in a region of a volume.
 * volume    labels as they are (tml_volume_has_labels), with samples
 * region    as in tml_surface_desc; NULL: all
 * labels    label_count of them; of signed types an int64_t's bits
 * is_there  label_count of them: has a sample this label?
 * others    what else there is
 * Errors: INVALID_ARGUMENT (volume is not of labels), OUT_OF_MEMORY */
TML_API TML_MUST_CHECK tml_status tml_volume_find_labels(tml_context *tml, const tml_volume *volume,
                                                         const tml_region *region,
                                                         const uint64_t *labels,
                                                         uint32_t label_count, bool *is_there,
                                                         tml_other_labels *others);

/* Writes NRRD (.nrrd, raw encoding), MetaImage (.mha, raw), NPY (.npy) or headerless .raw
 * (little-endian), by the name's ending. NRRD holds everything; MetaImage the grid, in LPS, and
 * units of mm, cm and µm, but no slope; the others the samples alone. The log warns of what is
 * lost. */
TML_API TML_MUST_CHECK tml_status tml_volume_save(tml_context *tml, const char *path,
                                                  const tml_volume *volume);

/* A volume that is read layer by layer (a layer: dims[0] * dims[1] samples), of any size. Opening
 * reads the header and looks whether the data files hold what it promises. info: everything but the
 * samples. One stream at a time may be used on a context by another thread than the context's own,
 * while that does nothing else. Text, and files whose slowest axis is not z, are UNSUPPORTED: they
 * are loaded whole. Errors: as tml_volume_load. desc.memory_limit is not looked at. */
typedef struct tml_volume_stream tml_volume_stream;
TML_API TML_MUST_CHECK tml_status tml_volume_stream_open(tml_context *tml, const char *path,
                                                         const tml_volume_load_desc *desc,
                                                         tml_volume *info, tml_volume_stream **out);
/* Reads layers [first, first + count) to out, in the machine's byte order. Layers are read in
 * ascending order; those between are skipped. After the last one compressed data's checksum is
 * looked at. Errors: INVALID_ARGUMENT (a layer that is past), FILE_ACCESS, FILE_FORMAT,
 * OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_read(tml_volume_stream *stream, uint64_t first,
                                                         uint64_t count, void *out);
/* Is what the stream reads inflated on the way, from gzip, zlib or bzip2, or decoded, slice by
 * slice? Reading then takes longer than most of what is done with a volume, and had better go on
 * beside it. */
TML_API bool tml_volume_stream_inflates(const tml_volume_stream *stream);
/* All samples as memory that the system reads when it is looked at: good until the stream is
 * closed, and only while nobody shortens the file (the process would be ended). For raw samples in
 * one file, in the machine's byte order and type's alignment; others UNSUPPORTED. Errors:
 * FILE_ACCESS, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_map(tml_volume_stream *stream,
                                                        const void **out);
/* Has the system read mapped layers [first, first + count), and waits for it; may be called
 * from another thread. Errors: INVALID_ARGUMENT (nothing is mapped, or a layer is past),
 * FILE_ACCESS (the file was shortened, or the disk failed: before it is looked at, where the
 * system can tell). */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_bring(tml_volume_stream *stream, uint64_t first,
                                                          uint64_t count);
/* Of mapped samples, those of layers below this one need not stay in memory; they may be looked at
 * again. */
TML_API void tml_volume_stream_let_go(tml_volume_stream *stream, uint64_t layer);
TML_API void tml_volume_stream_close(tml_volume_stream *stream); /* NULL is allowed */

/* Least and largest sample of each brick of 64 x 4 x 4 samples (what tml_surface_index finds, x
 * fastest), to be kept beside the volume. -inf and inf: of a brick with a NaN. */
typedef struct tml_bricks {
    uint64_t dims[3]; /* of the volume */
    tml_type type;
    float *ranges;  /* count x 2 */
    uint64_t count; /* tml_bricks_count(dims) */
} tml_bricks;
TML_API uint64_t tml_bricks_count(const uint64_t dims[3]); /* 0 where there are more than 2^64 */
/* Errors: FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_bricks_save(tml_context *tml, const char *path,
                                                  const tml_bricks *bricks);
/* Release with tml_bricks_free. Errors: FILE_ACCESS, FILE_FORMAT (also a checksum that is not the
 * contents'), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_bricks_load(tml_context *tml, const char *path,
                                                  tml_bricks *out);
TML_API void tml_bricks_free(tml_context *tml, tml_bricks *bricks);
/* Do the samples of a volume's layers [first, first + count), in host memory, lie within the ranges
 * of their bricks? The file of an index names dims and type of its volume, and no more, so this is
 * what tells it from another's: where all samples lie within their ranges, a surface by this index
 * is right. Every step-th row (of dims[0] samples, counted from layer first on) is looked at; step
 * 1: all of them. A few hundred rows, spread evenly, nearly always tell; a change that none of them
 * meets is not seen. False also where a layer is past the last, or step is 0. */
TML_API bool tml_bricks_hold(const tml_bricks *bricks, const void *samples, uint64_t first,
                             uint64_t count, uint64_t step);

/* ---- several processes ----------------------------------------------------------------------- */

/* Processes that make one file together, each a share of it: those of an MPI job, say, which the
 * library need not know. Lower ranks have what comes first in the file. Every function is called on
 * all ranks in the same order and waits for them all; once one process has failed, the call that
 * the others are in, and each one after it, fails on them with CANCELLED, so that none waits for
 * what does not come. A process that fails elsewhere is told of to the others by whoever made the
 * team. Messages go to tml. */
typedef struct tml_team {
    uint32_t rank, count; /* this process, of so many */
    /* before: sums of mine over the ranks before this one; all: over all. */
    tml_status (*scan)(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                       uint64_t *before, uint64_t *all);
    /* all: count numbers of each rank, one rank after another. */
    tml_status (*gather)(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                         uint64_t *all);
    /* out goes to the next rank or, down, to the one before; in comes from the other side. Where
     * there is no such rank, nothing is sent or received. */
    tml_status (*shift)(void *user, tml_context *tml, bool down, const void *out, uint64_t out_size,
                        void *in, uint64_t in_size);
    /* data of rank from goes to rank 0's, which has the same size; other ranks' arguments do not
     * matter. */
    tml_status (*bring)(void *user, tml_context *tml, uint32_t from, void *data, uint64_t size);
    /* Rank 0's file, which exists, is opened for writing by all; path matters on rank 0. */
    tml_status (*open)(void *user, tml_context *tml, const char *path);
    /* Each rank writes its size bytes, perhaps 0, at its offset. */
    tml_status (*write)(void *user, tml_context *tml, uint64_t offset, const void *data,
                        uint64_t size);
    tml_status (*close)(void *user, tml_context *tml);
    void *user;
} tml_team;

/* ---- arrays --------------------------------------------------------------------------------- */

/* A flat array (NPY of any shape, C order), for the stream commands. */
typedef struct tml_array {
    void *data;
    size_t size;
    tml_type type;  /* scalar, or a vector of 2 to 4 where the last dimension is that long and
                     * there are two or more dimensions */
    uint64_t count; /* elements of that type */
} tml_array;

TML_API TML_MUST_CHECK tml_status tml_array_load(tml_context *tml, const char *path,
                                                 tml_array *out);
TML_API void tml_array_free(tml_context *tml, tml_array *array);
TML_API TML_MUST_CHECK tml_status tml_array_save(tml_context *tml, const char *path,
                                                 const tml_array *array);

/* Elements [first, first + count) of an array of scalars (vectors count as their numbers), and how
 * many there are in all; with count 0 its type and total alone, the file having been found to hold
 * them. Free with tml_array_free. Errors: as tml_array_load; UNSUPPORTED (gzipped, or in Fortran's
 * order: no part can be read alone), INVALID_ARGUMENT (past the end). */
TML_API TML_MUST_CHECK tml_status tml_array_load_part(tml_context *tml, const char *path,
                                                      uint64_t first, uint64_t count,
                                                      tml_array *out, uint64_t *total);
/* An NPY file of count scalars that is written piece by piece: in order or, of a team (NULL: this
 * process alone), each rank its own elements, all of them as many pieces, of which some may be
 * empty. */
typedef struct tml_array_stream tml_array_stream;
TML_API TML_MUST_CHECK tml_status tml_array_stream_open(tml_context *tml, const char *path,
                                                        tml_type type, uint64_t count,
                                                        const tml_team *team,
                                                        tml_array_stream **out);
TML_API TML_MUST_CHECK tml_status tml_array_stream_write(tml_array_stream *stream, uint64_t first,
                                                         uint64_t count, const void *data);
/* Completes the file where status is OK, else leaves what was there; frees the stream in either
 * case. */
TML_API TML_MUST_CHECK tml_status tml_array_stream_finish(tml_array_stream *stream,
                                                          tml_status status);

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

/* Zeroed: positions, radii and one value of every point. */
typedef struct tml_points_load_desc {
    /* Attributes whose values are read, by their names in any case; at most 32 numbers a point. The
     * name "*" stands for all that there is room for; those that are left out are warned of. */
    const char *const *names;
    uint32_t name_count;
    uint64_t memory_limit; /* refuse points that take more bytes than this; 0: no limit */
    bool strict;           /* as of tml_volume_load_desc */
    /* 3 numbers: positions are to be relative to it, as to that of a mesh which the points are
     * compared with; NULL: the file's own coordinates choose it */
    const double *origin;
} tml_points_load_desc;

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
                                                  const tml_points_load_desc *desc,
                                                  tml_points *out);
TML_API void tml_points_free(tml_context *tml, tml_points *points);
/* Writes PLY (.ply, binary little-endian): positions with origin added, as doubles where it is not
 * 0, radius, the value, and attributes with values, where there are some. "color" of 3 or 4
 * components becomes bytes red, green, blue, alpha; "normal" floats nx, ny, nz; others floats NAME,
 * or NAME_x to NAME_w. Errors: FILE_ACCESS, UNSUPPORTED (the name ends in
 * something else), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_points_save(tml_context *tml, const char *path,
                                                  const tml_points *points);
/* The name of the point format that a file has, or NULL where it has none or cannot be read. Any
 * PLY may be read as points, and text of any kind passes for XYZ. */
TML_API const char *tml_points_format(tml_context *tml, const char *path);

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

/* When are vertices of exactly equal coordinates one vertex? */
typedef enum tml_weld {
    TML_WELD_AUTO,  /* where the format has no shared vertices: STL */
    TML_WELD_NEVER, /* vertices are as in the file */
    TML_WELD_ALWAYS /* glTF, too, which splits vertices where normals or texture coordinates do */
} tml_weld;

/* Zeroed: take what the file says. */
typedef struct tml_mesh_load_desc {
    tml_weld weld;
    uint64_t memory_limit; /* refuse what needs more bytes than this; 0: no limit beyond malloc */
    bool strict;           /* as of tml_volume_load_desc */
    /* 3 numbers: positions are to be relative to it, so that two meshes far from 0 can be compared
     * in floats; NULL: the file's own coordinates choose it */
    const double *origin;
} tml_mesh_load_desc;

/* Makes positions small that are far from 0: subtracts a centre from them and adds it to origin.
 * A coordinate is only moved where that is exact, so positions + origin stays the same. Readers
 * leave positions as they are where floats hold them, which is good enough until they are computed
 * with, or compared with another file's.
 * positions  count x 3, changed in place; those that are not finite stay
 * origin     3 numbers, changed
 * Returns: true where something moved. */
TML_API bool tml_positions_recenter(float *positions, uint64_t count, double origin[3]);

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
                                                const tml_mesh_load_desc *desc, tml_mesh_file *out);
TML_API void tml_mesh_file_free(tml_context *tml, tml_mesh_file *file);
/* The name of the mesh format that a file has, or NULL where it has none or cannot be read. PLY
 * that has vertices and no faces is points. Text with lines that begin with v is taken for OBJ,
 * whatever its name. */
TML_API const char *tml_mesh_format(tml_context *tml, const char *path);

/* A mesh that is written as it is made, piece by piece, to the same file, bit for bit, that
 * tml_mesh_save makes of the whole. Until the end, pieces lie in nameless files beside the target:
 * formats want counts first, or arrays one after another. So the disk needs room for the mesh
 * twice (but see desc.vertex_count); memory is some megabytes, whatever the mesh. */
typedef struct tml_mesh_stream tml_mesh_stream;
typedef struct tml_mesh_stream_desc {
    bool normals, values; /* each piece has them */
    /* Names and components of what each piece has, too, in this order; copied, without data. */
    const tml_mesh_attribute *attributes;
    uint32_t attribute_count;
    /* An integer's: pieces have face_labels of this type, as of tml_mesh. NONE: none. Not with soup
     * and edit. */
    tml_type face_label_type;
    bool soup;      /* pieces have no indices */
    bool quads;     /* each piece's faces are, as of tml_mesh; not with soup and edit */
    bool indices64; /* of each piece's indices */
    double origin[3];
    const char *value_name; /* as in tml_mesh; copied, like comment */
    const char *comment;
    tml_up up; /* as in tml_mesh */
    /* Optional, not of soups: may change the mesh before it is written, and make it less, as
     * tml_mesh_clean does. Called by tml_mesh_stream_finish, once there is a vertex; the arrays are
     * mapped files, whose pages release_pages releases. */
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
    /* Optional: each rank adds the pieces of its share, in which numbers begin at 0 in each part,
     * and all of them finish together, to the file that one process would write of all shares.
     * Triangles may name vertices of the next rank. Pieces of soups have indices, which become
     * corners at the end. PLY, STL and VTP are written by all ranks at once; for OBJ and GLB, and
     * for edit, all pieces first come to rank 0, whose disk needs room for them. */
    const tml_team *team;
    /* Optional: the parts, of which triangle_count and, of welded meshes, vertex_count are used;
     * copied. Without edit and team, a PLY, a GLB, a VTP and, of a soup, an STL then need no room
     * on the disk but their own: rows are written where they belong. Pieces that are more or,
     * together, less are INVALID_ARGUMENT. NULL: not known. */
    const tml_mesh_part *parts;
    uint32_t part_count;
} tml_mesh_stream_desc;
/* Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_open(tml_context *tml, const char *path,
                                                       const tml_mesh_stream_desc *desc,
                                                       tml_mesh_stream **out);
/* Appends to a part (0, 1 ...; any order): in the file, parts follow one another. Of piece, the
 * arrays and counts are used. Indices are numbers within the part, and may be those of later
 * pieces. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_add(tml_mesh_stream *stream, uint32_t part,
                                                      const tml_mesh *piece);
/* Writes the file where status is OK, else leaves what was there; frees the stream in either case.
 * Returns the first failure, status included; of a team, only ranks whose status is OK take part,
 * and rank 0 replaces the file after all have succeeded. Errors: as tml_mesh_save. */
TML_API TML_MUST_CHECK tml_status tml_mesh_stream_finish(tml_mesh_stream *stream,
                                                         tml_status status);

/* ---- surfaces from file to file -------------------------------------------------------------- */

/* The part of a call that failed. */
typedef enum tml_side {
    TML_SIDE_NONE,
    TML_SIDE_SOURCE,  /* a volume, mask or attribute could not be read */
    TML_SIDE_BRICKS,  /* desc.bricks are those of another volume */
    TML_SIDE_SURFACE, /* the surface could not be made */
    TML_SIDE_MESH,    /* the mesh could not be written */
} tml_side;

/* A surface that is made in slabs and written to a file meanwhile.
 * slabs       as for tml_surface_slabs. surface may also ask for largest_component and
 *             drop_degenerate, which are done in the file. write is optional: it sees each piece
 *             before the piece is written. layer_first and layer_count are used without mesh.team
 * mesh        of the file, value_name, comment, up, origin, attributes and team are used; the other
 *             fields follow from slabs. attributes name slabs.field_values, in their order. edit is
 *             optional: it sees the mesh after the filters
 * volume      optional, in place of slabs.read and slabs.map: a stream that was opened on another
 *             context, which the call uses from a thread of its own. slabs.type, has_mask and
 *             attribute_type are then those of the streams. Samples are mapped if all streams can
 *             be mapped, else read
 * mask        optional, with volume: samples that are 0 are missing. Any scalar type
 * attribute   optional, with volume: its physical values come to the vertices
 * bricks      optional, with volume: bricks that the surface does not cross are not looked at, and
 *             not read where the volume is mapped and neither mask nor attribute is given. At least
 *             512 rows of the volume are compared with the bricks
 * no_map      reads also where the samples could be mapped: of files that may be shortened
 *             meanwhile
 * counts_first  looks at mapped samples twice, first to count, so that a PLY, STL, GLB or VTP
 *               without
 *             filters needs no room on the disk but its own. Worth it while the volume is in memory
 * keeps_empty  writes a mesh without triangles, too */
typedef struct tml_surface_save_desc {
    tml_surface_slabs_desc slabs;
    tml_mesh_stream_desc mesh;
    tml_volume_stream *volume, *mask, *attribute;
    const tml_bricks *bricks;
    bool no_map;
    bool counts_first;
    bool keeps_empty;
} tml_surface_save_desc;

/* What tml_surface_save made.
 * surface   parts, counts, components and stages, without buffers; of a team, those of all.
 *           Released by tml_surface_free
 * is_empty  there is no triangle and, without desc.keeps_empty, no file
 * failed    the part of the call that failed; NONE after TML_OK */
typedef struct tml_surface_saved {
    tml_surface_result surface;
    bool is_empty;
    tml_side failed;
} tml_surface_saved;

/* Makes a surface in slabs and writes it: the file that tml_mesh_save writes of tml_surface's or
 * tml_surface_labels' mesh, bit for bit, while neither the volume nor the mesh is ever whole in
 * memory.
 * path     .ply, .stl, .obj, .glb or .vtp
 * Returns: the first failure. Its message is in tml, also where a stream's context had it.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: as tml_surface_slabs and tml_mesh_stream_open.
 * Errors: as tml_surface_slabs, tml_volume_stream_read and tml_mesh_save. The file at path is then
 *         as it was; out->surface is empty. */
TML_API TML_MUST_CHECK tml_status tml_surface_save(tml_context *tml, const char *path,
                                                   const tml_surface_save_desc *desc,
                                                   tml_surface_saved *out);

/* How tml_volume_to_mesh makes a mesh. Zeroed: one surface, at an isovalue by Otsu's method.
 * isovalues    physical values, isovalue_count of them. NULL: one is chosen, and the volume is read
 *              once more for it; a volume that cannot be mapped comes to memory then
 * labels       optional, instead of isovalues: labels' boundaries, as for tml_surface_labels.
 *              Without volume, grid and outputs. With separate, all is made in memory, and a
 *              mesh_path with "%d" stands for a file a label, as for tml_surface_save_whole
 * surface      region, topology, normals, soup, caps, indices64, flip and the filters
 *              largest_component and drop_degenerate are used. flip: inside is below the isovalue.
 *              caps close the high side of the samples
 * load         optional: how to read the volume's file. memory_limit bounds a volume that comes to
 *              memory
 * mask, attribute   optional: paths of volumes of the same dims, as of tml_surface_save_desc
 * memory       bytes that samples, scratch and a piece of the mesh may take; 0: 1 GiB
 * slab_layers  layers a slab; 0: as memory allows
 * components   counts connected components
 * no_map       as of tml_surface_save_desc
 * value_name, comment, up   of the mesh's file, as in tml_mesh */
typedef struct tml_volume_mesh_desc {
    const double *isovalues;
    uint32_t isovalue_count;
    const tml_surface_labels_desc *labels;
    tml_surface_desc surface;
    const tml_volume_load_desc *load;
    const char *mask, *attribute;
    uint64_t memory, slab_layers;
    bool components, no_map;
    const char *value_name, *comment;
    tml_up up;
} tml_volume_mesh_desc;

/* What tml_volume_to_mesh read and made.
 * saved      the mesh; saved.surface is released by tml_surface_free
 * volume     what the file says of itself, without samples
 * isovalue   the first one, physical
 * is_mapped  the samples were not copied */
typedef struct tml_volume_mesh_result {
    tml_surface_saved saved;
    tml_volume volume;
    double isovalue;
    bool is_mapped;
} tml_volume_mesh_result;

/* Makes a mesh file of a volume file: reads, makes the surface in slabs and writes. A volume that
 * cannot be read layer by layer (tml_volume_stream_open) is loaded whole.
 * path        of the volume
 * mesh_path   .ply, .stl, .obj, .glb or .vtp
 * desc        NULL: zeroed
 * Returns: the first failure; out->saved.failed says of what. Without a triangle: TML_OK,
 *          out->saved.is_empty and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: desc->memory, and a volume, mask and attribute that have to be loaded.
 * Errors: as tml_volume_load and tml_surface_save; INVALID_ARGUMENT also for a mask or attribute of
 *         other dims, labels of samples that are none, and a volume without a finite sample. The
 *         file at mesh_path is then as it was. */
TML_API TML_MUST_CHECK tml_status tml_volume_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_volume_mesh_desc *desc,
                                                     tml_volume_mesh_result *out);

/* A surface that is made whole in memory, changed, and written.
 * surface     as for tml_surface, without outputs and indices16, octahedral_normals, vertex_stride
 * boundaries  instead of surface: labels' boundaries, as for tml_surface_labels, without outputs
 * field       optional, of points: tml_field_prepared.balls, for smoothing and field_values
 * field_values   with field: what the points carry; the vertices get the means. mesh.attributes
 *                names
 *             them, in their order
 * smooth      iterations of tml_mesh_smooth on the mesh of surface: TAUBIN, or with field
 *             LAPLACIAN, weighted by tml_field_smooth_weights. 0: none
 * values      optional: slope and intercept of the values in surface->attribute
 * mesh        of the file, value_name, comment, up, origin, attributes and attribute_count are
 *             used; the other fields follow from surface or boundaries
 * components  counts connected components; not of soups and quads
 * keeps_empty writes a mesh without triangles, too
 * edit        optional: sees the mesh in host memory before it is written, and may replace its
 *             arrays by others, which stay there until the call returns. *out is complete by then
 *             but for the time of writing
 * user        of edit */
typedef struct tml_surface_whole_desc {
    const tml_surface_desc *surface;
    const tml_surface_labels_desc *boundaries;
    const tml_field_desc *field;
    tml_buffer field_values[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t smooth;
    const tml_volume *values;
    tml_mesh mesh;
    bool components, keeps_empty;
    tml_status (*edit)(void *user, tml_mesh *mesh);
    void *user;
} tml_surface_whole_desc;

/* What tml_surface_save_whole made. Released by tml_surface_whole_free.
 * surface   buffers, counts, parts (of separate boundaries, one a label) and components
 * labels    of boundaries: the result whose buffers surface has
 * is_empty  there is no triangle and, without desc.keeps_empty, no file
 * failed    the part of the call that failed; NONE after TML_OK
 * seconds   of the surface alone
 * stages    what came after it: "smooth", "attributes", "components", "save" */
typedef struct tml_surface_whole {
    tml_surface_result surface;
    tml_surface_labels_result labels;
    bool is_empty;
    tml_side failed;
    double seconds;
    tml_surface_stage stages[4];
    uint32_t stage_count;
    tml_buffer field_values[TML_FIELD_MAX_ATTRIBUTES]; /* the means */
} tml_surface_whole;

/* Makes a surface whole in memory and writes it; tml_surface_save is the same in slabs.
 * path     .ply, .stl, .obj, .glb or .vtp. With separate boundaries, a name that has "%d" or "%04d"
 *          stands for a file a label (tml_path_number). NULL: nothing is written
 * Returns: the first failure. Without a triangle: TML_OK, out->is_empty and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: as tml_surface, tml_mesh_smooth, tml_field_mean and tml_mesh_save; of a file a label, the
 *         indices of the largest once more.
 * Errors: as these calls, and what edit returns. *out is empty then but for failed. */
TML_API TML_MUST_CHECK tml_status tml_surface_save_whole(tml_context *tml, const char *path,
                                                         const tml_surface_whole_desc *desc,
                                                         tml_surface_whole *out);
TML_API void tml_surface_whole_free(tml_context *tml, tml_surface_whole *whole);

/* Has a name one "%d", or one "%04d" with a digit from 1 to 9, and no other "%"? */
TML_API bool tml_path_is_numbered(const char *pattern);
/* Puts a number in the place of a name's "%d"; a name without "%" stays as it is.
 * number     with is_signed an int64_t's bits
 * out        size bytes
 * Returns: false where the name has another "%", or out is too short. */
TML_API bool tml_path_number(const char *pattern, uint64_t number, bool is_signed, char *out,
                             size_t size);

/* Which field tml_points_to_mesh makes of points. */
typedef enum tml_points_field {
    TML_POINTS_KERNEL_SUM, /* as tml_field_kind has it */
    TML_POINTS_DISTANCE,
    /* A sum of TML_FIELD_CUBIC_SPLINE over tml_field_densities: about 1 inside */
    TML_POINTS_DENSITY,
    TML_POINTS_ANISOTROPIC, /* a density of ellipsoids (tml_field_shapes) */
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
 * field       radius (0: the file's radii, or as tml_field_resolve), kernel, margin, grid.spacing,
 *             lower, upper (places in the file's coordinates) and resolution (0:
 *             TML_POINTS_RESOLUTION, where there is no spacing) are used. With a spacing samples
 *             lie at multiples of it in the file's coordinates
 * cell        spacing as a share of the radius, in place of field.grid.spacing; 0: none
 * isovalues   of the field, isovalue_count of them. NULL: the one that tml_field_resolve suggests
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
    const tml_points_load_desc *load;
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

/* ---- pictures ------------------------------------------------------------------------------- */

/* A picture in host memory: rows from the top, pixels from the left, colours interleaved, no gaps,
 * in the machine's byte order. What tml_image (trommel/image.h) describes in a buffer. */
typedef struct tml_picture {
    void *data;
    size_t size;            /* bytes in data */
    tml_type type;          /* u8, u16, f16 or f32 */
    uint32_t width, height; /* at least 1 */
    uint32_t channels;      /* 1: grey, 2: grey and alpha, 3: red, green, blue, 4: and alpha */
    bool srgb; /* u8 and u16: coded as sRGB; false: linear, the largest integer being 1 */
    /* Where the pixels lie in the picture as it is meant to be shown, which is full_width x
     * full_height: an OpenEXR file's data window in its display window. Elsewhere 0, 0 and the
     * picture's own size. */
    int32_t x, y;
    uint32_t full_width, full_height;
    char format[16];  /* "Radiance", "PFM", "PNG", "JPEG", "OpenEXR" */
    char comment[96]; /* what else a person would like to know; may be empty */
} tml_picture;

/* Reads, by content:
 *   Radiance  .hdr .pic: RGBE flat and in both run-length forms, all eight orientations; f32, 3
 *             channels. A mantissa m and exponent e are m * 2^(e - 136), divided by the header's
 *             EXPOSUREs and COLORCORRs, so that values are radiances again. XYZE: UNSUPPORTED
 *   PFM       colour and grey, both byte orders; f32. The scale's size is told in comment, not
 *             applied
 *   PNG       u8 (1 to 8 bits, palettes) or u16. srgb unless the file says otherwise, by cICP,
 *             iCCP, sRGB or gAMA, in this order; linear ones are not srgb; of another function (PQ,
 *             HLG, BT.709, a gamma) f32 of linear light. PQ: 1 is 203 cd/m2. HLG: light of the
 *             scene, 1 being that of a signal of 75 %. Primaries stay; where they are not sRGB's,
 *             the log says so as a warning, as of ICC profiles, which are not applied
 *   JPEG      u8, grey or colour, turned upright as its Exif orientation says. CMYK: UNSUPPORTED
 *   OpenEXR   one part of scan lines or tiles (the finest level), with channels R, G, B and
 *             perhaps A, or Y and perhaps A, or a single one of any name: f16 if all are half,
 *             else f32. Other channels are
 *             left out and named in comment. Compression none, RLE, ZIPS, ZIP, PIZ, PXR24.
 *             Several parts, deep pixels, subsampled channels, B44 and DWA: UNSUPPORTED, with
 *             how to convert.
 * JPEG and OpenEXR are there where the build found their libraries (TML_JPEG, TML_EXR).
 * memory_limit refuses pictures of more bytes than that; 0: no limit beyond malloc. The
 * libraries for PNG, JPEG and OpenEXR take their own working memory from malloc. Release with
 * tml_picture_free. Errors: FILE_ACCESS, FILE_FORMAT (also where a file ends early: no part of a
 * picture is returned), UNSUPPORTED, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_load(tml_context *tml, const char *path,
                                                   uint64_t memory_limit, tml_picture *out);
TML_API void tml_picture_free(tml_context *tml, tml_picture *picture);
/* The name of the picture format that a file begins as, "PNG", or NULL for others and for files
 * that cannot be read. */
TML_API const char *tml_picture_format(tml_context *tml, const char *path);

/* Writes PNG (u8 and u16), PFM (f16 and f32 of 1 or 3 channels), Radiance .hdr (the same; grey
 * becomes three equal colours; to nearest, negative and NaN become 0), or OpenEXR (f16 and f32, as
 * they are, scan lines in ZIP; where the build found its library) by the name's ending. Of the
 * picture type, size, channels, srgb and data are used.
 * Errors: FILE_ACCESS, UNSUPPORTED (ending unknown, or a type or number of channels that the format
 * cannot hold), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_picture_save(tml_context *tml, const char *path,
                                                   const tml_picture *picture);

/* Writes a PNG: width x height, RGBA, 8 bits, sRGB, top row first. */
TML_API TML_MUST_CHECK tml_status tml_png_save(tml_context *tml, const char *path,
                                               const uint8_t *rgba, uint32_t width,
                                               uint32_t height);

#ifdef __cplusplus
}
#endif
#endif
