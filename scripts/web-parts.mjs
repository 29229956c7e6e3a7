// web-parts PACKAGE: the package's parts, each a module of its own WebAssembly for who needs no more, and of Node's.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
for (const part of ['surface', 'streams', 'image']) {
    const file = ending => `        'trommel-${part}.${ending}': () => new URL('./wasm/trommel-${part}.${ending}', import.meta.url),\n`;
    writeFileSync(join(folder, `${part}.js`),
        `import { Trommel as Whole } from './index.js';
export { TrommelError } from './index.js';
export class Trommel extends Whole {
    static module = 'trommel-${part}';
    static files = {
${file('js')}${file('wasm')}    };
    static get hasThreads() { return false; }
}
export default Trommel;
`);
    writeFileSync(join(folder, `${part}-node.js`),
        `import './node.js';\nexport * from './${part}.js';\nexport { default } from './${part}.js';\n`);
}
