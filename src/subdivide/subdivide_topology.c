/* Builds the half-edges of an indexed mesh on the host, checks the mesh and, with fix, repairs it.
 *
 * Twins are found without a hash, as in mesh_stats.c. Half-edges are binned by their lower vertex
 * (count, scan, scatter). Each bin, of about six entries, is sorted by the other vertex. A fan is
 * walked from twin to twin. A vertex with more than one fan is not manifold.
 *
 * Channels are built in the same way. The mesh's twins are cut where the values of the two sides
 * differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subdivide/subdivide_internal.h"

static const char call[] = "tml_subdivider_create";

/* Bins of at most this length are sorted by insertion. */
enum { SHORT_BIN = 32 };

static uint32_t next_half(uint32_t h)
{
    return h % 3 == 2 ? h - 2 : h + 1;
}

static uint32_t prev_half(uint32_t h)
{
    return h % 3 == 0 ? h + 2 : h - 1;
}

static tml_status topology_out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(
        tml, TML_ERROR_OUT_OF_MEMORY,
        "%s: no memory for %llu bytes on the host; the mesh's half-edges need about 60 a "
        "triangle",
        call, (unsigned long long)size);
}

/* ---- half-edges by edge ---------------------------------------------------------------------- */

/* A half-edge in the bin of its lower vertex. */
typedef struct bin_entry {
    uint32_t other; /* the higher vertex */
    uint32_t half;
} bin_entry;

/* All half-edges, by edge. Bin v is [offsets[v], offsets[v + 1]), sorted by other, then by half. */
typedef struct edge_bins {
    uint32_t *offsets;
    bin_entry *entries;
    uint64_t vertex_count, half_count;
} edge_bins;

static int compare_entries(const void *a, const void *b)
{
    const bin_entry *x = a, *y = b;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    return (x->half > y->half) - (x->half < y->half);
}

static void sort_bin(bin_entry *bin, size_t count)
{
    if (count > SHORT_BIN) {
        qsort(bin, count, sizeof *bin, compare_entries);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        bin_entry entry = bin[i];
        size_t at = i;
        for (; at > 0 && compare_entries(&entry, &bin[at - 1]) < 0; at--)
            bin[at] = bin[at - 1];
        bin[at] = entry;
    }
}

static void bins_free(tml_context *tml, edge_bins *bins)
{
    tml_free(tml, bins->offsets, (bins->vertex_count + 2) * sizeof *bins->offsets);
    tml_free(tml, bins->entries, bins->half_count * sizeof *bins->entries);
    *bins = (edge_bins){.offsets = NULL};
}

static tml_status bins_create(tml_context *tml, const subdivide_mesh *mesh, edge_bins *out)
{
    *out = (edge_bins){.vertex_count = mesh->vertex_count, .half_count = 3 * mesh->triangle_count};
    out->offsets = tml_alloc_array(tml, out->vertex_count + 2, sizeof *out->offsets);
    out->entries = tml_alloc_array(tml, out->half_count, sizeof *out->entries);
    if (!out->offsets || (!out->entries && out->half_count)) {
        bins_free(tml, out);
        return topology_out_of_memory(tml, 3 * mesh->triangle_count * sizeof *out->entries);
    }
    /* The number of entries in bin v is counted at v + 2. The scatter then advances entry v + 1
     * from the start of bin v to its end, which is the start of bin v + 1. */
    memset(out->offsets, 0, (out->vertex_count + 2) * sizeof *out->offsets);
    const uint32_t *corners = mesh->corners;
    for (uint32_t h = 0; h < out->half_count; h++) {
        uint32_t a = corners[h], b = corners[next_half(h)];
        out->offsets[TML_MIN_OF(a, b) + 2]++;
    }
    for (uint64_t v = 2; v < out->vertex_count + 2; v++)
        out->offsets[v] += out->offsets[v - 1];
    for (uint32_t h = 0; h < out->half_count; h++) {
        uint32_t a = corners[h], b = corners[next_half(h)];
        out->entries[out->offsets[TML_MIN_OF(a, b) + 1]++] =
            (bin_entry){.other = TML_MAX_OF(a, b), .half = h};
    }
    for (uint64_t v = 0; v < out->vertex_count && out->half_count; v++)
        sort_bin(out->entries + out->offsets[v], out->offsets[v + 1] - out->offsets[v]);
    return TML_OK;
}

/* Builds the bins again, after half-edges were removed or reversed. */
static tml_status bins_renew(tml_context *tml, const subdivide_mesh *mesh, edge_bins *bins)
{
    bins_free(tml, bins);
    return bins_create(tml, mesh, bins);
}

/* Returns the number of half-edges on edge a, b, in either direction. *first: the first of their
 * entries. */
static size_t bins_find(const edge_bins *bins, uint32_t a, uint32_t b, const bin_entry **first)
{
    uint32_t low = TML_MIN_OF(a, b), high = TML_MAX_OF(a, b);
    *first = NULL;
    if (bins->half_count == 0)
        return 0;
    size_t at = bins->offsets[low], end = bins->offsets[low + 1], stop = end;
    while (at < stop) {
        size_t middle = at + (stop - at) / 2;
        if (bins->entries[middle].other < high)
            at = middle + 1;
        else
            stop = middle;
    }
    *first = bins->entries + at;
    size_t count = 0;
    while (at + count < end && bins->entries[at + count].other == high)
        count++;
    return count;
}

/* ---- twins ----------------------------------------------------------------------------------- */

static tml_status refuse_edge(tml_context *tml, const subdivide_mesh *mesh, const bin_entry *group,
                              size_t count)
{
    uint32_t h = group[0].half;
    uint32_t a = mesh->corners[h], b = mesh->corners[next_half(h)];
    if (count > 2)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: edge %u-%u is used by %zu triangles (%u, %u, %u%s), needs one or two; "
            "take the others away, or set desc.fix",
            call, a, b, count, h / 3, group[1].half / 3, group[2].half / 3,
            count > 3 ? " ..." : "");
    return tml_error(
        tml, TML_ERROR_INVALID_ARGUMENT,
        "%s: triangles %u and %u both run along edge %u-%u from %u to %u, so one of them is "
        "wound the wrong way round; reverse it, or set desc.fix",
        call, h / 3, group[1].half / 3, a, b, a, b);
}

/* Pairs half-edges with their twins. An edge of more than two triangles, or of two with disagreeing
 * windings, is refused. With fix it is cut into boundary edges. */
static tml_status find_twins(tml_context *tml, subdivide_mesh *mesh, const edge_bins *bins,
                             bool fix)
{
    const uint32_t *corners = mesh->corners;
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        size_t end = bins->offsets[v + 1];
        for (size_t i = bins->offsets[v], count; i < end; i += count) {
            const bin_entry *group = bins->entries + i;
            for (count = 1; i + count < end && group[count].other == group[0].other;)
                count++;
            bool is_pair = count == 2 && corners[group[0].half] != corners[group[1].half];
            if (!is_pair && count > 1 && !fix)
                return refuse_edge(tml, mesh, group, count);
            for (size_t k = 0; k < count; k++)
                mesh->twins[group[k].half] = is_pair ? group[1 - k].half : LOOP_NONE;
        }
    }
    return TML_OK;
}

/* ---- fans ------------------------------------------------------------------------------------ */

/* Returns the half-edge from which a counter-clockwise walk meets the whole fan of h. In an open
 * fan it is the one without a twin, otherwise h. */
static uint32_t fan_start(const subdivide_mesh *mesh, uint32_t h)
{
    uint32_t start = h;
    while (mesh->twins[start] != LOOP_NONE) {
        start = next_half(mesh->twins[start]);
        if (start == h)
            break;
    }
    return start;
}

/* Returns the number of edges in a fan. *triangles: its number of triangles, which is one less if
 * the fan is open. */
static uint32_t fan_valence(const subdivide_mesh *mesh, uint32_t start, uint32_t *triangles)
{
    uint32_t at = start;
    *triangles = 0;
    do {
        ++*triangles;
        at = mesh->twins[prev_half(at)];
    } while (at != LOOP_NONE && at != start);
    return *triangles + (at == LOOP_NONE);
}

/* Makes boundary vertices corners according to the boundary rule, and finds max_valence. Requires
 * mesh->starts. */
static void sharpen_boundary(subdivide_mesh *mesh, tml_subdivide_boundary boundary)
{
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        if (mesh->starts[v] == LOOP_NONE)
            continue;
        uint32_t triangles, valence = fan_valence(mesh, mesh->starts[v], &triangles);
        mesh->max_valence = TML_MAX_OF(mesh->max_valence, valence);
        bool is_corner = boundary == TML_BOUNDARY_PINNED ||
                         (boundary == TML_BOUNDARY_EDGE_AND_CORNER && valence == 2);
        if (valence > triangles && is_corner)
            mesh->vertex_sharp[v] = LOOP_INFINITE;
    }
}

/* Appends a copy of vertex source, without a half-edge. vertex_room suffices for it. */
static tml_status add_vertex(tml_context *tml, subdivide_mesh *mesh, uint32_t source)
{
    if (!mesh->vertex_sources) {
        mesh->vertex_sources = tml_alloc_array(tml, mesh->vertex_room, sizeof(uint32_t));
        if (!mesh->vertex_sources)
            return topology_out_of_memory(tml, mesh->vertex_room * sizeof(uint32_t));
        for (uint64_t v = 0; v < mesh->vertex_count; v++)
            mesh->vertex_sources[v] = (uint32_t)v;
    }
    mesh->starts[mesh->vertex_count] = LOOP_NONE;
    mesh->vertex_sharp[mesh->vertex_count] = mesh->vertex_sharp[source];
    mesh->vertex_sources[mesh->vertex_count++] = source;
    return TML_OK;
}

/* The treatment of further fans at a vertex. */
typedef enum further_fans {
    FANS_REFUSED,
    FANS_SPLIT,  /* each one gets its own vertex */
    FANS_PINNED, /* the same, and all these vertices are corners, which do not move */
} further_fans;

/* Gives each vertex the first half-edge of its fan, and each further fan a new vertex, unless these
 * are refused. Otherwise vertex_room allows for as many new vertices as there are half-edges. */
static tml_status find_fans(tml_context *tml, subdivide_mesh *mesh, further_fans further,
                            tml_subdivide_boundary boundary)
{
    uint64_t half_count = 3 * mesh->triangle_count;
    uint8_t *is_seen = tml_alloc_array(tml, half_count, 1);
    if (!is_seen && half_count)
        return topology_out_of_memory(tml, half_count);
    for (uint64_t v = 0; v < mesh->vertex_count; v++)
        mesh->starts[v] = LOOP_NONE;
    if (is_seen)
        memset(is_seen, 0, half_count);
    tml_status status = TML_OK;
    for (uint32_t h = 0; h < half_count && status == TML_OK; h++) {
        if (is_seen[h])
            continue;
        uint32_t vertex = mesh->corners[h], start = fan_start(mesh, h), at = start;
        if (mesh->starts[vertex] != LOOP_NONE) {
            if (further == FANS_REFUSED) {
                status = tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    "%s: vertex %u joins triangles that share no edge there: those around edge "
                    "%u-%u "
                    "(triangle %u) and those around edge %u-%u (triangle %u); give each fan a "
                    "vertex "
                    "of its own, or set desc.fix",
                    call, vertex, vertex, mesh->corners[next_half(mesh->starts[vertex])],
                    mesh->starts[vertex] / 3, vertex, mesh->corners[next_half(start)], start / 3);
                break;
            }
            if (further == FANS_PINNED)
                mesh->vertex_sharp[vertex] = LOOP_INFINITE;
            status = add_vertex(tml, mesh, vertex);
            if (status != TML_OK)
                break;
            vertex = (uint32_t)mesh->vertex_count - 1;
        }
        mesh->starts[vertex] = start;
        do {
            is_seen[at] = 1;
            mesh->corners[at] = vertex;
            at = mesh->twins[prev_half(at)];
        } while (at != LOOP_NONE && at != start);
    }
    tml_free(tml, is_seen, half_count);
    if (status == TML_OK)
        sharpen_boundary(mesh, boundary);
    return status;
}

/* ---- what can be mended ---------------------------------------------------------------------- */

static double triangle_area(const float *positions, const uint32_t *corner)
{
    double edge[2][3];
    for (int a = 0; a < 3; a++) {
        double origin = (double)positions[3 * (size_t)corner[0] + (size_t)a];
        edge[0][a] = (double)positions[3 * (size_t)corner[1] + (size_t)a] - origin;
        edge[1][a] = (double)positions[3 * (size_t)corner[2] + (size_t)a] - origin;
    }
    double square = 0.0;
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double n = edge[0][b] * edge[1][c] - edge[0][c] * edge[1][b];
        square += n * n;
    }
    return 0.5 * sqrt(square);
}

/* Visits the connected component of triangle first, and decides which triangles to reverse so that
 * the windings agree. The triangles that stay have the larger area.
 * state  per triangle: 0 not visited, 1 stays, 2 to be reversed
 * stack  room for all triangles */
static void turn_component(const subdivide_mesh *mesh, const float *positions, uint32_t first,
                           uint8_t *state, uint32_t *stack)
{
    size_t count = 0, done = 0;
    double area[2] = {0.0, 0.0};
    state[first] = 1;
    stack[count++] = first;
    for (; done < count; done++) {
        uint32_t t = stack[done];
        area[state[t] - 1] += triangle_area(positions, mesh->corners + 3 * (size_t)t);
        for (uint32_t h = 3 * t; h < 3 * t + 3; h++) {
            uint32_t twin = mesh->twins[h]; /* the edge's other half-edge, in either direction */
            if (twin == LOOP_NONE || state[twin / 3])
                continue;
            bool agrees = mesh->corners[h] != mesh->corners[twin];
            state[twin / 3] = (uint8_t)(agrees ? state[t] : 3 - state[t]);
            stack[count++] = twin / 3;
        }
    }
    if (area[1] > area[0])
        for (size_t i = 0; i < count; i++)
            state[stack[i]] = (uint8_t)(3 - state[stack[i]]);
}

/* Makes the windings of each component agree. In a one-sided component they disagree at some edges,
 * which find_twins cuts. */
static tml_status turn_triangles(tml_context *tml, subdivide_mesh *mesh, const float *positions,
                                 const edge_bins *bins, uint64_t input_count)
{
    uint64_t count = mesh->triangle_count;
    uint8_t *state = tml_alloc_array(tml, count, 1);
    uint32_t *stack = tml_alloc_array(tml, count, sizeof *stack);
    mesh->flipped = tml_alloc_array(tml, input_count, 1);
    tml_status status = TML_OK;
    if (!state || !stack || !mesh->flipped) {
        status = count ? topology_out_of_memory(tml, count * sizeof *stack) : TML_OK;
        goto done;
    }
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        size_t end = bins->offsets[v + 1];
        for (size_t i = bins->offsets[v], pair; i < end; i += pair) {
            const bin_entry *group = bins->entries + i;
            for (pair = 1; i + pair < end && group[pair].other == group[0].other;)
                pair++;
            for (size_t k = 0; k < pair; k++)
                mesh->twins[group[k].half] = pair == 2 ? group[1 - k].half : LOOP_NONE;
        }
    }
    memset(state, 0, count);
    memset(mesh->flipped, 0, input_count);
    for (uint32_t t = 0; t < count; t++)
        if (!state[t])
            turn_component(mesh, positions, t, state, stack);
    for (uint32_t t = 0; t < count; t++) {
        if (state[t] != 2)
            continue;
        uint32_t *corner = mesh->corners + 3 * (size_t)t, kept = corner[1];
        corner[1] = corner[2];
        corner[2] = kept;
        mesh->flipped[mesh->triangle_origins ? mesh->triangle_origins[t] : t] = 1;
        mesh->flipped_count++;
    }
done:
    tml_free(tml, state, count);
    tml_free(tml, stack, count * sizeof *stack);
    return status;
}

/* ---- reading the input ----------------------------------------------------------------------- */

static tml_status check_positions(tml_context *tml, const subdivide_input *input)
{
    for (uint64_t i = 0; i < 3 * input->vertex_count; i++)
        if (!isfinite(input->positions[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: coordinate %u of position %llu is %g, needs a finite number",
                             call, (unsigned)(i % 3), (unsigned long long)(i / 3),
                             (double)input->positions[i]);
    return TML_OK;
}

/* Allocates triangle_origins, unless it exists. Until then each triangle has its index in the
 * input. */
static tml_status origins_make(tml_context *tml, subdivide_mesh *mesh, uint64_t input_count)
{
    if (mesh->triangle_origins)
        return TML_OK;
    mesh->triangle_origins = tml_alloc_array(tml, input_count, sizeof *mesh->triangle_origins);
    if (!mesh->triangle_origins)
        return topology_out_of_memory(tml, input_count * sizeof *mesh->triangle_origins);
    for (uint64_t i = 0; i < mesh->triangle_count; i++)
        mesh->triangle_origins[i] = (uint32_t)i;
    return TML_OK;
}

/* Copies the triangles. One with two equal corners is left out with fix, and refused without. */
static tml_status copy_triangles(tml_context *tml, const subdivide_input *input,
                                 subdivide_mesh *mesh)
{
    for (uint64_t t = 0; t < input->triangle_count; t++) {
        const uint32_t *corner = input->indices + 3 * t;
        for (uint32_t k = 0; k < 3; k++)
            if (corner[k] >= input->vertex_count)
                return tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    "%s: corner %u of triangle %llu is vertex %u, needs less than %llu, the "
                    "count of positions",
                    call, k, (unsigned long long)t, corner[k],
                    (unsigned long long)input->vertex_count);
        bool is_flat = corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0];
        if (is_flat && !input->fix)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: triangle %llu has vertices %u, %u and %u: one of its edges leads from a "
                "vertex to itself; leave it out, or set desc.fix",
                call, (unsigned long long)t, corner[0], corner[1], corner[2]);
        if (is_flat) {
            tml_status status = origins_make(tml, mesh, input->triangle_count);
            if (status != TML_OK)
                return status;
            mesh->removed_count++;
            continue;
        }
        if (mesh->triangle_origins)
            mesh->triangle_origins[mesh->triangle_count] = (uint32_t)t;
        memcpy(mesh->corners + 3 * mesh->triangle_count++, corner, 3 * sizeof *corner);
    }
    return TML_OK;
}

/* ---- duplicates ------------------------------------------------------------------------------ */

/* Flags in is_gone all but the first of count triangles with the same three corners. The first one
 * of opposite winding stays, too, if no other triangle uses their edges: it then closes a sheet
 * with the first one.
 * same        their half-edges between the lowest and the middle vertex, in the order of triangles
 * edge_count  the number of all half-edges on that edge */
static void flag_duplicates(const subdivide_mesh *mesh, const edge_bins *bins,
                            const bin_entry *same, size_t count, size_t edge_count,
                            uint8_t *is_gone)
{
    const uint32_t *corners = mesh->corners;
    uint32_t first = same[0].half, opposite = LOOP_NONE;
    for (size_t i = 1; i < count; i++) {
        uint32_t half = same[i].half;
        if (opposite == LOOP_NONE && corners[half] != corners[first])
            opposite = half;
        else
            is_gone[half / 3] = 1;
    }
    if (opposite == LOOP_NONE)
        return;
    const bin_entry *unused;
    uint32_t a = corners[first], b = corners[next_half(first)], c = corners[prev_half(first)];
    bool is_closed = edge_count == count && bins_find(bins, b, c, &unused) == count &&
                     bins_find(bins, c, a, &unused) == count;
    is_gone[opposite / 3] = !is_closed;
}

/* Returns the largest number of half-edges on one edge. */
static size_t largest_group(const edge_bins *bins)
{
    size_t most = 0;
    for (uint64_t v = 0; v < bins->vertex_count; v++)
        for (size_t i = bins->offsets[v], run = 0; i < bins->offsets[v + 1]; i++) {
            bool goes_on = run && bins->entries[i].other == bins->entries[i - 1].other;
            run = goes_on ? run + 1 : 1;
            most = TML_MAX_OF(most, run);
        }
    return most;
}

/* Flags the triangles that flag_duplicates rejects. same: scratch for all half-edges of an edge. */
static void find_duplicates(const subdivide_mesh *mesh, const edge_bins *bins, bin_entry *same,
                            uint8_t *is_gone)
{
    for (uint64_t v = 0; v < bins->vertex_count; v++) {
        size_t end = bins->offsets[v + 1];
        for (size_t i = bins->offsets[v], count; i < end; i += count) {
            const bin_entry *group = bins->entries + i;
            size_t found = 0;
            for (count = 0; i + count < end && group[count].other == group[0].other; count++) {
                uint32_t half = group[count].half, third = mesh->corners[prev_half(half)];
                if (third > group[0].other) /* only once, on its lowest edge */
                    same[found++] = (bin_entry){.other = third, .half = half};
            }
            if (found < 2)
                continue;
            sort_bin(same, found);
            for (size_t first = 0, run; first < found; first += run) {
                for (run = 1; first + run < found && same[first + run].other == same[first].other;)
                    run++;
                if (run > 1)
                    flag_duplicates(mesh, bins, same + first, run, count, is_gone);
            }
        }
    }
}

/* Removes the triangles that find_duplicates flags. The bins are outdated afterwards. */
static tml_status drop_duplicates(tml_context *tml, subdivide_mesh *mesh, const edge_bins *bins,
                                  uint64_t input_count)
{
    size_t room = largest_group(bins);
    if (room < 2)
        return TML_OK;
    uint64_t count = mesh->triangle_count, kept = 0;
    uint8_t *is_gone = tml_alloc_array(tml, count, 1);
    bin_entry *same = tml_alloc_array(tml, room, sizeof *same);
    tml_status status =
        is_gone && same ? TML_OK : topology_out_of_memory(tml, count + room * sizeof *same);
    if (status == TML_OK) {
        memset(is_gone, 0, count);
        find_duplicates(mesh, bins, same, is_gone);
        if (memchr(is_gone, 1, count))
            status = origins_make(tml, mesh, input_count);
    }
    for (uint64_t t = 0; t < count && status == TML_OK; t++) {
        if (is_gone[t])
            continue;
        memmove(mesh->corners + 3 * kept, mesh->corners + 3 * t, 3 * sizeof *mesh->corners);
        if (mesh->triangle_origins)
            mesh->triangle_origins[kept] = mesh->triangle_origins[t];
        kept++;
    }
    if (status == TML_OK) {
        mesh->duplicate_count = count - kept;
        mesh->removed_count += count - kept;
        mesh->triangle_count = kept;
    }
    tml_free(tml, same, room * sizeof *same);
    tml_free(tml, is_gone, count);
    return status;
}

/* ---- sharpness ------------------------------------------------------------------------------- */

/* Limits a sharpness to LOOP_INFINITE in *out. NaN and values below 0 are refused. */
static tml_status check_sharpness(tml_context *tml, const char *field, uint64_t i, float given,
                                  float *out)
{
    if (!(given >= 0.0f))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s[%llu] is %g, needs 0 (smooth) to 10 (infinitely sharp)", call,
                         field, (unsigned long long)i, (double)given);
    *out = TML_MIN_OF(given, LOOP_INFINITE);
    return TML_OK;
}

static tml_status read_creases(tml_context *tml, const subdivide_input *input,
                               const edge_bins *bins, subdivide_mesh *mesh)
{
    for (uint64_t h = 0; h < 3 * mesh->triangle_count; h++)
        mesh->sharp[h] = mesh->twins[h] == LOOP_NONE ? LOOP_INFINITE : 0.0f;
    for (uint64_t i = 0; i < input->crease_count; i++) {
        const uint32_t *ends = input->crease_edges + 2 * i;
        float sharp = LOOP_INFINITE;
        if (input->crease_sharpness) {
            tml_status status = check_sharpness(tml, "desc.crease_sharpness", i,
                                                input->crease_sharpness[i], &sharp);
            if (status != TML_OK)
                return status;
        }
        const bin_entry *group = NULL;
        size_t count = ends[0] < input->vertex_count && ends[1] < input->vertex_count
                           ? bins_find(bins, ends[0], ends[1], &group)
                           : 0;
        if (count == 0 && !input->fix) /* fix may have removed its triangles */
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.crease_edges[%llu] is %u-%u, which is no edge of the mesh",
                             call, (unsigned long long)i, ends[0], ends[1]);
        for (size_t k = 0; k < count; k++)
            mesh->sharp[group[k].half] = TML_MAX_OF(mesh->sharp[group[k].half], sharp);
    }
    return TML_OK;
}

static tml_status read_corners(tml_context *tml, const subdivide_input *input, subdivide_mesh *mesh)
{
    for (uint64_t v = 0; v < mesh->vertex_count; v++)
        mesh->vertex_sharp[v] = 0.0f;
    for (uint64_t i = 0; i < input->corner_count; i++) {
        uint32_t vertex = input->corners[i];
        if (vertex >= input->vertex_count)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: desc.corners[%llu] is vertex %u, needs less than %llu, the count of "
                "positions",
                call, (unsigned long long)i, vertex, (unsigned long long)input->vertex_count);
        float sharp = LOOP_INFINITE;
        if (input->corner_sharpness) {
            tml_status status = check_sharpness(tml, "desc.corner_sharpness", i,
                                                input->corner_sharpness[i], &sharp);
            if (status != TML_OK)
                return status;
        }
        mesh->vertex_sharp[vertex] = TML_MAX_OF(mesh->vertex_sharp[vertex], sharp);
    }
    return TML_OK;
}

static void count_edges(subdivide_mesh *mesh)
{
    for (uint32_t h = 0; h < 3 * mesh->triangle_count; h++) {
        if (h > mesh->twins[h])
            continue;
        mesh->edge_count++;
        if (mesh->twins[h] == LOOP_NONE)
            mesh->boundary_edge_count++;
        else if (mesh->sharp[h] > 0.0f)
            mesh->sharp_edge_count++;
        if (mesh->sharp[h] < LOOP_INFINITE)
            mesh->max_sharpness = TML_MAX_OF(mesh->max_sharpness, mesh->sharp[h]);
    }
    for (uint64_t v = 0; v < mesh->vertex_count; v++)
        if (mesh->vertex_sharp[v] < LOOP_INFINITE)
            mesh->max_sharpness = TML_MAX_OF(mesh->max_sharpness, mesh->vertex_sharp[v]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tml_status mesh_alloc(tml_context *tml, uint64_t vertex_room, uint64_t triangle_count,
                             subdivide_mesh *out)
{
    uint64_t halves = 3 * triangle_count;
    out->vertex_room = vertex_room;
    out->corners = tml_alloc_array(tml, halves, sizeof *out->corners);
    out->twins = tml_alloc_array(tml, halves, sizeof *out->twins);
    out->sharp = tml_alloc_array(tml, halves, sizeof *out->sharp);
    out->starts = tml_alloc_array(tml, vertex_room, sizeof *out->starts);
    out->vertex_sharp = tml_alloc_array(tml, vertex_room, sizeof *out->vertex_sharp);
    bool has_triangles = out->corners && out->twins && out->sharp;
    bool has_vertices = out->starts && out->vertex_sharp;
    if ((has_triangles || !halves) && (has_vertices || !vertex_room))
        return TML_OK;
    return topology_out_of_memory(tml, halves * 12 + vertex_room * 8);
}

static void mesh_release(tml_context *tml, subdivide_mesh *mesh, uint64_t input_triangles)
{
    uint64_t halves = 3 * input_triangles;
    tml_free(tml, mesh->corners, halves * sizeof *mesh->corners);
    tml_free(tml, mesh->twins, halves * sizeof *mesh->twins);
    tml_free(tml, mesh->sharp, halves * sizeof *mesh->sharp);
    tml_free(tml, mesh->starts, mesh->vertex_room * sizeof *mesh->starts);
    tml_free(tml, mesh->vertex_sharp, mesh->vertex_room * sizeof *mesh->vertex_sharp);
    tml_free(tml, mesh->vertex_sources, mesh->vertex_room * sizeof *mesh->vertex_sources);
    tml_free(tml, mesh->triangle_origins, input_triangles * sizeof *mesh->triangle_origins);
    tml_free(tml, mesh->flipped, input_triangles);
    *mesh = (subdivide_mesh){.corners = NULL};
}

void subdivide_mesh_free(tml_context *tml, subdivide_mesh *mesh)
{
    mesh_release(tml, mesh, mesh->triangle_count + mesh->removed_count);
}

tml_status subdivide_mesh_create(tml_context *tml, const subdivide_input *input,
                                 subdivide_mesh *out)
{
    *out =
        (subdivide_mesh){.vertex_count = input->vertex_count, .source_count = input->vertex_count};
    /* Each half-edge makes at most one split vertex. */
    uint64_t room = input->vertex_count + (input->fix ? 3 * input->triangle_count : 0);
    edge_bins bins = {.offsets = NULL};
    tml_status status = check_positions(tml, input);
    TML_THEN(status, mesh_alloc(tml, room, input->triangle_count, out));
    TML_THEN(status, copy_triangles(tml, input, out));
    TML_THEN(status, bins_create(tml, out, &bins));
    if (status == TML_OK && input->fix)
        status = drop_duplicates(tml, out, &bins, input->triangle_count);
    if (status == TML_OK && out->duplicate_count)
        status = bins_renew(tml, out, &bins);
    if (status == TML_OK && input->fix)
        status = turn_triangles(tml, out, input->positions, &bins, input->triangle_count);
    if (status == TML_OK && out->flipped_count)
        status = bins_renew(tml, out, &bins);
    TML_THEN(status, find_twins(tml, out, &bins, input->fix));
    TML_THEN(status, read_creases(tml, input, &bins, out));
    TML_THEN(status, read_corners(tml, input, out));
    TML_THEN(status, find_fans(tml, out, input->fix ? FANS_SPLIT : FANS_REFUSED, input->boundary));
    bins_free(tml, &bins);
    if (status == TML_OK)
        count_edges(out);
    else
        mesh_release(tml, out, input->triangle_count);
    return status;
}

/* ---- channels -------------------------------------------------------------------------------- */

/* Copies the channel's corners, in the order and winding that the mesh's triangles have after
 * fix. */
static tml_status copy_channel_triangles(tml_context *tml, const subdivide_mesh *mesh,
                                         const uint32_t *indices, uint64_t value_count,
                                         uint32_t number, subdivide_mesh *out)
{
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t origin = mesh->triangle_origins ? mesh->triangle_origins[t] : t;
        const uint32_t *corner = indices + 3 * origin;
        bool is_flipped = mesh->flipped && mesh->flipped[origin];
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t value = corner[is_flipped && k ? 3 - k : k];
            if (value >= value_count)
                return tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    "%s: channels[%u]: corner %u of triangle %llu has value %u, needs less "
                    "than %llu, the count of values",
                    call, number, k, (unsigned long long)origin, value,
                    (unsigned long long)value_count);
            out->corners[3 * t + k] = value;
        }
    }
    return TML_OK;
}

/* Makes each value at least as sharp as the mesh's vertices that use it. */
static void read_channel_corners(const subdivide_mesh *mesh, subdivide_mesh *out)
{
    for (uint64_t h = 0; h < 3 * out->triangle_count; h++) {
        float *sharp = &out->vertex_sharp[out->corners[h]];
        *sharp = TML_MAX_OF(*sharp, mesh->vertex_sharp[mesh->corners[h]]);
    }
}

tml_status subdivide_mesh_create_channel(tml_context *tml, const subdivide_mesh *mesh,
                                         const uint32_t *indices, uint64_t value_count,
                                         tml_subdivide_seams seams, uint32_t number,
                                         subdivide_mesh *out)
{
    static const tml_subdivide_boundary boundaries[] = {
        [TML_SEAMS_CORNERS] = TML_BOUNDARY_EDGE_AND_CORNER,
        [TML_SEAMS_SMOOTH] = TML_BOUNDARY_EDGE_ONLY,
        [TML_SEAMS_PINNED] = TML_BOUNDARY_PINNED,
        [TML_SEAMS_LINEAR] = TML_BOUNDARY_EDGE_ONLY,
    };
    *out = (subdivide_mesh){.vertex_count = value_count,
                            .source_count = value_count,
                            .triangle_count = mesh->triangle_count};
    tml_status status =
        mesh_alloc(tml, value_count + 3 * mesh->triangle_count, mesh->triangle_count, out);
    TML_THEN(status, copy_channel_triangles(tml, mesh, indices, value_count, number, out));
    if (status == TML_OK) {
        for (size_t v = 0; v < out->vertex_room; v++)
            out->vertex_sharp[v] = 0.0f;
        for (uint32_t h = 0; h < 3 * mesh->triangle_count; h++) {
            uint32_t twin = mesh->twins[h];
            bool is_seam = twin == LOOP_NONE || out->corners[h] != out->corners[next_half(twin)] ||
                           out->corners[next_half(h)] != out->corners[twin];
            out->twins[h] = is_seam ? LOOP_NONE : twin;
            out->sharp[h] = is_seam ? LOOP_INFINITE : mesh->sharp[h];
            /* At the end of a seam, or where it touches another part, both sides of a seam edge
             * have the same value. Such a value is a corner. */
            if (is_seam && twin != LOOP_NONE && out->corners[h] == out->corners[next_half(twin)])
                out->vertex_sharp[out->corners[h]] = LOOP_INFINITE;
        }
        status = find_fans(tml, out, FANS_PINNED, boundaries[seams]);
    }
    if (status == TML_OK) {
        read_channel_corners(mesh, out);
        count_edges(out);
    } else {
        mesh_release(tml, out, mesh->triangle_count);
    }
    return status;
}
