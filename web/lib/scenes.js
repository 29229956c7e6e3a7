// Moving point clouds, for the surface panel. Each is made by create(seed), moves on by step(seconds),
// and is the same for the same seed and the same steps. Points stay within the box from -1 to 1, y up.
// Those that are a function of time have at(seconds), too.
//     count, positions (x y z of each), radii (of each, or null: all have radius), radius
import { FLOOD_AT_REST } from "./flood.js";

// Numbers in [0, 1). After: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators. 2014,
// in the 32-bit form known as mulberry32.
function randomNumbers(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let x = Math.imul(state ^ (state >>> 15), state | 1);
        x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
        return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
    };
}

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const mix = (a, b, t) => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const turned = ([x, y, z], angle) => {
    const c = Math.cos(angle), s = Math.sin(angle);
    return [c * x + s * z, y, c * z - s * x];
};

// ---- swarm: birds on one path, each a little late, that turn and breathe together ---------------------

const SWARM_COUNT = 1400;
const SWARM_LAG = 2.6; // seconds between the first and the last

function swarm(seed) {
    const random = randomNumbers(seed);
    const birds = Array.from({ length: SWARM_COUNT }, () => {
        // Within a ball, dense towards its middle.
        const height = 2 * random() - 1, angle = 2 * Math.PI * random(), flat = Math.sqrt(1 - height * height);
        const out = 0.4 * Math.pow(random(), 0.5);
        return {
            lag: SWARM_LAG * Math.pow(random(), 1.3),
            offset: [out * flat * Math.cos(angle), out * height, out * flat * Math.sin(angle)],
            phase: 2 * Math.PI * random(),
            rate: 1.5 + 2 * random(),
        };
    });
    const made = { count: SWARM_COUNT, positions: new Float32Array(3 * SWARM_COUNT), radii: null, radius: 0.105, time: 8 };
    made.step = (seconds) => {
        made.time += seconds;
        birds.forEach(({ lag, offset, phase, rate }, i) => {
            const t = made.time - lag;
            const breath = 0.62 + 0.38 * Math.sin(0.83 * t) * Math.sin(0.31 * t + 1);
            const stretched = [offset[0] * breath, offset[1] * (1.45 - breath), offset[2] * breath];
            const at = turned(stretched, 1.1 * t + 2 * offset[1]);
            const flutter = 0.018 * Math.sin(rate * made.time + phase);
            const p = made.positions;
            p[3 * i] = 0.46 * Math.sin(0.61 * t) + 0.08 * Math.sin(1.9 * t + 1) + at[0] + flutter;
            p[3 * i + 1] = 0.3 * Math.sin(0.97 * t + 0.6) + 0.08 * Math.cos(1.7 * t) + at[1];
            p[3 * i + 2] = 0.46 * Math.cos(0.53 * t + 0.3) + at[2] - flutter;
        });
    };
    made.at = (seconds) => {
        made.time = seconds;
        made.step(0);
    };
    made.step(0);
    return made;
}

// ---- dancer: a figure of balls along its limbs ------------------------------------------------------------

const BEAT = 2 * Math.PI * 0.62; // radians a second: two steps to a turn of the phase

// The joint between a and b where two bones meet, bent towards pole. Where b is out of reach the limb is
// straight and ends short of it: [joint, end].
function bend(a, b, upper, lower, pole) {
    const way = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const far = length(way) || 1e-6;
    const along = scale(way, 1 / far);
    const reach = Math.min(far, 0.999 * (upper + lower));
    const near = (reach * reach + upper * upper - lower * lower) / (2 * reach);
    const off = Math.sqrt(Math.max(0, upper * upper - near * near));
    const slip = pole[0] * along[0] + pole[1] * along[1] + pole[2] * along[2];
    const aside = [pole[0] - slip * along[0], pole[1] - slip * along[1], pole[2] - slip * along[2]];
    const joint = add(add(a, scale(along, near)), scale(aside, off / (length(aside) || 1)));
    return [joint, add(a, scale(along, reach))];
}

// Where her trunk is at a time, and how she faces.
function trunk(t) {
    const beat = BEAT * t;
    const sway = Math.sin(beat);
    const bounce = Math.abs(Math.cos(beat));
    const facing = 0.55 * Math.sin(0.25 * beat) + 0.35 * t;
    const place = [0.13 * Math.sin(0.37 * t), 0, 0.13 * Math.cos(0.41 * t)];
    const pelvis = [0.075 * sway, -0.12 + 0.045 * bounce, 0.03 * Math.sin(0.5 * beat)];
    const lean = 0.16 * Math.sin(0.5 * beat + 0.7);
    const chest = add(pelvis, [-0.05 * sway + 0.18 * lean, 0.35, 0.05 * Math.sin(beat + 1)]);
    const neck = add(chest, [0.3 * lean, 0.15, 0.015]);
    const head = add(neck, [0.1 * lean + 0.03 * sway, 0.115, 0.03 + 0.02 * Math.sin(beat)]);
    return { beat, pelvis, chest, neck, head, at: (p) => add(place, turned(p, facing)) };
}

// side is 1 for the left and -1 for the right.
function arm({ beat, chest }, side) {
    const wave = 0.5 * beat + (side > 0 ? 0 : 1.9);
    const hand = add(chest, [
        side * (0.3 + 0.16 * Math.sin(wave + 1.2)),
        0.2 + 0.34 * Math.sin(wave),
        0.2 + 0.2 * Math.cos(wave * 1.5),
    ]);
    const shoulder = add(chest, [side * 0.155, 0.09, 0]);
    const [elbow, wrist] = bend(shoulder, hand, 0.26, 0.26, [side * 0.6, -0.5, -0.6]);
    return { shoulder, elbow, wrist, fingers: add(wrist, scale(add(wrist, scale(elbow, -1)), 0.22)) };
}

function leg({ beat, pelvis }, side) {
    const lifted = Math.max(0, side * Math.sin(beat));
    // Every fourth step is a high one.
    const wave = Math.max(0, Math.sin(0.25 * beat + (side > 0 ? 0 : 2.2)));
    const high = wave * wave * wave;
    const foot = [side * (0.13 + 0.2 * high * lifted), -0.93 + (0.1 + 0.42 * high) * lifted, (0.1 + 0.3 * high) * lifted - 0.02];
    const hip = add(pelvis, [side * 0.085, -0.05, 0]);
    const [knee, ankle] = bend(hip, foot, 0.4, 0.4, [side * 0.25, 0, 1]);
    return { hip, knee, ankle, toe: add(ankle, [side * 0.03, -0.02, 0.11]) };
}

// Her limbs at a time: from, to, the balls' radius there and here, and how many.
function bones(t) {
    const body = trunk(t);
    const { pelvis, chest, neck, head } = body;
    const arms = [arm(body, 1), arm(body, -1)], legs = [leg(body, 1), leg(body, -1)];
    const waist = mix(pelvis, chest, 0.5);
    return [
        [pelvis, waist, 0.165, 0.125, 7],
        [waist, chest, 0.125, 0.165, 7],
        [arms[0].shoulder, arms[1].shoulder, 0.115, 0.115, 8],
        [legs[0].hip, legs[1].hip, 0.155, 0.155, 5],
        [chest, neck, 0.12, 0.08, 4],
        [neck, head, 0.085, 0.1, 5],
        [head, add(head, [0, 0.06, 0.006]), 0.135, 0.14, 4],
        ...arms.flatMap(({ shoulder, elbow, wrist, fingers }) => [
            [shoulder, elbow, 0.1, 0.082, 13],
            [elbow, wrist, 0.082, 0.062, 13],
            [wrist, fingers, 0.07, 0.055, 4],
        ]),
        ...legs.flatMap(({ hip, knee, ankle, toe }) => [
            [hip, knee, 0.155, 0.105, 16],
            [knee, ankle, 0.105, 0.07, 16],
            [ankle, toe, 0.075, 0.065, 5],
        ]),
    ].map(([from, to, ...rest]) => [body.at(from), body.at(to), ...rest]);
}

function dancer(seed) {
    const start = 20 * randomNumbers(seed)();
    const count = bones(0).reduce((sum, bone) => sum + bone[4], 0);
    const made = { count, positions: new Float32Array(3 * count), radii: new Float32Array(count), radius: 0, time: start };
    made.step = (seconds) => {
        made.time += seconds;
        let i = 0;
        const put = (at, radius) => {
            made.positions.set(at, 3 * i);
            made.radii[i++] = radius;
        };
        for (const [from, to, first, last, balls] of bones(made.time))
            for (let k = 0; k < balls; k++) {
                const t = k / (balls - 1);
                put(mix(from, to, t), first + (last - first) * t);
            }
    };
    made.at = (seconds) => {
        made.time = seconds;
        made.step(0);
    };
    made.step(0);
    return made;
}

// ---- water in a box that is tilted to and fro ------------------------------------------------------------
// Positions are corrected until the density near each particle is the water's. After: Macklin, Mueller:
// Position Based Fluids. 2013.

const SPACING = 0.09;          // between particles at rest
const REACH = 2.0 * SPACING;   // of a particle's kernel
const TANK = [0.9, 0.9, 0.46]; // half sides
const WATER_STEP = 1 / 60;     // seconds
const ITERATIONS = 3;
const RELAXATION = 90;         // softens the constraint where neighbours are few
const VISCOSITY = 0.045;
const GRAVITY = 5.5;
const SPEED_LIMIT = 0.4 * REACH / WATER_STEP;

function water(seed) {
    const random = randomNumbers(seed);
    const start = [];
    for (let y = -TANK[1] + SPACING / 2; y < 0.28; y += SPACING)
        for (let z = -TANK[2] + SPACING / 2; z < TANK[2]; z += SPACING)
            for (let x = -TANK[0] + SPACING / 2; x < -0.02; x += SPACING)
                start.push(x, y, z);
    const count = start.length / 3;
    const at = Float32Array.from(start, (v) => v + 0.2 * SPACING * (random() - 0.5));
    const before = new Float32Array(at), speed = new Float32Array(3 * count), smooth = new Float32Array(3 * count);
    const push = new Float32Array(3 * count), lambda = new Float32Array(count);
    const side = TANK.map((half) => Math.ceil((2 * half) / REACH) + 1);
    const first = new Uint32Array(side[0] * side[1] * side[2] + 1), order = new Uint32Array(count), cell = new Uint32Array(count);
    // Pairs closer than REACH, each once.
    let pairs = new Uint32Array(2 * 64 * count), pairCount = 0;

    const REACH_2 = REACH * REACH;
    const POLY6 = 315 / (64 * Math.PI * REACH ** 9), SPIKY = 45 / (Math.PI * REACH ** 6);
    const kernel = (r2) => {
        const d = REACH_2 - r2;
        return POLY6 * d * d * d;
    };
    // What the kernel adds up to in a regular lattice.
    let rest = kernel(0);
    for (let x = -2; x <= 2; x++)
        for (let y = -2; y <= 2; y++)
            for (let z = -2; z <= 2; z++) {
                const r2 = (x * x + y * y + z * z) * SPACING * SPACING;
                rest += r2 > 0 && r2 < REACH_2 ? kernel(r2) : 0;
            }

    function findPairs() {
        first.fill(0);
        for (let i = 0; i < count; i++) {
            let index = 0;
            for (let axis = 2; axis >= 0; axis--) {
                const place = Math.floor((at[3 * i + axis] + TANK[axis]) / REACH);
                index = index * side[axis] + Math.min(side[axis] - 1, Math.max(0, place));
            }
            cell[i] = index;
            first[index + 1]++;
        }
        for (let c = 1; c < first.length; c++)
            first[c] += first[c - 1];
        const next = first.slice(0, -1);
        for (let i = 0; i < count; i++)
            order[next[cell[i]]++] = i;

        pairCount = 0;
        for (let i = 0; i < count; i++) {
            const cx = cell[i] % side[0], cy = Math.floor(cell[i] / side[0]) % side[1], cz = Math.floor(cell[i] / (side[0] * side[1]));
            for (let z = Math.max(0, cz - 1); z <= Math.min(side[2] - 1, cz + 1); z++)
                for (let y = Math.max(0, cy - 1); y <= Math.min(side[1] - 1, cy + 1); y++) {
                    const row = (z * side[1] + y) * side[0];
                    const end = first[row + Math.min(side[0] - 1, cx + 1) + 1];
                    for (let k = first[row + Math.max(0, cx - 1)]; k < end; k++) {
                        const j = order[k];
                        if (j <= i)
                            continue;
                        const dx = at[3 * i] - at[3 * j], dy = at[3 * i + 1] - at[3 * j + 1], dz = at[3 * i + 2] - at[3 * j + 2];
                        if (dx * dx + dy * dy + dz * dz >= REACH_2)
                            continue;
                        if (2 * pairCount + 2 > pairs.length) {
                            const more = new Uint32Array(2 * pairs.length);
                            more.set(pairs);
                            pairs = more;
                        }
                        pairs[2 * pairCount] = i;
                        pairs[2 * pairCount++ + 1] = j;
                    }
                }
        }
    }

    const density = new Float32Array(count), gradient = new Float32Array(3 * count), squares = new Float32Array(count);

    function correct() {
        density.fill(kernel(0));
        gradient.fill(0);
        squares.fill(0);
        for (let k = 0; k < pairCount; k++) {
            const i = 3 * pairs[2 * k], j = 3 * pairs[2 * k + 1];
            const dx = at[i] - at[j], dy = at[i + 1] - at[j + 1], dz = at[i + 2] - at[j + 2];
            const r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= REACH_2)
                continue;
            const w = kernel(r2), r = Math.sqrt(r2) + 1e-6;
            const slope = (-SPIKY * (REACH - r) * (REACH - r)) / (r * rest);
            density[i / 3] += w;
            density[j / 3] += w;
            const gx = slope * dx, gy = slope * dy, gz = slope * dz, g2 = gx * gx + gy * gy + gz * gz;
            gradient[i] += gx, gradient[i + 1] += gy, gradient[i + 2] += gz;
            gradient[j] -= gx, gradient[j + 1] -= gy, gradient[j + 2] -= gz;
            squares[i / 3] += g2;
            squares[j / 3] += g2;
        }
        for (let i = 0; i < count; i++) {
            const own = gradient[3 * i] * gradient[3 * i] + gradient[3 * i + 1] * gradient[3 * i + 1] +
                        gradient[3 * i + 2] * gradient[3 * i + 2];
            // Too thin is no fault: water has a surface.
            lambda[i] = -Math.max(0, density[i] / rest - 1) / (squares[i] + own + RELAXATION);
        }
        push.fill(0);
        for (let k = 0; k < pairCount; k++) {
            const a = pairs[2 * k], b = pairs[2 * k + 1], i = 3 * a, j = 3 * b;
            const dx = at[i] - at[j], dy = at[i + 1] - at[j + 1], dz = at[i + 2] - at[j + 2];
            const r2 = dx * dx + dy * dy + dz * dz;
            if (r2 >= REACH_2)
                continue;
            const r = Math.sqrt(r2) + 1e-6;
            if (lambda[a] + lambda[b] === 0)
                continue;
            const slope = ((lambda[a] + lambda[b]) * -SPIKY * (REACH - r) * (REACH - r)) / (r * rest);
            push[i] += slope * dx, push[i + 1] += slope * dy, push[i + 2] += slope * dz;
            push[j] -= slope * dx, push[j + 1] -= slope * dy, push[j + 2] -= slope * dz;
        }
        for (let v = 0; v < 3 * count; v++)
            at[v] += push[v];
        stayInside();
    }

    function stayInside() {
        for (let v = 0; v < 3 * count; v++) {
            const wall = TANK[v % 3] - 0.35 * SPACING;
            at[v] = Math.min(wall, Math.max(-wall, at[v]));
        }
    }

    function advance() {
        made.time += WATER_STEP;
        const tilt = 0.62 * Math.sin(1.05 * made.time), nod = 0.22 * Math.sin(0.71 * made.time);
        const pull = [GRAVITY * Math.sin(tilt), -GRAVITY * Math.cos(tilt), GRAVITY * Math.sin(nod)];
        before.set(at);
        for (let v = 0; v < 3 * count; v++) {
            speed[v] += pull[v % 3] * WATER_STEP;
            speed[v] = Math.min(SPEED_LIMIT, Math.max(-SPEED_LIMIT, speed[v]));
            at[v] += speed[v] * WATER_STEP;
        }
        stayInside();
        findPairs();
        for (let k = 0; k < ITERATIONS; k++)
            correct();
        for (let v = 0; v < 3 * count; v++)
            speed[v] = (at[v] - before[v]) / WATER_STEP;
        // Neighbours drag one another along.
        smooth.fill(0);
        for (let k = 0; k < pairCount; k++) {
            const i = 3 * pairs[2 * k], j = 3 * pairs[2 * k + 1];
            for (let axis = 0; axis < 3; axis++) {
                const share = VISCOSITY * (speed[j + axis] - speed[i + axis]);
                smooth[i + axis] += share;
                smooth[j + axis] -= share;
            }
        }
        for (let v = 0; v < 3 * count; v++)
            speed[v] += 0.4 * smooth[v];
    }

    const made = { count, positions: at, radii: null, radius: 2.3 * SPACING, time: 0, owed: 0 };
    made.step = (seconds) => {
        // At most two steps a call: on a slow machine water flows slowly instead of halting the page.
        made.owed = Math.min(made.owed + seconds, 2 * WATER_STEP);
        for (; made.owed >= WATER_STEP; made.owed -= WATER_STEP)
            advance();
    };
    return made;
}

// What the panel offers: kernel and isovalue suit the scene; tint is a colour of the surface, as CSS custom property;
// ground is where its shadow falls. The flood is simulated where its surface is made (flood.js).
export const scenes = [
    { id: "dancer", title: "Dancer", create: dancer, kernel: "metaball", iso: 0.34, tint: "--clay", ground: -0.985 },
    { id: "swarm", title: "Swarm", create: swarm, kernel: "wendland", iso: 0.32, tint: "--plum", ground: -0.985 },
    { id: "water", title: "Water", create: water, kernel: "wendland", iso: 0.75, tint: "--water", ground: -0.985 },
    { id: "flood", title: "Flood", isFlood: true, iso: 0.4 * FLOOD_AT_REST, tint: "--water" },
];
