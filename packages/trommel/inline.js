/* Trommel for JavaScript in one file: whole.js with the script and the WebAssembly of one thread within, for bundlers
 * that leave other files behind, and pages that load nothing more. */
import { Trommel } from './whole.js';
import * as within from './within/trommel.js';

Trommel.within = within;

export * from './whole.js';
export { default } from './whole.js';
