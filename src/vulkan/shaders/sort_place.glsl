/* Puts sorted elements of long segments in their places. */
#define SORT_ARGS sort_place_args
#include "sort_key.glsl"
#include "sort_store.glsl"

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i >= stream_length(args.length_at, args.bound))
        return;
    uint place = words_at(args.places_to).v[i], source = words_at(args.sources).v[i];
    if (!is_none(args.keys_out)) {
#if SORT_WORDS == 1
        store_code(place, words_at(args.codes).v[source]);
#else
        store_code(place, pairs_at(args.codes).v[source]);
#endif
    }
    if (VALUES == SORT_VALUES_NONE)
        return;
    uint value = words_at(args.places).v[source];
    if (VALUES == SORT_VALUES_MOVED)
        value = words_at(args.values).v[value];
    store_value(place, value);
}
