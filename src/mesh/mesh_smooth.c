/* Smooths a mesh, as streams: the corners are sorted by their vertices, which makes each vertex's
 * ring, and then each step is a map, in which a vertex gathers its neighbours. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <trommel/stream.h>

#include "stream/program.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/mesh.k.h"

#include "mesh_library.h"

/* A corner's vertex and the two others of its triangle. The vertex is 2^32 - 1 where any of the
 * three is not usable. u[0]: vertices; u[1]: words of an index. */
TML_KERNEL_OUTS_WITH(mesh, (uint vertex, uvec2 ring), smooth_corner,
                     (tml_words indices, tml_words vertices, tml_index corner, tml_params p), {
                         uint k = U(corner) % 3u;
                         uint first = U(corner) - k;
                         smooth_corner_out o;
                         o.vertex = mesh_index_at(indices, first + k, p.u[1]);
                         o.ring = UVEC2(mesh_index_at(indices, first + (k + 1u) % 3u, p.u[1]),
                                        mesh_index_at(indices, first + (k + 2u) % 3u, p.u[1]));
                         if (!mesh_vertex_is_usable(vertices, o.vertex, p.u[0]) ||
                             !mesh_vertex_is_usable(vertices, o.ring.x, p.u[0]) ||
                             !mesh_vertex_is_usable(vertices, o.ring.y, p.u[0]))
                             o.vertex = 0xffffffffu;
                         return o;
                     })
TML_KERNEL(uint, mesh_number, (tml_index i), { return U(i); })
TML_KERNEL(vec3, smooth_copy, (vec3 x), { return x; })
/* u[0]: the boundary moves, too. */
TML_KERNEL_WITH(mesh, float, mesh_weighted,
                (float weight, tml_words firsts, tml_words rings, tml_index v, tml_params p),
                { return mesh_share(firsts, rings, U(v), weight, p.u[0] != 0u); })
TML_KERNEL_WITH(mesh, float, mesh_unweighted,
                (tml_words firsts, tml_words rings, tml_index v, tml_params p),
                { return mesh_share(firsts, rings, U(v), 1.0f, p.u[0] != 0u); })
/* f[0]: the step. */
TML_KERNEL_WITH(mesh, vec3, mesh_step,
                (float share, tml_words firsts, tml_words rings, tml_words positions, tml_index v,
                 tml_params p),
                { return mesh_moved(firsts, rings, positions, U(v), p.f[0] * share); })
TML_KERNEL_WITH(mesh, vec3, mesh_vertex_normal,
                (tml_words firsts, tml_words rings, tml_words positions, tml_index v),
                { return mesh_normal(firsts, rings, positions, U(v)); })

#include "kernels/kernel_end.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel mesh_own_kernels[]; /* made by the build */
#endif

static const char call[] = "tml_mesh_smooth";

/* Words are counted in 32 bits. */
#define MOST_TRIANGLES ((UINT64_C(1) << 30) - 1)

typedef struct smoothing {
    tml_context *tml;
    const tml_mesh_smooth_desc *desc;
    uint64_t vertex_count, triangle_count;
    uint32_t index_words;
    double steps[2]; /* of an iteration */
    uint32_t step_count;
    tml_buffer keys, rings, worst, firsts, shares; /* arrays of the program */
} smoothing;

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status check_number(const smoothing *s)
{
    const tml_mesh_smooth_desc *desc = s->desc;
    tml_context *tml = s->tml;
    if (desc->iterations > 10000)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.iterations is %" PRIu32 ", can be at most 10000", call,
                         desc->iterations);
    if (desc->method > TML_SMOOTH_LAPLACIAN)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.method is %d, needs a tml_smooth_method", call,
                         (int)desc->method);
    if (!(desc->lambda >= 0 && desc->lambda <= 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.lambda is %g, needs 0 to 1 (0: 0.5)", call, desc->lambda);
    const double lambda = s->steps[0], mu = s->steps[1];
    if (desc->method != TML_SMOOTH_TAUBIN)
        return TML_OK;
    if (!(mu < -lambda))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.mu is %g, needs less than -lambda, %g, or 0", call, mu, -lambda);
    if (!(fabs((1 - 2 * lambda) * (1 - 2 * mu)) <= 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.lambda is %g and desc.mu %g, by which waves of the mesh's "
                         "length grow; lambda up to 0.69 has a mu (0) that does not do so",
                         call, lambda, mu);
    return TML_OK;
}

static tml_status check_buffers(smoothing *s)
{
    static const tml_type vertex_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
    static const tml_type index_types[] = {TML_VEC(TML_U32, 3), TML_VEC(TML_U64, 3), TML_TYPE_NONE};
    static const tml_type weight_types[] = {TML_F32, TML_TYPE_NONE};
    const tml_mesh_smooth_desc *desc = s->desc;
    tml_context *tml = s->tml;
    tml_type index_type;
    tml_status status =
        tml_check_buffer(tml, call, "desc.mesh.positions", desc->mesh.positions, vertex_types, 0);
    TML_THEN(status,
             tml_check_buffer(tml, call, "desc.mesh.indices", desc->mesh.indices, index_types, 0));
    if (status != TML_OK)
        return status;
    tml_buffer_describe(tml, desc->mesh.positions, NULL, &s->vertex_count);
    tml_buffer_describe(tml, desc->mesh.indices, &index_type, &s->triangle_count);
    s->index_words = tml_type_scalar(index_type) == TML_U64 ? 2 : 1;
    if (s->triangle_count * s->index_words > MOST_TRIANGLES || s->vertex_count >= UINT32_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: the mesh has %" PRIu64 " triangles and %" PRIu64
                         " vertices, can have %" PRIu64 " and %" PRIu32 "; smooth parts of it",
                         call, s->triangle_count, s->vertex_count, MOST_TRIANGLES / s->index_words,
                         UINT32_MAX - 1);
    if (tml_buffer_is_none(desc->out) && tml_buffer_is_none(desc->normals))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: give desc.out, desc.normals or both",
                         call);
    const struct {
        const char *name;
        tml_buffer buffer;
        const tml_type *types;
    } others[] = {{"desc.weights", desc->weights, weight_types},
                  {"desc.out", desc->out, vertex_types},
                  {"desc.normals", desc->normals, vertex_types}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(others) && status == TML_OK; i++)
        if (!tml_buffer_is_none(others[i].buffer))
            status = tml_check_buffer(tml, call, others[i].name, others[i].buffer, others[i].types,
                                      s->vertex_count);
    const stream_field written[] = {{"desc.out", desc->out}, {"desc.normals", desc->normals}};
    const stream_input read[] = {{"desc.mesh.positions", desc->mesh.positions, 1u << 0},
                                 {"desc.mesh.indices", desc->mesh.indices, 0},
                                 {"desc.weights", desc->weights, 0}};
    return status ? status
                  : stream_check_memory(tml, call, written, TML_ARRAY_SIZE(written), read,
                                        TML_ARRAY_SIZE(read));
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* A step on the host: refuses a mesh that has a corner of the largest number. */
static tml_status check_corners(program *p, void *user)
{
    const smoothing *s = user;
    uint64_t worst = 0;
    uint32_t key = 0;
    tml_status status = tml_buffer_read(p->tml, s->worst, &worst);
    TML_THEN(status, tml_buffer_read_range(p->tml, s->keys, worst, 1, &key));
    if (status == TML_OK && key == UINT32_MAX)
        return tml_error(p->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.mesh.indices: triangle %" PRIu64
                         " has an index that is not below %" PRIu64
                         ", or a vertex that is not finite and within 2^100",
                         call, worst / 3, s->vertex_count);
    return status;
}

/* Sorts the corners by their vertices. */
static void add_rings(program *p, smoothing *s)
{
    const uint64_t corners = 3 * s->triangle_count;
    const tml_length length = tml_length_of(corners);
    uint32_t bits = 1;
    while (bits < 32 && s->vertex_count >> bits)
        bits++;
    s->keys = program_array(p, TML_U32, corners);
    s->rings = program_array(p, TML_VEC(TML_U32, 2), corners);
    s->worst = program_array(p, TML_U64, 1);
    s->firsts = program_array(p, TML_U32, s->vertex_count + 1);
    tml_buffer numbers = program_array(p, TML_U32, s->vertex_count + 1);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(smooth_corner),
                                   .params = {.u = {(uint32_t)s->vertex_count, s->index_words}},
                                   .in = {s->desc->mesh.indices, s->desc->mesh.positions},
                                   .length = length,
                                   .out = {s->keys, s->rings}});
    program_reduce(p, &(tml_reduce_desc){
                          .in = s->keys, .length = length, .folds = {{TML_FOLD_ARGMAX, s->worst}}});
    if (corners > 0)
        program_host(
            p, &(program_host_desc){.run = check_corners, .user = s, .uses = {s->keys, s->worst}});
    program_sort(p, &(tml_sort_desc){.keys = s->keys,
                                     .length = length,
                                     .bit_count = bits,
                                     .sorted = s->keys,
                                     .payloads = {{s->rings, s->rings}}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(mesh_number), .out = {numbers}});
    program_search(
        p, &(tml_search_desc){
               .sorted = s->keys, .sorted_length = length, .queries = numbers, .out = s->firsts});
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void add_shares(program *p, smoothing *s)
{
    const tml_buffer weights = s->desc->weights;
    tml_map_desc map = {.kernel = TML_USE(mesh_unweighted),
                        .params = {.u = {s->desc->free_boundary}},
                        .in = {s->firsts, s->rings},
                        .length = {.count = s->vertex_count}};
    if (!tml_buffer_is_none(weights)) {
        map.kernel = TML_USE(mesh_weighted);
        memcpy(map.in, (const tml_buffer[]){weights, s->firsts, s->rings}, 3 * sizeof weights);
    }
    map.out[0] = s->shares = program_array(p, TML_F32, s->vertex_count);
    program_map(p, &map);
}

static void add_copy(program *p, tml_buffer from, tml_buffer to)
{
    program_map(p, &(tml_map_desc){.kernel = TML_USE(smooth_copy), .in = {from}, .out = {to}});
}

static void add_step(program *p, const smoothing *s, uint32_t number, tml_buffer from,
                     tml_buffer to)
{
    program_map(p, &(tml_map_desc){.kernel = TML_USE(mesh_step),
                                   .params = {.f = {(float)s->steps[number % s->step_count]}},
                                   .in = {s->shares, s->firsts, s->rings, from},
                                   .length = {.count = s->vertex_count},
                                   .out = {to}});
}

/* Steps go to and fro between out and the spare, and end in out. */
static void add_steps(program *p, const smoothing *s)
{
    const tml_buffer vertices = s->desc->mesh.positions, out = s->desc->out;
    const tml_buffer spare = program_array(p, TML_VEC(TML_F32, 3), s->vertex_count);
    const uint32_t count = s->step_count * s->desc->iterations;
    const bool is_in_place = stream_same(p->tml, vertices, out);
    if (count == 0 && !is_in_place)
        add_copy(p, vertices, out);
    if (count == 0)
        return;
    if (count % 2 == 0) {
        add_step(p, s, 0, vertices, spare);
        add_step(p, s, 1, spare, out);
    } else if (is_in_place) {
        add_copy(p, vertices, spare);
        add_step(p, s, 0, spare, out);
    } else {
        add_step(p, s, 0, vertices, out);
    }
    program_loop_begin(p, (count - 1) / 2, (tml_buffer){0, 0}, "smooth");
    add_step(p, s, 0, out, spare);
    add_step(p, s, 1, spare, out);
    program_loop_end(p);
}

static tml_status mesh_smooth_run(smoothing *s)
{
    const tml_mesh_smooth_desc *desc = s->desc;
    const bool moves = !tml_buffer_is_none(desc->out);
    program p = program_begin(s->tml, call);
    add_rings(&p, s);
    if (moves && desc->iterations)
        add_shares(&p, s);
    if (moves)
        add_steps(&p, s);
    if (!tml_buffer_is_none(desc->normals))
        program_map(&p, &(tml_map_desc){
                            .kernel = TML_USE(mesh_vertex_normal),
                            .in = {s->firsts, s->rings, moves ? desc->out : desc->mesh.positions},
                            .length = {.count = s->vertex_count},
                            .out = {desc->normals}});
    return program_run(p, (tml_buffer){0, 0});
}

static tml_status smooth(tml_context *tml, const tml_mesh_smooth_desc *desc)
{
    const double lambda = desc->lambda == 0 ? 0.5 : desc->lambda;
    smoothing s = {.tml = tml,
                   .desc = desc,
                   .steps = {lambda, desc->mu == 0 ? 1 / (0.1 - 1 / lambda) : desc->mu},
                   .step_count = desc->method == TML_SMOOTH_TAUBIN ? 2 : 1};
    if (tml->engine->tier)
        return tml_refuse(tml, call, "no smoothing of meshes");
    tml_status status = check_number(&s);
    TML_THEN(status, check_buffers(&s));
    if (status == TML_OK && s.vertex_count == 0 && s.triangle_count)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.mesh.indices: there are triangles, and no vertices", call);
    if (status != TML_OK || s.vertex_count == 0)
        return status;
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, mesh_own_kernels);
#endif
    return mesh_smooth_run(&s);
}

tml_status tml_mesh_smooth(tml_context *tml, const tml_mesh_smooth_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, smooth(tml, desc));
}
