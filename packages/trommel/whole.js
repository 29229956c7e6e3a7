/* Trommel for JavaScript with all of its parts. */
import './parts/collide.js';
import './parts/files.js';
import './parts/image.js';
import './parts/meshes.js';
import './parts/streams.js';
import './parts/subdivide.js';
import './parts/surface.js';

export { INTERNAL, Trommel, TrommelError, Trommel as default, host } from './core.js';
