// A camera that circles a point: drag, two fingers, wheel or keys; with Shift, the right button or two fingers
// side by side the point moves. It glides to a stop, and turns by itself until somebody takes it.
import { lookAt, multiply, perspective } from "./matrix.js";

const FOV = 0.62;              // radians: long enough a lens that spheres look round at the rim
const PITCH_LIMIT = 1.45;      // short of the pole, where "up" has no meaning
const TURN_A_PIXEL = 0.0065;
const TURN_A_KEY = 0.12;
const GLIDE = 7;               // 1 / seconds in which a movement dies down
const TURNTABLE = 0.16;        // radians a second
const ZOOM_LIMITS = [0.15, 14]; // of the distance, in half sides of the scene's box
const PAN_LIMIT = 1.2;         // of the point, likewise

const FRAMED = 1.05;           // of the ball around what is shown
const ANGLES = { yaw: 0.55, pitch: 0.2 };

const MOVED = ["yaw", "pitch", "distance", "x", "y", "z"];
const textOf = (view) => MOVED.map((name) => Number(view[name].toFixed(3))).join(",");

export class OrbitCamera {
    // distance: from which the whole scene is seen.
    constructor(distance = 4.3) {
        this.usual = distance;
        this.start = { distance, x: 0, y: 0, z: 0 };
        this.turns = true;
        this.shift = this.rise = 0;
        this.pointers = new Map();
        this.reset();
    }

    reset() {
        Object.assign(this, ANGLES);
        Object.assign(this, this.start);
        this.wanted = Object.fromEntries(MOVED.map((name) => [name, this[name]]));
    }

    // onChange is called whenever a picture from the new position is wanted.
    attach(element, onChange) {
        this.onChange = onChange;
        element.addEventListener("pointerdown", (event) => {
            if (event.target.closest("button, a, input"))
                return;
            element.setPointerCapture(event.pointerId);
            this.height = element.clientHeight;
            this.pans = event.shiftKey || event.button !== 0;
            this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
        });
        element.addEventListener("pointermove", (event) => this.move(event));
        for (const end of ["pointerup", "pointercancel"])
            element.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
        element.addEventListener("wheel", (event) => {
            event.preventDefault();
            const lines = event.deltaMode === 1 ? 30 : 1;
            this.zoom(Math.exp(event.deltaY * lines * 0.0012));
        }, { passive: false });
        element.addEventListener("contextmenu", (event) => event.preventDefault());
        element.addEventListener("keydown", (event) => this.key(event));
        element.addEventListener("dblclick", () => this.home());
    }

    // What is shown lies within radius of middle (null: it is as large as usual). goes: the camera goes there at once.
    frame(middle, radius, goes) {
        const [x, y, z] = middle, distance = radius === null ? this.usual : (FRAMED * radius) / Math.sin(FOV / 2);
        this.start = { distance, x, y, z };
        for (const name of goes ? ["distance", "x", "y", "z"] : [])
            this[name] = this.wanted[name] = this.start[name];
        this.onChange?.();
    }

    // Puts the picture's middle into that of what the card leaves free of the stage; on narrow ones half of the way below
    // the figures.
    centre(stage, card) {
        const isBeside = matchMedia("(min-width: 721px)").matches;
        const free = stage.clientWidth - (isBeside ? card.offsetWidth + 16 : 0);
        this.shift = stage.clientWidth ? free / stage.clientWidth - 1 : 0;
        const figures = stage.querySelector(".pipeline").offsetHeight;
        this.rise = isBeside || !stage.clientHeight ? 0 : -figures / (2 * stage.clientHeight);
        this.onChange();
    }

    // Where it goes, for a link.
    get text() {
        return textOf(this.wanted);
    }
    // And where it begins.
    get homeText() {
        return textOf({ ...ANGLES, ...this.start });
    }
    set text(text) {
        const numbers = text.split(",").map(Number);
        if (numbers.length === MOVED.length && numbers.every(Number.isFinite))
            MOVED.forEach((name, k) => (this[name] = this.wanted[name] = numbers[k]));
        this.wanted.distance = this.distance = Math.min(ZOOM_LIMITS[1], Math.max(ZOOM_LIMITS[0], this.distance));
        this.onChange?.();
    }

    home() {
        const { yaw } = this;
        this.reset();
        this.yaw = yaw;
        this.onChange();
    }

    turn(yaw, pitch) {
        this.turns = false;
        this.wanted.yaw += yaw;
        this.wanted.pitch = Math.min(PITCH_LIMIT, Math.max(-PITCH_LIMIT, this.wanted.pitch + pitch));
        this.onChange();
    }

    zoom(factor) {
        this.wanted.distance = Math.min(ZOOM_LIMITS[1], Math.max(ZOOM_LIMITS[0], this.wanted.distance * factor));
        this.onChange();
    }

    // By pixels of the stage.
    pan(dx, dy) {
        this.turns = false;
        const { wanted } = this, unit = (2 * wanted.distance * Math.tan(FOV / 2)) / (this.height || 1);
        const [s, c] = [Math.sin(wanted.yaw), Math.cos(wanted.yaw)], rise = Math.sin(wanted.pitch);
        const to = { x: -c * dx - s * rise * dy, y: Math.cos(wanted.pitch) * dy, z: s * dx - c * rise * dy };
        for (const axis of ["x", "y", "z"])
            wanted[axis] = Math.min(PAN_LIMIT, Math.max(-PAN_LIMIT, wanted[axis] + unit * to[axis]));
        this.onChange();
    }

    move(event) {
        const before = this.pointers.get(event.pointerId);
        if (!before)
            return;
        const now = [event.clientX, event.clientY];
        const fingers = this.pointers.size;
        const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
        if (fingers === 2)
            this.pan(dx / 2, dy / 2);
        else if (this.pans)
            this.pan(dx, dy);
        else
            this.turn(-dx * TURN_A_PIXEL, dy * TURN_A_PIXEL);
        if (fingers === 2) {
            const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
            const apart = (at) => Math.max(20, Math.hypot(at[0] - other[0], at[1] - other[1]));
            this.zoom(apart(before) / apart(now));
        }
        this.pointers.set(event.pointerId, now);
    }

    key(event) {
        const actions = {
            ArrowLeft: () => this.turn(TURN_A_KEY, 0),
            ArrowRight: () => this.turn(-TURN_A_KEY, 0),
            ArrowUp: () => this.turn(0, TURN_A_KEY),
            ArrowDown: () => this.turn(0, -TURN_A_KEY),
            "+": () => this.zoom(0.85),
            "=": () => this.zoom(0.85),
            "-": () => this.zoom(1 / 0.85),
            Home: () => this.home(),
        };
        if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        actions[event.key]();
    }

    // Moves on by some seconds; true while there is more to come.
    update(seconds) {
        const step = Math.min(seconds, 0.1);
        if (this.turns && this.pointers.size === 0)
            this.wanted.yaw += TURNTABLE * step;
        const share = 1 - Math.exp(-GLIDE * step);
        let rest = 0;
        for (const name of MOVED) {
            const way = this.wanted[name] - this[name];
            this[name] += way * share;
            rest = Math.max(rest, Math.abs(way));
        }
        return this.turns || rest > 1e-3;
    }

    view(aspect) {
        // On a narrow stage the width decides how far away the whole is seen.
        const distance = this.distance * Math.max(1, 0.92 / aspect);
        const flat = Math.cos(this.pitch);
        const at = [this.x, this.y, this.z];
        const eye = [
            at[0] + distance * flat * Math.sin(this.yaw),
            at[1] + distance * Math.sin(this.pitch),
            at[2] + distance * flat * Math.cos(this.yaw),
        ];
        const look = lookAt(eye, at, [0, 1, 0]);
        const project = perspective(FOV, aspect, 0.05 * distance, 4 * distance + 4, this.shift, this.rise);
        const [right, up, back] = [0, 1, 2].map((row) => [look[row], look[4 + row], look[8 + row]]);
        // From the eye through a place of the picture, from -1 to 1.
        const half = Math.tan(FOV / 2), towards = (x, y) =>
            right.map((r, k) => r * (x - this.shift) * aspect * half + up[k] * (y - this.rise) * half - back[k]);
        return { eye, matrix: multiply(project, look), right, up, towards };
    }
}
