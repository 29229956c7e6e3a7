// web-previews SITE PICTURES: for each panel a page PANEL.html with its title and picture, for who shows what a link leads to
// and does not see what stands behind "#"; browsers go on to the panel. Pictures and links are absolute where
// web/lib/addresses.js says where the page is.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PUBLIC } from '../web/lib/addresses.js';

const [site, pictures] = process.argv.slice(2);
const PANELS = {
    surface: ['Surface', 'Points become a field and a field becomes a smooth surface, each frame, on the graphics processor.'],
    compaction: ['Compaction', 'How a thousand processors put what is kept side by side: a HistoPyramid, step by step.'],
    exposure: ['Exposure', 'A picture with more light in it than a screen has, measured, exposed and tone-mapped as you watch.'],
    collision: ['Collision', 'Where two meshes meet, wherever you push them, and where one meets itself: exactly.'],
    subdivision: ['Subdivision', 'A coarse mesh becomes Loop\'s smooth surface, finer only where it bends.'],
    race: ['Race', 'Trommel against three.js and isosurface, on your machine, in your browser.'],
    device: ['Device', 'What your browser\'s graphics can do, tested rather than believed.'],
};
const escaped = text => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
const at = path => (PUBLIC?.page ? new URL(path, PUBLIC.page).href : path);

mkdirSync(join(site, 'pictures'), { recursive: true });
// What a link to a panel is shown as.
function tags(id, title, text) {
    const file = `page_${id}.jpg`;
    copyFileSync(join(pictures, file), join(site, 'pictures', file));
    const lines = { 'og:title': title, 'og:description': text, 'og:type': 'website', 'og:image': at(`pictures/${file}`) };
    return [...Object.entries(lines).map(([name, value]) => `<meta property="${name}" content="${escaped(value)}">`),
            '<meta name="twitter:card" content="summary_large_image">',
            `<meta name="twitter:image" content="${escaped(at(`pictures/${file}`))}">`].join('\n');
}

for (const [id, [name, text]] of Object.entries(PANELS)) {
    const title = `Trommel: ${name}`;
    writeFileSync(join(site, `${id}.html`), `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<meta name="description" content="${escaped(text)}">
${tags(id, title, text)}
<meta http-equiv="refresh" content="0; url=./#${id}">
<p><a href="./#${id}">${title}</a></p>
</html>
`);
}
const index = join(site, 'index.html'), html = readFileSync(index, 'utf8');
const [first, last] = ['<meta property="og:title"', '<meta name="twitter:card" content="summary">'].map(tag => html.indexOf(tag));
if (first < 0 || last < first)
    throw new Error('web/index.html has no tags from og:title to twitter:card');
writeFileSync(index, html.slice(0, first) + tags('surface', 'Trommel: streams, compacted in the browser', PANELS.surface[1]) +
    html.slice(html.indexOf('\n', last)));
