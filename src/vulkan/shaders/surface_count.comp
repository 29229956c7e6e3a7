/* Counts vertices and triangles of rows, places rows within their chunk and words within their row, and
 * lists active words. */
#include "surface_rows.glsl"

ARGS_USE(surface_count_args)

const uint PASS_TILES = GROUP / SUBGROUP;
const uint PASSES = (CHUNK_TILES + PASS_TILES - 1u) / PASS_TILES;

const uint CHUNK_WORDS = SEGMENTED != 0u ? 1u : CHUNK_ROWS * WIDTH; /* at most 2048 */

/* Few, for the more workgroups at once. */
shared uint row_x[CHUNK_ROWS]; /* with the mark of the table of words */
shared uint row_y[CHUNK_ROWS];
shared uint row_vertices[CHUNK_ROWS];
shared uint row_triangles[CHUNK_ROWS];
/* Active words, as the tiles come: lane of the chunk (11 bits), triangles of the row before it (13), its
 * own (8). Of a tile: where its words begin, and how many (8 bits). */
shared uint active_words[CHUNK_WORDS];
shared uint tile_words[64];
shared uint tile_places[64]; /* in the chunk's list */
shared uint active_count, active_first, cell_count, beyond_count;
shared uint sums[3][SUBGROUPS_MAX];

uvec2 part_of_scratch(uint number)
{
    return address_add(args.head, number << 8, number >> 24);
}

uvec3 size = uvec3(args.size_x, args.size_y, args.size_z);
uint words = (args.size_x + 31u) / 32u;
uint row_count = args.size_y * args.size_z;
/* The slab's own rows, and the end of those that are counted. */
uint own_first = args.size_y * SURFACE_SLAB_BEFORE(args.slab);
uint own_end = row_count - args.size_y * SURFACE_SLAB_AFTER(args.slab);
uint counted_end = min(own_end + args.size_y, row_count);

struct counts {
    uint x, y, z, triangles, cells;
};

counts count_word(lane_rows rows, row_place place, uint w, bool is_missing)
{
    counts n;
    uint x_mask = x_mask_of(w, size.x), mask = cells_of(rows, x_mask);
    uint s0 = surface_step_x(rows.c0, rows.n0), s1 = surface_step_x(rows.c1, rows.n1);
    uint s2 = surface_step_x(rows.c2, rows.n2), s3 = surface_step_x(rows.c3, rows.n3);
    uint x = (rows.c0 ^ s0) & x_mask, y = rows.c0 ^ rows.c1, z = rows.c0 ^ rows.c2;
    if (is_missing) {
        mask &= present_cells(args.cells, place.y, place.z, w, size);
        x &= allowed_edges(args.cells, 0u, place.y, place.z, w, size);
        y &= allowed_edges(args.cells, 1u, place.y, place.z, w, size);
        z &= allowed_edges(args.cells, 2u, place.y, place.z, w, size);
    }
    n.x = popcount32(x);
    n.y = popcount32(y);
    n.z = popcount32(z);
    uint lively = surface_active(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3) & mask;
    n.cells = popcount32(lively);
    n.triangles = surface_triangles(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3, lively);
    return n;
}

/* Lists the active ones among the lanes' words: in shared memory or, where a row may have more of them
 * than that holds, in the list itself. */
void list_words(uint chunk, uint tile, uint local_row, uint w, bool is_active, uint triangles_before,
                uint triangles)
{
    uint lane = gl_SubgroupInvocationID;
    uvec4 ballot = subgroupBallot(is_active);
    uint count = subgroupBallotBitCount(ballot), rank = subgroupBallotExclusiveBitCount(ballot);
    uint first = 0u;
    if (lane == 0u && count != 0u) {
        if (SEGMENTED != 0u)
            first = atomicAdd(words_at(args.states).v[SURFACE_STATE_ACTIVE], count);
        else
            first = atomicAdd(active_count, count);
    }
    if (lane == 0u && SEGMENTED == 0u)
        tile_words[tile] = first << 8 | count;
    subgroupBarrier(); /* lanes that branched must be together again */
    first = subgroupShuffle(first, 0u) + rank;
    if (is_active && SEGMENTED != 0u) {
        uvec2 entry = address_of(part_of_scratch(args.list_at), first, 8u);
        store64(entry, uvec2(((chunk << CHUNK_LOG2) + local_row) * words + w,
                             triangles_before | triangles << 24));
    } else if (is_active) {
        active_words[first] = local_row * WIDTH + w | triangles_before << 11 | triangles << 24;
    }
    subgroupBarrier();
}

/* One row of the tile for each WIDTH lanes; its counts, which its last lane has, go to shared memory. */
void count_tile(uint chunk, uint tile, bool is_missing)
{
    uint lane = gl_SubgroupInvocationID, last = lane | (WIDTH - 1u);
    uint local_row = tile * TILE_ROWS + lane / WIDTH;
    uint row = (chunk << CHUNK_LOG2) + local_row;
    bool in_tile = lane / WIDTH < TILE_ROWS && tile < CHUNK_TILES;
    bool exists = in_tile && row >= own_first && row < counted_end, is_own = exists && row < own_end;
    row_place place = place_of_row(exists ? row : 0u, args.size_y);
    counts total;
    total.x = total.y = total.z = total.triangles = total.cells = 0u;
    uint in_table = 0u;
    for (uint first = 0u; first < words; first += WIDTH) {
        uint w = first + lane % WIDTH;
        bool has_word = exists && w < words;
        lane_rows rows = load_rows(args.bits, row, place, w, words, size, has_word);
        uint any = rows.c0 | rows.c1 | rows.c2 | rows.c3 | rows.n0 | rows.n1 | rows.n2 | rows.n3;
        uint all = rows.c0 & rows.c1 & rows.c2 & rows.c3;
        /* Nothing is crossed where all that the subgroup sees is equal. */
        bool is_quiet = all_lanes(any == 0u) ||
                        (SEGMENTED == 0u && WIDTH * 32u == args.size_x &&
                         all_lanes(all == 0xffffffffu));
        uvec4 before = uvec4(total.x, total.y, total.z, 0u);
        uint edges_before = 0u;
        if (!is_quiet) {
            counts n;
            n.x = n.y = n.z = n.triangles = n.cells = 0u;
            if (has_word)
                n = count_word(rows, place, w, is_missing);
            if (!is_own)
                n.triangles = n.cells = 0u;
            /* Before a word of a row's lanes are less than 2^10 edges along an axis, less than 2^10
             * cells and 2^13 triangles. */
            edges_before = before_in_row(n.x | n.y << 10 | n.z << 20);
            uint inner_before = before_in_row(n.triangles | n.cells << 16);
            uint triangles_before = inner_before & 0xffffu;
            if (SEGMENTED != 0u)
                triangles_before += subgroupShuffle(total.triangles, last);
            bool is_active = is_own && has_word && (n.x | n.y | n.z | n.triangles) != 0u;
            list_words(chunk, tile, local_row, w, is_active, triangles_before, n.triangles);
            /* Right in the last lane. */
            total.x += (edges_before & 0x3ffu) + n.x;
            total.y += (edges_before >> 10 & 0x3ffu) + n.y;
            total.z += (edges_before >> 20) + n.z;
            total.triangles += (inner_before & 0xffffu) + n.triangles;
            total.cells += (inner_before >> 16) + n.cells;
            in_table = 0x80000000u;
        }
        if (has_word && (SEGMENTED != 0u || !is_quiet))
            words_at(part_of_scratch(args.before_at)).v[row * words + w] = edges_before;
        if (SEGMENTED != 0u && lane == last && exists) {
            uint segments = (words + WIDTH - 1u) / WIDTH;
            quads_at(part_of_scratch(args.segments_at)).v[row * segments + first / WIDTH] = before;
        }
    }
    if (SEGMENTED != 0u)
        in_table = 0x80000000u;
    if (SEGMENTED == 0u && in_table == 0u && lane == 0u && tile < CHUNK_TILES)
        tile_words[tile] = 0u;
    uint vertices = total.x + total.y + total.z;
    if (in_tile && lane == last) {
        row_x[local_row] = total.x | in_table;
        row_y[local_row] = total.y;
        row_vertices[local_row] = vertices;
        row_triangles[local_row] = total.triangles;
        if (total.cells != 0u)
            atomicAdd(cell_count, total.cells);
        if (!is_own && vertices != 0u)
            atomicAdd(beyond_count, vertices);
    }
}

/* Writes the chunk's list, row after row, so that most of what a subgroup emits lies side by side. */
void write_list(uint chunk)
{
    uint first_word = (chunk << CHUNK_LOG2) * words, lane = gl_SubgroupInvocationID;
    for (uint tile = subgroup_index(); tile < CHUNK_TILES; tile += PASS_TILES) {
        uint first = tile_words[tile] >> 8, count = tile_words[tile] & 0xffu;
        if (lane >= count)
            continue;
        uint entry = active_words[first + lane], place = entry & 0x7ffu;
        uint word = first_word + place / WIDTH * words + place % WIDTH;
        store64(address_of(part_of_scratch(args.list_at), active_first + tile_places[tile] + lane, 8u),
                uvec2(word, (entry >> 11 & 0x1fffu) | (entry >> 24) << 24));
    }
}

void write_place()
{
    float place[12] = float[12](args.place0, args.place1, args.place2, args.place3, args.place4,
                                args.place5, args.place6, args.place7, args.place8, args.place9,
                                args.place10, args.place11);
    for (uint i = 0u; i < 12u; i++)
        store_word(args.head, SURFACE_HEAD_PLACE + i, floatBitsToUint(place[i]));
    store_word(args.head, SURFACE_HEAD_SLAB, args.slab);
    store_word(args.head, SURFACE_HEAD_BEFORE, args.before_at);
}

void main()
{
    uint chunk = group_index(), thread = gl_LocalInvocationID.x;
    if (chunk << CHUNK_LOG2 >= row_count)
        return;
    if (thread == 0u)
        active_count = cell_count = beyond_count = 0u;
    barrier();
    bool is_missing = has(SURFACE_MASK);
    if (has(SURFACE_NAN) && !is_missing)
        is_missing = LOAD_U32(args.states, SURFACE_STATE_NAN) != 0u;
    for (uint pass = 0u; pass < PASSES; pass++)
        count_tile(chunk, pass * PASS_TILES + subgroup_index(), is_missing);
    barrier();

    uint vertices = thread < CHUNK_ROWS ? row_vertices[thread] : 0u;
    uint triangles = thread < CHUNK_ROWS ? row_triangles[thread] : 0u;
    uint vertices_before = subgroupExclusiveAdd(vertices);
    uint triangles_before = subgroupExclusiveAdd(triangles);
    uint listed = SEGMENTED == 0u && thread < CHUNK_TILES ? tile_words[min(thread, 63u)] & 0xffu : 0u;
    uint listed_before = subgroupExclusiveAdd(listed);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
        sums[2][subgroup_index()] = listed_before + listed;
        sums[0][subgroup_index()] = vertices_before + vertices;
        sums[1][subgroup_index()] = triangles_before + triangles;
    }
    if (thread == 0u && active_count != 0u)
        active_first = atomicAdd(words_at(args.states).v[SURFACE_STATE_ACTIVE], active_count);
    if (thread == 0u && beyond_count != 0u)
        atomicAdd(words_at(args.states).v[SURFACE_STATE_BEYOND], beyond_count);
    barrier();
    for (uint i = 0u; i < subgroup_index(); i++) {
        vertices_before += sums[0][i];
        triangles_before += sums[1][i];
        listed_before += sums[2][i];
    }
    if (thread < CHUNK_TILES)
        tile_places[min(thread, 63u)] = listed_before;
    barrier();
    uint row = (chunk << CHUNK_LOG2) + thread;
    if (thread < CHUNK_ROWS && row < row_count)
        quads_at(part_of_scratch(args.rows_at)).v[row] =
            uvec4(vertices_before, row_x[thread], row_y[thread], triangles_before);
    if (thread == CHUNK_ROWS - 1u)
        quads_at(part_of_scratch(args.chunks_at)).v[chunk] =
            uvec4(vertices_before + vertices, triangles_before + triangles, cell_count, 0u);
    if (SEGMENTED == 0u && active_count != 0u)
        write_list(chunk);
    if (chunk == 0u && thread == 0u)
        write_place();
}
