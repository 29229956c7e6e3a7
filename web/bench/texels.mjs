// What a frame moves: the texels and bytes that the passes of a field and its surface write, and the bytes of
// the textures that they read from, each taken once and whole. Counted at the calls of WebGL, so that any
// device gives the same.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serve } from '../../scripts/web-serve.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

// Runs in the page before its scripts: passCount.passes is the list of what was drawn into textures.
function watch() {
    const gl = WebGL2RenderingContext, prototype = gl.prototype;
    const BYTES = { [gl.R32UI]: 4, [gl.R32F]: 4, [gl.RG32UI]: 8, [gl.RGBA32UI]: 16, [gl.RGBA32F]: 16, [gl.R8UI]: 1,
        [gl.R16UI]: 2, [gl.R8]: 1, [gl.RGBA8]: 4 };
    const SAMPLERS = [gl.SAMPLER_2D, gl.UNSIGNED_INT_SAMPLER_2D, gl.INT_SAMPLER_2D];
    const count = (window.passCount = { passes: [] });
    const textures = [], sizes = new Map(), attached = new Map(), samplers = new Map();
    let unit = 0, target = null, program = null, view = [0, 0], box = [0, 0], isCut = false;
    const before = (name, note) => {
        const call = prototype[name];
        prototype[name] = function (...args) {
            note(this, ...args);
            return call.apply(this, args);
        };
    };
    before('activeTexture', (_, which) => (unit = which - gl.TEXTURE0));
    before('bindTexture', (_, point, texture) => (textures[unit] = texture));
    before('texStorage2D', (_, point, levels, format, width, height) => {
        if (!(format in BYTES))
            throw new Error(`texels: nothing is known of format ${format}`);
        sizes.set(textures[unit], { bytes: BYTES[format], whole: BYTES[format] * width * height });
    });
    before('bindFramebuffer', (_, point, framebuffer) => {
        if (point !== gl.READ_FRAMEBUFFER)
            target = framebuffer;
    });
    before('framebufferTexture2D', (_, point, attachment, kind, texture) => {
        if (!attached.has(target))
            attached.set(target, new Map());
        attached.get(target).set(attachment, texture);
    });
    before('viewport', (_, x, y, width, height) => (view = [width, height]));
    before('scissor', (_, x, y, width, height) => (box = [width, height]));
    for (const name of ['enable', 'disable'])
        before(name, (_, what) => (isCut = what === gl.SCISSOR_TEST ? name === 'enable' : isCut));
    before('useProgram', (_, next) => (program = next));
    before('drawArrays', (context, mode, first, vertices) => {
        if (!target)
            return;
        if (!samplers.has(program))
            samplers.set(program, Array.from({ length: context.getProgramParameter(program, gl.ACTIVE_UNIFORMS) },
                (_, i) => context.getActiveUniform(program, i)).filter(({ type }) => SAMPLERS.includes(type))
                .map(({ name }) => context.getUniformLocation(program, name)));
        const read = new Set(samplers.get(program).map(place => textures[context.getUniform(program, place)]));
        const out = [...attached.get(target).values()].reduce((sum, texture) => sum + (sizes.get(texture)?.bytes ?? 0), 0);
        const [width, height] = view.map((size, axis) => (isCut ? Math.min(size, box[axis]) : size));
        const texels = mode === gl.POINTS ? vertices : width * height;
        count.passes.push({ texels, written: texels * out,
            read: [...read].reduce((sum, texture) => sum + (sizes.get(texture)?.whole ?? 0), 0) });
    });
}

// Runs in the page: {field, surface}, each {passes, texels, written, read}, of the swarm.
async function measure(side) {
    const { LiveSurface } = await import('/lib/live_surface.js');
    const { scenes } = await import('/lib/scenes.js');
    const { Trommel } = await import('/trommel/index.js');
    const gl = document.createElement('canvas').getContext('webgl2');
    const trommel = await Trommel.create(gl);
    const scene = scenes.find(({ id }) => id === 'swarm'), cloud = scene.create(7);
    const live = new LiveSurface(trommel, () => {});
    live.setGrid({ dims: [side, side, side], origin: [-1, -1, -1], spacing: Array(3).fill(2 / (side - 1)) });
    const field = () =>
        live.evaluate({ points: cloud.positions, radii: cloud.radii, radius: cloud.radius, kernel: scene.kernel });
    const surface = () => live.extract({ iso: scene.iso, normals: 'sobel' });
    field();
    surface();
    live.expect(1.4 * (await live.counts.readAsync())[0]); // room as it is after the first frames
    const counted = (run) => {
        run();
        passCount.passes = [];
        run();
        const sum = (name) => passCount.passes.reduce((all, one) => all + one[name], 0);
        return { passes: passCount.passes.length, texels: sum('texels'), written: sum('written'), read: sum('read') };
    };
    return { field: counted(field), surface: counted(surface) };
}

const { chromium } = createRequire(join(root, 'build/web/peers/index.js'))('playwright-core');
const server = await serve();
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--enable-unsafe-swiftshader'],
});
try {
    const page = await browser.newPage();
    page.on('pageerror', error => console.error(error));
    await page.addInitScript(watch);
    await page.goto(`${server.url}bench/index.html`);
    console.log('                passes   M texels  written, MB  read, MB');
    for (const side of [64, 128])
        for (const [name, { passes, texels, written, read }] of Object.entries(await page.evaluate(measure, side))) {
            const million = value => (value / 1e6).toFixed(2);
            console.log(`${`${side}^3 ${name}`.padEnd(14)} ${String(passes).padStart(7)} ${million(texels).padStart(10)} ` +
                `${million(written).padStart(12)} ${million(read).padStart(9)}`);
        }
} finally {
    await browser.close();
    await server.close();
}
