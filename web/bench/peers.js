// The other libraries of the comparison: three.js's MarchingCubes, and Mol*'s marching cubes on the CPU and on
// the GPU. Each takes the samples anew each turn, as an array, or makes them of points that have moved, and ends
// when the device has finished. Bundled by scripts/web-bench, which installs them.
import {
    BufferAttribute, BufferGeometry, DirectionalLight, DoubleSide, ExternalTexture, GLSL3, Mesh, MeshStandardMaterial,
    PerspectiveCamera, RawShaderMaterial, Scene, WebGLRenderer,
} from "three";
import { MarchingCubes } from "three/examples/jsm/objects/MarchingCubes.js";
import { computeMarchingCubesMesh } from "molstar/lib/mol-geo/util/marching-cubes/algorithm.js";
import { extractIsosurface } from "molstar/lib/mol-gl/compute/marching-cubes/isosurface.js";
import { createContext } from "molstar/lib/mol-gl/webgl/context.js";
import { Mat4, Tensor, Vec2, Vec3 } from "molstar/lib/mol-math/linear-algebra.js";
import { createVolumeTexture2d, getVolumeTexture2dLayout } from "molstar/lib/mol-repr/volume/util.js";
import { surfacePixels, surfaceVertices } from "../../../packages/trommel/examples/shaders.js";

// A stage of three.js's that looks at a cube of that side around middle.
function stage({ context, picture }, object, middle, side) {
    const renderer = new WebGLRenderer({ context: context(), antialias: false });
    renderer.setSize(picture, picture, false);
    const scene = new Scene();
    const camera = new PerspectiveCamera(36, 1, 0.01 * side, 10 * side);
    camera.position.set(middle + side, middle + 0.5 * side, middle + 1.7 * side);
    camera.lookAt(middle, middle, middle);
    scene.add(new DirectionalLight(0xffffff, 3), object);
    object.frustumCulled = false;
    return { gl: renderer.getContext(), draw: () => renderer.render(scene, camera) };
}
const clay = () => new MeshStandardMaterial({ color: 0xcc7744 });

const cubesOf = ({ side, triangles }) => new MarchingCubes(side, clay(), false, false, Math.ceil(triangles * 1.4));

// cubes as step makes them each turn.
function drawnCubes(task, cubes, step) {
    const { gl, draw } = stage(task, cubes, 0, 2);
    return {
        triangles: () => cubes.count / 3,
        turn() {
            step();
            draw();
            task.finish(gl);
        },
    };
}

async function three(task) {
    const cubes = cubesOf(task);
    cubes.isolation = task.iso;
    return {
        before: () => cubes.normal_cache.fill(0), // or it would know the normals of the turn before
        ...drawnCubes(task, cubes, () => {
            cubes.field.set(task.values);
            cubes.update();
        }),
    };
}

// What update() leaves to be sent and drawn.
async function threeDrawingAlone(task) {
    const cubes = cubesOf(task);
    cubes.isolation = task.iso;
    cubes.field.set(task.values);
    cubes.update();
    return drawnCubes(task, cubes, () => {
        for (const name of ["position", "normal"])
            cubes.geometry.getAttribute(name).needsUpdate = true;
    });
}

// Its own balls: as far as the points reach, and with as many samples inside at first.
async function threeBalls(task) {
    const { points: { positions, radius }, values, iso } = task;
    const cubes = cubesOf(task);
    const SUBTRACT = 12; // what its example takes
    const fill = () => {
        cubes.reset();
        for (let i = 0; i < positions.length; i += 3) {
            const [x, y, z] = positions.subarray(i, i + 3);
            cubes.addBall((x + 1) / 2, (y + 1) / 2, (z + 1) / 2, SUBTRACT * (radius / 2) ** 2, SUBTRACT);
        }
    };
    fill();
    const outside = values.reduce((count, value) => count + (value <= iso), 0);
    cubes.isolation = cubes.field.slice().sort()[outside];
    return drawnCubes(task, cubes, () => {
        fill();
        cubes.update();
    });
}

const tensor = ({ values, side }) => Tensor.create(Tensor.Space([side, side, side], [2, 1, 0], Float32Array), Tensor.Data1(values));

// A mesh {positions, normals, indices} that extract makes each turn, drawn by three.js.
function drawnByThree(task, middle, size, extract) {
    const mesh = new Mesh(new BufferGeometry(), clay());
    const { gl, draw } = stage(task, mesh, middle, size);
    let made = null;
    return {
        triangles: () => made.indices.length / 3,
        async turn() {
            made = await extract();
            mesh.geometry.dispose();
            mesh.geometry = new BufferGeometry();
            mesh.geometry.setAttribute("position", new BufferAttribute(made.positions, 3));
            mesh.geometry.setAttribute("normal", new BufferAttribute(made.normals, 3));
            mesh.geometry.setIndex(new BufferAttribute(made.indices, 1));
            draw();
            task.finish(gl);
        },
    };
}

// Mol*'s own scene does much that no surface needs.
async function molstarCpu(task) {
    const scalarField = tensor(task);
    return drawnByThree(task, task.side / 2, task.side, async () => {
        const made = await computeMarchingCubesMesh({ isoLevel: task.iso, scalarField }).run();
        return {
            positions: made.vertexBuffer.ref.value.subarray(0, 3 * made.vertexCount),
            normals: made.normalBuffer.ref.value.subarray(0, 3 * made.vertexCount),
            indices: made.indexBuffer.ref.value.subarray(0, 3 * made.triangleCount),
        };
    });
}

async function trommelCpu(task) {
    return drawnByThree(task, 0, 2, task.extractOnCpu);
}

async function trommelCpuMoving(task) {
    return drawnByThree(task, 0, 2, task.evaluateAndExtractOnCpu);
}

// The picture's share, of which emulated WebGL makes much.
async function drawingAlone(task) {
    const made = task.extractOnCpu();
    return drawnByThree(task, 0, 2, () => made);
}

// As the package's example: the context is shared, the material looks up the textures, nothing is read back.
async function trommelDevice(task) {
    const gl = task.context();
    const room = 3 * Math.ceil(task.triangles * 1.4);
    const { glsl, buffers, step } = await task.createOnDevice(gl, room);
    const uniforms = { aspect: { value: 1 } };
    for (const [name, buffer] of Object.entries(buffers))
        uniforms[name] = { value: new ExternalTexture(buffer.texture.texture) };
    const geometry = new BufferGeometry();
    geometry.setDrawRange(0, room);
    const mesh = new Mesh(geometry, new RawShaderMaterial({
        glslVersion: GLSL3, vertexShader: surfaceVertices(glsl), fragmentShader: surfacePixels, uniforms, side: DoubleSide,
    }));
    const { draw } = stage({ ...task, context: () => gl }, mesh, 0, 2);
    return {
        triangles: () => buffers.counts.readCount(1),
        turn() {
            step();
            draw();
            task.finish(gl);
        },
    };
}

// The samples as floats in its texture, as Mol* prepares them; the surface into its three textures. It is
// spared the drawing.
async function molstarGpu(task) {
    const { values, side, iso, context, finish } = task;
    const gl = context();
    const webgl = createContext(gl);
    const max = values.reduce((most, value) => Math.max(most, value), 0);
    const volume = { grid: { cells: tensor(task), stats: { min: 0, max } } };
    const PADDING = 1;
    const { width, height, powerOfTwoSize } = getVolumeTexture2dLayout([side, side, side], PADDING);
    const texture = webgl.resources.texture("image-float32", "alpha", "float", "linear");
    texture.define(powerOfTwoSize, powerOfTwoSize);
    let outputs = [], vertices = 0;
    return {
        triangles: () => vertices / 3,
        turn() {
            texture.load(createVolumeTexture2d(volume, "data", PADDING, "float"), true);
            const made = extractIsosurface(
                webgl, texture, Vec3.create(side + PADDING, side + PADDING, side), Vec3.create(width, height, 0),
                Vec3.create(side, side, side), Vec2.create(width / powerOfTwoSize, height / powerOfTwoSize), Mat4.identity(),
                iso / max, false, false, Vec3.create(2, 1, 0), true, ...outputs);
            outputs = [made.vertexTexture, made.groupTexture, made.normalTexture];
            vertices = made.vertexCount;
            finish(gl);
        },
    };
}

export const samples = [
    { name: "trommel on the CPU, drawn by three.js", make: trommelCpu },
    { name: "the same mesh drawn by three.js alone", make: drawingAlone },
    { name: "three.js MarchingCubes, drawn", make: three },
    { name: "its mesh drawn alone", make: threeDrawingAlone },
    { name: "Mol* on the CPU, drawn by three.js", make: molstarCpu },
    { name: "Mol* on the GPU, not drawn", make: molstarGpu },
];
export const moving = [
    { name: "trommel on the CPU, drawn by three.js", make: trommelCpuMoving },
    { name: "trommel on the device, drawn by three.js", make: trommelDevice },
    { name: "three.js MarchingCubes with its balls, drawn", make: threeBalls },
];
