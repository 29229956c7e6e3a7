/* Fields for other programs, which evaluate a field slab by slab without storing it. */
#ifndef TML_FIELD_SLABS_H
#define TML_FIELD_SLABS_H

#include "core/core_internal.h"

enum {
    FIELD_BRICK_LOG2 = 3,
    /* Samples along a brick's edge. Bricks start at multiples of it. */
    FIELD_BRICK = 1 << FIELD_BRICK_LOG2,
};

/* Bricks along that many samples, the last maybe partial. */
static inline uint64_t field_bricks_along(uint64_t samples)
{
    return TML_CEIL_DIV(samples, FIELD_BRICK);
}

typedef struct field_plan field_plan;

/* desc with every zero resolved: radius, margin, grid, length. Reads the points (waits), unless
 * grid.dims and radius or radii are given; of those with grid.dims, radius stays 0. iso, if not
 * NULL, gets the suggested isovalue. On failure *resolved is left as it was. Errors:
 * INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY. */
tml_status field_resolve_desc(tml_context *tml, const tml_field_desc *desc,
                              tml_field_desc *resolved, double *iso);

/* Sorts the points of a resolved desc into bins. Reads the points (waits).
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, CANCELLED. */
tml_status field_plan_create(tml_context *tml, const tml_field_desc *resolved, field_plan **out);
void field_plan_destroy(tml_context *tml, field_plan *plan);

/* Does a device bin a resolved desc's points, without a wait? */
bool field_bins_on_device(const tml_context *tml, const tml_field_desc *desc);
/* field_resolve_desc for calls that only enqueue: refuses a field whose points the host would have
 * to read, but on the CPU engine. Errors: UNSUPPORTED, by the names of the call and the desc. */
tml_status field_resolve_enqueued(tml_context *tml, const char *call, const char *name,
                                  const tml_field_desc *desc, tml_field_desc *resolved);
/* Bins the points of such a desc on the device, and then runs a program's part on desc, which finds
 * the plan in *plan; NULL: on the plan itself, for out. All of it lies in scratch, of that size.
 * Errors: those of the part and of scratch. */
tml_status field_run_after(tml_context *tml, const char *call, const tml_field_desc *resolved,
                           tml_buffer out, field_plan **plan, const tml_engine_op *program,
                           const void *desc);

/* Evaluates layers [z_first, z_first + z_count) into out (z_count * dims[1] * dims[0] floats, x
 * fastest). out is memory on the CPU engine, a device address on Vulkan, and on OpenGL ES, which
 * takes only the whole field, a gl_texture of WORDS. Any split into slabs gives the same samples
 * bit for bit. Slabs of whole bricks (z_first and z_count multiples of FIELD_BRICK) cost least.
 * Errors: UNSUPPORTED (the engine has no fields, or none of this size), CANCELLED, and those of
 * draws and dispatches. */
tml_status field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first, uint64_t z_count,
                      void *out);

/* The same on the CPU engine, of some bricks; where the others lie, out stays as it is. marks: 0 or
 * FIELD_MARKED for each brick that the layers touch, x fastest, then y. limit, not NULL: what
 * matters is which samples are at least that, and marks are written, for bricks that points may
 * reach: beyond these the field is field_background, less than the limit.
 * Errors: CANCELLED. */
enum { FIELD_MARKED = 0xff };
#ifdef TML_WEB /* mostly a GPU makes its fields, and every byte counts: all bricks are evaluated */
enum { FIELD_HAS_MARKS = false };
#else
enum { FIELD_HAS_MARKS = true };
#endif
tml_status cpu_field_bricks(tml_context *tml, const field_plan *plan, uint64_t z_first,
                            uint64_t z_count, uint8_t *marks, const float *limit, float *out);
float field_background(const field_plan *plan);

/* Means of what a resolved desc's points carry, as tml_field_mean has them, for positions that come
 * piece by piece. */
typedef struct field_means field_means;

/* Are these values of a resolved desc's points? Errors: INVALID_ARGUMENT, by the names of the call
 * and the buffer; UNSUPPORTED. */
tml_status field_means_check(tml_context *tml, const tml_field_desc *resolved, const char *call,
                             const char *name, tml_buffer values);
/* values: count arrays, at most TML_FIELD_MAX_ATTRIBUTES, which are copied. origin is added to
 * positions. Reads the radii where no largest is given (waits). Errors: OUT_OF_MEMORY, and those of
 * streams. */
tml_status field_means_create(tml_context *tml, const tml_field_desc *resolved,
                              const double origin[3], const tml_buffer *values, uint32_t count,
                              field_means **out);
/* The means of the arrays, into outs, one a position. */
tml_status field_means_at(tml_context *tml, field_means *means, tml_buffer positions,
                          const tml_buffer *outs);
void field_means_destroy(tml_context *tml, field_means *means);

#endif
