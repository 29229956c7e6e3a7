/* Trommel for JavaScript in one file: index.js with the script and the WebAssembly of one thread within, for bundlers
 * that leave other files behind, and pages that load nothing more. */
import { host } from './index.js';
import create from './inline_script.js';
import text from './inline_bytes.js';

const inflated = () => new Response(
    new Blob([Uint8Array.from(atob(text), letter => letter.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip')),
);

Object.assign(host, {
    isInline: true,
    compile: async () => WebAssembly.compile(await inflated().arrayBuffer()),
    factory: async () => create,
});

export * from './index.js';
export { default } from './index.js';
