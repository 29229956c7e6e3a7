/* The source of each element in a pass of a sort, by descents of the pyramid of sort_digits.frag:
 * 16 outputs per texel, four in each target. Most outputs need no descent, since they are in the
 * same base texel as the previous output, or in the next one. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "gl_pyramid.glsl"

uniform uvec2 blocks; /* texels of the base per digit, for divide() */

layout(location = 0) out highp uvec4 sources0;
layout(location = 1) out highp uvec4 sources1;
layout(location = 2) out highp uvec4 sources2;
layout(location = 3) out highp uvec4 sources3;

uint element_of(uint item)
{
    return item - (divide(item >> 7, blocks) * blocks.x << 7);
}

/* Stores output k of the 16, if it is the next one and is in this or the following base texel. */
#define TAKE(source, k)                                                                            \
    if (j == first + k && j < end) {                                                               \
        if (pyramid_is_used_up(cursor))                                                            \
            cursor.left = pyramid_base_texel(++cursor.texel);                                      \
        if (!pyramid_is_used_up(cursor)) {                                                         \
            source = element_of(pyramid_next(cursor).item);                                        \
            j++;                                                                                   \
        }                                                                                          \
    }
#define TAKE_FOUR(sources, k)                                                                      \
    TAKE(sources.x, k) TAKE(sources.y, k + 1u) TAKE(sources.z, k + 2u) TAKE(sources.w, k + 3u)

void main()
{
    uint first = 16u * tml_texel(), end = min(first + 16u, 128u * blocks.x), j = first;
    uvec4 a = uvec4(0u), b = uvec4(0u), c = uvec4(0u), d = uvec4(0u);
    while (j < end) {
        pyramid_cursor cursor = pyramid_seek(j);
        TAKE_FOUR(a, 0u)
        TAKE_FOUR(b, 4u)
        TAKE_FOUR(c, 8u)
        TAKE_FOUR(d, 12u)
    }
    sources0 = a;
    sources1 = b;
    sources2 = c;
    sources3 = d;
}
