// What visitors drop or open: zip archives become the files in them, a header and its samples become one file, and
// each file's bytes say what it is.

const HEAD = 65536, FILES_MOST = 2000, ZIP_MOST = 1024 ** 3;

// What the library's command reads and the page does not.
const FOREIGN = [["DICOM", /^[^]{128}DICM/], ["TIFF", /^(II[*+]\0|MM\0[*+])/], ["XML of VTK", /^\s*(<\?xml[^]*)?<VTKFile/]];

// Byte by byte: decoders make other signs of some.
const text = (bytes) => bytes.reduce((all, byte) => all + String.fromCharCode(byte), "");
const isGzip = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;

// The first bytes of a file, inflated where they are packed.
async function headOf(file) {
    const bytes = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
    if (!isGzip(bytes))
        return bytes;
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader(), parts = [];
    try {
        for (let size = 0; size < HEAD;) {
            const { done, value } = await reader.read();
            if (done)
                break;
            parts.push(value);
            size += value.length;
        }
    } catch {
        // Cut off here, or damaged: what has come says enough.
    }
    reader.cancel().catch(() => {});
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// What bytes of that name and whole size are: "volume", "points", "mesh", "picture", "zip", or null.
export function kindOf(head, name, size) {
    const begin = text(head.subarray(0, 4096)), at = (from, word) => begin.startsWith(word, from);
    const tests = [
        ["zip", at(0, "PK\x03\x04")],
        ["picture", /^(#\?(RADIANCE|RGBE)|P[Ff]\s|\x89PNG|\xff\xd8\xff|GIF8|BM|v\/1\x01|RIFF....WEBP|....ftyp(avif|avis|heic|mif1))/s.test(begin)],
        ["volume", at(0, "NRRD000") || /^\s*(ObjectType|NDims|Comment|ElementType)\s*=/.test(begin) || at(0, "\x93NUMPY") || at(208, "MAP ") ||
            ["n+1", "n+2", "ni1"].some((word) => at(344, word) || at(4, word)) || /_\d+x\d+x\d+_|\.raw$/i.test(name)],
        ["mesh", at(0, "glTF") || /^\s*(ST|C|N|4)*OFF\s/.test(begin) || /^\s*solid\b[^]*\bfacet\b/.test(begin) ||
            (head.length >= 84 && size === 84 + 50 * new DataView(head.buffer, head.byteOffset).getUint32(80, true)) ||
            (/^ply\s/.test(begin) && /element face [1-9]/.test(begin)) || (/^\s*\{/.test(begin) && /"asset"\s*:/.test(text(head))) || /^v\s+[-\d.]+\s+[-\d.]/m.test(begin)],
        ["volume", at(0, "# vtk DataFile") && /DATASET\s+(STRUCTURED_POINTS|RECTILINEAR_GRID)/i.test(begin)],
        ["points", /^ply\s/.test(begin) || at(0, "LASF") || at(0, "# vtk DataFile") || /^(#.*\n)*\s*(VERSION|FIELDS)\s/.test(begin) ||
            /\.(xyz|asc|pts)$/i.test(name) || /^(.*\n)?\s*[-+\d.][-+\d.eE]*([\s,;]+[-+\d.][-+\d.eE]*){2}/.test(begin)],
        ["mesh", /\.(obj|stl|off|gltf|glb)$/i.test(name)],
    ];
    return tests.find(([, is]) => is)?.[0] ?? null;
}

// ---- many files ------------------------------------------------------------------------------------

// The files in a zip archive (PKWARE: APPNOTE, 4.3), of what browsers inflate.
async function unzip(file) {
    const bytes = new Uint8Array(await file.arrayBuffer()), view = new DataView(bytes.buffer);
    const damaged = () => new Error(`${file.name} cannot be opened: it is no zip archive, or cut short`);
    let end = bytes.length - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50)
        end--;
    if (end < 0)
        throw damaged();
    const files = [];
    let at = view.getUint32(end + 16, true), whole = 0;
    for (let left = Math.min(view.getUint16(end + 10, true), FILES_MOST); left > 0; left--) {
        if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50)
            throw damaged();
        const [method, packed, size, nameLength] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true), view.getUint32(at + 24, true), view.getUint16(at + 28, true)];
        const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)), local = view.getUint32(at + 42, true);
        at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
        if (name.endsWith("/"))
            continue;
        if (local + 30 > bytes.length)
            throw damaged();
        const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true), data = bytes.subarray(from, from + packed);
        whole += size;
        if ((method !== 0 && method !== 8) || whole > ZIP_MOST)
            throw new Error(`${file.name} cannot be opened: ${whole > ZIP_MOST ? "it unpacks to more than 1 GiB" : `${name} in it is packed by method ${method}, which browsers do not inflate`}`);
        const plain = method === 0 ? data : await inflated(data, size).catch(() => {
            throw damaged();
        });
        files.push(new File([plain], name.split("/").pop()));
    }
    return files;
}

// No more than size.
async function inflated(data, size, how = "deflate-raw") {
    const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream(how)).getReader(), parts = [];
    for (let got = 0; ;) {
        const { done, value } = await reader.read();
        if (done)
            return new Blob(parts);
        parts.push(value);
        got += value.length;
        if (got > size)
            throw new Error("larger than it says");
    }
}

// ---- detached headers ------------------------------------------------------------------------------

// {names: of the file with the samples, attached(bytes): the header with them}, or null where it has its own.
function detached(head, name) {
    return pair(head, name) ?? detachedText(head);
}

// The header of a NIfTI pair; of one file, where four bytes tell of no extensions, with the samples behind.
function pair(head, name) {
    const at = [344, 4].find((place) => /^ni[12]\0/.test(text(head.subarray(place, place + 4)))), size = at === 344 ? 348 : 540;
    if (!at || head.length < size)
        return null;
    const header = new Uint8Array(size + 4), view = new DataView(header.buffer);
    header.set(head.subarray(0, size));
    const little = view.getInt32(0, true) === size;
    const skip = at === 344 ? view.getFloat32(108, little) : Number(view.getBigInt64(168, little));
    header[at + 1] = "+".charCodeAt(0);
    if (at === 344)
        view.setFloat32(108, size + 4, little);
    else
        view.setBigInt64(168, BigInt(size + 4), little);
    const stem = name.replace(/\.hdr(\.gz)?$/i, "");
    return { names: [`${stem}.img`, `${stem}.img.gz`], attached: (bytes) => new Blob([header, skip > 0 ? bytes.slice(skip) : bytes]) };
}

function detachedText(head) {
    const all = text(head), isNrrd = all.startsWith("NRRD000");
    const line = isNrrd ? /^data ?file: *(.+?)\r?\n/im.exec(all) : /^\s*ElementDataFile\s*=\s*(.+?)\s*$/im.exec(all);
    if (!line || line[1] === "LOCAL")
        return null;
    const skip = Number((isNrrd ? /^byte ?skip: *(-?\d+)/im : /^\s*HeaderSize\s*=\s*(-?\d+)/im).exec(all)?.[1] ?? 0);
    const header = isNrrd ? `${all.replace(line[0], "").replace(/^byte ?skip: *\d+\r?\n/im, "").trimEnd()}\n\n`
        : `${all.slice(0, line.index).replace(/^\s*HeaderSize\s*=\s*\d+\r?\n/im, "")}\nElementDataFile = LOCAL\n`;
    return { names: [line[1].split(/[\\/]/).pop()], attached: (bytes) => new Blob([header, skip > 0 ? bytes.slice(skip) : bytes]) };
}

// A header and the file that it names become one; a header whose samples are not there is refused.
async function joined(list) {
    const heads = await Promise.all(list.map(headOf)), out = [], taken = new Set();
    for (const [k, file] of list.entries()) {
        const apart = kindOf(heads[k], file.name, file.size) === "volume" ? detached(heads[k], file.name) : null;
        if (!apart) {
            out.push({ file, head: heads[k] });
            continue;
        }
        const samples = list.find(({ name }) => apart.names.includes(name));
        if (!samples)
            throw new Error(`${file.name} cannot be opened: its samples lie in ${apart.names[0]}; drop both together.`);
        taken.add(samples);
        const plain = !samples.name.endsWith(".img.gz") ? samples : await inflated(samples, ZIP_MOST, "gzip").catch(() => {
            throw new Error(`${samples.name} cannot be opened: it is damaged, or unpacks to more than 1 GiB`);
        });
        const name = file.name.replace(/\.mhd$/i, ".mha").replace(/\.nhdr$/i, ".nrrd").replace(/\.hdr(\.gz)?$/i, ".nii");
        out.push({ file: new File([apart.attached(plain)], name), head: heads[k] });
    }
    return out.filter(({ file }) => !taken.has(file));
}

// The one file to open of what was dropped: {file, kind, others: how many were left}.
export async function chosen(files) {
    let list = files;
    if (list.length === 1 && kindOf(await headOf(list[0]), list[0].name, list[0].size) === "zip")
        list = (await unzip(list[0])).filter(({ name }) => !name.startsWith("."));
    if (!list.length)
        throw new Error("There is no file in it.");
    const known = (await joined(list)).map(({ file, head }) => ({ file, head, kind: kindOf(head, file.name.replace(/\.gz$/i, ""), file.size) }));
    const { file, head, kind } = known.find((one) => one.kind && one.kind !== "zip" && !/^(readme|licen[cs]e)/i.test(one.file.name)) ?? known[0];
    const foreign = kind === null && FOREIGN.find(([, is]) => is.test(text(head.subarray(0, 4096))));
    if (foreign)
        throw new Error(`${file.name} cannot be opened: it is ${foreign[0]}, which the command trommel reads, but not the page. "trommel convert" makes NRRD of it.`);
    return { file, kind, others: known.length - 1 };
}
