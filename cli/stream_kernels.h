/* The commands' kernels, one per element type where types differ. */
#ifndef CLI_STREAM_KERNELS_H
#define CLI_STREAM_KERNELS_H

#include <trommel/kernel.h>

/* Returns a kernel for x != 0, as bool. type: a scalar. */
const tml_kernel *stream_nonzero(tml_type type);

/* Returns a kernel for lower <= x <= upper, as bool.
 * type: a scalar.
 * lower, upper: converted to the type: to integers inwards, to f16 and f32 to nearest.
 * params: receives the bounds.
 * none: set to true if no value of the type lies between them. */
const tml_kernel *stream_between(tml_type type, double lower, double upper, tml_params *params,
                                 bool *none);

/* Returns a kernel that widens x: f16 to f32, i8 and i16 to i32; NULL for other types.
 * widened: receives the wider type. */
const tml_kernel *stream_widen(tml_type type, tml_type *widened);

/* Kernels for volumes of fewer than 2^32 samples.
 * stream_marks: u32 marks from two u8 flags per sample: it is inside, it is a number.
 * stream_is_crossed: bool per cell, at its lowest corner, from the marks: whether all corners are
 * numbers, some inside and some not. params.u: the dims.
 * stream_place: x, y, z (u32x3) from a u32 position. params.u: dims of x and y. */
const tml_kernel *stream_marks(void);
const tml_kernel *stream_is_crossed(void);
const tml_kernel *stream_place(void);

#endif
