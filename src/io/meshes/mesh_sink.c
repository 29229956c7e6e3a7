/* The sink that the mesh readers push to. mesh_finish.c makes a mesh of it. */
#include <math.h>
#include <stdarg.h>

#include "io/meshes/mesh_sink.h"

/* ---- growing --------------------------------------------------------------------------------- */

tml_status tml_mesh_over_limit(const mesh_sink *sink, uint64_t size)
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
        (void)tml_mesh_over_limit(sink, allocated);
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
    if (!array->data || size > array->capacity - array->size) {
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

void tml_mesh_drop(mesh_sink *sink, mesh_array *array)
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
                                  &sink->corner_sharpness,
                                  &sink->face_numbers};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        tml_mesh_drop(sink, arrays[i]);
    for (uint32_t i = 0; i < sink->property_count; i++)
        tml_mesh_drop(sink, &sink->properties[i].data);
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

/* Returns whether the value is finite as a float. Decimals of FLT_MAX may be slightly larger and
 * round to it. */
static bool is_float_range(double value)
{
    return isfinite((float)value);
}

void tml_mesh_add_fault(const mesh_sink *sink, mesh_fault *fault, uint64_t place,
                        const char *format, ...)
{
    if (fault->count++ > 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->what, sizeof fault->what, format, arguments);
    va_end(arguments);
    fault->place = place;
    fault->place_name = sink->place_name;
}

tml_status tml_mesh_push_vertex(mesh_sink *sink, const double position[3], uint64_t place)
{
    int axis = 0;
    while (axis < 3 && is_float_range(position[axis]))
        axis++;
    if (axis < 3)
        tml_mesh_add_fault(sink, &sink->lost_vertices, place,
                           "coordinate %c is %g, needs a finite float", "xyz"[axis],
                           position[axis]);
    const bool is_good = axis == 3;
    for (axis = 0; axis < 3 && is_good; axis++) {
        double x = position[axis];
        sink->is_inexact |= (double)(float)x != x;
        sink->lower[axis] = !sink->has_box || x < sink->lower[axis] ? x : sink->lower[axis];
        sink->upper[axis] = !sink->has_box || x > sink->upper[axis] ? x : sink->upper[axis];
    }
    sink->has_box |= is_good;
    if (mesh_vertex_count(sink) == MESH_NONE)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED, "has more than %u vertices",
                            MESH_NONE);
    /* The vertex keeps its number until tml_mesh_finish removes it. */
    static const double lost[3] = {NAN, NAN, NAN};
    return append(sink, &sink->positions, is_good ? position : lost, 3 * sizeof *position);
}

uint32_t tml_mesh_add_property(mesh_sink *sink, const char *name, uint32_t components,
                               bool is_color, double scale)
{
    uint32_t number = sink->property_count;
    for (uint32_t i = 0; i < sink->property_count; i++)
        if (strcmp(sink->properties[i].name, name) == 0)
            return UINT32_MAX;
    if (number == TML_MESH_MAX_ATTRIBUTES || !name[0])
        return UINT32_MAX;
    mesh_property *property = &sink->properties[sink->property_count++];
    *property = (mesh_property){.components = components, .is_color = is_color, .scale = scale};
    snprintf(property->name, sizeof property->name, "%s", name);
    return number;
}

tml_status tml_mesh_push_property(mesh_sink *sink, uint32_t number, const double *numbers)
{
    mesh_property *property = &sink->properties[number];
    const double scale = property->is_color && property->scale > 0 ? property->scale : 1;
    float values[4];
    for (uint32_t c = 0; c < property->components; c++)
        values[c] = (float)(scale * numbers[c]);
    return append(sink, &property->data, values, property->components * sizeof *values);
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

/* Removes corners with the same vertex as the corner before; the first corner follows the last.
 * Returns how many are left. */
static uint64_t drop_repeats(mesh_corner_ref *refs, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || refs[i].vertex == MESH_NONE || refs[i].vertex != refs[kept - 1].vertex)
            refs[kept++] = refs[i];
    while (kept > 1 && refs[kept - 1].vertex == refs[0].vertex && refs[0].vertex != MESH_NONE)
        kept--;
    return kept;
}

tml_status tml_mesh_end_face(mesh_sink *sink, uint64_t place)
{
    const uint64_t named = sink->face.size / sizeof(mesh_corner_ref);
    mesh_corner_ref *refs = (mesh_corner_ref *)(void *)sink->face.data;
    uint64_t count = drop_repeats(refs, named);
    if (named < 3)
        tml_mesh_add_fault(sink, &sink->short_faces, place,
                           "a face has %llu corners, needs at least 3", (unsigned long long)named);
    else if (count < 3)
        tml_mesh_add_fault(sink, &sink->short_faces, place,
                           "a face has %llu different corners, needs at least 3",
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
    for (uint64_t i = 0; i < count; i++) {
        vertices[i] = refs[i].vertex;
        uvs[i] = refs[i].uv;
        normals[i] = refs[i].normal;
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
    reach_for(&sink->tag_reach, first, place);
    reach_for(&sink->tag_reach, second, place);
    TML_THEN(status, append(sink, &sink->crease_vertices, vertices, sizeof vertices));
    return status == TML_OK ? append(sink, &sink->crease_sharpness, &value, sizeof value) : status;
}

tml_status tml_mesh_push_sharp_corner(mesh_sink *sink, uint32_t vertex, double sharpness,
                                      uint64_t place)
{
    tml_status status = check_sharpness(sink, sharpness, place);
    const float value = (float)sharpness;
    reach_for(&sink->tag_reach, vertex, place);
    TML_THEN(status, append(sink, &sink->corner_vertices, &vertex, sizeof vertex));
    return status == TML_OK ? append(sink, &sink->corner_sharpness, &value, sizeof value) : status;
}
