// Files, read and written by a worker (file_worker.js) that starts when it is first needed.

let worker = null;
let lastId = 0;
const waiting = new Map();

function start() {
    worker = new Worker(new URL("file_worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { id, result, error } }) => {
        const { resolve, reject } = waiting.get(id);
        waiting.delete(id);
        if (error === undefined)
            resolve(result);
        else
            reject(new Error(error));
    };
    worker.onerror = (event) => {
        event.preventDefault();
        for (const { reject } of waiting.values())
            reject(new Error(event.message || "the worker that reads files did not start"));
        waiting.clear();
        worker = null; // the next file starts another
    };
}

function ask(call, args, moved = []) {
    if (!worker)
        start();
    return new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        worker.postMessage({ id: lastId, call, args }, moved);
    });
}

// What is in a volume or point file; see file_worker.js.
export async function load(bytes, name) {
    return ask("load", { bytes, name }, [bytes]);
}

// A mesh file of a surface: volume or field, and how it is extracted, as Trommel.surface takes them.
export async function save(what) {
    return ask("save", what);
}

export function download(bytes, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
