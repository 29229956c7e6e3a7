// The Collision panel: two meshes, of which one is pushed and turned, and the triangles that meet, found
// exactly by a worker for every place that it comes to; or one mesh, and where it meets itself.
import { ArrayRenderer } from "../lib/array_renderer.js";
import { counted, linearColor, make, numberText, segmented, setText, slider, toggle } from "../lib/controls.js";
import { cornersOf } from "../lib/corners.js";
import { lightsOf } from "../lib/mesh_look.js";
import { transform } from "../lib/matrix.js";
import { placeText, rayInto } from "../lib/pick.js";
import * as shapes from "../lib/shapes.js";
import { MeshPanel } from "./mesh_panel.js";

const SHAPES = [["knot", "Knot"], ["torus", "Torus"], ["sphere", "Sphere"]];
const CHOICES = { a: [...SHAPES, ["eight", "Eight"]], b: [...SHAPES, ["itself", "Itself", "Where the first mesh meets itself"]] };
const START = [0.42, 0.1, 0.1]; // where b stands
const SPIN = 0.35;              // radians a second
const ALONE = 1.5;              // how much larger one mesh is drawn than two

// b's pose: 3 x 4 numbers, row by row, for a turn about two axes and a place.
function poseOf([x, y, z], yaw, pitch) {
    const [c, s, d, e] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    return new Float32Array([c, s * e, s * d, x, 0, d, -e, y, -s, c * e, c * d, z]);
}
// The same as a matrix of columns, for the device.
const columnsOf = (m) =>
    new Float32Array([m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0, m[3], m[7], m[11], 1]);
const UNFITTED = { middle: [0, 0, 0], scale: 1 };
// What takes a mesh to where it is drawn, and b's pose in the scene as one in a's own frame.
const fitting = ({ middle, scale }) => columnsOf([0, 1, 2].flatMap((row) => [0, 1, 2].map((k) => (k === row ? scale : 0)).concat(-scale * middle[row])));
const unfit = (pose, { middle, scale }) => pose.map((x, i) => x / scale + (i % 4 === 3 ? middle[i >> 2] : 0));

function markedCorners({ positions, marks }) {
    const corners = [];
    marks.forEach((mark, triangle) => mark && corners.push(...positions.subarray(9 * triangle, 9 * triangle + 9)));
    return new Float32Array(corners);
}

class CollisionPanel extends MeshPanel {
    constructor(host, app) {
        super(host, app, "collide_worker.js", 5.4);
        this.camera.turns = false;
        this.meshes = { a: null, b: null };
        this.isChosen = false; // the second mesh, by the visitor or a link
        this.place = [...START];
        this.yaw = 0.4;
        this.pitch = 0;
        this.spins = !app.reducedMotion.matches;
        this.asked = {};
        this.build();
        for (const side of ["a", "b"])
            this.setMesh(side, side === "a" ? "knot" : "torus");
        // Before the camera's: what begins on b moves b.
        this.stage.addEventListener("pointerdown", (event) => this.grab(event), true);
        this.stage.addEventListener("pointermove", (event) => this.drag(event));
        for (const end of ["pointerup", "pointercancel"])
            this.stage.addEventListener(end, () => (this.held = null));
        this.stage.addEventListener("keydown", (event) => this.key(event));
        this.begin({
            at: {
                get: () => this.place.map((x) => Number(x.toFixed(3))).join(","),
                set: (text) => {
                    const place = text.split(",").map(Number);
                    if (place.length !== 3 || !place.every(Number.isFinite))
                        return;
                    this.place = [0, 0, 0];
                    this.push(place);
                    this.tellPose();
                    this.change();
                },
            },
        });
    }

    build() {
        const figure = (name) => make("li", {}, (this.figures[name] = make("b", { textContent: "–" })), make("small", { textContent: name }));
        this.figures = {};
        this.timing = make("p", { className: "timing", role: "status" });
        this.steps = make("ol", { className: "steps", ariaLabel: "Pairs of boxes at each step, from the roots to the leaves" });
        this.stage = make("div", { className: "stage", tabIndex: 0, role: "application" },
            make("div", { className: "pipeline" }, make("ol", { className: "figures" }, figure("pairs"), figure("crossing"), figure("touching"), figure("coplanar")), this.timing, this.steps),
            make("div", { className: "play" }, this.hint = make("span", { className: "hint" })));
        this.stage.ariaLabel = "Two meshes in three dimensions. Arrow keys turn the view; W, A, S, D, Q and E push the second mesh, Enter tells what is in the middle.";
        this.choices = {};
        const choose = (side, name) => (this.choices[side] = segmented({
            name, link: side, choices: CHOICES[side], value: side === "a" ? "knot" : "torus",
            onInput: (value) => { this.isChosen ||= side === "b"; this.setMesh(side, value); },
        })).element;
        const changed = () => this.change();
        this.turn = slider({ name: "Turn the second", link: "turn", min: -180, max: 180, step: 1, value: 23, text: (v) => `${v}°`,
                             onInput: (value) => { this.yaw = (value * Math.PI) / 180; this.spinning(false); changed(); } });
        this.apart = slider({ name: "Push it aside", min: -1.6, max: 1.6, step: 0.01, value: START[0], text: (v) => v.toFixed(2),
                              onInput: (value) => { this.place[0] = value; changed(); } });
        const spin = toggle({ name: "Turn by itself", link: "spin", value: this.spins, onInput: (value) => this.spinning(value) });
        const wire = toggle({ name: "Wireframe", link: "wire", value: false, onInput: (value) => { this.wire = value; this.app.requestFrame(); } });
        this.spinSwitch = spin.input;
        const file = this.fileChooser("OBJ, STL, PLY, OFF or GLB, as the first mesh. Files stay in this page.");
        this.controls = make("form", { className: "controls card rows", onsubmit: (event) => event.preventDefault() },
            make("h2", { className: "unseen", textContent: "Collision" }),
            choose("a", "First mesh"), file.button, file.input, choose("b", "Second mesh"), make("hr"),
            this.turn.element, this.apart.element, make("div", { className: "switches" }, spin.element, wire.element), make("hr"),
            this.saveButtons("collision"),
            make("small", { className: "muted", textContent: "Pairs are exact: what floats cannot decide is settled by exact arithmetic, so nothing that touches is missed and nothing is made up." }));
        this.controls.ariaLabel = "Collision";
        this.host.append(this.stage, this.controls);
    }

    readColors() {
        const light = lightsOf(this.host);
        const marked = [1, 0.1, 0.01];
        this.looks = {
            a: { ...light, marked, colors: 0, clay: linearColor("--bone", this.host) },
            b: { ...light, marked, colors: 0, clay: linearColor("--water", this.host) },
        };
        this.app.requestFrame();
    }

    // ---- meshes ----

    get isAlone() {
        return this.choices.b.value === "itself";
    }

    setMesh(side, name) {
        if (side === "a")
            this.tellFile(null);
        this.showRows();
        if (name !== "itself") {
            this.putMesh(side, shapes[name]()).catch((error) => this.fail(error));
            return;
        }
        this.asked.b = this.meshes.b = null;
        this.forget();
    }

    // Nothing of other meshes is shown beside these.
    forget() {
        this.through = null;
        for (const figure of Object.values(this.figures))
            setText(figure, "–");
        setText(this.timing, "working …");
        this.change();
    }

    // What moves the second mesh is there when there is one; alone, the first one turns.
    showRows() {
        const { isAlone } = this;
        this.turn.element.hidden = this.apart.element.hidden = isAlone;
        this.hint.textContent = `${isAlone ? "Drag to turn, with Shift to move" : "Drag the second mesh to push it, with Shift to turn it"}, click to ask`;
        this.camera.turns = isAlone && this.spins;
    }

    // Triangles are met as they are given: fit is only how they are seen.
    async putMesh(side, { positions, indices, origin = [0, 0, 0] }, fit = UNFITTED) {
        const drawn = { positions: cornersOf(positions, indices), normals: null, marks: new Uint8Array(indices.length / 3), fit,
                        place: (at) => at.map((x, k) => x + origin[k]) };
        const { asked } = this;
        asked[side] = drawn; // the latest that was wanted
        const { brokenCount } = await this.worker.ask("mesh", { side, positions, indices });
        if (asked[side] !== drawn)
            return brokenCount;
        this.meshes[side] = drawn;
        this.forget();
        return brokenCount;
    }

    async open(file) {
        const loaded = await this.load(file);
        if (!loaded.triangleCount)
            throw new Error(`${loaded.name} has no triangles.`);
        const broken = await this.putMesh("a", loaded, shapes.fit(loaded));
        this.choices.a.set(null);
        this.tellFile(loaded.name);
        if (!this.isChosen) {
            this.choices.b.set("itself");
            this.setMesh("b", "itself");
        }
        this.link.keep();
        this.app.message(`${loaded.name}: ${counted(loaded.triangleCount, "triangle")}${broken ? `, without ${numberText(broken)} that ${broken === 1 ? "is" : "are"} broken` : ""}`, "good");
    }

    // ---- moving b ----

    spinning(spins) {
        this.spins = this.spinSwitch.checked = spins;
        this.camera.turns = this.isAlone && spins;
        this.app.requestFrame();
    }

    // How far from the middle of b, in its radii, a place on the screen is.
    grab(event) {
        if (event.button !== 0 || !this.view || this.isAlone || event.target.closest("button, a, input"))
            return;
        const box = this.stage.getBoundingClientRect(), m = this.view.matrix, [x, y, z] = this.place;
        const [right, up, , w] = transform(m, [x, y, z, 1]), at = [right / w, up / w];
        // One unit of the scene, in pixels, at b's distance.
        this.unit = (Math.hypot(m[1], m[5], m[9]) * box.height) / 2 / w;
        const away = [(at[0] + 1) * box.width / 2 - (event.clientX - box.left), (1 - at[1]) * box.height / 2 - (event.clientY - box.top)];
        if (Math.hypot(...away) > 0.8 * this.unit)
            return;
        this.held = [event.clientX, event.clientY];
        this.stage.setPointerCapture(event.pointerId);
        this.stage.focus({ preventScroll: true });
        event.stopImmediatePropagation();
        event.preventDefault();
    }

    drag(event) {
        if (!this.held)
            return;
        const [dx, dy] = [event.clientX - this.held[0], event.clientY - this.held[1]];
        this.held = [event.clientX, event.clientY];
        if (event.shiftKey) {
            this.spinning(false);
            this.yaw += 0.008 * dx;
            this.pitch += 0.008 * dy;
        } else
            this.push(this.view.right.map((r, k) => (r * dx - this.view.up[k] * dy) / this.unit));
        this.tellPose();
        this.change();
    }

    push(by) {
        this.place = this.place.map((x, k) => Math.min(2, Math.max(-2, x + by[k])));
    }

    key(event) {
        const steps = { a: [-1, 0, 0], d: [1, 0, 0], w: [0, 0, -1], s: [0, 0, 1], q: [0, -1, 0], e: [0, 1, 0] };
        const step = steps[event.key.toLowerCase()];
        if (!step || this.isAlone || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        this.push(step.map((x) => 0.04 * x));
        this.tellPose();
        this.change();
    }

    tellPose() {
        this.link?.keep();
        const degrees = (this.yaw * 180) / Math.PI;
        this.turn.set(Math.round(degrees - 360 * Math.round(degrees / 360)));
        this.apart.set(this.place[0].toFixed(2));
    }

    // ---- frames ----

    // Where b is, if it is, and what is marked come from one answer: they are always of the same place.
    async ask() {
        this.isBusy = true;
        this.isStale = false;
        const { a, b } = this.meshes, pose = poseOf(this.place, this.yaw, this.pitch), { shown } = this.picker;
        try {
            const found = await this.worker.ask("collide", { pose: b && unfit(pose, a.fit), picked: shown?.picked });
            if (a === this.meshes.a && b === this.meshes.b) {
                a.marks = found.marksA;
                if (b) {
                    b.marks = found.marksB;
                    this.shownPose = pose;
                }
                this.through = b ? null : { positions: markedCorners(a), normals: null };
                this.tell(found);
                if (shown && shown === this.picker.shown)
                    this.picker.tell(this.linesOf(shown.picked, found.partners));
            }
        } catch (error) {
            this.fail(error);
        }
        this.isBusy = false;
        this.app.requestFrame();
    }

    // The worker has what is to be shown.
    get isWhole() {
        return this.meshes.a && (this.meshes.b || this.isAlone);
    }

    // Where the meshes are drawn.
    get models() {
        const { fit } = this.meshes.a;
        return { a: fitting({ ...fit, scale: fit.scale * (this.isAlone ? ALONE : 1) }), b: columnsOf(this.shownPose ?? poseOf(this.place, this.yaw, this.pitch)) };
    }

    async pick(ray) {
        if (!this.isWhole)
            return null;
        const { meshes, models } = this, { a, b } = meshes;
        const picked = await this.worker.ask("pick", { a: rayInto(models.a, ray), ...(b && { b: rayInto(models.b, ray) }) });
        return picked && a === meshes.a && b === meshes.b
            ? { at: picked.at, of: meshes[picked.side], model: this.models[picked.side], picked, lines: this.linesOf(picked, picked.partners) }
            : null;
    }

    linesOf({ side, triangle, at }, { count, first }) {
        const [own, other] = side === "a" ? ["first", "second"] : ["second", "first"];
        const partners = `${first.map(numberText).join(", ")}${count > first.length ? " …" : ""}`;
        if (this.isAlone)
            return [`Triangle ${numberText(triangle)}`, placeText(this.meshes.a.place(at)),
                    count ? `meets ${counted(count, "other")}: ${partners}` : "meets no other"];
        return [`Triangle ${numberText(triangle)} of the ${own} mesh`, placeText(this.meshes[side].place(at)),
                count ? `meets ${numberText(count)} of the ${other}: ${partners}` : `meets none of the ${other}`];
    }

    frame(seconds) {
        const passed = Math.min(Math.max(seconds - this.last, 0), 0.1);
        this.last = seconds;
        const { a, b } = this.meshes;
        if (!this.isWhole || !this.app.gl)
            return;
        if (!b)
            this.spins = this.spinSwitch.checked = this.camera.turns;
        else if (this.spins && !this.held && !this.isBusy) {
            this.yaw += SPIN * passed;
            this.tellPose();
            this.isStale = true;
        }
        if (this.isStale && !this.isBusy)
            this.ask();
        this.renderer ??= new ArrayRenderer(this.app.gl);
        const { width, height } = this.canvas, { renderer, looks } = this;
        const turns = this.camera.update(passed);
        this.view = this.camera.view(width / height);
        renderer.clear(width, height);
        const wire = this.wire ? 0.7 : 0;
        const { models } = this, side = this.picker.shown?.picked.side ?? "a";
        renderer.drawMesh("a", a, models.a, this.view, { ...looks.a, wire });
        if (b)
            renderer.drawMesh("b", b, models.b, this.view, { ...looks.b, wire });
        // Most of where a mesh meets itself lies within it.
        if (this.through)
            renderer.drawMesh("through", this.through, models.a, this.view, { ...looks.a, clay: looks.a.marked, onlyEdges: true, wire: 1 });
        this.picker.place(this.view, this.meshes[side], models[side]);
        if (this.spins || turns || this.isStale)
            this.app.requestFrame();
    }

    // A bar for each step of the descent; its height goes with the logarithm, since a step may have thousands of times
    // another's pairs.
    tellSteps(pairs) {
        const most = Math.log2(1 + Math.max(1, ...pairs));
        while (this.steps.children.length > pairs.length)
            this.steps.lastChild.remove();
        while (this.steps.children.length < pairs.length)
            this.steps.append(make("li", {}));
        pairs.forEach((count, step) => {
            const bar = this.steps.children[step];
            bar.style.height = `${(100 * Math.log2(1 + count)) / most}%`;
            bar.title = `Step ${step + 1} of ${pairs.length}: ${counted(count, "pair")} of boxes`;
        });
    }

    tell({ count, classCounts, stepPairs, tested, unsure, seconds }) {
        setText(this.figures.pairs, numberText(count));
        for (const name of ["crossing", "touching", "coplanar"])
            setText(this.figures[name], numberText(classCounts[name]));
        this.tellSteps(stepPairs);
        const { a, b } = this.meshes, triangles = counted(a.marks.length + (b?.marks.length ?? 0), "triangle");
        const meet = a.marks.reduce((sum, mark) => sum + (mark > 0), 0);
        const all = b ? triangles : count ? `${numberText(meet)} of ${triangles} meet another` : `${triangles}, the mesh does not meet itself`;
        setText(this.timing, `${all} · ${counted(tested, "pair")} tested, ${numberText(unsure)} settled exactly · ${(1000 * seconds).toFixed(1)} ms`);
    }
}

export default {
    id: "collision",
    title: "Collision",
    create: (host, app) => new CollisionPanel(host, app),
};
