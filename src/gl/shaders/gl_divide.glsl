/* Division by a number that the host knows (gl_divisor): an estimate in floats, corrected twice.
 * Integer division is avoided because drivers emit loops for it. Included after gl_common.glsl. i
 * is below 2^31. */
uint divide(uint i, uvec2 by)
{
    float inverse = uintBitsToFloat(by.y);
    uint quotient = uint(float(i) * inverse);
    int rest = int(i - quotient * by.x);
    quotient += uint(int(floor(float(rest) * inverse)));
    rest = int(i - quotient * by.x);
    return rest < 0 ? quotient - 1u : rest >= int(by.x) ? quotient + 1u : quotient;
}
