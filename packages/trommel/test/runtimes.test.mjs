// The lines of code that the page's panels show, in each runtime as npm has it: as they are, and built into one file by
// esbuild in that runtime. One that npm cannot install here is skipped.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { SAID } from '../../../web/test/code.test.mjs';

// Package and version of npm's, the program in it, and arguments that come before a file's name.
const RUNTIMES = {
    'Node 18': ['node@18.20.8', 'node/bin/node'],
    'Node 20': ['node@20.20.2', 'node/bin/node'],
    'Node 22': ['node@22.23.3', 'node/bin/node'],
    'Deno': ['deno@2.9.6', '.bin/deno', 'run', '--allow-all', '--no-code-cache'], // V8 may stop at what another build left
    'Bun': ['bun@1.4.5', '.bin/bun'],
};

const run = promisify(execFile);

async function install(folder, [wanted, program]) {
    const prefix = join(folder, 'runtimes', wanted), path = join(prefix, 'node_modules', program);
    if (!existsSync(path)) {
        mkdirSync(prefix, { recursive: true });
        writeFileSync(join(prefix, 'package.json'), '{ "private": true }');
        await run('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', wanted], { timeout: 150_000 });
    }
    await run(path, ['--version'], { timeout: 20_000 });
    return path;
}

export default async function (t) {
    for (const [name, runtime] of Object.entries(RUNTIMES))
        await t.test(`${name} runs the panels' code, and builds it into one file that runs`, async ({ assert, root, folder, skip }) => {
            let path;
            try {
                path = await install(folder, runtime);
            } catch (error) {
                skip(`${runtime[0]} cannot be installed: ${(error.stderr || error.message).trim().split('\n')[0]}`);
            }
            const place = join(folder, 'runtimes', 'programs');
            rmSync(place, { recursive: true, force: true });
            mkdirSync(join(place, 'node_modules'), { recursive: true });
            symlinkSync(join(root, 'build/web/package'), join(place, 'node_modules/trommel'));
            writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
            const saidWith = threads => Object.entries({ ...SAID, device: new RegExp(`^cpu: CPU, ${threads} threads?, ${threads} threads, path`) });
            const say = async file => (await run(path, [...runtime.slice(2), file], { cwd: place, timeout: 60_000 })).stdout.trim();
            for (const [id, said] of saidWith(Math.min(availableParallelism(), 8))) {
                cpSync(join(root, `web/code/${id}.js`), join(place, `${id}.js`));
                assert.match(await say(`${id}.js`), said);
            }
            const esbuild = createRequire(join(folder, 'index.js')).resolve('esbuild');
            writeFileSync(join(place, 'build.js'), `import esbuild from ${JSON.stringify(esbuild)};
                await esbuild.build({ entryPoints: ${JSON.stringify(Object.keys(SAID).map(id => `${id}.js`))}, bundle: true, format: 'esm', outdir: 'dist' });
                await esbuild.stop?.();`);
            await say('build.js');
            rmSync(join(place, 'node_modules'), { recursive: true });
            for (const [id, said] of saidWith(1))
                assert.match(await say(`dist/${id}.js`), said);
        });
}
