/* Do offsets fall somewhere? 64 of them or, FROM_FLAGS, of such answers a texel. */
#include "gl_common.glsl"
#ifdef FROM_FLAGS
uniform highp usampler2D flags;
#else
#include "gl_segments.glsl"
#endif

uniform uint items;

layout(location = 0) out highp uint falls;

void main()
{
    uint first = 64u * tml_texel(), count = min(items - first, 64u);
    falls = 0u;
#ifdef FROM_FLAGS
    for (uint i = 0u; i < count; i++)
        falls |= tml_load_word(flags, first + i);
#else
    uint before = segment_offset(first);
    for (uint i = 1u; i <= count; i++) {
        uint next = segment_offset(first + i);
        falls |= next < before ? 1u : 0u;
        before = next;
    }
#endif
}
