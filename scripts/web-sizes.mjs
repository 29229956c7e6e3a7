// web-sizes INDEX WASM_FOLDER: what a visitor downloads, plain and compressed. Fails above the limit.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [index, folder] = process.argv.slice(2);
const limit = 420 * 1000; // bytes of brotli, which every browser with WebAssembly's SIMD takes; all programs
let over = false;
for (const [build, files] of [
    ['one thread', ['trommel.js', 'trommel.wasm']],
    ['with threads', ['trommel-threads.js', 'trommel-threads.worker.js', 'trommel-threads.wasm']],
]) {
    const sum = { plain: 0, gzip: 0, brotli: 0 };
    for (const path of [index, ...files.map(file => `${folder}/${file}`)]) {
        const bytes = readFileSync(path);
        sum.plain += bytes.length;
        sum.gzip += gzipSync(bytes, { level: 9 }).length;
        sum.brotli += brotliCompressSync(bytes).length;
    }
    const kb = bytes => `${(bytes / 1000).toFixed(1).padStart(7)} KB`;
    console.log(`${build.padEnd(13)} ${kb(sum.plain)} plain ${kb(sum.gzip)} gzip ${kb(sum.brotli)} brotli`);
    over ||= sum.brotli > limit;
}
if (over) {
    console.error(`web-sizes: more than ${limit / 1000} KB of brotli`);
    process.exit(1);
}
