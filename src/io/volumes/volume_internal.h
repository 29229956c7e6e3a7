/* What the volume formats share. Each format parses a header and describes where the samples are
 * and what they mean (volume_header); volume_data.c then reads them, in the same way for all
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
    /* From here on a file's samples are decoded as a whole. */
    VOLUME_TEXT,    /* numbers between blanks */
    VOLUME_HEX,     /* two digits a byte */
    VOLUME_VTK_XML, /* an array of volume_header.coding, other than text */
    VOLUME_TIFF,
    VOLUME_DICOM,
    VOLUME_ENCODINGS,
} volume_encoding;

/* Where the data files' names come from. */
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
        *slices; /* the files of a folder, of which the first is parsed; NULL: a file was named */

    volume_source source;
    io_span names; /* within the head, made_name or list */
    io_block list; /* names that a format has made: volume.c puts it in the place of the head */
    char made_name[VOLUME_NAME_SIZE];
    uint64_t file_count;
    int64_t pattern_first, pattern_step;

    volume_encoding encoding;
    uint64_t offset;    /* stored bytes before everything else in a data file */
    uint64_t end;       /* of what may be decoded; 0: the file's end */
    uint64_t line_skip; /* then so many lines */
    uint64_t byte_skip; /* then so many bytes, after inflating */
    bool at_end;        /* raw, instead of the three: the samples are a data file's last bytes */
    vtk_xml_coding coding;
    bool is_exact; /* no byte may follow the samples, before the end in text */
    bool big_endian;
    bool is_fraction; /* of text: bytes as fractions of 255 */
    bool is_physical; /* of DICOM: samples by several scales become values as floats */

    /* The number of samples in all data files together, and which are wanted: runs pieces of run
     * samples each, stride samples apart, from sample first on. Set by tml_volume_layout. */
    uint64_t samples, first, run, runs, stride;
    /* The file's axis k (0: fastest) is axis[k] of the volume. The dims above are the volume's. */
    uint8_t axis[3];
} volume_header;

/* A format. head is the file's start (of what it holds, if it is gzip); detect may also look at
 * the name. parse leaves what it does not set as volume.c initialised it: an attached, raw,
 * little-endian volume of one file, slope 1. */
typedef struct volume_format {
    const char *name;
    bool (*detect)(io_span head, const char *path);
    tml_status (*parse)(const io_file *file, io_span head, const tml_load_desc *desc,
                        volume_header *out);
} volume_format;

extern const volume_format tml_volume_nrrd, tml_volume_nifti, tml_volume_metaimage, tml_volume_mrc,
    tml_volume_npy, tml_volume_vtk, tml_volume_vti, tml_volume_tiff, tml_volume_dicom;
/* Headerless: everything is in desc. */
TML_MUST_CHECK tml_status tml_volume_raw_parse(const io_file *file, bool compressed,
                                               const tml_load_desc *desc, volume_header *out);
/* Takes dims and type from a name such as engine_256x256x128_uint8.raw.gz; false if they are not
 * there. */
bool tml_volume_raw_from_name(const char *path, tml_load_desc *out);

/* Name of the header to a NIfTI pair's .img, if that lies beside it. */
bool tml_nifti_header_beside(const io_file *image, char out[VOLUME_NAME_SIZE]);

/* Bytes of head that volume.c reads at most: no header may be longer. */
enum { VOLUME_HEAD_SIZE = 1 << 20 };

/* ---- helpers for the formats ----------------------------------------------------------------- */

/* Sets samples, first, run, runs and stride from volume.grid.dims and volume.type, and checks that
 * dims are not 0 and that sizes fit 63 bits. Samples lie in the order: inner voxels of the first
 * channel, of the second ..., the next inner voxels ..., then the next volume. frame counts
 * channels first. Errors: FILE_FORMAT, INVALID_ARGUMENT (no such frame). */
TML_MUST_CHECK tml_status tml_volume_layout(const io_file *file, uint64_t inner, uint64_t channels,
                                            uint64_t volumes, uint32_t frame, volume_header *out);

/* Sets volume.grid's spacing and direction from three column vectors (row-major 3x3), each to be
 * scaled by scale[i]; where desc.spacing[i] is given it becomes the spacing instead. Errors:
 * FILE_FORMAT when a column is zero or not finite and no spacing is given for it, or when the
 * three lie in a plane. */
TML_MUST_CHECK tml_status tml_volume_axes(const io_file *file, const double columns[9],
                                          const double scale[3], const tml_load_desc *desc,
                                          volume_header *out);

extern const double tml_volume_identity[9];
/* The identity's axes with these spacings. */
static inline tml_status volume_spacings(const io_file *file, const double spacing[3],
                                         const tml_load_desc *desc, volume_header *out)
{
    return tml_volume_axes(file, tml_volume_identity, spacing, desc, out);
}

/* A file may hold several arrays over one grid. */
enum { VOLUME_ARRAYS_MAX = 64, VOLUME_ARRAY_NAME_SIZE = 64 };
#define VOLUME_TUPLES_UNSAID UINT64_MAX
typedef struct volume_array {
    char name[VOLUME_ARRAY_NAME_SIZE];
    tml_type type;
    uint64_t components;  /* interleaved */
    uint64_t tuples;      /* how many it says to have; or VOLUME_TUPLES_UNSAID */
    bool on_cells;        /* at the cells' centres; otherwise at the grid's points */
    bool is_active;       /* what the file means to be looked at first */
    bool is_fraction;     /* bytes that stand in text as fractions of 255 */
    uint64_t offset, end; /* where its values lie stored */
    volume_encoding encoding;
    vtk_xml_coding coding;
} volume_array;
typedef struct volume_arrays {
    volume_array array[VOLUME_ARRAYS_MAX];
    uint32_t count;
} volume_arrays;

/* Chooses the array that desc.frame means, which counts components: of the active array first, then
 * of the others in the file's order, those on cells last. Sets the type, the layout and, where it
 * is on cells, their grid; volume.grid is that of the points before. Errors: UNSUPPORTED (there is
 * none), as tml_volume_layout. */
TML_MUST_CHECK tml_status tml_volume_choose(const io_file *file, volume_arrays *arrays,
                                            const tml_load_desc *desc, volume_header *out);

/* Reads exactly count numbers between blanks; false when there are more, fewer or others. */
bool tml_volume_parse_reals(io_span text, double *out, size_t count);
bool tml_volume_parse_sizes(io_span text, uint64_t *out, size_t count);

/* Fails when the file is gzip, as a format does that must look at more than the head. */
TML_MUST_CHECK tml_status tml_volume_not_gzip(const io_file *file);

/* Makes files the list of data files: count names, each stride bytes behind the one before. Errors:
 * UNSUPPORTED (a name that a list cannot hold), OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_volume_list(const io_file *file, const char *names, size_t stride,
                                          size_t count, volume_header *out);

/* Does a path have that ending (in any case), perhaps followed by ".gz"? */
bool tml_volume_name_ends(const char *path, const char *ending);

/* "%03d" and the like among other characters: can it name numbered files? At most one conversion,
 * of an integer. */
bool tml_volume_is_pattern(io_span name);
/* Makes it the source of the data files numbered first, first + step ... last; file_count stays 0
 * when there is no such series, or a longer one than anybody would mean. */
void tml_volume_pattern(io_span name, int64_t first, int64_t last, int64_t step,
                        volume_header *out);

/* ---- volume_data.c --------------------------------------------------------------------------- */

/* Decodes a data file's samples, stored from offset on: size bytes at out, in the byte order that
 * the header says. out NULL: only checks, roughly, that the file can hold them. */
typedef tml_status (*volume_decoder)(const io_file *file, const volume_header *header,
                                     uint64_t offset, uint64_t size, void *out);

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out);
tml_status tml_dicom_decode(const io_file *file, const volume_header *header, uint64_t offset,
                            uint64_t size, void *out);

/* Allocates volume.data and reads the wanted samples, in the machine's byte order and the volume's
 * axis order. wrapped: the whole file is gzip. Everything is checked against the files' sizes
 * before memory is allocated. */
TML_MUST_CHECK tml_status tml_volume_read(const io_file *file, bool wrapped,
                                          const tml_load_desc *desc, volume_header *header);

/* Opens a stream over a file and its head. On success the stream owns both. */
TML_MUST_CHECK tml_status tml_volume_stream_begin(const io_file *file, bool wrapped,
                                                  const io_block *head, const volume_header *header,
                                                  tml_volume_stream **out);

/* What a stream's file says of itself; good until the stream is closed. */
const tml_volume *tml_volume_stream_info(const tml_volume_stream *stream);
/* The context that the stream was opened on. */
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

/* As the public calls, over a block of memory. */
TML_MUST_CHECK tml_status tml_volume_load_memory(tml_context *tml, const char *name,
                                                 const void *data, size_t size,
                                                 const tml_load_desc *desc, tml_volume *out);
TML_MUST_CHECK tml_status tml_array_load_memory(tml_context *tml, const char *name,
                                                const void *data, size_t size, tml_array *out);

/* Writes an NPY header for shape (axis_count axes, slowest first). */
bool tml_npy_write_header(io_writer *writer, tml_type scalar, const uint64_t *shape,
                          uint32_t axis_count);
/* Writes an NRRD header with attached raw data. */
bool tml_nrrd_write_header(io_writer *writer, const tml_volume *volume);
/* MetaImage's name of a unit; NULL: it has none. */
const char *tml_metaimage_unit(const char *unit);
/* As tml_nrrd_write_header, of MetaImage. */
bool tml_metaimage_write_header(io_writer *writer, const tml_volume *volume);

/* Integers that are the physical values of volume, with memory of their own. *out is zeroed after a
 * failure. */
TML_MUST_CHECK tml_status tml_volume_make_labels(tml_context *tml, const tml_volume *volume,
                                                 tml_volume *out);

/* Reads mapped layers [first, first + count) into memory, and returns when they are there. May be
 * called from another thread. Errors: INVALID_ARGUMENT (nothing is mapped, or a layer is past the
 * last), FILE_ACCESS (the file was shortened, or the disk failed). */
TML_MUST_CHECK tml_status tml_volume_stream_prefetch(tml_volume_stream *stream, uint64_t first,
                                                     uint64_t count);
/* Mapped layers below this one need not stay in memory; they may be looked at again. */
void tml_volume_stream_release(tml_volume_stream *stream, uint64_t layer);

/* Do the samples of a volume's layers [first, first + count), in host memory, lie within the ranges
 * of their bricks? A file of an index names dims and type of its volume, and no more, so this is
 * what tells it from another's: where all samples lie within their ranges, a surface by this index
 * is right. Every step-th row (of dims[0] samples, counted from layer first on) is looked at; step
 * 1: all of them. A few hundred rows, spread evenly, nearly always tell; a change that none of them
 * meets is not seen. False also where a layer is past the last, or step is 0. */
bool tml_volume_index_holds(const tml_volume_index *index, const void *samples, uint64_t first,
                            uint64_t count, uint64_t step);

#endif
