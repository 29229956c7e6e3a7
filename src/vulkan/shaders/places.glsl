/* 64-bit positions and counts, and their addresses. */

/* address + size * i, size below 2^16. */
uvec2 address_at(uvec2 address, uvec2 i, uint size)
{
    uint high, low;
    umulExtended(i.x, size, high, low);
    return address_add(address, low, high + i.y * size);
}
/* a - b, or 0 if that is negative. */
uvec2 sub64(uvec2 a, uvec2 b)
{
    if (a.y < b.y || (a.y == b.y && a.x < b.x))
        return uvec2(0u);
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}
/* How many of n elements from start on fit the capacity room. */
uint fits(uvec2 room, uvec2 start, uint n)
{
    uvec2 rest = sub64(room, start);
    return rest.y != 0u ? n : min(rest.x, n);
}
uvec2 load64_or_zero(uvec2 address)
{
    return is_none(address) ? uvec2(0u) : load64(address);
}

/* Stores a count as u64 or, saturated, as u32. */
void store_count(uvec2 to, bool is_wide, uvec2 n)
{
    if (is_wide)
        store64(to, n);
    else
        store_word(to, 0u, n.y != 0u ? 0xffffffffu : n.x);
}
