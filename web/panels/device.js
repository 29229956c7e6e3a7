// The Device panel: what the browser and the library say of this device, the tests that decided how
// values travel, every fallback path to be tried, and what happens when the context is lost.

import { timeText } from "../lib/controls.js";
import { stageNames, timeStages } from "./device_stages.js";

const RESTORE_AFTER = 1200; // milliseconds that a lost context stays away

const PATHS = [
    { path: "auto", name: "Automatic", text: "The best that passes its tests" },
    { path: "integer", name: "Integer textures", text: "Exact counts to 2³², floats as bits" },
    { path: "float", name: "Float textures", text: "Counts exact to 2²⁴, read back as floats" },
    { path: "float-packed", name: "Float, packed", text: "Packed into bytes to be read back" },
    { path: "packed", name: "Bytes alone", text: "Every value packed by arithmetic: runs anywhere" },
];
const nameOf = (path) => PATHS.find((one) => one.path === path)?.name ?? path;

const MARKUP = `
<h2 class="unseen">Device</h2>
<p class="lede">Browsers and drivers promise much. The library believes none of it: it draws known values into every
kind of texture, reads them back, and compares. What passes decides how values travel.</p>
<section aria-labelledby="device-title">
  <h3 id="device-title">This device</h3>
  <dl class="strings"></dl>
  <details><summary>Extensions</summary><ul class="extensions"></ul></details>
</section>
<section aria-labelledby="paths-title">
  <h3 id="paths-title">The paths</h3>
  <p class="muted">Choose one to force it, on a context of its own: the other panels keep theirs.</p>
  <fieldset class="segmented webgl"><legend class="unseen">Version of WebGL</legend>
    <label><input type="radio" name="device-webgl" value="2" checked><span>WebGL 2</span></label>
    <label><input type="radio" name="device-webgl" value="1"><span>WebGL 1</span></label>
  </fieldset>
  <fieldset class="paths"><legend class="unseen">Path</legend></fieldset>
  <p class="now" role="status"></p>
</section>
<section class="columns">
  <div><h3 id="tests-title">What was tested</h3>
    <ul class="tests" aria-labelledby="tests-title"></ul></div>
  <div><h3 id="stages-title">Time of each operation</h3>
    <div class="table-place" tabindex="0" role="region" aria-labelledby="stages-title">
      <table class="stages"></table></div>
    <ul class="changes muted" aria-label="What changes"></ul></div>
</section>
<section aria-labelledby="lost-title">
  <h3 id="lost-title">Losing the context</h3>
  <p>A driver's update or a sleeping laptop takes the whole context away, with every texture in it. Here you can
  have it happen to this page: every panel gets its device back.</p>
  <p class="buttons"><button type="button" class="button lose">Lose the context</button></p>
  <ol class="events" aria-live="polite"></ol>
</section>`;

function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
}

function addStyles(name) {
    const link = make("link");
    link.rel = "stylesheet";
    link.href = new URL(name, import.meta.url);
    document.head.append(link);
}

// ---- what there is -------------------------------------------------------------------------------

function browserStrings(gl) {
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return [
        ["Vendor", gl.getParameter(info ? info.UNMASKED_VENDOR_WEBGL : gl.VENDOR)],
        ["Renderer", gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)],
        ["Version", gl.getParameter(gl.VERSION)],
        ["Shaders", gl.getParameter(gl.SHADING_LANGUAGE_VERSION)],
        ["Largest texture", `${gl.getParameter(gl.MAX_TEXTURE_SIZE)} texels a side`],
        [
            "Timer",
            gl.getExtension("EXT_disjoint_timer_query_webgl2")
                ? "the device's own"
                : `none; a clock between ${"fenceSync" in gl ? "fences" : "waits"} stands in`,
        ],
    ];
}

function libraryStrings(trommel) {
    const { device, path } = trommel,
        { isSupported, hasThreads, version } = trommel.constructor;
    return [
        ["Trommel", version],
        ["Engine", trommel.engine === "gl" ? `OpenGL ES through WebGL, path ${path}` : "CPU"],
        [
            "Kind",
            trommel.engine === "cpu"
                ? "the processor"
                : device.isSoftware
                  ? "a software driver: right, but slow"
                  : "a graphics processor",
        ],
        ["Features", device.features || "none told"],
        [
            "Threads in the page",
            hasThreads
                ? `${navigator.hardwareConcurrency} processors, cross-origin isolated`
                : "one: the page is not cross-origin isolated",
        ],
        ["WebAssembly", isSupported ? "with SIMD" : "without SIMD"],
    ];
}

function showStrings(host, trommel) {
    const list = host.querySelector(".strings"),
        { gl } = trommel;
    const strings = [...(gl && !gl.isContextLost() ? browserStrings(gl) : []), ...libraryStrings(trommel)];
    list.replaceChildren(...strings.flatMap(([name, text]) => [make("dt", "", name), make("dd", "", text)]));
    const extensions = gl?.getSupportedExtensions() ?? [];
    host.querySelector("summary").textContent = `${extensions.length} extensions`;
    host.querySelector(".extensions").replaceChildren(...extensions.map((name) => make("li", "", name)));
}

// ---- tests ---------------------------------------------------------------------------------------

function testItem(test) {
    const item = make("li", `${test.passed ? "" : "is-failed"}${test.isChoice ? " is-choice" : ""}`.trim());
    const result = make("span", "result", test.passed ? "✓" : "✗");
    result.setAttribute("aria-hidden", "true");
    item.append(
        result,
        make("span", "name", test.name),
        make("span", "unseen", test.isChoice ? ": chosen" : test.passed ? ": passed" : ": failed"),
    );
    if (test.detail) item.append(" ", make("span", "detail", test.detail));
    if (test.children.length > 0) {
        const list = make("ul");
        list.append(...test.children.map(testItem));
        item.append(list);
    }
    return item;
}

// ---- stages --------------------------------------------------------------------------------------

// columns: [{title, results}]; results[i] of stage i, as timeStages reports.
function showStages(table, columns) {
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    for (const title of ["Operation", ...columns.map((column) => column.title)]) {
        const cell = make("th", title === "Operation" ? "" : "figure", title);
        cell.scope = "col";
        head.append(cell);
    }
    const body = table.createTBody();
    stageNames.forEach(({ name, what }, i) => {
        const row = body.insertRow(),
            heading = make("th", "", name);
        heading.scope = "row";
        heading.append(make("small", "", what));
        row.append(heading);
        for (const { results } of columns) {
            const result = results[i],
                cell = row.insertCell();
            cell.className = "figure";
            if (!result) cell.textContent = "…";
            else if (result.missing) {
                cell.append(make("span", "missing", "not on this path"));
                cell.title = result.missing;
            } else cell.textContent = timeText(result.seconds) + (result.right ? "" : " (wrong!)");
        }
    });
}

// What a forced path does otherwise, in sentences.
function changesBetween(automatic, forced, name) {
    const missing = stageNames.filter((_, i) => forced.results[i]?.missing && !automatic.results[i]?.missing);
    const lines = [];
    if (missing.length > 0)
        lines.push(`${name} lacks: ${missing.map((stage) => stage.name.toLowerCase()).join(", ")}.`);
    const ratios = stageNames
        .map((stage, i) => {
            const [a, b] = [automatic.results[i]?.seconds, forced.results[i]?.seconds];
            return a > 0 && b > 0 ? { name: stage.name, ratio: b / a } : null;
        })
        .filter((one) => one);
    if (ratios.length > 0) {
        const most = ratios.reduce((a, b) => (b.ratio > a.ratio ? b : a));
        const least = ratios.reduce((a, b) => (b.ratio < a.ratio ? b : a));
        const text = ({ name: stage, ratio }) => `${Number(ratio.toPrecision(2))} (${stage.toLowerCase()})`;
        lines.push(`Times are those of the automatic path times ${text(least)} to ${text(most)}.`);
    }
    if (forced.results.length === stageNames.length && forced.results.every((r) => r.missing || r.right))
        lines.push("What it computes is right: every result was compared with a plain loop.");
    return lines;
}

// ---- the panel -----------------------------------------------------------------------------------

class DevicePanel {
    constructor(host, app) {
        this.host = host;
        this.app = app;
        host.classList.add("device");
        host.innerHTML = MARKUP;
        this.find = (selector) => host.querySelector(selector);
        this.columns = []; // the automatic path's, then the forced one's
        this.canvases = {}; // by version of WebGL: contexts for forced paths
        this.forced = null; // the instance on one of them
        this.stop = null;
        for (const { path, name, text } of PATHS) {
            const label = make("label", "path"),
                input = make("input");
            Object.assign(input, {
                type: "radio",
                name: "device-path",
                value: path,
                checked: path === "auto",
            });
            input.addEventListener("change", () => this.choose());
            label.append(input, make("b", "", name), make("span", "", text));
            this.find(".paths").append(label);
        }
        host.querySelectorAll("[name=device-webgl]").forEach((input) =>
            input.addEventListener("change", () => this.choose()),
        );
        this.find(".lose").addEventListener("click", () => this.lose());
    }

    show() {
        if (!this.isStarted) {
            this.isStarted = true;
            this.choose();
        }
    }

    hide() {
        this.stop?.abort();
    }

    say(text, state = "") {
        this.find(".now").textContent = text;
        this.find(".now").dataset.state = state;
    }

    // ---- paths ----

    checked(name) {
        return this.find(`[name=${name}]:checked`).value;
    }

    // Opens what is chosen, shows its tests and times its stages.
    async choose() {
        this.stop?.abort();
        const stop = (this.stop = new AbortController());
        this.say("");
        try {
            const trommel = await this.open();
            stop.signal.throwIfAborted();
            await this.showInstance(trommel, stop.signal);
        } catch (error) {
            if (stop.signal.aborted) return;
            this.find(".tests").replaceChildren(
                make("li", "muted", "Nothing is open: see the message above."),
            );
            this.find(".changes").replaceChildren();
            this.columns.length = Math.min(this.columns.length, 1);
            showStages(this.find(".stages"), this.columns);
            this.say(error.message, "failed");
        }
    }

    async open() {
        const shared = await this.app.trommel;
        const path = this.checked("device-path"),
            webgl = Number(this.checked("device-webgl"));
        this.forced?.close();
        this.forced = null;
        if (path === "auto" && webgl === 2) return shared;
        this.say("Opening a context of its own …");
        const canvas = (this.canvases[webgl] ??= make("canvas"));
        const options = { engine: "gl", webgl, ...(path === "auto" ? {} : { path }) };
        this.forced = await shared.constructor.create(canvas, options);
        return this.forced;
    }

    async showInstance(trommel, signal) {
        const isShared = trommel !== this.forced;
        const title = isShared
            ? "Automatic"
            : `${nameOf(trommel.path)}, WebGL ${this.checked("device-webgl")}`;
        showStrings(this.host, trommel);
        this.find(".tests").replaceChildren(...trommel.tests.map(testItem));
        const column = { title, results: [] };
        this.columns = isShared ? [column] : [this.columns[0], column].filter((one) => one);
        this.find(".changes").replaceChildren();
        const where = trommel.engine === "gl" ? `path ${trommel.path}` : "on the CPU";
        this.say(`${title}: ${where}. Timing …`);
        showStages(this.find(".stages"), this.columns);
        await timeStages(trommel, signal, (i, result) => {
            column.results[i] = result;
            showStages(this.find(".stages"), this.columns);
        });
        if (!isShared && this.columns.length > 1)
            this.find(".changes").replaceChildren(
                ...changesBetween(...this.columns, title).map((line) => make("li", "", line)),
            );
        this.say(`${title}: ${where}.`, "done");
    }

    // ---- the lost context ----

    event(text) {
        const item = make("li"),
            time = make("time", "", `${((performance.now() - this.lostAt) / 1000).toFixed(2)} s`);
        item.append(time, make("span", "", text));
        this.find(".events").append(item);
    }

    lose() {
        const { gl } = this.app;
        // Asked for while there is a context: a lost one has no extensions.
        const extension = gl?.getExtension("WEBGL_lose_context");
        if (!extension) {
            this.app.message("This browser cannot lose a context on request.", "error");
            return;
        }
        this.stop?.abort();
        this.find(".lose").disabled = true;
        this.find(".events").replaceChildren();
        this.lostAt = performance.now();
        extension.loseContext();
        setTimeout(() => extension.restoreContext(), RESTORE_AFTER);
    }

    async contextLost() {
        this.lostAt ??= performance.now();
        this.event("The context is gone, with all its textures.");
        const trommel = await this.app.trommel.catch(() => null);
        if (!trommel) return;
        try {
            trommel.buffer({ type: "u32", count: 1 });
            this.event("The library has not noticed yet.");
        } catch (error) {
            this.event(`A call of the library says: ${error.message}`);
        }
    }

    async contextRestored() {
        this.event("The browser gives a new context.");
        try {
            const trommel = await this.app.trommel;
            this.event(`The library is open again, path ${trommel.path}.`);
            const flags = trommel.buffer(Uint8Array.of(1, 0, 1, 1)),
                count = trommel.buffer({ type: "u32", count: 1 });
            trommel.compact({ keep: { flags }, count });
            const [kept] = await count.readAsync();
            this.event(
                kept === 3
                    ? "It computes: 3 of 1, 0, 1, 1 are kept."
                    : `It computes wrongly: ${kept} kept, not 3.`,
            );
            flags.destroy();
            count.destroy();
        } catch (error) {
            this.event(`The library could not be opened again: ${error.message}`);
        }
        this.find(".lose").disabled = false;
        if (this.isStarted && this.checked("device-path") === "auto") this.choose();
    }
}

export default {
    id: "device",
    title: "Device",
    create(host, app) {
        addStyles("device.css");
        return new DevicePanel(host, app);
    },
};
