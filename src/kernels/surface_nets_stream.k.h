/* Kernels that make a surface net on a device (kernels/surface_nets.k.h). An element of a map is a
 * word of bits, then a vertex, then a face. */

/* ---- rows ------------------------------------------------------------------------------------ */

/* A word of a row of bits. */
STRUCT_BEGIN(net_spot)
uint word;
uint y;
uint z;
STRUCT_END(net_spot)

FUNCTION(net_spot) net_spot_at(tml_words plan, uint i)
{
    net_spot at;
    uint words = tml_word(plan, NETS_WORDS);
    uint row = i / words;
    at.word = i - words * row;
    at.z = row / tml_word(plan, NETS_SIZE + 1u);
    at.y = row - tml_word(plan, NETS_SIZE + 1u) * at.z;
    return at;
}
FUNCTION(uint) net_number(tml_words plan, net_spot at)
{
    return at.word + tml_word(plan, NETS_WORDS) * (at.y + tml_word(plan, NETS_SIZE + 1u) * at.z);
}

/* The bits of a word whose columns are in [low, end). */
FUNCTION(uint) net_columns(uint word, uint low, uint end)
{
    uint first = 32u * word;
    uint from = low > first ? min(low - first, 32u) : 0u;
    uint to = end > first ? min(end - first, 32u) : 0u;
    uint below_to = to < 32u ? (1u << to) - 1u : 0xffffffffu;
    uint below_from = from < 32u ? (1u << from) - 1u : 0xffffffffu;
    return below_to & ~below_from;
}

/* The column of the volume's first sample. */
FUNCTION(uint) net_lead(tml_words plan)
{
    return 32u * tml_word(plan, NETS_PAD);
}

/* Is the row one of the volume's, rather than of the background? */
FUNCTION(bool) net_is_real(tml_words plan, uint y, uint z)
{
    uint pad = tml_word(plan, NETS_PAD);
    return y - pad < tml_word(plan, NETS_COUNT + 1u) && z - pad < tml_word(plan, NETS_COUNT + 2u);
}

/* The number in the volume of a row's sample at column 0. Behind a layer of background, column 0
 * lies before the row's first sample. */
FUNCTION(uint) net_row_sample(tml_words plan, uint y, uint z)
{
    uint pad = tml_word(plan, NETS_PAD);
    return tml_word(plan, NETS_FIRST) - net_lead(plan) +
           tml_word(plan, NETS_STRIDES) * (tml_word(plan, NETS_FIRST + 1u) + y - pad) +
           tml_word(plan, NETS_STRIDES + 1u) * (tml_word(plan, NETS_FIRST + 2u) + z - pad);
}

/* ---- labels ---------------------------------------------------------------------------------- */

FUNCTION(uvec2) net_widened(tml_words plan, uint low, uint high)
{
    uint bytes = tml_word(plan, NETS_BYTES);
    uint unused = 32u - 8u * min(bytes, 4u);
    uint bits = low << unused >> unused;
    if (bytes == 8u)
        return UVEC2(low, high);
    if (tml_word(plan, NETS_SIGNED) == 0u)
        return UVEC2(bits, 0u);
    int whole = I(low << unused);
    return UVEC2(U(whole >> unused), U(whole >> 31u));
}

/* Sample number i of the volume. */
FUNCTION(uvec2) net_sample(tml_words volume, tml_words plan, uint i)
{
    uint bytes = tml_word(plan, NETS_BYTES);
    if (bytes == 8u)
        return UVEC2(tml_word(volume, 2u * i), tml_word(volume, 2u * i + 1u));
    if (bytes == 4u)
        return net_widened(plan, tml_word(volume, i), 0u);
    return net_widened(plan, tml_word(volume, bytes * i / 4u) >> (8u * (bytes * i % 4u)), 0u);
}

FUNCTION(bool) net_is_background(tml_words plan, uvec2 label)
{
    return label.x == tml_word(plan, NETS_BACKGROUND) &&
           label.y == tml_word(plan, NETS_BACKGROUND + 1u);
}

/* The label at a column of a row. Labels that are not chosen count as background. members: the word
 * of net_members_of that contains the column. */
FUNCTION(uvec2)
net_label_at(tml_words volume, tml_words plan, uint members, uint column, uint y, uint z)
{
    if (!net_is_real(plan, y, z) || column - net_lead(plan) >= tml_word(plan, NETS_COUNT) ||
        (members >> (column % 32u) & 1u) == 0u)
        return UVEC2(tml_word(plan, NETS_BACKGROUND), tml_word(plan, NETS_BACKGROUND + 1u));
    return net_sample(volume, plan, net_row_sample(plan, y, z) + column);
}

FUNCTION(bool) net_is_less(tml_words plan, uvec2 a, uvec2 b)
{
    uint change = tml_word(plan, NETS_SIGNED) << 31u;
    uint a_high = a.y ^ change;
    uint b_high = b.y ^ change;
    return a_high < b_high || (a_high == b_high && a.x < b.x);
}

/* Is label a on the side from which the face's normal points away? */
FUNCTION(bool) net_is_first(tml_words plan, uvec2 a, uvec2 b)
{
    if (net_is_background(plan, a) || net_is_background(plan, b))
        return net_is_background(plan, b);
    return net_is_less(plan, a, b);
}

FUNCTION(bool) net_is_between(tml_words plan, uint i, uvec2 label)
{
    return label.x == tml_word(plan, NETS_BETWEEN + 2u * i) &&
           label.y == tml_word(plan, NETS_BETWEEN + 2u * i + 1u);
}
/* Is a face between these labels written? */
FUNCTION(bool) net_keeps(tml_words plan, uvec2 a, uvec2 b)
{
    if (tml_word(plan, NETS_NO_BACK) != 0u &&
        (net_is_background(plan, a) || net_is_background(plan, b)))
        return false;
    return tml_word(plan, NETS_HAS_BETWEEN) == 0u ||
           (net_is_between(plan, 0u, a) && net_is_between(plan, 1u, b)) ||
           (net_is_between(plan, 1u, a) && net_is_between(plan, 0u, b));
}

FUNCTION(bool) net_is_chosen(tml_words plan, uvec2 label)
{
    uint count = tml_word(plan, NETS_CHOSEN);
    uint low = 0u;
    uint high = count;
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (net_is_less(plan,
                        UVEC2(tml_word(plan, NETS_CHOSEN + 1u + 2u * middle),
                              tml_word(plan, NETS_CHOSEN + 2u + 2u * middle)),
                        label))
            low = middle + 1u;
        else
            high = middle;
    }
    return low < count && tml_word(plan, NETS_CHOSEN + 1u + 2u * low) == label.x &&
           tml_word(plan, NETS_CHOSEN + 2u + 2u * low) == label.y &&
           !net_is_background(plan, label);
}

/* Bits of the samples of a word that have a chosen label. Runs of equal labels are long, so each
 * run is looked up once. */
FUNCTION(uint) net_members_of(tml_words volume, tml_words plan, uint i)
{
    net_spot at = net_spot_at(plan, i);
    uint lead = net_lead(plan);
    uint rest = net_columns(at.word, lead, lead + tml_word(plan, NETS_COUNT));
    uint row = net_row_sample(plan, at.y, at.z) + 32u * at.word;
    uvec2 last = UVEC2(tml_word(plan, NETS_BACKGROUND), tml_word(plan, NETS_BACKGROUND + 1u));
    bool is_chosen = false;
    uint result = 0u;
    if (!net_is_real(plan, at.y, at.z))
        return 0u;
    while (rest != 0u) {
        uint bit = lowest_bit32(rest);
        uvec2 label = net_sample(volume, plan, row + bit);
        if (label.x != last.x || label.y != last.y)
            is_chosen = net_is_chosen(plan, label);
        last = label;
        result |= U(is_chosen) << bit;
        rest &= rest - 1u;
    }
    return result;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* The samples of a row from a word of bits on, in words of the volume: the first word, and the
 * number of its low bits that precede the samples. */
STRUCT_BEGIN(net_run)
uint word;
uint shift;
bool is_real;
STRUCT_END(net_run)

FUNCTION(net_run) net_run_at(tml_words plan, net_spot at)
{
    net_run run;
    uint bytes = tml_word(plan, NETS_BYTES);
    uint i = net_row_sample(plan, at.y, at.z) + 32u * at.word;
    run.word = bytes < 4u ? bytes * i / 4u : bytes / 4u * i;
    run.shift = bytes < 4u ? 8u * (bytes * i % 4u) : 0u;
    run.is_real = net_is_real(plan, at.y, at.z);
    return run;
}

/* Four words of a run from word 4 k on; background if the row is one of the background. */
FUNCTION(uvec4) net_quad(tml_words volume, tml_words plan, net_run run, uint k)
{
    uint first = run.word + 4u * k;
    if (!run.is_real)
        return UVEC4(tml_word(plan, NETS_PATTERN), tml_word(plan, NETS_PATTERN + 1u),
                     tml_word(plan, NETS_PATTERN), tml_word(plan, NETS_PATTERN + 1u));
    if (tml_word(plan, NETS_ALIGNED) != 0u)
        return tml_word_uvec4(volume, first / 4u);
    uvec4 q = UVEC4(tml_word(volume, first), tml_word(volume, first + 1u),
                    tml_word(volume, first + 2u), tml_word(volume, first + 3u));
    if (run.shift == 0u)
        return q;
    uint up = 32u - run.shift;
    return UVEC4(q.x >> run.shift | q.y << up, q.y >> run.shift | q.z << up,
                 q.z >> run.shift | q.w << up,
                 q.w >> run.shift | tml_word(volume, first + 4u) << up);
}

/* The quad q shifted by one sample. next: the quad after q. */
FUNCTION(uvec4) net_shifted(uvec4 q, uvec4 next, uint bytes)
{
    uint shift = 8u * bytes;
    if (bytes == 8u)
        return UVEC4(q.z, q.w, next.x, next.y);
    if (bytes == 4u)
        return UVEC4(q.y, q.z, q.w, next.x);
    return UVEC4(q.x >> shift | q.y << (32u - shift), q.y >> shift | q.z << (32u - shift),
                 q.z >> shift | q.w << (32u - shift), q.w >> shift | next.x << (32u - shift));
}

/* A bit for each sample of a word that differs from that of the other word. */
FUNCTION(uint) net_unlike_bytes(uint a, uint b)
{
    uint d = a ^ b;
    uint set = (((d & 0x7f7f7f7fu) + 0x7f7f7f7fu) | d) & 0x80808080u;
    return (set >> 7u) * 0x01020408u >> 24u;
}
FUNCTION(uint) net_unlike_halves(uint a, uint b)
{
    uint d = a ^ b;
    return U((d & 0xffffu) != 0u) | U(d > 0xffffu) << 1u;
}
FUNCTION(uint) net_unlike(uvec4 a, uvec4 b, uint bytes)
{
    if (bytes == 1u)
        return net_unlike_bytes(a.x, b.x) | net_unlike_bytes(a.y, b.y) << 4u |
               net_unlike_bytes(a.z, b.z) << 8u | net_unlike_bytes(a.w, b.w) << 12u;
    if (bytes == 2u)
        return net_unlike_halves(a.x, b.x) | net_unlike_halves(a.y, b.y) << 2u |
               net_unlike_halves(a.z, b.z) << 4u | net_unlike_halves(a.w, b.w) << 6u;
    if (bytes == 4u)
        return U(a.x != b.x) | U(a.y != b.y) << 1u | U(a.z != b.z) << 2u | U(a.w != b.w) << 3u;
    return U(a.x != b.x || a.y != b.y) | U(a.z != b.z || a.w != b.w) << 1u;
}

/* A word of members; all samples are members if no labels are chosen. */
FUNCTION(uint) net_members_at(tml_words members, tml_words plan, net_spot at)
{
    if (tml_word(plan, NETS_CHOOSES) == 0u)
        return 0xffffffffu;
    return at.word < tml_word(plan, NETS_WORDS) ? tml_word(members, net_number(plan, at)) : 0u;
}

FUNCTION(net_spot) net_spot_beside(net_spot at, uint words, uint rows, uint layers)
{
    at.word += words;
    at.y += rows;
    at.z += layers;
    return at;
}

/* A bit for each edge along x, y and z from a word's samples: set if the edge's two samples differ
 * and four cells surround the edge. */
FUNCTION(uvec3) net_edges_of(tml_words volume, tml_words members, tml_words plan, uint i)
{
    net_spot at = net_spot_at(plan, i);
    uint bytes = tml_word(plan, NETS_BYTES);
    uint lead = net_lead(plan);
    uint pad = tml_word(plan, NETS_PAD);
    uint end = lead + tml_word(plan, NETS_COUNT); /* of the volume's columns */
    uint rows = tml_word(plan, NETS_SIZE + 1u);
    uint layers = tml_word(plan, NETS_SIZE + 2u);
    bool is_inside_y = at.y > 0u && at.y + 1u < rows;
    bool is_inside_z = at.z > 0u && at.z + 1u < layers;
    net_run own = net_run_at(plan, at);
    net_run along_y = net_run_at(plan, net_spot_beside(at, 0u, 1u, 0u));
    net_run along_z = net_run_at(plan, net_spot_beside(at, 0u, 0u, 1u));
    uint bits_x = 0u;
    uint bits_y = 0u;
    uint bits_z = 0u;
    uint each = 16u / bytes; /* samples of a quad */
    uint quads = 32u * at.word + 32u > lead ? 2u * bytes : 0u;
    uvec4 q = net_quad(volume, plan, own, 0u);
    for (uint k = 0u; k < quads; k++) {
        uvec4 next = net_quad(volume, plan, own, k + 1u);
        bits_x |= net_unlike(q, net_shifted(q, next, bytes), bytes) << (each * k);
        bits_y |= net_unlike(q, net_quad(volume, plan, along_y, k), bytes) << (each * k);
        bits_z |= net_unlike(q, net_quad(volume, plan, along_z, k), bytes) << (each * k);
        q = next;
    }
    uint chosen = net_members_at(members, plan, at);
    uint chosen_next = net_members_at(members, plan, net_spot_beside(at, 1u, 0u, 0u));
    bits_x &= net_columns(at.word, lead, end - 1u) & (chosen | chosen >> 1u | chosen_next << 31u);
    uint across = net_columns(at.word, lead + 1u - pad, end - 1u + pad);
    if (at.y + 1u < rows)
        bits_y &= chosen | net_members_at(members, plan, net_spot_beside(at, 0u, 1u, 0u));
    if (at.z + 1u < layers)
        bits_z &= chosen | net_members_at(members, plan, net_spot_beside(at, 0u, 0u, 1u));
    if (pad != 0u && own.is_real) { /* edges into the background at both ends */
        uint first = net_columns(at.word, lead - 1u, lead);
        uint last = net_columns(at.word, end - 1u, end);
        uint member = net_members_at(members, plan, net_spot_beside(at, 1u, 0u, 0u));
        if (first != 0u &&
            !net_is_background(plan, net_label_at(volume, plan, member, lead, at.y, at.z)))
            bits_x |= first;
        if (last != 0u &&
            !net_is_background(plan, net_label_at(volume, plan, chosen, end - 1u, at.y, at.z)))
            bits_x |= last;
    }
    return UVEC3(is_inside_y && is_inside_z ? bits_x : 0u,
                 is_inside_z && at.y + 1u < rows ? bits_y & across : 0u,
                 is_inside_y && at.z + 1u < layers ? bits_z & across : 0u);
}

FUNCTION(uvec3) net_edges_at(tml_words edges, uint i)
{
    return UVEC3(tml_word(edges, 3u * i), tml_word(edges, 3u * i + 1u),
                 tml_word(edges, 3u * i + 2u));
}

/* The labels of an edge's first and second sample. */
STRUCT_BEGIN(net_pair)
uvec2 a;
uvec2 b;
STRUCT_END(net_pair)

FUNCTION(net_pair)
net_pair_of(tml_words volume, tml_words members, tml_words plan, net_spot at, uint bit, uint axis)
{
    net_pair pair;
    uint column = 32u * at.word + bit;
    uint column_b = column + U(axis == 0u);
    net_spot next = net_spot_beside(at, 0u, U(axis == 1u), U(axis == 2u));
    next.word = column_b / 32u;
    pair.a = net_label_at(volume, plan, net_members_at(members, plan, at), column, at.y, at.z);
    pair.b =
        net_label_at(volume, plan, net_members_at(members, plan, next), column_b, next.y, next.z);
    return pair;
}

/* A bit for each of the edges whose face is written. */
FUNCTION(uint)
net_kept_of(tml_words volume, tml_words members, tml_words plan, uint i, uint edges, uint axis)
{
    net_spot at = net_spot_at(plan, i);
    uint kept = 0u;
    uint rest = edges;
    while (rest != 0u) {
        uint bit = lowest_bit32(rest);
        net_pair pair = net_pair_of(volume, members, plan, at, bit, axis);
        if (net_keeps(plan, pair.a, pair.b))
            kept |= 1u << bit;
        rest &= rest - 1u;
    }
    return kept;
}

/* Spreads the lower 11 bits to every third bit. */
FUNCTION(uint) net_spread(uint x)
{
    uint a = x & 0x7ffu;
    a = (a | a << 16u) & 0x070000ffu;
    a = (a | a << 8u) & 0x0700f00fu;
    a = (a | a << 4u) & 0x430c30c3u;
    return (a | a << 2u) & 0x49249249u;
}
/* Interleaves the bits of three words to 96 bits: faces in the order of their sample, then their
 * axis. */
FUNCTION(uvec3) net_in_turn(uvec3 e)
{
    return UVEC3(net_spread(e.x) | net_spread(e.y) << 1u | net_spread(e.z & 0x3ffu) << 2u,
                 net_spread(e.x >> 11u) << 1u | net_spread(e.y >> 11u & 0x3ffu) << 2u |
                     net_spread(e.z >> 10u),
                 net_spread(e.x >> 22u) << 2u | net_spread(e.y >> 21u) |
                     net_spread(e.z >> 21u) << 1u);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The edges around the cells of a word. x: along x, at [y][z] (four words). y: along y, at z, z +
 * 1, and the next word of both; the cells in bit 31 need the next word's first column. z: along z,
 * at y, y + 1, and likewise. */
STRUCT_BEGIN(net_around)
uvec4 x;
uvec4 y;
uvec4 z;
STRUCT_END(net_around)

FUNCTION(net_around) net_around_of(tml_words edges, uint i, uint words, uint rows, bool has_next)
{
    net_around a;
    uvec3 e00 = net_edges_at(edges, i);
    uvec3 e10 = net_edges_at(edges, i + words);
    uvec3 e01 = net_edges_at(edges, i + words * rows);
    a.x = UVEC4(e00.x, e10.x, e01.x, net_edges_at(edges, i + words * rows + words).x);
    a.y = UVEC4(e00.y, e01.y, 0u, 0u);
    a.z = UVEC4(e00.z, e10.z, 0u, 0u);
    if (has_next) {
        uvec3 n00 = net_edges_at(edges, i + 1u);
        a.y = UVEC4(e00.y, e01.y, n00.y, tml_word(edges, 3u * (i + 1u + words * rows) + 1u));
        a.z = UVEC4(e00.z, e10.z, n00.z, tml_word(edges, 3u * (i + 1u + words) + 2u));
    }
    return a;
}

/* For each cell, the or of the bits of its two columns. */
FUNCTION(uint) net_both(uint own, uint next)
{
    return own | own >> 1u | next << 31u;
}

/* The cells of a word that have a vertex: at least one of their edges has a face. */
FUNCTION(uint) net_cells_of(tml_words edges, tml_words plan, uint i)
{
    net_spot at = net_spot_at(plan, i);
    uint words = tml_word(plan, NETS_WORDS);
    uint rows = tml_word(plan, NETS_SIZE + 1u);
    uint pad = tml_word(plan, NETS_PAD);
    uint lead = net_lead(plan);
    if (at.y + 1u >= rows || at.z + 1u >= tml_word(plan, NETS_SIZE + 2u))
        return 0u;
    net_around a = net_around_of(edges, i, words, rows, at.word + 1u < words);
    return (a.x.x | a.x.y | a.x.z | a.x.w | net_both(a.y.x, a.y.z) | net_both(a.y.y, a.y.w) |
            net_both(a.z.x, a.z.z) | net_both(a.z.y, a.z.w)) &
           net_columns(at.word, lead - pad, lead + tml_word(plan, NETS_COUNT) - 1u + pad);
}

/* The number of the vertex at a bit of word i, or of the next vertex after that bit. ranks, for
 * each word: the bits of its cells that have a vertex, the number of vertices before it, its
 * members, and 0. */
FUNCTION(uint) net_rank(tml_words ranks, uint i, uint bit)
{
    uvec4 rank = tml_word_uvec4(ranks, i);
    return rank.y + popcount32(rank.x & ((1u << bit) - 1u));
}

/* The coordinates of a cell, with the layer of background counted if there is one. cell: 32 times
 * the number of its word, plus its bit. */
FUNCTION(uvec3) net_cell(tml_words plan, uint cell)
{
    net_spot at = net_spot_at(plan, cell / 32u);
    return UVEC3(32u * at.word + cell % 32u - net_lead(plan) + tml_word(plan, NETS_PAD), at.y,
                 at.z);
}

/* Is a cell next to a border that a layer of background adjoins? 1: the lower border; 2: the
 * upper. */
FUNCTION(uint) net_border(tml_words plan, uint axis, uint cell)
{
    if (tml_word(plan, NETS_PAD) == 0u)
        return 0u;
    return cell == 0u ? 1u : cell + 2u == tml_word(plan, NETS_SIZE + axis) ? 2u : 0u;
}
/* The initial position of a vertex along an axis: the cell's centre, or the border of the
 * volume. */
FUNCTION(uint) net_first_place(uint border)
{
    return border == 0u ? U(NETS_HALF) : border == 1u ? U(2 * NETS_HALF) : 0u;
}

/* Packs a position: x and y in one word, z in another. */
FUNCTION(uvec2) net_pack_place(uvec3 place)
{
    return UVEC2(place.x | place.y << 16u, place.z);
}
FUNCTION(uvec2) net_first_state(tml_words plan, uvec3 cell)
{
    return net_pack_place(UVEC3(net_first_place(net_border(plan, 0u, cell.x)),
                                net_first_place(net_border(plan, 1u, cell.y)),
                                net_first_place(net_border(plan, 2u, cell.z))));
}

/* A vertex's code. Bits 0 to 5: has neighbours across the lower and upper sides (nets_toward). Bits
 * 6 to 8: stays on the border along that axis. */
FUNCTION(uint) net_code(tml_words edges, tml_words plan, uint cell)
{
    uint words = tml_word(plan, NETS_WORDS);
    uint i = cell / 32u;
    uint bit = cell % 32u;
    uvec3 at = net_cell(plan, cell);
    net_around a =
        net_around_of(edges, i, words, tml_word(plan, NETS_SIZE + 1u), (i + 1u) % words != 0u);
    uint along = a.y.x | a.y.y | a.z.x | a.z.y;
    uint along_next = a.y.z | a.y.w | a.z.z | a.z.w;
    uint low_y = a.x.x | a.x.z | net_both(a.z.x, a.z.z);
    uint high_y = a.x.y | a.x.w | net_both(a.z.y, a.z.w);
    uint low_z = a.x.x | a.x.y | net_both(a.y.x, a.y.z);
    uint high_z = a.x.z | a.x.w | net_both(a.y.y, a.y.w);
    return (along >> bit & 1u) | ((along >> 1u | along_next << 31u) >> bit & 1u) << 1u |
           (low_y >> bit & 1u) << 2u | (high_y >> bit & 1u) << 3u | (low_z >> bit & 1u) << 4u |
           (high_z >> bit & 1u) << 5u | U(net_border(plan, 0u, at.x) != 0u) << 6u |
           U(net_border(plan, 1u, at.y) != 0u) << 7u | U(net_border(plan, 2u, at.z) != 0u) << 8u;
}

/* The numbers of a vertex's neighbours along y and z; its own number for a missing neighbour. */
FUNCTION(uvec4) net_near(tml_words ranks, uint words, uint rows, uint cell, uint own, uint code)
{
    uint i = cell / 32u;
    uint bit = cell % 32u;
    uvec4 near = UVEC4(own, own, own, own);
    if ((code & 4u) != 0u)
        near.x = net_rank(ranks, i - words, bit);
    if ((code & 8u) != 0u)
        near.y = net_rank(ranks, i + words, bit);
    if ((code & 16u) != 0u)
        near.z = net_rank(ranks, i - words * rows, bit);
    if ((code & 32u) != 0u)
        near.w = net_rank(ranks, i + words * rows, bit);
    return near;
}

FUNCTION(uvec2) net_state_at(tml_words states, uint v)
{
    return UVEC2(tml_word(states, 2u * v), tml_word(states, 2u * v + 1u));
}
FUNCTION(uvec3) net_place_of(uvec2 state)
{
    return UVEC3(state.x & 0xffffu, state.x >> 16u, state.y);
}

/* The state of a vertex after an iteration. rates: for 2 to 5 neighbours; rate_6: for 6. */
FUNCTION(uvec2)
net_iterated(tml_words states, uint v, uvec4 near, uint code, vec4 rates, float rate_6, int bound)
{
    uvec2 own = net_state_at(states, v);
    uvec2 a = net_state_at(states, v - (code & 1u));
    uvec2 b = net_state_at(states, v + (code >> 1u & 1u));
    uvec2 c = net_state_at(states, near.x);
    uvec2 d = net_state_at(states, near.y);
    uvec2 e = net_state_at(states, near.z);
    uvec2 f = net_state_at(states, near.w);
    uvec3 from = net_place_of(own);
    uvec3 all =
        net_place_of(UVEC2(a.x + b.x + c.x + d.x + e.x + f.x, a.y + b.y + c.y + d.y + e.y + f.y));
    uint count = popcount32(code & 63u);
    float rate = count < 4u   ? (count == 2u ? rates.x : rates.y)
                 : count < 6u ? (count == 4u ? rates.z : rates.w)
                              : rate_6;
    if ((code & 64u) == 0u)
        from.x = nets_moved(from.x, all.x, nets_toward(code, 0u), rate, bound);
    if ((code & 128u) == 0u)
        from.y = nets_moved(from.y, all.y, nets_toward(code, 1u), rate, bound);
    if ((code & 256u) == 0u)
        from.z = nets_moved(from.z, all.z, nets_toward(code, 2u), rate, bound);
    return net_pack_place(from);
}

/* ---- faces ----------------------------------------------------------------------------------- */

/* A face: its corners and its two labels; the normal points from a to b. */
STRUCT_BEGIN(net_quad_face)
uvec4 corners;
uvec2 a;
uvec2 b;
STRUCT_END(net_quad_face)

/* The four cells around an edge along an axis, counter-clockwise as seen from the edge's far end.
 * Bits 3 k to 3 k + 2: cell k lies one step back along x, y and z from the cell at the edge's first
 * sample. */
FUNCTION(uint) net_back(uint axis)
{
    return axis == 0u ? 0x426u : axis == 1u ? 0x80du : 0x213u;
}

FUNCTION(uint) net_corner(tml_words ranks, uint i, uint bit, uint words, uint rows, uint back)
{
    return net_rank(ranks, i - (back >> 1u & 1u) * words - (back >> 2u & 1u) * words * rows, bit) -
           (back & 1u);
}

/* The face of an edge; counter-clockwise as seen from its second label's side. edge: 3 * (32 * the
 * number of its word + its bit) + its axis. */
FUNCTION(net_quad_face)
net_face_of(tml_words volume, tml_words ranks, tml_words plan, uint edge)
{
    net_quad_face face;
    uint axis = edge % 3u;
    uint i = edge / 96u;
    uint bit = edge / 3u % 32u;
    uint words = tml_word(plan, NETS_WORDS);
    uint rows = tml_word(plan, NETS_SIZE + 1u);
    uint back = net_back(axis);
    net_spot at = net_spot_at(plan, i);
    uint column = 32u * at.word + bit;
    uint column_b = column + U(axis == 0u);
    uint i_b = axis == 0u ? i - at.word + column_b / 32u : i + (axis == 1u ? words : words * rows);
    uvec2 a = net_label_at(volume, plan, tml_word(ranks, 4u * i + 2u), column, at.y, at.z);
    uvec2 b = net_label_at(volume, plan, tml_word(ranks, 4u * i_b + 2u), column_b,
                           at.y + U(axis == 1u), at.z + U(axis == 2u));
    bool is_first = net_is_first(plan, a, b);
    bool is_flipped = tml_word(plan, NETS_FLIP) != 0u;
    uint second = net_corner(ranks, i, bit, words, rows, back >> 3u);
    uint last = net_corner(ranks, i, bit, words, rows, back >> 9u);
    face.a = is_first ? a : b;
    face.b = is_first ? b : a;
    face.corners = UVEC4(
        net_corner(ranks, i, bit, words, rows, back), is_first == is_flipped ? last : second,
        net_corner(ranks, i, bit, words, rows, back >> 6u), is_first == is_flipped ? second : last);
    return face;
}

/* The two labels of a quad, of 1 byte each, in a word, twice: one pair per triangle. */
FUNCTION(uint) net_label_bytes(uvec2 a, uvec2 b)
{
    return ((a.x & 0xffu) | (b.x & 0xffu) << 8u) * 0x00010001u;
}
FUNCTION(uint) net_label_halves(uvec2 a, uvec2 b)
{
    return (a.x & 0xffffu) | b.x << 16u;
}

/* One of the two triangles of a quad. */
FUNCTION(uvec3) net_triangle(tml_words corners, tml_words positions, uint i)
{
    uvec4 c = tml_word_uvec4(corners, i / 2u);
    bool cuts_other_way =
        nets_cuts_other_way(tml_word_vec3(positions, c.x), tml_word_vec3(positions, c.y),
                            tml_word_vec3(positions, c.z), tml_word_vec3(positions, c.w));
    if (cuts_other_way)
        return i % 2u == 0u ? UVEC3(c.y, c.z, c.w) : UVEC3(c.y, c.w, c.x);
    return i % 2u == 0u ? UVEC3(c.x, c.y, c.z) : UVEC3(c.x, c.z, c.w);
}
