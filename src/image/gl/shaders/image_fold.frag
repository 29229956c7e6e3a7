/* Joins up to 64 records, with a stride of apart records, into one. FROM_TILES: records are in the
 * format of image_tiles.frag. */
#include "gl_common.glsl"
#include "gl_image_record.glsl"

uniform highp usampler2D records0, records1, records2, records3;
uniform uint record_count, apart;

layout(location = 0) out highp uvec4 quad0;
layout(location = 1) out highp uvec4 quad1;
layout(location = 2) out highp uvec4 quad2;
layout(location = 3) out highp uvec4 quad3;

image_record record_at(uint i)
{
#ifdef FROM_TILES
    return record_of_tile(load_quad(records0, i), load_quad(records1, i));
#else
    return record_of_quads(load_quad(records0, i), load_quad(records1, i), load_quad(records2, i),
                           load_quad(records3, i));
#endif
}

void main()
{
    image_record all = record_of_nothing();
    uint at = tml_texel();
    for (uint g = 0u; g < 8u; g++) {
        image_record some = record_of_nothing();
        for (uint i = 0u; i < 8u; i++) {
            if (at < record_count)
                some = record_join(some, record_at(at));
            at += apart;
        }
        all = record_join(all, some);
    }
    quad0 = all.kinds;
    quad1 = record_quad1(all);
    quad2 = record_quad2(all);
    quad3 = record_quad3(all);
}
