/* Writes binary glTF 2.0 (Khronos: glTF 2.0 Specification. 2021): a header, a JSON chunk that
 * describes the buffer, and the buffer as a second chunk. There is one mesh of triangles with a
 * double-sided default material.
 * - glTF has only floats, so the origin is the node's translation.
 * - glTF is y-up, so a mesh with another up axis has a node with a matrix. Its elements are 0, 1
 *   and -1 and read back exactly; a quaternion's square roots would be rounded.
 * - A file is smaller than 4 GiB. glTF has no mesh without triangles: an empty one is an empty
 *   node.
 *
 * The JSON precedes the positions and holds their box. Its numbers are padded with blanks to a
 * fixed length, so the file can be written while the mesh is made, and the box afterwards. */
#include <inttypes.h>

#include "io/meshes/mesh_format.h"
#include "io/number_format.h"

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/kernel_end.h"

enum {
    GLB_CHUNK_HEADER = 8,
    GLB_START = 12 + GLB_CHUNK_HEADER, /* the header of the file and of the JSON chunk */
    GLB_JSON_MAX = 4096 + TML_MESH_MAX_ATTRIBUTES * 512,
    GLB_TEXT_MAX = 512,
    GLB_VIEWS_MAX = 4 + TML_MESH_MAX_ATTRIBUTES,
    /* glTF's constants. */
    GLTF_FLOAT = 5126,
    GLTF_UNSIGNED_INT = 5125,
    GLTF_ARRAY_BUFFER = 34962,
    GLTF_ELEMENT_ARRAY_BUFFER = 34963,
};

/* A range of the buffer and the accessor that makes an array of it. All rows consist of 4-byte
 * scalars, so each view is aligned. */
typedef struct glb_view {
    mesh_rows kind;
    uint64_t rows;
    size_t row_size;
    mesh_fill fill;
    const char *type;
    uint64_t count; /* elements of that type */
    int component;
    int target;
    uint32_t attribute; /* the attribute that fill_attribute writes */
} glb_view;

typedef struct glb_file {
    mesh_layout *layout;
    glb_view views[GLB_VIEWS_MAX];
    uint32_t view_count;
} glb_file;

static size_t fill_indices(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < 3 * count; i++)
        io_store_u32le(out + 4 * i, (uint32_t)mesh_corner(mesh, 3 * first + i));
    return 12 * count;
}

/* Adds "name":[a,b,c]. printf would follow the locale. */
static void add_floats(glb_file *file, const char *name, const float values[3])
{
    tml_layout_print(file->layout, ",\"%s\":[", name);
    for (int i = 0; i < 3; i++) {
        char text[NUMBER_TEXT_MAX];
        int length = (int)tml_format_f32(text, values[i]);
        tml_layout_print(file->layout, "%s%.*s%*s", i ? "," : "", length, text,
                         NUMBER_TEXT_MAX - length, "");
    }
    tml_layout_print(file->layout, "]");
}

/* Adds the mesh's comment as a JSON string. */
static void add_comment(glb_file *file, const char *comment)
{
    char line[GLB_TEXT_MAX / 2], escaped[GLB_TEXT_MAX];
    tml_mesh_line(line, sizeof line, comment);
    size_t length = 0;
    for (const char *at = line; *at; at++) {
        if (*at == '"' || *at == '\\')
            escaped[length++] = '\\';
        escaped[length++] = *at;
    }
    escaped[length] = '\0';
    if (length > 0)
        tml_layout_print(file->layout, ",\"extras\":{\"comment\":\"%s\"}", escaped);
}

static void add_f64s(glb_file *file, const char *begin, const double values[], int count)
{
    for (int i = 0; i < count; i++) {
        char text[IO_NUMBER_SIZE];
        tml_io_format_f64(text, values[i]);
        tml_layout_print(file->layout, "%s%s", i ? "," : begin, text);
    }
    tml_layout_print(file->layout, "]");
}

/* Adds the origin and the rotation to y-up: axis i of the file is the mesh's axis[i] times
 * sign[i]. */
static void add_place(glb_file *file, const tml_mesh *mesh)
{
    static const struct {
        int axis[3], sign[3];
    } turns[] = {
        [TML_UP_NONE] = {{0, 1, 2}, {1, 1, 1}},     [TML_UP_Z] = {{0, 2, 1}, {1, 1, -1}},
        [TML_UP_Y] = {{0, 1, 2}, {1, 1, 1}},        [TML_UP_X] = {{1, 0, 2}, {-1, 1, 1}},
        [TML_UP_MINUS_Z] = {{0, 2, 1}, {1, -1, 1}}, [TML_UP_MINUS_Y] = {{0, 1, 2}, {1, -1, -1}},
        [TML_UP_MINUS_X] = {{1, 0, 2}, {1, -1, 1}}};
    double matrix[16] = {[15] = 1}; /* by columns */
    for (int i = 0; i < 3; i++) {
        int axis = turns[mesh->up].axis[i], sign = turns[mesh->up].sign[i];
        matrix[4 * axis + i] = sign;
        matrix[12 + i] = sign < 0 ? 0 - mesh->origin[axis] : mesh->origin[axis];
    }
    if (mesh->up != TML_UP_NONE && mesh->up != TML_UP_Y)
        add_f64s(file, ",\"matrix\":[", matrix, 16);
    else if (mesh_has_origin(mesh))
        add_f64s(file, ",\"translation\":[", matrix + 12, 3);
}

static void add_node(glb_file *file, const tml_mesh *mesh)
{
    tml_layout_print(file->layout,
                     ",\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"name\":\"surface\"%s",
                     mesh->triangle_count > 0 ? ",\"mesh\":0" : "");
    add_place(file, mesh);
    tml_layout_print(file->layout, "}]");
}

/* Adds a view, and adds its accessor to the JSON. The accessor has the view's number. */
static void add_view(glb_file *file, const char *json_name, const glb_view *view)
{
    tml_layout_print(file->layout, "\"%s\":%u", json_name, file->view_count);
    file->views[file->view_count++] = *view;
}

/* Colours are decoded: glTF's are linear. */
static size_t fill_attribute(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const tml_mesh_attribute *a = mesh->attributes;
    bool is_color = tml_mesh_is_color(a);
    for (uint64_t i = 0; i < count * a->components; i++) {
        float value = a->data[first * a->components + i];
        if (is_color) /* NaN becomes 0; alpha is always linear */
            value = !(value > 0.0f) ? 0.0f : value < 1.0f ? value : 1.0f;
        if (is_color && i % a->components < 3)
            value = image_srgb_decode(value);
        io_store_f32le(out + 4 * i, value);
    }
    return 4 * count * a->components;
}

/* A colour is COLOR_0. Other attributes are "_" and the name in capital letters, digits and "_". */
static void add_attributes(glb_file *file, const tml_mesh *mesh, glb_view view)
{
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    view.fill = fill_attribute;
    for (uint32_t i = 0; i < mesh->attribute_count; i++) {
        const tml_mesh_attribute *a = &mesh->attributes[i];
        char name[66] = "_";
        for (size_t k = 0; a->name[k] && k < 64; k++) {
            char c = a->name[k];
            bool is_small = c >= 'a' && c <= 'z';
            bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            name[k + 1] = (char)(is_small ? c - 'a' + 'A' : is_kept ? c : '_');
        }
        view.attribute = i;
        view.row_size = 4 * (size_t)a->components;
        view.type = types[a->components - 1];
        tml_layout_print(file->layout, ",");
        add_view(file, tml_mesh_is_color(a) ? "COLOR_0" : name, &view);
    }
}

static void add_mesh(glb_file *file, const tml_mesh *mesh)
{
    glb_view view = {.kind = MESH_VERTICES,
                     .rows = mesh->vertex_count,
                     .row_size = 12,
                     .fill = tml_mesh_fill_positions,
                     .type = "VEC3",
                     .count = mesh->vertex_count,
                     .component = GLTF_FLOAT,
                     .target = GLTF_ARRAY_BUFFER};
    tml_layout_print(file->layout, ",\"meshes\":[{\"primitives\":[{\"attributes\":{");
    add_view(file, "POSITION", &view);
    if (mesh->normals) {
        view.fill = tml_mesh_fill_normals;
        tml_layout_print(file->layout, ",");
        add_view(file, "NORMAL", &view);
    }
    view.type = "SCALAR";
    if (mesh->values) {
        view.fill = tml_mesh_fill_values;
        view.row_size = 4;
        tml_layout_print(file->layout, ",");
        add_view(file, "_VALUE", &view);
    }
    add_attributes(file, mesh, view);
    tml_layout_print(file->layout, "},");
    if (mesh->indices) {
        view = (glb_view){.kind = MESH_TRIANGLES,
                          .rows = mesh->triangle_count,
                          .row_size = 12,
                          .fill = fill_indices,
                          .type = "SCALAR",
                          .count = 3 * mesh->triangle_count,
                          .component = GLTF_UNSIGNED_INT,
                          .target = GLTF_ELEMENT_ARRAY_BUFFER};
        add_view(file, "indices", &view);
        tml_layout_print(file->layout, ",");
    }
    tml_layout_print(
        file->layout,
        "\"material\":0,\"mode\":4}]}],\"materials\":[{\"pbrMetallicRoughness\":{"
        "\"baseColorFactor\":[0.8,0.8,0.8,1],\"metallicFactor\":0,\"roughnessFactor\":0.6},"
        "\"doubleSided\":true}]");
}

static uint64_t buffer_size(const tml_mesh *mesh)
{
    if (mesh->triangle_count == 0)
        return 0;
    uint64_t row = 12 + (mesh->normals ? 12 : 0) + (mesh->values ? 4 : 0);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        row += 4 * mesh->attributes[i].components;
    return mesh->vertex_count * row + (mesh->indices ? 12 * mesh->triangle_count : 0);
}

/* Adds the descriptions of the buffer, its views and their accessors. */
static void add_buffer(glb_file *file, const float lower[3], const float upper[3])
{
    uint64_t size = 0;
    tml_layout_print(file->layout, ",\"bufferViews\":[");
    for (uint32_t i = 0; i < file->view_count; i++) {
        const glb_view *view = &file->views[i];
        tml_layout_print(file->layout,
                         "%s{\"buffer\":0,\"byteOffset\":%" PRIu64 ",\"byteLength\":%" PRIu64
                         ",\"target\":%d}",
                         i ? "," : "", size, view->rows * view->row_size, view->target);
        size += view->rows * view->row_size;
    }
    tml_layout_print(file->layout, "],\"accessors\":[");
    for (uint32_t i = 0; i < file->view_count; i++) {
        const glb_view *view = &file->views[i];
        tml_layout_print(file->layout,
                         "%s{\"bufferView\":%u,\"componentType\":%d,\"count\":%" PRIu64
                         ",\"type\":\"%s\"",
                         i ? "," : "", i, view->component, view->count, view->type);
        if (i == 0) { /* glTF requires the box of positions */
            add_floats(file, "min", lower);
            add_floats(file, "max", upper);
        }
        tml_layout_print(file->layout, "}");
    }
    tml_layout_print(file->layout, "],\"buffers\":[{\"byteLength\":%" PRIu64 "}]", size);
}

static void add_json(glb_file *file, const tml_mesh *mesh, const mesh_box *box)
{
    tml_layout_print(file->layout, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Trommel\"");
    add_comment(file, mesh->comment);
    tml_layout_print(file->layout, "}");
    add_node(file, mesh);
    if (buffer_size(mesh) > 0) {
        add_mesh(file, mesh);
        add_buffer(file, box->lower, box->upper);
    }
    tml_layout_print(file->layout, "}");
    while (file->layout->text_size % 4) /* chunks begin aligned; JSON is padded with blanks */
        tml_layout_print(file->layout, " ");
}

tml_status tml_glb_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out)
{
    uint64_t size = buffer_size(mesh), overhead = GLB_START + GLB_CHUNK_HEADER;
    if (size > UINT32_MAX - overhead - GLB_JSON_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         MESH_CALL ": %s: the mesh needs %" PRIu64
                                   " bytes, GLB holds less than 4 GiB; "
                                   "use PLY or VTP",
                         path, size + overhead);
    glb_file file = {.layout = out};
    uint8_t start[GLB_START] = {0}, chunk[GLB_CHUNK_HEADER] = {0, 0, 0, 0, 'B', 'I', 'N', 0};
    tml_layout_bytes(out, start, sizeof start);
    add_json(&file, mesh, box);
    uint64_t json_size = out->size - sizeof start;
    io_store_u32le(chunk, (uint32_t)size);
    if (size > 0)
        tml_layout_bytes(out, chunk, sizeof chunk);
    for (uint32_t i = 0; i < file.view_count; i++) {
        const glb_view *view = &file.views[i];
        if (view->fill == fill_attribute)
            tml_layout_attribute(out, mesh, view->attribute, view->row_size, view->fill);
        else
            tml_layout_rows(out, mesh, view->kind, view->row_size, view->fill);
    }
    memcpy(start, "glTF", 4);
    io_store_u32le(start + 4, 2);
    io_store_u32le(start + 8, (uint32_t)out->size);
    io_store_u32le(start + 12, (uint32_t)json_size);
    memcpy(start + 16, "JSON", 4);
    memcpy(out->text, start, sizeof start);
    return TML_OK;
}
