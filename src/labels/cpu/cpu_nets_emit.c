/* Surface nets on the CPU: writes the faces, each with its two labels. */
#include "labels/cpu/cpu_nets.h"

/* Writes a face. Its normal points from the first label, by nets_is_first, to the other. */
ALWAYS_INLINE void emit_face(void *user, const nets_face *face)
{
    const nets_plan *plan = user;
    const bool is_first = nets_is_first(plan, face->label[0], face->label[1]);
    const bool reverse = is_first == plan->axes.flip_winding;
    uint64_t corner[4];
    for (int k = 0; k < 4; k++) /* reversing keeps the diagonals */
        corner[reverse ? (4 - k) % 4 : k] = face->corner[k];
    nets_write_face(plan, face->number, corner, nets_is_cut_other_way(plan, face->corner),
                    face->label[!is_first], face->label[is_first]);
}

SIMD_INSTANTIATE(SIMD_FLAT void, emit_layer_level, (nets_plan * plan, uint64_t z),
                 nets_visit_faces(plan, &plan->kept, z, emit_face, plan))

static void emit_task(void *argument, uint32_t index)
{
    static void (*const levels[TML_SIMD_LEVELS])(nets_plan *, uint64_t) =
        SIMD_EACH_LEVEL(emit_layer_level);
    nets_plan *plan = argument;
    if (!tml_is_cancelled(plan->tml))
        levels[tml_simd_level()](plan, plan->face_layers[0] + plan->first_layer + index);
}

tml_status cpu_nets_emit(nets_plan *plan)
{
    return nets_run_layers(plan, "faces", 0, 1, plan->face_layers[1] - plan->face_layers[0],
                           emit_task);
}
