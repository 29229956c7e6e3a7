// How soon the page shows its first surface, and what keeps it from answering meanwhile: in Chromium
// without a screen, a browser of its own for each start. It is started as on a machine without a graphics
// processor: WebGL is emulated, the page around it is painted by the processor as ever.
//
// start [TURNS] [URL ...]: this checkout's page, or several pages (another commit's, served by its
// scripts/web-serve.mjs), in turns, so that what else the machine does meets all alike.
//     first     seconds from the navigation until the device has drawn a surface's first picture
//     engine    the same until the first surface that was made on the device is drawn
//     page, gpu seconds of processor time that the page's process (its workers' threads too) and that of
//               graphics took until "first", by DevTools: what else the machine does blurs these little
//     main      seconds of the main thread's tasks until "engine" and 3 s beyond, by DevTools
//     longest   the longest task, ms; tasks: those of more than 50 ms. Where WebGL is emulated the browser's
//               painting waits in one for each picture.
//     script    most processor time that one task took that began after "first", ms
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serve } from '../../scripts/web-serve.mjs';

const SETTLE = 1500; // milliseconds
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
            if (seen[what] || gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED)
                return;
            clearInterval(timer);
            const isFirst = !seen.first;
            seen[what] = performance.now();
            if (isFirst) {
                seen.first = seen[what];
                performance.mark('first surface');
                startFirst();
            }
        };
        // Timers come late where pictures follow one another: the next one's begin looks, too.
        const timer = setInterval(poll, 5);
        requestAnimationFrame(poll);
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

// Resolves to a function that ends the trace and resolves to its events.
async function startTrace(session) {
    const events = [];
    session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
    await session.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'] } });
    return async () => {
        const complete = new Promise(resolve => session.once('Tracing.tracingComplete', resolve));
        await session.send('Tracing.end');
        await complete;
        return events;
    };
}

// Processor time, ms, of the task that took the most of those after the mark, on the mark's thread.
function longestAfterMark(events, name) {
    const mark = events.find(event => event.name === name);
    const tasks = events.filter(({ pid, tid, ts, tdur }) => pid === mark.pid && tid === mark.tid && ts > mark.ts && tdur);
    return Math.round(Math.max(0, ...tasks.map(({ tdur }) => tdur)) / 1000);
}

async function start(chromium, url) {
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--enable-unsafe-swiftshader'],
    });
    try {
        const processes = await browser.newBrowserCDPSession();
        // Seconds of processor time by the process's type.
        const processorTimes = async () => {
            const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
            const sum = type => processInfo.filter(one => one.type === type).reduce((all, { cpuTime }) => all + cpuTime, 0);
            return { page: sum('renderer'), gpu: sum('GPU') };
        };
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
        page.on('pageerror', error => console.error(error));
        const session = await page.context().newCDPSession(page);
        await session.send('Performance.enable', { timeDomain: 'threadTicks' });
        await page.addInitScript(watch);
        let spent = null;
        await page.waitForTimeout(SETTLE); // the browser's own start
        await page.exposeFunction('startFirst', () => (spent ??= processorTimes()));
        const before = await processorTimes();
        const trace = await startTrace(processes);
        await page.goto(url);
        await page.waitForFunction(() => startSeen.engine, null, { timeout: 120_000 });
        await page.waitForTimeout(3000);
        const events = await trace();
        const { first, engine, tasks } = await page.evaluate(() => startSeen);
        const { metrics } = await session.send('Performance.getMetrics');
        const main = metrics.find(({ name }) => name === 'TaskDuration').value;
        const { page: inPage, gpu } = await spent;
        return { first: first / 1000, engine: engine / 1000, page: inPage - before.page, gpu: gpu - before.gpu, main, tasks,
            script: longestAfterMark(events, 'first surface') };
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
    const columns = ['first, s', 'engine, s', 'page, s', 'gpu, s', 'main, s', 'longest, ms', 'tasks', 'script, ms'];
    console.log('First surface (medians)'.padEnd(36) + columns.map(column => column.padStart(12)).join(''));
    for (const [k, url] of pages.entries()) {
        const of = f => median(results[k].map(f));
        const seconds = ['first', 'engine', 'page', 'gpu', 'main'].map(name => of(one => one[name]).toFixed(2));
        const longest = of(({ tasks }) => Math.max(0, ...tasks.map(([, duration]) => duration)));
        const figures = [...seconds, longest, of(({ tasks }) => tasks.length), of(({ script }) => script)];
        console.log(url.padEnd(36) + figures.map(figure => String(figure).padStart(12)).join(''));
    }
}

const [turns = 5, ...urls] = process.argv.slice(2);
await run(Number(turns), urls);
