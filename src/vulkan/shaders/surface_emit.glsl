/* Vertices and triangles of active tiles, each to the place that the counts gave it.
 *
 * A subgroup takes a tile. Its vertices are shared out evenly over the lanes, in the order they are
 * stored, and each lane looks for its own: the row, the axis, the word, then the bit. Of triangles,
 * first the cells are shared out: a lane makes its cell's eight counters (the number of the next
 * vertex of each of the eight streams of edges that a row of cells touches) and a line for each
 * triangle; then the indices are, in the order they are stored. */
#include "surface_rows.glsl"

ARGS_USE(surface_emit_args)

layout(constant_id = 4) const uint ATTRIBUTE = 10u; /* tml_type of the attribute */

#define CELL_STRIDE  9u /* of a cell's eight counters: odd, for the banks of shared memory */
#define CELL_LINES   5u /* most triangles of a cell */
#define LANE_WORDS   (CELL_STRIDE + CELL_LINES)

/* A subgroup's share is SUBGROUP * LANE_WORDS words: counters and lines, or vertices on their way. */
shared uint stage[256u * LANE_WORDS];

uvec3 size = uvec3(args.size_x, args.size_y, args.size_z);
uint words = (args.size_x + 31u) / 32u;
uvec3 iso_words = uvec3(args.iso0, args.iso1, args.iso2);
uint lane = gl_SubgroupInvocationID;
uint stage_first = subgroup_index() * (SUBGROUP * LANE_WORDS);
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

/* ---- what a tile's lanes know ---------------------------------------------------------------- */

struct tile_info {
    uint row, row_first_lane;
    row_place place;
    bool exists;
    uint chunk;
    uvec2 vertices_before, triangles_before; /* of the tile's chunk */
};

/* An entry of the row table, with its chunk's first vertex added, in 32 bits. */
uvec4 row_entry(uint row)
{
    uvec4 entry = quads_at(part_of_scratch(args.rows_at)).v[row];
    entry.x += quads_at(part_of_scratch(args.chunks_at)).v[row >> CHUNK_LOG2].x;
    return entry;
}
uvec4 segment_entry(uint row, uint segment)
{
    uint segments = (words + WIDTH - 1u) / WIDTH;
    return quads_at(part_of_scratch(args.segments_at)).v[row * segments + segment];
}

/* A stream's words and where its vertices begin, for a lane's word of cells. */
struct lane_streams {
    uint edges[8];
    uint first[8];
};

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

/* Stores count vectors, one a lane, one after another from vector number first on. */
void store_vectors(uvec2 out_at, uint first, uint count, vec3 value)
{
    for (uint c = 0u; c < 3u; c++)
        stage[stage_first + 3u * lane + c] = floatBitsToUint(value[c]);
    stage_barrier();
    uvec2 to = address_of(out_at, first, 12u);
    for (uint c = 0u; c < 3u; c++) {
        uint i = c * SUBGROUP + lane;
        if (i < 3u * count)
            words_at(to).v[i] = stage[stage_first + i];
    }
    stage_barrier();
}

/* What the chunk of a tile has left of a capacity; at most 2^32 - 1. */
uint room_of(uvec2 room, uvec2 before)
{
    uvec2 left = less64(before, room) ? sub64(room, before) : uvec2(0u);
    return left.y != 0u ? 0xffffffffu : left.x;
}

/* Three counts of a lane, of at most 2^10 - 1 before it in its row, in ten bits each: the sums over the
 * lanes of its row before it. What a subgroup's other rows carry over drops out with the difference. */
uint before_in_row(uint counts, uint row_first_lane)
{
    uint before = subgroupExclusiveAdd(counts);
    return before - subgroupShuffle(before, row_first_lane);
}

/* x, y, z: the edges of the lane's word; in_row: how many are before the lane's word in its row, ten
 * bits each; first: of its row's vertices on each axis, from the chunk's first. */
void emit_vertices(tile_info tile, uint segment, uint x, uint y, uint z, uint in_row, uvec3 first)
{
    uint count_x = popcount32(x), count_y = popcount32(y), count_z = popcount32(z);
    uint count = count_x + count_y + count_z, before = subgroupExclusiveAdd(count);
    uint total = subgroupShuffle(before + count, SUBGROUP - 1u);
    if (total == 0u)
        return;
    /* Of the row: vertices of the tile before it; in it, those along x, and along x and y. */
    uint row_start = subgroupShuffle(before, tile.row_first_lane);
    uint ends = ((in_row & 0x3ffu) + count_x) | ((in_row >> 10 & 0x3ffu) + count_y) << 16;
    ends = subgroupShuffle(ends, tile.row_first_lane + WIDTH - 1u);
    uint axis_ends = ends + (ends << 16);

    uvec2 floats = add64(tile.vertices_before, add64(tile.vertices_before, tile.vertices_before));
    uvec2 positions = element_at(args.positions, floats, 2u);
    uvec2 normals = element_at(args.normals, floats, 2u);
    uvec2 values = element_at(args.values, tile.vertices_before, 2u);
    uint room = room_of(load64(address_of_word(args.head, SURFACE_HEAD_ROOM)), tile.vertices_before);

    for (uint k0 = 0u; k0 < total; k0 += SUBGROUP) {
        uint k = min(k0 + lane, total - 1u);
        uint row = 0u;
        [[unroll]] for (uint step = TILE_ROWS / 2u; step > 0u; step >>= 1) {
            uint start = subgroupShuffle(row_start, (row + step) * WIDTH);
            row += start <= k ? step : 0u;
        }
        uint leader = row * WIDTH;
        uint j = k - subgroupShuffle(row_start, leader);
        uint axes = subgroupShuffle(axis_ends, leader);
        uint x_end = axes & 0xffffu, y_end = axes >> 16;
        uint axis = (j >= x_end ? 1u : 0u) + (j >= y_end ? 1u : 0u);
        j -= axis == 0u ? 0u : axis == 1u ? x_end : y_end;
        uint word = 0u, shift = 10u * axis;
        [[unroll]] for (uint step = WIDTH / 2u; step > 0u; step >>= 1) {
            uint before = subgroupShuffle(in_row, leader + word + step) >> shift & 0x3ffu;
            word += before <= j ? step : 0u;
        }
        uint owner = leader + word;
        uint n = j - (subgroupShuffle(in_row, owner) >> shift & 0x3ffu);
        uint owner_x = subgroupShuffle(x, owner), owner_y = subgroupShuffle(y, owner);
        uint owner_z = subgroupShuffle(z, owner);
        uint edges = axis == 0u ? owner_x : axis == 1u ? owner_y : owner_z;
        uint bit = select_bit(edges, n);
        uint row_y = subgroupShuffle(tile.place.y, leader);
        uint row_zz = subgroupShuffle(tile.place.z, leader);
        uvec3 at = uvec3(32u * (segment * WIDTH + word) + bit, row_y, row_zz);
        vertex v = make_vertex(at, axis);

        if (SEGMENTED == 0u) { /* a tile's vertices follow one another */
            uint to = subgroupShuffle(first.x, 0u) + k0;
            uint count = min(min(total - k0, SUBGROUP), room - min(room, to));
            store_vectors(positions, to, count, v.position);
            if (NORMALS != 0u)
                store_vectors(normals, to, count, v.normal);
            if (has(SURFACE_ATTRIBUTE) && lane < count)
                words_at(address_of_word(values, to)).v[lane] = floatBitsToUint(v.value);
        } else {
            uvec3 firsts = uvec3(subgroupShuffle(first.x, 0u), subgroupShuffle(first.y, 0u),
                                 subgroupShuffle(first.z, 0u));
            uint to = j + (axis == 0u ? firsts.x : axis == 1u ? firsts.y : firsts.z);
            if (k0 + lane < total && to < room) {
                for (uint c = 0u; c < 3u; c++)
                    words_at(address_of(positions, to, 12u)).v[c] = floatBitsToUint(v.position[c]);
                for (uint c = 0u; c < 3u && NORMALS != 0u; c++)
                    words_at(address_of(normals, to, 12u)).v[c] = floatBitsToUint(v.normal[c]);
                if (has(SURFACE_ATTRIBUTE))
                    store_word(values, to, floatBitsToUint(v.value));
            }
        }
    }
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* first: of the tile's triangles, from the chunk's first. */
void emit_triangles(tile_info tile, lane_rows rows, lane_streams streams, uint cells, bool is_missing,
                    uint first)
{
    uint count = popcount32(cells);
    uint before = subgroupExclusiveAdd(count);
    uint total = subgroupShuffle(before + count, SUBGROUP - 1u);
    if (total == 0u)
        return;
    uint next_bits = rows.n0 | rows.n1 << 1 | rows.n2 << 2 | rows.n3 << 3;
    uint index_words = has(SURFACE_WIDE) ? 2u : 1u;
    uvec2 index_first =
        add64(tile.triangles_before, add64(tile.triangles_before, tile.triangles_before));
    uvec2 indices = element_at(args.indices, index_first, has(SURFACE_WIDE) ? 3u : 2u);
    uint room = room_of(load64(address_of_word(args.head, SURFACE_HEAD_ROOM + 2u)),
                        tile.triangles_before);
    uvec2 table = address_of_word(args.head, SURFACE_HEAD_WORDS);
    uint lines = stage_first + SUBGROUP * CELL_STRIDE;

    for (uint c0 = 0u; c0 < total; c0 += SUBGROUP) {
        bool is_live = c0 + lane < total;
        uint k = min(c0 + lane, total - 1u);
        uint owner = 0u;
        [[unroll]] for (uint step = SUBGROUP / 2u; step > 0u; step >>= 1)
            owner += subgroupShuffle(before, owner + step) <= k ? step : 0u;
        uint n = k - subgroupShuffle(before, owner);
        uint bit = select_bit(subgroupShuffle(cells, owner), n);
        uint c[4], nexts = subgroupShuffle(next_bits, owner);
        c[0] = subgroupShuffle(rows.c0, owner);
        c[1] = subgroupShuffle(rows.c1, owner);
        c[2] = subgroupShuffle(rows.c2, owner);
        c[3] = subgroupShuffle(rows.c3, owner);
        uint index = 0u; /* the case */
        [[unroll]] for (uint i = 0u; i < 4u; i++) {
            uint two = c[i] >> bit;
            two = bit == 31u ? two | (nexts >> i & 1u) << 1 : two & 3u;
            index |= two << (2u * i);
        }
        uint below = low_bits(bit);
        uint edges[8];
        if (has(SURFACE_NAN | SURFACE_MASK) && is_missing) {
            [[unroll]] for (uint i = 0u; i < 8u; i++)
                edges[i] = subgroupShuffle(streams.edges[i], owner);
        } else {
            /* Along x the edge from the last column needs no bit of the next word: it is not below
             * any column. */
            [[unroll]] for (uint i = 0u; i < 4u; i++)
                edges[i] = c[i] ^ c[i] >> 1;
            edges[4] = c[0] ^ c[1];
            edges[5] = c[2] ^ c[3];
            edges[6] = c[0] ^ c[2];
            edges[7] = c[1] ^ c[3];
        }
        [[unroll]] for (uint i = 0u; i < 8u; i++)
            stage[stage_first + lane * CELL_STRIDE + i] =
                subgroupShuffle(streams.first[i], owner) + popcount32(edges[i] & below);
        uvec4 corners = quads_at(table).v[index];
        uint triangles = is_live ? corners.w >> 16 : 0u;
        uint line = subgroupExclusiveAdd(triangles);
        [[unroll]] for (uint i = 0u; i < CELL_LINES; i++)
            if (i < triangles)
                stage[lines + line + i] = lane | (corners[i / 2u] >> (16u * (i & 1u)) & 0xfffu) << 8;
        uint all = subgroupShuffle(line + triangles, SUBGROUP - 1u);
        stage_barrier();

        uint stored = min(all, room - min(room, first));
        uvec2 to = address_of(indices, first, 12u * index_words);
        for (uint i = lane; i < 3u * stored; i += SUBGROUP) {
            uint triangle = i / 3u, corner = i - 3u * triangle;
            uint entry = stage[lines + triangle];
            if (has(SURFACE_FLIP))
                corner = corner == 0u ? 0u : 3u - corner;
            uint code = entry >> (8u + 4u * corner);
            uint vertex_number =
                stage[stage_first + (entry & 0xffu) * CELL_STRIDE + (code & 7u)] + (code >> 3 & 1u);
            if (has(SURFACE_WIDE)) {
                /* Less than 2^32 vertices lie between those of a chunk and those of the next slice. */
                uvec2 wide = add64(tile.vertices_before,
                                   uvec2(vertex_number - tile.vertices_before.x, 0u));
                words_at(to).v[2u * i] = wide.x;
                words_at(to).v[2u * i + 1u] = wide.y;
            } else {
                words_at(to).v[i] = vertex_number;
            }
        }
        first += all;
        stage_barrier();
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

void main()
{
    /* A subgroup's share is a tile or, of rows with several, a segment of one. */
    uint number = group_index() * (GROUP / SUBGROUP) + subgroup_index();
    uint segments = SEGMENTED != 0u ? (words + WIDTH - 1u) / WIDTH : 1u;
    uint segment = SEGMENTED != 0u ? number % segments : 0u;
    number /= segments;
    if (number >= LOAD_U32(args.head, SURFACE_HEAD_TILES))
        return;
    if (has(SURFACE_HELD_LIMITS))
        iso_words = uvec3(LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 5u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 6u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 7u));
    slab = LOAD_U32(args.head, SURFACE_HEAD_SLAB);
    uint item = LOAD_U32(part_of_scratch(args.list_at), number);
    bool is_missing = has(SURFACE_NAN | SURFACE_MASK) &&
                      LOAD_U32(args.head, SURFACE_HEAD_MISSING) != 0u;
    tile_info tile;
    tile.chunk = item / CHUNK_TILES;
    tile.row = (tile.chunk << CHUNK_LOG2) + item % CHUNK_TILES * TILE_ROWS + lane / WIDTH;
    tile.row_first_lane = lane - lane % WIDTH;
    tile.exists = lane / WIDTH < TILE_ROWS && tile.row >= size.y * SURFACE_SLAB_BEFORE(slab) &&
                  tile.row < size.y * (size.z - SURFACE_SLAB_AFTER(slab));
    if (!tile.exists)
        tile.row = 0u;
    tile.place = place_of_row(tile.row, size.y);
    uvec4 chunk = quads_at(part_of_scratch(args.chunks_at)).v[tile.chunk];
    tile.vertices_before = chunk.xy;
    tile.triangles_before = chunk.zw;

    uvec2 bits = part_of_scratch(args.bits_at), cells_at = part_of_scratch(args.cells_at);
    uint y_step = tile.place.y + 1u < size.y ? 1u : 0u;
    uint z_step = tile.place.z + 1u < size.z ? size.y : 0u;
    uvec4 entry0 = row_entry(tile.row), entry1 = row_entry(tile.row + y_step);
    uvec4 entry2 = row_entry(tile.row + z_step), entry3 = row_entry(tile.row + y_step + z_step);
    uint w = segment * WIDTH + lane % WIDTH;
    bool has_word = tile.exists && w < words;
    lane_rows rows = load_rows(bits, tile.row, tile.place, w, words, size, has_word);
    uint x_mask = x_mask_of(w, size.x), cells = cells_of(rows, x_mask);
    lane_streams streams;
    uint c[4] = uint[4](rows.c0, rows.c1, rows.c2, rows.c3);
    uint s[4] = uint[4](surface_step_x(rows.c0, rows.n0), surface_step_x(rows.c1, rows.n1),
                        surface_step_x(rows.c2, rows.n2), surface_step_x(rows.c3, rows.n3));
    [[unroll]] for (uint i = 0u; i < 4u; i++)
        streams.edges[i] = (c[i] ^ s[i]) & x_mask;
    streams.edges[4] = c[0] ^ c[1];
    streams.edges[5] = c[2] ^ c[3];
    streams.edges[6] = c[0] ^ c[2];
    streams.edges[7] = c[1] ^ c[3];
    cells &= surface_active(c[0], s[0], c[1], s[1], c[2], s[2], c[3], s[3]);
    if (is_missing && has_word) {
        uint y = tile.place.y, z = tile.place.z;
        uint y1 = y + y_step, z1 = z + (z_step != 0u ? 1u : 0u);
        streams.edges[0] &= allowed_edges(cells_at, 0u, y, z, w, size);
        streams.edges[1] &= allowed_edges(cells_at, 0u, y1, z, w, size);
        streams.edges[2] &= allowed_edges(cells_at, 0u, y, z1, w, size);
        streams.edges[3] &= allowed_edges(cells_at, 0u, y1, z1, w, size);
        streams.edges[4] &= allowed_edges(cells_at, 1u, y, z, w, size);
        streams.edges[5] &= allowed_edges(cells_at, 1u, y, z1, w, size);
        streams.edges[6] &= allowed_edges(cells_at, 2u, y, z, w, size);
        streams.edges[7] &= allowed_edges(cells_at, 2u, y1, z, w, size);
        cells &= present_cells(cells_at, y, z, w, size);
    }
    if (!has_word) {
        cells = 0u;
        [[unroll]] for (uint i = 0u; i < 8u; i++)
            streams.edges[i] = 0u;
    }

    /* Where each stream's vertices begin: its row's, those of the row's earlier segments, and
     * those of earlier words of the segment. */
    streams.first[0] = entry0.x;
    streams.first[1] = entry1.x;
    streams.first[2] = entry2.x;
    streams.first[3] = entry3.x;
    streams.first[4] = entry0.x + entry0.y;
    streams.first[5] = entry2.x + entry2.y;
    streams.first[6] = entry0.x + entry0.y + entry0.z;
    streams.first[7] = entry1.x + entry1.y + entry1.z;
    uint triangles_first = entry0.w;
    if (SEGMENTED != 0u) {
        uvec4 before0 = segment_entry(tile.row, segment);
        uvec4 before1 = segment_entry(tile.row + y_step, segment);
        uvec4 before2 = segment_entry(tile.row + z_step, segment);
        streams.first[0] += before0.x;
        streams.first[1] += before1.x;
        streams.first[2] += before2.x;
        streams.first[3] += segment_entry(tile.row + y_step + z_step, segment).x;
        streams.first[4] += before0.y;
        streams.first[5] += before2.y;
        streams.first[6] += before0.z;
        streams.first[7] += before1.z;
        triangles_first += before0.w;
    }
    /* A tile's own vertices are counted from its chunk's first. */
    uvec3 own_first = uvec3(streams.first[0], streams.first[4], streams.first[6]) -
                      tile.vertices_before.x;
    uint n[8];
    [[unroll]] for (uint i = 0u; i < 8u; i++)
        n[i] = popcount32(streams.edges[i]);
    uint row_first = tile.row_first_lane;
    uint own = before_in_row(n[0] | n[4] << 10 | n[6] << 20, row_first);
    emit_vertices(tile, segment, streams.edges[0], streams.edges[4], streams.edges[6], own, own_first);

    uint along_x = before_in_row(n[1] | n[2] << 10 | n[3] << 20, row_first);
    uint across = before_in_row(n[5] | n[7] << 10, row_first);
    streams.first[0] += own & 0x3ffu;
    streams.first[4] += own >> 10 & 0x3ffu;
    streams.first[6] += own >> 20;
    streams.first[1] += along_x & 0x3ffu;
    streams.first[2] += along_x >> 10 & 0x3ffu;
    streams.first[3] += along_x >> 20;
    streams.first[5] += across & 0x3ffu;
    streams.first[7] += across >> 10;
    emit_triangles(tile, rows, streams, cells, is_missing,
                   subgroupShuffle(triangles_first, 0u));
}
