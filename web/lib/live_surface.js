// A surface that follows a field or a volume from frame to frame, and stays on the device.
//
// Its buffers have room for as many vertices and triangles as are expected. How many there were comes
// back later, by a copy that nobody waits for, and moves the expectation: a surface that outgrows its
// room is cut short for the few frames until it has more.
import { countCells } from "./cell_colors.js";

const HEADROOM = 1.4;     // more room than the last surface took
const WASTE = 4;          // rooms larger than that many times what is needed are given back
const LEAST = 6144;       // vertices
const ASK_SECONDS = 0.25; // between two counts, while all is well

const rounded = (count) => Math.ceil(count / 1024) * 1024;

export class LiveSurface {
    // onCounts() is called when the count of a surface has come back.
    constructor(trommel, onCounts) {
        this.trommel = trommel;
        this.onCounts = onCounts;
        this.counts = trommel.buffer({ type: "u32", count: 2, data: new Uint32Array(2), label: "counts" });
        this.outputs = null;
        this.volume = null;
        this.index = null;
        this.isClosed = false;
        this.isSoup = this.hasCells = false;
        this.isEmpty = true; // the volume is of nothing yet
        this.forget();
    }

    // What is known of sizes, which another source makes worthless.
    forget() {
        this.generation = (this.generation ?? 0) + 1; // of counts under way
        this.vertexCount = null; // of the last surface that was counted
        this.triangleCount = null;
        this.isShort = false; // that one did not fit
        this.asked = -Infinity;
        this.isAsking = false;
    }

    release(...names) {
        for (const name of names) {
            this[name]?.destroy();
            this[name] = null;
        }
    }

    // A volume that fields are written into: grid {dims, origin, spacing}.
    setGrid(grid) {
        this.release("index", "volume");
        this.wantsIndex = false;
        this.grid = grid;
        this.isEmpty = true;
        this.volume = this.trommel.buffer({ type: "f32", count: grid.dims[0] * grid.dims[1] * grid.dims[2], label: "field" });
        this.forget();
        // A closed surface across the box has about 2 vertices for each sample of a side.
        this.expect(3 * grid.dims[0] * grid.dims[1]);
    }

    // A volume that stays as it is, and gets an index at its first surface, so that another isovalue costs
    // little.
    setVolume(data, type, grid) {
        this.release("index", "volume");
        this.grid = grid;
        this.volume = this.trommel.buffer({ type, count: data.length, data, label: "volume" });
        this.wantsIndex = true;
        this.forget();
        const [x, y, z] = grid.dims;
        this.expect(4 * Math.max(x * y, y * z, z * x));
    }

    // vertices: of the welded mesh, of a soup too.
    expect(vertices) {
        const room = rounded(Math.max(vertices, LEAST));
        this.releaseOutputs();
        // A closed surface has two triangles for each vertex.
        const triangles = rounded(2.05 * room);
        const { trommel } = this;
        this.expected = vertices;
        this.room = this.isSoup ? 3 * triangles : room;
        this.triangleRoom = triangles;
        this.outputs = {
            vertices: trommel.buffer({ type: "f32x3", count: this.room, label: "vertices" }),
            vertexNormals: trommel.buffer({ type: "f32x3", count: this.room, label: "normals" }),
        };
        if (!this.isSoup)
            this.outputs.indices = trommel.buffer({ type: "u32x3", count: triangles, label: "indices" });
        if (this.hasCells)
            this.outputs.triangleCells = trommel.buffer({ type: "u32", count: triangles, label: "cells" });
    }

    // Other outputs, in which what is under way does not count.
    setForm(isSoup, hasCells) {
        if (isSoup === this.isSoup && hasCells === this.hasCells)
            return;
        this.isSoup = isSoup;
        this.hasCells = hasCells;
        this.generation++;
        this.isAsking = false;
        this.expect(this.expected);
    }

    releaseOutputs() {
        for (const buffer of Object.values(this.outputs ?? {}))
            buffer.destroy();
        this.outputs = null;
    }

    // Compiles what a surface needs, and blocks nothing. evaluate: what fills the volume, or null where it stays as it
    // is; surface as extract() takes it. step: Trommel.prepare's.
    async prepare(evaluate, surface, step) {
        await this.trommel.prepare(() => {
            if (this.isClosed)
                return;
            evaluate?.();
            this.extract(surface);
        }, step);
        this.release("index"); // one that was only prepared says nothing
    }

    // points of the page's.
    evaluate({ points, radii, radius, kernel }) {
        const { dims, origin, spacing } = this.grid;
        const options = { points, radius, kernel, kind: "sum", grid: { dims, origin, spacing } };
        this.trommel.field(radii ? { ...options, radii } : options, this.volume);
    }

    // normals: none, forward, central or sobel. cells: also each triangle's.
    // caps and region as Trommel.surfaceEnqueue takes them.
    extract({ iso, normals, soup = false, cells = false, ...place }) {
        this.setForm(soup, cells);
        const { vertexNormals, ...outputs } = this.outputs;
        this.cellCounts = null;
        this.made = {}; // stands for this surface
        if (this.wantsIndex)
            this.index ??= this.trommel.surfaceIndex({ ...this.grid, data: this.volume });
        this.hasNormals = normals !== "none";
        this.trommel.surfaceEnqueue({
            ...this.grid,
            volume: this.volume,
            iso,
            normals,
            soup,
            ...place,
            ...outputs,
            counts: this.counts,
            ...(this.hasNormals ? { vertexNormals } : {}),
            ...(this.index ? { index: this.index } : {}),
        });
    }

    // Asks for the count of the latest surface, unless one is on its way or has just come. sure: the
    // source stands still, so this count is the last.
    askCounts(seconds, sure) {
        if (this.isAsking || (!sure && !this.isShort && seconds - this.asked < ASK_SECONDS))
            return;
        this.asked = seconds;
        this.isAsking = true;
        const { generation } = this;
        this.counts.readAsync().then((counts) => {
            if (generation !== this.generation || this.isClosed)
                return;
            this.isAsking = false;
            [this.vertexCount, this.triangleCount] = counts;
            const needed = Math.max(this.isSoup ? 0 : this.vertexCount, this.triangleCount / 2.05);
            this.isShort = this.vertexCount > this.room || this.triangleCount > this.triangleRoom;
            const room = this.triangleRoom / 2.05;
            this.wantsRoom = this.isShort || needed * 1.1 > room || needed * HEADROOM * WASTE < room - LEAST
                ? needed * HEADROOM : null;
            this.onCounts();
            return sure ? this.countCells() : undefined;
        }).catch(() => {
            // The context was lost, or the instance closed meanwhile.
            if (generation === this.generation)
                this.isAsking = false;
        });
    }

    // What cells the latest surface was made of, once it was counted; null: not known yet.
    async countCells() {
        const { generation, triangleCount, outputs } = this;
        this.cellCounts = null;
        if (!outputs.triangleCells || this.isShort)
            return;
        const cells = await outputs.triangleCells.readAsync(0, triangleCount);
        if (generation !== this.generation || this.isClosed || outputs !== this.outputs)
            return;
        this.cellCounts = countCells(cells);
        this.onCounts();
    }

    // True where the room has changed, and the surface has to be extracted anew.
    adaptRoom() {
        if (!this.wantsRoom)
            return false;
        this.expect(this.wantsRoom);
        this.wantsRoom = null;
        return true;
    }

    // Triangles of the latest surface, at most.
    get expectedTriangles() {
        return Math.min(this.triangleRoom, this.triangleCount === null ? Infinity : rounded(this.triangleCount * HEADROOM));
    }

    // The latest surface, in arrays: {positions, indices (none of a soup)}.
    async read() {
        const { outputs, room, expectedTriangles, isSoup } = this, corners = 3 * expectedTriangles;
        const [[vertexCount, triangleCount], positions, indices] = await Promise.all([
            this.counts.readAsync(), outputs.vertices.readAsync(0, isSoup ? Math.min(room, corners) : room),
            outputs.indices?.readAsync(0, expectedTriangles)]);
        const triangles = Math.min(triangleCount, expectedTriangles);
        return { positions: positions.subarray(0, isSoup ? 9 * triangles : 3 * vertexCount), indices: indices?.subarray(0, 3 * triangles) };
    }

    // For MeshRenderer.drawMesh.
    mesh(model) {
        const { vertices, vertexNormals, indices, triangleCells } = this.outputs;
        return {
            vertices: vertices.texture,
            normals: this.hasNormals ? vertexNormals.texture : null,
            indices: indices?.texture ?? null,
            cells: triangleCells?.texture ?? null,
            counts: this.counts.texture,
            room: this.room,
            expected: this.expectedTriangles,
            model,
        };
    }

    // Not needed after a lost context, with which everything went.
    close() {
        this.isClosed = true;
        this.generation++;
        this.releaseOutputs();
        this.release("index", "volume", "counts");
    }
}
