/* Points against a tree, compiled once for each instruction set: the including file defines POINTS_SET, the table's
 * name. Loops over the eight lanes of a group, which compilers vectorise.
 *
 * A ray along an axis x meets a triangle where the point's other two coordinates (y, z) lie in the triangle's projection.
 * A point on the projection of an edge or a vertex counts as moved by (e^2, e), e infinitely small: an edge is passed if
 * one end has y above the point's and the other has not, and above the point if it passes at a z greater than the
 * point's. So of two triangles that share an edge one is met, and a closed mesh is crossed as often as the moved ray
 * crosses it. A triangle is met if one of its edges is passed above the point and another is not.
 *
 * All comparisons of coordinates are exact. What is left are signs of determinants of differences from the point, of
 * degree 2 and 3, which floats tell within the bound that kernels/collide_triangles.k.h derives (fewer terms are within
 * it, too). Products that overflow make a bound that no value is above; one of two factors that underflows loses less than
 * POINTS_UNDERFLOW. points_settle decides what is unsure. */
#include <math.h>
#ifdef __AVX2__
#    include <immintrin.h>
#endif

#include "collide/collide_points.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"

#define INLINE static inline __attribute__((always_inline))
#define LANES  _Pragma("omp simd") for (uint32_t i = 0; i < COLLIDE_WIDTH; i++)

/* Eight times the smallest normal number. */
#define POINTS_UNDERFLOW 0x1p-123f

/* What is known of a lane's triangle. */
enum { LANE_MET, LANE_ALONG, LANE_UNSURE, LANE_BEFORE, LANE_AROUND };

/* Bit number of each lane. */
INLINE uint32_t lanes_bit(const uint32_t code[COLLIDE_WIDTH], int number)
{
#ifdef __AVX2__
    __m256i bits = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)code), 31 - number);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(bits));
#else
    uint32_t set = 0;
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++)
        set |= (code[i] >> number & 1) << i;
    return set;
#endif
}

/* A bit for each box that the ray meets. */
INLINE uint32_t boxes_crossed(const points_ray *ray, const float *group, bool is_back)
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

/* An edge's part in whether the triangle is met: bit 0, it passes above the point; bit 1, and its first end has the
 * greater y; bit 2: unsure. Ends relative to the point; up: their y is above 0. */
INLINE uint32_t edge_code(uint32_t a_up, float ay, float az, uint32_t b_up, float by, float bz)
{
    uint32_t passes = a_up ^ b_up;
    uint32_t a_over = az > 0.0f, b_over = bz > 0.0f;
    float ab = ay * bz, ba = az * by, turn = ab - ba;
    float error = (fabsf(ab) + fabsf(ba)) * COLLIDE_RELATIVE + POINTS_UNDERFLOW;
    uint32_t left = turn > error, right = turn < -error;
    uint32_t mixed = a_over ^ b_over;
    uint32_t above = passes & ((a_over & b_over) | (mixed & ((a_up & left) | (b_up & right))));
    return above | (above & a_up) << 1 | (passes & mixed & ((left | right) ^ 1u)) << 2;
}

INLINE void lanes_code(const points_ray *ray, const float *at, bool is_back, uint32_t *code)
{
    uint32_t x = ray->axis, y = (x + 1) % 3, z = (x + 2) % 3;
    float px = ray->point[x], py = ray->point[y], pz = ray->point[z];
    const float *ax = at + COLLIDE_WIDTH * x, *ay = at + COLLIDE_WIDTH * y,
                *az = at + COLLIDE_WIDTH * z;
    enum { NEXT = 3 * COLLIDE_WIDTH };
    LANES
    {
        float y0 = ay[i] - py, y1 = ay[NEXT + i] - py, y2 = ay[2 * NEXT + i] - py;
        float z0 = az[i] - pz, z1 = az[NEXT + i] - pz, z2 = az[2 * NEXT + i] - pz;
        float low = min(min(ax[i], ax[NEXT + i]), ax[2 * NEXT + i]);
        float high = max(max(ax[i], ax[NEXT + i]), ax[2 * NEXT + i]);
        uint32_t up0 = y0 > 0.0f, up1 = y1 > 0.0f, up2 = y2 > 0.0f;
        uint32_t ab = edge_code(up0, y0, z0, up1, y1, z1);
        uint32_t bc = edge_code(up1, y1, z1, up2, y2, z2);
        uint32_t ca = edge_code(up2, y2, z2, up0, y0, z0);
        uint32_t any = ab | bc | ca;
        uint32_t before = is_back ? high < px : low > px;
        uint32_t past = is_back ? low > px : high < px;
        uint32_t around = (uint32_t)(low <= px) & (uint32_t)(high >= px);
        around &=
            (uint32_t)(min(min(y0, y1), y2) <= 0.0f) & (uint32_t)(max(max(y0, y1), y2) >= 0.0f);
        around &=
            (uint32_t)(min(min(z0, z1), z2) <= 0.0f) & (uint32_t)(max(max(z0, z1), z2) >= 0.0f);
        uint32_t ahead = past ^ 1u, met = (ab ^ bc ^ ca) & 1u;
        code[i] = (met & ahead) << LANE_MET | (any >> 1 & 1u) << LANE_ALONG |
                  (any >> 2 & ahead) << LANE_UNSURE | before << LANE_BEFORE | around << LANE_AROUND;
    }
}

/* Sides of the point from the planes of eight triangles: bit 0, the determinant of their corners, seen from the point, is
 * above 0; bit 1: below 0; neither: unsure. */
INLINE void lanes_sides(const points_ray *ray, const float *at, uint32_t *code)
{
    float px = ray->point[0], py = ray->point[1], pz = ray->point[2];
    enum { X, Y = COLLIDE_WIDTH, Z = 2 * COLLIDE_WIDTH, NEXT = 3 * COLLIDE_WIDTH };
    LANES
    {
        float ax = at[X + i] - px, ay = at[Y + i] - py, az = at[Z + i] - pz;
        float bx = at[NEXT + X + i] - px, by = at[NEXT + Y + i] - py, bz = at[NEXT + Z + i] - pz;
        float cx = at[2 * NEXT + X + i] - px, cy = at[2 * NEXT + Y + i] - py;
        float cz = at[2 * NEXT + Z + i] - pz;
        float sum = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
        float terms = fabsf(ax) * (fabsf(by * cz) + fabsf(bz * cy)) +
                      fabsf(ay) * (fabsf(bz * cx) + fabsf(bx * cz)) +
                      fabsf(az) * (fabsf(bx * cy) + fabsf(by * cx));
        float size = fabsf(ax) + fabsf(ay) + fabsf(az);
        float error = terms * COLLIDE_RELATIVE + size * POINTS_UNDERFLOW + POINTS_UNDERFLOW;
        code[i] = (uint32_t)(sum > error) | (uint32_t)(sum < -error) << 1;
    }
}

INLINE void leaf_cross(points_ray *ray, uint32_t leaf, bool is_back)
{
    const tml_tree *tree = ray->tree;
    const float *at = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * leaf;
    uint32_t code[COLLIDE_WIDTH];
    lanes_code(ray, at, is_back, code);
    uint32_t met = lanes_bit(code, LANE_MET), around = lanes_bit(code, LANE_AROUND);
    uint32_t unsure = lanes_bit(code, LANE_UNSURE);
    if (!(met | around | unsure))
        return;
    const uint32_t *ids = tree->ids + (size_t)COLLIDE_WIDTH * leaf;
    uint32_t used = (1u << tree->lanes) - 1;
    if (ids[tree->lanes - 1] == COLLIDE_NO_TRIANGLE)
        used >>= 1;
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

INLINE void walk(points_ray *ray, bool is_back)
{
    const tml_tree *tree = ray->tree;
    uint32_t left[COLLIDE_LEVELS_MAX + 1], group[COLLIDE_LEVELS_MAX + 1], level = tree->levels;
    group[level] = 0;
    left[level] = boxes_crossed(ray, collide_group(tree, level, 0), is_back);
    while (!ray->is_on) {
        if (!left[level]) {
            if (level++ == tree->levels)
                return;
            continue;
        }
        uint32_t child = COLLIDE_WIDTH * group[level] + (uint32_t)__builtin_ctz(left[level]);
        left[level] &= left[level] - 1;
        if (level == 1) {
            leaf_cross(ray, child, is_back);
        } else {
            level--;
            group[level] = child;
            left[level] = boxes_crossed(ray, collide_group(tree, level, child), is_back);
        }
    }
}

static void cross(points_ray *ray)
{
    if (ray->is_back)
        walk(ray, true);
    else
        walk(ray, false);
}

const points_loops POINTS_SET = {cross};

#include "kernels/kernel_end.h"
