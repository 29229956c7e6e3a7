/* Draws a picture's mip levels by blits and by area. */
#include <trommel/pictures.h>

#include "papers_averages.h"

#include "papers.h"

#include "../../cli/draw/color.h"
#include "../../cli/draw/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256, CHANNELS = 3, MOST_LEVELS = 32 };

typedef struct chain {
    uint32_t count, width[MOST_LEVELS], height[MOST_LEVELS];
    float *texels[MOST_LEVELS];
} chain;

static void chain_free(chain *c)
{
    for (uint32_t l = 0; l < c->count; l++)
        free(c->texels[l]);
}

static tml_status no_memory(tml_context *tml)
{
    (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for mip levels");
    return TML_ERROR_OUT_OF_MEMORY;
}

/* A chain's sizes, and room for its texels. */
static tml_status chain_make(tml_context *tml, uint32_t width, uint32_t height, chain *out)
{
    *out = (chain){.count = tml_mip_level(width, height, 0, NULL, NULL, NULL)};
    for (uint32_t l = 0; l < out->count; l++) {
        tml_mip_level(width, height, l, &out->width[l], &out->height[l], NULL);
        out->texels[l] = malloc((size_t)out->width[l] * out->height[l] * CHANNELS * sizeof(float));
        if (!out->texels[l])
            return no_memory(tml);
    }
    return TML_OK;
}

/* Level 0: the picture without its last column if its width is even, and without its last row if
 * its height is even, so that each level drops some. */
static tml_status load(tml_context *tml, const char *path, chain *out)
{
    tml_picture picture;
    tml_status status = tml_picture_load(tml, path, NULL, &picture);
    if (status)
        return status;
    if (picture.type != TML_F32 || picture.channels != CHANNELS)
        status =
            tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: needs a picture of colours in floats", path);
    if (!status)
        status = chain_make(tml, (picture.width - 1) | 1, (picture.height - 1) | 1, out);
    for (uint32_t y = 0; !status && y < out->height[0]; y++)
        memcpy(out->texels[0] + (size_t)y * out->width[0] * CHANNELS,
               (const float *)picture.data + (size_t)y * picture.width * CHANNELS,
               out->width[0] * CHANNELS * sizeof(float));
    tml_picture_free(tml, &picture);
    return status;
}

static uint64_t texels_of(const chain *c, uint32_t level)
{
    return (uint64_t)c->width[level] * c->height[level] * CHANNELS;
}

static tml_status fill_boxes(tml_context *tml, chain *c)
{
    tml_status status = TML_OK;
    for (uint32_t l = 1; l < c->count && !status; l++) {
        tml_buffer in = {0, 0}, out = {0, 0};
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_F32,
                                                      .count = texels_of(c, l - 1),
                                                      .data = c->texels[l - 1]},
                                   &in);
        if (!status)
            status = tml_buffer_create(
                tml, &(tml_buffer_desc){.type = TML_F32, .count = texels_of(c, l)}, &out);
        if (!status)
            status = papers_box_level(tml, in, c->width[l - 1], c->height[l - 1], CHANNELS, out);
        if (!status)
            status = tml_buffer_read(tml, out, c->texels[l]);
        tml_buffer_destroy(tml, in);
        tml_buffer_destroy(tml, out);
    }
    return status;
}

static tml_status fill_areas(tml_context *tml, chain *c)
{
    tml_buffer in = {0, 0}, out = {0, 0};
    uint64_t texels, first;
    tml_mip_level(c->width[0], c->height[0], c->count, NULL, NULL, &texels);
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_F32, .count = texels_of(c, 0), .data = c->texels[0]},
        &in);
    if (!status)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_F32, .count = texels * CHANNELS}, &out);
    if (!status)
        status = tml_image_mips(tml, &(tml_image_mips_desc){.in = {.buffer = in,
                                                                   .width = c->width[0],
                                                                   .height = c->height[0],
                                                                   .channels = CHANNELS},
                                                            .out = out});
    for (uint32_t l = 1; l < c->count && !status; l++) {
        tml_mip_level(c->width[0], c->height[0], l, NULL, NULL, &first);
        status = tml_buffer_read_range(tml, out, first * CHANNELS, texels_of(c, l), c->texels[l]);
    }
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, out);
    return status;
}

/* The mean becomes a middle grey. */
static float scale_of(const chain *c)
{
    double sum = 0;
    for (uint64_t i = 0; i < texels_of(c, 0); i++)
        sum += (double)c->texels[0][i];
    return sum > 0 && isfinite(sum) ? (float)(0.18 * (double)texels_of(c, 0) / sum) : 1;
}

static tml_status save(tml_context *tml, const char *png, const chain chains[2])
{
    sheet_tile tiles[2 * MOST_LEVELS] = {{NULL, 0, 0}};
    float scale = scale_of(&chains[0]);
    uint32_t first = 0, count = 0;
    tml_status status = TML_OK;
    while (chains[0].width[first] > SIDE || chains[0].height[first] > SIDE)
        first++;
    for (int way = 0; way < 2; way++)
        for (uint32_t l = first; l < chains[way].count && !status; l++) {
            const chain *c = &chains[way];
            sheet_tile *tile = &tiles[count++];
            *tile = (sheet_tile){malloc((size_t)c->width[l] * c->height[l] * 4), c->width[l],
                                 c->height[l]};
            if (!tile->rgba)
                status = no_memory(tml);
            for (uint64_t i = 0; i < texels_of(c, l) / CHANNELS && !status; i++)
                for (uint32_t k = 0; k < 4; k++) {
                    float x = k < 3 ? scale * c->texels[l][CHANNELS * i + k] : 1;
                    tile->rgba[4 * i + k] =
                        (uint8_t)lrintf(255 * color_to_srgb(fminf(fmaxf(x, 0), 1)));
                }
        }
    if (!status)
        status = sheet_save(tml, png, tiles, count, count / 2);
    for (uint32_t i = 0; i < count; i++)
        free(tiles[i].rgba);
    return status;
}

tml_status averages_draw_sheet(tml_context *tml, const char *path, const char *png)
{
    chain chains[2] = {{0}, {0}};
    tml_status status = load(tml, path, &chains[0]);
    if (!status)
        status = chain_make(tml, chains[0].width[0], chains[0].height[0], &chains[1]);
    if (!status && chains[1].texels[0]) {
        memcpy(chains[1].texels[0], chains[0].texels[0], texels_of(&chains[0], 0) * sizeof(float));
        status = fill_boxes(tml, &chains[0]);
    }
    if (!status)
        status = fill_areas(tml, &chains[1]);
    if (!status)
        status = save(tml, png, chains);
    chain_free(&chains[0]);
    chain_free(&chains[1]);
    return status;
}
