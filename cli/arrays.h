/* NPY arrays as the stream commands take them: as buffers, whole or in parts, and what is told of
 * them. */
#ifndef CLI_ARRAYS_H
#define CLI_ARRAYS_H

#include <trommel/files.h>

/* An array from a file as a buffer; the buffer uses the array's memory. */
typedef struct array_input {
    tml_array array;
    tml_buffer buffer;
    double seconds; /* that loading took */
} array_input;

/* Prints what is wrong and returns an exit code. memory: the most to take; 0: no limit. */
int array_load_any(tml_context *tml, const char *path, uint64_t memory, array_input *out);
/* The same of scalars. */
int array_load(tml_context *tml, const char *path, uint64_t memory, array_input *out);
void array_unload(tml_context *tml, array_input *in);
/* Replaces the input by its widened form where the operation has no form for its type. */
tml_status array_widen(tml_context *tml, array_input *in);
tml_status array_output(tml_context *tml, tml_type type, uint64_t count, tml_buffer *out);
/* Writes the first count elements of buffer, which may be none of where count is 0. */
tml_status array_save(tml_context *tml, const char *path, tml_buffer buffer, uint64_t count);

/* What all commands report about their run, but for what they found. */
void array_tell(const char *path, const array_input *in);
void array_tell_run(const array_input *in, double seconds, const char *output);

/* Arrays that go through memory piece by piece: a share for each process (ranks.h), of which all
 * have the same number of pieces, the last ones perhaps empty. */
typedef struct array_parts {
    tml_context *tml;
    const char *path;
    array_input all;       /* type and count of the whole array, no data */
    uint64_t first, count; /* of this share */
    uint64_t piece;        /* elements of a piece */
    uint64_t rounds;       /* pieces */
} array_parts;

/* Is the array one to take in parts: by several processes, or because it needs more memory than
 * allowed? Then code is CLI_OK and *out is ready. */
bool array_parts_open(tml_context *tml, const char *path, uint64_t memory, array_parts *out,
                      int *code);
/* Loads piece k, perhaps of no elements; tells its place in the array. */
tml_status array_parts_load(const array_parts *p, uint64_t k, bool is_wide, array_input *out,
                            uint64_t *at);
/* Writes the buffer's first count elements to where they belong in the file. */
tml_status array_parts_save(const array_parts *p, tml_array_stream *to, tml_buffer from,
                            uint64_t at, uint64_t count);

/* A scalar of any type but f16: an integer in 64 bits, or a float as a double. */
typedef union array_number {
    uint64_t whole;
    double real;
} array_number;

array_number array_number_of(tml_type type, const void *element);
/* Integers are summed in 64 bits, so that no shell user meets a sum modulo 2^32. */
tml_type array_sum_type(tml_type type);

#endif
