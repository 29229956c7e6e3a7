/* The sink of the mesh readers, and the finish: checks, welding, triangles, the origin. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "io/mesh_sink.h"

/* ---- growing --------------------------------------------------------------------------------- */

static tml_status over_limit(const mesh_sink *sink, uint64_t size)
{
    return tml_io_error(sink->file, TML_ERROR_OUT_OF_MEMORY,
                        "needs %llu bytes or more, desc.memory_limit is %llu",
                        (unsigned long long)size, (unsigned long long)sink->memory_limit);
}

static bool grow(mesh_sink *sink, mesh_array *array, size_t size)
{
    size_t capacity = array->capacity ? array->capacity : 4096;
    while (capacity < size)
        capacity *= 2;
    uint64_t allocated = sink->allocated + capacity;
    if (sink->memory_limit && allocated > sink->memory_limit) {
        (void)over_limit(sink, allocated);
        return false;
    }
    uint8_t *data = tml_io_alloc(sink->file, capacity);
    if (!data)
        return false;
    if (array->size > 0)
        memcpy(data, array->data, array->size);
    tml_free(sink->file->tml, array->data, array->capacity);
    sink->allocated = allocated - array->capacity;
    array->data = data;
    array->capacity = capacity;
    return true;
}

void *tml_mesh_append(mesh_sink *sink, mesh_array *array, const void *data, size_t size)
{
    if (size > array->capacity - array->size) {
        if (size > SIZE_MAX / 4 - array->size) {
            (void)tml_io_error(sink->file, TML_ERROR_OUT_OF_MEMORY,
                               "is too large for this machine");
            return NULL;
        }
        if (!grow(sink, array, array->size + size))
            return NULL;
    }
    uint8_t *at = array->data + array->size;
    array->size += size;
    if (data)
        memcpy(at, data, size);
    return at;
}

static tml_status append(mesh_sink *sink, mesh_array *array, const void *data, size_t size)
{
    return tml_mesh_append(sink, array, data, size) ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
}

static void drop(mesh_sink *sink, mesh_array *array)
{
    tml_free(sink->file->tml, array->data, array->capacity);
    sink->allocated -= array->capacity;
    *array = (mesh_array){0};
}

void tml_mesh_sink_free(mesh_sink *sink)
{
    mesh_array *const arrays[] = {&sink->positions,
                                  &sink->normals,
                                  &sink->values,
                                  &sink->uvs,
                                  &sink->corners,
                                  &sink->corner_uvs,
                                  &sink->corner_normals,
                                  &sink->sizes,
                                  &sink->face,
                                  &sink->crease_vertices,
                                  &sink->crease_sharpness,
                                  &sink->corner_vertices,
                                  &sink->corner_sharpness};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        drop(sink, arrays[i]);
    tml_mesh_file made = {.mesh = sink->made};
    tml_mesh_file_free(sink->file->tml, &made);
    sink->made = (tml_mesh){0};
}

tml_status tml_mesh_error(const mesh_sink *sink, uint64_t place, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "%s %llu: %s", sink->place_name,
                        (unsigned long long)place, text);
}

/* ---- pushing --------------------------------------------------------------------------------- */

/* Finite once it is a float. Decimals of FLT_MAX may be a little more than it, and round to it. */
static bool is_float_range(double value)
{
    return isfinite((float)value);
}

tml_status tml_mesh_push_vertex(mesh_sink *sink, const double position[3], uint64_t place)
{
    bool is_first = sink->positions.size == 0;
    for (int axis = 0; axis < 3; axis++) {
        double x = position[axis];
        if (!is_float_range(x))
            return tml_mesh_error(sink, place, "coordinate %c is %g, needs a finite float",
                                  "xyz"[axis], x);
        sink->is_inexact |= (double)(float)x != x;
        sink->lower[axis] = is_first || x < sink->lower[axis] ? x : sink->lower[axis];
        sink->upper[axis] = is_first || x > sink->upper[axis] ? x : sink->upper[axis];
    }
    if (mesh_vertex_count(sink) == MESH_NONE)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED, "has more than %u vertices",
                            MESH_NONE);
    return append(sink, &sink->positions, position, 3 * sizeof *position);
}

tml_status tml_mesh_push_normal(mesh_sink *sink, const double normal[3])
{
    const float values[3] = {(float)normal[0], (float)normal[1], (float)normal[2]};
    return append(sink, &sink->normals, values, sizeof values);
}

tml_status tml_mesh_push_uv(mesh_sink *sink, const double uv[2])
{
    const float values[2] = {(float)uv[0], (float)uv[1]};
    return append(sink, &sink->uvs, values, sizeof values);
}

tml_status tml_mesh_push_value(mesh_sink *sink, double value)
{
    const float number = (float)value;
    return append(sink, &sink->values, &number, sizeof number);
}

static void reach_for(mesh_reach *reach, uint32_t number, uint64_t place)
{
    if (number != MESH_NONE && (!reach->is_any || number > reach->number))
        *reach = (mesh_reach){number, place, true};
}

tml_status tml_mesh_push_corner(mesh_sink *sink, mesh_corner_ref corner, uint64_t place)
{
    reach_for(&sink->vertex_reach, corner.vertex, place);
    reach_for(&sink->uv_reach, corner.uv, place);
    reach_for(&sink->normal_reach, corner.normal, place);
    return append(sink, &sink->face, &corner, sizeof corner);
}

tml_status tml_mesh_end_face(mesh_sink *sink, uint64_t place)
{
    uint64_t count = sink->face.size / sizeof(mesh_corner_ref);
    if (count < 3)
        return tml_mesh_error(sink, place, "a face has %llu corners, needs at least 3",
                              (unsigned long long)count);
    if (count > INT32_MAX)
        return tml_mesh_error(sink, place, "a face has %llu corners, needs at most %d",
                              (unsigned long long)count, INT32_MAX);
    size_t size = (size_t)count * sizeof(uint32_t);
    uint32_t *vertices = tml_mesh_append(sink, &sink->corners, NULL, size);
    uint32_t *uvs = vertices ? tml_mesh_append(sink, &sink->corner_uvs, NULL, size) : NULL;
    uint32_t *normals = uvs ? tml_mesh_append(sink, &sink->corner_normals, NULL, size) : NULL;
    if (!normals)
        return TML_ERROR_OUT_OF_MEMORY;
    const mesh_corner_ref *refs = (const mesh_corner_ref *)(const void *)sink->face.data;
    for (uint64_t i = 0; i < count; i++) {
        vertices[i] = refs[i].vertex;
        uvs[i] = refs[i].uv;
        normals[i] = refs[i].normal;
        sink->bare_corners += refs[i].uv == MESH_NONE;
    }
    sink->face.size = 0;
    sink->polygon_count += count > 3;
    const uint32_t count32 = (uint32_t)count;
    return append(sink, &sink->sizes, &count32, sizeof count32);
}

static tml_status check_sharpness(const mesh_sink *sink, double sharpness, uint64_t place)
{
    if (sharpness >= 0 && is_float_range(sharpness))
        return TML_OK;
    return tml_mesh_error(sink, place, "sharpness is %g, needs a number from 0 on", sharpness);
}

tml_status tml_mesh_push_crease(mesh_sink *sink, uint32_t first, uint32_t second, double sharpness,
                                uint64_t place)
{
    tml_status status = check_sharpness(sink, sharpness, place);
    const uint32_t vertices[2] = {first, second};
    const float value = (float)sharpness;
    reach_for(&sink->vertex_reach, first, place);
    reach_for(&sink->vertex_reach, second, place);
    if (status == TML_OK)
        status = append(sink, &sink->crease_vertices, vertices, sizeof vertices);
    return status == TML_OK ? append(sink, &sink->crease_sharpness, &value, sizeof value) : status;
}

tml_status tml_mesh_push_sharp_corner(mesh_sink *sink, uint32_t vertex, double sharpness,
                                      uint64_t place)
{
    tml_status status = check_sharpness(sink, sharpness, place);
    const float value = (float)sharpness;
    reach_for(&sink->vertex_reach, vertex, place);
    if (status == TML_OK)
        status = append(sink, &sink->corner_vertices, &vertex, sizeof vertex);
    return status == TML_OK ? append(sink, &sink->corner_sharpness, &value, sizeof value) : status;
}

/* ---- the finish: what the whole file tells --------------------------------------------------- */

static tml_status check_reach(const mesh_sink *sink, const mesh_reach *reach, uint64_t count,
                              const char *what)
{
    if (!reach->is_any || reach->number < count)
        return TML_OK;
    return tml_mesh_error(sink, reach->place, "names %s %llu, the file has %llu%s", what,
                          (unsigned long long)(reach->number + sink->number_base),
                          (unsigned long long)count, sink->number_base ? "" : " (counted from 0)");
}

static void note(mesh_sink *sink, const char *text)
{
    size_t used = strlen(sink->comment);
    snprintf(sink->comment + used, sizeof sink->comment - used, "%s%s", used ? "; " : "", text);
}

/* Checks all references to vertices, normals and texture coordinates. Normals and texture
 * coordinates that not all corners have are dropped: they are no part of the shape. */
static tml_status check_references(mesh_sink *sink)
{
    uint64_t normals = sink->normals.size / (3 * sizeof(float));
    uint64_t uvs = sink->uvs.size / (2 * sizeof(float));
    tml_status status = check_reach(sink, &sink->vertex_reach, mesh_vertex_count(sink), "vertex");
    if (status == TML_OK && normals > 0)
        status = check_reach(sink, &sink->normal_reach, normals, "normal");
    if (status == TML_OK && uvs > 0)
        status = check_reach(sink, &sink->uv_reach, uvs, "texture coordinate");
    if (status != TML_OK)
        return status;
    if (normals == 0)
        drop(sink, &sink->corner_normals);
    if (sink->values.size != mesh_vertex_count(sink) * sizeof(float))
        drop(sink, &sink->values);
    if (uvs == 0 || sink->bare_corners > 0) {
        if (uvs > 0 && mesh_face_count(sink) > 0)
            note(sink, "texture coordinates left out: some corners have none");
        drop(sink, &sink->uvs);
        drop(sink, &sink->corner_uvs);
    }
    return TML_OK;
}

/* ---- the finish: welding --------------------------------------------------------------------- */

/* Mixes the bits of a position; -0 is 0. */
static uint64_t hash_position(const double *p)
{
    uint64_t hash = 0;
    for (int axis = 0; axis < 3; axis++) {
        double x = p[axis] + 0.0;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool is_same_position(const double *p, const double *q)
{
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* Merges vertices of equal position. map[old]: the new number. The value is that of the first of
 * them. table: an open hash table of slots entries, a power of two. */
static void weld_into(mesh_sink *sink, uint32_t *map, uint32_t *table, uint64_t slots)
{
    double *positions = (double *)(void *)sink->positions.data;
    float *values = (float *)(void *)sink->values.data;
    uint64_t count = mesh_vertex_count(sink);
    uint32_t kept = 0;
    memset(table, 0xff, slots * sizeof *table);
    for (uint64_t i = 0; i < count; i++) {
        const double *p = positions + 3 * i;
        uint64_t slot = hash_position(p) & (slots - 1);
        while (table[slot] != MESH_NONE && !is_same_position(positions + 3 * table[slot], p))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] == MESH_NONE) {
            table[slot] = kept;
            memmove(positions + 3 * (size_t)kept, p, 3 * sizeof *p);
            if (values)
                values[kept] = values[i];
            kept++;
        }
        map[i] = table[slot];
    }
    sink->positions.size = 3 * sizeof(double) * (size_t)kept;
    if (values)
        sink->values.size = sizeof(float) * (size_t)kept;
}

static void renumber(mesh_array *array, const uint32_t *map)
{
    uint32_t *numbers = (uint32_t *)(void *)array->data;
    for (size_t i = 0; i < array->size / sizeof *numbers; i++)
        numbers[i] = map[numbers[i]];
}

static tml_status weld(mesh_sink *sink, tml_mesh_file *out)
{
    uint64_t count = mesh_vertex_count(sink), slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    uint64_t size = (count + slots) * sizeof(uint32_t);
    if (count == 0)
        return TML_OK;
    if (sink->memory_limit && sink->allocated + size > sink->memory_limit)
        return over_limit(sink, sink->allocated + size);
    uint32_t *memory = tml_io_alloc(sink->file, size);
    if (!memory)
        return TML_ERROR_OUT_OF_MEMORY;
    weld_into(sink, memory, memory + count, slots);
    renumber(&sink->corners, memory);
    renumber(&sink->crease_vertices, memory);
    renumber(&sink->corner_vertices, memory);
    out->welded_count = count - mesh_vertex_count(sink);
    tml_free(sink->file->tml, memory, size);
    return TML_OK;
}

/* ---- the finish: normals of vertices --------------------------------------------------------- */

/* *out: a normal for each vertex, if at every vertex all corners agree on it; otherwise NULL. */
static tml_status settle_normals(mesh_sink *sink, float **out)
{
    const float *normals = (const float *)(const void *)sink->normals.data;
    const uint32_t *vertices = (const uint32_t *)(const void *)sink->corners.data;
    const uint32_t *numbers = (const uint32_t *)(const void *)sink->corner_normals.data;
    uint64_t count = mesh_vertex_count(sink);
    *out = NULL;
    if (!numbers || count == 0)
        return TML_OK;
    float *result = tml_io_alloc(sink->file, count * 3 * sizeof *result);
    if (!result)
        return TML_ERROR_OUT_OF_MEMORY;
    memset(result, 0, count * 3 * sizeof *result);
    bool is_settled = true;
    for (size_t i = 0; i < sink->corners.size / sizeof *vertices && is_settled; i++) {
        float *to = result + 3 * (size_t)vertices[i];
        const float *from = numbers[i] == MESH_NONE ? NULL : normals + 3 * (size_t)numbers[i];
        bool is_new = to[0] == 0 && to[1] == 0 && to[2] == 0;
        is_settled = from && isfinite(from[0]) && isfinite(from[1]) && isfinite(from[2]) &&
                     (is_new || memcmp(to, from, 3 * sizeof *to) == 0);
        if (is_settled)
            memcpy(to, from, 3 * sizeof *to);
    }
    if (is_settled) {
        *out = result;
        return TML_OK;
    }
    tml_free(sink->file->tml, result, count * 3 * sizeof *result);
    return TML_OK;
}

/* ---- the finish: triangles ------------------------------------------------------------------- */

/* The faces around a vertex: how many, and the sum over them of the vertex before it minus the
 * vertex after it, modulo 2^32. The difference is 0 where faces surround the vertex completely. */
typedef struct vertex_ring {
    uint32_t count, difference;
} vertex_ring;

/* Memory for cutting the largest polygon. */
typedef struct cutter {
    vertex_ring *rings; /* 1 a vertex */
    size_t rings_size;
    uint32_t largest;
    uint8_t *memory;
    size_t size;
    double *flat;
    uint32_t *next, *previous, *triangles;
} cutter;

static tml_status find_rings(const mesh_sink *sink, cutter *c)
{
    const uint32_t *sizes = (const uint32_t *)(const void *)sink->sizes.data;
    const uint32_t *corners = (const uint32_t *)(const void *)sink->corners.data;
    uint64_t size = mesh_vertex_count(sink) * sizeof *c->rings;
    c->rings = tml_io_alloc(sink->file, size);
    if (!c->rings)
        return TML_ERROR_OUT_OF_MEMORY;
    c->rings_size = (size_t)size;
    memset(c->rings, 0, c->rings_size);
    for (uint64_t face = 0; face < mesh_face_count(sink); corners += sizes[face++]) {
        for (uint32_t i = 0; i < sizes[face]; i++) {
            vertex_ring *ring = &c->rings[corners[i]];
            ring->count++;
            ring->difference += corners[i ? i - 1 : sizes[face] - 1];
            ring->difference -= corners[i + 1 < sizes[face] ? i + 1 : 0];
        }
    }
    return TML_OK;
}

/* The corner at which the fan of a face starts: the first, unless a vertex has just two faces
 * around it. Those two share two edges; if neither were cut from that vertex, both would also have
 * the diagonal between the edges' ends. */
static uint32_t find_apex(const cutter *c, const uint32_t *corners, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        if (c->rings[corners[i]].count == 2 && c->rings[corners[i]].difference == 0)
            return i;
    return 0;
}

static tml_status cutter_open(const mesh_sink *sink, cutter *c)
{
    const uint32_t *sizes = (const uint32_t *)(const void *)sink->sizes.data;
    for (uint64_t i = 0; i < mesh_face_count(sink); i++)
        c->largest = sizes[i] > c->largest ? sizes[i] : c->largest;
    size_t n = c->largest;
    c->size = n * (2 * sizeof *c->flat + 5 * sizeof *c->next);
    c->memory = tml_io_alloc(sink->file, c->size);
    if (!c->memory) {
        size_t size = c->size;
        c->size = 0;
        return size ? TML_ERROR_OUT_OF_MEMORY : TML_OK;
    }
    c->flat = (double *)(void *)c->memory;
    c->next = (uint32_t *)(void *)(c->flat + 2 * n);
    c->previous = c->next + n;
    c->triangles = c->previous + n;
    return sink->polygon_count > 0 ? find_rings(sink, c) : TML_OK;
}

/* Cuts the face whose corners begin at first into c->triangles. */
static tml_status cut_face(mesh_sink *sink, const cutter *c, uint64_t face, size_t first,
                           uint32_t size, tml_mesh_file *out)
{
    const uint32_t *corners = (const uint32_t *)(const void *)sink->corners.data + first;
    polygon_kind kind;
    if (size == 3) {
        memcpy(c->triangles, (const uint32_t[3]){0, 1, 2}, 3 * sizeof *c->triangles);
        return TML_OK;
    }
    if (!tml_polygon_cut((const double *)(const void *)sink->positions.data, corners, size,
                         find_apex(c, corners, size), c->next, c->previous, c->flat,
                         &sink->ear_tests, c->triangles, &kind))
        return tml_io_error(
            sink->file, TML_ERROR_UNSUPPORTED,
            "face %llu has %u corners, and polygons as intricate as the file's take too "
            "long to cut; save the mesh as triangles",
            (unsigned long long)face, size);
    out->concave_count += kind == POLYGON_CONCAVE;
    out->crossed_count += kind == POLYGON_CROSSED;
    return TML_OK;
}

typedef struct triangle_arrays {
    uint32_t *indices, *uvs, *faces;
    uint64_t count;
} triangle_arrays;

static tml_status cut_faces(mesh_sink *sink, triangle_arrays *to, tml_mesh_file *out)
{
    const uint32_t *sizes = (const uint32_t *)(const void *)sink->sizes.data;
    const uint32_t *corners = (const uint32_t *)(const void *)sink->corners.data;
    const uint32_t *uvs = (const uint32_t *)(const void *)sink->corner_uvs.data;
    uint64_t faces = mesh_face_count(sink), triangle = 0;
    size_t first = 0;
    cutter c = {0};
    tml_status status = cutter_open(sink, &c);
    for (uint64_t face = 0; face < faces && status == TML_OK; first += sizes[face++]) {
        status = cut_face(sink, &c, face, first, sizes[face], out);
        if (status == TML_OK && face % (1 << 16) == 0 &&
            !tml_progress(sink->file->tml, "faces", (double)face / (double)faces))
            status = tml_io_error(sink->file, TML_ERROR_CANCELLED, "cancelled");
        for (uint32_t i = 0; status == TML_OK && i < 3 * (sizes[face] - 2); i++) {
            to->indices[3 * triangle + i] = corners[first + c.triangles[i]];
            if (to->uvs)
                to->uvs[3 * triangle + i] = uvs[first + c.triangles[i]];
            if (to->faces)
                to->faces[triangle + i / 3] = (uint32_t)face;
        }
        triangle += sizes[face] - 2;
    }
    tml_free(sink->file->tml, c.memory, c.size);
    tml_free(sink->file->tml, c.rings, c.rings_size);
    return status;
}

static tml_status make_triangles(mesh_sink *sink, triangle_arrays *to, tml_mesh_file *out)
{
    to->count = sink->corners.size / sizeof(uint32_t) - 2 * mesh_face_count(sink);
    if (to->count == 0)
        return TML_OK;
    uint64_t size = to->count * sizeof(uint32_t);
    uint64_t total =
        size * (3 + (sink->corner_uvs.data ? 3 : 0) + (sink->polygon_count > 0 ? 1 : 0));
    if (to->count > MESH_NONE)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "has %llu triangles, needs at most %u", (unsigned long long)to->count,
                            MESH_NONE);
    if (sink->memory_limit && sink->allocated + total > sink->memory_limit)
        return over_limit(sink, sink->allocated + total);
    to->indices = tml_io_alloc(sink->file, 3 * size);
    if (to->indices && sink->corner_uvs.data)
        to->uvs = tml_io_alloc(sink->file, 3 * size);
    if (to->indices && sink->polygon_count > 0)
        to->faces = tml_io_alloc(sink->file, size);
    if (!to->indices || (sink->corner_uvs.data && !to->uvs) ||
        (sink->polygon_count > 0 && !to->faces))
        return TML_ERROR_OUT_OF_MEMORY;
    return cut_faces(sink, to, out);
}

/* ---- the finish ------------------------------------------------------------------------------ */

static tml_status make_positions(const mesh_sink *sink, const double origin[3], float **out)
{
    const double *positions = (const double *)(const void *)sink->positions.data;
    uint64_t count = 3 * mesh_vertex_count(sink);
    *out = tml_io_alloc(sink->file, count * sizeof **out);
    for (uint64_t i = 0; *out && i < count; i++)
        (*out)[i] = (float)(positions[i] - origin[i % 3]);
    return *out || count == 0 ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
}

/* Moves an array's bytes into memory of exactly their size, which *out owns; drops the array. */
static tml_status take(mesh_sink *sink, mesh_array *array, void *out)
{
    void *memory = tml_io_alloc(sink->file, array->size);
    if (!memory && array->size > 0)
        return TML_ERROR_OUT_OF_MEMORY;
    if (memory)
        memcpy(memory, array->data, array->size);
    memcpy(out, &memory, sizeof memory);
    drop(sink, array);
    return TML_OK;
}

/* Of a mesh that a reader made whole: positions become relative to origin. */
static void set_origin(tml_mesh *mesh, const double origin[3])
{
    float *positions = (float *)(uintptr_t)mesh->positions; /* the sink's own */
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
        positions[i] = (float)((double)positions[i] + (mesh->origin[i % 3] - origin[i % 3]));
    memcpy(mesh->origin, origin, sizeof mesh->origin);
}

tml_status tml_mesh_finish(mesh_sink *sink, tml_mesh_file *out)
{
    if (sink->made.vertex_count > 0) {
        if (sink->origin)
            set_origin(&sink->made, sink->origin);
        out->mesh = sink->made;
        sink->made = (tml_mesh){0};
        out->face_count = out->mesh.triangle_count;
        out->welded_count = sink->welded_count;
        if (out->mesh.values) {
            snprintf(out->value_name, sizeof out->value_name, "%s", sink->value_name);
            out->mesh.value_name = out->value_name;
        }
        return TML_OK;
    }
    triangle_arrays triangles = {0};
    float *positions = NULL, *normals = NULL, *values = NULL, *uvs = NULL;
    out->face_count = mesh_face_count(sink);
    out->polygon_count = sink->polygon_count;
    out->skipped_count = sink->skipped_count;
    tml_status status = check_references(sink);
    if (status == TML_OK && sink->weld == TML_WELD_ALWAYS)
        status = weld(sink, out);
    if (status == TML_OK)
        status = settle_normals(sink, &normals);
    drop(sink, &sink->normals);
    drop(sink, &sink->corner_normals);
    if (status == TML_OK)
        status = make_triangles(sink, &triangles, out);
    if (sink->origin)
        memcpy(out->mesh.origin, sink->origin, sizeof out->mesh.origin);
    else
        tml_io_choose_origin(sink->lower, sink->upper, sink->is_inexact, out->mesh.origin);
    if (status == TML_OK)
        status = make_positions(sink, out->mesh.origin, &positions);
    out->mesh.vertex_count = mesh_vertex_count(sink);
    out->mesh.uv_count = sink->uvs.size / (2 * sizeof(float));
    out->crease_count = sink->crease_sharpness.size / sizeof(float);
    out->corner_count = sink->corner_sharpness.size / sizeof(float);
    drop(sink, &sink->positions);
    drop(sink, &sink->corners);
    if (status == TML_OK)
        status = take(sink, &sink->values, &values);
    if (status == TML_OK)
        status = take(sink, &sink->uvs, &uvs);
    if (status == TML_OK)
        status = take(sink, &sink->crease_vertices, &out->crease_vertices);
    if (status == TML_OK)
        status = take(sink, &sink->crease_sharpness, &out->crease_sharpness);
    if (status == TML_OK)
        status = take(sink, &sink->corner_vertices, &out->corner_vertices);
    if (status == TML_OK)
        status = take(sink, &sink->corner_sharpness, &out->corner_sharpness);
    out->faces = triangles.faces;
    out->mesh.positions = positions;
    out->mesh.normals = normals;
    out->mesh.values = values;
    out->mesh.uvs = uvs;
    out->mesh.uv_indices = triangles.uvs;
    out->mesh.indices = triangles.indices;
    out->mesh.triangle_count = triangles.count;
    snprintf(out->value_name, sizeof out->value_name, "%s", values ? sink->value_name : "");
    out->mesh.value_name = values ? out->value_name : NULL;
    snprintf(out->comment, sizeof out->comment, "%s", sink->comment);
    return status;
}
