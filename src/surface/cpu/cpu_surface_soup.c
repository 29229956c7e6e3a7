/* Soups on the host: gathers the corners of triangles from a welded mesh. */
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

enum {
    BLOCK_CORNERS = 3 * 256, /* gathered at a time, in cache */
    TASK_BLOCKS = 64,
};

typedef struct gathered_array {
    const void *in; /* NULL: unused */
    void *out;
    size_t size; /* of an element: a multiple of 4, at most 64 */
} gathered_array;

typedef struct soup_job {
    const void *indices; /* triangle_count x 3, u32 or u64 */
    bool indices64;
    uint64_t vertex_count, triangle_count;
    gathered_array arrays[3];
    bool streams;
} soup_job;

/* Loads the vertices of count corners from corner first on. Returns the largest. */
static tml_index load_vertices(const soup_job *job, uint64_t first, size_t count, tml_index *out)
{
    const uint64_t *wide = job->indices;
    const uint32_t *narrow = job->indices;
    tml_index largest = 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = job->indices64 ? wide[first + i] : narrow[first + i];
        largest = TML_MAX_OF(largest, out[i]);
    }
    return largest;
}

/* Gathers triangle by triangle. A triangle with a corner past the welded vertices becomes zeros. */
static void gather_existing(const soup_job *job, const gathered_array *array,
                            const tml_index *vertices, size_t count, unsigned char *out)
{
    const size_t size = array->size;
    for (size_t i = 0; i < count; i += 3)
        if (vertices[i] < job->vertex_count && vertices[i + 1] < job->vertex_count &&
            vertices[i + 2] < job->vertex_count)
            cpu_gather(array->in, size, vertices + i, 3, out + i * size);
        else
            memset(out + i * size, 0, 3 * size);
}

static void gather_block(const soup_job *job, uint64_t first, size_t count)
{
    tml_index vertices[BLOCK_CORNERS];
    _Alignas(64) unsigned char gathered[BLOCK_CORNERS * 3 * sizeof(float)];
    const bool all_exist = load_vertices(job, first, count, vertices) < job->vertex_count;
    for (size_t a = 0; a < TML_ARRAY_SIZE(job->arrays); a++) {
        const gathered_array *array = &job->arrays[a];
        const size_t size = array->size;
        if (!array->in)
            continue;
        const size_t most = sizeof gathered / size / 3 * 3; /* elements gathered at a time */
        for (size_t done = 0, n; done < count; done += n) {
            n = TML_MIN_OF(count - done, most);
            if (all_exist)
                cpu_gather(array->in, size, vertices + done, n, gathered);
            else
                gather_existing(job, array, vertices + done, n, gathered);
            cpu_copy_out((unsigned char *)array->out + (first + done) * size, gathered, n * size,
                         job->streams);
        }
    }
}

static void gather_task(void *argument, uint32_t task)
{
    const soup_job *job = argument;
    const uint64_t corners = 3 * job->triangle_count;
    uint64_t first = (uint64_t)task * TASK_BLOCKS * BLOCK_CORNERS;
    const uint64_t end = TML_MIN_OF(first + TASK_BLOCKS * BLOCK_CORNERS, corners);
    for (; first < end; first += BLOCK_CORNERS)
        gather_block(job, first, (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK_CORNERS));
    cpu_stream_fence();
}

tml_status surface_soup_run(const surface_job *job)
{
    const surface_plan *plan = job->plan;
    const surface_welded *welded = &plan->welded;
    const struct {
        const tml_slot *in, *out;
    } slots[] = {{welded->mesh.positions, plan->mesh.positions},
                 {welded->mesh.vertex_normals, plan->mesh.vertex_normals},
                 {welded->mesh.vertex_values, plan->mesh.vertex_values}};
    const uint64_t corners = 3 * welded->triangle_count;
    soup_job soup = {.indices = welded->mesh.indices->memory,
                     .indices64 = plan->indices64,
                     .vertex_count = welded->vertex_count,
                     .triangle_count = welded->triangle_count,
                     .streams = cpu_worth_streaming(3 * sizeof(float) * corners)};
    for (size_t a = 0; a < TML_ARRAY_SIZE(slots); a++)
        if (slots[a].in && slots[a].out)
            soup.arrays[a] = (gathered_array){slots[a].in->memory, slots[a].out->memory,
                                              slots[a].in->element_size};
    tml_parallel_for(job->tml, (uint32_t)TML_CEIL_DIV(corners, TASK_BLOCKS * BLOCK_CORNERS),
                     gather_task, &soup);
    return TML_OK;
}
