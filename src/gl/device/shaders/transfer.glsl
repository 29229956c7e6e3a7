/* The order of a texture's elements: by rows, or tile by tile, each by rows. Without tiles the
 * texture is one. */
uniform uvec4 tiles; /* width, height, tiles per row, texels per tile */
uniform uint first_scalar, scalar_count;

ivec2 texel_of(uint element)
{
    uint tile = element / tiles.w, inside = element - tile * tiles.w;
    uint y = inside / tiles.x, row = tile / tiles.z;
    return ivec2(uvec2((tile - row * tiles.z) * tiles.x + inside - y * tiles.x, row * tiles.y + y));
}
uint element_of(uvec2 texel)
{
    uvec2 tile = texel / tiles.xy, inside = texel - tile * tiles.xy;
    return (tile.y * tiles.z + tile.x) * tiles.w + inside.y * tiles.x + inside.x;
}
