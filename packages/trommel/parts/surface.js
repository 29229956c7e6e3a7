/* Fields from points, and surfaces. */
import {
    ARRAYS, INTERNAL, Inside, Trommel, TrommelBuffer, bytesOf, choice, componentsOf, extend, invalid, scalarOf, typeOf, unlike,
} from '../core.js';

const NORMALS = ['none', 'forward', 'central', 'sobel'];
const FIELD_KINDS = ['sum', 'distance'];
const FIELD_KERNELS = ['wendland', 'poly6', 'metaball'];

const ZERO = [0, 0, 0];
const less = (a, b) => Array.from(a, (x, k) => x - b[k]);
/* What lies so far from 0 that floats lose the samples' distances: where the mesh's origin goes. */
const farOrigin = ({ origin = ZERO, spacing = [1, 1, 1] }) =>
    (Math.max(...origin.map(Math.abs)) > 2 ** 12 * Math.min(...spacing) ? origin : ZERO);

/* Between a volume's physical values, which are asked for, and its stored ones. */
function valuesOf(call, { slope = 1, intercept = 0 }) {
    if (!slope || !isFinite(slope + intercept))
        throw invalid(`${call}: slope is ${slope} and intercept ${intercept}, need finite numbers, and a slope that is not 0`);
    const isPlain = slope === 1 && !intercept;
    return {
        isPlain, isFlipped: slope < 0, stored: value => (isPlain ? value : (Number(value) - intercept) / slope),
        physical: value => (isPlain ? value : slope * Number(value) + intercept),
        label(value) {
            try {
                return BigInt(this.stored(value));
            } catch {
                throw invalid(`${call}: label ${value} is no value of the volume's, whose slope is ${slope} and intercept ${intercept}`);
            }
        },
    };
}

/* What loadPoints returns, as a field's points; else nothing. */
const cloudOf = ({ points }) => (points?.positions ? points : undefined);
const originOf = options => cloudOf(options)?.origin ?? ZERO;

extend(Inside, class {
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
    withField(call, given, f) {
        const cloud = cloudOf(given), lent = [];
        const options = cloud ? { ...given, points: cloud.positions, radii: given.radii ?? cloud.radii } : given;
        const grid = given.grid ?? (given.dims && given);
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
                margin: options.margin, resolution: options.resolution,
                ...this.grid(call, cloud && grid ? { ...grid, origin: less(grid.origin ?? ZERO, originOf(given)) } : grid),
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

    /* Where the mesh of a field begins: where its points do, or, if these are far from there, where its grid does. */
    fieldOrigin(field, moved) {
        const points = cloudOf(field)?.positions ?? field.points;
        if (!(points instanceof Float32Array) || !points.subarray(0, 3).some(x => Math.abs(x) > 1024))
            return moved;
        const grid = field.grid?.dims ? field.grid : field.dims ? field : this.trommel.resolveField(field).grid;
        return farOrigin({ ...grid, origin: less(grid.origin ?? ZERO, moved) }).map((x, k) => x + moved[k]);
    }

    surfaceOnDevice(source, options) {
        const values = valuesOf('surface', source ?? {}), { field } = source ?? {}, isLabels = options.allLabels || options.labels;
        const moved = field ? originOf(field) : ZERO;
        const origin = options.positionOrigin ?? (field ? this.fieldOrigin(field, moved) : farOrigin(source ?? {}));
        return this.withSource('surface', source, options, fields => {
            this.scope(() => {
                const request = {
                    ...fields, iso: isLabels || options.isovalues ? options.iso : values.stored(options.iso ?? 0), all_labels: options.allLabels,
                    normals: choice('surface', 'normals', NORMALS, options.normals),
                    soup: options.soup, wants_cells: options.cells, caps: options.caps,
                    flip: !options.flip === (values.isFlipped && !isLabels), drop_degenerate: options.dropDegenerate, largest_component: options.largestComponent,
                    ...this.vector('surface', 'positionOrigin', less(origin, moved), 3, 'position'),
                };
                if (options.isovalues) {
                    request.isovalues = this.stackArray(Float64Array, Array.from(options.isovalues, values.stored));
                    request.isovalue_count = options.isovalues.length;
                }
                if (options.labels) {
                    if (options.labels.length > 65536)
                        throw invalid(`surface: ${options.labels.length} labels, can have 65536`);
                    request.labels = this.stackArray(BigInt64Array, Array.from(options.labels, label => values.label(label)));
                    request.label_count = options.labels.length;
                }
                this.call('surface', request);
            });
            const mesh = Object.assign(this.mesh(), { origin: Array.from(origin) });
            for (const part of mesh.parts)
                part.value = values.physical(part.value);
            return mesh;
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
        const numbers = this.copyOut(partsAt, 'f64', partsAt ? 6 * partCount : 0);
        const bits = new BigUint64Array(numbers.buffer);
        this.m._free(partsAt);
        const parts = Array.from({ length: numbers.length / 6 }, (_, i) => {
            const [value, vertexFirst, vertexCount, triangleFirst, triangleCount] = numbers.subarray(6 * i);
            const part = { value, vertexFirst, vertexCount, triangleFirst, triangleCount };
            if (bits[6 * i + 5]) // all digits of a label, which a number does not hold beyond 2^53
                part.label = value < 0 ? BigInt.asIntN(64, bits[6 * i + 5]) : bits[6 * i + 5];
            return part;
        });
        const stageNumbers = this.copyOut(this.reply('stages'), 'f64', 2 * this.reply('stage_count'));
        const stages = Array.from({ length: stageNumbers.length / 2 }, (_, i) => (
            { name: this.m.UTF8ToString(stageNumbers[2 * i]), seconds: stageNumbers[2 * i + 1] }));
        return { ...this.buffersOf(handles), ...counts, parts, stages };
    }
});

const SURFACE = 'normals soup caps flip region mask attribute index';
const WHOLE = `1 iso isovalues labels allLabels ${SURFACE} cells dropDegenerate largestComponent positionOrigin`;
const GRID = 'dims spacing origin direction grid';
const FIELD = `points radii radius kind kernel margin ${GRID} resolution iso out`;
extend(Trommel, class {
    resolveField(options) {
        const i = this[INTERNAL];
        i.check();
        return i.withField('resolveField', options, fields => {
            i.call('field_resolve', fields);
            return { ...options, radius: i.reply('radius'), margin: i.reply('margin'), grid: i.replyGrid(originOf(options)), iso: i.reply('iso') };
        });
    }

    field(options, out = options.out) {
        const i = this[INTERNAL];
        i.check();
        let resolved = options.dims ? { ...options, grid: options } : options;
        if (!out) {
            if (!resolved.grid?.dims)
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
                    origin: mesh.origin, activeCells: mesh.activeCells, stages: mesh.stages,
                };
            } finally {
                mesh.destroy();
            }
        });
    }

    surfaceOnDevice(source, options = {}) {
        return this[INTERNAL].surfaceOnDevice(source, options);
    }

    surfaceEnqueue(options, out) {
        const i = this[INTERNAL], call = 'surfaceEnqueue', o = { ...options, ...out };
        const whole = o.volume?.data ? o.volume : {}, values = valuesOf(call, whole);
        i.check();
        i.call('surface_enqueue', {
            volume: i.handle(call, 'volume', whole.data ?? o.volume), ...i.grid(call, o.grid ?? (o.dims ? o : whole)),
            iso: values.stored(o.iso ?? 0),
            iso_buffer: i.handle(call, 'isoBuffer', o.isoBuffer), iso_index: o.isoIndex,
            normals: choice(call, 'normals', NORMALS, o.normals), soup: o.soup, caps: o.caps,
            flip: !o.flip === values.isFlipped, ...i.region(call, o.region), mask: i.handle(call, 'mask', o.mask),
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
        const i = this[INTERNAL], values = valuesOf('cells', source ?? {});
        return i.withSource('cells', source, options, fields => {
            const count = source.dims.reduce((product, n) => product * Math.max(n - 1, 0), 1);
            const at = i.allocate('cells', count);
            try {
                i.call('surface_cells', { ...fields, iso: values.stored(options.iso ?? 0), cells: at });
                return i.copyOut(at, 'u8', count);
            } finally {
                i.m._free(at);
            }
        });
    }
}, {
    field: FIELD, resolveField: FIELD, surface: WHOLE, surfaceOnDevice: WHOLE, cells: '1 iso mask region',
    surfaceEnqueue: `${GRID} volume iso isoBuffer isoIndex ${SURFACE} vertices vertexNormals ` +
        'vertexValues indices triangleCells counts',
});
