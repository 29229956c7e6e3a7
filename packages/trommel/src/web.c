/* Contexts and buffers for JavaScript. */
#include <stdio.h>

#include "web.h"

#define WEB_NAME(name) #name " "
static const char request_names[] = WEB_REQUEST(WEB_NAME);
static const char reply_names[] = WEB_REPLY(WEB_NAME);

web_request request;
web_reply reply;

EMSCRIPTEN_KEEPALIVE const char *web_request_names(void)
{
    return request_names;
}
EMSCRIPTEN_KEEPALIVE const char *web_reply_names(void)
{
    return reply_names;
}
EMSCRIPTEN_KEEPALIVE web_request *web_request_at(void)
{
    return &request;
}
EMSCRIPTEN_KEEPALIVE web_reply *web_reply_at(void)
{
    return &reply;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* What tml_open says before there is a context to hold it. */
static char open_error[768];

EM_JS(void, web_log, (int level, const char *message), {
    if (Module["onTrommelLog"])
        Module["onTrommelLog"](level, UTF8ToString(message));
})

static void log_line(void *user, tml_log_level level, const char *message)
{
    (void)user;
    if (level == TML_LOG_ERROR)
        snprintf(open_error, sizeof open_error, "%s", message);
    web_log((int)level, message);
}

EMSCRIPTEN_KEEPALIVE const char *web_open_error(void)
{
    return open_error;
}
EMSCRIPTEN_KEEPALIVE const char *web_status_name(int status)
{
    return tml_status_name((tml_status)status);
}
EMSCRIPTEN_KEEPALIVE const char *web_last_error(tml_context *tml)
{
    return tml_last_error(tml);
}

EMSCRIPTEN_KEEPALIVE int web_open(void)
{
    const web_request *r = &request;
    bool is_gl = r->engine != 0.0;
    tml_open_desc desc = {.engine = is_gl ? TML_ENGINE_GL : TML_ENGINE_CPU,
                          .threads = (uint32_t)r->threads,
                          .log = log_line,
                          .gl = is_gl ? web_gl_desc() : NULL};
    tml_context *tml;
    tml_status status = tml_open(&desc, &tml);
    if (status != TML_OK)
        return status;
    static tml_device_info info;
    tml_context_describe(tml, &info);
    reply.tml = address(tml);
    reply.name = address(info.name);
    reply.features = address(info.features);
    reply.threads = info.concurrency;
    reply.is_software = info.is_software;
    web_gl_tell(tml);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_close(tml_context *tml)
{
    tml_close(tml);
}

/* ---- buffers --------------------------------------------------------------------------------- */

EMSCRIPTEN_KEEPALIVE int web_buffer_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_gl_memory gl = {(uint32_t)r->texture, (uint32_t)r->width, (uint32_t)r->height};
    tml_buffer_desc desc = {.type = type_of(r->type),
                            .count = (uint64_t)r->count,
                            .data = pointer(r->data),
                            .host = pointer(r->host),
                            .gl = r->texture != 0.0 ? &gl : NULL,
                            .label = text(r->label)};
    tml_buffer buffer;
    tml_status status = tml_buffer_create(tml, &desc, &buffer);
    if (status == TML_OK)
        reply.buffer = handle_of(buffer);
    return status;
}

EMSCRIPTEN_KEEPALIVE void web_buffer_destroy(tml_context *tml, tml_buffer *handle)
{
    tml_buffer_destroy(tml, *handle);
    free(handle);
}

/* Type and count of a buffer that the library made. */
EMSCRIPTEN_KEEPALIVE int web_buffer_info(tml_context *tml)
{
    tml_type type;
    uint64_t count;
    if (!tml_buffer_describe(tml, buffer_of(request.buffer), &type, &count))
        return TML_ERROR_INVALID_HANDLE;
    reply.type = address(tml_type_name(type));
    reply.count = (double)count;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_read(tml_context *tml)
{
    const web_request *r = &request;
    return tml_buffer_read_range(tml, buffer_of(r->buffer), (uint64_t)r->first, (uint64_t)r->count,
                                 pointer(r->data));
}

EMSCRIPTEN_KEEPALIVE int web_write(tml_context *tml)
{
    const web_request *r = &request;
    return tml_buffer_write(tml, buffer_of(r->buffer), (uint64_t)r->first, (uint64_t)r->count,
                            pointer(r->data));
}

/* Where a buffer of the CPU engine lies; it stays there until it is destroyed. */
EMSCRIPTEN_KEEPALIVE int web_map(tml_context *tml)
{
    void *memory;
    tml_status status = tml_buffer_map(tml, buffer_of(request.buffer), &memory);
    reply.data = address(memory);
    tml_buffer_unmap(tml, buffer_of(request.buffer));
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_sync(tml_context *tml)
{
    return tml_sync(tml);
}
