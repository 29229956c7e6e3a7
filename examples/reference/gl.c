/* OpenGL ES: textures behind buffers, compiling ahead, caches, time. */
#include "reference.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <trommel/gl.h>

/* The texture behind a buffer: word i is texel (i % width, i / width), for shaders of yours. */
static void texture(tml_context *tml)
{
    const tml_buffer buffer = buffer_of(tml, TML_F32, 1000, NULL);
    tml_gl_memory memory;
    MUST(tml_gl_texture(tml, buffer, &memory));
    CHECK(memory.texture != 0 && memory.width * memory.height >= 1000);
}

/* One compaction reads its count, those after it do not. */
static void exact_counts(tml_context *tml)
{
    const tml_buffer in = buffer_of(tml, TML_U32, 1000, NULL);
    const tml_buffer kept = buffer_of(tml, TML_U32, 1000, NULL);
    const tml_buffer flags = buffer_of(tml, TML_U8, 1000, NULL);
    const tml_compact_desc desc = {.keep.flags = flags, .payloads = {{.in = in, .out = kept}}};
    MUST(tml_gl_exact_counts(tml, true));
    MUST(tml_compact(tml, &desc)); /* waits, and draws what is kept alone */
    MUST(tml_gl_exact_counts(tml, false));
    MUST(tml_compact(tml, &desc));
}

/* Many small calls as one, so that the program's state is saved and given back just once. */
static void one_of_many(tml_context *tml)
{
    uint32_t sums[4];
    const tml_buffer data = buffer_of(tml, TML_U32, 4, (uint32_t[]){1, 1, 1, 1});
    MUST(tml_gl_begin(tml));
    for (int i = 0; i < 3; i++)
        MUST(tml_scan(tml, &(tml_scan_desc){.in = data, .inclusive = true, .out = data}));
    tml_gl_end(tml);
    MUST(tml_buffer_read(tml, data, sums));
    CHECK(sums[0] == 1 && sums[1] == 4 && sums[3] == 20);
}

/* Programs are compiled a little with each frame, before the call that needs them. */
static void prepare(tml_context *tml)
{
    const tml_buffer in = buffer_of(tml, TML_U32, 8, (uint32_t[8]){5});
    const tml_buffer values = buffer_of(tml, TML_U32, 8, NULL);
    const tml_unique_desc desc = {.in = in, .values = values};
    tml_prepared prepared = {.programs_left = 1};
    for (uint32_t frame = 0; prepared.programs_left > 0 && frame < 1000; frame++) {
        MUST(tml_prepare_begin(tml));
        MUST(tml_unique(tml, &desc)); /* does nothing here but name what it lacks */
        MUST(tml_prepare_end(tml, &prepared));
        CHECK(prepared.programs_left == 0 || frame < 999);
    }
    MUST(tml_unique(tml, &desc));
}

/* What was compiled, for the next run of the program. */
static void cache(tml_context *tml)
{
    size_t size = 0;
    MUST(tml_cache(tml, NULL, &size)); /* how much there is */
    void *data = malloc(size);
    CHECK(data);
    MUST(tml_cache(tml, data, &size));
    MUST(tml_cache_add(tml, data, size)); /* in the next run */
    CHECK(size >= 16);
    free(data);
}

/* Seconds of the device. */
static void time_of_device(tml_context *tml)
{
    double seconds = -1;
    const tml_buffer data = buffer_of(tml, TML_U32, 1000, NULL);
    MUST(tml_time_begin(tml));
    MUST(tml_scan(tml, &(tml_scan_desc){.in = data, .out = data}));
    MUST(tml_time_end(tml, &seconds));
    CHECK(seconds >= 0);
}

/* How values travel through this device's textures, and the tests that decided it. */
static void path(tml_context *tml)
{
    tml_gl_test tests[64];
    const uint32_t count = tml_gl_tests(tml, tests, 64);
    for (uint32_t i = 0; i < count && i < 64; i++)
        if (tests[i].is_choice)
            CHECK(tests[i].passed && strlen(tests[i].name) > 0);
    CHECK(count > 0 && !strcmp(tml_gl_path_name(TML_GL_PATH_INTEGER), "integer"));
}

/* ---- contexts of their own ----------------------------------------------------------------- */

static tml_gl_function find(void *user, const char *name)
{
    ++*(int *)user;
    return eglGetProcAddress(name);
}

/* Functions of OpenGL ES from a loader of yours. */
static void loader(void)
{
    int asked = 0;
    const tml_gl_desc gl = {.get_proc_address = find, .user = &asked, .path = TML_GL_PATH_AUTO};
    tml_context *tml;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &gl}, &tml));
    CHECK(asked > 0);
    tml_close(tml);
}

/* A page's event webglcontextlost, say: calls fail from then on; close, and open another. */
static void lost(void)
{
    uint32_t word;
    tml_context *tml;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml));
    const tml_buffer buffer = buffer_of(tml, TML_U32, 1, NULL);
    tml_gl_lost(tml);
    CHECK(tml_buffer_read(tml, buffer, &word) == TML_ERROR_DEVICE_LOST);
    tml_close(tml);
}

/* An OpenGL ES context without a window, as a program has one already. */
static bool make_context(void)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT,
                             EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    const EGLDisplay display =
        get ? get(EGL_PLATFORM_SURFACELESS_MESA, (void *)EGL_DEFAULT_DISPLAY, NULL)
            : eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLConfig config;
    EGLint count = 0;
    return eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API) &&
           eglChooseConfig(display, wanted, &config, 1, &count) && count == 1 &&
           eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE,
                          eglCreateContext(display, config, EGL_NO_CONTEXT, version));
}

/* A texture of yours, such as a framebuffer's, measured in place. */
static void picture_of_yours(tml_context *tml)
{
    GLuint name;
    float colours[5 * 3 * 4];
    tml_image_stats stats;
    for (int i = 0; i < 5 * 3 * 4; i++)
        colours[i] = 4;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA16F, 5, 3);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 5, 3, GL_RGBA, GL_FLOAT, colours);
    const tml_gl_image lent = {.texture = name, .format = GL_RGBA16F};
    const tml_image_measure_desc measure = {
        .image = {.width = 5, .height = 3, .channels = 3, .gl = &lent},
        .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL)};
    MUST(tml_image_measure(tml, &measure));
    MUST(tml_image_stats_read(tml, measure.stats, &stats));
    CHECK(stats.pixels == 15 && stats.log2_mean == 2);
    glDeleteTextures(1, &name);
}

/* Textures of yours into buffers, and back: here RGBA8, whose colours come as u8. */
static void import_and_export(tml_context *tml)
{
    GLuint names[2];
    uint8_t bytes[4 * 4 * 4];
    for (int i = 0; i < 64; i++)
        bytes[i] = (uint8_t)(3 * i);
    glGenTextures(2, names);
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, names[i]);
        glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    }
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    tml_gl_transfer_desc desc = {.image = {names[1], GL_RGBA8},
                                 .width = 4,
                                 .height = 4,
                                 .buffer = buffer_of(tml, TML_VEC(TML_U8, 4), 16, NULL)};
    MUST(tml_gl_import(tml, &desc));
    desc.image.texture = names[0];
    desc.tile_width = desc.tile_height = 2; /* as a volume of 2 x 2 x 4, unrolled */
    MUST(tml_gl_export(tml, &desc));
    desc.tile_width = desc.tile_height = 0;
    MUST(tml_gl_import(tml, &desc));
    MUST(tml_buffer_read(tml, desc.buffer, bytes));
    CHECK(bytes[0] == 0 && bytes[4] == 12 &&
          bytes[8] == 48); /* element 4 begins the second slice */
    glDeleteTextures(2, names);
}

/* GLSL of the library's, to look up buffers in shaders of yours. */
static void glsl(tml_context *tml)
{
    const char *text = tml_gl_glsl(tml);
    CHECK(text && strstr(text, "tml_vec3"));
    /* On the float tier there is pack_float, too: bytes of 0 to 255, so a shader that draws a float
     * into RGBA8 ends with gl_FragColor = pack_float(x) / 255.0; */
}

/* The library in that context: its state is saved and given back with each call. */
static void lent(void)
{
    tml_context *tml;
    if (!make_context())
        return;
    MUST(tml_open(
        &(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &(tml_gl_desc){.lend_current = true}},
        &tml));
    picture_of_yours(tml);
    import_and_export(tml);
    glsl(tml);
    tml_close(tml);
}

int main(void)
{
    const int status = run_examples(&(tml_open_desc){.engine = TML_ENGINE_GL},
                                    (example *const[]){texture, exact_counts, one_of_many, prepare,
                                                       cache, time_of_device, path, NULL});
    if (status == 0) {
        loader();
        lost();
        lent();
    }
    return status;
}
