/* The context, its buffer slots, and the checks and scratch that engines and programs share. */
#ifndef TML_CORE_INTERNAL_H
#define TML_CORE_INTERNAL_H

#include <assert.h>
#include <stdatomic.h>
#include <trommel/extend.h>

#include "core/engine.h"
#include "core/platform.h"
#include "core/testing.h"

#define TML_ARRAY_SIZE(a)             (sizeof(a) / sizeof((a)[0]))
#define TML_MIN_OF(a, b)              ((a) < (b) ? (a) : (b))
#define TML_MAX_OF(a, b)              ((a) > (b) ? (a) : (b))
#define TML_CEIL_DIV(a, b)            (((a) + (b)-1) / (b))
#define TML_ALIGN_UP(size, alignment) (((size) + (alignment)-1) / (alignment) * (alignment))

/* Declares to clang-tidy, which analyses one file at a time, that tml_error returns its status
 * argument. */
#ifdef __clang_analyzer__
#    define tml_error(tml, status, ...)                                                            \
        ((void)tml_error(tml, status, __VA_ARGS__), (tml_status)(status))
#endif

/* Records and returns UNSUPPORTED. what: the missing operation ("no fields"). The message also
 * names the engine or its tier, and a replacement. */
tml_status tml_refuse(tml_context *tml, const char *call, const char *what);

/* Alignment of scratch and allocations in bytes: a cache line, and the widest vector. Slots per
 * page. */
enum { TML_ALIGNMENT = 64, TML_SLOT_PAGE = 64 };
/* Arrays of programs of streams (stream/program.h): how many there are per page, how many pages,
 * and the slot number in the first one's handle. */
enum { TML_ARRAY_PAGE = 64, TML_ARRAY_PAGES = 64 };
#define TML_ARRAY_FIRST (UINT32_MAX - TML_ARRAY_PAGE * TML_ARRAY_PAGES)
/* Bytes of an error message, including its final 0. */
enum { TML_MESSAGE = 768 };

struct tml_slot {
    uint32_t generation; /* odd while alive */
    tml_type type;
    uint64_t count;
    size_t element_size;
    size_t size;  /* bytes: count * element_size */
    void *memory; /* CPU engine: the elements; others: their record of the buffer */
    bool lent;    /* memory belongs to the caller */
    bool on_host; /* the caller's memory stays on the host; the engine computes on a device */
    char label[32];
};

/* A buffer without memory of its own; the engine's lay places it in scratch. */
enum { TML_RECORD_WORDS = 10 };
typedef struct tml_array_slot {
    tml_slot slot;                     /* first, so that the engine finds record by the slot */
    uint64_t record[TML_RECORD_WORDS]; /* the engine's, if it keeps a record of each buffer */
} tml_array_slot;

/* An array that grows. */
typedef struct tml_growing {
    void *memory;
    size_t size, room; /* bytes used, bytes allocated */
} tml_growing;
/* Memory of a program of streams, which is kept for the next one. */
typedef struct tml_program_memory {
    struct tml_program_memory *next;
    tml_growing steps, descs, lives;
    tml_growing buffers; /* handles of the buffers that a tml_program names */
} tml_program_memory;

/* A read without a wait. If a read needs more than capacity, the engine allocates memory, and keeps
 * it. */
struct tml_reading {
    uint32_t generation; /* odd while under way */
    size_t size;         /* bytes asked for */
    void *memory;        /* the engine's; NULL: none yet */
    size_t capacity;     /* bytes that memory has room for */
    uint64_t mark;       /* the engine's: when the copy has arrived */
};

/* Memory of destroyed buffers, for later ones (tml_memory_free). */
enum { TML_KEPT_BLOCKS = 8, TML_KEPT_SIZE = 256 << 20 };
typedef struct tml_kept_block {
    void *memory;
    size_t size;
} tml_kept_block;

/* What the calls on a context did that a frame cannot afford. Tests read the numbers. */
typedef struct tml_counters {
    uint64_t waits;       /* for the device: fences, and reads that the driver waits for */
    uint64_t reads;       /* read-backs and mappings of buffers, on every engine */
    uint64_t allocations; /* host memory, device memory, textures */
} tml_counters;

struct tml_context {
    const tml_engine *const *engines; /* those that tml_open chose among */
    const tml_engine *engine;
    void *engine_state;
    tml_device_info device;
    tml_testing testing;    /* zeroed outside tests */
    uint32_t device_number; /* index in the engine's device list */
    tml_allocator allocator;
    tml_parallel parallel;
    struct tml_pool *pool; /* NULL if the caller supplies tml_open_desc.parallel */
    tml_log_fn log;
    void *log_user;
    tml_progress_fn progress;
    void *progress_user;
    atomic_bool cancelled; /* set by tml_cancel, cleared by tml_cancel_clear */
    atomic_bool stopped; /* set when the progress hook returns false, cleared when the call ends */
    /* The gate of public calls (call.h). */
    uint64_t process;           /* the process that opened the context */
    _Atomic uintptr_t owner;    /* identifies the thread inside a call; 0: none */
    _Atomic(const char *) call; /* the public call of that thread */
    uint32_t depth, hooks;      /* open public calls, nested ones included; running user hooks */
    tml_slot **pages;           /* TML_SLOT_PAGE slots each; slots never move; slot 0 is unused */
    uint32_t page_count, page_capacity;
    uint32_t slot_count, free_slot;          /* slots ever used; no slot below free_slot is free */
    tml_array_slot *arrays[TML_ARRAY_PAGES]; /* pages, made when they are first needed */
    uint32_t array_count, array_generation;  /* arrays in use; generation of the latest program's */
    tml_program_memory *programs;            /* not in use */
    struct tml_program *recordings; /* those not destroyed, the newest first (program_public.c) */
    struct program *recorder;       /* stream operations become its steps; NULL: they run */
    tml_growing *named; /* gets the handles of buffers that are checked; NULL: nobody wants them */
    tml_reading reads[TML_MAX_READS];
    tml_kept_block kept[TML_KEPT_BLOCKS];
    uint32_t kept_next; /* the oldest of them */
    void *scratch;
    size_t scratch_size;
    bool scratch_used; /* tml_scratch returned the arena since this flag was cleared */
    bool scratch_held; /* a program whose arrays are in the arena runs */
    bool is_preparing; /* between tml_prepare_begin and tml_prepare_end */
    tml_prepared prepared;
    bool is_timing;    /* between tml_time_begin and tml_time_end */
    double timed_from; /* on the host's clock */
    tml_counters counters;
    char error[TML_MESSAGE];
    tml_status error_status; /* status recorded with error */
};

static inline tml_slot *tml_slot_at(const tml_context *tml, uint32_t number)
{
    return &tml->pages[number / TML_SLOT_PAGE][number % TML_SLOT_PAGE];
}

/* tml_open with engines in place of tml_engines. testing: NULL, or the settings of
 * core/testing.h. */
tml_status tml_open_among(const tml_engine *const *engines, const tml_open_desc *desc,
                          const tml_testing *testing, tml_context **out);

/* How many tasks run at once. */
static inline uint32_t tml_concurrency(const tml_context *tml)
{
    return tml->parallel.concurrency;
}

/* The slot of a handle. NULL, without a message, for a zeroed, stale or foreign handle. The pointer
 * is valid until the buffer is destroyed. */
tml_slot *tml_slot_of(const tml_context *tml, tml_buffer buffer);

/* The most outputs that an expansion can write: the smallest capacity of its output buffers; 0 if
 * it has none. */
static inline uint64_t tml_expand_capacity(const tml_context *tml, const tml_expand_desc *desc)
{
    uint64_t capacity = UINT64_MAX;
    for (uint32_t o = 0; o < TML_MAX_OUTS + 2; o++) {
        tml_buffer buffer = o < TML_MAX_OUTS    ? desc->out[o]
                            : o == TML_MAX_OUTS ? desc->source
                                                : desc->rank;
        const tml_slot *slot = tml_slot_of(tml, buffer);
        if (slot && slot->count < capacity)
            capacity = slot->count;
    }
    return capacity == UINT64_MAX ? 0 : capacity;
}

/* The name of a desc's field for a message, followed by its buffer's label if there is one: in
 * "densities". */
typedef struct tml_field_text {
    char text[96];
} tml_field_text;
tml_field_text tml_field_named(const tml_context *tml, const char *field, tml_buffer buffer);

/* Checks a desc's buffer field: alive, not on_host, of one of types (a list ended by TML_TYPE_NONE;
 * NULL: any type), with at least count elements. On failure, records a message that names call and
 * field. */
tml_status tml_check_buffer(tml_context *tml, const char *call, const char *field,
                            tml_buffer buffer, const tml_type *types, uint64_t count);
/* The same checks for a field whose buffer may be on_host. */
tml_status tml_check_buffer_anywhere(tml_context *tml, const char *call, const char *field,
                                     tml_buffer buffer, const tml_type *types, uint64_t count);

/* tml_buffer_create with these fields of the desc. data NULL: contents are undefined. */
tml_status tml_buffer_make(tml_context *tml, tml_type type, uint64_t count, const void *data,
                           const char *label, tml_buffer *out);
/* Creates an engine-owned buffer with the contents of one that is on_host. */
tml_status tml_copy_to_device(tml_context *tml, tml_buffer from, const char *label,
                              tml_buffer *out);

/* Frees the memory that reads without a wait keep, before the engine closes. */
void tml_reads_close(tml_context *tml);

/* A context's allocator, unless tml_open_desc.allocator is given. */
extern const tml_allocator tml_default_allocator;

/* Returns room for size more bytes, and keeps all bytes before them. NULL if out of memory. */
void *tml_grow(tml_context *tml, tml_growing *array, size_t size);
/* Memory of a buffer on the host, aligned as that of tml_alloc. Freed large blocks are kept for
 * later buffers, since the system takes as long to clear new pages as many operations take to fill
 * them. While a block is kept, the system may reclaim its pages (tml_platform_lend). With a
 * caller's allocator, no blocks are kept. */
void *tml_memory_alloc(tml_context *tml, size_t size);
void tml_memory_free(tml_context *tml, void *memory, size_t size);
/* Frees what is kept. */
void tml_memory_release(tml_context *tml);

/* Grows the scratch arena to at least size bytes. *out receives its address, of the engine's kind.
 * OUT_OF_MEMORY, with a message, on failure. The address is valid until the next call that may grow
 * the arena, so only one operation may use the arena at a time. */
tml_status tml_scratch(tml_context *tml, const char *call, size_t size, void **out);
/* Frees the arena, so that other allocations can have its memory. */
void tml_scratch_release(tml_context *tml);

/* As tml_parallel_for, but no task begins once the call is cancelled. Returns false if a task did
 * not run, even if tml_cancel_clear was called since. */
bool tml_parallel_until(tml_context *tml, uint32_t count, tml_task_fn task, void *argument);

/* While a frame is prepared: notes that a call needs so many bytes of scratch, and returns an
 * address in place of the arena's that is no buffer's. */
void *tml_prepare_scratch(tml_context *tml, size_t size);
/* Is a frame prepared on an engine that compiles nothing, so that nothing runs? */
static inline bool tml_only_measures(const tml_context *tml)
{
    return tml->is_preparing && !tml->engine->compiles;
}

/* The public call in progress, for messages of what several calls share. */
static inline const char *tml_call_name(const tml_context *tml)
{
    return atomic_load_explicit(&tml->call, memory_order_relaxed);
}

/* Enclose, while a frame is prepared, what a call makes now and keeps: a tree's buffers, a plan. No
 * effect otherwise. pause returns what resume takes. */
static inline bool tml_prepare_pause(tml_context *tml)
{
    const bool is_preparing = tml->is_preparing;
    tml->is_preparing = false;
    return is_preparing;
}
static inline void tml_prepare_resume(tml_context *tml, bool is_preparing)
{
    tml->is_preparing = is_preparing;
}

/* Is a caller's command buffer being recorded, or a frame prepared? */
bool tml_is_recording(const tml_context *tml);
/* While a caller-owned command buffer is recorded or a frame prepared, refuses a call for which
 * that is impossible, with INVALID_ARGUMENT. call: NULL for the public call in progress; instead:
 * the remedy, NULL for the usual one. */
tml_status tml_refuse_recording(tml_context *tml, const char *call, const char *instead);

/* *out = a * b; false on overflow. */
static inline bool tml_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

#endif
