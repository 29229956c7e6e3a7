/* The base of a HistoPyramid from an array: bits (MASK), or numbers of WIDTH bytes. FLAGS: a number
 * other than 0 counts as 1. */
#include "float_common.glsl"

uniform sampler2D items;
uniform vec4 items_shape;

float count_of(float item)
{
#if defined(MASK)
    float byte = floor(item / 8.0);
    float power = exp2(item - 8.0 * byte); /* up to 2^7; rounded, should exp2 be a little off */
    return mod(floor(load_byte(items, items_shape, byte) / floor(power + 0.5)), 2.0);
#elif defined(FLAGS)
    return load_byte(items, items_shape, item) > 0.0 ? 1.0 : 0.0;
#elif WIDTH == 1
    return load_byte(items, items_shape, item);
#elif WIDTH == 2
    return load_half_word(items, items_shape, item);
#else
    return load_number(items, items_shape, item);
#endif
}
#include "float_base.glsl"
