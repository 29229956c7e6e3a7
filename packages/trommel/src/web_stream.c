/* Streams for JavaScript. */
#include "web.h"

EMSCRIPTEN_KEEPALIVE int web_map_stream(tml_context *tml)
{
    const web_request *r = &request;
    tml_map_desc desc = {.kernel = pointer(r->kernel),
                         .params = params_of(r),
                         .length = length_of(r),
                         .out = buffer_of(r->out)};
    inputs_of(r, desc.in);
    return tml_map(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_reduce(tml_context *tml)
{
    const web_request *r = &request;
    tml_reduce_desc desc = {.fold = (tml_fold)r->fold,
                            .in = buffer_of(r->in0),
                            .length = length_of(r),
                            .out = buffer_of(r->out)};
    return tml_reduce(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_histogram(tml_context *tml)
{
    const web_request *r = &request;
    tml_histogram_desc desc = {.kernel = pointer(r->kernel),
                               .params = params_of(r),
                               .length = length_of(r),
                               .bins = (uint32_t)r->bins,
                               .out = buffer_of(r->out),
                               .edges = buffer_of(r->edges),
                               .lower = (float)r->lower,
                               .upper = (float)r->upper,
                               .weights = buffer_of(r->weights)};
    inputs_of(r, desc.in);
    return tml_histogram(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_scan(tml_context *tml)
{
    const web_request *r = &request;
    tml_scan_desc desc = {.in = buffer_of(r->in0),
                          .length = length_of(r),
                          .inclusive = r->inclusive != 0.0,
                          .method = (tml_method)r->method,
                          .out = buffer_of(r->out),
                          .total = buffer_of(r->total),
                          .fold = (tml_fold)r->fold,
                          .start = buffer_of(r->start)};
    return tml_scan(tml, &desc);
}

static void payloads_of(const web_request *r, tml_payload payloads[TML_MAX_PAYLOADS])
{
    const double *in = &r->payload_in0, *out = &r->payload_out0;
    for (int i = 0; i < TML_MAX_PAYLOADS; i++)
        payloads[i] = (tml_payload){buffer_of(in[i]), buffer_of(out[i])};
}

static tml_compact_desc compact_desc_of(const web_request *r)
{
    tml_compact_desc desc = {.keep = {.kernel = pointer(r->kernel),
                                      .params = params_of(r),
                                      .flags = buffer_of(r->flags),
                                      .mask = buffer_of(r->mask)},
                             .length = length_of(r),
                             .method = (tml_method)r->method,
                             .indices = buffer_of(r->indices),
                             .count = buffer_of(r->counts)};
    inputs_of(r, desc.keep.in);
    payloads_of(r, desc.payloads);
    return desc;
}

EMSCRIPTEN_KEEPALIVE int web_compact(tml_context *tml)
{
    tml_compact_desc desc = compact_desc_of(&request);
    return tml_compact(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_partition(tml_context *tml)
{
    tml_compact_desc desc = compact_desc_of(&request);
    return tml_partition(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_sort(tml_context *tml)
{
    const web_request *r = &request;
    tml_sort_desc desc = {.keys = buffer_of(r->in0),
                          .length = length_of(r),
                          .descending = r->descending != 0.0,
                          .first_bit = (uint32_t)r->first,
                          .bit_count = (uint32_t)r->count,
                          .method = (tml_method)r->method,
                          .sorted = buffer_of(r->out),
                          .indices = buffer_of(r->indices),
                          .offsets = buffer_of(r->offsets)};
    payloads_of(r, desc.payloads);
    return tml_sort(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_top_k(tml_context *tml)
{
    const web_request *r = &request;
    tml_top_k_desc desc = {.keys = buffer_of(r->in0),
                           .length = length_of(r),
                           .k = {.count = (uint64_t)r->k,
                                 .device = buffer_of(r->k_buffer),
                                 .device_index = (uint64_t)r->k_index,
                                 .exact = r->k_exact != 0.0},
                           .smallest = r->smallest != 0.0,
                           .unsorted = r->unsorted != 0.0,
                           .values = buffer_of(r->values),
                           .indices = buffer_of(r->indices),
                           .count = buffer_of(r->counts)};
    payloads_of(r, desc.payloads);
    return tml_top_k(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_expand(tml_context *tml)
{
    const web_request *r = &request;
    tml_expand_desc desc = {.counts = buffer_of(r->counts),
                            .count_kernel = pointer(r->kernel),
                            .emit_kernel = pointer(r->emit),
                            .params = params_of(r),
                            .length = length_of(r),
                            .method = (tml_method)r->method,
                            .source = buffer_of(r->indices),
                            .rank = buffer_of(r->ranks),
                            .out = buffer_of(r->out),
                            .total = buffer_of(r->total)};
    inputs_of(r, desc.in);
    return tml_expand(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_unique(tml_context *tml)
{
    const web_request *r = &request;
    tml_unique_desc desc = {.in = buffer_of(r->in0),
                            .length = length_of(r),
                            .values = buffer_of(r->values),
                            .starts = buffer_of(r->starts),
                            .lengths = buffer_of(r->lengths),
                            .count = buffer_of(r->counts)};
    return tml_unique(tml, &desc);
}
