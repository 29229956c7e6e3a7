/* Averages of pictures whose sides are not powers of two, as programs compute them that need not be
 * exact.
 *
 *   box levels   each texel of a mip level is the mean of 2 x 2 texels of the level above; sizes
 *                are rounded down, and the last row and column of an odd size are in no texel
 *   block means  a level holds the averages of blocks of 4 x 4; sizes are rounded up, and pixels
 *                past the border count as 0. At the end the average is multiplied by the ratio of
 *                the padded to the true number of pixels. In floats, this is within
 *                (2 levels + 4) * 2^-24 * 128 stops of the mean of the logarithms, where levels is
 *                the number of halvings of the longer side
 *
 * After: averages of images of any size for mip maps and eye adaptation. 5 June 2019. */
#include "papers_internal.h"

#include <trommel/kernel_begin.h>

/* p.u: width, height, channels of the level above; width of the new one. */
/* clang-format off */
TML_LIBRARY(averages,
    FUNCTION(float) averages_texel(uint x, uint y, uint channel, tml_words texels, tml_params p)
    {
        uint row = min(y, p.u[1] - 1u) * p.u[0];
        return tml_word_float(texels, (row + min(x, p.u[0] - 1u)) * p.u[2] + channel);
    }
    FUNCTION(float) averages_luminance(uint x, uint y, tml_words texels, tml_params p)
    {
        float r = averages_texel(x, y, 0u, texels, p);
        if (p.u[2] < 3u)
            return r;
        return p.f[0] * r + p.f[1] * averages_texel(x, y, 1u, texels, p) +
               p.f[2] * averages_texel(x, y, 2u, texels, p);
    }
    /* The logarithm and the luminance of a pixel. Both are 0 if the pixel is not finite; the
     * logarithm is 0 if the luminance has none. */
    FUNCTION(vec2) averages_pixel(uint x, uint y, tml_words texels, tml_params p)
    {
        float luminance = averages_luminance(x, y, texels, p);
        if ((floatBitsToUint(luminance) & 0x7f800000u) == 0x7f800000u)
            return VEC2(0.0f, 0.0f);
        float seen = max(luminance, p.f[3]);
        if (seen > 0.0f)
            return VEC2(log2(seen), luminance);
        return VEC2(0.0f, luminance);
    }
    /* The pair of a pixel or, where p.u[2] is 0, of a block; 0 past the border. */
    FUNCTION(vec2) averages_value(uint x, uint y, tml_words values, tml_params p)
    {
        if (x >= p.u[0] || y >= p.u[1])
            return VEC2(0.0f, 0.0f);
        if (p.u[2] > 0u)
            return averages_pixel(x, y, values, p);
        uint at = 2u * (y * p.u[0] + x);
        return VEC2(tml_word_float(values, at), tml_word_float(values, at + 1u));
    }
)
/* clang-format on */

TML_KERNEL_WITH(averages, float, averages_box, (tml_index i, tml_words texels, tml_params p), {
    uint texel = U(i) / p.u[2];
    uint channel = U(i) - texel * p.u[2];
    uint y = 2u * (texel / p.u[3]);
    uint x = 2u * (texel - texel / p.u[3] * p.u[3]);
    float upper =
        averages_texel(x, y, channel, texels, p) + averages_texel(x + 1u, y, channel, texels, p);
    float lower = averages_texel(x, y + 1u, channel, texels, p) +
                  averages_texel(x + 1u, y + 1u, channel, texels, p);
    return 0.25f * upper + 0.25f * lower;
})
TML_KERNEL_WITH(averages, vec2, averages_block, (tml_index i, tml_words values, tml_params p), {
    uint y = 4u * (U(i) / p.u[3]);
    uint x = 4u * (U(i) - U(i) / p.u[3] * p.u[3]);
    vec2 mean = VEC2(0.0f, 0.0f);
    for (uint j = 0u; j < 4u; j++) {
        vec2 left =
            add2(averages_value(x, y + j, values, p), averages_value(x + 1u, y + j, values, p));
        vec2 right = add2(averages_value(x + 2u, y + j, values, p),
                          averages_value(x + 3u, y + j, values, p));
        /* A sixteenth before the sum, which might overflow. */
        mean = add2(mean, scale2(add2(left, right), 0.0625f));
    }
    return mean;
})
TML_KERNEL(vec2, averages_corrected, (vec2 average, tml_params p),
           { return scale2(average, p.f[0]); })

#include <trommel/kernel_end.h>

/* ---- box levels ------------------------------------------------------------------------------ */

tml_status papers_box_level(tml_context *tml, tml_buffer in, uint32_t width, uint32_t height,
                            uint32_t channels, tml_buffer out)
{
    uint32_t new_width = width > 1 ? width / 2 : 1, new_height = height > 1 ? height / 2 : 1;
    papers_learn(tml);
    return tml_map(tml, &(tml_map_desc){.kernel = TML_USE(averages_box),
                                        .params.u = {width, height, channels, new_width},
                                        .in = {in},
                                        .length.count = (uint64_t)new_width * new_height * channels,
                                        .out = {out}});
}

/* ---- block means ----------------------------------------------------------------------------- */

tml_status papers_block_means(tml_context *tml, const papers_blocks_desc *desc)
{
    uint32_t width = desc->width, height = desc->height, channels = desc->channels;
    double padding = 1.0 / ((double)width * height);
    tml_buffer from = desc->in;
    tml_status status = TML_OK;
    papers_learn(tml);
    for (uint32_t level = 0; !status && (level == 0 || width > 1 || height > 1); level++) {
        uint32_t columns = papers_blocks(width), rows = papers_blocks(height);
        tml_map_desc map = {.kernel = TML_USE(averages_block),
                            .params = {.f = {0.2126f, 0.7152f, 0.0722f, desc->floor},
                                       .u = {width, height, channels, columns}},
                            .in = {from},
                            .length.count = (uint64_t)columns * rows,
                            .out = {desc->space[level % 2]}};
        status = tml_map(tml, &map);
        from = map.out[0];
        channels = 0;
        width = columns;
        height = rows;
        padding *= 16;
    }
    return status ? status
                  : tml_map(tml, &(tml_map_desc){.kernel = TML_USE(averages_corrected),
                                                 .params.f = {(float)padding},
                                                 .in = {from},
                                                 .length.count = 1,
                                                 .out = {desc->out}});
}
