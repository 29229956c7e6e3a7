/* Writes binary STL (3D Systems: StereoLithography Interface Specification. 1989): 80 bytes of
 * text, a 32-bit count, and 50 bytes a triangle, each with its plane's normal. There is no room for
 * shared vertices, normals or values of vertices, or doubles. An empty mesh is a count of 0. */
#include <math.h>

#include "io/mesh_format.h"

enum { STL_TEXT = 80, STL_HEADER = STL_TEXT + 4, STL_TRIANGLE = 50 };

static size_t fill_triangles(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t t = 0; t < count; t++, out += STL_TRIANGLE) {
        const float *corners[3];
        for (uint64_t c = 0; c < 3; c++) {
            uint64_t vertex = mesh_corner(mesh, 3 * (first + t) + c);
            corners[c] = mesh->positions + 3 * vertex;
            for (int axis = 0; axis < 3; axis++)
                io_store_f32le(out + 12 * (c + 1) + 4 * axis,
                               (float)mesh_placed(mesh, vertex, axis));
        }
        double u[3], v[3]; /* edges from the first corner; double: float products can vanish */
        for (int axis = 0; axis < 3; axis++) {
            u[axis] = (double)corners[1][axis] - (double)corners[0][axis];
            v[axis] = (double)corners[2][axis] - (double)corners[0][axis];
        }
        const double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                                  u[0] * v[1] - u[1] * v[0]};
        double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        for (int axis = 0; axis < 3; axis++)
            io_store_f32le(out + 4 * axis, length > 0.0 ? (float)(normal[axis] / length) : 0.0f);
        io_store_u16le(out + 48, 0);
    }
    return STL_TRIANGLE * count;
}

tml_status tml_mesh_write_stl(tml_context *tml, const char *path, const tml_mesh *mesh)
{
    if (mesh->triangle_count > UINT32_MAX)
        return tml_error(tml, TML_UNSUPPORTED,
                         MESH_CALL
                         ": %s: the mesh has %llu triangles, STL holds at most %u; use VTP",
                         path, (unsigned long long)mesh->triangle_count, UINT32_MAX);
    io_writer writer;
    uint64_t size = STL_HEADER + STL_TRIANGLE * mesh->triangle_count;
    tml_status status = tml_io_create(tml, MESH_CALL, path, size, &writer);
    if (status != TML_OK)
        return status;
    /* The text must not begin with "solid", by which readers know the other, textual STL. */
    uint8_t header[STL_HEADER] = {0};
    char comment[STL_TEXT - 8];
    tml_mesh_line(comment, sizeof comment, mesh->comment);
    snprintf((char *)header, STL_TEXT, "Trommel %s", comment);
    io_store_u32le(header + STL_TEXT, (uint32_t)mesh->triangle_count);
    tml_io_write(&writer, header, sizeof header);
    status = tml_mesh_write_rows(&writer, mesh, mesh->triangle_count, STL_TRIANGLE, fill_triangles);
    return tml_io_finish(&writer, status);
}
