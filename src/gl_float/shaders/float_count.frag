/* Stores a number as a u32 or u64. */
#include "float_common.glsl"

uniform sampler2D total;
uniform vec4 total_shape;

void main()
{
    store_number(tml_texel() < 1.0 ? load_number(total, total_shape, 0.0) : 0.0);
}
