/* Segments that must be scanned in their order, because their offsets fall and some may overlap: one
 * workgroup does all. */
uvec2 address_of_input(segment span)
{
    return address_of(args.in_at, span.first, 1u << IN_LOG2);
}
uvec2 address_of_output(segment span)
{
    return address_of(args.out_at, span.first, SUM_SIZE);
}

void scan_in_order()
{
    for (uint s = args.first; s < args.end; s++) {
        segment span = segment_of(s);
        uvec2 in_at = address_of_input(span), out_at = address_of_output(span);
        sum_t before = ZERO;
        for (uint first = 0u; first < span.count; first += TILE) {
            tile_scan t = scan_tile(in_at, out_at, first, span.count);
            store_tile(out_at, span.count, t, before);
            before = add(before, t.total);
            memoryBarrierBuffer();
            barrier();
        }
    }
}
