/* The core: contexts, buffers, types, errors, hooks, devices. */
#include "reference.h"

#include <trommel/extend.h>

/* A context, a buffer with contents, and back to the host. Zeroes in a desc are its defaults. */
static void open_and_close(void)
{
    tml_context *tml;
    tml_buffer buffer;
    float copy[3];
    const tml_status status = tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml);
    CHECK(status == TML_OK);
    MUST(tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_F32, .count = 3, .data = (float[]){1, 2, 3}}, &buffer));
    MUST(tml_buffer_read(tml, buffer, copy));
    CHECK(copy[0] == 1 && copy[2] == 3);
    tml_close(tml); /* and with it its buffers */
}

/* The version of the headers, in parts and in one number. */
static void version(void)
{
    CHECK(TML_VERSION >> 20 == TML_VERSION_MAJOR);
    CHECK((TML_VERSION >> 10 & 1023) == TML_VERSION_MINOR);
    CHECK((TML_VERSION & 1023) == TML_VERSION_PATCH);
}

/* Threads and memory of a context. */
static void open_with_limits(void)
{
    tml_context *tml;
    tml_device_info info;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 2, .scratch_size = 1 << 20},
                  &tml));
    tml_context_describe(tml, &info);
    CHECK(info.concurrency == 2); /* up to TML_MAX_THREADS */
    CHECK(info.scratch_size >= 1 << 20);
    tml_close(tml);
}

/* ---- errors -------------------------------------------------------------------------------- */

/* A call that fails does nothing, and says what is wrong, and how to mend it. */
static void errors(tml_context *tml)
{
    tml_buffer buffer;
    const tml_status status =
        tml_buffer_create(tml, &(tml_buffer_desc){.type = 12345, .count = 1}, &buffer);
    CHECK(status == TML_ERROR_INVALID_ARGUMENT);
    CHECK(!strcmp(tml_status_name(status), "INVALID_ARGUMENT"));
    CHECK(strlen(tml_status_text(status)) > 0 && strlen(tml_last_error(tml)) > 0);
}

/* The codes and their sentences, as a table of your own. */
static void error_list(void)
{
#define NAME(code, sentence) #code,
    static const char *const names[] = {"OK", TML_ERROR_LIST(NAME)};
#undef NAME
    CHECK(!strcmp(names[TML_ERROR_CANCELLED], tml_status_name(TML_ERROR_CANCELLED)));
}

/* ---- types --------------------------------------------------------------------------------- */

/* A scalar, a vector of scalars, or bytes that only move. */
static void types(void)
{
    const tml_type position = TML_VEC(TML_F32, 3), particle = TML_RECORD(20);
    CHECK(tml_type_size(position) == 12 && tml_type_components(position) == 3);
    CHECK(tml_type_scalar(position) == TML_F32 && tml_type_is_float(position));
    CHECK(tml_type_is_signed(TML_I8) && !tml_type_is_signed(TML_U8));
    CHECK(!strcmp(tml_type_name(position), "f32x3"));
    CHECK(tml_type_from_name("u16") == TML_U16 && tml_type_from_name("u17") == TML_TYPE_NONE);
    CHECK(tml_type_size(particle) == 20);
}

/* Something for each scalar type: here its size in C. */
static void scalar_list(void)
{
#define SIZE(name, size, ctype) CHECK(tml_type_size(TML_##name) == sizeof(ctype));
    TML_SCALAR_LIST(SIZE)
#undef SIZE
}

/* ---- buffers ------------------------------------------------------------------------------- */

/* Parts of a buffer to and from the host. */
static void write_and_read(tml_context *tml)
{
    uint32_t middle[2];
    uint64_t last;
    const tml_buffer buffer = buffer_of(tml, TML_U32, 4, (uint32_t[]){0, 0, 0, 4});
    MUST(tml_buffer_write(tml, buffer, 1, 2, (uint32_t[]){7, 8})); /* elements 1 and 2 */
    MUST(tml_buffer_read_range(tml, buffer, 1, 2, middle));
    CHECK(middle[0] == 7 && middle[1] == 8);
    MUST(tml_buffer_read_count(tml, buffer_of(tml, TML_U64, 1, &(uint64_t){5}), &last));
    CHECK(last == 5);
}

/* Numbers that nobody waits for: begun in one frame, taken in a later one, when they have
 * arrived. */
static void read_without_waiting(tml_context *tml)
{
    uint32_t counts[TML_MAX_READS] = {0}; /* as many as may be under way at once */
    tml_read reads[TML_MAX_READS];
    const tml_buffer buffer = buffer_of(tml, TML_U32, 1, &(uint32_t){5});
    for (int i = 0; i < TML_MAX_READS; i++)
        MUST(tml_buffer_read_begin(tml, buffer, 0, 1, &reads[i]));
    for (int i = 0; i < TML_MAX_READS; i++)
        for (bool done = false;
             !done;) /* a renderer draws a frame here, with what it knew before */
            MUST(tml_buffer_read_poll(tml, reads[i], &counts[i], &done));
    CHECK(counts[0] == 5 && counts[TML_MAX_READS - 1] == 5);
}

/* A buffer's memory on the host; the CPU engine copies nothing. */
static void map_buffer(tml_context *tml)
{
    void *mapped;
    uint32_t first;
    const tml_buffer buffer = buffer_of(tml, TML_U32, 2, (uint32_t[]){1, 2});
    MUST(tml_buffer_map(tml, buffer, &mapped));
    *(uint32_t *)mapped = 9;
    tml_buffer_unmap(tml, buffer);
    MUST(tml_buffer_read_range(tml, buffer, 0, 1, &first));
    CHECK(first == 9);
}

/* Your memory in place of the library's: nothing is copied, and nothing is freed. */
static void host_memory(tml_context *tml)
{
    float mine[2] = {1, 2};
    tml_buffer buffer;
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 2, .host = mine},
                           &buffer));
    MUST(tml_buffer_write(tml, buffer, 0, 1, &(float){5}));
    MUST(tml_sync(tml));
    CHECK(mine[0] == 5);
    tml_buffer_destroy(tml, buffer);
}

/* What a handle stands for; one that is destroyed is told from one that took its place. */
static void handles(tml_context *tml)
{
    tml_type type;
    uint64_t count;
    const tml_buffer none = {0}, buffer = buffer_of(tml, TML_F64, 3, NULL);
    CHECK(tml_buffer_describe(tml, buffer, &type, &count) && type == TML_F64 && count == 3);
    tml_buffer_destroy(tml, buffer);
    CHECK(!tml_buffer_describe(tml, buffer, NULL, NULL) && tml_buffer_is_none(none));
}

/* Scratch memory grows at the first call that needs it, or now. */
static void reserve(tml_context *tml)
{
    tml_device_info info;
    MUST(tml_reserve(tml, 1 << 16));
    tml_context_describe(tml, &info);
    CHECK(info.scratch_size >= 1 << 16);
}

/* What a frame needs, before its first time: scratch and, on a GPU, compiled programs. Nothing
 * runs. */
static void prepare(tml_context *tml)
{
    const tml_buffer keys = buffer_of(tml, TML_U32, 1000, NULL);
    const tml_buffer sum = buffer_of(tml, TML_U64, 1, NULL);
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_sort(tml, &(tml_sort_desc){.keys = keys, .sorted = keys}));
    MUST(tml_reduce(tml, &(tml_reduce_desc){.in = keys, .folds = {{TML_FOLD_SUM, sum}}}));
    MUST(tml_prepare_end(tml, &prepared));
    CHECK(prepared.programs_left == 0);
    MUST(tml_reserve(tml, prepared.scratch_size)); /* the most that one of the calls needs */
}

/* Where the samples of a volume stand: every half a millimetre, in layers 2 mm apart. */
static void sampled_grid(void)
{
    const tml_grid grid = {
        .dims = {256, 256, 64}, .spacing = {0.5, 0.5, 2}, .origin = {-64, -64, 0}};
    const double last_z = grid.origin[2] + grid.spacing[2] * (double)(grid.dims[2] - 1);
    CHECK(last_z == 126);
}

/* ---- hooks --------------------------------------------------------------------------------- */

static void keep_message(void *user, tml_log_level level, const char *message)
{
    if (level <= TML_LOG_INFO)
        snprintf(user, 64, "%s", message);
}

/* What the library has to say goes where you want it; it prints nothing itself. */
static void log_hook(void)
{
    char latest[64] = "";
    const tml_log_fn hook = keep_message;
    tml_context *tml;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .log = hook, .log_user = latest},
                  &tml));
    tml_log(tml, TML_LOG_INFO, "%d bricks", 12); /* as a library built on this one does */
    CHECK(!strcmp(latest, "12 bricks"));
    tml_close(tml);
}

static bool stop_at_half(void *user, const char *stage, double fraction)
{
    *(const char **)user = stage;
    return fraction < 0.5;
}

/* Long calls tell how far they are, and stop where the hook says so. */
static void progress_hook(void)
{
    const char *stage = "";
    const tml_progress_fn hook = stop_at_half;
    tml_context *tml;
    MUST(tml_open(
        &(tml_open_desc){.engine = TML_ENGINE_CPU, .progress = hook, .progress_user = &stage},
        &tml));
    CHECK(tml_progress(tml, "reading", 0.25)); /* as a library built on this one does */
    CHECK(!tml_progress(tml, "reading", 0.75) && !strcmp(stage, "reading"));
    tml_close(tml);
}

static void *counting_alloc(void *user, size_t size, size_t alignment)
{
    ++*(int *)user;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counting_free(void *user, void *memory, size_t size)
{
    *(int *)user -= memory && size;
    free(memory);
}

/* All memory from your allocator, and all of it given back. */
static void allocator_hook(void)
{
    int blocks = 0;
    const tml_allocator allocator = {counting_alloc, counting_free, &blocks};
    tml_context *tml;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .allocator = allocator}, &tml));
    CHECK(blocks > 0);
    tml_close(tml);
    CHECK(blocks == 0);
}

static void run_in_order(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    *(uint32_t *)user += count;
    for (uint32_t i = 0; i < count; i++)
        task(argument, i); /* a job system would hand them to its threads, and wait */
}

static void square(void *argument, uint32_t i)
{
    ((uint32_t *)argument)[i] = i * i;
}

/* Tasks on your job system in place of the context's threads. */
static void parallel_hook(void)
{
    uint32_t tasks = 0, squares[4];
    const tml_parallel parallel = {.run = run_in_order, .concurrency = 1, .user = &tasks};
    tml_context *tml;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .parallel = parallel}, &tml));
    tml_parallel_for(tml, 4, square, squares);
    CHECK(tasks == 4 && squares[3] == 9);
    tml_close(tml);
}

/* Tasks of your own on the context's threads. */
static void parallel_for(tml_context *tml)
{
    uint32_t squares[100];
    tml_parallel_for(tml, 100, square, squares);
    CHECK(squares[99] == 9801);
}

/* From any thread, or a signal handler: the call in progress stops, and no other begins. */
static void cancel(tml_context *tml)
{
    const tml_buffer in = buffer_of(tml, TML_F32, 8, NULL), sum = buffer_of(tml, TML_F64, 1, NULL);
    const tml_reduce_desc desc = {.in = in, .folds = {{TML_FOLD_SUM, sum}}};
    tml_cancel(tml);
    CHECK(tml_is_cancelled(tml) && tml_reduce(tml, &desc) == TML_ERROR_CANCELLED);
    tml_cancel_clear(tml);
    MUST(tml_reduce(tml, &desc));
}

/* ---- libraries built on this one ----------------------------------------------------------- */

/* A function of a library of yours: it takes memory from the context, and fails as the
 * library's. */
static tml_status repeat(tml_context *tml, const char *text, uint64_t times, char **out)
{
    const size_t length = strlen(text);
    if (times == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "repeat: times is 0; at least 1");
    *out = tml_alloc_array(tml, times, length + 1); /* NULL also where the product overflows */
    if (!*out)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "repeat: no memory");
    **out = 0;
    for (uint64_t i = 0; i < times; i++)
        strcat(*out, text);
    return TML_OK;
}

static void library_calls(tml_context *tml)
{
    char *text, *block = tml_alloc(tml, 64);
    MUST(repeat(tml, "ab", 3, &text));
    CHECK(block && !strcmp(text, "ababab"));
    tml_free(tml, text, 3 * 3);
    tml_free(tml, block, 64);
    CHECK(repeat(tml, "ab", 0, &text) && strstr(tml_last_error(tml), "at least 1"));
}

/* ---- devices ------------------------------------------------------------------------------- */

/* What there is to run on, best first, and what a context runs on. */
static void devices(tml_context *tml)
{
    tml_device_info all[16], mine;
    const uint32_t count = tml_devices(all, 16); /* there may be more than there is room for */
    CHECK(count >= 1);
    tml_context_describe(tml, &mine);
    CHECK(mine.engine == TML_ENGINE_CPU && mine.threads >= 1 && strlen(mine.name) > 0);
}

int main(void)
{
    open_and_close();
    version();
    open_with_limits();
    error_list();
    types();
    scalar_list();
    sampled_grid();
    log_hook();
    progress_hook();
    allocator_hook();
    parallel_hook();
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){errors, write_and_read, read_without_waiting, map_buffer,
                                           host_memory, handles, reserve, prepare, parallel_for,
                                           cancel, library_calls, devices, NULL});
}
