// OpenEXR pictures of scan lines (openexr.com/en/latest/OpenEXRFileLayout.html): half, float and uint channels, uncompressed,
// RLE, ZIPS or ZIP, which cover what cameras' and renderers' tools write by default. Tiles, several parts, PIZ and what loses
// something are refused by name.

import { floatOfHalf } from "./slice.js";

const COMPRESSIONS = ["none", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB"];
const LINES = { 0: 1, 1: 1, 2: 1, 3: 16 }; // of a block
const SIZES = [4, 2, 4]; // of a uint, a half, a float
const MOST_PIXELS = 2 ** 27, MOST_RATIO = 1100; // zlib's is 1032

export const isExr = (bytes) => bytes[0] === 0x76 && bytes[1] === 0x2f && bytes[2] === 0x31 && bytes[3] === 0x01;

// {name: {type, at, size}} of a header, and where it ends. view: of the file.
function readHeader(view, from) {
    let at = from;
    const text = () => {
        let word = "";
        for (let c; (c = view.getUint8(at++)) !== 0;)
            word += String.fromCharCode(c);
        return word;
    };
    const attributes = {};
    for (let name; (name = text());) {
        const type = text(), size = view.getUint32(at, true);
        attributes[name] = { type, at: at + 4, size };
        at += 4 + size;
    }
    return { attributes, end: at };
}

function channelsOf(view, { at, size }) {
    const channels = [];
    for (let i = at; i < at + size - 1;) {
        let name = "";
        for (let c; (c = view.getUint8(i++)) !== 0;)
            name += String.fromCharCode(c);
        const type = view.getUint32(i, true);
        if (type > 2 || view.getUint32(i + 8, true) !== 1 || view.getUint32(i + 12, true) !== 1)
            throw new Error(`its channel ${name} is of an unknown type or has fewer pixels than the picture`);
        channels.push({ name, type });
        i += 16;
    }
    return channels;
}

// Of most bytes at most: nothing is trusted to be as small as it says.
async function inflate(bytes, most) {
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader(), out = new Uint8Array(most);
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            break;
        if (size + value.length > most)
            throw new Error("a block is larger than its lines");
        out.set(value, size);
        size += value.length;
    }
    return out.subarray(0, size);
}

function unpackRuns(bytes, most) {
    const out = new Uint8Array(most);
    let size = 0;
    for (let i = 0; i < bytes.length && size < most;) {
        const n = (bytes[i++] << 24) >> 24, length = n < 0 ? -n : n + 1;
        if (n < 0) {
            out.set(bytes.subarray(i, i + length).subarray(0, most - size), size);
            i += length;
        } else
            out.fill(bytes[i++], size, size + length);
        size += length;
    }
    return out.subarray(0, Math.min(size, most));
}

// What RLE and ZIP have packed: differences, its even bytes before its odd ones.
function restore(packed) {
    for (let i = 1; i < packed.length; i++)
        packed[i] += packed[i - 1] - 128;
    const out = new Uint8Array(packed.length), half = (packed.length + 1) >> 1;
    for (let i = 0; i < packed.length; i++)
        out[i] = packed[(i >> 1) + (i & 1 ? half : 0)];
    return out;
}

// As Trommel.loadPicture gives a picture: {width, height, channels, type, data, srgb, format, comment}.
export async function loadExr(bytes) {
    try {
        return await read(bytes);
    } catch (error) {
        throw error instanceof RangeError || error instanceof TypeError ? new Error("it is cut short or damaged") : error;
    }
}

async function read(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length), flags = view.getUint32(4, true);
    if (flags & 0x1a00)
        throw new Error("it has tiles, deep pixels or several parts; the page reads pictures of scan lines");
    const { attributes, end } = readHeader(view, 8);
    for (const name of ["channels", "compression", "dataWindow"])
        if (!attributes[name])
            throw new Error(`its header has no ${name}`);
    const compression = view.getUint8(attributes.compression.at);
    if (!(compression in LINES))
        throw new Error(`it is compressed by ${COMPRESSIONS[compression] ?? compression}; the page reads none, RLE, ZIPS and ZIP: save it so, with Krita or Blender`);
    const [left, top, right, bottom] = [0, 4, 8, 12].map((k) => view.getInt32(attributes.dataWindow.at + k, true));
    const width = right - left + 1, height = bottom - top + 1;
    if (!(width > 0 && height > 0 && width * height <= MOST_PIXELS))
        throw new Error(`it says that it has ${width} x ${height} pixels`);
    const channels = channelsOf(view, attributes.channels);
    const wanted = ["R", "G", "B"].every((name) => channels.some((one) => one.name === name)) ? ["R", "G", "B"]
        : channels.some((one) => one.name === "Y") ? ["Y"] : null;
    if (!wanted)
        throw new Error(`it has the channels ${channels.map(({ name }) => name).join(", ")}; the page takes R, G and B, or Y`);
    const lineBytes = width * channels.reduce((sum, { type }) => sum + SIZES[type], 0), lines = LINES[compression];
    const blocks = Math.ceil(height / lines);
    // No memory for more than what there is can unpack to.
    if (end + 8 * blocks > bytes.length || height * lineBytes > MOST_RATIO * bytes.length)
        throw new RangeError();
    const data = new Float32Array(width * height * wanted.length);
    for (let block = 0; block < blocks; block++) {
        const at = Number(view.getBigUint64(end + 8 * block, true)), first = view.getInt32(at, true) - top, size = view.getUint32(at + 4, true);
        const count = Math.min(lines, height - first), whole = count * lineBytes;
        if (first < 0 || count < 1 || at + 8 + size > bytes.length)
            throw new RangeError();
        const packed = bytes.subarray(at + 8, at + 8 + size);
        const plain = compression === 0 || size >= whole ? packed
            : restore(compression === 1 ? unpackRuns(packed, whole) : await inflate(packed, whole));
        if (plain.length < whole)
            throw new RangeError();
        takeLines(plain, { channels, wanted, width, first, count }, data);
    }
    return { width, height, channels: wanted.length, type: "f32", data, srgb: false, format: `OpenEXR, ${COMPRESSIONS[compression]}`, comment: "" };
}

// Each line has a channel's pixels after another's.
function takeLines(plain, { channels, wanted, width, first, count }, data) {
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length), each = wanted.length;
    let at = 0;
    for (let line = first; line < first + count; line++)
        for (const { name, type } of channels) {
            const k = wanted.indexOf(name);
            for (let x = 0; k >= 0 && x < width; x++) {
                const value = type === 1 ? floatOfHalf(view.getUint16(at + 2 * x, true))
                    : type === 2 ? view.getFloat32(at + 4 * x, true) : view.getUint32(at + 4 * x, true);
                data[each * (line * width + x) + k] = value;
            }
            at += SIZES[type] * width;
        }
}
