// Makes meshes beside the page by the library's CPU engine (host_surface.js): {volume, field or flood, surface}, of a
// soup, whose corners go to the page as they are drawn. volume and field are as Trommel.surface takes them; a volume is
// sent once, and stands for the later ones that have none; its meshes have low and high, their extent, and with
// surface.allLabels marks, a label a triangle, with surface.isovalues parts. flood: {seconds, grid}, by which the flood goes on. Answers
// {positions, normals, vertexCount, triangleCount, seconds}, or {error}; {ask: name, ...} by {answer} or {error, isAnswer}:
// "flood" by the flood's state, "pick" as Picking.hit (tree_pick.js) answers.
import { Trommel } from "../trommel/surface.js";
import { extent } from "./corners.js";
import { Picking } from "./tree_pick.js";

// One thread: its files are those that the page loads anyway, and the first mesh is what counts.
const trommel = Trommel.create(null, { engine: "cpu", threads: 1 });
let volume = null;
let flood = null; // promise of {t, particles, grid, samples}

async function beginFlood() {
    const [{ Flood }, { createPapers }] = await Promise.all([import("./flood.js"), import("./papers.js")]);
    const t = await createPapers(null, { engine: "cpu" });
    return { t, particles: await Flood.create(t), samples: null };
}

async function floodSurface({ seconds, grid }, surface) {
    flood ??= beginFlood();
    const own = await flood, count = grid.dims.reduce((product, n) => product * n, 1);
    if (own.samples?.count !== count) {
        own.samples?.destroy();
        own.samples = own.t.buffer({ type: "f32", count, label: "field" });
        own.particles.evaluate(own.samples, grid);
    }
    own.particles.advance(seconds, own.samples, grid);
    return own.t.surface({ ...grid, data: own.samples }, surface);
}

// Which label each triangle is of.
function marksOf(parts, count) {
    const marks = new Uint8Array(count);
    for (const { value, triangleFirst, triangleCount } of parts)
        marks.fill(value, triangleFirst, triangleFirst + triangleCount);
    return marks;
}

// Trees are the whole package's.
async function beginPicking() {
    const { Trommel: Whole } = await import("../trommel/index.js");
    return new Picking(await Whole.create(null, { engine: "cpu", threads: 1 }));
}

let picking = null;
const answers = {
    flood: async () => flood && (await flood).particles.state(),
    pick: async (what) => (await (picking ??= beginPicking())).hit(what),
};

async function meshOf(data) {
    const surface = { ...data.surface, soup: true };
    if (data.flood)
        return floodSurface(data.flood, surface);
    volume = data.volume ?? (data.field ? null : volume);
    return (await trommel).surface(data.field ? { field: data.field } : volume, surface);
}

onmessage = async ({ data }) => {
    try {
        if (data.ask) {
            postMessage({ answer: await answers[data.ask](data) });
            return;
        }
        const start = performance.now();
        const { positions, normals, vertexCount, triangleCount, parts } = await meshOf(data);
        const seconds = (performance.now() - start) / 1000, marks = data.surface.allLabels ? marksOf(parts, triangleCount) : null;
        postMessage({ positions, normals, vertexCount, triangleCount, marks, parts: data.surface.isovalues ? parts : null, ...(volume && triangleCount ? extent(positions) : {}), seconds },
                    [positions.buffer, ...(normals ? [normals.buffer] : []), ...(marks ? [marks.buffer] : [])]);
    } catch (error) {
        postMessage({ error: error.message, isAnswer: Boolean(data.ask) });
    }
};
