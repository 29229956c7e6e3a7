/* Tone curves: from scene-linear Rec. 709 colours (white is 1) to display-linear colours from 0 to
 * 1. The inputs come from image_exposed. The results have the error of a few dozen roundings, and
 * their bits may differ between engines. */
#define IMAGE_TONE_SRGB              0u /* tml_tone */
#define IMAGE_TONE_REINHARD          1u
#define IMAGE_TONE_REINHARD_EXTENDED 2u
#define IMAGE_TONE_HABLE             3u
#define IMAGE_TONE_ACES_FIT          4u
#define IMAGE_TONE_AGX               5u
#define IMAGE_TONE_NEUTRAL           6u

/* A colour times the exposure scale. NaN and negative values become 0. The upper limit lies far
 * above the end of every curve, yet low enough that curves can square the value. */
FUNCTION(float) image_exposed(float x, float scale)
{
    float seen = image_either(x > 0.0f && !is_nan(x), x * scale, 0.0f);
    return min(seen, 1.1529215e18f); /* 2^60 */
}

FUNCTION(float) image_tone_luminance(vec3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

/* A matrix, given by its rows, times a colour. */
FUNCTION(vec3) image_tone_matrix(vec3 r, vec3 g, vec3 b, vec3 c)
{
    return VEC3(dot3(r, c), dot3(g, c), dot3(b, c));
}

/* Reinhard et al. 2002, eq. 4. inverse_square: 1 / Lwhite^2, or 0 for eq. 3. */
FUNCTION(vec3) image_reinhard(vec3 c, float inverse_square)
{
    float luminance = image_tone_luminance(c);
    return scale3(c, (1.0f + luminance * inverse_square) / (1.0f + luminance));
}

/* Hable 2010: the curve of Uncharted 2 with its exposure bias of 2, scaled so that 11.2 becomes
 * white. */
FUNCTION(float) image_hable_curve(float x)
{
    return (x * (0.15f * x + 0.05f) + 0.004f) / (x * (0.15f * x + 0.5f) + 0.06f) - 0.02f / 0.3f;
}
FUNCTION(vec3) image_hable(vec3 c)
{
    vec3 curved = VEC3(image_hable_curve(2.0f * c.x), image_hable_curve(2.0f * c.y),
                       image_hable_curve(2.0f * c.z));
    return scale3(curved, 1.0f / image_hable_curve(11.2f));
}

/* Hill 2016: sRGB to AP1 with RRT's desaturation, a rational fit to RRT and ODT, and back. */
FUNCTION(float) image_aces_curve(float x)
{
    return (x * (x + 0.0245786f) - 0.000090537f) / (x * (0.983729f * x + 0.432951f) + 0.238081f);
}
FUNCTION(vec3) image_aces(vec3 c)
{
    vec3 v = image_tone_matrix(VEC3(0.59719f, 0.35458f, 0.04823f), VEC3(0.076f, 0.90834f, 0.01566f),
                               VEC3(0.0284f, 0.13383f, 0.83777f), c);
    v = VEC3(image_aces_curve(v.x), image_aces_curve(v.y), image_aces_curve(v.z));
    return image_tone_matrix(VEC3(1.60475f, -0.53108f, -0.07367f),
                             VEC3(-0.10208f, 1.10813f, -0.00605f),
                             VEC3(-0.00327f, -0.07276f, 1.07602f), v);
}

/* Sobotka's AgX in Wrensch's form: inset; 16.5 stops of log2; a polynomial for the base contrast;
 * outset; and a power of 2.2, which turns display code into linear light. The logarithm and the
 * power are fits (Remez exchange) as accurate as the contrast's steep polynomial requires: errors
 * of 2^-16 of a stop, and of 2^-17. */

/* x clamped to low ... high, which are positive numbers given by their bits. Positive floats are
 * ordered as their bits, and the minimum and maximum of integers are single instructions
 * everywhere. */
FUNCTION(int) image_clamped_bits(float x, int low, int high)
{
    return min(max(I(floatBitsToUint(x)), low), high);
}

/* The position of x in the 16.5 stops, from 0 to 1. The bits of x are a logarithm that is linear
 * between powers of two; m (1 - m) times a cubic in the mantissa m corrects it. */
FUNCTION(float) image_agx_stops(float x)
{
    const float unit = 1.0f / 16.499999f;
    int bits = image_clamped_bits(x, 0x393851f5, 0x4182557d); /* 2^-12.47393, 2^4.026069 */
    float straight = F(bits) * (unit / 8388608.0f) + (12.47393f - 127.0f) * unit;
    float m = uintBitsToFloat((U(bits) & 0x007fffffu) | 0x3f800000u) - 1.0f;
    float bend = 0.441917041f * unit + m * (-0.267179419f * unit +
                                            m * (0.148426677f * unit - m * (0.0451490634f * unit)));
    return straight + (m - m * m) * bend;
}
FUNCTION(float) image_agx_curve(float x)
{
    float t = image_agx_stops(x);
    return t * (t * (t * (t * (t * (t * 15.5f - 40.14f) + 31.96f) - 6.868f) + 0.4298f) + 0.1191f) -
           0.00232f;
}
/* x^2.2, clamped to 0 ... 1: x^1.5 times a polynomial in the root of x that approximates its power
 * of 1.4. */
FUNCTION(float) image_agx_linear(float x)
{
    float positive = uintBitsToFloat(U(max(I(floatBitsToUint(x)), 0)));
    float s = sqrt(positive);
    float p = -0.0189975478f +
              s * (0.472069127f + s * (0.784112541f + s * (-0.309004409f + s * 0.0718263666f)));
    return uintBitsToFloat(U(image_clamped_bits(positive * s * p, 0, 0x3f800000)));
}
FUNCTION(vec3) image_agx(vec3 c)
{
    vec3 v = image_tone_matrix(VEC3(0.8424791f, 0.0784336f, 0.07922375f),
                               VEC3(0.04232824f, 0.8784686f, 0.07916613f),
                               VEC3(0.04237566f, 0.0784336f, 0.879143f), c);
    v = VEC3(image_agx_curve(v.x), image_agx_curve(v.y), image_agx_curve(v.z));
    v = image_tone_matrix(VEC3(1.196879f, -0.09802088f, -0.09902974f),
                          VEC3(-0.05289685f, 1.151903f, -0.09896118f),
                          VEC3(-0.05297164f, -0.09804345f, 1.151074f), v);
    return VEC3(image_agx_linear(v.x), image_agx_linear(v.y), image_agx_linear(v.z));
}

/* Khronos PBR Neutral, 2024: subtracts the Fresnel reflection of 4 %, compresses peaks above 0.76,
 * and desaturates those peaks toward white. */
FUNCTION(vec3) image_neutral(vec3 c)
{
    float lowest = min(c.x, min(c.y, c.z));
    float offset = lowest < 0.08f ? lowest - 6.25f * lowest * lowest : 0.04f;
    vec3 v = sub3(c, VEC3(offset, offset, offset));
    float peak = max(v.x, max(v.y, v.z));
    float room = 1.0f - 0.76f;
    float high = max(peak, 0.76f);
    float new_peak = 1.0f - room * room / (high + room - 0.76f);
    float white = 1.0f - 1.0f / (0.15f * (high - new_peak) + 1.0f);
    float part = new_peak / high * (1.0f - white);
    vec3 pressed =
        add3(scale3(v, part), VEC3(new_peak * white, new_peak * white, new_peak * white));
    return VEC3(peak < 0.76f ? v.x : pressed.x, peak < 0.76f ? v.y : pressed.y,
                peak < 0.76f ? v.z : pressed.z);
}

/* tone: an IMAGE_TONE_...; white: the white point of REINHARD_EXTENDED. */
FUNCTION(vec3) image_tone(uint tone, vec3 c, float white)
{
    vec3 v = c;
    if (tone == IMAGE_TONE_AGX)
        return image_agx(c); /* within 0 ... 1 */
    if (tone == IMAGE_TONE_REINHARD)
        v = image_reinhard(c, 0.0f);
    else if (tone == IMAGE_TONE_REINHARD_EXTENDED)
        v = image_reinhard(c, 1.0f / (white * white));
    else if (tone == IMAGE_TONE_HABLE)
        v = image_hable(c);
    else if (tone == IMAGE_TONE_ACES_FIT)
        v = image_aces(c);
    else if (tone == IMAGE_TONE_NEUTRAL)
        v = image_neutral(c);
    return VEC3(clamp(v.x, 0.0f, 1.0f), clamp(v.y, 0.0f, 1.0f), clamp(v.z, 0.0f, 1.0f));
}
