/* Files: what volumes.h, points.h, meshes.h and pictures.h share.
 *
 * trommel-io is a second library beside the core, which does not need it. It reads and writes the
 * formats that docs/formats.md lists. This header has
 *   tml_file_format    which kind of file a file is
 *   tml_load_desc      how a file is read
 *   tml_array          numbers, from and to NPY files, whole and in parts
 *   tml_path_number    names with a number, for sequences and labels
 *   tml_team           several processes that write one file
 *
 *     tml_file_kind kind;
 *     const char *format = tml_file_format(tml, "head.nrrd", TML_FILE_NONE, &kind);
 *     if (kind == TML_FILE_VOLUME)
 *         status = tml_volume_load(tml, "head.nrrd", NULL, &volume);
 *
 * Every call keeps these rules:
 *   reading   Readers check what a format demands, and the message names the field of the file that
 *             is wrong. A size in a file is compared with the bytes that are there before memory is
 *             allocated.
 *   writing   Writers write a file beside the target and rename it when it is complete. A call that
 *             fails or is cancelled leaves the old file, or none.
 *   memory    All of it comes from the context's allocator, but for the working memory of the
 *             libraries for PNG, JPEG, OpenEXR and TIFF.
 *   paths     UTF-8. */
#ifndef TROMMEL_FILES_H
#define TROMMEL_FILES_H

#include <trommel/extend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any file ------------------------------------------------------------------------------- */

/* The kinds of files. */
typedef enum tml_file_kind {
    TML_FILE_NONE, /* as a question: any kind; as an answer: nothing that trommel-io reads */
    TML_FILE_VOLUME,
    TML_FILE_POINTS,
    TML_FILE_MESH,
    TML_FILE_PICTURE,
    TML_FILE_INDEX, /* tml_volume_index */
} tml_file_kind;

/* Returns the name of a file's format, found by the file's contents.
 * path   a file, or a folder of a volume's slices
 * kind   the kind that the file is to be read as: a PLY may be a mesh or points. NONE: the first of
 *        picture, index, volume, mesh, points that fits
 * found  optional: the kind; NONE if the call returns NULL
 * Returns: "NRRD", "PLY", "PNG" ..., without a version; "gzip" for a compressed volume that is
 *          damaged. NULL: the file is not of the kind, or cannot be read.
 * Any text fits the points format XYZ. Text with lines that begin with v fits the mesh format OBJ,
 * with kind NONE only if path ends in .obj. PLY fits a mesh only if it has faces. */
TML_API const char *tml_file_format(tml_context *tml, const char *path, tml_file_kind kind,
                                    tml_file_kind *found);

/* When vertices with equal coordinates become one vertex. */
typedef enum tml_weld {
    TML_WELD_AUTO,  /* if the format has no shared vertices: STL */
    TML_WELD_NEVER, /* vertices are as in the file */
    TML_WELD_ALWAYS /* also in glTF, which splits vertices at edges of normals and textures */
} tml_weld;

/* How a file is read. Zeroed: as the file says. Each loader uses the fields of its kind.
 * memory_limit  bytes that the contents may take at most; 0: no limit
 * strict        returns an error if something would be left out or assumed. Otherwise the log gets
 *               a warning, one for each kind of fault, and the file is read
 * Volumes:
 * frame         number of the volume in a 4-D file, or of the component in a vector file. In a file
 *               of several arrays (tml_volume.comment lists them), the active or first scalars come
 *               first, arrays on cells last
 * spacing       replaces the file's; 0: the file's
 * dims          raw files: required, unless the name has dims and type, such as
 *               engine_256x256x128_uint8.raw. Other files: 0
 * type          as dims
 * big_endian    raw files: byte order of the samples
 * skip          raw files: bytes before the first sample, after unzipping
 * Points:
 * names         name_count names of the attributes to read, in any case; at most 32 numbers per
 *               point. "*": all that fit; the log gets a warning of the others
 * name_count    0: no attributes
 * Meshes:
 * weld          which vertices become one
 * Points and meshes:
 * origin        3 numbers that positions are relative to, such as another mesh's origin. NULL: the
 *               reader chooses, and keeps positions that floats hold as they are
 * recenter      moves positions near 0 if they are far from it: subtracts a centre, and adds it to
 *               the origin. Only coordinates for which that is exact are moved */
typedef struct tml_load_desc {
    uint64_t memory_limit;
    bool strict;
    uint32_t frame;
    double spacing[3];
    uint64_t dims[3];
    tml_type type;
    bool big_endian;
    uint64_t skip;
    const char *const *names;
    uint32_t name_count;
    tml_weld weld;
    const double *origin;
    bool recenter;
} tml_load_desc;

/* ---- names with a number --------------------------------------------------------------------- */

/* Replaces "%d" in a name by a number, as in "organ_%d.stl"; "%04d", with a digit from 1 to 9, pads
 * with zeros.
 * pattern    a name with at most one "%"; without it, the name is copied
 * number     an int64_t's bits if is_signed
 * out        size bytes. NULL: only asks whether pattern has a place for a number
 * Returns: false if pattern has another "%", or out is too short. With out NULL: true if pattern
 *          has exactly one place for a number. */
TML_API bool tml_path_number(const char *pattern, uint64_t number, bool is_signed, char *out,
                             size_t size);

/* ---- several processes ----------------------------------------------------------------------- */

/* Processes that write one file together, such as those of an MPI job. The caller provides the
 * communication; lower ranks have what comes first in the file.
 *
 * Every function is called on all ranks in the same order, and waits for all of them. When one
 * process fails, the call that the others are in, and every later one, returns CANCELLED on them.
 * The caller reports failures that happen outside of these functions. Messages go to tml.
 * rank     number of this process
 * count    number of processes
 * scan     before: sums of mine over the lower ranks; all: sums over all ranks
 * gather   all: count numbers of each rank, by rank
 * shift    sends out to the next rank, or, with down, to the previous one, and receives in from the
 *          other side. Nothing is sent to, or received from, a rank that does not exist
 * collect  copies data of rank from to data of rank 0, which has the same size. The arguments of
 *          the other ranks are not used
 * open     opens rank 0's file, which exists, for writing on all ranks. path is used on rank 0
 * write    writes size bytes of each rank, perhaps 0, at its offset
 * close    closes the file
 * user     passed to each function */
typedef struct tml_team {
    uint32_t rank, count;
    tml_status (*scan)(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                       uint64_t *before, uint64_t *all);
    tml_status (*gather)(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                         uint64_t *all);
    tml_status (*shift)(void *user, tml_context *tml, bool down, const void *out, uint64_t out_size,
                        void *in, uint64_t in_size);
    tml_status (*collect)(void *user, tml_context *tml, uint32_t from, void *data, uint64_t size);
    tml_status (*open)(void *user, tml_context *tml, const char *path);
    tml_status (*write)(void *user, tml_context *tml, uint64_t offset, const void *data,
                        uint64_t size);
    tml_status (*close)(void *user, tml_context *tml);
    void *user;
} tml_team;

/* ---- arrays --------------------------------------------------------------------------------- */

/* Numbers in host memory, from and to NPY files.
 * data   size bytes
 * type   a scalar; a vector of 2 to 4 if the file has two dimensions or more and the last one is
 *        that long
 * count  elements of that type
 * total  numbers in the whole file */
typedef struct tml_array {
    void *data;
    size_t size;
    tml_type type;
    uint64_t count;
    uint64_t total;
} tml_array;

/* Reads an NPY file of any shape, in C order.
 * path   may be gzipped
 * first  number of the first element to read
 * count  elements to read. UINT64_MAX, with first 0: the whole file. 0: only type and total.
 *        A part is of scalars: a vector counts as its numbers
 * out    released by tml_array_free
 * Errors: FILE_ACCESS, FILE_FORMAT, UNSUPPORTED (a part of a file that is gzipped or in Fortran's
 *         order), INVALID_ARGUMENT (the part is past the end), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_array_load(tml_context *tml, const char *path, uint64_t first,
                                                 uint64_t count, tml_array *out);
/* Releases an array that tml_array_load made. */
static inline void tml_array_free(tml_context *tml, tml_array *array)
{
    tml_free(tml, array->data, array->size);
    array->data = NULL;
    array->size = 0;
    array->count = 0;
}
/* Writes an NPY file.
 * array  total is not used
 * Errors: FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_array_save(tml_context *tml, const char *path,
                                                 const tml_array *array);

/* An NPY file that is written piece by piece. */
typedef struct tml_array_stream tml_array_stream;

/* Opens a file for writing.
 * type   a scalar
 * count  elements of the whole file
 * team   optional: each rank writes its own elements. NULL: this process alone
 * Errors: FILE_ACCESS, INVALID_ARGUMENT, OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_array_stream_open(tml_context *tml, const char *path,
                                                        tml_type type, uint64_t count,
                                                        const tml_team *team,
                                                        tml_array_stream **out);
/* Writes elements [first, first + count), in order. In a team, all ranks write as many pieces, of
 * which some may be empty.
 * Errors: FILE_ACCESS, INVALID_ARGUMENT, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_array_stream_write(tml_array_stream *stream, uint64_t first,
                                                         uint64_t count, const void *data);
/* Completes the file and releases the stream.
 * status  TML_OK; otherwise the file that was there stays
 * Returns: the first failure, status included. */
TML_API TML_MUST_CHECK tml_status tml_array_stream_finish(tml_array_stream *stream,
                                                          tml_status status);

#ifdef __cplusplus
}
#endif
#endif
