/* What every public call promises alike, as tables over all of them: buffers that overlap are refused. */
#include "test.h"

#include "contexts.h"

#include <stddef.h>

#include <trommel/trommel.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, add_one, (uint x), { return x + 1u; })
TML_KERNEL(bool, is_odd, (uint x), { return (x & 1u) == 1u; })
TML_KERNEL(uint, one_or_two, (uint x), { return (x & 1u) + 1u; })
TML_KERNEL(uint, emitted, (uint x, tml_rank k), { return x + U(k); })
#include <trommel/kernel_end.h>

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

/* A block of the host's memory for each buffer of a call, with room for the largest view of another. */
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
    tml_scan_desc scan;
    tml_compact_desc compact;
    tml_expand_desc expand;
    tml_unique_desc unique;
    tml_reduce_segments_desc reduce_segments;
    tml_scan_segments_desc scan_segments;
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
RUN(map_stream, map)
RUN(reduce, reduce)
RUN(scan, scan)
RUN(compact, compact)
RUN(partition, compact)
RUN(expand, expand)
RUN(unique, unique)
RUN(reduce_segments, reduce_segments)
RUN(scan_segments, scan_segments)

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
     run_map_stream,
     {{0}},
     {IN(map.in[0], "in", U32, ELEMENTS, "out"),
      IN(map.length.device, "length.device", U32, 1, NULL), OUT(map.out, "out", U32, ELEMENTS)}},
    {"reduce",
     run_reduce,
     {{0}},
     {IN(reduce.in, "in", U8, ELEMENTS, NULL),
      IN(reduce.length.device, "length.device", U64, 1, NULL), OUT(reduce.out, "out", U64, 1),
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
     {IN(compact.payloads[0].in, "payload's in", U32, ELEMENTS, "payloads[0].out"),
      IN(compact.payloads[1].in, "payload's in", U32, ELEMENTS, "payloads[1].out"),
      IN(compact.keep.in[0], "keep.in", U32, ELEMENTS, NULL),
      IN(compact.length.device, "length.device", U32, 1, "count"),
      OUT(compact.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(compact.payloads[1].out, "payloads[1].out", U32, ELEMENTS),
      OUT(compact.indices, "indices", U32, ELEMENTS), OUT(compact.count, "count", U32, 1),
      OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"compact by flags",
     run_compact,
     {{0}},
     {IN(compact.payloads[0].in, "payload's in", U8, ELEMENTS, "payloads[0].out"),
      IN(compact.keep.flags, "keep.flags", U8, ELEMENTS, NULL),
      OUT(compact.payloads[0].out, "payloads[0].out", U8, ELEMENTS),
      OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"compact by a mask",
     run_compact,
     {{0}},
     {IN(compact.payloads[0].in, "payload's in", U32, ELEMENTS, "payloads[0].out"),
      IN(compact.keep.mask, "keep.mask", U32, ELEMENTS, NULL),
      OUT(compact.payloads[0].out, "payloads[0].out", U32, ELEMENTS),
      OUT(compact.count, "count", U32, 1), OUT(compact.scratch, "scratch", U8, SCRATCH)}},
    {"partition",
     run_partition,
     {{0}},
     {IN(compact.payloads[0].in, "payload's in", U8, ELEMENTS, NULL),
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
      OUT(expand.out, "out", U32, ELEMENTS), OUT(expand.total, "total", U32, 1),
      OUT(expand.scratch, "scratch", U8, SCRATCH)}},
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
     run_reduce_segments,
     {.reduce_segments.fold = TML_MAX},
     {IN(reduce_segments.in, "in", U32, ELEMENTS, NULL),
      IN(reduce_segments.offsets, "offsets", U32, ELEMENTS, NULL),
      OUT(reduce_segments.out, "out", U32, ELEMENTS),
      OUT(reduce_segments.scratch, "scratch", U8, SCRATCH)}},
    {"scan_segments",
     run_scan_segments,
     {{0}},
     {IN(scan_segments.in, "in", U32, ELEMENTS, "out"),
      IN(scan_segments.offsets, "offsets", U32, ELEMENTS, NULL),
      OUT(scan_segments.out, "out", U32, ELEMENTS),
      OUT(scan_segments.scratch, "scratch", U8, SCRATCH)}},
};

static tml_buffer *buffer_in(any_desc *desc, const field *f)
{
    return (tml_buffer *)((char *)desc + f->offset);
}

/* Each output of an operation takes the place of each other buffer: the very same one, and, where the
 * engine takes memory of the host's, also eight bytes on. */
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
        if (allowed ? status != TML_OK : status != TML_INVALID_ARGUMENT)
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
    unsigned char *memory = NULL;
    if (is_host && !CHECK(posix_memalign((void **)&memory, 64, (size_t)BLOCKS * BLOCK) == 0))
        return;
    operations[0].desc.map.kernel = TML_USE(add_one);
    operations[3].desc.compact.keep.kernel = TML_USE(is_odd);
    operations[7].desc.expand.emit_kernel = TML_USE(emitted);
    operations[8].desc.expand.count_kernel = TML_USE(one_or_two);
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
                CHECK_OK(tml, tml_write(tml, *buffer_in(&base, f), 0, f->count, rising));
        }
        tml_status status = op->run(tml, &base);
        if (status == TML_UNSUPPORTED)
            continue;
        if (status != TML_OK)
            test_fail(__FILE__, __LINE__, "%s: %s", op->name, tml_last_error(tml));
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                if (i != j && op->fields[i].is_written)
                    check_pair(tml, op, &base, &op->fields[i], &op->fields[j],
                               memory ? memory + (size_t)j * BLOCK : NULL);
    }
    free(memory);
}

TEST(an_output_over_another_buffer_of_the_call_is_refused)
{
    on_every_device(check_overlaps);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
