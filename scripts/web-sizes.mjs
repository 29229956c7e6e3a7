// web-sizes PACKAGE: what a visitor downloads, plain and compressed. Fails above the limit.
import { readFileSync, readdirSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
// The limits in KB of brotli, which every browser with WebAssembly's SIMD takes.
const whole = ['whole.js', ...readdirSync(`${folder}/parts`).map(name => `parts/${name}`)];
const methods = part => [`parts/${part}.js`, ...(part === 'meshes' ? ['parts/lent.js'] : [])];
let over = false;
for (const [build, limit, files] of [
    ['one thread', 420, ['index.js', ...whole, 'wasm/trommel.js', 'wasm/trommel.wasm']],
    ['with threads', 426, ['index.js', ...whole, ...['js', 'worker.js', 'wasm'].map(end => `wasm/trommel-threads.${end}`)]],
    ...[['surface', 138], ['meshes', 81], ['streams', 114], ['image', 85]].map(([part, limit]) =>
        [`${part} alone`, limit, [`${part}.js`, ...methods(part), `wasm/trommel-${part}.js`, `wasm/trommel-${part}.wasm`]]),
    ['in one file', 495, [...whole, 'inline.js', 'within/trommel.js']],
    ...[['surface', 159], ['meshes', 90], ['streams', 130], ['image', 95]].map(([part, limit]) =>
        [`${part} in one`, limit, [`${part}-inline.js`, ...methods(part), `within/trommel-${part}.js`]]),
]) {
    const sum = { plain: 0, gzip: 0, brotli: 0 };
    for (const file of ['core.js', ...files]) {
        const bytes = readFileSync(`${folder}/${file}`);
        sum.plain += bytes.length;
        sum.gzip += gzipSync(bytes, { level: 9 }).length;
        sum.brotli += brotliCompressSync(bytes).length;
    }
    const kb = bytes => `${(bytes / 1000).toFixed(1).padStart(7)} KB`;
    console.log(`${build.padEnd(14)} ${kb(sum.plain)} plain ${kb(sum.gzip)} gzip ${kb(sum.brotli)} brotli`);
    if (sum.brotli > limit * 1000) {
        console.error(`web-sizes: ${build}: more than ${limit} KB of brotli`);
        over = true;
    }
}
process.exit(over ? 1 : 0);
