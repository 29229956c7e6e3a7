/* Moves a tile's kept elements, of any size, or their positions. The workgroup lists the elements'
 * indices, LISTED at a time. Each invocation stores whole words of the output; consecutive
 * invocations store consecutive words. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"

ARGS_USE(move_args)

layout(constant_id = 0) const uint SIZE = 4u;
layout(constant_id = 1) const uint KIND = MOVE_KIND_WORDS;
layout(constant_id = 2) const bool IS_BOTH = false;

const uint LISTED = 1024u;
shared uint list[LISTED];
shared uint totals[SUBGROUPS_MAX];

/* Copies the count listed elements, at most LISTED, to the address "to". */
void copy_words(uvec2 from, uvec2 to, uint count)
{
    const uint WORDS = max(SIZE / 4u, 1u);
    for (uint w = gl_LocalInvocationID.x; w < count * WORDS; w += GROUP)
        store_word(to, w, LOAD_U32(from, list[w / WORDS] * WORDS + w % WORDS));
}

/* Bytes before the output's first whole word, and after its last whole word, are stored one by
 * one. */
void copy_bytes(uvec2 from, uvec2 to, uint count)
{
    uint size = count * SIZE, local = gl_LocalInvocationID.x;
    uint skip = min(-to.x & 3u, size);
    uint words = (size - skip) / 4u, rest = (size - skip) & 3u;
    uvec2 aligned = address_add(to, skip, 0u);
    for (uint w = local; w < words; w += GROUP) {
        uint value = 0u;
        for (uint b = 0u; b < 4u; b++) {
            uint at = skip + 4u * w + b;
            value |= LOAD_U8(from, list[at / SIZE] * SIZE + at % SIZE) << (8u * b);
        }
        store_word(aligned, w, value);
    }
    if (local < skip + rest) {
        uint at = local < skip ? local : local + 4u * words;
        store_byte(address_add(to, at, 0u), 0u, LOAD_U8(from, list[at / SIZE] * SIZE + at % SIZE));
    }
}

/* first: index of the tile's first element in the stream. */
void store_positions(uvec2 first, uvec2 to, uint count)
{
    for (uint i = gl_LocalInvocationID.x; i < count; i += GROUP) {
        uvec2 position = add64(first, uvec2(list[i], 0u));
        if (SIZE == 4u)
            store_word(to, i, position.x);
        else
            store64(address_of(to, i, 8u), position);
    }
}

/* Moves the elements whose bits are set to output indices start, start + 1, ... */
void move_bits(uint tile, uint word, uvec2 start)
{
    uint local = gl_LocalInvocationID.x;
    uint kept = popcount32(word), rank = subgroupExclusiveAdd(kept);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u)
        totals[subgroup_index()] = rank + kept;
    barrier();
    uint total = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        if (s < subgroup_index())
            rank += totals[s];
        total += totals[s];
    }
    uvec2 room = uvec2(args.room_low, args.room_high);
    uvec2 first = add64(uvec2(args.first_low, args.first_high), uvec2(tile * TILE_ITEMS, 0u));
    uvec2 from = address_of(args.from, tile * TILE_ITEMS, SIZE);
    uint listed = fits(room, start, total);
    for (uint begin = 0u; begin < listed; begin += LISTED) {
        uint count = min(listed - begin, LISTED);
        while (word != 0u && rank < begin + count) {
            list[rank - begin] = 32u * local + lowest_bit32(word);
            word &= word - 1u;
            rank++;
        }
        barrier();
        uvec2 to = address_at(args.to, add64(start, uvec2(begin, 0u)), SIZE);
        if (KIND == MOVE_KIND_WORDS)
            copy_words(from, to, count);
        else if (KIND == MOVE_KIND_BYTES)
            copy_bytes(from, to, count);
        else
            store_positions(first, to, count);
        barrier();
    }
    /* If the capacity ends in this tile, stores the position of the first element that does not
     * fit: the element of the set bit with rank `listed`. */
    if (KIND == MOVE_KIND_INDEX && !is_none(args.next) && listed < total &&
        (listed > 0u || start == room)) {
        while (word != 0u && rank < listed) {
            word &= word - 1u;
            rank++;
        }
        if (word != 0u && rank == listed)
            store64(args.next, add64(first, uvec2(32u * local + lowest_bit32(word), 0u)));
    }
}

void main()
{
    uint tile = group_index();
    if (tile == 0u && gl_LocalInvocationID.x == 0u && !is_none(args.count))
        store_count(args.count, args.is_wide != 0u, load64(args.total));
    uint count = stream_length(args.length_at, args.bound);
    uint begin = tile * TILE_ITEMS;
    if (begin >= count)
        return;
    uint word = LOAD_U32(args.words, tile * TILE_WORDS + gl_LocalInvocationID.x);
    uvec2 start = add64(load64_or_zero(args.base), uvec2(LOAD_U32(args.places, tile), 0u));
    move_bits(tile, word, start);
    if (!IS_BOTH)
        return;
    barrier();
    /* Preceding tiles are full, so all their elements that were not kept were rejected. */
    uint here = min(count - begin, TILE_ITEMS), first = 32u * gl_LocalInvocationID.x;
    uint valid = first >= here         ? 0u
                 : here - first >= 32u ? 0xffffffffu
                                       : (1u << (here - first)) - 1u;
    uvec2 elements = add64(uvec2(args.first_low, args.first_high), uvec2(begin, 0u));
    move_bits(tile, ~word & valid, add64(load64(args.total), sub64(elements, start)));
}
