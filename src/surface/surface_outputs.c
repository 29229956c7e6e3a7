/* The outputs of calls that find out how large they are. */
#include <inttypes.h>

#include "surface/surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface_octahedral.k.h"
/* The vocabulary's short names are not used below. */
#include "kernels/kernel_end.h"

tml_status surface_outputs_check(tml_context *tml, const char *call, const surface_output *outputs,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const surface_output *out = &outputs[i];
        if (!out->wanted || tml_buffer_is_none(out->given))
            continue;
        const tml_type types[] = {out->type, TML_TYPE_NONE};
        tml_status status = tml_check_buffer(tml, call, out->field, out->given, types, 0);
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* Checks that the caller's outputs have room. Creates the others at their exact size. */
tml_status surface_outputs_make(tml_context *tml, const char *call, surface_output *outputs,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        surface_output *out = &outputs[i];
        if (!out->wanted)
            continue;
        uint64_t room;
        if (!tml_buffer_is_none(out->given)) {
            tml_buffer_describe(tml, out->given, NULL, &room);
            if (room < out->count)
                return tml_error(tml, TML_ERROR_CAPACITY,
                                 "%s: %s has %" PRIu64 " elements, needs %" PRIu64, call,
                                 out->field, room, out->count);
            *out->result = out->given;
            continue;
        }
        const tml_buffer_desc desc = {.type = out->type, .count = out->count, .label = out->field};
        tml_status status = tml_buffer_create(tml, &desc, out->result);
        if (status != TML_OK)
            return status;
        out->created = true;
    }
    for (size_t i = 0; i < count; i++) {
        const surface_output *from = outputs[i].is_within ? &outputs[0] : &outputs[i];
        *outputs[i].slot = from->wanted ? tml_slot_of(tml, *from->result) : NULL;
    }
    return TML_OK;
}

/* tml_surface_result.owned: outputs are in the order of the result's handles. */
uint32_t surface_outputs_owned(const surface_output *outputs, size_t count)
{
    uint32_t owned = 0;
    for (size_t i = 0; i < count; i++)
        owned |= (uint32_t)outputs[i].created << i;
    return owned;
}

void surface_outputs_destroy(tml_context *tml, surface_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i].created) {
            tml_buffer_destroy(tml, *outputs[i].result);
            *outputs[i].result = (tml_buffer){0, 0};
            outputs[i].created = false;
        }
}

/* ---- layouts --------------------------------------------------------------------------------- */

void surface_store(const tml_slot *slot, uint32_t offset, uint64_t first, uint64_t count,
                   const void *values, uint32_t words)
{
    const size_t stride = slot->element_size;
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
        surface_store(plan->vertex_normals, layout->normal, first, count, normals, 3);
        return;
    }
    for (uint64_t done = 0; done < count; done += TOGETHER) {
        const uint64_t n = TML_MIN_OF(count - done, (uint64_t)TOGETHER);
        uint32_t codes[TOGETHER];
        for (uint64_t i = 0; i < n; i++) {
            const float *v = normals + 3 * (done + i);
            codes[i] = surface_octahedral(tml_make3(v[0], v[1], v[2]));
        }
        surface_store(plan->vertex_normals, layout->normal, first + done, n, codes, 1);
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
