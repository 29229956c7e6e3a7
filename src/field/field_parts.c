/* The engines' parts for fields. */
#include "field/field_internal.h"

const field_parts field_parts_of[PART_COUNT] = {
    [PART_CPU] = {&cpu_op_field, cpu_field_slabs, cpu_field_weights},
#ifdef TML_VULKAN
    [PART_VULKAN] = {&vk_op_field, vk_field_slab, NULL},
#endif
#ifdef TML_GL
    [PART_GL] = {&gl_op_field, gl_field_slab, NULL},
#endif
};

tml_status field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first, uint64_t z_count,
                      void *out)
{
    field_slab_fn *slab = field_parts_of[tml->engine->part].slab;
    return slab ? slab(tml, plan, z_first, z_count, out)
                : tml_refuse(tml, "tml_field", "no fields");
}
