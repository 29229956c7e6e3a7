// The papers' programs (bench/papers) and kernels compiled ahead, which the package has not: a WebAssembly module of
// the page's own, the library's with these functions besides.
import { INTERNAL, Trommel } from "../trommel/index.js";

const BASE = new URL("../trommel/papers/", import.meta.url);

// As in papers_filters of bench/papers/papers.c.
const FILTERS = [
    "one-fetch", "three-fetches", "copied-levels", "in-vertices", "scan-search", "search-passes", "bitonic",
];

// As Trommel.create, of one thread.
export function createPapers(target, options = {}) {
    return Trommel.create(target, { ...options, base: BASE, threads: 1 });
}

// A kernel that the module has compiled, for the CPU engine.
export function compiledKernel(trommel, name) {
    const i = trommel[INTERNAL];
    i.scope(() => i.call("page_kernel", { name: i.stackText(name) }));
    return { name, [INTERNAL]: { at: i.reply("kernel"), run: true, inside: i } };
}

// name: one of FILTERS. u32 elements; kernel: of one of them.
export function filter(trommel, name, { kernel, params, in: from, out, count }) {
    const i = trommel[INTERNAL];
    i.check();
    i.scope(() =>
        i.call("papers_filter", {
            method: FILTERS.indexOf(name),
            keep: i.descOf(name, "keep", { kernel, params, in: from }),
            out: i.handle(name, "out", out),
            counts: i.handle(name, "count", count),
        }),
    );
}

// Marching cubes of 2008 (Dyken et al.): room vertices of a soup at most, which go nowhere; count: u32.
export function surface(trommel, { volume, dims, iso, room, count }) {
    const i = trommel[INTERNAL], call = "papers.surface";
    i.check();
    i.call("papers_surface", {
        volume: i.handle(call, "volume", volume),
        ...i.vector(call, "dims", dims, 3, "dims"),
        iso,
        room,
        counts: i.handle(call, "count", count),
    });
}

// A compaction's HistoPyramid as a picture: a band for each level, the apex at the top. Waits.
export function pyramidPicture(trommel, { kernel, params, in: from }) {
    const i = trommel[INTERNAL], call = "papers.pyramidPicture";
    i.check();
    return i.scope(() => {
        const fields = { keep: i.descOf(call, "keep", { kernel, params, in: from }), count: from.count };
        i.call("papers_picture", fields);
        const width = i.reply("width"), height = i.reply("height"), size = 4 * width * height;
        const at = i.allocate(call, size);
        try {
            i.call("papers_picture", { ...fields, data: at });
            return { width, height, data: new Uint8ClampedArray(i.copyOut(at, "u8", size).buffer) };
        } finally {
            i.m._free(at);
        }
    });
}
