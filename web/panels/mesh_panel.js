// What panels of meshes share: a stage with a camera, a worker that has the library, and files of the
// visitor's. A panel makes this.stage and this.controls before it calls begin(), and
// adds open(files), readColors(), frame(seconds) and pick(ray).
import { fileChooser, make } from "../lib/controls.js";
import { notOpened } from "../lib/files.js";
import { Link } from "../lib/link.js";
import { OrbitCamera } from "../lib/orbit_camera.js";
import { Picker } from "../lib/pick.js";
import { Remote } from "../lib/remote.js";

const MESH_FILE = /\.(obj|stl|ply|off|glb|gltf)$/i;

export class MeshPanel {
    // distance: of the camera.
    constructor(host, app, worker, distance) {
        Object.assign(this, { host, app });
        host.classList.add("panel-stage");
        this.worker = new Remote(new URL(`../lib/${worker}`, import.meta.url));
        this.camera = new OrbitCamera(distance);
        this.isStale = true; // what is shown is not what was asked for
        this.isBusy = false;
        this.last = 0;
    }

    // Once the panel is built. others: what its link names beside the controls and the view.
    begin(others = {}) {
        this.link = new Link(this.app, this.controls, {
            view: { get: () => this.viewText(), set: (text) => (this.camera.text = text) }, ...others,
        });
        this.app.onFiles((file) => this.open(file));
        this.app.onTheme(() => this.readColors());
        this.picker = new Picker(this.stage, (ray) => this.pick(ray), (error) => this.fail(error), () => [this.camera.shift, this.camera.rise]);
        this.camera.attach(this.stage, () => {
            this.app.requestFrame();
            this.link.keep();
        });
        new ResizeObserver(() => this.centre()).observe(this.stage);
        this.readColors();
    }

    fail(error) {
        this.app.message(error.message, "error");
    }

    fileChooser(title) {
        const chooser = fileChooser({ title, onFiles: (files) => this.app.openFiles(files).catch((error) => this.fail(error)) });
        this.fileButton = chooser.button;
        this.tellFile(null);
        return chooser;
    }

    // name: of the visitor's file that is shown, or null.
    tellFile(name) {
        this.fileButton.replaceChildren(name ? make("b", { textContent: name }) : "Open or drop a mesh …");
    }

    // The mesh in a file, with its name.
    async load(file) {
        if (!MESH_FILE.test(file.name))
            throw new Error(`${file.name} cannot be opened: here are OBJ, STL, PLY, OFF and GLB.`);
        try {
            const bytes = new Uint8Array(await file.arrayBuffer());
            return { ...(await this.worker.ask("load", { bytes, name: file.name })), name: file.name };
        } catch (error) {
            throw notOpened(file.name, error);
        }
    }

    // A view that turns by itself is none to send.
    viewText() {
        this.firstView ??= this.camera.text;
        return this.camera.turns ? this.firstView : this.camera.text;
    }

    apply(settings) {
        this.link.apply(settings);
    }

    saveButtons(name) {
        const film = make("button", { type: "button", className: "button", textContent: "Film", title: "Five seconds, turned once about", onclick: () => this.app.saveFilm(name, this.camera, film) });
        return make("div", { className: "buttons" },
            make("button", { type: "button", className: "button", textContent: "Save the picture", onclick: () => this.app.savePicture(name) }), film);
    }

    centre() {
        this.camera.centre(this.stage, this.controls);
    }

    change() {
        this.isStale = true;
        this.app.requestFrame();
    }

    show() {
        this.canvas = this.app.canvas(this.stage);
        this.stage.prepend(this.canvas);
        this.centre();
    }
    hide() {}
    contextLost() {
        this.renderer = null;
    }
    contextRestored() {
        this.app.requestFrame();
    }
}
