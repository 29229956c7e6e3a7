/* Kernels that read whole arrays (tml_words), take and make vectors of integers, draw random
 * numbers, and call functions of a library: one from a kernel file and one of TML_LIBRARY. On every
 * device that there is. */
#include <stdlib.h>

#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel test_gathers_kernels[];
#endif

#include "kernels/kernel.h"

#include "walks.k.h"

#include "walks_library.h"

/* clang-format off */
TML_LIBRARY(corner,
    STRUCT_BEGIN(corner_pair)
        uint whole;
        float part;
    STRUCT_END(corner_pair)

    TABLE_BEGIN(uint, corner_turns, 3) 1u, 2u, 0u TABLE_END

    FUNCTION(vec3) corner_point(tml_words points, uint v) {
        return tml_word_vec3(points, v);
    }
    FUNCTION(corner_pair) corner_split(float x) {
        corner_pair pair;
        pair.whole = U(floor(x));
        pair.part = x - floor(x);
        return pair;
    }
)
/* clang-format on */

TML_KERNEL(float, edge_square, (uvec2 ends, tml_words p), {
    uint a = 3u * ends.x, b = 3u * ends.y;
    vec3 d = VEC3(tml_word_float(p, a) - tml_word_float(p, b),
                  tml_word_float(p, a + 1u) - tml_word_float(p, b + 1u),
                  tml_word_float(p, a + 2u) - tml_word_float(p, b + 2u));
    return dot3(d, d);
})
TML_KERNEL_WITH(corner, uvec4, all_six,
                (tml_words points, uint v, uvec3 turn, tml_words more, tml_index i, tml_params p), {
                    corner_pair pair = corner_split(corner_point(points, v).y);
                    uint turned = corner_turns[turn.z % 3u] + turn.x * tml_word(more, turn.y);
                    return UVEC4(pair.whole, floatBitsToUint(pair.part), turned, U(i) + p.u[3]);
                })
TML_KERNEL(vec4, mixed_vectors, (uint v, tml_words p), {
    vec2 two = tml_word_vec2(p, v);
    vec4 four = tml_word_vec4(p, v);
    return VEC4(two.x, two.y + four.x, four.y + four.z, four.w);
})
TML_KERNEL(uvec4, drawn, (uint seed, tml_index i), {
    uvec2 both = tml_random(U(i), seed, 0x13198a2eu);
    return UVEC4(both.x, both.y, tml_random_uint(seed, U(i)),
                 floatBitsToUint(tml_random_float(U(i), seed)));
})
/* Nothing here to fuse into a multiply-add. */
TML_KERNEL_OUTS((vec3 position, vec3 velocity), fall, (vec3 x, vec3 v, tml_params p), {
    fall_out o;
    o.velocity = VEC3(v.x, v.y - p.f[0], v.z);
    o.position = add3(x, v);
    return o;
})
TML_KERNEL_OUTS_WITH(corner, (uint whole, vec4 point, float part, uvec2 drawn), four_ways,
                     (float x, uint v, tml_words points, tml_index i, tml_params p), {
                         corner_pair pair = corner_split(x);
                         vec3 at = corner_point(points, v);
                         four_ways_out all;
                         all.whole = pair.whole + p.u[1];
                         all.part = pair.part;
                         all.point = VEC4(at.z, at.x, at.y, x);
                         all.drawn = UVEC2(v + U(i), tml_random_uint(v, U(i)));
                         return all;
                     })
TML_KERNEL_OUTS((float alone), one_of_them, (float x), {
    one_of_them_out o;
    o.alone = -x;
    return o;
})
TML_KERNEL_WITH(walks, uint, hash_of, (uint n, tml_words tree), { return walks_hash(tree, n); })
TML_KERNEL_WITH(walks, uint, children_of, (uint n, tml_words tree),
                { return walks_read(tree, n).children; })
TML_KERNEL_WITH(walks, uint, child_of, (uint n, tml_words tree, tml_rank k),
                { return walks_read(tree, n).first + k; })
TML_KERNEL_WITH(walks, bool, is_leaf, (uint n, tml_words tree),
                { return walks_read(tree, n).children == 0u; })

#include "kernels/kernel_end.h"

static uint64_t allocations;

/* As open_device, with the kernels of this file, and counting allocations. */
static tml_context *open_with_kernels(uint32_t number)
{
    enum { DEVICES = 16 };
    tml_device_info infos[DEVICES];
    uint32_t count = tml_devices(infos, DEVICES);
    tml_context *tml = NULL;
    if (number >= count || number >= DEVICES)
        return NULL;
    char device[16];
    snprintf(device, sizeof device, "%u", number);
    tml_open_desc desc = {.engine = infos[number].engine,
                          .device = device,
                          .allocator = {counted_alloc, counted_free, &allocations}};
#ifdef TML_VULKAN
    const tml_vulkan_desc vulkan = {.kernels = test_gathers_kernels};
    if (infos[number].engine == TML_ENGINE_VULKAN)
        desc.vulkan = &vulkan;
#endif
    CHECK_OK(NULL, tml_open(&desc, &tml));
    return tml;
}

enum { POINTS = 1009, EDGES = 5003 };

static uint32_t scatter(uint32_t i)
{
    return (i * 2654435761u) >> 7;
}

static void read_words(tml_context *tml)
{
    static float points[3 * POINTS];
    static uint32_t ends[2 * EDGES], turns[3 * EDGES], got[4 * EDGES];
    static uint16_t vertices[EDGES];
    static float squares[EDGES];
    for (uint32_t i = 0; i < 3 * POINTS; i++)
        points[i] = (float)(scatter(i) % 1024) / 16.0f;
    for (uint32_t i = 0; i < 2 * EDGES; i++)
        ends[i] = scatter(i + 7) % POINTS;
    for (uint32_t i = 0; i < 3 * EDGES; i++)
        turns[i] = scatter(i + 11) % POINTS;
    for (uint32_t i = 0; i < EDGES; i++)
        vertices[i] = (uint16_t)(scatter(i + 3) % POINTS);

    tml_buffer p = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    tml_buffer e = buffer_of(tml, TML_VEC(TML_U32, 2), EDGES, ends);
    tml_buffer t = buffer_of(tml, TML_VEC(TML_U32, 3), EDGES, turns);
    tml_buffer v = buffer_of(tml, TML_U16, EDGES, vertices);
    tml_buffer square = buffer_of(tml, TML_F32, EDGES, NULL);
    tml_buffer six = buffer_of(tml, TML_VEC(TML_U32, 4), EDGES, NULL);
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){
                                   .kernel = TML_USE(edge_square), .in = {e, p}, .out = {square}}));
    const tml_params params = {.u = {0, 0, 0, 5}};
    /* The length is v's, since the points are no stream; the edges are read as words. */
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(all_six),
                                               .params = params,
                                               .in = {p, v, t, e},
                                               .out = {six}}));
    CHECK_OK(tml, tml_buffer_read_range(tml, square, 0, EDGES, squares));
    CHECK_OK(tml, tml_buffer_read_range(tml, six, 0, EDGES, got));
    for (uint32_t i = 0; i < EDGES; i++) {
        float sum = 0; /* all exact */
        for (int c = 0; c < 3; c++) {
            float d = points[3 * ends[2 * i] + c] - points[3 * ends[2 * i + 1] + c];
            sum += d * d;
        }
        CHECK_NEAR(squares[i], sum, 0.0);
        static const uint32_t table[] = {1, 2, 0};
        float y = points[3 * vertices[i] + 1], part = y - floorf(y);
        uint32_t bits;
        memcpy(&bits, &part, sizeof bits);
        const uint32_t *turn = turns + 3 * (size_t)i;
        CHECK_EQ_U64(got[4 * i], (uint32_t)y);
        CHECK_EQ_U64(got[4 * i + 1], bits);
        CHECK_EQ_U64(got[4 * i + 2], table[turn[2] % 3] + turn[0] * ends[turn[1]]);
        CHECK_EQ_U64(got[4 * i + 3], i + 5);
    }
}

/* Vectors of whole arrays, and random numbers: the C functions say what every engine must give. */
static void read_vectors_and_draw(tml_context *tml)
{
    static float points[4 * POINTS], sums[4 * EDGES];
    static uint32_t seeds[EDGES], draws[4 * EDGES];
    for (uint32_t i = 0; i < 4 * POINTS; i++)
        points[i] = (float)(scatter(i) % 1024) / 16.0f;
    for (uint32_t i = 0; i < EDGES; i++)
        seeds[i] = scatter(i + 5) % POINTS;
    tml_buffer p = buffer_of(tml, TML_VEC(TML_F32, 4), POINTS, points);
    tml_buffer s = buffer_of(tml, TML_U32, EDGES, seeds);
    tml_buffer sum = buffer_of(tml, TML_VEC(TML_F32, 4), EDGES, NULL);
    tml_buffer draw = buffer_of(tml, TML_VEC(TML_U32, 4), EDGES, NULL);
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){
                                   .kernel = TML_USE(mixed_vectors), .in = {s, p}, .out = {sum}}));
    CHECK_OK(tml,
             tml_map(tml, &(tml_map_desc){.kernel = TML_USE(drawn), .in = {s}, .out = {draw}}));
    CHECK_OK(tml, tml_buffer_read(tml, sum, sums));
    CHECK_OK(tml, tml_buffer_read(tml, draw, draws));
    for (uint32_t i = 0; i < EDGES; i++) {
        const float *two = points + 2 * (size_t)seeds[i], *four = points + 4 * (size_t)seeds[i];
        const float wanted[4] = {two[0], two[1] + four[0], four[1] + four[2], four[3]};
        const tml_uvec4 drawn_here = drawn(seeds[i], i);
        CHECK(!memcmp(sums + 4 * (size_t)i, wanted, sizeof wanted));
        CHECK(!memcmp(draws + 4 * (size_t)i, &drawn_here, sizeof drawn_here));
    }
}

static tml_length length_on_device(tml_context *tml, uint32_t n)
{
    return (tml_length){.device = buffer_of(tml, TML_U32, 1, &n)};
}

/* Both outputs in place of both inputs, of a length below the bound: the rest stays. */
static void fill_in_place(tml_context *tml, uint32_t count, uint32_t n)
{
    static tml_vec3 x[EDGES], v[EDGES], got[EDGES];
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (tml_vec3){(float)i, (float)(scatter(i) % 512), 3.0f};
        v[i] = (tml_vec3){(float)(scatter(i + 9) % 64), 0.5f, (float)i};
    }
    tml_buffer position = buffer_of(tml, TML_VEC(TML_F32, 3), count, x);
    tml_buffer velocity = buffer_of(tml, TML_VEC(TML_F32, 3), count, v);
    const tml_params params = {.f = {0.25f}};
    const tml_map_desc desc = {.kernel = TML_USE(fall),
                               .params = params,
                               .in = {position, velocity},
                               .length = length_on_device(tml, n),
                               .out = {position, velocity}};
    CHECK_OK(tml, tml_map(tml, &desc));
    for (uint32_t i = 0; i < n; i++) {
        fall_out all = fall(x[i], v[i], params);
        x[i] = all.position;
        v[i] = all.velocity;
    }
    CHECK_OK(tml, tml_buffer_read(tml, position, got));
    CHECK(!memcmp(got, x, count * sizeof *x));
    CHECK_OK(tml, tml_buffer_read(tml, velocity, got));
    CHECK(!memcmp(got, v, count * sizeof *v));
    tml_buffer_destroy(tml, desc.length.device);
    tml_buffer_destroy(tml, position);
    tml_buffer_destroy(tml, velocity);
}

/* Four outputs of four sizes, one in place; and a kernel of several outputs that has one. */
static void fill_four(tml_context *tml, uint32_t count)
{
    static float points[3 * POINTS], x[EDGES], parts[EDGES];
    static uint16_t vertices[EDGES];
    static uint32_t wholes[EDGES];
    static tml_vec4 ats[EDGES];
    static tml_uvec2 draws[EDGES];
    for (uint32_t i = 0; i < 3 * POINTS; i++)
        points[i] = (float)(scatter(i) % 1024) / 16.0f;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)(scatter(i + 1) % 4096) / 8.0f;
        vertices[i] = (uint16_t)(scatter(i + 3) % POINTS);
    }
    const tml_params params = {.u = {0, 77}};
    tml_buffer p = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    tml_buffer values = buffer_of(tml, TML_F32, count, x);
    tml_buffer v = buffer_of(tml, TML_U16, count, vertices);
    tml_buffer whole = buffer_of(tml, TML_U32, count, NULL);
    tml_buffer at = buffer_of(tml, TML_VEC(TML_F32, 4), count, NULL);
    tml_buffer draw = buffer_of(tml, TML_VEC(TML_U32, 2), count, NULL);
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(four_ways),
                                               .params = params,
                                               .in = {values, v, p},
                                               .out = {whole, at, values, draw}}));
    CHECK_OK(tml, tml_buffer_read(tml, whole, wholes));
    CHECK_OK(tml, tml_buffer_read(tml, at, ats));
    CHECK_OK(tml, tml_buffer_read(tml, values, parts));
    CHECK_OK(tml, tml_buffer_read(tml, draw, draws));
    for (uint32_t i = 0; i < count; i++) {
        four_ways_out all =
            four_ways(x[i], vertices[i], (tml_words)(const void *)points, i, params);
        CHECK(wholes[i] == all.whole && parts[i] == all.part);
        CHECK(!memcmp(&ats[i], &all.point, sizeof all.point));
        CHECK(!memcmp(&draws[i], &all.drawn, sizeof all.drawn));
    }
    CHECK_OK(tml,
             tml_map(tml, &(tml_map_desc){
                              .kernel = TML_USE(one_of_them), .in = {values}, .out = {values}}));
    CHECK_OK(tml, tml_buffer_read(tml, values, x));
    for (uint32_t i = 0; i < count; i++)
        CHECK(x[i] == -parts[i]);
    const tml_buffer all[] = {p, values, v, whole, at, draw};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tml_buffer_destroy(tml, all[i]);
}

static void fill_several(tml_context *tml)
{
    static const uint32_t counts[] = {0, 1, 1023, 1024, 1025, EDGES};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fill_in_place(tml, counts[i], counts[i] - counts[i] / 3);
        fill_four(tml, counts[i]);
    }
}

static void refuse_several(tml_context *tml)
{
    tml_buffer x = buffer_of(tml, TML_VEC(TML_F32, 3), 8, NULL),
               y = buffer_of(tml, TML_VEC(TML_F32, 3), 8, NULL),
               z = buffer_of(tml, TML_VEC(TML_F32, 3), 8, NULL),
               w = buffer_of(tml, TML_VEC(TML_F32, 4), 8, NULL);
    const struct {
        tml_map_desc desc;
        const char *text;
    } cases[] = {
        {{.in = {x, y}, .out = {x}}, "desc.out[1] is no buffer"},
        {{.in = {x, y}, .out = {x, w}}, "desc.out[1] has elements of f32x4, needs f32x3"},
        {{.in = {x, y}, .out = {z, z}}, "desc.out[1] overlaps desc.out[0]"},
        {{.in = {x, y}, .out = {x, y, z}}, "desc.out[2] is given, but fall makes only 2 outputs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tml_map_desc desc = cases[i].desc;
        desc.kernel = TML_USE(fall);
        tml_status status = tml_map(tml, &desc);
        CHECK(status == TML_ERROR_INVALID_ARGUMENT || status == TML_ERROR_INVALID_HANDLE);
        if (!CHECK(strstr(tml_last_error(tml), cases[i].text)))
            printf("    %s\n", tml_last_error(tml));
    }
    const struct {
        tml_expand_desc desc;
        const char *text;
    } emits[] = {
        {{.emit_kernel = TML_USE(fall), .out = {z}}, "desc.out[1] is no buffer"},
        {{.emit_kernel = TML_USE(fall), .out = {z, w}},
         "desc.out[1] has elements of f32x4, needs f32x3"},
        {{.emit_kernel = TML_USE(fall), .out = {z, z}}, "desc.out[1] overlaps desc.out[0]"},
        {{.emit_kernel = TML_USE(fall), .out = {z, x}}, "desc.out[1] overlaps desc.in[0]"},
        {{.emit_kernel = TML_USE(fall), .out = {z, y, w}},
         "desc.out[2] is given, but fall makes only 2 outputs"},
        {{.out = {{0, 0}, w}}, "desc.out[1] is given, but no kernel makes only 0 outputs"},
    };
    tml_buffer counts = buffer_of(tml, TML_U32, 8, NULL);
    for (size_t i = 0; i < sizeof emits / sizeof *emits; i++) {
        tml_expand_desc desc = emits[i].desc;
        desc.counts = counts;
        if (desc.emit_kernel)
            desc.in[0] = x, desc.in[1] = y;
        tml_status status = tml_expand(tml, &desc);
        CHECK(status == TML_ERROR_INVALID_ARGUMENT || status == TML_ERROR_INVALID_HANDLE);
        if (!CHECK(strstr(tml_last_error(tml), emits[i].text)))
            printf("    %s\n", tml_last_error(tml));
    }
    CHECK_STATUS(
        tml_histogram(tml,
                      &(tml_histogram_desc){.kernel = TML_USE(fall), .in = {x, y}, .out = counts}),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK_STR(tml_last_error(tml),
              "tml_histogram: desc.kernel (fall) makes several outputs, which only tml_map and an "
              "emit kernel of tml_expand may");
    CHECK_STATUS(tml_compact(tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(fall)},
                                                      .payloads = {{x, z}, {y, w}}}),
                 TML_ERROR_INVALID_ARGUMENT);
}

/* A tree of NODES nodes, breadth first: node n's first child and the number of its children. */
enum { NODES = 3001 };
static void make_tree(uint32_t tree[2 * NODES])
{
    uint32_t next = 1;
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t wanted = n < 8 ? 3 : scatter(n) % 4;
        uint32_t children = wanted < NODES - next ? wanted : NODES - next;
        tree[2 * n] = next;
        tree[2 * n + 1] = children;
        next += children;
    }
}

/* Level after level by expand alone: each level's length is the one before it's total. Leaves are
 * compacted on the way. */
static void walk_and_look(tml_context *tml)
{
    static uint32_t tree[2 * NODES], seen[NODES], hashes[NODES];
    make_tree(tree);
    const uint32_t root = 0, one = 1;
    tml_buffer words = buffer_of(tml, TML_VEC(TML_U32, 2), NODES, tree);
    tml_buffer level[2] = {buffer_of(tml, TML_U32, NODES, NULL),
                           buffer_of(tml, TML_U32, NODES, NULL)};
    tml_buffer length[2] = {buffer_of(tml, TML_U32, 1, &one), buffer_of(tml, TML_U32, 1, NULL)};
    tml_buffer leaves = buffer_of(tml, TML_U32, NODES, NULL),
               leaf_count = buffer_of(tml, TML_U32, 1, NULL);
    tml_buffer hash = buffer_of(tml, TML_U32, NODES, NULL);
    CHECK_OK(tml, tml_buffer_write(tml, level[0], 0, 1, &root));

    uint32_t first = 0, size = 1; /* of the level, by the tree itself */
    for (int l = 0; size > 0; l++) {
        tml_buffer from = level[l & 1], to = level[~l & 1];
        tml_length n = {.device = length[l & 1]};
        CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_leaf),
                                                                    .in = {from, words}},
                                                           .payloads = {{from, leaves}},
                                                           .length = n,
                                                           .count = leaf_count}));
        CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(hash_of),
                                                   .in = {from, words},
                                                   .length = n,
                                                   .out = {hash}}));
        CHECK_OK(tml, tml_expand(tml, &(tml_expand_desc){.count_kernel = TML_USE(children_of),
                                                         .emit_kernel = TML_USE(child_of),
                                                         .in = {from, words},
                                                         .length = n,
                                                         .out = {to},
                                                         .total = length[~l & 1]}));
        uint64_t leaf_total = 0, next_size = 0, children = 0, leaves_here = 0;
        CHECK_OK(tml, tml_buffer_read_count(tml, leaf_count, &leaf_total));
        CHECK_OK(tml, tml_buffer_read_range(tml, leaves, 0, leaf_total, seen));
        CHECK_OK(tml, tml_buffer_read_range(tml, hash, 0, size, hashes));
        for (uint32_t i = 0; i < size; i++) {
            uint32_t n_at = first + i;
            children += tree[2 * n_at + 1];
            if (tree[2 * n_at + 1] == 0) {
                CHECK(leaves_here < leaf_total && seen[leaves_here] == n_at);
                leaves_here++;
            }
            CHECK_EQ_U64(hashes[i], walks_hash(tree, n_at));
        }
        CHECK_EQ_U64(leaf_total, leaves_here);
        CHECK_OK(tml, tml_buffer_read_count(tml, length[~l & 1], &next_size));
        CHECK_EQ_U64(next_size, children);
        first += size;
        size = (uint32_t)children;
        CHECK_OK(tml, tml_buffer_read_range(tml, to, 0, size, seen));
        for (uint32_t i = 0; i < size; i++)
            CHECK_EQ_U64(seen[i], first + i);
    }
    CHECK_EQ_U64(first, NODES);
}

/* The same with nothing read on the way: more levels are enqueued than there are, the last of them
 * of no nodes, and there is room for many more than there are. What is left is the sum over all
 * nodes, by a reduction of each level's hashes. The second time nothing is allocated. */
enum { LEVELS = 24, ROOM = 100000 };
static void walk_blindly(tml_context *tml)
{
    static uint32_t tree[2 * NODES];
    static uint64_t sums[LEVELS];
    make_tree(tree);
    const uint32_t root = 0, one = 1;
    tml_buffer words = buffer_of(tml, TML_U32, 2 * NODES, tree);
    tml_buffer level[2] = {buffer_of(tml, TML_U32, ROOM, NULL),
                           buffer_of(tml, TML_U32, ROOM, NULL)};
    tml_buffer length[2] = {buffer_of(tml, TML_U32, 1, NULL), buffer_of(tml, TML_U32, 1, NULL)};
    tml_buffer hash = buffer_of(tml, TML_U32, ROOM, NULL), sum[LEVELS];
    for (int l = 0; l < LEVELS; l++)
        sum[l] = buffer_of(tml, TML_U64, 1, NULL);
    for (int time = 0; time < 2; time++) {
        CHECK_OK(tml, tml_buffer_write(tml, level[0], 0, 1, &root));
        CHECK_OK(tml, tml_buffer_write(tml, length[0], 0, 1, &one));
        uint64_t allocations_before = allocations;
        for (int l = 0; l < LEVELS; l++) {
            tml_buffer from = level[l & 1], to = level[~l & 1];
            tml_length n = {.device = length[l & 1]};
            CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = TML_USE(hash_of),
                                                       .in = {from, words},
                                                       .length = n,
                                                       .out = {hash}}));
            CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = hash,
                                                             .length = n,
                                                             .folds = {{TML_FOLD_SUM, sum[l]}}}));
            CHECK_OK(tml, tml_expand(tml, &(tml_expand_desc){.count_kernel = TML_USE(children_of),
                                                             .emit_kernel = TML_USE(child_of),
                                                             .in = {from, words},
                                                             .length = n,
                                                             .out = {to},
                                                             .total = length[~l & 1]}));
        }
        if (time > 0)
            CHECK_EQ_U64(allocations, allocations_before);
        uint64_t got = 0, expected = 0, left = 1;
        for (int l = 0; l < LEVELS; l++) {
            CHECK_OK(tml, tml_buffer_read(tml, sum[l], &sums[l]));
            got += sums[l];
        }
        for (uint32_t n = 0; n < NODES; n++)
            expected += walks_hash(tree, n);
        CHECK_EQ_U64(got, expected);
        CHECK_OK(tml, tml_buffer_read_count(tml, length[LEVELS & 1], &left));
        CHECK_EQ_U64(left, 0);
        CHECK_EQ_U64(sums[LEVELS - 1], 0);
    }
}

static void refuse(tml_context *tml)
{
    tml_buffer ends = buffer_of(tml, TML_VEC(TML_U32, 2), 8, NULL);
    tml_buffer halves = buffer_of(tml, TML_VEC(TML_F16, 3), 8, NULL);
    tml_buffer out = buffer_of(tml, TML_F32, 8, NULL);
    tml_map_desc desc = {.kernel = TML_USE(edge_square), .in = {ends, halves}, .out = {out}};
    CHECK_STATUS(tml_map(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STR(tml_last_error(tml), "tml_map: desc.in[1] is f16x3, needs what parameter 1 of "
                                   "edge_square takes: elements of a multiple of 4 bytes");
    /* In place is for elements alone. */
    tml_buffer numbers = buffer_of(tml, TML_U32, 8, NULL);
    desc = (tml_map_desc){.kernel = TML_USE(hash_of), .in = {numbers, numbers}, .out = {numbers}};
    CHECK_STATUS(tml_map(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_compact(tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_leaf),
                                                               .in = {numbers, numbers}},
                                                      .payloads = {{numbers, numbers}}}),
                 TML_ERROR_INVALID_ARGUMENT);
}

static void on_every_device(void (*test)(tml_context *tml))
{
    tml_context *tml;
    for (uint32_t d = 0; (tml = open_with_kernels(d)); d++) {
        test(tml);
        tml_close(tml);
    }
}

TEST(words_are_read_at_any_place)
{
    on_every_device(read_words);
}

TEST(vectors_and_random_numbers_are_those_of_c)
{
    on_every_device(read_vectors_and_draw);
}

TEST(kernels_fill_several_outputs)
{
    on_every_device(fill_several);
}

TEST(wrong_outputs_are_refused)
{
    on_every_device(refuse_several);
}

TEST(words_at_odd_addresses_are_refused)
{
    tml_context *tml = open_cpu(1);
    uint32_t room[12] = {0};
    tml_buffer_desc records = {.type = TML_RECORD(4), .count = 8, .host = (char *)room + 1};
    tml_buffer odd;
    CHECK_OK(tml, tml_buffer_create(tml, &records, &odd));
    tml_map_desc desc = {.kernel = TML_USE(edge_square),
                         .in = {buffer_of(tml, TML_VEC(TML_U32, 2), 8, NULL), odd},
                         .out = {buffer_of(tml, TML_F32, 8, NULL)}};
    CHECK_STATUS(tml_map(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STR(tml_last_error(tml),
              "tml_map: desc.in[1] begins at an address that is no multiple of 4, needs one for "
              "parameter 1 of edge_square, which takes words");
    tml_close(tml);
}

TEST(trees_are_walked_level_by_level)
{
    on_every_device(walk_and_look);
}

TEST(trees_are_walked_without_looking)
{
    on_every_device(walk_blindly);
}

TEST(wrong_words_are_refused)
{
    on_every_device(refuse);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
