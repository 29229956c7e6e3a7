// What lies where the visitor clicks, taps or presses Enter: a ring on the surface with words beside it, until the surface
// changes. The worker that has the mesh finds the triangle, by its tree (tree_pick.js).
import { make, setText } from "./controls.js";
import { inverse, transform } from "./matrix.js";

const STILL_PIXELS = 5;       // what moves farther is a drag
const STILL_MILLISECONDS = 600;

// A ray of the scene as that of a mesh that model places: lengths along it stay the same.
export function rayInto(model, { origin, direction }) {
    const back = inverse(model);
    return { origin: transform(back, [...origin, 1]).slice(0, 3), direction: transform(back, [...direction, 0]).slice(0, 3) };
}

export const placeText = (at) => `(${at.map((x) => Number(x.toPrecision(5)) || 0).join(", ").replaceAll("-", "\u2212")})`;

export class Picker {
    // find(ray) resolves to what is shown or null: {at, of, lines}; at: in the mesh's frame; of: what may be changed for
    // another surface; lines: of text. middle(): where Enter looks, from -1 to 1.
    constructor(stage, find, fail, middle) {
        Object.assign(this, { stage, find, fail, middle });
        this.shown = null;
        this.asked = 0;
        this.text = make("p", { role: "status" });
        this.element = make("div", { className: "pick", hidden: true }, make("i"), this.text);
        stage.append(this.element);
        let down = null;
        // Before who moves camera or mesh by it.
        stage.parentNode.addEventListener("pointerdown", (event) => {
            const isOurs = stage.contains(event.target) && event.isPrimary && event.button === 0 && !event.shiftKey &&
                !event.target.closest("button, a, input");
            down = isOurs ? [event.clientX, event.clientY, event.timeStamp] : null;
        }, true);
        stage.addEventListener("pointerup", (event) => {
            if (!down || event.timeStamp - down[2] > STILL_MILLISECONDS ||
                Math.hypot(event.clientX - down[0], event.clientY - down[1]) > STILL_PIXELS)
                return;
            const box = stage.getBoundingClientRect();
            this.pick((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
        });
        stage.addEventListener("keydown", (event) => {
            if (event.target !== stage || !["Enter", "Escape"].includes(event.key))
                return;
            event.preventDefault();
            if (event.key === "Enter")
                this.pick(...middle());
            else
                this.clear();
        });
    }

    async pick(x, y) {
        if (this.view)
            await this.ask({ origin: this.view.eye, direction: this.view.towards(x, y) });
    }

    // Where what is shown was made anew, its triangle may be another.
    again() {
        if (this.shown)
            this.ask(this.shown.ray);
    }

    async ask(ray) {
        const asked = ++this.asked;
        try {
            const found = await this.find(ray);
            if (asked !== this.asked)
                return;
            this.clear();
            if (!found)
                return;
            this.shown = { ...found, ray };
            this.tell(found.lines);
            this.place(this.view, found.of, found.model);
        } catch (error) {
            this.fail(error);
        }
    }

    tell(lines) {
        setText(this.text, lines.join("\n"));
    }

    clear() {
        this.asked++;
        this.shown = null;
        this.element.hidden = true;
    }

    // To be called with each picture: how it was seen, of what surface, and where its model stands.
    place(view, of, model) {
        this.view = view;
        if (!this.shown)
            return;
        if (this.shown.of !== of) {
            this.clear();
            return;
        }
        this.shown.model = model;
        const [x, y, , w] = transform(view.matrix, transform(model, [...this.shown.at, 1]));
        this.element.hidden = w <= 0;
        const { clientWidth, clientHeight } = this.stage;
        const at = [(1 + x / w) * clientWidth / 2, (1 - y / w) * clientHeight / 2];
        this.element.style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px)`;
        this.element.classList.toggle("left", at[0] > (1 + this.middle()[0]) * clientWidth / 2);
    }
}
