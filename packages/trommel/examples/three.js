// three.js on the library's context: materials look the buffers up, geometries only say how many vertices there may be.
import * as THREE from 'three';
import { Trommel } from 'trommel';

import { makeScene, PARTICLES } from './scene.js';
import { particlePixels, particleVertices, surfacePixels, surfaceVertices } from './shaders.js';

const canvas = document.querySelector('canvas');
const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true });
const t = await Trommel.create(gl); // gives back whatever state of the context it changes
const renderer = new THREE.WebGLRenderer({ canvas, context: gl });
const made = makeScene(t);

function materialOf(vertexShader, fragmentShader, buffers) {
    const uniforms = { aspect: { value: canvas.width / canvas.height } };
    for (const [name, buffer] of Object.entries(buffers))
        uniforms[name] = { value: new THREE.ExternalTexture(buffer.texture.texture) };
    return new THREE.RawShaderMaterial({
        glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, side: THREE.DoubleSide,
    });
}

function geometryOf(length) {
    const geometry = new THREE.BufferGeometry();
    geometry.setDrawRange(0, length);
    return geometry;
}

const scene = new THREE.Scene(), camera = new THREE.Camera();
const particles = new THREE.Points(geometryOf(PARTICLES),
    materialOf(particleVertices(t.glsl), particlePixels, { particles: made.particles, count: made.count }));
const surface = new THREE.Mesh(geometryOf(made.room), materialOf(surfaceVertices(t.glsl), surfacePixels,
    { vertices: made.vertices, normals: made.normals, counts: made.counts }));
for (const object of [particles, surface]) {
    object.frustumCulled = false; // its bounds are on the device
    scene.add(object);
}
renderer.setAnimationLoop(milliseconds => {
    made.step(milliseconds / 1000);
    renderer.render(scene, camera);
    document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
});
