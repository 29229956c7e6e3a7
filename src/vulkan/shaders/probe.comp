/* Tests, once per device, properties that the engine requires and for which Vulkan has no query
 * (vulkan_probe.c). */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "gpu/look_back.h"

ARGS_USE(probe_args)

void report(uint what)
{
    store_word(args.report, what, 1u);
}

/* Are subgroups full, and are their invocations consecutive and in order? gl_SubgroupSize may be
 * the device's maximum, so a ballot counts the invocations. */
bool are_subgroups_right()
{
    uint local = gl_LocalInvocationID.x;
    uint lanes = subgroupBallotBitCount(subgroupBallot(true));
    uint next = subgroupShuffle(local, (gl_SubgroupInvocationID + 1u) % SUBGROUP);
    return gl_SubgroupSize == SUBGROUP && lanes == SUBGROUP &&
           gl_NumSubgroups == GROUP / SUBGROUP && gl_SubgroupInvocationID == local % SUBGROUP &&
           gl_SubgroupID == subgroup_index() &&
           next == local - local % SUBGROUP + (local + 1u) % SUBGROUP;
}

/* Are subgroups converged after a loop with divergent trip counts that half of the subgroups
 * enter? */
bool are_together()
{
    uint turns = 0u;
    if ((subgroup_index() & 1u) != 0u)
        for (uint i = 0u; i < gl_SubgroupInvocationID; i++)
            turns += LOAD_U32(args.control, PROBE_ONE);
    reconverge();
    uint lanes = subgroupBallotBitCount(subgroupBallot(true));
    uint sum = (subgroup_index() & 1u) != 0u ? SUBGROUP * (SUBGROUP - 1u) / 2u : 0u;
    return lanes == SUBGROUP && subgroupAdd(turns) == sum;
}

/* Tests forward progress, unless LOOKS is 0. The second workgroup stores a word and waits for an
 * answer. The first workgroup stores the answer when it has seen the word. So each must run while
 * the other waits. */
bool sees_other()
{
    words_at control = words_at(args.control);
    bool is_first = group_index() == 0u, is_seen = false;
    if (!is_first)
        atomicExchange(control.v[PROBE_SECOND], 1u);
    for (uint look = 0u; look < LOOKS && !is_seen; look++)
        is_seen = ATOMIC_LOAD(control.v[is_first ? PROBE_SECOND : PROBE_FIRST]) != 0u;
    if (is_first)
        atomicExchange(control.v[PROBE_FIRST], 1u);
    return is_seen;
}

void main()
{
    uint local = gl_LocalInvocationID.x;
    if (args.step == 0u) {
        if (local < PROBE_CONTROL)
            store_word(args.control, local, local == PROBE_ONE ? 1u : 0u);
        return;
    }
    if (!are_subgroups_right())
        report(PROBE_SUBGROUPS);
    reconverge();
    if (!are_together())
        report(PROBE_APART);
    if (LOOKS != 0u && local == 0u && !sees_other())
        report(PROBE_NOT_SEEN);
    report(PROBE_RAN);
}
