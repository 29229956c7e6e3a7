/* Measures a picture tile by tile, each pixel once. The pixels of a tile are a column. In flat
 * pictures they are pixels of a row, whose stride is the number of tiles in a row. In both cases
 * neighbouring fragments read neighbouring pixels. A fragment makes a tile's record and, if
 * HISTOGRAM, its pixels' bins for image_bins.frag.
 *
 * TILE: 32 pixels, or 16 if MASKED. DOES_LOG, DOES_MEAN, HISTOGRAM: the measurements to make. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "gl_image.glsl"
#include "gl_image_luminance.glsl"
#include "gl_image_record.glsl"

uniform uvec2 columns;     /* a divisor: tiles per row */
uniform uvec2 pixel_step;  /* from one pixel of a tile to the next */
uniform uint rows_of_tile; /* TILE or 1 */
uniform float least_counted;
uniform int histogram_low;
uniform uint bin_log2;
#ifdef MASKED
uniform highp usampler2D mask;
uniform uvec2 mask_size;
#endif

layout(location = 0) out highp uvec4 sums;
layout(location = 1) out highp uvec4 rest;
#ifdef HISTOGRAM
layout(location = 2) out highp uvec4 bins0;
layout(location = 3) out highp uvec4 bins1;
#endif

uint weight_at(uint x, uint y)
{
#ifdef MASKED
    uint column = image_mask_at(x, mask_size.x, picture_size.x);
    uint row = image_mask_at(y, mask_size.y, picture_size.y);
    return LOAD_U8(mask, column + row * mask_size.x);
#else
    return 1u;
#endif
}

struct counted_pixel {
    uint kind, weight; /* weight 0: the pixel is left out */
    float luminance;   /* 0 if not finite */
    uint log_weight;
    int stops;
};
counted_pixel count_pixel(uint x, uint y)
{
    seen_pixel seen = see_pixel(x, y);
    counted_pixel p;
    p.kind = seen.kind;
    p.luminance = seen.luminance;
    p.weight = weight_at(x, y);
    float counted = max(seen.luminance, least_counted);
    p.log_weight = p.kind < IMAGE_NAN && counted > 0.0 ? p.weight : 0u;
    p.stops = image_log2_fixed(p.log_weight != 0u ? counted : 1.0);
    return p;
}

void add_pixel(inout image_record r, counted_pixel p)
{
    uint one = p.weight != 0u ? 1u : 0u;
    r.kinds.x += p.kind == IMAGE_POSITIVE ? one : 0u;
    r.kinds.y += p.kind == IMAGE_ZERO ? one : 0u;
    r.kinds.z += p.kind == IMAGE_NEGATIVE ? one : 0u;
    r.kinds.w += p.kind == IMAGE_NAN ? one : 0u;
    r.infinite += p.kind == IMAGE_NOT_FINITE ? one : 0u;
    bool is_finite = p.weight != 0u && p.kind < IMAGE_NAN;
    r.weight.x += is_finite ? p.weight : 0u;
    uint key = key_of_float(p.luminance);
    r.least = is_finite ? min(r.least, key) : r.least;
    r.most = is_finite ? max(r.most, key) : r.most;
    r.log_weight.x += p.log_weight;
#ifdef DOES_LOG
    r.whole.x += uint(int(p.log_weight) * image_log2_whole(p.stops));
    r.fraction = add64(r.fraction, uvec2(p.log_weight * image_log2_fraction(p.stops), 0u));
#endif
}

/* The code of a pixel, which image_bins.frag counts: its bin and, if MASKED, its weight. */
uint bin_of(counted_pixel p)
{
    uint bin = uint(image_bin(p.stops, histogram_low, bin_log2));
#ifdef MASKED
    return bin | p.log_weight << 8;
#else
    return p.log_weight != 0u ? bin : 0u; /* image_stats.frag subtracts these pixels */
#endif
}

void main()
{
    const uint EACH = TILE / 8u, BITS = 32u / EACH; /* codes per word, bits per code */
    uint row = divide(tml_texel(), columns);
    uvec2 at = uvec2(tml_texel() - row * columns.x, row * rows_of_tile);
    image_record r = record_of_nothing();
    uvec4 codes0 = uvec4(0u), codes1 = uvec4(0u);
    for (uint w = 0u; w < 8u; w++) {
        uint codes = 0u;
        image_moments some = moments_of(0.0, 0.0, 0.0);
        for (uint i = 0u; i < EACH; i++) {
            if (at.x < picture_size.x && at.y < picture_size.y) {
                counted_pixel p = count_pixel(at.x, at.y);
                add_pixel(r, p);
#ifdef DOES_MEAN
                float weight = p.kind < IMAGE_NAN ? float(p.weight) : 0.0;
                some = image_moments_join(some, moments_of(weight, p.luminance, 0.0));
#endif
                codes |= bin_of(p) << (i * BITS);
            }
            at += pixel_step;
        }
        r.moments = image_moments_join(r.moments, some);
        /* The eight words shift by one. After eight turns each one is in its place. */
        codes0 = uvec4(codes0.yzw, codes1.x);
        codes1 = uvec4(codes1.yzw, codes);
    }
    sums = tile_quad(r);
    rest = record_quad3(r);
#ifdef HISTOGRAM
    bins0 = codes0;
    bins1 = codes1;
#endif
}
