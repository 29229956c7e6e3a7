/* Sorts, in shared memory, the short segments that begin in a window; the elements are read and
 * written once. One invocation sorts each block of 8 elements, counted from the first element of
 * its segment. Then runs are merged in pairs until the longest segment is one run: each invocation
 * finds by bisection where its 8 outputs begin in the two runs. So the sort is stable, segments may
 * begin anywhere, and short segments take few steps.
 *
 * After: Baxter: moderngpu, segmented sort. 2013; Green, McColl, Bader: GPU Merge Path. 2012. */
#include "sort_segments.glsl"
#include "sort_store.glsl"
#include "group.glsl"

const uint WORDS = TILE / 32u, BLOCK = 8u; /* ITEMS is at most a block */
/* Invocations whose elements are 8 apart load from different banks. */
const uint ROOM = TILE + TILE / 32u;
shared uint pool[ROOM * SORT_WORDS];
const uint SOURCES = VALUES == SORT_VALUES_NONE ? 1u : TILE / 2u;
shared uint sources[SOURCES];                 /* 16 bits each: the code's place in the tile */
shared uint heads[WORDS];                     /* bits: a short segment begins here */
shared uint bounds[WORDS];                    /* bits: one begins or ends here */
shared uint filled[(WORDS + 31u) / 32u];      /* bits: words of bounds that are not 0 */
shared uint starts[WORDS];                    /* bits: a block of 2 elements or more begins here */
shared uint longest, past_last;

#define EACH_ROW(extent)                                                                           \
    [[unroll]] for (uint r = 0u; r < ITEMS; r++)                                                   \
        if (r * GROUP < (extent))

/* ---- codes in the pool, and their sources ---------------------------------------------------- */

uint slot_of(uint at)
{
    return at + at / 32u;
}
uint source_at(uint at)
{
    return VALUES == SORT_VALUES_NONE ? 0u : sources[at / 2u] >> 16u * (at & 1u) & 0xffffu;
}
#if SORT_WORDS == 1
void stage(uint at, uint code)
{
    pool[slot_of(at)] = code;
}
code_t staged(uint at)
{
    return pool[slot_of(at)];
}
uint compared_mask()
{
    uint first = args.kind >> 8 & 0xffu, end = args.kind >> 16;
    return (0xffffffffu >> (32u - end)) & (0xffffffffu << first);
}
bool comes_before(uint a, uint b)
{
    return a < b;
}
#else
void stage(uint at, uvec2 code)
{
    pool[slot_of(at)] = code.x;
    pool[ROOM + slot_of(at)] = code.y;
}
code_t staged(uint at)
{
    return uvec2(pool[slot_of(at)], pool[ROOM + slot_of(at)]);
}
uint ones_below(uint bits)
{
    return bits >= 32u ? 0xffffffffu : (1u << bits) - 1u;
}
uvec2 compared_mask()
{
    uint first = args.kind >> 8 & 0xffu, end = args.kind >> 16;
    return uvec2(ones_below(end) & ~ones_below(first),
                 (end > 32u ? ones_below(end - 32u) : 0u) &
                     ~(first > 32u ? ones_below(first - 32u) : 0u));
}
bool comes_before(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
#endif

/* ---- where segments are ---------------------------------------------------------------------- */

void set_bound(uint at)
{
    if (at >= TILE)
        return;
    atomicOr(bounds[at / 32u], 1u << (at & 31u));
    atomicOr(filled[at / 1024u], 1u << (at / 32u & 31u));
}

/* For the short segments among [begin, past) that begin in [first, end), sets the bits of their
 * starts. Skips many empty segments at one place. */
void find_segments(uint begin, uint past, uint first, uint end)
{
    uint t = gl_LocalInvocationID.x, count = elements_now(), most = 0u, last = 0u;
    for (uint s = begin, step = 0u; s < past && step <= 2u * WINDOW; step++) {
        uint a = offset_at(min(s + t, past - 1u)), b = offset_at(min(s + t, past - 1u) + 1u);
        if (s + t < past && a >= first && a < end && b > a && b <= count && b - a <= LONGEST) {
            atomicOr(heads[(a - first) / 32u], 1u << (a - first & 31u));
            set_bound(a - first);
            set_bound(b - first);
            most = max(most, b - a);
            last = max(last, b - first);
        }
        s += GROUP;
        if (s < past) {
            uint at = offset_at(s - GROUP);
            if (offset_at(s - 1u) == at)
                s = max(segments_before(at + 1u, s, past), s + 1u) - 1u;
        }
    }
    most = subgroupMax(most);
    last = subgroupMax(last);
    if (subgroupElect()) {
        atomicMax(longest, most);
        atomicMax(past_last, last);
    }
}

/* The last bound at or before an element; TILE: none. */
uint bound_before(uint at)
{
    uint w = at / 32u, here = bounds[w] & 0xffffffffu >> (31u - (at & 31u));
    if (here == 0u) {
        uint g = w / 32u, words = filled[g] & ((1u << (w & 31u)) - 1u);
        while (words == 0u && g > 0u)
            words = filled[--g];
        if (words == 0u)
            return TILE;
        w = g * 32u + uint(findMSB(words));
        here = bounds[w];
    }
    return w * 32u + uint(findMSB(here));
}

/* The first bound after an element; TILE: none. */
uint bound_after(uint at)
{
    uint w = at / 32u, here = bounds[w] & ~(0xffffffffu >> (31u - (at & 31u)));
    if (here == 0u) {
        uint g = w / 32u, words = filled[g] & ~(0xffffffffu >> (31u - (w & 31u)));
        while (words == 0u && g < (WORDS - 1u) / 32u)
            words = filled[++g];
        if (words == 0u)
            return TILE;
        w = g * 32u + uint(findLSB(words));
        here = bounds[w];
    }
    return w * 32u + uint(findLSB(here));
}

/* The segment of an element of the tile: its first element, and its end shifted left by 16. An
 * element in no segment is a segment by itself. 0: another workgroup processes the element. */
uint span_at(uint at, uint in_end, uint out_first)
{
    uint begin = bound_before(at);
    if (begin < TILE && (heads[begin / 32u] >> (begin & 31u) & 1u) != 0u)
        return begin | bound_after(at) << 16;
    return at >= in_end && at < out_first ? at | (at + 1u) << 16 : 0u;
}

bool is_head(uint at)
{
    return (heads[at / 32u] >> (at & 31u) & 1u) != 0u;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Sorts a block in the pool by exchanges of neighbours, which are stable. */
void sort_block(uint block, uint count, code_t mask)
{
    code_t codes[BLOCK];
    uint from[BLOCK];
    [[unroll]] for (uint k = 0u; k < BLOCK; k++) {
        from[k] = block + k;
        codes[k] = LARGEST;
        if (k < count)
            codes[k] = staged(block + k);
    }
    [[unroll]] for (uint step = 0u; step < BLOCK; step++) {
        [[unroll]] for (uint k = step & 1u; k + 1u < BLOCK; k += 2u) {
            bool is_less = comes_before(codes[k + 1u] & mask, codes[k] & mask);
            code_t code = is_less ? codes[k + 1u] : codes[k];
            codes[k + 1u] = is_less ? codes[k] : codes[k + 1u];
            codes[k] = code;
            uint source = is_less ? from[k + 1u] : from[k];
            from[k + 1u] = is_less ? from[k] : from[k + 1u];
            from[k] = source;
        }
    }
    [[unroll]] for (uint k = 0u; k < BLOCK; k++) {
        uint at = block + k;
        if (k < count)
            stage(at, codes[k]);
        if (k < count && VALUES != SORT_VALUES_NONE) /* it was "at" */
            atomicXor(sources[at / 2u], (from[k] ^ at) << 16u * (at & 1u));
    }
}

/* Sorts the blocks that begin in 8 elements. */
void sort_blocks(uint first, code_t mask)
{
    uint begins = starts[first / 32u] >> (first & 31u) & 0xffu;
    while (begins != 0u) {
        uint block = first + uint(findLSB(begins));
        begins &= begins - 1u;
        sort_block(block, min(bound_after(block) - block, BLOCK), mask);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The rest of two runs that are merged: [i, i_end) and [j, end). */
struct runs {
    uint i, i_end, j, end;
};

/* The pair of runs of an element, from the pair's first element on. */
runs pair_at(uint at, uint first, uint past, uint run)
{
    uint begin = at - (at - first & (2u * run - 1u)), middle = min(begin + run, past);
    return runs(begin, middle, middle, min(begin + 2u * run, past));
}

/* Skips the first "count" outputs. */
void skip_outputs(inout runs pair, uint count, code_t mask)
{
    uint in_second = pair.end - pair.j;
    uint low = count > in_second ? count - in_second : 0u, high = min(count, pair.i_end - pair.i);
    while (low < high) {
        uint middle = (low + high) >> 1;
        bool is_after = comes_before(staged(pair.j + count - 1u - middle) & mask,
                                     staged(pair.i + middle) & mask);
        high = is_after ? middle : high;
        low = is_after ? low : middle + 1u;
    }
    pair.i += low;
    pair.j += count - low;
}

/* The 8 elements from "first" on after runs are merged in pairs. */
void merge_block(uint first, uint run, code_t mask, out code_t codes[BLOCK], out uint from[BLOCK])
{
    uint begin = bound_before(first);
    bool is_inside = begin < TILE && is_head(begin);
    begin = is_inside ? begin : first;
    uint past = is_inside ? bound_after(first) : first + 1u;
    runs pair = pair_at(first, begin, past, run);
    skip_outputs(pair, first - pair.i, mask);
    code_t a = staged(min(pair.i, TILE - 1u)), b = staged(min(pair.j, TILE - 1u));
    [[unroll]] for (uint k = 0u; k < BLOCK; k++) {
        uint at = first + k;
        if (at == pair.end) { /* the next pair, of this segment or of another */
            if (at == past) {
                begin = at;
                past = is_head(at) ? bound_after(at) : at + 1u;
            }
            pair = pair_at(at, begin, past, run);
            a = staged(pair.i);
            b = staged(min(pair.j, TILE - 1u));
        }
        bool is_second =
            pair.i == pair.i_end || (pair.j < pair.end && comes_before(b & mask, a & mask));
        codes[k] = is_second ? b : a;
        from[k] = source_at(is_second ? pair.j : pair.i);
        pair.i += is_second ? 0u : 1u;
        pair.j += is_second ? 1u : 0u;
        code_t next = staged(min(is_second ? pair.j : pair.i, TILE - 1u));
        a = is_second ? a : next;
        b = is_second ? next : b;
    }
}

void merge(uint run, uint extent, code_t mask)
{
    code_t codes[BLOCK];
    uint from[BLOCK], first = gl_LocalInvocationID.x * BLOCK;
    if (first < extent)
        merge_block(first, run, mask, codes, from);
    barrier();
    [[unroll]] for (uint k = 0u; k < BLOCK && first < extent; k++)
        stage(first + k, codes[k]);
    [[unroll]] for (uint k = 0u; k < BLOCK && first < extent && VALUES != SORT_VALUES_NONE; k += 2u)
        sources[(first + k) / 2u] = from[k] | from[k + 1u] << 16;
    barrier();
}

/* ---- the window ------------------------------------------------------------------------------ */

void main()
{
    uint w = group_index(), t = gl_LocalInvocationID.x, count = elements_now();
    if (w >= (count + (WINDOW - 1u)) / WINDOW)
        return;
    uint spans[ITEMS];
    code_t codes[ITEMS], mask = compared_mask();
    uint window_first = w * WINDOW, inside = min(count - window_first, WINDOW);
    uvec4 here = quads_at(args.windows).v[w];
    uint ready = min(count - window_first, TILE / 2u); /* loaded while the offsets are */
    EACH_ROW(ready)
    {
        if (r * GROUP + t < ready)
            codes[r] = load_code(window_first + r * GROUP + t);
    }
    if (t < WORDS)
        heads[t] = bounds[t] = starts[t] = 0u;
    if (t < (WORDS + 31u) / 32u)
        filled[t] = 0u;
    for (uint i = t; i < SOURCES; i += GROUP)
        sources[i] = 2u * i | (2u * i + 1u) << 16;
    if (t == 0u) {
        longest = 0u;
        past_last = inside;
    }
    barrier();
    find_segments(here.x, here.y, window_first, window_first + inside);
    barrier();
    uint extent = past_last, most = longest;
    EACH_ROW(extent)
    {
        uint at = r * GROUP + t;
        spans[r] = at < extent ? span_at(at, here.z - window_first, here.w - window_first) : 0u;
        uint first = spans[r] & 0xffffu, past = spans[r] >> 16;
        if (spans[r] != 0u && at >= ready)
            codes[r] = load_code(window_first + at);
        if (spans[r] != 0u)
            stage(at, codes[r]);
        if (spans[r] != 0u && (at - first) % BLOCK == 0u && at + 1u < past)
            atomicOr(starts[at / 32u], 1u << (at & 31u));
    }
    barrier();
    if (t * BLOCK < extent)
        sort_blocks(t * BLOCK, mask);
    barrier();
    for (uint run = BLOCK; run < most; run <<= 1)
        merge(run, extent, mask);
    uint values[ITEMS];
    EACH_ROW(extent)
    {
        uint at = r * GROUP + t;
        if (spans[r] != 0u && !is_none(args.keys_out))
            store_code(window_first + at, staged(at));
        values[r] = window_first + source_at(at);
        if (spans[r] != 0u && VALUES == SORT_VALUES_MOVED)
            values[r] = words_at(args.values).v[values[r]];
    }
    barrier(); /* values may be moved in place */
    EACH_ROW(extent)
    {
        if (spans[r] != 0u && VALUES != SORT_VALUES_NONE)
            store_value(window_first + r * GROUP + t, values[r]);
    }
}
