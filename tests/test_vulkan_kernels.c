/* Users' kernels on every Vulkan device there is, against the CPU: those built with this program by
 * trommel_add_kernels(), and those compiled at run time by libshaderc. */
#include "test.h"

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include "core/platform.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f && !is_nan(x); })
/* Of both signs: the largest float, infinity and two NaNs. */
TML_KERNEL(uvec2, kinds, (uint x), {
    float y = uintBitsToFloat((x << 31) | (0x7f7fffffu + ((x >> 1) & 3u)));
    return UVEC2(U(is_nan(y)), U(is_inf(y)));
})
/* A name that GLSL keeps for itself. */
TML_KERNEL(bool, filter, (uint x), { return (x & 5u) != 1u; })
TML_KERNEL(bool, is_odd_place, (tml_index at), { return (at & 1u) == 1u; })
TML_KERNEL(bool, above, (tml_params p, int x, float y), { return x > I(p.u[1]) || y > p.f[2]; })
TML_KERNEL(int, to_int, (int x), { return -x; })
TML_KERNEL(uint, to_uint, (uint x, tml_params p), { return x * 3u + p.u[3]; })
TML_KERNEL(float, to_float, (float x, tml_params p), { return min(x, p.f[0]) + F(p.u[0]); })
TML_KERNEL(vec2, pair, (float x, vec2 v, tml_index i), { return VEC2(x + v.y, F(i)); })
TML_KERNEL(vec3, triple, (vec3 v, uint n), { return VEC3(v.z, v.x, v.y + F(n)); })
TML_KERNEL(vec3, transformed, (vec3 v, tml_params p),
           { return add3(transform3(p.m, v), VEC3(p.m[3], p.f[0], F(p.u[1]))); })
TML_KERNEL(vec4, quadruple, (vec4 v, vec3 w, vec2 u, int k),
           { return VEC4(v.w + w.x, v.x + u.y, w.z, F(k)); })
TML_KERNEL(uint, from_vec4, (vec4 v), { return floatBitsToUint(v.x) ^ floatBitsToUint(v.w); })
TML_KERNEL(double, average, (double a, double b), { return a < b ? (a + b) * 0.5 : floor(a); })
TML_KERNEL(uint64, wide, (uint64 a, int64 b), { return b > 0 ? max(a, a + 1u) : a; })
TML_KERNEL(int64, shifted, (int64 a, uint n), { return (a >> 3) * 2 - I(n); })
TML_KERNEL(bool, is_wide, (uint64 a), { return (a >> 40) != 0u; })
TML_LIBRARY(
    look, FUNCTION(uint) look_up(tml_words w, uint i) { return tml_word(w, i) ^ i; })
TML_KERNEL_WITH(look, uvec2, looked_up, (uint x, tml_words w, tml_words v),
                { return UVEC2(look_up(w, x % 15000u), look_up(v, x % 61u)); })
#define DEFINE_BIGGER(T) TML_KERNEL(bool, T##_is_big, (T x), { return x > U(99); })
DEFINE_BIGGER(uint)

#include <trommel/kernel_end.h>

extern const tml_vulkan_kernel test_vulkan_kernels_kernels[];

enum { MOST = 5000, GUARD = 64, DEVICES = 8, INPUTS = 4 };

static bool has_shaderc(void)
{
    void *library = tml_library_open(TML_LIBRARY_SHADERC, NULL, 0);
    if (library)
        tml_library_close(library);
    return library != NULL;
}

/* Opens the number-th Vulkan device; NULL when there are no more. */
static tml_context *open_vulkan(uint32_t number, const tml_vulkan_kernel *kernels)
{
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    tml_vulkan_desc vulkan = {.kernels = kernels};
    for (uint32_t i = 0; i < count && i < DEVICES; i++) {
        if (infos[i].engine != TML_ENGINE_VULKAN || number-- > 0)
            continue;
        char device[16];
        tml_context *tml = NULL;
        snprintf(device, sizeof device, "%u", i);
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN,
                                                 .device = device,
                                                 .vulkan = &vulkan},
                                &tml));
        return tml;
    }
    return NULL;
}

/* ---- maps ------------------------------------------------------------------------------------ */

typedef struct map_case {
    const tml_kernel *kernel;
    tml_type in[INPUTS];
    bool in_place;
} map_case;

#define V2 TML_VEC(TML_F32, 2)
#define V3 TML_VEC(TML_F32, 3)
#define V4 TML_VEC(TML_F32, 4)

static const map_case map_cases[] = {
    {TML_USE(is_positive), {TML_F32}, false},
    {TML_USE(is_positive), {TML_F16}, false},
    {TML_USE(kinds), {TML_U32}, false},
    {TML_USE(filter), {TML_U32}, false},
    {TML_USE(filter), {TML_U16}, false},
    {TML_USE(filter), {TML_U8}, true},
    {TML_USE(is_odd_place), {0}, false},
    {TML_USE(above), {TML_I8, TML_F16}, false},
    {TML_USE(above), {TML_I32, TML_F32}, false},
    {TML_USE(to_int), {TML_I32}, true},
    {TML_USE(to_int), {TML_I16}, false},
    {TML_USE(to_int), {TML_I8}, false},
    {TML_USE(to_uint), {TML_U32}, true},
    {TML_USE(to_uint), {TML_U16}, false},
    {TML_USE(to_uint), {TML_U8}, false},
    {TML_USE(to_float), {TML_F32}, true},
    {TML_USE(to_float), {TML_F16}, false},
    {TML_USE(pair), {TML_F32, V2}, false},
    {TML_USE(pair), {TML_F16, V2}, false},
    {TML_USE(triple), {V3, TML_U8}, true},
    {TML_USE(transformed), {V3}, true},
    {TML_USE(quadruple), {V4, V3, V2, TML_I16}, true},
    {TML_USE(from_vec4), {V4}, false},
    {TML_USE(average), {TML_F64, TML_F64}, true},
    {TML_USE(wide), {TML_U64, TML_I64}, false},
    {TML_USE(shifted), {TML_I64, TML_U32}, true},
    {TML_USE(is_wide), {TML_U64}, false},
    {TML_USE(uint_is_big), {TML_U8}, false},
    {TML_USE(looked_up), {TML_U32, V3, TML_F32}, false},
};
enum { MAP_CASES = sizeof map_cases / sizeof map_cases[0] };

/* Values that every type can hold and every engine computes alike: small floats, any integers. */
static void fill(tml_type type, uint64_t count, uint32_t seed, void *out)
{
    tml_type scalar = tml_type_scalar(type);
    size_t size = tml_type_size(scalar);
    unsigned char *at = out;
    for (uint64_t i = 0; i < count * tml_type_components(type); i++, at += size) {
        seed = seed * 1664525u + 1013904223u;
        float real = (float)(int)(seed >> 20) * 0.25f - 512.0f;
        double real64 = real;
        uint64_t bits = (uint64_t)seed << 32 | (seed >> 7) * 2654435761u;
        uint16_t half = (uint16_t)(0x3000u | (seed >> 16 & 0x8fffu)); /* 2^-3 ... 2 */
        memcpy(at,
               scalar == TML_F32   ? (void *)&real
               : scalar == TML_F64 ? (void *)&real64
               : scalar == TML_F16 ? (void *)&half
                                   : (void *)&bits,
               size);
    }
}

/* Runs a case on one context; out gets MOST + GUARD elements. */
static tml_status run_map(tml_context *tml, const map_case *c, uint64_t count, bool on_device,
                          void *out)
{
    static unsigned char data[(MOST + GUARD) * 16];
    tml_map_desc desc = {.kernel = c->kernel,
                         .params = {.f = {3.5f, 0, 0.75f, 0},
                                    .u = {7, 2, 0, 11},
                                    .m = {2, 1, 0, 9, 0, -1, 4, 0, 8, 0, 0.5f, 0, 1, 2, 3, 1}},
                         .length.count = count};
    tml_status status = TML_OK;
    for (int i = 0; i < INPUTS && c->in[i] && status == TML_OK; i++) {
        fill(c->in[i], MOST + GUARD, (uint32_t)i + 1, data);
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = c->in[i], .count = MOST + GUARD, .data = data},
            &desc.in[i]);
    }
    memset(data, 0xa5, sizeof data);
    tml_buffer_desc out_desc = {.type = c->kernel->result, .count = MOST + GUARD, .data = data};
    if (c->in_place)
        desc.out[0] = desc.in[0];
    else if (status == TML_OK)
        status = tml_buffer_create(tml, &out_desc, &desc.out[0]);
    uint64_t length[3] = {1, 2, count};
    if (on_device && status == TML_OK) {
        desc.length = (tml_length){.count = MOST, .device_index = 2};
        status =
            tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U64, .count = 3, .data = length},
                              &desc.length.device);
    }
    if (status == TML_OK)
        status = tml_map(tml, &desc);
    if (status == TML_OK)
        status = tml_buffer_read(tml, desc.out[0], out);
    for (int i = 0; i < INPUTS; i++)
        tml_buffer_destroy(tml, desc.in[i]);
    tml_buffer_destroy(tml, desc.out[0]);
    tml_buffer_destroy(tml, desc.length.device);
    return status;
}

static void check_maps(tml_context *cpu, tml_context *tml)
{
    static const uint64_t counts[] = {1, 3, 4, 5, 255, 1023, 1024, 1025, 4097, MOST};
    static unsigned char expected[(MOST + GUARD) * 16], actual[sizeof expected];
    int unsupported = 0;
    for (int i = 0; i < MAP_CASES; i++) {
        const map_case *c = &map_cases[i];
        size_t size = tml_type_size(c->kernel->result) * (MOST + GUARD);
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            bool on_device = n % 2 == 1;
            tml_status status = run_map(tml, c, counts[n], on_device, actual);
            if (status == TML_ERROR_UNSUPPORTED && strstr(tml_last_error(tml), "which")) {
                unsupported++; /* types that the device lacks */
                break;
            }
            if (!CHECK_OK(tml, status) ||
                !CHECK_OK(cpu, run_map(cpu, c, counts[n], on_device, expected)))
                break;
            size_t at = 0;
            while (at < size && expected[at] == actual[at])
                at++;
            if (at < size &&
                !test_fail(__FILE__, __LINE__, "%s of %s, count %d: byte %zu is %d, not %d",
                           c->kernel->name, tml_type_name(c->in[0]), (int)counts[n], at, actual[at],
                           expected[at]))
                break;
        }
    }
    printf("  %d kernels of %d unsupported\n", unsupported, MAP_CASES);
}

/* ---- compactions ----------------------------------------------------------------------------- */

typedef struct compact_case {
    const tml_kernel *kernel;
    tml_type in;
} compact_case;

static const compact_case compact_cases[] = {
    {TML_USE(is_positive), TML_F32}, {TML_USE(is_positive), TML_F16}, {TML_USE(filter), TML_U32},
    {TML_USE(filter), TML_U8},       {TML_USE(uint_is_big), TML_U16}, {TML_USE(is_wide), TML_U64},
};
enum { COMPACT_CASES = sizeof compact_cases / sizeof compact_cases[0], LONGEST = 40000 };

static tml_status run_compact(tml_context *tml, const compact_case *c, tml_method method,
                              uint64_t count, uint64_t *kept, void *out)
{
    static unsigned char data[LONGEST * 8];
    tml_buffer in = {0, 0}, to = {0, 0}, total = {0, 0};
    fill(c->in, count, 5, data);
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = c->in, .count = count, .data = data}, &in);
    memset(data, 0xa5, sizeof data);
    if (status == TML_OK)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = c->in, .count = count, .data = data}, &to);
    if (status == TML_OK)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &total);
    if (status == TML_OK)
        status = tml_compact(tml, &(tml_compact_desc){.keep.kernel = c->kernel,
                                                      .payloads = {{in, to}},
                                                      .method = method,
                                                      .count = total});
    if (status == TML_OK)
        status = tml_buffer_read_count(tml, total, kept);
    if (status == TML_OK)
        status = tml_buffer_read(tml, to, out);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, to);
    tml_buffer_destroy(tml, total);
    return status;
}

static void check_compactions(tml_context *cpu, tml_context *tml)
{
    static const uint64_t counts[] = {1, 31, 33, 8191, 8192, 8193, LONGEST};
    static const tml_method methods[] = {TML_METHOD_AUTO, TML_METHOD_REDUCE_THEN_SCAN,
                                         TML_METHOD_LOOK_BACK};
    static unsigned char expected[LONGEST * 8], actual[sizeof expected];
    uint64_t expected_kept, kept;
    for (int i = 0; i < COMPACT_CASES * 3; i++) {
        const compact_case *c = &compact_cases[i / 3];
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            tml_status status = run_compact(tml, c, methods[i % 3], counts[n], &kept, actual);
            if (status == TML_ERROR_UNSUPPORTED)
                break;
            if (!CHECK_OK(tml, status) ||
                !CHECK_OK(cpu, run_compact(cpu, c, TML_METHOD_AUTO, counts[n], &expected_kept,
                                           expected)) ||
                !CHECK_EQ_U64(kept, expected_kept) ||
                !CHECK(!memcmp(actual, expected, counts[n] * tml_type_size(c->in)))) {
                printf("  %s of %s, count %d, %s\n", c->kernel->name, tml_type_name(c->in),
                       (int)counts[n], tml_method_name(methods[i % 3]));
                break;
            }
        }
    }
}

/* ---- both ways ------------------------------------------------------------------------------- */

/* Runs all that there is on every device; how many devices there were. */
static uint32_t check_devices(const tml_vulkan_kernel *kernels)
{
    tml_context *cpu, *tml;
    uint32_t number = 0;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &cpu)))
        return 0;
    for (; (tml = open_vulkan(number, kernels)); number++) {
        tml_device_info info;
        tml_context_describe(tml, &info);
        printf("  %s\n", info.name);
        check_maps(cpu, tml);
        check_compactions(cpu, tml);
        tml_close(tml);
    }
    tml_close(cpu);
    return number;
}

TEST(the_build_knows_every_kernel_by_its_text)
{
    for (int i = 0; i < MAP_CASES; i++) {
        const tml_vulkan_kernel *built = test_vulkan_kernels_kernels;
        while (built->glsl && strcmp(built->glsl, map_cases[i].kernel->glsl) != 0)
            built++;
        if (!built->glsl) {
            test_fail(__FILE__, __LINE__, "not built: %s", map_cases[i].kernel->glsl);
            continue;
        }
        bool decides = map_cases[i].kernel->result == TML_U8;
        for (int form = 0; form < TML_VULKAN_KERNEL_FORMS; form++)
            CHECK((built->code[form] != NULL) == (form == 0 || decides));
    }
}

TEST(kernels_built_with_the_program)
{
    if (check_devices(test_vulkan_kernels_kernels) == 0)
        SKIP("no Vulkan device");
}

TEST(kernels_compiled_at_run_time)
{
    if (!has_shaderc())
        SKIP("no libshaderc");
    if (check_devices(NULL) == 0)
        SKIP("no Vulkan device");
}

/* The list decides, not the compiler: under one kernel's text it holds another's code. */
TEST(built_kernels_are_used)
{
    const tml_vulkan_kernel *other = test_vulkan_kernels_kernels;
    while (other->glsl && strcmp(other->glsl, TML_USE(uint_is_big)->glsl) != 0)
        other++;
    tml_vulkan_kernel list[2] = {*other};
    list[0].glsl = TML_USE(filter)->glsl;
    tml_context *tml = open_vulkan(0, list);
    if (!tml)
        SKIP("no Vulkan device");
    const map_case wanted = {TML_USE(filter), {TML_U32}, false};
    const map_case used = {TML_USE(uint_is_big), {TML_U32}, false};
    static unsigned char out[MOST + GUARD], expected[MOST + GUARD];
    tml_context *cpu;
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &cpu)) &&
        CHECK_OK(tml, run_map(tml, &wanted, MOST, false, out)) &&
        CHECK_OK(cpu, run_map(cpu, &used, MOST, false, expected)))
        CHECK(!memcmp(out, expected, sizeof out));
    tml_close(cpu);
    tml_close(tml);
}

TEST(damaged_code_is_said)
{
    tml_vulkan_kernel list[2] = {*test_vulkan_kernels_kernels};
    list[0].glsl = TML_USE(filter)->glsl;
    list[0].size[0] -= 4;
    tml_context *tml = open_vulkan(0, list);
    if (!tml)
        SKIP("no Vulkan device");
    static unsigned char out[MOST + GUARD];
    CHECK_STATUS(run_map(tml, &(map_case){TML_USE(filter), {TML_U32}, false}, MOST, false, out),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "filter: its SPIR-V is damaged"));
    tml_close(tml);
}

/* A text that was built with one library is not taken for the same text with another. */
TEST(libraries_tell_kernels_apart)
{
    tml_context *tml = open_vulkan(0, test_vulkan_kernels_kernels);
    if (!tml)
        SKIP("no Vulkan device");
    tml_kernel other = *TML_USE(looked_up);
    other.library = "uint look_up(tml_words w, uint i) { return i + 5u; }";
    const map_case plain = {TML_USE(looked_up), {TML_U32, V3, TML_F32}, false};
    const map_case changed = {&other, {TML_U32, V3, TML_F32}, false};
    static uint32_t before[2 * (MOST + GUARD)], after[2 * (MOST + GUARD)];
    CHECK_OK(tml, run_map(tml, &plain, MOST, false, before));
    tml_status status = run_map(tml, &changed, MOST, false, after);
    if (has_shaderc() && CHECK_OK(tml, status))
        CHECK(after[1] < 61 + 5 && memcmp(before, after, sizeof before) != 0);
    else
        CHECK_EQ_U64(status, TML_ERROR_UNSUPPORTED);
    tml_close(tml);
}

TEST(what_glsl_refuses_is_said)
{
    tml_context *tml = open_vulkan(0, NULL);
    if (!tml)
        SKIP("no Vulkan device");
    tml_kernel wrong = *TML_USE(filter);
    wrong.glsl = "bool filter(uint x) { return *x; }";
    const map_case c = {&wrong, {TML_U32}, false};
    static unsigned char out[MOST + GUARD];
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(run_map(tml, &c, MOST, false, out), TML_ERROR_UNSUPPORTED);
        if (has_shaderc())
            CHECK(strstr(tml_last_error(tml), "kernel filter:1: error"));
        else
            CHECK(strstr(tml_last_error(tml), "trommel_add_kernels()"));
    }
    const map_case right = {TML_USE(filter), {TML_U32}, false};
    if (has_shaderc())
        CHECK_OK(tml, run_map(tml, &right, MOST, false, out));
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
