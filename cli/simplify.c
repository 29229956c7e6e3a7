/* --simplify: edge collapse with quadric error metrics, by meshoptimizer. After: Garland, Heckbert:
 * Surface Simplification Using Quadric Error Metrics. 1997. */
#include "simplify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/meshes.h>
#include <trommel/surface.h>

#include "cli.h"
#include "report/fields.h"

const char *simplify_parse(const char *text, void *member)
{
    simplify_goal goal = {.error = 0};
    double number;
    char share[32]; /* the number in "10%" */
    const size_t length = strlen(text);
    const bool is_percentage = length > 1 && length <= sizeof share && text[length - 1] == '%';
    snprintf(share, sizeof share, "%.*s", is_percentage ? (int)length - 1 : 0, text);
    if (is_percentage && (!opt_number(share, &number) || number <= 0 || number >= 100))
        return "a percentage of the triangles above 0 and below 100, such as 10%";
    if (is_percentage) {
        goal.count.ratio = number / 100;
        memcpy(member, &goal.count, sizeof goal.count);
        return NULL;
    }
    if (!opt_number(text, &number) || number <= 0 || number > UINT32_MAX ||
        (number >= 1 && number != floor(number)))
        return "a share of the triangles such as 0.1 or 10%, or a whole number of them such as "
               "50000";
    if (number < 1)
        goal.count.ratio = number;
    else
        goal.count.triangles = (uint64_t)number;
    memcpy(member, &goal.count, sizeof goal.count);
    return NULL;
}

void simplify_tell(const simplified *made, const char *unit)
{
    const tml_mesh *mesh = &made->mesh;
    field_open("simplified", '{');
    field_count("vertices", "simplified", "%s vertices", mesh->vertex_count);
    field_count("triangles", NULL, ", %s triangles", mesh->triangle_count);
    field_count("triangles_before", NULL, " of %s", made->before);
    field_number("error", NULL, ", moved by about %.3g", made->error);
    field_line(NULL, "%s", unit);
    if (made->is_checked) {
        const simplify_checks *c = &made->checks;
        field_number("mean_distance", "check", "vertices moved by %.3g in the mean", c->mean);
        field_number("farthest", NULL, ", %.3g at most", c->farthest);
        field_line(NULL, "%s", unit);
        field_count("pairs", NULL, "; %s pair(s) of triangles meet", c->pairs);
        field_count("boundary_edges", NULL, ", %s boundary edge(s)", c->boundary_edges);
        field_count("nonmanifold_edges", NULL, ", %s edge(s) of more than two triangles",
                    c->nonmanifold_edges);
    }
    field_close('{');
}

void simplify_free(tml_context *tml, simplified *made)
{
    const tml_mesh *m = &made->mesh;
    struct {
        void *data;
        uint64_t size;
    } arrays[] = {{m->positions, 12 * m->vertex_count},
                  {m->normals, 12 * m->vertex_count},
                  {m->values, 4 * m->vertex_count},
                  {m->indices, 12 * m->triangle_count},
                  {m->uvs, 8 * m->uv_count},
                  {m->uv_indices, 12 * m->triangle_count}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        tml_free(tml, arrays[i].data, (size_t)arrays[i].size);
    for (uint32_t i = 0; i < m->attribute_count; i++)
        tml_free(tml, m->attributes[i].data,
                 (size_t)(4 * m->attributes[i].components * m->vertex_count));
    tml_free(tml, m->face_labels,
             (size_t)(2 * tml_type_size(m->face_label_type) * m->triangle_count));
    *made = (simplified){0};
}

#ifdef TML_SIMPLIFY
#    include <meshoptimizer.h>

/* A wedge is all corners that agree in vertex, texture coordinates and labels. meshoptimizer gets
 * wedges as its vertices, so that seams and borders between labels are kept.
 * corners: wedge of each corner. of: a corner of each wedge. next, first: list of each vertex's
 * wedges.
 * A vertex of more than two wedges is never moved. */
typedef struct wedges {
    uint32_t *corners, *of, *next, *first;
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
    give(tml, w->of, w->corner_count, 4);
    give(tml, w->next, w->corner_count, 4);
    give(tml, w->first, w->vertex_count, 4);
}

static bool are_alike(const tml_mesh *mesh, uint32_t a, uint32_t b)
{
    const uint8_t *labels = mesh->face_labels;
    size_t row = 2 * tml_type_size(mesh->face_label_type);
    return (!mesh->uv_indices || mesh->uv_indices[a] == mesh->uv_indices[b]) &&
           (!labels || memcmp(labels + a / 3 * row, labels + b / 3 * row, row) == 0);
}

static bool find_wedges(tml_context *tml, const tml_mesh *mesh, wedges *w)
{
    const uint32_t *indices = mesh->indices;
    *w = (wedges){.corner_count = 3 * mesh->triangle_count, .vertex_count = mesh->vertex_count};
    w->corners = take(tml, w->corner_count, 4);
    w->of = take(tml, w->corner_count, 4);
    w->next = take(tml, w->corner_count, 4);
    w->first = take(tml, w->vertex_count, 4);
    if (!w->corners || !w->of || !w->next || !w->first)
        return false;
    memset(w->first, 0xff, (size_t)(4 * w->vertex_count));
    for (uint32_t c = 0; c < w->corner_count; c++) {
        uint32_t v = indices[c];
        uint32_t found = w->first[v];
        while (found != UINT32_MAX && !are_alike(mesh, w->of[found], c))
            found = w->next[found];
        if (found == UINT32_MAX) {
            found = (uint32_t)w->count++;
            w->of[found] = c;
            w->next[found] = w->first[v];
            w->first[v] = found;
        }
        w->corners[c] = found;
    }
    return true;
}

/* Renumbers indices to the numbers 0, 1, ... of those that are used, in ascending order. numbers:
 * receives the new number of each of `all` old ones, or UINT32_MAX. Returns how many are used. */
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

/* Copies the rows that have a number. Returns NULL if rows is NULL. */
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

/* Builds the mesh from the remaining corners, `count` of them. */
static bool build(tml_context *tml, const tml_mesh *mesh, const wedges *w, const uint32_t *corners,
                  uint64_t count, simplified *out)
{
    tml_mesh *made = &out->mesh;
    bool has_uvs = mesh->uvs && mesh->uv_indices;
    uint64_t room = mesh->vertex_count > mesh->uv_count ? mesh->vertex_count : mesh->uv_count;
    uint32_t *numbers = take(tml, room, 4);
    uint32_t *indices = tml_alloc(tml, (size_t)(4 * count));
    uint32_t *uv_indices = has_uvs ? tml_alloc(tml, (size_t)(4 * count)) : NULL;
    size_t row = mesh->face_labels ? 2 * tml_type_size(mesh->face_label_type) : 0;
    uint8_t *labels = row ? tml_alloc(tml, (size_t)(row * (count / 3))) : NULL;
    bool is_good = numbers && (!count || (indices && (uv_indices || !has_uvs) && (labels || !row)));
    *made = *mesh;
    made->indices = indices;
    made->uv_indices = uv_indices;
    made->face_labels = labels;
    made->triangle_count = count / 3;
    made->vertex_count = made->uv_count = 0;
    made->positions = made->normals = made->values = made->uvs = NULL;
    made->attributes = out->attributes;
    for (uint32_t i = 0; i < mesh->attribute_count; i++) {
        out->attributes[i] = mesh->attributes[i];
        out->attributes[i].data = NULL;
    }
    for (uint64_t c = 0; is_good && c < count; c++) {
        const uint32_t of = w->of[corners[c]];
        indices[c] = ((const uint32_t *)mesh->indices)[of];
        if (has_uvs)
            uv_indices[c] = mesh->uv_indices[of];
        if (row && c % 3 == 0)
            memcpy(labels + c / 3 * row, (const uint8_t *)mesh->face_labels + of / 3 * row, row);
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
        for (uint32_t i = 0; i < mesh->attribute_count; i++)
            out->attributes[i].data =
                gather(tml, mesh->attributes[i].data, mesh->attributes[i].components, all, numbers,
                       used, &is_good);
        if (mesh->uvs && !has_uvs) {
            made->uvs = gather(tml, mesh->uvs, 2, all, numbers, used, &is_good);
            made->uv_count = used;
        }
    }
    give(tml, numbers, room, 4);
    return is_good;
}

/* Computes how far vertices lie from the simplified mesh, and how many of its triangles meet. */
static tml_status check(tml_context *tml, const tml_mesh *before, simplified *made)
{
    enum { STRETCH = 1 << 20 }; /* points per call */
    const tml_mesh *mesh = &made->mesh;
    simplify_checks *c = &made->checks;
    tml_mesh_buffers buffers = {0};
    tml_buffer points = {0};
    tml_mesh_stats stats = {0};
    tml_tree *tree = NULL;
    float *distances = take(tml, STRETCH, 4);
    made->is_checked = true;
    tml_status status = cli_lend(tml, TML_VEC(TML_F32, 3), mesh->vertex_count, mesh->positions,
                                 "simplified", &buffers.positions);
    TML_THEN(status, cli_lend(tml, TML_VEC(TML_U32, 3), mesh->triangle_count, mesh->indices,
                              "simplified", &buffers.indices));
    if (status == TML_OK && !distances)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "--check: no memory for distances");
    TML_THEN(status, tml_mesh_examine(tml, &buffers, false, &stats));
    c->boundary_edges = stats.boundary_edges;
    c->nonmanifold_edges = stats.nonmanifold_edges;
    const tml_tree_desc desc = {
        .vertices = buffers.positions, .indices = buffers.indices, .skip_broken = true};
    TML_THEN(status, tml_tree_create(tml, &desc, &tree));
    tml_collide_result met = {0};
    TML_THEN(
        status,
        tml_collide(tml, &(tml_collide_desc){.a = tree, .want = TML_COLLIDE_WANT_COUNT}, &met));
    c->pairs = met.count;
    tml_collide_free(tml, &met);
    double sum = 0;
    uint64_t counted = 0;
    for (uint64_t first = 0; first < before->vertex_count && status == TML_OK; first += STRETCH) {
        uint64_t count = before->vertex_count - first;
        count = count < STRETCH ? count : STRETCH;
        tml_buffer out = {0};
        status = cli_lend(tml, TML_VEC(TML_F32, 3), count, before->positions + 3 * first,
                          "vertices", &points);
        TML_THEN(status, cli_make_buffer(tml, TML_F32, count, NULL, "distances", &out));
        TML_THEN(status,
                 tml_tree_nearest(tml, &(tml_tree_nearest_desc){
                                           .tree = tree, .points = points, .distances = out}));
        TML_THEN(status, tml_buffer_read(tml, out, distances));
        for (uint64_t i = 0; i < count && status == TML_OK; i++) {
            if (!isfinite(distances[i])) /* the vertex is not finite */
                continue;
            sum += (double)distances[i];
            c->farthest = fmax(c->farthest, (double)distances[i]);
            counted++;
        }
        tml_buffer_destroy(tml, out);
        tml_buffer_destroy(tml, points);
        points = (tml_buffer){0};
    }
    c->mean = counted ? sum / (double)counted : 0;
    tml_tree_destroy(tml, tree);
    tml_buffer_destroy(tml, buffers.indices);
    tml_buffer_destroy(tml, buffers.positions);
    give(tml, distances, STRETCH, 4);
    return status;
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
    uint64_t target = goal->count.triangles ? goal->count.triangles
                      : goal->count.ratio > 0
                          ? (uint64_t)(goal->count.ratio * (double)mesh->triangle_count)
                          : 0;
    target = target < mesh->triangle_count ? target : mesh->triangle_count;
    wedges w;
    bool is_good = find_wedges(tml, mesh, &w);
    float *positions = take(tml, w.count, 12), error = 0;
    uint32_t *corners = take(tml, corner_count, 4);
    is_good = is_good && positions && corners;
    for (uint64_t i = 0; is_good && i < w.count; i++)
        memcpy(positions + 3 * i,
               mesh->positions + 3 * (uint64_t)((const uint32_t *)mesh->indices)[w.of[i]], 12);
    uint64_t left = 0;
    if (is_good && corner_count) {
        /* meshoptimizer's errors are relative to the mesh's longest side. */
        double size = (double)meshopt_simplifyScale(positions, w.count, 12);
        double most = goal->error > 0 ? goal->error / size : INFINITY;
        left =
            meshopt_simplify(corners, w.corners, corner_count, positions, w.count, 12,
                             (size_t)(3 * target), (float)fmin(most, (double)FLT_MAX), 0, &error);
        out->error = (double)error * size;
    }
    is_good = is_good && build(tml, mesh, &w, corners, left, out);
    give(tml, corners, corner_count, 4);
    give(tml, positions, w.count, 12);
    wedges_free(tml, &w);
    tml_status status = is_good ? tml_mesh_mend(tml, &out->mesh) : TML_OK;
    if (is_good && status == TML_OK && goal->check)
        status = check(tml, mesh, out);
    if (is_good)
        return status; /* the caller frees out */
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
