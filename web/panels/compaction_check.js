// Compares the painted grid with the device: the library compacts (or expands) it, and every source cell
// is compared with the pyramid on the page. Also draws the library's own picture of a pyramid.
import { CELLS, COLUMNS, COUNT_MAX, ROWS, sources } from "./pyramid_model.js";

const DELAY = 200; // milliseconds after the last stroke
const ENLARGED = 64; // elements along a side of a cell in the library's picture: 2^20 in all

const PICTURE_MARKUP = `
<h3 id="library-picture-title">The library's own pyramid, painted by the device</h3>
<p>Your picture with ${ENLARGED} × ${ENLARGED} elements for every cell, ${(CELLS * ENLARGED * ENLARGED).toLocaleString("en")}
in all, compacted with bits, and its pyramid drawn from the textures themselves: the apex at the top, the
base with 128 elements a texel at the bottom. Light is kept, dark is dropped.</p>
<button type="button" class="button draw">Draw it on this device</button>
<canvas hidden role="img" aria-label="A band for each level of the pyramid, finer from top to bottom"></canvas>`;

// ---- on the device ------------------------------------------------------------------------------

// Buffers for grids on one instance of the library; they go with it when it is closed.
function buffersOn(trommel) {
    return {
        trommel,
        flags: trommel.buffer({ type: "u8", count: CELLS }),
        counts: trommel.buffer({ type: "u32", count: CELLS }),
        source: trommel.buffer({ type: "u32", count: CELLS * COUNT_MAX }),
        total: trommel.buffer({ type: "u32", count: 1 }),
    };
}

// The source cell of every output, as the device says.
async function deviceSources(buffers, counts, mode) {
    const { trommel, flags, source, total } = buffers;
    if (mode === "expand") {
        buffers.counts.write(Uint32Array.from(counts));
        trommel.expand({ counts: buffers.counts, source, total });
    } else {
        flags.write(counts);
        trommel.compact({ keep: { flags }, indices: source, count: total, method: "histopyramid" });
    }
    const [count] = await total.readAsync();
    return (await source.readAsync()).subarray(0, count);
}

function isSame(a, b) {
    return a.length === b.length && a.every((value, i) => value === b[i]);
}

function enlarge(counts) {
    const width = COLUMNS * ENLARGED,
        flags = new Uint8Array(CELLS * ENLARGED * ENLARGED);
    for (let y = 0; y < ROWS * ENLARGED; y++)
        for (let column = 0; column < COLUMNS; column++)
            if (counts[Math.floor(y / ENLARGED) * COLUMNS + column]) {
                const at = y * width + column * ENLARGED;
                flags.fill(1, at, at + ENLARGED);
            }
    return flags;
}

async function drawLibraryPicture(counts, canvas) {
    const { createPapers, pyramidPicture } = await import("../lib/papers.js");
    const trommel = await createPapers(document.createElement("canvas"), { engine: "gl" });
    try {
        const kernel = trommel.kernel("bool is_kept(uint flag) { return flag != 0u; }");
        const picture = pyramidPicture(trommel, { kernel, in: trommel.buffer(enlarge(counts)) });
        canvas.width = picture.width;
        canvas.height = picture.height;
        const image = new ImageData(picture.data, picture.width, picture.height);
        canvas.getContext("2d").putImageData(image, 0, 0);
        canvas.hidden = false;
    } finally {
        trommel.close();
    }
}

// ---- the check ----------------------------------------------------------------------------------

// expect(pyramid, mode) says what is on the page; soon() compares it when painting pauses; show() when
// the panel is opened.
export function createCheck(app, line, picturePart) {
    let expected = null,
        buffers = null,
        timer = 0,
        isShown = false;

    async function instance() {
        const trommel = await app.trommel;
        if (buffers?.trommel !== trommel)
            buffers = trommel.isLost || trommel.isClosed ? null : buffersOn(trommel);
        return buffers;
    }

    function say(text, state) {
        line.textContent = text;
        line.dataset.state = state;
    }

    async function compare() {
        const { pyramid, mode } = expected;
        const here = await instance();
        if (!here) {
            say("The device is away; the comparison waits for it.", "waiting");
            return;
        }
        const { trommel } = here;
        const got = await deviceSources(here, pyramid.counts, mode);
        if (expected.pyramid !== pyramid) return; // painted meanwhile; another comparison follows
        const where = trommel.engine === "gl" ? `WebGL, ${trommel.path} path` : "the CPU engine";
        const what = mode === "expand" ? "expansion" : "compaction";
        const isSquares = pyramid.kind === "squares";
        if (isSame(got, isSquares ? sources(pyramid).sort() : sources(pyramid)))
            say(
                `Compared with the library: ${what} on ${where} gives the same ${pyramid.total} ` +
                    `${pyramid.total === 1 ? "output" : "outputs"} in ${isSquares ? "the order of their rows" : "the same order"}.`,
                "same",
            );
        else
            say(
                `The library's ${what} on ${where} gives other outputs (${got.length}, here ` +
                    `${pyramid.total}). That is a mistake; please report it.`,
                "different",
            );
        picturePart.hidden = trommel.engine !== "gl" || trommel.path !== "integer";
    }

    function start() {
        timer = 0;
        compare().catch((error) => say(`Not compared: ${error.message}`, "failed"));
    }

    picturePart.innerHTML = PICTURE_MARKUP;
    const canvas = picturePart.querySelector("canvas");
    picturePart.querySelector(".draw").addEventListener("click", async () => {
        try {
            await drawLibraryPicture(expected.pyramid.counts, canvas);
        } catch (error) {
            app.message(error.message, "error");
        }
    });

    const check = {
        expect(pyramid, mode) {
            if (expected?.pyramid.counts !== pyramid.counts || expected.mode !== mode) say("", "waiting");
            expected = { pyramid, mode };
        },
        soon() {
            clearTimeout(timer);
            if (isShown) timer = setTimeout(start, DELAY);
        },
        show() {
            isShown = true;
            check.soon();
        },
    };
    return check;
}
