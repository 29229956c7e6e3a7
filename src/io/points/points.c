/* Loads points: finds a file's format, and calls its reader. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/points/points_internal.h"

/* ---- which format ---------------------------------------------------------------------------- */

typedef struct points_format {
    const char *name;
    const char *magic; /* first bytes of the file */
    points_reader read;
} points_format;

#define BGEO_MAGIC "BgeoV"
static const points_format formats[] = {
    {"PLY", "ply\n", tml_points_read_ply},      {"PLY", "ply\r", tml_points_read_ply},
    {"PCD", "# .PCD", tml_points_read_pcd},     {"PCD", "VERSION", tml_points_read_pcd},
    {"LAS", "LASF", tml_points_read_las},       {"VTK", "# vtk DataFile", tml_points_read_vtk},
    {"VTU", "<?xml", tml_points_read_vtk_xml},  {"VTU", "<VTKFile", tml_points_read_vtk_xml},
    {"BGEO", BGEO_MAGIC, tml_points_read_bgeo},
};
static const points_format xyz_format = {"XYZ", "", tml_points_read_xyz};

#define FORMATS      "PLY, XYZ, PCD, LAS, VTK, VTU or BGEO"
#define MESH_MESSAGE "the file holds a mesh, not points; use " FORMATS

/* Formats that are not read, found by their first bytes or ending, with what to do instead. */
static const struct {
    const char *magics[2]; /* NULL: none */
    const char *ending;
    const char *message;
} refused[] = {
    {{"\x7fNSJ"},
     ".bgeo",
     "Houdini geometry since version 12 is not read; save as its classic .bgeo or as PLY, for "
     "example with Partio's partconvert"},
    {{"\x1f\x8b"}, NULL, "the file is compressed with gzip; unpack it with gunzip first"},
    {{"glTF"}, ".glb", MESH_MESSAGE},
    {{NULL}, ".obj", MESH_MESSAGE},
    {{NULL}, ".stl", MESH_MESSAGE},
    {{NULL}, ".off", MESH_MESSAGE},
};

static bool begins_with(const uint8_t *data, size_t size, const char *magic)
{
    size_t length = magic ? strlen(magic) : 0;
    return length > 0 && size >= length && memcmp(data, magic, length) == 0;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = ending ? strlen(ending) : 0;
    return ending && length >= ending_length &&
           strcasecmp(name + length - ending_length, ending) == 0;
}

/* Does the beginning look like text? Text has no control bytes but white space. */
static bool looks_like_text(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && i < 1024; i++)
        if (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r') &&
            !(data[i] == 0x1a && i + 1 == size)) /* end of a file on DOS */
            return false;
    return true;
}

static tml_status find_format(const point_sink *sink, const uint8_t *data, size_t size,
                              const points_format **out)
{
    if (size == 0)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the file is empty");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (begins_with(data, size, formats[i].magic)) {
            *out = &formats[i];
            return TML_OK;
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (begins_with(data, size, refused[i].magics[0]) ||
            begins_with(data, size, refused[i].magics[1]) ||
            has_ending(sink->file->path, refused[i].ending))
            return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED, "%s", refused[i].message);
    if (!looks_like_text(data, size))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the contents are none of " FORMATS);
    *out = &xyz_format;
    return TML_OK;
}

/* Is the file BGEO, perhaps in gzip? */
static bool is_bgeo(const io_file *file)
{
    io_block head = {0};
    bool is = tml_io_read_head(file, sizeof BGEO_MAGIC - 1, &head) == TML_OK &&
              begins_with(head.data, head.size, BGEO_MAGIC);
    tml_io_block_free(file, &head);
    return is;
}

/* Reads the file. Programs write BGEO compressed with gzip; it is unpacked, up to the size in its
 * last bytes. */
static tml_status read_contents(const io_file *file, io_block *out)
{
    uint8_t start[3] = {0}, size[4];
    if (file->size < 18 || tml_io_read(file, 0, start, sizeof start) != TML_OK ||
        !tml_io_is_gzip(start, sizeof start) || !is_bgeo(file))
        return tml_io_read_all(file, out);
    tml_status status = tml_io_read(file, file->size - sizeof size, size, sizeof size);
    return status == TML_OK ? tml_io_read_head(file, io_load_u32(size, false), out) : status;
}

/* ---- public ---------------------------------------------------------------------------------- */

static tml_status read_points(const io_file *file, const tml_load_desc *desc, tml_points *out)
{
    *out = (tml_points){0};
    point_sink sink = {.file = file,
                       .wanted = desc->names,
                       .wanted_count = desc->name_count,
                       .origin = desc->origin};
    const points_format *format = NULL;
    io_block block = {0};
    tml_status status = read_contents(file, &block);
    TML_THEN(status, find_format(&sink, block.data, block.size, &format));
    assert(status != TML_OK || format);
    TML_THEN(status, format->read(&sink, block.data, block.size));
    tml_io_block_free(file, &block); /* frees memory for the finish */
    /* PCD has NaN where a scanner saw nothing. */
    if (status == TML_OK && sink.dropped > 0 && format->read != tml_points_read_pcd)
        status = tml_io_warn(file, "%llu %s a coordinate that is no finite float %s left out",
                             (unsigned long long)sink.dropped,
                             sink.dropped == 1 ? "point with" : "points with",
                             sink.dropped == 1 ? "is" : "are");
    TML_THEN(status, tml_points_finish(&sink, out));
    if (status == TML_OK)
        snprintf(out->format, sizeof out->format, "%s", format->name);
    while (sink.first)
        tml_points_drop_first(&sink);
    return status;
}

tml_status tml_points_read_attributes(const io_file *file, const char *const *names,
                                      uint32_t name_count, tml_points *out)
{
    const tml_load_desc desc = {.names = names, .name_count = name_count};
    return read_points(file, &desc, out);
}

#ifdef __EMSCRIPTEN__ /* web pages set no limit: saves code */
#    define check_limit(file, limit, p) TML_OK
#else
static tml_status check_limit(const io_file *file, uint64_t limit, const tml_points *p)
{
    uint64_t numbers = 3 + (p->radii != NULL) + (p->values != NULL);
    for (uint32_t i = 0; i < p->attribute_count; i++)
        numbers += p->attributes[i].data ? p->attributes[i].components : 0;
    const uint64_t size = p->count * numbers * sizeof(float);
    return limit && size > limit ? tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                                                "needs %llu bytes, desc.memory_limit is %llu",
                                                (unsigned long long)size, (unsigned long long)limit)
                                 : TML_OK;
}
#endif

tml_status tml_points_load(tml_context *tml, const char *path, const tml_load_desc *desc,
                           tml_points *out)
{
    static const tml_load_desc defaults;
    desc = desc ? desc : &defaults;
    io_file file;
    *out = (tml_points){0};
    tml_status status = tml_io_open(tml, "tml_points_load", path, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc->strict;
    status = read_points(&file, desc, out);
    if (status == TML_OK && (status = check_limit(&file, desc->memory_limit, out)) != TML_OK)
        tml_points_free(tml, out);
    if (status == TML_OK && desc->recenter)
        tml_positions_recenter(out->positions, out->count, out->origin);
    tml_io_close(&file);
    return status;
}

const char *tml_points_format_of(tml_context *tml, const char *path)
{
    enum { HEAD_SIZE = 1024 };
    io_file file;
    uint8_t head[HEAD_SIZE];
    if (tml_io_open(tml, "tml_file_format", path, &file) != TML_OK)
        return NULL;
    const point_sink sink = {.file = &file};
    const points_format *format = NULL;
    size_t size = file.size < sizeof head ? (size_t)file.size : sizeof head;
    if (is_bgeo(&file))
        (void)!find_format(&sink, (const uint8_t *)BGEO_MAGIC, sizeof BGEO_MAGIC - 1, &format);
    else if (tml_io_read(&file, 0, head, size) == TML_OK &&
             find_format(&sink, head, size, &format) != TML_OK)
        format = NULL;
    tml_io_close(&file);
    return format ? format->name : NULL;
}
