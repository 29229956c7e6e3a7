/* Trees on the host: build, update, save and load.
 *
 * A node's range of triangles is split at the median, so the tree's shape depends only on the
 * number of triangles, and nodes need no links. Quickselect splits a range. Its pivots are random,
 * so equal or sorted centroids cost no more than others. A file holds the triangles in slot order;
 * loading computes the boxes again.
 *
 * After: Hoare: Algorithm 65: Find. 1961; Chitalu, Dubach, Komura: Binary Ostensibly-Implicit Trees
 * for Fast Collision Detection. 2020. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stream/desc.h"
#include "tree/tree_points.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/mesh.k.h"
/* Needs the headers above. */
#include "kernels/collide_build.k.h"
#include "kernels/collide_slab_host.h"

/* Leaves per task of a parallel loop. */
enum { LEAVES_A_TASK = 512 };

void tml_tree_destroy(tml_context *tml, tml_tree *tree)
{
    if (!tree || TML_ENTER(tml) != TML_OK)
        return;
    tree_device_destroy(tml, tree);
    tree_build_destroy(tml, tree);
    tree_host_free(tml, tree);
    tml_free(tml, tree, sizeof *tree);
    (void)tml_leave(tml, TML_OK);
}

/* Allocates a zeroed tree. */
static tml_status tree_begin(tml_context *tml, const char *call, tml_tree **out)
{
    *out = tml_alloc(tml, sizeof **out);
    if (!*out)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a tree", call);
    memset(*out, 0, sizeof **out);
    return TML_OK;
}

/* ---- the mesh -------------------------------------------------------------------------------- */

/* The caller's mesh, mapped into host memory. */
typedef struct mesh_view {
    const char *call;
    const float *vertices;
    const void *indices; /* NULL: the corners are vertices 0, 1, 2, 3 ... */
    bool indices64;
    uint64_t vertex_count, triangle_count;
} mesh_view;

static uint64_t mesh_corner(const mesh_view *mesh, uint64_t corner)
{
    if (!mesh->indices)
        return corner;
    return mesh->indices64 ? ((const uint64_t *)mesh->indices)[corner]
                           : ((const uint32_t *)mesh->indices)[corner];
}

static bool is_usable(const float vertex[3])
{
    for (int k = 0; k < 3; k++)
        if (!(fabsf(vertex[k]) <= COLLIDE_COORDINATE_MAX)) /* also false for NaN */
            return false;
    return true;
}

/* Whether the triangle's vertices are in range, with finite coordinates within 2^100. If not,
 * *corner and *vertex name the first bad one. */
static bool triangle_is_sound(const mesh_view *mesh, uint64_t triangle, uint32_t *corner,
                              uint64_t *vertex)
{
    for (*corner = 0; *corner < 3; ++*corner) {
        *vertex = mesh_corner(mesh, 3 * triangle + *corner);
        if (*vertex >= mesh->vertex_count || !is_usable(mesh->vertices + 3 * *vertex))
            return false;
    }
    return true;
}

static tml_status broken_triangle(tml_context *tml, const mesh_view *mesh, uint64_t triangle,
                                  uint32_t corner, uint64_t vertex)
{
    if (vertex >= mesh->vertex_count)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: indices: corner %u of triangle %" PRIu64 " is vertex %" PRIu64
                         ", needs less than %" PRIu64
                         ", the count of vertices; skip_broken leaves such triangles out",
                         mesh->call, corner, triangle, vertex, mesh->vertex_count);
    const float *p = mesh->vertices + 3 * vertex;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: vertex %" PRIu64 ", corner %u of triangle %" PRIu64
                     ", is (%g, %g, %g), needs finite coordinates within 2^100; skip_broken leaves "
                     "such triangles out",
                     mesh->call, vertex, corner, triangle, (double)p[0], (double)p[1],
                     (double)p[2]);
}

/* ---- build ----------------------------------------------------------------------------------- */

/* A triangle while triangles are being sorted: twice the centre of its box, and its number. */
typedef struct item {
    float middle[3];
    uint32_t id;
} item;

/* Triangles per task of items_task, and tasks between two progress reports. */
enum { ITEMS_A_TASK = 4096, ITEM_TASKS = 256 };

/* A task writes its items at the place they would have if all triangles were sound. */
typedef struct items_job {
    const mesh_view *mesh;
    item *items;
    uint64_t first_task;
    uint32_t counts[ITEM_TASKS]; /* items that each task wrote */
} items_job;

static void items_task(void *argument, uint32_t task)
{
    items_job *job = argument;
    const mesh_view *mesh = job->mesh;
    uint64_t first = (job->first_task + task) * ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + ITEMS_A_TASK, mesh->triangle_count);
    item *out = job->items + first;
    for (uint64_t t = first; t < end; t++) {
        uint32_t corner;
        uint64_t vertex;
        if (!triangle_is_sound(mesh, t, &corner, &vertex))
            continue;
        const float *p[3];
        for (uint32_t c = 0; c < 3; c++)
            p[c] = mesh->vertices + 3 * mesh_corner(mesh, 3 * t + c);
        for (int k = 0; k < 3; k++) {
            float low = TML_MIN_OF(TML_MIN_OF(p[0][k], p[1][k]), p[2][k]);
            float high = TML_MAX_OF(TML_MAX_OF(p[0][k], p[1][k]), p[2][k]);
            out->middle[k] = low + high;
        }
        out++->id = (uint32_t)t;
    }
    job->counts[task] = (uint32_t)(out - (job->items + first));
}

/* Returns the error for the first unsound triangle at or after `from`. */
static tml_status first_broken(tml_context *tml, const mesh_view *mesh, uint64_t from)
{
    uint32_t corner;
    uint64_t vertex;
    while (triangle_is_sound(mesh, from, &corner, &vertex))
        from++;
    return broken_triangle(tml, mesh, from, corner, vertex);
}

/* Fills items with the sound triangles. With skip_broken, unsound triangles are counted; without,
 * the first one is an error. */
static tml_status items_make(tml_context *tml, const mesh_view *mesh, bool skip_broken, item *items,
                             tml_tree *tree)
{
    items_job job = {.mesh = mesh, .items = items};
    uint64_t count = 0, tasks = TML_CEIL_DIV(mesh->triangle_count, ITEMS_A_TASK);
    for (; job.first_task < tasks; job.first_task += ITEM_TASKS) {
        uint64_t first = job.first_task * ITEMS_A_TASK;
        uint32_t now = (uint32_t)TML_MIN_OF(tasks - job.first_task, (uint64_t)ITEM_TASKS);
        if (!tml_progress(tml, "triangles", 0.1 * (double)first / (double)mesh->triangle_count))
            return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", mesh->call);
        tml_parallel_for(tml, now, items_task, &job);
        for (uint32_t task = 0; task < now; task++, first += ITEMS_A_TASK) {
            uint64_t wanted = TML_MIN_OF(mesh->triangle_count - first, (uint64_t)ITEMS_A_TASK);
            if (job.counts[task] < wanted && !skip_broken)
                return first_broken(tml, mesh, first);
            if (count < first) /* close the gap that skipped triangles left */
                memmove(items + count, items + first, job.counts[task] * sizeof *items);
            count += job.counts[task];
        }
    }
    tree->count = (uint32_t)count;
    tree->broken_count = mesh->triangle_count - count;
    return TML_OK;
}

static uint32_t random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Items per block of partition. */
enum { PARTITION_BLOCK = 64 };

static void swap_items(item *x, item *y)
{
    item moving = *x;
    *x = *y;
    *y = moving;
}

/* Lists the items, of count from first upward, that are not less than pivot. out: their offsets
 * from first. Returns how many there are. */
static uint32_t not_less(const item *first, int64_t count, int axis, float pivot, uint8_t *out)
{
    uint32_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        out[found] = (uint8_t)i;
        found += !(first[i].middle[axis] < pivot);
    }
    return found;
}

/* Lists the items, of count from last downward, that are not greater than pivot. out: their
 * distances below last. Returns how many there are. */
static uint32_t not_greater(const item *last, int64_t count, int axis, float pivot, uint8_t *out)
{
    uint32_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        out[found] = (uint8_t)i;
        found += !(last[-i].middle[axis] > pivot);
    }
    return found;
}

/* Hoare's partition of items [*low, *high], at least one of which equals pivot. Index i moves up to
 * an item that is not less than the pivot, j moves down to one that is not greater, the two items
 * are swapped, and so on until i and j have passed each other; then *low = i and *high = j. A
 * branch per item would be mispredicted half the time, so the items to swap are first listed, for
 * one block at each end. After: Edelkamp, Weiss: BlockQuicksort. 2016. */
static void partition(item *items, int64_t *low, int64_t *high, int axis, float pivot)
{
    uint8_t up[2 * PARTITION_BLOCK], down[2 * PARTITION_BLOCK];
    int64_t i = *low, j = *high;
    uint32_t ups = 0, downs = 0, u = 0, d = 0; /* ups, downs: offsets listed; u, d: offsets used */
    while (j - i + 1 >= 2 * PARTITION_BLOCK) {
        if (u == ups)
            ups = not_less(items + i, PARTITION_BLOCK, axis, pivot, up), u = 0;
        if (d == downs)
            downs = not_greater(items + j, PARTITION_BLOCK, axis, pivot, down), d = 0;
        for (; u < ups && d < downs; u++, d++)
            swap_items(&items[i + up[u]], &items[j - down[d]]);
        if (u == ups)
            i += PARTITION_BLOCK;
        if (d == downs)
            j -= PARTITION_BLOCK;
    }
    /* Fewer than two blocks remain, plus the offsets that are listed but not used. */
    i += u < ups ? up[u] : 0;
    j -= d < downs ? down[d] : 0;
    ups = not_less(items + i, j - i + 1, axis, pivot, up);
    downs = not_greater(items + j, j - i + 1, axis, pivot, down);
    for (u = 0; u < ups && u < downs && i + up[u] <= j - down[u]; u++)
        swap_items(&items[i + up[u]], &items[j - down[u]]);
    int64_t above = u ? i + up[u - 1] + 1 : i, below = u ? j - down[u - 1] - 1 : j;
    *low = above;
    *high = below;
    if (above > below)
        return;
    /* Neither index goes beyond the place where the other one started. */
    *low = u < ups ? TML_MIN_OF(i + up[u], below + 1) : below + 1;
    *high = u < downs ? TML_MAX_OF(j - down[u], above - 1) : above - 1;
}

/* Reorders items so that none of the first `kept` is greater along the axis than any other. */
static void halve(item *items, int64_t count, int64_t kept, int axis, uint32_t *random)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        float pivot = items[low + random_next(random) % (high - low + 1)].middle[axis];
        int64_t i = low, j = high;
        partition(items, &i, &j, axis, pivot);
        if (j < kept)
            low = i;
        if (kept < i)
            high = j;
    }
}

static int longest_axis(const item *items, uint64_t count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = TML_MIN_OF(low[k], items[i].middle[k]);
            high[k] = TML_MAX_OF(high[k], items[i].middle[k]);
        }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis])
            axis = k;
    return axis;
}

typedef struct build_job {
    tml_context *tml;
    tml_tree *tree;
    const mesh_view *mesh;
    item *items;
    uint32_t depth;        /* there are 2^depth ranges */
    bool to_leaves;        /* split each range down to its leaves; if false, once */
    atomic_bool cancelled; /* if true, leaves may be missing */
} build_job;

/* A range of items, and the leaves that it fills. */
typedef struct build_range {
    uint64_t first, count;
    uint32_t leaf, leaves;
} build_range;

static build_range left_half(build_range r)
{
    return (build_range){r.first, (r.count + 1) / 2, r.leaf, r.leaves / 2};
}

static build_range right_half(build_range r)
{
    build_range left = left_half(r);
    return (build_range){r.first + left.count, r.count - left.count, r.leaf + left.leaves,
                         left.leaves};
}

static void split_range(const build_job *job, build_range range)
{
    item *items = job->items + range.first;
    uint32_t random = (uint32_t)(range.first * 2654435769u) | 1u;
    int axis = longest_axis(items, range.count);
    halve(items, (int64_t)range.count, (int64_t)left_half(range).count, axis, &random);
}

static void fill_leaf(const build_job *job, build_range range)
{
    tml_tree *tree = job->tree;
    for (uint64_t lane = 0; lane < COLLIDE_WIDTH; lane++) {
        uint64_t slot = COLLIDE_WIDTH * (uint64_t)range.leaf + lane;
        uint32_t id = job->items[range.first + TML_MIN_OF(lane, range.count - 1)].id;
        tree->ids[slot] = lane < range.count ? id : COLLIDE_NO_TRIANGLE;
        for (uint32_t c = 0; c < 3; c++)
            tree->corners[3 * slot + c] = (uint32_t)mesh_corner(job->mesh, 3 * (uint64_t)id + c);
    }
}

/* Recursion depth: the number of times that the leaves can be halved, at most 26. */
static void split_to_leaves(build_job *job, build_range range)
{
    if (tml_is_cancelled(job->tml))
        atomic_store_explicit(&job->cancelled, true, memory_order_relaxed);
    if (atomic_load_explicit(&job->cancelled, memory_order_relaxed))
        return;
    if (range.leaves == 1) {
        fill_leaf(job, range);
        return;
    }
    split_range(job, range);
    split_to_leaves(job, left_half(range));
    split_to_leaves(job, right_half(range));
}

static void build_task(void *argument, uint32_t task)
{
    build_job *job = argument;
    build_range range = {0, job->tree->count, 0, job->tree->level_count[1]};
    for (uint32_t bit = job->depth; bit-- > 0;)
        range = task >> bit & 1 ? right_half(range) : left_half(range);
    if (job->to_leaves)
        split_to_leaves(job, range);
    else
        split_range(job, range);
}

static tml_status build(tml_context *tml, const mesh_view *mesh, bool skip_broken, tml_tree *tree)
{
    size_t size = (size_t)mesh->triangle_count * sizeof(item);
    item *items = tml_alloc_array(tml, mesh->triangle_count, sizeof *items);
    if (!items && mesh->triangle_count > 0)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %zu bytes to sort triangles in", mesh->call, size);
    tml_status status = items_make(tml, mesh, skip_broken, items, tree);
    if (status == TML_OK) {
        tree_shape(tree);
        status = tree_allocate(tml, mesh->call, tree);
    }
    if (status == TML_OK && tree->count > 0) {
        /* Halves all ranges until there are 8 per thread, then splits each down to its leaves. */
        build_job job = {.tml = tml, .tree = tree, .mesh = mesh, .items = items};
        atomic_init(&job.cancelled, false);
        uint32_t ranges = 1;
        while (ranges < tree->level_count[1] && ranges < 8 * tml_concurrency(tml)) {
            tml_parallel_for(tml, ranges, build_task, &job);
            ranges *= 2;
            job.depth++;
        }
        job.to_leaves = true;
        tml_parallel_for(tml, ranges, build_task, &job);
        if (job.cancelled)
            status = tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", mesh->call);
        else
            tree_fit(tml, tree, mesh->vertices);
    }
    if (status == TML_OK && !tml_progress(tml, "boxes", 1.0))
        status = tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", mesh->call);
    tml_free(tml, items, size);
    return status;
}

/* ---- buffers --------------------------------------------------------------------------------- */

enum { VERTICES, INDICES };
static const desc_row rows[] = {
    [VERTICES] = DESC_ROW(tml_tree_desc, vertices, DESC_IN, .types = stream_f32x3_types,
                          .is_anywhere = true),
    [INDICES] = DESC_ROW(tml_tree_desc, indices, DESC_IN, .is_optional = true,
                         .types = stream_triangle_types, .is_anywhere = true)};
static const desc_table table = {rows, TML_ARRAY_SIZE(rows)};

/* Checks the desc, but not its buffers' contents, and describes the mesh. */
static tml_status mesh_describe(tml_context *tml, const tml_tree_desc *desc, mesh_view *mesh)
{
    tml_tree_desc checked = *desc;
    tml_type type = TML_TYPE_NONE;
    tml_status status = desc_check(tml, mesh->call, &table, &checked, &(desc_numbers){0});
    if (status != TML_OK)
        return status;
    tml_buffer_describe(tml, desc->vertices, NULL, &mesh->vertex_count);
    mesh->triangle_count = mesh->vertex_count / 3;
    if (!tml_buffer_is_none(desc->indices))
        tml_buffer_describe(tml, desc->indices, &type, &mesh->triangle_count);
    else if (mesh->vertex_count % 3)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.vertices has %" PRIu64
                         " elements, needs a multiple of 3 when there are no indices",
                         mesh->call, mesh->vertex_count);
    mesh->indices64 = tml_type_scalar(type) == TML_U64;
    if (mesh->triangle_count > COLLIDE_TRIANGLES_MAX || mesh->vertex_count > UINT32_MAX)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "%s: %" PRIu64 " triangles over %" PRIu64
            " vertices; a tree takes 2^28 and 2^32 - 1; build one for each part of the "
            "mesh",
            mesh->call, mesh->triangle_count, mesh->vertex_count);
    return TML_OK;
}

/* Builds the tree on the host. tree->vertex_count and triangle_count are already set. */
static tml_status build_on_host(tml_context *tml, const tml_tree_desc *desc, mesh_view *mesh,
                                tml_tree *tree)
{
    void *const to[] = {[VERTICES] = &mesh->vertices, [INDICES] = &mesh->indices};
    tml_status status = desc_map_buffers(tml, &table, desc, to);
    TML_THEN(status, build(tml, mesh, desc->skip_broken, tree));
    desc_unmap_buffers(tml, &table, desc, to);
    return status;
}

/* Builds the tree on the device. If the mesh has broken triangles and desc.skip_broken is off,
 * builds on the host, whose error names the triangle. */
static tml_status build_on_device(tml_context *tml, const tml_tree_desc *desc, mesh_view *mesh,
                                  tml_tree *tree)
{
    tml_status status = tree_build_create(tml, desc, tree);
    if (status == TML_OK && tree->broken_count > 0 && !desc->skip_broken)
        return build_on_host(tml, desc, mesh, tree);
    return status == TML_OK ? tree_fetch(tml, mesh->call, tree, COLLIDE_STALE_SIZES) : status;
}

static tml_status tree_create(tml_context *tml, const tml_tree_desc *desc, tml_tree **out)
{
    mesh_view mesh = {.call = "tml_tree_create"};
    tml_tree *tree;
    tml_status status = mesh_describe(tml, desc, &mesh);
    TML_THEN(status, tree_begin(tml, mesh.call, &tree));
    if (status != TML_OK)
        return status;
    tree->vertex_count = mesh.vertex_count;
    tree->triangle_count = mesh.triangle_count;
    bool is_there = desc->on_device && !tml->engine->is_host;
    status =
        is_there ? build_on_device(tml, desc, &mesh, tree) : build_on_host(tml, desc, &mesh, tree);
    if (status == TML_OK)
        *out = tree;
    else
        tml_tree_destroy(tml, tree);
    return status;
}

tml_status tml_tree_create(tml_context *tml, const tml_tree_desc *desc, tml_tree **out)
{
    if (out)
        *out = NULL;
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, tree_create(tml, desc, out));
}

typedef struct refit_check {
    const tml_tree *tree;
    const float *vertices;
    _Atomic uint32_t
        broken_leaf; /* the first leaf with an unusable vertex; the number of leaves if there is
                      * none */
} refit_check;

static void refit_check_task(void *argument, uint32_t task)
{
    refit_check *check = argument;
    const tml_tree *tree = check->tree;
    uint32_t first = task * LEAVES_A_TASK;
    uint32_t end = TML_MIN_OF(first + LEAVES_A_TASK, tree->level_count[1]);
    for (uint32_t leaf = first; leaf < end; leaf++)
        for (uint32_t i = 0; i < 3 * COLLIDE_WIDTH; i++) {
            uint64_t corner = (uint64_t)3 * COLLIDE_WIDTH * leaf + i;
            if (is_usable(check->vertices + 3 * (size_t)tree->corners[corner]))
                continue;
            uint32_t least = atomic_load_explicit(&check->broken_leaf, memory_order_relaxed);
            while (leaf < least && !atomic_compare_exchange_weak_explicit(
                                       &check->broken_leaf, &least, leaf, memory_order_relaxed,
                                       memory_order_relaxed))
                ;
            return;
        }
}

/* Returns the error for a leaf's first unusable vertex. */
static tml_status broken_leaf(tml_context *tml, const tml_tree *tree, const mesh_view *mesh,
                              uint32_t leaf)
{
    uint64_t i = (uint64_t)3 * COLLIDE_WIDTH * leaf;
    while (is_usable(mesh->vertices + 3 * (size_t)tree->corners[i]))
        i++;
    uint64_t slot = i / 3; /* a padding slot repeats the triangle of an earlier slot */
    while (tree->ids[slot] == COLLIDE_NO_TRIANGLE && slot % COLLIDE_WIDTH > 0)
        slot--;
    return broken_triangle(tml, mesh, tree->ids[slot], (uint32_t)(i % 3), tree->corners[i]);
}

/* Replaces tree by a new tree of the same triangles with the mesh's vertices. */
static tml_status rebuild(tml_context *tml, mesh_view *mesh, tml_tree *tree)
{
    tml_tree *made;
    uint32_t *indices = tml_alloc_array(tml, tree->triangle_count, 3 * sizeof *indices);
    const size_t size = (size_t)tree->triangle_count * 3 * sizeof *indices;
    if (!indices)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of indices",
                         mesh->call, size);
    memset(indices, 0xff, size); /* all ones: triangles that are not in the tree stay broken */
    for (uint64_t slot = 0; slot < tree_slots(tree); slot++)
        if (tree->ids[slot] != COLLIDE_NO_TRIANGLE)
            memcpy(indices + 3 * (size_t)tree->ids[slot], tree->corners + 3 * slot,
                   3 * sizeof *indices);
    mesh->indices = indices;
    mesh->triangle_count = tree->triangle_count;
    tml_status status = tree_begin(tml, mesh->call, &made);
    if (status == TML_OK) {
        made->vertex_count = tree->vertex_count;
        made->triangle_count = tree->triangle_count;
        status = build(tml, mesh, true, made);
        if (status == TML_OK) {
            tml_tree old = *tree;
            *tree = *made;
            *made = old;
        }
        tml_tree_destroy(tml, made);
    }
    tml_free(tml, indices, size);
    return status;
}

static tml_status tree_update(tml_context *tml, tml_tree *tree, tml_buffer vertices,
                              tml_tree_method method)
{
    const char *call = "tml_tree_update";
    void *memory;
    tml_status status = tree_check_method(tml, call, method);
    TML_THEN(status, tml_check_buffer_anywhere(tml, call, "vertices", vertices, stream_f32x3_types,
                                               tree->vertex_count));
    TML_THEN(status, tree_fetch(tml, call, tree, COLLIDE_STALE_IDS));
    TML_THEN(status, tml_buffer_map(tml, vertices, &memory));
    if (status != TML_OK)
        return status;
    mesh_view mesh = {.call = call, .vertices = memory, .vertex_count = tree->vertex_count};
    uint32_t leaves = tree->levels ? tree->level_count[1] : 0;
    refit_check check = {.tree = tree, .vertices = memory};
    atomic_init(&check.broken_leaf, leaves);
    tml_parallel_for(tml, TML_CEIL_DIV(leaves, LEAVES_A_TASK), refit_check_task, &check);
    uint32_t leaf = atomic_load_explicit(&check.broken_leaf, memory_order_relaxed);
    if (leaf < leaves) {
        status = broken_leaf(tml, tree, &mesh, leaf);
    } else if (leaves && method == TML_TREE_REBUILD) {
        status = rebuild(tml, &mesh, tree);
    } else if (leaves) {
        tree_device_destroy(tml, tree);
        tree_fit(tml, tree, memory);
    }
    tml_buffer_unmap(tml, vertices);
    return status;
}

tml_status tml_tree_update(tml_context *tml, tml_tree *tree, tml_buffer vertices,
                           tml_tree_method method)
{
    tml_status status = TML_ENTER(tml, tree);
    return status ? status : tml_leave(tml, tree_update(tml, tree, vertices, method));
}

void tml_tree_describe(const tml_tree *tree, tml_tree_info *out)
{
    if (!tree || !out)
        return;
    *out = (tml_tree_info){.vertex_count = tree->vertex_count,
                           .triangle_count = tree->triangle_count,
                           .broken_count = tree->broken_count,
                           .depth = tree->levels,
                           .memory = sizeof *tree + 4 * tree_ids_size(tree) +
                                     tree_triangles_size(tree) + tree_boxes_size(tree) +
                                     (tree->dipoles ? points_dipoles_size(tree) : 0)};
    memcpy(out->lower, tree->lower, sizeof out->lower);
    memcpy(out->upper, tree->upper, sizeof out->upper);
}

/* ---- save and load --------------------------------------------------------------------------- */

/* A file is this header, then a record per triangle in slot order: its number, its corners'
 * vertices and their coordinates. Words are little-endian, like all supported processors. */
typedef struct tree_header {
    char magic[8];
    uint64_t checksum; /* covers all bytes after this field */
    uint64_t vertex_count, triangle_count, broken_count;
    uint64_t count;
} tree_header;

typedef struct tree_record {
    uint32_t id;
    uint32_t corners[3];
    float at[9];
} tree_record;

static const char tree_magic[8] = {'T', 'M', 'L', 'T', 'R', 'E', 'E', '1'};

/* FNV-1a over 32-bit words. After: Fowler, Noll, Vo: FNV-1a. 1991. */
static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

static const size_t summed_from = offsetof(tree_header, vertex_count);

static tml_status tree_save(tml_context *tml, tml_tree *tree, void *out, size_t *room)
{
    const size_t given = *room;
    const size_t size = sizeof(tree_header) + (size_t)tree->count * sizeof(tree_record);
    *room = size;
    if (!out)
        return TML_OK;
    if (given < size)
        return tml_error(tml, TML_ERROR_CAPACITY,
                         "tml_tree_save: *size is %zu, needs %zu bytes; with data NULL the call "
                         "returns the size",
                         given, size);
    tml_status status =
        tree_fetch(tml, "tml_tree_save", tree,
                   COLLIDE_STALE_SIZES | COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES);
    if (status != TML_OK)
        return status;
    tree_header header = {.vertex_count = tree->vertex_count,
                          .triangle_count = tree->triangle_count,
                          .broken_count = tree->broken_count,
                          .count = tree->count};
    memcpy(header.magic, tree_magic, sizeof header.magic);
    unsigned char *bytes = out, *next = bytes + sizeof header;
    for (uint64_t slot = 0; slot < tree_slots(tree); slot++) {
        tree_record record = {.id = tree->ids[slot]};
        if (record.id == COLLIDE_NO_TRIANGLE)
            continue;
        memcpy(record.corners, tree->corners + 3 * slot, sizeof record.corners);
        tree_triangle(tree, (uint32_t)slot, record.at);
        memcpy(next, &record, sizeof record);
        next += sizeof record;
    }
    memcpy(bytes, &header, sizeof header);
    header.checksum = checksum_of(bytes + summed_from, size - summed_from);
    memcpy(bytes, &header, sizeof header);
    return TML_OK;
}

tml_status tml_tree_save(tml_context *tml, const tml_tree *tree, void *data, size_t *size)
{
    tml_status status = TML_ENTER(tml, tree, size);
    return status ? status : tml_leave(tml, tree_save(tml, (tml_tree *)tree, data, size));
}

static tml_status damaged(tml_context *tml, const char *what)
{
    return tml_error(tml, TML_ERROR_FILE_FORMAT,
                     "tml_tree_load: %s; build the tree from its mesh again", what);
}

/* Fills the tree's slots from a file's records, which are in slot order. The tree's shape is
 * already computed. seen: one zeroed bit per triangle. */
static tml_status records_read(tml_context *tml, const unsigned char *next, tml_tree *tree,
                               unsigned char *seen)
{
    uint32_t leaves = tree->level_count[1];
    uint64_t bits = 0;
    while ((uint64_t)1 << bits < leaves)
        bits++;
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        build_range range = {0, tree->count, 0, leaves};
        for (uint64_t bit = bits; bit-- > 0;)
            range = leaf >> bit & 1 ? right_half(range) : left_half(range);
        for (uint32_t lane = 0; lane < COLLIDE_WIDTH; lane++) {
            tree_record record;
            uint64_t from = range.first + TML_MIN_OF(lane, range.count - 1);
            uint64_t slot = (uint64_t)COLLIDE_WIDTH * leaf + lane;
            memcpy(&record, next + from * sizeof record, sizeof record);
            if (record.id >= tree->triangle_count)
                return damaged(tml, "a triangle's number is out of range");
            if (lane < range.count && seen[record.id / 8] & 1 << record.id % 8)
                return damaged(tml, "a triangle occurs twice");
            seen[record.id / 8] |= (unsigned char)(1 << record.id % 8);
            tree->ids[slot] = lane < range.count ? record.id : COLLIDE_NO_TRIANGLE;
            memcpy(tree->corners + 3 * slot, record.corners, sizeof record.corners);
            for (uint32_t c = 0; c < 3; c++) {
                if (record.corners[c] >= tree->vertex_count)
                    return damaged(tml, "a corner is out of range");
                if (!is_usable(record.at + 3 * c))
                    return damaged(tml, "a coordinate is not finite or beyond 2^100");
            }
            for (uint32_t k = 0; k < 9; k++)
                tree->triangles[(size_t)COLLIDE_TRIANGLE_WORDS * leaf + COLLIDE_WIDTH * k + lane] =
                    record.at[k];
        }
    }
    return TML_OK;
}

static tml_status tree_load(tml_context *tml, const void *data, size_t size, tml_tree **out)
{
    tree_header header;
    tml_tree *tree;
    if (size < sizeof header)
        return damaged(tml, "too few bytes for a tree's header");
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, tree_magic, sizeof header.magic) != 0)
        return damaged(tml, "these bytes are no tree, or of another version");
    if (header.triangle_count > COLLIDE_TRIANGLES_MAX || header.vertex_count > UINT32_MAX ||
        header.count > header.triangle_count ||
        header.broken_count != header.triangle_count - header.count ||
        (size - sizeof header) / sizeof(tree_record) != header.count ||
        (size - sizeof header) % sizeof(tree_record) != 0)
        return damaged(tml, "its counts contradict each other or the number of bytes");
    if (checksum_of((const unsigned char *)data + summed_from, size - summed_from) !=
        header.checksum)
        return damaged(tml, "the checksum is wrong");
    tml_status status = tree_begin(tml, "tml_tree_load", &tree);
    if (status != TML_OK)
        return status;
    tree->vertex_count = header.vertex_count;
    tree->triangle_count = header.triangle_count;
    tree->broken_count = header.broken_count;
    tree->count = (uint32_t)header.count;
    tree_shape(tree);
    status = tree_allocate(tml, "tml_tree_load", tree);
    size_t seen_size = ((size_t)header.triangle_count + 7) / 8;
    unsigned char *seen = NULL;
    if (status == TML_OK && tree->count > 0) {
        seen = tml_alloc(tml, seen_size);
        if (!seen)
            status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                               "tml_tree_load: no memory for %zu bytes", seen_size);
    }
    if (seen) {
        memset(seen, 0, seen_size);
        status = records_read(tml, (const unsigned char *)data + sizeof header, tree, seen);
        tml_free(tml, seen, seen_size);
    }
    if (status == TML_OK)
        tree_fit(tml, tree, NULL);
    if (status == TML_OK)
        *out = tree;
    else
        tml_tree_destroy(tml, tree);
    return status;
}

tml_status tml_tree_load(tml_context *tml, const void *data, size_t size, tml_tree **out)
{
    if (out)
        *out = NULL;
    tml_status status = TML_ENTER(tml, data, out);
    return status ? status : tml_leave(tml, tree_load(tml, data, size, out));
}

#include "kernels/kernel_end.h"
