/* Reads and writes Wavefront OBJ (Alias|Wavefront: Advanced Visualizer Manual, appendix B1. 1991).
 * OBJ is text. Indices count from 1. A colour follows the position on the vertex's line, as most
 * programs write it. OBJ cannot store values per vertex. An empty mesh becomes a file of comments.
 *
 * Without an origin, positions are the shortest decimals that read back as the same floats; normals
 * always are. With an origin, positions are rounded to the decimals that the floats resolve. */
#include <math.h>
#include <strings.h>

#include "io/meshes/mesh_format.h"
#include "io/meshes/mesh_sink.h"
#include "io/number_format.h"

/* "v " or "vn ", six numbers, blanks and a line end; "f ", twelve indices, slashes and blanks. */
enum { OBJ_VERTEX_MAX = 3 + 6 * (NUMBER_TEXT_MAX + 1), OBJ_FACE_MAX = 2 + 4 * (3 * 20 + 3) };

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

static const tml_mesh_attribute *find_color(const tml_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        if (tml_mesh_is_color(&mesh->attributes[i]))
            return &mesh->attributes[i];
    return NULL;
}

/* Replaces the line's end with the vertex's colour, which most programs look for there, and a new
 * end. */
static uint8_t *put_color(uint8_t *end, const tml_mesh_attribute *color, uint64_t vertex)
{
    if (!color)
        return end;
    end--;
    for (uint32_t c = 0; c < 3; c++) {
        *end++ = ' ';
        end += tml_format_f32((char *)end, color->data[vertex * color->components + c]);
    }
    *end++ = '\n';
    return end;
}

static size_t fill_vertices(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const tml_mesh_attribute *color = find_color(mesh);
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++)
        at = put_color(put_line(at, "v", mesh->positions + 3 * i), color, i);
    return (size_t)(at - out);
}

static size_t fill_normals(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++)
        at = put_line(at, "vn", mesh->normals + 3 * i);
    return (size_t)(at - out);
}

/* Returns how many decimals are worth writing. A float's last bit is 2^-23 of its value, and one
 * more digit makes the error a tenth of that. A double has at most 15 digits in all. */
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
    const tml_mesh_attribute *color = find_color(mesh);
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++) {
        *at++ = 'v';
        for (int axis = 0; axis < 3; axis++) {
            *at++ = ' ';
            at += tml_format_fixed((char *)at, mesh_placed(mesh, i, axis), decimals);
        }
        *at++ = '\n';
        at = put_color(at, color, i);
    }
    return (size_t)(at - out);
}

static size_t fill_uvs(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++) {
        memcpy(at, "vt ", 3);
        at += 3;
        at += tml_format_f32((char *)at, mesh->uvs[2 * i]);
        *at++ = ' ';
        at += tml_format_f32((char *)at, mesh->uvs[2 * i + 1]);
        *at++ = '\n';
    }
    return (size_t)(at - out);
}

/* Writes "7", "7/5", "7//7" or "7/5/7". A vertex and its normal have the same number. */
static uint8_t *put_corner(uint8_t *out, const tml_mesh *mesh, uint64_t corner)
{
    uint64_t vertex = mesh_corner(mesh, corner) + 1;
    out += tml_format_u64((char *)out, vertex);
    if (mesh->uvs || mesh->normals)
        *out++ = '/';
    if (mesh->uvs)
        out += tml_format_u64((char *)out,
                              mesh->uv_indices ? (uint64_t)mesh->uv_indices[corner] + 1 : vertex);
    if (mesh->normals) {
        *out++ = '/';
        out += tml_format_u64((char *)out, vertex);
    }
    return out;
}

static size_t fill_faces(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const uint64_t corners = mesh_corners(mesh);
    uint8_t *at = out;
    for (uint64_t t = first; t < first + count; t++) {
        *at++ = 'f';
        for (uint64_t c = 0; c < corners; c++) {
            *at++ = ' ';
            at = put_corner(at, mesh, corners * t + c);
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
    status = tml_mesh_write_rows(&writer, NULL, mesh, MESH_VERTICES, OBJ_VERTEX_MAX,
                                 mesh_has_origin(mesh) ? fill_placed_vertices : fill_vertices);
    if (status == TML_OK && mesh->uvs)
        status = tml_mesh_write_rows(&writer, NULL, mesh, MESH_UVS, OBJ_VERTEX_MAX, fill_uvs);
    if (status == TML_OK && mesh->normals)
        status =
            tml_mesh_write_rows(&writer, NULL, mesh, MESH_VERTICES, OBJ_VERTEX_MAX, fill_normals);
    TML_THEN(status,
             tml_mesh_write_rows(&writer, NULL, mesh, MESH_TRIANGLES, OBJ_FACE_MAX, fill_faces));
    return tml_io_finish(&writer, status);
}

static size_t fill_lines(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    (void)mesh;
    for (uint64_t i = first; i < first + count; i++) {
        memcpy(at, "l ", 2);
        at += 2;
        at += tml_format_u64((char *)at, 2 * i + 1);
        *at++ = ' ';
        at += tml_format_u64((char *)at, 2 * i + 2);
        *at++ = '\n';
    }
    return (size_t)(at - out);
}

tml_status tml_lines_save(tml_context *tml, const char *path, const float *segments, uint64_t count,
                          const double origin[3])
{
    const tml_mesh ends = {.positions = (float *)(uintptr_t)segments,
                           .vertex_count = 2 * count,
                           .triangle_count = count, /* lines */
                           .origin = {origin[0], origin[1], origin[2]}};
    const char *ending = path ? strrchr(path, '.') : NULL;
    io_writer writer;
    if (!ending || strcasecmp(ending, ".obj") != 0)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_lines_save: path is %s, needs one that ends in .obj",
                         path ? path : "NULL");
    tml_status status = tml_io_create(tml, "tml_lines_save", path, 0, &writer);
    if (status != TML_OK)
        return status;
    tml_io_print(&writer, "# Trommel\n");
    status = tml_mesh_write_rows(&writer, NULL, &ends, MESH_VERTICES, OBJ_VERTEX_MAX,
                                 mesh_has_origin(&ends) ? fill_placed_vertices : fill_vertices);
    TML_THEN(status, tml_mesh_write_rows(&writer, NULL, &ends, MESH_TRIANGLES, OBJ_FACE_MAX,
                                         fill_lines));
    return tml_io_finish(&writer, status);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A line is a keyword and words; a backslash at its end continues it. Indices count from 1, or from
 * -1 back from the last element read so far. */
typedef struct obj_reader {
    mesh_sink *sink;
    io_text text;
    uint64_t line;  /* of the current statement */
    bool is_empty;  /* only comments so far */
    uint32_t color; /* the sink's property, if has_colors */
    bool has_colors;
    char *joined; /* a statement that spans several lines; as large as the file */
    size_t size;
} obj_reader;

/* Removes a backslash that continues a line, and blanks behind it. */
static bool is_carried_on(io_span *line)
{
    io_span trimmed = *line;
    while (trimmed.size > 0 && strchr(" \t\f\v", trimmed.text[trimmed.size - 1]))
        trimmed.size--;
    if (trimmed.size == 0 || trimmed.text[trimmed.size - 1] != '\\')
        return false;
    *line = trimmed;
    return true;
}

/* A comment line is never continued: it may end in the name of a Windows folder. */
static bool is_comment(io_span line)
{
    io_text words = io_text_of(line);
    io_span word;
    return tml_io_word(&words, &word) && word.text[0] == '#';
}

/* Reads the next statement, without a comment at its end. */
static bool next_statement(obj_reader *reader, io_span *out)
{
    reader->line = reader->text.line;
    if (!tml_io_any_line(&reader->text, out))
        return false;
    io_span part = *out;
    if (!is_comment(*out) && is_carried_on(&part)) {
        size_t length = 0;
        for (bool more = true; more;) {
            more = is_carried_on(&part);
            memcpy(reader->joined + length, part.text, part.size - more);
            length += part.size - more;
            if (more)
                reader->joined[length++] = ' ';
            more = more && tml_io_any_line(&reader->text, &part);
        }
        *out = (io_span){reader->joined, length};
    }
    const char *end = out->text + out->size, *comment = out->text;
    while (comment < end && (comment = memchr(comment, '#', (size_t)(end - comment)))) {
        if (comment == out->text || comment[-1] != '.') { /* "1.#IND" is a number */
            out->size = (size_t)(comment - out->text);
            break;
        }
        comment++;
    }
    return true;
}

static tml_status bad_word(const obj_reader *reader, io_span word, const char *expected)
{
    return tml_mesh_error(reader->sink, reader->line, "\"%.*s\" is no %s",
                          (int)(word.size < 40 ? word.size : 40), word.text, expected);
}

/* Reads up to 3 numbers behind a keyword. Fewer than least are an error. */
static tml_status read_numbers(const obj_reader *reader, io_text *words, int least, double out[3])
{
    io_span word;
    int count = 0;
    for (; count < 3 && tml_io_word(words, &word); count++)
        if (!tml_io_parse_f64(word, &out[count]))
            return bad_word(reader, word, "number");
    if (count < least)
        return tml_mesh_error(reader->sink, reader->line, "has %d numbers, needs %d", count, least);
    return TML_OK;
}

/* Parses one index of a corner; count elements of its kind have been read so far. *out is MESH_NONE
 * if the index names no element: some files write 0 for "no normal". */
static tml_status parse_number(const obj_reader *reader, io_span word, uint64_t count,
                               const char *what, uint32_t *out)
{
    int64_t number;
    if (!tml_io_parse_i64(word, &number))
        return bad_word(reader, word, what);
    if (number == 0 || number >= (int64_t)MESH_NONE || -number > (int64_t)count)
        *out = MESH_NONE;
    else
        *out = (uint32_t)(number > 0 ? number - 1 : (int64_t)count + number);
    return TML_OK;
}

/* Reads a corner: "7", "7/5", "7//3" or "7/5/3". Some files also have "7//" and "7/". */
static tml_status read_corner(obj_reader *reader, io_span word)
{
    static const char *const names[] = {"vertex", "texture coordinate", "normal"};
    mesh_sink *sink = reader->sink;
    const uint64_t counts[3] = {mesh_vertex_count(sink), sink->uvs.size / (2 * sizeof(float)),
                                sink->normals.size / (3 * sizeof(float))};
    uint32_t numbers[3] = {MESH_NONE, MESH_NONE, MESH_NONE};
    io_span rest = word;
    for (int i = 0; i < 3; i++) {
        const char *slash = memchr(rest.text, '/', rest.size);
        io_span part = {rest.text, slash ? (size_t)(slash - rest.text) : rest.size};
        tml_status status = TML_OK;
        if (part.size > 0 || i == 0)
            status = parse_number(reader, part, counts[i], names[i], &numbers[i]);
        if (status == TML_OK && i == 0 && numbers[0] == MESH_NONE)
            tml_mesh_add_fault(sink, &sink->lost_corners, reader->line,
                               "names vertex %.*s, the file has %llu until there and counts from 1",
                               (int)(part.size < 20 ? part.size : 20), part.text,
                               (unsigned long long)counts[0]);
        if (status != TML_OK || !slash)
            return status == TML_OK
                       ? tml_mesh_push_corner(sink,
                                              (mesh_corner_ref){numbers[0], numbers[1], numbers[2]},
                                              reader->line)
                       : status;
        rest = (io_span){slash + 1, rest.size - part.size - 1};
    }
    return bad_word(reader, word, "corner such as 7, 7/5, 7//3 or 7/5/3");
}

static tml_status read_face(obj_reader *reader, io_text *words)
{
    io_span word;
    tml_status status = TML_OK;
    while (status == TML_OK && tml_io_word(words, &word))
        status = read_corner(reader, word);
    return status == TML_OK ? tml_mesh_end_face(reader->sink, reader->line) : status;
}

/* ---- reading: OpenSubdiv's tags -------------------------------------------------------------- */

enum { OBJ_TAG_MAX = 1024 }; /* numbers of a kind in a tag */

/* Parses a tag's "2/1/0": how many integers, reals and words follow. */
static bool parse_tag_counts(io_span word, uint64_t counts[3])
{
    for (int i = 0; i < 3; i++) {
        const char *slash = memchr(word.text, '/', word.size);
        io_span part = {word.text, slash ? (size_t)(slash - word.text) : word.size};
        if ((i < 2) != (slash != NULL) || !tml_io_parse_u64(part, &counts[i]))
            return false;
        word = slash ? (io_span){slash + 1, word.size - part.size - 1} : word;
    }
    return counts[0] <= OBJ_TAG_MAX && counts[1] <= OBJ_TAG_MAX;
}

/* Reads a tag of sharp edges (step 2: pairs of vertices) or corners (step 1), with one sharpness
 * for all or one for each. */
static tml_status read_sharp(obj_reader *reader, io_text *words, uint64_t step)
{
    uint64_t counts[3], vertices[OBJ_TAG_MAX] = {0};
    double sharpness[OBJ_TAG_MAX] = {0};
    io_span word = {words->at, 0};
    if (!tml_io_word(words, &word) || !parse_tag_counts(word, counts) || counts[0] % step != 0 ||
        (counts[1] != 1 && counts[1] != counts[0] / step))
        return tml_mesh_error(
            reader->sink, reader->line,
            "the tag's counts are \"%.*s\", need %s/1/0 (or more vertices, with a "
            "sharpness for each; at most %d)",
            (int)(word.size < 40 ? word.size : 40), word.text, step == 2 ? "2" : "1", OBJ_TAG_MAX);
    for (uint64_t i = 0; i < counts[0]; i++)
        if (!tml_io_word(words, &word) || !tml_io_parse_u64(word, &vertices[i]) ||
            vertices[i] >= MESH_NONE)
            return bad_word(reader, word, "vertex of a tag, counted from 0");
    for (uint64_t i = 0; i < counts[1]; i++)
        if (!tml_io_word(words, &word) || !tml_io_parse_f64(word, &sharpness[i]))
            return bad_word(reader, word, "sharpness");
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < counts[0] && status == TML_OK; i += step) {
        double value = sharpness[counts[1] == 1 ? 0 : i / step];
        status = step == 2 ? tml_mesh_push_crease(reader->sink, (uint32_t)vertices[i],
                                                  (uint32_t)vertices[i + 1], value, reader->line)
                           : tml_mesh_push_sharp_corner(reader->sink, (uint32_t)vertices[i], value,
                                                        reader->line);
    }
    return status;
}

static tml_status read_tag(obj_reader *reader, io_text *words)
{
    io_span name;
    if (tml_io_word(words, &name)) {
        if (tml_io_is(name, "crease"))
            return read_sharp(reader, words, 2);
        if (tml_io_is(name, "corner"))
            return read_sharp(reader, words, 1);
    }
    return TML_OK;
}

/* Reads "v x y z". Three more numbers are a colour; a weight is ignored. */
static tml_status read_vertex(obj_reader *reader, io_text *words)
{
    mesh_sink *sink = reader->sink;
    double position[3], color[3];
    io_span word;
    int count = 0;
    tml_status status = read_numbers(reader, words, 3, position);
    TML_THEN(status, tml_mesh_push_vertex(sink, position, reader->line));
    while (count < 3 && tml_io_word(words, &word) && tml_io_parse_f64(word, &color[count]))
        count++;
    if (status != TML_OK || count < 3)
        return status;
    if (!reader->has_colors)
        reader->color = tml_mesh_add_property(sink, "color", 3, true, 0);
    reader->has_colors = true;
    return tml_mesh_push_property(sink, reader->color, color);
}

static tml_status read_statement(obj_reader *reader, io_span statement)
{
    mesh_sink *sink = reader->sink;
    io_text words = io_text_of(statement);
    io_span keyword;
    double numbers[3] = {0, 0, 0};
    tml_status status = TML_OK;
    if (!tml_io_word(&words, &keyword))
        return TML_OK;
    reader->is_empty = false;
    if (tml_io_is(keyword, "v"))
        return read_vertex(reader, &words);
    if (tml_io_is(keyword, "vt")) {
        status = read_numbers(reader, &words, 1, numbers);
        return status == TML_OK ? tml_mesh_push_uv(sink, numbers) : status;
    }
    if (tml_io_is(keyword, "vn")) {
        status = read_numbers(reader, &words, 3, numbers);
        return status == TML_OK ? tml_mesh_push_normal(sink, numbers) : status;
    }
    if (tml_io_is(keyword, "f") || tml_io_is(keyword, "fo"))
        return read_face(reader, &words);
    if (tml_io_is(keyword, "t"))
        return read_tag(reader, &words);
    sink->skipped_count += tml_io_is(keyword, "p") || tml_io_is(keyword, "l") ||
                           tml_io_is(keyword, "curv") || tml_io_is(keyword, "curv2") ||
                           tml_io_is(keyword, "surf");
    return TML_OK;
}

tml_status tml_mesh_read_obj(mesh_sink *sink, const uint8_t *data, size_t size)
{
    obj_reader reader = {
        .sink = sink, .text = io_text_of((io_span){(const char *)data, size}), .is_empty = true};
    if (memchr(data, '\0', size))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "is no text, as OBJ is");
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) /* byte order mark of Windows editors */
        reader.text.at += 3;
    if (memchr(data, '\\', size)) {
        reader.size = size;
        reader.joined = tml_io_alloc(sink->file, size);
        if (!reader.joined)
            return TML_ERROR_OUT_OF_MEMORY;
    }
    io_span statement;
    tml_status status = TML_OK;
    while (status == TML_OK && next_statement(&reader, &statement))
        status = read_statement(&reader, statement);
    tml_free(sink->file->tml, reader.joined, reader.size);
    if (status == TML_OK && mesh_vertex_count(sink) == 0 && !reader.is_empty)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "has no vertices");
    return status;
}
