/* Shared by the volume formats. A format parses a header, and describes where the samples are and
 * what they mean (volume_header). volume_data.c then reads the samples, in the same way for all
 * formats. */
#ifndef TML_VOLUME_INTERNAL_H
#define TML_VOLUME_INTERNAL_H

#include <trommel/volumes.h>

#include "io/volumes/folder.h"
#include "io/vtk/vtk_xml.h"

typedef enum volume_encoding {
    VOLUME_RAW,
    VOLUME_DEFLATE, /* gzip or zlib */
    VOLUME_BZIP2,
    /* From here on, a file's samples are decoded as a whole. */
    VOLUME_TEXT,    /* numbers between blanks */
    VOLUME_HEX,     /* two digits per byte */
    VOLUME_VTK_XML, /* an array with volume_header.coding, except text */
    VOLUME_TIFF,
    VOLUME_DICOM,
    VOLUME_ENCODINGS,
} volume_encoding;

/* Where the names of the data files come from. */
typedef enum volume_source {
    VOLUME_ATTACHED, /* the header's own file */
    VOLUME_FILE,     /* names: one name */
    VOLUME_LIST,     /* names: lines of names, file_count of them */
    VOLUME_PATTERN,  /* names: a printf pattern for one integer, from pattern_first by
                     * pattern_step */
} volume_source;

enum { VOLUME_NAME_SIZE = 1024 };

typedef struct volume_header {
    tml_volume volume; /* all but data and size */
    const io_folder
        *slices; /* the files of a folder, of which the first is parsed; NULL: not a folder */

    volume_source source;
    io_span names; /* in the head, made_name or list */
    io_block list; /* names made by a format; volume.c keeps it in place of the head */
    char made_name[VOLUME_NAME_SIZE];
    uint64_t file_count;
    int64_t pattern_first, pattern_step;

    volume_encoding encoding;
    uint64_t offset;    /* stored bytes of a data file that are skipped first */
    uint64_t end;       /* of the bytes to decode; 0: the file's end */
    uint64_t line_skip; /* then so many lines */
    uint64_t byte_skip; /* then so many bytes, after decompression */
    bool at_end;        /* raw: the samples are a data file's last bytes, in place of these three */
    vtk_xml_coding coding;
    bool is_exact; /* nothing may follow the samples; in text, up to the end */
    bool big_endian;
    bool is_fraction; /* text has bytes as fractions of 255 */
    bool is_physical; /* DICOM: samples with several scales become values as floats */

    /* The samples of all data files together, and which are wanted: runs pieces of run samples,
     * stride samples apart, from sample first on. Set by tml_volume_layout. */
    uint64_t samples, first, run, runs, stride;
    /* Axis k of the file (0: fastest) is axis[k] of the volume. grid.dims is by the volume's
     * axes. */
    uint8_t axis[3];
} volume_header;

/* A format. head is the beginning of the file (of its contents, if it is gzip). detect may also use
 * the name. Before parse, volume.c initialises *out to an attached, raw, little-endian volume of
 * one file, with slope 1. */
typedef struct volume_format {
    const char *name;
    bool (*detect)(io_span head, const char *path);
    tml_status (*parse)(const io_file *file, io_span head, const tml_load_desc *desc,
                        volume_header *out);
} volume_format;

extern const volume_format tml_volume_nrrd, tml_volume_nifti, tml_volume_metaimage, tml_volume_mrc,
    tml_volume_npy, tml_volume_vtk, tml_volume_vti, tml_volume_tiff, tml_volume_dicom;
/* Describes a headerless volume, from desc. */
TML_MUST_CHECK tml_status tml_volume_raw_parse(const io_file *file, bool compressed,
                                               const tml_load_desc *desc, volume_header *out);
/* Reads dims and type from a name such as engine_256x256x128_uint8.raw.gz. Returns false if the
 * name has none. */
bool tml_volume_raw_from_name(const char *path, tml_load_desc *out);

/* Finds the header beside a NIfTI pair's .img. Returns false without one. */
bool tml_nifti_header_beside(const io_file *image, char out[VOLUME_NAME_SIZE]);

/* Most bytes of a head that volume.c reads; no header may be longer. */
enum { VOLUME_HEAD_SIZE = 1 << 20 };

/* ---- helpers for the formats ----------------------------------------------------------------- */

/* Sets samples, first, run, runs and stride from volume.grid.dims and volume.type. Checks that
 * sizes are not 0 and fit in 63 bits. The order is: inner voxels of the first channel, of the
 * second ..., the next inner voxels ..., then the next volume. frame counts channels first. Errors:
 * FILE_FORMAT, INVALID_ARGUMENT (no such frame). */
TML_MUST_CHECK tml_status tml_volume_layout(const io_file *file, uint64_t inner, uint64_t channels,
                                            uint64_t volumes, uint32_t frame, volume_header *out);

/* Sets spacing and direction of volume.grid.
 * columns  3 x 3, row-major: the axes' steps as columns
 * scale    factor of each column; if desc.spacing[i] is given, it is used in place of column i's
 *          length
 * Errors: FILE_FORMAT (a column is zero or not finite and has no given spacing, or the three lie in
 * a plane). */
TML_MUST_CHECK tml_status tml_volume_axes(const io_file *file, const double columns[9],
                                          const double scale[3], const tml_load_desc *desc,
                                          volume_header *out);

extern const double tml_volume_identity[9];
/* The same for axes along x, y and z. */
static inline tml_status volume_spacings(const io_file *file, const double spacing[3],
                                         const tml_load_desc *desc, volume_header *out)
{
    return tml_volume_axes(file, tml_volume_identity, spacing, desc, out);
}

/* The arrays of a file that has several over one grid. */
enum { VOLUME_ARRAYS_MAX = 64, VOLUME_ARRAY_NAME_SIZE = 64 };
#define VOLUME_TUPLES_UNSAID UINT64_MAX
typedef struct volume_array {
    char name[VOLUME_ARRAY_NAME_SIZE];
    tml_type type;
    uint64_t components;  /* interleaved */
    uint64_t tuples;      /* the number that the file states, or VOLUME_TUPLES_UNSAID */
    bool on_cells;        /* at the cells' centres; otherwise at the points */
    bool is_active;       /* the file marks it as the one to show first */
    bool is_fraction;     /* text has bytes as fractions of 255 */
    uint64_t offset, end; /* of its stored values */
    volume_encoding encoding;
    vtk_xml_coding coding;
} volume_array;
typedef struct volume_arrays {
    volume_array array[VOLUME_ARRAYS_MAX];
    uint32_t count;
} volume_arrays;

/* Chooses the array and component that desc.frame means, and sets type and layout. Frames count
 * components: of the active array first, then of the others in the file's order, arrays on cells
 * last. volume.grid is that of the points; for an array on cells it becomes that of the cells.
 * Errors: UNSUPPORTED (no array), as tml_volume_layout. */
TML_MUST_CHECK tml_status tml_volume_choose(const io_file *file, volume_arrays *arrays,
                                            const tml_load_desc *desc, volume_header *out);

/* Parses count numbers between blanks. Returns false if there are more, fewer or others. */
bool tml_volume_parse_reals(io_span text, double *out, size_t count);
bool tml_volume_parse_sizes(io_span text, uint64_t *out, size_t count);

/* Fails if the file is gzip. For formats that must read more than the head. */
TML_MUST_CHECK tml_status tml_volume_not_gzip(const io_file *file);

/* Makes files the list of data files. count names, each stride bytes behind the one before. Errors:
 * UNSUPPORTED (a name that a list cannot hold), OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_volume_list(const io_file *file, const char *names, size_t stride,
                                          size_t count, volume_header *out);

/* Does a path have that ending (in any case), perhaps followed by ".gz"? */
bool tml_volume_name_ends(const char *path, const char *ending);

/* Is a name a pattern for numbered files, with one conversion such as "%03d"? */
bool tml_volume_is_pattern(io_span name);
/* Makes a pattern the source of the data files with numbers first, first + step ... last.
 * file_count is 0 if there is no such series, or if it is longer than any real one. */
void tml_volume_pattern(io_span name, int64_t first, int64_t last, int64_t step,
                        volume_header *out);

/* ---- volume_data.c --------------------------------------------------------------------------- */

/* Decodes a data file's samples, stored from offset on: size bytes to out, in the header's byte
 * order. out NULL: only checks, roughly, that the file can hold them. */
typedef tml_status (*volume_decoder)(const io_file *file, const volume_header *header,
                                     uint64_t offset, uint64_t size, void *out);

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out);
tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out);

/* Allocates volume.data and reads the wanted samples, in the machine's byte order and the volume's
 * axis order. Before memory is allocated, everything is checked against the files' sizes. wrapped:
 * the whole file is gzip. */
TML_MUST_CHECK tml_status tml_volume_read(const io_file *file, bool wrapped,
                                          const tml_load_desc *desc, volume_header *header);

/* Opens a stream on a file and its head. On success the stream owns both. */
TML_MUST_CHECK tml_status tml_volume_stream_begin(const io_file *file, bool wrapped,
                                                  const io_block *head, const volume_header *header,
                                                  tml_volume_stream **out);

/* Returns the description of a stream's volume; valid until the stream is closed. */
const tml_volume *tml_volume_stream_info(const tml_volume_stream *stream);
tml_context *tml_volume_stream_context(const tml_volume_stream *stream);

/* ---- for arrays and fuzzing ------------------------------------------------------------------ */

/* The contents of an NPY header. */
enum { NPY_AXES_MAX = 32 };
typedef struct npy_header {
    tml_type type;
    bool big_endian, fortran_order;
    uint32_t axis_count;
    uint64_t shape[NPY_AXES_MAX];
    uint64_t count; /* product of shape */
    uint64_t offset;
} npy_header;

/* Like the public calls, from a block of memory. */
TML_MUST_CHECK tml_status tml_volume_load_memory(tml_context *tml, const char *name,
                                                 const void *data, size_t size,
                                                 const tml_load_desc *desc, tml_volume *out);
TML_MUST_CHECK tml_status tml_array_load_memory(tml_context *tml, const char *name,
                                                const void *data, size_t size, tml_array *out);

/* Writes an NPY header for shape: axis_count axes, slowest first. */
bool tml_npy_write_header(io_writer *writer, tml_type scalar, const uint64_t *shape,
                          uint32_t axis_count);
/* Writes the header of an attached NRRD with raw samples. */
bool tml_nrrd_write_header(io_writer *writer, const tml_volume *volume);
/* MetaImage's name of a unit; NULL: none. */
const char *tml_metaimage_unit(const char *unit);
/* Like tml_nrrd_write_header, for MetaImage. */
bool tml_metaimage_write_header(io_writer *writer, const tml_volume *volume);

/* Converts the physical values of a volume to integers, in memory of their own. *out is zeroed on
 * failure. */
TML_MUST_CHECK tml_status tml_volume_make_labels(tml_context *tml, const tml_volume *volume,
                                                 tml_volume *out);

/* Reads mapped layers [first, first + count) into memory, and returns when they are there. May be
 * called from another thread. Errors: INVALID_ARGUMENT (nothing is mapped, or a layer is past the
 * last), FILE_ACCESS (the file was shortened, or the disk failed). */
TML_MUST_CHECK tml_status tml_volume_stream_prefetch(tml_volume_stream *stream, uint64_t first,
                                                     uint64_t count);
/* Allows mapped layers below this one to leave memory. They may still be read. */
void tml_volume_stream_release(tml_volume_stream *stream, uint64_t layer);

/* Do the samples of a volume's layers [first, first + count), in host memory, lie in the ranges of
 * their bricks? An index file states only its volume's dims and type, so this check finds an index
 * of another volume. If all samples lie in their ranges, a surface by the index is right.
 * step  every step-th row of dims[0] samples is checked, from layer first on; 1: all. A few hundred
 *       rows, evenly spread, nearly always suffice, but miss changes between them.
 * Returns: false also if a layer is past the last, or if step is 0. */
bool tml_volume_index_holds(const tml_volume_index *index, const void *samples, uint64_t first,
                            uint64_t count, uint64_t step);

#endif
