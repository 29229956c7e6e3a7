#version 450
/* A Gaussian's opacity here, and its colour times that: what blends over what is behind. */
layout(location = 0) in vec2 away;
layout(location = 1) flat in vec4 colour;
layout(location = 0) out vec4 seen;

void main()
{
    float square = dot(away, away);
    if (square > 9.0)
        discard;
    float alpha = colour.a * exp(-0.5 * square);
    seen = vec4(colour.rgb * alpha, alpha);
}
