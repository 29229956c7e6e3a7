/* BITONIC: the kept sources are the first keys.
 *
 * After: Batcher: Sorting networks and their applications. 1968. */
#include "locate.glsl"

ARGS_USE(locate_args)

void locate(uint output_index, out uint source, out uint rank)
{
    source = LOAD_U32(args.state, output_index);
    rank = 0u;
}

#include "locate_main.glsl"
