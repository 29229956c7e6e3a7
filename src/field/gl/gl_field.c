/* Field on OpenGL ES: marks the bricks whose bins have points, then gathers points for sixteen
 * samples per fragment, and copies the samples to words. */
#include <math.h>
#include <stdio.h>

#include "field/field_internal.h"
#include "field_gl_shaders.h"
#include "gl/gl_parts.h"

enum {
    /* Some drivers end long loops. They count the iterations of eight fragments that run together,
     * and each of the eight may find its points in different iterations. */
    FRAGMENTS_TOGETHER = 8,
    LEAST_WINDOW = 1024,
    /* Samples of a fragment along an axis, at most. */
    FRAGMENT_SAMPLES = 4,
    /* Samples evaluated before they are copied. Bounds the temporary textures. */
    CHUNK_SAMPLES = 1 << 24,
};

typedef struct field_job {
    tml_context *tml;
    const field_plan *plan;
    const gl_texture *out, *points, *near_bricks;
    const gl_texture *rows[2][4]; /* quads of samples; windows alternate between the two sets */
    uint64_t quads_x, groups_y;
    uint64_t bricks[3];
    uint64_t window, window_count;
} field_job;

/* The most bins along an axis that a fragment's support can touch. */
static uint64_t most_bins_along(const field_level *level, int axis)
{
    double samples = 2 * ceil(level->support[axis]) + FRAGMENT_SAMPLES;
    double bins = samples / (double)((uint64_t)1 << level->edge_log2) + 2;
    return bins < (double)level->bins[axis] ? (uint64_t)bins : level->bins[axis];
}

/* The most points of a level that a fragment's support can meet in bins_near bins. */
static uint64_t most_points(const field_plan *plan, const field_level *level, uint64_t bins_near)
{
    if (!plan->starts) /* only the device knows the bins */
        return plan->point_count;
    uint64_t end = level->first_bin + level->bins[0] * level->bins[1] * level->bins[2], most = 0;
    for (uint64_t b = level->first_bin; b < end; b++)
        most = TML_MAX_OF(most, plan->starts[b + 1] - plan->starts[b]);
    return TML_MIN_OF(most * bins_near, plan->starts[end] - plan->starts[level->first_bin]);
}

/* Sets window, the points that a fragment adds in a draw at most, and the number of such draws. */
static tml_status plan_windows(field_job *job)
{
    const field_plan *plan = job->plan;
    const uint64_t limit = gl_loop_limit(job->tml);
    uint64_t bins = 0, points = 0;
    job->window = UINT32_MAX;
    job->window_count = 1;
    if (limit == 0)
        return TML_OK;
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const field_level *level = &plan->levels[l];
        uint64_t near = 1;
        for (int a = 0; a < 3; a++)
            near *= most_bins_along(level, a);
        bins += 3 * near; /* loop iterations over bins, rows of bins and layers of bins */
        points += most_points(plan, level, near);
    }
    points = TML_MIN_OF(points, plan->point_count);
    const uint64_t most_bins = limit - FRAGMENTS_TOGETHER * LEAST_WINDOW;
    if (bins > most_bins)
        return tml_error(
            job->tml, TML_ERROR_UNSUPPORTED,
            "tml_field: a sample looks into up to %llu bins, with this driver into %llu "
            "at most; make the grid's spacings more alike",
            (unsigned long long)bins / 3, (unsigned long long)most_bins / 3);
    job->window = (limit - bins) / FRAGMENTS_TOGETHER;
    job->window_count = TML_MAX_OF(TML_CEIL_DIV(points, job->window), (uint64_t)1);
    return TML_OK;
}

static tml_status take_points(field_job *job)
{
    tml_context *tml = job->tml;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, job->plan->point_count, &job->points);
    if (status != TML_OK)
        return status;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_quads_of_words,
                            .inputs = {{"words", gl_texture_of(tml, job->plan->device.points)}},
                            .targets = {job->points},
                            .count = job->plan->point_count,
                        });
}

static tml_status find_bricks(field_job *job)
{
    const field_plan *plan = job->plan;
    uint64_t count = job->bricks[0] * job->bricks[1] * job->bricks[2];
    tml_status status = gl_temporary(job->tml, GL_FORMAT_WORDS, count, &job->near_bricks);
    if (status != TML_OK)
        return status;
    return gl_draw(job->tml,
                   &(gl_draw_info){
                       .shader = &gl_shader_field_bricks,
                       .inputs = {{"starts", gl_texture_of(job->tml, plan->device.starts)},
                                  {"plan", gl_texture_of(job->tml, plan->device.words)}},
                       .uniforms = {GL_UINT("level_count", plan->level_count),
                                    gl_divisor("bricks_x", job->bricks[0]),
                                    gl_divisor("bricks_y", job->bricks[1])},
                       .targets = {job->near_bricks},
                       .count = count,
                   });
}

/* Adds the window's points to layers [z_first, z_first + z_count). */
static tml_status gather_window(const field_job *job, uint64_t z_first, uint64_t z_count,
                                uint64_t window)
{
    tml_context *tml = job->tml;
    const field_plan *plan = job->plan;
    bool is_sheared = plan->frame.xy != 0 || plan->frame.xz != 0 || plan->frame.yz != 0;
    bool has_densities = FIELD_HAS_WEIGHTS && !tml_buffer_is_none(plan->device.densities);
    bool has_shapes = FIELD_HAS_WEIGHTS && !tml_buffer_is_none(plan->device.shapes);
    char defines[96];
    snprintf(defines, sizeof defines, "#define FORMULA %d\n%s%s%s", plan->formula,
             is_sheared && !has_shapes ? "#define SHEARED\n" : "",
             has_shapes      ? "#define SHAPES\n"
             : has_densities ? "#define DENSITIES\n"
                             : "",
             window > 0 ? "#define LATER\n" : "");
    const gl_texture *const *to = job->rows[window & 1], *const *before = job->rows[~window & 1];
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_field,
                            .defines = defines,
                            .inputs = {{"starts", gl_texture_of(tml, plan->device.starts)},
                                       {"plan", gl_texture_of(tml, plan->device.words)},
                                       {"points", job->points},
                                       {has_shapes ? "shapes" : "densities",
                                        gl_texture_of(tml, has_shapes ? plan->device.shapes
                                                                      : plan->device.densities)},
                                       {"near_bricks", job->near_bricks},
                                       {"before0", before[0]},
                                       {"before1", before[1]},
                                       {"before2", before[2]},
                                       {"before3", before[3]}},
                            .uniforms = {GL_UINT("level_count", plan->level_count),
                                         gl_divisor("quads_x", job->quads_x),
                                         gl_divisor("groups_y", job->groups_y),
                                         GL_UINT("bricks_x", (uint32_t)job->bricks[0]),
                                         GL_UINT("bricks_y", (uint32_t)job->bricks[1]),
                                         GL_UINT("z_first", (uint32_t)z_first),
                                         GL_UINT2("window", (uint32_t)(window * job->window),
                                                  (uint32_t)((window + 1) * job->window)),
                                         GL_FLOAT3("straight", (float)plan->frame.xx,
                                                   (float)plan->frame.yy, (float)plan->frame.zz),
                                         GL_FLOAT3("shear", (float)plan->frame.xy,
                                                   (float)plan->frame.xz, (float)plan->frame.yz),
                                         GL_FLOAT3("extent", (float)plan->extent[0],
                                                   (float)plan->extent[1], (float)plan->extent[2]),
                                         GL_FLOAT1("background", plan->background),
                                         GL_FLOAT1("margin", plan->margin)},
                            .targets = {to[0], to[1], to[2], to[3]},
                            .count = job->quads_x * job->groups_y * z_count,
                        });
}

/* Copies the layers' samples from quads to words. */
static tml_status place_samples(const field_job *job, uint64_t z_first, uint64_t z_count)
{
    const uint64_t *dims = job->plan->dims;
    const gl_texture *const *rows = job->rows[(job->window_count - 1) & 1];
    uint64_t first = z_first * dims[0] * dims[1];
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_field_words,
            .inputs = {{"row0", rows[0]}, {"row1", rows[1]}, {"row2", rows[2]}, {"row3", rows[3]}},
            .uniforms = {gl_divisor("dims_x", dims[0]), gl_divisor("dims_y", dims[1]),
                         GL_UINT("quads_x", (uint32_t)job->quads_x),
                         GL_UINT("groups_y", (uint32_t)job->groups_y),
                         GL_UINT("first", (uint32_t)first)},
            .targets = {job->out},
            .first = first,
            .count = z_count * dims[0] * dims[1],
        });
}

static void gl_field_release(const field_job *job)
{
    gl_release(job->tml, job->points);
    gl_release(job->tml, job->near_bricks);
    for (int i = 0; i < 8; i++)
        gl_release(job->tml, job->rows[i / 4][i % 4]);
}

tml_status gl_field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first,
                         uint64_t z_count, void *out)
{
    assert(z_first == 0 && z_count == plan->dims[2]);
    (void)z_first;
    field_job job = {.tml = tml,
                     .plan = plan,
                     .out = out,
                     .quads_x = (plan->dims[0] + 3) / 4,
                     .groups_y = (plan->dims[1] + 3) / 4};
    for (int a = 0; a < 3; a++)
        job.bricks[a] = field_bricks_along(plan->dims[a]);
    uint64_t slice = job.quads_x * job.groups_y;
    uint64_t slices = TML_MAX_OF((uint64_t)CHUNK_SAMPLES / (16 * slice), (uint64_t)1);
    slices = TML_MIN_OF(slices, z_count);
    tml_status status = plan_windows(&job);
    for (int i = 0; i < (job.window_count > 1 ? 8 : 4) && status == TML_OK; i++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, slice * slices, &job.rows[i / 4][i % 4]);
    TML_THEN(status, take_points(&job));
    TML_THEN(status, find_bricks(&job));
    for (uint64_t z = 0; z < z_count && status == TML_OK; z += slices) {
        uint64_t count = TML_MIN_OF(slices, z_count - z);
        for (uint64_t window = 0; window < job.window_count && status == TML_OK; window++)
            status = gather_window(&job, z, count, window);
        TML_THEN(status, place_samples(&job, z, count));
    }
    gl_field_release(&job);
    return status;
}

/* ---- the operation --------------------------------------------------------------------------- */

static bool field_supports(tml_context *tml, const field_plan *plan)
{
    (void)tml;
    (void)plan;
    return true;
}

static tml_status field_run(tml_context *tml, const field_plan *plan)
{
    if (!tml_progress(tml, "field", 0.0))
        return tml_error(tml, TML_ERROR_CANCELLED,
                         "tml_field: cancelled; its outputs are undefined");
    tml_status status =
        gl_field_slab(tml, plan, 0, plan->dims[2], (void *)gl_texture_of(tml, plan->out));
    (void)!tml_progress(tml, "field", 1.0);
    return status;
}

GL_OP(field, field_plan, field_supports, field_run)
