/* Streams: map, reduce, histogram, scan, compact, partition, sort, top k, gather, scatter, search,
 * expand, unique, segmented reduce and scan.
 *
 * Common to all operations
 *   length   how many elements go in: count, or where that is 0 all of the first input.
 *            tml_length_of(count) is for a count that the host computed: there 0 means none (the
 *            outputs are those of an empty stream). With a device buffer (one u32 or u64 element at
 *            device_index) the length is read on the device when the operation runs, and count,
 *            understood as above, is its upper bound; a larger device value is clamped to the
 *            bound.
 *   outputs  must be buffers that you made, large enough for the bound that each field states; they
 *            may not overlap inputs, length.device included, unless the field says "in place", nor
 *            one another: INVALID_ARGUMENT, also where buffers over memory of yours overlap.
 *            Elements past the result are left as they were.
 *   count    one-element u32 or u64 buffers on the device; never read back by the call. A u32 count
 *            that would overflow makes the call fail with INVALID_ARGUMENT before it starts: the
 *            bound must fit.
 *   out_first  of compact and expand, optional: one u32 or u64 element on the device, which is read
 *              when
 *            the operation runs. All outputs are then written from that element on, to append to
 *            what they hold: elements before it are left as they were, and what does not fit an
 *            output is not written, as ever. count or total becomes out_first plus the number of
 *            new elements, the length of the whole, also where that is more than fits; a u32 stays
 *            at its largest value, and so does an out_first above 2^63. count or total may be the
 *            out_first buffer itself. Not in place.
 *   order    outputs are stable: in the order of their sources. Integers, indices, counts and order
 *            are equal bit for bit on every engine, every method, any number of threads. Float
 *            results are equal bit for bit for any number of threads on one engine, and within the
 *            stated bound between engines.
 *   scratch  from the context's arena, which grows at first use only; or a buffer of yours (TML_U8,
 *            at least tml_<op>_scratch_size bytes), apart from all other buffers of the call.
 *            Contents undefined before and after.
 *   errors   INVALID_ARGUMENT, INVALID_HANDLE, SCRATCH_TOO_SMALL, UNSUPPORTED (type, method or
 *            kernel on this engine), OUT_OF_MEMORY (arena), CANCELLED. A call that fails changed no
 *            output, except CANCELLED; and except on a GPU where memory, or the driver's consent to
 *            a shader, was missing for a later part of the work: an output may then hold what the
 *            parts before it wrote. */
#ifndef TROMMEL_STREAM_H
#define TROMMEL_STREAM_H

#include <trommel/core.h>
#include <trommel/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TML_MAX_PAYLOADS = 8 };

/* How a count becomes positions. Every method gives the same result. */
typedef enum tml_method {
    TML_METHOD_AUTO,      /* the fastest on this device */
    TML_METHOD_LOOK_BACK, /* one pass; tiles chain their counts. Merrill, Garland: Single-pass
                           * Parallel Prefix Scan with Decoupled Look-back. 2016 */
    TML_METHOD_REDUCE_THEN_SCAN, /* count tiles, scan the counts, then write */
    TML_METHOD_HISTOPYRAMID, /* a pyramid of partial sums, descended once for each output. Ziegler,
                              * Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram
                              * Pyramids. 2006 */
} tml_method;
TML_API const char *tml_method_name(tml_method method); /* "look_back"; never NULL */

/* Zeroed: all of the first input. A count that the host computed, and that may be 0, is
 * tml_length_of(count). */
typedef struct tml_length {
    uint64_t count;        /* 0 means the first input's count, unless exact */
    tml_buffer device;     /* optional: the length itself, bounded by count */
    uint64_t device_index; /* the element of device */
    bool exact;            /* count means count, also where it is 0: no elements */
    uint64_t reserved;     /* 0 */
} tml_length;
/* Just so many elements; 0: none. */
static inline tml_length tml_length_of(uint64_t count)
{
    tml_length length = {count, {0, 0}, 0, true, 0};
    return length;
}

/* ---- map ------------------------------------------------------------------------------------ */

/* out[i] = kernel(in[0][i], in[1][i], ...). The array parameters of the kernel take the inputs in
 * order. out: length elements of the kernel's result type (bool gives u8 0 or 1); in place allowed
 * where the element sizes are equal. Parameters see f16, u8 ... widened (kernel.h).
 * also  of a kernel with several outputs (TML_KERNEL_OUTS) those after out, in its order, likewise:
 *       any of them may be any of the inputs, whose elements are all read first. The CPU and Vulkan
 *       run the kernel once an element, OpenGL ES once for each word of an output; its float tier
 *       has no such kernels. */
typedef struct tml_map_desc {
    const tml_kernel *kernel;
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS];
    tml_length length;
    tml_buffer out;
    tml_buffer also[TML_MAX_OUTS - 1];
} tml_map_desc;
TML_API TML_MUST_CHECK tml_status tml_map(tml_context *tml, const tml_map_desc *desc);
/* What a device length takes of the arena; without one 0. */
TML_API size_t tml_map_scratch_size(tml_context *tml, const tml_map_desc *desc);

/* ---- reduce --------------------------------------------------------------------------------- */

typedef enum tml_fold {
    TML_FOLD_SUM,
    TML_FOLD_MIN,
    TML_FOLD_MAX,
    TML_FOLD_ARGMIN, /* index of the first smallest element */
    TML_FOLD_ARGMAX,
    TML_FOLD_MEAN,
} tml_fold;

/* One of several results of tml_reduce. */
enum { TML_MAX_FOLDS = 8 };
typedef struct tml_reduce_result {
    tml_fold fold;
    tml_buffer out; /* none: unused */
} tml_reduce_result;

/* Folds a stream of scalars to one value, or a stream of vectors to one vector: each component by
 * itself, as a stream of its own. A bounding box is MIN, and MAX in also.
 * in      any scalar type, or TML_VEC of u32, i32, f32, u64, i64 or f64
 * out     one element, of vectors a vector of as many components. SUM of integers: u64 or i64
 *         (exact modulo 2^64; signed inputs sign-extended); SUM of floats: f64 or f32; MEAN: f64 or
 *         f32; MIN, MAX: in's type; ARGMIN, ARGMAX: u64 or u32. Empty stream: SUM 0, MEAN NaN, MIN
 *         the type's largest (inf for floats), MAX the smallest, ARGMIN and ARGMAX the largest
 *         unsigned value.
 * also    more folds of the same elements, each with an out of its own: the result that a call
 *         for it alone gives, bit for bit. The CPU reads the stream once for all of them; GPU
 *         engines read it in strips that stay in the device's cache from one fold to the next.
 * NaN     SUM and MEAN: propagates. MIN, MAX, ARGMIN, ARGMAX: ignored, unless all are NaN (then
 *         MIN and MAX are NaN, ARG the largest unsigned value).
 * error   Float sums are accumulated in double on the CPU in a fixed order of lanes and blocks:
 *         the result is within n * 2^-53 * sum|x|, plus one rounding to out's type. GPU engines:
 *         f64 as here; f16, f32 and means of integers in single precision in a fixed tree,
 *         within (log2 n + 8) * 2^-24 * sum|x|. */
typedef struct tml_reduce_desc {
    tml_fold fold;
    tml_buffer in;
    tml_length length;
    tml_buffer out;
    tml_buffer scratch;
    tml_reduce_result also[TML_MAX_FOLDS - 1];
} tml_reduce_desc;
TML_API TML_MUST_CHECK tml_status tml_reduce(tml_context *tml, const tml_reduce_desc *desc);
TML_API size_t tml_reduce_scratch_size(tml_context *tml, const tml_reduce_desc *desc);

/* ---- histogram ------------------------------------------------------------------------------- */

/* out[b] = how many elements are in bin b, or the sum of their weights.
 * What gives an element's bin, one of:
 *   in[0] alone    the bins themselves: u8, u16 or u32
 *   kernel         the bin of an element (result uint); its array parameters take in[] in order.
 *                  Of a kernel that takes no elements length.count says how many there are
 *   edges          bins + 1 values of in[0]'s type, any scalar, none below its predecessor: bin b
 *                  is edges[b] <= x < edges[b + 1], and the last bin holds its upper edge too. A
 *                  bin between equal edges is empty, but for the last one, which then holds that
 *                  value. Exact comparisons; -0 equals 0. Edges out of order give unspecified
 *                  counts
 *   lower, upper   where upper is above lower: bins of equal width over in[0], f32 or f16. x is in
 *                  bin (x - lower) * (bins / (upper - lower)), rounded after each operation and
 *                  then down, or in the last one where that is past it, as for x = upper. Values
 *                  nearer to 0 than 2^-126 count as 0. At most 2^24 bins
 * An element whose bin is not below bins, that is outside of the edges, or NaN is counted nowhere.
 * bins     any number that memory holds, below 2^32; 0: one less than there are edges, or as many
 *          as out has elements
 * weights  optional: one an element, u8, u16, u32 or f32
 * out      bins elements, which the call sets and does not add to. Counts and sums of integers:
 *          u32, for a length below 2^32 (sums modulo 2^32; longer streams are counted in parts), or
 *          u64. Sums of floats: f32, for a length below 2^32
 * floats   Float weights are added as integers, so the sums are equal bit for bit on every engine,
 *          in any order. A weight counts as a multiple of a unit that is 2^-62 times the length's
 *          bound times the largest weight, both rounded up to powers of two: with 2^20 elements,
 *          all bits count of weights down to 2^-18 of the largest. The error of a sum is at most
 *          half a unit for each of its elements, and its rounding to f32. Sums nearer to 0 than
 *          2^-126 are 0. Weights that are NaN, infinite or nearer to 0 than 2^-126 count as 0.
 * Counts are exact on every engine. Time: the CPU and Vulkan read each element once (Vulkan up to
 * eight times from its cache for 4097 to 65,536 bins) and count in fast memory what occurs often,
 * so that elements which are all in one bin take no longer. OpenGL ES, where a shader cannot store
 * at a place of its choice, reads each element once for every 16 bins up to 1024; of more bins, and
 * with weights, it sorts, at most 2^28 - 128 elements. Edges cost a search each (tml_search).
 * Scratch: on the CPU a table of the bins a thread or, of more than 2^20 bins or bins a thread than
 * elements, 4 to 16 bytes an element; on
 * Vulkan 16 MiB for bins that are not given, and 8 bytes a bin for float weights. After:
 * Podlozhnyuk: Histogram Calculation in CUDA. 2007. */
typedef struct tml_histogram_desc {
    const tml_kernel *kernel;
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS];
    tml_length length;
    uint32_t bins;
    tml_buffer out;
    tml_buffer scratch;
    tml_buffer edges;
    float lower, upper;
    tml_buffer weights;
} tml_histogram_desc;
TML_API TML_MUST_CHECK tml_status tml_histogram(tml_context *tml, const tml_histogram_desc *desc);
TML_API size_t tml_histogram_scratch_size(tml_context *tml, const tml_histogram_desc *desc);

/* ---- scan ----------------------------------------------------------------------------------- */

/* out[i] = in[0] + ... + in[i] (inclusive) or in[0] + ... + in[i - 1] (exclusive, the default); or
 * the smallest or the largest of them.
 * in      u8 u16 u32 u64 i32 i64 f32 f64
 * out     length elements; for integers u32 u64 i32 i64 (sums modulo its size), for floats in's
 *         type; in place allowed where the types are equal. MIN, MAX: in's type, for u8 and u16 u32
 * total   optional: one element of out's type, the sum of all
 * fold    SUM, MIN or MAX
 * start   optional: one element of out's type on the device, which comes before in[0] and counts in
 *         all of out and in total; the total of one scan is the start of the next. Without it: 0,
 *         for MIN the type's largest (inf for floats), for MAX the smallest
 * NaN     SUM: propagates. MIN, MAX: ignored; -0 is less than 0
 * error   Floats are summed in blocks of fixed size, in double for f32: within n * 2^-53 * sum|x|,
 *         plus one rounding. GPU engines: f32 in single precision in a fixed tree, within
 *         (2 log2 n + 16) * 2^-24 * sum|x|. */
typedef struct tml_scan_desc {
    tml_buffer in;
    tml_length length;
    bool inclusive;
    tml_method method;
    tml_buffer out;
    tml_buffer total;
    tml_buffer scratch;
    tml_fold fold;
    tml_buffer start;
} tml_scan_desc;
TML_API TML_MUST_CHECK tml_status tml_scan(tml_context *tml, const tml_scan_desc *desc);
TML_API size_t tml_scan_scratch_size(tml_context *tml, const tml_scan_desc *desc);

/* ---- compact and partition ------------------------------------------------------------------ */

/* Which elements are kept: exactly one of kernel, flags, mask. */
typedef struct tml_keep {
    const tml_kernel *kernel; /* result bool; array parameters take in[] in order */
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS]; /* the kernel's inputs; zeroed: the first payloads */
    tml_buffer flags;              /* length x u8; any value but 0 keeps */
    tml_buffer mask;               /* bit i % 32 of u32 word i / 32; 1 keeps */
} tml_keep;

/* One array that moves with the stream. Element types of in and out are equal, 1 to 64 bytes. */
typedef struct tml_payload {
    tml_buffer in;
    tml_buffer out;
} tml_payload;

/* Keeps the elements that the kernel, flag or bit says, in source order.
 * payloads  up to 8 arrays compacted alike; unused ones zeroed. out: room for the length's bound,
 *           or less: elements past out's count are not written, and count still tells how many
 *           there are. In place (out == in) is allowed for TML_METHOD_AUTO and LOOK_BACK.
 * indices   optional: u32 or u64, the source index of each kept element
 * count     optional: one u32 or u64, elements kept; may be the buffer that length.device is
 * out_first optional: where the outputs begin. OpenGL ES then draws all of each output, unless
 * counts
 *           are exact (tml_gl_desc); its float tier has none. */
typedef struct tml_compact_desc {
    tml_keep keep;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_length length;
    tml_method method;
    tml_buffer indices;
    tml_buffer count;
    tml_buffer scratch;
    tml_buffer out_first;
} tml_compact_desc;
TML_API TML_MUST_CHECK tml_status tml_compact(tml_context *tml, const tml_compact_desc *desc);
TML_API size_t tml_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc);

/* As compact, but the rejected follow the kept, both in source order: out is a permutation of in.
 * Outputs hold length elements; not in place, without out_first. indices: all length sources.
 * count: elements kept. */
typedef tml_compact_desc tml_partition_desc;
TML_API TML_MUST_CHECK tml_status tml_partition(tml_context *tml, const tml_partition_desc *desc);
TML_API size_t tml_partition_scratch_size(tml_context *tml, const tml_partition_desc *desc);

/* ---- sort ----------------------------------------------------------------------------------- */

/* Sorts a stream by keys. Elements of equal keys keep their order, also when descending.
 * keys       any scalar type. Integers are ordered by value, floats by IEEE 754's total order:
 *            -NaN < -inf < ... < -0 < +0 < ... < inf < NaN, NaNs of a sign by their bits
 * descending the largest first
 * first_bit, bit_count  compare these bits of unsigned keys alone, bit 0 being the lowest;
 *            bit_count 0: all from first_bit on. Keys of other types: both 0.
 * sorted     optional: the keys in their new order, of keys' type; may be keys itself
 * payloads   up to 8 arrays that are moved alike; out may be in
 * indices    optional: u32 or u64, the source index of each element
 * offsets    optional: sorts each segment by itself: segment s is [offsets[s], offsets[s + 1]), as
 *            in tml_reduce_segments. Elements in no segment keep their places, also those of a
 *            segment that ends past the length. Where offsets decrease, what the outputs hold is
 *            unspecified
 * starts     in place of offsets, as tml_unique gives them: a segment ends where the next one
 *            begins, the last one at the length
 * count      how many starts there are, also on the device. Without starts it stays zeroed
 * Outputs hold the length's bound, and nothing is written past the length. The time depends on how
 * many bits are compared, on the CPU on how many of these differ between keys, so narrow keys and
 * ranges of bits are sorted faster. Scratch: 4 to 32 bytes an element, a payload in place once
 * more, and on the CPU up to 4 MiB a thread; on OpenGL ES textures of 23 bytes an element. Methods:
 * on Vulkan LOOK_BACK and REDUCE_THEN_SCAN, on the CPU the latter, on OpenGL ES HISTOPYRAMID.
 * Engines: the CPU, Vulkan for fewer than 2^32 elements, OpenGL ES 3 for at most 2^28 - 128.
 * Segments: short ones are read and written once, on the CPU and on Vulkan (there up to 8 times the
 * mean length at least, and 896 elements at most, or 1792 of keys below 8 bytes), which gives the
 * elements of long ones a sort by keys and one by segments. Vulkan: fewer than 2^31 elements and
 * segments; scratch 8 to 64 bytes an element, a payload in place once more.
 * After: Knuth: The Art of Computer Programming 3, 5.2.5. 1973 (radix sorting); McIlroy, Bostic,
 * McIlroy: Engineering Radix Sort. 1993; Batcher: Sorting Networks and Their Applications. 1968;
 * Adinets, Merrill: Onesweep: A Faster Least Significant Digit Radix Sort for GPUs. 2022; Baxter:
 * moderngpu, segmented sort. 2013. */
typedef struct tml_sort_desc {
    tml_buffer keys;
    tml_length length;
    bool descending;
    uint32_t first_bit;
    uint32_t bit_count;
    tml_buffer sorted;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_buffer indices;
    tml_method method;
    tml_buffer scratch;
    tml_buffer offsets;
    tml_buffer starts;
    tml_length count;
} tml_sort_desc;
TML_API TML_MUST_CHECK tml_status tml_sort(tml_context *tml, const tml_sort_desc *desc);
TML_API size_t tml_sort_scratch_size(tml_context *tml, const tml_sort_desc *desc);

/* ---- top k ---------------------------------------------------------------------------------- */

/* The k largest keys of a stream, or the k smallest: what tml_sort, descending or not, puts first,
 * but in little more than the time of one read of the keys where k is small beside their number.
 * keys       any scalar type, in tml_sort's order; of equal keys those with lower indices come
 *            first
 * k          how many, at most length; with a device buffer read when the operation runs, and
 *            k.count is its bound. Zeroed: as many as the first given of values, indices and
 *            payloads[].out holds
 * smallest   the k smallest, the smallest first
 * unsorted   leaves the results as they are found, which saves sorting them: first those that come
 *            before the last one's key, then those that equal it, both in source order
 * values     optional: the keys, of keys' type
 * indices    optional: u32 or u64, the source index of each
 * payloads   up to 8 arrays of which the same elements are taken
 * count      optional: one u32 or u64, how many results there are: the smaller of k and length
 * Outputs hold the smaller of k's and length's bounds; nothing is written past the count, and
 * nothing in place. By default results are sorted, and all is deterministic: equal on every engine.
 * Time: a sample gives a key that some more than k elements do not come after; one read compacts
 * those, and the k-th of them is found by counting digits. Where the sample misled, or k is more
 * than an eighth of the length, digits are counted in the whole stream. OpenGL ES counts them
 * there, four bits a pass. Scratch: up to 4 bytes a key, and 60 a result. Engines: the CPU, Vulkan
 * for fewer than 2^32 elements, OpenGL ES 3 for at most 2^29.
 * After: Floyd, Rivest: Expected Time Bounds for Selection. 1975; Alabi, Blanchard, Gordon,
 * Steinbach: Fast k-Selection Algorithms for Graphics Processing Units. 2012. */
typedef struct tml_top_k_desc {
    tml_buffer keys;
    tml_length length;
    tml_length k;
    bool smallest;
    bool unsorted;
    tml_buffer values;
    tml_buffer indices;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_buffer count;
    tml_buffer scratch;
} tml_top_k_desc;
TML_API TML_MUST_CHECK tml_status tml_top_k(tml_context *tml, const tml_top_k_desc *desc);
TML_API size_t tml_top_k_scratch_size(tml_context *tml, const tml_top_k_desc *desc);

/* ---- gather and scatter --------------------------------------------------------------------- */

/* gather: out[i] = in[indices[i]]. scatter: out[indices[i]] = in[i].
 * indices   u32 or u64. An index that is not below the element count of a payload's in (gather) or
 *           out (scatter) writes nothing there. scatter: indices below it are distinct; an element
 *           that two name holds bytes of either.
 * length    of indices
 * payloads  1 to 8 arrays moved alike. gather: out has room for the length's bound, in any number
 *           of elements; scatter: in holds the bound, out any number. Not in place.
 * Elements that no index names are left as they were. Time: one access to a place of the data's
 * choice an element; several arrays cost less in one call than in several. */
typedef struct tml_gather_desc {
    tml_buffer indices;
    tml_length length;
    tml_payload payloads[TML_MAX_PAYLOADS];
    tml_buffer scratch;
} tml_gather_desc;
TML_API TML_MUST_CHECK tml_status tml_gather(tml_context *tml, const tml_gather_desc *desc);
TML_API size_t tml_gather_scratch_size(tml_context *tml, const tml_gather_desc *desc);

typedef tml_gather_desc tml_scatter_desc;
TML_API TML_MUST_CHECK tml_status tml_scatter(tml_context *tml, const tml_scatter_desc *desc);
TML_API size_t tml_scatter_scratch_size(tml_context *tml, const tml_scatter_desc *desc);

/* ---- search --------------------------------------------------------------------------------- */

/* For each query its place in a sorted stream: out[i] = how many elements of sorted come before
 * queries[i] (the lower bound) or, if upper, come before it or equal it (the upper bound).
 * sorted         any scalar type, in the order that tml_sort gives it. If it is not, places are
 *                unspecified, and at most its length.
 * sorted_length  of sorted
 * queries        of sorted's type, in any order; neighbours that are near save time
 * length         of queries
 * descending     sorted is
 * out            u32 or u64, for the queries' bound
 * Floats compare in tml_sort's total order, so that -0 comes before +0 and NaN after infinity.
 * Time: log2 of sorted's length accesses a query. */
typedef struct tml_search_desc {
    tml_buffer sorted;
    tml_length sorted_length;
    tml_buffer queries;
    tml_length length;
    bool descending;
    bool upper;
    tml_buffer out;
    tml_buffer scratch;
} tml_search_desc;
TML_API TML_MUST_CHECK tml_status tml_search(tml_context *tml, const tml_search_desc *desc);
TML_API size_t tml_search_scratch_size(tml_context *tml, const tml_search_desc *desc);

/* ---- expand --------------------------------------------------------------------------------- */

/* Each source makes any number of outputs. Output j belongs to the source s with
 * first[s] <= j < first[s] + counts[s], where first is the exclusive scan of counts, and is that
 * source's k-th, k = j - first[s].
 * counts        u8, u16 or u32, one a source; or count_kernel (result uint; array parameters take
 *               in[])
 * source, rank  optional: u32 or u64 / u32, for each output its source and its k
 * emit_kernel   optional: out[j] = emit(in[...][s], tml_index s, tml_rank k); its array parameters
 *               take in[] in order, gathered at s. Of a kernel with several outputs
 *               (TML_KERNEL_OUTS) also has those after out, as of tml_map
 * total         optional: one u32 or u64; outputs that the counts ask for (a u32 stays at its
 *               largest value when they are more). The capacity is the smallest count of source,
 *               rank, out and also: nothing is written past it, and a total above it is how an
 *               overflow shows.
 * out_first     optional: where the outputs begin, as of tml_compact; ranks and sources are the
 *               same
 * After: Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008;
 * Baxter: moderngpu, load-balancing search. 2013. */
typedef struct tml_expand_desc {
    tml_buffer counts;
    const tml_kernel *count_kernel;
    const tml_kernel *emit_kernel;
    tml_params params;
    tml_buffer in[TML_MAX_INPUTS];
    tml_length length;
    tml_method method;
    tml_buffer source;
    tml_buffer rank;
    tml_buffer out;
    tml_buffer total;
    tml_buffer scratch;
    tml_buffer out_first;
    tml_buffer also[TML_MAX_OUTS - 1];
} tml_expand_desc;
TML_API TML_MUST_CHECK tml_status tml_expand(tml_context *tml, const tml_expand_desc *desc);
TML_API size_t tml_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc);

/* ---- unique and run-length ------------------------------------------------------------------ */

/* Collapses runs of equal neighbours (equal bytes; so NaN equals itself and 0.0 differs from -0.0).
 * Outputs have room for the length's bound, or less: runs past an output's count are not written,
 * and count still tells how many there are.
 * values   optional: first element of each run, in's type; in place allowed
 * starts   optional: u32 or u64, index of each run's first element
 * lengths  optional: u32 or u64, elements in each run
 * count    optional: runs */
typedef struct tml_unique_desc {
    tml_buffer in; /* elements of 1 to 64 bytes */
    tml_length length;
    tml_buffer values;
    tml_buffer starts;
    tml_buffer lengths;
    tml_buffer count;
    tml_buffer scratch;
} tml_unique_desc;
TML_API TML_MUST_CHECK tml_status tml_unique(tml_context *tml, const tml_unique_desc *desc);
TML_API size_t tml_unique_scratch_size(tml_context *tml, const tml_unique_desc *desc);

/* ---- segmented ------------------------------------------------------------------------------ */

/* Folds each segment of a stream of scalars. offsets: segment_count + 1 values (u32 or u64, not
 * decreasing, the last at most in's count); segment s is [offsets[s], offsets[s + 1]). out:
 * segment_count elements of the types that tml_reduce gives; empty segments as its empty stream. A
 * segment that ends past in's count is empty. Where offsets decrease, what out's segment_count
 * elements hold is unspecified; the call's work is bounded as ever, and nothing outside of its
 * buffers is read or written. ARG results are positions in the whole stream. Work is balanced over
 * elements: one giant segment among millions of empty ones is shared out. A float result depends on
 * the segment's elements alone: it is the one that tml_reduce gives for them as a stream of their
 * own.
 * starts  in place of offsets, as tml_unique gives them: a segment ends where the next one begins,
 *         the last one at in's length. count: how many there are, also on the device; out's
 *         elements past it are left as they were. length: of in. Without starts both stay
 *         zeroed. */
typedef struct tml_reduce_segments_desc {
    tml_fold fold;
    tml_buffer in;
    tml_buffer offsets;
    tml_buffer out;
    tml_buffer scratch;
    tml_buffer starts;
    tml_length count;
    tml_length length;
} tml_reduce_segments_desc;
TML_API TML_MUST_CHECK tml_status tml_reduce_segments(tml_context *tml,
                                                      const tml_reduce_segments_desc *desc);
TML_API size_t tml_reduce_segments_scratch_size(tml_context *tml,
                                                const tml_reduce_segments_desc *desc);

/* One fold for each run of equal neighbours among keys (equal bytes, as in tml_unique); sort first,
 * with the values as a payload, for one fold a key.
 * fold      any of tml_fold; ARG results are positions in the whole stream
 * keys      elements of 1 to 64 bytes
 * values    any scalar type, one a key
 * length    of keys
 * out_keys  optional: the key of each run, in keys' type; room for the length's bound, or less
 * starts    u32 or u64: the index of each run's first element; room for the bound.
 *           tml_reduce_segments takes it, with count, for further folds of the same runs
 * out       one result a run, of the types that tml_reduce gives; room for the bound
 * count     one u32 or u64: runs
 * Nothing is written past the number of runs. Balance and floats as in tml_reduce_segments. */
typedef struct tml_reduce_by_key_desc {
    tml_fold fold;
    tml_buffer keys;
    tml_buffer values;
    tml_length length;
    tml_buffer out_keys;
    tml_buffer starts;
    tml_buffer out;
    tml_buffer count;
    tml_buffer scratch;
} tml_reduce_by_key_desc;
TML_API TML_MUST_CHECK tml_status tml_reduce_by_key(tml_context *tml,
                                                    const tml_reduce_by_key_desc *desc);
TML_API size_t tml_reduce_by_key_scratch_size(tml_context *tml, const tml_reduce_by_key_desc *desc);

/* Scans each segment from zero, as tml_scan would as a stream of its own (types, in place, and
 * floats to the bit). Elements in no segment are left as they were. Offsets and balance as in
 * tml_reduce_segments; where offsets decrease, all elements that in has are unspecified in out. */
typedef struct tml_scan_segments_desc {
    tml_buffer in;
    tml_buffer offsets;
    bool inclusive;
    tml_buffer out;
    tml_buffer scratch;
} tml_scan_segments_desc;
TML_API TML_MUST_CHECK tml_status tml_scan_segments(tml_context *tml,
                                                    const tml_scan_segments_desc *desc);
TML_API size_t tml_scan_segments_scratch_size(tml_context *tml, const tml_scan_segments_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
