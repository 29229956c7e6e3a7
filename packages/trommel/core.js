/* Trommel for JavaScript; index.d.ts says what each call does. This file turns objects and typed arrays
 * into the requests of src/web.h and its replies back into objects. index.js, inline.js and the parts say where the
 * WebAssembly is: apart from this file, since bundlers take every file that one names.
 *
 * Each Trommel is an instance of the WebAssembly module of its own, so that contexts share nothing and
 * closing one gives all its memory back; the module is compiled once. */

const version = '0.1.0';

export class TrommelError extends Error {
    constructor(status, message) {
        super(message);
        this.name = 'TrommelError';
        this.status = status;
    }
}

/* ---- what the library's enumerations are called here ------------------------------------------- */

const METHODS = ['auto', 'look-back', 'reduce-then-scan', 'histopyramid'];
const FOLDS = ['sum', 'min', 'max', 'argmin', 'argmax', 'mean'];
const NORMALS = ['none', 'forward', 'central', 'sobel'];
const FIELD_KINDS = ['sum', 'distance'];
const FIELD_KERNELS = ['wendland', 'poly6', 'metaball'];
const PATHS = ['integer', 'float', 'float-packed', 'packed'];
const LEVELS = ['error', 'warning', 'info', 'debug'];
const EXPOSE_BY = ['mean', 'median', 'percentile', 'manual'];
const TONES = ['srgb', 'reinhard', 'reinhard-extended', 'hable', 'aces-fit', 'agx', 'neutral'];
const LUMINANCES = ['rec709', 'rec2020', 'acescg', 'max-rgb', 'custom'];
const METERS = ['average', 'centre', 'spot', 'matrix'];
const MIP_FILTERS = ['area', 'kaiser'];
const MEASURES = { log: 1, mean: 2, histogram: 4 };
const HISTOGRAM_BINS = 256;
const COLLIDE_CLASSES = ['none', 'crossing', 'touching', 'coplanar', 'degenerate'];
const COLLIDE_WANTS = ['all', 'count', 'first'];
const COLLIDE_METHODS = ['auto', 'depth-first', 'breadth-first'];
const TREE_RULES = ['even-odd', 'winding', 'solid-angle'];
const CASTS = ['nearest', 'any', 'count', 'all'];
const NEAREST_MAX = 256;
const BOUNDARIES = ['edge-only', 'edge-and-corner', 'pinned'];
const SUBDIVIDE_WEIGHTS = ['loop', 'warren'];
const SPLIT_CRITERIA = ['length', 'pixels', 'angle', 'distance'];
const MESH_FORMATS = ['ply', 'stl', 'glb', 'obj', 'vtp'];

const ARRAYS = {
    u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array,
    u64: BigUint64Array, i64: BigInt64Array, f16: Uint16Array, f32: Float32Array, f64: Float64Array,
};

const KERNEL_TYPES = {
    bool: 'u8', float: 'f32', int: 'i32', uint: 'u32', vec2: 'f32x2', vec3: 'f32x3', vec4: 'f32x4',
    uvec2: 'u32x2', uvec3: 'u32x3', uvec4: 'u32x4', double: 'f64', uint64: 'u64', int64: 'i64',
};
const KERNEL_EXTRAS = ['tml_index', 'tml_rank', 'tml_params', 'tml_words'];
const KERNEL_PARAMS = 6;

/* An option's place in its list. */
function choice(call, field, list, value) {
    if (value === undefined || value === null)
        return 0;
    const index = list.indexOf(value);
    if (index < 0)
        throw new TrommelError('INVALID_ARGUMENT',
            `${call}: ${field} is ${JSON.stringify(value)}, needs one of ${list.join(', ')}`);
    return index;
}

function invalid(message) {
    return new TrommelError('INVALID_ARGUMENT', message);
}

function luminanceFields(call, { luminance, weights = [], floor }) {
    return {
        luminance: choice(call, 'luminance', LUMINANCES, luminance), floor,
        weight0: weights[0], weight1: weights[1], weight2: weights[2],
    };
}

function typeOf(array) {
    if (array instanceof Uint8ClampedArray)
        return 'u8';
    for (const type in ARRAYS)
        if (type !== 'f16' && array instanceof ARRAYS[type])
            return type;
    return null;
}

const scalarOf = type => type.split('x')[0];
const componentsOf = type => Number(type.split('x')[1] ?? 1);

/* What is told of data that are not what is needed. */
function unlike(data, needed) {
    return Array.isArray(data) ? `a plain array, needs ${needed}: new Float32Array(array) makes one, or the type that the numbers have`
                               : `${data === null ? 'null' : typeof data}, needs ${needed}`;
}

/* Bytes of an array or of an ArrayBuffer, in place. */
function bytesOf(call, data) {
    if (ArrayBuffer.isView(data))
        return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer || (typeof SharedArrayBuffer !== 'undefined' && data instanceof SharedArrayBuffer))
        return new Uint8Array(data);
    throw invalid(`${call}: data is ${unlike(data, 'a typed array or an ArrayBuffer')}`);
}

/* A turn of the event loop, soon: timers wait four milliseconds. */
function turn() {
    return new Promise(resolve => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            channel.port1.close();
            resolve();
        };
        channel.port2.postMessage(null);
    });
}

/* Some milliseconds. */
function pause(milliseconds = 4) {
    return new Promise(resolve => setTimeout(resolve, milliseconds));
}

/* ---- loading ----------------------------------------------------------------------------------- */

const compiled = new Map(); /* promises of modules by address */
const factories = new Map();

const notFound = (url, reason) => new TrommelError('FILE_ACCESS', `Trommel.create: ${url} ${reason}; options.locate or base ` +
    "says where the files of the package's wasm/ lie, or import 'trommel/inline', which has them within");

/* The threads' script: small enough that bundlers make a data URL of it, whose origin is none, and gets no memory. */
async function workerAt(url) {
    return url.startsWith('data:') ? URL.createObjectURL(await (await fetch(url)).blob()) : null;
}

/* What differs with the place that the package runs in; node.js changes it. */
export const host = {
    isNode: false,
    get processors() { return globalThis.navigator?.hardwareConcurrency ?? 1; },
    pathOf: url => url,
    async compile(url) {
        const response = await fetch(url);
        if (!response.ok)
            throw notFound(url, `answers ${response.status}`);
        /* Not every server knows the type that compileStreaming demands. */
        return response.headers.get('Content-Type') === 'application/wasm'
            ? WebAssembly.compileStreaming(response)
            : WebAssembly.compile(await response.arrayBuffer());
    },
    async factory(url, name) {
        try {
            await import(/* webpackIgnore: true */ /* @vite-ignore */ url);
        } catch (error) {
            throw notFound(url, `cannot be imported (${error.message})`);
        }
        return globalThis[name];
    },
};

/* A promise by key, made at first use; one that fails is forgotten. */
function once(map, key, make) {
    let promise = map.get(key);
    if (!promise) {
        promise = make();
        map.set(key, promise);
        promise.catch(() => map.delete(key));
    }
    return promise;
}

/* In Node Emscripten's threads make Worker a global, where a program may look for a browser's: while an
 * instance begins. */
let beginning = 0, hostWorker;

function lendWorker() {
    if (beginning++ === 0)
        hostWorker = Object.getOwnPropertyDescriptor(globalThis, 'Worker');
}
function takeWorkerBack() {
    if (--beginning > 0)
        return;
    if (hostWorker)
        Object.defineProperty(globalThis, 'Worker', hostWorker);
    else
        delete globalThis.Worker;
}

/* What has the module within, which addresses of the caller's override; null where files are loaded. */
const withinOf = (kind, { base, locate }) => (base === undefined && !locate ? kind.within : null);

const mayHaveThreads = (kind, within) => typeof SharedArrayBuffer !== 'undefined' && kind.module === 'trommel' && !within &&
    (host.isNode || globalThis.crossOriginIsolated === true);

async function instantiate(kind, options, threads) {
    const name = threads > 1 ? `${kind.module}-threads` : kind.module, { base, locate, log } = options, within = withinOf(kind, options);
    const at = file => {
        const url = within ? file : locate?.(file) ?? (base === undefined ? kind.files?.[file]() : new URL(`wasm/${file}`, base));
        if (url === undefined)
            throw invalid(`Trommel.create: options.locate says nothing of ${file}, needs its address`);
        return within ? file : new URL(url, globalThis.location?.href).href;
    };
    const worker = threads > 1 ? await workerAt(at(`${name}.worker.js`)) : null;
    const where = file => (worker && file.endsWith('.worker.js') ? worker : host.pathOf(at(file)));
    const [factory, wasm] = await Promise.all([
        within?.create ?? once(factories, at(`${name}.js`), () =>
            host.factory(at(`${name}.js`), threads > 1 ? 'createTrommelThreads' : 'createTrommel')),
        once(compiled, at(`${name}.wasm`), () => within?.compile() ?? host.compile(at(`${name}.wasm`))),
    ]);
    lendWorker();
    return new Promise((resolve, reject) => {
        factory({
            trommelThreads: threads - 1,
            mainScriptUrlOrBlob: where(`${name}.js`),
            locateFile: where,
            onTrommelLog: (level, message) => log?.(LEVELS[level], message),
            print: message => log?.('info', message),
            printErr: message => log?.('warning', message),
            onAbort: reason => reject(new TrommelError('INTERNAL', `the WebAssembly module stopped: ${reason}`)),
            instantiateWasm(imports, receive) {
                WebAssembly.instantiate(wasm, imports).then(instance => receive(instance, wasm), reject);
                return {};
            },
        }).then(module => resolve({ module }), reject); /* wrapped: older modules are thenables */
    }).finally(takeWorkerBack);
}

const simd = new Uint8Array([
    /* a function that returns i8x16.popcnt(i8x16.splat(0)) */
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/* ---- the state of a lent context --------------------------------------------------------------- */

/* State that a browser has to ask another process for, which answers after all that was enqueued: so what
 * is set is noted on its way, in functions of the context object's own. src/gl/device/gl_state.c reads it. */
function watchState(gl) {
    const names = [gl.VIEWPORT, gl.SCISSOR_BOX, gl.COLOR_WRITEMASK, gl.PACK_ALIGNMENT, gl.UNPACK_ALIGNMENT];
    if ('bindSampler' in gl)
        names.push(gl.PACK_ROW_LENGTH, gl.PACK_SKIP_ROWS, gl.PACK_SKIP_PIXELS, gl.UNPACK_ROW_LENGTH,
            gl.UNPACK_SKIP_ROWS, gl.UNPACK_SKIP_PIXELS, gl.UNPACK_IMAGE_HEIGHT, gl.UNPACK_SKIP_IMAGES);
    const shadow = (gl.trommelShadow ??= new Map());
    for (const name of names)
        shadow.set(name, gl.getParameter(name));
    shadow.users = (shadow.users ?? 0) + 1;
    if (shadow.users > 1)
        return;
    const before = { viewport: gl.viewport, scissor: gl.scissor, colorMask: gl.colorMask, pixelStorei: gl.pixelStorei };
    if ('bindSampler' in gl) {
        shadow.set('feedback', gl.getParameter(gl.TRANSFORM_FEEDBACK_ACTIVE)); /* that may run */
        for (const [name, runs] of [['beginTransformFeedback', true], ['resumeTransformFeedback', true],
            ['pauseTransformFeedback', false], ['endTransformFeedback', false]]) {
            before[name] = gl[name];
            gl[name] = function (...what) {
                shadow.set('feedback', runs);
                before[name].apply(gl, what);
            };
        }
    }
    gl.viewport = function (x, y, width, height) {
        shadow.set(gl.VIEWPORT, [x, y, width, height]);
        before.viewport.call(gl, x, y, width, height);
    };
    gl.scissor = function (x, y, width, height) {
        shadow.set(gl.SCISSOR_BOX, [x, y, width, height]);
        before.scissor.call(gl, x, y, width, height);
    };
    gl.colorMask = function (r, g, b, a) {
        shadow.set(gl.COLOR_WRITEMASK, [r, g, b, a]);
        before.colorMask.call(gl, r, g, b, a);
    };
    gl.pixelStorei = function (name, value) {
        if (shadow.has(name))
            shadow.set(name, value);
        before.pixelStorei.call(gl, name, value);
    };
    shadow.before = before;
}

function unwatchState(gl) {
    const shadow = gl.trommelShadow;
    if (!shadow || --shadow.users > 0)
        return;
    for (const name in shadow.before) {
        delete gl[name]; /* the prototype's appears again, or what the page had put there */
        if (gl[name] !== shadow.before[name])
            gl[name] = shadow.before[name];
    }
    delete gl.trommelShadow;
}

/* ---- buffers ----------------------------------------------------------------------------------- */

/* Between the classes of this file, and for modules that have more functions than the package's. */
export const INTERNAL = Symbol('trommel');

class TrommelBuffer {
    constructor(state) {
        this[INTERNAL] = state; /* t, handle, type, count, label, lent, host, texture */
    }
    get type() { return this[INTERNAL].type; }
    get count() { return this[INTERNAL].count; }
    get byteLength() { return this[INTERNAL].count * this[INTERNAL].size; }
    get label() { return this[INTERNAL].label; }
    get isDestroyed() { return this[INTERNAL].handle === 0; }
    get texture() { return this[INTERNAL].t[INTERNAL].textureOf(this); }
    read(first = 0, count = this.count - first) { return this[INTERNAL].t[INTERNAL].read(this, first, count); }
    readAsync(first = 0, count = this.count - first) {
        return this[INTERNAL].t[INTERNAL].readAsync(this, first, count);
    }
    readCount(index = 0) { return Number(this.read(index, 1)[0]); }
    write(data, first = 0) { this[INTERNAL].t[INTERNAL].write(this, data, first); }
    destroy() { this[INTERNAL].t[INTERNAL].destroy(this); }
}

/* A mesh with its tree of boxes. */
class TrommelTree {
    constructor(state) {
        this[INTERNAL] = state; /* t, at, and what the properties say */
    }
    get triangleCount() { return this[INTERNAL].triangleCount; }
    get brokenCount() { return this[INTERNAL].brokenCount; }
    get depth() { return this[INTERNAL].depth; }
    get lower() { return this[INTERNAL].lower; }
    get upper() { return this[INTERNAL].upper; }
    nearest(points, options = {}) { return this[INTERNAL].t[INTERNAL].nearest(this, points, options); }
    signedDistance(points, options = {}) {
        return this[INTERNAL].t[INTERNAL].sides('signedDistance', this, points, options, { distances: 'f32' }).distances;
    }
    inside(points, { border = true, ...options } = {}) {
        const { sides } = this[INTERNAL].t[INTERNAL].sides('inside', this, points, options, { sides: 'u8' });
        return sides.map(side => (border ? side !== 0 : side === 1)); /* outside, inside, on */
    }
    cast(origins, directions, options = {}) {
        return this[INTERNAL].t[INTERNAL].cast(this, origins, directions, options);
    }
    refit(positions) { this[INTERNAL].t[INTERNAL].refitTree(this, positions); }
    save() { return this[INTERNAL].t[INTERNAL].saveTree(this); }
    destroy() { this[INTERNAL].t[INTERNAL].destroyTree(this); }
}

/* A mesh prepared to be subdivided. */
class TrommelSubdivider {
    constructor(state) {
        this[INTERNAL] = state; /* t, at, and what the properties say */
    }
    get vertexCount() { return this[INTERNAL].vertexCount; }
    get edgeCount() { return this[INTERNAL].edgeCount; }
    get triangleCount() { return this[INTERNAL].triangleCount; }
    get boundaryEdgeCount() { return this[INTERNAL].boundaryEdgeCount; }
    get sharpEdgeCount() { return this[INTERNAL].sharpEdgeCount; }
    uniformOnDevice(options) { return this[INTERNAL].t[INTERNAL].subdivideUniform(this, options); }
    uniform(options) { return this[INTERNAL].t[INTERNAL].subdivided(this.uniformOnDevice(options)); }
    adaptiveOnDevice(options) { return this[INTERNAL].t[INTERNAL].subdivideAdaptive(this, options); }
    adaptive(options) { return this[INTERNAL].t[INTERNAL].subdivided(this.adaptiveOnDevice(options)); }
    adaptiveEnqueue(options) { this[INTERNAL].t[INTERNAL].subdivideEnqueue(this, options); }
    destroy() { this[INTERNAL].t[INTERNAL].destroySubdivider(this); }
}

/* Bytes that go through the module's memory at a time on their way to or from a texture: its memory
 * grows but never shrinks. */
const CHUNK = 4 << 20;

/* ---- the instance's insides --------------------------------------------------------------------- */

class Inside {
    constructor(trommel, module, gl, threads) {
        this.trommel = trommel;
        this.m = module;
        this.gl = gl;
        this.threads = threads;
        this.tml = 0;
        this.isLost = false;
        this.isClosed = false;
        this.buffers = new Set();
        this.trees = new Set();
        this.subdividers = new Set();
        this.kernels = new Map();
        this.hosts = new Map(); /* memory for arrays that are lent during a call, by their use */
        this.isTiming = this.isBatched = false;
        const names = f => module.UTF8ToString(f()).trim().split(' ');
        this.requestAt = module._web_request_at() >> 3;
        this.replyAt = module._web_reply_at() >> 3;
        this.requestIndex = new Map(names(module._web_request_names).map((name, i) => [name, i]));
        this.replyIndex = new Map(names(module._web_reply_names).map((name, i) => [name, i]));
        this.onLost = () => this.lose();
    }

    /* ---- calls ---- */

    check() {
        if (this.isClosed)
            throw invalid('this Trommel was closed; create another');
        if (this.gl?.isContextLost())
            this.lose();
    }

    lose() {
        if (!this.isLost && !this.isClosed) {
            this.isLost = true;
            this.m._web_lost(this.tml);
        }
    }

    /* Fills the request by name (what is undefined stays zero) and calls; anything but OK throws. */
    call(name, fields) {
        const m = this.m, at = this.requestAt;
        m.HEAPF64.fill(0, at, at + this.requestIndex.size);
        for (const field in fields) {
            const value = fields[field];
            if (value === undefined || value === null)
                continue;
            const index = this.requestIndex.get(field);
            if (index === undefined)
                throw new TrommelError('INTERNAL', `a request has no field ${field}`);
            m.HEAPF64[at + index] = Number(value);
        }
        const f = m[`_web_${name}`];
        if (!f)
            throw new TrommelError('UNSUPPORTED', `${name}: ${this.trommel.constructor.module.replace('-', '/')} has none; import 'trommel', which has all`);
        const status = f(this.tml);
        if (status !== 0)
            throw new TrommelError(m.UTF8ToString(m._web_status_name(status)),
                m.UTF8ToString(this.tml ? m._web_last_error(this.tml) : m._web_open_error()));
    }

    /* Runs f, whose calls save and give back the context's state but once. */
    batch(f) {
        this.check();
        if (!this.gl || this.isBatched)
            return f();
        this.call('begin', {});
        this.isBatched = true;
        try {
            return f();
        } finally {
            this.isBatched = false;
            this.m._web_end(this.tml);
        }
    }

    reply(name) {
        return this.m.HEAPF64[this.replyAt + this.replyIndex.get(name)];
    }
    replies(name, count) { /* name0, name1, ... */
        const at = this.replyAt + this.replyIndex.get(`${name}0`);
        return Array.from(this.m.HEAPF64.subarray(at, at + count));
    }
    text(name) {
        return this.m.UTF8ToString(this.reply(name));
    }

    /* Runs f; what it takes from the stack is given back. */
    scope(f) {
        const top = this.m.stackSave();
        try {
            return f();
        } finally {
            this.m.stackRestore(top);
        }
    }
    stackText(text) {
        if (text === undefined || text === null)
            return 0;
        const size = this.m.lengthBytesUTF8(text) + 1, at = this.m.stackAlloc(size);
        this.m.stringToUTF8(text, at, size);
        return at;
    }
    stackFloats(numbers) {
        const at = this.m.stackAlloc(4 * numbers.length);
        this.m.HEAPF32.set(numbers, at / 4);
        return at;
    }
    keepText(text) {
        const size = this.m.lengthBytesUTF8(text) + 1, at = this.allocate('kernel', size);
        this.m.stringToUTF8(text, at, size);
        return at;
    }
    allocate(call, size) {
        const at = this.m._malloc(Math.max(size, 1));
        if (!at)
            throw new TrommelError('OUT_OF_MEMORY', `${call}: WebAssembly has no memory for ${size} bytes`);
        return at;
    }
    /* A copy of memory as an array of a scalar type. */
    copyOut(at, scalar, length) {
        const Array = ARRAYS[scalar], out = new Array(length);
        new Uint8Array(out.buffer).set(this.m.HEAPU8.subarray(at, at + out.byteLength));
        return out;
    }

    /* ---- buffers ---- */

    wrap(handle, more = {}) {
        this.call('buffer_info', { buffer: handle });
        const type = this.text('type'), count = this.reply('count');
        const buffer = new TrommelBuffer({
            t: this.trommel, handle, type, count, label: '', host: 0, lent: null, texture: undefined,
            size: ARRAYS[scalarOf(type)].BYTES_PER_ELEMENT * componentsOf(type), ...more,
        });
        this.buffers.add(buffer);
        return buffer;
    }

    /* The address of a buffer's handle for a request; undefined for none. */
    handle(call, field, buffer) {
        if (buffer === undefined || buffer === null)
            return undefined;
        const state = buffer[INTERNAL];
        if (!(buffer instanceof TrommelBuffer) || state.t !== this.trommel)
            throw new TrommelError('INVALID_HANDLE', `${call}: ${field} is not a buffer of this Trommel`);
        if (state.handle === 0)
            throw new TrommelError('INVALID_HANDLE', `${call}: ${field} was destroyed`);
        return state.handle;
    }

    create(options) {
        this.check();
        refuseOthers('buffer', options, 'type count data texture place label');
        const { type, count, data, texture, label } = options;
        const bytes = data === undefined ? null : bytesOf('buffer', data);
        if (typeof type !== 'string' || !(scalarOf(type) in ARRAYS))
            throw invalid(`buffer: type is ${JSON.stringify(type)}, needs one such as 'f32' or 'u16x2'`);
        if (!Number.isSafeInteger(count) || count < 0)
            throw invalid(`buffer: count is ${count}, needs a whole number of elements`);
        const onHost = options.place === 'host' && this.gl !== null;
        const size = ARRAYS[scalarOf(type)].BYTES_PER_ELEMENT * componentsOf(type);
        if (bytes && bytes.length !== count * size)
            throw invalid(`buffer: data are ${bytes.length} bytes, needs ${count * size} (${count} of ${type})`);
        const host = onHost ? this.allocate('buffer', count * size) : 0;
        try {
            this.scope(() => this.call('buffer_create', {
                type: this.stackText(type), count, host, label: this.stackText(label),
                texture: texture ? this.lend(texture.texture) : 0,
                width: texture?.width, height: texture?.height,
            }));
        } catch (error) {
            this.m._free(host);
            throw error;
        }
        const buffer = this.wrap(this.reply('buffer'), { label: label ?? '', host, lent: texture ?? null });
        if (bytes)
            this.write(buffer, bytes, 0);
        return buffer;
    }

    /* A number for a texture of the caller's. */
    lend(texture) {
        const textures = this.m.GL.textures;
        let id = textures.indexOf(texture);
        if (id < 1) {
            id = this.m.GL.getNewId(textures);
            textures[id] = texture;
            texture.name ??= id; /* as Emscripten's own have; what was bound is kept as an object */
        }
        return id;
    }

    textureOf(buffer) {
        const state = buffer[INTERNAL];
        if (!this.gl || state.host || state.handle === 0)
            return null;
        if (state.texture === undefined) {
            this.call('texture', { buffer: state.handle });
            state.texture = Object.freeze({
                texture: this.m.GL.textures[this.reply('texture')],
                width: this.reply('width'), height: this.reply('height'),
            });
        }
        return state.texture;
    }

    range(call, buffer, first, count) {
        this.handle(call, 'the buffer', buffer);
        if (!(Number.isSafeInteger(first) && Number.isSafeInteger(count) && first >= 0 && count >= 0 &&
              first + count <= buffer.count))
            throw invalid(`${call}: elements ${first} to ${first + count} of a buffer of ${buffer.count}`);
    }

    /* Where the elements lie in the module's memory, or 0. */
    memory(buffer) {
        const state = buffer[INTERNAL];
        if (state.host)
            return state.host;
        if (this.gl)
            return 0;
        this.call('map', { buffer: state.handle });
        return this.reply('data');
    }

    read(buffer, first, count) {
        this.check();
        this.range('read', buffer, first, count);
        const { handle, type, size } = buffer[INTERNAL];
        const length = count * componentsOf(type), memory = this.memory(buffer);
        if (memory)
            return this.copyOut(memory + first * size, scalarOf(type), length);
        const out = new ARRAYS[scalarOf(type)](length), bytes = new Uint8Array(out.buffer);
        const part = Math.max(Math.floor(CHUNK / size), 1);
        const at = this.allocate('read', Math.min(count, part) * size);
        try {
            for (let done = 0; done < count; done += part) {
                const now = Math.min(count - done, part);
                this.call('read', { buffer: handle, first: first + done, count: now, data: at });
                bytes.set(this.m.HEAPU8.subarray(at, at + now * size), done * size);
            }
        } finally {
            this.m._free(at);
        }
        return out;
    }

    write(buffer, data, first) {
        this.check();
        const { handle, size } = buffer[INTERNAL], bytes = bytesOf('write', data), count = bytes.length / size;
        if (!Number.isInteger(count))
            throw invalid(`write: ${bytes.length} bytes are no whole elements of ${size} bytes`);
        this.range('write', buffer, first, count);
        const memory = this.memory(buffer);
        if (memory) {
            this.m.HEAPU8.set(bytes, memory + first * size);
            return;
        }
        const part = Math.max(Math.floor(CHUNK / size), 1);
        const at = this.allocate('write', Math.min(count, part) * size);
        try {
            for (let done = 0; done < count; done += part) {
                const now = Math.min(count - done, part);
                this.m.HEAPU8.set(bytes.subarray(done * size, (done + now) * size), at);
                this.call('write', { buffer: handle, first: first + done, count: now, data: at });
            }
        } finally {
            this.m._free(at);
        }
    }

    destroy(buffer) {
        const state = buffer[INTERNAL];
        if (state.handle === 0 || this.isClosed)
            return;
        this.m._web_buffer_destroy(this.tml, state.handle);
        this.m._free(state.host);
        state.handle = state.host = 0;
        this.buffers.delete(buffer);
    }

    treeAt(call, field, tree) {
        if (tree === undefined || tree === null)
            return undefined;
        const state = tree[INTERNAL];
        if (!(tree instanceof TrommelTree) || state.t !== this.trommel)
            throw new TrommelError('INVALID_HANDLE', `${call}: ${field} is no tree of this Trommel`);
        if (state.at === 0)
            throw new TrommelError('INVALID_HANDLE', `${call}: ${field} was destroyed`);
        return state.at;
    }

    /* What the replies of the calls that make or change a tree tell. */
    treeState() {
        return {
            at: this.reply('tree'), triangleCount: this.reply('triangle_count'), depth: this.reply('depth'),
            brokenCount: this.reply('broken_count'), lower: this.replies('lower', 3), upper: this.replies('upper', 3),
        };
    }

    wrapTree() {
        const tree = new TrommelTree({ t: this.trommel, ...this.treeState() });
        this.trees.add(tree);
        return tree;
    }

    refitTree(tree, positions) {
        this.callWith('refit', 'tree_refit', { tree: this.treeAt('refit', 'the tree', tree) },
            { vertices: [positions, 'f32x3', 'positions'] });
        Object.assign(tree[INTERNAL], this.treeState());
    }

    nearest(tree, points, { k = 1, ...others }) {
        refuseOthers('nearest', others, 'k');
        if (!(Number.isInteger(k) && k >= 1 && k <= NEAREST_MAX))
            throw invalid(`nearest: k is ${k}, needs 1 to ${NEAREST_MAX}`);
        return this.callWith('nearest', 'tree_nearest', { tree: this.treeAt('nearest', 'the tree', tree), k },
            { points: [points, 'f32x3'] }, { distances: 'f32', positions: 'f32x3', triangles: 'u32', features: 'u8' },
            k * points?.length / 3);
    }

    sides(call, tree, points, { rule, ...others }, outputs) {
        refuseOthers(call, others, outputs.sides ? 'rule border' : 'rule');
        return this.callWith(call, 'tree_nearest', {
            tree: this.treeAt(call, 'the tree', tree), rule: choice(call, 'rule', TREE_RULES, rule), is_signed: !outputs.sides,
        }, { points: [points, 'f32x3'] }, outputs, points?.length / 3);
    }

    cast(tree, origins, directions, { want, tMax = Infinity, ...others }) {
        refuseOthers('cast', others, 'want tMax');
        if (!(tMax > 0))
            throw invalid(`cast: tMax is ${tMax}, needs more than 0`);
        const kind = choice('cast', 'want', CASTS, want), n = origins?.length / 3;
        const ask = (what, outputs, count) => this.callWith('cast', 'tree_cast', {
            tree: this.treeAt('cast', 'the tree', tree), what, t_max: tMax === Infinity ? 0 : tMax,
        }, { origins: [origins, 'f32x3'], directions: [directions, 'f32x3'] }, outputs, count);
        if (kind === 0)
            return ask(0, { t: 'f32', triangles: 'u32', barycentrics: 'f32x2' }, n);
        if (kind === 1)
            return ask(1, { hits: 'u8' }, n).hits;
        const { counts } = ask(2, { counts: 'u32' }, n);
        return kind === 2 ? counts : ask(3, { rays: 'u32', triangles: 'u32', t: 'f32' }, counts.reduce((sum, one) => sum + one, 0));
    }

    saveTree(tree) {
        this.check();
        const at = this.treeAt('save', 'the tree', tree);
        this.call('tree_size', { tree: at });
        const size = this.reply('size'), data = this.allocate('save', size);
        try {
            this.call('tree_save', { tree: at, data, size });
            return this.copyOut(data, 'u8', size);
        } finally {
            this.m._free(data);
        }
    }

    /* Calls name with buffers of arrays for as long, by the request's fields: inputs are [array, type, what the caller calls
     * it] or nothing, outputs types of count elements; returns what these then hold. */
    callWith(call, name, fields, inputs, outputs = {}, count = 0) {
        const lent = {}, place = /tree_(create|refit)/.test(name) ? 'host' : undefined; /* others read none there */
        const lend = (field, label, options) => {
            lent[field] = this.create({ ...options, place, label });
        };
        try {
            for (const field in inputs) {
                if (!inputs[field])
                    continue;
                const [data, type, label = field] = inputs[field];
                const Array = ARRAYS[scalarOf(type)], components = componentsOf(type);
                if (!(data instanceof Array) || data.length % components)
                    throw invalid(`${call}: ${label} is no ${Array.name} of ${components} numbers each`);
                lend(field, label, { type, count: data.length / components, data });
            }
            for (const field in outputs)
                lend(field, field, { type: outputs[field], count });
            this.call(name, {
                ...fields, ...Object.fromEntries(Object.entries(lent).map(([field, buffer]) => [field, buffer[INTERNAL].handle])),
            });
            return Object.fromEntries(Object.keys(outputs).map(field => [field, lent[field].read()]));
        } finally {
            for (const buffer of Object.values(lent))
                this.destroy(buffer);
        }
    }

    /* Calls use with the address of the poses, or 0, and their number. */
    withPoses(call, poses, use) {
        if (poses && (!(poses instanceof Float32Array) || poses.length % 12))
            throw invalid(`${call}: poses is no Float32Array of 12 numbers a pose`);
        return this.withBytes(call, poses ?? new Uint8Array(0), at => use(poses ? at : 0, (poses?.length ?? 0) / 12));
    }

    /* Calls use with the address of a copy of the bytes, which lasts as long as the call. */
    withBytes(call, data, use) {
        const bytes = bytesOf(call, data), at = this.allocate(call, bytes.length);
        try {
            this.m.HEAPU8.set(bytes, at);
            return use(at);
        } finally {
            this.m._free(at);
        }
    }

    destroyTree(tree) {
        const state = tree[INTERNAL];
        if (state.at === 0 || this.isClosed)
            return;
        this.m._web_tree_destroy(this.tml, state.at);
        state.at = 0;
        this.trees.delete(tree);
    }

    destroySubdivider(subdivider) {
        const state = subdivider[INTERNAL];
        if (state.at === 0 || this.isClosed)
            return;
        this.m._web_subdivider_destroy(state.at);
        state.at = 0;
        this.subdividers.delete(subdivider);
    }

    /* Buffers of handles by name, null where that is 0, and destroy() for all. */
    buffersOf(handles) {
        const buffers = {};
        for (const name in handles)
            buffers[name] = handles[name] ? this.wrap(handles[name], { label: name }) : null;
        return {
            ...buffers,
            destroy() {
                for (const name in buffers)
                    buffers[name]?.destroy();
            },
        };
    }

    /* Calls name; what it made stays on the device. */
    subdivide(name, subdivider, fields) {
        this.check();
        const { at } = subdivider[INTERNAL];
        if (at === 0)
            throw new TrommelError('INVALID_HANDLE', `${name}: the subdivider was destroyed`);
        this.call(name, { subdivider: at, ...fields });
        const told = {
            vertexCount: this.reply('vertex_count'), triangleCount: this.reply('triangle_count'),
            depth: this.reply('depth'), error: this.reply('error'), isWithinBudget: this.reply('is_within_budget') !== 0,
            isWithinDepth: this.reply('is_within_depth') !== 0,
        };
        return {
            ...this.buffersOf({
                vertices: this.reply('vertices'), vertexNormals: this.reply('vertex_normals'),
                indices: this.reply('indices'), origins: this.reply('origins'),
            }), ...told,
        };
    }

    /* The same on the host. */
    subdivided({ vertices, vertexNormals, indices, origins, destroy, ...told }) {
        try {
            return {
                positions: vertices.read(), normals: vertexNormals?.read() ?? null, indices: indices.read(),
                ...(origins !== undefined && { origins: origins?.read() ?? null }), ...told,
            };
        } finally {
            destroy();
        }
    }

    subdivideUniform(subdivider, o = {}) {
        const { origins, depth, error, isWithinBudget, isWithinDepth, ...mesh } =
            this.subdivide('subdivide_uniform', subdivider, { levels: o.levels, limit: o.limit, normals: o.normals });
        return mesh;
    }

    subdivideAdaptive(subdivider, o = {}) {
        const criterion = choice('adaptive', 'criterion', SPLIT_CRITERIA, o.criterion);
        const { matrix, width, height, nearest, everywhere } = o.camera ?? {};
        if (o.criterion === 'pixels' && matrix?.length !== 16)
            throw invalid('adaptive: camera.matrix has no 16 numbers, which pixels need: world to clip space, row by row');
        return this.scope(() => this.subdivide('subdivide_adaptive', subdivider, {
            criterion, threshold: o.threshold, depth: o.maxDepth, budget: o.budget, slivers: o.slivers,
            normals: o.normals, origins: o.origins,
            camera: matrix && this.stackFloats(matrix), width, height, nearest, everywhere,
        }));
    }

    subdivideEnqueue(subdivider, o = {}) {
        const call = 'adaptiveEnqueue', { at } = subdivider[INTERNAL];
        this.check();
        if (at === 0)
            throw new TrommelError('INVALID_HANDLE', `${call}: the subdivider was destroyed`);
        this.call('subdivide_enqueue', {
            subdivider: at, criterion: choice(call, 'criterion', SPLIT_CRITERIA, o.criterion), threshold: o.threshold,
            depth: o.maxDepth, slivers: o.slivers, normals: !!o.vertexNormals, origins: !!o.origins,
            vertices: this.handle(call, 'vertices', o.vertices), vertex_normals: this.handle(call, 'vertexNormals', o.vertexNormals),
            indices: this.handle(call, 'indices', o.indices), origins_out: this.handle(call, 'origins', o.origins),
            camera_buffer: this.handle(call, 'camera', o.camera), level_triangles: o.levelTriangles,
            counts: this.handle(call, 'counts', o.counts), draw: this.handle(call, 'draw', o.draw),
        });
    }

    /* ---- waiting without blocking ---- */

    async finished() {
        this.check();
        const gl = this.gl;
        if (!gl)
            return;
        if (!('fenceSync' in gl)) {
            gl.finish();
            gl.getError(); /* which is what waits */
            return;
        }
        const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl.flush();
        const start = performance.now();
        try {
            while (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
                /* Long waits leave the processor to others, who may be what is waited for. */
                await (performance.now() - start < 8 ? turn() : pause());
                this.check();
                if (this.isLost)
                    throw new TrommelError('DEVICE_LOST', 'the OpenGL context was lost while waiting for it');
            }
        } finally {
            gl.deleteSync(fence);
        }
    }

    async readAsync(buffer, first, count) {
        this.check();
        this.range('readAsync', buffer, first, count);
        const gl = this.gl, texture = this.textureOf(buffer);
        if (!texture || this.path !== 'integer' || count === 0) {
            await this.finished();
            return this.read(buffer, first, count);
        }
        /* Whole rows that the elements lie in, into a buffer of OpenGL's. */
        const { type, size } = buffer[INTERNAL], { width, height } = texture;
        const words = Math.ceil(((first + count) * size) / 4);
        const top = Math.floor((first * size) / 4 / width), rows = Math.ceil(words / width) - top;
        const framebuffer = gl.createFramebuffer(), pack = gl.createBuffer();
        const before = [
            [gl.PACK_ALIGNMENT, 4], [gl.PACK_ROW_LENGTH, 0], [gl.PACK_SKIP_ROWS, 0], [gl.PACK_SKIP_PIXELS, 0],
        ].map(([name, value]) => {
            const old = gl.getParameter(name);
            gl.pixelStorei(name, value);
            return [name, old];
        });
        const reading = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING);
        const packing = gl.getParameter(gl.PIXEL_PACK_BUFFER_BINDING);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
        gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture.texture, 0);
        const direct = gl.getParameter(gl.IMPLEMENTATION_COLOR_READ_FORMAT) === gl.RED_INTEGER &&
            gl.getParameter(gl.IMPLEMENTATION_COLOR_READ_TYPE) === gl.UNSIGNED_INT;
        const each = direct ? 1 : 4;
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pack);
        gl.bufferData(gl.PIXEL_PACK_BUFFER, 4 * each * width * rows, gl.STREAM_READ);
        gl.readPixels(0, top, width, Math.min(rows, height - top), direct ? gl.RED_INTEGER : gl.RGBA_INTEGER,
            gl.UNSIGNED_INT, 0);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, packing);
        gl.bindFramebuffer(gl.READ_FRAMEBUFFER, reading);
        gl.deleteFramebuffer(framebuffer);
        for (const [name, value] of before)
            gl.pixelStorei(name, value);
        try {
            await this.finished();
            let got = new Uint32Array(each * width * rows);
            const copying = gl.getParameter(gl.COPY_READ_BUFFER_BINDING);
            gl.bindBuffer(gl.COPY_READ_BUFFER, pack);
            gl.getBufferSubData(gl.COPY_READ_BUFFER, 0, got);
            gl.bindBuffer(gl.COPY_READ_BUFFER, copying);
            this.check();
            if (this.isLost)
                throw new TrommelError('DEVICE_LOST', 'readAsync: the OpenGL context was lost while it was read');
            if (!direct)
                got = got.filter((_, i) => i % 4 === 0);
            const skip = first * size - 4 * top * width;
            return new ARRAYS[scalarOf(type)](got.buffer.slice(skip, skip + count * size));
        } finally {
            gl.deleteBuffer(pack);
        }
    }

    async time(enqueue) {
        const gl = this.gl;
        if (this.isTiming)
            throw invalid('time: another measurement is under way; one at a time');
        this.isTiming = true;
        try {
            await this.finished();
            const extension = gl && 'fenceSync' in gl ? gl.getExtension('EXT_disjoint_timer_query_webgl2') : null;
            const start = performance.now();
            if (!extension) {
                enqueue();
                await this.finished();
                return { seconds: (performance.now() - start) / 1000, by: gl && 'fenceSync' in gl ? 'fence' : 'clock' };
            }
            const query = gl.createQuery();
            try {
                gl.getParameter(extension.GPU_DISJOINT_EXT); /* forgets what was before */
                gl.beginQuery(extension.TIME_ELAPSED_EXT, query);
                try {
                    enqueue();
                } finally {
                    gl.endQuery(extension.TIME_ELAPSED_EXT);
                }
                await this.finished();
                const fenced = (performance.now() - start) / 1000;
                while (!gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE)) {
                    await turn();
                    this.check();
                    if (this.isLost)
                        throw new TrommelError('DEVICE_LOST', 'the OpenGL context was lost while it was timed');
                }
                if (gl.getParameter(extension.GPU_DISJOINT_EXT))
                    return { seconds: fenced, by: 'fence' };
                return { seconds: gl.getQueryParameter(query, gl.QUERY_RESULT) * 1e-9, by: 'timer-query' };
            } finally {
                gl.deleteQuery(query);
            }
        } finally {
            this.isTiming = false;
        }
    }

    /* ---- kernels ---- */

    kernel(source, js, library = '') {
        this.check();
        const parts = /^\s*(\w+)\s+(\w+)\s*\(([^()]*)\)\s*(\{[\s\S]*\})\s*$/.exec(source);
        if (!parts)
            throw invalid(`kernel: the source is ${JSON.stringify(String(source).slice(0, 40))}, needs "result name(type name, ...) { body }"`);
        const key = `${library}\0${source}`, known = this.kernels.get(key);
        if (known && known.js === js)
            return known.kernel;
        const [, result, name, list, body] = parts;
        if (!(result in KERNEL_TYPES))
            throw invalid(`kernel ${name}: its result is ${result}, needs one of ${Object.keys(KERNEL_TYPES).join(', ')}`);
        const params = list.trim() === '' || list.trim() === 'void' ? [] : list.split(',').map(param => {
            const words = /^\s*(\w+)\s+(\w+)\s*$/.exec(param);
            if (!words || !(words[1] in KERNEL_TYPES || KERNEL_EXTRAS.includes(words[1])) || words[1] === 'bool')
                throw invalid(`kernel ${name}: a parameter is "${param.trim()}", needs a type and a name; types: ${
                    Object.keys(KERNEL_TYPES).concat(KERNEL_EXTRAS).filter(type => type !== 'bool').join(', ')}`);
            return words[1];
        });
        if (params.length > KERNEL_PARAMS)
            throw invalid(`kernel ${name}: it has ${params.length} parameters, can have ${KERNEL_PARAMS}`);
        let run = 0;
        if (js && !this.gl && this.threads === 1)
            run = this.m.addFunction(block => this.runKernel(js, params, result, block), 'vi');
        this.scope(() => {
            const fields = {
                name: this.keepText(name), source: this.keepText(`${result} ${name}(${list.trim()}) ${body}`),
                result: this.stackText(KERNEL_TYPES[result]), param_count: params.length, run,
                library: library && this.keepText(library),
            };
            params.forEach((param, i) => {
                fields[`param${i}`] = this.stackText(KERNEL_TYPES[param] ?? param);
            });
            this.call('kernel', fields);
        });
        const kernel = Object.freeze({ name, source, result, [INTERNAL]: { at: this.reply('kernel'), run, inside: this } });
        this.kernels.set(key, { js, kernel });
        return kernel;
    }

    /* A block of work for a kernel in JavaScript. */
    runKernel(js, params, result, block) {
        const top = this.m.stackSave(), at = (this.m.stackAlloc(104) + 7) & ~7;
        this.m._web_block(block, at);
        const [indices, ranks, numbers, outs, first, count, ...ins] = this.m.HEAPF64.slice(at >> 3, (at >> 3) + 12);
        this.m.stackRestore(top);
        const buffer = this.m.HEAPU8.buffer;
        const view = (type, address) =>
            new ARRAYS[scalarOf(type)](buffer, address, count * componentsOf(type));
        const getters = params.map((param, p) => {
            if (param === 'tml_index') {
                const index = indices ? new BigUint64Array(buffer, indices, count) : null;
                return i => (index ? Number(index[i]) : first + i);
            }
            if (param === 'tml_rank') {
                const rank = new Uint32Array(buffer, ranks, count);
                return i => rank[i];
            }
            if (param === 'tml_params') {
                const given = {
                    f: Array.from(new Float32Array(buffer, numbers, 4)),
                    u: Array.from(new Uint32Array(buffer, numbers + 16, 4)),
                    m: Array.from(new Float32Array(buffer, numbers + 32, 16)),
                };
                return () => given;
            }
            if (param === 'tml_words') {
                const words = new Uint32Array(buffer, ins[p]);
                return () => words;
            }
            const type = KERNEL_TYPES[param], array = view(type, ins[p]), n = componentsOf(type);
            if (n === 1)
                return i => array[i];
            const vector = new ARRAYS[scalarOf(type)](n);
            return i => {
                for (let c = 0; c < n; c++)
                    vector[c] = array[n * i + c];
                return vector;
            };
        });
        const type = KERNEL_TYPES[result], n = componentsOf(type), out = view(type, outs);
        const given = new Array(params.length);
        for (let i = 0; i < count; i++) {
            for (let p = 0; p < params.length; p++)
                given[p] = getters[p](i);
            const value = js(...given);
            if (n === 1)
                out[i] = result === 'bool' ? Number(Boolean(value)) : value;
            else
                for (let c = 0; c < n; c++)
                    out[n * i + c] = value[c];
        }
    }

    kernelAt(call, field, kernel) {
        if (kernel === undefined || kernel === null)
            return undefined;
        const own = kernel[INTERNAL];
        if (own?.inside !== this)
            throw invalid(`${call}: ${field} is not a kernel of this Trommel; make it with kernel()`);
        if (!this.gl && !own.run)
            throw new TrommelError('UNSUPPORTED', `${call}: kernel ${kernel.name} cannot be compiled for the CPU; ${
                this.threads > 1 ? 'create the Trommel with threads: 1 and ' : ''}give kernel() a function too`);
        return own.at;
    }

    params(params) {
        if (!params)
            return 0;
        const at = this.m.stackAlloc(96);
        this.m.HEAPU8.fill(0, at, at + 96);
        new Float32Array(this.m.HEAPU8.buffer, at, 4).set(params.f ?? []);
        new Uint32Array(this.m.HEAPU8.buffer, at + 16, 4).set(params.u ?? []);
        new Float32Array(this.m.HEAPU8.buffer, at + 32, 16).set(params.m ?? []);
        return at;
    }

    /* ---- parts of requests ---- */

    inputs(call, list, limit = 4, name = 'in', key = buffer => buffer) {
        const fields = {};
        if (list && list.length > limit)
            throw invalid(`${call}: ${list.length} of ${name}, can have ${limit}`);
        list?.forEach((one, i) => {
            fields[`${name}${i}`] = this.handle(call, `${name}[${i}]`, key(one));
        });
        return fields;
    }

    length(call, length, name = 'length') {
        if (length === undefined || length === null)
            return {};
        if (typeof length === 'number')
            return { [name]: length, [`${name}_exact`]: true };
        return {
            [name]: length.count, [`${name}_exact`]: length.count !== undefined,
            [`${name}_buffer`]: this.handle(call, `${name}.buffer`, length.buffer), [`${name}_index`]: length.index,
        };
    }

    vector(call, field, values, count, name) {
        if (values === undefined || values === null)
            return {};
        if (values.length !== count || Array.from(values).some(value => typeof value !== 'number'))
            throw invalid(`${call}: ${field} is ${JSON.stringify(values)}, needs ${count} numbers`);
        return Object.fromEntries(Array.from(values, (value, i) => [`${name}${i}`, value]));
    }

    grid(call, grid) {
        if (!grid)
            return {};
        return {
            ...this.vector(call, 'dims', grid.dims, 3, 'dims'),
            ...this.vector(call, 'spacing', grid.spacing, 3, 'spacing'),
            ...this.vector(call, 'origin', grid.origin, 3, 'origin'),
            ...this.vector(call, 'direction', grid.direction, 9, 'direction'),
        };
    }

    replyGrid() {
        return {
            dims: this.replies('dims', 3), spacing: this.replies('spacing', 3),
            origin: this.replies('origin', 3), direction: this.replies('direction', 9),
        };
    }

    region(call, region) {
        if (!region)
            return {};
        return this.vector(call, 'region', [...region.first, ...region.count], 6, 'region');
    }

    /* An array as a buffer for one call: on the GL engine on the host, in memory that is kept for the next
     * such call. */
    hostArray(use, type, array) {
        const size = ARRAYS[scalarOf(type)].BYTES_PER_ELEMENT * componentsOf(type), count = array.byteLength / size;
        if (!Number.isInteger(count))
            throw invalid(`${use}: ${array.length} numbers are no whole elements of ${type}`);
        let own = this.hosts.get(use);
        if (!own || own.size < array.byteLength) {
            if (own)
                this.m._free(own.at);
            this.hosts.delete(use);
            own = { size: array.byteLength, at: this.allocate(use, array.byteLength) };
            this.hosts.set(use, own);
        }
        this.m.HEAPU8.set(bytesOf(use, array), own.at);
        this.scope(() => this.call('buffer_create', {
            type: this.stackText(type), count, host: own.at, label: this.stackText(use),
        }));
        return this.reply('buffer');
    }

    /* Calls f with the fields of a field's request; arrays are lent for as long. */
    withField(call, options, f) {
        const lent = [];
        const place = (use, type) => {
            const given = options[use];
            if (given === undefined || given === null)
                return undefined;
            if (given instanceof TrommelBuffer)
                return this.handle(call, use, given);
            if (!(given instanceof Float32Array))
                throw invalid(`${call}: ${use} is no Float32Array and no buffer`);
            const handle = this.hostArray(use, type, given);
            lent.push(handle);
            return handle;
        };
        try {
            return f({
                points: place('points', 'f32x3'), radii: place('radii', 'f32'), radius: options.radius,
                kind: choice(call, 'kind', FIELD_KINDS, options.kind),
                field_kernel: choice(call, 'kernel', FIELD_KERNELS, options.kernel),
                margin: options.margin, resolution: options.resolution, ...this.grid(call, options.grid),
            });
        } finally {
            for (const handle of lent)
                this.m._web_buffer_destroy(this.tml, handle);
        }
    }

    /* Samples as a buffer for one call. */
    withSamples(call, field, data, type, f) {
        if (data === undefined || data === null)
            return f(undefined);
        if (data instanceof TrommelBuffer)
            return f(this.handle(call, field, data));
        if (!ArrayBuffer.isView(data))
            throw invalid(`${call}: ${field} is ${unlike(data, 'a typed array or a buffer')}`);
        const buffer = this.create({ type: type ?? typeOf(data), count: data.length, data, label: field });
        try {
            return f(buffer[INTERNAL].handle);
        } finally {
            this.destroy(buffer);
        }
    }

    /* Calls f with the fields that say what a surface is made from. */
    withSource(call, source, options, f) {
        this.check();
        if (!source || typeof source !== 'object')
            throw invalid(`${call}: needs a volume {data, dims} or {field}`);
        return this.withSamples(call, 'mask', options.mask, 'u8', mask =>
            this.withSamples(call, 'attribute', options.attribute, undefined, attribute => {
                const rest = {
                    mask, attribute, index: this.handle(call, 'index', options.index),
                    ...this.region(call, options.region),
                };
                if (source.field)
                    return this.withField(call, source.field, field => f({ ...field, is_field: true, ...rest }));
                return this.withSamples(call, 'data', source.data, source.type, volume =>
                    f({ volume, ...this.grid(call, source), ...rest }));
            }));
    }

    /* Numbers on the stack, as an array of the module's. */
    stackArray(Array, values) {
        const size = values.length * Array.BYTES_PER_ELEMENT;
        const at = (this.m.stackAlloc(size + 8) + 7) & ~7;
        new Array(this.m.HEAPU8.buffer, at, values.length).set(values);
        return at;
    }

    surfaceOnDevice(source, options) {
        return this.withSource('surface', source, options, fields => {
            this.scope(() => {
                const request = {
                    ...fields, iso: options.iso, all_labels: options.allLabels,
                    normals: choice('surface', 'normals', NORMALS, options.normals),
                    soup: options.soup, wants_cells: options.cells, caps: options.caps, flip: options.flip,
                    drop_degenerate: options.dropDegenerate, largest_component: options.largestComponent,
                    ...this.vector('surface', 'positionOrigin', options.positionOrigin, 3, 'position'),
                };
                if (options.isovalues) {
                    request.isovalues = this.stackArray(Float64Array, options.isovalues);
                    request.isovalue_count = options.isovalues.length;
                }
                if (options.labels) {
                    if (options.labels.length > 65536)
                        throw invalid(`surface: ${options.labels.length} labels, can have 65536`);
                    request.labels = this.stackArray(BigInt64Array, options.labels.map(BigInt));
                    request.label_count = options.labels.length;
                }
                this.call('surface', request);
            });
            return this.mesh();
        });
    }

    /* The mesh of the reply. */
    mesh() {
        const handles = {
            vertices: this.reply('vertices'), vertexNormals: this.reply('vertex_normals'),
            vertexValues: this.reply('vertex_values'), indices: this.reply('indices'),
            triangleCells: this.reply('triangle_cells'),
        };
        const counts = {
            vertexCount: this.reply('vertex_count'), triangleCount: this.reply('triangle_count'),
            activeCells: this.reply('active_cells'),
        };
        const partCount = this.reply('part_count'), partsAt = this.reply('parts');
        const numbers = this.copyOut(partsAt, 'f64', partsAt ? 5 * partCount : 0);
        this.m._free(partsAt);
        const parts = Array.from({ length: numbers.length / 5 }, (_, i) => {
            const [value, vertexFirst, vertexCount, triangleFirst, triangleCount] = numbers.subarray(5 * i);
            return { value, vertexFirst, vertexCount, triangleFirst, triangleCount };
        });
        const stageNumbers = this.copyOut(this.reply('stages'), 'f64', 2 * this.reply('stage_count'));
        const stages = Array.from({ length: stageNumbers.length / 2 }, (_, i) => (
            { name: this.m.UTF8ToString(stageNumbers[2 * i]), seconds: stageNumbers[2 * i + 1] }));
        return { ...this.buffersOf(handles), ...counts, parts, stages };
    }

    payloads(call, payloads) {
        return {
            ...this.inputs(call, payloads, 8, 'payload_in', payload => payload.in),
            ...this.inputs(call, payloads, 8, 'payload_out', payload => payload.out),
        };
    }

    compactFields(call, o) {
        return {
            kernel: this.kernelAt(call, 'kernel', o.kernel), params: this.params(o.params),
            ...this.inputs(call, o.in), flags: this.handle(call, 'flags', o.flags),
            mask: this.handle(call, 'mask', o.mask),
            ...this.payloads(call, o.payloads), ...this.length(call, o.length), method: choice(call, 'method', METHODS, o.method),
            indices: this.handle(call, 'indices', o.indices), counts: this.handle(call, 'count', o.count),
        };
    }

    stream(name, f) {
        this.check();
        this.scope(() => this.call(name, f()));
    }

    close() {
        if (this.isClosed)
            return;
        for (const buffer of this.buffers) {
            if (buffer[INTERNAL].host)
                this.m._free(buffer[INTERNAL].host);
            buffer[INTERNAL].handle = 0;
        }
        this.buffers.clear();
        for (const tree of this.trees)
            this.destroyTree(tree);
        for (const subdivider of this.subdividers)
            this.destroySubdivider(subdivider);
        if (this.gl?.isContextLost())
            this.lose();
        this.m._web_close(this.tml);
        this.isClosed = true;
        if (this.gl)
            unwatchState(this.gl);
        this.gl?.canvas?.removeEventListener?.('webglcontextlost', this.onLost);
        this.m.PThread?.terminateAllThreads();
        this.m = null;
    }
}

/* ---- the library -------------------------------------------------------------------------------- */

function contextOf(target, options, takesAny) {
    if (typeof target.getContext !== 'function')
        return target;
    const names = options.webgl === 1 ? ['webgl'] : options.webgl === 2 || !takesAny ? ['webgl2'] : ['webgl2', 'webgl'];
    for (const name of names) {
        const gl = target.getContext(name, options.contextAttributes);
        if (gl)
            return gl;
    }
    throw new TrommelError('NO_DEVICE', `Trommel.create: the canvas gives no context of ${names.join(' or ')}`);
}

/* The flat list of tests as a tree. */
function treeOf(m) {
    const root = [], open = [root];
    for (let i = 0; i < m._web_test_count(); i++) {
        const depth = m._web_test_depth(i), children = [];
        open.length = Math.min(open.length, depth + 1);
        open[open.length - 1].push({
            name: m.UTF8ToString(m._web_test_name(i)), passed: !!m._web_test_passed(i),
            isChoice: !!m._web_test_is_choice(i), detail: m.UTF8ToString(m._web_test_detail(i)), children,
        });
        open.push(children);
    }
    return root;
}

export class Trommel {
    constructor(key) {
        if (key !== INTERNAL)
            throw invalid('new Trommel: use await Trommel.create()');
    }

    static get isSupported() {
        return typeof WebAssembly === 'object' && WebAssembly.validate(simd);
    }
    /* The parts of the package (surface.js) have their own; files are functions of addresses by name, within is a module
     * of within/. */
    static module = 'trommel';
    static files = null;
    static within = null;
    static get hasThreads() {
        return mayHaveThreads(this, this.within);
    }
    static get version() {
        return version;
    }

    static async create(target = null, options = {}) {
        refuseOthers('Trommel.create', options, 'engine path threads exactCounts webgl contextAttributes base locate log');
        const engine = options.engine ?? 'auto';
        if (!['auto', 'cpu', 'gl'].includes(engine))
            throw invalid(`Trommel.create: engine is ${JSON.stringify(engine)}, needs one of auto, cpu, gl`);
        if (!Trommel.isSupported)
            throw new TrommelError('UNSUPPORTED', 'Trommel.create: this browser has no WebAssembly with SIMD');
        if (engine === 'gl' && !target)
            throw new TrommelError('NO_DEVICE', 'Trommel.create: engine gl needs a canvas or a WebGL context');
        if (options.path !== undefined)
            choice('Trommel.create', 'path', PATHS, options.path);
        if (engine !== 'cpu' && target) {
            /* Paths without integers do less than the CPU engine: they are for who asks by name. */
            const takesAny = engine === 'gl' || options.path !== undefined || options.webgl !== undefined;
            try {
                return await Trommel.#open(this, contextOf(target, options, takesAny),
                    takesAny ? options : { ...options, path: 'integer' });
            } catch (error) {
                if (engine === 'gl' || options.path || !['NO_DEVICE', 'UNSUPPORTED'].includes(error.status))
                    throw error;
                options.log?.('warning', `${error.message}; the CPU engine takes its place`);
            }
        }
        return Trommel.#open(this, null, options);
    }

    static async #open(kind, gl, options) {
        let threads = options.threads ?? (gl ? 1 : Math.min(host.processors, 8));
        if (!Number.isInteger(threads) || threads < 1 || threads > 64)
            throw invalid(`Trommel.create: threads is ${threads}, needs 1 to 64`);
        if (!mayHaveThreads(kind, withinOf(kind, options)))
            threads = 1;
        if (gl?.isContextLost())
            throw new TrommelError('DEVICE_LOST', 'Trommel.create: the WebGL context is lost; wait for webglcontextrestored');
        const { module } = await instantiate(kind, options, threads);
        const trommel = new kind(INTERNAL), inside = new Inside(trommel, module, gl, threads);
        trommel[INTERNAL] = inside;
        if (gl) {
            const handle = module.GL.registerContext(gl, {
                majorVersion: 'bindSampler' in gl ? 2 : 1, minorVersion: 0, enableExtensionsByDefault: true,
            });
            module.GL.makeContextCurrent(handle);
            watchState(gl);
        }
        try {
            inside.scope(() => inside.call('open', {
                engine: gl !== null, threads, exact_counts: options.exactCounts,
                path: inside.stackText(options.path?.replace('-', '_')),
            }));
        } catch (error) {
            if (gl)
                unwatchState(gl);
            module.PThread?.terminateAllThreads();
            throw error;
        }
        inside.tml = inside.reply('tml');
        inside.path = inside.reply('path') ? inside.text('path').replace('path ', '').replace('_', '-') : null;
        inside.tests = treeOf(module);
        const name = inside.text('name'), running = inside.reply('threads');
        inside.device = Object.freeze({
            engine: gl ? 'gl' : 'cpu', features: inside.text('features'), threads: running, isSoftware: inside.reply('is_software') !== 0,
            /* The library tells of the processors; here it is the threads that there are. */
            name: gl ? name : name.replace(/\d+ threads?$/, `${running} thread${running === 1 ? '' : 's'}`),
        });
        gl?.canvas?.addEventListener?.('webglcontextlost', inside.onLost);
        return trommel;
    }

    get device() { return this[INTERNAL].device; }
    get engine() { return this[INTERNAL].device.engine; }
    get path() { return this[INTERNAL].path; }
    get gl() { return this[INTERNAL].gl; }
    get tests() { return this[INTERNAL].tests; }
    get isLost() {
        const inside = this[INTERNAL];
        if (!inside.isClosed && inside.gl?.isContextLost())
            inside.lose();
        return inside.isLost;
    }
    get isClosed() { return this[INTERNAL].isClosed; }

    buffer(what) {
        if (ArrayBuffer.isView(what)) {
            const type = typeOf(what);
            if (!type)
                throw invalid(`buffer: a ${what.constructor.name} has no element type here`);
            return this[INTERNAL].create({ type, count: what.length, data: what });
        }
        if (!what || typeof what !== 'object' || Array.isArray(what))
            throw invalid(`buffer: what is given is ${unlike(what, 'a typed array or {type, count}')}`);
        return this[INTERNAL].create(what);
    }

    kernel(source, js, library) {
        return this[INTERNAL].kernel(source, js, library);
    }

    /* ---- streams ---- */

    batch(calls) {
        return this[INTERNAL].batch(calls);
    }

    map(o) {
        const i = this[INTERNAL];
        i.stream('map_stream', () => ({
            kernel: i.kernelAt('map', 'kernel', o.kernel), params: i.params(o.params), ...i.inputs('map', o.in),
            ...i.length('map', o.length), out: i.handle('map', 'out', o.out),
        }));
    }

    reduce(o) {
        const i = this[INTERNAL];
        i.stream('reduce', () => ({
            fold: choice('reduce', 'fold', FOLDS, o.fold), in0: i.handle('reduce', 'in', o.in),
            ...i.length('reduce', o.length), out: i.handle('reduce', 'out', o.out),
        }));
    }

    histogram(o) {
        const i = this[INTERNAL];
        i.stream('histogram', () => ({
            kernel: i.kernelAt('histogram', 'kernel', o.kernel), params: i.params(o.params),
            ...i.inputs('histogram', o.in), ...i.length('histogram', o.length), bins: o.bins,
            edges: i.handle('histogram', 'edges', o.edges), lower: o.lower, upper: o.upper,
            weights: i.handle('histogram', 'weights', o.weights), out: i.handle('histogram', 'out', o.out),
        }));
    }

    scan(o) {
        const i = this[INTERNAL];
        i.stream('scan', () => ({
            in0: i.handle('scan', 'in', o.in), ...i.length('scan', o.length), inclusive: o.inclusive,
            method: choice('scan', 'method', METHODS, o.method), fold: choice('scan', 'fold', FOLDS, o.fold),
            out: i.handle('scan', 'out', o.out), total: i.handle('scan', 'total', o.total),
            start: i.handle('scan', 'start', o.start),
        }));
    }

    compact(o) {
        const i = this[INTERNAL];
        i.stream('compact', () => i.compactFields('compact', o));
    }

    partition(o) {
        const i = this[INTERNAL];
        i.stream('partition', () => i.compactFields('partition', o));
    }

    sort(o) {
        const i = this[INTERNAL];
        i.stream('sort', () => ({
            in0: i.handle('sort', 'keys', o.keys), ...i.length('sort', o.length), descending: o.descending,
            first: o.firstBit, count: o.bitCount, method: choice('sort', 'method', METHODS, o.method),
            out: i.handle('sort', 'sorted', o.sorted), ...i.payloads('sort', o.payloads), indices: i.handle('sort', 'indices', o.indices),
            offsets: i.handle('sort', 'offsets', o.offsets),
        }));
    }

    topK(o) {
        const i = this[INTERNAL];
        i.stream('top_k', () => ({
            in0: i.handle('topK', 'keys', o.keys), ...i.length('topK', o.length), ...i.length('topK', o.k, 'k'),
            smallest: o.smallest, unsorted: o.unsorted, values: i.handle('topK', 'values', o.values),
            indices: i.handle('topK', 'indices', o.indices), ...i.payloads('topK', o.payloads), counts: i.handle('topK', 'count', o.count),
        }));
    }

    expand(o) {
        const i = this[INTERNAL];
        i.stream('expand', () => ({
            counts: i.handle('expand', 'counts', o.counts),
            kernel: i.kernelAt('expand', 'countKernel', o.countKernel),
            emit: i.kernelAt('expand', 'emitKernel', o.emitKernel), params: i.params(o.params),
            ...i.inputs('expand', o.in), ...i.length('expand', o.length),
            method: choice('expand', 'method', METHODS, o.method), indices: i.handle('expand', 'source', o.source),
            ranks: i.handle('expand', 'rank', o.rank), out: i.handle('expand', 'out', o.out),
            total: i.handle('expand', 'total', o.total),
        }));
    }

    unique(o) {
        const i = this[INTERNAL];
        i.stream('unique', () => ({
            in0: i.handle('unique', 'in', o.in), ...i.length('unique', o.length),
            values: i.handle('unique', 'values', o.values), starts: i.handle('unique', 'starts', o.starts),
            lengths: i.handle('unique', 'lengths', o.lengths), counts: i.handle('unique', 'count', o.count),
        }));
    }

    /* ---- field and surface ---- */

    resolveField(options) {
        const i = this[INTERNAL];
        i.check();
        return i.withField('resolveField', options, fields => {
            i.call('field_resolve', fields);
            return { ...options, radius: i.reply('radius'), margin: i.reply('margin'), grid: i.replyGrid(), iso: i.reply('iso') };
        });
    }

    field(options, out) {
        const i = this[INTERNAL];
        i.check();
        let resolved = options;
        if (!out) {
            if (!options.grid?.dims)
                resolved = this.resolveField(options);
            const [x, y, z] = resolved.grid.dims;
            out = i.create({ type: 'f32', count: x * y * z, label: 'field' });
        }
        i.batch(() => i.withField('field', resolved, fields =>
            i.call('field', { ...fields, out: i.handle('field', 'out', out) })));
        return out;
    }

    surface(source, options = {}) {
        return this[INTERNAL].batch(() => {
            const mesh = this[INTERNAL].surfaceOnDevice(source, options);
            try {
                return {
                    positions: mesh.vertices.read(), normals: mesh.vertexNormals?.read() ?? null,
                    values: mesh.vertexValues?.read() ?? null, indices: mesh.indices?.read() ?? null,
                    cells: mesh.triangleCells?.read() ?? null,
                    vertexCount: mesh.vertexCount, triangleCount: mesh.triangleCount, parts: mesh.parts,
                    activeCells: mesh.activeCells, stages: mesh.stages,
                };
            } finally {
                mesh.destroy();
            }
        });
    }

    surfaceOnDevice(source, options = {}) {
        return this[INTERNAL].surfaceOnDevice(source, options);
    }

    surfaceEnqueue(o) {
        const i = this[INTERNAL], call = 'surfaceEnqueue';
        i.check();
        i.call('surface_enqueue', {
            volume: i.handle(call, 'volume', o.volume), ...i.grid(call, o), iso: o.iso,
            iso_buffer: i.handle(call, 'isoBuffer', o.isoBuffer), iso_index: o.isoIndex,
            normals: choice(call, 'normals', NORMALS, o.normals), soup: o.soup, caps: o.caps, flip: o.flip,
            ...i.region(call, o.region), mask: i.handle(call, 'mask', o.mask),
            attribute: i.handle(call, 'attribute', o.attribute), index: i.handle(call, 'index', o.index),
            vertices: i.handle(call, 'vertices', o.vertices),
            vertex_normals: i.handle(call, 'vertexNormals', o.vertexNormals),
            vertex_values: i.handle(call, 'vertexValues', o.vertexValues),
            indices: i.handle(call, 'indices', o.indices), wants_cells: !!o.triangleCells,
            triangle_cells: i.handle(call, 'triangleCells', o.triangleCells), counts: i.handle(call, 'counts', o.counts),
        });
    }

    surfaceIndex(volume) {
        const i = this[INTERNAL];
        i.check();
        i.call('surface_index', {
            volume: i.handle('surfaceIndex', 'data', volume.data), ...i.grid('surfaceIndex', volume),
        });
        return i.wrap(i.reply('buffer'), { label: 'index' });
    }

    cells(source, options = {}) {
        const i = this[INTERNAL];
        return i.withSource('cells', source, options, fields => {
            const count = source.dims.reduce((product, n) => product * Math.max(n - 1, 0), 1);
            const at = i.allocate('cells', count);
            try {
                i.call('surface_cells', { ...fields, iso: options.iso, cells: at });
                return i.copyOut(at, 'u8', count);
            } finally {
                i.m._free(at);
            }
        });
    }

    examine(mesh, componentsOnly = false) {
        const i = this[INTERNAL];
        i.check();
        const whole = (name, array) => {
            if (!array || array.length % 3)
                throw invalid(`examine: ${name} has no whole triples`);
            return array.length / 3;
        };
        const vertices = i.create({ type: 'f32x3', count: whole('positions', mesh.positions), data: mesh.positions });
        try {
            const indices = i.create({ type: 'u32x3', count: whole('indices', mesh.indices), data: mesh.indices });
            try {
                i.call('mesh_examine', {
                    vertices: vertices[INTERNAL].handle, indices: indices[INTERNAL].handle,
                    components_only: componentsOnly,
                });
            } finally {
                indices.destroy();
            }
        } finally {
            vertices.destroy();
        }
        return {
            components: i.reply('components'), boundaryEdges: i.reply('boundary_edges'),
            nonmanifoldEdges: i.reply('nonmanifold_edges'), euler: i.reply('euler'), area: i.reply('area'),
            volume: i.reply('enclosed'), lower: i.replies('lower', 3), upper: i.replies('upper', 3),
        };
    }

    /* ---- time ---- */

    async prepare(calls, step = pause) {
        const i = this[INTERNAL];
        i.check();
        if (!i.gl || i.path !== 'integer')
            return;
        for (let left = Infinity; left > 0;) {
            /* What has been enqueued is done, so that what is asked meanwhile is answered at once. */
            await i.finished();
            i.check();
            if (i.isLost)
                throw new TrommelError('DEVICE_LOST', 'prepare: the OpenGL context was lost');
            i.call('prepare_begin', {});
            try {
                calls();
            } finally {
                i.call('prepare_end', {});
            }
            const before = left;
            left = i.reply('count');
            if (left === before)
                await pause(20); /* the driver is at all of them */
            else if (left > 0)
                await step();
        }
        await i.finished();
    }
    time(enqueue) {
        return this[INTERNAL].time(enqueue);
    }
    exactCounts(exact = true) {
        this[INTERNAL].call('exact_counts', { exact_counts: exact });
    }
    finished() {
        return this[INTERNAL].finished();
    }

    /* ---- textures of the page's ---- */

    importTexture(o) {
        this[INTERNAL].transfer('importTexture', o);
    }
    exportTexture(o) {
        this[INTERNAL].transfer('exportTexture', o);
    }
    get glsl() {
        const i = this[INTERNAL];
        if (!i.gl)
            return null;
        i.check();
        i.call('glsl', {});
        return i.text('glsl');
    }

    /* ---- image ---- */

    imageSizes() {
        const i = this[INTERNAL];
        i.check();
        i.call('image_sizes', {});
        return { stats: i.reply('count'), state: i.reply('size') };
    }
    imageMeasure(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_measure', {
            ...i.imageFields('imageMeasure', o.image), ...luminanceFields('imageMeasure', o),
            region0: o.region?.x, region1: o.region?.y, region2: o.region?.width, region3: o.region?.height,
            what: (o.what ?? []).reduce((bits, one) => bits | MEASURES[one], 0),
            histogram_low: o.histogramLow, bin_log2: o.binLog2,
            mask: i.handle('imageMeasure', 'mask', o.mask), mask_width: o.maskWidth, mask_height: o.maskHeight,
            stats: i.handle('imageMeasure', 'stats', o.stats),
        });
    }
    meterWeights(meter, { width, height, maskWidth, maskHeight }) {
        const i = this[INTERNAL];
        i.check();
        const size = maskWidth * maskHeight, data = i.allocate('meterWeights', size);
        try {
            i.call('meter_weights', {
                meter: choice('meterWeights', 'meter', METERS, meter), width, height,
                mask_width: maskWidth, mask_height: maskHeight, data,
            });
            return i.copyOut(data, 'u8', size);
        } finally {
            i.m._free(data);
        }
    }
    mipLevels(width, height) {
        const i = this[INTERNAL], levels = [];
        i.check();
        do {
            i.call('mip_level', { width, height, level: levels.length });
            levels.push({ width: i.reply('width'), height: i.reply('height'), first: i.reply('first') });
        } while (levels.length < i.reply('count'));
        return levels;
    }
    imageMips(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_mips', {
            ...i.imageFields('imageMips', o.in), ...luminanceFields('imageMips', o),
            filter: choice('imageMips', 'filter', MIP_FILTERS, o.filter), levels: o.levels, last_alone: o.lastAlone,
            log_luminance: o.logLuminance, out: i.handle('imageMips', 'out', o.out),
        });
    }
    imageStats(stats) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_stats', { stats: i.handle('imageStats', 'stats', stats) });
        const histogram = i.copyOut(i.reply('histogram'), 'f64', HISTOGRAM_BINS);
        return {
            pixels: i.reply('pixels'), positive: i.reply('positive'), zero: i.reply('zero'),
            negative: i.reply('negative'), nan: i.reply('nan'), infinite: i.reply('infinite'),
            weight: i.reply('weight'), min: i.reply('min'), max: i.reply('max'), mean: i.reply('mean'),
            deviation: i.reply('deviation'), log2Mean: i.reply('log2_mean'),
            geometricMean: i.reply('geometric_mean'), histogramLow: i.reply('histogram_low'),
            binWidth: i.reply('bin_width'), histogram,
        };
    }
    imagePercentile(percent) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_percentile', { percentile: percent });
        return i.reply('percentile');
    }
    imageExpose(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_expose', {
            stats: i.handle('imageExpose', 'stats', o.stats), state: i.handle('imageExpose', 'state', o.state),
            by: choice('imageExpose', 'by', EXPOSE_BY, o.by), clip_low: o.clip?.[0], clip_high: o.clip?.[1],
            percentile: o.percentile, ev100: o.ev100, key: o.key, bias: o.bias, ev_min: o.evMin, ev_max: o.evMax,
            speed_up: o.speedUp, speed_down: o.speedDown, seconds: o.seconds, reset: o.reset,
        });
    }
    imageTonemap(o) {
        const i = this[INTERNAL];
        i.check();
        if (o.out.width !== o.in.width || o.out.height !== o.in.height)
            throw invalid(`imageTonemap: out is ${o.out.width} x ${o.out.height}, needs in's size, ` +
                `${o.in.width} x ${o.in.height}`);
        const out = i.imageFields('imageTonemap', o.out);
        i.call('image_tonemap', {
            ...i.imageFields('imageTonemap', o.in), to: out.in0, to_channels: out.channels, to_srgb: out.srgb,
            state: i.handle('imageTonemap', 'state', o.state), scale: o.scale,
            tone: choice('imageTonemap', 'tone', TONES, o.tone), white: o.white,
        });
    }

    expose(picture, { tone, white, ...o } = {}) {
        const { width, height, data, type = typeOf(data), channels = 3, srgb } = picture, made = [];
        const make = options => {
            made.push(this.buffer(options));
            return made.at(-1);
        };
        return this.batch(() => {
            try {
                const sizes = this.imageSizes(), shown = make({ type: 'u8x4', count: width * height });
                const image = { buffer: make({ type, count: width * height * channels, data }), width, height, channels, srgb };
                const stats = make({ type: 'u32', count: sizes.stats }), state = make({ type: 'f32', count: sizes.state });
                this.imageMeasure({ image, stats });
                this.imageExpose({ ...o, stats, state, reset: true });
                this.imageTonemap({ in: image, out: { buffer: shown, width, height, channels: 4, srgb: true }, state, tone, white });
                return new Uint8ClampedArray(shown.read().buffer);
            } finally {
                for (const buffer of made)
                    buffer.destroy();
            }
        });
    }

    /* ---- collide ---- */

    tree(mesh, { skipBroken } = {}) {
        const i = this[INTERNAL];
        i.callWith('tree', 'tree_create', { skip_broken: skipBroken },
            { vertices: [mesh.positions, 'f32x3', 'positions'], indices: mesh.indices && [mesh.indices, 'u32x3'] });
        return i.wrapTree();
    }

    loadTree(bytes) {
        const i = this[INTERNAL];
        i.check();
        return i.withBytes('loadTree', bytes, data => {
            i.call('tree_load', { data, size: bytes.byteLength });
            return i.wrapTree();
        });
    }

    distance(a, b, { poses } = {}) {
        const i = this[INTERNAL];
        i.check();
        const count = Math.max((poses?.length ?? 0) / 12, 1), size = 40 * count; /* tml_collide_distance_result */
        const [tree, other_tree] = [i.treeAt('distance', 'a', a), i.treeAt('distance', 'b', b)];
        return i.withPoses('distance', poses, (at, pose_count) =>
            i.withBytes('distance', new Uint8Array(size), data => {
                i.call('collide_distance', { tree, other_tree, poses: at, pose_count, data });
                const view = new DataView(i.copyOut(data, 'u8', size).buffer);
                const point = first => [0, 4, 8].map(k => view.getFloat32(first + k, true));
                return Array.from({ length: count }, (_, k) => ({
                    distance: view.getFloat64(40 * k, true), pointA: point(40 * k + 8), pointB: point(40 * k + 20),
                    a: view.getUint32(40 * k + 32, true), b: view.getUint32(40 * k + 36, true),
                }));
            }));
    }

    collide(a, b = null, o = {}) {
        const i = this[INTERNAL];
        i.check();
        const poseCount = (o.poses?.length ?? 0) / 12;
        const classes = (o.classes ?? []).reduce((bits, one) =>
            bits | 1 << choice('collide', 'classes', COLLIDE_CLASSES, one), 0);
        i.withPoses('collide', o.poses, (poses, pose_count) => i.call('collide', {
            tree: i.treeAt('collide', 'a', a), other_tree: i.treeAt('collide', 'b', b), poses,
            pose_count, what: choice('collide', 'want', COLLIDE_WANTS, o.want), classes,
            segments: o.segments, method: choice('collide', 'method', COLLIDE_METHODS, o.method),
            memory_limit: o.memoryLimit,
        }));
        try {
            const count = i.reply('count'), pairs = i.reply('pairs'), segments = i.reply('segments');
            const counts = i.replies('class_count', COLLIDE_CLASSES.length);
            return {
                count, pairs: pairs ? i.copyOut(pairs, 'u32', 4 * count) : new Uint32Array(0),
                segments: segments ? i.copyOut(segments, 'f32', 6 * count) : null,
                first: Array.from(i.copyOut(i.reply('first'), 'u64', Math.max(poseCount, 1) + 1), Number),
                classCounts: Object.fromEntries(COLLIDE_CLASSES.map((name, k) => [name, counts[k]]).slice(1)),
                stepPairs: Array.from(i.copyOut(i.reply('step_pairs'), 'u64', i.reply('step_count')), Number),
                nodePairs: i.reply('node_pairs'), tested: i.reply('tested'), unsure: i.reply('unsure'),
            };
        } finally {
            i.m._web_collide_free(i.tml);
        }
    }

    /* ---- subdivide ---- */

    subdivider(mesh, o = {}) {
        const i = this[INTERNAL], given = (array, type, name) => array && [array, type, name];
        i.callWith('subdivider', 'subdivider_create', {
            boundary: choice('subdivider', 'boundary', BOUNDARIES, o.boundary),
            weighting: choice('subdivider', 'weights', SUBDIVIDE_WEIGHTS, o.weights), fix: o.fix,
        }, {
            vertices: [mesh.positions, 'f32x3', 'positions'], indices: [mesh.indices, 'u32x3'], creases: given(o.creases, 'u32x2'),
            crease_sharpness: given(o.creaseSharpness, 'f32', 'creaseSharpness'), corners: given(o.corners, 'u32'),
            corner_sharpness: given(o.cornerSharpness, 'f32', 'cornerSharpness'),
        });
        const subdivider = new TrommelSubdivider({
            t: this, at: i.reply('subdivider'), vertexCount: i.reply('vertex_count'), edgeCount: i.reply('edge_count'),
            triangleCount: i.reply('triangle_count'), boundaryEdgeCount: i.reply('boundary_edge_count'),
            sharpEdgeCount: i.reply('sharp_edge_count'),
        });
        i.subdividers.add(subdivider);
        return subdivider;
    }

    /* ---- files ---- */

    loadMesh(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        i.withFile('loadMesh', file, (data, size) => i.scope(() => i.call('mesh_load', {
            data, size, name: i.stackText(name), memory_limit: options.memoryLimit ?? 2 ** 30,
        })));
        try {
            const vertexCount = i.reply('vertex_count'), triangleCount = i.reply('triangle_count');
            return {
                positions: i.copyOut(i.reply('positions'), 'f32', 3 * vertexCount),
                indices: i.copyOut(i.reply('indices'), 'u32', 3 * triangleCount), vertexCount, triangleCount,
                origin: i.replies('origin', 3), format: i.text('format'), comment: i.text('comment'),
            };
        } finally {
            i.m._web_mesh_free(i.tml);
        }
    }

    loadPicture(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        return i.withFile('loadPicture', file, (data, size) => i.scope(() => {
            i.call('picture_load', {
                data, size, name: i.stackText(name), memory_limit: options.memoryLimit ?? 2 ** 30,
            });
            try {
                const type = i.text('type'), bytes = ARRAYS[type].BYTES_PER_ELEMENT;
                return {
                    data: i.copyOut(i.reply('data'), type, i.reply('size') / bytes), type,
                    width: i.reply('width'), height: i.reply('height'), channels: i.reply('channels'),
                    srgb: i.reply('srgb') !== 0, format: i.text('format'), comment: i.text('comment'),
                };
            } finally {
                i.m._web_picture_free(i.tml);
            }
        }));
    }

    loadVolume(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        return i.withFile('loadVolume', file, (data, size) => i.scope(() => {
            i.call('volume_load', {
                data, size, name: i.stackText(name), ...i.vector('loadVolume', 'dims', options.dims, 3, 'dims'),
                type: i.stackText(options.type), big_endian: options.bigEndian, skip: options.skip,
                ...i.vector('loadVolume', 'spacing', options.spacing, 3, 'spacing'), frame: options.frame,
                memory_limit: options.memoryLimit ?? 2 ** 30,
            });
            try {
                const type = i.text('type'), bytes = ARRAYS[type].BYTES_PER_ELEMENT;
                return {
                    data: i.copyOut(i.reply('data'), type, i.reply('size') / bytes), type, ...i.replyGrid(),
                    slope: i.reply('slope'), intercept: i.reply('intercept'), format: i.text('format'),
                    space: i.text('space'), comment: i.text('comment'),
                };
            } finally {
                i.m._web_volume_free(i.tml);
            }
        }));
    }

    suggestIso({ data, type }) {
        const i = this[INTERNAL];
        return i.withFile('suggestIso', data, (at, size) => i.scope(() => {
            i.call('suggest_iso', { data: at, size, type: i.stackText(type ?? typeOf(data)) });
            return { iso: i.reply('iso'), lower: i.reply('min'), upper: i.reply('max') };
        }));
    }

    loadPoints(file, name = 'file') {
        const i = this[INTERNAL];
        return i.withFile('loadPoints', file, (data, size) => i.scope(() => {
            i.call('points_load', { data, size, name: i.stackText(name) });
            try {
                const count = i.reply('count');
                const array = (field, n) => (i.reply(field) ? i.copyOut(i.reply(field), 'f32', n) : null);
                return {
                    positions: array('positions', 3 * count) ?? new Float32Array(0), radii: array('radii', count),
                    values: array('values', count), valueName: i.text('value_name'), count,
                    origin: i.replies('origin', 3), format: i.text('format'), dropped: i.reply('dropped'),
                };
            } finally {
                i.m._web_points_free(i.tml);
            }
        }));
    }

    saveMesh(mesh, format) {
        const i = this[INTERNAL];
        i.check();
        const name = `mesh.${MESH_FORMATS[choice('saveMesh', 'format', MESH_FORMATS, format)]}`;
        const held = [];
        const place = array => {
            if (!array)
                return undefined;
            const bytes = bytesOf('saveMesh', array), at = i.allocate('saveMesh', bytes.length);
            held.push(at);
            i.m.HEAPU8.set(bytes, at);
            return at;
        };
        const vertexCount = mesh.positions.length / 3;
        try {
            i.scope(() => i.call('mesh_save', {
                name: i.stackText(name), vertices: place(mesh.positions), vertex_normals: place(mesh.normals),
                vertex_values: place(mesh.values), indices: place(mesh.indices), vertex_count: vertexCount,
                triangle_count: mesh.indices ? mesh.indices.length / 3 : vertexCount / 3,
                ...i.vector('saveMesh', 'origin', mesh.origin, 3, 'origin'),
            }));
            held.push(i.reply('data'));
            return i.copyOut(i.reply('data'), 'u8', i.reply('size'));
        } finally {
            for (const at of held)
                i.m._free(at);
        }
    }

    lost() {
        this[INTERNAL].lose();
    }
    close() {
        this[INTERNAL].close();
    }
}

/* What each call's options may be named; of those with a 1 they come second. */
const STREAM = 'kernel params in length', KEEP = `${STREAM} flags mask payloads method indices count`;
const SURFACE = 'normals soup caps flip region mask attribute index';
const IMAGE = 'luminance weights floor';
const WHOLE = `1 iso isovalues labels allLabels ${SURFACE} cells dropDegenerate largestComponent positionOrigin`;
const FIELD = 'points radii radius kind kernel margin grid resolution iso';
const TEXTURE = 'texture format width height tiles slices channels buffer first';
const OPTIONS = {
    map: `${STREAM} out`, reduce: 'fold in length out', histogram: `${STREAM} bins edges lower upper weights out`,
    scan: 'in length inclusive method fold out total start', compact: KEEP, partition: KEEP,
    sort: 'keys length descending firstBit bitCount method sorted payloads indices offsets',
    topK: 'keys length k smallest unsorted values indices payloads count',
    expand: 'counts countKernel emitKernel params in length method source rank out total',
    unique: 'in length values starts lengths count', field: FIELD, resolveField: FIELD,
    surface: WHOLE, surfaceOnDevice: WHOLE, cells: '1 iso mask region',
    surfaceEnqueue: `dims spacing origin direction volume iso isoBuffer isoIndex ${SURFACE} vertices vertexNormals ` +
        'vertexValues indices triangleCells counts',
    imageMeasure: `image ${IMAGE} region what histogramLow binLog2 mask maskWidth maskHeight stats`,
    imageMips: `in ${IMAGE} filter levels lastAlone logLuminance out`,
    imageExpose: 'stats state by clip percentile ev100 key bias evMin evMax speedUp speedDown seconds reset',
    imageTonemap: 'in out state scale tone white', importTexture: TEXTURE, exportTexture: TEXTURE,
};

function refuseOthers(call, options, names) {
    for (const name in options)
        if (options[name] !== undefined && !names.split(' ').includes(name))
            throw invalid(`${call}: there is no option ${name}; there are ${names.replace(/^1 /, '')}`);
}
for (const [call, names] of Object.entries(OPTIONS)) {
    const { [call]: plain } = Trommel.prototype;
    Trommel.prototype[call] = function (...given) {
        refuseOthers(call, given[names.startsWith('1 ') ? 1 : 0], names);
        return plain.apply(this, given);
    };
}

Object.assign(Inside.prototype, {
    /* A file's bytes in the module's memory, for as long as f runs. */
    withFile(call, file, f) {
        this.check();
        const bytes = bytesOf(call, file), at = this.allocate(call, bytes.length);
        this.m.HEAPU8.set(bytes, at);
        try {
            return f(at, bytes.length);
        } finally {
            this.m._free(at);
        }
    },
    imageFields(call, image) {
        return {
            in0: image.texture ? undefined : this.handle(call, 'the picture', image.buffer),
            width: image.width, height: image.height,
            channels: image.channels ?? (image.texture ? 3 : undefined), srgb: image.srgb,
            ...this.colours(call, image.texture, image.format),
        };
    },
    /* A texture of the page's with colours, or none. */
    colours(call, texture, format) {
        if (texture && !this.gl)
            throw new TrommelError('UNSUPPORTED', `${call}: the CPU engine reads no textures; give a buffer`);
        return { colours: texture ? this.lend(texture) : 0, colours_format: format };
    },
    transfer(call, o) {
        this.check();
        this.needGl(call);
        if (!o.texture)
            throw invalid(`${call}: texture is missing, needs a WebGLTexture`);
        this.call(call === 'importTexture' ? 'import' : 'export', {
            ...this.colours(call, o.texture, o.format), width: o.width, height: o.height,
            tile_width: o.tiles?.[0], tile_height: o.tiles?.[1], slices: o.slices, channels: o.channels,
            buffer: this.handle(call, 'buffer', o.buffer), first: o.first,
        });
    },
    needGl(call) {
        if (!this.gl)
            throw new TrommelError('UNSUPPORTED', `${call}: this Trommel is on engine cpu, not on gl`);
    },
});

export default Trommel;
