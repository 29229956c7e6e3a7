/* The bins that the support of a box of samples touches. */
const uint BRICK = 8u;

/* A box of a level's bins: count bins along each axis, from first on. bins: those of the whole
 * level. */
struct bin_box {
    uvec3 first;
    uvec3 count;
    uvec3 bins;
    uint first_bin;
    uint edge_log2;
};

/* The bins that the support of samples [first, last] touches.
 * low, high  the level's eight words (field_internal.h). Supports are rounded up to whole samples;
 *            the points of extra bins add exactly 0. */
bin_box bins_of_level(uvec4 low, uvec4 high, uvec3 first, uvec3 last)
{
    bin_box box;
    box.first_bin = low.x;
    box.edge_log2 = low.y;
    box.bins = uvec3(low.z, low.w, high.x);
    uvec3 support = high.yzw;
    uvec3 last_bin = min((last + support) >> box.edge_log2, box.bins - 1u);
    box.first = min((first - min(first, support)) >> box.edge_log2, last_bin);
    box.count = last_bin - box.first + 1u;
    return box;
}
