/* Uniform refinement: each level divides every triangle into four.
 *
 * A level's topology is computed from the level before by arithmetic alone. Each vertex gathers its
 * value from its one-ring. The last level needs no half-edges: its triangles, limits and normals
 * come from those of the level before. So most of the memory is the result. */
#include "stream/program.h"
#include "subdivide/subdivide_internal.h"
#include "subdivide/subdivide_kernels.h"

/* clang-format off */
TML_KERNEL_WITH(subdivide, uvec4, subdiv_child_half,
                (tml_index i, tml_words halves, tml_params p), {
    uint f = U(i) / 12u;
    uint twin = loop_twin(halves, loop_child_side(U(i), f));
    return loop_child_half(U(i), f, twin, halves, p.u[0], p.u[1]);
})
TML_KERNEL_WITH(subdivide, uvec4, subdiv_child_vertex,
                (tml_index i, tml_words vertices, tml_words halves, tml_words firsts,
                 tml_params p), {
    return loop_child_vertex(U(i), vertices, halves, firsts, p.u[0], p.u[2]);
})
TML_KERNEL_WITH(subdivide, uint, subdiv_child_first,
                (tml_index i, tml_words halves, tml_words firsts, tml_params p), {
    return loop_child_first(U(i), halves, firsts, p.u[1]);
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_child_triangle,
                (tml_index i, tml_words halves, tml_params p), {
    return loop_child_triangle(U(i), halves, p.u[0]);
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_own_triangle, (tml_index i, tml_words halves), {
    return UVEC3(loop_origin(halves, 3u * U(i)), loop_origin(halves, 3u * U(i) + 1u),
                 loop_origin(halves, 3u * U(i) + 2u));
})
/* clang-format on */

#include "kernels/kernel_end.h"

static const char call[] = "tml_subdivide_uniform_enqueue";

subdivide_level subdivide_next_counts(const subdivide_level *level)
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

/* ---- levels ---------------------------------------------------------------------------------- */

void subdivide_level_destroy(tml_context *tml, subdivide_level *level)
{
    tml_buffer_destroy(tml, level->halves);
    tml_buffer_destroy(tml, level->vertices);
    tml_buffer_destroy(tml, level->firsts);
    *level = (subdivide_level){.vertex_count = 0};
}

static void add_level(program *p, const subdivide_level *from, uint32_t flags, subdivide_level *out)
{
    const tml_type record = TML_VEC(TML_U32, 4);
    const tml_params params = params_of(from, flags);
    *out = subdivide_next_counts(from);
    program_keep(p, record, 3 * out->triangle_count, "half-edges of a level", &out->halves);
    program_keep(p, record, out->vertex_count, "vertices of a level", &out->vertices);
    program_keep(p, TML_U32, out->edge_count, "edges of a level", &out->firsts);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(subdiv_child_half),
                                   .params = params,
                                   .in = {from->halves},
                                   .out = {out->halves}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(subdiv_child_vertex),
                                   .params = params,
                                   .in = {from->vertices, from->halves, from->firsts},
                                   .out = {out->vertices}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(subdiv_child_first),
                                   .params = params,
                                   .in = {from->halves, from->firsts},
                                   .out = {out->firsts}});
}

/* Makes the half-edges that a call needs in every topology: up to level levels - 1. Where
 * subdivide_cpu.c applies, levels - 2 suffices if neither limits nor normals are required. */
static tml_status ensure_levels(tml_subdivider *subdivider, uint32_t levels, bool has_limits)
{
    uint32_t before[SUBDIVIDE_TOPOLOGIES];
    program p = program_begin(subdivider->tml, call);
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        subdivide_topology *topology = &subdivider->topologies[t];
        bool is_short = subdivide_cpu_takes(subdivider, t) && !has_limits;
        uint32_t skipped = is_short ? 2 : 1, level = levels > skipped ? levels - skipped : 0;
        before[t] = topology->level_count;
        if (topology->level_count <= level)
            TML_THEN(p.status,
                     tml_refuse_recording(subdivider->tml, call,
                                          "call it once before, to make the levels' topology"));
        for (; topology->level_count <= level; topology->level_count++)
            add_level(&p, &topology->levels[topology->level_count - 1], topology->flags,
                      &topology->levels[topology->level_count]);
    }
    tml_status status = program_enqueue(p, (tml_buffer){0, 0});
    for (uint32_t t = 0; t < subdivider->topology_count && status != TML_OK; t++)
        while (subdivider->topologies[t].level_count > before[t])
            subdivide_level_destroy(
                subdivider->tml,
                &subdivider->topologies[t].levels[--subdivider->topologies[t].level_count]);
    return status;
}

/* Returns the level from which the last one is made. */
static const subdivide_level *parent_of(const subdivide_topology *topology, uint32_t levels)
{
    return &topology->levels[levels ? levels - 1 : 0];
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Refines values number v to level levels, and returns their buffer: out or, with has_limits, an
 * array from which limits are computed. */
static tml_buffer add_refined(program *p, tml_subdivider *subdivider, uint32_t v, uint32_t levels,
                              bool has_limits, tml_buffer out)
{
    const subdivide_values *values = &subdivider->values[v];
    const subdivide_topology *topology = &subdivider->topologies[values->topology];
    subdivide_level after =
        subdivide_next_counts(&topology->levels[0]); /* level l + 1 may have no table */
    tml_buffer from = values->base, to = out;
    for (uint32_t l = 0; l < levels; l++, after = subdivide_next_counts(&after), from = to) {
        const subdivide_level *level = &topology->levels[l];
        to = out;
        if (l + 1 < levels || has_limits)
            to = program_array(p, subdivide_value_type(values->components), after.vertex_count);
        const subdivide_cpu_desc task = {subdivider,      SUBDIVIDE_CPU_VALUES, v,
                                         .parent = l - 1, .in = from,           .out = to};
        if (l == 0 || !subdivide_cpu_add(p, &task))
            program_map(p,
                        &(tml_map_desc){.kernel = subdivide_child_kernels[values->components - 1],
                                        .params = params_of(level, topology->flags),
                                        .in = {level->halves, level->vertices, level->firsts, from},
                                        .length = tml_length_of(after.vertex_count),
                                        .out = {to}});
    }
    return from;
}

/* Adds normals of the limit surface at the vertices of the last level. positions: refined to that
 * level, not moved to the limit. */
static void add_normals(program *p, tml_subdivider *subdivider, uint32_t levels,
                        tml_buffer positions, tml_buffer out)
{
    const subdivide_topology *topology = &subdivider->topologies[0];
    const subdivide_level *level = parent_of(topology, levels);
    const subdivide_cpu_desc task = {subdivider, SUBDIVIDE_CPU_NORMALS, .parent = levels - 1,
                                     .in = positions, .out = out};
    if (levels > 0 && subdivide_cpu_add(p, &task))
        return;
    tml_buffer kept = levels ? program_array(p, TML_VEC(TML_F32, 3), level->vertex_count) : out;
    program_map(p, &(tml_map_desc){
                       .kernel = subdivide_vertex_normal,
                       .params = params_of(level, topology->flags | (levels ? LOOP_REFINED : 0)),
                       .in = {level->halves, level->vertices, positions, subdivider->turns},
                       .length = tml_length_of(level->vertex_count),
                       .out = {kept}});
    if (levels)
        program_map(
            p, &(tml_map_desc){.kernel = subdivide_child_normal,
                               .params = params_of(level, topology->flags),
                               .in = {kept, level->halves, level->firsts, positions},
                               .length = tml_length_of(level->vertex_count + level->edge_count),
                               .out = {out}});
}

static void add_values(program *p, tml_subdivider *subdivider,
                       const tml_subdivide_uniform_desc *desc, uint32_t v,
                       const tml_subdivide_buffers *buffers)
{
    const subdivide_values *values = &subdivider->values[v];
    const subdivide_topology *topology = &subdivider->topologies[values->topology];
    const subdivide_level *level = parent_of(topology, desc->levels);
    const tml_buffer out = subdivide_output_of(subdivider, buffers, v);
    const tml_buffer refined = add_refined(p, subdivider, v, desc->levels, desc->limit, out);
    const subdivide_cpu_desc task = {
        subdivider, SUBDIVIDE_CPU_LIMITS, v, .parent = desc->levels - 1, .in = refined, .out = out};
    if (desc->levels == 0) /* with LOOP_LINEAR, values stay as they are */
        program_map(p,
                    &(tml_map_desc){.kernel = subdivide_settle_kernels[values->components - 1],
                                    .params = params_of(level, topology->flags |
                                                                   (desc->limit ? 0 : LOOP_LINEAR)),
                                    .in = {level->halves, level->vertices, values->base},
                                    .length = tml_length_of(level->vertex_count),
                                    .out = {out}});
    else if (desc->limit && !subdivide_cpu_add(p, &task))
        program_map(
            p, &(tml_map_desc){.kernel = subdivide_limit_kernels[values->components - 1],
                               .params = params_of(level, topology->flags),
                               .in = {level->halves, level->vertices, level->firsts, refined},
                               .length = tml_length_of(level->vertex_count + level->edge_count),
                               .out = {out}});
    if (v == 0 && desc->normals)
        add_normals(p, subdivider, desc->levels, refined, buffers->mesh.normals);
}

static void add_triangles(program *p, tml_subdivider *subdivider, uint32_t levels, uint32_t t,
                          tml_buffer out)
{
    const subdivide_level *level = parent_of(&subdivider->topologies[t], levels);
    const subdivide_cpu_desc task = {subdivider, SUBDIVIDE_CPU_TRIANGLES, t, .parent = levels - 2,
                                     .out = out};
    if (levels < 2 || !subdivide_cpu_add(p, &task))
        program_map(
            p, &(tml_map_desc){.kernel = levels ? TML_USE(subdiv_child_triangle)
                                                : TML_USE(subdiv_own_triangle),
                               .params = params_of(level, 0),
                               .in = {level->halves},
                               .length = tml_length_of((levels ? 4 : 1) * level->triangle_count),
                               .out = {out}});
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status count_all(const tml_subdivider *subdivider, uint32_t levels,
                            subdivide_counts *out)
{
    if (levels > TML_SUBDIVIDE_MAX_LEVELS)
        return tml_error(subdivider->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.levels is %u, needs 0 to %d", call, levels,
                         TML_SUBDIVIDE_MAX_LEVELS);
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        subdivide_level level = subdivider->topologies[t].levels[0];
        for (uint32_t l = 0; l < levels; l++) {
            if (level.triangle_count > SUBDIVIDE_MAX_TRIANGLES || level.vertex_count > 0x3fffffffu)
                return tml_error(
                    subdivider->tml, TML_ERROR_UNSUPPORTED,
                    "%s: desc.levels is %u, but level %u already has %llu triangles, can be at "
                    "most %llu; take fewer levels, or divide the mesh",
                    call, levels, l, (unsigned long long)level.triangle_count,
                    (unsigned long long)SUBDIVIDE_MAX_TRIANGLES);
            level = subdivide_next_counts(&level);
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

static tml_status uniform(tml_subdivider *subdivider, const tml_subdivide_uniform_desc *desc,
                          tml_subdivide_result *out)
{
    subdivide_counts counts = {.vertices = 0};
    tml_status status = count_all(subdivider, desc->levels, &counts);
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
    program p = program_begin(subdivider->tml, call);
    if (status != TML_OK)
        p.status = status;
    for (uint32_t t = 0; t < subdivider->topology_count; t++)
        add_triangles(&p, subdivider, desc->levels, t,
                      subdivide_indices_of(subdivider, &outputs.buffers, t));
    for (uint32_t v = 0; v < subdivider->value_count; v++)
        add_values(&p, subdivider, desc, v, &outputs.buffers);
    status = program_enqueue(p, (tml_buffer){0, 0});
    if (status != TML_OK) {
        subdivide_buffers_destroy(subdivider->tml, &outputs.created);
        return status;
    }
    subdivide_outputs_deliver(&outputs, out);
    return TML_OK;
}

tml_status tml_subdivide_uniform_enqueue(tml_subdivider *subdivider,
                                         const tml_subdivide_uniform_desc *desc,
                                         tml_subdivide_result *out)
{
    if (out)
        *out = (tml_subdivide_result){.vertex_count = 0};
    tml_status status = TML_ENTER_BY(subdivider, desc, out);
    return status ? status : tml_leave(subdivider->tml, uniform(subdivider, desc, out));
}
