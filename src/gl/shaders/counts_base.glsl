/* The base of a pyramid of counts: texel i holds the counts of items 4 i to 4 i + 3. Included after
 * count_at(i) is defined. Counts past the stream are 0. */
layout(location = 0) out highp uvec4 base_counts;

void main()
{
    uint i = 4u * tml_texel(), length = stream_length();
    base_counts = uvec4(0u);
    if (i < length)
        base_counts.x = count_at(i);
    if (i + 1u < length)
        base_counts.y = count_at(i + 1u);
    if (i + 2u < length)
        base_counts.z = count_at(i + 2u);
    if (i + 3u < length)
        base_counts.w = count_at(i + 3u);
}
