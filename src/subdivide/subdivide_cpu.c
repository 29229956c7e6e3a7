/* Subdivide: values of the next level on the CPU, with the kernels' formulas and to their bits, but without
 * their walks: from half-edge to twin to half-edge a walk waits for memory at each step, since what lies
 * around a vertex lies anywhere.
 *
 * Instead of walking where the vertex is now, begin where it arose. A vertex of level 0 is walked around
 * there, where the table is small; one that arose in the middle of an edge has six neighbours, or four on a
 * boundary, whose half-edges follow from the edge's two. On the way down a half-edge that leaves a
 * vertex becomes that of the child at its corner, so where it is now is a matter of shifts. */
#include "subdivide/subdivide_internal.h"

#include "kernels/kernel.h"

/* One formula deep in another is a call for each vertex unless it is inlined. */
#ifdef __GNUC__
#    undef FUNCTION
#    define FUNCTION(T) __attribute__((always_inline, unused)) static inline T
#endif
#include "kernels/subdivide.k.h"

enum { BLOCK = 4096 };

/* A level's arrays on the host. */
typedef struct host_level {
    tml_words halves, vertices, firsts;
    uint32_t vertex_count;
} host_level;

typedef struct child_job {
    tml_context *tml;
    host_level levels[TML_SUBDIVIDE_MAX_LEVELS];
    uint32_t level; /* whose values are refined */
    uint32_t flags;
    uint64_t count; /* of the next level */
    tml_words values;
    float *out;
} child_job;

/* Half-edge h that leaves a vertex, so many levels further down. */
static inline uint32_t descend(uint32_t h, uint32_t levels)
{
    return levels ? 3u * ((h + h / 3u) << (2u * (levels - 1u))) : h;
}

FUNCTION(loop_ring) add_neighbour(loop_ring ring, vec4 v, uint h, const child_job *job, uint n)
{
    tml_words halves = job->levels[job->level].halves;
    uint w = loop_origin(halves, loop_next(h));
    return loop_ring_add(ring, sub4(loop_value(job->values, n, w), v), loop_sharpness(halves, h));
}

/* The neighbour at the end of a boundary, behind the half-edge h that leaves the vertex. */
FUNCTION(loop_ring) add_last(loop_ring ring, vec4 v, uint h, const child_job *job, uint n)
{
    uint w = loop_origin(job->levels[job->level].halves, loop_prev(h));
    return loop_ring_add(ring, sub4(loop_value(job->values, n, w), v), LOOP_INFINITE);
}

FUNCTION(loop_ring) ring_of_old(uint i, vec4 v, const child_job *job, uint n)
{
    tml_words halves = job->levels[0].halves;
    uint start = tml_word(job->levels[0].vertices, 4u * i);
    loop_ring ring = loop_ring_empty(true);
    uint h = start;
    do {
        uint here = descend(h, job->level);
        ring = add_neighbour(ring, v, here, job, n);
        h = loop_twin(halves, loop_prev(h));
        if (h == LOOP_NONE)
            ring = add_last(ring, v, here, job, n);
    } while (loop_is_half(h) && h != start);
    return ring;
}

/* Of the middle of edge e of level birth - 1, in the order of a walk from its record's half-edge. */
FUNCTION(loop_ring) ring_of_middle(uint e, uint birth, vec4 v, const child_job *job, uint n)
{
    const host_level *parent = &job->levels[birth - 1u];
    uint h = tml_word(parent->firsts, e);
    uint twin = loop_twin(parent->halves, h);
    uint down = job->level - birth;
    uint last = descend(loop_corner_child(h, 1u), down);
    loop_ring ring = loop_ring_empty(true);
    ring = add_neighbour(ring, v, descend(loop_corner_child(loop_next(h), 2u), down), job, n);
    ring = add_neighbour(ring, v, descend(12u * (h / 3u) + 9u + h % 3u, down), job, n);
    ring = add_neighbour(ring, v, last, job, n);
    if (twin == LOOP_NONE)
        return add_last(ring, v, last, job, n);
    ring = add_neighbour(ring, v, descend(loop_corner_child(loop_next(twin), 2u), down), job, n);
    ring = add_neighbour(ring, v, descend(12u * (twin / 3u) + 9u + twin % 3u, down), job, n);
    return add_neighbour(ring, v, descend(loop_corner_child(twin, 1u), down), job, n);
}

/* Vertices [i, end) that arose at one level. */
FUNCTION(void) put(float *out, vec4 v, uint n)
{
    out[0] = v.x;
    if (n > 1u)
        out[1] = v.y;
    if (n > 2u)
        out[2] = v.z;
    if (n > 3u)
        out[3] = v.w;
}

FUNCTION(void) refine_kept(uint i, uint end, uint birth, const child_job *job, uint n)
{
    tml_words vertices = job->levels[job->level].vertices;
    uint born_before = birth ? job->levels[birth - 1u].vertex_count : 0u;
    for (; i < end; i++) {
        vec4 v = loop_value(job->values, n, i);
        if (loop_is_half(tml_word(vertices, 4u * i))) {
            loop_ring ring = birth ? ring_of_middle(i - born_before, birth, v, job, n)
                                   : ring_of_old(i, v, job, n);
            v = loop_vertex_step(v, ring, tml_word_float(vertices, 4u * i + 1u),
                                 tml_word_float(vertices, 4u * i + 2u));
        }
        put(job->out + (size_t)n * i, v, n);
    }
}

FUNCTION(void) refine_block(const child_job *job, uint index, uint n)
{
    uint64_t i = (uint64_t)index * BLOCK, end = TML_MIN_OF(i + BLOCK, job->count);
    const host_level *level = &job->levels[job->level];
    for (uint birth = 0; birth <= job->level && i < end; birth++) {
        uint64_t stop = TML_MIN_OF(end, (uint64_t)job->levels[birth].vertex_count);
        if (i < stop) {
            refine_kept(U(i), U(stop), birth, job, n);
            i = stop;
        }
    }
    for (; i < end; i++)
        put(job->out + n * i,
            loop_edge_point(tml_word(level->firsts, i - level->vertex_count), level->halves,
                            job->values, n, job->flags),
            n);
}

#define TASK(n)                                                                                    \
    static void refine_task_##n(void *argument, uint32_t index)                                    \
    {                                                                                              \
        const child_job *job = argument;                                                           \
        if (!tml_is_cancelled(job->tml))                                                           \
            refine_block(job, index, n##u);                                                        \
    }
TASK(1)
TASK(2)
TASK(3)
TASK(4)

/* ---- the call -------------------------------------------------------------------------------- */

/* A buffer's memory, which on this engine is the host's. */
static tml_status host_memory(tml_context *tml, tml_buffer buffer, void **out)
{
    tml_status status = tml_map(tml, buffer, out);
    if (status == TML_OK)
        tml_unmap(tml, buffer);
    return status;
}

static tml_status host_words(tml_context *tml, tml_buffer buffer, tml_words *out)
{
    void *memory = NULL;
    tml_status status = host_memory(tml, buffer, &memory);
    *out = memory;
    return status;
}

bool subdivide_cpu_takes(const tml_subdivider *subdivider, uint32_t v)
{
    uint32_t flags = subdivider->topologies[subdivider->values[v].topology].flags;
    return subdivider->tml->engine->kind == TML_ENGINE_CPU && !(flags & LOOP_LINEAR);
}

tml_status subdivide_cpu_refine(tml_subdivider *subdivider, uint32_t v, uint32_t level,
                                tml_buffer values, tml_buffer out)
{
    static const tml_task_fn tasks[4] = {refine_task_1, refine_task_2, refine_task_3,
                                         refine_task_4};
    tml_context *tml = subdivider->tml;
    const subdivide_topology *topology = &subdivider->topologies[subdivider->values[v].topology];
    child_job job = {.tml = tml, .level = level, .flags = topology->flags};
    tml_status status = host_words(tml, values, &job.values);
    void *memory = NULL;
    if (status == TML_OK)
        status = host_memory(tml, out, &memory);
    job.out = memory;
    for (uint32_t l = 0; status == TML_OK && l <= level; l++) {
        const subdivide_level *from = &topology->levels[l];
        job.levels[l].vertex_count = (uint32_t)from->vertex_count;
        job.count = from->vertex_count + from->edge_count;
        status = host_words(tml, from->halves, &job.levels[l].halves);
        if (status == TML_OK)
            status = host_words(tml, from->vertices, &job.levels[l].vertices);
        if (status == TML_OK)
            status = host_words(tml, from->firsts, &job.levels[l].firsts);
    }
    if (status != TML_OK)
        return status;
    tml_parallel_for(tml, (uint32_t)((job.count + BLOCK - 1) / BLOCK),
                     tasks[subdivider->values[v].components - 1], &job);
    return tml_is_cancelled(tml) ? tml_error(tml, TML_CANCELLED, "tml_subdivide_uniform: cancelled")
                                 : TML_OK;
}

#include "kernels/kernel_end.h"
