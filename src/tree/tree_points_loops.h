/* Points against a tree: the inner loops, compiled once per SIMD level (core/simd.h). They go over
 * the eight lanes of a group, which compilers vectorise. points_settle decides rays of which they
 * are unsure (kernels/collide_points.k.h). */
#include <math.h>

#include "core/lanes.h"
#include "tree/tree_points.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_nearest.k.h"
#include "kernels/collide_points.k.h"

/* Bits that collide_ray_triangle returns per lane. */
enum { LANE_MET, LANE_ALONG, LANE_UNSURE, LANE_BEFORE, LANE_AROUND };

/* Returns a bit per box that the ray meets. */
ALWAYS_INLINE uint32_t boxes_crossed(const points_ray *ray, const float *group, bool is_back)
{
    const float *low = group, *high = group + 3 * COLLIDE_WIDTH;
    uint32_t x = COLLIDE_WIDTH * ray->axis, y = COLLIDE_WIDTH * ((ray->axis + 1) % 3);
    uint32_t z = COLLIDE_WIDTH * ((ray->axis + 2) % 3), code[COLLIDE_WIDTH];
    float px = ray->point[ray->axis], py = ray->point[y / COLLIDE_WIDTH];
    float pz = ray->point[z / COLLIDE_WIDTH];
    LANES
    {
        uint32_t ahead = is_back ? low[x + i] <= px : high[x + i] >= px;
        uint32_t beside = (uint32_t)(low[y + i] <= py) & (uint32_t)(high[y + i] >= py);
        code[i] = ahead & beside & (uint32_t)(low[z + i] <= pz) & (uint32_t)(high[z + i] >= pz);
    }
    return lanes_bit(code, 0);
}

ALWAYS_INLINE void lanes_code(const points_ray *ray, const float *at, bool is_back, uint32_t *code)
{
    uint32_t x = ray->axis, y = (x + 1) % 3, z = (x + 2) % 3;
    float px = ray->point[x], py = ray->point[y], pz = ray->point[z];
    const float *ax = at + COLLIDE_WIDTH * x, *ay = at + COLLIDE_WIDTH * y,
                *az = at + COLLIDE_WIDTH * z;
    enum { NEXT = 3 * COLLIDE_WIDTH };
    LANES
    code[i] = collide_ray_triangle(
        VEC3(px, py, pz), VEC3(ax[i], ay[i], az[i]), VEC3(ax[NEXT + i], ay[NEXT + i], az[NEXT + i]),
        VEC3(ax[2 * NEXT + i], ay[2 * NEXT + i], az[2 * NEXT + i]), is_back);
}

ALWAYS_INLINE void lanes_sides(const points_ray *ray, const float *at, uint32_t *code)
{
    vec3 point = VEC3(ray->point[0], ray->point[1], ray->point[2]);
    enum { X, Y = COLLIDE_WIDTH, Z = 2 * COLLIDE_WIDTH, NEXT = 3 * COLLIDE_WIDTH };
    LANES
    code[i] =
        collide_ray_side(point, VEC3(at[X + i], at[Y + i], at[Z + i]),
                         VEC3(at[NEXT + X + i], at[NEXT + Y + i], at[NEXT + Z + i]),
                         VEC3(at[2 * NEXT + X + i], at[2 * NEXT + Y + i], at[2 * NEXT + Z + i]));
}

ALWAYS_INLINE void leaf_cross(points_ray *ray, uint32_t leaf, bool is_back)
{
    const tml_tree *tree = ray->tree;
    const float *at = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    uint32_t code[COLLIDE_WIDTH];
    lanes_code(ray, at, is_back, code);
    uint32_t met = lanes_bit(code, LANE_MET), around = lanes_bit(code, LANE_AROUND);
    uint32_t unsure = lanes_bit(code, LANE_UNSURE);
    if (!(met | around | unsure))
        return;
    uint32_t used = tree_used(tree, leaf);
    uint32_t along = lanes_bit(code, LANE_ALONG), before = lanes_bit(code, LANE_BEFORE);
    if (around & used) {
        lanes_sides(ray, at, code);
        uint32_t above = lanes_bit(code, 0), below = lanes_bit(code, 1);
        unsure |= around & ~(above | below);
        before |= (is_back ? above ^ along : ~(above ^ along)) & around;
    }
    unsure &= used;
    met &= used & before & ~unsure;
    ray->count += (uint32_t)__builtin_popcount(met);
    ray->turns += __builtin_popcount(met & along) - __builtin_popcount(met & ~along);
    for (; unsure && !ray->is_on; unsure &= unsure - 1)
        points_settle(ray, COLLIDE_WIDTH * leaf + (uint32_t)__builtin_ctz(unsure));
}

/* Updates a line's samples for the crossings of one leaf's triangles. Adds to each sample, above
 * bit 0, the number of crossings behind it minus that of the sample before. A sample on a triangle
 * gets bit 0. Samples beyond the box change nothing. */
ALWAYS_INLINE void leaf_line(points_line *line, uint32_t leaf)
{
    const float *box = tree_group(line->tree, 1, leaf / COLLIDE_WIDTH) + leaf % COLLIDE_WIDTH;
    float low = box[0], high = box[3 * COLLIDE_WIDTH];
    uint32_t first = 0, end = line->count, last = 0;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        if (line->x[middle] < low)
            first = middle + 1;
        else
            end = middle;
    }
    for (uint32_t i = first; i < line->count; i++) {
        const float point[3] = {line->x[i], line->y, line->z};
        points_ray ray = {.tree = line->tree, .point = point, .is_back = true};
        leaf_cross(&ray, leaf, true);
        uint32_t behind = line->is_winding ? (uint32_t)ray.turns : (uint32_t)ray.count;
        if (ray.is_on) {
            line->sides[i] |= 1;
            continue;
        }
        line->sides[i] += (behind - last) * 2;
        last = behind;
        if (point[0] > high)
            break;
    }
}

/* Traverses the boxes that the ray meets, and tests their leaves: with the line, if there is
 * one. */
ALWAYS_INLINE void walk(points_ray *ray, points_line *line, bool is_back)
{
    const tml_tree *tree = ray->tree;
    uint32_t left[COLLIDE_LEVELS_MAX + 1], group[COLLIDE_LEVELS_MAX + 1], level = tree->levels;
    group[level] = 0;
    left[level] = boxes_crossed(ray, tree_group(tree, level, 0), is_back);
    while (!ray->is_on) {
        if (!left[level]) {
            if (level++ == tree->levels)
                return;
            continue;
        }
        uint32_t child = COLLIDE_WIDTH * group[level] + (uint32_t)__builtin_ctz(left[level]);
        left[level] &= left[level] - 1;
        if (level == 1) {
            if (line)
                leaf_line(line, child);
            else
                leaf_cross(ray, child, is_back);
        } else {
            level--;
            group[level] = child;
            left[level] = boxes_crossed(ray, tree_group(tree, level, child), is_back);
        }
    }
}

static void cross(points_ray *ray)
{
    if (ray->is_back)
        walk(ray, NULL, true);
    else
        walk(ray, NULL, false);
}

static void cross_line(points_line *line)
{
    const float last[3] = {line->x[line->count - 1], line->y, line->z};
    points_ray ray = {.tree = line->tree, .point = last, .is_back = true};
    for (uint32_t i = 0; i < line->count; i++)
        line->sides[i] = 0;
    if (line->tree->levels)
        walk(&ray, line, true);
    uint32_t behind = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        behind += line->sides[i] >> 1;
        bool is_inside = line->is_winding ? behind << 1 != 0 : (behind & 1) != 0;
        line->sides[i] = line->sides[i] & 1 ? TML_TREE_ON
                         : is_inside        ? TML_TREE_INSIDE
                                            : TML_TREE_OUTSIDE;
    }
}

/* ---- the nearest triangle -------------------------------------------------------------------- */

/* Squared distances of eight triangles from the point. */
ALWAYS_INLINE void lanes_apart(const float *point, const float *at, double *squared)
{
    double px = (double)point[0], py = (double)point[1], pz = (double)point[2];
    enum { X, Y = COLLIDE_WIDTH, Z = 2 * COLLIDE_WIDTH, NEXT = 3 * COLLIDE_WIDTH };
    LANES
    {
        double ax = (double)at[X + i] - px, ay = (double)at[Y + i] - py;
        double az = (double)at[Z + i] - pz;
        double bx = (double)at[NEXT + X + i] - px, by = (double)at[NEXT + Y + i] - py;
        double bz = (double)at[NEXT + Z + i] - pz;
        double cx = (double)at[2 * NEXT + X + i] - px, cy = (double)at[2 * NEXT + Y + i] - py;
        double cz = (double)at[2 * NEXT + Z + i] - pz;
        squared[i] = collide_triangle_apart(ax, ay, az, bx, by, bz, cx, cy, cz);
    }
}

/* Squared distances of eight boxes, at most of any point in them: 2^-40 less for rounding. */
ALWAYS_INLINE void boxes_apart(const float *point, const float *group, double *squared)
{
    LANES
    squared[i] = 0.0;
    for (uint32_t k = 0; k < 3; k++) {
        const float *low = group + COLLIDE_WIDTH * k, *high = low + 3 * COLLIDE_WIDTH;
        double at = (double)point[k];
        LANES
        {
            double below = (double)low[i] - at, above = at - (double)high[i];
            double gap = below > above ? below : above;
            gap = gap > 0.0 ? gap : 0.0;
            squared[i] += gap * gap;
        }
    }
    LANES
    squared[i] *= 1.0 - 0x1p-40;
}

/* A lower bound of the squared distance of a leaf's triangles: by the leaf's slab along its normal,
 * and by a disc about the box's centre across it. If the surface is far away, many leaves' boxes
 * are nearer than the nearest triangle; this bound excludes them. */
ALWAYS_INLINE double leaf_apart(const points_nearest *nearest, uint32_t leaf)
{
    const float *slab = tree_slab_words(nearest->tree, leaf);
    const float *box = tree_group(nearest->tree, 1, leaf / COLLIDE_WIDTH) + leaf % COLLIDE_WIDTH;
    double size = 0.0, along = 0.0, from = 0.0, terms = 0.0, distance = 0.0, radius = 0.0;
    for (uint32_t k = 0; k < 3; k++) {
        double low = (double)box[COLLIDE_WIDTH * k], high = (double)box[COLLIDE_WIDTH * (k + 3)];
        double at = (double)nearest->point[k], normal = (double)slab[k];
        double center = 0.5 * ((at - low) + (at - high));
        size += normal * normal;
        from += normal * at;
        terms += fabs(normal * at);
        along += normal * center;
        distance += center * center;
        radius += (high - low) * (high - low);
    }
    double below = (double)slab[3] - from, above = from - (double)slab[4];
    double gap = (below > above ? below : above) - terms * 0x1p-50;
    double inverse = size > 0.0 ? 1.0 / size : 0.0;
    double across = distance - along * along * inverse;
    double beside = sqrt(across > 0.0 ? across : 0.0) - 0.5 * sqrt(radius);
    gap = gap > 0.0 ? gap : 0.0;
    beside = beside > 0.0 ? beside : 0.0;
    double squared = gap * gap * inverse + beside * beside;
    return squared - (distance + radius) * 0x1p-40; /* for rounding errors */
}

/* Inserts a triangle into the sorted list of the k nearest. */
static void insert_nearer(points_nearest *nearest, points_found one)
{
    points_found *found = nearest->found;
    uint32_t at = nearest->count < nearest->k ? nearest->count++ : nearest->k - 1;
    for (; at > 0 && (one.squared < found[at - 1].squared ||
                      (one.squared == found[at - 1].squared && one.id < found[at - 1].id));
         at--)
        found[at] = found[at - 1];
    found[at] = one;
    if (nearest->count == nearest->k) {
        nearest->squared = found[nearest->k - 1].squared;
        nearest->id = found[nearest->k - 1].id;
    }
}

ALWAYS_INLINE void take_nearer(points_nearest *nearest, uint32_t slot, double squared)
{
    uint32_t id = nearest->tree->ids[slot];
    if (squared > nearest->squared || id == COLLIDE_NO_TRIANGLE ||
        (squared == nearest->squared && id >= nearest->id))
        return;
    if (nearest->k > 1) {
        insert_nearer(nearest, (points_found){squared, slot, id});
        return;
    }
    nearest->squared = squared;
    nearest->slot = slot;
    nearest->id = id;
}

ALWAYS_INLINE void leaf_nearest(points_nearest *nearest, uint32_t leaf)
{
    const float *at = nearest->tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    double squared[COLLIDE_WIDTH];
    lanes_apart(nearest->point, at, squared);
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++)
        if (squared[i] <= nearest->squared)
            take_nearer(nearest, COLLIDE_WIDTH * leaf + i, squared[i]);
}

static void offer(points_nearest *nearest, uint32_t slot)
{
    const float *at =
        nearest->tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH);
    double squared[COLLIDE_WIDTH];
    lanes_apart(nearest->point, at, squared);
    take_nearer(nearest, slot, squared[slot % COLLIDE_WIDTH]);
}

/* A box that is still to be visited. */
typedef struct open_box {
    double squared;
    uint32_t level, index;
} open_box;

/* Pushes a node's children that may be near enough, the nearest last. Returns the new count. */
ALWAYS_INLINE uint32_t open_children(const points_nearest *nearest, uint32_t level, uint32_t group,
                                     open_box *open, uint32_t count)
{
    double squared[COLLIDE_WIDTH];
    uint32_t first = count;
    boxes_apart(nearest->point, tree_group(nearest->tree, level, group), squared);
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        if (!(squared[i] <= nearest->squared) ||
            COLLIDE_WIDTH * group + i >= nearest->tree->level_count[level])
            continue;
        uint32_t at = count++;
        for (; at > first && open[at - 1].squared < squared[i]; at--)
            open[at] = open[at - 1];
        open[at] = (open_box){squared[i], level, COLLIDE_WIDTH * group + i};
    }
    return count;
}

static void points_find(points_nearest *nearest)
{
    open_box open[COLLIDE_WIDTH * COLLIDE_LEVELS_MAX];
    uint32_t count = 0;
    if (nearest->tree->levels)
        count = open_children(nearest, nearest->tree->levels, 0, open, 0);
    while (count > 0) {
        open_box box = open[--count];
        if (box.squared > nearest->squared)
            continue;
        if (box.level > 1)
            count = open_children(nearest, box.level - 1, box.index, open, count);
        else if (leaf_apart(nearest, box.index) <= nearest->squared)
            leaf_nearest(nearest, box.index);
    }
}

static points_place place(const points_nearest *nearest)
{
    float at[9];
    tree_triangle(nearest->tree, nearest->slot, at);
    collide_place found = collide_place_of(
        VEC3(nearest->point[0], nearest->point[1], nearest->point[2]), VEC3(at[0], at[1], at[2]),
        VEC3(at[3], at[4], at[5]), VEC3(at[6], at[7], at[8]));
    return (points_place){{found.x, found.y, found.z}, found.squared, found.feature};
}

/* ---- solid angles ---------------------------------------------------------------------------- */

/* Adds the turns of the group's dipoles that are far enough. Returns a bit per other dipole. */
ALWAYS_INLINE uint32_t dipoles_turn(points_angle *angle, const double *rows)
{
    double px = (double)angle->point[0], py = (double)angle->point[1], pz = (double)angle->point[2];
    double turns[COLLIDE_WIDTH], errors[COLLIDE_WIDTH], radius = angle->radius;
    uint32_t is_near[COLLIDE_WIDTH];
#define ROW(name) rows[(size_t)(name)*COLLIDE_WIDTH + i]
    LANES
    {
        double x = ROW(POINTS_DIPOLE_AT) - px, y = ROW(POINTS_DIPOLE_AT + 1) - py;
        double z = ROW(POINTS_DIPOLE_AT + 2) - pz;
        double square = x * x + y * y + z * z, distance = sqrt(square);
        double own = ROW(POINTS_DIPOLE_RADIUS);
        bool is_far = distance - radius > angle->reach * own;
        double inverse = is_far ? 1.0 / distance : 0.0, cube = inverse * inverse * inverse;
        double xx = ROW(POINTS_DIPOLE_MOMENT), yy = ROW(POINTS_DIPOLE_MOMENT + 1);
        double zz = ROW(POINTS_DIPOLE_MOMENT + 2);
        double along = x * ROW(POINTS_DIPOLE_NORMAL) + y * ROW(POINTS_DIPOLE_NORMAL + 1) +
                       z * ROW(POINTS_DIPOLE_NORMAL + 2);
        double squares =
            x * x * xx + y * y * yy + z * z * zz + x * y * ROW(POINTS_DIPOLE_MOMENT + 3) +
            y * z * ROW(POINTS_DIPOLE_MOMENT + 4) + z * x * ROW(POINTS_DIPOLE_MOMENT + 5);
        double rest = is_far ? 1.0 / (distance - own) : 0.0;
        double within = is_far ? 1.0 / (distance - own - radius) : 0.0;
        turns[i] = cube * (along + (xx + yy + zz) - 3.0 * squares * inverse * inverse);
        errors[i] = 3.0 * ROW(POINTS_DIPOLE_SQUARES) * rest * rest * rest * rest +
                    2.0 * ROW(POINTS_DIPOLE_AREA) * radius * within * within * within;
        is_near[i] = is_far ? 0 : 1;
    }
#undef ROW
    const double all = 12.566370614359172; /* 4 pi */
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        angle->turns += turns[i] / all;
        angle->error += errors[i] / all;
    }
    return lanes_bit(is_near, 0);
}

/* Whether the ball is certainly free of the leaf's triangles. Adds to the error by how much their
 * turns vary within the ball. */
static bool leaf_varies(points_angle *angle, uint32_t leaf)
{
    const tml_tree *tree = angle->tree;
    const double *rows =
        tree->dipoles +
        (size_t)POINTS_DIPOLE * COLLIDE_WIDTH * (tree->level_group[1] + leaf / COLLIDE_WIDTH) +
        leaf % COLLIDE_WIDTH;
    double square = 0.0;
    for (uint32_t k = 0; k < 3; k++) {
        double way = rows[(size_t)k * COLLIDE_WIDTH] - (double)angle->point[k];
        square += way * way;
    }
    double within = sqrt(square) - rows[POINTS_DIPOLE_RADIUS * COLLIDE_WIDTH] - angle->radius;
    angle->error += within > 0.0 ? rows[POINTS_DIPOLE_AREA * COLLIDE_WIDTH] * angle->radius /
                                       (6.283185307179586 * within * within * within)
                                 : (double)INFINITY;
    return within > 0.0;
}

/* Adds a leaf's triangles. Half of a triangle's solid angle is the argument of the complex number
 * length + volume i. If all eight are small, so is their product's argument: one atan2 is
 * enough. */
ALWAYS_INLINE void leaf_turn(points_angle *angle, uint32_t leaf)
{
    const tml_tree *tree = angle->tree;
    const float *at = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    const double px = (double)angle->point[0], py = (double)angle->point[1];
    const double pz = (double)angle->point[2], turn = 6.283185307179586;
    double volumes[COLLIDE_WIDTH], lengths[COLLIDE_WIDTH];
    uint32_t is_small[COLLIDE_WIDTH], used = tree_used(tree, leaf);
    enum { X, Y = COLLIDE_WIDTH, Z = 2 * COLLIDE_WIDTH, NEXT = 3 * COLLIDE_WIDTH };
    if (angle->radius > 0.0 && !leaf_varies(angle, leaf))
        return;
    LANES
    {
        double ax = (double)at[X + i] - px, ay = (double)at[Y + i] - py;
        double az = (double)at[Z + i] - pz;
        double bx = (double)at[NEXT + X + i] - px, by = (double)at[NEXT + Y + i] - py;
        double bz = (double)at[NEXT + Z + i] - pz;
        double cx = (double)at[2 * NEXT + X + i] - px, cy = (double)at[2 * NEXT + Y + i] - py;
        double cz = (double)at[2 * NEXT + Z + i] - pz;
        double a = sqrt(ax * ax + ay * ay + az * az), b = sqrt(bx * bx + by * by + bz * bz);
        double c = sqrt(cx * cx + cy * cy + cz * cz);
        double ab = ax * bx + ay * by + az * bz, bc = bx * cx + by * cy + bz * cz;
        double ca = cx * ax + cy * ay + cz * az;
        double volume =
            ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
        double length = a * b * c + ab * c + bc * a + ca * b;
        is_small[i] =
            fabs(volume) < 0.19 * length ? 1 : 0; /* tan(pi / 16): eight stay below pi / 2 */
        volumes[i] = volume;
        lengths[i] = length;
    }
    double real = 1.0, imaginary = 0.0;
    bool are_small = (lanes_bit(is_small, 0) & used) == used;
    for (; used; used &= used - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(used);
        if (are_small) {
            double tangent = volumes[i] / lengths[i], last = real;
            real -= imaginary * tangent;
            imaginary += last * tangent;
        } else {
            angle->turns += atan2(volumes[i], lengths[i]) / turn;
        }
    }
    if (are_small)
        angle->turns += atan2(imaginary, real) / turn;
}

static void turn(points_angle *angle)
{
    const tml_tree *tree = angle->tree;
    uint32_t left[COLLIDE_LEVELS_MAX + 1], group[COLLIDE_LEVELS_MAX + 1], level = tree->levels;
    const size_t size = (size_t)POINTS_DIPOLE * COLLIDE_WIDTH;
    angle->turns = 0.0;
    angle->error = 0x1p-40; /* for rounding errors */
    if (level == 0)
        return;
    group[level] = 0;
    left[level] = dipoles_turn(angle, tree->dipoles + size * tree->level_group[level]) & 1;
    while (isfinite(angle->error)) {
        if (!left[level]) {
            if (level++ == tree->levels)
                return;
            continue;
        }
        uint32_t child = COLLIDE_WIDTH * group[level] + (uint32_t)__builtin_ctz(left[level]);
        left[level] &= left[level] - 1;
        if (level == 1) {
            leaf_turn(angle, child);
            continue;
        }
        level--;
        group[level] = child;
        uint32_t many = tree->level_count[level] - COLLIDE_WIDTH * child;
        left[level] =
            dipoles_turn(angle, tree->dipoles + size * (tree->level_group[level] + child)) &
            (many < COLLIDE_WIDTH ? (1u << many) - 1 : 255);
    }
}

const points_loops SIMD_SET(points_loops) = {cross, cross_line, offer, points_find, place, turn};

#include "kernels/kernel_end.h"
