/* Subdivision of every mesh of the collection that TML_DATA names: those that are manifolds,
 * uniformly and adaptively, with their creases; the others' errors, and what fix makes of them. */
#include "test.h"

#include "contexts.h"

#include <trommel/meshes.h>
#include <trommel/subdivide.h>

typedef struct mesh_case {
    const char *name;
    const char *error; /* what the message says; NULL: there is nothing wrong */
} mesh_case;

/* A mesh from a file on the device. */
typedef struct loaded_mesh {
    tml_mesh_file file;
    tml_subdivider_desc desc;
} loaded_mesh;

static bool load(tml_context *tml, const char *name, loaded_mesh *out)
{
    char relative[96];
    *out = (loaded_mesh){.desc.boundary = TML_BOUNDARY_EDGE_AND_CORNER};
    snprintf(relative, sizeof relative, "meshes/%s", name);
    const char *path = test_full_data(relative);
    if (!CHECK(path != NULL) || !CHECK_OK(tml, tml_mesh_load(tml, path, NULL, &out->file)))
        return false;
    const tml_mesh_file *file = &out->file;
    tml_subdivider_desc *desc = &out->desc;
    desc->mesh.positions =
        buffer_of(tml, TML_VEC(TML_F32, 3), file->mesh.vertex_count, file->mesh.positions);
    desc->mesh.indices =
        buffer_of(tml, TML_VEC(TML_U32, 3), file->mesh.triangle_count, file->mesh.indices);
    if (file->crease_count) {
        desc->crease_edges =
            buffer_of(tml, TML_VEC(TML_U32, 2), file->crease_count, file->crease_vertices);
        desc->crease_sharpness =
            buffer_of(tml, TML_F32, file->crease_count, file->crease_sharpness);
    }
    return true;
}

static void unload(tml_context *tml, loaded_mesh *mesh)
{
    tml_buffer_destroy(tml, mesh->desc.mesh.positions);
    tml_buffer_destroy(tml, mesh->desc.mesh.indices);
    tml_buffer_destroy(tml, mesh->desc.crease_edges);
    tml_buffer_destroy(tml, mesh->desc.crease_sharpness);
    tml_mesh_file_free(tml, &mesh->file);
}

/* Edges are used twice, on a boundary once, and the Euler characteristic is the input's. */
static void check_whole(tml_context *tml, const char *name, const tml_subdivider_info *info,
                        const tml_subdivide_result *result, tml_mesh_stats *stats)
{
    if (!CHECK_OK(tml,
                  tml_mesh_examine(tml,
                                   &(tml_mesh_buffers){.positions = result->buffers.mesh.positions,
                                                       .indices = result->buffers.mesh.indices},
                                   false, stats)))
        return;
    int64_t euler =
        (int64_t)info->vertex_count - (int64_t)info->edge_count + (int64_t)info->triangle_count;
    if (stats->nonmanifold_edges > 0 || stats->euler != euler ||
        (info->boundary_edge_count == 0) != (stats->boundary_edges == 0))
        test_fail(__FILE__, __LINE__,
                  "%s: %" PRIu64 " and %" PRIu64 " edges, Euler %" PRId64 ", not %" PRId64, name,
                  stats->boundary_edges, stats->nonmanifold_edges, stats->euler, euler);
}

/* Edges are told apart by their ends alone. Where a mesh had the same triangle twice and fix turned
 * one round, the two share their edges, and in the next level edges inside both have the same ends:
 * there only counts are asked for. */
static void check_uniform(tml_context *tml, const char *name, tml_subdivider *subdivider,
                          uint32_t levels, bool is_fixed)
{
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    tml_subdivide_result result;
    tml_mesh_stats stats;
    if (!CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                           subdivider, &(tml_subdivide_uniform_desc){.levels = levels}, &result)))
        return;
    CHECK_EQ_U64(result.triangle_count, info.triangle_count << 2 * levels);
    if (levels == 1)
        CHECK_EQ_U64(result.vertex_count, info.vertex_count + info.edge_count);
    if (!is_fixed) {
        check_whole(tml, name, &info, &result, &stats);
        CHECK_EQ_U64(stats.boundary_edges, info.boundary_edge_count << levels);
    }
    tml_subdivide_free(tml, &result);
}

/* To edges of a 30th of the largest side of its box. */
static void check_adaptive(tml_context *tml, const loaded_mesh *mesh, const char *name,
                           tml_subdivider *subdivider)
{
    float low[3], high[3], size = 0.0f;
    for (uint64_t v = 0; v < mesh->file.mesh.vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            float x = mesh->file.mesh.positions[3 * v + (uint64_t)c];
            low[c] = v ? fminf(low[c], x) : x;
            high[c] = v ? fmaxf(high[c], x) : x;
            size = fmaxf(size, high[c] - low[c]);
        }
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    tml_subdivide_result result;
    tml_mesh_stats stats;
    if (!CHECK_OK(tml, tml_subdivide_adaptive(
                           subdivider,
                           &(tml_subdivide_adaptive_desc){.criterion = TML_SPLIT_LENGTH,
                                                          .threshold = size / 30.0f},
                           &result)))
        return;
    check_whole(tml, name, &info, &result, &stats);
    CHECK(result.is_within_budget && result.is_within_depth && result.error <= 1.0);
    CHECK(result.triangle_count >= info.triangle_count);
    tml_subdivide_free(tml, &result);
}

static void check_case(tml_context *tml, const mesh_case *expected)
{
    loaded_mesh mesh;
    tml_subdivider *subdivider = NULL;
    if (load(tml, expected->name, &mesh)) {
        if (expected->error) {
            CHECK_STATUS(tml_subdivider_create(tml, &mesh.desc, &subdivider),
                         TML_ERROR_INVALID_ARGUMENT);
            if (!strstr(tml_last_error(tml), expected->error))
                test_fail(__FILE__, __LINE__, "%s: %s", expected->name, tml_last_error(tml));
        }
        mesh.desc.fix = expected->error != NULL;
        if (CHECK_OK(tml, tml_subdivider_create(tml, &mesh.desc, &subdivider))) {
            check_uniform(tml, expected->name, subdivider, 1, expected->error != NULL);
            if (!expected->error) {
                check_uniform(tml, expected->name, subdivider, 2, false);
                check_adaptive(tml, &mesh, expected->name, subdivider);
            }
        }
        tml_subdivider_destroy(tml, subdivider);
    }
    unload(tml, &mesh);
}

TEST(every_mesh_is_subdivided_or_refused)
{
    static const mesh_case cases[] = {
        {"WusonOBJ.obj", "vertex 19 joins triangles that share no edge"},
        {"bigguyT.obj", NULL},
        {"fandisk.obj", NULL},
        {"fuze.ply", NULL},
        {"plate_holes.stl", NULL},
        {"quadknot.obj", NULL},
        {"rookT.obj", NULL},
        {"round_genus1.stl", NULL},
        {"spot.obj", NULL},
        {"suzanne.obj", NULL},
        {"teapot.obj", "vertex 1833 joins triangles that share no edge"},
        {"subdiv/figure.obj", NULL},
        {"subdiv/loop_cubes_semisharp.obj", NULL},
        {"subdiv/pyramid.obj", NULL},
        {"subdiv/pyramid_creased.obj", NULL},
        {"subdiv/triangle.obj", NULL},
        {"pairs/ballA.off", NULL},
        {"pairs/Cray_left.obj", NULL},
        {"broken/soup.stl", NULL}, /* triangles that do not touch are a mesh, too */
        {"broken/negative_indices.obj", NULL},
        {"broken/bunny_nonmanifold.ply", "edge 443-2 is used by 4 triangles"},
        {"broken/joined_tetrahedra.obj", "edge 0-1 is used by 4 triangles"},
        {"broken/multibody_flipped.stl", "triangles 2 and 5 both run along edge 6-4"},
        {"broken/regr_3429812.obj", "triangles 1 and 3 both run along edge 1-0"},
        {"broken/shared_edge.stl", "edge 2-0 is used by 4 triangles"},
        {"broken/sphereWithHole.stl", "vertex 0 joins triangles that share no edge"},
        {"broken/spider_binary.stl", "triangle 924 has vertices 487, 487 and 487"},
    };
    if (!test_full_data("meshes"))
        SKIP("TML_DATA names no folder with meshes");
    tml_context *tml = NULL;
    if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 2}, &tml)))
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(tml, &cases[i]);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
