/* Sign bits: a quad is 128 samples of a row. MISSING: also the bits of samples that are missing, as
 * NaN or because of the mask. SURFACE_HELD_LIMITS: the limits are in head (surface_iso.frag). */
#include "gl_surface.glsl"
#include "gl_surface_volume.glsl"

uniform highp usampler2D volume, mask, bricks, head;
uniform uvec2 dims;        /* samples of the volume along x and y */
uniform uint first_sample; /* number in the volume of the box's first sample */
uniform uvec2 last_words;  /* last word of volume and of mask, to which reads are clamped */
uniform uvec2 limit, range;
uniform uint keep, index_iso;
uniform uvec3 first_brick; /* brick of the box's first sample */
uniform uvec2 brick_place; /* row and layer of that sample in its brick */

layout(location = 0) out highp uvec4 bits;
#ifdef MISSING
layout(location = 1) out highp uvec4 missing;
#endif

uvec2 limit_now, range_now;
uint keep_now, index_now;
const uint pad = (OPTIONS & SURFACE_PAD) != 0u ? 1u : 0u;

/* Bits of up to 32 samples: inside, and missing. */
struct sample_bits {
    uint inside, missing;
};

uint volume_word(uint i)
{
    return tml_load_word(volume, min(i, last_words.x));
}

/* Reads n 32-bit samples from number i on. */
sample_bits read_words(uint i, uint n)
{
    sample_bits found;
    found.inside = found.missing = 0u;
    for (uint j = 0u; j < n; j += 4u) {
        uvec4 raw = uvec4(volume_word(i + j), volume_word(i + j + 1u), volume_word(i + j + 2u),
                          volume_word(i + j + 3u));
        uint inside = (is_inside(TYPE, uvec2(raw.x, 0u), limit_now, range_now) ? 1u : 0u) |
                      (is_inside(TYPE, uvec2(raw.y, 0u), limit_now, range_now) ? 2u : 0u) |
                      (is_inside(TYPE, uvec2(raw.z, 0u), limit_now, range_now) ? 4u : 0u) |
                      (is_inside(TYPE, uvec2(raw.w, 0u), limit_now, range_now) ? 8u : 0u);
        found.inside |= inside << j;
#ifdef MISSING
        uint nans = (raw_is_nan(TYPE, uvec2(raw.x, 0u)) ? 1u : 0u) |
                    (raw_is_nan(TYPE, uvec2(raw.y, 0u)) ? 2u : 0u) |
                    (raw_is_nan(TYPE, uvec2(raw.z, 0u)) ? 4u : 0u) |
                    (raw_is_nan(TYPE, uvec2(raw.w, 0u)) ? 8u : 0u);
        found.missing |= nans << j;
#endif
    }
    return found;
}

/* Reads n 64-bit samples from number i on. They are integers, so none is NaN. */
sample_bits read_pairs(uint i, uint n)
{
    sample_bits found;
    found.inside = found.missing = 0u;
    for (uint j = 0u; j < n; j++)
        if (is_inside(TYPE, raw_at(TYPE, volume, i + j), limit_now, range_now))
            found.inside |= 1u << j;
    return found;
}

/* Compares the two 16-bit samples of a word. Returns two bits. */
sample_bits read_two(uint two)
{
    sample_bits found;
    found.missing = 0u;
    if (TYPE == TYPE_F16) {
        uvec2 low = uvec2(two & 0xffffu, 0u), high = uvec2(two >> 16, 0u);
        found.inside = (is_inside(TYPE, low, limit_now, range_now) ? 1u : 0u) |
                       (is_inside(TYPE, high, limit_now, range_now) ? 2u : 0u);
        found.missing = (raw_is_nan(TYPE, low) ? 1u : 0u) | (raw_is_nan(TYPE, high) ? 2u : 0u);
    } else {
        found.inside = halves_inside(TYPE, two, limit_now.x, range_now.x);
    }
    return found;
}

/* Compares a word's four 8-bit samples. Returns four bits: from the limit to the range's end. */
uint read_four(uint four)
{
    uint keys = TYPE_IS_SIGNED(TYPE) ? four ^ 0x80808080u : four,
         end = limit_now.x + range_now.x + 1u;
    uint inside = bytes_inside(keys, limit_now.x * 0x01010101u);
    if (end <= 0xffu)
        inside &= ~bytes_inside(keys, end * 0x01010101u);
    return inside;
}

/* Reads n 8- or 16-bit samples from number i on. The first word may begin before sample i. */
sample_bits read_packed(uint i, uint n)
{
    sample_bits found;
    found.inside = found.missing = 0u;
    uint size_log2 = type_size_log2(TYPE), step = 4u >> size_log2; /* samples per word */
    uint at = i >> (2u - size_log2), shift = (i & (step - 1u)) << (3u + size_log2);
    uint word = volume_word(at);
    for (uint j = 0u; j < n; j += step) {
        uint next = volume_word(++at);
        uint here = shift == 0u ? word : word >> shift | next << (32u - shift);
        word = next;
        if (size_log2 == 0u) {
            found.inside |= read_four(here) << j;
        } else {
            sample_bits two = read_two(here);
            found.inside |= two.inside << j;
            found.missing |= two.missing << j;
        }
    }
    return found;
}

/* Returns a bit for each of n mask bytes from number i on that is zero. */
uint read_mask(uint i, uint n)
{
    uint zeros = 0u, at = i >> 2, shift = (i & 3u) << 3;
    uint word = tml_load_word(mask, at);
    for (uint j = 0u; j < n; j += 4u) {
        uint next = tml_load_word(mask, min(++at, last_words.y));
        uint here = shift == 0u ? word : word >> shift | next << (32u - shift);
        word = next;
        zeros |= (bytes_inside(here, 0x01010101u) ^ 0xfu) << j;
    }
    return zeros;
}

/* Decides word w of a row by its brick's range: 1 all inside, 0 all outside, 2 undecided. */
uint index_answer(uint w, uint y, uint z)
{
    uint bricks_x = (dims.x + 63u) / 64u, bricks_y = (dims.y + 3u) / 4u;
    uint by = first_brick.y + (y + brick_place.x) / 4u,
         bz = first_brick.z + (z + brick_place.y) / 4u;
    uint brick = first_brick.x + w / 2u + bricks_x * (by + bricks_y * bz);
    uint low = tml_load_word(bricks, 2u * brick), high = tml_load_word(bricks, 2u * brick + 1u);
    uint key = key_of(TYPE_F32, uvec2(index_now, 0u)).x;
    if (key_of(TYPE_F32, uvec2(high, 0u)).x < key)
        return 0u;
    return key_of(TYPE_F32, uvec2(low, 0u)).x >= key ? 1u : 2u;
}

/* Reads word w of a row of the workspace, which is row (y, z) of the box. row_first: the number of
 * that row's first sample. */
sample_bits read_columns(uint w, uint y, uint z, uint row_first)
{
    sample_bits found;
    found.inside = found.missing = 0u;
    uint row_size = size.x - 2u * pad;
    uint shift = w == 0u ? pad : 0u; /* columns of the pad */
    uint x = 32u * w + shift - pad;
    if (x >= row_size)
        return found;
    uint n = min(32u - shift, row_size - x), i = row_first + x;
    uint answer = has(SURFACE_INDEXED) ? index_answer(w, y, z) : 2u;
    if (answer == 1u)
        found.inside = 0xffffffffu;
    else if (answer == 2u) { /* WebGL has no ?: of structs */
        if (type_size_log2(TYPE) < 2u)
            found = read_packed(i, n);
        else if (type_size_log2(TYPE) == 2u)
            found = read_words(i, n);
        else
            found = read_pairs(i, n);
    }
    if (has(SURFACE_MASK))
        found.missing |= read_mask(i, n);
    found.inside = (found.inside & low_bits(n) & keep_now) << shift;
    found.missing = (found.missing & low_bits(n)) << shift;
    return found;
}

void main()
{
    limit_now = limit;
    range_now = range;
    keep_now = keep;
    index_now = index_iso;
    if (has(SURFACE_HELD_LIMITS)) {
        uvec4 limits = load_quad(head, 0u), more = load_quad(head, 1u);
        limit_now = limits.xy;
        range_now = limits.zw;
        keep_now = more.x;
        index_now = more.y;
    }
    quad_place place = place_of_quad(tml_texel());
    /* In the pad below, these wrap to large numbers. */
    uint y = place.y - pad, z = place.z - pad;
    bool in_box = y < size.y - 2u * pad && z < size.z - 2u * pad;
    uint row_first = first_sample + (y + z * dims.y) * dims.x;
    uvec4 inside = uvec4(0u), not_there = uvec4(0u);
    for (uint w = 0u; w < 4u; w++) {
        sample_bits found;
        found.inside = found.missing = 0u;
        if (in_box)
            found = read_columns(4u * place.q + w, y, z, row_first);
        /* Four rotations put each word in its component, without indexing vectors. */
        inside = uvec4(inside.yzw, found.inside);
        not_there = uvec4(not_there.yzw, found.missing);
    }
    bits = inside;
#ifdef MISSING
    missing = not_there;
#endif
}
