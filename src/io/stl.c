/* Reads STL, text and binary, and writes binary STL (3D Systems: StereoLithography Interface Specification. 1989): 80 bytes of
 * text, a 32-bit count, and 50 bytes a triangle, each with its plane's normal. There is no room for
 * shared vertices, normals or values of vertices, or doubles. An empty mesh is a count of 0. */
#include <math.h>

#include "io/mesh_format.h"
#include "io/mesh_sink.h"

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

tml_status tml_stl_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out)
{
    (void)box;
    if (mesh->triangle_count > UINT32_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         MESH_CALL
                         ": %s: the mesh has %llu triangles, STL holds at most %u; use VTP",
                         path, (unsigned long long)mesh->triangle_count, UINT32_MAX);
    /* The text must not begin with "solid", by which readers know the other, textual STL. */
    uint8_t header[STL_HEADER] = {0};
    char comment[STL_TEXT - 8];
    tml_mesh_line(comment, sizeof comment, mesh->comment);
    snprintf((char *)header, STL_TEXT, "Trommel %s", comment);
    io_store_u32le(header + STL_TEXT, (uint32_t)mesh->triangle_count);
    tml_layout_bytes(out, header, sizeof header);
    tml_layout_rows(out, mesh, MESH_TRIANGLES, STL_TRIANGLE, fill_triangles);
    return TML_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static tml_status push_triangle(mesh_sink *sink, double corners[3][3], uint64_t number)
{
    tml_status status = TML_OK;
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        uint32_t vertex = (uint32_t)mesh_vertex_count(sink);
        status = tml_mesh_push_vertex(sink, corners[c], number);
        if (status == TML_OK)
            status =
                tml_mesh_push_corner(sink, (mesh_corner_ref){vertex, MESH_NONE, MESH_NONE}, number);
    }
    return status == TML_OK ? tml_mesh_end_face(sink, number) : status;
}

static tml_status read_binary(mesh_sink *sink, const uint8_t *data, size_t size)
{
    if (size < STL_HEADER)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "has %zu bytes, binary STL has at least %d", size, STL_HEADER);
    uint64_t count = io_load_u32(data + STL_TEXT, false);
    uint64_t expected = STL_HEADER + STL_TRIANGLE * count;
    if (size != expected)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "says %llu triangles, which are %llu bytes, and has %zu; it was cut "
                            "short, or is no binary STL",
                            (unsigned long long)count, (unsigned long long)expected, size);
    tml_status status = TML_OK;
    const uint8_t *at = data + STL_HEADER + 12; /* after the normal */
    for (uint64_t t = 0; t < count && status == TML_OK; t++, at += STL_TRIANGLE) {
        double corners[3][3];
        for (int i = 0; i < 9; i++)
            corners[i / 3][i % 3] = (double)io_load_f32(at + 4 * i, false);
        status = push_triangle(sink, corners, t);
    }
    return status;
}

/* "facet normal x y z / outer loop / vertex x y z, three times / endloop / endfacet" between "solid name" and
 * "endsolid name"; several solids may follow one another. */
typedef struct stl_text {
    mesh_sink *sink;
    io_text text;
    io_span word;
} stl_text;

static tml_status bad_text(const stl_text *reader, const char *expected)
{
    io_span word = reader->word;
    return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                        "line %llu: \"%.*s\" stands where %s should",
                        (unsigned long long)reader->text.line,
                        (int)(word.size < 40 ? word.size : 40), word.text, expected);
}

static bool next_word(stl_text *reader)
{
    reader->word = (io_span){reader->text.at, 0};
    return tml_io_word(&reader->text, &reader->word);
}

static tml_status expect(stl_text *reader, const char *first, const char *second)
{
    if (!next_word(reader) || !tml_io_is_any_case(reader->word, first))
        return bad_text(reader, first);
    if (second && (!next_word(reader) || !tml_io_is_any_case(reader->word, second)))
        return bad_text(reader, second);
    return TML_OK;
}

/* After "facet". */
static tml_status read_facet(stl_text *reader, double corners[3][3])
{
    double skipped;
    tml_status status = expect(reader, "normal", NULL);
    for (int i = 0; i < 3 && status == TML_OK; i++)
        if (!next_word(reader) || !tml_io_parse_f64(reader->word, &skipped))
            return bad_text(reader, "a number of the normal");
    if (status == TML_OK)
        status = expect(reader, "outer", "loop");
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        status = expect(reader, "vertex", NULL);
        for (int i = 0; i < 3 && status == TML_OK; i++)
            if (!next_word(reader) || !tml_io_parse_f64(reader->word, &corners[c][i]))
                return bad_text(reader, "a coordinate");
    }
    if (status == TML_OK)
        status = expect(reader, "endloop", NULL);
    return status == TML_OK ? expect(reader, "endfacet", NULL) : status;
}

static tml_status read_text(mesh_sink *sink, const uint8_t *data, size_t size)
{
    stl_text reader = {.sink = sink, .text = io_text_of((io_span){(const char *)data, size})};
    io_span line;
    tml_status status = TML_OK;
    double corners[3][3];
    bool is_inside = false;
    for (uint64_t t = 0; status == TML_OK && next_word(&reader);) {
        if (!is_inside) {
            if (!tml_io_is_any_case(reader.word, "solid"))
                return bad_text(&reader, "solid");
            is_inside = true;
            (void)tml_io_line(&reader.text, &line); /* the name */
        } else if (tml_io_is_any_case(reader.word, "endsolid")) {
            is_inside = false;
            (void)tml_io_line(&reader.text, &line);
        } else if (tml_io_is_any_case(reader.word, "facet")) {
            status = read_facet(&reader, corners);
            if (status == TML_OK)
                status = push_triangle(sink, corners, t++);
        } else {
            return bad_text(&reader, "facet or endsolid");
        }
    }
    if (status == TML_OK && is_inside)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "ends without endsolid; it was cut short");
    return status;
}

tml_status tml_mesh_read_stl(mesh_sink *sink, const uint8_t *data, size_t size)
{
    bool is_binary =
        size >= STL_HEADER &&
        size == STL_HEADER + STL_TRIANGLE * (uint64_t)io_load_u32(data + STL_TEXT, false);
    bool is_text = !is_binary && !memchr(data, '\0', size) &&
                   tml_io_starts_with(tml_io_trim((io_span){(const char *)data, size}), "solid");
    return is_text ? read_text(sink, data, size) : read_binary(sink, data, size);
}
