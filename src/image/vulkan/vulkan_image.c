/* Images in Vulkan: measuring, exposing and tone-mapping are one dispatch each. */
#include "image/vulkan/vulkan_image.h"
#include "image/image_internal.h"

#include "image_vulkan_shaders.h"

#include <trommel/vulkan.h>

_Static_assert(IMAGE_WITH_LOG == TML_MEASURE_LOG && IMAGE_WITH_MEAN == TML_MEASURE_MEAN &&
                   IMAGE_WITH_HISTOGRAM == TML_MEASURE_HISTOGRAM,
               "the shader stores its options as what was taken");

uint32_t vk_image_type(tml_type scalar)
{
    switch (scalar) {
    case TML_U8:
        return IMAGE_TYPE_U8;
    case TML_U16:
        return IMAGE_TYPE_U16;
    case TML_F16:
        return IMAGE_TYPE_F16;
    default:
        return IMAGE_TYPE_F32;
    }
}

uint32_t vk_image_coding(bool srgb, uint32_t values)
{
    return (uint32_t)srgb | values << 1;
}

vk_address vk_image_at(const tml_context *tml, const image_view *view)
{
    return vk_address_of(tml, view->buffer) + view->first * tml_type_size(view->type);
}

/* The first texel of a texture, in place of an address: x in the lower word, y in the upper one. */
static vk_address vk_image_texel(const image_view *view)
{
    return (uint64_t)view->y << 32 | view->x;
}

/* The end of the memory that may be read. The engine's own buffers have multiples of 256 bytes
 * (vk_take). */
static vk_address end_of(const tml_slot *slot)
{
    uint64_t size = slot->lent ? slot->size : TML_ALIGN_UP(slot->size, (uint64_t)256);
    return vk_slot_address(slot) + size;
}

tml_status vk_image_check_texture(tml_context *tml, const char *call, const char *field,
                                  const tml_image *image, image_view *view, uint32_t *components)
{
    if (!image->vulkan)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s.gl is for another engine; Vulkan reads %s.vulkan", call, field,
                         field);
    view->texture = image->vulkan;
    return vk_sampled_check(tml, call, field, image->vulkan, image->width, image->height,
                            components);
}

/* ---- measure --------------------------------------------------------------------------------- */

enum {
    /* The fewest pixels per invocation: enough to amortise the workgroup's reduction, which takes
     * longer with a histogram. With VK_IMAGE_GROUPS groups an invocation has more. */
    PIXELS_LEAST = 32,
    PIXELS_LEAST_OF_BINS = 64,
    PIECE = 16, /* bytes per load */
};

typedef struct measure_job {
    image_measure_args args;
    uint32_t options, batch;
    uint64_t groups;
    vk_address states; /* for a recording */
} measure_job;

/* Chooses units of 16-byte loads if these hold whole pixels and lie in the buffer, otherwise single
 * pixels. Returns the number of pixels in a unit. */
static uint32_t lay_out_units(const tml_context *tml, const image_view *in, bool has_mask,
                              measure_job *job)
{
    uint64_t pixel = in->channels * tml_type_size(in->type);
    uint64_t row_bytes = in->row_stride * tml_type_size(in->type);
    /* A texture is laid out as if it were a buffer of its own, at address 0. */
    vk_address at = in->texture ? 0 : vk_image_at(tml, in), begin = 0;
    vk_address limit = UINT64_MAX;
    if (!in->texture) {
        const tml_slot *slot = tml_slot_of(tml, in->buffer);
        begin = vk_slot_address(slot);
        limit = end_of(slot);
    }
    uint64_t width = in->width, height = in->height, pixels = width * height;
    uint64_t unit_bytes = in->channels == 3 ? 3 * PIECE : PIECE;
    /* Rows without gaps become one row, except with a mask, which requires x and y. */
    bool is_one_row = !has_mask && (height == 1 || row_bytes == width * pixel);
    if (is_one_row) {
        width = pixels;
        height = 1;
    }
    uint64_t lead_bytes = in->channels == 3 ? 0 : at % PIECE;
    uint64_t row_units = (lead_bytes + width * pixel + unit_bytes - 1) / unit_bytes;
    vk_address end = at - lead_bytes + (height - 1) * row_bytes + row_units * unit_bytes;
    bool is_even = (at - lead_bytes) % PIECE == 0 && lead_bytes % pixel == 0 &&
                   (height == 1 || row_bytes % PIECE == 0);
    bool in_quads = is_even && at - lead_bytes >= begin && end <= limit &&
                    width <= UINT32_MAX - unit_bytes && row_units * height <= UINT32_MAX / 2;
    job->options |= (in_quads ? IMAGE_IN_QUADS : 0u) | (is_one_row ? IMAGE_IN_ONE_ROW : 0u);
    job->args.in_at = in_quads ? at - lead_bytes : at;
    job->args.row_bytes_low = (uint32_t)row_bytes;
    job->args.row_bytes_high = (uint32_t)(row_bytes >> 32);
    if (in->texture) {
        job->args.in_at = vk_image_texel(in);
        job->args.row_bytes_low = in->width;
    }
    job->args.width = (uint32_t)width;
    job->args.height = (uint32_t)height;
    job->args.lead = in_quads ? (uint32_t)(lead_bytes / pixel) : 0;
    job->args.row_units = in_quads ? (uint32_t)row_units : (uint32_t)width;
    return in_quads ? (uint32_t)(unit_bytes / pixel) : 1;
}

/* Lays units out in tiles, as textures lay out texels: a cache line has texels of several rows.
 * Moments depend on the order of the units, so with moments the units stay in a buffer's order.
 * (H100, log mean of 3840 x 2160 of RGBA16F: .093 ms by rows, .037 in tiles, .030 as a buffer.)
 * Returns the number of units. */
static uint64_t lay_out_tiles(const image_view *in, uint64_t units, measure_job *job)
{
    uint64_t across = TML_CEIL_DIV((uint64_t)in->width, (uint64_t)IMAGE_TILE);
    uint64_t down = TML_CEIL_DIV((uint64_t)in->height, (uint64_t)VK_GROUP / IMAGE_TILE);
    if (across * down > INT32_MAX / VK_GROUP)
        return units;
    job->options = (job->options & ~IMAGE_IN_ONE_ROW) | IMAGE_IN_TILES;
    job->args.width = in->width;
    job->args.height = in->height;
    job->args.row_units = (uint32_t)across;
    return across * down * VK_GROUP;
}

static measure_job vk_image_lay_out(const tml_context *tml, const image_measure_plan *plan,
                                    vk_arena *arena)
{
    measure_job job = {.options = plan->what};
    bool has_mask = !tml_buffer_is_none(plan->mask);
    job.options |= (has_mask ? IMAGE_WITH_MASK : 0u) | (plan->max_rgb ? IMAGE_WITH_MAX_RGB : 0u);
    uint32_t unit = lay_out_units(tml, &plan->in, has_mask, &job);
    uint64_t units = (uint64_t)job.args.row_units * job.args.height;
    if (unit == 1 && plan->in.texture && !has_mask && !(plan->what & TML_MEASURE_MEAN))
        units = lay_out_tiles(&plan->in, units, &job);
    /* Loads in flight hide a GPU's memory latency. Software drivers would only compile more
     * code. */
    job.batch = vk_caps_of(tml)->is_software ? 1 : IMAGE_BATCH(unit);
    uint32_t least = plan->what & TML_MEASURE_HISTOGRAM ? PIXELS_LEAST_OF_BINS : PIXELS_LEAST;
    uint64_t step = (uint64_t)VK_GROUP * job.batch; /* units per workgroup and step */
    uint64_t steps_least = TML_MAX_OF(least / (unit * job.batch), 1u);
    uint64_t steps = (units + step * VK_IMAGE_GROUPS - 1) / (step * VK_IMAGE_GROUPS);
    steps = TML_MAX_OF(steps, steps_least);
    job.groups = (units + step * steps - 1) / (step * steps);
    job.args.steps = (uint32_t)steps;
    job.args.groups = (uint32_t)job.groups;
    job.states = vk_take(arena, IMAGE_STATE_WORDS, sizeof(uint32_t));
    if (plan->what & TML_MEASURE_MEAN)
        job.args.records = vk_take(arena, job.groups, 4 * sizeof(float));
    return job;
}

static bool supports_measure(tml_context *tml, const void *desc)
{
    const image_measure_plan *plan = desc;
    (void)tml;
    return (uint64_t)plan->in.width * plan->in.height <= UINT32_MAX;
}

static size_t measure_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    (void)vk_image_lay_out(tml, desc, &arena);
    return arena.size;
}

static tml_status run_measure(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)size;
    const image_measure_plan *plan = desc;
    vk_arena arena = vk_arena_of(scratch);
    measure_job job = vk_image_lay_out(tml, plan, &arena);
    vk_states states;
    tml_status status = vk_take_states(tml, IMAGE_STATE_WORDS, job.states, &states);
    if (status != TML_OK)
        return status;
    job.args.mask = vk_address_of(tml, plan->mask);
    job.args.stats = vk_address_of(tml, plan->stats);
    job.args.states = states.words;
    job.args.clear = states.clear;
    job.args.clear_count = states.clear_count;
    job.args.weight_r = plan->weight_r;
    job.args.weight_b = plan->weight_b;
    job.args.least = plan->floor;
    job.args.histogram_low = plan->histogram_low;
    job.args.bin_log2 = plan->bin_log2;
    job.args.mask_width = plan->mask_width;
    job.args.mask_height = plan->mask_height;
    return vk_dispatch(
        tml, &(vk_dispatch_info){.module = plan->in.texture ? &vk_shader_image_measure_sampled
                                                            : &vk_shader_image_measure,
                                 .sampled = plan->in.texture,
                                 .spec_count = 5,
                                 .specs = {vk_image_type(plan->in.type), plan->in.channels,
                                           vk_image_coding(plan->in.srgb, plan->in.values),
                                           job.options, job.batch},
                                 .args = &job.args,
                                 .args_size = sizeof job.args,
                                 .groups = job.groups});
}

const tml_engine_op vk_op_image_measure = {supports_measure, measure_scratch_size, run_measure};

/* ---- expose ---------------------------------------------------------------------------------- */

static tml_status run_expose(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)scratch;
    (void)size;
    const image_expose_plan *plan = desc;
    const image_expose_settings *s = &plan->settings;
    const image_expose_args args = {.stats = vk_address_of(tml, plan->stats),
                                    .state = vk_address_of(tml, plan->state),
                                    .by = s->by,
                                    .low = s->low,
                                    .high = s->high,
                                    .manual = s->manual,
                                    .log2_key = s->log2_key,
                                    .bias = s->bias,
                                    .limit_low = s->limit_low,
                                    .limit_high = s->limit_high,
                                    .speed_up = s->speed_up,
                                    .speed_down = s->speed_down,
                                    .seconds = s->seconds,
                                    .reset = s->reset};
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_image_expose,
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = 1});
}

const tml_engine_op vk_op_image_expose = {.run = run_expose};

/* ---- tone-map -------------------------------------------------------------------------------- */

/* Four pixels fill whole words for any type and number of channels. */
enum { TONEMAP_PIXELS = 4 };

static bool supports_tonemap(tml_context *tml, const void *desc)
{
    const image_tonemap_plan *plan = desc;
    (void)tml;
    return (uint64_t)plan->in.width * plan->in.height < UINT32_MAX - TONEMAP_PIXELS;
}

static uint64_t row_bytes_of(const image_view *view)
{
    return view->row_stride * tml_type_size(view->type);
}

/* Returns whether all rows begin at multiples of size bytes. */
static bool rows_are_at(const tml_context *tml, const image_view *view, uint64_t size)
{
    return vk_image_at(tml, view) % size == 0 && row_bytes_of(view) % size == 0;
}

static bool has_gaps(const image_view *view)
{
    return view->row_stride != (uint64_t)view->width * view->channels;
}

static tml_status run_tonemap(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)scratch;
    (void)size;
    const image_tonemap_plan *plan = desc;
    image_view in = plan->in, out = plan->out;
    if (!has_gaps(&in) && !has_gaps(&out)) { /* treats all rows as one */
        in.width *= in.height;
        out.width = in.width;
        in.height = out.height = 1;
        in.row_stride = out.row_stride = 0;
    }
    uint64_t in_row = row_bytes_of(&in), out_row = row_bytes_of(&out);
    uint32_t row_pieces = TML_CEIL_DIV(in.width, TONEMAP_PIXELS);
    const image_tonemap_args args = {.in_at = vk_image_at(tml, &in),
                                     .out_at = vk_image_at(tml, &out),
                                     .state = vk_address_of(tml, plan->state),
                                     .in_row_low = (uint32_t)in_row,
                                     .in_row_high = (uint32_t)(in_row >> 32),
                                     .out_row_low = (uint32_t)out_row,
                                     .out_row_high = (uint32_t)(out_row >> 32),
                                     .width = in.width,
                                     .height = in.height,
                                     .row_pieces = row_pieces,
                                     .scale = plan->scale,
                                     .white = plan->white};
    uint32_t options = 0;
    if (rows_are_at(tml, &in, 4) && rows_are_at(tml, &out, 4))
        options |= IMAGE_IN_WORDS | (rows_are_at(tml, &in, 16) ? IMAGE_IN_QUADS : 0u) |
                   (rows_are_at(tml, &out, 16) ? IMAGE_OUT_QUADS : 0u);
    uint64_t pieces = (uint64_t)row_pieces * in.height;
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_image_tonemap,
                                                .spec_count = 8,
                                                .specs = {vk_image_type(in.type), in.channels,
                                                          vk_image_coding(in.srgb, in.values),
                                                          options, vk_image_type(out.type),
                                                          out.channels, out.srgb, plan->tone},
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = TML_CEIL_DIV(pieces, VK_GROUP)});
}

const tml_engine_op vk_op_image_tonemap = {supports_tonemap, NULL, run_tonemap};
