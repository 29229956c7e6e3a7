/* Trommel for JavaScript in Node, Deno and Bun. */
import './host-node.js';

export * from './index.js';
export { default } from './index.js';
