/* SCAN_SEARCH: the first source whose running count is above the output.
 *
 * After: Hillis, Steele: Data Parallel Algorithms. 1986; Horn: Stream Reduction Operations for
 * GPGPU Applications. GPU Gems 2, 2005. */
#include "locate.glsl"

ARGS_USE(locate_args)

void locate(uint output_index, out uint source, out uint rank)
{
    uint low = 0u, high = args.count - 1u;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (LOAD_U32(args.state, middle) > output_index)
            high = middle;
        else
            low = middle + 1u;
    }
    source = low;
    rank = output_index - (low > 0u ? LOAD_U32(args.state, low - 1u) : 0u);
}

#include "locate_main.glsl"
