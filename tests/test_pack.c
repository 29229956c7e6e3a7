/* Floats to four bytes and back (kernels/pack.k.h), bit pattern by bit pattern: as C, and as the
 * shaders of the OpenGL ES engine's float tier. A run takes every 64th pattern, at a place that
 * varies, so that every exponent has many; --all takes all 2^32. */
#include "test.h"

#include <trommel/trommel.h>
#ifdef TML_GL
#    include <trommel/gl.h>
#endif

#include "kernels/kernel.h"
#include "kernels/pack.k.h"

#ifdef TML_GL
TML_KERNEL(float, same, (float x), { return x; })
TML_KERNEL(float, kind, (float x), { return is_nan(x) ? 2.0f : is_inf(x) ? 1.0f : 0.0f; })
#endif

#include "kernels/kernel_end.h"

static bool is_whole; /* --all */

/* Pattern number i of the run's. */
static uint64_t pattern_count(void)
{
    return (uint64_t)1 << (is_whole ? 32 : 26);
}
static uint32_t pattern(uint64_t i)
{
    uint32_t x = (uint32_t)i;
    return is_whole ? x : x << 6 | (x * 0x9e3779b9u) >> 26;
}

static bool is_nan_bits(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

static uint32_t join(tml_vec4 b)
{
    return (uint32_t)b.x | (uint32_t)b.y << 8 | (uint32_t)b.z << 16 | (uint32_t)b.w << 24;
}

static tml_vec4 split(uint32_t bits)
{
    return tml_make4((float)(bits & 0xff), (float)(bits >> 8 & 0xff), (float)(bits >> 16 & 0xff),
                     (float)(bits >> 24));
}

/* ---- C --------------------------------------------------------------------------------------- */

enum { C_TASKS = 256 };

static void check_range(void *argument, uint32_t task)
{
    (void)argument;
    uint64_t each = pattern_count() / C_TASKS;
    for (uint64_t i = task * each; i < (task + 1) * each; i++) {
        uint32_t bits = pattern(i);
        uint32_t is = join(pack_float(tml_bits_float(bits)));
        uint32_t back = tml_float_bits(unpack_float(split(bits)));
        if (is_nan_bits(bits) ? is != 0x7fc00000u || !is_nan_bits(back)
                              : is != bits || back != bits)
            test_fail(__FILE__, __LINE__, "0x%08x is packed as 0x%08x and unpacked as 0x%08x", bits,
                      is, back);
    }
}

TEST(c_is_exact)
{
    tml_context *tml;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        return;
    tml_parallel_for(tml, C_TASKS, check_range, NULL);
    tml_close(tml);
}

TEST(the_lowest_byte_comes_first)
{
    tml_vec4 bytes = pack_float(-3.1415927f);
    CHECK(bytes.x == 0xdb && bytes.y == 0x0f && bytes.z == 0x49 && bytes.w == 0xc0);
}

/* Components that a device returns a little off are still the byte. */
TEST(components_are_rounded)
{
    for (int b = 0; b < 256; b++)
        for (int off = -4; off <= 4; off++)
            CHECK(pack_byte(((float)b + 0.1f * (float)off) / 255.0f) == (float)b);
}

TEST(whole_numbers)
{
    for (uint32_t x = 0; x < 1u << 24; x += 97) {
        tml_vec4 b = pack_number((float)x);
        if (!CHECK_EQ_U64(join(b), x) || !CHECK(unpack_number(b) == (float)x))
            return;
    }
    CHECK_EQ_U64(join(pack_number(4294967040.0f)), 4294967040u);
    CHECK(unpack_number(split(0xffffffffu)) >= 16777216.0f);
}

/* ---- shaders --------------------------------------------------------------------------------- */

#ifdef TML_GL

enum { CHUNK = 1 << 20 };

/* Subnormals may have become zeros of their sign. */
static bool is_right(uint32_t bits, uint32_t is)
{
    bool is_subnormal = (bits & 0x7f800000u) == 0;
    return is == bits || (is_nan_bits(bits) && is_nan_bits(is)) ||
           (is_subnormal && is == (bits & 0x80000000u));
}

/* Sends all patterns through buffers of a context; by a kernel, which unpacks and packs, or
 * straight, so that the reading alone does something. */
static void check_context(tml_context *tml, bool by_kernel)
{
    tml_buffer in, out;
    const tml_buffer_desc desc = {.type = TML_F32, .count = CHUNK};
    uint32_t *bits = malloc(CHUNK * sizeof *bits), *is = malloc(CHUNK * sizeof *is);
    if (!bits || !is)
        abort();
    if (CHECK_OK(tml, tml_buffer_create(tml, &desc, &in)) &&
        CHECK_OK(tml, tml_buffer_create(tml, &desc, &out)))
        for (uint64_t first = 0; first < pattern_count() && !test_failures; first += CHUNK) {
            for (uint32_t i = 0; i < CHUNK; i++)
                bits[i] = pattern(first + i);
            CHECK_OK(tml, tml_buffer_write(tml, in, 0, CHUNK, bits));
            if (by_kernel)
                CHECK_OK(tml, tml_map(tml, &(tml_map_desc){
                                               .kernel = TML_USE(same), .in = {in}, .out = {out}}));
            CHECK_OK(tml, tml_buffer_read(tml, by_kernel ? out : in, is));
            for (uint32_t i = 0; i < CHUNK; i++)
                if (!is_right(bits[i], is[i]))
                    test_fail(__FILE__, __LINE__, "0x%08x comes back as 0x%08x", bits[i], is[i]);
        }
    free(bits);
    free(is);
}

static void check_path(tml_gl_path path, bool by_kernel)
{
    tml_context *tml;
    tml_status status = tml_open(
        &(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &(tml_gl_desc){.path = path}}, &tml);
    if (status == TML_ERROR_NO_DEVICE || status == TML_ERROR_UNSUPPORTED)
        SKIP("no OpenGL ES here, or no path %s", tml_gl_path_name(path));
    if (!CHECK_STATUS(status, TML_OK))
        return;
    check_context(tml, by_kernel);
    tml_close(tml);
}

static void check_kinds(tml_context *tml)
{
    static const uint32_t bits[] = {0,           0x80000000u, 1,           0x3f800000u,
                                    0xbf800000u, 0x7f000000u, 0x7f7ffffeu, 0x7f7fffffu,
                                    0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7f800001u,
                                    0x7fc00000u, 0xffc12345u, 0xffffffffu};
    enum { COUNT = sizeof bits / sizeof bits[0] };
    float is[COUNT];
    tml_buffer in, out;
    tml_buffer_desc desc = {.type = TML_F32, .count = COUNT, .data = bits};
    if (!CHECK_OK(tml, tml_buffer_create(tml, &desc, &in)))
        return;
    desc.data = NULL;
    CHECK_OK(tml, tml_buffer_create(tml, &desc, &out));
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(kind), .in = {in}, .out = {out}}));
    CHECK_OK(tml, tml_buffer_read(tml, out, is));
    for (int i = 0; i < COUNT; i++) {
        uint32_t size = bits[i] & 0x7fffffffu;
        float wanted = size > 0x7f800000u ? 2.0f : size == 0x7f800000u ? 1.0f : 0.0f;
        if (is[i] != wanted)
            test_fail(__FILE__, __LINE__, "0x%08x is of kind %g", bits[i], (double)is[i]);
    }
}

/* Every path, and the CPU engine, tells infinities and NaNs from numbers. */
TEST(kernels_tell_infinities)
{
    static const tml_gl_path paths[] = {TML_GL_PATH_INTEGER, TML_GL_PATH_FLOAT,
                                        TML_GL_PATH_FLOAT_PACKED, TML_GL_PATH_PACKED};
    tml_context *tml;
    CHECK(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml) == TML_OK);
    check_kinds(tml);
    tml_close(tml);
    for (int p = 0; p < 4; p++) {
        tml_status status = tml_open(
            &(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &(tml_gl_desc){.path = paths[p]}},
            &tml);
        if (status == TML_ERROR_NO_DEVICE || status == TML_ERROR_UNSUPPORTED)
            SKIP("no OpenGL ES here, or no path %s", tml_gl_path_name(paths[p]));
        if (CHECK_STATUS(status, TML_OK))
            check_kinds(tml);
        tml_close(tml);
    }
}

/* Bytes to a float in a shader, and back. */
TEST(shader_unpacks_and_packs)
{
    check_path(TML_GL_PATH_PACKED, true);
}

/* Float textures, packed to be read. */
TEST(shader_packs)
{
    check_path(TML_GL_PATH_FLOAT_PACKED, false);
}

#endif

int main(int argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            is_whole = true;
        else
            argv[kept++] = argv[i];
    }
    return test_main(kept, argv);
}
