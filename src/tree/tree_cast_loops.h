/* Ray casting: the inner loops, compiled once per SIMD level (core/simd.h). NEAREST visits the
 * nearest boxes first; other rays visit every box that they meet. */
#include <math.h>

#include "core/lanes.h"
#include "tree/tree_cast.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide_cast.k.h"

/* The maximum, or `than` if t is NaN. */
ALWAYS_INLINE float latest(float t, float than)
{
    return t > than ? t : than;
}

ALWAYS_INLINE float earliest(float t, float than)
{
    return t < than ? t : than;
}

/* Returns a bit per box that the ray meets, and sets enter to the t where the ray enters each box.
 * A NaN, from 0 times infinity, limits nothing. */
ALWAYS_INLINE uint32_t boxes_met(const cast_ray *ray, const float *group, float *enter)
{
    const float *in[3], *out[3];
    uint32_t code[COLLIDE_WIDTH];
    for (uint32_t k = 0; k < 3; k++) {
        in[k] = group + ray->plane[k];
        out[k] = group + COLLIDE_HIGH_WORDS + 2 * COLLIDE_WIDTH * k - ray->plane[k];
    }
    const float *x_in = in[0], *y_in = in[1], *z_in = in[2];
    const float *x_out = out[0], *y_out = out[1], *z_out = out[2];
    float x = ray->origin[0], y = ray->origin[1], z = ray->origin[2];
    float x_enter = ray->enter[0], y_enter = ray->enter[1], z_enter = ray->enter[2];
    float x_leave = ray->leave[0], y_leave = ray->leave[1], z_leave = ray->leave[2];
    float t_min = ray->t_min, t_far = ray->t_far;
    LANES
    {
        float first = latest((x_in[i] - x) * x_enter, t_min);
        float last = earliest((x_out[i] - x) * x_leave, t_far);
        first = latest((y_in[i] - y) * y_enter, first);
        last = earliest((y_out[i] - y) * y_leave, last);
        first = latest((z_in[i] - z) * z_enter, first);
        last = earliest((z_out[i] - z) * z_leave, last);
        enter[i] = first;
        code[i] = (uint32_t)(first <= last);
    }
    return lanes_bit(code, 0);
}

ALWAYS_INLINE void leaf_cast(cast_ray *ray, uint32_t leaf)
{
    const tml_tree *tree = ray->tree;
    uint32_t x = (ray->axis + 1) % 3, y = (ray->axis + 2) % 3, z = ray->axis, code[COLLIDE_WIDTH];
    const float *at = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    const float *ax = at + COLLIDE_WIDTH * x, *ay = at + COLLIDE_WIDTH * y;
    const float *az = at + COLLIDE_WIDTH * z;
    float ox = ray->origin[x], oy = ray->origin[y], oz = ray->origin[z];
    vec2 slope = VEC2(ray->slope_x, ray->slope_y);
    enum { B = COLLIDE_CORNER_WORDS, C = 2 * COLLIDE_CORNER_WORDS };
    LANES
    {
        vec3 a = VEC3(ax[i] - ox, ay[i] - oy, az[i] - oz);
        vec3 b = VEC3(ax[B + i] - ox, ay[B + i] - oy, az[B + i] - oz);
        vec3 c = VEC3(ax[C + i] - ox, ay[C + i] - oy, az[C + i] - oz);
        code[i] = collide_cast_code(slope, a, b, c);
    }
    uint32_t met = lanes_bit(code, 0), left = met | lanes_bit(code, 1);
    if (left)
        left &= tree_used(tree, leaf);
    for (; left && !ray->is_over; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        cast_take(ray, COLLIDE_WIDTH * leaf + lane, (met >> lane & 1) != 0);
    }
}

/* Pushes the node's children that the ray meets, the nearest one last. */
ALWAYS_INLINE void open_children(cast_walk *walk, uint32_t level, uint32_t group)
{
    float enter[COLLIDE_WIDTH];
    const float *boxes = tree_group(walk->ray.tree, level, group);
    uint32_t met = boxes_met(&walk->ray, boxes, enter), first = walk->count;
    for (; met; met &= met - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(met), at = walk->count++;
        for (; at > first && walk->open[at - 1].enter < enter[lane]; at--)
            walk->open[at] = walk->open[at - 1];
        walk->open[at] = (cast_box){enter[lane], level, COLLIDE_WIDTH * group + lane};
    }
}

ALWAYS_INLINE void prefetch(const float *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 16)
        __builtin_prefetch(words + i);
}

/* Pops boxes that can be skipped, and prefetches the top box's children. False: no box is left. */
ALWAYS_INLINE bool choose_next(cast_walk *walk)
{
    const tml_tree *tree = walk->ray.tree;
    while (walk->count > 0 && walk->open[walk->count - 1].enter > walk->ray.t_far)
        walk->count--;
    if (walk->count == 0 || walk->ray.is_over)
        return false;
    cast_box next = walk->open[walk->count - 1];
    if (next.level > 1) {
        prefetch(tree_group(tree, next.level - 1, next.index), COLLIDE_BOX_WORDS);
    } else {
        prefetch(tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * next.index,
                 COLLIDE_TRIANGLE_WORDS);
        __builtin_prefetch(tree->ids + (size_t)COLLIDE_WIDTH * next.index);
    }
    return true;
}

ALWAYS_INLINE void walk_on(cast_walk *walk)
{
    cast_box box = walk->open[--walk->count];
    if (box.level > 1)
        open_children(walk, box.level - 1, box.index);
    else
        leaf_cast(&walk->ray, box.index);
}

static void follow(cast_walk *walks, uint32_t count)
{
    uint32_t going[CAST_WALKS], left = 0;
    for (uint32_t i = 0; i < count; i++) {
        walks[i].count = 0;
        open_children(&walks[i], walks[i].ray.tree->levels, 0);
        if (choose_next(&walks[i]))
            going[left++] = i;
    }
    while (left > 0) {
        uint32_t before = left;
        left = 0;
        for (uint32_t i = 0; i < before; i++) {
            cast_walk *walk = &walks[going[i]];
            walk_on(walk);
            if (choose_next(walk))
                going[left++] = going[i];
        }
    }
}

const cast_loops SIMD_SET(cast_loops) = {follow};

#include "kernels/kernel_end.h"
