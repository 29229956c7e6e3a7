// Plain WebGL 2: the library and these draws share one context.
import { Trommel } from 'trommel';

import { makeScene, PARTICLES } from './scene.js';
import { particlePixels, particleVertices, surfacePixels, surfaceVertices } from './shaders.js';

const canvas = document.querySelector('canvas');
const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true });
const t = await Trommel.create(gl);
const scene = makeScene(t);

function programOf(vertex, fragment) {
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, `#version 300 es\n${text}`);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
        throw new Error(gl.getProgramInfoLog(program));
    return program;
}

const drawn = [
    { program: programOf(particleVertices(t.glsl), particlePixels), mode: gl.POINTS, length: PARTICLES,
      buffers: { particles: scene.particles, count: scene.count } },
    { program: programOf(surfaceVertices(t.glsl), surfacePixels), mode: gl.TRIANGLES, length: scene.room,
      buffers: { vertices: scene.vertices, normals: scene.normals, counts: scene.counts } },
];
gl.bindVertexArray(gl.createVertexArray()); // nothing in it: vertices are looked up by their number

function frame(milliseconds) {
    scene.step(milliseconds / 1000);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const { program, mode, length, buffers } of drawn) {
        gl.useProgram(program);
        gl.uniform1f(gl.getUniformLocation(program, 'aspect'), canvas.width / canvas.height);
        Object.entries(buffers).forEach(([name, buffer], unit) => {
            gl.activeTexture(gl.TEXTURE0 + unit);
            gl.bindTexture(gl.TEXTURE_2D, buffer.texture.texture);
            gl.uniform1i(gl.getUniformLocation(program, name), unit);
        });
        gl.drawArrays(mode, 0, length);
    }
    document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
