import { Trommel } from "trommel";

const t = await Trommel.create();
// 200 points on a knot become a field of at most 64 samples a side, and that a surface.
const points = new Float32Array(600);
for (let i = 0; i < 200; i++) {
    const a = (2 * Math.PI * i) / 200, r = 2 + Math.cos(3 * a);
    points.set([r * Math.cos(2 * a), r * Math.sin(2 * a), Math.sin(3 * a)], 3 * i);
}
const field = { points, radius: 0.6, resolution: 64 };
const mesh = t.surface({ field }, { iso: 0.3, normals: "central" });
console.log(`${mesh.vertexCount} vertices, ${mesh.triangleCount} triangles`);
console.log(`${t.saveMesh(mesh, "glb").length} bytes of GLB for any viewer`);
t.close();
