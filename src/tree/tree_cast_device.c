/* Ray casting on the device. One kernel traces each ray down the packed tree. If floats do not
 * decide a ray, other kernels list the triangles that it may hit, and decide these exactly. All
 * steps are enqueued at once, with their arrays in scratch. For ALL, every ray is listed; blocks of
 * triangles expand into hits, and each hit then finds its place among its ray's hits. */
#include <string.h>

#include "stream/program.h"
#include "tree/tree_cast.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_cast.k.h"
#include "kernels/exact_sum.k.h"
#include "kernels/real64.k.h"
#include "kernels/real64_lines.k.h"
/* Needs the headers above. */
#include "kernels/collide_rays.k.h"

#include "tree_rays_library.h"

_Static_assert(COLLIDE_RAYS_NEAREST == TML_TREE_CAST_NEAREST &&
                   COLLIDE_RAYS_ANY == TML_TREE_CAST_ANY &&
                   COLLIDE_RAYS_COUNT == TML_TREE_CAST_COUNT,
               "as kernels tell them");

/* A vector of the packed tree. u[0]: levels; u[1]: leaves; u[2]: vectors of all nodes. */
TML_KERNEL_WITH(tree_rays, uvec4, collide_pack_tree,
                (tml_words boxes, tml_words triangles, tml_words ids, tml_index at, tml_params p), {
                    uint group = collide_rays_group(U(at) / COLLIDE_RAYS_NODE, p.u[0], p.u[1]);
                    if (at == 0u && !collide_rays_are_moderate(boxes, group))
                        return UVEC4(COLLIDE_RAYS_IMMODERATE, 0u, 0u, 0u);
                    if (U(at) < p.u[2])
                        return collide_rays_node(boxes, group, U(at) % COLLIDE_RAYS_NODE);
                    uint slot = (U(at) - p.u[2]) / COLLIDE_RAYS_SLOT;
                    uint corner = (U(at) - p.u[2]) % COLLIDE_RAYS_SLOT;
                    uint from = COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) +
                                COLLIDE_CORNER_WORDS * corner + slot % COLLIDE_WIDTH;
                    return UVEC4(
                        tml_word(triangles, from), tml_word(triangles, from + COLLIDE_WIDTH),
                        tml_word(triangles, from + 2u * COLLIDE_WIDTH), tml_word(ids, slot));
                })

/* A ray in its pose. u[0]: number of poses; u[1]: not 0 if each ray names a pose. If the pose does
 * not exist, the direction is 0. */
TML_KERNEL_OUTS_WITH(tree_rays, (vec3 from, vec3 way), collide_pose_ray,
                     (vec3 origin, vec3 direction, tml_words poses, tml_words pose_of, tml_index i,
                      tml_params p),
                     {
                         uint pose = p.u[1] != 0u ? tml_word(pose_of, i) : 0u;
                         uint row = 3u * (pose < p.u[0] ? pose : 0u);
                         vec4 x = tml_word_vec4(poses, row);
                         vec4 y = tml_word_vec4(poses, row + 1u);
                         vec4 z = tml_word_vec4(poses, row + 2u);
                         collide_pose_ray_out o;
                         o.from = VEC3(collide_pose_row(x, origin), collide_pose_row(y, origin),
                                       collide_pose_row(z, origin));
                         o.way = VEC3(collide_pose_row(VEC4(x.x, x.y, x.z, 0.0f), direction),
                                      collide_pose_row(VEC4(y.x, y.y, y.z, 0.0f), direction),
                                      collide_pose_row(VEC4(z.x, z.y, z.z, 0.0f), direction));
                         if (pose >= p.u[0])
                             o.way = VEC3(0.0f, 0.0f, 0.0f);
                         return o;
                     })

/* A ray as collide_rays_walk expects it. A ray that hits nothing has t_min > t_max; one that floats
 * cannot follow has a slope above 2. u[0]: not 0 if each ray has limits; f[0]: else t_max of
 * all. */
TML_KERNEL_OUTS_WITH(
    tree_rays, (vec4 from, vec4 way, vec2 slope), collide_begin_ray,
    (vec3 origin, vec3 direction, tml_words limits, tml_words tree, tml_index i, tml_params p), {
        float t_min = p.u[0] != 0u ? tml_word_float(limits, 2u * U(i)) : 0.0f;
        float t_max = p.u[0] != 0u ? tml_word_float(limits, 2u * U(i) + 1u) : p.f[0];
        float size = collide_farthest(direction);
        bool is_none = is_nan(t_min) || is_nan(t_max) || t_min > t_max || t_max < 0.0f ||
                       is_nan(origin.x + origin.y + origin.z) || is_inf(origin.x) ||
                       is_inf(origin.y) || is_inf(origin.z) || is_nan(direction.x) ||
                       is_nan(direction.y) || is_nan(direction.z) || is_inf(size);
        collide_begin_ray_out o;
        /* 2^100, as CAST_T_MAX; of -0 0, since bits are compared */
        o.from = VEC4(origin.x, origin.y, origin.z, t_min > 0.0f ? t_min : 0.0f);
        o.way = VEC4(direction.x, direction.y, direction.z,
                     t_max > 0.0f ? min(t_max, 1.2676506002282294e30f) : 0.0f);
        o.slope = VEC2(0.0f, 0.0f);
        if (is_none) {
            o.from.w = 1.0f;
            o.way.w = 0.0f;
        } else {
            o.slope = collide_rays_slope(o.from, o.way, tree);
        }
        return o;
    })

/* ---- the nearest, any, or how many ----------------------------------------------------------- */

/* A ray's result as far as floats are sure (NEAREST: a slot; else the number of hits), and the
 * triangles that exact steps may need. u[0]: desc.want; u[1]: number of the first leaf node; u[2]:
 * bit per child of the root; u[3]: vector of the first slot. The next kernels have the same
 * parameters. */
TML_KERNEL_OUTS_WITH(tree_rays, (uint found, uvec4 needed), collide_follow_ray,
                     (vec4 from, vec4 way, vec2 slope, tml_words tree, tml_params p), {
                         collide_follow_ray_out o;
                         collide_rays_found f = collide_rays_walk(
                             from, way, slope, tree, p.u[0], p.u[1], p.u[2], p.u[3], 0u, false);
                         o.found = f.best;
                         o.needed = f.slots;
                         return o;
                     })

/* NEAREST: t, rounded to a float, if doubles are sure of it. */
TML_KERNEL_OUTS_WITH(tree_rays, (uint answer, float t), collide_answer_ray,
                     (uint found, vec4 from, vec4 way, tml_words tree, tml_params p), {
                         collide_answer_ray_out o;
                         o.answer = found;
                         o.t = uintBitsToFloat(COLLIDE_RAYS_INFINITY);
                         if (found < COLLIDE_RAYS_UNSURE) {
                             uint at = p.u[3] + COLLIDE_RAYS_SLOT * found;
                             uvec4 a = tml_word_uvec4(tree, at);
                             uvec4 b = tml_word_uvec4(tree, at + 1u);
                             uvec4 c = tml_word_uvec4(tree, at + 2u);
                             uint t = real64_line_t(real64_vec3_of(UVEC3(a.x, a.y, a.z)),
                                                    real64_vec3_of(UVEC3(b.x, b.y, b.z)),
                                                    real64_vec3_of(UVEC3(c.x, c.y, c.z)),
                                                    real64_vec3_at(from), real64_vec3_at(way));
                             if (t == REAL64_FLOAT_NAN)
                                 o.answer = COLLIDE_RAYS_UNSURE;
                             else
                                 o.t = uintBitsToFloat(t);
                         }
                         return o;
                     })

TML_KERNEL(bool, collide_is_ray_unsure, (uint answer), { return answer == 0xfffffffeu; })
_Static_assert(COLLIDE_RAYS_UNSURE == 0xfffffffeu, "as the kernel has it");

/* ---- triangles that a ray may hit ------------------------------------------------------------ */

TML_KERNEL(uint, collide_number_ray, (tml_index i), { return U(i); })

/* A ray's number and, if known, the number of triangles that it needs in the bits above. It is
 * unknown for the few rays that need more triangles than the walk kept. */
TML_KERNEL_WITH(tree_rays, uint, collide_note_needed, (uint ray, tml_words needed), {
    uvec4 slots = tml_word_uvec4(needed, ray);
    if (slots.x == COLLIDE_RAYS_UNSURE)
        return ray;
    return ray | COLLIDE_RAYS_KNOWN | collide_rays_given(slots) << COLLIDE_RAYS_BITS;
})

/* The number of triangles that a ray needs, and of its blocks of four. UNSURE if there are too
 * many, or if floats cannot follow the ray. */
TML_KERNEL_OUTS_WITH(tree_rays, (uint found, uint blocks), collide_count_slots,
                     (uint noted, tml_words froms, tml_words ways, tml_words tree, tml_params p), {
                         collide_count_slots_out o;
                         if ((noted & COLLIDE_RAYS_KNOWN) != 0u) {
                             o.found = (noted & ~COLLIDE_RAYS_KNOWN) >> COLLIDE_RAYS_BITS;
                             o.blocks = min(o.found, 1u);
                             return o;
                         }
                         vec4 from = tml_word_vec4(froms, noted);
                         vec4 way = tml_word_vec4(ways, noted);
                         collide_rays_found f = collide_rays_walk(
                             from, way, collide_rays_slope(from, way, tree), tree, p.u[0], p.u[1],
                             p.u[2], p.u[3], COLLIDE_RAYS_LISTED_MOST - 3u, true);
                         bool is_unsure = f.best > COLLIDE_RAYS_LISTED_MOST;
                         o.found = is_unsure ? COLLIDE_RAYS_UNSURE : f.best;
                         o.blocks = is_unsure ? 0u : (f.best + 3u) / 4u;
                         return o;
                     })

/* Lists a block of a ray's triangles, unless they are known. */
TML_KERNEL_OUTS_WITH(
    tree_rays, (uvec4 slots, vec4 from, vec4 way), collide_list_slots,
    (uint noted, tml_words froms, tml_words ways, tml_words tree, tml_rank k, tml_params p), {
        uint ray = noted & COLLIDE_RAYS_NUMBER;
        collide_list_slots_out o;
        o.slots = UVEC4(COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE);
        o.from = tml_word_vec4(froms, ray);
        o.way = tml_word_vec4(ways, ray);
        if (ray == noted) {
            collide_rays_found f =
                collide_rays_walk(o.from, o.way, collide_rays_slope(o.from, o.way, tree), tree,
                                  p.u[0], p.u[1], p.u[2], p.u[3], 4u * U(k), true);
            o.slots = f.slots;
        }
        return o;
    })

/* A block of a listed ray: its listed triangles, or those known before. */
TML_KERNEL_WITH(tree_rays, uvec4, collide_take_needed,
                (uvec4 slots, uint listed, tml_words noted, tml_words needed), {
                    uint ray = tml_word(noted, listed);
                    if ((ray & COLLIDE_RAYS_KNOWN) == 0u)
                        return slots;
                    return tml_word_uvec4(needed, ray & COLLIDE_RAYS_NUMBER);
                })

/* A block's nearest hit (t, slot, triangle), and its number of hits. */
TML_KERNEL_WITH(tree_rays, uvec4, collide_settle_best,
                (uvec4 slots, vec4 from, vec4 way, tml_words tree, tml_params p), {
                    uvec4 best = UVEC4(COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, 0u);
                    uvec4 left = slots;
                    for (uint i = 0u; i < 4u && left.x != COLLIDE_RAYS_NONE; i++) {
                        uint slot = left.x & ~COLLIDE_RAYS_PERHAPS;
                        uint at = p.u[3] + COLLIDE_RAYS_SLOT * slot;
                        uint t = collide_rays_settle(tree, at, from, way, slot == left.x);
                        uint triangle = tml_word(tree, 4u * at + 3u);
                        best.w += U(t != COLLIDE_RAYS_NONE);
                        if (t < best.x ||
                            (t == best.x && triangle < best.z && t != COLLIDE_RAYS_NONE))
                            best = UVEC4(t, slot, triangle, best.w);
                        left = UVEC4(left.y, left.z, left.w, COLLIDE_RAYS_NONE);
                    }
                    return best;
                })

/* A listed ray's answer, from its blocks; UNSURE if some of them had no room. u[0]: desc.want;
 * u[1]: blocks that have room. */
TML_KERNEL_OUTS_WITH(tree_rays, (uint answer, float t), collide_answer_listed,
                     (uint found, tml_words rays, tml_words blocks, tml_words count, tml_index i,
                      tml_params p),
                     {
                         uint end = min(tml_word(count, 0u), p.u[1]);
                         uint first = collide_rays_first(rays, U(i), end);
                         uint needs = found == COLLIDE_RAYS_UNSURE ? 0u : (found + 3u) / 4u;
                         uvec4 best =
                             UVEC4(COLLIDE_RAYS_INFINITY, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, 0u);
                         collide_answer_listed_out o;
                         for (uint k = first; k < first + needs && k < end; k++) {
                             uvec4 block = tml_word_uvec4(blocks, k);
                             best.w += block.w;
                             if (block.x < best.x || (block.x == best.x && block.z < best.z))
                                 best = UVEC4(block.x, block.y, block.z, best.w);
                         }
                         o.answer = p.u[0] == COLLIDE_RAYS_NEAREST ? best.y
                                    : p.u[0] == COLLIDE_RAYS_ANY   ? min(best.w, 1u)
                                                                   : best.w;
                         o.t = uintBitsToFloat(best.x);
                         if (found == COLLIDE_RAYS_UNSURE || first + needs > end) {
                             o.answer = COLLIDE_RAYS_UNSURE;
                             o.t = uintBitsToFloat(COLLIDE_RAYS_INFINITY);
                         }
                         return o;
                     })

/* ---- all hits -------------------------------------------------------------------------------- */

/* The bits of t per triangle of a block; NONE if it is not hit. */
TML_KERNEL_WITH(tree_rays, uvec4, collide_settle_block,
                (uvec4 slots, vec4 from, vec4 way, tml_words tree, tml_params p), {
                    uvec4 t = UVEC4(COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE,
                                    COLLIDE_RAYS_NONE);
                    uvec4 left = slots;
                    for (uint i = 0u; i < 4u; i++) {
                        uint of_slot = COLLIDE_RAYS_NONE;
                        if (left.x != COLLIDE_RAYS_NONE) {
                            uint slot = left.x & ~COLLIDE_RAYS_PERHAPS;
                            of_slot = collide_rays_settle(tree, p.u[3] + COLLIDE_RAYS_SLOT * slot,
                                                          from, way, slot == left.x);
                        }
                        t = UVEC4(t.y, t.z, t.w, of_slot);
                        left = UVEC4(left.y, left.z, left.w, COLLIDE_RAYS_NONE);
                    }
                    return t;
                })

TML_KERNEL_WITH(tree_rays, uint, collide_block_hits, (uvec4 t), { return collide_rays_given(t); })

TML_KERNEL_OUTS_WITH(tree_rays, (uint hit_ray, uint triangle, float hit_t), collide_list_hit,
                     (uvec4 t, uvec4 slots, uint ray, tml_words tree, tml_rank k, tml_params p), {
                         uint left = U(k);
                         uvec4 times = t;
                         uvec4 rest = slots;
                         for (uint i = 0u; i < 4u && (left > 0u || times.x == COLLIDE_RAYS_NONE);
                              i++) {
                             if (times.x != COLLIDE_RAYS_NONE)
                                 left -= 1u;
                             times = UVEC4(times.y, times.z, times.w, COLLIDE_RAYS_NONE);
                             rest = UVEC4(rest.y, rest.z, rest.w, COLLIDE_RAYS_NONE);
                         }
                         uint slot = rest.x & ~COLLIDE_RAYS_PERHAPS;
                         collide_list_hit_out o;
                         o.hit_ray = ray;
                         o.triangle = tml_word(tree, 4u * (p.u[3] + COLLIDE_RAYS_SLOT * slot) + 3u);
                         o.hit_t = uintBitsToFloat(times.x);
                         return o;
                     })

/* The place of a hit: after the hits of earlier rays, and after hits of the same ray with a smaller
 * t or, for the same t, a smaller triangle. NONE if the outputs have no room for it. u[0]: room for
 * hits in these arrays; u[1]: room in the outputs. */
TML_KERNEL_WITH(tree_rays, uint, collide_place_hit,
                (tml_words rays, tml_words t, tml_words triangles, tml_words count, tml_index i,
                 tml_params p),
                {
                    uint end = min(tml_word(count, 0u), p.u[0]);
                    uint ray = tml_word(rays, U(i));
                    uint own_t = tml_word(t, U(i));
                    uint own = tml_word(triangles, U(i));
                    uint place = U(i);
                    for (uint at = U(i); at > 0u; at--) {
                        if (tml_word(rays, at - 1u) != ray)
                            break;
                        uint other = tml_word(t, at - 1u);
                        if (other > own_t || (other == own_t && tml_word(triangles, at - 1u) > own))
                            place -= 1u;
                    }
                    for (uint at = U(i) + 1u; at < end; at++) {
                        if (tml_word(rays, at) != ray)
                            break;
                        uint other = tml_word(t, at);
                        if (other < own_t || (other == own_t && tml_word(triangles, at) < own))
                            place += 1u;
                    }
                    return place < p.u[1] ? place : COLLIDE_RAYS_NONE;
                })

/* The total of hits; 2^32 - 1 if there were more than u[0] blocks, for which there is room. */
TML_KERNEL(uint, collide_total_hits, (tml_words hits, tml_words blocks, tml_params p),
           { return tml_word(blocks, 0u) > p.u[0] ? 0xffffffffu : tml_word(hits, 0u); })

/* The number of a ray's hits, from its blocks. u[0]: blocks that have room. */
TML_KERNEL_WITH(tree_rays, uint, collide_ray_hits,
                (uint found, tml_words rays, tml_words t, tml_words count, tml_index i,
                 tml_params p),
                {
                    uint end = min(tml_word(count, 0u), p.u[0]);
                    uint first = collide_rays_first(rays, U(i), end);
                    uint needs = found == COLLIDE_RAYS_UNSURE ? 0u : (found + 3u) / 4u;
                    uint hits = 0u;
                    for (uint k = first; k < first + needs && k < end; k++)
                        hits += collide_rays_given(tml_word_uvec4(t, k));
                    return hits;
                })

/* ---- outputs --------------------------------------------------------------------------------- */

/* u[0]: desc.want, in all of these kernels. */
TML_KERNEL_WITH(tree_rays, bool, collide_is_ray_hit, (uint answer, tml_params p),
                { return collide_rays_count_of(answer, p.u[0]) != 0u; })
TML_KERNEL_WITH(tree_rays, uint, collide_ray_count, (uint answer, tml_params p),
                { return collide_rays_count_of(answer, p.u[0]); })
TML_KERNEL_WITH(tree_rays, uint, collide_hit_triangle, (uint answer, tml_words tree, tml_params p),
                {
                    return answer >= COLLIDE_RAYS_UNSURE
                               ? COLLIDE_RAYS_NONE
                               : tml_word(tree, 4u * (p.u[3] + COLLIDE_RAYS_SLOT * answer) + 3u);
                })
TML_KERNEL_WITH(tree_rays, vec2, collide_ray_weights,
                (uint answer, vec4 from, vec4 way, tml_words tree, tml_params p), {
                    float none = uintBitsToFloat(REAL64_FLOAT_NAN);
                    if (answer >= COLLIDE_RAYS_UNSURE)
                        return VEC2(none, none);
                    uint at = p.u[3] + COLLIDE_RAYS_SLOT * answer;
                    uvec4 a = tml_word_uvec4(tree, at);
                    uvec4 b = tml_word_uvec4(tree, at + 1u);
                    uvec4 c = tml_word_uvec4(tree, at + 2u);
                    return real64_line_weights(real64_vec3_of(UVEC3(a.x, a.y, a.z)),
                                               real64_vec3_of(UVEC3(b.x, b.y, b.z)),
                                               real64_vec3_of(UVEC3(c.x, c.y, c.z)),
                                               real64_vec3_at(from), real64_vec3_at(way));
                })

/* ---- the packed tree ------------------------------------------------------------------------- */

/* The most rays and the most hits: more do not fit indices and lists. */
enum { RAYS_MOST = 1 << COLLIDE_RAYS_BITS };

tml_status cast_buffer_make(tml_context *tml, tml_tree *tree, int which, tml_type type,
                            uint64_t count, const void *data)
{
    tml_buffer *buffer = &tree->cast->buffers[which];
    return tml_buffer_is_none(*buffer) ? tml_buffer_make(tml, type, count, data, "rays", buffer)
                                       : TML_OK;
}

/* Nodes are numbered by levels below one root, so the first leaf is (8^depth - 1) / 7. */
static uint32_t first_leaf(const tml_tree *tree)
{
    uint32_t first = 0;
    for (uint32_t level = TML_MAX_OF(tree->levels, 2u); level > 1; level--)
        first = COLLIDE_WIDTH * first + 1;
    return first;
}

/* Vectors of the nodes, up to the last node that has leaves. */
static uint64_t node_vectors(const tml_tree *tree)
{
    uint32_t parents = TML_CEIL_DIV(TML_MAX_OF(tree->level_count[1], 1u), COLLIDE_WIDTH);
    return (uint64_t)COLLIDE_RAYS_NODE * ((first_leaf(tree) - 1) / COLLIDE_WIDTH + parents);
}

static uint64_t tree_vectors(const tml_tree *tree)
{
    return node_vectors(tree) + (uint64_t)COLLIDE_RAYS_SLOT * tree->level_count[0];
}

/* Makes the tree's buffers that all casts need. in: boxes, triangles and ids on the device. */
static tml_status tree_make(tml_context *tml, const char *call, tml_tree *tree, tml_buffer in[3])
{
    if (!tree->cast) {
        tree->cast = tml_alloc(tml, sizeof *tree->cast);
        if (!tree->cast)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a tree's handles",
                             call);
        memset(tree->cast, 0, sizeof *tree->cast);
    }
    if (tml_is_recording(tml) && tml_buffer_is_none(tree->cast->buffers[CAST_TREE]))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: the tree has no arrays for rays yet, and none are made while "
                         "recording; make the call between tml_prepare_begin and tml_prepare_end "
                         "before",
                         call);
    if (tree->levels == 0) { /* pack a root without children */
        static const uint32_t nothing[4 * COLLIDE_RAYS_NODE];
        tree->cast->is_packed = true;
        return cast_buffer_make(tml, tree, CAST_TREE, TML_VEC(TML_U32, 4), COLLIDE_RAYS_NODE,
                                nothing);
    }
    tml_status status = tree_on_device(tml, tree, &in[0], &in[1]);
    in[2] = tree_build_ids(tree);
    if (status == TML_OK && tml_buffer_is_none(in[2])) {
        status = cast_buffer_make(tml, tree, CAST_IDS, TML_U32, tree->level_count[0], tree->ids);
        in[2] = tree->cast->buffers[CAST_IDS];
    }
    return status == TML_OK ? cast_buffer_make(tml, tree, CAST_TREE, TML_VEC(TML_U32, 4),
                                               tree_vectors(tree), NULL)
                            : status;
}

tml_status cast_pack(tml_context *tml, const char *call, tml_tree *tree)
{
    tml_buffer in[3] = {{0, 0}};
    const bool is_preparing = tml_prepare_pause(tml); /* the tree's own buffers are made now */
    tml_status status = tree_make(tml, call, tree, in);
    tml_prepare_resume(tml, is_preparing);
    bool is_again = tree->stale_again || (tml_is_recording(tml) && tree->build);
    if (status != TML_OK || (tree->cast->is_packed && !is_again))
        return status;
    status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(collide_pack_tree),
                                          .params = {.u = {tree->levels, tree->level_count[1],
                                                           (uint32_t)node_vectors(tree)}},
                                          .in = {in[0], in[1], in[2]},
                                          .length = tml_length_of(tree_vectors(tree)),
                                          .out = {tree->cast->buffers[CAST_TREE]}});
    tree->cast->is_packed |= status == TML_OK && !tml_is_recording(tml);
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* One call as a program. */
typedef struct cast_run {
    program p;
    const tml_tree_cast_desc *desc; /* with its length resolved */
    tml_buffer tree;
    uint32_t want;
    tml_params params; /* default of kernels, see collide_follow_ray */
    uint64_t count;    /* maximum number of rays */
    uint64_t blocks;   /* that have room */
    /* Rays and each one's answer; blocks of triangles that rays may hit. */
    tml_buffer from, way, slope, answers, slots, slots_ray, slots_t, slots_count;
} cast_run;

static tml_buffer array(cast_run *run, tml_type type, uint64_t count)
{
    return program_array(&run->p, type, TML_MAX_OF(count, (uint64_t)1));
}

/* Adds a map. Default of length: all rays; default of params: the run's. */
static void add_map(cast_run *run, tml_map_desc desc)
{
    if (!desc.length.count)
        desc.length = run->desc->length;
    if (!desc.params.u[3])
        desc.params = run->params;
    program_map(&run->p, &desc);
}

static void add_expand(cast_run *run, tml_expand_desc desc)
{
    if (!desc.length.count)
        desc.length = run->desc->length;
    if (!desc.params.u[3])
        desc.params = run->params;
    program_expand(&run->p, &desc);
}

/* Adds the list of rays without an answer. */
static void add_unsure(cast_run *run, tml_buffer answers, tml_buffer list, tml_buffer count)
{
    if (tml_buffer_is_none(list) && tml_buffer_is_none(count))
        return;
    program_compact(&run->p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_ray_unsure),
                                                          .in = {answers}},
                                                 .length = run->desc->length,
                                                 .indices = list,
                                                 .count = count});
}

/* Adds the rays in the tree's frame. */
static void add_rays(cast_run *run)
{
    const tml_tree_cast_desc *d = run->desc;
    const tml_type vec3_type = TML_VEC(TML_F32, 3), vec4_type = TML_VEC(TML_F32, 4);
    tml_buffer origins = d->origins, directions = d->directions;
    bool has_limits = !tml_buffer_is_none(d->limits);
    bool has_pose_of = !tml_buffer_is_none(d->pose_of);
    run->from = array(run, vec4_type, run->count);
    run->way = array(run, vec4_type, run->count);
    run->slope = array(run, TML_VEC(TML_F32, 2), run->count);
    run->answers = array(run, TML_U32, run->count);
    if (!tml_buffer_is_none(d->poses)) {
        uint32_t poses = (uint32_t)(stream_count_of(run->p.tml, d->poses) / 3);
        origins = array(run, vec3_type, run->count);
        directions = array(run, vec3_type, run->count);
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_pose_ray),
                                    .params = {.u = {poses, has_pose_of, 0, 1}},
                                    .in = {d->origins, d->directions, d->poses,
                                           has_pose_of ? d->pose_of : d->poses},
                                    .out = {origins, directions}});
    }
    add_map(run,
            (tml_map_desc){
                .kernel = TML_USE(collide_begin_ray),
                .params = {.f = {d->t_max > 0 ? d->t_max : CAST_T_MAX}, .u = {has_limits, 0, 0, 1}},
                .in = {origins, directions, has_limits ? d->limits : origins, run->tree},
                .out = {run->from, run->way, run->slope}});
}

/* Adds the blocks of triangles that listed rays may hit, decided by the kernel `settle`.
 * needed: the triangles that each ray needs, where known; may be none.
 * found: receives the number of triangles per listed ray. */
static void add_blocks(cast_run *run, tml_buffer list, tml_length listed, tml_buffer needed,
                       tml_buffer found, uint64_t room, const tml_kernel *settle)
{
    const tml_type vec4_type = TML_VEC(TML_F32, 4), uvec4_type = TML_VEC(TML_U32, 4);
    tml_buffer from = array(run, vec4_type, room);
    tml_buffer way = array(run, vec4_type, room);
    tml_buffer blocks = array(run, TML_U32, run->count);
    run->blocks = room;
    run->slots = array(run, uvec4_type, room);
    run->slots_ray = array(run, TML_U32, room);
    run->slots_t = array(run, uvec4_type, room);
    run->slots_count = array(run, TML_U32, 1);
    const tml_length slots = {.count = room, .device = run->slots_count, .exact = true};
    tml_buffer noted = list;
    if (!tml_buffer_is_none(needed)) {
        noted = array(run, TML_U32, run->count);
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_note_needed),
                                    .in = {list, needed},
                                    .length = listed,
                                    .out = {noted}});
    }
    add_map(run, (tml_map_desc){.kernel = TML_USE(collide_count_slots),
                                .in = {noted, run->from, run->way, run->tree},
                                .length = listed,
                                .out = {found, blocks}});
    add_expand(run, (tml_expand_desc){.counts = blocks,
                                      .emit_kernel = TML_USE(collide_list_slots),
                                      .in = {noted, run->from, run->way, run->tree},
                                      .length = listed,
                                      .source = run->slots_ray,
                                      .out = {run->slots, from, way},
                                      .total = run->slots_count});
    if (!tml_buffer_is_none(needed))
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_take_needed),
                                    .in = {run->slots, run->slots_ray, noted, needed},
                                    .length = slots,
                                    .out = {run->slots}});
    add_map(run, (tml_map_desc){.kernel = settle,
                                .in = {run->slots, from, way, run->tree},
                                .length = slots,
                                .out = {run->slots_t}});
}

/* Adds those of counts, hits and total that are given, all computed from the answers. */
static void cast_add_counts(cast_run *run, tml_buffer total)
{
    const tml_tree_cast_desc *d = run->desc;
    tml_buffer answers = run->answers;
    if (!tml_buffer_is_none(d->counts))
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_ray_count),
                                    .in = {answers},
                                    .out = {d->counts}});
    if (!tml_buffer_is_none(d->hits))
        add_map(run, (tml_map_desc){
                         .kernel = TML_USE(collide_is_ray_hit), .in = {answers}, .out = {d->hits}});
    if (!tml_buffer_is_none(total))
        add_expand(run, (tml_expand_desc){.count_kernel = TML_USE(collide_ray_count),
                                          .in = {answers},
                                          .total = total});
}

/* NEAREST, ANY, COUNT: as many blocks have room as there are rays; floats are unsure of few. */
static void add_one(cast_run *run)
{
    const tml_tree_cast_desc *d = run->desc;
    bool is_nearest = d->want == TML_TREE_CAST_NEAREST;
    add_rays(run);
    tml_buffer answers = run->answers, from = run->from, way = run->way;
    tml_buffer t =
        !is_nearest || !tml_buffer_is_none(d->t) ? d->t : array(run, TML_F32, run->count);
    tml_buffer list = array(run, TML_U32, run->count);
    tml_buffer listed_answers = array(run, TML_U32, run->count);
    tml_buffer listed_t = array(run, TML_F32, run->count);
    tml_buffer listed_count = array(run, TML_U32, 1);
    tml_buffer needed = array(run, TML_VEC(TML_U32, 4), run->count);
    const tml_length listed = {.count = run->count, .device = listed_count, .exact = true};
    add_map(run, (tml_map_desc){.kernel = TML_USE(collide_follow_ray),
                                .in = {from, way, run->slope, run->tree},
                                .out = {answers, needed}});
    if (is_nearest)
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_answer_ray),
                                    .in = {answers, from, way, run->tree},
                                    .out = {answers, t}});
    add_unsure(run, answers, list, listed_count);
    if (d->want == TML_TREE_CAST_COUNT) /* COUNT does not keep the certain triangles */
        needed = (tml_buffer){0, 0};
    add_blocks(run, list, listed, needed, listed_answers, run->count + RAYS_LEAST,
               TML_USE(collide_settle_best));
    add_map(run,
            (tml_map_desc){.kernel = TML_USE(collide_answer_listed),
                           .params = {.u = {run->want, (uint32_t)run->blocks, 0, 1}},
                           .in = {listed_answers, run->slots_ray, run->slots_t, run->slots_count},
                           .length = listed,
                           .out = {listed_answers, listed_t}});
    tml_gather_desc scatter = {
        .indices = list, .length = listed, .payloads = {{listed_answers, answers}}};
    if (is_nearest)
        scatter.payloads[1] = (tml_payload){listed_t, t};
    program_scatter(&run->p, &scatter);
    add_unsure(run, answers, run->desc->unsure, run->desc->unsure_count);
    if (is_nearest && !tml_buffer_is_none(d->triangles))
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_hit_triangle),
                                    .in = {answers, run->tree},
                                    .out = {d->triangles}});
    if (is_nearest && !tml_buffer_is_none(d->barycentrics))
        add_map(run, (tml_map_desc){.kernel = TML_USE(collide_ray_weights),
                                    .in = {answers, from, way, run->tree},
                                    .out = {d->barycentrics}});
    cast_add_counts(run, d->total);
}

/* ALL. There is room for as many blocks as there are rays, plus half the number of hits: a fourth
 * would hold the hits, and as many again hold triangles that a ray only passes close to. Hits have
 * room for all that the outputs hold, and for the rest of the last ray that has some of them. */
static void add_all(cast_run *run)
{
    const tml_tree_cast_desc *d = run->desc;
    const uint64_t room = cast_hit_room(run->p.tml, d), hits = room + COLLIDE_RAYS_LISTED_MOST;
    add_rays(run);
    tml_buffer list = array(run, TML_U32, run->count);
    tml_buffer hit_ray = array(run, TML_U32, hits);
    tml_buffer hit_triangle = array(run, TML_U32, hits);
    tml_buffer hit_t = array(run, TML_F32, hits);
    tml_buffer hit_place = array(run, TML_U32, hits);
    tml_buffer hit_count = array(run, TML_U32, 1);
    const tml_length found = {.count = hits, .device = hit_count, .exact = true};
    add_map(run, (tml_map_desc){.kernel = TML_USE(collide_number_ray), .out = {list}});
    add_blocks(run, list, d->length, (tml_buffer){0, 0}, run->answers, run->count + hits / 2,
               TML_USE(collide_settle_block));
    add_unsure(run, run->answers, run->desc->unsure, run->desc->unsure_count);
    add_expand(run, (tml_expand_desc){
                        .count_kernel = TML_USE(collide_block_hits),
                        .emit_kernel = TML_USE(collide_list_hit),
                        .in = {run->slots_t, run->slots, run->slots_ray, run->tree},
                        .length = {.count = run->blocks, .device = run->slots_count, .exact = true},
                        .out = {hit_ray, hit_triangle, hit_t},
                        .total = hit_count});
    add_map(run, (tml_map_desc){.kernel = TML_USE(collide_place_hit),
                                .params = {.u = {(uint32_t)hits, (uint32_t)room, 0, 1}},
                                .in = {hit_ray, hit_t, hit_triangle, hit_count},
                                .length = found,
                                .out = {hit_place}});
    tml_gather_desc scatter = {.indices = hit_place, .length = found};
    const tml_payload outputs[] = {{hit_ray, d->rays}, {hit_triangle, d->triangles}, {hit_t, d->t}};
    for (int i = 0, given = 0; i < 3; i++)
        if (!tml_buffer_is_none(outputs[i].out))
            scatter.payloads[given++] = outputs[i];
    program_scatter(&run->p, &scatter);
    const tml_params counting = {.u = {(uint32_t)run->blocks, 0, 0, 1}};
    if (!tml_buffer_is_none(d->total))
        add_expand(run, (tml_expand_desc){.count_kernel = TML_USE(collide_total_hits),
                                          .params = counting,
                                          .in = {hit_count, run->slots_count},
                                          .length = tml_length_of(1),
                                          .total = d->total});
    if (tml_buffer_is_none(d->hits) && tml_buffer_is_none(d->counts))
        return;
    add_map(run,
            (tml_map_desc){.kernel = TML_USE(collide_ray_hits),
                           .params = counting,
                           .in = {run->answers, run->slots_ray, run->slots_t, run->slots_count},
                           .out = {run->answers}});
    cast_add_counts(run, (tml_buffer){0, 0});
}

/* Adds all steps. The packed tree exists. */
static void add_steps(cast_run *run)
{
    const tml_tree *tree = run->desc->tree;
    uint32_t children = tree->levels ? tree->level_count[TML_MAX_OF(tree->levels, 2u) - 1] : 0;
    run->tree = tree->cast->buffers[CAST_TREE];
    run->want = run->desc->want == TML_TREE_CAST_ALL ? TML_TREE_CAST_COUNT : run->desc->want;
    run->params = (tml_params){
        .u = {run->want, first_leaf(tree), (1u << children) - 1, (uint32_t)node_vectors(tree)}};
    run->count = run->desc->length.count;
    if (cast_hit_room(run->p.tml, run->desc) > 0)
        add_all(run);
    else
        add_one(run);
}

/* ---- the calls ------------------------------------------------------------------------------- */

bool cast_fits(const tml_context *tml, const tml_tree_cast_desc *desc)
{
    return desc->length.count <= RAYS_MOST && 4 * tree_vectors(desc->tree) <= UINT32_MAX &&
           cast_hit_room(tml, desc) <= RAYS_MOST;
}

static tml_status prepare(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_refuse(tml, call, "no rays in a frame; use tml_tree_cast, or Vulkan");
    if (!cast_fits(tml, desc))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: more than 2^27 rays or hits, or than 2^32 words of a tree, are more "
                         "than a device counts; use tml_tree_cast",
                         call);
    tree_learn(tml);
    return cast_pack(tml, call, desc->tree);
}

static program cast_record(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    tml_status status = prepare(tml, call, desc);
    cast_run run = {.p = program_begin(tml, call), .desc = desc};
    if (status != TML_OK)
        run.p.status = status;
    else
        add_steps(&run);
    return run.p;
}

tml_status cast_enqueue(tml_context *tml, const char *call, const tml_tree_cast_desc *desc)
{
    return program_enqueue(cast_record(tml, call, desc), (tml_buffer){0, 0});
}

#include "kernels/kernel_end.h"
