import { Trommel } from "trommel";

const t = await Trommel.create();
// An octahedron, smoothed by Loop's scheme.
const positions = new Float32Array([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1]);
const indices = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
const smooth = t.subdivider({ positions, indices: new Uint32Array(indices) });
const all = smooth.uniform({ levels: 5, limit: true, normals: true });
// Only where it curves:
const few = smooth.adaptive({ criterion: "distance", threshold: 0.002, normals: true });
console.log(`${all.triangleCount} triangles, or ${few.triangleCount} that are as good to 0.002`);
console.log(`${t.saveMesh({ ...few, values: null }, "ply").length} bytes of PLY`);
t.close();
