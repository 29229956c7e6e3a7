/* Places chunks, by one workgroup; writes totals, draw arguments and the emission's dispatch. */
#include "surface.glsl"

ARGS_USE(surface_scan_args)

const uint ITEMS = 16u; /* chunks of an invocation at a time */

shared uvec2 sums[3][SUBGROUPS_MAX];

/* In parts of 16 bits, which a subgroup cannot carry out of 32. */
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

/* At most 2^32 - 1 indices, and whole triangles. */
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
    if (args.wide_counts != 0u) {
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

void main()
{
    if (group_index() != 0u)
        return;
    uint thread = gl_LocalInvocationID.x;
    uvec2 vertices = uvec2(0u), triangles = uvec2(0u), cells = uvec2(0u);
    if (!is_none(args.base)) {
        vertices = load64(args.base);
        triangles = load64(address_of_word(args.base, 2u));
        cells = load64(address_of_word(args.base, 4u));
    }
    for (uint first = 0u; first < args.chunk_count; first += GROUP * ITEMS) {
        uvec4 item[ITEMS];
        uvec2 own_vertices = uvec2(0u), own_triangles = uvec2(0u), own_cells = uvec2(0u);
        [[unroll]] for (uint i = 0u; i < ITEMS; i++) {
            uint chunk = first + thread * ITEMS + i;
            item[i] = uvec4(0u);
            if (chunk < args.chunk_count)
                item[i] = quads_at(args.chunks).v[chunk];
        }
        [[unroll]] for (uint i = 0u; i < ITEMS; i++) {
            own_vertices = add64(own_vertices, uvec2(item[i].x, 0u));
            own_triangles = add64(own_triangles, uvec2(item[i].y, 0u));
            own_cells = add64(own_cells, uvec2(item[i].z, 0u));
        }
        uvec2 vertices_at = subgroup_before64(own_vertices);
        uvec2 triangles_at = subgroup_before64(own_triangles);
        uvec2 all_cells = subgroup_sum64(own_cells);
        if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
            sums[0][subgroup_index()] = add64(vertices_at, own_vertices);
            sums[1][subgroup_index()] = add64(triangles_at, own_triangles);
            sums[2][subgroup_index()] = all_cells;
        }
        barrier();
        vertices_at = add64(vertices_at, vertices);
        triangles_at = add64(triangles_at, triangles);
        for (uint i = 0u; i < GROUP / SUBGROUP; i++) {
            if (i < subgroup_index()) {
                vertices_at = add64(vertices_at, sums[0][i]);
                triangles_at = add64(triangles_at, sums[1][i]);
            }
            vertices = add64(vertices, sums[0][i]);
            triangles = add64(triangles, sums[1][i]);
            cells = add64(cells, sums[2][i]);
        }
        barrier();
        [[unroll]] for (uint i = 0u; i < ITEMS; i++) {
            uint chunk = first + thread * ITEMS + i;
            if (chunk < args.chunk_count)
                quads_at(args.chunks).v[chunk] = uvec4(vertices_at, triangles_at);
            vertices_at = add64(vertices_at, uvec2(item[i].x, 0u));
            triangles_at = add64(triangles_at, uvec2(item[i].y, 0u));
        }
    }
    if (thread != 0u)
        return;
    vertices = sub64(vertices, uvec2(LOAD_U32(args.states, SURFACE_STATE_BEYOND), 0u));
    store64(args.total, vertices);
    store64(address_of_word(args.total, 2u), triangles);
    store64(address_of_word(args.total, 4u), cells);
    write_head();
    if (!is_none(args.draw))
        write_draw(triangles);
    if (!is_none(args.counts))
        write_counts(vertices, triangles);
}
