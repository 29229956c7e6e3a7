/* Samples of a volume of any type. Include it after gl_surface.glsl. */

/* Returns the bits of element i of an array. */
uvec2 raw_at(uint type, highp usampler2D array, uint i)
{
    uint size_log2 = type_size_log2(type);
    if (size_log2 == 0u)
        return uvec2(tml_load_byte(array, i) & 0xffu, 0u);
    if (size_log2 == 1u)
        return uvec2(tml_load_half(array, i) & 0xffffu, 0u);
    if (size_log2 == 2u)
        return uvec2(tml_load_word(array, i), 0u);
    return uvec2(tml_load_word(array, 2u * i), tml_load_word(array, 2u * i + 1u));
}
