// What the C library says and this package passes on: pictures' meters and mip chains, subdivision by creases and
// cameras, trees that move and are kept. On the CPU engine in Node and on WebGL 2 in a browser, against references of
// plain JavaScript.

import { Trommel } from '../../../build/web/package/node.js';

// Each is sent to a page as text: it uses what it gets alone, and returns what JSON holds.

function pictures(t) {
    const width = 23, height = 17, data = new Float32Array(width * height * 3);
    for (let i = 0; i < data.length; i++)
        data[i] = 2 ** ((i * 7919 % 997) / 100 - 5);
    const picture = { buffer: t.buffer({ type: 'f32', count: data.length, data }), width, height, channels: 3 };
    const stats = t.buffer({ type: 'u32', count: t.imageSizes().stats });
    const measured = options => {
        t.imageMeasure({ image: picture, stats, ...options });
        return t.imageStats(stats);
    };
    const region = { x: 3, y: 2, width: 16, height: 11 }, share = [0.5, 0.25, 0.25];
    // The log mean of a region by a mask, as the header has it.
    const expected = (mask, maskWidth, maskHeight) => {
        let sum = 0, weight = 0;
        for (let y = 0; y < region.height; y++)
            for (let x = 0; x < region.width; x++) {
                const at = 3 * ((y + region.y) * width + x + region.x);
                const luminance = share[0] * data[at] + share[1] * data[at + 1] + share[2] * data[at + 2];
                const w = mask[Math.floor(y * maskHeight / region.height) * maskWidth + Math.floor(x * maskWidth / region.width)];
                sum += w * Math.log2(luminance);
                weight += w;
            }
        return { log2Mean: sum / weight, weight };
    };
    const meters = {};
    for (const [meter, maskWidth, maskHeight] of [['average', 1, 1], ['centre', 16, 11], ['spot', 16, 11], ['matrix', 5, 5]]) {
        const mask = t.meterWeights(meter, { width: region.width, height: region.height, maskWidth, maskHeight });
        const held = t.buffer({ type: 'u8', count: mask.length, data: mask });
        const told = measured({ region, luminance: 'custom', weights: [2, 1, 1], mask: held, maskWidth, maskHeight,
            histogramLow: -4, binLog2: 5 });
        meters[meter] = { log2Mean: told.log2Mean, weight: told.weight, low: told.histogramLow, bin: told.binWidth,
            mask: Array.from(mask), expected: expected(mask, maskWidth, maskHeight),
            counted: told.histogram.reduce((sum, one) => sum + one, 0) };
    }
    const levels = t.mipLevels(width, height);
    const last = levels.at(-1), chain = t.buffer({ type: 'f32', count: 3 * (last.first + 1) });
    t.imageMips({ in: picture, out: chain });
    const texels = Array.from(chain.read());
    const alone = t.buffer({ type: 'f32', count: 1 });
    t.imageMips({ in: picture, out: alone, output: 'last', logLuminance: true, luminance: 'custom', weights: share });
    let mean = 0, logs = 0;
    for (let i = 0; i < data.length; i += 3) {
        mean += data[i];
        logs += Math.log2(share[0] * data[i] + share[1] * data[i + 1] + share[2] * data[i + 2]);
    }
    let error = null;
    try {
        t.imageMips({ in: picture, out: alone });
    } catch (failure) {
        error = failure.message;
    }
    return { meters, levels, texels, mean: mean / width / height, log: alone.read()[0],
        logs: logs / width / height, error };
}

function surfaces(t) {
    const octahedron = {
        positions: new Float32Array([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1]),
        indices: new Uint32Array([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]),
    };
    const square = { positions: new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), indices: new Uint32Array([0, 1, 2, 0, 2, 3]) };
    const after = (mesh, options, levels = 1) => {
        const subdivider = t.subdivider(mesh, options);
        const { positions } = subdivider.uniform({ levels });
        const sharp = subdivider.sharpEdgeCount;
        subdivider.destroy();
        return { positions: Array.from(positions), sharp };
    };
    const onDevice = () => {
        const subdivider = t.subdivider(octahedron), made = subdivider.uniformOnDevice({ levels: 2, normals: true });
        const whole = subdivider.uniform({ levels: 2, normals: true });
        const pairs = [[made.vertices, whole.positions], [made.vertexNormals, whole.normals], [made.indices, whole.indices]];
        const same = pairs.map(([buffer, array]) => String(buffer.read()) === String(array));
        made.destroy();
        subdivider.destroy();
        return { same, keys: Object.keys(whole).sort(), isDestroyed: made.vertices.isDestroyed, count: made.triangleCount };
    };
    // The equator is a crease: its vertices follow the curve of four points.
    const equator = new Uint32Array([0, 2, 2, 1, 1, 3, 3, 0]);
    const errors = [];
    for (const wrong of [() => t.subdivider(octahedron, { creases: new Uint32Array([0, 1]) }),
        () => t.subdivider(octahedron, { boundary: 'round' })])
        try {
            wrong();
        } catch (failure) {
            errors.push(`${failure.status}: ${failure.message}`);
        }
    return {
        onDevice: onDevice(), smooth: after(octahedron), crease: after(octahedron, { creases: equator }),
        semi: after(octahedron, { creases: equator, creaseSharpness: new Float32Array([0.5, 0.5, 0.5, 0.5]) }),
        corner: after(octahedron, { corners: new Uint32Array([4]) }), warren: after(octahedron, { weights: 'warren' }),
        edgeOnly: after(square, {}), cornered: after(square, { boundary: 'edge-and-corner' }), pinned: after(square, { boundary: 'pinned' }),
        errors,
    };
}

function cameras(t) {
    const octahedron = {
        positions: new Float32Array([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1]),
        indices: new Uint32Array([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]),
    };
    const subdivider = t.subdivider(octahedron);
    // An orthographic camera of 100 pixels for 2 units, so 50 a unit; the other half of the mesh lies outside of it.
    const seen = measureOutside => subdivider.adaptive({
        criterion: 'pixels', threshold: 4, origins: true,
        camera: { matrix: [1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], width: 100, height: 100, measureOutside },
    });
    const camera = seen(false), whole = seen(true);
    const longest = ({ positions, indices }) => {
        let most = 0;
        for (let k = 0; k < indices.length; k++) {
            const a = 3 * indices[k], b = 3 * indices[k % 3 === 2 ? k - 2 : k + 1];
            most = Math.max(most, 50 * Math.hypot(positions[a] - positions[b], positions[a + 1] - positions[b + 1]));
        }
        return most;
    };
    const kept = subdivider.adaptiveOnDevice({ criterion: 'length', threshold: 0.2, origins: true });
    const brought = subdivider.adaptive({ criterion: 'length', threshold: 0.2, origins: true });
    const onDevice = {
        same: [[kept.vertices, brought.positions], [kept.indices, brought.indices], [kept.origins, brought.origins]]
            .map(([buffer, array]) => String(buffer.read()) === String(array)),
        normals: kept.vertexNormals, told: kept.triangleCount === brought.triangleCount && kept.error === brought.error,
    };
    kept.destroy();
    const sliver = subdivider.adaptive({ criterion: 'length', threshold: 0.2, slivers: true });
    // The same in a frame, by a camera in a buffer; once with too little room, once with levels that are too small.
    const view = t.buffer({ type: 'f32', count: 20, data: new Float32Array([1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 100, 100, 1, 0]) });
    const counts = t.buffer({ type: 'u32', count: 3 }), draw = t.buffer({ type: 'u32', count: 5 });
    const enqueued = (room, levelTriangles) => {
        const vertices = t.buffer({ type: 'f32x3', count: room }), vertexNormals = t.buffer({ type: 'f32x3', count: room });
        const indices = t.buffer({ type: 'u32x3', count: 2 * room }), origins = t.buffer({ type: 'u32x2', count: 2 * room });
        subdivider.adaptiveEnqueue({
            criterion: 'pixels', threshold: 4, maxDepth: 6, camera: view, levelTriangles, vertices, vertexNormals, indices, origins, counts, draw,
        });
        const [vertexCount, triangleCount, short] = counts.read(), drawn = Array.from(draw.read());
        const same = short === 0 && ['positions', 'normals', 'indices', 'origins'].every((part, k) => {
            const whole = framed[part], read = [vertices, vertexNormals, indices, origins][k].read();
            return whole.every((x, i) => Object.is(x, read[i]));
        });
        for (const buffer of [vertices, vertexNormals, indices, origins])
            buffer.destroy();
        return { vertexCount, triangleCount, short, drawn, same };
    };
    const framed = subdivider.adaptive({
        criterion: 'pixels', threshold: 4, maxDepth: 6, normals: true, origins: true,
        camera: { matrix: [1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], width: 100, height: 100, nearest: 1 },
    });
    const frames = { whole: [framed.vertexCount, framed.triangleCount], room: enqueued(8000), short: enqueued(100, 8000), coarse: enqueued(8000, 200) };
    const refused = [];
    for (const wrong of [{}, { camera: counts }, { camera: view, vertices: counts }])
        try {
            subdivider.adaptiveEnqueue({ criterion: 'pixels', threshold: 4, indices: draw, vertices: draw, ...wrong });
            refused.push('none');
        } catch (failure) {
            refused.push(failure.status);
        }
    let error = null;
    try {
        subdivider.adaptive({ criterion: 'pixels', threshold: 4 });
    } catch (failure) {
        error = `${failure.status}: ${failure.message}`;
    }
    return {
        camera: { triangles: camera.triangleCount, error: camera.error, depth: camera.isWithinDepth },
        whole: { triangles: whole.triangleCount, longest: longest(whole), error: whole.error },
        sliver: { ...t.examine(sliver), triangles: sliver.triangleCount }, error, frames, refused, onDevice,
    };
}

function trees(t) {
    // Breadth first, the shaders' way, has a test of the page's; a driver on the processor compiles them for minutes.
    const collide = (x, y) => t.collide(x, y, { method: 'depth-first' });
    const tetrahedron = (x, size = 1) => new Float32Array([x, 0, 0, x + size, 0, 0, x, size, 0, x, 0, size]);
    const indices = new Uint32Array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
    const a = t.tree({ positions: tetrahedron(0), indices }), b = t.tree({ positions: tetrahedron(3), indices });
    const moved = x => [1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0];
    const apart = t.distance(a, b);
    const posed = t.distance(a, b, { poses: new Float32Array([...moved(1), ...moved(-2.5)]) });
    const before = collide(a, b).count;
    b.update(tetrahedron(0.25));
    const refitted = { meets: collide(a, b).count, lower: b.lower, distance: t.distance(a, b)[0].distance };
    const bytes = b.save(), again = t.loadTree(bytes);
    const loaded = { triangles: again.triangleCount, pairs: Array.from(collide(a, again).pairs), lower: again.lower };
    const pairs = Array.from(collide(a, b).pairs);
    const points = new Float32Array([0.1, 0.1, 0.1, 0.2, 0.2, -3, 2, 0, 0, 0.25, 0.25, 0, NaN, 0, 0]);
    const origins = new Float32Array([0.1, 0.2, -1, 0.1, 0.2, -1, 5, 5, 5]), ways = new Float32Array([0, 0, 2, 0, 0, -1, 0, 0, 1]);
    const plain = what => Object.fromEntries(Object.entries(what).map(([name, array]) => [name, Array.from(array, String)]));
    const found = {
        nearest: plain(a.nearest(points)), two: plain(a.nearest(points.subarray(3, 6), { k: 5 })),
        signed: Array.from(a.signedDistance(points), String),
        winding: Array.from(a.signedDistance(points.subarray(0, 3), { rule: 'winding' })),
        inside: [a.inside(points), a.inside(points, { border: false }), a.inside(points, { rule: 'solid-angle' })].map(one => one.join('')),
        cast: plain(a.cast(origins, ways)), short: Array.from(a.cast(origins, ways, { tMax: 0.25 }).t, String),
        any: Array.from(a.cast(origins, ways, { want: 'any' })), count: Array.from(a.cast(origins, ways, { want: 'count' })),
        all: plain(a.cast(origins, ways, { want: 'all' })),
        none: [a.nearest(points.subarray(0, 0)).triangles.length, a.cast(origins.subarray(0, 0), ways.subarray(0, 0), { want: 'all' }).t.length],
    };
    const lone = t.tree({ positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]) }); // open
    const refused = [];
    for (const wrong of [() => a.nearest(points, { k: 0 }), () => a.nearest([0, 0, 0]), () => a.nearest(points.subarray(0, 4)),
        () => a.cast(origins, ways.subarray(0, 3)), () => a.cast(origins, ways, { want: 'first' }), () => a.cast(origins, ways, { tMax: 0 }),
        () => a.inside(points, { rule: 'odd' }), () => a.cast(origins, ways, { t_max: 1 }), () => lone.inside(points)])
        try {
            wrong();
            refused.push('none');
        } catch (failure) {
            refused.push(`${failure.status}: ${failure.message}`);
        }
    const errors = [];
    for (const wrong of [() => t.loadTree(bytes.subarray(0, bytes.length - 1)), () => b.update(new Float32Array(9)),
        () => t.distance(a), () => t.distance(a, b, { poses: new Float32Array(11) })])
        try {
            wrong();
            errors.push('none');
        } catch (failure) {
            errors.push(failure.status);
        }
    return { apart, posed, before, refitted, loaded, pairs, found, refused, errors, size: bytes.length };
}

const near = (assert, a, b, bound, what) => assert.ok(Math.abs(a - b) <= bound, `${what}: ${a} against ${b}`);

const CHECKS = {
    pictures(assert, told) {
        for (const [name, one] of Object.entries(told.meters)) {
            near(assert, one.log2Mean, one.expected.log2Mean, 1e-5, name);
            assert.equal(one.weight, one.expected.weight);
            assert.equal(one.counted, one.weight, 'every weight is in a bin');
            assert.deepEqual([one.low, one.bin], [-4, 1 / 32]);
        }
        const { average, centre, spot, matrix } = told.meters;
        assert.deepEqual(average.mask.length && new Set(average.mask).size, 1);
        assert.ok(centre.mask[5 * 16 + 8] > 4 * centre.mask[0] && spot.mask[0] === 0 && spot.mask[5 * 16 + 8] > 0);
        assert.ok(matrix.mask[12] > matrix.mask[0]);
        assert.deepEqual(told.levels.map(level => [level.width, level.height, level.first]),
            [[23, 17, 0], [11, 8, 0], [5, 4, 88], [2, 2, 108], [1, 1, 112]]);
        near(assert, told.texels.at(-3), told.mean, 1e-5 * told.mean, 'the last level is the mean');
        near(assert, told.log, told.logs, 1e-4, 'the last level of log luminance');
        assert.match(told.error, /tml_image_mips: .*out/);
    },
    surfaces(assert, told) {
        assert.deepEqual(told.onDevice, { same: [true, true, true], isDestroyed: true, count: 128,
            keys: ['indices', 'normals', 'origin', 'positions', 'triangleCount', 'vertexCount'] });
        const at = (mesh, v) => mesh.positions.slice(3 * v, 3 * v + 3);
        const close = (mesh, v, expected, what) => at(mesh, v).forEach((x, k) => near(assert, x, expected[k], 1e-6, what));
        const beta = (5 / 8 - (3 / 8) ** 2) / 4; // Loop's, of valence 4: cos(pi / 2) = 0
        close(told.smooth, 0, [1 - 4 * beta, 0, 0], 'an even vertex');
        close(told.warren, 0, [1 - 4 * 3 / 32, 0, 0], 'an even vertex by Warren');
        close(told.crease, 0, [3 / 4, 0, 0], 'an even vertex of a crease');
        close(told.crease, 4, [0, 0, 1 - 4 * beta], 'one that is on no crease');
        assert.deepEqual([told.smooth.sharp, told.crease.sharp], [0, 4]);
        const share = (3 / 4 + 1 - 4 * beta) / 2; // halfway between the smooth and the sharp rule
        close(told.semi, 0, [share, 0, 0], 'an even vertex of a semi-sharp crease');
        close(told.corner, 4, [0, 0, 1], 'a corner');
        close(told.edgeOnly, 1, [1 - 1 / 8, 1 / 8, 0], 'a vertex of the boundary');
        close(told.cornered, 1, [1, 0, 0], 'a vertex of one triangle alone');
        close(told.cornered, 0, [1 / 8, 1 / 8, 0], 'one of two');
        close(told.pinned, 0, [0, 0, 0], 'a pinned one');
        assert.match(told.errors[0], /^INVALID_ARGUMENT: tml_subdivider_create: .*crease/);
        assert.match(told.errors[1], /^INVALID_ARGUMENT: subdivider: boundary is "round", needs one of edge-only/);
        assert.equal(told.errors.length, 2);
    },
    cameras(assert, told) {
        assert.ok(told.whole.longest <= 4 * 1.3 && told.whole.error <= 1, `edges of ${told.whole.longest} pixels`);
        assert.ok(told.camera.triangles < 0.8 * told.whole.triangles && told.camera.error <= 1 && told.camera.depth);
        assert.deepEqual([told.sliver.boundaryEdges, told.sliver.nonmanifoldEdges, told.sliver.euler], [0, 0, 2]);
        assert.deepEqual(told.onDevice, { same: [true, true, true], normals: null, told: true });
        assert.match(told.error, /^INVALID_ARGUMENT: adaptive: camera\.matrix/);
        const { whole, room, short, coarse } = told.frames, [vertices, triangles] = whole;
        assert.deepEqual(room, { vertexCount: vertices, triangleCount: triangles, short: 0, drawn: [3 * triangles, 1, 0, 0, 0], same: true });
        assert.deepEqual([short.vertexCount, short.triangleCount, short.short, short.drawn[0]], [vertices, triangles, 3, 3 * 200]);
        assert.ok(coarse.short === 4 && coarse.triangleCount > 8 && coarse.triangleCount < triangles);
        assert.deepEqual(told.refused, ['INVALID_HANDLE', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
    },
    trees(assert, told) {
        assert.deepEqual([told.apart.length, told.apart[0].distance, told.apart[0].pointA, told.apart[0].pointB],
            [1, 2, [1, 0, 0], [3, 0, 0]]);
        assert.deepEqual(told.posed.map(one => one.distance), [3, 0]);
        assert.equal(told.before, 0);
        assert.ok(told.refitted.meets > 0 && told.refitted.distance === 0);
        assert.deepEqual(told.refitted.lower, [0.25, 0, 0]);
        assert.deepEqual(told.loaded, { triangles: 4, pairs: told.pairs, lower: [0.25, 0, 0] });
        const { nearest, two, signed, winding, inside, cast, short, any, count, all, none } = told.found;
        assert.deepEqual(nearest.distances, [String(Math.fround(0.1)), '3', '1', '0', 'Infinity']);
        assert.deepEqual(nearest.positions.slice(6, 9), ['1', '0', '0']);
        assert.deepEqual(nearest.triangles, ['0', '0', '0', '0', '4294967295']);
        assert.deepEqual(nearest.features.slice(0, 3).map(Number).map((f, i) => (i < 2 ? f === 0 : f >= 4)), [true, true, true]);
        assert.equal(two.triangles.length, 5);
        assert.deepEqual([two.distances[0], two.triangles[0], two.distances[4], two.triangles[4]], ['3', '0', 'Infinity', '4294967295']);
        assert.deepEqual(signed, [String(-Math.fround(0.1)), '3', '1', '0', 'Infinity']);
        assert.deepEqual(winding, [-Math.fround(0.1)]);
        assert.deepEqual(inside, ['10010', '10000', '10010']);
        assert.deepEqual([cast.t, cast.triangles], [['0.5', 'Infinity', 'Infinity'], ['0', '4294967295', '4294967295']]);
        assert.deepEqual(cast.barycentrics, [0.2, 0.1].map(x => String(Math.fround(x))).concat(Array(4).fill('NaN')));
        assert.deepEqual(short, Array(3).fill('Infinity'));
        assert.deepEqual([any, count], [[1, 0, 0], [2, 0, 0]]);
        assert.deepEqual([all.rays, all.triangles, all.t[0]], [['0', '0'], ['0', '3'], '0.5']);
        near(assert, Number(all.t[1]), 0.85, 1e-6, 'the second hit');
        assert.deepEqual(none, [0, 0]);
        [/k is 0, needs 1 to 256/, /nearest: points is no Float32Array of 3/, /nearest: points is no Float32Array of 3/, /^INVALID_ARGUMENT: tml_tree_cast: .*directions/,
            /want is "first", needs one of nearest/, /tMax is 0/, /rule is "odd"/, /cast: there is no option t_max; there are want tMax/,
            /^INVALID_ARGUMENT: tml_tree_nearest: .*closed/].forEach((words, i) => assert.match(told.refused[i], words));
        assert.deepEqual(told.errors, ['FILE_FORMAT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
    },
};

export default async function (t) {
    for (const [what, run] of Object.entries({ pictures, surfaces, cameras, trees })) {
        await t.test(`${what} on the CPU engine`, async ({ assert }) => {
            const library = await Trommel.create(null, { threads: 1 });
            CHECKS[what](assert, JSON.parse(JSON.stringify(run(library))));
            library.close();
        });
        if (what === 'cameras')
            continue; // a driver on the processor compiles adaptive subdivision's shaders for minutes
        await t.test(`${what} on WebGL 2`, async ({ open, assert }) => {
            const page = await open('test/blank.html');
            const told = await page.evaluate(`(async () => {
                const { Trommel } = await import('/trommel/index.js');
                const library = await Trommel.create(document.createElement('canvas'), { engine: 'gl' });
                const told = (${run})(library);
                return JSON.parse(JSON.stringify({ ...told, glError: library.gl.getError() }));
            })()`);
            assert.equal(told.glError, 0);
            delete told.glError;
            CHECKS[what](assert, told);
        });
    }
}
