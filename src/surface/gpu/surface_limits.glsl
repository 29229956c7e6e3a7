/* The limits of an isovalue in device memory, for the shaders of both GPU engines. surface_limits.c
 * does the same on the host. Include it after surface_keys.glsl and TYPE. OpenGL ES has no doubles,
 * and lacks findMSB, which double_bits requires. */
struct held_limits {
    uvec2 limit, range;
    uint keep;       /* 0: nothing is inside */
    uint index_bits; /* bits of the float that the brick index is compared with */
    uvec3 words;     /* surface_limits.iso_words */
};

#ifndef GL_ES
/* Returns the bits of the double that equals a float, given the float's bits. */
uvec2 double_bits(uint bits)
{
    uint sign = bits & 0x80000000u, exponent = bits >> 23 & 0xffu, fraction = bits & 0x7fffffu;
    if (exponent == 0u && fraction == 0u)
        return uvec2(0u, sign);
    exponent += 896u;
    if (exponent == 896u) { /* subnormal float: normalised by shifting its fraction */
        uint shift = 23u - uint(findMSB(fraction));
        fraction = fraction << shift & 0x7fffffu;
        exponent = 897u - shift;
    }
    return uvec2(fraction << 29, sign | exponent << 20 | fraction >> 3);
}
#endif

/* Returns the key of an integer given as a float. The integer must fit the type. */
uvec2 integer_key(float value)
{
    float magnitude = abs(value), upper = floor(magnitude * 2.3283064365386963e-10);
    uvec2 number = uvec2(uint(magnitude - upper * 4294967296.0), uint(upper));
    if (value < 0.0)
        number = sub64(uvec2(0u), number);
    uint size = type_size_log2(TYPE);
    number.x &= size == 0u ? 0xffu : size == 1u ? 0xffffu : 0xffffffffu;
    return key_of(TYPE, size == 3u ? number : uvec2(number.x, 0u));
}

/* bits: those of the isovalue, a float. */
held_limits hold_limits(uint bits)
{
    float iso = uintBitsToFloat(bits);
    bool is_zero = (bits & 0x7fffffffu) == 0u, is_none = raw_is_nan(TYPE_F32, uvec2(bits, 0u));
    /* -0 has the lower key, so both zeros are inside */
    uint index_bits = is_zero ? 0x80000000u : bits;
    uvec2 limit = uvec2(0u), largest = uvec2(0u);
    uvec3 words = uvec3(bits, 0u, 0u);
    if (TYPE == TYPE_F32) {
        limit = key_of(TYPE_F32, uvec2(index_bits, 0u));
        largest = uvec2(0xff800000u, 0u);
#ifndef GL_ES
    } else if (TYPE == TYPE_F64) {
        words.xy = double_bits(bits);
        uvec2 raw = is_zero ? uvec2(0u, 0x80000000u) : words.xy;
        if ((bits & 0x7fffffffu) == 0x7f800000u)
            raw = words.xy = uvec2(0u, (bits & 0x80000000u) | 0x7ff00000u);
        limit = key_of(TYPE_F64, raw);
        largest = uvec2(0u, 0xfff00000u);
#endif
    } else if (TYPE == TYPE_F16) {
        /* Binary search for the smallest half >= the isovalue, in the order of the keys. */
        uint low = 0x03ffu, high = 0xfc00u, key = key_of(TYPE_F32, uvec2(index_bits, 0u)).x;
        for (uint i = 0u; i < 16u && low < high; i++) {
            uint middle = (low + high) / 2u;
            uint half_bits = (middle & 0x8000u) != 0u ? middle & 0x7fffu : middle ^ 0xffffu;
            uint value = floatBitsToUint(unpackHalf2x16(half_bits).x);
            if (key_of(TYPE_F32, uvec2(value, 0u)).x >= key)
                high = middle;
            else
                low = middle + 1u;
        }
        limit = uvec2(low, 0u);
        largest = uvec2(0xfc00u, 0u);
    } else {
        bool is_signed = TYPE_IS_SIGNED(TYPE);
        uint exponent = (8u << type_size_log2(TYPE)) - (is_signed ? 1u : 0u);
        float end = uintBitsToFloat((127u + exponent) << 23), least = is_signed ? -end : 0.0;
        uint size = type_size_log2(TYPE);
        largest = uvec2(size == 0u ? 0xffu : size == 1u ? 0xffffu : 0xffffffffu,
                        size == 3u ? 0xffffffffu : 0u);
        float up = ceil(iso), down = floor(iso);
        is_none = is_none || up >= end;
        limit = up <= least ? uvec2(0u) : is_none ? largest : integer_key(up);
        if (size >= 2u) {
            words.xy = down < least ? uvec2(0u) : is_none ? largest : integer_key(down);
            words.z = floatBitsToUint(iso - down);
        }
    }
    held_limits held;
    held.limit = limit;
    uvec2 range = sub64(largest, limit);
    held.range = type_size_log2(TYPE) == 3u ? range : uvec2(range.x, 0u);
    held.keep = is_none ? 0u : 0xffffffffu;
    held.index_bits = index_bits;
    held.words = words;
    return held;
}
