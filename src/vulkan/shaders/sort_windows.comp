/* Describes each window by four words: segments [x, y) begin in it; its elements before z belong to
 * a segment that begins before the window; its elements from w on belong to a long segment that
 * begins in it. Also stores the number of tiles of that long segment. */
#define SORT_WORDS 1
#include "sort_segments.glsl"

void main()
{
    uint count = elements_now(), segments = segments_now();
    uint w = group_index() * GROUP + gl_LocalInvocationID.x;
    if (w >= (args.bound + (WINDOW - 1u)) / WINDOW)
        return;
    uint first = min(w * WINDOW, count), end = min(first + WINDOW, count), tiles = 0u;
    uint begin = segments_before(first, 0u, segments);
    uint past = segments_before(end, begin, segments);
    uvec4 here = uvec4(begin, past, first, end);
    if (begin > 0u) {
        uint a = offset_at(begin - 1u), b = offset_at(begin);
        if (a < first && b > first && b <= count)
            here.z = min(b, end);
    }
    if (past > begin) {
        uint a = offset_at(past - 1u), b = offset_at(past);
        if (a >= here.z && a < end && b > a && b <= count && b - a > LONGEST) {
            here.w = a;
            tiles = (b - a + (SPANS - 1u)) / max(SPANS, 1u);
        }
    }
    quads_at(args.windows).v[w] = here;
    if (!is_none(args.longs))
        store_word(args.longs, w, tiles);
}
