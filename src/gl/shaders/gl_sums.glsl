/* A saturating sum. Included after gl_common.glsl. */
uint add_clamped(uint a, uint b)
{
    return a + min(b, ~a);
}
