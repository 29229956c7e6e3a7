// Finds the triangles of two meshes that meet, beside the page, by the library's CPU engine.
import { Trommel } from "../trommel/index.js";
import { answerCalls } from "./remote.js";

const trommel = Trommel.create(null, { engine: "cpu", threads: 1 });
const trees = { a: null, b: null };

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
    // With b in a pose: which triangles meet one of the other mesh (1, else 0), and the figures.
    async collide({ pose }) {
        const t = await trommel, { a, b } = trees;
        const start = performance.now();
        const { pairs, count, classCounts, stepPairs, tested, unsure } = t.collide(a, b, { poses: pose });
        const seconds = (performance.now() - start) / 1000;
        const marks = { a: new Uint8Array(a.triangleCount), b: new Uint8Array(b.triangleCount) };
        for (let i = 0; i < pairs.length; i += 4)
            marks.a[pairs[i]] = marks.b[pairs[i + 1]] = 255;
        return { marksA: marks.a, marksB: marks.b, count, classCounts, stepPairs, tested, unsure, seconds };
    },
});
