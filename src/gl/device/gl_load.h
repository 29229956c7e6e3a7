/* The functions of EGL and OpenGL ES that the engine calls, found at run time: one X for each. A
 * missing library or function is a status, never a crash. In a page they are Emscripten's. */
#ifndef TML_GL_LOAD_H
#define TML_GL_LOAD_H

#ifndef __EMSCRIPTEN__
#    define EGL_NO_X11
#    include <EGL/egl.h>
#    include <EGL/eglext.h>
#endif
#include <GLES3/gl3.h>

#include <GLES2/gl2ext.h> /* after gl3.h, which it needs */

#include <trommel/gl.h>

/* In OpenGL ES 2.0 and later. */
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

/* In 3.0 alone. */
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
    /* NULL where missing. */
    PFNGLGETQUERYOBJECTUI64VEXTPROC GetQueryObjectui64vEXT;
    PFNGLGETGRAPHICSRESETSTATUSEXTPROC GetGraphicsResetStatus; /* gl_load_reset_status */
} gl_functions;

/* Fills fn from get (NULL, in a page alone: Emscripten's). Returns the name of the first function that is missing, or NULL. Those of 3.0 may
 * be missing where is_es3 is false. */
const char *gl_load(gl_functions *fn, tml_gl_function (*get)(void *user, const char *name),
                    void *user, bool is_es3);
/* Finds GetGraphicsResetStatus under the name that the context's version or extensions promise: loaders
 * give functions of any name. Needs the context to be current. */
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
    /* NULL where missing. */
    PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplayEXT;
    PFNEGLQUERYDEVICESEXTPROC QueryDevicesEXT;
    PFNEGLQUERYDEVICESTRINGEXTPROC QueryDeviceStringEXT;
} egl_functions;

/* Opens libEGL.so.1; false where there is none, or it lacks functions. It is never closed: drivers do not
 * stand being unloaded. */
bool egl_load(egl_functions *egl);
tml_gl_function egl_get_proc_address(void *egl, const char *name);
#endif

#endif
