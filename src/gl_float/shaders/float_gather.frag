/* Outputs of compact and expand, word by word. INDEX: the outputs are the sources, of EACH words.
 * BYTES: elements of SIZE bytes, which may share words. Otherwise: elements of EACH words. */
#include "float_common.glsl"
#include "float_located.glsl"

uniform sampler2D elements;
uniform vec4 elements_shape;
uniform sampler2D old;
uniform vec4 old_shape;

#ifdef BYTES
/* Byte i of the output, or its old value past the last output. */
float byte_of(float i, float before)
{
    float element = divide(i, SIZE);
    if (element >= located_count())
        return before;
    return load_byte(elements, elements_shape, SIZE * source_of(element) + (i - SIZE * element));
}
#endif

void main()
{
    float at = tml_texel();
#ifdef BYTES
    float first = 4.0 * at;
    vec4 bytes = load_bytes(old, old_shape, at);
    store_bytes(vec4(byte_of(first, bytes.x), byte_of(first + 1.0, bytes.y),
                     byte_of(first + 2.0, bytes.z), byte_of(first + 3.0, bytes.w)));
#else
    float element = divide(at, EACH), part = at - EACH * element;
    if (element >= located_count())
        discard;
    float from = source_of(element);
#ifdef INDEX
    store_number(part < 1.0 ? from : 0.0);
#elif TML_TARGET_FLOATS
    store_float(load_float(elements, elements_shape, EACH * from + part));
#else
    store_bytes(load_bytes(elements, elements_shape, EACH * from + part));
#endif
#endif
}
