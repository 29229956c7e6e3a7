/* trommel-io, of all files: numbered names, processes that write one file together, and arrays. */
#ifndef TROMMEL_FILES_H
#define TROMMEL_FILES_H

#include <trommel/extend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any file ------------------------------------------------------------------------------- */

/* What a file holds. */
typedef enum tml_file_kind {
    TML_FILE_NONE, /* nothing that trommel-io reads; as a question: whatever there is */
    TML_FILE_VOLUME,
    TML_FILE_POINTS,
    TML_FILE_MESH,
    TML_FILE_PICTURE,
    TML_FILE_INDEX, /* tml_volume_index */
} tml_file_kind;

/* Returns the name of a file's format, by its contents.
 * path   UTF-8; of volumes also a folder of slices
 * kind   what the file is to be read as: a PLY may be a mesh or points. NONE: the first of a
 *        picture, an index, a volume, a mesh and points that it can be
 * found  optional: that kind; NONE where the call returns NULL
 * Returns: "NRRD", "PLY", "PNG", without a version; "gzip" of a volume that is compressed and too
 *          damaged to tell. NULL: the file is nothing of the kind, or cannot be read.
 * Text of any kind passes for the points of XYZ. Text with lines that begin with v passes for OBJ;
 * with kind NONE only if path ends in .obj. PLY is a mesh only if it has faces. */
TML_API const char *tml_file_format(tml_context *tml, const char *path, tml_file_kind kind,
                                    tml_file_kind *found);

/* When vertices of exactly equal coordinates become one vertex. */
typedef enum tml_weld {
    TML_WELD_AUTO,  /* where the format has no shared vertices: STL */
    TML_WELD_NEVER, /* vertices are as in the file */
    TML_WELD_ALWAYS /* glTF, too, which splits vertices where normals or texture coordinates do */
} tml_weld;

/* How a file is read. Zeroed: as the file says. Each loader uses the fields of its kind.
 * memory_limit  refuses contents of more bytes than this; 0: no limit beyond malloc
 * strict        refuses a file of which something would be left out or assumed. By default the log
 *               gets a warning of each kind, and the file is read
 * Volumes:
 * frame         which volume of a 4-D file, or which component of a vector file. Of a file of
 *               several arrays (tml_volume.comment lists them): components of the active or first
 *               scalars first, on cells last
 * spacing       in place of the file's where not 0
 * dims, type    raw files: required, unless the name says both, as engine_256x256x128_uint8.raw
 *               does. Other files: 0
 * big_endian    raw files
 * skip          raw files: bytes before the first sample, after unzipping
 * Points:
 * names         name_count names of attributes that are read, in any case; at most 32 numbers per
 *               point. "*" stands for all that there is room for; the log gets a warning of those
 *               that are left out
 * Meshes:
 * weld          which vertices become one
 * Points and meshes:
 * origin        3 numbers that positions are relative to, such as another mesh's origin; NULL: the
 *               file's own coordinates choose it
 * recenter      moves positions that are far from 0 near it, by subtracting a centre and adding it
 *               to the origin, where that is exact. Without it positions stay as they are where
 *               floats hold them, which is good enough until they are computed with */
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

/* Puts a number in the place of a name's "%d", or "%04d" with a digit from 1 to 9.
 * pattern    a name; without "%" it stays as it is
 * number     with is_signed an int64_t's bits
 * out        size bytes. NULL: nothing is written
 * Returns: false if the name has another or a second "%", or out is too short. With out NULL: true
 *          if the name has one place for a number. */
TML_API bool tml_path_number(const char *pattern, uint64_t number, bool is_signed, char *out,
                             size_t size);

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

/* Numbers in host memory, from and to NPY files.
 * data   size bytes
 * type   a scalar, or a vector of 2 to 4 if the file has two dimensions or more and the last is
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

/* Reads an NPY file of any shape, in C order, also gzipped.
 * first, count  0 and UINT64_MAX: all of it. Others: a part of its numbers, of which a vector has
 *               several; count 0: nothing but type and total, if the file holds them
 * out           released by tml_array_free
 * Errors: FILE_ACCESS, FILE_FORMAT, UNSUPPORTED (a part of a file that is gzipped or in Fortran's
 *         order), INVALID_ARGUMENT (past the end), OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_array_load(tml_context *tml, const char *path, uint64_t first,
                                                 uint64_t count, tml_array *out);
static inline void tml_array_free(tml_context *tml, tml_array *array)
{
    tml_free(tml, array->data, array->size);
    array->data = NULL;
    array->size = 0;
    array->count = 0;
}
/* Writes an NPY file.
 * array  a count of 0 is allowed. total is not used */
TML_API TML_MUST_CHECK tml_status tml_array_save(tml_context *tml, const char *path,
                                                 const tml_array *array);

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

#ifdef __cplusplus
}
#endif
#endif
