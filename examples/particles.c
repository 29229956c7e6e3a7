/* Particles that move, and leave the stream when they have flown out of a box or grown too old. The
 * same kernels run on the CPU, on Vulkan (built by CMake's trommel_add_kernels()) and on OpenGL ES
 * (compiled by the driver); all must keep the same particles.
 * Shows: kernels with several arrays and parameters; payloads that are compacted together, in place;
 * a length that stays on the device from frame to frame; tml_vulkan_desc.kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

#include <trommel/kernel_begin.h>
/* position.w is the age. The step is a power of two: the product is then exact, and it does not
 * matter whether a GPU fuses it into the sum. */
TML_KERNEL(vec4, move, (vec4 position, vec3 velocity, tml_params p), {
    float step = p.f[0];
    return add4(position, VEC4(velocity.x * step, velocity.y * step, velocity.z * step, step));
})
TML_KERNEL(bool, is_alive, (vec4 position, tml_params p), {
    vec3 place = VEC3(abs(position.x), abs(position.y), abs(position.z));
    return max(place.x, max(place.y, place.z)) <= p.f[1] && position.w < p.f[2];
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(particles). */
extern const tml_vulkan_kernel particles_kernels[];

enum { PARTICLES = 100000, FRAMES = 8 };

typedef struct result {
    uint64_t count;
    tml_vec4 positions[PARTICLES];
    uint32_t ids[PARTICLES];
} result;

static tml_status simulate(tml_context *tml, const tml_vec4 *positions, const tml_vec3 *velocities,
                           const uint32_t *ids, result *out)
{
    const tml_params params = {.f = {0.25f, 1.0f, 1.75f}}; /* step, box, age */
    const tml_type vec4_type = TML_VEC(TML_F32, 4), vec3_type = TML_VEC(TML_F32, 3);
    tml_buffer position, velocity, id, count;
    tml_status status;
    if ((status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = vec4_type, .count = PARTICLES, .data = positions},
             &position)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = vec3_type, .count = PARTICLES, .data = velocities},
             &velocity)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_U32, .count = PARTICLES, .data = ids}, &id)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_U32, .count = 1, .data = &(uint32_t){PARTICLES}},
             &count)))
        return status;
    for (int frame = 0; frame < FRAMES; frame++) {
        const tml_length alive = {.device = count};
        if ((status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(move),
                                                   .params = params,
                                                   .in = {position, velocity},
                                                   .length = alive,
                                                   .out = position})) ||
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

static float random_float(uint32_t *seed) /* -1 ... 1, in steps of 2^-15 */
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)(*seed >> 16) * 0x1p-15f - 1.0f;
}

/* Opens a device and simulates there. NO_DEVICE: there is none of that engine. */
static tml_status run(tml_engine_kind engine, result *out)
{
    static tml_vec4 positions[PARTICLES];
    static tml_vec3 velocities[PARTICLES];
    static uint32_t ids[PARTICLES];
    uint32_t seed = 1;
    for (uint32_t i = 0; i < PARTICLES; i++) {
        positions[i] = (tml_vec4){random_float(&seed), random_float(&seed), random_float(&seed),
                                  random_float(&seed) * 0.5f};
        velocities[i] = (tml_vec3){random_float(&seed), random_float(&seed), random_float(&seed)};
        ids[i] = i;
    }
    const tml_vulkan_desc vulkan = {.kernels = particles_kernels};
    tml_context *tml;
    tml_status status = tml_open(&(tml_open_desc){.engine = engine, .vulkan = &vulkan}, &tml);
    if (status)
        return status;
    tml_device_info device;
    tml_context_describe(tml, &device);
    status = simulate(tml, positions, velocities, ids, out);
    if (status)
        fprintf(stderr, "%s\n", tml_last_error(tml));
    else
        printf("%s: %llu of %d particles are left\n", device.name, (unsigned long long)out->count,
               PARTICLES);
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
