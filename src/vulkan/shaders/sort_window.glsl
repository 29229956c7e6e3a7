/* Sorts the short segments that begin in a window, in shared memory: one read and one write of the elements. Blocks
 * of 8 elements, counted from their segment's first one, are sorted by counting, and then runs are merged in pairs
 * until the longest segment is one: an element's place in the pair is its place in its run and the number of elements
 * of the other run that come before it, which a bisection finds. So all stays stable, segments begin anywhere, and
 * short ones take few steps.
 *
 * After: Baxter: moderngpu, segmented sort. 2013; Satish, Harris, Garland: Designing Efficient Sorting Algorithms
 * for Manycore GPUs. 2009 (merging by ranks). */
#include "sort_segments.glsl"
#include "sort_store.glsl"
#include "group.glsl"

const uint WORDS = TILE / 32u, BLOCK = 8u;
shared uint pool[TILE * SORT_WORDS];          /* codes or sources */
shared uint heads[WORDS];                     /* bits: a short segment begins here */
shared uint bounds[WORDS];                    /* bits: one begins or ends here */
shared uint filled[(WORDS + 31u) / 32u];      /* bits: words of bounds that are not 0 */
shared uint longest, past_last;

#define EACH_ROW(extent)                                                                           \
    [[unroll]] for (uint r = 0u; r < ITEMS; r++)                                                   \
        if (r * GROUP < (extent))

/* ---- codes in the pool ----------------------------------------------------------------------- */

void stage(uint at, uint value)
{
    pool[at] = value;
}
#if SORT_WORDS == 1
code_t staged(uint at)
{
    return pool[at];
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
    pool[at] = code.x;
    pool[TILE + at] = code.y;
}
code_t staged(uint at)
{
    return uvec2(pool[at], pool[TILE + at]);
}
uint ones_below(uint bits)
{
    return bits >= 32u ? 0xffffffffu : (1u << bits) - 1u;
}
uvec2 compared_mask()
{
    uint first = args.kind >> 8 & 0xffu, end = args.kind >> 16;
    return uvec2(ones_below(end) & ~ones_below(first),
                 (end > 32u ? ones_below(end - 32u) : 0u) & ~(first > 32u ? ones_below(first - 32u) : 0u));
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

/* Sets the bits of short segments [begin, past). Many empty ones in one place are passed over. */
void find_segments(window here, uint begin, uint past)
{
    uint t = gl_LocalInvocationID.x, count = elements_now(), most = 0u, last = 0u;
    for (uint s = begin, step = 0u; s < past && step <= 2u * WINDOW; step++) {
        uint a = offset_at(min(s + t, past - 1u)), b = offset_at(min(s + t, past - 1u) + 1u);
        if (s + t < past && a >= here.first && a < here.end && b > a && b <= count && b - a <= WINDOW) {
            atomicOr(heads[(a - here.first) / 32u], 1u << (a - here.first & 31u));
            set_bound(a - here.first);
            set_bound(b - here.first);
            most = max(most, b - a);
            last = max(last, b - here.first);
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

/* The segment of an element of the tile: its first element, and above bit 16 its end. An element in no segment is one
 * by itself; 0: another workgroup does the element. */
uint span_at(window here, uint at)
{
    uint begin = bound_before(at), place = here.first + at;
    if (begin < TILE && (heads[begin / 32u] >> (begin & 31u) & 1u) != 0u)
        return begin | bound_after(at) << 16;
    return place >= here.in_end && place < here.out_first ? at | (at + 1u) << 16 : 0u;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The element's place after its block of 8 is sorted. */
uint place_in_block(uint at, uint span, code_t own, code_t mask)
{
    uint first = span & 0xffffu, end = span >> 16;
    uint block = at - (at - first) % BLOCK, past = min(block + BLOCK, end), place = block;
    [[unroll]] for (uint k = 0u; k < BLOCK; k++) {
        code_t other = staged(min(block + k, TILE - 1u)) & mask;
        bool is_before = block + k < at ? !comes_before(own, other) : comes_before(other, own);
        place += uint(block + k < past && is_before);
    }
    return place;
}

/* The element's place after runs are merged in pairs. */
uint place_in_pair(uint at, uint span, uint run, code_t own, code_t mask)
{
    uint first = span & 0xffffu, end = span >> 16, within = (at - first) & (run - 1u);
    bool is_second = (at - first & run) != 0u;
    uint other = is_second ? at - within - run : at - within + run, pair = is_second ? other : at - within;
    uint count = other < end ? min(run, end - other) : 0u, less = 0u;
    for (uint step = run; step > 0u; step >>= 1) {
        if (less + step <= count) {
            code_t here = staged(other + less + step - 1u) & mask;
            if (is_second ? !comes_before(own, here) : comes_before(here, own))
                less += step;
        }
    }
    return pair + within + less;
}

/* ---- the window ------------------------------------------------------------------------------ */

/* Moves codes and sources to their places; the codes stay in the pool. */
#define MOVE(extent)                                                                               \
    barrier();                                                                                     \
    if (VALUES != SORT_VALUES_NONE) {                                                              \
        EACH_ROW(extent)                                                                           \
        {                                                                                          \
            if (spans[r] != 0u)                                                                    \
                stage(places[r], sources[r]);                                                      \
        }                                                                                          \
        barrier();                                                                                 \
        EACH_ROW(extent) { sources[r] = pool[r * GROUP + t]; }                                     \
        barrier();                                                                                 \
    }                                                                                              \
    EACH_ROW(extent)                                                                               \
    {                                                                                              \
        if (spans[r] != 0u)                                                                        \
            stage(places[r], codes[r]);                                                            \
    }                                                                                              \
    barrier();                                                                                     \
    EACH_ROW(extent) { codes[r] = staged(r * GROUP + t); }

void main()
{
    uint w = group_index(), t = gl_LocalInvocationID.x, count = elements_now();
    if (w >= (count + (WINDOW - 1u)) / WINDOW)
        return;
    uint spans[ITEMS], places[ITEMS], sources[ITEMS];
    code_t codes[ITEMS], mask = compared_mask();
    uint inside = min(count - w * WINDOW, WINDOW); /* loaded while the offsets are */
    EACH_ROW(inside)
    {
        if (r * GROUP + t < inside)
            codes[r] = load_code(w * WINDOW + r * GROUP + t);
    }
    uint begin = words_at(args.windows).v[w], past = words_at(args.windows).v[w + 1u];
    window here = window_at(w, begin, past);
    if (t < WORDS)
        heads[t] = bounds[t] = 0u;
    if (t < (WORDS + 31u) / 32u)
        filled[t] = 0u;
    if (t == 0u) {
        longest = 0u;
        past_last = inside;
    }
    barrier();
    find_segments(here, begin, past);
    barrier();
    uint extent = past_last, most = longest;
    EACH_ROW(extent)
    {
        uint at = r * GROUP + t;
        sources[r] = at;
        spans[r] = at < extent ? span_at(here, at) : 0u;
        if (spans[r] != 0u && at >= inside)
            codes[r] = load_code(here.first + at);
        if (spans[r] != 0u)
            stage(at, codes[r]);
    }
    barrier();
    if (most > 1u) {
        EACH_ROW(extent)
        {
            if (spans[r] != 0u)
                places[r] = place_in_block(r * GROUP + t, spans[r], codes[r] & mask, mask);
        }
        MOVE(extent)
    }
    for (uint run = BLOCK; run < most; run <<= 1) {
        EACH_ROW(extent)
        {
            if (spans[r] != 0u)
                places[r] = place_in_pair(r * GROUP + t, spans[r], run, codes[r] & mask, mask);
        }
        MOVE(extent)
    }
    EACH_ROW(extent)
    {
        uint at = here.first + r * GROUP + t;
        if (spans[r] != 0u && !is_none(args.keys_out))
            store_code(at, codes[r]);
        if (spans[r] != 0u && VALUES == SORT_VALUES_MOVED)
            store_value(at, words_at(args.values).v[here.first + sources[r]]);
        if (spans[r] != 0u && VALUES == SORT_VALUES_INDEX)
            store_value(at, here.first + sources[r]);
    }
}
