/* Positions of a surface net's vertices (kernels/surface_nets.k.h), computed in doubles and rounded
 * once at the end. */

/* A position in samples of the volume, from a cell's number, which counts the layer of background
 * if there is one. Never below 0. */
FUNCTION(real64) nets_coordinate(tml_words plan, uint axis, uint cell, uint place)
{
    uint whole = tml_word(plan, NETS_FIRST + axis) + cell - tml_word(plan, NETS_PAD) +
                 place / U(2 * NETS_HALF);
    return real64_of_fixed(whole, place % U(2 * NETS_HALF), 13u);
}

FUNCTION(float) nets_position_along(tml_words plan, real64 x, real64 y, real64 z, uint component)
{
    uint at = NETS_STEPS + 2u * component;
    real64 sum = real64_at(plan, NETS_ORIGIN + 2u * component);
    sum = real64_add_product(sum, x, real64_at(plan, at));
    sum = real64_add_product(sum, y, real64_at(plan, at + 6u));
    sum = real64_add_product(sum, z, real64_at(plan, at + 12u));
    return uintBitsToFloat(real64_to_float(sum));
}
FUNCTION(vec3) nets_position(tml_words plan, uvec3 cell, uvec3 place)
{
    real64 x = nets_coordinate(plan, 0u, cell.x, place.x);
    real64 y = nets_coordinate(plan, 1u, cell.y, place.y);
    real64 z = nets_coordinate(plan, 2u, cell.z, place.z);
    return VEC3(nets_position_along(plan, x, y, z, 0u), nets_position_along(plan, x, y, z, 1u),
                nets_position_along(plan, x, y, z, 2u));
}
