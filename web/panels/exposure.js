// The Exposure panel: a picture with more light in it than a screen has, its exact averages and
// histogram, and the exposure that follows from them, live.

import { download, loadPicture, notOpened } from "../lib/files.js";
import { Link } from "../lib/link.js";
import { ExposurePicture, STATE, demoPicture } from "./exposure_picture.js";

const TONES = [
    ["agx", "AgX"],
    ["aces-fit", "ACES, fitted"],
    ["neutral", "Khronos Neutral"],
    ["hable", "Hable's filmic"],
    ["reinhard-extended", "Reinhard, with a white"],
    ["reinhard", "Reinhard"],
    ["srgb", "None: clipped"],
];
const EV100_OF_LOG2 = 3; // IMAGE_EV100 of src/kernels/image_expose.k.h
const DARK_STOPS = 7; // how much darker it was where one comes from
const SETTLED_SECONDS = 8; // of adapting, after which nothing moves

const MARKUP = `
<div class="stage" role="img" aria-label="The exposed picture"></div>
<form class="controls rows">
  <h2>Exposure</h2>
  <p class="note picture-name"></p>
  <fieldset class="segmented"><legend class="unseen">Picture</legend>
    <label><input type="radio" name="exposure-picture" value="sun" checked><span>A low sun</span></label>
    <label title="A panorama with all its light, by HDRIHaven (CC0)"><input type="radio" name="exposure-picture" value="square"><span>A square in Dresden</span></label></fieldset>
  <div class="buttons"><button type="button" class="button open" title="Radiance .hdr, OpenEXR, PFM, and what the browser shows: PNG, JPEG, AVIF, WebP. Files stay in this page.">Open a picture …</button>
    <input type="file" multiple hidden aria-label="Picture file">
    <button type="button" class="button save" title="As exposed, at its own size">Save as PNG</button></div>
  <div class="row" title="How light brighter than the screen is brought into its range"><label for="exposure-tone">Tone curve</label>
    <select class="select wide tone" id="exposure-tone"></select></div>
  <div class="row" title="Which part of the picture says how bright it is"><label for="exposure-meter">Metering</label>
    <select class="select wide meter" id="exposure-meter"><option value="average">The whole picture</option>
      <option value="centre">Centre-weighted</option><option value="spot">Spot</option>
      <option value="matrix">Matrix of 5 × 5</option></select></div>
  <fieldset class="segmented"><legend class="unseen">Exposed for</legend>
    <label><input type="radio" name="exposure-by" value="mean" checked><span>Mean</span></label>
    <label><input type="radio" name="exposure-by" value="median"><span>Median</span></label>
    <label><input type="radio" name="exposure-by" value="manual"><span>By hand</span></label></fieldset>
  <div class="row only-mean" title="So much of the picture does not count as dark"><label for="exposure-low">Leave out the darkest</label><output></output>
    <input type="range" id="exposure-low" min="0" max="49" value="5" data-unit=" %"></div>
  <div class="row only-mean" title="So much of the picture does not count as bright, such as the sun"><label for="exposure-high">Leave out the brightest</label><output></output>
    <input type="range" id="exposure-high" min="0" max="49" value="5" data-unit=" %"></div>
  <div class="row only-manual"><label for="exposure-ev">EV at ISO 100</label><output></output>
    <input type="range" id="exposure-ev" min="-6" max="16" step="0.5" value="3" data-unit=""></div>
  <div class="row" title="Brighter or darker than measured; a stop is twice the light"><label for="exposure-bias">Bias</label><output></output>
    <input type="range" id="exposure-bias" min="-6" max="6" step="0.25" value="0" data-unit=" stops"></div>
  <div class="buttons"><button type="button" class="button adapt" title="As eyes that come from a cellar: the exposure follows within seconds">Step out of the dark</button></div>
  <svg class="histogram" role="img"></svg>
  <p class="key"><span style="--line-colour: var(--accent)">exposed for</span>
    <span style="--line-colour: var(--data-2)">white of the screen</span></p>
  <dl class="figures"></dl>
</form>`;

// ---- pictures that browsers decode -----------------------------------------------------------------

// PNG, JPEG, GIF, WebP, AVIF.
const isOfBrowsers = (bytes) => /^(\x89PNG|\xff\xd8\xff|GIF8|BM|RIFF....WEBP|....ftyp)/s.test(String.fromCharCode(...bytes.subarray(0, 16)));

async function decoded(file) {
    const bitmap = await createImageBitmap(file, { colorSpaceConversion: "default", premultiplyAlpha: "none" }).catch(() => {
        throw new Error("the browser cannot decode it");
    });
    const { width, height } = bitmap, canvas = Object.assign(document.createElement("canvas"), { width, height });
    const draw = canvas.getContext("2d");
    draw.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data } = draw.getImageData(0, 0, width, height);
    return { width, height, channels: 4, type: "u8", data: new Uint8Array(data.buffer), srgb: true, format: file.type.replace("image/", "").toUpperCase() || "decoded by the browser", comment: "" };
}

function number(value) {
    return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "none";
}

// ---- histogram -----------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const PLOT = { width: 284, height: 104 };

function add(svg, tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    svg.append(element);
}

// stats, and the log2 luminances of the average, of white, and of the clip's ends.
function drawHistogram(svg, stats, { average, white, low, high }) {
    const { width, height } = PLOT,
        { histogram, histogramLow, binWidth } = stats;
    const most = Math.max(...histogram, 1),
        bin = width / histogram.length;
    const toX = (log2) => Math.min(Math.max(((log2 - histogramLow) / binWidth) * bin, 0), width);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height + 18}`);
    svg.setAttribute(
        "aria-label",
        `Histogram of the luminance in stops: exposed for ${number(average)}, white at ` +
            `${number(white)}, taken from ${number(low)} to ${number(high)}`,
    );
    let path = `M0 ${height}`;
    histogram.forEach(
        (weight, i) => (path += `V${height - height * Math.sqrt(weight / most)}H${(i + 1) * bin}`),
    );
    add(svg, "path", { class: "bins", d: `${path}V${height}Z` });
    add(svg, "rect", { class: "clipped", x: 0, y: 0, width: toX(low), height });
    add(svg, "rect", { class: "clipped", x: toX(high), y: 0, width: width - toX(high), height });
    add(svg, "path", { class: "mean-line", d: `M${toX(average)} 0V${height}` });
    add(svg, "path", { class: "white-line", d: `M${toX(white)} 0V${height}` });
    for (let stop = histogramLow; stop <= histogramLow + binWidth * histogram.length; stop += 8) {
        const anchor = stop === histogramLow ? "start" : toX(stop) >= width ? "end" : "middle";
        add(
            svg,
            "text",
            { x: toX(stop), y: height + 14, "text-anchor": anchor },
            stop === histogramLow ? `${stop} stops` : stop,
        );
    }
}

// ---- the panel -----------------------------------------------------------------------------------

class ExposurePanel {
    constructor(host, app) {
        this.app = app;
        host.classList.add("exposure");
        host.innerHTML = MARKUP;
        this.find = (selector) => host.querySelector(selector);
        for (const [value, name] of TONES) this.find(".tone").append(new Option(name, value));
        this.source = null; // as Trommel.loadPicture gives it
        this.picture = null; // the source on the device
        this.loading = null; // {source} that comes there
        this.seconds = 0; // of the frame before
        this.adaptSeconds = 0; // still to be followed
        const changed = () => this.change();
        host.querySelectorAll("input, select").forEach((input) => input.addEventListener("input", changed));
        this.find("form").addEventListener("submit", (event) => event.preventDefault());
        this.find(".open").addEventListener("click", () => this.find("[type=file]").click());
        this.find("[type=file]").addEventListener("change", ({ target }) => {
            app.openFiles([...target.files]).catch((error) => app.message(error.message, "error"));
            target.value = ""; // the same file may be chosen again
        });
        this.find(".adapt").addEventListener("click", () => this.adapt());
        app.onFiles((file) => this.open(file));
        this.find(".save").addEventListener("click", () => this.save());
        host.querySelectorAll("[name=exposure-picture]").forEach((input) =>
            input.addEventListener("change", () => input.checked && this.choose(input.value)));
        new ResizeObserver(() => app.requestFrame()).observe(this.find(".stage"));
        for (const input of this.find("form").querySelectorAll("select, [type=range], [type=radio]"))
            input.dataset.link = (input.name || input.id).replace("exposure-", "");
        this.link = new Link(app, this.find("form"));
        this.showControls();
    }

    apply(settings) {
        this.link.apply(settings);
    }

    async show() {
        this.isShown = true;
        await this.load();
    }

    hide() {
        this.isShown = false;
    }

    contextLost() {
        this.picture = this.loading = null; // gone with the context
    }

    contextRestored() {
        this.load();
    }

    // ---- pictures ----

    async open(file) {
        this.asked = file;
        try {
            const source = await this.read(file);
            if (this.asked !== file) return; // something else was chosen meanwhile
            for (const input of this.find("form").querySelectorAll("[name=exposure-picture]")) input.checked = false;
            await this.put({ ...source, name: file.name });
        } catch (error) {
            this.app.message(error.message, "error");
        }
    }

    // What is in a picture file, as Trommel.loadPicture gives it.
    async read(file) {
        const bytes = await file.arrayBuffer();
        try {
            return await (isOfBrowsers(new Uint8Array(bytes)) ? decoded(file) : loadPicture(bytes, file.name));
        } catch (error) {
            // What the library lacks here, it was built without: no matter of the visitor's.
            const known = new Error("is no picture that this page reads; give Radiance (.hdr, .pic), OpenEXR, PFM, or what the browser shows");
            throw notOpened(file.name, / built without /.test(error.message) ? known : error);
        }
    }

    // One of the page's own.
    async choose(id) {
        this.asked = id;
        try {
            if (id === "sun") {
                const sun = await demoPicture();
                if (this.asked === id) await this.put(sun);
                return;
            }
            const answer = await fetch(new URL("../data/dresden_square.hdr", import.meta.url));
            if (!answer.ok) throw new Error(`The square in Dresden cannot be read: ${answer.status} ${answer.statusText}`);
            const source = await this.read(new File([await answer.blob()], "dresden_square.hdr"));
            if (this.asked === id) await this.put({ ...source, name: "A square in Dresden" });
        } catch (error) {
            this.app.message(error.message, "error");
        }
    }

    async put(source) {
        this.source = source;
        this.picture?.destroy();
        this.picture = this.loading = null;
        await this.load();
    }

    // The exposed picture at its own size, as a file.
    async save() {
        if (!this.picture) return;
        const { width, height } = this.picture.out, canvas = Object.assign(document.createElement("canvas"), { width, height });
        this.picture.draw(this.find(".tone").value);
        this.app.requestFrame();
        const pixels = await this.picture.out.buffer.readAsync();
        canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.length), width, height), 0, 0);
        const name = (this.source.name ?? "a-low-sun").toLowerCase().replace(/\.[a-z0-9]+$/, "").replaceAll(/[^a-z0-9]+/g, "-");
        download(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), `${name}-exposed.png`);
    }

    // Puts the source on the device, and measures it.
    async load() {
        let loading = null;
        try {
            if (!this.source) {
                const sun = await demoPicture();
                this.source ??= sun; // something may have been opened meanwhile
            }
            const trommel = await this.app.trommel;
            if (!this.isShown) return;
            const stage = this.find(".stage");
            if (trommel.engine === "gl") this.app.canvas(stage);
            const { source } = this;
            if (this.picture || this.loading?.source === source) return;
            const canvasOf = () => {
                this.canvas ??= Object.assign(document.createElement("canvas"), { className: "stage-canvas" });
                stage.append(this.canvas);
                return this.canvas;
            };
            loading = this.loading = { source };
            const picture = await ExposurePicture.create(trommel, { gl: this.app.gl, canvasOf }, source);
            if (this.loading !== loading) {
                picture.destroy();
                return;
            }
            this.loading = null;
            this.picture = picture;
            // One that is all black, say, has nothing for the exposure to follow.
            this.find(".adapt").disabled = !Number.isFinite(this.picture.stats.log2Mean);
            const { name = "A low sun", width, height, format } = source;
            this.find(".picture-name").textContent = `${name}: ${width} × ${height}, ${format}`;
            this.change();
        } catch (error) {
            if (this.loading === loading) this.loading = null;
            this.app.message(error.message, "error");
        }
    }

    // ---- exposure ----

    valueOf(name) {
        return Number(this.find(`#exposure-${name}`).value);
    }

    // What the controls ask for.
    wanted() {
        const by = this.find("[name=exposure-by]:checked").value;
        const clip = by === "mean" ? [this.valueOf("low"), 100 - this.valueOf("high")] : [0, 0];
        const isClipped = clip[0] > 0 || (clip[1] > 0 && clip[1] < 100);
        return { by, clip: isClipped ? clip : [0, 0], ev100: this.valueOf("ev"), bias: this.valueOf("bias") };
    }

    showControls() {
        const by = this.find("[name=exposure-by]:checked").value;
        this.find("form")
            .querySelectorAll(".only-mean, .only-manual")
            .forEach((row) => (row.hidden = !row.classList.contains(`only-${by}`)));
        for (const slider of this.find("form").querySelectorAll("[type=range]")) {
            const share = (slider.value - slider.min) / (slider.max - slider.min);
            slider.style.setProperty("--filled", `${100 * share}%`);
            slider.previousElementSibling.textContent = slider.value + slider.dataset.unit;
        }
    }

    change() {
        this.showControls();
        const { picture } = this;
        if (!picture) return;
        const meter = this.find(".meter").value;
        if (meter !== picture.meter)
            picture.measure(meter).then(() => this.tell(), (error) => picture === this.picture && this.app.message(error.message, "error"));
        picture.expose({ ...this.wanted(), reset: true });
        this.adaptSeconds = 0;
        this.app.requestFrame();
        this.tell();
    }

    // Begins as dark as a cellar, and lets the exposure follow.
    adapt() {
        if (!this.picture) return;
        const wanted = this.wanted(),
            stats = this.picture.stats;
        this.picture.expose({
            by: "manual",
            ev100: stats.log2Mean + EV100_OF_LOG2 - DARK_STOPS,
            bias: wanted.bias,
            reset: true,
        });
        this.seconds = 0;
        this.adaptSeconds = SETTLED_SECONDS;
        this.tell();
        this.app.requestFrame();
    }

    frame(seconds) {
        if (!this.picture) return;
        if (this.adaptSeconds > 0) {
            const passed = this.seconds ? Math.min(seconds - this.seconds, 0.25) : 0;
            this.adaptSeconds -= passed;
            this.seconds = seconds;
            this.picture.expose({ ...this.wanted(), seconds: passed });
            this.tell();
            this.app.requestFrame();
        }
        this.picture.draw(this.find(".tone").value);
    }

    // Figures and histogram, once the device has come to them; no frame waits.
    async tell() {
        const { picture } = this;
        if (this.isTelling) {
            this.tellAgain = true;
            return;
        }
        this.isTelling = true;
        try {
            const state = await picture.state.readAsync();
            if (picture === this.picture) this.showFigures(picture, state);
        } catch (error) {
            if (error.status !== "DEVICE_LOST" && picture === this.picture)
                this.app.message(error.message, "error");
        }
        this.isTelling = false;
        if (this.tellAgain) {
            this.tellAgain = false;
            this.tell();
        }
    }

    showFigures(picture, state) {
        const { stats } = picture;
        const figures = [
            ["Exposure", `× ${number(state[STATE.scale])}`],
            ["EV at ISO 100", number(state[STATE.ev100])],
            ["Pixels", stats.pixels.toLocaleString("en")],
            ["Mean", number(stats.mean)],
            ["Geometric mean", number(stats.geometricMean)],
            ["Median", number(2 ** picture.percentile(50))],
            ["Smallest, largest", `${number(stats.min)}, ${number(stats.max)}`],
            ["Range", `${number(Math.log2(stats.max / stats.min))} stops`],
            ["NaN, infinite", `${stats.nan}, ${stats.infinite}`],
        ];
        const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
        this.find(".figures").replaceChildren(
            ...figures.flatMap(([name, value]) => [make("dt", name), make("dd", value)]),
        );
        drawHistogram(this.find(".histogram"), stats, {
            average: state[STATE.average],
            white: -Math.log2(state[STATE.scale]),
            low: state[STATE.low],
            high: state[STATE.high],
        });
    }
}

export default {
    id: "exposure",
    title: "Exposure",
    create(host, app) {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = new URL("exposure.css", import.meta.url);
        document.head.append(link);
        return new ExposurePanel(host, app);
    },
};
