// web-serve: the page on this machine alone, as it lies in web/ (edit and reload), with the headers that
// let it have threads. PORT chooses the port, 8080; "--isolated=no" leaves the headers out. As a module:
// serve({port, isolated, folder}) resolves to {url, close()}; folder: that alone in place of the site's.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
// The static site's folders, and where they come from; later ones are tried first.
const places = [
    ['/', join(root, 'web')],
    ['/data/', join(root, 'tests/data')],
    ['/examples/', join(root, 'packages/trommel/examples')],
    ['/node_modules/', join(root, 'build/web/test/node_modules')],
    ['/trommel/', join(root, 'build/web/package')],
    ['/race/', join(root, 'build/web/race')],
    ['/bench/peers/', join(root, 'build/web/peers')],
].reverse();
const types = {
    '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
    '.mjs': 'text/javascript; charset=utf-8', '.json': 'application/json', '.wasm': 'application/wasm',
    '.png': 'image/png', '.jpg': 'image/jpeg', '.svg': 'image/svg+xml', '.webp': 'image/webp',
    '.webmanifest': 'application/manifest+json',
};

function fileOf(path, places) {
    for (const [prefix, folder] of places) {
        if (!path.startsWith(prefix))
            continue;
        const file = join(folder, normalize('/' + path.slice(prefix.length)));
        try {
            const info = statSync(file.endsWith('/') ? join(file, 'index.html') : file);
            if (info.isFile())
                return { file: file.endsWith('/') ? join(file, 'index.html') : file, size: info.size };
        } catch {
            // the next place may have it
        }
    }
    return null;
}

export function serve({ port = 0, isolated = true, folder = null } = {}) {
    const server = createServer((request, response) => {
        let path;
        try {
            path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
        } catch {
            response.writeHead(400).end();
            return;
        }
        const found = fileOf(path, folder ? [['/', folder]] : places);
        const headers = { 'Cache-Control': 'no-store' };
        if (isolated) {
            headers['Cross-Origin-Opener-Policy'] = 'same-origin';
            headers['Cross-Origin-Embedder-Policy'] = 'require-corp';
            headers['Cross-Origin-Resource-Policy'] = 'same-origin';
        }
        if (!found) {
            response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end(`no ${path} here\n`);
            return;
        }
        response.writeHead(200, {
            ...headers, 'Content-Length': found.size,
            'Content-Type': types[extname(found.file)] ?? 'application/octet-stream',
        });
        if (request.method === 'HEAD')
            response.end();
        else
            createReadStream(found.file).pipe(response);
    });
    return new Promise((resolve, reject) => {
        server.on('error', reject);
        server.listen(port, '127.0.0.1', () => resolve({
            url: `http://127.0.0.1:${server.address().port}/`,
            close: () => new Promise(done => {
                server.close(done);
                server.closeAllConnections();
            }),
        }));
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const isolated = !process.argv.includes('--isolated=no');
    const { url } = await serve({ port: Number(process.env.PORT ?? 8080), isolated });
    console.log(`The page is at ${url} (end with Ctrl+C)`);
}
