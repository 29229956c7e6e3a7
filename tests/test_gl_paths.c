/* Each path of the OpenGL ES engine, forced, against the CPU engine; and what the capability tests
 * make of devices that are worse than this one, which is made worse through lent functions. */
#include "test.h"

#include "core/testing.h"
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "core/platform.h"
#include "gl/device/gl_load.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(float, twice, (float x, tml_index i, tml_params p), { return x * 2.0f + F(i) - p.f[1]; })
TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f; })
TML_KERNEL(vec3, joined, (vec2 a, uint u), { return VEC3(a.x, a.y + 1.0f, F(u)); })
TML_KERNEL(int, turned, (int a, tml_params p), { return max(-a, -500) - I(p.u[1]); })
TML_KERNEL(bool, is_odd, (uint x), { return mod(F(x), 2.0f) == 1.0f; })
TML_KERNEL(uint, sparse, (float x), { return x > 20.0f ? 3u : 0u; })
TML_KERNEL(float, spread, (float x, tml_index i, tml_rank k), { return x + F(i) + 0.25f * F(k); })
TML_KERNEL(float, looked_up, (uint x, tml_words w), { return tml_word_float(w, x); })
TML_KERNEL(float, of_pair, (uvec2 v), { return F(v.x) - F(v.y); })
TML_KERNEL(uint, needs_bits, (uint x), { return x >> 1 & 3u; })
#include <trommel/kernel_end.h>

static const tml_gl_path paths[] = {TML_GL_PATH_INTEGER, TML_GL_PATH_FLOAT,
                                    TML_GL_PATH_FLOAT_PACKED, TML_GL_PATH_PACKED};
enum { PATHS = sizeof paths / sizeof *paths };

/* ---- both engines ---------------------------------------------------------------------------- */

typedef struct pair {
    tml_context *gl, *cpu;
    tml_gl_path path;
} pair;

/* Does the driver say that it knows OpenGL ES 3.0? */
static bool has_es3(void)
{
    tml_device_info devices[16];
    uint32_t count = tml_devices(devices, 16);
    for (uint32_t i = 0; i < count && i < 16; i++)
        if (devices[i].engine == TML_ENGINE_GL)
            return strstr(devices[i].features, "ES 3") != NULL;
    return false;
}

/* Drivers of OpenGL ES 2.0 need not have float targets. */
static bool begin(pair *p, tml_gl_path path)
{
    *p = (pair){NULL, NULL, path};
    bool may_fail = path != TML_GL_PATH_PACKED && !has_es3();
    tml_status status = tml_open_testing(
        &(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &(tml_gl_desc){.path = path}},
        &(tml_testing){.gl_row_log2 = 5}, &p->gl);
    if (status == TML_ERROR_NO_DEVICE || (may_fail && status == TML_ERROR_UNSUPPORTED)) {
        snprintf(test_skip_reason, sizeof test_skip_reason, "no device, or no path %s",
                 tml_gl_path_name(path));
        return false;
    }
    return CHECK_STATUS(status, TML_OK) &&
           CHECK_OK(NULL,
                    tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &p->cpu));
}

static void end(pair *p)
{
    tml_close(p->gl);
    tml_close(p->cpu);
}

/* The same buffer on both. */
typedef struct twins {
    tml_buffer gl, cpu;
} twins;

static twins make(const pair *p, tml_type type, uint64_t count, const void *data)
{
    twins t = {{0, 0}, {0, 0}};
    const tml_buffer_desc desc = {.type = type, .count = count, .data = data};
    CHECK_OK(p->gl, tml_buffer_create(p->gl, &desc, &t.gl));
    CHECK_OK(p->cpu, tml_buffer_create(p->cpu, &desc, &t.cpu));
    return t;
}

/* An output: begins as a pattern, so that what nobody writes is seen. */
static twins make_output(const pair *p, tml_type type, uint64_t count)
{
    size_t size = (size_t)count * tml_type_size(type);
    uint8_t *pattern = malloc(size + 1);
    if (!pattern)
        abort();
    for (size_t i = 0; i < size; i++)
        pattern[i] = (uint8_t)(i * 37 + 11);
    twins t = make(p, type, count, pattern);
    free(pattern);
    return t;
}

static void destroy(const pair *p, twins t)
{
    tml_buffer_destroy(p->gl, t.gl);
    tml_buffer_destroy(p->cpu, t.cpu);
}

/* Equal to the last bit, also where nothing was to be written? */
static bool check_equal(const pair *p, const char *what, twins t)
{
    tml_type type = TML_TYPE_NONE;
    uint64_t count = 0;
    tml_buffer_describe(p->cpu, t.cpu, &type, &count);
    size_t size = (size_t)count * tml_type_size(type);
    uint8_t *a = malloc(size + 1), *b = malloc(size + 1);
    if (!a || !b)
        abort();
    bool same = CHECK_OK(p->gl, tml_buffer_read(p->gl, t.gl, a)) &&
                CHECK_OK(p->cpu, tml_buffer_read(p->cpu, t.cpu, b));
    for (size_t i = 0; same && i < size; i++)
        if (a[i] != b[i])
            same = test_fail(__FILE__, __LINE__, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what,
                             i, size, a[i], b[i]);
    free(a);
    free(b);
    return same;
}

/* Sizes on the seams: of words, of fans and pyramids of 4 and 16, of rows of 32 texels. */
static const uint64_t sizes[] = {1,  2,  3,  4,  5,   15,  16,  17,   31,
                                 33, 63, 64, 65, 127, 255, 257, 1000, 4097};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 4097 };

static float reals[3 * MOST + 16];
static uint32_t words[3 * MOST + 16];

static void make_data(void)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        reals[i] = 0.125f * (float)((int)(i * 7919 % 1000) - 500);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = x = x * 1664525u + 1013904223u;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void check_transfers(const pair *p)
{
    static const tml_type types[] = {
        TML_U8, TML_I16, TML_U32, TML_U64, TML_F32, TML_F64, TML_VEC(TML_F32, 3), TML_RECORD(5)};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        size_t size = tml_type_size(types[k]);
        uint64_t count = 100;
        bool floats = tml_type_scalar(types[k]) == TML_F32;
        twins t = make(p, types[k], count, floats ? (const void *)reals : words);
        check_equal(p, "a new buffer", t);
        CHECK_OK(p->gl, tml_buffer_write(p->gl, t.gl, 33, 41, &reals[3]));
        CHECK_OK(p->cpu, tml_buffer_write(p->cpu, t.cpu, 33, 41, &reals[3]));
        check_equal(p, "after a write", t);
        uint8_t piece[64 * 16];
        CHECK_OK(p->gl, tml_buffer_read_range(p->gl, t.gl, 35, 30, piece));
        CHECK(memcmp(piece, (const uint8_t *)&reals[3] + 2 * size, 30 * size) == 0);
        destroy(p, t);
    }
}

static void check_map(const pair *p)
{
    const tml_params params = {.f = {0, 0.5f, 0, 0}, .u = {0, 3, 0, 0}};
    for (size_t s = 0; s < SIZES; s++) {
        uint64_t n = sizes[s];
        twins x = make(p, TML_F32, n, reals), pairs = make(p, TML_VEC(TML_F32, 2), n / 2, reals);
        twins bytes = make(p, TML_U8, n, words), shorts = make(p, TML_I16, n, words);
        twins out = make_output(p, TML_F32, n), flags = make_output(p, TML_U8, n + 5);
        twins vectors = make_output(p, TML_VEC(TML_F32, 3), n / 2);
        twins ints = make_output(p, TML_I32, n);
        struct {
            const tml_kernel *kernel;
            twins in[2], out;
            uint64_t count;
        } maps[] = {{TML_USE(twice), {x}, out, 0},
                    {TML_USE(is_positive), {x}, flags, n},
                    {TML_USE(joined), {pairs, bytes}, vectors, n / 2},
                    {TML_USE(turned), {shorts}, ints, n},
                    {TML_USE(twice), {x}, x, 0}};
        for (size_t m = 0; m < sizeof maps / sizeof *maps; m++) {
            if (maps[m].count == 0 && m == 2)
                continue;
            tml_map_desc desc = {.kernel = maps[m].kernel, .params = params};
            desc.length.count = maps[m].count;
            desc.in[0] = maps[m].in[0].gl;
            desc.in[1] = maps[m].in[1].gl;
            desc.out[0] = maps[m].out.gl;
            CHECK_OK(p->gl, tml_map(p->gl, &desc));
            desc.in[0] = maps[m].in[0].cpu;
            desc.in[1] = maps[m].in[1].cpu;
            desc.out[0] = maps[m].out.cpu;
            CHECK_OK(p->cpu, tml_map(p->cpu, &desc));
            check_equal(p, maps[m].kernel->name, maps[m].out);
        }
        twins all[] = {x, pairs, bytes, shorts, out, flags, vectors, ints};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            destroy(p, all[i]);
    }
}

/* Sums of these floats are exact in single precision, so no bound is needed. */
static void check_reduce(const pair *p)
{
    static const struct {
        tml_fold fold;
        tml_type in, out;
    } folds[] = {{TML_FOLD_SUM, TML_F32, TML_F32}, {TML_FOLD_SUM, TML_F32, TML_F64},
                 {TML_FOLD_SUM, TML_U8, TML_U64},  {TML_FOLD_SUM, TML_I8, TML_I64},
                 {TML_FOLD_SUM, TML_I16, TML_I64}, {TML_FOLD_SUM, TML_U32, TML_U64},
                 {TML_FOLD_SUM, TML_I32, TML_I64}, {TML_FOLD_MIN, TML_F32, TML_F32},
                 {TML_FOLD_MAX, TML_F32, TML_F32}, {TML_FOLD_MIN, TML_I8, TML_I8},
                 {TML_FOLD_MAX, TML_U16, TML_U16}, {TML_FOLD_MIN, TML_I32, TML_I32},
                 {TML_FOLD_MAX, TML_U32, TML_U32}};
    for (size_t f = 0; f < sizeof folds / sizeof *folds; f++)
        for (size_t s = 0; s < SIZES; s++) {
            const void *data = folds[f].in == TML_F32 ? (const void *)reals : words;
            twins in = make(p, folds[f].in, sizes[s], data);
            twins out = make_output(p, folds[f].out, 3);
            CHECK_OK(p->gl,
                     tml_reduce(p->gl, &(tml_reduce_desc){.in = in.gl,
                                                          .folds = {{folds[f].fold, out.gl}}}));
            CHECK_OK(p->cpu,
                     tml_reduce(p->cpu, &(tml_reduce_desc){.in = in.cpu,
                                                           .folds = {{folds[f].fold, out.cpu}}}));
            check_equal(p, tml_type_name(folds[f].in), out);
            destroy(p, in);
            destroy(p, out);
        }
}

/* The mean of an image with one bright pixel, which may stand anywhere: its weight is 1 / n. */
static void check_mean(const pair *p)
{
    enum { WIDTH = 67, HEIGHT = 45, PIXELS = WIDTH * HEIGHT };
    static const uint32_t spots[] = {0, WIDTH - 1, PIXELS - WIDTH, PIXELS - 1, PIXELS / 2};
    for (size_t s = 0; s < sizeof spots / sizeof *spots; s++) {
        uint8_t image[PIXELS] = {0};
        image[spots[s]] = 201;
        twins in = make(p, TML_U8, PIXELS, image), out = make_output(p, TML_F32, 1);
        float mean = 0;
        CHECK_OK(p->gl, tml_reduce(p->gl, &(tml_reduce_desc){.in = in.gl,
                                                             .folds = {{TML_FOLD_MEAN, out.gl}}}));
        CHECK_OK(p->gl, tml_buffer_read(p->gl, out.gl, &mean));
        CHECK_NEAR(mean, 201.0 / PIXELS, 201.0 / PIXELS * 0x1p-21);
        destroy(p, in);
        destroy(p, out);
    }
}

typedef struct compact_case {
    const char *name;
    const tml_kernel *kernel;
    twins kernel_in, flags, mask;
} compact_case;

static void run_compact(const pair *p, const compact_case *c, uint64_t n, bool device_length,
                        bool short_outputs)
{
    enum { OUTPUTS = 5 };
    static const tml_type types[OUTPUTS] = {TML_F32, TML_U8, TML_VEC(TML_F32, 3), TML_U32,
                                            TML_RECORD(3)};
    uint32_t length = (uint32_t)(n - n / 3);
    twins count = make_output(p, TML_U32, 2), indices = make_output(p, TML_U64, n);
    twins lengths = make(p, TML_U32, 1, &length);
    twins in[OUTPUTS], out[OUTPUTS];
    tml_compact_desc gl = {
        .method = TML_METHOD_HISTOPYRAMID, .count = count.gl, .indices = indices.gl};
    gl.length.count = n;
    tml_compact_desc cpu = gl;
    cpu.count = count.cpu;
    cpu.indices = indices.cpu;
    if (device_length) {
        gl.length.device = lengths.gl;
        cpu.length.device = lengths.cpu;
    }
    gl.keep = (tml_keep){
        .kernel = c->kernel, .in = {c->kernel_in.gl}, .flags = c->flags.gl, .mask = c->mask.gl};
    cpu.keep = (tml_keep){
        .kernel = c->kernel, .in = {c->kernel_in.cpu}, .flags = c->flags.cpu, .mask = c->mask.cpu};
    for (int i = 0; i < OUTPUTS; i++) {
        bool floats = tml_type_scalar(types[i]) == TML_F32;
        in[i] = make(p, types[i], n, floats ? (const void *)reals : words);
        out[i] = make_output(p, types[i], short_outputs ? n / 4 : n);
        gl.payloads[i] = (tml_payload){in[i].gl, out[i].gl};
        cpu.payloads[i] = (tml_payload){in[i].cpu, out[i].cpu};
    }
    if (CHECK_OK(p->gl, tml_compact(p->gl, &gl)) && CHECK_OK(p->cpu, tml_compact(p->cpu, &cpu))) {
        check_equal(p, "count", count);
        check_equal(p, "indices", indices);
        for (int i = 0; i < OUTPUTS; i++)
            if (!check_equal(p, tml_type_name(types[i]), out[i]))
                printf("  in compact of %s, %d elements\n", c->name, (int)n);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        destroy(p, in[i]);
        destroy(p, out[i]);
    }
    destroy(p, count);
    destroy(p, indices);
    destroy(p, lengths);
}

static void check_compact(const pair *p)
{
    for (size_t s = 0; s < SIZES; s++) {
        uint64_t n = sizes[s];
        uint8_t flags[MOST];
        for (uint64_t i = 0; i < n; i++)
            flags[i] = (uint8_t)(words[i] >> 13 & 2);
        twins real = make(p, TML_F32, n, reals), small = make(p, TML_U16, n, words);
        twins flag = make(p, TML_U8, n, flags), mask = make(p, TML_U32, (n + 31) / 32, words);
        const twins none = {{0, 0}, {0, 0}};
        const compact_case cases[] = {
            {"a kernel of floats", TML_USE(is_positive), real, none, none},
            {"a kernel of u16", TML_USE(is_odd), small, none, none},
            {"flags", NULL, none, flag, none},
            {"a mask", NULL, none, none, mask}};
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            run_compact(p, &cases[c], n, s % 2 == 1, (s + c) % 3 == 2);
        destroy(p, real);
        destroy(p, small);
        destroy(p, flag);
        destroy(p, mask);
    }
}

/* In place, the result is a prefix of the input's buffer. */
static void check_compact_in_place(const pair *p)
{
    twins x = make(p, TML_F32, 1000, reals), count = make_output(p, TML_U64, 1);
    tml_compact_desc desc = {
        .keep = {.kernel = TML_USE(is_positive)}, .payloads = {{x.gl, x.gl}}, .count = count.gl};
    CHECK_OK(p->gl, tml_compact(p->gl, &desc));
    desc.payloads[0] = (tml_payload){x.cpu, x.cpu};
    desc.count = count.cpu;
    CHECK_OK(p->cpu, tml_compact(p->cpu, &desc));
    check_equal(p, "count", count);
    uint64_t kept = 0;
    static float a[1000], b[1000];
    CHECK_OK(p->gl, tml_buffer_read_count(p->gl, count.gl, &kept));
    CHECK_OK(p->gl, tml_buffer_read(p->gl, x.gl, a));
    CHECK_OK(p->cpu, tml_buffer_read(p->cpu, x.cpu, b));
    CHECK(kept > 0 && kept < 1000 && memcmp(a, b, kept * sizeof *a) == 0);
    destroy(p, x);
    destroy(p, count);
}

static void run_expand(const pair *p, twins counts, const tml_kernel *count_kernel, twins x,
                       uint64_t n, uint64_t room)
{
    twins source = make_output(p, TML_U32, room), rank = make_output(p, TML_U32, room);
    twins out = make_output(p, TML_F32, room), total = make_output(p, TML_U64, 1);
    tml_expand_desc desc = {.count_kernel = count_kernel,
                            .emit_kernel = TML_USE(spread),
                            .method = TML_METHOD_HISTOPYRAMID};
    desc.length.count = n;
    for (int e = 0; e < 2; e++) {
        desc.counts = count_kernel ? (tml_buffer){0, 0} : e ? counts.cpu : counts.gl;
        desc.in[0] = e ? x.cpu : x.gl;
        desc.source = e ? source.cpu : source.gl;
        desc.rank = e ? rank.cpu : rank.gl;
        desc.out[0] = e ? out.cpu : out.gl;
        desc.total = e ? total.cpu : total.gl;
        tml_context *tml = e ? p->cpu : p->gl;
        CHECK_OK(tml, tml_expand(tml, &desc));
    }
    check_equal(p, "total", total);
    check_equal(p, "source", source);
    check_equal(p, "rank", rank);
    check_equal(p, "out", out);
    destroy(p, source);
    destroy(p, rank);
    destroy(p, out);
    destroy(p, total);
}

static void check_expand(const pair *p)
{
    for (size_t s = 0; s < SIZES; s++) {
        uint64_t n = sizes[s];
        static uint8_t bytes[MOST];
        static uint16_t shorts[MOST];
        static uint32_t wide[MOST];
        for (uint64_t i = 0; i < n; i++) {
            bytes[i] = (uint8_t)(words[i] >> 9 & 3);
            shorts[i] = i % 50 == 7 ? 60 : 0;
            wide[i] = i == n / 2 ? 4099 : 0;
        }
        twins x = make(p, TML_F32, n, reals);
        twins counts[] = {make(p, TML_U8, n, bytes), make(p, TML_U16, n, shorts),
                          make(p, TML_U32, n, wide)};
        for (int c = 0; c < 3; c++)
            run_expand(p, counts[c], NULL, x, n, c == 1 ? n / 2 + 1 : 2 * n + 5000);
        run_expand(p, counts[0], TML_USE(sparse), x, n, 2 * n);
        for (int c = 0; c < 3; c++)
            destroy(p, counts[c]);
        destroy(p, x);
    }
}

/* ---- surfaces -------------------------------------------------------------------------------- */

typedef struct surface_case {
    tml_type type;
    uint64_t dims[3];
    tml_region region;
    double isovalues[3];
    uint32_t isovalue_count;
    bool is_mirrored, flip, with_nan;
} surface_case;

/* A blob with ripples, of 8 bits, in every type; some cells are ambiguous. */
static void fill_volume(const surface_case *c, void *out)
{
    uint64_t n = 0;
    for (uint64_t z = 0; z < c->dims[2]; z++)
        for (uint64_t y = 0; y < c->dims[1]; y++)
            for (uint64_t x = 0; x < c->dims[0]; x++, n++) {
                uint8_t value = (uint8_t)(128 + 60 * sin(0.9 * (double)x) * cos(0.7 * (double)y) +
                                          50 * sin(1.3 * (double)z + 0.2 * (double)x));
                value = (uint8_t)(value + (words[n % MOST] & 7));
                if (c->type == TML_U8)
                    ((uint8_t *)out)[n] = value;
                else if (c->type == TML_U16)
                    ((uint16_t *)out)[n] = (uint16_t)(value * 257);
                else
                    ((float *)out)[n] = c->with_nan && n % 41 == 3 ? NAN : (float)value * 0.01f;
            }
}

static void run_surface(const pair *p, const surface_case *c)
{
    static float volume[64 * 64 * 16];
    fill_volume(c, volume);
    uint64_t samples = c->dims[0] * c->dims[1] * c->dims[2];
    twins in = make(p, c->type, samples, volume);
    tml_surface_result results[2];
    float *positions[2] = {NULL, NULL};
    bool ok = true;
    for (int e = 0; e < 2; e++) {
        tml_surface_desc desc = {.volume = e ? in.cpu : in.gl,
                                 .region = c->region,
                                 .isovalues = c->isovalues,
                                 .isovalue_count = c->isovalue_count,
                                 .flip = c->flip,
                                 .soup = true};
        memcpy(desc.grid.dims, c->dims, sizeof c->dims);
        for (int a = 0; a < 3; a++) {
            desc.grid.spacing[a] = 0.5 + a;
            desc.grid.origin[a] = 3.0 - a;
            desc.grid.direction[4 * a] = a == 1 && c->is_mirrored ? -1 : 1;
        }
        tml_context *tml = e ? p->cpu : p->gl;
        ok = ok && CHECK_OK(tml, tml_surface(tml, &desc, &results[e]));
        if (!ok)
            continue;
        positions[e] = calloc(results[e].vertex_count + 1, 3 * sizeof(float));
        if (!positions[e])
            abort();
        CHECK_OK(tml, tml_buffer_read(tml, results[e].mesh.positions, positions[e]));
    }
    if (ok && CHECK_EQ_U64(results[0].vertex_count, results[1].vertex_count)) {
        CHECK_EQ_U64(results[0].triangle_count, results[1].triangle_count);
        CHECK_EQ_U64(results[0].active_cells, results[1].active_cells);
        for (uint32_t i = 0; i < c->isovalue_count; i++) {
            CHECK_EQ_U64(results[0].parts[i].vertex_first, results[1].parts[i].vertex_first);
            CHECK_EQ_U64(results[0].parts[i].triangle_count, results[1].parts[i].triangle_count);
        }
        /* The bound that surface.h states, of the largest extent. */
        double bound = 8 * 0x1p-24 * (3.0 + 2.5 * 64);
        for (uint64_t i = 0; i < 3 * results[0].vertex_count; i++)
            if (!CHECK_NEAR(positions[0][i], positions[1][i], bound))
                break;
    }
    for (int e = 0; e < 2; e++) {
        free(positions[e]);
        if (ok)
            tml_surface_free(e ? p->cpu : p->gl, &results[e]);
    }
    destroy(p, in);
}

static void check_surface(const pair *p)
{
    static const surface_case cases[] = {
        {TML_U8, {9, 7, 6}, {{0}, {0}}, {128.5}, 1, false, false, false},
        {TML_U8, {2, 2, 2}, {{0}, {0}}, {130}, 1, false, false, false},
        {TML_U8, {1, 5, 4}, {{0}, {0}}, {130}, 1, false, false, false},
        {TML_U16, {33, 20, 5}, {{0}, {0}}, {32768, 20000.25, 70000}, 3, true, false, false},
        {TML_F32, {17, 31, 9}, {{0}, {0}}, {1.28}, 1, false, true, false},
        {TML_F32, {40, 19, 7}, {{3, 2, 1}, {30, 12, 5}}, {1.1, 1.45}, 2, true, true, true},
        {TML_U8, {64, 30, 8}, {{0}, {0}}, {140}, 1, false, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_surface(p, &cases[i]);
    /* Welded, it is another engine's. */
    uint8_t cube[8] = {0, 0, 0, 0, 255, 255, 255, 255};
    twins in = make(p, TML_U8, 8, cube);
    tml_surface_result result;
    CHECK_STATUS(
        tml_surface(p->gl,
                    &(tml_surface_desc){.volume = in.gl, .grid = {.dims = {2, 2, 2}}, .iso = 100},
                    &result),
        p->path == TML_GL_PATH_INTEGER ? TML_OK : TML_ERROR_UNSUPPORTED);
    if (p->path == TML_GL_PATH_INTEGER)
        tml_surface_free(p->gl, &result);
    else
        CHECK(strstr(tml_last_error(p->gl), "soup") != NULL);
    CHECK_STATUS(tml_surface(p->gl,
                             &(tml_surface_desc){.volume = in.gl,
                                                 .grid = {.dims = {2, 2, 2}},
                                                 .iso = 100,
                                                 .soup = true,
                                                 .layout.stride = 16},
                             &result),
                 p->path == TML_GL_PATH_INTEGER ? TML_OK : TML_ERROR_UNSUPPORTED);
    if (p->path == TML_GL_PATH_INTEGER)
        tml_surface_free(p->gl, &result);
    else
        CHECK(strstr(tml_last_error(p->gl), "layout.stride") != NULL);
    destroy(p, in);
}

/* A refusal names its call, the path and what to take instead. */
static void check_refusal(const pair *p, tml_status status, const char *call, const char *what)
{
    char path[32];
    snprintf(path, sizeof path, "path %s", tml_gl_path_name(p->path));
    CHECK_STATUS(status, TML_ERROR_UNSUPPORTED);
    const char *const wanted[] = {call, path, what, "use the integer path or the CPU engine"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(tml_last_error(p->gl), wanted[i]))
            test_fail(__FILE__, __LINE__, "no \"%s\" in: %s", wanted[i], tml_last_error(p->gl));
}

static void check_lacks(const pair *p)
{
    float point[3] = {0, 0, 0};
    twins in = make(p, TML_F32, 3, point), out = make_output(p, TML_F32, 64);
    twins count = make_output(p, TML_U32, 1);
    twins bins = make(p, TML_U8, 3, (uint8_t[]){0, 0, 0});
    twins points = make(p, TML_VEC(TML_F32, 3), 1, point);
    const tml_field_desc field = {
        .points = points.gl, .radius = 1, .grid = {.dims = {4, 4, 4}, .spacing = {1, 1, 1}}};
    check_refusal(p, tml_field(p->gl, &field, out.gl), "tml_field", "no fields");
    check_refusal(p, tml_scan(p->gl, &(tml_scan_desc){.in = in.gl, .out = out.gl}), "tml_scan",
                  "no scans");
    const tml_histogram_desc histogram = {.in = {bins.gl}, .out = count.gl};
    check_refusal(p, tml_histogram(p->gl, &histogram), "tml_histogram", "no histograms");
    const tml_sort_desc sort = {.keys = in.gl, .sorted = out.gl};
    check_refusal(p, tml_sort(p->gl, &sort), "tml_sort", "no sorting");
    tml_compact_desc compact = {.keep = {.kernel = TML_USE(is_positive), .in = {in.gl}},
                                .payloads = {{in.gl, out.gl}},
                                .method = TML_METHOD_LOOK_BACK};
    check_refusal(p, tml_compact(p->gl, &compact), "tml_compact", "this method");
    compact.method = TML_METHOD_AUTO;
    compact.partition = true;
    check_refusal(p, tml_compact(p->gl, &compact), "tml_compact", "no partitions");
    check_equal(p, "out", out);
    check_equal(p, "count", count);
    twins all[] = {in, out, count, points};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        destroy(p, all[i]);
}

/* What cannot be exact is refused, and nothing is written. */
static void check_refusals(const pair *p)
{
    const uint32_t many[] = {0xffffff, 1, 5}, few[] = {0xfffffe, 1, 0};
    twins source = make_output(p, TML_U32, 8), large = make(p, TML_U32, 3, many);
    twins exact = make(p, TML_U32, 3, few), total = make_output(p, TML_U32, 1);
    tml_expand_desc expand = {.counts = large.gl, .source = source.gl, .total = total.gl};
    CHECK_STATUS(tml_expand(p->gl, &expand), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(p->gl), "16777216") != NULL);
    check_equal(p, "source", source);
    check_equal(p, "total", total);
    uint64_t outputs = 0;
    expand.counts = exact.gl;
    CHECK_OK(p->gl, tml_expand(p->gl, &expand));
    CHECK_OK(p->gl, tml_buffer_read_count(p->gl, total.gl, &outputs));
    CHECK_EQ_U64(outputs, 0xffffff);

    twins u32 = make(p, TML_U32, 3, many), u16 = make(p, TML_U16, 3, many);
    twins out = make_output(p, TML_U32, 3);
    tml_map_desc map = {.kernel = TML_USE(needs_bits), .in = {u16.gl}, .out = {out.gl}};
    if (p->path == TML_GL_PATH_PACKED) { /* GLSL ES 1.00, which has no bits */
        CHECK_STATUS(tml_map(p->gl, &map), TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(p->gl), "needs_bits") != NULL);
    }
    /* Whole arrays and vectors of integers are the integer path's. */
    tml_buffer pairs;
    CHECK_OK(p->gl,
             tml_buffer_create(p->gl, &(tml_buffer_desc){.type = TML_VEC(TML_U32, 2), .count = 3},
                               &pairs));
    twins floats = make_output(p, TML_F32, 3);
    CHECK_STATUS(tml_map(p->gl, &(tml_map_desc){.kernel = TML_USE(looked_up),
                                                .in = {u16.gl, floats.gl},
                                                .out = {floats.gl}}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_map(p->gl, &(tml_map_desc){.kernel = TML_USE(looked_up),
                                                .in = {u16.gl, u32.gl},
                                                .out = {floats.gl}}),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(p->gl), "a tml_words parameter") != NULL);
    CHECK_STATUS(
        tml_map(p->gl,
                &(tml_map_desc){.kernel = TML_USE(of_pair), .in = {pairs}, .out = {floats.gl}}),
        TML_ERROR_UNSUPPORTED);
    tml_buffer_destroy(p->gl, pairs);
    map.in[0] = u32.gl;
    CHECK_STATUS(tml_map(p->gl, &map), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_scan(p->gl, &(tml_scan_desc){.in = u32.gl, .out = out.gl}),
                 TML_ERROR_UNSUPPORTED);
    check_equal(p, "out", out);
    tml_buffer huge;
    CHECK_STATUS(tml_buffer_create(
                     p->gl, &(tml_buffer_desc){.type = TML_U32, .count = (1 << 24) + 1}, &huge),
                 TML_ERROR_OUT_OF_DEVICE_MEMORY);
    twins all[] = {source, large, exact, total, u32, u16, out, floats};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        destroy(p, all[i]);
}

/* Two tetrahedra that meet: AUTO takes what the path has, and finds what the CPU engine does. */
static void check_collide(const pair *p)
{
    static const uint32_t faces[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
    static const float corners[2][12] = {{0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4},
                                         {1, 1, 1, 5, 1, 1, 1, 5, 1, 1, 1, 5}};
    twins indices = make(p, TML_VEC(TML_U32, 3), 4, faces);
    tml_collide_result results[2] = {{.count = 0}, {.count = 0}};
    bool is_float = p->path != TML_GL_PATH_INTEGER;
    for (int e = 0; e < 2; e++) {
        tml_context *tml = e ? p->cpu : p->gl;
        tml_tree *trees[2] = {NULL, NULL};
        for (int i = 0; i < 2; i++) {
            tml_buffer vertices;
            CHECK_OK(tml, tml_buffer_create(tml,
                                            &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                               .count = 4,
                                                               .data = corners[i]},
                                            &vertices));
            CHECK_OK(tml, tml_tree_create(tml,
                                          &(tml_tree_desc){.vertices = vertices,
                                                           .indices = e ? indices.cpu : indices.gl},
                                          &trees[i]));
            tml_buffer_destroy(tml, vertices);
        }
        tml_collide_desc desc = {.a = trees[0], .b = trees[1]};
        CHECK_OK(tml, tml_collide(tml, &desc, &results[e]));
        if (!e && is_float) {
            tml_collide_result unused;
            desc.method = TML_COLLIDE_METHOD_BREADTH_FIRST;
            CHECK_STATUS(tml_collide(tml, &desc, &unused), TML_ERROR_UNSUPPORTED);
            const char *message = tml_last_error(tml);
            if (!strstr(message, "tml_collide: ") || !strstr(message, tml_gl_path_name(p->path)) ||
                !strstr(message, "the integer path or the CPU engine"))
                test_fail(__FILE__, __LINE__, "\"%s\"", message);
        }
        tml_tree_destroy(tml, trees[0]);
        tml_tree_destroy(tml, trees[1]);
    }
    CHECK(results[1].count > 0);
    if (CHECK_EQ_U64(results[0].count, results[1].count))
        CHECK(memcmp(results[0].pairs, results[1].pairs,
                     (size_t)results[0].count * sizeof *results[0].pairs) == 0);
    tml_collide_free(p->gl, &results[0]);
    tml_collide_free(p->cpu, &results[1]);
    destroy(p, indices);
}

/* Refused by its own name, with the path and the cure, before anything is made. */
static void check_subdivide_is_refused(const pair *p)
{
    tml_subdivider *subdivider;
    CHECK_STATUS(tml_subdivider_create(p->gl, &(tml_subdivider_desc){0}, &subdivider),
                 TML_ERROR_UNSUPPORTED);
    CHECK(subdivider == NULL);
    const char *message = tml_last_error(p->gl);
    if (!strstr(message, "tml_subdivider_create: ") ||
        !strstr(message, tml_gl_path_name(p->path)) ||
        !strstr(message, "use the integer path or the CPU engine"))
        test_fail(__FILE__, __LINE__, "\"%s\"", message);
}

/* ---- worse devices --------------------------------------------------------------------------- */

/* What is wrong with the device. */
static struct {
    bool no_float_targets, no_float_reads, no_integer_targets, mediump, wrong_bytes, no_rounding;
    bool no_highp; /* shaders that say it do not compile */
} worse;

typedef void (*gl_function)(void);
static tml_gl_function (*real_address)(const char *name);
static __typeof__(&glCheckFramebufferStatus) real_status;
static __typeof__(&glReadPixels) real_read;
static __typeof__(&glShaderSource) real_source;
static __typeof__(&glTexImage2D) real_image;
static __typeof__(&glGetShaderPrecisionFormat) real_precision;
static GLenum last_format;
static GLenum last_type;

/* The format of the texture that was made last is that of the one that is looked at: so it is in
 * the tests of capabilities. */
static void GL_APIENTRY image_2d(GLenum target, GLint level, GLint internal, GLsizei width,
                                 GLsizei height, GLint border, GLenum format, GLenum type,
                                 const void *data)
{
    last_format = format;
    last_type = type;
    real_image(target, level, internal, width, height, border, format, type, data);
}

static GLenum GL_APIENTRY framebuffer_status(GLenum target)
{
    bool is_float = last_type == GL_FLOAT || last_type == GL_HALF_FLOAT;
    bool is_integer = last_format == GL_RED_INTEGER || last_format == GL_RGBA_INTEGER;
    if ((worse.no_float_targets && is_float) || (worse.no_integer_targets && is_integer))
        return GL_FRAMEBUFFER_UNSUPPORTED;
    return real_status(target);
}

/* A read of floats that says nothing and gives zeros; bytes of which the lowest bit is lost. */
static void GL_APIENTRY read_pixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format,
                                    GLenum type, void *out)
{
    size_t texels = (size_t)width * (size_t)height;
    real_read(x, y, width, height, format, type, out);
    if (worse.no_float_reads && type == GL_FLOAT)
        memset(out, 0, 16 * texels);
    for (size_t i = 0; worse.wrong_bytes && type == GL_UNSIGNED_BYTE && i < 4 * texels; i++)
        ((uint8_t *)out)[i] &= 0xfe;
}

/* Replaces every occurrence of a word by one of no greater length. */
static void replace(char *text, const char *word, const char *by)
{
    size_t length = strlen(word);
    for (char *at = text; (at = strstr(at, word)); at += length) {
        memset(at, ' ', length);
        memcpy(at, by, strlen(by));
    }
}

/* mediump: shaders of GLSL ES 1.00 say highp and get 16 bits, which this driver then computes in.
 * no_rounding: what is stored loses a little more than half a step. */
static void GL_APIENTRY shader_source(GLuint shader, GLsizei count, const GLchar *const *texts,
                                      const GLint *lengths)
{
    size_t size = 1;
    for (GLsizei i = 0; i < count; i++)
        size += strlen(texts[i]);
    char *whole = calloc(size, 1);
    if (!whole)
        abort();
    for (GLsizei i = 0; i < count; i++)
        strcat(whole, texts[i]);
    (void)lengths;
    if (worse.mediump && strncmp(whole, "#version 100", 12) == 0)
        replace(whole, "highp", "lowp ");
    if (worse.no_highp && strncmp(whole, "#version 100", 12) == 0)
        replace(whole, "highp", "h");
    if (worse.no_rounding)
        replace(whole, "+0.25)/255.0", "-0.60)/255.0");
    const GLchar *text = whole;
    real_source(shader, 1, &text, NULL);
    free(whole);
}

static void GL_APIENTRY precision_format(GLenum shader, GLenum type, GLint *range, GLint *precision)
{
    real_precision(shader, type, range, precision);
    if (worse.no_highp && shader == GL_FRAGMENT_SHADER && type == GL_HIGH_FLOAT)
        range[0] = range[1] = *precision = 0;
}

static tml_gl_function worse_address(void *user, const char *name)
{
    (void)user;
    tml_gl_function real = real_address(name);
    struct {
        const char *name;
        void *keep;
        tml_gl_function own;
    } wrapped[] = {
        {"glCheckFramebufferStatus", &real_status, (tml_gl_function)framebuffer_status},
        {"glReadPixels", &real_read, (tml_gl_function)read_pixels},
        {"glGetShaderPrecisionFormat", &real_precision, (tml_gl_function)precision_format},
        {"glShaderSource", &real_source, (tml_gl_function)shader_source},
        {"glTexImage2D", &real_image, (tml_gl_function)image_2d}};
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++)
        if (strcmp(name, wrapped[i].name) == 0) {
            memcpy(wrapped[i].keep, &real, sizeof real);
            return wrapped[i].own;
        }
    return real;
}

/* Opens through the worse functions. Leaves the log's last line in message. */
static char message[1024];
static void keep_message(void *user, tml_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(message, sizeof message, "%s", text);
}
static tml_status open_worse(tml_gl_path path, tml_context **tml)
{
    void *library = tml_library_open(TML_LIBRARY_EGL, NULL, 0);
    if (!library)
        return TML_ERROR_NO_DEVICE;
    void *get = tml_library_symbol(library, "eglGetProcAddress");
    memcpy(&real_address, &get, sizeof get);
    message[0] = '\0';
    const tml_gl_desc gl = {.path = path, .get_proc_address = worse_address};
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &gl, .log = keep_message}, tml);
}

/* The path that AUTO takes, TML_GL_PATH_AUTO for none. */
static tml_gl_path path_taken(void)
{
    tml_context *tml;
    if (open_worse(TML_GL_PATH_AUTO, &tml) != TML_OK)
        return TML_GL_PATH_AUTO;
    tml_gl_test tests[64];
    uint32_t count = tml_gl_tests(tml, tests, 64);
    tml_gl_path path = TML_GL_PATH_AUTO;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < PATHS && tests[i].is_choice; k++)
            if (strcmp(tests[i].name + 5, tml_gl_path_name(paths[k])) == 0)
                path = paths[k];
    tml_close(tml);
    return path;
}

/* Is this test among those of a context, and did it pass? */
static bool has_passed(tml_context *tml, const char *name)
{
    tml_gl_test tests[64];
    uint32_t count = tml_gl_tests(tml, tests, 64);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, name) == 0)
            return tests[i].passed;
    return false;
}

static bool begin_worse(void)
{
    memset(&worse, 0, sizeof worse);
    return has_es3();
}

TEST(path_follows_what_the_device_does)
{
    if (!begin_worse())
        SKIP("no device with OpenGL ES 3.0 to make worse");
    CHECK_EQ_U64(path_taken(), TML_GL_PATH_INTEGER);
    worse.no_integer_targets = true;
    CHECK_EQ_U64(path_taken(), TML_GL_PATH_FLOAT);
    worse.no_float_reads = true;
    CHECK_EQ_U64(path_taken(), TML_GL_PATH_FLOAT_PACKED);
    worse.no_float_targets = true;
    CHECK_EQ_U64(path_taken(), TML_GL_PATH_PACKED);
    worse.wrong_bytes = true;
    CHECK_EQ_U64(path_taken(), TML_GL_PATH_AUTO);
}

TEST(forced_paths_are_refused_with_the_reason)
{
    if (!begin_worse())
        SKIP("no device with OpenGL ES 3.0 to make worse");
    tml_context *tml;
    worse.no_float_targets = true;
    CHECK_STATUS(open_worse(TML_GL_PATH_FLOAT, &tml), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(message, "float targets (GL_FRAMEBUFFER_UNSUPPORTED)") != NULL);
    begin_worse();
    worse.no_rounding = true;
    CHECK_STATUS(open_worse(TML_GL_PATH_PACKED, &tml), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(message, "256 values") != NULL);
    begin_worse();
    worse.no_integer_targets = true;
    CHECK_STATUS(open_worse(TML_GL_PATH_INTEGER, &tml), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(message, "R32UI") != NULL);
    CHECK(strstr(message, "GL_FRAMEBUFFER_UNSUPPORTED") != NULL);
}

/* Floats of 16 bits: too few for positions, so the tier is refused; moving bytes is still exact.
 * What has integers is not touched by it. */
TEST(mediump_devices_are_refused)
{
    if (!begin_worse())
        SKIP("no device with OpenGL ES 3.0 to make worse");
    tml_context *tml = NULL;
    worse.mediump = true;
    tml_status status = open_worse(TML_GL_PATH_PACKED, &tml);
    if (status == TML_OK) {
        tml_close(tml);
        SKIP("this driver computes with 32 bits whatever shaders say");
    }
    CHECK_STATUS(status, TML_ERROR_UNSUPPORTED);
    /* The first test that fails; that of bytes came before it. */
    CHECK(strstr(message, "whole numbers are exact to 2^24 (10 bits seen") != NULL);
    if (!CHECK_STATUS(open_worse(TML_GL_PATH_INTEGER, &tml), TML_OK))
        return;
    CHECK(has_passed(tml, "R32UI: 256 words drawn and read back"));
    tml_close(tml);
}

TEST(devices_without_highp_are_told_so)
{
    if (!begin_worse())
        SKIP("no device with OpenGL ES 3.0 to make worse");
    tml_context *tml;
    worse.no_integer_targets = worse.no_highp = true;
    CHECK_STATUS(open_worse(TML_GL_PATH_AUTO, &tml), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(message, "highp floats in fragment shaders (0 bits promised, needs 23)") != NULL);
}

/* ---- as a guest ------------------------------------------------------------------------------ */

typedef struct own_context {
    egl_functions egl;
    gl_functions gl;
    EGLDisplay display;
    EGLContext context;
} own_context;

/* Makes a context of an OpenGL ES version current; false where there is none. */
static bool own_open(own_context *own, int major)
{
    memset(own, 0, sizeof *own);
    if (!egl_load(&own->egl))
        return false;
    const egl_functions *egl = &own->egl;
    own->display = egl->GetPlatformDisplayEXT
                       ? egl->GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
                                                    (void *)EGL_DEFAULT_DISPLAY, NULL)
                       : egl->GetDisplay(EGL_DEFAULT_DISPLAY);
    EGLint high, low, count = 0;
    EGLConfig config;
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE,
                             major == 3 ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_ES2_BIT, EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, major, EGL_NONE};
    if (own->display == EGL_NO_DISPLAY || !egl->Initialize(own->display, &high, &low) ||
        !egl->BindAPI(EGL_OPENGL_ES_API) ||
        !egl->ChooseConfig(own->display, wanted, &config, 1, &count) || count < 1)
        return false;
    own->context = egl->CreateContext(own->display, config, EGL_NO_CONTEXT, version);
    return own->context != EGL_NO_CONTEXT &&
           egl->MakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own->context) &&
           !gl_load(&own->gl, egl_get_proc_address, &own->egl, major == 3);
}

static void own_close(own_context *own)
{
    own->egl.MakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    own->egl.DestroyContext(own->display, own->context);
}

/* State that draws of the tier change. */
typedef struct guest_state {
    GLint values[12], viewport[4], attribute[3];
    GLboolean blend, scissor;
    void *pointer;
} guest_state;

static guest_state look(const gl_functions *gl)
{
    static const GLenum names[] = {
        GL_CURRENT_PROGRAM,     GL_ACTIVE_TEXTURE, GL_TEXTURE_BINDING_2D, GL_ARRAY_BUFFER_BINDING,
        GL_FRAMEBUFFER_BINDING, GL_PACK_ALIGNMENT, GL_UNPACK_ALIGNMENT};
    guest_state s;
    memset(&s, 0, sizeof s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        gl->GetIntegerv(names[i], &s.values[i]);
    gl->GetIntegerv(GL_VIEWPORT, s.viewport);
    gl->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &s.attribute[0]);
    gl->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_SIZE, &s.attribute[1]);
    gl->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &s.attribute[2]);
    gl->GetVertexAttribPointerv(0, GL_VERTEX_ATTRIB_ARRAY_POINTER, &s.pointer);
    s.blend = gl->IsEnabled(GL_BLEND);
    s.scissor = gl->IsEnabled(GL_SCISSOR_TEST);
    return s;
}

/* A program's own things, which would spoil draws that did not set theirs. */
static void set_own_state(const gl_functions *gl)
{
    GLuint buffers[2], texture, framebuffer;
    gl->GenBuffers(2, buffers);
    gl->BindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    gl->BufferData(GL_ARRAY_BUFFER, 64, NULL, GL_STATIC_DRAW);
    gl->VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 12, (const void *)12);
    gl->EnableVertexAttribArray(0);
    gl->BindBuffer(GL_ARRAY_BUFFER, buffers[1]);
    gl->ActiveTexture(GL_TEXTURE0 + 2);
    gl->GenTextures(1, &texture);
    gl->BindTexture(GL_TEXTURE_2D, texture);
    gl->GenFramebuffers(1, &framebuffer);
    gl->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl->Viewport(1, 2, 3, 4);
    gl->Enable(GL_BLEND);
    gl->PixelStorei(GL_PACK_ALIGNMENT, 8);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
}

static void run_as_guest(const own_context *own, tml_gl_path path)
{
    guest_state before = look(&own->gl);
    pair p = {NULL, NULL, path};
    const tml_gl_desc lent = {.lend_current = true, .path = path};
    tml_status status = tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &lent}, &p.gl);
    guest_state opened = look(&own->gl);
    CHECK(memcmp(&before, &opened, sizeof before) == 0);
    if (status == TML_ERROR_UNSUPPORTED && path != TML_GL_PATH_PACKED)
        return;
    if (!CHECK_STATUS(status, TML_OK) ||
        !CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &p.cpu)))
        return;
    make_data();
    check_mean(&p);
    check_compact_in_place(&p);
    guest_state after = look(&own->gl);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    end(&p);
    guest_state closed = look(&own->gl);
    CHECK(memcmp(&before, &closed, sizeof before) == 0);
}

static void check_guest(int major)
{
    own_context own;
    if (!own_open(&own, major))
        SKIP("EGL makes no context of OpenGL ES %d", major);
    set_own_state(&own.gl);
    run_as_guest(&own, TML_GL_PATH_PACKED);
    run_as_guest(&own, TML_GL_PATH_FLOAT);
    own_close(&own);
}

TEST(a_lent_context_of_es2_keeps_its_state)
{
    check_guest(2);
}

TEST(a_lent_context_of_es3_keeps_its_state)
{
    check_guest(3);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void run_on(tml_gl_path path, void (*check)(const pair *))
{
    pair p;
    make_data();
    if (begin(&p, path))
        check(&p);
    end(&p);
}

/* One test of each check on each path. */
#define ON_PATHS(check)                                                                            \
    TEST(check##_on_integer)                                                                       \
    {                                                                                              \
        run_on(TML_GL_PATH_INTEGER, check_##check);                                                \
    }                                                                                              \
    ON_FLOAT_PATHS(check)
#define ON_FLOAT_PATHS(check)                                                                      \
    TEST(check##_on_float)                                                                         \
    {                                                                                              \
        run_on(TML_GL_PATH_FLOAT, check_##check);                                                  \
    }                                                                                              \
    TEST(check##_on_float_packed)                                                                  \
    {                                                                                              \
        run_on(TML_GL_PATH_FLOAT_PACKED, check_##check);                                           \
    }                                                                                              \
    TEST(check##_on_packed)                                                                        \
    {                                                                                              \
        run_on(TML_GL_PATH_PACKED, check_##check);                                                 \
    }

ON_PATHS(transfers)
ON_PATHS(map)
ON_PATHS(reduce)
ON_PATHS(mean)
ON_PATHS(compact)
ON_PATHS(compact_in_place)
ON_PATHS(expand)
ON_PATHS(surface)
ON_PATHS(collide)
ON_FLOAT_PATHS(subdivide_is_refused)
ON_FLOAT_PATHS(refusals)
ON_FLOAT_PATHS(lacks)

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
