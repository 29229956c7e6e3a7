/* The capability tests. Extension names are not trusted: each kind of texture is created, drawn to
 * and read back. Every test adds a line to the tree of tml_gl_tests. Lines with an id decide which
 * paths are available. The float tier's tests take longest, so they run only if one of its paths
 * may be chosen; the integer path is preferred to all of them.
 *
 * All tests draw one row of texels with two programs: float_probe.frag in GLSL ES 1.00, whose
 * uniform probe.x is the mode, and probe_words.frag in GLSL ES 3.00. There are only two programs
 * because most of the time is compilation. */
#include "gl/device/gl_probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gl/device/gl_float.h"
#include "gl_device_shaders.h"

/* Properties that a path may require. If several lines have the same id, all must pass. */
typedef enum probe_id {
    PROBE_INFO, /* decides nothing */
    PROBE_WORDS,
    PROBE_QUADS,
    PROBE_BYTES,
    PROBE_HIGHP,
    PROBE_PACK,
    PROBE_FLOATS,
    PROBE_FLOATS_READ,
    PROBE_IDS,
} probe_id;

/* Modes of float_probe.frag. */
enum { MODE_BYTES, MODE_EXACT, MODE_PACK, MODE_PACK_TEXTURE, MODE_UNPACK };

/* Bit patterns for the tests of floats, in classes. */
enum {
    FIRST_NORMAL = 0,
    FIRST_SUBNORMAL = 1000,
    FIRST_SPECIAL = 1016, /* 0, -0, inf, -inf, NaN */
    PATTERNS = 1024,
    BYTE_VALUES = 256,
};

typedef struct probe {
    tml_context *tml;
    gl_device *d;
    const gl_functions *fn;
    GLuint vertex_array, corners;
    GLuint float_program, words_program;
    GLint settings, texels, size, factor; /* uniforms */
    GLuint framebuffer, patterns;         /* patterns: a texture */
    bool is_short_of_memory; /* out of host memory, which says nothing about the device */
    uint32_t bits[PATTERNS];
    uint32_t read[4 * PATTERNS];
    /* For each id, 1 + the first line that failed; 0 if all passed. An id that was not tested
     * counts as failed. */
    uint32_t failed[PROBE_IDS];
    bool tested[PROBE_IDS];
} probe;

/* ---- lines ----------------------------------------------------------------------------------- */

/* format: what a failed test saw; for highp always given. */
static bool add_line(probe *p, uint32_t depth, probe_id id, bool passed, const char *name,
                     const char *format, ...) TML_FORMAT(6, 7);
static bool add_line(probe *p, uint32_t depth, probe_id id, bool passed, const char *name,
                     const char *format, ...)
{
    gl_device *d = p->d;
    if (d->test_count == GL_TESTS_MAX)
        return passed;
    tml_gl_test *line = &d->tests[d->test_count++];
    *line = (tml_gl_test){.depth = depth, .passed = passed};
    snprintf(line->name, sizeof line->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    if (!passed || id == PROBE_HIGHP)
        vsnprintf(line->detail, sizeof line->detail, format, arguments);
    va_end(arguments);
    p->tested[id] = true;
    if (!passed && !p->failed[id])
        p->failed[id] = d->test_count;
    return passed;
}

/* ---- programs and textures ------------------------------------------------------------------- */

static tml_status make_program(probe *p, const char *version, const gl_shader *shader, GLuint *out)
{
    const gl_functions *fn = p->fn;
    const char *vertex_texts[] = {version, gl_float_vertex};
    GLuint vertex, fragment;
    tml_status status = gl_compile(p->tml, GL_VERTEX_SHADER, "probe", vertex_texts, 2, &vertex);
    if (status != TML_OK) {
        p->is_short_of_memory |= status == TML_ERROR_OUT_OF_MEMORY;
        return status;
    }
    size_t size;
    char *text = gl_shader_text(p->tml, shader, &size);
    const char *texts[] = {version, text};
    status = text ? gl_compile(p->tml, GL_FRAGMENT_SHADER, shader->name, texts, 2, &fragment)
                  : TML_ERROR_OUT_OF_MEMORY;
    tml_free(p->tml, text, size);
    if (status == TML_OK) {
        *out = fn->CreateProgram();
        fn->AttachShader(*out, vertex);
        fn->AttachShader(*out, fragment);
        fn->BindAttribLocation(*out, 0, "corner");
        fn->LinkProgram(*out);
        fn->DeleteShader(fragment);
        GLint linked = GL_FALSE;
        fn->GetProgramiv(*out, GL_LINK_STATUS, &linked);
        if (!linked)
            status = tml_error(p->tml, TML_ERROR_UNSUPPORTED, "the driver does not link shader %s",
                               shader->name);
    }
    fn->DeleteShader(vertex);
    p->is_short_of_memory |= status == TML_ERROR_OUT_OF_MEMORY;
    return status;
}

static GLuint make_texture(const probe *p, GLenum internal, GLenum format, GLenum type,
                           uint32_t width, const void *data)
{
    const gl_functions *fn = p->fn;
    GLuint name;
    fn->GenTextures(1, &name);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, name);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    fn->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    fn->TexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, (GLsizei)width, 1, 0, format, type, data);
    return name;
}

/* Attaches a texture to the framebuffer; returns the framebuffer's status. */
static GLenum bind_target(const probe *p, GLuint texture, uint32_t width)
{
    const gl_functions *fn = p->fn;
    fn->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    fn->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    fn->Viewport(0, 0, (GLsizei)width, 1);
    fn->Scissor(0, 0, (GLsizei)width, 1);
    return fn->CheckFramebufferStatus(GL_FRAMEBUFFER);
}

static void draw_floats(const probe *p, int mode, uint32_t width, GLuint texels)
{
    const gl_functions *fn = p->fn;
    const GLfloat settings[] = {(GLfloat)mode, 1.0f, (GLfloat)PATTERNS, 0.0f};
    const GLfloat size[] = {(GLfloat)width, 1.0f};
    fn->UseProgram(p->float_program);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, texels);
    fn->Uniform1i(p->texels, 0);
    fn->Uniform4fv(p->settings, 1, settings);
    fn->Uniform2fv(p->size, 1, size);
    fn->DrawArrays(GL_TRIANGLES, 0, 3);
}

/* Reads the target's row; returns the driver's error, or 0. */
static GLenum read_row(probe *p, uint32_t width, GLenum format, GLenum type)
{
    const gl_functions *fn = p->fn;
    gl_errors_note(p->d); /* errors of earlier tests */
    memset(p->read, 0, sizeof p->read);
    fn->ReadPixels(0, 0, (GLsizei)width, 1, format, type, p->read);
    return fn->GetError();
}

/* Builds float_probe.frag's program again, in another version of GLSL ES. */
static tml_status use_version(probe *p, const char *version)
{
    const gl_functions *fn = p->fn;
    fn->DeleteProgram(p->float_program);
    p->float_program = 0;
    tml_status status = make_program(p, version, &gl_shader_float_probe, &p->float_program);
    if (status != TML_OK)
        return status;
    p->settings = fn->GetUniformLocation(p->float_program, "probe");
    p->size = fn->GetUniformLocation(p->float_program, "tml_size");
    p->texels = fn->GetUniformLocation(p->float_program, "probe_texels");
    return TML_OK;
}

static void gl_probe_begin(probe *p)
{
    const gl_functions *fn = p->fn;
    if (p->d->is_es3) {
        fn->GenVertexArrays(1, &p->vertex_array);
        fn->BindVertexArray(p->vertex_array);
    }
    p->corners = gl_float_corners(p->d);
    fn->GenFramebuffers(1, &p->framebuffer);
}

static void end(probe *p)
{
    const gl_functions *fn = p->fn;
    fn->DeleteProgram(p->float_program);
    fn->DeleteProgram(p->words_program);
    fn->DeleteTextures(1, &p->patterns);
    fn->DeleteFramebuffers(1, &p->framebuffer);
    fn->DisableVertexAttribArray(0);
    fn->DeleteBuffers(1, &p->corners);
    if (p->vertex_array)
        fn->DeleteVertexArrays(1, &p->vertex_array);
}

/* ---- integers -------------------------------------------------------------------------------- */

static void test_words(probe *p, probe_id id, GLenum internal, GLenum format, uint32_t components,
                       const char *name)
{
    const GLuint factor = 0x9e3779b9u;
    GLuint texture = make_texture(p, internal, format, GL_UNSIGNED_INT, BYTE_VALUES, NULL);
    GLenum status = bind_target(p, texture, BYTE_VALUES);
    if (status != GL_FRAMEBUFFER_COMPLETE) {
        add_line(p, 1, id, false, name, "%s", gl_framebuffer_status_name(status));
        goto done;
    }
    p->fn->UseProgram(p->words_program);
    p->fn->Uniform1uiv(p->factor, 1, &factor);
    p->fn->DrawArrays(GL_TRIANGLES, 0, 3);
    GLenum error = read_row(p, BYTE_VALUES, GL_RGBA_INTEGER, GL_UNSIGNED_INT);
    uint32_t wrong = 0;
    for (uint32_t x = 0; x < BYTE_VALUES; x++) {
        float real = (float)x;
        uint32_t expected[4] = {x * factor, ~x, 0, x << 24 | x};
        memcpy(&expected[2], &real, sizeof real);
        wrong += memcmp(&p->read[4 * x], expected, components * sizeof *expected) != 0;
    }
    if (error)
        add_line(p, 1, id, false, name, "%s on reading", gl_error_name(error));
    else
        add_line(p, 1, id, wrong == 0, name, "%u of 256 are wrong", (unsigned)wrong);
done:
    p->fn->DeleteTextures(1, &texture);
}

static void test_integers(probe *p)
{
    tml_status status = TML_ERROR_UNSUPPORTED;
    if (p->d->is_es3)
        status = make_program(p, gl_float_version(p->d, TML_GL_PATH_FLOAT), &gl_shader_probe_words,
                              &p->words_program);
    if (!add_line(p, 0, PROBE_WORDS, status == TML_OK, "integer textures: OpenGL ES 3.0", "%s",
                  p->d->is_es3 ? "" : (const char *)p->fn->GetString(GL_VERSION)))
        return;
    p->factor = p->fn->GetUniformLocation(p->words_program, "probe_factor");
    test_words(p, PROBE_WORDS, GL_R32UI, GL_RED_INTEGER, 1, "R32UI: 256 words drawn and read back");
    test_words(p, PROBE_QUADS, GL_RGBA32UI, GL_RGBA_INTEGER, 4,
               "RGBA32UI: 1024 words drawn and read back");
}

/* ---- floats in shaders, bytes in textures ---------------------------------------------------- */

/* Shaders with highp need not compile if the device has none. */
static bool promises_highp(probe *p)
{
    GLint range[2] = {0, 0}, precision = 0;
    p->fn->GetShaderPrecisionFormat(GL_FRAGMENT_SHADER, GL_HIGH_FLOAT, range, &precision);
    return add_line(p, 0, PROBE_HIGHP, precision >= 23, "highp floats in fragment shaders",
                    "%d bits promised%s", (int)precision, precision >= 23 ? "" : ", needs 23");
}

static void test_highp(probe *p)
{
    enum { POWERS = 31 };
    uint32_t bits = 0;
    GLuint texture = make_texture(p, GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, POWERS, NULL);
    if (bind_target(p, texture, POWERS) == GL_FRAMEBUFFER_COMPLETE) {
        draw_floats(p, MODE_EXACT, POWERS, p->patterns);
        if (read_row(p, POWERS, GL_RGBA, GL_UNSIGNED_BYTE) == GL_NO_ERROR)
            while (bits + 1 < POWERS && p->read[bits + 1] == 0x01010101u)
                bits++;
    }
    add_line(p, 1, PROBE_HIGHP, bits >= 23, "whole numbers are exact to 2^24", "%u bits seen%s",
             (unsigned)bits, bits >= 23 ? "" : ", needs 23");
    p->fn->DeleteTextures(1, &texture);
}

static void compare_bytes(probe *p, GLenum error)
{
    uint32_t wrong = 0, first = 0;
    for (uint32_t x = BYTE_VALUES; x-- > 0;) {
        uint32_t copied = p->bits[x] & 0xffffu;
        if (p->read[x] != (x | (255 - x) << 8 | copied << 16)) {
            wrong++;
            first = x;
        }
    }
    add_line(p, 1, PROBE_BYTES, !error && !wrong, "all 256 values drawn and read back",
             "%u are wrong, first %u (%s)", (unsigned)wrong, (unsigned)first, gl_error_name(error));
}

static bool is_equal(uint32_t wanted, uint32_t got)
{
    bool is_nan = (wanted & 0x7fffffffu) > 0x7f800000u;
    return is_nan ? (got & 0x7fffffffu) > 0x7f800000u : got == wanted;
}

/* Adds lines for the classes of patterns after a round trip. id: that of the line for normal
 * numbers. */
static void compare_patterns(probe *p, probe_id id, GLenum error, bool with_specials)
{
    uint32_t wrong = 0, first = 0, flushed = 0;
    for (uint32_t i = FIRST_SUBNORMAL; i-- > FIRST_NORMAL;)
        if (!is_equal(p->bits[i], p->read[i])) {
            wrong++;
            first = i;
        }
    add_line(p, 1, id, !error && !wrong, "2^k and both neighbours, k = -126 ... 127",
             "%u are wrong, first 0x%x becomes 0x%x (%s)", (unsigned)wrong,
             (unsigned)p->bits[first], (unsigned)p->read[first], gl_error_name(error));
    if (!with_specials)
        return;
    const uint32_t *s = &p->read[FIRST_SPECIAL];
    add_line(p, 1, PROBE_INFO, s[0] == 0 && s[1] == 0x80000000u, "zeros with their sign",
             "-0 becomes 0x%x", (unsigned)s[1]);
    bool infinite = s[2] == 0x7f800000u && s[3] == 0xff800000u, nan = is_equal(0x7fc00000u, s[4]);
    add_line(p, 1, PROBE_INFO, infinite && nan, "infinities and NaN",
             "they become 0x%x, 0x%x, 0x%x", (unsigned)s[2], (unsigned)s[3], (unsigned)s[4]);
    wrong = 0;
    for (uint32_t i = FIRST_SUBNORMAL; i < FIRST_SPECIAL; i++) {
        bool is_zero = (p->read[i] & 0x7fffffffu) == 0;
        flushed += is_zero;
        wrong += !is_zero && p->read[i] != p->bits[i];
    }
    add_line(p, 1, PROBE_INFO, !wrong && !flushed, "subnormals", "%s",
             wrong     ? "they change"
             : flushed ? "they become zero"
                       : "");
}

static void test_bytes(probe *p)
{
    GLuint texture = make_texture(p, GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, PATTERNS, NULL);
    GLenum status = bind_target(p, texture, PATTERNS);
    if (add_line(p, 0, PROBE_BYTES, status == GL_FRAMEBUFFER_COMPLETE, "RGBA8 targets", "%s",
                 gl_framebuffer_status_name(status))) {
        draw_floats(p, MODE_BYTES, PATTERNS, p->patterns);
        compare_bytes(p, read_row(p, BYTE_VALUES, GL_RGBA, GL_UNSIGNED_BYTE));
        draw_floats(p, MODE_PACK, PATTERNS, p->patterns);
        GLenum error = read_row(p, PATTERNS, GL_RGBA, GL_UNSIGNED_BYTE);
        compare_patterns(p, PROBE_PACK, error, true);
    }
    p->fn->DeleteTextures(1, &texture);
}

/* ---- float textures -------------------------------------------------------------------------- */

/* Draws the patterns into a target, and packs the target's texels into RGBA8. Returns false if that
 * is not possible. */
static bool draw_and_pack(probe *p, GLuint target)
{
    draw_floats(p, MODE_UNPACK, PATTERNS, p->patterns);
    GLuint packed = make_texture(p, GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, PATTERNS, NULL);
    bool complete = bind_target(p, packed, PATTERNS) == GL_FRAMEBUFFER_COMPLETE;
    if (complete) {
        draw_floats(p, MODE_PACK_TEXTURE, PATTERNS, target);
        complete = read_row(p, PATTERNS, GL_RGBA, GL_UNSIGNED_BYTE) == GL_NO_ERROR;
    }
    p->fn->DeleteTextures(1, &packed);
    return complete;
}

static void test_floats(probe *p)
{
    GLuint texture =
        make_texture(p, p->d->is_es3 ? GL_RGBA32F : GL_RGBA, GL_RGBA, GL_FLOAT, PATTERNS, NULL);
    GLenum status = bind_target(p, texture, PATTERNS);
    if (add_line(p, 0, PROBE_FLOATS, status == GL_FRAMEBUFFER_COMPLETE, "float targets", "%s",
                 gl_framebuffer_status_name(status))) {
        bool packed = draw_and_pack(p, texture);
        compare_patterns(p, PROBE_FLOATS, packed ? GL_NO_ERROR : GL_INVALID_OPERATION, true);
        bind_target(p, texture, PATTERNS);
        GLenum error = read_row(p, PATTERNS, GL_RGBA, GL_FLOAT);
        for (uint32_t i = 0; i < PATTERNS; i++)
            p->read[i] = p->read[4 * i];
        add_line(p, 0, PROBE_FLOATS_READ, !error, "float targets read back as floats", "%s",
                 gl_error_name(error));
        if (!error)
            compare_patterns(p, PROBE_FLOATS_READ, error, false);
    }
    p->fn->DeleteTextures(1, &texture);
}

/* For information only: no path requires halves, which are too short for sums and positions. */
static void test_halves(probe *p)
{
    GLuint texture = make_texture(p, p->d->is_es3 ? GL_RGBA16F : GL_RGBA, GL_RGBA,
                                  p->d->is_es3 ? GL_HALF_FLOAT : GL_HALF_FLOAT_OES, PATTERNS, NULL);
    GLenum status = bind_target(p, texture, PATTERNS);
    if (add_line(p, 0, PROBE_INFO, status == GL_FRAMEBUFFER_COMPLETE, "half float targets", "%s",
                 gl_framebuffer_status_name(status))) {
        bool packed = draw_and_pack(p, texture);
        uint32_t wrong = 0;
        for (uint32_t k = 113; k <= 142; k++) /* 2^-14 ... 2^15 */
            wrong += p->read[3 * (k - 1)] != p->bits[3 * (k - 1)];
        add_line(p, 1, PROBE_INFO, packed && !wrong, "2^k, k = -14 ... 15", "%u are wrong",
                 (unsigned)wrong);
    }
    p->fn->DeleteTextures(1, &texture);
}

static void make_patterns(probe *p)
{
    uint32_t i = FIRST_NORMAL, random = 1;
    for (uint32_t k = 1; k < 255; k++) {
        uint32_t sign = (k & 1) << 31, bits = k << 23;
        p->bits[i++] = sign | bits;
        p->bits[i++] = sign | (bits + 1);
        p->bits[i++] = sign | (k > 1 ? bits - 1 : bits + 2);
    }
    while (i < FIRST_SUBNORMAL) {
        random = random * 1664525u + 1013904223u;
        uint32_t exponent = 1 + (random >> 8) % 254;
        p->bits[i++] = (random & 0x807fffffu) | exponent << 23;
    }
    for (; i < FIRST_SPECIAL; i++)
        p->bits[i] = (i & 1) << 31 | 0x7fffffu >> (i - FIRST_SUBNORMAL);
    static const uint32_t specials[] = {0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u};
    memcpy(&p->bits[i], specials, sizeof specials);
    p->patterns = make_texture(p, GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, PATTERNS, p->bits);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static const probe_id needs[][PROBE_IDS] = {
    [TML_GL_PATH_INTEGER] = {PROBE_WORDS, PROBE_QUADS},
    [TML_GL_PATH_FLOAT] = {PROBE_BYTES, PROBE_HIGHP, PROBE_PACK, PROBE_FLOATS, PROBE_FLOATS_READ},
    [TML_GL_PATH_FLOAT_PACKED] = {PROBE_BYTES, PROBE_HIGHP, PROBE_PACK, PROBE_FLOATS},
    [TML_GL_PATH_PACKED] = {PROBE_BYTES, PROBE_HIGHP, PROBE_PACK},
};

/* The test that rules a path out, or NULL. */
static const tml_gl_test *obstacle(const probe *p, tml_gl_path path)
{
    static const tml_gl_test untested = {.name = "a test that could not be run"};
    const tml_gl_test *lacks = NULL;
    for (const probe_id *id = needs[path]; *id != PROBE_INFO; id++) {
        if (p->failed[*id])
            return &p->d->tests[p->failed[*id] - 1];
        if (!p->tested[*id]) /* usually because of a failed test, whose message says more */
            lacks = &untested;
    }
    return lacks;
}

static tml_status choose(probe *p, tml_gl_path wanted)
{
    gl_device *d = p->d;
    bool usable[TML_GL_PATH_PACKED + 1] = {false};
    const tml_gl_test *failed[TML_GL_PATH_PACKED + 1] = {NULL};
    for (tml_gl_path path = TML_GL_PATH_INTEGER; path <= TML_GL_PATH_PACKED; path++) {
        failed[path] = obstacle(p, path);
        usable[path] = !failed[path];
        bool is_wanted = wanted == TML_GL_PATH_AUTO ? d->path == TML_GL_PATH_AUTO : path == wanted;
        if (usable[path] && is_wanted)
            d->path = path;
    }
    for (tml_gl_path path = TML_GL_PATH_INTEGER; path <= TML_GL_PATH_PACKED; path++) {
        if (path > TML_GL_PATH_INTEGER && !p->tested[PROBE_HIGHP])
            break;
        char name[64];
        snprintf(name, sizeof name, "path %s", tml_gl_path_name(path));
        add_line(p, 0, PROBE_INFO, usable[path], name, "needs: %s",
                 usable[path] ? "nothing more" : failed[path]->name);
        d->tests[d->test_count - 1].is_choice = path == d->path && usable[path];
    }
    const tml_gl_test *why = failed[wanted == TML_GL_PATH_AUTO ? TML_GL_PATH_PACKED : wanted];
    if (wanted == TML_GL_PATH_AUTO ? d->path != TML_GL_PATH_AUTO : usable[wanted])
        return TML_OK;
    return tml_error(p->tml, TML_ERROR_UNSUPPORTED,
                     "tml_open: the device cannot do path %s, which needs: %s%s%s%s",
                     tml_gl_path_name(wanted == TML_GL_PATH_AUTO ? TML_GL_PATH_PACKED : wanted),
                     why->name, why->detail[0] ? " (" : "", why->detail, why->detail[0] ? ")" : "");
}

static void test_float_tier(probe *p)
{
    const char *packed = gl_float_version(p->d, TML_GL_PATH_PACKED);
    const char *floats = gl_float_version(p->d, TML_GL_PATH_FLOAT);
    if (!promises_highp(p))
        return;
    make_patterns(p);
    if (use_version(p, packed) != TML_OK) {
        add_line(p, 0, PROBE_HIGHP, false, "shaders of GLSL ES 1.00", "%.90s",
                 tml_last_error(p->tml));
        return;
    }
    test_highp(p);
    test_bytes(p);
    if (packed == floats || use_version(p, floats) == TML_OK) {
        test_floats(p);
        test_halves(p);
    }
}

tml_status gl_probe(tml_context *tml, tml_gl_path wanted)
{
    gl_device *d = gl_device_of(tml);
    if ((unsigned)wanted > TML_GL_PATH_PACKED)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_open: desc.gl.path is %d, needs one of "
                         "tml_gl_path",
                         (int)wanted);
    if (!gl_has_floats && wanted > TML_GL_PATH_INTEGER)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "tml_open: path %s: not in this build",
                         tml_gl_path_name(wanted));
    if (!gl_has_floats)
        wanted = TML_GL_PATH_INTEGER;
    probe *p = tml_alloc(tml, sizeof *p);
    if (!p)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_open: no memory to probe the device");
    memset(p, 0, sizeof *p);
    p->tml = tml;
    p->d = d;
    p->fn = &d->fn;
    gl_probe_begin(p);
    test_integers(p);
    tml_status status = TML_OK;
    if (wanted > TML_GL_PATH_INTEGER ||
        (wanted == TML_GL_PATH_AUTO && obstacle(p, TML_GL_PATH_INTEGER)))
        test_float_tier(p);
    status = p->is_short_of_memory ? TML_ERROR_OUT_OF_MEMORY : choose(p, wanted);
    end(p);
    gl_errors_note(d);
    d->error = GL_NO_ERROR; /* errors of failed tests */
    tml_free(tml, p, sizeof *p);
    return status;
}
