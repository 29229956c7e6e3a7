/* Streams for JavaScript. */
#include "web.h"

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

/* Name, source and library must outlive it, and so must run, a function of the table or 0. Never
 * freed: a program of the engine's may remember it. */
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

EMSCRIPTEN_KEEPALIVE int web_map_stream(tml_context *tml)
{
    const web_request *r = &request;
    tml_map_desc desc = {.kernel = pointer(r->kernel),
                         .params = params_of(r),
                         .length = length_of(r),
                         .out = {buffer_of(r->out)}};
    inputs_of(r, desc.in);
    return tml_map(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_reduce(tml_context *tml)
{
    const web_request *r = &request;
    tml_reduce_desc desc = {.in = buffer_of(r->in0),
                            .length = length_of(r),
                            .segments.offsets = buffer_of(r->offsets),
                            .folds = {{(tml_fold)r->fold, buffer_of(r->out)}}};
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
                          .start = buffer_of(r->start),
                          .segments.offsets = buffer_of(r->offsets)};
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
    desc.partition = true;
    return tml_compact(tml, &desc);
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
                          .segments.offsets = buffer_of(r->offsets)};
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
                           .in_source_order = r->in_source_order != 0.0,
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
                            .out = {buffer_of(r->out)},
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
