/* Surface nets on a device, as streams. Maps make a bit for each edge between unlike samples and for each cell that one
 * touches; scans count these, compactions list them, and maps make a vertex of each cell and a face of each edge. What is
 * counted stays in the arena from the counts to the faces, unless it must grow meanwhile: then it is made again. */
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include <math.h>

#include "kernels/real64_host.h"
#include "labels/surface_nets.h"
#include "stream/stream_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/surface_nets_position.k.h"
#include "kernels/surface_nets_stream.k.h"

#include "labels_library.h"

/* clang-format off */
TML_KERNEL_WITH(labels, uint, net_find_members,
                (tml_words volume, tml_words plan, tml_index i), {
    return net_members_of(volume, plan, U(i));
})
TML_KERNEL_WITH(labels, uvec3, net_find_edges,
                (tml_words volume, tml_words members, tml_words plan, tml_index i), {
    return net_edges_of(volume, members, plan, U(i));
})
TML_KERNEL_WITH(labels, uvec3, net_keep_edges,
                (uvec3 edges, tml_words volume, tml_words members, tml_words plan, tml_index i), {
    return UVEC3(net_kept_of(volume, members, plan, U(i), edges.x, 0u),
                 net_kept_of(volume, members, plan, U(i), edges.y, 1u),
                 net_kept_of(volume, members, plan, U(i), edges.z, 2u));
})
TML_KERNEL_OUTS_WITH(labels, (uint cells, uint vertices, uint faces, uvec3 in_turn),
                     net_find_cells, (tml_words edges, tml_words plan, tml_index i), {
    net_find_cells_out o;
    uvec3 e = net_edges_at(edges, U(i));
    o.cells = net_cells_of(edges, plan, U(i));
    o.vertices = popcount32(o.cells);
    o.faces = popcount32(e.x) + popcount32(e.y) + popcount32(e.z);
    o.in_turn = net_in_turn(e);
    return o;
})
/* u[0]: 0: all samples are members, and these are no such array. */
TML_KERNEL(uvec4, net_join_rank, (uint cells, uint before, uint members, tml_params p), {
    return UVEC4(cells, before, p.u[0] != 0u ? members : 0xffffffffu, 0u);
})
/* Vertices that are written and that there are, and faces. */
TML_KERNEL(uvec3, net_join_totals, (tml_words kept, tml_words all, tml_words faces), {
    return UVEC3(tml_word(kept, 0u), tml_word(all, 0u), tml_word(faces, 0u));
})

TML_KERNEL_OUTS_WITH(labels, (uvec4 near, uint code, uvec2 state), net_link,
                     (uint cell, tml_words ranks, tml_words edges, tml_words plan, tml_index v), {
    net_link_out o;
    o.code = net_code(edges, plan, cell);
    o.near = net_near(ranks, tml_word(plan, NETS_WORDS), tml_word(plan, NETS_SIZE + 1u), cell, U(v),
                      o.code);
    o.state = net_first_state(plan, net_cell(plan, cell));
    return o;
})
/* f: rates of 2 to 5 neighbours; u[0]: of 6, its bits; u[1]: the bound. */
TML_KERNEL_WITH(labels, uvec2, net_iterate,
                (uvec4 near, uint code, tml_words states, tml_index v, tml_params p), {
    return net_iterated(states, U(v), near, code, VEC4(p.f[0], p.f[1], p.f[2], p.f[3]),
                        uintBitsToFloat(p.u[0]), I(p.u[1]));
})
TML_KERNEL_WITH(labels, vec3, net_place, (uint cell, tml_words plan), {
    uvec3 at = net_cell(plan, cell);
    return nets_position(plan, at, net_place_of(net_first_state(plan, at)));
})
TML_KERNEL_WITH(labels, vec3, net_place_moved,
                (uint cell, tml_words states, tml_words ranks, tml_words plan), {
    uint v = net_rank(ranks, cell / 32u, cell % 32u);
    return nets_position(plan, net_cell(plan, cell), net_place_of(net_state_at(states, v)));
})

/* Labels of one byte, twice, or of two; of two, twice, or of four; of four, twice, or of eight. */
TML_KERNEL_OUTS_WITH(labels, (uvec4 corners, uint labels), net_find_faces_1,
                     (uint edge, tml_words volume, tml_words ranks, tml_words plan), {
    net_find_faces_1_out o;
    net_quad_face face = net_face_of(volume, ranks, plan, edge);
    o.corners = face.corners;
    o.labels = tml_word(plan, NETS_BYTES) == 1u ? net_label_bytes(face.a, face.b)
                                                : net_label_halves(face.a, face.b);
    return o;
})
TML_KERNEL_OUTS_WITH(labels, (uvec4 corners, uvec2 labels), net_find_faces_2,
                     (uint edge, tml_words volume, tml_words ranks, tml_words plan), {
    net_find_faces_2_out o;
    net_quad_face face = net_face_of(volume, ranks, plan, edge);
    uint both = net_label_halves(face.a, face.b);
    o.corners = face.corners;
    o.labels = tml_word(plan, NETS_BYTES) == 2u ? UVEC2(both, both) : UVEC2(face.a.x, face.b.x);
    return o;
})
TML_KERNEL_OUTS_WITH(labels, (uvec4 corners, uvec4 labels), net_find_faces_4,
                     (uint edge, tml_words volume, tml_words ranks, tml_words plan), {
    net_find_faces_4_out o;
    net_quad_face face = net_face_of(volume, ranks, plan, edge);
    o.corners = face.corners;
    o.labels = tml_word(plan, NETS_BYTES) == 4u ? UVEC4(face.a.x, face.b.x, face.a.x, face.b.x)
                                                : UVEC4(face.a.x, face.a.y, face.b.x, face.b.y);
    return o;
})
TML_KERNEL_WITH(labels, uvec3, net_cut, (tml_words corners, tml_words positions, tml_index i), {
    return net_triangle(corners, positions, U(i));
})
/* Of two quads with labels of one byte; behind u[0] quads what was there. */
TML_KERNEL(uint, net_join_bytes, (uint before, tml_words labels, tml_index i, tml_params p), {
    uint first = tml_word(labels, 2u * U(i)) & 0xffffu;
    if (2u * U(i) + 1u == p.u[0])
        return first | (before & 0xffff0000u);
    return first | tml_word(labels, 2u * U(i) + 1u) << 16u;
})
/* Labels of eight bytes, of both triangles. */
TML_KERNEL(uvec4, net_repeat, (tml_words labels, tml_index i), {
    return tml_word_uvec4(labels, U(i) / 2u);
})
/* clang-format on */
#include "kernels/kernel_end.h"

#ifdef TML_VULKAN
extern const tml_vulkan_kernel labels_own_kernels[]; /* made by the build */
#endif

static const char call[] = "tml_surface_labels";

/* ---- arrays ---------------------------------------------------------------------------------- */

enum {
    /* Of the counts. KEPT_: of the faces that are written, where some are left out. */
    MEMBERS,
    EDGES,
    KEPT_EDGES,
    CELLS,
    KEPT_CELLS,
    BEFORE, /* vertices of a word, then of those before */
    FACES,  /* of a word */
    IN_TURN,
    RANKS,
    KEPT_RANKS,
    SUMS, /* 3 */
    VOLUME = SUMS + 3,
    /* Of vertices and faces. */
    LIST, /* of the net's cells, then of edges */
    KEPT_LIST,
    NEAR,
    CODES,
    STATES, /* 2 */
    CORNERS = STATES + 2,
    LABELS,
    OUT_LABELS,
    ARRAYS
};
_Static_assert((int)ARRAYS <= (int)TML_TEMPORARIES, "more temporaries than there are");

enum { MOST_STEPS = 24, MOST_MAPS = 18 };
struct nets_device {
    nets_plan *plan;
    tml_buffer volume, copy; /* copy: of one that lies on the host */
    tml_buffer words;        /* NETS_PLAN_WORDS, then the chosen labels */
    tml_buffer totals;
    uint64_t word_count;       /* of a plane of bits */
    uint32_t all, kept, faces; /* vertices of the net, and those that are written; quads */
    void *arena;               /* that has what was counted; NULL: none has */
    tml_buffer a[ARRAYS];
    stream_step steps[MOST_STEPS + 2 * NETS_SMOOTH_MAX];
    tml_map_desc maps[MOST_MAPS];
    tml_scan_resolved scans[2];
    tml_compact_desc compacts[3];
    tml_reduce_desc reduce;
    uint32_t step_count, map_count, scan_count, compact_count;
};
typedef struct nets_device nets_device;

static void add_array(nets_device *d, uint32_t number, tml_type type, uint64_t count)
{
    d->a[number] = stream_temporary(d->plan->tml, number, type, count);
}

static bool selects(const nets_plan *plan)
{
    return plan->between || plan->no_background;
}

static void make_counted(nets_device *d)
{
    const nets_plan *plan = d->plan;
    const uint64_t count = d->word_count;
    d->a[MEMBERS] = d->words; /* not read */
    if (plan->chosen)
        add_array(d, MEMBERS, TML_U32, count);
    add_array(d, EDGES, TML_VEC(TML_U32, 3), count);
    add_array(d, CELLS, TML_U32, count);
    add_array(d, BEFORE, TML_U32, count);
    add_array(d, FACES, TML_U32, count);
    add_array(d, IN_TURN, TML_VEC(TML_U32, 3), count);
    add_array(d, RANKS, TML_VEC(TML_U32, 4), count);
    d->a[KEPT_EDGES] = d->a[EDGES];
    d->a[KEPT_CELLS] = d->a[CELLS];
    d->a[KEPT_RANKS] = d->a[RANKS];
    if (selects(plan)) {
        add_array(d, KEPT_EDGES, TML_VEC(TML_U32, 3), count);
        add_array(d, KEPT_CELLS, TML_U32, count);
        add_array(d, KEPT_RANKS, TML_VEC(TML_U32, 4), count);
    }
    add_array(d, SUMS, TML_U32, 1);
    add_array(d, SUMS + 1, TML_U32, 1);
    add_array(d, SUMS + 2, TML_U64, 1);
    d->a[VOLUME] = stream_alias(plan->tml, VOLUME, d->volume, TML_U32);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const tml_method methods[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                     TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};

static void add_step(nets_device *d, const stream_op *op, const void *desc)
{
    d->steps[d->step_count++] = (stream_step){.op = op, .desc = desc};
}

static const tml_map_desc *add_map(nets_device *d, uint64_t count, const tml_map_desc *desc)
{
    tml_map_desc *map = &d->maps[d->map_count++];
    *map = *desc;
    map->length = tml_length_of(count);
    add_step(d, &stream_map, map);
    return map;
}

static tml_status add_scan(nets_device *d, tml_buffer values, tml_buffer total)
{
    tml_scan_resolved *scan = &d->scans[d->scan_count++];
    *scan = (tml_scan_resolved){
        .desc = {
            .in = values, .out = values, .total = total, .length = tml_length_of(d->word_count)}};
    add_step(d, &stream_scan, scan);
    return stream_choose_method(d->plan->tml, call, &stream_scan, scan, &scan->desc.method,
                                methods);
}

/* Lists the bits of a mask that are set. */
static tml_status add_list(nets_device *d, tml_buffer mask, uint64_t bits, tml_buffer list)
{
    tml_compact_desc *compact = &d->compacts[d->compact_count++];
    *compact =
        (tml_compact_desc){.keep = {.mask = mask}, .indices = list, .length = tml_length_of(bits)};
    add_step(d, &stream_compact, compact);
    return stream_choose_method(d->plan->tml, call, &stream_compact, compact, &compact->method,
                                methods);
}

/* Cells, and how many vertices there are before them, of the net or of the kept faces. */
static tml_status add_cells(nets_device *d, uint32_t edges, uint32_t cells, uint32_t ranks,
                            uint32_t sum)
{
    const tml_buffer *a = d->a;
    add_map(d, d->word_count,
            &(tml_map_desc){.kernel = TML_USE(net_find_cells),
                            .in = {a[edges], d->words},
                            .out = a[cells],
                            .also = {a[BEFORE], a[FACES], a[IN_TURN]}});
    tml_status status = add_scan(d, a[BEFORE], a[sum]);
    const bool chooses = d->plan->chosen != NULL;
    add_map(d, d->word_count,
            &(tml_map_desc){.kernel = TML_USE(net_join_rank),
                            .params = {.u = {chooses}},
                            .in = {a[cells], a[BEFORE], chooses ? a[MEMBERS] : a[cells]},
                            .out = a[ranks]});
    return status;
}

static tml_status add_counts(nets_device *d)
{
    const tml_buffer *a = d->a;
    const nets_plan *plan = d->plan;
    if (plan->chosen)
        add_map(d, d->word_count,
                &(tml_map_desc){.kernel = TML_USE(net_find_members),
                                .in = {a[VOLUME], d->words},
                                .out = a[MEMBERS]});
    add_map(d, d->word_count,
            &(tml_map_desc){.kernel = TML_USE(net_find_edges),
                            .in = {a[VOLUME], a[MEMBERS], d->words},
                            .out = a[EDGES]});
    tml_status status = add_cells(d, EDGES, CELLS, RANKS, SUMS + 1);
    if (selects(plan) && !status) {
        add_map(d, d->word_count,
                &(tml_map_desc){.kernel = TML_USE(net_keep_edges),
                                .in = {a[EDGES], a[VOLUME], a[MEMBERS], d->words},
                                .out = a[KEPT_EDGES]});
        status = add_cells(d, KEPT_EDGES, KEPT_CELLS, KEPT_RANKS, SUMS);
    }
    d->reduce = (tml_reduce_desc){
        .in = a[FACES], .length = tml_length_of(d->word_count), .out = a[SUMS + 2]};
    add_step(d, &stream_reduce, &d->reduce);
    add_map(d, 1,
            &(tml_map_desc){.kernel = TML_USE(net_join_totals),
                            .in = {a[selects(plan) ? SUMS : SUMS + 1], a[SUMS + 1], a[SUMS + 2]},
                            .out = d->totals});
    return status;
}

static void add_moves(nets_device *d)
{
    const nets_plan *plan = d->plan;
    const tml_buffer *a = d->a;
    tml_map_desc move = {.kernel = TML_USE(net_iterate), .in = {a[NEAR], a[CODES]}};
    const tml_map_desc *turns[NETS_RATES];
    move.params.u[1] = (uint32_t)plan->bound;
    add_map(d, d->all,
            &(tml_map_desc){.kernel = TML_USE(net_link),
                            .in = {a[LIST], a[RANKS], a[EDGES], d->words},
                            .out = a[NEAR],
                            .also = {a[CODES], a[STATES]}});
    for (uint32_t t = 0; t < plan->moves; t++) {
        if (t >= NETS_RATES) {
            add_step(d, &stream_map, turns[t % NETS_RATES]);
            continue;
        }
        const float rate = plan->rates[t] / 6.0f;
        for (int i = 0; i < 4; i++)
            move.params.f[i] = plan->rates[t] / (float)(i + 2);
        memcpy(&move.params.u[0], &rate, sizeof rate);
        move.in[2] = a[STATES + t % 2];
        move.out = a[STATES + 1 - t % 2];
        turns[t] = add_map(d, d->all, &move);
    }
}

static tml_status add_vertices(nets_device *d, tml_buffer vertices)
{
    const nets_plan *plan = d->plan;
    const uint64_t bits = 32 * d->word_count;
    add_array(d, LIST, TML_U32, TML_MAX_OF(d->all, d->faces));
    d->a[KEPT_LIST] = d->a[LIST];
    tml_status status = TML_OK;
    if (plan->moves) {
        add_array(d, NEAR, TML_VEC(TML_U32, 4), d->all);
        add_array(d, CODES, TML_U32, d->all);
        add_array(d, STATES, TML_VEC(TML_U32, 2), d->all);
        add_array(d, STATES + 1, TML_VEC(TML_U32, 2), d->all);
        status = add_list(d, d->a[CELLS], bits, d->a[LIST]);
        add_moves(d);
    }
    if (!status && (!plan->moves || selects(plan))) {
        if (plan->moves)
            add_array(d, KEPT_LIST, TML_U32, d->kept);
        status = add_list(d, d->a[KEPT_CELLS], bits, d->a[KEPT_LIST]);
    }
    tml_map_desc place = {
        .kernel = TML_USE(net_place), .in = {d->a[KEPT_LIST], d->words}, .out = vertices};
    if (plan->moves) {
        place.kernel = TML_USE(net_place_moved);
        place.in[1] = d->a[STATES + plan->moves % 2];
        place.in[2] = d->a[RANKS];
        place.in[3] = d->words;
    }
    add_map(d, d->kept, &place);
    return status;
}

/* How labels are written: by their bytes a quad, half of which are one of two triangles'. */
static tml_status add_faces(nets_device *d, tml_buffer vertices, tml_buffer indices,
                            tml_buffer labels)
{
    const nets_plan *plan = d->plan;
    const bool quads = plan->quads;
    const size_t size = plan->sample_size * (quads ? 2 : 4);
    const tml_type word = size <= 4   ? TML_U32
                          : size == 8 ? TML_VEC(TML_U32, 2)
                                      : TML_VEC(TML_U32, 4);
    const bool is_aside = size == 2 || size == 32; /* is it no element of an array of words? */
    d->a[OUT_LABELS] = stream_alias(plan->tml, OUT_LABELS, labels, word);
    d->a[CORNERS] = indices;
    d->a[LABELS] = d->a[OUT_LABELS];
    if (!quads)
        add_array(d, CORNERS, TML_VEC(TML_U32, 4), d->faces);
    if (is_aside)
        add_array(d, LABELS, word, d->faces);
    const tml_buffer *a = d->a;
    tml_status status = add_list(d, a[IN_TURN], 96 * d->word_count, a[LIST]);
    add_map(d, d->faces,
            &(tml_map_desc){.kernel = size <= 4   ? TML_USE(net_find_faces_1)
                                      : size == 8 ? TML_USE(net_find_faces_2)
                                                  : TML_USE(net_find_faces_4),
                            .in = {a[LIST], a[VOLUME], a[KEPT_RANKS], d->words},
                            .out = a[CORNERS],
                            .also = {a[LABELS]}});
    if (!quads)
        add_map(d, (uint64_t)2 * d->faces,
                &(tml_map_desc){
                    .kernel = TML_USE(net_cut), .in = {a[CORNERS], vertices}, .out = indices});
    if (is_aside && quads)
        add_map(d, TML_CEIL_DIV((uint64_t)d->faces, 2),
                &(tml_map_desc){.kernel = TML_USE(net_join_bytes),
                                .params = {.u = {d->faces}},
                                .in = {a[OUT_LABELS], a[LABELS]},
                                .out = a[OUT_LABELS]});
    else if (is_aside)
        add_map(d, (uint64_t)2 * d->faces,
                &(tml_map_desc){
                    .kernel = TML_USE(net_repeat), .in = {a[LABELS]}, .out = a[OUT_LABELS]});
    return status;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Numbers of samples, of their words and of edges have 32 bits; and doubles by words (kernels/real64.k.h) and floats keep
 * away from numbers that they take for 0 or that are beyond them. */
static bool is_usual(double x, double most)
{
    return x == 0 || (fabs(x) >= 0x1p-30 && fabs(x) <= most);
}

bool nets_run_on_device(const nets_plan *plan)
{
    const tml_engine *engine = plan->tml->engine;
    const uint64_t rows = plan->size[1] * plan->size[2];
    const uint64_t words = plan->words32 * rows;
    const uint64_t samples = plan->dims[0] * plan->dims[1] * plan->dims[2];
    bool is_possible =
        !engine->is_host && !engine->tier && !plan->separate && !plan->indices64 &&
        rows <= UINT32_MAX && words <= UINT32_MAX / 96 && samples <= UINT32_MAX - 32 &&
        samples * TML_MIN_OF(plan->sample_size, 4) <= UINT32_MAX - 32 &&
        samples * plan->sample_size / 4 <= UINT32_MAX - 32 && plan->chosen_count <= UINT32_MAX / 16;
    for (int c = 0; c < 3; c++) {
        is_possible = is_possible && is_usual(plan->origin[c], 0x1p40);
        for (int k = 0; k < 3; k++)
            is_possible = is_possible && is_usual(plan->step[k][c], 0x1p30);
    }
    if (!is_possible)
        return false;
#ifdef TML_VULKAN
    if (engine->learn)
        engine->learn(plan->tml, labels_own_kernels);
#endif
    const tml_map_desc map = {.kernel = TML_USE(net_find_cells)};
    return stream_supports_op(plan->tml, stream_map.parts[engine->part], &map);
}

static void fill_words(const nets_plan *plan, const tml_slot *volume, uint32_t *words)
{
    const size_t size = plan->sample_size;
    memcpy(words, plan->constants, sizeof plan->constants);
    /* Rows that a quad of words begins, in memory that does. */
    words[NETS_ALIGNED] = (!volume->lent || volume->on_host) &&
                          plan->box.first[0] * size % 16 == 0 && plan->dims[0] * size % 16 == 0;
    words[NETS_CHOSEN] = (uint32_t)plan->chosen_count;
    for (uint64_t i = 0; i < plan->chosen_count; i++) {
        words[NETS_PLAN_WORDS + 2 * i] = (uint32_t)plan->chosen[i];
        words[NETS_PLAN_WORDS + 2 * i + 1] = (uint32_t)(plan->chosen[i] >> 32);
    }
}

static tml_status make_words(nets_device *d, const tml_slot *volume)
{
    nets_plan *plan = d->plan;
    const uint64_t count = NETS_PLAN_WORDS + 2 * plan->chosen_count;
    uint32_t *words = nets_alloc(plan, count, sizeof *words);
    if (!words)
        return TML_ERROR_OUT_OF_MEMORY;
    fill_words(plan, volume, words);
    tml_status status = tml_buffer_create(
        plan->tml,
        &(tml_buffer_desc){.type = TML_U32, .count = count, .data = words, .label = "net plan"},
        &d->words);
    nets_free(plan, words, count, sizeof *words);
    return status;
}

static tml_status begin(nets_plan *plan, tml_buffer volume)
{
    tml_context *tml = plan->tml;
    const tml_slot *slot = tml_slot_of(tml, volume);
    nets_device *d = plan->device = nets_alloc(plan, 1, sizeof *d);
    if (!d)
        return TML_ERROR_OUT_OF_MEMORY;
    *d = (nets_device){.plan = plan, .volume = volume};
    d->word_count = plan->words32 * plan->size[1] * plan->size[2];
    tml_status status = make_words(d, slot);
    if (!status)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3), .count = 1, .label = "net totals"},
            &d->totals);
    if (!status && slot->on_host) {
        status = tml_copy_to_device(tml, volume, "labels", &d->copy);
        d->volume = d->copy;
    }
    return status;
}

static tml_status run(nets_device *d, const char *stage)
{
    tml_context *tml = d->plan->tml;
    const double start = tml_seconds();
    tml_status status = stream_run_steps(tml, call, d->steps, d->step_count, (tml_buffer){0, 0});
    nets_time(d->plan, stage, tml_seconds() - start);
    return status;
}

static void restart(nets_device *d)
{
    d->step_count = d->map_count = d->scan_count = d->compact_count = 0;
    make_counted(d);
}

tml_status nets_device_count(nets_plan *plan, tml_buffer volume)
{
    tml_context *tml = plan->tml;
    uint32_t totals[3] = {0};
    tml_status status = begin(plan, volume);
    if (status)
        return status;
    nets_device *d = plan->device;
    if (!nets_report(plan, "edges", 0))
        return TML_ERROR_CANCELLED;
    restart(d);
    status = add_counts(d);
    if (status)
        stream_temporaries_end(tml);
    else
        status = run(d, "edges");
    if (!status)
        status = tml_buffer_read(tml, d->totals, totals);
    d->arena = tml->engine->lay ? tml->scratch : NULL;
    d->kept = totals[0];
    d->all = totals[1];
    d->faces = totals[2];
    plan->result->vertex_count = d->kept;
    plan->result->face_count = d->faces * nets_rows(plan);
    return status;
}

/* Adds the steps of vertices and faces and, where what they take is not there, of the counts. */
static tml_status add_all(nets_device *d, bool counts, tml_buffer vertices, tml_buffer indices,
                          tml_buffer labels)
{
    restart(d);
    tml_status status = counts ? add_counts(d) : TML_OK;
    if (!status)
        status = add_vertices(d, vertices);
    if (!status)
        status = add_faces(d, vertices, indices, labels);
    if (status)
        stream_temporaries_end(d->plan->tml);
    return status;
}

tml_status nets_device_write(nets_plan *plan, tml_buffer vertices, tml_buffer indices,
                             tml_buffer labels)
{
    tml_context *tml = plan->tml;
    nets_device *d = plan->device;
    if (!nets_report(plan, "faces", 0.2))
        return TML_ERROR_CANCELLED;
    tml_status status = add_all(d, false, vertices, indices, labels);
    if (status)
        return status;
    const size_t size = stream_steps_scratch_size(tml, d->steps, d->step_count);
    const bool is_kept = d->arena && d->arena == tml->scratch && size <= tml->scratch_size;
    status = add_all(d, !is_kept, vertices, indices, labels);
    if (!status)
        status = run(d, "faces");
    plan->result->scratch_size = TML_MAX_OF(plan->result->scratch_size, plan->memory + size);
    if (!status && !nets_report(plan, "faces", 1))
        status = TML_ERROR_CANCELLED;
    return status;
}

void nets_device_end(nets_plan *plan)
{
    nets_device *d = plan->device;
    if (!d)
        return;
    tml_buffer_destroy(plan->tml, d->copy);
    tml_buffer_destroy(plan->tml, d->totals);
    tml_buffer_destroy(plan->tml, d->words);
    nets_free(plan, d, 1, sizeof *d);
    plan->device = NULL;
}
