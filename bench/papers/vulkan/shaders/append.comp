/* Appends the flagged elements at the counter, in the order in which subgroups reach it. */
#include "kernel.glsl"
#include "append_args.k.h"
#include "common.glsl"

ARGS_USE(append_args)

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x, first = 0u;
    bool keeps = i < args.count && LOAD_U32(args.flags, min(i, args.count - 1u)) != 0u;
    uvec4 kept = subgroupBallot(keeps);
    if (subgroupElect())
        first = atomicAdd(word_at(args.counter).bits, subgroupBallotBitCount(kept));
    uint at = subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(kept);
    if (keeps && at < args.room)
        store_word(args.to, at, LOAD_U32(args.from, i));
}
