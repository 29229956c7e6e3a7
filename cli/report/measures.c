/* Area and volume are sums over triangles. A mesh that encloses something uses each edge as often
 * in one direction as in the other, so its directed edges and their reverses are the same multiset.
 * The sum of hashes of the directed edges, minus that of the reverses, is then 0; for any other
 * mesh it is 0 with a probability of 2^-64. So neither a table of edges nor an order is
 * required. */
#include "report/measures.h"

#include <math.h>
#include <string.h>

#include <trommel/extend.h>

/* At most so many triangles, of about 20 ns each, are measured, so that the time is not
 * noticeable. */
enum { MOST = 1 << 20 };

struct waiting_triangle {
    uint64_t vertices[3];
    float positions[3][3];
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* By place, where corners have no numbers. */
static uint64_t key_of(const float p[3])
{
    float place[3];
    uint32_t bits[3];
    for (int k = 0; k < 3; k++)
        place[k] = p[k] + 0.0f; /* -0 is 0 */
    memcpy(bits, place, sizeof bits);
    return mix(bits[0] * 0x9e3779b97f4a7c15u + bits[1] * 0x632be59bd9b4e019u +
               bits[2] * 0xd6e8feb86659fd93u);
}

/* Its reverse has the negative. */
static uint64_t hash_of(uint64_t a, uint64_t b)
{
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    const uint64_t hash = mix(low * 0x9e3779b97f4a7c15u + high * 0x632be59bd9b4e019u);
    return a == b ? 0 : a < b ? hash : -hash;
}

static void add_triangle(measures *m, const uint64_t keys[3], const float *const p[3])
{
    double at[3][3], u[3], v[3], normal[3];
    if (m->triangles++ == 0)
        for (int k = 0; k < 3; k++)
            m->base[k] = (double)p[0][k];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            at[c][k] = (double)p[c][k] - m->base[k];
    for (int k = 0; k < 3; k++) {
        u[k] = at[1][k] - at[0][k];
        v[k] = at[2][k] - at[0][k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = u[i] * v[j] - u[j] * v[i];
    }
    m->area += 0.5 * sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    m->six_volumes += at[0][0] * normal[0] + at[0][1] * normal[1] + at[0][2] * normal[2];
    for (int c = 0; c < 3; c++)
        m->balance += hash_of(keys[c], keys[(c + 1) % 3]);
}

static void wait_for_next(tml_context *tml, measures *m, const waiting_triangle *triangle)
{
    if (m->waiting_count == m->waiting_room) {
        const uint64_t room = m->waiting_room ? 2 * m->waiting_room : 1024;
        waiting_triangle *more = tml_alloc(tml, (size_t)room * sizeof *more);
        if (!more) {
            m->is_off = true;
            return;
        }
        if (m->waiting)
            memcpy(more, m->waiting, (size_t)m->waiting_count * sizeof *more);
        tml_free(tml, m->waiting, (size_t)m->waiting_room * sizeof *more);
        m->waiting = more;
        m->waiting_room = room;
    }
    m->waiting[m->waiting_count++] = *triangle;
}

static uint64_t index_at(const tml_mesh *mesh, uint64_t i)
{
    return mesh->indices64 ? ((const uint64_t *)mesh->indices)[i]
                           : ((const uint32_t *)mesh->indices)[i];
}

/* Adds a triangle that waited, if the piece has its other vertices. */
static bool complete(measures *m, const tml_mesh *piece, const waiting_triangle *triangle)
{
    const float *corners[3];
    for (int c = 0; c < 3; c++) {
        const uint64_t v = triangle->vertices[c];
        if (v >= m->vertices + piece->vertex_count)
            return false;
        corners[c] =
            v >= m->vertices ? piece->positions + 3 * (v - m->vertices) : triangle->positions[c];
    }
    add_triangle(m, triangle->vertices, corners);
    return true;
}

/* Puts a triangle aside that has a vertex of the next piece. */
static void put_aside(tml_context *tml, measures *m, const tml_mesh *piece,
                      const uint64_t vertices[3])
{
    waiting_triangle triangle = {.vertices = {vertices[0], vertices[1], vertices[2]}};
    for (int c = 0; c < 3; c++)
        if (vertices[c] - m->vertices < piece->vertex_count)
            memcpy(triangle.positions[c], piece->positions + 3 * (vertices[c] - m->vertices),
                   3 * sizeof(float));
    wait_for_next(tml, m, &triangle);
}

static void add_soup(measures *m, const tml_mesh *piece)
{
    for (uint64_t t = 0; t < piece->triangle_count; t++) {
        const float *p = piece->positions + 9 * t;
        const float *const corners[3] = {p, p + 3, p + 6};
        const uint64_t keys[3] = {key_of(p), key_of(p + 3), key_of(p + 6)};
        add_triangle(m, keys, corners);
    }
}

static void add_indexed(tml_context *tml, measures *m, const tml_mesh *piece)
{
    const uint64_t waiting = m->waiting_count;
    m->waiting_count = 0;
    for (uint64_t i = 0; i < waiting && !m->is_off; i++)
        if (!complete(m, piece, &m->waiting[i]))
            m->waiting[m->waiting_count++] = m->waiting[i];
    for (uint64_t t = 0; t < piece->triangle_count && !m->is_off; t++) {
        uint64_t vertices[3];
        const float *corners[3];
        bool is_whole = true;
        for (uint64_t c = 0; c < 3; c++) {
            vertices[c] = index_at(piece, 3 * t + c);
            const uint64_t v = vertices[c] - m->vertices;
            is_whole &= v < piece->vertex_count;
            corners[c] = piece->positions + (v < piece->vertex_count ? 3 * v : 0);
        }
        if (is_whole)
            add_triangle(m, vertices, corners);
        else
            put_aside(tml, m, piece, vertices);
    }
    m->vertices += piece->vertex_count;
}

void measures_add(tml_context *tml, measures *m, const tml_mesh *piece)
{
    m->is_off |= piece->quads || piece->triangle_count + m->triangles > MOST;
    if (m->is_off)
        return;
    if (piece->indices)
        add_indexed(tml, m, piece);
    else
        add_soup(m, piece);
}

void measures_end(tml_context *tml, measures *m)
{
    m->is_off |= m->waiting_count > 0;
    tml_free(tml, m->waiting, (size_t)m->waiting_room * sizeof *m->waiting);
    m->waiting = NULL;
    m->waiting_count = m->waiting_room = 0;
}
