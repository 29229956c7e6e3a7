/* Rays against a tree on the device. One thread follows a ray down the boxes, the nearest children
 * first, and keeps the children to visit in four words, which replace a stack. If floats cannot
 * decide a ray, a second walk lists the triangles that matter, in blocks of four. One thread per
 * block then decides them: in doubles, and by exact sums where doubles cannot.
 *
 * The tree is packed into vectors of four words: the nodes, then the slots. A node holds eight
 * boxes. Nodes are numbered as in a heap: the children of node n are 8 n + 1 to 8 n + 8, and nodes
 * from number u[1] on are leaves. */
#define COLLIDE_RAYS_NODE 4u /* vectors per node */
#define COLLIDE_RAYS_SLOT                                                                          \
    3u /* vectors per slot: one per corner; the first one's fourth word is the triangle's number */

/* What a ray asks for, as in tml_tree_cast_want. */
#define COLLIDE_RAYS_NEAREST 0u
#define COLLIDE_RAYS_ANY     1u
#define COLLIDE_RAYS_COUNT   2u

#define COLLIDE_RAYS_NONE    0xffffffffu
#define COLLIDE_RAYS_UNSURE  0xfffffffeu /* in place of an answer */
#define COLLIDE_RAYS_PERHAPS 0x80000000u /* flag of a slot whose triangle the ray may miss */

/* A listed ray: its number in the lower 27 bits; above them, if KNOWN is set, how many triangles
 * the ray needs. */
#define COLLIDE_RAYS_BITS   27u
#define COLLIDE_RAYS_NUMBER 0x7ffffffu
#define COLLIDE_RAYS_KNOWN  0x80000000u

#define COLLIDE_RAYS_INFINITY 0x7f800000u

#define COLLIDE_RAYS_LISTED_MOST                                                                   \
    4096u /* triangles per ray: each of its threads counts through all those before its own */

#define COLLIDE_RAYS_IMMODERATE                                                                    \
    0x7fc00000u /* the packed tree's first word if floats cannot handle the tree */

/* ---- the packed tree ------------------------------------------------------------------------- */

/* The extent of a node's box along an axis. x: where the box begins; y: the least power of two of
 * which 255/256 hold the box. */
FUNCTION(vec2) collide_rays_extent(tml_words boxes, uint at)
{
    float low = 3e38f;
    float high = -3e38f;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) { /* empty boxes have 3e38 and -3e38 */
        low = min(low, tml_word_float(boxes, at + i));
        high = max(high, tml_word_float(boxes, at + COLLIDE_HIGH_WORDS + i));
    }
    uint bits = floatBitsToUint(max(high - low, 0.0f)) & 0x7fffffffu;
    /* the exponent after next, where the mantissa is above 255 / 256 */
    uint exponent = (bits >> 23u) + ((bits & 0x7fffffu) > 0x7effffu ? 2u : 1u);
    return VEC2(low, uintBitsToFloat(max(exponent, 27u) << 23u));
}

/* The ends of four children's boxes along an axis, in 256ths of the node's box, rounded
 * outwards. */
FUNCTION(uint) collide_rays_ends(tml_words boxes, uint at, vec2 extent, bool is_high)
{
    uint word = 0u;
    for (uint i = 0u; i < 4u; i++) {
        float part = (tml_word_float(boxes, at + i) - extent.x) * (256.0f / extent.y);
        part = is_high ? ceil(part) : floor(part);
        word |= U(clamp(part, 0.0f, 255.0f)) << (8u * i);
    }
    return word;
}

/* How much farther along an axis the children with this bit set in their number lie than the
 * others: the difference of the sums of their boxes' ends. */
FUNCTION(float) collide_rays_apart(tml_words boxes, uint at, uint bit)
{
    float sum = 0.0f;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        float low = tml_word_float(boxes, at + i);
        float high = tml_word_float(boxes, at + COLLIDE_HIGH_WORDS + i);
        if (low <= high)
            sum += (i & bit) != 0u ? low + high : -(low + high);
    }
    return sum;
}

/* The axis along which a bit of the children's numbers separates them most. */
FUNCTION(uint) collide_rays_axis(tml_words boxes, uint at, uint bit)
{
    float x = collide_rays_apart(boxes, at, bit);
    float y = collide_rays_apart(boxes, at + COLLIDE_WIDTH, bit);
    float z = collide_rays_apart(boxes, at + 2u * COLLIDE_WIDTH, bit);
    return z > max(x, y) ? 2u : y > x ? 1u : 0u;
}

/* Vector `part` of the node that is group number group of the boxes. Vector 0: where the node's box
 * begins; then for each axis 8 bits of the exponent of its extent; then for each bit of the
 * children's numbers 2 bits for the axis that it separates. Vectors 1 to 3: eight bytes for each
 * end and axis. */
FUNCTION(uvec4) collide_rays_node(tml_words boxes, uint group, uint part)
{
    uint at = COLLIDE_BOX_WORDS * group;
    vec2 x = collide_rays_extent(boxes, at);
    vec2 y = collide_rays_extent(boxes, at + COLLIDE_WIDTH);
    vec2 z = collide_rays_extent(boxes, at + 2u * COLLIDE_WIDTH);
    if (part == 0u) {
        uint axes = collide_rays_axis(boxes, at, 1u) | collide_rays_axis(boxes, at, 2u) << 2u |
                    collide_rays_axis(boxes, at, 4u) << 4u;
        return UVEC4(floatBitsToUint(x.x), floatBitsToUint(y.x), floatBitsToUint(z.x),
                     floatBitsToUint(x.y) >> 23u | floatBitsToUint(y.y) >> 23u << 8u |
                         floatBitsToUint(z.y) >> 23u << 16u | axes << 24u);
    }
    /* Each vector holds two of: low x, y, z, high x, y, z. */
    uint first = 2u * part - 2u;
    vec2 p = first == 0u ? x : first == 2u ? z : y;
    vec2 q = first == 0u ? y : first == 2u ? x : z;
    uint from = at + COLLIDE_WIDTH * first;
    uint next = from + COLLIDE_WIDTH;
    return UVEC4(collide_rays_ends(boxes, from, p, first > 2u),
                 collide_rays_ends(boxes, from + 4u, p, first > 2u),
                 collide_rays_ends(boxes, next, q, first >= 2u),
                 collide_rays_ends(boxes, next + 4u, q, first >= 2u));
}

/* The group of boxes of a node, in a tree with so many levels and leaves. The groups of the lowest
 * level come first. Nodes past the last have some valid group. */
FUNCTION(uint) collide_rays_group(uint node, uint levels, uint leaves)
{
    uint level = max(levels, 2u) - 1u;
    uint first = 0u;
    uint wide = 1u;
    while (level > 1u && node - first >= wide) {
        first += wide;
        wide *= COLLIDE_WIDTH;
        level -= 1u;
    }
    uint group = 0u;
    uint count = leaves;
    for (uint i = 1u; i < level; i++) {
        count = (count + COLLIDE_WIDTH - 1u) / COLLIDE_WIDTH;
        group += count;
    }
    count = (count + COLLIDE_WIDTH - 1u) / COLLIDE_WIDTH;
    return group + min(node - first, count - 1u);
}

/* Are all boxes of a group that are not empty finite and within 2^30? */
FUNCTION(bool) collide_rays_are_moderate(tml_words boxes, uint group)
{
    bool are = true;
    for (uint i = 0u; i < 3u * COLLIDE_WIDTH; i++) {
        uint low = tml_word(boxes, COLLIDE_BOX_WORDS * group + i);
        uint high = tml_word(boxes, COLLIDE_BOX_WORDS * group + COLLIDE_HIGH_WORDS + i);
        bool is_empty = low >= 0x7f000000u && low < 0x80000000u && high == (low | 0x80000000u);
        if (!is_empty)
            are = are && (low & 0x7fffffffu) <= 0x4e800000u && (high & 0x7fffffffu) <= 0x4e800000u;
    }
    return are;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Is the magnitude of a number 0, or from 2^-100 to the float whose bits are most? */
FUNCTION(bool) collide_rays_is_moderate(float x, uint most)
{
    uint bits = floatBitsToUint(x) & 0x7fffffffu;
    return bits == 0u || (bits >= 0x0d800000u && bits <= most);
}

/* Rotates the coordinates so that axis comes last, as collide_cast.k.h expects. */
FUNCTION(vec3) collide_rays_along(vec3 p, uint axis)
{
    if (axis == 2u)
        return p;
    return axis == 0u ? VEC3(p.y, p.z, p.x) : VEC3(p.z, p.x, p.y);
}

FUNCTION(uint) collide_rays_largest(vec3 way)
{
    vec3 size = VEC3(abs(way.x), abs(way.y), abs(way.z));
    uint axis = size.y > size.x ? 1u : 0u;
    return size.z > max(size.x, size.y) ? 2u : axis;
}

/* The slope of collide_cast.k.h: the direction's x and y divided by z. x is 4 if floats cannot
 * follow the ray: they require an origin within 2^30 and a largest component from 2^-40 to 2^41. */
FUNCTION(vec2) collide_rays_slope(vec4 from, vec4 way, tml_words tree)
{
    vec3 direction = VEC3(way.x, way.y, way.z);
    vec3 along = collide_rays_along(direction, collide_rays_largest(direction));
    bool fits = tml_word(tree, 0u) != COLLIDE_RAYS_IMMODERATE &&
                collide_rays_is_moderate(from.x, 0x4e800000u) &&
                collide_rays_is_moderate(from.y, 0x4e800000u) &&
                collide_rays_is_moderate(from.z, 0x4e800000u) &&
                collide_rays_is_moderate(way.x, 0x54000000u) &&
                collide_rays_is_moderate(way.y, 0x54000000u) &&
                collide_rays_is_moderate(way.z, 0x54000000u) &&
                collide_rays_is_moderate(from.w, 0x7f000000u) &&
                collide_rays_is_moderate(way.w, 0x7f000000u) &&
                abs(along.z) >= 9.094947017729282e-13f;
    if (!fits)
        return VEC2(4.0f, 0.0f);
    return VEC2(real64_quotient(along.x, along.z), real64_quotient(along.y, along.z));
}

/* The part of a ray that box tests need. With the node's box scaled to [1, 2], the ray passes a
 * child's end v at t = v a + b. Here a is the box's extent divided by the direction, and b is t at
 * the box's lower end, less a. The roundings, including 5 u for a division and those of the ends in
 * 256ths, cause an error below 2^-19 (|a| + |a + b|).
 *
 * If the direction's component along an axis is below 2^-40 of the largest one, every hit is within
 * 2^-39 m of the origin along that axis, where m is the distance from the origin to the tree's
 * farthest end; t is at most T = 4 m divided by the largest component. So 2^-40 of the largest
 * component replaces that component, and the ends are moved by T: no hit is missed. */
STRUCT_BEGIN(collide_rays_line)
vec3 origin;
vec3 inverse;
vec3 margin;
uint back; /* a bit for each axis along which the direction is below 0 */
STRUCT_END(collide_rays_line)

FUNCTION(vec2) collide_rays_inverse(float way, float largest, float reach)
{
    if (abs(way) >= largest * 9.094947017729282e-13f)
        return VEC2(1.0f / way, 0.0f);
    return VEC2((way < 0.0f ? -1099511627776.0f : 1099511627776.0f) / largest,
                4.0f * reach / largest);
}

FUNCTION(collide_rays_line) collide_rays_line_of(vec3 origin, vec3 way, tml_words tree)
{
    uvec4 head = tml_word_uvec4(tree, 0u);
    vec3 low = sub3(VEC3(uintBitsToFloat(head.x), uintBitsToFloat(head.y), uintBitsToFloat(head.z)),
                    origin);
    vec3 size =
        VEC3(uintBitsToFloat((head.w & 0xffu) << 23u), uintBitsToFloat((head.w & 0xff00u) << 15u),
             uintBitsToFloat((head.w & 0xff0000u) << 7u));
    float reach = collide_farthest(low) + collide_farthest(size);
    float largest = collide_farthest(way);
    vec2 x = collide_rays_inverse(way.x, largest, reach);
    vec2 y = collide_rays_inverse(way.y, largest, reach);
    vec2 z = collide_rays_inverse(way.z, largest, reach);
    collide_rays_line line;
    line.origin = origin;
    line.inverse = VEC3(x.x, y.x, z.x);
    line.margin = VEC3(x.y, y.y, z.y);
    line.back = U(x.x < 0.0f) | U(y.x < 0.0f) << 1u | U(z.x < 0.0f) << 2u;
    return line;
}

/* 1 plus a byte of the word, in 256ths. */
FUNCTION(float) collide_rays_end(uint word, uint shift)
{
    return uintBitsToFloat((word >> shift & 0xffu) << 15u | 0x3f800000u);
}

/* 1 if the ray meets a child's box between t_min and t_far. first, last: words with the boxes' ends
 * where the ray enters and leaves. */
FUNCTION(uint)
collide_rays_child(uint shift, uvec3 first, uvec3 last, vec3 a, vec3 enter, vec3 leave, float t_min,
                   float t_far)
{
    float x_in = collide_rays_end(first.x, shift) * a.x + enter.x;
    float y_in = collide_rays_end(first.y, shift) * a.y + enter.y;
    float z_in = collide_rays_end(first.z, shift) * a.z + enter.z;
    float x_out = collide_rays_end(last.x, shift) * a.x + leave.x;
    float y_out = collide_rays_end(last.y, shift) * a.y + leave.y;
    float z_out = collide_rays_end(last.z, shift) * a.z + leave.z;
    return U(max(max(x_in, y_in), max(z_in, t_min)) <= min(min(x_out, y_out), min(z_out, t_far)));
}

/* x: a bit for each child that the ray meets; child i has bit i ^ y, so that the nearest children
 * have the lowest bits. is_there: a bit for each child that exists. */
FUNCTION(uvec2)
collide_rays_met(tml_words tree, uint node, uint is_there, collide_rays_line line, float t_min,
                 float t_far)
{
    uvec4 head = tml_word_uvec4(tree, COLLIDE_RAYS_NODE * node);
    uvec4 p = tml_word_uvec4(tree, COLLIDE_RAYS_NODE * node + 1u);
    uvec4 q = tml_word_uvec4(tree, COLLIDE_RAYS_NODE * node + 2u);
    uvec4 r = tml_word_uvec4(tree, COLLIDE_RAYS_NODE * node + 3u);
    float ax = uintBitsToFloat((head.w & 0xffu) << 23u) * line.inverse.x;
    float ay = uintBitsToFloat((head.w & 0xff00u) << 15u) * line.inverse.y;
    float az = uintBitsToFloat((head.w & 0xff0000u) << 7u) * line.inverse.z;
    float bx = (uintBitsToFloat(head.x) - line.origin.x) * line.inverse.x;
    float by = (uintBitsToFloat(head.y) - line.origin.y) * line.inverse.y;
    float bz = (uintBitsToFloat(head.z) - line.origin.z) * line.inverse.z;
    float x_off = (abs(ax) + abs(bx)) * 1.9073486328125e-6f + line.margin.x;
    float y_off = (abs(ay) + abs(by)) * 1.9073486328125e-6f + line.margin.y;
    float z_off = (abs(az) + abs(bz)) * 1.9073486328125e-6f + line.margin.z;
    vec3 a = VEC3(ax, ay, az);
    vec3 enter = VEC3(bx - ax - x_off, by - ay - y_off, bz - az - z_off);
    vec3 leave = VEC3(bx - ax + x_off, by - ay + y_off, bz - az + z_off);
    bool x_back = (line.back & 1u) != 0u;
    bool y_back = (line.back & 2u) != 0u;
    bool z_back = (line.back & 4u) != 0u;
    uvec3 first = UVEC3(x_back ? q.z : p.x, y_back ? r.x : p.z, z_back ? r.z : q.x);
    uvec3 last = UVEC3(x_back ? p.x : q.z, y_back ? p.z : r.x, z_back ? q.x : r.z);
    uvec3 more_first = UVEC3(x_back ? q.w : p.y, y_back ? r.y : p.w, z_back ? r.w : q.y);
    uvec3 more_last = UVEC3(x_back ? p.y : q.w, y_back ? p.w : r.y, z_back ? q.y : r.w);
    uint met = 0u;
    for (uint i = 0u; i < 4u; i++) {
        met |= collide_rays_child(8u * i, first, last, a, enter, leave, t_min, t_far) << i;
        met |= collide_rays_child(8u * i, more_first, more_last, a, enter, leave, t_min, t_far)
               << (i + 4u);
    }
    met &= is_there;
    uint flip = (line.back >> (head.w >> 24u & 3u) & 1u) |
                (line.back >> (head.w >> 26u & 3u) & 1u) << 1u |
                (line.back >> (head.w >> 28u & 3u) & 1u) << 2u;
    if ((flip & 1u) != 0u)
        met = (met >> 1u & 0x55u) | (met & 0x55u) << 1u;
    if ((flip & 2u) != 0u)
        met = (met >> 2u & 0x33u) | (met & 0x33u) << 2u;
    if ((flip & 4u) != 0u)
        met = met >> 4u | (met & 0xfu) << 4u;
    return UVEC2(met, flip);
}

/* The hits of a ray that are known so far.
 *   best   NEAREST: the slot of the certain hit whose interval, low to high, ends first. Otherwise
 *          the number of certain hits
 *   other  the least t at which another triangle may be hit
 *   slots  up to three such triangles, with their least t in lows; slots.w is UNSURE if there are
 *          more
 * A walk that lists triangles counts in best all that may be needed; slots then holds four of them,
 * from number skip on. */
STRUCT_BEGIN(collide_rays_found)
uint best;
float low;
float high;
float other;
vec3 lows;
uvec4 slots;
STRUCT_END(collide_rays_found)

#define COLLIDE_RAYS_BEYOND  2.535301200456459e30f /* 2^101: no hit's t */
#define COLLIDE_RAYS_NOWHERE 5.070602400912918e30f /* 2^102 */

/* Keeps another triangle that may be hit, at t = low or later. */
FUNCTION(collide_rays_found) collide_rays_keep(collide_rays_found f, uint slot, float low)
{
    if (slot == COLLIDE_RAYS_NONE)
        return f;
    f.other = min(f.other, low);
    if (f.slots.x == COLLIDE_RAYS_NONE || f.lows.x > f.high) {
        f.slots.x = slot;
        f.lows.x = low;
    } else if (f.slots.y == COLLIDE_RAYS_NONE || f.lows.y > f.high) {
        f.slots.y = slot;
        f.lows.y = low;
    } else if (f.slots.z == COLLIDE_RAYS_NONE || f.lows.z > f.high) {
        f.slots.z = slot;
        f.lows.z = low;
    } else {
        f.slots.w = COLLIDE_RAYS_UNSURE;
    }
    return f;
}

FUNCTION(collide_rays_found)
collide_rays_take(collide_rays_found f, uint want, uint slot, bool is_sure, vec2 range)
{
    uint other = slot;
    float low = range.x;
    if (is_sure && want != COLLIDE_RAYS_NEAREST) {
        f.best += 1u;
        return f;
    }
    if (is_sure && range.y < f.high) {
        other = f.best;
        low = f.low;
        f.best = slot;
        f.low = range.x;
        f.high = range.y;
    }
    return collide_rays_keep(f, other, low);
}

FUNCTION(uvec4) collide_rays_before(uint slot, uvec4 slots)
{
    if (slot == COLLIDE_RAYS_NONE)
        return slots;
    return UVEC4(slot, slots.x, slots.y, slots.z);
}

/* The triangles that a ray may need, then NONE; the first is UNSURE if there are more than four.
 * Triangles that are certainly hit are not among them unless the ray asks for the NEAREST. */
FUNCTION(uvec4) collide_rays_needed(collide_rays_found f, uint want)
{
    uvec4 none = UVEC4(COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE);
    uvec4 slots = none;
    if (f.slots.w == COLLIDE_RAYS_UNSURE)
        return UVEC4(COLLIDE_RAYS_UNSURE, none.y, none.z, none.w);
    if (f.lows.z <= f.high)
        slots = collide_rays_before(f.slots.z, slots);
    if (f.lows.y <= f.high)
        slots = collide_rays_before(f.slots.y, slots);
    if (f.lows.x <= f.high)
        slots = collide_rays_before(f.slots.x, slots);
    return want == COLLIDE_RAYS_NEAREST ? collide_rays_before(f.best, slots) : slots;
}

/* How many of the four slots are used. */
FUNCTION(uint) collide_rays_given(uvec4 slots)
{
    return U(slots.x != COLLIDE_RAYS_NONE) + U(slots.y != COLLIDE_RAYS_NONE) +
           U(slots.z != COLLIDE_RAYS_NONE) + U(slots.w != COLLIDE_RAYS_NONE);
}

FUNCTION(collide_rays_found) collide_rays_list(collide_rays_found f, uint slot, uint skip)
{
    if (f.best == skip)
        f.slots.x = slot;
    if (f.best == skip + 1u)
        f.slots.y = slot;
    if (f.best == skip + 2u)
        f.slots.z = slot;
    if (f.best == skip + 3u)
        f.slots.w = slot;
    f.best += 1u;
    return f;
}

/* The interval of t in which the ray hits the triangle, if it does. The corners are sheared as in
 * collide_cast_code, which has found that the ray meets the triangle (is_met) or may meet it. The
 * hit is the mean of the corners' z, weighted by the edges' determinants. Let the determinants have
 * one sign, the sum w, and errors below e each. The mean then has an error below 3 e / w of the
 * range of z, plus 2^-19 of the largest |z| for its own roundings. If w is small, or if the ray
 * only may meet the triangle, the result is the whole range of z. */
FUNCTION(vec2) collide_rays_range(vec2 s, vec3 a, vec3 b, vec3 c, float way, bool is_met)
{
    float ax = a.x - s.x * a.z;
    float ay = a.y - s.y * a.z;
    float bx = b.x - s.x * b.z;
    float by = b.y - s.y * b.z;
    float cx = c.x - s.x * c.z;
    float cy = c.y - s.y * c.z;
    float n = max(max(max(abs(ax), abs(bx)), max(abs(cx), abs(ay))), max(abs(by), abs(cy)));
    float bound = collide_cast_bound(collide_cast_moved(a, b, c), n);
    float bc = bx * cy - by * cx;
    float ca = cx * ay - cy * ax;
    float ab = ax * by - ay * bx;
    float sum = ab + bc + ca;
    float least = min(min(a.z, b.z), c.z);
    float most = max(max(a.z, b.z), c.z);
    float z = 0.5f * least + 0.5f * most;
    float part = 0.5625f;
    if (is_met && abs(sum) > 8.271806125530277e-25f) { /* 2^-80 */
        z = (bc * a.z + ca * b.z + ab * c.z) / sum;
        part = min(4.0f * bound / abs(sum), 1.0f);
    }
    float off = part * (most - least) + 1.9073486328125e-6f * max(abs(least), abs(most));
    float t = z / way;
    off = off * 1.0009765625f / abs(way);
    return VEC2(t - off, t + off);
}

FUNCTION(vec3) collide_rays_corner(uvec4 corner, vec3 origin, uint axis)
{
    vec3 at = VEC3(uintBitsToFloat(corner.x), uintBitsToFloat(corner.y), uintBitsToFloat(corner.z));
    return collide_rays_along(collide_difference(at, origin), axis);
}

FUNCTION(uvec3) collide_rays_bits(vec4 v)
{
    return UVEC3(floatBitsToUint(v.x), floatBitsToUint(v.y), floatBitsToUint(v.z));
}

/* Decides a slot's triangle exactly: the bits of the rounded t at which the ray hits it; NONE if
 * the ray misses it. at: the slot's first vector; is_met: the line is known to pass through the
 * triangle. */
FUNCTION(uint) collide_rays_settle(tml_words tree, uint at, vec4 from, vec4 way, bool is_met)
{
    uvec4 p = tml_word_uvec4(tree, at);
    uvec4 q = tml_word_uvec4(tree, at + 1u);
    uvec4 r = tml_word_uvec4(tree, at + 2u);
    uvec3 a = UVEC3(p.x, p.y, p.z);
    uvec3 b = UVEC3(q.x, q.y, q.z);
    uvec3 c = UVEC3(r.x, r.y, r.z);
    uvec3 origin = collide_rays_bits(from);
    uvec3 direction = collide_rays_bits(way);
    uint t_min = floatBitsToUint(from.w);
    uint t_max = floatBitsToUint(way.w);
    real64_vec3 u = real64_vec3_of(a);
    real64_vec3 v = real64_vec3_of(b);
    real64_vec3 w = real64_vec3_of(c);
    real64_vec3 o = real64_vec3_of(origin);
    real64_vec3 d = real64_vec3_of(direction);
    uint passes = is_met ? 1u : real64_line_passes(u, v, w, o, d);
    if (passes == 2u)
        passes = exact_line_passes(a, b, c, origin, direction);
    if (passes == 0u)
        return COLLIDE_RAYS_NONE;
    /* If the rounded t is not equal to an end, the exact t is on the same side of that end. */
    uint t = real64_line_t(u, v, w, o, d);
    bool is_beyond = t > 0x7fffffffu || t < t_min || t > t_max;
    if (t == REAL64_FLOAT_NAN || t == t_min || t == t_max) {
        uvec3 exact = exact_line_t(a, b, c, origin, direction);
        is_beyond = exact.x > 0x7fffffffu || exact.x < t_min || exact.x > t_max ||
                    (exact.x == t_max && exact.y != 0u);
        t = exact.z;
    }
    return is_beyond ? COLLIDE_RAYS_NONE : t;
}

/* Adds a leaf's triangles to what is found. at: the first slot's vector; from, way: as in
 * collide_rays_walk; along: the largest component of way. */
FUNCTION(collide_rays_found)
collide_rays_leaf(collide_rays_found f, tml_words tree, uint at, uint slot, vec4 from, vec4 way,
                  vec2 slope, float along, uint axis, uint want, uint skip, bool lists)
{
    vec3 origin = VEC3(from.x, from.y, from.z);
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        uvec4 p = tml_word_uvec4(tree, at + COLLIDE_RAYS_SLOT * i);
        uvec4 q = tml_word_uvec4(tree, at + COLLIDE_RAYS_SLOT * i + 1u);
        uvec4 r = tml_word_uvec4(tree, at + COLLIDE_RAYS_SLOT * i + 2u);
        if (p.w == COLLIDE_RAYS_NONE)
            break;
        vec3 a = collide_rays_corner(p, origin, axis);
        vec3 b = collide_rays_corner(q, origin, axis);
        vec3 c = collide_rays_corner(r, origin, axis);
        uint code = collide_cast_code(slope, a, b, c);
        if (code != 0u) {
            bool is_met = (code & COLLIDE_CAST_MET) != 0u;
            vec2 range = collide_rays_range(slope, a, b, c, along, is_met);
            bool is_sure = is_met && range.x >= from.w && range.y <= way.w;
            uint other = is_met ? slot + i : (slot + i) | COLLIDE_RAYS_PERHAPS;
            if (range.y >= from.w && range.x <= min(way.w, f.high)) {
                if (!lists) {
                    f = collide_rays_take(f, want, other, is_sure, range);
                } else {
                    f = collide_rays_list(f, other, skip);
                    if (want == COLLIDE_RAYS_NEAREST && is_sure)
                        f.high = min(f.high, range.y);
                }
            }
        }
    }
    return f;
}

/* Walks a ray through the tree.
 *   from        the origin, and in w the least t of a hit
 *   way         the direction, and in w the greatest t
 *   slope       the direction's x and y divided by z (collide_cast.k.h)
 *   first_leaf  the first node that is a leaf
 *   root        a bit for each child of the root
 *   slots       the first slot's vector
 *   lists       list the triangles that the ray may need, from number skip on
 * best is UNSURE if floats cannot decide (unless lists) or cannot follow the ray. If floats cannot
 * decide, slots holds the triangles that the ray may need. */
FUNCTION(collide_rays_found)
collide_rays_walk(vec4 from, vec4 way, vec2 slope, tml_words tree, uint want, uint first_leaf,
                  uint root, uint slots, uint skip, bool lists)
{
    vec3 direction = VEC3(way.x, way.y, way.z);
    uint axis = collide_rays_largest(direction);
    float along = collide_rays_along(direction, axis).z;
    collide_rays_line line = collide_rays_line_of(VEC3(from.x, from.y, from.z), direction, tree);
    collide_rays_found f;
    f.best = want == COLLIDE_RAYS_NEAREST && !lists ? COLLIDE_RAYS_NONE : 0u;
    f.low = COLLIDE_RAYS_BEYOND;
    f.high = COLLIDE_RAYS_BEYOND;
    f.other = COLLIDE_RAYS_NOWHERE;
    f.lows = VEC3(COLLIDE_RAYS_NOWHERE, COLLIDE_RAYS_NOWHERE, COLLIDE_RAYS_NOWHERE);
    f.slots = UVEC4(COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE, COLLIDE_RAYS_NONE);
    bool is_beyond = slope.x > 2.0f; /* not for floats */
    bool goes = from.w <= way.w && !is_beyond;
    uvec2 met = UVEC2(0u, 0u);
    /* For each ancestor, what is left of met: 11 bits each, the parent's in the lowest of 128
     * bits. */
    uvec4 above = UVEC4(0u, 0u, 0u, 0u);
    uint node = 0u;
    if (goes)
        met = collide_rays_met(tree, 0u, root, line, from.w, way.w);
    while (goes) {
        uint leaf = COLLIDE_RAYS_NONE;
        while (goes && leaf == COLLIDE_RAYS_NONE) {
            if (met.x != 0u) {
                uint next = COLLIDE_WIDTH * node + (lowest_bit32(met.x) ^ met.y) + 1u;
                met.x &= met.x - 1u;
                if (next < first_leaf) {
                    above =
                        UVEC4(above.x << 11u | met.x | met.y << 8u, above.y << 11u | above.x >> 21u,
                              above.z << 11u | above.y >> 21u, above.w << 11u | above.z >> 21u);
                    node = next;
                    met = collide_rays_met(tree, node, 0xffu, line, from.w, min(way.w, f.high));
                } else {
                    leaf = next - first_leaf;
                }
            } else if (node != 0u) {
                met = UVEC2(above.x & 0xffu, above.x >> 8u & 7u);
                above = UVEC4(above.x >> 11u | above.y << 21u, above.y >> 11u | above.z << 21u,
                              above.z >> 11u | above.w << 21u, above.w >> 11u);
                node = (node - 1u) / COLLIDE_WIDTH;
            } else {
                goes = false;
            }
        }
        if (goes) {
            uint slot = COLLIDE_WIDTH * leaf;
            f = collide_rays_leaf(f, tree, slots + COLLIDE_RAYS_SLOT * slot, slot, from, way, slope,
                                  along, axis, want, skip, lists);
            if (lists)
                goes = f.best < skip + 4u;
            else if (want == COLLIDE_RAYS_ANY)
                goes = f.best == 0u;
            else if (want == COLLIDE_RAYS_COUNT)
                goes = f.other > f.high;
        }
    }
    bool is_found = want == COLLIDE_RAYS_ANY && f.best != 0u && !lists;
    if (is_beyond)
        f.slots.w = COLLIDE_RAYS_UNSURE;
    if (!lists)
        f.slots = collide_rays_needed(f, want);
    if (is_beyond || (f.other <= f.high && !is_found))
        f.best = COLLIDE_RAYS_UNSURE;
    if (is_found)
        f.best = 1u;
    return f;
}

/* ---- what was found -------------------------------------------------------------------------- */

/* The position of a ray's first block, or else of the next ray's, among `end` blocks that are
 * sorted by their rays. */
FUNCTION(uint) collide_rays_first(tml_words rays, uint ray, uint end)
{
    uint below = 0u;
    uint above = end;
    while (below < above) {
        uint middle = (below + above) / 2u;
        if (tml_word(rays, middle) < ray)
            below = middle + 1u;
        else
            above = middle;
    }
    return below;
}

/* The number of hits in an answer: one slot for NEAREST, otherwise the answer itself. */
FUNCTION(uint) collide_rays_count_of(uint answer, uint want)
{
    if (answer >= COLLIDE_RAYS_UNSURE)
        return 0u;
    return want == COLLIDE_RAYS_NEAREST ? 1u : answer;
}
