/* Textures of the caller's as pictures on OpenGL ES: every format measures and halves to the bits
 * of an f32 buffer of what texelFetch gives, without a wait or an allocation the second time; bad
 * textures are refused. And textures into buffers and back. */
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "core/core_internal.h"
#include "test.h"

#include "gl_driver.h"

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

/* Textures of colours as pictures: each has the bits of an f32 buffer of what texelFetch gives,
 * which a draw into a texture of floats tells; the second time nothing waits or is allocated, and
 * the caller's state is as it was. */
typedef struct colours {
    const char *name;
    GLenum internal, format, type;
    uint32_t components, size; /* bytes of a texel */
} colours;

static const colours all_colours[] = {
    {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 4, 8},
    {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, 4, 16},
    {"R11F_G11F_B10F", GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 3, 4},
    {"RGB10_A2", GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4, 4},
    {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 4},
    {"SRGB8_ALPHA8", GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 4},
    {"R32F", GL_R32F, GL_RED, GL_FLOAT, 1, 4},
};

enum { COLOURS_WIDTH = 45, COLOURS_HEIGHT = 37, COLOURS_TEXELS = COLOURS_WIDTH * COLOURS_HEIGHT };

static GLuint colours_texture(const colours *c)
{
    static uint32_t words[4 * COLOURS_TEXELS];
    uint32_t state = 12345;
    const bool is_half = c->type == GL_HALF_FLOAT;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t bits = state ^ state >> 15;
        if (is_half && bits % 16)
            bits &= 0x7bff7bffu;
        if (c->type == GL_FLOAT && bits % 16)
            bits = (bits & 0x07ffffffu) | 0x3c000000u;
        words[i] = bits;
    }
    GLuint name;
    gl.GenTextures(1, &name);
    gl.BindTexture(GL_TEXTURE_2D, name);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, c->internal, COLOURS_WIDTH, COLOURS_HEIGHT);
    gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, COLOURS_WIDTH, COLOURS_HEIGHT, c->format, c->type,
                     words);
    return name;
}

/* What texelFetch gives, as words, by a program of the test's own. */
static void fetch_colours(GLuint texture, uint32_t out[4 * COLOURS_TEXELS])
{
    static const char vertex[] = "#version 300 es\n"
                                 "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1,"
                                 " gl_VertexID == 2 ? 3 : -1, 0, 1); }";
    static const char fragment[] =
        "#version 300 es\n"
        "uniform highp sampler2D picture; out highp uvec4 words;\n"
        "void main() { words = floatBitsToUint(texelFetch(picture, ivec2(gl_FragCoord.xy), 0)); }";
    const char *texts[2] = {vertex, fragment};
    GLuint program = gl.CreateProgram(), target, frame;
    for (int i = 0; i < 2; i++) {
        GLuint shader = gl.CreateShader(i ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        gl.ShaderSource(shader, 1, &texts[i], NULL);
        gl.CompileShader(shader);
        gl.AttachShader(program, shader);
        gl.DeleteShader(shader);
    }
    gl.LinkProgram(program);
    gl.GenTextures(1, &target);
    gl.BindTexture(GL_TEXTURE_2D, target);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32UI, COLOURS_WIDTH, COLOURS_HEIGHT);
    gl.GenFramebuffers(1, &frame);
    gl.BindFramebuffer(GL_FRAMEBUFFER, frame);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    gl.Viewport(0, 0, COLOURS_WIDTH, COLOURS_HEIGHT);
    gl.UseProgram(program);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, texture);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
                     GL_LINEAR_MIPMAP_LINEAR); /* incomplete */
    gl.ReadPixels(0, 0, COLOURS_WIDTH, COLOURS_HEIGHT, GL_RGBA_INTEGER, GL_UNSIGNED_INT, out);
    gl.DeleteFramebuffers(1, &frame);
    gl.DeleteTextures(1, &target);
    gl.UseProgram(0);
    gl.DeleteProgram(program);
}

typedef struct colours_results {
    uint32_t stats[2][TML_IMAGE_STATS_WORDS];
    float chain[4 * COLOURS_TEXELS];
} colours_results;

static tml_status colours_run(tml_context *tml, const tml_image *image, const tml_buffer out[4])
{
    tml_image_measure_desc whole = {.image = *image, .stats = out[0]};
    tml_image_measure_desc part = {.image = *image,
                                   .region = {3, 5, 21, 30},
                                   .mask = out[3],
                                   .mask_width = 3,
                                   .mask_height = 2,
                                   .stats = out[1]};
    tml_status status = tml_image_measure(tml, &whole);
    if (status == TML_OK)
        status = tml_image_measure(tml, &part);
    return status ? status
                  : tml_image_mips(tml, &(tml_image_mips_desc){.in = *image, .out = out[2]});
}

static void colours_compare(tml_context *tml, const colours *c, uint32_t channels, GLuint texture,
                            tml_image_values values, const uint32_t *words, const tml_buffer out[4])
{
    static colours_results in_place, by_buffer;
    static float held[4 * COLOURS_TEXELS];
    const tml_gl_image lent = {texture, c->internal};
    tml_image image = {.width = COLOURS_WIDTH,
                       .height = COLOURS_HEIGHT,
                       .channels = channels,
                       .values = values,
                       .gl = &lent};
    uint64_t texels;
    tml_mip_level(COLOURS_WIDTH, COLOURS_HEIGHT, 32, NULL, NULL, &texels);
    for (int held_in_buffer = 0; held_in_buffer < 2; held_in_buffer++) {
        colours_results *r = held_in_buffer ? &by_buffer : &in_place;
        if (held_in_buffer) {
            for (size_t i = 0; i < (size_t)COLOURS_TEXELS * channels; i++)
                memcpy(&held[i], &words[i / channels * 4 + i % channels], sizeof *held);
            image.gl = NULL;
            CHECK_OK(tml, tml_buffer_create(tml,
                                            &(tml_buffer_desc){.type = TML_F32,
                                                               .count = COLOURS_TEXELS * channels,
                                                               .data = held},
                                            &image.buffer));
        }
        CHECK_OK(tml, colours_run(tml, &image, out));
        if (!held_in_buffer) {
            gl_driver.waits = gl_driver.allocations = 0;
            CHECK_OK(tml, colours_run(tml, &image, out));
            CHECK_EQ_U64(gl_driver.waits, 0);
            CHECK_EQ_U64(gl_driver.allocations, 0);
        }
        CHECK_OK(tml, tml_buffer_read(tml, out[0], r->stats[0]));
        CHECK_OK(tml, tml_buffer_read(tml, out[1], r->stats[1]));
        CHECK_OK(tml, tml_buffer_read_range(tml, out[2], 0, texels * channels, r->chain));
    }
    CHECK_EQ_U64(in_place.stats[0][TML_STATS_PIXELS], COLOURS_TEXELS);
    CHECK(memcmp(in_place.stats, by_buffer.stats, sizeof in_place.stats) == 0);
    for (size_t i = 0; i < texels * channels; i++)
        if (memcmp(&in_place.chain[i], &by_buffer.chain[i], sizeof(float)) != 0 &&
            !(isnan(in_place.chain[i]) && isnan(by_buffer.chain[i]))) {
            test_fail(__FILE__, __LINE__, "%s, %u channels: texel %zu of the chain", c->name,
                      channels, i / channels);
            break;
        }
    tml_buffer_destroy(tml, image.buffer);
}

TEST(textures_are_pictures)
{
    own_context own;
    if (!own_open(&own))
        SKIP("no OpenGL ES 3 through EGL");
    static const uint8_t weights[6] = {1, 2, 3, 0, 255, 6};
    static uint32_t words[4 * COLOURS_TEXELS];
    tml_context *tml;
    const tml_gl_desc desc = {.lend_current = true, .get_proc_address = find_wrapped};
    memset(&gl_driver, 0, sizeof gl_driver);
    debug_begin();
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml))) {
        tml_buffer out[4];
        const tml_buffer_desc descs[4] = {{.type = TML_U32, .count = TML_IMAGE_STATS_WORDS},
                                          {.type = TML_U32, .count = TML_IMAGE_STATS_WORDS},
                                          {.type = TML_F32, .count = 4 * COLOURS_TEXELS},
                                          {.type = TML_U8, .count = 6, .data = weights}};
        for (int i = 0; i < 4; i++)
            CHECK_OK(tml, tml_buffer_create(tml, &descs[i], &out[i]));
        for (size_t i = 0; i < TML_ARRAY_SIZE(all_colours); i++) {
            const colours *c = &all_colours[i];
            GLuint texture = colours_texture(c);
            fetch_colours(texture, words);
            int32_t before[STATES], after[STATES];
            state_take(before);
            colours_compare(tml, c, TML_MIN_OF(c->components, 3u), texture, TML_IMAGE_LINEAR, words,
                            out);
            if (c->components == 4 || i == 0)
                colours_compare(tml, c, i ? 4 : 2, texture, TML_IMAGE_LINEAR, words, out);
            if (i < 2) /* floats */
                colours_compare(tml, c, i ? 4 : 3, texture, TML_IMAGE_LN, words, out);
            state_take(after);
            CHECK(memcmp(before, after, sizeof before) == 0);
            CHECK_EQ_U64(gl.GetError(), GL_NO_ERROR);
            CHECK_STR(debug_message, "");
            gl.DeleteTextures(1, &texture);
        }
        tml_close(tml);
    }
    CHECK_EQ_I64(gl_driver.live, 0);
    own_close(&own);
}

TEST(bad_textures_are_refused)
{
    own_context own;
    if (!own_open(&own))
        SKIP("no OpenGL ES 3 through EGL");
    tml_context *tml;
    const tml_gl_desc desc = {.lend_current = true};
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml))) {
        GLuint texture = colours_texture(&all_colours[2]);
        tml_buffer stats;
        CHECK_OK(tml, tml_buffer_create(
                          tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS},
                          &stats));
        const struct {
            tml_gl_image lent;
            uint32_t width, channels;
            const char *says;
        } bad[] = {{{0, GL_RGBA16F}, 5, 4, "texture is 0"},
                   {{texture, GL_RGBA32UI}, 5, 4, "float or normalised colours"},
                   {{texture, GL_DEPTH_COMPONENT32F}, 5, 1, "float or normalised colours"},
                   {{texture, GL_R11F_G11F_B10F}, 5, 4, "channels is 4, and the texture has 3"},
                   {{texture, GL_R11F_G11F_B10F}, 1u << 20, 3, "a side"}};
        for (size_t i = 0; i < TML_ARRAY_SIZE(bad); i++) {
            const tml_image image = {.width = bad[i].width,
                                     .height = 3,
                                     .channels = bad[i].channels,
                                     .gl = &bad[i].lent};
            CHECK_STATUS(
                tml_image_measure(tml, &(tml_image_measure_desc){.image = image, .stats = stats}),
                TML_ERROR_INVALID_ARGUMENT);
            if (!strstr(tml_last_error(tml), bad[i].says))
                test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", tml_last_error(tml),
                          bad[i].says);
        }
        gl.DeleteTextures(1, &texture);
        tml_close(tml);
    }
    own_close(&own);
}

/* ---- import and export ----------------------------------------------------------------------- */

typedef struct transfer_case {
    const char *name;
    GLenum internal, format, type;
    uint32_t components;
    tml_type scalar;
    uint32_t channels; /* of the buffer */
    uint32_t tile[2], slices;
    uint32_t first;
} transfer_case;

enum { ACROSS = 12, DOWN = 10 };

static const transfer_case transfers[] = {
    {"R32F", GL_R32F, GL_RED, GL_FLOAT, 1, TML_F32, 1, {0, 0}, 0, 0},
    {"R32F in tiles", GL_R32F, GL_RED, GL_FLOAT, 1, TML_F32, 1, {4, 5}, 0, 3},
    {"R32F in some tiles", GL_R32F, GL_RED, GL_FLOAT, 1, TML_F32, 1, {3, 2}, 17, 0},
    {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, 4, TML_F32, 4, {0, 0}, 0, 5},
    {"RGBA32F, three of four", GL_RGBA32F, GL_RGBA, GL_FLOAT, 4, TML_F32, 3, {6, 5}, 0, 1},
    {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 4, TML_F16, 4, {0, 0}, 0, 2},
    {"RGBA16F as floats", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 4, TML_F32, 4, {12, 2}, 0, 0},
    {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, TML_U8, 4, {0, 0}, 0, 8},
    {"RGBA8, three of four", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, TML_U8, 3, {0, 0}, 0, 0},
    {"RGBA8 as floats", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, TML_F32, 4, {4, 2}, 0, 0},
};

/* Scalar i of the elements, as a number that every format here holds. */
static float number_at(const transfer_case *c, uint32_t i)
{
    return c->type == GL_UNSIGNED_BYTE ? (float)(i * 37 % 256) / 255.0f
                                       : (float)((int)(i * 37 % 2048) - 1024) * 0.25f;
}

/* The numbers as the buffer has them. */
static void put_number(tml_type scalar, void *out, uint32_t i, float x)
{
    if (scalar == TML_F32)
        ((float *)out)[i] = x;
    else if (scalar == TML_F16)
        ((uint16_t *)out)[i] = (uint16_t)tml_float_to_half(x);
    else
        ((uint8_t *)out)[i] = (uint8_t)(x * 255.0f + 0.5f);
}

/* The element of a texel; UINT32_MAX: it has none. A loop over all elements, one tile after the
 * other. */
static uint32_t element_at(const transfer_case *c, uint32_t x, uint32_t y)
{
    const uint32_t width = c->tile[0] ? c->tile[0] : ACROSS,
                   height = c->tile[1] ? c->tile[1] : DOWN;
    uint32_t element = 0, slices = 0;
    for (uint32_t top = 0; top < DOWN; top += height)
        for (uint32_t left = 0; left < ACROSS; left += width, slices++)
            for (uint32_t v = 0; v < height; v++)
                for (uint32_t u = 0; u < width; u++, element++)
                    if (left + u == x && top + v == y)
                        return c->slices && slices >= c->slices ? UINT32_MAX : element;
    return UINT32_MAX;
}

static uint32_t elements_of(const transfer_case *c)
{
    return c->slices ? c->slices * c->tile[0] * c->tile[1] : ACROSS * DOWN;
}

static void transfer_both_ways(tml_context *tml, const transfer_case *c)
{
    const uint32_t scalars = elements_of(c) * c->channels, room = c->first + scalars;
    const size_t size = tml_type_size(c->scalar);
    uint8_t *given = calloc(room + 4, size), *taken = calloc(room + 4, size);
    static float texels[4 * ACROSS * DOWN];
    GLuint name, frame;
    for (uint32_t i = 0; i < scalars; i++)
        put_number(c->scalar, given, c->first + i, number_at(c, i));
    gl.GenTextures(1, &name);
    gl.BindTexture(GL_TEXTURE_2D, name);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, c->internal, ACROSS, DOWN);
    tml_gl_transfer_desc desc = {.image = {name, c->internal},
                                 .width = ACROSS,
                                 .height = DOWN,
                                 .tile_width = c->tile[0],
                                 .tile_height = c->tile[1],
                                 .slices = c->slices,
                                 .channels = c->channels,
                                 .first = c->first};
    tml_buffer buffers[2];
    for (int i = 0; i < 2; i++)
        CHECK_OK(tml,
                 tml_buffer_create(tml,
                                   &(tml_buffer_desc){
                                       .type = c->scalar, .count = room, .data = i ? taken : given},
                                   &buffers[i]));
    desc.buffer = buffers[0];
    int32_t before[STATES], after[STATES];
    state_take(before);
    CHECK_OK(tml, tml_gl_export(tml, &desc));
    desc.buffer = buffers[1];
    CHECK_OK(tml, tml_gl_import(tml, &desc));
    gl_driver.waits = gl_driver.allocations = 0;
    CHECK_OK(tml, tml_gl_import(tml, &desc));
    desc.buffer = buffers[0];
    CHECK_OK(tml, tml_gl_export(tml, &desc));
    CHECK_EQ_U64(gl_driver.waits, 0);
    CHECK_EQ_U64(gl_driver.allocations, 0);
    state_take(after);
    CHECK(memcmp(before, after, sizeof before) == 0);

    /* The texture, as the program itself sees it; then the buffer, which what came back fills. */
    gl.GenFramebuffers(1, &frame);
    gl.BindFramebuffer(GL_FRAMEBUFFER, frame);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
    if (c->type == GL_UNSIGNED_BYTE) {
        static uint8_t bytes[4 * ACROSS * DOWN];
        gl.ReadPixels(0, 0, ACROSS, DOWN, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
            texels[i] = (float)bytes[i] / 255.0f;
    } else {
        gl.ReadPixels(0, 0, ACROSS, DOWN, GL_RGBA, GL_FLOAT, texels);
    }
    gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
    gl.DeleteFramebuffers(1, &frame);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < ACROSS * DOWN; i++) {
        const uint32_t element = element_at(c, i % ACROSS, i / ACROSS);
        for (uint32_t k = 0; k < c->channels && element != UINT32_MAX; k++)
            wrong += texels[4 * i + k] != number_at(c, element * c->channels + k);
    }
    CHECK_OK(tml, tml_buffer_read(tml, buffers[1], taken));
    const bool is_rounded = c->type == GL_UNSIGNED_BYTE && c->scalar == TML_F32;
    for (uint32_t i = 0; i < room && is_rounded; i++) { /* as the device decodes bytes */
        float *out = (float *)(void *)taken, *in = (float *)(void *)given;
        out[i] = fabsf(out[i] - in[i]) <= 0x1p-23f ? in[i] : out[i];
    }
    if (wrong || memcmp(given, taken, room * size) != 0)
        test_fail(__FILE__, __LINE__, "%s: %u texels are wrong, and the buffer is%s", c->name,
                  wrong, memcmp(given, taken, room * size) ? " too" : " right");
    for (int i = 0; i < 2; i++)
        tml_buffer_destroy(tml, buffers[i]);
    gl.DeleteTextures(1, &name);
    free(given);
    free(taken);
}

TEST(buffers_become_textures_and_come_back)
{
    own_context own;
    if (!own_open(&own))
        SKIP("no OpenGL ES 3 through EGL");
    tml_context *tml;
    const tml_gl_desc desc = {.lend_current = true, .get_proc_address = find_wrapped};
    memset(&gl_driver, 0, sizeof gl_driver);
    debug_begin();
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml))) {
        for (size_t i = 0; i < TML_ARRAY_SIZE(transfers); i++)
            transfer_both_ways(tml, &transfers[i]);
        tml_close(tml);
    }
    CHECK_EQ_U64(gl.GetError(), GL_NO_ERROR);
    CHECK_STR(debug_message, "");
    CHECK_EQ_I64(gl_driver.live, 0);
    own_close(&own);
}

/* The float tier has the formats of its own words. */
TEST(the_float_tier_has_them_too)
{
    static const tml_gl_path paths[] = {TML_GL_PATH_FLOAT, TML_GL_PATH_FLOAT_PACKED,
                                        TML_GL_PATH_PACKED};
    for (size_t p = 0; p < TML_ARRAY_SIZE(paths); p++) {
        own_context own;
        if (!own_open(&own))
            SKIP("no OpenGL ES 3 through EGL");
        tml_context *tml;
        const tml_gl_desc desc = {
            .lend_current = true, .get_proc_address = find_wrapped, .path = paths[p]};
        memset(&gl_driver, 0, sizeof gl_driver);
        if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml) == TML_OK) {
            for (size_t i = 0; i < TML_ARRAY_SIZE(transfers); i++) {
                const transfer_case *c = &transfers[i];
                if (c->scalar == TML_F32 || (c->scalar == TML_U8 && c->channels == 4))
                    transfer_both_ways(tml, c);
            }
            tml_close(tml);
        }
        own_close(&own);
    }
}

/* ---- buffers in the caller's shaders --------------------------------------------------------- */

/* Draws one texel by a fragment shader of these texts: is it white? */
static bool is_white(const char *const *texts, int count, const tml_gl_memory places[2])
{
    static const char *const vertex[] = {"#version 100\nattribute vec2 at; void main() {"
                                         " gl_Position = vec4(at, 0, 1); }",
                                         "#version 300 es\nin vec2 at; void main() {"
                                         " gl_Position = vec4(at, 0, 1); }"};
    static const float corners[] = {-1, -1, 3, -1, -1, 3};
    const char *first = vertex[strncmp(texts[0], "#version 300", 12) == 0];
    GLuint program = gl.CreateProgram(), target, frame, shaders[2], buffer, array;
    shaders[0] = gl.CreateShader(GL_VERTEX_SHADER);
    shaders[1] = gl.CreateShader(GL_FRAGMENT_SHADER);
    gl.ShaderSource(shaders[0], 1, &first, NULL);
    gl.ShaderSource(shaders[1], count, texts, NULL);
    for (int i = 0; i < 2; i++) {
        char log[512] = "";
        GLint compiled;
        gl.CompileShader(shaders[i]);
        gl.GetShaderiv(shaders[i], GL_COMPILE_STATUS, &compiled);
        gl.GetShaderInfoLog(shaders[i], sizeof log, NULL, log);
        CHECK(compiled);
        if (!compiled)
            printf("%s\n", log);
        gl.AttachShader(program, shaders[i]);
        gl.DeleteShader(shaders[i]);
    }
    gl.BindAttribLocation(program, 0, "at");
    gl.LinkProgram(program);
    gl.UseProgram(program);
    gl.GenVertexArrays(1, &array);
    gl.BindVertexArray(array);
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
    gl.BufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    gl.VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    gl.EnableVertexAttribArray(0);
    gl.GenTextures(1, &target);
    gl.ActiveTexture(GL_TEXTURE2);
    gl.BindTexture(GL_TEXTURE_2D, target);
    gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 1, 1);
    for (GLenum i = 0; i < 2; i++) {
        static const char *const names[] = {"numbers", "counted", "numbers_size", "counted_size"};
        const float size[] = {(float)places[i].width, (float)places[i].height};
        gl.ActiveTexture(GL_TEXTURE0 + i);
        gl.BindTexture(GL_TEXTURE_2D, places[i].texture);
        gl.Uniform1i(gl.GetUniformLocation(program, names[i]), (GLint)i);
        gl.Uniform2fv(gl.GetUniformLocation(program, names[2 + i]), 1, size);
    }
    gl.GenFramebuffers(1, &frame);
    gl.BindFramebuffer(GL_FRAMEBUFFER, frame);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    gl.Viewport(0, 0, 1, 1);
    uint8_t pixel[4] = {0, 0, 0, 0};
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.ReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    gl.UseProgram(0);
    gl.DeleteProgram(program);
    gl.DeleteFramebuffers(1, &frame);
    gl.DeleteTextures(1, &target);
    gl.BindVertexArray(0);
    gl.DeleteVertexArrays(1, &array);
    gl.DeleteBuffers(1, &buffer);
    return pixel[0] == 255;
}

TEST(shaders_of_the_callers_look_up_buffers)
{
    enum { MANY = 20000 }; /* several rows */
    static const char integers[] =
        "uniform highp usampler2D numbers, counted; layout(location = 0) out vec4 colour;\n"
        "void main() {\n"
        "    bool good = tml_count(counted) == 70000u && tml_word(counted, 1u) == 4026531841u &&\n"
        "                tml_uvec2(counted, 1u) == uvec2(3u, 4u) &&\n"
        "                tml_uvec3(counted, 0u).z == 3u && tml_uvec4(counted, 0u).w == 4u &&\n"
        "                tml_float(numbers, 19999u) == -9999.5 &&\n"
        "                tml_vec2(numbers, 9000u) == vec2(-9000.0, -9000.5) &&\n"
        "                tml_vec3(numbers, 1u) == vec3(-1.5, -2.0, -2.5) &&\n"
        "                tml_vec4(numbers, 4500u).w == -9001.5;\n"
        "    colour = vec4(good ? 1.0 : 0.0);\n"
        "}\n";
    static const char floats[] =
        "uniform highp sampler2D numbers, counted; uniform vec2 numbers_size, counted_size;\n"
        "void main() {\n"
        "    bool good = tml_count(counted, counted_size) == 70000.0 &&\n"
        "                tml_bytes(counted, counted_size, 1.0) == vec4(1.0, 0.0, 0.0, 240.0) &&\n"
        "                tml_float(numbers, numbers_size, 19999.0) == -9999.5 &&\n"
        "                tml_vec2(numbers, numbers_size, 9000.0) == vec2(-9000.0, -9000.5) &&\n"
        "                tml_vec3(numbers, numbers_size, 1.0) == vec3(-1.5, -2.0, -2.5) &&\n"
        "                tml_vec4(numbers, numbers_size, 4500.0).w == -9001.5 &&\n"
        "                unpack_float(pack_float(-0.75)) == -0.75;\n"
        "    gl_FragColor = vec4(good ? 1.0 : 0.0);\n"
        "}\n";
    static const tml_gl_path paths[] = {TML_GL_PATH_INTEGER, TML_GL_PATH_FLOAT,
                                        TML_GL_PATH_FLOAT_PACKED, TML_GL_PATH_PACKED};
    static float numbers[MANY];
    const uint32_t words[4] = {70000, 0xf0000001, 3, 4};
    for (int i = 0; i < MANY; i++)
        numbers[i] = -0.5f * (float)i;
    for (size_t p = 0; p < TML_ARRAY_SIZE(paths); p++) {
        own_context own;
        if (!own_open(&own))
            SKIP("no OpenGL ES 3 through EGL");
        tml_context *tml;
        const tml_gl_desc desc = {.lend_current = true, .path = paths[p]};
        if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml) == TML_OK) {
            tml_buffer buffers[2];
            tml_gl_memory places[2];
            CHECK_OK(tml,
                     tml_buffer_create(
                         tml, &(tml_buffer_desc){.type = TML_F32, .count = MANY, .data = numbers},
                         &buffers[0]));
            CHECK_OK(tml, tml_buffer_create(
                              tml, &(tml_buffer_desc){.type = TML_U32, .count = 4, .data = words},
                              &buffers[1]));
            for (int i = 0; i < 2; i++)
                CHECK_OK(tml, tml_gl_texture(tml, buffers[i], &places[i]));
            const char *glsl = tml_gl_glsl(tml);
            CHECK(glsl && glsl == tml_gl_glsl(tml));
            const char *const texts[] = {p ? "#version 100\nprecision highp float;\n"
                                           : "#version 300 es\nprecision highp float;\n",
                                         glsl, p ? floats : integers};
            const char *const any_rows[] = {texts[0], "#define TML_ANY_ROWS\n", glsl, integers};
            CHECK(is_white(texts, 3, places));
            if (p == 0)
                CHECK(is_white(any_rows, 4, places));
            tml_close(tml);
        }
        own_close(&own);
    }
    tml_context *cpu;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &cpu));
    CHECK(!tml_gl_glsl(cpu) && strstr(tml_last_error(cpu), "not on gl"));
    tml_close(cpu);
}

TEST(bad_transfers_are_refused)
{
    own_context own;
    if (!own_open(&own))
        SKIP("no OpenGL ES 3 through EGL");
    tml_context *tml;
    const tml_gl_desc desc = {.lend_current = true};
    if (CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc}, &tml))) {
        GLuint name;
        tml_buffer floats, halves, words;
        gl.GenTextures(1, &name);
        gl.BindTexture(GL_TEXTURE_2D, name);
        gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGB9_E5, 8, 4);
        CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 128},
                                        &floats));
        CHECK_OK(tml, tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F16, .count = 200},
                                        &halves));
        CHECK_OK(tml,
                 tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 128}, &words));
        const tml_gl_transfer_desc good = {
            .image = {name, GL_RGBA32F}, .width = 8, .height = 4, .buffer = floats};
        struct {
            tml_gl_transfer_desc desc;
            const char *says;
        } bad[9] = {{good, "texture is 0"},    {good, "whole tiles"},      {good, "whole tiles"},
                    {good, "there are 4"},     {good, "scalars of u32"},   {good, "needs 128"},
                    {good, "the texture has"}, {good, "with a word of 2"}, {good, "normalised"}};
        bad[0].desc.image.texture = 0;
        bad[1].desc.tile_width = 3;
        bad[1].desc.tile_height = 4;
        bad[2].desc.width = 0;
        bad[3].desc.tile_width = 4;
        bad[3].desc.tile_height = 2;
        bad[3].desc.slices = 5;
        bad[4].desc.buffer = words;
        bad[5].desc.first = 1;
        bad[6].desc.channels = 5;
        bad[7].desc.buffer = halves;
        bad[7].desc.first = 1;
        bad[8].desc.image.format = GL_R32UI;
        for (size_t i = 0; i < TML_ARRAY_SIZE(bad); i++)
            for (int out = 0; out < 2; out++) {
                CHECK_STATUS(out ? tml_gl_export(tml, &bad[i].desc)
                                 : tml_gl_import(tml, &bad[i].desc),
                             TML_ERROR_INVALID_ARGUMENT);
                if (!strstr(tml_last_error(tml), bad[i].says))
                    test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", tml_last_error(tml),
                              bad[i].says);
            }
        tml_gl_transfer_desc undrawable = good;
        undrawable.image.format = GL_RGB9_E5;
        undrawable.channels = 3;
        CHECK_OK(tml, tml_gl_import(tml, &undrawable));
        CHECK_STATUS(tml_gl_export(tml, &undrawable), TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), "cannot be drawn to"));
        tml_gl_lost(tml);
        for (int out = 0; out < 2; out++) {
            CHECK_STATUS(out ? tml_gl_export(tml, &good) : tml_gl_import(tml, &good),
                         TML_ERROR_DEVICE_LOST);
            CHECK(strstr(tml_last_error(tml), "was lost") != NULL);
        }
        gl.DeleteTextures(1, &name);
        tml_close(tml);
    }
    tml_context *cpu;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &cpu));
    CHECK_STATUS(tml_gl_import(cpu, &(tml_gl_transfer_desc){.width = 1}), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_gl_export(cpu, &(tml_gl_transfer_desc){.width = 1}), TML_ERROR_UNSUPPORTED);
    tml_close(cpu);
    own_close(&own);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
