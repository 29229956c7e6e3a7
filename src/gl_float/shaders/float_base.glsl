/* The base of the float tier's HistoPyramid (gl_float_pyramid.h): the items' counts. Included after
 * float_common.glsl and after a function float count_of(float item) for the stream's items. */
float item_count(float item)
{
    return item < stream_length() ? clamp(count_of(item), 0.0, 16777216.0) : 0.0;
}

void main()
{
#if TML_TARGET_FLOATS
    float item = 4.0 * tml_texel();
    vec4 sums;
    sums.x = item_count(item);
    sums.y = sums.x + item_count(item + 1.0);
    sums.z = sums.y + item_count(item + 2.0);
    sums.w = sums.z + item_count(item + 3.0);
    gl_FragColor = vec4(min(sums.x, 16777216.0), min(sums.y, 16777216.0), min(sums.z, 16777216.0),
                        min(sums.w, 16777216.0));
#else
    store_number(item_count(tml_texel()));
#endif
}
