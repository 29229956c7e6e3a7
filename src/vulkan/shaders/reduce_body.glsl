/* One pass of tml_reduce in one dispatch. A workgroup folds some tiles. The last workgroup of a fan
 * (FOLD_FAN tiles) to finish folds the fan's partial results, and the last of these the fans'
 * results. No workgroup waits. Each step joins in the order of the tiles, so the result does not
 * depend on which workgroup was last. */
#include "last.glsl"
#include "reduce_fold.glsl"

ARGS_USE(reduce_args)

fold_state result_before(uvec2 results, uint i, uint count)
{
    return fold_choose(i < count, get_result(results, min(i, count - 1u)), fold_nothing());
}

/* Joins the result of the earlier passes, and stores. */
void finish(fold_state f, uint count)
{
    uvec2 first = uvec2(args.first_low, args.first_high);
    if (args.is_first == 0u) {
        uvec4 before = quads_at(args.running).v[0];
        fold_state sooner = fold_state(before.xy, 0u);
        if (FOLD_KIND != FOLD_WHERE) {
            f = fold_join(sooner, f);
        } else if (!key_less(f, sooner)) {
            f = sooner;
            first = before.zw;
        }
    }
    if (args.is_last == 0u) {
        uvec2 at = FOLD_KIND == FOLD_WHERE ? add64(first, uvec2(f.at, 0u)) : uvec2(0u);
        quads_at(args.running).v[0] = uvec4(f.number, at);
        return;
    }
    uvec2 whole = is_none(args.whole) ? uvec2(args.whole_low, args.whole_high) : load64(args.whole);
    fold_store(args.out_at, 0u, f, first, whole);
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + t; i < args.clear_count; i += groups * GROUP)
        store_word(args.clear, i, 0u);

    uint count = stream_length(args.length_at, args.bound);
    uint tiles = max((count + (1u << TILE_LOG2) - 1u) >> TILE_LOG2, 1u);
    uint first = args.first_tile + group_index() * args.each, end = min(first + args.each, tiles);
    if (first >= tiles)
        return;
    fold_state f = fold_nothing();
    for (uint tile = first; tile < end; tile++) {
        if (tile != first)
            barrier();
        if (count > 0u)
            f = fold_tile(args.in_at, tile, count);
        if (tiles > 1u && t == 0u)
            put_result(args.partials, tile, f);
    }
    if (tiles > 1u) {
        uint fan = first / FOLD_FAN, fans = (tiles + FOLD_FAN - 1u) / FOLD_FAN;
        uint here = min(tiles - fan * FOLD_FAN, FOLD_FAN);
        if (!is_last_of(address_of_word(args.counters, 1u + fan), here, end - first))
            return;
        f = fold_group(result_before(args.partials, fan * FOLD_FAN + t, tiles));
        if (fans > 1u) {
            barrier();
            if (t == 0u)
                put_result(args.fans, fan, f);
            if (!is_last_of(args.counters, fans, 1u))
                return;
            f = fold_nothing();
            uint each = (fans + GROUP - 1u) / GROUP;
            for (uint k = 0u; k < each; k++)
                f = fold_join(f, result_before(args.fans, t * each + k, fans));
            f = fold_group(f);
        }
    }
    if (t == 0u)
        finish(f, count);
}
