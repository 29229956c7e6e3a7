// How long each method of compaction takes on this machine, as a plot and a table. Every result is
// compared with a plain loop before it is timed. Measuring goes on between frames and can be stopped.
import { decadeTicks, drawPlot, fillTable } from "./plot.js";

const SIZES = Array.from({ length: 9 }, (_, i) => 2 ** (12 + i));
const SAMPLES = 5;
const SAMPLE_SECONDS = 0.012; // of repetitions in a sample, where one call is shorter
const REPEATS_MAX = { gl: 64, cpu: 2000, js: 2000 };
const CALL_SECONDS_MAX = 0.4; // larger sizes of a method that would take longer are left out

const KERNEL = "bool is_light(uint weight, tml_params p) { return weight < p.u[0]; }";

const MARKUP = `
<h3 id="method-times-title">The methods on this machine</h3>
<p>Numbers are kept by chance and packed side by side. <em>HistoPyramid</em> is what the library uses on WebGL;
the others are what the field used before, or instead. On WebGL the time is the device's own where the browser
offers a timer, otherwise that between two fences.</p>
<div class="method-controls">
  <div class="row"><label for="method-share">Kept</label><output>30 %</output>
    <input type="range" class="share" id="method-share" min="1" max="99" value="30" style="--filled: 30%"></div>
  <label>Show <select class="select quantity"><option value="call">time of a call</option>
    <option value="element">time an element</option></select></label>
  <button type="button" class="button primary measure">Measure</button>
  <span class="progress muted" role="status"></span>
</div>
<div class="method-plot" hidden>
  <svg class="plot"></svg>
  <div class="table-place" tabindex="0" role="region" aria-label="Table of times"><table></table></div>
  <p class="notes muted"></p>
</div>`;

// ---- methods ------------------------------------------------------------------------------------

// run(data) enqueues or does one compaction of data (dataOn below); order: whether its outputs come in the
// order of their sources.
const METHODS = [
    {
        name: "HistoPyramid",
        className: "series-1",
        engine: "gl",
        order: true,
        run: (d) => d.trommel.compact({ ...d.keep, method: "histopyramid" }),
    },
    {
        name: "HistoPyramid of 2006",
        className: "series-2",
        engine: "gl",
        order: false,
        run: (d) => d.filter(d.trommel, "three-fetches", d),
    },
    {
        name: "... one fetch a level",
        className: "series-7",
        engine: "gl",
        order: false,
        run: (d) => d.filter(d.trommel, "one-fetch", d),
    },
    {
        name: "Scan and search",
        className: "series-3",
        engine: "gl",
        order: true,
        run: (d) => d.filter(d.trommel, "scan-search", d),
    },
    {
        name: "Bitonic sort",
        className: "series-4",
        engine: "gl",
        order: true,
        run: (d) => d.filter(d.trommel, "bitonic", d),
    },
    {
        name: "WebAssembly, 1 core",
        className: "series-5",
        engine: "cpu",
        order: true,
        run: (d) =>
            d.trommel.compact({ flags: d.flags, payloads: [{ in: d.in, out: d.out }], count: d.count }),
    },
    { name: "JavaScript loop", className: "series-6", engine: "js", order: true, run: (d) => loop(d) },
];

function loop(data) {
    const { values, kept, limit } = data;
    let count = 0;
    for (let i = 0; i < values.length; i++) if (values[i] < limit) kept[count++] = values[i];
    return count;
}

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
        data.keep = {
            kernel: data.kernel,
            params: data.params,
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

const nextTask = () => new Promise((done) => setTimeout(done, 0));

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
async function timeMethod(method, data, signal) {
    let { seconds } = await timeOnce(method, data, 1);
    const wanted = Math.ceil(SAMPLE_SECONDS / Math.max(seconds, 1e-6));
    const repeats = Math.max(1, Math.min(REPEATS_MAX[method.engine], wanted));
    const samples = [];
    let by = "clock";
    for (let i = 0; i < SAMPLES; i++) {
        await nextTask();
        signal.throwIfAborted();
        const sample = await timeOnce(method, data, repeats);
        samples.push(sample.seconds);
        by = sample.by;
    }
    samples.sort((a, b) => a - b);
    return { seconds: samples[SAMPLES >> 1], least: samples[0], by };
}

// Calls report({method, count, seconds, by} or {method, count, leftOut or failed: text}) for each.
async function measureAll(trommels, filter, share, signal, report) {
    const last = new Map(); // seconds of a method at the size before
    for (const count of SIZES) {
        const host = hostData(count, share);
        for (const [engine, trommel] of Object.entries(trommels)) {
            const data = trommel ? dataOn(trommel, host, filter) : host;
            try {
                for (const method of METHODS.filter((one) => one.engine === engine)) {
                    await nextTask();
                    signal.throwIfAborted();
                    const expected = 2 * (last.get(method) ?? 0);
                    if (expected > CALL_SECONDS_MAX) {
                        last.set(method, expected);
                        report({ method, count, leftOut: `about ${timeText(expected)}` });
                        continue;
                    }
                    report(await measureOne(method, data, host, signal, last));
                }
            } finally {
                if (trommel && !trommel.isLost && !trommel.isClosed) data.destroy();
            }
        }
    }
}

async function measureOne(method, data, host, signal, last) {
    const count = host.values.length;
    try {
        method.run(data);
        if (method.engine !== "js") await verify(method, data, host);
        const { seconds, least, by } = await timeMethod(method, data, signal);
        last.set(method, least); // the median may be one of a busy moment
        return { method, count, seconds, by };
    } catch (error) {
        if (signal.aborted || error.status === "DEVICE_LOST") throw error;
        return { method, count, failed: error.message };
    }
}

// ---- showing ------------------------------------------------------------------------------------

export function timeText(seconds) {
    if (!(seconds > 0)) return "below the clock's step";
    const [scale, unit] =
        seconds < 1e-6 ? [1e9, "ns"] : seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
    return `${Number((seconds * scale).toPrecision(3))} ${unit}`;
}

function sizeText(count) {
    return count >= 2 ** 20 ? `${count / 2 ** 20} Mi` : `${count / 1024} Ki`;
}

function rangeOf(values) {
    const low = Math.min(...values),
        high = Math.max(...values);
    return low < high ? [low / 1.15, high * 1.15] : [low / 2, high * 2];
}

function showResults(part, results, share, quantity) {
    const valueOf = (r) => (quantity === "element" ? r.seconds / r.count : r.seconds);
    const series = METHODS.map((method) => ({
        name: method.name,
        className: method.className,
        points: results
            .filter((r) => r.method === method && r.seconds > 0)
            .map((r) => [
                r.count,
                valueOf(r),
                `${method.name}, ${r.count.toLocaleString("en")} elements: ${timeText(valueOf(r))}`,
            ]),
    }));
    const values = series.flatMap((one) => one.points.map((p) => p[1]));
    if (values.length === 0) return;
    part.hidden = false;
    const what = quantity === "element" ? "Time an element" : "Time of a call";
    const range = rangeOf(values);
    drawPlot(part.querySelector("svg"), {
        series,
        x: {
            title: "Elements in the stream",
            range: [SIZES[0], SIZES[SIZES.length - 1]],
            ticks: SIZES.filter((_, i) => i % 2 === 0).map((at) => ({ at, text: sizeText(at) })),
        },
        y: { title: what, range, ticks: decadeTicks(range, timeText) },
        label: `${what} of each method by the number of elements, ${share} % kept. The table has the numbers.`,
    });
    const rows = SIZES.map((count) => [
        count.toLocaleString("en"),
        ...METHODS.map((method) => {
            const r = results.find((one) => one.method === method && one.count === count);
            return !r
                ? ""
                : r.seconds > 0
                  ? timeText(valueOf(r))
                  : r.leftOut
                    ? `left out (${r.leftOut})`
                    : "failed";
        }),
    ]);
    fillTable(
        part.querySelector("table"),
        `${what}, ${share} % kept; median of ${SAMPLES}`,
        ["Elements", ...METHODS.map((method) => method.name)],
        rows,
    );
    const clocks = new Set(results.filter((r) => r.method.engine === "gl" && r.by).map((r) => r.by));
    const notes = [
        clocks.size ? `Clock on WebGL: ${[...clocks].join(", ")}.` : "",
        "WebAssembly reads a flag for each element, the others test the number.",
        ...new Set(results.filter((r) => r.failed).map((r) => r.failed)),
    ];
    part.querySelector(".notes").textContent = notes.join(" ");
}

// {cancel()}
export function createMethodTimes(app, host) {
    host.innerHTML = MARKUP;
    const find = (selector) => host.querySelector(selector);
    const share = find(".share"),
        quantity = find(".quantity"),
        button = find(".measure");
    const progress = find(".progress"),
        part = find(".method-plot");
    let stop = null,
        results = [],
        measuredShare = 30;

    const show = () => showResults(part, results, measuredShare, quantity.value);
    share.addEventListener("input", () => {
        share.previousElementSibling.textContent = `${share.value} %`;
        share.style.setProperty("--filled", `${share.value}%`);
    });
    quantity.addEventListener("change", show);
    new ResizeObserver(show).observe(host);

    async function measure(signal) {
        results = [];
        measuredShare = Number(share.value);
        const { createPapers, filter } = await import("../lib/papers.js");
        const isOnDevice = (await app.trommel).engine === "gl";
        const gl = isOnDevice ? await createPapers(document.createElement("canvas"), { engine: "gl" }) : null;
        const cpu = await createPapers(null, { engine: "cpu" });
        try {
            const trommels = gl ? { gl, cpu, js: null } : { cpu, js: null };
            const steps = SIZES.length * METHODS.filter((method) => method.engine in trommels).length;
            await measureAll(trommels, filter, measuredShare / 100, signal, (result) => {
                results.push(result);
                progress.textContent = `${Math.round((100 * results.length) / steps)} %`;
                show();
            });
        } finally {
            cpu.close();
            gl?.close();
        }
    }

    button.addEventListener("click", async () => {
        if (stop) {
            stop.abort();
            return;
        }
        stop = new AbortController();
        button.textContent = "Stop";
        try {
            await measure(stop.signal);
            progress.textContent = "Done.";
        } catch (error) {
            progress.textContent = stop.signal.aborted ? "Stopped." : "";
            if (!stop.signal.aborted) app.message(error.message, "error");
        } finally {
            stop = null;
            button.textContent = "Measure";
        }
    });
    return { cancel: () => stop?.abort() };
}
