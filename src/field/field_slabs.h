/* Fields for other programs, which evaluate a field slab by slab without storing it. */
#ifndef TML_FIELD_SLABS_H
#define TML_FIELD_SLABS_H

#include "core/core_internal.h"

enum {
    FIELD_BRICK_LOG2 = 3,
    /* Samples along a brick's edge. Bricks start at multiples of it. */
    FIELD_BRICK = 1 << FIELD_BRICK_LOG2,
};

/* The number of bricks along that many samples. The last brick may be partial. */
static inline uint64_t field_bricks_along(uint64_t samples)
{
    return TML_CEIL_DIV(samples, FIELD_BRICK);
}

typedef struct field_plan field_plan;

/* Copies desc and resolves every zero: radius, margin, grid, length.
 * resolved  unchanged on failure. radius stays 0 if grid.dims and radii are given.
 * iso       NULL, or gets the suggested isovalue
 * Waits: reads the points, unless grid.dims and radius or radii are given.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY. */
tml_status field_resolve_desc(tml_context *tml, const tml_field_desc *desc,
                              tml_field_desc *resolved, double *iso);

/* Sorts the points of a resolved desc into bins.
 * Waits: reads the points.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, CANCELLED. */
tml_status field_plan_create(tml_context *tml, const tml_field_desc *resolved, field_plan **out);
void field_plan_destroy(tml_context *tml, field_plan *plan);

/* Returns whether a device bins a resolved desc's points, without a wait. */
bool field_bins_on_device(const tml_context *tml, const tml_field_desc *desc);
/* field_resolve_desc for calls that only enqueue. A field whose points the host would have to read
 * is unsupported, except on the CPU engine.
 * call, name  of the call and of the desc in it, for messages
 * Errors: UNSUPPORTED, and those of field_resolve_desc. */
tml_status field_resolve_enqueued(tml_context *tml, const char *call, const char *name,
                                  const tml_field_desc *desc, tml_field_desc *resolved);
/* Bins the points of a desc from field_resolve_enqueued on the device, and then runs a program's
 * part. All arrays lie in scratch.
 * desc  input of the part, which finds the plan in *plan. NULL: its input is the plan, for out.
 * Errors: those of the part and of scratch. */
tml_status field_run_after(tml_context *tml, const char *call, const tml_field_desc *resolved,
                           tml_buffer out, field_plan **plan, const tml_engine_op *program,
                           const void *desc);

/* Evaluates layers [z_first, z_first + z_count). Any split into slabs gives the same samples bit
 * for bit. Slabs of whole bricks (z_first and z_count multiples of FIELD_BRICK) cost least.
 * out  z_count * dims[1] * dims[0] floats, x fastest. CPU: memory. Vulkan: a device address. OpenGL
 *      ES: a gl_texture of WORDS, and the slab is the whole field.
 * Errors: UNSUPPORTED (the engine has no fields, or none of this size), CANCELLED, and those of
 *         draws and dispatches. */
tml_status field_slab(tml_context *tml, const field_plan *plan, uint64_t z_first, uint64_t z_count,
                      void *out);

/* Evaluates some bricks of those layers on the CPU engine. out is unchanged in the other bricks.
 * marks  one byte for each brick that the layers touch, x fastest, then y. FIELD_MARKED: evaluate
 *        the brick. 0: skip it. NULL: evaluate all bricks.
 * limit  If not NULL, samples are exact only with respect to whether they are at least *limit. The
 *        call writes marks: it marks the bricks that points may reach. The field elsewhere is
 *        field_background, which is less than the limit.
 * Errors: CANCELLED. */
enum { FIELD_MARKED = 0xff };
#ifdef TML_WEB /* evaluates all bricks, to be smaller; fields there are mostly made on a GPU */
enum { FIELD_HAS_MARKS = false };
#else
enum { FIELD_HAS_MARKS = true };
#endif
tml_status cpu_field_bricks(tml_context *tml, const field_plan *plan, uint64_t z_first,
                            uint64_t z_count, uint8_t *marks, const float *limit, float *out);
float field_background(const field_plan *plan);

/* The means of tml_field_mean for the points of a resolved desc, at positions that come in several
 * batches. */
typedef struct field_means field_means;

/* Checks that values are values of a resolved desc's points.
 * Errors: INVALID_ARGUMENT, with the names of the call and the buffer; UNSUPPORTED. */
tml_status field_means_check(tml_context *tml, const tml_field_desc *resolved, const char *call,
                             const char *name, tml_buffer values);
/* Prepares the means of values, of which it makes a copy.
 * origin  added to positions
 * values  count arrays, at most TML_FIELD_MAX_ATTRIBUTES
 * Waits: for the radii, if resolved has no radius.
 * Errors: OUT_OF_MEMORY, and those of streams. */
tml_status field_means_create(tml_context *tml, const tml_field_desc *resolved,
                              const double origin[3], const tml_buffer *values, uint32_t count,
                              field_means **out);
/* Writes the means of each of values to outs, one element per position. */
tml_status field_means_at(tml_context *tml, field_means *means, tml_buffer positions,
                          const tml_buffer *outs);
void field_means_destroy(tml_context *tml, field_means *means);

#endif
