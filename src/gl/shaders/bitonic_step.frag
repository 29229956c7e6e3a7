/* A step of Batcher's bitonic sorting network: each key against the one stride away, in runs that go
 * up and down in turn. */
#include "gl_common.glsl"

uniform highp usampler2D keys;
uniform uint run;
uniform uint stride;

layout(location = 0) out highp uint key;

void main()
{
    uint i = tml_texel();
    uint mine = tml_load_word(keys, i), other = tml_load_word(keys, i ^ stride);
    bool is_lower = (i & stride) == 0u, goes_up = (i & run) == 0u;
    key = is_lower == goes_up ? min(mine, other) : max(mine, other);
}
