// Runs a race beside the page (panels/race.js): the same samples at the same isovalue through this library and through
// others, one after another. Gets {sides}; tells {side, id, ...} with
//     state: "runs"                                      it has begun
//     state: "done", milliseconds, triangles, turns      the median
//     state: "out", reason                               it cannot take part
// and {field: side} while it computes samples, {finished: true} at the end, or {error}.
import { Trommel } from "../trommel/index.js";

const TURNS = 7, SECONDS = 3; // the median of as many, or of what there is time for, and of three at least
const SLOW_SECONDS = 5;       // where one turn takes as long, it is enough

// A ball with waves, positive inside, which reaches no border.
const ISO = 0;
function samplesOf(side) {
    const at = Float64Array.from({ length: side }, (_, i) => (2 * i) / (side - 1) - 1);
    const wave = at.map((x) => 0.06 * Math.sin(11 * x)), data = new Float32Array(side ** 3);
    for (let z = 0, i = 0; z < side; z++)
        for (let y = 0; y < side; y++)
            for (let x = 0; x < side; x++)
                data[i++] = 0.66 - Math.sqrt(at[x] ** 2 + at[y] ** 2 + at[z] ** 2) + wave[x] + wave[y] + wave[z];
    return data;
}

// ---- who takes part -------------------------------------------------------------------------------
// make({data, side, expected}) resolves to {turn(), triangles(), before?(), close?()}: a turn takes the samples in an
// array and ends with the surface made. expected: {vertices, triangles} of the surface.

const gridOf = (side) => ({ dims: [side, side, side] });

async function processor({ data, side }, threads) {
    const t = await Trommel.create(null, { engine: "cpu", ...(threads ? { threads } : {}) });
    let mesh = null;
    return {
        turn: () => (mesh = t.surface({ ...gridOf(side), data }, { iso: ISO, normals: "central" })),
        triangles: () => mesh.triangleCount,
        detail: t.device.name,
        mesh: () => mesh,
        close: () => t.close(),
    };
}

async function device({ data, side, expected }) {
    if (typeof OffscreenCanvas === "undefined")
        throw new Error("this browser has no WebGL beside the page");
    const t = await Trommel.create(new OffscreenCanvas(1, 1), { engine: "gl" });
    if (t.path !== "integer")
        throw new Error("it has no WebGL 2");
    const room = (count) => Math.ceil(count * 1.05) + 64;
    const volume = t.buffer({ type: "f32", count: side ** 3 });
    const [vertices, vertexNormals] = [0, 0].map(() => t.buffer({ type: "f32x3", count: room(expected.vertices) }));
    const indices = t.buffer({ type: "u32x3", count: room(expected.triangles) }), counts = t.buffer({ type: "u32", count: 2 });
    const pixel = new Uint8Array(4);
    return {
        turn() {
            volume.write(data);
            t.surfaceEnqueue({ ...gridOf(side), volume, iso: ISO, normals: "central", vertices, vertexNormals, indices, counts });
            t.gl.readPixels(0, 0, 1, 1, t.gl.RGBA, t.gl.UNSIGNED_BYTE, pixel); // comes when all is done
        },
        triangles: () => counts.readCount(1),
        detail: t.device.name,
        isSoftware: t.device.isSoftware,
        close: () => t.close(),
    };
}

let peers = null; // promise of the other libraries

function othersOf() {
    peers ??= import("../race/peers.js").catch(() => {
        throw new Error("this page was built without it");
    });
    return peers;
}

async function three({ data, side, expected }) {
    const { MarchingCubes } = await othersOf();
    const material = { flatShading: false }; // which is all that it asks of one
    const cubes = new MarchingCubes(side, material, false, false, Math.ceil(expected.triangles * 1.2) + 64);
    cubes.isolation = ISO;
    return {
        before: () => cubes.normal_cache.fill(0), // or it would know the normals of the turn before
        turn() {
            cubes.field.set(data);
            cubes.update();
        },
        triangles: () => cubes.count / 3,
    };
}

async function isosurface({ data, side }, method) {
    const extract = (await othersOf())[method];
    let mesh = null;
    const value = (x, y, z) => ISO - data[x + side * (y + side * z)]; // its inside is negative
    return {
        turn: () => (mesh = extract([side, side, side], value)),
        // Its nets are of quads.
        triangles: () => mesh.cells.reduce((sum, { length }) => sum + length - 2, 0),
    };
}

const TAKERS = [
    { id: "cpu", make: (task) => processor(task, 1) }, // the first: its mesh says how much room there must be
    { id: "threads", make: (task) => {
        if (!Trommel.hasThreads)
            throw new Error("this page may have no threads: its server sends no COOP and COEP");
        return processor(task);
    } },
    { id: "gpu", make: device },
    { id: "three", make: three },
    { id: "nets", make: (task) => isosurface(task, "surfaceNets") },
    { id: "cubes", make: (task) => isosurface(task, "marchingCubes") },
];

// ---- the race -------------------------------------------------------------------------------------

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

function run({ before, turn }) {
    const times = [], start = performance.now();
    const once = () => {
        before?.();
        const begun = performance.now();
        turn();
        return performance.now() - begun;
    };
    const first = once(); // warms up
    if (first > 1000 * SLOW_SECONDS)
        return { milliseconds: first, turns: 1 };
    do
        times.push(once());
    while (times.length < TURNS && (times.length < 3 || performance.now() - start < 1000 * SECONDS));
    return { milliseconds: median(times), turns: times.length };
}

async function race(sides) {
    for (const side of sides) {
        postMessage({ field: side });
        const task = { side, data: samplesOf(side), expected: null };
        for (const { id, make } of TAKERS) {
            postMessage({ side, id, state: "runs" });
            try {
                const taker = await make(task);
                const { milliseconds, turns } = run(taker);
                if (taker.mesh)
                    task.expected ??= { vertices: taker.mesh().vertexCount, triangles: taker.mesh().triangleCount };
                postMessage({ side, id, state: "done", milliseconds, turns, triangles: taker.triangles(), detail: taker.detail, isSoftware: taker.isSoftware });
                taker.close?.();
            } catch (error) {
                if (id === "cpu")
                    throw error;
                postMessage({ side, id, state: "out", reason: error.message });
            }
        }
    }
    postMessage({ finished: true });
}

onmessage = ({ data }) => race(data.sides).catch((error) => postMessage({ error: error.message }));
