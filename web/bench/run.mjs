// The comparison of bench.js in Chromium without a screen: tables on the standard output.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serve } from '../../scripts/web-serve.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { chromium } = createRequire(join(root, 'build/web/peers/index.js'))('playwright-core');
const [turns = 9, ...sides] = process.argv.slice(2).map(Number);
if (!sides.length)
    sides.push(64, 128);

const server = await serve();
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
try {
    const page = await browser.newPage();
    page.on('pageerror', error => console.error(error));
    for (const side of sides) {
        await page.goto(`${server.url}bench/index.html`); // a browser keeps few contexts
        const { device, points, samples, moving } =
            await page.evaluate(async asked => (await import('./bench.js')).run(...asked), [side, turns]);
        console.log(`${side}^3, ${device}`);
        for (const [title, rows] of [['From points, on the device', points], ['From an array of samples, to the picture', samples],
            ['From moving points, to the picture', moving]]) {
            console.log(`\n${title.padEnd(44)}  triangles   median    best, ms`);
            for (const row of rows)
                console.log(`${row.name.padEnd(44)} ${String(row.triangles || '').padStart(10)} ${row.median.toFixed(1).padStart(8)} ${row.best.toFixed(1).padStart(8)}`);
        }
        console.log('');
    }
} finally {
    await browser.close();
    await server.close();
}
