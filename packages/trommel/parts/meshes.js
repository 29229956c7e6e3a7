/* What meshes are like, and their files. */
import { INTERNAL, Trommel, bytesOf, choice, extend } from '../core.js';
import './lent.js';

const MESH_FORMATS = ['ply', 'stl', 'glb', 'obj', 'vtp'];

extend(Trommel, class {
    examine(mesh, componentsOnly = false) {
        const i = this[INTERNAL], place = (x, k) => x + (mesh.origin?.[k] ?? 0);
        i.callWith('examine', 'mesh_examine', { components_only: componentsOnly }, {
            vertices: [mesh.positions ?? [], 'f32x3', 'positions'], indices: [mesh.indices ?? [], 'u32x3', 'indices'],
        });
        return {
            components: i.reply('components'), boundaryEdges: i.reply('boundary_edges'),
            nonmanifoldEdges: i.reply('nonmanifold_edges'), euler: i.reply('euler'), area: i.reply('area'),
            volume: i.reply('enclosed'), lower: i.replies('lower', 3).map(place), upper: i.replies('upper', 3).map(place),
        };
    }

    loadMesh(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        i.withBytes('loadMesh', file, (data, size) => i.scope(() => i.call('mesh_load', {
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
});
