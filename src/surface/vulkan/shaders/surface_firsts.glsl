/* Numbers of vertices on edges. Include it after surface_words.glsl. */

/* Returns the numbers in the chunk of the first vertices along x, y and z in or after word w of a
 * row; and the chunk's triangles before the row. */
uvec4 first_of(uint row, uint w)
{
    uvec4 first = quads_at(part_of_scratch(args.rows_at)).v[row];
    uint before = words_at(part_of_scratch(args.before_at)).v[row * words + w];
    first += uvec4(before & 0x3ffu, before >> 10 & 0x3ffu, before >> 20, 0u);
    if (SEGMENTED != 0u) {
        uint segments = (words + WIDTH - 1u) / WIDTH;
        first += quads_at(part_of_scratch(args.segments_at)).v[row * segments + w / WIDTH];
    }
    return first;
}
