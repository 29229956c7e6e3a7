/* Samples as floats, and the crossing point t between two samples, for the shaders of both GPU
 * engines. Include it after TYPE, has(option), surface_keys.glsl and surface.k.h. SURFACE_DOUBLE:
 * supports double. */
#ifdef SURFACE_DOUBLE
float f64_to_float(uvec2 raw)
{
    return float(packDouble2x32(raw));
}
#endif

float u64_to_float(uvec2 value)
{
    return float(value.y) * 4294967296.0 + float(value.x);
}

/* Returns a sample as a float. */
float number_of(uint type, uvec2 raw)
{
    switch (type) {
    case TYPE_U8:
    case TYPE_U16:
    case TYPE_U32:
        return float(raw.x);
    case TYPE_I8:
        return float(int(raw.x << 24) >> 24);
    case TYPE_I16:
        return float(int(raw.x << 16) >> 16);
    case TYPE_I32:
        return float(int(raw.x));
    case TYPE_U64:
        return u64_to_float(raw);
    case TYPE_I64:
        return int(raw.y) < 0 ? -u64_to_float(sub64(uvec2(0u), raw)) : u64_to_float(raw);
    case TYPE_F16:
        return unpackHalf2x16(raw.x).x;
#ifdef SURFACE_DOUBLE
    case TYPE_F64:
        return f64_to_float(raw);
#endif
    default:
        return uintBitsToFloat(raw.x);
    }
}

/* Returns x * 2^100. Devices may flush subnormals to zero, such as differences of tiny samples and
 * reciprocals of huge differences. So crossing_of_floats first scales tiny and huge samples. */
float scaled_up(float x)
{
    uint bits = floatBitsToUint(x);
    if ((bits & 0x7f800000u) != 0u)
        return x * 1.2676506e30;
    float magnitude = float(bits & 0x7fffffu) * 1.7763568394002505e-15; /* 2^(100 - 149) */
    return (bits >> 31) != 0u ? -magnitude : magnitude;
}
float crossing_of_floats(float a, float b, float iso)
{
    uint largest = max(floatBitsToUint(a) & 0x7fffffffu, floatBitsToUint(b) & 0x7fffffffu);
    if (largest < 0x20000000u) /* below 2^-63; so is iso, which is between a and b */
        return surface_crossing(scaled_up(a), scaled_up(b), scaled_up(iso));
    const float DOWN = 2.3283064365386963e-10; /* 2^-32 */
    if (largest >= 0x7e000000u && abs(b - a) <= 3.4028234e38) /* from 2^125 on, without overflow */
        return surface_crossing(a * DOWN, b * DOWN, iso * DOWN);
    return surface_crossing(a, b, iso);
}

/* Returns t of 32- and 64-bit integers by exact differences of keys. Isovalue: floor_key + rest. */
float crossing_of_keys(uvec2 a, uvec2 b, uvec2 floor_key, float rest)
{
    bool is_up = less64(a, b);
    float whole = u64_to_float(is_up ? sub64(b, a) : sub64(a, b));
    bool is_above = !less64(floor_key, a);
    float part = u64_to_float(is_above ? sub64(floor_key, a) : sub64(a, floor_key));
    part = (is_above ? part : -part) + rest;
    float t = is_up ? part / whole : -part / whole;
    return clamp(t, SURFACE_CLEARANCE, 1.0 - SURFACE_CLEARANCE);
}

float crossing_of(uvec2 a, uvec2 b, uvec3 iso)
{
    if (has(SURFACE_LABEL))
        return 0.5;
    if (a == b) /* the edge ends in the pad of a cap */
        return 0.5;
#ifdef SURFACE_DOUBLE
    if (TYPE == TYPE_F64) {
        double from = packDouble2x32(a), to = packDouble2x32(b), at = packDouble2x32(iso.xy);
        double whole = to - from;
        uvec2 bits = unpackDouble2x32(whole);
        if ((bits.y & 0x7ff00000u) == 0x7ff00000u)
            return 0.5;
        return clamp(float((at - from) / whole), SURFACE_CLEARANCE, 1.0 - SURFACE_CLEARANCE);
    }
#endif
    if (!TYPE_IS_FLOAT(TYPE) && type_size_log2(TYPE) >= 2u)
        return crossing_of_keys(key_of(TYPE, a), key_of(TYPE, b), iso.xy, uintBitsToFloat(iso.z));
    return crossing_of_floats(number_of(TYPE, a), number_of(TYPE, b), uintBitsToFloat(iso.x));
}

/* Returns a sample's float keys for the brick index: rounded down, rounded up. */
uvec2 brick_keys(uint type, uvec2 raw)
{
    if (type == TYPE_F64 || raw_is_nan(type, raw)) {
        /* Keys of the infinities, also for all doubles: every isovalue reads the brick. */
        return uvec2(0x007fffffu, 0xff800000u);
    }
    uint bits = type == TYPE_F32 ? raw.x : floatBitsToUint(number_of(type, raw));
    uint key = key_of(TYPE_F32, uvec2(bits, 0u)).x;
    /* At most two roundings, in u64_to_float. */
    uint rounding = !TYPE_IS_FLOAT(type) && type_size_log2(type) >= 2u ? 2u : 0u;
    return uvec2(key - rounding, key + rounding);
}
