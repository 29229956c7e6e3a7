// The Surface panel: moving points, or a volume, as an isosurface that is made anew on the device for each
// frame and drawn from the textures in which the library left it. Until the device has its shaders compiled
// for what is to be shown, and where there is no WebGL 2, a worker makes surfaces on the processor.
import { ArrayRenderer } from "../lib/array_renderer.js";
import { CELL_COLORS, cellShares } from "../lib/cell_colors.js";
import { counted, fileChooser, linearColor, make, numberText, segmented, setText, slider, toggle } from "../lib/controls.js";
import { LICENCE, PACKAGE, SOURCE } from "../lib/addresses.js";
import * as files from "../lib/files.js";
import { FLOOD_COUNT, FLOOD_FIELD, Flood } from "../lib/flood.js";
import { GALLERY } from "../lib/gallery.js";
import { HostSurface } from "../lib/host_surface.js";
import { LiveSurface } from "../lib/live_surface.js";
import { lightsOf } from "../lib/mesh_look.js";
import { transform } from "../lib/matrix.js";
import { MeshRenderer } from "../lib/mesh_renderer.js";
import { OrbitCamera } from "../lib/orbit_camera.js";
import { Picker, placeText, rayInto } from "../lib/pick.js";
import { isWebGL2 } from "../lib/programs.js";
import { scenes } from "../lib/scenes.js";
import { copyText } from "../lib/share.js";
import { sliceOf } from "../lib/slice.js";

const SEED = 7;
const COLORS = ["clay", "normals", "cells"];
const CUTS = [["none", "None"], ["x", "x"], ["y", "y"], ["z", "z"]];
const PICTURE_MILLISECONDS = 200; // between two pictures while shaders are compiled
const RESOLUTIONS = [["auto", "Auto"], ["64", "64³"], ["128", "128³"], ["256", "256³"]];

// Auto begins at 64³. What a frame costs at 128³ is about eight times as much.
const AUTO_FIRST = 64, AUTO_NEXT = 128;
const AUTO_UP = 0.0015;   // seconds for field and surface at 64³ below which 128³ is taken
const AUTO_DOWN = 0.024;  // and at 128³, above which it is given up again
const HOST_SECONDS = 0.12; // of the worker at 128³, above which it takes 64³
const TIME_SECONDS = 0.7; // between two measurements
const SETTLING_SECONDS = 1 / 60; // of the flood, by which device and worker are compared

class SurfacePanel {
    constructor(host, app) {
        this.app = app;
        this.host = host;
        host.classList.add("panel-stage");
        this.camera = new OrbitCamera(4.9);
        this.source = null;
        this.live = null;     // on the device, once there is one
        this.worker = null;   // a HostSurface
        this.arrays = null;   // draws what the worker makes
        this.renderer = null; // and this what the device makes; null without WebGL 2
        this.flood = null;    // on the device
        this.slower = new Set(); // names of programNeeds(), for which the worker was the faster
        this.prepared = new Set(); // what the device has shaders for: names of programNeeds()
        this.isPreparing = false;
        this.hasPicture = false;   // a surface, finished by the device
        this.isShown = false;
        this.isPlaying = !app.reducedMotion.matches;
        this.camera.turns = this.isPlaying;
        this.isStale = true; // the surface is not that of the source and settings
        this.moment = 0;     // counts what changes the surface but for who makes it, and on what grid
        this.last = 0;
        this.seconds = null; // device time of the last measured field and surface
        this.timed = -Infinity;
        this.frames = [];
        this.autoSide = AUTO_FIRST;
        this.hostSide = AUTO_NEXT; // the worker's: what is seen first is fine, and its time decides
        this.pieces = new Map(); // of the gallery, as loaded

        const settings = app.settings();
        this.usualView = this.camera.text;
        this.readSettings(settings);
        this.build();
        this.begins(settings);

        this.picker = new Picker(this.stage, (ray) => this.pick(ray), (error) => app.message(error.message, "error"), () => [this.camera.shift, this.camera.rise]);
        app.onFiles((file, kind) => this.open(file, kind));
        app.onTheme(() => this.readColors());
        this.camera.attach(this.stage, () => {
            app.requestFrame();
            this.keep();
        });
        this.stage.addEventListener("keydown", (event) => {
            if (event.key === " " && event.target === this.stage) {
                event.preventDefault();
                this.play(!this.isPlaying);
            }
        });
        this.readColors();
        this.begin();
    }

    // ---- links -----------------------------------------------------------------------------------

    readSettings(settings) {
        const valid = (name, values, otherwise) => (values.includes(settings.get(name)) ? settings.get(name) : otherwise);
        this.resolution = valid("grid", RESOLUTIONS.map(([value]) => value), "auto");
        this.normals = valid("normals", ["none", "forward", "central", "sobel"], "sobel");
        this.mesh = valid("mesh", ["welded", "soup"], "welded");
        this.colors = valid("colors", COLORS, "clay");
        this.wire = settings.get("wire") === "1";
        this.showsPoints = settings.get("points") === "1";
        this.showsBox = settings.get("box") === "1";
        this.cutAxis = valid("cut", CUTS.map(([value]) => value), "none");
        this.hasCaps = settings.get("caps") === "1";
        this.linkedScene = valid("scene", [...scenes, ...GALLERY].map(({ id }) => id), scenes[0].id);
        this.camera.text = settings.get("view") ?? this.usualView;
        if (settings.has("view"))
            this.camera.turns = false;
        if (settings.has("time"))
            this.isPlaying = false;
    }

    // What an address says that was followed since.
    apply(settings) {
        this.readSettings(settings);
        const { side, normals, mesh, colors, cut } = this.choices;
        for (const [choice, value] of [[cut, this.cutAxis], [side, this.resolution], [normals, this.normals], [mesh, this.mesh], [colors, this.colors]])
            choice.set(value);
        for (const [input, value] of [[this.wireSwitch, this.wire], [this.pointsSwitch, this.showsPoints], [this.boxSwitch, this.showsBox], [this.capsSwitch, this.hasCaps]])
            input.checked = value;
        this.showCut();
        this.play(settings.has("time") ? false : this.isPlaying);
        this.begins(settings);
    }

    // With the scene or the file that a link names; "?url=" before the "#" does, too.
    begins(settings) {
        const url = settings.get("url") ?? new URLSearchParams(location.search).get("url");
        this.chooseSource(this.linkedScene, settings);
        if (url)
            this.openAddress(url, settings).catch((error) => this.app.message(error.message, "error"));
    }

    async openAddress(url, settings) {
        let answer;
        try {
            answer = await fetch(new URL(url, location.href));
        } catch {
            throw new Error(`${url} cannot be read. Its server must be there, and let other pages read it (CORS: it answers with Access-Control-Allow-Origin); or download the file and drop it here.`);
        }
        if (!answer.ok)
            throw new Error(`${url} cannot be read: ${answer.status} ${answer.statusText}`);
        const name = new URL(answer.url).pathname.split("/").pop() || "file";
        await this.open(new File([await answer.blob()], name), null, url, settings);
    }

    // ---- controls --------------------------------------------------------------------------------

    build() {
        this.figures = Object.fromEntries(["source", "field", "triangles"].map((name) => [name, make("b", { textContent: "–" })]));
        this.labels = Object.fromEntries(["source", "field"].map((name) => [name, make("small")]));
        this.timing = make("p", { className: "timing" });
        this.legend = make("ol", { className: "legend", hidden: true, ariaLabel: "Crossed cells by their triangles" });
        for (const [triangles, color] of CELL_COLORS.entries())
            if (triangles > 0)
                this.legend.append(make("li", {}, make("i", { style: `background: rgb(${color})` }), make("span", { textContent: triangles })));
        this.playButton = make("button", { type: "button", className: "button", onclick: () => this.play(!this.isPlaying) });
        this.slice = make("canvas", { className: "slice", hidden: true, role: "img", ariaLabel: "The slice at the cut" });
        this.stage = make("div", { className: "stage", tabIndex: 0, role: "application" },
            make("div", { className: "pipeline" },
                make("p", { className: "about" }, "Trommel makes surfaces of points and volumes, and compacts streams, on the graphics processor: for C, Python and JavaScript. ",
                    make("a", { href: SOURCE, textContent: "Source" }), " · ", make("a", { href: PACKAGE, textContent: "Package" }), " · ",
                    make("a", { href: LICENCE, textContent: "MIT licence" })),
                make("ol", { },
                    make("li", {}, this.figures.source, this.labels.source),
                    make("li", {}, this.figures.field, this.labels.field),
                    make("li", {}, this.figures.triangles, make("small", { textContent: "triangles" }))),
                this.timing, this.legend),
            this.slice,
            make("div", { className: "play" }, this.playButton,
                make("span", { className: "hint", textContent: "Drag to turn, with Shift to move, scroll to come nearer, click to ask" })));
        this.stage.ariaLabel = "The surface in three dimensions. Arrow keys turn it, plus and minus change the distance, Home goes back, space plays and pauses, Enter tells what is in the middle.";

        const changed = () => {
            this.isStale = true;
            this.moment++;
            this.showSlice();
            this.keep();
            this.app.requestFrame();
        };
        this.scenesSet = make("fieldset", { className: "scenes" }, make("legend", { className: "unseen", textContent: "What is shown" }));
        this.sceneInputs = new Map();
        this.credit = make("small", { className: "muted", hidden: true });
        for (const scene of [...scenes, ...GALLERY]) {
            const input = make("input", { type: "radio", name: "scene", value: scene.id, onchange: () => this.chooseSource(scene.id) });
            const text = make("span", { textContent: scene.title });
            text.style.setProperty("--swatch", `var(${scene.tint})`);
            this.sceneInputs.set(scene.id, input);
            this.scenesSet.append(make("label", {}, input, text));
        }
        ({ input: this.fileInput, button: this.fileButton } = fileChooser({
            onFiles: (list) => this.app.openFiles(list).catch((error) => this.app.message(error.message, "error")),
        }));
        this.tellFile(null);

        this.iso = slider({ name: "Isovalue", help: "The surface goes where the field has this value", min: 0, max: 1, step: 0.001, value: 0.5, onInput: changed,
                            text: (value) => this.source?.isoText?.(value) ?? value.toFixed(3) });
        this.radius = slider({ name: "Radius of a point", help: "How far each point reaches into the field", min: 0.5, max: 2, step: 0.01, value: 1, onInput: changed,
                               text: (value) => `× ${value.toFixed(2)}` });
        this.glass = slider({ name: "Glass at", help: "A second surface, seen through, goes where the field has this value", min: 0, max: 1, step: 0.001, value: 0.5, onInput: changed,
                              text: (value) => this.source?.isoText?.(value) ?? value.toFixed(3) });
        const cut = segmented({ name: "Cut across", help: "Only what lies before a plane is made, and closed there", choices: CUTS, value: this.cutAxis, onInput: (value) => {
            this.cutAxis = value;
            this.showCut();
            changed();
        } });
        this.cutAt = slider({ name: "Up to", help: "Where the plane lies, as a share of the whole", min: 5, max: 95, step: 1, value: 50, onInput: changed, text: (value) => `${value} %` });
        this.side = segmented({ name: "Samples of the field", help: "How fine the grid is on which the field is computed", choices: RESOLUTIONS, value: this.resolution, onInput: (value) => {
            this.resolution = value;
            this.sizeGrid();
            changed();
        } });
        const normals = segmented({ name: "Normals", help: "What light falls on: the field's slope, from fewer samples or from more",
                                    choices: [["none", "Flat", "One a triangle"], ["forward", "Forward", "From two samples an axis: fast"],
                                              ["central", "Central", "From samples on both sides"], ["sobel", "Sobel", "From 26 neighbours: smooth"]],
                                    value: this.normals, onInput: (value) => { this.normals = value; changed(); } });
        const mesh = segmented({ name: "Mesh", help: "How the triangles are kept", choices: [["welded", "Welded", "Neighbours share their vertices"], ["soup", "Soup", "Each triangle has three vertices of its own"]],
                                 value: this.mesh, onInput: (value) => { this.mesh = value; changed(); } });
        const colors = segmented({ name: "Colours", help: "What the colours say", choices: [["clay", "Clay"], ["normals", "Normals"], ["cells", "Triangles per cell", "How many triangles the cell of the grid holds"]],
                                   value: this.colors, onInput: (value) => { this.colors = value; changed(); } });
        const switches = [
            toggle({ name: "Wireframe", help: "The triangles' edges", value: this.wire, onInput: (value) => { this.wire = value; changed(); } }),
            toggle({ name: "Points", help: "The points that the field is computed of", value: this.showsPoints, onInput: (value) => { this.showsPoints = value; changed(); } }),
            toggle({ name: "Box", help: "Where the samples lie", value: this.showsBox, onInput: (value) => { this.showsBox = value; changed(); } }),
            toggle({ name: "Caps", help: "Closes the surface where the samples end", value: this.hasCaps, onInput: (value) => { this.hasCaps = value; changed(); } }),
            toggle({ name: "Glass", help: "A second surface around or within the first, seen through", value: false, onInput: (value) => {
                this.source.hasGlass = value;
                this.showLabels();
                changed();
            } }),
            toggle({ name: "Labels", help: "Each sample names a part: every part gets a surface and a colour of its own", value: false, onInput: (value) => {
                this.source.labels = value;
                this.showLabels();
                changed();
            } }),
            toggle({ name: "Turn", help: "The view turns by itself", value: this.camera.turns, onInput: (value) => { this.camera.turns = value; changed(); } }),
        ];
        this.choices = { side: this.side, normals, mesh, colors, cut };
        this.wireSwitch = switches[0].input;
        this.pointsSwitch = switches[1].input;
        this.boxSwitch = switches[2].input;
        this.colorInputs = colors.inputs;
        this.capsSwitch = switches[3].input;
        this.glassSwitch = switches[4];
        this.labelSwitch = switches[5];
        this.turnSwitch = switches[6].input;
        this.saveButtons = ["ply", "stl", "glb"].map((format) =>
            make("button", { type: "button", className: "button", textContent: format.toUpperCase(), onclick: () => this.save(format) }));
        const shot = make("button", { type: "button", className: "button", textContent: "PNG", title: "The picture, at twice its size",
                                      onclick: () => this.app.savePicture(this.fileName()) });
        const film = make("button", { type: "button", className: "button", textContent: "Film", title: "Five seconds, turned once about",
                                      onclick: () => this.app.saveFilm(this.fileName(), this.camera, film) });
        this.link = make("button", { type: "button", className: "button", textContent: "Copy a link to this view", onclick: () => this.copyLink() });
        this.controls = make("form", { className: "controls card rows", onsubmit: (event) => event.preventDefault() },
            make("h2", { className: "unseen", textContent: "Surface" }),
            this.scenesSet, this.credit, this.fileButton, this.fileInput,
            make("hr"), this.iso.element, this.glass.element, this.radius.element, this.side.element, cut.element, this.cutAt.element,
            make("hr"), normals.element, mesh.element, colors.element, make("div", { className: "switches" }, ...switches.map(({ element }) => element)),
            make("hr"), make("div", { className: "export", role: "group" }, make("span", { textContent: "Save as" }), ...this.saveButtons, shot, film), this.link);
        this.controls.ariaLabel = "Surface";
        this.host.append(this.stage, this.controls);
        this.showCut();
        this.play(this.isPlaying);
        new ResizeObserver(() => this.place()).observe(this.stage);
    }

    tellFile(name) {
        this.fileButton.replaceChildren(name ? make("b", { textContent: name }) : "Open or drop a file …");
        this.fileButton.title = "Volumes: NRRD, NIfTI, MetaImage, MRC, NPY. Points: PLY, XYZ, PCD, LAS. Meshes and pictures go to their panels; zip archives, and headers with their samples, are taken, too. Files stay in this page.";
    }

    place() {
        this.camera.centre(this.stage, this.controls);
    }

    play(isPlaying) {
        this.isPlaying = isPlaying;
        this.playButton.textContent = isPlaying ? "Pause" : "Play";
        this.keep();
        this.app.requestFrame();
    }

    readColors() {
        this.look = lightsOf(this.host);
        this.ink = linearColor("--ink", this.host);
        this.glassColor = linearColor("--water", this.host);
        this.look.clay = linearColor(this.source?.tint ?? "--clay", this.host);
        this.app.requestFrame();
    }

    keep() {
        if (!this.isShown)
            return;
        const settings = {};
        const set = (name, value, usual) => {
            if (value !== usual)
                settings[name] = value;
        };
        if (this.source?.isShipped)
            set("scene", this.source.id, scenes[0].id);
        set("url", this.source?.url, undefined);
        set("grid", this.resolution, "auto");
        set("normals", this.normals, "sobel");
        set("mesh", this.mesh, "welded");
        set("colors", this.colors, "clay");
        set("cut", this.cutAxis, "none");
        if (this.cutAxis !== "none")
            set("at", this.cutAt.value, 50);
        const usualGlass = this.source?.glass;
        if (this.source?.hasGlass || usualGlass !== undefined)
            set("glass", this.source.hasGlass ? this.glass.value : "none", usualGlass);
        for (const [name, value] of [["wire", this.wire], ["points", this.showsPoints], ["box", this.showsBox], ["caps", this.hasCaps]])
            set(name, value ? "1" : "0", "0");
        if (this.source?.isShipped || this.source?.url) {
            set("labels", this.source.labels ? "1" : "0", GALLERY.find(({ id }) => id === this.source.id)?.labels ? "1" : "0");
            set("iso", this.iso.value, this.usualIso);
            set("radius", this.radius.value, 1);
        }
        if (!this.camera.turns)
            set("view", this.camera.text, this.usualView);
        if (!this.isPlaying && this.source?.cloud?.at)
            set("time", this.source.cloud.time.toFixed(3), this.startTime);
        // Not with each pixel that a slider moves: browsers refuse too many.
        clearTimeout(this.keeping);
        this.keeping = setTimeout(() => this.isShown && this.app.keepSettings(settings), 300);
    }

    async copyLink() {
        this.keep();
        await new Promise((resolve) => setTimeout(resolve, 320));
        const stays = this.source?.isShipped || this.source?.url ? "" : " Your file stays here: the link shows a scene of the page's.";
        copyText(location.href, this.app, `The link is in the clipboard.${stays}`);
    }

    // ---- sources ---------------------------------------------------------------------------------
    // {id, title, tint, kind: "points" or "volume", iso, ...} and what that kind needs.

    chooseSource(id, settings = new URLSearchParams()) {
        this.wanted = id;
        this.sceneInputs.get(id).checked = true;
        this.tellFile(null);
        const piece = GALLERY.find((one) => one.id === id);
        if (piece) {
            this.openPiece(piece, settings).catch((error) => this.app.message(`${piece.title} cannot be shown: ${error.message}`, "error"));
            return;
        }
        const scene = scenes.find((one) => one.id === id);
        const what = scene.isFlood ? { kind: "flood" } : { kind: "points", cloud: scene.create(SEED) };
        this.useSource({ ...scene, ...what, isShipped: true, box: [[-1, -1, -1], [1, 1, 1]], model: identity() }, settings);
    }

    async openPiece(piece, settings) {
        if (!this.pieces.has(piece)) {
            const answer = await fetch(new URL(`../${piece.file}`, import.meta.url));
            if (!answer.ok)
                throw new Error(`${piece.file}: ${answer.status} ${answer.statusText}`);
            this.pieces.set(piece, await files.load(await answer.arrayBuffer(), piece.file));
        }
        if (this.wanted === piece.id)
            this.useSource({ ...volumeSource(this.pieces.get(piece), piece.turned), ...piece, isShipped: true }, settings);
    }

    // kind: "volume" or "points", or null: by its name. url: from where the file comes.
    async open(file, kind, url, settings = new URLSearchParams()) {
        this.wanted = file;
        let loaded;
        try {
            loaded = await files.load(await file.arrayBuffer(), file.name, kind);
        } catch (error) {
            if (this.wanted === file)
                this.wanted = this.source?.id;
            throw files.notOpened(file.name, error);
        }
        if (this.wanted !== file)
            return; // something else was chosen meanwhile
        for (const input of this.sceneInputs.values())
            input.checked = false;
        this.tellFile(file.name);
        this.useSource({ ...(loaded.kind === "volume" ? volumeSource(loaded) : pointSource(loaded)), url }, settings);
        this.app.message(loaded.kind === "volume" ? `${file.name}: ${loaded.dims.join(" × ")} samples of ${loaded.type}`
                                                  : `${file.name}: ${counted(loaded.count, "point")}`, "good");
    }

    useSource(source, settings) {
        this.source = source;
        const isVolume = source.kind === "volume";
        const [low, high] = isVolume ? source.range : [0.02, 2.2 * source.iso];
        this.iso.limits(low, high, isVolume && source.isWhole ? 1 : (high - low) / 1000);
        const asked = Number.parseFloat(settings.get("iso")), time = Number.parseFloat(settings.get("time"));
        this.iso.set(source.iso);
        this.usualIso = this.iso.value; // as the slider has it
        if (asked >= low && asked <= high)
            this.iso.set(asked);
        this.startTime = source.cloud?.time?.toFixed(3);
        if (Number.isFinite(time))
            source.cloud?.at?.(time);
        const radius = Number.parseFloat(settings.get("radius"));
        this.radius.set(radius >= 0.5 && radius <= 2 ? radius : 1);
        this.glass.limits(low, high, this.iso.input.step);
        const text = settings.get("glass"), glass = Number.parseFloat(text), isGlass = isVolume && glass >= low && glass <= high;
        source.hasGlass = isGlass || (text !== "none" && source.glass !== undefined);
        this.glass.set(isGlass ? glass : source.glass ?? (2 * low + this.iso.value) / 3);
        const at = Number.parseFloat(settings.get("at"));
        this.cutAt.set(at >= 5 && at <= 95 ? at : 50);
        source.labels ??= settings.get("labels") === "1" && source.canLabel;
        this.showLabels();
        this.radius.element.hidden = source.kind !== "points";
        this.side.element.hidden = isVolume;
        this.pointsSwitch.disabled = source.kind !== "points" || (this.arrays && !this.renderer);
        this.playButton.hidden = !this.canMove;
        if (!isVolume && this.framed)
            this.frameCamera([0, 0, 0], null);
        this.framed = null;
        this.showSlice();
        this.credit.hidden = !source.credit;
        this.credit.textContent = source.credit ?? "";
        this.passed = 0;
        if (this.look)
            this.readColors();
        this.frames = [];
        this.seconds = null;
        this.told = -Infinity;
        this.figures.triangles.textContent = "–";
        this.isFresh = true; // its points or samples are not on the device
        this.isStale = true;
        this.moment++;
        this.worker?.forget();
        this.renderer?.setPoints(source.cloud?.positions ?? new Float32Array(0));
        this.sizeGrid();
        this.keep();
        this.app.requestFrame();
    }

    showCut() {
        this.cutAt.element.hidden = this.cutAxis === "none";
        this.showSlice();
    }

    // The samples where a volume is cut, once a frame.
    showSlice() {
        const { source, cutAxis, slice } = this;
        slice.hidden = cutAxis === "none" || source?.kind !== "volume";
        if (slice.hidden || this.isSlicing)
            return;
        this.isSlicing = true;
        requestAnimationFrame(() => {
            this.isSlicing = false;
            if (slice.hidden || this.source.kind !== "volume" || this.cutAxis === "none")
                return;
            const axis = "xyz".indexOf(this.cutAxis), [u, v] = [0, 1, 2].filter((k) => k !== axis), { spacing } = this.source;
            const picture = sliceOf(this.source, axis, this.cutCount(this.source.dims[axis]) - 1,
                                    { iso: this.iso.value, inside: this.look.clay.map((part) => 255 * part ** (1 / 2.2)), labels: this.source.labels });
            Object.assign(slice, { width: picture.width, height: picture.height });
            slice.style.transform = this.source.turned ? "scaleY(-1)" : "";
            slice.style.aspectRatio = `${picture.width * spacing[u]} / ${picture.height * spacing[v]}`;
            slice.getContext("2d").putImageData(new ImageData(picture.data, picture.width, picture.height), 0, 0);
        });
    }

    // Samples that are left of so many.
    cutCount(count) {
        return Math.max(2, Math.round((count * this.cutAt.value) / 100));
    }

    showLabels() {
        const { labels, canLabel, kind, hasGlass } = this.source;
        this.glassSwitch.element.hidden = kind !== "volume" || Boolean(labels);
        this.glassSwitch.input.checked = Boolean(hasGlass);
        this.glass.element.hidden = !hasGlass || Boolean(labels);
        this.labelSwitch.element.hidden = !canLabel;
        this.labelSwitch.input.checked = Boolean(labels);
        this.iso.element.hidden = Boolean(labels);
        this.worker?.forget();
    }

    get canMove() {
        return this.source.kind === "flood" || Boolean(this.source.cloud?.step);
    }

    // Of the device's grid.
    get deviceSide() {
        return this.resolution === "auto" ? this.autoSide : Number(this.resolution);
    }

    // Of what is shown. Where the device has taken over, the worker that stands in for it makes what it would.
    get gridSide() {
        return this.resolution === "auto" && this.source.cloud && !this.isOnDevice && !this.wasOnDevice ? this.hostSide : this.deviceSide;
    }

    // The device gets its volume: at the next frame, when there is a device.
    sizeGrid() {
        this.needsGrid = true;
        this.isStale = true;
        this.app.requestFrame();
    }

    // ---- device ----------------------------------------------------------------------------------

    // The worker begins at once, beside the page; the device when the first picture is there.
    begin() {
        this.worker ??= new HostSurface(() => this.takeMesh(), (error) => this.app.message(error, "error"));
        this.app.requestFrame();
    }

    // A mesh of the worker's has come. The first of a volume says where the camera looks; of points, how fine the grid may be.
    takeMesh() {
        const { worker: { mesh, seconds }, source } = this;
        if (mesh?.low && this.framed !== source) {
            this.framed = source;
            const place = (at) => transform(source.model, [...at, 1]).slice(0, 3);
            const [low, high] = [place(mesh.low), place(mesh.high)];
            this.frameCamera(low.map((x, k) => (x + high[k]) / 2), Math.hypot(...low.map((x, k) => high[k] - x)) / 2);
        }
        // Only what moves needs many of them.
        if (this.resolution === "auto" && this.isPlaying && this.canMove && seconds > HOST_SECONDS)
            this.hostSide = AUTO_FIRST;
        this.app.requestFrame();
    }

    frameCamera(middle, radius) {
        const isUsual = this.camera.turns || this.camera.text === this.usualView;
        this.camera.frame(middle, radius, isUsual);
        this.usualView = this.camera.homeText;
        this.keep();
    }

    // What draws, at the first frame: making the context takes a while, in which the worker gets on.
    beginDrawing() {
        const { gl } = this.app;
        if (!gl)
            return;
        this.arrays = new ArrayRenderer(gl);
        this.arrays.prepare(this.normals !== "none");
        if (!isWebGL2(gl)) {
            this.tellTier();
            return;
        }
        this.renderer = new MeshRenderer(gl);
        if (this.source.cloud)
            this.renderer.setPoints(this.source.cloud.positions);
    }

    // What only the renderer of WebGL 2 draws.
    tellTier() {
        for (const input of [this.pointsSwitch, this.boxSwitch, this.colorInputs.get("cells")])
            input.disabled = true;
    }

    beginDevice() {
        const { app } = this;
        const waited = this.renderer && (this.source.kind === "flood" ? app.trommel : app.surfaces); // it takes kernels
        if (!waited || waited === this.deviceAsked)
            return;
        this.deviceAsked = waited;
        this.live?.close();
        this.live = this.flood = null;
        waited.then((trommel) => {
            if (waited !== this.deviceAsked || trommel.path !== "integer")
                return;
            this.live = new LiveSurface(trommel, () => app.requestFrame());
            this.computed = null;
            this.trommel = trommel;
            this.prepared.clear();
            this.slower.clear();
            this.isFresh = true;
            this.sizeGrid();
        }, () => {}); // the shell has told it
    }

    // A name for the shaders that the source and the settings take.
    programNeeds() {
        const { source } = this;
        const kind = source.kind === "volume" ? source.type : source.kind === "flood" ? this.deviceSide : `${source.kernel} ${!!source.cloud.radii}`;
        return `${source.kind} ${kind} ${this.mesh} ${this.normals} ${this.colors === "cells"} ${this.isCapped} ${this.cutAxis !== "none"}`;
    }

    // Has them compiled, one a frame, while the worker's surfaces are shown.
    async prepare() {
        const { live, source } = this, needs = this.programNeeds();
        if (this.isPreparing || this.prepared.has(needs))
            return;
        this.isPreparing = true;
        try {
            if (this.source.kind === "flood")
                this.flood ??= await Flood.create(this.trommel);
            this.setUpGrid();
            this.renderer.prepare(this.normals !== "none", this.mesh === "soup", COLORS.indexOf(this.colors));
            const evaluate = source.kind === "volume" ? null : () => source === this.source && this.evaluate();
            await live.prepare(evaluate, this.liveOptions(), () => this.drawMeanwhile());
            if (needs === this.programNeeds() && this.source.kind === "flood")
                await this.settleFlood(needs);
            this.prepared.add(needs);
        } catch (error) {
            if (live === this.live)
                this.app.message(error.message, "error");
        }
        this.isPreparing = false;
        this.isStale = true;
        this.app.requestFrame();
    }

    // The flood goes on where it takes the less time, from where the worker has come to.
    async settleFlood(needs) {
        const { trommel, worker, flood, live } = this;
        let taken;
        for (let turn = 0; turn < 2; turn++) // the first is that of what was only now made
            ({ seconds: taken } = await trommel.time(() => this.compute(SETTLING_SECONDS)));
        if (worker.seconds !== null && taken > worker.seconds) {
            this.slower.add(needs);
            return;
        }
        const state = await worker.floodState();
        if (state && live === this.live) {
            flood.take(state);
            live.isEmpty = true;
        }
    }

    // Lets a picture be drawn now and then: where the device draws slowly it compiles slowly, too.
    drawMeanwhile() {
        if (performance.now() - this.drawnAt < PICTURE_MILLISECONDS || !this.isShown)
            return new Promise((resolve) => setTimeout(resolve, 4));
        this.app.requestFrame();
        return new Promise((resolve) => (this.onDrawn = resolve));
    }

    get isOnDevice() {
        const needs = this.programNeeds();
        return !this.isForHost && this.live !== null && !this.isPreparing && this.prepared.has(needs) && !this.slower.has(needs);
    }

    contextLost() {
        this.wasOnDevice = false;
        // With the context all buffers went; the instance is closed by the shell.
        this.live = null;
        this.flood = null;
        this.arrays = null;
        this.renderer = null;
        this.drawn = null;
        this.deviceAsked = null;
        this.hasPicture = false;
        this.fence = null;
        this.timer = null;
        this.query = null;
    }

    contextRestored() {
        this.begin();
    }

    show() {
        this.isShown = true;
        this.last = performance.now() / 1000;
        this.canvas = this.app.canvas(this.stage);
        this.stage.prepend(this.canvas);
        this.place();
        this.keep();
    }

    hide() {
        this.isShown = false;
        this.onDrawn?.();
        this.onDrawn = null;
    }

    setUpGrid() {
        const { source, live } = this;
        if (!this.needsGrid)
            return;
        this.needsGrid = false;
        if (source.kind === "volume") {
            if (!this.isFresh)
                return;
            live.setVolume(source.data, source.type, { dims: source.dims, spacing: source.spacing, origin: [0, 0, 0] });
        } else {
            live.setGrid(this.fieldGrid(this.deviceSide));
        }
        if (source.cloud)
            this.renderer.setPoints(source.cloud.positions);
        this.isFresh = false;
        this.isStale = true;
        this.seconds = null;
    }

    // As LiveSurface.evaluate takes them.
    fieldOptions() {
        const { source } = this;
        const { positions, radii, radius } = source.cloud;
        const factor = this.radius.value;
        return {
            points: positions,
            radii: radii && factor !== 1 ? radii.map((r) => r * factor) : radii,
            radius: radii ? 0 : radius * factor,
            kernel: source.kernel,
        };
    }

    // Labels and glass take several surfaces, which the worker makes.
    get isForHost() {
        return Boolean(this.source.labels || this.source.hasGlass);
    }

    get isCapped() {
        return this.hasCaps || this.cutAxis !== "none" || Boolean(this.source.caps);
    }

    // side: of the grid that points' fields are computed on.
    surfaceOptions(side = this.gridSide) {
        const { source, cutAxis } = this;
        const what = source.labels ? { allLabels: true } : source.hasGlass ? { isovalues: [this.iso.value, this.glass.value] } : { iso: this.iso.value };
        const count = source.kind === "volume" ? [...source.dims] : [side, side, side], axis = "xyz".indexOf(cutAxis);
        if (axis >= 0)
            count[axis] = this.cutCount(count[axis]);
        return { ...what, normals: this.normals, soup: this.mesh === "soup",
                 ...(this.isCapped ? { caps: true } : {}), ...(axis >= 0 ? { region: { first: [0, 0, 0], count } } : {}) };
    }

    // As LiveSurface.extract takes them.
    liveOptions() {
        return { ...this.surfaceOptions(this.deviceSide), cells: this.colors === "cells" };
    }

    // What the worker draws: as on the device, a volume lies at its origin with its axes, and source.model
    // places it.
    stagedSource() {
        const { source } = this;
        if (source.kind === "points")
            return { field: this.pointField() };
        if (source.kind === "flood")
            return { flood: { seconds: this.passed, grid: this.fieldGrid() } };
        const { data, type, dims, spacing } = source;
        return { volume: (source.staged ??= { data, type, dims, spacing }) };
    }

    // As Trommel.surface takes it, where the file says that it lies: {volume} or {field}.
    async wholeSource() {
        const { source } = this;
        if (source.kind === "volume") {
            const { data, type, dims, spacing, origin, direction } = source;
            return { volume: { data, type, dims, spacing, origin, direction } };
        }
        if (source.kind === "points")
            return { field: this.pointField(), at: source.origin };
        const { positions } = await (this.isOnDevice ? this.flood.state() : this.worker.floodState());
        return { field: { ...FLOOD_FIELD, points: positions, grid: this.fieldGrid() } };
    }

    pointField() {
        const { radii, radius, ...rest } = this.fieldOptions();
        return { ...rest, kind: "sum", grid: this.fieldGrid(), ...(radii ? { radii } : { radius }) };
    }

    fieldGrid(n = this.gridSide) {
        const [low, high] = this.source.box;
        return { dims: [n, n, n], origin: low, spacing: low.map((edge, axis) => (high[axis] - edge) / (n - 1)) };
    }

    // The field of the points as they are.
    evaluate() {
        if (this.source.kind === "points") {
            this.live.evaluate(this.fieldOptions());
        } else {
            this.flood.evaluate(this.live.volume, this.live.grid);
            this.flood.move(this.live.volume, this.live.grid.dims[0]);
        }
    }

    // seconds: by which a flood goes on.
    compute(seconds) {
        const { source, live, flood } = this;
        // As one call: the state of the context is saved and given back once.
        this.trommel.batch(() => {
            if (source.kind === "flood") {
                if (live.isEmpty)
                    flood.evaluate(live.volume, live.grid);
                live.isEmpty = false;
                flood.advance(seconds, live.volume, live.grid);
            } else if (source.kind === "points") {
                this.evaluate();
            }
            live.extract(this.liveOptions());
        });
    }

    // Now and then what a frame computes is timed by the device, where the browser lets it; the result is
    // looked for in later frames. A change of the device's clock meanwhile makes one figure wrong, which
    // the next replaces: to ask for it would wait for the device.
    computeTimed(seconds) {
        const { gl } = this.app, { passed } = this;
        this.passed = 0;
        this.timer ??= gl.getExtension("EXT_disjoint_timer_query_webgl2");
        if (!this.timer || this.query || seconds - this.timed < TIME_SECONDS) {
            this.compute(passed);
            return;
        }
        this.timed = seconds;
        this.query = gl.createQuery();
        this.query.of = this.live.generation;
        gl.beginQuery(this.timer.TIME_ELAPSED_EXT, this.query);
        try {
            this.compute(passed);
        } finally {
            gl.endQuery(this.timer.TIME_ELAPSED_EXT);
        }
    }

    readTime() {
        const { gl } = this.app;
        if (!this.query || !gl.getQueryParameter(this.query, gl.QUERY_RESULT_AVAILABLE))
            return;
        const taken = 1e-9 * gl.getQueryParameter(this.query, gl.QUERY_RESULT);
        const isCurrent = this.query.of === this.live.generation;
        gl.deleteQuery(this.query);
        this.query = null;
        // The first is that of shaders being compiled. What stands still is computed once more for its figure.
        if (!isCurrent || !this.isWarm) {
            this.isWarm = true;
            this.isStale = true;
            this.timed = -Infinity;
            return;
        }
        this.seconds = taken;
        this.adaptSide();
    }

    adaptSide() {
        if (this.resolution !== "auto" || this.source.kind !== "points" || !this.seconds)
            return;
        const next = this.autoSide === AUTO_FIRST && this.seconds < AUTO_UP && !this.triedNext ? AUTO_NEXT
            : this.autoSide === AUTO_NEXT && this.seconds > AUTO_DOWN ? AUTO_FIRST : this.autoSide;
        if (next === this.autoSide)
            return;
        // Tried once: a device between the two would go to and fro.
        this.triedNext = true;
        this.autoSide = next;
        this.sizeGrid();
    }

    isBusy() {
        const { gl } = this.app;
        if (!this.fence)
            return false;
        const state = gl.clientWaitSync(this.fence, 0, 0);
        if (state === gl.TIMEOUT_EXPIRED)
            return true;
        gl.deleteSync(this.fence);
        this.fence = null;
        this.hasPicture = true;
        return false;
    }

    frame(seconds) {
        if (!this.source)
            return;
        if (!this.arrays) {
            this.askWorker();
            this.beginDrawing();
            if (!this.arrays)
                return;
        }
        // A device that is behind gets no more to do: pointer and keys stay in step with the picture.
        if (this.isBusy() || (this.isPreparing && !this.onDrawn)) {
            this.app.requestFrame();
            return;
        }
        const passed = Math.min(Math.max(seconds - this.last, 0), 0.1);
        this.last = seconds;
        const { live } = this;
        const isOnDevice = this.isOnDevice;
        if (isOnDevice && this.needsGrid)
            this.setUpGrid();
        const moves = this.isPlaying && this.canMove;
        if (moves)
            this.move(passed, isOnDevice);
        if (isOnDevice)
            this.frameOnDevice(seconds, moves);
        else
            this.frameOnHost();
        this.tell(seconds, isOnDevice);
        // Before the first surface there is no picture, whose shaders would only hold that up; its mesh asks
        // for a frame.
        if (!isOnDevice && !this.worker.mesh && !this.hasPicture)
            return;
        const turns = this.camera.update(passed);
        this.turnSwitch.checked = this.camera.turns;
        this.draw(isOnDevice);
        this.raiseFence();
        this.drawnAt = performance.now();
        this.onDrawn?.();
        this.onDrawn = null;
        // The first picture's fence is asked for even where nothing moves: the device begins behind it.
        // So is a measurement that is under way.
        if (moves || turns || this.query || (this.fence && !this.hasPicture))
            this.app.requestFrame();
    }

    // Points that the worker is still at stay where they are, so that no picture is skipped.
    move(passed, isOnDevice) {
        this.passed += passed;
        if (!isOnDevice && this.worker.isBusy)
            return;
        const { cloud } = this.source;
        if (cloud) {
            cloud.step(Math.min(this.passed, 0.1));
            this.passed = 0;
            this.renderer?.setPoints(cloud.positions);
        }
        this.isStale = true;
        this.moment++;
    }

    frameOnDevice(seconds, moves) {
        const { live } = this;
        this.readTime();
        this.worker.mesh = null; // soon of an older moment
        this.wasOnDevice = true;
        if (live.adaptRoom())
            this.isStale = true;
        if (this.isStale) {
            this.isStale = false;
            this.computeTimed(seconds);
            this.isCounted = false;
            this.computed = this.source;
        }
        if (!this.isCounted) {
            live.askCounts(seconds, !moves);
            this.isCounted = live.isAsking && !moves;
        }
    }

    frameOnHost() {
        this.askWorker();
        // The device comes behind the first picture: compiling would hold it up.
        if (!this.worker.mesh || !this.hasPicture)
            return;
        this.beginDevice();
        if (this.live && !this.isForHost)
            this.prepare();
    }

    askWorker() {
        if (this.worker.isBusy || !this.isStale)
            return;
        this.isStale = false;
        this.worker.ask(this.stagedSource(), this.surfaceOptions());
        this.passed = 0;
    }

    raiseFence() {
        const { gl } = this.app;
        if (!this.renderer)
            return;
        this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl.flush();
    }

    // For a file.
    picture() {
        this.draw(this.isOnDevice);
    }

    draw(isOnDevice) {
        const { renderer, arrays, source, look, canvas } = this;
        const { width, height } = canvas;
        const view = this.camera.view(width / height);
        arrays.clear(width, height);
        // Behind the first picture, as all that is not the surface itself: its shaders would hold that up.
        if (this.hasPicture && renderer && source.ground !== undefined && view.eye[1] > source.ground)
            renderer.drawShadow(view, width, height, { radius: 0.085, ground: source.ground, opacity: look.shadow });
        const style = { ...look, colors: COLORS.indexOf(this.colors), wire: this.wire ? 0.85 : 0 };
        // Other settings: the surface that there is stays until the worker has one with them.
        const hasOlder = !this.isForHost && this.live && this.computed === source && !this.needsGrid && !this.worker.mesh;
        const drawn = isOnDevice || hasOlder ? this.live.made : this.worker.mesh;
        this.picker.place(view, this.moment, source.model);
        if (this.drawn !== drawn) {
            this.drawn = drawn;
            this.picker.again();
        }
        if (isOnDevice || hasOlder)
            renderer.drawMesh(this.live.mesh(source.model), view, style);
        else if (this.worker.mesh)
            this.drawArrays(view, style);
        if (!renderer)
            return;
        if (this.showsPoints && source.kind === "points")
            renderer.drawPoints(view, source.dot ?? 0.008, height, [...this.ink, 0.75]);
        if (this.showsBox) {
            const { dims, origin, spacing } = source.kind === "volume" ? { ...source, origin: [0, 0, 0] } : this.fieldGrid();
            const high = origin.map((edge, axis) => edge + spacing[axis] * (dims[axis] - 1));
            renderer.drawBox(view, source.model, origin, high, [...this.ink, 0.35]);
        }
    }

    // What the worker made: labels in their colours, or behind glass.
    drawArrays(view, style) {
        const { arrays, source, worker: { mesh } } = this;
        const [solid, glass] = mesh.parts ?? [{ triangleFirst: 0, triangleCount: mesh.triangleCount }];
        arrays.drawMesh("surface", mesh, source.model, view, { ...style, isLabelled: Boolean(mesh.marks), part: solid });
        if (glass)
            arrays.drawMesh("surface", mesh, source.model, view, { ...style, clay: this.glassColor, part: glass, isGlass: true });
    }

    // ---- picking ---------------------------------------------------------------------------------

    // What a ray meets: of the surface of this moment, so what moves halts, and goes on where nothing is met.
    async pick(ray) {
        const { source } = this, moves = this.isPlaying && this.canMove;
        if (moves)
            this.play(false);
        let hit, drawn, moment;
        do {
            // What is under way comes first.
            do
                await new Promise((resolve) => requestAnimationFrame(resolve));
            while (this.isShown && (this.isStale || (!this.isOnDevice && this.worker.isBusy)));
            ({ drawn, moment } = this);
            if (!drawn || !this.isShown || source !== this.source)
                return null;
            const mesh = this.picked === drawn ? undefined : drawn === this.live?.made ? await this.live.read() : { positions: drawn.positions };
            this.picked = null;
            hit = await this.worker.pick(mesh, rayInto(source.model, ray));
            this.picked = drawn;
        } while (drawn !== this.drawn);
        if (!hit && moves)
            this.play(true);
        return hit && { at: hit.at, of: moment, model: source.model, lines: this.linesOf(hit) };
    }

    linesOf({ triangle, at }) {
        const { source } = this, isVolume = source.kind === "volume";
        const { dims, origin, spacing } = isVolume ? { ...source, origin: [0, 0, 0] } : this.fieldGrid();
        const cell = dims.map((count, k) => Math.min(count - 2, Math.max(0, Math.floor((at[k] - origin[k]) / spacing[k]))));
        const value = isVolume ? `, value ${source.isoText(this.iso.value)}` : "";
        return [`Triangle ${numberText(triangle)}`, placeText(source.place?.(at) ?? at), `cell ${cell.join(", ")}${value}`];
    }

    tell(seconds, isOnDevice) {
        this.frames.push(seconds);
        while (this.frames.length > 2 && seconds - this.frames[0] > 1)
            this.frames.shift();
        const { source, live } = this;
        const isMoving = this.isPlaying && this.canMove;
        // Figures that change with each frame cannot be read; the last ones must not be missed.
        if (isMoving && seconds - this.told < 0.2)
            return;
        this.told = seconds;
        const isVolume = source.kind === "volume";
        setText(this.figures.source, isVolume ? source.dims.join(" × ") : numberText(source.cloud?.count ?? FLOOD_COUNT));
        setText(this.labels.source, isVolume ? `samples of ${source.type}` : source.cloud ? "points" : "particles");
        this.figures.field.parentElement.hidden = isVolume;
        setText(this.figures.field, `${this.gridSide}³`);
        setText(this.labels.field, "samples of their field");
        const triangles = isOnDevice ? live.triangleCount : this.worker.mesh?.triangleCount ?? null;
        if (triangles !== null || !isOnDevice)
            setText(this.figures.triangles, triangles === null ? "–" : numberText(triangles));
        const span = this.frames.at(-1) - this.frames[0];
        const rate = span > 0.3 && this.frames.length > 2 ? `${Math.round((this.frames.length - 1) / span)} frames a second` : "";
        const time = this.seconds ? `${(1000 * this.seconds).toFixed(this.seconds < 0.01 ? 2 : 0)} ms for ${isVolume ? "the surface" : "field and surface"}` : "";
        const tier = isOnDevice ? "" : this.isForHost ? "on the processor" : !this.renderer ? "on the processor, for want of WebGL 2"
            : this.slower.has(this.programNeeds()) ? "on the processor, which is faster here" : "on the processor, until the device is ready";
        this.legend.hidden = this.colors !== "cells" || !isOnDevice;
        const shares = isOnDevice && live.cellCounts ? cellShares(live.cellCounts) : null;
        [...this.legend.children].forEach((item, i) => setText(item.lastChild, `${i + 1}${shares ? `: ${shares[i]} %` : ""}`));
        setText(this.timing, [tier, isOnDevice ? time : "", isMoving ? rate : ""].filter(Boolean).join(" · "));
    }

    // ---- files to keep ---------------------------------------------------------------------------

    fileName() {
        return this.source.title.toLowerCase().replaceAll(/[^a-z0-9.]+/g, "-").replace(/\.[a-z0-9.]*$/, "");
    }

    async save(format) {
        const surface = this.surfaceOptions();
        for (const button of this.saveButtons)
            button.disabled = true;
        try {
            const what = { surface, format, ...(await this.wholeSource()) };
            const { bytes, triangleCount } = await files.save(what);
            files.download(bytes, `${this.fileName()}.${format}`);
            this.app.message(`Saved ${counted(triangleCount, "triangle")}, ${numberText(Math.ceil(bytes.length / 1000))} kB.`, "good");
        } catch (error) {
            this.app.message(`The mesh cannot be saved: ${error.message}`, "error");
        } finally {
            for (const button of this.saveButtons)
                button.disabled = false;
        }
    }
}

function identity() {
    return new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
}

// Brings a box into that from -1 to 1, its longest side filling it. columns: where the axes x, y and z point.
function fitted(low, high, columns) {
    const scale = 2 / Math.max(...high.map((edge, axis) => edge - low[axis]), 1e-30);
    const model = identity();
    for (let row = 0; row < 3; row++) {
        let moved = 0;
        for (let column = 0; column < 3; column++) {
            model[4 * column + row] = scale * columns[column][row];
            moved += model[4 * column + row] * (low[column] + high[column]) / 2;
        }
        model[12 + row] = -moved;
    }
    return model;
}

// Volumes and surveys have z upwards, where the page has y.
const Z_UP = [[1, 0, 0], [0, 0, -1], [0, 1, 0]];
const Y_UP = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

function volumeSource(volume, isTurned = false) {
    const { dims, spacing, direction, valueSlope, valueIntercept, type } = volume;
    const axis = (k) => [direction[k], direction[3 + k], direction[6 + k]];
    const upright = ([x, y, z]) => (isTurned ? [-x, -z, -y] : [x, z, -y]);
    const isWhole = !type.startsWith("f");
    const [low, high] = volume.range;
    return {
        ...volume,
        id: volume.name,
        title: volume.name,
        kind: "volume",
        tint: "--bone",
        isWhole,
        canLabel: isWhole && high - low <= 255 && volume.data.length > 1,
        iso: isWhole ? Math.round(volume.suggested) : volume.suggested,
        range: isWhole ? [low + 1, Math.max(high, low + 1)] : [low, high],
        place: (at) => volume.origin.map((edge, row) => edge + at.reduce((sum, x, k) => sum + direction[3 * row + k] * x, 0)),
        isoText: (value) => String(Number((valueSlope * value + valueIntercept).toPrecision(5))),
        model: fitted([0, 0, 0], dims.map((count, k) => (count - 1) * spacing[k]), [0, 1, 2].map((k) => upright(axis(k)))),
    };
}

function pointSource(points) {
    const { positions, radii, radius, count, low, high } = points;
    // A cube around them and their radii.
    const reach = radii ? radii.reduce((most, r) => Math.max(most, r), 0) : radius;
    const half = Math.max(...high.map((edge, axis) => edge - low[axis])) / 2 + 1.1 * reach;
    const middle = low.map((edge, axis) => (edge + high[axis]) / 2);
    const box = [middle.map((m) => m - half), middle.map((m) => m + half)];
    return {
        id: points.name,
        title: points.name,
        kind: "points",
        tint: "--clay",
        kernel: "wendland",
        iso: 0.5,
        dot: 0.004,
        cloud: { count, positions, radii, radius },
        origin: points.origin,
        place: (at) => at.map((x, k) => x + points.origin[k]),
        box,
        model: fitted(...box, /las|laz|vtk/i.test(points.format) ? Z_UP : Y_UP),
    };
}

export default {
    id: "surface",
    title: "Surface",
    create: (host, app) => new SurfacePanel(host, app),
};
