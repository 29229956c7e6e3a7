/* Proves the generated case tables: every property that makes meshes closed, oriented and manifold,
 * over all cases and all pairs of neighbouring cells. Nothing here uses the generator's code. */
#include "test.h"

#include "kernels/kernel.h"

#include "surface_tables.k.h"

#include "kernels/kernel_end.h"

#include "surface/surface_topology.h"
#include "surface_topology_tables.h"

enum { EDGES = 12, MAX_TRIANGLES = 5 };

/* The two corners of an edge, lower first. */
static void edge_corners(int edge, int out[2])
{
    static const int lower[EDGES] = {0, 2, 4, 6, 0, 1, 4, 5, 0, 1, 2, 3};
    out[0] = lower[edge];
    out[1] = lower[edge] + (1 << edge / 4);
}

static int corner_at(int x, int y, int z)
{
    return x | y << 1 | z << 2;
}

static int table_edge(int case_index, int i)
{
    return (int)(surface_case_edges[2 * case_index + i / 8] >> 4 * (i % 8) & 0xf);
}

/* Is the edge in the face where coordinate axis is side? */
static bool is_in_face(int edge, int axis, int side)
{
    int corner[2];
    edge_corners(edge, corner);
    return (corner[0] >> axis & 1) == side && (corner[1] >> axis & 1) == side;
}

static bool share_face(int a, int b, int c)
{
    for (int face = 0; face < 6; face++)
        if (is_in_face(a, face / 2, face % 2) && is_in_face(b, face / 2, face % 2) &&
            is_in_face(c, face / 2, face % 2))
            return true;
    return false;
}

/* uses[a][b]: how many triangles of the case have the directed side a to b. */
static void count_sides(int case_index, int uses[EDGES][EDGES])
{
    memset(uses, 0, sizeof(int[EDGES][EDGES]));
    for (int i = 0; i < 3 * (int)surface_case_count[case_index]; i++) {
        int a = table_edge(case_index, i);
        int b = table_edge(case_index, i % 3 == 2 ? i - 2 : i + 1);
        uses[a][b]++;
    }
}

/* The formula, corner by corner and face by face. */
static int expected_count(int case_index)
{
    int corners = 0, full_faces = 0;
    for (int c = 0; c < 8; c++)
        corners += case_index >> c & 1;
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            int inside = 0;
            for (int c = 0; c < 8; c++)
                inside += (c >> axis & 1) == side && (case_index >> c & 1);
            full_faces += inside == 4;
        }
    }
    int only_antipodes_out = 0;
    for (int c = 0; c < 8; c++)
        only_antipodes_out |= (255 & ~(1 << c) & ~(1 << (c ^ 7))) == case_index;
    return corners - 2 * full_faces + 4 * (case_index == 255) - 4 * only_antipodes_out;
}

TEST(edges_have_the_documented_corners)
{
    for (int e = 0; e < EDGES; e++) {
        int u = e & 1, v = e >> 1 & 1, corner[2];
        edge_corners(e, corner);
        int expected = e < 4 ? corner_at(0, u, v) : e < 8 ? corner_at(u, 0, v) : corner_at(u, v, 0);
        CHECK_EQ_I64(corner[0], expected);
    }
}

TEST(counts_follow_from_corners_and_full_faces)
{
    for (int c = 0; c < 256; c++) {
        CHECK_EQ_I64(surface_case_count[c], expected_count(c));
        CHECK(surface_case_count[c] <= MAX_TRIANGLES);
    }
}

TEST(rest_of_each_entry_is_filled)
{
    for (int c = 0; c < 256; c++)
        for (int i = 0; i < 16; i++)
            CHECK((table_edge(c, i) == 0xf) == (i >= 3 * (int)surface_case_count[c]) &&
                  (table_edge(c, i) == 0xf || table_edge(c, i) < EDGES));
}

TEST(corners_of_triangles_are_the_crossed_edges)
{
    for (int c = 0; c < 256; c++) {
        unsigned used = 0, crossed = 0;
        for (int i = 0; i < 3 * (int)surface_case_count[c]; i++)
            used |= 1u << table_edge(c, i);
        for (int e = 0; e < EDGES; e++) {
            int corner[2];
            edge_corners(e, corner);
            if ((c >> corner[0] & 1) != (c >> corner[1] & 1))
                crossed |= 1u << e;
        }
        CHECK_EQ_U64(used, crossed);
    }
}

/* Within a cell a side is either shared by two triangles, in opposite directions, and then runs
 * through the cell's inside; or it is used once, and then lies in a face. So no chord can be met by
 * a neighbour's, and no edge of a mesh has more than two triangles. */
TEST(sides_are_shared_inside_and_single_on_faces)
{
    int uses[EDGES][EDGES];
    for (int c = 0; c < 256; c++) {
        count_sides(c, uses);
        for (int a = 0; a < EDGES; a++) {
            CHECK_EQ_I64(uses[a][a], 0);
            for (int b = 0; b < EDGES; b++) {
                CHECK(uses[a][b] <= 1);
                if (uses[a][b])
                    CHECK_EQ_I64(uses[b][a], !share_face(a, b, b));
            }
        }
    }
}

TEST(no_triangle_lies_in_a_face)
{
    for (int c = 0; c < 256; c++)
        for (int i = 0; i < 3 * (int)surface_case_count[c]; i += 3)
            CHECK(!share_face(table_edge(c, i), table_edge(c, i + 1), table_edge(c, i + 2)));
}

/* For all pairs of cells that agree on the corners of their shared face: each segment on the face
 * is used by both, in opposite directions. */
TEST(neighbours_agree_on_their_shared_face)
{
    int low[EDGES][EDGES], high[EDGES][EDGES];
    int pairs = 0;
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < 256; c++) {
            count_sides(c, low);
            for (int d = 0; d < 256; d++) {
                bool is_pair = true;
                for (int corner = 0; corner < 8; corner++)
                    if (!(corner >> axis & 1))
                        is_pair &= (d >> corner & 1) == (c >> (corner | 1 << axis) & 1);
                if (!is_pair)
                    continue;
                pairs++;
                count_sides(d, high);
                for (int a = 0; a < EDGES; a++) {
                    for (int b = 0; b < EDGES; b++) {
                        if (!is_in_face(a, axis, 0) || !is_in_face(b, axis, 0))
                            continue;
                        /* The same edge, seen from the lower cell: one bit of its place differs. */
                        int shift = axis == 0 || (axis == 1 && a / 4 == 0) ? 1 : 2;
                        int shift_b = axis == 0 || (axis == 1 && b / 4 == 0) ? 1 : 2;
                        CHECK_EQ_I64(high[a][b], low[b + shift_b][a + shift]);
                    }
                }
            }
        }
    }
    CHECK_EQ_I64(pairs, 3 * 256 * 16);
}

/* Inside corners across the diagonal of a face are cut off one by one: every segment of a face has
 * its inside corners on one side, which are all neighbours. */
TEST(inside_corners_are_separated_on_faces)
{
    int uses[EDGES][EDGES];
    for (int c = 0; c < 256; c++) {
        count_sides(c, uses);
        for (int axis = 0; axis < 3; axis++) {
            for (int side = 0; side < 2; side++) {
                /* Ambiguous: two opposite corners inside. */
                int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
                bool in[4] = {c >> base & 1, c >> (base | u) & 1, c >> (base | v) & 1,
                              c >> (base | u | v) & 1};
                if (in[0] == in[1] || in[0] == in[2] || in[0] != in[3])
                    continue;
                for (int a = 0; a < EDGES; a++) {
                    for (int b = 0; b < EDGES; b++) {
                        if (!uses[a][b] || !is_in_face(a, axis, side) || !is_in_face(b, axis, side))
                            continue;
                        int p[2], q[2], shared = -1;
                        edge_corners(a, p);
                        edge_corners(b, q);
                        for (int i = 0; i < 4; i++)
                            if (p[i / 2] == q[i % 2])
                                shared = p[i / 2];
                        CHECK(shared >= 0 && (c >> shared & 1));
                    }
                }
            }
        }
    }
}

/* One inside corner: the triangle's normal points away from it. With neighbours that agree in
 * direction, this fixes the orientation of all cases. */
TEST(single_corners_wind_outwards)
{
    for (int corner = 0; corner < 8; corner++) {
        double p[3][3];
        for (int i = 0; i < 3; i++) {
            int end[2], edge = table_edge(1 << corner, i);
            edge_corners(edge, end);
            for (int k = 0; k < 3; k++)
                p[i][k] = ((end[0] >> k & 1) + (end[1] >> k & 1)) / 2.0;
        }
        double u[3], v[3], outward = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            v[k] = p[2][k] - p[0][k];
        }
        for (int k = 0; k < 3; k++) {
            double normal = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            outward += normal * (p[0][k] - (corner >> k & 1));
        }
        CHECK(outward > 0);
    }
}

/* ---- the trilinear interpolant's ------------------------------------------------------------- */

enum { RING = 6, CORNERS = EDGES + RING };

static bool is_ambiguous(int case_index, int axis, int side)
{
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = side << axis;
    bool in[4] = {case_index >> base & 1, case_index >> (base | u) & 1,
                  case_index >> (base | v) & 1, case_index >> (base | u | v) & 1};
    return in[0] == in[3] && in[1] == in[2] && in[0] != in[1];
}

/* uses[a][b]: as count_sides. */
static void count_mesh_sides(const topology_mesh *mesh, int uses[CORNERS][CORNERS])
{
    const uint8_t *corners = topology_corners + mesh->first;
    memset(uses, 0, sizeof(int[CORNERS][CORNERS]));
    for (int i = 0; i < 3 * mesh->triangle_count; i++)
        uses[corners[i]][corners[i % 3 == 2 ? i - 2 : i + 1]]++;
}

/* A mesh of a case, for a choice of its ambiguous faces: sides in faces are used once, in the
 * direction that the choice tells, all others once in each; the corners of each are the crossed
 * edges and its own. Around each corner the triangles are one fan. */
static void check_mesh(int case_index, int joined, const topology_mesh *mesh)
{
    int uses[CORNERS][CORNERS], segments = 0, crossed = 0;
    count_mesh_sides(mesh, uses);
    for (int a = 0; a < CORNERS; a++)
        for (int b = 0; b < CORNERS; b++) {
            const bool in_face = a < EDGES && b < EDGES && share_face(a, b, b);
            CHECK(uses[a][b] <= 1);
            CHECK(a != b || !uses[a][b]);
            if (!uses[a][b])
                continue;
            CHECK_EQ_I64(uses[b][a], !in_face);
            segments += in_face;
            for (int face = 0; face < 6 && in_face; face++) {
                if (!is_in_face(a, face / 2, face % 2) || !is_in_face(b, face / 2, face % 2) ||
                    !is_ambiguous(case_index, face / 2, face % 2))
                    continue;
                int p[2], q[2], shared = -1; /* the corner that the segment cuts off */
                edge_corners(a, p);
                edge_corners(b, q);
                for (int i = 0; i < 4; i++)
                    if (p[i / 2] == q[i % 2])
                        shared = p[i / 2];
                CHECK(shared >= 0 && (case_index >> shared & 1) == !(joined >> face & 1));
            }
        }
    for (int v = 0; v < CORNERS; v++) {
        int sides = 0, ends = 0, is_edge = 0;
        for (int b = 0; b < CORNERS; b++) {
            sides += uses[v][b];
            ends += uses[v][b] && !uses[b][v];
        }
        if (v < EDGES) {
            int corner[2];
            edge_corners(v, corner);
            is_edge = (case_index >> corner[0] & 1) != (case_index >> corner[1] & 1);
            crossed += is_edge;
            CHECK_EQ_I64(ends, is_edge);
        } else {
            CHECK_EQ_I64(ends, 0);
        }
        CHECK_EQ_I64(sides > 0, v < EDGES ? is_edge : v < EDGES + mesh->own_count);
        /* From triangle to triangle: the number around v that one fan has. */
        const uint8_t *corners = topology_corners + mesh->first;
        int from = -1, at, count = 0;
        for (int b = 0; b < CORNERS && from < 0; b++)
            if (uses[v][b] && (ends == 0 || !uses[b][v]))
                from = b;
        for (at = from; at >= 0;) {
            int next = -1;
            for (int i = 0; i < 3 * mesh->triangle_count; i++)
                if (corners[i] == v && corners[i % 3 == 2 ? i - 2 : i + 1] == at)
                    next = corners[i % 3 == 0 ? i + 2 : i - 1];
            count += next >= 0;
            at = next == from || count > CORNERS ? -1 : next;
        }
        CHECK_EQ_I64(count, sides);
    }
    CHECK_EQ_I64(segments, crossed);
}

TEST(meshes_of_the_interpolant_are_manifolds)
{
    for (int c = 0; c < 256; c++) {
        int faces[6], count = 0, listed = topology_ambiguous[c];
        for (int face = 0; face < 6; face++)
            if (is_ambiguous(c, face / 2, face % 2)) {
                faces[count++] = face;
                CHECK(listed >> face & 1);
                listed &= ~(1 << face);
            }
        CHECK_EQ_I64(listed, 0);
        CHECK(topology_choices[c] >= 0 || count == 0);
        for (int bits = 0; bits < 1 << count && topology_choices[c] >= 0; bits++) {
            const uint16_t *choice = topology_meshes_of[topology_choices[c] + bits];
            int joined = 0;
            for (int i = 0; i < count; i++)
                joined |= (bits >> i & 1) << faces[i];
            check_mesh(c, joined, &topology_meshes[choice[0]]);
            for (int i = 1; i < 3; i++)
                for (int k = 0; k < 2 && choice[i]; k++) {
                    check_mesh(c, joined, &topology_meshes[choice[i] + k]);
                    CHECK_EQ_I64(topology_meshes[choice[i] + k].own_count, RING);
                }
        }
    }
}

/* Without joined faces and tunnels, a case has the triangles of the first table. */
TEST(separated_meshes_are_the_cases)
{
    for (int c = 0; c < 256; c++) {
        if (topology_choices[c] < 0)
            continue;
        const topology_mesh *mesh = &topology_meshes[topology_meshes_of[topology_choices[c]][0]];
        CHECK_EQ_I64(mesh->triangle_count, surface_case_count[c]);
        for (int i = 0; i < 3 * mesh->triangle_count; i++)
            CHECK_EQ_I64(topology_corners[mesh->first + (uint32_t)i], table_edge(c, i));
    }
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
