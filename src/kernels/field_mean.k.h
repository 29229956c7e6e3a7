/* The weighted mean, at any position, of the values that a field's points carry. A point's weight
 * is its kernel there, with the reach extended by one step of the grid. So a vertex of the surface
 * always has a mean: it lies within a step of a sample that some point reaches.
 *
 * Points are sorted into cells, which are finer than the field's bins so that fewer points are
 * tested in vain.
 *   points  4 floats per point, cell by cell: the position relative to the bin's corner, in
 *           field_plan.frame; and 1 / (reach + step)
 *   values  width floats per point, in the same order */

/* The head of plan, which the host makes (src/field/field_mean.c): */
#define FIELD_MEAN_INVERSE 0u  /* 9 floats: from world to samples, row by row */
#define FIELD_MEAN_SHIFT   9u  /* 3: added to positions */
#define FIELD_MEAN_FRAME   12u /* 6: field_plan.frame */
#define FIELD_MEAN_FORMULA 18u
#define FIELD_MEAN_LEVELS  19u /* how many */
/* The head is followed by, for each level: its first cell; log2 of the samples along a cell's edge
 * and along a bin's edge; cells along x, y, z; and as floats the support along x, y, z. Then come
 * the first point of each cell, and the end of all points. */
#define FIELD_MEAN_STEP  20u /* a float: the grid's longest */
#define FIELD_MEAN_HEAD  21u
#define FIELD_MEAN_LEVEL 9u

/* A value of width: sum the moments of field_mean_moments in place of values. */
#define FIELD_MEAN_MOMENTS 17u

FUNCTION(float) field_mean_row(tml_words plan, uint row, vec3 p)
{
    return tml_word_float(plan, row) * p.x + tml_word_float(plan, row + 1u) * p.y +
           tml_word_float(plan, row + 2u) * p.z;
}

FUNCTION(uint) field_mean_cell(float position, uint edge_log2, uint cells)
{
    float cell = max(position, 0.0f) / F(1u << edge_log2);
    return cell < F(cells) ? U(cell) : cells - 1u;
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

/* Samples to field_plan.frame. */
FUNCTION(vec3) field_mean_framed(tml_words plan, vec3 d)
{
    return VEC3(field_mean_row(plan, FIELD_MEAN_FRAME, d),
                tml_word_float(plan, FIELD_MEAN_FRAME + 3u) * d.y +
                    tml_word_float(plan, FIELD_MEAN_FRAME + 4u) * d.z,
                tml_word_float(plan, FIELD_MEAN_FRAME + 5u) * d.z);
}

STRUCT_BEGIN(field_mean_point)
uint cell; /* its number among all cells; the number of cells if the point is in none */
vec4 point;
STRUCT_END(field_mean_point)

/* The cell and the stored point of a record in a bin (real64_bins.k.h). A point outside the grid is
 * in a cell at the bin's border. */
FUNCTION(field_mean_point) field_mean_point_of(tml_words plan, uint bin, uvec4 record)
{
    uint at = 0u, before = 0u, left = bin, levels = tml_word(plan, FIELD_MEAN_LEVELS);
    for (uint level = 0u; level < levels; level++) {
        uint here = FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * level;
        uint more = tml_word(plan, here + 2u) - tml_word(plan, here + 1u);
        uint cells =
            tml_word(plan, here + 3u) * tml_word(plan, here + 4u) * tml_word(plan, here + 5u);
        uint bins = cells >> (3u * more);
        if (at == 0u && left < bins)
            at = here;
        if (at == 0u) {
            left -= bins;
            before += cells;
        }
    }
    vec4 p = VEC4(uintBitsToFloat(record.x), uintBitsToFloat(record.y), uintBitsToFloat(record.z),
                  uintBitsToFloat(record.w));
    vec3 place = field_mean_framed(plan, VEC3(p.x, p.y, p.z));
    field_mean_point result;
    result.cell = before;
    result.point =
        VEC4(place.x, place.y, place.z, 1.0f / (p.w + tml_word_float(plan, FIELD_MEAN_STEP)));
    if (at != 0u) {
        uint edge_log2 = tml_word(plan, at + 1u), more = tml_word(plan, at + 2u) - edge_log2;
        uint x_cells = tml_word(plan, at + 3u), y_cells = tml_word(plan, at + 4u);
        uint x_bins = x_cells >> more, y_bins = y_cells >> more, row = left / x_bins;
        uint z_bin = row / y_bins, inside = 1u << more;
        uint x = ((left - row * x_bins) << more) + field_mean_cell(p.x, edge_log2, inside);
        uint y = ((row - z_bin * y_bins) << more) + field_mean_cell(p.y, edge_log2, inside);
        uint z = (z_bin << more) + field_mean_cell(p.z, edge_log2, inside);
        result.cell = tml_word(plan, at) + x + x_cells * (y + y_cells * z);
    }
    return result;
}

/* Floats 4 quad ... 4 quad + 3 of a point's values; 0 from width on. */
FUNCTION(vec4) field_mean_quad(tml_words values, uint point, uint width, uint quad)
{
    uint at = width * point + 4u * quad, left = width - 4u * quad;
    return VEC4(tml_word_float(values, at), left > 1u ? tml_word_float(values, at + 1u) : 0.0f,
                left > 2u ? tml_word_float(values, at + 2u) : 0.0f,
                left > 3u ? tml_word_float(values, at + 3u) : 0.0f);
}

STRUCT_BEGIN(field_mean_sum)
vec4 a; /* the quads of the values, as many as width has */
vec4 b;
vec4 c;
vec4 d;
float weight;
STRUCT_END(field_mean_sum)

/* Adds the moments of a point as seen from the position, (x, y, z) in units of the reach: x y z |
 * xx yy zz | yz xz xy | 1. The last one counts points and has no weight. */
FUNCTION(field_mean_sum) field_mean_moments(field_mean_sum sum, float x, float y, float z)
{
    float q2 = x * x + y * y + z * z;
    float weight = 1.0f - q2 * sqrt(q2);
    sum.a = add4(sum.a, VEC4(weight * x, weight * y, weight * z, 0.0f));
    sum.b = add4(sum.b, VEC4(weight * x * x, weight * y * y, weight * z * z, 0.0f));
    sum.c = add4(sum.c, VEC4(weight * y * z, weight * x * z, weight * x * y, 0.0f));
    sum.d.x += 1.0f;
    sum.weight += weight;
    return sum;
}

/* Adds points [first, last) of a bin. d: the position relative to the bin's corner, in
 * field_plan.frame. */
FUNCTION(field_mean_sum)
field_mean_add(field_mean_sum sum, vec3 d, uint first, uint last, int formula, tml_words points,
               tml_words values, uint width)
{
    for (uint i = first; i < last; i++) {
        vec4 point = tml_word_vec4(points, i);
        float x = (d.x - point.x) * point.w;
        float y = (d.y - point.y) * point.w;
        float z = (d.z - point.z) * point.w;
        float q2 = x * x + y * y + z * z;
        if (q2 < 1.0f && width == FIELD_MEAN_MOMENTS) {
            sum = field_mean_moments(sum, x, y, z);
        } else if (q2 < 1.0f) {
            float weight = field_term(formula, q2, 1.0f, 0.0f);
            sum.a = add4(sum.a, scale4(field_mean_quad(values, i, width, 0u), weight));
            if (width > 4u)
                sum.b = add4(sum.b, scale4(field_mean_quad(values, i, width, 1u), weight));
            if (width > 8u)
                sum.c = add4(sum.c, scale4(field_mean_quad(values, i, width, 2u), weight));
            if (width > 12u)
                sum.d = add4(sum.d, scale4(field_mean_quad(values, i, width, 3u), weight));
            sum.weight += weight;
        }
    }
    return sum;
}

/* Adds a level's points near position p, which is in samples. at: the level's words. The cells of a
 * bin along x are consecutive, and so are their points. */
FUNCTION(field_mean_sum)
field_mean_level(field_mean_sum sum, vec3 p, uint at, tml_words plan, tml_words points,
                 tml_words values, uint width)
{
    int formula = I(tml_word(plan, FIELD_MEAN_FORMULA));
    uint edge_log2 = tml_word(plan, at + 1u), bin_log2 = tml_word(plan, at + 2u);
    uint more_log2 = bin_log2 - edge_log2;
    uvec3 cells = UVEC3(tml_word(plan, at + 3u), tml_word(plan, at + 4u), tml_word(plan, at + 5u));
    vec3 support = VEC3(tml_word_float(plan, at + 6u), tml_word_float(plan, at + 7u),
                        tml_word_float(plan, at + 8u));
    uint starts =
        FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * tml_word(plan, FIELD_MEAN_LEVELS) + tml_word(plan, at);
    uvec3 first = UVEC3(field_mean_cell(p.x - support.x, edge_log2, cells.x),
                        field_mean_cell(p.y - support.y, edge_log2, cells.y),
                        field_mean_cell(p.z - support.z, edge_log2, cells.z));
    uvec3 last = UVEC3(field_mean_cell(p.x + support.x, edge_log2, cells.x),
                       field_mean_cell(p.y + support.y, edge_log2, cells.y),
                       field_mean_cell(p.z + support.z, edge_log2, cells.z));
    for (uint z = first.z; z <= last.z; z++)
        for (uint y = first.y; y <= last.y; y++) {
            uint row = starts + cells.x * (y + cells.y * z);
            uint x = first.x;
            while (x <= last.x) {
                uint bin = x >> more_log2;
                uint end = min((bin + 1u) << more_log2, last.x + 1u);
                uint from = tml_word(plan, row + x), to = tml_word(plan, row + end);
                if (from < to) {
                    vec3 d = VEC3(p.x - F(bin << bin_log2), p.y - F(y >> more_log2 << bin_log2),
                                  p.z - F(z >> more_log2 << bin_log2));
                    sum = field_mean_add(sum, field_mean_framed(plan, d), from, to, formula, points,
                                         values, width);
                }
                x = end;
            }
        }
    return sum;
}

/* The means at a position; 0 if no point has a weight there. Each call passes a constant width. */
FUNCTION(field_mean_sum)
field_mean(vec3 at, tml_words plan, tml_words points, tml_words values, uint width)
{
    vec3 p = field_mean_place(plan, at);
    field_mean_sum sum;
    sum.a = VEC4(0.0f, 0.0f, 0.0f, 0.0f);
    sum.b = sum.a;
    sum.c = sum.a;
    sum.d = sum.a;
    sum.weight = 0.0f;
    for (uint level = 0u; level < tml_word(plan, FIELD_MEAN_LEVELS); level++)
        sum = field_mean_level(sum, p, FIELD_MEAN_HEAD + FIELD_MEAN_LEVEL * level, plan, points,
                               values, width);
    float share = sum.weight > 0.0f ? 1.0f / sum.weight : 1.0f;
    sum.a = scale4(sum.a, share);
    sum.b = scale4(sum.b, share);
    sum.c = scale4(sum.c, share);
    sum.d = scale4(sum.d, share);
    return sum;
}
