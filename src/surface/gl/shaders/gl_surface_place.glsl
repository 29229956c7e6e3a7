/* Places of a workspace's samples in the volume. Include it after gl_surface.glsl. */
uniform uvec3 dims, box_first;

/* Returns the index in the volume of an index in the workspace. A pad repeats the border sample. */
uvec3 volume_place(uvec3 at)
{
    uint pad = has(SURFACE_PAD) ? 1u : 0u;
    return min(at - min(at, uvec3(pad)), size - 2u * pad - 1u) + box_first;
}

/* Returns the number of a sample of the volume. */
uint number_at(uvec3 at)
{
    return (at.y + dims.y * at.z) * dims.x + at.x;
}
