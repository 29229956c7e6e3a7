/* Decoupled look-back: states that tiles publish, each its aggregate first and then its inclusive prefix,
 * and that later tiles read. The file that includes it defines
 *
 *   LOOKS       polls without a result before a tile counts as stuck. Then, if the device has forward progress,
 *               whoever finds one may give up; else it publishes the aggregate in that tile's stead
 *   LOOK_WIDE   if a sum has 60 bits, as uvec2 (low, high), and a state two words of 30 bits; else a sum has
 *               30 bits (an inclusive prefix 31) and a state one word
 *
 * States are published by atomicExchange but polled by loads (compact.glsl says why).
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */

/* A word of a state is 0 until its tile has published, and then a flag | a sum's bits. */
const uint AGGREGATE = 0x40000000u;
const uint INCLUSIVE = 0x80000000u;

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
uvec2 state_of(uint flag, look_sum sum)
{
    return uvec2(sum.x & (AGGREGATE - 1u), (sum.y << 2 | sum.x >> 30) & (AGGREGATE - 1u)) | flag;
}
void publish(uvec2 states, uint i, uint flag, look_sum sum)
{
    uvec2 state = state_of(flag, sum);
    atomicExchange(words_at(states).v[2u * i], state.x);
    atomicExchange(words_at(states).v[2u * i + 1u], state.y);
}
void publish_for(uvec2 states, uint i, look_sum sum)
{
    uvec2 state = state_of(AGGREGATE, sum);
    atomicMax(words_at(states).v[2u * i], state.x);
    atomicMax(words_at(states).v[2u * i + 1u], state.y);
}
/* Words with the same flag belong together: a tile publishes one sum for each. */
uint look(uvec2 states, uint i, out look_sum sum)
{
    uint low = ATOMIC_LOAD(words_at(states).v[2u * i]);
    uint high = ATOMIC_LOAD(words_at(states).v[2u * i + 1u]);
    uint flag = low & (AGGREGATE | INCLUSIVE);
    sum = uvec2((low & (AGGREGATE - 1u)) | high << 30, high >> 2 & (AGGREGATE / 4u - 1u));
    return flag == (high & (AGGREGATE | INCLUSIVE)) ? flag : 0u;
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
/* Publishes the aggregate of another workgroup's tile, unless that has published by itself. */
void publish_for(uvec2 states, uint i, look_sum sum)
{
    atomicMax(words_at(states).v[i], AGGREGATE | sum);
}
/* The flag and the sum of a state. */
uint look(uvec2 states, uint i, out look_sum sum)
{
    uint state = ATOMIC_LOAD(words_at(states).v[i]);
    uint flag = state >= INCLUSIVE ? INCLUSIVE : state & AGGREGATE;
    sum = state & ~flag;
    return flag;
}

/* Look-back by one invocation over a column: adds to sum the states of the tiles before end, the nearest
 * first, of which tile i's is word i * stride + column. Returns 0 if sum is complete; else tile end - 1 is
 * stuck, and the result is end. */
const uint LOOK_WIDTH = 4u; /* tiles polled at a time */
uint look_back_column(uvec2 states, uint stride, uint column, inout uint end, inout uint sum)
{
    uint misses = 0u;
    while (misses <= LOOKS) {
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

/* Look-back by one subgroup, a lane a tile: adds to sum the states of the tiles before end, nearest first.
 * Returns 0 if sum is complete; else tile end - 1 is stuck, and the result is end. */
uint look_back_row(uvec2 states, inout uint end, inout look_sum sum)
{
    uint lane = gl_SubgroupInvocationID, misses = 0u;
    while (misses <= LOOKS) {
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
