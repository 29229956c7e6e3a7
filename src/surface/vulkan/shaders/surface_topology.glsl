/* Chooses the meshes of open cells (surface/surface_topology.h) by exact signs. A cell's corners
 * minus the isovalue are integers in their smallest unit. If they are too long, nothing is decided,
 * and the host makes the surface. Include it after surface_scratch.glsl; main sets slab. */
#define EXACT_INTEGER_UNROLL [[unroll]]
#include "kernels/exact_integer.k.h"
#include "kernels/surface_topology.k.h"
#include "kernels/surface_open.k.h"
#include "surface_open.glsl"
#include "surface_place.glsl"

/* Bits of a corner minus the isovalue: a product of four must fit exact_integer. */
const uint CORNER_BITS = 90u;

/* magnitude * 2^exponent. The magnitude is odd, or 0. */
struct scaled_number {
    uvec2 magnitude;
    int exponent;
    bool is_negative;
};

uvec2 shift_down64(uvec2 m, uint count)
{
    m = count >= 32u ? uvec2(m.y, 0u) : m;
    count &= 31u;
    return uvec2(m.x >> count | m.y << 1u << (31u - count), m.y >> count);
}

/* Converts a sample that is not NaN. Infinity becomes the largest double. */
scaled_number scaled_of(uvec2 raw)
{
    scaled_number n;
    uint size = type_size_log2(TYPE);
    uint bits = size == 3u ? 32u : 8u << size, top = size == 3u ? raw.y : raw.x;
    n.is_negative =
        (TYPE_IS_FLOAT(TYPE) || TYPE_IS_SIGNED(TYPE)) && (top >> (bits - 1u) & 1u) != 0u;
    n.exponent = 0;
    if (TYPE_IS_FLOAT(TYPE)) {
        uint fraction_bits = size == 1u ? 10u : size == 2u ? 23u : 20u;
        uint fraction = top & low_bits(fraction_bits);
        uint most = low_bits(bits - 1u - fraction_bits), power = top >> fraction_bits & most;
        uint high = fraction | min(power, 1u) << fraction_bits;
        n.magnitude = size == 3u ? uvec2(raw.x, high) : uvec2(high, 0u);
        n.exponent = int(max(power, 1u)) - (size == 1u ? 25 : size == 2u ? 150 : 1075);
        if (power == most) {
            n.magnitude = uvec2(0xffffffffu, 0x1fffffu);
            n.exponent = 971;
        }
    } else {
        uvec2 wide = uvec2(raw.x, size == 3u ? raw.y : n.is_negative ? 0xffffffffu : 0u);
        if (n.is_negative && size < 2u)
            wide.x |= ~low_bits(bits);
        n.magnitude = n.is_negative ? sub64(uvec2(0u), wide) : wide;
    }
    if (n.magnitude != uvec2(0u)) {
        uint zeros =
            uint(n.magnitude.x != 0u ? findLSB(n.magnitude.x) : 32 + findLSB(n.magnitude.y));
        n.magnitude = shift_down64(n.magnitude, zeros);
        n.exponent += int(zeros);
    }
    return n;
}

/* ---- a cell ---------------------------------------------------------------------------------- */

uvec3 corners[8]; /* minus the isovalue */
uint pads;        /* corners in a pad, which are 0 */
bool is_undecided = false;

/* Returns n in units of 2^unit; 0 if that is too long. */
exact_integer integer_of(scaled_number n, int unit)
{
    uint shift = uint(max(n.exponent - unit, 0));
    uint highest =
        uint(n.magnitude.y != 0u ? 32 + findMSB(n.magnitude.y) : findMSB(n.magnitude.x | 1u));
    bool is_long = n.magnitude != uvec2(0u) && highest + shift >= CORNER_BITS;
    is_undecided = is_undecided || is_long;
    uvec3 m = is_long ? uvec3(0u) : uvec3(n.magnitude, 0u);
    m = shift >= 32u ? uvec3(0u, m.xy) : m;
    m = shift >= 64u ? uvec3(0u, m.xy) : m;
    shift &= 31u;
    m = uvec3(m.x << shift, m.y << shift | m.x >> 1u >> (31u - shift),
              m.z << shift | m.y >> 1u >> (31u - shift));
    exact_integer a = exact_integer_of(m);
    if (n.is_negative)
        a = exact_integer_subtract(exact_integer_of(uvec3(0u)), a, 3u);
    return a;
}

uvec2 sample_at(uvec3 at)
{
    return raw_at(TYPE, element_at(args.volume, number_at(at), type_size_log2(TYPE)), 0u);
}

/* Loads the cell whose lowest corner is at this place of the workspace. */
void load_corners(uvec3 at)
{
    scaled_number numbers[8], iso;
    iso.magnitude = uvec2(LOAD_U32(args.head, SURFACE_HEAD_EXACT_ISO),
                          LOAD_U32(args.head, SURFACE_HEAD_EXACT_ISO + 1u));
    iso.exponent = LOAD_I32(args.head, SURFACE_HEAD_EXACT_ISO + 2u);
    iso.is_negative = LOAD_U32(args.head, SURFACE_HEAD_EXACT_ISO + 3u) != 0u;
    int unit = iso.magnitude != uvec2(0u) ? iso.exponent : 0x7fffffff;
    pads = 0u;
    [[dont_unroll]] for (uint c = 0u; c < 8u; c++) {
        uvec3 place = at + uvec3(c & 1u, c >> 1u & 1u, c >> 2u);
        bool is_pad =
            any(lessThan(place, pad_low())) || any(greaterThanEqual(place, size - pad_high()));
        pads |= is_pad ? 1u << c : 0u;
        numbers[c] = scaled_of(sample_at(volume_place(place)));
        if (!is_pad && numbers[c].magnitude != uvec2(0u))
            unit = min(unit, numbers[c].exponent);
    }
    exact_integer below = integer_of(iso, unit);
    [[dont_unroll]] for (uint c = 0u; c < 8u; c++) {
        corners[c] = uvec3(0u);
        if ((pads >> c & 1u) != 0u)
            continue;
        exact_integer a = exact_integer_subtract(integer_of(numbers[c], unit), below, 3u);
        corners[c] = uvec3(a.word[0], a.word[1], a.word[2]);
    }
}

exact_integer corner_at(uint codes, uint i)
{
    return exact_integer_of(corners[codes >> (3u * i) & 7u]);
}

topology_columns columns_along(uint axis)
{
    topology_columns columns;
    uint low = face_corners(2u * axis), high = face_corners(2u * axis + 1u);
    for (uint i = 0u; i < 4u; i++) {
        columns.low[i] = corner_at(low, i);
        columns.high[i] = corner_at(high, i);
    }
    return columns;
}

/* Returns the mesh with a tunnel, or 0. Calls topology_sign in one place, as it compiles slowly. */
uint find_tunnel(uint inside, uint outside)
{
    int signs[TOPOLOGY_SIDES + 1u];
    topology_columns columns;
    [[dont_unroll]] for (uint i = 0u; i < 3u * TOPOLOGY_DISCRIMINANT + 4u; i++) {
        uint axis = min(i / TOPOLOGY_DISCRIMINANT, 2u), what = i - TOPOLOGY_DISCRIMINANT * axis;
        if (what == 0u)
            columns = columns_along(axis);
        signs[what] = topology_sign(columns, what);
        if (what + 1u != TOPOLOGY_DISCRIMINANT)
            continue;
        /* Just below the isovalue, where all corners are slightly larger, a polynomial that is 0
         * has the sign of its slope, which is that of the sum. */
        [[unroll]] for (uint k = 0u; k < 3u; k++)
            signs[k] = signs[k] != 0 ? signs[k] : signs[k + 3u];
        if (signs[0] == 0 || signs[1] != signs[0] || signs[2] != -signs[0])
            return 0u;
    }
    return topology_tunnel(inside, outside, signs[0], signs[TOPOLOGY_DISCRIMINANT],
                           signs[TOPOLOGY_EXTREMUM], signs[TOPOLOGY_TURN], signs[TOPOLOGY_SIDES]);
}

/* Returns the number of the mesh of the open cell at this place. */
uint find_mesh(uint index, uvec3 at)
{
    load_corners(at);
    uint faces = case_word(index) >> 20 & 0x3fu, joined = 0u;
    [[dont_unroll]] for (uint face = 0u; face < 6u; face++) {
        if ((faces >> face & 1u) == 0u)
            continue;
        uint codes = face_corners(face);
        int sign =
            exact_integer_sign(topology_determinant(corner_at(codes, 0u), corner_at(codes, 1u),
                                                    corner_at(codes, 2u), corner_at(codes, 3u)),
                               TOPOLOGY_WORDS);
        bool is_diagonal = (index >> (codes & 7u) & 1u) != 0u;
        joined |= (is_diagonal ? sign : -sign) >= 0 ? 1u << face : 0u;
    }
    uint meshes = choice_of(index, joined), tunnel = 0u;
    uint inside = meshes >> 10 & 0x3ffu, outside = meshes >> 20;
    if ((inside | outside) != 0u && pads == 0u)
        tunnel = find_tunnel(inside, outside);
    return tunnel != 0u ? tunnel : meshes & 0x3ffu;
}
