/* Measures a picture in one dispatch. A workgroup has a stretch of consecutive units, and reads 256
 * adjacent ones at a time. It adds its counts and sums to the totals by atomics, because integer
 * sums do not depend on the order. Moments are joined in a fixed order: within an invocation, then
 * over lanes and subgroups as a binary tree. The last workgroup to finish joins them in the order
 * of the stretches. */
#include "image.glsl"
#include "kernels/image_moments.k.h"
#include "kernels/image_expose.k.h"
#include "last.glsl"

layout(constant_id = 3) const uint OPTIONS = IMAGE_WITH_LOG;
layout(constant_id = 4) const uint BATCH = 1u; /* units per invocation and step */

ARGS_USE(image_measure_args)

const bool WITH_LOG = (OPTIONS & IMAGE_WITH_LOG) != 0u;
const bool WITH_MEAN = (OPTIONS & IMAGE_WITH_MEAN) != 0u;
const bool WITH_HISTOGRAM = (OPTIONS & IMAGE_WITH_HISTOGRAM) != 0u;
const bool WITH_MASK = (OPTIONS & IMAGE_WITH_MASK) != 0u;
const bool WITH_MAX_RGB = (OPTIONS & IMAGE_WITH_MAX_RGB) != 0u;
const bool IN_QUADS = (OPTIONS & IMAGE_IN_QUADS) != 0u;
const bool IN_ONE_ROW = (OPTIONS & IMAGE_IN_ONE_ROW) != 0u;
const bool IN_TILES = (OPTIONS & IMAGE_IN_TILES) != 0u;

const uint UNIT_QUADS = CHANNELS == 3u ? 3u : 1u;
const uint UNIT = IN_QUADS ? UNIT_QUADS * 16u / PIXEL_SIZE : 1u; /* pixels */
/* Pixels of a unit for which the loop is unrolled. Drivers take long to compile more. Four pixels
 * fill whole words. */
const uint PART = UNIT > 4u ? 4u : UNIT;
const uint LOADS = BATCH * UNIT_QUADS; /* loads of 16 bytes per step */
/* Pixels per invocation and step, which take_positive handles together. */
const bool IN_BATCHES = !WITH_MASK && UNIT <= 4u;
const uint BATCH_PIXELS = BATCH * (IN_BATCHES ? UNIT : 1u);
/* Records that an invocation of the last workgroup loads at a time. */
const uint RECORDS = 4u;
/* The most steps of a round. Its counts then fit a byte, and its sum of fractions fits 32 bits. */
const uint ROUND = 15u;

/* Copies of the histogram, for neighbouring lanes. Adjacent pixels tend to have the same bin, and
 * atomics on one word serialise. */
const uint COPIES = 8u;
shared uint bins[WITH_HISTOGRAM ? 256u * COPIES : 1u];

/* ---- tallies --------------------------------------------------------------------------------- */

/* Words of totals. A 64-bit sum has two words. */
const uint POSITIVE = 0u, ZERO = 1u, NEGATIVE = 2u, NOT_A_NUMBER = 3u, INFINITE = 4u;
const uint LOWEST = 5u, HIGHEST = 6u; /* order_of */
const uint WEIGHT = 8u, LOG_WEIGHT = 10u, WHOLE = 12u, FRACTION = 14u, TOTAL_WORDS = 16u;

/* Counts and sums of some pixels. */
struct tally {
    uvec4 counts; /* POSITIVE to NOT_A_NUMBER */
    uint infinite;
    uint lowest, highest;
    uvec2 weight, log_weight; /* used with a mask; otherwise they follow from counts */
    uvec2 whole, fraction;
    image_moments moments;
};

shared uint totals[TOTAL_WORDS];
shared vec3 group_moments[SUBGROUPS_MAX];

/* The key of a float that is not -0. Keys are ordered as the floats. */
uint order_of(float x)
{
    uint bits = floatBitsToUint(x);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}
uint number_of(uint order)
{
    return (order & 0x80000000u) != 0u ? order & 0x7fffffffu : ~order;
}

/* x sign-extended to 64 bits. */
uvec2 wide(int x)
{
    return uvec2(uint(x), uint(x >> 31));
}

/* As image_moments_join, but a b without weight changes nothing, whatever its mean is. */
image_moments join(image_moments a, image_moments b)
{
    b.mean = b.weight > 0.0 ? b.mean : a.mean;
    return image_moments_join(a, b);
}

tally tally_nothing()
{
    tally none;
    none.counts = uvec4(0u);
    none.infinite = 0u;
    none.lowest = order_of(uintBitsToFloat(0x7f800000u));
    none.highest = order_of(uintBitsToFloat(0xff800000u));
    none.weight = none.log_weight = none.whole = none.fraction = uvec2(0u);
    none.moments.weight = none.moments.mean = none.moments.square = 0.0;
    return none;
}

void add_to_total(uint word, uint count)
{
    if (count != 0u)
        atomicAdd(totals[word], count);
}
void add_to_total64(uint word, uvec2 value)
{
    uint before = atomicAdd(totals[word], value.x);
    add_to_total(word + 1u, value.y + (before + value.x < before ? 1u : 0u));
}

void clear_totals()
{
    uint t = gl_LocalInvocationID.x;
    if (t < TOTAL_WORDS)
        totals[t] = t == LOWEST ? 0xffffffffu : 0u;
}

/* Adds the tallies of all invocations to totals. Begins with a barrier, and ends with one that
 * makes the lanes convergent. */
void gather(tally mine)
{
    barrier();
    uint positive = subgroupAdd(mine.counts.x);
    uint lowest = subgroupMin(mine.lowest), highest = subgroupMax(mine.highest);
    uvec2 weight = WITH_MASK ? subgroup_sum64(mine.weight) : uvec2(0u);
    uvec2 log_weight = WITH_MASK ? subgroup_sum64(mine.log_weight) : uvec2(0u);
    uvec2 whole = WITH_LOG ? subgroup_sum64(mine.whole) : uvec2(0u);
    uvec2 fraction = WITH_LOG ? subgroup_sum64(mine.fraction) : uvec2(0u);
    if (gl_SubgroupInvocationID == 0u) {
        add_to_total(POSITIVE, positive);
        atomicMin(totals[LOWEST], lowest);
        atomicMax(totals[HIGHEST], highest);
        if (WITH_MASK) {
            add_to_total64(WEIGHT, weight);
            add_to_total64(LOG_WEIGHT, log_weight);
        }
        if (WITH_LOG) {
            add_to_total64(WHOLE, whole);
            add_to_total64(FRACTION, fraction);
        }
    }
    /* The other counts are mostly 0, so they are not reduced over the subgroup first. */
    add_to_total(ZERO, mine.counts.y);
    add_to_total(NEGATIVE, mine.counts.z);
    add_to_total(NOT_A_NUMBER, mine.counts.w);
    add_to_total(INFINITE, mine.infinite);
    barrier();
}

image_moments moments_of(vec3 words)
{
    image_moments m;
    m.weight = words.x;
    m.mean = words.y;
    m.square = words.z;
    return m;
}

/* Joins the moments of all invocations in group_moments[0]. Begins and ends with a barrier. */
void gather_moments(image_moments m)
{
    uint t = gl_LocalInvocationID.x;
    barrier();
    for (uint step = 1u; step < SUBGROUP; step <<= 1) {
        image_moments other;
        other.weight = subgroupShuffleXor(m.weight, step);
        other.mean = subgroupShuffleXor(m.mean, step);
        other.square = subgroupShuffleXor(m.square, step);
        m = join(m, other); /* in order in lane 0, and in the lanes that lane 0 depends on */
    }
    if (gl_SubgroupInvocationID == 0u)
        group_moments[subgroup_index()] = vec3(m.weight, m.mean, m.square);
    barrier();
    for (uint step = 1u; step < GROUP / SUBGROUP; step <<= 1) {
        if (t < GROUP / SUBGROUP && (t & (2u * step - 1u)) == 0u) {
            m = join(moments_of(group_moments[t]), moments_of(group_moments[t + step]));
            group_moments[t] = vec3(m.weight, m.mean, m.square);
        }
        barrier();
    }
}

/* ---- pixels ---------------------------------------------------------------------------------- */

/* The sums of an invocation in a round. */
struct sums {
    uint others;   /* pixels that are not positive: a byte for each of kinds 1 to 4 */
    uint counted;  /* pixels with a weight above 0 */
    float lowest, highest;
    uint weight, log_weight; /* with a mask */
    int whole;
    uvec2 fraction;
    image_moments moments; /* of the current step */
};
sums seen;

/* The input is halves, and not logarithms. */
const bool IS_HALF = TYPE == IMAGE_TYPE_F16 && VALUES == IMAGE_LINEAR;

/* The colours for image_luminance. largest: their largest magnitude or, if all are finite, the
 * magnitude of any finite number. Bytes and shorts are finite, and 0 or far from tiny. So are
 * halves, unless the exponent is 0 or 31, which is tested. */
vec3 colours_of(uvec4 bits, out uint largest)
{
    vec3 colours = vec3(0.0);
    largest = 0u;
    bool is_plain = TYPE == IMAGE_TYPE_U8 || TYPE == IMAGE_TYPE_U16;
    if (IS_HALF) {
        /* Exponents plus 1. The upper four of the five bits are then 0 only for exponents 0 and
         * 31. */
        uvec2 exponents = (bits.xy & 0x7c007c00u) + 0x04000400u;
        is_plain = (exponents.x & 0x00007800u) != 0u;
        if (COLOURS == 3u)
            is_plain = is_plain && (exponents.x & 0x78000000u) != 0u &&
                       (exponents.y & 0x00007800u) != 0u;
        if (is_plain)
            return vec3(unpackHalf2x16(bits.x), unpackHalf2x16(bits.y).x);
    }
    [[unroll]] for (uint c = 0u; c < COLOURS; c++) {
        float colour = IS_HALF ? tml_half_to_float(channel_bits(bits, c))
                                              : colour_of(bits, c);
        if (!is_plain) {
            largest = max(largest, image_magnitude(colour));
            colour = image_colour(colour);
        }
        colours[c] = colour;
    }
    return colours;
}

void add_logarithm(float seen_as, bool has_log, uint weight)
{
    if (WITH_LOG || WITH_HISTOGRAM) {
        int stops = image_log2_fixed(has_log ? seen_as : 1.0); /* the logarithm of 1 is 0 */
        if (WITH_LOG && WITH_MASK) {
            seen.whole += int(weight) * image_log2_whole(stops);
            seen.fraction = add64(seen.fraction, uvec2(weight * image_log2_fraction(stops), 0u));
        } else if (WITH_LOG) {
            seen.whole += image_log2_whole(stops);
            seen.fraction.x += image_log2_fraction(stops);
        }
        if (WITH_HISTOGRAM) {
            uint bin = uint(image_bin(stops, args.histogram_low, args.bin_log2));
            if (has_log)
                atomicAdd(bins[bin * COPIES + gl_LocalInvocationID.x % COPIES],
                          WITH_MASK ? weight : 1u);
        }
    }
}

void take(uvec4 bits, uint weight)
{
    uint largest;
    vec3 c = colours_of(bits, largest);
    float luminance = c.x;
    if (COLOURS == 3u)
        luminance = WITH_MAX_RGB ? image_luminance_max(c.x, c.y, c.z)
                                 : image_luminance(c.x, c.y, c.z, args.weight_r, args.weight_b);
    uint kind = image_kind(largest, luminance);
    bool is_counted = weight > 0u;
    bool is_finite = is_counted && kind < IMAGE_NAN;
    seen.counted += is_counted ? 1u : 0u;
    if (is_counted && kind != IMAGE_POSITIVE)
        seen.others += 1u << (8u * (kind - 1u));
    seen.lowest = is_finite ? min(seen.lowest, luminance) : seen.lowest;
    seen.highest = is_finite ? max(seen.highest, luminance) : seen.highest;
    if (WITH_MEAN) {
        image_moments one;
        one.weight = is_finite ? float(weight) : 0.0;
        one.mean = is_finite ? luminance : 0.0;
        one.square = 0.0;
        seen.moments = join(seen.moments, one);
    }
    float seen_as = max(luminance, args.least);
    bool has_log = is_finite && seen_as > 0.0;
    if (WITH_MASK) {
        seen.weight += is_finite ? weight : 0u;
        seen.log_weight += has_log ? weight : 0u;
    }
    add_logarithm(seen_as, has_log, weight);
}

/* ---- pixels together ------------------------------------------------------------------------- */

/* The colours, without a test for tiny ones. Correct if no magnitude is below smallest_plain(). */
vec3 plain_colours_of(uvec4 bits)
{
    if (IS_HALF)
        return vec3(unpackHalf2x16(bits.x), COLOURS == 3u ? unpackHalf2x16(bits.y).x : 0.0);
    vec3 colours = vec3(0.0);
    [[unroll]] for (uint c = 0u; c < COLOURS; c++)
        colours[c] = colour_of(bits, c);
    return colours;
}
/* The least magnitude that is not tiny as a float or, for halves, that is normal as a half. */
float smallest_plain()
{
    return uintBitsToFloat(IS_HALF ? 0x38800000u : IMAGE_TINY);
}

/* Copies the words of unit j of the step to loaded. */
void put_loaded(uvec4 bits[LOADS], uint j)
{
    [[unroll]] for (uint q = 0u; q < UNIT_QUADS; q++)
        [[unroll]] for (uint i = 0u; i < 4u; i++)
            loaded[q * 4u + i] = bits[j * UNIT_QUADS + q][i];
}

/* Adds the pixels of a step if all are inside the row, positive and finite, with no tiny colours,
 * as in most pictures. Extremes then replace the kind of each pixel. Otherwise it adds nothing and
 * returns false. */
bool take_positive(uvec4 bits[LOADS], bool is_inside)
{
    float values[BATCH_PIXELS];
    float smallest = 1.0;
    uint lowest = 0xffffffffu, highest = 0u; /* bits of the luminances */
    uint largest = 0u; /* magnitude of the colours */
    if (!IN_BATCHES)
        return false;
    [[unroll]] for (uint j = 0u; j < BATCH; j++) {
        put_loaded(bits, j);
        [[unroll]] for (uint p = 0u; p < BATCH_PIXELS / BATCH; p++) {
            vec3 c = plain_colours_of(loaded_pixel(p * PIXEL_SIZE));
            float value = c.x;
            if (COLOURS == 3u)
                value = WITH_MAX_RGB
                            ? image_luminance_max(c.x, c.y, c.z)
                            : image_luminance_sum(c.x, c.y, c.z, args.weight_r, args.weight_b);
            if (TYPE == IMAGE_TYPE_F16 || TYPE == IMAGE_TYPE_F32)
                [[unroll]] for (uint i = 0u; i < COLOURS; i++)
                    smallest = min(smallest, abs(c[i]));
            /* A weighted sum of non-finite colours is not finite. A maximum may be finite. */
            if (WITH_MAX_RGB && COLOURS == 3u)
                [[unroll]] for (uint i = 0u; i < COLOURS; i++)
                    largest = max(largest, image_magnitude(c[i]));
            lowest = min(lowest, floatBitsToUint(value));
            highest = max(highest, floatBitsToUint(value));
            values[j * UNIT + p] = value;
        }
    }
    if (!is_inside || lowest < IMAGE_TINY || max(largest, highest) >= IMAGE_INFINITE ||
        smallest < smallest_plain())
        return false;
    seen.counted += BATCH_PIXELS;
    seen.lowest = min(seen.lowest, uintBitsToFloat(lowest));
    seen.highest = max(seen.highest, uintBitsToFloat(highest));
    [[unroll]] for (uint i = 0u; i < BATCH_PIXELS; i++) {
        float value = values[i];
        if (WITH_MEAN) {
            image_moments one;
            one.weight = 1.0;
            one.mean = value;
            one.square = 0.0;
            seen.moments = join(seen.moments, one);
        }
        add_logarithm(max(value, args.least), true, 1u);
    }
    return true;
}

void round_begin()
{
    seen.others = seen.counted = seen.weight = seen.log_weight = 0u;
    seen.whole = 0;
    seen.fraction = uvec2(0u);
    seen.lowest = uintBitsToFloat(0x7f800000u);
    seen.highest = uintBitsToFloat(0xff800000u);
}
void round_end(inout tally mine, image_moments moments)
{
    uvec4 others = (uvec4(seen.others) >> uvec4(0u, 8u, 16u, 24u)) & 0xffu;
    uint positive = seen.counted - (others.x + others.y + others.z + others.w);
    mine.counts += uvec4(positive, others.xyz);
    mine.infinite += others.w;
    mine.lowest = min(mine.lowest, order_of(seen.lowest));
    mine.highest = max(mine.highest, order_of(seen.highest));
    mine.weight = add64(mine.weight, uvec2(seen.weight, 0u));
    mine.log_weight = add64(mine.log_weight, uvec2(seen.log_weight, 0u));
    mine.whole = add64(mine.whole, wide(seen.whole));
    mine.fraction = add64(mine.fraction, seen.fraction);
    if (WITH_MEAN)
        mine.moments = join(mine.moments, moments);
}

/* ---- units ----------------------------------------------------------------------------------- */

uint mask_weight(uint x, uint y)
{
    uint column = image_mask_at(x, args.mask_width, args.width);
    uint row = image_mask_at(y, args.mask_height, args.height);
    return LOAD_U8(args.mask, row * args.mask_width + column);
}

/* The column of a unit's first pixel, and its row. In tiles both may be outside the picture. The
 * column of a pixel before the row's start wraps to a large number. */
uvec2 place_of(uint unit)
{
    if (IN_ONE_ROW)
        return uvec2(unit * UNIT - args.lead, 0u);
    if (IN_TILES) {
        uint tile = unit / GROUP, in_tile = unit % GROUP, across = tile / args.row_units;
        return uvec2((tile - across * args.row_units) * IMAGE_TILE + in_tile % IMAGE_TILE,
                     across * (GROUP / IMAGE_TILE) + in_tile / IMAGE_TILE);
    }
    uint row = unit / args.row_units;
    return uvec2((unit - row * args.row_units) * UNIT - args.lead, row);
}
/* The address of a unit. */
uvec2 unit_at(uint unit, uvec2 place)
{
    if (IN_ONE_ROW)
        return address_of(args.in_at, unit, IN_QUADS ? 16u * UNIT_QUADS : PIXEL_SIZE);
    uvec2 row_at = address_at(args.in_at, place.y, uvec2(args.row_bytes_low, args.row_bytes_high));
    return address_of(row_at, place.x + args.lead, PIXEL_SIZE);
}

#ifdef IMAGE_SAMPLED
/* Quad q of a unit: four of its pixels' scalars, as in an f32 buffer of the texels. Scalars after
 * the row's end are of any texel. */
uvec4 load_quad(uint unit, uvec2 place, uint q)
{
    uvec4 bits;
    uint row = args.row_bytes_low, y = min(place.y, args.height - 1u);
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        uint x = min(place.x + (4u * q + i) / CHANNELS, args.width - 1u);
        vec4 texel = IN_ONE_ROW ? sampled_texel(args.in_at.x + x % row, args.in_at.y + x / row)
                                : sampled_texel(args.in_at.x + x, args.in_at.y + y);
        bits[i] = floatBitsToUint(texel[(4u * q + i) % CHANNELS]);
    }
    return bits;
}
uvec4 load_one(uint unit, uvec2 place)
{
    return load_quad(unit, place, 0u);
}
#else
uvec4 load_quad(uint unit, uvec2 place, uint q)
{
    return quads_at(unit_at(unit, place)).v[q];
}
uvec4 load_one(uint unit, uvec2 place)
{
    return load_pixel(unit_at(unit, place));
}
#endif

/* Adds the pixels of a unit, whose words are in loaded. */
void take_unit(uvec2 place, bool is_there)
{
    [[dont_unroll]] for (uint part = 0u; part < UNIT / PART; part++) {
        [[unroll]] for (uint p = 0u; p < PART; p++) {
            uint x = place.x + part * PART + p;
            bool is_inside = is_there && x < args.width && (!IN_TILES || place.y < args.height);
            uint weight = is_inside ? 1u : 0u;
            if (WITH_MASK)
                weight = is_inside ? mask_weight(x, place.y) : 0u;
            take(loaded_pixel(p * PIXEL_SIZE), weight);
        }
        if (PART < UNIT)
            [[unroll]] for (uint i = 0u; i < 4u * UNIT_QUADS - PIXEL_SIZE; i++)
                loaded[i] = loaded[i + PIXEL_SIZE];
    }
}

/* Measures a workgroup's stretch, which begins at unit first. count: units of the whole picture. */
tally take_stretch(uint first, uint count)
{
    uint t = gl_LocalInvocationID.x;
    uint left = count - first;
    tally mine = tally_nothing();
    image_moments nothing = mine.moments;
    for (uint begin = 0u; begin < args.steps; begin += ROUND) {
        uint end = min(begin + ROUND, args.steps);
        image_moments moments = nothing;
        round_begin();
        for (uint s = begin; s < end; s++) {
            uvec2 places[BATCH];
            uvec4 bits[LOADS];
            /* All loads come before the first use, so that many are in flight. */
            [[unroll]] for (uint j = 0u; j < BATCH; j++) {
                uint unit = first + min((s * BATCH + j) * GROUP + t, left - 1u);
                places[j] = place_of(unit);
                if (IN_QUADS) {
                    [[unroll]] for (uint q = 0u; q < UNIT_QUADS; q++)
                        bits[j * UNIT_QUADS + q] = load_quad(unit, places[j], q);
                } else {
                    bits[j * UNIT_QUADS] = load_one(unit, places[j]);
                }
            }
            seen.moments = nothing;
            bool is_inside = (s * BATCH + BATCH - 1u) * GROUP + t < left;
            [[unroll]] for (uint j = 0u; j < BATCH; j++) /* each unit lies in its row */
                is_inside = is_inside && places[j].x < args.width &&
                            args.width - places[j].x >= UNIT &&
                            (!IN_TILES || places[j].y < args.height);
            bool is_done = take_positive(bits, is_inside);
            if (!is_done)
                [[unroll]] for (uint j = 0u; j < BATCH; j++) {
                    put_loaded(bits, j);
                    take_unit(places[j], (s * BATCH + j) * GROUP + t < left);
                }
            if (WITH_MEAN)
                moments = join(moments, seen.moments);
        }
        round_end(mine, moments);
    }
    return mine;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Memory that workgroups share. It is coherent, so that each workgroup sees the stores of the
 * others. */
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer shared_word_at {
    uint bits;
};
shared_word_at state_word(uint word)
{
    return shared_word_at(address_of_word(args.states, word));
}

/* ---- the histogram --------------------------------------------------------------------------- */

void add_bins()
{
    uint t = gl_LocalInvocationID.x;
    uint sum = 0u;
    for (uint copy = 0u; copy < COPIES; copy++)
        sum += bins[t * COPIES + (copy + t) % COPIES];
    if (sum == 0u)
        return;
    uint word = IMAGE_STATE_BINS + 2u * t;
    uint before = atomicAdd(state_word(word).bits, sum);
    if (WITH_MASK && before + sum < before)
        atomicAdd(state_word(word + 1u).bits, 1u);
}

/* ---- all workgroups together ----------------------------------------------------------------- */

/* The moments of the workgroups, coherent like the states. */
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer records_at {
    vec4 v[];
};

/* Returns whether word is the lower word of a 64-bit sum. */
bool is_wide(uint word)
{
    return word >= WEIGHT && (word & 1u) == 0u;
}

/* Adds the workgroup's totals to the picture's totals, which begin as 0. Therefore the lowest is
 * stored inverted, as a maximum. */
void add_totals()
{
    uint t = gl_LocalInvocationID.x;
    if (t >= TOTAL_WORDS || (t > WEIGHT && !is_wide(t)))
        return; /* upper words are added with their lower words */
    uint total = totals[t], word = IMAGE_STATE_TOTALS + t;
    if (t == LOWEST || t == HIGHEST) {
        atomicMax(state_word(word).bits, t == LOWEST ? ~total : total);
    } else {
        uint before = total != 0u ? atomicAdd(state_word(word).bits, total) : 0u;
        if (is_wide(t)) {
            uint high = totals[t + 1u] + (before + total < before ? 1u : 0u);
            if (high != 0u)
                atomicAdd(state_word(word + 1u).bits, high);
        }
    }
}
void load_totals()
{
    uint t = gl_LocalInvocationID.x;
    if (t < TOTAL_WORDS) {
        uint total = state_word(IMAGE_STATE_TOTALS + t).bits;
        totals[t] = t == LOWEST ? ~total : total;
    }
}

/* Joins the moments of consecutive workgroups. gather_moments then joins all in order. */
image_moments join_records()
{
    image_moments mine = moments_of(vec3(0.0));
    uint each = (args.groups + GROUP - 1u) / GROUP, first = gl_LocalInvocationID.x * each;
    for (uint k = 0u; k < each; k += RECORDS) {
        vec4 records[RECORDS];
        [[unroll]] for (uint i = 0u; i < RECORDS; i++)
            records[i] = records_at(args.records).v[min(first + k + i, args.groups - 1u)];
        [[unroll]] for (uint i = 0u; i < RECORDS; i++)
            if (k + i < each && first + k + i < args.groups)
                mine = join(mine, moments_of(records[i].xyz));
    }
    return mine;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Stores words of the stats (trommel/image.h). */
void store_stats_word(uint word, uint value)
{
    store_word(args.stats, word, value);
}
void store_stats64(uint word, uvec2 value)
{
    store_word(args.stats, word, value.x);
    store_word(args.stats, word + 1u, value.y);
}
void store_stats()
{
    uint t = gl_LocalInvocationID.x;
    uvec2 bin = uvec2(0u);
    if (WITH_HISTOGRAM) {
        bin.x = state_word(IMAGE_STATE_BINS + 2u * t).bits;
        bin.y = state_word(IMAGE_STATE_BINS + 2u * t + 1u).bits;
    }
    store_stats64(IMAGE_STATS_HISTOGRAM + 2u * t, bin);
    if (t != 0u)
        return;
    uint finite = totals[POSITIVE] + totals[ZERO] + totals[NEGATIVE];
    uvec2 weight = uvec2(finite, 0u);
    uvec2 log_weight = uvec2(args.least > 0.0 ? finite : totals[POSITIVE], 0u);
    if (WITH_MASK) {
        weight = uvec2(totals[WEIGHT], totals[WEIGHT + 1u]);
        log_weight = uvec2(totals[LOG_WEIGHT], totals[LOG_WEIGHT + 1u]);
    }
    vec3 moments = WITH_MEAN ? group_moments[0] : vec3(0.0);
    float variance = moments.x > 0.0 ? moments.z / moments.x : 0.0;
    store_stats64(0u, uvec2(finite + totals[NOT_A_NUMBER] + totals[INFINITE], 0u));
    for (uint kind = 0u; kind < IMAGE_KINDS; kind++)
        store_stats64(2u + 2u * kind, uvec2(totals[kind], 0u));
    store_stats64(12u, weight);
    store_stats64(IMAGE_STATS_LOG_WEIGHT, WITH_LOG ? log_weight : uvec2(0u));
    store_stats64(IMAGE_STATS_LOG_WHOLE, uvec2(totals[WHOLE], totals[WHOLE + 1u]));
    store_stats64(IMAGE_STATS_LOG_FRACTION, uvec2(totals[FRACTION], totals[FRACTION + 1u]));
    store_stats_word(20u, number_of(totals[LOWEST]));
    store_stats_word(21u, number_of(totals[HIGHEST]));
    store_stats64(22u, uvec2(floatBitsToUint(moments.y), 0u));
    store_stats64(24u, uvec2(floatBitsToUint(variance), 0u));
    store_stats_word(IMAGE_STATS_HISTOGRAM_LOW, uint(args.histogram_low));
    store_stats_word(IMAGE_STATS_BIN_LOG2, args.bin_log2);
    store_stats_word(28u, floatBitsToUint(args.least));
    store_stats_word(29u, OPTIONS & (IMAGE_WITH_LOG | IMAGE_WITH_MEAN | IMAGE_WITH_HISTOGRAM));
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint group = group_index();
    uint all_groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group * GROUP + t; i < args.clear_count; i += all_groups * GROUP)
        store_word(args.clear, i, 0u);
    if (group >= args.groups)
        return;

    clear_totals();
    if (WITH_HISTOGRAM)
        for (uint copy = 0u; copy < COPIES; copy++)
            bins[copy * GROUP + t] = 0u;
    image_begin();
    uint stretch = args.steps * BATCH * GROUP;
    uint tiles =
        args.row_units * ((args.height + (GROUP / IMAGE_TILE - 1u)) / (GROUP / IMAGE_TILE));
    uint units = IN_TILES ? tiles * GROUP : args.row_units * (IN_ONE_ROW ? 1u : args.height);
    tally mine = take_stretch(group * stretch, units);
    if (WITH_HISTOGRAM) {
        barrier();
        add_bins();
    }
    gather(mine);
    add_totals();
    if (WITH_MEAN) {
        gather_moments(mine.moments);
        if (t == 0u)
            records_at(args.records).v[group] = vec4(group_moments[0], 0.0);
    }
    memoryBarrierBuffer();
    barrier();
    if (!is_last_of(args.states, args.groups, 1u))
        return;
    load_totals();
    if (WITH_MEAN)
        gather_moments(join_records());
    barrier();
    store_stats();
}
