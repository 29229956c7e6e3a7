/* Image formulas: colours from stored elements, luminance, kinds of pixels, logarithms in fixed
 * point, histogram bins.
 *
 * Every float computed here has the same bits on every engine, because
 * - products are rounded_product or exact, sums are single or PRECISE, and nothing is divided;
 * - constants with many digits are given by their bits, since compilers parse decimals differently;
 * - tiny numbers become 0: a colour of magnitude below 2^-100 before anything is computed from it,
 *   and a luminance afterwards. Differences of colours are therefore multiples of 2^-123 and never
 *   subnormal. A product may be subnormal, and some devices flush it to 0; but then it is less than
 *   half the last bit of the number to which it is added, unless the luminance becomes 0. */
#define IMAGE_TINY     0x0d800000u /* the bits of 2^-100 */
#define IMAGE_INFINITE 0x7f800000u

/* ---- approximations -------------------------------------------------------------------------- */

/* log2(1 + t) for 0 <= t < 1, with an error below 2^-23.5, as t + t (1 - t) s(t). The correction
 * term is small and is 0 at t = 0 and t = 1, so the logarithm is continuous at powers of two. s is
 * the minimax polynomial of degree 6 (Remez exchange), which alone causes an error of 2^-24.2. */
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

/* Exponent, and mantissa minus 1, of a normal float given by its bits. */
FUNCTION(int) image_exponent(uint bits)
{
    return I(bits >> 23) - 127;
}
FUNCTION(float) image_mantissa(uint bits)
{
    PRECISE float t = uintBitsToFloat((bits & 0x007fffffu) | 0x3f800000u) - 1.0f;
    return t;
}

/* log2 of a positive normal x, with an error below 2^-23.5 or one rounding of the result. */
FUNCTION(float) image_log2(float x)
{
    uint bits = floatBitsToUint(x);
    PRECISE float value = F(image_exponent(bits)) + image_log2_mantissa(image_mantissa(bits));
    return value;
}

/* 2^x for -126 <= x < 128, with a relative error below 2^-22.5; exact for integers x. For the
 * fraction t of x, as in image_log2_mantissa: 1 + t - t (1 - t) s(t), with s of degree 4, which
 * alone causes an error of 2^-28. */
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
    /* The product with 1 matters: GLSL ES compilers may reassociate a sum with a constant, but not
     * a product. */
    value = rounded_product(value, 1.0f) + 1.0f;
    return rounded_product(value, uintBitsToFloat(U(whole + 127) << 23));
}

/* 2^x for any x; the result is clamped to 2^-126 below, and to just under 2^128 above. */
FUNCTION(float) image_exp2(float x)
{
    return image_exp2_inside(min(max(x, -126.0f), 127.9999f));
}

/* x^y for a positive normal x, with a relative error of (|y log2 x| + 2) 2^-22 if 2^-126 <= x^y <
 * 2^128. */
FUNCTION(float) image_pow(float x, float y)
{
    return image_exp2_inside(rounded_product(y, image_log2(x)));
}

/* is_first ? a : b by bit operations: C compilers vectorise these, but not every ?:. */
FUNCTION(float) image_either(bool is_first, float a, float b)
{
    uint first = 0u - U(is_first);
    return uintBitsToFloat((floatBitsToUint(a) & first) | (floatBitsToUint(b) & ~first));
}

/* ---- elements -------------------------------------------------------------------------------- */

/* sRGB code value to linear light and back, both 0 to 1 (IEC 61966-2-1). */
FUNCTION(float) image_srgb_decode(float code)
{
    PRECISE float shifted = code + uintBitsToFloat(0x3d6147aeu); /* 0.055 */
    float curved =
        rounded_product(shifted, uintBitsToFloat(0x3f72a76fu)); /* 1 / 1.055, up so 1 stays 1 */
    float straight = rounded_product(code, uintBitsToFloat(0x3d9e8391u)); /* 1 / 12.92 */
    return image_either(code <= uintBitsToFloat(0x3d25aee6u), straight,   /* 0.04045 */
                        image_pow(curved, uintBitsToFloat(0x4019999au))); /* 2.4 */
}
FUNCTION(float) image_srgb_encode(float x)
{
    float straight = rounded_product(x, uintBitsToFloat(0x414eb852u)); /* 12.92 */
    float curved = image_pow(x, uintBitsToFloat(0x3ed55555u));         /* 1 / 2.4 */
    PRECISE float placed =
        rounded_product(curved, uintBitsToFloat(0x3f870a3du)) - uintBitsToFloat(0x3d6147aeu);
    return image_either(x <= uintBitsToFloat(0x3b4d2e1cu), straight, /* 0.0031308 */
                        min(placed, 1.0f));
}

/* A u8 or u16 element as a number from 0 to 1, correct to one rounding; srgb: decoded from sRGB.
 * f16 elements use tml_half_to_float, and tml_float_to_half. */
FUNCTION(float) image_from_u8(uint code, bool srgb)
{
    float value = rounded_product(F(code), uintBitsToFloat(0x3b808081u)); /* 1 / 255 */
    return srgb ? image_srgb_decode(value) : value;
}
FUNCTION(float) image_from_u16(uint code, bool srgb)
{
    float value = rounded_product(F(code), uintBitsToFloat(0x37800080u)); /* 1 / 65535 */
    return srgb ? image_srgb_decode(value) : value;
}

/* A number as a u8 or u16 element: clamped to 0 ... 1 (NaN: 0), scaled by largest (255 or 65535),
 * and rounded to nearest. */
FUNCTION(uint) image_to_integer(float x, float largest, bool srgb)
{
    float inside = image_either(x > 0.0f, min(x, 1.0f), 0.0f);
    float code = srgb ? image_srgb_encode(inside) : inside;
    return U(I(rounded_product(code, largest) + 0.5f));
}

/* A float's bits without the sign. image_kind takes the largest of a pixel's colours. */
FUNCTION(uint) image_magnitude(float x)
{
    return floatBitsToUint(x) & 0x7fffffffu;
}

/* The kind of a picture's values (tml_image_values). */
#define IMAGE_LINEAR 0u
#define IMAGE_LOG2   1u
#define IMAGE_LN     2u
#define IMAGE_LOG10  3u

/* The linear value of a logarithm: 0 below 2^-100, infinity from 2^128 on, NaN for NaN. The product
 * with log2 of the base is rounded to a float, which dominates the error for large logarithms. */
FUNCTION(float) image_of_log(float x, uint values)
{
    uint factor =
        values == IMAGE_LOG2 ? 0x3f800000u : (values == IMAGE_LN ? 0x3fb8aa3bu : 0x40549a78u);
    bool is_nan = image_magnitude(x) > IMAGE_INFINITE;
    float stops = rounded_product(image_either(is_nan, 0.0f, x), uintBitsToFloat(factor));
    uint bits = floatBitsToUint(image_exp2(stops));
    uint is_large = U(stops >= 128.0f);
    uint is_small = U(stops < -100.0f);
    bits = (bits & (is_large + is_small - 1u)) | (IMAGE_INFINITE & (0u - is_large));
    return uintBitsToFloat(bits ^ ((bits ^ 0x7fc00000u) & (0u - U(is_nan))));
}

/* ---- measure --------------------------------------------------------------------------------- */

/* Kinds of pixels: the stats hold the count of kind k in the two words from 2 + 2 k on. */
#define IMAGE_POSITIVE   0u
#define IMAGE_ZERO       1u
#define IMAGE_NEGATIVE   2u
#define IMAGE_NAN        3u
#define IMAGE_NOT_FINITE 4u
#define IMAGE_KINDS      5u

/* A colour as it is measured: 0 if its magnitude is below 2^-100. The result for NaN and infinity
 * is unspecified. Here and below, comparisons yield integers rather than branches, so that C
 * compilers vectorise the loops. */
FUNCTION(float) image_colour(float x)
{
    uint counts = U(image_magnitude(x) >= IMAGE_TINY);
    return uintBitsToFloat(floatBitsToUint(x) & (0u - counts));
}

/* Luminance of three colours from image_colour. weight_r + weight_g + weight_b is 1; three equal
 * colours have exactly their own value as luminance. The sum alone is the luminance if its
 * magnitude is at least 2^-100. */
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

/* The kind of a pixel. largest: the largest image_magnitude of its colours. A pixel also counts as
 * not finite if its luminance overflows because of large colours of different signs. */
FUNCTION(uint) image_kind(uint largest, float luminance)
{
    uint finite = IMAGE_ZERO - U(luminance > 0.0f) + U(luminance < 0.0f);
    uint endless = U(max(largest, image_magnitude(luminance)) >= IMAGE_INFINITE);
    uint kind = IMAGE_NOT_FINITE - U(largest > IMAGE_INFINITE);
    return finite ^ ((finite ^ kind) & (0u - endless));
}

/* A colour before its logarithm is taken: NaN becomes 0, infinity the largest finite float, and
 * tiny values 0. */
FUNCTION(float) image_bounded(float x)
{
    uint magnitude = image_magnitude(x), sign = floatBitsToUint(x) & 0x80000000u;
    uint counts = U(magnitude >= IMAGE_TINY) & U(magnitude <= IMAGE_INFINITE);
    return uintBitsToFloat((min(magnitude, IMAGE_INFINITE - 1u) | sign) & (0u - counts));
}

/* log2 of the luminance of three decoded colours; a luminance below `least` counts as least. least
 * is positive and normal. The bits of non-negative floats are ordered as the floats are. */
FUNCTION(float)
image_log_luminance(float r, float g, float b, bool max_rgb, float weight_r, float weight_b,
                    float least)
{
    float red = image_bounded(r), green = image_bounded(g), blue = image_bounded(b);
    float sum = image_luminance(red, green, blue, weight_r, weight_b);
    float luminance = image_either(max_rgb, image_luminance_max(red, green, blue), sum);
    uint bits = floatBitsToUint(luminance), low = floatBitsToUint(least);
    uint counts = U(bits > low) & U(bits <= IMAGE_INFINITE);
    uint high = min(bits, IMAGE_INFINITE - 1u);
    return image_log2(uintBitsToFloat(low ^ ((low ^ high) & (0u - counts))));
}

/* log2 of a positive normal number in units of 2^-24, with an error below 2^-23; exact for powers
 * of two. The range is [-126 * 2^24, 2^31). */
FUNCTION(int) image_log2_fixed(float x)
{
    uint bits = floatBitsToUint(x);
    /* The product is exact. Adding the largest float below 1/2 rounds fractions and keeps integers
     * from 2^23 on; adding 1/2 would increment every other one of those integers. */
    float steps = rounded_product(image_log2_mantissa(image_mantissa(bits)), 16777216.0f);
    PRECISE float rounded = steps + uintBitsToFloat(0x3effffffu);
    return image_exponent(bits) * 16777216 + I(rounded);
}
/* Whole part and fraction of such a logarithm, which are summed separately. */
FUNCTION(int) image_log2_whole(int stops)
{
    return stops >> 24;
}
FUNCTION(uint) image_log2_fraction(int stops)
{
    return U(stops) & 0x00ffffffu;
}
/* Histogram bin, 0 to 255, of a logarithm in fixed point. low, bin_log2: tml_image_measure_desc. */
FUNCTION(int) image_bin(int stops, int low, uint bin_log2)
{
    int shift = 24 - I(bin_log2);
    int scale = 1 << bin_log2;
    return min(max((stops >> shift) - low * scale, 0), 255);
}

/* The mask's column over pixel x of a row of width pixels, both below 65536; the same for rows. */
FUNCTION(uint) image_mask_at(uint x, uint mask_width, uint width)
{
    return x * mask_width / width;
}
