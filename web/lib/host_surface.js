// A surface that a worker makes on the processor (mesh_worker.js): what there is to see until the device has
// compiled its shaders, and where it has none of WebGL 2.

export class HostSurface {
    // onMesh() is called when a mesh has come, onError(message) when one cannot be made.
    constructor(onMesh, onError) {
        this.mesh = null; // the latest: {positions, normals, vertexCount, triangleCount}, of three corners a triangle
        this.isBusy = false;
        this.volume = null;
        this.isCurrent = true; // what is under way is still wanted
        this.worker = new Worker(new URL("mesh_worker.js", import.meta.url), { type: "module" });
        this.worker.onmessage = ({ data }) => {
            this.isBusy = false;
            if (data.error !== undefined)
                onError(data.error);
            else if (this.isCurrent)
                this.mesh = data;
            onMesh();
        };
        this.worker.onerror = (event) => {
            event.preventDefault();
            onError(event.message || "the worker that makes meshes did not start");
        };
    }

    // One at a time: ask while it is not busy. source: {volume} or {field}; surface: {iso, normals}.
    ask({ volume, field }, surface) {
        this.isBusy = true;
        this.isCurrent = true;
        const isNew = volume && volume !== this.volume;
        this.volume = volume ?? null;
        this.worker.postMessage({ field, surface, ...(isNew ? { volume } : {}) });
    }

    // Another source: the mesh that there is, and that which is under way, are not of it.
    forget() {
        this.mesh = null;
        this.isCurrent = false;
    }
}
