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
 * After: Lorensen, Cline: Marching Cubes. 1987; Montani, Scateni, Scopigno: A modified look-up
 * table for implicit disambiguation of Marching Cubes. 1994. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CASES = 256,
    EDGES = 12,
    NO_EDGE = 0xf,
    MAX_TRIANGLES = 5, /* one loop of seven edges; two uints of eight nibbles hold them */
    NIBBLES = 16,
};

typedef struct case_entry {
    int triangle_count;
    int edges[NIBBLES]; /* three for each triangle, then NO_EDGE */
} case_entry;

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

/* next[e]: the edge that a loop visits after e, or NO_EDGE. Going round each face
 * counter-clockwise, a segment leads from where a run of inside corners begins to where it ends;
 * its loop then winds counter-clockwise seen from the low side. */
static void link_edges(int case_index, int next[EDGES])
{
    for (int e = 0; e < EDGES; e++)
        next[e] = NO_EDGE;
    for (int face = 0; face < 6; face++) {
        int corner[9];
        for (int i = 0; i < 9; i++)
            corner[i] = face_corner(face / 2, face % 2, i);
        for (int i = 0; i < 4; i++) {
            if (is_inside(case_index, corner[i]) || !is_inside(case_index, corner[i + 1]))
                continue;
            int last = i + 1;
            while (is_inside(case_index, corner[last + 1]))
                last++;
            next[edge_between(corner[i], corner[i + 1])] =
                edge_between(corner[last], corner[last + 1]);
        }
    }
}

/* Appends a loop as a fan; false if each fan has a chord in a face. */
static bool add_fan(case_entry *entry, const int *loop, int length)
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
    if (best >= INT_MAX / EDGES || entry->triangle_count + length - 2 > MAX_TRIANGLES)
        return false;
    for (int k = 1; k < length - 1; k++) {
        int *triangle = entry->edges + 3 * entry->triangle_count++;
        triangle[0] = loop[apex];
        triangle[1] = loop[(apex + k) % length];
        triangle[2] = loop[(apex + k + 1) % length];
    }
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

static bool make_case(int case_index, case_entry *entry)
{
    int next[EDGES];
    entry->triangle_count = 0;
    for (int i = 0; i < NIBBLES; i++)
        entry->edges[i] = NO_EDGE;
    link_edges(case_index, next);
    for (int first = 0; first < EDGES; first++) {
        int loop[EDGES], length = 0;
        for (int e = first; next[e] != NO_EDGE;) {
            int following = next[e];
            loop[length++] = e;
            next[e] = NO_EDGE;
            e = following;
        }
        if (length && !add_fan(entry, loop, length))
            return false;
    }
    return entry->triangle_count == count_by_corners(case_index);
}

static void print_tables(FILE *file, const case_entry cases[CASES])
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
        for (int i = 7; i >= 0; i--)
            word = word << 4 | (uint32_t)cases[w / 2].edges[w % 2 * 8 + i];
        fprintf(file, "0x%08xu%s%s", (unsigned)word, w < 2 * CASES - 1 ? "," : "",
                w % 8 == 7 ? "\n" : " ");
    }
    fputs("TABLE_END\n", file);
}

int main(int argc, char **argv)
{
    static case_entry cases[CASES];
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTPUT\n", argv[0]);
        return EXIT_FAILURE;
    }
    for (int c = 0; c < CASES; c++) {
        if (!make_case(c, &cases[c])) {
            fprintf(stderr, "%s: case %d has no triangulation that keeps the rules\n", argv[0], c);
            return EXIT_FAILURE;
        }
    }
    FILE *file = fopen(argv[1], "w");
    if (!file) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    print_tables(file, cases);
    bool is_written = !ferror(file);
    if (fclose(file) != 0 || !is_written) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
