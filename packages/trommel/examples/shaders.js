// GLSL ES 3.00 that draws the scene of scene.js from the buffers' textures, without #version. What lies past the count
// goes outside of the picture.
const seen = `
uniform float aspect;
vec4 seen(vec3 at)
{
    vec3 turned = vec3(at.x, 0.8 * at.y - 0.6 * at.z, 0.6 * at.y + 0.8 * at.z);
    return vec4(0.75 * turned.xy / vec2(aspect, 1.0), 0.4 * -turned.z, 1.0);
}`;
const head = 'precision highp float;\nprecision highp int;\nprecision highp usampler2D;\n';

export const particleVertices = glsl => `${head}${glsl}${seen}
uniform usampler2D particles, count;
void main()
{
    bool isThere = uint(gl_VertexID) < tml_count(count);
    gl_Position = isThere ? seen(tml_vec3(particles, uint(gl_VertexID))) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 3.0;
}`;
export const particlePixels = `${head}
out vec4 color;
void main() { color = vec4(1.0, 0.6, 0.2, 1.0); }`;

export const surfaceVertices = glsl => `${head}${glsl}${seen}
uniform usampler2D vertices, normals, counts;
out vec3 normal;
void main()
{
    uint i = uint(gl_VertexID);
    bool isThere = i < tml_count(counts);
    normal = isThere ? tml_vec3(normals, i) : vec3(0.0);
    gl_Position = isThere ? seen(tml_vec3(vertices, i)) : vec4(2.0, 2.0, 2.0, 1.0);
}`;
export const surfacePixels = `${head}
in vec3 normal;
out vec4 color;
void main() { color = vec4(vec3(0.3, 0.6, 0.9) * (0.25 + 0.75 * abs(normalize(normal).y)), 1.0); }`;
