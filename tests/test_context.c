/* Contexts, devices, buffers, hooks, cancelling, messages and scratch: everything of core.h, and
 * what the stream operations refuse and how they say it. */
#include "test.h"

#include "contexts.h"

#include <pthread.h>
#include <time.h>

#include <trommel/trommel.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(float, twice, (float x), { return x + x; })
TML_KERNEL(bool, is_odd_index, (tml_index i), { return (U(i) & 1u) == 1u; })
TML_KERNEL(uint, own_count, (uint x), { return x; })
TML_KERNEL(float, slow, (float x), {
    for (int i = 0; i < 400; i++)
        x = x * 0.999f + 0.001f / (x + 1.0f);
    return x;
})
#include <trommel/kernel_end.h>

/* Under the sanitizers: sizes beyond reason give NULL, as they do without them. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const tml_buffer none;

static tml_context *open_plain(void)
{
    tml_context *tml = NULL;
    CHECK_OK(tml, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 2}, &tml));
    return tml;
}

/* A call that must fail like this, with a message that has these words, separated by '|'. */
static bool fails_with(const char *file, int line, tml_context *tml, tml_status status,
                       tml_status expected, const char *words)
{
    bool good = test_status(file, line, words, tml, status, expected);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy, *word; (word = strtok_r(rest, "|", &rest));)
        if (!strstr(tml_last_error(tml), word))
            good = test_fail(file, line, "no '%s' in '%s'", word, tml_last_error(tml));
    return good;
}
#define FAILS(tml, call, expected, words)                                                          \
    fails_with(__FILE__, __LINE__, (tml), (call), (expected), (words))

/* ---- opening --------------------------------------------------------------------------------- */

TEST(open_takes_a_null_or_zeroed_desc)
{
    tml_context *a = NULL, *b = NULL;
    CHECK_OK(NULL, tml_open(NULL, &a));
    CHECK_OK(NULL, tml_open(&(tml_open_desc){0}, &b));
    CHECK(a && b && a != b);
    CHECK_STR(tml_last_error(a), "");
    CHECK(test_described(a).concurrency >= 1);
    tml_device_info info;
    tml_context_describe(b, &info);
    CHECK(info.engine != TML_ENGINE_AUTO && info.name[0]);
    tml_close(a);
    tml_close(b);
    tml_close(NULL);
}

TEST(open_takes_threads_and_scratch)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = 3, .scratch_size = 12345};
    CHECK_OK(NULL, tml_open(&desc, &tml));
    CHECK_EQ_U64(test_described(tml).concurrency, 3);
    CHECK(test_reserved(tml) >= 12345);
    tml_close(tml);
}

static void keep_message(void *user, tml_log_level level, const char *message)
{
    if (level == TML_LOG_ERROR)
        snprintf(user, 768, "%s", message);
}

TEST(open_names_the_devices_that_there_are)
{
    char message[768] = "";
    tml_context *tml = (tml_context *)&message;
    tml_open_desc desc = {.device = "no such device", .log = keep_message, .log_user = message};
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_NO_DEVICE);
    CHECK(tml == NULL);
    CHECK(strstr(message, "tml_open") && strstr(message, "no such device"));
    tml_device_info info;
    CHECK(tml_devices(&info, 1) >= 1);
    CHECK(strstr(message, info.name));
    desc.log = NULL;
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_NO_DEVICE);
}

TEST(open_finds_a_device_by_number_and_by_part_of_its_name)
{
    tml_device_info infos[8];
    uint32_t count = tml_devices(infos, 8);
    CHECK(count >= 1);
    CHECK_EQ_U64(tml_devices(NULL, 0), count);
    for (uint32_t d = 0; d < count && d < 8; d++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, d);
        tml_context *tml = NULL;
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number}, &tml));
        tml_device_info info;
        tml_context_describe(tml, &info);
        CHECK_STR(info.name, infos[d].name);
        tml_close(tml);
        CHECK_OK(NULL,
                 tml_open(&(tml_open_desc){.engine = infos[d].engine, .device = infos[d].name + 2},
                          &tml));
        tml_close(tml);
    }
    tml_context *tml = NULL;
    CHECK_STATUS(tml_open(&(tml_open_desc){.device = "4000000"}, &tml), TML_ERROR_NO_DEVICE);
}

/* ---- names ----------------------------------------------------------------------------------- */

TEST(every_status_has_a_name_and_a_sentence)
{
#define KNOWN(code, sentence)                                                                      \
    CHECK_STR(tml_status_name(TML_ERROR_##code), #code);                                           \
    CHECK_STR(tml_status_text(TML_ERROR_##code), sentence);
    TML_ERROR_LIST(KNOWN)
#undef KNOWN
    CHECK(tml_status_name((tml_status)999)[0] && tml_status_text((tml_status)-1)[0]);
}

TEST(types_know_size_name_and_back)
{
#define KNOWN(name, size, ctype)                                                                   \
    CHECK_EQ_U64(tml_type_size(TML_##name), size);                                                 \
    CHECK_EQ_U64(tml_type_size(TML_##name), sizeof(ctype));                                        \
    CHECK_EQ_U64(tml_type_from_name(tml_type_name(TML_##name)), TML_##name);                       \
    for (uint32_t n = 2; n <= 4; n++) {                                                            \
        tml_type vector = TML_VEC(TML_##name, n);                                                  \
        CHECK_EQ_U64(tml_type_size(vector), n *(size));                                            \
        CHECK_EQ_U64(tml_type_components(vector), n);                                              \
        CHECK_EQ_U64(tml_type_scalar(vector), TML_##name);                                         \
        CHECK_EQ_U64(tml_type_from_name(tml_type_name(vector)), vector);                           \
    }
    TML_SCALAR_LIST(KNOWN)
#undef KNOWN
    CHECK_STR(tml_type_name(TML_VEC(TML_F32, 3)), "f32x3");
    CHECK_EQ_U64(tml_type_size(TML_RECORD(1)), 1);
    CHECK_EQ_U64(tml_type_size(TML_RECORD(64)), 64);
    CHECK_STR(tml_type_name(TML_RECORD(7)), "record");
    CHECK_EQ_U64(tml_type_scalar(TML_RECORD(4)), TML_TYPE_NONE);

    const tml_type wrong[] = {TML_TYPE_NONE,  TML_SCALAR_END,      TML_RECORD(0),
                              TML_RECORD(65), TML_VEC(TML_F32, 1), TML_VEC(TML_F32, 5),
                              0xffffffff,     TML_VEC(99, 2)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ_U64(tml_type_size(wrong[i]), 0);
        CHECK_EQ_U64(tml_type_components(wrong[i]), 0);
        CHECK(tml_type_name(wrong[i]) != NULL);
    }
    CHECK_EQ_U64(tml_type_from_name("f33"), TML_TYPE_NONE);
    CHECK_EQ_U64(tml_type_from_name(""), TML_TYPE_NONE);
    CHECK_EQ_U64(tml_type_from_name(NULL), TML_TYPE_NONE);
    CHECK(tml_type_is_float(TML_F16) && tml_type_is_float(TML_VEC(TML_F64, 4)));
    CHECK(!tml_type_is_float(TML_U32) && !tml_type_is_float(TML_RECORD(4)));
    CHECK(tml_type_is_signed(TML_I8) && tml_type_is_signed(TML_F32) &&
          !tml_type_is_signed(TML_U64));
}

/* ---- buffers --------------------------------------------------------------------------------- */

TEST(handles_that_are_stale_zeroed_or_foreign_are_refused)
{
    tml_context *tml = open_plain(), *other = open_plain();
    float x = 0;
    tml_buffer buffer = buffer_of(tml, TML_F32, 10, NULL),
               foreign = buffer_of(other, TML_F32, 10, NULL);
    CHECK(!tml_buffer_is_none(buffer) && tml_buffer_is_none(none));
    CHECK(FAILS(tml, tml_buffer_read_range(tml, none, 0, 1, &x), TML_ERROR_INVALID_HANDLE,
                "tml_buffer_read_range|no buffer"));
    CHECK(FAILS(tml, tml_buffer_read_range(tml, foreign, 0, 1, &x), TML_ERROR_INVALID_HANDLE,
                "foreign"));
    CHECK(!tml_buffer_describe(tml, foreign, NULL, NULL));
    tml_buffer_destroy(tml, foreign); /* ignored: it is not ours */
    CHECK(tml_buffer_describe(other, foreign, NULL, NULL));

    tml_buffer_destroy(tml, buffer);
    tml_buffer_destroy(tml, buffer);
    CHECK(FAILS(tml, tml_buffer_write(tml, buffer, 0, 1, &x), TML_ERROR_INVALID_HANDLE, "stale"));
    tml_buffer again = buffer_of(tml, TML_F32, 10, NULL);
    CHECK(!tml_buffer_describe(tml, buffer, NULL, NULL)); /* even if the slot is the same */
    CHECK(tml_buffer_describe(tml, again, NULL, NULL));
    tml_buffer wild = {0x7fffffff, 1};
    CHECK(!tml_buffer_describe(tml, wild, NULL, NULL));
    void *memory;
    CHECK(
        FAILS(tml, tml_buffer_map(tml, wild, &memory), TML_ERROR_INVALID_HANDLE, "tml_buffer_map"));
    CHECK(memory == NULL);
    tml_buffer_unmap(tml, wild);
    tml_close(other);
    tml_close(tml);
}

TEST(buffers_refuse_what_cannot_be)
{
    tml_context *tml = open_plain();
    tml_buffer out = {7, 7};
    double aligned[2] = {0};
    tml_buffer_desc desc = {.type = 77, .count = 4};
    CHECK(FAILS(tml, tml_buffer_create(tml, &desc, &out), TML_ERROR_INVALID_ARGUMENT,
                "tml_buffer_create|desc.type|0x4d|TML_F32"));
    CHECK(tml_buffer_is_none(out));
    desc = (tml_buffer_desc){.type = TML_F64, .count = UINT64_MAX / 4};
    CHECK(
        FAILS(tml, tml_buffer_create(tml, &desc, &out), TML_ERROR_INVALID_ARGUMENT, "desc.count"));
    fill_addresses(tml);
    desc = (tml_buffer_desc){.type = TML_F64, .count = PTRDIFF_MAX / 16, .label = "huge"};
    CHECK(FAILS(tml, tml_buffer_create(tml, &desc, &out), TML_ERROR_OUT_OF_MEMORY, "huge"));
    desc = (tml_buffer_desc){.type = TML_F64, .count = 1, .host = (char *)aligned + 3};
    CHECK(FAILS(tml, tml_buffer_create(tml, &desc, &out), TML_ERROR_INVALID_ARGUMENT,
                "desc.host|aligned"));
    CHECK(tml_buffer_is_none(out));
    tml_close(tml);
}

TEST(many_buffers_live_side_by_side)
{
    enum { MANY = 3000 };
    static tml_buffer buffers[MANY];
    tml_context *tml = open_plain();
    for (uint32_t i = 0; i < MANY; i++)
        buffers[i] = buffer_of(tml, TML_U32, 1, &i);
    for (uint32_t i = 0; i < MANY; i += 3)
        tml_buffer_destroy(tml, buffers[i]);
    for (uint32_t i = 0; i < MANY; i += 3)
        buffers[i] = buffer_of(tml, TML_U32, 1, &i);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t value = 0;
        CHECK_OK(tml, tml_buffer_read_count(tml, buffers[i], &value));
        wrong += value != i;
    }
    CHECK_EQ_U64(wrong, 0);
    tml_close(tml);
}

TEST(reads_and_writes_stay_inside)
{
    tml_context *tml = open_plain();
    const uint16_t data[5] = {1, 2, 3, 4, 5};
    uint16_t out[5] = {0};
    tml_buffer buffer = buffer_of(tml, TML_U16, 5, data), empty = buffer_of(tml, TML_F32, 0, NULL);
    tml_type type;
    uint64_t count;
    CHECK(tml_buffer_describe(tml, buffer, &type, &count) && type == TML_U16 && count == 5);
    CHECK_OK(tml, tml_buffer_read(tml, buffer, out));
    CHECK(memcmp(out, data, sizeof data) == 0);
    CHECK_OK(tml, tml_buffer_write(tml, buffer, 3, 2, data));
    CHECK_OK(tml, tml_buffer_read_range(tml, buffer, 2, 3, out));
    CHECK(out[0] == 3 && out[1] == 1 && out[2] == 2);
    CHECK_OK(tml, tml_buffer_read_range(tml, buffer, 5, 0, out));
    CHECK_OK(tml, tml_buffer_read(tml, empty, NULL));
    CHECK_OK(tml, tml_buffer_write(tml, empty, 0, 0, NULL));
    CHECK(FAILS(tml, tml_buffer_read_range(tml, buffer, 4, 2, out), TML_ERROR_INVALID_ARGUMENT,
                "tml_buffer_read_range|[4, +2)|5"));
    CHECK(FAILS(tml, tml_buffer_write(tml, buffer, 6, 0, data), TML_ERROR_INVALID_ARGUMENT,
                "tml_buffer_write"));
    CHECK(FAILS(tml, tml_buffer_write(tml, buffer, UINT64_MAX, 2, data), TML_ERROR_INVALID_ARGUMENT,
                "outside"));
    CHECK(FAILS(tml, tml_buffer_read_count(tml, buffer, &count), TML_ERROR_INVALID_ARGUMENT,
                "u16|u32, u64"));
    CHECK(FAILS(tml, tml_buffer_read_count(tml, buffer_of(tml, TML_U64, 0, NULL), &count),
                TML_ERROR_INVALID_ARGUMENT, "tml_buffer_read_count|0 elements"));
    CHECK_OK(tml, tml_sync(tml));
    tml_close(tml);
}

TEST(lent_memory_is_used_in_place_and_left_alone)
{
    tml_context *tml = open_plain();
    float memory[100];
    for (int i = 0; i < 100; i++)
        memory[i] = (float)i;
    tml_buffer buffer;
    tml_buffer_desc desc = {.type = TML_F32, .count = 99, .host = memory + 1};
    CHECK_OK(tml, tml_buffer_create(tml, &desc, &buffer));
    void *mapped;
    CHECK_OK(tml, tml_buffer_map(tml, buffer, &mapped));
    CHECK(mapped == memory + 1);
    tml_buffer_unmap(tml, buffer);
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){
                                   .kernel = TML_USE(twice), .in = {buffer}, .out = {buffer}}));
    tml_buffer_destroy(tml, buffer);
    CHECK(memory[0] == 0.0f && memory[1] == 2.0f && memory[99] == 198.0f);
    tml_close(tml);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef struct meter {
    uint64_t calls, misaligned;
    int64_t live;
} meter;

static void *meter_alloc(void *user, size_t size, size_t alignment)
{
    meter *m = user;
    m->calls++;
    m->misaligned += alignment < 16 || (alignment & (alignment - 1)) != 0 || size == 0;
    void *memory = tml_platform_alloc(size, alignment);
    if (!memory)
        return NULL;
    m->live += (int64_t)size;
    return memory;
}

static void meter_free(void *user, void *memory, size_t size)
{
    ((meter *)user)->live -= (int64_t)size;
    tml_platform_free(memory);
}

static tml_context *open_metered(meter *m)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .threads = 2,
                                             .allocator = {meter_alloc, meter_free, m}},
                            &tml));
    return tml;
}

TEST(open_refuses_half_an_allocator_and_no_place_for_the_context)
{
    tml_context *tml = NULL;
    tml_open_desc desc = {.allocator.alloc = meter_alloc};
    CHECK_STATUS(tml_open(NULL, NULL), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_INVALID_ARGUMENT);
    CHECK(tml == NULL);
    desc.allocator = (tml_allocator){.free = meter_free};
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_INVALID_ARGUMENT);
}

TEST(an_own_allocator_gets_everything_back)
{
    meter m = {0};
    tml_context *tml = open_metered(&m);
    CHECK(m.calls > 0);
    buffer_of(tml, TML_F32, 100000, NULL); /* left to tml_close */
    tml_buffer gone = buffer_of(tml, TML_F32, 10, NULL);
    tml_buffer_destroy(tml, gone);
    void *block = tml_alloc(tml, 1000);
    CHECK(block && (uintptr_t)block % 64 == 0);
    tml_free(tml, block, 1000);
    CHECK(tml_alloc(tml, 0) == NULL);
    tml_free(tml, NULL, 0);
    CHECK_OK(tml, tml_reserve(tml, 1 << 20));
    CHECK_OK(tml, tml_reserve(tml, 2 << 20));
    tml_close(tml);
    CHECK_EQ_I64(m.live, 0);
    CHECK_EQ_U64(m.misaligned, 0);
}

static void *memory_of(tml_context *tml, tml_buffer buffer)
{
    void *memory = NULL;
    CHECK_OK(tml, tml_buffer_map(tml, buffer, &memory));
    tml_buffer_unmap(tml, buffer);
    return memory;
}

/* Where tml_platform_lend says no there is nothing to see. */
TEST(large_memory_serves_the_next_buffers)
{
    enum { MIB = 1 << 20 };
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml));
    tml_buffer first = buffer_of(tml, TML_U8, 12 * MIB, NULL);
    void *memory = memory_of(tml, first);
    memset(memory, 1, 12 * MIB);
    if (!tml_platform_lend(memory, 12 * MIB)) {
        tml_close(tml);
        SKIP("this system takes no memory back for a while");
    }
    tml_buffer_destroy(tml, first);
    tml_buffer small = buffer_of(tml, TML_U8, 8 * MIB, NULL), large, same;
    CHECK(memory_of(tml, small) != memory); /* it would waste a third */
    large = buffer_of(tml, TML_U8, 13 * MIB, NULL);
    CHECK(memory_of(tml, large) != memory);
    same = buffer_of(tml, TML_U8, 12 * MIB - 1, NULL);
    CHECK(memory_of(tml, same) == memory);
    /* More than is kept, in size and in number. */
    tml_buffer many[24];
    for (int i = 0; i < 24; i++)
        many[i] = buffer_of(tml, TML_U8, (uint64_t)(4 + 3 * i) * MIB, NULL);
    for (int i = 0; i < 24; i++)
        tml_buffer_destroy(tml, many[i]);
    tml_buffer_destroy(tml, same);
    same = buffer_of(tml, TML_U8, 12 * MIB - 1, NULL);
    CHECK(memory_of(tml, same) == memory);
    tml_buffer_destroy(tml, same);
    tml_close(tml);
}

TEST(an_array_larger_than_an_address_space_is_not_allocated)
{
    meter m = {0};
    tml_context *tml = open_metered(&m);
    const uint64_t calls = m.calls;
    CHECK(tml_alloc_array(tml, (uint64_t)1 << 62, 8) == NULL); /* 2^65 bytes, 0 modulo 2^64 */
    CHECK(tml_alloc_array(tml, UINT64_MAX, 2) == NULL);
    CHECK(tml_alloc_array(tml, ((uint64_t)1 << 32) + 1, SIZE_MAX / 2) == NULL);
    CHECK(tml_alloc_array(tml, (uint64_t)PTRDIFF_MAX + 1, 1) == NULL);
    CHECK(tml_alloc_array(tml, 0, 8) == NULL && tml_alloc_array(tml, 8, 0) == NULL);
    CHECK_EQ_U64(m.calls, calls); /* none of them reached the allocator */
    uint64_t *array = tml_alloc_array(tml, 100, sizeof *array);
    if (CHECK(array))
        array[99] = 1;
    tml_free(tml, array, 100 * sizeof *array);
    tml_close(tml);
    CHECK_EQ_I64(m.live, 0);
}

static void run_serially(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    (*(uint32_t *)user)++;
    for (uint32_t i = 0; i < count; i++)
        task(argument, i);
}

typedef struct late_task {
    tml_task_fn task;
    void *argument;
    uint32_t index, delay_us;
} late_task;

static void *run_late(void *argument)
{
    late_task *late = argument;
    usleep(late->delay_us);
    late->task(late->argument, late->index);
    return NULL;
}

/* A thread a task, started in order, but the first ones linger. */
static void run_in_threads(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    enum { MOST = 64 };
    (*(uint32_t *)user)++;
    for (uint32_t first = 0; first < count; first += MOST) {
        pthread_t threads[MOST];
        late_task tasks[MOST];
        uint32_t n = count - first < MOST ? count - first : MOST;
        for (uint32_t i = 0; i < n; i++) {
            tasks[i] = (late_task){task, argument, first + i, 200 * (n - i)};
            pthread_create(&threads[i], NULL, run_late, &tasks[i]);
        }
        for (uint32_t i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
    }
}

static void add_index(void *argument, uint32_t index)
{
    atomic_fetch_add((_Atomic uint64_t *)argument, index + 1);
}

/* Scans, compacts and expands enough for many tiles, and compares with sums in closed form. */
static void use_streams(tml_context *tml)
{
    enum { COUNT = 300000 };
    static uint32_t ones[COUNT], sums[COUNT];
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    tml_buffer in = buffer_of(tml, TML_U32, COUNT, ones),
               out = buffer_of(tml, TML_U32, COUNT, NULL);
    tml_buffer total = buffer_of(tml, TML_U32, 1, NULL);
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in, .out = out, .total = total}));
    CHECK_OK(tml, tml_buffer_read(tml, out, sums));
    uint64_t wrong = 0, count = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += sums[i] != i;
    CHECK_EQ_U64(wrong, 0);
    CHECK_OK(tml, tml_buffer_read_count(tml, total, &count));
    CHECK_EQ_U64(count, COUNT);

    CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_odd_index),
                                                       .payloads = {{out, in}},
                                                       .count = total}));
    CHECK_OK(tml, tml_buffer_read(tml, in, sums));
    CHECK_OK(tml, tml_buffer_read_count(tml, total, &count));
    CHECK_EQ_U64(count, COUNT / 2);
    for (uint32_t i = 0; i < COUNT / 2; i++)
        wrong += sums[i] != 2 * i + 1;
    CHECK_EQ_U64(wrong, 0);

    tml_buffer counts = buffer_of(tml, TML_U32, 700, sums),
               source = buffer_of(tml, TML_U32, COUNT, NULL);
    CHECK_OK(tml, tml_expand(
                      tml, &(tml_expand_desc){.counts = counts, .source = source, .total = total}));
    CHECK_OK(tml, tml_buffer_read_count(tml, total, &count));
    CHECK_EQ_U64(count, 490000); /* the sum of the first 700 odd numbers */
    CHECK_OK(tml, tml_buffer_read(tml, source, sums));
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += (uint64_t)sums[i] * sums[i] > i || (sums[i] + 1ull) * (sums[i] + 1ull) <= i;
    CHECK_EQ_U64(wrong, 0);
}

TEST(an_own_parallel_for_does_the_work)
{
    void (*const hooks[])(void *, uint32_t, tml_task_fn, void *) = {run_serially, run_in_threads};
    for (int h = 0; h < 2; h++) {
        uint32_t loops = 0;
        tml_context *tml = NULL;
        tml_open_desc desc = {.engine = TML_ENGINE_CPU,
                              .parallel = {.run = hooks[h], .concurrency = 5, .user = &loops}};
        CHECK_OK(NULL, tml_open(&desc, &tml));
        CHECK_EQ_U64(test_described(tml).concurrency, 5);
        _Atomic uint64_t sum = 0;
        tml_parallel_for(tml, 100, add_index, &sum);
        CHECK_EQ_U64(sum, 5050);
        CHECK_EQ_U64(loops, 1);
        use_streams(tml);
        CHECK(loops > 3);
        tml_close(tml);
    }
}

TEST(the_own_pool_runs_each_index_once)
{
    for (uint32_t threads = 1; threads <= 9; threads += 4) {
        tml_context *tml = NULL;
        CHECK_OK(NULL,
                 tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = threads}, &tml));
        _Atomic uint64_t sum = 0;
        tml_parallel_for(tml, 0, add_index, &sum);
        CHECK_EQ_U64(sum, 0);
        for (int round = 0; round < 200; round++)
            tml_parallel_for(tml, 37, add_index, &sum);
        CHECK_EQ_U64(sum, 200 * 37 * 38 / 2);
        use_streams(tml);
        tml_close(tml);
    }
}

/* Tasks that wait until as many have started: each needs a thread of its own. */
typedef struct meeting {
    atomic_uint started;
    uint32_t expected;
    atomic_bool is_late;
} meeting;

static void meet(void *argument, uint32_t index)
{
    meeting *m = argument;
    (void)index;
    atomic_fetch_add(&m->started, 1);
    time_t end = time(NULL) + 30;
    while (atomic_load(&m->started) < m->expected && time(NULL) < end)
        usleep(1);
    if (atomic_load(&m->started) < m->expected)
        atomic_store(&m->is_late, true);
}

/* Workers that spin, that sleep, and that are about to. */
TEST(the_own_pool_wakes_its_workers)
{
    for (uint32_t threads = 2; threads <= 5; threads++) {
        tml_context *tml = NULL;
        CHECK_OK(NULL,
                 tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = threads}, &tml));
        for (uint32_t round = 0; round < 60; round++) {
            meeting m = {.expected = 2 + round % (threads - 1)};
            if (round % 3)
                usleep(round % 3 == 1 ? 10 * round / 3 : 1000);
            tml_parallel_for(tml, m.expected, meet, &m);
            CHECK(atomic_load(&m.started) == m.expected && !atomic_load(&m.is_late));
        }
        tml_close(tml);
    }
}

TEST(the_log_hook_hears_what_last_error_says)
{
    char message[768] = "";
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .log = keep_message, .log_user = message};
    CHECK_OK(NULL, tml_open(&desc, &tml));
    CHECK_STATUS(tml_buffer_read(tml, none, NULL), TML_ERROR_INVALID_HANDLE);
    CHECK(message[0] && strcmp(message, tml_last_error(tml)) == 0);
    tml_log(tml, TML_LOG_ERROR, "%d %s", 42, "things");
    CHECK_STR(message, "42 things");
    CHECK_STATUS(tml_error(tml, TML_ERROR_FILE_FORMAT, "again: %s", tml_last_error(tml)),
                 TML_ERROR_FILE_FORMAT);
    CHECK(strncmp(tml_last_error(tml), "again: tml_buffer_read", 15) == 0);
    tml_close(tml);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

TEST(a_cancelled_context_refuses_work_until_cleared)
{
    tml_context *tml = open_plain();
    tml_buffer in = buffer_of(tml, TML_F32, 10, NULL), out = buffer_of(tml, TML_F32, 10, NULL);
    tml_map_desc desc = {.kernel = TML_USE(twice), .in = {in}, .out = {out}};
    CHECK(!tml_is_cancelled(tml));
    tml_cancel(tml);
    CHECK(tml_is_cancelled(tml));
    CHECK(FAILS(tml, tml_map(tml, &desc), TML_ERROR_CANCELLED, "tml_map|cancel"));
    CHECK(FAILS(tml, tml_map(tml, &desc), TML_ERROR_CANCELLED, "tml_cancel_clear"));
    tml_cancel_clear(tml);
    CHECK_OK(tml, tml_map(tml, &desc));
    tml_close(tml);
}

static void *cancel_soon(void *tml)
{
    usleep(20000);
    tml_cancel(tml);
    return NULL;
}

TEST(another_thread_can_cancel)
{
    enum { COUNT = 1 << 23 };
    tml_context *tml = open_plain();
    tml_buffer in = buffer_of(tml, TML_F32, COUNT, NULL),
               out = buffer_of(tml, TML_F32, COUNT, NULL);
    void *memory;
    CHECK_OK(tml, tml_buffer_map(tml, in, &memory));
    memset(memory, 0, COUNT * sizeof(float));
    tml_buffer_unmap(tml, in);
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, tml);
    CHECK_STATUS(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(slow), .in = {in}, .out = {out}}),
                 TML_ERROR_CANCELLED);
    pthread_join(thread, NULL);
    tml_cancel_clear(tml);
    tml_map_desc brief = {
        .kernel = TML_USE(twice), .in = {in}, .out = {out}, .length = {.count = 9}};
    CHECK_OK(tml, tml_map(tml, &brief)); /* the context and its buffers are well */
    tml_close(tml);
}

static bool stop_at_half(void *user, const char *stage, double fraction)
{
    (*(uint32_t *)user)++;
    return stage[0] != '\0' && fraction < 0.5;
}

TEST(the_progress_hook_can_cancel)
{
    uint32_t calls = 0;
    tml_context *tml = NULL;
    tml_open_desc desc = {.progress = stop_at_half, .progress_user = &calls};
    CHECK_OK(NULL, tml_open(&desc, &tml));
    CHECK(tml_progress(tml, "first half", 0.25));
    CHECK(!tml_is_cancelled(tml));
    CHECK(!tml_progress(tml, "second half", 0.75));
    CHECK(!tml_is_cancelled(tml)); /* no call was in progress that it would have stopped */
    CHECK_EQ_U64(calls, 2);
    CHECK(tml_progress(tml, "once more", 0.1));
    tml_close(tml);
}

/* ---- what the operations refuse -------------------------------------------------------------- */

TEST(refusals_name_call_field_values_and_remedy)
{
    tml_context *tml = open_plain();
    tml_buffer f10 = buffer_of(tml, TML_F32, 10, NULL), f5 = buffer_of(tml, TML_F32, 5, NULL);
    tml_buffer u10 = buffer_of(tml, TML_U32, 10, NULL), b10 = buffer_of(tml, TML_U8, 10, NULL);
    tml_buffer d10 = buffer_of(tml, TML_F64, 10, NULL), one64 = buffer_of(tml, TML_U64, 1, NULL);
    tml_buffer one32 = buffer_of(tml, TML_U32, 1, NULL), h10 = buffer_of(tml, TML_F16, 10, NULL);

    tml_map_desc map = {.in = {f10}, .out = {f10}};
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "tml_map|kernel|NULL"));
    map.kernel = TML_USE(twice);
    map.out[0] = f5;
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "out|5 elements|needs 10"));
    map.out[0] = u10;
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "out|u32|needs f32"));
    map = (tml_map_desc){.kernel = TML_USE(twice), .in = {u10}, .out = {f10}};
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "in[0]|u32|twice|f32"));
    map.in[0] = f10;
    map.in[1] = f5;
    map.out[0] = d10;
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "in[1]|takes only 1"));
    map = (tml_map_desc){.kernel = TML_USE(twice), .in = {f10}, .out = {f10}, .length.count = 11};
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "in[0]|10|11"));
    map.length = (tml_length){.device = f5};
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "length.device|f32|u32, u64"));
    map.length = (tml_length){.device = one64, .device_index = 1};
    CHECK(FAILS(tml, tml_map(tml, &map), TML_ERROR_INVALID_ARGUMENT, "length.device|1|2"));

    tml_reduce_desc reduce = {.in = u10, .folds = {{TML_FOLD_SUM, f10}}};
    CHECK(
        FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT, "tml_reduce|out|f32|u64"));
    reduce = (tml_reduce_desc){.in = u10, .folds = {{(tml_fold)77, one64}}};
    CHECK(FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT, "fold|77"));
    tml_buffer points = buffer_of(tml, TML_VEC(TML_F32, 3), 10, NULL);
    reduce = (tml_reduce_desc){.in = points, .folds = {{TML_FOLD_MIN, f10}}};
    CHECK(FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT, "out|f32|needs f32x3"));
    reduce = (tml_reduce_desc){.in = points, .folds = {{TML_FOLD_MEAN, d10}}};
    CHECK(FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT, "f64x3, f32x3"));
    reduce.in = buffer_of(tml, TML_VEC(TML_U16, 2), 10, NULL);
    CHECK(FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT,
                "in|u16x2|vectors of scalars of 4 or 8"));
    reduce.in = buffer_of(tml, TML_RECORD(12), 10, NULL);
    CHECK(FAILS(tml, tml_reduce(tml, &reduce), TML_ERROR_INVALID_ARGUMENT, "in|record|scalars"));

    tml_scan_desc scan = {.in = b10, .out = f10};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "tml_scan|out|f32|u32"));
    scan = (tml_scan_desc){.in = h10, .out = f10};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "in|f16"));
    scan = (tml_scan_desc){.in = u10, .out = u10, .method = (tml_method)66};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "method|66"));
    scan.method = TML_METHOD_HISTOPYRAMID;
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_UNSUPPORTED, "tml_scan|cpu|method"));
    scan = (tml_scan_desc){.in = u10, .out = u10, .total = u10};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "total|overlaps"));
    scan = (tml_scan_desc){.in = u10, .out = u10, .fold = TML_FOLD_MEAN};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "fold|5|TML_FOLD_MAX"));
    scan =
        (tml_scan_desc){.in = u10, .out = buffer_of(tml, TML_U64, 10, NULL), .fold = TML_FOLD_MIN};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "out|u64|u32"));
    scan = (tml_scan_desc){.in = u10, .out = u10, .start = f10};
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "start|f32|u32"));
    scan.start = u10;
    CHECK(FAILS(tml, tml_scan(tml, &scan), TML_ERROR_INVALID_ARGUMENT, "start|overlaps"));

    tml_compact_desc compact = {.payloads = {{f10, d10}}, .keep.flags = b10};
    CHECK(
        FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "payloads[0]|f64|f32"));
    compact = (tml_compact_desc){.payloads = {{f10, f5}}, .keep = {.flags = b10, .mask = one32}};
    CHECK(FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "keep|exactly one"));
    compact.keep = (tml_keep){.mask = none};
    CHECK(FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "keep|exactly one"));
    compact.keep = (tml_keep){.kernel = TML_USE(twice)};
    CHECK(FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "keep.kernel|bool"));
    compact = (tml_compact_desc){.payloads = {{f10, f10}}, .keep.flags = b10, .partition = true};
    CHECK(
        FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "tml_compact|overlaps"));
    compact.partition = false;
    compact.method = TML_METHOD_HISTOPYRAMID;
    CHECK(FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT, "overlaps"));
    compact = (tml_compact_desc){
        .keep.kernel = TML_USE(is_odd_index), .length.count = (uint64_t)1 << 33, .count = one32};
    CHECK(FAILS(tml, tml_compact(tml, &compact), TML_ERROR_INVALID_ARGUMENT,
                "count|u32|8589934592|u64"));

    tml_expand_desc expand = {.counts = u10, .count_kernel = TML_USE(own_count), .in = {u10}};
    CHECK(
        FAILS(tml, tml_expand(tml, &expand), TML_ERROR_INVALID_ARGUMENT, "tml_expand|counts|both"));
    expand = (tml_expand_desc){.counts = f10};
    CHECK(FAILS(tml, tml_expand(tml, &expand), TML_ERROR_INVALID_ARGUMENT,
                "counts|f32|u8, u16, u32"));
    expand = (tml_expand_desc){.counts = u10, .out = {f10}};
    CHECK(FAILS(tml, tml_expand(tml, &expand), TML_ERROR_INVALID_ARGUMENT, "out|emit_kernel"));
    expand = (tml_expand_desc){.counts = u10, .source = u10};
    CHECK(
        FAILS(tml, tml_expand(tml, &expand), TML_ERROR_INVALID_ARGUMENT, "source|overlaps|counts"));
    expand = (tml_expand_desc){.counts = u10, .method = TML_METHOD_LOOK_BACK};
    CHECK(FAILS(tml, tml_expand(tml, &expand), TML_ERROR_UNSUPPORTED, "tml_expand|cpu|method"));

    tml_unique_desc unique = {.in = f10, .values = d10};
    CHECK(FAILS(tml, tml_unique(tml, &unique), TML_ERROR_INVALID_ARGUMENT,
                "tml_unique|values|f64|f32"));
    unique = (tml_unique_desc){.in = f10, .starts = u10, .lengths = u10};
    CHECK(FAILS(tml, tml_unique(tml, &unique), TML_ERROR_INVALID_ARGUMENT,
                "lengths|overlaps|starts"));

    tml_reduce_desc folds = {.in = f10, .segments.offsets = f10, .folds = {{TML_FOLD_SUM, d10}}};
    CHECK(FAILS(tml, tml_reduce(tml, &folds), TML_ERROR_INVALID_ARGUMENT,
                "tml_reduce|segments.offsets|f32|u32, u64"));
    folds.segments.offsets = buffer_of(tml, TML_U32, 12, NULL);
    CHECK(FAILS(tml, tml_reduce(tml, &folds), TML_ERROR_INVALID_ARGUMENT, "out|10|11"));
    folds.segments.offsets = buffer_of(tml, TML_U32, 0, NULL);
    CHECK(FAILS(tml, tml_reduce(tml, &folds), TML_ERROR_INVALID_ARGUMENT, "offsets|0|1"));
    tml_scan_desc scans = {.in = f10, .segments.offsets = u10, .out = d10};
    CHECK(FAILS(tml, tml_scan(tml, &scans), TML_ERROR_INVALID_ARGUMENT, "tml_scan|out|f64|f32"));
    tml_close(tml);
}

TEST(a_refused_call_changes_nothing)
{
    tml_context *tml = open_plain();
    const uint32_t seven[4] = {7, 7, 7, 7};
    uint32_t now[4];
    tml_buffer in = buffer_of(tml, TML_U32, 4, seven), out = buffer_of(tml, TML_U32, 4, seven);
    tml_scan_desc desc = {.in = in, .out = out, .total = buffer_of(tml, TML_U64, 1, NULL)};
    CHECK_STATUS(tml_scan(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_buffer_read(tml, out, now));
    CHECK(memcmp(now, seven, sizeof seven) == 0);
    tml_close(tml);
}

/* ---- scratch --------------------------------------------------------------------------------- */

/* One call of each operation that needs scratch, on the same 5000 elements. */
typedef struct scratch_calls {
    tml_reduce_desc reduce;
    tml_scan_desc scan;
    tml_compact_desc compact, partition;
    tml_expand_desc expand;
    tml_unique_desc unique;
    tml_reduce_desc reduce_segments;
    tml_scan_desc scan_segments;
} scratch_calls;

enum { SCRATCH_OPS = 8, SCRATCH_COUNT = 5000 };

static void fill_calls(tml_context *tml, scratch_calls *calls)
{
    static uint32_t numbers[SCRATCH_COUNT];
    static uint8_t flags[SCRATCH_COUNT];
    for (uint32_t i = 0; i < SCRATCH_COUNT; i++) {
        numbers[i] = i;
        flags[i] = i % 3 == 0;
    }
    tml_buffer in = buffer_of(tml, TML_U32, SCRATCH_COUNT, numbers);
    tml_buffer keep = buffer_of(tml, TML_U8, SCRATCH_COUNT, flags);
    tml_buffer out = buffer_of(tml, TML_U64, SCRATCH_COUNT, NULL);
    tml_buffer same = buffer_of(tml, TML_U32, SCRATCH_COUNT, NULL);
    *calls = (scratch_calls){
        .reduce = {.in = in, .folds = {{TML_FOLD_SUM, out}}},
        .scan = {.in = in, .out = out},
        .compact = {.keep.flags = keep, .payloads = {{in, same}}},
        .partition = {.keep.flags = keep, .payloads = {{in, same}}, .partition = true},
        .expand = {.counts = keep, .source = out},
        .unique = {.in = in, .values = same, .lengths = out},
        .reduce_segments = {.in = in, .segments.offsets = in, .folds = {{TML_FOLD_SUM, out}}},
        .scan_segments = {.in = in, .segments.offsets = in, .out = out},
    };
}

static size_t scratch_size_of(tml_context *tml, const scratch_calls *calls, int op)
{
    switch (op) {
    case 0:
        return SCRATCH_OF(tml, tml_reduce(tml, &calls->reduce));
    case 1:
        return SCRATCH_OF(tml, tml_scan(tml, &calls->scan));
    case 2:
        return SCRATCH_OF(tml, tml_compact(tml, &calls->compact));
    case 3:
        return SCRATCH_OF(tml, tml_compact(tml, &calls->partition));
    case 4:
        return SCRATCH_OF(tml, tml_expand(tml, &calls->expand));
    case 5:
        return SCRATCH_OF(tml, tml_unique(tml, &calls->unique));
    case 6:
        return SCRATCH_OF(tml, tml_reduce(tml, &calls->reduce_segments));
    default:
        return SCRATCH_OF(tml, tml_scan(tml, &calls->scan_segments));
    }
}

static tml_status run_call(tml_context *tml, scratch_calls *calls, int op, tml_buffer scratch)
{
    switch (op) {
    case 0:
        calls->reduce.scratch = scratch;
        return tml_reduce(tml, &calls->reduce);
    case 1:
        calls->scan.scratch = scratch;
        return tml_scan(tml, &calls->scan);
    case 2:
        calls->compact.scratch = scratch;
        return tml_compact(tml, &calls->compact);
    case 3:
        calls->partition.scratch = scratch;
        return tml_compact(tml, &calls->partition);
    case 4:
        calls->expand.scratch = scratch;
        return tml_expand(tml, &calls->expand);
    case 5:
        calls->unique.scratch = scratch;
        return tml_unique(tml, &calls->unique);
    case 6:
        calls->reduce_segments.scratch = scratch;
        return tml_reduce(tml, &calls->reduce_segments);
    default:
        calls->scan_segments.scratch = scratch;
        return tml_scan(tml, &calls->scan_segments);
    }
}

TEST(reserved_scratch_is_enough)
{
    for (int op = 0; op < SCRATCH_OPS; op++) {
        meter m = {0};
        tml_context *tml = open_metered(&m);
        scratch_calls calls;
        fill_calls(tml, &calls);
        size_t size = scratch_size_of(tml, &calls, op);
        CHECK(size > 0);
        CHECK_OK(tml, tml_reserve(tml, size));
        CHECK(test_reserved(tml) >= size);
        uint64_t before = m.calls;
        CHECK_OK(tml, run_call(tml, &calls, op, none));
        CHECK_EQ_U64(m.calls, before);
        tml_close(tml);
        CHECK_EQ_I64(m.live, 0);
    }
}

TEST(scratch_of_the_callers_is_used_when_it_is_large_enough)
{
    for (int op = 0; op < SCRATCH_OPS; op++) {
        tml_context *tml = open_plain();
        scratch_calls calls;
        fill_calls(tml, &calls);
        size_t size = scratch_size_of(tml, &calls, op);
        unsigned char *memory = malloc(size + 1);
        tml_buffer scratch, small = buffer_of(tml, TML_U8, 1, NULL);
        tml_buffer_desc desc = {.type = TML_U8, .count = size, .host = memory + 1};
        CHECK_OK(tml, tml_buffer_create(tml, &desc, &scratch));
        CHECK_OK(tml, run_call(tml, &calls, op, scratch));
        CHECK_EQ_U64(test_reserved(tml), 0);
        CHECK(FAILS(tml, run_call(tml, &calls, op, small), TML_ERROR_SCRATCH_TOO_SMALL,
                    "scratch is 1 bytes|tml_prepare_end"));
        tml_close(tml);
        free(memory);
    }
}

TEST(an_arena_that_cannot_grow_leaves_the_context_well)
{
    tml_context *tml = open_plain();
    CHECK_OK(tml, tml_reserve(tml, 0));
    CHECK(FAILS(tml, tml_reserve(tml, SIZE_MAX / 4 * 3), TML_ERROR_OUT_OF_MEMORY,
                "tml_reserve|scratch"));
    use_streams(tml);
    CHECK(test_reserved(tml) > 0);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
