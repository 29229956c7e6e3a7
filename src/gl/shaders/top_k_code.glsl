/* What shaders of a top k share: keys, and the state: the code of the last result, as far as its
 * digits are found, in x and y; results whose code has this prefix in z; results in w. Included
 * after gl_common.glsl. */
#include "key_codes.glsl"

uniform highp usampler2D keys, state;
uniform uint shift; /* of a digit of four bits */
