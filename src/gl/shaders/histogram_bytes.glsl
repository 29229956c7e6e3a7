/* 16 counters of a byte each, for at most 255 elements. */

/* bin: index from the group's first bin; above 15 it is in another group. */
void count_bin(uint bin, inout uvec4 bytes)
{
    uint added = 1u << ((bin & 3u) << 3), word = bin >> 2;
    bytes.x += word == 0u ? added : 0u;
    bytes.y += word == 1u ? added : 0u;
    bytes.z += word == 2u ? added : 0u;
    bytes.w += word == 3u ? added : 0u;
}

uvec4 counts_of(uint bytes)
{
    return (uvec4(bytes) >> uvec4(0u, 8u, 16u, 24u)) & 0xffu;
}
