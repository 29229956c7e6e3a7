/* The length of each run: the distance to the next run's first element, or to the stream's end. */
#include "gl_common.glsl"
#include "located.glsl"

uniform highp usampler2D runs; /* their number, a 64-bit number in x and y */
uniform uint runs_texel;

layout(location = 0) out highp uint value;

void main()
{
    uint word = tml_texel();
#ifdef WIDE
    uint j = word >> 1;
#else
    uint j = word;
#endif
    uint source = source_of(j);
    if (source == NO_SOURCE)
        discard;
    uint end = stream_length();
    if (j + 1u < load_quad(runs, runs_texel).x)
        end = source_of(j + 1u);
    value = end - source;
#ifdef WIDE
    if ((word & 1u) != 0u)
        value = 0u;
#endif
}
