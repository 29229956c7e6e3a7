/* The mean of what a field's points carry, at any position: each point's value weighs as much as its kernel there, over
 * its reach and one step of the grid more. So a surface's vertex, which lies within a step of a sample that some point
 * reaches, always has a mean.
 *
 * plan: words that the host makes (src/field/field_mean.c); points: 4 words each, bin by bin (field_point); values:
 * width floats a point, in that order. */

/* The head of plan: */
#define FIELD_MEAN_INVERSE 0u  /* 9 floats: from world to samples, row by row */
#define FIELD_MEAN_SHIFT   9u  /* 3: added to positions */
#define FIELD_MEAN_FRAME   12u /* 6: field_plan.frame */
#define FIELD_MEAN_EXTENT  18u /* 3: field_plan.extent */
#define FIELD_MEAN_STEP    21u /* a float, in world units */
#define FIELD_MEAN_FORMULA 22u
#define FIELD_MEAN_LEVELS  23u /* how many */
/* Behind it, of each level: its first bin, edge_log2, bins along x, y, z, and floats: the support along x, y, z. */
#define FIELD_MEAN_HEAD  24u
#define FIELD_MEAN_LEVEL 8u

FUNCTION(float) field_mean_row(tml_words plan, uint row, vec3 p)
{
    return tml_word_float(plan, row) * p.x + tml_word_float(plan, row + 1u) * p.y +
           tml_word_float(plan, row + 2u) * p.z;
}

FUNCTION(uint) field_mean_bin(float position, uint edge_log2, uint bins)
{
    float bin = max(position, 0.0f) / F(1u << edge_log2);
    return bin < F(bins) ? U(bin) : bins - 1u;
}

/* A position in samples. */
FUNCTION(vec3) field_mean_place(tml_words plan, vec3 at)
{
    vec3 p = VEC3(at.x + tml_word_float(plan, FIELD_MEAN_SHIFT),
                  at.y + tml_word_float(plan, FIELD_MEAN_SHIFT + 1u),
                  at.z + tml_word_float(plan, FIELD_MEAN_SHIFT + 2u));
    return VEC3(field_mean_row(plan, FIELD_MEAN_INVERSE, p),
                field_mean_row(plan, FIELD_MEAN_INVERSE + 3u, p),
                field_mean_row(plan, FIELD_MEAN_INVERSE + 6u, p));
}

/* The weight of a point of that reach, d samples away. */
FUNCTION(float) field_mean_weight(tml_words plan, vec3 d, float reach)
{
    float x = field_mean_row(plan, FIELD_MEAN_FRAME, d);
    float y = tml_word_float(plan, FIELD_MEAN_FRAME + 3u) * d.y +
              tml_word_float(plan, FIELD_MEAN_FRAME + 4u) * d.z;
    float z = tml_word_float(plan, FIELD_MEAN_FRAME + 5u) * d.z;
    float unit = 1.0f / (reach + tml_word_float(plan, FIELD_MEAN_STEP));
    float q2 = (x * unit) * (x * unit) + (y * unit) * (y * unit) + (z * unit) * (z * unit);
    if (!(q2 < 1.0f))
        return 0.0f;
    return field_term(I(tml_word(plan, FIELD_MEAN_FORMULA)), q2, 1.0f, 0.0f);
}

FUNCTION(float) field_mean_value(tml_words values, uint point, uint width, uint i)
{
    return i < width ? tml_word_float(values, width * point + i) : 0.0f;
}

STRUCT_BEGIN(field_mean_sum)
vec4 values;
float weight;
STRUCT_END(field_mean_sum)

/* Adds points [first, last) of a bin, whose corner is d samples from the position. */
FUNCTION(field_mean_sum)
field_mean_add(field_mean_sum sum, vec3 d, uint first, uint last, tml_words plan, tml_words points,
               tml_words values, uint width)
{
    for (uint i = first; i < last; i++) {
        vec4 point = tml_word_vec4(points, i);
        vec3 away = VEC3(d.x - point.x, d.y - point.y, d.z - point.z);
        float weight = field_mean_weight(plan, away, point.w);
        if (weight > 0.0f) {
            vec4 value = VEC4(
                field_mean_value(values, i, width, 0u), field_mean_value(values, i, width, 1u),
                field_mean_value(values, i, width, 2u), field_mean_value(values, i, width, 3u));
            sum.values = add4(sum.values, scale4(value, weight));
            sum.weight += weight;
        }
    }
    return sum;
}

/* Adds a level's points near position p, in samples. at: the level's words. */
FUNCTION(field_mean_sum)
field_mean_level(field_mean_sum sum, vec3 p, uint at, tml_words plan, tml_words points,
                 tml_words values, uint width)
{
    uint edge_log2 = tml_word(plan, at + 1u);
    uint starts = FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * tml_word(plan, FIELD_MEAN_LEVELS);
    uvec3 bins = UVEC3(tml_word(plan, at + 2u), tml_word(plan, at + 3u), tml_word(plan, at + 4u));
    float more = tml_word_float(plan, FIELD_MEAN_STEP);
    vec3 support =
        VEC3(tml_word_float(plan, at + 5u) + more * tml_word_float(plan, FIELD_MEAN_EXTENT),
             tml_word_float(plan, at + 6u) + more * tml_word_float(plan, FIELD_MEAN_EXTENT + 1u),
             tml_word_float(plan, at + 7u) + more * tml_word_float(plan, FIELD_MEAN_EXTENT + 2u));
    uvec3 first = UVEC3(field_mean_bin(p.x - support.x, edge_log2, bins.x),
                        field_mean_bin(p.y - support.y, edge_log2, bins.y),
                        field_mean_bin(p.z - support.z, edge_log2, bins.z));
    uvec3 last = UVEC3(field_mean_bin(p.x + support.x, edge_log2, bins.x),
                       field_mean_bin(p.y + support.y, edge_log2, bins.y),
                       field_mean_bin(p.z + support.z, edge_log2, bins.z));
    for (uint z = first.z; z <= last.z; z++)
        for (uint y = first.y; y <= last.y; y++) {
            uint row = starts + tml_word(plan, at) + bins.x * (y + bins.y * z);
            for (uint x = first.x; x <= last.x; x++) {
                vec3 corner =
                    VEC3(p.x - F(x << edge_log2), p.y - F(y << edge_log2), p.z - F(z << edge_log2));
                sum = field_mean_add(sum, corner, tml_word(plan, row + x),
                                     tml_word(plan, row + x + 1u), plan, points, values, width);
            }
        }
    return sum;
}

/* The mean at a position; 0 where no point has a weight. */
FUNCTION(vec4)
field_mean(vec3 at, tml_words plan, tml_words points, tml_words values, uint width)
{
    vec3 p = field_mean_place(plan, at);
    field_mean_sum sum;
    sum.values = VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    sum.weight = 0.0f;
    for (uint level = 0u; level < tml_word(plan, FIELD_MEAN_LEVELS); level++)
        sum = field_mean_level(sum, p, FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * level, plan, points,
                               values, width);
    return sum.weight > 0.0f ? scale4(sum.values, 1.0f / sum.weight) : sum.values;
}
