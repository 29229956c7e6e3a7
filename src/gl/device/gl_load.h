/* The functions of EGL and OpenGL ES that the engine calls, loaded at run time: one X per function.
 * A missing library or function gives an error status, never a crash. In a page, the functions are
 * Emscripten's. */
#ifndef TML_GL_LOAD_H
#define TML_GL_LOAD_H

#ifndef __EMSCRIPTEN__
#    define EGL_NO_PLATFORM_SPECIFIC_TYPES
#    include <EGL/egl.h>
#    include <EGL/eglext.h>
#endif
#include <GLES3/gl3.h>

#include <GLES2/gl2ext.h> /* after gl3.h, which it needs */

#include <trommel/gl.h>

/* OpenGL ES 2.0 and later. */
#define GL_FUNCTIONS_2(X)                                                                          \
    X(ActiveTexture)                                                                               \
    X(AttachShader)                                                                                \
    X(BindAttribLocation)                                                                          \
    X(BindBuffer)                                                                                  \
    X(BindFramebuffer)                                                                             \
    X(BindTexture)                                                                                 \
    X(BufferData)                                                                                  \
    X(CheckFramebufferStatus)                                                                      \
    X(ColorMask)                                                                                   \
    X(CompileShader)                                                                               \
    X(CopyTexSubImage2D)                                                                           \
    X(CreateProgram)                                                                               \
    X(CreateShader)                                                                                \
    X(DeleteBuffers)                                                                               \
    X(DeleteFramebuffers)                                                                          \
    X(DeleteProgram)                                                                               \
    X(DeleteShader)                                                                                \
    X(DeleteTextures)                                                                              \
    X(Disable)                                                                                     \
    X(DisableVertexAttribArray)                                                                    \
    X(DrawArrays)                                                                                  \
    X(Enable)                                                                                      \
    X(EnableVertexAttribArray)                                                                     \
    X(Finish)                                                                                      \
    X(FramebufferTexture2D)                                                                        \
    X(GenBuffers)                                                                                  \
    X(GenFramebuffers)                                                                             \
    X(GenTextures)                                                                                 \
    X(GetActiveUniform)                                                                            \
    X(GetBooleanv)                                                                                 \
    X(GetError)                                                                                    \
    X(GetIntegerv)                                                                                 \
    X(GetProgramInfoLog)                                                                           \
    X(GetProgramiv)                                                                                \
    X(GetShaderInfoLog)                                                                            \
    X(GetShaderPrecisionFormat)                                                                    \
    X(GetShaderiv)                                                                                 \
    X(GetString)                                                                                   \
    X(GetUniformLocation)                                                                          \
    X(GetVertexAttribPointerv)                                                                     \
    X(GetVertexAttribiv)                                                                           \
    X(IsEnabled)                                                                                   \
    X(LinkProgram)                                                                                 \
    X(PixelStorei)                                                                                 \
    X(ReadPixels)                                                                                  \
    X(Scissor)                                                                                     \
    X(ShaderSource)                                                                                \
    X(TexImage2D)                                                                                  \
    X(TexParameteri)                                                                               \
    X(TexSubImage2D)                                                                               \
    X(Uniform1fv)                                                                                  \
    X(Uniform1i)                                                                                   \
    X(Uniform1iv)                                                                                  \
    X(Uniform2fv)                                                                                  \
    X(Uniform2iv)                                                                                  \
    X(Uniform3fv)                                                                                  \
    X(Uniform3iv)                                                                                  \
    X(Uniform4fv)                                                                                  \
    X(Uniform4iv)                                                                                  \
    X(UseProgram)                                                                                  \
    X(VertexAttribPointer)                                                                         \
    X(Viewport)

/* OpenGL ES 3.0 and later. */
#define GL_FUNCTIONS_3(X)                                                                          \
    X(BeginQuery)                                                                                  \
    X(BindSampler)                                                                                 \
    X(BindVertexArray)                                                                             \
    X(DeleteQueries)                                                                               \
    X(DeleteSamplers)                                                                              \
    X(DeleteVertexArrays)                                                                          \
    X(DrawBuffers)                                                                                 \
    X(EndQuery)                                                                                    \
    X(GenQueries)                                                                                  \
    X(GenSamplers)                                                                                 \
    X(GenVertexArrays)                                                                             \
    X(PauseTransformFeedback)                                                                      \
    X(ResumeTransformFeedback)                                                                     \
    X(SamplerParameteri)                                                                           \
    X(TexStorage2D)                                                                                \
    X(Uniform1uiv)                                                                                 \
    X(Uniform2uiv)                                                                                 \
    X(Uniform3uiv)                                                                                 \
    X(Uniform4uiv)

typedef struct gl_functions {
#define GL_POINTER(name) __typeof__(&gl##name) name;
    GL_FUNCTIONS_2(GL_POINTER)
    GL_FUNCTIONS_3(GL_POINTER)
#undef GL_POINTER
    /* NULL if missing. */
    PFNGLGETQUERYOBJECTUI64VEXTPROC GetQueryObjectui64vEXT;
    PFNGLGETGRAPHICSRESETSTATUSEXTPROC GetGraphicsResetStatus; /* gl_load_reset_status */
    /* In OpenGL ES 3.0, but not in WebGL 2. */
    __typeof__(&glGetProgramBinary) GetProgramBinary;
    __typeof__(&glProgramBinary) ProgramBinary;
    __typeof__(&glProgramParameteri) ProgramParameteri;
    /* In OpenGL ES 3.0; in a page, the package itself implements reads without a wait. */
    __typeof__(&glFenceSync) FenceSync;
    __typeof__(&glClientWaitSync) ClientWaitSync;
    __typeof__(&glDeleteSync) DeleteSync;
    __typeof__(&glFlush) Flush;
    __typeof__(&glMapBufferRange) MapBufferRange;
    __typeof__(&glUnmapBuffer) UnmapBuffer;
} gl_functions;

/* Loads fn with get; in a page, get is NULL (Emscripten's functions). Returns the name of the first
 * missing function, or NULL. If is_es3 is false, functions of 3.0 may be missing. */
const char *gl_load(gl_functions *fn, tml_gl_function (*get)(void *user, const char *name),
                    void *user, bool is_es3);
/* Loads GetGraphicsResetStatus by the name that the context's version or extensions promise, since
 * loaders return a function for any name. The context must be current. */
void gl_load_reset_status(gl_functions *fn, tml_gl_function (*get)(void *user, const char *name),
                          void *user);

#ifndef __EMSCRIPTEN__
#    define EGL_FUNCTIONS(X)                                                                       \
        X(BindAPI)                                                                                 \
        X(ChooseConfig)                                                                            \
        X(CreateContext)                                                                           \
        X(CreatePbufferSurface)                                                                    \
        X(DestroyContext)                                                                          \
        X(DestroySurface)                                                                          \
        X(GetCurrentContext)                                                                       \
        X(GetCurrentDisplay)                                                                       \
        X(GetCurrentSurface)                                                                       \
        X(GetDisplay)                                                                              \
        X(GetError)                                                                                \
        X(GetProcAddress)                                                                          \
        X(Initialize)                                                                              \
        X(MakeCurrent)                                                                             \
        X(QueryAPI)                                                                                \
        X(QueryString)

typedef struct egl_functions {
    void *library;
#    define EGL_POINTER(name) __typeof__(&egl##name) name;
    EGL_FUNCTIONS(EGL_POINTER)
#    undef EGL_POINTER
    /* NULL if missing. */
    PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplayEXT;
    PFNEGLQUERYDEVICESEXTPROC QueryDevicesEXT;
    PFNEGLQUERYDEVICESTRINGEXTPROC QueryDeviceStringEXT;
} egl_functions;

/* Opens libEGL.so.1. Returns false if it is missing or lacks functions. The library is never
 * closed, since some drivers crash when they are unloaded. */
bool egl_load(egl_functions *egl);
tml_gl_function egl_get_proc_address(void *egl, const char *name);
#endif

#endif
