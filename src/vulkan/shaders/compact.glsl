/* Single-pass compaction of 4-byte elements and/or their positions, or only a count, by decoupled
 * look-back: the body of compact_*.comp and kernel_compact.comp. Each of those defines
 *
 *   KEEPS_BY_VALUE              1: keep_rows reads the elements; 0: they are only moved
 *   uint keep_rows(uint v[ROWS], uint first, uint count)
 *                               keep bits of the invocation's elements v (rows.glsl); without
 *                               KEEPS_BY_VALUE v is undefined. first: index of its element in row
 *                               0. Bits of elements from count on are undefined; count is not 0.
 *                               All invocations call it together
 *
 * A tile publishes its aggregate (the number of kept elements) and looks back for its exclusive
 * prefix (gpu/look_back.glsl). Without forward progress, the workgroup counts a stuck predecessor's
 * elements itself (fallback), so that all workgroups finish. With forward progress, the fallback
 * would only cost registers (5 % of the time of 2^28 elements on an H200), so the workgroup gives
 * up instead and reports that to the host. Tickets assign tiles to workgroups in the order in which
 * the workgroups start, unless the device starts them in order (tickets take 2 % of that time, 6 %
 * for 2^24 elements).
 *
 * With flags or a mask, only the kept elements are loaded, after the look-back.
 *
 * A short stream is partitioned likewise. All of its tiles are resident, so each workgroup waits
 * for the counts of all others, and then knows where both the kept and the rejected elements begin.
 *
 * What made it fast on a large GPU: rows.glsl; and states that are published by atomicExchange but
 * polled by loads (polling by read-modify-write took 1.6 times as long). What did not help there:
 * look-back over 64, 128 or 256 tiles at once (1, 5, 18 % more time); aggregates of blocks of 32
 * tiles in addition (1 % less to 2 % more); early polls (2 % more); persistent workgroups that loop
 * over tiles (1.4 times as long), also with the next tile's loads in flight (1.2 to 1.4 times).
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */
#include "places.glsl"

layout(constant_id = COMPACT_OUT) const bool HAS_OUT = true;
layout(constant_id = COMPACT_INDICES) const bool HAS_INDICES = false;
layout(constant_id = COMPACT_TOTALS) const uint TOTALS = TOTALS_ALONE;
layout(constant_id = COMPACT_WIDE) const bool IS_WIDE = false;
layout(constant_id = COMPACT_BOTH) const bool IS_BOTH = false;

#include "gpu/look_back.glsl"

shared uint tile_taken;
shared uint tile_place;

/* Keep bits of the elements before count, which is not 0. Loads the elements if the bits depend on
 * their values. */
uint keep_section(uint first, uint count, out uint v[ROWS])
{
    if (KEEPS_BY_VALUE != 0)
        load_rows(args.in0, first, count, v);
    return keep_rows(v, first, count) & rows_before(first, count);
}

/* The number of kept elements before end in a tile, counted by one subgroup. end: within the tile
 * or behind it. The loads have no branches: SwiftShader's compile time is exponential in the
 * branches of a loop. */
uint count_neighbour(uint tile, uint end)
{
    uint sum = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        uint first = tile * TILE_ITEMS + s * SECTION + gl_SubgroupInvocationID;
        uint v[ROWS];
        if (KEEPS_BY_VALUE != 0) {
            [[unroll]] for (uint r = 0u; r < ROWS; r++)
                v[r] = LOAD_U32(args.in0, min(first + r * SUBGROUP, end - 1u));
        }
        sum += popcount32(keep_rows(v, first, end) & rows_before(first, end));
    }
    return subgroupAdd(sum);
}

/* The tile's exclusive prefix: the number of elements kept in all tiles before it. One subgroup
 * calls it. */
uint find_place(uvec2 states, uint tile)
{
    uint place = 0u, end = tile;
    while (true) {
        uint stuck = look_back_row(states, end, place);
        if (stuck != 0u && GIVES_UP)
            store_word(args.in3, 0u, 1u);
        if (stuck == 0u || GIVES_UP)
            return place;
        end--;
        uint count = count_neighbour(end, (end + 1u) * TILE_ITEMS);
        if (subgroupElect())
            publish_for(states, end, AGGREGATE, count);
        place += count;
    }
}

/* IS_BOTH: sets tile_place, and returns the sum of all tiles. Invocation t waits for tile t; its
 * subgroup counts tiles that do not publish in time. */
uint wait_for_all(uvec2 states, uint tile, uint tile_count, uint in_tile, uint count)
{
    uint t = gl_LocalInvocationID.x, lane = gl_SubgroupInvocationID, kept = in_tile;
    uint flag = t != tile && t < tile_count ? 0u : AGGREGATE;
    for (uint i = 0u; i < LOOKS && flag == 0u; i++)
        flag = look(states, t, kept);
    reconverge();
    uvec4 missing = subgroupBallot(flag == 0u);
    while (missing != uvec4(0u)) {
        uint next = subgroupBallotFindLSB(missing), stuck = t - lane + next;
        uint counted = count_neighbour(stuck, min((stuck + 1u) * TILE_ITEMS, count));
        kept = lane == next ? counted : kept;
        missing &= ~subgroupBallot(lane == next);
    }
    kept = t < tile_count ? kept : 0u;
    uint sooner, total;
    barrier();
    uint place = count_tile(subgroupAdd(t < tile ? kept : 0u), sooner);
    barrier();
    total = count_tile(subgroupAdd(kept), sooner);
    if (t == 0u)
        tile_place = place;
    return total;
}

/* Stores the elements whose bits are set, or their positions, from output index start on. */
void store_elements(uint v[ROWS], uint first, uint bits, uvec2 start)
{
    if (HAS_OUT) {
        uvec2 to = address_at(args.out_at, start, 4u);
        STORE_ROWS(to, bits, v[r])
    }
    if (HAS_INDICES) {
        uvec2 to = address_at(args.indices, start, 4u);
        STORE_ROWS(to, bits, args.first_index + first + r * SUBGROUP)
    }
}

void store_total(uvec2 total)
{
    if (TOTALS != TOTALS_ALONE)
        store64(address_add(args.totals, 8u, 0u), total);
    else if (!is_none(args.totals))
        store_count(args.totals, IS_WIDE, total);
}

void main()
{
    uint local = gl_LocalInvocationID.x, lane = gl_SubgroupInvocationID;
    uint count = stream_length(args.length_at, args.bound);
    uint tile_count = max(1u, (count + (TILE_ITEMS - 1u)) / TILE_ITEMS);
    uint grid = GROUP * gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + local; i < args.clear_count; i += grid)
        words_at(args.clear).v[i] = 0u;
    uint tile = group_index();
    if (TAKES_TICKETS) {
        if (local == 0u)
            tile_taken = atomicAdd(words_at(args.states).v[0], 1u);
        barrier();
        tile = tile_taken;
    }
    if (tile >= tile_count)
        return;

    uint first = section_first(tile), bits = 0u;
    uint v[ROWS];
    if (count != 0u)
        bits = keep_section(first, count, v);
    bool loads_early = IS_BOTH && HAS_OUT && KEEPS_BY_VALUE == 0;
    if (loads_early && count != 0u)
        load_rows(args.in0, first, count, v);
    bits += delay(tile, LATE, args.in3);
    uint before, in_section = subgroupAdd(popcount32(bits));
    uint in_tile = count_tile(in_section, before);
    uvec2 states = address_of_word(args.states, STATES_FIRST);
    if (local == 0u)
        publish(states, tile, tile == 0u ? INCLUSIVE : AGGREGATE, in_tile);

    uvec2 base = uvec2(0u);
    if (TOTALS == TOTALS_LATER)
        base = load64(args.totals);
    uint total = 0u;
    if (IS_BOTH) {
        total = wait_for_all(states, tile, tile_count, in_tile, count);
        if (tile == 0u && local == 0u)
            store_total(uvec2(total, 0u));
    } else if (subgroup_index() == 0u) {
        uint place = find_place(states, tile);
        if (lane == 0u) {
            tile_place = place;
            if (tile != 0u)
                publish(states, tile, INCLUSIVE, place + in_tile);
            if (tile + 1u == tile_count)
                store_total(add64(base, uvec2(place + in_tile, 0u)));
        }
    }
    barrier();

    uvec2 start = add64(base, uvec2(tile_place + before, 0u));
    if (args.capacity != 0xffffffffu) /* the largest capacity means no limit */
        bits = first_of_rows(bits, fits(uvec2(args.capacity, 0u), start, in_section));
    if (HAS_OUT && KEEPS_BY_VALUE == 0 && !loads_early)
        LOAD_KEPT_ROWS(args.in0, first, bits, v)
    store_elements(v, first, bits, start);
    if (IS_BOTH) { /* start: the number of kept elements before the section */
        uint rejected = total + (first - lane) - start.x;
        store_elements(v, first, ~bits & rows_before(first, count), uvec2(rejected, 0u));
    }
}
