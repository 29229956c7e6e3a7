/* Surface nets on the CPU: a closed mesh per label, with vertices of its own at the places of the
 * shared ones.
 *
 * The corners of a cell that have a label are a case of 8 bits, as in marching cubes. A case joins
 * the label's faces at the cell, one per edge between unlike corners, into loops. If corners with
 * and without the label alternate around a side, each corner with the label joins its two faces.
 * Each loop gets a vertex, so the sheets of a label's mesh do not share vertices. They share an
 * edge, which then has four faces, only if one loop has all four edges of such a side in both cells
 * beside the side. There, the corners without the label join their faces instead. If a label has
 * several loops in a cell, each loop's vertex moves towards the middle of the loop's edges. The
 * mesh is then a manifold also where vertices are told apart by position, as in a file without
 * indices.
 * After: Nielson: Dual Marching Cubes. 2004; Wenger: Isosurfaces. 2013.
 *
 * Vertices and faces are numbered label by label. Each slab of layers is counted separately, so
 * that slabs are written in parallel, and numbers do not depend on the number of slabs. */
#include <stdlib.h>

#include "labels/cpu/cpu_nets.h"

/* ---- cases ----------------------------------------------------------------------------------- */

enum { CELL_EDGES = 12, CELL_SIDES = 6, NO_SIDE = 6, CORNERS = 8, LOOPS = 4 };

/* The loops of a label's faces at a cell, in two variants. [0]: corners with the label join their
 * faces on every side. One loop then has all four edges of the side doubtful. [1]: there, corners
 * without the label join their faces. */
typedef struct net_case {
    uint8_t count[2];
    uint8_t doubtful;            /* NO_SIDE: none */
    uint8_t loop[2][CELL_EDGES]; /* of each edge */
    float middle[2][LOOPS][3];   /* mean of the loop's edges' midpoints, in cells */
} net_case;

/* Returns the number of the edge that begins at a corner and goes along axis. */
static inline int edge_at(int axis, int corner)
{
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    return 4 * axis + (corner >> b & 1) + 2 * (corner >> c & 1);
}

/* Finds the corners around a side, and the edge after each corner. */
static void side_ring(int side, int corner[4], int edge[4])
{
    const int axis = side / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
    const int base = (side & 1) << axis;
    const int ring[4] = {base, base | 1 << b, base | 1 << b | 1 << c, base | 1 << c};
    for (int k = 0; k < 4; k++) {
        corner[k] = ring[k];
        edge[k] = edge_at(k % 2 ? c : b, ring[k] & ring[(k + 1) % 4]);
    }
}

static void join(uint8_t loop[CELL_EDGES], int a, int b)
{
    const uint8_t from = loop[a] > loop[b] ? loop[a] : loop[b],
                  to = loop[a] < loop[b] ? loop[a] : loop[b];
    for (int e = 0; e < CELL_EDGES; e++)
        loop[e] = loop[e] == from ? to : loop[e];
}

/* Finds the loops of a case. On side turned, corners without the label join their faces.
 * Returns: the number of loops. */
static uint8_t find_loops(int mask, int turned, uint8_t loop[CELL_EDGES])
{
    uint8_t count = 0, names[CELL_EDGES];
    int corner[4], edge[4];
    for (int e = 0; e < CELL_EDGES; e++)
        loop[e] = (uint8_t)e;
    for (int side = 0; side < CELL_SIDES; side++) {
        bool crossed[4];
        int crossings = 0;
        side_ring(side, corner, edge);
        for (int k = 0; k < 4; k++) {
            crossed[k] = (mask >> corner[k] ^ mask >> corner[(k + 1) % 4]) & 1;
            crossings += crossed[k];
        }
        for (int k = 0; k < 4; k++) { /* the edges before and after corner k */
            const bool is_kept = (mask >> corner[k] & 1) != (side == turned);
            if (crossings == 4 && is_kept)
                join(loop, edge[(k + 3) % 4], edge[k]);
            for (int m = k + 1; m < 4 && crossings == 2; m++)
                if (crossed[k] && crossed[m])
                    join(loop, edge[k], edge[m]);
        }
    }
    memset(names, 0xff, sizeof names);
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < CORNERS; c++) {
            const int e = edge_at(axis, c);
            if (c >> axis & 1 || !((mask >> c ^ mask >> (c | 1 << axis)) & 1))
                continue;
            if (names[loop[e]] == 0xff)
                names[loop[e]] = count++;
            loop[e] = names[loop[e]];
        }
    return count;
}

static void find_middles(int mask, const uint8_t loop[CELL_EDGES], float middle[LOOPS][3])
{
    float count[LOOPS] = {0};
    for (int l = 0; l < LOOPS; l++)
        middle[l][0] = middle[l][1] = middle[l][2] = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < CORNERS; c++) {
            if (c >> axis & 1 || !((mask >> c ^ mask >> (c | 1 << axis)) & 1))
                continue;
            const uint8_t l = loop[edge_at(axis, c)];
            for (int a = 0; a < 3; a++)
                middle[l][a] += a == axis ? 0.5f : (float)(c >> a & 1);
            count[l]++;
        }
    for (int l = 0; l < LOOPS; l++)
        for (int a = 0; a < 3 && count[l] > 0; a++)
            middle[l][a] /= count[l];
}

static void make_cases(bool manifold, net_case cases[256])
{
    for (int mask = 0; mask < 256; mask++) {
        net_case *it = &cases[mask];
        *it = (net_case){.count = {1, 1}, .doubtful = NO_SIDE};
        if (!manifold)
            continue;
        it->count[0] = find_loops(mask, NO_SIDE, it->loop[0]);
        for (int side = 0; side < CELL_SIDES; side++) {
            int corner[4], edge[4];
            side_ring(side, corner, edge);
            bool is_doubtful = true;
            for (int k = 0; k < 4; k++)
                is_doubtful = is_doubtful &&
                              (mask >> corner[k] ^ mask >> corner[(k + 1) % 4]) & 1 &&
                              it->loop[0][edge[k]] == it->loop[0][edge[0]];
            if (is_doubtful) {
                assert(it->doubtful == NO_SIDE); /* a case has at most one such side */
                it->doubtful = (uint8_t)side;
            }
        }
        it->count[1] = find_loops(mask, it->doubtful, it->loop[1]);
        for (int v = 0; v < 2; v++)
            find_middles(mask, it->loop[v], it->middle[v]);
    }
}

/* ---- labels by number ------------------------------------------------------------------------ */

/* The labels that have faces, ascending, and a hash table with open addressing that finds their
 * numbers. */
typedef struct label_index {
    uint64_t *labels;
    uint64_t count, capacity;
    uint32_t *slots;     /* number + 1; 0: free */
    uint64_t slot_count; /* a power of two, more than twice the capacity */
} label_index;

static uint32_t *slot_of(const label_index *all, uint64_t label)
{
    uint64_t at = (label * 0x9e3779b97f4a7c15u >> 20) & (all->slot_count - 1);
    while (all->slots[at] && all->labels[all->slots[at] - 1] != label)
        at = (at + 1) & (all->slot_count - 1);
    return &all->slots[at];
}

static void free_index(nets_plan *plan, label_index *all)
{
    nets_free(plan, all->labels, all->capacity, sizeof *all->labels);
    nets_free(plan, all->slots, all->slot_count, sizeof *all->slots);
    *all = (label_index){.count = 0};
}

static void fill_slots(label_index *all)
{
    memset(all->slots, 0, all->slot_count * sizeof *all->slots);
    for (uint64_t i = 0; i < all->count; i++)
        *slot_of(all, all->labels[i]) = (uint32_t)(i + 1);
}

static tml_status grow_index(nets_plan *plan, label_index *all)
{
    label_index larger = {.count = all->count,
                          .capacity = all->capacity ? 4 * all->capacity : 1024};
    if (larger.capacity > UINT32_MAX / 4)
        return tml_error(plan->tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_labels: more than 2^30 labels; give fewer in desc.labels");
    larger.slot_count = 4 * larger.capacity;
    larger.labels = nets_alloc(plan, larger.capacity, sizeof *larger.labels);
    larger.slots = nets_alloc(plan, larger.slot_count, sizeof *larger.slots);
    if (!larger.labels || !larger.slots) {
        free_index(plan, &larger);
        return TML_ERROR_OUT_OF_MEMORY;
    }
    if (all->count)
        memcpy(larger.labels, all->labels, all->count * sizeof *all->labels);
    fill_slots(&larger);
    free_index(plan, all);
    *all = larger;
    return TML_OK;
}

static int compare_signed(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_unsigned(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the labels that have faces. Background surrounds the samples, so every label has a sample
 * whose predecessor in x has another label: the edge between them makes a face. */
static tml_status find_labels(nets_plan *plan, label_index *all)
{
    uint64_t last = plan->background;
    tml_status status = grow_index(plan, all);
    for (uint64_t z = 1; z < nets_cells(plan, 2) && status == TML_OK; z++) {
        if (!nets_report(plan, "labels", 0.2 * (double)z / (double)nets_cells(plan, 2)))
            return TML_ERROR_CANCELLED;
        for (uint64_t y = 1; y < nets_cells(plan, 1) && status == TML_OK; y++) {
            const nets_samples row = nets_samples_of(plan, y, z);
            const nets_word *edges = nets_edges(plan, &plan->net, 0, y, z);
            for (uint64_t w = 0; w < plan->words && status == TML_OK; w++)
                for (nets_word rest = edges[w]; rest && status == TML_OK; rest &= rest - 1) {
                    const uint64_t x = 64 * w + (uint64_t)__builtin_ctzll(rest);
                    const uint64_t label = nets_label(plan, &row, x + 1);
                    if (label == last || label == plan->background)
                        continue;
                    last = label;
                    if (*slot_of(all, label))
                        continue;
                    if (all->count == all->capacity)
                        status = grow_index(plan, all);
                    if (status == TML_OK) {
                        all->labels[all->count++] = label;
                        *slot_of(all, label) = (uint32_t)all->count;
                    }
                }
        }
    }
    if (status != TML_OK)
        return status;
    qsort(all->labels, all->count, sizeof *all->labels,
          plan->is_signed ? compare_signed : compare_unsigned);
    fill_slots(all);
    return TML_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A label at a cell. */
typedef struct cell_label {
    uint64_t vertex; /* number of its first vertex there */
    uint32_t number; /* of the label, in label_index */
    uint8_t mask, variant;
} cell_label;

/* The labels at the cells of a layer. The cell of vertex i has labels [first[i], first[i + 1]). */
typedef struct layer_labels {
    uint64_t *first;
    cell_label *labels;
} layer_labels;

typedef struct part_counts {
    uint64_t vertices, faces; /* of a slab; after place_parts, the next numbers to assign */
} part_counts;

typedef struct parts_slab {
    const struct nets_parts *all;
    uint64_t z_first, z_end;
    part_counts *parts;                 /* one per label */
    uint64_t labels;                    /* at the cells of the current layer */
    uint64_t most;                      /* the most labels of a layer */
    layer_labels layers[2];             /* the layer below, and the current one */
    uint64_t below_first, vertex_first; /* the net's first vertex in each of the two */
    bool writes;
} parts_slab;

struct nets_parts {
    const nets_plan *plan;
    label_index index;
    net_case cases[256];
    parts_slab *slabs;
    uint32_t slab_count;
    uint64_t most_vertices, most_labels; /* in a layer */
};

/* Finds the labels of a cell's corners: x fastest, then y, z. */
ALWAYS_INLINE void corner_labels(const nets_plan *plan, const uint64_t cell[3],
                                 uint64_t out[CORNERS])
{
    for (uint64_t k = 0; k < 4; k++) {
        const nets_samples row = nets_samples_of(plan, cell[1] + (k & 1), cell[2] + (k >> 1));
        out[2 * k] = nets_label(plan, &row, cell[0]);
        out[2 * k + 1] = nets_label(plan, &row, cell[0] + 1);
    }
}

/* Returns 1 if a label's case has a doubtful side that is doubtful in the cell beyond it, too;
 * otherwise 0. */
static uint8_t variant_of(const nets_parts *all, const uint64_t cell[3], uint64_t label,
                          uint8_t mask)
{
    const uint8_t side = all->cases[mask].doubtful;
    uint64_t beyond[3] = {cell[0], cell[1], cell[2]}, labels[CORNERS];
    uint8_t other = 0;
    if (side == NO_SIDE)
        return 0;
    beyond[side / 2] += side & 1 ? 1 : UINT64_MAX;
    corner_labels(all->plan, beyond, labels);
    for (int c = 0; c < CORNERS; c++)
        other |= (uint8_t)((labels[c] == label) << c);
    return all->cases[other].doubtful == (side ^ 1);
}

/* Finds the labels at a cell, each once, without the background. Returns how many. */
ALWAYS_INLINE uint32_t find_cell_labels(const nets_parts *all, const uint64_t cell[3],
                                        cell_label out[CORNERS])
{
    uint64_t labels[CORNERS], found[CORNERS];
    uint32_t count = 0;
    corner_labels(all->plan, cell, labels);
    for (int c = 0; c < CORNERS; c++) {
        uint32_t k = 0;
        if (labels[c] == all->plan->background)
            continue;
        while (k < count && found[k] != labels[c])
            k++;
        if (k == count) {
            found[count++] = labels[c];
            out[k] = (cell_label){.number = *slot_of(&all->index, labels[c]) - 1};
        }
        out[k].mask |= (uint8_t)(1 << c);
    }
    for (uint32_t k = 0; k < count; k++)
        out[k].variant = variant_of(all, cell, found[k], out[k].mask);
    return count;
}

static inline uint64_t loops_of(const nets_parts *all, const cell_label *at)
{
    return all->cases[at->mask].count[at->variant];
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Adds the vertices of a layer's cells to the counts per label, or subtracts them. */
ALWAYS_INLINE void count_cells(parts_slab *slab, uint64_t z, bool takes_off)
{
    const nets_parts *all = slab->all;
    const nets_plan *plan = all->plan;
    slab->labels = 0;
    for (uint64_t y = 0; y < nets_cells(plan, 1); y++)
        for (uint64_t first = 0; first < plan->words && nets_has_vertices(plan, &plan->net, y, z);
             first += NETS_GROUP) {
            nets_word active[NETS_GROUP];
            nets_active(plan, &plan->net, y, z, first, active);
            for (uint64_t i = 0; i < NETS_GROUP; i++)
                for (nets_word rest = active[i]; rest; rest &= rest - 1) {
                    const uint64_t x = 64 * (first + i) + (uint64_t)__builtin_ctzll(rest);
                    cell_label labels[CORNERS];
                    const uint32_t count =
                        find_cell_labels(all, (const uint64_t[3]){x, y, z}, labels);
                    slab->labels += count;
                    for (uint32_t k = 0; k < count; k++) {
                        const uint64_t loops = loops_of(all, &labels[k]);
                        slab->parts[labels[k].number].vertices += takes_off ? 0 - loops : loops;
                    }
                }
        }
}

/* Returns a label's number; UINT32_MAX for the background, which has no mesh. */
ALWAYS_INLINE uint32_t number_of(const nets_parts *all, uint64_t label)
{
    return label == all->plan->background ? UINT32_MAX : *slot_of(&all->index, label) - 1;
}

ALWAYS_INLINE void count_face(void *user, const nets_face *face)
{
    parts_slab *slab = user;
    for (int s = 0; s < 2; s++) {
        const uint32_t number = number_of(slab->all, face->label[s]);
        if (number != UINT32_MAX)
            slab->parts[number].faces++;
    }
}

ALWAYS_INLINE void count_slab(parts_slab *slab)
{
    const nets_plan *plan = slab->all->plan;
    for (uint64_t z = slab->z_first; z < slab->z_end && !tml_is_cancelled(plan->tml); z++) {
        count_cells(slab, z, false);
        slab->most = TML_MAX_OF(slab->most, slab->labels);
        nets_visit_faces(plan, &plan->net, z, count_face, slab);
    }
}
SIMD_INSTANTIATE(SIMD_FLAT void, count_slab_level, (parts_slab * slab), count_slab(slab))

static void count_task(void *argument, uint32_t index)
{
    static void (*const levels[TML_SIMD_LEVELS])(parts_slab *) = SIMD_EACH_LEVEL(count_slab_level);
    const nets_parts *all = argument;
    levels[tml_simd_level()](&all->slabs[index]);
}

/* ---- vertices and faces ---------------------------------------------------------------------- */

/* The fraction of the way that the vertices of a cell's loops move towards the loops' middles. The
 * move is too small to see, and many times the resolution of floats in a grid of 2^13 samples. */
#define APART (1.0 / 128)

/* Moves the vertex of one of a cell's several loops from the shared place. A vertex on a cap stays
 * in the cap's plane. */
static void move_apart(const nets_parts *all, const uint64_t cell[3], const cell_label *at,
                       uint64_t loop, float position[3])
{
    const nets_plan *plan = all->plan;
    const float *middle = all->cases[at->mask].middle[at->variant][loop];
    double to[3] = {plan->axes.origin[0], plan->axes.origin[1], plan->axes.origin[2]};
    for (int a = 0; a < 3; a++) {
        const bool is_low = cell[a] == 0, is_high = cell[a] + 1 == nets_cells(plan, a);
        const double within = is_low ? 1 : is_high ? 0 : (double)middle[a];
        const double x = (double)(plan->box.first[a] + cell[a]) - (double)plan->pad + within;
        for (int c = 0; c < 3; c++)
            to[c] += x * plan->axes.step[a][c];
    }
    for (int c = 0; c < 3; c++)
        position[c] = (float)((double)position[c] + APART * (to[c] - (double)position[c]));
}

/* Numbers the vertices of a layer's cells. Writes them if slab->writes. */
ALWAYS_INLINE void number_cells(parts_slab *slab, uint64_t z)
{
    const nets_parts *all = slab->all;
    const nets_plan *plan = all->plan;
    const layer_labels done = slab->layers[0], *layer = &slab->layers[1];
    const float *from = plan->places + 3 * plan->net.vertex_first[z];
    uint64_t i = 0, next = 0;
    slab->layers[0] = slab->layers[1];
    slab->layers[1] = done;
    slab->vertex_first = plan->net.vertex_first[z];
    for (uint64_t y = 0; y < nets_cells(plan, 1); y++)
        for (uint64_t first = 0; first < plan->words && nets_has_vertices(plan, &plan->net, y, z);
             first += NETS_GROUP) {
            nets_word active[NETS_GROUP];
            nets_active(plan, &plan->net, y, z, first, active);
            for (uint64_t w = 0; w < NETS_GROUP; w++)
                for (nets_word rest = active[w]; rest; rest &= rest - 1, i++) {
                    const uint64_t x = 64 * (first + w) + (uint64_t)__builtin_ctzll(rest);
                    cell_label *labels = layer->labels + next;
                    layer->first[i] = next;
                    const uint64_t cell[3] = {x, y, z};
                    const uint32_t count = find_cell_labels(all, cell, labels);
                    for (uint32_t k = 0; k < count; k++) {
                        uint64_t *number = &slab->parts[labels[k].number].vertices;
                        const uint64_t loops = loops_of(all, &labels[k]);
                        labels[k].vertex = *number;
                        for (uint64_t l = 0; l < loops && slab->writes; l++) {
                            float *position = plan->positions + 3 * (*number + l);
                            memcpy(position, from + 3 * i, 12);
                            if (loops > 1)
                                move_apart(all, cell, &labels[k], l, position);
                        }
                        *number += loops;
                    }
                    next += count;
                }
        }
    layer->first[i] = next;
}

/* Returns a label's vertex at the cell that lies back steps from an edge's first sample.
 * net_vertex    the cell's vertex of the net
 * axis, number  of the edge; of the label */
ALWAYS_INLINE uint64_t vertex_of(const parts_slab *slab, uint64_t net_vertex, const uint8_t back[3],
                                 int axis, uint32_t number)
{
    const nets_parts *all = slab->all;
    const layer_labels *layer = &slab->layers[back[2] ? 0 : 1];
    const uint64_t below = slab->below_first,
                   i = net_vertex - (back[2] ? below : slab->vertex_first);
    const cell_label *at = layer->labels + layer->first[i];
    while (at->number != number)
        at++;
    return at->vertex + all->cases[at->mask]
                            .loop[at->variant][edge_at(axis, back[0] + 2 * back[1] + 4 * back[2])];
}

ALWAYS_INLINE void emit_face(void *user, const nets_face *face)
{
    parts_slab *slab = user;
    const nets_plan *plan = slab->all->plan;
    const bool cut = nets_is_cut_other_way(plan, face->corner);
    for (int s = 0; s < 2; s++) {
        const uint32_t number = number_of(slab->all, face->label[s]);
        const bool reverse = (s == 0) == plan->axes.flip_winding;
        uint64_t corner[4];
        if (number == UINT32_MAX)
            continue;
        for (int k = 0; k < 4; k++)
            corner[reverse ? (4 - k) % 4 : k] =
                vertex_of(slab, face->corner[k], nets_back[face->axis][k], face->axis, number);
        nets_write_face(plan, slab->parts[number].faces++, corner, cut, face->label[s],
                        face->label[!s]);
    }
}

ALWAYS_INLINE void emit_slab(parts_slab *slab)
{
    const nets_plan *plan = slab->all->plan;
    if (slab->z_first > 0) { /* the first layer's faces use vertices of the layer below */
        slab->writes = false;
        count_cells(slab, slab->z_first - 1, true);
        number_cells(slab, slab->z_first - 1);
    }
    slab->writes = true;
    for (uint64_t z = slab->z_first; z < slab->z_end && !tml_is_cancelled(plan->tml); z++) {
        slab->below_first = slab->vertex_first;
        number_cells(slab, z);
        nets_visit_faces(plan, &plan->net, z, emit_face, slab);
    }
}
SIMD_INSTANTIATE(SIMD_FLAT void, emit_slab_level, (parts_slab * slab), emit_slab(slab))

static void emit_task(void *argument, uint32_t index)
{
    static void (*const levels[TML_SIMD_LEVELS])(parts_slab *) = SIMD_EACH_LEVEL(emit_slab_level);
    const nets_parts *all = argument;
    levels[tml_simd_level()](&all->slabs[index]);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void free_slabs(nets_plan *plan, nets_parts *all)
{
    for (uint32_t s = 0; all->slabs && s < all->slab_count; s++) {
        parts_slab *slab = &all->slabs[s];
        nets_free(plan, slab->parts, all->index.count, sizeof *slab->parts);
        for (int k = 0; k < 2; k++) {
            nets_free(plan, slab->layers[k].first, all->most_vertices + 1, sizeof(uint64_t));
            nets_free(plan, slab->layers[k].labels, all->most_labels, sizeof(cell_label));
        }
    }
    nets_free(plan, all->slabs, all->slab_count, sizeof *all->slabs);
}

void cpu_nets_parts_free(nets_plan *plan)
{
    if (!plan->parts)
        return;
    free_slabs(plan, plan->parts);
    free_index(plan, &plan->parts->index);
    nets_free(plan, plan->parts, 1, sizeof *plan->parts);
    plan->parts = NULL;
}

/* Makes a slab per thread, or fewer, so that their counts take at most 2^28 bytes. */
static tml_status make_slabs(nets_plan *plan, nets_parts *all)
{
    const uint64_t layers = nets_cells(plan, 2), most = (UINT64_C(1) << 28) / sizeof(part_counts);
    uint64_t count = TML_MIN_OF(tml_concurrency(plan->tml), layers);
    if (all->index.count * count > most)
        count = TML_MAX_OF(most / all->index.count, 1);
    all->slab_count = (uint32_t)count;
    all->slabs = nets_alloc(plan, count, sizeof *all->slabs);
    if (!all->slabs)
        return TML_ERROR_OUT_OF_MEMORY;
    memset(all->slabs, 0, count * sizeof *all->slabs);
    for (uint64_t s = 0; s < count; s++) {
        parts_slab *slab = &all->slabs[s];
        *slab = (parts_slab){
            .all = all, .z_first = layers * s / count, .z_end = layers * (s + 1) / count};
        slab->parts = nets_alloc(plan, all->index.count, sizeof *slab->parts);
        if (!slab->parts && all->index.count)
            return TML_ERROR_OUT_OF_MEMORY;
        memset(slab->parts, 0, all->index.count * sizeof *slab->parts);
    }
    return TML_OK;
}

/* Turns the slabs' counts into first numbers: label by label, and for each label slab by slab.
 * Fills the result's parts and counts. */
static tml_status place_parts(nets_plan *plan, nets_parts *all)
{
    tml_surface_result *out = plan->result;
    const uint64_t rows = nets_rows(plan);
    part_counts next = {0, 0};
    if (all->index.count > UINT32_MAX)
        return tml_error(plan->tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_labels: the volume has 2^32 labels or more");
    out->parts = tml_alloc_array(plan->tml, all->index.count, sizeof *out->parts);
    out->part_count = (uint32_t)all->index.count;
    if (!out->parts && all->index.count)
        return tml_error(plan->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface_labels: no memory for the table of parts");
    for (uint64_t i = 0; i < all->index.count; i++) {
        const part_counts first = next;
        for (uint32_t s = 0; s < all->slab_count; s++) {
            part_counts *counts = &all->slabs[s].parts[i], here = *counts;
            *counts = next;
            next.vertices += here.vertices;
            next.faces += here.faces;
        }
        out->parts[i] = (tml_mesh_part){surface_label_value(plan->is_signed, all->index.labels[i]),
                                        first.vertices,
                                        next.vertices - first.vertices,
                                        rows * first.faces,
                                        rows * (next.faces - first.faces),
                                        all->index.labels[i]};
    }
    out->vertex_count = next.vertices;
    out->triangle_count = rows * next.faces;
    return TML_OK;
}

tml_status cpu_nets_count_parts(nets_plan *plan)
{
    nets_parts *all = plan->parts = nets_alloc(plan, 1, sizeof *plan->parts);
    const double start = tml_seconds();
    if (!all)
        return TML_ERROR_OUT_OF_MEMORY;
    memset(all, 0, sizeof *all);
    all->plan = plan;
    make_cases(plan->manifold, all->cases);
    tml_status status = find_labels(plan, &all->index);
    TML_THEN(status, make_slabs(plan, all));
    if (status == TML_OK)
        tml_parallel_for(plan->tml, all->slab_count, count_task, all);
    if (status == TML_OK && !nets_report(plan, "labels", 1))
        status = TML_ERROR_CANCELLED;
    for (uint32_t s = 0; s < all->slab_count && status == TML_OK; s++)
        all->most_labels = TML_MAX_OF(all->most_labels, all->slabs[s].most);
    for (uint64_t z = 0; z < nets_cells(plan, 2); z++)
        all->most_vertices = TML_MAX_OF(all->most_vertices,
                                        plan->net.vertex_first[z + 1] - plan->net.vertex_first[z]);
    nets_time(plan, "labels", tml_seconds() - start);
    return status == TML_OK ? place_parts(plan, all) : status;
}

tml_status cpu_nets_emit_parts(nets_plan *plan)
{
    nets_parts *all = plan->parts;
    const double start = tml_seconds();
    for (uint32_t s = 0; s < all->slab_count; s++)
        for (int k = 0; k < 2; k++) {
            layer_labels *layer = &all->slabs[s].layers[k];
            layer->first = nets_alloc(plan, all->most_vertices + 1, sizeof *layer->first);
            layer->labels = nets_alloc(plan, all->most_labels, sizeof *layer->labels);
            if (!layer->first || !layer->labels)
                return TML_ERROR_OUT_OF_MEMORY;
        }
    if (!nets_report(plan, "faces", 0))
        return TML_ERROR_CANCELLED;
    tml_parallel_for(plan->tml, all->slab_count, emit_task, all);
    nets_time(plan, "faces", tml_seconds() - start);
    return nets_report(plan, "faces", 1) ? TML_OK : TML_ERROR_CANCELLED;
}
