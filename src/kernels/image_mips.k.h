/* Mip chains: which texels of a level, along one axis, make a texel of the next, and how much of each. A
 * level's size is half of that of the level above, rounded down, at least 1. Levels are made along x
 * and along y with the same functions. */
#define IMAGE_MIP_AREA   0u /* tml_mip_filter */
#define IMAGE_MIP_KAISER 1u

/* AREA: up to three texels. The new one is
 *     middle + first_part * (first - middle) + last_part * (last - middle)
 * so that equal texels give themselves. Texels that do not count are the middle one again, and not a
 * neighbour times 0, which may be NaN.
 *
 * Texel i of k covers texels 2 i to 2 i + 1 of 2 k. Of 2 k + 1 it covers the stretch from i (2 k + 1) / k
 * to (i + 1) (2 k + 1) / k: of texel 2 i the part (k - i) / k, of 2 i + 1 all, of 2 i + 2 the part (i +
 * 1) / k. */
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

/* Two texels that count alike, as image_tapped has them. */
FUNCTION(float) image_paired(float a, float b)
{
    return b + 0.5f * (a - b);
}

/* Texels of u8 without sRGB, as they lie in a word: every other channel of it, with room for the sum of 256
 * of them; and from both sums of 2^log2_count texels their mean, rounded to nearest, ties up. Sums of
 * whole numbers are exact and take two channels at a time. */
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

/* sin(pi x) / (pi x): the series of the sine, to 2^-24, of what is past the nearest whole number. */
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
/* The modified Bessel function of order 0, of 2 sqrt(q), for q up to 4: its series to 2^-24. */
FUNCTION(float) image_bessel(float q)
{
    float sum = 1.0f;
    for (int k = 11; k >= 1; k--)
        sum = 1.0f + sum * q / F(k * k);
    return sum;
}

/* KAISER: the weight of texel j of the level above for texel i; 0 from three new texels on. j runs from
 * 2 i - IMAGE_KAISER_BEFORE, IMAGE_KAISER_TAPS of them; those outside of the level are left out, and the
 * sum is divided by that of the weights. */
#define IMAGE_KAISER_BEFORE 8
#define IMAGE_KAISER_TAPS   19
FUNCTION(float) image_kaiser(uint i, uint j, uint old_size)
{
    uint new_size = max(old_size >> 1, 1u);
    /* Unsigned numbers wrap, and what is left of the difference is small. */
    int twice = I((2u * j + 1u) * new_size - (2u * i + 1u) * old_size);
    float x = F(twice) / (2.0f * F(old_size));
    float inside = 1.0f - x * x * (1.0f / 9.0f);
    float weight = image_sinc(x) * image_bessel(4.0f * inside) / image_bessel(4.0f);
    return image_either(inside > 0.0f, weight, 0.0f);
}
