/* Fields for other programs, which evaluate one slab by slab without storing it. */
#ifndef TML_FIELD_SLABS_H
#define TML_FIELD_SLABS_H

#include "core/core_internal.h"

enum {
    FIELD_BRICK_LOG2 = 3,
    FIELD_BRICK =
        1 << FIELD_BRICK_LOG2, /* samples along a brick's edge; bricks start at multiples */
};

typedef struct field_plan field_plan;

/* Sorts the points of a resolved desc (tml_field_resolve) into bins. Reads the points (waits).
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, CANCELLED. */
tml_status field_plan_create(tml_context *tml, const tml_field_desc *resolved, field_plan **out);
void field_plan_destroy(tml_context *tml, field_plan *plan);

/* Evaluates slices [z_first, z_first + z_count) into out (z_count * dims[1] * dims[0] floats, x
 * fastest). out is memory on the CPU engine; on Vulkan an address in a pointer; on OpenGL ES, which
 * takes the whole field at once, a gl_texture of WORDS. Any split into slabs gives the same samples bit
 * for bit; slabs of whole bricks (z_first and z_count multiples of FIELD_BRICK) cost least. Errors:
 * UNSUPPORTED (the engine has no fields, or none of this size), CANCELLED, and those of its draws and
 * dispatches. */
tml_status field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first, uint64_t z_count,
                      void *out);

#endif
