/* Counts the vertices and triangles of a chunk of rows, writes the exclusive prefix sums of rows
 * and words, and lists the active words. First finds the active words, which are few; then adjacent
 * lanes count one each. Writes nothing for other words, as they have no crossed edge, so no
 * triangle reads their numbers. */
#include "surface_count.glsl"

/* Words per load of a lane: 4 if the words per row are a multiple of 4, otherwise 1. */
layout(constant_id = 4) const uint LANE_WORDS = 1u;

const uint CHUNK_WORDS = CHUNK_ROWS * WIDTH; /* 256 to 2048 */
const uint PASS_WORDS = GROUP * LANE_WORDS;
const uint PASSES = (CHUNK_WORDS + PASS_WORDS - 1u) / PASS_WORDS; /* at most 8 words per lane */
const uint SUBGROUPS = GROUP / SUBGROUP;

/* Little shared memory, so that more workgroups are resident. */
shared uint active_words[CHUNK_WORDS]; /* numbers within the chunk */
shared uint active_first;              /* the chunk's first entry in the list */
/* Sums of a round: one count, or two of 16 bits. A round has at most 2^13 edges along an axis and
 * 40960 triangles; with open cells, 49152 vertices in these and more triangles. */
#ifdef SURFACE_OPEN
#define ROUND_SUMS 3u
#else
#define ROUND_SUMS 2u
#endif
shared uint sums[1u + ROUND_SUMS][SUBGROUPS_MAX];
/* The chunk's crossed edges along x, y and z, and triangles, before each row. */
shared uint row_x[CHUNK_ROWS];
shared uint row_y[CHUNK_ROWS];
shared uint row_z[CHUNK_ROWS];
shared uint row_triangles[CHUNK_ROWS];
#ifdef SURFACE_OPEN
shared uint row_own[CHUNK_ROWS];
#endif

/* The first of the lane's LANE_WORDS words of a pass. A subgroup's words are consecutive. */
uint word_of_pass(uint pass)
{
    return ((subgroup_index() * PASSES + pass) * SUBGROUP + gl_SubgroupInvocationID) * LANE_WORDS;
}

/* Returns a bit for each of the lane's words that may be active. */
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
                if (k < LANE_WORDS) /* bits past the row's end are 1 in all, 0 in any */
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

/* Compacts the chunk's active words. Returns their number, and that of words in own rows, which
 * come first. Own words get entries of the list, padded to a multiple of SUBGROUP, so that an
 * emitting subgroup has words of one chunk. */
uvec2 order_words(uint chunk, uint found)
{
    uint own_found = found;
    if (own_end < counted_end) {
        [[unroll]] for (uint pass = 0u; pass < 8u; pass++) {
            uint row = (chunk << CHUNK_LOG2) + word_of_pass(pass) / WIDTH;
            own_found &= pass < PASSES && row >= own_end
                             ? ~(low_bits(LANE_WORDS) << (LANE_WORDS * pass))
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
        uint through = subgroupInclusiveAdd(popcount32(here)),
             at = before + through - popcount32(here);
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

/* Counts the active words, and writes their exclusive prefix sums. */
uvec4 count_active(uint chunk, uint total, uint own, bool is_missing)
{
    uvec4 carry = uvec4(0u); /* edges along x, y, z and triangles of earlier rounds */
    uint cells = 0u, beyond = 0u;
    uint own_carry = 0u; /* vertices in open cells */
    for (uint first = 0u; first < total; first += GROUP) {
        uint i = first + gl_LocalInvocationID.x;
        bool exists = i < total;
        i = min(i, total - 1u);
        uint number = active_words[i], local_row = number / WIDTH, w = number % WIDTH;
        uint row = (chunk << CHUNK_LOG2) + local_row;
        bool is_own = i < own && exists;
        counts n = no_counts();
        if (first + subgroup_index() * SUBGROUP < total) {
            row_place place = place_of_row(row, args.size_y);
            n = count_word(load_rows(args.bits, row, place, w, words, size), place, w, is_missing);
        }
        n.x = exists ? n.x : 0u;
        n.y = exists ? n.y : 0u;
        n.z = exists ? n.z : 0u;
        n.triangles = is_own ? n.triangles : 0u;
        cells += is_own ? n.cells : 0u;
        n.own = exists ? n.own : 0u;
        beyond += exists && !is_own ? n.x + n.y + n.z + n.own : 0u;
        reconverge();

        uint through[ROUND_SUMS], rounds[ROUND_SUMS]; /* before the lane's word; of the round */
        through[0] = n.x | n.y << 16;
#ifdef SURFACE_OPEN
        through[1] = n.z | n.own << 16;
        through[2] = n.triangles;
#else
        through[1] = n.z | n.triangles << 16;
#endif
        [[unroll]] for (uint k = 0u; k < ROUND_SUMS; k++) {
            uint here = through[k];
            through[k] = subgroupExclusiveAdd(here);
            if (gl_SubgroupInvocationID == SUBGROUP - 1u)
                sums[1u + k][subgroup_index()] = through[k] + here;
            rounds[k] = 0u;
        }
        barrier();
        for (uint s = 0u; s < SUBGROUPS; s++)
            [[unroll]] for (uint k = 0u; k < ROUND_SUMS; k++) {
                through[k] += s < subgroup_index() ? sums[1u + k][s] : 0u;
                rounds[k] += sums[1u + k][s];
            }
        uvec4 before = carry + uvec4(through[0] & 0xffffu, through[0] >> 16, through[1] & 0xffffu,
                                     through[ROUND_SUMS - 1u] >> (ROUND_SUMS == 2u ? 16 : 0));
        carry += uvec4(rounds[0] & 0xffffu, rounds[0] >> 16, rounds[1] & 0xffffu,
                       rounds[ROUND_SUMS - 1u] >> (ROUND_SUMS == 2u ? 16 : 0));
        uint own_before = 0u;
#ifdef SURFACE_OPEN
        own_before = own_carry + (through[1] >> 16);
        own_carry += rounds[1] >> 16;
#endif
        bool begins = i == 0u || active_words[max(i, 1u) - 1u] / WIDTH != local_row;
        if (exists && begins) {
            row_x[local_row] = before.x;
            row_y[local_row] = before.y;
            row_z[local_row] = before.z;
            row_triangles[local_row] = before.w;
#ifdef SURFACE_OPEN
            row_own[local_row] = own_before;
#endif
        }
        barrier();

        uvec4 row_first = uvec4(row_x[local_row], row_y[local_row], row_z[local_row],
                                row_triangles[local_row]);
        uvec4 in_row = before - row_first;
        uint own_first_in_row = 0u;
#ifdef SURFACE_OPEN
        own_first_in_row = row_own[local_row];
        if (exists)
            words_at(part_of_scratch(args.own_at)).v[row * words + w] =
                own_before - own_first_in_row;
#endif
        if (exists)
            words_at(part_of_scratch(args.before_at)).v[row * words + w] =
                in_row.x | in_row.y << 10 | in_row.z << 20;
        if (is_own)
            store64(address_of(part_of_scratch(args.list_at), active_first + i, 8u),
                    uvec2(row * words + w, in_row.w | n.triangles << LISTED_BITS));
        bool ends = i + 1u == total || active_words[min(i + 1u, total - 1u)] / WIDTH != local_row;
        if (exists && ends) {
            uint along_x = row_first.x + row_first.y + row_first.z + own_first_in_row;
            uint along_y = along_x + in_row.x + n.x, along_z = along_y + in_row.y + n.y;
            quads_at(part_of_scratch(args.rows_at)).v[row] =
                uvec4(along_x, along_y, along_z, row_first.w);
#ifdef SURFACE_OPEN
            words_at(part_of_scratch(args.own_rows_at)).v[row] = along_z + in_row.z + n.z;
#endif
        }
    }
    reconverge();
    cells = subgroupAdd(cells);
    beyond = own_end < counted_end ? subgroupAdd(beyond) : 0u;
    barrier(); /* the sums of the last round have been read */
    if (gl_SubgroupInvocationID == 0u) {
        sums[1][subgroup_index()] = cells;
        if (beyond != 0u)
            atomicAdd(words_at(args.states).v[SURFACE_STATE_BEYOND], beyond);
    }
    barrier();
    cells = 0u;
    for (uint s = 0u; s < SUBGROUPS; s++)
        cells += sums[1][s];
    return uvec4(carry.x + carry.y + carry.z + own_carry, carry.w, cells, 0u);
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
