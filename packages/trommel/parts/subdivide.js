/* Subdivision. */
import { TrommelError, INTERNAL, Inside, Trommel, choice, extend, invalid } from '../core.js';
import './lent.js';

const BOUNDARIES = ['edge-only', 'edge-and-corner', 'pinned'];
const SUBDIVIDE_WEIGHTS = ['loop', 'warren'];
const SPLIT_CRITERIA = ['length', 'pixels', 'angle', 'distance'];

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
    get origin() { return this[INTERNAL].origin; }
    uniform(options) { return { ...this[INTERNAL].t[INTERNAL].subdivided(this.uniformOnDevice(options)), origin: this.origin }; }
    adaptiveOnDevice(options) { return this[INTERNAL].t[INTERNAL].subdivideAdaptive(this, options); }
    adaptive(options) { return { ...this[INTERNAL].t[INTERNAL].subdivided(this.adaptiveOnDevice(options)), origin: this.origin }; }
    adaptiveEnqueue(options) { this[INTERNAL].t[INTERNAL].subdivideEnqueue(this, options); }
    destroy() { this[INTERNAL].t[INTERNAL].destroySubdivider(this); }
}

extend(Inside, class {
    stackFloats(numbers) {
        const at = this.m.stackAlloc(4 * numbers.length);
        this.m.HEAPF32.set(numbers, at / 4);
        return at;
    }

    destroySubdivider(subdivider) {
        const state = subdivider[INTERNAL];
        if (state.at === 0 || this.isClosed)
            return;
        this.m._web_subdivider_destroy(this.tml, state.at);
        state.at = 0;
        this.subdividers.delete(subdivider);
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
        const { matrix, width, height, nearest, measureOutside } = o.camera ?? {};
        if (o.criterion === 'pixels' && matrix?.length !== 16)
            throw invalid('adaptive: camera.matrix has no 16 numbers, which pixels need: world to clip space, row by row');
        return this.scope(() => this.subdivide('subdivide_adaptive', subdivider, {
            criterion, threshold: o.threshold, depth: o.maxDepth, budget: o.budget, slivers: o.slivers,
            normals: o.normals, origins: o.origins,
            camera: matrix && this.stackFloats(matrix), width, height, nearest, measure_outside: measureOutside,
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
});

extend(Trommel, class {
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
            t: this, origin: Array.from(mesh.origin ?? [0, 0, 0]), at: i.reply('subdivider'), vertexCount: i.reply('vertex_count'), edgeCount: i.reply('edge_count'),
            triangleCount: i.reply('triangle_count'), boundaryEdgeCount: i.reply('boundary_edge_count'),
            sharpEdgeCount: i.reply('sharp_edge_count'),
        });
        i.subdividers.add(subdivider);
        return subdivider;
    }
});
