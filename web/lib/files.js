// Files, read and written by a worker (file_worker.js) that starts when it is first needed.

import { Remote } from "./remote.js";

const worker = new Remote(new URL("file_worker.js", import.meta.url));

// What is in a volume or point file; see file_worker.js.
export async function load(bytes, name) {
    return worker.ask("load", { bytes, name }, [bytes]);
}

// A mesh file of a surface: volume or field, and how it is extracted, as Trommel.surface takes them.
export async function save(what) {
    return worker.ask("save", what);
}

export function download(bytes, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
