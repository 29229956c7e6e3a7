/* Compiled programs of OpenGL ES from one context to the next (tml_cache), and which kernel a
 * program is for. The driver between counts the shaders that it compiles. */
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "test.h"

#include "gl_driver.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_odd, (uint x), { return (x & 1u) != 0u; })
TML_KERNEL(uint, plus_one, (uint x), { return x + 1u; })
TML_KERNEL(uint, two_bits, (uint x), { return x & 3u; })

#include <trommel/kernel_end.h>

enum { COUNT = 3001, HEAD = 16, ENTRY = 32 };

/* A lent context of OpenGL, and the library's on it. */
static own_context own;

static bool open_context(const tml_gl_desc *base, tml_context **tml)
{
    tml_gl_desc desc = *base;
    desc.lend_current = true;
    desc.get_proc_address = find_wrapped;
    memset(&gl_driver, 0, sizeof gl_driver);
    return CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, tml));
}

/* Several operations with a kernel and without; right or not. */
static void work(tml_context *tml)
{
    uint32_t numbers[COUNT], sums[COUNT], kept[COUNT], sum = 0, odd = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = i * 2654435761u >> 20;
    tml_buffer in, scanned, some, count;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT, .data = numbers}, &in));
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT}, &scanned));
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COUNT}, &some));
    CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &count));
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in, .out = scanned, .inclusive = true}));
    CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_odd)},
                                                       .payloads = {{in, some}},
                                                       .count = count}));
    CHECK_OK(tml, tml_buffer_read(tml, scanned, sums));
    CHECK_OK(tml, tml_buffer_read(tml, some, kept));
    for (uint32_t i = 0; i < COUNT; i++) {
        sum += numbers[i];
        bool is_right = sums[i] == sum;
        if (numbers[i] & 1)
            is_right = kept[odd++] == numbers[i] && is_right;
        if (!CHECK(is_right))
            break;
    }
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, scanned);
    tml_buffer_destroy(tml, some);
    tml_buffer_destroy(tml, count);
}

/* The programs of a context that has done the work, for free(). */
static uint8_t *take_cache(tml_context *tml, size_t *size)
{
    CHECK_OK(tml, tml_cache(tml, NULL, size));
    uint8_t *data = malloc(*size);
    const size_t asked = *size;
    CHECK_OK(tml, tml_cache(tml, data, size));
    CHECK_EQ_U64(*size, asked);
    return data;
}

static uint8_t *compiled_cache(size_t *size)
{
    tml_context *tml;
    if (!open_context(&(tml_gl_desc){0}, &tml))
        return NULL;
    work(tml);
    uint8_t *data = take_cache(tml, size);
    tml_close(tml);
    return data;
}

/* How many shaders the work compiles in a new context that was given this. */
static uint32_t compiled_with(const void *data, size_t size)
{
    tml_context *tml;
    uint32_t compiled = UINT32_MAX;
    if (open_context(&(tml_gl_desc){0}, &tml)) {
        uint8_t *exact = malloc(size); /* so that a byte too much is seen */
        memcpy(exact, data, size);
        CHECK_OK(tml, tml_cache_add(tml, exact, size));
        free(exact);
        gl_driver.compiled = 0;
        work(tml);
        compiled = gl_driver.compiled;
        tml_close(tml);
        CHECK_EQ_I64(gl_driver.live, 0);
        CHECK_EQ_U64(gl.GetError(), GL_NO_ERROR);
    }
    return compiled;
}

/* Programs in data, each with a whole number of words. */
static uint32_t program_count(const uint8_t *data, size_t size)
{
    uint32_t count = 0, binary;
    for (size_t at = HEAD; at + ENTRY <= size; at += ENTRY + ((size_t)binary + 7) / 8 * 8, count++)
        memcpy(&binary, data + at + 28, sizeof binary);
    return count;
}

static bool has_binaries(void)
{
    GLint formats = 0;
    gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    return formats > 0;
}

/* Leaves a test where there is no driver. */
#define OPEN_OR_SKIP()                                                                             \
    if (!own_open(&own))                                                                           \
        SKIP("no OpenGL ES 3 through EGL");                                                        \
    if (!has_binaries()) {                                                                         \
        own_close(&own);                                                                           \
        SKIP("the driver has no binaries of programs");                                            \
    }

TEST(a_second_context_compiles_nothing)
{
    OPEN_OR_SKIP()
    size_t size, again;
    uint8_t *data = compiled_cache(&size);
    const uint32_t programs = program_count(data, size);
    CHECK(programs > 3 && memcmp(data, "tmlglpr1", 8) == 0);
    CHECK_EQ_U64(compiled_with(data, HEAD), programs); /* without them, each is compiled */
    CHECK_EQ_U64(compiled_with(data, size), 0);
    /* What was given goes on, with what is new. */
    tml_context *tml;
    if (open_context(&(tml_gl_desc){0}, &tml)) {
        CHECK_OK(tml, tml_cache_add(tml, data, size));
        CHECK_OK(tml, tml_cache_add(tml, data, size)); /* twice is once */
        uint8_t *same = take_cache(tml, &again);
        CHECK(again == size && memcmp(same, data, size) == 0);
        free(same);
        work(tml);
        tml_buffer in;
        CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 5}, &in));
        CHECK_OK(tml, tml_map(tml, &(tml_map_desc){
                                       .kernel = TML_USE(plus_one), .in = {in}, .out = {in}}));
        uint8_t *more = take_cache(tml, &again);
        CHECK(again > size && memcmp(more, data, size) == 0);
        CHECK_EQ_U64(program_count(more, again),
                     programs + gl_driver.compiled - 3); /* - tml_open's */
        CHECK_EQ_U64(compiled_with(more, again), 0);
        free(more);
        tml_close(tml);
    }
    free(data);
    own_close(&own);
}

TEST(in_less_room_stands_what_fits)
{
    OPEN_OR_SKIP()
    tml_context *tml;
    size_t whole;
    if (open_context(&(tml_gl_desc){0}, &tml)) {
        work(tml);
        uint8_t *data = take_cache(tml, &whole);
        const size_t rooms[] = {0, HEAD - 1, HEAD, HEAD + ENTRY, whole / 2, whole - 1, whole};
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            uint8_t *part = malloc(rooms[i] ? rooms[i] : 1);
            size_t size = rooms[i];
            CHECK_OK(tml, tml_cache(tml, part, &size));
            CHECK(size <= rooms[i] && (size >= HEAD) == (rooms[i] >= HEAD));
            CHECK(rooms[i] < whole || size == whole);
            CHECK(size < HEAD || memcmp(part, data, HEAD) == 0);
            if (rooms[i] == whole - 1)
                CHECK(program_count(part, size) == program_count(data, whole) - 1);
            free(part);
        }
        free(data);
        tml_close(tml);
    }
    own_close(&own);
}

TEST(damaged_and_foreign_data_is_compiled_instead)
{
    OPEN_OR_SKIP()
    size_t size;
    uint8_t *data = compiled_cache(&size);
    const uint32_t programs = program_count(data, size);
    /* Cut: programs before it are good. */
    const size_t cuts[] = {0, 1, HEAD - 1, HEAD + 1, HEAD + ENTRY, HEAD + ENTRY + 9, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        uint32_t compiled = compiled_with(data, cuts[i]);
        CHECK_EQ_U64(compiled, cuts[i] == size - 1 ? 1 : programs);
    }
    /* A byte changed: of the magic, the driver, a checksum, the binary's size (far too large), the
     * binary. */
    const size_t places[] = {0, 8, 15, HEAD + 16, HEAD + 31, HEAD + ENTRY, HEAD + ENTRY + 40};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        data[places[i]] ^= 0x41;
        CHECK_EQ_U64(compiled_with(data, size), programs);
        data[places[i]] ^= 0x41;
    }
    CHECK_EQ_U64(compiled_with(data, size), 0);
    free(data);
    own_close(&own);
}

/* A driver may refuse its own binary after all, and any that is whole but nonsense. */
static uint32_t refusals;

static bool refuse_binary(const char *name)
{
    return strcmp(name, "glLinkProgram") == 0 && refusals > 0 && refusals-- > 0;
}

TEST(what_the_driver_refuses_is_compiled)
{
    OPEN_OR_SKIP()
    size_t size;
    uint8_t *data = compiled_cache(&size);
    const uint32_t programs = program_count(data, size);
    tml_context *tml;
    if (open_context(&(tml_gl_desc){0}, &tml)) {
        CHECK_OK(tml, tml_cache_add(tml, data, size));
        refusals = 1;
        gl_driver.ask = refuse_binary;
        gl_driver.compiled = 0;
        work(tml);
        CHECK_EQ_U64(gl_driver.compiled, 1);
        gl_driver.ask = NULL;
        size_t again;
        uint8_t *whole = take_cache(tml, &again); /* with the compiled one in its place */
        CHECK_EQ_U64(program_count(whole, again), programs);
        CHECK_EQ_U64(compiled_with(whole, again), 0);
        free(whole);
        tml_close(tml);
    }
    /* Nonsense of every program, with the right checksums: FNV-1a. */
    uint32_t binary;
    for (size_t at = HEAD; at + ENTRY <= size; at += ENTRY + ((size_t)binary + 7) / 8 * 8) {
        memcpy(&binary, data + at + 28, sizeof binary);
        uint64_t hash = 0xcbf29ce484222325u;
        for (uint32_t i = 0; i < binary; i++) {
            data[at + ENTRY + i] = (uint8_t)(i * 7);
            hash = (hash ^ data[at + ENTRY + i]) * 0x100000001b3u;
        }
        memcpy(data + at + 16, &hash, sizeof hash);
    }
    CHECK_EQ_U64(compiled_with(data, size), programs);
    free(data);
    own_close(&own);
}

TEST(a_driver_without_binaries_has_a_header_alone)
{
    OPEN_OR_SKIP()
    size_t size;
    uint8_t *data = compiled_cache(&size);
    memset(&gl_driver, 0, sizeof gl_driver);
    static const char *const functions[] = {"glGetProgramBinary", "glProgramBinary",
                                            "glProgramParameteri"};
    for (int i = 0; i < 3; i++) {
        tml_context *tml;
        const tml_gl_desc desc = {.lend_current = true, .get_proc_address = find_wrapped};
        gl_driver.missing = functions[i];
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml)))
            break;
        CHECK_OK(tml, tml_cache_add(tml, data, size));
        gl_driver.compiled = 0;
        work(tml);
        CHECK(gl_driver.compiled > 0);
        size_t own_size;
        uint8_t *alone = take_cache(tml, &own_size);
        CHECK(own_size == HEAD && memcmp(alone, data, HEAD) == 0);
        free(alone);
        tml_close(tml);
    }
    free(data);
    own_close(&own);
}

TEST(the_float_tier_has_programs_of_its_own)
{
    OPEN_OR_SKIP()
    uint8_t *data = NULL;
    size_t size = 0;
    for (int run = 0; run < 2; run++) {
        tml_context *tml;
        if (!open_context(&(tml_gl_desc){.path = TML_GL_PATH_PACKED}, &tml))
            break;
        if (data)
            CHECK_OK(tml, tml_cache_add(tml, data, size));
        const float numbers[5] = {1, 2, 3, 4, 5};
        tml_buffer in, sum;
        float total;
        CHECK_OK(tml,
                 tml_buffer_create(
                     tml, &(tml_buffer_desc){.type = TML_F32, .count = 5, .data = numbers}, &in));
        CHECK_OK(tml,
                 tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 1}, &sum));
        gl_driver.compiled = 0;
        CHECK_OK(tml,
                 tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_SUM, sum}}}));
        CHECK_OK(tml, tml_buffer_read(tml, sum, &total));
        CHECK_NEAR(total, 15, 0);
        CHECK((gl_driver.compiled == 0) == (run == 1));
        free(data);
        data = take_cache(tml, &size);
        tml_close(tml);
    }
    free(data);
    own_close(&own);
}

TEST(a_kernel_is_known_by_its_text_and_not_its_place)
{
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml) != TML_OK)
        SKIP("no OpenGL ES device");
    const uint32_t numbers[3] = {5, 6, 7};
    uint32_t results[3];
    tml_buffer in, out;
    CHECK_OK(tml, tml_buffer_create(
                      tml, &(tml_buffer_desc){.type = TML_U32, .count = 3, .data = numbers}, &in));
    CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 3}, &out));
    /* One struct, and one text, for one kernel after another. */
    char text[200], name[20];
    tml_kernel kernel = *TML_USE(plus_one);
    kernel.glsl = text;
    kernel.name = name;
    const tml_kernel *const kernels[] = {TML_USE(plus_one), TML_USE(two_bits), TML_USE(plus_one)};
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "%s", kernels[k]->glsl);
        snprintf(name, sizeof name, "%s", kernels[k]->name);
        CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = &kernel, .in = {in}, .out = {out}}));
        CHECK_OK(tml, tml_buffer_read(tml, out, results));
        for (int i = 0; i < 3; i++)
            CHECK_EQ_U64(results[i], k == 1 ? numbers[i] & 3 : numbers[i] + 1);
    }
    tml_close(tml);
}

TEST(the_cpu_engine_has_an_empty_cache)
{
    tml_context *tml;
    uint8_t data[HEAD] = "tmlglpr1";
    size_t size = sizeof data;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        return;
    CHECK_OK(tml, tml_cache(tml, data, &size));
    CHECK_EQ_U64(size, 0);
    CHECK_OK(tml, tml_cache_add(tml, data, sizeof data)); /* ignored */
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
