/* Chunks of rows, and the rows around a word. */
#include "surface.glsl"

layout(constant_id = 2) const uint WIDTH_LOG2 = 5u; /* log2 of the lanes per row; at most 5 */
layout(constant_id = 3) const uint SEGMENTED = 0u;  /* 1: a row has more words than lanes */

const uint WIDTH = 1u << WIDTH_LOG2;
const uint CHUNK_LOG2 = SURFACE_CHUNK_LOG2(WIDTH_LOG2);
const uint CHUNK_ROWS = 1u << CHUNK_LOG2;

/* Sign bits of the four rows around a lane's word. Past the border, the last row repeats. */
struct lane_rows {
    uint c0, c1, c2, c3; /* rows (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1) */
    uint n0, n1, n2, n3; /* bit 0 of the next word */
    uint y_step, z_step; /* rows to (y + 1, z) and (y, z + 1): 0 at the border */
};

lane_rows load_rows(uvec2 bits, uint row, row_place place, uint w, uint words, uvec3 size)
{
    lane_rows rows;
    rows.y_step = place.y + 1u < size.y ? 1u : 0u;
    rows.z_step = place.z + 1u < size.z ? size.y : 0u;
    uint at = row * words + w, next = w + 1u < words ? 1u : 0u;
    uint y_words = rows.y_step * words, z_words = rows.z_step * words;
    rows.c0 = words_at(bits).v[at];
    rows.c1 = words_at(bits).v[at + y_words];
    rows.c2 = words_at(bits).v[at + z_words];
    rows.c3 = words_at(bits).v[at + y_words + z_words];
    /* After the row's last word this bit is masked. */
    rows.n0 = words_at(bits).v[at + next] & 1u;
    rows.n1 = words_at(bits).v[at + next + y_words] & 1u;
    rows.n2 = words_at(bits).v[at + next + z_words] & 1u;
    rows.n3 = words_at(bits).v[at + next + y_words + z_words] & 1u;
    return rows;
}

/* The mesh of an open cell (surface_open.glsl). */
struct open_mesh {
    uint first, triangles, own;
    uint around; /* edges around its only own vertex */
};
const open_mesh no_mesh = open_mesh(0u, 0u, 0u, 0u);

/* The case of the cell at a bit. c: its word in four rows; nexts: bit 0 of each next word. */
uint case_of(uvec4 c, uint nexts, uint bit)
{
    uint index = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        uint two = c[i] >> bit;
        two = bit == 31u ? two | (nexts >> i & 1u) << 1 : two & 3u;
        index |= two << (2u * i);
    }
    return index;
}

uint case_at(lane_rows rows, uint bit)
{
    return case_of(uvec4(rows.c0, rows.c1, rows.c2, rows.c3),
                   rows.n0 | rows.n1 << 1 | rows.n2 << 2 | rows.n3 << 3, bit);
}

/* Returns the columns of word w that own an x-edge. */
uint x_mask_of(uint w, uint size_x)
{
    return low_bits(size_x - 1u - min(size_x - 1u, 32u * w));
}

/* Returns the cells of a word; none at the border. */
uint cells_of(lane_rows rows, uint x_mask)
{
    return rows.y_step != 0u && rows.z_step != 0u ? x_mask : 0u;
}
