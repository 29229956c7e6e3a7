/* Marks the cells whose eight corners are present. Runs only if samples are missing. */
#include "surface.glsl"

ARGS_USE(surface_cells_args)

void main()
{
    uint words = (args.size_x + 31u) / 32u;
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    uint row = i / words, w = i - row * words;
    if (row >= args.size_y * args.size_z)
        return;
    row_place place = place_of_row(row, args.size_y);
    /* The row's last column has no cell. */
    uint cells = low_bits(args.size_x - 1u - min(args.size_x - 1u, 32u * w));
    if (place.y + 1u == args.size_y || place.z + 1u == args.size_z)
        cells = 0u;
    for (uint k = 0u; k < 4u && cells != 0u; k++) {
        uint at = (row + (k & 1u) + (k >> 1) * args.size_y) * words + w;
        uint here = 0xffffffffu, next = 0xffffffffu;
        if ((words_at(args.nan_words).v[at / 32u] >> (at % 32u) & 1u) != 0u)
            here = words_at(args.present).v[at];
        at++;
        if (w + 1u < words && (words_at(args.nan_words).v[at / 32u] >> (at % 32u) & 1u) != 0u)
            next = words_at(args.present).v[at];
        cells &= here & surface_step_x(here, next);
    }
    words_at(args.cells).v[i] = cells;
}
