/* Field on Vulkan: one pass over all bricks lists those whose bins have points, and fills the
 * others with background. Then one workgroup per listed brick gathers its points. */
#include <string.h>

#include "field/field_internal.h"
#include "vulkan/vulkan_parts.h"

#include "kernels/kernel.h"

#include "kernels/field.k.h"
#include "kernels/field_args.k.h"

#include "kernels/kernel_end.h"

#include "field_vulkan_shaders.h"

enum {
    BRICKS_A_GROUP = VK_GROUP / FIELD_BRICK, /* of field_bricks.comp, along x */
    MAX_SIDE_LOG2 = 28,                      /* shaders add supports to positions in 32 bits */
    /* Where the driver limits loop iterations, a dispatch adds at most a quarter of the limit as
     * points to a brick: finding the points needs iterations, too. */
    WINDOWS_A_LIMIT = 4,
    MOST_GROUPS = 1 << 14, /* of field.comp: several times what a GPU runs at a time */
};

static bool has_shapes(const field_plan *plan)
{
    return !tml_buffer_is_none(plan->device.shapes);
}

/* The array that the points have besides positions: shapes, densities, or none. */
static vk_address shares_of(const tml_context *tml, const field_plan *plan)
{
    return vk_address_of(tml, has_shapes(plan) ? plan->device.shapes : plan->device.densities);
}

static field_args args_of(const tml_context *tml, const field_plan *plan)
{
    return (field_args){.points = vk_address_of(tml, plan->device.points),
                        .densities = shares_of(tml, plan),
                        .starts = vk_address_of(tml, plan->device.starts),
                        .levels = vk_address_of(tml, plan->device.words) +
                                  FIELD_PLAN_LEVELS * sizeof(uint32_t),
                        .bricks = vk_address_of(tml, plan->device.bricks),
                        .dims_x = (uint32_t)plan->dims[0],
                        .dims_y = (uint32_t)plan->dims[1],
                        .level_count = plan->level_count,
                        .background = plan->background,
                        .margin = plan->margin,
                        .xx = (float)plan->frame.xx,
                        .xy = (float)plan->frame.xy,
                        .xz = (float)plan->frame.xz,
                        .yy = (float)plan->frame.yy,
                        .yz = (float)plan->frame.yz,
                        .zz = (float)plan->frame.zz,
                        .extent_x = (float)plan->extent[0],
                        .extent_y = (float)plan->extent[1],
                        .extent_z = (float)plan->extent[2]};
}

/* Gathers the listed bricks, of which there are at most bricks. Where the driver limits loops, each
 * dispatch adds a window of points, and a workgroup has one brick. The output keeps the partial
 * sums between dispatches. */
static tml_status gather(tml_context *tml, const field_plan *plan, uint64_t bricks,
                         field_args *args)
{
    bool is_sheared = plan->frame.xy != 0.0 || plan->frame.xz != 0.0 || plan->frame.yz != 0.0;
    bool has_densities = !tml_buffer_is_none(plan->device.densities);
    uint64_t limit = vk_caps_of(tml)->loop_limit, end = plan->point_count;
    uint64_t groups = limit ? bricks : TML_MIN_OF(bricks, (uint64_t)MOST_GROUPS);
    uint64_t window = limit ? limit / WINDOWS_A_LIMIT : UINT32_MAX;
    tml_status status = TML_OK;
    for (uint64_t first = 0; status == TML_OK && first < end; first += window) {
        args->window_first = (uint32_t)first;
        args->window_end = (uint32_t)TML_MIN_OF(first + window, (uint64_t)UINT32_MAX);
        status = vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_field,
                                                      .spec_count = 4,
                                                      .specs = {(uint32_t)plan->formula, is_sheared,
                                                                has_densities, has_shapes(plan)},
                                                      .args = args,
                                                      .args_size = sizeof *args,
                                                      .groups = groups});
    }
    return status;
}

/* Evaluates layers [z_first, z_end), which lie in layer_count layers of bricks. The plan's list has
 * room for these. */
static tml_status evaluate_layers(tml_context *tml, const field_plan *plan, uint64_t z_first,
                                  uint64_t z_end, uint64_t layer_count, vk_address out)
{
    if (field_slab_is_empty(plan, z_first, z_end - z_first)) {
        uint32_t background;
        memcpy(&background, &plan->background, sizeof background);
        return vk_fill(tml, out, (z_end - z_first) * plan->dims[0] * plan->dims[1], background);
    }
    field_args args = args_of(tml, plan);
    args.out_at = out;
    args.z_first = (uint32_t)z_first;
    args.z_end = (uint32_t)z_end;
    uint64_t rows = field_bricks_along(plan->dims[1]) * layer_count;
    uint64_t row_bricks = field_bricks_along(plan->dims[0]);
    uint64_t row_groups = TML_CEIL_DIV(row_bricks, BRICKS_A_GROUP);
    tml_status status = vk_fill(tml, args.bricks, 1, 0);
    TML_THEN(status, vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_field_bricks,
                                                          .args = &args,
                                                          .args_size = sizeof args,
                                                          .groups = row_groups * rows}));
    return status != TML_OK ? status : gather(tml, plan, rows * row_bricks, &args);
}

/* Requires no scratch: the list of bricks is in the plan. */
tml_status vk_field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first,
                         uint64_t z_count, void *out)
{
    vk_address at = (vk_address)(uintptr_t)out;
    uint64_t slice = plan->dims[0] * plan->dims[1], end = z_first + z_count;
    uint64_t layer = field_bricks_along(plan->dims[0]) * field_bricks_along(plan->dims[1]);
    uint64_t most = (uint64_t)1 << MAX_SIDE_LOG2;
    if (plan->dims[0] > most || plan->dims[1] > most || plan->dims[2] > most ||
        layer > plan->device.brick_room || plan->point_count >= UINT32_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_field: %llu points in %llu x %llu x %llu samples; this engine takes "
                         "fewer than 2^32 points, and 2^%d samples along an axis",
                         (unsigned long long)plan->point_count, (unsigned long long)plan->dims[0],
                         (unsigned long long)plan->dims[1], (unsigned long long)plan->dims[2],
                         MAX_SIDE_LOG2);
    uint64_t layers = plan->device.brick_room / layer;
    tml_status status = TML_OK;
    for (uint64_t z = z_first; status == TML_OK && z < end;) {
        uint64_t first_layer = z / FIELD_BRICK;
        uint64_t next = TML_MIN_OF((first_layer + layers) * FIELD_BRICK, end);
        status = evaluate_layers(tml, plan, z, next, field_bricks_along(next) - first_layer,
                                 at + (z - z_first) * slice * sizeof(float));
        z = next;
    }
    return status;
}

/* ---- the operation --------------------------------------------------------------------------- */

static tml_status field_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch;
    (void)scratch_size;
    const field_plan *plan = desc;
    if (!tml_progress(tml, "field", 0.0))
        return tml_error(tml, TML_ERROR_CANCELLED,
                         "tml_field: cancelled; its outputs are undefined");
    tml_status status = vk_field_slab(tml, plan, 0, plan->dims[2],
                                      (void *)(uintptr_t)vk_address_of(tml, plan->out));
    (void)!tml_progress(tml, "field", 1.0);
    return status;
}

const tml_engine_op vk_op_field = {.run = field_run};
