/* Parts of the package draw by WebGL 2 alone: in the place of src/gl/device/gl_tiers.c, and of what
 * the tier of floats has for each operation. */
#include "gl/device/gl_float.h"

const bool gl_has_floats = false;
const tml_engine_op gl_op_float_compact, gl_op_float_expand, gl_op_float_map, gl_op_float_reduce,
    gl_op_float_surface;
