/* Mip chains on Vulkan. Where sizes are even, a dispatch makes up to twelve levels
 * (shaders/image_mips.comp). Otherwise a dispatch makes one level, or all remaining levels if these
 * are small (shaders/image_mips_level.comp). Levels pass between dispatches as floats in
 * scratch. */
#include "image/vulkan/vulkan_image.h"

#include "image_vulkan_shaders.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

enum {
    TEXEL = 4 * sizeof(float), /* bytes, in scratch */
    SMALL = 64 * 64,           /* texels of a level from which on one workgroup makes all levels */
    SMALL_KAISER = 32 * 32,    /* fewer, because a texel needs more loads */
};

/* The level that a dispatch reads: the picture, or floats. */
typedef struct mips_source {
    vk_address at;
    uint64_t row_bytes;
    tml_type type;
    uint32_t channels;
    bool srgb, is_floats;
    uint32_t values; /* tml_image_values */
    uint32_t width, height;
    const void *texture; /* NULL: none. Otherwise at and row_bytes are unused */
} mips_source;

typedef struct mips_job {
    tml_context *tml;
    const image_mips_plan *plan;
    bool is_dry; /* dispatches nothing, to find the sizes of scratch memory */
    mips_source from;
    uint32_t made;  /* levels made so far, without level 0 */
    uint64_t first; /* the chain's first texel of the next level */
    /* floats: two buffers, for levels in turn. across: floats between KAISER's passes along x and
     * y. */
    vk_address floats[2], across;
    vk_address states;                 /* a word, for a recording */
    uint64_t floats_size, across_size; /* texels that floats and across hold */
    uint32_t turn;
} mips_job;

static uint32_t left(const mips_job *job)
{
    return job->plan->levels - 1 - job->made;
}

/* The number of texels in the chain before the first one stored. */
static uint32_t skip_of(const image_mips_plan *plan)
{
    return (uint32_t)(0 - image_mips_first(plan, 0));
}

/* How often both sizes can be halved without remainder, up to most times. */
static uint32_t halvings(uint32_t width, uint32_t height, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && ((width | height) >> count & 1) == 0)
        count++;
    return count;
}

/* Returns the floats buffer that does not hold the level before. */
static vk_address take_floats(mips_job *job, uint64_t texels)
{
    job->floats_size = TML_MAX_OF(job->floats_size, texels);
    job->turn ^= 1;
    return job->floats[job->turn];
}

/* Makes the level that is levels further down the next source. floats: its address, if more levels
 * follow. */
static void advance(mips_job *job, uint32_t levels, vk_address floats)
{
    mips_source *from = &job->from;
    for (uint32_t k = 0; k < levels; k++) {
        from->width = TML_MAX_OF(from->width / 2, 1u);
        from->height = TML_MAX_OF(from->height / 2, 1u);
        job->first += (uint64_t)from->width * from->height;
    }
    job->made += levels;
    from->at = floats;
    from->row_bytes = (uint64_t)from->width * TEXEL;
    from->type = TML_F32;
    from->channels = 4;
    from->srgb = false;
    from->values = TML_IMAGE_LINEAR;
    from->is_floats = true;
    from->texture = NULL;
}

static const vk_module *const tile_modules[] = {&vk_shader_image_mips,
                                                &vk_shader_image_mips_sampled};
static const vk_module *const level_modules[] = {&vk_shader_image_mips_level,
                                                 &vk_shader_image_mips_level_sampled};

/* modules: the shader for pictures in buffers, and the one for textures. */
static tml_status dispatch(mips_job *job, const vk_module *const modules[2], const void *args,
                           uint32_t size, uint64_t groups)
{
    if (job->is_dry)
        return TML_OK;
    const mips_source *from = &job->from;
    const image_mips_plan *plan = job->plan;
    uint32_t options = from->is_floats ? IMAGE_IN_FLOATS : 0;
    if (!from->is_floats && plan->is_log)
        options |= IMAGE_AS_LOG | (plan->max_rgb ? IMAGE_WITH_MAX_RGB : 0u);
    if (from->at % 4 == 0 && from->row_bytes % 4 == 0)
        options |= IMAGE_IN_WORDS;
    if (from->at % 16 == 0 && from->row_bytes % 16 == 0)
        options |= IMAGE_IN_QUADS;
    return vk_dispatch(job->tml,
                       &(vk_dispatch_info){.module = modules[from->texture != NULL],
                                           .sampled = from->texture,
                                           .spec_count = 7,
                                           .specs = {vk_image_type(from->type), from->channels,
                                                     vk_image_coding(from->srgb, from->values),
                                                     options, vk_image_type(plan->out_type),
                                                     plan->channels, plan->out_srgb},
                                           .args = args,
                                           .args_size = size,
                                           .groups = groups});
}

/* Makes levels whose sizes are halved without remainder. If the last of them fits one tile, the
 * last workgroup makes further such levels. */
static tml_status make_tiles(mips_job *job, uint32_t levels)
{
    const mips_source from = job->from;
    image_mips_args args = {.in_at = from.at,
                            .out_at = vk_address_of(job->tml, job->plan->out),
                            .row_bytes_low = (uint32_t)from.row_bytes,
                            .row_bytes_high = (uint32_t)(from.row_bytes >> 32),
                            .width = from.width,
                            .height = from.height,
                            .first = (uint32_t)job->first,
                            .levels = levels,
                            .skip = skip_of(job->plan),
                            .weight_r = job->plan->weight_r,
                            .weight_b = job->plan->weight_b,
                            .least = job->plan->floor,
                            .tiles_x = TML_CEIL_DIV(from.width, IMAGE_TILE_SIDE)};
    uint64_t tiles = (uint64_t)args.tiles_x * TML_CEIL_DIV(from.height, IMAGE_TILE_SIDE);
    uint32_t width = from.width >> levels, height = from.height >> levels;
    args.tiles = (uint32_t)tiles;
    args.groups = (uint32_t)TML_MIN_OF(tiles, (uint64_t)VK_IMAGE_GROUPS);
    bool goes_on = left(job) > levels;
    if (goes_on)
        args.floats = take_floats(job, (uint64_t)width * height);
    vk_address last = args.floats;
    if (goes_on && width <= IMAGE_TILE_SIDE && height <= IMAGE_TILE_SIDE)
        args.more_levels =
            halvings(width, height, TML_MIN_OF(left(job) - levels, IMAGE_TILE_LEVELS));
    if (args.more_levels) {
        width >>= args.more_levels;
        height >>= args.more_levels;
        if (left(job) > levels + args.more_levels)
            last = args.more_floats = take_floats(job, (uint64_t)width * height);
    }
    tml_status status = TML_OK;
    if (args.more_levels && !job->is_dry) {
        vk_states states;
        status = vk_take_states(job->tml, 1, job->states, &states);
        args.states = states.words;
        args.clear = states.clear;
        args.clear_count = states.clear_count;
    }
    TML_THEN(status, dispatch(job, tile_modules, &args, sizeof args, args.groups));
    advance(job, levels + args.more_levels, last);
    return status;
}

static uint64_t groups_of(uint64_t count, uint64_t group)
{
    return TML_CEIL_DIV(count, group);
}

/* Makes one level, or all remaining levels if the source is small. */
static tml_status make_levels(mips_job *job)
{
    const mips_source from = job->from;
    bool is_kaiser = job->plan->filter == IMAGE_MIP_KAISER;
    uint32_t small = is_kaiser ? SMALL_KAISER : SMALL;
    bool is_small = (uint64_t)from.width * from.height <= small && left(job) > 1;
    uint32_t width = TML_MAX_OF(from.width / 2, 1u), height = TML_MAX_OF(from.height / 2, 1u);
    uint32_t levels = is_small ? left(job) : 1;
    uint64_t texels = (uint64_t)width * height, across = (uint64_t)width * from.height;
    image_mips_level_args args = {.in_at = from.at,
                                  .out_at = vk_address_of(job->tml, job->plan->out),
                                  .row_bytes_low = (uint32_t)from.row_bytes,
                                  .row_bytes_high = (uint32_t)(from.row_bytes >> 32),
                                  .width = from.width,
                                  .height = from.height,
                                  .first = (uint32_t)job->first,
                                  .levels = levels,
                                  .filter_kind = job->plan->filter,
                                  .skip = skip_of(job->plan),
                                  .weight_r = job->plan->weight_r,
                                  .weight_b = job->plan->weight_b,
                                  .least = job->plan->floor};
    if (is_kaiser) {
        job->across_size = TML_MAX_OF(job->across_size, across);
        args.across = job->across;
    }
    if (left(job) > 1)
        args.floats = take_floats(job, texels);
    if (is_small)
        args.more_floats = take_floats(job, texels);
    vk_address last = args.floats;
    tml_status status = TML_OK;
    if (is_kaiser && !is_small) {
        args.floats = job->across;
        status = dispatch(job, level_modules, &args, sizeof args,
                          groups_of(width, IMAGE_KAISER_SIDE) *
                              groups_of(from.height, IMAGE_KAISER_ACROSS));
        job->from = (mips_source){.at = job->across,
                                  .row_bytes = (uint64_t)width * TEXEL,
                                  .type = TML_F32,
                                  .channels = 4,
                                  .is_floats = true,
                                  .width = width,
                                  .height = from.height};
        args.in_at = job->across;
        args.row_bytes_low = (uint32_t)job->from.row_bytes;
        args.row_bytes_high = (uint32_t)(job->from.row_bytes >> 32);
        args.width = width;
        args.floats = last;
        args.axis = 1;
    }
    uint64_t groups =
        is_kaiser ? groups_of(height, IMAGE_KAISER_SIDE) * groups_of(width, IMAGE_KAISER_ACROSS)
                  : groups_of(texels, VK_GROUP);
    TML_THEN(status, dispatch(job, level_modules, &args, sizeof args, is_small ? 1 : groups));
    job->from.width = from.width;
    job->from.height = from.height;
    advance(job, levels, last);
    return status;
}

static tml_status make_chain(mips_job *job)
{
    const image_view *in = &job->plan->in;
    job->from = (mips_source){.at = in->texture ? 0 : vk_image_at(job->tml, in),
                              .texture = in->texture,
                              .row_bytes = in->row_stride * tml_type_size(in->type),
                              .type = in->type,
                              .channels = in->channels,
                              .srgb = in->srgb,
                              .values = in->values,
                              .width = in->width,
                              .height = in->height};
    tml_status status = TML_OK;
    while (status == TML_OK && left(job) > 0) {
        uint32_t even =
            halvings(job->from.width, job->from.height, TML_MIN_OF(left(job), IMAGE_TILE_LEVELS));
        bool in_tiles = even > 0 && job->plan->filter != IMAGE_MIP_KAISER;
        status = in_tiles ? make_tiles(job, even) : make_levels(job);
    }
    return status;
}

/* Lays out the scratch memory of the chain's dispatches in an arena. */
static mips_job vk_image_mips_lay_out(tml_context *tml, const image_mips_plan *plan,
                                      vk_arena *arena)
{
    mips_job dry = {.tml = tml, .plan = plan, .is_dry = true};
    (void)make_chain(&dry);
    mips_job job = {.tml = tml, .plan = plan};
    job.floats[0] = vk_take(arena, dry.floats_size, TEXEL);
    job.floats[1] = vk_take(arena, dry.floats_size, TEXEL);
    job.across = vk_take(arena, dry.across_size, TEXEL);
    job.states = vk_take(arena, 1, sizeof(uint32_t));
    return job;
}

static bool supports(tml_context *tml, const void *desc)
{
    const image_mips_plan *plan = desc;
    (void)tml;
    return (uint64_t)plan->in.width * plan->in.height <= (uint64_t)1 << 31;
}

static size_t vk_image_mips_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    (void)vk_image_mips_lay_out(tml, desc, &arena);
    return arena.size;
}

static tml_status vk_image_mips_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)size;
    vk_arena arena = vk_arena_of(scratch);
    mips_job job = vk_image_mips_lay_out(tml, desc, &arena);
    return make_chain(&job);
}

const tml_engine_op vk_op_image_mips = {supports, vk_image_mips_scratch_size, vk_image_mips_run};
