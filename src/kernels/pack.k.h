/* Floats to the four bytes of their bits and back, by comparisons, floor and multiplication with powers
 * of two alone: no integers, no bit operators, no log2 and exp2 (which no device computes exactly). For
 * C, GLSL ES 1.00 and all later: where a texture has no floats, four of its bytes hold one.
 *
 * A byte is a float 0 ... 255. Little end first: .x is the lowest byte of the bits, as the memory of
 * x86, ARM and WebAssembly has it; pack_reversed gives and takes the big end first.
 *
 * Exact for every finite float, zeros with their sign, infinities; NaN stays NaN (the one with bits
 * 0x7fc00000). Every operation on the way is exact in floats of 24 bits, however the device rounds, but:
 *   subnormals  stay exact where the device keeps them; one that it flushes is a zero of the same sign
 *   -0          is told from 0 by 1 / x; where that is no infinity with its sign, it becomes 0
 *
 * Powers of two are products of decimals that are exact in few digits: a compiler may read longer ones
 * wrongly. */
#define PACK_UP_16   65536.0f
#define PACK_UP_32   (PACK_UP_16 * PACK_UP_16)
#define PACK_UP_64   (PACK_UP_32 * PACK_UP_32)
#define PACK_DOWN_16 0.0000152587890625f
#define PACK_DOWN_32 (PACK_DOWN_16 * PACK_DOWN_16)
#define PACK_DOWN_64 (PACK_DOWN_32 * PACK_DOWN_32)
#define PACK_LARGEST (PACK_UP_64 * (PACK_UP_64 - PACK_UP_32 * 256.0f))

/* Whole numbers below 2^32 in four bytes. */
FUNCTION(vec4) pack_number(float x)
{
    float w = floor(x * (PACK_DOWN_16 * 0.00390625f));
    float rest = x - w * (256.0f * PACK_UP_16);
    float z = floor(rest * PACK_DOWN_16);
    rest -= z * PACK_UP_16;
    float y = floor(rest * 0.00390625f);
    return VEC4(rest - y * 256.0f, y, z, w);
}
/* Exact below 2^24. */
FUNCTION(float) unpack_number(vec4 bytes)
{
    return bytes.x + 256.0f * bytes.y + PACK_UP_16 * bytes.z + 256.0f * PACK_UP_16 * bytes.w;
}

/* A rung of the ladder: a times a power of two, for which the exponent e pays. */
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
    /* Now 1 <= a < 2, or at the foot of the ladder, e = 0, a subnormal a < 2. A NaN is at no rung and
     * fails this comparison too: written so, since there are compilers that take !(x <= y) for
     * x > y. */
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
    float e = field == 0.0f ? -149.0f : field - 150.0f; /* of the last bit */
    a += field == 0.0f ? 0.0f : 128.0f * PACK_UP_16;
    /* Every product on the way is exact: a keeps its bits, and what is a subnormal in the end has none
     * below the last of them. */
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

/* The other byte order. */
FUNCTION(vec4) pack_reversed(vec4 bytes)
{
    return VEC4(bytes.w, bytes.z, bytes.y, bytes.x);
}

/* A byte from a texture's component. Rounded: devices return b / 255 a little off. */
FUNCTION(float) pack_byte(float component)
{
    return floor(component * 255.0f + 0.5f);
}
