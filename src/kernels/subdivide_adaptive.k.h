/* Adaptive Loop subdivision: a level that has only some triangles, the criterion's measure of an
 * edge, and how a triangle is divided if its neighbours are. Include after subdivide.k.h.
 *
 * An adaptive level refines some of its triangles.
 *   places  1 word per triangle: its number among the refined triangles, or LOOP_NONE
 *   firsts  1 word per vertex of the next level: LOOP_NONE for the vertices that this level has
 * A vertex keeps its number on all levels, and new vertices follow. Edges have no numbers: the
 * third word of a half-edge is the vertex at its edge point, or LOOP_NONE. Where the level's
 * triangles end, twins are LOOP_OUTSIDE. */

/* Is triangle t of a level the mesh's, or is its parent, list[t / 4], marked? */
FUNCTION(bool) loop_inherits(uint t, uint level, tml_words list, tml_words marks)
{
    return level == 0u || tml_word(marks, tml_word(list, t / 4u)) != 0u;
}

/* Half-edge h, numbered among refined triangles; LOOP_OUTSIDE if its triangle is not refined. */
FUNCTION(uint) loop_placed(uint h, tml_words places)
{
    if (!loop_is_half(h))
        return h;
    uint place = tml_word(places, h / 3u);
    return place == LOOP_NONE ? LOOP_OUTSIDE : 3u * place + h % 3u;
}

/* Does h, rather than its twin, create an edge point? An edge at the mesh's edge has one if either
 * of its triangles is refined. mesh_halves joins both sides of a seam, so both sides get an edge
 * point. */
FUNCTION(bool) loop_owns_middle(uint h, tml_words halves, tml_words mesh_halves, tml_words places)
{
    if (!loop_is_first(halves, h))
        return false;
    uint across = loop_twin(mesh_halves, h);
    return tml_word(places, h / 3u) != LOOP_NONE ||
           (loop_is_half(across) && tml_word(places, across / 3u) != LOOP_NONE);
}

/* Is a triangle at h's edge marked? */
FUNCTION(bool) loop_edge_touches(uint h, tml_words mesh_halves, tml_words marks)
{
    uint across = loop_twin(mesh_halves, h);
    return tml_word(marks, h / 3u) != 0u ||
           (loop_is_half(across) && tml_word(marks, across / 3u) != 0u);
}

/* Is a triangle around vertex i marked? False if the level lacks one of these triangles. */
FUNCTION(bool) loop_touches(uint i, tml_words halves, tml_words vertices, tml_words marks)
{
    uint start = tml_word(vertices, 4u * i);
    bool is_marked = false;
    uint h = start;
    if (!loop_is_half(h))
        return false;
    do {
        is_marked = is_marked || tml_word(marks, h / 3u) != 0u;
        h = loop_twin(halves, loop_prev(h));
    } while (loop_is_half(h) && h != start);
    return is_marked && h != LOOP_OUTSIDE;
}

/* Records of kept and new vertices in the next level. A vertex whose triangle is not refined has no
 * half-edge. */
FUNCTION(uvec4) loop_placed_vertex(uvec4 vertex, tml_words places)
{
    vertex.x = loop_placed(vertex.x, places);
    return loop_kept_vertex(vertex);
}

FUNCTION(uvec4) loop_new_placed_vertex(uint h, tml_words halves, tml_words places, uint flags)
{
    uvec4 vertex = loop_new_vertex(h, halves, flags);
    uint placed = loop_placed(h, places);
    vertex.x = loop_is_half(placed) ? loop_corner_child(loop_next(placed), 2u) : LOOP_NONE;
    return vertex;
}

/* Is vertex i, or an edge at it, semi-sharp? False if the level lacks one of its triangles. */
FUNCTION(bool) loop_is_wearing(uint i, tml_words halves, tml_words vertices)
{
    float sharp = tml_word_float(vertices, 4u * i + 1u);
    bool wears = sharp > 0.0f && sharp < LOOP_INFINITE;
    uint start = tml_word(vertices, 4u * i);
    uint h = start;
    if (!loop_is_half(h))
        return false;
    do {
        sharp = loop_sharpness(halves, h);
        wears = wears || (sharp > 0.0f && sharp < LOOP_INFINITE);
        h = loop_twin(halves, loop_prev(h));
    } while (loop_is_half(h) && h != start);
    return wears && h != LOOP_OUTSIDE;
}

/* Is the vertex, or an edge at it, semi-sharp, and do all edges around it have edge points, so that
 * its limit can be computed? */
FUNCTION(bool) loop_wears_here(uint i, tml_words halves, tml_words vertices)
{
    if (!loop_is_wearing(i, halves, vertices))
        return false;
    uint start = tml_word(vertices, 4u * i);
    uint h = start;
    bool is_whole = true;
    do {
        is_whole = is_whole && loop_edge(halves, h) != LOOP_NONE &&
                   loop_edge(halves, loop_prev(h)) != LOOP_NONE;
        h = loop_twin(halves, loop_prev(h));
    } while (loop_is_half(h) && h != start);
    return is_whole;
}

/* The lower and the higher vertex number of h's edge: equal for h and its twin. */
FUNCTION(uint) loop_low_end(tml_words halves, uint h)
{
    return min(loop_origin(halves, h), loop_origin(halves, loop_next(h)));
}
FUNCTION(uint) loop_high_end(tml_words halves, uint h)
{
    return max(loop_origin(halves, h), loop_origin(halves, loop_next(h)));
}

/* Limit of the edge point of the edge whose first half-edge is h. */
FUNCTION(vec4)
loop_new_limit(uint h, tml_words halves, tml_words values, tml_words next_values, uint n,
               uint flags)
{
    if (!loop_is_half(h))
        return VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    return loop_centre_limit(loop_centre_ahead(h, halves, values, next_values, n, flags), flags);
}

/* Limit position of vertex i: recomputed if semi-sharp creases or corners at i lose sharpness on
 * this level, else taken from limits. */
FUNCTION(vec4)
loop_worn_limit(uint i, tml_words limits, tml_words halves, tml_words vertices,
                tml_words next_values, uint n, uint flags)
{
    if (loop_wears_here(i, halves, vertices))
        return loop_vertex_limit(i, halves, vertices, next_values, n, 0u, flags | LOOP_REFINED);
    return loop_value(limits, n, i);
}

/* Value i of the next level, from this level's values and those of the new vertices. */
FUNCTION(vec4) loop_joined(uint i, uint first, tml_words kept, tml_words fresh, uint n)
{
    if (loop_is_half(first))
        return loop_value(fresh, n, i);
    return loop_value(kept, n, i);
}

/* The angle between two vectors, from 0 to pi. */
FUNCTION(float) loop_angle(vec3 a, vec3 b)
{
    vec3 u = loop_unit(a);
    vec3 v = loop_unit(b);
    float apart = length3(sub3(u, v));
    if (apart < 1e-6f)
        return 0.0f;
    return 2.0f * atan(apart / max(length3(add3(u, v)), 1e-6f));
}

/* Normals of the two triangles at h's edge, oriented by their windings, with twice their areas as
 * lengths. Both are 0 if the edge is sharp or lacks a triangle. */
STRUCT_BEGIN(loop_wings)
vec3 left;
vec3 right;
STRUCT_END(loop_wings)

FUNCTION(loop_wings) loop_wings_at(uint h, tml_words halves, tml_words limits)
{
    loop_wings wings;
    wings.left = VEC3(0.0f, 0.0f, 0.0f);
    wings.right = wings.left;
    uint first = loop_first(halves, h);
    uint twin = max(h, loop_twin(halves, h));
    if (!loop_is_half(twin) || loop_sharpness(halves, h) > 0.0f)
        return wings;
    vec3 from = loop_point(limits, loop_origin(halves, first));
    vec3 along = sub3(loop_point(limits, loop_origin(halves, twin)), from);
    vec3 left = sub3(loop_point(limits, loop_origin(halves, loop_prev(first))), from);
    vec3 right = sub3(loop_point(limits, loop_origin(halves, loop_prev(twin))), from);
    wings.left = cross3(along, left);
    wings.right = cross3(right, along);
    return wings;
}

/* Moves m, the limit of the edge point between a and b, along the surface into the plane that the
 * edge and the surface normal span. Near an extraordinary vertex (valence other than 6), m is
 * offset sideways by a fixed fraction of the edge's length on every level; that offset is no
 * curvature. On sharp edges wings are 0, and m stays. */
FUNCTION(vec3) loop_above(vec3 a, vec3 b, vec3 m, loop_wings wings)
{
    vec3 side = loop_unit(cross3(add3(wings.left, wings.right), sub3(b, a)));
    return sub3(m, scale3(side, dot3(sub3(m, a), side)));
}

/* Turning angle of a curve from a through m to b. For a circular arc, the angle between the
 * tangents at its ends is twice the angle between the chords a m and m b. m need not be the arc's
 * midpoint. */
FUNCTION(float) loop_turn(vec3 a, vec3 b, vec3 m)
{
    return 2.0f * loop_angle(sub3(m, a), sub3(b, m));
}

/* Distance of m from the line through a and b. */
FUNCTION(float) loop_height(vec3 a, vec3 b, vec3 m)
{
    vec3 along = loop_unit(sub3(b, a));
    vec3 from = sub3(m, a);
    return length3(sub3(from, scale3(along, dot3(from, along))));
}

/* Clip coordinates of a point, with z = 0. camera: a 4x4 matrix in rows, the picture's width and
 * height in pixels, the least w, and whether geometry outside the picture counts too. */
FUNCTION(vec4) loop_project(vec3 p, tml_words camera)
{
    vec4 clip;
    clip.x = tml_word_float(camera, 0u) * p.x + tml_word_float(camera, 1u) * p.y +
             tml_word_float(camera, 2u) * p.z + tml_word_float(camera, 3u);
    clip.y = tml_word_float(camera, 4u) * p.x + tml_word_float(camera, 5u) * p.y +
             tml_word_float(camera, 6u) * p.z + tml_word_float(camera, 7u);
    clip.z = 0.0f;
    clip.w = tml_word_float(camera, 12u) * p.x + tml_word_float(camera, 13u) * p.y +
             tml_word_float(camera, 14u) * p.z + tml_word_float(camera, 15u);
    return clip;
}

/* Length in pixels of the edge between two projected points; w is at least the camera's least w. */
FUNCTION(float) loop_pixels(vec4 a, vec4 b, tml_words camera)
{
    float least = tml_word_float(camera, 18u);
    float a_w = max(a.w, least);
    float b_w = max(b.w, least);
    return 0.5f * length2(VEC2((b.x / b_w - a.x / a_w) * tml_word_float(camera, 16u),
                               (b.y / b_w - a.y / a_w) * tml_word_float(camera, 17u)));
}

/* Do three projected points all lie outside one border of the picture, or all behind the camera? */
FUNCTION(bool) loop_is_unseen(vec4 a, vec4 b, vec4 c)
{
    return (a.x > a.w && b.x > b.w && c.x > c.w) || (a.x < -a.w && b.x < -b.w && c.x < -c.w) ||
           (a.y > a.w && b.y > b.w && c.y > c.w) || (a.y < -a.w && b.y < -b.w && c.y < -c.w) ||
           (a.w <= 0.0f && b.w <= 0.0f && c.w <= 0.0f);
}

/* Code of leaf t: bit k is set if half-edge 3t + k is split because the triangle across it is red;
 * bit 3 is always set. */
FUNCTION(uint) loop_leaf_code(uint t, tml_words halves, tml_words reds)
{
    uint code = 8u;
    for (uint k = 0u; k < 3u; k++) {
        uint twin = loop_twin(halves, 3u * t + k);
        if (loop_is_half(twin) && tml_word(reds, twin / 3u) != 0u)
            code = code + (1u << k);
    }
    return code;
}

/* A vertex of half-edge h's triangle. Numbers 0 to 2 are its corners, starting at h's origin; 3 to
 * 5 are the edge points of the edges that start at corners 0 to 2. */
FUNCTION(uint) loop_corner(uint h, uint c, tml_words halves)
{
    uint at = c % 3u == 0u ? h : c % 3u == 1u ? loop_next(h) : loop_prev(h);
    return c < 3u ? loop_origin(halves, at) : tml_word(halves, 4u * at + 2u);
}

FUNCTION(uvec3) loop_three(uint h, uint a, uint b, uint c, tml_words halves)
{
    return UVEC3(loop_corner(h, a, halves), loop_corner(h, b, halves), loop_corner(h, c, halves));
}

/* Green triangle k of a leaf (red-green refinement: Bank, Sherman, Weiser 1983). A leaf with n
 * split edges has n + 1 green triangles. */
FUNCTION(uvec3) loop_green(uint t, uint code, uint k, tml_words halves)
{
    uint split = code & 7u;
    uint count = popcount32(split);
    uint h = 3u * t;
    if (count == 0u)
        return loop_three(h, 0u, 1u, 2u, halves);
    if (count == 1u) {
        h = h + lowest_bit32(split); /* the split edge */
        return k == 0u ? loop_three(h, 0u, 3u, 2u, halves) : loop_three(h, 3u, 1u, 2u, halves);
    }
    if (count == 2u) {
        h = loop_next(h + lowest_bit32(7u - split)); /* the edge after the unsplit one */
        if (k == 0u)
            return loop_three(h, 3u, 1u, 4u, halves);
        return k == 1u ? loop_three(h, 0u, 3u, 2u, halves) : loop_three(h, 3u, 4u, 2u, halves);
    }
    if (k == 3u)
        return loop_three(h, 3u, 4u, 5u, halves);
    return loop_three(h + k, 0u, 3u, 5u, halves);
}

/* Alternative to loop_green: the leaf itself, then for each split edge a thin triangle to its edge
 * point. */
FUNCTION(uvec3) loop_sliver(uint t, uint code, uint k, tml_words halves)
{
    if (k == 0u)
        return loop_three(3u * t, 0u, 1u, 2u, halves);
    uint split = code & 7u;
    for (uint i = 1u; i < k; i++)
        split = split & (split - 1u);
    return loop_three(3u * t + lowest_bit32(split), 1u, 0u, 3u, halves);
}
