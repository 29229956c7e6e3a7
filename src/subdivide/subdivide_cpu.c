/* Refines values on the CPU by the kernels' formulas and with the same bits, but without walks
 * around vertices. A walk goes from half-edge to twin to half-edge, and waits for memory at each
 * step because twins lie anywhere.
 *
 * A level is refined with the half-edges of the level before it, the parent, which has a fourth of
 * its triangles. Around an edge of the parent lie all neighbours of the vertex in its middle, and
 * of the middles of its two halves. Three more edges lie inside each triangle of the parent. The
 * remaining vertices are in the parent, too. Each is looked up at its birth, the level at which it
 * arose. A vertex of level 0 is walked around at level 0, where half-edges are few. A later one
 * arose in the middle of an edge and has six neighbours, or four on a boundary, whose half-edges
 * follow from the edge's two. From level to level, a half-edge that leaves a vertex is replaced by
 * that of the child at this corner, so its number in the parent needs only a few shifts. */
#include "stream/program.h"
#include "subdivide/subdivide_internal.h"

#include "kernels/kernel.h"

/* Formulas call one another. Unless inlining is forced, some of these calls remain and run per
 * vertex. */
#ifdef __GNUC__
#    undef FUNCTION
#    define FUNCTION(T) __attribute__((always_inline, unused)) static inline T
#endif
#include "kernels/subdivide.k.h"

enum { BLOCK = 4096 };

typedef struct host_level {
    tml_words halves, vertices, firsts;
    uint32_t vertex_count, edge_count, triangle_count;
} host_level;

typedef struct child_job {
    tml_context *tml;
    host_level levels[TML_SUBDIVIDE_MAX_LEVELS];
    uint32_t parent; /* values are those of level parent + 1 */
    uint32_t flags;
    bool limit; /* out: limits of the values; otherwise values of level parent + 2 */
    tml_words values, turns;
    float *out;
    uint32_t *triangles;
    uint32_t old_blocks, edge_blocks; /* blocks of triangles follow these */
} child_job;

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

/* ---- vertices that the parent has ------------------------------------------------------------ */

/* Returns the half-edge that leaves the same vertex in the same direction as h, levels levels
 * further down. */
static inline uint32_t descend(uint32_t h, uint32_t levels)
{
    return levels ? 3u * ((h + h / 3u) << (2u * (levels - 1u))) : h;
}

/* Adds a neighbour to a one-ring of level parent + 1. The neighbour lies along the parent's
 * half-edge h, which leaves the vertex. */
FUNCTION(loop_ring) add_neighbour(loop_ring ring, vec4 v, uint h, const child_job *job, uint n)
{
    const host_level *parent = &job->levels[job->parent];
    uint w = loop_neighbour(parent->halves, h, parent->vertex_count, LOOP_REFINED);
    return loop_ring_add(ring, sub4(loop_value(job->values, n, w), v),
                         loop_sharpness_at(parent->halves, h, LOOP_REFINED));
}

/* Adds the last neighbour to an open one-ring. It lies along the boundary half-edge before h, which
 * ends at the vertex. */
FUNCTION(loop_ring) add_last(loop_ring ring, vec4 v, uint h, const child_job *job, uint n)
{
    const host_level *parent = &job->levels[job->parent];
    uint w = loop_last_neighbour(parent->halves, loop_prev(h), parent->vertex_count, LOOP_REFINED);
    return loop_ring_add(ring, sub4(loop_value(job->values, n, w), v), LOOP_INFINITE);
}

FUNCTION(loop_ring) ring_of_old(uint i, vec4 v, const child_job *job, uint n)
{
    tml_words halves = job->levels[0].halves;
    uint start = tml_word(job->levels[0].vertices, 4u * i);
    loop_ring ring = loop_ring_empty(true);
    uint h = start;
    do {
        uint here = descend(h, job->parent);
        ring = add_neighbour(ring, v, here, job, n);
        h = loop_twin(halves, loop_prev(h));
        if (h == LOOP_NONE)
            ring = add_last(ring, v, here, job, n);
    } while (loop_is_half(h) && h != start);
    return ring;
}

/* Finds the parent's half-edges that leave the middle of edge e of level birth - 1. They are
 * counter-clockwise, from the one in that vertex's record on. Returns their number: 6, or 3 on a
 * boundary. */
FUNCTION(uint) halves_of_middle(uint e, uint birth, const child_job *job, uint leaving[6])
{
    const host_level *before = &job->levels[birth - 1u];
    uint h = tml_word(before->firsts, e);
    uint twin = loop_twin(before->halves, h);
    uint down = job->parent - birth;
    leaving[0] = descend(loop_corner_child(loop_next(h), 2u), down);
    leaving[1] = descend(12u * (h / 3u) + 9u + h % 3u, down);
    leaving[2] = descend(loop_corner_child(h, 1u), down);
    if (twin == LOOP_NONE)
        return 3;
    leaving[3] = descend(loop_corner_child(loop_next(twin), 2u), down);
    leaving[4] = descend(12u * (twin / 3u) + 9u + twin % 3u, down);
    leaving[5] = descend(loop_corner_child(twin, 1u), down);
    return 6;
}

FUNCTION(loop_ring) ring_of_middle(uint e, uint birth, vec4 v, const child_job *job, uint n)
{
    uint leaving[6];
    uint count = halves_of_middle(e, birth, job, leaving);
    loop_ring ring = loop_ring_empty(true);
    for (uint k = 0; k < 3; k++)
        ring = add_neighbour(ring, v, leaving[k], job, n);
    if (count == 3)
        return add_last(ring, v, leaving[2], job, n);
    for (uint k = 3; k < 6; k++)
        ring = add_neighbour(ring, v, leaving[k], job, n);
    return ring;
}

FUNCTION(void) take_born(uint i, uint end, uint birth, const child_job *job, uint n)
{
    tml_words vertices = job->levels[job->parent].vertices;
    uint born_before = birth ? job->levels[birth - 1u].vertex_count : 0u;
    for (; i < end; i++) {
        vec4 v = loop_value(job->values, n, i);
        if (loop_is_half(tml_word(vertices, 4u * i))) {
            loop_ring ring = birth ? ring_of_middle(i - born_before, birth, v, job, n)
                                   : ring_of_old(i, v, job, n);
            float sharp = loop_worn(tml_word_float(vertices, 4u * i + 1u));
            v = job->limit
                    ? loop_limit_step(v, ring, sharp, tml_word_float(vertices, 4u * i + 3u))
                    : loop_vertex_step(v, ring, sharp, tml_word_float(vertices, 4u * i + 2u));
        }
        put(job->out + (size_t)n * i, v, n);
    }
}

/* Processes vertices [i, end), which all arose at level birth. */
typedef void (*take_fn)(uint i, uint end, uint birth, const child_job *job, uint n);

FUNCTION(void) take_old(const child_job *job, uint32_t block, uint n, take_fn take)
{
    uint32_t count = job->levels[job->parent].vertex_count;
    uint32_t i = block * BLOCK, end = TML_MIN_OF(i + BLOCK, count);
    for (uint birth = 0; birth <= job->parent; birth++) {
        uint32_t stop = TML_MIN_OF(end, job->levels[birth].vertex_count);
        if (i < stop) {
            take(i, stop, birth, job, n);
            i = stop;
        }
    }
}

/* ---- around the parent's edges --------------------------------------------------------------- */

/* The vertex that splits half of a parent's edge, from a to b. c and d are the third corners beside
 * that half. */
FUNCTION(vec4) half_point(vec4 a, vec4 b, vec4 c, vec4 d, bool is_edge, float sharp)
{
    return is_edge || sharp >= 1.0f ? loop_crease_point(a, b) : loop_inner_point(a, b, c, d, sharp);
}

/* Computes the vertices of level parent + 2 on a parent's edge, whose first half-edge is h. *middle
 * is also a vertex of level parent + 1. *halves are the two that split the edge's halves. For the
 * kernels' bits, neighbours are added in the order of a walk from the middle's half-edge, and each
 * half is seen from its lower half-edge, which is the left one. */
FUNCTION(void)
refine_edge(uint h, const host_level *parent, const child_job *job, uint n, float *middle,
            float *halves)
{
    tml_words table = parent->halves, values = job->values;
    uint count = parent->vertex_count;
    uint twin = loop_twin(table, h);
    float sharp = loop_worn(loop_sharpness(table, h));
    bool is_edge = !loop_is_half(twin);
    vec4 v = loop_value(values, n, loop_middle(table, h, count));
    vec4 a = loop_value(values, n, loop_origin(table, h));
    vec4 b = loop_value(values, n, loop_origin(table, loop_next(h)));
    vec4 left_b = loop_value(values, n, loop_middle(table, loop_next(h), count));
    vec4 left_a = loop_value(values, n, loop_middle(table, loop_prev(h), count));
    vec4 right_a = left_a, right_b = left_b;
    loop_ring ring = loop_ring_empty(true);
    ring = loop_ring_add(ring, sub4(b, v), sharp);
    ring = loop_ring_add(ring, sub4(left_b, v), 0.0f);
    ring = loop_ring_add(ring, sub4(left_a, v), 0.0f);
    ring = loop_ring_add(ring, sub4(a, v), is_edge ? LOOP_INFINITE : sharp);
    if (!is_edge) {
        right_a = loop_value(values, n, loop_middle(table, loop_next(twin), count));
        right_b = loop_value(values, n, loop_middle(table, loop_prev(twin), count));
        ring = loop_ring_add(ring, sub4(right_a, v), 0.0f);
        ring = loop_ring_add(ring, sub4(right_b, v), 0.0f);
    }
    uvec4 vertex = loop_new_vertex(h, table, job->flags);
    put(middle, loop_vertex_step(v, ring, uintBitsToFloat(vertex.y), uintBitsToFloat(vertex.z)), n);
    put(halves, half_point(a, v, left_a, right_a, is_edge, sharp), n);
    put(halves + n, half_point(v, b, left_b, right_b, is_edge, sharp), n);
}

FUNCTION(void) take_edges(const child_job *job, uint32_t block, uint n)
{
    const host_level *parent = &job->levels[job->parent];
    uint32_t e = block * BLOCK, end = TML_MIN_OF(e + BLOCK, parent->edge_count);
    float *middles = job->out + (size_t)n * parent->vertex_count;
    float *halves = middles + (size_t)n * parent->edge_count;
    for (; e < end; e++) {
        uint h = tml_word(parent->firsts, e);
        if (job->limit)
            put(middles + (size_t)n * e,
                loop_centre_limit(
                    loop_centre_of(h, parent->halves, job->values, n, parent->vertex_count),
                    job->flags),
                n);
        else
            refine_edge(h, parent, job, n, middles + (size_t)n * e, halves + (size_t)2 * n * e);
    }
}

/* ---- inside the parent's triangles ----------------------------------------------------------- */

/* Computes the vertices that split the three edges inside each triangle of the parent. Such an edge
 * goes from the middle of the next half-edge to the middle of the half-edge. Beside it lie the
 * corner between the two half-edges, and the third middle. */
FUNCTION(void) take_triangles(const child_job *job, uint32_t block, uint n)
{
    const host_level *parent = &job->levels[job->parent];
    uint32_t f = block * BLOCK, end = TML_MIN_OF(f + BLOCK, parent->triangle_count);
    float *out = job->out + n * ((size_t)parent->vertex_count + 3 * (size_t)parent->edge_count +
                                 3 * (size_t)f);
    for (; f < end; f++) {
        vec4 corners[3], middles[3];
        for (uint k = 0; k < 3; k++) {
            corners[k] = loop_value(job->values, n, loop_origin(parent->halves, 3u * f + k));
            middles[k] = loop_value(job->values, n,
                                    loop_middle(parent->halves, 3u * f + k, parent->vertex_count));
        }
        put(out, loop_inner_point(middles[1], middles[0], corners[1], middles[2], 0.0f), n);
        put(out + n, loop_inner_point(middles[2], middles[1], corners[2], middles[0], 0.0f), n);
        put(out + 2 * n, loop_inner_point(middles[0], middles[2], corners[0], middles[1], 0.0f), n);
        out += 3 * n;
    }
}

FUNCTION(void) take_block(const child_job *job, uint32_t index, uint n)
{
    if (tml_is_cancelled(job->tml))
        return;
    if (index < job->old_blocks)
        take_old(job, index, n, take_born);
    else if (index - job->old_blocks < job->edge_blocks)
        take_edges(job, index - job->old_blocks, n);
    else
        take_triangles(job, index - job->old_blocks - job->edge_blocks, n);
}

#define TASK(n)                                                                                    \
    static void task_##n(void *argument, uint32_t index)                                           \
    {                                                                                              \
        take_block(argument, index, n##u);                                                         \
    }
TASK(1)
TASK(2)
TASK(3)
TASK(4)

/* ---- normals --------------------------------------------------------------------------------- */

/* Returns whether vertex i is smooth at level parent + 1. leaving: its six half-edges. */
FUNCTION(bool) is_smooth_middle(uint i, const uint leaving[6], const child_job *job)
{
    const host_level *parent = &job->levels[job->parent];
    bool is_sharp = loop_worn(tml_word_float(parent->vertices, 4u * i + 1u)) > 0.0f;
    for (uint k = 0; k < 6; k++)
        is_sharp |= loop_sharpness_at(parent->halves, leaving[k], LOOP_REFINED) > 0.0f;
    return !is_sharp;
}

FUNCTION(vec3) smooth_normal(uint i, const uint leaving[6], const child_job *job)
{
    const host_level *parent = &job->levels[job->parent];
    float turn_cos = tml_word_float(job->turns, 2u * 6u);
    float turn_sin = tml_word_float(job->turns, 2u * 6u + 1u);
    vec3 v = loop_point(job->values, i);
    loop_tangents tangents = loop_tangents_empty();
    for (uint k = 0; k < 6; k++) {
        uint w = loop_neighbour(parent->halves, leaving[k], parent->vertex_count, LOOP_REFINED);
        tangents =
            loop_tangents_add(tangents, sub3(loop_point(job->values, w), v), turn_cos, turn_sin);
    }
    return loop_unit(cross3(tangents.along, tangents.across));
}

static void put_normal(const child_job *job, uint i, vec3 normal)
{
    float *out = job->out + 3 * (size_t)i;
    out[0] = normal.x, out[1] = normal.y, out[2] = normal.z;
}

FUNCTION(void) take_normals(uint i, uint end, uint birth, const child_job *job, uint n)
{
    const host_level *parent = &job->levels[job->parent];
    uint born_before = birth ? job->levels[birth - 1u].vertex_count : 0u;
    (void)n;
    for (; i < end; i++) {
        uint leaving[6];
        bool is_inside = birth && halves_of_middle(i - born_before, birth, job, leaving) == 6;
        if (is_inside && is_smooth_middle(i, leaving, job))
            put_normal(job, i, smooth_normal(i, leaving, job));
        else
            put_normal(job, i,
                       loop_vertex_normal(i, parent->halves, parent->vertices, job->values,
                                          job->turns, parent->vertex_count,
                                          job->flags | LOOP_REFINED));
    }
}

static void normals_task(void *argument, uint32_t block)
{
    const child_job *job = argument;
    const host_level *parent = &job->levels[job->parent];
    if (tml_is_cancelled(job->tml))
        return;
    if (block < job->old_blocks) {
        take_old(job, block, 3u, take_normals);
        return;
    }
    uint32_t e = (block - job->old_blocks) * BLOCK, end = TML_MIN_OF(e + BLOCK, parent->edge_count);
    for (; e < end; e++) {
        loop_centre centre = loop_centre_of(tml_word(parent->firsts, e), parent->halves,
                                            job->values, 3u, parent->vertex_count);
        put_normal(job, parent->vertex_count + e, loop_centre_normal(centre, job->flags));
    }
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Writes the 16 triangles of level parent + 2 in each triangle of the parent. The half-edges of the
 * level between are computed in children. */
static void triangles_task(void *argument, uint32_t block)
{
    const child_job *job = argument;
    const host_level *parent = &job->levels[job->parent];
    uint32_t f = block * BLOCK, end = TML_MIN_OF(f + BLOCK, parent->triangle_count);
    uint32_t vertex_count = parent->vertex_count + parent->edge_count;
    for (; f < end && !tml_is_cancelled(job->tml); f++) {
        uint32_t children[48], *out = job->triangles + 48 * (size_t)f;
        for (uint32_t i = 0; i < 12; i++) {
            uvec4 half = loop_child_half(12u * f + i, f, LOOP_NONE, parent->halves,
                                         parent->vertex_count, parent->edge_count);
            children[4 * i] = half.x;
            children[4 * i + 2] = half.z;
        }
        for (uint32_t i = 0; i < 16; i++) {
            uvec3 corners = loop_child_triangle(i, children, vertex_count);
            out[3 * i] = corners.x, out[3 * i + 1] = corners.y, out[3 * i + 2] = corners.z;
        }
    }
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Returns the address of a buffer's memory. On the CPU engine it is also valid without a
 * mapping. */
static tml_status host_memory(tml_context *tml, tml_buffer buffer, void **out)
{
    tml_status status = tml_buffer_map(tml, buffer, out);
    if (status == TML_OK)
        tml_buffer_unmap(tml, buffer);
    return status;
}

static tml_status host_words(tml_context *tml, tml_buffer buffer, tml_words *out)
{
    void *memory = NULL;
    tml_status status = host_memory(tml, buffer, &memory);
    *out = memory;
    return status;
}

static tml_status host_levels(tml_context *tml, const subdivide_topology *topology, uint32_t parent,
                              child_job *job)
{
    tml_status status = TML_OK;
    *job = (child_job){.tml = tml, .parent = parent, .flags = topology->flags};
    for (uint32_t l = 0; status == TML_OK && l <= parent; l++) {
        const subdivide_level *from = &topology->levels[l];
        host_level *to = &job->levels[l];
        to->vertex_count = (uint32_t)from->vertex_count;
        to->edge_count = (uint32_t)from->edge_count;
        to->triangle_count = (uint32_t)from->triangle_count;
        status = host_words(tml, from->halves, &to->halves);
        TML_THEN(status, host_words(tml, from->vertices, &to->vertices));
        TML_THEN(status, host_words(tml, from->firsts, &to->firsts));
    }
    return status;
}

static uint32_t blocks_of(uint32_t count)
{
    return count / BLOCK + (count % BLOCK != 0);
}

static tml_status finish(tml_context *tml)
{
    return tml_is_cancelled(tml)
               ? tml_error(tml, TML_ERROR_CANCELLED, "tml_subdivide_uniform_enqueue: cancelled")
               : TML_OK;
}

bool subdivide_cpu_takes(const tml_subdivider *subdivider, uint32_t t)
{
    return subdivider->tml->engine->is_host && !(subdivider->topologies[t].flags & LOOP_LINEAR);
}

/* Sets up a job that reads values of level parent + 1 in topology t, and writes to out. */
static tml_status values_job(tml_subdivider *subdivider, uint32_t t, uint32_t parent,
                             tml_buffer values, tml_buffer out, child_job *job)
{
    tml_context *tml = subdivider->tml;
    tml_status status = host_levels(tml, &subdivider->topologies[t], parent, job);
    TML_THEN(status, host_words(tml, values, &job->values));
    void *memory = NULL;
    TML_THEN(status, host_memory(tml, out, &memory));
    job->out = memory;
    job->old_blocks = blocks_of(job->levels[parent].vertex_count);
    job->edge_blocks = blocks_of(job->levels[parent].edge_count);
    return status;
}

static tml_status cpu_values(const subdivide_cpu_desc *d)
{
    static const tml_task_fn tasks[4] = {task_1, task_2, task_3, task_4};
    const subdivide_values *values = &d->subdivider->values[d->which];
    child_job job;
    tml_status status = values_job(d->subdivider, values->topology, d->parent, d->in, d->out, &job);
    if (status != TML_OK)
        return status;
    job.limit = d->task == SUBDIVIDE_CPU_LIMITS;
    uint32_t inner_blocks = job.limit ? 0 : blocks_of(job.levels[d->parent].triangle_count);
    tml_parallel_for(d->subdivider->tml, job.old_blocks + job.edge_blocks + inner_blocks,
                     tasks[values->components - 1], &job);
    return finish(d->subdivider->tml);
}

static tml_status cpu_normals(const subdivide_cpu_desc *d)
{
    child_job job;
    tml_status status = values_job(d->subdivider, 0, d->parent, d->in, d->out, &job);
    TML_THEN(status, host_words(d->subdivider->tml, d->subdivider->turns, &job.turns));
    if (status != TML_OK)
        return status;
    tml_parallel_for(d->subdivider->tml, job.old_blocks + job.edge_blocks, normals_task, &job);
    return finish(d->subdivider->tml);
}

static tml_status cpu_triangles(const subdivide_cpu_desc *d)
{
    tml_context *tml = d->subdivider->tml;
    child_job job;
    tml_status status = host_levels(tml, &d->subdivider->topologies[d->which], d->parent, &job);
    void *memory = NULL;
    TML_THEN(status, host_memory(tml, d->out, &memory));
    if (status != TML_OK)
        return status;
    job.triangles = memory;
    tml_parallel_for(tml, blocks_of(job.levels[d->parent].triangle_count), triangles_task, &job);
    return finish(tml);
}

static tml_status cpu_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    static tml_status (*const tasks[])(const subdivide_cpu_desc *) = {cpu_values, cpu_values,
                                                                      cpu_normals, cpu_triangles};
    (void)tml;
    (void)scratch;
    (void)scratch_size;
    return tasks[((const subdivide_cpu_desc *)desc)->task](desc);
}

bool subdivide_cpu_add(program *p, const subdivide_cpu_desc *d)
{
    static const tml_engine_op op = {.run = cpu_run};
    const bool is_of_values = d->task != SUBDIVIDE_CPU_TRIANGLES;
    if (!subdivide_cpu_takes(d->subdivider,
                             is_of_values ? d->subdivider->values[d->which].topology : d->which))
        return false;
    program_part(p, &op, "", d, sizeof *d);
    return true;
}

#include "kernels/kernel_end.h"
