/* The cells of a volume: their samples and their case. Include it after float_common.glsl. TYPE:
 * tml_type of the samples. Cells are numbered with x fastest. */
#include "kernels/surface.k.h"

uniform sampler2D volume;
uniform vec4 volume_shape;
uniform sampler2D table; /* 16 bytes per case: edges, three per triangle; last the triangle count */
uniform vec4 table_shape;
uniform vec2 cells;      /* cells per row, per layer */
uniform vec3 strides;    /* samples per row, per layer, before the first cell */
uniform vec2 iso;        /* the smallest float >= the isovalue; the isovalue */

float value_at(float i)
{
#if TYPE == 1
    return load_byte(volume, volume_shape, i);
#elif TYPE == 3
    return load_half_word(volume, volume_shape, i);
#else
    return load_float(volume, volume_shape, i);
#endif
}

vec3 cell_of(float item)
{
    float z = divide(item, cells.y), rest = item - z * cells.y;
    float y = divide(rest, cells.x);
    return vec3(rest - y * cells.x, y, z);
}

/* Samples at corners 0 to 3 and 4 to 7. */
struct cell_samples {
    vec4 low;
    vec4 high;
};
vec4 four_at(float i)
{
    return vec4(value_at(i), value_at(i + 1.0), value_at(i + strides.x),
                value_at(i + strides.x + 1.0));
}
cell_samples samples_of(vec3 cell)
{
    float i = strides.z + cell.x + cell.y * strides.x + cell.z * strides.y;
    cell_samples samples;
    samples.low = four_at(i);
    samples.high = four_at(i + strides.y);
    return samples;
}

/* Returns the case of a cell. If a corner is NaN, returns 0, which has no triangles. */
float case_of(cell_samples s)
{
#if TYPE == 10
    if (is_nan(s.low.x) || is_nan(s.low.y) || is_nan(s.low.z) || is_nan(s.low.w) ||
        is_nan(s.high.x) || is_nan(s.high.y) || is_nan(s.high.z) || is_nan(s.high.w))
        return 0.0;
#endif
    vec4 bits = vec4(1.0, 2.0, 4.0, 8.0);
    return dot(step(iso.xxxx, s.low), bits) + 16.0 * dot(step(iso.xxxx, s.high), bits);
}
