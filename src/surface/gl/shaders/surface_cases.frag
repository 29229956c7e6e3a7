/* The case table. A case: the edges of its triangles' corners in two words of eight nibbles; its
 * triangle count. */
#include "gl_common.glsl"
#include "surface_tables.k.h"

out highp uvec4 entry;

void main()
{
    uint index = tml_texel();
    entry = uvec4(surface_case_edges[2u * index], surface_case_edges[2u * index + 1u],
                  surface_case_count[index], 0u);
}
