/* The meshes of glTF: pushes the transformed vertices and the triangles of each primitive to the
 * sink. */
#include "io/meshes/gltf.h"

#ifdef TML_GLTF
#    include <math.h>

#    include "kernels/kernel.h"

#    include "kernels/image.k.h"

#    include "kernels/kernel_end.h"

enum { GLTF_TRIANGLES = 4, GLTF_STRIP = 5, GLTF_FAN = 6 };

/* Limit on the primitives that are read: many nodes may have the same mesh. */
enum { GLTF_PLACED_MAX = 1 << 22 };

/* The vertices of a primitive in the sink. The next primitive may share them. */
typedef struct gltf_vertices {
    uint64_t position, normal, uv, value, color;  /* accessors; MESH_NONE: none */
    uint64_t properties[TML_MESH_MAX_ATTRIBUTES]; /* likewise, of each property of the sink */
    uint64_t count;
    uint32_t first, first_normal, first_uv; /* MESH_NONE: none */
} gltf_vertices;

static void place_point(const gltf_place *place, double p[3])
{
    const double *m = place->m;
    double q[3];
    if (place->is_identity)
        return;
    for (int i = 0; i < 3; i++)
        q[i] = m[i] * p[0] + m[3 + i] * p[1] + m[6 + i] * p[2] + m[9 + i];
    memcpy(p, q, sizeof q);
}

static double determinant(const double *m)
{
    return m[0] * (m[4] * m[8] - m[7] * m[5]) - m[3] * (m[1] * m[8] - m[7] * m[2]) +
           m[6] * (m[1] * m[5] - m[4] * m[2]);
}

/* Transforms a normal by the matrix of cofactors, which is the transposed inverse up to scale and
 * sign. */
static void place_normal(const gltf_place *place, double n[3])
{
    const double *m = place->m;
    double q[3], sign = determinant(m) < 0 ? -1 : 1;
    if (place->is_identity)
        return;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        q[i] = n[0] * (m[3 + a] * m[6 + b] - m[6 + a] * m[3 + b]) +
               n[1] * (m[6 + a] * m[b] - m[a] * m[6 + b]) +
               n[2] * (m[a] * m[3 + b] - m[3 + a] * m[b]);
    }
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int i = 0; i < 3; i++)
        n[i] = length > 0 ? sign * q[i] / length : 0;
}

static uint32_t number_in(const mesh_array *array, size_t element)
{
    size_t count = array->size / element;
    return count < MESH_NONE ? (uint32_t)count : MESH_NONE;
}

/* Pushes a vertex's colour. Colours are linear in a file and sRGB in a mesh. If only some
 * primitives have colours, the vertices of the others are white. */
static tml_status push_color(gltf_reader *reader, const gltf_array *colors, uint64_t row)
{
    static const double white[4] = {1, 1, 1, 1};
    mesh_sink *sink = reader->sink;
    tml_status status = TML_OK;
    if (!colors->data && reader->color_components == 0)
        return TML_OK;
    if (reader->color_components == 0) {
        reader->color_components = colors->components;
        reader->color = tml_mesh_add_property(sink, "color", (uint32_t)colors->components, true, 1);
    }
    while (reader->color_count + 1 < mesh_vertex_count(sink) && status == TML_OK) {
        status = tml_mesh_push_property(sink, reader->color, white);
        reader->color_count++;
    }
    double numbers[4] = {1, 1, 1, 1};
    for (uint64_t c = 0; c < colors->components && colors->data; c++) {
        double x = fmin(fmax(tml_gltf_number(colors, row, c), 0), 1); /* NaN becomes 0 */
        numbers[c] = c < 3 ? (double)image_srgb_encode((float)x) : x;
    }
    reader->color_count++;
    return status == TML_OK ? tml_mesh_push_property(sink, reader->color, numbers) : status;
}

/* Finds the application's own attributes, whose names begin with "_", as glb.c writes them:
 * "_VELOCITY" becomes the property "velocity". */
static tml_status find_properties(gltf_reader *reader, int attributes, gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    for (int i = 0; i < TML_MESH_MAX_ATTRIBUTES; i++)
        v->properties[i] = MESH_NONE;
    if (attributes < 0 || reader->tokens[attributes].type != JSMN_OBJECT)
        return TML_OK;
    const int end = reader->tokens[attributes].end;
    for (int key = attributes + 1; key + 1 < reader->token_count && reader->tokens[key].start < end;
         key = tml_gltf_skip(reader, key + 1)) {
        io_span text = tml_gltf_text(reader, key);
        gltf_array array;
        uint64_t number;
        char name[64];
        if (text.size < 2 || text.text[0] != '_' || tml_io_is(text, "_VALUE"))
            continue;
        if (!tml_io_parse_u64(tml_gltf_text(reader, key + 1), &number))
            return tml_gltf_bad(reader, key, "needs the number of an accessor");
        tml_status status = tml_gltf_open_array(reader, number, 0, &array);
        if (status != TML_OK)
            return status;
        tml_io_copy(name, sizeof name, (io_span){text.text + 1, text.size - 1});
        for (char *at = name; *at; at++)
            *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        uint32_t property = 0;
        while (property < sink->property_count &&
               strcmp(sink->properties[property].name, name) != 0)
            property++;
        if (property == sink->property_count)
            property = tml_mesh_add_property(sink, name, (uint32_t)array.components, false, 1);
        if (property == UINT32_MAX || sink->properties[property].is_color ||
            sink->properties[property].components != array.components)
            reader->left_out++;
        else
            v->properties[property] = number;
    }
    return TML_OK;
}

static tml_status push_properties(gltf_reader *reader, const gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < sink->property_count && status == TML_OK; p++) {
        gltf_array array = {0};
        if (v->properties[p] == MESH_NONE)
            continue;
        status =
            tml_gltf_open_array(reader, v->properties[p], sink->properties[p].components, &array);
        if (status == TML_OK && array.count != v->count)
            status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                  "attributes of one primitive have different counts");
        for (uint64_t i = 0; i < v->count && status == TML_OK; i++) {
            double numbers[4];
            for (uint64_t c = 0; c < array.components; c++)
                numbers[c] = tml_gltf_number(&array, i, c);
            status = tml_mesh_push_property(sink, p, numbers);
        }
    }
    return status;
}

static tml_status push_vertices(gltf_reader *reader, const gltf_place *place, gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    gltf_array positions = {0}, normals = {0}, uvs = {0}, values = {0}, colors = {0};
    tml_status status = tml_gltf_open_array(reader, v->position, 3, &positions);
    if (status == TML_OK && v->normal != MESH_NONE)
        status = tml_gltf_open_array(reader, v->normal, 3, &normals);
    if (status == TML_OK && v->uv != MESH_NONE)
        status = tml_gltf_open_array(reader, v->uv, 2, &uvs);
    if (status == TML_OK && v->value != MESH_NONE)
        status = tml_gltf_open_array(reader, v->value, 1, &values);
    if (status == TML_OK && v->color != MESH_NONE)
        status = tml_gltf_open_array(reader, v->color, 0, &colors);
    if (status != TML_OK)
        return status;
    if (colors.components > 0 && colors.components < 3)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "COLOR_0 has %llu numbers a vertex, needs 3 or 4",
                            (unsigned long long)colors.components);
    v->count = positions.count;
    sink->place_name = "vertex";
    if ((normals.data && normals.count != v->count) || (uvs.data && uvs.count != v->count) ||
        (values.data && values.count != v->count) || (colors.data && colors.count != v->count))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "attributes of one primitive have different counts");
    v->first = (uint32_t)mesh_vertex_count(sink);
    v->first_normal = normals.data ? number_in(&sink->normals, 3 * sizeof(float)) : MESH_NONE;
    v->first_uv = uvs.data ? number_in(&sink->uvs, 2 * sizeof(float)) : MESH_NONE;
    for (uint64_t i = 0; i < v->count && status == TML_OK; i++) {
        double p[3], n[3] = {0, 0, 0}, t[2] = {0, 0};
        for (uint64_t axis = 0; axis < 3; axis++) {
            p[axis] = tml_gltf_number(&positions, i, axis);
            n[axis] = normals.data ? tml_gltf_number(&normals, i, axis) : 0;
        }
        for (uint64_t axis = 0; axis < 2 && uvs.data; axis++)
            t[axis] = tml_gltf_number(&uvs, i, axis);
        place_point(place, p);
        place_normal(place, n);
        status = tml_mesh_push_vertex(sink, p, i);
        if (status == TML_OK && normals.data)
            status = tml_mesh_push_normal(sink, n);
        if (status == TML_OK && uvs.data)
            status = tml_mesh_push_uv(sink, t);
        if (status == TML_OK && values.data)
            status = tml_mesh_push_value(sink, tml_gltf_number(&values, i, 0));
        TML_THEN(status, push_color(reader, &colors, i));
    }
    reader->with_values += values.data ? v->count : 0;
    return status == TML_OK ? push_properties(reader, v) : status;
}

static tml_status push_triangle(mesh_sink *sink, const gltf_vertices *v, const uint64_t numbers[3],
                                bool is_mirrored)
{
    tml_status status = TML_OK;
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        uint64_t number = numbers[is_mirrored && c ? 3 - c : c];
        const uint64_t place = mesh_face_count(sink);
        if (number >= v->count) {
            tml_mesh_add_fault(sink, &sink->lost_corners, place,
                               "names vertex %llu, its primitive has %llu (counted from 0)",
                               (unsigned long long)number, (unsigned long long)v->count);
            status = tml_mesh_push_corner(sink, (mesh_corner_ref){MESH_NONE, MESH_NONE, MESH_NONE},
                                          place);
            continue;
        }
        uint32_t n = (uint32_t)number;
        status = tml_mesh_push_corner(
            sink,
            (mesh_corner_ref){v->first + n, v->first_uv == MESH_NONE ? MESH_NONE : v->first_uv + n,
                              v->first_normal == MESH_NONE ? MESH_NONE : v->first_normal + n},
            place);
    }
    return status == TML_OK ? tml_mesh_end_face(sink, mesh_face_count(sink)) : status;
}

/* Pushes triangles by their corners, in order. Without indices (indices.data NULL) the corners are
 * 0, 1, 2 ... */
static tml_status push_triangles(gltf_reader *reader, const gltf_vertices *v,
                                 const gltf_array *indices, uint64_t mode, bool is_mirrored)
{
    uint64_t count = indices->data ? indices->count : v->count;
    uint64_t triangles = mode == GLTF_TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    tml_status status = TML_OK;
    reader->sink->place_name = "triangle";
    for (uint64_t t = 0; t < triangles && status == TML_OK; t++) {
        uint64_t at[3] = {3 * t, 3 * t + 1, 3 * t + 2}, numbers[3];
        if (mode == GLTF_STRIP) {
            at[0] = t;
            at[1] = t + 1 + t % 2;
            at[2] = t + 2 - t % 2;
        } else if (mode == GLTF_FAN) {
            at[0] = 0;
            at[1] = t + 1;
            at[2] = t + 2;
        }
        for (int c = 0; c < 3; c++)
            numbers[c] = indices->data ? (uint64_t)tml_gltf_number(indices, at[c], 0) : at[c];
        /* Strips and fans repeat vertices intentionally, to change direction. */
        if (mode != GLTF_TRIANGLES &&
            (numbers[0] == numbers[1] || numbers[1] == numbers[2] || numbers[2] == numbers[0]))
            continue;
        status = push_triangle(reader->sink, v, numbers, is_mirrored);
    }
    return status;
}

tml_status tml_gltf_refuse_packed(const gltf_reader *reader, const char *extension)
{
    return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                        "its meshes are compressed (%s); unpack them, for example with "
                        "gltf-transform copy",
                        extension);
}

/* Returns whether only compressed data hold the vertices of a primitive. */
static bool is_packed(const gltf_reader *reader, int primitive, uint64_t position)
{
    const int extensions = tml_gltf_member(reader, primitive, "extensions");
    return position < reader->accessors.count &&
           tml_gltf_member(reader, extensions, "KHR_draco_mesh_compression") >= 0 &&
           tml_gltf_member(reader, reader->accessors.tokens[position], "bufferView") < 0;
}

static tml_status read_primitive(gltf_reader *reader, int primitive, const gltf_place *place,
                                 gltf_vertices *before)
{
    uint64_t mode, index_number;
    gltf_vertices v = {0};
    gltf_array indices = {0};
    int attributes = tml_gltf_member(reader, primitive, "attributes");
    tml_status status = tml_gltf_get_number(reader, primitive, "mode", GLTF_TRIANGLES, &mode);
    if (status == TML_OK && ++reader->placed > GLTF_PLACED_MAX)
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "places more than %d primitives", GLTF_PLACED_MAX);
    if (status == TML_OK && (mode < GLTF_TRIANGLES || mode > GLTF_FAN)) {
        reader->sink->skipped_count++;
        return TML_OK;
    }
    if ((status != TML_OK) ||
        (status = tml_gltf_get_number(reader, attributes, "POSITION", MESH_NONE, &v.position)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, attributes, "NORMAL", MESH_NONE, &v.normal)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, attributes, "TEXCOORD_0", MESH_NONE, &v.uv)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, attributes, "_VALUE", MESH_NONE, &v.value)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, attributes, "COLOR_0", MESH_NONE, &v.color)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, primitive, "indices", MESH_NONE, &index_number)) !=
            TML_OK)
        return status;
    if (v.position == MESH_NONE)
        return tml_gltf_bad(reader, primitive, "a primitive has no POSITION");
    if (is_packed(reader, primitive, v.position))
        return tml_gltf_refuse_packed(reader, "KHR_draco_mesh_compression");
    reader->morphs += tml_gltf_member(reader, primitive, "targets") >= 0;
    status = find_properties(reader, attributes, &v);
    if (status != TML_OK)
        return status;
    if (v.position == before->position && v.normal == before->normal && v.uv == before->uv &&
        v.value == before->value && v.color == before->color &&
        memcmp(v.properties, before->properties, sizeof v.properties) == 0)
        v = *before;
    else
        status = push_vertices(reader, place, &v);
    *before = v;
    if (status == TML_OK && index_number != MESH_NONE) {
        status = tml_gltf_open_array(reader, index_number, 1, &indices);
        if (status == TML_OK && (indices.type == GLTF_REAL || indices.type == GLTF_BYTE ||
                                 indices.type == GLTF_SHORT || indices.is_normalized))
            return tml_gltf_bad(reader, primitive, "indices need whole numbers without sign");
        if (status == TML_OK && !indices.data)
            return TML_OK; /* no triangles; without indices, each three vertices would be one */
    }
    return status == TML_OK ? push_triangles(reader, &v, &indices, mode, determinant(place->m) < 0)
                            : status;
}

tml_status tml_gltf_read_mesh(gltf_reader *reader, uint64_t number, const gltf_place *place)
{
    int mesh = -1;
    gltf_vertices before = {.position = MESH_NONE};
    tml_status status = tml_gltf_get_element(reader, &reader->meshes, number, "mesh", &mesh);
    if (status != TML_OK)
        return status;
    int primitives = tml_gltf_member(reader, mesh, "primitives");
    if (primitives < 0 || reader->tokens[primitives].type != JSMN_ARRAY)
        return tml_gltf_bad(reader, mesh, "a mesh has no primitives");
    int end = reader->tokens[primitives].end;
    for (int item = primitives + 1;
         status == TML_OK && item < reader->token_count && reader->tokens[item].start < end;
         item = tml_gltf_skip(reader, item)) {
        status = read_primitive(reader, item, place, &before);
        if (status == TML_OK && !tml_progress(reader->sink->file->tml, "meshes", 0))
            status = tml_io_error(reader->sink->file, TML_ERROR_CANCELLED, "cancelled");
    }
    return status;
}

#endif
