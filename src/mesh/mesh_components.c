/* Connected components of a mesh, one stretch after another. See mesh_components.h.
 *
 * A stretch's triangles unite vertices of a window. Each set gets a label: that of its vertices
 * that earlier stretches named, or a new one. If a set has several labels, these are united in
 * turn. A second pass over the same windows makes the same labels again, when it is known which of
 * them are kept. */
#include "mesh/mesh_components.h"

#include <string.h>

#include "core/core_internal.h"

#define NONE UINT64_MAX

enum { LABELS_FIRST = 64, WINDOW_ARRAYS = 4 };

/* A component, as known so far. */
typedef struct label {
    uint64_t parent;    /* itself, unless united with another label */
    uint64_t triangles; /* at the end, 0 if not kept */
    uint64_t first;     /* first triangle; NONE: there is none */
} label;

typedef struct window {
    mesh_forest forest;
    uint64_t base, count, live;          /* vertices; live ones may have been named before */
    uint64_t room;                       /* vertices that the arrays have room for */
    uint64_t *set;                       /* per live vertex: the first vertex of its set, or NONE */
    uint64_t *label;                     /* per set, at its first vertex */
    _Atomic uint64_t *triangles, *first; /* likewise, of this stretch */
} window;

typedef struct components {
    const mesh_sweep *sweep;
    const mesh_bits *kept;
    /* Per stretch: the lowest vertex that it or a later stretch names; the highest vertex that it
     * or an earlier stretch names, plus 1. */
    _Atomic uint64_t *low, *high;
    uint64_t stretches;
    label *labels;
    uint64_t label_count, label_room;
    bool is_again; /* the second pass */
    window w;
} components;

static tml_status mesh_components_out_of_memory(const components *c, uint64_t size)
{
    return tml_error(c->sweep->tml, TML_ERROR_OUT_OF_MEMORY,
                     "%s: no memory for %llu bytes to find components; take a region at a time",
                     tml_call_name(c->sweep->tml), (unsigned long long)size);
}

static uint64_t mesh_components_load(_Atomic uint64_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void lower(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t least = mesh_components_load(to);
    while (value < least && !atomic_compare_exchange_weak_explicit(
                                to, &least, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void raise(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t most = mesh_components_load(to);
    while (value > most && !atomic_compare_exchange_weak_explicit(
                               to, &most, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void bound_block(void *argument, uint64_t first, uint64_t end)
{
    const components *c = argument;
    uint64_t low = NONE, high = 0;
    for (uint64_t at = first, to = end; bits_run(c->kept, &at, &to); at = to, to = end)
        for (uint64_t i = 3 * at; i < 3 * to; i++) {
            uint64_t vertex = mesh_vertex_at(c->sweep->mesh, i);
            low = TML_MIN_OF(low, vertex);
            high = TML_MAX_OF(high, vertex + 1);
        }
    lower(&c->low[first / c->sweep->stretch], low);
    raise(&c->high[first / c->sweep->stretch], high);
}

static tml_status find_bounds(components *c)
{
    const uint64_t n = c->stretches;
    uint64_t *memory = tml_alloc_array(c->sweep->tml, 2 * n, sizeof *memory);
    if (!memory)
        return mesh_components_out_of_memory(c, 2 * n * sizeof *memory);
    memset(memory, 0xff, n * sizeof *memory);
    memset(memory + n, 0, n * sizeof *memory);
    c->low = (_Atomic uint64_t *)memory;
    c->high = c->low + n;
    tml_status status = mesh_sweep_all(c->sweep, bound_block, c);
    for (uint64_t s = 1; s < n; s++) {
        raise(&c->high[s], mesh_components_load(&c->high[s - 1]));
        lower(&c->low[n - 1 - s], mesh_components_load(&c->low[n - s]));
    }
    return status;
}

/* Returns the number of vertices in the window of stretches [first, end). */
static uint64_t window_size(const components *c, uint64_t first, uint64_t end)
{
    const uint64_t low = mesh_components_load(&c->low[first]),
                   high = mesh_components_load(&c->high[end - 1]);
    return high > low ? high - low : 0;
}

/* Makes room for count vertices. Keeps the sets and labels of the live ones. */
static tml_status window_grow(components *c, uint64_t count)
{
    tml_context *tml = c->sweep->tml;
    window *w = &c->w;
    w->count = count;
    if (count > w->room) {
        const uint64_t room = count + count / 4;
        uint64_t *more = tml_alloc_array(tml, WINDOW_ARRAYS * room, sizeof *more);
        if (!more)
            return mesh_components_out_of_memory(c, WINDOW_ARRAYS * room * sizeof *more);
        if (w->live) {
            memcpy(more, w->set, w->live * sizeof *more);
            memcpy(more + room, w->label, w->live * sizeof *more);
        }
        tml_free(tml, w->set, WINDOW_ARRAYS * w->room * sizeof *more);
        w->room = room;
        w->set = more;
        w->label = more + room;
        w->triangles = (_Atomic uint64_t *)(more + 2 * room);
        w->first = (_Atomic uint64_t *)(more + 3 * room);
    }
    return forest_reset(tml, &w->forest, count)
               ? TML_OK
               : mesh_components_out_of_memory(c, forest_size(count));
}

static tml_status window_open(components *c, uint64_t first, uint64_t end)
{
    window *w = &c->w;
    tml_status status = window_grow(c, window_size(c, first, end));
    if (status != TML_OK || w->count == 0)
        return status;
    w->base = mesh_components_load(&c->low[first]);
    for (uint64_t v = 0; v < w->live; v++)
        if (w->set[v] != NONE)
            forest_set_root(&w->forest, v, w->set[v]);
    return TML_OK;
}

/* Keeps the sets of vertices from base on. Names each by its first vertex that is kept. */
static void window_move(window *w, uint64_t base)
{
    const uint64_t left = TML_MIN_OF(base - w->base, w->count);
    for (uint64_t v = left; v < w->count; v++) {
        uint64_t root = forest_root(&w->forest, v);
        if (root >= left)
            continue;
        forest_set_root(&w->forest, root, v);
        w->label[v] = w->label[root];
    }
    w->live = w->count - left;
    for (uint64_t v = left; v < w->count; v++) {
        uint64_t root = forest_root(&w->forest, v);
        bool is_used = forest_uses(&w->forest, v);
        w->set[v - left] = is_used ? root - left : NONE;
        w->label[v - left] = is_used && root == v ? w->label[v] : NONE;
    }
}

/* ---- labels ---------------------------------------------------------------------------------- */

static uint64_t root_label(const components *c, uint64_t l)
{
    while (c->labels[l].parent != l)
        l = c->labels[l].parent = c->labels[c->labels[l].parent].parent;
    return l;
}

static void unite_labels(components *c, uint64_t a, uint64_t b)
{
    a = root_label(c, a);
    b = root_label(c, b);
    if (a == b)
        return;
    label *low = &c->labels[TML_MIN_OF(a, b)], *high = &c->labels[TML_MAX_OF(a, b)];
    high->parent = low->parent;
    low->triangles += high->triangles;
    low->first = TML_MIN_OF(low->first, high->first);
}

static tml_status new_label(components *c, uint64_t *out)
{
    *out = c->label_count++;
    if (c->is_again)
        return TML_OK;
    if (*out == c->label_room) {
        uint64_t room = c->label_room ? 2 * c->label_room : LABELS_FIRST;
        label *more = tml_alloc_array(c->sweep->tml, room, sizeof *more);
        if (!more)
            return mesh_components_out_of_memory(c, room * sizeof *more);
        if (c->label_room)
            memcpy(more, c->labels, c->label_room * sizeof *more);
        tml_free(c->sweep->tml, c->labels, c->label_room * sizeof *more);
        c->labels = more;
        c->label_room = room;
    }
    c->labels[*out] = (label){*out, 0, NONE};
    return TML_OK;
}

/* Gives each set of the window its label. */
static tml_status label_sets(components *c)
{
    window *w = &c->w;
    tml_status status = TML_OK;
    for (uint64_t v = 0; v < w->live; v++) {
        uint64_t root = w->label[v] == NONE ? v : forest_root(&w->forest, v);
        if (root == v)
            continue;
        if (w->label[root] == NONE)
            w->label[root] = w->label[v];
        else if (!c->is_again)
            unite_labels(c, w->label[root], w->label[v]);
    }
    for (uint64_t v = forest_next_root(&w->forest, 0); v < w->count && status == TML_OK;
         v = forest_next_root(&w->forest, v + 1)) {
        if (v >= w->live || w->label[v] == NONE)
            status = new_label(c, &w->label[v]);
        atomic_store_explicit(&w->triangles[v], 0, memory_order_relaxed);
        atomic_store_explicit(&w->first[v], NONE, memory_order_relaxed);
    }
    return status;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void unite_block(void *argument, uint64_t first, uint64_t end)
{
    const components *c = argument;
    const tml_mesh *mesh = c->sweep->mesh;
    const mesh_triangles triangles = {mesh->indices, mesh->indices64, c->w.base, NULL};
    for (uint64_t at = first, to = end; bits_run(c->kept, &at, &to); at = to, to = end)
        (void)forest_unite_triangles(&c->w.forest, &triangles, at, to);
}

static uint64_t root_of(const components *c, uint64_t triangle)
{
    return forest_root(&c->w.forest, mesh_vertex_at(c->sweep->mesh, 3 * triangle) - c->w.base);
}

/* Consecutive triangles mostly have one component, so one atomic addition serves a run of them. */
static void count_block(void *argument, uint64_t first, uint64_t end)
{
    const components *c = argument;
    uint64_t last = NONE, run = 0;
    for (uint64_t at = first, to = end; bits_run(c->kept, &at, &to); at = to, to = end)
        for (uint64_t t = at; t < to; t++) {
            uint64_t root = root_of(c, t);
            if (root != last) {
                if (run)
                    atomic_fetch_add_explicit(&c->w.triangles[last], run, memory_order_relaxed);
                lower(&c->w.first[root], t);
                last = root;
                run = 0;
            }
            run++;
        }
    if (run)
        atomic_fetch_add_explicit(&c->w.triangles[last], run, memory_order_relaxed);
}

static void flag_block(void *argument, uint64_t first, uint64_t end)
{
    const components *c = argument;
    for (uint64_t from = first; from < end; from += BITS_A_WORD) {
        uint64_t word = bits_word(c->kept, from / BITS_A_WORD);
        for (uint64_t left = word; left; left &= left - 1) {
            uint64_t t = from + (uint64_t)__builtin_ctzll(left);
            if (c->labels[c->w.label[root_of(c, t)]].triangles == 0)
                word &= ~((uint64_t)1 << (t - from));
        }
        atomic_store_explicit(&c->kept->words[from / BITS_A_WORD], word, memory_order_relaxed);
    }
}

static void mesh_components_add_counts(components *c)
{
    const window *w = &c->w;
    for (uint64_t v = forest_next_root(&w->forest, 0); v < w->count;
         v = forest_next_root(&w->forest, v + 1)) {
        label *l = &c->labels[root_label(c, w->label[v])];
        l->triangles += mesh_components_load(&w->triangles[v]);
        l->first = TML_MIN_OF(l->first, mesh_components_load(&w->first[v]));
    }
}

static tml_status run_stretches(components *c, uint64_t first, uint64_t end)
{
    const uint64_t from = first * c->sweep->stretch;
    const uint64_t to = TML_MIN_OF(end * c->sweep->stretch, c->sweep->mesh->triangle_count);
    tml_status status = window_open(c, first, end);
    if (status != TML_OK || c->w.count == 0)
        return status;
    status = mesh_sweep_run(c->sweep, from, to, unite_block, c);
    TML_THEN(status, label_sets(c));
    TML_THEN(status, mesh_sweep_run(c->sweep, from, to, c->is_again ? flag_block : count_block, c));
    if (status == TML_OK && !c->is_again)
        mesh_components_add_counts(c);
    window_move(&c->w, end < c->stretches ? mesh_components_load(&c->low[end]) : NONE);
    return status;
}

static tml_status run_pass(components *c, bool is_again)
{
    tml_status status = TML_OK;
    c->is_again = is_again;
    c->label_count = 0;
    c->w.live = 0;
    for (uint64_t first = 0, end; first < c->stretches && status == TML_OK; first = end) {
        end = first + 1;
        while (end < c->stretches &&
               (end - first) * c->sweep->stretch < window_size(c, first, end) / 2)
            end++;
        status = run_stretches(c, first, end);
    }
    return status;
}

/* ---- the largest ----------------------------------------------------------------------------- */

/* Sets the triangles of kept labels to 1, of others to 0. *is_any_gone: there are others. */
static tml_status choose_largest(components *c, uint64_t *chosen, bool *is_any_gone)
{
    const tml_mesh *mesh = c->sweep->mesh;
    const uint64_t size = mesh->part_count * sizeof(uint64_t);
    uint64_t *best = tml_alloc_array(c->sweep->tml, mesh->part_count, sizeof *best);
    if (!best)
        return mesh_components_out_of_memory(c, size);
    memset(best, 0xff, size);
    *chosen = 0;
    *is_any_gone = false;
    for (uint64_t l = 0; l < c->label_count; l++) {
        const label *at = &c->labels[l];
        if (at->parent != l || at->triangles == 0)
            continue;
        uint64_t *part = &best[mesh_part_of(mesh, at->first)];
        const label *other = *part == NONE ? NULL : &c->labels[*part];
        *chosen += !other;
        *is_any_gone = *is_any_gone || other;
        if (!other || at->triangles > other->triangles ||
            (at->triangles == other->triangles && at->first < other->first))
            *part = l;
    }
    for (uint64_t l = 0; l < c->label_count; l++) {
        uint64_t root = root_label(c, l), first = c->labels[root].first;
        c->labels[l].triangles = first != NONE && best[mesh_part_of(mesh, first)] == root;
    }
    tml_free(c->sweep->tml, best, size);
    return TML_OK;
}

tml_status mesh_components(const mesh_sweep *sweep, const mesh_bits *kept, bool largest,
                           uint64_t *out)
{
    components c = {.sweep = sweep,
                    .kept = kept,
                    .stretches = TML_CEIL_DIV(sweep->mesh->triangle_count, sweep->stretch)};
    bool is_any_gone = false;
    tml_status status = find_bounds(&c);
    TML_THEN(status, run_pass(&c, false));
    *out = 0;
    for (uint64_t l = 0; l < c.label_count && status == TML_OK; l++)
        *out += c.labels[l].parent == l && c.labels[l].triangles;
    if (status == TML_OK && largest)
        status = choose_largest(&c, out, &is_any_gone);
    if (status == TML_OK && is_any_gone)
        status = run_pass(&c, true);
    tml_free(sweep->tml, (void *)c.low, c.low ? 2 * c.stretches * sizeof *c.low : 0);
    tml_free(sweep->tml, c.labels, c.label_room * sizeof *c.labels);
    tml_free(sweep->tml, c.w.set, WINDOW_ARRAYS * c.w.room * sizeof *c.w.set);
    forest_destroy(sweep->tml, &c.w.forest);
    return status;
}
