/* Programs of streams: stream operations that are recorded once and then run as often as you like,
 * for instance once a frame, with temporary arrays between them and with loops.
 *
 *     tml_program *program;
 *     tml_program_begin(tml, &program);
 *     tml_buffer squares = tml_program_array(program, TML_F32, count);
 *     tml_program_map(program, &(tml_map_desc){.kernel = TML_USE(square),
 *                                              .in = {in}, .out = squares});
 *     tml_program_scan(program, &(tml_scan_desc){.in = squares, .out = out});
 *     tml_status status = tml_program_end(program);       // the first failure of all of the above
 *     ...
 *     status = tml_program_enqueue(program, (tml_buffer){0, 0});     // each frame
 *     ...
 *     tml_program_destroy(program);
 *
 * Buffers     of the context may be inputs and outputs. The program names them and does not own
 *             them: write new contents between two runs, and the next run has them.
 * Arrays      are temporaries (tml_program_array). An array's handle is valid in the steps of its
 *             own program and nowhere else. Its contents are undefined before the first step of a
 *             run that writes it. An array takes scratch from the first step that names it to the
 *             last one, and shares that memory with arrays that are not in use meanwhile.
 * Loops       repeat steps (tml_program_repeat), or repeat them until a stream on the device is
 *             empty (tml_program_until_empty). They do not nest.
 * One engine  runs a program: the one of its context. On Vulkan a program may be enqueued between
 *             tml_vulkan_record and tml_vulkan_record_end; the command buffer then has its steps.
 *
 * After: Levien and others: Vello, recording.rs (a recording that is apart from the engine which
 * runs it); Horn: Stream Reduction Operations for GPGPU Applications. 2005 (traversal of a tree by
 * a stream of candidates: examples/quadtree.c). */
#ifndef TROMMEL_PROGRAM_H
#define TROMMEL_PROGRAM_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tml_program tml_program;

/* Begins to record a program.
 * Returns   *out, which tml_program_destroy frees, before tml_close
 * Errors    INVALID_ARGUMENT (another program of the context is still being recorded),
 *           OUT_OF_MEMORY. *out is then NULL */
TML_API TML_MUST_CHECK tml_status tml_program_begin(tml_context *tml, tml_program **out);

/* A temporary array of count elements, at least 1, for the steps of this program. After a failure
 * the handle is {0, 0}. */
TML_API tml_buffer tml_program_array(tml_program *program, tml_type type, uint64_t count);

/* Writes size bytes, a multiple of 4 and at most 256, to the first elements of a buffer or array
 * each time the step runs: a counter's start value, for instance. The bytes are copied now. */
TML_API void tml_program_write(tml_program *program, tml_buffer to, const void *bytes, size_t size);

/* ---- steps ----------------------------------------------------------------------------------- */

/* The operations of stream.h. */
typedef enum tml_operation {
    TML_OPERATION_MAP,
    TML_OPERATION_REDUCE,
    TML_OPERATION_HISTOGRAM,
    TML_OPERATION_SCAN,
    TML_OPERATION_COMPACT,
    TML_OPERATION_PARTITION,
    TML_OPERATION_SORT,
    TML_OPERATION_TOP_K,
    TML_OPERATION_GATHER,
    TML_OPERATION_SCATTER,
    TML_OPERATION_SEARCH,
    TML_OPERATION_EXPAND,
    TML_OPERATION_UNIQUE,
    TML_OPERATION_REDUCE_SEGMENTS,
    TML_OPERATION_REDUCE_BY_KEY,
    TML_OPERATION_SCAN_SEGMENTS,
} tml_operation;

/* Records an operation as the next step. Its desc is checked now, as the operation's own call
 * checks it, and copied; desc.scratch stays zeroed. The first step that fails makes the program
 * fail: later steps are not recorded, and tml_program_end returns the failure. Use the functions
 * below, which check the desc's type. */
TML_API void tml_program_step(tml_program *program, tml_operation operation, const void *desc);

/* tml_program_map(program, desc), tml_program_reduce(program, desc) and so on. */
#define TML_PROGRAM_STEP(name, operation)                                                          \
    static inline void tml_program_##name(tml_program *program, const tml_##name##_desc *desc)     \
    {                                                                                              \
        tml_program_step(program, TML_OPERATION_##operation, desc);                                \
    }
TML_PROGRAM_STEP(map, MAP)
TML_PROGRAM_STEP(reduce, REDUCE)
TML_PROGRAM_STEP(histogram, HISTOGRAM)
TML_PROGRAM_STEP(scan, SCAN)
TML_PROGRAM_STEP(compact, COMPACT)
TML_PROGRAM_STEP(partition, PARTITION)
TML_PROGRAM_STEP(sort, SORT)
TML_PROGRAM_STEP(top_k, TOP_K)
TML_PROGRAM_STEP(gather, GATHER)
TML_PROGRAM_STEP(scatter, SCATTER)
TML_PROGRAM_STEP(search, SEARCH)
TML_PROGRAM_STEP(expand, EXPAND)
TML_PROGRAM_STEP(unique, UNIQUE)
TML_PROGRAM_STEP(reduce_segments, REDUCE_SEGMENTS)
TML_PROGRAM_STEP(reduce_by_key, REDUCE_BY_KEY)
TML_PROGRAM_STEP(scan_segments, SCAN_SEGMENTS)
#undef TML_PROGRAM_STEP

/* ---- loops ----------------------------------------------------------------------------------- */

/* The steps from here to tml_program_loop_end run so many times. */
TML_API void tml_program_repeat(tml_program *program, uint32_t times);
/* The steps from here to tml_program_loop_end run while count is not 0, at most so many times.
 * count     one u32 or u64: a buffer, or an array that a step before the loop writes
 * The CPU looks at count before each round. A GPU runs all rounds without looking, so that nothing
 * waits: each step of the loop must do nothing when the stream is empty (let its length be count),
 * and the steps after the loop must not depend on how many rounds ran. */
TML_API void tml_program_until_empty(tml_program *program, uint32_t most, tml_buffer count);
TML_API void tml_program_loop_end(tml_program *program);

/* ---- the end, and running -------------------------------------------------------------------- */

/* Ends the recording. Later steps are INVALID_ARGUMENT.
 * Errors    of the first step that failed; INVALID_ARGUMENT (a loop has no end). The program cannot
 *           be enqueued then */
TML_API TML_MUST_CHECK tml_status tml_program_end(tml_program *program);
/* Bytes of scratch for one run: arrays, and what the operations themselves need. 0: none, or the
 * program failed. For tml_reserve, or for a buffer of your own. */
TML_API size_t tml_program_scratch_size(tml_program *program);
/* Runs the program once.
 * scratch   TML_U8, at least tml_program_scratch_size bytes, apart from all other buffers of the
 *           program; {0, 0}: the context's arena
 * Waits     never, and reads nothing back. The CPU engine has finished when the call returns
 * Memory    allocates nothing when the arena is large enough; on OpenGL arrays are textures of the
 *           pool
 * Errors    INVALID_ARGUMENT (the program is still being recorded), INVALID_HANDLE (a buffer that
 *           the program names was destroyed), SCRATCH_TOO_SMALL, UNSUPPORTED, OUT_OF_MEMORY,
 *           CANCELLED */
TML_API TML_MUST_CHECK tml_status tml_program_enqueue(tml_program *program, tml_buffer scratch);
/* Frees a program, whether or not it was ended. Work that was enqueued goes on, and command buffers
 * that were recorded stay valid. NULL is allowed. */
TML_API void tml_program_destroy(tml_program *program);

#ifdef __cplusplus
}
#endif
#endif
