/* Counts the vertices and triangles of rows with more words than lanes; a subgroup counts a row,
 * segment by segment. Writes the exclusive prefix sums of rows in the chunk and of words in the
 * segment, and lists active words. */
#include "surface_count.glsl"

const uint PASSES = CHUNK_ROWS * SUBGROUP / GROUP;

shared uint row_x[CHUNK_ROWS];
shared uint row_y[CHUNK_ROWS];
shared uint row_vertices[CHUNK_ROWS];
shared uint row_triangles[CHUNK_ROWS];
#ifdef SURFACE_OPEN
shared uint row_own[CHUNK_ROWS];
#endif
shared uint cell_count, beyond_count;
shared uint sums[2][SUBGROUPS_MAX];

/* Does what load_rows does, for a segment: a lane gets the next word's bit from the next lane. */
lane_rows load_segment(uvec2 bits, uint row, row_place place, uint w, uint words, uvec3 size,
                       bool exists)
{
    lane_rows rows;
    rows.y_step = place.y + 1u < size.y ? 1u : 0u;
    rows.z_step = place.z + 1u < size.z ? size.y : 0u;
    rows.c0 = rows.c1 = rows.c2 = rows.c3 = 0u;
    rows.n0 = rows.n1 = rows.n2 = rows.n3 = 0u;
    uint at = row * words + w;
    uint y_words = rows.y_step * words, z_words = rows.z_step * words;
    if (exists) {
        rows.c0 = words_at(bits).v[at];
        rows.c1 = words_at(bits).v[at + y_words];
        rows.c2 = words_at(bits).v[at + z_words];
        rows.c3 = words_at(bits).v[at + y_words + z_words];
    }
    /* After the row's last word this bit is masked. */
    uint next = (gl_SubgroupInvocationID + 1u) % SUBGROUP;
    rows.n0 = subgroupShuffle(rows.c0, next) & 1u;
    rows.n1 = subgroupShuffle(rows.c1, next) & 1u;
    rows.n2 = subgroupShuffle(rows.c2, next) & 1u;
    rows.n3 = subgroupShuffle(rows.c3, next) & 1u;
    if (exists && w + 1u < words && w % WIDTH == WIDTH - 1u) {
        rows.n0 = words_at(bits).v[at + 1u] & 1u;
        rows.n1 = words_at(bits).v[at + 1u + y_words] & 1u;
        rows.n2 = words_at(bits).v[at + 1u + z_words] & 1u;
        rows.n3 = words_at(bits).v[at + 1u + y_words + z_words] & 1u;
    }
    return rows;
}

/* Appends the active words among the lanes' words to the list. */
void list_words(uint row, uint w, bool is_active, uint triangles_before, uint triangles)
{
    uvec4 ballot = subgroupBallot(is_active);
    uint count = subgroupBallotBitCount(ballot), rank = subgroupBallotExclusiveBitCount(ballot);
    uint first = 0u;
    if (gl_SubgroupInvocationID == 0u && count != 0u)
        first = atomicAdd(words_at(args.states).v[SURFACE_STATE_ACTIVE], count);
    reconverge();
    first = subgroupShuffle(first, 0u) + rank;
    if (is_active)
        store64(address_of(part_of_scratch(args.list_at), first, 8u),
                uvec2(row * words + w, triangles_before | triangles << LISTED_BITS));
    reconverge();
}

/* Counts a row. Lane WIDTH - 1 has the sums, and writes them to shared memory. */
void count_row(uint chunk, uint local_row, bool is_missing)
{
    uint lane = gl_SubgroupInvocationID, last = WIDTH - 1u;
    uint row = (chunk << CHUNK_LOG2) + local_row;
    bool exists = row >= own_first && row < counted_end, is_own = exists && row < own_end;
    row_place place = place_of_row(exists ? row : 0u, args.size_y);
    counts total = no_counts();
    for (uint first = 0u; first < words; first += WIDTH) {
        uint w = first + lane;
        bool has_word = exists && w < words && lane < WIDTH;
        lane_rows rows = load_segment(args.bits, row, place, w, words, size, has_word);
        uvec4 before = uvec4(total.x, total.y, total.z, 0u);
        uint edges_before = 0u;
        uint any = rows.c0 | rows.c1 | rows.c2 | rows.c3 | rows.n0 | rows.n1 | rows.n2 | rows.n3;
        if (any_lane(any != 0u)) {
            counts n = no_counts();
            if (has_word)
                n = count_word(rows, place, w, is_missing);
            if (!is_own)
                n.triangles = n.cells = 0u;
            reconverge();
            /* The words before a segment's last one have less than 2^10 edges along an axis, 2^10
             * cells and 2^15 triangles. */
            edges_before = subgroupExclusiveAdd(n.x | n.y << 10 | n.z << 20);
            uint inner_before = subgroupExclusiveAdd(n.triangles | n.cells << 16);
            uint triangles_before =
                (inner_before & 0xffffu) + subgroupShuffle(total.triangles, last);
            bool is_active = is_own && has_word && (n.x | n.y | n.z | n.triangles) != 0u;
            list_words(row, w, is_active, triangles_before, n.triangles);
            /* Only the last lane has the right totals. */
            total.x += (edges_before & 0x3ffu) + n.x;
            total.y += (edges_before >> 10 & 0x3ffu) + n.y;
            total.z += (edges_before >> 20) + n.z;
            total.triangles += (inner_before & 0xffffu) + n.triangles;
            total.cells += (inner_before >> 16) + n.cells;
#ifdef SURFACE_OPEN
            uint own_before = subgroupExclusiveAdd(n.own);
            uint own_in_row = own_before + subgroupShuffle(total.own, last);
            if (has_word)
                words_at(part_of_scratch(args.own_at)).v[row * words + w] = own_in_row;
            total.own += own_before + n.own;
#endif
        }
        if (has_word)
            words_at(part_of_scratch(args.before_at)).v[row * words + w] = edges_before;
        if (lane == last && exists) {
            uint segments = (words + WIDTH - 1u) / WIDTH;
            quads_at(part_of_scratch(args.segments_at)).v[row * segments + first / WIDTH] = before;
        }
        reconverge();
    }
    uint vertices = total.x + total.y + total.z + total.own;
    if (lane == last) {
#ifdef SURFACE_OPEN
        row_own[local_row] = total.own;
#endif
        row_x[local_row] = total.x;
        row_y[local_row] = total.y;
        row_vertices[local_row] = vertices;
        row_triangles[local_row] = total.triangles;
        if (total.cells != 0u)
            atomicAdd(cell_count, total.cells);
        if (!is_own && vertices != 0u)
            atomicAdd(beyond_count, vertices);
    }
}

void main()
{
    uint chunk = group_index(), thread = gl_LocalInvocationID.x;
    if (chunk << CHUNK_LOG2 >= row_count)
        return;
    if (thread == 0u)
        cell_count = beyond_count = 0u;
    barrier();
    bool is_missing = find_missing();
    for (uint pass = 0u; pass < PASSES; pass++)
        count_row(chunk, pass * (GROUP / SUBGROUP) + subgroup_index(), is_missing);
    barrier();

    uint vertices = thread < CHUNK_ROWS ? row_vertices[thread] : 0u;
    uint triangles = thread < CHUNK_ROWS ? row_triangles[thread] : 0u;
    uint vertices_before = subgroupExclusiveAdd(vertices);
    uint triangles_before = subgroupExclusiveAdd(triangles);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
        sums[0][subgroup_index()] = vertices_before + vertices;
        sums[1][subgroup_index()] = triangles_before + triangles;
    }
    if (thread == 0u && beyond_count != 0u)
        atomicAdd(words_at(args.states).v[SURFACE_STATE_BEYOND], beyond_count);
    barrier();
    for (uint i = 0u; i < subgroup_index(); i++) {
        vertices_before += sums[0][i];
        triangles_before += sums[1][i];
    }
    uint row = (chunk << CHUNK_LOG2) + thread;
    if (thread < CHUNK_ROWS && row < row_count) {
        uint along_x = vertices_before + row_x[thread];
        quads_at(part_of_scratch(args.rows_at)).v[row] =
            uvec4(vertices_before, along_x, along_x + row_y[thread], triangles_before);
#ifdef SURFACE_OPEN
        words_at(part_of_scratch(args.own_rows_at)).v[row] =
            vertices_before + vertices - row_own[thread];
#endif
    }
    if (thread == CHUNK_ROWS - 1u)
        quads_at(part_of_scratch(args.chunks_at)).v[chunk] =
            uvec4(vertices_before + vertices, triangles_before + triangles, cell_count, 0u);
    if (chunk == 0u && thread == 0u)
        write_head();
}
