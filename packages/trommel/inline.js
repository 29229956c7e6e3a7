/* Trommel for JavaScript in one file: core.js with the script and the WebAssembly of one thread within, for bundlers
 * that leave other files behind, and pages that load nothing more. */
import { Trommel } from './core.js';
import * as within from './within/trommel.js';

Trommel.within = within;

export * from './core.js';
export { default } from './core.js';
