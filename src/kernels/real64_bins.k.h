/* The binning of a field's points, on every engine: a point's bin, and the record that is sorted
 * into it.
 *
 * Positions are computed in double (on GPUs by kernels/real64.k.h). In float, a record near the far
 * end of a large grid would be less exact than the sums.
 *   plan    words that the host prepares (src/field/field_plan.c): doubles of two words each, and
 *           the levels
 *   points  3 floats per point
 *   radii   1 float per point; unused if the plan has one radius for all */

#define FIELD_BINS_INVERSE 0u  /* 9 doubles: from world to samples, row by row */
#define FIELD_BINS_ORIGIN  18u /* 3 */
#define FIELD_BINS_EXTENT  24u /* 3: half-width, in samples, of a ball of radius 1 */
#define FIELD_BINS_LAST    30u /* 3: the last sample */
#define FIELD_BINS_WIDEST  36u /* the largest extent */
#define FIELD_BINS_RADIUS  38u /* for all points; 0: each has its own */
#define FIELD_BINS_MARGIN  40u
#define FIELD_BINS_LARGEST 42u /* the first level's reach, beyond which no point reaches */
#define FIELD_BINS_LEAST   44u /* of radii */
#define FIELD_BINS_MOST    46u /* of radii */
#define FIELD_BINS_NEAR    48u /* in samples; a smaller reach meets a sample only by rounding */
#define FIELD_BINS_COUNT   50u /* of levels */
#define FIELD_BINS_NONE    51u /* the bin of points that reach no sample, after all others */
#define FIELD_BINS_LEVELS                                                                          \
    52u /* of each level FIELD_BINS_LEVEL words (field_internal.h, device.words) */
#define FIELD_BINS_LEVEL 8u

STRUCT_BEGIN(field_binned)
uint bin;     /* its number among all bins */
uvec4 record; /* a field_point's bits */
STRUCT_END(field_binned)

/* The reach of a point with that radius; 0 if the point is ignored. */
FUNCTION(real64) field_reach_of(tml_words plan, real64 radius)
{
    real64 reach = real64_add(radius, real64_at(plan, FIELD_BINS_MARGIN));
    real64 largest = real64_at(plan, FIELD_BINS_LARGEST);
    real64 samples = real64_multiply(reach, real64_at(plan, FIELD_BINS_WIDEST));
    uint is_usable = real64_at_most(real64_at(plan, FIELD_BINS_LEAST), radius) &
                     real64_at_most(radius, real64_at(plan, FIELD_BINS_MOST)) &
                     real64_at_most(real64_at(plan, FIELD_BINS_NEAR), samples);
    if (real64_less(largest, reach) != 0u)
        reach = largest;
    return is_usable != 0u ? reach : real64_of_uint(0u);
}

/* The reach of point i. */
FUNCTION(real64) field_reach(tml_words plan, tml_words radii, tml_index i)
{
    real64 radius = real64_at(plan, FIELD_BINS_RADIUS);
    if (real64_is_other_than_zero(radius) == 0u)
        radius = real64_of_float(tml_word(radii, i));
    return field_reach_of(plan, radius);
}

/* Point i's position along an axis, in samples from sample (0, 0, 0). Zero entries of the matrix,
 * which most off-diagonal entries are, cost nothing. */
FUNCTION(real64) field_place_along(tml_words plan, tml_words points, tml_index i, uint axis)
{
    real64 sum = real64_of_uint(0u);
    for (uint a = 0u; a < 3u; a++) {
        real64 factor = real64_at(plan, FIELD_BINS_INVERSE + 6u * axis + 2u * a);
        if (real64_is_other_than_zero(factor) != 0u) {
            real64 d = real64_subtract(real64_of_float(tml_word(points, 3u * i + a)),
                                       real64_at(plan, FIELD_BINS_ORIGIN + 2u * a));
            sum = real64_add(sum, real64_multiply(factor, d));
        }
    }
    return sum;
}

/* Does the point reach a sample along an axis? NaN does not. */
FUNCTION(uint) field_meets(tml_words plan, uint axis, real64 reach, real64 position)
{
    real64 support = real64_multiply(reach, real64_at(plan, FIELD_BINS_EXTENT + 2u * axis));
    real64 last = real64_at(plan, FIELD_BINS_LAST + 2u * axis);
    return real64_less(real64_negative(support), position) &
           real64_less(position, real64_add(last, support));
}

/* The level of a reach, given by the bits of its float. Level l holds reaches in (largest / 4^(l +
 * 1), largest / 4^l], and the last level also all smaller ones. Rounding to float does no harm:
 * supports are widened by more. */
FUNCTION(uint) field_level_of(tml_words plan, uint reach)
{
    uint largest = real64_to_float(real64_at(plan, FIELD_BINS_LARGEST));
    return min((largest - reach) >> 24u, tml_word(plan, FIELD_BINS_COUNT) - 1u);
}

/* The bin along one axis. A point outside the grid is in a border bin. That bin is nearer to every
 * brick than the point is, so a brick still finds the point within the support. */
FUNCTION(uint) field_bin_along(real64 position, uint edge_log2, uint bins)
{
    return real64_whole(real64_scale(position, -I(edge_log2)), bins - 1u);
}

/* A float's bits: the position from the bin's first sample. */
FUNCTION(uint) field_in_bin(real64 position, uint bin, uint edge_log2)
{
    real64 corner = real64_scale(real64_of_uint(bin), I(edge_log2));
    return real64_to_float(real64_subtract(position, corner));
}

/* The bin and the record of point i with a reach other than 0. (Measured dead end: with both loops
 * joined, SwiftShader takes two minutes to compile.) */
FUNCTION(field_binned)
field_bin_of(tml_words plan, tml_words points, tml_index i, real64 reach)
{
    uint is_met = 1u, stride = 1u;
    real64 positions[3];
    for (uint a = 0u; a < 3u; a++) {
        positions[a] = field_place_along(plan, points, i, a);
        is_met &= field_meets(plan, a, reach, positions[a]);
    }
    uint near = real64_to_float(reach);
    uint words = FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * field_level_of(plan, near);
    uint edge_log2 = tml_word(plan, words + 1u);
    field_binned result;
    result.bin = tml_word(plan, words);
    result.record = UVEC4(0u, 0u, 0u, near);
    for (uint a = 0u; a < 3u; a++) {
        uint bins = tml_word(plan, words + 2u + a);
        uint bin = field_bin_along(positions[a], edge_log2, bins);
        uint inside = field_in_bin(positions[a], bin, edge_log2);
        result.bin += stride * bin;
        stride *= bins;
        result.record.x = a == 0u ? inside : result.record.x;
        result.record.y = a == 1u ? inside : result.record.y;
        result.record.z = a == 2u ? inside : result.record.z;
    }
    if (is_met == 0u)
        result.bin = tml_word(plan, FIELD_BINS_NONE);
    return result;
}
