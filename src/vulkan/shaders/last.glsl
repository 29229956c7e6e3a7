/* Finds the workgroup that arrives last at a counter. That workgroup continues with the results of
 * all workgroups; no workgroup waits. */
shared bool is_last_here;

/* Does this workgroup, which adds `stored` results, complete count? counter: a word that is
 * initially 0. Values stored by the first invocations of the workgroups before the call are visible
 * to coherent loads of the last workgroup. */
bool is_last_of(uvec2 counter, uint count, uint stored)
{
    if (gl_LocalInvocationID.x == 0u) {
        memoryBarrierBuffer();
        uint before = atomicAdd(word_at(counter).bits, stored);
        is_last_here = before + stored == count;
    }
    barrier();
    memoryBarrierBuffer();
    return is_last_here;
}
