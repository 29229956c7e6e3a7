/* Particles that are born, fall, and leave the stream when they have flown out of a box or grown
 * too old. The same kernels run on the CPU, on Vulkan (built by CMake's trommel_add_kernels()) and
 * on OpenGL ES (compiled by the driver); all must keep the same particles.
 * Shows: a kernel that fills two arrays; random numbers; payloads that are compacted together, in
 * place; outputs that are appended to the rest; a length that stays on the device from frame to
 * frame; tml_vulkan_desc.kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

enum { EMITTERS = 64, BIRTHS = 300, FRAMES = 8, PARTICLES = EMITTERS * BIRTHS * FRAMES };

#include <trommel/kernel_begin.h>
/* position.w is the age. The step is a power of two: products are then exact, and it does not
 * matter whether a GPU fuses them into sums. */
TML_KERNEL_OUTS((vec4 position, vec3 velocity), move, (vec4 x, vec3 v, tml_params p), {
    float step = p.f[0];
    move_out o;
    o.velocity = VEC3(v.x, v.y - step, v.z);
    o.position = add4(x, VEC4(v.x * step, v.y * step, v.z * step, step));
    return o;
})
TML_KERNEL(bool, is_alive, (vec4 position, tml_params p), {
    vec3 place = VEC3(abs(position.x), abs(position.y), abs(position.z));
    return max(place.x, max(place.y, place.z)) <= p.f[1] && position.w < p.f[2];
})

/* A particle's id is of its own: emitter, frame and rank in one (64 and 300 are EMITTERS and
 * BIRTHS). Draws are -1 ... 1. */
/* clang-format off */
TML_LIBRARY(births,
    FUNCTION(uint) births_id(uint emitter, uint rank, uint frame) {
        return (frame * 64u + emitter) * 300u + rank;
    }
    FUNCTION(float) births_draw(uint id, uint number) {
        return 2.0f * tml_random_float(id, number) - 1.0f;
    }
)
/* clang-format on */
TML_KERNEL(uint, birth_count, (tml_index emitter), { return 300u - U(emitter) % 7u; })
TML_KERNEL_WITH(births, uint, birth_id, (tml_index emitter, tml_rank k, tml_params p),
                { return births_id(U(emitter), k, p.u[0]); })
TML_KERNEL_WITH(births, vec4, birth_place, (tml_index emitter, tml_rank k, tml_params p), {
    uint id = births_id(U(emitter), k, p.u[0]);
    return VEC4(births_draw(id, 0u), births_draw(id, 1u), births_draw(id, 2u), 0.0f);
})
TML_KERNEL_WITH(births, vec3, birth_velocity, (tml_index emitter, tml_rank k, tml_params p), {
    uint id = births_id(U(emitter), k, p.u[0]);
    return VEC3(births_draw(id, 3u), births_draw(id, 4u), births_draw(id, 5u));
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(particles). */
extern const tml_vulkan_kernel particles_kernels[];

typedef struct result {
    uint64_t count;
    tml_vec4 positions[PARTICLES];
    uint32_t ids[PARTICLES];
} result;

/* Appends the frame's new particles to each array. The last call advances the count, where all
 * begin. */
static tml_status emit(tml_context *tml, tml_params params, tml_buffer position,
                       tml_buffer velocity, tml_buffer id, tml_buffer count)
{
    tml_expand_desc desc = {.count_kernel = TML_USE(birth_count),
                            .emit_kernel = TML_USE(birth_place),
                            .params = params,
                            .length = {.count = EMITTERS},
                            .out = {position},
                            .out_first = count};
    tml_status status = tml_expand(tml, &desc);
    desc.emit_kernel = TML_USE(birth_velocity), desc.out[0] = velocity;
    if (!status)
        status = tml_expand(tml, &desc);
    desc.emit_kernel = TML_USE(birth_id), desc.out[0] = id, desc.total = count;
    return status ? status : tml_expand(tml, &desc);
}

static tml_status simulate(tml_context *tml, result *out)
{
    tml_params params = {.f = {0.25f, 1.0f, 1.75f}}; /* step, box, age; u[0]: frame */
    const tml_type vec4_type = TML_VEC(TML_F32, 4), vec3_type = TML_VEC(TML_F32, 3);
    tml_buffer position, velocity, id, count;
    tml_status status;
    if ((status = tml_buffer_create(tml, &(tml_buffer_desc){.type = vec4_type, .count = PARTICLES},
                                    &position)) ||
        (status = tml_buffer_create(tml, &(tml_buffer_desc){.type = vec3_type, .count = PARTICLES},
                                    &velocity)) ||
        (status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = PARTICLES},
                                    &id)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_U32, .count = 1, .data = &(uint32_t){0}}, &count)))
        return status;
    for (; params.u[0] < FRAMES; params.u[0]++) {
        const tml_length alive = {.device = count};
        if ((status = emit(tml, params, position, velocity, id, count)) ||
            (status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(move),
                                                   .params = params,
                                                   .in = {position, velocity},
                                                   .length = alive,
                                                   .out = {position, velocity}})) ||
            (status = tml_compact(
                 tml, &(tml_compact_desc){
                          .keep = {.kernel = TML_USE(is_alive), .params = params},
                          .payloads = {{position, position}, {velocity, velocity}, {id, id}},
                          .length = alive,
                          .count = count})))
            return status;
    }
    if ((status = tml_buffer_read_count(tml, count, &out->count)) ||
        (status = tml_buffer_read_range(tml, position, 0, out->count, out->positions)))
        return status;
    return tml_buffer_read_range(tml, id, 0, out->count, out->ids);
}

/* Opens a device and simulates there. NO_DEVICE: there is none of that engine. */
static tml_status run(tml_engine_kind engine, result *out)
{
    const tml_vulkan_desc vulkan = {.kernels = particles_kernels};
    tml_context *tml;
    tml_status status = tml_open(&(tml_open_desc){.engine = engine, .vulkan = &vulkan}, &tml);
    if (status)
        return status;
    tml_device_info device;
    tml_context_describe(tml, &device);
    status = simulate(tml, out);
    if (status)
        fprintf(stderr, "%s\n", tml_last_error(tml));
    else
        printf("%s: %llu particles are left\n", device.name, (unsigned long long)out->count);
    tml_close(tml);
    return status;
}

static bool is_same(const result *a, const result *b)
{
    size_t count = (size_t)a->count;
    return a->count == b->count && !memcmp(a->ids, b->ids, count * sizeof a->ids[0]) &&
           !memcmp(a->positions, b->positions, count * sizeof a->positions[0]);
}

int main(void)
{
    static const tml_engine_kind gpus[] = {TML_ENGINE_VULKAN, TML_ENGINE_GL};
    static result on_cpu, on_gpu;
    if (run(TML_ENGINE_CPU, &on_cpu) || on_cpu.count == 0 || on_cpu.count == PARTICLES)
        return 1;
    for (int i = 0; i < 2; i++) {
        tml_status status = run(gpus[i], &on_gpu);
        if (status == TML_ERROR_NO_DEVICE) {
            printf("no %s device here\n", i == 0 ? "Vulkan" : "OpenGL ES");
            continue;
        }
        if (status)
            return 1;
        if (!is_same(&on_cpu, &on_gpu)) {
            printf("it differs from the CPU\n");
            return 1;
        }
        printf("it kept the same ones, at the same places\n");
    }
    return 0;
}
