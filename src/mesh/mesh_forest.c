/* Lock-free union-find over vertices. A union links a root to a smaller root by compare-and-swap.
 * Path halving sets a parent to one of its ancestors. */
#include <stdatomic.h>
#include <string.h>

#include "core/core_internal.h"
#include "mesh/mesh_arrays.h"

/* Vertices per task. */
enum { BLOCK = 1 << 16 };

uint64_t forest_size(uint64_t count)
{
    return count * (count > UINT32_MAX ? sizeof(uint64_t) : sizeof(uint32_t));
}

typedef struct forest_job {
    const mesh_forest *forest;
    _Atomic uint64_t used, sets;
} forest_job;

static void clear_block(void *argument, uint32_t block)
{
    const forest_job *job = argument;
    uint64_t first = (uint64_t)block * BLOCK;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->forest->count);
    size_t size = job->forest->is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
    memset((char *)job->forest->parents + first * size, 0xff, (size_t)(end - first) * size);
}

static uint32_t blocks_of(const mesh_forest *forest)
{
    return (uint32_t)TML_CEIL_DIV(forest->count, BLOCK);
}

bool forest_reset(tml_context *tml, mesh_forest *forest, uint64_t count)
{
    uint64_t size = forest_size(count);
    if (size > forest->size) {
        forest_destroy(tml, forest);
        forest->parents = tml_alloc_array(tml, size, 1);
        forest->size = forest->parents ? (size_t)size : 0;
    }
    forest->count = count;
    forest->is_wide = count > UINT32_MAX;
    if (size > forest->size)
        return false;
    forest_job job = {.forest = forest};
    tml_parallel_for(tml, blocks_of(forest), clear_block, &job);
    return true;
}

bool forest_create(tml_context *tml, uint64_t count, mesh_forest *out)
{
    *out = (mesh_forest){0};
    return forest_reset(tml, out, count);
}

void forest_destroy(tml_context *tml, mesh_forest *forest)
{
    tml_free(tml, forest->parents, forest->size);
    *forest = (mesh_forest){0};
}

/* ---- parents --------------------------------------------------------------------------------- */

static inline uint64_t parent_of(const mesh_forest *forest, uint64_t v)
{
    if (forest->is_wide)
        return atomic_load_explicit((_Atomic uint64_t *)forest->parents + v, memory_order_relaxed);
    uint32_t p =
        atomic_load_explicit((_Atomic uint32_t *)forest->parents + v, memory_order_relaxed);
    return p == UINT32_MAX ? FOREST_UNUSED : p;
}

static inline void shorten(const mesh_forest *forest, uint64_t v, uint64_t ancestor)
{
    if (forest->is_wide)
        atomic_store_explicit((_Atomic uint64_t *)forest->parents + v, ancestor,
                              memory_order_relaxed);
    else
        atomic_store_explicit((_Atomic uint32_t *)forest->parents + v, (uint32_t)ancestor,
                              memory_order_relaxed);
}

/* Compare-and-swap of v's parent. */
static inline bool exchange(const mesh_forest *forest, uint64_t v, uint64_t from, uint64_t to)
{
    if (forest->is_wide)
        return atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)forest->parents + v,
                                                       &from, to, memory_order_relaxed,
                                                       memory_order_relaxed);
    uint32_t narrow = (uint32_t)from; /* FOREST_UNUSED is all ones in either width */
    return atomic_compare_exchange_strong_explicit((_Atomic uint32_t *)forest->parents + v, &narrow,
                                                   (uint32_t)to, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static inline uint64_t root_of(const mesh_forest *forest, uint64_t v)
{
    for (;;) {
        uint64_t parent = parent_of(forest, v);
        if (parent == v || parent == FOREST_UNUSED)
            return v;
        uint64_t above = parent_of(forest, parent);
        if (above == parent || above == FOREST_UNUSED)
            return parent;
        shorten(forest, v, above);
        v = above;
    }
}

/* ---- sets ------------------------------------------------------------------------------------ */

static inline void use(const mesh_forest *forest, uint64_t v)
{
    if (parent_of(forest, v) == FOREST_UNUSED)
        exchange(forest, v, FOREST_UNUSED, v); /* fails if another thread was first */
}

static void unite(const mesh_forest *forest, uint64_t a, uint64_t b)
{
    for (;;) {
        a = root_of(forest, a);
        b = root_of(forest, b);
        if (a == b) {
            use(forest, a);
            return;
        }
        uint64_t low = TML_MIN_OF(a, b), high = TML_MAX_OF(a, b);
        uint64_t parent = parent_of(forest, high);
        if ((parent == high || parent == FOREST_UNUSED) && exchange(forest, high, parent, low)) {
            use(forest, low);
            return;
        }
    }
}

uint64_t forest_root(const mesh_forest *forest, uint64_t v)
{
    return root_of(forest, v);
}

void forest_unite(const mesh_forest *forest, const uint64_t corners[3])
{
    /* Fast path: in coherent meshes, the corners of most triangles already have the same parent. */
    uint64_t parent = parent_of(forest, corners[0]);
    if (parent != FOREST_UNUSED && parent_of(forest, corners[1]) == parent &&
        parent_of(forest, corners[2]) == parent)
        return;
    unite(forest, corners[0], corners[1]);
    unite(forest, corners[0], corners[2]);
}

uint64_t forest_unite_triangles(const mesh_forest *forest, const mesh_triangles *triangles,
                                uint64_t first, uint64_t end)
{
    for (uint64_t t = first; t < end; t++) {
        uint64_t corners[3];
        for (uint64_t k = 0; k < 3; k++) {
            corners[k] = mesh_index(triangles->indices, triangles->indices64, 3 * t + k);
            corners[k] -= triangles->base;
            if (corners[k] >= forest->count)
                return 3 * t + k;
        }
        if (!triangles->kept || triangles->kept[t])
            forest_unite(forest, corners);
    }
    return UINT64_MAX;
}

uint64_t forest_next_root(const mesh_forest *forest, uint64_t v)
{
    while (v < forest->count && parent_of(forest, v) != v)
        v++;
    return v;
}

bool forest_uses(const mesh_forest *forest, uint64_t v)
{
    return parent_of(forest, v) != FOREST_UNUSED;
}

void forest_set_root(const mesh_forest *forest, uint64_t v, uint64_t root)
{
    shorten(forest, v, root);
    shorten(forest, root, root);
}

static void count_block(void *argument, uint32_t block)
{
    forest_job *job = argument;
    uint64_t first = (uint64_t)block * BLOCK, used = 0, sets = 0;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->forest->count);
    for (uint64_t v = first; v < end; v++) {
        uint64_t parent = parent_of(job->forest, v);
        used += parent != FOREST_UNUSED;
        sets += parent == v;
    }
    atomic_fetch_add_explicit(&job->used, used, memory_order_relaxed);
    atomic_fetch_add_explicit(&job->sets, sets, memory_order_relaxed);
}

void forest_count(tml_context *tml, const mesh_forest *forest, uint64_t *used, uint64_t *sets)
{
    forest_job job = {.forest = forest};
    tml_parallel_for(tml, blocks_of(forest), count_block, &job);
    *used = atomic_load_explicit(&job.used, memory_order_relaxed);
    *sets = atomic_load_explicit(&job.sets, memory_order_relaxed);
}
