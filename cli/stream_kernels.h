/* Kernels of the commands, one for each element type that needs its own. */
#ifndef CLI_STREAM_KERNELS_H
#define CLI_STREAM_KERNELS_H

#include <trommel/kernel.h>

/* x != 0, as bool, for a scalar type. */
const tml_kernel *stream_nonzero(tml_type type);

/* lower <= x <= upper, as bool, for a scalar type. The bounds are turned into values of the type
 * (fractions rounded inwards for integers, to nearest for f16 and f32) and written into params.
 * *none becomes true when no value of the type lies between them. */
const tml_kernel *stream_between(tml_type type, double lower, double upper, tml_params *params,
                                 bool *none);

/* x as a type that has more room: f16 to f32, i8 and i16 to i32. *widened is that type. NULL for
 * the other types. */
const tml_kernel *stream_widen(tml_type type, tml_type *widened);

/* Of volumes of fewer than 2^32 samples. stream_marks: u32 from the u8 flags of samples that are
 * inside and of those that are numbers. stream_is_crossed: bool of a cell, by its lowest corner's
 * position, from the marks; corners of both sides, all numbers; params.u: the dims. stream_place:
 * x, y, z (u32x3) from a u32 position; params.u: dims of x and y. */
const tml_kernel *stream_marks(void);
const tml_kernel *stream_is_crossed(void);
const tml_kernel *stream_place(void);

#endif
