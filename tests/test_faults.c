/* What the operations and programs do when memory, a device or the caller's patience ends, at any
 * moment: see faults.h. Files are in test_fault_files.c. */
#include "test.h"

#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "faults.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include <trommel/kernel_begin.h>

TML_KERNEL(uint, changed, (uint x), { return x * 3u + 1u; })
TML_KERNEL(bool, is_picked, (uint x), { return (x & 3u) == 1u; })
TML_KERNEL(uint, how_many, (uint x), { return x & 1u; })
TML_KERNEL_OUTS((uint sum, float rank), made_of, (uint x, tml_index s, tml_rank k), {
    made_of_out o;
    o.sum = x + U(s) + U(k);
    o.rank = F(U(k));
    return o;
})
TML_KERNEL(float, halved, (float x), { return x * 0.5f + 1.0f; })
TML_KERNEL(bool, is_high, (float x), { return x > 60.0f; })
TML_KERNEL(uint, few, (float x), { return x > 100.0f ? 2u : 0u; })
TML_KERNEL(float, spread, (float x, tml_rank k), { return x + F(k); })

#include <trommel/kernel_end.h>

enum {
    ON_CPU = 1,
    ON_VULKAN = 2,
    ON_GL = 4,
    ON_FLOAT = 8, /* the tier of OpenGL ES without integers */
    ON_ALL = ON_CPU | ON_VULKAN | ON_GL,
};

/* ---- inputs ---------------------------------------------------------------------------------- */

static const tml_type vec3_type = TML_VEC(TML_F32, 3), triangle_type = TML_VEC(TML_U32, 3);

/* Two lengths, so that what the context keeps has to grow. */
static uint64_t length_of(const fault_run *r, int which)
{
    return which == 0 ? 700 : r->config->stream_size;
}

static tml_buffer numbers_of(fault_run *r, uint64_t count, uint32_t shift)
{
    uint32_t *numbers = malloc(count * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)i * 2654435761u >> shift;
    tml_buffer buffer = fault_buffer(r, TML_U32, count, numbers);
    free(numbers);
    return buffer;
}

static tml_buffer floats_of(fault_run *r, uint64_t count)
{
    float *numbers = malloc(count * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = (float)((uint32_t)i * 2654435761u >> 25);
    tml_buffer buffer = fault_buffer(r, TML_F32, count, numbers);
    free(numbers);
    return buffer;
}

static tml_buffer bytes_of(fault_run *r, uint64_t count, uint32_t modulus)
{
    uint8_t *bytes = malloc(count);
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(((uint32_t)i * 2654435761u >> 16) % modulus);
    tml_buffer buffer = fault_buffer(r, TML_U8, count, bytes);
    free(bytes);
    return buffer;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void run_buffers(fault_run *r)
{
    uint32_t here[100] = {1, 2, 3}, back[100] = {0};
    tml_buffer a = numbers_of(r, 5000, 3), many[70], lent = {0, 0};
    for (int i = 0; i < 70; i++) /* more than a page of slots */
        many[i] = fault_buffer(r, TML_U16, 100 + i, NULL);
    if (r->status == TML_OK) {
        tml_buffer_destroy(r->tml, many[3]);
        tml_buffer_destroy(r->tml, many[69]);
    }
    FAULT_DO(r, tml_reserve(r->tml, 10000));
    FAULT_DO(r, tml_buffer_write(r->tml, a, 10, 100, here));
    FAULT_DO(r, tml_reserve(r->tml, 300000));
    FAULT_DO(r, tml_buffer_read_range(r->tml, a, 5, 100, back));
    fault_hash(r, back, sizeof back);
    uint64_t count = 0;
    tml_buffer one = fault_buffer(r, TML_U64, 1, &(uint64_t){77});
    FAULT_DO(r, tml_buffer_read_count(r->tml, one, &count));
    fault_hash(r, &count, sizeof count);
    tml_read reading = {0, 0};
    bool is_done = false;
    FAULT_DO(r, tml_buffer_read_begin(r->tml, a, 7, 100, &reading));
    FAULT_DO(r, tml_sync(r->tml)); /* one poll, not as many as it takes */
    FAULT_DO(r, tml_buffer_read_poll(r->tml, reading, back, &is_done));
    fault_hash(r, back, sizeof back);
    void *mapped = NULL;
    FAULT_DO(r, tml_buffer_map(r->tml, a, &mapped));
    if (r->status == TML_OK) {
        fault_hash(r, mapped, 5000 * sizeof(uint32_t));
        tml_buffer_unmap(r->tml, a);
    }
    FAULT_DO(r, tml_buffer_create(r->tml,
                                  &(tml_buffer_desc){.type = TML_U32, .count = 100, .host = here},
                                  &lent));
    fault_keep(r, lent);
    fault_take(r, lent, 100);
    FAULT_DO(r, tml_sync(r->tml));
}

/* ---- streams --------------------------------------------------------------------------------- */

static void run_map(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 5), out = fault_output_of(r, TML_U32, n);
        FAULT_STREAM(r, tml_map(r->tml, &(tml_map_desc){
                                            .kernel = TML_USE(changed), .in = {in}, .out = {out}}));
        fault_take(r, out, n);
    }
}

static void run_reduce(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 5), floats = floats_of(r, n),
                   sum = fault_output_of(r, TML_U64, 1);
        FAULT_STREAM(
            r, tml_reduce(r->tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_SUM, sum}}}));
        tml_buffer place = fault_output_of(r, TML_U32, 1);
        FAULT_STREAM(r, tml_reduce(r->tml, &(tml_reduce_desc){
                                               .in = in, .folds = {{TML_FOLD_ARGMAX, place}}}));
        tml_buffer mean = fault_output_of(r, TML_F32, 1);
        FAULT_STREAM(r, tml_reduce(r->tml, &(tml_reduce_desc){.in = floats,
                                                              .folds = {{TML_FOLD_MEAN, mean}}}));
        tml_buffer least = fault_output_of(r, TML_F32, 1), most = fault_output_of(r, TML_F32, 1);
        const tml_reduce_desc both = {.in = floats,
                                      .folds = {{TML_FOLD_MIN, least}, {TML_FOLD_MAX, most}}};
        FAULT_STREAM(r, tml_reduce(r->tml, &both));
        tml_buffer points = fault_output_of(r, TML_VEC(TML_F32, 3), n),
                   corner = fault_output_of(r, TML_VEC(TML_F32, 3), 1);
        FAULT_STREAM(r, tml_reduce(r->tml, &(tml_reduce_desc){.in = points,
                                                              .folds = {{TML_FOLD_MAX, corner}}}));
        fault_take(r, least, 1);
        fault_take(r, most, 1);
        fault_take(r, sum, 1);
        fault_take(r, place, 1);
        fault_take(r, mean, 1);
        fault_take(r, corner, 1);
    }
}

static void run_histogram(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 24), out = fault_output_of(r, TML_U32, 256);
        FAULT_STREAM(r, tml_histogram(r->tml, &(tml_histogram_desc){.in = {in}, .out = out}));
        tml_buffer changes = fault_output_of(r, TML_U32, 1000);
        FAULT_STREAM(r, tml_histogram(r->tml, &(tml_histogram_desc){.kernel = TML_USE(changed),
                                                                    .in = {in},
                                                                    .out = changes}));
        fault_take(r, out, 256);
        fault_take(r, changes, 1000);
        tml_buffer values = floats_of(r, n), sums = fault_output_of(r, TML_F32, 3000);
        FAULT_STREAM(r, tml_histogram(r->tml, &(tml_histogram_desc){.in = {values},
                                                                    .lower = -1,
                                                                    .upper = 1,
                                                                    .weights = values,
                                                                    .out = sums}));
        fault_take(r, sums, 3000);
    }
}

static void run_sort(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer keys = numbers_of(r, n, 5), values = floats_of(r, n);
        tml_buffer sorted = fault_output_of(r, TML_U32, n), places = fault_output_of(r, TML_U32, n);
        FAULT_STREAM(r, tml_sort(r->tml, &(tml_sort_desc){.keys = keys,
                                                          .sorted = sorted,
                                                          .payloads = {{values, values}},
                                                          .indices = places}));
        fault_take(r, sorted, n);
        fault_take(r, values, n);
        fault_take(r, places, n);
    }
}

static void run_sort_segments(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer keys = numbers_of(r, n, 5), values = floats_of(r, n);
        tml_buffer offsets = fault_buffer(r, TML_U32, 3, (uint32_t[]){3, 9, (uint32_t)n});
        tml_buffer places = fault_output_of(r, TML_U32, n);
        FAULT_STREAM(r, tml_sort(r->tml, &(tml_sort_desc){.keys = keys,
                                                          .segments.offsets = offsets,
                                                          .sorted = keys,
                                                          .payloads = {{values, values}},
                                                          .indices = places}));
        fault_take(r, keys, n);
        fault_take(r, values, n);
        fault_take(r, places, n);
    }
}

static void run_gather(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer indices = numbers_of(r, n, 14), values = floats_of(r, n);
        tml_buffer out = fault_output_of(r, TML_F32, n), bytes = fault_output_of(r, TML_U8, n);
        tml_buffer narrow = bytes_of(r, n, 200);
        FAULT_STREAM(r, tml_gather(r->tml, &(tml_gather_desc){
                                               .indices = indices,
                                               .payloads = {{values, out}, {narrow, bytes}}}));
        tml_buffer one = numbers_of(r, 1, 14), there = fault_output_of(r, TML_F32, 5000);
        FAULT_STREAM(r, tml_scatter(r->tml, &(tml_gather_desc){.indices = one,
                                                               .payloads = {{values, there}}}));
        fault_take(r, out, n);
        fault_take(r, bytes, n);
        fault_take(r, there, 5000);
    }
}

static void run_search(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        uint32_t rising[300];
        for (uint32_t k = 0; k < 300; k++)
            rising[k] = k * 7;
        tml_buffer sorted = fault_buffer(r, TML_U32, 300, rising), queries = numbers_of(r, n, 20);
        tml_buffer out = fault_output_of(r, TML_U32, n);
        FAULT_STREAM(r, tml_search(r->tml, &(tml_search_desc){
                                               .sorted = sorted, .queries = queries, .out = out}));
        fault_take(r, out, n);
    }
}

/* By indices alone, so that all else that the steps need is temporary. */
static void run_top_k(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i), k = n / 3;
        tml_buffer keys = numbers_of(r, n, 21), wanted = fault_buffer(r, TML_U64, 1, &k);
        tml_buffer bytes = bytes_of(r, n, 22), moved = fault_output_of(r, TML_U8, n / 2);
        tml_buffer few = fault_output_of(r, TML_U32, 9);
        FAULT_STREAM(r, tml_top_k(r->tml, &(tml_top_k_desc){.keys = keys,
                                                            .k = {.device = wanted},
                                                            .payloads = {{bytes, moved}}}));
        FAULT_STREAM(r, tml_top_k(r->tml, &(tml_top_k_desc){.keys = keys, .indices = few}));
        fault_take(r, moved, k);
        fault_take(r, few, n < 9 ? n : 9);
    }
}

static void run_reduce_by_key(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer keys = bytes_of(r, n, 2), values = numbers_of(r, n, 5);
        tml_buffer out_keys = fault_output_of(r, TML_U8, n), out = fault_output_of(r, TML_U64, n);
        tml_buffer starts = fault_output_of(r, TML_U32, n), count = fault_output_of(r, TML_U32, 1);
        FAULT_STREAM(r, tml_unique(r->tml, &(tml_unique_desc){.in = keys,
                                                              .values = out_keys,
                                                              .starts = starts,
                                                              .count = count}));
        FAULT_STREAM(r,
                     tml_reduce(r->tml, &(tml_reduce_desc){.in = values,
                                                           .folds = {{TML_FOLD_SUM, out}},
                                                           .segments = {.starts = starts,
                                                                        .count.device = count}}));
        fault_take(r, count, 1);
        fault_take(r, out_keys, n);
        fault_take(r, starts, n);
        fault_take(r, out, n);
    }
}

/* Is the method one that the engine has? Where it is not, its own run takes AUTO. */
static tml_method method_of(const fault_run *r, tml_method method)
{
    bool on_gl = r->config->open.engine == TML_ENGINE_GL;
    bool has =
        method == TML_METHOD_LOOK_BACK || method == TML_METHOD_REDUCE_THEN_SCAN ? !on_gl : true;
    return has ? method : TML_METHOD_AUTO;
}

static void scan_by(fault_run *r, tml_method method)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 20), out = fault_output_of(r, TML_U32, n),
                   total = fault_output_of(r, TML_U32, 1), start = numbers_of(r, 1, 20);
        FAULT_STREAM(r, tml_scan(r->tml, &(tml_scan_desc){.in = in,
                                                          .out = out,
                                                          .total = total,
                                                          .fold = i ? TML_FOLD_MAX : TML_FOLD_SUM,
                                                          .start = start,
                                                          .inclusive = i == 1,
                                                          .method = method_of(r, method)}));
        fault_take(r, out, n);
        fault_take(r, total, 1);
    }
}

static void run_scan(fault_run *r)
{
    scan_by(r, TML_METHOD_AUTO);
}

static void run_scan_look_back(fault_run *r)
{
    scan_by(r, TML_METHOD_LOOK_BACK);
}

/* Compacts or, without a method's restrictions, partitions, by a kernel, by flags and by bits. */
static void compact_by(fault_run *r, tml_method method, bool partition)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 5), flags = bytes_of(r, n, 2),
                   kept = fault_output_of(r, TML_U32, n), indices = fault_output_of(r, TML_U32, n),
                   count = fault_output_of(r, TML_U32, 1);
        tml_compact_desc desc = {.payloads[0] = {in, kept},
                                 .method = partition ? method : method_of(r, method),
                                 .partition = partition,
                                 .indices = indices,
                                 .count = count};
        if (i == 0)
            desc.keep.flags = flags;
        else
            desc.keep = (tml_keep){.kernel = TML_USE(is_picked), .in = {in}};
        FAULT_STREAM(r, tml_compact(r->tml, &desc));
        fault_take(r, kept, n);
        fault_take(r, indices, n);
        fault_take(r, count, 1);
    }
}

static void run_compact(fault_run *r)
{
    compact_by(r, TML_METHOD_AUTO, false);
}

static void run_compact_look_back(fault_run *r)
{
    compact_by(r, TML_METHOD_LOOK_BACK, false);
}

static void run_compact_then_scan(fault_run *r)
{
    compact_by(r, TML_METHOD_REDUCE_THEN_SCAN, false);
}

static void run_compact_histopyramid(fault_run *r)
{
    compact_by(r, TML_METHOD_HISTOPYRAMID, false);
}

static void run_partition(fault_run *r)
{
    compact_by(r, TML_METHOD_AUTO, true);
}

static void expand_by(fault_run *r, tml_method method)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = numbers_of(r, n, 5), counts = bytes_of(r, n, 3), out,
                   total = fault_output_of(r, TML_U64, 1);
        tml_expand_desc desc = {.in = {in}, .method = method, .total = total};
        if (i == 0) {
            desc.counts = counts;
            out = desc.source = fault_output_of(r, TML_U32, 2 * n);
            desc.rank = fault_output_of(r, TML_U32, 2 * n);
        } else {
            desc.count_kernel = TML_USE(how_many);
            desc.emit_kernel = TML_USE(made_of);
            out = desc.out[0] = fault_output_of(r, TML_U32, n);
            desc.out[1] = fault_output_of(r, TML_F32, n);
        }
        FAULT_STREAM(r, tml_expand(r->tml, &desc));
        fault_take(r, out, n);
        fault_take(r, total, 1);
    }
}

static void run_expand(fault_run *r)
{
    expand_by(r, TML_METHOD_AUTO);
}

static void run_expand_histopyramid(fault_run *r)
{
    expand_by(r, TML_METHOD_HISTOPYRAMID);
}

static void run_unique(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = bytes_of(r, n, 2), values = fault_output_of(r, TML_U8, n),
                   starts = fault_output_of(r, TML_U32, n),
                   lengths = fault_output_of(r, TML_U32, n), count = fault_output_of(r, TML_U32, 1);
        FAULT_STREAM(r, tml_unique(r->tml, &(tml_unique_desc){.in = in,
                                                              .values = values,
                                                              .starts = starts,
                                                              .lengths = lengths,
                                                              .count = count}));
        fault_take(r, values, n);
        fault_take(r, starts, n);
        fault_take(r, lengths, n);
        fault_take(r, count, 1);
    }
}

/* Offsets of segments of 0 to 6 elements, the last of which has the rest. */
static tml_buffer segments_of(fault_run *r, uint64_t count, uint64_t segments)
{
    uint32_t *offsets = malloc((segments + 1) * sizeof *offsets), at = 0;
    for (uint64_t i = 0; i < segments; i++) {
        offsets[i] = at;
        at += (uint32_t)(i * 7919 % 7);
        at = at < count ? at : (uint32_t)count;
    }
    offsets[segments] = (uint32_t)count;
    tml_buffer buffer = fault_buffer(r, TML_U32, segments + 1, offsets);
    free(offsets);
    return buffer;
}

static void run_segments(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i), segments = n / 5;
        tml_buffer in = numbers_of(r, n, 20), offsets = segments_of(r, n, segments),
                   sums = fault_output_of(r, TML_U64, segments);
        FAULT_STREAM(r, tml_reduce(r->tml, &(tml_reduce_desc){.in = in,
                                                              .segments.offsets = offsets,
                                                              .folds = {{TML_FOLD_SUM, sums}}}));
        tml_buffer places = fault_output_of(r, TML_U32, segments);
        FAULT_STREAM(r,
                     tml_reduce(r->tml, &(tml_reduce_desc){.in = in,
                                                           .segments.offsets = offsets,
                                                           .folds = {{TML_FOLD_ARGMIN, places}}}));
        tml_buffer out = fault_output_of(r, TML_U32, n);
        FAULT_STREAM(r, tml_scan(r->tml, &(tml_scan_desc){
                                             .in = in, .segments.offsets = offsets, .out = out}));
        fault_take(r, sums, segments);
        fault_take(r, places, segments);
        fault_take(r, out, n);
    }
}

/* What the float tier has. */
static void run_float_streams(fault_run *r)
{
    for (int i = 0; i < 2; i++) {
        uint64_t n = length_of(r, i);
        tml_buffer in = floats_of(r, n), out = fault_output_of(r, TML_F32, n);
        FAULT_STREAM(r, tml_map(r->tml, &(tml_map_desc){
                                            .kernel = TML_USE(halved), .in = {in}, .out = {out}}));
        tml_buffer largest = fault_output_of(r, TML_F32, 1);
        FAULT_STREAM(r, tml_reduce(r->tml, &(tml_reduce_desc){.in = in,
                                                              .folds = {{TML_FOLD_MAX, largest}}}));
        tml_buffer kept = fault_output_of(r, TML_F32, n), count = fault_output_of(r, TML_U32, 1);
        FAULT_STREAM(r, tml_compact(r->tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_high),
                                                                .payloads[0] = {in, kept},
                                                                .count = count}));
        tml_buffer made = fault_output_of(r, TML_F32, n), total = fault_output_of(r, TML_U32, 1);
        FAULT_STREAM(r, tml_expand(r->tml, &(tml_expand_desc){.count_kernel = TML_USE(few),
                                                              .emit_kernel = TML_USE(spread),
                                                              .in = {in},
                                                              .out = {made},
                                                              .total = total}));
        fault_take(r, out, n);
        fault_take(r, largest, 1);
        fault_take(r, kept, n);
        fault_take(r, made, n);
        fault_take(r, count, 1);
        fault_take(r, total, 1);
    }
}

/* ---- surfaces -------------------------------------------------------------------------------- */

enum { DIM_X = 26, DIM_Y = 17, DIM_Z = 19, SAMPLES = DIM_X * DIM_Y * DIM_Z };

/* Two balls that meet, and a ripple. */
static void fill_volume(float *samples)
{
    for (int i = 0; i < SAMPLES; i++) {
        float x = (float)(i % DIM_X) - 9, y = (float)(i / DIM_X % DIM_Y) - 8,
              z = (float)(i / DIM_X / DIM_Y) - 9;
        float first = 36 - x * x - y * y - z * z, second = 9 - (x - 11) * (x - 11) - y * y - z * z;
        samples[i] = (first > second ? first : second) + (float)(i * 7919 % 13) * 0.5f;
    }
}

static const tml_grid grid = {.dims = {DIM_X, DIM_Y, DIM_Z}};

static tml_buffer volume_of(fault_run *r)
{
    static float samples[SAMPLES];
    fill_volume(samples);
    return fault_buffer(r, TML_F32, SAMPLES, samples);
}

/* Does a call that failed leave no buffer behind, and one that did not all there is to know? */
static void take_surface(fault_run *r, tml_surface_result *made)
{
    fault_hash(r, &made->vertex_count, sizeof made->vertex_count);
    fault_hash(r, &made->triangle_count, sizeof made->triangle_count);
    if (r->status == TML_OK)
        FAULT_CHECK(made->triangle_count > 0);
    for (uint32_t i = 0; i < made->part_count && r->status == TML_OK; i++)
        fault_hash(r, &made->parts[i], sizeof made->parts[i]);
    if (!tml_buffer_is_none(made->mesh.positions))
        fault_take(r, made->mesh.positions, made->vertex_count);
    if (!tml_buffer_is_none(made->mesh.normals))
        fault_take(r, made->mesh.normals, made->vertex_count);
    if (!tml_buffer_is_none(made->mesh.values))
        fault_take(r, made->mesh.values, made->vertex_count);
    if (!tml_buffer_is_none(made->triangle_cells))
        fault_take(r, made->triangle_cells, made->triangle_count);
    if (!tml_buffer_is_none(made->mesh.indices))
        fault_take(r, made->mesh.indices, made->triangle_count);
}

static void surface_of(fault_run *r, const tml_surface_desc *desc)
{
    tml_surface_result mesh = {0};
    FAULT_DO(r, tml_surface(r->tml, desc, &mesh));
    take_surface(r, &mesh);
    tml_surface_free(r->tml, &mesh);
}

static void run_surface(fault_run *r)
{
    tml_buffer volume = volume_of(r), mask = bytes_of(r, SAMPLES, 40);
    tml_surface_desc desc = {.volume = volume, .grid = grid, .normals = TML_NORMALS_CENTRAL};
    surface_of(r, &desc);
    desc.attribute = volume;
    desc.mask = mask;
    desc.normals = TML_NORMALS_SOBEL;
    surface_of(r, &desc);
    desc.layout.stride = 20; /* without a byte that nothing is in */
    desc.layout.normal_offset = 12;
    desc.layout.value_offset = 16;
    desc.layout.octahedral_normals = desc.layout.indices16 = true;
    surface_of(r, &desc);
}

static void run_surface_filters(fault_run *r)
{
    tml_surface_desc desc = {.volume = volume_of(r),
                             .cells = true,
                             .grid = grid,
                             .iso = 2,
                             .caps = true,
                             .drop_degenerate = true,
                             .largest_component = true};
    surface_of(r, &desc);
    desc.soup = true;
    surface_of(r, &desc);
    desc.soup = false;
    desc.layout.stride = 12;
    desc.layout.indices16 = true;
    surface_of(r, &desc);
}

static void run_surface_soup(fault_run *r)
{
    bool plain = r->config->bit == ON_FLOAT;
    tml_surface_desc desc = {.volume = volume_of(r), .grid = grid, .soup = true};
    desc.normals = plain ? TML_NORMALS_NONE : TML_NORMALS_FORWARD;
    surface_of(r, &desc);
}

static void run_surface_isovalues(fault_run *r)
{
    static const double isovalues[] = {3, -20, 0, 10, 20, 30};
    tml_surface_desc desc = {
        .volume = volume_of(r), .grid = grid, .isovalues = isovalues, .isovalue_count = 6};
    FAULT_DO(r, tml_surface_index(r->tml, &(tml_surface_desc){.volume = desc.volume, .grid = grid},
                                  &desc.index));
    if (r->status != TML_OK)
        FAULT_CHECK(tml_buffer_is_none(desc.index));
    fault_keep(r, desc.index);
    surface_of(r, &desc);
}

static void run_surface_labels(fault_run *r)
{
    uint8_t samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (uint8_t)(i % DIM_X / 6 + i / DIM_X / DIM_Y / 7 * 2);
    tml_surface_desc desc = {
        .volume = fault_buffer(r, TML_U8, SAMPLES, samples), .grid = grid, .all_labels = true};
    surface_of(r, &desc);
    static const uint64_t labels[] = {1, 3};
    desc.all_labels = false;
    desc.labels = labels;
    desc.label_count = 2;
    surface_of(r, &desc);
}

/* Boundaries of some labels, smoothed, of which a share is written. */
static void run_surface_nets(fault_run *r)
{
    uint8_t samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (uint8_t)(i % DIM_X / 6 + i / DIM_X / DIM_Y / 7 * 2);
    static const uint64_t labels[] = {1, 3};
    tml_surface_labels_desc desc = {.volume = fault_buffer(r, TML_U8, SAMPLES, samples),
                                    .grid = grid,
                                    .labels = labels,
                                    .label_count = 2,
                                    .inner_only = true,
                                    .smooth = 3};
    for (int i = 0; i < 3; i++) {
        desc.inner_only = i == 0;
        desc.sharing = i == 2 ? TML_LABELS_MANIFOLD : TML_LABELS_SHARED;
        tml_surface_result net = {.owned = 0};
        FAULT_DO(r, tml_surface_labels(r->tml, &desc, &net));
        fault_take(r, net.mesh.positions, net.vertex_count);
        fault_take(r, net.mesh.indices, net.triangle_count);
        fault_take(r, net.face_labels, net.triangle_count);
        tml_surface_free(r->tml, &net);
    }
}

/* Into buffers of the caller's, of which the last is too small. */
static void run_surface_into(fault_run *r)
{
    tml_surface_desc desc = {.volume = volume_of(r), .grid = grid};
    desc.mesh.positions = fault_buffer(r, vec3_type, 5000, NULL);
    tml_surface_result mesh = {0};
    FAULT_DO(r, tml_surface(r->tml, &desc, &mesh));
    fault_hash(r, &mesh.vertex_count, sizeof mesh.vertex_count);
    fault_take(r, desc.mesh.positions, mesh.vertex_count);
    tml_surface_free(r->tml, &mesh);
    desc.mesh.indices = fault_buffer(r, triangle_type, 10, NULL);
    if (r->status != TML_OK)
        return;
    memset(&mesh, 0, sizeof mesh);
    r->status = tml_surface(r->tml, &desc, &mesh);
    if (r->status == TML_ERROR_CAPACITY) {
        FAULT_CHECK(mesh.triangle_count > 10);
        r->status = TML_OK;
    } else {
        FAULT_CHECK(r->status != TML_OK);
    }
    tml_free(r->tml, mesh.parts, mesh.part_count * sizeof *mesh.parts);
}

/* The volume stays on the host: on a GPU it goes through in slabs where memory is short. */
static void run_surface_on_host(fault_run *r)
{
    enum { LAYERS = 40, LAYER = 96 * 64 };
    static float samples[LAYERS * LAYER];
    for (int i = 0; i < LAYERS * LAYER; i++)
        samples[i] = (float)(i % 96 * 3 % 40 + i / 96 % 64 % 30 + i / LAYER * 2 % 50);
    tml_buffer volume = {0, 0};
    FAULT_DO(r, tml_buffer_create(
                    r->tml,
                    &(tml_buffer_desc){.type = TML_F32, .count = LAYERS * LAYER, .host = samples},
                    &volume));
    fault_keep(r, volume);
    surface_of(r, &(tml_surface_desc){.volume = volume,
                                      .grid.dims = {96, 64, LAYERS},
                                      .iso = 90,
                                      .normals = TML_NORMALS_CENTRAL});
}

enum { POINTS = 300 };

static tml_buffer points_of(fault_run *r)
{
    float points[3 * POINTS];
    for (int i = 0; i < 3 * POINTS; i++)
        points[i] = (float)(i * 7919 % 1009) / 50;
    return fault_buffer(r, vec3_type, POINTS, points);
}

static tml_buffer radii_of(fault_run *r)
{
    float radii[POINTS];
    for (int i = 0; i < POINTS; i++)
        radii[i] = 1 + (float)(i % 30 == 0) * 5;
    return fault_buffer(r, TML_F32, POINTS, radii);
}

static void run_field(fault_run *r)
{
    tml_field_desc desc = {.points = points_of(r), .resolution = 20};
    tml_field_prepared made = {.iso = 0};
    if (r->status == TML_OK)
        memset(&made, FAULT_PATTERN, sizeof made);
    FAULT_DO(r, tml_field_prepare(r->tml, &(tml_field_prepare_desc){.field = desc}, &made));
    if (r->status != TML_OK) {
        for (size_t i = 0; i < sizeof made; i++)
            FAULT_CHECK(((unsigned char *)&made)[i] == 0);
        return;
    }
    fault_hash(r, &made.iso, sizeof made.iso);
    fault_hash(r, &made.field.radius, sizeof made.field.radius);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            desc = (tml_field_desc){.points = desc.points,
                                    .radii = radii_of(r),
                                    .kind = TML_FIELD_DISTANCE,
                                    .grid.dims = {25, 21, 23}};
        else
            desc = made.field;
        uint64_t count = desc.grid.dims[0] * desc.grid.dims[1] * desc.grid.dims[2];
        tml_buffer out = fault_buffer(r, TML_F32, count, NULL);
        FAULT_DO(r, tml_field(r->tml, &desc, out));
        fault_take(r, out, count);
    }
}

static void run_field_mean(fault_run *r)
{
    tml_field_desc field = {
        .points = points_of(r), .radii = radii_of(r), .grid.dims = {24, 22, 21}};
    tml_field_mean_desc desc = {.field = &field, .positions = points_of(r)};
    desc.values[0] = radii_of(r);
    desc.means[0] = fault_buffer(r, TML_F32, POINTS, NULL);
    desc.values[1] = field.points;
    desc.means[1] = fault_buffer(r, vec3_type, POINTS, NULL);
    FAULT_DO(r, tml_field_mean(r->tml, &desc));
    fault_take(r, desc.means[0], POINTS);
    fault_take(r, desc.means[1], POINTS);
}

static void run_field_shapes(fault_run *r)
{
    const tml_field_prepare_desc desc = {.field = {.points = points_of(r),
                                                   .densities = radii_of(r),
                                                   .radius = 4,
                                                   .grid.dims = {24, 22, 21}},
                                         .shapes = true};
    tml_buffer out = fault_buffer(r, TML_F32, 24 * 22 * 21, NULL);
    tml_field_prepared made;
    FAULT_DO(r, tml_field_prepare(r->tml, &desc, &made));
    if (r->status == TML_OK) {
        FAULT_DO(r, tml_field(r->tml, &made.field, out));
        tml_field_prepared_free(r->tml, &made);
    }
    fault_take(r, out, 24 * 22 * 21);
}

static void run_surface_of_field(fault_run *r)
{
    tml_field_desc field = {.points = points_of(r), .grid.dims = {24, 22, 21}, .radius = 4};
    field.densities = radii_of(r);
    surface_of(r, &(tml_surface_desc){.field = &field, .iso = 0.6, .normals = TML_NORMALS_CENTRAL});
}

static void run_surface_enqueue(fault_run *r)
{
    tml_surface_desc desc = {.volume = volume_of(r), .grid = grid};
    float iso = 1;
    desc.iso_buffer = fault_buffer(r, TML_F32, 1, &iso);
    desc.mesh.positions = fault_buffer(r, vec3_type, 3000, NULL);
    desc.mesh.indices = fault_buffer(r, triangle_type, 6000, NULL);
    desc.counts = fault_buffer(r, TML_U32, 2, NULL);
    desc.draw = fault_buffer(r, TML_U32, 5, NULL);
    FAULT_DO(r, tml_surface_enqueue(r->tml, &desc));
    uint32_t counts[2] = {0, 0};
    FAULT_DO(r, tml_buffer_read(r->tml, desc.counts, counts));
    fault_hash(r, counts, sizeof counts);
    fault_take(r, desc.draw, 5);
    fault_take(r, desc.mesh.positions, counts[0]);
    fault_take(r, desc.mesh.indices, counts[1]);
}

static void run_surface_enqueue_field(fault_run *r)
{
    const uint32_t length = POINTS - 3;
    tml_field_desc field = {.points = points_of(r), .grid.dims = {24, 22, 21}, .radius = 4};
    field.length.device = fault_buffer(r, TML_U32, 1, &length);
    tml_surface_desc desc = {.field = &field, .iso = 0.6};
    desc.mesh.positions = fault_buffer(r, vec3_type, 6000, NULL);
    desc.mesh.indices = fault_buffer(r, triangle_type, 12000, NULL);
    desc.counts = fault_buffer(r, TML_U32, 2, NULL);
    FAULT_DO(r, tml_surface_enqueue(r->tml, &desc));
    uint32_t counts[2] = {0, 0};
    FAULT_DO(r, tml_buffer_read(r->tml, desc.counts, counts));
    fault_hash(r, counts, sizeof counts);
    fault_take(r, desc.mesh.positions, counts[0]);
    fault_take(r, desc.mesh.indices, counts[1]);
}

static void run_surface_enqueue_soup(fault_run *r)
{
    tml_surface_desc desc = {.volume = volume_of(r),
                             .grid = grid,
                             .soup = true,
                             .cells = true,
                             .normals = TML_NORMALS_CENTRAL};
    desc.mesh.positions = fault_buffer(r, vec3_type, 18000, NULL);
    desc.mesh.normals = fault_buffer(r, vec3_type, 18000, NULL);
    desc.triangle_cells = fault_buffer(r, TML_U64, 6000, NULL);
    desc.counts = fault_buffer(r, TML_U32, 2, NULL);
    FAULT_DO(r, tml_surface_enqueue(r->tml, &desc));
    uint32_t counts[2] = {0, 0};
    FAULT_DO(r, tml_buffer_read(r->tml, desc.counts, counts));
    fault_hash(r, counts, sizeof counts);
    fault_take(r, desc.mesh.positions, counts[0]);
    fault_take(r, desc.mesh.normals, counts[0]);
    fault_take(r, desc.triangle_cells, counts[1]);
}

typedef struct slabs {
    fault_run *run;
    float samples[SAMPLES];
    uint64_t hash;
} slabs;

static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    const slabs *s = user;
    CHECK(source == TML_SURFACE_VOLUME);
    memcpy(out, s->samples + first * DIM_X * DIM_Y, count * DIM_X * DIM_Y * sizeof(float));
    return TML_OK;
}

static tml_status map_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                             const void **out)
{
    const slabs *s = user;
    (void)source, (void)count;
    *out = s->samples + first * DIM_X * DIM_Y;
    return TML_OK;
}

/* The status of the run is that of a later call; here all before went well. */
static tml_status write_piece(void *user, const tml_surface_piece *piece)
{
    slabs *s = user;
    fault_hash(s->run, piece->mesh.positions, piece->mesh.vertex_count * 3 * sizeof(float));
    if (piece->mesh.normals)
        fault_hash(s->run, piece->mesh.normals, piece->mesh.vertex_count * 3 * sizeof(float));
    if (piece->mesh.indices)
        fault_hash(s->run, piece->mesh.indices, piece->mesh.triangle_count * 3 * sizeof(uint32_t));
    for (uint32_t i = 0; i < piece->mesh.attribute_count; i++) /* positions, radii */
        fault_hash(s->run, piece->mesh.attributes[i].data,
                   piece->mesh.vertex_count * (i ? 1 : 3) * sizeof(float));
    return TML_OK;
}

static void run_surface_slabs(fault_run *r)
{
    static slabs s;
    s.run = r;
    fill_volume(s.samples);
    for (int i = 0; i < 2; i++) {
        const tml_surface_desc surface = {
            .grid = grid, .normals = i ? TML_NORMALS_SOBEL : TML_NORMALS_NONE, .soup = i == 1};
        tml_surface_slabs_desc desc = {.surface = &surface,
                                       .type = TML_F32,
                                       .write = write_piece,
                                       .user = &s,
                                       .memory = 150000,
                                       .slab_layers = i ? 0 : 5};
        if (i)
            desc.map = map_layers;
        else
            desc.read = read_layers;
        tml_surface_result mesh = {0};
        FAULT_DO(r, tml_surface_slabs(r->tml, &desc, &mesh));
        fault_hash(r, &mesh.triangle_count, sizeof mesh.triangle_count);
        tml_surface_free(r->tml, &mesh);
    }
}

static tml_status write_labeled(void *user, const tml_surface_piece *piece)
{
    slabs *s = user;
    fault_hash(s->run, piece->mesh.positions, piece->mesh.vertex_count * 3 * sizeof(float));
    fault_hash(s->run, piece->mesh.indices, piece->mesh.triangle_count * 3 * sizeof(uint32_t));
    fault_hash(s->run, piece->mesh.face_labels, piece->mesh.triangle_count * 2);
    return TML_OK;
}

static void run_slabs_of_labels(fault_run *r)
{
    static slabs s;
    uint8_t samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (uint8_t)(i % DIM_X / 6 + i / DIM_X / DIM_Y / 7 * 2);
    s.run = r;
    const tml_surface_labels_desc net = {.volume = fault_buffer(r, TML_U8, SAMPLES, samples),
                                         .grid = grid,
                                         .inner_only = true,
                                         .smooth = 3};
    const tml_surface_slabs_desc desc = {.boundaries = &net,
                                         .write = write_labeled,
                                         .user = &s,
                                         .components = true,
                                         .slab_layers = 5};
    tml_surface_result mesh = {0};
    FAULT_DO(r, tml_surface_slabs(r->tml, &desc, &mesh));
    fault_hash(r, &mesh.triangle_count, sizeof mesh.triangle_count);
    tml_surface_free(r->tml, &mesh);
}

static void run_slabs_of_field(fault_run *r)
{
    static slabs s;
    const tml_field_desc field = {.points = points_of(r), .grid.dims = {24, 22, 21}, .radius = 4};
    tml_surface_desc surface = {.field = &field, .iso = 0.6, .soup = true};
    s.run = r;
    tml_surface_slabs_desc desc = {.surface = &surface,
                                   .write = write_piece,
                                   .user = &s,
                                   .slab_layers = 8,
                                   .field_values = {field.points, radii_of(r)}};
    tml_surface_result mesh = {0};
    FAULT_DO(r, tml_surface_slabs(r->tml, &desc, &mesh));
    fault_hash(r, &mesh.triangle_count, sizeof mesh.triangle_count);
    tml_surface_free(r->tml, &mesh);
}

static void run_surface_cells(fault_run *r)
{
    static uint8_t cells[SAMPLES];
    tml_surface_desc desc = {.volume = volume_of(r), .grid = grid};
    memset(cells, 0, sizeof cells);
    FAULT_DO(r, tml_surface_cells(r->tml, &desc, cells));
    fault_hash(r, cells, sizeof cells);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* A sheet of 2 * SIDE * SIDE triangles, rough by height; turned to stand across the first. */
enum { SIDE = 9, SHEET_VERTICES = (SIDE + 1) * (SIDE + 1), SHEET_TRIANGLES = 2 * SIDE * SIDE };

typedef struct sheet {
    float vertices[SHEET_VERTICES][3];
    uint32_t triangles[SHEET_TRIANGLES][3];
} sheet;

static void sheet_make(sheet *s, bool across)
{
    for (uint32_t i = 0; i < SHEET_VERTICES; i++) {
        float u = (float)(i % (SIDE + 1)), v = (float)(i / (SIDE + 1)),
              h = (float)(i * 2654435761u >> 24) / 256;
        float p[3] = {u, v, h};
        for (int k = 0; k < 3; k++)
            s->vertices[i][k] = across ? p[(k + 1) % 3] + 0.25f : p[k];
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint32_t a = i / SIDE * (SIDE + 1) + i % SIDE, b = a + 1, c = a + SIDE + 1, d = c + 1;
        const uint32_t two[2][3] = {{a, b, d}, {a, d, c}};
        memcpy(s->triangles[2 * i], two, sizeof two);
    }
}

static void run_mesh(fault_run *r)
{
    static sheet s;
    sheet_make(&s, false);
    const tml_mesh_buffers sheet_buffers = {
        .positions = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices),
        .indices = fault_buffer(r, triangle_type, SHEET_TRIANGLES, s.triangles)};
    for (int i = 0; i < 2; i++) {
        tml_mesh_stats stats = {0};
        FAULT_DO(r, tml_mesh_examine(r->tml, &sheet_buffers, i, &stats));
        fault_hash(r, &stats.components, sizeof stats.components);
        fault_hash(r, &stats.euler, sizeof stats.euler);
        fault_hash(r, &stats.area, sizeof stats.area);
    }
    const tml_mesh_smooth_desc smoothing = {.mesh = sheet_buffers,
                                            .iterations = 2,
                                            .out = fault_buffer(r, vec3_type, SHEET_VERTICES, NULL),
                                            .normals =
                                                fault_buffer(r, vec3_type, SHEET_VERTICES, NULL)};
    float smoothed[2][SHEET_VERTICES][3];
    FAULT_DO(r, tml_mesh_smooth(r->tml, &smoothing));
    FAULT_DO(r, tml_buffer_read(r->tml, smoothing.out, smoothed[0]));
    FAULT_DO(r, tml_buffer_read(r->tml, smoothing.normals, smoothed[1]));
    fault_hash(r, smoothed, sizeof smoothed);
    memcpy(s.vertices[1], s.vertices[0], sizeof s.vertices[0]); /* a degenerate triangle or two */
    tml_mesh mesh = {.positions = s.vertices[0],
                     .indices = s.triangles,
                     .vertex_count = SHEET_VERTICES,
                     .triangle_count = SHEET_TRIANGLES};
    FAULT_DO(r, tml_mesh_clean(r->tml, &mesh, true, true, NULL));
    if (r->status == TML_OK)
        FAULT_DO(r, tml_mesh_collapse(r->tml, &mesh, 10));
    fault_hash(r, &mesh.triangle_count, sizeof mesh.triangle_count);
    fault_hash(r, s.triangles, mesh.triangle_count * sizeof *s.triangles);
}

typedef struct trees {
    tml_tree *a, *b;
} trees;

static tml_tree *tree_of(fault_run *r, bool across)
{
    static sheet s;
    sheet_make(&s, across);
    tml_tree *tree = NULL;
    const tml_tree_desc desc = {.vertices = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices),
                                .indices =
                                    fault_buffer(r, triangle_type, SHEET_TRIANGLES, s.triangles)};
    FAULT_DO(r, tml_tree_create(r->tml, &desc, &tree));
    if (r->status != TML_OK)
        FAULT_CHECK(tree == NULL);
    return tree;
}

static const float poses[] = {1, 0, 0, 0,    0, 1,     0,     0, 0, 0,      1,     0, /* */
                              1, 0, 0, 0.5f, 0, 0.96f, 0.28f, 1, 0, -0.28f, 0.96f, 0.25f};

static void collide_by(fault_run *r, tml_tree *a, tml_tree *b, const tml_collide_desc *how)
{
    tml_collide_desc desc = *how;
    tml_collide_result result;
    memset(&result, 0, sizeof result);
    desc.a = a;
    desc.b = b;
    desc.poses = b ? poses : NULL;
    desc.pose_count = b ? 2 : 0;
    desc.segments = desc.want == TML_COLLIDE_WANT_ALL;
    FAULT_DO(r, tml_collide(r->tml, &desc, &result));
    fault_hash(r, &result.count, sizeof result.count);
    if (r->status != TML_OK)
        FAULT_CHECK(!result.pairs && !result.segments && !result.first);
    else if (desc.want != TML_COLLIDE_WANT_FIRST) /* which pair is first depends on the trees */
        FAULT_CHECK(result.count > 0 || !b);
    if (result.pairs && r->status == TML_OK)
        fault_hash(r, result.pairs, result.count * sizeof *result.pairs);
    if (result.segments && r->status == TML_OK)
        fault_hash(r, result.segments, result.count * 6 * sizeof *result.segments);
    tml_collide_free(r->tml, &result);
}

static void collide_all(fault_run *r, tml_collide_method method, size_t memory_limit)
{
    tml_tree *a = tree_of(r, false), *b = tree_of(r, true);
    tml_collide_desc desc = {.method = method, .memory_limit = memory_limit};
    collide_by(r, a, b, &desc);
    collide_by(r, a, NULL, &desc);
    desc.want = TML_COLLIDE_WANT_COUNT;
    collide_by(r, a, b, &desc);
    desc.want = TML_COLLIDE_WANT_FIRST;
    collide_by(r, a, b, &desc);
    tml_tree_destroy(r->tml, a);
    tml_tree_destroy(r->tml, b);
}

static void run_collide_depth(fault_run *r)
{
    collide_all(r, TML_COLLIDE_METHOD_DEPTH_FIRST, 0);
}

static void run_collide_breadth(fault_run *r)
{
    collide_all(r, TML_COLLIDE_METHOD_BREADTH_FIRST, 0);
}

/* The stream of pairs does not fit, and is followed in parts. */
static void run_collide_parts(fault_run *r)
{
    tml_tree *a = tree_of(r, false), *b = tree_of(r, true);
    collide_by(r, a, b,
               &(tml_collide_desc){.method = TML_COLLIDE_METHOD_BREADTH_FIRST, .memory_limit = 1});
    tml_tree_destroy(r->tml, a);
    tml_tree_destroy(r->tml, b);
}

/* Points about a sheet, which its other side closes. */
static void run_nearest(fault_run *r)
{
    static sheet s;
    static uint32_t both[2 * SHEET_TRIANGLES][3];
    sheet_make(&s, false);
    for (uint32_t i = 0; i < 2 * SHEET_TRIANGLES; i++)
        for (uint32_t k = 0; k < 3; k++)
            both[i][k] = s.triangles[i / 2][i % 2 ? 2 - k : k];
    tml_tree *tree = NULL;
    const tml_tree_desc desc = {.vertices = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices),
                                .indices =
                                    fault_buffer(r, triangle_type, 2 * SHEET_TRIANGLES, both)};
    FAULT_DO(r, tml_tree_create(r->tml, &desc, &tree));
    uint8_t sides[SHEET_VERTICES] = {0};
    tml_buffer out = fault_buffer(r, TML_U8, SHEET_VERTICES, sides);
    tml_buffer distances = fault_buffer(r, TML_F32, SHEET_VERTICES, NULL);
    FAULT_DO(r, tml_tree_nearest(r->tml, &(tml_tree_nearest_desc){.tree = tree,
                                                                  .points = desc.vertices,
                                                                  .sides = out,
                                                                  .distances = distances}));
    FAULT_DO(r, tml_buffer_read(r->tml, out, sides));
    fault_hash(r, sides, sizeof sides);
    FAULT_DO(r, tml_tree_nearest(r->tml, &(tml_tree_nearest_desc){.tree = tree,
                                                                  .points = desc.vertices,
                                                                  .rule = TML_TREE_RULE_SOLID_ANGLE,
                                                                  .sides = out}));
    FAULT_DO(r, tml_buffer_read(r->tml, out, sides));
    fault_hash(r, sides, sizeof sides);
    uint32_t counts[SHEET_VERTICES] = {0};
    tml_buffer counted = fault_buffer(r, TML_U32, SHEET_VERTICES, NULL);
    FAULT_DO(r, tml_tree_cast(r->tml, &(tml_tree_cast_desc){.tree = tree,
                                                            .origins = desc.vertices,
                                                            .directions = desc.vertices,
                                                            .want = TML_TREE_CAST_ALL,
                                                            .counts = counted}));
    FAULT_DO(r, tml_buffer_read(r->tml, counted, counts));
    fault_hash(r, counts, sizeof counts);
    tml_buffer all_rays = fault_buffer(r, TML_U32, SHEET_VERTICES, NULL);
    tml_buffer unsure = fault_buffer(r, TML_U32, 1, NULL);
    const tml_tree_cast_desc all = {.tree = tree,
                                    .origins = desc.vertices,
                                    .directions = desc.vertices,
                                    .want = TML_TREE_CAST_ALL,
                                    .counts = counted,
                                    .rays = all_rays,
                                    .unsure_count = unsure};
    if (r->tml->device.engine != TML_ENGINE_GL) {
        FAULT_DO(r, tml_tree_cast_enqueue(r->tml, &all));
        FAULT_DO(r, tml_buffer_read(r->tml, counted, counts));
        fault_hash(r, counts, sizeof counts);
    }
    float samples[60];
    tml_buffer volume = fault_buffer(r, TML_F32, 60, NULL);
    FAULT_DO(r, tml_tree_distance_grid(r->tml,
                                       &(tml_tree_distance_grid_desc){.tree = tree,
                                                                      .grid = {.dims = {3, 4, 5}},
                                                                      .is_signed = true,
                                                                      .out = volume}));
    FAULT_DO(r, tml_buffer_read(r->tml, volume, samples));
    fault_hash(r, samples, sizeof samples);
    tml_tree_destroy(r->tml, tree);
}

/* So many points about a tetrahedron, and samples, that a device answers them; some are on it. */
static void run_sides(fault_run *r)
{
    enum { COUNT = 1100, GRID = 16 * 9 * 8 };
    static float samples[GRID];
    static const float corners[12] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4};
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    static float at[3 * COUNT];
    static uint8_t sides[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < 3; k++)
            at[3 * i + k] = (float)(i * (7 + 6 * k) % 29) / 4;
    tml_tree *tree = NULL;
    const tml_tree_desc desc = {.vertices = fault_buffer(r, vec3_type, 4, corners),
                                .indices = fault_buffer(r, triangle_type, 4, faces)};
    FAULT_DO(r, tml_tree_create(r->tml, &desc, &tree));
    tml_buffer points = fault_buffer(r, vec3_type, COUNT, at);
    tml_buffer out = fault_buffer(r, TML_U8, COUNT, NULL);
    FAULT_DO(r, tml_tree_nearest(r->tml, &(tml_tree_nearest_desc){
                                             .tree = tree, .points = points, .sides = out}));
    FAULT_DO(r, tml_buffer_read(r->tml, out, sides));
    fault_hash(r, sides, sizeof sides);
    FAULT_DO(r, tml_tree_nearest(r->tml, &(tml_tree_nearest_desc){
                                             .tree = tree,
                                             .points = points,
                                             .is_signed = true,
                                             .distances = fault_buffer(r, TML_F32, COUNT, NULL),
                                             .features = out}));
    FAULT_DO(r, tml_buffer_read(r->tml, out, sides));
    fault_hash(r, sides, sizeof sides);
    tml_buffer volume = fault_buffer(r, TML_F32, GRID, NULL);
    FAULT_DO(r, tml_tree_distance_grid(r->tml, &(tml_tree_distance_grid_desc){
                                                   .tree = tree,
                                                   .grid = {.dims = {16, 9, 8},
                                                            .spacing = {0.31, 0.52, 0.625},
                                                            .origin = {-0.33, -0.11, -0.625}},
                                                   .is_signed = true,
                                                   .band = 0.75f,
                                                   .out = volume}));
    FAULT_DO(r, tml_buffer_read(r->tml, volume, samples));
    fault_hash(r, samples, sizeof samples);
    tml_tree_destroy(r->tml, tree);
}

static void run_distance(fault_run *r)
{
    tml_tree *a = tree_of(r, false), *b = tree_of(r, true);
    float apart[12];
    memcpy(apart, poses, sizeof apart);
    apart[3] = 30;
    tml_collide_distance_result out = {0};
    const tml_collide_distance_desc desc = {.a = a,
                                            .b = b,
                                            .poses = apart,
                                            .pose_count = 1,
                                            .method = TML_COLLIDE_METHOD_BREADTH_FIRST};
    FAULT_DO(r, tml_collide_distance(r->tml, &desc, &out));
    fault_hash(r, &out.distance, sizeof out.distance);
    tml_device_info device;
    tml_context_describe(r->tml, &device);
    if (device.engine != TML_ENGINE_GL) {
        const tml_collide_distance_desc frame = {.a = a,
                                                 .b = b,
                                                 .pose_buffer = fault_buffer(r, TML_F32, 12, apart),
                                                 .distances = fault_buffer(r, TML_F64, 1, NULL)};
        FAULT_DO(r, tml_collide_distance_enqueue(r->tml, &frame));
        FAULT_DO(r, tml_buffer_read(r->tml, frame.distances, &out.distance));
        fault_hash(r, &out.distance, sizeof out.distance);
    }
    tml_tree_destroy(r->tml, a);
    tml_tree_destroy(r->tml, b);
}

/* Saved, loaded, rebuilt and refitted. */
static void run_trees(fault_run *r)
{
    tml_tree *a = tree_of(r, false), *b = NULL;
    static unsigned char bytes[1 << 17];
    size_t size = sizeof bytes;
    FAULT_DO(r, tml_tree_save(r->tml, a, bytes, &size));
    fault_hash(r, bytes, size);
    FAULT_DO(r, tml_tree_load(r->tml, bytes, size, &b));
    static sheet s;
    sheet_make(&s, false);
    for (int i = 0; i < SHEET_VERTICES; i++)
        s.vertices[i][2] *= 2;
    tml_buffer vertices = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices);
    bool failed_before = r->status != TML_OK;
    FAULT_DO(r, tml_tree_update(r->tml, b, vertices, TML_TREE_REBUILD));
    if (r->status != TML_OK && b && !failed_before) { /* the tree is as it was */
        static unsigned char after[sizeof bytes];
        faults.is_armed = false;
        tml_cancel_clear(r->tml);
        if (CHECK_OK(r->tml, tml_tree_save(r->tml, b, after, &(size_t){sizeof after})))
            FAULT_CHECK(memcmp(bytes, after, size) == 0);
    }
    FAULT_DO(r, tml_tree_update(r->tml, b, vertices, TML_TREE_REFIT));
    FAULT_DO(r, tml_tree_save(r->tml, b, bytes, &(size_t){sizeof bytes}));
    fault_hash(r, bytes, size);
    tml_tree_destroy(r->tml, a);
    tml_tree_destroy(r->tml, b);
}

/* Built on the device, refitted and built anew there, and asked for pairs. */
static void run_trees_there(fault_run *r)
{
    static sheet s;
    sheet_make(&s, false);
    tml_tree *a = NULL, *b = tree_of(r, true);
    tml_buffer vertices = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices);
    const tml_tree_desc desc = {.vertices = vertices,
                                .indices =
                                    fault_buffer(r, triangle_type, SHEET_TRIANGLES, s.triangles),
                                .on_device = true};
    FAULT_DO(r, tml_tree_create(r->tml, &desc, &a));
    collide_by(r, a, b, &(tml_collide_desc){.method = TML_COLLIDE_METHOD_DEPTH_FIRST});
    FAULT_DO(r, tml_tree_update_enqueue(r->tml, a, vertices, TML_TREE_REFIT));
    FAULT_DO(r, tml_tree_update_enqueue(r->tml, a, vertices, TML_TREE_REBUILD));
    FAULT_DO(r, tml_tree_update_enqueue(r->tml, b, vertices, TML_TREE_REBUILD));
    collide_by(r, a, NULL, &(tml_collide_desc){.method = TML_COLLIDE_METHOD_DEPTH_FIRST});
    tml_tree_destroy(r->tml, a);
    tml_tree_destroy(r->tml, b);
}

/* ---- subdivision ----------------------------------------------------------------------------- */

static tml_subdivider *subdivider_of(fault_run *r, bool with_all)
{
    static sheet s;
    sheet_make(&s, false);
    tml_subdivider_desc desc = {
        .mesh = {.positions = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices),
                 .indices = fault_buffer(r, triangle_type, SHEET_TRIANGLES, s.triangles)}};
    if (with_all) {
        static const uint32_t edges[2][2] = {{20, 21}, {21, 22}}, corners[] = {5};
        static const float sharpness[] = {1.5f, 2};
        desc.attributes[0] = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices);
        desc.channels[0].values = fault_buffer(r, TML_VEC(TML_F32, 2), SHEET_VERTICES, s.vertices);
        desc.channels[0].indices = desc.mesh.indices;
        desc.crease_edges = fault_buffer(r, TML_VEC(TML_U32, 2), 2, edges);
        desc.crease_sharpness = fault_buffer(r, TML_F32, 2, sharpness);
        desc.corners = fault_buffer(r, TML_U32, 1, corners);
        desc.fix = true;
    }
    tml_subdivider *subdivider = NULL;
    FAULT_DO(r, tml_subdivider_create(r->tml, &desc, &subdivider));
    if (r->status != TML_OK)
        FAULT_CHECK(subdivider == NULL);
    return subdivider;
}

static void take_subdivided(fault_run *r, tml_subdivide_result *out)
{
    fault_hash(r, &out->vertex_count, sizeof out->vertex_count);
    fault_hash(r, &out->triangle_count, sizeof out->triangle_count);
    if (r->status != TML_OK)
        return;
    FAULT_CHECK(out->triangle_count >= SHEET_TRIANGLES);
    fault_take(r, out->buffers.mesh.positions, out->vertex_count);
    fault_take(r, out->buffers.mesh.indices, out->triangle_count);
    if (!tml_buffer_is_none(out->buffers.mesh.normals))
        fault_take(r, out->buffers.mesh.normals, out->vertex_count);
    if (!tml_buffer_is_none(out->buffers.attributes[0]))
        fault_take(r, out->buffers.attributes[0], out->vertex_count);
    if (!tml_buffer_is_none(out->buffers.channel_values[0]))
        fault_take(r, out->buffers.channel_values[0], out->channel_counts[0]);
}

static void run_uniform(fault_run *r)
{
    tml_subdivider *subdivider = subdivider_of(r, true);
    for (uint32_t levels = 1; levels <= 2; levels++) {
        tml_subdivide_result out;
        memset(&out, 0, sizeof out);
        FAULT_DO(r, tml_subdivide_uniform_enqueue(
                        subdivider,
                        &(tml_subdivide_uniform_desc){
                            .levels = levels, .limit = true, .normals = levels == 2},
                        &out));
        take_subdivided(r, &out);
        tml_subdivide_free(r->tml, &out);
    }
    static sheet s;
    sheet_make(&s, true);
    tml_buffer moved = fault_buffer(r, vec3_type, SHEET_VERTICES, s.vertices);
    FAULT_DO(r, tml_subdivider_move_enqueue(subdivider, moved));
    tml_subdivide_result out;
    memset(&out, 0, sizeof out);
    FAULT_DO(r, tml_subdivide_uniform_enqueue(subdivider,
                                              &(tml_subdivide_uniform_desc){.levels = 1}, &out));
    take_subdivided(r, &out);
    tml_subdivide_free(r->tml, &out);
    tml_subdivider_destroy(r->tml, subdivider);
}

static void run_adaptive_enqueue(fault_run *r)
{
    tml_subdivider *subdivider = subdivider_of(r, false);
    tml_subdivide_adaptive_desc desc = {.threshold = 0.9f, .max_depth = 2};
    desc.buffers.mesh.positions = fault_buffer(r, vec3_type, 3000, NULL);
    desc.buffers.mesh.indices = fault_buffer(r, triangle_type, 3000, NULL);
    desc.counts = fault_buffer(r, TML_U32, 3, NULL);
    desc.draw = fault_buffer(r, TML_U32, 5, NULL);
    FAULT_DO(r, tml_subdivide_adaptive_enqueue(subdivider, &desc));
    uint32_t counts[3] = {0, 0, 0};
    FAULT_DO(r, tml_buffer_read(r->tml, desc.counts, counts));
    fault_hash(r, counts, sizeof counts);
    fault_take(r, desc.draw, 5);
    fault_take(r, desc.buffers.mesh.positions, counts[0]);
    fault_take(r, desc.buffers.mesh.indices, counts[1]);
    tml_subdivider_destroy(r->tml, subdivider);
}

/* The second call expects what the first one counted, the third one more than that. */
static void run_adaptive(fault_run *r)
{
    static const float thresholds[] = {0.9f, 0.9f, 0.6f};
    tml_subdivider *subdivider = subdivider_of(r, false);
    for (int i = 0; i < 3; i++) {
        tml_subdivide_result out;
        memset(&out, 0, sizeof out);
        FAULT_DO(r,
                 tml_subdivide_adaptive(subdivider,
                                        &(tml_subdivide_adaptive_desc){.threshold = thresholds[i],
                                                                       .max_depth = 2,
                                                                       .normals = i == 0,
                                                                       .origins = i == 0,
                                                                       .budget = i == 2 ? 2000 : 0},
                                        &out));
        take_subdivided(r, &out);
        tml_subdivide_free(r->tml, &out);
    }
    tml_subdivider_destroy(r->tml, subdivider);
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { WIDTH = 61, HEIGHT = 43, PIXELS = WIDTH * HEIGHT };

static tml_image picture_of(fault_run *r)
{
    float *pixels = malloc(4 * PIXELS * sizeof *pixels);
    for (int i = 0; i < 4 * PIXELS; i++)
        pixels[i] = (float)((uint32_t)i * 2654435761u >> 24) / 64;
    tml_image image = {.buffer = fault_buffer(r, TML_F32, 4 * PIXELS, pixels),
                       .width = WIDTH,
                       .height = HEIGHT,
                       .channels = 4};
    free(pixels);
    return image;
}

static void run_image(fault_run *r)
{
    tml_image image = picture_of(r), target = image;
    uint8_t weights[25] = {0};
    FAULT_DO(r, tml_meter_weights(TML_METER_MATRIX, WIDTH, HEIGHT, 5, 5, weights));
    tml_buffer mask = fault_buffer(r, TML_U8, 25, weights),
               counted = fault_buffer(r, TML_U32, TML_IMAGE_STATS_WORDS, NULL),
               state = fault_buffer(r, TML_F32, TML_EXPOSURE_WORDS, NULL);
    target.buffer = fault_buffer(r, TML_U8, 4 * PIXELS, NULL);
    FAULT_DO(r, tml_image_measure(r->tml, &(tml_image_measure_desc){.image = image,
                                                                    .mask = mask,
                                                                    .mask_width = 5,
                                                                    .mask_height = 5,
                                                                    .stats = counted}));
    FAULT_DO(r, tml_image_expose(r->tml, &(tml_image_expose_desc){
                                             .stats = counted, .reset = true, .state = state}));
    FAULT_DO(r, tml_image_tonemap(r->tml, &(tml_image_tonemap_desc){.in = image,
                                                                    .out = target,
                                                                    .state = state,
                                                                    .tone = TML_TONE_REINHARD}));
    tml_image_stats stats;
    FAULT_DO(r, tml_image_stats_read(r->tml, counted, &stats));
    if (r->status == TML_OK)
        fault_hash(r, &stats.mean, sizeof stats.mean);
    fault_take(r, counted, TML_IMAGE_STATS_WORDS);
    fault_take(r, target.buffer, 4 * PIXELS);
}

static void run_mips(fault_run *r)
{
    tml_image image = picture_of(r);
    uint32_t width, height, levels = tml_mip_level(WIDTH, HEIGHT, 0, NULL, NULL, NULL);
    uint64_t first;
    tml_mip_level(WIDTH, HEIGHT, levels - 1, &width, &height, &first);
    for (int number = 0; number < 4; number++) {
        bool is_log = number >= 2;
        uint64_t count = is_log ? 1 : 4 * (first + 1);
        tml_buffer out = fault_buffer(r, TML_F32, count, NULL);
        FAULT_DO(r, tml_image_mips(r->tml, &(tml_image_mips_desc){
                                               .in = image,
                                               .filter = (tml_mip_filter)(number % 2),
                                               .log_luminance = is_log,
                                               .output = is_log ? TML_MIP_LAST : TML_MIP_CHAIN,
                                               .out = out}));
        fault_take(r, out, count);
    }
}

/* ---- what only one engine has ---------------------------------------------------------------- */

#ifdef TML_VULKAN
static void run_vulkan(fault_run *r)
{
    tml_buffer in = numbers_of(r, 20000, 20), out = fault_buffer(r, TML_U32, 20000, NULL),
               total = fault_buffer(r, TML_U32, 1, NULL),
               arguments = fault_buffer(r, TML_U32, 4, NULL);
    const tml_scan_desc scan = {.in = in, .out = out, .total = total};
    double seconds;
    size_t size = 0;
    FAULT_DO(r, tml_time_begin(r->tml));
    FAULT_DO(r, tml_scan(r->tml, &scan));
    FAULT_DO(r, tml_vulkan_flush(r->tml));
    FAULT_DO(
        r, tml_vulkan_indirect(r->tml, &(tml_vulkan_indirect_desc){.kind = TML_VULKAN_INDIRECT_DRAW,
                                                                   .count = total,
                                                                   .out = arguments}));
    FAULT_DO(r, tml_time_end(r->tml, &seconds));
    FAULT_DO(r, tml_vulkan_check(r->tml));
    FAULT_DO(r, tml_cache(r->tml, NULL, &size));
    FAULT_DO(r, tml_cache_add(r->tml, &size, sizeof size));
    fault_take(r, arguments, 4);
    fault_take(r, out, 20000);
}
#endif

#ifdef TML_VULKAN
#    define DRIVER(name) ((PFN_##name)fault_vulkan_function(lent.device, #    name))

/* Records an operation of each kind, in the caller's commands, which are submitted twice with
 * another one of the context's own between them. */
static void run_recording(fault_run *r)
{
    enum { COUNT = 9000 };
    tml_buffer in = numbers_of(r, COUNT, 20), out = fault_buffer(r, TML_U32, COUNT, NULL),
               kept = fault_buffer(r, TML_U32, COUNT, NULL),
               count = fault_buffer(r, TML_U32, 1, NULL),
               arguments = fault_buffer(r, TML_U32, 4, NULL);
    const tml_scan_desc scan = {.in = in, .out = out};
    const tml_compact_desc compact = {.keep = {.kernel = TML_USE(is_picked), .in = {in}},
                                      .payloads[0] = {in, kept},
                                      .count = count};
    tml_vulkan_desc lent = {0};
    FAULT_DO(r, tml_vulkan_handles(r->tml, &lent));
    FAULT_DO(r, tml_scan(r->tml, &scan));
    tml_prepared prepared = {0};
    FAULT_DO(r, tml_prepare_begin(r->tml));
    if (r->status == TML_OK) {
        FAULT_DO(r, tml_scan(r->tml, &scan));
        FAULT_DO(r, tml_compact(r->tml, &compact));
        tml_status status = tml_prepare_end(r->tml, &prepared); /* whatever failed in between */
        FAULT_DO(r, status);
    }
    FAULT_DO(r, tml_reserve(r->tml, prepared.scratch_size));
    if (r->status != TML_OK)
        return;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = lent.queue_family};
    CHECK(DRIVER(vkCreateCommandPool)(lent.device, &pool_info, NULL, &pool) == VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    CHECK(DRIVER(vkAllocateCommandBuffers)(lent.device, &info, &commands) == VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    DRIVER(vkBeginCommandBuffer)(commands, &begin);
    FAULT_DO(r, tml_vulkan_record(r->tml, commands, NULL, NULL));
    if (r->status == TML_OK) {
        FAULT_DO(r, tml_scan(r->tml, &scan));
        FAULT_DO(r, tml_compact(r->tml, &compact));
        FAULT_DO(r, tml_vulkan_indirect(
                        r->tml, &(tml_vulkan_indirect_desc){.kind = TML_VULKAN_INDIRECT_DRAW,
                                                            .count = count,
                                                            .out = arguments}));
        tml_status status = tml_vulkan_record_end(r->tml); /* whatever failed in between */
        FAULT_DO(r, status);
    }
    DRIVER(vkEndCommandBuffer)(commands);
    for (int i = 0; i < 2; i++) {
        FAULT_DO(r, tml_sync(r->tml));
        if (r->status == TML_OK) {
            const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                         .commandBufferCount = 1,
                                         .pCommandBuffers = &commands};
            DRIVER(vkQueueSubmit)(lent.queue, 1, &submit, VK_NULL_HANDLE);
            DRIVER(vkQueueWaitIdle)(lent.queue);
        }
        FAULT_DO(r, tml_vulkan_check(r->tml));
        fault_take(r, out, COUNT);
        fault_take(r, arguments, 4);
        FAULT_DO(r, tml_scan(r->tml, &scan));
    }
    tml_status forgotten = tml_vulkan_forget_recordings(r->tml);
    FAULT_DO(r, forgotten);
    DRIVER(vkDestroyCommandPool)(lent.device, pool, NULL);
}
#endif

#ifdef TML_GL
static void run_gl(fault_run *r)
{
    tml_buffer in = numbers_of(r, 20000, 20), out = fault_buffer(r, TML_U32, 20000, NULL),
               total = fault_buffer(r, TML_U32, 1, NULL);
    const tml_scan_desc scan = {.in = in, .out = out, .total = total};
    tml_prepared prepared = {.programs_left = 1};
    for (int i = 0; i < 40 && prepared.programs_left > 0 && r->status == TML_OK; i++) {
        FAULT_DO(r, tml_prepare_begin(r->tml));
        bool has_begun = r->status == TML_OK;
        FAULT_DO(r, tml_scan(r->tml, &scan));
        if (has_begun) { /* whatever failed in between */
            tml_status status = tml_prepare_end(r->tml, &prepared);
            FAULT_DO(r, status);
        }
    }
    FAULT_DO(r, tml_gl_begin(r->tml));
    if (r->status == TML_OK) {
        FAULT_DO(r, tml_scan(r->tml, &scan));
        FAULT_DO(r, tml_scan(r->tml, &scan));
        tml_gl_end(r->tml);
    }
    FAULT_DO(r, tml_gl_glsl(r->tml) ? TML_OK : TML_ERROR_OUT_OF_MEMORY);
    static uint8_t programs[1 << 20]; /* from here to there and back */
    size_t size = sizeof programs;
    FAULT_DO(r, tml_cache(r->tml, programs, &size));
    FAULT_DO(r, tml_cache_add(r->tml, programs, size));
    FAULT_DO(r, tml_scan(r->tml, &scan));
    fault_take(r, total, 1);
    fault_take(r, out, 20000);
}

/* From a texture of the program's to a buffer, back, and measured and halved where it is. */
static void run_textures(fault_run *r)
{
    enum { COUNT = 4 * 8 * 4, CHAIN = 4 * (4 * 2 + 2 + 1) };
    tml_buffer numbers = fault_buffer(r, TML_F32, COUNT, NULL),
               chain = fault_buffer(r, TML_F32, CHAIN, NULL);
    tml_gl_transfer_desc desc = {
        .image = {fault_gl_texture(), 0}, .width = 8, .height = 4, .buffer = numbers};
    FAULT_DO(r, tml_gl_import(r->tml, &desc));
    FAULT_DO(r, tml_gl_export(r->tml, &desc));
    desc.tile_width = 4;
    desc.tile_height = 2;
    FAULT_DO(r, tml_gl_import(r->tml, &desc));
    fault_take(r, numbers, COUNT);
    const tml_image image = {.width = 8, .height = 4, .channels = 4, .gl = &desc.image};
    FAULT_DO(r, tml_image_mips(r->tml, &(tml_image_mips_desc){.in = image, .out = chain}));
    fault_take(r, chain, CHAIN);
}
#endif

/* ---- the table ------------------------------------------------------------------------------- */

static const fault_scenario scenarios[] = {
    {"open", run_map, ON_ALL, true},
    {"buffers", run_buffers, ON_ALL, false},
    {"map", run_map, ON_ALL, false},
    {"reduce", run_reduce, ON_ALL, false},
    {"histogram", run_histogram, ON_ALL, false},
    {"sort", run_sort, ON_ALL, false},
    {"sort of segments", run_sort_segments, ON_ALL, false},
    {"top_k", run_top_k, ON_ALL, false},
    {"gather", run_gather, ON_ALL, false},
    {"search", run_search, ON_ALL, false},
    {"reduce_by_key", run_reduce_by_key, ON_ALL, false},
    {"scan", run_scan, ON_ALL, false},
    {"scan_look_back", run_scan_look_back, ON_CPU | ON_VULKAN, false},
    {"compact", run_compact, ON_ALL, false},
    {"compact_look_back", run_compact_look_back, ON_CPU | ON_VULKAN, false},
    {"compact_then_scan", run_compact_then_scan, ON_CPU | ON_VULKAN, false},
    {"compact_histopyramid", run_compact_histopyramid, ON_CPU, false},
    {"partition", run_partition, ON_ALL, false},
    {"expand", run_expand, ON_ALL, false},
    {"expand_histopyramid", run_expand_histopyramid, ON_CPU, false},
    {"unique", run_unique, ON_ALL, false},
    {"segments", run_segments, ON_ALL, false},
    {"float_streams", run_float_streams, ON_FLOAT, false},
    {"surface", run_surface, ON_ALL, false},
    {"surface_filters", run_surface_filters, ON_ALL, false},
    {"surface_soup", run_surface_soup, ON_ALL | ON_FLOAT, false},
    {"surface_isovalues", run_surface_isovalues, ON_ALL, false},
    {"surface_labels", run_surface_labels, ON_ALL, false},
    {"surface_nets", run_surface_nets, ON_ALL, false},
    {"surface_into", run_surface_into, ON_ALL, false},
    {"surface_on_host", run_surface_on_host, ON_CPU | ON_VULKAN, false},
    {"surface_of_field", run_surface_of_field, ON_ALL, false},
    {"surface_enqueue", run_surface_enqueue, ON_ALL, false},
    {"surface_enqueue_soup", run_surface_enqueue_soup, ON_ALL, false},
    {"surface_enqueue_field", run_surface_enqueue_field, ON_ALL, false},
    {"surface_slabs", run_surface_slabs, ON_CPU | ON_VULKAN, false},
    {"slabs_of_labels", run_slabs_of_labels, ON_CPU, false},
    {"slabs_of_field", run_slabs_of_field, ON_CPU, false},
    {"surface_cells", run_surface_cells, ON_ALL, false},
    {"mesh", run_mesh, ON_ALL, false},
    {"field_mean", run_field_mean, ON_ALL, false},
    {"field_shapes", run_field_shapes, ON_ALL, false},
    {"field", run_field, ON_ALL, false},
    {"image", run_image, ON_ALL, false},
    {"mips", run_mips, ON_ALL, false},
    {"trees", run_trees, ON_ALL, false},
    {"collide_depth", run_collide_depth, ON_ALL, false},
    {"collide_breadth", run_collide_breadth, ON_ALL, false},
    {"collide_parts", run_collide_parts, ON_ALL, false},
    {"trees_there", run_trees_there, ON_CPU, false},
    {"distance", run_distance, ON_ALL, false},
    {"nearest", run_nearest, ON_ALL, false},
    {"sides", run_sides, ON_ALL, false},
    {"subdivide_uniform", run_uniform, ON_ALL, false},
    {"subdivide_adaptive", run_adaptive, ON_ALL, false},
    {"subdivide_adaptive_enqueue", run_adaptive_enqueue, ON_ALL, false},
#ifdef TML_VULKAN
    {"vulkan", run_vulkan, ON_VULKAN, false},
    {"recording", run_recording, ON_VULKAN, false},
#endif
#ifdef TML_GL
    {"gl", run_gl, ON_GL, false},
    {"textures", run_textures, ON_GL, false},
#endif
    {0},
};

enum {
    ON_HOST = 1u << FAULT_MEMORY | 1u << FAULT_REPORT | 1u << FAULT_KERNEL,
    ON_DRIVER = 1u << FAULT_VK_HOST | 1u << FAULT_VK_DEVICE | 1u << FAULT_VK_LOST,
};

int main(int argc, char **argv)
{
    fault_config configs[] = {
        {"cpu", ON_CPU, ON_HOST, 1, 2, {.engine = TML_ENGINE_CPU}, {0}, 20011},
        {"threads", ON_CPU, ON_HOST, 3, 2, {.engine = TML_ENGINE_CPU, .threads = 3}, {0}, 60011},
#ifdef TML_VULKAN
        {"vulkan",
         ON_VULKAN,
         ON_HOST | ON_DRIVER,
         16,
         1,
         {.engine = TML_ENGINE_VULKAN},
         {0},
         20011},
        {"passes",
         ON_VULKAN,
         ON_HOST | ON_DRIVER,
         32,
         1,
         {.engine = TML_ENGINE_VULKAN},
         {.vulkan_staging = true, .vulkan_pass_items = 1 << 16},
         140011},
#endif
#ifdef TML_GL
        {"gl", ON_GL, ON_HOST | 1u << FAULT_GL, 16, 1, {.engine = TML_ENGINE_GL}, {0}, 20011},
        {"rows",
         ON_GL,
         ON_HOST | 1u << FAULT_GL,
         32,
         1,
         {.engine = TML_ENGINE_GL},
         {.gl_row_log2 = 5},
         20011},
        {"float", ON_FLOAT, ON_HOST | 1u << FAULT_GL, 4, 1, {.engine = TML_ENGINE_GL}, {0}, 20011},
        {"packed", ON_FLOAT, ON_HOST | 1u << FAULT_GL, 4, 1, {.engine = TML_ENGINE_GL}, {0}, 9001},
#endif
        {0},
    };
    for (fault_config *config = configs; config->name; config++) {
        (void)config;
#ifdef TML_VULKAN
        /* All copies are staged, streams are in passes, and what is large goes through in slabs. */
        extern const tml_vulkan_kernel test_faults_kernels[];
        static const tml_vulkan_desc plain = {.kernels = test_faults_kernels},
                                     passes = {.kernels = test_faults_kernels,
                                               .memory_limit = 96 << 20};
        if (config->bit == ON_VULKAN)
            config->open.vulkan = strcmp(config->name, "passes") == 0 ? &passes : &plain;
#endif
#ifdef TML_GL
        static const tml_gl_desc integer = {.path = TML_GL_PATH_INTEGER},
                                 rows = {.path = TML_GL_PATH_INTEGER, .exact_counts = true},
                                 floats = {.path = TML_GL_PATH_FLOAT},
                                 packed = {.path = TML_GL_PATH_PACKED};
        if (config->open.engine == TML_ENGINE_GL)
            config->open.gl = strcmp(config->name, "rows") == 0     ? &rows
                              : strcmp(config->name, "float") == 0  ? &floats
                              : strcmp(config->name, "packed") == 0 ? &packed
                                                                    : &integer;
#endif
    }
    return fault_main(argc, argv, configs, scenarios);
}
