// The package in a browser: the GL engine beside the CPU engine, every path, a lent context's state, a lost
// context.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openWithoutWebGL2 } from './without_webgl2.mjs';

const blank = 'test/blank.html';

// Samples of a few waves, as a function to be sent to the page.
const field = n => {
    const data = new Float32Array(n ** 3);
    for (let z = 0, i = 0; z < n; z++)
        for (let y = 0; y < n; y++)
            for (let x = 0; x < n; x++)
                data[i++] = 10 - Math.hypot(x - n / 2, y - n / 2.2, z - n / 1.9) + Math.sin(x / 2) + Math.cos(y / 3);
    return data;
};

export default async function (t) {
    await t.test('a mesh on WebGL equals the CPU engine\'s', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const field = ${field}, n = 32, data = field(n);
            const gl = await Trommel.create(document.createElement('canvas'), { engine: 'gl' });
            const cpu = await Trommel.create(null, { threads: 2 });
            const options = { iso: 0.25, normals: 'central' }, volume = { data, dims: [n, n, n] };
            const a = gl.surface(volume, options), b = cpu.surface(volume, options);
            const worst = (x, y) => Math.max(...Array.from(x, (value, i) => Math.abs(value - y[i])));
            const points = Float32Array.from({ length: 900 }, (_, i) => (i * 7919 % 1009) / 1009 * n);
            const spec = { points, radius: 4, grid: { dims: [n, n, n] } };
            const fields = [gl, cpu].map(one => one.field(spec).read());
            return {
                path: gl.path, threads: cpu.device.threads, isolated: crossOriginIsolated, count: a.triangleCount,
                same: a.vertexCount === b.vertexCount && a.indices.every((index, i) => index === b.indices[i]),
                positions: worst(a.positions, b.positions), normals: worst(a.normals, b.normals),
                field: worst(fields[0], fields[1]), highest: Math.max(...fields[1]),
                error: gl.gl.getError(),
            };
        })()`);
        assert.equal(result.path, 'integer');
        assert.ok(result.isolated && result.threads === 2);
        assert.ok(result.count > 1000 && result.same);
        assert.ok(result.positions <= 8 * 2 ** -24 * 32, `positions differ by ${result.positions}`);
        assert.ok(result.normals < 1e-4, `normals differ by ${result.normals}`);
        assert.ok(result.highest > 0.5 && result.field < 1e-4, `fields differ by ${result.field}`);
        assert.equal(result.error, 0);
    });

    await t.test('a soup that stays on the device equals the welded mesh', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const field = ${field}, n = 24, data = field(n), dims = [n, n, n];
            const gl = await Trommel.create(document.createElement('canvas'), { engine: 'gl' });
            const volume = gl.buffer({ type: 'f32', count: n ** 3, data });
            const welded = gl.surface({ data: volume, dims }, { iso: 0.25, normals: 'central', cells: true });
            const room = 3 * welded.triangleCount;
            const vertices = gl.buffer({ type: 'f32x3', count: room }), vertexNormals = gl.buffer({ type: 'f32x3', count: room });
            const triangleCells = gl.buffer({ type: 'u32', count: room / 3 }), counts = gl.buffer({ type: 'u32', count: 2 });
            gl.surfaceEnqueue({ volume, dims, iso: 0.25, normals: 'central', soup: true, vertices, vertexNormals, triangleCells, counts });
            const gathered = array => Float32Array.from(Array.from(welded.indices).flatMap(v => [...array.subarray(3 * v, 3 * v + 3)]));
            const same = (x, y) => x.length === y.length && x.every((value, i) => value === y[i]);
            return {
                triangles: welded.triangleCount, counts: [...counts.read()], error: gl.gl.getError(),
                positions: same(vertices.read(), gathered(welded.positions)),
                normals: same(vertexNormals.read(), gathered(welded.normals)), cells: same(triangleCells.read(), welded.cells),
            };
        })()`);
        assert.ok(result.triangles > 500);
        assert.deepEqual(result, { triangles: result.triangles, counts: [3 * result.triangles, result.triangles], error: 0,
                                   positions: true, normals: true, cells: true });
    });

    await t.test('every path keeps the same elements', async ({ open, assert }) => {
        const page = await open(blank);
        const results = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const results = [];
            for (const [webgl, path] of [[2, 'integer'], [2, 'float'], [2, 'float-packed'], [2, 'float_packed'], [2, 'packed'], [1, 'float'], [1, 'packed']]) {
                const t = await Trommel.create(document.createElement('canvas'), { engine: 'gl', webgl, path });
                const numbers = Float32Array.from({ length: 1000 }, (_, i) => (i * 37) % 101 - 50);
                const out = t.buffer({ type: 'f32', count: 1000 }), count = t.buffer({ type: 'u32', count: 1 });
                t.compact({ keep: { kernel: t.kernel('bool positive(float x) { return x > 0.0f; }') }, count,
                            payloads: [{ in: t.buffer(numbers), out }] });
                const wanted = numbers.filter(x => x > 0), got = out.read(0, wanted.length);
                results.push({ webgl, path, chosen: t.path, is2: 'bindSampler' in t.gl,
                               same: count.readCount() === wanted.length && got.every((x, i) => x === wanted[i]) });
                t.close();
            }
            return results;
        })()`);
        for (const { webgl, path, chosen, is2, same } of results) {
            assert.equal(chosen, path.replace('_', '-'));
            assert.equal(is2, webgl === 2);
            assert.ok(same, `WebGL ${webgl}, path ${path}`);
        }
        assert.equal(results.length, 7);
    });

    await t.test('kernels read whole arrays and call libraries', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const t = await Trommel.create(document.createElement('canvas'), { engine: 'gl' });
            const vectors = (type, count, numbers) => {
                const made = t.buffer({ type, count });
                made.write(new Uint32Array(numbers));
                return made;
            };
            const corners = t.buffer(new Float32Array([0, 0, 3, 4, 6, 8])), length = t.buffer({ type: 'f32', count: 3 });
            const ends = vectors('u32x2', 3, [0, 1, 1, 2, 0, 2]);
            const measured = t.kernel(
                'float measured(uvec2 ends, tml_words points, tml_index i, tml_params p, float least) { return max(least, '
                + 'p.f[0] * apart(points, ends.x, ends.y) + F(i)); }', undefined,
                'FUNCTION(float) apart(tml_words points, uint a, uint b) { return length2(sub2(tml_word_vec2(points, a), '
                + 'tml_word_vec2(points, b))); }');
            t.map({ kernel: measured, in: [ends, corners, t.buffer(new Float32Array([0, 11.5, 0]))], out: length, params: { f: [2] } });
            const threes = t.buffer({ type: 'u32x3', count: 2 });
            t.map({ kernel: t.kernel('uvec3 mixed(uvec4 v) { return UVEC3(v.w, v.x + v.y, v.z); }'), out: threes,
                    in: [vectors('u32x4', 2, [1, 2, 3, 4, 5, 6, 7, 4e9])] });
            const found = { length: [...length.read()], threes: [...threes.read()] };
            t.close();
            return found;
        })()`);
        assert.deepEqual(result, { length: [10, 11.5, 22], threes: [4, 3, 3, 4e9, 11, 7] });
    });

    await t.test('a lent context keeps its state and its textures', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const gl = document.createElement('canvas').getContext('webgl2');
            const texture = gl.createTexture();
            gl.activeTexture(gl.TEXTURE3);
            gl.bindTexture(gl.TEXTURE_2D, texture);
            gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R32UI, 10, 10);
            gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 10, 10, gl.RED_INTEGER, gl.UNSIGNED_INT, Uint32Array.from({ length: 100 }, (_, i) => i));
            const t = await Trommel.create(gl, { engine: 'gl' });
            const array = gl.createVertexArray(), buffer = gl.createBuffer(), framebuffer = gl.createFramebuffer();
            gl.bindVertexArray(array);
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
            gl.viewport(1, 2, 3, 4);
            gl.scissor(5, 6, 7, 8);
            gl.colorMask(true, false, true, false);
            gl.enable(gl.BLEND);
            gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
            gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2);
            const input = t.buffer({ type: 'u32', count: 100, texture: { texture, width: 10, height: 10 } });
            const out = t.buffer({ type: 'u64', count: 1 });
            t.reduce({ in: input, folds: [{ fold: 'sum', out }] });
            const sum = Number(out.read()[0]);
            const state = [
                gl.getParameter(gl.TEXTURE_BINDING_2D) === texture, gl.getParameter(gl.ACTIVE_TEXTURE) === gl.TEXTURE3,
                gl.getParameter(gl.VERTEX_ARRAY_BINDING) === array, gl.getParameter(gl.ARRAY_BUFFER_BINDING) === buffer,
                gl.getParameter(gl.FRAMEBUFFER_BINDING) === framebuffer, gl.isEnabled(gl.BLEND), !gl.isEnabled(gl.SCISSOR_TEST),
                String(gl.getParameter(gl.VIEWPORT)) === '1,2,3,4', String(gl.getParameter(gl.SCISSOR_BOX)) === '5,6,7,8',
                String(gl.getParameter(gl.COLOR_WRITEMASK)) === 'true,false,true,false',
                gl.getParameter(gl.UNPACK_FLIP_Y_WEBGL), gl.getParameter(gl.UNPACK_ALIGNMENT) === 2,
            ];
            t.close();
            return { sum, state, alive: gl.isTexture(texture), error: gl.getError() };
        })()`);
        assert.equal(result.sum, 4950);
        assert.deepEqual(result.state, result.state.map(() => true));
        assert.ok(result.alive);
        assert.equal(result.error, 0);
    });

    await t.test('textures of the page are pictures, come into buffers and leave them', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const gl = document.createElement('canvas').getContext('webgl2');
            gl.getExtension('EXT_color_buffer_float');
            const make = (format, data) => {
                const texture = gl.createTexture();
                gl.bindTexture(gl.TEXTURE_2D, texture);
                gl.texStorage2D(gl.TEXTURE_2D, 1, format, 6, 4);
                if (data)
                    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 6, 4, gl.RGBA, gl.FLOAT, data);
                return texture;
            };
            const colours = Float32Array.from({ length: 96 }, (_, i) => 0.25 * (i % 61));
            const picture = make(gl.RGBA16F, colours), other = make(gl.RGBA32F);
            const t = await Trommel.create(gl, { engine: 'gl' });
            const stats = [0, 1].map(() => t.buffer({ type: 'u32', count: t.imageSizes().stats }));
            const held = t.buffer(colours), back = t.buffer({ type: 'f32', count: 96 });
            gl.activeTexture(gl.TEXTURE1);
            gl.bindTexture(gl.TEXTURE_2D, other);
            t.imageMeasure({ image: { texture: picture, width: 6, height: 4, format: gl.RGBA16F, channels: 4 }, stats: stats[0] });
            t.imageMeasure({ image: { buffer: held, width: 6, height: 4, channels: 4 }, stats: stats[1] });
            /* a volume of 3 x 2 x 4 in four tiles */
            t.exportTexture({ texture: other, width: 6, height: 4, format: gl.RGBA32F, tiles: [3, 2], buffer: held });
            t.importTexture({ texture: other, width: 6, height: 4, format: gl.RGBA32F, buffer: back });
            const [a, b] = stats.map(one => one.read()), rows = back.read();
            let message = '';
            try {
                t.importTexture({ texture: other, width: 6, height: 4, format: gl.RGBA32UI, buffer: back });
            } catch (error) {
                message = error.message;
            }
            const shader = gl.createShader(gl.FRAGMENT_SHADER);
            gl.shaderSource(shader, '#version 300 es\\nprecision highp float;\\n' + t.glsl +
                'uniform highp usampler2D words; out vec4 colour; void main() { colour = tml_vec4(words, tml_count(words)); }');
            gl.compileShader(shader);
            const result = {
                same: a.every((word, i) => word === b[i]), pixels: a[0],
                /* the second slice is the tile on the right */
                moved: rows[12] === colours[24] && rows[24] === colours[12] && rows[95] === colours[95],
                kept: gl.getParameter(gl.TEXTURE_BINDING_2D) === other && gl.getParameter(gl.ACTIVE_TEXTURE) === gl.TEXTURE1,
                message, compiled: gl.getShaderParameter(shader, gl.COMPILE_STATUS), error: gl.getError(),
            };
            t.close();
            return result;
        })()`);
        assert.ok(result.same && result.pixels === 24);
        assert.ok(result.moved && result.kept && result.compiled);
        assert.match(result.message, /float or normalised colours/);
        assert.equal(result.error, 0);
    });

    await t.test('where there is no WebGL 2 the CPU engine computes, unless a path is asked for', async ({ open, root, assert }) => {
        const page = await openWithoutWebGL2(open, `/${blank}`);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const opened = async (target, options) => {
                const said = [], t = await Trommel.create(target, { ...options, log: (level, text) => level === 'warning' && said.push(text) });
                const told = [t.engine, t.path, said.some(text => text.includes('the CPU engine takes its place'))];
                t.close();
                return told;
            };
            const canvas = () => document.createElement('canvas');
            return [await opened(canvas()), await opened(canvas().getContext('webgl')), await opened(canvas(), { engine: 'gl', path: 'packed' }),
                    await opened(canvas(), { path: 'packed' }), (await opened(canvas(), { webgl: 1 })).slice(0, 1), (await opened(canvas(), { engine: 'gl' })).slice(0, 1)];
        })()`);
        assert.deepEqual(result, [['cpu', null, true], ['cpu', null, true], ['gl', 'packed', false], ['gl', 'packed', false], ['gl'], ['gl']]);
        // The README's first program, with a canvas.
        const text = readFileSync(join(root, 'packages/trommel/README.md'), 'utf8');
        const program = /```js\n([\s\S]*?)```/.exec(text)[1];
        const printed = /It prints `([^`]*)` and `([^`]*)`/.exec(text).slice(1);
        const said = await page.evaluate(async source => {
            document.body.append(document.createElement('canvas'));
            const lines = [], { log } = console;
            console.log = line => lines.push(line);
            await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
            console.log = log;
            return lines;
        }, program.replace("from 'trommel'", `from '${new URL('/trommel/index.js', page.url())}'`));
        assert.deepEqual(said, printed);
    });

    await t.test('transform feedback of the page\'s goes on', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const gl = document.createElement('canvas').getContext('webgl2'), program = gl.createProgram();
            for (const [kind, text] of [[gl.VERTEX_SHADER, 'out float x; void main() { x = 1.0; gl_Position = vec4(0.0); }'], [gl.FRAGMENT_SHADER, 'void main() {}']]) {
                const shader = gl.createShader(kind);
                gl.shaderSource(shader, '#version 300 es\\n' + text);
                gl.compileShader(shader);
                gl.attachShader(program, shader);
            }
            gl.transformFeedbackVaryings(program, ['x'], gl.INTERLEAVED_ATTRIBS);
            gl.linkProgram(program);
            const t = await Trommel.create(gl, { engine: 'gl' });
            const buffer = gl.createBuffer();
            gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
            gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 1024, gl.STATIC_DRAW);
            gl.useProgram(program);
            gl.beginTransformFeedback(gl.TRIANGLES);
            const out = t.buffer({ type: 'u64', count: 1 });
            t.reduce({ in: t.buffer(new Uint32Array([1, 2, 3])), folds: [{ fold: 'sum', out }] });
            const sum = Number(out.read()[0]);
            const state = [gl.getParameter(gl.TRANSFORM_FEEDBACK_ACTIVE), gl.getParameter(gl.TRANSFORM_FEEDBACK_PAUSED)];
            gl.endTransformFeedback();
            t.close();
            return { sum, state, error: gl.getError(), own: Object.hasOwn(gl, 'beginTransformFeedback') };
        })()`);
        assert.deepEqual(result, { sum: 6, state: [true, false], error: 0, own: false });
    });

    await t.test('counts that are exact by call, and clocks of WebGL 1 and 2', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const gl = document.createElement('canvas').getContext('webgl2');
            const t = await Trommel.create(gl, { engine: 'gl' });
            const isSmall = t.kernel('bool is_small(uint x) { return x < 3u; }', x => x < 3);
            const values = t.buffer(Uint32Array.from({ length: 1000 }, (_, i) => i % 10)), out = t.buffer({ type: 'u32', count: 1000 });
            let reads = 0;
            const { readPixels } = gl;
            gl.readPixels = function (...rest) {
                reads++;
                return readPixels.apply(gl, rest);
            };
            const readsOf = exact => {
                t.exactCounts(exact);
                reads = 0;
                t.compact({ keep: { kernel: isSmall }, payloads: [{ in: values, out }] });
                return reads;
            };
            const waits = [readsOf(false), readsOf(true), readsOf(), readsOf(false)];
            const sum = out.read(0, 300).reduce((a, b) => a + b);
            const clocks = [(await t.time(() => {})).by];
            t.close();
            const first = await Trommel.create(document.createElement('canvas').getContext('webgl'), { engine: 'gl' });
            clocks.push((await first.time(() => {})).by, await first.finished());
            first.close();
            const cpu = await Trommel.create();
            let refused = '';
            try {
                cpu.exactCounts();
            } catch (error) {
                refused = error.status;
            }
            clocks.push((await cpu.time(() => {})).by);
            cpu.close();
            return { waits: waits.map(n => n > 0), sum, clocks: clocks.map(by => by ?? null), refused };
        })()`);
        assert.deepEqual(result.waits, [false, true, true, false]);
        assert.equal(result.sum, 300);
        assert.match(result.clocks[0], /^(fence|timer-query)$/);
        assert.deepEqual(result.clocks.slice(1), ['clock', null, 'clock']);
        assert.equal(result.refused, 'UNSUPPORTED');
    });

    await t.test('histograms and bounding boxes on the GPU', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const t = await Trommel.create(document.createElement('canvas').getContext('webgl2'), { engine: 'gl' });
            const values = t.buffer(Float32Array.from({ length: 1000 }, (_, i) => i % 10)), weights = t.buffer(Float32Array.from({ length: 1000 }, (_, i) => i % 3));
            const counts = t.buffer({ type: 'u32', count: 3 }), sums = t.buffer({ type: 'f32', count: 3 });
            const edges = t.buffer(new Float32Array([0, 1, 5, 8]));
            t.histogram({ in: [values], edges, out: counts });
            t.histogram({ in: [values], edges, weights, out: sums });
            const points = t.buffer({ type: 'f32x3', count: 1000, data: Float32Array.from({ length: 3000 }, (_, i) => [i, -i, 7][i % 3]) });
            const low = t.buffer({ type: 'f32x3', count: 1 }), high = t.buffer({ type: 'f32x3', count: 1 });
            t.reduce({ in: points, folds: [{ fold: 'min', out: low }] });
            t.reduce({ in: points, folds: [{ fold: 'max', out: high }] });
            const found = [counts, sums, low, high].map(buffer => [...buffer.read()]);
            t.close();
            return found;
        })()`);
        const of = (f, from, to) => Array.from({ length: 1000 }, (_, i) => i).filter(i => i % 10 >= from && i % 10 <= to).reduce((sum, i) => sum + f(i), 0);
        const bins = [[0, 0], [1, 4], [5, 8]]; // the last one with its upper edge
        assert.deepEqual(result, [bins.map(b => of(() => 1, ...b)), bins.map(b => of(i => i % 3, ...b)), [0, -2998, 7], [2997, -1, 7]]);
    });

    await t.test('a destroyed buffer\'s texture is nobody\'s, also where it was bound', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const gl = document.createElement('canvas').getContext('webgl2');
            const t = await Trommel.create(gl, { engine: 'gl' });
            const large = t.buffer({ type: 'u32', count: 1 << 21 }), { texture } = large.texture;
            gl.bindTexture(gl.TEXTURE_2D, texture);
            large.destroy();
            const bound = gl.getParameter(gl.TEXTURE_BINDING_2D);
            t.close();
            return { bound, isTexture: gl.isTexture(texture), error: gl.getError() };
        })()`);
        assert.deepEqual(result, { bound: null, isTexture: false, error: 0 });
    });

    await t.test('a lost context is said to be, and another takes its place', async ({ open, assert }) => {
        const page = await open(blank);
        const result = await page.evaluate(`(async () => {
            const { Trommel } = await import('/trommel/index.js');
            const canvas = document.createElement('canvas');
            const event = name => new Promise(resolve => canvas.addEventListener(name, e => { e.preventDefault(); resolve(); }, { once: true }));
            const t = await Trommel.create(canvas, { engine: 'gl' });
            const buffer = t.buffer(new Uint32Array([1, 2, 3])), lose = t.gl.getExtension('WEBGL_lose_context');
            const lost = event('webglcontextlost');
            lose.loseContext();
            await lost;
            let status = null;
            try { buffer.read(); } catch (error) { status = error.status; }
            const isLost = t.isLost, restored = event('webglcontextrestored');
            t.close();
            await new Promise(resolve => setTimeout(resolve)); // it may be restored once the event is over
            lose.restoreContext();
            await restored;
            const again = await Trommel.create(canvas, { engine: 'gl' });
            return { status, isLost, read: [...again.buffer(new Uint32Array([4, 5])).read()] };
        })()`);
        assert.deepEqual(result, { status: 'DEVICE_LOST', isLost: true, read: [4, 5] });
    });
}
