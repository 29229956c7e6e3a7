import { Trommel } from "trommel";

const t = await Trommel.create(null, { threads: 1 });
const n = 128, data = new Float32Array(n ** 3), at = (i) => (2 * i) / (n - 1) - 1;
const wave = (x) => 0.06 * Math.sin(11 * x);
for (let i = 0; i < data.length; i++) {
    const [x, y, z] = [at(i % n), at(Math.floor(i / n) % n), at(Math.floor(i / n ** 2))];
    data[i] = 0.66 - Math.hypot(x, y, z) + wave(x) + wave(y) + wave(z);
}
const start = performance.now();
const mesh = t.surface({ dims: [n, n, n], data }, { iso: 0, normals: "central" });
console.log(`${mesh.triangleCount} triangles in ${(performance.now() - start).toFixed(0)} ms`);
t.close();
