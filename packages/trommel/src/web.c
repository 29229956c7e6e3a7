/* Contexts, buffers and kernels for JavaScript. */
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

static tml_gl_path path_of(const char *name)
{
    for (tml_gl_path path = TML_GL_PATH_AUTO; path <= TML_GL_PATH_PACKED; path++)
        if (strcmp(name, tml_gl_path_name(path)) == 0)
            return path;
    return TML_GL_PATH_AUTO;
}

static tml_gl_test tests[64];
static uint32_t test_count;

EMSCRIPTEN_KEEPALIVE int web_open(void)
{
    const web_request *r = &request;
    bool is_gl = r->engine != 0.0;
    tml_gl_desc gl = {.lend_current = true,
                      .path = r->path != 0.0 ? path_of(text(r->path)) : TML_GL_PATH_AUTO,
                      .exact_counts = r->exact_counts != 0.0};
    tml_open_desc desc = {.engine = is_gl ? TML_ENGINE_GL : TML_ENGINE_CPU,
                          .threads = (uint32_t)r->threads,
                          .log = log_line,
                          .gl = is_gl ? &gl : NULL};
    tml_context *tml;
    tml_status status = tml_open(&desc, &tml);
    if (status != TML_OK)
        return status;
    static tml_device_info info;
    tml_context_describe(tml, &info);
    reply.tml = address(tml);
    reply.name = address(info.name);
    reply.features = address(info.features);
    reply.threads = tml_concurrency(tml);
    reply.is_software = info.is_software;
    reply.path = 0.0;
    test_count = tml_gl_tests(tml, tests, sizeof tests / sizeof *tests);
    for (uint32_t i = 0; i < test_count; i++)
        if (tests[i].is_choice)
            reply.path = address(tests[i].name); /* "path integer" */
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_close(tml_context *tml)
{
    tml_close(tml);
}
EMSCRIPTEN_KEEPALIVE int web_begin(tml_context *tml)
{
    return tml_gl_begin(tml);
}
EMSCRIPTEN_KEEPALIVE void web_end(tml_context *tml)
{
    tml_gl_end(tml);
}
EMSCRIPTEN_KEEPALIVE int web_exact_counts(tml_context *tml)
{
    return tml_gl_exact_counts(tml, request.exact_counts != 0.0);
}
EMSCRIPTEN_KEEPALIVE int web_prepare_begin(tml_context *tml)
{
    return tml_gl_prepare_begin(tml);
}
EMSCRIPTEN_KEEPALIVE int web_prepare_end(tml_context *tml)
{
    uint32_t left;
    tml_status status = tml_gl_prepare_end(tml, &left);
    reply.count = left;
    return status;
}
EMSCRIPTEN_KEEPALIVE void web_lost(tml_context *tml)
{
    tml_gl_lost(tml);
}

EMSCRIPTEN_KEEPALIVE int web_test_count(void)
{
    return (int)test_count;
}
EMSCRIPTEN_KEEPALIVE const char *web_test_name(int i)
{
    return tests[i].name;
}
EMSCRIPTEN_KEEPALIVE const char *web_test_detail(int i)
{
    return tests[i].detail;
}
EMSCRIPTEN_KEEPALIVE int web_test_depth(int i)
{
    return (int)tests[i].depth;
}
EMSCRIPTEN_KEEPALIVE bool web_test_passed(int i)
{
    return tests[i].passed;
}
EMSCRIPTEN_KEEPALIVE bool web_test_is_choice(int i)
{
    return tests[i].is_choice;
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

EMSCRIPTEN_KEEPALIVE int web_texture(tml_context *tml)
{
    tml_gl_memory gl;
    tml_status status = tml_gl_texture(tml, buffer_of(request.buffer), &gl);
    if (status == TML_OK) {
        reply.texture = gl.texture;
        reply.width = gl.width;
        reply.height = gl.height;
    }
    return status;
}

/* A texture of the page's with colours; texture 0: there is none. */
static tml_gl_transfer_desc transfer_of(const web_request *r)
{
    return (tml_gl_transfer_desc){.image = colours_of(r),
                                  .width = (uint32_t)r->width,
                                  .height = (uint32_t)r->height,
                                  .tile_width = (uint32_t)r->tile_width,
                                  .tile_height = (uint32_t)r->tile_height,
                                  .slices = (uint32_t)r->slices,
                                  .channels = (uint32_t)r->channels,
                                  .buffer = buffer_of(r->buffer),
                                  .first = (uint64_t)r->first};
}
EMSCRIPTEN_KEEPALIVE int web_import(tml_context *tml)
{
    const tml_gl_transfer_desc desc = transfer_of(&request);
    return tml_gl_import(tml, &desc);
}
EMSCRIPTEN_KEEPALIVE int web_export(tml_context *tml)
{
    const tml_gl_transfer_desc desc = transfer_of(&request);
    return tml_gl_export(tml, &desc);
}
EMSCRIPTEN_KEEPALIVE int web_glsl(tml_context *tml)
{
    reply.glsl = address(tml_gl_glsl(tml));
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

/* ---- kernels --------------------------------------------------------------------------------- */

static tml_type param_of(double name)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } special[] = {{"tml_index", TML_PARAM_INDEX},
                   {"tml_rank", TML_PARAM_RANK},
                   {"tml_params", TML_PARAM_PARAMS},
                   {"tml_words", TML_PARAM_WORDS}};
    for (size_t i = 0; name != 0.0 && i < sizeof special / sizeof *special; i++)
        if (strcmp(text(name), special[i].name) == 0)
            return special[i].kind;
    return type_of(name);
}

/* The CPU's form of a kernel that has none: index.js lets no such kernel reach the CPU engine. */
static void run_nothing(const tml_kernel_block *block)
{
    (void)block;
    abort();
}

/* Name, source and library must outlive it, and so must run, a function of the table or 0. Never freed: a
 * program of the engine's may remember it. */
EMSCRIPTEN_KEEPALIVE int web_kernel(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel)
        return TML_ERROR_OUT_OF_MEMORY;
    *kernel = (tml_kernel){
        .name = text(r->name),
        .glsl = text(r->source),
        .result = type_of(r->result),
        .param_count = (uint32_t)r->param_count,
        .params = {param_of(r->param0), param_of(r->param1), param_of(r->param2),
                   param_of(r->param3), param_of(r->param4), param_of(r->param5)},
        .library = r->library != 0.0 ? text(r->library) : NULL,
        .run = r->run != 0.0 ? (void (*)(const tml_kernel_block *))(uintptr_t)r->run : run_nothing,
    };
    reply.kernel = address(kernel);
    return TML_OK;
}

/* A block for a kernel in JavaScript, as doubles: index, rank, params, out, first, count, in[6]. */
EMSCRIPTEN_KEEPALIVE void web_block(const tml_kernel_block *block, double out[12])
{
    out[0] = address(block->index);
    out[1] = address(block->rank);
    out[2] = address(block->params);
    out[3] = address(block->out);
    out[4] = (double)block->first;
    out[5] = (double)block->count;
    for (int i = 0; i < TML_MAX_PARAMS; i++)
        out[6 + i] = address(block->in[i]);
}
