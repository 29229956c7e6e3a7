/* Moves a part by one digit. Each tile ranks its elements, finds where its share of each bin
 * begins, and stores the elements ordered by bin, so that the share of a bin is stored
 * consecutively. The position of a share comes from decoupled look-back, one invocation per bin, or
 * from a scan of all tiles' counts.
 *
 * After: Adinets, Merrill: Onesweep: A Faster Least Significant Digit Radix Sort for GPUs. 2022;
 * Merrill, Grimshaw: Revisiting Sorting for GPGPU Stream Architectures. 2010. */
#include "sort_tile.glsl"

layout(constant_id = SORT_PLACED) const bool IS_PLACED = false;
#include "gpu/look_back.glsl"

shared uint shared_tile;
shared uint stuck_end;

/* The workgroup's tile; zeroes the next sweep's states. */
uint take_tile(uint tiles)
{
    uint t = gl_LocalInvocationID.x, groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    if (IS_PLACED)
        return group_index();
    uint next = min(args.tiles, tiles) * BINS;
    if (args.tiles != 0xffffffffu)
        next = args.tiles * BINS;
    for (uint i = group_index() * GROUP + t; i < next; i += groups * GROUP)
        words_at(args.clear).v[i] = 0u;
    if (!TAKES_TICKETS)
        return group_index();
    if (t == 0u)
        shared_tile = atomicAdd(word_at(args.ticket).bits, 1u);
    barrier();
    return shared_tile;
}

/* For invocation t: the number of elements in bin t in all preceding tiles. states: of those tiles.
 * If tiles are stuck, the workgroup counts the last stuck tile itself (fallback), so that no
 * workgroup waits forever, in whatever order they run. */
uint find_before(uvec2 states, uint tile, uint count)
{
    uint t = gl_LocalInvocationID.x, end = tile, sum = 0u;
    while (true) {
        uint stuck = t < BINS ? look_back_column(states, BINS, t, end, sum) : 0u;
        if (GIVES_UP) {
            if (stuck != 0u)
                store_word(args.stalled, 0u, 1u);
            return sum;
        }
        if (stuck == 0u)
            end = 0u;
        if (t == 0u)
            stuck_end = 0u;
        barrier();
        atomicMax(stuck_end, stuck);
        bins[t] = 0u;
        barrier();
        uint helped = stuck_end;
        if (helped == 0u)
            return sum;
        count_tile(helped - 1u, count);
        barrier();
        if (t < BINS)
            publish_for(states, (helped - 1u) * BINS + t, AGGREGATE, bins[t]);
        if (end == helped) {
            sum += bins[t];
            end--;
        }
    }
}

/* If segments overlap, the counts differ from the moved elements. */
bool is_inside(uint to, uint count)
{
    return SPANS == 0u || to - stream_first < count;
}

void main()
{
    uint t = gl_LocalInvocationID.x, count = stream_length(args.length_at, args.bound);
    uint tiles = SPANS != 0u ? count : (count + (TILE - 1u)) / TILE, tile = take_tile(tiles);
    if (tile >= tiles)
        return;
    tile_place place = place_of(tile, count);
    uvec2 states = place.states;
    tile = place.tile;
    count = place.count;
    uint here = min(count - tile * TILE, TILE);

    code_t codes[ITEMS];
    uint ranks[RANK_WORDS];
    load_codes(tile, count, codes);
    uint in_bin = rank_in_sections(codes, FIRST_BIT, ranks);
    /* The padding of the last tile is in the last bin. */
    uint counted = t == digit_of(LARGEST, FIRST_BIT, END_BIT) ? in_bin - (TILE - here) : in_bin;
    in_bin += delay(tile, LATE, args.stalled);
    if (!IS_PLACED && t < BINS)
        publish(states, tile * BINS + t, tile == 0u ? INCLUSIVE : AGGREGATE, counted);
    uint before = rank_in_tile(codes, FIRST_BIT, in_bin, ranks);
    STAGE(0u, ranks, codes)

    if (IS_PLACED) {
        uint base = SPANS != 0u ? stream_first - words_at(states).v[0] : 0u;
        if (t < BINS)
            bins[t] = base + words_at(states).v[t * place.column + tile] - before;
    } else {
        uint base = t < BINS ? words_at(place.bases).v[t] : 0u, all;
        if (SPANS != 0u)
            base = stream_first + scan_group(base, all);
        uint sum = find_before(states, tile, count);
        if (t < BINS) {
            if (tile != 0u)
                publish(states, tile * BINS + t, INCLUSIVE, sum + counted);
            if (tile + 1u == tiles && !is_none(args.next_bases))
                words_at(args.next_bases).v[t] = base + sum + counted;
            bins[t] = base + sum - before;
        }
    }

    uint digits[(ITEMS + 3u) / 4u]; /* of the elements that this invocation stores, one byte each */
    [[unroll]] for (uint i = 0u; i < (ITEMS + 3u) / 4u; i++)
        digits[i] = 0u;
    [[unroll]] for (uint w = 0u; w < WINDOWS; w++) {
        barrier();
        if (w > 0u) {
            STAGE(w, ranks, codes)
            barrier();
        }
        [[unroll]] for (uint j = 0u; j < WINDOW_ITEMS; j++) {
            uint at = j * GROUP + t, n = w * WINDOW_ITEMS + j;
            code_t code;
            unstage(at, code);
            uint digit = digit_of(code, FIRST_BIT, END_BIT);
            digits[n / 4u] |= digit << (8u * (n % 4u));
            uint to = bins[digit] + w * WINDOW + at;
            if (w * WINDOW + at < here && !is_none(args.keys_out) && is_inside(to, count))
                store_code(to, code);
        }
    }
    if (VALUES == SORT_VALUES_NONE)
        return;
    uint values[ITEMS];
    load_values(tile, count, values);
    [[unroll]] for (uint w = 0u; w < WINDOWS; w++) {
        barrier();
        STAGE(w, ranks, values)
        barrier();
        [[unroll]] for (uint j = 0u; j < WINDOW_ITEMS; j++) {
            uint at = j * GROUP + t, n = w * WINDOW_ITEMS + j, value;
            unstage(at, value);
            uint digit = digits[n / 4u] >> (8u * (n % 4u)) & 0xffu;
            uint to = bins[digit] + w * WINDOW + at;
            if (w * WINDOW + at < here && is_inside(to, count))
                store_value(to, value);
        }
    }
}
