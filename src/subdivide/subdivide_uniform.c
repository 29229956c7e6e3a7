/* Subdivide: uniform refinement, every triangle into four at each level.
 *
 * A level's topology is computed from the one before by arithmetic alone, and each vertex gathers
 * its value from its one-ring. The last level needs no half-edges: its triangles, limits and
 * normals come from those of the level before it, so most of the memory is the result. */
#include <string.h>

#include "core/call.h"
#include "subdivide/subdivide_internal.h"
#include "subdivide/subdivide_kernels.h"

/* clang-format off */
TML_KERNEL_WITH(subdivide, uvec4, subdiv_child_half, (tml_index i, tml_words halves, tml_params p), {
    uint f = U(i) / 12u;
    uint twin = loop_twin(halves, loop_child_side(U(i), f));
    return loop_child_half(U(i), f, twin, halves, p.u[0], p.u[1]);
})
TML_KERNEL_WITH(subdivide, uvec4, subdiv_child_vertex,
                (tml_index i, tml_words vertices, tml_words halves, tml_words firsts, tml_params p), {
    return loop_child_vertex(U(i), vertices, halves, firsts, p.u[0], p.u[2]);
})
TML_KERNEL_WITH(subdivide, uint, subdiv_child_first,
                (tml_index i, tml_words halves, tml_words firsts, tml_params p), {
    return loop_child_first(U(i), halves, firsts, p.u[1]);
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_child_triangle, (tml_index i, tml_words halves, tml_params p), {
    return loop_child_triangle(U(i), halves, p.u[0]);
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_own_triangle, (tml_index i, tml_words halves), {
    return UVEC3(loop_origin(halves, 3u * U(i)), loop_origin(halves, 3u * U(i) + 1u),
                 loop_origin(halves, 3u * U(i) + 2u));
})
/* clang-format on */

#include "kernels/kernel_end.h"

static const char call[] = "tml_subdivide_uniform";

/* Most triangles of a level that is refined: the records of its half-edges are 12 words a triangle
 * (3 of 4, subdivide.k.h), and words are indexed by a uint32_t. */
static const uint64_t max_parents = 0xffffffffu / 12;

static subdivide_level next_counts(const subdivide_level *level)
{
    return (subdivide_level){
        .vertex_count = level->vertex_count + level->edge_count,
        .edge_count = 2 * level->edge_count + 3 * level->triangle_count,
        .triangle_count = 4 * level->triangle_count,
    };
}

static tml_params params_of(const subdivide_level *level, uint32_t flags)
{
    return (tml_params){
        .u = {(uint32_t)level->vertex_count, (uint32_t)level->edge_count, flags, 0}};
}

/* Maps count elements. A map of none is left out, since a count of 0 means all of in[0] to
 * tml_map. */
static tml_status map(tml_context *tml, const tml_kernel *kernel, const subdivide_level *level,
                      uint32_t flags, const tml_buffer in[TML_MAX_INPUTS], uint64_t count,
                      tml_buffer out)
{
    if (count == 0)
        return TML_OK;
    tml_map_desc desc = {.kernel = kernel,
                         .params = params_of(level, flags),
                         .length = {.count = count},
                         .out = out};
    memcpy(desc.in, in, sizeof desc.in);
    return tml_map(tml, &desc);
}

/* ---- levels ---------------------------------------------------------------------------------- */

void subdivide_level_destroy(tml_context *tml, subdivide_level *level)
{
    tml_buffer_destroy(tml, level->halves);
    tml_buffer_destroy(tml, level->vertices);
    tml_buffer_destroy(tml, level->firsts);
    *level = (subdivide_level){.vertex_count = 0};
}

static tml_status make_level(tml_context *tml, const subdivide_level *from, uint32_t flags,
                             subdivide_level *out)
{
    const tml_type record = TML_VEC(TML_U32, 4);
    *out = next_counts(from);
    tml_status status = tml_buffer_create(tml,
                                          &(tml_buffer_desc){.type = record,
                                                             .count = 3 * out->triangle_count,
                                                             .label = "half-edges of a level"},
                                          &out->halves);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = record,
                                                      .count = out->vertex_count,
                                                      .label = "vertices of a level"},
                                   &out->vertices);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_U32,
                                                      .count = out->edge_count,
                                                      .label = "edges of a level"},
                                   &out->firsts);
    if (status == TML_OK)
        status = map(tml, TML_USE(subdiv_child_half), from, flags,
                     (const tml_buffer[TML_MAX_INPUTS]){from->halves}, 3 * out->triangle_count,
                     out->halves);
    if (status == TML_OK)
        status = map(tml, TML_USE(subdiv_child_vertex), from, flags,
                     (const tml_buffer[TML_MAX_INPUTS]){from->vertices, from->halves, from->firsts},
                     out->vertex_count, out->vertices);
    if (status == TML_OK)
        status = map(tml, TML_USE(subdiv_child_first), from, flags,
                     (const tml_buffer[TML_MAX_INPUTS]){from->halves, from->firsts},
                     out->edge_count, out->firsts);
    if (status != TML_OK)
        subdivide_level_destroy(tml, out);
    return status;
}

/* Makes the half-edges that a call needs in every topology: up to level levels - 1, or where
 * subdivide_cpu.c applies and neither limits nor normals are wanted up to levels - 2. */
static tml_status ensure_levels(tml_subdivider *subdivider, uint32_t levels, bool has_limits)
{
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        subdivide_topology *topology = &subdivider->topologies[t];
        bool is_short = subdivide_cpu_takes(subdivider, t) && !has_limits;
        uint32_t skipped = is_short ? 2 : 1, level = levels > skipped ? levels - skipped : 0;
        while (topology->level_count <= level) {
            tml_status status =
                make_level(subdivider->tml, &topology->levels[topology->level_count - 1],
                           topology->flags, &topology->levels[topology->level_count]);
            if (status != TML_OK)
                return status;
            topology->level_count++;
        }
    }
    return TML_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Values number v at a level below the last: the base, or the spare that refine_values wrote. */
static tml_buffer refined_values(const tml_subdivider *subdivider, uint32_t v, uint32_t level)
{
    const subdivide_values *values = &subdivider->values[v];
    if (level == 0)
        return values->base;
    return subdivider->values_spare[values->components - 1][level % 2].buffer;
}

/* Refines values number v to level levels, which is at least 1. The last level's values go to out
 * or, with to_spare, to a spare buffer, from which the caller computes limits. *last: the one that
 * was written. */
static tml_status refine_values(tml_subdivider *subdivider, uint32_t v, uint32_t levels,
                                bool to_spare, tml_buffer out, tml_buffer *last)
{
    const subdivide_values *values = &subdivider->values[v];
    subdivide_topology *topology = &subdivider->topologies[values->topology];
    tml_type type = subdivide_value_type(values->components);
    subdivide_level after = next_counts(&topology->levels[0]); /* level l + 1 may have no table */
    for (uint32_t l = 0; l < levels; l++, after = next_counts(&after)) {
        const subdivide_level *level = &topology->levels[l];
        uint64_t count = after.vertex_count;
        bool is_last = l + 1 == levels;
        *last = out;
        if (!is_last || to_spare) {
            tml_status status = subdivide_spare_get(
                subdivider, &subdivider->values_spare[values->components - 1][(l + 1) % 2], type,
                count, last);
            if (status != TML_OK)
                return status;
        }
        tml_buffer from = refined_values(subdivider, v, l);
        tml_status status =
            l > 0 && subdivide_cpu_takes(subdivider, values->topology)
                ? subdivide_cpu_values(subdivider, v, l - 1, false, from, *last)
                : map(subdivider->tml, subdivide_child_kernels[values->components - 1], level,
                      topology->flags,
                      (const tml_buffer[TML_MAX_INPUTS]){level->halves, level->vertices,
                                                         level->firsts, from},
                      count, *last);
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* Normals of the limit surface at the vertices of the last level. positions: refined to that level,
 * not moved to the limit. */
static tml_status make_normals(tml_subdivider *subdivider, uint32_t levels, tml_buffer positions,
                               tml_buffer out)
{
    const subdivide_topology *topology = &subdivider->topologies[0];
    const subdivide_level *level = &topology->levels[levels ? levels - 1 : 0];
    tml_context *tml = subdivider->tml;
    const tml_buffer around[TML_MAX_INPUTS] = {level->halves, level->vertices, positions,
                                               subdivider->turns};
    if (levels == 0)
        return map(tml, subdivide_vertex_normal, level, topology->flags, around,
                   level->vertex_count, out);
    if (subdivide_cpu_takes(subdivider, 0))
        return subdivide_cpu_normals(subdivider, levels - 1, positions, out);
    tml_buffer kept;
    tml_status status = subdivide_spare_get(subdivider, &subdivider->values_spare[2][2],
                                            TML_VEC(TML_F32, 3), level->vertex_count, &kept);
    if (status == TML_OK)
        status = map(tml, subdivide_vertex_normal, level, topology->flags | LOOP_REFINED, around,
                     level->vertex_count, kept);
    if (status == TML_OK)
        status =
            map(tml, subdivide_child_normal, level, topology->flags,
                (const tml_buffer[TML_MAX_INPUTS]){kept, level->halves, level->firsts, positions},
                level->vertex_count + level->edge_count, out);
    return status;
}

/* Writes values number v of level 0 to out, unchanged or moved to their limits. */
static tml_status settle_values(tml_subdivider *subdivider, uint32_t v, bool limit, tml_buffer out)
{
    const subdivide_values *values = &subdivider->values[v];
    const subdivide_topology *topology = &subdivider->topologies[values->topology];
    const subdivide_level *level = &topology->levels[0];
    uint32_t flags = topology->flags | (limit ? 0 : LOOP_LINEAR); /* LINEAR: values stay */
    return map(subdivider->tml, subdivide_settle_kernels[values->components - 1], level, flags,
               (const tml_buffer[TML_MAX_INPUTS]){level->halves, level->vertices, values->base},
               level->vertex_count, out);
}

static tml_status make_values(tml_subdivider *subdivider, const tml_subdivide_uniform_desc *desc,
                              uint32_t v, const tml_subdivide_buffers *buffers)
{
    const subdivide_values *values = &subdivider->values[v];
    const subdivide_topology *topology = &subdivider->topologies[values->topology];
    tml_buffer out = subdivide_output_of(subdivider, buffers, v), last = values->base;
    tml_status status = desc->levels == 0
                            ? settle_values(subdivider, v, desc->limit, out)
                            : refine_values(subdivider, v, desc->levels, desc->limit, out, &last);
    if (status == TML_OK && desc->levels > 0 && desc->limit) {
        const subdivide_level *level = &topology->levels[desc->levels - 1];
        status = subdivide_cpu_takes(subdivider, values->topology)
                     ? subdivide_cpu_values(subdivider, v, desc->levels - 1, true, last, out)
                     : map(subdivider->tml, subdivide_limit_kernels[values->components - 1], level,
                           topology->flags,
                           (const tml_buffer[TML_MAX_INPUTS]){level->halves, level->vertices,
                                                              level->firsts, last},
                           level->vertex_count + level->edge_count, out);
    }
    if (status == TML_OK && v == 0 && desc->normals)
        status = make_normals(subdivider, desc->levels, last, buffers->normals);
    return status;
}

static tml_status make_triangles(tml_subdivider *subdivider, uint32_t levels, uint32_t t,
                                 tml_buffer out)
{
    const subdivide_topology *topology = &subdivider->topologies[t];
    const subdivide_level *level = &topology->levels[levels ? levels - 1 : 0];
    if (levels > 1 && subdivide_cpu_takes(subdivider, t))
        return subdivide_cpu_triangles(subdivider, t, levels - 2, out);
    return map(subdivider->tml,
               levels ? TML_USE(subdiv_child_triangle) : TML_USE(subdiv_own_triangle), level, 0,
               (const tml_buffer[TML_MAX_INPUTS]){level->halves},
               levels ? 4 * level->triangle_count : level->triangle_count, out);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status count_all(const tml_subdivider *subdivider, const char *name, uint32_t levels,
                            subdivide_counts *out)
{
    if (levels > TML_SUBDIVIDE_MAX_LEVELS)
        return tml_error(subdivider->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: levels is %u, needs 0 to %d", name, levels, TML_SUBDIVIDE_MAX_LEVELS);
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        subdivide_level level = subdivider->topologies[t].levels[0];
        for (uint32_t l = 0; l < levels; l++) {
            if (level.triangle_count > max_parents || level.vertex_count > 0x3fffffffu)
                return tml_error(
                    subdivider->tml, TML_ERROR_UNSUPPORTED,
                    "%s: levels is %u, but level %u already has %llu triangles, can be at "
                    "most %llu; take fewer levels, or divide the mesh",
                    name, levels, l, (unsigned long long)level.triangle_count,
                    (unsigned long long)max_parents);
            level = next_counts(&level);
        }
        if (t == 0)
            out->vertices = level.vertex_count, out->triangles = level.triangle_count;
        else
            out->values[t - 1] = level.vertex_count;
    }
    return TML_OK;
}

static void tell_counts(const tml_subdivider *subdivider, const subdivide_counts *counts,
                        tml_subdivide_result *out)
{
    *out = (tml_subdivide_result){.vertex_count = counts->vertices,
                                  .triangle_count = counts->triangles,
                                  .is_within_budget = true,
                                  .is_within_depth = true};
    for (uint32_t t = 1; t < subdivider->topology_count; t++)
        out->channel_counts[subdivider->channel_slots[t - 1]] = counts->values[t - 1];
}

static tml_status uniform_counts(const tml_subdivider *subdivider, uint32_t levels,
                                 tml_subdivide_result *out)
{
    subdivide_counts counts;
    tml_status status = count_all(subdivider, "tml_subdivide_uniform_counts", levels, &counts);
    if (status == TML_OK)
        tell_counts(subdivider, &counts, out);
    return status;
}

tml_status tml_subdivide_uniform_counts(const tml_subdivider *subdivider, uint32_t levels,
                                        tml_subdivide_result *out)
{
    tml_status status = TML_ENTER_BY(subdivider, out);
    return status ? status : tml_leave(subdivider->tml, uniform_counts(subdivider, levels, out));
}

static tml_status uniform(tml_subdivider *subdivider, const tml_subdivide_uniform_desc *desc,
                          tml_subdivide_result *out)
{
    subdivide_counts counts;
    tml_status status = tml_refuse_recording(subdivider->tml, call, NULL);
    if (status == TML_OK)
        status = count_all(subdivider, call, desc->levels, &counts);
    if (status != TML_OK)
        return status;
    tell_counts(subdivider, &counts, out);
    out->depth = desc->levels;
    subdivide_outputs outputs;
    status = subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals, false,
                                      &counts, &outputs);
    if (status != TML_OK)
        return status;
    status = ensure_levels(subdivider, desc->levels, desc->limit || desc->normals);
    for (uint32_t t = 0; status == TML_OK && t < subdivider->topology_count; t++)
        status = make_triangles(subdivider, desc->levels, t,
                                subdivide_indices_of(subdivider, &outputs.buffers, t));
    for (uint32_t v = 0; status == TML_OK && v < subdivider->value_count; v++)
        status = make_values(subdivider, desc, v, &outputs.buffers);
    if (status != TML_OK) {
        subdivide_buffers_destroy(subdivider->tml, &outputs.created);
        return status;
    }
    subdivide_outputs_deliver(&outputs, out);
    return TML_OK;
}

tml_status tml_subdivide_uniform(tml_subdivider *subdivider, const tml_subdivide_uniform_desc *desc,
                                 tml_subdivide_result *out)
{
    if (out)
        *out = (tml_subdivide_result){.vertex_count = 0};
    tml_status status = TML_ENTER_BY(subdivider, desc, out);
    return status ? status : tml_leave(subdivider->tml, uniform(subdivider, desc, out));
}
