/* The counts of all digits of a sort; keys are read once. */
#define SORT_WORDS 2
#define SORT_ARGS  sort_histogram_args
#include "sort_key.glsl"
#include "last.glsl"

shared uint table[SORT_HISTOGRAM];

void main()
{
    uint t = gl_LocalInvocationID.x, groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint count = stream_length(args.length_at, args.bound);
    uint digits = (args.end_bit - args.first_bit + (DIGIT_BITS - 1u)) / DIGIT_BITS;
    for (uint i = group_index() * GROUP + t; i < args.clear_count; i += groups * GROUP)
        store_word(args.clear, i, 0u);
    uint tiles = args.tile == 0u ? 0u : (count + (args.tile - 1u)) / args.tile,
         number = group_index();
    uint first = number * args.each * GROUP, end = min(count, first + args.each * GROUP);
    uvec2 counts = args.counts;
    if (SPANS != 0u) {
        tiles = count;
        if (number >= tiles)
            return;
        uvec4 span = quads_at(args.spans).v[number];
        first = span.x + span.w * SPANS;
        end = min(span.x + span.y, first + SPANS);
        counts = address_of(counts, span.z, 4u * BINS);
    }
    for (uint i = number * GROUP + t; i < tiles * BINS; i += groups * GROUP)
        words_at(args.states).v[i] = 0u;
    for (uint i = t; i < digits * BINS; i += GROUP)
        table[i] = 0u;
    barrier();

    for (; first < end; first += SORT_HISTOGRAM_ROWS * GROUP) {
        uvec2 codes[SORT_HISTOGRAM_ROWS];
        uint at = first + t;
        [[unroll]] for (uint r = 0u; r < SORT_HISTOGRAM_ROWS; r++)
            codes[r] = load_code(min(at + r * GROUP, end - 1u));
        for (uint d = 0u; d < digits; d++) {
            [[unroll]] for (uint r = 0u; r < SORT_HISTOGRAM_ROWS; r++) {
                uint digit = digit_of(codes[r], args.first_bit + d * DIGIT_BITS, args.end_bit);
                COUNT_DIGIT(table[d * BINS + digit], digit, at + r * GROUP < end)
            }
        }
    }
    barrier();
    for (uint i = t; i < digits * BINS; i += GROUP)
        if (table[i] != 0u)
            atomicAdd(words_at(counts).v[i], table[i]);
    if (SPANS != 0u)
        return;
    memoryBarrierBuffer();
    barrier();
    if (!is_last_of(args.counter, groups, 1u) || args.is_last == 0u)
        return;
    for (uint d = 0u; d < digits; d++) {
        uint here = t < BINS ? ATOMIC_LOAD(words_at(args.counts).v[d * BINS + t]) : 0u, total;
        uint before = scan_group(here, total);
        if (t < BINS)
            words_at(args.counts).v[d * BINS + t] = before;
    }
}
