// Whole objects go in, and carry what they mean: every call that takes a volume, points, a mesh or labels gets one that is
// far from 0, scaled, mirrored or numbered beyond 2^53, and gives what the same input gives near 0, scaled and mirrored
// by hand.
import { Trommel } from '../../../build/web/package/node.js';

const FAR = [4e6, 5e6, 100], SLOPE = 0.5, INTERCEPT = -1024, SIDE = 12;
const MIRRORED = [-1, 0, 0, 0, 1, 0, 0, 0, 1];

/* An NRRD of int16: a ball whose physical values go from low to high at its middle; as a file that says all. */
function nrrd({ slope = 1, origin = [0, 0, 0], direction = [1, 0, 0, 0, 1, 0, 0, 0, 1] }, data) {
    const axis = k => `(${[0, 3, 6].map(row => 0.5 * direction[row + k]).join(',')})`;
    const header = ['NRRD0004', 'type: int16', 'dimension: 3', `sizes: ${SIDE} ${SIDE} ${SIDE}`, 'endian: little', 'encoding: raw',
        'space dimension: 3', 'space units: "mm" "mm" "mm"', `space directions: ${[0, 1, 2].map(axis).join(' ')}`,
        `space origin: (${origin.join(',')})`].join('\n');
    return { bytes: Buffer.concat([Buffer.from(`${header}\n\n`), Buffer.from(data.buffer)]), slope };
}

/* Places of vertices, as numbers that do not depend on the mesh's origin, nor on where the volume lies. */
const places = (mesh, at = [0, 0, 0]) => Float64Array.from(mesh.positions, (x, k) => x + mesh.origin[k % 3] - at[k % 3]);

function near(assert, a, b, bound, what) {
    assert.equal(a.length, b.length, what);
    let worst = 0;
    for (let k = 0; k < a.length; k++)
        worst = Math.max(worst, Math.abs(a[k] - b[k]));
    assert.ok(worst <= bound, `${what}: ${worst} apart`);
}

export default async function (t) {
    const trommel = await Trommel.create(null, { threads: 1 });
    const physical = Float32Array.from({ length: SIDE ** 3 }, (_, i) => Math.round(60 - 20 * Math.hypot(
        i % SIDE - 5.3, Math.floor(i / SIDE) % SIDE - 5.6, Math.floor(i / SIDE / SIDE) - 5.8)));
    const grid = { dims: [SIDE, SIDE, SIDE], spacing: [0.5, 0.5, 0.5] };
    const ball = { ...grid, data: physical };
    const reference = trommel.surface(ball, { iso: 0.25 });
    const volume = trommel.examine(reference).volume;

    await t.test('a volume far from 0 has the same surface there', ({ assert }) => {
        const mesh = trommel.surface({ ...ball, origin: FAR }, { iso: 0.25 });
        assert.deepEqual(mesh.origin, FAR);
        assert.deepEqual(mesh.positions, reference.positions);
        assert.deepEqual(reference.origin, [0, 0, 0]);
        assert.deepEqual(trommel.examine(mesh).lower, trommel.examine(reference).lower.map((x, k) => x + FAR[k]));
        const given = trommel.surface({ ...ball, origin: FAR }, { iso: 0.25, positionOrigin: [4e6, 5e6, 0] });
        near(assert, places(given), places(mesh), 1e-4, 'with an origin of ours');
        const saved = trommel.loadMesh(trommel.saveMesh(mesh, 'ply'), 'a.ply');
        near(assert, places(saved), places(mesh), 1e-6, 'saved and loaded');
    });

    for (const slope of [SLOPE, -SLOPE])
        await t.test(`isovalues are physical: slope ${slope}, intercept ${INTERCEPT}`, ({ assert }) => {
            const scaled = { ...grid, data: Int16Array.from(physical, x => (x - INTERCEPT) / slope), slope, intercept: INTERCEPT };
            const mesh = trommel.surface(scaled, { iso: 0.25 });
            near(assert, places(mesh), places(reference), 1e-5, 'positions');
            near(assert, [trommel.examine(mesh).volume], [volume], 0.01, 'the volume, whose sign is the orientation');
            const both = trommel.surface(scaled, { isovalues: [0.25, 10.25] });
            assert.deepEqual(both.parts.map(part => part.value), [0.25, 10.25]);
            assert.deepEqual(trommel.cells(scaled, { iso: 0.25 }), trommel.cells(ball, { iso: 0.25 }));
            const [a, b] = [scaled, ball].map(one => trommel.suggestIso(one));
            near(assert, [a.iso, a.lower, a.upper], [b.iso, b.lower, b.upper], 0.6, 'Otsu');
            assert.ok(a.lower < a.upper);
            const left = trommel.surfaceOnDevice(scaled, { iso: 0.25 });
            assert.equal(left.vertexCount, reference.vertexCount);
            left.destroy();
        });

    await t.test('the default isovalue of 0 is physical, too, and a slope of 0 is refused', ({ assert }) => {
        const scaled = { ...grid, data: Int16Array.from(physical, x => (x - INTERCEPT) / SLOPE), slope: SLOPE, intercept: INTERCEPT - 0.25 };
        near(assert, places(trommel.surface(scaled)), places(reference), 1e-5, 'positions');
        assert.throws(() => trommel.surface({ ...ball, slope: 0 }), /slope is 0/);
    });

    await t.test('a file of a mirrored volume is its surface where it says', ({ assert }) => {
        const data = Int16Array.from(physical);
        const plain = trommel.loadVolume(nrrd({}, data).bytes, 'a.nrrd');
        const mirrored = trommel.loadVolume(nrrd({ origin: FAR, direction: MIRRORED }, data).bytes, 'b.nrrd');
        assert.ok(['', 'mm'].includes(mirrored.unit)); // '' from a reader that finds none
        const [a, b] = [plain, mirrored].map(one => trommel.surface(one, { iso: 0.25 }));
        near(assert, places(b, FAR).map((x, k) => (k % 3 ? x : -x)), places(a), 1e-5, 'positions');
        near(assert, [trommel.examine(b).volume], [trommel.examine(a).volume], 1e-5, 'orientation');
    });

    await t.test('labels are exact ids, or physical ones', ({ assert }) => {
        const ids = [720575940621234567n, 720575940621234568n];
        const data = BigUint64Array.from(physical, (x, i) => (x > 0 ? ids[Number(i % SIDE > 5)] : 0n));
        const small = { ...grid, data: Uint8Array.from(physical, (x, i) => (x > 0 ? 1 + Number(i % SIDE > 5) : 0)) };
        const expected = trommel.surface(small, { allLabels: true });
        const all = trommel.surface({ ...grid, data }, { allLabels: true });
        assert.deepEqual(all.parts.map(part => part.label), ids);
        assert.deepEqual(all.positions, expected.positions);
        const one = trommel.surface({ ...grid, data }, { labels: [ids[1]] });
        assert.deepEqual(one.parts.map(part => part.label), [ids[1]]);
        assert.deepEqual(one.indices, trommel.surface(small, { labels: [2] }).indices);
        const halved = { ...small, data: small.data.map(x => 2 * x), slope: 0.5 };
        assert.deepEqual(trommel.surface(halved, { allLabels: true }).parts.map(part => part.value), [1, 2]);
        assert.deepEqual(trommel.surface(halved, { labels: [2] }).positions, trommel.surface(small, { labels: [2] }).positions);
        assert.throws(() => trommel.surface(halved, { labels: [0.25] }), /label 0.25 is no value/);
    });

    await t.test('fields of points that are loaded, in every form', ({ assert }) => {
        const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0.5, 1, 0.25);
        const text = at => Buffer.from(Array.from({ length: 3 }, (_, i) => [0, 1, 2].map(k => positions[3 * i + k] + at[k]).join(' ')).join('\n'));
        const here = trommel.loadPoints(text([0, 0, 0]), 'a.xyz'), there = trommel.loadPoints(text(FAR), 'b.xyz');
        const options = { radius: 1.5, resolution: 16 };
        const [a, b] = [here, there].map(points => trommel.resolveField({ points, ...options }));
        near(assert, b.grid.origin.map((x, k) => x - FAR[k]), a.grid.origin, 1e-6, 'the grid');
        const [f, g] = [a, b].map(resolved => trommel.field(resolved).read());
        near(assert, f, g, 1e-5, 'the field');
        const [m, n] = [here, there].map(points => trommel.surface({ field: { points, ...options } }, { iso: a.iso }));
        near(assert, places(n, FAR), places(m), 1e-5, 'the surface');
        const out = trommel.buffer({ type: 'f32', count: f.length });
        trommel.field({ points: here, radius: 1.5, ...a.grid, out });
        assert.deepEqual(out.read(), f);
        const flat = trommel.field({ points: positions, radius: 1.5, ...a.grid });
        assert.deepEqual(flat.read(), f);
    });

    await t.test('a surface for a frame takes both forms of a grid', ({ assert }) => {
        const data = trommel.buffer({ type: 'f32', count: SIDE ** 3, data: physical });
        const counted = (options, more) => {
            const vertices = trommel.buffer({ type: 'f32x3', count: 4000 }), counts = trommel.buffer({ type: 'u32', count: 2 });
            const indices = trommel.buffer({ type: 'u32x3', count: 8000 });
            trommel.surfaceEnqueue({ iso: 0.25, ...options }, { vertices, indices, counts, ...more });
            return [...counts.read()];
        };
        const expected = [reference.vertexCount, reference.triangleCount];
        assert.deepEqual(counted({ volume: data, ...grid }), expected);
        assert.deepEqual(counted({ volume: data, grid }), expected);
        assert.deepEqual(counted({ volume: { ...grid, data } }), expected);
        assert.deepEqual(counted({ volume: { ...grid, data, slope: 2, intercept: 1 }, iso: 1.5 }), expected);
    });

    await t.test('trees ask and answer where their meshes are', ({ assert }) => {
        const at = (mesh, origin) => ({ ...mesh, origin });
        const plain = trommel.tree(reference), far = trommel.tree(at(reference, FAR));
        near(assert, far.lower.map((x, k) => x - FAR[k]), plain.lower, 1e-6, 'lower');
        const points = Float64Array.of(2.5, 2.75, 3, 0, 0, 0), moved = points.map((x, k) => x + FAR[k % 3]);
        assert.deepEqual(far.inside(moved), plain.inside(points));
        assert.deepEqual([...far.inside(moved)], [1, 0]);
        assert.deepEqual(far.inside({ positions: Float32Array.from(points), origin: FAR }), plain.inside(points));
        near(assert, far.signedDistance(moved), plain.signedDistance(points), 1e-6, 'signed distances');
        near(assert, far.nearest(moved).positions.map((x, k) => x - FAR[k % 3]), plain.nearest(points).positions, 1e-6, 'nearest');
        const ways = Float32Array.of(1, 0, 0, 0, 0, 1);
        assert.deepEqual(far.cast(moved, ways, { want: 'count' }), plain.cast(points, ways, { want: 'count' }));
        const kept = trommel.loadTree(far.save(), { origin: far.origin });
        assert.deepEqual(kept.inside(moved), plain.inside(points));
    });

    await t.test('meshes meet where they are, in either order', ({ assert }) => {
        const square = (z, origin) => trommel.tree({
            positions: Float32Array.of(0, 0, z, 1, 0, z, 0, 1, z), indices: Uint32Array.of(0, 1, 2), origin });
        const wall = origin => trommel.tree({
            positions: Float32Array.of(0.25, 0.25, -1, 0.25, 0.25, 1, 0.5, 0.25, 1), indices: Uint32Array.of(0, 1, 2), origin });
        const a = square(0, FAR), b = square(0.5, [4e6, 5e6, 99.501]), c = wall([4e6, 5e6, 100]);
        for (const [one, other] of [[a, b], [b, a]])
            near(assert, [trommel.distance(one, other)[0].distance], [0.001], 1e-6, 'distance');
        near(assert, trommel.distance(a, b)[0].pointA.map((x, k) => x - FAR[k]), [0, 0, 0], 1.001, 'pointA');
        assert.equal(trommel.collide(a, b).count, 0);
        for (const [one, other] of [[a, c], [c, a]]) {
            assert.equal(trommel.collide(one, other, { segments: true }).count, 1);
            assert.equal(trommel.distance(one, other)[0].distance, 0);
        }
        const segments = trommel.collide(a, c, { segments: true }).segments;
        near(assert, segments.map((x, k) => x - FAR[k % 3]), trommel.collide(square(0), wall(), { segments: true }).segments, 1e-6, 'segments');
        // A pose is of the places: half a turn about the line x = 4e6, y = 5e6, and 0.001 up.
        const poses = Float64Array.of(-1, 0, 0, 8e6, 0, -1, 0, 1e7, 0, 0, 1, 0.001);
        near(assert, [trommel.distance(a, square(0, FAR), { poses })[0].distance], [0.001], 1e-6, 'posed');
    });

    await t.test('subdivision keeps the origin', ({ assert }) => {
        const mesh = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), indices: Uint32Array.of(0, 1, 2), origin: FAR };
        const subdivider = trommel.subdivider(mesh);
        assert.deepEqual(subdivider.uniform({ levels: 1 }).origin, FAR);
        assert.deepEqual(subdivider.adaptive({ criterion: 'angle', threshold: 0.5 }).origin, FAR);
    });

    await t.test('a picture of logarithms is exposed as the linear one', async ({ assert }) => {
        const linear = Float32Array.from({ length: 3 * 64 }, (_, i) => 2 ** (i % 7 - 5));
        const picture = { width: 8, height: 8, channels: 3 };
        assert.deepEqual(trommel.expose({ ...picture, data: linear.map(Math.log2), values: 'log2' }),
            trommel.expose({ ...picture, data: linear }));
        const warnings = [], { warn } = console;
        console.warn = message => warnings.push(message);
        try {
            trommel.expose({ ...picture, data: linear.map(() => -1) });
        } finally {
            console.warn = warn;
        }
        assert.match(warnings.join(), /no pixel is positive.*values: 'log2'/);
    });
}
