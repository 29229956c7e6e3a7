// Finds the triangles of two meshes, or of one, that meet, beside the page, by the library's CPU engine.
import { Trommel } from "../trommel/index.js";
import { answerCalls } from "./remote.js";
import { hitOf } from "./tree_pick.js";

const trommel = Trommel.create(null, { engine: "cpu", threads: 1 });
const trees = { a: null, b: null };
let found = new Uint32Array(0); // the last pairs
let isAlone = false;            // they are a's own

// Which triangles of the other mesh, or of the same, meet that one, the first few, and how many.
function partnersOf({ side, triangle }) {
    const partners = [];
    for (const own of isAlone ? [0, 1] : [side === "a" ? 0 : 1])
        for (let i = 0; i < found.length; i += 4)
            if (found[i + own] === triangle)
                partners.push(found[i + 1 - own]);
    return { count: partners.length, first: partners.slice(0, 4) };
}

answerCalls({
    // A mesh file: {positions, indices, ...}, as Trommel.loadMesh gives it.
    async load({ bytes, name }) {
        return (await trommel).loadMesh(bytes, name, { memoryLimit: 2 ** 28 });
    },
    // Makes a mesh that of side "a" or "b".
    async mesh({ side, positions, indices }) {
        const t = await trommel;
        const tree = t.tree({ positions, indices }, { skipBroken: true });
        trees[side]?.destroy();
        trees[side] = tree;
        return { brokenCount: tree.brokenCount };
    },
    // What rays meet first, each mesh's in its frame and all of one length.
    async pick(rays) {
        await trommel;
        const hits = Object.keys(rays).map((side) => ({ side, ...(hitOf(trees[side], rays[side]) ?? { t: Infinity }) }));
        const hit = hits.reduce((first, one) => (one.t < first.t ? one : first));
        return hit.t < Infinity ? { ...hit, partners: partnersOf(hit) } : null;
    },
    // With b in a pose, or without one of a with itself: which triangles meet another (255, else 0), the figures, and of
    // the picked triangle {side, triangle} the partners.
    async collide({ pose, picked }) {
        const t = await trommel, { a, b } = trees;
        const start = performance.now();
        const { pairs, count, classCounts, stepPairs, tested, unsure } = pose ? t.collide(a, b, { poses: pose }) : t.collide(a);
        const seconds = (performance.now() - start) / 1000;
        found = pairs;
        isAlone = !pose;
        const marksA = new Uint8Array(a.triangleCount), marksB = pose ? new Uint8Array(b.triangleCount) : marksA;
        for (let i = 0; i < pairs.length; i += 4)
            marksA[pairs[i]] = marksB[pairs[i + 1]] = 255;
        return { marksA, marksB, count, classCounts, stepPairs, tested, unsure, seconds, partners: picked && partnersOf(picked) };
    },
});
