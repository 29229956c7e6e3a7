/* Places of a workspace's samples and of vertices in the volume. Include it after
 * surface_scratch.glsl; main sets slab. */
uint slab; /* SURFACE_SLAB */

/* Return the pad samples before and after the samples on each axis. */
uvec3 pad_low()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_LOW(slab)) : uvec3(0u);
}
uvec3 pad_high()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_HIGH(slab)) : uvec3(0u);
}

/* Returns the index in the volume of an index in the workspace. A pad repeats the border sample. */
uvec3 volume_place(uvec3 at)
{
    uvec3 inside = min(at - min(at, pad_low()), size - pad_low() - pad_high() - 1u);
    return inside + uvec3(args.first_x, args.first_y, args.first_z);
}

/* Returns the number of a sample of the volume. */
uvec2 number_at(uvec3 at)
{
    return mul_add64(at.y + args.dim_y * at.z, args.dim_x, at.x);
}

/* Returns the position of a point in the volume's indices, from the head's origin and steps. */
vec3 position_at(vec3 index)
{
    vec4 place0 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u]);
    vec4 place1 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u + 1u]);
    vec4 place2 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u + 2u]);
    vec3 position = place0.xyz;
    position += index.z * place2.yzw;
    position += index.y * vec3(place1.zw, place2.x);
    position += index.x * vec3(place0.w, place1.xy);
    return position;
}

vec3 normal_row(uint i)
{
    uint at = SURFACE_HEAD_NORMALS + 3u * i;
    return vec3(LOAD_F32(args.head, at), LOAD_F32(args.head, at + 1u),
                LOAD_F32(args.head, at + 2u));
}
