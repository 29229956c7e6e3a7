#include <math.h>
#include <string.h>

#include "support_subdivide.h"

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void add_vertex(test_mesh *mesh, double x, double y, double z)
{
    float *p = mesh->positions + 3 * mesh->vertex_count++;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
}

static void add_triangle(test_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = mesh->triangles + 3 * mesh->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

static void add_crease(test_mesh *mesh, uint32_t a, uint32_t b, float sharpness)
{
    mesh->creases[2 * mesh->crease_count] = a;
    mesh->creases[2 * mesh->crease_count + 1] = b;
    mesh->crease_sharpness[mesh->crease_count++] = sharpness;
}

static void add_corner(test_mesh *mesh, uint32_t vertex, float sharpness)
{
    mesh->corners[mesh->corner_count] = vertex;
    mesh->corner_sharpness[mesh->corner_count++] = sharpness;
}

/* Moves every coordinate at random by at most half of size. */
static void shake(test_mesh *mesh, double size)
{
    uint64_t state = 11;
    for (uint32_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->positions[i] += (float)(size * (uniform(&state) - 0.5));
}

static void make_torus(test_mesh *mesh, uint32_t around, uint32_t along)
{
    for (uint32_t j = 0; j < along; j++)
        for (uint32_t i = 0; i < around; i++) {
            double u = 6.283185307179586 * i / around, v = 6.283185307179586 * j / along;
            add_vertex(mesh, (3.0 + cos(u)) * cos(v), (3.0 + cos(u)) * sin(v), sin(u));
        }
    for (uint32_t j = 0; j < along; j++)
        for (uint32_t i = 0; i < around; i++) {
            uint32_t a = j * around + i, b = j * around + (i + 1) % around;
            uint32_t c = (j + 1) % along * around + i,
                     d = (j + 1) % along * around + (i + 1) % around;
            add_triangle(mesh, a, c, d);
            add_triangle(mesh, a, d, b);
        }
}

/* Makes a rectangle of squares, each cut at random along one diagonal or the other. */
static void make_sheet(test_mesh *mesh, uint32_t side)
{
    uint64_t state = 5;
    for (uint32_t j = 0; j <= side; j++)
        for (uint32_t i = 0; i <= side; i++)
            add_vertex(mesh, i, j, 1.5 * uniform(&state));
    for (uint32_t j = 0; j < side; j++)
        for (uint32_t i = 0; i < side; i++) {
            uint32_t a = j * (side + 1) + i, b = a + 1, c = a + side + 1, d = c + 1;
            if (uniform(&state) < 0.5) {
                add_triangle(mesh, a, b, d);
                add_triangle(mesh, a, d, c);
            } else {
                add_triangle(mesh, a, b, c);
                add_triangle(mesh, b, d, c);
            }
        }
}

static void make_octahedron(test_mesh *mesh)
{
    for (int s = -1; s <= 1; s += 2)
        for (int a = 0; a < 3; a++)
            add_vertex(mesh, a == 0 ? s : 0, a == 1 ? s : 0, a == 2 ? s : 0);
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t x = k & 1 ? 3 : 0, y = k & 2 ? 4 : 1, z = k & 4 ? 5 : 2;
        bool is_even = __builtin_parity(k) == 1;
        add_triangle(mesh, x, is_even ? y : z, is_even ? z : y);
    }
}

static void crease_torus(test_mesh *mesh, uint32_t around, uint32_t along)
{
    static const float sharp[] = {10.0f, 0.4f, 1.0f, 2.5f, 3.75f, 0.9f};
    for (uint32_t i = 0; i < around; i++) /* an infinitely sharp ring, which crosses the others */
        add_crease(mesh, i, (i + 1) % around, 10.0f);
    for (uint32_t r = 0; r < 6;
         r++) /* along, each with its sharpness, two of them ending in darts */
        for (uint32_t j = 0; j < (r < 2 ? along / 2 : along); j++)
            add_crease(mesh, j * around + 2 * r, (j + 1) % along * around + 2 * r,
                       r == 5 ? 0.3f + 0.5f * (float)(j % 5) : sharp[r]);
    add_corner(mesh, 5 * around + 1, 1.5f);
    add_corner(mesh, 6 * around + 3, 10.0f);
    add_corner(mesh, 7 * around + 4, 0.7f);
}

void test_mesh_make(enum test_mesh_kind kind, test_mesh *out)
{
    static const char *const names[] = {"tetrahedron", "octahedron", "torus",        "star",
                                        "sheet",       "creased",    "open_creased", "triangle"};
    enum { SPOKES = 100, SIDE = 9 };
    memset(out, 0, sizeof *out);
    out->name = names[kind];
    switch (kind) {
    case MESH_TETRAHEDRON:
        add_vertex(out, 1, 1, 1), add_vertex(out, -1, -1, 1);
        add_vertex(out, -1, 1, -1), add_vertex(out, 1, -1, -1);
        add_triangle(out, 0, 2, 1), add_triangle(out, 0, 1, 3);
        add_triangle(out, 0, 3, 2), add_triangle(out, 1, 2, 3);
        break;
    case MESH_OCTAHEDRON:
        make_octahedron(out);
        break;
    case MESH_TORUS:
        make_torus(out, 12, 16);
        shake(out, 0.3);
        break;
    case MESH_STAR:
        for (uint32_t i = 0; i < SPOKES; i++)
            add_vertex(out, cos(6.283185307179586 * i / SPOKES) * (1.0 + 0.3 * (i % 3)),
                       sin(6.283185307179586 * i / SPOKES), 0.1 * (i % 4));
        add_vertex(out, 0.1, 0.0, 1.0), add_vertex(out, 0.0, 0.2, -1.0);
        for (uint32_t i = 0; i < SPOKES; i++) {
            add_triangle(out, i, (i + 1) % SPOKES, SPOKES);
            add_triangle(out, (i + 1) % SPOKES, i, SPOKES + 1);
        }
        break;
    case MESH_SHEET:
        make_sheet(out, SIDE);
        break;
    case MESH_CREASED:
        make_torus(out, 12, 16);
        shake(out, 0.3);
        crease_torus(out, 12, 16);
        break;
    case MESH_OPEN_CREASED:
        make_sheet(out, SIDE);
        for (uint32_t i = 0; i < SIDE; i++)
            add_crease(out, 4 * (SIDE + 1) + i, 4 * (SIDE + 1) + i + 1, 0.5f * (float)(i + 1));
        for (uint32_t j = 1; j < SIDE - 2; j++)
            add_crease(out, j * (SIDE + 1) + 6, (j + 1) * (SIDE + 1) + 6, 10.0f);
        break;
    case MESH_TRIANGLE:
    case MESH_KINDS:
        add_vertex(out, 0, 0, 0), add_vertex(out, 1, 0, 0), add_vertex(out, 0.25, 1, 0.5);
        add_triangle(out, 0, 1, 2);
        break;
    }
}

static tml_status buffer_of(tml_context *tml, tml_type type, uint64_t count, const void *data,
                            tml_buffer *out)
{
    return tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                             out);
}

tml_status test_mesh_subdivider(tml_context *tml, const test_mesh *mesh,
                                const tml_subdivider_desc *base, tml_subdivider **out)
{
    tml_subdivider_desc desc = *base;
    *out = NULL;
    tml_status status = buffer_of(tml, TML_VEC(TML_F32, 3), mesh->vertex_count, mesh->positions,
                                  &desc.mesh.positions);
    if (!status)
        status = buffer_of(tml, TML_VEC(TML_U32, 3), mesh->triangle_count, mesh->triangles,
                           &desc.mesh.indices);
    if (!status && mesh->crease_count)
        status = buffer_of(tml, TML_VEC(TML_U32, 2), mesh->crease_count, mesh->creases,
                           &desc.crease_edges);
    if (!status && mesh->crease_count)
        status = buffer_of(tml, TML_F32, mesh->crease_count, mesh->crease_sharpness,
                           &desc.crease_sharpness);
    if (!status && mesh->corner_count)
        status = buffer_of(tml, TML_U32, mesh->corner_count, mesh->corners, &desc.corners);
    if (!status && mesh->corner_count)
        status = buffer_of(tml, TML_F32, mesh->corner_count, mesh->corner_sharpness,
                           &desc.corner_sharpness);
    if (!status)
        status = tml_subdivider_create(tml, &desc, out);
    tml_buffer_destroy(tml, desc.mesh.positions);
    tml_buffer_destroy(tml, desc.mesh.indices);
    tml_buffer_destroy(tml, desc.crease_edges);
    tml_buffer_destroy(tml, desc.crease_sharpness);
    tml_buffer_destroy(tml, desc.corners);
    tml_buffer_destroy(tml, desc.corner_sharpness);
    return status;
}
