/* Descs of subdivision: made ready, uniform, adaptive, moved. */
#include "fuzz/desc.h"

#include <math.h>

static void take_mesh(tml_subdivider_desc *desc, uint64_t *vertices, uint64_t *triangles)
{
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint32_t faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    if (take() < 96) { /* a tetrahedron, or less of it */
        *vertices = 4;
        *triangles = 4 - below(4);
        desc->mesh.positions = make(TML_VEC(TML_F32, 3), 4, CONTENTS_FINITE, 0);
        desc->mesh.indices = make(TML_VEC(TML_U32, 3), *triangles, CONTENTS_BELOW, 4);
        put(desc->mesh.positions, TML_VEC(TML_F32, 3), 4, corners);
        put(desc->mesh.indices, TML_VEC(TML_U32, 3), *triangles, faces);
        return;
    }
    *vertices = 1 + below(12);
    *triangles = below(12);
    desc->mesh.positions = make(TML_VEC(TML_F32, 3), *vertices, CONTENTS_FINITE, 0);
    desc->mesh.indices = make(TML_VEC(TML_U32, 3), *triangles, CONTENTS_BELOW, *vertices);
}

static tml_subdivider_desc take_subdivider(void)
{
    tml_subdivider_desc desc = {0};
    uint64_t vertices, triangles;
    take_mesh(&desc, &vertices, &triangles);
    uint8_t with = take();
    for (uint64_t i = 0; i < below(1 + (with & 3)); i++)
        desc.attributes[seldom() ? below(TML_SUBDIVIDE_MAX_ATTRIBUTES) : i] =
            make(i ? TML_VEC(TML_F32, 1 + i) : TML_F32, vertices, CONTENTS_ANY, 0);
    for (uint64_t i = 0; i < below(1 + (with >> 2 & 3)); i++) {
        uint64_t values = 1 + below(8);
        desc.channels[i].values = make(TML_VEC(TML_F32, 2), values, CONTENTS_ANY, 0);
        desc.channels[i].indices = make(TML_VEC(TML_U32, 3), triangles, CONTENTS_BELOW, values);
        desc.channels[i].seams = (tml_subdivide_seams)mostly(below(4));
    }
    if (with & 16) {
        uint64_t count = below(5);
        desc.crease_edges = make(TML_VEC(TML_U32, 2), count, CONTENTS_BELOW, vertices);
        if (take_bool())
            desc.crease_sharpness = make(TML_F32, count, CONTENTS_ANY, 0);
    }
    if (with & 32) {
        uint64_t count = below(5);
        desc.corners = make(TML_U32, count, CONTENTS_BELOW, vertices);
        if (take_bool())
            desc.corner_sharpness = make(TML_F32, count, CONTENTS_ANY, 0);
    }
    desc.boundary = (tml_subdivide_boundary)mostly(below(3));
    desc.weights = (tml_subdivide_weights)mostly(below(2));
    desc.fix = !(with & 64);
    return desc;
}

static tml_subdivide_buffers take_buffers(void)
{
    tml_subdivide_buffers buffers = {0};
    if (take() < 208)
        return buffers;
    uint64_t room = take_bool() ? 3000 : take();
    buffers.mesh.positions = maybe_out(TML_VEC(TML_F32, 3), room);
    buffers.mesh.normals = maybe_out(TML_VEC(TML_F32, 3), room);
    buffers.mesh.indices = maybe_out(TML_VEC(TML_U32, 3), room);
    buffers.attributes[below(TML_SUBDIVIDE_MAX_ATTRIBUTES)] = maybe_out(TML_F32, room);
    buffers.channel_values[below(TML_SUBDIVIDE_MAX_CHANNELS)] =
        maybe_out(TML_VEC(TML_F32, 2), room);
    buffers.channel_indices[below(TML_SUBDIVIDE_MAX_CHANNELS)] =
        maybe_out(TML_VEC(TML_U32, 3), room);
    buffers.origins = maybe_out(TML_VEC(TML_U32, 2), room);
    return buffers;
}

static void check_result(const tml_subdivide_result *result, const tml_subdivide_buffers *given)
{
    const uint32_t *indices = elements_of(result->buffers.mesh.indices);
    DEMAND(count_of(result->buffers.mesh.positions) >= result->vertex_count);
    DEMAND(count_of(result->buffers.mesh.indices) >= result->triangle_count);
    for (uint64_t i = 0; i < 3 * result->triangle_count; i++)
        DEMAND(indices[i] < result->vertex_count);
    for (int c = 0; c < TML_SUBDIVIDE_MAX_CHANNELS; c++) {
        const uint32_t *at = elements_of(result->buffers.channel_indices[c]);
        for (uint64_t i = 0; at && i < 3 * result->triangle_count; i++)
            DEMAND(at[i] < result->channel_counts[c]);
    }
    note_number(result->vertex_count);
    note_number(result->triangle_count);
    if (tml_buffer_is_none(given->mesh.positions))
        note_buffer(result->buffers.mesh.positions);
    if (tml_buffer_is_none(given->mesh.indices))
        note_buffer(result->buffers.mesh.indices);
    if (tml_buffer_is_none(given->mesh.normals))
        note_buffer(result->buffers.mesh.normals);
}

static void uniform(tml_subdivider *subdivider)
{
    uint8_t which = take();
    tml_subdivide_uniform_desc desc = {.levels = which >= 248 ? (uint32_t)wild() : which % 4,
                                       .limit = which & 8,
                                       .normals = which & 16};
    tml_subdivide_result result;
    tml_subdivider_info counts;
    tml_subdivider_describe(subdivider, desc.levels, &counts);
    if (desc.levels <= TML_SUBDIVIDE_MAX_LEVELS && counts.triangle_count > 20000)
        return;
    desc.buffers = take_buffers();
    if (CALL(tml_subdivide_uniform_enqueue, subdivider, &desc, &result)) {
        DEMAND(counts.vertex_count == result.vertex_count &&
               counts.triangle_count == result.triangle_count);
        check_result(&result, &desc.buffers);
        tml_subdivide_free(tml, &result);
    }
}

static void enqueued(tml_subdivider *subdivider, tml_subdivide_adaptive_desc desc)
{
    desc.level_triangles = mostly(take_bool() ? 3000 : 0);
    desc.camera_buffer = maybe_out(TML_F32, 20);
    desc.counts = maybe_out(TML_U32, 3);
    desc.draw = maybe_out(TML_U32, 5);
    if (desc.level_triangles > 1 << 16) /* what it says is allocated */
        desc.level_triangles = 0;
    if (!desc.max_depth || desc.max_depth > 4)
        desc.max_depth = 4;
    (void)SCRATCH_OF(tml, tml_subdivide_adaptive_enqueue(subdivider, &desc));
    (void)CALL(tml_subdivide_adaptive_enqueue, subdivider, &desc);
}

static void adaptive(tml_subdivider *subdivider, const tml_subdivider_info *info)
{
    static const float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2};
    uint8_t how = take();
    tml_subdivide_adaptive_desc desc = {
        .criterion = (tml_subdivide_criterion)mostly(below(TML_SPLIT_KERNEL)),
        .threshold = (float)mostly_float(.1 + take() / 64.0),
        .max_depth = 1 + (uint32_t)below(3),
        .slivers = how & 1,
        .normals = how & 2,
        .origins = how & 4,
        .camera = {.width = (uint32_t)mostly(100),
                   .height = (uint32_t)mostly(80),
                   .nearest = (float)mostly_float(0),
                   .measure_outside = how & 8}};
    for (int i = 0; i < 16; i++)
        desc.camera.matrix[i] = (float)mostly_float(matrix[i]);
    desc.budget = mostly(how & 16 ? info->triangle_count + take() : 0);
    if (seldom()) {
        desc.max_depth = (uint32_t)mostly(0);
        desc.budget = info->triangle_count + 200;
    }
    desc.buffers = take_buffers();
    if (take_bool())
        enqueued(subdivider, desc);
    tml_subdivide_result result;
    if (!CALL(tml_subdivide_adaptive, subdivider, &desc, &result))
        return;
    DEMAND(desc.budget == 0 || result.triangle_count <= desc.budget || !result.is_within_budget);
    DEMAND(!desc.max_depth || result.depth <= desc.max_depth);
    check_result(&result, &desc.buffers);
    tml_subdivide_free(tml, &result);
}

void desc_subdivide(void)
{
    tml_subdivider_desc desc = take_subdivider();
    tml_subdivider *subdivider;
    if (!CALL(tml_subdivider_create, tml, &desc, &subdivider)) {
        DEMAND(!subdivider);
        return;
    }
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    note_number(info.edge_count);
    for (int calls = 0; calls < 2; calls++) {
        if (take_bool())
            adaptive(subdivider, &info);
        else
            uniform(subdivider);
        if (take() >= 192)
            (void)CALL(tml_subdivider_move_enqueue, subdivider,
                       make(TML_VEC(TML_F32, 3), info.vertex_count - info.split_vertices,
                            CONTENTS_FINITE, 0));
    }
    tml_subdivider_destroy(tml, subdivider);
}
