/* Shared by all calls that make surfaces: labels, grids and regions, outputs. The room publishes
 * this header. */
#ifndef TML_SURFACE_CALLS_H
#define TML_SURFACE_CALLS_H

#include <string.h>

#include "core/core_internal.h"
#include "core/scalars.h"

/* A box of samples in the whole volume. */
typedef struct surface_box {
    uint64_t first[3];
    uint64_t count[3];
} surface_box;

/* Sign- or zero-extends the low bytes of bits, an integer of the type, to 64 bits. */
static inline uint64_t surface_label(tml_type type, uint64_t bits)
{
    unsigned unused = 64 - 8 * (unsigned)tml_type_size(type);
    return tml_type_is_signed(type) ? (uint64_t)((int64_t)(bits << unused) >> unused)
                                    : bits << unused >> unused;
}

/* Returns the double nearest to a label. */
static inline double surface_label_value(bool is_signed, uint64_t label)
{
    return is_signed ? (double)(int64_t)label : (double)label;
}

static inline bool surface_label_less(tml_type type, uint64_t a, uint64_t b)
{
    return tml_type_is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

/* Returns the bits of sample i of an array. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)
static inline uint64_t surface_bits_at(const void *samples, uint64_t i, size_t size)
{
    union {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } bits;
    switch (size) {
    case 1:
        return ((const uint8_t *)samples)[i];
    case 2:
        memcpy(&bits.u16, (const uint8_t *)samples + 2 * i, 2);
        return bits.u16;
    case 4:
        memcpy(&bits.u32, (const uint8_t *)samples + 4 * i, 4);
        return bits.u32;
    default: /* 8 */
        memcpy(&bits.u64, (const uint8_t *)samples + 8 * i, 8);
        return bits.u64;
    }
}

/* Checks of parts of a desc, which also resolve them; in surface_resolve.c. */
tml_status surface_resolve_grid(tml_context *tml, const char *call, const tml_grid *grid,
                                tml_grid *out);
/* Resolves a region to a box within the volume. A count of 0 extends to the volume's end. */
tml_status surface_resolve_region(tml_context *tml, const char *call, const tml_region *region,
                                  const uint64_t dims[3], surface_box *box);
tml_status surface_check_dims(tml_context *tml, const char *call, const uint64_t dims[3],
                              uint64_t *count);
/* Transforms from sample indices to positions and normals. */
typedef struct surface_axes {
    double origin[3];        /* position of sample (0, 0, 0), minus position_origin */
    double step[3][3];       /* step[a]: from a sample's position to the next one's along axis a */
    float normal_rows[3][3]; /* row_x, row_y, row_z of surface_normal */
    bool flip_winding;
} surface_axes;
tml_status surface_check_axes(tml_context *tml, const char *call, const tml_grid *grid,
                              const double position_origin[3], bool flip, surface_axes *out);

/* Outputs by their bits in tml_surface_result.owned. A surface has the first SURFACE_OUTS; a net
 * also has labels. */
enum {
    SURFACE_OUT_VERTICES,
    SURFACE_OUT_NORMALS,
    SURFACE_OUT_VALUES,
    SURFACE_OUT_INDICES,
    SURFACE_OUT_CELLS,
    SURFACE_OUTS,
    SURFACE_OUT_LABELS = SURFACE_OUTS
};
/* An output, which the desc may give; see surface_outputs.c. */
typedef struct surface_output {
    const char *field;
    bool wanted;
    tml_buffer given;
    tml_type type;
    uint64_t count;
    tml_buffer *result;
    tml_slot **slot;
    bool created;
    bool is_within; /* not an output by itself, but part of the elements of the first output */
} surface_output;
tml_status surface_outputs_check(tml_context *tml, const char *call, const surface_output *outputs,
                                 size_t count);
/* Checks that the caller's outputs are large enough, and creates the others at their exact size. */
tml_status surface_outputs_make(tml_context *tml, const char *call, surface_output *outputs,
                                size_t count);
/* Returns the bits of the outputs that the call created, for tml_surface_result.owned. */
uint32_t surface_outputs_owned(const surface_output *outputs, size_t count);
void surface_outputs_destroy(tml_context *tml, surface_output *outputs, size_t count);

/* Adds seconds to the stage of this name. There are *count of SURFACE_STAGES stages. */
enum { SURFACE_STAGES = TML_ARRAY_SIZE(((tml_surface_result *)0)->stages) };
void surface_time_in(tml_surface_stage *stages, uint32_t *count, const char *stage, double seconds);

#endif
