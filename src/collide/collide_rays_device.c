/* Rays on the device: a kernel follows each down the packed tree, doubles settle what floats are unsure of, and what is
 * still unsure is listed and cast on the host. */
#include <string.h>

#include "collide/collide_cast.h"
#include "kernels/kernel.h"
#include "stream/stream_internal.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_cast.k.h"
#include "kernels/real64.k.h"
/* Uses the formulas above. */
#include "kernels/collide_rays.k.h"
#include "kernels/real64_lines.k.h"

#include "collide_rays_library.h"

_Static_assert(COLLIDE_RAYS_NEAREST == TML_CAST_NEAREST && COLLIDE_RAYS_ANY == TML_CAST_ANY,
               "as kernels tell them");

/* A vector of the packed tree. u[0]: levels; u[1]: leaves; u[2]: vectors of the nodes. */
TML_KERNEL_WITH(collide_rays, uvec4, collide_pack_tree,
                (tml_words boxes, tml_words triangles, tml_words ids, tml_index at, tml_params p), {
                    if (U(at) < p.u[2])
                        return collide_rays_node(
                            boxes, collide_rays_group(U(at) / COLLIDE_RAYS_NODE, p.u[0], p.u[1]),
                            U(at) % COLLIDE_RAYS_NODE);
                    uint slot = (U(at) - p.u[2]) / COLLIDE_RAYS_SLOT;
                    uint corner = (U(at) - p.u[2]) % COLLIDE_RAYS_SLOT;
                    uint from = COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) +
                                COLLIDE_CORNER_WORDS * corner + slot % COLLIDE_WIDTH;
                    return UVEC4(
                        tml_word(triangles, from), tml_word(triangles, from + COLLIDE_WIDTH),
                        tml_word(triangles, from + 2u * COLLIDE_WIDTH), tml_word(ids, slot));
                })

/* A ray in its pose. u[0]: poses; u[1]: not 0 if each ray names one. A pose that is not there gives no direction. */
TML_KERNEL_OUTS_WITH(collide_rays, (vec3 from, vec3 way), collide_pose_ray,
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

/* A ray as collide_rays_walk has it. What hits nothing ends before it begins; what floats cannot follow has a slope above
 * 2. u[0]: not 0 if each ray has limits; f[0]: else where all end. */
TML_KERNEL_OUTS_WITH(
    collide_rays, (vec4 from, vec4 way, vec2 slope), collide_begin_ray,
    (vec3 origin, vec3 direction, tml_words limits, tml_index i, tml_params p), {
        float t_min = p.u[0] != 0u ? tml_word_float(limits, 2u * U(i)) : 0.0f;
        float t_max = p.u[0] != 0u ? tml_word_float(limits, 2u * U(i) + 1u) : p.f[0];
        float size = collide_farthest(direction);
        vec3 along = collide_rays_along(direction, collide_rays_largest(direction));
        bool is_none = is_nan(t_min) || is_nan(t_max) || t_min > t_max || t_max < 0.0f ||
                       is_nan(origin.x + origin.y + origin.z) || is_inf(origin.x) ||
                       is_inf(origin.y) || is_inf(origin.z) || is_nan(direction.x) ||
                       is_nan(direction.y) || is_nan(direction.z) || is_inf(size);
        t_min = max(t_min, 0.0f);
        t_max = min(t_max, 1.2676506002282294e30f); /* 2^100, as CAST_T_MAX */
        /* within 2^30; 2^41 */
        bool fits = collide_rays_is_moderate(origin.x, 0x4e800000u) &&
                    collide_rays_is_moderate(origin.y, 0x4e800000u) &&
                    collide_rays_is_moderate(origin.z, 0x4e800000u) &&
                    collide_rays_is_moderate(direction.x, 0x54000000u) &&
                    collide_rays_is_moderate(direction.y, 0x54000000u) &&
                    collide_rays_is_moderate(direction.z, 0x54000000u) &&
                    collide_rays_is_moderate(t_min, 0x7f000000u) &&
                    collide_rays_is_moderate(t_max, 0x7f000000u) && size >= 9.094947017729282e-13f;
        collide_begin_ray_out o;
        o.slope = VEC2(4.0f, 0.0f);
        if (fits && !is_none)
            o.slope = VEC2(real64_quotient(along.x, along.z), real64_quotient(along.y, along.z));
        o.from = VEC4(origin.x, origin.y, origin.z, t_min);
        o.way = VEC4(direction.x, direction.y, direction.z, t_max);
        if (is_none) {
            o.from.w = 1.0f;
            o.way.w = 0.0f;
            o.slope.x = 0.0f;
        }
        return o;
    })

TML_KERNEL_WITH(collide_rays, uvec4, collide_follow_ray,
                (vec4 from, vec4 way, vec2 slope, tml_words tree, tml_params p), {
                    return collide_rays_walk(from, way, slope, tree, p.u[0], p.u[1], p.u[2],
                                             p.u[3]);
                })

/* A ray's answer (NEAREST: the triangle; else how many are hit) and t, where no doubles are needed but for t; else UNSURE.
 * u as collide_rays_walk's. */
TML_KERNEL_OUTS_WITH(collide_rays, (uint answer, float t), collide_answer_ray,
                     (uvec4 found, vec4 from, vec4 way, tml_words tree, tml_params p), {
                         collide_answer_ray_out o;
                         o.answer = found.x;
                         o.t = uintBitsToFloat(COLLIDE_RAYS_INFINITY);
                         if ((found.y & found.z & found.w) != COLLIDE_RAYS_NONE) {
                             o.answer = COLLIDE_RAYS_UNSURE;
                         } else if (p.u[0] == COLLIDE_RAYS_NEAREST &&
                                    found.x < COLLIDE_RAYS_UNSURE) {
                             uint at = p.u[3] + COLLIDE_RAYS_SLOT * found.x;
                             uvec4 a = tml_word_uvec4(tree, at);
                             uvec4 b = tml_word_uvec4(tree, at + 1u);
                             uvec4 c = tml_word_uvec4(tree, at + 2u);
                             uint t = real64_line_t(real64_vec3_of(UVEC3(a.x, a.y, a.z)),
                                                    real64_vec3_of(UVEC3(b.x, b.y, b.z)),
                                                    real64_vec3_of(UVEC3(c.x, c.y, c.z)),
                                                    real64_vec3_at(from), real64_vec3_at(way));
                             o.answer = t == REAL64_FLOAT_NAN ? COLLIDE_RAYS_UNSURE : a.w;
                             o.t = uintBitsToFloat(t);
                         }
                         return o;
                     })

/* The same from doubles, where these are enough. */
TML_KERNEL_OUTS_WITH(
    collide_rays, (uint answer, float t), collide_settle_ray,
    (uvec4 found, vec4 from, vec4 way, tml_words tree, tml_params p), {
        bool is_nearest = p.u[0] == COLLIDE_RAYS_NEAREST;
        bool is_unsure = found.x == COLLIDE_RAYS_UNSURE;
        uint least = COLLIDE_RAYS_INFINITY;
        uint t_min = floatBitsToUint(from.w);
        uint t_max = floatBitsToUint(way.w);
        real64_vec3 origin = real64_vec3_at(from);
        real64_vec3 direction = real64_vec3_at(way);
        collide_settle_ray_out o;
        o.answer = is_nearest ? COLLIDE_RAYS_NONE : found.x;
        for (uint i = is_nearest ? 0u : 1u; i < 4u && !is_unsure; i++) {
            uint slot = i == 0u ? found.x : i == 1u ? found.y : i == 2u ? found.z : found.w;
            if (slot != COLLIDE_RAYS_NONE) {
                uint at = p.u[3] + COLLIDE_RAYS_SLOT * (slot & ~COLLIDE_RAYS_PERHAPS);
                uvec4 corner = tml_word_uvec4(tree, at);
                uint triangle = corner.w;
                real64_vec3 a = real64_vec3_of(UVEC3(corner.x, corner.y, corner.z));
                corner = tml_word_uvec4(tree, at + 1u);
                real64_vec3 b = real64_vec3_of(UVEC3(corner.x, corner.y, corner.z));
                corner = tml_word_uvec4(tree, at + 2u);
                real64_vec3 c = real64_vec3_of(UVEC3(corner.x, corner.y, corner.z));
                uint passes = 1u;
                if ((slot & COLLIDE_RAYS_PERHAPS) != 0u)
                    passes = real64_line_passes(a, b, c, origin, direction);
                if (passes != 0u) {
                    uint t = real64_line_t(a, b, c, origin, direction);
                    /* What is rounded to another float than an end is on the same side of it. */
                    bool is_below = t > 0x7fffffffu || t < t_min;
                    is_unsure = passes == 2u || t == REAL64_FLOAT_NAN || t == t_min || t == t_max;
                    if (is_below || t > t_max)
                        t = COLLIDE_RAYS_INFINITY;
                    else if (!is_nearest)
                        o.answer += 1u;
                    else if (t < least || (t == least && triangle < o.answer))
                        o.answer = triangle;
                    least = min(least, t);
                }
            }
        }
        if (is_unsure)
            o.answer = COLLIDE_RAYS_UNSURE;
        o.t = uintBitsToFloat(least);
        return o;
    })

TML_KERNEL_WITH(collide_rays, bool, collide_is_ray_unsure, (uint answer),
                { return answer == COLLIDE_RAYS_UNSURE; })

/* u[0]: what an answer is that is no hit. */
TML_KERNEL(bool, collide_is_ray_hit, (uint answer, tml_params p), { return answer != p.u[0]; })

/* ---- buffers --------------------------------------------------------------------------------- */

/* Below, the host is faster than a device answers; above, indices and lists do not fit. */
enum { RAYS_LEAST = 1024, RAYS_MOST = 1 << 27 };

/* What a tree keeps on the device for rays: itself, packed; its triangles' numbers; and room for a call's rays, those that
 * floats are unsure of (LISTED) and those that doubles are unsure of (LEFT). */
enum {
    TREE,
    IDS,
    POSED_FROM,
    POSED_WAY,
    FROM,
    WAY,
    SLOPE,
    FOUND,
    ANSWERS,
    T,
    LISTED,
    LISTED_FROM,
    LISTED_WAY,
    LISTED_FOUND,
    LISTED_ANSWERS,
    LISTED_T,
    LISTED_COUNT,
    LEFT,
    LEFT_COUNT,
    BUFFERS
};
struct collide_rays {
    tml_buffer buffers[BUFFERS];
    uint64_t room; /* rays */
    bool is_packed;
};

void collide_rays_destroy(tml_context *tml, tml_tree *tree)
{
    struct collide_rays *rays = tree->rays;
    if (!rays)
        return;
    for (uint32_t i = 0; i < BUFFERS; i++)
        tml_buffer_destroy(tml, rays->buffers[i]);
    tml_free(tml, rays, sizeof *rays);
    tree->rays = NULL;
}

void collide_rays_age(tml_tree *tree)
{
    if (tree->rays)
        tree->rays->is_packed = false;
}

/* One call, resolved. */
typedef struct rays_run {
    tml_context *tml;
    const tml_tree_cast_desc *desc;
    tml_tree *tree;
    struct collide_rays *rays;
    tml_buffer *buffers; /* of rays */
    uint64_t count;
    uint64_t listed_room;
    tml_buffer answers, t; /* the desc's, where it has them */
    tml_status status;
} rays_run;

/* Makes a buffer unless it is there. */
static void make(rays_run *run, int which, tml_type type, uint64_t count, const void *data)
{
    tml_buffer *buffer = &run->buffers[which];
    if (run->status == TML_OK && tml_buffer_is_none(*buffer))
        run->status = tml_buffer_create(
            run->tml,
            &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = "rays"},
            buffer);
}

/* Rays that floats are unsure of, at most. Where they are more, the host casts the rest. */
static uint64_t listed_room(uint64_t count)
{
    return count / 8 + RAYS_LEAST;
}

static void make_rooms(rays_run *run)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3), vec4_type = TML_VEC(TML_F32, 4);
    const tml_type uvec4_type = TML_VEC(TML_U32, 4);
    uint64_t count = run->count, listed = listed_room(count);
    if (run->rays->room < count)
        for (int i = POSED_FROM; i < BUFFERS; i++) {
            tml_buffer_destroy(run->tml, run->buffers[i]);
            run->buffers[i] = (tml_buffer){0, 0};
        }
    else
        count = run->rays->room, listed = listed_room(count);
    run->listed_room = listed;
    if (!tml_buffer_is_none(run->desc->poses)) {
        make(run, POSED_FROM, vec3_type, count, NULL);
        make(run, POSED_WAY, vec3_type, count, NULL);
    }
    make(run, FROM, vec4_type, count, NULL);
    make(run, WAY, vec4_type, count, NULL);
    make(run, SLOPE, TML_VEC(TML_F32, 2), count, NULL);
    make(run, FOUND, uvec4_type, count, NULL);
    if (tml_buffer_is_none(run->answers))
        make(run, ANSWERS, TML_U32, count, NULL);
    if (tml_buffer_is_none(run->t))
        make(run, T, TML_F32, count, NULL);
    make(run, LISTED, TML_U32, listed, NULL);
    make(run, LISTED_FROM, vec4_type, listed, NULL);
    make(run, LISTED_WAY, vec4_type, listed, NULL);
    make(run, LISTED_FOUND, uvec4_type, listed, NULL);
    make(run, LISTED_ANSWERS, TML_U32, listed, NULL);
    make(run, LISTED_T, TML_F32, listed, NULL);
    make(run, LISTED_COUNT, TML_U32, 1, NULL);
    make(run, LEFT, TML_U32, listed, NULL);
    make(run, LEFT_COUNT, TML_U32, 1, NULL);
    if (run->status == TML_OK)
        run->rays->room = count;
    if (tml_buffer_is_none(run->answers))
        run->answers = run->buffers[ANSWERS];
    if (tml_buffer_is_none(run->t))
        run->t = run->buffers[T];
}

/* ---- the packed tree ------------------------------------------------------------------------- */

/* Nodes have levels of their own below one root: the first leaf is number (8^depth - 1) / 7. */
static uint32_t first_leaf(const tml_tree *tree)
{
    uint32_t first = 0;
    for (uint32_t level = TML_MAX_OF(tree->levels, 2u); level > 1; level--)
        first = COLLIDE_WIDTH * first + 1;
    return first;
}

/* Vectors that nodes take: up to the last that has leaves. */
static uint64_t node_vectors(const tml_tree *tree)
{
    uint32_t parents = TML_CEIL_DIV(tree->level_count[1], COLLIDE_WIDTH);
    return (uint64_t)COLLIDE_RAYS_NODE * ((first_leaf(tree) - 1) / COLLIDE_WIDTH + parents);
}

static uint64_t tree_vectors(const tml_tree *tree)
{
    return node_vectors(tree) + (uint64_t)COLLIDE_RAYS_SLOT * tree->level_count[0];
}

static void map(rays_run *run, tml_map_desc desc)
{
    desc.length = desc.length.count ? desc.length : tml_length_of(run->count);
    if (run->status == TML_OK)
        run->status = tml_map(run->tml, &desc);
}

static void pack(rays_run *run)
{
    tml_tree *tree = run->tree;
    tml_buffer boxes = {0, 0}, triangles = {0, 0}, ids = collide_build_ids(tree);
    if (run->status != TML_OK || (run->rays->is_packed && !tree->stale_again))
        return;
    run->status = collide_device_tree(run->tml, tree, &boxes, &triangles);
    if (tml_buffer_is_none(ids)) {
        make(run, IDS, TML_U32, tree->level_count[0], tree->ids);
        ids = run->buffers[IDS];
    }
    make(run, TREE, TML_VEC(TML_U32, 4), tree_vectors(tree), NULL);
    map(run, (tml_map_desc){.kernel = TML_USE(collide_pack_tree),
                            .params = {.u = {tree->levels, tree->level_count[1],
                                             (uint32_t)node_vectors(tree)}},
                            .in = {boxes, triangles, ids},
                            .length = tml_length_of(tree_vectors(tree)),
                            .out = run->buffers[TREE]});
    run->rays->is_packed = run->status == TML_OK;
}

/* ---- streams --------------------------------------------------------------------------------- */

static tml_params walk_params(const rays_run *run)
{
    const tml_tree *tree = run->tree;
    uint32_t children = tree->level_count[TML_MAX_OF(tree->levels, 2u) - 1];
    return (tml_params){.u = {(uint32_t)run->desc->want, first_leaf(tree), (1u << children) - 1,
                              (uint32_t)node_vectors(tree)}};
}

/* Enqueues what each ray finds. */
static void follow(rays_run *run)
{
    const tml_tree_cast_desc *d = run->desc;
    tml_buffer *buffers = run->buffers, origins = d->origins, directions = d->directions;
    bool has_limits = !tml_buffer_is_none(d->limits);
    bool has_pose_of = !tml_buffer_is_none(d->pose_of);
    if (!tml_buffer_is_none(d->poses)) {
        uint32_t poses = (uint32_t)(stream_count_of(run->tml, d->poses) / 3);
        map(run, (tml_map_desc){
                     .kernel = TML_USE(collide_pose_ray),
                     .params = {.u = {poses, has_pose_of}},
                     .in = {origins, directions, d->poses, has_pose_of ? d->pose_of : d->poses},
                     .out = buffers[POSED_FROM],
                     .also = {buffers[POSED_WAY]}});
        origins = buffers[POSED_FROM];
        directions = buffers[POSED_WAY];
    }
    map(run,
        (tml_map_desc){.kernel = TML_USE(collide_begin_ray),
                       .params = {.f = {d->t_max > 0 ? d->t_max : CAST_T_MAX}, .u = {has_limits}},
                       .in = {origins, directions, has_limits ? d->limits : origins},
                       .out = buffers[FROM],
                       .also = {buffers[WAY], buffers[SLOPE]}});
    map(run, (tml_map_desc){.kernel = TML_USE(collide_follow_ray),
                            .params = walk_params(run),
                            .in = {buffers[FROM], buffers[WAY], buffers[SLOPE], buffers[TREE]},
                            .out = buffers[FOUND]});
}

/* Enqueues the list of rays without an answer. */
static void list_unsure(rays_run *run, tml_compact_desc list)
{
    list.keep = (tml_keep){.kernel = TML_USE(collide_is_ray_unsure), .in = {run->answers}};
    list.length = tml_length_of(run->count);
    if (run->status == TML_OK)
        run->status = tml_compact(run->tml, &list);
}

static void scatter(rays_run *run, tml_scatter_desc desc)
{
    if (run->status == TML_OK)
        run->status = tml_scatter(run->tml, &desc);
}

/* Enqueues answers, and those of rays for which doubles are needed, as far as these are enough. */
static void answer(rays_run *run)
{
    tml_buffer *b = run->buffers;
    tml_length listed = {.count = run->listed_room, .device = b[LISTED_COUNT]};
    map(run, (tml_map_desc){.kernel = TML_USE(collide_answer_ray),
                            .params = walk_params(run),
                            .in = {b[FOUND], b[FROM], b[WAY], b[TREE]},
                            .out = run->answers,
                            .also = {run->t}});
    list_unsure(run, (tml_compact_desc){.payloads = {{b[FOUND], b[LISTED_FOUND]},
                                                     {b[FROM], b[LISTED_FROM]},
                                                     {b[WAY], b[LISTED_WAY]}},
                                        .indices = b[LISTED],
                                        .count = b[LISTED_COUNT]});
    map(run, (tml_map_desc){.kernel = TML_USE(collide_settle_ray),
                            .params = walk_params(run),
                            .in = {b[LISTED_FOUND], b[LISTED_FROM], b[LISTED_WAY], b[TREE]},
                            .length = listed,
                            .out = b[LISTED_ANSWERS],
                            .also = {b[LISTED_T]}});
    scatter(run, (tml_scatter_desc){
                     .indices = b[LISTED],
                     .length = listed,
                     .payloads = {{b[LISTED_ANSWERS], run->answers}, {b[LISTED_T], run->t}}});
    list_unsure(run, (tml_compact_desc){.indices = b[LEFT], .count = b[LEFT_COUNT]});
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* Casts count rays that are left on the host, and puts their answers where they belong. */
static void cast_left(rays_run *run, uint32_t count)
{
    enum { INPUTS = 4 };
    const tml_tree_cast_desc *d = run->desc;
    tml_context *tml = run->tml;
    const tml_buffer all[INPUTS] = {d->origins, d->directions, d->limits, d->pose_of};
    tml_buffer some[INPUTS + 2] = {{0, 0}};
    tml_gather_desc gather = {.indices = run->buffers[LEFT], .length = tml_length_of(count)};
    tml_tree_cast_desc left = *d;
    uint32_t gathered = 0;
    run->status = collide_tree_fetch(tml, "tml_tree_cast", run->tree, COLLIDE_STALE_ALL);
    for (int i = 0; i < INPUTS + 2 && run->status == TML_OK; i++) {
        tml_type type = i == INPUTS ? TML_U32 : TML_F32;
        if (i < INPUTS && !tml_buffer_describe(tml, all[i], &type, NULL))
            continue;
        run->status =
            tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count}, &some[i]);
        if (i < INPUTS)
            gather.payloads[gathered++] = (tml_payload){all[i], some[i]};
    }
    if (run->status == TML_OK)
        run->status = tml_gather(tml, &gather);
    left.origins = some[0];
    left.directions = some[1];
    left.limits = some[2];
    left.pose_of = some[3];
    left.hits = left.barycentrics = left.triangles = left.counts = left.t = (tml_buffer){0, 0};
    if (d->want == TML_CAST_NEAREST)
        left.triangles = some[INPUTS];
    else
        left.counts = some[INPUTS];
    left.t = d->want == TML_CAST_NEAREST ? some[INPUTS + 1] : (tml_buffer){0, 0};
    if (run->status == TML_OK)
        run->status = cast_on_host(tml, &left, count);
    scatter(run, (tml_scatter_desc){
                     .indices = run->buffers[LEFT],
                     .length = tml_length_of(count),
                     .payloads = {{some[INPUTS], run->answers}, {some[INPUTS + 1], run->t}}});
    for (int i = 0; i < INPUTS + 2; i++)
        tml_buffer_destroy(tml, some[i]);
}

/* ---- the call -------------------------------------------------------------------------------- */

tml_status rays_unsure(tml_context *tml, const tml_tree *tree, uint32_t counts[2])
{
    tml_status status = TML_OK;
    counts[0] = counts[1] = 0;
    if (tree->rays)
        status = tml_buffer_read(tml, tree->rays->buffers[LISTED_COUNT], &counts[0]);
    if (tree->rays && status == TML_OK)
        status = tml_buffer_read(tml, tree->rays->buffers[LEFT_COUNT], &counts[1]);
    return status;
}

/* OpenGL's compilers take minutes for doubles by integers. */
bool rays_run_on_device(const tml_context *tml, const tml_tree_cast_desc *desc, uint64_t count)
{
    const tml_tree *tree = desc->tree;
    bool is_moderate = true;
    for (int k = 0; k < 3; k++)
        is_moderate = is_moderate && tree->lower[k] >= -0x1p30f && tree->upper[k] <= 0x1p30f;
    return tml->device.engine == TML_ENGINE_VULKAN && tree->levels > 0 && is_moderate &&
           desc->want != TML_CAST_ALL && tml_buffer_is_none(desc->barycentrics) &&
           count >= RAYS_LEAST && count <= RAYS_MOST && 4 * tree_vectors(tree) <= UINT32_MAX;
}

tml_status rays_on_device(tml_context *tml, const tml_tree_cast_desc *desc, uint64_t count)
{
    tml_tree *tree = desc->tree;
    uint32_t left = 0;
    if (!tree->rays) {
        tree->rays = tml_alloc(tml, sizeof *tree->rays);
        if (!tree->rays)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_tree_cast: no memory for a tree's handles");
        memset(tree->rays, 0, sizeof *tree->rays);
    }
    rays_run run = {.tml = tml,
                    .desc = desc,
                    .tree = tree,
                    .rays = tree->rays,
                    .buffers = tree->rays->buffers,
                    .count = count,
                    .answers = desc->want == TML_CAST_NEAREST ? desc->triangles : desc->counts,
                    .t = desc->t};
    collide_learn(tml);
    make_rooms(&run);
    pack(&run);
    if (run.status == TML_ERROR_OUT_OF_DEVICE_MEMORY) {
        collide_rays_destroy(tml, tree);
        return cast_on_host(tml, desc, count);
    }
    follow(&run);
    answer(&run);
    if (run.status == TML_OK)
        run.status = tml_buffer_read(tml, run.buffers[LEFT_COUNT], &left);
    if (run.status == TML_OK && left > run.listed_room)
        return cast_on_host(tml, desc, count);
    if (left > 0)
        cast_left(&run, left);
    if (!tml_buffer_is_none(desc->hits))
        map(&run, (tml_map_desc){
                      .kernel = TML_USE(collide_is_ray_hit),
                      .params = {.u = {desc->want == TML_CAST_NEAREST ? COLLIDE_RAYS_NONE : 0}},
                      .in = {run.answers},
                      .out = desc->hits});
    return run.status;
}

#include "kernels/kernel_end.h"
