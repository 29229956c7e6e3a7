/* Kernels and streams. */
import {
    TrommelError, ARRAYS, INTERNAL, Inside, Trommel, choice, componentsOf, extend, invalid, scalarOf,
} from '../core.js';

const METHODS = ['auto', 'look-back', 'reduce-then-scan', 'histopyramid'];
const FOLDS = ['sum', 'min', 'max', 'argmin', 'argmax', 'mean'];
const KERNEL_TYPES = {
    bool: 'u8', float: 'f32', int: 'i32', uint: 'u32', vec2: 'f32x2', vec3: 'f32x3', vec4: 'f32x4',
    uvec2: 'u32x2', uvec3: 'u32x3', uvec4: 'u32x4', double: 'f64', uint64: 'u64', int64: 'i64',
};
const KERNEL_EXTRAS = ['tml_index', 'tml_rank', 'tml_params', 'tml_words'];
const KERNEL_PARAMS = 6;

extend(Inside, class {
    keepText(text) {
        const size = this.m.lengthBytesUTF8(text) + 1, at = this.allocate('kernel', size);
        this.m.stringToUTF8(text, at, size);
        return at;
    }

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
});

const STREAM = 'kernel params in length', KEEP = `${STREAM} flags mask payloads method indices count`;
extend(Trommel, class {
    kernel(source, js, library) {
        return this[INTERNAL].kernel(source, js, library);
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
            offsets: i.handle('reduce', 'offsets', o.offsets),
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
            start: i.handle('scan', 'start', o.start), offsets: i.handle('scan', 'offsets', o.offsets),
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
            smallest: o.smallest, in_source_order: o.inSourceOrder, values: i.handle('topK', 'values', o.values),
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
}, {
    map: `${STREAM} out`, reduce: 'fold in length out offsets', histogram: `${STREAM} bins edges lower upper weights out`,
    scan: 'in length inclusive method fold out total start offsets', compact: KEEP, partition: KEEP,
    sort: 'keys length descending firstBit bitCount method sorted payloads indices offsets',
    topK: 'keys length k smallest inSourceOrder values indices payloads count',
    expand: 'counts countKernel emitKernel params in length method source rank out total',
    unique: 'in length values starts lengths count',
});
