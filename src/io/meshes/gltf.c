/* Reads glTF 2.0 (Khronos: glTF 2.0 Specification. 2021), binary or as JSON whose buffers are
 * inside it or in files beside it. This file reads the chunks, the scene and the transforms of its
 * nodes. */
#include "io/meshes/gltf.h"

#ifndef TML_GLTF

tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return tml_io_error(
        sink->file, TML_ERROR_UNSUPPORTED,
        "is glTF, and this library was built without jsmn (TML_GLTF); convert it to OBJ or PLY");
}

#else

enum {
    GLB_HEADER_SIZE = 12,
    GLB_CHUNK_SIZE = 8,
    GLB_JSON = 0x4e4f534a,
    GLB_BIN = 0x004e4942,
};

/* ---- nodes ----------------------------------------------------------------------------------- */

static const gltf_place identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, true};

/* outer * inner */
static gltf_place combine(const gltf_place *outer, const gltf_place *inner)
{
    gltf_place out = {.is_identity = outer->is_identity && inner->is_identity};
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 3; row++) {
            double sum = column == 3 ? outer->m[9 + row] : 0;
            for (int k = 0; k < 3; k++)
                sum += outer->m[3 * k + row] * inner->m[3 * column + k];
            out.m[3 * column + row] = sum;
        }
    return out;
}

/* The transform of a translation, a rotation (a quaternion) and a scale. */
static gltf_place place_of(const double t[3], const double q[4], const double s[3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rotation[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
        2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
        2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
    gltf_place out = {.is_identity = false};
    for (int i = 0; i < 9; i++)
        out.m[i] = rotation[i] * s[i / 3];
    for (int i = 0; i < 3; i++)
        out.m[9 + i] = t[i];
    return out;
}

/* Gets a node's transform: its matrix, or its translation, rotation (a quaternion) and scale. */
static tml_status get_place(const gltf_reader *reader, int node, gltf_place *out)
{
    double matrix[16], t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool has_matrix, has_t, has_q, has_s;
    tml_status status = tml_gltf_get_numbers(reader, node, "matrix", 16, matrix, &has_matrix);
    TML_THEN(status, tml_gltf_get_numbers(reader, node, "translation", 3, t, &has_t));
    TML_THEN(status, tml_gltf_get_numbers(reader, node, "rotation", 4, q, &has_q));
    TML_THEN(status, tml_gltf_get_numbers(reader, node, "scale", 3, s, &has_s));
    if (status != TML_OK)
        return status;
    *out = identity;
    if (has_matrix) {
        for (int i = 0; i < 12; i++)
            out->m[i] = matrix[i / 3 * 4 + i % 3];
        out->is_identity = memcmp(out->m, identity.m, sizeof out->m) == 0;
        return TML_OK;
    }
    *out = place_of(t, q, s);
    out->is_identity = !has_t && !has_q && !has_s;
    return TML_OK;
}

/* The transforms of a node's instances by EXT_mesh_gpu_instancing, applied before the node's
 * own. */
typedef struct gltf_instances {
    gltf_array t, q, s; /* data NULL: none */
    uint64_t count;
    bool is_there;
} gltf_instances;

static tml_status get_instances(gltf_reader *reader, int node, gltf_instances *out)
{
    static const char *const names[] = {"TRANSLATION", "ROTATION", "SCALE"};
    const int extension = tml_gltf_member(reader, tml_gltf_member(reader, node, "extensions"),
                                          "EXT_mesh_gpu_instancing");
    const int attributes = tml_gltf_member(reader, extension, "attributes");
    gltf_array *const arrays[] = {&out->t, &out->q, &out->s};
    *out = (gltf_instances){.is_there = extension >= 0};
    bool is_first = true;
    for (int i = 0; i < 3; i++) {
        uint64_t number;
        tml_status status = tml_gltf_get_number(reader, attributes, names[i], MESH_NONE, &number);
        if (status == TML_OK && number != MESH_NONE)
            status = tml_gltf_open_array(reader, number, i == 1 ? 4 : 3, arrays[i]);
        if (status != TML_OK)
            return status;
        if (number == MESH_NONE)
            continue;
        if (!is_first && arrays[i]->count != out->count)
            return tml_gltf_bad(reader, attributes, "the attributes of instances differ in counts");
        out->count = arrays[i]->count;
        is_first = false;
    }
    return TML_OK;
}

static gltf_place instance_place(const gltf_instances *all, uint64_t number)
{
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    for (uint64_t c = 0; c < 4; c++) {
        if (c < 3 && all->t.data)
            t[c] = tml_gltf_number(&all->t, number, c);
        if (c < 3 && all->s.data)
            s[c] = tml_gltf_number(&all->s, number, c);
        if (all->q.data)
            q[c] = tml_gltf_number(&all->q, number, c);
    }
    return place_of(t, q, s);
}

typedef struct gltf_visit {
    uint64_t node;
    gltf_place place; /* of the parent */
} gltf_visit;

/* Pushes the nodes of an array onto the stack. A node may be pushed only once. */
static tml_status push_nodes(const gltf_reader *reader, int array, const gltf_place *place,
                             bool *is_seen, mesh_array *stack)
{
    if (array < 0)
        return TML_OK;
    if (reader->tokens[array].type != JSMN_ARRAY)
        return tml_gltf_bad(reader, array, "needs an array of nodes");
    for (int i = 0; i < reader->tokens[array].size; i++) {
        uint64_t number;
        int item = array + 1 + i, node;
        if (item >= reader->token_count || !tml_io_parse_u64(tml_gltf_text(reader, item), &number))
            return tml_gltf_bad(reader, array, "needs numbers of nodes");
        tml_status status = tml_gltf_get_element(reader, &reader->nodes, number, "node", &node);
        if (status != TML_OK)
            return status;
        if (is_seen[number])
            return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                "node %llu has two parents, or is within itself",
                                (unsigned long long)number);
        is_seen[number] = true;
        const gltf_visit visit = {number, *place};
        if (!tml_mesh_append(reader->sink, stack, &visit, sizeof visit))
            return TML_ERROR_OUT_OF_MEMORY;
    }
    return TML_OK;
}

static tml_status visit_nodes(gltf_reader *reader, bool *is_seen, mesh_array *stack)
{
    tml_status status = TML_OK;
    while (stack->size > 0 && status == TML_OK) {
        gltf_visit visit;
        gltf_place own;
        uint64_t mesh;
        stack->size -= sizeof visit;
        memcpy(&visit, stack->data + stack->size, sizeof visit);
        int node = reader->nodes.tokens[visit.node];
        status = get_place(reader, node, &own);
        TML_THEN(status, tml_gltf_get_number(reader, node, "mesh", MESH_NONE, &mesh));
        if (status != TML_OK)
            return status;
        gltf_place place = combine(&visit.place, &own);
        gltf_instances instances = {.count = 0};
        if (mesh != MESH_NONE) {
            reader->skins += tml_gltf_member(reader, node, "skin") >= 0;
            status = get_instances(reader, node, &instances);
        }
        if (status == TML_OK && mesh != MESH_NONE && !instances.is_there)
            status = tml_gltf_read_mesh(reader, mesh, &place);
        for (uint64_t i = 0; i < instances.count && status == TML_OK; i++) {
            const gltf_place own_place = instance_place(&instances, i);
            const gltf_place instance = combine(&place, &own_place);
            status = tml_gltf_read_mesh(reader, mesh, &instance);
        }
        TML_THEN(status, push_nodes(reader, tml_gltf_member(reader, node, "children"), &place,
                                    is_seen, stack));
    }
    return status;
}

/* Reads the nodes of the default scene, or of the first one. Without scenes, reads each node that
 * is not another's child; without nodes, each mesh. */
static tml_status read_scene(gltf_reader *reader, bool *is_seen, mesh_array *stack)
{
    uint64_t number;
    int scene = -1;
    tml_status status = tml_gltf_get_number(reader, 0, "scene", 0, &number);
    if (status == TML_OK && reader->scenes.count > 0) {
        status = tml_gltf_get_element(reader, &reader->scenes, number, "scene", &scene);
        TML_THEN(status, push_nodes(reader, tml_gltf_member(reader, scene, "nodes"), &identity,
                                    is_seen, stack));
        return status == TML_OK ? visit_nodes(reader, is_seen, stack) : status;
    }
    for (uint64_t i = 0; i < reader->nodes.count && status == TML_OK; i++)
        status = push_nodes(reader, tml_gltf_member(reader, reader->nodes.tokens[i], "children"),
                            &identity, is_seen, stack);
    stack->size = 0; /* this pass only marks the children */
    for (uint64_t i = 0; i < reader->nodes.count && status == TML_OK; i++) {
        const gltf_visit visit = {i, identity};
        if (!is_seen[i] && !tml_mesh_append(reader->sink, stack, &visit, sizeof visit))
            status = TML_ERROR_OUT_OF_MEMORY;
    }
    memset(is_seen, 0, reader->nodes.count * sizeof *is_seen);
    TML_THEN(status, visit_nodes(reader, is_seen, stack));
    for (uint64_t i = 0; i < reader->meshes.count && reader->nodes.count == 0 && status == TML_OK;
         i++)
        status = tml_gltf_read_mesh(reader, i, &identity);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Sets json and bin from the chunks of a binary file. */
static tml_status read_chunks(gltf_reader *reader, const uint8_t *data, size_t size)
{
    const io_file *file = reader->sink->file;
    if (size < GLB_HEADER_SIZE + GLB_CHUNK_SIZE || io_load_u32(data + 8, false) != size)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %zu bytes, its header says %u; it was cut short", size,
                            size < GLB_HEADER_SIZE ? 0 : io_load_u32(data + 8, false));
    if (io_load_u32(data + 4, false) != 2)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED, "is binary glTF of version %u, needs 2",
                            io_load_u32(data + 4, false));
    for (size_t at = GLB_HEADER_SIZE; at < size;) {
        if (size - at < GLB_CHUNK_SIZE ||
            io_load_u32(data + at, false) > size - at - GLB_CHUNK_SIZE)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "byte %zu: a chunk reaches past the end", at);
        uint32_t length = io_load_u32(data + at, false);
        uint32_t type = io_load_u32(data + at + 4, false);
        io_span chunk = {(const char *)data + at + GLB_CHUNK_SIZE, length};
        if (at == GLB_HEADER_SIZE && type != GLB_JSON)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "its first chunk is not JSON");
        if (at == GLB_HEADER_SIZE)
            reader->json = chunk;
        else if (type == GLB_BIN && !reader->bin.text)
            reader->bin = chunk;
        at += GLB_CHUNK_SIZE + length;
    }
    return TML_OK;
}

/* Returns whether a required extension can be ignored or is supported: this reader applies it, or
 * it does not change shapes. */
static bool is_known_extension(io_span name)
{
    static const char *const applied[] = {"KHR_mesh_quantization", "EXT_mesh_gpu_instancing"};
    static const char *const looks[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                        "MSFT_texture_",  "KHR_lights_",  "EXT_lights_",
                                        "KHR_xmp"};
    for (size_t i = 0; i < sizeof applied / sizeof applied[0]; i++)
        if (tml_io_is(name, applied[i]))
            return true;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (tml_io_starts_with(name, looks[i]))
            return true;
    return false;
}

static tml_status check_extensions(const gltf_reader *reader)
{
    int version = tml_gltf_member(reader, tml_gltf_member(reader, 0, "asset"), "version");
    int required = tml_gltf_member(reader, 0, "extensionsRequired");
    if (version < 0 || !tml_io_starts_with(tml_gltf_text(reader, version), "2."))
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "is no glTF 2: asset.version needs to be 2.0");
    int end = required < 0 ? 0 : reader->tokens[required].end;
    for (int i = required + 1;
         required >= 0 && i < reader->token_count && reader->tokens[i].start < end; i++) {
        const io_span name = tml_gltf_text(reader, i);
        char text[64];
        tml_io_copy(text, sizeof text, name);
        if (tml_io_is(name, "KHR_draco_mesh_compression") ||
            tml_io_is(name, "EXT_meshopt_compression") ||
            tml_io_is(name, "KHR_meshopt_compression"))
            return tml_gltf_refuse_packed(reader, text);
        if (!is_known_extension(name))
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "requires the extension %s, which is not supported here and may "
                                "change its shape; save it without, or as OBJ or PLY",
                                text);
    }
    return TML_OK;
}

static tml_status read_all(gltf_reader *reader)
{
    const io_file *file = reader->sink->file;
    tml_status status = tml_gltf_tokenize(reader);
    TML_THEN(status, check_extensions(reader));
    TML_THEN(status, tml_gltf_make_list(reader, "accessors", &reader->accessors));
    TML_THEN(status, tml_gltf_make_list(reader, "bufferViews", &reader->views));
    TML_THEN(status, tml_gltf_make_list(reader, "buffers", &reader->buffers));
    TML_THEN(status, tml_gltf_make_list(reader, "nodes", &reader->nodes));
    TML_THEN(status, tml_gltf_make_list(reader, "meshes", &reader->meshes));
    TML_THEN(status, tml_gltf_make_list(reader, "scenes", &reader->scenes));
    if (status == TML_OK && reader->buffers.count > 0) {
        uint64_t size = reader->buffers.count * sizeof *reader->loaded;
        reader->loaded = tml_io_alloc(file, size);
        if (!reader->loaded)
            return TML_ERROR_OUT_OF_MEMORY;
        memset(reader->loaded, 0, (size_t)size);
    }
    if (status != TML_OK)
        return status;
    const uint64_t seen_size = (reader->nodes.count + 1) * sizeof(bool);
    bool *is_seen = tml_io_alloc(file, seen_size);
    if (!is_seen)
        return TML_ERROR_OUT_OF_MEMORY;
    memset(is_seen, 0, seen_size);
    mesh_array stack = {0};
    status = read_scene(reader, is_seen, &stack);
    tml_free(file->tml, stack.data, stack.capacity);
    reader->sink->allocated -= stack.capacity;
    tml_free(file->tml, is_seen, seen_size);
    if (status == TML_OK && reader->skins + reader->morphs > 0)
        status = tml_io_warn(file, "%llu %s bent by a skeleton or morph targets %s read unbent",
                             (unsigned long long)(reader->skins + reader->morphs),
                             reader->skins + reader->morphs == 1 ? "mesh" : "meshes",
                             reader->skins + reader->morphs == 1 ? "is" : "are");
    if (status == TML_OK && reader->left_out > 0)
        status =
            tml_io_warn(file,
                        "%llu attributes of vertices are left out; a mesh holds %d, each of as "
                        "many components everywhere",
                        (unsigned long long)reader->left_out, TML_MESH_MAX_ATTRIBUTES);
    if (status == TML_OK && reader->scenes.count > 1)
        snprintf(reader->sink->comment, sizeof reader->sink->comment,
                 "of its %llu scenes, the default one is read",
                 (unsigned long long)reader->scenes.count);
    return status;
}

tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size)
{
    gltf_reader reader = {.sink = sink, .json = {(const char *)data, size}};
    tml_status status = TML_OK;
    if (size >= 4 && memcmp(data, "glTF", 4) == 0)
        status = read_chunks(&reader, data, size);
    TML_THEN(status, read_all(&reader));
    tml_gltf_free_buffers(&reader);
    gltf_list *const lists[] = {&reader.accessors, &reader.views,  &reader.buffers,
                                &reader.nodes,     &reader.meshes, &reader.scenes};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        tml_free(sink->file->tml, lists[i]->tokens, lists[i]->count * sizeof *lists[i]->tokens);
    tml_free(sink->file->tml, reader.tokens, (uint64_t)reader.token_count * sizeof *reader.tokens);
    if (reader.with_values > 0)
        snprintf(sink->value_name, sizeof sink->value_name, "value");
    return status;
}

#endif
