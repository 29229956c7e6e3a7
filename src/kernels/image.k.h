/* Image formulas: colours from a picture's elements, luminance, what kind of pixel it is, its logarithm
 * in fixed point, and the histogram's bins.
 *
 * Every float here comes out with the same bits on every engine. So that it does,
 *   products    are rounded_product or exact, sums are single or PRECISE, nothing is divided;
 *   constants   of more than some digits are given by their bits, since compilers read decimals
 *               differently;
 *   tiny        numbers never matter: colours below 2^-100 either way are zero before anything is
 *               computed from them, and so is a luminance afterwards. Differences of colours are then
 *               multiples of 2^-123 and never subnormal; a product may be, which one device keeps and
 *               another makes zero, but it is then less than half the last bit of whatever it is
 *               added to, unless the luminance is zero in the end. */
#define IMAGE_TINY     0x0d800000u /* the bits of 2^-100 */
#define IMAGE_INFINITE 0x7f800000u

/* ---- approximations -------------------------------------------------------------------------- */

/* log2(1 + t) for 0 <= t < 1, within 2^-23.5; 0 for 0. t plus a correction t (1 - t) s(t), which is small
 * and ends at powers of two, so that what comes out rises from one to the next without a step. s is
 * the minimax polynomial (Remez's exchange) of degree 6; by itself it errs by 2^-24.2. */
FUNCTION(float) image_log2_mantissa(float t)
{
    PRECISE float s = uintBitsToFloat(0x3c15b0d9u);
    s = rounded_product(s, t) + uintBitsToFloat(0xbd2d3304u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3dc11a98u);
    s = rounded_product(s, t) + uintBitsToFloat(0xbe16603cu);
    s = rounded_product(s, t) + uintBitsToFloat(0x3e4cf390u);
    s = rounded_product(s, t) + uintBitsToFloat(0xbe8e9387u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3ee2a838u);
    PRECISE float rest = 1.0f - t;
    PRECISE float value = t + rounded_product(rounded_product(t, rest), s);
    return value;
}

/* The exponent of a normal float's bits, and its mantissa less 1. */
FUNCTION(int) image_exponent(uint bits)
{
    return I(bits >> 23) - 127;
}
FUNCTION(float) image_mantissa(uint bits)
{
    PRECISE float t = uintBitsToFloat((bits & 0x007fffffu) | 0x3f800000u) - 1.0f;
    return t;
}

/* log2 x of a positive normal number, within 2^-23.5 or a rounding. */
FUNCTION(float) image_log2(float x)
{
    uint bits = floatBitsToUint(x);
    PRECISE float value = F(image_exponent(bits)) + image_log2_mantissa(image_mantissa(bits));
    return value;
}

/* 2^x within 2^-22.5 of it, for x from -126 to short of 128; exact for whole numbers. As
 * image_log2_mantissa: 1 + t - t (1 - t) s(t) of what is past the whole number, with s of degree 4 erring
 * by 2^-28. */
FUNCTION(float) image_exp2_inside(float x)
{
    int whole = I(x);
    whole -= I(x < F(whole));
    PRECISE float t = x - F(whole);
    PRECISE float s = uintBitsToFloat(0x39658ea7u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3abf1226u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3c368b41u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3d887193u);
    s = rounded_product(s, t) + uintBitsToFloat(0x3e9d1bd6u);
    PRECISE float rest = 1.0f - t;
    PRECISE float value = t - rounded_product(rounded_product(t, rest), s);
    /* Times 1: to a sum compilers of GLSL ES add a constant in the order that they like. */
    value = rounded_product(value, 1.0f) + 1.0f;
    return rounded_product(value, uintBitsToFloat(U(whole + 127) << 23));
}

/* The same of any x: below 2^-126 it stays there, and it ends short of 2^128. */
FUNCTION(float) image_exp2(float x)
{
    return image_exp2_inside(min(max(x, -126.0f), 127.9999f));
}

/* x^y of a positive normal x, with a relative error of (|y log2 x| + 2) 2^-22, where that is from 2^-126
 * to short of 2^128. */
FUNCTION(float) image_pow(float x, float y)
{
    return image_exp2_inside(rounded_product(y, image_log2(x)));
}

/* a or b, without a branch: C compilers make vectors of arithmetic, but not of every ?:. */
FUNCTION(float) image_either(bool is_first, float a, float b)
{
    uint first = 0u - U(is_first);
    return uintBitsToFloat((floatBitsToUint(a) & first) | (floatBitsToUint(b) & ~first));
}

/* ---- elements -------------------------------------------------------------------------------- */

/* sRGB code to linear and back, both 0 to 1. IEC 61966-2-1. */
FUNCTION(float) image_srgb_decode(float code)
{
    PRECISE float shifted = code + uintBitsToFloat(0x3d6147aeu); /* 0.055 */
    float curved =
        rounded_product(shifted, uintBitsToFloat(0x3f72a76fu)); /* / 1.055, up, so that 1 stays 1 */
    float straight = rounded_product(code, uintBitsToFloat(0x3d9e8391u)); /* / 12.92 */
    return image_either(code <= uintBitsToFloat(0x3d25aee6u), straight,   /* 0.04045 */
                        image_pow(curved, uintBitsToFloat(0x4019999au))); /* 2.4 */
}
FUNCTION(float) image_srgb_encode(float x)
{
    float straight = rounded_product(x, uintBitsToFloat(0x414eb852u)); /* 12.92 */
    float curved = image_pow(x, uintBitsToFloat(0x3ed55555u));         /* 1 / 2.4 */
    PRECISE float placed =
        rounded_product(curved, uintBitsToFloat(0x3f870a3du)) - uintBitsToFloat(0x3d6147aeu);
    return image_either(x <= uintBitsToFloat(0x3b4d2e1cu), straight,
                        min(placed, 1.0f)); /* 0.0031308 */
}

/* A picture's element as a number: u8 and u16, whose largest is 1, within one rounding, or decoded from
 * sRGB. An f16 goes by tml_half_to_float, and an f32 is one. */
FUNCTION(float) image_from_u8(uint code, bool srgb)
{
    float value = rounded_product(F(code), uintBitsToFloat(0x3b808081u)); /* / 255 */
    return srgb ? image_srgb_decode(value) : value;
}
FUNCTION(float) image_from_u16(uint code, bool srgb)
{
    float value = rounded_product(F(code), uintBitsToFloat(0x37800080u)); /* / 65535 */
    return srgb ? image_srgb_decode(value) : value;
}

/* A number as an element of u8 or u16: rounded to nearest, what is outside cut off, NaN 0. largest: 255
 * or 65535. */
FUNCTION(uint) image_to_integer(float x, float largest, bool srgb)
{
    float inside = image_either(x > 0.0f, min(x, 1.0f), 0.0f);
    float code = srgb ? image_srgb_encode(inside) : inside;
    return U(I(rounded_product(code, largest) + 0.5f));
}
/* The 16 bits of an f16, rounded to nearest, ties to even; too large numbers become infinite, NaN stays
 * one. */
FUNCTION(uint) image_to_f16(float x)
{
    uint bits = floatBitsToUint(x);
    uint sign_bit = (bits >> 16) & 0x8000u;
    uint magnitude = bits & 0x7fffffffu;
    uint normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    /* Below 2^-14: adding 1/2 leaves a multiple of 2^-24 in the last bits, rounded alike. */
    uint small = magnitude < 0x00800000u ? 0u : magnitude;
    uint subnormal = floatBitsToUint(uintBitsToFloat(small) + 0.5f) - 0x3f000000u;
    uint finite = magnitude < 0x38800000u ? subnormal : normal;
    uint value = magnitude >= 0x477ff000u ? 0x7c00u : finite;
    return sign_bit | (magnitude > IMAGE_INFINITE ? 0x7e00u : value);
}

/* ---- measure --------------------------------------------------------------------------------- */

/* Kinds of pixels, in the order of their counts: the count of kind k is words 2 + 2 k of the stats. */
#define IMAGE_POSITIVE   0u
#define IMAGE_ZERO       1u
#define IMAGE_NEGATIVE   2u
#define IMAGE_NAN        3u
#define IMAGE_NOT_FINITE 4u
#define IMAGE_KINDS      5u

/* A number's bits without their sign: what image_kind wants the largest of a pixel's colours of. */
FUNCTION(uint) image_magnitude(float x)
{
    return floatBitsToUint(x) & 0x7fffffffu;
}

/* A colour as it is measured. (NaN and infinity come out as themselves or as anything.) Here and below,
 * comparisons become numbers and not branches, which C compilers would keep from making vectors. */
FUNCTION(float) image_colour(float x)
{
    uint counts = U(image_magnitude(x) >= IMAGE_TINY);
    return uintBitsToFloat(floatBitsToUint(x) & (0u - counts));
}

/* The luminance of three colours that went through image_colour. weight_r + weight_g + weight_b is 1, and
 * equal colours give themselves. The sum by itself is it where it is not below 2^-100 either way. */
FUNCTION(float)
image_luminance_sum(float r, float g, float b, float weight_r, float weight_b)
{
    PRECISE float red = r - g;
    PRECISE float blue = b - g;
    PRECISE float value = g + rounded_product(weight_r, red);
    value = value + rounded_product(weight_b, blue);
    return value;
}
FUNCTION(float) image_luminance(float r, float g, float b, float weight_r, float weight_b)
{
    return image_colour(image_luminance_sum(r, g, b, weight_r, weight_b));
}
FUNCTION(float) image_luminance_max(float r, float g, float b)
{
    return max(r, max(g, b));
}

/* The kind of a pixel: largest is the largest image_magnitude of its colours. Where the sum of large
 * colours of different signs overflows it is called infinite too. */
FUNCTION(uint) image_kind(uint largest, float luminance)
{
    uint finite = IMAGE_ZERO - U(luminance > 0.0f) + U(luminance < 0.0f);
    uint endless = U(max(largest, image_magnitude(luminance)) >= IMAGE_INFINITE);
    uint kind = IMAGE_NOT_FINITE - U(largest > IMAGE_INFINITE);
    return finite ^ ((finite ^ kind) & (0u - endless));
}

/* log2 of a normal number above 0, in 2^-24: within 2^-23 of it, and exact for powers of two. In
 * [-126 * 2^24, 2^31). */
FUNCTION(int) image_log2_fixed(float x)
{
    uint bits = floatBitsToUint(x);
    /* The product is exact. Just less than 1/2 rounds what has a fraction, and leaves whole numbers from
     * 2^23 on, of which 1/2 would make every other one the next. */
    float steps = rounded_product(image_log2_mantissa(image_mantissa(bits)), 16777216.0f);
    PRECISE float rounded = steps + uintBitsToFloat(0x3effffffu);
    return image_exponent(bits) * 16777216 + I(rounded);
}
/* Its two parts, to be summed apart. */
FUNCTION(int) image_log2_whole(int stops)
{
    return stops >> 24;
}
FUNCTION(uint) image_log2_fraction(int stops)
{
    return U(stops) & 0x00ffffffu;
}
/* The histogram's bin, 0 to 255. low, bin_log2: tml_image_measure_desc. */
FUNCTION(int) image_bin(int stops, int low, uint bin_log2)
{
    int shift = 24 - I(bin_log2);
    int scale = 1 << bin_log2;
    return min(max((stops >> shift) - low * scale, 0), 255);
}

/* The mask's column over pixel x of width (both below 65536), or the row likewise. */
FUNCTION(uint) image_mask_at(uint x, uint mask_width, uint width)
{
    return x * mask_width / width;
}
