// The package in Node, where the CPU engine computes.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

import { Trommel, TrommelError } from '../../../build/web/package/node.js';

// A mesh file of the native command's: counts, positions and indices of a binary PLY.
function readPly(bytes) {
    const end = bytes.indexOf('end_header\n') + 'end_header\n'.length;
    const header = bytes.toString('latin1', 0, end);
    const [vertexCount, triangleCount] = [...header.matchAll(/^element \w+ (\d+)$/gm)].map(m => Number(m[1]));
    const size = { float: 4, double: 8, uchar: 1 };
    const fields = [...header.split('element face')[0].matchAll(/^property (\w+) (\w+)$/gm)].map(m => m[1]);
    const stride = fields.reduce((sum, type) => sum + size[type], 0);
    const view = new DataView(bytes.buffer, bytes.byteOffset + end);
    const positions = new Float64Array(3 * vertexCount), indices = new Uint32Array(3 * triangleCount);
    for (let i = 0; i < vertexCount; i++)
        for (let a = 0; a < 3; a++)
            positions[3 * i + a] = fields[0] === 'double' ? view.getFloat64(i * stride + 8 * a, true)
                                                          : view.getFloat32(i * stride + 4 * a, true);
    for (let i = 0, at = vertexCount * stride; i < triangleCount; i++, at += 13)
        for (let c = 0; c < 3; c++)
            indices[3 * i + c] = view.getUint32(at + 1 + 4 * c, true);
    return { vertexCount, triangleCount, positions, indices };
}

function assertSameMesh(assert, mesh, native) {
    assert.equal(mesh.vertexCount, native.vertexCount);
    assert.equal(mesh.triangleCount, native.triangleCount);
    assert.ok(mesh.vertexCount > 1000);
    assert.deepEqual(mesh.indices, native.indices);
    let worst = 0;
    for (let i = 0; i < native.positions.length; i++)
        worst = Math.max(worst, Math.abs(mesh.positions[i] - native.positions[i]));
    assert.ok(worst <= 1e-4, `positions differ by ${worst}`); // the file's own rounding
}

export default async function (t) {
    const index = root => join(root, 'build/web/package/node.js');
    const inNode = async (root, flags, program) => (await promisify(execFile)(process.execPath,
        [...flags, '--input-type=module', '-e', `import { Trommel } from '${index(root)}';\n${program}`])).stdout;

    await t.test('the examples of the README, as written', async ({ assert, root }) => {
        const text = readFileSync(join(root, 'packages/trommel/README.md'), 'utf8');
        const examples = [...text.matchAll(/```js\n([\s\S]*?)```\n\nIt prints (.*)\./g)];
        assert.equal(examples.length, text.split('```js').length - 1);
        for (const [, program, printed] of examples) {
            const { stdout } = await promisify(execFile)(process.execPath,
                ['--input-type=module', '-e', program.replace("from 'trommel'", `from '${index(root)}'`)]);
            assert.deepEqual(stdout.trim().split('\n'), [...printed.matchAll(/`([^`]*)`/g)].map(([, line]) => line));
        }
    });

    await t.test('labels of 64 bits keep all their digits', async ({ assert }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const ids = [720575940621234567n, 720575940621234568n], data = new BigUint64Array(64);
        data[21] = ids[0];
        data[22] = ids[1];
        const all = library.surface({ data, dims: [4, 4, 4] }, { allLabels: true });
        assert.deepEqual(all.parts.map(part => part.label), ids);
        const one = library.surface({ data, dims: [4, 4, 4] }, { labels: [ids[1]] });
        assert.deepEqual(one.parts.map(part => part.label), [ids[1]]);
        assert.equal(one.parts[0].triangleCount, all.parts[1].triangleCount);
        const low = BigInt64Array.from(data, id => -id);
        assert.deepEqual(library.surface({ data: low, dims: [4, 4, 4] }, { allLabels: true }).parts.map(part => part.label),
            [-ids[1], -ids[0]]);
    });

    await t.test('each part does what the whole does, and says what it lacks', async ({ assert, root }) => {
        const n = 24, data = Float32Array.from({ length: n ** 3 }, (_, i) =>
            9 - Math.hypot(i % n - 11.5, Math.floor(i / n) % n - 11.5, Math.floor(i / n / n) - 11.5));
        const picture = { data: data.map(Math.abs).subarray(0, 3 * 64 * 64), width: 64, height: 64 };
        const does = {
            surface: t => [...t.surface({ data, dims: [n, n, n] }).positions],
            meshes(t) {
                const mesh = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1), indices: Uint32Array.of(0, 1, 2, 1, 2, 3) };
                return [t.examine(mesh), ...['ply', 'stl', 'glb', 'obj', 'vtp'].map(format => {
                    const bytes = t.saveMesh(mesh, format);
                    return [[...bytes], format === 'vtp' ? 0 : t.loadMesh(bytes, `a.${format}`)];
                })];
            },
            streams(t) {
                const out = t.buffer({ type: 'f32', count: data.length });
                t.sort({ keys: t.buffer(data), sorted: out });
                return [...out.read()];
            },
            image: t => [...t.expose(picture)],
        };
        for (const part in does) {
            const alone = (await import(join(root, `build/web/package/${part}-node.js`))).Trommel;
            const whole = await Trommel.create(null, { threads: 1 }), t = await alone.create();
            assert.ok(t instanceof Trommel && t.device.threads === 1);
            assert.deepEqual(does[part](t), does[part](whole));
            for (const other in does)
                if (other !== part)
                    assert.throws(() => does[other](t), { status: 'UNSUPPORTED', message: /: trommel\/\w+ has none; import 'trommel'/ });
            whole.close();
            t.close();
            // All that Node loads for it.
            const files = new Set([`${part}-node.js`]);
            for (const file of files)
                for (const [, name] of readFileSync(join(root, 'build/web/package', file), 'utf8').matchAll(/(?:from|import) ?["'](\.[^"']*)["']/g))
                    files.add(join(file, '..', name));
            const own = part === 'meshes' ? ['parts/lent.js'] : [];
            assert.deepEqual([...files].sort(), [`${part}-node.js`, `${part}.js`, 'core.js', 'host-node.js', `parts/${part}.js`, ...own].sort());
        }
    });

    await t.test('the part for meshes takes no canvas', async ({ assert, root }) => {
        const { Trommel: Meshes } = await import(join(root, 'build/web/package/meshes-node.js'));
        const canvas = { isContextLost: () => false }, log = [];
        await assert.rejects(Meshes.create(canvas, { engine: 'gl' }), { status: 'UNSUPPORTED', message: /trommel\/meshes computes nothing on a canvas; leave it out/ });
        const t = await Meshes.create(canvas, { log: (level, text) => log.push(text) });
        assert.equal(t.engine, 'cpu');
        assert.match(log.join(), /computes nothing on a canvas.*the CPU engine takes its place/);
        t.close();
    });

    await t.test('the CT engine\'s mesh equals the native library\'s', async ({ assert, root, folder, trommel }) => {
        const name = 'engine_256x256x128_uint8.raw.gz', path = join(root, 'tests/data', name);
        const ply = join(folder, 'engine.ply');
        await trommel('surface', path, '--iso', '80', '-o', ply, '--backend', 'cpu');
        const library = await Trommel.create(null, { threads: 1 });
        const volume = library.loadVolume(readFileSync(path), name);
        assert.deepEqual(volume.dims, [256, 256, 128]);
        assert.equal(volume.type, 'u8');
        assert.deepEqual(Buffer.from(volume.data.buffer), gunzipSync(readFileSync(path)));
        const mesh = library.surface(volume, { iso: 80 });
        assertSameMesh(assert, mesh, readPly(readFileSync(ply)));
        assert.deepEqual(Object.keys(readPly(Buffer.from(library.saveMesh(mesh, 'ply')))).length, 4);
        library.close();
    });

    await t.test('an isovalue is suggested as the command does', async ({ assert, root, folder, trommel }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const name = 'engine_256x256x128_uint8.raw.gz', path = join(root, 'tests/data', name);
        const told = JSON.parse(await trommel('info', path, '--json'));
        const suggested = library.suggestIso(library.loadVolume(readFileSync(path), name));
        assert.deepEqual(suggested, { iso: told.suggested_iso, lower: told.min, upper: told.max });
        /* Halves: -1 and 3 in turn, one that is no number. */
        const halves = Uint16Array.from({ length: 1000 }, (_, i) => (i % 2 ? 0x4200 : 0xbc00));
        halves[7] = 0x7e00;
        const { iso, lower, upper } = library.suggestIso({ data: halves, type: 'f16' });
        assert.deepEqual([lower, upper], [-1, 3]);
        assert.ok(iso > lower && iso < upper);
        assert.throws(() => library.suggestIso({ data: halves, type: 'f32x2' }), /type is f32x2/);
        library.close();
    });

    await t.test('threads give the same mesh', async ({ assert }) => {
        assert.ok(Trommel.hasThreads);
        const data = new Float32Array(48 ** 3).map((_, i) =>
            Math.sin((i % 48) / 5) + Math.cos((Math.floor(i / 48) % 48) / 7) + Math.sin(i / 48 / 48 / 3));
        const meshes = [];
        for (const threads of [1, 2, 5]) {
            const library = await Trommel.create(null, { threads });
            assert.deepEqual([library.device.threads, library.device.name], [threads, `CPU, ${threads} thread${threads > 1 ? 's' : ''}`]);
            meshes.push(library.surface({ data, dims: [48, 48, 48] }, { iso: 0.3, normals: 'sobel' }));
            library.close();
        }
        assert.ok(meshes[0].triangleCount > 1000);
        for (const array of ['positions', 'normals', 'indices'])
            for (const mesh of meshes)
                assert.deepEqual(meshes[0][array], mesh[array]);
    });

    await t.test('a soup is the welded mesh, triangle by triangle', async ({ assert }) => {
        const n = 24, data = new Float32Array(n ** 3).map((_, i) =>
            Math.sin((i % n) / 3) + Math.cos((Math.floor(i / n) % n) / 4) + Math.sin(i / n / n / 5));
        const library = await Trommel.create(null, { threads: 1 });
        const volume = { data, dims: [n, n, n] }, options = { iso: 0.3, normals: 'central', cells: true };
        const welded = library.surface(volume, options), soup = library.surface(volume, { ...options, soup: true });
        assert.ok(welded.triangleCount > 500);
        assert.equal(soup.vertexCount, 3 * welded.triangleCount);
        assert.equal(soup.indices, null);
        assert.equal(library.surface(volume, { iso: 0.3 }).cells, null);
        for (const array of ['positions', 'normals'])
            assert.deepEqual(Array.from(soup[array]), Array.from(welded.indices).flatMap(v => [...welded[array].subarray(3 * v, 3 * v + 3)]));
        assert.deepEqual(soup.cells, welded.cells);
        const counts = library.cells(volume, { iso: 0.3 });
        for (const cell of welded.cells) {
            const [x, y, z] = [cell % n, Math.floor(cell / n) % n, Math.floor(cell / n / n)];
            assert.ok(counts[x + (n - 1) * (y + (n - 1) * z)]-- > 0);
        }
        assert.ok(counts.every(count => count === 0));
        library.close();
    });

    await t.test('the host\'s process stays as it is', async ({ assert, root }) => {
        // Its own handler sees its own mistake, and it goes on.
        for (const threads of [1, 2]) {
            const said = await inNode(root, [], `
                process.on('unhandledRejection', error => console.log('handled', error.message));
                const names = () => Object.getOwnPropertyNames(globalThis).sort().join();
                const events = () => process.eventNames().map(name => [String(name), process.listenerCount(name)]).join();
                const before = [names(), events(), globalThis.Worker];
                const t = await Trommel.create(null, { threads: ${threads} });
                const after = [names(), events(), globalThis.Worker];
                t.close();
                console.log(before.every((what, i) => what === after[i]) ? 'the same' : JSON.stringify([before, after]));
                Promise.reject(new Error('mine'));
                setTimeout(() => console.log('goes on'), 100);`);
            assert.deepEqual(said.trim().split('\n'), ['the same', 'handled mine', 'goes on']);
        }
    });

    await t.test('a closed instance gives its memory back', async ({ assert, root }) => {
        // Each takes 16 MB and more.
        for (const [threads, cycles] of [[1, 40], [2, 12]]) {
            const said = await inNode(root, ['--expose-gc'], `
                const settled = async () => {
                    for (let i = 0; i < 4; i++) {
                        globalThis.gc();
                        await new Promise(resolve => setTimeout(resolve, 50));
                    }
                    return process.memoryUsage().external;
                };
                const cycle = async () => {
                    const t = await Trommel.create(null, { threads: ${threads} }), n = 64;
                    t.surface({ data: new Float32Array(n ** 3).fill(1), dims: [n, n, n] });
                    t.close();
                };
                await cycle();
                const before = await settled();
                for (let i = 0; i < ${cycles}; i++)
                    await cycle();
                console.log(Math.round(((await settled()) - before) / 1e6), process.listenerCount('uncaughtException'));`);
            const [grown, listeners] = said.trim().split(' ').map(Number);
            assert.ok(grown < 40, `${cycles} instances with ${threads} threads left ${grown} MB`);
            assert.equal(listeners, 0);
        }
    });

    await t.test('streams', async ({ assert }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const numbers = Uint32Array.from({ length: 5000 }, (_, i) => (i * 2654435761) >>> 8);
        const input = library.buffer(numbers), out = library.buffer({ type: 'u32', count: 5000 });
        const one = library.buffer({ type: 'u32', count: 1 }), sum = library.buffer({ type: 'u64', count: 1 });
        library.reduce({ in: input, folds: [{ fold: 'sum', out: sum }] });
        assert.equal(sum.read()[0], numbers.reduce((a, b) => a + BigInt(b), 0n));
        library.reduce({ in: input, folds: [{ fold: 'sum', out: sum }], length: 0 }); // none, and not all
        assert.equal(sum.read()[0], 0n);
        one.write(new Uint32Array([7]));
        library.reduce({ in: input, folds: [{ fold: 'sum', out: sum }], length: { device: one } });
        assert.equal(sum.read()[0], numbers.subarray(0, 7).reduce((a, b) => a + BigInt(b), 0n));
        library.reduce({ in: input, folds: [{ fold: 'sum', out: sum }], length: { count: 0, device: one } });
        assert.equal(sum.read()[0], 0n);
        library.reduce({ in: input, folds: [{ fold: 'sum', out: sum }] });
        const points = library.buffer({ type: 'f32x3', count: 2000, data: Float32Array.from({ length: 6000 }, (_, i) => (i % 3 - 1) * (i * 37 % 6007)) });
        const corner = library.buffer({ type: 'f32x3', count: 1 }), places3 = library.buffer({ type: 'u32x3', count: 1 });
        const columns = [0, 1, 2].map(c => [...points.read()].filter((_, i) => i % 3 === c));
        for (const fold of ['min', 'max']) { // a bounding box
            library.reduce({ in: points, folds: [{ fold, out: corner }] });
            assert.deepEqual([...corner.read()].map(x => x + 0), columns.map(column => Math[fold](...column) + 0), fold);
        }
        library.reduce({ in: points, folds: [{ fold: 'argmax', out: places3 }] });
        assert.deepEqual([...places3.read()], columns.map(column => column.indexOf(Math.max(...column))));
        assert.throws(() => library.reduce({ in: points, folds: [{ fold: 'min', out: one }] }), /out has elements of u32, needs f32x3/);
        const bins = library.buffer({ type: 'u32', count: 7 }), weighed = library.buffer({ type: 'f32', count: 3 });
        const seventh = library.kernel('uint seventh(uint x) { return x % 7u; }', x => x % 7);
        library.histogram({ kernel: seventh, in: [input], out: bins });
        assert.deepEqual([...bins.read()], [0, 1, 2, 3, 4, 5, 6].map(b => numbers.filter(x => x % 7 === b).length));
        const values = library.buffer(new Float32Array([0, 1, 2.5, 4, 5, NaN])), heavy = library.buffer(new Float32Array([1, 2, 3, 4, 5, 6]));
        library.histogram({ in: [values], edges: library.buffer(new Float32Array([0, 1, 2, 4])), weights: heavy, out: weighed });
        assert.deepEqual([...weighed.read()], [1, 2, 7]); // the last bin has its upper edge
        library.histogram({ in: [values], lower: 0, upper: 5, bins: 5, out: bins });
        assert.deepEqual([...bins.read(0, 5)], [1, 1, 1, 0, 2]);
        assert.throws(() => library.histogram({ in: [values], out: bins }), /in\[0\] has elements of f32/);
        library.scan({ in: input, out, inclusive: true });
        assert.equal(out.read(4999, 1)[0], Number(BigInt.asUintN(32, sum.read()[0])));
        one.write(new Uint32Array([1 << 20]));
        library.scan({ in: input, out, fold: 'max', start: one });
        let largest = 1 << 20;
        assert.deepEqual(out.read(), numbers.map(x => [largest, largest = Math.max(largest, x)][0]));
        const offsets = library.buffer(new Uint32Array([0, 3, 5000])), parts = library.buffer({ type: 'u64', count: 2 });
        library.reduce({ in: input, folds: [{ fold: 'sum', out: parts }], segments: { offsets } });
        const total = of => of.reduce((sum, x) => sum + BigInt(x), 0n);
        assert.deepEqual([...parts.read()], [total(numbers.slice(0, 3)), total(numbers.slice(3))]);
        library.scan({ in: input, out, inclusive: true, segments: { offsets } });
        assert.equal(out.read(3, 1)[0], numbers[3]);
        const even = library.kernel('bool even(uint x) { return (x & 1u) == 0u; }', x => x % 2 === 0);
        const wanted = numbers.filter(x => x % 2 === 0);
        for (const method of ['auto', 'look-back', 'histopyramid']) {
            library.compact({ keep: { kernel: even }, payloads: [{ in: input, out }], count: one, method });
            assert.equal(one.readCount(), wanted.length, method);
            assert.deepEqual(out.read(0, wanted.length), wanted, method);
        }
        library.compact({ keep: { kernel: even }, payloads: [{ in: input, out }], partition: true, count: one });
        assert.deepEqual(out.read(wanted.length), numbers.filter(x => x % 2 === 1));
        const scaled = library.kernel('vec2 pair(uint x, tml_index i, tml_params p) { return VEC2(F(x), F(i) * p.f[0]); }',
            (x, i, p) => [x, i * p.f[0]]);
        const pairs = library.buffer({ type: 'f32x2', count: 5000 });
        library.map({ kernel: scaled, in: [input], out: pairs, params: { f: [0.5] } });
        assert.deepEqual(pairs.read(7, 1), new Float32Array([numbers[7], 3.5]));
        const seen = library.kernel('float seen(uint x, tml_params p) { return transform4(p.m, VEC4(F(x & 15u), 1.0f, 0.0f, 0.0f)).y; }',
            (x, p) => p.m[1] * (x & 15) + p.m[5]), depths = library.buffer({ type: 'f32', count: 5000 });
        library.map({ kernel: seen, in: [input], out: depths, params: { m: [9, 3, 9, 9, 9, -8, 9, 9] } });
        assert.deepEqual(depths.read(), Float32Array.from(numbers, x => 3 * (x & 15) - 8));
        const vectors = (type, count, numbers) => {
            const made = library.buffer({ type, count });
            made.write(new Uint32Array(numbers));
            return made;
        };
        const corners = library.buffer(new Float32Array([0, 0, 3, 4, 6, 8])), length = library.buffer({ type: 'f32', count: 3 });
        const ends = vectors('u32x2', 3, [0, 1, 1, 2, 0, 2]);
        const measured = library.kernel(
            'float measured(uvec2 ends, tml_words points, tml_index i, tml_params p, float least) { return max(least, p.f[0] * '
            + 'apart(points, ends.x, ends.y) + F(U(i))); }',
            (ends, words, i, p, least) => {
                const at = new Float32Array(words.buffer, words.byteOffset, 6), [a, b] = ends;
                return Math.max(least, p.f[0] * Math.hypot(at[2 * a] - at[2 * b], at[2 * a + 1] - at[2 * b + 1]) + i);
            },
            'FUNCTION(float) apart(tml_words points, uint a, uint b) { return length2(sub2(tml_word_vec2(points, a), tml_word_vec2(points, b))); }');
        library.map({ kernel: measured, in: [ends, corners, library.buffer(new Float32Array([0, 11.5, 0]))], out: length,
            params: { f: [2] } });
        assert.deepEqual(length.read(), new Float32Array([10, 11.5, 22]));
        const mixed = library.kernel('uvec3 mixed(uvec4 v) { return UVEC3(v.w, v.x + v.y, v.z); }', v => [v[3], v[0] + v[1], v[2]]);
        const threes = library.buffer({ type: 'u32x3', count: 2 });
        library.map({ kernel: mixed, in: [vectors('u32x4', 2, [1, 2, 3, 4, 5, 6, 7, 4e9])], out: threes });
        assert.deepEqual(threes.read(), new Uint32Array([4, 3, 3, 4e9, 11, 7]));
        const places = library.buffer({ type: 'u32', count: 5000 }), moved = library.buffer({ type: 'u32', count: 5000 });
        for (const [descending, firstBit, bitCount] of [[false, 0, 0], [true, 0, 0], [false, 20, 0], [true, 3, 2]]) {
            const key = x => (x >>> firstBit) & (bitCount ? 2 ** bitCount - 1 : -1);
            const order = [...numbers.keys()].sort((a, b) => (descending ? key(numbers[b]) - key(numbers[a]) : key(numbers[a]) - key(numbers[b])));
            library.sort({ keys: input, descending, firstBit, bitCount, sorted: out, payloads: [{ in: input, out: moved }], indices: places });
            assert.deepEqual([...places.read()], order);
            assert.deepEqual(out.read(), Uint32Array.from(order, i => numbers[i]));
            assert.deepEqual(moved.read(), out.read());
        }
        out.write(numbers);
        library.sort({ keys: out, length: 7, sorted: out });
        assert.deepEqual(out.read(0, 7), numbers.slice(0, 7).sort());
        assert.deepEqual(out.read(7), numbers.subarray(7));
        out.write(numbers);
        library.sort({ keys: out, segments: { offsets: library.buffer(new Uint32Array([2, 9, 9, 3000])) }, sorted: out });
        assert.deepEqual(out.read(0, 2), numbers.slice(0, 2));
        assert.deepEqual(out.read(2, 7), numbers.slice(2, 9).sort());
        assert.deepEqual(out.read(9, 2991), numbers.slice(9, 3000).sort());
        assert.deepEqual(out.read(3000), numbers.subarray(3000));
        const chosen = library.buffer({ type: 'u32', count: 9 }), from = library.buffer({ type: 'u32', count: 9 });
        for (const smallest of [false, true]) {
            const order = [...numbers.keys()].sort((a, b) => (smallest ? numbers[a] - numbers[b] : numbers[b] - numbers[a])).slice(0, 9);
            library.topK({ keys: input, smallest, values: chosen, indices: from });
            assert.deepEqual([...from.read()], order);
            assert.deepEqual([...chosen.read()], order.map(i => numbers[i]));
        }
        const four = library.buffer(new Uint32Array([0, 4]));
        library.topK({ keys: input, k: { device: four, deviceIndex: 1 }, indices: from, count: one });
        assert.equal(one.readCount(), 4);
        assert.throws(() => library.topK({ keys: input, k: 10, values: chosen }), /values has 9 elements, needs 10/);
        assert.throws(() => library.sort({ keys: input, firstBit: 40 }), /first_bit is 40/);
        const counts = library.buffer(new Uint8Array([2, 0, 3])), source = library.buffer({ type: 'u32', count: 5 });
        const rank = library.buffer({ type: 'u32', count: 5 });
        library.expand({ counts, source, rank, total: one });
        assert.equal(one.readCount(), 5);
        assert.deepEqual([...source.read()], [0, 0, 2, 2, 2]);
        assert.deepEqual([...rank.read()], [0, 1, 0, 1, 2]);
        const twins = library.buffer({ type: 'u32', count: 5 }), places5 = library.buffer({ type: 'u32', count: 5 });
        const copy = library.kernel('uint copy(uint x, tml_rank k) { return 10u * x + k; }', (x, k) => 10 * x + k);
        library.expand({ counts, emitKernel: copy, in: library.buffer(new Uint32Array([4, 5, 6])), out: [twins] });
        assert.deepEqual([...twins.read()], [40, 41, 60, 61, 62]);
        /* Several results of one call; segments by their starts; elements moved by indices, and found. */
        const low = library.buffer({ type: 'u32', count: 1 }), mean = library.buffer({ type: 'f64', count: 1 });
        library.reduce({ in: input, folds: [{ fold: 'min', out: low }, { out: sum }, { fold: 'mean', out: mean }] });
        assert.deepEqual([low.read()[0], sum.read()[0], mean.read()[0]], [Math.min(...numbers), total(numbers), Number(total(numbers)) / 5000]);
        library.reduce({ in: input, folds: { out: parts }, segments: { starts: library.buffer(new Uint32Array([0, 3])), count: 2 } });
        assert.deepEqual([...parts.read()], [total(numbers.slice(0, 3)), total(numbers.slice(3))]);
        const where = library.buffer(new Uint32Array([2, 0, 4999, 1, 7])), five = library.buffer({ type: 'u32', count: 5 });
        library.gather({ indices: where, payloads: { in: input, out: five } });
        assert.deepEqual([...five.read()], [2, 0, 4999, 1, 7].map(i => numbers[i]));
        library.scatter({ indices: library.buffer(new Uint32Array([4, 3, 2, 1, 0])), payloads: [{ in: five, out: twins }] });
        assert.deepEqual([...twins.read()], [...five.read()].reverse());
        library.search({ sorted: library.buffer(new Uint32Array([1, 3, 3, 8])), queries: library.buffer(new Uint32Array([0, 3, 9])), upper: true, out: chosen });
        assert.deepEqual([...chosen.read(0, 3)], [0, 3, 4]);
        one.write(new Uint32Array([4990])); // append
        library.compact({ keep: { mask: library.buffer(new Uint32Array([5])) }, payloads: { in: input, out }, length: 32, outFirst: one, count: one });
        assert.deepEqual([one.readCount(), ...out.read(4990, 2)], [4992, numbers[0], numbers[2]]);
        assert.throws(() => library.gather({ indices: where, payloads: [{ in: input }, { in: where, to: five }] }),
            /^TrommelError: gather: there is no option payloads\[1\]\.to; there are in out$/);
        assert.throws(() => library.sort({ keys: numbers }), /^TrommelError: sort: keys is not a buffer of this Trommel$/);
        assert.throws(() => library.compact({ keep: { kernel: 'even' } }), /^TrommelError: compact: keep\.kernel is not a kernel of this Trommel/);
        assert.throws(() => library.scan({ in: input, fold: 'median' }), /^TrommelError: scan: fold is "median", needs one of sum, min, /);
        assert.throws(() => library.sort({ keys: input, firstBit: '3' }), /^TrommelError: sort: firstBit is "3", needs a number$/);
        assert.throws(() => library.sort({ keys: input, length: one }), /^TrommelError: sort: length is no object of count device /);
        assert.throws(() => library.map({ in: new Array(5).fill(input) }), /^TrommelError: map: 5 of in, can have 4$/);
        library.close();
    });

    await t.test('meshes meet: pairs, classes, poses, and files of them', async ({ assert }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const text = 'v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'; // a tetrahedron
        const mesh = library.loadMesh(new TextEncoder().encode(text), 'a.obj');
        assert.equal(mesh.format, 'OBJ');
        assert.equal(mesh.vertexCount, 4);
        assert.deepEqual(Array.from(mesh.indices), [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
        const a = library.tree(mesh), b = library.tree(mesh);
        assert.equal(a.triangleCount, 4);
        assert.deepEqual(a.upper, [2, 2, 2]);
        const at = (x, y, z) => [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z];
        const poses = new Float32Array([...at(5, 0, 0), ...at(0.25, 0.25, 0.25), ...at(2, 0, 0)]);
        const found = library.collide(a, b, { poses, segments: true });
        const of = pose => found.first[pose + 1] - found.first[pose];
        assert.equal(of(0), 0);
        assert.ok(of(1) >= 3);
        assert.ok(of(2) >= 3); // corner at corner: three triangles of each
        assert.equal(found.pairs.length, 4 * found.count);
        assert.equal(found.segments.length, 6 * found.count);
        const { crossing, touching, coplanar, degenerate } = found.classCounts;
        assert.equal(crossing + touching + coplanar + degenerate, found.count);
        assert.ok(crossing > 0 && touching > 0);
        assert.equal(library.collide(a).count, 0); // with itself: neighbours alone
        assert.equal(library.collide(a, b, { poses, want: 'count', classes: ['touching'] }).count, touching);
        a.destroy();
        assert.throws(() => library.collide(a, b), { status: 'INVALID_HANDLE' });
        assert.throws(() => library.loadMesh(new TextEncoder().encode('v 1\nf 1 2 3\n'), 'bad.obj'),
            error => error.status === 'FILE_FORMAT' && /bad\.obj/.test(error.message));
        library.close();
    });

    await t.test('rays and distances are the native library\'s, to the bit', async ({ assert, folder, trommel }) => {
        const library = await Trommel.create(null, { threads: 2 });
        const n = 24, data = Float32Array.from({ length: n ** 3 }, (_, i) =>
            8 - Math.hypot(i % n - 11.5, Math.floor(i / n) % n - 11.5, 1.4 * (Math.floor(i / n / n) - 11.5)));
        const mesh = library.surface({ data, dims: [n, n, n] }, { iso: 0 }), ply = join(folder, 'rays.ply');
        writeFileSync(ply, library.saveMesh(mesh, 'ply'));
        const tree = library.tree(mesh), count = 2000, at = new Float32Array(3 * count), way = new Float32Array(3 * count);
        for (let i = 0; i < 3 * count; i++) {
            at[i] = 12 + 12 * Math.sin(12.9898 * i * i);
            way[i] = Math.sin(78.233 * i * i + 1);
        }
        const row = i => [...at.subarray(3 * i, 3 * i + 3), ...way.subarray(3 * i, 3 * i + 3)].join(',');
        const rays = join(folder, 'rays.csv'), hits = join(folder, 'hits.csv');
        writeFileSync(rays, `x,y,z,nx,ny,nz\n${Array.from({ length: count }, (_, i) => row(i)).join('\n')}\n`);
        const told = async (find, ...more) => {
            await trommel('rays', ply, '--rays', rays, '--find', find, '-o', hits, '--backend', 'cpu', ...more);
            return readFileSync(hits, 'utf8').trim().split('\n').slice(1).map(line => line.split(',').map(x => Math.fround(Number(x))));
        };
        const nearest = tree.cast(at, way), found = [];
        for (let i = 0; i < count; i++)
            if (nearest.t[i] < Infinity)
                found.push([i, nearest.triangles[i], nearest.t[i], ...nearest.barycentrics.subarray(2 * i, 2 * i + 2)]);
        assert.ok(found.length > 200 && found.length < count);
        assert.deepEqual(found, await told('nearest'));
        const all = tree.cast(at, way, { want: 'all' });
        assert.deepEqual(Array.from(all.t, (t, k) => [all.rays[k], all.triangles[k], t]), await told('all'));
        assert.deepEqual(Array.from(tree.cast(at, way, { want: 'any', tMax: 3 }), (one, i) => [i, one]), await told('any', '--limit', '3'));
        assert.deepEqual(Array.from(tree.cast(at, way, { want: 'count' }), (one, i) => [i, one]), await told('count'));
        const samples = join(folder, 'distances.nrrd');
        await trommel('distance', ply, '--resolution', '16', '-o', samples, '--backend', 'cpu');
        const { dims, spacing, origin, data: distances } = library.loadVolume(readFileSync(samples), 'distances.nrrd');
        const points = Float32Array.from({ length: 3 * distances.length }, (_, i) => {
            const k = Math.floor(i / 3), index = [k % dims[0], Math.floor(k / dims[0]) % dims[1], Math.floor(k / dims[0] / dims[1])];
            return origin[i % 3] + spacing[i % 3] * index[i % 3];
        });
        assert.deepEqual(tree.signedDistance(points), distances);
        assert.deepEqual(tree.nearest(points).distances, distances.map(Math.abs));
        assert.deepEqual(tree.inside(points), Uint8Array.from(distances, x => x <= 0));
        library.close();
    });

    await t.test('meshes are subdivided, everywhere and where they bend', async ({ assert }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const octahedron = {
            positions: new Float32Array([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1]),
            indices: new Uint32Array([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]),
        };
        const subdivider = library.subdivider(octahedron);
        assert.equal(subdivider.edgeCount, 12);
        assert.equal(subdivider.boundaryEdgeCount, 0);
        const plain = subdivider.uniform({ levels: 1 });
        assert.equal(plain.vertexCount, 18); // V + E
        assert.equal(plain.triangleCount, 32);
        assert.equal(plain.normals, null);
        // Loop: a new vertex is 3/8 of its edge's ends and 1/8 of the two across; first comes edge 0 - 2.
        const edges = new Set();
        for (let v = 6; v < 18; v++)
            edges.add(Array.from(plain.positions.subarray(3 * v, 3 * v + 3), x => Math.abs(x)).sort().join());
        assert.deepEqual([...edges], ['0,0.375,0.375']);
        const limit = subdivider.uniform({ levels: 2, limit: true, normals: true });
        assert.equal(limit.triangleCount, 128);
        for (let i = 0; i < limit.normals.length; i += 3)
            assert.ok(Math.abs(Math.hypot(...limit.normals.subarray(i, i + 3)) - 1) < 1e-5);
        const adaptive = subdivider.adaptive({ criterion: 'distance', threshold: 0.004, origins: true, normals: true });
        assert.ok(adaptive.error <= 1 && adaptive.depth > 1 && adaptive.isWithinBudget);
        assert.equal(adaptive.origins.length, 2 * adaptive.triangleCount);
        const { boundaryEdges, nonmanifoldEdges, euler } = library.examine(adaptive);
        assert.deepEqual([boundaryEdges, nonmanifoldEdges, euler], [0, 0, 2]);
        assert.throws(() => library.subdivider({ ...octahedron, indices: new Uint32Array([0, 1, 2, 0, 1, 3, 0, 1, 4]) }),
            { status: 'INVALID_ARGUMENT' });
        subdivider.destroy();
        assert.throws(() => subdivider.uniform({ levels: 1 }), { status: 'INVALID_HANDLE' });
        library.close();
    });

    await t.test('a picture is exposed by one call, as by its steps', async ({ assert }) => {
        const width = 31, height = 17, data = Float32Array.from({ length: 3 * width * height }, (_, i) => 0.01 * 1.01 ** i);
        const t = await Trommel.create(null, { threads: 1 });
        const shown = t.expose({ data, width, height }, { tone: 'hable', by: 'median', bias: 1 });
        const sizes = t.imageSizes(), image = { buffer: t.buffer({ type: 'f32', count: data.length, data }), width, height, channels: 3 };
        const stats = t.buffer({ type: 'u32', count: sizes.stats }), state = t.buffer({ type: 'f32', count: sizes.state });
        const out = t.buffer({ type: 'u8x4', count: width * height });
        t.imageMeasure({ image, stats });
        t.imageExpose({ stats, state, by: 'median', bias: 1, reset: true });
        t.imageTonemap({ in: image, out: { buffer: out, width, height, channels: 4, srgb: true }, state, tone: 'hable' });
        assert.deepEqual(Array.from(shown), Array.from(out.read()));
        assert.ok(new Set(shown).size > 50);
        t.close();
    });

    await t.test('options that there are not are refused, and all that there are have a type', async ({ assert, root }) => {
        const t = await Trommel.create(null, { threads: 1 }), data = new Float32Array(8);
        assert.throws(() => t.surface({ data, dims: [2, 2, 2] }, { isovalue: 3 }), /^TrommelError: surface: there is no option isovalue; there are iso /);
        assert.throws(() => t.buffer({ type: 'f32', count: 1, size: 3 }), /buffer: there is no option size/);
        await assert.rejects(Trommel.create(null, { thread: 1 }), /Trommel\.create: there is no option thread;/);
        const types = readFileSync(join(root, 'build/web/package/index.d.ts'), 'utf8');
        for (const call of ['map', 'reduce', 'histogram', 'scan', 'compact', 'sort', 'topK', 'gather', 'scatter', 'search', 'expand', 'unique', 'field', 'resolveField',
            'surfaceEnqueue', 'imageMeasure', 'imageMips', 'imageExpose', 'imageTonemap', 'importTexture', 'exportTexture'])
            assert.throws(() => t[call]({ nonsense: 1 }), error => {
                const names = /there is no option nonsense; there are (.*)$/.exec(error.message)[1].split(' ');
                return names.every(name => new RegExp(`\\b${name}\\??: `).test(types));
            });
        t.close();
    });

    await t.test('types hold without those of a browser, and of buffers are their arrays', async ({ assert, folder }) => {
        const place = join(folder, 'types');
        mkdirSync(join(place, 'node_modules/trommel'), { recursive: true });
        for (const file of ['index.d.ts', 'package.json'])
            cpSync(join(folder, '../package', file), join(place, 'node_modules/trommel', file));
        writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
        writeFileSync(join(place, 'program.ts'), `import { Trommel } from 'trommel';
            const t = await Trommel.create(null, { threads: 1, locate: file => '/x/' + file });
            export const a: Float32Array = t.buffer({ type: 'f32x3', count: 4 }).read();
            export const b: Uint32Array = await t.buffer(new Uint32Array(3)).readAsync();
            t.compact({ keep: { flags: t.buffer(new Uint8Array(3)) }, payloads: [{ in: t.buffer(a), out: t.buffer({ type: 'f32', count: 12 }) }] });
            const one = t.buffer({ type: 'u32', count: 1 });
            t.sort({ keys: t.buffer(a), descending: true, payloads: { in: one, out: one }, segments: { starts: one, count: { device: one } } });
            t.reduce({ in: one, folds: [{ fold: 'max', out: one }, { out: one }], length: 1 });
            // @ts-expect-error there is no such field
            t.sort({ keys: one, decending: true });
            // @ts-expect-error there is no such fold
            t.scan({ in: one, out: one, fold: 'median' });
            // @ts-expect-error there are keys
            t.sort({ sorted: one });
            // @ts-expect-error there is no such option
            t.surface({ data: a, dims: [1, 1, 1] }, { isovalue: 3 });
            // @ts-expect-error its elements are floats
            export const c: Float64Array = t.buffer(a).read();`);
        const tsc = createRequire(join(folder, 'index.js')).resolve('typescript/package.json').replace('package.json', 'bin/tsc');
        for (const lib of ['es2022', 'es2022,dom'])
            await promisify(execFile)(process.execPath, [tsc, '--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--module', 'nodenext',
                '--types', '', '--lib', lib, 'program.ts'], { cwd: place }).catch(error => assert.fail(error.stdout));
    });

    await t.test('mistakes are exceptions, and change nothing', async ({ assert, root }) => {
        const library = await Trommel.create(null, { threads: 1 });
        const fails = (f, status, words) => assert.throws(f, error => {
            assert.ok(error instanceof TrommelError, error.stack);
            assert.equal(error.status, status, error.message);
            assert.match(error.message, words);
            return true;
        });
        const a = library.buffer(new Float32Array(4));
        fails(() => library.buffer({ type: 'f33', count: 1 }), 'INVALID_ARGUMENT', /type is "f33"/);
        fails(() => library.buffer({ type: 'f32', count: 2, data: new Uint8Array(7) }), 'INVALID_ARGUMENT', /needs 8/);
        fails(() => a.read(3, 2), 'INVALID_ARGUMENT', /of 4/);
        fails(() => library.kernel('float f(blob x) { return 1.0f; }'), 'INVALID_ARGUMENT', /"blob x"/);
        const plain = [1, 2, 3, 4, 5, 6, 7, 8], what = /is a plain array, needs .*: new Float32Array\(array\) makes one/;
        fails(() => library.buffer(plain), 'INVALID_ARGUMENT', what);
        fails(() => library.buffer({ type: 'f32', count: 8, data: plain }), 'INVALID_ARGUMENT', what);
        fails(() => library.surface({ data: plain, dims: [2, 2, 2] }), 'INVALID_ARGUMENT', what);
        fails(() => library.expose({ data: plain, width: 1, height: 1 }), 'INVALID_ARGUMENT', what);
        fails(() => library.buffer(null), 'INVALID_ARGUMENT', /is null, needs a typed array or \{type, count\}/);
        const silent = library.kernel('float f(float x) { return x; }');
        fails(() => library.map({ kernel: silent, in: [a], out: a }), 'UNSUPPORTED', /cannot be compiled for the CPU/);
        fails(() => library.surface({ data: new Float32Array(7), dims: [2, 2, 2] }), 'INVALID_ARGUMENT', /desc\.volume/);
        fails(() => library.surface({ data: new Float32Array(8), dims: [2, 2, 2] }, { iso: NaN }), 'INVALID_ARGUMENT', /finite/);
        assert.equal(library.glsl, null);
        fails(() => library.importTexture({ texture: {}, width: 1, height: 1 }), 'UNSUPPORTED', /importTexture.*engine cpu/);
        fails(() => library.exportTexture({}), 'UNSUPPORTED', /exportTexture.*engine cpu/);
        fails(() => library.imageMeasure({ image: { texture: {}, width: 1, height: 1 }, stats: a }), 'UNSUPPORTED', /give a buffer/);
        fails(() => library.loadVolume(new TextEncoder().encode('NRRD0004\ntype: float\n'), 'a.nrrd'), 'FILE_FORMAT', /a\.nrrd/);
        /* A header whose samples lie in another file is not read as its own samples. */
        for (const [name, header] of [
            ['a.mhd', 'ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 4 4 4\nElementType = MET_UCHAR\nElementDataFile = a.raw\n'],
            ['a.nhdr', 'NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 4 4\nencoding: raw\ndata file: a.raw\n'],
        ])
            fails(() => library.loadVolume(new TextEncoder().encode(header), name), 'FILE_ACCESS', /a\.raw.*give that too/);
        fails(() => library.loadPoints(new Uint8Array(100), 'a.las'), 'FILE_FORMAT', /./);
        const gz = readFileSync(join(root, 'tests/data/engine_256x256x128_uint8.raw.gz'));
        gz[gz.length >> 1] ^= 255;
        fails(() => library.loadVolume(gz, 'engine_256x256x128_uint8.raw.gz'), 'FILE_FORMAT', /./);
        a.destroy();
        fails(() => a.read(), 'INVALID_HANDLE', /destroyed/);
        assert.equal(library.buffer(new Uint8Array([7])).read()[0], 7);
        library.close();
        fails(() => library.buffer(new Uint8Array(1)), 'INVALID_ARGUMENT', /closed/);
        await assert.rejects(Trommel.create(null, { engine: 'gl' }), { status: 'NO_DEVICE' });
    });
}
