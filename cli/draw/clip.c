/* After: Sutherland, Hodgman: Reentrant Polygon Clipping. 1974. */
#include <math.h>
#include <string.h>

#include "draw/clip.h"
#include "draw/raster.h"

/* Each of CLIP_PLANES planes adds at most one corner to a clipped triangle. */
enum { CORNERS = 3 + CLIP_PLANES, PARTS = CORNERS - 2 };

typedef struct corner {
    double position[3], normal[3], value;
} corner;

static double distance_to(const clip_plane plane, const double p[3])
{
    return plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] + plane[3];
}

static corner between(const corner *a, const corner *b, double t)
{
    corner c;
    for (int i = 0; i < 3; i++) {
        c.position[i] = a->position[i] + t * (b->position[i] - a->position[i]);
        c.normal[i] = a->normal[i] + t * (b->normal[i] - a->normal[i]);
    }
    c.value = a->value + t * (b->value - a->value);
    return c;
}

static corner corner_of(const tml_mesh *mesh, uint64_t v)
{
    corner c = {.value = mesh->values ? (double)mesh->values[v] : 0};
    for (int i = 0; i < 3; i++) {
        c.position[i] = (double)mesh->positions[3 * v + (uint64_t)i];
        c.normal[i] = mesh->normals ? (double)mesh->normals[3 * v + (uint64_t)i] : 0;
    }
    return c;
}

/* Cuts a convex polygon; returns its new number of corners. */
static uint32_t cut(const clip_plane plane, const corner *in, uint32_t count, corner *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const corner *a = &in[i], *b = &in[(i + 1) % count];
        double from = distance_to(plane, a->position), to = distance_to(plane, b->position);
        if (from >= 0)
            out[kept++] = *a;
        if ((from >= 0) != (to >= 0))
            out[kept++] = between(a, b, from / (from - to));
    }
    return kept;
}

/* 1: the triangle lies inside all planes; -1: outside one; 0: it must be clipped, or is not
 * finite. */
static int place_of(const tml_mesh *mesh, const uint64_t v[3], clip_plane planes[CLIP_PLANES])
{
    int place = 1;
    for (int plane = 0; plane < CLIP_PLANES; plane++) {
        int inside = 0, outside = 0;
        for (int c = 0; c < 3; c++) {
            const float *at = mesh->positions + 3 * v[c];
            const double p[3] = {(double)at[0], (double)at[1], (double)at[2]};
            double distance = distance_to(planes[plane], p);
            inside += distance >= 0;
            outside += !(distance >= 0);
        }
        if (outside == 3)
            return -1;
        place = inside == 3 ? place : 0;
    }
    return place;
}

/* The mesh being made: kept triangles go before the cut ones. */
typedef struct cutting {
    const tml_mesh *from;
    float *positions, *normals, *values;
    uint64_t *indices;
    uint64_t vertices, triangles;
} cutting;

static void add_polygon(cutting *to, const corner *corners, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t v = to->vertices + i;
        for (uint64_t k = 0; k < 3; k++) {
            to->positions[3 * v + k] = (float)corners[i].position[k];
            if (to->normals)
                to->normals[3 * v + k] = (float)corners[i].normal[k];
        }
        if (to->values)
            to->values[v] = (float)corners[i].value;
    }
    for (uint32_t i = 2; i < count; i++) {
        const uint64_t fan[3] = {to->vertices, to->vertices + i - 1, to->vertices + i};
        memcpy(to->indices + 3 * to->triangles++, fan, sizeof fan);
    }
    to->vertices += count;
}

static void cut_triangle(cutting *to, const uint64_t v[3], clip_plane planes[CLIP_PLANES])
{
    corner buffers[2][CORNERS];
    uint32_t count = 3;
    for (int c = 0; c < 3; c++)
        buffers[0][c] = corner_of(to->from, v[c]);
    for (int plane = 0; plane < CLIP_PLANES; plane++)
        count = cut(planes[plane], buffers[plane % 2], count, buffers[(plane + 1) % 2]);
    if (count >= 3)
        add_polygon(to, buffers[CLIP_PLANES % 2], count);
}

static tml_status allocate(tml_context *tml, const tml_mesh *mesh, uint64_t whole,
                           uint64_t crossing, clip_mesh *out, cutting *to)
{
    const uint64_t vertices = mesh->vertex_count + CORNERS * crossing;
    const uint64_t triangles = whole + PARTS * crossing;
    size_t floats = vertices * (3 + (mesh->normals ? 3 : 0) + (mesh->values ? 1 : 0));
    out->size = triangles * 3 * sizeof(uint64_t) + floats * sizeof(float);
    out->memory = tml_alloc(tml, out->size);
    if (!out->memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "picture: no memory for %zu bytes",
                         out->size);
    *to = (cutting){.from = mesh, .indices = out->memory, .vertices = mesh->vertex_count};
    to->positions = (float *)(to->indices + 3 * triangles);
    float *next = to->positions + 3 * vertices;
    memcpy(to->positions, mesh->positions, mesh->vertex_count * 3 * sizeof(float));
    if (mesh->normals) {
        to->normals = next;
        next += 3 * vertices;
        memcpy(to->normals, mesh->normals, mesh->vertex_count * 3 * sizeof(float));
    }
    if (mesh->values) {
        to->values = next;
        memcpy(to->values, mesh->values, mesh->vertex_count * sizeof(float));
    }
    return TML_OK;
}

tml_status clip_make(tml_context *tml, const tml_mesh *mesh, clip_plane planes[CLIP_PLANES],
                     clip_mesh *out)
{
    uint64_t whole = 0, crossing = 0, v[3];
    cutting to = {0};
    *out = (clip_mesh){.mesh = *mesh};
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        int place = raster_corners(mesh, t, v) ? place_of(mesh, v, planes) : -1;
        whole += place > 0;
        crossing += place == 0;
    }
    if (whole == mesh->triangle_count)
        return TML_OK;
    tml_status status = allocate(tml, mesh, whole, crossing, out, &to);
    if (status != TML_OK)
        return status;
    for (int wanted = 1; wanted >= 0; wanted--)
        for (uint64_t t = 0; t < mesh->triangle_count; t++) {
            int place = raster_corners(mesh, t, v) ? place_of(mesh, v, planes) : -1;
            if (place == wanted && place > 0)
                memcpy(to.indices + 3 * to.triangles++, v, sizeof v);
            else if (place == wanted)
                cut_triangle(&to, v, planes);
        }
    out->mesh.positions = to.positions;
    out->mesh.normals = to.normals;
    out->mesh.values = to.values;
    out->mesh.indices = to.indices;
    out->mesh.indices64 = true;
    out->mesh.vertex_count = to.vertices;
    out->mesh.triangle_count = to.triangles;
    return TML_OK;
}

void clip_free(tml_context *tml, clip_mesh *clipped)
{
    tml_free(tml, clipped->memory, clipped->size);
    *clipped = (clip_mesh){0};
}
