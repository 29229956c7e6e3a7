// Subdivides a mesh beside the page, by the library's CPU engine.
import { cornersOf } from "./corners.js";
import { Trommel } from "../trommel/index.js";
import { answerCalls } from "./remote.js";
import { Picking } from "./tree_pick.js";

const trommel = Trommel.create(null, { engine: "cpu", threads: 1 });
let subdivider = null;
const picking = new Picking(trommel);

// What the page draws, three corners a triangle; levels: of each triangle, or null where all have one.
function drawn({ positions, normals, indices, origins, ...told }, seconds) {
    const levels = origins ? Uint8Array.from({ length: origins.length / 2 }, (_, t) => origins[2 * t + 1]) : null;
    return { positions: cornersOf(positions, indices), normals: cornersOf(normals, indices), levels, ...told, seconds };
}

answerCalls({
    async load({ bytes, name }) {
        return (await trommel).loadMesh(bytes, name, { memoryLimit: 2 ** 28 });
    },
    async mesh(mesh) {
        const t = await trommel;
        const next = t.subdivider(mesh, { fix: true });
        subdivider?.destroy();
        subdivider = next;
        return { triangleCount: next.triangleCount };
    },
    pick: (what) => picking.hit(what),
    async uniform({ levels, limit }) {
        await trommel;
        const start = performance.now();
        const mesh = subdivider.uniform({ levels, limit, normals: true });
        return drawn(mesh, (performance.now() - start) / 1000);
    },
    async adaptive({ criterion, threshold, camera, maxDepth, budget }) {
        await trommel;
        const start = performance.now();
        const mesh = subdivider.adaptive({ criterion, threshold, camera, maxDepth, budget, normals: true, origins: true });
        return drawn(mesh, (performance.now() - start) / 1000);
    },
});
