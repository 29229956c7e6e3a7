/* Meshes that meet, and trees of boxes that answer questions about one. */
import { TrommelError, INTERNAL, Inside, Trommel, choice, extend, invalid, refuseOthers } from '../core.js';
import './lent.js';

const COLLIDE_CLASSES = ['none', 'crossing', 'touching', 'coplanar', 'degenerate'];
const COLLIDE_WANTS = ['all', 'count', 'first'];
const COLLIDE_METHODS = ['auto', 'depth-first', 'breadth-first'];
const TREE_RULES = ['even-odd', 'winding', 'solid-angle'];
const CASTS = ['nearest', 'any', 'count', 'all'];
const NEAREST_MAX = 256;
const ZERO = [0, 0, 0];
/* Numbers x y z x y z ..., moved: doubles unless they stay where they are. */
const moved = (numbers, by) => (numbers && by.some(Boolean) ? Float64Array.from(numbers, (x, k) => x + by[k % 3]) : numbers);

/* A mesh with its tree of boxes. */
class TrommelTree {
    constructor(state) {
        this[INTERNAL] = state; /* t, at, and what the properties say */
    }
    get triangleCount() { return this[INTERNAL].triangleCount; }
    get brokenCount() { return this[INTERNAL].brokenCount; }
    get depth() { return this[INTERNAL].depth; }
    get origin() { return this[INTERNAL].origin; }
    get lower() { return this[INTERNAL].lower.map((x, k) => x + this.origin[k]); }
    get upper() { return this[INTERNAL].upper.map((x, k) => x + this.origin[k]); }
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
    update(positions, options = {}) { this[INTERNAL].t[INTERNAL].updateTree(this, positions, options); }
    save() { return this[INTERNAL].t[INTERNAL].saveTree(this); }
    destroy() { this[INTERNAL].t[INTERNAL].destroyTree(this); }
}

extend(Inside, class {
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

    /* Points where they are, or what loadPoints or loadMesh returns, as the tree has its mesh: from its origin. */
    near(tree, points) {
        const { positions, origin = ZERO } = points?.positions ? points : { positions: points };
        const by = origin.map((x, k) => x - tree[INTERNAL].origin[k]);
        return ArrayBuffer.isView(positions) && (by.some(Boolean) || positions instanceof Float64Array)
            ? Float32Array.from(positions, (x, k) => x + by[k % 3]) : positions;
    }

    wrapTree(origin = ZERO) {
        const tree = new TrommelTree({ t: this.trommel, origin: Array.from(origin), ...this.treeState() });
        this.trees.add(tree);
        return tree;
    }

    updateTree(tree, positions, { rebuild = false, ...others }) {
        refuseOthers('update', others, 'rebuild');
        this.callWith('update', 'tree_update', { tree: this.treeAt('update', 'the tree', tree), method: rebuild ? 1 : 0 },
            { vertices: [positions?.positions ? this.near(tree, positions) : positions, 'f32x3', 'positions'] });
        Object.assign(tree[INTERNAL], this.treeState());
    }

    nearest(tree, points, { k = 1, ...others }) {
        refuseOthers('nearest', others, 'k');
        if (!(Number.isInteger(k) && k >= 1 && k <= NEAREST_MAX))
            throw invalid(`nearest: k is ${k}, needs 1 to ${NEAREST_MAX}`);
        const near = this.near(tree, points);
        const found = this.callWith('nearest', 'tree_nearest', { tree: this.treeAt('nearest', 'the tree', tree), k },
            { points: [near, 'f32x3'] }, { distances: 'f32', positions: 'f32x3', triangles: 'u32', features: 'u8' },
            k * near?.length / 3);
        return { ...found, positions: moved(found.positions, tree.origin) };
    }

    sides(call, tree, points, { rule, ...others }, outputs) {
        refuseOthers(call, others, outputs.sides ? 'rule border' : 'rule');
        const near = this.near(tree, points);
        return this.callWith(call, 'tree_nearest', {
            tree: this.treeAt(call, 'the tree', tree), rule: choice(call, 'rule', TREE_RULES, rule), is_signed: !outputs.sides,
        }, { points: [near, 'f32x3'] }, outputs, near?.length / 3);
    }

    cast(tree, origins, directions, { want, tMax = Infinity, ...others }) {
        refuseOthers('cast', others, 'want tMax');
        if (!(tMax > 0))
            throw invalid(`cast: tMax is ${tMax}, needs more than 0`);
        const kind = choice('cast', 'want', CASTS, want), near = this.near(tree, origins), n = near?.length / 3;
        const ask = (what, outputs, count) => this.callWith('cast', 'tree_cast', {
            tree: this.treeAt('cast', 'the tree', tree), what, t_max: tMax === Infinity ? 0 : tMax,
        }, { origins: [near, 'f32x3'], directions: [directions, 'f32x3'] }, outputs, count);
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

    /* Calls use with the address of the poses, or 0, and their number. Trees of meshes with origins meet where these
     * are: the poses take b's origin along, and go from a's. */
    withPoses(call, a, b, poses, use) {
        if (poses && (!(poses instanceof Float32Array || poses instanceof Float64Array) || poses.length % 12))
            throw invalid(`${call}: poses is no Float32Array or Float64Array of 12 numbers a pose`);
        const to = a?.origin ?? ZERO, from = b?.origin ?? to;
        if (poses ? [...to, ...from].some(Boolean) : to.some((x, k) => x !== from[k])) {
            const all = poses ?? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
            poses = Float32Array.from(all, (x, k) => (k % 4 < 3 ? x
                : all[k - 3] * from[0] + all[k - 2] * from[1] + all[k - 1] * from[2] + x - to[(k % 12 - 3) / 4]));
        }
        if (poses instanceof Float64Array)
            poses = Float32Array.from(poses);
        return this.withBytes(call, poses ?? new Uint8Array(0), at => use(poses ? at : 0, (poses?.length ?? 0) / 12));
    }

    destroyTree(tree) {
        const state = tree[INTERNAL];
        if (state.at === 0 || this.isClosed)
            return;
        this.m._web_tree_destroy(this.tml, state.at);
        state.at = 0;
        this.trees.delete(tree);
    }
});

extend(Trommel, class {
    tree(mesh, { skipBroken } = {}) {
        const i = this[INTERNAL];
        i.callWith('tree', 'tree_create', { skip_broken: skipBroken },
            { vertices: [mesh.positions, 'f32x3', 'positions'], indices: mesh.indices && [mesh.indices, 'u32x3'] });
        return i.wrapTree(mesh.origin ?? undefined);
    }

    loadTree(bytes, { origin, ...others } = {}) {
        refuseOthers('loadTree', others, 'origin');
        const i = this[INTERNAL];
        i.check();
        return i.withBytes('loadTree', bytes, data => {
            i.call('tree_load', { data, size: bytes.byteLength });
            return i.wrapTree(origin);
        });
    }

    distance(a, b, { poses } = {}) {
        const i = this[INTERNAL];
        i.check();
        const count = Math.max((poses?.length ?? 0) / 12, 1), size = 40 * count; /* tml_collide_distance_result */
        const [tree, other_tree] = [i.treeAt('distance', 'a', a), i.treeAt('distance', 'b', b)];
        return i.withPoses('distance', a, b, poses, (at, pose_count) =>
            i.withBytes('distance', new Uint8Array(size), data => {
                i.call('collide_distance', { tree, other_tree, poses: at, pose_count, data });
                const view = new DataView(i.copyOut(data, 'u8', size).buffer);
                const point = first => [0, 1, 2].map(k => view.getFloat32(first + 4 * k, true) + a.origin[k]);
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
        const [tree, other_tree] = [i.treeAt('collide', 'a', a), i.treeAt('collide', 'b', b)];
        i.withPoses('collide', a, b, o.poses, (poses, pose_count) => i.call('collide', {
            tree, other_tree, poses,
            pose_count, what: choice('collide', 'want', COLLIDE_WANTS, o.want), classes,
            segments: o.segments, method: choice('collide', 'method', COLLIDE_METHODS, o.method),
            memory_limit: o.memoryLimit,
        }));
        try {
            const count = i.reply('count'), pairs = i.reply('pairs'), segments = i.reply('segments');
            const counts = i.replies('class_count', COLLIDE_CLASSES.length);
            return {
                count, pairs: pairs ? i.copyOut(pairs, 'u32', 4 * count) : new Uint32Array(0),
                segments: segments ? moved(i.copyOut(segments, 'f32', 6 * count), a.origin) : null,
                first: Array.from(i.copyOut(i.reply('first'), 'u64', Math.max(poseCount, 1) + 1), Number),
                classCounts: Object.fromEntries(COLLIDE_CLASSES.map((name, k) => [name, counts[k]]).slice(1)),
                stepPairs: Array.from(i.copyOut(i.reply('step_pairs'), 'u64', i.reply('step_count')), Number),
                nodePairs: i.reply('node_pairs'), tested: i.reply('tested'), unsure: i.reply('unsure'),
            };
        } finally {
            i.m._web_collide_free(i.tml);
        }
    }
});
