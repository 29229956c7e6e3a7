/* Counts vertices and triangles of rows, places rows within their chunk, and lists active tiles. */
#include "surface_rows.glsl"

ARGS_USE(surface_count_args)

const uint PASS_TILES = GROUP / SUBGROUP;
const uint PASSES = (CHUNK_TILES + PASS_TILES - 1u) / PASS_TILES;

shared uint row_x[256];
shared uint row_y[256];
shared uint row_vertices[256];
shared uint row_triangles[256];
shared uint tiles[64];
shared uint tile_count, tile_first, cell_count, beyond_count;
shared uint sums[2][SUBGROUPS_MAX];

uvec3 size = uvec3(args.size_x, args.size_y, args.size_z);
uint words = (args.size_x + 31u) / 32u;
uint row_count = args.size_y * args.size_z;
/* The slab's own rows, and the end of those that are counted. */
uint own_first = args.size_y * SURFACE_SLAB_BEFORE(args.slab);
uint own_end = row_count - args.size_y * SURFACE_SLAB_AFTER(args.slab);
uint counted_end = min(own_end + args.size_y, row_count);

/* The sum over the lanes of a row, for each lane. */
uint row_sum(uint value)
{
    [[unroll]] for (uint step = 1u; step < WIDTH; step <<= 1)
        value += subgroupShuffleXor(value, step);
    return value;
}

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

/* One row of the tile for each WIDTH lanes; its counts go to shared memory. */
void count_tile(uint chunk, uint tile, bool is_missing)
{
    uint lane = gl_SubgroupInvocationID;
    uint local_row = tile * TILE_ROWS + lane / WIDTH;
    uint row = (chunk << CHUNK_LOG2) + local_row;
    bool in_tile = lane / WIDTH < TILE_ROWS && tile < CHUNK_TILES;
    bool exists = in_tile && row >= own_first && row < counted_end, is_own = exists && row < own_end;
    row_place place = place_of_row(exists ? row : 0u, args.size_y);
    counts total;
    total.x = total.y = total.z = total.triangles = total.cells = 0u;
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
        uvec4 before = uvec4(total.x, total.y, total.z, total.triangles);
        if (!is_quiet) {
            counts n;
            n.x = n.y = n.z = n.triangles = n.cells = 0u;
            if (has_word)
                n = count_word(rows, place, w, is_missing);
            if (!is_own)
                n.triangles = n.cells = 0u;
            /* A row's lanes count at most 2^10 edges or cells, 5 * 2^10 triangles. */
            uint xy = row_sum(n.x | n.y << 16), zc = row_sum(n.z | n.cells << 16);
            total.x += xy & 0xffffu;
            total.y += xy >> 16;
            total.z += zc & 0xffffu;
            total.cells += zc >> 16;
            total.triangles += row_sum(n.triangles);
        }
        if (SEGMENTED != 0u && lane % WIDTH == 0u && exists) {
            uint segments = (words + WIDTH - 1u) / WIDTH;
            quads_at(args.segments).v[row * segments + first / WIDTH] = before;
        }
    }
    uint vertices = total.x + total.y + total.z;
    if (in_tile && lane % WIDTH == 0u) {
        row_x[local_row] = total.x;
        row_y[local_row] = total.y;
        row_vertices[local_row] = vertices;
        row_triangles[local_row] = total.triangles;
        if (total.cells != 0u)
            atomicAdd(cell_count, total.cells);
        if (!is_own && vertices != 0u)
            atomicAdd(beyond_count, vertices);
    }
    bool is_active = any_lane(is_own && (vertices | total.triangles) != 0u);
    if (is_active && subgroupElect())
        tiles[atomicAdd(tile_count, 1u)] = chunk * CHUNK_TILES + tile;
}

void write_place()
{
    float place[12] = float[12](args.place0, args.place1, args.place2, args.place3, args.place4,
                                args.place5, args.place6, args.place7, args.place8, args.place9,
                                args.place10, args.place11);
    for (uint i = 0u; i < 12u; i++)
        store_word(args.head, SURFACE_HEAD_PLACE + i, floatBitsToUint(place[i]));
    store_word(args.head, SURFACE_HEAD_SLAB, args.slab);
}

void main()
{
    uint chunk = group_index(), thread = gl_LocalInvocationID.x;
    if (chunk << CHUNK_LOG2 >= row_count)
        return;
    if (thread == 0u)
        tile_count = cell_count = beyond_count = 0u;
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
    if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
        sums[0][subgroup_index()] = vertices_before + vertices;
        sums[1][subgroup_index()] = triangles_before + triangles;
    }
    if (thread == 0u && tile_count != 0u)
        tile_first = atomicAdd(words_at(args.states).v[SURFACE_STATE_TILES], tile_count);
    if (thread == 0u && beyond_count != 0u)
        atomicAdd(words_at(args.states).v[SURFACE_STATE_BEYOND], beyond_count);
    barrier();
    for (uint i = 0u; i < subgroup_index(); i++) {
        vertices_before += sums[0][i];
        triangles_before += sums[1][i];
    }
    uint row = (chunk << CHUNK_LOG2) + thread;
    if (thread < CHUNK_ROWS && row < row_count)
        quads_at(args.rows).v[row] =
            uvec4(vertices_before, row_x[thread], row_y[thread], triangles_before);
    if (thread == CHUNK_ROWS - 1u)
        quads_at(args.chunks).v[chunk] =
            uvec4(vertices_before + vertices, triangles_before + triangles, cell_count, 0u);
    if (thread < tile_count)
        store_word(args.list, tile_first + thread, tiles[thread]);
    if (chunk == 0u && thread == 0u)
        write_place();
}
