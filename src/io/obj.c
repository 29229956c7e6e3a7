/* Writes Wavefront OBJ (Alias|Wavefront: Advanced Visualizer Manual, appendix B1. 1991): text,
 * indices from 1, shared by positions and normals. There is no room for values of vertices. An
 * empty mesh is a file of comments.
 *
 * Positions without an origin and normals are the shortest decimals that read back as the same
 * floats. With an origin, positions are rounded to the decimals that the floats still resolve. */
#include <math.h>

#include "io/mesh_format.h"
#include "io/number_format.h"

/* "v " or "vn ", three numbers, two blanks, a line end; and "f ", six indices, slashes, blanks. */
enum { OBJ_VERTEX_MAX = 3 + 3 * (NUMBER_TEXT_MAX + 1), OBJ_FACE_MAX = 2 + 3 * (2 * 20 + 3) };

static uint8_t *put_line(uint8_t *out, const char *keyword, const float numbers[3])
{
    size_t length = strlen(keyword);
    memcpy(out, keyword, length);
    out += length;
    for (int i = 0; i < 3; i++) {
        *out++ = ' ';
        out += tml_format_f32((char *)out, numbers[i]);
    }
    *out++ = '\n';
    return out;
}

static size_t fill_vertices(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++)
        at = put_line(at, "v", mesh->positions + 3 * i);
    return (size_t)(at - out);
}

static size_t fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++)
        at = put_line(at, "vn", mesh->normals + 3 * i);
    return (size_t)(at - out);
}

/* Decimals that are worth writing: a float's last bit is 2^-23 of it, and one digit more makes the
 * rounding a tenth of that; but a double has no more than 15 digits in all. */
static int worthy_decimals(double largest_float, double largest_double)
{
    double wanted = largest_float > 0.0 ? ceil(-log10(ldexp(largest_float, -23))) + 1.0 : 0.0;
    double most = largest_double > 0.0 ? floor(15.0 - log10(largest_double)) : 15.0;
    double decimals = fmin(wanted, most);
    return decimals < 0.0 ? 0 : decimals > 15.0 ? 15 : (int)decimals;
}

static size_t fill_placed_vertices(const tml_mesh *mesh, uint64_t first, uint64_t count,
                                   uint8_t *out)
{
    double largest_float = 0.0, largest_double = 0.0;
    for (uint64_t i = first; i < first + count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double local = fabs((double)mesh->positions[3 * i + (uint64_t)axis]);
            largest_float = fmax(largest_float, local);
            largest_double = fmax(largest_double, fabs(mesh->origin[axis]) + local);
        }
    }
    int decimals = worthy_decimals(largest_float, largest_double);
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++) {
        *at++ = 'v';
        for (int axis = 0; axis < 3; axis++) {
            *at++ = ' ';
            at += tml_format_fixed((char *)at, mesh_placed(mesh, i, axis), decimals);
        }
        *at++ = '\n';
    }
    return (size_t)(at - out);
}

static size_t fill_faces(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    for (uint64_t t = first; t < first + count; t++) {
        *at++ = 'f';
        for (uint64_t c = 0; c < 3; c++) {
            *at++ = ' ';
            size_t length = tml_format_u64((char *)at, mesh_corner(mesh, 3 * t + c) + 1);
            if (mesh->normals) {
                memcpy(at + length, "//", 2);
                memcpy(at + length + 2, at, length);
                length += 2 + length;
            }
            at += length;
        }
        *at++ = '\n';
    }
    return (size_t)(at - out);
}

tml_status tml_mesh_write_obj(tml_context *tml, const char *path, const tml_mesh *mesh)
{
    io_writer writer;
    tml_status status = tml_io_create(tml, MESH_CALL, path, 0, &writer);
    if (status != TML_OK)
        return status;
    char comment[256];
    tml_mesh_line(comment, sizeof comment, mesh->comment);
    tml_io_print(&writer, "# Trommel %s\n", comment);
    status = tml_mesh_write_rows(&writer, mesh, mesh->vertex_count, OBJ_VERTEX_MAX,
                                 mesh_has_origin(mesh) ? fill_placed_vertices : fill_vertices);
    if (status == TML_OK && mesh->normals)
        status =
            tml_mesh_write_rows(&writer, mesh, mesh->vertex_count, OBJ_VERTEX_MAX, fill_normals);
    if (status == TML_OK)
        status = tml_mesh_write_rows(&writer, mesh, mesh->triangle_count, OBJ_FACE_MAX, fill_faces);
    return tml_io_finish(&writer, status);
}
