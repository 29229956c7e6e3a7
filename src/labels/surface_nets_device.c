/* Surface nets on a device, by stream operations. Maps set a bit for each edge between unlike
 * samples, and for each cell that such an edge touches. Scans count the bits, compactions list
 * them, and maps make a vertex from each listed cell and a face from each listed edge.
 * Two programs run: the first counts, the caller then creates the outputs, and the second writes
 * vertices and faces. nets_device holds the buffers that the second reads from the first. */
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include <math.h>

#include "kernels/real64_host.h"
#include "labels/surface_nets.h"
#include "stream/program.h"

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
/* u[0] 0: all samples are members; the argument members is ignored. */
TML_KERNEL(uvec4, net_join_rank, (uint cells, uint before, uint members, tml_params p), {
    return UVEC4(cells, before, p.u[0] != 0u ? members : 0xffffffffu, 0u);
})
/* Joins the counts of written vertices, all vertices, and faces. */
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
/* f: rates for 2 to 5 neighbours; u[0]: bits of the rate for 6; u[1]: the bound. */
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

/* Finds a face's corners, and writes its pair of labels in 1, 2 or 4 words. Labels of 1, 2 or 4
 * bytes respectively are written twice, for two triangles; labels of 2, 4 or 8 bytes once. */
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
/* Joins the labels, of one byte, of two quads to a word. Keeps the word's bytes after quad u[0]. */
TML_KERNEL(uint, net_join_bytes, (uint before, tml_words labels, tml_index i, tml_params p), {
    uint first = tml_word(labels, 2u * U(i)) & 0xffffu;
    if (2u * U(i) + 1u == p.u[0])
        return first | (before & 0xffff0000u);
    return first | tml_word(labels, 2u * U(i) + 1u) << 16u;
})
/* Repeats a quad's labels of eight bytes for its two triangles. */
TML_KERNEL(uvec4, net_repeat, (tml_words labels, tml_index i), {
    return tml_word_uvec4(labels, U(i) / 2u);
})
/* clang-format on */
#include "kernels/kernel_end.h"

#ifdef TML_VULKAN
extern const tml_vulkan_kernel labels_own_kernels[]; /* generated by the build */
#endif

static const char call[] = "tml_surface_labels";

/* ---- counts ---------------------------------------------------------------------------------- */

/* The cells with a vertex: of all edges of the net, or of the edges whose faces are written. */
typedef struct nets_counted {
    tml_buffer cells, ranks; /* masks of cells; masks, vertices before each, masks of members */
} nets_counted;

enum { NETS_BUFFERS = 9 };
struct nets_device {
    nets_plan *plan;
    tml_buffer volume, copy;   /* copy: of a volume on the host */
    tml_buffer words;          /* NETS_PLAN_WORDS, then the chosen labels */
    uint64_t word_count;       /* per plane of bits */
    uint32_t all, kept, faces; /* counts: vertices of the net, written vertices, quads */
    tml_buffer edges, in_turn;
    nets_counted net, written;
    tml_buffer made[NETS_BUFFERS]; /* to destroy */
    uint32_t made_count;
    size_t made_size; /* bytes */
};
typedef struct nets_device nets_device;

static bool selects(const nets_plan *plan)
{
    return plan->between || plan->inner_only;
}

/* Creates a buffer of word_count elements that lives until nets_device_end. */
static tml_buffer nets_device_keep(program *p, nets_device *d, tml_type type)
{
    tml_buffer made = {0, 0};
    if (p->status)
        return made;
    p->status = tml_buffer_create(
        p->tml, &(tml_buffer_desc){.type = type, .count = d->word_count, .label = "net"}, &made);
    if (p->status)
        return made;
    d->made[d->made_count++] = made;
    d->made_size += (size_t)d->word_count * tml_type_size(type);
    return made;
}

/* Finds the cells that edges touch, and the number of vertices before each word of cells.
 * faces   written: faces per word
 * Returns: a buffer with the number of vertices. */
static tml_buffer add_cells(program *p, nets_device *d, tml_buffer edges, tml_buffer members,
                            tml_buffer faces, nets_counted *out)
{
    const bool chooses = d->plan->chosen != NULL;
    const tml_buffer before = program_array(p, TML_U32, d->word_count);
    const tml_buffer sum = program_array(p, TML_U32, 1);
    out->cells = nets_device_keep(p, d, TML_U32);
    out->ranks = nets_device_keep(p, d, TML_VEC(TML_U32, 4));
    program_map(p, &(tml_map_desc){.kernel = TML_USE(net_find_cells),
                                   .in = {edges, d->words},
                                   .out = {out->cells, before, faces, d->in_turn}});
    program_scan(p, &(tml_scan_desc){.in = before, .out = before, .total = sum});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(net_join_rank),
                                   .params = {.u = {chooses}},
                                   .in = {out->cells, before, chooses ? members : out->cells},
                                   .out = {out->ranks}});
    return sum;
}

static void nets_device_add_counts(program *p, nets_device *d, uint32_t totals[3])
{
    const nets_plan *plan = d->plan;
    const tml_type uvec3_type = TML_VEC(TML_U32, 3);
    const tml_buffer volume = program_view(p, d->volume, TML_U32);
    const tml_buffer faces = program_array(p, TML_U32, d->word_count);
    const tml_buffer face_sum = program_array(p, TML_U64, 1);
    const tml_buffer joined = program_array(p, uvec3_type, 1);
    tml_buffer members = d->words; /* not read, unless there is a list */
    d->edges = nets_device_keep(p, d, uvec3_type);
    d->in_turn = nets_device_keep(p, d, uvec3_type);
    if (plan->chosen) {
        members = program_array(p, TML_U32, d->word_count);
        program_map(p, &(tml_map_desc){.kernel = TML_USE(net_find_members),
                                       .in = {volume, d->words},
                                       .out = {members}});
    }
    program_map(p, &(tml_map_desc){.kernel = TML_USE(net_find_edges),
                                   .in = {volume, members, d->words},
                                   .out = {d->edges}});
    const tml_buffer all = add_cells(p, d, d->edges, members, faces, &d->net);
    tml_buffer kept = all;
    d->written = d->net;
    if (selects(plan)) {
        const tml_buffer edges = program_array(p, uvec3_type, d->word_count);
        program_map(p, &(tml_map_desc){.kernel = TML_USE(net_keep_edges),
                                       .in = {d->edges, volume, members, d->words},
                                       .out = {edges}});
        kept = add_cells(p, d, edges, members, faces, &d->written);
    }
    program_reduce(p, &(tml_reduce_desc){.in = faces, .folds = {{TML_FOLD_SUM, face_sum}}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(net_join_totals),
                                   .in = {kept, all, face_sum},
                                   .out = {joined}});
    program_read(p, joined, totals);
}

/* ---- vertices and faces ---------------------------------------------------------------------- */

/* Lists the bits of a mask that are set. */
static void add_list(program *p, tml_buffer mask, uint64_t bits, tml_buffer list)
{
    program_compact(p, &(tml_compact_desc){
                           .keep = {.mask = mask}, .indices = list, .length = tml_length_of(bits)});
}

/* Moves the vertices in list, and returns their states. */
static tml_buffer add_moves(program *p, const nets_device *d, tml_buffer list)
{
    const nets_plan *plan = d->plan;
    const tml_buffer near = program_array(p, TML_VEC(TML_U32, 4), d->all);
    const tml_buffer codes = program_array(p, TML_U32, d->all);
    const tml_buffer states[2] = {program_array(p, TML_VEC(TML_U32, 2), d->all),
                                  program_array(p, TML_VEC(TML_U32, 2), d->all)};
    program_map(p, &(tml_map_desc){.kernel = TML_USE(net_link),
                                   .in = {list, d->net.ranks, d->edges, d->words},
                                   .length = tml_length_of(d->all),
                                   .out = {near, codes, states[0]}});
    /* A loop of rounds of NETS_RATES moves, then the remaining moves. */
    _Static_assert(NETS_RATES % 2 == 0, "a round ends where it began");
    program_loop_begin(p, plan->moves / NETS_RATES, (tml_buffer){0, 0}, NULL);
    for (uint32_t t = 0; t < NETS_RATES + plan->moves % NETS_RATES; t++) {
        const float *rates = plan->rates, rate = rates[t % NETS_RATES] / 6.0f;
        tml_map_desc move = {.kernel = TML_USE(net_iterate),
                             .in = {near, codes, states[t % 2]},
                             .out = {states[1 - t % 2]}};
        for (int i = 0; i < 4; i++)
            move.params.f[i] = rates[t % NETS_RATES] / (float)(i + 2);
        memcpy(&move.params.u[0], &rate, sizeof rate);
        move.params.u[1] = (uint32_t)plan->bound;
        if (t == NETS_RATES)
            program_loop_end(p);
        program_map(p, &move);
    }
    if (plan->moves % NETS_RATES == 0)
        program_loop_end(p);
    return states[plan->moves % 2];
}

static void add_vertices(program *p, const nets_device *d, tml_buffer vertices)
{
    const nets_plan *plan = d->plan;
    const uint64_t bits = 32 * d->word_count;
    tml_buffer list = program_array(p, TML_U32, d->all), states = {0, 0};
    if (plan->moves) {
        add_list(p, d->net.cells, bits, list);
        states = add_moves(p, d, list);
    }
    if (!plan->moves || selects(plan)) {
        list = program_array(p, TML_U32, d->kept);
        add_list(p, d->written.cells, bits, list);
    }
    tml_map_desc place = {.kernel = TML_USE(net_place),
                          .in = {list, d->words},
                          .length = tml_length_of(d->kept),
                          .out = {vertices}};
    if (plan->moves) {
        place.kernel = TML_USE(net_place_moved);
        place.in[1] = states;
        place.in[2] = d->net.ranks;
        place.in[3] = d->words;
    }
    program_map(p, &place);
}

/* Writes indices and labels. size: bytes of labels per face of the net; two triangles share them
 * equally. It decides how labels are written. */
static void add_faces(program *p, const nets_device *d, tml_buffer vertices, tml_buffer indices,
                      tml_buffer labels)
{
    const bool quads = d->plan->quads;
    const size_t size = d->plan->sample_size * (quads ? 2 : 4);
    const tml_type word = size <= 4   ? TML_U32
                          : size == 8 ? TML_VEC(TML_U32, 2)
                                      : TML_VEC(TML_U32, 4);
    const bool is_aside = size == 2 || size == 32; /* not 1, 2 or 4 words: first to an own array */
    const tml_buffer volume = program_view(p, d->volume, TML_U32);
    const tml_buffer out_labels = program_view(p, labels, word);
    const tml_buffer list = program_array(p, TML_U32, d->faces);
    const tml_buffer corners = quads ? indices : program_array(p, TML_VEC(TML_U32, 4), d->faces);
    const tml_buffer quad_labels = is_aside ? program_array(p, word, d->faces) : out_labels;
    add_list(p, program_view(p, d->in_turn, TML_U32), 96 * d->word_count, list);
    program_map(p, &(tml_map_desc){.kernel = size <= 4   ? TML_USE(net_find_faces_1)
                                             : size == 8 ? TML_USE(net_find_faces_2)
                                                         : TML_USE(net_find_faces_4),
                                   .in = {list, volume, d->written.ranks, d->words},
                                   .length = tml_length_of(d->faces),
                                   .out = {corners, quad_labels}});
    if (!quads)
        program_map(p, &(tml_map_desc){.kernel = TML_USE(net_cut),
                                       .in = {corners, vertices},
                                       .length = tml_length_of((uint64_t)2 * d->faces),
                                       .out = {indices}});
    if (is_aside && quads)
        program_map(p, &(tml_map_desc){.kernel = TML_USE(net_join_bytes),
                                       .params = {.u = {d->faces}},
                                       .in = {out_labels, quad_labels},
                                       .length = tml_length_of(TML_CEIL_DIV((uint64_t)d->faces, 2)),
                                       .out = {out_labels}});
    else if (is_aside)
        program_map(p, &(tml_map_desc){.kernel = TML_USE(net_repeat),
                                       .in = {quad_labels},
                                       .length = tml_length_of((uint64_t)2 * d->faces),
                                       .out = {out_labels}});
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* A device numbers samples, their words and edges in 32 bits. Its doubles (kernels/real64.k.h) and
 * floats treat very small results as 0, and cannot represent very large ones. Grids beyond these
 * limits are left to the host. */
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
        is_possible = is_possible && is_usual(plan->axes.origin[c], 0x1p40);
        for (int k = 0; k < 3; k++)
            is_possible = is_possible && is_usual(plan->axes.step[k][c], 0x1p30);
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
    /* Do the box's rows begin at multiples of 16 bytes? Caller-owned memory may begin elsewhere. */
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

static tml_status nets_device_begin(nets_plan *plan, tml_buffer volume)
{
    tml_context *tml = plan->tml;
    const tml_slot *slot = tml_slot_of(tml, volume);
    nets_device *d = plan->device = nets_alloc(plan, 1, sizeof *d);
    if (!d)
        return TML_ERROR_OUT_OF_MEMORY;
    *d = (nets_device){.plan = plan, .volume = volume};
    d->word_count = plan->words32 * plan->size[1] * plan->size[2];
    tml_status status = make_words(d, slot);
    if (!status && slot->on_host) {
        status = tml_copy_to_device(tml, volume, "labels", &d->copy);
        d->volume = d->copy;
    }
    return status;
}

static tml_status nets_device_run(nets_device *d, program *p, const char *stage)
{
    const double start = tml_seconds();
    tml_status status = program_run(*p, (tml_buffer){0, 0});
    nets_time(d->plan, stage, tml_seconds() - start);
    return status;
}

tml_status nets_device_count(nets_plan *plan, tml_buffer volume)
{
    uint32_t totals[3] = {0};
    tml_status status = nets_device_begin(plan, volume);
    if (status)
        return status;
    nets_device *d = plan->device;
    if (!nets_report(plan, "edges", 0))
        return TML_ERROR_CANCELLED;
    program p = program_begin(plan->tml, call);
    nets_device_add_counts(&p, d, totals);
    status = nets_device_run(d, &p, "edges");
    d->kept = totals[0];
    d->all = totals[1];
    d->faces = totals[2];
    plan->result->vertex_count = d->kept;
    plan->result->triangle_count = d->faces * nets_rows(plan);
    return status;
}

static program nets_record(nets_device *d, tml_buffer vertices, tml_buffer indices,
                           tml_buffer labels)
{
    program p = program_begin(d->plan->tml, call);
    add_vertices(&p, d, vertices);
    add_faces(&p, d, vertices, indices, labels);
    return p;
}

tml_status nets_device_write(nets_plan *plan, tml_buffer vertices, tml_buffer indices,
                             tml_buffer labels)
{
    nets_device *d = plan->device;
    if (!nets_report(plan, "faces", 0.2))
        return TML_ERROR_CANCELLED;
    program p = nets_record(d, vertices, indices, labels);
    const size_t size = d->made_size + program_scratch_size(p);
    p = nets_record(d, vertices, indices, labels);
    tml_status status = nets_device_run(d, &p, "faces");
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
    for (uint32_t i = 0; i < d->made_count; i++)
        tml_buffer_destroy(plan->tml, d->made[i]);
    tml_buffer_destroy(plan->tml, d->words);
    nets_free(plan, d, 1, sizeof *d);
    plan->device = NULL;
}
