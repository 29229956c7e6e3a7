// The Compaction panel: a stream compacted before one's eyes, and how fast the library's methods are on
// this machine. What is shown is the library's own structure, and every picture is compared with what the
// device makes of it (compaction_check.js).
import {
    PICTURES,
    CELLS,
    COUNT_MAX,
    buildPyramid,
    gridFromText,
    gridToText,
    levelsFor,
    squareCell,
    storyOf,
} from "./pyramid_model.js";
import { setText } from "../lib/controls.js";
import { createPyramidView, hueOf, nameOfTier } from "./pyramid_view.js";
import { createCheck } from "./compaction_check.js";
import { createMethodTimes } from "./method_times.js";

const BEAT_SLOWEST = 2400,
    BEAT_FASTEST = 80; // milliseconds a step
const NOISE_SEED = 20060911;

const MARKUP = `
<h2 class="unseen">Compaction</h2>
<p class="lede">Some cells are kept, the rest dropped, and what is kept must come out side by side, in order.
A thousand processors can do that at once if each output can ask one question: <em>which cell am I?</em>
The <dfn>HistoPyramid</dfn> answers it with a few sums.</p>

<div class="compaction-bar" role="group" aria-label="What to compact">
  <fieldset class="segmented"><legend class="unseen">Stream</legend>
    <label><input type="radio" name="compaction-mode" value="compact" checked><span>Compact</span></label>
    <label><input type="radio" name="compaction-mode" value="expand"><span>Expand</span></label>
  </fieldset>
  <fieldset class="segmented"><legend class="unseen">What outputs ask</legend>
    <label title="A texel holds the counts of four parts below"><input type="radio" name="compaction-kind" value="counts" checked><span>4 counts</span></label>
    <label title="A texel of the lowest level holds 128 cells, one bit each"><input type="radio" name="compaction-kind" value="bits"><span>128 bits</span></label>
    <label><input type="radio" name="compaction-kind" value="squares"><span>Squares of 2006</span></label>
    <label><input type="radio" name="compaction-kind" value="running"><span>Running counts</span></label>
  </fieldset>
  <div class="buttons pictures" role="group" aria-label="Pictures"></div>
</div>

<div class="compaction-stage">
  <div class="pyramid-place"></div>
  <div class="story">
    <div class="buttons transport" role="group" aria-label="Animation">
      <button type="button" class="button primary play">Play</button>
      <button type="button" class="button back">Back</button>
      <button type="button" class="button step">Step</button>
      <button type="button" class="button restart">Restart</button>
    </div>
    <div class="caption" aria-live="polite">
      <h3></h3><p></p>
      <ol class="comparison" aria-label="Key and running sums"></ol>
    </div>
    <div class="row"><label for="compaction-scrub">Step</label><output class="scrub-value"></output>
      <input type="range" class="scrub" id="compaction-scrub" min="0" max="9" value="0"></div>
    <div class="row"><label for="compaction-speed">Speed</label><output class="speed-value"></output>
      <input type="range" class="speed" id="compaction-speed" min="0" max="100" value="35"></div>
    <p class="truth muted"></p>
  </div>
</div>

<section class="outputs-part" aria-labelledby="outputs-title">
  <h3 id="outputs-title">The compacted stream</h3>
  <p class="muted">Each output names the cell that it comes from. Pick one to watch it descend.</p>
  <div class="outputs" role="listbox" aria-labelledby="outputs-title"></div>
  <p class="check" role="status"></p>
</section>
<section class="library-picture" aria-labelledby="library-picture-title" hidden></section>
<section class="method-times" aria-labelledby="method-times-title"></section>
`;

// The panel's own rules, beside this file wherever the page lies.
function addStyles(name) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(name, import.meta.url);
    document.head.append(link);
}

// The part of a slider's track that is coloured (style.css).
function fillSlider(slider) {
    const share = (slider.value - slider.min) / Math.max(slider.max - slider.min, 1);
    slider.style.setProperty("--filled", `${100 * share}%`);
}

// ---- words --------------------------------------------------------------------------------------

function ordinal(part) {
    return ["first", "second", "third", "fourth"][part];
}

function outputsText(count) {
    return `${count} ${count === 1 ? "output" : "outputs"}`;
}

function captionOfBuild(pyramid, tier) {
    const level = pyramid.tiers.slice(0, tier + 1).filter((t) => t.isStored).length;
    const levels = pyramid.tiers.filter((t) => t.isStored).length;
    const { nodes } = pyramid.tiers[tier];
    const below = pyramid.tiers[tier - 1];
    const what =
        level > 1
            ? `${below.nodes} texels of the level below`
            : pyramid.kind === "bits"
              ? `${below.nodes} texels of 128 bits`
              : `${below.nodes} texels of four counts`;
    const last =
        level === levels
            ? ` This is the apex, and its last sum is the total: ${outputsText(pyramid.total)}.`
            : "";
    return {
        title: `Level ${level} of ${levels}: one draw of ${nodes} ${nodes === 1 ? "texel" : "texels"}`,
        text: `From ${what}. Each texel holds four running sums: a, a + b, a + b + c, and all four.${last}`,
    };
}

// The squares' levels, one draw each.
function captionOfSquares(pyramid, tier) {
    const side = 2 ** tier,
        count = CELLS / (side * side);
    const last =
        tier === pyramid.tiers.length - 1
            ? ` One more draw adds up these four: the apex, ${outputsText(pyramid.total)}.`
            : "";
    return {
        title: `Level ${tier}: one draw of ${count} texels`,
        text: `Each holds one number, the sum of the 2 × 2 below it: ${side} × ${side} cells.${last}`,
    };
}

function captionOfPass(pyramid, pass) {
    const stride = 2 ** (pass - 1),
        last = pass === pyramid.passes.length - 1;
    return {
        title: `Pass ${pass} of ${pyramid.passes.length - 1}: add what lies ${stride} before`,
        text: last
            ? `Every cell knows now how many outputs there are up to it, itself among them: ${pyramid.total} at the last.`
            : `Every cell adds the number ${stride} ${stride === 1 ? "place" : "places"} before its own, and has then the sum of ${2 * stride}.`,
    };
}

function captionOfSearch(pyramid, key, { step, path }) {
    const number = path.steps.indexOf(step) + 1;
    return {
        title: `Output ${key}, look ${number} of ${path.steps.length}`,
        text:
            `Up to cell ${step.middle} there are ${step.sum}. ` +
            (step.isAfter ? `Output ${key} comes after them` : `Output ${key} is one of them`) +
            `: ${step.size} ${step.size === 1 ? "cell is" : "cells are"} left.`,
    };
}

function captionOfDescent(pyramid, key, moment) {
    const { step } = moment;
    const reached =
        step.part === 0
            ? `${step.key} is below the first sum, ${step.sums[0]}`
            : step.part === 3
              ? `${step.key} reaches the third sum, ${step.sums[2]}`
              : `${step.key} reaches ${step.sums[step.part - 1]} and is below ${step.sums[step.part]}`;
    const rest = step.before
        ? ` ${outputsText(step.before)} lie before that part, so the key becomes ` +
          `${step.key} − ${step.before} = ${step.rest}.`
        : ` Nothing lies before that part: the key stays ${step.rest}.`;
    return {
        title: `Output ${key} at ${nameOfTier(pyramid, step.tier)}`,
        text: `${reached}: ${ordinal(step.part)} part.${rest}`,
        step,
    };
}

// Texels that an output looks at.
function fetchesOf(pyramid) {
    if (pyramid.kind === "running") return Math.log2(CELLS);
    return pyramid.kind === "squares" ? 3 * pyramid.tiers.length : pyramid.tiers.filter((t) => t.isStored).length + 1;
}

function captionOf(state) {
    const { pyramid, key } = state,
        moment = state.story[state.at];
    const fetches = fetchesOf(pyramid);
    switch (moment.phase) {
        case "build":
            return pyramid.kind === "running"
                ? captionOfPass(pyramid, moment.tier)
                : pyramid.kind === "squares"
                  ? captionOfSquares(pyramid, moment.tier)
                  : captionOfBuild(pyramid, moment.tier);
        case "descend":
            return pyramid.kind === "running"
                ? captionOfSearch(pyramid, key, moment)
                : captionOfDescent(pyramid, key, moment);
        case "arrive": {
            const { cell, rank } = moment.path;
            const row = Math.floor(cell / 16) + 1,
                column = (cell % 16) + 1;
            const among =
                state.mode === "expand"
                    ? ` It is number ${rank} of the ${pyramid.counts[cell]} that the cell makes.`
                    : "";
            const select =
                pyramid.kind === "bits"
                    ? " Within the word, counting ones by bytes, nibbles and pairs finds the bit."
                    : "";
            return {
                title: `Output ${key} is cell ${cell}`,
                text: `Row ${row}, column ${column}, found with ${fetches} fetches.${select}${among}`,
            };
        }
        case "all":
            return pyramid.total === 0
                ? {
                      title: "Nothing is kept",
                      text: "The apex says 0, so nothing is drawn. Paint some cells.",
                  }
                : {
                      title: `All ${outputsText(pyramid.total)} at once`,
                      text:
                          `They do not wait for one another: one more draw, in which every output descends by itself, ` +
                          `${fetches} fetches each. They come out in the order of their ` +
                          `${pyramid.kind === "squares" ? "squares (Z order)" : "cells"}, without gaps.`,
                  };
        default:
            return {
                title: `${CELLS} cells, ${outputsText(pyramid.total)}`,
                text:
                    "A fragment of a draw cannot choose where it writes, so no cell can hand its output on. " +
                    "Press Play: sums are built first, then outputs come looking for their cells.",
            };
    }
}

function truthOf(state) {
    if (state.kind === "squares")
        return (
            "This is the pyramid of the paper of 2006 (bench/papers/ziegler_2006.c). A texel has the sum of a square, and " +
            "an output looks at three of each four: 12 fetches here, where the library's take 4. Its outputs come square " +
            "by square. The library counts four consecutive cells instead, so its outputs keep their order."
        );
    if (state.kind === "running")
        return (
            "This is the scan and search of GPU Gems 2 (bench/papers/horn_2005.c): 8 passes over all cells, where the levels of " +
            "the pyramid of four counts have 21 texels in all, and 8 looks an output, where that takes 4 fetches. The " +
            "library's own scan on GPUs that compute takes one pass."
        );
    if (state.mode === "expand")
        return (
            "This is the pyramid that the library builds for expansion, texel for texel: four counts in a " +
            "texel of the base, 85 texels in all."
        );
    if (state.kind === "bits")
        return (
            "This is the pyramid that the library builds for compaction, texel for texel: 128 keep bits in a " +
            "texel of the base. The counts of words are not stored; a descent takes them from the bits. So a " +
            `million cells need ${levelsFor(1e6, "bits")} levels above the base instead of ${levelsFor(1e6, "counts")}.`
        );
    return (
        "This is the textbook's pyramid, and the one that the library builds where a cell may make several " +
        "outputs (Expand). For compaction it packs 128 cells into a texel of the base and leaves out the " +
        "lowest levels: choose “128 bits” to see that."
    );
}

// ---- the panel ----------------------------------------------------------------------------------

function firstGrid() {
    const text = new URLSearchParams(location.search).get("grid");
    return gridFromText(text ?? "") ?? PICTURES[0].make(NOISE_SEED);
}

// What is shown at a moment of the story (pyramid_view.js).
function sceneOf(state) {
    const { story, at, pyramid } = state,
        moment = story[at],
        stored = (pyramid.passes ?? pyramid.tiers).length;
    if (moment.phase === "paint") return { built: 0, building: -1, path: null, step: 0, arrived: false };
    if (moment.phase === "build")
        return { built: moment.tier, building: moment.tier, path: null, step: 0, arrived: false };
    if (moment.phase === "descend")
        return {
            built: stored,
            building: -1,
            path: moment.path,
            step: moment.path.steps.indexOf(moment.step) + 1,
            arrived: false,
        };
    if (moment.phase === "all") return { built: stored, building: -1, path: null, step: 0, arrived: false };
    return { built: stored, building: -1, path: moment.path, step: moment.path.steps.length, arrived: true };
}

class CompactionPanel {
    constructor(host, app) {
        this.host = host;
        this.app = app;
        host.classList.add("compaction");
        host.insertAdjacentHTML("beforeend", MARKUP);
        const find = (selector) => host.querySelector(selector);
        this.parts = {
            outputs: find(".outputs"),
            title: find(".caption h3"),
            text: find(".caption p"),
            comparison: find(".comparison"),
            truth: find(".truth"),
            play: find(".play"),
            back: find(".back"),
            step: find(".step"),
            scrub: find(".scrub"),
            speed: find(".speed"),
            outputsTitle: find("#outputs-title"),
            scrubValue: find(".scrub-value"),
            speedValue: find(".speed-value"),
        };
        const counts = firstGrid();
        const mode = counts.some((count) => count > 1) ? "expand" : "compact";
        this.state = { counts, mode, kind: "counts", key: 0, at: 0, story: [], pyramid: null };
        this.seed = NOISE_SEED;
        this.timer = 0;
        this.view = createPyramidView(find(".pyramid-place"), {
            paint: (cells, value) => this.paint(cells, value),
            brush: (value) => (value >= this.limit() ? 0 : value + 1),
            strokeEnd: () => this.check.soon(),
        });
        this.check = createCheck(app, find(".check"), find(".library-picture"));
        this.times = createMethodTimes(app, find(".method-times"));
        this.wire(find);
        find(`input[value=${mode}]`).checked = true;
        this.update();
        this.state.key = Math.floor(this.state.pyramid.total * 0.6);
        this.update();
    }

    limit() {
        return this.state.mode === "expand" ? COUNT_MAX : 1;
    }

    // ---- doing ----------------------------------------------------------------------------------

    wire(find) {
        for (const picture of PICTURES)
            this.addPicture(find(".pictures"), picture.name, () => picture.make(this.seed++));
        this.addPicture(find(".pictures"), "Invert", () =>
            this.state.counts.map((count) => this.limit() - count),
        );
        this.addPicture(find(".pictures"), "Clear", () => new Uint8Array(CELLS));
        const link = this.addButton(find(".pictures"), "Copy link", () => this.copyLink());
        link.title = "Copies a link to this page with your picture in it";

        this.host
            .querySelectorAll("input[name=compaction-mode]")
            .forEach((input) => input.addEventListener("change", () => this.setMode(input.value)));
        this.host
            .querySelectorAll("input[name=compaction-kind]")
            .forEach((input) => input.addEventListener("change", () => this.setKind(input.value)));
        find(".restart").addEventListener("click", () => this.go(0));
        find(".back").addEventListener("click", () => this.go(this.state.at - 1));
        find(".step").addEventListener("click", () => this.go(this.state.at + 1));
        find(".play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
        this.parts.scrub.addEventListener("input", () => this.go(Number(this.parts.scrub.value)));
        this.parts.speed.addEventListener("input", () => this.setBeat());
        this.setBeat();
        this.wireOutputs();
    }

    addButton(place, name, click) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "button";
        button.textContent = name;
        button.addEventListener("click", click);
        place.append(button);
        return button;
    }

    addPicture(place, name, make) {
        this.addButton(place, name, () => {
            const counts = make();
            const isCounting = this.state.mode === "expand" && name !== "Invert";
            this.setCounts(
                isCounting ? counts.map((one, i) => one * (1 + ((i * 7 + (i >> 4)) % COUNT_MAX))) : counts,
            );
        });
    }

    setCounts(counts) {
        this.state.counts = counts;
        this.update();
        this.check.soon();
    }

    paint(cells, value) {
        const counts = Uint8Array.from(this.state.counts);
        cells.forEach((cell) => (counts[cell] = Math.min(value, this.limit())));
        this.state.counts = counts;
        this.update();
    }

    setMode(mode) {
        const { state } = this;
        state.mode = mode;
        state.counts = state.counts.map((count) => Math.min(count, this.limit()));
        if (mode === "expand" && state.kind === "bits") state.kind = "counts";
        this.host.querySelector(`input[value=${state.kind}]`).checked = true;
        this.host.querySelector("input[value=bits]").disabled = mode === "expand";
        this.update();
        this.check.soon();
    }

    setKind(kind) {
        this.state.kind = kind;
        this.update();
    }

    // Rebuilds the pyramid and the story, and stays at the same moment as well as can be.
    update() {
        const { state } = this;
        const phase = state.story[state.at]?.phase ?? "paint";
        const isSameLength = state.pyramid?.kind === state.kind && state.pyramid.total > 0;
        state.pyramid = buildPyramid(state.counts, state.kind);
        state.key = Math.max(0, Math.min(state.key, state.pyramid.total - 1));
        state.story = storyOf(state.pyramid, state.key);
        if (!isSameLength || state.pyramid.total === 0)
            state.at = state.story.findIndex((moment) => moment.phase === phase);
        if (state.at < 0) state.at = state.story.length - 1;
        state.at = Math.min(state.at, state.story.length - 1);
        this.check.expect(state.pyramid, state.mode);
        this.showOutputs();
        this.show();
    }

    // ---- the animation --------------------------------------------------------------------------

    setBeat() {
        const share = Number(this.parts.speed.value) / 100;
        this.beat = BEAT_SLOWEST * (BEAT_FASTEST / BEAT_SLOWEST) ** share;
        this.host.style.setProperty("--beat", `${this.beat}ms`);
        const text = `${Number((1000 / this.beat).toPrecision(2))} steps a second`;
        this.parts.speedValue.textContent = text;
        this.parts.speed.setAttribute("aria-valuetext", text);
        fillSlider(this.parts.speed);
    }

    // Goes on by itself up to a moment of the story; from the end, from the start on.
    play(last = this.state.story.length - 1) {
        if (this.state.at === last) this.state.at = -1;
        const tick = () => {
            this.timer = setTimeout(tick, this.beat);
            this.goOn(this.state.at + 1);
            if (this.state.at >= last) this.pause();
        };
        this.parts.play.textContent = "Pause";
        tick();
    }

    pause() {
        clearTimeout(this.timer);
        this.timer = 0;
        this.parts.play.textContent = "Play";
    }

    go(at) {
        this.pause();
        this.goOn(at);
    }

    goOn(at) {
        this.state.at = Math.max(0, Math.min(at, this.state.story.length - 1));
        this.show();
        const { phase } = this.state.story[this.state.at];
        if (phase === "arrive") this.fly([this.state.key]);
        if (phase === "all") this.fly([...this.options.keys()]);
    }

    // Sends the colours of cells down to their places in the stream.
    fly(keys) {
        if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
        const pace = Math.min(this.beat, 900);
        const starts = keys.map((key) => this.view.cellAt(this.sources[key]).getBoundingClientRect());
        const ends = keys.map((key) => this.options[key].getBoundingClientRect());
        keys.forEach((key, i) => {
            const scale = starts[i].width / ends[i].width;
            const x = starts[i].left - ends[i].left,
                y = starts[i].top - ends[i].top;
            this.options[key].animate(
                [
                    {
                        transformOrigin: "0 0",
                        transform: `translate(${x}px, ${y}px) scale(${scale})`,
                        zIndex: 5,
                    },
                    { transformOrigin: "0 0", transform: "none", zIndex: 5 },
                ],
                {
                    duration: pace,
                    delay: keys.length > 1 ? (i / keys.length) * pace * 0.6 : 0,
                    easing: "cubic-bezier(0.3, 0, 0.1, 1)",
                    fill: "backwards",
                },
            );
        });
    }

    // ---- showing --------------------------------------------------------------------------------

    show() {
        const { state, parts } = this,
            { story, at } = state;
        this.view.show(state.pyramid, sceneOf(state), this.limit());
        const caption = captionOf(state);
        setText(parts.title, caption.title);
        setText(parts.text, caption.text);
        this.showComparison(caption.step);
        setText(parts.truth, truthOf(state));
        parts.scrub.max = story.length - 1;
        parts.scrub.value = at;
        parts.scrub.setAttribute("aria-valuetext", caption.title);
        parts.scrubValue.textContent = `${at} of ${story.length - 1}`;
        fillSlider(parts.scrub);
        parts.back.disabled = at === 0;
        parts.step.disabled = at === story.length - 1;
        const isOut = story[at].phase === "all",
            arrived = story[at].phase === "arrive";
        this.options.forEach((option, key) =>
            option.classList.toggle("is-out", isOut || (arrived && key === state.key)),
        );
    }

    // The four sums of a node, and how the key compares with each.
    showComparison(step) {
        const list = this.parts.comparison;
        list.replaceChildren();
        list.hidden = !step?.sums;
        for (let part = 0; step?.sums && part < 4; part++) {
            const item = document.createElement("li");
            const sum = document.createElement("b");
            sum.textContent = step.sums[part];
            item.append(sum, part === step.part ? "here" : part < step.part ? `≤ ${step.key}` : "");
            item.className = part === step.part ? "is-part" : part < step.part ? "is-passed" : "";
            list.append(item);
        }
    }

    // One element an output. Kept while the stream is: a stroke of the brush changes few.
    showOutputs() {
        const { state } = this,
            { pyramid } = state;
        this.sources = [];
        pyramid.counts.forEach((_, place) => {
            const cell = pyramid.kind === "squares" ? squareCell(place) : place;
            for (let rank = 0; rank < pyramid.counts[cell]; rank++) this.sources.push(cell);
        });
        const list = this.parts.outputs;
        while (list.childElementCount > pyramid.total) list.lastChild.remove();
        while (list.childElementCount < pyramid.total) {
            const option = document.createElement("div");
            option.className = "output";
            option.setAttribute("role", "option");
            list.append(option);
        }
        this.options = [...list.children];
        this.options.forEach((option, key) => {
            option.style.setProperty("--hue", hueOf(this.sources[key]).toFixed(1));
            option.textContent = this.sources[key];
            option.setAttribute("aria-label", `output ${key}, from cell ${this.sources[key]}`);
            option.setAttribute("aria-selected", key === state.key);
            option.tabIndex = key === state.key ? 0 : -1;
        });
        const title = state.mode === "expand" ? "The expanded stream" : "The compacted stream";
        this.parts.outputsTitle.textContent = `${title}: ${outputsText(pyramid.total)}`;
    }

    // Under the pointer, an output and its cell light up together.
    wireHints(board, list) {
        const hint = (element, cell) => {
            for (const old of this.host.querySelectorAll(".is-hinted")) old.classList.remove("is-hinted");
            if (!element || !(cell >= 0)) return;
            this.view.cellAt(cell).classList.add("is-hinted");
            this.options.forEach((option, key) => {
                if (this.sources[key] === cell) option.classList.add("is-hinted");
            });
        };
        board.addEventListener("pointerover", (event) => {
            const element = event.target.closest(".cell.is-kept");
            hint(element, Number(element?.dataset.cell));
        });
        list.addEventListener("pointerover", (event) => {
            const element = event.target.closest(".output");
            hint(element, this.sources[this.options.indexOf(element)]);
        });
        for (const place of [board, list]) place.addEventListener("pointerleave", () => hint(null));
    }

    wireOutputs() {
        const list = this.parts.outputs;
        this.wireHints(this.view.board, list);
        list.addEventListener("click", (event) => {
            const key = this.options.indexOf(event.target.closest(".output"));
            if (key >= 0) this.pick(key);
        });
        list.addEventListener("keydown", (event) => {
            const at = this.options.indexOf(document.activeElement);
            const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.options.length - 1 };
            if (at < 0 || !(event.key in moves || event.key === "Enter" || event.key === " ")) return;
            event.preventDefault();
            if (!(event.key in moves)) {
                this.pick(at);
                return;
            }
            const to = Math.max(0, Math.min(moves[event.key], this.options.length - 1));
            this.options.forEach((option, key) => (option.tabIndex = key === to ? 0 : -1));
            this.options[to].focus();
        });
    }

    // Shows the descent of an output, from its first step until it arrives.
    pick(key) {
        this.pause();
        const { state } = this;
        state.key = key;
        state.story = storyOf(state.pyramid, key);
        this.options.forEach((option, other) => {
            option.setAttribute("aria-selected", other === key);
            option.tabIndex = other === key ? 0 : -1;
        });
        state.at = state.story.findIndex((moment) => moment.phase === "descend") - 1;
        this.play(state.story.findIndex((moment) => moment.phase === "arrive"));
    }

    // ---- links ----------------------------------------------------------------------------------

    async copyLink() {
        const url = new URL(location.href);
        url.search = `?grid=${gridToText(this.state.counts)}`;
        url.hash = "#compaction";
        history.replaceState(null, "", url);
        try {
            await navigator.clipboard.writeText(url.href);
            this.app.message("The link to your picture is copied.", "info");
        } catch {
            this.app.message("The link to your picture stands in the address bar.", "info");
        }
    }
}

export default {
    id: "compaction",
    title: "Compaction",
    create(host, app) {
        addStyles("compaction.css");
        const panel = new CompactionPanel(host, app);
        return {
            show: () => {
                panel.check.show();
                if (!panel.wasShown && !app.reducedMotion.matches) panel.play();
                panel.wasShown = true;
            },
            hide: () => {
                panel.pause();
                panel.times.cancel();
            },
            contextLost: () => panel.times.cancel(),
            contextRestored: () => panel.check.soon(),
        };
    },
};
