/* How many sorted keys are kept items', as a number of 64 bits. */
#include "gl_common.glsl"

uniform highp usampler2D keys;
uniform uint key_count;

layout(location = 0) out highp uvec4 total;

void main()
{
    uint low = 0u, high = key_count;
    while (low < high) {
        uint middle = (low + high) >> 1;
        if (tml_load_word(keys, middle) < 0x80000000u)
            low = middle + 1u;
        else
            high = middle;
    }
    total = uvec4(low, 0u, 0u, 0u);
}
