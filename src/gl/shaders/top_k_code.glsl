/* Shared by the shaders of a top k: keys, and the state. x, y: the digits found so far of the last
 * result's code; z: the number of results whose code has this prefix; w: the number of results.
 * Included after gl_common.glsl. */
#include "key_codes.glsl"

uniform highp usampler2D keys, state;
uniform uint shift; /* of a digit of four bits */
