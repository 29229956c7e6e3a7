/* Counts the vertices and triangles of a chunk of rows, writes the exclusive prefixes of rows and
 * words, and lists active words. First it finds the active words, which are few; then adjacent
 * lanes count one each. It writes nothing for the other words: they have no crossed edges, so no
 * triangle reads their numbers. */
#include "surface_count.glsl"

/* Words of a lane's load: 4 where the words of a row are a multiple of 4, else 1. */
layout(constant_id = 4) const uint LANE_WORDS = 1u;

const uint CHUNK_WORDS = CHUNK_ROWS * WIDTH; /* 256 to 2048 */
const uint PASS_WORDS = GROUP * LANE_WORDS;
const uint PASSES = (CHUNK_WORDS + PASS_WORDS - 1u) / PASS_WORDS; /* at most 8 words a lane */
const uint SUBGROUPS = GROUP / SUBGROUP;

/* Little shared memory, so that more workgroups are resident. */
shared uint active_words[CHUNK_WORDS]; /* numbers in the chunk */
shared uint active_first;              /* the chunk's first entry of the list */
shared uint sums[3][SUBGROUPS_MAX];
/* Crossed edges of the chunk along x, y and z, and triangles, before a row. */
shared uint row_x[CHUNK_ROWS];
shared uint row_y[CHUNK_ROWS];
shared uint row_z[CHUNK_ROWS];
shared uint row_triangles[CHUNK_ROWS];

/* The first of the lane's LANE_WORDS words of a pass; a subgroup's words are consecutive. */
uint word_of_pass(uint pass)
{
    return ((subgroup_index() * PASSES + pass) * SUBGROUP + gl_SubgroupInvocationID) * LANE_WORDS;
}

/* A bit for each of the lane's words: may it be active? */
uint find_active(uint chunk)
{
    uvec4 any[8], all[8];
    [[unroll]] for (uint pass = 0u; pass < 8u; pass++) {
        any[pass] = all[pass] = uvec4(0u);
        if (pass >= PASSES)
            continue;
        uint number = word_of_pass(pass), w = number % WIDTH;
        uint row = (chunk << CHUNK_LOG2) + number / WIDTH;
        if (number < CHUNK_WORDS && row >= own_first && row < counted_end && w < words) {
            uint y = row % args.size_y, at = row * words + w;
            uint y_words = y + 1u < args.size_y ? words : 0u;
            uint z_words = row + args.size_y < row_count ? args.size_y * words : 0u;
            uvec4 c0, c1, c2, c3;
            if (LANE_WORDS == 4u) {
                c0 = quads_at(args.bits).v[at / 4u];
                c1 = quads_at(args.bits).v[(at + y_words) / 4u];
                c2 = quads_at(args.bits).v[(at + z_words) / 4u];
                c3 = quads_at(args.bits).v[(at + z_words + y_words) / 4u];
            } else {
                c0 = uvec4(words_at(args.bits).v[at]);
                c1 = uvec4(words_at(args.bits).v[at + y_words]);
                c2 = uvec4(words_at(args.bits).v[at + z_words]);
                c3 = uvec4(words_at(args.bits).v[at + z_words + y_words]);
            }
            any[pass] = c0 | c1 | c2 | c3;
            all[pass] = c0 & c1 & c2 & c3;
            [[unroll]] for (uint k = 0u; k < 4u; k++)
                if (k < LANE_WORDS) /* bits past the row's end count as 1 here, and are 0 in any */
                    all[pass][k] |= ~low_bits(args.size_x - 32u * (w + k));
        }
    }
    reconverge();
    uint found = 0u;
    [[unroll]] for (uint pass = 0u; pass < 8u; pass++) {
        if (pass >= PASSES)
            continue;
        /* Bits 0 and 1: any and all of the next word's first column; 2 past the row's end. */
        uint w = word_of_pass(pass) % WIDTH;
        uint next = subgroupShuffle((any[pass].x & 1u) | (all[pass].x & 1u) << 1,
                                    (gl_SubgroupInvocationID + 1u) % SUBGROUP);
        [[unroll]] for (uint k = 3u; k < 4u; k--) {
            if (k >= LANE_WORDS)
                continue;
            next = w + k + 1u < words ? next : 2u;
            bool is_clear = any[pass][k] == 0u && (next & 1u) == 0u;
            bool is_full = all[pass][k] == 0xffffffffu && (next & 2u) != 0u;
            found |= is_clear || is_full ? 0u : 1u << (LANE_WORDS * pass + k);
            next = (any[pass][k] & 1u) | (all[pass][k] & 1u) << 1;
        }
    }
    return found;
}

/* Compacts the chunk's active words. Returns their number and that of own rows, which come first.
 * The latter get entries of the list, filled up to a multiple of SUBGROUP: an emitting subgroup has
 * words of one chunk. */
uvec2 order_words(uint chunk, uint found)
{
    uint own_found = found;
    if (own_end < counted_end) {
        [[unroll]] for (uint pass = 0u; pass < 8u; pass++) {
            uint row = (chunk << CHUNK_LOG2) + word_of_pass(pass) / WIDTH;
            own_found &= pass < PASSES && row >= own_end ? ~(low_bits(LANE_WORDS) << (LANE_WORDS * pass))
                                                         : 0xffffffffu;
        }
    }
    uint count = subgroupAdd(popcount32(found) | popcount32(own_found) << 16);
    if (gl_SubgroupInvocationID == 0u)
        sums[0][subgroup_index()] = count;
    barrier();
    uint before = 0u, total = 0u;
    for (uint i = 0u; i < SUBGROUPS; i++) {
        before += i < subgroup_index() ? sums[0][i] : 0u;
        total += sums[0][i];
    }
    before &= 0xffffu;
    [[unroll]] for (uint pass = 0u; pass < 8u; pass++) {
        if (pass >= PASSES)
            continue;
        uint here = found >> (LANE_WORDS * pass) & low_bits(LANE_WORDS);
        uint through = subgroupInclusiveAdd(popcount32(here)), at = before + through - popcount32(here);
        [[unroll]] for (uint k = 0u; k < 4u; k++)
            if ((here >> k & 1u) != 0u)
                active_words[at + popcount32(here & low_bits(k))] = word_of_pass(pass) + k;
        before += subgroupShuffle(through, SUBGROUP - 1u);
    }
    uint own = total >> 16, listed = (own + SUBGROUP - 1u) / SUBGROUP * SUBGROUP;
    uint thread = gl_LocalInvocationID.x;
    if (thread == 0u && own != 0u)
        active_first = atomicAdd(words_at(args.states).v[SURFACE_STATE_ACTIVE], listed);
    barrier();
    if (thread < listed - own)
        store64(address_of(part_of_scratch(args.list_at), active_first + own + thread, 8u),
                uvec2(SURFACE_NO_WORD, 0u));
    return uvec2(total & 0xffffu, own);
}

/* Counts the active words and writes their exclusive prefixes. */
uvec4 count_active(uint chunk, uint total, uint own, bool is_missing)
{
    uvec4 carry = uvec4(0u); /* edges along x, y, z and triangles of the rounds before */
    uint cells = 0u, beyond = 0u;
    for (uint first = 0u; first < total; first += GROUP) {
        uint i = first + gl_LocalInvocationID.x;
        bool exists = i < total;
        i = min(i, total - 1u);
        uint number = active_words[i], local_row = number / WIDTH, w = number % WIDTH;
        uint row = (chunk << CHUNK_LOG2) + local_row;
        bool is_own = i < own && exists;
        counts n;
        n.x = n.y = n.z = n.triangles = n.cells = 0u;
        if (first + subgroup_index() * SUBGROUP < total) {
            row_place place = place_of_row(row, args.size_y);
            n = count_word(load_rows(args.bits, row, place, w, words, size), place, w, is_missing);
        }
        n.x = exists ? n.x : 0u;
        n.y = exists ? n.y : 0u;
        n.z = exists ? n.z : 0u;
        n.triangles = is_own ? n.triangles : 0u;
        cells += is_own ? n.cells : 0u;
        beyond += exists && !is_own ? n.x + n.y + n.z : 0u;
        reconverge();

        /* 16 bits suffice: a round has at most 2^13 edges along an axis and 40960 triangles. */
        uint xy = n.x | n.y << 16, zt = n.z | n.triangles << 16;
        uint xy_before = subgroupExclusiveAdd(xy), zt_before = subgroupExclusiveAdd(zt);
        if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
            sums[1][subgroup_index()] = xy_before + xy;
            sums[2][subgroup_index()] = zt_before + zt;
        }
        barrier();
        uint xy_total = 0u, zt_total = 0u;
        for (uint s = 0u; s < SUBGROUPS; s++) {
            xy_before += s < subgroup_index() ? sums[1][s] : 0u;
            zt_before += s < subgroup_index() ? sums[2][s] : 0u;
            xy_total += sums[1][s];
            zt_total += sums[2][s];
        }
        uvec4 before = carry + uvec4(xy_before & 0xffffu, xy_before >> 16, zt_before & 0xffffu,
                                     zt_before >> 16);
        carry += uvec4(xy_total & 0xffffu, xy_total >> 16, zt_total & 0xffffu, zt_total >> 16);
        bool begins = i == 0u || active_words[max(i, 1u) - 1u] / WIDTH != local_row;
        if (exists && begins) {
            row_x[local_row] = before.x;
            row_y[local_row] = before.y;
            row_z[local_row] = before.z;
            row_triangles[local_row] = before.w;
        }
        barrier();

        uvec4 row_first = uvec4(row_x[local_row], row_y[local_row], row_z[local_row],
                                row_triangles[local_row]);
        uvec4 in_row = before - row_first;
        if (exists)
            words_at(part_of_scratch(args.before_at)).v[row * words + w] =
                in_row.x | in_row.y << 10 | in_row.z << 20;
        if (is_own)
            store64(address_of(part_of_scratch(args.list_at), active_first + i, 8u),
                    uvec2(row * words + w, in_row.w | n.triangles << 24));
        bool ends = i + 1u == total || active_words[min(i + 1u, total - 1u)] / WIDTH != local_row;
        if (exists && ends) {
            uint along_x = row_first.x + row_first.y + row_first.z;
            uint along_y = along_x + in_row.x + n.x;
            quads_at(part_of_scratch(args.rows_at)).v[row] =
                uvec4(along_x, along_y, along_y + in_row.y + n.y, row_first.w);
        }
    }
    reconverge();
    cells = subgroupAdd(cells);
    beyond = own_end < counted_end ? subgroupAdd(beyond) : 0u;
    barrier(); /* sums of the last round have been read */
    if (gl_SubgroupInvocationID == 0u) {
        sums[1][subgroup_index()] = cells;
        if (beyond != 0u)
            atomicAdd(words_at(args.states).v[SURFACE_STATE_BEYOND], beyond);
    }
    barrier();
    cells = 0u;
    for (uint s = 0u; s < SUBGROUPS; s++)
        cells += sums[1][s];
    return uvec4(carry.x + carry.y + carry.z, carry.w, cells, 0u);
}

void main()
{
    uint chunk = group_index();
    if (chunk << CHUNK_LOG2 >= row_count)
        return;
    uvec2 words_found = order_words(chunk, find_active(chunk));
    uvec4 sum = uvec4(0u);
    if (words_found.x != 0u)
        sum = count_active(chunk, words_found.x, words_found.y, find_missing());
    if (gl_LocalInvocationID.x == 0u)
        quads_at(part_of_scratch(args.chunks_at)).v[chunk] = sum;
    if (chunk == 0u && gl_LocalInvocationID.x == 0u)
        write_head();
}
