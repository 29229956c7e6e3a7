/* Shared by emitting vertices and triangles: active words, one per lane. Include it after
 * surface_rows.glsl and ARGS_USE. */
#include "surface_scratch.glsl"

uint lane = gl_SubgroupInvocationID;

#ifdef SURFACE_OPEN
const uint LISTED_BITS = SURFACE_OPEN_LISTED_BITS;
#else
const uint LISTED_BITS = SURFACE_LISTED_BITS;
#endif

void stage_barrier()
{
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

/* The lane's entry of the list of active words. */
struct listed_word {
    bool exists;
    uint row, w;
    row_place place;
    uint triangles_before, triangles; /* of its row, before the word; of the word */
};

/* Loads the lane's entry. Returns false if the subgroup has none. */
bool has_words(out listed_word word)
{
    uint number = (group_index() * (GROUP / SUBGROUP) + subgroup_index()) * SUBGROUP;
    uint count = LOAD_U32(args.head, SURFACE_HEAD_ACTIVE);
    bool has_some = number < count;
    number += lane;
    uvec2 entry =
        load64(address_of(part_of_scratch(args.list_at), min(number, max(count, 1u) - 1u), 8u));
    word.exists = number < count && entry.x != SURFACE_NO_WORD;
    uint first = subgroupShuffle(entry.x, 0u); /* lanes without a word use this one's */
    entry.x = word.exists ? entry.x : first;
    word.row = entry.x / words;
    word.w = entry.x - word.row * words;
    word.place = place_of_row(word.row, size.y);
    word.triangles_before = entry.y & low_bits(LISTED_BITS);
    word.triangles = word.exists ? entry.y >> LISTED_BITS : 0u;
    return has_some;
}

/* Returns the capacity left for a chunk; at most 2^32 - 1. */
uint room_of(uint at, uvec2 before)
{
    uvec2 room = load64(address_of_word(args.head, at));
    uvec2 left = less64(before, room) ? sub64(room, before) : uvec2(0u);
    return left.y != 0u ? 0xffffffffu : left.x;
}

uvec2 shuffle64(uvec2 value, uint from)
{
    return uvec2(subgroupShuffle(value.x, from), subgroupShuffle(value.y, from));
}
