/* Trees on the device: build, rebuild and refit as stream operations, with nothing read back.
 *
 * One sort gives three orders of the triangles: along x, y and z. A step halves each range of
 * triangles at the median of its longest side, as the host does. The ends of a range's three orders
 * give its extents, half of one order decides each triangle's side, and a stable partition splits
 * the three orders. After a step, all left halves lie before all right halves. So ranges lie in the
 * bit-reversed order of their numbers, their positions follow from arithmetic alone, and no step
 * depends on the data. Maps then fill slots, triangles and boxes, level by level.
 *
 * The host's copies are made again from the device's ids and triangles when a call first needs
 * them.
 *
 * After: Wald, Havran: On Building Fast kd-Trees for Ray Tracing, and on Doing that in O(N log N).
 * 2006 (orders that are kept by partitions); Blelloch: Vector Models for Data-Parallel Computing.
 * 1990 (partitions of all ranges at once). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/kernel.h"
#include "tree/tree_internal.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/mesh.k.h"
/* Needs the headers above. */
#include "kernels/collide_build.k.h"
#include "stream/program.h"

#include "tree_build_library.h"

/* Evenly spaced samples of each level's boxes. The host reads them to learn each level's mean box
 * size and the root's box. */
enum { BOX_SAMPLE_WORDS = 6, SAMPLE_WORDS = BOX_SAMPLE_WORDS * COLLIDE_SAMPLES };

/* A triangle of the mesh: its corners, and whether they are usable. u[0]: number of vertices; u[1]:
 * words per index, 0 without indices. */
TML_KERNEL_OUTS_WITH(tree_build, (uvec3 corners, uint is_usable), collide_mesh_triangle,
                     (tml_words indices, tml_words vertices, tml_index triangle, tml_params p), {
                         uint at = 3u * U(triangle);
                         collide_mesh_triangle_out o;
                         o.corners = UVEC3(mesh_index_at(indices, at, p.u[1]),
                                           mesh_index_at(indices, at + 1u, p.u[1]),
                                           mesh_index_at(indices, at + 2u, p.u[1]));
                         o.is_usable =
                             mesh_vertex_is_usable(vertices, o.corners.x, p.u[0]) &&
                                     mesh_vertex_is_usable(vertices, o.corners.y, p.u[0]) &&
                                     mesh_vertex_is_usable(vertices, o.corners.z, p.u[0])
                                 ? 1u
                                 : 0u;
                         return o;
                     })
TML_KERNEL(bool, collide_is_usable, (uint is_usable), { return is_usable != 0u; })

/* Twice the centres of u[0] triangles' boxes along x, then y, then z; and the triangles. */
TML_KERNEL_OUTS((float middle, uint item), collide_middle,
                (tml_words corners, tml_words vertices, tml_index at, tml_params p), {
                    uint axis = U(at) / p.u[0];
                    collide_middle_out o;
                    o.item = U(at) % p.u[0];
                    float x = tml_word_float(vertices, 3u * tml_word(corners, 3u * o.item) + axis);
                    float y =
                        tml_word_float(vertices, 3u * tml_word(corners, 3u * o.item + 1u) + axis);
                    float z =
                        tml_word_float(vertices, 3u * tml_word(corners, 3u * o.item + 2u) + axis);
                    o.middle = min(min(x, y), z) + max(max(x, y), z);
                    return o;
                })

/* The at-th triangle of a range's order along its longest side, and 1 if it is in the right half.
 * u[0], u[1]: least and more of the ranges (collide_block); u[2]: number of triangles. */
TML_KERNEL_OUTS_WITH(tree_build, (uint item, uint side), collide_halve,
                     (tml_words order, tml_words middles, tml_index at, tml_params p), {
                         uvec3 range = collide_block(U(at), p.u[0], p.u[1]);
                         uint first = 3u * range.y;
                         float x = collide_extent(order, middles, first, range.z, 0u, p.u[2]);
                         float y = collide_extent(order, middles, first, range.z, 1u, p.u[2]);
                         float z = collide_extent(order, middles, first, range.z, 2u, p.u[2]);
                         uint axis = y > x ? 1u : 0u;
                         if (z > max(x, y))
                             axis = 2u;
                         uint rank = U(at) - range.y;
                         collide_halve_out o;
                         o.item = tml_word(order, first + axis * range.z + rank);
                         o.side = rank >= (range.z + 1u) / 2u ? 1u : 0u;
                         return o;
                     })
TML_KERNEL(bool, collide_is_left, (uint item, tml_words sides),
           { return tml_word(sides, item) == 0u; })

/* A slot's triangle and its corners. u[0], u[1]: least and more (collide_block) of the leaves;
 * u[2]: bits in a leaf's number. */
TML_KERNEL_OUTS_WITH(tree_build, (uint id, uvec3 corners), collide_slot,
                     (tml_words order, tml_words ids, tml_words mesh, tml_index slot, tml_params p),
                     {
                         uint leaf = U(slot) / COLLIDE_WIDTH;
                         uint lane = U(slot) % COLLIDE_WIDTH;
                         uint range =
                             p.u[2] > 0u ? collide_reverse_bits(leaf) >> (32u - p.u[2]) : 0u;
                         uint size = range < p.u[1] ? p.u[0] + 1u : p.u[0];
                         uint first = range * p.u[0] + min(range, p.u[1]);
                         uint item = tml_word(order, 3u * first + min(lane, size - 1u));
                         collide_slot_out o;
                         o.id = lane < size ? tml_word(ids, item) : 0xffffffffu;
                         o.corners =
                             UVEC3(tml_word(mesh, 3u * item), tml_word(mesh, 3u * item + 1u),
                                   tml_word(mesh, 3u * item + 2u));
                         return o;
                     })

/* A word of the tree's triangles, copied bit for bit. */
TML_KERNEL_WITH(tree_build, uint, collide_triangle_word,
                (tml_words corners, tml_words vertices, tml_index at), {
                    uint leaf = U(at) / COLLIDE_TRIANGLE_WORDS;
                    uint word = U(at) % COLLIDE_TRIANGLE_WORDS;
                    uint slot = COLLIDE_WIDTH * leaf + word % COLLIDE_WIDTH;
                    uint corner = tml_word(corners, 3u * slot + word / COLLIDE_CORNER_WORDS);
                    return tml_word(vertices,
                                    3u * corner + word % COLLIDE_CORNER_WORDS / COLLIDE_WIDTH);
                })

TML_KERNEL_OUTS_WITH(tree_build, (vec3 low, vec3 high, vec3 normal, vec2 range), collide_fit_leaf,
                     (tml_words triangles, tml_index leaf), {
                         collide_box box = collide_leaf_box(triangles, U(leaf));
                         collide_slab slab = collide_leaf_slab(triangles, U(leaf), box);
                         collide_fit_leaf_out o;
                         o.low = box.low;
                         o.high = box.high;
                         o.normal = slab.normal;
                         o.range = VEC2(slab.low, slab.high);
                         return o;
                     })

/* A word of the box array. The leaves' boxes are filled, and their slabs, which begin at word u[1].
 * Boxes of higher levels, and lanes from leaf u[0] on, are left empty. */
TML_KERNEL_WITH(tree_build, float, collide_leaf_word,
                (tml_words lows, tml_words highs, tml_words normals, tml_words ranges, tml_index at,
                 tml_params p),
                {
                    uint word = U(at);
                    if (word >= p.u[1]) {
                        uint slab = (word - p.u[1]) / COLLIDE_SLAB_WORDS;
                        uint k = (word - p.u[1]) % COLLIDE_SLAB_WORDS;
                        return k < 3u ? tml_word_float(normals, 3u * slab + k)
                                      : tml_word_float(ranges, 2u * slab + k - 3u);
                    }
                    uint leaf = word / COLLIDE_BOX_WORDS * COLLIDE_WIDTH + word % COLLIDE_WIDTH;
                    uint k = word % COLLIDE_BOX_WORDS / COLLIDE_WIDTH;
                    float value = k < 3u ? 3e38f : -3e38f;
                    if (leaf < p.u[0])
                        value = k < 3u ? tml_word_float(lows, 3u * leaf + k)
                                       : tml_word_float(highs, 3u * leaf + k - 3u);
                    return value;
                })

/* A word of the box array, fitted to the box's children if it belongs to the level of u[1] boxes
 * that begins at word u[0]. The children begin at word u[2]. Other words are copied. */
TML_KERNEL_WITH(tree_build, float, collide_fit_word,
                (float own, tml_words boxes, tml_index at, tml_params p), {
                    uint word = U(at) - p.u[0];
                    uint group = word / COLLIDE_BOX_WORDS;
                    uint node = COLLIDE_WIDTH * group + word % COLLIDE_WIDTH;
                    uint k = word % COLLIDE_BOX_WORDS / COLLIDE_WIDTH;
                    if (U(at) < p.u[0] || node >= p.u[1] || group >= p.u[1])
                        return own;
                    uint child = p.u[2] + COLLIDE_BOX_WORDS * node + COLLIDE_WIDTH * k;
                    float value = tml_word_float(boxes, child);
                    for (uint i = 1u; i < COLLIDE_WIDTH; i++) {
                        float other = tml_word_float(boxes, child + i);
                        value = k < 3u ? min(value, other) : max(value, other);
                    }
                    return value;
                })

/* A word of the box samples. u[0]: number of leaves; u[1]: samples per level. */
TML_KERNEL_WITH(tree_build, float, collide_sample_word,
                (tml_words boxes, tml_index at, tml_params p), {
                    uint i = U(at) / 6u % p.u[1];
                    uint level = U(at) / 6u / p.u[1];
                    uint count = p.u[0];
                    uint group = 0u;
                    for (uint l = 0u; l < level; l++) {
                        count = (count + COLLIDE_WIDTH - 1u) / COLLIDE_WIDTH;
                        group += count;
                    }
                    uint box = count / p.u[1] * i + count % p.u[1] * i / p.u[1];
                    return tml_word_float(boxes, COLLIDE_BOX_WORDS * (group + box / COLLIDE_WIDTH) +
                                                     COLLIDE_WIDTH * (U(at) % 6u) +
                                                     box % COLLIDE_WIDTH);
                })

/* ---- buffers --------------------------------------------------------------------------------- */

/* The buffers, beside boxes and triangles, with which a tree is built and fitted on the device. A
 * buffer that exists is filled. */
struct tree_build {
    /* the mesh's sound triangles, in mesh order */
    tml_buffer mesh_ids, mesh_corners;
    /* one element per slot, as in tml_tree */
    tml_buffer ids, corners;
    tml_buffer samples; /* of boxes */
};

typedef struct buffer_want {
    tml_buffer *buffer;
    tml_type type;
    uint64_t count;
    const void *data;
    const char *label;
} buffer_want;

static tml_status buffers_make(tml_context *tml, const char *call, const buffer_want *wants,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!tml_buffer_is_none(*wants[i].buffer))
            continue;
        tml_status status = tml_refuse_recording(
            tml, call, "call it once before tml_vulkan_record, to make the tree's buffers");
        TML_THEN(status, tml_buffer_make(tml, wants[i].type, wants[i].count, wants[i].data,
                                         wants[i].label, wants[i].buffer));
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

void tree_build_destroy(tml_context *tml, tml_tree *tree)
{
    struct tree_build *build = tree->build;
    if (!build)
        return;
    tml_buffer *buffers = (tml_buffer *)build;
    for (size_t i = 0; i < sizeof *build / sizeof *buffers; i++)
        tml_buffer_destroy(tml, buffers[i]);
    tml_free(tml, build, sizeof *build);
    tree->build = NULL;
}

tml_buffer tree_build_ids(const tml_tree *tree)
{
    return tree->build ? tree->build->ids : (tml_buffer){0, 0};
}

static tml_status build_begin(tml_context *tml, const char *call, tml_tree *tree)
{
    if (tree->build)
        return TML_OK;
    tree->build = tml_alloc(tml, sizeof *tree->build);
    if (!tree->build)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a tree's handles", call);
    memset(tree->build, 0, sizeof *tree->build);
    return TML_OK;
}

tml_status tree_build_ids_make(tml_context *tml, const char *call, tml_tree *tree, tml_buffer *out)
{
    tml_status status = build_begin(tml, call, tree);
    if (status != TML_OK)
        return status;
    const buffer_want want = {&tree->build->ids, TML_U32, tree->level_count[0], tree->ids,
                              "tree ids"};
    status = buffers_make(tml, call, &want, 1);
    *out = tree->build->ids;
    return status;
}

/* Makes the buffers of a fit. Ids and corners are copied from the host if the device has none. */
static tml_status fit_buffers(tml_context *tml, const char *call, tml_tree *tree)
{
    struct tree_build *build = tree->build;
    const uint64_t slots = tree->level_count[0];
    const buffer_want wants[] = {
        {&build->ids, TML_U32, slots, tree->ids, "tree ids"},
        {&build->corners, TML_VEC(TML_U32, 3), slots, tree->corners, "tree corners"},
        {&build->samples, TML_F32, (uint64_t)SAMPLE_WORDS * tree->levels, NULL, "boxes sampled"},
        {&tree->device_boxes, TML_F32, tree_box_words(tree), NULL, "tree boxes"},
        {&tree->device_triangles, TML_U32, 9 * slots, NULL, "tree triangles"}};
    return buffers_make(tml, call, wants, TML_ARRAY_SIZE(wants));
}

/* Makes mesh_ids and mesh_corners from the host's slots. tree->count elements each. */
static tml_status mesh_buffers(tml_context *tml, const char *call, tml_tree *tree)
{
    struct tree_build *build = tree->build;
    if (!tml_buffer_is_none(build->mesh_corners))
        return TML_OK;
    uint32_t *ids = tml_alloc_array(tml, tree->count, sizeof *ids), next = 0;
    uint32_t *corners = tml_alloc_array(tml, tree->count, 3 * sizeof *corners);
    tml_status status = TML_OK;
    if (!ids || !corners)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of triangles",
                           call, (size_t)tree->count * 4 * sizeof *ids);
    for (uint32_t slot = 0; slot < tree->level_count[0] && status == TML_OK; slot++)
        if (tree->ids[slot] != COLLIDE_NO_TRIANGLE) {
            ids[next] = tree->ids[slot];
            memcpy(corners + 3 * (size_t)next++, tree->corners + 3 * (size_t)slot,
                   3 * sizeof *corners);
        }
    const buffer_want wants[] = {
        {&build->mesh_ids, TML_U32, tree->count, ids, "mesh triangles"},
        {&build->mesh_corners, TML_VEC(TML_U32, 3), tree->count, corners, "mesh corners"}};
    TML_THEN(status, buffers_make(tml, call, wants, TML_ARRAY_SIZE(wants)));
    tml_free(tml, ids, (size_t)tree->count * sizeof *ids);
    tml_free(tml, corners, (size_t)tree->count * 3 * sizeof *corners);
    return status;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Adds to the program: fit triangles and boxes to the vertices, with the slots as they are. */
static void add_fit(program *p, tml_tree *tree, tml_buffer vertices)
{
    const struct tree_build *build = tree->build;
    const uint32_t leaves = tree->level_count[1];
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    const tml_buffer lows = program_array(p, vec3_type, leaves);
    const tml_buffer highs = program_array(p, vec3_type, leaves);
    const tml_buffer normals = program_array(p, vec3_type, leaves);
    const tml_buffer ranges = program_array(p, TML_VEC(TML_F32, 2), leaves);
    const tml_buffer boxes[2] = {tree->device_boxes,
                                 program_array(p, TML_F32, tree_box_words(tree))};
    uint32_t to = (tree->levels - 1) % 2; /* the last level goes to the tree's array */
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_triangle_word),
                                   .in = {build->corners, vertices},
                                   .out = {tree->device_triangles}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_fit_leaf),
                                   .in = {tree->device_triangles},
                                   .out = {lows, highs, normals, ranges}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_leaf_word),
                                   .params.u = {leaves, COLLIDE_BOX_WORDS * tree->group_count},
                                   .in = {lows, highs, normals, ranges},
                                   .out = {boxes[to]}});
    for (uint32_t level = 2; level <= tree->levels; level++, to = !to)
        program_map(p,
                    &(tml_map_desc){.kernel = TML_USE(collide_fit_word),
                                    .params.u = {COLLIDE_BOX_WORDS * tree->level_group[level],
                                                 tree->level_count[level],
                                                 COLLIDE_BOX_WORDS * tree->level_group[level - 1]},
                                    .in = {boxes[to], boxes[to]},
                                    .out = {boxes[!to]}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_sample_word),
                                   .params.u = {leaves, COLLIDE_SAMPLES},
                                   .in = {tree->device_boxes},
                                   .out = {build->samples}});
}

/* Adds to the program: halve each of the `count` ranges. Returns the three orders of the halves. */
static tml_buffer add_halving(program *p, uint32_t n, uint32_t count, tml_buffer middles,
                              tml_buffer order)
{
    const tml_buffer items = program_array(p, TML_U32, n), halves = program_array(p, TML_U32, n);
    const tml_buffer sides = program_array(p, TML_U32, n);
    const tml_buffer halved = program_array(p, TML_U32, 3 * (uint64_t)n);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_halve),
                                   .params.u = {n / count, n % count, n},
                                   .in = {order, middles},
                                   .out = {items, halves}});
    program_scatter(p, &(tml_gather_desc){.indices = items, .payloads = {{halves, sides}}});
    program_compact(
        p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_left), .in = {order, sides}},
                               .payloads = {{order, halved}},
                               .partition = true});
    return halved;
}

/* Adds to the program: sort the triangles and fill the slots, for these vertices. */
static void add_slots(program *p, const tml_tree *tree, tml_buffer vertices)
{
    const struct tree_build *build = tree->build;
    const uint32_t leaves = tree->level_count[1], n = tree->count;
    const uint32_t ends[4] = {0, n, 2 * n, 3 * n}; /* of the three orders */
    const tml_buffer middles = program_array(p, TML_F32, 3 * (uint64_t)n);
    const tml_buffer axes = program_array(p, TML_U32, 4);
    const tml_buffer sorted = program_array(p, TML_U32, 3 * (uint64_t)n);
    tml_buffer order = program_array(p, TML_U32, 3 * (uint64_t)n);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_middle),
                                   .params.u = {n},
                                   .in = {build->mesh_corners, vertices},
                                   .out = {middles, order}});
    if (leaves > 1) {
        program_put(p, axes, ends, sizeof ends);
        program_sort(p, &(tml_sort_desc){.keys = middles,
                                         .segments.offsets = axes,
                                         .payloads = {{order, sorted}}});
        order = sorted;
    }
    uint32_t depth = 0;
    for (; 1u << depth < leaves; depth++)
        order = add_halving(p, n, 1u << depth, middles, order);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_slot),
                                   .params.u = {n / leaves, n % leaves, depth},
                                   .in = {order, build->mesh_ids, build->mesh_corners},
                                   .length = tml_length_of(tree->level_count[0]),
                                   .out = {build->ids, build->corners}});
}

static tml_status check_defined(tml_context *tml, const char *call, const tml_tree *tree)
{
    if (!(tree->stale & COLLIDE_UNDEFINED))
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: the tree's last update on the device failed; call "
                     "tml_tree_update_enqueue with TML_TREE_REBUILD",
                     call);
}

/* Makes the buffers of a fit or a build. On failure the device keeps what it had of the tree. */
static tml_status buffers_of_all(tml_context *tml, const char *call, tml_tree *tree, bool is_build)
{
    tml_status status = build_begin(tml, call, tree);
    TML_THEN(status, fit_buffers(tml, call, tree));
    if (status == TML_OK && is_build)
        status = mesh_buffers(tml, call, tree);
    if (status != TML_OK && !tree->stale) { /* the new buffers are not filled yet */
        tml_buffer_destroy(tml, tree->device_boxes);
        tml_buffer_destroy(tml, tree->device_triangles);
        tree->device_boxes = tree->device_triangles = (tml_buffer){0, 0};
    }
    return status;
}

static tml_status enqueue(tml_context *tml, const char *call, tml_tree *tree, tml_buffer vertices,
                          bool is_build)
{
    tml_status status =
        tml_check_buffer(tml, call, "vertices", vertices, stream_f32x3_types, tree->vertex_count);
    if (status != TML_OK || tree->count == 0)
        return status;
    if (tree->vertex_count > UINT32_MAX / 3 || tree->count > UINT32_MAX / 9)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %" PRIu64 " vertices are more than a device counts the words of; use "
                         "tml_tree_update",
                         call, tree->vertex_count);
    if (!is_build)
        status = check_defined(tml, call, tree);
    const bool is_preparing = tml_prepare_pause(tml); /* the tree's own buffers are made now */
    if (status == TML_OK && (!tree->build || tml_buffer_is_none(tree->build->ids)))
        status = tree_fetch(tml, call, tree, COLLIDE_STALE_IDS);
    TML_THEN(status, buffers_of_all(tml, call, tree, is_build));
    tml_prepare_resume(tml, is_preparing);
    if (status != TML_OK)
        return status;
    tree_learn(tml);
    if (!tml->is_preparing) {
        tree->stale |= COLLIDE_UNDEFINED |
                       (is_build ? COLLIDE_STALE_ALL : COLLIDE_STALE_ALL & ~COLLIDE_STALE_IDS);
        tree_cast_age(tree);
        tree->has_plan = false;
    }
    program p = program_begin(tml, call);
    if (is_build)
        add_slots(&p, tree, vertices);
    add_fit(&p, tree, vertices);
    status = program_enqueue(p, (tml_buffer){0, 0});
    if (status != TML_OK || tml->is_preparing)
        return status;
    tree->stale &= ~(uint32_t)COLLIDE_UNDEFINED;
    if (tml_is_recording(tml))
        tree->stale_again |= tree->stale;
    return TML_OK;
}

static tml_status update_enqueue(tml_context *tml, tml_tree *tree, tml_buffer vertices,
                                 tml_tree_method method)
{
    const char *call = "tml_tree_update_enqueue";
    tml_status status = tree_check_method(tml, call, method);
    return status ? status : enqueue(tml, call, tree, vertices, method == TML_TREE_REBUILD);
}

tml_status tml_tree_update_enqueue(tml_context *tml, tml_tree *tree, tml_buffer vertices,
                                   tml_tree_method method)
{
    tml_status status = TML_ENTER(tml, tree);
    return status ? status : tml_leave(tml, update_enqueue(tml, tree, vertices, method));
}

/* ---- a new tree ------------------------------------------------------------------------------ */

/* Lists the mesh's usable triangles on the device, and reads their number. */
static tml_status mesh_list(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree,
                            uint32_t index_words)
{
    struct tree_build *build = tree->build;
    const uint64_t n = tree->triangle_count;
    const tml_type uvec3_type = TML_VEC(TML_U32, 3);
    const buffer_want wants[] = {{&build->mesh_ids, TML_U32, n, NULL, "mesh triangles"},
                                 {&build->mesh_corners, uvec3_type, n, NULL, "mesh corners"}};
    tml_status status = buffers_make(tml, "tml_tree_create", wants, TML_ARRAY_SIZE(wants));
    if (status != TML_OK)
        return status;
    program p = program_begin(tml, "tml_tree_create");
    const tml_buffer corners = program_array(&p, uvec3_type, n);
    const tml_buffer usable = program_array(&p, TML_U32, n);
    const tml_buffer total = program_array(&p, TML_U32, 1);
    program_map(
        &p, &(tml_map_desc){.kernel = TML_USE(collide_mesh_triangle),
                            .params.u = {(uint32_t)tree->vertex_count, index_words},
                            .in = {index_words ? desc->indices : desc->vertices, desc->vertices},
                            .out = {corners, usable}});
    program_compact(
        &p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_usable), .in = {usable}},
                                .payloads = {{corners, build->mesh_corners}},
                                .indices = build->mesh_ids,
                                .count = total});
    program_read(&p, total, &tree->count);
    return program_run(p, (tml_buffer){0, 0});
}

tml_status tree_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree)
{
    const char *call = "tml_tree_create";
    tml_type type = TML_TYPE_NONE;
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    TML_THEN(status, tml_check_buffer(tml, call, "desc.vertices", desc->vertices, NULL, 0));
    if (status == TML_OK && !tml_buffer_is_none(desc->indices)) {
        status = tml_check_buffer(tml, call, "desc.indices", desc->indices, NULL, 0);
        tml_buffer_describe(tml, desc->indices, &type, NULL);
    }
    TML_THEN(status, build_begin(tml, call, tree));
    if (status != TML_OK || tree->triangle_count == 0)
        return status;
    tree_learn(tml);
    status = mesh_list(tml, desc, tree,
                       type == TML_TYPE_NONE              ? 0
                       : tml_type_scalar(type) == TML_U64 ? 2
                                                          : 1);
    tree->broken_count = tree->triangle_count - tree->count;
    if (status != TML_OK || tree->count == 0)
        return status;
    tree_shape(tree);
    return enqueue(tml, call, tree, desc->vertices, true);
}

/* ---- what the host knows --------------------------------------------------------------------- */

/* Returns the error for a vertex that a build or refit on the device found unusable. */
static tml_status broken_vertex(tml_context *tml, const char *call, tml_tree *tree)
{
    tml_status status = tree_fetch(tml, call, tree, COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES);
    for (uint32_t slot = 0; slot < tree->level_count[0] && status == TML_OK; slot++) {
        float at[9];
        tree_triangle(tree, slot, at);
        for (uint32_t c = 0; c < 3 && tree->ids[slot] != COLLIDE_NO_TRIANGLE; c++) {
            const float *p = at + 3 * c;
            if (fabsf(p[0]) <= COLLIDE_COORDINATE_MAX && fabsf(p[1]) <= COLLIDE_COORDINATE_MAX &&
                fabsf(p[2]) <= COLLIDE_COORDINATE_MAX)
                continue;
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: the tree was built or refitted on the device with vertex %u, corner %u of "
                "triangle %u, at (%g, %g, %g), needs finite coordinates within 2^100; refit it",
                call, tree->corners[3 * (size_t)slot + c], c, tree->ids[slot], (double)p[0],
                (double)p[1], (double)p[2]);
        }
    }
    return status;
}

/* Reads the samples, and sets the tree's bounds and level sizes from them. */
static tml_status samples_read(tml_context *tml, const char *call, tml_tree *tree)
{
    float samples[SAMPLE_WORDS * COLLIDE_LEVELS_MAX];
    tml_status status = tml_buffer_read(tml, tree->build->samples, samples);
    if (status != TML_OK)
        return status;
    const float *root = samples + (size_t)SAMPLE_WORDS * (tree->levels - 1);
    for (uint32_t k = 0; k < BOX_SAMPLE_WORDS; k++)
        if (!(fabsf(root[k]) <= COLLIDE_COORDINATE_MAX))
            return broken_vertex(tml, call, tree);
    memcpy(tree->lower, root, sizeof tree->lower);
    memcpy(tree->upper, root + 3, sizeof tree->upper);
    for (uint32_t level = 1; level <= tree->levels; level++) {
        double sum = 0;
        for (uint32_t i = 0; i < COLLIDE_SAMPLES; i++)
            sum += tree_diagonal(
                samples + (size_t)SAMPLE_WORDS * (level - 1) + (size_t)BOX_SAMPLE_WORDS * i, 1);
        tree->level_size[level] = sum / COLLIDE_SAMPLES;
    }
    return TML_OK;
}

tml_status tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts)
{
    tml_status status = check_defined(tml, call, tree);
    tree->stale |= tree->stale_again;
    parts &= tree->stale;
    if (!parts || status != TML_OK)
        return status;
    if (parts & COLLIDE_STALE_BOXES)
        parts |= COLLIDE_STALE_TRIANGLES & tree->stale;
    if (parts & ~(uint32_t)COLLIDE_STALE_SIZES)
        status = tree_allocate(tml, call, tree);
    if (status == TML_OK && parts & COLLIDE_STALE_SIZES)
        status = samples_read(tml, call, tree);
    if (status == TML_OK && parts & COLLIDE_STALE_IDS) {
        status = tml_buffer_read(tml, tree->build->ids, tree->ids);
        TML_THEN(status, tml_buffer_read(tml, tree->build->corners, tree->corners));
    }
    if (status == TML_OK && parts & COLLIDE_STALE_TRIANGLES)
        status = tml_buffer_read(tml, tree->device_triangles, tree->triangles);
    if (status == TML_OK && parts & COLLIDE_STALE_BOXES)
        tree_fit(tml, tree, NULL);
    if (status == TML_OK)
        tree->stale &= ~parts;
    return status;
}

#include "kernels/kernel_end.h"
