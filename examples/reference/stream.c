/* Streams: map, reduce, histogram, scan, compact, partition, sort, top k, gather, scatter, search,
 * expand, unique, folds by key, segments. */
#include "reference.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(float, squared, (float x), { return x * x; })
TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f; })
TML_KERNEL(uint, octave, (float x), { return U(floor(log2(x))); })
TML_KERNEL(uint, copies, (uint digit), { return digit; })
TML_KERNEL(uint, numbered, (uint digit, tml_rank k), { return 10u * digit + k; })
#include <trommel/kernel_end.h>

/* A kernel of each element. */
static void map(tml_context *tml)
{
    float squares[3];
    const tml_buffer in = buffer_of(tml, TML_F32, 3, (float[]){1, 2, 3});
    const tml_buffer out = buffer_of(tml, TML_F32, 3, NULL);
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(squared), .in = {in}, .out = {out}}));
    MUST(tml_buffer_read(tml, out, squares));
    CHECK(squares[0] == 1 && squares[1] == 4 && squares[2] == 9);
}

/* A sum, and the place of the largest element in the same pass; the bounding box of points. */
static void reduce(tml_context *tml)
{
    double sum;
    uint64_t where;
    const tml_buffer in = buffer_of(tml, TML_F32, 4, (float[]){2, 8, 4, 1});
    const tml_buffer total = buffer_of(tml, TML_F64, 1, NULL);
    const tml_buffer largest = buffer_of(tml, TML_U32, 1, NULL);
    const tml_reduce_result argmax = {TML_FOLD_ARGMAX, largest}; /* of at most TML_MAX_FOLDS */
    MUST(tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_SUM, total}, argmax}}));
    MUST(tml_buffer_read(tml, total, &sum));
    MUST(tml_buffer_read_count(tml, largest, &where));
    CHECK(sum == 15 && where == 1);

    float low[3], high[3];
    const tml_buffer points =
        buffer_of(tml, TML_VEC(TML_F32, 3), 2, (float[]){1, 2, 3, /* and */ -1, 5, 3});
    const tml_buffer least = buffer_of(tml, TML_VEC(TML_F32, 3), 1, NULL);
    const tml_buffer most = buffer_of(tml, TML_VEC(TML_F32, 3), 1, NULL);
    MUST(tml_reduce(
        tml,
        &(tml_reduce_desc){.in = points, .folds = {{TML_FOLD_MIN, least}, {TML_FOLD_MAX, most}}}));
    MUST(tml_buffer_read(tml, least, low));
    MUST(tml_buffer_read(tml, most, high));
    CHECK(low[0] == -1 && low[1] == 2 && low[2] == 3 && high[0] == 1 && high[1] == 5);
}

/* How many elements are in each bin, which a kernel chooses: here by powers of two; and the sums of
 * weights between edges. */
static void histogram(tml_context *tml)
{
    uint32_t counts[4];
    float sums[2];
    const tml_buffer in = buffer_of(tml, TML_F32, 5, (float[]){1, 2, 3, 5, 9});
    const tml_buffer bins = buffer_of(tml, TML_U32, 4, NULL);
    const tml_buffer edges =
        buffer_of(tml, TML_F32, 3, (float[]){0, 3, 9}); /* the last bin: 3 to 9 */
    const tml_buffer weights = buffer_of(tml, TML_F32, 5, (float[]){0.5f, 1, 1, 2, 4});
    const tml_buffer weighed = buffer_of(tml, TML_F32, 2, NULL);
    MUST(tml_histogram(tml,
                       &(tml_histogram_desc){.kernel = TML_USE(octave), .in = {in}, .out = bins}));
    MUST(tml_buffer_read(tml, bins, counts));
    CHECK(counts[0] == 1 && counts[1] == 2 && counts[2] == 1 && counts[3] == 1);
    MUST(tml_histogram(tml, &(tml_histogram_desc){
                                .in = {in}, .edges = edges, .weights = weights, .out = weighed}));
    MUST(tml_buffer_read(tml, weighed, sums));
    CHECK(sums[0] == 1.5f && sums[1] == 7);
}

/* Where each row of a table begins, from the rows' lengths: the sum of those before it. */
static void scan(tml_context *tml)
{
    uint32_t first[4], count;
    const tml_buffer lengths = buffer_of(tml, TML_U32, 4, (uint32_t[]){3, 0, 2, 5});
    const tml_buffer offsets = buffer_of(tml, TML_U32, 4, NULL);
    const tml_buffer total = buffer_of(tml, TML_U32, 1, NULL);
    MUST(tml_scan(tml, &(tml_scan_desc){.in = lengths, .out = offsets, .total = total}));
    MUST(tml_buffer_read(tml, offsets, first));
    MUST(tml_buffer_read(tml, total, &count));
    CHECK(first[0] == 0 && first[1] == 3 && first[2] == 3 && first[3] == 5 && count == 10);
    const tml_buffer start = buffer_of(tml, TML_U32, 1, (uint32_t[]){1});
    MUST(tml_scan(tml, &(tml_scan_desc){
                           .in = lengths, .out = offsets, .fold = TML_FOLD_MAX, .start = start}));
    MUST(tml_buffer_read(tml, offsets, first));
    CHECK(first[0] == 1 && first[1] == 3 && first[2] == 3 &&
          first[3] == 3); /* the longest so far */
}

/* The elements for which a kernel is true, in order, and what else belongs to them. */
static void compact(tml_context *tml)
{
    uint64_t count;
    char kept[4] = "";
    const tml_buffer values = buffer_of(tml, TML_F32, 4, (float[]){3, -1, 4, -2});
    const tml_buffer names = buffer_of(tml, TML_U8, 4, "abcd");
    const tml_buffer kept_count = buffer_of(tml, TML_U32, 1, NULL);
    const tml_payload both[] = {{values, values},
                                {names, names}}; /* in place; up to TML_MAX_PAYLOADS */
    MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_positive),
                                              .payloads = {both[0], both[1]},
                                              .count = kept_count}));
    MUST(tml_buffer_read_count(tml, kept_count, &count));
    MUST(tml_buffer_read_range(tml, names, 0, count, kept));
    CHECK(count == 2 && !strcmp(kept, "ac"));
}

/* The same with flags in place of a kernel, a length that the host computed, and indices alone. */
static void compact_flags(tml_context *tml)
{
    uint32_t where[2];
    const tml_keep keep = {.flags = buffer_of(tml, TML_U8, 5, (uint8_t[]){0, 1, 0, 1, 1})};
    const tml_buffer indices = buffer_of(tml, TML_U32, 4, NULL);
    const tml_length length = tml_length_of(4); /* of 0 it would be none, where .count = 0 is all */
    MUST(tml_compact(tml, &(tml_compact_desc){.keep = keep, .length = length, .indices = indices}));
    MUST(tml_buffer_read_range(tml, indices, 0, 2, where));
    CHECK(where[0] == 1 && where[1] == 3);
}

/* What is kept comes first, the rest follows, both in order. */
static void partition(tml_context *tml)
{
    float parts[4];
    const tml_buffer in = buffer_of(tml, TML_F32, 4, (float[]){3, -1, 4, -2});
    const tml_buffer out = buffer_of(tml, TML_F32, 4, NULL);
    const tml_compact_desc desc = {
        .keep.kernel = TML_USE(is_positive), .payloads = {{in, out}}, .partition = true};
    MUST(tml_compact(tml, &desc));
    MUST(tml_buffer_read(tml, out, parts));
    CHECK(parts[0] == 3 && parts[1] == 4 && parts[2] == -1 && parts[3] == -2);
}

/* Keys in ascending order, and where each came from. */
static void sort(tml_context *tml)
{
    float keys[3];
    uint32_t sources[3];
    const tml_buffer in = buffer_of(tml, TML_F32, 3, (float[]){2, -5, 1});
    const tml_buffer from = buffer_of(tml, TML_U32, 3, NULL);
    MUST(tml_sort(tml, &(tml_sort_desc){.keys = in, .sorted = in, .indices = from}));
    MUST(tml_buffer_read(tml, in, keys));
    MUST(tml_buffer_read(tml, from, sources));
    CHECK(keys[0] == -5 && keys[1] == 1 && keys[2] == 2);
    CHECK(sources[0] == 1 && sources[1] == 2 && sources[2] == 0);
}

/* Each segment's keys by themselves. */
static void sort_segments(tml_context *tml)
{
    float keys[5];
    const tml_buffer in = buffer_of(tml, TML_F32, 5, (float[]){2, -5, 1, 0, -1});
    const tml_buffer offsets = buffer_of(tml, TML_U32, 3, (uint32_t[]){0, 2, 5});
    MUST(tml_sort(tml, &(tml_sort_desc){.keys = in, .segments.offsets = offsets, .sorted = in}));
    MUST(tml_buffer_read(tml, in, keys));
    CHECK(keys[0] == -5 && keys[1] == 2 && keys[2] == -1 && keys[3] == 0 && keys[4] == 1);
}

/* The two largest keys, and where they are. */
static void top_k(tml_context *tml)
{
    float values[2];
    uint32_t sources[2];
    const tml_buffer keys = buffer_of(tml, TML_F32, 5, (float[]){2, 9, -5, 4, 9});
    const tml_buffer largest = buffer_of(tml, TML_F32, 2, NULL);
    const tml_buffer from = buffer_of(tml, TML_U32, 2, NULL);
    const tml_top_k_desc desc = {
        .keys = keys, .k = tml_length_of(2), .values = largest, .indices = from};
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_top_k(tml, &desc)))); /* nothing is allocated later */
    MUST(tml_top_k(tml, &desc));
    MUST(tml_buffer_read(tml, largest, values));
    MUST(tml_buffer_read(tml, from, sources));
    CHECK(values[0] == 9 && values[1] == 9);
    CHECK(sources[0] == 1 && sources[1] == 4); /* of equal keys the earlier comes first */
}

/* Elements by their numbers: out[i] = in[indices[i]]. */
static void gather(tml_context *tml)
{
    char spelt[4] = "";
    const tml_buffer letters = buffer_of(tml, TML_U8, 4, "abcd");
    const tml_buffer indices = buffer_of(tml, TML_U32, 3, (uint32_t[]){2, 0, 1});
    const tml_buffer out = buffer_of(tml, TML_U8, 3, NULL);
    MUST(tml_gather(tml, &(tml_gather_desc){.indices = indices, .payloads = {{letters, out}}}));
    MUST(tml_buffer_read(tml, out, spelt));
    CHECK(!strcmp(spelt, "cab"));
}

/* The inverse: out[indices[i]] = in[i]; what no index names stays. */
static void scatter(tml_context *tml)
{
    char spelt[5] = "";
    const tml_buffer letters = buffer_of(tml, TML_U8, 2, "ow");
    const tml_buffer indices = buffer_of(tml, TML_U32, 2, (uint32_t[]){1, 2});
    const tml_buffer out = buffer_of(tml, TML_U8, 4, "f__l");
    MUST(tml_scatter(tml, &(tml_gather_desc){.indices = indices, .payloads = {{letters, out}}}));
    MUST(tml_buffer_read(tml, out, spelt));
    CHECK(!strcmp(spelt, "fowl"));
}

/* Where each query belongs in a sorted stream: before what is not less. */
static void search(tml_context *tml)
{
    uint32_t places[3];
    const tml_buffer sorted = buffer_of(tml, TML_F32, 4, (float[]){1, 3, 3, 7});
    const tml_buffer queries = buffer_of(tml, TML_F32, 3, (float[]){3, 0, 9});
    const tml_buffer out = buffer_of(tml, TML_U32, 3, NULL);
    const tml_search_desc desc = {.sorted = sorted, .queries = queries, .out = out};
    MUST(
        tml_reserve(tml, SCRATCH_OF(tml, tml_search(tml, &desc)))); /* nothing is allocated later */
    MUST(tml_search(tml, &desc));
    MUST(tml_buffer_read(tml, out, places));
    CHECK(places[0] == 1 && places[1] == 0 && places[2] == 4);
}

/* Each element becomes as many as it says: 2 0 3 becomes 20 21 30 31 32. */
static void expand(tml_context *tml)
{
    uint32_t numbers[5];
    const tml_buffer in = buffer_of(tml, TML_U32, 3, (uint32_t[]){2, 0, 3});
    const tml_buffer out = buffer_of(tml, TML_U32, 5, NULL);
    MUST(tml_expand(tml, &(tml_expand_desc){.count_kernel = TML_USE(copies),
                                            .emit_kernel = TML_USE(numbered),
                                            .in = {in},
                                            .out = {out}}));
    MUST(tml_buffer_read(tml, out, numbers));
    CHECK(numbers[0] == 20 && numbers[1] == 21 && numbers[2] == 30 && numbers[4] == 32);
}

/* One element of each run of equal ones, and how long it is: run-length coding. */
static void unique(tml_context *tml)
{
    uint64_t count;
    uint32_t run[3];
    char value[4] = "";
    const tml_buffer in = buffer_of(tml, TML_U8, 6, "aabccc");
    const tml_buffer runs = buffer_of(tml, TML_U32, 1, NULL);
    const tml_buffer values = buffer_of(tml, TML_U8, 6, NULL);
    const tml_buffer lengths = buffer_of(tml, TML_U32, 6, NULL);
    MUST(tml_unique(
        tml, &(tml_unique_desc){.in = in, .values = values, .lengths = lengths, .count = runs}));
    MUST(tml_buffer_read_count(tml, runs, &count));
    MUST(tml_buffer_read_range(tml, values, 0, count, value));
    MUST(tml_buffer_read_range(tml, lengths, 0, count, run));
    CHECK(count == 3 && !strcmp(value, "abc") && run[0] == 2 && run[1] == 1 && run[2] == 3);
}

/* A sum for each run of equal keys. */
static void reduce_by_key(tml_context *tml)
{
    uint64_t count, sums[3];
    const tml_buffer keys = buffer_of(tml, TML_U8, 5, "aabcc");
    const tml_buffer values = buffer_of(tml, TML_U32, 5, (uint32_t[]){1, 2, 3, 4, 5});
    const tml_buffer starts = buffer_of(tml, TML_U32, 5, NULL);
    const tml_buffer out = buffer_of(tml, TML_U64, 5, NULL);
    const tml_buffer runs = buffer_of(tml, TML_U32, 1, NULL);
    MUST(tml_unique(tml, &(tml_unique_desc){.in = keys, .starts = starts, .count = runs}));
    const tml_segments segments = {.starts = starts, .count.device = runs};
    MUST(tml_reduce(tml, &(tml_reduce_desc){
                             .in = values, .folds = {{TML_FOLD_SUM, out}}, .segments = segments}));
    MUST(tml_buffer_read_count(tml, runs, &count));
    MUST(tml_buffer_read_range(tml, out, 0, count, sums));
    CHECK(count == 3 && sums[0] == 3 && sums[1] == 3 && sums[2] == 9);
}

/* The largest of each segment; segment s ends where s + 1 begins. */
static void reduce_segments(tml_context *tml)
{
    float largest[2];
    const tml_buffer in = buffer_of(tml, TML_F32, 5, (float[]){1, 7, 3, 2, 9});
    const tml_buffer offsets = buffer_of(tml, TML_U32, 3, (uint32_t[]){0, 3, 5});
    const tml_buffer out = buffer_of(tml, TML_F32, 2, NULL);
    const tml_segments segments = {.offsets = offsets};
    MUST(tml_reduce(
        tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_MAX, out}}, .segments = segments}));
    MUST(tml_buffer_read(tml, out, largest));
    CHECK(largest[0] == 7 && largest[1] == 9);
}

/* Running sums that begin anew with each segment. */
static void scan_segments(tml_context *tml)
{
    uint32_t sums[5];
    const tml_buffer in = buffer_of(tml, TML_U32, 5, (uint32_t[]){1, 7, 3, 2, 9});
    const tml_buffer offsets = buffer_of(tml, TML_U32, 3, (uint32_t[]){0, 3, 5});
    MUST(tml_scan(tml, &(tml_scan_desc){
                           .in = in, .segments.offsets = offsets, .inclusive = true, .out = in}));
    MUST(tml_buffer_read(tml, in, sums));
    CHECK(sums[1] == 8 && sums[2] == 11 && sums[3] == 2 && sums[4] == 11);
}

/* A count that stays on the device is the next operation's length: nothing waits in between. */
static void length_on_the_device(tml_context *tml)
{
    double sum;
    const tml_buffer in = buffer_of(tml, TML_F32, 4, (float[]){3, -1, 4, -2});
    const tml_buffer kept = buffer_of(tml, TML_U32, 1, NULL);
    const tml_buffer total = buffer_of(tml, TML_F64, 1, NULL);
    MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_positive),
                                              .payloads = {{in, in}},
                                              .count = kept}));
    MUST(tml_reduce(tml, &(tml_reduce_desc){
                             .in = in, .length.device = kept, .folds = {{TML_FOLD_SUM, total}}}));
    MUST(tml_buffer_read(tml, total, &sum));
    CHECK(sum == 7);
}

/* What is kept follows what is there: the list grows, and its count with it. */
static void append(tml_context *tml)
{
    uint64_t length;
    float list[4];
    const tml_buffer in = buffer_of(tml, TML_F32, 3, (float[]){-1, 7, 8});
    const tml_buffer out = buffer_of(tml, TML_F32, 4, (float[4]){5});
    const tml_buffer count = buffer_of(tml, TML_U32, 1, &(uint32_t){1});
    MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_positive),
                                              .payloads = {{in, out}},
                                              .out_first = count,
                                              .count = count}));
    MUST(tml_buffer_read_count(tml, count, &length));
    MUST(tml_buffer_read_range(tml, out, 0, length, list));
    CHECK(length == 3 && list[0] == 5 && list[1] == 7 && list[2] == 8);
}

/* A method and scratch memory of your own choice: such a call takes nothing from the context. */
static void method_and_scratch(tml_context *tml)
{
    uint32_t sums[4];
    const tml_buffer in = buffer_of(tml, TML_U32, 4, (uint32_t[]){1, 2, 3, 4});
    tml_scan_desc desc = {.in = in, .method = TML_METHOD_REDUCE_THEN_SCAN, .out = in};
    CHECK(!strcmp(tml_method_name(desc.method), "reduce_then_scan"));
    desc.scratch = buffer_of(tml, TML_U8, SCRATCH_OF(tml, tml_scan(tml, &desc)), NULL);
    MUST(tml_scan(tml, &desc));
    MUST(tml_buffer_read(tml, in, sums));
    CHECK(sums[3] == 6);
}

/* What a frame's calls require, beforehand: they then allocate nothing, and compile nothing. */
static void prepare(tml_context *tml)
{
    const tml_buffer data = buffer_of(tml, TML_F32, 5000, NULL);
    const tml_buffer bins = buffer_of(tml, TML_U32, 4, NULL);
    const tml_buffer count = buffer_of(tml, TML_U32, 1, NULL);
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml)); /* up to tml_prepare_end nothing runs */
    MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_positive),
                                              .payloads = {{data, data}},
                                              .count = count}));
    MUST(tml_histogram(
        tml, &(tml_histogram_desc){.kernel = TML_USE(octave), .in = {data}, .out = bins}));
    MUST(tml_sort(tml, &(tml_sort_desc){.keys = data, .sorted = data}));
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size)); /* the most that one of the calls requires */
    tml_device_info info;
    tml_context_describe(tml, &info);
    CHECK(prepared.scratch_size > 0 && info.scratch_size >= prepared.scratch_size);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){map,
                                           reduce,
                                           histogram,
                                           scan,
                                           compact,
                                           compact_flags,
                                           partition,
                                           sort,
                                           sort_segments,
                                           top_k,
                                           gather,
                                           scatter,
                                           search,
                                           expand,
                                           unique,
                                           reduce_by_key,
                                           reduce_segments,
                                           scan_segments,
                                           length_on_the_device,
                                           append,
                                           method_and_scratch,
                                           prepare,
                                           NULL});
}
