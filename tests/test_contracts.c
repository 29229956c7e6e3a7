/* What every public call promises alike: NULL, overlapping buffers, a second thread, a forked
 * process and calls from hooks are refused, with words, and leave the context well; cancelling ends
 * what it says. */
#include "test.h"

#include "contexts.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#ifndef _WIN32
#    include <sys/wait.h>
#endif

#include <trommel/trommel.h>
#ifdef TML_GL
#    include <trommel/gl.h>
#endif
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "core/core_internal.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, add_one, (uint x), { return x + 1u; })
TML_KERNEL(bool, is_odd, (uint x), { return (x & 1u) == 1u; })
TML_KERNEL(uint, one_or_two, (uint x), { return (x & 1u) + 1u; })
TML_KERNEL_OUTS((uint sum, uint rank), emitted, (uint x, tml_rank k), {
    emitted_out o;
    o.sum = x + U(k);
    o.rank = U(k);
    return o;
})
#include <trommel/kernel_end.h>

/* Under the sanitizers: sizes beyond reason give NULL, as they do without them. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const tml_buffer none;

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Calls test(tml) on each device that the library lists. */
static void on_every_device(void (*test)(tml_context *tml, const tml_device_info *info))
{
    tml_device_info infos[16];
    uint32_t count = tml_devices(infos, 16);
    for (uint32_t d = 0; d < count && d < 16; d++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, d);
        tml_context *tml = NULL;
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number, .threads = 2}, &tml)))
            continue;
        test(tml, &infos[d]);
        tml_close(tml);
    }
}

/* ---- overlaps -------------------------------------------------------------------------------- */

/* A block of the host's memory for each buffer of a call, with room for the largest view of
 * another. */
enum { ELEMENTS = 64, SCRATCH = 1 << 20, BLOCKS = 12, BLOCK = 2 * SCRATCH };

/* One buffer of a desc. */
typedef struct field {
    const char *name;
    size_t offset; /* in the desc */
    tml_type type;
    uint64_t count;
    bool is_written;
    const char *may_share; /* an output that may be this very buffer */
} field;

typedef union any_desc {
    tml_map_desc map;
    tml_reduce_desc reduce;
    tml_histogram_desc histogram;
    tml_scan_desc scan;
    tml_compact_desc compact;
    tml_sort_desc sort;
    tml_gather_desc gather;
    tml_top_k_desc top_k;
    tml_search_desc search;
    tml_expand_desc expand;
    tml_unique_desc unique;
} any_desc;

typedef struct operation {
    const char *name;
    tml_status (*run)(tml_context *tml, const any_desc *desc);
    any_desc desc; /* all but the buffers */
    field fields[BLOCKS];
} operation;

#define RUN(name, member)                                                                          \
    static tml_status run_##name(tml_context *tml, const any_desc *desc)                           \
    {                                                                                              \
        return tml_##name(tml, &desc->member);                                                     \
    }
RUN(map, map)
RUN(reduce, reduce)
RUN(histogram, histogram)
RUN(scan, scan)
RUN(compact, compact)
RUN(expand, expand)
RUN(sort, sort)
RUN(gather, gather)
RUN(scatter, gather)
RUN(top_k, top_k)
RUN(search, search)
RUN(unique, unique)

#define IN(member, text, type, n, shared)                                                          \
    {                                                                                              \
        text, offsetof(any_desc, member), TML_##type, n, false, shared                             \
    }
#define OUT(member, text, type, n)                                                                 \
    {                                                                                              \
        text, offsetof(any_desc, member), TML_##type, n, true, NULL                                \
    }

static operation operations[] = {
    {"map",
     run_map,
     {{0}},
     {IN(map.in[0], "in", U32, ELEMENTS, "out[0]"),
      IN(map.length.device, "length.device", U32, 1, NULL),
      OUT(map.out[0], "out[0]", U32, ELEMENTS)}},
    {"reduce",
     run_reduce,
     {{0}},
     {IN(reduce.in, "in", U8, ELEMENTS, NULL),
      IN(reduce.length.device, "length.device", U64, 1, NULL),
      OUT(reduce.folds[0].out, "folds[0].out", U64, 1),
      OUT(reduce.folds[1].out, "folds[1].out", U64, 1),
      OUT(reduce.folds[3].out, "folds[3].out", U64, 1),
      OUT(reduce.scratch, "scratch", U8, SCRATCH)}},
    {"scan",
     run_scan,
     {{0}},
     {IN(scan.in, "in", U32, ELEMENTS, "out"),
      IN(scan.length.device, "length.device", U32, 1, NULL), OUT(scan.out, "out", U32, ELEMENTS),
      OUT(scan.total, "total", U32, 1), OUT(scan.scratch, "scratch", U8, SCRATCH)}},
    {"compact by a kernel",
     run_compact,
     {{0}},
     {IN(compact.payloads[0].in, "payloads[0].in", U32, ELEMENTS, "payloads[0].out"),
      IN(compact.payloads[1].in, "payloads[1].in", U32, ELEMENTS, "payloads[1].out"),
      IN(compact.keep.in[0], "keep.in", U32, ELEMENTS, NULL),
      IN(compact.length.device, "length.device", U32, 1, "count"),
      OUT(compact.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(compact.payloads[1].out, "payloads[1].out", U32, ELEMENTS),
      OUT(compact.indices, "indices", U32, ELEMENTS), OUT(compact.count, "count", U32, 1),
      OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"compact by flags",
     run_compact,
     {{0}},
     {IN(compact.payloads[0].in, "payloads[0].in", U8, ELEMENTS, "payloads[0].out"),
      IN(compact.keep.flags, "keep.flags", U8, ELEMENTS, NULL),
      OUT(compact.payloads[0].out, "payloads[0].out", U8, ELEMENTS),
      OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"compact by a mask",
     run_compact,
     {{0}},
     {IN(compact.payloads[0].in, "payloads[0].in", U32, ELEMENTS, "payloads[0].out"),
      IN(compact.keep.mask, "keep.mask", U32, ELEMENTS, NULL),
      OUT(compact.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(compact.count, "count", U32, 1), OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"partition",
     run_compact,
     {.compact.partition = true},
     {IN(compact.payloads[0].in, "payloads[0].in", U8, ELEMENTS, NULL),
      IN(compact.keep.flags, "keep.flags", U8, ELEMENTS, NULL),
      IN(compact.length.device, "length.device", U32, 1, "count"),
      OUT(compact.payloads[0].out, "payloads[0].out", U8, ELEMENTS),
      OUT(compact.indices, "indices", U32, ELEMENTS), OUT(compact.count, "count", U32, 1),
      OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"expand by counts",
     run_expand,
     {{0}},
     {IN(expand.counts, "counts", U32, ELEMENTS, NULL),
      IN(expand.in[0], "in[0]", U32, ELEMENTS, NULL),
      IN(expand.length.device, "length.device", U32, 1, NULL),
      OUT(expand.source, "source", U32, ELEMENTS), OUT(expand.rank, "rank", U32, ELEMENTS),
      OUT(expand.out[0], "out[0]", U32, ELEMENTS), OUT(expand.out[1], "out[1]", U32, ELEMENTS),
      OUT(expand.total, "total", U32, 1), OUT(expand.scratch, "scratch", U8, SCRATCH)}},
    {"expand by a kernel",
     run_expand,
     {{0}},
     {IN(expand.in[0], "in[0]", U32, ELEMENTS, NULL), OUT(expand.source, "source", U32, ELEMENTS),
      OUT(expand.total, "total", U32, 1), OUT(expand.scratch, "scratch", U8, SCRATCH)}},
    {"unique",
     run_unique,
     {{0}},
     {IN(unique.in, "in", U32, ELEMENTS, "values"),
      IN(unique.length.device, "length.device", U32, 1, NULL),
      OUT(unique.values, "values", U32, ELEMENTS), OUT(unique.starts, "starts", U32, ELEMENTS),
      OUT(unique.lengths, "lengths", U32, ELEMENTS), OUT(unique.count, "count", U32, 1),
      OUT(unique.scratch, "scratch", U8, SCRATCH)}},
    {"reduce_segments",
     run_reduce,
     {.reduce.folds = {{.fold = TML_FOLD_MAX}}},
     {IN(reduce.in, "in", U32, ELEMENTS, NULL),
      IN(reduce.segments.offsets, "offsets", U32, ELEMENTS, NULL),
      OUT(reduce.folds[0].out, "folds[0].out", U32, ELEMENTS),
      OUT(reduce.scratch, "scratch", U8, SCRATCH)}},
    {"histogram",
     run_histogram,
     {{0}},
     {IN(histogram.in[0], "in[0]", U32, ELEMENTS, NULL),
      IN(histogram.length.device, "length.device", U32, 1, NULL),
      OUT(histogram.out, "out", U32, ELEMENTS), OUT(histogram.scratch, "scratch", U8, SCRATCH)}},
    {"histogram by a kernel",
     run_histogram,
     {{0}},
     {IN(histogram.in[0], "in[0]", U32, ELEMENTS, NULL), OUT(histogram.out, "out", U32, ELEMENTS),
      OUT(histogram.scratch, "scratch", U8, SCRATCH)}},
    {"histogram by edges, with weights",
     run_histogram,
     {.histogram.bins = ELEMENTS - 1},
     {IN(histogram.in[0], "in[0]", F32, ELEMENTS, NULL),
      IN(histogram.edges, "edges", F32, ELEMENTS, NULL),
      IN(histogram.weights, "weights", F32, ELEMENTS, NULL),
      IN(histogram.length.device, "length.device", U32, 1, NULL),
      OUT(histogram.out, "out", F32, ELEMENTS), OUT(histogram.scratch, "scratch", U8, SCRATCH)}},
    {"sort",
     run_sort,
     {{0}},
     {IN(sort.keys, "keys", U32, ELEMENTS, "sorted"),
      IN(sort.length.device, "length.device", U32, 1, NULL),
      IN(sort.payloads[0].in, "payloads[0].in", U32, ELEMENTS, "payloads[0].out"),
      OUT(sort.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(sort.sorted, "sorted", U32, ELEMENTS), OUT(sort.indices, "indices", U32, ELEMENTS),
      OUT(sort.scratch, "scratch", U8, SCRATCH)}},
    {"sort of segments",
     run_sort,
     {{0}},
     {IN(sort.keys, "keys", U32, ELEMENTS, "sorted"),
      IN(sort.segments.offsets, "offsets", U32, ELEMENTS, NULL),
      IN(sort.length.device, "length.device", U32, 1, NULL),
      IN(sort.payloads[0].in, "payloads[0].in", U32, ELEMENTS, "payloads[0].out"),
      OUT(sort.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(sort.sorted, "sorted", U32, ELEMENTS), OUT(sort.indices, "indices", U32, ELEMENTS),
      OUT(sort.scratch, "scratch", U8, SCRATCH)}},
    {"sort of segments by starts",
     run_sort,
     {{0}},
     {IN(sort.keys, "keys", U32, ELEMENTS, "sorted"),
      IN(sort.segments.starts, "starts", U32, ELEMENTS, NULL),
      IN(sort.segments.count.device, "count.device", U32, 1, NULL),
      IN(sort.length.device, "length.device", U32, 1, NULL),
      OUT(sort.sorted, "sorted", U32, ELEMENTS), OUT(sort.scratch, "scratch", U8, SCRATCH)}},
    {"gather",
     run_gather,
     {{0}},
     {IN(gather.indices, "indices", U32, ELEMENTS, NULL),
      IN(gather.length.device, "length.device", U32, 1, NULL),
      IN(gather.payloads[0].in, "payloads[0].in", U32, ELEMENTS, NULL),
      OUT(gather.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(gather.scratch, "scratch", U8, SCRATCH)}},
    {"scatter",
     run_scatter,
     {{0}},
     {IN(gather.indices, "indices", U32, ELEMENTS, NULL),
      IN(gather.length.device, "length.device", U32, 1, NULL),
      IN(gather.payloads[0].in, "payloads[0].in", U32, ELEMENTS, NULL),
      OUT(gather.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(gather.scratch, "scratch", U8, SCRATCH)}},
    {"top_k",
     run_top_k,
     {{0}},
     {IN(top_k.keys, "keys", U32, ELEMENTS, NULL),
      IN(top_k.length.device, "length.device", U32, 1, NULL),
      IN(top_k.k.device, "k.device", U32, 1, NULL),
      IN(top_k.payloads[0].in, "payloads[0].in", U32, ELEMENTS, NULL),
      OUT(top_k.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(top_k.values, "values", U32, ELEMENTS), OUT(top_k.indices, "indices", U32, ELEMENTS),
      OUT(top_k.count, "count", U32, 1), OUT(top_k.scratch, "scratch", U8, SCRATCH)}},
    {"search",
     run_search,
     {{0}},
     {IN(search.sorted, "sorted", U32, ELEMENTS, NULL),
      IN(search.sorted_length.device, "sorted_length.device", U32, 1, NULL),
      IN(search.queries, "queries", U32, ELEMENTS, NULL),
      IN(search.length.device, "length.device", U32, 1, NULL),
      OUT(search.out, "out", U32, ELEMENTS), OUT(search.scratch, "scratch", U8, SCRATCH)}},
    {"reduce_segments by starts",
     run_reduce,
     {.reduce.folds = {{.fold = TML_FOLD_MAX}}},
     {IN(reduce.in, "in", U32, ELEMENTS, NULL),
      IN(reduce.segments.starts, "starts", U32, ELEMENTS, NULL),
      IN(reduce.segments.count.device, "count.device", U32, 1, NULL),
      IN(reduce.length.device, "length.device", U32, 1, NULL),
      OUT(reduce.folds[0].out, "folds[0].out", U32, ELEMENTS),
      OUT(reduce.scratch, "scratch", U8, SCRATCH)}},
    {"scan_segments",
     run_scan,
     {{0}},
     {IN(scan.in, "in", U32, ELEMENTS, "out"),
      IN(scan.segments.offsets, "offsets", U32, ELEMENTS, NULL),
      OUT(scan.out, "out", U32, ELEMENTS), OUT(scan.scratch, "scratch", U8, SCRATCH)}},
};

static tml_buffer *buffer_in(any_desc *desc, const field *f)
{
    return (tml_buffer *)((char *)desc + f->offset);
}

/* Each output of an operation takes the place of each other buffer: the very same one, and, where
 * the engine takes memory of the host's, also eight bytes on. */
static void check_pair(tml_context *tml, const operation *op, const any_desc *base,
                       const field *out, const field *other, unsigned char *memory)
{
    bool may_share = other->may_share && strcmp(other->may_share, out->name) == 0;
    for (int shift = 0; shift <= (memory ? 8 : 0); shift += 8) {
        any_desc desc = *base;
        tml_buffer view = *buffer_in(&desc, other);
        if (memory && (size_t)shift < other->count * tml_type_size(other->type)) {
            CHECK_OK(tml, tml_buffer_create(tml,
                                            &(tml_buffer_desc){.type = out->type,
                                                               .count = out->count,
                                                               .host = memory + shift},
                                            &view));
        } else if (memory || out->type != other->type || out->count > other->count) {
            continue;
        }
        *buffer_in(&desc, out) = view;
        tml_status status = op->run(tml, &desc);
        bool allowed = may_share && shift == 0;
        const char *text = tml_last_error(tml);
        if (allowed ? status != TML_OK : status != TML_ERROR_INVALID_ARGUMENT)
            test_fail(__FILE__, __LINE__, "%s: %s is %s + %d: %s %s", op->name, out->name,
                      other->name, shift, tml_status_name(status), text);
        else if (!allowed && (!strstr(text, "overlaps") || !strstr(text, out->name) ||
                              !strstr(text, other->name)))
            test_fail(__FILE__, __LINE__, "%s: %s is %s: '%s'", op->name, out->name, other->name,
                      text);
    }
}

static void check_overlaps(tml_context *tml, const tml_device_info *info)
{
    static const uint32_t rising[ELEMENTS] = {0, 1, 2, 3, 4, 5, 6, 7};
    bool is_host = info->engine == TML_ENGINE_CPU;
    unsigned char *memory = is_host ? tml_platform_alloc((size_t)BLOCKS * BLOCK, 64) : NULL;
    if (is_host && !CHECK(memory != NULL))
        return;
    operations[0].desc.map.kernel = TML_USE(add_one);
    operations[3].desc.compact.keep.kernel = TML_USE(is_odd);
    operations[7].desc.expand.emit_kernel = TML_USE(emitted);
    operations[8].desc.expand.count_kernel = TML_USE(one_or_two);
    operations[12].desc.histogram.kernel = TML_USE(one_or_two);
    for (size_t o = 0; o < COUNT_OF(operations); o++) {
        const operation *op = &operations[o];
        any_desc base = op->desc;
        uint32_t count = 0;
        for (const field *f = op->fields; f->name; f++, count++) {
            tml_buffer_desc desc = {.type = f->type, .count = f->count};
            if (is_host) {
                desc.host = memory + (size_t)count * BLOCK;
                memset(desc.host, 0, f->count * tml_type_size(f->type));
            }
            CHECK_OK(tml, tml_buffer_create(tml, &desc, buffer_in(&base, f)));
            if (!f->is_written && f->type == TML_U32)
                CHECK_OK(tml, tml_buffer_write(tml, *buffer_in(&base, f), 0, f->count, rising));
        }
        tml_status status = op->run(tml, &base);
        if (status == TML_ERROR_UNSUPPORTED)
            continue;
        if (status != TML_OK)
            test_fail(__FILE__, __LINE__, "%s: %s", op->name, tml_last_error(tml));
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                if (i != j && op->fields[i].is_written)
                    check_pair(tml, op, &base, &op->fields[i], &op->fields[j],
                               memory ? memory + (size_t)j * BLOCK : NULL);
    }
    tml_platform_free(memory);
}

TEST(an_output_over_another_buffer_of_the_call_is_refused)
{
    on_every_device(check_overlaps);
}

/* ---- NULL ------------------------------------------------------------------------------------ */

/* Calls whose answer is a status: function, arguments, the pointer that is NULL. */
#define REFUSED_CALLS(X)                                                                           \
    X(tml_open, (NULL, NULL), "out")                                                               \
    X(tml_reserve, (NULL, 1), "tml")                                                               \
    X(tml_buffer_create, (NULL, &buffer_desc, &out), "tml")                                        \
    X(tml_buffer_create, (tml, NULL, &out), "desc")                                                \
    X(tml_buffer_create, (tml, &buffer_desc, NULL), "out")                                         \
    X(tml_buffer_read, (NULL, buffer, words), "tml")                                               \
    X(tml_buffer_read, (tml, buffer, NULL), "out")                                                 \
    X(tml_buffer_read_range, (NULL, buffer, 0, 1, words), "tml")                                   \
    X(tml_buffer_read_range, (tml, buffer, 0, 1, NULL), "out")                                     \
    X(tml_buffer_read_count, (NULL, buffer, &count), "tml")                                        \
    X(tml_buffer_read_count, (tml, buffer, NULL), "out")                                           \
    X(tml_buffer_read_begin, (NULL, buffer, 0, 1, &reading), "tml")                                \
    X(tml_buffer_read_begin, (tml, buffer, 0, 1, NULL), "out")                                     \
    X(tml_cache, (NULL, NULL, &ready.scratch_size), "tml")                                         \
    X(tml_cache, (tml, NULL, NULL), "size")                                                        \
    X(tml_cache_add, (NULL, words, sizeof words), "tml")                                           \
    X(tml_cache_add, (tml, NULL, 0), "data")                                                       \
    X(tml_time_begin, (NULL), "tml")                                                               \
    X(tml_time_end, (NULL, &seconds), "tml")                                                       \
    X(tml_time_end, (tml, NULL), "seconds")                                                        \
    X(tml_prepare_begin, (NULL), "tml")                                                            \
    X(tml_prepare_end, (NULL, &ready), "tml")                                                      \
    X(tml_prepare_end, (tml, NULL), "out")                                                         \
    X(tml_buffer_read_poll, (NULL, reading, words, &is_done), "tml")                               \
    X(tml_buffer_read_poll, (tml, reading, words, NULL), "done")                                   \
    X(tml_buffer_write, (NULL, buffer, 0, 1, words), "tml")                                        \
    X(tml_buffer_write, (tml, buffer, 0, 1, NULL), "in")                                           \
    X(tml_buffer_map, (NULL, buffer, &memory), "tml")                                              \
    X(tml_buffer_map, (tml, buffer, NULL), "out")                                                  \
    X(tml_sync, (NULL), "tml")                                                                     \
    X(tml_map, (NULL, &map), "tml")                                                                \
    X(tml_map, (tml, NULL), "desc")                                                                \
    X(tml_map, (tml, &map), "desc.kernel")                                                         \
    X(tml_reduce, (NULL, &reduce), "tml")                                                          \
    X(tml_reduce, (tml, NULL), "desc")                                                             \
    X(tml_histogram, (NULL, &histogram), "tml")                                                    \
    X(tml_histogram, (tml, NULL), "desc")                                                          \
    X(tml_scan, (NULL, &scan), "tml")                                                              \
    X(tml_scan, (tml, NULL), "desc")                                                               \
    X(tml_compact, (NULL, &compact), "tml")                                                        \
    X(tml_compact, (tml, NULL), "desc")                                                            \
    X(tml_expand, (NULL, &expand), "tml")                                                          \
    X(tml_expand, (tml, NULL), "desc")                                                             \
    X(tml_sort, (NULL, &sort), "tml")                                                              \
    X(tml_sort, (tml, NULL), "desc")                                                               \
    X(tml_top_k, (NULL, &top_k), "tml")                                                            \
    X(tml_top_k, (tml, NULL), "desc")                                                              \
    X(tml_gather, (NULL, &gather), "tml")                                                          \
    X(tml_gather, (tml, NULL), "desc")                                                             \
    X(tml_scatter, (NULL, &gather), "tml")                                                         \
    X(tml_scatter, (tml, NULL), "desc")                                                            \
    X(tml_search, (NULL, &search), "tml")                                                          \
    X(tml_search, (tml, NULL), "desc")                                                             \
    X(tml_unique, (NULL, &unique), "tml")                                                          \
    X(tml_unique, (tml, NULL), "desc")                                                             \
    X(tml_field, (NULL, &points, buffer), "tml")                                                   \
    X(tml_field, (tml, NULL, buffer), "desc")                                                      \
    X(tml_field_mean, (NULL, &field_mean), "tml")                                                  \
    X(tml_field_mean, (tml, NULL), "desc")                                                         \
    X(tml_field_enqueue, (NULL, &points, buffer), "tml")                                           \
    X(tml_field_enqueue, (tml, NULL, buffer), "desc")                                              \
    X(tml_field_mean_enqueue, (NULL, &field_mean), "tml")                                          \
    X(tml_field_mean_enqueue, (tml, NULL), "desc")                                                 \
    X(tml_field_smooth_weights, (NULL, &points, buffer, NULL, buffer), "tml")                      \
    X(tml_field_smooth_weights, (tml, NULL, buffer, NULL, buffer), "field")                        \
    X(tml_field_prepare, (NULL, &prepare, &prepared), "tml")                                       \
    X(tml_field_prepare, (tml, NULL, &prepared), "desc")                                           \
    X(tml_field_prepare, (tml, &prepare, NULL), "out")                                             \
    X(tml_surface, (NULL, &surface, &mesh), "tml")                                                 \
    X(tml_surface, (tml, NULL, &mesh), "desc")                                                     \
    X(tml_surface, (tml, &surface, NULL), "out")                                                   \
    X(tml_surface_slabs, (NULL, &slabs, &mesh), "tml")                                             \
    X(tml_surface_slabs, (tml, NULL, &mesh), "desc")                                               \
    X(tml_surface_slabs, (tml, &slabs, NULL), "out")                                               \
    X(tml_surface_join, (NULL, &seam, NULL, 0, &count), "tml")                                     \
    X(tml_surface_join, (tml, NULL, NULL, 0, &count), "seam")                                      \
    X(tml_surface_join, (tml, &seam, NULL, 0, NULL), "components")                                 \
    X(tml_surface_index, (NULL, &bricks, &out), "tml")                                             \
    X(tml_surface_index, (tml, NULL, &out), "desc")                                                \
    X(tml_surface_index, (tml, &bricks, NULL), "out")                                              \
    X(tml_surface_labels, (NULL, &nets, &net), "tml")                                              \
    X(tml_surface_labels, (tml, NULL, &net), "desc")                                               \
    X(tml_surface_labels, (tml, &nets, NULL), "out")                                               \
    X(tml_surface_enqueue, (NULL, &surface), "tml")                                                \
    X(tml_surface_enqueue, (tml, NULL), "desc")                                                    \
    X(tml_surface_cells, (NULL, &surface, cells), "tml")                                           \
    X(tml_surface_cells, (tml, NULL, cells), "desc")                                               \
    X(tml_surface_cells, (tml, &surface, NULL), "cells")                                           \
    X(tml_mesh_examine, (NULL, &examined, false, &stats), "tml")                                   \
    X(tml_mesh_examine, (tml, NULL, false, &stats), "mesh")                                        \
    X(tml_mesh_examine, (tml, &examined, false, NULL), "out")                                      \
    X(tml_mesh_clean, (NULL, &arrays, false, false, NULL), "tml")                                  \
    X(tml_mesh_clean, (tml, NULL, false, false, NULL), "mesh")                                     \
    X(tml_mesh_collapse, (NULL, &arrays, 1), "tml")                                                \
    X(tml_mesh_collapse, (tml, NULL, 1), "mesh")                                                   \
    X(tml_mesh_smooth, (NULL, &smoothing), "tml")                                                  \
    X(tml_mesh_smooth, (tml, NULL), "desc")                                                        \
    X(tml_image_measure, (NULL, &measure), "tml")                                                  \
    X(tml_image_measure, (tml, NULL), "desc")                                                      \
    X(tml_image_stats_read, (NULL, buffer, &image_stats), "tml")                                   \
    X(tml_image_stats_read, (tml, buffer, NULL), "out")                                            \
    X(tml_image_expose, (NULL, &expose), "tml")                                                    \
    X(tml_image_expose, (tml, NULL), "desc")                                                       \
    X(tml_image_tonemap, (NULL, &tonemap), "tml")                                                  \
    X(tml_image_tonemap, (tml, NULL), "desc")                                                      \
    X(tml_image_mips, (NULL, &mips), "tml")                                                        \
    X(tml_image_mips, (tml, NULL), "desc")                                                         \
    X(tml_tree_create, (NULL, &tree_desc, &tree_out), "tml")                                       \
    X(tml_tree_create, (tml, NULL, &tree_out), "desc")                                             \
    X(tml_tree_create, (tml, &tree_desc, NULL), "out")                                             \
    X(tml_tree_update, (NULL, tree, positions, TML_TREE_REFIT), "tml")                             \
    X(tml_tree_update, (tml, NULL, positions, TML_TREE_REFIT), "tree")                             \
    X(tml_tree_update_enqueue, (NULL, tree, positions, TML_TREE_REFIT), "tml")                     \
    X(tml_tree_update_enqueue, (tml, NULL, positions, TML_TREE_REFIT), "tree")                     \
    X(tml_tree_save, (NULL, tree, cells, &saved), "tml")                                           \
    X(tml_tree_save, (tml, NULL, cells, &saved), "tree")                                           \
    X(tml_tree_save, (tml, tree, cells, NULL), "size")                                             \
    X(tml_tree_load, (NULL, cells, 8, &tree_out), "tml")                                           \
    X(tml_tree_load, (tml, NULL, 8, &tree_out), "data")                                            \
    X(tml_tree_load, (tml, cells, 8, NULL), "out")                                                 \
    X(tml_tree_nearest, (NULL, &tree_nearest), "tml")                                              \
    X(tml_tree_nearest, (tml, NULL), "desc")                                                       \
    X(tml_tree_cast, (NULL, &tree_cast), "tml")                                                    \
    X(tml_tree_cast, (tml, NULL), "desc")                                                          \
    X(tml_tree_cast_enqueue, (NULL, &tree_cast), "tml")                                            \
    X(tml_tree_cast_enqueue, (tml, NULL), "desc")                                                  \
    X(tml_tree_distance_grid, (NULL, &tree_volume), "tml")                                         \
    X(tml_tree_distance_grid, (tml, NULL), "desc")                                                 \
    X(tml_collide, (NULL, &collide, &pairs), "tml")                                                \
    X(tml_collide, (tml, NULL, &pairs), "desc")                                                    \
    X(tml_collide, (tml, &collide, NULL), "out")                                                   \
    X(tml_collide_distance, (NULL, &apart, &nearest), "tml")                                       \
    X(tml_collide_distance, (tml, NULL, &nearest), "desc")                                         \
    X(tml_collide_distance, (tml, &apart, NULL), "out")                                            \
    X(tml_collide_distance_enqueue, (NULL, &apart), "tml")                                         \
    X(tml_collide_distance_enqueue, (tml, NULL), "desc")                                           \
    X(tml_subdivider_create, (NULL, &subdivider_desc, &subdivider_out), "tml")                     \
    X(tml_subdivider_create, (tml, NULL, &subdivider_out), "desc")                                 \
    X(tml_subdivider_create, (tml, &subdivider_desc, NULL), "out")                                 \
    X(tml_subdivider_move_enqueue, (NULL, positions), "subdivider")                                \
    X(tml_subdivide_uniform_enqueue, (NULL, &uniform, &subdivided), "subdivider")                  \
    X(tml_subdivide_uniform_enqueue, (subdivider, NULL, &subdivided), "desc")                      \
    X(tml_subdivide_uniform_enqueue, (subdivider, &uniform, NULL), "out")                          \
    X(tml_subdivide_adaptive, (NULL, &adaptive, &subdivided), "subdivider")                        \
    X(tml_subdivide_adaptive, (subdivider, NULL, &subdivided), "desc")                             \
    X(tml_subdivide_adaptive, (subdivider, &adaptive, NULL), "out")                                \
    X(tml_subdivide_adaptive_enqueue, (NULL, &adaptive), "subdivider")                             \
    X(tml_subdivide_adaptive_enqueue, (subdivider, NULL), "desc")

#ifdef TML_GL
#    define REFUSED_GL_CALLS(X)                                                                    \
        X(tml_gl_texture, (NULL, buffer, &texture), "tml")                                         \
        X(tml_gl_texture, (tml, buffer, NULL), "out")                                              \
        X(tml_gl_import, (NULL, &transfer), "tml")                                                 \
        X(tml_gl_import, (tml, NULL), "desc")                                                      \
        X(tml_gl_export, (NULL, &transfer), "tml")                                                 \
        X(tml_gl_export, (tml, NULL), "desc")                                                      \
        X(tml_gl_exact_counts, (NULL, true), "tml")                                                \
        X(tml_gl_begin, (NULL), "tml")
#else
#    define REFUSED_GL_CALLS(X)
#endif
#ifdef TML_VULKAN
#    define REFUSED_VULKAN_CALLS(X)                                                                \
        X(tml_vulkan_handles, (NULL, &handles), "tml")                                             \
        X(tml_vulkan_handles, (tml, NULL), "out")                                                  \
        X(tml_vulkan_buffer, (NULL, buffer, NULL, NULL), "tml")                                    \
        X(tml_vulkan_record, (NULL, VK_NULL_HANDLE, NULL, NULL), "tml")                            \
        X(tml_vulkan_record_end, (NULL), "tml")                                                    \
        X(tml_vulkan_after, (NULL, VK_NULL_HANDLE, 0), "tml")                                      \
        X(tml_vulkan_signal, (NULL, VK_NULL_HANDLE, 0), "tml")                                     \
        X(tml_vulkan_forget_recordings, (NULL), "tml")                                             \
        X(tml_vulkan_flush, (NULL), "tml")                                                         \
        X(tml_vulkan_check, (NULL), "tml")                                                         \
        X(tml_vulkan_indirect, (NULL, &indirect), "tml")                                           \
        X(tml_vulkan_indirect, (tml, NULL), "desc")
#else
#    define REFUSED_VULKAN_CALLS(X)
#endif

static void count_task(void *argument, uint32_t index)
{
    atomic_fetch_add((_Atomic uint32_t *)argument, index + 1);
}

/* Is the context not known where this is NULL? */
static bool is_outside(const char *function, const char *null)
{
    return strcmp(function, "tml_open") == 0 || strcmp(null, "tml") == 0 ||
           strcmp(null, "subdivider") == 0;
}

TEST(null_is_refused_by_every_call)
{
    tml_context *tml = open_cpu(2);
    uint32_t words[4] = {1, 2, 3, 4};
    tml_buffer buffer = buffer_of(tml, TML_U32, 4, words), out;
    const tml_buffer_desc buffer_desc = {.type = TML_U32, .count = 4};
    uint64_t count;
    void *memory;
    tml_read reading = {0, 0};
    tml_prepared ready;
    bool is_done;
    const tml_map_desc map = {0};
    const tml_reduce_desc reduce = {0};
    const tml_histogram_desc histogram = {.bins = 1};
    const tml_scan_desc scan = {0};
    const tml_compact_desc compact = {0};
    const tml_expand_desc expand = {0};
    const tml_sort_desc sort = {0};
    const tml_top_k_desc top_k = {0};
    const tml_gather_desc gather = {0};
    const tml_search_desc search = {0};
    const tml_unique_desc unique = {0};
    const tml_field_desc points = {.radius = 1};
    const tml_field_mean_desc field_mean = {.field = &points};
    const tml_field_prepare_desc prepare = {.cell = 0.25};
    tml_field_prepared prepared;
    const tml_surface_desc surface = {.iso = 1};
    const tml_surface_slabs_desc slabs = {.surface = NULL};
    tml_surface_seam seam = {0};
    const tml_surface_desc bricks = {.volume = none};
    const tml_surface_labels_desc nets = {.volume = none};
    tml_surface_result net;
    tml_surface_result mesh;
    tml_mesh_stats stats;
    tml_mesh arrays = {0};
    const tml_mesh_buffers examined = {.positions = none};
    const tml_mesh_smooth_desc smoothing = {.mesh = examined};
    uint8_t cells[8] = {0};
    const tml_image_measure_desc measure = {.stats = none};
    tml_image_stats image_stats;
    const tml_image_expose_desc expose = {.stats = none};
    const tml_image_tonemap_desc tonemap = {.state = none};
    const tml_image_mips_desc mips = {.out = none};
    static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    tml_buffer positions = buffer_of(tml, TML_VEC(TML_F32, 3), 3, corners);
    tml_buffer triangle = buffer_of(tml, TML_VEC(TML_U32, 3), 1, (uint32_t[]){0, 1, 2});
    const tml_tree_desc tree_desc = {.vertices = positions, .indices = triangle};
    tml_tree *tree = NULL, *tree_out;
    CHECK_OK(tml, tml_tree_create(tml, &tree_desc, &tree));
    const tml_collide_desc collide = {.a = tree};
    const tml_tree_nearest_desc tree_nearest = {.tree = tree};
    const tml_tree_cast_desc tree_cast = {.tree = tree};
    size_t saved = 8;
    const tml_tree_distance_grid_desc tree_volume = {.tree = tree};
    tml_collide_result pairs;
    const tml_collide_distance_desc apart = {.a = tree, .b = tree};
    tml_collide_distance_result nearest;
    const tml_subdivider_desc subdivider_desc = {
        .mesh = {.positions = positions, .indices = triangle}};
    tml_subdivider *subdivider = NULL, *subdivider_out;
    CHECK_OK(tml, tml_subdivider_create(tml, &subdivider_desc, &subdivider));
    const tml_subdivide_uniform_desc uniform = {.levels = 1};
    const tml_subdivide_adaptive_desc adaptive = {.max_depth = 1};
    tml_subdivide_result subdivided;
    double seconds;
    char expected[64];

#define IS_REFUSED(function, arguments, null)                                                      \
    CHECK_STATUS(function arguments, TML_ERROR_INVALID_ARGUMENT);                                  \
    snprintf(expected, sizeof expected, "%s: %s is NULL", #function, null);                        \
    CHECK(strstr(tml_last_error(is_outside(#function, null) ? NULL : tml), expected));
    REFUSED_CALLS(IS_REFUSED)
#ifdef TML_GL
    tml_gl_memory texture;
    const tml_gl_transfer_desc transfer = {.width = 1};
    REFUSED_GL_CALLS(IS_REFUSED)
    tml_gl_end(NULL);
    tml_gl_lost(NULL);
    CHECK(!tml_gl_glsl(NULL));
    CHECK_EQ_U64(tml_gl_tests(NULL, NULL, 9), 0);
#endif
#ifdef TML_VULKAN
    tml_vulkan_desc handles;
    const tml_vulkan_indirect_desc indirect = {.limit = 1};
    REFUSED_VULKAN_CALLS(IS_REFUSED)
    CHECK(!tml_vulkan_features(NULL, VK_NULL_HANDLE, VK_NULL_HANDLE, NULL, NULL, NULL));
#endif

    /* These answer nothing, and do nothing. */
    tml_close(NULL);
    tml_log(NULL, TML_LOG_INFO, "%s", "nobody hears it");
    tml_cancel(NULL);
    tml_cancel_clear(NULL);
    tml_free(NULL, words, 4);
    tml_parallel_for(tml, 4, NULL, NULL);
    tml_buffer_destroy(NULL, buffer);
    tml_buffer_unmap(NULL, buffer);
    tml_context_describe(NULL, &(tml_device_info){0});
    tml_context_describe(tml, NULL);
    _Atomic uint32_t sum = 0;
    tml_parallel_for(NULL, 4, count_task,
                     &sum); /* on this thread, as ever where there are no others */
    CHECK_EQ_U64(sum, 10);
    CHECK_STATUS(tml_error(NULL, TML_ERROR_CAPACITY, "of %s", "nobody"), TML_ERROR_CAPACITY);
    CHECK_STR(tml_last_error(NULL), "of nobody");
    CHECK(!tml_progress(NULL, "stage", 0) && !tml_is_cancelled(NULL));
    CHECK(tml_alloc(NULL, 4) == NULL && tml_alloc_array(NULL, 4, 4) == NULL);
    CHECK(tml_devices(NULL, 9) >= 1);
    CHECK(!tml_buffer_describe(NULL, buffer, NULL, NULL) &&
          tml_buffer_describe(tml, buffer, NULL, NULL));
    CHECK_EQ_U64(tml_type_from_name(NULL), TML_TYPE_NONE);
    tml_field_prepared_free(NULL, &prepared);
    tml_field_prepared_free(tml, NULL);
    tml_surface_free(NULL, &mesh);
    tml_surface_free(tml, NULL);
    double place[3] = {1, 1, 1};
    tml_grid_position_origin(NULL, place);
    CHECK(place[0] == 0 && place[1] == 0 && place[2] == 0);
    tml_grid_position_origin(&(tml_grid){.origin = {1e9}}, NULL);
    place[0] = 1;
    tml_box_position_origin(NULL, place, place);
    CHECK(place[0] == 0);
    tml_box_position_origin(place, place, NULL);
    tml_collide_free(NULL, &pairs);
    tml_collide_free(tml, NULL);
    tml_subdivide_free(NULL, &subdivided);
    tml_subdivide_free(tml, NULL);
    tml_tree_destroy(tml, NULL);
    tml_tree_destroy(NULL, tree);
    tml_tree_describe(NULL, &(tml_tree_info){0});
    tml_tree_describe(tree, NULL);
    tml_subdivider_destroy(tml, NULL);
    tml_subdivider_describe(NULL, 0, &(tml_subdivider_info){0});
    tml_subdivider_describe(subdivider, 0, NULL);
    CHECK_STATUS(tml_meter_weights(TML_METER_SPOT, 4, 4, 2, 2, NULL), TML_ERROR_INVALID_ARGUMENT);
    CHECK(isnan(tml_image_percentile(NULL, 50)));
    tml_mip_level(4, 4, 1, NULL, NULL, NULL);

    tml_subdivider_destroy(tml, subdivider);
    tml_tree_destroy(tml, tree);
    CHECK_OK(tml, tml_buffer_read(tml, buffer, words)); /* nobody is left inside */
    CHECK_EQ_U64(words[3], 4);
    tml_close(tml);
}

/* Is every function of a header in the test above? Those that take no pointer are named here. */
static void check_header(const char *header)
{
    static const char *const names[] = {
#define NAME(function, ...) #function,
        REFUSED_CALLS(NAME) REFUSED_GL_CALLS(NAME) REFUSED_VULKAN_CALLS(NAME)
#undef NAME
            "tml_close",
        "tml_log", "tml_cancel", "tml_cancel_clear", "tml_free", "tml_parallel_for",
        "tml_buffer_destroy", "tml_buffer_unmap", "tml_context_describe", "tml_error",
        "tml_progress", "tml_is_cancelled", "tml_alloc", "tml_devices", "tml_buffer_describe",
        "tml_type_from_name", "tml_last_error", "tml_surface_free", "tml_collide_free",
        "tml_field_prepared_free", "tml_grid_position_origin", "tml_box_position_origin",
        "tml_subdivide_free", "tml_tree_destroy", "tml_tree_describe", "tml_subdivider_destroy",
        "tml_subdivider_describe", "tml_meter_weights", "tml_image_percentile", "tml_gl_end",
        "tml_gl_glsl", "tml_gl_lost", "tml_gl_tests", "tml_vulkan_features",
        /* without a pointer, or with places for results alone */
        "tml_mip_level", "tml_type_size", "tml_type_name"};
    static char text[1 << 16];
    test_read_text(header, text, sizeof text);
    uint32_t functions = 0;
    for (const char *at = text; (at = strstr(at, "\nTML_API ")); functions++) {
        at += strcspn(at, "("); /* the name ends here */
        const char *first = at;
        while (first > text && (first[-1] == '_' || (first[-1] >= 'a' && first[-1] <= 'z')))
            first--;
        bool found = false;
        for (size_t i = 0; i < COUNT_OF(names) && !found; i++)
            found = strlen(names[i]) == (size_t)(at - first) &&
                    strncmp(names[i], first, (size_t)(at - first)) == 0;
        if (!found)
            test_fail(__FILE__, __LINE__, "%s: %.*s is not called with NULL", header,
                      (int)(at - first), first);
    }
    CHECK(functions > 0);
}

TEST(no_function_is_left_out)
{
    check_header(TML_SOURCE_ROOT "/include/trommel/core.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/extend.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/stream.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/field.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/image.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/mesh.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/surface.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/labels.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/tree.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/collide.h");
    check_header(TML_SOURCE_ROOT "/include/trommel/subdivide.h");
#ifdef TML_GL
    check_header(TML_SOURCE_ROOT "/include/trommel/gl.h");
#endif
#ifdef TML_VULKAN
    check_header(TML_SOURCE_ROOT "/include/trommel/vulkan.h");
#endif
}

/* ---- a second thread ------------------------------------------------------------------------- */

/* Workers that stop in a loop until they are let go. */
typedef struct gate {
    sem_t arrived, go;
    bool is_closed;
} gate;

static void run_behind_gate(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    gate *g = user;
    if (g->is_closed) {
        g->is_closed = false;
        sem_post(&g->arrived);
        while (sem_wait(&g->go) != 0)
            ;
    }
    for (uint32_t i = 0; i < count; i++)
        task(argument, i);
}

typedef struct crossing {
    tml_context *tml;
    tml_buffer in, out;
    tml_status status;
} crossing;

static void *scan_slowly(void *argument)
{
    crossing *c = argument;
    c->status = tml_scan(c->tml, &(tml_scan_desc){.in = c->in, .out = c->out});
    return NULL;
}

TEST(a_second_thread_is_told_whom_it_meets)
{
    enum { COUNT = 100000 };
    static uint32_t ones[COUNT], sums[COUNT];
    gate g = {.is_closed = false};
    sem_init(&g.arrived, 0, 0);
    sem_init(&g.go, 0, 0);
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .parallel = {run_behind_gate, 2, &g}},
                            &tml));
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    crossing c = {.tml = tml,
                  .in = buffer_of(tml, TML_U32, COUNT, ones),
                  .out = buffer_of(tml, TML_U32, COUNT, NULL)};
    tml_buffer kept = buffer_of(tml, TML_U32, 1, ones);
    CHECK_STATUS(tml_buffer_read(tml, none, sums), TML_ERROR_INVALID_HANDLE);

    g.is_closed = true;
    pthread_t thread;
    pthread_create(&thread, NULL, scan_slowly, &c);
    while (sem_wait(&g.arrived) != 0)
        ;
    CHECK_STATUS(tml_reduce(tml, &(tml_reduce_desc){.in = c.in, .folds = {{TML_FOLD_SUM, c.out}}}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "tml_reduce: another thread is in tml_scan"));
    CHECK_STATUS(tml_buffer_read(tml, kept, sums), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "tml_buffer_read: another thread is in tml_scan"));
    tml_buffer_destroy(tml, kept);
    CHECK(strstr(tml_last_error(tml), "tml_buffer_destroy: another thread"));
    tml_close(tml); /* while a thread is in it: refused */
    CHECK(strstr(tml_last_error(tml), "tml_close: another thread"));
    _Atomic uint32_t sum = 0;
    tml_parallel_for(tml, 4, count_task, &sum);
    CHECK_EQ_U64(sum, 10);
    CHECK(tml_concurrency(tml) == 2 && !tml_is_cancelled(tml));

    sem_post(&g.go);
    pthread_join(thread, NULL);
    CHECK_OK(tml, c.status);
    CHECK_OK(tml, tml_buffer_read(tml, c.out, sums)); /* now it is this thread's turn */
    CHECK_EQ_U64(sums[COUNT - 1], COUNT - 1);
    CHECK(tml_buffer_describe(tml, kept, NULL, NULL));
    tml_close(tml);
    sem_destroy(&g.go);
    sem_destroy(&g.arrived);
}

/* ---- fork ------------------------------------------------------------------------------------ */

#ifndef _WIN32
#    if defined(TML_EMULATED) || defined(TML_SANITIZED)
/* By qemu the child of a process with threads can start none. In a child, a sanitizer's allocator
 * may stay locked by a thread of the parent, and threads that start need it. */
enum { CHILD_THREADS = 1 };
#    else
enum { CHILD_THREADS = 3 };
#    endif

/* In the child: 0 when the context is refused, left alone by tml_close, and a new one works. */
static int use_after_fork(tml_context *tml, tml_buffer in, tml_buffer out)
{
    uint32_t words[4];
    _Atomic uint32_t sum = 0;
    if (tml_scan(tml, &(tml_scan_desc){.in = in, .out = out}) != TML_ERROR_INVALID_ARGUMENT)
        return 1;
    if (!strstr(tml_last_error(tml), "tml_scan: this process was forked"))
        return 2;
    if (tml_buffer_read(tml, in, words) != TML_ERROR_INVALID_ARGUMENT)
        return 3;
    tml_buffer_destroy(tml, in);
    tml_parallel_for(tml, 4, count_task, &sum);
    tml_close(tml);
    if (sum != 10)
        return 4;
    tml_context *own;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = CHILD_THREADS}, &own) !=
        TML_OK)
        return 5;
    tml_parallel_for(own, 4, count_task, &sum);
    tml_close(own);
    return sum == 20 ? 0 : 6;
}

static void check_fork(tml_context *tml, const tml_device_info *info)
{
    (void)info;
    uint32_t words[4] = {1, 1, 1, 1};
    tml_buffer in = buffer_of(tml, TML_U32, 4, words), out = buffer_of(tml, TML_U32, 4, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(120); /* a child that hangs ends by a signal */
        _exit(use_after_fork(tml, in, out));
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_EQ_U64(WEXITSTATUS(status), 0);
    if (CHECK_OK(tml,
                 tml_scan(tml, &(tml_scan_desc){.in = in, .out = out}))) /* the parent's still */
        CHECK_OK(tml, tml_buffer_read(tml, out, words));
    CHECK_EQ_U64(words[3], 3);
}

TEST(a_forked_process_is_refused)
{
    on_every_device(check_fork);
}
#endif

/* ---- hooks ----------------------------------------------------------------------------------- */

/* A hook that calls back, and what it was told. */
typedef struct caller_back {
    tml_context *tml;
    tml_buffer buffer;
    uint32_t calls, refused;
    char message[768];
} caller_back;

static void call_back(caller_back *c)
{
    uint32_t word;
    if (!c->tml)
        return;
    c->calls++;
    c->refused +=
        tml_buffer_read_range(c->tml, c->buffer, 0, 1, &word) == TML_ERROR_INVALID_ARGUMENT;
    snprintf(c->message, sizeof c->message, "%s", tml_last_error(c->tml));
    c->refused -= !tml_buffer_describe(c->tml, c->buffer, NULL, NULL); /* may look */
}

static void log_back(void *user, tml_log_level level, const char *message)
{
    (void)level;
    (void)message;
    call_back(user);
}

static bool progress_back(void *user, const char *stage, double fraction)
{
    (void)stage;
    (void)fraction;
    call_back(user);
    return true;
}

static void *alloc_back(void *user, size_t size, size_t alignment)
{
    call_back(user);
    return tml_platform_alloc(size, alignment);
}

static void free_back(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    tml_platform_free(memory);
}

TEST(hooks_that_call_back_are_refused)
{
    uint32_t word = 7;
    caller_back log = {0}, memory = {0};
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .allocator = {alloc_back, free_back, &memory},
                                             .log = log_back,
                                             .log_user = &log},
                            &tml));
    log.buffer = memory.buffer = buffer_of(tml, TML_U32, 1, &word);
    log.tml = memory.tml = tml;

    CHECK_STATUS(tml_scan(tml, &(tml_scan_desc){.in = none}), TML_ERROR_INVALID_HANDLE);
    CHECK(log.calls == 1 && log.refused == 1);
    CHECK(strstr(log.message, "tml_buffer_read_range: called by a hook of tml_scan"));
    CHECK(
        strstr(tml_last_error(tml), "tml_scan: desc.in is no buffer")); /* the outer call's still */

    CHECK_OK(tml, tml_reserve(tml, 12345));
    CHECK(memory.calls == 1 && memory.refused == 1);
    CHECK(strstr(memory.message, "tml_buffer_read_range: called by a hook of tml_reserve"));
    CHECK_OK(tml, tml_buffer_read(tml, memory.buffer, &word));
    CHECK_EQ_U64(word, 7);
    log.tml = memory.tml = NULL;
    tml_close(tml);
}

static tml_status extract(tml_context *tml, tml_buffer volume);

TEST(progress_hooks_that_call_back_are_refused)
{
    static uint8_t samples[16 * 16 * 16];
    samples[2184] = 9;
    caller_back back = {0};
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .progress = progress_back,
                                             .progress_user = &back},
                            &tml));
    back.buffer = buffer_of(tml, TML_U8, sizeof samples, samples);
    back.tml = tml;
    CHECK_OK(tml, extract(tml, back.buffer));
    CHECK(back.calls > 0 && back.refused == back.calls);
    CHECK(strstr(back.message, "tml_buffer_read_range: called by a hook of tml_surface"));
    tml_close(tml);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

/* Says no at one report of all. */
typedef struct watcher {
    uint32_t calls, refuse_at;
} watcher;

static bool watch(void *user, const char *stage, double fraction)
{
    watcher *w = user;
    (void)stage;
    (void)fraction;
    return ++w->calls != w->refuse_at;
}

static tml_status extract(tml_context *tml, tml_buffer volume)
{
    tml_surface_result mesh;
    tml_status status = tml_surface(
        tml, &(tml_surface_desc){.volume = volume, .grid.dims = {16, 16, 16}, .iso = 5}, &mesh);
    if (status == TML_OK) {
        CHECK_EQ_U64(mesh.triangle_count, 8);
        tml_surface_free(tml, &mesh);
    }
    return status;
}

static tml_context *open_watched(const tml_device_info *info, watcher *w)
{
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = info->engine,
                                             .device = info->name,
                                             .threads = 2,
                                             .progress = watch,
                                             .progress_user = w},
                            &tml));
    return tml;
}

static void check_cancelling(tml_context *ignored, const tml_device_info *info)
{
    (void)ignored;
    static uint8_t samples[16 * 16 * 16];
    samples[2184] = 9; /* in the middle: an octahedron */
    watcher w = {0};
    tml_context *tml = open_watched(info, &w);
    tml_buffer volume = buffer_of(tml, TML_U8, sizeof samples, samples);
    tml_buffer sum = buffer_of(tml, TML_U64, 1, NULL);
    CHECK_OK(tml, extract(tml, volume));
    const uint32_t reports = w.calls;
    CHECK(reports > 0);
    for (uint32_t at = 1; at <= reports; at++) {
        w.calls = 0;
        w.refuse_at = at;
        CHECK_STATUS(extract(tml, volume), TML_ERROR_CANCELLED);
        CHECK(tml_last_error(tml)[0] != '\0');
        CHECK(!tml_is_cancelled(tml));
        w.refuse_at = 0;
        CHECK_OK(tml,
                 tml_reduce(tml, &(tml_reduce_desc){.in = volume, .folds = {{TML_FOLD_SUM, sum}}}));
    }
    CHECK_OK(tml, extract(tml, volume));

    tml_cancel(tml); /* from outside: until it is cleared */
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(
            tml_reduce(tml, &(tml_reduce_desc){.in = volume, .folds = {{TML_FOLD_SUM, sum}}}),
            TML_ERROR_CANCELLED);
        CHECK(strstr(tml_last_error(tml), "tml_cancel_clear") && tml_is_cancelled(tml));
    }
    tml_cancel_clear(tml);
    CHECK_OK(tml, extract(tml, volume));
    tml_close(tml);
}

TEST(a_hook_cancels_its_call_and_no_other)
{
    on_every_device(check_cancelling);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Engines that stand before the CPU's and open as they are told. */
static tml_status fake_status[2];
static uint32_t fake_opened[2];
static bool fake_yields_now;

static uint32_t fake_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    (void)desc;
    if (capacity > 0)
        *out = (tml_device_info){.engine = TML_ENGINE_VULKAN, .name = "fake GPU"};
    return 1;
}

static uint32_t fake_gl_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    uint32_t count = fake_devices(desc, out, capacity);
    if (capacity > 0) {
        out->engine = TML_ENGINE_GL;
        snprintf(out->name, sizeof out->name, "fake ES 2");
    }
    return count;
}

static tml_status fake_open(tml_context *tml, const tml_open_desc *desc)
{
    int which = tml->device.engine == TML_ENGINE_GL;
    (void)desc;
    fake_opened[which]++;
    return fake_status[which] == TML_OK
               ? TML_OK
               : tml_error(tml, fake_status[which], "tml_open: %s fails so", tml->device.name);
}

static bool fake_yields(const tml_open_desc *desc)
{
    (void)desc;
    return fake_yields_now;
}

static void count_lines(void *user, tml_log_level level, const char *message)
{
    (void)level;
    char *all = user;
    size_t used = strlen(all);
    snprintf(all + used, 4096 - used, "%s\n", message);
}

/* Opens among the two and the CPU, and says what came: its name, or the status. */
static const char *open_fakes(tml_status gpu, tml_status gl, tml_open_desc desc, char log[4096])
{
    tml_engine vulkan = tml_cpu_engine, opengl = tml_cpu_engine;
    vulkan.kind = TML_ENGINE_VULKAN;
    vulkan.devices = fake_devices;
    vulkan.open = fake_open;
    opengl.kind = TML_ENGINE_GL;
    opengl.devices = fake_gl_devices;
    opengl.open = fake_open;
    opengl.yields = fake_yields;
    const tml_engine *const engines[] = {&vulkan, &opengl, &tml_cpu_engine, NULL};
    static tml_device_info info;
    tml_context *tml = NULL;
    fake_status[0] = gpu;
    fake_status[1] = gl;
    fake_opened[0] = fake_opened[1] = 0;
    log[0] = '\0';
    desc.log = count_lines;
    desc.log_user = log;
    tml_status status = tml_open_among(engines, &desc, NULL, &tml);
    CHECK((status == TML_OK) == (tml != NULL));
    if (status != TML_OK)
        return tml_status_name(status);
    tml_context_describe(tml, &info);
    tml_close(tml);
    return info.engine == TML_ENGINE_CPU ? "CPU" : info.name;
}

TEST(auto_takes_the_first_device_that_opens_and_can_do_all)
{
    static char log[4096];
    const tml_open_desc any = {.threads = 1};
    CHECK_STR(open_fakes(TML_OK, TML_OK, any, log), "fake GPU");
    CHECK_STR(open_fakes(TML_ERROR_NO_DEVICE, TML_OK, any, log), "fake ES 2");
    CHECK(strstr(log, "fake GPU fails so") && strstr(log, "goes on to fake ES 2"));
    CHECK_STR(open_fakes(TML_ERROR_OUT_OF_DEVICE_MEMORY, TML_ERROR_DEVICE_LOST, any, log), "CPU");
    CHECK(strstr(log, "fake ES 2 fails so"));
    CHECK_STR(open_fakes(TML_ERROR_UNSUPPORTED, TML_ERROR_NO_DEVICE, any, log), "CPU");

    /* Not where another device would do no better. */
    CHECK_STR(open_fakes(TML_ERROR_OUT_OF_MEMORY, TML_OK, any, log), "OUT_OF_MEMORY");
    CHECK_STR(tml_last_error(NULL), "tml_open: fake GPU fails so");
    CHECK_EQ_U64(fake_opened[1], 0);
    CHECK_STR(open_fakes(TML_ERROR_INVALID_ARGUMENT, TML_OK, any, log), "INVALID_ARGUMENT");

    /* Nor where this one was asked for. */
    tml_open_desc asked = {.engine = TML_ENGINE_VULKAN};
    CHECK_STR(open_fakes(TML_ERROR_NO_DEVICE, TML_OK, asked, log), "NO_DEVICE");
    asked = (tml_open_desc){.device = "fake GPU"};
    CHECK_STR(open_fakes(TML_ERROR_DEVICE_LOST, TML_OK, asked, log), "DEVICE_LOST");
    CHECK_STR(tml_last_error(NULL), "tml_open: fake GPU fails so");

    /* One that does less than the CPU stands behind it, unless it was asked for. */
    fake_yields_now = true;
    CHECK_STR(open_fakes(TML_ERROR_NO_DEVICE, TML_OK, any, log), "CPU");
    CHECK(strstr(log, "passes fake ES 2 over") && fake_opened[1] == 1);
    asked = (tml_open_desc){.engine = TML_ENGINE_GL};
    CHECK_STR(open_fakes(TML_OK, TML_OK, asked, log), "fake ES 2");
    asked = (tml_open_desc){.device = "ES 2"};
    CHECK_STR(open_fakes(TML_OK, TML_OK, asked, log), "fake ES 2");
    fake_yields_now = false;
}

static void *open_badly(void *out)
{
    tml_context *tml;
    CHECK_STR(tml_last_error(NULL), ""); /* nothing failed on this thread yet */
    CHECK_STATUS(tml_open(&(tml_open_desc){.engine = (tml_engine_kind)42}, &tml),
                 TML_ERROR_INVALID_ARGUMENT);
    snprintf(out, 768, "%s", tml_last_error(NULL));
    return NULL;
}

TEST(a_failed_open_says_why_without_a_hook)
{
    tml_context *tml = NULL;
    char message[768];
    const tml_allocator half = {.alloc = alloc_back};
    CHECK_STATUS(tml_open(&(tml_open_desc){.allocator = half}, &tml), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(NULL), "desc.allocator"));
    CHECK_STATUS(tml_open(&(tml_open_desc){.device = "no such device"}, &tml), TML_ERROR_NO_DEVICE);
    CHECK(strstr(tml_last_error(NULL), "no such device"));
    pthread_t thread;
    pthread_create(&thread, NULL, open_badly, message);
    pthread_join(thread, NULL);
    CHECK(strstr(message, "desc.engine is 42"));
    CHECK(strstr(tml_last_error(NULL), "no such device")); /* this thread's still */

    tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = TML_MAX_THREADS + 1};
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(NULL), "desc.threads is 1025, needs at most 1024"));
    desc = (tml_open_desc){.engine = TML_ENGINE_CPU, .scratch_size = SIZE_MAX / 4 * 3};
    CHECK_STATUS(tml_open(&desc, &tml), TML_ERROR_OUT_OF_MEMORY);
    CHECK(strstr(tml_last_error(NULL), "scratch"));
    CHECK(tml == NULL);
    desc.scratch_size = 0;
    CHECK_OK(NULL, tml_open(&desc, &tml));
    CHECK_STR(tml_last_error(tml), ""); /* a context's own */
    tml_close(tml);
}

/* ---- buffers --------------------------------------------------------------------------------- */

TEST(messages_name_labels)
{
    tml_context *tml = open_cpu(1);
    tml_buffer flags = none, plain = buffer_of(tml, TML_U8, 4, NULL);
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_U8, .count = 4, .label = "alive particles"},
                 &flags));
    uint8_t bytes[8];
    CHECK_STATUS(tml_scan(tml, &(tml_scan_desc){.in = flags, .out = flags}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "out \"alive particles\" has elements of u8"));
    CHECK_STATUS(
        tml_compact(tml, &(tml_compact_desc){.keep.flags = flags, .payloads = {{plain, flags}}}),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml),
                 "desc.payloads[0].out \"alive particles\" overlaps desc.keep.flags \"alive"));
    CHECK_STATUS(tml_buffer_read_range(tml, flags, 3, 2, bytes), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "outside buffer \"alive particles\"'s 4"));
    CHECK_STATUS(tml_buffer_read_range(tml, plain, 3, 2, bytes), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "outside buffer's 4"));
    fill_addresses(tml);
    const tml_buffer_desc huge = {.type = TML_U8, .count = PTRDIFF_MAX / 2};
    CHECK_STATUS(tml_buffer_create(tml, &huge, &flags), TML_ERROR_OUT_OF_MEMORY);
    CHECK(!strchr(tml_last_error(tml), '('));
    tml_close(tml);
}

static void check_lending(tml_context *tml, const tml_device_info *info)
{
    float mine[4] = {1, 2, 3, 4};
    const float other[4] = {9, 9, 9, 9};
    tml_buffer buffer = none;
    tml_buffer_desc desc = {.type = TML_F32, .count = 4, .host = mine, .data = other};
    CHECK_STATUS(tml_buffer_create(tml, &desc, &buffer), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.host and desc.data"));
    CHECK(tml_buffer_is_none(buffer) && mine[0] == 1.0f);
    if (info->engine != TML_ENGINE_CPU)
        return;
    /* What other engines would take is not left out in silence. Its contents are not looked at. */
    desc = (tml_buffer_desc){.type = TML_F32, .count = 4, .gl = (const struct tml_gl_memory *)mine};
    CHECK_STATUS(tml_buffer_create(tml, &desc, &buffer), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "desc.gl"));
}

TEST(lent_memory_is_one_thing_or_another)
{
    on_every_device(check_lending);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
