/* Which cells of a volume does a surface cross, and where are they? The list stays on the device,
 * ready for draws and further kernels, and no step waits for its length.
 * Shows: a kernel that reads a whole array (tml_words) around its element; tml_compact of
 * positions; a length that stays on the device; a map of integer vectors. */
#include <stdio.h>
#include <string.h>
#include <trommel/trommel.h>
#include <trommel/vulkan.h>

enum { SIDE = 24, SAMPLES = SIDE * SIDE * SIDE };

#include <trommel/kernel_begin.h>
/* Cell i has sample i as its lowest corner; those at the upper ends of the volume have no
 * others. */
TML_KERNEL(bool, is_crossed, (tml_index i, tml_words samples, tml_params p), {
    uint side = p.u[0];
    uint row = U(i) / side;
    if (U(i) % side + 1u == side || row % side + 1u == side || row / side + 1u == side)
        return false;
    uint inside = 0u;
    for (uint k = 0u; k < 8u; k++) {
        uint corner = U(i) + (k & 1u) + side * (((k >> 1) & 1u) + side * (k >> 2));
        inside += tml_word_float(samples, corner) >= p.f[0] ? 1u : 0u;
    }
    return inside != 0u && inside != 8u;
})
TML_KERNEL(uvec3, place_of, (uint cell, tml_params p), {
    uint side = p.u[0];
    return UVEC3(cell % side, cell / side % side, cell / side / side);
})
#include <trommel/kernel_end.h>

/* Made by trommel_add_kernels(active_voxels). */
extern const tml_vulkan_kernel active_voxels_kernels[];

/* A ball of radius 9 about the middle: above 0 inside. */
static float volume[SAMPLES];

static void fill(void)
{
    for (int i = 0; i < SAMPLES; i++) {
        float x = (float)(i % SIDE) - 11.5f, y = (float)(i / SIDE % SIDE) - 11.5f,
              z = (float)(i / SIDE / SIDE) - 11.5f;
        volume[i] = 81 - (x * x + y * y + z * z);
    }
}

/* The same by a loop. Returns how many. */
static uint64_t expect(tml_uvec3 *out)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const tml_uvec3 at = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        int inside = 0;
        if (at.x + 1 == SIDE || at.y + 1 == SIDE || at.z + 1 == SIDE)
            continue;
        for (uint32_t k = 0; k < 8; k++)
            inside += volume[i + (k & 1) + SIDE * ((k >> 1 & 1) + SIDE * (k >> 2))] >= 0;
        if (inside % 8 != 0)
            out[count++] = at;
    }
    return count;
}

static tml_status find(tml_context *tml, tml_uvec3 *places, uint64_t *count)
{
    tml_buffer samples, cells, found, place;
    const tml_params params = {.u = {SIDE}};
    tml_status status;
    if ((status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_F32, .count = SAMPLES, .data = volume},
             &samples)) ||
        (status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = SAMPLES},
                                    &cells)) ||
        (status =
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &found)) ||
        (status = tml_buffer_create(
             tml, &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3), .count = SAMPLES}, &place)))
        return status;
    status = tml_compact(
        tml, &(tml_compact_desc){
                 .keep = {.kernel = TML_USE(is_crossed), .params = params, .in = {samples}},
                 .length.count = SAMPLES,
                 .indices = cells,
                 .count = found});
    if (!status)
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(place_of),
                                              .params = params,
                                              .in = {cells},
                                              .length = {.count = SAMPLES, .device = found},
                                              .out = {place}});
    /* Only now, to show them, does the host wait. */
    if (!status)
        status = tml_buffer_read_count(tml, found, count);
    return status ? status : tml_buffer_read_range(tml, place, 0, *count, places);
}

int main(void)
{
    static const tml_engine_kind engines[] = {TML_ENGINE_CPU, TML_ENGINE_VULKAN, TML_ENGINE_GL};
    static tml_uvec3 expected[SAMPLES], places[SAMPLES];
    const tml_vulkan_desc vulkan = {.kernels = active_voxels_kernels};
    fill();
    uint64_t wanted = expect(expected), count = 0;
    for (int e = 0; e < 3; e++) {
        tml_context *tml;
        tml_status status =
            tml_open(&(tml_open_desc){.engine = engines[e], .vulkan = &vulkan}, &tml);
        if (status == TML_ERROR_NO_DEVICE && e > 0)
            continue;
        if (status || find(tml, places, &count)) {
            fprintf(stderr, "%s\n", tml ? tml_last_error(tml) : tml_status_text(status));
            return 1;
        }
        tml_device_info device;
        tml_context_describe(tml, &device);
        printf("%s: %llu of %d cells, from %u %u %u to %u %u %u\n", device.name,
               (unsigned long long)count, (SIDE - 1) * (SIDE - 1) * (SIDE - 1), places[0].x,
               places[0].y, places[0].z, places[count - 1].x, places[count - 1].y,
               places[count - 1].z);
        tml_close(tml);
        if (count != wanted || memcmp(places, expected, (size_t)count * sizeof *places) != 0) {
            printf("a loop finds others\n");
            return 1;
        }
    }
    return 0;
}
