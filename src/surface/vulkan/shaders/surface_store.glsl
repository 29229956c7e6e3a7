/* Stores vertices in the outputs; SURFACE_FULL: with normals and values. Include after NORMALS. */
layout(constant_id = 6) const uint STRIDE = 0u; /* bytes per vertex record; 0: arrays */
#ifdef SURFACE_FULL
#include "kernels/surface_octahedral.k.h"
#endif

struct vertex {
    vec3 position, normal;
    float value;
};

/* Returns the bytes before a vertex's element. size: bytes of an element in an array of its own. */
uvec2 bytes_before(uvec2 number, uint size)
{
    uint stride = STRIDE != 0u ? STRIDE : size;
    uvec2 bytes = mul_add64(number.x, stride, 0u);
    return uvec2(bytes.x, bytes.y + stride * number.y);
}

void store_vector(uvec2 to, vec3 value)
{
    [[unroll]] for (uint c = 0u; c < 3u; c++)
        words_at(to).v[c] = floatBitsToUint(value[c]);
}

void store_vertex(uvec2 number, vertex v)
{
    uvec2 bytes = bytes_before(number, 12u);
    store_vector(add64(args.positions, bytes), v.position);
#ifdef SURFACE_FULL
    uvec2 word_bytes = bytes_before(number, 4u);
    if (has(SURFACE_OCTAHEDRAL))
        word_at(add64(args.normals, word_bytes)).bits = surface_octahedral(v.normal);
    else if (NORMALS != SURFACE_NORMALS_NONE)
        store_vector(add64(args.normals, bytes), v.normal);
    if (has(SURFACE_ATTRIBUTE))
        word_at(add64(args.values, word_bytes)).bits = floatBitsToUint(v.value);
#endif
}
