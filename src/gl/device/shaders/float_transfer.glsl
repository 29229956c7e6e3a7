/* transfer.glsl in floats, exact to 2^24. */
uniform vec4 tiles;
uniform float first_scalar, scalar_count;

vec2 texel_of(float element)
{
    float tile = divide(element, tiles.w), inside = element - tile * tiles.w;
    float y = divide(inside, tiles.x), row = divide(tile, tiles.z);
    return vec2((tile - row * tiles.z) * tiles.x + inside - y * tiles.x, row * tiles.y + y);
}
float element_of(vec2 texel)
{
    vec2 tile = vec2(divide(texel.x, tiles.x), divide(texel.y, tiles.y));
    vec2 inside = texel - tile * tiles.xy;
    return (tile.y * tiles.z + tile.x) * tiles.w + inside.y * tiles.x + inside.x;
}
