/* tml_image_mips on the CPU. Levels are made in runs of up to RUN_LEVELS. The next run reads the
 * last level of a run, which is the only one that is kept whole as floats. Strips of rows are made
 * in parallel; with KAISER, a strip is divided into blocks of columns. A row of a strip is made as
 * soon as the rows that it needs of the level above are made, while they are in cache. If two
 * strips need a row, both compute it and the first one writes it. No result depends on this
 * division. */
#include "image/cpu/cpu_image_filter.h"

#include <string.h>

enum {
    RUN_LEVELS = 3,     /* for AREA. A run of KAISER has one level, because a row needs many rows */
    STRIP_ROWS = 8,     /* per strip, of a run's last level */
    RING_ROWS = 3,      /* rows kept per level: a row of the next level needs up to 3 */
    BLOCK_TEXELS = 256, /* texels of a new row that are made together */
    KAISER_ROWS = 128,  /* of a tile, at most; it reads twice as many, and more above and below */
    KAISER_ROWS_LEAST = 16,
    KAISER_TEXELS = 512, /* of a tile's row: the rows above stay in the second-level cache */
    ROWS_AHEAD = 4,      /* rows prefetched while earlier ones are summed */
    KAISER_APART = KAISER_TEXELS + CPU_KAISER_MARGIN, /* even or odd texels of a tile */
    KAISER_ABOVE = 2 * KAISER_APART + 16,             /* a power of two would share cache sets */
};

typedef struct mips_level {
    uint32_t old_width, old_height, width, height;
    cpu_image out;
    float *parts[2];         /* for cpu_column_parts; NULL: pairs */
    cpu_kaiser across, down; /* KAISER */
} mips_level;

typedef struct mips_job {
    tml_context *tml;
    const image_mips_plan *plan;
    tml_simd simd;
    cpu_image source; /* the level above the run: the picture, or floats */
    bool is_log;      /* source is the picture, and its logarithms are taken */
    mips_level levels[RUN_LEVELS];
    uint32_t level_count;
    cpu_image floats;            /* the run's last level, read by the next run */
    uint64_t strip_rows, blocks; /* blocks: tiles side by side, for KAISER */
    cpu_tickets tickets;
    unsigned char *spaces; /* space_size bytes per worker */
    size_t space_size;
} mips_job;

/* A worker's scratch memory. */
typedef struct mips_space {
    float *rings[RUN_LEVELS];   /* AREA: RING_ROWS rows of each level of a run */
    float *decoded[3], *joined; /* AREA: a block's texels of three rows above, and of their mean */
    float *rows;                /* KAISER: decoded rows above */
    float *even, *odd;          /* KAISER: even and odd texels of the rows' weighted sum */
    float *shortened;           /* the new row */
} mips_space;

typedef struct mips_strip {
    const mips_job *job;
    mips_space space;
    uint32_t next[RUN_LEVELS];  /* the next row to make of each level; KAISER: the next to decode */
    uint32_t owned[RUN_LEVELS]; /* the end of the rows that this strip writes */
    /* KAISER: the tile's texels [x, x + count), the texels [left, right) above, and their latest
     * rows */
    uint32_t x, count, left, right;
    const float *above[IMAGE_KAISER_TAPS];
} mips_strip;

/* Returns texels [x, x + count) of row y of the level above the run: in place if they are floats,
 * otherwise decoded into block. */
static const float *source_floats(const mips_job *job, uint32_t y, uint32_t x, size_t count,
                                  float *block)
{
    enum { PIECE = 64 };
    const image_mips_plan *plan = job->plan;
    const uint32_t channels = job->source.channels, green = channels > 2 ? 1 : 0;
    if (!job->is_log)
        return cpu_image_floats(&job->source, y, x, count, block);
    for (size_t done = 0; done < count; done += PIECE) {
        float decoded[4 * PIECE];
        size_t n = TML_MIN_OF(count - done, (size_t)PIECE);
        const float *colours = cpu_image_floats(&job->source, y, x + done, n, decoded);
        for (size_t i = 0; i < n; i++, colours += channels)
            block[done + i] =
                image_log_luminance(colours[0], colours[green], colours[2 * green], plan->max_rgb,
                                    plan->weight_r, plan->weight_b, plan->floor);
    }
    return block;
}

/* ---- AREA ------------------------------------------------------------------------------------ */

static float *ring_row(const mips_strip *strip, uint32_t level, uint32_t y)
{
    size_t row = (size_t)strip->job->levels[level].width * strip->job->plan->channels;
    return strip->space.rings[level] + y % RING_ROWS * row;
}

/* As source_floats, for the level above level number level of the run. */
static const float *texels_above(const mips_strip *strip, uint32_t level, uint32_t y, uint32_t x,
                                 size_t count, float *block)
{
    if (level > 0)
        return ring_row(strip, level - 1, y) + (size_t)x * strip->job->plan->channels;
    return source_floats(strip->job, y, x, count, block);
}

/* Makes texels [x, x + count) of a row of level number of the run, from the rows of taps. */
static void make_block(const mips_strip *strip, uint32_t number, image_taps taps, uint32_t x,
                       size_t count, float *out)
{
    const mips_job *job = strip->job;
    const mips_level *level = &job->levels[number];
    uint32_t channels = job->plan->channels, first = level->old_width == 1 ? 0 : 2 * x;
    size_t texels = level->old_width == 1 ? 1 : 2 * count + (level->parts[0] != NULL);
    const uint32_t numbers[3] = {taps.first, taps.middle, taps.last};
    const float *rows[3], *joined = strip->space.joined;
    for (int k = 0; k < 3; k++)
        rows[k] =
            k > 0 && numbers[k] == numbers[k - 1]
                ? rows[k - 1]
                : texels_above(strip, number, numbers[k], first, texels, strip->space.decoded[k]);
    if (!level->parts[0] && texels > 1 && level->old_height > 1 && taps.last == taps.middle) {
        cpu_join_quads(job->simd, channels, rows, count, out);
        return;
    }
    if (level->old_height == 1)
        joined = rows[0];
    else
        cpu_join_rows(job->simd, taps, rows, texels * channels, strip->space.joined);
    if (level->old_width == 1) {
        memcpy(out, joined, channels * sizeof *out);
        return;
    }
    const float *parts[2] = {NULL, NULL};
    for (int k = 0; k < 2 && level->parts[0]; k++)
        parts[k] = level->parts[k] + (size_t)x * channels;
    cpu_join_columns(job->simd, channels, joined, parts, count, out);
}

/* Makes the next row of level number, after the rows above that it needs. */
static void make_row(mips_strip *strip, uint32_t number)
{
    const mips_job *job = strip->job;
    const mips_level *level = &job->levels[number];
    uint32_t y = strip->next[number]++;
    image_taps taps = image_taps_of(y, level->old_height);
    while (number > 0 && strip->next[number - 1] <= taps.last)
        make_row(strip, number - 1);
    float *row = ring_row(strip, number, y);
    for (uint32_t x = 0; x < level->width; x += BLOCK_TEXELS) {
        size_t count = TML_MIN_OF(level->width - x, (uint32_t)BLOCK_TEXELS);
        float *out = row + (size_t)x * job->plan->channels;
        make_block(strip, number, taps, x, count, out);
        if (y >= strip->owned[number])
            continue;
        if (level->out.pixels)
            cpu_image_encode(&level->out, y, x, count, out);
        if (number == job->level_count - 1 && job->floats.pixels)
            cpu_image_encode(&job->floats, y, x, count, out);
    }
}

static void make_strip(mips_strip *strip, uint64_t tile)
{
    const mips_job *job = strip->job;
    for (uint32_t k = 0; k < job->level_count; k++) {
        uint64_t rows = job->strip_rows << (job->level_count - 1 - k);
        strip->next[k] = (uint32_t)(tile * rows);
        strip->owned[k] =
            tile + 1 == job->tickets.count ? job->levels[k].height : (uint32_t)((tile + 1) * rows);
    }
    for (uint32_t k = job->level_count; k-- > 0;) /* the last level's rows make most others */
        while (strip->next[k] < strip->owned[k])
            make_row(strip, k);
}

/* ---- KAISER ---------------------------------------------------------------------------------- */

/* Prefetches the tile's part of row y above. The row lies on another page than the row before, so
 * processors do not predict it. A prefetch beyond the picture does not fault. */
static void prefetch_row(const mips_strip *strip, uint64_t y)
{
    const cpu_image *source = &strip->job->source;
    uintptr_t row = (uintptr_t)source->pixels + y * source->row_size;
    for (size_t at = strip->left * source->pixel_size; at < strip->right * source->pixel_size;
         at += 64)
        __builtin_prefetch((const void *)(row + at));
}

/* Collects the rows above from which row y is made, and their weights. Returns the number of
 * rows. */
static uint32_t gather_rows(mips_strip *strip, uint32_t y, const float *rows[IMAGE_KAISER_TAPS],
                            float weights[IMAGE_KAISER_TAPS])
{
    const mips_job *job = strip->job;
    const mips_level *level = &job->levels[0];
    uint32_t count = 0, column = y;
    if (y >= level->down.alike_first && y < level->down.alike_end)
        column = level->down.alike_first; /* this column stays in cache */
    for (uint32_t tap = level->down.first; tap < level->down.end; tap++) {
        uint32_t j = 2 * y + tap - IMAGE_KAISER_BEFORE;
        weights[count] = level->down.weights[(size_t)tap * level->height + column];
        if (weights[count] == 0.0f)
            continue; /* outside the level or the filter */
        for (; strip->next[0] <= j; strip->next[0]++) {
            uint32_t next = strip->next[0];
            size_t row = next % IMAGE_KAISER_TAPS * KAISER_ABOVE * (size_t)job->plan->channels;
            strip->above[next % IMAGE_KAISER_TAPS] = source_floats(
                job, next, strip->left, strip->right - strip->left, strip->space.rows + row);
            prefetch_row(strip, (uint64_t)next + ROWS_AHEAD);
        }
        rows[count++] = strip->above[j % IMAGE_KAISER_TAPS];
    }
    return count;
}

static void make_kaiser_row(mips_strip *strip, uint32_t y)
{
    const mips_job *job = strip->job;
    const mips_level *level = &job->levels[0];
    const mips_space *space = &strip->space;
    uint32_t channels = job->plan->channels;
    const float *rows[IMAGE_KAISER_TAPS];
    float weights[IMAGE_KAISER_TAPS];
    uint32_t count = gather_rows(strip, y, rows, weights);
    /* even and odd begin IMAGE_KAISER_BEFORE texels before the tile's texels, possibly outside the
     * level */
    size_t skip = (strip->left + IMAGE_KAISER_BEFORE) / 2 - strip->x;
    cpu_weigh_rows(job->simd, channels, count, rows, weights, strip->right - strip->left,
                   space->even + skip * channels, space->odd + skip * channels);
    cpu_weigh_columns(job->simd, channels, &level->across, strip->x, strip->count, space->even,
                      space->odd, space->shortened);
    if (level->out.pixels)
        cpu_image_encode(&level->out, y, strip->x, strip->count, space->shortened);
    if (job->floats.pixels)
        cpu_image_encode(&job->floats, y, strip->x, strip->count, space->shortened);
}

static void make_kaiser_tile(mips_strip *strip, uint64_t tile)
{
    const mips_job *job = strip->job;
    const mips_level *level = &job->levels[0];
    size_t apart = (size_t)KAISER_APART * job->plan->channels;
    uint64_t first = tile / job->blocks * job->strip_rows, end = first + job->strip_rows;
    uint64_t above = 2 * first + level->down.first;
    strip->x = (uint32_t)(tile % job->blocks * KAISER_TEXELS);
    strip->count = TML_MIN_OF(level->width - strip->x, (uint32_t)KAISER_TEXELS);
    strip->left = 2 * strip->x < IMAGE_KAISER_BEFORE ? 0 : 2 * strip->x - IMAGE_KAISER_BEFORE;
    strip->right = TML_MIN_OF(
        2 * (strip->x + strip->count + CPU_KAISER_MARGIN) - IMAGE_KAISER_BEFORE, level->old_width);
    strip->next[0] = (uint32_t)(above < IMAGE_KAISER_BEFORE ? 0 : above - IMAGE_KAISER_BEFORE);
    memset(strip->space.even, 0, apart * sizeof(float));
    memset(strip->space.odd, 0, apart * sizeof(float));
    for (uint64_t y = first; y < TML_MIN_OF(end, (uint64_t)level->height); y++)
        make_kaiser_row(strip, (uint32_t)y);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Lays out a worker's scratch memory, which suffices for every run. Returns its size in bytes. */
static size_t lay_out_space(const image_mips_plan *plan, void *memory, mips_space *out)
{
    cpu_arena arena = {.memory = memory};
    size_t texel = plan->channels * sizeof(float);
    uint64_t width = plan->in.width;
    if (plan->filter == IMAGE_MIP_KAISER) {
        out->rows = cpu_arena_take(&arena, (size_t)KAISER_ABOVE * IMAGE_KAISER_TAPS, texel);
        out->even = cpu_arena_take(&arena, KAISER_APART, texel);
        out->odd = cpu_arena_take(&arena, KAISER_APART, texel);
        out->shortened = cpu_arena_take(&arena, KAISER_TEXELS, texel);
        return arena.size;
    }
    for (uint32_t k = 0; k < RUN_LEVELS; k++)
        out->rings[k] =
            cpu_arena_take(&arena, RING_ROWS * TML_MAX_OF(width >> (k + 1), (uint64_t)1), texel);
    for (uint32_t k = 0; k < 3; k++)
        out->decoded[k] = cpu_arena_take(&arena, 2 * BLOCK_TEXELS + 1, texel);
    out->joined = cpu_arena_take(&arena, 2 * BLOCK_TEXELS + 1, texel);
    return arena.size;
}

static void mips_worker(void *argument, uint32_t index)
{
    mips_job *job = argument;
    mips_strip strip = {.job = job};
    bool is_kaiser = job->plan->filter == IMAGE_MIP_KAISER;
    lay_out_space(job->plan, job->spaces + index * job->space_size, &strip.space);
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        if (is_kaiser)
            make_kaiser_tile(&strip, tile);
        else
            make_strip(&strip, tile);
    }
}

/* Scratch memory of a call: weights of columns and rows, and two buffers for the last levels of
 * runs, in floats. */
typedef struct mips_scratch {
    float *parts[RUN_LEVELS][2], *across, *down, *floats[2];
} mips_scratch;

static size_t cpu_image_mips_lay_out(tml_context *tml, const image_mips_plan *plan, void *memory,
                                     mips_scratch *out, unsigned char **spaces)
{
    cpu_arena arena = {.memory = memory};
    mips_space space;
    uint32_t channels = plan->channels, width, height;
    bool is_kaiser = plan->filter == IMAGE_MIP_KAISER;
    size_t texel = channels * sizeof(float);
    *spaces = cpu_arena_take(&arena, tml_concurrency(tml), lay_out_space(plan, NULL, &space));
    for (uint32_t k = 0; !is_kaiser && k < RUN_LEVELS; k++)
        for (int part = 0; part < 2; part++)
            out->parts[k][part] = cpu_arena_take(&arena, plan->in.width >> (k + 1), texel);
    tml_mip_level(plan->in.width, plan->in.height, 1, &width, &height, NULL);
    if (is_kaiser) {
        out->across = cpu_arena_take(&arena, CPU_KAISER_ROOM(width), texel);
        out->down = cpu_arena_take(&arena, CPU_KAISER_ROOM(height), sizeof(float));
    }
    for (uint32_t k = 0; k < 2; k++) {
        tml_mip_level(plan->in.width, plan->in.height, (k + 1) * (is_kaiser ? 1 : RUN_LEVELS),
                      &width, &height, NULL);
        out->floats[k] = cpu_arena_take(&arena, (uint64_t)width * height, texel);
    }
    return arena.size;
}

static size_t mips_scratch_size(tml_context *tml, const void *argument)
{
    mips_scratch parts;
    unsigned char *spaces;
    return cpu_image_mips_lay_out(tml, argument, NULL, &parts, &spaces);
}

/* Prepares level number of the chain as a level of a run. */
static void prepare_level(const mips_job *job, uint32_t number, float *const parts[2],
                          mips_level *out)
{
    const image_mips_plan *plan = job->plan;
    uint32_t channels = plan->channels;
    tml_mip_level(plan->in.width, plan->in.height, number - 1, &out->old_width, &out->old_height,
                  NULL);
    tml_mip_level(plan->in.width, plan->in.height, number, &out->width, &out->height, NULL);
    const image_view view = {.buffer = plan->out,
                             .type = plan->out_type,
                             .width = out->width,
                             .height = out->height,
                             .channels = channels,
                             .srgb = plan->out_srgb,
                             .first = image_mips_first(plan, number) * channels,
                             .row_stride = (uint64_t)out->width * channels};
    out->out = (cpu_image){0};
    if (!plan->is_last || number + 1 == plan->levels)
        cpu_image_bind(job->tml, &view, &out->out);
    bool has_parts =
        plan->filter == IMAGE_MIP_AREA && out->old_width % 2 == 1 && out->old_width > 1;
    for (int k = 0; k < 2; k++)
        out->parts[k] = has_parts ? parts[k] : NULL;
    if (has_parts)
        cpu_column_parts(out->old_width, channels, parts);
}

/* A level in floats, without gaps between rows. */
static cpu_image level_of(float *memory, uint32_t width, uint32_t channels)
{
    return (cpu_image){.pixels = (unsigned char *)memory,
                       .channels = channels,
                       .pixel_size = channels * sizeof(float),
                       .row_size = (uint64_t)width * channels * sizeof(float),
                       .type = TML_F32};
}

static void run_levels(mips_job *job, uint32_t first, mips_scratch *parts)
{
    const image_mips_plan *plan = job->plan;
    uint32_t channels = plan->channels;
    bool is_kaiser = plan->filter == IMAGE_MIP_KAISER;
    job->level_count = TML_MIN_OF(is_kaiser ? 1u : (uint32_t)RUN_LEVELS, plan->levels - first);
    for (uint32_t k = 0; k < job->level_count; k++)
        prepare_level(job, first + k, parts->parts[k], &job->levels[k]);
    const mips_level *last = &job->levels[job->level_count - 1];
    if (is_kaiser) {
        job->levels[0].across.weights = parts->across;
        job->levels[0].down.weights = parts->down;
        cpu_kaiser_weigh(job->simd, last->old_width, channels, &job->levels[0].across);
        cpu_kaiser_weigh(job->simd, last->old_height, 1, &job->levels[0].down);
    }
    bool is_end = first + job->level_count == plan->levels;
    job->floats = level_of(is_end ? NULL : parts->floats[0], last->width, channels);
    job->blocks = is_kaiser ? TML_CEIL_DIV(last->width, (uint32_t)KAISER_TEXELS) : 1;
    job->strip_rows = is_kaiser ? KAISER_ROWS : STRIP_ROWS;
    while (is_kaiser && job->strip_rows > KAISER_ROWS_LEAST &&
           TML_CEIL_DIV(last->height, job->strip_rows) * job->blocks <
               4 * tml_concurrency(job->tml))
        job->strip_rows /= 2;
    uint64_t tiles = TML_CEIL_DIV(last->height, job->strip_rows) * job->blocks;
    cpu_run_tiles(job->tml, &job->tickets, tiles, mips_worker, job);
    job->source = job->floats;
    job->is_log = false;
    parts->floats[0] = parts->floats[1];
    parts->floats[1] = (float *)job->floats.pixels;
}

static tml_status mips_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const image_mips_plan *plan = argument;
    mips_scratch parts = {0};
    mips_space space;
    mips_job job = {.tml = tml, .plan = plan, .simd = tml_simd_level()};
    (void)size;
    cpu_image_mips_lay_out(tml, plan, scratch, &parts, &job.spaces);
    job.space_size = lay_out_space(plan, NULL, &space);
    cpu_image_bind(tml, &plan->in, &job.source);
    job.is_log = plan->is_log;
    for (uint32_t level = 1; level < plan->levels && !tml_is_cancelled(tml);
         level += job.level_count)
        run_levels(&job, level, &parts);
    return cpu_finish(tml, "tml_image_mips");
}

const tml_engine_op cpu_op_image_mips = {.scratch_size = mips_scratch_size, .run = mips_run};
