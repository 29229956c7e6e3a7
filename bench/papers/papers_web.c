/* The web page's own module: the whole package; the papers' programs (bench/papers), which the
 * Compaction panel runs; and the kernels of the Surface panel's flood. web/lib/papers.js calls
 * it. */
#include "web.h"

#include "papers.h"

#include <trommel/kernel_begin.h>

#include "../../web/lib/flood_kernels.h"
#include <trommel/kernel_end.h>

/* request.name: of a kernel above. */
EMSCRIPTEN_KEEPALIVE int web_page_kernel(tml_context *tml)
{
    static const tml_kernel *const kernels[] = {TML_USE(flood_start), TML_USE(flood_velocity),
                                                TML_USE(flood_position)};
    (void)tml;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (!strcmp(kernels[k]->name, text(request.name))) {
            reply.kernel = address(kernels[k]);
            return TML_OK;
        }
    return TML_ERROR_INVALID_ARGUMENT;
}

/* request.keep: a tml_keep of one input. request.method: index in papers_filters. The filter's space is kept between calls. */
EMSCRIPTEN_KEEPALIVE int web_papers_filter(tml_context *tml)
{
    static papers_space space;
    const web_request *r = &request;
    const tml_keep *keep = pointer(r->keep);
    const papers_filter_desc desc = {.keep = keep->kernel,
                                     .params = keep->params,
                                     .in = keep->in[0],
                                     .out = buffer_of(r->out),
                                     .count = buffer_of(r->counts),
                                     .space = &space};
    uint64_t count = 0;
    tml_buffer_describe(tml, desc.in, NULL, &count);
    tml_status status = TML_OK;
    if (space.count != count) {
        papers_space_destroy(tml, &space);
        status = papers_space_create(tml, count, &space);
    }
    return status ? status : papers_filters[(int)r->method].run(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_papers_surface(tml_context *tml)
{
    const web_request *r = &request;
    const papers_surface_desc desc = {
        .volume = buffer_of(r->volume),
        .dims = {(uint64_t)r->dims0, (uint64_t)r->dims1, (uint64_t)r->dims2},
        .iso = (float)r->iso,
        .room = (uint64_t)r->room,
        .out = buffer_of(r->out),
        .count = buffer_of(r->counts)};
    return papers_surface(tml, &desc);
}

/* Returns the size of the picture for request.count elements in reply. Draws the picture of
 * request.keep, a tml_keep, if request.data is given. */
EMSCRIPTEN_KEEPALIVE int web_papers_picture(tml_context *tml)
{
    const web_request *r = &request;
    uint32_t width = 0, height = 0;
    papers_picture_desc desc = {.keep = *(const tml_keep *)pointer(r->keep),
                                .length = (uint64_t)r->count,
                                .rgba = pointer(r->data)};
    papers_picture_size(desc.length, &width, &height);
    reply.width = width;
    reply.height = height;
    return desc.rgba ? papers_picture(tml, &desc) : TML_OK;
}
