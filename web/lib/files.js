// Files, read and written by a worker (file_worker.js) that starts when it is first needed.

import { Remote } from "./remote.js";

const worker = new Remote(new URL("file_worker.js", import.meta.url));

// What is in a volume or point file; see file_worker.js.
export async function load(bytes, name, kind = null) {
    return worker.ask("load", { bytes, name, kind }, [bytes]);
}

// And in a picture file.
export async function loadPicture(bytes, name) {
    return worker.ask("picture", { bytes, name }, [bytes]);
}

// A mesh file of a surface: volume or field, and how it is extracted, as Trommel.surface takes them.
export async function save(what) {
    return worker.ask("save", what);
}

// What to tell where a file cannot be opened. The library's messages begin with the function and the file.
export function notOpened(name, { message }) {
    const [, reason] = /^tml_\w+: (.*)$/s.exec(message) ?? [null, message];
    return new Error(`${name} cannot be opened: ${reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason}`);
}

export function download(bytes, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(bytes instanceof Blob ? bytes : new Blob([bytes], { type: "application/octet-stream" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
