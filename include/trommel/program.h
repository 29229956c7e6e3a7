/* Programs of streams: operations of stream.h, recorded once and run as often as the caller likes,
 * once per frame for instance, with temporary arrays between them, and with loops.
 *
 *     tml_program *program;
 *     tml_program_create(tml, &program);
 *     tml_buffer squares = tml_program_array(program, TML_F32, count);
 *     tml_program_map(program, &(tml_map_desc){.kernel = TML_USE(square), .in = {in},
 *                                              .out = {squares}});
 *     tml_program_scan(program, &(tml_scan_desc){.in = squares, .out = out});
 *     tml_status status = tml_program_end(program);       // the first failure of all of the above
 *     ...
 *     status = tml_program_enqueue(program, (tml_buffer){0, 0});     // each frame
 *     ...
 *     tml_program_destroy(program);
 *
 * Buffers     The steps name buffers of the context, which the program does not own. Contents that
 *             are written between two runs are those of the next run.
 * Arrays      Temporaries of the program (tml_program_array). The steps of the program may name an
 *             array, and nothing else may. Its contents are undefined before the first step of a
 *             run that writes it. An array occupies scratch from the first step that names it to
 *             the last one, and shares that memory with arrays that are not in use meanwhile.
 * Loops       Repeat steps a number of times, or until a stream on the device is empty. Loops do
 *             not nest.
 * One engine  Runs a program: the one of its context. On Vulkan a program may be enqueued between
 *             tml_vulkan_record and tml_vulkan_record_end; the command buffer then has its steps.
 *
 * After: Levien and others: Vello, recording.rs (a recording apart from the engine that runs it);
 * Horn: Stream Reduction Operations for GPGPU Applications. 2005 (traversal of a tree by a stream
 * of candidates: examples/quadtree.c). */
#ifndef TROMMEL_PROGRAM_H
#define TROMMEL_PROGRAM_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tml_program tml_program;

/* Creates an empty program and begins to record it.
 * out      the program, which tml_program_destroy frees, before tml_close; NULL on failure
 * Errors:  INVALID_ARGUMENT (another program of the context is still being recorded),
 *          OUT_OF_MEMORY */
TML_API TML_MUST_CHECK tml_status tml_program_create(tml_context *tml, tml_program **out);

/* Adds a temporary array.
 * count    at least 1
 * Returns: a handle for the steps of this program; {0, 0} after a failure */
TML_API tml_buffer tml_program_array(tml_program *program, tml_type type, uint64_t count);

/* Records a write to the first elements of a buffer or array, a counter's start value for instance.
 * to       a buffer or array
 * bytes    copied now, and written each time the step runs
 * size     bytes: a multiple of 4, at most 256 */
TML_API void tml_program_write(tml_program *program, tml_buffer to, const void *bytes, size_t size);

/* ---- steps ----------------------------------------------------------------------------------- */

/* The operations of stream.h. */
typedef enum tml_operation {
    TML_OPERATION_MAP,
    TML_OPERATION_REDUCE,
    TML_OPERATION_HISTOGRAM,
    TML_OPERATION_SCAN,
    TML_OPERATION_COMPACT,
    TML_OPERATION_SORT,
    TML_OPERATION_TOP_K,
    TML_OPERATION_GATHER,
    TML_OPERATION_SCATTER,
    TML_OPERATION_SEARCH,
    TML_OPERATION_EXPAND,
    TML_OPERATION_UNIQUE,
} tml_operation;

/* Records an operation as the next step. The functions below are this one with a desc whose type is
 * checked: tml_program_map(program, desc) and so on.
 * desc     of the operation. It is checked now, as the operation's own call checks it, and copied;
 *          desc.scratch stays zeroed
 * Errors:  sticky. After the first step that fails, no step is recorded, and tml_program_end
 *          returns the failure */
TML_API void tml_program_step(tml_program *program, tml_operation operation, const void *desc);

#define TML_PROGRAM_STEP(name, type, operation)                                                    \
    static inline void tml_program_##name(tml_program *program, const type *desc)                  \
    {                                                                                              \
        tml_program_step(program, TML_OPERATION_##operation, desc);                                \
    }
TML_PROGRAM_STEP(map, tml_map_desc, MAP)
TML_PROGRAM_STEP(reduce, tml_reduce_desc, REDUCE)
TML_PROGRAM_STEP(histogram, tml_histogram_desc, HISTOGRAM)
TML_PROGRAM_STEP(scan, tml_scan_desc, SCAN)
TML_PROGRAM_STEP(compact, tml_compact_desc, COMPACT)
TML_PROGRAM_STEP(sort, tml_sort_desc, SORT)
TML_PROGRAM_STEP(top_k, tml_top_k_desc, TOP_K)
TML_PROGRAM_STEP(gather, tml_gather_desc, GATHER)
TML_PROGRAM_STEP(scatter, tml_gather_desc, SCATTER)
TML_PROGRAM_STEP(search, tml_search_desc, SEARCH)
TML_PROGRAM_STEP(expand, tml_expand_desc, EXPAND)
TML_PROGRAM_STEP(unique, tml_unique_desc, UNIQUE)
#undef TML_PROGRAM_STEP

/* Begins a loop: the steps up to tml_program_loop_end run several times.
 * most     the number of rounds, or with count the most
 * count    optional: one u32 or u64, a buffer, or an array that a step before the loop writes. The
 *          loop ends when it is 0. The CPU looks at it before each round. A GPU runs all rounds
 *          without looking, so that nothing waits: each step of the loop must do nothing for an
 *          empty stream (let its length be count), and the steps after the loop must not depend on
 *          how many rounds ran
 * Errors:  sticky, as of tml_program_step */
TML_API void tml_program_loop_begin(tml_program *program, uint32_t most, tml_buffer count);
TML_API void tml_program_loop_end(tml_program *program);

/* ---- the end, and running -------------------------------------------------------------------- */

/* Ends the recording. Later steps are INVALID_ARGUMENT.
 * Errors:  that of the first step that failed; INVALID_ARGUMENT (a loop has no end). The program
 *          cannot be enqueued then */
TML_API TML_MUST_CHECK tml_status tml_program_end(tml_program *program);
/* Runs the program once.
 * scratch  TML_U8, at least as large as tml_prepare_end reports, apart from all other buffers
 *          of the program; {0, 0}: the context's arena
 * Waits:   never, and reads nothing back. The CPU engine has finished when the call returns
 * Memory:  allocates nothing when the arena is large enough; on OpenGL arrays are textures of the
 *          pool
 * Errors:  INVALID_ARGUMENT (the program is still being recorded), INVALID_HANDLE (a buffer that
 *          the program names was destroyed), SCRATCH_TOO_SMALL, UNSUPPORTED, OUT_OF_MEMORY,
 *          CANCELLED */
TML_API TML_MUST_CHECK tml_status tml_program_enqueue(tml_program *program, tml_buffer scratch);
/* Frees a program, whether or not it was ended. Work that was enqueued goes on, and command buffers
 * that were recorded stay valid. NULL is allowed. */
TML_API void tml_program_destroy(tml_program *program);

#ifdef __cplusplus
}
#endif
#endif
