/* Mip chains on the CPU: level after level in floats, the rows of a level in parallel. A row is first
 * made of the rows above it, then shortened. */
#include "cpu/cpu_image.h"

#include <string.h>

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

enum { ROWS_A_WORKER = 4 }; /* of the level above: three taps, and what they make */

typedef struct mips_job {
    tml_context *tml;
    const image_mips_plan *plan;
    cpu_image source; /* the picture, or a level in floats */
    cpu_image floats; /* the level, for the next one */
    cpu_image out;
    uint32_t old_width, old_height, width, height;
    cpu_tickets tickets;
    float *rows; /* ROWS_A_WORKER of the picture's width a worker */
    uint64_t row_floats;
} mips_job;

/* ---- a row ----------------------------------------------------------------------------------- */

static void tap_rows(const mips_job *job, uint32_t y, float *rows[ROWS_A_WORKER])
{
    image_taps taps = image_taps_of(job->plan->filter, y, job->old_height);
    const uint32_t numbers[3] = {taps.first, taps.middle, taps.last};
    size_t count = (size_t)job->old_width * job->plan->in.channels;
    for (int k = 0; k < 3; k++)
        cpu_image_decode(&job->source, numbers[k], 0, job->old_width, rows[k]);
    const float *first = rows[0], *middle = rows[1], *last = rows[2];
    float *out = rows[3];
    for (size_t i = 0; i < count; i++)
        out[i] = image_tapped(taps, first[i], middle[i], last[i]);
}

static void tap_columns(const mips_job *job, const float *row, float *out)
{
    uint32_t channels = job->plan->in.channels;
    for (uint32_t x = 0; x < job->width; x++) {
        image_taps taps = image_taps_of(job->plan->filter, x, job->old_width);
        const float *first = row + (size_t)taps.first * channels;
        const float *middle = row + (size_t)taps.middle * channels;
        const float *last = row + (size_t)taps.last * channels;
        for (uint32_t c = 0; c < channels; c++)
            out[(size_t)x * channels + c] = image_tapped(taps, first[c], middle[c], last[c]);
    }
}

/* Texels of the level above that texel i is made of: [*first, end). */
static uint32_t kaiser_reach(uint32_t i, uint32_t old_size, uint32_t *first)
{
    uint64_t begin = 2 * (uint64_t)i, end = begin + IMAGE_KAISER_TAPS - IMAGE_KAISER_BEFORE;
    *first = (uint32_t)(begin > IMAGE_KAISER_BEFORE ? begin - IMAGE_KAISER_BEFORE : 0);
    return (uint32_t)TML_MIN_OF(end, (uint64_t)old_size);
}

static void kaiser_rows(const mips_job *job, uint32_t y, float *rows[ROWS_A_WORKER])
{
    size_t count = (size_t)job->old_width * job->plan->in.channels;
    uint32_t first, end = kaiser_reach(y, job->old_height, &first);
    float total = 0.0f, *out = rows[3];
    memset(out, 0, count * sizeof *out);
    for (uint32_t j = first; j < end; j++) {
        float weight = image_kaiser(y, j, job->old_height);
        if (weight == 0.0f)
            continue;
        total += weight;
        cpu_image_decode(&job->source, j, 0, job->old_width, rows[0]);
        for (size_t i = 0; i < count; i++)
            out[i] += weight * rows[0][i];
    }
    for (size_t i = 0; i < count; i++)
        out[i] /= total;
}

static void kaiser_columns(const mips_job *job, const float *row, float *out)
{
    uint32_t channels = job->plan->in.channels;
    for (uint32_t x = 0; x < job->width; x++) {
        uint32_t first, end = kaiser_reach(x, job->old_width, &first);
        float total = 0.0f, sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (uint32_t j = first; j < end; j++) {
            float weight = image_kaiser(x, j, job->old_width);
            total += weight;
            for (uint32_t c = 0; c < channels && weight != 0.0f; c++)
                sums[c] += weight * row[(size_t)j * channels + c];
        }
        for (uint32_t c = 0; c < channels; c++)
            out[(size_t)x * channels + c] = sums[c] / total;
    }
}

static void mips_worker(void *argument, uint32_t index)
{
    mips_job *job = argument;
    float *rows[ROWS_A_WORKER];
    for (uint32_t k = 0; k < ROWS_A_WORKER; k++)
        rows[k] = job->rows + ((uint64_t)index * ROWS_A_WORKER + k) * job->row_floats;
    uint64_t y;
    while (cpu_take_tile(&job->tickets, &y) && !tml_is_cancelled(job->tml)) {
        if (job->plan->filter == IMAGE_MIP_KAISER) {
            kaiser_rows(job, (uint32_t)y, rows);
            kaiser_columns(job, rows[3], rows[0]);
        } else {
            tap_rows(job, (uint32_t)y, rows);
            tap_columns(job, rows[3], rows[0]);
        }
        cpu_image_encode(&job->floats, y, 0, job->width, rows[0]);
        cpu_image_encode(&job->out, y, 0, job->width, rows[0]);
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Scratch: the rows of the workers, and a level in floats twice over. */
typedef struct mips_scratch {
    float *rows, *levels[2];
} mips_scratch;

static size_t lay_out(tml_context *tml, const image_mips_plan *plan, void *memory,
                      mips_scratch *out)
{
    cpu_arena arena = {.memory = memory};
    uint64_t channels = plan->in.channels, row = plan->in.width * channels;
    uint64_t row_count = (uint64_t)tml_concurrency(tml) * ROWS_A_WORKER;
    out->rows = cpu_arena_take(&arena, row_count, (size_t)row * sizeof(float));
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t width, height;
        tml_mip_level(plan->in.width, plan->in.height, k + 1, &width, &height, NULL);
        out->levels[k] =
            cpu_arena_take(&arena, (uint64_t)width * height, (size_t)channels * sizeof(float));
    }
    return arena.size;
}

static size_t mips_scratch_size(tml_context *tml, const void *argument)
{
    mips_scratch parts;
    return lay_out(tml, argument, NULL, &parts);
}

/* A level in floats without gaps. */
static cpu_image level_of(float *memory, uint32_t width, uint32_t channels)
{
    return (cpu_image){.pixels = (unsigned char *)memory,
                       .channels = channels,
                       .pixel_size = channels * sizeof(float),
                       .row_size = (uint64_t)width * channels * sizeof(float),
                       .type = TML_F32};
}

static tml_status mips_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const image_mips_plan *plan = argument;
    uint32_t channels = plan->in.channels;
    mips_scratch parts;
    mips_job job = {.tml = tml,
                    .plan = plan,
                    .old_width = plan->in.width,
                    .old_height = plan->in.height,
                    .row_floats = (uint64_t)plan->in.width * channels};
    (void)size;
    lay_out(tml, plan, scratch, &parts);
    job.rows = parts.rows;
    cpu_image_bind(tml, &plan->in, &job.source);
    for (uint32_t level = 1; level < plan->levels && !tml_is_cancelled(tml); level++) {
        uint64_t first;
        tml_mip_level(plan->in.width, plan->in.height, level, &job.width, &job.height, &first);
        job.floats = level_of(parts.levels[(level - 1) % 2], job.width, channels);
        const image_view out = {.buffer = plan->out,
                                .type = plan->out_type,
                                .width = job.width,
                                .height = job.height,
                                .channels = channels,
                                .srgb = plan->out_srgb,
                                .first = first * channels,
                                .row_stride = (uint64_t)job.width * channels};
        cpu_image_bind(tml, &out, &job.out);
        cpu_run_tiles(tml, &job.tickets, job.height, mips_worker, &job);
        job.source = job.floats;
        job.old_width = job.width;
        job.old_height = job.height;
    }
    return cpu_finish(tml, "tml_image_mips");
}

const tml_engine_op cpu_op_image_mips = {.scratch_size = mips_scratch_size, .run = mips_run};
