/* Computes an exposure from stats, in one invocation. */
#include "kernel.glsl"
#include "kernels/image.k.h"
#include "kernels/image_expose.k.h"
#include "common.glsl"

ARGS_USE(image_expose_args)

void main()
{
    if (gl_GlobalInvocationID.x != 0u || group_index() != 0u)
        return;
    image_expose_settings settings;
    settings.by = args.by;
    settings.low = args.low;
    settings.high = args.high;
    settings.manual = args.manual;
    settings.log2_key = args.log2_key;
    settings.bias = args.bias;
    settings.limit_low = args.limit_low;
    settings.limit_high = args.limit_high;
    settings.speed_up = args.speed_up;
    settings.speed_down = args.speed_down;
    settings.seconds = args.seconds;
    settings.reset = args.reset;
    image_exposure exposure = image_expose(args.stats, LOAD_F32(args.state, 1u), settings);
    store_word(args.state, 0u, floatBitsToUint(exposure.scale));
    store_word(args.state, 1u, floatBitsToUint(exposure.average));
    store_word(args.state, 2u, floatBitsToUint(exposure.target));
    store_word(args.state, 3u, floatBitsToUint(exposure.ev100));
    store_word(args.state, 4u, floatBitsToUint(exposure.low));
    store_word(args.state, 5u, floatBitsToUint(exposure.high));
    store_word(args.state, 6u, floatBitsToUint(exposure.counted));
    store_word(args.state, 7u, 0u);
}
