/* tml_image_measure on OpenGL ES. A draw over the picture's tiles reads each pixel once. It writes
 * a small record per tile and, for the histogram, the pixels' bins. Further draws join 64 records
 * into one, until one is left.
 *
 * The histogram is gathered, because OpenGL ES does not blend integers. A fragment counts the
 * pixels of a few tiles in 16 bins, which are the bytes of one quad. (With a mask: weights in 8
 * bins, as halves.) Further draws add 64 of these histograms into one. Measured dead end: fragments
 * for 64 bins, with four targets, take more than twice as long on llvmpipe, whose registers
 * spill. */
#include "image/gl/gl_image.h"

#include <stdio.h>

#include "image_gl_shaders.h"

enum {
    FAN = 64,         /* records or histograms per joining fragment */
    TILE = 32,        /* pixels; a count in a tile's record has six bits */
    TILE_MASKED = 16, /* fewer, because a pixel's bin and weight are two bytes */
    /* Tiles per counting fragment: 224 pixels, whose count fits a byte; with a mask 240 pixels,
     * whose sum of weights fits 16 bits. */
    CHUNK_TILES = 7,
    CHUNK_TILES_MASKED = 15,
    RECORD_QUADS = 4,
    DEFINES = GL_IMAGE_DEFINES + 160,
};

typedef struct measure_job {
    tml_context *tml;
    const image_measure_plan *plan;
    bool is_masked, has_histogram;
    uint64_t tiles;
    uint64_t slots; /* bytes in all chunks for the pixels' bins, including unused ones */
    /* Not yet joined: records (a tile's has two quads); histograms, as words of bins. */
    const gl_texture *records[RECORD_QUADS], *bins[2];
} measure_job;

static bool measures(const measure_job *job, uint32_t what)
{
    return (job->plan->what & what) != 0;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static tml_status take_tiles(measure_job *job)
{
    const image_measure_plan *plan = job->plan;
    tml_context *tml = job->tml;
    uint32_t tile = job->is_masked ? TILE_MASKED : TILE;
    uint64_t width = plan->in.width, height = plan->in.height;
    bool is_flat = height < tile;
    uint64_t columns = is_flat ? TML_CEIL_DIV(width, tile) : width;
    uint64_t rows = is_flat ? height : TML_CEIL_DIV(height, tile);
    gl_picture picture;
    gl_picture_of(tml, &plan->in, &picture);
    char defines[DEFINES];
    snprintf(defines, sizeof defines, "%s#define TILE %uu\n%s%s%s%s%s", picture.defines, tile,
             plan->max_rgb ? "#define MAX_RGB\n" : "", job->is_masked ? "#define MASKED\n" : "",
             measures(job, TML_MEASURE_LOG) ? "#define DOES_LOG\n" : "",
             measures(job, TML_MEASURE_MEAN) ? "#define DOES_MEAN\n" : "",
             job->has_histogram ? "#define HISTOGRAM\n" : "");
    job->tiles = columns * rows;
    tml_status status = TML_OK;
    for (int i = 0; i < 2 && status == TML_OK; i++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, job->tiles, &job->records[i]);
    for (int i = 0; i < 2 && job->has_histogram && status == TML_OK; i++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, job->tiles, &job->bins[i]);
    if (status != TML_OK)
        return status;
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_image_tiles,
                 .defines = defines,
                 .inputs = {picture.input, {"mask", gl_texture_of(tml, plan->mask)}},
                 .uniforms = {picture.size, picture.rows, gl_divisor("columns", columns),
                              GL_UINT2("pixel_step", is_flat ? (uint32_t)columns : 0, !is_flat),
                              GL_UINT("rows_of_tile", is_flat ? 1 : tile),
                              GL_FLOAT2("weights", plan->weight_r, plan->weight_b),
                              GL_FLOAT1("least_counted", plan->floor),
                              GL_INT1("histogram_low", plan->histogram_low),
                              GL_UINT("bin_log2", plan->bin_log2),
                              GL_UINT2("mask_size", plan->mask_width, plan->mask_height)},
                 .targets = {job->records[0], job->records[1], job->bins[0], job->bins[1]},
                 .count = job->tiles,
             });
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Allocates count textures to[], and replaces from[] by these. Releases the old ones, which the
 * next draw still reads. */
static tml_status take_others(measure_job *job, uint64_t texels, const gl_texture **from,
                              const gl_texture **to, int count)
{
    for (int i = 0; i < count; i++) {
        tml_status status = gl_temporary(job->tml, GL_FORMAT_QUADS, texels, &to[i]);
        if (status != TML_OK)
            return status;
    }
    for (int i = 0; i < count; i++) {
        gl_release(job->tml, from[i]);
        from[i] = to[i];
    }
    return TML_OK;
}

static tml_status join_records(measure_job *job)
{
    uint64_t count = job->tiles, left;
    for (bool first = true; first || count > 1; first = false, count = left) {
        const gl_texture *const *r = job->records;
        gl_input inputs[] = {
            {"records0", r[0]}, {"records1", r[1]}, {"records2", r[2]}, {"records3", r[3]}};
        const gl_texture *to[RECORD_QUADS];
        left = TML_CEIL_DIV(count, FAN);
        tml_status status = take_others(job, left, job->records, to, RECORD_QUADS);
        TML_THEN(status,
                 gl_draw(job->tml, &(gl_draw_info){
                                       .shader = &gl_shader_image_fold,
                                       .defines = first ? "#define FROM_TILES\n" : NULL,
                                       .inputs = {inputs[0], inputs[1], inputs[2], inputs[3]},
                                       .uniforms = {GL_UINT("record_count", (uint32_t)count),
                                                    GL_UINT("apart", (uint32_t)left)},
                                       .targets = {to[0], to[1], to[2], to[3]},
                                       .count = left,
                                   }));
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* Counts the pixels' bins into one histogram per chunk of tiles. */
static tml_status count_bins(measure_job *job, uint64_t *chunks)
{
    uint32_t chunk = job->is_masked ? CHUNK_TILES_MASKED : CHUNK_TILES;
    uint32_t quads = job->is_masked ? 32 : 16;
    *chunks = TML_CEIL_DIV(job->tiles, chunk);
    job->slots = job->is_masked ? 0 : *chunks * chunk * TILE;
    const gl_texture *counts;
    tml_status status = gl_temporary(job->tml, GL_FORMAT_QUADS, *chunks * quads, &counts);
    if (status != TML_OK)
        return status;
    char defines[64];
    snprintf(defines, sizeof defines, "#define CHUNK %uu\n%s", chunk,
             job->is_masked ? "#define MASKED\n" : "");
    status = gl_draw(job->tml, &(gl_draw_info){
                                   .shader = &gl_shader_image_bins,
                                   .defines = defines,
                                   .inputs = {{"bins0", job->bins[0]}, {"bins1", job->bins[1]}},
                                   .uniforms = {GL_UINT("tile_count", (uint32_t)job->tiles)},
                                   .targets = {counts},
                                   .count = *chunks * quads,
                               });
    gl_release(job->tml, job->bins[0]);
    gl_release(job->tml, job->bins[1]);
    job->bins[0] = counts;
    job->bins[1] = NULL;
    return status;
}

static tml_status add_histograms(measure_job *job, uint64_t count)
{
    uint64_t left;
    for (bool first = true; first || count > 1; first = false, count = left) {
        gl_input lows = {"lows", job->bins[0]}, highs = {"highs", job->bins[1]};
        const gl_texture *to[2];
        left = TML_CEIL_DIV(count, FAN);
        tml_status status =
            take_others(job, left * TML_HISTOGRAM_BINS / 4, job->bins, to, TML_ARRAY_SIZE(to));
        const char *defines =
            job->is_masked ? "#define FROM_CHUNKS\n#define MASKED\n" : "#define FROM_CHUNKS\n";
        TML_THEN(status,
                 gl_draw(job->tml, &(gl_draw_info){
                                       .shader = &gl_shader_image_bins_fold,
                                       .defines = first ? defines : NULL,
                                       .inputs = {lows, highs},
                                       .uniforms = {GL_UINT("histogram_count", (uint32_t)count),
                                                    GL_UINT("apart", (uint32_t)left)},
                                       .targets = {to[0], to[1]},
                                       .count = left * TML_HISTOGRAM_BINS / 4,
                                   }));
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* ---- the operation --------------------------------------------------------------------------- */

static tml_status write_stats(const measure_job *job)
{
    const image_measure_plan *plan = job->plan;
    const gl_texture *const *r = job->records;
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_image_stats,
            .inputs = {{"records0", r[0]},
                       {"records1", r[1]},
                       {"records2", r[2]},
                       {"records3", r[3]},
                       {"lows", job->bins[0]},
                       {"highs", job->bins[1]}},
            .uniforms = {GL_UINT("what", plan->what), GL_INT1("histogram_low", plan->histogram_low),
                         GL_UINT("bin_log2", plan->bin_log2),
                         GL_FLOAT1("least_counted", plan->floor),
                         GL_UINT2("slots", (uint32_t)job->slots, (uint32_t)(job->slots >> 32))},
            .targets = {gl_texture_of(job->tml, plan->stats)},
            .count = TML_IMAGE_STATS_WORDS,
        });
}

static bool image_measure_supports(tml_context *tml, const image_measure_plan *plan)
{
    return gl_image_check(tml, "tml_image_measure", "desc.image", &plan->in) == TML_OK;
}

static tml_status image_measure_run(tml_context *tml, const image_measure_plan *plan)
{
    measure_job job = {.tml = tml,
                       .plan = plan,
                       .is_masked = !tml_buffer_is_none(plan->mask),
                       .has_histogram = (plan->what & TML_MEASURE_HISTOGRAM) != 0};
    uint64_t chunks = 0;
    tml_status status = take_tiles(&job);
    TML_THEN(status, join_records(&job));
    if (status == TML_OK && job.has_histogram)
        status = count_bins(&job, &chunks);
    if (status == TML_OK && job.has_histogram)
        status = add_histograms(&job, chunks);
    return status == TML_OK ? write_stats(&job) : status;
}

GL_OP(image_measure, image_measure_plan, image_measure_supports, image_measure_run)
