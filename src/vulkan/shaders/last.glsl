/* Finds the last workgroup to arrive at a counter, which continues with the results of all. No
 * workgroup waits. */
shared bool is_last_here;

/* Is this workgroup, which adds "stored" results, the one that completes count? counter: a word, 0
 * at first. What the workgroups' first invocations stored before is visible to the last workgroup's
 * coherent loads. */
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
