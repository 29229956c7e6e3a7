/* The outputs of calls that find out how large they are. */
#include <inttypes.h>

#include "surface/surface_internal.h"

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
    for (size_t i = 0; i < count; i++)
        *outputs[i].slot = outputs[i].wanted ? tml_slot_of(tml, *outputs[i].result) : NULL;
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
