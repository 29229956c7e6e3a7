/* See support_marching_cubes.h. Written from the definitions in <trommel/surface.h> alone. */
#include "support_marching_cubes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum node_state { OUTSIDE, INSIDE, MISSING };

/* The nodes: the region's samples and, with caps, a layer of outside nodes around them. */
typedef struct lattice {
    const mc_input *input;
    int64_t first[3]; /* the first node, in samples; may be -1 */
    int64_t count[3]; /* nodes */
    uint8_t *state;
    uint64_t *vertex; /* three per node, for the edges towards +x, +y, +z */
} lattice;

#define NO_VERTEX   UINT64_MAX
#define USED_VERTEX (UINT64_MAX - 1) /* not numbered yet */

/* ---- samples -------------------------------------------------------------------------------- */

float mc_half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float value;
    if (exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else if (exponent)
        value = ldexpf((float)(1024 + mantissa), exponent - 25);
    else
        value = ldexpf((float)mantissa, -24);
    return half & 0x8000 ? -value : value;
}

double mc_sample(const void *samples, tml_type type, uint64_t i)
{
    switch (type) {
    case TML_U8:
        return ((const uint8_t *)samples)[i];
    case TML_I8:
        return ((const int8_t *)samples)[i];
    case TML_U16:
        return ((const uint16_t *)samples)[i];
    case TML_I16:
        return ((const int16_t *)samples)[i];
    case TML_U32:
        return ((const uint32_t *)samples)[i];
    case TML_I32:
        return ((const int32_t *)samples)[i];
    case TML_U64:
        return (double)((const uint64_t *)samples)[i];
    case TML_I64:
        return (double)((const int64_t *)samples)[i];
    case TML_F16:
        return mc_half_to_float(((const uint16_t *)samples)[i]);
    case TML_F32:
        return ((const float *)samples)[i];
    default:
        return ((const double *)samples)[i];
    }
}

/* Is sample i at least the isovalue? Exact for every type: 64-bit integers are compared with the
 * least integer that is inside. */
static bool is_at_least(const mc_input *input, uint64_t i)
{
    double least = ceil(input->iso);
    if (input->type == TML_U64)
        return least < 0x1p64 &&
               (least <= 0 || ((const uint64_t *)input->samples)[i] >= (uint64_t)least);
    if (input->type == TML_I64)
        return least < 0x1p63 &&
               (least < -0x1p63 || ((const int64_t *)input->samples)[i] >= (int64_t)least);
    return mc_sample(input->samples, input->type, i) >= input->iso;
}

static bool is_label(const mc_input *input, uint64_t i)
{
    switch (input->type) {
    case TML_U64:
        return ((const uint64_t *)input->samples)[i] == input->label;
    case TML_I64:
        return ((const int64_t *)input->samples)[i] == (int64_t)input->label;
    default:
        return mc_sample(input->samples, input->type, i) == (double)(int64_t)input->label;
    }
}

/* ---- the lattice ---------------------------------------------------------------------------- */

static uint64_t node_index(const lattice *l, const int64_t node[3])
{
    return (uint64_t)(node[0] + l->count[0] * (node[1] + l->count[1] * node[2]));
}

/* Finds the sample of a node; false for the layer around the region. */
static bool node_sample(const lattice *l, const int64_t node[3], uint64_t *sample)
{
    const uint64_t *dims = l->input->grid.dims;
    int64_t border = l->input->caps ? 1 : 0;
    uint64_t at[3];
    for (int k = 0; k < 3; k++) {
        if (node[k] < border || node[k] >= l->count[k] - border)
            return false;
        at[k] = (uint64_t)(node[k] + l->first[k]);
    }
    *sample = at[0] + dims[0] * (at[1] + dims[1] * at[2]);
    return true;
}

static uint8_t find_state(const lattice *l, const int64_t node[3])
{
    const mc_input *input = l->input;
    uint64_t i;
    if (!node_sample(l, node, &i))
        return OUTSIDE;
    if ((input->mask && !input->mask[i]) || isnan(mc_sample(input->samples, input->type, i)))
        return MISSING;
    return (input->is_label ? is_label(input, i) : is_at_least(input, i)) ? INSIDE : OUTSIDE;
}

static void make_lattice(lattice *l)
{
    const mc_input *input = l->input;
    int64_t border = input->caps ? 1 : 0;
    for (int k = 0; k < 3; k++) {
        uint64_t count = input->region.count[k] ? input->region.count[k]
                                                : input->grid.dims[k] - input->region.first[k];
        l->first[k] = (int64_t)input->region.first[k] - border;
        l->count[k] = (int64_t)count + 2 * border;
    }
    uint64_t nodes = (uint64_t)(l->count[0] * l->count[1] * l->count[2]);
    l->state = malloc(nodes);
    l->vertex = malloc(3 * nodes * sizeof *l->vertex);
    memset(l->vertex, 0xff, 3 * nodes * sizeof *l->vertex);
    for (int64_t z = 0; z < l->count[2]; z++)
        for (int64_t y = 0; y < l->count[1]; y++)
            for (int64_t x = 0; x < l->count[0]; x++) {
                int64_t node[3] = {x, y, z};
                l->state[node_index(l, node)] = find_state(l, node);
            }
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* A crossed edge of a cell: from its inside corner to its outside corner, a step on one axis. */
typedef struct crossing {
    int inside, outside;
} crossing;

static int other_corner(int corner, int axis)
{
    return corner ^ 1 << axis;
}

/* Returns the other end of the segment that starts at c, on the face spanned by c's edge and axis.
 * An inside corner with two outside neighbours on the face is cut off alone. */
static crossing walk_face(const bool inside[8], crossing c, int axis)
{
    int beside_inside = other_corner(c.inside, axis),
        beside_outside = other_corner(c.outside, axis);
    if (!inside[beside_inside])
        return (crossing){c.inside, beside_inside};
    if (!inside[beside_outside])
        return (crossing){beside_inside, beside_outside};
    return (crossing){beside_outside, c.outside};
}

static void midpoint(crossing c, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = ((c.inside >> k & 1) + (c.outside >> k & 1)) / 2.0;
}

/* Does the segment from a to b, in the face across axis, keep the inside on its right as seen from
 * outside the cell? The surface then winds counter-clockwise seen from the outside. */
static bool runs_forward(crossing a, crossing b, int axis)
{
    double p[3], q[3], r[3];
    midpoint(a, p);
    midpoint(b, q);
    for (int k = 0; k < 3; k++)
        r[k] = a.inside >> k & 1;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double turn = (q[u] - p[u]) * (r[v] - p[v]) - (q[v] - p[v]) * (r[u] - p[u]);
    bool is_high_face = a.inside >> axis & 1;
    return (is_high_face ? turn : -turn) < 0;
}

static uint64_t *crossing_vertex(const lattice *l, const int64_t cell[3], crossing c)
{
    int low = c.inside & c.outside, axis = (c.inside ^ c.outside) >> 1;
    int64_t node[3] = {cell[0] + (low & 1), cell[1] + (low >> 1 & 1), cell[2] + (low >> 2 & 1)};
    return &l->vertex[3 * node_index(l, node) + (uint64_t)axis];
}

static bool load_cell(const lattice *l, const int64_t cell[3], bool inside[8])
{
    int count = 0;
    for (int c = 0; c < 8; c++) {
        int64_t node[3] = {cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2 & 1)};
        uint8_t state = l->state[node_index(l, node)];
        if (state == MISSING)
            return false;
        inside[c] = state == INSIDE;
        count += inside[c];
    }
    return count > 0 && count < 8;
}

/* Finds the segments of a cell: at most one out of each crossing. Returns their number. */
static int trace_cell(const bool inside[8], crossing from[12], crossing to[12])
{
    int count = 0;
    for (int corner = 0; corner < 8; corner++) {
        for (int axis = 0; axis < 3; axis++) {
            crossing c = {corner, other_corner(corner, axis)};
            if (!inside[corner] || inside[c.outside])
                continue;
            /* Two faces meet in the edge; each lies across the axis that it does not span. */
            for (int turn = 1; turn < 3; turn++) {
                int along = (axis + turn) % 3, across = (axis + 3 - turn) % 3;
                crossing end = walk_face(inside, c, along);
                if (runs_forward(c, end, across)) {
                    from[count] = c;
                    to[count++] = end;
                }
            }
        }
    }
    return count;
}

static int count_loops(const crossing *from, const crossing *to, int count)
{
    bool seen[12] = {false};
    int loops = 0;
    for (int first = 0; first < count; first++) {
        if (seen[first])
            continue;
        loops++;
        for (int s = first; !seen[s];) {
            seen[s] = true;
            int next = 0;
            while (from[next].inside != to[s].inside || from[next].outside != to[s].outside)
                next++;
            s = next;
        }
    }
    return loops;
}

static uint64_t lowest_corner(const lattice *l, const int64_t cell[3])
{
    const mc_input *input = l->input;
    uint64_t sample = 0;
    for (int k = 2; k >= 0; k--) {
        int64_t at = cell[k] + l->first[k], least = (int64_t)input->region.first[k];
        sample = sample * input->grid.dims[k] + (uint64_t)(at < least ? least : at);
    }
    return sample;
}

/* Visits every cell with triangles. The first pass marks vertices, the second writes segments. */
static void visit_cells(const lattice *l, mc_mesh *mesh, bool is_writing)
{
    mesh->cell_count = mesh->segment_count = mesh->triangle_count = 0;
    for (int64_t z = 0; z + 1 < l->count[2]; z++)
        for (int64_t y = 0; y + 1 < l->count[1]; y++)
            for (int64_t x = 0; x + 1 < l->count[0]; x++) {
                int64_t cell[3] = {x, y, z};
                bool inside[8];
                crossing from[12], to[12];
                if (!load_cell(l, cell, inside))
                    continue;
                int count = trace_cell(inside, from, to);
                uint64_t triangles = (uint64_t)(count - 2 * count_loops(from, to, count));
                for (int s = 0; s < count; s++) {
                    uint64_t *a = crossing_vertex(l, cell, from[s]);
                    uint64_t *b = crossing_vertex(l, cell, to[s]);
                    if (is_writing)
                        mesh->segments[mesh->segment_count + (uint64_t)s] =
                            l->input->flip ? (mc_segment){*b, *a} : (mc_segment){*a, *b};
                    else
                        *a = *b = USED_VERTEX;
                }
                if (is_writing)
                    mesh->cells[mesh->cell_count] = (mc_cell){mesh->segment_count, (uint64_t)count,
                                                              triangles, lowest_corner(l, cell)};
                mesh->cell_count++;
                mesh->segment_count += (uint64_t)count;
                mesh->triangle_count += triangles;
            }
}

/* ---- vertices ------------------------------------------------------------------------------- */

/* As in surface.h, as a fraction of an edge. */
static const double clearance = 1.0 / 1024;

/* Returns where the surface crosses an edge: 0 is the lower sample a, 1 the higher sample b. */
static double crossing_place(const mc_input *input, uint64_t a, uint64_t b)
{
    if (input->is_label)
        return 0.5;
    double p = mc_sample(input->samples, input->type, a);
    double q = mc_sample(input->samples, input->type, b);
    double t;
    switch (input->type) {
    case TML_F64:
    case TML_U32:
    case TML_I32:
    case TML_U64:
    case TML_I64:
        t = isinf(q - p) ? 0.5 : (input->iso - p) / (q - p);
        break;
    default: {
        float pf = (float)p, qf = (float)q, iso = (float)input->iso;
        float length = qf - pf;
        t = isinf(length) ? 0.5f : (iso - pf) / length;
    }
    }
    /* Different 64-bit samples may be equal in double: 0 / 0 counts as 0. Vertices keep a clearance
     * from samples. */
    return !(t > clearance) ? clearance : t > 1 - clearance ? 1 - clearance : t;
}

static double matrix_entry(const double m[9], int row, int column)
{
    for (int i = 0; i < 9; i++)
        if (m[i] != 0)
            return m[3 * row + column];
    return row == column ? 1 : 0;
}

static void place_vertex(const lattice *l, const int64_t node[3], int axis, float position[3],
                         float *value)
{
    const mc_input *input = l->input;
    const tml_grid *grid = &input->grid;
    int64_t end[3] = {node[0], node[1], node[2]};
    end[axis]++;
    uint64_t a = 0, b = 0;
    bool has_a = node_sample(l, node, &a), has_b = node_sample(l, end, &b);
    /* On an edge to the layer around the region, the vertex is on the sample. */
    double t = has_a && has_b ? crossing_place(input, a, b) : has_a ? 0 : 1;
    double at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (double)(node[k] + l->first[k]) + (k == axis ? t : 0);
        /* At an edge of the box, the vertex moves into its cap by a quarter of the clearance. */
        if (k != axis && !(has_a && has_b))
            at[k] += (node[k] == 1 ? clearance / 4 : 0) -
                     (node[k] == l->count[k] - 2 ? clearance / 4 : 0);
    }
    for (int row = 0; row < 3; row++) {
        double sum = grid->origin[row] - input->position_origin[row];
        for (int k = 0; k < 3; k++) {
            double spacing = grid->spacing[0] != 0 ? grid->spacing[k] : 1;
            sum += matrix_entry(grid->direction, row, k) * spacing * at[k];
        }
        position[row] = (float)sum;
    }
    if (value) {
        double from = input->attribute[has_a ? a : b], to = input->attribute[has_b ? b : a];
        *value = (float)(from + (to - from) * t);
    }
}

/* Numbers the marked vertices by row, axis and x, and places them. */
static void make_vertices(const lattice *l, mc_mesh *mesh)
{
    uint64_t nodes = (uint64_t)(l->count[0] * l->count[1] * l->count[2]), used = 0;
    for (uint64_t i = 0; i < 3 * nodes; i++)
        used += l->vertex[i] == USED_VERTEX;
    mesh->positions = malloc((3 * used + 1) * sizeof *mesh->positions);
    mesh->values = l->input->attribute ? malloc((used + 1) * sizeof *mesh->values) : NULL;
    for (int64_t z = 0; z < l->count[2]; z++)
        for (int64_t y = 0; y < l->count[1]; y++)
            for (int axis = 0; axis < 3; axis++)
                for (int64_t x = 0; x < l->count[0]; x++) {
                    int64_t node[3] = {x, y, z};
                    uint64_t *vertex = &l->vertex[3 * node_index(l, node) + (uint64_t)axis];
                    if (*vertex == NO_VERTEX)
                        continue;
                    *vertex = mesh->vertex_count++;
                    place_vertex(l, node, axis, mesh->positions + 3 * *vertex,
                                 mesh->values ? mesh->values + *vertex : NULL);
                }
}

/* ---- the Euler characteristic of the inside ------------------------------------------------- */

/* Are all corners of the cell of the given extent (bit k: one step along axis k) inside? */
static bool is_full(const lattice *l, const int64_t node[3], int extent)
{
    for (int c = 0; c < 8; c++) {
        if (c & ~extent)
            continue;
        int64_t corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = node[k] + (c >> k & 1);
            if (corner[k] >= l->count[k])
                return false;
        }
        if (l->state[node_index(l, corner)] != INSIDE)
            return false;
    }
    return true;
}

/* Returns samples - edges + faces - cells. If only two antipodal corners of a cell are outside, the
 * inside corners are a ring. The surface cuts off each of the two corners alone and so fills the
 * ring, which counts as 1. */
static int64_t count_solid_euler(const lattice *l)
{
    int64_t euler = 0;
    for (int64_t z = 0; z < l->count[2]; z++)
        for (int64_t y = 0; y < l->count[1]; y++)
            for (int64_t x = 0; x < l->count[0]; x++) {
                int64_t node[3] = {x, y, z};
                for (int extent = 0; extent < 8; extent++) {
                    int dimension = (extent & 1) + (extent >> 1 & 1) + (extent >> 2 & 1);
                    if (is_full(l, node, extent))
                        euler += dimension % 2 ? -1 : 1;
                }
                bool inside[8];
                int outside[2] = {0, 0}, count = 0;
                if (x + 1 == l->count[0] || y + 1 == l->count[1] || z + 1 == l->count[2] ||
                    !load_cell(l, node, inside))
                    continue;
                for (int c = 0; c < 8; c++)
                    if (!inside[c])
                        outside[count++ % 2] = c;
                euler += count == 2 && (outside[0] ^ outside[1]) == 7;
            }
    return euler;
}

mc_mesh mc_extract(const mc_input *input)
{
    lattice l = {.input = input};
    mc_mesh mesh = {0};
    make_lattice(&l);
    visit_cells(&l, &mesh, false);
    make_vertices(&l, &mesh);
    mesh.cells = malloc((mesh.cell_count + 1) * sizeof *mesh.cells);
    mesh.segments = malloc((mesh.segment_count + 1) * sizeof *mesh.segments);
    visit_cells(&l, &mesh, true);
    mesh.solid_euler = count_solid_euler(&l);
    free(l.state);
    free(l.vertex);
    return mesh;
}

void mc_free(mc_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->values);
    free(mesh->cells);
    free(mesh->segments);
    *mesh = (mc_mesh){0};
}
