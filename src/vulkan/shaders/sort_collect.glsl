/* Lists the elements of long segments: codes, the segments' numbers, and places. A workgroup does a window. */
#include "sort_segments.glsl"

void list(uint i, uint place, uint id)
{
    code_t code = load_code(place);
#if SORT_WORDS == 1
    words_at(args.codes).v[i] = code;
#else
    pairs_at(args.codes).v[i] = code;
#endif
    words_at(args.ids).v[i] = id;
    words_at(args.places).v[i] = place;
}

void main()
{
    uint w = group_index(), count = elements_now();
    if (w >= (count + (WINDOW - 1u)) / WINDOW)
        return;
    window here = window_at(w, words_at(args.windows).v[w], words_at(args.windows).v[w + 1u]);
    uint first = words_at(args.longs).v[w], in_count = here.is_in_long ? here.in_end - here.first : 0u;
    for (uint i = gl_LocalInvocationID.x; i < in_count; i += GROUP)
        list(first + i, here.first + i, here.in_id);
    first += in_count;
    for (uint i = gl_LocalInvocationID.x; i < here.end - here.out_first; i += GROUP)
        list(first + i, here.out_first + i, here.out_id);
}
