/* Writes VTK XML PolyData (Kitware: VTK XML Formats, docs.vtk.org). The XML names the arrays; their
 * raw bytes follow in the same file, each array after its size in 64 bits. It stores everything
 * that a mesh has, of any size. An empty mesh is a piece without points. */
#include <inttypes.h>

#include "io/meshes/mesh_format.h"

enum { VTP_TEXT_MAX = 256, VTP_ARRAYS_MAX = 6 + TML_MESH_MAX_ATTRIBUTES };

static size_t fill_connectivity(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const uint64_t corners = mesh_corners(mesh);
    for (uint64_t i = 0; i < corners * count; i++)
        io_store_u64le(out + 8 * i, mesh_corner(mesh, corners * first + i));
    return 8 * corners * count;
}

/* Writes where each face's corners end. */
static size_t fill_offsets(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        io_store_u64le(out + 8 * i, mesh_corners(mesh) * (first + i + 1));
    return 8 * count;
}

/* Copies text for an attribute or a comment, and replaces characters that XML would misread. */
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
    uint64_t count; /* rows */
    mesh_rows rows;
    size_t row_size;
    mesh_fill fill;
    uint32_t attribute; /* number of the attribute, if fill is tml_mesh_fill_attribute */
} vtp_array;

/* The file's text, and the arrays behind it. */
typedef struct vtp_file {
    mesh_layout *layout;
    vtp_array arrays[VTP_ARRAYS_MAX];
    uint32_t array_count;
    uint64_t offset; /* of the next array, from the size of the first one */
} vtp_file;

static void add_array(vtp_file *file, const char *type, const char *name, int components,
                      const vtp_array *array)
{
    tml_layout_print(file->layout,
                     "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                     "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                     type, name, components, file->offset);
    file->arrays[file->array_count++] = *array;
    file->offset += 8 + array->count * array->row_size;
}

static void add_attributes(vtp_file *file, const tml_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->attribute_count; i++) {
        const tml_mesh_attribute *a = &mesh->attributes[i];
        char name[VTP_TEXT_MAX];
        escape(name, a->name);
        add_array(file, tml_mesh_is_color(a) ? "UInt8" : "Float32", name, (int)a->components,
                  &(vtp_array){mesh->vertex_count, MESH_VERTICES, tml_mesh_attribute_size(a),
                               tml_mesh_fill_attribute, i});
    }
}

static void describe_xml(vtp_file *file, const tml_mesh *mesh)
{
    uint64_t vertices = mesh->vertex_count, triangles = mesh->triangle_count;
    bool placed = mesh_has_origin(mesh);
    char comment[VTP_TEXT_MAX], name[VTP_TEXT_MAX];
    escape(comment, mesh->comment);
    escape(name, mesh_value_name(mesh));
    tml_layout_print(file->layout,
                     "<?xml version=\"1.0\"?>\n<!-- Trommel %s -->\n"
                     "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                     "header_type=\"UInt64\">\n<PolyData>\n"
                     "<Piece NumberOfPoints=\"%" PRIu64
                     "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
                     "NumberOfStrips=\"0\" NumberOfPolys=\"%" PRIu64 "\">\n<Points>\n",
                     comment, vertices, triangles);
    if (placed)
        add_array(file, "Float64", "Points", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 24, tml_mesh_fill_placed, 0});
    else
        add_array(file, "Float32", "Points", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 12, tml_mesh_fill_positions, 0});
    tml_layout_print(file->layout, "</Points>\n<PointData");
    if (mesh->normals)
        tml_layout_print(file->layout, " Normals=\"Normals\"");
    if (mesh->values)
        tml_layout_print(file->layout, " Scalars=\"%s\"", name);
    tml_layout_print(file->layout, ">\n");
    if (mesh->normals)
        add_array(file, "Float32", "Normals", 3,
                  &(vtp_array){vertices, MESH_VERTICES, 12, tml_mesh_fill_normals, 0});
    if (mesh->values)
        add_array(file, "Float32", name, 1,
                  &(vtp_array){vertices, MESH_VERTICES, 4, tml_mesh_fill_values, 0});
    add_attributes(file, mesh);
    tml_layout_print(file->layout, "</PointData>\n");
    if (mesh->face_labels) {
        char type[16];
        snprintf(type, sizeof type, "%sInt%zu",
                 tml_type_is_signed(mesh->face_label_type) ? "" : "U",
                 8 * tml_type_size(mesh->face_label_type));
        tml_layout_print(file->layout, "<CellData Scalars=\"BoundaryLabels\">\n");
        add_array(file, type, "BoundaryLabels", 2,
                  &(vtp_array){triangles, MESH_TRIANGLES, tml_mesh_labels_size(mesh),
                               tml_mesh_fill_labels, 0});
        tml_layout_print(file->layout, "</CellData>\n");
    }
    tml_layout_print(file->layout, "<Polys>\n");
    add_array(file, "Int64", "connectivity", 1,
              &(vtp_array){triangles, mesh_face_rows(mesh), 8 * mesh_corners(mesh),
                           fill_connectivity, 0});
    add_array(file, "Int64", "offsets", 1,
              &(vtp_array){triangles, MESH_TRIANGLE_NUMBERS, 8, fill_offsets, 0});
    tml_layout_print(file->layout,
                     "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

tml_status tml_vtp_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out)
{
    (void)tml, (void)path, (void)box;
    vtp_file file = {.layout = out};
    describe_xml(&file, mesh);
    for (uint32_t i = 0; i < file.array_count; i++) {
        const vtp_array *array = &file.arrays[i];
        uint8_t size[8];
        io_store_u64le(size, array->count * array->row_size);
        tml_layout_bytes(out, size, sizeof size);
        if (array->fill == tml_mesh_fill_attribute)
            tml_layout_attribute(out, mesh, array->attribute, array->row_size, array->fill);
        else
            tml_layout_rows(out, mesh, array->rows, array->row_size, array->fill);
    }
    tml_layout_print(out, "\n</AppendedData>\n</VTKFile>\n");
    return TML_OK;
}
