/* Writes the triangles of active words, each at its number.
 *
 * A lane has a word. The active cells of the subgroup's words are distributed evenly over its
 * lanes. A lane computes its cell's eight counters: the number of the next vertex in each of the
 * eight streams of edges that a row of cells touches. Adjacent lanes then write adjacent
 * indices. */
#include "surface_rows.glsl"

ARGS_USE(surface_triangles_args)

#include "surface_words.glsl"
#include "surface_firsts.glsl"
#include "surface_place.glsl"

/* A subgroup's shared memory: eight counters for each lane's cell, and lines, one per triangle; too
 * many triangles are processed in turns. 12 KB per workgroup, so that more workgroups are resident.
 * Before that, the lines hold the cells of ROUNDS rounds. */
#ifdef SURFACE_OPEN
#define CELL_COUNTERS 9u /* the last: the cell's first own vertex */
#else
#define CELL_COUNTERS 8u
#endif
#define LANE_LINES    4u
#define ROUNDS        4u
shared uint stage[256u * (CELL_COUNTERS + LANE_LINES)];

uint stage_first = subgroup_index() * (SUBGROUP * (CELL_COUNTERS + LANE_LINES));
uint lines = stage_first + SUBGROUP * CELL_COUNTERS;

#ifdef SURFACE_OPEN
#include "kernels/surface_open.k.h"
#include "surface_open.glsl"
#endif

/* Bits of a corner in a line, and of a cell's number of triangles. */
#ifdef SURFACE_OPEN
const uint CORNER_BITS = 5u, COUNT_BITS = SURFACE_OPEN_TRIANGLES;
#else
const uint CORNER_BITS = 4u, COUNT_BITS = 3u;
#endif

/* A lane's word of cells, and its eight streams of edges: along x in its four rows, along y at z
 * and z + 1, along z at y and y + 1. */
struct active_word {
    lane_rows rows;
    uint cells;
    uint triangles_before; /* triangles of the chunk before the word */
    uint first[8];         /* low 32 bits of the number of each stream's first vertex */
    uint edges[8];         /* with missing samples: edges with a vertex, per stream */
    uint open;             /* open cells */
    uint own_first;        /* low 32 bits of the number of their first own vertex */
};

active_word load_active(listed_word listed, bool is_missing)
{
    active_word word;
    uint y = listed.place.y, z = listed.place.z, w = listed.w;
    word.rows = load_rows(part_of_scratch(args.bits_at), listed.row, listed.place, w, words, size);
    uint rows[4] = uint[4](listed.row, listed.row + word.rows.y_step, listed.row + word.rows.z_step,
                           listed.row + word.rows.y_step + word.rows.z_step);
    uvec4 first[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        uint chunk = rows[i] >> CHUNK_LOG2;
        first[i] = first_of(rows[i], w);
        first[i].xyz += quads_at(part_of_scratch(args.chunks_at)).v[chunk].x;
    }
    word.triangles_before = first[0].w + listed.triangles_before;
    word.first = uint[8](first[0].x, first[1].x, first[2].x, first[3].x, first[0].y, first[2].y,
                         first[0].z, first[1].z);
    uint c0 = word.rows.c0, c1 = word.rows.c1, c2 = word.rows.c2, c3 = word.rows.c3;
    uint s0 = surface_step_x(c0, word.rows.n0), s1 = surface_step_x(c1, word.rows.n1);
    uint s2 = surface_step_x(c2, word.rows.n2), s3 = surface_step_x(c3, word.rows.n3);
    uint x_mask = x_mask_of(w, size.x);
    word.cells = cells_of(word.rows, x_mask) & surface_active(c0, s0, c1, s1, c2, s2, c3, s3);
    if (has(SURFACE_NAN | SURFACE_MASK) && is_missing) {
        uvec2 cells_at = part_of_scratch(args.cells_at);
        uint y1 = y + word.rows.y_step, z1 = z + (word.rows.z_step != 0u ? 1u : 0u);
        word.edges =
            uint[8]((c0 ^ s0) & x_mask & allowed_edges(cells_at, 0u, y, z, w, size),
                    (c1 ^ s1) & x_mask & allowed_edges(cells_at, 0u, y1, z, w, size),
                    (c2 ^ s2) & x_mask & allowed_edges(cells_at, 0u, y, z1, w, size),
                    (c3 ^ s3) & x_mask & allowed_edges(cells_at, 0u, y1, z1, w, size),
                    (c0 ^ c1) & allowed_edges(cells_at, 1u, y, z, w, size),
                    (c2 ^ c3) & allowed_edges(cells_at, 1u, y, z1, w, size),
                    (c0 ^ c2) & allowed_edges(cells_at, 2u, y, z, w, size),
                    (c1 ^ c3) & allowed_edges(cells_at, 2u, y1, z, w, size));
        word.cells &= present_cells(cells_at, y, z, w, size);
    }
    word.open = word.own_first = 0u;
#ifdef SURFACE_OPEN
    word.open = word.cells & surface_open_cells(c0, s0, c1, s1, c2, s2, c3, s3);
    if (word.open != 0u)
        word.own_first = quads_at(part_of_scratch(args.chunks_at)).v[listed.row >> CHUNK_LOG2].x +
                         LOAD_U32(part_of_scratch(args.own_rows_at), listed.row) +
                         LOAD_U32(part_of_scratch(args.own_at), listed.row * words + w);
#endif
    word.cells = listed.exists ? word.cells : 0u;
    reconverge();
    return word;
}

/* Place in stage of counter i of a cell, rotated so that its counters are in different banks. */
uint counter_at(uint cell, uint i)
{
    return stage_first + i * SUBGROUP + (cell + 4u * i) % SUBGROUP;
}

/* Computes the counters of the cell at a bit of lane owner's word. Returns the cell's case. mesh:
 * receives the mesh of an open cell; has_open: the subgroup has open cells. */
uint make_counters(active_word word, uint number, uint owner, uint bit, bool is_missing,
                   bool has_open, out open_mesh mesh)
{
    uvec4 c;
    uint nexts = word.rows.n0 | word.rows.n1 << 1 | word.rows.n2 << 2 | word.rows.n3 << 3;
    nexts = subgroupShuffle(nexts, owner);
    c[0] = subgroupShuffle(word.rows.c0, owner);
    c[1] = subgroupShuffle(word.rows.c1, owner);
    c[2] = subgroupShuffle(word.rows.c2, owner);
    c[3] = subgroupShuffle(word.rows.c3, owner);
    uint index = case_of(c, nexts, bit);
    uint edges[8];
    if (has(SURFACE_NAN | SURFACE_MASK) && is_missing) {
        [[unroll]] for (uint i = 0u; i < 8u; i++)
            edges[i] = subgroupShuffle(word.edges[i], owner);
    } else {
        /* Without the next word, the last column's x-edge may be wrong. No counter counts it. */
        [[unroll]] for (uint i = 0u; i < 4u; i++)
            edges[i] = c[i] ^ c[i] >> 1;
        edges[4] = c[0] ^ c[1];
        edges[5] = c[2] ^ c[3];
        edges[6] = c[0] ^ c[2];
        edges[7] = c[1] ^ c[3];
    }
    uint below = low_bits(bit);
    [[unroll]] for (uint i = 0u; i < 8u; i++)
        stage[counter_at(lane, i)] =
            subgroupShuffle(word.first[i], owner) + popcount32(edges[i] & below);
    mesh = no_mesh;
#ifdef SURFACE_OPEN
    if (!has_open)
        return index;
    uint open = subgroupShuffle(word.open, owner), first = subgroupShuffle(word.own_first, owner);
    number = subgroupShuffle(number, owner);
    if ((open >> bit & 1u) != 0u)
        mesh = mesh_of(index, number, bit);
    if (mesh.own != 0u) {
        for (open &= below; open != 0u; open &= open - 1u) {
            uint other = uint(findLSB(open));
            first += mesh_of(case_of(c, nexts, other), number, other).own;
        }
        stage[counter_at(lane, 8u)] = first;
    }
    reconverge();
#endif
    return index;
}

/* Widens three corners of four bits to CORNER_BITS each. */
uint widened(uint three)
{
    return CORNER_BITS == 4u ? three
                             : (three & 0xfu) | (three & 0xf0u) << 1 | (three & 0xf00u) << 2;
}

#ifdef SURFACE_OPEN
uint open_corners(uint triangle)
{
    return LOAD_U32(args.tables, SURFACE_OPEN_CORNERS + triangle / 2u) >> (16u * (triangle & 1u)) &
           0x7fffu;
}
#endif

/* Returns the vertex number of a corner. line: the cell's lane, from bit 8 on the word's, from bit
 * 16 on the corners. */
uint vertex_of(uint line, uint corner)
{
    if (has(SURFACE_FLIP))
        corner = corner == 0u ? 0u : 3u - corner;
    uint code = line >> (16u + CORNER_BITS * corner);
#ifdef SURFACE_OPEN
    if ((code & 16u) != 0u)
        return stage[counter_at(line, 8u)] + (code & 15u);
#endif
    return stage[counter_at(line, code & 7u)] + (code >> 3 & 1u);
}

/* Stores index i. vertex_number: its low 32 bits. The vertices of the next layer are less than 2^32
 * past chunk_first, so the difference restores the high bits. */
void store_index(uvec2 place, uint i, uint vertex_number, uvec2 chunk_first)
{
    if (has(SURFACE_WIDE))
        store64(address_add(place, i << 3, 0u),
                add64(chunk_first, uvec2(vertex_number - chunk_first.x, 0u)));
    else
        words_at(place).v[i] = vertex_number;
}

/* Writes a triangle's 16-bit indices, at a multiple of 2: two that share a word, and one that
 * shares its word with another triangle. */
void store_narrow(uvec2 at, uint line)
{
    uint a = vertex_of(line, 0u), b = vertex_of(line, 1u), c = vertex_of(line, 2u);
    bool fits = max(max(a, b), c) < SURFACE_NARROW_VERTICES;
    bool is_odd = (at.x & 2u) != 0u;
    uint pair = is_odd ? b | c << 16 : a | b << 16;
    word_at(address_add(at, is_odd ? 2u : 0u, 0u)).bits = fits ? pair : 0u;
    store_bits(address_add(at, is_odd ? 0u : 4u, 0u), 0xffffu, fits ? (is_odd ? a : c) : 0u);
}

/* Writes the cell of the lane's triangle, if it has one, at number. code: the lane of the cell's
 * word, from bit 8 on the cell's bit. All lanes must call this. */
void store_cell(listed_word listed, uint code, bool has_triangle, uvec2 number)
{
    uint owner = code & 0xffu, w = subgroupShuffle(listed.w, owner);
    uint y = subgroupShuffle(listed.place.y, owner), z = subgroupShuffle(listed.place.z, owner);
    uvec2 cell = number_at(volume_place(uvec3(32u * w + (code >> 8 & 0x1fu), y, z)));
    if (has_triangle && has(SURFACE_CELL_WIDE))
        store64(element_at(args.triangle_cells, number, 3u), cell);
    else if (has_triangle)
        store_word(element_at(args.triangle_cells, number, 2u), 0u, cell.x);
    reconverge();
}

void emit_triangles(listed_word listed, bool is_missing)
{
    active_word word = load_active(listed, is_missing);
    uvec4 before = quads_at(part_of_scratch(args.chunks_at)).v[listed.row >> CHUNK_LOG2];
    /* place: of the subgroup's triangle 0, extrapolated from the word's; room: the subgroup's
     * triangles that fit. Without segments all lanes have the same values, as their words are
     * consecutive in one chunk. */
    uint own_first = subgroupExclusiveAdd(listed.triangles);
    uint room = room_of(SURFACE_HEAD_ROOM + 2u, before.zw);
    room -= min(room, word.triangles_before);
    if (SEGMENTED != 0u)
        room = own_first + min(listed.triangles, room);
    uvec2 number = sub64(add64(before.zw, uvec2(word.triangles_before, 0u)), uvec2(own_first, 0u));
    uvec2 place = element_at(args.indices, add64(number, add64(number, number)),
                             has(SURFACE_WIDE) ? 3u : has(SURFACE_NARROW) ? 1u : 2u);
    uvec2 vertices_before = before.xy;
    if (SEGMENTED == 0u) {
        room = subgroupShuffle(room, 0u);
        place = shuffle64(place, 0u);
        vertices_before = shuffle64(vertices_before, 0u);
    }
    uvec2 table = address_of_word(args.head, SURFACE_HEAD_WORDS);
    bool has_open = COUNT_BITS > 3u && any_lane(word.open != 0u);

    uint at = subgroupExclusiveAdd(popcount32(word.cells)), left = word.cells;
    uint total = subgroupShuffle(at + popcount32(word.cells), SUBGROUP - 1u);
    uint first = 0u; /* triangles of earlier rounds */
    uint codes[2];   /* the lane's cells in ROUNDS rounds: the word's lane, from bit 8 on the bit */
    for (uint c0 = 0u; c0 < total; c0 += SUBGROUP) {
        uint round = c0 / SUBGROUP % ROUNDS;
        if (round == 0u) {
            while (left != 0u && at < c0 + ROUNDS * SUBGROUP) {
                stage[lines + at - c0] = lane | uint(findLSB(left)) << 8;
                left &= left - 1u;
                at++;
            }
            stage_barrier();
            [[unroll]] for (uint i = 0u; i < 2u; i++) {
                uint here = lines + 2u * i * SUBGROUP + lane;
                codes[i] = (stage[here] & 0xffffu) | stage[here + SUBGROUP] << 16;
            }
            stage_barrier();
        }
        /* Lanes without a cell repeat the first lane's cell. */
        uint code = (round < 2u ? codes[0] : codes[1]) >> (16u * (round & 1u));
        bool has_cell = c0 + lane < total;
        uint other_code = subgroupShuffle(code, 0u); /* outside ?:, so that all lanes take part */
        code = has_cell ? code : other_code;
        uint owner = code & 0xffu;
        open_mesh mesh;
        uvec4 corners =
            quads_at(table).v[make_counters(word, listed.row * words + listed.w, owner,
                                            code >> 8 & 0x1fu, is_missing, has_open, mesh)];
        uint triangles = mesh.triangles != 0u ? mesh.triangles : corners.w >> 16;
        triangles = has_cell ? triangles : 0u;
        uint line = 0u, all = 0u;
        [[unroll]] for (uint i = 0u; i < COUNT_BITS; i++) {
            if (i >= 3u && !has_open)
                continue;
            uvec4 ballot = subgroupBallot((triangles >> i & 1u) != 0u);
            line += subgroupBallotExclusiveBitCount(ballot) << i;
            all += subgroupBallotBitCount(ballot) << i;
        }
        for (uint begin = 0u; begin < all; begin += LANE_LINES * SUBGROUP) {
            uint end = min(all, begin + LANE_LINES * SUBGROUP);
            [[unroll]] for (uint i = 0u; i < 5u; i++)
                if (mesh.triangles == 0u && i < triangles && line + i - begin < end - begin)
                    stage[lines + line + i - begin] =
                        lane | owner << 8 |
                        widened(corners[i / 2u] >> (16u * (i & 1u)) & 0xfffu) << 16;
#ifdef SURFACE_OPEN
            for (uint i = 0u; has_open && has_cell && i < mesh.triangles; i++)
                if (line + i - begin < end - begin)
                    stage[lines + line + i - begin] =
                        lane | owner << 8 | open_corners(mesh.first + i) << 16;
            reconverge();
#endif
            stage_barrier();
            for (uint t0 = 0u; has(SURFACE_CELL_OF) && t0 < end - begin; t0 += SUBGROUP) {
                uint t = t0 + lane, entry = stage[lines + min(t, LANE_LINES * SUBGROUP - 1u)];
                uint cell_code = subgroupShuffle(code, entry & 0xffu), from = cell_code & 0xffu;
                uint word_room = SEGMENTED != 0u ? subgroupShuffle(room, from) : room;
                uvec2 base = SEGMENTED != 0u ? shuffle64(number, from) : shuffle64(number, 0u);
                bool has_triangle = t < end - begin && first + begin + t < word_room;
                store_cell(listed, cell_code, has_triangle,
                           add64(base, uvec2(first + begin + t, 0u)));
            }
            for (uint t0 = 0u; has(SURFACE_NARROW) && t0 < end - begin; t0 += SUBGROUP) {
                uint t = t0 + lane, entry = stage[lines + min(t, LANE_LINES * SUBGROUP - 1u)];
                uint from = SEGMENTED != 0u ? entry >> 8 & 0xffu : lane;
                uint word_room = subgroupShuffle(room, from);
                uvec2 word_place = shuffle64(place, from);
                if (t < end - begin && first + begin + t < word_room)
                    store_narrow(address_add(word_place, 6u * (first + begin + t), 0u), entry);
                reconverge();
            }
            /* A lane writes three indices of SUBGROUP triangles, adjacent lanes adjacent ones. */
            for (uint t0 = 0u; !has(SURFACE_NARROW) && t0 < end - begin; t0 += SUBGROUP) {
                [[unroll]] for (uint i = 0u; i < 3u; i++) {
                    uint k = i * SUBGROUP + lane, t = t0 + k / 3u;
                    uint entry = stage[lines + min(t, LANE_LINES * SUBGROUP - 1u)];
                    uint word_room = room;
                    uvec2 word_place = place, chunk_first = vertices_before;
                    if (SEGMENTED != 0u) {
                        uint from = entry >> 8 & 0xffu;
                        word_room = subgroupShuffle(room, from);
                        word_place = shuffle64(place, from);
                        chunk_first = shuffle64(vertices_before, from);
                    }
                    uint vertex_number = vertex_of(entry, k % 3u);
                    if (t < end - begin && first + begin + t < word_room)
                        store_index(word_place, 3u * (first + begin + t0) + k, vertex_number,
                                    chunk_first);
                    if (SEGMENTED != 0u)
                        reconverge();
                }
            }
            stage_barrier();
        }
        first += all;
    }
}

void main()
{
    listed_word word;
    if (!has_words(word))
        return;
    if (has(SURFACE_CELL_OF))
        slab = LOAD_U32(args.head, SURFACE_HEAD_SLAB);
    emit_triangles(word, has(SURFACE_NAN | SURFACE_MASK) &&
                             LOAD_U32(args.head, SURFACE_HEAD_MISSING) != 0u);
}
