/* One pass of tml_reduce in one dispatch: of scalars, or (VECTORS) of each component of vectors.
 * Each workgroup folds some tiles. The last workgroup of a fan (FOLD_FAN tiles) to finish folds the
 * fan's partial results, and the last workgroup to complete a fan folds the fans' results. No
 * workgroup waits. Each step joins results in the order of the tiles, so the result does not depend
 * on which workgroup was last. */
#include "last.glsl"
#include "reduce_fold.glsl"
#ifdef VECTORS
#include "reduce_vectors.glsl"
#else
#define COMPONENTS      1u
#define COMPONENTS_MOST 1
const uint TILE = 1u << TILE_LOG2;
void fold_components(uvec2 address, uint tile, uint count, out fold_state f[1])
{
    f[0] = fold_own(address, tile, count);
}
#endif
#define EACH_COMPONENT(c) [[unroll]] for (uint c = 0u; c < COMPONENTS; c++)

ARGS_USE(reduce_args)

/* Results of the components of a tile or a fan lie side by side. */
fold_state result_before(uvec2 results, uint i, uint count, uint c)
{
    fold_state f = get_result(results, min(i, count - 1u) * COMPONENTS + c);
    return fold_choose(i < count, f, fold_nothing());
}
void put_results(uvec2 results, uint i, fold_state f[COMPONENTS_MOST])
{
    if (gl_LocalInvocationID.x == 0u)
        EACH_COMPONENT(c)
            put_result(results, i * COMPONENTS + c, f[c]);
}

/* Folds each component over the workgroup. A barrier must precede the next call. */
void fold_groups(inout fold_state f[COMPONENTS_MOST])
{
    EACH_COMPONENT(c) {
        if (c > 0u)
            barrier();
        f[c] = fold_group(f[c]);
    }
}

/* Joins the result of the earlier passes, and stores. */
void finish(fold_state f, uint c, uint count)
{
    uvec2 first = uvec2(args.first_low, args.first_high);
    if (args.is_first == 0u) {
        uvec4 before = quads_at(args.running).v[c];
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
        quads_at(args.running).v[c] = uvec4(f.number, at);
        return;
    }
    uvec2 whole = is_none(args.whole) ? uvec2(args.whole_low, args.whole_high) : load64(args.whole);
    fold_store(args.out_at, c, f, first, whole);
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + t; i < args.clear_count; i += groups * GROUP)
        store_word(args.clear, i, 0u);

    uint count = stream_length(args.length_at, args.bound);
    uint tiles = max((count + TILE - 1u) / TILE, 1u);
    uint first = args.first_tile + group_index() * args.each, end = min(first + args.each, tiles);
    if (first >= tiles)
        return;
    fold_state f[COMPONENTS_MOST];
    EACH_COMPONENT(c)
        f[c] = fold_nothing();
    for (uint tile = first; tile < end; tile++) {
        if (tile != first)
            barrier();
        if (count > 0u) {
            fold_components(args.in_at, tile, count, f);
            fold_groups(f);
        }
        if (tiles > 1u)
            put_results(args.partials, tile, f);
    }
    if (tiles > 1u) {
        uint fan = first / FOLD_FAN, fans = (tiles + FOLD_FAN - 1u) / FOLD_FAN;
        uint here = min(tiles - fan * FOLD_FAN, FOLD_FAN);
        if (!is_last_of(address_of_word(args.counters, 1u + fan), here, end - first))
            return;
        EACH_COMPONENT(c)
            f[c] = result_before(args.partials, fan * FOLD_FAN + t, tiles, c);
        fold_groups(f);
        if (fans > 1u) {
            barrier();
            put_results(args.fans, fan, f);
            if (!is_last_of(args.counters, fans, 1u))
                return;
            uint each = (fans + GROUP - 1u) / GROUP;
            EACH_COMPONENT(c) {
                f[c] = fold_nothing();
                for (uint k = 0u; k < each; k++)
                    f[c] = fold_join(f[c], result_before(args.fans, t * each + k, fans, c));
            }
            fold_groups(f);
        }
    }
    if (t == 0u)
        EACH_COMPONENT(c)
            finish(f[c], c, count);
}
