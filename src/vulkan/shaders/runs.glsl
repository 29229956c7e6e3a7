/* Starts and ends of runs. */
#include "places.glsl"

ARGS_USE(runs_args)

layout(constant_id = 0) const bool IS_WIDE = false;
const uint SIZE = IS_WIDE ? 8u : 4u;

uvec2 start_of(uvec2 run)
{
    uvec2 at = address_at(args.starts, run, SIZE);
    if (IS_WIDE)
        return load64(at);
    return uvec2(word_at(at).bits, 0u);
}
bool less64(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
/* The end of a run: the start of the next run; for the last run, the stream's length. */
uvec2 end_of(uvec2 run)
{
    uvec2 next = add64(run, uvec2(1u, 0u));
    if (!less64(next, load64(args.runs)))
        return is_none(args.total) ? uvec2(args.total_low, args.total_high) : load64(args.total);
    if (!less64(next, uvec2(args.room_low, args.room_high)))
        return load64(args.next);
    return start_of(next);
}
