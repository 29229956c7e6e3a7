/* Streams for JavaScript. */
#include "web.h"
#include "web_stream_layouts.h" /* made by layouts.py */

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

/* JavaScript reads in, index, rank, params, out, first and count of a block as 13 words. */
_Static_assert(offsetof(tml_kernel_block, index) == 24 && offsetof(tml_kernel_block, rank) == 28 &&
                   offsetof(tml_kernel_block, params) == 32 &&
                   offsetof(tml_kernel_block, out) == 36 &&
                   offsetof(tml_kernel_block, first) == 40 &&
                   offsetof(tml_kernel_block, count) == 48 && TML_MAX_PARAMS == 6,
               "parts/streams.js reads a block otherwise");
