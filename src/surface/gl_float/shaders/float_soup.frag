/* Positions of a soup's vertices, one component per texel. */
#include "float_common.glsl"
#include "float_cells.glsl"

uniform sampler2D sources, ranks; /* per triangle: its cell, and its rank in the cell */
uniform vec4 sources_shape, ranks_shape;
uniform float first; /* target texel of the first triangle */
uniform vec3 origin, step_x, step_y, step_z;

float sample_at_corner(cell_samples s, vec3 corner)
{
    float i = corner.x + 2.0 * corner.y;
    return corner.z < 1.0 ? pick(s.low, i) : pick(s.high, i);
}

void main()
{
    float word = tml_texel() - first, vertex = divide(word, 3.0), component = word - 3.0 * vertex;
    float triangle = divide(vertex, 3.0), turn = vertex - 3.0 * triangle;
#ifdef FLIP
    turn = turn < 1.0 ? 0.0 : 3.0 - turn;
#endif
    vec3 cell = cell_of(load_number(sources, sources_shape, triangle));
    cell_samples samples = samples_of(cell);
    float rank = load_number(ranks, ranks_shape, triangle);
    float edge = load_byte(table, table_shape, 16.0 * case_of(samples) + 3.0 * rank + turn);
    float axis = floor(edge * 0.25), place = edge - 4.0 * axis;
    float high = floor(place * 0.5), low = place - 2.0 * high;
    vec3 from = axis < 1.0 ? vec3(0.0, low, high)
                           : axis < 2.0 ? vec3(low, 0.0, high) : vec3(low, high, 0.0);
    vec3 along = axis < 1.0 ? vec3(1.0, 0.0, 0.0)
                            : axis < 2.0 ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
    float t = surface_crossing(sample_at_corner(samples, from),
                               sample_at_corner(samples, from + along), iso.y);
    vec3 at = cell + from + along * t;
    vec3 position = origin + step_x * at.x + step_y * at.y + step_z * at.z;
    store_float(component < 1.0 ? position.x : component < 2.0 ? position.y : position.z);
}
