/* Reads the Object File Format (Geomview: OOGL File Formats): a word that ends in OFF, three
 * counts, then a line per vertex and a line per face. The letters before OFF say what follows the
 * position on a vertex's line: N a normal, C a colour, ST texture coordinates. # begins a
 * comment. */
#include "io/meshes/mesh_sink.h"

typedef struct off_reader {
    mesh_sink *sink;
    io_text text;
    uint64_t line; /* of the words being read */
    bool has_normals, has_colors, has_uvs;
    uint32_t color;        /* the sink's property */
    uint32_t color_count;  /* numbers of a colour: 3 or 4 */
    bool has_color_points; /* a colour has a decimal point */
} off_reader;

/* Finds the next line that has words. */
static bool next_words(off_reader *reader, io_text *words)
{
    io_span line;
    for (;;) {
        reader->line = reader->text.line;
        if (!tml_io_any_line(&reader->text, &line))
            return false;
        const char *comment = line.size > 0 ? memchr(line.text, '#', line.size) : NULL;
        if (comment)
            line.size = (size_t)(comment - line.text);
        line = tml_io_trim(line);
        if (line.size > 0) {
            *words = io_text_of(line);
            return true;
        }
    }
}

static tml_status off_fail(const off_reader *reader, const char *what)
{
    return tml_mesh_error(reader->sink, reader->line, "%s", what);
}

static bool next_number(io_text *words, double *out)
{
    io_span word;
    return tml_io_word(words, &word) && tml_io_parse_f64(word, out);
}

static bool next_count(io_text *words, uint64_t *out)
{
    io_span word;
    return tml_io_word(words, &word) && tml_io_parse_u64(word, out);
}

/* Consumes the word OFF and the letters before it. A count may follow OFF without a blank, as in
 * "OFF8 6 0". Returns false if the first word is another one: a file may omit OFF. */
bool tml_off_take_word(io_text *words, io_span *letters)
{
    io_text rest = *words;
    io_span word;
    if (!tml_io_word(&rest, &word))
        return false;
    size_t size = word.size;
    while (size > 0 && word.text[size - 1] >= '0' && word.text[size - 1] <= '9')
        size--;
    *letters = (io_span){word.text, size};
    const bool is_small = tml_io_is(*letters, "off");
    if (size < 3 || (!is_small && memcmp(word.text + size - 3, "OFF", 3) != 0))
        return false;
    for (size_t i = 0; i + 3 < size; i++)
        if (!memchr("STCN4n", word.text[i], 6))
            return false;
    words->at = word.text + size;
    return true;
}

/* Reads the first word, which may be missing, and the counts, which may follow it on its line. */
static tml_status read_head(off_reader *reader, uint64_t *vertices, uint64_t *faces)
{
    io_text words;
    io_span word;
    if (!next_words(reader, &words))
        return off_fail(reader, "has no counts of vertices and faces");
    if (tml_off_take_word(&words, &word)) {
        if (memchr(word.text, '4', word.size) || memchr(word.text, 'n', word.size))
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "is OFF of other than three dimensions");
        reader->has_normals = memchr(word.text, 'N', word.size);
        reader->has_uvs = tml_io_starts_with(word, "ST");
        reader->has_colors = memchr(word.text, 'C', word.size);
        io_text rest = words;
        if (!tml_io_word(&rest, &word)) {
            if (!next_words(reader, &words))
                return off_fail(reader, "has no counts of vertices and faces");
        } else if (tml_io_is_any_case(word, "BINARY")) {
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "is binary OFF; save it as text, PLY or OBJ");
        }
    }
    /* The counts may stand on lines of their own; the line of the edge count may be missing. */
    bool is_good = next_count(&words, vertices), is_in_lines = false;
    if (is_good && !next_count(&words, faces)) {
        is_in_lines = true;
        is_good = next_words(reader, &words) && next_count(&words, faces);
    }
    if (!is_good)
        return off_fail(reader, "needs counts of vertices, faces and edges");
    const off_reader here = *reader;
    uint64_t edges;
    if (is_in_lines && !tml_io_word(&words, &word) &&
        (!next_words(reader, &words) || !next_count(&words, &edges) || tml_io_word(&words, &word)))
        *reader = here;
    uint64_t left = (uint64_t)(reader->text.end - reader->text.at) + 1; /* a missing line end */
    if (*vertices > left / 6 || *faces > left / 4) /* "0 0 0", "1 0" and line ends */
        return tml_mesh_error(reader->sink, reader->line,
                              "says %llu vertices and %llu faces, the file has %llu bytes left",
                              (unsigned long long)*vertices, (unsigned long long)*faces,
                              (unsigned long long)left - 1);
    return TML_OK;
}

/* Reads the numbers behind position and normal: 3 or 4 of a colour, then 2 texture coordinates. */
static tml_status read_rest(off_reader *reader, io_text *words)
{
    enum { REST_MAX = 8 };
    mesh_sink *sink = reader->sink;
    double rest[REST_MAX] = {0};
    io_span word;
    uint32_t count = 0;
    for (; count < REST_MAX && tml_io_word(words, &word); count++) {
        if (!tml_io_parse_f64(word, &rest[count]))
            break;
        reader->has_color_points |= memchr(word.text, '.', word.size) != NULL;
    }
    const uint32_t uvs = reader->has_uvs ? 2 : 0;
    if (count < uvs + (reader->has_colors ? 3 : 0))
        return off_fail(reader, reader->has_uvs ? "is no vertex with texture coordinates"
                                                : "is no vertex with a colour");
    tml_status status = TML_OK;
    if (reader->has_colors) {
        if (reader->color_count == 0) {
            reader->color_count = count - uvs >= 4 ? 4 : 3;
            reader->color = tml_mesh_add_property(sink, "color", reader->color_count, true, 0);
        }
        if (count - uvs < reader->color_count)
            rest[3] = reader->has_color_points ? 1 : 255; /* opaque: the alpha is missing */
        status = tml_mesh_push_property(sink, reader->color, rest);
    }
    if (status == TML_OK && reader->has_uvs)
        status = tml_mesh_push_uv(sink, &rest[count - 2]);
    return status;
}

static tml_status read_vertex(off_reader *reader)
{
    mesh_sink *sink = reader->sink;
    io_text words;
    double position[3], normal[3];
    if (!next_words(reader, &words))
        return off_fail(reader, "the file ends before its last vertex");
    for (int i = 0; i < 3; i++)
        if (!next_number(&words, &position[i]))
            return off_fail(reader, "is no vertex of three numbers");
    for (int i = 0; i < 3 && reader->has_normals; i++)
        if (!next_number(&words, &normal[i]))
            return off_fail(reader, "is no vertex with a normal");
    tml_status status = tml_mesh_push_vertex(sink, position, reader->line);
    if (status == TML_OK && reader->has_normals)
        status = tml_mesh_push_normal(sink, normal);
    return status == TML_OK && (reader->has_uvs || reader->has_colors) ? read_rest(reader, &words)
                                                                       : status;
}

static tml_status read_face(off_reader *reader)
{
    io_text words;
    uint64_t count, vertex;
    tml_status status = TML_OK;
    if (!next_words(reader, &words))
        return off_fail(reader, "the file ends before its last face");
    if (!next_count(&words, &count))
        return off_fail(reader, "is no face: a count of corners, and their vertices");
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        io_span word = {words.at, 0};
        int64_t negative;
        if (!tml_io_word(&words, &word) ||
            (!tml_io_parse_u64(word, &vertex) && !tml_io_parse_i64(word, &negative)))
            return off_fail(reader, "is no face of as many vertices as its count says");
        if (word.text[0] == '-' || vertex >= MESH_NONE) {
            tml_mesh_add_fault(reader->sink, &reader->sink->lost_corners, reader->line,
                               "names vertex %.*s", (int)(word.size < 40 ? word.size : 40),
                               word.text);
            vertex = MESH_NONE;
        }
        uint32_t number = (uint32_t)vertex;
        status =
            tml_mesh_push_corner(reader->sink,
                                 (mesh_corner_ref){number, reader->has_uvs ? number : MESH_NONE,
                                                   reader->has_normals ? number : MESH_NONE},
                                 reader->line);
    }
    return status == TML_OK ? tml_mesh_end_face(reader->sink, reader->line) : status;
}

tml_status tml_mesh_read_off(mesh_sink *sink, const uint8_t *data, size_t size)
{
    off_reader reader = {.sink = sink, .text = io_text_of((io_span){(const char *)data, size})};
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        reader.text.at += 3;
    uint64_t vertices = 0, faces = 0;
    tml_status status = read_head(&reader, &vertices, &faces);
    for (uint64_t i = 0; i < vertices && status == TML_OK; i++)
        status = read_vertex(&reader);
    for (uint64_t i = 0; i < faces && status == TML_OK; i++)
        status = read_face(&reader);
    /* Colours range from 0 to 255, or from 0 to 1 if any has a decimal point. */
    if (reader.color_count > 0 && !reader.has_color_points) {
        mesh_property *color = &sink->properties[reader.color];
        float *numbers = (float *)(void *)color->data.data;
        for (size_t i = 0; i < color->data.size / sizeof *numbers; i++)
            numbers[i] /= 255.0f;
        color->scale = 1;
    }
    return status;
}
