// web-package PACKAGE: the package's files that are made of what was compiled: modules with the WebAssembly within, the
// parts, each with a WebAssembly of its own for who needs no more, and threads that start in Deno.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
const read = name => readFileSync(join(folder, name), 'utf8'), write = (name, text) => writeFileSync(join(folder, name), text);

const ending = ',"object"!=typeof module&&(globalThis.createTrommel=createTrommel);';
// What Node would have is not there, and no bundler looks for it.
const without = ['require', 'process', 'module', 'exports', 'define', '__filename', '__dirname'].map(name => `${name} = undefined`);
function writeWithin(name) {
    const script = read(`wasm/${name}.js`).trimEnd();
    if (!script.endsWith(ending))
        throw new Error(`wasm/${name}.js does not end as packages/trommel/CMakeLists.txt has it`);
    write(`within/${name}.js`, `const ${without.join(', ')};
${script.slice(0, -ending.length)};
export const create = createTrommel;
const bytes = '${gzipSync(readFileSync(join(folder, `wasm/${name}.wasm`)), { level: 9 }).toString('base64')}';
export const compile = async () => WebAssembly.compile(await new Response(
    new Blob([Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip'))
).arrayBuffer());
`);
}
mkdirSync(join(folder, 'within'), { recursive: true });
writeWithin('trommel');

for (const part of ['surface', 'meshes', 'streams', 'image']) {
    const entry = (imports, members) => `import { Trommel as Whole } from './core.js';
import './parts/${part}.js';
${imports}export { TrommelError } from './core.js';
export class Trommel extends Whole {
    static module = 'trommel-${part}';
${members}}
export default Trommel;
`;
    const file = ending => `        'trommel-${part}.${ending}': () => new URL('./wasm/trommel-${part}.${ending}', import.meta.url),\n`;
    write(`${part}.js`, entry('', `    static files = {\n${file('js')}${file('wasm')}    };\n    static within = null;\n`));
    write(`${part}-inline.js`, entry(`import * as within from './within/trommel-${part}.js';\n`, '    static files = null;\n    static within = within;\n'));
    write(`${part}-node.js`, `import './host-node.js';\nexport * from './${part}.js';\nexport { default } from './${part}.js';\n`);
    writeWithin(`trommel-${part}`);
}

// Emscripten's worker assigns global.location, which Deno's workers have as a getter alone.
const worker = read('wasm/trommel-threads.worker.js'), assigns = 'Object.assign(global,{self:global';
const defines = '(what=>{for(const name in what)Object.defineProperty(global,name,{value:what[name],writable:true,configurable:true})})({self:global';
if (!worker.includes(assigns) && !worker.includes(defines))
    throw new Error('wasm/trommel-threads.worker.js does not begin as Emscripten 3.1.6 writes it');
write('wasm/trommel-threads.worker.js', worker.replace(assigns, defines));
