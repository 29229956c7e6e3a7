// The library's operations one by one on an instance, each with its time or with the library's words
// why the path has none. What comes out is compared with plain loops.

const COUNT = 2 ** 16; // small enough for bytes alone on a software driver
const SIDE = 32; // samples along a volume's side
const POINTS = 512;
const SAMPLES = 3;

// ---- data ----------------------------------------------------------------------------------------

// Numbers from -1 to 1 in an order that repeats late.
function numbers() {
    return Float32Array.from({ length: COUNT }, (_, i) => (((i * 40503) % 65536) - 32768) / 32768);
}

function smallCounts() {
    return Uint8Array.from({ length: COUNT }, (_, i) => (i * 7 + (i >> 5)) % 4);
}

// Points on a knot within the unit cube.
function knot() {
    const points = new Float32Array(3 * POINTS);
    for (let i = 0; i < POINTS; i++) {
        const t = (2 * Math.PI * i) / POINTS;
        const r = 0.28 + 0.1 * Math.cos(3 * t);
        points.set(
            [0.5 + r * Math.cos(2 * t), 0.5 + r * Math.sin(2 * t), 0.5 + 0.2 * Math.sin(3 * t)],
            3 * i,
        );
    }
    return points;
}

const GRID = {
    dims: [SIDE, SIDE, SIDE],
    spacing: [1 / (SIDE - 1), 1 / (SIDE - 1), 1 / (SIDE - 1)],
    origin: [0, 0, 0],
};

function ball() {
    const volume = new Float32Array(SIDE ** 3),
        middle = (SIDE - 1) / 2;
    for (let i = 0; i < volume.length; i++) {
        const x = i % SIDE,
            y = Math.floor(i / SIDE) % SIDE,
            z = Math.floor(i / SIDE ** 2);
        volume[i] = SIDE / 3 - Math.hypot(x - middle, y - middle, z - middle);
    }
    return volume;
}

// ---- stages --------------------------------------------------------------------------------------

// start(t, make) prepares a stage on instance t; make() makes buffers that go when the stage is done.
// It returns {run, isRight}: run() enqueues; isRight() tells whether what it made is right, and waits.
const STAGES = [
    {
        name: "Map",
        what: `y = 2 x + 1 of ${COUNT.toLocaleString("en")} floats`,
        start(t, make) {
            const data = numbers();
            const input = make(data),
                out = make({ type: "f32", count: COUNT });
            const kernel = t.kernel("float twice_and_one(float x) { return 2.0f * x + 1.0f; }");
            return {
                run: () => t.map({ kernel, in: [input], out }),
                isRight: async () => (await out.readAsync()).every((y, i) => y === 2 * data[i] + 1),
            };
        },
    },
    {
        name: "Maximum",
        what: `of ${COUNT.toLocaleString("en")} floats`,
        start(t, make) {
            const data = numbers(),
                input = make(data),
                out = make({ type: "f32", count: 1 });
            const largest = data.reduce((a, b) => Math.max(a, b));
            return {
                run: () => t.reduce({ in: input, folds: [{ fold: "max", out }] }),
                isRight: async () => (await out.readAsync())[0] === largest,
            };
        },
    },
    {
        name: "Scan",
        what: `running sums of ${COUNT.toLocaleString("en")} integers`,
        start(t, make) {
            const data = Uint32Array.from(smallCounts());
            const input = make(data),
                out = make({ type: "u32", count: COUNT });
            return {
                run: () => t.scan({ in: input, out, inclusive: true }),
                isRight: async () => {
                    let sum = 0;
                    return (await out.readAsync()).every((s, i) => s === (sum += data[i]));
                },
            };
        },
    },
    {
        name: "Compact",
        what: `the positive of ${COUNT.toLocaleString("en")} floats`,
        start(t, make) {
            const data = numbers(),
                wanted = data.filter((x) => x > 0);
            const input = make(data),
                out = make({ type: "f32", count: wanted.length });
            const count = make({ type: "u32", count: 1 });
            const kernel = t.kernel("bool is_positive(float x) { return x > 0.0f; }");
            return {
                run: () => t.compact({ keep: { kernel }, payloads: [{ in: input, out }], count }),
                isRight: async () =>
                    (await count.readAsync())[0] === wanted.length &&
                    (await out.readAsync()).every((x, i) => x === wanted[i]),
            };
        },
    },
    {
        name: "Expand",
        what: `0 to 3 outputs for each of ${COUNT.toLocaleString("en")} elements`,
        start(t, make) {
            const data = smallCounts();
            const total = data.reduce((a, b) => a + b, 0);
            const counts = make(data),
                source = make({ type: "u32", count: total });
            const made = make({ type: "u32", count: 1 });
            return {
                run: () => t.expand({ counts, source, total: made }),
                isRight: async () => {
                    const sources = await source.readAsync();
                    let j = 0;
                    return data.every((n, i) => {
                        for (let k = 0; k < n; k++) if (sources[j++] !== i) return false;
                        return true;
                    });
                },
            };
        },
    },
    {
        name: "Field",
        what: `${POINTS} points, ${SIDE}³ samples`,
        start(t, make) {
            const points = make({ type: "f32x3", count: POINTS, data: knot(), place: "host" });
            const out = make({ type: "f32", count: SIDE ** 3 });
            return {
                run: () => t.field({ points, radius: 0.08, grid: GRID }, out),
                isRight: async () => {
                    const samples = await out.readAsync();
                    return samples.some((x) => x > 0) && samples.every((x) => x >= 0) && samples[0] === 0;
                },
            };
        },
    },
    {
        name: "Surface",
        what: `welded, with normals, ${SIDE}³ samples`,
        start(t, make) {
            const volume = make(ball()),
                room = SIDE ** 3;
            const vertices = make({ type: "f32x3", count: room });
            const vertexNormals = make({ type: "f32x3", count: room });
            const indices = make({ type: "u32x3", count: 2 * room });
            const counts = make({ type: "u32", count: 2 });
            return {
                run: () =>
                    t.surfaceEnqueue({
                        ...GRID,
                        volume,
                        iso: 0,
                        normals: "forward",
                        vertices,
                        vertexNormals,
                        indices,
                        counts,
                    }),
                // A closed surface like a ball's: V - T / 2 = 2.
                isRight: async () => {
                    const [v, triangles] = await counts.readAsync();
                    return v > 0 && v - triangles / 2 === 2;
                },
            };
        },
    },
    {
        name: "Surface as soup",
        what: `read back, ${SIDE}³ samples`,
        waits: true,
        start(t) {
            const volume = { ...GRID, data: ball() };
            let mesh = null;
            return {
                run: () => (mesh = t.surface(volume, { iso: 0, soup: true })),
                isRight: async () => mesh.vertexCount === 3 * mesh.triangleCount && mesh.triangleCount > 1000,
            };
        },
    },
];

export const stageNames = STAGES.map(({ name, what }) => ({ name, what }));

// ---- timing --------------------------------------------------------------------------------------

const nextTask = () => new Promise((done) => setTimeout(done, 0));

async function timeOnce(trommel, stage, run) {
    if (trommel.engine === "gl" && !stage.waits) return trommel.time(run);
    const begin = performance.now();
    run();
    return { seconds: (performance.now() - begin) / 1000, by: "clock" };
}

async function timeStage(trommel, stage, signal) {
    const made = [];
    const make = (what) => {
        const buffer = trommel.buffer(what);
        made.push(buffer);
        return buffer;
    };
    try {
        const { run, isRight } = stage.start(trommel, make);
        run(); // compiles its shaders
        const right = await isRight();
        const samples = [];
        for (let i = 0; i < SAMPLES; i++) {
            await nextTask();
            signal.throwIfAborted();
            samples.push(await timeOnce(trommel, stage, run));
        }
        samples.sort((a, b) => a.seconds - b.seconds);
        return { ...samples[SAMPLES >> 1], right };
    } finally {
        if (!trommel.isLost && !trommel.isClosed) made.forEach((buffer) => buffer.destroy());
    }
}

// Calls report(number of the stage, {seconds, by, right} or {missing: words}) for every stage.
export async function timeStages(trommel, signal, report) {
    for (const [i, stage] of STAGES.entries()) {
        await nextTask();
        signal.throwIfAborted();
        try {
            report(i, await timeStage(trommel, stage, signal));
        } catch (error) {
            if (error.status !== "UNSUPPORTED") throw error;
            report(i, { missing: error.message });
        }
    }
}
