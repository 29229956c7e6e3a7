/* A sum that stays at the largest number where it would pass it. Stands after gl_common.glsl. */
uint add_clamped(uint a, uint b)
{
    return a + min(b, ~a);
}
