// web-sizes INDEX WASM_FOLDER: what a visitor downloads, plain and compressed. Fails above the limit.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [index, folder] = process.argv.slice(2);
// The limits in KB of brotli, which every browser with WebAssembly's SIMD takes.
let over = false;
for (const [build, limit, files] of [
    ['one thread', 420, ['trommel.js', 'trommel.wasm']],
    ['with threads', 420, ['trommel-threads.js', 'trommel-threads.worker.js', 'trommel-threads.wasm']],
    ...[['surface', 210], ['streams', 140], ['image', 108]].map(([part, limit]) =>
        [`${part} alone`, limit, [`trommel-${part}.js`, `trommel-${part}.wasm`]]),
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
    if (sum.brotli > limit * 1000) {
        console.error(`web-sizes: ${build}: more than ${limit} KB of brotli`);
        over = true;
    }
}
process.exit(over ? 1 : 0);
