/* Makes a device's context current for a call, and restores the previous context afterwards. */
#include "gl/device/gl_device.h"

#ifndef __EMSCRIPTEN__
bool gl_make_current(gl_device *d)
{
    const egl_functions *egl = &d->egl;
    d->previous_api = egl->QueryAPI();
    egl->BindAPI(EGL_OPENGL_ES_API);
    d->previous_display = egl->GetCurrentDisplay();
    d->previous_context = egl->GetCurrentContext();
    d->previous_draw = egl->GetCurrentSurface(EGL_DRAW);
    d->previous_read = egl->GetCurrentSurface(EGL_READ);
    return d->previous_context == d->context ||
           egl->MakeCurrent(d->display, d->surface, d->surface, d->context);
}

void gl_make_previous_current(gl_device *d)
{
    const egl_functions *egl = &d->egl;
    if (d->previous_context == EGL_NO_CONTEXT)
        egl->MakeCurrent(d->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    else if (d->previous_context != d->context)
        egl->MakeCurrent(d->previous_display, d->previous_draw, d->previous_read,
                         d->previous_context);
    if (d->previous_api != EGL_OPENGL_ES_API)
        egl->BindAPI(d->previous_api);
}

#endif

tml_status gl_enter(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    if (d->depth > 0) {
        d->depth++;
        return TML_OK;
    }
    if (d->is_lost)
        return tml_error(tml, TML_ERROR_DEVICE_LOST,
                         "the OpenGL context was lost; close this context and open another");
    if (d->in_batch) {
        d->depth = 1;
        return TML_OK;
    }
#ifndef __EMSCRIPTEN__
    if (!d->is_lent && !gl_make_current(d)) {
        EGLint code = d->egl.GetError();
        gl_make_previous_current(d);
        return tml_error(
            tml, TML_ERROR_DEVICE_LOST,
            "eglMakeCurrent failed with 0x%x; is the context in use on another thread?",
            (unsigned)code);
    }
#endif
    if (d->is_lent) {
        gl_state_save(d);
        gl_state_set(d);
    }
    d->depth = 1;
    return TML_OK;
}

void gl_leave(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    if (--d->depth > 0)
        return;
    gl_temporaries_end(d);
    if (d->in_batch)
        return;
    if (d->is_lent)
        gl_state_restore(d);
#ifndef __EMSCRIPTEN__
    else
        gl_make_previous_current(d);
#endif
}
