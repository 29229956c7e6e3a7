/* What the library's own files share about a context. */
#ifndef TML_CORE_INTERNAL_H
#define TML_CORE_INTERNAL_H

#include <assert.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>
#include <trommel/testing.h>

#include "core/engine.h"

#define TML_ARRAY_SIZE(a)             (sizeof(a) / sizeof((a)[0]))
#define TML_MIN_OF(a, b)              ((a) < (b) ? (a) : (b))
#define TML_MAX_OF(a, b)              ((a) > (b) ? (a) : (b))
#define TML_CEIL_DIV(a, b)            (((a) + (b)-1) / (b))
#define TML_ALIGN_UP(size, alignment) (((size) + (alignment)-1) / (alignment) * (alignment))

/* clang-tidy sees one file at a time, and must be told that this returns the status it is given. */
#ifdef __clang_analyzer__
#    define tml_error(tml, status, ...)                                                            \
        ((void)tml_error(tml, status, __VA_ARGS__), (tml_status)(status))
#endif

/* UNSUPPORTED: that the context's engine, or the path that it is on, has what says ("no fields"), and what to
 * take in its place. */
tml_status tml_refuse(tml_context *tml, const char *call, const char *what);

/* Scratch and allocations are aligned to this: a cache line and the widest vector. */
enum { TML_ALIGNMENT = 64, TML_SLOT_PAGE = 64 };
/* Bytes of a message. */
enum { TML_MESSAGE = 768 };

struct tml_slot {
    uint32_t generation; /* odd while alive */
    tml_type type;
    uint64_t count;
    size_t element_size;
    size_t size;  /* count * element_size */
    void *memory; /* CPU: the elements; other engines: their own record */
    bool lent;    /* memory belongs to the caller */
    bool on_host; /* the caller's memory on the host, of an engine that computes elsewhere */
    char label[32];
};

struct tml_context {
    const tml_engine *engine;
    void *engine_state;
    uint32_t version; /* TML_VERSION of the caller's headers: how long its descs and results are */
    tml_device_info device;
    tml_testing testing;    /* zeroed, but in tests */
    uint32_t device_number; /* among the engine's */
    tml_allocator allocator;
    tml_parallel parallel;
    struct tml_pool *pool; /* NULL when the caller brings parallel_for */
    tml_log_fn log;
    void *log_user;
    tml_progress_fn progress;
    void *progress_user;
    atomic_bool cancelled; /* by tml_cancel, until it is cleared */
    atomic_bool stopped;   /* by the progress hook, until the call ends */
    /* The gate (call.h). */
    pid_t process;              /* that opened it */
    _Atomic uintptr_t owner;    /* stands for the thread inside; 0: none is */
    _Atomic(const char *) call; /* that it is in */
    uint32_t depth, hooks;      /* of calls within that call; of hooks that are being called */
    tml_slot **pages;           /* of TML_SLOT_PAGE slots, which never move; slot 0 stays unused */
    uint32_t page_count, page_capacity;
    uint32_t slot_count, free_slot; /* slots ever used; none free below free_slot */
    void *scratch;
    size_t scratch_size;
    bool scratch_used; /* tml_scratch has handed the arena out since this was last cleared */
    char error[TML_MESSAGE];
    tml_status error_status; /* that the message came with */
};

static inline tml_slot *tml_slot_at(const tml_context *tml, uint32_t number)
{
    return &tml->pages[number / TML_SLOT_PAGE][number % TML_SLOT_PAGE];
}

/* tml_open among other engines than tml_engines. testing: NULL, or what trommel/testing.h says. */
tml_status tml_open_among(const tml_engine *const *engines, const tml_open_desc *desc,
                          const tml_testing *testing, tml_context **out);

/* The slot behind a handle, or NULL (with no message) when it is zeroed, stale or foreign. Holds
 * until the buffer is destroyed. */
tml_slot *tml_slot_of(const tml_context *tml, tml_buffer buffer);

/* A field of a message with its buffer's label, where it has one: in "densities". */
typedef struct tml_field_text {
    char text[96];
} tml_field_text;
tml_field_text tml_field_named(const tml_context *tml, const char *field, tml_buffer buffer);

/* Checks a desc's buffer field: alive, of one of the types (a TML_TYPE_NONE-ended list; NULL: any),
 * at least count elements. On failure records a message that names call and field. */
tml_status tml_check_buffer(tml_context *tml, const char *call, const char *field,
                            tml_buffer buffer, const tml_type *types, uint64_t count);
/* The same for a field that may also be memory which stays on the host (on_host). */
tml_status tml_check_buffer_anywhere(tml_context *tml, const char *call, const char *field,
                                     tml_buffer buffer, const tml_type *types, uint64_t count);

/* The arena, grown to size when smaller; a message when memory is short. The pointer, which is what
 * the engine calls an address, holds until the next call that may grow it: one operation at a
 * time. */
tml_status tml_scratch(tml_context *tml, const char *call, size_t size, void **out);
/* Gives the arena's memory back, for what is needed more. */
void tml_scratch_release(tml_context *tml);

/* INVALID_ARGUMENT while work is recorded for later: for calls that wait for the device, or leave buffers of
 * their own behind. call: NULL for the public call in progress; instead: what to do, or NULL. */
tml_status tml_refuse_recording(tml_context *tml, const char *call, const char *instead);

/* Seconds of a clock that only goes forward. */
static inline double tml_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* a * b, false on overflow. */
static inline bool tml_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

#endif
