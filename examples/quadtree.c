/* Which points of a cloud does each of many moving discs hold? Every frame the discs go down a
 * quadtree over the points as a stream of candidates: pairs of a disc and a node. A candidate whose
 * disc misses its node leaves the stream; a leaf goes to a list; any other node becomes its four
 * children. After Horn: Stream Reduction Operations for GPGPU Applications. GPU Gems 2, chapter 36.
 * Shows: a program that is recorded once and enqueued each frame (trommel/program.h): arrays, a
 * loop until a stream is empty, lists to which each round appends (out_first). */
#include <math.h>
#include <stdio.h>
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

enum {
    POINTS = 20000,
    DISCS = 64,
    FRAMES = 5,
    LEAF = 16,       /* most points of a leaf that can be divided */
    LEVELS = 12,     /* most levels of nodes, even */
    NODES = POINTS,  /* room for nodes, */
    PAIRS = 1 << 16, /* candidates, */
    FOUND = 1 << 18, /* and points of the leaves */
};

#include <trommel/kernel_begin.h>
/* A candidate is a disc and a node. discs: centre and radius. boxes: a node's centre and half its
 * side. nodes: four words each: first child (0: a leaf), first point, number of points, unused. */
TML_LIBRARY(
    quadtree, FUNCTION(bool) quadtree_touches(vec3 disc, vec3 box) {
        float x = max(abs(disc.x - box.x) - box.z, 0.0f);
        float y = max(abs(disc.y - box.y) - box.z, 0.0f);
        return x * x + y * y <= disc.z * disc.z;
    })
TML_KERNEL_WITH(quadtree, bool, is_leaf,
                (uvec2 pair, tml_words discs, tml_words boxes, tml_words nodes), {
                    return tml_word(nodes, 4u * pair.y) == 0u &&
                           quadtree_touches(tml_word_vec3(discs, pair.x),
                                            tml_word_vec3(boxes, pair.y));
                })
TML_KERNEL_WITH(quadtree, uint, child_count,
                (uvec2 pair, tml_words discs, tml_words boxes, tml_words nodes), {
                    bool touches = quadtree_touches(tml_word_vec3(discs, pair.x),
                                                    tml_word_vec3(boxes, pair.y));
                    return touches && tml_word(nodes, 4u * pair.y) != 0u ? 4u : 0u;
                })
TML_KERNEL(uvec2, child, (uvec2 pair, tml_words nodes, tml_rank k),
           { return UVEC2(pair.x, tml_word(nodes, 4u * pair.y) + k); })
/* Every disc begins at the root. */
TML_KERNEL(uvec2, root, (tml_index i), { return UVEC2(U(i), 0u); })
TML_KERNEL(uint, point_count, (uvec2 pair, tml_words nodes),
           { return tml_word(nodes, 4u * pair.y + 2u); })
TML_KERNEL(uvec2, point_of_leaf, (uvec2 pair, tml_words nodes, tml_rank k),
           { return UVEC2(pair.x, tml_word(nodes, 4u * pair.y + 1u) + k); })
TML_KERNEL(bool, is_inside, (uvec2 pair, tml_words discs, tml_words points), {
    vec3 disc = tml_word_vec3(discs, pair.x);
    vec2 point = tml_word_vec2(points, pair.y);
    float x = point.x - disc.x;
    float y = point.y - disc.y;
    return x * x + y * y <= disc.z * disc.z;
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(quadtree). */
extern const tml_vulkan_kernel quadtree_kernels[];

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct quad_node {
    uint32_t child, first, count, unused;
} quad_node;

static tml_vec2 points[POINTS];
static quad_node nodes[NODES];
static tml_vec3 boxes[NODES];
static uint32_t node_count;

/* Moves the points of [first, end) below a value to the front. Returns where the others begin. */
static uint32_t divide(uint32_t first, uint32_t end, int is_y, float value)
{
    for (uint32_t i = first; i < end; i++)
        if ((is_y ? points[i].y : points[i].x) < value) {
            const tml_vec2 point = points[i];
            points[i] = points[first];
            points[first++] = point;
        }
    return first;
}

static void build(uint32_t node, uint32_t first, uint32_t end, uint32_t level)
{
    const tml_vec3 box = boxes[node];
    nodes[node] = (quad_node){.first = first, .count = end - first};
    if (end - first <= LEAF || level + 1 == LEVELS || node_count + 4 > NODES)
        return;
    const uint32_t child = nodes[node].child = node_count, middle = divide(first, end, 1, box.y);
    const uint32_t ends[] = {first, divide(first, middle, 0, box.x), middle,
                             divide(middle, end, 0, box.x), end};
    node_count += 4;
    for (uint32_t c = 0; c < 4; c++) {
        const float half = box.z / 2;
        boxes[child + c] =
            (tml_vec3){box.x + (c & 1 ? half : -half), box.y + (c & 2 ? half : -half), half};
        build(child + c, ends[c], ends[c + 1], level + 1);
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

typedef struct stream {
    tml_buffer pairs, count;
} stream;

typedef struct search {
    tml_buffer discs, boxes, nodes, points; /* inputs */
    tml_buffer hits, hit_count;             /* pairs of a disc and a point that it holds */
} search;

/* One level: leaves of a stream are appended to a list, and the children of its other nodes are the
 * next stream. (Where more pairs come up than PAIRS, the rest is not written, and the count tells
 * how many there are.) */
static void add_level(tml_program *program, const search *s, stream from, stream to, stream leaves,
                      tml_buffer counts)
{
    const tml_length length = {.count = PAIRS, .device = from.count};
    tml_program_compact(
        program, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_leaf),
                                              .in = {from.pairs, s->discs, s->boxes, s->nodes}},
                                     .payloads = {{from.pairs, leaves.pairs}},
                                     .length = length,
                                     .count = leaves.count,
                                     .out_first = leaves.count});
    tml_program_map(program, &(tml_map_desc){.kernel = TML_USE(child_count),
                                             .in = {from.pairs, s->discs, s->boxes, s->nodes},
                                             .length = length,
                                             .out = {counts}});
    tml_program_expand(program, &(tml_expand_desc){.counts = counts,
                                                   .emit_kernel = TML_USE(child),
                                                   .in = {from.pairs, s->nodes},
                                                   .length = length,
                                                   .out = {to.pairs},
                                                   .total = to.count});
}

static tml_status record(tml_context *tml, const search *s, tml_program **out)
{
    static const uint32_t none = 0, discs = DISCS;
    tml_program *p;
    tml_status status = tml_program_create(tml, &p);
    if (status)
        return status;
    stream streams[2], leaves, found;
    stream *const all[] = {&streams[0], &streams[1], &leaves, &found};
    for (uint32_t i = 0; i < 4; i++) {
        all[i]->pairs = tml_program_array(p, TML_VEC(TML_U32, 2), i == 3 ? FOUND : PAIRS);
        all[i]->count = tml_program_array(p, TML_U32, 1);
    }
    const tml_buffer counts = tml_program_array(p, TML_U32, PAIRS);
    tml_program_map(p, &(tml_map_desc){.kernel = TML_USE(root),
                                       .length = tml_length_of(DISCS),
                                       .out = {streams[0].pairs}});
    tml_program_write(p, streams[0].count, &discs, sizeof discs);
    tml_program_write(p, leaves.count, &none, sizeof none);
    tml_program_loop_begin(p, LEVELS / 2, streams[0].count);
    add_level(p, s, streams[0], streams[1], leaves, counts);
    add_level(p, s, streams[1], streams[0], leaves, counts);
    tml_program_loop_end(p);
    tml_program_expand(p, &(tml_expand_desc){.count_kernel = TML_USE(point_count),
                                             .emit_kernel = TML_USE(point_of_leaf),
                                             .in = {leaves.pairs, s->nodes},
                                             .length = {.count = PAIRS, .device = leaves.count},
                                             .out = {found.pairs},
                                             .total = found.count});
    tml_program_compact(p, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_inside),
                                                        .in = {found.pairs, s->discs, s->points}},
                                               .payloads = {{found.pairs, s->hits}},
                                               .length = {.count = FOUND, .device = found.count},
                                               .count = s->hit_count});
    *out = p;
    return tml_program_end(p);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* A number in [0, 1), a multiple of 1 / 1024: sums of squares of such numbers are exact. */
static float number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 22) / 1024;
}

static float round_down(float x)
{
    return floorf(1024 * x) / 1024;
}

static void fill(void)
{
    uint32_t state = 1;
    for (uint32_t i = 0; i < POINTS; i++) { /* near two curves */
        const float x = number(&state), y = number(&state);
        points[i] = (tml_vec2){x, round_down(i % 2 ? 0.9f * x * x + 0.02f * y : 0.3f + 0.1f * y)};
    }
    boxes[0] = (tml_vec3){0.5f, 0.5f, 0.5f};
    node_count = 1;
    build(0, 0, POINTS, 0);
}

static void move(uint32_t frame, tml_vec3 discs[DISCS])
{
    uint32_t state = 7;
    for (uint32_t d = 0; d < DISCS; d++) {
        const float x = number(&state), y = number(&state), turn = 0.4f * (float)frame + 6.28f * x;
        discs[d] = (tml_vec3){round_down(x + 0.05f * cosf(turn)),
                              round_down(y + 0.05f * sinf(turn)), round_down(0.01f + 0.05f * y)};
    }
}

/* The same by two loops. */
static uint64_t expect(const tml_vec3 discs[DISCS])
{
    uint64_t count = 0;
    for (uint32_t d = 0; d < DISCS; d++)
        for (uint32_t i = 0; i < POINTS; i++) {
            const float x = points[i].x - discs[d].x, y = points[i].y - discs[d].y;
            count += x * x + y * y <= discs[d].z * discs[d].z;
        }
    return count;
}

static tml_status make(tml_context *tml, tml_type type, uint64_t count, const void *data,
                       tml_buffer *out)
{
    return tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                             out);
}

static tml_status run(tml_context *tml, uint64_t hits[FRAMES])
{
    const tml_type words = TML_RECORD(sizeof(quad_node)), f3 = TML_VEC(TML_F32, 3);
    search s;
    tml_program *program = NULL;
    tml_vec3 discs[DISCS];
    tml_status status;
    if ((status = make(tml, f3, DISCS, NULL, &s.discs)) ||
        (status = make(tml, f3, node_count, boxes, &s.boxes)) ||
        (status = make(tml, words, node_count, nodes, &s.nodes)) ||
        (status = make(tml, TML_VEC(TML_F32, 2), POINTS, points, &s.points)) ||
        (status = make(tml, TML_VEC(TML_U32, 2), FOUND, NULL, &s.hits)) ||
        (status = make(tml, TML_U32, 1, NULL, &s.hit_count)))
        return status;
    status = record(tml, &s, &program);
    tml_prepared prepared = {0};
    TML_THEN(status, tml_prepare_begin(tml));
    TML_THEN(status, tml_program_enqueue(program, (tml_buffer){0, 0}));
    TML_THEN(status, tml_prepare_end(tml, &prepared));
    TML_THEN(status, tml_reserve(tml, prepared.scratch_size));
    for (uint32_t frame = 0; frame < FRAMES && !status; frame++) {
        move(frame, discs);
        status = tml_buffer_write(tml, s.discs, 0, DISCS, discs);
        if (!status)
            status = tml_program_enqueue(program, (tml_buffer){0, 0});
        if (!status) /* only to compare: a frame would draw from hits */
            status = tml_buffer_read_count(tml, s.hit_count, &hits[frame]);
    }
    tml_program_destroy(program);
    return status;
}

int main(void)
{
    static const tml_engine_kind engines[] = {TML_ENGINE_CPU, TML_ENGINE_VULKAN, TML_ENGINE_GL};
    const tml_vulkan_desc vulkan = {.kernels = quadtree_kernels};
    tml_vec3 discs[DISCS];
    uint64_t wanted[FRAMES], hits[FRAMES];
    fill();
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        move(frame, discs);
        wanted[frame] = expect(discs);
    }
    for (int e = 0; e < 3; e++) {
        tml_context *tml;
        tml_status status =
            tml_open(&(tml_open_desc){.engine = engines[e], .vulkan = &vulkan}, &tml);
        if (status == TML_ERROR_NO_DEVICE && e > 0)
            continue;
        if (status || run(tml, hits)) {
            fprintf(stderr, "%s\n", tml ? tml_last_error(tml) : tml_status_text(status));
            return 1;
        }
        tml_device_info device;
        tml_context_describe(tml, &device);
        printf("%s: %d points in %u nodes;", device.name, POINTS, node_count);
        for (uint32_t frame = 0; frame < FRAMES; frame++)
            printf(" %llu", (unsigned long long)hits[frame]);
        printf(" points in %d discs\n", DISCS);
        tml_close(tml);
        for (uint32_t frame = 0; frame < FRAMES; frame++)
            if (hits[frame] != wanted[frame]) {
                printf("two loops find %llu in frame %u\n", (unsigned long long)wanted[frame],
                       frame);
                return 1;
            }
    }
    return 0;
}
