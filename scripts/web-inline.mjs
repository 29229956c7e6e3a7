// web-inline PACKAGE: the script and the WebAssembly of one thread as modules, for the package's inline.js.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
const ending = ',"object"!=typeof module&&(globalThis.createTrommel=createTrommel);';
const script = readFileSync(join(folder, 'wasm/trommel.js'), 'utf8');
if (!script.trimEnd().endsWith(ending))
    throw new Error('wasm/trommel.js does not end as packages/trommel/CMakeLists.txt has it');
// What Node would have is not there, and no bundler looks for it.
const without = ['require', 'process', 'module', 'exports', 'define', '__filename', '__dirname'].map(name => `${name} = undefined`);
writeFileSync(join(folder, 'inline_script.js'),
    `const ${without.join(', ')};\n${script.trimEnd().slice(0, -ending.length)};\nexport default createTrommel;\n`);
writeFileSync(join(folder, 'inline_bytes.js'),
    `export default '${gzipSync(readFileSync(join(folder, 'wasm/trommel.wasm')), { level: 9 }).toString('base64')}';\n`);
