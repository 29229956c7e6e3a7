/* Trommel core: status, types, context, buffers.
 *
 * What this library does NOT do: it never prints, never exits, never starts a thread or
 * allocates device memory behind your back after tml_open beyond the context's own pool, arena
 * and the buffers that you create.
 *
 * A context owns one device (an engine), its buffers, one scratch arena and the text of its last
 * error. Different contexts are independent. There is no process-wide state. Only calls whose
 * names say read, wait, map or sync wait for results (tml_buffer_read_begin and
 * tml_buffer_read_poll do not, which is what they are for); everything else enqueues work in call
 * order and returns. (The CPU engine finishes each operation before the call returns, which is a
 * valid form of the same promise.) A call may still wait for room: any call when the device is
 * many submissions behind or short of memory, and tml_buffer_write for earlier work where its
 * staging memory is in use or the device's memory is the host's own.
 *
 * Every call on a context keeps these rules, here and in the other headers (those of trommel-io,
 * a library built on this one, where they use its calls); a call that breaks one does nothing and
 * returns INVALID_ARGUMENT (or, where it returns no status, 0, false or NULL), and
 * tml_last_error says why on the thread that made it.
 *   NULL       The context, a handle, a desc and where results go (out) must not be NULL, unless
 *              the declaration says so. (A zeroed tml_buffer is no pointer; a desc's fields are
 *              as said there.)
 *   threads    Calls on one context must not overlap in time: one that comes while another
 *              thread is in a call is refused and names that call. Any thread may make the next
 *              one. (What a refused tml_buffer_destroy, tml_buffer_unmap or tml_close should
 *              have done is not done; a refused tml_parallel_for runs its tasks on the thread
 *              that called it.) tml_cancel and tml_is_cancelled may be called at any time,
 *              tml_last_error by the thread that was refused. Those that only look,
 *              tml_buffer_describe and tml_context_describe, and those of extend.h are not
 *              checked.
 *   hooks      A hook (log, progress, allocator) that is called within a call may make the calls
 *              that rule before names; any other is refused, and leaves the message of the call
 *              around it alone. tml_parallel.run and tasks must make none but tml_is_cancelled.
 *   fork       After fork() a context belongs to the parent alone. In the child every call is
 *              refused; tml_close returns at once, and leaves the child's copy as it is. */
#ifndef TROMMEL_CORE_H
#define TROMMEL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TML_VERSION_MAJOR 0
#define TML_VERSION_MINOR 1
#define TML_VERSION_PATCH 0
/* The three in one number, which grows with each. */
#define TML_VERSION ((TML_VERSION_MAJOR) << 20 | (TML_VERSION_MINOR) << 10 | (TML_VERSION_PATCH))

#if defined(_WIN32) && defined(TML_SHARED)
#    ifdef TML_BUILD
#        define TML_API __declspec(dllexport)
#    else
#        define TML_API __declspec(dllimport)
#    endif
#elif defined(__GNUC__)
#    define TML_API __attribute__((visibility("default")))
#else
#    define TML_API
#endif

#if defined(__GNUC__)
#    define TML_MUST_CHECK __attribute__((warn_unused_result))
#    if defined(__MINGW32__) && !defined(__clang__) /* whose printf is of Microsoft's C library */
#        define TML_FORMAT(fmt, arg) __attribute__((format(gnu_printf, fmt, arg)))
#    else
#        define TML_FORMAT(fmt, arg) __attribute__((format(printf, fmt, arg)))
#    endif
#else
#    define TML_MUST_CHECK
#    define TML_FORMAT(fmt, arg)
#endif

/* ---- status --------------------------------------------------------------------------------- */

/* Every fallible call returns TML_OK, which is 0, or one of these. X(code, sentence). */
#define TML_ERROR_LIST(X)                                                                          \
    X(INVALID_ARGUMENT, "an argument is out of its range or contradicts another")                  \
    X(INVALID_HANDLE, "a buffer handle is stale or belongs to another context")                    \
    X(OUT_OF_MEMORY, "the host has not enough memory")                                             \
    X(OUT_OF_DEVICE_MEMORY, "the device has not enough memory")                                    \
    X(CAPACITY, "an output is too small for the result")                                           \
    X(SCRATCH_TOO_SMALL, "the caller's scratch buffer is too small")                               \
    X(UNSUPPORTED, "this engine or build cannot do this")                                          \
    X(CANCELLED, "the caller cancelled the work")                                                  \
    X(NO_DEVICE, "the device asked for does not exist")                                            \
    X(DEVICE_LOST, "the device stopped answering")                                                 \
    X(STALLED, "work on the device waited in vain for other work, and its results are wrong")      \
    X(FILE_ACCESS, "a file cannot be opened, read, written or renamed")                            \
    X(FILE_FORMAT, "a file's contents are not what its format demands")                            \
    X(INTERNAL, "a fault in the library; please report it")

typedef enum tml_status {
    TML_OK,
#define TML_ERROR_ENUM(code, sentence) TML_ERROR_##code,
    TML_ERROR_LIST(TML_ERROR_ENUM)
#undef TML_ERROR_ENUM
} tml_status;

/* Makes the call if status, a variable, is TML_OK, and assigns its result to it: of several calls
 * in turn the first failure is kept, and none is made after it. */
#define TML_THEN(status, call)                                                                     \
    do {                                                                                           \
        if ((status) == TML_OK)                                                                    \
            (status) = (call);                                                                     \
    } while (0)

/* The code's name without its prefix, "OK", "INVALID_ARGUMENT"; never NULL. */
TML_API const char *tml_status_name(tml_status status);
/* The code's sentence from TML_ERROR_LIST, "success"; never NULL. */
TML_API const char *tml_status_text(tml_status status);

/* ---- element types -------------------------------------------------------------------------- */

/* X(name, size in bytes, C type). TML_F16 is IEEE binary16 in a uint16_t. */
#define TML_SCALAR_LIST(X)                                                                         \
    X(U8, 1, uint8_t)                                                                              \
    X(I8, 1, int8_t)                                                                               \
    X(U16, 2, uint16_t)                                                                            \
    X(I16, 2, int16_t)                                                                             \
    X(U32, 4, uint32_t)                                                                            \
    X(I32, 4, int32_t)                                                                             \
    X(U64, 8, uint64_t)                                                                            \
    X(I64, 8, int64_t)                                                                             \
    X(F16, 2, uint16_t)                                                                            \
    X(F32, 4, float)                                                                               \
    X(F64, 8, double)

/* An element type: a scalar, a 2-, 3- or 4-vector of one (tightly packed), or an opaque record. */
typedef uint32_t tml_type;
enum {
    TML_TYPE_NONE = 0,
#define TML_SCALAR_ENUM(name, size, ctype) TML_##name,
    TML_SCALAR_LIST(TML_SCALAR_ENUM)
#undef TML_SCALAR_ENUM
        TML_SCALAR_END
};
#define TML_VEC(scalar, n) ((tml_type)((scalar) | (uint32_t)(n) << 8)) /* n = 2, 3, 4 */
#define TML_RECORD(size)   ((tml_type)(0xffu | (uint32_t)(size) << 8)) /* size = 1 ... 64 bytes */

/* Returns the type of the components: TML_F32 of TML_VEC(TML_F32, 3); TML_TYPE_NONE of a record. */
static inline tml_type tml_type_scalar(tml_type type)
{
    const uint32_t scalar = type & 0xff, count = type >> 8;
    return scalar < TML_SCALAR_END && (count == 0 || (count >= 2 && count <= 4)) ? scalar
                                                                                 : TML_TYPE_NONE;
}

/* Returns the number of components, 1 to 4, 1 of a record; 0 if type is not a type. */
static inline uint32_t tml_type_components(tml_type type)
{
    const uint32_t count = type >> 8;
    if ((type & 0xff) == 0xff)
        return count >= 1 && count <= 64;
    return tml_type_scalar(type) == TML_TYPE_NONE ? 0 : count ? count : 1;
}

/* Is type f16, f32, f64 or a vector of one? */
static inline bool tml_type_is_float(tml_type type)
{
    return tml_type_scalar(type) >= TML_F16;
}

/* Is type one of i8 to i64, a float or a vector of one? */
static inline bool tml_type_is_signed(tml_type type)
{
    const tml_type scalar = tml_type_scalar(type);
    return scalar >= TML_F16 || (scalar != TML_TYPE_NONE && scalar % 2 == 0);
}

TML_API size_t tml_type_size(tml_type type);           /* bytes of an element; 0 if not a type */
TML_API const char *tml_type_name(tml_type type);      /* "f32", "f32x3", "record"; never NULL */
TML_API tml_type tml_type_from_name(const char *name); /* the inverse; NONE if unknown */

/* ---- context -------------------------------------------------------------------------------- */

typedef struct tml_context tml_context;

typedef enum tml_engine_kind {
    /* the best device that opens and does all that the CPU engine does; at least the CPU, so
     * this never fails for want of a GPU */
    TML_ENGINE_AUTO,
    TML_ENGINE_CPU,
    TML_ENGINE_VULKAN,
    TML_ENGINE_GL,
} tml_engine_kind;

typedef enum tml_log_level {
    TML_LOG_ERROR,
    TML_LOG_WARNING,
    TML_LOG_INFO,
    TML_LOG_DEBUG
} tml_log_level;

/* Memory hooks. alloc returns size bytes at an address that is a multiple of alignment (a power of
 * two, at least 16), or NULL; free gets what alloc returned. Called from the thread that calls the
 * library, never from its workers. */
typedef struct tml_allocator {
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*free)(void *user, void *memory, size_t size);
    void *user;
} tml_allocator;

typedef void (*tml_task_fn)(void *argument, uint32_t index);

/* Your job system in place of the context's own pool: call task(argument, i) once for each i in
 * [0, count), on any threads, in any order that starts lower indices first, and return when all
 * have returned. concurrency is how many may run at once (the library sizes per-worker scratch by
 * count, not by this). */
typedef struct tml_parallel {
    void (*run)(void *user, uint32_t count, tml_task_fn task, void *argument);
    uint32_t concurrency;
    void *user;
} tml_parallel;

/* Progress of a long call: stage is a constant string ("sign bits"), fraction runs 0 ... 1 within
 * the whole call. Return false to cancel that call (see tml_cancel). Called from the calling
 * thread, at most some hundred times. */
typedef bool (*tml_progress_fn)(void *user, const char *stage, double fraction);

typedef void (*tml_log_fn)(void *user, tml_log_level level, const char *message);

enum { TML_MAX_THREADS = 1024 }; /* of a context */

typedef struct tml_open_desc {
    tml_engine_kind engine;
    const char *device;      /* part of a device's name, or its number; NULL: the first */
    uint32_t threads;        /* CPU engine's workers, at most TML_MAX_THREADS; 0: one for each
                              * processor it may use */
    size_t scratch_size;     /* bytes to reserve at once; 0: the arena grows at first use */
    tml_allocator allocator; /* zeroed: aligned malloc and free; buffers keep 256 MiB to reuse */
    tml_parallel parallel;   /* zeroed: the context's own threads */
    tml_log_fn log;          /* NULL: silent */
    void *log_user;
    tml_progress_fn progress; /* NULL: none */
    void *progress_user;
    const struct tml_vulkan_desc *vulkan; /* trommel/vulkan.h: what you lend; NULL: nothing */
    const struct tml_gl_desc *gl;         /* trommel/gl.h: likewise */
} tml_open_desc;

/* Opens a context. desc may be NULL or zeroed. On failure *out is NULL, and the log hook and
 * tml_last_error(NULL) have the message. TML_ENGINE_AUTO takes a GPU before the CPU, and the CPU
 * before a software driver. It goes on to the next device where one does not open (but not where
 * the host's memory is short or desc is at fault), and where one lacks operations that the CPU
 * engine has (OpenGL ES without integer textures), unless device or a field of desc.gl asks for
 * that; the log says so. Errors: NO_DEVICE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED,
 * INVALID_ARGUMENT. */
TML_API TML_MUST_CHECK tml_status tml_open(const tml_open_desc *desc, tml_context **out);
/* Waits, destroys every buffer of the context, then the context. NULL is allowed. Refused, with the
 * context left open, by the rules on threads, hooks and fork (top of this file). */
TML_API void tml_close(tml_context *tml);

/* The latest failure on this context: call, field, value seen, value accepted, remedy. Empty string
 * when nothing failed yet. Valid until the next call on the context. Of NULL: the latest failure on
 * this thread of tml_open, or of a call with NULL for its context. */
TML_API const char *tml_last_error(const tml_context *tml);
/* Cancelling. A call that is cancelled returns TML_ERROR_CANCELLED, unless it was as good as done;
 * its outputs are undefined, every buffer is still valid. tml_cancel, which is safe from any thread
 * and from a signal handler, stops the call in progress and refuses every later one that works
 * (buffers are still created, read and written) until tml_cancel_clear. A progress hook that
 * returns false stops the call that it is called in, and no other. tml_is_cancelled: should the
 * call in progress stop, by either of them, or would the next one be refused? */
TML_API void tml_cancel(tml_context *tml);
TML_API void tml_cancel_clear(tml_context *tml);
TML_API bool tml_is_cancelled(const tml_context *tml);

/* ---- devices -------------------------------------------------------------------------------- */

typedef struct tml_device_info {
    tml_engine_kind engine;
    char name[128];     /* "Intel(R) Xeon(R) Processor, 2 threads" */
    char features[128]; /* "AVX-512 VBMI2" and the like, for people */
    uint64_t memory;    /* bytes; 0 if unknown */
    uint32_t threads;   /* CPU: processors that this process may use */
    bool is_software;   /* a GPU's interface on the host's processors: right, but slow */
    /* The rest only from tml_context_describe; else 0. */
    uint32_t concurrency; /* tasks that the context runs at once on the host */
    size_t scratch_size;  /* bytes in the scratch arena now */
} tml_device_info;

/* Writes at most capacity entries, best first, and returns how many devices there are. */
TML_API uint32_t tml_devices(tml_device_info *out, uint32_t capacity);
/* The device behind a context. */
TML_API void tml_context_describe(const tml_context *tml, tml_device_info *out);

/* ---- buffers -------------------------------------------------------------------------------- */

/* A handle: slot and generation, so that a stale one is detected. Zeroed: no buffer. */
typedef struct tml_buffer {
    uint32_t slot;
    uint32_t generation;
} tml_buffer;

typedef struct tml_buffer_desc {
    tml_type type;
    uint64_t count;   /* elements; 0 is a valid, empty buffer */
    const void *data; /* initial contents, count elements, copied; NULL: undefined */
    /* your memory, used in place and never freed, instead of data; aligned to its scalar; must
     * outlive the buffer. On Vulkan it stays on the host: tml_surface (volume, mask, attribute) and
     * tml_field (points, radii) read it there, a volume slab by slab where it does not fit the
     * device, and tml_buffer_read, tml_buffer_write and tml_buffer_map work; other operations
     * answer UNSUPPORTED. Not changed while a call runs. OpenGL ES: likewise, but for tml_field and
     * for tml_surface of a field alone */
    void *host;
    const struct tml_vulkan_memory *vulkan; /* trommel/vulkan.h: your VkBuffer, used in place */
    const struct tml_gl_memory *gl;         /* trommel/gl.h: your texture, used in place */
    const char *label;                      /* copied (31 bytes); named in messages */
} tml_buffer_desc;

/* Errors: INVALID_ARGUMENT, OUT_OF_MEMORY (size given), UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_buffer_create(tml_context *tml, const tml_buffer_desc *desc,
                                                    tml_buffer *out);
/* Frees the buffer after the work that uses it; a zeroed or stale handle is ignored. */
TML_API void tml_buffer_destroy(tml_context *tml, tml_buffer buffer);
/* Type and element count; returns false for a zeroed or stale handle. Both pointers may be NULL. */
TML_API bool tml_buffer_describe(const tml_context *tml, tml_buffer buffer, tml_type *type,
                                 uint64_t *count);
/* Is this no buffer? */
static inline bool tml_buffer_is_none(tml_buffer buffer)
{
    return buffer.slot == 0;
}

/* Copies the whole buffer to host memory (count * size bytes). Waits. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read(tml_context *tml, tml_buffer buffer, void *out);
/* Copies elements [first, first + count). Waits. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_range(tml_context *tml, tml_buffer buffer,
                                                        uint64_t first, uint64_t count, void *out);
/* Reads one u32 or u64 element, such as a count. Waits. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_count(tml_context *tml, tml_buffer buffer,
                                                        uint64_t *out);
enum { TML_MAX_READS = 16 }; /* without a wait, under way at once in a context */
/* A read without a wait: slot and generation, as tml_buffer. */
typedef struct tml_read {
    uint32_t slot;
    uint32_t generation;
} tml_read;
/* Reads that wait for nothing, such as a count of the frame before:
 *
 *     tml_buffer_read_begin(tml, count, 0, 1, &read);         in one frame, after what makes it
 *     tml_buffer_read_poll(tml, read, &value, &done);         in later ones, until done
 *
 * begin enqueues a copy of elements [first, first + count) as they are after all that was enqueued
 * before, and hands that to the device; what comes later may overwrite or destroy the buffer. poll:
 * if the copy has arrived, *done is true, out has it, and the read is over; so it is after an
 * error. out NULL gives the read up. After tml_sync all have arrived. (In commands of your own:
 * begin after you submitted them. On the CPU engine a copy arrives at once.)
 * Memory: each of the TML_MAX_READS reads that may be under way at once keeps as much staging
 * memory as its largest took, until tml_close, so that the same reads again allocate nothing.
 * Errors of begin: INVALID_ARGUMENT (also while recording on Vulkan); CAPACITY: TML_MAX_READS are
 * under way; OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST; UNSUPPORTED: buffers over memory of
 * yours on a GPU engine, OpenGL ES 2, a page (whose package has reads of its own). Of poll:
 * INVALID_HANDLE: the read is over; DEVICE_LOST, STALLED. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_begin(tml_context *tml, tml_buffer buffer,
                                                        uint64_t first, uint64_t count,
                                                        tml_read *out);
TML_API TML_MUST_CHECK tml_status tml_buffer_read_poll(tml_context *tml, tml_read read, void *out,
                                                       bool *done);
/* Copies host memory into elements [first, first + count); in may be reused on return. */
TML_API TML_MUST_CHECK tml_status tml_buffer_write(tml_context *tml, tml_buffer buffer,
                                                   uint64_t first, uint64_t count, const void *in);
/* The buffer's memory on the host, valid until tml_buffer_unmap; on the CPU engine no copy is made.
 * Waits. */
TML_API TML_MUST_CHECK tml_status tml_buffer_map(tml_context *tml, tml_buffer buffer, void **out);
TML_API void tml_buffer_unmap(tml_context *tml, tml_buffer buffer);
/* Waits for everything enqueued so far. Errors: DEVICE_LOST; CANCELLED; STALLED, which every call
 * that waits may return (trommel/vulkan.h). */
TML_API TML_MUST_CHECK tml_status tml_sync(tml_context *tml);

/* Grows the scratch arena to size bytes now, so that later calls do not. */
TML_API TML_MUST_CHECK tml_status tml_reserve(tml_context *tml, size_t size);

/* ---- preparing -------------------------------------------------------------------------------- */

/* What the calls between tml_prepare_begin and tml_prepare_end need. */
typedef struct tml_prepared {
    /* bytes of scratch that the largest of them needs: for tml_reserve, or for desc.scratch */
    size_t scratch_size;
    uint32_t programs_left; /* OpenGL ES: programs that are still compiled; else 0 */
} tml_prepared;

/* Prepares the calls of a frame, so that the frame itself compiles and allocates nothing:
 *
 *     tml_prepare_begin(tml);
 *     tml_sort(tml, &sort);                        the calls of the frame
 *     tml_surface_enqueue(tml, &surface);
 *     tml_prepare_end(tml, &prepared);
 *     tml_reserve(tml, prepared.scratch_size);
 *
 * Between the two, operations of stream.h and image.h, calls whose names end in _enqueue, tml_field
 * and tml_field_mean check their descs, compile what they need and measure their scratch. They run
 * nothing, and neither use nor grow the scratch arena; desc.scratch may be too small. Calls that
 * read, write, map, wait or make a buffer with data are refused. On OpenGL ES a driver compiles
 * beside the program: repeat both, with the same calls between, once a frame, until programs_left
 * is 0.
 * Memory: OpenGL ES grows its pool of textures, as the calls themselves would.
 * Errors: INVALID_ARGUMENT: begin within a begin or a recording, end without a begin. A call
 * between that fails returns its error itself, and is not measured. */
TML_API TML_MUST_CHECK tml_status tml_prepare_begin(tml_context *tml);
TML_API TML_MUST_CHECK tml_status tml_prepare_end(tml_context *tml, tml_prepared *out);

/* ---- what programs make --------------------------------------------------------------------- */

/* Outputs of surface, collide and subdivide, whose size the call finds out. An output that the desc
 * leaves zeroed is made by the call, exactly sized, and belongs to the result: its bit in
 * result.owned is set, and tml_<program>_free destroys it. (To keep a buffer, zero its handle in
 * the result; to keep an array, clear its bit and free it later by tml_free of extend.h.) One that
 * the desc gives stays
 * the caller's; its size is its capacity: nothing is written past it, and the call returns CAPACITY
 * with the counts needed in the result. Outputs may overlap neither one another nor an input. A
 * call that fails leaves none behind. */

/* ---- sampled grids -------------------------------------------------------------------------- */

/* Where the samples of a volume lie. Sample (i, j, k) is element i + dims[0] * (j + dims[1] * k)
 * and stands at origin + direction * (spacing * (i, j, k)). A zeroed spacing means 1 1 1, a zeroed
 * direction the identity. */
typedef struct tml_grid {
    uint64_t dims[3];    /* samples along x (fastest), y, z */
    double spacing[3];   /* length of one step; positive */
    double origin[3];    /* position of sample (0, 0, 0) */
    double direction[9]; /* row-major 3x3; columns are the axes' directions, usually of unit length;
                          * a negative determinant is a mirrored grid */
} tml_grid;

#ifdef __cplusplus
}
#endif
#endif
