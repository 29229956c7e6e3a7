// How soon the page shows its first surface, and what keeps it from answering meanwhile: in Chromium
// without a screen, which draws on the processor, a browser of its own for each start.
//
// start [TURNS] [URL ...]: this checkout's page, or several pages (another commit's, served by its
// scripts/web-serve.mjs), in turns, so that what else the machine does meets all alike.
//     first     seconds from the navigation until the device has drawn a surface's first picture
//     engine    the same until the first surface that was made on the device is drawn
//     main      seconds of the main thread's tasks until then and 3 s beyond, by DevTools
//     longest   the longest task, ms; tasks: those of more than 50 ms
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serve } from '../../scripts/web-serve.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

// Runs in the page before its scripts. A picture counts when a fence behind the draw is passed.
function watch() {
    const seen = (window.startSeen = { first: null, engine: null, tasks: [] });
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
            seen.tasks.push([Math.round(entry.startTime), Math.round(entry.duration)]);
    }).observe({ type: 'longtask', buffered: true });
    const prototype = WebGL2RenderingContext.prototype;
    const { bindFramebuffer, bindVertexArray, drawArrays } = prototype;
    let target = null, vertices = null;
    prototype.bindFramebuffer = function (point, framebuffer) {
        if (point !== this.READ_FRAMEBUFFER)
            target = framebuffer;
        bindFramebuffer.call(this, point, framebuffer);
    };
    prototype.bindVertexArray = function (array) {
        vertices = array;
        bindVertexArray.call(this, array);
    };
    const note = (gl, what) => {
        seen[what] = 0;
        const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl.flush();
        const poll = () => {
            if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED)
                return void setTimeout(poll, 5);
            seen[what] = performance.now();
            seen.first ||= seen[what];
        };
        setTimeout(poll, 5);
    };
    // A surface that the device made is fetched from textures, by a vertex array without attributes; one from
    // the processor is drawn with the default one.
    prototype.drawArrays = function (mode, first, count) {
        drawArrays.call(this, mode, first, count);
        const what = vertices ? 'engine' : 'first';
        if (seen[what] === null && !target && mode === this.TRIANGLES && count > 3000)
            note(this, what);
    };
}

async function start(chromium, url) {
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    });
    try {
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
        page.on('pageerror', error => console.error(error));
        const session = await page.context().newCDPSession(page);
        await session.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.addInitScript(watch);
        await page.goto(url);
        await page.waitForFunction(() => startSeen.engine, null, { timeout: 120_000 });
        await page.waitForTimeout(3000);
        const { first, engine, tasks } = await page.evaluate(() => startSeen);
        const { metrics } = await session.send('Performance.getMetrics');
        const main = metrics.find(({ name }) => name === 'TaskDuration').value;
        return { first: first / 1000, engine: engine / 1000, main, tasks };
    } finally {
        await browser.close();
    }
}

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];

async function run(turns, urls) {
    const { chromium } = createRequire(join(root, 'build/web/peers/index.js'))('playwright-core');
    const server = urls.length ? null : await serve();
    const pages = urls.length ? urls : [server.url];
    const results = pages.map(() => []);
    try {
        for (let turn = 0; turn < turns; turn++)
            for (const [k, url] of pages.entries()) {
                results[k].push(await start(chromium, url));
            }
    } finally {
        await server?.close();
    }
    console.log('First surface (medians)               first, s  engine, s  main, s  longest, ms  tasks');
    for (const [k, url] of pages.entries()) {
        const of = f => median(results[k].map(f));
        const longest = of(({ tasks }) => Math.max(0, ...tasks.map(([, duration]) => duration)));
        console.log(`${url.padEnd(36)} ${of(r => r.first).toFixed(2).padStart(9)} ${of(r => r.engine).toFixed(2).padStart(10)} ` +
            `${of(r => r.main).toFixed(2).padStart(8)} ${String(longest).padStart(12)} ${String(of(r => r.tasks.length)).padStart(6)}`);
    }
}

const [turns = 5, ...urls] = process.argv.slice(2);
await run(Number(turns), urls);
