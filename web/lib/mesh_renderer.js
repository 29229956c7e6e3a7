// Draws what the library left in textures: meshes, the points they come from, their shadow and the
// grid's box, into whatever framebuffer is bound.
//
// Nothing about a mesh is known here but how many triangles to expect. A vertex shader runs for each
// corner of each expected triangle, fetches the corner's index (unless of a soup), position and normal from the
// library's textures, and looks up the count there too: triangles past it fall outside the picture. Needs WebGL 2.
import { MESH_FRAGMENT } from "./mesh_look.js";
import { Programs } from "./programs.js";

const MESH_VERTEX = `
uniform usampler2D vertices, normals, indices, cells, counts;
uniform uvec4 rows;     // log2 of texels in a row: vertices, normals, indices, cells
uniform uint room;      // vertices that there is room for
uniform mat4 view, model;
out vec3 world, normal, corner;
#ifdef CELLS
flat out int in_cell;
#endif

uint word(usampler2D words, uint log2_row, uint i)
{
    return texelFetch(words, ivec2(i & ((1u << log2_row) - 1u), i >> log2_row), 0).x;
}
vec3 vec3_at(usampler2D words, uint log2_row, uint i)
{
    return uintBitsToFloat(uvec3(word(words, log2_row, 3u * i), word(words, log2_row, 3u * i + 1u),
                                 word(words, log2_row, 3u * i + 2u)));
}
#ifdef CELLS
uint cell_of(uint triangle)
{
    return word(cells, rows.w, triangle);
}
// Triangles come in the order of their cells, at most 5 to a cell.
int triangles_in_cell(uint triangle, uint count)
{
    uint cell = cell_of(triangle);
    int found = 1;
    for (uint other = triangle; other > 0u && found < 5 && cell_of(other - 1u) == cell; other--)
        found++;
    for (uint other = triangle + 1u; other < count && found < 5 && cell_of(other) == cell; other++)
        found++;
    return found;
}
#endif
uint vertex_of(uint corner)
{
#ifdef SOUP
    return corner;
#else
    return word(indices, rows.z, corner);
#endif
}
void main()
{
    uint id = uint(gl_VertexID), triangle = id / 3u, k = id - 3u * triangle;
    uint counts_row = textureSize(counts, 0).x > 1 ? 1u : 0u;
    uvec2 count = uvec2(word(counts, counts_row, 0u), word(counts, counts_row, 1u));
    gl_Position = vec4(2, 2, 2, 1);
#ifdef CELLS
    in_cell = 0;
#endif
    if (triangle >= count.y)
        return;
    // Where there was no room for all vertices, a triangle may name one that was not written.
    // (Of a soup it is a point.)
    if (count.x > room)
        for (uint j = 0u; j < 3u; j++)
            if (vertex_of(3u * triangle + j) >= room)
                return;
    uint vertex = vertex_of(id);
    world = (model * vec4(vec3_at(vertices, rows.x, vertex), 1)).xyz;
#ifdef SMOOTH
    normal = mat3(model) * vec3_at(normals, rows.y, vertex);
#endif
#ifdef CELLS
    in_cell = triangles_in_cell(triangle, count.y);
#endif
    corner = vec3(k == 0u, k == 1u, k == 2u);
    gl_Position = view * vec4(world, 1);
}
`;

const POINTS_VERTEX = `
layout(location = 0) in vec3 point;
uniform mat4 view;
uniform float size;
void main()
{
    gl_Position = view * vec4(point, 1);
    gl_PointSize = max(1.5, size / gl_Position.w);
}
`;

const POINTS_FRAGMENT = `
uniform vec4 tint;
void main()
{
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    if (dot(at, at) > 1.0)
        discard;
    color = vec4(tint.rgb * tint.a, tint.a);
}
`;

// The shadow: what each point hides of the ground beneath, in a small picture of the box from above.
const SHADOW_VERTEX = `
layout(location = 0) in vec3 point;
uniform float size;
out float strength;
void main()
{
    float height = 0.5 + 0.5 * clamp(point.y, -1.0, 1.0);
    gl_Position = vec4(point.x / 1.6, point.z / 1.6, 0, 1);
    gl_PointSize = size * (1.0 + 1.6 * height);
    strength = mix(1.0, 0.35, height);
}
`;
const SHADOW_FRAGMENT = `
in float strength;
void main()
{
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float fall = max(0.0, 1.0 - dot(at, at));
    color = vec4(strength * fall * fall);
}
`;
const GROUND_VERTEX = `
uniform mat4 view;
uniform float height;
out vec2 at;
void main()
{
    at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    vec2 flat_at = (2.0 * at - 1.0) * 1.6;
    gl_Position = view * vec4(flat_at.x, height, flat_at.y, 1);
}
`;
const GROUND_FRAGMENT = `
uniform sampler2D shadow;
uniform float opacity;
in vec2 at;
void main()
{
    vec2 inset = smoothstep(vec2(0), vec2(0.12), at) * smoothstep(vec2(0), vec2(0.12), 1.0 - at);
    color = vec4(0, 0, 0, opacity * texture(shadow, at).x * inset.x * inset.y);
}
`;

const BOX_VERTEX = `
uniform mat4 view, model;
uniform vec3 low, high;
void main()
{
    // Edge e runs along axis e / 4, from the corner that two bits of e choose.
    int edge = gl_VertexID >> 1, axis = edge >> 2;
    bvec3 far = bvec3(false);
    far[axis] = (gl_VertexID & 1) != 0;
    far[(axis + 1) % 3] = (edge & 1) != 0;
    far[(axis + 2) % 3] = (edge & 2) != 0;
    gl_Position = view * model * vec4(mix(low, high, vec3(far)), 1);
}
`;
const BOX_FRAGMENT = `
uniform vec4 tint;
void main() { color = vec4(tint.rgb * tint.a, tint.a); }
`;

const SHADOW = ["shadow", SHADOW_VERTEX, SHADOW_FRAGMENT];
const GROUND = ["ground", GROUND_VERTEX, GROUND_FRAGMENT];

const SHADOW_SIDE = 128;

export class MeshRenderer {
    constructor(gl) {
        this.gl = gl;
        this.programs = new Programs(gl);
        this.nothing = gl.createVertexArray();
        this.pointArray = gl.createVertexArray();
        this.pointBuffer = gl.createBuffer();
        this.pointCount = 0;
        gl.bindVertexArray(this.pointArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.pointBuffer);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
        gl.bindVertexArray(null);
        gl.bindBuffer(gl.ARRAY_BUFFER, null);

        // Integer textures can be fetched from only where nothing is to be interpolated, whatever the
        // textures themselves say.
        this.nearest = gl.createSampler();
        gl.samplerParameteri(this.nearest, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.samplerParameteri(this.nearest, gl.TEXTURE_MAG_FILTER, gl.NEAREST);

        this.shadow = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, this.shadow);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, SHADOW_SIDE, SHADOW_SIDE);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
        gl.bindTexture(gl.TEXTURE_2D, null);
        this.shadowFrame = gl.createFramebuffer();
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.shadow, 0);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }

    // Compiles what drawMesh will need, and does not wait.
    prepare(isSmooth, isSoup, colors) {
        this.programs.start(...this.#meshProgram(isSmooth, isSoup, colors));
    }

    #meshProgram(isSmooth, isSoup, colors) {
        return ["mesh", MESH_VERTEX, MESH_FRAGMENT,
            `${isSmooth ? "#define SMOOTH\n" : ""}${isSoup ? "#define SOUP\n" : ""}${colors === 2 ? "#define CELLS\n" : ""}`];
    }

    // mesh: {vertices, normals (or null: flat), indices (or null: soup), cells (for colours of cells), counts}
    // as BufferTextures, room in vertices, expected triangles, model. look: {colors, wire, clay, sky, ground}.
    drawMesh(mesh, view, look) {
        const { gl } = this;
        const { vertices } = mesh;
        const colors = look.colors === 2 && !mesh.cells ? 0 : look.colors;
        const { program, places } = this.programs.get(...this.#meshProgram(mesh.normals !== null, mesh.indices === null, colors));
        gl.useProgram(program);
        const textures = [vertices, mesh.normals ?? vertices, mesh.indices ?? vertices, mesh.cells ?? vertices, mesh.counts];
        textures.forEach((texture, unit) => {
            gl.activeTexture(gl.TEXTURE0 + unit);
            gl.bindTexture(gl.TEXTURE_2D, texture.texture);
            gl.bindSampler(unit, this.nearest);
        });
        ["vertices", "normals", "indices", "cells", "counts"].forEach((name, unit) => gl.uniform1i(places[name] ?? null, unit));
        gl.uniform4ui(places.rows, ...textures.slice(0, 4).map((texture) => 31 - Math.clz32(texture.width)));
        gl.uniform1ui(places.room, mesh.room);
        gl.uniformMatrix4fv(places.view, false, view.matrix);
        gl.uniformMatrix4fv(places.model, false, mesh.model);
        for (const name of ["eye", "right", "up"])
            gl.uniform3fv(places[name] ?? null, view[name]);
        for (const name of ["clay", "sky", "ground"])
            gl.uniform3fv(places[name] ?? null, look[name]);
        gl.uniform1i(places.colors, colors);
        gl.uniform1f(places.wire, look.wire);
        gl.bindVertexArray(this.nothing);
        gl.drawArrays(gl.TRIANGLES, 0, 3 * mesh.expected);
        for (let unit = textures.length - 1; unit >= 0; unit--) {
            gl.activeTexture(gl.TEXTURE0 + unit);
            gl.bindTexture(gl.TEXTURE_2D, null);
            gl.bindSampler(unit, null);
        }
        gl.bindVertexArray(null);
    }

    setPoints(positions) {
        const { gl } = this;
        this.pointCount = positions.length / 3;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.pointBuffer);
        gl.bufferData(gl.ARRAY_BUFFER, positions, gl.STREAM_DRAW);
        gl.bindBuffer(gl.ARRAY_BUFFER, null);
    }

    drawPoints(view, radius, heightPixels, tint) {
        const { gl } = this;
        const { program, places } = this.programs.get("points", POINTS_VERTEX, POINTS_FRAGMENT);
        gl.useProgram(program);
        gl.uniformMatrix4fv(places.view, false, view.matrix);
        gl.uniform1f(places.size, radius * heightPixels * 3);
        gl.uniform4fv(places.tint, tint);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.disable(gl.DEPTH_TEST); // they lie within their surface
        gl.bindVertexArray(this.pointArray);
        gl.drawArrays(gl.POINTS, 0, this.pointCount);
        gl.bindVertexArray(null);
        gl.enable(gl.DEPTH_TEST);
        gl.disable(gl.BLEND);
    }

    // Of the points set last, on the ground at a height of the box. Call before anything that the
    // ground lies behind.
    drawShadow(view, width, height, { radius, ground, opacity }) {
        const { gl } = this;
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
        gl.viewport(0, 0, SHADOW_SIDE, SHADOW_SIDE);
        gl.clear(gl.COLOR_BUFFER_BIT);
        gl.disable(gl.DEPTH_TEST);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE);
        gl.blendEquation(gl.MAX);
        const splat = this.programs.get(...SHADOW);
        gl.useProgram(splat.program);
        gl.uniform1f(splat.places.size, (radius / 1.6) * SHADOW_SIDE * 1.2);
        gl.bindVertexArray(this.pointArray);
        gl.drawArrays(gl.POINTS, 0, this.pointCount);
        gl.blendEquation(gl.FUNC_ADD);

        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, width, height);
        const floor = this.programs.get(...GROUND);
        gl.useProgram(floor.program);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.shadow);
        gl.uniform1i(floor.places.shadow, 0);
        gl.uniformMatrix4fv(floor.places.view, false, view.matrix);
        gl.uniform1f(floor.places.height, ground);
        gl.uniform1f(floor.places.opacity, opacity);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.bindVertexArray(this.nothing);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        gl.bindTexture(gl.TEXTURE_2D, null);
        gl.bindVertexArray(null);
        gl.disable(gl.BLEND);
        gl.enable(gl.DEPTH_TEST);
    }

    drawBox(view, model, low, high, tint) {
        const { gl } = this;
        const { program, places } = this.programs.get("box", BOX_VERTEX, BOX_FRAGMENT);
        gl.useProgram(program);
        gl.uniformMatrix4fv(places.view, false, view.matrix);
        gl.uniformMatrix4fv(places.model, false, model);
        gl.uniform3fv(places.low, low);
        gl.uniform3fv(places.high, high);
        gl.uniform4fv(places.tint, tint);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.bindVertexArray(this.nothing);
        gl.drawArrays(gl.LINES, 0, 24);
        gl.bindVertexArray(null);
        gl.disable(gl.BLEND);
    }
}
