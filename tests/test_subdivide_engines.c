/* Subdivision on every device against the CPU: the same triangles, and points within the header's bound.
 * Of adaptive meshes the thresholds are such that no edge lies close to one. */
#include "support_subdivide.h"
#include "test.h"

#include "contexts.h"

enum { MAX_DEVICES = 8 };

static test_mesh mesh;

/* A mesh as one device makes it. */
typedef struct made_mesh {
    tml_subdivide_result result;
    float *points, *normals, *attribute;
    uint32_t *triangles;
} made_mesh;

typedef struct recipe {
    enum test_mesh_kind kind;
    uint32_t levels; /* uniform; 0: adaptive */
    tml_subdivide_adaptive_desc adaptive;
} recipe;

static void make(tml_context *tml, const recipe *made_by, made_mesh *out)
{
    memset(out, 0, sizeof *out);
    test_mesh_make(made_by->kind, &mesh);
    tml_subdivider_desc base = {.boundary = TML_BOUNDARY_EDGE_AND_CORNER};
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = TML_F32,
                                                       .count = mesh.vertex_count,
                                                       .data = mesh.positions},
                                    &base.attributes[0]));
    tml_subdivider *subdivider;
    if (CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &base, &subdivider))) {
        tml_subdivide_adaptive_desc adaptive = made_by->adaptive;
        adaptive.normals = true;
        tml_status status =
            made_by->levels
                ? tml_subdivide_uniform(subdivider,
                                        &(tml_subdivide_uniform_desc){.levels = made_by->levels,
                                                                      .limit = true,
                                                                      .normals = true},
                                        &out->result)
                : tml_subdivide_adaptive(subdivider, &adaptive, &out->result);
        if (CHECK_OK(tml, status)) {
            tml_subdivide_result *result = &out->result;
            out->points = fetch(tml, result->buffers.positions, result->vertex_count);
            out->normals = fetch(tml, result->buffers.normals, result->vertex_count);
            out->attribute = fetch(tml, result->buffers.attributes[0], result->vertex_count);
            out->triangles = fetch(tml, result->buffers.indices, result->triangle_count);
            tml_subdivide_free(tml, &(tml_subdivide_result){.buffers = result->buffers});
        }
        tml_subdivider_destroy(subdivider);
    }
    tml_buffer_destroy(tml, base.attributes[0]);
}

static void unmake(made_mesh *made)
{
    free(made->points);
    free(made->normals);
    free(made->attribute);
    free(made->triangles);
}

static double apart(const float *a, const float *b, uint64_t count)
{
    double most = 0.0;
    for (uint64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static void compare(tml_context *tml, const recipe *made_by)
{
    tml_context *cpu = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &cpu));
    made_mesh mine, theirs;
    make(cpu, made_by, &theirs);
    make(tml, made_by, &mine);
    uint64_t vertices = theirs.result.vertex_count, triangles = theirs.result.triangle_count;
    if (CHECK_EQ_U64(mine.result.triangle_count, triangles) &&
        CHECK_EQ_U64(mine.result.vertex_count, vertices) && mine.points && theirs.points) {
        double size = 0.0;
        for (uint64_t i = 0; i < 3 * vertices; i++)
            size = fmax(size, fabs((double)theirs.points[i]));
        CHECK(memcmp(mine.triangles, theirs.triangles, 3 * triangles * sizeof(uint32_t)) == 0);
        CHECK(apart(mine.points, theirs.points, 3 * vertices) <= 0x1p-20 * size);
        CHECK(apart(mine.attribute, theirs.attribute, vertices) <= 0x1p-20 * size);
        CHECK(apart(mine.normals, theirs.normals, 3 * vertices) <= 2e-3);
    }
    unmake(&mine);
    unmake(&theirs);
    tml_close(cpu);
}

/* Runs recipes on every device but the CPU. */
static bool compare_devices(const recipe *recipes, size_t count)
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t devices = tml_devices(infos, MAX_DEVICES);
    bool has_any = false;
    for (uint32_t d = 0; d < devices && d < MAX_DEVICES; d++) {
        char name[8];
        snprintf(name, sizeof name, "%u", d);
        if (infos[d].engine == TML_ENGINE_CPU)
            continue;
        tml_context *tml = NULL;
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = name}, &tml)))
            continue;
        has_any = true;
        printf("  %s\n", infos[d].name);
        for (size_t i = 0; i < count; i++)
            compare(tml, &recipes[i]);
        tml_close(tml);
    }
    return has_any;
}

TEST(uniform_is_the_same_everywhere)
{
    static const recipe recipes[] = {{MESH_OPEN_CREASED, 2, {0}}};
    if (!compare_devices(recipes, sizeof recipes / sizeof *recipes))
        SKIP("no device but the CPU");
}

TEST(adaptive_is_the_same_everywhere)
{
    static const recipe recipes[] = {
        {MESH_OPEN_CREASED, 0, {.threshold = 0.53f}},
    };
    if (!compare_devices(recipes, sizeof recipes / sizeof *recipes))
        SKIP("no device but the CPU");
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
