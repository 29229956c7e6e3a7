/* Makes a mesh of what a reader pushed: checks, welding, normals, triangles, the origin. */
#include <math.h>

#include "io/meshes/mesh_sink.h"
#include "io/points/points_internal.h"

/* ---- checks that need the whole file
 * ---------------------------------------------------------- */

static void describe_reach(const mesh_sink *sink, const mesh_reach *reach, uint64_t count,
                           const char *what, char out[80])
{
    snprintf(out, 80, "names %s %llu, the file has %llu%s", what,
             (unsigned long long)(reach->number + sink->number_base), (unsigned long long)count,
             sink->number_base ? "" : " (counted from 0)");
}

static bool is_past(const mesh_reach *reach, uint64_t count)
{
    return reach->is_any && reach->number >= count;
}

static void note(mesh_sink *sink, const char *text)
{
    size_t used = strlen(sink->comment);
    snprintf(sink->comment + used, sizeof sink->comment - used, "%s%s", used ? "; " : "", text);
}

/* Checks the vertices of creases and sharp corners. Drops values and properties that only some
 * vertices have: the shape does not need them. */
static tml_status check_references(mesh_sink *sink)
{
    const uint64_t vertices = mesh_vertex_count(sink);
    char text[80];
    if (is_past(&sink->tag_reach, vertices)) {
        describe_reach(sink, &sink->tag_reach, vertices, "vertex", text);
        return tml_mesh_error(sink, sink->tag_reach.place, "%s", text);
    }
    if (sink->values.size != vertices * sizeof(float))
        tml_mesh_drop(sink, &sink->values);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sink->property_count; i++) {
        mesh_property *property = &sink->properties[i];
        if (property->data.size == vertices * property->components * sizeof(float)) {
            mesh_property moved = *property;
            property->data = (mesh_array){0};
            sink->properties[kept++] = moved;
            continue;
        }
        snprintf(text, sizeof text, "%.40s left out: some vertices have none", property->name);
        note(sink, text);
        tml_mesh_drop(sink, &property->data);
    }
    sink->property_count = kept;
    return TML_OK;
}

/* ---- what is left out ------------------------------------------------------------------------ */

static bool is_lost(const mesh_sink *sink, uint64_t vertex)
{
    return isnan(((const double *)(const void *)sink->positions.data)[3 * vertex]);
}

typedef enum face_fate { FACE_KEPT, FACE_SHORT, FACE_NAMELESS, FACE_LOST } face_fate;

static face_fate fate_of(const mesh_sink *sink, const uint32_t *corners, uint32_t size,
                         uint64_t vertices)
{
    face_fate fate = FACE_KEPT;
    if (size < 3)
        fate = FACE_SHORT;
    for (uint32_t i = 0; i < size; i++)
        if (corners[i] >= vertices)
            return FACE_NAMELESS;
        else if (fate == FACE_KEPT && is_lost(sink, corners[i]))
            fate = FACE_LOST;
    return fate;
}

/* Removes the invalid faces, and counts faces by their fates. */
static tml_status sift_faces(mesh_sink *sink, uint64_t fates[4])
{
    uint32_t *sizes = (uint32_t *)(void *)sink->sizes.data;
    mesh_array *const arrays[] = {&sink->corners, &sink->corner_uvs, &sink->corner_normals};
    const uint64_t faces = mesh_face_count(sink), vertices = mesh_vertex_count(sink);
    size_t from = 0, to = 0;
    uint64_t kept = 0;
    for (uint64_t face = 0; face < faces; face++) {
        const uint32_t size = sizes[face], number = (uint32_t)face;
        /* NULL if there are only faces without corners. */
        const uint32_t *corners =
            size ? (const uint32_t *)(const void *)sink->corners.data + from : NULL;
        const face_fate fate = fate_of(sink, corners, size, vertices);
        fates[fate]++;
        if (fate == FACE_KEPT) {
            for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
                if (arrays[i]->data)
                    memmove(arrays[i]->data + 4 * to, arrays[i]->data + 4 * from,
                            size * sizeof(uint32_t));
            to += size;
            sizes[kept++] = size;
            if (!tml_mesh_append(sink, &sink->face_numbers, &number, sizeof number))
                return TML_ERROR_OUT_OF_MEMORY;
        }
        sink->polygon_count -= fate != FACE_KEPT && size > 3;
        from += size;
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        arrays[i]->size = arrays[i]->data ? to * sizeof(uint32_t) : 0;
    sink->sizes.size = (size_t)kept * sizeof *sizes;
    return TML_OK;
}

/* Moves a vertex's position, value and properties to a lower number. */
static void move_vertex(mesh_sink *sink, uint64_t from, uint64_t to)
{
    double *positions = (double *)(void *)sink->positions.data;
    float *values = (float *)(void *)sink->values.data;
    memmove(positions + 3 * to, positions + 3 * from, 3 * sizeof *positions);
    if (values)
        values[to] = values[from];
    for (uint32_t i = 0; i < sink->property_count; i++) {
        const size_t size = sink->properties[i].components * sizeof(float);
        uint8_t *data = sink->properties[i].data.data;
        if (data)
            memmove(data + to * size, data + from * size, size);
    }
}

static void keep_vertices(mesh_sink *sink, uint64_t count)
{
    sink->positions.size = (size_t)(3 * sizeof(double) * count);
    sink->values.size = sink->values.data ? (size_t)(sizeof(float) * count) : 0;
    for (uint32_t i = 0; i < sink->property_count; i++)
        sink->properties[i].data.size =
            sink->properties[i].data.data
                ? (size_t)(sink->properties[i].components * sizeof(float) * count)
                : 0;
}

static void renumber(mesh_array *array, const uint32_t *map)
{
    uint32_t *numbers = (uint32_t *)(void *)array->data;
    for (size_t i = 0; i < array->size / sizeof *numbers; i++)
        numbers[i] = map[numbers[i]];
}

/* Removes the tags, of each vertices per tag, that name a removed vertex. */
static void sift_tags(mesh_array *vertices, mesh_array *sharpness, size_t each)
{
    uint32_t *numbers = (uint32_t *)(void *)vertices->data;
    float *values = (float *)(void *)sharpness->data;
    size_t kept = 0;
    for (size_t i = 0; i < sharpness->size / sizeof *values; i++) {
        bool is_kept = true;
        for (size_t k = 0; k < each; k++)
            is_kept &= numbers[each * i + k] != MESH_NONE;
        if (!is_kept)
            continue;
        memmove(numbers + each * kept, numbers + each * i, each * sizeof *numbers);
        values[kept++] = values[i];
    }
    vertices->size = kept * each * sizeof *numbers;
    sharpness->size = kept * sizeof *values;
}

/* Removes the vertices without a position, which no face uses any more. */
static tml_status sift_vertices(mesh_sink *sink)
{
    const uint64_t count = mesh_vertex_count(sink);
    uint32_t *map = tml_io_alloc(sink->file, count * sizeof *map), kept = 0;
    if (!map)
        return TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        map[i] = MESH_NONE;
        if (is_lost(sink, i))
            continue;
        move_vertex(sink, i, kept);
        map[i] = kept++;
    }
    keep_vertices(sink, kept);
    renumber(&sink->corners, map);
    renumber(&sink->crease_vertices, map);
    renumber(&sink->corner_vertices, map);
    sift_tags(&sink->crease_vertices, &sink->crease_sharpness, 2);
    sift_tags(&sink->corner_vertices, &sink->corner_sharpness, 1);
    tml_free(sink->file->tml, map, count * sizeof *map);
    return TML_OK;
}

static tml_status warn_of(const mesh_sink *sink, const mesh_fault *fault, uint64_t count,
                          const char *one, const char *many)
{
    if (fault->count == 0)
        return TML_OK;
    return tml_io_warn(sink->file, "%llu %s left out (%s %llu: %s)", (unsigned long long)count,
                       count == 1 ? one : many, fault->place_name, (unsigned long long)fault->place,
                       fault->what);
}

/* Removes and reports what cannot be part of a mesh. The file is refused if no face remains, or if
 * more faces name missing vertices than remain: then it holds another mesh, or none. */
static tml_status leave_out(mesh_sink *sink)
{
    const uint64_t vertices = mesh_vertex_count(sink);
    mesh_fault *names = &sink->lost_corners, *lost = &sink->lost_vertices;
    uint64_t fates[4] = {0};
    if (is_past(&sink->vertex_reach, vertices)) {
        char text[80];
        describe_reach(sink, &sink->vertex_reach, vertices, "vertex", text);
        tml_mesh_add_fault(sink, names, sink->vertex_reach.place, "%s", text);
    }
    if (!sink->short_faces.count && !names->count && !lost->count && !sink->lost_faces.count)
        return TML_OK;
    tml_status status = sift_faces(sink, fates);
    if (status != TML_OK)
        return status;
    const mesh_fault *worst = names->count             ? names
                              : lost->count            ? lost
                              : sink->lost_faces.count ? &sink->lost_faces
                                                       : &sink->short_faces;
    if (fates[FACE_KEPT] == 0 || fates[FACE_NAMELESS] > fates[FACE_KEPT])
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "%s %llu: %s%s", worst->place_name,
                            (unsigned long long)worst->place, worst->what,
                            fates[FACE_KEPT] ? "; so do most faces" : "");
    status = warn_of(sink, &sink->short_faces, sink->short_faces.count,
                     "face of fewer than three different corners is",
                     "faces of fewer than three different corners are");
    TML_THEN(status, warn_of(sink, names, fates[FACE_NAMELESS],
                             "face that names a vertex which is not there is",
                             "faces that name a vertex which is not there are"));
    TML_THEN(status, warn_of(sink, &sink->lost_faces, sink->lost_faces.count,
                             "triangle with a corner that has no finite position is",
                             "triangles with a corner that has no finite position are"));
    if (status == TML_OK && lost->count > 0)
        status = tml_io_warn(
            sink->file,
            "%llu %s without a finite position, and %llu %s, are left out (%s %llu: %s)",
            (unsigned long long)lost->count, lost->count == 1 ? "vertex" : "vertices",
            (unsigned long long)fates[FACE_LOST],
            fates[FACE_LOST] == 1 ? "face with one" : "faces with one", lost->place_name,
            (unsigned long long)lost->place, lost->what);
    return status == TML_OK && lost->count > 0 ? sift_vertices(sink) : status;
}

/* Drops all normals or texture coordinates, with a warning, if some corner names one that is
 * missing. */
static tml_status drop_unnamed(mesh_sink *sink, const mesh_reach *reach, uint64_t count,
                               const char *what, mesh_array *array, mesh_array *corners)
{
    char text[80];
    const uint32_t *numbers = (const uint32_t *)(const void *)corners->data;
    bool is_needed = false;
    if (count == 0 || !is_past(reach, count))
        return TML_OK;
    for (size_t i = 0; i < corners->size / sizeof *numbers; i++)
        is_needed |= numbers[i] != MESH_NONE && numbers[i] >= count;
    if (!is_needed) /* only faces that were removed name it */
        return TML_OK;
    describe_reach(sink, reach, count, what, text);
    tml_mesh_drop(sink, array);
    tml_mesh_drop(sink, corners);
    return tml_io_warn(sink->file, "%ss are left out (%s %llu: %s)", what, sink->place_name,
                       (unsigned long long)reach->place, text);
}

/* Drops normals and texture coordinates if corners name missing ones; texture coordinates also if
 * some corners have none. */
static tml_status check_corners(mesh_sink *sink)
{
    tml_status status =
        drop_unnamed(sink, &sink->normal_reach, sink->normals.size / (3 * sizeof(float)), "normal",
                     &sink->normals, &sink->corner_normals);
    TML_THEN(status, drop_unnamed(sink, &sink->uv_reach, sink->uvs.size / (2 * sizeof(float)),
                                  "texture coordinate", &sink->uvs, &sink->corner_uvs));
    if (status != TML_OK)
        return status;
    if (sink->normals.size == 0)
        tml_mesh_drop(sink, &sink->corner_normals);
    uint64_t bare_corners = 0;
    const uint32_t *uvs = (const uint32_t *)(const void *)sink->corner_uvs.data;
    for (size_t i = 0; i < sink->corner_uvs.size / sizeof *uvs; i++)
        bare_corners += uvs[i] == MESH_NONE;
    if (sink->uvs.size == 0 || bare_corners > 0) {
        if (sink->uvs.size > 0 && mesh_face_count(sink) > 0)
            note(sink, "texture coordinates left out: some corners have none");
        tml_mesh_drop(sink, &sink->uvs);
        tml_mesh_drop(sink, &sink->corner_uvs);
    }
    return TML_OK;
}

/* ---- welding --------------------------------------------------------------------------------- */

/* Hashes a position; -0 hashes as 0. */
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

/* Merges vertices of equal position. The first of them gives the value and the properties.
 * map     receives each vertex's new number
 * table   an open hash table of slots entries, a power of two */
static void weld_into(mesh_sink *sink, uint32_t *map, uint32_t *table, uint64_t slots)
{
    double *positions = (double *)(void *)sink->positions.data;
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
            move_vertex(sink, i, kept);
            kept++;
        }
        map[i] = table[slot];
    }
    keep_vertices(sink, kept);
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
        return tml_mesh_over_limit(sink, sink->allocated + size);
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

/* ---- normals of vertices --------------------------------------------------------------------- */

/* *out receives a normal per vertex if at every vertex all corners have the same normal; else
 * NULL. */
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

/* ---- triangles ------------------------------------------------------------------------------- */

/* The faces around a vertex: their number, and the sum over them of the vertex before it minus the
 * vertex after it, modulo 2^32. The sum is 0 if the faces surround the vertex completely. */
typedef struct vertex_ring {
    uint32_t count, difference;
} vertex_ring;

/* Memory to cut the largest polygon. */
typedef struct cutter {
    vertex_ring *rings; /* 1 per vertex */
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

/* Returns the corner at which the fan of a face starts: the first one at a vertex with exactly two
 * faces, else corner 0. Those two faces share two edges; if neither were cut from that vertex, both
 * would also have the diagonal between the edges' other ends. */
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

/* Cuts a face into c->triangles. first: the place of its corners among all corners. */
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
    const uint32_t *numbers = (const uint32_t *)(const void *)sink->face_numbers.data;
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
                to->faces[triangle + i / 3] = numbers ? numbers[face] : (uint32_t)face;
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
    const bool has_numbers = sink->polygon_count > 0 || sink->face_numbers.size > 0;
    uint64_t total = size * (3 + (sink->corner_uvs.data ? 3 : 0) + (has_numbers ? 1 : 0));
    if (to->count > MESH_NONE)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "has %llu triangles, needs at most %u", (unsigned long long)to->count,
                            MESH_NONE);
    if (sink->memory_limit && sink->allocated + total > sink->memory_limit)
        return tml_mesh_over_limit(sink, sink->allocated + total);
    to->indices = tml_io_alloc(sink->file, 3 * size);
    if (to->indices && sink->corner_uvs.data)
        to->uvs = tml_io_alloc(sink->file, 3 * size);
    if (to->indices && has_numbers)
        to->faces = tml_io_alloc(sink->file, size);
    if (!to->indices || (sink->corner_uvs.data && !to->uvs) || (has_numbers && !to->faces))
        return TML_ERROR_OUT_OF_MEMORY;
    return cut_faces(sink, to, out);
}

/* ---- the mesh -------------------------------------------------------------------------------- */

static tml_status make_positions(const mesh_sink *sink, const double origin[3], float **out)
{
    const double *positions = (const double *)(const void *)sink->positions.data;
    uint64_t count = 3 * mesh_vertex_count(sink);
    *out = tml_io_alloc(sink->file, count * sizeof **out);
    for (uint64_t i = 0; *out && i < count; i++)
        (*out)[i] = (float)(positions[i] - origin[i % 3]);
    return *out || count == 0 ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
}

/* Moves an array's bytes into memory of exactly their size, which *out owns, and drops the
 * array. */
static tml_status mesh_sink_take(mesh_sink *sink, mesh_array *array, void *out)
{
    void *memory = array->data;
    if (array->capacity == array->size) { /* already of exactly that size */
        sink->allocated -= array->capacity;
        *array = (mesh_array){0};
    } else {
        memory = tml_io_alloc(sink->file, array->size);
        if (!memory && array->size > 0)
            return TML_ERROR_OUT_OF_MEMORY;
        if (memory)
            memcpy(memory, array->data, array->size);
        tml_mesh_drop(sink, array);
    }
    memcpy(out, &memory, sizeof memory);
    return TML_OK;
}

/* Makes the positions of a mesh that a reader made as a whole relative to origin. */
static void set_origin(tml_mesh *mesh, const double origin[3])
{
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->positions[i] =
            (float)((double)mesh->positions[i] + (mesh->origin[i % 3] - origin[i % 3]));
    memcpy(mesh->origin, origin, sizeof mesh->origin);
}

/* Makes the mesh's attributes of the properties: one block of memory has the list and the names. */
static tml_status take_properties(mesh_sink *sink, uint64_t vertices, tml_mesh_file *out)
{
    if (sink->property_count == 0 || vertices == 0)
        return TML_OK;
    mesh_attributes *block = tml_io_alloc(sink->file, sizeof *block);
    if (!block)
        return TML_ERROR_OUT_OF_MEMORY;
    *block = (mesh_attributes){0};
    out->mesh.attributes = block->list;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < sink->property_count && status == TML_OK; i++) {
        mesh_property *property = &sink->properties[i];
        float *data = NULL;
        memcpy(block->names[i], property->name, sizeof block->names[i]);
        status = mesh_sink_take(sink, &property->data, &data);
        if (status == TML_OK && property->is_color && !(property->scale > 0))
            tml_points_scale_colors(&(point_attribute){.components = property->components}, data,
                                    vertices);
        block->list[i] = (tml_mesh_attribute){block->names[i], property->components, data};
        out->mesh.attribute_count++; /* counted at once, so that a failure of the next frees it */
    }
    return status;
}

/* Moves a mesh that a reader made as a whole to the result. */
static tml_status take_made(mesh_sink *sink, tml_mesh_file *out)
{
    if (sink->origin)
        set_origin(&sink->made, sink->origin);
    tml_status status = take_properties(sink, sink->made.vertex_count, out);
    tml_mesh_attribute *attributes = out->mesh.attributes;
    const uint32_t attribute_count = out->mesh.attribute_count;
    out->mesh = sink->made;
    out->mesh.attributes = attributes;
    out->mesh.attribute_count = attribute_count;
    sink->made = (tml_mesh){0};
    out->face_count = out->mesh.triangle_count;
    out->welded_count = sink->welded_count;
    if (out->mesh.values) {
        snprintf(out->value_name, sizeof out->value_name, "%s", sink->value_name);
        out->mesh.value_name = out->value_name;
    }
    return status;
}

tml_status tml_mesh_finish(mesh_sink *sink, tml_mesh_file *out)
{
    if (sink->made.vertex_count > 0)
        return take_made(sink, out);
    triangle_arrays triangles = {0};
    float *positions = NULL, *normals = NULL, *values = NULL, *uvs = NULL;
    out->face_count = mesh_face_count(sink);
    out->skipped_count = sink->skipped_count;
    tml_status status = check_references(sink);
    TML_THEN(status, leave_out(sink));
    TML_THEN(status, check_corners(sink));
    out->polygon_count = sink->polygon_count;
    if (status == TML_OK && sink->weld == TML_WELD_ALWAYS)
        status = weld(sink, out);
    TML_THEN(status, settle_normals(sink, &normals));
    tml_mesh_drop(sink, &sink->normals);
    tml_mesh_drop(sink, &sink->corner_normals);
    TML_THEN(status, make_triangles(sink, &triangles, out));
    if (sink->origin)
        memcpy(out->mesh.origin, sink->origin, sizeof out->mesh.origin);
    else
        tml_io_choose_origin(sink->lower, sink->upper, sink->is_inexact, out->mesh.origin);
    TML_THEN(status, make_positions(sink, out->mesh.origin, &positions));
    out->mesh.vertex_count = mesh_vertex_count(sink);
    out->mesh.uv_count = sink->uvs.size / (2 * sizeof(float));
    out->crease_count = sink->crease_sharpness.size / sizeof(float);
    out->corner_count = sink->corner_sharpness.size / sizeof(float);
    tml_mesh_drop(sink, &sink->positions);
    tml_mesh_drop(sink, &sink->corners);
    TML_THEN(status, mesh_sink_take(sink, &sink->values, &values));
    TML_THEN(status, take_properties(sink, out->mesh.vertex_count, out));
    TML_THEN(status, mesh_sink_take(sink, &sink->uvs, &uvs));
    TML_THEN(status, mesh_sink_take(sink, &sink->crease_vertices, &out->crease_vertices));
    TML_THEN(status, mesh_sink_take(sink, &sink->crease_sharpness, &out->crease_sharpness));
    TML_THEN(status, mesh_sink_take(sink, &sink->corner_vertices, &out->corner_vertices));
    TML_THEN(status, mesh_sink_take(sink, &sink->corner_sharpness, &out->corner_sharpness));
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
