/* Every kernel file, and users' kernels of every parameter kind, in all three languages: as C (this
 * program includes them all), as Vulkan GLSL (glslang, then spirv-val; glslc too where it is) and
 * as GLSL ES 3.00 (glslang). The members of each argument struct must lie where C puts them. */
#include <errno.h>
#include <fcntl.h>
#ifndef _WIN32
#    include <spawn.h>
#    include <sys/wait.h>
#endif

#include "kernel_list.h" /* the kernel files themselves */
#include "test.h"

#include "core/simd.h"
#include "gpu/kernel_glue.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f && !is_nan(x); })
TML_KERNEL(float, widen, (uint a, int b), { return F(min(a, 7u)) + F(abs(b)); })
TML_KERNEL(int, cross_sign, (vec2 a, vec2 b), { return I(sign(a.x * b.y - a.y * b.x)); })
TML_KERNEL(vec2, flatten, (vec3 a, vec4 b), { return VEC2(dot3(a, a), length2(VEC2(b.x, b.w))); })
TML_KERNEL(vec3, move, (vec3 a, tml_params p),
           { return add3(scale3(a, p.f[0]), VEC3(F(p.u[0]), 0.0f, 1.0f)); })
TML_KERNEL(vec3, turn, (vec3 a, tml_params p), {
    return add3(transform3(p.m, a),
                scale3(a, p.m[15] * transform4(p.m, VEC4(a.x, 0.0f, p.f[1], 1.0f)).w));
})
TML_KERNEL(vec4, spread, (float x, tml_index i, tml_rank k),
           { return VEC4(x, F(i), F(k), floor(x)); })
TML_KERNEL(uint, loop, (uint n), {
    uint sum = 0u;
    for (uint i = 0u; i < n; i++)
        sum += popcount32(i);
    return sum;
})
TML_KERNEL(uvec3, turned, (uvec2 a, uvec4 b, uint c), { return UVEC3(a.y, b.w + a.x, c); })
TML_KERNEL(uvec4, joined, (uvec3 a, tml_params p), { return UVEC4(a.z, a.y, a.x, p.u[3]); })
TML_KERNEL(uvec2, looked_up,
           (uint x, tml_words a, tml_words b, tml_index i, tml_rank k, tml_params p),
           { return UVEC2(tml_word(a, x + k) + p.u[0], floatBitsToUint(tml_word_float(b, U(i)))); })
/* clang-format off */
TML_LIBRARY(smooth,
    TABLE_BEGIN(float, smooth_factors, 2) 3.0f, 2.0f TABLE_END

    FUNCTION(float) smooth_step(tml_words x, uint i) {
        float t = clamp(tml_word_float(x, i), 0.0f, 1.0f);
        return t * t * (smooth_factors[0] - smooth_factors[1] * t);
    }
)
/* clang-format on */
TML_KERNEL_WITH(smooth, float, smoothed, (uint i, tml_words x), { return smooth_step(x, i + 1u); })
TML_KERNEL(double, average, (double a, double b), { return a < b ? (a + b) * 0.5 : floor(a); })
TML_KERNEL(uint64, wide, (uint64 a, int64 b), { return b > 0 ? max(a, a + 1u) : a; })
TML_KERNEL(int64, shifted, (int64 a, uint n), { return a * 2 - I(n); })

TML_KERNEL(vec4, drawn, (uint a, tml_words w), {
    vec2 two = add2(tml_word_vec2(w, a), VEC2(tml_word_vec3(w, a).z, tml_word_vec4(w, a).w));
    return VEC4(two.x, two.y, F(tml_random(a, 1u, 2u).y),
                tml_random_float(a, tml_random_uint(a, 0u)));
})

#include <trommel/kernel_end.h>

/* Kernels with 64-bit parameters or results: Vulkan only, where the device has them. */
static const tml_kernel *const user_kernels[] = {
    TML_USE(is_positive), TML_USE(widen),    TML_USE(cross_sign), TML_USE(flatten), TML_USE(move),
    TML_USE(spread),      TML_USE(loop),     TML_USE(turned),     TML_USE(turn),    TML_USE(joined),
    TML_USE(looked_up),   TML_USE(smoothed), TML_USE(drawn)};
static const tml_kernel *const wide_kernels[] = {TML_USE(average), TML_USE(wide), TML_USE(shifted)};

typedef struct kernel_file {
    const char *path;
} kernel_file;
#define KERNEL_FILE(path) {path},
static const kernel_file kernel_files[] = {KERNEL_FILES(KERNEL_FILE)};

typedef struct kernel_arg {
    const char *path, *type, *member;
    size_t offset;
} kernel_arg;
#define KERNEL_ARG(path, type, member) {path, #type, #member, offsetof(type, member)},
static const kernel_arg kernel_args[] = {KERNEL_ARGS(KERNEL_ARG)};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- text and tools ------------------------------------------------------------------------- */

typedef enum shader_dialect { VULKAN, VULKAN_WIDE, ES300 } shader_dialect;

static FILE *open_or_fail(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
    return file;
}

static void append_file(FILE *out, const char *path)
{
    char block[4096];
    size_t size;
    FILE *in = open_or_fail(path, "r");
    if (!in)
        return;
    while ((size = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, size, out);
    fclose(in);
}

/* lines: after #version. */
static void append_prelude(FILE *out, shader_dialect dialect, const char *lines)
{
    fputs(dialect == ES300 ? "#version 300 es\n" : "#version 460\n", out);
    fputs(lines, out);
    if (dialect == VULKAN_WIDE)
        fputs("#define TML_WIDE\n", out);
    append_file(out, dialect == ES300 ? TML_SOURCE_ROOT "/src/gpu/prelude_es300.glsl"
                                      : TML_SOURCE_ROOT "/src/gpu/prelude_vulkan.glsl");
    append_file(out, TML_SOURCE_ROOT "/src/gpu/prelude_common.glsl");
}

/* A main that touches the arguments of type args, if any. */
static void append_main(FILE *out, shader_dialect dialect, const char *args)
{
    if (args)
        fprintf(out, "ARGS_USE(%s)\n", args);
    if (dialect != ES300)
        fputs("layout(local_size_x = 64) in;\n", out);
    fputs("void main()\n{\n", out);
    if (args && dialect != ES300)
        fprintf(out, "    %s copy = args;\n", args);
    fputs("}\n", out);
}

typedef enum tool_result { TOOL_PASSED, TOOL_FAILED, TOOL_MISSING } tool_result;

/* Runs a program with its output in log. On Windows none: what they are asked does not depend on
 * the machine. */
static tool_result run_tool(char *const *arguments, const char *log)
{
#ifdef _WIN32
    (void)arguments, (void)log;
    return TOOL_MISSING;
#else
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return error == ENOENT ? TOOL_MISSING : TOOL_FAILED;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TOOL_PASSED : TOOL_FAILED;
#endif
}

/* A folder of its own for each run of this program. */
static const char *work_path(const char *name)
{
    static char folder[] = "/tmp/trommel-kernels-XXXXXX";
    static bool made;
    if (!made)
        made = mkdtemp(folder) != NULL;
    return test_path(folder, name);
}

static void clean_up(void)
{
    static const char *const names[] = {"shader.comp", "shader.frag", "shader.spv", "glslc.spv",
                                        "log"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(work_path(names[i]));
    rmdir(work_path(""));
}

/* Runs a tool on the shader; false when it is missing. A failure prints what the tool said. */
static bool check_tool(const char *what, char *const *arguments)
{
    const char *log = work_path("log");
    tool_result result = run_tool(arguments, log);
    if (result != TOOL_FAILED)
        return result == TOOL_PASSED;
    test_fail(__FILE__, __LINE__, "%s: %s refuses it", what, arguments[0]);
    FILE *file = open_or_fail(log, "r");
    char line[512];
    while (file && fgets(line, sizeof line, file))
        printf("    %s", line);
    if (file)
        fclose(file);
    return true;
}

#define TOOL(...) ((char *const[]){__VA_ARGS__, NULL})

/* All that can be said of the Vulkan shader in shader.comp without a device; with glslc's
 * optimiser, too. */
static bool check_vulkan(const char *what, bool is_optimised)
{
    char *source = (char *)work_path("shader.comp"), *binary = (char *)work_path("shader.spv");
    /* Functions that nothing calls are kept, or they would not be looked at. */
    if (!check_tool(what, TOOL("glslangValidator", "--keep-uncalled", "--target-env", "vulkan1.2",
                               "-o", binary, source)))
        return false;
    if (!check_tool(what, TOOL("spirv-val", "--target-env", "vulkan1.2", binary)))
        return false;
    if (is_optimised)
        check_tool(what, TOOL("glslc", "--target-env=vulkan1.2", "-O", "-Werror", "-o",
                              (char *)work_path("glslc.spv"), source));
    return true;
}

static bool check_es300(const char *what)
{
    return check_tool(what, TOOL("glslangValidator", (char *)work_path("shader.frag")));
}

/* ---- layout of the arguments ---------------------------------------------------------------- */

enum { MAX_MEMBERS = 64 };

/* One struct member of a SPIR-V listing: spirv-dis names ids as the source does. */
typedef struct listed_member {
    char type[64], name[64];
    unsigned index;
} listed_member;

/* Offset of a member in the struct that the push constants hold; -1 when it is not there. The same
 * struct without offsets, as function parameters have it, is listed under another id. */
static long listed_offset(const char *type, const char *member)
{
    listed_member members[MAX_MEMBERS];
    size_t count = 0;
    long found = -1;
    char line[512], id[64];
    unsigned index, offset;
    FILE *file = open_or_fail(work_path("log"), "r");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        listed_member *next = &members[count];
        if (count < MAX_MEMBERS && sscanf(line, " OpMemberName %%%63s %u \"%63[^\"]\"", next->type,
                                          &next->index, next->name) == 3)
            count +=
                strncmp(next->type, type, strlen(type)) == 0 && strcmp(next->name, member) == 0;
        else if (sscanf(line, " OpMemberDecorate %%%63s %u Offset %u", id, &index, &offset) == 3)
            for (size_t i = 0; i < count; i++)
                if (strcmp(members[i].type, id) == 0 && members[i].index == index)
                    found = offset;
    }
    fclose(file);
    return found;
}

/* Are the C offsets of one argument struct those of the shader just compiled? */
static void check_offsets(const char *path, const char *type)
{
    if (run_tool(TOOL("spirv-dis", (char *)work_path("shader.spv")), work_path("log")) !=
        TOOL_PASSED)
        return;
    for (size_t i = 0; i < COUNT_OF(kernel_args); i++) {
        const kernel_arg *arg = &kernel_args[i];
        if (strcmp(arg->path, path) == 0 && strcmp(arg->type, type) == 0 &&
            !CHECK_EQ_I64(listed_offset(type, arg->member), arg->offset))
            printf("    %s.%s\n", type, arg->member);
    }
}

/* ---- kernel files --------------------------------------------------------------------------- */

/* Files of doubles are not for GLSL ES. */
static bool has_doubles(const char *path)
{
    FILE *file = open_or_fail(path, "r");
    char line[512];
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file))
        is_found = strstr(line, "FUNCTION(double)") != NULL;
    if (file)
        fclose(file);
    return is_found;
}

/* Numbers and meshes, which any family may use. */
static bool is_for_all(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strcmp(name, "real64.k.h") == 0 || strcmp(name, "real64_lines.k.h") == 0 ||
           strcmp(name, "exact_sum.k.h") == 0 || strcmp(name, "exact_integer.k.h") == 0 ||
           strcmp(name, "mesh.k.h") == 0;
}

/* What a kernel file stands after: those of its family (collide.k.h, collide_stream.k.h) that stand
 * before it. */
static void append_bases(FILE *out, const char *path, shader_dialect dialect)
{
    const char *name = strrchr(path, '/') + 1;
    const size_t length = (size_t)(name - path) + strcspn(name, "_.");
    for (size_t i = 0; strcmp(kernel_files[i].path, path) != 0; i++) {
        const char *other = kernel_files[i].path;
        bool is_family = strncmp(other, path, length) == 0 && strchr("_.", other[length]);
        if ((is_family || is_for_all(other)) && !(dialect == ES300 && has_doubles(other)))
            append_file(out, other);
    }
}

static void write_kernel_shader(const char *path, shader_dialect dialect, const char *args)
{
    FILE *out = open_or_fail(work_path(dialect == ES300 ? "shader.frag" : "shader.comp"), "w");
    if (!out)
        return;
    append_prelude(out, dialect, "");
    append_bases(out, path, dialect);
    append_file(out, path);
    append_main(out, dialect, args);
    fclose(out);
}

/* The next argument struct of a file after the one given (NULL: the first), or NULL. */
static const char *next_args(const char *path, const char *after)
{
    bool passed = after == NULL;
    for (size_t i = 0; i < COUNT_OF(kernel_args); i++) {
        const kernel_arg *arg = &kernel_args[i];
        if (strcmp(arg->path, path) != 0)
            continue;
        if (after && strcmp(arg->type, after) == 0)
            passed = true;
        else if (passed)
            return arg->type;
    }
    return NULL;
}

TEST(kernel_files_are_vulkan_glsl)
{
    for (size_t i = 0; i < COUNT_OF(kernel_files); i++) {
        const char *path = kernel_files[i].path, *args = next_args(path, NULL);
        bool is_first = true;
        do {
            write_kernel_shader(path, VULKAN, args);
            if (!check_vulkan(path, is_first))
                SKIP("glslangValidator or spirv-val is not installed");
            if (args) {
                check_offsets(path, args);
                args = next_args(path, args);
            }
            is_first = false;
        } while (args);
    }
}

TEST(kernel_files_are_glsl_es_300)
{
    for (size_t i = 0; i < COUNT_OF(kernel_files); i++) {
        const char *path = kernel_files[i].path, *args = next_args(path, NULL);
        if (has_doubles(path))
            continue;
        do {
            write_kernel_shader(path, ES300, args);
            if (!check_es300(path))
                SKIP("glslangValidator is not installed");
            args = args ? next_args(path, args) : NULL;
        } while (args);
    }
}

/* ---- users' kernels ------------------------------------------------------------------------- */

static void write_user_shader(const tml_kernel *kernel, shader_dialect dialect)
{
    FILE *out = open_or_fail(work_path(dialect == ES300 ? "shader.frag" : "shader.comp"), "w");
    if (!out)
        return;
    append_prelude(out, dialect, KERNEL_LINES(kernel));
    fprintf(out, "%s\n%s\n", kernel->library ? kernel->library : "", kernel->glsl);
    append_main(out, dialect, NULL);
    fclose(out);
}

TEST(user_kernels_are_vulkan_glsl)
{
    for (size_t i = 0; i < COUNT_OF(user_kernels) + COUNT_OF(wide_kernels); i++) {
        bool is_wide = i >= COUNT_OF(user_kernels);
        const tml_kernel *kernel =
            is_wide ? wide_kernels[i - COUNT_OF(user_kernels)] : user_kernels[i];
        write_user_shader(kernel, is_wide ? VULKAN_WIDE : VULKAN);
        if (!check_vulkan(kernel->name, true))
            SKIP("glslangValidator or spirv-val is not installed");
    }
}

TEST(user_kernels_are_glsl_es_300)
{
    for (size_t i = 0; i < COUNT_OF(user_kernels); i++) {
        write_user_shader(user_kernels[i], ES300);
        if (!check_es300(user_kernels[i]->name))
            SKIP("glslangValidator is not installed");
    }
}

TEST(user_kernels_know_their_parameters)
{
    CHECK(kernel_uses_matrix(TML_USE(turn)) && !kernel_uses_matrix(TML_USE(move)));
    CHECK_STR(TML_USE(is_positive)->glsl,
              "bool is_positive(float x) { return x > 0.0f && !is_nan(x); }");
    CHECK_EQ_U64(TML_USE(is_positive)->result, TML_U8);
    CHECK_EQ_U64(TML_USE(flatten)->result, TML_VEC(TML_F32, 2));
    CHECK_EQ_U64(TML_USE(flatten)->params[1], TML_VEC(TML_F32, 4));
    CHECK_EQ_U64(TML_USE(spread)->param_count, 3);
    CHECK_EQ_U64(TML_USE(spread)->params[1], TML_PARAM_INDEX);
    CHECK_EQ_U64(TML_USE(spread)->params[2], TML_PARAM_RANK);
    CHECK_EQ_U64(TML_USE(move)->params[1], TML_PARAM_PARAMS);
    CHECK_EQ_U64(TML_USE(wide)->params[0], TML_U64);
    CHECK_EQ_U64(TML_USE(wide)->params[1], TML_I64);
}

/* The known answers of the authors' own tests (Random123, kat_vectors). */
TEST(random_numbers_are_philox)
{
    static const uint32_t known[][5] = {
        {0, 0, 0, 0xff1dae59u, 0x6cd10df2u},
        {0xffffffffu, 0xffffffffu, 0xffffffffu, 0x2c3f628bu, 0xab4fd7adu},
        {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0xdd7ce038u, 0xf62a4c12u}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        tml_uvec2 drawn = tml_random(known[i][0], known[i][1], known[i][2]);
        CHECK_EQ_U64(drawn.x, known[i][3]);
        CHECK_EQ_U64(drawn.y, known[i][4]);
    }
    CHECK_EQ_U64(tml_random_uint(0, 0), 0xff1dae59u);
    CHECK_NEAR(tml_random_float(0, 0), 0xff1daep-24, 0.0);
}

/* Along either argument and both: each byte's values as often as one another, neighbours without
 * correlation, a mean of a half. Bounds of five standard deviations and more; the numbers are
 * fixed. */
TEST(random_numbers_are_even)
{
    enum { DRAWS = 1 << 18 };
    for (uint32_t way = 0; way < 3; way++) {
        static uint32_t seen[4][256];
        memset(seen, 0, sizeof seen);
        double sum = 0, products = 0, before = 0;
        for (uint32_t i = 0; i < DRAWS; i++) {
            uint32_t a = way == 1 ? 7 : i, b = way == 0 ? 7 : i, x = tml_random_uint(a, b);
            double real = (double)tml_random_float(a, b) - 0.5;
            CHECK(real >= -0.5 && real < 0.5);
            for (uint32_t byte = 0; byte < 4; byte++)
                seen[byte][x >> 8 * byte & 255]++;
            sum += real;
            products += real * before;
            before = real;
        }
        CHECK_NEAR(sum / DRAWS, 0, 5 * sqrt(1.0 / 12 / DRAWS));
        CHECK_NEAR(products / DRAWS, 0, 5 * sqrt(1.0 / 144 / DRAWS));
        for (uint32_t byte = 0; byte < 4; byte++) {
            double chi_square = 0, expected = DRAWS / 256.0;
            for (uint32_t value = 0; value < 256; value++)
                chi_square += (seen[byte][value] - expected) * (seen[byte][value] - expected);
            CHECK_NEAR(chi_square / expected, 255, 5 * sqrt(2.0 * 255));
        }
    }
}

TEST(user_kernels_run_over_blocks)
{
    const float x[4] = {-1.0f, 0.0f, 2.5f, NAN};
    bool kept[4];
    tml_kernel_block block = {.in = {x}, .out = kept, .count = 4};
    TML_USE(is_positive)->run(&block);
    CHECK(!kept[0] && !kept[1] && kept[2] && !kept[3]);

    /* Positions: counted from first, or listed. */
    const tml_rank ranks[4] = {0, 1, 0, 1};
    const tml_index listed[4] = {9, 8, 7, 6};
    tml_vec4 spreads[4];
    block = (tml_kernel_block){.in = {x}, .rank = ranks, .out = spreads, .first = 100, .count = 3};
    TML_USE(spread)->run(&block);
    CHECK_NEAR(spreads[2].x, 2.5, 0);
    CHECK_NEAR(spreads[2].y, 102, 0);
    CHECK_NEAR(spreads[1].z, 1, 0);
    CHECK_NEAR(spreads[2].w, 2, 0);
    block.index = listed;
    TML_USE(spread)->run(&block);
    CHECK_NEAR(spreads[2].y, 7, 0);

    const tml_vec3 points[1] = {{1.0f, 2.0f, 3.0f}};
    const tml_params params = {.f = {2.0f}, .u = {5}};
    tml_vec3 moved[1];
    block = (tml_kernel_block){.in = {points}, .params = &params, .out = moved, .count = 1};
    block.simd = tml_simd_level(); /* as the CPU engine does */
    TML_USE(move)->run(&block);
    CHECK_NEAR(moved[0].x, 7, 0);
    CHECK_NEAR(moved[0].y, 4, 0);
    CHECK_NEAR(moved[0].z, 7, 0);
}

/* ---- the C form of the vocabulary ----------------------------------------------------------- */

TEST(half_to_float_is_exact_for_every_half)
{
    for (uint32_t half = 0; half < 0x10000u; half++) {
        uint32_t exponent = half >> 10 & 31u, mantissa = half & 0x3ffu;
        float expected = exponent == 0   ? ldexpf((float)mantissa, -24)
                         : exponent < 31 ? ldexpf((float)(mantissa + 1024), (int)exponent - 25)
                         : mantissa      ? NAN
                                         : INFINITY;
        expected = half & 0x8000u ? -expected : expected;
        float actual = tml_half_to_float(half);
        if (isnan(expected) ? !isnan(actual) : memcmp(&actual, &expected, sizeof actual) != 0)
            test_fail(__FILE__, __LINE__, "half %04x gives %g, not %g", half, actual, expected);
    }
}

/* What shaders compile of half.k.h, in C. */
#include "kernels/kernel.h"
#undef TML_KERNEL_HALF
#define TML_GLSL
#define tml_half_to_float half_to_float_of_shaders
#define tml_float_to_half float_to_half_of_shaders
#include "kernels/half.k.h"
#undef tml_half_to_float
#undef tml_float_to_half
#undef TML_GLSL
#include "kernels/kernel_end.h"

TEST(half_to_float_is_the_same_in_shaders)
{
    for (uint32_t half = 0; half < 0x10000u; half++) {
        float here = tml_half_to_float(half), there = half_to_float_of_shaders(half);
        CHECK_EQ_U64(tml_float_bits(there), tml_float_bits(here));
    }
}

/* Doubles by integers (kernels/real64.k.h), against the processor's own. */
static double double_of(tml_uvec2 words)
{
    return tml_words_double(words.x, words.y);
}

static tml_uvec2 words_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (tml_uvec2){(uint32_t)bits, (uint32_t)(bits >> 32)};
}

/* Exponents within span of 0; some have few bits, runs of ones, or are zeros. */
static double random_double(uint64_t *state, uint64_t span)
{
    uint64_t r[4];
    for (int i = 0; i < 4; i++)
        r[i] = *state = (*state ^ *state << 13) * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = (r[0] & 0x800fffffffffffffu) | (1023 - span + (r[1] >> 20) % (2 * span + 1))
                                                       << 52;
    if (r[2] >> 61 == 0)
        bits &= ~(((uint64_t)1 << r[3] % 53) - 1);
    if (r[2] >> 61 == 1)
        bits |= ((uint64_t)1 << r[3] % 52) - 1;
    return r[2] >> 58 == 9 ? (bits >> 63 ? -0.0 : 0.0)
                           : tml_words_double((uint32_t)bits, (uint32_t)(bits >> 32));
}

static void check_double(tml_uvec2 words, double expected, const char *what, double a, double b)
{
    double actual = double_of(words);
    if (memcmp(&actual, &expected, sizeof actual) != 0 && fabs(expected) >= 0x1p-1022)
        test_fail(__FILE__, __LINE__, "%s of %a and %a is %a, not %a", what, a, b, actual,
                  expected);
}

TEST(doubles_by_integers_have_the_bits_of_doubles)
{
    static const uint64_t spans[] = {3, 60, 300};
    uint64_t state = 1;
    for (uint32_t i = 0; i < 600000; i++) {
        double a = random_double(&state, spans[i % 3]), b = random_double(&state, spans[i % 3]);
        if (i % 7 == 0)
            b = -a * (1.0 + (double)((int)(state >> 40) % 5 - 2) * 0x1p-52);
        check_double(real64_add(words_of(a), words_of(b)), a + b, "sum", a, b);
        check_double(real64_subtract(words_of(a), words_of(b)), a - b, "difference", a, b);
        check_double(real64_multiply(words_of(a), words_of(b)), a * b, "product", a, b);
        check_double(real64_scale(words_of(a), -5), a * 0x1p-5, "32nd", a, b);
        CHECK_EQ_U64(real64_less(words_of(a), words_of(b)), a < b);
        CHECK_EQ_U64(real64_at_most(words_of(a), words_of(b)), a <= b);
        CHECK_EQ_U64(real64_to_float(words_of(a)), tml_float_bits((float)a));
        uint32_t bits = (uint32_t)(state >> 32) & (i % 5 ? UINT32_MAX : 0x807fffffu);
        double widened = (double)tml_bits_float(bits);
        if (isfinite(widened))
            check_double(real64_of_float(bits), widened, "the float's double", widened, widened);
        else
            CHECK_EQ_U64(real64_exponent(real64_of_float(bits)), 0x7ff);
        uint32_t whole = bits >> state % 32, most = (whole >> 1) + 1;
        check_double(real64_of_uint(whole), (double)whole, "the number's double", whole, whole);
        double kept = fmin(fmax(a, 0.0), (double)most);
        CHECK_EQ_U64(real64_whole(words_of(a), most), (uint32_t)kept);
    }
    const double endless = INFINITY, largest = 0x1.8p1023;
    CHECK_EQ_U64(real64_at_most(words_of(endless), words_of(endless)), 0);
    CHECK_EQ_U64(real64_exponent(real64_add(words_of(largest), words_of(largest))), 0x7ff);
    CHECK_EQ_U64(real64_exponent(real64_multiply(words_of(endless), words_of(0.0))), 0x7ff);
    CHECK_EQ_U64(real64_exponent(real64_multiply(words_of(-largest), words_of(2.0))), 0x7ff);
}

TEST(loads_widen_every_type)
{
    const int8_t bytes[4] = {1, -2, 3, -4};
    const uint16_t halves[2] = {0x4000, 0x3c00}; /* 2 and 1 */
    uint32_t words[4] = {0, 0xfffffffeu, 7u, 9u};
    memcpy(words, halves, sizeof halves);
    const float floats[4] = {0.5f, -1.5f, 2.5f, 3.5f};
    sample_args args = {.bytes = tml_address_of(bytes),
                        .words = tml_address_of(words),
                        .floats = tml_address_of(floats)};
    sample_sum sum = sample_load(args, 1);
    CHECK_NEAR(sum.real, -1.5 + 1.0, 0);
    CHECK_EQ_I64(sum.whole, -2 + 0x3c00 + -2);
    CHECK_EQ_U64(sum.bits, (uint32_t)(0xfeu + 0x3c00u + 0xfffffffeu));
    CHECK_EQ_U64(sample_address_parameter(args.words, 2), 7);
}

TEST(numbers_and_bits_mean_what_glsl_means)
{
    CHECK_NEAR(sample_vectors((tml_vec3){1, 2, 3}, (tml_vec3){4, 5, 6}),
               /* p = (8, 12), q = (8, 12, 16, 2), a + b = (5, 7, 9), a x b = (-3, 6, -3) */
               208 + sqrt(208) + 468 + (16 + 0.25 + 36) + sqrt(16 + 0.25 + 36), 1e-3);
    float x = -0.3f;
    double expected = -1 + 0 + 0 + (x + 1.0) + sqrt(0.3) + 1 / sqrt(1.3) + exp2(x) + log2(1.3) +
                      exp(-0.3) + log(1.3) + sin(x) + cos(x) + tan(x) + asin(x) + acos(x) +
                      atan(x) + pow(0.3, 1.5) + (x + 0.75) + 0 + (x * 0.75 + 0.25) - 1 + x + x;
    CHECK_NEAR(sample_numbers(x), expected, 1e-5);
    /* abs 5, sign -1, min -5, max -3, clamp -2; 1 + 2 + 1; popcount 2, lowest 3, clamp 9; 4, 40,
     * 2 */
    CHECK_EQ_I64(sample_integers(-5, 40), 5 - 1 - 5 - 3 - 2 + 4 + 2 + 3 + 9 + 4 + 40 + 2);
    CHECK(sample_bits(-1.25f));
    CHECK(!sample_bits(NAN));
}

int main(int argc, char **argv)
{
    int status = test_main(argc, argv);
    clean_up();
    return status;
}
