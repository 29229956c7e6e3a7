/* Contexts on WebGL, their tests, and textures for JavaScript. */
#include "web.h"

static tml_gl_path path_of(const char *name)
{
    for (tml_gl_path path = TML_GL_PATH_AUTO; path <= TML_GL_PATH_PACKED; path++)
        if (strcmp(name, tml_gl_path_name(path)) == 0)
            return path;
    return TML_GL_PATH_AUTO;
}

/* Of the request. */
const tml_gl_desc *web_gl_desc(void)
{
    const web_request *r = &request;
    static tml_gl_desc gl;
    gl = (tml_gl_desc){.lend_current = true,
                       .path = r->path != 0.0 ? path_of(text(r->path)) : TML_GL_PATH_AUTO,
                       .exact_counts = r->exact_counts != 0.0};
    return &gl;
}

static tml_gl_test tests[64];
static uint32_t test_count;

/* What it was opened by, and its tests. */
void web_gl_tell(tml_context *tml)
{
    reply.path = 0.0;
    test_count = tml_gl_tests(tml, tests, sizeof tests / sizeof *tests);
    for (uint32_t i = 0; i < test_count; i++)
        if (tests[i].is_choice)
            reply.path = address(tests[i].name); /* "path integer" */
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
    return tml_prepare_begin(tml);
}
EMSCRIPTEN_KEEPALIVE int web_prepare_end(tml_context *tml)
{
    tml_prepared prepared;
    tml_status status = tml_prepare_end(tml, &prepared);
    reply.count = prepared.programs_left;
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
