/* NPY arrays of the stream commands: loading, whole or in pieces, saving, and reporting. */
#ifndef CLI_ARRAYS_H
#define CLI_ARRAYS_H

#include <trommel/files.h>

/* An array from a file, and a buffer over the array's memory. */
typedef struct array_input {
    tml_array array;
    tml_buffer buffer;
    double seconds; /* loading time */
} array_input;

/* Loads an array. Prints what is wrong and returns an exit code.
 * memory: the most bytes that the array may have; 0: no limit. */
int array_load_any(tml_context *tml, const char *path, uint64_t memory, array_input *out);
/* As array_load_any, but accepts scalar elements only. */
int array_load(tml_context *tml, const char *path, uint64_t memory, array_input *out);
void array_unload(tml_context *tml, array_input *in);
/* Widens the input's elements if the operation does not support their type. */
tml_status array_widen(tml_context *tml, array_input *in);
tml_status array_output(tml_context *tml, tml_type type, uint64_t count, tml_buffer *out);
/* Writes the first count elements of buffer, which may be no buffer if count is 0. */
tml_status array_save(tml_context *tml, const char *path, tml_buffer buffer, uint64_t count);

/* array_tell reports the input, array_tell_run times and output. */
void array_tell(const char *path, const array_input *in);
void array_tell_run(const array_input *in, double seconds, const char *output);

/* An array that goes through memory piece by piece. Each process (ranks.h) has a share of it. All
 * shares have the same number of pieces; the last pieces may be empty. */
typedef struct array_parts {
    tml_context *tml;
    const char *path;
    array_input all;       /* type and count of the whole array; no data */
    uint64_t first, count; /* this process's share */
    uint64_t piece;        /* elements per piece */
    uint64_t rounds;       /* number of pieces */
} array_parts;

/* Whether the array must go through in pieces: if several processes run, or if it needs more memory
 * than allowed. If so, *code is CLI_OK and *out is ready. */
bool array_parts_open(tml_context *tml, const char *path, uint64_t memory, array_parts *out,
                      int *code);
/* Loads piece k, which may be empty. at: its position in the array. */
tml_status array_parts_load(const array_parts *p, uint64_t k, bool is_wide, array_input *out,
                            uint64_t *at);
/* Writes the buffer's first count elements to the file, at position `at`. */
tml_status array_parts_save(const array_parts *p, tml_array_stream *to, tml_buffer from,
                            uint64_t at, uint64_t count);

/* A scalar of any type except f16: an integer in 64 bits, or a float as a double. */
typedef union array_number {
    uint64_t whole;
    double real;
} array_number;

array_number array_number_of(tml_type type, const void *element);
/* The type of sums. Integers are summed in 64 bits, so that no user meets a sum modulo 2^32. */
tml_type array_sum_type(tml_type type);

#endif
