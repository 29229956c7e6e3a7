/* The OpenGL ES engine's table. */
#include "core/call.h"
#include "gl/device/gl_float.h"

/* No texture is larger than 2^34 bytes, and texels belong to one buffer alone. */
static uint64_t slot_address(const tml_slot *slot)
{
    return (uint64_t)gl_slot_texture(slot)->name << 34;
}

static tml_status sync_all(tml_context *tml)
{
    tml_status status = gl_enter(tml);
    if (status == TML_OK) {
        gl_device *d = gl_device_of(tml);
        gl_errors_note(d);
        d->fn.Finish();
        status = gl_errors_check(tml, "tml_sync");
        gl_leave(tml);
    }
    return status;
}

/* Temporary textures serve for scratch: an arena of one would be read and drawn to at once. */
static tml_status scratch_resize(tml_context *tml, const char *call, size_t size, void **out)
{
    (void)tml;
    (void)call;
    (void)size;
    *out = NULL;
    return TML_OK;
}

#define GL_ENGINE                                                                                  \
    .kind = TML_ENGINE_GL, .name = "gl", .devices = gl_devices, .is_lent = gl_is_lent,             \
    .open = gl_open, .close = gl_close, .buffer_create = gl_buffer_create,                         \
    .buffer_destroy = gl_buffer_destroy, .read = gl_read, .write = gl_write, .map = gl_map,        \
    .unmap = gl_unmap, .sync = sync_all, .scratch_resize = scratch_resize, .address = slot_address

const tml_engine tml_gl_engine = {
    GL_ENGINE,
    .ops =
        {
            [TML_OP_MAP] = &gl_op_map,
            [TML_OP_COMPACT] = &gl_op_compact,
            [TML_OP_PARTITION] = &gl_op_partition,
            [TML_OP_EXPAND] = &gl_op_expand,
            [TML_OP_UNIQUE] = &gl_op_unique,
            [TML_OP_FIELD] = &gl_op_field,
            [TML_OP_SURFACE] = &gl_op_surface,
            [TML_OP_REDUCE] = &gl_op_reduce,
            [TML_OP_SCAN] = &gl_op_scan,
            [TML_OP_REDUCE_SEGMENTS] = &gl_op_reduce_segments,
            [TML_OP_SCAN_SEGMENTS] = &gl_op_scan_segments,
            [TML_OP_IMAGE_MEASURE] = &gl_op_image_measure,
            [TML_OP_IMAGE_EXPOSE] = &gl_op_image_expose,
            [TML_OP_IMAGE_TONEMAP] = &gl_op_image_tonemap,
            [TML_OP_IMAGE_MIPS] = &gl_op_image_mips,
        },
};

static const char *float_tier(const tml_context *tml)
{
    switch (gl_device_of(tml)->path) {
    case TML_GL_FLOAT:
        return "path float";
    case TML_GL_FLOAT_PACKED:
        return "path float_packed";
    default:
        return "path packed";
    }
}

/* Unless one of its paths is asked for. */
static bool float_yields(const tml_open_desc *desc)
{
    return !desc->gl || desc->gl->path == TML_GL_PATH_AUTO;
}

const tml_engine tml_gl_float_engine = {
    GL_ENGINE,
    .tier = float_tier,
    .yields = float_yields,
    .makes_soups = true,
    .ops =
        {
            [TML_OP_MAP] = &gl_op_float_map,
            [TML_OP_REDUCE] = &gl_op_float_reduce,
            [TML_OP_COMPACT] = &gl_op_float_compact,
            [TML_OP_EXPAND] = &gl_op_float_expand,
            [TML_OP_SURFACE] = &gl_op_float_surface,
        },
};

/* ---- public calls ---------------------------------------------------------------------------- */

const char *tml_gl_path_name(tml_gl_path path)
{
    static const char *const names[] = {"auto", "integer", "float", "float_packed", "packed"};
    return (size_t)path < TML_ARRAY_SIZE(names) ? names[path] : "unknown";
}

static tml_status check_engine(tml_context *tml, const char *call)
{
    return tml->engine->kind == TML_ENGINE_GL
               ? TML_OK
               : tml_error(tml, TML_UNSUPPORTED, "%s: this context is on engine %s, not on gl",
                           call, tml->engine->name);
}

static tml_status texture(tml_context *tml, tml_buffer buffer, tml_gl_memory *out)
{
    tml_status status = check_engine(tml, "tml_gl_texture");
    if (status == TML_OK)
        status = tml_check_buffer(tml, "tml_gl_texture", "buffer", buffer, NULL, 0);
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

uint32_t tml_gl_tests(tml_context *tml, tml_gl_test *out, uint32_t capacity)
{
    if (!tml || tml->engine->kind != TML_ENGINE_GL)
        return 0;
    const gl_device *d = gl_device_of(tml);
    for (uint32_t i = 0; i < TML_MIN_OF(d->test_count, capacity) && out; i++)
        out[i] = d->tests[i];
    return d->test_count;
}

static tml_status time_begin(tml_context *tml)
{
    tml_status status = check_engine(tml, "tml_gl_time_begin");
    if (status == TML_OK)
        status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    gl_device *d = gl_device_of(tml);
    d->fn.Finish(); /* for the clock, also where the device's turns out to be disturbed */
    d->timed_from = tml_seconds();
    if (d->has_timer) {
        GLint was_disjoint;
        d->fn.GetIntegerv(GL_GPU_DISJOINT_EXT, &was_disjoint); /* which forgets it */
        if (!d->timer)
            d->fn.GenQueries(1, &d->timer);
        d->fn.BeginQuery(GL_TIME_ELAPSED_EXT, d->timer);
    }
    d->is_timing = true;
    gl_leave(tml);
    return TML_OK;
}

tml_status tml_gl_time_begin(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, time_begin(tml));
}

static tml_status time_end(tml_context *tml, double *seconds)
{
    tml_status status = check_engine(tml, "tml_gl_time_end");
    if (status != TML_OK)
        return status;
    gl_device *d = gl_device_of(tml);
    if (!d->is_timing)
        return tml_error(tml, TML_INVALID_ARGUMENT,
                         "tml_gl_time_end: no tml_gl_time_begin before it");
    status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    d->is_timing = false;
    GLuint64 nanoseconds = 0;
    GLint is_disjoint = GL_TRUE;
    if (d->has_timer)
        d->fn.EndQuery(GL_TIME_ELAPSED_EXT);
    gl_errors_note(d);
    d->fn.Finish();
    *seconds = tml_seconds() - d->timed_from;
    if (d->has_timer) {
        d->fn.GetQueryObjectui64vEXT(d->timer, GL_QUERY_RESULT, &nanoseconds);
        d->fn.GetIntegerv(GL_GPU_DISJOINT_EXT, &is_disjoint);
    }
    if (!is_disjoint)
        *seconds = 1e-9 * (double)nanoseconds;
    status = gl_errors_check(tml, "tml_gl_time_end");
    gl_leave(tml);
    return status;
}

tml_status tml_gl_time_end(tml_context *tml, double *seconds)
{
    tml_status status = TML_ENTER(tml, seconds);
    return status ? status : tml_leave(tml, time_end(tml, seconds));
}
