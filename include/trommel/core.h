/* Trommel core: status codes, element types, contexts, buffers, scratch. Every other header needs
 * this one.
 *
 *     tml_context *tml;
 *     tml_open(NULL, &tml);                                        the best device
 *     tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = n, .data = x}, &in);
 *     tml_sort(tml, &(tml_sort_desc){.keys = in, .sorted = in});   enqueued (stream.h)
 *     tml_buffer_read(tml, in, x);                                 waits
 *     tml_close(tml);                                              and destroys the buffers
 *
 * A context owns one device (an engine), its buffers, one scratch arena and the text of its last
 * error. Contexts are independent. There is no process-wide state. The library never prints, never
 * exits, and starts no thread and allocates no device memory after tml_open except for the
 * context's own pool and arena and the buffers that the program creates.
 *
 * Waiting: operations of stream.h and image.h, and calls whose names end in _enqueue, never wait,
 * never read back, and allocate nothing in the steady state; every other call may wait, and its
 * comment says when. The calls enqueue work in their order. (The CPU engine finishes each operation
 * before the call returns. Every call may wait for room when the device is many submissions behind
 * or short of memory.)
 *
 * Rules of every call on a context. A call that breaks one does nothing and returns
 * INVALID_ARGUMENT (0, false or NULL if it returns no status); tml_last_error says why on the
 * calling thread.
 *   NULL       The context, a handle, a desc and the place of a result must not be NULL, unless the
 *              declaration allows it. A zeroed tml_buffer is no pointer.
 *   threads    Calls on one context must not overlap in time. A call during another thread's call
 *              is refused and names that call; what a refused tml_buffer_destroy, tml_buffer_unmap
 *              or tml_close should have done is not done. Any thread may make the next call.
 *              tml_cancel and tml_is_cancelled are allowed at any time. tml_buffer_describe,
 *              tml_context_describe and the calls of extend.h are not checked.
 *   hooks      A hook (log, progress, allocator) may call tml_cancel, tml_is_cancelled and what is
 *              not checked; every other call is refused, and leaves the message of the outer call
 *              as it is. tml_parallel.run and tasks may call tml_is_cancelled only.
 *   fork       After fork() a context belongs to the parent. In the child every call is refused;
 *              tml_close returns at once and leaves the child's copy as it is. */
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

/* Makes the call if status, a variable, is TML_OK, and assigns the call's result to it: among
 * several calls in turn the first failure is kept, and none is made after it. */
#define TML_THEN(status, call)                                                                     \
    do {                                                                                           \
        if ((status) == TML_OK)                                                                    \
            (status) = (call);                                                                     \
    } while (0)

/* Returns the code's name without its prefix, "OK" or "INVALID_ARGUMENT"; never NULL. */
static inline const char *tml_status_name(tml_status status)
{
    switch (status) {
    case TML_OK:
        return "OK";
#define TML_ERROR_CASE(code, sentence)                                                             \
case TML_ERROR_##code:                                                                             \
    return #code;
        TML_ERROR_LIST(TML_ERROR_CASE)
#undef TML_ERROR_CASE
    }
    return "UNKNOWN";
}

/* Returns the code's sentence in TML_ERROR_LIST, or "success"; never NULL. */
static inline const char *tml_status_text(tml_status status)
{
    switch (status) {
    case TML_OK:
        return "success";
#define TML_ERROR_CASE(code, sentence)                                                             \
case TML_ERROR_##code:                                                                             \
    return sentence;
        TML_ERROR_LIST(TML_ERROR_CASE)
#undef TML_ERROR_CASE
    }
    return "unknown status";
}

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
    if (scalar < TML_SCALAR_END && (count == 0 || (count >= 2 && count <= 4)))
        return scalar;
    return TML_TYPE_NONE;
}

/* Returns the number of components: 1 to 4, and 1 of a record; 0 if type is not a type. */
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

/* Returns the bytes of an element; 0 if type is not a type. */
TML_API size_t tml_type_size(tml_type type);
/* Returns the type's name, "f32", "f32x3" or "record"; never NULL. */
TML_API const char *tml_type_name(tml_type type);
/* Returns the type of a name, TML_TYPE_NONE if it is unknown; records have no names to return. */
TML_API tml_type tml_type_from_name(const char *name);

/* ---- context -------------------------------------------------------------------------------- */

typedef struct tml_context tml_context;

typedef enum tml_engine_kind {
    /* the best device that opens and supports all that the CPU engine does; the CPU if there is no
     * other, so that no GPU is required */
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

/* Memory hooks, called by the thread that calls the library, never by its workers.
 * alloc  returns size bytes at a multiple of alignment (a power of two, at least 16), or NULL
 * free   gets what alloc returned, and its size */
typedef struct tml_allocator {
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*free)(void *user, void *memory, size_t size);
    void *user;
} tml_allocator;

typedef void (*tml_task_fn)(void *argument, uint32_t index);

/* The program's job system, in place of the context's own threads.
 * run          calls task(argument, i) once for each i in [0, count), on any threads, in any order
 *              that starts lower indices first, and returns when all calls have returned
 * concurrency  how many of the calls may run at once */
typedef struct tml_parallel {
    void (*run)(void *user, uint32_t count, tml_task_fn task, void *argument);
    uint32_t concurrency;
    void *user;
} tml_parallel;

/* The progress of a long call, reported by the calling thread, at most some hundred times.
 * stage     a constant string, "sign bits"
 * fraction  0 to 1 within the whole call
 * Returns: false: cancel that call, and no other. */
typedef bool (*tml_progress_fn)(void *user, const char *stage, double fraction);

typedef void (*tml_log_fn)(void *user, tml_log_level level, const char *message);

enum { TML_MAX_THREADS = 1024 }; /* of a context */

typedef struct tml_open_desc {
    tml_engine_kind engine;
    const char *device;      /* part of a device's name, or its number; NULL: the first */
    uint32_t threads;        /* of the context, at most TML_MAX_THREADS; 0: one per processor that
                              * the process may use */
    size_t scratch_size;     /* bytes to reserve; 0: the arena grows when first used */
    tml_allocator allocator; /* zeroed: aligned malloc and free; buffers keep 256 MiB to reuse */
    tml_parallel parallel;   /* zeroed: the context's own threads */
    tml_log_fn log;          /* NULL: silent */
    void *log_user;
    tml_progress_fn progress; /* NULL: none */
    void *progress_user;
    const struct tml_vulkan_desc *vulkan; /* trommel/vulkan.h: the program's device; or NULL */
    const struct tml_gl_desc *gl;         /* trommel/gl.h: the program's context; or NULL */
} tml_open_desc;

/* Opens a context.
 * desc  NULL: all defaults
 * *out  the context; NULL on failure: the log hook and tml_last_error(NULL) have the message
 * TML_ENGINE_AUTO prefers a GPU to the CPU, and the CPU to a software driver. It goes on to the
 * next device if one does not open, or lacks operations that the CPU engine has (OpenGL ES without
 * integer textures) and neither desc.device nor desc.gl asks for it; the log reports that. It does
 * not go on if the host's memory is short or desc is invalid.
 * Errors: NO_DEVICE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED, INVALID_ARGUMENT. */
TML_API TML_MUST_CHECK tml_status tml_open(const tml_open_desc *desc, tml_context **out);

/* Destroys the context and every buffer of it. NULL is allowed.
 * Waits: for all enqueued work. */
TML_API void tml_close(tml_context *tml);

/* Returns the message of the latest failure on this context: call, field, value seen, value
 * accepted, remedy. An empty string if nothing failed. Valid until the next call on the context.
 * tml  NULL: the latest failure on this thread of tml_open, or of a call whose context was NULL */
TML_API const char *tml_last_error(const tml_context *tml);

/* Cancels: the call in progress stops and returns TML_ERROR_CANCELLED unless its work was all but
 * done, and every later call that works is refused until tml_cancel_clear. Buffers are still
 * created, read and written. A signal handler or any thread may call it.
 * After: the outputs of a cancelled call are undefined, and every buffer is valid. */
TML_API void tml_cancel(tml_context *tml);
TML_API void tml_cancel_clear(tml_context *tml);
/* Must the call in progress stop, by tml_cancel or the progress hook, or would the next call be
 * refused? */
TML_API bool tml_is_cancelled(const tml_context *tml);

/* ---- devices -------------------------------------------------------------------------------- */

typedef struct tml_device_info {
    tml_engine_kind engine;
    char name[128];     /* "Intel(R) Xeon(R) Processor, 2 threads" */
    char features[128]; /* "AVX-512 VBMI2" and the like, for people */
    uint64_t memory;    /* bytes; 0 if unknown */
    uint32_t threads;   /* CPU: processors that this process may use */
    bool is_software;   /* a GPU's interface on the host's processors: right, but slow */
    /* tml_context_describe only; else 0. */
    uint32_t concurrency; /* tasks that the context runs at once on the host */
    size_t scratch_size;  /* bytes in the scratch arena now */
} tml_device_info;

/* Writes at most capacity devices to out, best first, and returns how many there are. */
TML_API uint32_t tml_devices(tml_device_info *out, uint32_t capacity);
/* Describes the device of a context, and what the context itself has. */
TML_API void tml_context_describe(const tml_context *tml, tml_device_info *out);

/* ---- buffers -------------------------------------------------------------------------------- */

/* A handle: slot and generation, so that a stale handle is detected. Zeroed: no buffer. */
typedef struct tml_buffer {
    uint32_t slot;
    uint32_t generation;
} tml_buffer;

/* A buffer's elements and memory: at most one of data, host, vulkan and gl is given. */
typedef struct tml_buffer_desc {
    tml_type type;
    uint64_t count;   /* elements; 0 is a valid, empty buffer */
    const void *data; /* initial contents, count elements, copied; NULL: undefined */
    /* The program's memory, used in place and never freed; aligned to the scalar. It must outlive
     * the buffer and must not change while a call runs. On a GPU engine the memory stays on the
     * host: tml_surface (volume, mask, attribute), tml_field (points, radii), tml_buffer_read,
     * tml_buffer_write and tml_buffer_map use it there; other operations are UNSUPPORTED. OpenGL
     * ES: neither tml_field nor a tml_surface of a field alone. */
    void *host;
    const struct tml_vulkan_memory *vulkan; /* trommel/vulkan.h: the program's VkBuffer, in place */
    const struct tml_gl_memory *gl;         /* trommel/gl.h: the program's texture, in place */
    const char *label;                      /* for messages; copied (31 bytes) */
} tml_buffer_desc;

/* Creates a buffer.
 * Waits: with desc.data on a GPU engine, for earlier work that uses the staging memory.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_buffer_create(tml_context *tml, const tml_buffer_desc *desc,
                                                    tml_buffer *out);
/* Destroys a buffer after the work that uses it. A zeroed or stale handle is ignored. */
TML_API void tml_buffer_destroy(tml_context *tml, tml_buffer buffer);
/* Writes a buffer's type and element count. Both pointers may be NULL.
 * Returns: false for a zeroed or stale handle. */
TML_API bool tml_buffer_describe(const tml_context *tml, tml_buffer buffer, tml_type *type,
                                 uint64_t *count);
/* Is this no buffer? */
static inline bool tml_buffer_is_none(tml_buffer buffer)
{
    return buffer.slot == 0;
}

/* Copies a whole buffer to host memory (count * size bytes).
 * Waits: for the work that writes the buffer.
 * Errors: those of every call that waits: DEVICE_LOST; STALLED (tml_vulkan_check). */
TML_API TML_MUST_CHECK tml_status tml_buffer_read(tml_context *tml, tml_buffer buffer, void *out);
/* Copies elements [first, first + count). Waits as tml_buffer_read. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_range(tml_context *tml, tml_buffer buffer,
                                                        uint64_t first, uint64_t count, void *out);
/* Reads the first element of a u32 or u64 buffer, such as a count. Waits as tml_buffer_read. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_count(tml_context *tml, tml_buffer buffer,
                                                        uint64_t *out);
/* Copies host memory into elements [first, first + count); in may be reused on return.
 * Waits: for earlier work, if that uses the staging memory or the device's memory is the host's. */
TML_API TML_MUST_CHECK tml_status tml_buffer_write(tml_context *tml, tml_buffer buffer,
                                                   uint64_t first, uint64_t count, const void *in);
/* Maps a buffer's memory on the host until tml_buffer_unmap; the CPU engine copies nothing.
 * Waits: for all enqueued work. */
TML_API TML_MUST_CHECK tml_status tml_buffer_map(tml_context *tml, tml_buffer buffer, void **out);
/* Ends a mapping, and enqueues the copy of what the host wrote. */
TML_API void tml_buffer_unmap(tml_context *tml, tml_buffer buffer);
/* Waits for everything enqueued so far. Errors: DEVICE_LOST, CANCELLED, STALLED. */
TML_API TML_MUST_CHECK tml_status tml_sync(tml_context *tml);

enum { TML_MAX_READS = 16 }; /* without a wait, under way at once in a context */
/* A read without a wait: slot and generation, as tml_buffer. */
typedef struct tml_read {
    uint32_t slot;
    uint32_t generation;
} tml_read;

/* Enqueues a copy of elements [first, first + count) to the host, such as a count of the frame
 * before, without a wait:
 *
 *     tml_buffer_read_begin(tml, count, 0, 1, &read);         in one frame, after what makes it
 *     tml_buffer_read_poll(tml, read, &value, &done);         in later frames, until done
 *
 * The copy has the elements as they are after all that was enqueued before; later work may
 * overwrite or destroy the buffer. In the program's own commands: begin after the program
 * submitted them.
 * Memory: each of the TML_MAX_READS reads keeps as much staging memory as its largest used, until
 * tml_close, so that the same reads again allocate nothing.
 * Errors: INVALID_ARGUMENT (also while recording or preparing); CAPACITY: TML_MAX_READS are under
 * way; OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_LOST; UNSUPPORTED: memory of the program's on
 * the host on a GPU engine, OpenGL ES 2, a page (whose package has reads of its own). */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_begin(tml_context *tml, tml_buffer buffer,
                                                        uint64_t first, uint64_t count,
                                                        tml_read *out);
/* Takes a read's elements if they have arrived. After tml_sync all have.
 * out    room for them; NULL: the read is given up
 * *done  true: out has the elements, and the read is over, as it is after an error
 * Errors: INVALID_HANDLE: the read is over; DEVICE_LOST, STALLED. */
TML_API TML_MUST_CHECK tml_status tml_buffer_read_poll(tml_context *tml, tml_read read, void *out,
                                                       bool *done);

/* ---- scratch and preparing ------------------------------------------------------------------- */

/* Grows the scratch arena to size bytes now, so that later calls do not.
 * Waits: on a GPU engine, if memory is short. */
TML_API TML_MUST_CHECK tml_status tml_reserve(tml_context *tml, size_t size);

/* What the calls between tml_prepare_begin and tml_prepare_end need. */
typedef struct tml_prepared {
    size_t scratch_size; /* bytes of scratch that the largest of them needs: for tml_reserve, or as
                          * the size of a desc.scratch */
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
 * nothing, and neither use nor grow the arena; desc.scratch may be too small. Calls that wait are
 * refused. An OpenGL driver compiles beside the program: repeat both, with the same calls between,
 * once per frame until programs_left is 0.
 * Memory: OpenGL ES grows its pool of textures, as the calls themselves would.
 * Errors: INVALID_ARGUMENT: begin within a begin or a recording, end without a begin. A call
 * between that fails returns its error itself, and is not measured. */
TML_API TML_MUST_CHECK tml_status tml_prepare_begin(tml_context *tml);
TML_API TML_MUST_CHECK tml_status tml_prepare_end(tml_context *tml, tml_prepared *out);

/* Copies what the context has compiled (Vulkan's pipelines, OpenGL's programs) for another context
 * or for the next run of the program.
 * data   room for *size bytes; NULL: the call only writes the size
 * *size  becomes the bytes written; with less room than all need at least the header, if that fits
 * The header names device and driver: the first 32 bytes on Vulkan, 16 on OpenGL ES. The CPU engine
 * compiles nothing: 0 bytes. OpenGL ES in a page, or with a driver that does not return its
 * programs: the header alone.
 * Errors: DEVICE_LOST, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_cache(tml_context *tml, void *data, size_t *size);
/* Adds what tml_cache copied, so that it need not be compiled again. data is copied. Data of
 * another device, driver or engine is ignored, and so is damaged data.
 * Errors: OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_cache_add(tml_context *tml, const void *data, size_t size);

/* Measures the seconds of what is enqueued between the two, by the device's clock; the CPU engine
 * by the host's clock, and OpenGL ES too without EXT_disjoint_timer_query or after a disturbance
 * that the device reports. A lent OpenGL context must have no query of time of its own between.
 * Waits: both.
 * Errors: INVALID_ARGUMENT: begin after a begin, end without one, while recording or preparing;
 * UNSUPPORTED: a Vulkan queue without timestamps; DEVICE_LOST, STALLED. */
TML_API TML_MUST_CHECK tml_status tml_time_begin(tml_context *tml);
TML_API TML_MUST_CHECK tml_status tml_time_end(tml_context *tml, double *seconds);

/* ---- what programs make --------------------------------------------------------------------- */

/* Outputs of surface, collide and subdivide whose size the call finds out.
 *   zeroed in the desc  The call makes the output, exactly sized. It belongs to the result: its bit
 *                       in result.owned is set, and tml_<program>_free destroys it. To keep a
 *                       buffer, zero its handle in the result; to keep an array, clear its bit and
 *                       free it later by tml_free (extend.h).
 *   given by the desc   The output stays the caller's. Its size is its capacity: nothing is written
 *                       past it, and if it is too small the call returns CAPACITY with the counts
 *                       needed in the result.
 * Outputs must overlap neither one another nor an input. A call that fails leaves no output. */

/* ---- sampled grids -------------------------------------------------------------------------- */

/* Where the samples of a volume lie. Sample (i, j, k) is element i + dims[0] * (j + dims[1] * k)
 * and stands at origin + direction * (spacing * (i, j, k)). */
typedef struct tml_grid {
    uint64_t dims[3];    /* samples along x (fastest), y, z */
    double spacing[3];   /* length of one step, positive; zeroed: 1 1 1 */
    double origin[3];    /* position of sample (0, 0, 0) */
    double direction[9]; /* row-major 3x3; columns are the axes' directions, usually of unit length;
                          * a negative determinant is a mirrored grid; zeroed: the identity */
} tml_grid;

#ifdef __cplusplus
}
#endif
#endif
