/* Public calls for OpenGL ES only. */
#include "core/call.h"
#include "gl/device/gl_float.h"

#include <stdio.h>
#include <string.h>

#include "gl_device_shaders.h"

static tml_status check_engine(tml_context *tml, const char *call)
{
    return tml->engine->kind == TML_ENGINE_GL
               ? TML_OK
               : tml_error(tml, TML_ERROR_UNSUPPORTED,
                           "%s: this context is on engine %s, not on gl", call, tml->engine->name);
}

static tml_status texture(tml_context *tml, tml_buffer buffer, tml_gl_memory *out)
{
    tml_status status = check_engine(tml, "tml_gl_texture");
    TML_THEN(status, tml_check_buffer(tml, "tml_gl_texture", "buffer", buffer, NULL, 0));
    if (status != TML_OK)
        return status;
    const gl_texture *texture = gl_texture_of(tml, buffer);
    *out = (tml_gl_memory){texture->name, texture->width, texture->height};
    return TML_OK;
}

tml_status tml_gl_texture(tml_context *tml, tml_buffer buffer, tml_gl_memory *out)
{
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, texture(tml, buffer, out));
}

tml_status tml_gl_exact_counts(tml_context *tml, bool exact)
{
    tml_status status = TML_ENTER(tml);
    if (status)
        return status;
    status = check_engine(tml, "tml_gl_exact_counts");
    if (!status)
        gl_device_of(tml)->exact_counts = exact;
    return tml_leave(tml, status);
}

static tml_status make_glsl(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    const bool is_float = gl_is_float(d);
    char head[48];
    size_t size;
    if (is_float)
        snprintf(head, sizeof head, "#define TML_FLOATS %d\n", d->path != TML_GL_PATH_PACKED);
    else
        snprintf(head, sizeof head, "#define TML_ROW_LOG2 %u\n", d->row_log2);
    char *text = gl_shader_text(tml, is_float ? &gl_shader_float_lookup : &gl_shader_lookup, &size);
    if (!text)
        return TML_ERROR_OUT_OF_MEMORY;
    d->glsl_size = strlen(head) + size;
    d->glsl = tml_alloc(tml, d->glsl_size);
    if (d->glsl) {
        char *end = d->glsl + strlen(strcpy(d->glsl, head));
        if (is_float)
            gl_copy_plain(text, end);
        else
            memcpy(end, text, size);
    }
    tml_free(tml, text, size);
    return d->glsl ? TML_OK
                   : tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_gl_glsl: no memory for the text");
}

const char *tml_gl_glsl(tml_context *tml)
{
    if (TML_ENTER(tml) != TML_OK)
        return NULL;
    tml_status status = check_engine(tml, "tml_gl_glsl");
    if (status == TML_OK && !gl_device_of(tml)->glsl)
        status = make_glsl(tml);
    return tml_leave(tml, status) == TML_OK ? gl_device_of(tml)->glsl : NULL;
}

uint32_t tml_gl_tests(tml_context *tml, tml_gl_test *out, uint32_t capacity)
{
    if (!tml || tml->engine->kind != TML_ENGINE_GL)
        return 0;
    const gl_device *d = gl_device_of(tml);
    for (uint32_t i = 0; i < TML_MIN_OF(d->test_count, capacity) && out; i++)
        out[i] = d->tests[i];
    return d->test_count;
}

tml_status gl_time_begin(tml_context *tml)
{
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    gl_device *d = gl_device_of(tml);
    tml->counters.waits++;
    d->fn.Finish(); /* for the host's clock, needed if the device's timer is disjoint */
    if (d->has_timer) {
        GLint was_disjoint;
        d->fn.GetIntegerv(GL_GPU_DISJOINT_EXT, &was_disjoint); /* this query resets it */
        if (!d->timer)
            d->fn.GenQueries(1, &d->timer);
        d->fn.BeginQuery(GL_TIME_ELAPSED_EXT, d->timer);
    }
    gl_leave(tml);
    return TML_OK;
}

tml_status gl_time_end(tml_context *tml, double *seconds)
{
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    gl_device *d = gl_device_of(tml);
    GLuint64 nanoseconds = 0;
    GLint is_disjoint = GL_TRUE;
    if (d->has_timer)
        d->fn.EndQuery(GL_TIME_ELAPSED_EXT);
    gl_errors_note(d);
    tml->counters.waits++;
    d->fn.Finish();
    *seconds = tml_seconds() - tml->timed_from;
    if (d->has_timer) {
        d->fn.GetQueryObjectui64vEXT(d->timer, GL_QUERY_RESULT, &nanoseconds);
        d->fn.GetIntegerv(GL_GPU_DISJOINT_EXT, &is_disjoint);
    }
    if (!is_disjoint)
        *seconds = 1e-9 * (double)nanoseconds;
    status = gl_errors_check(tml, "tml_time_end");
    gl_leave(tml);
    return status;
}
