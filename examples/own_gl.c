/* Trommel inside an OpenGL ES program of your own. Shows tml_gl_desc.lend_current, tml_map,
 * tml_compact, tml_gl_texture and tml_gl_glsl.
 *
 * Each frame moves particles, keeps those inside a ring, in order, and draws them from the texture
 * that the library wrote. How many there are nobody asks: the vertex shader sees the count in a
 * texture of its own, and puts the vertices past it outside the picture. */
#include <stdio.h>
#include <stdlib.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(vec2, spiral, (tml_index i, tml_params p), {
    float angle = F(i) * 2.3999632f + p.f[0];
    float radius = sqrt(F(i) / p.f[1]);
    return VEC2(radius * cos(angle), radius * sin(angle));
})
TML_KERNEL(bool, is_in_ring, (vec2 at), {
    float d2 = dot2(at, at);
    return d2 > 0.25f && d2 < 0.5f;
})
#include <trommel/kernel_end.h>

/* EXPECTED is more than there will be: what is kept beyond it would not be written. */
enum { PARTICLES = 50000, EXPECTED = 16384, SIDE = 512, FRAMES = 3 };

#define MUST(call)                                                                                 \
    if ((call) != 0) {                                                                             \
        fprintf(stderr, "own_gl: failed: %s\n", #call);                                            \
        exit(1);                                                                                   \
    }

static GLuint compile(GLuint program, GLenum stage, GLsizei count, const char *const *texts)
{
    GLuint shader = glCreateShader(stage);
    glShaderSource(shader, count, texts, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    return shader;
}

/* A vertex fetches its particle, by functions of the library's (tml_gl_glsl). */
static const char version_text[] = "#version 300 es\n"
                                   "precision highp usampler2D;\n";
static const char vertex_text[] =
    "uniform usampler2D kept, kept_count;\n"
    "void main()\n"
    "{\n"
    "    uint i = uint(gl_VertexID);\n"
    "    bool is_there = i < tml_count(kept_count);\n"
    "    gl_Position = is_there ? vec4(tml_vec2(kept, i), 0, 1) : vec4(2, 2, 2, 1);\n"
    "    gl_PointSize = 1.0;\n"
    "}\n";
static const char fragment_text[] = "#version 300 es\n"
                                    "precision mediump float;\n"
                                    "out vec4 color;\n"
                                    "void main() { color = vec4(1.0, 0.8, 0.3, 1.0); }\n";

/* Any context will do; this one needs no window. */
static EGLBoolean make_context(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display =
        get_display ? get_display(EGL_PLATFORM_SURFACELESS_MESA, (void *)EGL_DEFAULT_DISPLAY, NULL)
                    : EGL_NO_DISPLAY;
    if (display == EGL_NO_DISPLAY)
        display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT,
                             EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    return eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API) &&
           eglChooseConfig(display, wanted, &config, 1, &count) && count == 1 &&
           eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE,
                          eglCreateContext(display, config, EGL_NO_CONTEXT, version));
}

int main(void)
{
    if (!make_context()) {
        puts("no OpenGL ES 3 here");
        return 77;
    }

    /* What the library writes. */
    tml_context *tml;
    tml_buffer particles, kept, kept_count;
    MUST(tml_open(
        &(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &(tml_gl_desc){.lend_current = true}},
        &tml));
    const tml_type vec2_type = TML_VEC(TML_F32, 2);
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = vec2_type, .count = PARTICLES},
                           &particles));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = vec2_type, .count = EXPECTED}, &kept));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &kept_count));
    tml_gl_memory kept_at, count_at;
    MUST(tml_gl_texture(tml, kept, &kept_at));
    MUST(tml_gl_texture(tml, kept_count, &count_at));

    /* What draws it. */
    GLuint program = glCreateProgram(), picture, frame;
    const char *const vertex[] = {version_text, tml_gl_glsl(tml), vertex_text};
    const char *const fragment[] = {fragment_text};
    compile(program, GL_VERTEX_SHADER, 3, vertex);
    compile(program, GL_FRAGMENT_SHADER, 1, fragment);
    glLinkProgram(program);
    glGenTextures(1, &picture);
    glBindTexture(GL_TEXTURE_2D, picture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture, 0);
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "kept"), 0);
    glUniform1i(glGetUniformLocation(program, "kept_count"), 1);
    glViewport(0, 0, SIDE, SIDE);

    for (int i = 0; i < FRAMES; i++) {
        MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(spiral),
                                          .params.f = {0.1f * (float)i, PARTICLES},
                                          .out = {particles},
                                          .length.count = PARTICLES}));
        MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_in_ring),
                                                  .payloads = {{particles, kept}},
                                                  .count = kept_count}));
        /* The program's own state is as it was: only the textures are to be bound. */
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, kept_at.texture);
        glActiveTexture(GL_TEXTURE1);
        glBindTexture(GL_TEXTURE_2D, count_at.texture);
        glClear(GL_COLOR_BUFFER_BIT);
        glDrawArrays(GL_POINTS, 0, EXPECTED);
    }

    /* Looking at the result, to see that it is right: a ring, and nothing inside or outside. */
    static unsigned char pixels[SIDE][SIDE][4];
    uint64_t count = 0;
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    MUST(tml_buffer_read_count(tml, kept_count, &count));
    int lit = 0, astray = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (pixels[y][x][0]) {
                double u = (x + 0.5) / (SIDE / 2) - 1, v = (y + 0.5) / (SIDE / 2) - 1;
                lit++;
                astray += u * u + v * v < 0.24 || u * u + v * v > 0.51;
            }
    printf("%d particles, %llu in the ring, %d pixels lit, %d of them astray\n", PARTICLES,
           (unsigned long long)count, lit, astray);
    tml_close(tml);
    return !(count == PARTICLES / 4 - 1 && lit > 5000 && astray == 0);
}
