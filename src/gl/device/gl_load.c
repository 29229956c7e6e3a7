/* Loads EGL and OpenGL ES (gl_load.h). */
#include "gl/device/gl_load.h"

#include <string.h>

#include "core/platform.h"

#ifdef __EMSCRIPTEN__
/* Linked rather than looked up by name, so that a page contains only the functions called here. */
#    define GL_LINKED(name) (tml_gl_function) gl##name
#else
#    define GL_LINKED(name) NULL
#endif

const char *gl_load(gl_functions *fn, tml_gl_function (*get)(void *user, const char *name),
                    void *user, bool is_es3)
{
    memset(fn, 0, sizeof *fn);
    const char *missing = NULL;
#define GL_FIND(name)                                                                              \
    {                                                                                              \
        tml_gl_function found = get ? get(user, "gl" #name) : GL_LINKED(name);                     \
        memcpy(&fn->name, &found, sizeof found);                                                   \
        if (!found && !missing)                                                                    \
            missing = "gl" #name;                                                                  \
    }
    GL_FUNCTIONS_2(GL_FIND)
    if (is_es3) {
        GL_FUNCTIONS_3(GL_FIND)
    }
#undef GL_FIND
#ifndef __EMSCRIPTEN__ /* in a page query results are not available before its script returns */
#    define GL_FIND_OPTIONAL(name)                                                                 \
        {                                                                                          \
            tml_gl_function found = get(user, "gl" #name);                                         \
            memcpy(&fn->name, &found, sizeof found);                                               \
        }
    GL_FIND_OPTIONAL(GetQueryObjectui64vEXT)
    if (is_es3) {
        GL_FIND_OPTIONAL(GetProgramBinary)
        GL_FIND_OPTIONAL(ProgramBinary)
        GL_FIND_OPTIONAL(ProgramParameteri)
        GL_FIND_OPTIONAL(FenceSync)
        GL_FIND_OPTIONAL(ClientWaitSync)
        GL_FIND_OPTIONAL(DeleteSync)
        GL_FIND_OPTIONAL(Flush)
        GL_FIND_OPTIONAL(MapBufferRange)
        GL_FIND_OPTIONAL(UnmapBuffer)
    }
#    undef GL_FIND_OPTIONAL
#endif
    return missing;
}

void gl_load_reset_status(gl_functions *fn, tml_gl_function (*get)(void *user, const char *name),
                          void *user)
{
#ifndef __EMSCRIPTEN__ /* a page learns of it by an event, and by an error */
    const char *version = (const char *)fn->GetString(GL_VERSION);
    const char *extensions = (const char *)fn->GetString(GL_EXTENSIONS);
    const char *digits = version ? strstr(version, "ES 3.") : NULL;
    const char *name = NULL;
    if (digits && digits[5] >= '2')
        name = "glGetGraphicsResetStatus";
    else if (extensions && strstr(extensions, "GL_KHR_robustness"))
        name = "glGetGraphicsResetStatusKHR";
    else if (extensions && strstr(extensions, "GL_EXT_robustness"))
        name = "glGetGraphicsResetStatusEXT";
    tml_gl_function found = name ? get(user, name) : NULL;
    memcpy(&fn->GetGraphicsResetStatus, &found, sizeof found);
#else
    (void)fn;
    (void)get;
    (void)user;
#endif
}

#ifndef __EMSCRIPTEN__
bool egl_load(egl_functions *egl)
{
    *egl = (egl_functions){0};
    egl->library = tml_library_open(TML_LIBRARY_EGL, NULL, 0);
    if (!egl->library)
        return false;
    bool is_whole = true;
#    define EGL_FIND(name)                                                                         \
        *(void **)&egl->name = tml_library_symbol(egl->library, "egl" #name);                      \
        is_whole = is_whole && egl->name != NULL;
    EGL_FUNCTIONS(EGL_FIND)
#    undef EGL_FIND
    if (!is_whole)
        return false;
#    define EGL_FIND_EXTENSION(name)                                                               \
        {                                                                                          \
            tml_gl_function found = egl->GetProcAddress("egl" #name);                              \
            memcpy(&egl->name, &found, sizeof found);                                              \
        }
    EGL_FIND_EXTENSION(GetPlatformDisplayEXT)
    EGL_FIND_EXTENSION(QueryDevicesEXT)
    EGL_FIND_EXTENSION(QueryDeviceStringEXT)
#    undef EGL_FIND_EXTENSION
    return true;
}

tml_gl_function egl_get_proc_address(void *egl, const char *name)
{
    return ((const egl_functions *)egl)->GetProcAddress(name);
}
#endif
