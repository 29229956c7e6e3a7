/* tml_mesh_mend: repairs meshes after edge collapse. Some implementations, such as meshoptimizer's,
 * collapse edges by their error alone. They may move three corners onto one line, and do not check
 * the link condition: two vertices may have more neighbours in common than the two across their
 * edge (Dey, Edelsbrunner, Guha, Nekhayev: Topology preserving edge contraction. 1999). Both are
 * rare.
 *
 * A vertex's corners form a circular list, so that an edge's triangles are found from either
 * end. */
#include <math.h>
#include <string.h>

#include <trommel/extend.h>
#include <trommel/meshes.h>

/* least_shape: twice a triangle's area over the square of its longest edge. */
static const double least_shape = 0x1p-20, nudge = 0x1p-10;

enum {
    ROUNDS = 8, /* repeated, since a moved vertex may make its neighbours flat */
    MOST_AT_EDGE = 16,
    GONE = 1,
    CUT = 2, /* already in a pair */
};
#define NONE UINT32_MAX

typedef struct mend {
    tml_mesh *mesh;
    float *positions;
    uint32_t *indices;
    uint8_t *is_gone; /* per triangle: GONE, CUT */
    uint32_t *next;   /* per corner: the next corner at its vertex, in a circle */
    uint32_t *first;  /* per vertex: one of its corners, or NONE */
    uint32_t gone_count;
} mend;

static uint32_t after(uint32_t corner, uint32_t steps)
{
    return corner / 3 * 3 + (corner % 3 + steps) % 3;
}

static void point_of(const mend *m, uint32_t vertex, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (double)m->positions[3 * (size_t)vertex + (size_t)i];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Computes a triangle's normal, whose length is twice its area. Returns whether the triangle is
 * flat. */
static bool normal_of(const mend *m, uint32_t a, uint32_t b, uint32_t c, double out[3])
{
    double p[3], q[3], r[3], u[3], v[3], w[3];
    point_of(m, a, p);
    point_of(m, b, q);
    point_of(m, c, r);
    subtract(q, p, u);
    subtract(r, p, v);
    subtract(r, q, w);
    cross(u, v, out);
    const double longest = fmax(dot(u, u), fmax(dot(v, v), dot(w, w)));
    return !(sqrt(dot(out, out)) > least_shape * longest);
}

/* ---- circles of corners ---------------------------------------------------------------------- */

static void link_corner(mend *m, uint32_t corner)
{
    uint32_t *first = &m->first[m->indices[corner]];
    if (*first == NONE)
        *first = m->next[corner] = corner;
    m->next[corner] = m->next[*first];
    m->next[*first] = corner;
}

static void unlink_corner(mend *m, uint32_t corner)
{
    uint32_t *first = &m->first[m->indices[corner]], before = *first;
    while (m->next[before] != corner)
        before = m->next[before];
    m->next[before] = m->next[corner];
    if (*first == corner)
        *first = before == corner ? NONE : before;
}

static void set_corner(mend *m, uint32_t corner, uint32_t vertex)
{
    unlink_corner(m, corner);
    m->indices[corner] = vertex;
    link_corner(m, corner);
}

static void remove_triangle(mend *m, uint32_t triangle)
{
    for (uint32_t k = 0; k < 3; k++)
        unlink_corner(m, 3 * triangle + k);
    m->is_gone[triangle] = GONE;
    m->gone_count++;
}

/* A triangle at an edge. */
typedef struct edge_use {
    uint32_t corner; /* opposite the edge */
    bool is_up;      /* it runs from the edge's first end to the second */
} edge_use;

/* Finds the triangles at an edge; out gets at most MOST_AT_EDGE of them. Returns their number. */
static uint32_t uses_of(const mend *m, uint32_t a, uint32_t b, edge_use out[MOST_AT_EDGE])
{
    uint32_t count = 0, corner = m->first[a];
    if (corner == NONE)
        return 0;
    do {
        for (uint32_t k = 1; k < 3; k++)
            if (m->indices[after(corner, k)] == b) {
                if (count < MOST_AT_EDGE)
                    out[count] = (edge_use){after(corner, 3 - k), k == 1};
                count++;
            }
        corner = m->next[corner];
    } while (corner != m->first[a]);
    return count;
}

/* ---- triangles without area ------------------------------------------------------------------ */

/* Merges vertex b, which has the position of a, into a. */
static void merge(mend *m, uint32_t a, uint32_t b)
{
    while (m->first[b] != NONE)
        set_corner(m, m->first[b], a);
    for (uint32_t corner = m->first[a], start = corner; corner != NONE;) {
        const uint32_t then = m->next[corner];
        if (m->indices[after(corner, 1)] == a || m->indices[after(corner, 2)] == a) {
            remove_triangle(m, corner / 3);
            start = corner =
                m->first[a]; /* from the beginning, since several of its corners may be gone */
            continue;
        }
        corner = then;
        if (corner == start)
            break;
    }
}

/* Returns whether labels meet at a vertex. Such a vertex is not moved. */
static bool is_where_labels_meet(const mend *m, uint32_t vertex)
{
    const uint8_t *labels = m->mesh->face_labels;
    const size_t row = labels ? 2 * tml_type_size(m->mesh->face_label_type) : 0;
    uint32_t corner = m->first[vertex];
    do {
        if (labels && memcmp(labels + corner / 3 * row, labels + m->first[vertex] / 3 * row, row))
            return true;
        corner = m->next[corner];
    } while (corner != m->first[vertex]);
    return false;
}

/* Moves a corner's vertex off the opposite edge, to the side that gives the triangle the normal of
 * its neighbours. */
static void move_off(mend *m, uint32_t corner)
{
    if (is_where_labels_meet(m, m->indices[corner]))
        return;
    const uint32_t vertex = m->indices[corner];
    double a[3], b[3], along[3], sum[3] = {0, 0, 0}, side[3];
    point_of(m, m->indices[after(corner, 1)], a);
    point_of(m, m->indices[after(corner, 2)], b);
    subtract(b, a, along);
    uint32_t at = m->first[vertex];
    do {
        double normal[3];
        (void)normal_of(m, vertex, m->indices[after(at, 1)], m->indices[after(at, 2)], normal);
        for (int i = 0; i < 3; i++)
            sum[i] += normal[i];
        at = m->next[at];
    } while (at != m->first[vertex]);
    cross(sum, along, side);
    if (!(dot(side, side) > 0)) { /* any direction across the edge */
        const int least = fabs(along[0]) < fabs(along[1])
                              ? (fabs(along[0]) < fabs(along[2]) ? 0 : 2)
                          : fabs(along[1]) < fabs(along[2]) ? 1
                                                            : 2;
        double axis[3] = {0, 0, 0};
        axis[least] = 1;
        cross(axis, along, side);
    }
    const double scale = nudge * sqrt(dot(along, along) / dot(side, side));
    for (size_t i = 0; i < 3 && isfinite(scale); i++)
        m->positions[3 * (size_t)vertex + i] += (float)(scale * side[i]);
}

static bool has_same_corner(const mend *m, uint32_t corner, uint32_t other)
{
    const uint32_t *uvs = m->mesh->uv_indices;
    return !uvs || uvs[corner] == uvs[other];
}

/* Flips the edge opposite a corner, if that gives two triangles that are not flat. */
static bool flip(mend *m, uint32_t corner)
{
    const uint32_t left = after(corner, 1), right = after(corner, 2);
    const uint32_t a = m->indices[left], b = m->indices[right], c = m->indices[corner];
    edge_use uses[MOST_AT_EDGE];
    if (uses_of(m, a, b, uses) != 2 || uses[0].is_up == uses[1].is_up)
        return false;
    const uint32_t across = uses[0].corner == corner ? uses[1].corner : uses[0].corner;
    const uint32_t d = m->indices[across]; /* the other triangle is d, b, a */
    double was[3], one[3], two[3];
    (void)normal_of(m, d, b, a, was);
    if (d == c || uses_of(m, c, d, uses) || normal_of(m, c, a, d, one) ||
        normal_of(m, d, b, c, two) || !(dot(was, one) > 0) || !(dot(was, two) > 0) ||
        !has_same_corner(m, left, after(across, 2)) || !has_same_corner(m, right, after(across, 1)))
        return false;
    /* c, a, b becomes c, a, d; d, b, a becomes d, b, c. */
    if (m->mesh->uv_indices) {
        uint32_t *uvs = m->mesh->uv_indices;
        uvs[right] = uvs[across];
        uvs[after(across, 2)] = uvs[corner];
    }
    if (m->mesh->face_labels) {
        const size_t row = 2 * tml_type_size(m->mesh->face_label_type);
        uint8_t *labels = m->mesh->face_labels;
        memcpy(labels + corner / 3 * row, labels + across / 3 * row, row);
    }
    set_corner(m, right, d);
    set_corner(m, after(across, 2), c);
    return true;
}

static void mend_flat(mend *m, uint32_t triangle)
{
    double lengths[3];
    uint32_t longest = 0, shortest = 0; /* edges, by the opposite corner */
    for (uint32_t k = 0; k < 3; k++) {
        double a[3], b[3], along[3];
        point_of(m, m->indices[3 * triangle + (k + 1) % 3], a);
        point_of(m, m->indices[3 * triangle + (k + 2) % 3], b);
        subtract(b, a, along);
        lengths[k] = dot(along, along);
        longest = lengths[k] > lengths[longest] ? k : longest;
        shortest = lengths[k] < lengths[shortest] ? k : shortest;
    }
    const uint32_t corner = 3 * triangle + longest;
    edge_use uses[MOST_AT_EDGE];
    if (!(lengths[shortest] > 0))
        merge(m, m->indices[3 * triangle + (shortest + 1) % 3],
              m->indices[3 * triangle + (shortest + 2) % 3]);
    else if (uses_of(m, m->indices[after(corner, 1)], m->indices[after(corner, 2)], uses) == 1)
        remove_triangle(m, triangle); /* on a boundary, which then runs through its third corner */
    else if (!flip(m, corner))
        move_off(m, corner);
}

static bool mend_flats(mend *m)
{
    bool is_any = false;
    for (uint32_t t = 0; t < m->mesh->triangle_count; t++) {
        double normal[3];
        const uint32_t *v = m->indices + 3 * (size_t)t;
        if (m->is_gone[t] & GONE || !normal_of(m, v[0], v[1], v[2], normal) ||
            !isfinite(dot(normal, normal)))
            continue;
        is_any = true;
        mend_flat(m, t);
    }
    return is_any;
}

/* ---- edges of more than two triangles -------------------------------------------------------- */

/* Finds the angles of an edge's triangles around it, relative to the first triangle. */
static bool find_angles(const mend *m, uint32_t a, uint32_t b, const edge_use *uses, uint32_t count,
                        double angles[])
{
    double p[3], q[3], along[3], zero[3] = {0, 0, 0}, up[3] = {0, 0, 0};
    point_of(m, a, p);
    point_of(m, b, q);
    subtract(q, p, along);
    const double square = dot(along, along);
    for (uint32_t i = 0; i < count && square > 0; i++) {
        double at[3];
        point_of(m, m->indices[uses[i].corner], at);
        subtract(at, p, at);
        const double share = dot(at, along) / square;
        for (int k = 0; k < 3; k++)
            at[k] -= share * along[k];
        if (i == 0) {
            memcpy(zero, at, sizeof zero);
            cross(along, zero, up);
        }
        angles[i] = atan2(dot(at, up) / sqrt(square), dot(at, zero));
    }
    return square > 0;
}

/* Removes a fin: two triangles with the same corners, at an edge that other triangles have, too.
 * Sheets that consist only of such pairs stay. */
static bool remove_fin(mend *m, uint32_t a, uint32_t b)
{
    edge_use uses[MOST_AT_EDGE];
    const uint32_t all = uses_of(m, a, b, uses);
    uint32_t fin[2] = {0, 0}, in_fins = 0;
    for (uint32_t i = 0; i < all && all <= MOST_AT_EDGE; i++)
        for (uint32_t k = i + 1; k < all; k++)
            if (uses[i].is_up != uses[k].is_up &&
                m->indices[uses[i].corner] == m->indices[uses[k].corner]) {
                fin[0] = uses[i].corner / 3;
                fin[1] = uses[k].corner / 3;
                in_fins += 2;
            }
    if (!in_fins || in_fins >= all)
        return false;
    remove_triangle(m, fin[0]);
    remove_triangle(m, fin[1]);
    return true;
}

static void remove_fins(mend *m)
{
    for (uint32_t corner = 0; corner < 3 * m->mesh->triangle_count; corner++)
        while (!(m->is_gone[corner / 3] & GONE) &&
               remove_fin(m, m->indices[corner], m->indices[after(corner, 1)]))
            ;
}

/* A pair of triangles that get an edge of their own. */
typedef struct edge_cut {
    uint32_t a, b;
    uint32_t corners[2];
} edge_cut;

/* Pairs the triangles at an edge until two are left. The pair with the narrowest wedge comes first.
 * Returns the number of pairs. */
static uint32_t pair_up(const mend *m, uint32_t a, uint32_t b, edge_cut out[MOST_AT_EDGE / 2])
{
    edge_use uses[MOST_AT_EDGE];
    double angles[MOST_AT_EDGE];
    const uint32_t all = uses_of(m, a, b, uses);
    uint32_t count = all, ups = 0, made = 0;
    for (uint32_t i = 0; i < all && all <= MOST_AT_EDGE; i++)
        ups += uses[i].is_up;
    if (all < 4 || all > MOST_AT_EDGE || 2 * ups != all || !find_angles(m, a, b, uses, all, angles))
        return 0;
    while (count > 2) {
        uint32_t best[2] = {0, 0};
        double least = INFINITY;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = i + 1; k < count; k++) {
                double wedge = fabs(angles[i] - angles[k]);
                wedge = fmin(wedge, 2 * 3.14159265358979323846 - wedge);
                const bool is_sheet = m->indices[uses[i].corner] == m->indices[uses[k].corner];
                if (uses[i].is_up != uses[k].is_up && !is_sheet && wedge < least) {
                    least = wedge;
                    best[0] = i;
                    best[1] = k;
                }
            }
        if (!(least < INFINITY))
            break; /* sheets, or an angle that is NaN */
        out[made++] = (edge_cut){a, b, {uses[best[0]].corner, uses[best[1]].corner}};
        for (int i = 1; i >= 0; i--) {
            count--;
            uses[best[i]] = uses[count];
            angles[best[i]] = angles[count];
        }
    }
    return made;
}

/* Finds the pairs whose edge is to be cut, at most one pair per triangle, and stores them in cuts
 * if it is not NULL. Returns their number. */
static uint32_t find_cuts(const mend *m, edge_cut *cuts)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < m->mesh->triangle_count; t++)
        m->is_gone[t] &= GONE;
    for (uint32_t corner = 0; corner < 3 * m->mesh->triangle_count; corner++) {
        const uint32_t a = m->indices[corner], b = m->indices[after(corner, 1)];
        edge_use uses[MOST_AT_EDGE];
        edge_cut here[MOST_AT_EDGE / 2];
        /* Each edge is handled once, at its first triangle in the order of the circle. */
        if (m->is_gone[corner / 3] & GONE)
            continue;
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        const uint32_t all = uses_of(m, low, high, uses);
        if (all < 4 || all > MOST_AT_EDGE || uses[0].corner / 3 != corner / 3)
            continue;
        const uint32_t made = pair_up(m, low, high, here);
        for (uint32_t i = 0; i < made; i++) {
            uint8_t *one = &m->is_gone[here[i].corners[0] / 3];
            uint8_t *two = &m->is_gone[here[i].corners[1] / 3];
            if ((*one | *two) & CUT)
                continue;
            *one |= CUT;
            *two |= CUT;
            if (cuts)
                cuts[count] = here[i];
            count++;
        }
    }
    return count;
}

static void mix_rows(const float *rows, uint32_t width, uint32_t a, uint32_t b, uint32_t to)
{
    float *out = (float *)(uintptr_t)rows;
    for (size_t i = 0; rows && i < width; i++)
        out[to * (size_t)width + i] =
            0.5f * (out[a * (size_t)width + i] + out[b * (size_t)width + i]);
}

/* Cuts a pair's edge at a new vertex. Each of the two triangles becomes two; the new triangles are
 * to and to + 1. */
static void cut(mend *m, const edge_cut *edge, uint32_t vertex, uint32_t to)
{
    const tml_mesh *mesh = m->mesh;
    double a[3], b[3], c[2][3];
    point_of(m, edge->a, a);
    point_of(m, edge->b, b);
    for (int i = 0; i < 2; i++)
        point_of(m, m->indices[edge->corners[i]], c[i]);
    for (size_t i = 0; i < 3; i++) {
        const double middle = 0.5 * (a[i] + b[i]), inside = 0.5 * (c[0][i] + c[1][i]);
        m->positions[3 * (size_t)vertex + i] = (float)(middle + nudge * (inside - middle));
    }
    mix_rows(mesh->normals, 3, edge->a, edge->b, vertex);
    mix_rows(mesh->values, 1, edge->a, edge->b, vertex);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        mix_rows(mesh->attributes[i].data, mesh->attributes[i].components, edge->a, edge->b,
                 vertex);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t corner = edge->corners[i], second = after(corner, 2);
        uint32_t *added = m->indices + 3 * (size_t)(to + i);
        added[0] = m->indices[corner];
        added[1] = vertex;
        added[2] = m->indices[second];
        m->indices[second] = vertex;
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool resize(tml_context *tml, void **rows, uint64_t before, uint64_t now)
{
    if (!*rows || before == now)
        return true;
    void *made = now ? tml_alloc(tml, (size_t)now) : NULL;
    if (!made && now)
        return false;
    if (made)
        memcpy(made, *rows, (size_t)(before < now ? before : now));
    tml_free(tml, *rows, (size_t)before);
    *rows = made;
    return true;
}

/* Resizes the arrays. The number of vertices may only grow. */
static bool set_counts(tml_context *tml, tml_mesh *mesh, uint64_t vertices, uint64_t triangles)
{
    const uint64_t v = mesh->vertex_count, t = mesh->triangle_count;
    const uint64_t row = mesh->face_labels ? 2 * tml_type_size(mesh->face_label_type) : 0;
    bool is_good = resize(tml, (void **)&mesh->positions, 12 * v, 12 * vertices) &&
                   resize(tml, (void **)&mesh->normals, 12 * v, 12 * vertices) &&
                   resize(tml, (void **)&mesh->values, 4 * v, 4 * vertices);
    for (uint32_t i = 0; i < mesh->attribute_count && is_good; i++) {
        const uint64_t size = 4 * mesh->attributes[i].components;
        is_good = resize(tml, (void **)&mesh->attributes[i].data, size * v, size * vertices);
    }
    is_good = is_good && resize(tml, &mesh->indices, 12 * t, 12 * triangles) &&
              resize(tml, (void **)&mesh->uv_indices, 12 * t, 12 * triangles) &&
              resize(tml, &mesh->face_labels, row * t, row * triangles);
    if (is_good) {
        mesh->vertex_count = vertices;
        mesh->triangle_count = triangles;
    }
    return is_good;
}

/* Moves the remaining triangles together. set_counts then sets their number. */
static void close_gaps(const mend *m)
{
    const tml_mesh *mesh = m->mesh;
    const size_t row = mesh->face_labels ? 2 * tml_type_size(mesh->face_label_type) : 0;
    uint32_t *uvs = mesh->uv_indices;
    uint8_t *labels = mesh->face_labels;
    size_t to = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (m->is_gone[t] & GONE)
            continue;
        memmove(m->indices + 3 * to, m->indices + 3 * t, 12);
        if (uvs)
            memmove(uvs + 3 * to, uvs + 3 * t, 12);
        if (labels)
            memmove(labels + row * to, labels + row * t, row);
        to++;
    }
}

static void look_at_arrays(mend *m)
{
    m->positions = m->mesh->positions;
    m->indices = m->mesh->indices;
}

/* Removes the triangles that are marked GONE, all of them among the mesh's first so many. */
static bool leave_out_gone(tml_context *tml, const mend *m, uint64_t triangles)
{
    const uint64_t length = m->mesh->triangle_count;
    mend closing = *m;
    closing.is_gone = tml_alloc(tml, (size_t)length);
    if (!closing.is_gone)
        return false;
    memset(closing.is_gone, 0, (size_t)length);
    memcpy(closing.is_gone, m->is_gone, (size_t)triangles);
    close_gaps(&closing);
    const bool is_good =
        set_counts(tml, m->mesh, m->mesh->vertex_count, m->mesh->triangle_count - m->gone_count);
    tml_free(tml, closing.is_gone, (size_t)length);
    return is_good;
}

static tml_status mend_once(tml_context *tml, tml_mesh *mesh, bool *is_cut)
{
    const uint64_t triangles = mesh->triangle_count, corners = 3 * triangles;
    const uint64_t vertices = mesh->vertex_count;
    edge_cut *cuts = NULL;
    uint32_t cut_count = 0;
    *is_cut = false;
    if (triangles == 0)
        return TML_OK;
    mend m = {.mesh = mesh,
              .is_gone = tml_alloc(tml, (size_t)triangles),
              .next = tml_alloc(tml, (size_t)(4 * corners)),
              .first = tml_alloc(tml, (size_t)(4 * vertices))};
    look_at_arrays(&m);
    bool is_good = m.is_gone && m.next && m.first;
    if (is_good) {
        memset(m.is_gone, 0, (size_t)triangles);
        memset(m.first, 0xff, (size_t)(4 * vertices));
        for (uint32_t corner = 0; corner < corners; corner++)
            link_corner(&m, corner);
        for (int round = 0; round < ROUNDS && mend_flats(&m); round++)
            ;
        if (!mesh->face_labels)
            remove_fins(&m);
        if (!mesh->uvs && !mesh->face_labels)
            cut_count = find_cuts(&m, NULL);
    }
    if (is_good && cut_count) {
        cuts = tml_alloc(tml, cut_count * sizeof *cuts);
        is_good = cuts && vertices + cut_count < NONE && corners + 6 * (uint64_t)cut_count < NONE;
    }
    if (is_good && cut_count) {
        cut_count = find_cuts(&m, cuts);
        is_good = set_counts(tml, mesh, vertices + cut_count, triangles + 2 * (uint64_t)cut_count);
        look_at_arrays(&m);
        for (uint32_t i = 0; i < cut_count && is_good; i++)
            cut(&m, &cuts[i], (uint32_t)vertices + i, (uint32_t)triangles + 2 * i);
    }
    *is_cut = cut_count > 0;
    tml_free(tml, cuts, cuts ? cut_count * sizeof *cuts : 0);
    tml_free(tml, m.next, m.next ? (size_t)(4 * corners) : 0);
    tml_free(tml, m.first, m.first ? (size_t)(4 * vertices) : 0);
    if (is_good && m.gone_count)
        is_good = leave_out_gone(tml, &m, triangles);
    tml_free(tml, m.is_gone, m.is_gone ? (size_t)triangles : 0);
    return is_good ? TML_OK
                   : tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                               "tml_mesh_mend: no memory for %llu triangles",
                               (unsigned long long)triangles);
}

tml_status tml_mesh_mend(tml_context *tml, tml_mesh *mesh)
{
    tml_status status = TML_OK;
    bool is_cut = true;
    /* A triangle is cut at most at one edge per round. */
    for (int round = 0; round < ROUNDS && is_cut && status == TML_OK; round++)
        status = mend_once(tml, mesh, &is_cut);
    return status;
}
