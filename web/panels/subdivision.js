// The Subdivision panel: a coarse mesh, and the smooth surface that Loop's scheme makes of it, level by level or
// only where it bends. A worker subdivides; edges show the triangles, colours their levels.
import { ArrayRenderer } from "../lib/array_renderer.js";
import { counted, linearColor, make, numberText, segmented, slider, toggle } from "../lib/controls.js";
import { cornersOf } from "../lib/corners.js";
import { notOpened } from "../lib/files.js";
import { lightsOf } from "../lib/mesh_look.js";
import { placeText } from "../lib/pick.js";
import * as shapes from "../lib/shapes.js";
import { MeshPanel } from "./mesh_panel.js";

const SHAPES = {
    star: ["Star", () => shapes.star()],
    cage: ["Cage", () => shapes.cage()],
    knot: ["Knot", () => shapes.knot(24, 4)],
    solid: ["Icosahedron", () => shapes.icosahedron()],
};
const BUDGET = 200_000; // triangles: what the page draws with ease
const LEVELS_MOST = 5;
const DEPTH_MOST = 7; // finer triangles are smaller than pixels
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

class SubdivisionPanel extends MeshPanel {
    constructor(host, app) {
        super(host, app, "subdivide_worker.js", 3.2);
        this.camera.turns = !app.reducedMotion.matches;
        this.how = "adaptive";
        this.limit = true;
        this.wire = true;
        this.showsCage = true;
        this.mesh = null; // what is drawn
        this.isReady = false; // the worker has the input
        this.build();
        this.setShape("star");
        this.begin();
    }

    build() {
        this.figures = {};
        const figure = (name) => make("li", {}, (this.figures[name] = make("b", { textContent: "–" })), make("small", { textContent: name }));
        this.timing = make("p", { className: "timing", role: "status" });
        this.stage = make("div", { className: "stage", tabIndex: 0, role: "application" },
            make("div", { className: "pipeline" }, make("ol", {}, figure("triangles given"), figure("triangles made"), figure("levels")), this.timing),
            make("div", { className: "play" }, make("span", { className: "hint", textContent: "Drag to turn, with Shift to move, scroll to come nearer, click to ask" })));
        this.stage.ariaLabel = "The surface in three dimensions. Arrow keys turn it, plus and minus change the distance, Home goes back, Enter tells what is in the middle.";
        const changed = () => this.change();
        this.shape = segmented({ name: "Mesh", link: "mesh", choices: Object.entries(SHAPES).map(([id, [title]]) => [id, title]), value: "star",
                                 onInput: (value) => this.setShape(value) });
        const how = segmented({ name: "Split", link: "split", choices: [["adaptive", "Where it bends", "Edges that turn more than the angle"], ["pixels", "As seen", "Edges longer than so many pixels"], ["uniform", "Everywhere", "Each triangle into four, level by level"]], value: this.how,
                                onInput: (value) => { this.how = value; this.showRows(); changed(); } });
        // The angle falls by half for each two steps of the slider.
        this.fine = slider({ name: "Adaptivity", link: "fine", min: 0, max: 12, step: 1, value: 6, onInput: changed,
                             text: (value) => `edges turn ${this.angleOf(value).toFixed(1)}° at most` });
        this.pixels = slider({ name: "Edges", link: "pixels", min: 2, max: 40, step: 1, value: 10, onInput: changed,
                               text: (value) => `${value} pixels at most` });
        this.levels = slider({ name: "Levels", link: "levels", min: 0, max: LEVELS_MOST, step: 1, value: 3, onInput: changed });
        const limit = toggle({ name: "Limit surface", link: "limit", help: "Vertices where infinitely many levels would put them", value: this.limit, onInput: (value) => { this.limit = value; changed(); } });
        this.limitRow = limit.element;
        const redraw = (name) => (value) => { this[name] = value; this.app.requestFrame(); };
        const wire = toggle({ name: "Wireframe", link: "wire", value: this.wire, onInput: redraw("wire") });
        const cage = toggle({ name: "Mesh as given", link: "cage", help: "The coarse mesh around the smooth one", value: this.showsCage, onInput: redraw("showsCage") });
        const turn = toggle({ name: "Turn", link: "turn", value: this.camera.turns, onInput: (value) => { this.camera.turns = value; this.app.requestFrame(); } });
        this.turnSwitch = turn.input;
        const file = this.fileChooser("OBJ, STL, PLY, OFF or GLB. Files stay in this page.");
        this.controls = make("form", { className: "controls card rows", onsubmit: (event) => event.preventDefault() },
            make("h2", { className: "unseen", textContent: "Subdivision" }), this.shape.element, file.button, file.input, make("hr"),
            how.element, this.fine.element, this.pixels.element, this.levels.element, make("hr"),
            make("div", { className: "switches" }, wire.element, cage.element, turn.element, limit.element), make("hr"), this.saveButtons("subdivision"));
        this.controls.ariaLabel = "Subdivision";
        this.host.append(this.stage, this.controls);
        this.showRows();
    }

    showRows() {
        this.fine.element.hidden = this.how !== "adaptive";
        this.pixels.element.hidden = this.how !== "pixels";
        // Adaptive vertices always lie on the limit surface.
        this.levels.element.hidden = this.limitRow.hidden = this.how !== "uniform";
    }

    angleOf(step) {
        return 60 * 2 ** (-step / 2);
    }

    readColors() {
        const light = lightsOf(this.host);
        this.look = { ...light, colors: 0, clay: linearColor("--bone", this.host), marked: linearColor("--clay", this.host) };
        this.cageLook = { ...light, colors: 0, clay: linearColor("--ink", this.host), onlyEdges: true };
        this.app.requestFrame();
    }

    // ---- meshes ----

    setShape(id) {
        this.tellFile(null);
        this.put(shapes.fitted(SHAPES[id][1]())).catch((error) => this.fail(error));
    }

    async put({ positions, indices, place }) {
        this.isReady = false;
        const cage = { positions: cornersOf(positions, indices), normals: null, place };
        this.wanted = cage;
        const before = { cage: this.cage, mesh: this.mesh };
        // Nothing of another mesh is shown beside what is said of this one.
        Object.assign(this, { cage: null, mesh: null });
        this.timing.textContent = "working …";
        for (const name of ["triangles given", "triangles made", "levels"])
            this.figures[name].textContent = "–";
        this.app.requestFrame();
        let triangleCount;
        try {
            ({ triangleCount } = await this.worker.ask("mesh", { positions, indices }));
        } catch (error) {
            // The worker keeps the mesh that it has.
            if (this.wanted === cage && before.cage) {
                Object.assign(this, before);
                this.isReady = true;
                this.figures["triangles given"].textContent = numberText(before.cage.positions.length / 9);
                this.change();
            }
            throw error;
        }
        if (this.wanted !== cage)
            return;
        this.cage = cage;
        this.isReady = true;
        this.figures["triangles given"].textContent = numberText(triangleCount);
        // As many levels everywhere as the budget has room for.
        const most = Math.max(0, Math.min(LEVELS_MOST, Math.floor(Math.log(BUDGET / triangleCount) / Math.log(4))));
        this.levels.limits(0, most, 1);
        this.levels.set(Math.min(this.levels.value, most));
        this.change();
    }

    async open(file) {
        const loaded = await this.load(file);
        try {
            if (!loaded.triangleCount)
                throw new Error("it has no triangles");
            if (loaded.triangleCount > BUDGET)
                throw new Error(`it has ${numberText(loaded.triangleCount)} triangles; here ${numberText(BUDGET)} may come out`);
            await this.put(shapes.fitted(loaded));
            this.shape.set(null);
            this.tellFile(loaded.name);
            this.app.message(`${loaded.name}: ${counted(loaded.triangleCount, "triangle")}`, "good", {
                text: "Does it meet itself?", onclick: () => this.app.openFiles([file], "collision").catch((error) => this.fail(error)),
            });
        } catch (error) {
            throw notOpened(loaded.name, error);
        }
    }

    // ---- frames ----

    async ask() {
        this.isBusy = true;
        this.isStale = false;
        const { cage } = this, isAdaptive = this.how !== "uniform";
        try {
            const made = isAdaptive
                ? await this.worker.ask("adaptive", { ...this.criterion(), maxDepth: DEPTH_MOST, budget: BUDGET })
                : await this.worker.ask("uniform", { levels: this.levels.value, limit: this.limit });
            if (cage === this.cage) {
                const deepest = Math.max(1, made.depth ?? 0);
                made.marks = made.levels?.map((level) => (255 * level) / deepest) ?? null;
                this.mesh = made;
                this.tell(made, isAdaptive ? made.depth : this.levels.value);
            }
        } catch (error) {
            this.fail(error);
        }
        this.isBusy = false;
        this.app.requestFrame();
    }

    // By which edges are split.
    criterion() {
        this.asked = null;
        if (this.how === "adaptive")
            return { criterion: "angle", threshold: (this.angleOf(this.fine.value) * Math.PI) / 180 };
        const { width, height } = this.canvas, { matrix } = this.camera.view(width / height);
        this.asked = String([...matrix, width, height]);
        const rows = Array.from(matrix, (_, i) => matrix[4 * (i % 4) + (i >> 2)]);
        return { criterion: "pixels", threshold: this.pixels.value, camera: { matrix: rows, width, height } };
    }

    async pick(ray) {
        const { mesh, cage } = this;
        if (!mesh)
            return null;
        const given = this.picked === mesh ? {} : { mesh: { positions: mesh.positions } };
        this.picked = null;
        const hit = await this.worker.ask("pick", { ...given, ray });
        this.picked = mesh;
        return hit && {
            at: hit.at, of: mesh, model: IDENTITY,
            lines: [`Triangle ${numberText(hit.triangle)}${mesh.levels ? `, level ${mesh.levels[hit.triangle]}` : ""}`, placeText(cage.place(hit.at))],
        };
    }

    tell(made, levels) {
        this.figures["triangles made"].textContent = numberText(made.triangleCount);
        this.figures.levels.textContent = String(levels);
        const budget = made.isWithinBudget === false ? ` · as fine as ${numberText(BUDGET)} triangles allow` : "";
        this.timing.textContent = `${numberText(made.vertexCount)} vertices · ${(1000 * made.seconds).toFixed(1)} ms${budget}`;
    }

    frame(seconds) {
        const passed = Math.min(Math.max(seconds - this.last, 0), 0.1);
        this.last = seconds;
        if (!this.app.gl)
            return;
        const turns = this.camera.update(passed);
        const { width, height } = this.canvas;
        const view = this.camera.view(width / height);
        if (this.how === "pixels" && !this.isBusy && this.asked !== String([...view.matrix, width, height]))
            this.isStale = true;
        this.turnSwitch.checked = this.camera.turns;
        this.renderer ??= new ArrayRenderer(this.app.gl);
        if (this.isReady && this.isStale && !this.isBusy)
            this.ask();
        const { renderer } = this;
        renderer.clear(width, height);
        if (this.mesh)
            renderer.drawMesh("surface", this.mesh, IDENTITY, view, { ...this.look, wire: this.wire ? 0.6 : 0 });
        if (this.cage && this.showsCage)
            renderer.drawMesh("cage", this.cage, IDENTITY, view, { ...this.cageLook, wire: 1 });
        this.picker.place(view, this.mesh, IDENTITY);
        if (turns)
            this.app.requestFrame();
    }
}

export default {
    id: "subdivision",
    title: "Subdivision",
    create: (host, app) => new SubdivisionPanel(host, app),
};
