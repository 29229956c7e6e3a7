/* Keys and codes of a top k (kernels/sort.k.h), at 64-bit positions. */
#include "kernels/sort.k.h"
#include "vulkan/vulkan_top_k.k.h"

layout(constant_id = 0) const uint KEY_LOG2 = 2u;

uvec2 load_key(uvec2 keys, uint i)
{
    uvec2 at = address_of(keys, i, 1u << KEY_LOG2);
    return KEY_LOG2 == 3u   ? load64(at)
           : KEY_LOG2 == 2u ? uvec2(LOAD_U32(at, 0u), 0u)
           : KEY_LOG2 == 1u ? uvec2(LOAD_U16(at, 0u), 0u)
                            : uvec2(LOAD_U8(at, 0u), 0u);
}
uvec2 code_of(uvec2 key, uvec2 flip, uvec2 real_flip)
{
    uint sign = KEY_LOG2 == 3u ? SORT_SIGN(key.y, 32u) : SORT_SIGN(key.x, 8u << min(KEY_LOG2, 2u));
    return SORT_CODE(key, uvec2(sign), flip, real_flip);
}
#define FLIPS uvec2(args.flip_low, args.flip_high), uvec2(args.real_low, args.real_high)
