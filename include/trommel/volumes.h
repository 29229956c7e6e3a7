/* trommel-io: volumes from and to files, and volumes to mesh files. */
#ifndef TROMMEL_VOLUMES_H
#define TROMMEL_VOLUMES_H

#include <trommel/meshes.h>

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
    bool compressed; /* inflated or decoded on the way, slice by slice: reading takes longer than most
                      * of what is done with a volume */
    uint64_t frame_count; /* volumes or components in the file, of which this is one */
    char format[16];      /* "NRRD", "NIfTI-1", "MetaImage", "MRC", "NPY", "VTK", "VTI", "TIFF",
                      * "DICOM", "raw" */
    char space[32];       /* "left-posterior-superior", "right-anterior-superior", or empty */
    char comment[96];     /* what else a person would like to know; may be empty */
} tml_volume;

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
                                                  const tml_load_desc *desc,
                                                  tml_volume *out);
TML_API void tml_volume_free(tml_context *tml, tml_volume *volume);
/* What tml_volume_convert makes of a volume's samples. */
typedef enum tml_volume_values {
    TML_VALUES_PHYSICAL, /* slope * sample + intercept: f32 where samples were f32 or had at most 16
                          * bits, else f64, each value rounded once */
    TML_VALUES_LABELS,   /* integers that are these values, for tml_surface_labels. The type is that
                          * of samples that are labels as they are; else i32, or where a label needs
                          * it i64, or u64 */
} tml_volume_values;

/* Makes a volume of the physical values that a volume's samples stand for.
 * volume  any scalar type; its samples may be the caller's own
 * out     memory of its own, slope 1 and intercept 0; released by tml_volume_free. May be volume,
 *         whose samples, from the context, are then replaced
 * Floats are labels where all are whole numbers. The log gets a warning where a float is beyond the
 * numbers that its type has all of (2^24 for f32). With a slope, a value that is as near to a whole
 * number as rounding the slope to 32 bits leaves it is that number. The same for any number of
 * threads.
 * Memory: both volumes at once.
 * Errors: OUT_OF_MEMORY; of labels INVALID_ARGUMENT (the first sample that is no whole number) and
 *         UNSUPPORTED (a sample beyond 2^53 with a slope; labels that fit no integer type). *out is
 *         zeroed then, or stays as it was if it is volume. */
TML_API TML_MUST_CHECK tml_status tml_volume_convert(tml_context *tml, const tml_volume *volume,
                                                     tml_volume_values values, tml_volume *out);
/* Are the samples labels as they are: integers, without slope and intercept? */
static inline bool tml_volume_has_labels(const tml_volume *volume)
{
    return !tml_type_is_float(volume->type) && volume->slope == 1 && volume->intercept == 0;
}

/* How often which values are among samples. */
typedef struct tml_value_histogram {
    double lower, upper; /* of the finite samples; lower > upper when there are none */
    double mean;         /* of the finite samples; NaN when there are none */
    double first;        /* centre of bins[0] */
    double step;         /* distance of two bins' centres */
    uint32_t bin_count;
    uint64_t *bins;            /* from the context; released by tml_value_histogram_free */
    uint64_t nans, infinities; /* samples that are in no bin */
    double otsu;               /* divides the samples best into two classes; lower if nothing does */
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

/* Looks for labels in a region of a volume.
 * volume       labels as they are (tml_volume_has_labels), with samples
 * region       as in tml_surface_desc; NULL: all
 * labels       label_count of them; of signed types an int64_t's bits
 * is_there     label_count of them: does a sample have this label?
 * others       the first labels but 0 that occur and are not among labels, in the order of the
 *              samples
 * other_count  labels but 0 that occur and are not among labels, at most TML_LABELS_COUNTED; that
 *              and 1 if there are more
 * Errors: INVALID_ARGUMENT (volume is not of labels), OUT_OF_MEMORY */
enum { TML_LABELS_LISTED = 6, TML_LABELS_COUNTED = 1 << 16 };
TML_API TML_MUST_CHECK tml_status
tml_volume_find_labels(tml_context *tml, const tml_volume *volume, const tml_region *region,
                       const uint64_t *labels, uint32_t label_count, bool *is_there,
                       uint64_t others[TML_LABELS_LISTED], uint64_t *other_count);

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
                                                         const tml_load_desc *desc,
                                                         tml_volume *info, tml_volume_stream **out);
/* Reads layers [first, first + count) to out, in the machine's byte order. Layers are read in
 * ascending order; those between are skipped. After the last one compressed data's checksum is
 * looked at. Errors: INVALID_ARGUMENT (a layer that is past), FILE_ACCESS, FILE_FORMAT,
 * OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_read(tml_volume_stream *stream, uint64_t first,
                                                         uint64_t count, void *out);
/* All samples as memory that the system reads when it is looked at: good until the stream is
 * closed, and only while nobody shortens the file (the process would be ended). For raw samples in
 * one file, in the machine's byte order and type's alignment; others UNSUPPORTED. Errors:
 * FILE_ACCESS, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_map(tml_volume_stream *stream,
                                                        const void **out);
TML_API void tml_volume_stream_close(tml_volume_stream *stream); /* NULL is allowed */

/* ---- the index of a volume's bricks ---------------------------------------------------------- */

enum { TML_BRICK_X = 64, TML_BRICK_Y = 4, TML_BRICK_Z = 4 }; /* samples of a brick */

/* Least and largest sample of each brick (tml_surface_index finds them), to be kept beside the
 * volume.
 * dims, type  of the volume
 * ranges      count x 2, x fastest; -inf and inf of a brick with a NaN
 * count       tml_volume_index_count(dims) */
typedef struct tml_volume_index {
    uint64_t dims[3];
    tml_type type;
    float *ranges;
    uint64_t count;
} tml_volume_index;

/* Returns the number of bricks; 0 where there are more than 2^64. */
static inline uint64_t tml_volume_index_count(const uint64_t dims[3])
{
    const uint64_t x = dims[0] / TML_BRICK_X + (dims[0] % TML_BRICK_X != 0);
    const uint64_t y = dims[1] / TML_BRICK_Y + (dims[1] % TML_BRICK_Y != 0);
    const uint64_t z = dims[2] / TML_BRICK_Z + (dims[2] % TML_BRICK_Z != 0);
    const bool fits = !y || !z || (x <= UINT64_MAX / y && x * y <= UINT64_MAX / z);
    return fits ? x * y * z : 0;
}
/* Errors: FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_index_save(tml_context *tml, const char *path,
                                                        const tml_volume_index *index);
/* out: released by tml_volume_index_free. Errors: FILE_ACCESS, FILE_FORMAT (also a checksum that is
 * not the contents'), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_index_load(tml_context *tml, const char *path,
                                                        tml_volume_index *out);
static inline void tml_volume_index_free(tml_context *tml, tml_volume_index *index)
{
    tml_free(tml, index->ranges, 2 * sizeof(float) * index->count);
    index->ranges = NULL;
    index->count = 0;
}

/* ---- from a volume file to a mesh file ------------------------------------------------------- */

/* How tml_volume_to_mesh makes a mesh. Zeroed: one surface, at an isovalue by Otsu's method.
 * load             optional: how to read the volume's file. memory_limit bounds a volume that comes
 *                  to memory
 * mask, attribute  optional: paths of volumes of the same dims, as of tml_surface_save_desc
 * save             slabs.surface, optional: isovalues are physical values, isovalue_count of them;
 *                  NULL: one is chosen, and the volume is read once more for it; a volume that
 *                  cannot be mapped comes to memory then. region, topology, normals, soup, caps,
 *                  indices64, flip and the filters largest_component and drop_degenerate are used.
 *                  flip: inside is below the isovalue. caps close the high side of the samples.
 *                  slabs.boundaries, instead: labels' boundaries, without volume, grid and outputs.
 *                  With separate, all is made whole.
 *                  slabs.memory, slab_layers, components, write and user; file; making; keep_empty
 *                  and copy_samples are used, and of what is made whole smooth */
typedef struct tml_volume_mesh_desc {
    const tml_load_desc *load;
    const char *mask, *attribute;
    tml_surface_save_desc save;
} tml_volume_mesh_desc;

/* Makes a mesh file of a volume file: reads, makes the surface, in slabs by default, and writes. A
 * volume that cannot be read layer by layer (tml_volume_stream_open) is loaded whole.
 * path       of the volume
 * mesh_path  as of tml_surface_save
 * desc       NULL: zeroed
 * volume     optional: what the file says of itself, without samples
 * out        released by tml_surface_saved_free
 * Returns: the first failure; out->failed says of what. Without a triangle: TML_OK, out->is_empty
 *          and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: desc->save.slabs.memory, and a volume, mask and attribute that have to be loaded.
 * Errors: as tml_volume_load and tml_surface_save; INVALID_ARGUMENT also for a mask or attribute of
 *         other dims, labels of samples that are none, and a volume without a finite sample. The
 *         file at mesh_path is then as it was. */
TML_API TML_MUST_CHECK tml_status tml_volume_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_volume_mesh_desc *desc,
                                                     tml_volume *volume, tml_surface_saved *out);

#ifdef __cplusplus
}
#endif
#endif
