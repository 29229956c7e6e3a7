/* Programs of streams: stream operations that one call runs one after another, and arrays between
 * them.
 *
 *     program p = program_begin(tml, "tml_mesh_smooth");
 *     tml_buffer keys = program_array(&p, TML_U32, count);
 *     program_map(&p, &(tml_map_desc){.kernel = TML_USE(corner), .in = {indices}, .out = {keys}});
 *     program_sort(&p, &(tml_sort_desc){.keys = keys, .sorted = keys, .payloads = {{rings,
 *     rings}}}); return program_run(p, desc->scratch);
 *
 * Nothing runs before program_run: program_map and its like check their desc as tml_map does, and
 * record it as a step. The first failure makes the program's status sticky: later steps are not
 * recorded, and program_run returns it. No step runs unless the engine supports them all and has
 * scratch for them.
 *
 * Arrays are buffers of the program alone. An array lives from the first step that has its handle
 * to the last one, and shares scratch with arrays and operations that do not live meanwhile. (An
 * engine whose scratch is no memory makes and destroys buffers.) Its contents are undefined before
 * the first step that writes it.
 *
 * A public call that is itself a program (tml_top_k) is a step like any other: while it is
 * recorded, its program becomes part of the outer one. So a function of a room may add steps to its
 * caller's program.
 *
 * After: Levien and others: Vello, vello/src/recording.rs (a recording apart from the engine that
 * runs it). */
#ifndef TML_PROGRAM_H
#define TML_PROGRAM_H

#include "stream/stream_internal.h"

typedef struct program {
    tml_context *tml;
    const char *call;  /* names the program in messages */
    tml_status status; /* of the first failure */
    struct tml_program_memory *memory;
    struct program *outer; /* the program that this one is part of, or NULL */
    uint32_t first_array;  /* the number of its first array among the context's */
    uint32_t loop;         /* the loop that is open, or PROGRAM_NO_LOOP */
    bool waits;            /* it has a step on the host */
    bool is_stopped;
} program;

/* Begins a program. It ends with program_run, program_enqueue or program_scratch_size, one of which
 * must be called. */
program program_begin(tml_context *tml, const char *call);

/* An array of count elements, for the descs of this program's steps. Its data may be read and
 * written by its steps on the host (tml_buffer_read, tml_buffer_write). */
tml_buffer program_array(program *p, tml_type type, uint64_t count);
/* Makes a buffer that outlives the program, with undefined contents. */
void program_keep(program *p, tml_type type, uint64_t count, const char *label, tml_buffer *out);
/* The memory of a buffer that is no array, as elements of another type, the last of which may reach
 * past its end; whole words do not reach past its memory's. */
tml_buffer program_view(program *p, tml_buffer of, tml_type type);

/* ---- steps ----------------------------------------------------------------------------------- */

/* program_map(p, desc) and so on: each records the public call of its name. desc.scratch stays
 * zeroed. */
#define PROGRAM_OPERATIONS(X)                                                                      \
    X(map, tml_map_desc)                                                                           \
    X(reduce, tml_reduce_desc)                                                                     \
    X(histogram, tml_histogram_desc)                                                               \
    X(scan, tml_scan_desc)                                                                         \
    X(compact, tml_compact_desc)                                                                   \
    X(sort, tml_sort_desc)                                                                         \
    X(top_k, tml_top_k_desc)                                                                       \
    X(gather, tml_gather_desc)                                                                     \
    X(scatter, tml_gather_desc)                                                                    \
    X(search, tml_search_desc)                                                                     \
    X(expand, tml_expand_desc)                                                                     \
    X(unique, tml_unique_desc)
#define PROGRAM_DECLARE(name, type) extern void program_##name(program *p, const type *desc);
PROGRAM_OPERATIONS(PROGRAM_DECLARE)
#undef PROGRAM_DECLARE

/* Writes words of the host's, a multiple of 4 bytes, to the first elements of a buffer. The words
 * are copied now. */
void program_put(program *p, tml_buffer to, const void *words, size_t size);

/* A program's part for an engine (engine.h). op: NULL if the engine has none; the message then says
 * what it is without ("no fields"). desc: size bytes, which are copied, and whose arrays are found
 * as those of a stream operation; or, with a size of 0, what stays the caller's until the program
 * ends, and then program_use names the arrays. */
void program_part(program *p, const tml_engine_op *op, const char *without, const void *desc,
                  size_t size);
/* The latest step reads or writes an array. No array: nothing. */
void program_use(program *p, tml_buffer array);

/* A step on the host, which makes the program one that waits. It may read and write buffers and the
 * arrays that uses names, and must not run stream operations: the program has the arena. */
typedef tml_status program_host_fn(program *p, void *user);
enum { PROGRAM_HOST_USES = 8 };
typedef struct program_host_desc {
    program_host_fn *run;
    void *user;
    tml_buffer uses[PROGRAM_HOST_USES]; /* arrays */
} program_host_desc;
void program_host(program *p, const program_host_desc *desc);
/* For a step on the host: the steps after it do not run. No failure. */
void program_stop(program *p);
/* A step on the host that reads all elements of a buffer to out. */
void program_read(program *p, tml_buffer from, void *out);

/* ---- loops ----------------------------------------------------------------------------------- */

/* The steps up to program_loop_end run most times or, with count (one u32 or u64), while count is
 * not 0, at most so often. Only an engine on the host reads count between rounds. On a device all
 * rounds are enqueued, so the steps must do nothing for an empty stream (their length is count),
 * and the steps after the loop must not depend on how many rounds ran. stage: reported to the
 * context's progress hook after each round, which may cancel; NULL: not reported. An array that a
 * step of the loop has lives through all rounds. Loops do not nest. */
void program_loop_begin(program *p, uint32_t most, tml_buffer count, const char *stage);
void program_loop_end(program *p);

/* ---- the end --------------------------------------------------------------------------------- */

/* Runs the program with the caller's scratch or, if that is no buffer, the context's arena. A
 * program that waits returns when its last step on the host has run, and is refused while a command
 * buffer is recorded. */
tml_status program_run(program p, tml_buffer scratch);
/* The same for a call that must not wait: refuses a program that does. */
tml_status program_enqueue(program p, tml_buffer scratch);
/* Bytes that program_run requires of the caller's scratch; 0 if the program failed or needs
 * none. */
size_t program_scratch_size(program p);

/* For a program that runs often (program_public.c): neither ends it, nor do they change its
 * status. */
tml_status program_run_once(program *p, tml_buffer scratch);
size_t program_measure(program *p);
/* Are the buffers still there that the steps name? (tml_context.named while they were recorded) */
bool program_has_buffers(const program *p);
/* The number after those of its arrays. */
uint32_t program_arrays_end(const program *p);
/* Makes the handles of a program's arrays valid or invalid. */
void program_show_arrays(program *p, bool are_valid);
/* Destroys its arrays and gives its memory back. */
void program_discard(program *p);

/* Records an operation with a resolved desc (dispatch.c, for stream_run). */
tml_status program_record(program *p, const stream_op *op, const void *desc);

#endif
