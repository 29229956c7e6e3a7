/* Fewer triangles, by edge collapse with quadric error metrics (Garland, Heckbert: Surface Simplification Using
 * Quadric Error Metrics. 1997), as meshoptimizer has it. */
#include "simplify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fields.h"

const char *simplify_parse(const char *text, void *member)
{
    simplify_goal *goal = member;
    double number;
    if (!opt_number(text, &number) || number <= 0 || number > UINT32_MAX ||
        (number >= 1 && number != floor(number)))
        return "a share of the triangles such as 0.1, or a whole number of them such as 50000";
    *goal = number < 1 ? (simplify_goal){.ratio = number}
                       : (simplify_goal){.triangles = (uint64_t)number};
    return NULL;
}

void simplify_tell(const simplified *made)
{
    const tml_mesh *mesh = &made->mesh;
    field_open("simplified", '{');
    field_count("vertices", "simplified", "%s vertices", mesh->vertex_count);
    field_count("triangles", NULL, ", %s triangles", mesh->triangle_count);
    field_count("triangles_before", NULL, " of %s", made->before);
    field_number("error", NULL, ", moved by up to about %.3g", made->error);
    field_close('{');
}

void simplify_free(tml_context *tml, simplified *made)
{
    const tml_mesh *m = &made->mesh;
    struct {
        const void *data;
        uint64_t size;
    } arrays[] = {{m->positions, 12 * m->vertex_count},
                  {m->normals, 12 * m->vertex_count},
                  {m->values, 4 * m->vertex_count},
                  {m->indices, 12 * m->triangle_count},
                  {m->uvs, 8 * m->uv_count},
                  {m->uv_indices, 12 * m->triangle_count}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        tml_free(tml, (void *)(uintptr_t)arrays[i].data, (size_t)arrays[i].size);
    *made = (simplified){0};
}

#ifdef TML_SIMPLIFY
#    include <meshoptimizer.h>

/* Corners that differ in their vertex or texture coordinates, so that seams stay: numbers of both, and of each corner
 * the number of its pair. */
typedef struct wedges {
    uint32_t *corners, *vertices, *uvs, *next, *first;
    uint64_t count, corner_count, vertex_count;
} wedges;

static void *take(tml_context *tml, uint64_t count, size_t size)
{
    return tml_alloc(tml, (size_t)(count ? count : 1) * size);
}

static void give(tml_context *tml, void *memory, uint64_t count, size_t size)
{
    tml_free(tml, memory, (size_t)(count ? count : 1) * size);
}

static void wedges_free(tml_context *tml, wedges *w)
{
    give(tml, w->corners, w->corner_count, 4);
    give(tml, w->vertices, w->corner_count, 4);
    give(tml, w->uvs, w->corner_count, 4);
    give(tml, w->next, w->corner_count, 4);
    give(tml, w->first, w->vertex_count, 4);
}

static bool find_wedges(tml_context *tml, const tml_mesh *mesh, wedges *w)
{
    const uint32_t *indices = mesh->indices;
    *w = (wedges){.corner_count = 3 * mesh->triangle_count, .vertex_count = mesh->vertex_count};
    w->corners = take(tml, w->corner_count, 4);
    w->vertices = take(tml, w->corner_count, 4);
    w->uvs = take(tml, w->corner_count, 4);
    w->next = take(tml, w->corner_count, 4);
    w->first = take(tml, w->vertex_count, 4);
    if (!w->corners || !w->vertices || !w->uvs || !w->next || !w->first)
        return false;
    memset(w->first, 0xff, (size_t)(4 * w->vertex_count));
    for (uint64_t c = 0; c < w->corner_count; c++) {
        uint32_t v = indices[c], uv = mesh->uv_indices ? mesh->uv_indices[c] : 0;
        uint32_t found = w->first[v];
        while (found != UINT32_MAX && w->uvs[found] != uv)
            found = w->next[found];
        if (found == UINT32_MAX) {
            found = (uint32_t)w->count++;
            w->vertices[found] = v;
            w->uvs[found] = uv;
            w->next[found] = w->first[v];
            w->first[v] = found;
        }
        w->corners[c] = found;
    }
    return true;
}

/* Numbers what indices use in ascending order, and renumbers them; numbers: room for all, to be given back. */
static uint64_t number_used(uint32_t *indices, uint64_t count, uint64_t all, uint32_t *numbers)
{
    uint64_t used = 0;
    memset(numbers, 0, (size_t)(4 * all));
    for (uint64_t i = 0; i < count; i++)
        numbers[indices[i]] = 1;
    for (uint64_t i = 0; i < all; i++)
        numbers[i] = numbers[i] ? (uint32_t)used++ : UINT32_MAX;
    for (uint64_t i = 0; i < count; i++)
        indices[i] = numbers[indices[i]];
    return used;
}

/* Rows of those that have a number; NULL in, NULL out. */
static float *gather(tml_context *tml, const float *rows, uint32_t width, uint64_t all,
                     const uint32_t *numbers, uint64_t used, bool *is_good)
{
    float *out = rows ? tml_alloc(tml, (size_t)(used * width * sizeof *out)) : NULL;
    *is_good = *is_good && (out || !rows || used == 0);
    for (uint64_t i = 0; out && i < all; i++)
        if (numbers[i] != UINT32_MAX)
            memcpy(out + (uint64_t)numbers[i] * width, rows + i * width, width * sizeof *out);
    return out;
}

/* The mesh of the corners that are left: count of them. */
static bool build(tml_context *tml, const tml_mesh *mesh, const wedges *w, const uint32_t *corners,
                  uint64_t count, simplified *out)
{
    tml_mesh *made = &out->mesh;
    bool has_uvs = mesh->uvs && mesh->uv_indices;
    uint64_t room = mesh->vertex_count > mesh->uv_count ? mesh->vertex_count : mesh->uv_count;
    uint32_t *numbers = take(tml, room, 4);
    uint32_t *indices = tml_alloc(tml, (size_t)(4 * count));
    uint32_t *uv_indices = has_uvs ? tml_alloc(tml, (size_t)(4 * count)) : NULL;
    bool is_good = numbers && (indices || !count) && (uv_indices || !has_uvs || !count);
    *made = *mesh;
    made->indices = indices;
    made->uv_indices = uv_indices;
    made->triangle_count = count / 3;
    made->vertex_count = made->uv_count = 0;
    made->positions = made->normals = made->values = made->uvs = NULL;
    for (uint64_t c = 0; is_good && c < count; c++) {
        indices[c] = w->vertices[corners[c]];
        if (has_uvs)
            uv_indices[c] = w->uvs[corners[c]];
    }
    if (is_good && has_uvs) {
        made->uv_count = number_used(uv_indices, count, mesh->uv_count, numbers);
        made->uvs = gather(tml, mesh->uvs, 2, mesh->uv_count, numbers, made->uv_count, &is_good);
    }
    if (is_good) {
        uint64_t all = mesh->vertex_count, used = number_used(indices, count, all, numbers);
        made->vertex_count = used;
        made->positions = gather(tml, mesh->positions, 3, all, numbers, used, &is_good);
        made->normals = gather(tml, mesh->normals, 3, all, numbers, used, &is_good);
        made->values = gather(tml, mesh->values, 1, all, numbers, used, &is_good);
        if (mesh->uvs && !has_uvs) {
            made->uvs = gather(tml, mesh->uvs, 2, all, numbers, used, &is_good);
            made->uv_count = used;
        }
    }
    give(tml, numbers, room, 4);
    return is_good;
}

tml_status simplify_mesh(tml_context *tml, const simplify_goal *goal, const tml_mesh *mesh,
                         simplified *out)
{
    *out = (simplified){.before = mesh->triangle_count};
    if (!mesh->indices || mesh->indices64 || mesh->triangle_count > UINT32_MAX / 3)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "simplify: the mesh needs indices of 32 bits, and less than %u triangles",
                         UINT32_MAX / 3);
    if (!tml_progress(tml, "simplify", 0))
        return tml_error(tml, TML_ERROR_CANCELLED, "cancelled");
    uint64_t corner_count = 3 * mesh->triangle_count;
    uint64_t target =
        goal->triangles ? goal->triangles : (uint64_t)(goal->ratio * (double)mesh->triangle_count);
    wedges w;
    bool is_good = find_wedges(tml, mesh, &w);
    float *positions = take(tml, w.count, 12), error = 0;
    uint32_t *corners = take(tml, corner_count, 4);
    is_good = is_good && positions && corners;
    for (uint64_t i = 0; is_good && i < w.count; i++)
        memcpy(positions + 3 * i, mesh->positions + 3 * (uint64_t)w.vertices[i], 12);
    uint64_t left = 0;
    if (is_good && corner_count) {
        left = meshopt_simplify(corners, w.corners, corner_count, positions, w.count, 12,
                                (size_t)(3 * target), FLT_MAX, 0, &error);
        out->size = (double)meshopt_simplifyScale(positions, w.count, 12);
        out->error = (double)error * out->size;
    }
    is_good = is_good && build(tml, mesh, &w, corners, left, out);
    give(tml, corners, corner_count, 4);
    give(tml, positions, w.count, 12);
    wedges_free(tml, &w);
    if (is_good)
        return TML_OK;
    simplify_free(tml, out);
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "simplify: no memory for %llu triangles",
                     (unsigned long long)mesh->triangle_count);
}

#else

tml_status simplify_mesh(tml_context *tml, const simplify_goal *goal, const tml_mesh *mesh,
                         simplified *out)
{
    (void)goal, (void)mesh;
    *out = (simplified){0};
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "--simplify: this program was built without meshoptimizer (TML_SIMPLIFY)");
}

#endif
