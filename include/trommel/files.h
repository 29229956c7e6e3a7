/* trommel-io, of all files: numbered names, processes that write one file together, and arrays. */
#ifndef TROMMEL_FILES_H
#define TROMMEL_FILES_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names with a number --------------------------------------------------------------------- */

/* Has a name one "%d", or one "%04d" with a digit from 1 to 9, and no other "%"? */
TML_API bool tml_path_is_numbered(const char *pattern);
/* Puts a number in the place of a name's "%d"; a name without "%" stays as it is.
 * number     with is_signed an int64_t's bits
 * out        size bytes
 * Returns: false where the name has another "%", or out is too short. */
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

#ifdef __cplusplus
}
#endif
#endif
