/* The source of each output of compact or expand, found by float_locate.frag. Included after
 * float_common.glsl. */
uniform sampler2D sources; /* numbers */
uniform vec4 sources_shape;
uniform sampler2D total; /* a number */
uniform vec4 total_shape;

float source_of(float i)
{
    return load_number(sources, sources_shape, i);
}
float located_count()
{
    return load_number(total, total_shape, 0.0);
}
