// What a link says of a panel: the values of its controls that have a data-link name, and what else the panel names.
// Only what is not as usual stands in the address.

const KEEP_MILLISECONDS = 300; // browsers refuse an address that changes with each pixel of a slider

export class Link {
    // form: holds the controls; others: {name: {get(): text, set(text)}}. What there is now is the usual; what the
    // page's address says follows.
    constructor(app, form, others = {}) {
        Object.assign(this, { app, form, others });
        this.usual = this.#values();
        for (const event of ["input", "change"])
            form.addEventListener(event, () => this.keep());
        this.apply(app.settings());
    }

    // Controls by name; of radio buttons all of a group.
    #controls() {
        const controls = new Map();
        for (const control of this.form.querySelectorAll("[data-link]"))
            controls.set(control.dataset.link, [...(controls.get(control.dataset.link) ?? []), control]);
        return controls;
    }

    #values() {
        const values = {};
        for (const [name, [control, ...more]] of this.#controls())
            values[name] = control.type === "checkbox" ? String(Number(control.checked))
                : control.type === "radio" ? [control, ...more].find(({ checked }) => checked)?.value ?? "" : control.value;
        for (const [name, { get }] of Object.entries(this.others))
            values[name] = get();
        return values;
    }

    get settings() {
        const values = this.#values();
        return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== this.usual[name]));
    }

    // Into the address, soon.
    keep() {
        clearTimeout(this.keeping);
        this.keeping = setTimeout(() => !this.form.closest("[hidden]") && this.app.keepSettings(this.settings), KEEP_MILLISECONDS);
    }

    // What the settings do not name becomes as usual; values that there are not stay away.
    apply(settings) {
        const before = this.#values(), wanted = (name) => settings.get(name) ?? this.usual[name];
        for (const [name, controls] of this.#controls()) {
            const value = wanted(name);
            if (value !== before[name])
                this.#set(controls, value);
        }
        for (const [name, { set }] of Object.entries(this.others))
            if (wanted(name) !== before[name])
                set(wanted(name));
    }

    // As if a visitor had done it: the panel hears of it.
    #set(controls, value) {
        const control = controls[0].type === "radio" ? controls.find((one) => one.value === value) : controls[0];
        if (!control)
            return;
        if (control.type === "checkbox" || control.type === "radio")
            control.checked = control.type === "radio" || value === "1";
        else if (control.tagName !== "SELECT" || [...control.options].some((option) => option.value === value))
            control.value = value;
        for (const event of ["input", "change"])
            control.dispatchEvent(new Event(event));
    }
}
