/* Loop subdivision: the masks, and the half-edge arithmetic that derives a level's topology from
 * the previous level's.
 *
 * Triangle f has half-edges 3f, 3f + 1 and 3f + 2; half-edge h runs from corner h % 3 to the next.
 * Arrays of words:
 *   halves    4 per half-edge: its origin vertex; its twin; its edge, or on adaptive levels the
 *             vertex at the edge point; the edge's sharpness (a float's bits)
 *   vertices  4 per vertex: an outgoing half-edge, on a boundary the one from which a
 *             counter-clockwise walk meets all others; its sharpness; for its valence, Loop's beta
 *             and the limit mask's weight
 *   firsts    1 per edge: the lower of its half-edges
 *   values    1 to 4 floats per vertex: positions, or any attribute
 * A twin is LOOP_NONE on a boundary, and LOOP_OUTSIDE if the level lacks the triangle across the
 * edge.
 *
 * The children of triangle f are 4f to 4f + 3. Child 4f + k lies at corner k and begins with that
 * corner. Child 4f + 3 lies in the middle and begins with the edge point of half-edge 3f. Every
 * mask adds differences from one of its values, so equal values give exactly that value.
 *
 * After: Loop: Smooth Subdivision Surfaces Based on Triangles. 1987; Hoppe et al.: Piecewise Smooth
 * Surface Reconstruction. 1994; DeRose, Kass, Truong: Subdivision Surfaces in Character Animation.
 * 1998 (semi-sharp creases); Biermann, Levin, Zorin: Piecewise Smooth Subdivision Surfaces with
 * Normal Control. 2000 (tangents of boundaries); Vanhoey, Dupuy: A Halfedge Refinement Rule for
 * Parallel Loop Subdivision. 2022. */

/* ---- half-edges ------------------------------------------------------------------------------ */

FUNCTION(bool) loop_is_half(uint h)
{
    return h < LOOP_OUTSIDE;
}

FUNCTION(uint) loop_next(uint h)
{
    return h % 3u == 2u ? h - 2u : h + 1u;
}

FUNCTION(uint) loop_prev(uint h)
{
    return h % 3u == 0u ? h + 2u : h - 1u;
}

/* Half-edge j of the child at h's origin corner. */
FUNCTION(uint) loop_corner_child(uint h, uint j)
{
    return 3u * (h + h / 3u) + j;
}

FUNCTION(uint) loop_origin(tml_words halves, uint h)
{
    return tml_word(halves, 4u * h);
}

FUNCTION(uint) loop_twin(tml_words halves, uint h)
{
    return tml_word(halves, 4u * h + 1u);
}

FUNCTION(uint) loop_edge(tml_words halves, uint h)
{
    return tml_word(halves, 4u * h + 2u);
}

FUNCTION(float) loop_sharpness(tml_words halves, uint h)
{
    return tml_word_float(halves, 4u * h + 3u);
}

/* The lower half-edge of an edge is the edge's first, which creates the edge's data. */
FUNCTION(bool) loop_is_first(tml_words halves, uint h)
{
    return h < loop_twin(halves, h);
}

FUNCTION(float) loop_worn(float sharpness)
{
    return sharpness >= LOOP_INFINITE ? sharpness : max(sharpness - 1.0f, 0.0f);
}

/* ---- topology of the next level -------------------------------------------------------------- */

/* The twin of a child's half-edge that is one half of the parent's half-edge h, from h's twin.
 * at_origin: the half at h's origin; otherwise the half at h's end. */
FUNCTION(uint) loop_child_twin(uint twin, bool at_origin)
{
    if (!loop_is_half(twin))
        return twin;
    return at_origin ? loop_corner_child(loop_next(twin), 2u) : loop_corner_child(twin, 0u);
}

/* The edge point of h's edge, as a vertex of the next level. */
FUNCTION(uint) loop_middle(tml_words halves, uint h, uint vertex_count)
{
    return vertex_count + loop_edge(halves, h);
}

/* The half-edge of triangle f that contains half-edge i of its children. If i lies inside f: the
 * half-edge of f from which i's edge takes its number. */
FUNCTION(uint) loop_child_side(uint i, uint f)
{
    uint h = 3u * f + i % 12u / 3u;
    if (i % 12u >= 9u)
        return 3u * f + i % 3u;
    return i % 3u == 0u ? h : loop_prev(h);
}

/* Record of half-edge i of the next level, which lies in a child of triangle f, the refined
 * triangle number i / 12. twin: the twin of the parent's side, numbered among refined triangles.
 * vertex_count and edge_count are this level's. */
FUNCTION(uvec4)
loop_child_half(uint i, uint f, uint twin, tml_words halves, uint vertex_count, uint edge_count)
{
    uint k = i % 12u / 3u;
    uint j = i % 3u;
    uint inside = 3u * (i / 12u); /* the refined triangle's first half-edge */
    uint side = loop_child_side(i, f);
    if (k == 3u)
        return UVEC4(loop_middle(halves, side, vertex_count),
                     loop_corner_child(loop_next(inside + j), 1u), 2u * edge_count + inside + j,
                     0u);
    uint h = 3u * f + k;
    if (j == 1u)
        return UVEC4(loop_middle(halves, h, vertex_count), 4u * inside + 9u + (side - 3u * f),
                     2u * edge_count + inside + (side - 3u * f), 0u);
    uint half_of_edge = loop_is_first(halves, side) == (j == 0u) ? 0u : 1u;
    return UVEC4(j == 0u ? loop_origin(halves, h) : loop_middle(halves, side, vertex_count),
                 loop_child_twin(twin, j == 0u), 2u * loop_edge(halves, side) + half_of_edge,
                 floatBitsToUint(loop_worn(loop_sharpness(halves, side))));
}

/* The first half-edge of edge i of the next level. */
FUNCTION(uint) loop_child_first(uint i, tml_words halves, tml_words firsts, uint edge_count)
{
    if (i >= 2u * edge_count) /* between a corner child, the lower one, and the middle child */
        return loop_corner_child(loop_next(i - 2u * edge_count), 1u);
    uint h = tml_word(firsts, i / 2u);
    uint twin = loop_twin(halves, h);
    bool at_origin = i % 2u == 0u;
    uint mine = at_origin ? loop_corner_child(h, 0u) : loop_corner_child(loop_next(h), 2u);
    return min(mine, loop_child_twin(twin, at_origin)); /* LOOP_NONE is the largest number */
}

/* A vertex's record in the next level, from its record in this level. */
FUNCTION(uvec4) loop_kept_vertex(uvec4 vertex)
{
    if (loop_is_half(vertex.x))
        vertex.x = loop_corner_child(vertex.x, 0u);
    vertex.y = floatBitsToUint(loop_worn(uintBitsToFloat(vertex.y)));
    return vertex;
}

/* Record of the edge point of the edge whose first half-edge is h. */
FUNCTION(uvec4) loop_new_vertex(uint h, tml_words halves, uint flags)
{
    bool is_corner = loop_twin(halves, h) == LOOP_NONE && (flags & LOOP_PINNED) != 0u;
    return UVEC4(loop_corner_child(loop_next(h), 2u),
                 floatBitsToUint(is_corner ? LOOP_INFINITE : 0.0f), floatBitsToUint(1.0f / 16.0f),
                 floatBitsToUint(1.0f / 12.0f));
}

FUNCTION(uvec4)
loop_child_vertex(uint i, tml_words vertices, tml_words halves, tml_words firsts, uint vertex_count,
                  uint flags)
{
    if (i >= vertex_count)
        return loop_new_vertex(tml_word(firsts, i - vertex_count), halves, flags);
    return loop_kept_vertex(UVEC4(tml_word(vertices, 4u * i), tml_word(vertices, 4u * i + 1u),
                                  tml_word(vertices, 4u * i + 2u),
                                  tml_word(vertices, 4u * i + 3u)));
}

/* Corners of triangle i of the next level. */
FUNCTION(uvec3) loop_child_triangle(uint i, tml_words halves, uint vertex_count)
{
    uint f = i / 4u;
    uint k = i % 4u;
    if (k == 3u)
        return UVEC3(loop_middle(halves, 3u * f, vertex_count),
                     loop_middle(halves, 3u * f + 1u, vertex_count),
                     loop_middle(halves, 3u * f + 2u, vertex_count));
    uint h = 3u * f + k;
    return UVEC3(loop_origin(halves, h), loop_middle(halves, h, vertex_count),
                 loop_middle(halves, loop_prev(h), vertex_count));
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Value i of an array with n floats per value, n constant; components from n on are 0. */
FUNCTION(vec4) loop_value(tml_words values, uint n, uint i)
{
    uint at = n * i;
    return VEC4(tml_word_float(values, at), n > 1u ? tml_word_float(values, at + 1u) : 0.0f,
                n > 2u ? tml_word_float(values, at + 2u) : 0.0f,
                n > 3u ? tml_word_float(values, at + 3u) : 0.0f);
}

FUNCTION(vec4) loop_mix(vec4 a, vec4 b, float t)
{
    return add4(a, scale4(sub4(b, a), t));
}

/* Edge point of a crease from a to b: the midpoint. */
FUNCTION(vec4) loop_crease_point(vec4 a, vec4 b)
{
    return add4(a, scale4(sub4(b, a), 0.5f));
}

/* Edge point of an interior edge from a to b with sharpness below 1. c and d are the third corners
 * of its two triangles. */
FUNCTION(vec4) loop_inner_point(vec4 a, vec4 b, vec4 c, vec4 d, float sharp)
{
    vec4 beside = add4(sub4(c, a), sub4(d, a));
    vec4 smooth_point = add4(a, add4(scale4(sub4(b, a), 0.375f), scale4(beside, 0.125f)));
    return sharp > 0.0f ? loop_mix(smooth_point, loop_crease_point(a, b), sharp) : smooth_point;
}

/* Edge point of the edge whose first half-edge is h. */
FUNCTION(vec4) loop_edge_point(uint h, tml_words halves, tml_words values, uint n, uint flags)
{
    vec4 a = loop_value(values, n, loop_origin(halves, h));
    vec4 b = loop_value(values, n, loop_origin(halves, loop_next(h)));
    float sharp = loop_sharpness(halves, h);
    uint twin = loop_twin(halves, h);
    if (sharp >= 1.0f || !loop_is_half(twin) || (flags & LOOP_LINEAR) != 0u)
        return loop_crease_point(a, b);
    vec4 c = loop_value(values, n, loop_origin(halves, loop_prev(h)));
    vec4 d = loop_value(values, n, loop_origin(halves, loop_prev(twin)));
    return loop_inner_point(a, b, c, d, sharp);
}

/* The 1-ring of a vertex with value v: sums of w - v over neighbours w. */
/* clang-format off */
STRUCT_BEGIN(loop_ring)
    vec4 all;
    vec4 sharp;            /* over edges that are sharp in this level */
    vec4 worn;             /* over edges that are sharp in the next level */
    uint sharp_count;
    uint worn_count;
    float fading;          /* sum of the sharpnesses that the next level makes 0 */
    uint fading_count;
    bool is_whole;         /* did the walk meet every neighbour? */
STRUCT_END(loop_ring)
/* clang-format on */

FUNCTION(loop_ring) loop_ring_empty(bool is_whole)
{
    loop_ring ring;
    ring.all = VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    ring.sharp = ring.all;
    ring.worn = ring.all;
    ring.sharp_count = 0u;
    ring.worn_count = 0u;
    ring.fading = 0.0f;
    ring.fading_count = 0u;
    ring.is_whole = is_whole;
    return ring;
}

FUNCTION(loop_ring) loop_ring_add(loop_ring ring, vec4 difference, float sharp)
{
    ring.all = add4(ring.all, difference);
    if (sharp > 0.0f) {
        ring.sharp = add4(ring.sharp, difference);
        ring.sharp_count = ring.sharp_count + 1u;
        if (loop_worn(sharp) > 0.0f) {
            ring.worn = add4(ring.worn, difference);
            ring.worn_count = ring.worn_count + 1u;
        } else {
            ring.fading = ring.fading + sharp;
            ring.fading_count = ring.fading_count + 1u;
        }
    }
    return ring;
}

/* The neighbour of h's origin along h: h's end; with LOOP_REFINED, the edge point. */
FUNCTION(uint) loop_neighbour(tml_words halves, uint h, uint vertex_count, uint flags)
{
    if ((flags & LOOP_REFINED) != 0u)
        return loop_middle(halves, h, vertex_count);
    return loop_origin(halves, loop_next(h));
}

/* The neighbour of h's end along h: h's origin; with LOOP_REFINED, the edge point. */
FUNCTION(uint) loop_last_neighbour(tml_words halves, uint h, uint vertex_count, uint flags)
{
    if ((flags & LOOP_REFINED) != 0u)
        return loop_middle(halves, h, vertex_count);
    return loop_origin(halves, h);
}

/* Sharpness of h's edge in the level from which the neighbours come: the next level with
 * LOOP_REFINED. */
FUNCTION(float) loop_sharpness_at(tml_words halves, uint h, uint flags)
{
    float sharp = loop_sharpness(halves, h);
    return (flags & LOOP_REFINED) != 0u ? loop_worn(sharp) : sharp;
}

FUNCTION(loop_ring)
loop_walk(uint start, vec4 v, tml_words halves, tml_words values, uint n, uint vertex_count,
          uint flags)
{
    loop_ring ring = loop_ring_empty(true);
    uint h = start;
    do {
        uint w = loop_neighbour(halves, h, vertex_count, flags);
        ring = loop_ring_add(ring, sub4(loop_value(values, n, w), v),
                             loop_sharpness_at(halves, h, flags));
        uint before = loop_prev(h);
        h = loop_twin(halves, before);
        if (h == LOOP_NONE) {
            w = loop_last_neighbour(halves, before, vertex_count, flags);
            ring = loop_ring_add(ring, sub4(loop_value(values, n, w), v), LOOP_INFINITE);
        }
    } while (loop_is_half(h) && h != start);
    ring.is_whole = h != LOOP_OUTSIDE;
    return ring;
}

/* A vertex's rule, from its sharpness and its number of sharp edges. A dart, with one sharp edge,
 * is smooth. */
#define LOOP_SMOOTH 0u
#define LOOP_CREASE 1u
#define LOOP_CORNER 2u

FUNCTION(uint) loop_rule(float sharp, uint sharp_count)
{
    if (sharp > 0.0f || sharp_count > 2u)
        return LOOP_CORNER;
    return sharp_count == 2u ? LOOP_CREASE : LOOP_SMOOTH;
}

/* Vertex point of a vertex with value v. If the vertex has another rule on the next level, the
 * points of both rules are blended. */
FUNCTION(vec4) loop_vertex_step(vec4 v, loop_ring ring, float sharp, float beta)
{
    vec4 step_smooth = scale4(ring.all, beta);
    uint rule = loop_rule(sharp, ring.sharp_count);
    if (rule == LOOP_SMOOTH)
        return add4(v, step_smooth);
    vec4 zero = VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 step_now = rule == LOOP_CREASE ? scale4(ring.sharp, 0.125f) : zero;
    float sharp_worn = loop_worn(sharp);
    uint rule_next = loop_rule(sharp_worn, ring.worn_count);
    if (rule_next == rule)
        return add4(v, step_now);
    vec4 step_next = zero;
    if (rule_next == LOOP_SMOOTH)
        step_next = step_smooth;
    else if (rule_next == LOOP_CREASE)
        step_next = scale4(ring.worn, 0.125f);
    bool fades = sharp > 0.0f && !(sharp_worn > 0.0f);
    float fading = ring.fading + (fades ? sharp : 0.0f);
    uint fading_count = ring.fading_count + (fades ? 1u : 0u);
    return add4(v, loop_mix(step_next, step_now, min(fading / F(fading_count), 1.0f)));
}

/* Vertex point of vertex i. */
FUNCTION(vec4)
loop_vertex_point(uint i, tml_words halves, tml_words vertices, tml_words values, uint n,
                  uint flags)
{
    vec4 v = loop_value(values, n, i);
    uint start = tml_word(vertices, 4u * i);
    if (!loop_is_half(start) || (flags & LOOP_LINEAR) != 0u)
        return v;
    return loop_vertex_step(v, loop_walk(start, v, halves, values, n, 0u, 0u),
                            tml_word_float(vertices, 4u * i + 1u),
                            tml_word_float(vertices, 4u * i + 2u));
}

/* Value i of the next level. For i from vertex_count on, it is the edge point of the edge whose
 * first half-edge is firsts[i - vertex_count]. Below vertex_count, or if that first half-edge is
 * LOOP_NONE, it is the vertex point. */
FUNCTION(vec4)
loop_child_value(uint i, tml_words halves, tml_words vertices, tml_words firsts, tml_words values,
                 uint n, uint vertex_count, uint flags)
{
    uint first = i < vertex_count ? LOOP_NONE : tml_word(firsts, i - vertex_count);
    if (loop_is_half(first))
        return loop_edge_point(first, halves, values, n, flags);
    return loop_vertex_point(i, halves, vertices, values, n, flags);
}

/* ---- the limit ------------------------------------------------------------------------------- */

/* Limit position of a vertex with value v; weight: the limit mask's for its valence. */
FUNCTION(vec4) loop_limit_step(vec4 v, loop_ring ring, float sharp, float weight)
{
    uint rule = loop_rule(sharp, ring.sharp_count);
    if (rule == LOOP_CORNER)
        return v;
    if (rule == LOOP_CREASE)
        return add4(v, scale4(ring.sharp, 1.0f / 6.0f));
    return add4(v, scale4(ring.all, weight));
}

/* Limit position of vertex i. values are of this level or, with LOOP_REFINED, of the next. */
FUNCTION(vec4)
loop_vertex_limit(uint i, tml_words halves, tml_words vertices, tml_words values, uint n,
                  uint vertex_count, uint flags)
{
    vec4 v = loop_value(values, n, i);
    uint start = tml_word(vertices, 4u * i);
    if (!loop_is_half(start) || (flags & LOOP_LINEAR) != 0u)
        return v;
    float sharp = tml_word_float(vertices, 4u * i + 1u);
    return loop_limit_step(v, loop_walk(start, v, halves, values, n, vertex_count, flags),
                           (flags & LOOP_REFINED) != 0u ? loop_worn(sharp) : sharp,
                           tml_word_float(vertices, 4u * i + 3u));
}

/* The edge point v of an edge from a to b, and its neighbours in the next level relative to v: a,
 * b, and on the left and the right of the edge the neighbours near b and near a. */
/* clang-format off */
STRUCT_BEGIN(loop_centre)
    vec4 v;
    vec4 a;
    vec4 b;
    vec4 left_b;
    vec4 left_a;
    vec4 right_a;
    vec4 right_b;
    bool is_edge; /* a boundary edge, without a right side */
    bool is_sharp;
STRUCT_END(loop_centre)
/* clang-format on */

/* The lower half-edge of h's edge. */
FUNCTION(uint) loop_first(tml_words halves, uint h)
{
    return min(h, loop_twin(halves, h));
}

/* loop_centre of the edge whose first half-edge is h; values are of the next level. */
FUNCTION(loop_centre)
loop_centre_of(uint h, tml_words halves, tml_words values, uint n, uint vertex_count)
{
    uint twin = loop_twin(halves, h);
    loop_centre c;
    c.is_edge = !loop_is_half(twin);
    c.is_sharp = loop_worn(loop_sharpness(halves, h)) > 0.0f;
    c.v = loop_value(values, n, loop_middle(halves, h, vertex_count));
    c.a = sub4(loop_value(values, n, loop_origin(halves, h)), c.v);
    c.b = sub4(loop_value(values, n, loop_origin(halves, loop_next(h))), c.v);
    c.left_b = sub4(loop_value(values, n, loop_middle(halves, loop_next(h), vertex_count)), c.v);
    c.left_a = sub4(loop_value(values, n, loop_middle(halves, loop_prev(h), vertex_count)), c.v);
    c.right_a = c.left_a;
    c.right_b = c.left_b;
    if (!c.is_edge) {
        c.right_a =
            sub4(loop_value(values, n, loop_middle(halves, loop_next(twin), vertex_count)), c.v);
        c.right_b =
            sub4(loop_value(values, n, loop_middle(halves, loop_prev(twin), vertex_count)), c.v);
    }
    return c;
}

/* The same neighbourhood from this level's values and `kept`, the next level's vertex points.
 * Computes the edge points. */
FUNCTION(loop_centre)
loop_centre_ahead(uint h, tml_words halves, tml_words values, tml_words kept, uint n, uint flags)
{
    uint twin = loop_twin(halves, h);
    loop_centre c;
    c.is_edge = !loop_is_half(twin);
    c.is_sharp = loop_worn(loop_sharpness(halves, h)) > 0.0f;
    c.v = loop_edge_point(h, halves, values, n, flags);
    c.a = sub4(loop_value(kept, n, loop_origin(halves, h)), c.v);
    c.b = sub4(loop_value(kept, n, loop_origin(halves, loop_next(h))), c.v);
    c.left_b =
        sub4(loop_edge_point(loop_first(halves, loop_next(h)), halves, values, n, flags), c.v);
    c.left_a =
        sub4(loop_edge_point(loop_first(halves, loop_prev(h)), halves, values, n, flags), c.v);
    c.right_a = c.left_a;
    c.right_b = c.left_b;
    if (!c.is_edge) {
        c.right_a = sub4(
            loop_edge_point(loop_first(halves, loop_next(twin)), halves, values, n, flags), c.v);
        c.right_b = sub4(
            loop_edge_point(loop_first(halves, loop_prev(twin)), halves, values, n, flags), c.v);
    }
    return c;
}

FUNCTION(vec4) loop_centre_limit(loop_centre c, uint flags)
{
    if ((flags & LOOP_LINEAR) != 0u || (c.is_edge && (flags & LOOP_PINNED) != 0u))
        return c.v;
    vec4 ends = add4(c.a, c.b);
    if (c.is_edge || c.is_sharp)
        return add4(c.v, scale4(ends, 1.0f / 6.0f));
    vec4 sides = add4(add4(c.left_b, c.left_a), add4(c.right_a, c.right_b));
    return add4(c.v, scale4(add4(ends, sides), 1.0f / 12.0f));
}

/* Limit position of value i of the next level, from the next level's values and this level's
 * topology. */
FUNCTION(vec4)
loop_child_limit(uint i, tml_words halves, tml_words vertices, tml_words firsts, tml_words values,
                 uint n, uint vertex_count, uint flags)
{
    if (i >= vertex_count)
        return loop_centre_limit(
            loop_centre_of(tml_word(firsts, i - vertex_count), halves, values, n, vertex_count),
            flags);
    return loop_vertex_limit(i, halves, vertices, values, n, vertex_count, flags | LOOP_REFINED);
}

/* ---- normals of the limit surface ------------------------------------------------------------ */

FUNCTION(vec3) loop_point(tml_words positions, uint i)
{
    return tml_word_vec3(positions, i);
}

/* v scaled to length 1; 0 0 0 if v is 0. */
FUNCTION(vec3) loop_unit(vec3 v)
{
    float size = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if (!(size > 0.0f))
        return VEC3(0.0f, 0.0f, 0.0f);
    vec3 scaled =
        VEC3(v.x / size, v.y / size, v.z / size); /* squares neither overflow nor underflow */
    return scale3(scaled, 1.0f / length3(scaled));
}

/* One side of a crease at a vertex: its normal, and the sharp half-edge that ends the side. Sides
 * are walked counter-clockwise from the half-edge that begins them. LOOP_NONE on a boundary. */
/* clang-format off */
STRUCT_BEGIN(loop_side)
    vec3 normal;
    uint end;
STRUCT_END(loop_side)
/* clang-format on */

/* Normal of the side that begins at sharp half-edge first, from tangents along and across the
 * crease (Biermann et al. 2000), which are sums of differences from v. inside: the number of edges
 * between the two sharp ones; 2 is the regular case. */
FUNCTION(loop_side)
loop_side_normal(uint first, vec3 v, tml_words halves, tml_words positions, tml_words turns,
                 uint vertex_count, uint flags)
{
    uint inside = 0u;
    uint h = loop_twin(halves, loop_prev(first));
    while (loop_is_half(h) && !(loop_sharpness_at(halves, h, flags) > 0.0f) && h != first) {
        inside = inside + 1u;
        h = loop_twin(halves, loop_prev(h));
    }
    float turn_cos = tml_word_float(turns, 4u * (inside + 1u)); /* of pi / (inside + 1) */
    float turn_sin = tml_word_float(turns, 4u * (inside + 1u) + 1u);
    float weight_inside = 2.0f * (1.0f - turn_cos);
    float weight_ends = turn_sin;
    if (inside == 2u)
        weight_ends = 0.5f;
    else if (inside == 1u)
        weight_ends = 0.0f;
    else if (inside == 0u)
        weight_ends = -1.0f;
    vec3 a = sub3(loop_point(positions, loop_neighbour(halves, first, vertex_count, flags)), v);
    vec3 b = a;
    vec3 across = VEC3(0.0f, 0.0f, 0.0f);
    float at_cos = turn_cos;
    float at_sin = turn_sin;
    uint before = loop_prev(first);
    for (uint i = 0u; i < inside; i++) {
        h = loop_twin(halves, before);
        vec3 w = sub3(loop_point(positions, loop_neighbour(halves, h, vertex_count, flags)), v);
        across = add3(across, scale3(w, inside > 2u ? weight_inside * at_sin : 1.0f));
        float turned = at_cos * turn_cos - at_sin * turn_sin;
        at_sin = at_sin * turn_cos + at_cos * turn_sin;
        at_cos = turned;
        before = loop_prev(h);
    }
    b = sub3(loop_point(positions, loop_last_neighbour(halves, before, vertex_count, flags)), v);
    loop_side side;
    side.normal = loop_unit(cross3(sub3(a, b), sub3(across, scale3(add3(a, b), weight_ends))));
    side.end = loop_twin(halves, before);
    return side;
}

/* Sum of the normals of the triangles around a vertex at v, with twice their areas as lengths. */
FUNCTION(vec3)
loop_fan(uint start, vec3 v, tml_words halves, tml_words positions, uint vertex_count, uint flags)
{
    vec3 fan = VEC3(0.0f, 0.0f, 0.0f);
    uint h = start;
    do {
        uint before = loop_prev(h);
        vec3 w = sub3(loop_point(positions, loop_neighbour(halves, h, vertex_count, flags)), v);
        vec3 w_next = sub3(
            loop_point(positions, loop_last_neighbour(halves, before, vertex_count, flags)), v);
        fan = add3(fan, cross3(w, w_next));
        h = loop_twin(halves, before);
    } while (loop_is_half(h) && h != start);
    return fan;
}

/* Two tangents of a smooth vertex: sums over its neighbours with cosines and sines as weights. */
/* clang-format off */
STRUCT_BEGIN(loop_tangents)
    vec3 along;
    vec3 across;
    float at_cos; /* of the next neighbour's angle */
    float at_sin;
STRUCT_END(loop_tangents)
/* clang-format on */

FUNCTION(loop_tangents) loop_tangents_empty(void)
{
    loop_tangents t;
    t.along = VEC3(0.0f, 0.0f, 0.0f);
    t.across = t.along;
    t.at_cos = 1.0f;
    t.at_sin = 0.0f;
    return t;
}

/* turn_cos, turn_sin: of 2 pi / valence. */
FUNCTION(loop_tangents)
loop_tangents_add(loop_tangents t, vec3 difference, float turn_cos, float turn_sin)
{
    t.along = add3(t.along, scale3(difference, t.at_cos));
    t.across = add3(t.across, scale3(difference, t.at_sin));
    float turned = t.at_cos * turn_cos - t.at_sin * turn_sin;
    t.at_sin = t.at_sin * turn_cos + t.at_cos * turn_sin;
    t.at_cos = turned;
    return t;
}

FUNCTION(vec3)
loop_vertex_normal(uint i, tml_words halves, tml_words vertices, tml_words positions,
                   tml_words turns, uint vertex_count, uint flags)
{
    uint start = tml_word(vertices, 4u * i);
    if (!loop_is_half(start))
        return VEC3(0.0f, 0.0f, 0.0f);
    float sharp = tml_word_float(vertices, 4u * i + 1u);
    vec3 v = loop_point(positions, i);
    uint valence = 0u;
    uint sharp_count = 0u;
    uint sharp_half = start;
    uint h = start;
    do {
        if (loop_sharpness_at(halves, h, flags) > 0.0f) {
            sharp_half = h;
            sharp_count = sharp_count + 1u;
        }
        valence = valence + 1u;
        h = loop_twin(halves, loop_prev(h));
        if (h == LOOP_NONE)
            sharp_count = sharp_count + 1u;
    } while (loop_is_half(h) && h != start);
    uint rule = loop_rule((flags & LOOP_REFINED) != 0u ? loop_worn(sharp) : sharp, sharp_count);
    if (rule == LOOP_CORNER)
        return loop_unit(loop_fan(start, v, halves, positions, vertex_count, flags));
    if (rule == LOOP_CREASE) {
        loop_side side = loop_side_normal(h == LOOP_NONE ? start : sharp_half, v, halves, positions,
                                          turns, vertex_count, flags);
        if (!loop_is_half(side.end))
            return side.normal;
        loop_side other =
            loop_side_normal(side.end, v, halves, positions, turns, vertex_count, flags);
        return loop_unit(add3(side.normal, other.normal));
    }
    float turn_cos = tml_word_float(turns, 2u * valence);
    float turn_sin = tml_word_float(turns, 2u * valence + 1u);
    loop_tangents tangents = loop_tangents_empty();
    h = start;
    for (uint k = 0u; k < valence; k++) {
        uint w = loop_neighbour(halves, h, vertex_count, flags);
        tangents =
            loop_tangents_add(tangents, sub3(loop_point(positions, w), v), turn_cos, turn_sin);
        h = loop_twin(halves, loop_prev(h));
    }
    return loop_unit(cross3(tangents.along, tangents.across));
}

/* Normal of the left side of a crease at the edge point of an edge from a to b. All arguments are
 * relative to that point. */
FUNCTION(vec3) loop_middle_side(vec3 a, vec3 b, vec3 near_b, vec3 near_a)
{
    return loop_unit(cross3(sub3(b, a), sub3(add3(near_b, near_a), scale3(add3(a, b), 0.5f))));
}

FUNCTION(vec3) loop_xyz(vec4 v)
{
    return VEC3(v.x, v.y, v.z);
}

FUNCTION(vec3) loop_centre_normal(loop_centre c, uint flags)
{
    vec3 a = loop_xyz(c.a);
    vec3 b = loop_xyz(c.b);
    vec3 left_b = loop_xyz(c.left_b);
    vec3 left_a = loop_xyz(c.left_a);
    vec3 right_a = loop_xyz(c.right_a);
    vec3 right_b = loop_xyz(c.right_b);
    if (c.is_edge && (flags & LOOP_PINNED) != 0u)
        return loop_unit(add3(add3(cross3(b, left_b), cross3(left_b, left_a)), cross3(left_a, a)));
    if (c.is_edge)
        return loop_middle_side(a, b, left_b, left_a);
    if (c.is_sharp)
        return loop_unit(
            add3(loop_middle_side(a, b, left_b, left_a), loop_middle_side(b, a, right_a, right_b)));
    vec3 along = add3(sub3(b, a), scale3(sub3(add3(left_b, right_b), add3(left_a, right_a)), 0.5f));
    vec3 across = sub3(add3(left_b, left_a), add3(right_a, right_b));
    return loop_unit(cross3(along, across));
}
