/* Stores vertices, normals and indices in the layout of their outputs. */
#include <string.h>

#include "surface/surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface_octahedral.k.h"
/* Undefines the short names of kernel.h, which are not used below. */
#include "kernels/kernel_end.h"

void surface_store(const tml_slot *slot, uint32_t offset, uint64_t first, uint64_t count,
                   const void *values, uint32_t words)
{
    const size_t stride = slot->element_size;
    if (count == 0) /* there may be no memory then */
        return;
    unsigned char *out = (unsigned char *)slot->memory + first * stride + offset;
    if (stride == words * sizeof(float)) {
        memcpy(out, values, count * stride);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(out + i * stride, (const float *)values + i * words, words * sizeof(float));
}

void surface_store_normals(const surface_plan *plan, uint64_t first, uint64_t count,
                           const float *normals)
{
    enum { TOGETHER = 64 };
    const surface_layout *layout = surface_layout_of(plan);
    if (!layout->octahedral) {
        surface_store(plan->mesh.vertex_normals, layout->normal, first, count, normals, 3);
        return;
    }
    for (uint64_t done = 0; done < count; done += TOGETHER) {
        const uint64_t n = TML_MIN_OF(count - done, (uint64_t)TOGETHER);
        uint32_t codes[TOGETHER];
        for (uint64_t i = 0; i < n; i++) {
            const float *v = normals + 3 * (done + i);
            codes[i] = surface_octahedral(tml_make3(v[0], v[1], v[2]));
        }
        surface_store(plan->mesh.vertex_normals, layout->normal, first + done, n, codes, 1);
    }
}

void surface_store_indices16(uint16_t *out, const uint32_t *in, uint64_t triangle_count)
{
    for (uint64_t i = 0; i < triangle_count; i++) {
        const uint32_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
        const bool fits = TML_MAX_OF(TML_MAX_OF(a, b), c) < SURFACE_VERTICES16;
        const uint16_t corners[3] = {fits ? (uint16_t)a : 0, fits ? (uint16_t)b : 0,
                                     fits ? (uint16_t)c : 0};
        memcpy(out + 3 * i, corners, sizeof corners);
    }
}
