/* Descs made of bytes, on the CPU engine: every operation and program with wild numbers, NaN, stale
 * and foreign handles, buffers that are too small, of the wrong type or used twice, memory that
 * runs out at the Nth request, a caller who cancels at the Nth report, one to three threads.
 * Whatever it is,
 *   - a call ends, in a status of the list but INTERNAL; a failure has a message that begins with a
 *     call;
 *   - memory is short only where it was refused, and work cancelled only where the caller
 *     cancelled;
 *   - nothing but outputs changes, and of a refused call not even they;
 *   - memory is asked for on the calling thread, and all of it given back in the end;
 *   - the context works afterwards;
 *   - any number of threads gives the same bits.
 * What each operation promises besides is demanded in desc_*.c. With TML_FUZZ_TRACE in the
 * environment the calls of an input are listed. */
#include "fuzz/desc.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

tml_context *tml;

/* ---- numbers --------------------------------------------------------------------------------- */

static const uint8_t *next_byte, *bytes_end;

uint8_t take(void)
{
    return next_byte < bytes_end ? *next_byte++ : 0;
}

bool take_bool(void)
{
    return take() & 1;
}

bool seldom(void)
{
    return take() >= 240;
}

uint64_t below(uint64_t bound)
{
    return bound ? take() % bound : 0;
}

uint64_t wild(void)
{
    uint8_t which = take(), offset = take();
    if (which >= 224)
        return offset * 0x0101010101010101u;
    uint64_t power = which < 160 ? (uint64_t)1 << which % 64 : 0;
    return power + offset % 5 - 2;
}

uint64_t mostly(uint64_t usual)
{
    return seldom() ? wild() : usual;
}

double wild_float(void)
{
    static const double values[] = {0,     -0.0, 1,     -1,   0.5,  2,     128,    1e-30, 1e30,
                                    1e-31, 1e31, 1e-45, 1e38, 1e39, 1e300, -1e300, 1e-320};
    enum { COUNT = sizeof values / sizeof values[0] };
    uint8_t which = take();
    if (which < COUNT)
        return values[which];
    if (which < COUNT + 3)
        return which == COUNT ? NAN : which == COUNT + 1 ? INFINITY : -INFINITY;
    double scale = ldexp(1.0, take() % 32 - 16);
    return (which - 128) * scale;
}

double mostly_float(double usual)
{
    return seldom() ? wild_float() : usual;
}

tml_type take_scalar(void)
{
    return TML_U8 + (tml_type)below(TML_SCALAR_END - TML_U8);
}

/* ---- memory and the caller's hooks ----------------------------------------------------------- */

enum { BLOCK_LIMIT = 32 << 20 };

static struct {
    pthread_t thread;
    size_t live;        /* bytes */
    int64_t fail_in;    /* requests until one is refused; negative: never */
    bool fails_forever; /* ... and all after it */
    bool refused;       /* since the last call ended */
    int64_t cancel_in;  /* reports until the caller cancels; negative: never */
    bool cancelled;
    double progress; /* of the call that runs */
} hooks;

static void *hooked_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    void *memory = NULL;
    DEMAND(pthread_equal(pthread_self(), hooks.thread));
    bool fails = hooks.fail_in == 0;
    if (hooks.fail_in > 0 || (fails && !hooks.fails_forever))
        hooks.fail_in--;
    if (fails || size > BLOCK_LIMIT || posix_memalign(&memory, alignment, size) != 0) {
        hooks.refused = true;
        return NULL;
    }
    hooks.live += size;
    return memory;
}

static void hooked_free(void *user, void *memory, size_t size)
{
    (void)user;
    DEMAND(hooks.live >= size);
    hooks.live -= size;
    free(memory);
}

static bool hooked_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    DEMAND(pthread_equal(pthread_self(), hooks.thread));
    DEMAND(stage && fraction >= hooks.progress && fraction <= 1);
    hooks.progress = fraction;
    if (hooks.cancel_in > 0)
        hooks.cancel_in--;
    else if (hooks.cancel_in == 0)
        hooks.cancelled = true;
    return !hooks.cancelled;
}

static tml_status open_context(uint32_t threads, tml_context **out)
{
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                     .threads = threads,
                                     .allocator = {hooked_alloc, hooked_free, NULL},
                                     .progress = hooked_progress},
                    out);
}

/* ---- what must not depend on threads --------------------------------------------------------- */

static uint64_t noted;
static bool is_comparable; /* no limit was met that depends on threads */

void note(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        noted = (noted ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

void note_number(uint64_t number)
{
    note(&number, sizeof number);
}

void note_nothing(void)
{
    is_comparable = false;
}

void note_buffer(tml_buffer buffer)
{
    tml_type type;
    uint64_t count;
    if (tml_buffer_describe(tml, buffer, &type, &count))
        note(elements_of(buffer), count * tml_type_size(type));
}

/* ---- every call ------------------------------------------------------------------------------ */

static void check_status(const char *call, tml_status status)
{
    static int is_traced = -1;
    if (is_traced < 0)
        is_traced = getenv("TML_FUZZ_TRACE") != NULL;
    if (is_traced)
        fprintf(stderr, "%s: %s %s (%016" PRIx64 ")\n", call, tml_status_name(status),
                status ? tml_last_error(tml) : "", noted);
    DEMAND((unsigned)status < TML_ERROR_INTERNAL); /* the last one */
    bool is_ours =
        status == TML_OK || status == TML_ERROR_FILE_ACCESS; /* what our callbacks return */
    DEMAND(is_ours || strncmp(tml_last_error(tml), "tml_", 4) == 0);
    DEMAND(status != TML_ERROR_OUT_OF_MEMORY || hooks.refused);
    DEMAND(status != TML_ERROR_CANCELLED || hooks.cancelled);
    is_comparable &= !hooks.refused && !hooks.cancelled;
    note_number(status);
    hooks.refused = hooks.cancelled = false;
    hooks.progress = 0;
}

/* ---- buffers --------------------------------------------------------------------------------- */

enum { POOL_SIZE = 96, ELEMENTS_MAX = 1 << 16 };

typedef struct pooled {
    tml_buffer buffer;
    size_t size;
    uint8_t *copy;    /* what it holds */
    void *host;       /* memory of ours under it */
    bool is_gone;     /* destroyed by us */
    bool is_output;   /* of the next call */
    bool is_scratch;  /* likewise; its contents mean nothing */
    bool was_scratch; /* of any call: what it holds depends on threads */
} pooled;

static pooled pool[POOL_SIZE];
static uint32_t pool_count;
static tml_context *other; /* whose buffers are foreign */

static void fill(uint8_t *out, uint64_t count, tml_type type, contents contents, uint64_t bound)
{
    tml_type scalar = tml_type_scalar(type);
    size_t size = scalar ? tml_type_size(scalar) : 1;
    uint8_t mode = take();
    uint32_t random = mode;
    for (uint64_t i = 0; i < count * tml_type_size(type) / size; i++) {
        random = random * 1664525u + 1013904223u;
        uint8_t byte = mode >= 160 && next_byte < bytes_end ? take() : (uint8_t)(random >> 24);
        bool is_wild = mode >= 64 && byte >= 250 && contents != CONTENTS_FINITE;
        float real = is_wild ? (float)wild_float() : (float)(byte - 128) / 16;
        double real64 = is_wild ? wild_float() : (double)(byte - 128) / 16;
        uint64_t whole = is_wild ? wild() : mode & 1 ? byte & 7 : random >> mode % 25;
        if (contents == CONTENTS_BELOW && !is_wild)
            whole = bound ? (random >> 8) % bound : 0;
        memcpy(out + i * size,
               scalar == TML_F32   ? (void *)&real
               : scalar == TML_F64 ? (void *)&real64
                                   : (void *)&whole,
               size);
    }
}

static pooled *pooled_of(tml_buffer buffer)
{
    for (uint32_t i = 0; i < pool_count; i++)
        if (pool[i].buffer.slot == buffer.slot && pool[i].buffer.generation == buffer.generation)
            return &pool[i];
    return NULL;
}

tml_buffer keep(tml_buffer buffer)
{
    tml_type type;
    uint64_t count;
    if (pool_count == POOL_SIZE || !tml_buffer_describe(tml, buffer, &type, &count)) {
        tml_buffer_destroy(tml, buffer);
        return (tml_buffer){0, 0};
    }
    pooled *entry = &pool[pool_count++];
    *entry = (pooled){.buffer = buffer, .size = count * tml_type_size(type)};
    entry->copy = malloc(entry->size + 1);
    if (entry->size)
        memcpy(entry->copy, elements_of(buffer), entry->size);
    return buffer;
}

static tml_buffer create(tml_context *in, const tml_buffer_desc *desc)
{
    tml_buffer buffer = {0, 0};
    tml_status status = tml_buffer_create(in, desc, &buffer);
    if (in == tml)
        check_status("tml_buffer_create", status);
    DEMAND(status == TML_OK || tml_buffer_is_none(buffer));
    return buffer;
}

static void discard(tml_buffer buffer)
{
    pooled *entry = pooled_of(buffer);
    tml_buffer_destroy(tml, buffer);
    if (entry)
        entry->is_gone = true;
}

tml_buffer make(tml_type type, uint64_t count, contents contents, uint64_t bound)
{
    uint8_t which = take();
    bool is_host = which % 8 == 7;
    tml_context *in = tml;
    switch (which) {
    case 240:
        return (tml_buffer){0, 0};
    case 241:
        return (tml_buffer){(uint32_t)wild(), (uint32_t)wild()};
    case 242:
    case 243: {
        if (pool_count == 0)
            return (tml_buffer){0, 0};
        pooled *old = &pool[below(pool_count)];
        is_comparable &= !old->was_scratch;
        return old->buffer;
    }
    case 244:
        in = other;
        break;
    case 245:
    case 246:
        count -= count > 0;
        break;
    case 247:
        count /= 2;
        break;
    case 248:
        count = 0;
        break;
    case 249:
        count += 1 + below(8);
        break;
    case 250:
        type = take_scalar();
        break;
    case 251:
        type = TML_VEC(take_scalar(), 2 + below(3));
        break;
    case 252:
        type = TML_RECORD(1 + below(64));
        break;
    default:
        break;
    }
    size_t element = tml_type_size(type);
    if (count > ELEMENTS_MAX || element == 0 || pool_count == POOL_SIZE)
        return (tml_buffer){0, 0};
    uint8_t *data = malloc(count ? count * element : 1); /* exact, so that one byte over is seen */
    fill(data, count, type, contents, bound);
    tml_buffer_desc desc = {.type = type, .count = count};
    if (is_host && count > 0 && in == tml)
        desc.host = data;
    else
        desc.data = data;
    tml_buffer buffer = create(in, &desc);
    pooled *entry = in == tml && !tml_buffer_is_none(keep(buffer)) ? pooled_of(buffer) : NULL;
    if (entry && desc.host)
        entry->host = data;
    else
        free(data);
    if (which == 253)
        discard(buffer);
    return buffer;
}

tml_buffer as_out(tml_buffer buffer)
{
    pooled *entry = pooled_of(buffer);
    if (entry)
        entry->is_output = true;
    return buffer;
}

tml_buffer make_out(tml_type type, uint64_t count)
{
    return as_out(make(type, count, CONTENTS_ANY, 0));
}

tml_buffer maybe_out(tml_type type, uint64_t count)
{
    return take_bool() ? make_out(type, count) : (tml_buffer){0, 0};
}

/* How much an operation needs depends on threads, so nothing more is taken from the input by it. */
tml_buffer make_scratch(size_t size)
{
    uint8_t which = take();
    if (which < 192 || size > BLOCK_LIMIT || pool_count == POOL_SIZE)
        return (tml_buffer){0, 0};
    is_comparable &= which < 240;
    tml_buffer buffer =
        which >= 248 && pool_count
            ? pool[which % pool_count].buffer
            : keep(create(
                  tml, &(tml_buffer_desc){.type = TML_U8, .count = size - (which >= 240 && size)}));
    pooled *entry = pooled_of(as_out(buffer));
    if (entry)
        entry->is_scratch = entry->was_scratch = true;
    return buffer;
}

uint64_t count_of(tml_buffer buffer)
{
    uint64_t count = 0;
    tml_buffer_describe(tml, buffer, NULL, &count);
    return count;
}

const void *elements_of(tml_buffer buffer)
{
    void *memory = NULL;
    if (tml_buffer_describe(tml, buffer, NULL, NULL)) {
        DEMAND(tml_buffer_map(tml, buffer, &memory) == TML_OK);
        tml_buffer_unmap(tml, buffer);
    }
    return memory;
}

uint64_t number_of(tml_buffer buffer, uint64_t i)
{
    tml_type type = TML_TYPE_NONE;
    tml_buffer_describe(tml, buffer, &type, NULL);
    DEMAND(i < count_of(buffer) && (type == TML_U32 || type == TML_U64));
    return type == TML_U32 ? ((const uint32_t *)elements_of(buffer))[i]
                           : ((const uint64_t *)elements_of(buffer))[i];
}

/* What may have changed is taken as it is now; the rest must be as it was. */
static void check_buffers(tml_status status)
{
    bool is_untouched =
        status != TML_OK && status != TML_ERROR_CANCELLED && status != TML_ERROR_CAPACITY;
    for (uint32_t i = 0; i < pool_count; i++) {
        pooled *entry = &pool[i];
        const void *now = elements_of(entry->buffer);
        bool is_output = entry->is_output, is_scratch = entry->is_scratch;
        entry->is_output = entry->is_scratch = false;
        if (entry->is_gone || !entry->size)
            continue;
        DEMAND(now);
        if (!is_output || is_untouched)
            DEMAND(memcmp(entry->copy, now, entry->size) == 0);
        memcpy(entry->copy, now, entry->size);
        if (is_output && !is_scratch && status == TML_OK)
            note(now, entry->size);
    }
}

bool ended_well(const char *call, tml_status status)
{
    check_status(call, status);
    check_buffers(status);
    return status == TML_OK;
}

void put(tml_buffer buffer, tml_type type, uint64_t count, const void *elements)
{
    tml_type made;
    uint64_t room;
    if (tml_buffer_describe(tml, buffer, &made, &room) && made == type && room >= count)
        (void)CALL(tml_buffer_write, tml, as_out(buffer), 0, count, elements);
}

/* ---- one input ------------------------------------------------------------------------------- */

/* Writes, reads, copies of ranges. */
void desc_buffers(void)
{
    uint64_t count = below(40);
    tml_type type = take_bool() ? TML_RECORD(1 + below(64)) : take_scalar();
    tml_buffer buffer = make_out(type, count);
    uint8_t memory[(40 + 8) * 64] = {0};
    uint64_t first = mostly(below(count + 1)), n = mostly(below(count + 1)), number;
    type = TML_U8;
    tml_buffer_describe(tml, buffer, &type, NULL);
    bool fits = n <= sizeof memory / tml_type_size(type);
    if (fits && CALL(tml_buffer_write, tml, buffer, first, n, memory))
        DEMAND(first + n <= count_of(buffer));
    if (fits && CALL(tml_buffer_read_range, tml, buffer, first, n, memory))
        note(memory, n * tml_type_size(type));
    if (CALL(tml_buffer_read_count, tml, buffer, &number))
        DEMAND(number == number_of(buffer, 0));
    (void)CALL(tml_reserve, tml, mostly(take()));
    (void)CALL(tml_sync, tml);
    if (seldom())
        discard(buffer);
}

static void (*const parts[])(void) = {
    desc_scan,     desc_reduce,  desc_compact,   desc_expand,         desc_unique,
    desc_segments, desc_map,     desc_surface,   desc_surface_slabs,  desc_surface_enqueue,
    desc_field,    desc_mesh,    desc_measure,   desc_mips,           desc_subdivide,
    desc_collide,  desc_buffers, desc_histogram, desc_sort,           desc_gather,
    desc_search,   desc_by_key,  desc_top_k,     desc_surface_labels,
};

static void demand_usable(void)
{
    const uint32_t ones[3] = {1, 1, 1};
    tml_buffer buffer;
    hooks.fail_in = hooks.cancel_in = -1;
    DEMAND(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 3, .data = ones},
                             &buffer) == TML_OK);
    DEMAND(tml_scan(tml, &(tml_scan_desc){.in = buffer, .inclusive = true, .out = buffer}) ==
           TML_OK);
    DEMAND(number_of(buffer, 0) == 1 && number_of(buffer, 1) == 2 && number_of(buffer, 2) == 3);
}

static void run(const uint8_t *data, size_t size, uint32_t threads)
{
    next_byte = data;
    bytes_end = data + size;
    noted = pool_count = 0;
    hooks.thread = pthread_self();
    hooks.fail_in = hooks.cancel_in = -1;
    hooks.refused = hooks.cancelled = hooks.fails_forever = false;
    is_comparable = true;
    hooks.progress = 0;
    uint8_t fault = take();
    if (fault >= 192)
        hooks.fails_forever = take_bool();
    if (fault >= 224)
        hooks.cancel_in = take() % 32;
    else if (fault >= 192)
        hooks.fail_in = take() % 64;
    tml_status status = open_context(threads, &tml);
    if (status != TML_OK) {
        DEMAND(status == TML_ERROR_OUT_OF_MEMORY && hooks.refused && !tml && hooks.live == 0);
        return;
    }
    DEMAND(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &other) == TML_OK);
    for (int calls = 0; calls < 4 && (calls == 0 || next_byte < bytes_end); calls++)
        parts[take() % (sizeof parts / sizeof parts[0])]();
    demand_usable();
    tml_close(other);
    tml_close(tml);
    tml = NULL;
    for (uint32_t i = 0; i < pool_count; i++) {
        free(pool[i].copy);
        free(pool[i].host);
    }
    DEMAND(hooks.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    run(data + 1, size - 1, 1 + data[0] % 3);
    uint64_t first = noted;
    if (is_comparable && data[0] >= 128) {
        run(data + 1, size - 1, 1 + (data[0] + 1) % 3);
        DEMAND(noted == first || !is_comparable);
    }
    return 0;
}
