/* Textures of the caller's as pictures on OpenGL ES: every format measures and halves to the bits of an
 * f32 buffer of what texelFetch gives, without a wait or an allocation the second time; bad textures are
 * refused. */
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "core/core_internal.h"
#include "test.h"

#include "gl_driver.h"

/* Textures of colours as pictures: each has the bits of an f32 buffer of what texelFetch gives, which a
 * draw into a texture of floats tells; the second time nothing waits or is allocated, and the caller's
 * state is as it was. */
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
                            const uint32_t *words, const tml_buffer out[4])
{
    static colours_results in_place, by_buffer;
    static float held[4 * COLOURS_TEXELS];
    const tml_gl_image lent = {texture, c->internal};
    tml_image image = {
        .width = COLOURS_WIDTH, .height = COLOURS_HEIGHT, .channels = channels, .gl = &lent};
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
            driver.waits = driver.allocations = 0;
            CHECK_OK(tml, colours_run(tml, &image, out));
            CHECK_EQ_U64(driver.waits, 0);
            CHECK_EQ_U64(driver.allocations, 0);
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
    memset(&driver, 0, sizeof driver);
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
            colours_compare(tml, c, TML_MIN_OF(c->components, 3u), texture, words, out);
            if (c->components == 4 || i == 0)
                colours_compare(tml, c, i ? 4 : 2, texture, words, out);
            state_take(after);
            CHECK(memcmp(before, after, sizeof before) == 0);
            CHECK_EQ_U64(gl.GetError(), GL_NO_ERROR);
            CHECK_STR(debug_message, "");
            gl.DeleteTextures(1, &texture);
        }
        tml_close(tml);
    }
    CHECK_EQ_I64(driver.live, 0);
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

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
