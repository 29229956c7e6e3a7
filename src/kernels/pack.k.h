/* Packs a float into the four bytes of its bits, and unpacks it, by nothing but comparison, floor
 * and multiplication with powers of two. It uses no integers, no bit operators, and neither log2
 * nor exp2, which devices compute inexactly. For C and GLSL from ES 1.00 on, where four bytes of a
 * texture hold a float.
 *
 * A byte is a float from 0 to 255. The order is little-endian: .x is the lowest byte, as in the
 * memory of x86, ARM and WebAssembly.
 *
 * Exact for every finite float, signed zero and infinity; every NaN becomes the one with bits
 * 0x7fc00000. Each operation is exact in floats with 24 bits of mantissa, in any rounding mode,
 * with two exceptions:
 *   subnormals  are exact unless the device flushes them, to a zero of the same sign
 *   -0          is recognised by 1 / x; it becomes 0 if the device's 1 / x is no signed infinity
 *
 * Powers of two are products of short exact decimals, since compilers may misread longer ones. */
#define PACK_UP_16   65536.0f
#define PACK_UP_32   (PACK_UP_16 * PACK_UP_16)
#define PACK_UP_64   (PACK_UP_32 * PACK_UP_32)
#define PACK_DOWN_16 0.0000152587890625f
#define PACK_DOWN_32 (PACK_DOWN_16 * PACK_DOWN_16)
#define PACK_DOWN_64 (PACK_DOWN_32 * PACK_DOWN_32)
#define PACK_LARGEST (PACK_UP_64 * (PACK_UP_64 - PACK_UP_32 * 256.0f))

/* A whole number below 2^32 as four bytes. */
FUNCTION(vec4) pack_number(float x)
{
    float w = floor(x * (PACK_DOWN_16 * 0.00390625f));
    float rest = x - w * (256.0f * PACK_UP_16);
    float z = floor(rest * PACK_DOWN_16);
    rest -= z * PACK_UP_16;
    float y = floor(rest * 0.00390625f);
    return VEC4(rest - y * 256.0f, y, z, w);
}
/* The inverse of pack_number; exact below 2^24. */
FUNCTION(float) unpack_number(vec4 bytes)
{
    return bytes.x + 256.0f * bytes.y + PACK_UP_16 * bytes.z + 256.0f * PACK_UP_16 * bytes.w;
}

/* A step of normalisation: scales a by factor = 2^-k and adds k to the exponent e. */
#define PACK_RUNG(condition, factor, k)                                                            \
    if (condition) {                                                                               \
        a *= (factor);                                                                             \
        e += (k);                                                                                  \
    }

FUNCTION(vec4) pack_float(float x)
{
    float sign_bit = x < 0.0f ? 128.0f : 0.0f;
    if (x == 0.0f)
        return VEC4(0.0f, 0.0f, 0.0f, 1.0f / x < 0.0f ? 128.0f : 0.0f);
    float a = x < 0.0f ? -x : x;
    if (a > PACK_LARGEST)
        return VEC4(0.0f, 0.0f, 128.0f, 127.0f + sign_bit);
    float e = 127.0f;
    PACK_RUNG(a >= PACK_UP_64, PACK_DOWN_64, 64.0f)
    PACK_RUNG(a >= PACK_UP_32, PACK_DOWN_32, 32.0f)
    PACK_RUNG(a >= PACK_UP_16, PACK_DOWN_16, 16.0f)
    PACK_RUNG(a >= 256.0f, 0.00390625f, 8.0f)
    PACK_RUNG(a >= 16.0f, 0.0625f, 4.0f)
    PACK_RUNG(a >= 4.0f, 0.25f, 2.0f)
    PACK_RUNG(a >= 2.0f, 0.5f, 1.0f)
    PACK_RUNG(a < 2.0f * PACK_DOWN_64, PACK_UP_64, -64.0f)
    PACK_RUNG(a < 2.0f * PACK_DOWN_32, PACK_UP_32, -32.0f)
    PACK_RUNG(a < 2.0f * PACK_DOWN_16, PACK_UP_16, -16.0f)
    PACK_RUNG(a < 0.0078125f, 256.0f, -8.0f)
    PACK_RUNG(a < 0.125f, 16.0f, -4.0f)
    PACK_RUNG(a < 0.5f, 4.0f, -2.0f)
    PACK_RUNG(a < 1.0f, 2.0f, -1.0f)
    /* Now 1 <= a < 2, or e = 0 and a < 2 is a scaled subnormal. A NaN fails all the comparisons
     * above, and the next one. (No comparison is negated: some compilers turn !(x <= y) into x >
     * y.) */
    if (a < 2.0f) {
        float bits = e == 0.0f ? a * (64.0f * PACK_UP_16) : (a - 1.0f) * (128.0f * PACK_UP_16);
        vec4 mantissa = pack_number(bits);
        float half_e = floor(e * 0.5f);
        return VEC4(mantissa.x, mantissa.y, mantissa.z + 128.0f * (e - 2.0f * half_e),
                    half_e + sign_bit);
    }
    return VEC4(0.0f, 0.0f, 192.0f, 127.0f);
}

FUNCTION(float) unpack_float(vec4 bytes)
{
    bool negative = bytes.w >= 128.0f;
    bool odd = bytes.z >= 128.0f;
    float field = (negative ? bytes.w - 128.0f : bytes.w) * 2.0f + (odd ? 1.0f : 0.0f);
    float a = unpack_number(VEC4(bytes.x, bytes.y, odd ? bytes.z - 128.0f : bytes.z, 0.0f));
    if (field == 255.0f) {
        float infinite = PACK_LARGEST;
        infinite *= 2.0f;
        if (a > 0.0f)
            infinite -= infinite;
        return negative ? -infinite : infinite;
    }
    float e = field == 0.0f ? -149.0f : field - 150.0f; /* exponent of the last bit */
    a += field == 0.0f ? 0.0f : 128.0f * PACK_UP_16;
    /* Every product is exact: a keeps its bits, and a subnormal result has no bits below its last
     * place. */
    PACK_RUNG(e <= -64.0f, PACK_DOWN_64, 64.0f)
    PACK_RUNG(e <= -64.0f, PACK_DOWN_32, 32.0f)
    PACK_RUNG(e <= -32.0f, PACK_DOWN_32, 32.0f)
    PACK_RUNG(e <= -16.0f, PACK_DOWN_16, 16.0f)
    PACK_RUNG(e <= -8.0f, 0.00390625f, 8.0f)
    PACK_RUNG(e <= -4.0f, 0.0625f, 4.0f)
    PACK_RUNG(e <= -2.0f, 0.25f, 2.0f)
    PACK_RUNG(e <= -1.0f, 0.5f, 1.0f)
    PACK_RUNG(e >= 64.0f, PACK_UP_64, -64.0f)
    PACK_RUNG(e >= 32.0f, PACK_UP_32, -32.0f)
    PACK_RUNG(e >= 16.0f, PACK_UP_16, -16.0f)
    PACK_RUNG(e >= 8.0f, 256.0f, -8.0f)
    PACK_RUNG(e >= 4.0f, 16.0f, -4.0f)
    PACK_RUNG(e >= 2.0f, 4.0f, -2.0f)
    PACK_RUNG(e >= 1.0f, 2.0f, -1.0f)
    return negative ? -a : a;
}

/* A byte from a texture component, rounded, since devices return b / 255 inexactly. */
FUNCTION(float) pack_byte(float component)
{
    return floor(component * 255.0f + 0.5f);
}
