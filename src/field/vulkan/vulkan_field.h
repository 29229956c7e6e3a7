/* A field's slabs on the Vulkan engine, for the operation and for the surface. */
#ifndef TML_VULKAN_FIELD_H
#define TML_VULKAN_FIELD_H

#include "field/field_internal.h"
#include "vulkan/vulkan_internal.h"

/* Records the evaluation of slices [z_first, z_first + z_count) into out (z_count * dims[1] * dims[0]
 * floats, x fastest). Any split into slabs gives the same samples bit for bit; slabs of whole bricks
 * cost least. Needs no scratch: the plan brings what it takes. Errors: UNSUPPORTED (an axis longer
 * than 2^28 samples, 2^32 points), and vk_dispatch's. */
tml_status vk_field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first,
                         uint64_t z_count, vk_address out);

#endif
