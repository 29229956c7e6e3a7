/* Uniform subdivision against OpenSubdiv's, in double: every level's triangles and points, limits,
 * normals and channels, on closed, open, creased and high-valence meshes. */
#include "support_opensubdiv.h"
#include "support_subdivide.h"
#include "test.h"

#include "contexts.h"

enum { LEVELS = 5 };

/* A buffer's elements on the heap. */
static void *fetch_whole(tml_context *tml, tml_buffer buffer)
{
    tml_type type;
    uint64_t count;
    tml_buffer_describe(tml, buffer, &type, &count);
    void *out = malloc(count * tml_type_size(type) + 1);
    CHECK_OK(tml, tml_buffer_read(tml, buffer, out));
    return out;
}

typedef struct comparison {
    tml_context *tml;
    tml_subdivider *subdivider;
    osd_mesh *osd;
    double *points[LEVELS + 1];   /* OpenSubdiv's */
    uint32_t *to_osd[LEVELS + 1]; /* our vertices' numbers there */
    uint32_t *triangle_to_osd[LEVELS + 1];
    double size; /* the largest coordinate */
} comparison;

static void compare_points(const comparison *c, uint32_t level, const float *mine,
                           const double *theirs, const char *what)
{
    double worst = 0.0;
    for (uint32_t v = 0; v < osd_count(c->osd, level); v++)
        for (uint32_t a = 0; a < 3; a++)
            worst =
                fmax(worst, fabs((double)mine[3 * v + a] - theirs[3 * c->to_osd[level][v] + a]));
    if (!(worst <= 1e-6 * c->size))
        test_fail(__FILE__, __LINE__, "%s of level %u: off by %g of %g", what, level, worst,
                  c->size);
}

/* Numbers of the next level's vertices, found through the two levels' triangles. */
static void match_vertices(comparison *c, uint32_t level, const uint32_t *parents,
                           uint64_t parent_count, const uint32_t *children)
{
    uint32_t count = osd_count(c->osd, level + 1), kept = osd_count(c->osd, level);
    c->to_osd[level + 1] = malloc(count * sizeof(uint32_t) + 1);
    memset(c->to_osd[level + 1], 0xff, count * sizeof(uint32_t));
    for (uint32_t v = 0; v < kept; v++)
        c->to_osd[level + 1][v] = (uint32_t)osd_child_of_vertex(c->osd, level, c->to_osd[level][v]);
    for (uint64_t f = 0; f < parent_count; f++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t middle = children[3 * (4 * f + k) + 1];
            int32_t theirs = osd_child_of_edge(c->osd, level, c->to_osd[level][parents[3 * f + k]],
                                               c->to_osd[level][parents[3 * f + (k + 1) % 3]]);
            if (!CHECK(theirs >= 0) || !CHECK(middle < count))
                return;
            c->to_osd[level + 1][middle] = (uint32_t)theirs;
        }
}

/* Does a triangle have the same vertices there, in the same order, beginning anywhere? */
static bool is_same_triangle(const comparison *c, uint32_t level, const uint32_t *mine,
                             uint32_t triangle)
{
    uint32_t theirs[3], k = 0;
    osd_triangle(c->osd, level, triangle, theirs, NULL);
    while (k < 3 && c->to_osd[level][mine[0]] != theirs[k])
        k++;
    return k < 3 && c->to_osd[level][mine[1]] == theirs[(k + 1) % 3] &&
           c->to_osd[level][mine[2]] == theirs[(k + 2) % 3];
}

/* The next level's triangles: each is one of its parent's children there. */
static void match_triangles(comparison *c, uint32_t level, uint64_t parent_count,
                            const uint32_t *children)
{
    uint64_t missing = 0;
    c->triangle_to_osd[level + 1] = malloc(4 * parent_count * sizeof(uint32_t));
    for (uint64_t t = 0; t < 4 * parent_count; t++) {
        uint32_t theirs[4], k = 0;
        osd_children(c->osd, level, c->triangle_to_osd[level][t / 4], theirs);
        while (k < 4 && !is_same_triangle(c, level + 1, children + 3 * t, theirs[k]))
            k++;
        missing += k == 4;
        c->triangle_to_osd[level + 1][t] = theirs[k % 4];
    }
    CHECK_EQ_U64(missing, 0);
}

static void compare_limit(const comparison *c, uint32_t level)
{
    uint32_t count = osd_count(c->osd, level);
    double *limits = malloc(9 * count * sizeof *limits);
    osd_limit(c->osd, c->points[level], limits, limits + 3 * (size_t)count,
              limits + 6 * (size_t)count);
    tml_subdivide_result result;
    if (CHECK_OK(c->tml,
                 tml_subdivide_uniform_enqueue(
                     c->subdivider,
                     &(tml_subdivide_uniform_desc){.levels = level, .limit = true, .normals = true},
                     &result))) {
        float *mine = fetch_whole(c->tml, result.buffers.mesh.positions);
        float *normals = fetch_whole(c->tml, result.buffers.mesh.normals);
        compare_points(c, level, mine, limits, "limit");
        double worst = 0.0;
        uint32_t compared = 0;
        for (uint32_t v = 0; v < count; v++) {
            const double *u = limits + 3 * ((size_t)count + c->to_osd[level][v]);
            const double *w = limits + 3 * (2 * (size_t)count + c->to_osd[level][v]);
            double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2],
                           u[0] * w[1] - u[1] * w[0]};
            double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            double lengths = sqrt((u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) *
                                  (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
            if (!osd_is_one_sided(c->osd, level, c->to_osd[level][v]) || length < 0.05 * lengths)
                continue; /* a crease has two normals there, and they tell one */
            compared++;
            for (uint32_t a = 0; a < 3; a++)
                worst = fmax(worst, fabs((double)normals[3 * v + a] - n[a] / length));
        }
        CHECK(compared > count / 3);
        if (!(worst < 1e-3)) /* of differences between neighbours, 2^-24 of the size off each */
            test_fail(__FILE__, __LINE__, "normals of level %u: off by %g", level, worst);
        free(mine);
        free(normals);
    }
    tml_subdivide_free(c->tml, &result);
    free(limits);
}

static void compare_levels(comparison *c)
{
    uint32_t *parents = NULL;
    uint64_t parent_count = 0;
    for (uint32_t l = 0; l <= LEVELS; l++) {
        tml_subdivide_result result;
        if (!CHECK_OK(c->tml,
                      tml_subdivide_uniform_enqueue(
                          c->subdivider, &(tml_subdivide_uniform_desc){.levels = l}, &result)))
            break;
        float *positions = fetch_whole(c->tml, result.buffers.mesh.positions);
        uint32_t *triangles = fetch_whole(c->tml, result.buffers.mesh.indices);
        CHECK_EQ_U64(result.vertex_count, osd_count(c->osd, l));
        if (l > 0) {
            match_vertices(c, l - 1, parents, parent_count, triangles);
            match_triangles(c, l - 1, parent_count, triangles);
        }
        compare_points(c, l, positions, c->points[l], "points");
        free(parents);
        free(positions);
        parents = triangles;
        parent_count = result.triangle_count;
        tml_subdivide_free(c->tml, &result);
    }
    free(parents);
}

/* Both number what comes in alike. */
static void begin(comparison *c, const test_mesh *mesh)
{
    c->to_osd[0] = malloc(mesh->vertex_count * sizeof(uint32_t));
    c->triangle_to_osd[0] = malloc(mesh->triangle_count * sizeof(uint32_t));
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        c->to_osd[0][v] = v;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        c->triangle_to_osd[0][t] = t;
    for (uint32_t i = 0; i < 3 * mesh->vertex_count; i++)
        c->size = fmax(c->size, fabs((double)mesh->positions[i]));
    for (uint32_t l = 0; l <= LEVELS; l++)
        c->points[l] = malloc(3 * osd_count(c->osd, l) * sizeof(double));
    osd_refine(c->osd, mesh->positions, c->points);
}

static void end(comparison *c)
{
    for (uint32_t l = 0; l <= LEVELS; l++) {
        free(c->points[l]);
        free(c->to_osd[l]);
        free(c->triangle_to_osd[l]);
    }
    osd_destroy(c->osd);
    tml_subdivider_destroy(c->tml, c->subdivider);
}

static void compare_mesh(enum test_mesh_kind kind, tml_subdivide_boundary boundary)
{
    static test_mesh mesh;
    comparison c = {.tml = open_cpu(0)};
    test_mesh_make(kind, &mesh);
    printf("  %s, boundary %d\n", mesh.name, (int)boundary);
    if (!CHECK_OK(c.tml,
                  test_mesh_subdivider(c.tml, &mesh, &(tml_subdivider_desc){.boundary = boundary},
                                       &c.subdivider)))
        return;
    c.osd = osd_create(&(osd_desc){.vertex_count = mesh.vertex_count,
                                   .triangle_count = mesh.triangle_count,
                                   .triangles = mesh.triangles,
                                   .crease_count = mesh.crease_count,
                                   .creases = mesh.creases,
                                   .crease_sharpness = mesh.crease_sharpness,
                                   .corner_count = mesh.corner_count,
                                   .corners = mesh.corners,
                                   .corner_sharpness = mesh.corner_sharpness,
                                   .boundary = (int)boundary,
                                   .levels = LEVELS});
    begin(&c, &mesh);
    compare_levels(&c);
    compare_limit(&c, LEVELS);
    end(&c);
    tml_close(c.tml);
}

TEST(every_level_of_every_mesh)
{
    for (int kind = 0; kind < MESH_KINDS; kind++)
        for (int boundary = 0; boundary < 2; boundary++)
            if (boundary == 0 || kind == MESH_SHEET || kind == MESH_OPEN_CREASED ||
                kind == MESH_TRIANGLE)
                compare_mesh((enum test_mesh_kind)kind, (tml_subdivide_boundary)boundary);
}

/* ---- channels -------------------------------------------------------------------------------- */

/* UVs with seams: triangles to the right of a line through the mesh have values of their own, those
 * of the first few one each. */
static uint32_t make_channel(const test_mesh *mesh, float *uvs, uint32_t *triangles)
{
    uint32_t count = 0;
    for (uint32_t copy = 0; copy < 2; copy++)
        for (uint32_t v = 0; v < mesh->vertex_count; v++, count++) {
            uvs[2 * count] = mesh->positions[3 * v] + 0.5f * (float)copy;
            uvs[2 * count + 1] = mesh->positions[3 * v + 1] * mesh->positions[3 * v + 2];
        }
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t v = mesh->triangles[3 * t + k];
            triangles[3 * t + k] = v + (t % 96 > 40 ? mesh->vertex_count : 0);
            if (t < 3) {
                uvs[2 * count] = (float)t, uvs[2 * count + 1] = (float)k;
                triangles[3 * t + k] = count++;
            }
        }
    return count;
}

/* Corner for corner. */
static void compare_channel(comparison *c, double *const *theirs, uint32_t level)
{
    tml_subdivide_result result;
    if (!CHECK_OK(c->tml,
                  tml_subdivide_uniform_enqueue(
                      c->subdivider, &(tml_subdivide_uniform_desc){.levels = level}, &result)))
        return;
    uint32_t *triangles = fetch_whole(c->tml, result.buffers.mesh.indices);
    float *mine = fetch_whole(c->tml, result.buffers.channel_values[1]);
    uint32_t *values = fetch_whole(c->tml, result.buffers.channel_indices[1]);
    double worst = 0.0;
    for (uint32_t t = 0; t < result.triangle_count; t++) {
        uint32_t vertices[3], osd_values[3], turn = 0;
        osd_triangle(c->osd, level, c->triangle_to_osd[level][t], vertices, osd_values);
        while (turn < 2 && c->to_osd[level][triangles[3 * t]] != vertices[turn])
            turn++;
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t a = 0; a < 2; a++)
                worst = fmax(worst, fabs((double)mine[2 * values[3 * t + k] + a] -
                                         theirs[level][2 * osd_values[(k + turn) % 3] + a]));
    }
    if (!(worst < 1e-6 * c->size))
        test_fail(__FILE__, __LINE__, "UVs of level %u: off by %g of %g", level, worst, c->size);
    free(triangles);
    free(mine);
    free(values);
    tml_subdivide_free(c->tml, &result);
}

static void compare_channels(tml_context *tml, enum test_mesh_kind kind, tml_subdivide_seams seams)
{
    static test_mesh mesh;
    static float uvs[2 * (2 * TEST_MESH_VERTICES + 9)];
    static uint32_t triangles[3 * TEST_MESH_TRIANGLES];
    test_mesh_make(kind, &mesh);
    printf("  %s, seams %d\n", mesh.name, (int)seams);
    uint32_t count = make_channel(&mesh, uvs, triangles);
    tml_subdivider_desc desc = {.channels[1].seams = seams};
    comparison c = {.tml = tml};
    desc.channels[1].values = buffer_of(tml, TML_VEC(TML_F32, 2), count, uvs);
    desc.channels[1].indices = buffer_of(tml, TML_VEC(TML_U32, 3), mesh.triangle_count, triangles);
    if (CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &desc, &c.subdivider))) {
        c.osd = osd_create(&(osd_desc){.vertex_count = mesh.vertex_count,
                                       .triangle_count = mesh.triangle_count,
                                       .triangles = mesh.triangles,
                                       .value_count = count,
                                       .value_triangles = triangles,
                                       .seams = (int)seams,
                                       .levels = LEVELS});
        double *theirs[LEVELS + 1];
        for (uint32_t l = 0; l <= LEVELS; l++)
            theirs[l] = malloc(2 * osd_value_count(c.osd, l) * sizeof(double));
        osd_refine_values(c.osd, uvs, theirs);
        begin(&c, &mesh);
        compare_levels(&c);
        for (uint32_t i = 0; i < 2 * count; i++)
            c.size = fmax(c.size, fabs((double)uvs[i]));
        for (uint32_t l = 1; l <= LEVELS; l++)
            compare_channel(&c, theirs, l);
        for (uint32_t l = 0; l <= LEVELS; l++)
            free(theirs[l]);
        end(&c);
    }
    tml_buffer_destroy(tml, desc.channels[1].values);
    tml_buffer_destroy(tml, desc.channels[1].indices);
}

TEST(channels_with_seams)
{
    tml_context *tml = open_cpu(0);
    for (int seams = 0; seams < 4; seams++) {
        compare_channels(tml, MESH_TORUS, (tml_subdivide_seams)seams);
        compare_channels(tml, MESH_SHEET, (tml_subdivide_seams)seams);
    }
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
