/* Arguments of the Vulkan engine's field shaders: a dispatch computes slices [z_first, z_end),
 * whole layers of bricks clipped to the slab. out_at: address of sample (0, 0, z_first). */
ARGS_BEGIN(field_args)
ARG_ADDRESS(out_at)
ARG_ADDRESS(points)    /* field_plan.points */
ARG_ADDRESS(densities) /* field_plan.densities, or its shapes, or 0 */
ARG_ADDRESS(starts)    /* field_plan.starts in u32 */
ARG_ADDRESS(levels)    /* FIELD_LEVEL_WORDS u32 per level, field_internal.h */
ARG_ADDRESS(bricks)    /* the number of bricks with points near; then those bricks' indices */
ARG_UINT(dims_x)
ARG_UINT(dims_y)
ARG_UINT(z_first)
ARG_UINT(z_end)
ARG_UINT(level_count)
ARG_UINT(window_first) /* points [first, end) of each brick's sequence are added */
ARG_UINT(window_end)
ARG_FLOAT(background)
ARG_FLOAT(margin)
ARG_FLOAT(xx) /* field_plan.frame */
ARG_FLOAT(xy)
ARG_FLOAT(xz)
ARG_FLOAT(yy)
ARG_FLOAT(yz)
ARG_FLOAT(zz)
ARG_FLOAT(extent_x) /* field_plan.extent */
ARG_FLOAT(extent_y)
ARG_FLOAT(extent_z)
ARGS_END(field_args)
