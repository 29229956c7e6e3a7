// Surfaces of one field of 64^3 or 128^3 samples, made and drawn by this library and by others in the same browser.
// All take the same samples at the same isovalue, in turns; a turn ends when the device has finished.
//
// Three questions, three tables:
//   points   a cloud of points that moves each frame: field and surface stay on the device. Beside it the
//            classic pipeline of 2008 (Dyken et al.), after the same field: what a page with WebGL did so far.
//            Both without normals and without drawing, of which the classic has none.
//   samples  that many floats in an array: uploaded, extracted, drawn. Beside it three.js's MarchingCubes and
//            Mol*'s, on the CPU and on the GPU. What their interfaces leave no choice in, they do: three.js makes a
//            soup, and Mol*'s GPU path waits for its count.
//   moving   the points move each frame, and three.js draws: what the CPU engine or the device makes of them, or its
//            own MarchingCubes. Its balls have another kernel: they reach as far, and as many samples are inside.
import { LiveSurface } from "../lib/live_surface.js";
import { MeshRenderer } from "../lib/mesh_renderer.js";
import { OrbitCamera } from "../lib/orbit_camera.js";
import { createPapers, surface } from "../lib/papers.js";
import { clearPicture } from "../lib/programs.js";
import { scenes } from "../lib/scenes.js";
import { Trommel } from "../trommel/index.js";

const SIDES = [64, 128];
const PICTURE = 512;
const TURNS = 9;
const gridOf = (side) => ({ dims: [side, side, side], origin: [-1, -1, -1], spacing: Array(3).fill(2 / (side - 1)) });
const LOOK = { colors: 0, wire: 0, clay: [0.6, 0.2, 0.1], sky: [0.5, 0.5, 0.6], ground: [0.2, 0.2, 0.1] };
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

function context() {
    const canvas = Object.assign(document.createElement("canvas"), { width: PICTURE, height: PICTURE });
    return canvas.getContext("webgl2", { antialias: false });
}

// The device has done all it was given when a pixel comes back.
function finish(gl) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

const cloud = scenes.find(({ id }) => id === "swarm").create(7);
const { kernel, iso } = scenes.find(({ id }) => id === "swarm");
const fieldOf = (grid) => ({ points: cloud.positions, radius: cloud.radius, kernel, kind: "sum", grid });
const view = (() => {
    const camera = new OrbitCamera();
    return camera.view(1);
})();

// ---- this library -----------------------------------------------------------------------------------

class Ours {
    constructor(trommel, gl, grid) {
        Object.assign(this, { trommel, gl });
        this.live = new LiveSurface(trommel, () => {});
        this.live.setGrid(grid);
        this.renderer = new MeshRenderer(gl);
    }
    // Rooms as they are after the first frames.
    async settle(normals) {
        for (let tries = 0; tries < 5; tries++) {
            this.live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel });
            this.live.extract({ iso, normals });
            const counts = await this.live.counts.readAsync();
            [this.live.vertexCount, this.live.triangleCount] = counts;
            if (counts[0] <= this.live.room && counts[0] * 1.6 > this.live.room)
                return;
            this.live.expect(counts[0] * 1.4);
        }
    }
    points(normals) {
        this.trommel.batch(() => {
            this.live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel });
            this.live.extract({ iso, normals });
        });
        finish(this.gl);
    }
    field() {
        this.live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel });
        finish(this.gl);
    }
    surface(normals) {
        this.live.extract({ iso, normals });
        finish(this.gl);
    }
    samples(values, normals) {
        this.live.volume.write(values);
        this.live.extract({ iso, normals });
        this.draw();
        finish(this.gl);
    }
    draw() {
        clearPicture(this.gl, PICTURE, PICTURE);
        this.renderer.drawMesh(this.live.mesh(IDENTITY), view, LOOK);
    }
}

class Classic {
    constructor(trommel, gl, ours, vertices) {
        Object.assign(this, { trommel, gl, ours });
        this.room = Math.ceil(vertices * 1.4);
        this.count = trommel.buffer({ type: "u32", count: 1 });
    }
    extract() {
        surface(this.trommel, { volume: this.ours.live.volume, dims: this.ours.live.grid.dims, iso, room: this.room, count: this.count });
    }
    surface() {
        this.extract();
        finish(this.gl);
    }
    points() {
        this.trommel.batch(() => {
            this.ours.live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel });
            this.extract();
        });
        finish(this.gl);
    }
}

// ---- measuring --------------------------------------------------------------------------------------

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// Each candidate once, then each again, so that what else the machine does meets all alike.
async function measure(candidates, turns) {
    const times = candidates.map(() => []);
    for (let turn = -2; turn < turns; turn++) // the first two warm up
        for (const [k, { turn: run, before }] of candidates.entries()) {
            before?.();
            const start = performance.now();
            await run();
            if (turn >= 0)
                times[k].push(performance.now() - start);
            await new Promise((resolve) => setTimeout(resolve));
        }
    return candidates.map(({ name, triangles }, k) => ({
        name, triangles: Math.round(triangles()), median: median(times[k]), best: Math.min(...times[k]),
    }));
}

// The other libraries, where scripts/web-bench has put them together.
async function others(kind, task) {
    const { [kind]: peers = [] } = await import("./peers/peers.js").catch(() => ({}));
    return Promise.all(peers.map(async ({ name, make }) => ({ name, ...(await make(task)) })));
}

// Field and surface on a context that something else draws with: buffers for its shaders, and what a frame enqueues.
async function createOnDevice(gl, grid, room) {
    const t = await Trommel.create(gl);
    const volume = t.buffer({ type: "f32", count: grid.dims[0] ** 3 });
    const [vertices, normals] = ["vertices", "normals"].map((label) => t.buffer({ type: "f32x3", count: room, label }));
    const counts = t.buffer({ type: "u32", count: 2 });
    const step = () => t.batch(() => {
        t.field(fieldOf(grid), volume);
        t.surfaceEnqueue({ ...grid, volume, iso, normals: "central", soup: true, vertices, vertexNormals: normals, counts });
    });
    return { glsl: t.glsl, buffers: { vertices, normals, counts }, step };
}

export async function run(side, turns = TURNS, tell = () => {}) {
    const gl = context();
    const grid = gridOf(side);
    const trommel = await createPapers(gl);
    const device = trommel.device.name;
    const ours = new Ours(trommel, gl, grid);
    await ours.settle("central");
    const triangles = () => ours.live.counts.readCount(1);
    const move = () => cloud.step(1 / 60);

    const classic = new Classic(trommel, gl, ours, 3 * ours.live.triangleCount);
    const points = await measure([
        { name: "trommel: field and surface", triangles, turn: () => ours.points("none"), before: move },
        { name: "trommel: the same with normals", triangles, turn: () => ours.points("central") },
        { name: "classic: field and surface", triangles: () => classic.count.readCount() / 3, turn: () => classic.points() },
        { name: "the field alone", triangles: () => 0, turn: () => ours.field() },
        { name: "trommel: the surface alone", triangles, turn: () => ours.surface("none") },
        { name: "classic: the surface alone", triangles: () => classic.count.readCount() / 3, turn: () => classic.surface() },
    ], turns);
    tell("points", points);

    ours.live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel });
    const values = await ours.live.volume.readAsync();
    const cpu = await Trommel.create(null, { engine: "cpu", threads: 1 });
    const extractOnCpu = () => cpu.surface({ ...grid, data: values }, { iso, normals: "central" });
    const evaluated = cpu.buffer({ type: "f32", count: side ** 3 });
    const evaluateAndExtractOnCpu = () => {
        cpu.field(fieldOf(grid), evaluated);
        return cpu.surface({ ...grid, data: evaluated }, { iso, normals: "central" });
    };
    const task = {
        extractOnCpu, evaluateAndExtractOnCpu, createOnDevice: (shared, room) => createOnDevice(shared, grid, room),
        values, points: cloud, side, iso, triangles: ours.live.triangleCount, picture: PICTURE, context, finish,
    };
    const samples = await measure([
        { name: "trommel: uploaded, extracted, drawn", triangles, turn: () => ours.samples(values, "central") },
        ...(await others("samples", task)),
    ], turns);
    tell("samples", samples);

    const inMotion = await others("moving", task);
    if (inMotion.length)
        inMotion[0].before = move;
    const moving = await measure(inMotion, turns);
    tell("moving", moving);
    ours.live.close();
    cpu.close();
    trommel.close();
    return { device, points, samples, moving };
}

// ---- the page ---------------------------------------------------------------------------------------

const titles = {
    points: "From points, on the device", samples: "From an array of samples, to the picture",
    moving: "From moving points, to the picture",
};

function show(title, rows) {
    const body = document.querySelector("tbody");
    const line = (cells, tag, className) => {
        const row = document.createElement("tr");
        for (const [k, cell] of cells.entries()) {
            const element = document.createElement(tag);
            element.textContent = cell;
            element.className = k ? className : "";
            row.append(element);
        }
        body.append(row);
    };
    line([title, "triangles", "median, ms", "best, ms"], "th", "figure");
    for (const { name, triangles, median: middle, best } of rows)
        line([name, triangles ? triangles.toLocaleString("en") : "", middle.toFixed(1), best.toFixed(1)], "td", "figure");
}

document.getElementById("run").onclick = async ({ target }) => {
    target.disabled = true;
    document.querySelector("tbody").replaceChildren();
    try {
        for (const side of SIDES)
            await run(side, TURNS, (kind, rows) => show(`${side}³. ${titles[kind]}`, rows));
    } catch (error) {
        document.querySelector("tbody").textContent = error.message;
        throw error;
    } finally {
        target.disabled = false;
    }
};
