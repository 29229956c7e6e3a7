/* Which workgroup is the last to come to a place? Nobody waits: the one that is goes on with what all
 * have left there. */
shared bool is_last_here;

/* Was this workgroup, which comes with so many results stored, the last of those with count? counter: a
 * word that begins as zero. What first invocations stored before, the last group's loads see, if
 * they are coherent. */
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
