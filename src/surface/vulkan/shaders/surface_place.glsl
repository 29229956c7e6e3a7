/* Places of a workspace's samples in the volume. Include it after surface_scratch.glsl; main sets slab. */
uint slab; /* SURFACE_SLAB */

/* Samples of pad before and after the samples of each axis. */
uvec3 pad_low()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_LOW(slab)) : uvec3(0u);
}
uvec3 pad_high()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_HIGH(slab)) : uvec3(0u);
}

/* Index in the volume of an index in the workspace. The pad repeats the border sample. */
uvec3 volume_place(uvec3 at)
{
    uvec3 inside = min(at - min(at, pad_low()), size - pad_low() - pad_high() - 1u);
    return inside + uvec3(args.first_x, args.first_y, args.first_z);
}

/* Number of a sample of the volume. */
uvec2 number_at(uvec3 at)
{
    return mul_add64(at.y + args.dim_y * at.z, args.dim_x, at.x);
}
