/* The rows of a slab to count. Include it after surface_rows.glsl and ARGS_USE. */
uint row_count = args.size_y * args.size_z;
/* Own rows of the slab, and the end of the rows to count: own ones and the layer above. */
uint own_first = args.size_y * SURFACE_SLAB_BEFORE(args.slab);
uint own_end = row_count - args.size_y * SURFACE_SLAB_AFTER(args.slab);
uint counted_end = min(own_end + args.size_y, row_count);

/* Returns whether cells have missing corners. If so, surface_cells has marked the other cells. */
bool find_missing()
{
    if (has(SURFACE_NAN) && !has(SURFACE_MASK))
        return LOAD_U32(args.states, SURFACE_STATE_NAN) != 0u;
    return has(SURFACE_MASK);
}
