// A surface that a worker makes on the processor (mesh_worker.js): what there is to see until the device has
// compiled its shaders, where it has none of WebGL 2, and where it is the slower of the two.

export class HostSurface {
    // onMesh() is called when a mesh has come, onError(message) when one cannot be made.
    constructor(onMesh, onError) {
        this.mesh = null; // the latest: {positions, normals, vertexCount, triangleCount}, of three corners a triangle
        this.isBusy = false;
        this.volume = null;
        this.isCurrent = true; // what is under way is still wanted
        this.seconds = null;   // that the latest took
        this.waiting = [];     // for answers
        this.worker = new Worker(new URL("mesh_worker.js", import.meta.url), { type: "module" });
        this.worker.onmessage = ({ data }) => {
            if (data.answer !== undefined || data.isAnswer) {
                const { resolve, reject } = this.waiting.shift();
                if (data.isAnswer)
                    reject(new Error(data.error));
                else
                    resolve(data.answer);
                return;
            }
            this.isBusy = false;
            if (data.error !== undefined)
                onError(data.error);
            else if (this.isCurrent) {
                this.mesh = data;
                this.seconds = data.seconds;
            }
            onMesh();
        };
        this.worker.onerror = (event) => {
            event.preventDefault();
            onError(event.message || "the worker that makes meshes did not start");
        };
    }

    // One at a time: ask while it is not busy. source: {volume}, {field} or {flood}; surface: {iso, normals}.
    ask({ volume, field, flood }, surface) {
        this.isBusy = true;
        this.isCurrent = true;
        const isNew = volume && volume !== this.volume;
        this.volume = volume ?? null;
        this.worker.postMessage({ field, flood, surface, ...(isNew ? { volume } : {}) });
    }

    #answer(ask, what) {
        return new Promise((resolve, reject) => {
            this.waiting.push({ resolve, reject });
            this.worker.postMessage({ ask, ...what });
        });
    }

    // Where its flood has come to: Flood.state()'s, or null.
    floodState() {
        return this.#answer("flood");
    }

    // What a ray meets first of a mesh, which goes to the worker unless it has it: as Picking.hit answers (tree_pick.js).
    pick(mesh, ray) {
        return this.#answer("pick", { mesh, ray });
    }

    // Another source: the mesh that there is, and that which is under way, are not of it.
    forget() {
        this.mesh = null;
        this.isCurrent = false;
        this.seconds = null;
    }
}
