/* Loads meshes: detects the format and shares the steps of all formats. */
#include <assert.h>
#include <strings.h>

#include "io/meshes/mesh_sink.h"
#include "io/vtk/vtk_legacy.h"

typedef struct mesh_format_info {
    const char *name;
    bool (*detect)(const io_file *file, io_span head);
    mesh_reader read;
    /* Reads the file without loading it whole. *is_done: false if it cannot. May be NULL. */
    tml_status (*read_parts)(mesh_sink *sink, bool *is_done);
    const char *place_name;
    uint64_t number_base; /* the number of a file's first vertex */
    bool is_soup;         /* the format has no shared vertices */
} mesh_format_info;

/* ---- which format ---------------------------------------------------------------------------- */

/* Bytes by which a format is detected; bytes of PLY, at most, in which a header may name faces. */
enum { MESH_HEAD_SIZE = 4096, PLY_HEAD_SIZE = 1 << 16 };

static bool has_ending(const io_file *file, const char *ending)
{
    size_t length = strlen(file->path), ending_length = strlen(ending);
    return length >= ending_length && strcasecmp(file->path + length - ending_length, ending) == 0;
}

static bool is_ply(const io_file *file, io_span head)
{
    (void)file;
    return tml_io_starts_with(head, "ply\n") || tml_io_starts_with(head, "ply\r");
}

/* Detects "glTF", or a JSON object with the member "asset". */
static bool is_gltf(const io_file *file, io_span head)
{
    io_span text = tml_io_trim(head);
    return tml_io_starts_with(head, "glTF") ||
           (text.size > 0 && text.text[0] == '{' &&
            (has_ending(file, ".gltf") || tml_io_find(text, "\"asset\"")));
}

/* Detects the word OFF with letters before it, which may follow comments. */
static bool is_off(const io_file *file, io_span head)
{
    if (tml_io_starts_with(head, "\xef\xbb\xbf"))
        head = (io_span){head.text + 3, head.size - 3};
    io_text text = io_text_of(head), words = text;
    io_span word = {head.text, 0}, letters;
    while (tml_io_word(&text, &word) && word.text[0] == '#') {
        io_span comment; /* skipped: the rest of the line */
        (void)tml_io_any_line(&text, &comment);
        words = text;
    }
    return tml_off_take_word(&words, &letters) ||
           (has_ending(file, ".off") && word.size > 0 && word.text[0] >= '0' &&
            word.text[0] <= '9'); /* a file named .off need not have the word */
}

/* Detects binary STL if its triangle count agrees with the size; else STL by the first word or the
 * ending. */
static bool is_stl(const io_file *file, io_span head)
{
    if (head.size >= 84 && file->size == 84 + 50 * (uint64_t)io_load_u32(head.text + 80, false))
        return true;
    return has_ending(file, ".stl") || tml_stl_is_text(head);
}

/* Detects VTK XML of type PolyData or with the ending .vtp. */
static bool is_vtp(const io_file *file, io_span head)
{
    const char *start = tml_io_find(head, "<VTKFile");
    if (!start || *head.text != '<')
        return false;
    size_t size = head.size - (size_t)(start - head.text);
    const char *end = memchr(start, '>', size);
    return has_ending(file, ".vtp") ||
           tml_io_find((io_span){start, end ? (size_t)(end - start) : size}, "\"PolyData\"") !=
               NULL;
}

/* Detects legacy VTK with polygons. */
static bool is_vtk(const io_file *file, io_span head)
{
    return tml_io_starts_with(head, "# vtk DataFile") && tml_vtk_count_cells(file, true) > 0;
}

/* Detects OBJ by its ending or by a line that begins with v: an OBJ file has no signature. */
static bool is_obj(const io_file *file, io_span head)
{
    io_text text = io_text_of(head);
    io_span line;
    if (has_ending(file, ".obj"))
        return true;
    while (tml_io_any_line(&text, &line))
        if ((tml_io_starts_with(line, "v ") || tml_io_starts_with(line, "v\t")) &&
            !memchr(head.text, '\0', head.size))
            return true;
    return false;
}

static const mesh_format_info formats[] = {
    {"PLY", is_ply, tml_mesh_read_ply, NULL, "row", 0, false},
    {"glTF", is_gltf, tml_mesh_read_gltf, NULL, "byte", 0, false},
    {"OFF", is_off, tml_mesh_read_off, NULL, "line", 0, false},
    {"STL", is_stl, tml_mesh_read_stl, tml_stl_read_triangles, "triangle", 0, true},
    {"VTP", is_vtp, NULL, tml_vtp_read, "cell", 0, false},
    {"VTK", is_vtk, tml_mesh_read_vtk, NULL, "cell", 0, false},
    {"OBJ", is_obj, tml_mesh_read_obj, NULL, "line", 1, false},
};

static const mesh_format_info *find_format(const io_file *file, io_span head)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].detect(file, head))
            return &formats[i];
    return NULL;
}

/* ---- public ---------------------------------------------------------------------------------- */

static const mesh_format_info *read_format(const io_file *file, tml_status *status)
{
    char head[MESH_HEAD_SIZE];
    const size_t size = file->size < sizeof head ? (size_t)file->size : sizeof head;
    const mesh_format_info *format = NULL;
    *status = tml_io_read(file, 0, head, size);
    if (*status != TML_OK)
        return NULL;
    if (size == 0)
        *status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "the file is empty");
    else if (!(format = find_format(file, (io_span){head, size})))
        *status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                               "the contents are none of OBJ, PLY, STL, OFF, glTF, VTP and VTK "
                               "with polygons");
    return format;
}

static tml_status read_all(mesh_sink *sink, const mesh_format_info *format)
{
    io_block block = {0};
    tml_status status = tml_io_read_all(sink->file, &block);
    TML_THEN(status, format->read(sink, block.data, block.size));
    tml_io_block_free(sink->file, &block); /* before tml_mesh_finish, which needs memory */
    return status;
}

tml_status tml_mesh_read(const io_file *file, const tml_load_desc *desc, tml_mesh_file *out)
{
    *out = (tml_mesh_file){0};
    mesh_sink sink = {.file = file};
    if (desc) {
        sink.weld = desc->weld;
        sink.memory_limit = desc->memory_limit;
        sink.origin = desc->origin;
    }
    tml_status status;
    bool is_done = false;
    const mesh_format_info *format = read_format(file, &status);
    if (format) {
        sink.place_name = format->place_name;
        sink.number_base = format->number_base;
        if (sink.weld == TML_WELD_AUTO)
            sink.weld = format->is_soup ? TML_WELD_ALWAYS : TML_WELD_NEVER;
        snprintf(out->format, sizeof out->format, "%s", format->name);
        if (format->read_parts)
            status = format->read_parts(&sink, &is_done);
    }
    if (status == TML_OK && !is_done)
        status = read_all(&sink, format);
    TML_THEN(status, tml_mesh_finish(&sink, out));
    tml_mesh_sink_free(&sink);
    if (status != TML_OK)
        tml_mesh_file_free(file->tml, out);
    return status;
}

tml_status tml_mesh_load(tml_context *tml, const char *path, const tml_load_desc *desc,
                         tml_mesh_file *out)
{
    io_file file;
    *out = (tml_mesh_file){0};
    if (desc && (unsigned)desc->weld > TML_WELD_ALWAYS)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_mesh_load: desc.weld is %u, needs one of the enum tml_weld",
                         (unsigned)desc->weld);
    tml_status status = tml_io_open(tml, "tml_mesh_load", path, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc && desc->strict;
    status = tml_mesh_read(&file, desc, out);
    if (status == TML_OK && desc && desc->recenter)
        tml_positions_recenter(out->mesh.positions, out->mesh.vertex_count, out->mesh.origin);
    tml_io_close(&file);
    return status;
}

const char *tml_mesh_format_of_file(tml_context *tml, const char *path)
{
    io_file file;
    io_block head = {0};
    if (tml_io_open(tml, "tml_file_format", path, &file) != TML_OK)
        return NULL;
    const mesh_format_info *format = NULL;
    if (tml_io_read_head(&file, PLY_HEAD_SIZE, &head) == TML_OK && head.size > 0) {
        const io_span all = {(const char *)head.data, head.size};
        format = find_format(
            &file, (io_span){all.text, all.size < MESH_HEAD_SIZE ? all.size : MESH_HEAD_SIZE});
        if (format && format->read == tml_mesh_read_ply && tml_ply_is_points(&file, all))
            format = NULL;
    }
    tml_io_block_free(&file, &head);
    tml_io_close(&file);
    return format ? format->name : NULL;
}
