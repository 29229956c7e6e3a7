// For workers: what a ray meets first of a mesh.

// Of a tree: {triangle, t, at} in its frame, or null.
export function hitOf(tree, { origin, direction }) {
    const { t: [t], triangles: [triangle] } = tree.cast(new Float32Array(origin), new Float32Array(direction));
    return t === Infinity ? null : { triangle, t, at: origin.map((x, k) => x + t * direction[k]) };
}

// The same of the mesh that was given last, whose tree is built when it is first asked for.
export class Picking {
    constructor(trommel) {
        this.trommel = trommel; // or a promise
        this.tree = null;
    }

    // mesh: {positions, indices}, without indices three positions a triangle; or none: as before.
    async hit({ mesh, ray }) {
        const t = await this.trommel;
        if (mesh) {
            this.tree?.destroy();
            this.tree = null;
            this.tree = t.tree(mesh, { skipBroken: true });
        }
        return hitOf(this.tree, ray);
    }
}
