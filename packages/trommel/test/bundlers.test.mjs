// Production builds of a program that uses the package, by each bundler as it is without settings, opened in a browser.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Trommel } from '../../../build/web/package/node.js';
import { serve } from '../../../scripts/web-serve.mjs';

function sphere(n = 32) {
    return { n, data: Float32Array.from({ length: n ** 3 }, (_, i) =>
        10 - Math.hypot(i % n - 15.5, Math.floor(i / n) % n - 15.5, Math.floor(i / n / n) - 15.5)) };
}

// A sphere by one thread and by two, and on the device; what came out, or what went wrong, stands in the page.
const program = (entry, options = '{}') => `import { Trommel } from '${entry}';
${sphere}
async function main() {
    const { data, n } = sphere(), found = [];
    for (const [target, options] of [[null, { threads: 1 }], [null, { threads: 2 }], [document.createElement('canvas'), {}]]) {
        const t = await Trommel.create(target, { ...options, ...${options} });
        found.push(t.engine + ' ' + t.device.threads + ' ' + t.surface({ data, dims: [n, n, n] }).triangleCount);
        t.close();
    }
    return found.join(', ');
}
main().then(text => (document.body.dataset.result = text), error => (document.body.dataset.result = String(error)));
`;
const pageWith = script => `<!doctype html><meta charset="utf-8"><title>x</title><link rel="icon" href="data:,"><body>${script}</body>`;

// A folder with the program and the package as npm would install it, without what it need not publish.
function projectOf(folder, name, entry, options) {
    const root = join(folder, 'bundles', name);
    rmSync(root, { recursive: true, force: true });
    mkdirSync(join(root, 'src'), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(root, 'src/index.js'), program(entry, options));
    const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', root, join(folder, '../package')]).toString().trim();
    mkdirSync(join(root, 'node_modules/trommel'), { recursive: true });
    execFileSync('tar', ['-xzf', join(root, tarball), '--strip-components=1', '-C', join(root, 'node_modules/trommel')]);
    return root;
}

export default async function (t) {
    const here = await Trommel.create(null, { threads: 1 }), { data, n } = sphere();
    const count = here.surface({ data, dims: [n, n, n] }).triangleCount;
    here.close();
    const TWO = `cpu 1 ${count}, cpu 2 ${count}, gl 1 ${count}`, ONE = TWO.replace('cpu 2', 'cpu 1');
    const load = async (folder, name) => import(pathToFileURL(createRequire(join(folder, 'index.js')).resolve(name)));
    const bundlers = {
        async vite(root, folder) {
            writeFileSync(join(root, 'index.html'), pageWith('<script type="module" src="/src/index.js"></script>'));
            await (await load(folder, 'vite')).build({ root, logLevel: 'error', configFile: false });
        },
        async webpack(root, folder) {
            const { default: webpack } = await load(folder, 'webpack');
            const stats = await new Promise((resolve, reject) =>
                webpack({ mode: 'production', context: root, output: { path: join(root, 'dist') } }, (error, made) => (error ? reject(error) : resolve(made))));
            if (stats.hasErrors())
                throw new Error(stats.toString());
            writeFileSync(join(root, 'dist/index.html'), pageWith('<script src="main.js"></script>'));
        },
        async esbuild(root, folder) {
            const { build } = await load(folder, 'esbuild');
            const { warnings } = await build({ absWorkingDir: root, entryPoints: ['src/index.js'], bundle: true, minify: true, outfile: 'dist/main.js', logLevel: 'error' });
            if (warnings.length)
                throw new Error(warnings[0].text);
            writeFileSync(join(root, 'dist/index.html'), pageWith('<script src="main.js"></script>'));
        },
        async rollup(root, folder) {
            const { rollup } = await load(folder, 'rollup');
            const { nodeResolve } = await load(folder, '@rollup/plugin-node-resolve');
            const bundle = await rollup({ input: join(root, 'src/index.js'), plugins: [nodeResolve()], onwarn: warning => { throw new Error(warning.message); } });
            await bundle.write({ file: join(root, 'dist/main.js'), format: 'es' });
            writeFileSync(join(root, 'dist/index.html'), pageWith('<script type="module" src="main.js"></script>'));
        },
    };
    const opened = async (open, dist) => {
        const server = await serve({ folder: dist });
        try {
            const page = await open('test/blank.html');
            await page.goto(server.url);
            await page.waitForFunction(() => document.body.dataset.result, null, { timeout: 60_000 });
            return await page.evaluate(() => document.body.dataset.result);
        } finally {
            await server.close();
        }
    };

    // The scripts and WebAssembly that a build emits.
    const emitted = root => readdirSync(join(root, 'dist'), { recursive: true }).map(name => name.replace(/^assets./, ''))
        .filter(name => /\.(js|wasm)$/.test(name));

    for (const name of ['vite', 'webpack', 'esbuild', 'rollup'])
        for (const part of ['', '/surface'])
            await t.test(`${name} builds a program of trommel${part} that works, without a setting`, async ({ open, folder, assert }) => {
                const root = projectOf(folder, `${name}${part.replace('/', '-')}`, `trommel${part}`);
                await bundlers[name](root, folder);
                const files = emitted(root), isOne = ['esbuild', 'rollup'].includes(name);
                assert.ok(isOne ? files.join() === 'main.js' : files.filter(file => file.endsWith('.wasm')).length === (part ? 1 : 2), files.join());
                assert.equal(await opened(open, join(root, 'dist')), isOne || part ? ONE : TWO);
            });
    for (const name of ['esbuild', 'rollup'])
        await t.test(`${name} with the package's files beside`, async ({ open, folder, assert }) => {
            for (const entry of ['trommel/files', 'trommel']) {
                const root = projectOf(folder, `${name}-beside`, entry, '{ base: document.baseURI }');
                await bundlers[name](root, folder);
                cpSync(join(root, 'node_modules/trommel/wasm'), join(root, 'dist/wasm'), { recursive: true });
                assert.equal(await opened(open, join(root, 'dist')), TWO);
            }
        });
    await t.test('files that are not there are told, with what helps', async ({ open, folder, assert }) => {
        const root = projectOf(folder, 'missing', 'trommel/files', '{ base: document.baseURI }');
        await bundlers.esbuild(root, folder);
        const server = await serve({ folder: join(root, 'dist') });
        try {
            const page = await open('test/blank.html', { allow: /404/ });
            await page.goto(server.url);
            await page.waitForFunction(() => document.body.dataset.result);
            assert.match(await page.evaluate(() => document.body.dataset.result),
                /^TrommelError: Trommel\.create: http:.*trommel\.(js|wasm) .*; options\.locate or base says where .*trommel\/inline/);
        } finally {
            await server.close();
        }
    });
}
