/* Writes PLY (Greg Turk: The PLY Polygon File Format. 1994): binary little-endian meshes. */
#include <inttypes.h>

#include "io/meshes/mesh_format.h"

/* A vertex: x y z (doubles if the mesh has an origin), normal, value, attributes. A face: a byte
 * with the number of corners, and 32-bit indices, called signed if they fit, as in most files.
 * Names become one word. */
static size_t vertex_size(const tml_mesh *mesh)
{
    size_t size =
        (mesh_has_origin(mesh) ? 24 : 12) + (mesh->normals ? 12 : 0) + (mesh->values ? 4 : 0);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        size += tml_mesh_attribute_size(&mesh->attributes[i]);
    return size;
}

static size_t fill_vertices(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    uint8_t *at = out;
    bool placed = mesh_has_origin(mesh);
    for (uint64_t i = first; i < first + count; i++) {
        at +=
            placed ? tml_mesh_fill_placed(mesh, i, 1, at) : tml_mesh_fill_positions(mesh, i, 1, at);
        if (mesh->normals)
            at += tml_mesh_fill_normals(mesh, i, 1, at);
        if (mesh->values)
            at += tml_mesh_fill_values(mesh, i, 1, at);
        for (uint32_t k = 0; k < mesh->attribute_count; k++) {
            tml_mesh with = mesh_with_attribute(mesh, k);
            at += tml_mesh_fill_attribute(&with, i, 1, at);
        }
    }
    return (size_t)(at - out);
}

/* Bytes of a face without its labels. */
static size_t face_size(const tml_mesh *mesh)
{
    return 1 + 4 * mesh_corners(mesh);
}

/* Bytes of a face's two labels; those of 64 bits become 32 (tml_ply_check_labels). */
static size_t labels_size(const tml_mesh *mesh)
{
    const size_t size = tml_mesh_labels_size(mesh);
    return size > 8 ? 8 : size;
}

static void fill_labels(const tml_mesh *mesh, uint64_t face, uint8_t *out)
{
    if (tml_mesh_labels_size(mesh) <= 8) {
        tml_mesh_fill_labels(mesh, face, 1, out);
        return;
    }
    const uint64_t *labels = (const uint64_t *)mesh->face_labels + 2 * face;
    io_store_u32le(out, (uint32_t)labels[0]);
    io_store_u32le(out + 4, (uint32_t)labels[1]);
}

tml_status tml_ply_check_labels(tml_context *tml, const char *path, const tml_mesh *mesh)
{
    const bool is_signed = tml_type_is_signed(mesh->face_label_type);
    const uint64_t *labels = mesh->face_labels;
    if (tml_mesh_labels_size(mesh) <= 8)
        return TML_OK;
    for (uint64_t i = 0; i < 2 * mesh->triangle_count; i++) {
        const int64_t label = (int64_t)labels[i];
        if (is_signed ? label >= INT32_MIN && label <= INT32_MAX : labels[i] <= UINT32_MAX)
            continue;
        char text[32];
        snprintf(text, sizeof text, is_signed ? "%" PRId64 : "%" PRIu64, labels[i]);
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         MESH_CALL ": %s: label %s needs 64 bits, and PLY's integers have 32; "
                                   "write .vtp",
                         path, text);
    }
    return TML_OK;
}

static size_t fill_faces(const tml_mesh *mesh, uint64_t first, uint64_t count, uint8_t *out)
{
    const uint64_t corners = mesh_corners(mesh);
    const size_t size = face_size(mesh) + labels_size(mesh);
    for (uint64_t t = 0; t < count; t++, out += size) {
        out[0] = (uint8_t)corners;
        for (uint64_t c = 0; c < corners; c++)
            io_store_u32le(out + 1 + 4 * c, (uint32_t)mesh_corner(mesh, corners * (first + t) + c));
        if (mesh->face_labels)
            fill_labels(mesh, first + t, out + face_size(mesh));
    }
    return size * count;
}

/* Writes the header's lines for the labels of faces. */
static void describe_labels(const tml_mesh *mesh, mesh_layout *out)
{
    static const char *const names[TML_SCALAR_END] = {
        [TML_U8] = "uchar", [TML_I8] = "char", [TML_U16] = "ushort", [TML_I16] = "short",
        [TML_U32] = "uint", [TML_I32] = "int", [TML_U64] = "uint",   [TML_I64] = "int"};
    if (!mesh->face_labels)
        return;
    const char *name = names[mesh->face_label_type];
    tml_layout_print(out, "property %s label\nproperty %s other_label\n", name, name);
}

/* Makes a name one word of the header. */
static void format_name(const char *text, char *out, size_t size)
{
    tml_mesh_line(out, size, text);
    for (char *at = out; *at; at++)
        *at = *at == ' ' ? '_' : *at;
}

static void describe_attribute(mesh_layout *out, const tml_mesh_attribute *a)
{
    static const char *const colors[] = {"red", "green", "blue", "alpha"};
    char name[64];
    format_name(a->name, name, sizeof name);
    for (uint32_t c = 0; c < a->components; c++) {
        if (tml_mesh_is_color(a))
            tml_layout_print(out, "property uchar %s\n", colors[c]);
        else if (a->components == 1)
            tml_layout_print(out, "property float %s\n", name);
        else
            tml_layout_print(out, "property float %s_%c\n", name, "xyzw"[c]);
    }
}

tml_status tml_ply_describe(tml_context *tml, const char *path, const tml_mesh *mesh,
                            const mesh_box *box, mesh_layout *out)
{
    (void)box;
    if (mesh->vertex_count > (uint64_t)UINT32_MAX + 1)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         MESH_CALL
                         ": %s: the mesh has %llu vertices, PLY's indices reach 2^32; use VTP",
                         path, (unsigned long long)mesh->vertex_count);
    char comment[256], name[32];
    tml_mesh_line(comment, sizeof comment, mesh->comment);
    format_name(mesh_value_name(mesh), name, sizeof name);
    const char *real = mesh_has_origin(mesh) ? "double" : "float";
    tml_layout_print(out,
                     "ply\nformat binary_little_endian 1.0\ncomment Trommel %s\n"
                     "element vertex %llu\nproperty %s x\nproperty %s y\nproperty %s z\n",
                     comment, (unsigned long long)mesh->vertex_count, real, real, real);
    if (mesh->normals)
        tml_layout_print(out, "property float nx\nproperty float ny\nproperty float nz\n");
    if (mesh->values)
        tml_layout_print(out, "property float %s\n", name);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        describe_attribute(out, &mesh->attributes[i]);
    tml_layout_print(out, "element face %llu\nproperty list uchar %s vertex_indices\n",
                     (unsigned long long)mesh->triangle_count,
                     mesh->vertex_count > INT32_MAX ? "uint" : "int");
    describe_labels(mesh, out);
    tml_layout_print(out, "end_header\n");
    tml_layout_rows(out, mesh, MESH_VERTICES, vertex_size(mesh), fill_vertices);
    tml_layout_rows(out, mesh, mesh_face_rows(mesh), face_size(mesh) + labels_size(mesh),
                    fill_faces);
    return TML_OK;
}
