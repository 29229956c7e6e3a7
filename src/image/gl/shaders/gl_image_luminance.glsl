/* A pixel's luminance and kind. Include after gl_image.glsl. MAX_RGB: the luminance is the largest
 * colour. */
uniform vec2 weights; /* of image_luminance */

struct seen_pixel {
    uint kind;
    float luminance; /* 0 if not finite */
};

seen_pixel see_pixel(uint x, uint y)
{
    seen_pixel p;
    vec3 raw = colours_at(x, y);
    uint largest = max(image_magnitude(raw.x), max(image_magnitude(raw.y), image_magnitude(raw.z)));
#if CHANNELS < 3
    p.luminance = image_colour(raw.x);
#else
    float r = image_colour(raw.x), g = image_colour(raw.y), b = image_colour(raw.z);
#ifdef MAX_RGB
    p.luminance = image_luminance_max(r, g, b);
#else
    p.luminance = image_luminance(r, g, b, weights.x, weights.y);
#endif
#endif
    p.kind = image_kind(largest, p.luminance);
    if (p.kind >= IMAGE_NAN)
        p.luminance = 0.0;
    return p;
}
