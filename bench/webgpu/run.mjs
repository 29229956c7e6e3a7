// run [TURNS]: runs the prototype in headless Chromium, on a software adapter, compared with this
// library there; and in npm's webgpu, if build/web/webgpu has it (npm install --prefix
// build/web/webgpu webgpu). Run "make web" and "make test-web" before.
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { serve } from '../../scripts/web-serve.mjs';
import { compare } from './compare.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..'), options = { turns: Number(process.argv[2] ?? 9) };

function print(where, { device, compact, signs }) {
    for (const [title, rows] of [['compact of 2^20 u32, half kept', compact], ['sign bits of 128^3 f32', signs]]) {
        console.log(`\n${where}, ${device}: ${title}`.padEnd(86) + 'median    best, ms');
        for (const { name, median, best, helped } of rows)
            console.log(`${(helped === undefined ? name : `${name}: ${helped} counted for others`).padEnd(84)}${median.toFixed(2).padStart(8)} ${best.toFixed(2).padStart(7)}`);
    }
}

const { chromium } = createRequire(join(root, 'build/web/test/index.js'))('playwright-core');
const server = await serve(), prototype = await serve({ folder: dirname(fileURLToPath(import.meta.url)) });
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
});
try {
    const page = await browser.newPage();
    page.on('pageerror', error => console.error(error));
    await page.route('**/prototype/*', async route => route.fulfill({ response: await route.fetch({ url: prototype.url + route.request().url().split('/').at(-1) }) }));
    await page.goto(`${server.url}bench/index.html`);
    print('Chromium', await page.evaluate(async given => {
        const [{ compare }, { Trommel }] = await Promise.all([import('/prototype/compare.js'), import('/trommel/index.js')]);
        return compare(navigator.gpu, Trommel, given);
    }, options));
} finally {
    await browser.close();
    await server.close();
    await prototype.close();
}

const dawn = join(root, 'build/web/webgpu/node_modules/webgpu/index.js');
if (existsSync(dawn)) {
    const { create, globals } = await import(pathToFileURL(dawn));
    Object.assign(globalThis, globals);
    const gpu = create([]);
    setInterval(() => gpu, 1000); // its promises do not keep Node alive, nor its devices it
    print('Node, Dawn', await compare(gpu, null, options));
    process.exit();
}
