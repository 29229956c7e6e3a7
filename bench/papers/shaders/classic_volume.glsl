/* The cells of a volume on a square of texels: each slice is a tile, in rows of tiles. Include
 * after gl_common.glsl. */
uniform highp usampler2D volume;
uniform uvec3 dims; /* samples */
uniform uint tile_log2, tiles_log2; /* per tile's side; tiles per row */
uniform float iso;

uvec3 cell_at(ivec2 texel)
{
    uvec2 at = uvec2(texel), tile = at >> tile_log2, inside = at & ((1u << tile_log2) - 1u);
    return uvec3(inside, (tile.y << tiles_log2) + tile.x);
}
ivec2 texel_of(uvec3 cell)
{
    uvec2 tile = uvec2(cell.z & ((1u << tiles_log2) - 1u), cell.z >> tiles_log2);
    return ivec2((tile << tile_log2) + cell.xy);
}
float sample_of(uvec3 at)
{
    return LOAD_F32(volume, (at.z * dims.y + at.y) * dims.x + at.x);
}
