/* A Z-order curve through a box: items that are close on it descend a tree along the same path. */
#ifndef TML_COLLIDE_ORDER_K_H
#define TML_COLLIDE_ORDER_K_H

/* The lowest ten bits of x, two zeros between. */
FUNCTION(uint) collide_spread(uint x)
{
    x = (x | x << 16u) & 0x030000ffu;
    x = (x | x << 8u) & 0x0300f00fu;
    x = (x | x << 4u) & 0x030c30c3u;
    return (x | x << 2u) & 0x09249249u;
}

/* A coordinate's part of a place on the curve: a number up to most, spread. NaN: 0. */
FUNCTION(uint) collide_code_along(float at, float low, float high, float most)
{
    float cell = (at - low) / (high - low) * most;
    return collide_spread(U(cell > 0.0f ? min(cell, most) : 0.0f));
}

/* A point's place on the curve: bits of each coordinate, at most 10. */
FUNCTION(uint) collide_code_in(vec3 point, vec3 low, vec3 high, uint bits)
{
    float most = F((1u << bits) - 1u);
    return collide_code_along(point.x, low.x, high.x, most) |
           collide_code_along(point.y, low.y, high.y, most) << 1u |
           collide_code_along(point.z, low.z, high.z, most) << 2u;
}

#endif
