/* Subdivision on every device against the CPU: the same triangles, and points within the header's
 * bound. Of adaptive meshes the thresholds are such that no edge lies close to one. */
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
            made_by->levels ? tml_subdivide_uniform_enqueue(
                                  subdivider,
                                  &(tml_subdivide_uniform_desc){
                                      .levels = made_by->levels, .limit = true, .normals = true},
                                  &out->result)
                            : tml_subdivide_adaptive(subdivider, &adaptive, &out->result);
        if (CHECK_OK(tml, status)) {
            tml_subdivide_result *result = &out->result;
            out->points = fetch(tml, result->buffers.mesh.positions, result->vertex_count);
            out->normals = fetch(tml, result->buffers.mesh.normals, result->vertex_count);
            out->attribute = fetch(tml, result->buffers.attributes[0], result->vertex_count);
            out->triangles = fetch(tml, result->buffers.mesh.indices, result->triangle_count);
            tml_subdivide_result freed = *result; /* its counts are still wanted */
            tml_subdivide_free(tml, &freed);
        }
        tml_subdivider_destroy(tml, subdivider);
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

/* ---- sizes that are expected ----------------------------------------------------------------- */

/* The mesh with a channel that has a seam. */
static tml_subdivider *prepare_with_channel(tml_context *tml)
{
    test_mesh_make(MESH_OPEN_CREASED, &mesh);
    static uint32_t corners[3 * TEST_MESH_TRIANGLES];
    for (uint32_t t = 0; t < mesh.triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++)
            corners[3 * t + k] =
                mesh.triangles[3 * t + k] + (2 * t < mesh.triangle_count ? 0 : mesh.vertex_count);
    tml_subdivider_desc base = {.channels[0].seams = TML_SEAMS_SMOOTH};
    base.channels[0].values =
        buffer_of(tml, TML_F32, 2 * (uint64_t)mesh.vertex_count, mesh.positions);
    base.channels[0].indices = buffer_of(tml, TML_VEC(TML_U32, 3), mesh.triangle_count, corners);
    tml_subdivider *subdivider = NULL;
    CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &base, &subdivider));
    tml_buffer_destroy(tml, base.channels[0].values);
    tml_buffer_destroy(tml, base.channels[0].indices);
    return subdivider;
}

static void check_equal(tml_context *tml, tml_buffer a, tml_buffer b, uint64_t count, size_t size)
{
    void *mine = fetch(tml, a, count), *other = fetch(tml, b, count);
    CHECK(mine && other && memcmp(mine, other, count * size) == 0);
    free(mine);
    free(other);
}

/* One subdivider after another criterion, and a new one that cannot expect anything: the same to
 * the bit. */
static void compare_calls(tml_context *tml)
{
    tml_subdivider *kept = prepare_with_channel(tml);
    const tml_subdivide_camera camera = {
        .matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.3f, 0, 0, 4}, .width = 64, .height = 48};
    const tml_subdivide_adaptive_desc descs[] = {
        {.threshold = 0.9f},
        {.threshold = 0.9f}, /* as expected */
        {.threshold = 2.0f}, /* less, and maybe a level less */
        {.criterion = TML_SPLIT_PIXELS, .threshold = 1.2f, .camera = camera}, /* far more */
        {.threshold = 0.3f, .budget = 2500},
    };
    for (size_t i = 0; kept && i < sizeof descs / sizeof *descs; i++) {
        tml_subdivider *fresh = prepare_with_channel(tml);
        tml_subdivide_adaptive_desc desc = descs[i];
        desc.normals = desc.origins = true;
        tml_subdivide_result a = {.vertex_count = 0}, b = a;
        if (fresh && CHECK_OK(tml, tml_subdivide_adaptive(kept, &desc, &a)) &&
            CHECK_OK(tml, tml_subdivide_adaptive(fresh, &desc, &b)) &&
            CHECK_EQ_U64(a.triangle_count, b.triangle_count) &&
            CHECK_EQ_U64(a.vertex_count, b.vertex_count) &&
            CHECK_EQ_U64(a.channel_counts[0], b.channel_counts[0])) {
            const tml_subdivide_buffers *to = &a.buffers, *from = &b.buffers;
            CHECK(a.triangle_count > mesh.triangle_count && a.depth == b.depth);
            CHECK(a.is_within_budget == b.is_within_budget && a.error == b.error);
            check_equal(tml, to->mesh.indices, from->mesh.indices, a.triangle_count, 12);
            check_equal(tml, to->origins, from->origins, a.triangle_count, 8);
            check_equal(tml, to->channel_indices[0], from->channel_indices[0], a.triangle_count,
                        12);
            check_equal(tml, to->mesh.positions, from->mesh.positions, a.vertex_count, 12);
            check_equal(tml, to->mesh.normals, from->mesh.normals, a.vertex_count, 12);
            check_equal(tml, to->channel_values[0], from->channel_values[0], a.channel_counts[0],
                        4);
        }
        tml_subdivide_free(tml, &a);
        tml_subdivide_free(tml, &b);
        tml_subdivider_destroy(tml, fresh);
    }
    tml_subdivider_destroy(tml, kept);
}

/* ---- every device ---------------------------------------------------------------------------- */

/* Does something with every device but the CPU: much at once, since most of the time goes to
 * shaders that a context compiles. */
static void for_devices(void (*job)(tml_context *tml))
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
        job(tml);
        tml_close(tml);
    }
    if (!has_any)
        SKIP("no device but the CPU");
}

static void compare_uniform(tml_context *tml)
{
    compare(tml, &(recipe){MESH_OPEN_CREASED, 2, {0}});
}

TEST(uniform_is_the_same_everywhere)
{
    for_devices(compare_uniform);
}

static void compare_adaptive(tml_context *tml)
{
    compare(tml, &(recipe){MESH_OPEN_CREASED, 0, {.threshold = 0.53f}});
    compare_calls(tml);
}

TEST(adaptive_is_the_same_everywhere_and_every_time)
{
    for_devices(compare_adaptive);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
