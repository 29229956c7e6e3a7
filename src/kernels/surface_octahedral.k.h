/* Normals in 32 bits. After: Meyer, Suessmuth, Sussner, Stamminger, Greiner: On Floating-Point
 * Normal Vectors. 2010; Cigolle et al.: A Survey of Efficient Representations for Independent Unit
 * Vectors. 2014. */
#ifndef TML_ES100 /* which has no bit operators */

/* Projects a unit vector onto the octahedron |x| + |y| + |z| = 1, and folds its lower half outward
 * over the corners of the upper half's square. x and y become signed 16-bit numbers in steps of 1 /
 * 32767, rounded to nearest; x is the first in memory. The zero vector becomes 0 0. */
FUNCTION(uint) surface_octahedral(vec3 n)
{
    float side_x = n.x < 0.0f ? -1.0f : 1.0f;
    float side_y = n.y < 0.0f ? -1.0f : 1.0f;
    float x = n.x * side_x;
    float y = n.y * side_y;
    float scale = 32767.0f / max(x + y + abs(n.z), 1e-30f);
    x *= scale;
    y *= scale;
    float fold_x = 32767.0f - y;
    float fold_y = 32767.0f - x;
    x = n.z < 0.0f ? fold_x : x;
    y = n.z < 0.0f ? fold_y : y;
    uint code_x = U(I((x + 0.5f) * side_x)) & 0xffffu;
    uint code_y = U(I((y + 0.5f) * side_y)) & 0xffffu;
    return code_x << 16u * TML_LOW_WORD | code_y << 16u * (1u - TML_LOW_WORD);
}

#endif
