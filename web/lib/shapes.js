// Triangle meshes that the page brings along: {positions: Float32Array, indices: Uint32Array}, closed, wound
// counter-clockwise seen from outside, within the ball of radius 1 around the middle.

// A tube around a closed curve at(t), 0 <= t < 1, of a radius: around x along quads, in two triangles each.
function tube(at, radius, along, around) {
    const positions = new Float32Array(3 * along * around), indices = new Uint32Array(6 * along * around);
    const minus = (a, b) => a.map((x, k) => x - b[k]);
    const unit = (a) => a.map((x) => x / Math.hypot(...a));
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    for (let i = 0; i < along; i++) {
        const t = i / along, here = at(t);
        const forward = unit(minus(at(t + 1e-3), at(t - 1e-3)));
        // Seen from the curve's middle: no frame that turns with it would close.
        const side = unit(cross(forward, unit(here.map((x, k) => x + (k === 1 ? 1e-3 : 0)))));
        const up = cross(side, forward);
        for (let j = 0; j < around; j++) {
            const angle = (2 * Math.PI * j) / around, c = radius * Math.cos(angle), s = radius * Math.sin(angle);
            positions.set(here.map((x, k) => x + c * side[k] + s * up[k]), 3 * (i * around + j));
            const next = (i + 1) % along, beside = (j + 1) % around;
            const [a, b, d, e] = [i * around + j, next * around + j, i * around + beside, next * around + beside];
            indices.set([a, d, b, d, e, b], 6 * (i * around + j));
        }
    }
    return outward({ positions, indices });
}

// Turned inside out where its volume is negative.
function outward(mesh) {
    const { positions: p, indices } = mesh;
    let volume = 0;
    for (let t = 0; t < indices.length; t += 3) {
        const [a, b, c] = [3 * indices[t], 3 * indices[t + 1], 3 * indices[t + 2]];
        volume += p[a] * (p[b + 1] * p[c + 2] - p[b + 2] * p[c + 1]) + p[a + 1] * (p[b + 2] * p[c] - p[b] * p[c + 2]) +
            p[a + 2] * (p[b] * p[c + 1] - p[b + 1] * p[c]);
    }
    for (let t = 0; volume < 0 && t < indices.length; t += 3)
        [indices[t], indices[t + 1]] = [indices[t + 1], indices[t]];
    return mesh;
}

export function torus(along = 96, around = 48) {
    return tube((t) => [0.68 * Math.cos(2 * Math.PI * t), 0, 0.68 * Math.sin(2 * Math.PI * t)], 0.3, along, around);
}

// A curve that runs three times round the middle while it goes twice round the hole.
export function knot(along = 480, around = 24) {
    return tube((t) => {
        const a = 2 * Math.PI * t, r = 0.56 + 0.24 * Math.cos(3 * a);
        return [r * Math.cos(2 * a), 0.3 * Math.sin(3 * a), r * Math.sin(2 * a)];
    }, 0.13, along, around);
}

// A loop that meets itself, in the middle of the 8.
export const eight = (along = 240, around = 24) =>
    tube((t) => [0.72 * Math.sin(2 * Math.PI * t), 0.4 * Math.sin(4 * Math.PI * t), 0.1 * Math.cos(2 * Math.PI * t)], 0.14, along, around);

export function icosahedron() {
    const g = (1 + Math.sqrt(5)) / 2, r = Math.hypot(1, g);
    const corners = [];
    for (const s of [1, -1])
        for (const u of [g, -g])
            corners.push([0, s, u], [s, u, 0], [u, 0, s]);
    const positions = new Float32Array(corners.flat().map((x) => x / r));
    const indices = [];
    const far = (a, b) => Math.hypot(...[0, 1, 2].map((k) => corners[a][k] - corners[b][k])) < 2.1;
    for (let a = 0; a < 12; a++)
        for (let b = a + 1; b < 12; b++)
            for (let c = b + 1; c < 12; c++)
                if (far(a, b) && far(b, c) && far(c, a)) {
                    const [p, q, s] = [corners[a], corners[b], corners[c]];
                    const volume = p[0] * (q[1] * s[2] - q[2] * s[1]) + p[1] * (q[2] * s[0] - q[0] * s[2]) +
                        p[2] * (q[0] * s[1] - q[1] * s[0]);
                    indices.push(a, ...(volume > 0 ? [b, c] : [c, b]));
                }
    return { positions, indices: new Uint32Array(indices) };
}

// Each triangle of the icosahedron in 4^levels.
export function sphere(levels = 5) {
    let { positions, indices } = icosahedron();
    for (let level = 0; level < levels; level++) {
        const points = Array.from(positions), middles = new Map(), next = [];
        const middle = (a, b) => {
            const key = Math.min(a, b) * 0x4000000 + Math.max(a, b);
            if (!middles.has(key)) {
                const m = [0, 1, 2].map((k) => points[3 * a + k] + points[3 * b + k]), length = Math.hypot(...m);
                middles.set(key, points.length / 3);
                points.push(...m.map((x) => x / length));
            }
            return middles.get(key);
        };
        for (let t = 0; t < indices.length; t += 3) {
            const [a, b, c] = indices.subarray(t, t + 3), [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            next.push(a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca);
        }
        positions = new Float32Array(points);
        indices = new Uint32Array(next);
    }
    for (let i = 0; i < positions.length; i++)
        positions[i] *= 0.8;
    return { positions, indices };
}

// A box of corners, six of whose sides are drawn out to points, in triangles.
export function star() {
    const positions = [], indices = [];
    for (let corner = 0; corner < 8; corner++)
        positions.push(...[0, 1, 2].map((k) => ((corner >> k) & 1 ? 0.34 : -0.34)));
    for (let axis = 0; axis < 3; axis++)
        for (const side of [0, 1]) {
            const [u, v] = [(axis + 1) % 3, (axis + 2) % 3], base = side << axis;
            const ring = [base, base | (1 << u), base | (1 << u) | (1 << v), base | (1 << v)];
            positions.push(...[0, 1, 2].map((k) => (k === axis ? (side ? 1 : -1) : 0)));
            const tip = positions.length / 3 - 1;
            for (let k = 0; k < 4; k++)
                indices.push(...(side ? [ring[k], ring[(k + 1) % 4], tip] : [ring[(k + 1) % 4], ring[k], tip]));
        }
    return outward({ positions: new Float32Array(positions), indices: new Uint32Array(indices) });
}

// The frame of a cube of 3 x 3 x 3 cells: its edges stay, the middles of its sides and its own are left out.
export function cage() {
    const isSolid = (cell) => cell.every((c) => c >= 0 && c < 3) && cell.filter((c) => c === 1).length <= 1;
    const numbers = new Map(), positions = [], indices = [];
    const vertex = (at) => {
        const key = at.join();
        if (!numbers.has(key)) {
            numbers.set(key, positions.length / 3);
            positions.push(...at.map((x) => (x / 3) * 1.15 - 0.575));
        }
        return numbers.get(key);
    };
    for (let i = 0; i < 27; i++) {
        const cell = [i % 3, Math.floor(i / 3) % 3, Math.floor(i / 9)];
        for (let axis = 0; isSolid(cell) && axis < 3; axis++)
            for (const side of [0, 1]) {
                if (isSolid(cell.map((c, k) => (k === axis ? c + (side ? 1 : -1) : c))))
                    continue;
                const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
                const corner = (a, b) => {
                    const at = [...cell];
                    at[axis] += side;
                    at[u] += a;
                    at[v] += b;
                    return vertex(at);
                };
                const [p, q, r, s] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                indices.push(...(side ? [p, q, r, p, r, s] : [p, r, q, p, s, r]));
            }
    }
    return outward({ positions: new Float32Array(positions), indices: new Uint32Array(indices) });
}

// How a mesh comes into the ball of radius 1: x as scale * (x - middle).
export function fit({ positions, indices }) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const index of indices)
        for (let k = 0; k < 3; k++) {
            const x = positions[3 * index + k];
            if (!Number.isFinite(x))
                continue;
            low[k] = Math.min(low[k], x);
            high[k] = Math.max(high[k], x);
        }
    return { middle: low.map((x, k) => (x + high[k]) / 2), scale: 2 / Math.max(Math.hypot(...low.map((x, k) => high[k] - x)), 1e-30) };
}

// Brought there: a copy. place: says where a point of it was.
export function fitted({ positions, indices, origin = [0, 0, 0] }) {
    const { middle, scale } = fit({ positions, indices });
    return { positions: positions.map((x, i) => (x - middle[i % 3]) * scale), indices,
             place: (at) => at.map((x, k) => x / scale + middle[k] + origin[k]) };
}
