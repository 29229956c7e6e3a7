/* In Node, Deno and Bun the files are read from the disk. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

import { host } from './core.js';

const { compile } = host, require = createRequire(import.meta.url);
const processors = availableParallelism?.() ?? cpus().length;

Object.defineProperty(host, 'processors', { value: processors });
Object.assign(host, {
    isNode: true,
    pathOf: url => (url.startsWith('file:') ? fileURLToPath(url) : url),
    compile: async url => (url.startsWith('file:') ? WebAssembly.compile(await readFile(new URL(url))) : compile(url)),
    factory: async url => require(fileURLToPath(url)),
});
