// The Race panel: this library against others on the visitor's machine, beside the page (lib/race_worker.js), as bars that
// grow, and as a text and a picture to be given to others.
import { make, numberText, segmented, timeText } from "../lib/controls.js";
import { copyText, machineText, raceText, saveRacePicture, timesText } from "../lib/share.js";

const SIDES = [64, 128, 256];
const TAKERS = [
    { id: "gpu", name: "Trommel, graphics processor", ours: true, title: "Samples sent to the device, the surface left there, with normals and shared vertices" },
    { id: "threads", name: "Trommel, all threads", ours: true, title: "WebAssembly; normals and shared vertices" },
    { id: "cpu", name: "Trommel, one thread", ours: true, title: "WebAssembly; normals and shared vertices" },
    { id: "three", name: "three.js MarchingCubes", title: "JavaScript; normals, three vertices a triangle; leaves the outermost cells out" },
    { id: "nets", name: "isosurface surfaceNets", title: "JavaScript; shared vertices, no normals; quads, counted as two triangles" },
    { id: "cubes", name: "isosurface marchingCubes", title: "JavaScript; shared vertices, no normals" },
];

const MARKUP = `
<h2>Race on your machine</h2>
<p class="lede">The same samples, the same isovalue, one library after the other, in your browser. The page
stays free meanwhile; nothing of it leaves your machine.</p>
<div class="race-bar">
  <button type="button" class="button primary start">Start the race</button>
  <span class="progress muted" role="status"></span>
</div>
<div class="fields"></div>
<div class="buttons share" hidden>
  <button type="button" class="button text">Copy the result</button>
  <button type="button" class="button picture">Save as a picture</button>
</div>
<p class="muted notes">The field is a ball with waves, an array of floats. A turn begins with that array and ends when the surface
is made: Trommel's with normals and shared vertices, three.js's with normals, isosurface's with shared vertices.
Each figure is the median of up to seven turns after one to warm up. Nets make a few triangles more than cubes.
three.js and isosurface, 65 KB together, are loaded by the start alone.</p>`;

class RacePanel {
    constructor(host, app) {
        this.app = app;
        host.classList.add("race");
        host.innerHTML = MARKUP;
        this.find = (selector) => host.querySelector(selector);
        this.worker = null;
        this.results = new Map(); // of a side: Map of a taker's id to what the worker told
        this.sides = segmented({ name: "Samples", choices: [["64", "64³"], ["128", "128³"], ["256", "256³"], ["all", "All"]], value: "all", onInput: () => {} });
        this.find(".race-bar").prepend(this.sides.element);
        this.find(".start").onclick = () => (this.worker ? this.end("Cancelled.") : this.start());
        this.find(".text").onclick = () => copyText(raceText(this.told()), app, "The result is in the clipboard.");
        this.find(".picture").onclick = () => saveRacePicture(this.told(), "trommel-race");
    }

    show() {}
    hide() {}

    // ---- running ----

    start() {
        this.results.clear();
        this.find(".fields").replaceChildren();
        this.find(".share").hidden = true;
        this.find(".start").textContent = "Cancel";
        const wanted = this.sides.value === "all" ? SIDES : [Number(this.sides.value)];
        this.worker = new Worker(new URL("../lib/race_worker.js", import.meta.url), { type: "module" });
        this.worker.onmessage = ({ data }) => this.take(data);
        this.worker.onerror = (event) => {
            event.preventDefault();
            this.take({ error: event.message || "the worker of the race did not start" });
        };
        this.worker.postMessage({ sides: wanted });
        this.app.requestFrame();
    }

    end(text) {
        this.worker?.terminate();
        this.worker = null;
        this.running = null;
        for (const row of this.find(".fields").querySelectorAll(".runs"))
            row.remove();
        this.find(".start").textContent = this.results.size ? "Race again" : "Start the race";
        this.find(".progress").textContent = text;
        this.find(".share").hidden = ![...this.results.values()].some((of) => [...of.values()].some(({ state }) => state === "done"));
    }

    take(told) {
        if (told.error) {
            this.end("");
            this.app.message(`The race ended: ${told.error}`, "error");
        } else if (told.finished) {
            this.end("Done.");
        } else if (told.field) {
            this.find(".progress").textContent = `Computing ${told.field}³ samples …`;
            this.results.set(told.field, new Map());
            this.list(told.field);
        } else {
            this.results.get(told.side).set(told.id, told);
            const { name } = TAKERS.find(({ id }) => id === told.id);
            if (told.state === "runs") {
                this.running = { ...told, since: performance.now() };
                this.find(".progress").textContent = `${told.side}³: ${name} …`;
                this.app.requestFrame();
            }
            this.fill(told.side);
        }
    }

    // ---- bars ----

    list(side) {
        const list = make("ol", {});
        for (const { id, name, title, ours } of TAKERS)
            list.append(make("li", { className: ours ? "ours" : "", title, hidden: true, "data-taker": id },
                make("span", { className: "taker", textContent: name }), make("span", { className: "track" }, make("i")), make("b"), make("small")));
        const part = make("section", { "data-side": side }, make("h3", { textContent: `${side}³ samples` }), list);
        this.find(".fields").append(part);
        part.scrollIntoView({ block: "nearest", behavior: this.app.reducedMotion.matches ? "auto" : "smooth" });
    }

    // All bars of a side: the slowest is as long as there is room. What runs grows until it is known.
    fill(side, now = performance.now()) {
        const results = this.results.get(side), done = [...results.values()].filter(({ state }) => state === "done");
        const running = this.running?.side === side ? now - this.running.since : 0;
        const slowest = Math.max(...done.map(({ milliseconds }) => milliseconds), 1e-3);
        const best = Math.min(...done.map(({ milliseconds }) => milliseconds));
        for (const row of this.find(`[data-side="${side}"]`).querySelectorAll("li")) {
            const told = results.get(row.dataset.taker);
            row.hidden = !told;
            if (!told)
                continue;
            row.classList.toggle("runs", told.state === "runs");
            row.classList.toggle("best", told.milliseconds === best);
            const share = told.state === "done" ? told.milliseconds / slowest : told.state === "runs" ? 1 - Math.exp(-running / 2500) : 0;
            row.querySelector("i").style.width = `${100 * share}%`;
            row.querySelector("b").textContent = told.state === "done" ? timeText(told.milliseconds / 1000) : told.state === "runs" ? "…" : "–";
            row.querySelector("small").textContent = told.state === "out" ? told.reason
                : told.state === "done" ? `${numberText(told.triangles)} triangles${told.milliseconds > best ? ` · ${timesText(told.milliseconds / best)} as long` : ""}${told.isSoftware ? " · emulated by the processor" : ""}` : "";
        }
    }

    frame() {
        if (!this.running)
            return;
        this.fill(this.running.side);
        this.app.requestFrame();
    }

    // ---- to be given to others ----

    told() {
        const all = [...this.results.values()], device = all.map((of) => of.get("gpu")).find((one) => one?.detail);
        const rowsOf = (of) => TAKERS.map(({ id, name, ours }) => ({ name, ours, ...of.get(id) })).filter(({ state }) => state === "done")
            .map(({ name, ours, milliseconds }) => ({ name, ours, seconds: milliseconds / 1000 }));
        const parts = [...this.results].map(([side, of]) => ({ title: `${side}³ samples`, rows: rowsOf(of) })).filter(({ rows }) => rows.length);
        const machine = machineText(device && `${device.detail}${device.isSoftware ? ", emulated" : ""}`);
        return { title: "Isosurfaces", machine, parts, link: new URL("#race", location.href).href };
    }
}

export default {
    id: "race",
    title: "Race",
    create(host, app) {
        document.head.append(make("link", { rel: "stylesheet", href: new URL("race.css", import.meta.url).href }));
        return new RacePanel(host, app);
    },
};
