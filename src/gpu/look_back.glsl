/* Decoupled look-back: each tile publishes a state, first its aggregate and then its inclusive
 * prefix, and later tiles read the states. A tile is stuck after LOOKS polls without a result. A
 * workgroup that finds a stuck tile either gives up, or publishes that tile's aggregate in its
 * place; the policy is in gpu/look_back.h. The including file defines
 *   LOOK_WIDE   a sum has 60 bits, as uvec2 (low, high), and a state has two words of 30 bits
 *   LOOK_SUMS   sums are those of group.glsl, u32 or u64; a state has two or three words of 30 bits
 *   neither     a sum has 30 bits (an inclusive prefix 31), and a state has one word
 * States are published by atomicExchange but polled by loads (compact.glsl says why).
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */
#include "gpu/look_back.h"

/* A word of a state is 0 until its tile has published; then it is a flag | the bits of a sum. */
const uint AGGREGATE = 0x40000000u;
const uint INCLUSIVE = 0x80000000u;

#if defined(LOOK_WIDE) || defined(LOOK_SUMS)
const uint STATE_BITS = AGGREGATE - 1u;
#ifdef LOOK_WIDE
#define look_sum uvec2
const look_sum NO_SUM = uvec2(0u);
look_sum add_sums(look_sum a, look_sum b)
{
    return add64(a, b);
}
look_sum subgroup_total(look_sum sum)
{
    return subgroup_sum64(sum);
}
#else
#define look_sum sum_t
const look_sum NO_SUM = ZERO;
look_sum add_sums(look_sum a, look_sum b)
{
    return add(a, b);
}
look_sum subgroup_total(look_sum sum)
{
    return add_lanes(sum);
}
#endif
#if defined(LOOK_SUMS) && defined(SUM_U32)
const uint STATE_WORDS = 2u;
uvec3 words_of(look_sum sum)
{
    return uvec3(sum & STATE_BITS, sum >> 30, 0u);
}
look_sum sum_of_words(uvec3 words)
{
    return (words.x & STATE_BITS) | words.y << 30;
}
#else
#ifdef LOOK_WIDE
const uint STATE_WORDS = 2u;
#else
const uint STATE_WORDS = 3u;
#endif
uvec3 words_of(look_sum sum)
{
    return uvec3(sum.x, sum.y << 2 | sum.x >> 30, STATE_WORDS > 2u ? sum.y >> 28 : 0u) & STATE_BITS;
}
look_sum sum_of_words(uvec3 words)
{
    return uvec2((words.x & STATE_BITS) | words.y << 30,
                 (words.y & STATE_BITS) >> 2 | words.z << 28);
}
#endif
void publish(uvec2 states, uint i, uint flag, look_sum sum)
{
    uvec3 words = words_of(sum) | flag;
    [[unroll]] for (uint w = 0u; w < STATE_WORDS; w++)
        atomicExchange(words_at(states).v[STATE_WORDS * i + w], words[w]);
}
/* Publishes the aggregate or the inclusive prefix of another workgroup's tile, unless that
 * workgroup has done so already. All workgroups publish the same sum for a flag. */
void publish_for(uvec2 states, uint i, uint flag, look_sum sum)
{
    uvec3 words = words_of(sum) | flag;
    [[unroll]] for (uint w = 0u; w < STATE_WORDS; w++)
        atomicMax(words_at(states).v[STATE_WORDS * i + w], words[w]);
}
/* The flag and the sum of a state. Words with the same flag belong together, since a tile has only
 * one sum for each flag. */
uint look(uvec2 states, uint i, out look_sum sum)
{
    uvec3 words = uvec3(0u);
    [[unroll]] for (uint w = 0u; w < STATE_WORDS; w++)
        words[w] = ATOMIC_LOAD(words_at(states).v[STATE_WORDS * i + w]);
    uint flag = words.x & (AGGREGATE | INCLUSIVE);
    [[unroll]] for (uint w = 1u; w < STATE_WORDS; w++)
        flag = flag == (words[w] & (AGGREGATE | INCLUSIVE)) ? flag : 0u;
    sum = sum_of_words(words);
    return flag;
}
#else
#define look_sum uint
const look_sum NO_SUM = 0u;
look_sum add_sums(look_sum a, look_sum b)
{
    return a + b;
}
look_sum subgroup_total(look_sum sum)
{
    return subgroupAdd(sum);
}
void publish(uvec2 states, uint i, uint flag, look_sum sum)
{
    atomicExchange(words_at(states).v[i], flag | sum);
}
void publish_for(uvec2 states, uint i, uint flag, look_sum sum)
{
    atomicMax(words_at(states).v[i], flag | sum);
}
/* The flag and the sum of a state. */
uint look(uvec2 states, uint i, out look_sum sum)
{
    uint state = ATOMIC_LOAD(words_at(states).v[i]);
    uint flag = state >= INCLUSIVE ? INCLUSIVE : state & AGGREGATE;
    sum = state & ~flag;
    return flag;
}

/* Look-back by one invocation over a column: adds to sum the states of the tiles before end, the
 * nearest first. Tile i's state is word i * stride + column. Returns 0 if sum is complete.
 * Otherwise returns end, lowered so that tile end - 1 is the stuck one. */
const uint LOOK_WIDTH = 4u; /* tiles polled at a time */
uint look_back_column(uvec2 states, uint stride, uint column, inout uint end, inout uint sum)
{
    uint misses = 0u;
    while (misses < LOOKS) {
        uint flags[LOOK_WIDTH], sums[LOOK_WIDTH];
        [[unroll]] for (uint w = 0u; w < LOOK_WIDTH; w++) {
            flags[w] = look(states, (w < end ? end - 1u - w : 0u) * stride + column, sums[w]);
            flags[w] = w < end ? flags[w] : INCLUSIVE; /* before the first tile the prefix is 0 */
            sums[w] = w < end ? sums[w] : 0u;
        }
        uint known = 0u; /* tiles that have published, nearest first */
        bool is_complete = false;
        [[unroll]] for (uint w = 0u; w < LOOK_WIDTH; w++) {
            bool is_next = !is_complete && known == w && flags[w] != 0u;
            sum += is_next ? sums[w] : 0u;
            is_complete = is_complete || (is_next && flags[w] == INCLUSIVE);
            known += is_next ? 1u : 0u;
        }
        if (is_complete)
            return 0u;
        end -= known;
        misses = known == 0u ? misses + 1u : 0u;
    }
    return end;
}
#endif

/* For tests: before a tile with an even number publishes, loads a word that is 0 so often. Returns
 * 0. */
uint delay(uint tile, uint loads, uvec2 zero)
{
    uint sum = 0u;
    for (uint i = 0u; i < loads && (tile & 1u) == 0u; i++)
        sum += ATOMIC_LOAD(word_at(zero).bits);
    return sum;
}

/* Does a tile, other than the first, publish its inclusive prefix? In tests with late tiles only
 * some do, so that aggregates are added in whatever order tiles run. */
bool publishes_prefix(uint tile, uint loads)
{
    return tile != 0u && (loads == 0u || (tile & 3u) == 3u);
}

/* Look-back by one subgroup, one lane per tile: adds to sum the states of the tiles before end, the
 * nearest first. Returns 0 if sum is complete. Otherwise returns end, lowered so that tile end - 1
 * is the stuck one. */
uint look_back_row(uvec2 states, inout uint end, inout look_sum sum)
{
    uint lane = gl_SubgroupInvocationID, misses = 0u;
    while (misses < LOOKS) {
        look_sum part; /* all load, to stay converged */
        uint flag = look(states, lane < end ? end - 1u - lane : 0u, part);
        flag = lane < end ? flag : INCLUSIVE; /* before the first tile the prefix is 0 */
        uvec4 complete = subgroupBallot(flag == INCLUSIVE), missing = subgroupBallot(flag == 0u);
        uint first_complete = complete == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(complete);
        uint first_missing = missing == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(missing);
        uint known = min(first_complete + 1u, first_missing);
        sum = add_sums(sum, subgroup_total(lane < min(known, end) ? part : NO_SUM));
        if (first_complete < first_missing)
            return 0u;
        end -= known;
        misses = known == 0u ? misses + 1u : 0u;
    }
    return end;
}
