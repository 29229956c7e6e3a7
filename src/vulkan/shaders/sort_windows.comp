/* The first segment of each window, and its elements of long segments. */
#define SORT_WORDS 1
#include "sort_segments.glsl"

void main()
{
    uint count = elements_now(), segments = segments_now();
    uint w = group_index() * GROUP + gl_LocalInvocationID.x;
    uint windows = (args.bound + (WINDOW - 1u)) / WINDOW;
    if (w > windows)
        return;
    uint first = min(w * WINDOW, count), end = min(first + WINDOW, count);
    uint begin = segments_before(first, 0u, segments);
    uint past = segments_before(end, 0u, segments);
    store_word(args.windows, w, begin);
    if (w == windows || is_none(args.longs))
        return;
    window here = window_at(w, begin, past);
    uint longs = here.end - here.out_first + (here.is_in_long ? here.in_end - here.first : 0u);
    store_word(args.longs, w, w * WINDOW < count ? longs : 0u);
}
