/* Streams: operations on arrays whose length depends on data.
 *
 *     map               out[i] = kernel(in[i])
 *     reduce            one value of all elements, or one value per segment
 *     histogram         counts, or sums of weights, per bin
 *     scan              running sums, minima or maxima, of the stream or per segment
 *     compact           the elements that a test keeps; partition: then the others
 *     sort, top_k       by keys; the k largest or smallest
 *     gather, scatter   moves elements by indices
 *     search            places of queries in a sorted stream
 *     expand            any number of outputs per element
 *     unique            runs of equal neighbours
 *
 * Example: the sum of the large squares. No call waits before tml_buffer_read.
 *
 *     tml_map(tml, &(tml_map_desc){.kernel = TML_USE(square), .in = {x}, .out = {squares}});
 *     tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_large),
 *                                          .payloads = {{squares, large}}, .count = count});
 *     tml_reduce(tml, &(tml_reduce_desc){.in = large, .length.device = count,
 *                                        .folds = {{TML_FOLD_SUM, sum}}});
 *     tml_buffer_read(tml, sum, &result);
 *
 * Rules that all operations share
 *   Length      The number of elements that go in (tml_length).
 *   Outputs     Buffers that the caller made, with room for the bound that each field states.
 *               Elements past the result are left as they were. An output may not overlap an input
 *               (length.device included), unless its field says "in place", nor another output.
 *   Counts      One-element buffers of u32 or u64 on the device. No call reads them back. If the
 *               bound of a count does not fit u32, a u32 buffer is INVALID_ARGUMENT.
 *   Order       Outputs are stable: in the order of their sources. Integers, indices, counts and
 *               order are equal bit for bit on every engine, by every method, for any number of
 *               threads. Floats are equal bit for bit for any number of threads on one engine, and
 *               within the stated bound between engines.
 *   Scratch     The context's arena, which grows at first use only; or desc.scratch: TML_U8, at
 *               least as large as tml_prepare_end reports, apart from all other buffers of the
 *               call. Its contents are undefined before and after.
 *   Waits       Never.
 *   Memory      Allocates nothing once the arena is large enough.
 *   Errors      INVALID_ARGUMENT, INVALID_HANDLE, SCRATCH_TOO_SMALL, UNSUPPORTED (a type, method or
 *               kernel on this engine: docs/ops.md), OUT_OF_MEMORY (the arena), CANCELLED. A call
 *               that fails changed no output. Exceptions: CANCELLED; and a GPU that runs out of
 *               memory, or refuses a shader, in a later part of the work.
 *
 * Speed and scratch per operation: docs/numbers.md. Sources: with each operation. */
#ifndef TROMMEL_STREAM_H
#define TROMMEL_STREAM_H

#include <trommel/core.h>
#include <trommel/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TML_MAX_FOLDS = 8,    /* of one tml_reduce */
    TML_MAX_PAYLOADS = 8, /* arrays that one operation moves */
};

/* How an operation finds the positions of its outputs. Every method gives the same result. */
typedef enum tml_method {
    TML_METHOD_AUTO,      /* the fastest on this device */
    TML_METHOD_LOOK_BACK, /* one pass; tiles chain their counts. Merrill, Garland: Single-pass
                           * Parallel Prefix Scan with Decoupled Look-back. 2016 */
    TML_METHOD_REDUCE_THEN_SCAN, /* count tiles, scan the counts, then write */
    TML_METHOD_HISTOPYRAMID, /* a pyramid of partial sums, descended once per output. Ziegler, Tevs,
                              * Theobalt, Seidel: GPU Point List Generation through Histogram
                              * Pyramids. 2006 */
} tml_method;
/* Returns the name of a method, "look_back" for instance; never NULL. */
static inline const char *tml_method_name(tml_method method)
{
    static const char *const names[] = {"auto", "look_back", "reduce_then_scan", "histopyramid"};
    return (unsigned)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

/* The number of elements of a stream. Zeroed: all elements of the first input.
 * count         the number, or the upper bound of the number in device. 0: the first input's
 *               element count
 * device        optional: u32 or u64; the number is read on the device when the operation runs, and
 *               a number above the bound counts as the bound
 * device_index  the element of device
 * exact         count means count, also where it is 0: no elements */
typedef struct tml_length {
    uint64_t count;
    tml_buffer device;
    uint64_t device_index;
    bool exact;
} tml_length;
/* Returns a length of count elements; 0: none. For counts that the host computed. */
static inline tml_length tml_length_of(uint64_t count)
{
    tml_length length = {count, {0, 0}, 0, true};
    return length;
}

/* Parts of a stream that an operation treats as streams of their own. Zeroed: no segments. Exactly
 * one of offsets and starts gives them.
 * offsets  segments + 1 values, u32 or u64, not decreasing: segment s is
 *          [offsets[s], offsets[s + 1]). A segment that ends past the length is empty. Where
 *          offsets decrease, the outputs are unspecified; nothing outside of the call's buffers is
 *          read or written
 * starts   one value per segment, u32 or u64, as tml_unique writes them: a segment ends where the
 *          next one begins, and the last one at the length
 * count    the number of starts, also on the device; zeroed with offsets
 * Segments may have any lengths: the work is balanced over elements. */
typedef struct tml_segments {
    tml_buffer offsets;
    tml_buffer starts;
    tml_length count;
} tml_segments;

/* ---- map ------------------------------------------------------------------------------------ */

/* out[0][i] = kernel(in[0][i], in[1][i], ...).
 * kernel  a kernel of any result; its array parameters consume in[] in order. f16, u8 and the like
 *         arrive widened (kernel.h)
 * params  the kernel's tml_params
 * in      one buffer per array parameter
 * out     length elements of the kernel's result type (bool: u8 of 0 or 1). A kernel of several
 *         outputs (TML_KERNEL_OUTS) fills out[0], out[1] ... in its order. In place where the
 *         element sizes are equal: any output may be any input
 * length  default: the element count of the first array read element by element, or of out[0] */
typedef struct tml_map_desc {
    const tml_kernel *kernel;
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS];
    tml_buffer out[TML_MAX_OUTS];
    tml_length length;
} tml_map_desc;
TML_API TML_MUST_CHECK tml_status tml_map(tml_context *tml, const tml_map_desc *desc);
/* Returns the bytes of the arena that a device length requires; 0 without one. */

/* ---- reduce --------------------------------------------------------------------------------- */

typedef enum tml_fold {
    TML_FOLD_SUM,
    TML_FOLD_MIN,
    TML_FOLD_MAX,
    TML_FOLD_ARGMIN, /* the index of the first smallest element */
    TML_FOLD_ARGMAX,
    TML_FOLD_MEAN,
} tml_fold;

/* One result of tml_reduce. Types of out, for elements of type T:
 *   SUM             u64 or i64 for integers (exact modulo 2^64), f64 or f32 for floats
 *   MEAN            f64 or f32
 *   MIN, MAX        T
 *   ARGMIN, ARGMAX  u64 or u32: an index in the whole stream
 * An empty stream or segment: SUM 0, MEAN NaN, MIN the type's largest (inf for floats), MAX the
 * smallest, ARGMIN and ARGMAX the largest unsigned value. */
typedef struct tml_reduce_result {
    tml_fold fold;
    tml_buffer out; /* zeroed: unused */
} tml_reduce_result;

/* Folds a stream to one value, or each of its segments to one value.
 * in        any scalar type; without segments also TML_VEC of u32, i32, f32, u64, i64 or f64, which
 *           is folded component by component: MIN and MAX of positions are a bounding box
 * folds     up to 8 results of the same elements, each the result of a call of its own, bit for
 *           bit. out: one element (of vectors a vector of as many components), or one per segment
 * segments  optional. out has room for the bound of segments; elements past their number are left
 *           as they were. With offsets length.device is unsupported
 * NaN       SUM and MEAN: propagates. MIN, MAX, ARGMIN, ARGMAX: ignored, unless all elements are
 *           NaN (then MIN and MAX are NaN, ARGMIN and ARGMAX the largest unsigned value)
 * Accuracy  CPU: floats are summed in double, in a fixed order: within n * 2^-53 * sum|x|, plus one
 *           rounding to out's type. GPUs: f64 likewise; f16, f32 and means of integers in single
 *           precision in a fixed tree: within (log2 n + 8) * 2^-24 * sum|x|. A segment's result is
 *           that of a stream of its elements
 * After:    Blelloch: Prefix Sums and Their Applications. 1990. */
typedef struct tml_reduce_desc {
    tml_buffer in;
    tml_reduce_result folds[TML_MAX_FOLDS];
    tml_length length;
    tml_segments segments;
    tml_buffer scratch;
} tml_reduce_desc;
TML_API TML_MUST_CHECK tml_status tml_reduce(tml_context *tml, const tml_reduce_desc *desc);

/* ---- histogram ------------------------------------------------------------------------------- */

/* out[b] = the number of elements in bin b, or the sum of their weights.
 * One of four inputs gives an element's bin:
 *   in[0] alone    the bins themselves: u8, u16 or u32
 *   kernel         the bin of an element (result uint); its array parameters consume in[] in order.
 *                  A kernel without arrays requires length.count
 *   edges          bins + 1 values of in[0]'s type, any scalar type, not decreasing: bin b is
 *                  edges[b] <= x < edges[b + 1], and the last bin holds its upper edge too. A bin
 *                  between equal edges is empty, except the last one, which holds that value.
 *                  Comparisons are exact; -0 equals 0. Decreasing edges give unspecified counts
 *   lower, upper   lower < upper: bins of equal width over in[0], f32 or f16. The bin of x is
 *                  (x - lower) * (bins / (upper - lower)), rounded after each operation and then
 *                  down, at most the last bin for x <= upper. Values nearer to 0 than 2^-126 count
 *                  as 0. At most 2^24 bins
 * An element outside of the bins, or NaN, is counted nowhere.
 * out       bins elements, which the call sets. Counts and sums of integers: u64, or u32 for a
 *           length below 2^32 (sums modulo 2^32). Sums of floats: f32, for a length below 2^32
 * weights   optional: one per element, u8, u16, u32 or f32
 * bins      below 2^32. 0: one less than there are edges, or as many as out has elements
 * Accuracy  Counts are exact. Float weights are added as integers, so that sums are equal bit for
 *           bit on every engine. Their unit is 2^-62 times the length's bound times the largest
 *           weight, both rounded up to powers of two; each weight adds an error of at most half a
 *           unit, and the sum is rounded to f32. Sums nearer to 0 than 2^-126 are 0. Weights that
 *           are NaN, infinite or nearer to 0 than 2^-126 count as 0
 * After:    Podlozhnyuk: Histogram Calculation in CUDA. 2007. */
typedef struct tml_histogram_desc {
    tml_buffer in[TML_MAX_INPUTS];
    const tml_kernel *kernel;
    tml_params params;
    tml_buffer edges;
    float lower, upper;
    tml_buffer weights;
    tml_buffer out;
    uint32_t bins;
    tml_length length;
    tml_buffer scratch;
} tml_histogram_desc;
TML_API TML_MUST_CHECK tml_status tml_histogram(tml_context *tml, const tml_histogram_desc *desc);

/* ---- scan ----------------------------------------------------------------------------------- */

/* out[i] = in[0] + ... + in[i - 1] (exclusive, the default) or up to in[i] (inclusive); or the
 * smallest or the largest of them.
 * in         u8 u16 u32 u64 i32 i64 f32 f64
 * out        length elements. SUM of integers: u32, u64, i32 or i64 (modulo its size); SUM of
 *            floats: in's type; MIN and MAX: in's type, for u8 and u16 u32. In place where the
 *            types are equal
 * inclusive  in[i] is part of out[i]
 * fold       SUM, MIN or MAX
 * start      optional: one element of out's type on the device, which precedes in[0] and counts in
 *            all of out and in total. Default: 0, for MIN the type's largest (inf for floats), for
 *            MAX the smallest
 * total      optional: one element of out's type, the sum of all; the start of a next scan
 * segments   optional: each segment is scanned from zero. Elements in no segment are left as they
 *            were. Supported: offsets, SUM, AUTO, a length on the host; start and total are not
 * NaN        SUM: propagates. MIN, MAX: ignored; -0 is less than 0
 * Accuracy   CPU: f32 is summed in double, in blocks of fixed size: within n * 2^-53 * sum|x|, plus
 *            one rounding. GPUs: f32 in single precision in a fixed tree: within
 *            (2 log2 n + 16) * 2^-24 * sum|x|. A segment's result is that of a stream of its own
 * After:     Merrill, Garland (tml_method). */
typedef struct tml_scan_desc {
    tml_buffer in;
    tml_buffer out;
    bool inclusive;
    tml_fold fold;
    tml_buffer start;
    tml_buffer total;
    tml_length length;
    tml_segments segments;
    tml_method method;
    tml_buffer scratch;
} tml_scan_desc;
TML_API TML_MUST_CHECK tml_status tml_scan(tml_context *tml, const tml_scan_desc *desc);

/* ---- compact and partition ------------------------------------------------------------------ */

/* The test that keeps elements: exactly one of kernel, flags and mask. */
typedef struct tml_keep {
    const tml_kernel *kernel; /* result bool; its array parameters consume in[] in order */
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS]; /* the kernel's inputs; zeroed: the first payloads */
    tml_buffer flags;              /* one u8 per element; any value but 0 keeps */
    tml_buffer mask;               /* bit i % 32 of u32 word i / 32; 1 keeps */
} tml_keep;

/* One array that an operation moves. in and out have equal element types, of 1 to 64 bytes. */
typedef struct tml_payload {
    tml_buffer in;
    tml_buffer out;
} tml_payload;

/* Writes the elements that a test keeps, in source order; with partition the rejected elements
 * follow them, in source order too.
 * keep       the test
 * payloads   up to 8 arrays, moved alike; unused ones zeroed. An out with less room than the
 *            length's bound loses the elements past its end; count is the full number. In place for
 *            TML_METHOD_AUTO and LOOK_BACK
 * partition  writes all elements: outputs have room for the length, not in place, without out_first
 * indices    optional: u32 or u64, the source index of each element written
 * count      optional: one u32 or u64, the number of elements kept; may be the buffer length.device
 * out_first  optional: one u32 or u64 on the device, at which the outputs begin. All outputs are
 *            written from that element on, to append to what they hold. count becomes out_first
 *            plus the number kept, also where that is more than fits (a u32 stays at its largest
 *            value); count may be the out_first buffer itself. Not in place
 * After:     Horn: Stream Reduction Operations for GPGPU Applications. 2005; and tml_method. */
typedef struct tml_compact_desc {
    tml_keep keep;
    tml_payload payloads[TML_MAX_PAYLOADS];
    bool partition;
    tml_buffer indices;
    tml_buffer count;
    tml_buffer out_first;
    tml_length length;
    tml_method method;
    tml_buffer scratch;
} tml_compact_desc;
TML_API TML_MUST_CHECK tml_status tml_compact(tml_context *tml, const tml_compact_desc *desc);

/* ---- sort ----------------------------------------------------------------------------------- */

/* Sorts a stream, or each of its segments, by keys. Elements of equal keys keep their order, also
 * when descending.
 * keys        any scalar type. Integers are ordered by value, floats by IEEE 754's total order:
 *             -NaN < -inf < ... < -0 < +0 < ... < inf < NaN, NaNs of one sign by their bits
 * descending  the largest key first
 * first_bit, bit_count  of unsigned keys: only these bits are compared, bit 0 being the lowest;
 *             bit_count 0: all bits from first_bit on. Fewer bits are sorted faster
 * sorted      optional: the keys in their new order, of keys' type; may be keys itself
 * payloads    up to 8 arrays, moved alike; in place
 * indices     optional: u32 or u64, the source index of each element
 * segments    optional: each segment is sorted by itself. Elements in no segment keep their places
 * Outputs have room for the length's bound.
 * After:      Knuth: The Art of Computer Programming 3, 5.2.5. 1973 (radix sorting); McIlroy,
 *             Bostic, McIlroy: Engineering Radix Sort. 1993; Batcher: Sorting Networks and Their
 *             Applications. 1968; Adinets, Merrill: Onesweep: A Faster Least Significant Digit
 *             Radix Sort for GPUs. 2022; Baxter: moderngpu, segmented sort. 2013. */
typedef struct tml_sort_desc {
    tml_buffer keys;
    bool descending;
    uint32_t first_bit;
    uint32_t bit_count;
    tml_buffer sorted;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_buffer indices;
    tml_length length;
    tml_segments segments;
    tml_method method;
    tml_buffer scratch;
} tml_sort_desc;
TML_API TML_MUST_CHECK tml_status tml_sort(tml_context *tml, const tml_sort_desc *desc);

/* ---- top k ---------------------------------------------------------------------------------- */

/* Writes the k largest keys of a stream, or the k smallest: the first k that tml_sort, descending
 * or not, would write. Where k is small, it takes little more time than one read of the keys.
 * keys             any scalar type, in tml_sort's order; of equal keys lower indices come first
 * k                how many, at most length. k.device: read when the operation runs, with the bound
 *                  k.count. Zeroed: as many as the first of values, indices and payloads holds
 * smallest         the k smallest, the smallest first
 * in_source_order  does not sort the results, which saves time: first those before the last one's
 *                  key, then those that equal it, both in source order
 * values           optional: the keys, of keys' type
 * indices          optional: u32 or u64, the source index of each
 * payloads         up to 8 arrays, of which the same elements are written
 * count            optional: one u32 or u64, the smaller of k and length
 * Outputs have room for the smaller of k's and length's bounds. Not in place.
 * After:           Floyd, Rivest: Expected Time Bounds for Selection. 1975; Alabi, Blanchard,
 *                  Gordon, Steinbach: Fast k-Selection Algorithms for Graphics Processing Units.
 *                  2012. */
typedef struct tml_top_k_desc {
    tml_buffer keys;
    tml_length k;
    bool smallest;
    bool in_source_order;
    tml_buffer values;
    tml_buffer indices;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_buffer count;
    tml_length length;
    tml_buffer scratch;
} tml_top_k_desc;
TML_API TML_MUST_CHECK tml_status tml_top_k(tml_context *tml, const tml_top_k_desc *desc);

/* ---- gather and scatter --------------------------------------------------------------------- */

/* tml_gather: out[i] = in[indices[i]]. tml_scatter: out[indices[i]] = in[i].
 * indices   u32 or u64. An index that is not below the element count of a payload's in (gather) or
 *           out (scatter) moves nothing, so that the largest value can stand for none. scatter:
 *           indices below it are distinct; of two equal ones either element is written
 * payloads  1 to 8 arrays, moved alike. gather: in has any number of elements, out room for the
 *           length's bound. scatter: in holds the bound, out any number. Not in place
 * length    of indices
 * Elements that no index names are left as they were. */
typedef struct tml_gather_desc {
    tml_buffer indices;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_length length;
    tml_buffer scratch;
} tml_gather_desc;
TML_API TML_MUST_CHECK tml_status tml_gather(tml_context *tml, const tml_gather_desc *desc);
TML_API TML_MUST_CHECK tml_status tml_scatter(tml_context *tml, const tml_gather_desc *desc);

/* ---- search --------------------------------------------------------------------------------- */

/* out[i] = the number of elements of sorted that come before queries[i] (the lower bound), or with
 * upper also those that equal it (the upper bound).
 * sorted         any scalar type, in the order of tml_sort, in which -0 comes before +0 and NaN
 *                after infinity. In another order places are unspecified, and at most its length
 * queries        of sorted's type, in any order; sorted queries take less time
 * descending     sorted is in descending order
 * upper          the upper bound
 * out            u32 or u64, with room for the bound of queries
 * length         of queries
 * sorted_length  of sorted */
typedef struct tml_search_desc {
    tml_buffer sorted;
    tml_buffer queries;
    bool descending;
    bool upper;
    tml_buffer out;
    tml_length length;
    tml_length sorted_length;
    tml_buffer scratch;
} tml_search_desc;
TML_API TML_MUST_CHECK tml_status tml_search(tml_context *tml, const tml_search_desc *desc);

/* ---- expand --------------------------------------------------------------------------------- */

/* Makes any number of outputs per source. Output j belongs to the source s with
 * first[s] <= j < first[s] + counts[s], where first is the exclusive scan of counts, and is that
 * source's k-th output, k = j - first[s].
 * counts        u8, u16 or u32, one per source; or count_kernel in its place
 * count_kernel  result uint; its array parameters consume in[] in order
 * emit_kernel   optional: out[0][j] = emit(in[0][s], ..., tml_index s, tml_rank k); its array
 *               parameters consume in[] in order, read at s
 * params, in    of both kernels
 * out           of emit_kernel, one buffer per output (TML_KERNEL_OUTS), in its order
 * source, rank  optional: u32 or u64 / u32, for each output its source and its k
 * total         optional: one u32 or u64, the outputs that the counts ask for (a u32 stays at its
 *               largest value). The capacity is the smallest element count of out, source and rank:
 *               nothing is written past it, and a total above it shows the overflow
 * out_first     optional, as in tml_compact, with total as the count; ranks and sources are the
 *               same
 * After:        Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids.
 *               2008; Baxter: moderngpu, load-balancing search. 2013. */
typedef struct tml_expand_desc {
    tml_buffer counts;
    const tml_kernel *count_kernel;
    const tml_kernel *emit_kernel;
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS];
    tml_buffer out[TML_MAX_OUTS];
    tml_buffer source;
    tml_buffer rank;
    tml_buffer total;
    tml_buffer out_first;
    tml_length length;
    tml_method method;
    tml_buffer scratch;
} tml_expand_desc;
TML_API TML_MUST_CHECK tml_status tml_expand(tml_context *tml, const tml_expand_desc *desc);

/* ---- runs of equal neighbours ---------------------------------------------------------------- */

/* Collapses runs of equal neighbours. Equal are equal bytes: NaN equals itself, and 0.0 differs
 * from -0.0. Of a sorted stream the runs are its distinct values. A reduction by key is tml_unique
 * of the keys, and tml_reduce of the values with .segments = {.starts = starts, .count.device =
 * count}; for one result per key sort first, with the values as a payload.
 * in       elements of 1 to 64 bytes
 * values   optional: the first element of each run, of in's type; in place
 * starts   optional: u32 or u64, the index of each run's first element (tml_segments)
 * lengths  optional: u32 or u64, the number of elements in each run
 * count    optional: one u32 or u64, the number of runs, also where an output has less room. Runs
 *          past an output's end are not written */
typedef struct tml_unique_desc {
    tml_buffer in;
    tml_buffer values;
    tml_buffer starts;
    tml_buffer lengths;
    tml_buffer count;
    tml_length length;
    tml_buffer scratch;
} tml_unique_desc;
TML_API TML_MUST_CHECK tml_status tml_unique(tml_context *tml, const tml_unique_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
