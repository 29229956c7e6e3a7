/* Opens a device: one of EGL's, or the current context. Also makes the device's context current for
 * each call. */
#include "core/call.h"
#include "gl/device/gl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl/device/gl_float.h"
#include "gl/device/gl_probe.h"

#ifdef __EMSCRIPTEN__
#    include <emscripten/html5.h>
#endif

/* ---- description ----------------------------------------------------------------------------- */

/* Strict drivers of the old version use this name as well. */
static bool is_software_name(const char *renderer)
{
    return strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe") ||
           strstr(renderer, "SwiftShader");
}

uint64_t gl_loop_limit(const tml_context *tml)
{
    enum { MESA_BEFORE_23 = 65000 }; /* 2^16 - 1, less some; harmless on later ones */
    return strstr(tml->device.name, "llvmpipe") ? MESA_BEFORE_23 : 0;
}

static void gl_device_describe(gl_device *d, tml_device_info *out)
{
    const char *renderer = NULL;
#ifdef __EMSCRIPTEN__ /* the plain name is the browser's; the driver's where the page may know it */
    enum { UNMASKED_RENDERER_WEBGL = 0x9246 };
    if (emscripten_webgl_enable_extension(emscripten_webgl_get_current_context(),
                                          "WEBGL_debug_renderer_info"))
        renderer = (const char *)d->fn.GetString(UNMASKED_RENDERER_WEBGL);
#endif
    if (!renderer)
        renderer = (const char *)d->fn.GetString(GL_RENDERER);
    const char *version = (const char *)d->fn.GetString(GL_VERSION);
    *out = (tml_device_info){.engine = TML_ENGINE_GL};
    snprintf(out->name, sizeof out->name, "%s", renderer ? renderer : "OpenGL ES");
    snprintf(out->features, sizeof out->features, "%s", version ? version : "");
    out->is_software = is_software_name(out->name);
}

#ifndef __EMSCRIPTEN__

/* ---- EGL ------------------------------------------------------------------------------------- */

enum { EGL_DEVICES_MAX = 16 };

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* The displays of EGL's devices if EGL can list them; otherwise the default display. */
static uint32_t list_displays(const egl_functions *egl, EGLDisplay displays[EGL_DEVICES_MAX],
                              bool is_software[EGL_DEVICES_MAX])
{
    const char *client = egl->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    uint32_t count = 0;
    if (egl->QueryDevicesEXT && egl->GetPlatformDisplayEXT &&
        has_word(client, "EGL_EXT_platform_device")) {
        EGLDeviceEXT devices[EGL_DEVICES_MAX];
        EGLint found = 0;
        if (egl->QueryDevicesEXT(EGL_DEVICES_MAX, devices, &found))
            for (EGLint i = 0; i < found; i++) {
                const char *extensions = egl->QueryDeviceStringEXT
                                             ? egl->QueryDeviceStringEXT(devices[i], EGL_EXTENSIONS)
                                             : NULL;
                is_software[count] = has_word(extensions, "EGL_MESA_device_software");
                displays[count] =
                    egl->GetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
                count += displays[count] != EGL_NO_DISPLAY;
            }
    }
    if (count == 0) {
        EGLDisplay display = EGL_NO_DISPLAY;
        if (egl->GetPlatformDisplayEXT && has_word(client, "EGL_MESA_platform_surfaceless"))
            display = egl->GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA,
                                                 (void *)EGL_DEFAULT_DISPLAY, NULL);
        if (display == EGL_NO_DISPLAY)
            display = egl->GetDisplay(EGL_DEFAULT_DISPLAY);
        is_software[0] = false;
        displays[0] = display;
        count = display != EGL_NO_DISPLAY;
    }
    return count;
}

/* Creates a context of the newest version that is_es3 allows, surfaceless or with a surface of one
 * pixel. The display stays initialised, since it belongs to the whole process. */
static bool create_context(const egl_functions *egl, EGLDisplay display, bool is_es3,
                           EGLContext *context, EGLSurface *surface)
{
    EGLint major, minor;
    if (!egl->Initialize(display, &major, &minor))
        return false;
    const char *extensions = egl->QueryString(display, EGL_EXTENSIONS);
    bool surfaceless = has_word(extensions, "EGL_KHR_surfaceless_context");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, surfaceless ? 0 : EGL_PBUFFER_BIT,
                             EGL_RENDERABLE_TYPE, is_es3 ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_ES2_BIT,
                             EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!egl->ChooseConfig(display, wanted, &config, 1, &count) || count < 1)
        return false;
    EGLenum api = egl->QueryAPI();
    if (!egl->BindAPI(EGL_OPENGL_ES_API))
        return false;
    /* Requests reset notification. If that fails, creates a context without it. */
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, is_es3 ? 3 : 2,
                              EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                              EGL_LOSE_CONTEXT_ON_RESET_EXT, EGL_NONE};
    const EGLint plain_version[] = {version[0], version[1], EGL_NONE};
    *context = EGL_NO_CONTEXT;
    if (has_word(extensions, "EGL_EXT_create_context_robustness"))
        *context = egl->CreateContext(display, config, EGL_NO_CONTEXT, version);
    if (*context == EGL_NO_CONTEXT)
        *context = egl->CreateContext(display, config, EGL_NO_CONTEXT, plain_version);
    *surface = EGL_NO_SURFACE;
    if (*context != EGL_NO_CONTEXT && !surfaceless) {
        const EGLint texel[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        *surface = egl->CreatePbufferSurface(display, config, texel);
        if (*surface == EGL_NO_SURFACE) {
            egl->DestroyContext(display, *context);
            *context = EGL_NO_CONTEXT;
        }
    }
    if (api != EGL_OPENGL_ES_API)
        egl->BindAPI(api);
    return *context != EGL_NO_CONTEXT;
}

/* Opens display number of the list. d->egl is loaded. */
static bool open_display(gl_device *d, uint32_t number, bool prefer_es3)
{
    EGLDisplay displays[EGL_DEVICES_MAX];
    bool is_software[EGL_DEVICES_MAX];
    if (number >= list_displays(&d->egl, displays, is_software))
        return false;
    d->display = displays[number];
    d->is_es3 = prefer_es3 && create_context(&d->egl, d->display, true, &d->context, &d->surface);
    return d->is_es3 || create_context(&d->egl, d->display, false, &d->context, &d->surface);
}

static void close_display(gl_device *d)
{
    if (d->context != EGL_NO_CONTEXT)
        d->egl.DestroyContext(d->display, d->context);
    if (d->surface != EGL_NO_SURFACE)
        d->egl.DestroySurface(d->display, d->surface);
}

/* ---- the list of devices --------------------------------------------------------------------- */

uint32_t gl_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    gl_device d = {0};
    if (!egl_load(&d.egl))
        return 0;
    EGLDisplay displays[EGL_DEVICES_MAX];
    bool is_software[EGL_DEVICES_MAX];
    uint32_t count = list_displays(&d.egl, displays, is_software);
    /* A software driver is never the best device, so it is not opened for the list. */
    bool hardware_only = desc && desc->engine == TML_ENGINE_AUTO && !desc->device;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < capacity; i++) {
        tml_device_info info = {.engine = TML_ENGINE_GL, .is_software = is_software[i]};
        snprintf(info.name, sizeof info.name, "OpenGL ES device %u", i);
        if (!(hardware_only && is_software[i])) {
            bool opened = open_display(&d, i, true);
            if (opened && gl_make_current(&d)) {
                if (!gl_load(&d.fn, egl_get_proc_address, &d.egl, d.is_es3))
                    gl_device_describe(&d, &info);
                gl_make_previous_current(&d);
            }
            if (opened)
                close_display(&d);
        }
        out[found++] = info; /* in EGL's order: the index is the device's number */
    }
    return found;
}

#else

uint32_t gl_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    (void)desc;
    (void)out;
    (void)capacity;
    return 0; /* in a page, the context is always caller-owned */
}

#endif

bool gl_is_lent(const tml_open_desc *desc)
{
    return desc->gl && desc->gl->lend_current;
}

/* ---- begin and end of a call ----------------------------------------------------------------- */

static tml_status gl_device_begin(tml_context *tml)
{
    if (tml->engine->kind != TML_ENGINE_GL)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_gl_begin: this context is on engine %s, not on gl",
                         tml->engine->name);
    gl_device *d = gl_device_of(tml);
    if (d->in_batch)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_gl_begin: there was one before, with no tml_gl_end");
    tml_status status = gl_enter(tml);
    if (status == TML_OK) {
        d->in_batch = true;
        d->depth = 0;
    }
    return status;
}

tml_status tml_gl_begin(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, gl_device_begin(tml));
}

void tml_gl_end(tml_context *tml)
{
    if (TML_ENTER(tml) != TML_OK)
        return;
    if (tml->engine->kind == TML_ENGINE_GL && gl_device_of(tml)->in_batch) {
        gl_device *d = gl_device_of(tml);
        d->in_batch = false;
        d->depth = 1;
        gl_leave(tml);
    }
    (void)tml_leave(tml, TML_OK);
}

void tml_gl_lost(tml_context *tml)
{
    if (tml && tml->engine->kind == TML_ENGINE_GL)
        gl_device_of(tml)->is_lost = true;
}

/* ---- open and close -------------------------------------------------------------------------- */

static const char vertex_text[] =
    /* One triangle over everything; scissors choose the texels. */
    "void main()\n"
    "{\n"
    "    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, "
    "1.0);\n"
    "}\n";

static uint32_t floor_log2(uint32_t x)
{
    uint32_t log2 = 0;
    while (x >> (log2 + 1))
        log2++;
    return log2;
}

/* Prepares what every operation needs. The context is current. */
static tml_status prepare(tml_context *tml, const tml_gl_desc *desc)
{
    gl_device *d = gl_device_of(tml);
    GLint size = 0;
    d->fn.GetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    GLint viewport[2] = {0, 0};
    d->fn.GetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    d->texture_max = (uint32_t)TML_MIN_OF(size, TML_MIN_OF(viewport[0], viewport[1]));
    if (d->texture_max < 64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_open: GL_MAX_TEXTURE_SIZE is %d, needs 64", (int)size);
    d->row_log2 = TML_MIN_OF(floor_log2(d->texture_max), 14u);
    if (tml->testing.gl_row_log2)
        d->row_log2 = TML_MIN_OF(d->row_log2, TML_MAX_OF(tml->testing.gl_row_log2, 4u));
    gl_cache_open(d);
    tml_status status = gl_probe(tml, desc->path);
    if (status != TML_OK)
        return status;
    if (gl_is_float(d))
        return gl_float_open(tml);
    d->fn.GenVertexArrays(1, &d->vertex_array);
    d->fn.GenFramebuffers(1, &d->framebuffer);
    d->fn.GenSamplers(1, &d->sampler);
    d->fn.SamplerParameteri(d->sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    d->fn.SamplerParameteri(d->sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl_state_set(d);
    const char *texts[] = {"#version 300 es\n", vertex_text};
    status = gl_compile(tml, GL_VERTEX_SHADER, "vertex", texts, 2, &d->vertex_shader);
    TML_THEN(status, gl_texture_create(tml, "tml_open", GL_FORMAT_WORDS, 1, 1, &d->nothing));
    const char *extensions = (const char *)d->fn.GetString(GL_EXTENSIONS);
    d->has_completion = extensions && strstr(extensions, "GL_KHR_parallel_shader_compile");
    d->has_timer = d->fn.GetQueryObjectui64vEXT && extensions &&
                   strstr(extensions, "EXT_disjoint_timer_query");
    return status;
}

/* Opens the display, loads the functions and makes the context current. If that fails, gl_open
 * closes everything that was opened. */
static tml_status connect_device(tml_context *tml, const tml_gl_desc *gl, gl_device *d)
{
    tml_gl_function (*get)(void *, const char *) = gl->get_proc_address;
    void *user = gl->user;
#ifndef __EMSCRIPTEN__
    bool has_egl = egl_load(&d->egl);
    if (!has_egl && !(get && d->is_lent))
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: libEGL.so.1 cannot be opened; "
                         "Debian: apt-get install libegl1 libgl1-mesa-dri");
    if (has_egl && !d->is_lent && !open_display(d, tml->device_number, true))
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: EGL makes no OpenGL ES context (0x%x)",
                         (unsigned)d->egl.GetError());
    if (!get) {
        get = egl_get_proc_address;
        user = &d->egl;
    }
#endif
    /* The version of a caller-owned context is unknown until GetString is loaded, so functions of
     * 3.0 may be missing. */
    const char *missing = gl_load(&d->fn, get, user, !d->is_lent && d->is_es3);
    if (missing)
        return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: the driver lacks %s", missing);
#ifndef __EMSCRIPTEN__
    if (!d->is_lent && !gl_make_current(d)) {
        tml_status status =
            tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: eglMakeCurrent failed with 0x%x",
                      (unsigned)d->egl.GetError());
        gl_make_previous_current(d);
        return status;
    }
#endif
    const char *version = (const char *)d->fn.GetString(GL_VERSION);
    if (!version)
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: desc.gl.lend_current, but no OpenGL context is current");
    /* "OpenGL ES 3.2 ...", and the same for WebGL in Emscripten. */
    const char *digits = strstr(version, "ES ");
    d->is_es3 = digits && atoi(digits + 3) >= 3;
    if (d->is_es3 && d->is_lent && gl_load(&d->fn, get, user, true))
        d->is_es3 = false;
    gl_load_reset_status(&d->fn, get, user);
    return TML_OK;
}

tml_status gl_open(tml_context *tml, const tml_open_desc *desc)
{
    static const tml_gl_desc defaults;
    const tml_gl_desc *gl = desc->gl ? desc->gl : &defaults;
    gl_device *d = tml_alloc(tml, sizeof *d);
    if (!d)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_open: no memory for a device");
    memset(d, 0, sizeof *d);
    d->tml = tml;
    d->is_lent = gl->lend_current;
    d->exact_counts = gl->exact_counts;
    tml->engine_state = d;
    tml_status status = connect_device(tml, gl, d);
    if (status != TML_OK) {
#ifndef __EMSCRIPTEN__
        if (d->egl.library && !d->is_lent)
            close_display(d);
#endif
        tml_free(tml, d, sizeof *d);
        tml->engine_state = NULL;
        return status;
    }
    gl_device_describe(d, &tml->device);
    if (d->is_lent)
        gl_state_save(d);
    gl_state_set(d);
    d->depth = 1;
    status = prepare(tml, gl);
    if (status != TML_OK)
        gl_close(tml);
    else
        gl_leave(tml);
    return status;
}

void gl_close(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    tml_gl_end(tml);
    bool is_current = d->depth > 0 || gl_enter(tml) == TML_OK;
    if (is_current) {
        gl_temporaries_close(d);
        gl_texture_destroy(d, &d->nothing);
        if (d->is_es3 && d->vertex_array)
            d->fn.DeleteVertexArrays(1, &d->vertex_array);
        if (d->framebuffer)
            d->fn.DeleteFramebuffers(1, &d->framebuffer);
        if (d->corners)
            d->fn.DeleteBuffers(1, &d->corners);
        if (d->sampler)
            d->fn.DeleteSamplers(1, &d->sampler);
        if (d->vertex_shader)
            d->fn.DeleteShader(d->vertex_shader);
        if (d->timer)
            d->fn.DeleteQueries(1, &d->timer);
    }
    gl_programs_close(d);
    gl_cache_close(d);
    tml_free(tml, d->glsl, d->glsl_size);
    if (is_current)
        gl_leave(tml);
#ifndef __EMSCRIPTEN__
    if (!d->is_lent)
        close_display(d);
#endif
    tml_free(tml, d, sizeof *d);
    tml->engine_state = NULL;
}

tml_status gl_sync(tml_context *tml)
{
    tml_status status = gl_enter(tml);
    if (status == TML_OK) {
        gl_device *d = gl_device_of(tml);
        gl_errors_note(d);
        tml->counters.waits++;
        d->fn.Finish();
        status = gl_errors_check(tml, "tml_sync");
        gl_leave(tml);
    }
    return status;
}
