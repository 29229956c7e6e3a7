/* The operations of test_random's programs, as calls of the library. */
#include "random_run.h"

static tml_buffer buffer_at(const operands *o, int place)
{
    return place < AT_PLACES && o->at[place] ? o->at[place]->buffer : (tml_buffer){0, 0};
}

#define RUN(name) (o->program ? (tml_program_##name(o->program, &d), TML_OK) : tml_##name(tml, &d))

/* A reduction by key, in two operations. */
static tml_status operate_by_key(tml_context *tml, const operands *o, const tml_unique_desc *runs,
                                 const tml_reduce_desc *reduce, size_t *size)
{
    if (size) {
        const size_t first = SCRATCH_OF(tml, tml_unique(tml, runs));
        const size_t second = SCRATCH_OF(tml, tml_reduce(tml, reduce));
        *size = first > second ? first : second;
        return TML_OK;
    }
    if (o->program) {
        tml_program_unique(o->program, runs);
        tml_program_reduce(o->program, reduce);
        return TML_OK;
    }
    tml_reduce_desc nothing = *reduce; /* is it supported? If not, nothing must be written */
    nothing.length = nothing.segments.count = tml_length_of(0);
    tml_status status = tml_reduce(tml, &nothing);
    TML_THEN(status, tml_unique(tml, runs));
    TML_THEN(status, tml_reduce(tml, reduce));
    return status;
}

tml_status operate(tml_context *tml, const operands *o, const call *c, size_t *size)
{
    tml_length length = {c->count, buffer_at(o, AT_LENGTH), o->at[AT_LENGTH] ? c->index : 0,
                         c->options & OPTION_EXACT};
    tml_buffer in[3], out[3], by = buffer_at(o, AT_BY), count = buffer_at(o, AT_COUNT),
                              scratch = buffer_at(o, o->program ? AT_PLACES : AT_SCRATCH),
                              first = c->options & OPTION_APPEND ? count : (tml_buffer){0, 0};
    for (int i = 0; i < 3; i++) {
        in[i] = buffer_at(o, AT_IN + i);
        out[i] = buffer_at(o, AT_OUT + i);
    }
    bool by_kernel = c->options & OPTION_KERNEL;
    tml_params params =
        params_of(c, c->kind == CALL_MAP_STREAM && c->kernel % MAPS == 4 ? o->at[AT_IN + 1] : NULL);
    switch (c->kind) {
    case CALL_MAP_STREAM: {
        const tml_map_desc d = {.kernel = map_kernel(c),
                                .params = params,
                                .in = {in[0], in[1]},
                                .length = length,
                                .out = {out[0]}};
        if (!size)
            return RUN(map);
        *size = SCRATCH_OF(tml, tml_map(tml, &d));
        return TML_OK;
    }
    case CALL_REDUCE: {
        const tml_reduce_desc d = {
            .in = in[0],
            .length = length,
            .folds = {{(tml_fold)c->fold, out[0]},
                      {also_fold(c, 1), out[1]},
                      {also_fold(c, 2), out[2]}},
            .scratch = scratch,
        };
        if (!size)
            return RUN(reduce);
        *size = SCRATCH_OF(tml, tml_reduce(tml, &d));
        return TML_OK;
    }
    case CALL_HISTOGRAM: {
        const tml_histogram_desc d = {.kernel = by_kernel ? TML_USE(random_up_to_3) : NULL,
                                      .params = params,
                                      .in = {in[0]},
                                      .length = length,
                                      .bins = c->dims[0],
                                      .out = out[0],
                                      .scratch = scratch,
                                      .edges = by,
                                      .weights = in[1]};
        if (!size)
            return RUN(histogram);
        *size = SCRATCH_OF(tml, tml_histogram(tml, &d));
        return TML_OK;
    }
    case CALL_SCAN: {
        const tml_scan_desc d = {.in = in[0],
                                 .length = length,
                                 .inclusive = c->options & OPTION_INCLUSIVE,
                                 .method = (tml_method)c->method,
                                 .out = out[0],
                                 .total = count,
                                 .scratch = scratch,
                                 .fold = (tml_fold)c->fold,
                                 .start = by};
        if (!size)
            return RUN(scan);
        *size = SCRATCH_OF(tml, tml_scan(tml, &d));
        return TML_OK;
    }
    case CALL_COMPACT:
    case CALL_PARTITION: {
        tml_compact_desc d = {.length = length,
                              .partition = c->kind == CALL_PARTITION,
                              .method = (tml_method)c->method,
                              .indices = buffer_at(o, AT_INDICES),
                              .count = count,
                              .scratch = scratch,
                              .out_first = first};
        if (c->options & OPTION_MASK)
            d.keep.mask = by;
        else if (!by_kernel)
            d.keep.flags = by;
        else
            d.keep = (tml_keep){.kernel = tml_type_is_float(o->at[AT_BY]->type)
                                              ? TML_USE(random_positive)
                                              : TML_USE(random_by_index),
                                .params = params,
                                .in = {by}};
        for (int i = 0; i < 3; i++)
            d.payloads[i] = (tml_payload){in[i], out[i]};
        if (!size)
            return RUN(compact);
        *size = SCRATCH_OF(tml, tml_compact(tml, &d));
        return TML_OK;
    }
    case CALL_SORT: {
        const tml_sort_desc d = {.keys = by,
                                 .length = length,
                                 .descending = c->options & OPTION_INCLUSIVE,
                                 .segments.offsets = in[0],
                                 .sorted = out[0],
                                 .payloads = {{in[1], out[1]}, {in[2], out[2]}},
                                 .indices = buffer_at(o, AT_INDICES),
                                 .scratch = scratch};
        if (!size)
            return RUN(sort);
        *size = SCRATCH_OF(tml, tml_sort(tml, &d));
        return TML_OK;
    }
    case CALL_TOP_K: {
        const tml_top_k_desc d = {.keys = by,
                                  .length = length,
                                  .k = {c->dims[0], in[0], 0, true},
                                  .smallest = c->options & OPTION_INCLUSIVE,
                                  .in_source_order = c->options & OPTION_FLIP,
                                  .values = out[0],
                                  .indices = buffer_at(o, AT_INDICES),
                                  .payloads = {{in[1], out[1]}, {in[2], out[2]}},
                                  .count = count,
                                  .scratch = scratch};
        if (!size)
            return RUN(top_k);
        *size = SCRATCH_OF(tml, tml_top_k(tml, &d));
        return TML_OK;
    }
    case CALL_GATHER:
    case CALL_SCATTER: {
        const tml_gather_desc d = {.indices = by,
                                   .length = length,
                                   .payloads = {{in[0], out[0]}, {in[1], out[1]}, {in[2], out[2]}},
                                   .scratch = scratch};
        bool scatters = c->kind == CALL_SCATTER;
        if (!size)
            return scatters ? RUN(scatter) : RUN(gather);
        *size =
            scatters ? SCRATCH_OF(tml, tml_scatter(tml, &d)) : SCRATCH_OF(tml, tml_gather(tml, &d));
        return TML_OK;
    }
    case CALL_REDUCE_BY_KEY: {
        const tml_buffer starts = buffer_at(o, AT_INDICES);
        const uint64_t bound = length.count || length.exact ? length.count : o->at[AT_BY]->count;
        const tml_unique_desc runs = {.in = by,
                                      .values = out[0],
                                      .starts = starts,
                                      .count = count,
                                      .length = length,
                                      .scratch = scratch};
        tml_reduce_desc d = {.in = in[0],
                             .folds = {{(tml_fold)c->fold, out[1]}},
                             .length = length,
                             .segments = {.starts = starts, .count = {bound, count, 0, true}},
                             .scratch = scratch};
        d.length.count = bound;
        d.length.exact = true;
        return operate_by_key(tml, o, &runs, &d, size);
    }
    case CALL_SEARCH: {
        const tml_search_desc d = {.sorted = in[0],
                                   .queries = by,
                                   .length = length,
                                   .upper = c->options & OPTION_INCLUSIVE,
                                   .out = out[0],
                                   .scratch = scratch};
        if (!size)
            return RUN(search);
        *size = SCRATCH_OF(tml, tml_search(tml, &d));
        return TML_OK;
    }
    case CALL_EXPAND: {
        const tml_expand_desc d = {.counts = by,
                                   .count_kernel = by_kernel ? TML_USE(random_up_to_3) : NULL,
                                   .emit_kernel = o->at[AT_OUT + 2] ? TML_USE(random_code) : NULL,
                                   .params = params,
                                   .in = {in[0]},
                                   .length = length,
                                   .method = (tml_method)c->method,
                                   .source = out[0],
                                   .rank = out[1],
                                   .out = {out[2]},
                                   .total = count,
                                   .scratch = scratch,
                                   .out_first = first};
        if (!size)
            return RUN(expand);
        *size = SCRATCH_OF(tml, tml_expand(tml, &d));
        return TML_OK;
    }
    case CALL_UNIQUE: {
        const tml_unique_desc d = {.in = in[0],
                                   .length = length,
                                   .values = out[0],
                                   .starts = out[1],
                                   .lengths = out[2],
                                   .count = count,
                                   .scratch = scratch};
        if (!size)
            return RUN(unique);
        *size = SCRATCH_OF(tml, tml_unique(tml, &d));
        return TML_OK;
    }
    case CALL_REDUCE_SEGMENTS: {
        const tml_reduce_desc d = {.in = in[0],
                                   .segments.offsets = by,
                                   .folds = {{(tml_fold)c->fold, out[0]}},
                                   .scratch = scratch};
        if (!size)
            return RUN(reduce);
        *size = SCRATCH_OF(tml, tml_reduce(tml, &d));
        return TML_OK;
    }
    case CALL_SCAN_SEGMENTS: {
        const tml_scan_desc d = {.in = in[0],
                                 .segments.offsets = by,
                                 .inclusive = c->options & OPTION_INCLUSIVE,
                                 .out = out[0],
                                 .scratch = scratch};
        if (!size)
            return RUN(scan);
        *size = SCRATCH_OF(tml, tml_scan(tml, &d));
        return TML_OK;
    }
    case CALL_SURFACE_ENQUEUE: {
        const tml_surface_desc d = surface_desc(o, c, buffer_at);
        if (!size)
            return tml_surface_enqueue(tml, &d);
        *size = SCRATCH_OF(tml, tml_surface_enqueue(tml, &d));
        return TML_OK;
    }
#ifdef TML_VULKAN
    case CALL_INDIRECT:
        return size ? TML_OK
                    : tml_vulkan_indirect(
                          tml, &(tml_vulkan_indirect_desc){.kind = TML_VULKAN_INDIRECT_DRAW,
                                                           .count = in[0],
                                                           .count_index = c->index,
                                                           .group = 3,
                                                           .out = out[0]});
#endif
    default:
        return TML_ERROR_UNSUPPORTED;
    }
}

/* Scratch of the caller's that is too small is refused, and nothing is changed. While a command
 * buffer is recorded nothing tells what is too small. */
static bool may_lack_scratch(tml_context *tml, const operands *o, const call *c, bool is_recording)
{
    size_t size = 0;
    return o->at[AT_SCRATCH] && (is_recording || (operate(tml, o, c, &size) == TML_OK &&
                                                  o->at[AT_SCRATCH]->size < size));
}

void do_operation(random_run *r, const call *c)
{
    side *s = &r->sides[c->context];
    operands o;
    char problem[200] = "";
    if (!operands_of(r, c, &o) || (c->kind == CALL_INDIRECT && s->engine != TML_ENGINE_VULKAN))
        return;
    o.problem = problem;
    o.problem_size = sizeof problem;
    recording *k = s->recording ? &s->recordings[s->recording] : NULL;
    if (k && k->count == RECORDED)
        return;
    if (k && k->program) {
        if (c->kind == CALL_SURFACE_ENQUEUE || c->kind == CALL_INDIRECT)
            return;
        o.program = k->program;
        (void)operate(s->tml, &o, c, NULL);
        k->calls[k->count++] = c;
        return;
    }
    bool cancel = !k && c->options & OPTION_CANCEL;
    if (cancel)
        tml_cancel(s->tml);
    bool may_lack = may_lack_scratch(s->tml, &o, c, k != NULL);
    tml_status status = operate(s->tml, &o, c, NULL);
    if (cancel)
        tml_cancel_clear(s->tml);
    r->tally->made++;
    if (status == TML_ERROR_UNSUPPORTED) {
        r->tally->unsupported++;
    } else if (status == TML_ERROR_CANCELLED && cancel) {
        r->tally->cancelled++;
        for (int place = AT_OUT; place <= AT_COUNT; place++)
            if (o.at[place])
                o.at[place]->is_unknown = true;
        adopt_outputs(r, &o);
    } else if (status == TML_ERROR_SCRATCH_TOO_SMALL && may_lack) {
        /* as it should be */
    } else if (status != TML_OK) {
        expect(r, s, call_names[c->kind], status, TML_OK);
    } else if (k) {
        k->calls[k->count++] = c;
        r->tally->recorded++;
    } else {
        model_run(&o, c);
        if (problem[0])
            fail(r, "%s: %s", call_names[c->kind], problem);
        adopt_outputs(r, &o);
        for (int place = AT_OUT; place <= AT_COUNT && c->options & OPTION_CHECK; place++)
            if (o.at[place])
                check_range(r, o.at[place], 0, o.at[place]->count);
    }
}
