/* Decoupled look-back: states of a word that tiles publish, each its aggregate first and then its inclusive
 * prefix, and that later tiles read. The file that includes it defines
 *
 *   LOOKS         polls without a result before a tile counts as stuck
 *   KEEPS_MOVING  the device has forward progress: a stuck tile is an error. Else whoever finds one
 *                 publishes its aggregate for it
 *
 * States are published by atomicExchange but polled by loads (compact.glsl says why).
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */

/* A state is 0 until its tile has published. A prefix is at most 2^31 - 1. */
const uint AGGREGATE = 0x40000000u; /* | a sum of at most 2^30 - 1 */
const uint INCLUSIVE = 0x80000000u; /* | the prefix */

uint state_sum(uint state)
{
    return state & (state >= INCLUSIVE ? INCLUSIVE - 1u : AGGREGATE - 1u);
}
void publish(uvec2 states, uint i, uint flag, uint sum)
{
    atomicExchange(words_at(states).v[i], flag | sum);
}
/* Publishes the aggregate of another workgroup's tile, unless that has published by itself. */
void publish_for(uvec2 states, uint i, uint sum)
{
    atomicMax(words_at(states).v[i], AGGREGATE | sum);
}

/* Look-back by one invocation over a column: adds to sum the states of the tiles before end, the nearest
 * first, of which tile i's is word i * stride + column. Returns 0 if sum is complete; else tile end - 1 is
 * stuck, and the result is end. */
const uint LOOK_WIDTH = 4u; /* tiles polled at a time */
uint look_back_column(uvec2 states, uint stride, uint column, inout uint end, inout uint sum)
{
    uint misses = 0u;
    while (misses <= LOOKS) {
        uint found[LOOK_WIDTH];
        [[unroll]] for (uint w = 0u; w < LOOK_WIDTH; w++) {
            uint before = w < end ? end - 1u - w : 0u; /* before the first tile the prefix is 0 */
            found[w] = ATOMIC_LOAD(words_at(states).v[before * stride + column]);
            found[w] = w < end ? found[w] : INCLUSIVE;
        }
        uint known = 0u; /* tiles that have published, nearest first */
        bool is_complete = false;
        [[unroll]] for (uint w = 0u; w < LOOK_WIDTH; w++) {
            bool is_next = !is_complete && known == w && found[w] != 0u;
            sum += is_next ? state_sum(found[w]) : 0u;
            is_complete = is_complete || (is_next && found[w] >= INCLUSIVE);
            known += is_next ? 1u : 0u;
        }
        if (is_complete)
            return 0u;
        end -= known;
        misses = known == 0u ? misses + 1u : 0u;
    }
    return end;
}

/* Look-back by one subgroup, a lane a tile: the same over states that are consecutive words, for all lanes. */
uint look_back_row(uvec2 states, inout uint end, inout uint sum)
{
    uint lane = gl_SubgroupInvocationID, misses = 0u;
    while (misses <= LOOKS) {
        uint before = lane < end ? end - 1u - lane : 0u; /* all load, to stay converged */
        uint state = ATOMIC_LOAD(words_at(states).v[before]);
        state = lane < end ? state : INCLUSIVE;
        uvec4 complete = subgroupBallot(state >= INCLUSIVE), missing = subgroupBallot(state == 0u);
        uint first_complete = complete == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(complete);
        uint first_missing = missing == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(missing);
        uint known = min(first_complete + 1u, first_missing);
        sum += subgroupAdd(lane < known ? state_sum(state) : 0u);
        if (first_complete < first_missing)
            return 0u;
        end -= known;
        misses = known == 0u ? misses + 1u : 0u;
    }
    return end;
}
