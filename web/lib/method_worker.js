// Measures the methods of compaction beside the page (panels/method_times.js). Every result is compared with a plain
// loop before it is timed. Gets {share, isOnDevice}; tells {steps}, then of each method at each size {method: its name,
// count, seconds, by} or {method, count, leftOut or failed: text}, and {finished: true} or {error}.
import { timeText } from "./controls.js";
import { METHODS, SAMPLES, SIZES, loop } from "./methods.js";
import { createPapers, filter } from "./papers.js";

const SAMPLE_SECONDS = 0.012; // of repetitions in a sample, where one call is shorter
const REPEATS_MAX = { gl: 64, cpu: 2000, js: 2000 };
const CALL_SECONDS_MAX = 0.4; // larger sizes of a method that would take longer are left out
const KERNEL = "bool is_light(uint weight, tml_params p) { return weight < p.u[0]; }";

// ---- data ---------------------------------------------------------------------------------------

function randomWords(count) {
    const words = new Uint32Array(count);
    let x = 0x2545f491;
    for (let i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        words[i] = x;
    }
    return words;
}

// What the loop keeps: the truth for all.
function hostData(count, share) {
    const values = randomWords(count),
        limit = Math.floor(share * 4294967295);
    const data = { values, limit, kept: new Uint32Array(count) };
    data.total = loop(data);
    return data;
}

function flagsOf({ values, limit }) {
    const flags = new Uint8Array(values.length);
    for (let i = 0; i < values.length; i++) flags[i] = values[i] < limit ? 1 : 0;
    return flags;
}

// Buffers with the data on one instance of the library; undone by destroy().
// filter: of lib/papers.js, for the methods that the library has not.
function dataOn(trommel, host, filter) {
    const made = [];
    const make = (options) => {
        const buffer = trommel.buffer(options);
        made.push(buffer);
        return buffer;
    };
    const data = {
        trommel,
        filter,
        in: make(host.values),
        out: make({ type: "u32", count: Math.max(host.total, 1) }),
        count: make({ type: "u32", count: 1 }),
        params: { u: [host.limit, 0, 0, 0] },
        destroy: () => made.forEach((buffer) => buffer.destroy()),
    };
    if (trommel.engine === "gl") {
        data.kernel = trommel.kernel(KERNEL);
        data.compaction = {
            keep: { kernel: data.kernel, params: data.params },
            payloads: [{ in: data.in, out: data.out }],
            count: data.count,
        };
    } else data.flags = make(flagsOf(host));
    return data;
}

// Throws where the outputs are not those of the loop. Without order, sums stand for sets.
async function verify(method, data, host) {
    const [count] = await data.count.readAsync();
    if (count !== host.total)
        throw new Error(`${method.name} keeps ${count} of ${host.values.length}, the loop ${host.total}`);
    const out = await data.out.readAsync();
    let sum = 0,
        wanted = 0,
        differs = false;
    for (let i = 0; i < host.total; i++) {
        sum = (sum + out[i]) % 4294967296;
        wanted = (wanted + host.kept[i]) % 4294967296;
        differs ||= out[i] !== host.kept[i];
    }
    if (method.order ? differs : sum !== wanted)
        throw new Error(`${method.name}: the outputs of ${host.values.length} differ from the loop's`);
}

// ---- measuring ----------------------------------------------------------------------------------

async function timeOnce(method, data, repeats) {
    if (method.engine === "gl") {
        const { seconds, by } = await data.trommel.time(() => {
            for (let i = 0; i < repeats; i++) method.run(data);
        });
        return { seconds: seconds / repeats, by };
    }
    const begin = performance.now();
    for (let i = 0; i < repeats; i++) method.run(data);
    return { seconds: (performance.now() - begin) / 1000 / repeats, by: "clock" };
}

// The median of a few samples, each of as many calls as make it long enough for the clock.
async function timeMethod(method, data) {
    let { seconds } = await timeOnce(method, data, 1);
    const wanted = Math.ceil(SAMPLE_SECONDS / Math.max(seconds, 1e-6));
    const repeats = Math.max(1, Math.min(REPEATS_MAX[method.engine], wanted));
    const samples = [];
    let by = "clock";
    for (let i = 0; i < SAMPLES; i++) {
        const sample = await timeOnce(method, data, repeats);
        samples.push(sample.seconds);
        by = sample.by;
    }
    samples.sort((a, b) => a - b);
    return { seconds: samples[SAMPLES >> 1], least: samples[0], by };
}

// Calls report({method, count, seconds, by} or {method, count, leftOut or failed: text}) for each.
async function measureAll(trommels, filter, share, report) {
    const last = new Map(); // seconds of a method at the size before
    for (const count of SIZES) {
        const host = hostData(count, share);
        for (const [engine, trommel] of Object.entries(trommels)) {
            const data = trommel ? dataOn(trommel, host, filter) : host;
            try {
                for (const method of METHODS.filter((one) => one.engine === engine)) {
                    const expected = 2 * (last.get(method) ?? 0);
                    if (expected > CALL_SECONDS_MAX) {
                        last.set(method, expected);
                        report({ method, count, leftOut: `about ${timeText(expected)}` });
                        continue;
                    }
                    report(await measureOne(method, data, host, last));
                }
            } finally {
                if (trommel && !trommel.isLost && !trommel.isClosed) data.destroy();
            }
        }
    }
}

async function measureOne(method, data, host, last) {
    const count = host.values.length;
    try {
        method.run(data);
        if (method.engine !== "js") await verify(method, data, host);
        const { seconds, least, by } = await timeMethod(method, data);
        last.set(method, least); // the median may be one of a busy moment
        return { method, count, seconds, by };
    } catch (error) {
        if (error.status === "DEVICE_LOST") throw error;
        return { method, count, failed: error.message };
    }
}

onmessage = async ({ data: { share, isOnDevice } }) => {
    try {
        const gl = isOnDevice ? await createPapers(new OffscreenCanvas(1, 1), { engine: "gl" }) : null;
        const cpu = await createPapers(null, { engine: "cpu" });
        const trommels = gl ? { gl, cpu, js: null } : { cpu, js: null };
        postMessage({ steps: SIZES.length * METHODS.filter((method) => method.engine in trommels).length });
        await measureAll(trommels, filter, share, (result) => postMessage({ ...result, method: result.method.name }));
        postMessage({ finished: true, device: gl?.device.name });
    } catch (error) {
        postMessage({ error: error.message });
    }
};
