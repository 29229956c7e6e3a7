/* Trommel for JavaScript; index.d.ts says what each call does. This file and those of parts/ turn objects
 * and typed arrays into the requests of src/web.h (those of streams into descs) and its replies back into objects. index.js,
 * inline.js and the parts of the package say where the WebAssembly is: apart from this file, since bundlers take every file
 * that one names.
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

const PATHS = ['integer', 'float', 'float-packed', 'packed'];
const LEVELS = ['error', 'warning', 'info', 'debug'];

export const ARRAYS = {
    u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array,
    u64: BigUint64Array, i64: BigInt64Array, f16: Uint16Array, f32: Float32Array, f64: Float64Array,
};

/* An option's place in its list. */
export function choice(call, field, list, value) {
    if (value === undefined || value === null)
        return 0;
    const index = list.indexOf(`${value}`.replaceAll('_', '-'));
    if (index < 0)
        throw new TrommelError('INVALID_ARGUMENT',
            `${call}: ${field} is ${JSON.stringify(value)}, needs one of ${list.join(', ')}`);
    return index;
}

export function invalid(message) {
    return new TrommelError('INVALID_ARGUMENT', message);
}

export function refuseOthers(call, options, names) {
    for (const name in options)
        if (options[name] !== undefined && !names.split(' ').includes(name))
            throw invalid(`${call}: there is no option ${name}; there are ${names.replace(/^1 /, '')}`);
}

export function lacking(call, trommel) {
    return new TrommelError('UNSUPPORTED', `${call}: ${trommel.constructor.module.replace('-', '/')} has none; import 'trommel', which has all`);
}

export function typeOf(array) {
    if (array instanceof Uint8ClampedArray)
        return 'u8';
    for (const type in ARRAYS)
        if (type !== 'f16' && array instanceof ARRAYS[type])
            return type;
    return null;
}

export const scalarOf = type => type.split('x')[0];
export const componentsOf = type => Number(type.split('x')[1] ?? 1);

/* What is told of data that are not what is needed. */
export function unlike(data, needed) {
    return Array.isArray(data) ? `a plain array, needs ${needed}: new Float32Array(array) makes one, or the type that the numbers have`
                               : `${data === null ? 'null' : typeof data}, needs ${needed}`;
}

/* Bytes of an array or of an ArrayBuffer, in place. */
export function bytesOf(call, data) {
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

export class TrommelBuffer {
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

/* Bytes that go through the module's memory at a time on their way to or from a texture: its memory
 * grows but never shrinks. */
const CHUNK = 4 << 20;

/* ---- the instance's insides --------------------------------------------------------------------- */

export class Inside {
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
        const m = this.m, at = this.requestAt, f = m[`_web_${name}`];
        if (!f)
            throw lacking(name, this.trommel);
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
        this.confirm(f(this.tml));
    }

    /* Anything but OK throws. */
    confirm(status) {
        const m = this.m;
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
        const type = this.text('type'), count = this.reply('count'), at = handle >> 2;
        const buffer = new TrommelBuffer({
            t: this.trommel, handle, type, count, label: '', host: 0, lent: null, texture: undefined,
            words: this.m.HEAPU32.slice(at, at + 2), /* the tml_buffer itself */
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


    /* ---- parts of requests ---- */

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

    /* of: how far the origin is from what the library computes with. */
    replyGrid(of = [0, 0, 0]) {
        return {
            dims: this.replies('dims', 3), spacing: this.replies('spacing', 3),
            origin: this.replies('origin', 3).map((x, k) => x + of[k]), direction: this.replies('direction', 9),
        };
    }

    region(call, region) {
        if (!region)
            return {};
        return this.vector(call, 'region', [...region.first, ...region.count], 6, 'region');
    }

    /* A texture of the page's with colours, or none. */
    colours(call, texture, format) {
        if (texture && !this.gl)
            throw new TrommelError('UNSUPPORTED', `${call}: the CPU engine reads no textures; give a buffer`);
        return { colours: texture ? this.lend(texture) : 0, colours_format: format };
    }

    transfer(call, o) {
        this.check();
        refuseOthers(call, o, 'texture format width height tiles slices channels buffer first');
        this.needGl(call);
        if (!o.texture)
            throw invalid(`${call}: texture is missing, needs a WebGLTexture`);
        this.call(call === 'importTexture' ? 'import' : 'export', {
            ...this.colours(call, o.texture, o.format), width: o.width, height: o.height,
            tile_width: o.tiles?.[0], tile_height: o.tiles?.[1], slices: o.slices, channels: o.channels,
            buffer: this.handle(call, 'buffer', o.buffer), first: o.first,
        });
    }

    needGl(call) {
        if (!this.gl)
            throw new TrommelError('UNSUPPORTED', `${call}: this Trommel is on engine cpu, not on gl`);
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
    for (let i = 0; i < (m._web_test_count?.() ?? 0); i++) {
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
        if (gl && !module.GL)
            throw new TrommelError('UNSUPPORTED', `Trommel.create: ${kind.module.replace('-', '/')} computes nothing on a canvas; leave it out`);
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
                path: inside.stackText(options.path?.replace('_', '-')),
            }));
        } catch (error) {
            if (gl)
                unwatchState(gl);
            module.PThread?.terminateAllThreads();
            throw error;
        }
        inside.tml = inside.reply('tml');
        inside.path = inside.reply('path') ? inside.text('path').replace('path ', '') : null;
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


    batch(calls) {
        return this[INTERNAL].batch(calls);
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





    lost() {
        this[INTERNAL].lose();
    }
    close() {
        this[INTERNAL].close();
    }
}

/* A part's methods; options: what each call's may be named, of those with a 1 they come second. */
export function extend(kind, methods, options = {}) {
    for (const call of Object.getOwnPropertyNames(methods.prototype).slice(1)) { /* after the constructor */
        const plain = methods.prototype[call], names = options[call];
        const value = names === undefined ? plain : function (...given) {
            refuseOthers(call, given[names.startsWith('1 ') ? 1 : 0], names);
            return plain.apply(this, given);
        };
        Object.defineProperty(kind.prototype, call, { value, writable: true, configurable: true, enumerable: false });
    }
}

/* What a part of the package has not loaded is refused by name. */
for (const call of ('kernel map reduce histogram scan compact sort topK gather scatter search expand unique resolveField field surface ' +
    'surfaceOnDevice surfaceEnqueue surfaceIndex cells examine loadMesh saveMesh imageSizes imageMeasure meterWeights mipLevels ' +
    'imageMips imageStats imagePercentile imageExpose imageTonemap expose tree loadTree distance collide subdivider ' +
    'loadPicture loadVolume suggestIso loadPoints').split(' '))
    Trommel.prototype[call] = function () {
        throw lacking(call, this);
    };

