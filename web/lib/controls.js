// The controls of a panel: plain form elements with names, built from JavaScript. help: a line for who does not know
// the name. link: what a link to the panel calls it (link.js).

export function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name in element && name !== "role")
            element[name] = value;
        else
            element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

// What stays as it is is not laid out anew.
export function setText(element, text) {
    if (element.textContent !== String(text))
        element.textContent = text;
}

export const numberText = (value) => value.toLocaleString("en").replaceAll(",", "\u2009");
export const counted = (count, noun) => `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;

export function timeText(seconds) {
    if (!(seconds > 0))
        return "below the clock's step";
    const [scale, unit] =
        seconds < 1e-6 ? [1e9, "ns"] : seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
    return `${Number((seconds * scale).toPrecision(3))} ${unit}`;
}

// A button that opens files of the visitor's. Returns {input, button}, both to be put into the page.
export function fileChooser({ onFiles, ...properties }) {
    const input = make("input", { type: "file", hidden: true, multiple: true });
    input.addEventListener("change", () => {
        onFiles([...input.files]);
        input.value = ""; // the same file may be chosen again
    });
    return { input, button: make("button", { type: "button", className: "button file", onclick: () => input.click(), ...properties }) };
}

const linked = (input, link) => link && (input.dataset.link = link);

let controls = 0;
const nextId = () => `control-${++controls}`;

// A slider with its value beside the name. Returns {element, input, value, set(value), limits(min, max, step)}.
export function slider({ name, help = "", link, min, max, step, value, text = String, onInput }) {
    const input = make("input", { type: "range", id: nextId(), min, max, step });
    linked(input, link);
    const output = make("output");
    output.setAttribute("for", input.id);
    const element = make("div", { className: "row", title: help }, make("label", { htmlFor: input.id, textContent: name }), output, input);
    const tell = () => {
        const [low, high] = [Number(input.min), Number(input.max)];
        output.textContent = text(Number(input.value));
        input.setAttribute("aria-valuetext", output.textContent);
        input.style.setProperty("--filled", `${(100 * (input.value - low)) / (high - low || 1)}%`);
    };
    input.addEventListener("input", () => {
        tell();
        onInput(Number(input.value));
    });
    const made = {
        element,
        input,
        get value() {
            return Number(input.value);
        },
        set(next) {
            input.value = next;
            tell();
        },
        limits(low, high, stride) {
            Object.assign(input, { min: low, max: high, step: stride });
            tell();
        },
    };
    made.set(value);
    return made;
}

// Radio buttons side by side; choices are [value, text, help or none]. Returns {element, value, set(value), inputs}.
export function segmented({ name, help = "", link, choices, value, onInput }) {
    const group = nextId();
    const legend = make("legend", { textContent: name, className: "unseen" });
    const inputs = new Map();
    const set = make("fieldset", { className: "segmented wide" }, legend);
    for (const [choice, text, title = ""] of choices) {
        const input = make("input", { type: "radio", name: group, value: choice, checked: choice === value });
        linked(input, link);
        input.addEventListener("change", () => input.checked && onInput(choice));
        inputs.set(choice, input);
        set.append(make("label", { title }, input, make("span", { textContent: text })));
    }
    const shownName = make("span", { className: "name", textContent: name });
    shownName.ariaHidden = "true";
    const element = make("div", { className: "row", title: help }, shownName, set);
    return {
        element,
        inputs,
        get value() {
            return [...inputs].find(([, input]) => input.checked)?.[0] ?? null;
        },
        // null: none is chosen.
        set(next) {
            for (const [choice, input] of inputs)
                input.checked = choice === next;
        },
    };
}

export function toggle({ name, help = "", link, value, onInput }) {
    const input = make("input", { type: "checkbox", role: "switch", checked: value });
    linked(input, link);
    input.addEventListener("change", () => onInput(input.checked));
    return { element: make("label", { className: "switch", title: help }, input, name), input };
}

// A part of a colour, 0 to 255, as a number that light multiplies.
export const linearOf = (part) => ((part / 255 + 0.055) / 1.055) ** 2.4;

// A colour of the style sheet, likewise.
export function linearColor(name, element) {
    const probe = make("i", { hidden: true });
    probe.style.color = `var(${name})`;
    element.append(probe);
    const parts = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    return parts.map(linearOf);
}
