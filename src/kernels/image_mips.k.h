/* Mip chains: the filter taps, along one axis, of a texel of the next level. A level's size is half
 * the previous level's, rounded down, at least 1. The filters are separable: x and y use the same
 * functions. */
#define IMAGE_MIP_AREA   0u /* tml_mip_filter */
#define IMAGE_MIP_KAISER 1u

/* AREA, the box filter: up to three texels. The new texel is
 *   middle + first_part * (first - middle) + last_part * (last - middle)
 * so that equal texels keep their value. An unused tap repeats the middle texel, since 0 times a
 * neighbour may be NaN.
 *
 * From 2 k old texels, new texel i of k covers texels 2 i and 2 i + 1. From 2 k + 1 old texels, it
 * covers the interval from i (2 k + 1) / k to (i + 1) (2 k + 1) / k: the part (k - i) / k of texel
 * 2 i, all of texel 2 i + 1, and the part (i + 1) / k of texel 2 i + 2. */
STRUCT_BEGIN(image_taps)
uint first;
uint middle;
uint last;
float first_part;
float last_part;
STRUCT_END(image_taps)

FUNCTION(image_taps) image_taps_of(uint i, uint old_size)
{
    image_taps taps;
    uint new_size = old_size >> 1;
    bool is_odd = (old_size & 1u) != 0u;
    float unit = is_odd ? 1.0f / F(old_size) : 0.5f;
    taps.first = 2u * i;
    taps.middle = 2u * i + 1u;
    taps.last = is_odd ? 2u * i + 2u : 2u * i + 1u;
    taps.first_part = is_odd ? F(new_size - i) * unit : 0.5f;
    taps.last_part = is_odd ? F(i + 1u) * unit : 0.0f;
    if (old_size == 1u) {
        taps.middle = 0u;
        taps.last = 0u;
    }
    return taps;
}
FUNCTION(float) image_tapped(image_taps taps, float first, float middle, float last)
{
    return middle + taps.first_part * (first - middle) + taps.last_part * (last - middle);
}

/* The mean of two texels, rounded as image_tapped rounds it. */
FUNCTION(float) image_paired(float a, float b)
{
    return b + 0.5f * (a - b);
}

/* The even and the odd channels of a u8 texel without sRGB, in two words, each with room for the
 * sum of 256 codes. Adding texels sums two channels at a time, exactly. image_codes_mean turns both
 * sums into the mean of 2^log2_count texels, rounded to nearest, ties up. */
FUNCTION(uint) image_even_codes(uint texel)
{
    return texel & 0x00ff00ffu;
}
FUNCTION(uint) image_odd_codes(uint texel)
{
    return (texel >> 8) & 0x00ff00ffu;
}
FUNCTION(uint) image_codes_mean(uint even, uint odd, uint log2_count)
{
    uint middle = 0x00010001u << (log2_count - 1u);
    uint mean_even = ((even + middle) >> log2_count) & 0x00ff00ffu;
    uint mean_odd = ((odd + middle) >> log2_count) & 0x00ff00ffu;
    return mean_even | (mean_odd << 8);
}

/* sin(pi x) / (pi x), accurate to 2^-24, from the Taylor series of the sine at x minus the nearest
 * integer. */
FUNCTION(float) image_sinc(float x)
{
    float whole = floor(x + 0.5f);
    float r = (x - whole) * 3.14159265f;
    float r2 = r * r;
    float series =
        r *
        (1.0f +
         r2 * (-0.16666667f +
               r2 * (0.0083333333f +
                     r2 * (-0.00019841270f + r2 * (0.0000027557319f + r2 * -0.000000025052108f)))));
    bool is_odd = fract(whole * 0.5f) != 0.0f;
    float value = image_either(is_odd, -series, series) / (x * 3.14159265f);
    return image_either(abs(x) < 0.0001f, 1.0f, value);
}
/* The modified Bessel function I0 of 2 sqrt(q) for q up to 4, accurate to 2^-24, from its power
 * series. */
FUNCTION(float) image_bessel(float q)
{
    float sum = 1.0f;
    for (int k = 11; k >= 1; k--)
        sum = 1.0f + sum * q / F(k * k);
    return sum;
}

/* KAISER, a Kaiser-windowed sinc: the weight of old texel j in new texel i; 0 from a distance of
 * three new texels on. There are IMAGE_KAISER_TAPS taps, from j = 2 i - IMAGE_KAISER_BEFORE on.
 * Taps outside the level are skipped, and the sum is divided by the sum of the weights. Taps before
 * IMAGE_KAISER_FIRST, and from IMAGE_KAISER_END on, have weight 0 or lie outside the level,
 * whatever its size. */
#define IMAGE_KAISER_BEFORE 8
#define IMAGE_KAISER_TAPS   19
#define IMAGE_KAISER_FIRST  3
#define IMAGE_KAISER_END    16
FUNCTION(float) image_kaiser(uint i, uint j, uint old_size)
{
    uint new_size = max(old_size >> 1, 1u);
    /* Both products may wrap modulo 2^32; their difference is small and comes out right. */
    int twice = I((2u * j + 1u) * new_size - (2u * i + 1u) * old_size);
    float x = F(twice) / (2.0f * F(old_size));
    float inside = 1.0f - x * x * (1.0f / 9.0f);
    float weight = image_sinc(x) * image_bessel(4.0f * inside) / image_bessel(4.0f);
    return image_either(inside > 0.0f, weight, 0.0f);
}
