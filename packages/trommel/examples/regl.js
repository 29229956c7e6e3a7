// regl on WebGL 1, where the library computes in textures of floats or bytes: particles alone.
import { Trommel } from 'trommel';

import { makeScene, PARTICLES } from './scene.js';

const canvas = document.querySelector('canvas');
const gl = canvas.getContext('webgl', { preserveDrawingBuffer: true });
const t = await Trommel.create(gl, { engine: 'gl' });
const regl = globalThis.createREGL({ gl });
const { step, particles, count } = makeScene(t, { hasSurface: false });

// A texture of regl's in whose place it binds the buffer's.
function textureOf(buffer) {
    const texture = regl.texture();
    gl.deleteTexture(texture._texture.texture);
    texture._texture.texture = buffer.texture.texture;
    return texture;
}
const sizeOf = ({ texture }) => [texture.width, texture.height];

const draw = regl({
    vert: `precision highp float;
${t.glsl}
attribute float number;
uniform sampler2D particles, count;
uniform vec2 size, countSize;
uniform float aspect;
void main()
{
    vec3 at = tml_vec3(particles, size, number);
    vec3 turned = vec3(at.x, 0.8 * at.y - 0.6 * at.z, 0.0);
    bool isThere = number < tml_count(count, countSize);
    gl_Position = isThere ? vec4(0.75 * turned.xy / vec2(aspect, 1.0), 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 3.0;
}`,
    frag: 'precision mediump float;\nvoid main() { gl_FragColor = vec4(1.0, 0.6, 0.2, 1.0); }',
    attributes: { number: Float32Array.from({ length: PARTICLES }, (_, i) => i) },
    uniforms: {
        particles: textureOf(particles), count: textureOf(count), size: sizeOf(particles), countSize: sizeOf(count),
        aspect: canvas.width / canvas.height,
    },
    count: PARTICLES,
    primitive: 'points',
});

regl.frame(({ time }) => {
    step(time);
    regl._refresh(); // the library has used the context
    regl.clear({ color: [0, 0, 0, 1], depth: 1 });
    draw();
    document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
});
