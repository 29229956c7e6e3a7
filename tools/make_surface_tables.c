/* Generates the marching cubes case tables from first principles; run by the build.
 *
 * A case is a byte: bit c tells whether corner c of the cell is inside; corner c lies at
 * (c & 1, c >> 1 & 1, c >> 2 & 1). Edge e = 4 * axis + position, where position counts the four
 * edges along an axis by their place on the other two axes, the lower axis first. On each face,
 * every run of neighbouring inside corners is cut off by one segment, so two inside corners that
 * face each other across a diagonal are cut off one by one. The choice looks at the face alone: two
 * cells that share a face always agree, and the surface of a closed field is closed. Each crossed
 * edge ends one segment on one of its faces and starts one on the other, so the segments form
 * loops. A loop becomes a fan, none of whose chords lies in a face: the cell behind that face could
 * draw the same chord, and then four triangles would meet in it. Such a fan exists for each loop of
 * each case; among them the one with the shortest chords is taken.
 *
 * The triangles of a case number V - 2 F + 4 [all corners inside] - 4 [only the two ends of a space
 * diagonal outside], where V counts inside corners and F faces with four of them. This holds for
 * all 256 cases as it stands; the generator stops when it does not. tests/test_surface_tables.c
 * proves that neighbours agree.
 *
 * The second table is for the topology of the trilinear interpolant (surface/surface_topology.h): a
 * mesh for each case and each choice of the ambiguous faces whose inside corners are joined. Where
 * a loop has no fan as above, it is one around a vertex in the cell. Two loops may be joined by a
 * tunnel instead. Sweep a plane along an axis: on it the interpolant is bilinear, and two of the
 * four columns, across its diagonal, are joined in the cell and not on its border if they are apart
 * where both begin to be inside and where one of them ends to be, or where the others bound that
 * interval, but joined in between. Whether they are apart at both ends follows from the case and
 * its faces; what is in between is for whom reads the table. Such a tunnel is made of two strips,
 * from each loop to a ring of six vertices: the corners of the skew hexagon of straight lines that
 * lies on the surface.
 *
 * After: Lorensen, Cline: Marching Cubes. 1987; Montani, Scateni, Scopigno: A modified look-up
 * table for implicit disambiguation of Marching Cubes. 1994; Nielson, Hamann: The Asymptotic
 * Decider. 1991; Chernyaev: Marching Cubes 33. 1995; Grosso: Construction of Topologically Correct
 * and Manifold Isosurfaces. 2016 (the hexagon). */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CASES = 256,
    FACES = 6,
    EDGES = 12,
    NO_EDGE = 0xf,
    MAX_TRIANGLES = 5, /* one loop of seven edges; two uints of eight nibbles hold them */
    LOOPS = 4,
    RING = 6,
    MESH_TRIANGLES = EDGES + 2 * RING, /* two strips between all edges and the ring */
};

/* The triangles of a cell. Corners: edges, then the cell's own vertices. */
typedef struct cell_mesh {
    int triangle_count;
    int corners[3 * MESH_TRIANGLES];
    int own_count;   /* 1: a fan's middle; RING: a tunnel's */
    unsigned around; /* edges of the loop around the middle */
} cell_mesh;

typedef struct cell_loops {
    int count;
    int length[LOOPS];
    int edges[LOOPS][EDGES];
} cell_loops;

static bool is_inside(int case_index, int corner)
{
    return case_index >> corner & 1;
}

/* The edge between two neighbouring corners. */
static int edge_between(int a, int b)
{
    int axis = (a ^ b) >> 1; /* 1, 2, 4 give 0, 1, 2 */
    int low = a & b;
    int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    return 4 * axis + (low >> u & 1) + 2 * (low >> v & 1);
}

/* Corner number i of a face, counter-clockwise as seen from outside the cell. */
static int face_corner(int axis, int side, int i)
{
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
    int ring[4] = {0, u, u | v, v};
    return side << axis | ring[side ? i & 3 : 3 - (i & 3)];
}

/* Twice the midpoint of an edge: 0, 1 or 2 on each axis; 0 and 2 are faces. */
static void edge_midpoint(int edge, int out[3])
{
    int axis = edge / 4;
    out[axis] = 1;
    out[axis == 0 ? 1 : 0] = 2 * (edge & 1);
    out[axis == 2 ? 1 : 2] = 2 * (edge >> 1 & 1);
}

/* The squared length of the chord between two edges, or a huge number where it lies in a face. */
static int chord_cost(int a, int b)
{
    int p[3], q[3], cost = 0;
    edge_midpoint(a, p);
    edge_midpoint(b, q);
    for (int k = 0; k < 3; k++) {
        if (p[k] == q[k] && p[k] != 1)
            return INT_MAX / EDGES;
        cost += (p[k] - q[k]) * (p[k] - q[k]);
    }
    return cost;
}

static bool is_ambiguous(int case_index, int face)
{
    bool is_even = is_inside(case_index, face_corner(face / 2, face % 2, 0));
    for (int i = 1; i < 4; i++)
        if (is_inside(case_index, face_corner(face / 2, face % 2, i)) != (is_even ^ (i & 1)))
            return false;
    return true;
}

/* next[e]: the edge that a loop visits after e, or NO_EDGE. Going round each face
 * counter-clockwise, a segment leads from where a run of inside corners begins to where it ends;
 * its loop then winds counter-clockwise seen from the low side. joined: of the ambiguous faces
 * those where it leads to where the other run ends. */
static void link_edges(int case_index, int joined, int next[EDGES])
{
    for (int e = 0; e < EDGES; e++)
        next[e] = NO_EDGE;
    for (int face = 0; face < FACES; face++) {
        int corner[9];
        for (int i = 0; i < 9; i++)
            corner[i] = face_corner(face / 2, face % 2, i);
        for (int i = 0; i < 4; i++) {
            if (is_inside(case_index, corner[i]) || !is_inside(case_index, corner[i + 1]))
                continue;
            int last = i + 1;
            while (is_inside(case_index, corner[last + 1]))
                last++;
            if (joined >> face & 1)
                last = i + 3;
            next[edge_between(corner[i], corner[i + 1])] =
                edge_between(corner[last], corner[last + 1]);
        }
    }
}

static void find_loops(int case_index, int joined, cell_loops *out)
{
    int next[EDGES];
    out->count = 0;
    link_edges(case_index, joined, next);
    for (int first = 0; first < EDGES; first++) {
        int length = 0;
        for (int e = first; next[e] != NO_EDGE;) {
            int following = next[e];
            out->edges[out->count][length++] = e;
            next[e] = NO_EDGE;
            e = following;
        }
        if (length)
            out->length[out->count++] = length;
    }
}

static void add_triangle(cell_mesh *out, int a, int b, int c)
{
    int *triangle = out->corners + 3 * out->triangle_count++;
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

/* Appends a loop as a fan; false if each fan has a chord in a face. */
static bool add_fan(cell_mesh *out, const int *loop, int length)
{
    int apex = 0, best = INT_MAX;
    for (int a = 0; a < length; a++) {
        int cost = 0;
        for (int k = 2; k < length - 1; k++)
            cost += chord_cost(loop[a], loop[(a + k) % length]);
        if (cost < best) {
            best = cost;
            apex = a;
        }
    }
    if (best >= INT_MAX / EDGES)
        return false;
    for (int k = 1; k < length - 1; k++)
        add_triangle(out, loop[apex], loop[(apex + k) % length], loop[(apex + k + 1) % length]);
    return true;
}

/* The count that needs no table, for the check at the top of this file. */
static int count_by_corners(int case_index)
{
    int corners = 0, full_faces = 0;
    for (int c = 0; c < 8; c++)
        corners += is_inside(case_index, c);
    for (int face = 0; face < 6; face++) {
        int inside = 0;
        for (int i = 0; i < 4; i++)
            inside += is_inside(case_index, face_corner(face / 2, face % 2, i));
        full_faces += inside == 4;
    }
    bool is_antipodal = false;
    for (int c = 0; c < 4; c++)
        is_antipodal |= case_index == (0xff ^ 1 << c ^ 1 << (7 - c));
    return corners - 2 * full_faces + (case_index == 0xff ? 4 : 0) - (is_antipodal ? 4 : 0);
}

static bool make_case(int case_index, cell_mesh *out)
{
    cell_loops found;
    *out = (cell_mesh){0};
    find_loops(case_index, 0, &found);
    for (int i = 0; i < found.count; i++)
        if (!add_fan(out, found.edges[i], found.length[i]))
            return false;
    return out->triangle_count == count_by_corners(case_index) &&
           out->triangle_count <= MAX_TRIANGLES;
}

/* ---- the trilinear interpolant --------------------------------------------------------------- */

typedef struct point {
    double at[3];
} point;

/* Corners of a mesh in the unit cell: edges' middles, and the ring of a tunnel. */
typedef struct cell_figure {
    point at[EDGES + RING];
} cell_figure;

static double squared_length(point a, point b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a.at[k] - b.at[k]) * (a.at[k] - b.at[k]);
    return sum;
}

/* The area that a polygon winds around, as seen along an axis. */
static double area_along(const cell_figure *figure, const int *polygon, int length, point axis)
{
    double sum = 0;
    for (int i = 0; i < length; i++) {
        point a = figure->at[polygon[i]], b = figure->at[polygon[(i + 1) % length]];
        for (int k = 0; k < 3; k++)
            sum += axis.at[k] *
                   (a.at[(k + 1) % 3] * b.at[(k + 2) % 3] - a.at[(k + 2) % 3] * b.at[(k + 1) % 3]);
    }
    return sum;
}

/* Two corners of each are one region of the cell's border if they have the same number. */
static void find_regions(int case_index, int joined, int region[8])
{
    for (int c = 0; c < 8; c++)
        region[c] = c;
    for (int turn = 0; turn < 8; turn++)
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                int across = a ^ b;
                bool meet = across == 1 || across == 2 || across == 4;
                for (int face = 0; face < FACES; face++)
                    meet |= across == (7 ^ 1 << face / 2) && (a >> face / 2 & 1) == face % 2 &&
                            is_ambiguous(case_index, face) &&
                            is_inside(case_index, a) == (joined >> face & 1);
                if (meet && is_inside(case_index, a) == is_inside(case_index, b) &&
                    region[b] < region[a])
                    region[a] = region[b];
            }
}

/* A tunnel between two regions that the border keeps apart. */
typedef struct cell_tunnel {
    bool is_possible;
    int regions[2];
    int parity; /* of their columns along z: 0 those at (0, 0) and (1, 1) */
} cell_tunnel;

/* Corner of a column at an end; columns of a cell along an axis are numbered around it. */
static int column_corner(int axis, int column, int end)
{
    return ((column ^ column >> 1) & 1) << (axis + 1) % 3 | (column >> 1) << (axis + 2) % 3 |
           end << axis;
}

/* The face between a column and the next. */
static int column_face(int axis, int column)
{
    int across = column & 1 ? (axis + 1) % 3 : (axis + 2) % 3;
    return 2 * across + (column == 1 || column == 2);
}

/* Are the columns of that parity inside and the others outside at some place of a sweep? Then out:
 * at the first and last such place, are the inside ones joined? False also where the choice of
 * faces has no interpolant. */
static bool find_ends(int case_index, int joined, int axis, int parity, bool out[2])
{
    for (int end = 0; end < 2; end++) {
        bool is_wrong[4], any = false, is_found = false;
        for (int k = 0; k < 4; k++) {
            bool should = (k & 1) == parity;
            is_wrong[k] = is_inside(case_index, column_corner(axis, k, end)) != should;
            if (is_wrong[k] && is_inside(case_index, column_corner(axis, k, !end)) != should)
                return false;
            any |= is_wrong[k];
        }
        if (!any) {
            out[end] = joined >> (2 * axis + end) & 1;
            continue;
        }
        /* The column that changes nearest to the middle: 0 on it. */
        for (int k = 0; k < 4; k++) {
            bool should = (k & 1) == parity;
            int before = (k + 3) % 4, after = (k + 1) % 4;
            if (!is_wrong[k] ||
                (is_wrong[before] && (joined >> column_face(axis, before) & 1) == should) ||
                (is_wrong[after] && (joined >> column_face(axis, k) & 1) == should))
                continue;
            out[end] = !should;
            is_found = true;
        }
        if (!is_found)
            return false;
    }
    return true;
}

static void find_tunnel(int case_index, int joined, int axis, bool of_inside, const int region[8],
                        cell_tunnel *out)
{
    *out = (cell_tunnel){0};
    for (int parity = 0; parity < 2; parity++) {
        bool is_joined[2];
        if (!find_ends(case_index, joined, axis, parity, is_joined) || is_joined[0] == of_inside ||
            is_joined[1] == of_inside)
            continue;
        cell_tunnel found = {.is_possible = true, .parity = parity ^ !of_inside};
        for (int i = 0; i < 2; i++) {
            int low = column_corner(axis, found.parity + 2 * i, 0);
            found.regions[i] =
                region[is_inside(case_index, low) == of_inside ? low : low | 1 << axis];
        }
        if (found.regions[0] != found.regions[1])
            *out = found;
    }
}

/* The loops between a region and a third one, and between another and that. */
static bool find_mouths(int case_index, const cell_loops *found, const int region[8],
                        const cell_tunnel *tunnel, bool of_inside, int mouths[2])
{
    int count = 0;
    for (int i = 0; i < found->count; i++)
        for (int j = 0; j < found->count; j++) {
            int own[2], other[2];
            for (int m = 0; m < 2; m++) {
                int p[3], c = 0, edge = found->edges[m ? j : i][0];
                edge_midpoint(edge, p);
                for (int k = 0; k < 3; k++)
                    c |= (p[k] == 2) << k;
                int high = c | 1 << edge / 4;
                bool is_low = is_inside(case_index, c) == of_inside;
                own[m] = region[is_low ? c : high];
                other[m] = region[is_low ? high : c];
            }
            if (own[0] != tunnel->regions[0] || own[1] != tunnel->regions[1] ||
                other[0] != other[1])
                continue;
            mouths[0] = i;
            mouths[1] = j;
            count++;
        }
    return count == 1;
}

/* Appends the strip between a loop and the ring, given in the same sense, whose chords are
 * shortest. Neither goes all around while the other stays: the chord at its ends would be one, met
 * by four. */
static void add_strip(cell_mesh *out, const cell_figure *figure, const int *loop, int length,
                      const int ring[RING])
{
    enum { LOOP_STEPS = 1, RING_STEPS = 2, ALL = 4 }; /* one of these amid the other's is behind */
    double least = INFINITY;
    int best = 0;
    bool takes_loop[RING][EDGES + 1][RING + 1][ALL];
    for (int first = 0; first < RING; first++) {
        double cost[EDGES + 1][RING + 1][ALL]; /* from there to the end */
        for (int i = length; i >= 0; i--)
            for (int j = RING; j >= 0; j--)
                for (int done = 0; done < ALL; done++) {
                    int with_loop = done | (j > 0 && j < RING ? LOOP_STEPS : 0);
                    int with_ring = done | (i > 0 && i < length ? RING_STEPS : 0);
                    double by_loop = i < length ? cost[i + 1][j][with_loop] : INFINITY;
                    double by_ring = j < RING ? cost[i][j + 1][with_ring] : INFINITY;
                    bool is_end = i == length && j == RING;
                    double rest = by_loop < by_ring ? by_loop : by_ring;
                    takes_loop[first][i][j][done] = by_loop <= by_ring;
                    cost[i][j][done] = (!is_end          ? rest
                                        : done < ALL - 1 ? INFINITY
                                                         : 0) +
                                       squared_length(figure->at[loop[i % length]],
                                                      figure->at[ring[(first + j) % RING]]);
                }
        if (cost[0][0][0] < least - 1e-9) {
            least = cost[0][0][0];
            best = first;
        }
    }
    for (int i = 0, j = 0, done = 0; i < length || j < RING;) {
        int a = loop[i % length], r = ring[(best + j) % RING];
        if (takes_loop[best][i][j][done]) {
            done |= j > 0 && j < RING ? LOOP_STEPS : 0;
            add_triangle(out, a, loop[++i % length], r);
        } else {
            done |= i > 0 && i < length ? RING_STEPS : 0;
            add_triangle(out, a, ring[(best + ++j) % RING], r);
        }
    }
}

/* Where the ring's corners are to each other: (x0, y0, z0), (x1, y0, z0), (x1, y0, z1) ... with
 * z0 < z1. Returns the tunnel's axis. */
static point place_ring(bool x_ascends, bool y_ascends, cell_figure *out)
{
    static const int places[RING][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1},
                                        {1, 1, 1}, {0, 1, 1}, {0, 1, 0}};
    for (int i = 0; i < RING; i++) {
        const bool is_high[3] = {places[i][0] == x_ascends, places[i][1] == y_ascends,
                                 places[i][2]};
        for (int k = 0; k < 3; k++)
            out->at[EDGES + i].at[k] = is_high[k] ? 0.6 : 0.4;
    }
    return (point){{x_ascends ? -1 : 1, y_ascends ? -1 : 1, 1}};
}

/* False if the two mouths do not wind around the axis in opposite senses: no interpolant has
 * that. */
static bool add_tunnel(cell_mesh *out, const cell_loops *found, const int mouths[2], bool x_ascends,
                       bool y_ascends)
{
    cell_figure figure;
    for (int e = 0; e < EDGES; e++) {
        int p[3];
        edge_midpoint(e, p);
        figure.at[e] = (point){{p[0] / 2.0, p[1] / 2.0, p[2] / 2.0}};
    }
    point axis = place_ring(x_ascends, y_ascends, &figure);
    int ring[2][RING];
    double areas[2];
    for (int i = 0; i < RING; i++)
        ring[0][i] = ring[1][RING - 1 - i] = EDGES + i;
    bool is_reverse = area_along(&figure, ring[0], RING, axis) < 0;
    for (int m = 0; m < 2; m++)
        areas[m] = area_along(&figure, found->edges[mouths[m]], found->length[mouths[m]], axis);
    if (!(areas[0] * areas[1] < 0))
        return false;
    for (int m = 0; m < 2; m++)
        add_strip(out, &figure, found->edges[mouths[m]], found->length[mouths[m]],
                  ring[(areas[m] < 0) != is_reverse]);
    out->own_count = RING;
    return true;
}

/* The loops but two. */
static bool add_loops(cell_mesh *out, const cell_loops *found, const int without[2])
{
    for (int i = 0; i < found->count; i++) {
        if (i == without[0] || i == without[1])
            continue;
        if (add_fan(out, found->edges[i], found->length[i]))
            continue;
        if (out->own_count)
            return false;
        for (int k = 0; k < found->length[i]; k++) {
            add_triangle(out, found->edges[i][k], found->edges[i][(k + 1) % found->length[i]],
                         EDGES);
            out->around |= 1u << found->edges[i][k];
        }
        out->own_count = 1;
    }
    return true;
}

/* A choice of the ambiguous faces: a mesh and, where a tunnel of inside or of outside may be, the
 * first of its two, for x1 < x0 and x1 > x0 of the ring; else 0. */
typedef struct face_choice {
    int mesh, tunnels[2];
} face_choice;

typedef struct topology {
    int faces[CASES];   /* bits */
    int choices[CASES]; /* the first, or -1 where nothing is to be decided */
    int choice_count, mesh_count;
    face_choice all_choices[1024];
    cell_mesh meshes[2048];
} topology;

static bool make_choice(int case_index, int joined, topology *out)
{
    static const int none[2] = {-1, -1};
    cell_loops found;
    int region[8];
    find_loops(case_index, joined, &found);
    find_regions(case_index, joined, region);
    face_choice *choice = &out->all_choices[out->choice_count++];
    choice->mesh = out->mesh_count;
    if (!add_loops(&out->meshes[out->mesh_count++], &found, none))
        return false;
    for (int of_inside = 1; of_inside >= 0; of_inside--) {
        /* The straight lines of the ring are met in a sweep along each axis. */
        cell_tunnel tunnels[3];
        int mouths[2];
        bool is_possible = true;
        for (int axis = 0; axis < 3; axis++) {
            find_tunnel(case_index, joined, axis, of_inside, region, &tunnels[axis]);
            is_possible = is_possible && tunnels[axis].is_possible;
        }
        if (!is_possible ||
            !find_mouths(case_index, &found, region, &tunnels[2], of_inside, mouths))
            continue;
        cell_mesh *both = &out->meshes[out->mesh_count];
        int first = -1;
        for (int x_ascends = 1; x_ascends >= 0; x_ascends--) {
            memset(&both[x_ascends], 0, sizeof *both);
            if (!add_tunnel(&both[x_ascends], &found, mouths, x_ascends,
                            x_ascends ^ tunnels[2].parity))
                continue;
            if (!add_loops(&both[x_ascends], &found, mouths))
                return false;
            first = x_ascends;
        }
        if (first < 0)
            return false;
        for (int i = 0; i < 2; i++)
            if (!both[i].own_count) /* rounding alone may tell the wrong one of two that are one */
                both[i] = both[first];
        choice->tunnels[!of_inside] = out->mesh_count;
        out->mesh_count += 2;
    }
    return true;
}

static bool make_choices(int case_index, topology *out)
{
    int faces[FACES], count = 0, first = out->choice_count, first_mesh = out->mesh_count;
    for (int face = 0; face < FACES; face++)
        if (is_ambiguous(case_index, face)) {
            faces[count++] = face;
            out->faces[case_index] |= 1 << face;
        }
    out->choices[case_index] = first;
    for (int bits = 0; bits < 1 << count; bits++) {
        int joined = 0;
        for (int i = 0; i < count; i++)
            joined |= (bits >> i & 1) << faces[i];
        if (!make_choice(case_index, joined, out))
            return false;
    }
    if (count == 0 && !out->all_choices[first].tunnels[0] && !out->all_choices[first].tunnels[1]) {
        memset(&out->meshes[first_mesh], 0, sizeof(cell_mesh));
        out->choice_count = first;
        out->mesh_count = first_mesh;
        out->choices[case_index] = -1;
    }
    return true;
}

static void print_topology(FILE *file, const topology *all)
{
    int corners = 0;
    fputs("/* Generated by make_surface_tables.c; do not edit. */\n\n"
          "/* Of each case: its ambiguous faces, and its first choice; -1: nothing is to be "
          "decided. */\n"
          "const uint8_t topology_ambiguous[256] = {\n",
          file);
    for (int c = 0; c < CASES; c++)
        fprintf(file, "%d,%s", all->faces[c], c % 16 == 15 ? "\n" : " ");
    fputs("};\nconst int16_t topology_choices[256] = {\n", file);
    for (int c = 0; c < CASES; c++)
        fprintf(file, "%d,%s", all->choices[c], c % 16 == 15 ? "\n" : " ");
    fprintf(file,
            "};\n\n/* Of each choice: its mesh, and the first of two with a tunnel of inside or of "
            "outside; 0: none. */\n"
            "const uint16_t topology_meshes_of[%d][3] = {\n",
            all->choice_count);
    for (int i = 0; i < all->choice_count; i++) {
        const face_choice *choice = &all->all_choices[i];
        fprintf(file, "{%d, %d, %d},%s", choice->mesh, choice->tunnels[0], choice->tunnels[1],
                i % 8 == 7 ? "\n" : " ");
    }
    fprintf(file, "};\n\nconst topology_mesh topology_meshes[%d] = {\n", all->mesh_count);
    for (int i = 0; i < all->mesh_count; i++) {
        const cell_mesh *mesh = &all->meshes[i];
        fprintf(file, "{%d, %d, %d, 0x%x},%s", corners, mesh->triangle_count, mesh->own_count,
                mesh->around, i % 8 == 7 ? "\n" : " ");
        corners += 3 * mesh->triangle_count;
    }
    fprintf(file,
            "};\n\n/* 16 may be read at once. */\nconst uint8_t topology_corners[%d + 15] = {\n",
            corners);
    for (int i = 0, k = 0; i < all->mesh_count; i++)
        for (int c = 0; c < 3 * all->meshes[i].triangle_count; c++, k++)
            fprintf(file, "%d,%s", all->meshes[i].corners[c], k % 32 == 31 ? "\n" : " ");
    fputs("};\n", file);
}

/* ---- the cases ------------------------------------------------------------------------------- */

static void print_cases(FILE *file, const cell_mesh cases[CASES])
{
    fputs("/* Generated by make_surface_tables.c; do not edit. */\n\n"
          "/* Triangles of each case. */\n"
          "TABLE_BEGIN(uint, surface_case_count, 256)\n",
          file);
    for (int c = 0; c < CASES; c++)
        fprintf(file, "%du%s%s", cases[c].triangle_count, c < CASES - 1 ? "," : "",
                c % 32 == 31 ? "\n" : " ");
    fputs("TABLE_END\n\n"
          "/* The edges of each case's triangles: two words of eight nibbles, lowest first; three "
          "for\n"
          " * each triangle, then 0xf. */\n"
          "TABLE_BEGIN(uint, surface_case_edges, 512)\n",
          file);
    for (int w = 0; w < 2 * CASES; w++) {
        uint32_t word = 0;
        for (int i = w % 2 * 8 + 7; i >= w % 2 * 8; i--)
            word =
                word << 4 |
                (uint32_t)(i < 3 * cases[w / 2].triangle_count ? cases[w / 2].corners[i] : NO_EDGE);
        fprintf(file, "0x%08xu%s%s", (unsigned)word, w < 2 * CASES - 1 ? "," : "",
                w % 8 == 7 ? "\n" : " ");
    }
    fputs("TABLE_END\n", file);
}

static bool finish(FILE *file, const char *path)
{
    bool is_written = !ferror(file);
    if (fclose(file) == 0 && is_written)
        return true;
    perror(path);
    return false;
}

int main(int argc, char **argv)
{
    static cell_mesh cases[CASES];
    static topology all;
    if (argc != 3) {
        fprintf(stderr, "usage: %s CASES TOPOLOGY\n", argv[0]);
        return EXIT_FAILURE;
    }
    for (int c = 0; c < CASES; c++) {
        if (!make_case(c, &cases[c]) || !make_choices(c, &all)) {
            fprintf(stderr, "%s: case %d has no triangulation that keeps the rules\n", argv[0], c);
            return EXIT_FAILURE;
        }
    }
    FILE *files[2] = {fopen(argv[1], "w"), fopen(argv[2], "w")};
    if (!files[0] || !files[1]) {
        perror(argv[files[0] ? 2 : 1]);
        return EXIT_FAILURE;
    }
    print_cases(files[0], cases);
    print_topology(files[1], &all);
    return finish(files[0], argv[1]) & finish(files[1], argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
