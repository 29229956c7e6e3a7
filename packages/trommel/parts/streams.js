/* Kernels and streams. */
import {
    TrommelError, ARRAYS, INTERNAL, Inside, Trommel, choice, componentsOf, extend, invalid, lacking, scalarOf,
} from '../core.js';

const KERNEL_TYPES = {
    bool: 'u8', float: 'f32', int: 'i32', uint: 'u32', vec2: 'f32x2', vec3: 'f32x3', vec4: 'f32x4',
    uvec2: 'u32x2', uvec3: 'u32x3', uvec4: 'u32x4', double: 'f64', uint64: 'u64', int64: 'i64',
};
const KERNEL_EXTRAS = ['tml_index', 'tml_rank', 'tml_params', 'tml_words'];
const KERNEL_PARAMS = 6;

/* ---- descs, filled from objects of their shape ---------------------------------------------------- */

/* A kind's bytes, which it is aligned to but where align says otherwise, and how a value of it is written; field: what the
 * caller calls it. */
const kind = (size, put, align = size) => ({ size, align, put });
const word = write => kind(4, (i, call, field, at, value) => {
    i.m.HEAPU32[at >> 2] = write(i, call, field, value);
});

function number(i, call, field, value) {
    if (typeof value !== 'number' && typeof value !== 'bigint')
        throw invalid(`${call}: ${field} is ${JSON.stringify(value)}, needs a number`);
    return Number(value);
}

const KINDS = {
    bool: kind(1, (i, call, field, at, value) => {
        i.m.HEAPU8[at] = value ? 1 : 0;
    }),
    u32: word(number),
    f32: kind(4, (i, call, field, at, value) => {
        i.m.HEAPF32[at >> 2] = number(i, call, field, value);
    }),
    u64: kind(8, (i, call, field, at, value) => {
        const low = number(i, call, field, value);
        i.m.HEAPU32.set([low, low / 2 ** 32], at >> 2);
    }),
    buffer: kind(8, (i, call, field, at, buffer) => {
        i.handle(call, field, buffer);
        i.m.HEAPU32.set(buffer[INTERNAL].words, at >> 2);
    }, 4),
    kernel: word((i, call, field, kernel) => i.kernelAt(call, field, kernel)),
};

function struct(kinds, list) {
    const fields = new Map();
    let size = 0, align = 1;
    for (const field of list) {
        const [name, of, length] = field.split(':'), kind = kinds[of || 'buffer'];
        align = Math.max(align, kind.align);
        size = Math.ceil(size / kind.align) * kind.align;
        fields.set(name, { kind, length, at: size });
        size += kind.size * (length ?? 1);
    }
    const names = [...fields.keys()].join(' ');
    return kind(Math.ceil(size / align) * align, (i, call, where, at, object) => {
        if (fields.has('exact')) /* a length, of which a count says what it is, also where it is 0 */
            object = typeof object === 'number' ? { count: object, exact: true } : { exact: object.count !== undefined, ...object };
        if (Object(object) !== object || object[INTERNAL])
            throw invalid(`${call}: ${where || 'what is given'} is no object of ${names}`);
        for (const name in object) {
            const value = object[name], field = fields.get(name), path = where ? `${where}.${name}` : name;
            if (value === undefined || value === null)
                continue;
            if (!field)
                throw invalid(`${call}: there is no option ${path}; there are ${names}`);
            const { kind, length } = field, list = !length || value.length === undefined ? [value] : value;
            if (list.length > length)
                throw invalid(`${call}: ${list.length} of ${path}, can have ${length}`);
            for (let k = 0; k < list.length; k++)
                if (list[k] !== undefined && list[k] !== null)
                    kind.put(i, call, length ? `${path}[${k}]` : path, at + field.at + k * kind.size, list[k]);
        }
    }, align);
}

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

    /* A block of work for a kernel in JavaScript, a tml_kernel_block. */
    runKernel(js, params, result, block) {
        const { buffer } = this.m.HEAPU8, ins = new Uint32Array(buffer, block, 13);
        const [indices, ranks, numbers, outs, low, high, count] = ins.subarray(KERNEL_PARAMS), first = low + high * 2 ** 32;
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
        const own = kernel[INTERNAL];
        if (own?.inside !== this)
            throw invalid(`${call}: ${field} is not a kernel of this Trommel; make it with kernel()`);
        if (!this.gl && !own.run)
            throw new TrommelError('UNSUPPORTED', `${call}: kernel ${kernel.name} cannot be compiled for the CPU; ${
                this.threads > 1 ? 'create the Trommel with threads: 1 and ' : ''}give kernel() a function too`);
        return own.at;
    }

    /* The address of a desc, or of a kind that is within one, filled, on the stack. */
    descOf(call, name, object) {
        const m = this.m, kinds = this.kinds ??= { ...KINDS };
        if (!kinds[name]) {
            if (!m._web_stream)
                throw lacking(call, this.trommel);
            m.UTF8ToString(m._web_stream_layouts()).split('\n').forEach((line, index) => {
                const [name, ...list] = line.split(/[ =]/);
                kinds[name] = line.includes('=') ? word((i, call, field, value) => choice(call, field, list, value))
                                                 : { index, ...struct(kinds, list) };
            });
        }
        const { size, put } = kinds[name], at = m.stackAlloc(size);
        m.HEAPU8.fill(0, at, at + size);
        put(this, call, '', at, object);
        return at;
    }

    stream(call, object) {
        this.check();
        this.scope(() => {
            const at = this.descOf(call, call, object);
            this.confirm(this.m._web_stream(this.tml, this.kinds[call].index, at));
        });
    }
});

extend(Trommel, class {
    kernel(source, js, library) {
        return this[INTERNAL].kernel(source, js, library);
    }

    map(o) { this[INTERNAL].stream('map', o); }
    reduce(o) { this[INTERNAL].stream('reduce', o); }
    histogram(o) { this[INTERNAL].stream('histogram', o); }
    scan(o) { this[INTERNAL].stream('scan', o); }
    compact(o) { this[INTERNAL].stream('compact', o); }
    sort(o) { this[INTERNAL].stream('sort', o); }
    topK(o) { this[INTERNAL].stream('topK', o); }
    gather(o) { this[INTERNAL].stream('gather', o); }
    scatter(o) { this[INTERNAL].stream('scatter', o); }
    search(o) { this[INTERNAL].stream('search', o); }
    expand(o) { this[INTERNAL].stream('expand', o); }
    unique(o) { this[INTERNAL].stream('unique', o); }
});
