/* An OpenGL ES driver that counts and fails on request. */
#include "gl_driver.h"

/* ---- a context of the program's own ---------------------------------------------------------- */

egl_functions egl;
gl_functions gl;

bool own_open(own_context *own)
{
    if (!egl.library && !egl_load(&egl))
        return false;
    own->display = egl.GetDisplay(EGL_DEFAULT_DISPLAY);
    if (egl.GetPlatformDisplayEXT)
        own->display = egl.GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
                                                 (void *)EGL_DEFAULT_DISPLAY, NULL);
    EGLint major, minor, count = 0;
    EGLConfig config;
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT,
                             EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE};
    if (own->display == EGL_NO_DISPLAY || !egl.Initialize(own->display, &major, &minor) ||
        !egl.BindAPI(EGL_OPENGL_ES_API) ||
        !egl.ChooseConfig(own->display, wanted, &config, 1, &count) || count < 1)
        return false;
    own->context = egl.CreateContext(own->display, config, EGL_NO_CONTEXT, version);
    return own->context != EGL_NO_CONTEXT &&
           egl.MakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own->context) &&
           !gl_load(&gl, egl_get_proc_address, &egl, true);
}

void own_close(own_context *own)
{
    egl.MakeCurrent(own->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl.DestroyContext(own->display, own->context);
}

/* ---- a driver that counts, and fails on request ---------------------------------------------- */

struct gl_driver gl_driver;

static bool must_fail(const char *name)
{
    return gl_driver.ask && gl_driver.ask(name);
}

static void GL_APIENTRY wrap_ReadPixels(GLint a, GLint b, GLsizei c, GLsizei d, GLenum e, GLenum f,
                                        void *g)
{
    gl_driver.waits++;
    if (!gl_driver.is_lost && !gl_driver.reset && !gl_driver.read_error)
        gl.ReadPixels(a, b, c, d, e, f, g);
}

static void GL_APIENTRY wrap_Finish(void)
{
    gl_driver.waits++;
    gl.Finish();
}

static GLenum GL_APIENTRY wrap_GetError(void)
{
    gl_driver.waits++;
    GLenum error = gl_driver.is_lost ? GL_CONTEXT_LOST_KHR : gl_driver.read_error;
    if (gl_driver.out_of_memory)
        error = GL_OUT_OF_MEMORY;
    gl_driver.out_of_memory = false;
    gl_driver.read_error = GL_NO_ERROR;
    return error ? error : gl.GetError();
}

static GLenum GL_APIENTRY wrap_GetGraphicsResetStatus(void)
{
    return gl_driver.reset;
}

static void GL_APIENTRY wrap_GetIntegerv(GLenum a, GLint *b)
{
    gl.GetIntegerv(a, b);
    if (a == GL_GPU_DISJOINT_EXT)
        *b = gl_driver.disjoint > 1;
}

static GLenum GL_APIENTRY wrap_CheckFramebufferStatus(GLenum a)
{
    gl_driver.waits++;
    return must_fail("glCheckFramebufferStatus") ? GL_FRAMEBUFFER_UNSUPPORTED
                                                 : gl.CheckFramebufferStatus(a);
}

static void GL_APIENTRY wrap_GetQueryObjectui64vEXT(GLuint a, GLenum b, GLuint64 *c)
{
    gl_driver.waits++;
    gl.GetQueryObjectui64vEXT(a, b, c);
    if (gl_driver.disjoint) {
        gl_driver.disjoint = 2;
        *c = UINT64_MAX;
    }
}

static void GL_APIENTRY wrap_GetProgramiv(GLuint a, GLenum b, GLint *c)
{
    gl_driver.waits++;
    gl.GetProgramiv(a, b, c);
    if (b == GL_LINK_STATUS && must_fail("glLinkProgram"))
        *c = GL_FALSE;
}

static void GL_APIENTRY wrap_GetShaderiv(GLuint a, GLenum b, GLint *c)
{
    gl.GetShaderiv(a, b, c);
    if (b == GL_COMPILE_STATUS && must_fail("glCompileShader"))
        *c = GL_FALSE;
}

static void GL_APIENTRY wrap_TexStorage2D(GLenum a, GLsizei b, GLenum c, GLsizei d, GLsizei e)
{
    gl_driver.allocations++;
    if (must_fail("glTexStorage2D") || ++gl_driver.textures == gl_driver.fail_at)
        gl_driver.out_of_memory = true;
    else
        gl.TexStorage2D(a, b, c, d, e);
}

/* Without data, only memory is allocated, as by glTexStorage2D. */
static void GL_APIENTRY wrap_TexImage2D(GLenum a, GLint b, GLint c, GLsizei d, GLsizei e, GLint f,
                                        GLenum g, GLenum h, const void *i)
{
    if (!i && must_fail("glTexImage2D"))
        gl_driver.out_of_memory = true;
    else
        gl.TexImage2D(a, b, c, d, e, f, g, h, i);
}

static GLuint GL_APIENTRY wrap_CreateProgram(void)
{
    gl_driver.allocations++;
    if (must_fail("glCreateProgram"))
        return 0;
    gl_driver.live++;
    return gl.CreateProgram();
}

static void GL_APIENTRY wrap_DeleteProgram(GLuint a)
{
    gl_driver.live -= a != 0;
    gl.DeleteProgram(a);
}

static GLuint GL_APIENTRY wrap_CreateShader(GLenum a)
{
    if (must_fail("glCreateShader"))
        return 0;
    gl_driver.live++;
    return gl.CreateShader(a);
}

static void GL_APIENTRY wrap_CompileShader(GLuint a)
{
    gl_driver.compiled++;
    gl.CompileShader(a);
}

static void GL_APIENTRY wrap_DeleteShader(GLuint a)
{
    gl_driver.live -= a != 0;
    gl.DeleteShader(a);
}

static void GL_APIENTRY wrap_DrawArrays(GLenum a, GLint b, GLsizei c)
{
    gl.DrawArrays(a, b, c);
    if (gl_driver.drawn)
        gl_driver.drawn();
}

/* Counts the names of objects. 0, which names nothing, may be deleted, too. */
static int named(GLsizei count, const GLuint *names)
{
    int all = 0;
    for (GLsizei i = 0; i < count; i++)
        all += names[i] != 0;
    return all;
}

static void GL_APIENTRY wrap_GenTextures(GLsizei a, GLuint *b)
{
    gl_driver.allocations++;
    gl_driver.live += a;
    gl.GenTextures(a, b);
}

static void GL_APIENTRY wrap_DeleteTextures(GLsizei a, const GLuint *b)
{
    gl_driver.live -= named(a, b);
    gl.DeleteTextures(a, b);
}

static void GL_APIENTRY wrap_GenFramebuffers(GLsizei a, GLuint *b)
{
    gl_driver.allocations++;
    gl_driver.live += a;
    gl.GenFramebuffers(a, b);
}

static void GL_APIENTRY wrap_DeleteFramebuffers(GLsizei a, const GLuint *b)
{
    gl_driver.live -= named(a, b);
    gl.DeleteFramebuffers(a, b);
}

/* Objects that are only counted. */
#define COUNTED(X)                                                                                 \
    X(Buffers)                                                                                     \
    X(Queries)                                                                                     \
    X(Samplers)                                                                                    \
    X(VertexArrays)
#define WRAP_COUNTED(what)                                                                         \
    static void GL_APIENTRY wrap_Gen##what(GLsizei a, GLuint *b)                                   \
    {                                                                                              \
        gl_driver.live += a;                                                                       \
        gl.Gen##what(a, b);                                                                        \
    }                                                                                              \
    static void GL_APIENTRY wrap_Delete##what(GLsizei a, const GLuint *b)                          \
    {                                                                                              \
        gl_driver.live -= named(a, b);                                                             \
        gl.Delete##what(a, b);                                                                     \
    }

COUNTED(WRAP_COUNTED)

tml_gl_function find_wrapped(void *user, const char *name)
{
    (void)user;
    if (gl_driver.missing && strcmp(name, gl_driver.missing) == 0)
        return NULL;
#define WRAPPED(function)                                                                          \
    if (strcmp(name, "gl" #function) == 0)                                                         \
        return (tml_gl_function)wrap_##function;
    WRAPPED(ReadPixels)
    WRAPPED(Finish)
    WRAPPED(GetError)
    WRAPPED(GetIntegerv)
    WRAPPED(CheckFramebufferStatus)
    WRAPPED(GetQueryObjectui64vEXT)
    WRAPPED(GetProgramiv)
    WRAPPED(TexStorage2D)
    WRAPPED(CreateProgram)
    WRAPPED(DeleteProgram)
    WRAPPED(GenTextures)
    WRAPPED(DeleteTextures)
    WRAPPED(GenFramebuffers)
    WRAPPED(DeleteFramebuffers)
    WRAPPED(GetShaderiv)
    WRAPPED(TexImage2D)
    WRAPPED(CreateShader)
    WRAPPED(CompileShader)
    WRAPPED(DeleteShader)
    WRAPPED(DrawArrays)
#define WRAPPED_COUNTED(what) WRAPPED(Gen##what) WRAPPED(Delete##what)
    COUNTED(WRAPPED_COUNTED)
#undef WRAPPED_COUNTED
#undef WRAPPED
    if (strncmp(name, "glGetGraphicsResetStatus", 24) == 0) /* ...KHR, ...EXT */
        return (tml_gl_function)wrap_GetGraphicsResetStatus;
    return egl_get_proc_address(&egl, name);
}

/* ---- a context's state ----------------------------------------------------------------------- */

void state_take(int32_t out[STATES])
{
    static const GLenum names[] = {GL_CURRENT_PROGRAM,
                                   GL_VERTEX_ARRAY_BINDING,
                                   GL_DRAW_FRAMEBUFFER_BINDING,
                                   GL_READ_FRAMEBUFFER_BINDING,
                                   GL_ACTIVE_TEXTURE,
                                   GL_ARRAY_BUFFER_BINDING,
                                   GL_PIXEL_PACK_BUFFER_BINDING,
                                   GL_PIXEL_UNPACK_BUFFER_BINDING,
                                   GL_PACK_ALIGNMENT,
                                   GL_PACK_ROW_LENGTH,
                                   GL_UNPACK_ALIGNMENT,
                                   GL_UNPACK_ROW_LENGTH,
                                   GL_UNPACK_SKIP_ROWS,
                                   GL_PACK_SKIP_PIXELS};
    static const GLenum switches[] = {GL_SCISSOR_TEST,       GL_BLEND,          GL_DEPTH_TEST,
                                      GL_STENCIL_TEST,       GL_CULL_FACE,      GL_DITHER,
                                      GL_RASTERIZER_DISCARD, GL_SAMPLE_COVERAGE};
    int used = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        gl.GetIntegerv(names[i], &out[used++]);
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        out[used++] = gl.IsEnabled(switches[i]);
    gl.GetIntegerv(GL_VIEWPORT, &out[used]);
    gl.GetIntegerv(GL_SCISSOR_BOX, &out[used + 4]);
    used += 8;
    GLboolean mask[4];
    gl.GetBooleanv(GL_COLOR_WRITEMASK, mask);
    for (int i = 0; i < 4; i++)
        out[used++] = mask[i];
    GLint unit;
    gl.GetIntegerv(GL_ACTIVE_TEXTURE, &unit);
    for (GLenum u = 0; u < 12; u++) {
        gl.ActiveTexture(GL_TEXTURE0 + u);
        gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &out[used++]);
        gl.GetIntegerv(GL_SAMPLER_BINDING, &out[used++]);
    }
    gl.ActiveTexture((GLenum)unit);
    while (used < STATES)
        out[used++] = 0;
}

char debug_message[256];

static void GL_APIENTRY hear_debug(GLenum source, GLenum type, GLuint id, GLenum severity,
                                   GLsizei length, const GLchar *message, const void *user)
{
    (void)source;
    (void)id;
    (void)length;
    (void)user;
    /* Performance messages are no fault: a driver may recompile a shader for another state. */
    if (severity != GL_DEBUG_SEVERITY_NOTIFICATION_KHR && type != GL_DEBUG_TYPE_PERFORMANCE_KHR &&
        !debug_message[0])
        snprintf(debug_message, sizeof debug_message, "%s", message);
}

void debug_begin(void)
{
    PFNGLDEBUGMESSAGECALLBACKKHRPROC set =
        (PFNGLDEBUGMESSAGECALLBACKKHRPROC)egl.GetProcAddress("glDebugMessageCallbackKHR");
    debug_message[0] = '\0';
    if (!set)
        return;
    set(hear_debug, NULL);
    gl.Enable(GL_DEBUG_OUTPUT_KHR);
    gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR);
    while (gl.GetError() != GL_NO_ERROR) { /* no GL_KHR_debug */
    }
}
