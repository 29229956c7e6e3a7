/* Points against a tree on the host: whether the mesh is closed, sides and distances. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "exact/exact.h"
#include "tree/tree_order.h"
#include "tree/tree_points_device.h"

/* ---- closed meshes --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash_of(const float vertex[3])
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        float at = vertex[k] + 0.0f; /* turns -0 into 0 */
        uint32_t bits;
        memcpy(&bits, &at, sizeof bits);
        hash = mix(hash + bits);
    }
    return hash;
}

/* Computes hashes of a triangle's edges. edges: a hash of both end points, 0 for an edge of length
 * 0. by_way: the same, negated if the edge runs from the larger to the smaller end hash. */
static void edges_of(const tml_tree *tree, uint32_t slot, uint64_t edges[3], uint64_t by_way[3])
{
    float at[9];
    uint64_t ends[3];
    tree_triangle(tree, slot, at);
    for (int i = 0; i < 3; i++)
        ends[i] = hash_of(at + 3 * i);
    for (int i = 0; i < 3; i++) {
        uint64_t from = ends[i], to = ends[(i + 1) % 3];
        edges[i] = from == to ? 0 : mix(from + to);
        by_way[i] = from < to ? edges[i] : 0 - edges[i];
    }
}

/* Sums of the hashes of edges whose hash begins with the `bits` bits of prefix (bits 0: all edges).
 * If an edge has no partner, a sum is nonzero, except with probability 2^-64. */
typedef struct edge_sums {
    uint64_t mod_2[16], by_way[16]; /* indexed by the hash's next four bits */
} edge_sums;

static edge_sums sum_edges(const tml_tree *tree, uint64_t prefix, uint32_t bits)
{
    edge_sums sums = {{0}, {0}};
    uint32_t slots = tree->levels ? tree->level_count[0] : 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint64_t edges[3], by_way[3];
        if (tree->ids[slot] == COLLIDE_NO_TRIANGLE)
            continue;
        edges_of(tree, slot, edges, by_way);
        for (int i = 0; i < 3; i++)
            if (bits == 0 || edges[i] >> (64 - bits) == prefix) {
                uint32_t digit = edges[i] >> (60 - bits) & 15;
                sums.mod_2[digit] ^= edges[i];
                sums.by_way[digit] += by_way[i];
            }
    }
    return sums;
}

/* Finds an edge without a partner, digit by digit of its hash. Returns the slot of a triangle that
 * has this edge; corner: where the edge begins. */
static uint32_t open_triangle(const tml_tree *tree, tml_tree_rule rule, int *corner)
{
    uint64_t hash = 0;
    for (uint32_t bits = 0; bits < 64; bits += 4) {
        edge_sums sums = sum_edges(tree, hash, bits);
        const uint64_t *by = rule == TML_TREE_RULE_WINDING ? sums.by_way : sums.mod_2;
        uint32_t digit = 0;
        while (digit < 15 && by[digit] == 0)
            digit++;
        hash = hash << 4 | digit;
    }
    for (uint32_t slot = 0; slot < tree->level_count[0]; slot++) {
        uint64_t edges[3], by_way[3];
        edges_of(tree, slot, edges, by_way);
        for (*corner = 0; *corner < 3; ++*corner)
            if (tree->ids[slot] != COLLIDE_NO_TRIANGLE && edges[*corner] == hash)
                return slot;
    }
    *corner = 0;
    return 0;
}

static bool is_moderate(const tml_tree *tree)
{
    uint64_t words = tree->levels ? (uint64_t)9 * tree->level_count[0] : 0;
    for (uint64_t i = 0; i < words; i++) {
        float size = fabsf(tree->triangles[i]);
        if (size > 0x1p30f || (size < 0x1p-100f && size > 0))
            return false;
    }
    return true;
}

void points_learn(tml_tree *tree)
{
    if (tree->has_edges)
        return;
    edge_sums sums = sum_edges(tree, 0, 0);
    tree->edges_mod_2 = tree->edges_by_way = 0;
    for (int i = 0; i < 16; i++) {
        tree->edges_mod_2 |= sums.mod_2[i];
        tree->edges_by_way |= sums.by_way[i];
    }
    tree->is_moderate = is_moderate(tree);
    tree->has_edges = true;
}

tml_status points_prepare_rule(tml_context *tml, const char *call, tml_tree *tree,
                               tml_tree_rule rule)
{
    if (rule == TML_TREE_RULE_SOLID_ANGLE)
        return points_make_dipoles(tml, call, tree);
    points_learn(tree);
    bool by_way = rule == TML_TREE_RULE_WINDING;
    if (!(by_way ? tree->edges_by_way : tree->edges_mod_2))
        return TML_OK;
    int corner;
    float at[9];
    uint32_t slot = open_triangle(tree, rule, &corner);
    tree_triangle(tree, slot, at);
    const float *from = at + 3 * corner, *to = at + 3 * ((corner + 1) % 3);
    return tml_error(
        tml, TML_ERROR_INVALID_ARGUMENT,
        "%s: desc.tree is not closed: triangle %" PRIu32
        " has an edge, from (%g, %g, %g) to (%g, %g, %g), that %s; close the mesh%s, or ask by "
        "SOLID_ANGLE",
        call, tree->ids[slot], (double)from[0], (double)from[1], (double)from[2], (double)to[0],
        (double)to[1], (double)to[2],
        by_way ? "does not go as often the one way as the other"
               : "belongs to an odd number of triangles",
        by_way && !tree->edges_mod_2 ? ", orient its triangles alike, ask by EVEN_ODD" : "");
}

/* ---- sides and distances --------------------------------------------------------------------- */

/* Starts a ray along the shortest axis-aligned way out of the tree's box, which usually crosses the
 * fewest triangles. Returns false if the point is outside the box. */
static bool ray_begin(const tml_tree *tree, const float *point, points_ray *ray)
{
    float nearest = INFINITY;
    *ray = (points_ray){.tree = tree, .point = point};
    for (uint32_t k = 0; k < 3; k++) {
        float below = point[k] - tree->lower[k], above = tree->upper[k] - point[k];
        if (!(point[k] >= tree->lower[k] && point[k] <= tree->upper[k]))
            return false; /* also for NaN */
        if (fminf(below, above) < nearest) {
            nearest = fminf(below, above);
            ray->axis = k;
            ray->is_back = below < above;
        }
    }
    return tree->levels > 0;
}

tml_tree_side points_side_of(const points_loops *loops, const tml_tree *tree, tml_tree_rule rule,
                             const float *point)
{
    points_ray ray;
    bool is_within = ray_begin(tree, point, &ray), by_angle = rule == TML_TREE_RULE_SOLID_ANGLE;
    if (is_within)
        loops->cross(&ray);
    bool is_inside = rule == TML_TREE_RULE_WINDING ? ray.turns != 0 : (ray.count & 1) != 0;
    if (by_angle && !ray.is_on && points_is_finite(point))
        is_inside = points_covers_half(loops, tree, point, 0.0, &is_within);
    return ray.is_on ? TML_TREE_ON : is_inside ? TML_TREE_INSIDE : TML_TREE_OUTSIDE;
}

points_place points_place_of(const points_loops *loops, const points_nearest *nearest)
{
    if (isfinite(nearest->squared))
        return loops->place(nearest);
    return (points_place){.at = {NAN, NAN, NAN}, .squared = INFINITY};
}

float points_signed_distance(double squared, tml_tree_side side)
{
    double distance = side == TML_TREE_ON ? 0.0 : sqrt(squared);
    return (float)(side == TML_TREE_INSIDE ? -distance : distance);
}

float points_distance(const points_loops *loops, const points_nearest *nearest, tml_tree_side side)
{
    return points_signed_distance(points_place_of(loops, nearest).squared, side);
}
