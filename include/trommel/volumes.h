/* Volumes from and to files, and mesh files of volumes (docs/formats.md).
 *
 *     tml_volume volume;
 *     status = tml_volume_load(tml, "head.nrrd", NULL, &volume);
 *     ... volume.grid.dims, volume.type, volume.data
 *     tml_volume_free(tml, &volume);
 *
 * From a volume file to a mesh file, at a good isovalue:
 *
 *     tml_surface_saved saved;
 *     status = tml_volume_to_mesh(tml, "head.nrrd", "head.ply", NULL, NULL, &saved);
 *     tml_surface_saved_free(tml, &saved);
 *
 * Volumes that are too large for memory are read layer by layer: tml_volume_stream_open, _read,
 * _close. surface.h computes with volumes in buffers. */
#ifndef TROMMEL_VOLUMES_H
#define TROMMEL_VOLUMES_H

#include <trommel/meshes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- volumes -------------------------------------------------------------------------------- */

/* A volume in host memory, in the file's sample type and the machine's byte order.
 * data         grid.dims[0] * grid.dims[1] * grid.dims[2] samples, x fastest
 * size         bytes in data
 * type         one of the scalars
 * grid         dims[2] is 1 for a picture. Positions are in the file's own space
 * slope        physical value = slope * sample + intercept; 1 if the file has none
 * intercept    0 if the file has none
 * unit         of grid.spacing and grid.origin, UTF-8: "mm", "µm", "nm", "cm", "m", "Å", "in", or
 *              the file's own word; empty if the file states none
 * compressed   samples are decompressed, or decoded slice by slice, when they are read. Reading
 *              then takes longer than most of what is done with a volume
 * frame_count  volumes or components in the file, of which this is one
 * format       "NRRD", "NIfTI-1", "MetaImage", "MRC", "NPY", "VTK", "VTI", "TIFF", "DICOM", "raw"
 * space        "left-posterior-superior", "right-anterior-superior", or empty
 * comment      other facts for people; may be empty */
typedef struct tml_volume {
    void *data;
    size_t size;
    tml_type type;
    tml_grid grid;
    double slope;
    double intercept;
    char unit[16];
    bool compressed;
    uint64_t frame_count;
    char format[16];
    char space[32];
    char comment[96];
} tml_volume;

/* Reads a volume: NRRD, NIfTI, MetaImage, MRC, NPY, VTK, VTI, TIFF, DICOM or raw samples, also
 * gzipped (docs/formats.md). The format is found by content, then by name.
 * path  a file, or a folder with the slices of one DICOM series or with TIFF files of one page each
 * desc  optional: memory_limit, strict, frame, spacing and, for raw samples, dims, type, big_endian
 *       and skip are used
 * out   released by tml_volume_free
 * Errors: FILE_ACCESS, FILE_FORMAT, UNSUPPORTED (with the remedy), INVALID_ARGUMENT, OUT_OF_MEMORY,
 *         CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_load(tml_context *tml, const char *path,
                                                  const tml_load_desc *desc, tml_volume *out);
/* Releases a volume that a call made. */
TML_API void tml_volume_free(tml_context *tml, tml_volume *volume);

/* Writes a volume.
 * path  .nrrd: everything. .mha: the grid, in LPS, and units of mm, cm and µm, but no slope. .npy
 *       and .raw (little-endian): the samples alone. None is compressed. The log gets a warning of
 *       what is lost
 * Errors: FILE_ACCESS, UNSUPPORTED (another ending), INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_save(tml_context *tml, const char *path,
                                                  const tml_volume *volume);

/* ---- physical values and labels -------------------------------------------------------------- */

/* What tml_volume_convert makes of samples. */
typedef enum tml_volume_values {
    TML_VALUES_PHYSICAL, /* slope * sample + intercept, rounded once: f32 for samples of f32 or of
                          * at most 16 bits, else f64 */
    TML_VALUES_LABELS,   /* these values as integers, for tml_surface_labels. The type is that of
                          * samples that are labels already; else i32, i64 or u64, the first that
                          * holds all labels */
} tml_volume_values;

/* Returns whether samples are labels as they are: integers, without slope and intercept. */
static inline bool tml_volume_has_labels(const tml_volume *volume)
{
    return !tml_type_is_float(volume->type) && volume->slope == 1 && volume->intercept == 0;
}

/* Makes a volume of the physical values that a volume's samples stand for. The result does not
 * depend on the number of threads.
 * volume  any scalar type
 * values  as they are, or as labels. Floats are labels if all are whole numbers. With a slope, a
 *         value is a label if it is as near to a whole number as a slope of 32 bits can be. The log
 *         gets a warning if the type of a float does not have all numbers of its size
 * out     has memory of its own, slope 1 and intercept 0; released by tml_volume_free. May be
 *         volume itself if a call made its samples, which are then replaced
 * Memory: both volumes at once.
 * Errors: OUT_OF_MEMORY. For labels also INVALID_ARGUMENT (the first sample that is no whole
 *         number) and UNSUPPORTED (a sample beyond 2^53 with a slope; labels that fit no integer
 *         type). *out is zeroed then, or unchanged if it is volume. */
TML_API TML_MUST_CHECK tml_status tml_volume_convert(tml_context *tml, const tml_volume *volume,
                                                     tml_volume_values values, tml_volume *out);

enum { TML_LABELS_LISTED = 6, TML_LABELS_COUNTED = 1 << 16 };

/* Looks for labels in a region of a volume.
 * volume       samples that are labels (tml_volume_has_labels)
 * region       as in tml_surface_desc; NULL: all
 * labels       label_count labels; an int64_t's bits if the type is signed
 * is_there     label_count: whether a sample has the label
 * others       TML_LABELS_LISTED: the first other labels but 0, in the order of the samples
 * other_count  other labels but 0; TML_LABELS_COUNTED + 1 if there are more than
 *              TML_LABELS_COUNTED
 * Errors: INVALID_ARGUMENT (samples are no labels), OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_volume_find_labels(tml_context *tml, const tml_volume *volume,
                                                         const tml_region *region,
                                                         const uint64_t *labels,
                                                         uint32_t label_count, bool *is_there,
                                                         uint64_t others[TML_LABELS_LISTED],
                                                         uint64_t *other_count);

/* How often which values are among samples.
 * lower, upper  least and largest finite sample; lower > upper if there are none
 * mean          of the finite samples; NaN if there are none
 * first         centre of bins[0]
 * step          distance between the centres of two bins
 * bin_count     number of bins
 * bins          samples in each bin
 * nans          samples that are NaN, which are in no bin
 * infinities    samples that are infinite, which are in no bin
 * otsu          the value that divides the samples best into a low and a high class, a good first
 *               isovalue: the middle of the values that maximise the variance between the classes.
 *               lower if there is only one class. After: Otsu: A Threshold Selection Method from
 *               Gray-Level Histograms. 1979 */
typedef struct tml_value_histogram {
    double lower, upper;
    double mean;
    double first;
    double step;
    uint32_t bin_count;
    uint64_t *bins;
    uint64_t nans, infinities;
    double otsu;
} tml_value_histogram;

/* Counts samples in host memory by their values. The result does not depend on the number of
 * threads.
 * type   a scalar. u8, i8, u16 and i16 get a bin for each value; other types 4096 bins over their
 *        range
 * count  samples at data
 * out    released by tml_value_histogram_free
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY; *out is zeroed then. */
TML_API TML_MUST_CHECK tml_status tml_value_histogram_make(tml_context *tml, const void *data,
                                                           tml_type type, uint64_t count,
                                                           tml_value_histogram *out);
/* Releases the bins. */
TML_API void tml_value_histogram_free(tml_context *tml, tml_value_histogram *histogram);

/* ---- layer by layer -------------------------------------------------------------------------- */

/* A volume file that is read layer by layer; a layer has grid.dims[0] * grid.dims[1] samples. */
typedef struct tml_volume_stream tml_volume_stream;

/* Opens a volume file for reading. Reads the header, and checks that the data files are there and
 * large enough. One stream of a context may be used by another thread than the context's own, while
 * the context does nothing else.
 * desc  as for tml_volume_load; memory_limit is not used
 * info  everything but the samples
 * Errors: as tml_volume_load. UNSUPPORTED also for text, and for files whose slowest axis is not z:
 *         tml_volume_load reads them. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_open(tml_context *tml, const char *path,
                                                         const tml_load_desc *desc,
                                                         tml_volume *info, tml_volume_stream **out);
/* Reads layers [first, first + count), in the machine's byte order. Layers are read in ascending
 * order, and may be skipped. After the last layer, the checksum of compressed data is checked.
 * out  room for the layers
 * Errors: INVALID_ARGUMENT (a layer that is past), FILE_ACCESS, FILE_FORMAT, OUT_OF_MEMORY,
 *         CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_read(tml_volume_stream *stream, uint64_t first,
                                                         uint64_t count, void *out);
/* Maps all samples into memory. The system reads them when they are used.
 * out  valid until the stream is closed, and while nobody shortens the file: the system ends a
 *      process that reads past its end
 * Errors: FILE_ACCESS, UNSUPPORTED (samples that are not raw, not in one file, or not in the
 *         machine's byte order and alignment). */
TML_API TML_MUST_CHECK tml_status tml_volume_stream_map(tml_volume_stream *stream,
                                                        const void **out);
/* Closes the file. NULL is allowed. */
TML_API void tml_volume_stream_close(tml_volume_stream *stream);

/* ---- the index of a volume's bricks ---------------------------------------------------------- */

enum { TML_BRICK_X = 64, TML_BRICK_Y = 4, TML_BRICK_Z = 4 }; /* samples of a brick */

/* Least and largest sample of each brick, which tml_surface_index finds; kept in a file beside the
 * volume. tml_surface_save then skips bricks that the surface does not cross.
 * dims    of the volume
 * type    of the volume
 * ranges  count x 2, bricks along x fastest; -inf and inf for a brick with a NaN
 * count   tml_volume_index_count(dims) */
typedef struct tml_volume_index {
    uint64_t dims[3];
    tml_type type;
    float *ranges;
    uint64_t count;
} tml_volume_index;

/* Returns the number of bricks; 0 if it does not fit 64 bits. */
static inline uint64_t tml_volume_index_count(const uint64_t dims[3])
{
    const uint64_t x = dims[0] / TML_BRICK_X + (dims[0] % TML_BRICK_X != 0);
    const uint64_t y = dims[1] / TML_BRICK_Y + (dims[1] % TML_BRICK_Y != 0);
    const uint64_t z = dims[2] / TML_BRICK_Z + (dims[2] % TML_BRICK_Z != 0);
    const bool fits = !y || !z || (x <= UINT64_MAX / y && x * y <= UINT64_MAX / z);
    return fits ? x * y * z : 0;
}
/* Writes an index.
 * path  any name
 * Errors: FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_index_save(tml_context *tml, const char *path,
                                                        const tml_volume_index *index);
/* Reads an index.
 * out  released by tml_volume_index_free
 * Errors: FILE_ACCESS, FILE_FORMAT (also a wrong checksum), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_volume_index_load(tml_context *tml, const char *path,
                                                        tml_volume_index *out);
/* Releases an index that tml_volume_index_load made. */
static inline void tml_volume_index_free(tml_context *tml, tml_volume_index *index)
{
    tml_free(tml, index->ranges, 2 * sizeof(float) * index->count);
    index->ranges = NULL;
    index->count = 0;
}

/* ---- from a volume file to a mesh file ------------------------------------------------------- */

/* How tml_volume_to_mesh makes a mesh. Zeroed: one surface, at the isovalue of Otsu's method.
 * load       optional: how the volume's file is read. memory_limit applies if the volume has to be
 *            whole in memory
 * mask       optional: path of a volume of the same dims; samples that are 0 are missing
 * attribute  optional: path of a volume of the same dims, whose physical values become those of the
 *            vertices
 * save       how the surface is made and written (tml_surface_save). Used are
 *              slabs.surface     optional: isovalues (physical values; NULL: one is chosen, for
 *                                which the volume is read once more, or loaded if it cannot be
 *                                mapped), region, topology, normals, soup, caps (they close the
 *                                high side of the samples), flip (inside is below the isovalue),
 *                                indices64, largest_component and drop_degenerate
 *              slabs.boundaries  in place of surface: boundaries of labels, without volume, grid
 *                                and outputs. With separate, made whole
 *              slabs             memory, slab_layers, components, write and user
 *              file              without origin and attributes
 *              making            AUTO: in slabs
 *              keep_empty, copy_samples; whole, also smooth */
typedef struct tml_volume_mesh_desc {
    const tml_load_desc *load;
    const char *mask, *attribute;
    tml_surface_save_desc save;
} tml_volume_mesh_desc;

/* Makes a mesh file of a volume file: reads the volume, makes its surface, by default in slabs, and
 * writes it. A volume that cannot be read layer by layer is loaded.
 * path       of the volume
 * mesh_path  of the mesh, as for tml_surface_save
 * desc       NULL: zeroed
 * volume     optional: what the file says, without samples
 * out        released by tml_surface_saved_free
 * Returns: the first failure; out->failed has the part of the call. Without a triangle: TML_OK,
 *          out->is_empty, and no file.
 * Waits: for everything. Reports progress and can be cancelled.
 * Memory: desc->save.slabs.memory, and a volume, mask and attribute that have to be loaded.
 * Errors: as tml_volume_load and tml_surface_save; INVALID_ARGUMENT also for a mask or attribute of
 *         other dims, for samples that are no labels, and for a volume without a finite sample. A
 *         file at mesh_path stays as it was. */
TML_API TML_MUST_CHECK tml_status tml_volume_to_mesh(tml_context *tml, const char *path,
                                                     const char *mesh_path,
                                                     const tml_volume_mesh_desc *desc,
                                                     tml_volume *volume, tml_surface_saved *out);

#ifdef __cplusplus
}
#endif
#endif
