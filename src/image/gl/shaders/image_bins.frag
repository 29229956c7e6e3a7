/* Counts the pixels of a chunk of tiles in bins. Fragment chunk * GROUPS + group has 16 bins, as
 * the bytes of a quad; MASKED: 8 bins, as halves. Neither overflows within a chunk. */
#include "gl_common.glsl"

uniform highp usampler2D bins0, bins1; /* from image_tiles.frag */
uniform uint tile_count;

layout(location = 0) out highp uvec4 counts;

#ifdef MASKED
const uint CODES = 2u, BINS_LOG2 = 3u;
#else
const uint CODES = 4u, BINS_LOG2 = 4u;
#endif
const uint CODE_BITS = 32u / CODES, GROUPS = 256u >> BINS_LOG2;

/* Adds the lowest code of a word to its counter, if this group has it. */
void count_code(uint code, uint group, inout uvec4 sums)
{
    uint bin = code & 0xffu;
#ifdef MASKED
    uint added = (code >> 8 & 0xffu) << ((bin & 1u) << 4);
    uint word = bin >> 1;
#else
    uint added = 1u << ((bin & 3u) << 3);
    uint word = bin >> 2;
#endif
    uint first = group << 2;
    sums.x += word == first ? added : 0u;
    sums.y += word == first + 1u ? added : 0u;
    sums.z += word == first + 2u ? added : 0u;
    sums.w += word == first + 3u ? added : 0u;
}

void count_quad(uvec4 codes, uint group, inout uvec4 sums)
{
    for (uint i = 0u; i < CODES; i++) {
        count_code(codes.x, group, sums);
        count_code(codes.y, group, sums);
        count_code(codes.z, group, sums);
        count_code(codes.w, group, sums);
        codes >>= CODE_BITS;
    }
}

void main()
{
    uint chunk = tml_texel() / GROUPS, group = tml_texel() % GROUPS;
    uvec4 sums = uvec4(0u);
    for (uint t = CHUNK * chunk; t < CHUNK * chunk + CHUNK; t++) {
        bool is_there = t < tile_count;
        uvec4 codes = load_quad(bins0, is_there ? t : 0u);
        count_quad(is_there ? codes : uvec4(0u), group, sums);
        codes = load_quad(bins1, is_there ? t : 0u);
        count_quad(is_there ? codes : uvec4(0u), group, sums);
    }
    counts = sums;
}
