/* Writes VTK XML PolyData (Kitware: VTK XML Formats, docs.vtk.org): the XML names the arrays, whose
 * raw bytes follow in the same file, each after its size in 64 bits. Holds everything that a mesh
 * has, of any size. An empty mesh is a piece of no points. */
#include <inttypes.h>
#include <stdarg.h>

#include "io/mesh_format.h"

enum { VTP_XML_MAX = 4096, VTP_TEXT_MAX = 256, VTP_ARRAYS_MAX = 5 };

static size_t fill_connectivity(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < 3 * count; i++)
        io_store_u64le(out + 8 * i, mesh_corner(mesh, 3 * first + i));
    return 24 * count;
}

/* Where each triangle's corners end. */
static size_t fill_offsets(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    (void)mesh;
    for (uint64_t i = 0; i < count; i++)
        io_store_u64le(out + 8 * i, 3 * (first + i + 1));
    return 8 * count;
}

/* Copies text for an attribute or a comment; what XML would misread becomes harmless. */
static void escape(char out[VTP_TEXT_MAX], const char *text)
{
    char line[VTP_TEXT_MAX];
    tml_mesh_line(line, sizeof line, text);
    size_t length = 0;
    for (const char *at = line; *at && length + sizeof "&quot;" < VTP_TEXT_MAX; at++) {
        char piece[8] = {*at == '-' && at[1] == '-' ? '_' : *at, '\0'};
        if (*at == '<' || *at == '>' || *at == '&' || *at == '"')
            strcpy(piece, *at == '<'   ? "&lt;"
                          : *at == '>' ? "&gt;"
                          : *at == '&' ? "&amp;"
                                       : "&quot;");
        memcpy(out + length, piece, strlen(piece));
        length += strlen(piece);
    }
    out[length] = '\0';
}

typedef struct vtp_array {
    uint64_t count; /* of rows */
    mesh_rows rows;
    size_t row_size;
    mesh_fill fill;
} vtp_array;

/* The file's text and the arrays behind it. */
typedef struct vtp_file {
    char xml[VTP_XML_MAX];
    size_t xml_size;
    vtp_array arrays[VTP_ARRAYS_MAX];
    uint32_t array_count;
    uint64_t offset; /* of the next array, from the first one's size */
} vtp_file;

static void add_text(vtp_file *file, const char *format, ...) TML_FORMAT(2, 3);
static void add_text(vtp_file *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* Never cut: the texts are constant but for two of VTP_TEXT_MAX and some numbers. */
    int length =
        vsnprintf(file->xml + file->xml_size, VTP_XML_MAX - file->xml_size, format, arguments);
    va_end(arguments);
    file->xml_size += (size_t)length;
}

static void add_array(vtp_file *file, const char *type, const char *name, int components,
                      const vtp_array *array)
{
    add_text(file,
             "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
             "offset=\"%" PRIu64 "\"/>\n",
             type, name, components, file->offset);
    file->arrays[file->array_count++] = *array;
    file->offset += 8 + array->count * array->row_size;
}

static void describe(vtp_file *file, const tml_mesh *mesh)
{
    uint64_t vertices = mesh->vertex_count, triangles = mesh->triangle_count;
    bool placed = mesh_has_origin(mesh);
    char comment[VTP_TEXT_MAX], name[VTP_TEXT_MAX];
    escape(comment, mesh->comment);
    escape(name, mesh_value_name(mesh));
    add_text(file,
             "<?xml version=\"1.0\"?>\n<!-- Trommel %s -->\n"
             "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
             "header_type=\"UInt64\">\n<PolyData>\n"
             "<Piece NumberOfPoints=\"%" PRIu64 "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
             "NumberOfStrips=\"0\" NumberOfPolys=\"%" PRIu64 "\">\n<Points>\n",
             comment, vertices, triangles);
    if (placed)
        add_array(file, "Float64", "Points", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 24, tml_mesh_fill_placed});
    else
        add_array(file, "Float32", "Points", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 12, tml_mesh_fill_positions});
    add_text(file, "</Points>\n<PointData");
    if (mesh->normals)
        add_text(file, " Normals=\"Normals\"");
    if (mesh->values)
        add_text(file, " Scalars=\"%s\"", name);
    add_text(file, ">\n");
    if (mesh->normals)
        add_array(file, "Float32", "Normals", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 12, tml_mesh_fill_normals});
    if (mesh->values)
        add_array(file, "Float32", name, 1,
                  &(vtp_array){vertices, MESH_VERTICES, 4, tml_mesh_fill_values});
    add_text(file, "</PointData>\n<Polys>\n");
    add_array(file, "Int64", "connectivity", 1,
              &(vtp_array){triangles, mesh_face_rows(mesh), 24, fill_connectivity});
    add_array(file, "Int64", "offsets", 1,
              &(vtp_array){triangles, MESH_TRIANGLE_NUMBERS, 8, fill_offsets});
    add_text(file, "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

tml_status tml_mesh_write_vtp(tml_context *tml, const char *path, const tml_mesh *mesh,
                              const mesh_relief *relief)
{
    static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
    vtp_file file = {0};
    describe(&file, mesh);
    io_writer writer;
    tml_status status =
        tml_mesh_create(tml, path, file.xml_size + file.offset + sizeof end - 1, relief, &writer);
    if (status != TML_OK)
        return status;
    tml_io_write(&writer, file.xml, file.xml_size);
    for (uint32_t i = 0; i < file.array_count && status == TML_OK; i++) {
        const vtp_array *array = &file.arrays[i];
        uint8_t size[8];
        io_store_u64le(size, array->count * array->row_size);
        tml_io_write(&writer, size, sizeof size);
        status =
            tml_mesh_write_rows(&writer, relief, mesh, array->rows, array->row_size, array->fill);
    }
    io_write_text(&writer, end);
    return tml_io_finish(&writer, status);
}
