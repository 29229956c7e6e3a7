// Babylon.js on the library's context: it wraps the buffers' textures, and its meshes only say how many vertices there may be.
import { FreeCamera } from '@babylonjs/core/Cameras/freeCamera.js';
import { Engine } from '@babylonjs/core/Engines/engine.js';
import { Constants } from '@babylonjs/core/Engines/constants.js';
import { ShaderMaterial } from '@babylonjs/core/Materials/shaderMaterial.js';
import { Color4 } from '@babylonjs/core/Maths/math.color.js';
import { Vector3 } from '@babylonjs/core/Maths/math.vector.js';
import { Geometry } from '@babylonjs/core/Meshes/geometry.js';
import { Mesh } from '@babylonjs/core/Meshes/mesh.js';
import { SubMesh } from '@babylonjs/core/Meshes/subMesh.js';
import { Scene } from '@babylonjs/core/scene.js';
import { Trommel } from 'trommel';

import { makeScene, PARTICLES } from './scene.js';
import { particlePixels, particleVertices, surfacePixels, surfaceVertices } from './shaders.js';

const canvas = document.querySelector('canvas');
const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true });
const t = await Trommel.create(gl); // gives back whatever state of the context it changes
const engine = new Engine(gl);
const made = makeScene(t);

const scene = new Scene(engine);
scene.clearColor = new Color4(0, 0, 0, 0);
new FreeCamera('camera', Vector3.Zero(), scene); // without one nothing is drawn; the shaders do not use it

function draw(name, length, vertexShader, fragmentShader, buffers) {
    const source = text => `#version 300 es\n${text}`; // or Babylon takes it for GLSL of WebGL 1
    const material = new ShaderMaterial(name, scene,
        { vertexSource: source(vertexShader), fragmentSource: source(fragmentShader) },
        { attributes: [], uniforms: ['aspect'], samplers: Object.keys(buffers) });
    material.setFloat('aspect', canvas.width / canvas.height);
    for (const [sampler, { texture: { texture, width, height } }] of Object.entries(buffers))
        material.setInternalTexture(sampler,
            engine.wrapWebGLTexture(texture, false, Constants.TEXTURE_NEAREST_SAMPLINGMODE, width, height));
    material.backFaceCulling = false;
    const mesh = new Mesh(name, scene);
    new Geometry(name, scene).applyToMesh(mesh); // nothing in it: vertices are looked up by their number
    mesh.isUnIndexed = true;
    mesh.alwaysSelectAsActiveMesh = true; // its bounds are on the device
    mesh.material = material;
    mesh.subMeshes = [];
    new SubMesh(0, 0, length, 0, length, mesh);
    return material;
}

const particles = draw('particles', PARTICLES, particleVertices(t.glsl), particlePixels,
    { particles: made.particles, count: made.count });
particles.pointsCloud = true;
draw('surface', made.room, surfaceVertices(t.glsl), surfacePixels,
    { vertices: made.vertices, normals: made.normals, counts: made.counts });
function frame(milliseconds) {
    engine.beginFrame();
    made.step(milliseconds / 1000);
    scene.render();
    engine.endFrame();
    document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
    requestAnimationFrame(frame);
}
scene.executeWhenReady(() => requestAnimationFrame(frame));
