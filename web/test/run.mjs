// run [WORD ...]: the tests of the package (packages/trommel/test) in Node and of the page (web/test) in
// Chromium without a screen, which draws on the processor. Words choose tests by part of their files and names.
//
// A file's default export gets t; t.test(name, async (tools) => ...) runs at once, one after the other.
// Tools:
//   assert                node:assert/strict
//   open(path, options)   a Playwright page at the site's path, closed after the test. What it writes to
//                         the console as an error, or throws, fails the test; options.allow: a RegExp of
//                         errors that belong to the test; options.isolated: false leaves out the
//                         headers that threads need; the rest goes to browser.newContext
//   shot(page, name)      a screenshot, build/web/test/NAME.png
//   root                  the repository's folder, for data; folder: build/web/test
//   trommel(...args)      runs the native command, resolves to its output
//   skip(reason)          ends the test, which is counted as skipped
// Ends with "N passed, N failed, N skipped".
import { execFile } from 'node:child_process';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { serve } from '../../scripts/web-serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const folder = join(root, 'build/web/test');
mkdirSync(folder, { recursive: true });
const words = process.argv.slice(2);
const LIMIT = 180_000; // milliseconds for one test: the machine may be slow and shared

const chromiumArguments = [
    '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
];

let browser = null;
const servers = new Map();

async function browserOf() {
    if (!browser) {
        const { chromium } = createRequire(join(folder, 'index.js'))('playwright-core');
        const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
            .find(path => existsSync(path));
        browser = await chromium.launch({ executablePath, headless: true, args: chromiumArguments });
    }
    return browser;
}

async function serverOf(isolated) {
    if (!servers.has(isolated))
        servers.set(isolated, await serve({ isolated }));
    return servers.get(isolated);
}

class Skip extends Error {}

class Tools {
    assert = assert;
    root = root;
    folder = folder;
    contexts = [];
    errors = [];

    open = async (path = '', { allow, isolated = true, ...options } = {}) => {
        const context = await (await browserOf()).newContext(options);
        this.contexts.push(context);
        const page = await context.newPage();
        page.setDefaultTimeout(60_000);
        const note = text => allow?.test(text) || this.errors.push(text);
        page.on('console', message => {
            if (message.type() === 'error')
                note(`console: ${message.text()} (${message.location().url})`);
        });
        page.on('pageerror', error => note(`uncaught: ${error.stack ?? error}`));
        await page.goto((await serverOf(isolated)).url + path);
        return page;
    };

    shot = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });

    trommel = async (...args) => {
        const { stdout } = await promisify(execFile)(join(root, 'build/release/bin/trommel'), args);
        return stdout;
    };

    skip = reason => { throw new Skip(reason); };

    async close() {
        await Promise.all(this.contexts.map(context => context.close()));
        assert.deepEqual(this.errors, [], 'errors in the page');
    }
}

let passed = 0, failed = 0, skipped = 0;

async function runTest(file, name, body) {
    const tools = new Tools(), start = performance.now();
    let timer, error = null;
    const limit = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not done after ${LIMIT / 1000} s`)), LIMIT);
    });
    try {
        await Promise.race([body(tools), limit]);
    } catch (caught) {
        error = caught;
    }
    clearTimeout(timer);
    try {
        await tools.close();
    } catch (caught) {
        error ??= caught;
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (error instanceof Skip) {
        console.log(`skipped ${file}: ${name}: ${error.message}`);
        skipped++;
        return;
    }
    console.log(`${error ? 'FAILED' : 'passed'} ${file}: ${name} (${seconds} s)`);
    if (error)
        console.log(String(error.stack ?? error).replace(/^/gm, '    '));
    error ? failed++ : passed++;
}

const isAsked = text => !words.length || words.some(word => text.includes(word));
const files = [join(root, 'packages/trommel/test'), here].flatMap(place =>
    (existsSync(place) ? readdirSync(place) : []).filter(name => name.endsWith('.test.mjs')).sort()
        .map(name => join(place, name)));
for (const path of files) {
    const file = path.slice(root.length + 1);
    try {
        const { default: define } = await import(pathToFileURL(path));
        await define({ test: (name, body) => isAsked(`${file}: ${name}`) && runTest(file, name, body) });
    } catch (error) {
        failed++;
        console.log(`FAILED ${file}\n${String(error.stack ?? error).replace(/^/gm, '    ')}`);
    }
}
await browser?.close();
for (const server of servers.values())
    await server.close();
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed || passed === 0 ? 1 : 0);
