/* Reads the Object File Format (Geomview: OOGL File Formats): a word that ends in OFF, three
 * counts, a line for each vertex and each face. Letters before the word say what a vertex's line
 * holds after the position: N a normal, C a colour, ST texture coordinates. # begins a comment. */
#include "io/mesh_sink.h"

typedef struct off_reader {
    mesh_sink *sink;
    io_text text;
    uint64_t line; /* of the current words */
    bool has_normals, has_colors, has_uvs;
} off_reader;

/* The next line with words in it. */
static bool next_words(off_reader *reader, io_text *words)
{
    io_span line;
    for (;;) {
        reader->line = reader->text.line;
        if (!tml_io_line(&reader->text, &line))
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

static tml_status fail(const off_reader *reader, const char *what)
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

/* The first word, which may be missing, and the counts, which may stand in its line. */
static tml_status read_head(off_reader *reader, uint64_t *vertices, uint64_t *faces)
{
    io_text words;
    io_span word;
    if (!next_words(reader, &words))
        return fail(reader, "has no counts of vertices and faces");
    io_text again = words;
    if (tml_io_word(&words, &word) && word.text[word.size - 1] == 'F') {
        if (memchr(word.text, '4', word.size) || memchr(word.text, 'n', word.size))
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "is OFF of other than three dimensions");
        reader->has_normals = memchr(word.text, 'N', word.size);
        reader->has_uvs = tml_io_starts_with(word, "ST");
        reader->has_colors = memchr(word.text, 'C', word.size);
        io_text rest = words;
        if (!tml_io_word(&rest, &word)) {
            if (!next_words(reader, &words))
                return fail(reader, "has no counts of vertices and faces");
        } else if (tml_io_is(word, "BINARY")) {
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "is binary OFF; save it as text, PLY or OBJ");
        }
    } else {
        words = again;
    }
    if (!next_count(&words, vertices) || !next_count(&words, faces))
        return fail(reader, "needs counts of vertices, faces and edges");
    uint64_t left = (uint64_t)(reader->text.end - reader->text.at) + 1; /* the last line's end */
    if (*vertices > left / 6 || *faces > left / 8) /* "0 0 0", "3 0 1 2", and line ends */
        return tml_mesh_error(reader->sink, reader->line,
                              "says %llu vertices and %llu faces, the file has %llu bytes left",
                              (unsigned long long)*vertices, (unsigned long long)*faces,
                              (unsigned long long)left - 1);
    return TML_OK;
}

static tml_status read_vertex(off_reader *reader)
{
    mesh_sink *sink = reader->sink;
    io_text words;
    double position[3], normal[3], uv[2];
    if (!next_words(reader, &words))
        return fail(reader, "the file ends before its last vertex");
    for (int i = 0; i < 3; i++)
        if (!next_number(&words, &position[i]))
            return fail(reader, "is no vertex of three numbers");
    for (int i = 0; i < 3 && reader->has_normals; i++)
        if (!next_number(&words, &normal[i]))
            return fail(reader, "is no vertex with a normal");
    tml_status status = tml_mesh_push_vertex(sink, position, reader->line);
    if (status == TML_OK && reader->has_normals)
        status = tml_mesh_push_normal(sink, normal);
    if (status != TML_OK || !reader->has_uvs)
        return status;
    /* Colours have 3 or 4 numbers before the last two. */
    double rest[8];
    int count = 0;
    while (count < 8 && next_number(&words, &rest[count]))
        count++;
    if (count < 2 + (reader->has_colors ? 3 : 0))
        return fail(reader, "is no vertex with texture coordinates");
    uv[0] = rest[count - 2];
    uv[1] = rest[count - 1];
    return tml_mesh_push_uv(sink, uv);
}

static tml_status read_face(off_reader *reader)
{
    io_text words;
    uint64_t count, vertex;
    tml_status status = TML_OK;
    if (!next_words(reader, &words))
        return fail(reader, "the file ends before its last face");
    if (!next_count(&words, &count))
        return fail(reader, "is no face: a count of corners, and their vertices");
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        if (!next_count(&words, &vertex) || vertex >= MESH_NONE)
            return fail(reader, "is no face of as many vertices as its count says");
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
    uint64_t vertices = 0, faces = 0;
    tml_status status = read_head(&reader, &vertices, &faces);
    for (uint64_t i = 0; i < vertices && status == TML_OK; i++)
        status = read_vertex(&reader);
    for (uint64_t i = 0; i < faces && status == TML_OK; i++)
        status = read_face(&reader);
    return status;
}
