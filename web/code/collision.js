import { Trommel } from "trommel";

const t = await Trommel.create();
const n = 48, data = new Float32Array(n ** 3), middle = (n - 1) / 2;
for (let i = 0; i < data.length; i++) {
    const [x, y, z] = [i % n, Math.floor(i / n) % n, Math.floor(i / n ** 2)];
    data[i] = 20 - Math.hypot(x - middle, y - middle, z - middle);
}
const ball = t.tree(t.surface({ dims: [n, n, n], data }));
const right = (x) => new Float32Array([1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0]); // a pose
console.log(`${t.collide(ball, ball, { poses: right(30.3) }).count} pairs of triangles meet`);
const [{ distance }] = t.distance(ball, ball, { poses: right(60) });
console.log(`${distance.toFixed(2)} apart, further off; ${t.collide(ball).count} within one`);
t.close();
