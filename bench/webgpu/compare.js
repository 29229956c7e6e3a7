// Checks and times the prototype's two programs. In a browser, they are compared with this
// library's, in the same process, runs alternating.
import { WebGpuStreams } from "./streams.js";

const now = () => performance.now();
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

async function inTurns(rows, turns) {
    const times = rows.map(() => []);
    for (let turn = -2; turn < turns; turn++)
        for (const [k, { run }] of rows.entries()) {
            const start = now();
            await run();
            if (turn >= 0)
                times[k].push(now() - start);
        }
    return rows.map(({ name, helped }, k) => ({ name, helped, median: median(times[k]), best: times[k][0] }));
}

const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

// gpu: navigator.gpu; Trommel: the package's, or null. Returns {device, compact, signs}, lists of rows.
export async function compare(gpu, Trommel, { count = 2 ** 20, side = 128, turns = 9 } = {}) {
    const streams = await WebGpuStreams.create(gpu);
    let seed = 1;
    const data = Uint32Array.from({ length: count }, () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0));
    const limit = 2 ** 31, wanted = data.filter((x) => x < limit);
    // Lengths at the seams, and a device that publishes sums late.
    for (const constants of [{}, { STALL: 2, LOOKS: 1 }, { STALL: 3 }])
        for (const n of [1, 31, 4095, 4096, 4097, 100_003, count]) {
            const { run, result } = streams.compact(data.subarray(0, n), limit, constants);
            await run();
            const { kept } = await result(), expected = data.subarray(0, n).filter((x) => x < limit);
            if (!same(kept, expected))
                throw new Error(`compact of ${n} with ${JSON.stringify(constants)} is wrong: ${kept.length} kept of ${expected.length}`);
        }
    const f = 2 * Math.PI / 32, volume = Float32Array.from({ length: side ** 3 }, (_, i) => {
        const [x, y, z] = [i % side, Math.floor(i / side) % side, Math.floor(i / side ** 2)].map((k) => f * k);
        return Math.sin(x) * Math.cos(y) + Math.sin(y) * Math.cos(z) + Math.sin(z) * Math.cos(x);
    });
    const words = new Uint32Array(volume.length / 32);
    volume.forEach((x, i) => (words[i >> 5] |= Number(x >= 0.1) << (i & 31)));
    const signs = streams.signs(volume, 0.1);
    await signs.run();
    if (!same(await signs.result(), words))
        throw new Error("the sign bits are wrong");

    const rows = [], signRows = [{ name: "WebGPU", run: signs.run }];
    for (const [name, constants] of [["WebGPU, look-back that helps", {}], ["the same, every second sum late", { STALL: 2 }]]) {
        const { run, result } = streams.compact(data, limit, constants);
        await run();
        rows.push({ name, run, helped: (await result()).helped });
    }
    if (Trommel) {
        const t = await Trommel.create(document.createElement("canvas")), kernel = t.kernel("bool below(uint x, tml_params p) { return x < p.u[0]; }");
        const [from, out, total] = [t.buffer(data), t.buffer({ type: "u32", count }), t.buffer({ type: "u32", count: 1 })];
        const gl = () => {
            t.compact({ keep: { kernel, params: { u: [limit] } }, payloads: [{ in: from, out }], count: total });
            return t.finished();
        };
        await gl();
        if (!same(out.read(0, total.readCount()), wanted))
            throw new Error("compact on WebGL 2 is wrong");
        rows.push({ name: "this library, WebGL 2", run: gl });
        const cpu = await Trommel.create(null, { engine: "cpu", threads: 1 }), flags = cpu.buffer(Uint8Array.from(data, (x) => Number(x < limit)));
        const host = [cpu.buffer(data), cpu.buffer({ type: "u32", count })];
        rows.push({ name: "this library, CPU, 1 thread (by flags)", run: () => cpu.compact({ keep: { flags }, payloads: [{ in: host[0], out: host[1] }] }) });
        const bits = t.kernel("uint bits(tml_words v, tml_index i, tml_params p) { uint word = 0u; for (uint j = 0u; j < 32u; j++) word |= U(tml_word_float(v, 32u * U(i) + j) >= p.f[0]) << j; return word; }");
        const [samples, signsOut] = [t.buffer(volume), t.buffer({ type: "u32", count: words.length })];
        const map = () => {
            t.map({ kernel: bits, params: { f: [0.1] }, in: [samples], length: words.length, out: signsOut });
            return t.finished();
        };
        await map();
        if (!same(signsOut.read(), words))
            throw new Error("the sign bits on WebGL 2 are wrong");
        signRows.push({ name: "this library's map, WebGL 2", run: map });
        const surface = { data: cpu.buffer(volume), dims: [side, side, side] };
        const stages = () => {
            const mesh = cpu.surfaceOnDevice(surface, { iso: 0.1 });
            mesh.destroy();
            return mesh.stages;
        };
        const of = Array.from({ length: turns }, () => stages()[0]);
        signRows.push({ name: `this library's surface, CPU, 1 thread, stage "${of[0].name}"`, run: async () => {}, seconds: median(of.map(({ seconds }) => seconds)) });
    }
    const told = await inTurns(signRows, turns);
    signRows.forEach(({ seconds }, k) => seconds !== undefined && (told[k].median = told[k].best = 1000 * seconds));
    return { device: streams.name, compact: await inTurns(rows, turns), signs: told };
}
