/* Vertices and triangles of active words, each to the place that the counts gave it.
 *
 * A lane has a word. The subgroup's vertices are shared out evenly over its lanes, word after word,
 * and each lane looks for its own: the word, the axis, then the bit. Of triangles, first the cells are
 * shared out: a lane makes its cell's eight counters (the number of the next vertex of each of the
 * eight streams of edges that a row of cells touches); then the triangles are. */
#include "surface_rows.glsl"

ARGS_USE(surface_emit_args)

layout(constant_id = 4) const uint ATTRIBUTE = 10u; /* tml_type of the attribute */

/* A subgroup's share: eight counters of each lane's cell, and a line for each of their triangles. */
#define CELL_COUNTERS 8u
#define CELL_LINES    5u /* most triangles of a cell */
#define LANE_WORDS    (CELL_COUNTERS + CELL_LINES)
shared uint stage[256u * LANE_WORDS];

uvec3 size = uvec3(args.size_x, args.size_y, args.size_z);
uint words = (args.size_x + 31u) / 32u;
uvec3 iso_words = uvec3(args.iso0, args.iso1, args.iso2);
uint lane = gl_SubgroupInvocationID;
uint stage_first = subgroup_index() * (SUBGROUP * LANE_WORDS);
uint lines = stage_first + SUBGROUP * CELL_COUNTERS;
uint slab; /* of the head */

uvec2 part_of_scratch(uint number)
{
    return address_add(args.head, number << 8, number >> 24);
}
float head_float(uint i)
{
    return LOAD_F32(args.head, i);
}
void stage_barrier()
{
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

/* Layers of pad before the samples, and after them. */
uvec3 pad_low()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_LOW(slab)) : uvec3(0u);
}
uvec3 pad_high()
{
    return has(SURFACE_PAD) ? uvec3(1u, 1u, SURFACE_SLAB_PAD_HIGH(slab)) : uvec3(0u);
}

/* Position in the workspace to position in the volume; the pad takes the sample beside it. */
uvec3 volume_place(uvec3 at)
{
    uvec3 inside = min(at - min(at, pad_low()), size - pad_low() - pad_high() - 1u);
    return inside + uvec3(args.first_x, args.first_y, args.first_z);
}
uvec2 sample_at(uvec3 at)
{
    uvec2 i = mul_add64(at.y + args.dim_y * at.z, args.dim_x, at.x);
    return raw_at(TYPE, element_at(args.volume, i, type_size_log2(TYPE)), 0u);
}

#include "kernels/surface_samples.glsl"
/* SURFACE_FULL: with normals and attributes, which take much more of a device's registers and of its
 * compiler's time. */
#ifdef SURFACE_FULL
layout(constant_id = 5) const uint NORMALS = 0u; /* tml_normals */
uvec3 volume_dims()
{
    return uvec3(args.dim_x, args.dim_y, args.dim_z);
}
vec3 normal_row(uint i)
{
    uint at = SURFACE_HEAD_NORMALS + 3u * i;
    return vec3(head_float(at), head_float(at + 1u), head_float(at + 2u));
}
#include "kernels/surface_normals.glsl"

float attribute_at(uvec3 at)
{
    uvec2 i = mul_add64(at.y + args.dim_y * at.z, args.dim_x, at.x);
    return number_of(ATTRIBUTE,
                     raw_at(ATTRIBUTE, element_at(args.attributes, i, type_size_log2(ATTRIBUTE)), 0u));
}

#else
const uint NORMALS = 0u;
#endif

/* ---- words ----------------------------------------------------------------------------------- */

/* A lane's word of cells, and what lies before it. Streams of edges: along x of the word's four rows,
 * along y of the rows at z and z + 1, along z of those at y and y + 1. */
struct active_word {
    bool exists;
    uint row, w;
    row_place place;
    lane_rows rows;
    uint cells;
    uint edges[8]; /* of each stream */
    uint first[8]; /* the number of its first vertex, in 32 bits */
    uvec2 vertices_before, triangles_before; /* of the row's chunk */
    uint triangles_first, triangles;         /* from there on; how many */
};

lane_rows load_word(uvec2 bits, active_word word)
{
    lane_rows rows;
    rows.y_step = word.place.y + 1u < size.y ? 1u : 0u;
    rows.z_step = word.place.z + 1u < size.z ? size.y : 0u;
    uint at = word.row * words + word.w, next = word.w + 1u < words ? 1u : 0u;
    uint y_words = rows.y_step * words, z_words = rows.z_step * words;
    rows.c0 = words_at(bits).v[at];
    rows.c1 = words_at(bits).v[at + y_words];
    rows.c2 = words_at(bits).v[at + z_words];
    rows.c3 = words_at(bits).v[at + y_words + z_words];
    /* Past the row's end the bit does not matter. */
    rows.n0 = words_at(bits).v[at + next] & 1u;
    rows.n1 = words_at(bits).v[at + next + y_words] & 1u;
    rows.n2 = words_at(bits).v[at + next + z_words] & 1u;
    rows.n3 = words_at(bits).v[at + next + y_words + z_words] & 1u;
    return rows;
}

/* The numbers of a row's next vertices along x, y and z where the word begins, the chunk's first
 * vertex added. */
uvec3 first_vertices(uint row, uint w, uint before_at)
{
    uvec4 entry = quads_at(part_of_scratch(args.rows_at)).v[row];
    uint chunk_first = quads_at(part_of_scratch(args.chunks_at)).v[row >> CHUNK_LOG2].x;
    uint before = words_at(part_of_scratch(before_at)).v[row * words + w];
    before = (entry.y >> 31) != 0u ? before : 0u;
    uint along_x = entry.y & 0x7fffffffu;
    uvec3 first = uvec3(before & 0x3ffu, before >> 10 & 0x3ffu, before >> 20) + entry.x + chunk_first;
    first += uvec3(0u, along_x, along_x + entry.z);
    if (SEGMENTED != 0u) {
        uint segments = (words + WIDTH - 1u) / WIDTH;
        first += quads_at(part_of_scratch(args.segments_at)).v[row * segments + w / WIDTH].xyz;
    }
    return first;
}

active_word load_active(uint number, uint count, bool is_missing)
{
    active_word word;
    word.exists = number < count;
    uvec2 entry = load64(address_of(part_of_scratch(args.list_at), min(number, count - 1u), 8u));
    word.row = entry.x / words;
    word.w = entry.x - word.row * words;
    word.place = place_of_row(word.row, size.y);
    word.rows = load_word(part_of_scratch(args.bits_at), word);
    uvec4 chunk = quads_at(part_of_scratch(args.chunks_at)).v[word.row >> CHUNK_LOG2];
    word.vertices_before = chunk.xy;
    word.triangles_before = chunk.zw;
    word.triangles_first = quads_at(part_of_scratch(args.rows_at)).v[word.row].w + (entry.y & 0xffffffu);
    word.triangles = word.exists ? entry.y >> 24 : 0u;

    uint y_step = word.rows.y_step, z_step = word.rows.z_step, w = word.w;
    uint before_at = LOAD_U32(args.head, SURFACE_HEAD_BEFORE);
    uvec3 first0 = first_vertices(word.row, w, before_at);
    uvec3 first1 = first_vertices(word.row + y_step, w, before_at);
    uvec3 first2 = first_vertices(word.row + z_step, w, before_at);
    word.first = uint[8](first0.x, first1.x, first2.x,
                         first_vertices(word.row + y_step + z_step, w, before_at).x, first0.y,
                         first2.y, first0.z, first1.z);

    uint x_mask = x_mask_of(w, size.x);
    uint c[4] = uint[4](word.rows.c0, word.rows.c1, word.rows.c2, word.rows.c3);
    uint s[4] =
        uint[4](surface_step_x(c[0], word.rows.n0), surface_step_x(c[1], word.rows.n1),
                surface_step_x(c[2], word.rows.n2), surface_step_x(c[3], word.rows.n3));
    word.cells = cells_of(word.rows, x_mask) &
                 surface_active(c[0], s[0], c[1], s[1], c[2], s[2], c[3], s[3]);
    [[unroll]] for (uint i = 0u; i < 4u; i++)
        word.edges[i] = (c[i] ^ s[i]) & x_mask;
    word.edges[4] = c[0] ^ c[1];
    word.edges[5] = c[2] ^ c[3];
    word.edges[6] = c[0] ^ c[2];
    word.edges[7] = c[1] ^ c[3];
    if (is_missing) {
        uvec2 cells_at = part_of_scratch(args.cells_at);
        uint y = word.place.y, z = word.place.z;
        uint y1 = y + y_step, z1 = z + (z_step != 0u ? 1u : 0u);
        word.edges[0] &= allowed_edges(cells_at, 0u, y, z, w, size);
        word.edges[1] &= allowed_edges(cells_at, 0u, y1, z, w, size);
        word.edges[2] &= allowed_edges(cells_at, 0u, y, z1, w, size);
        word.edges[3] &= allowed_edges(cells_at, 0u, y1, z1, w, size);
        word.edges[4] &= allowed_edges(cells_at, 1u, y, z, w, size);
        word.edges[5] &= allowed_edges(cells_at, 1u, y, z1, w, size);
        word.edges[6] &= allowed_edges(cells_at, 2u, y, z, w, size);
        word.edges[7] &= allowed_edges(cells_at, 2u, y1, z, w, size);
        word.cells &= present_cells(cells_at, y, z, w, size);
    }
    if (!word.exists) {
        word.cells = 0u;
        [[unroll]] for (uint i = 0u; i < 8u; i++)
            word.edges[i] = 0u;
    }
    subgroupBarrier(); /* lanes that branched must be together again */
    return word;
}

/* Are the subgroup's words of one chunk? */
bool is_one_chunk(active_word word)
{
    uint chunk = word.row >> CHUNK_LOG2;
    return all_lanes(chunk == subgroupShuffle(chunk, 0u));
}

/* The lane with item number k, where each has so many before it. */
uint owner_of(uint before, uint k)
{
    uint owner = 0u;
    [[unroll]] for (uint step = SUBGROUP / 2u; step > 0u; step >>= 1)
        owner += subgroupShuffle(before, owner + step) <= k ? step : 0u;
    return owner;
}

uvec2 shuffle64(uvec2 value, uint from)
{
    return uvec2(subgroupShuffle(value.x, from), subgroupShuffle(value.y, from));
}

/* ---- vertices -------------------------------------------------------------------------------- */

struct vertex {
    vec3 position, normal;
    float value;
};

vertex make_vertex(uvec3 at, uint axis)
{
    vertex v;
    uvec3 step = uvec3(axis == 0u ? 1u : 0u, axis == 1u ? 1u : 0u, axis == 2u ? 1u : 0u);
    uvec3 low = volume_place(at), high = volume_place(at + step);
    float t = crossing_of(sample_at(low), sample_at(high), iso_words);
    bool is_cap = has(SURFACE_PAD) && low == high;
    vec3 index = vec3(low);
    if (!is_cap) /* an edge into the pad ends on the border */
        index[axis] += t;
    /* Origin, then the steps along x, y and z. */
    vec4 place0 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u]);
    vec4 place1 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u + 1u]);
    vec4 place2 = uintBitsToFloat(quads_at(args.head).v[SURFACE_HEAD_PLACE / 4u + 2u]);
    v.position = place0.xyz;
    v.position += index.z * place2.yzw;
    v.position += index.y * vec3(place1.zw, place2.x);
    v.position += index.x * vec3(place0.w, place1.xy);
    v.normal = vec3(0.0);
    v.value = 0.0;
#ifdef SURFACE_FULL
    if (NORMALS != 0u) {
        if (is_cap)
            v.normal = cap_normal(int(axis), at[axis] < pad_low()[axis] ? -1.0 : 1.0);
        else
            v.normal = vertex_normal(low, high, t, iso_words);
    }
    if (has(SURFACE_ATTRIBUTE)) {
        float a = attribute_at(low), b = attribute_at(high);
        v.value = t == 1.0 ? b : a + t * (b - a);
    }
#endif
    return v;
}

/* What a capacity leaves to a chunk; at most 2^32 - 1. */
uint room_of(uvec2 room, uvec2 before)
{
    uvec2 left = less64(before, room) ? sub64(room, before) : uvec2(0u);
    return left.y != 0u ? 0xffffffffu : left.x;
}

void store_vector(uvec2 to, vec3 value)
{
    [[unroll]] for (uint c = 0u; c < 3u; c++)
        words_at(to).v[c] = floatBitsToUint(value[c]);
}

void emit_vertices(active_word word)
{
    uint count_x = popcount32(word.edges[0]), count_y = popcount32(word.edges[4]);
    uint count = count_x + count_y + popcount32(word.edges[6]);
    uint before = subgroupExclusiveAdd(count);
    uint total = subgroupShuffle(before + count, SUBGROUP - 1u);
    /* In one word: of a subgroup's 128 * 96 vertices those before, 14 bits; where the word's along x
     * end, 6 bits, and those along y, 7. */
    uint ends = before | count_x << 14 | (count_x + count_y) << 20;
    uint room = room_of(load64(address_of_word(args.head, SURFACE_HEAD_ROOM)), word.vertices_before);
    bool is_one = is_one_chunk(word), fits = all_lanes(room == 0xffffffffu);
    uvec2 chunk_first = shuffle64(word.vertices_before, 0u);

    for (uint k0 = 0u; k0 < total; k0 += SUBGROUP) {
        uint k = min(k0 + lane, total - 1u), owner = owner_of(before, k);
        uint owner_ends = subgroupShuffle(ends, owner);
        uint n = k - (owner_ends & 0x3fffu);
        uint x_end = owner_ends >> 14 & 0x3fu, y_end = owner_ends >> 20;
        uint axis = (n >= x_end ? 1u : 0u) + (n >= y_end ? 1u : 0u);
        n -= axis == 0u ? 0u : axis == 1u ? x_end : y_end;
        uint x = subgroupShuffle(word.edges[0], owner), first_x = subgroupShuffle(word.first[0], owner);
        uint y = subgroupShuffle(word.edges[4], owner), first_y = subgroupShuffle(word.first[4], owner);
        uint z = subgroupShuffle(word.edges[6], owner), first_z = subgroupShuffle(word.first[6], owner);
        uint w = subgroupShuffle(word.w, owner), row_y = subgroupShuffle(word.place.y, owner);
        uint row_z = subgroupShuffle(word.place.z, owner), owner_room = room;
        if (!is_one)
            chunk_first = shuffle64(word.vertices_before, owner);
        if (!fits)
            owner_room = subgroupShuffle(room, owner);
        uint bit = select_bit(axis == 0u ? x : axis == 1u ? y : z, n);
        uint to = n + (axis == 0u ? first_x : axis == 1u ? first_y : first_z) - chunk_first.x;
        vertex v = make_vertex(uvec3(32u * w + bit, row_y, row_z), axis);

        if (k0 + lane < total && to < owner_room) {
            uvec2 number = add64(chunk_first, uvec2(to, 0u));
            uvec2 bytes = mul_add64(number.x, 12u, 0u);
            bytes.y += 12u * number.y;
            store_vector(add64(args.positions, bytes), v.position);
            if (NORMALS != 0u)
                store_vector(add64(args.normals, bytes), v.normal);
            if (has(SURFACE_ATTRIBUTE))
                store_word(element_at(args.values, number, 2u), 0u, floatBitsToUint(v.value));
        }
        subgroupBarrier(); /* lanes that branched must be together again */
    }
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Where counter i of a cell lies in the stage, turned so that a cell's lie in different banks. */
uint counter_at(uint cell, uint i)
{
    return stage_first + i * SUBGROUP + (cell + 4u * i) % SUBGROUP;
}

/* Makes the counters of the cell at a bit of the word that lane owner has, and returns its case. */
uint make_counters(active_word word, uint owner, uint bit, bool is_missing)
{
    uint c[4], nexts = word.rows.n0 | word.rows.n1 << 1 | word.rows.n2 << 2 | word.rows.n3 << 3;
    nexts = subgroupShuffle(nexts, owner);
    c[0] = subgroupShuffle(word.rows.c0, owner);
    c[1] = subgroupShuffle(word.rows.c1, owner);
    c[2] = subgroupShuffle(word.rows.c2, owner);
    c[3] = subgroupShuffle(word.rows.c3, owner);
    uint index = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        uint two = c[i] >> bit;
        two = bit == 31u ? two | (nexts >> i & 1u) << 1 : two & 3u;
        index |= two << (2u * i);
    }
    uint edges[8];
    if (has(SURFACE_NAN | SURFACE_MASK) && is_missing) {
        [[unroll]] for (uint i = 0u; i < 8u; i++)
            edges[i] = subgroupShuffle(word.edges[i], owner);
    } else {
        /* Along x the edge from the last column needs no bit of the next word: it is not below any
         * column. */
        [[unroll]] for (uint i = 0u; i < 4u; i++)
            edges[i] = c[i] ^ c[i] >> 1;
        edges[4] = c[0] ^ c[1];
        edges[5] = c[2] ^ c[3];
        edges[6] = c[0] ^ c[2];
        edges[7] = c[1] ^ c[3];
    }
    uint below = low_bits(bit);
    [[unroll]] for (uint i = 0u; i < CELL_COUNTERS; i++)
        stage[counter_at(lane, i)] = subgroupShuffle(word.first[i], owner) + popcount32(edges[i] & below);
    return index;
}

void emit_triangles(active_word word, bool is_missing)
{
    uint count = popcount32(word.cells), before = subgroupExclusiveAdd(count);
    uint total = subgroupShuffle(before + count, SUBGROUP - 1u);
    uint size_log2 = has(SURFACE_WIDE) ? 3u : 2u;
    /* Of a word: the place of triangle number 0 of the subgroup, if it were the word's; and how many of
     * the subgroup's there is room for. */
    uint own_first = subgroupExclusiveAdd(word.triangles);
    uint room = room_of(load64(address_of_word(args.head, SURFACE_HEAD_ROOM + 2u)), word.triangles_before);
    room = own_first + min(word.triangles, room - min(room, word.triangles_first));
    uvec2 number = sub64(add64(word.triangles_before, uvec2(word.triangles_first, 0u)), uvec2(own_first, 0u));
    uvec2 place = element_at(args.indices, add64(number, add64(number, number)), size_log2);
    uvec2 first_place = shuffle64(place, 0u);
    /* The usual: the subgroup's triangles lie side by side, and there is room for all. */
    bool is_row = all_lanes(!word.exists || (place == first_place && room == own_first + word.triangles));
    bool is_plain = is_row && !has(SURFACE_WIDE);
    uvec2 table = address_of_word(args.head, SURFACE_HEAD_WORDS);

    uint first = 0u; /* of the subgroup's triangles */
    for (uint c0 = 0u; c0 < total; c0 += SUBGROUP) {
        uint k = min(c0 + lane, total - 1u), owner = owner_of(before, k);
        uint bit = select_bit(subgroupShuffle(word.cells, owner), k - subgroupShuffle(before, owner));
        uvec4 corners = quads_at(table).v[make_counters(word, owner, bit, is_missing)];
        uint triangles = c0 + lane < total ? corners.w >> 16 : 0u;
        uint line = subgroupExclusiveAdd(triangles);
        /* The cell's lane, that of its word, and the case's three corners. */
        [[unroll]] for (uint i = 0u; i < CELL_LINES; i++)
            if (i < triangles)
                stage[lines + line + i] =
                    lane | owner << 8 | (corners[i / 2u] >> (16u * (i & 1u)) & 0xfffu) << 16;
        stage_barrier();
        uint all = subgroupShuffle(line + triangles, SUBGROUP - 1u);
        for (uint i0 = 0u; i0 < 3u * all; i0 += SUBGROUP) {
            uint i = min(i0 + lane, 3u * all - 1u), triangle = i / 3u, corner = i - 3u * triangle;
            uint entry = stage[lines + triangle];
            if (has(SURFACE_FLIP))
                corner = corner == 0u ? 0u : 3u - corner;
            uint code = entry >> (16u + 4u * corner);
            uint vertex_number =
                stage[counter_at(entry & 0xffu, code & 7u)] + (code >> 3 & 1u);
            bool is_stored = i0 + lane < 3u * all;
            if (is_plain) {
                if (is_stored)
                    words_at(first_place).v[3u * first + i] = vertex_number;
            } else {
                uint from = entry >> 8 & 0xffu;
                uvec2 to = address_add(shuffle64(place, from), (3u * first + i) << size_log2, 0u);
                uvec2 chunk_first = shuffle64(word.vertices_before, from);
                uint word_room = subgroupShuffle(room, from); /* by all lanes: && would leave some out */
                is_stored = is_stored && first + triangle < word_room;
                /* Less than 2^32 vertices lie between those of a chunk and those of the next slice. */
                if (is_stored && has(SURFACE_WIDE))
                    store64(to, add64(chunk_first, uvec2(vertex_number - chunk_first.x, 0u)));
                else if (is_stored)
                    word_at(to).bits = vertex_number;
                subgroupBarrier(); /* lanes that branched must be together again */
            }
        }
        first += all;
        stage_barrier();
    }
}

void main()
{
    uint first = (group_index() * (GROUP / SUBGROUP) + subgroup_index()) * SUBGROUP;
    uint count = LOAD_U32(args.head, SURFACE_HEAD_ACTIVE);
    if (first >= count)
        return;
    if (has(SURFACE_HELD_LIMITS))
        iso_words = uvec3(LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 5u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 6u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 7u));
    slab = LOAD_U32(args.head, SURFACE_HEAD_SLAB);
    bool is_missing = has(SURFACE_NAN | SURFACE_MASK) &&
                      LOAD_U32(args.head, SURFACE_HEAD_MISSING) != 0u;
    active_word word = load_active(first + lane, count, is_missing);
    emit_vertices(word);
    emit_triangles(word, is_missing);
}
