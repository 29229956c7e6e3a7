/* Collapses short edges; the slivers of a marched mesh have one each. A vertex's corners form a
 * circle; merging two vertices joins their circles.
 *
 * An edge is collapsed only if the mesh stays a manifold (the link condition), no triangle around
 * it turns by more than 60 degrees, and the inverses of the triangles' shapes do not sum to more.
 * The shortest edges go first, in four rounds of growing length; within a round, the order of the
 * triangles decides. So the result is always the same bytes. The host does this for every engine.
 *
 * After: Dey, Edelsbrunner, Guha, Nekhayev: Topology preserving edge contraction. 1999. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "mesh/mesh_sweep.h"

/* Below the shape sliver (shape_of), a triangle's normal may be rounding error only. */
static const double sliver = 0.03, least_shape = 1e-6;

enum { ROUNDS = 4, MAX_RING = 32 };
#define NONE UINT32_MAX

typedef struct collapse {
    tml_mesh *mesh;
    uint32_t *next;   /* per corner: the next corner of its vertex, in a circle */
    uint32_t *first;  /* per vertex: one of its corners, or NONE */
    uint32_t *merged; /* per vertex: how many vertices it was made of */
    mesh_bits kept;   /* triangles */
} collapse;

/* The triangles around a vertex: triangle i is (the vertex, from[i], to[i]). */
typedef struct ring {
    uint32_t vertex, count;
    uint32_t corners[MAX_RING], from[MAX_RING], to[MAX_RING];
} ring;

static uint32_t vertex_at(const collapse *c, uint32_t corner)
{
    return (uint32_t)mesh_vertex_at(c->mesh, corner);
}

static const float *position_of(const collapse *c, uint32_t vertex)
{
    return c->mesh->positions + 3 * (size_t)vertex;
}

static uint32_t corner_after(uint32_t corner, uint32_t steps)
{
    return corner / 3 * 3 + (corner % 3 + steps) % 3;
}

/* Finds a vertex's ring. False: its triangles are not one closed fan, or exceed MAX_RING. */
static bool find_ring(const collapse *c, uint32_t vertex, ring *out)
{
    *out = (ring){.vertex = vertex};
    uint32_t start = c->first[vertex], corner = start;
    if (start == NONE)
        return false;
    do {
        if (bits_get(&c->kept, corner / 3)) {
            if (out->count == MAX_RING)
                return false;
            out->corners[out->count] = corner;
            out->from[out->count] = vertex_at(c, corner_after(corner, 1));
            out->to[out->count++] = vertex_at(c, corner_after(corner, 2));
        }
        corner = c->next[corner];
    } while (corner != start);
    /* One triangle begins at each neighbour. Following them must visit all. */
    uint32_t at = 0, steps = 0;
    do {
        uint32_t found = NONE;
        for (uint32_t i = 0; i < out->count; i++)
            if (out->from[i] == out->to[at]) {
                if (found != NONE)
                    return false;
                found = i;
            }
        if (found == NONE || out->from[at] == vertex || out->from[at] == out->to[at])
            return false;
        at = found;
        steps++;
    } while (at != 0 && steps <= out->count);
    return steps == out->count && out->count >= 3;
}

static bool has(const uint32_t *vertices, uint32_t count, uint32_t vertex)
{
    for (uint32_t i = 0; i < count; i++)
        if (vertices[i] == vertex)
            return true;
    return false;
}

/* Counts the triangles at a vertex, up to most. */
static uint32_t count_corners(const collapse *c, uint32_t vertex, uint32_t most)
{
    uint32_t count = 0, corner = c->first[vertex];
    do {
        count += bits_get(&c->kept, corner / 3);
        corner = c->next[corner];
    } while (corner != c->first[vertex] && count < most);
    return count;
}

/* Returns whether a and b have exactly two common neighbours, which keep at least three triangles
 * each, as does the merged vertex. */
static bool is_topology_kept(const collapse *c, const ring *a, const ring *b)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (has(b->from, b->count, a->from[i]) &&
            (++common > 2 || count_corners(c, a->from[i], 4) < 4))
            return false;
    return common == 2 && a->count + b->count >= 7;
}

/* Computes a triangle's normal, whose length is twice the area. Returns the triangle's shape: that
 * length divided by the sum of the edges' squared lengths, 0.29 if equilateral. */
static double shape_of(const float *p, const float *q, const float *r, double normal[3])
{
    double u[3], v[3], squares = 0;
    for (int i = 0; i < 3; i++) {
        u[i] = (double)q[i] - (double)p[i];
        v[i] = (double)r[i] - (double)p[i];
        squares += u[i] * u[i] + v[i] * v[i] + (u[i] - v[i]) * (u[i] - v[i]);
    }
    normal[0] = u[1] * v[2] - u[2] * v[1];
    normal[1] = u[2] * v[0] - u[0] * v[2];
    normal[2] = u[0] * v[1] - u[1] * v[0];
    return squares > 0
               ? sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) /
                     squares
               : 0;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Adds the normals around a vertex to sum. */
static void add_normals(const collapse *c, const ring *r, double sum[3])
{
    for (uint32_t i = 0; i < r->count; i++) {
        double normal[3];
        (void)shape_of(position_of(c, r->vertex), position_of(c, r->from[i]),
                       position_of(c, r->to[i]), normal);
        for (int a = 0; a < 3; a++)
            sum[a] += normal[a];
    }
}

/* Returns whether the triangles of r without the vertex other turn by at most 60 degrees if their
 * vertex moves to at. mean: compared with in place of a sliver's normal. Adds the inverses of
 * shapes to before and, without triangles of other, to after. */
static bool fits(const collapse *c, const ring *r, uint32_t other, const float at[3],
                 const double mean[3], double *before, double *after)
{
    for (uint32_t i = 0; i < r->count; i++) {
        double old[3], new[3];
        const float *q = position_of(c, r->from[i]), *s = position_of(c, r->to[i]);
        const double shape = shape_of(position_of(c, r->vertex), q, s, old);
        *before += 1.0 / (shape + least_shape);
        if (r->from[i] == other || r->to[i] == other)
            continue;
        *after += 1.0 / (shape_of(at, q, s, new) + least_shape);
        const double *was = shape < sliver ? mean : old;
        const double cosine = dot(was, new);
        if (!(cosine > 0 && cosine * cosine >= 0.25 * dot(was, was) * dot(new, new)))
            return false;
    }
    return true;
}

/* Replaces row a by the mean of rows a and b, in which share is the weight of b. */
static void merge_rows(float *rows, size_t width, uint32_t a, uint32_t b, float share)
{
    for (size_t i = 0; i < width && rows; i++)
        rows[width * a + i] += share * (rows[width * b + i] - rows[width * a + i]);
}

static void merge_vertices(collapse *c, const ring *a, const ring *b, const float at[3],
                           float share)
{
    tml_mesh *mesh = c->mesh;
    const uint32_t kept = a->vertex, gone = b->vertex;
    memcpy(mesh->positions + 3 * (size_t)kept, at, 3 * sizeof *at);
    merge_rows(mesh->normals, 3, kept, gone, share);
    merge_rows(mesh->values, 1, kept, gone, share);
    if (!mesh->uv_indices)
        merge_rows(mesh->uvs, 2, kept, gone, share);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        merge_rows(mesh->attributes[i].data, mesh->attributes[i].components, kept, gone, share);
    float *n = mesh->normals ? mesh->normals + 3 * (size_t)kept : NULL;
    const float length = n ? sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) : 0;
    for (int i = 0; i < 3 && length > 0; i++)
        n[i] /= length;
    c->merged[kept] += c->merged[gone];
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t corner = b->corners[i];
        if (b->from[i] == kept || b->to[i] == kept)
            bits_clear(&c->kept, corner / 3);
        if (mesh->indices64)
            ((uint64_t *)mesh->indices)[corner] = kept;
        else
            ((uint32_t *)mesh->indices)[corner] = kept;
    }
    const uint32_t x = c->first[kept], y = c->first[gone], after = c->next[x];
    c->next[x] = c->next[y];
    c->next[y] = after;
    c->first[gone] = NONE;
}

static bool collapse_edge(collapse *c, uint32_t corner)
{
    ring a, b;
    float at[3];
    double before = 0.0, after = 0.0, mean[3] = {0, 0, 0};
    if (!find_ring(c, vertex_at(c, corner), &a) ||
        !find_ring(c, vertex_at(c, corner_after(corner, 1)), &b) || !is_topology_kept(c, &a, &b))
        return false;
    const float share =
        (float)c->merged[b.vertex] / (float)(c->merged[a.vertex] + c->merged[b.vertex]);
    for (int i = 0; i < 3; i++) {
        const float p = position_of(c, a.vertex)[i], q = position_of(c, b.vertex)[i];
        at[i] = p + share * (q - p);
    }
    add_normals(c, &a, mean);
    add_normals(c, &b, mean);
    if (!fits(c, &a, b.vertex, at, mean, &before, &after) ||
        !fits(c, &b, a.vertex, at, mean, &before, &after) || after > before)
        return false;
    merge_vertices(c, &a, &b, at, share);
    return true;
}

/* Returns the first corner of the triangle's shortest edge. square: receives the squared length. */
static uint32_t shortest_edge(const collapse *c, uint32_t triangle, double *square)
{
    uint32_t shortest = 3 * triangle;
    *square = INFINITY;
    for (uint32_t corner = 3 * triangle; corner < 3 * triangle + 3; corner++) {
        const float *p = position_of(c, vertex_at(c, corner));
        const float *q = position_of(c, vertex_at(c, corner_after(corner, 1)));
        double sum = 0;
        for (int i = 0; i < 3; i++)
            sum += ((double)q[i] - (double)p[i]) * ((double)q[i] - (double)p[i]);
        if (sum < *square) {
            *square = sum;
            shortest = corner;
        }
    }
    return shortest;
}

static tml_status collapse_all(tml_context *tml, collapse *c, double length)
{
    const uint32_t triangles = (uint32_t)c->mesh->triangle_count;
    for (int round = 1; round <= ROUNDS; round++) {
        const double limit = length * round / ROUNDS;
        for (uint32_t t = 0; t < triangles; t++) {
            double square;
            if (t % 4096 == 0 && tml_is_cancelled(tml))
                return tml_error(tml, TML_ERROR_CANCELLED,
                                 "tml_mesh_collapse: cancelled; the mesh is undefined");
            if (!bits_get(&c->kept, t))
                continue;
            const uint32_t corner = shortest_edge(c, t, &square);
            if (square < limit * limit)
                (void)collapse_edge(c, corner);
        }
    }
    return TML_OK;
}

/* Links the corners of each vertex to a circle. */
static void link_corners(collapse *c)
{
    const tml_mesh *mesh = c->mesh;
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        c->first[v] = NONE;
        c->merged[v] = 1;
    }
    for (uint32_t corner = 0; corner < 3 * (uint32_t)mesh->triangle_count; corner++) {
        uint32_t *first = &c->first[vertex_at(c, corner)];
        if (*first == NONE)
            *first = c->next[corner] = corner;
        c->next[corner] = c->next[*first];
        c->next[*first] = corner;
    }
}

tml_status mesh_collapse(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                         double length)
{
    const uint64_t corners = 3 * mesh->triangle_count, vertices = mesh->vertex_count;
    if (mesh->triangle_count >= NONE / 3 || vertices >= NONE)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_mesh_collapse: %llu triangles and %llu vertices, needs fewer than "
                         "2^32 / 3 and 2^32",
                         (unsigned long long)mesh->triangle_count, (unsigned long long)vertices);
    if (mesh->triangle_count == 0)
        return TML_OK;
    collapse c = {.mesh = mesh,
                  .next = tml_alloc_array(tml, corners, sizeof *c.next),
                  .first = tml_alloc_array(tml, vertices, sizeof *c.first),
                  .merged = tml_alloc_array(tml, vertices, sizeof *c.merged)};
    tml_status status = bits_create(tml, mesh->triangle_count, false, &c.kept);
    if (status == TML_OK && (!c.next || !c.first || !c.merged))
        status =
            tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_mesh_collapse: no memory for %llu bytes",
                      (unsigned long long)(4 * corners + 8 * vertices));
    if (status == TML_OK) {
        bits_set_all(&c.kept);
        link_corners(&c);
        status = collapse_all(tml, &c, length);
    }
    tml_free(tml, c.next, corners * sizeof *c.next);
    tml_free(tml, c.first, vertices * sizeof *c.first);
    tml_free(tml, c.merged, vertices * sizeof *c.merged);
    TML_THEN(status, mesh_keep(tml, mesh, triangles, &c.kept));
    bits_destroy(tml, &c.kept);
    return status;
}

static tml_status mesh_collapse_run(tml_context *tml, tml_mesh *mesh, double length)
{
    if (!(length > 0.0 && isfinite(length)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_mesh_collapse: length is %g, needs a finite number above 0", length);
    tml_mesh_part whole, *parts = mesh->parts;
    tml_status status = mesh_check(tml, "tml_mesh_collapse", mesh, &whole);
    TML_THEN(status, mesh_collapse(tml, mesh, NULL, length));
    mesh->parts = parts;
    return status;
}

tml_status tml_mesh_collapse(tml_context *tml, tml_mesh *mesh, double length)
{
    tml_status status = TML_ENTER(tml, mesh);
    return status ? status : tml_leave(tml, mesh_collapse_run(tml, mesh, length));
}
