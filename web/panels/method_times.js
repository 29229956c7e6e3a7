// How long each method of compaction takes on this machine, as a plot and a table. A worker measures (lib/method_worker.js),
// so that the page stays free, and can be stopped.
import { timeText } from "../lib/controls.js";
import { METHODS, SAMPLES, SIZES } from "../lib/methods.js";
import { copyText, machineText, raceText, saveRacePicture } from "../lib/share.js";
import { decadeTicks, drawPlot, fillTable } from "./plot.js";

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
  <div class="buttons share-results" hidden><button type="button" class="button text">Copy the result</button>
    <button type="button" class="button picture">Save as a picture</button></div>
</div>`;

// ---- showing ------------------------------------------------------------------------------------

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
    const give = find(".share-results");
    let worker = null,
        results = [],
        steps = 1,
        device = null,
        measuredShare = 30;

    const show = () => showResults(part, results, measuredShare, quantity.value);
    share.addEventListener("input", () => {
        share.previousElementSibling.textContent = `${share.value} %`;
        share.style.setProperty("--filled", `${share.value}%`);
    });
    quantity.addEventListener("change", show);
    new ResizeObserver(show).observe(host);

    function end(text, error) {
        worker?.terminate();
        worker = null;
        progress.textContent = text;
        button.textContent = "Measure";
        give.hidden = results.every((r) => !r.seconds);
        if (error) app.message(error, "error");
    }

    function take({ steps: all, finished, device: name, error, ...result }) {
        if (error) end("", error);
        else if (all) steps = all;
        else if (finished) {
            device = name;
            end("Done.");
        } else {
            results.push({ ...result, method: METHODS.find((method) => method.name === result.method) });
            progress.textContent = `${Math.round((100 * results.length) / steps)} %`;
            show();
        }
    }

    button.addEventListener("click", async () => {
        if (worker) {
            end("Stopped.");
            return;
        }
        results = [];
        measuredShare = Number(share.value);
        button.textContent = "Stop";
        worker = new Worker(new URL("../lib/method_worker.js", import.meta.url), { type: "module" });
        const started = worker;
        worker.onmessage = ({ data }) => take(data);
        worker.onerror = (event) => {
            event.preventDefault();
            end("", event.message || "the worker that measures did not start");
        };
        const isOnDevice = (await app.trommel).engine === "gl" && typeof OffscreenCanvas !== "undefined";
        started.postMessage({ share: measuredShare / 100, isOnDevice });
    });

    // The largest size that all came to, as rows of a race.
    const raced = () => {
        const counts = SIZES.filter((count) => results.some((r) => r.count === count && r.seconds > 0));
        const of = (count) => results.filter((r) => r.count === count && r.seconds > 0);
        const most = Math.max(...counts.map((count) => of(count).length)), count = counts.findLast((one) => of(one).length === most);
        const rows = of(count).map(({ method, seconds }) => ({ name: method.name, ours: method.isOurs, seconds }));
        return [{ title: `${count.toLocaleString("en")} numbers, ${measuredShare} % kept`, rows }];
    };
    const told = () => ({ title: "Stream compaction", machine: machineText(device), parts: raced(), link: new URL("#compaction", location.href).href });
    find(".text").addEventListener("click", () => copyText(raceText(told()), app, "The result is in the clipboard."));
    find(".picture").addEventListener("click", () => saveRacePicture(told(), "trommel-compaction-race"));
    return { cancel: () => worker && end("Stopped.") };
}
