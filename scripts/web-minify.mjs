// web-minify SITE: the page's own scripts in fewer bytes. What visitors read (code/) stays as it is. Wants terser in NODE_PATH.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { minify } = createRequire(import.meta.url)('terser');
const [site] = process.argv.slice(2);
for (const folder of ['.', 'lib', 'panels'])
    for (const name of readdirSync(join(site, folder)).filter(file => file.endsWith('.js'))) {
        const path = join(site, folder, name);
        const { code } = await minify(readFileSync(path, 'utf8'), { module: true, ecma: 2020, compress: { passes: 2 }, mangle: true });
        writeFileSync(path, `${code}\n`);
    }
