/* tml_image_tonemap on the CPU: rows in parallel, a block of pixels at a time. */
#include "image/cpu/cpu_image.h"

#include <string.h>

#include "kernels/kernel.h"

#include "kernels/image_tone.k.h"

#include "kernels/kernel_end.h"

ALWAYS_INLINE void curve(uint32_t tone, float scale, float white, size_t count, float *restrict red,
                         float *restrict green, float *restrict blue)
{
    for (size_t i = 0; i < count; i++) {
        tml_vec3 c = tml_make3(image_exposed(red[i], scale), image_exposed(green[i], scale),
                               image_exposed(blue[i], scale));
        c = image_tone(tone, c, white);
        red[i] = c.x;
        green[i] = c.y;
        blue[i] = c.z;
    }
}

/* Calls curve with tone as a constant, so that its loop does not branch on it. */
ALWAYS_INLINE void any_curve(uint32_t tone, float scale, float white, size_t count,
                             float *planes[3])
{
#define CURVE(kind) curve(kind, scale, white, count, planes[0], planes[1], planes[2])
    switch (tone) {
    case IMAGE_TONE_REINHARD:
        CURVE(IMAGE_TONE_REINHARD);
        break;
    case IMAGE_TONE_REINHARD_EXTENDED:
        CURVE(IMAGE_TONE_REINHARD_EXTENDED);
        break;
    case IMAGE_TONE_HABLE:
        CURVE(IMAGE_TONE_HABLE);
        break;
    case IMAGE_TONE_ACES_FIT:
        CURVE(IMAGE_TONE_ACES_FIT);
        break;
    case IMAGE_TONE_AGX:
        CURVE(IMAGE_TONE_AGX);
        break;
    case IMAGE_TONE_NEUTRAL:
        CURVE(IMAGE_TONE_NEUTRAL);
        break;
    default:
        CURVE(IMAGE_TONE_SRGB);
    }
}

/* SIMD_FLAT inlines all calls. Compilers would otherwise call the longest formula, and do not
 * vectorise a loop with a call. */
SIMD_INSTANTIATE(SIMD_FLAT void, any_curve,
                 (uint32_t tone, float scale, float white, size_t count, float *planes[3]),
                 any_curve(tone, scale, white, count, planes))

typedef void (*curve_fn)(uint32_t tone, float scale, float white, size_t count, float *planes[3]);
static const curve_fn curve_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(any_curve);

/* Replaces the first plane by the luminance of the tone-mapped colours. */
ALWAYS_INLINE void grey(size_t count, float *planes[3])
{
    float *restrict red = planes[0];
    const float *restrict green = planes[1], *restrict blue = planes[2];
    for (size_t i = 0; i < count; i++)
        red[i] = image_tone_luminance(tml_make3(red[i], green[i], blue[i]));
}

SIMD_INSTANTIATE(void, grey, (size_t count, float *planes[3]), grey(count, planes))

typedef void (*grey_fn)(size_t count, float *planes[3]);
static const grey_fn grey_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(grey);

typedef struct tonemap_job {
    tml_context *tml;
    const image_tonemap_plan *plan;
    cpu_image in, out;
    curve_fn curve;
    float scale;
    cpu_tickets tickets;
} tonemap_job;

static void tonemap_block(const tonemap_job *job, uint64_t y, uint64_t x, size_t count,
                          cpu_image_space *space)
{
    const image_tonemap_plan *plan = job->plan;
    uint32_t channels = plan->in.channels;
    float *planes[3] = {space->planes[0], space->planes[1], space->planes[2]};
    size_t size = count * sizeof(float);
    cpu_image_load(&job->in, y, x, count, channels, space, 0);
    if (channels == 2)
        memcpy(space->planes[3], space->planes[1], size);
    for (size_t i = 0; channels % 2 == 1 && i < count; i++)
        space->planes[3][i] = 1.0f;
    if (channels < 3) {
        memcpy(planes[1], planes[0], size);
        memcpy(planes[2], planes[0], size);
    }
    job->curve(plan->tone, job->scale, plan->white, count, planes);
    if (plan->out.channels == 1)
        grey_for[job->out.level](count, planes);
    cpu_image_store(&job->out, y, x, count, space);
}

static void tonemap_worker(void *argument, uint32_t index)
{
    tonemap_job *job = argument;
    cpu_image_space space;
    uint64_t y, width = job->plan->in.width;
    (void)index;
    while (cpu_take_tile(&job->tickets, &y) && !tml_is_cancelled(job->tml))
        for (uint64_t x = 0; x < width; x += IMAGE_BLOCK)
            tonemap_block(job, y, x, (size_t)TML_MIN_OF(width - x, (uint64_t)IMAGE_BLOCK), &space);
}

static tml_status tonemap_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const image_tonemap_plan *plan = argument;
    const float *state = cpu_memory(tml, plan->state);
    tonemap_job job = {.tml = tml, .plan = plan, .curve = curve_for[tml_simd_level()]};
    (void)scratch;
    (void)size;
    job.scale = state ? plan->scale * state[TML_EXPOSURE_SCALE] : plan->scale;
    cpu_image_bind(tml, &plan->in, &job.in);
    cpu_image_bind(tml, &plan->out, &job.out);
    cpu_run_tiles(tml, &job.tickets, plan->in.height, tonemap_worker, &job);
    return cpu_finish(tml, "tml_image_tonemap");
}

const tml_engine_op cpu_op_image_tonemap = {.run = tonemap_run};
