/* Reads STL, text and binary, and writes binary STL (3D Systems: StereoLithography Interface
 * Specification. 1989): 80 bytes of text, a 32-bit count, then 50 bytes per triangle with the
 * normal of its plane. STL cannot store shared vertices, normals or values per vertex, or doubles.
 * An empty mesh has a count of 0. */
#include <math.h>

#include "io/meshes/mesh_format.h"
#include "io/meshes/mesh_sink.h"

enum { STL_TEXT = 80, STL_HEADER = STL_TEXT + 4, STL_TRIANGLE = 50 };
/* Bytes at a file's beginning that contain no zero if the STL is text. */
enum { STL_TEXT_LOOK = 512 };

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
        double u[3], v[3]; /* edges from the first corner; doubles: float products may underflow */
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
    /* The text must not begin with "solid", by which readers recognise textual STL. */
    uint8_t header[STL_HEADER] = {0};
    char comment[STL_TEXT - 8];
    tml_mesh_line(comment, sizeof comment, mesh->comment);
    snprintf((char *)header, STL_TEXT, "Trommel %s", comment);
    io_store_u32le(header + STL_TEXT, (uint32_t)mesh->triangle_count);
    tml_layout_bytes(out, header, sizeof header);
    tml_layout_rows(out, mesh, MESH_TRIANGLES, STL_TRIANGLE, fill_triangles);
    return TML_OK;
}

/* Returns the distance to the next larger float. */
static double float_step(double size)
{
    return (double)nextafterf((float)size, INFINITY) - (double)(float)size;
}

void tml_stl_tell_of_rounding(tml_context *tml, const char *path, const tml_mesh *mesh)
{
    /* Triangles that are examined, and steps between floats that the mean edge should span: a
     * marching cubes mesh has edges that are much shorter. */
    enum { LOOK_AT = 4096, STEPS_LEAST = 256 };
    const uint64_t stride = mesh->triangle_count / LOOK_AT + 1;
    double largest = 0, edges = 0;
    uint64_t count = 0;
    if (!mesh_has_origin(mesh) || mesh->quads)
        return;
    for (uint64_t t = 0; t < mesh->triangle_count; t += stride, count++) {
        double square = 0;
        for (int axis = 0; axis < 3; axis++) {
            const uint64_t a = mesh_corner(mesh, 3 * t), b = mesh_corner(mesh, 3 * t + 1);
            const double edge = mesh_placed(mesh, b, axis) - mesh_placed(mesh, a, axis);
            square += edge * edge;
            largest = fmax(largest, fabs(mesh_placed(mesh, a, axis)));
        }
        edges += sqrt(square);
    }
    const double step = float_step(largest), edge = count ? edges / (double)count : 0;
    if (count > 0 && step * STEPS_LEAST > edge)
        tml_log(tml, TML_LOG_WARNING,
                MESH_CALL ": %s: STL holds floats, which are %.2g apart at coordinates of %.7g, "
                          "and the mesh's edges are about %.2g long: its shape and closedness "
                          "suffer; use .ply, .obj or .glb",
                path, step, largest, edge);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Pushes a triangle. One with a coordinate that is not a finite float counts as a face, and the
 * finish leaves it out. */
static tml_status push_triangle(mesh_sink *sink, double corners[3][3], uint64_t place)
{
    tml_status status = TML_OK;
    int bad = 0;
    while (bad < 9 && isfinite((float)corners[bad / 3][bad % 3]))
        bad++;
    if (bad < 9) {
        const uint32_t none = 0;
        tml_mesh_add_fault(sink, &sink->lost_faces, place,
                           "coordinate %c is %g, needs a finite float", "xyz"[bad % 3],
                           corners[bad / 3][bad % 3]);
        return tml_mesh_append(sink, &sink->sizes, &none, sizeof none) ? TML_OK
                                                                       : TML_ERROR_OUT_OF_MEMORY;
    }
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        uint32_t vertex = (uint32_t)mesh_vertex_count(sink);
        status = tml_mesh_push_vertex(sink, corners[c], place);
        TML_THEN(status, tml_mesh_push_corner(sink, (mesh_corner_ref){vertex, MESH_NONE, MESH_NONE},
                                              place));
    }
    return status == TML_OK ? tml_mesh_end_face(sink, place) : status;
}

/* Are records [first, end) triangles, and not padding or other bytes behind the triangles? */
static bool are_triangles(const uint8_t *data, uint64_t first, uint64_t end)
{
    const uint8_t *at = data + STL_HEADER + first * STL_TRIANGLE;
    for (; first < end; first++, at += STL_TRIANGLE) {
        bool is_finite = true, is_empty = true;
        for (int i = 0; i < STL_TRIANGLE; i++)
            is_empty &= at[i] == 0;
        for (int i = 3; i < 12; i++)
            is_finite &= isfinite(io_load_f32(at + 4 * i, false));
        if (is_empty || !is_finite)
            return false;
    }
    return true;
}

/* Decides how many triangles a binary file has: as many as its count says, if the file holds them.
 * If the count was never filled in, or the rest of the file is triangles, too, its size decides,
 * with a warning. */
static tml_status count_triangles(const mesh_sink *sink, const uint8_t *data, uint64_t size,
                                  uint64_t *out)
{
    const uint64_t said = io_load_u32(data + STL_TEXT, false);
    const uint64_t held = (size - STL_HEADER) / STL_TRIANGLE,
                   rest = (size - STL_HEADER) % STL_TRIANGLE;
    const bool is_unknown = said == 0 || said == UINT32_MAX;
    *out = said;
    if (said == held && rest == 0)
        return TML_OK;
    if (rest == 0 && (is_unknown || (said < held && are_triangles(data, said, held)))) {
        *out = held;
        return tml_io_warn(sink->file,
                           "says %llu triangles, and its bytes are those of %llu, which are read",
                           (unsigned long long)said, (unsigned long long)held);
    }
    const uint64_t behind = (held - said) * STL_TRIANGLE + rest;
    if (said > 0 && said <= held)
        return tml_io_warn(sink->file, "%llu %s left out behind the last triangle",
                           (unsigned long long)behind, behind == 1 ? "byte is" : "bytes are");
    return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                        "says %llu triangles, which are %llu bytes, and has %llu; it was cut "
                        "short, or is no binary STL",
                        (unsigned long long)said,
                        (unsigned long long)(STL_HEADER + STL_TRIANGLE * said),
                        (unsigned long long)size);
}

static tml_status read_binary(mesh_sink *sink, const uint8_t *data, size_t size)
{
    if (size < STL_HEADER)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "has %zu bytes, binary STL has at least %d", size, STL_HEADER);
    uint64_t count = 0;
    tml_status status = count_triangles(sink, data, size, &count);
    const uint8_t *at = data + STL_HEADER + 12; /* after the normal */
    for (uint64_t t = 0; t < count && status == TML_OK; t++, at += STL_TRIANGLE) {
        double corners[3][3];
        for (int i = 0; i < 9; i++)
            corners[i / 3][i % 3] = (double)io_load_f32(at + 4 * i, false);
        status = push_triangle(sink, corners, t);
    }
    return status;
}

/* Textual STL: "facet normal x y z / outer loop / vertex x y z (three times) / endloop / endfacet"
 * between "solid name" and "endsolid name", in letters of either case. A file may have several
 * solids. */
typedef struct stl_text {
    mesh_sink *sink;
    io_text text;
    io_span word;
    uint64_t strays, first_stray; /* lines that belong to no solid */
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

/* Skips the normal, which may be any words or none: the corners determine it. */
static tml_status skip_normal(stl_text *reader)
{
    enum { NORMAL_WORDS = 8 };
    for (int i = 0; i < NORMAL_WORDS && next_word(reader); i++)
        if (tml_io_is_any_case(reader->word, "outer"))
            return expect(reader, "loop", NULL);
    return bad_text(reader, "outer");
}

/* Reads a facet, behind "facet". */
static tml_status read_facet(stl_text *reader, double corners[3][3])
{
    tml_status status = skip_normal(reader);
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        status = expect(reader, "vertex", NULL);
        for (int i = 0; i < 3 && status == TML_OK; i++)
            if (!next_word(reader) || !tml_io_parse_f64(reader->word, &corners[c][i]))
                return bad_text(reader, "a coordinate");
    }
    TML_THEN(status, expect(reader, "endloop", NULL));
    return status == TML_OK ? expect(reader, "endfacet", NULL) : status;
}

/* Skips the name of a solid, which may be any words: the rest of the line, or up to a "facet
 * normal" in it. */
static void skip_name(stl_text *reader)
{
    io_text after = reader->text;
    io_span line, word, next;
    if (!tml_io_any_line(&after, &line))
        return;
    io_text words = {line.text, line.text + line.size, reader->text.line};
    for (io_text here = words; tml_io_word(&words, &word); here = words) {
        io_text ahead = words;
        if (tml_io_is_any_case(word, "facet") && tml_io_word(&ahead, &next) &&
            tml_io_is_any_case(next, "normal")) {
            reader->text.at = here.at;
            return;
        }
    }
    reader->text = after;
}

static tml_status read_text(mesh_sink *sink, const uint8_t *data, size_t size)
{
    stl_text reader = {.sink = sink, .text = io_text_of((io_span){(const char *)data, size})};
    tml_status status = TML_OK;
    double corners[3][3];
    bool is_inside = false;
    uint64_t triangles = 0;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        reader.text.at += 3;
    while (reader.text.end > reader.text.at &&
           reader.text.end[-1] == '\x1a') /* end of a file on DOS */
        reader.text.end--;
    sink->place_name = "line";
    while (status == TML_OK && next_word(&reader)) {
        const uint64_t line = reader.text.line;
        if (tml_io_is_any_case(reader.word, "facet")) {
            status = read_facet(&reader, corners);
            TML_THEN(status, push_triangle(sink, corners, line));
            triangles++;
            continue;
        }
        const bool begins = tml_io_is_any_case(reader.word, "solid");
        if (!begins && !tml_io_is_any_case(reader.word, "endsolid") && reader.strays++ == 0)
            reader.first_stray = line;
        if (begins || tml_io_is_any_case(reader.word, "endsolid"))
            is_inside = begins;
        skip_name(&reader);
    }
    if (status == TML_OK && reader.strays > 0 && triangles == 0)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "has no facets, and line %llu is no line of STL",
                            (unsigned long long)reader.first_stray);
    if (status == TML_OK && reader.strays > 0)
        status = tml_io_warn(
            sink->file, "%llu %s left out: no part of a facet (line %llu is the first)",
            (unsigned long long)reader.strays, reader.strays == 1 ? "line is" : "lines are",
            (unsigned long long)reader.first_stray);
    if (status == TML_OK && is_inside && triangles == 0)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "has no facets and no endsolid; it was cut short");
    if (status == TML_OK && is_inside)
        status = tml_io_warn(sink->file,
                             "ends without endsolid; all of its %llu facets are read, and it may "
                             "have been cut short behind them",
                             (unsigned long long)triangles);
    return status;
}

/* Does the file begin with "solid", in letters of either case? */
static bool begins_with_solid(io_span all)
{
    if (tml_io_starts_with(all, "\xef\xbb\xbf"))
        all = (io_span){all.text + 3, all.size - 3};
    io_text text = io_text_of(all);
    io_span word = {NULL, 0};
    return tml_io_word(&text, &word) && tml_io_is_any_case(word, "solid");
}

bool tml_stl_is_text(io_span head)
{
    /* A binary file may begin with "solid", too, but its count or its coordinates contain zeros. */
    return begins_with_solid(head) &&
           !memchr(head.text, '\0', head.size < STL_TEXT_LOOK ? head.size : STL_TEXT_LOOK);
}

tml_status tml_mesh_read_stl(mesh_sink *sink, const uint8_t *data, size_t size)
{
    bool is_binary =
        size >= STL_HEADER &&
        size == STL_HEADER + STL_TRIANGLE * (uint64_t)io_load_u32(data + STL_TEXT, false);
    return !is_binary && tml_stl_is_text((io_span){(const char *)data, size})
               ? read_text(sink, data, size)
               : read_binary(sink, data, size);
}
