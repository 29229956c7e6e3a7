/* Exclusive prefix sums of the chunks' counts. A workgroup sums all chunks before its stretch, then
 * scans its stretch. So no workgroup waits for another. The work of the sums grows with the square
 * of the number of workgroups, which are few. The last workgroup writes totals, draw arguments and
 * the emitting dispatch. */
#include "surface.glsl"

ARGS_USE(surface_scan_args)

const uint ITEMS = 4u; /* chunks per invocation at a time */

shared uvec2 sums[3][SUBGROUPS_MAX];

/* Exclusive prefix sum of 64-bit values. The sums of the low word's halves do not overflow. */
uvec2 subgroup_before64(uvec2 value)
{
    uint low = subgroupExclusiveAdd(value.x & 0xffffu), mid = subgroupExclusiveAdd(value.x >> 16);
    uint high = subgroupExclusiveAdd(value.y);
    return add64(add64(uvec2(low, 0u), uvec2(mid << 16, mid >> 16)), uvec2(0u, high));
}

uvec2 times3(uvec2 n)
{
    return add64(n, add64(n, n));
}

/* Writes the draw arguments: those of the triangles in the buffer, at most 2^32 - 1 indices. */
void write_draw(uvec2 triangles)
{
    uvec2 room = uvec2(args.triangle_room_low, args.triangle_room_high);
    if (less64(room, triangles))
        triangles = room;
    uvec2 count = times3(triangles);
    store_word(args.draw, 0u, count.y != 0u || triangles.y != 0u ? 0xffffffffu : count.x);
    store_word(args.draw, 1u, 1u);
    for (uint i = 2u; i < 5u; i++)
        store_word(args.draw, i, 0u);
}

void write_counts(uvec2 vertices, uvec2 triangles)
{
    if ((args.counts_form & SURFACE_COUNTS_SOUP) != 0u)
        vertices = times3(triangles);
    if ((args.counts_form & SURFACE_COUNTS_WIDE) != 0u) {
        store64(args.counts, vertices);
        store64(address_of_word(args.counts, 2u), triangles);
    } else {
        store_word(args.counts, 0u, vertices.y != 0u ? 0xffffffffu : vertices.x);
        store_word(args.counts, 1u, triangles.y != 0u ? 0xffffffffu : triangles.x);
    }
}

void write_head()
{
    uint word_count = LOAD_U32(args.states, SURFACE_STATE_ACTIVE);
    uint groups = word_count / GROUP + (word_count % GROUP != 0u ? 1u : 0u);
    store_word(args.head, SURFACE_HEAD_ACTIVE, word_count);
    store_word(args.head, SURFACE_HEAD_OPEN, LOAD_U32(args.states, SURFACE_STATE_OPEN));
    store_word(args.head, SURFACE_HEAD_MISSING,
               args.is_masked | LOAD_U32(args.states, SURFACE_STATE_NAN));
    store_word(args.head, SURFACE_HEAD_ROOM, args.vertex_room_low);
    store_word(args.head, SURFACE_HEAD_ROOM + 1u, args.vertex_room_high);
    store_word(args.head, SURFACE_HEAD_ROOM + 2u, args.triangle_room_low);
    store_word(args.head, SURFACE_HEAD_ROOM + 3u, args.triangle_room_high);
    store_word(args.head, SURFACE_HEAD_GROUPS, min(groups, 32768u));
    store_word(args.head, SURFACE_HEAD_GROUPS + 1u, (groups + 32767u) / 32768u);
    store_word(args.head, SURFACE_HEAD_GROUPS + 2u, 1u);
    float rows[9] = float[9](args.normal0, args.normal1, args.normal2, args.normal3, args.normal4,
                             args.normal5, args.normal6, args.normal7, args.normal8);
    for (uint i = 0u; i < 9u; i++)
        store_word(args.head, SURFACE_HEAD_NORMALS + i, floatBitsToUint(rows[i]));
}

/* Adds all subgroups' sums to total. Returns the sum of the earlier subgroups. own: the subgroup's
 * sum, in its last lane. Requires a barrier before the next call with the same kind. */
uvec2 add_sums(uint kind, uvec2 own, inout uvec2 total)
{
    uvec2 before = uvec2(0u);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u)
        sums[kind][subgroup_index()] = own;
    barrier();
    for (uint i = 0u; i < GROUP / SUBGROUP; i++) {
        before = i < subgroup_index() ? add64(before, sums[kind][i]) : before;
        total = add64(total, sums[kind][i]);
    }
    return before;
}

/* Adds the vertices, triangles and cells of the chunks before first to totals. */
void add_up(uint first, inout uvec2 totals[3])
{
    uvec2 own[3] = uvec2[3](uvec2(0u), uvec2(0u), uvec2(0u));
    for (uint chunk = gl_LocalInvocationID.x; chunk < first; chunk += GROUP) {
        uvec4 item = quads_at(args.chunks).v[chunk];
        own[0] = add64(own[0], uvec2(item.x, 0u));
        own[1] = add64(own[1], uvec2(item.y, 0u));
        own[2] = add64(own[2], uvec2(item.z, 0u));
    }
    reconverge();
    [[unroll]] for (uint k = 0u; k < 3u; k++)
        add_sums(k, subgroup_sum64(own[k]), totals[k]);
    barrier();
}

void main()
{
    uint first = group_index() * args.stretch;
    if (first >= args.chunk_count)
        return;
    uint end = min(first + args.stretch, args.chunk_count), thread = gl_LocalInvocationID.x;
    uvec2 totals[3]; /* vertices, triangles and cells before first */
    [[unroll]] for (uint k = 0u; k < 3u; k++)
        totals[k] = load64(address_of_word(args.head, SURFACE_HEAD_BASE + 2u * k));
    if (first != 0u)
        add_up(first, totals);
    for (; first < end; first += GROUP * ITEMS) {
        uvec4 item[ITEMS];
        uvec2 vertices = uvec2(0u), triangles = uvec2(0u), cells = uvec2(0u);
        [[unroll]] for (uint i = 0u; i < ITEMS; i++) {
            uint chunk = first + thread * ITEMS + i;
            item[i] = uvec4(0u);
            if (chunk < end)
                item[i] = quads_at(args.chunks).v[chunk];
            vertices = add64(vertices, uvec2(item[i].x, 0u));
            triangles = add64(triangles, uvec2(item[i].y, 0u));
            cells = add64(cells, uvec2(item[i].z, 0u));
        }
        reconverge();
        uvec2 vertices_at = subgroup_before64(vertices),
              triangles_at = subgroup_before64(triangles);
        uvec2 vertices_through = add64(vertices_at, vertices);
        uvec2 triangles_through = add64(triangles_at, triangles);
        vertices_at = add64(vertices_at, totals[0]);
        triangles_at = add64(triangles_at, totals[1]);
        vertices_at = add64(vertices_at, add_sums(0u, vertices_through, totals[0]));
        triangles_at = add64(triangles_at, add_sums(1u, triangles_through, totals[1]));
        add_sums(2u, subgroup_sum64(cells), totals[2]);
        barrier();
        [[unroll]] for (uint i = 0u; i < ITEMS; i++) {
            uint chunk = first + thread * ITEMS + i;
            if (chunk < end)
                quads_at(args.places).v[chunk] = uvec4(vertices_at, triangles_at);
            vertices_at = add64(vertices_at, uvec2(item[i].x, 0u));
            triangles_at = add64(triangles_at, uvec2(item[i].y, 0u));
        }
    }
    if (end < args.chunk_count || thread != 0u)
        return;
    uvec2 vertices = sub64(totals[0], uvec2(LOAD_U32(args.states, SURFACE_STATE_BEYOND), 0u));
    store64(args.total, vertices);
    store64(address_of_word(args.total, 2u), totals[1]);
    store64(address_of_word(args.total, 4u), totals[2]);
    if (LOAD_U32(args.states, SURFACE_STATE_UNDECIDED) != 0u)
        store_word(args.total, 6u, 1u);
    write_head();
    if (!is_none(args.draw))
        write_draw(totals[1]);
    if (!is_none(args.counts))
        write_counts(vertices, totals[1]);
}
