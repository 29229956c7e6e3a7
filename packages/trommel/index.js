/* Trommel for JavaScript: whole.js with the files of wasm/ beside it. They are written out, so that bundlers find them
 * and put them where they put such files. */
import { Trommel } from './whole.js';

Trommel.files = {
    'trommel.js': () => new URL('./wasm/trommel.js', import.meta.url),
    'trommel.wasm': () => new URL('./wasm/trommel.wasm', import.meta.url),
    'trommel-threads.js': () => new URL('./wasm/trommel-threads.js', import.meta.url),
    'trommel-threads.wasm': () => new URL('./wasm/trommel-threads.wasm', import.meta.url),
    'trommel-threads.worker.js': () => new URL('./wasm/trommel-threads.worker.js', import.meta.url),
};

export * from './whole.js';
export { default } from './whole.js';
