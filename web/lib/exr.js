// OpenEXR pictures of scan lines, or the finest level of tiles (openexr.com/en/latest/OpenEXRFileLayout.html): half, float and
// uint channels, uncompressed, RLE, ZIPS, ZIP, PIZ or PXR24, which cover what cameras' and renderers' tools write by default.
// Several parts, B44 and DWA are refused by name.

import { unpackPiz } from "./piz.js";
import { floatOfHalf } from "./slice.js";

const COMPRESSIONS = ["none", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB"];
const LINES = { 0: 1, 1: 1, 2: 1, 3: 16, 4: 32, 5: 16 }; // of a block
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

// What PXR24 has packed: each line's differences from pixel to pixel, a plane of their highest bytes first, and of floats
// without the lowest.
function unpackPlanes(packed, channels, { columns, rows }) {
    const lines = channels.map(({ type }) => ({ size: SIZES[type], planes: type === 2 ? 3 : SIZES[type] }));
    const out = new Uint8Array(columns * rows * lines.reduce((sum, { size }) => sum + size, 0)), view = new DataView(out.buffer);
    let from = 0, to = 0;
    for (let y = 0; y < rows; y++)
        for (const { size, planes } of lines) {
            for (let x = 0, value = 0; x < columns; x++, to += size) {
                for (let k = 0; k < planes; k++)
                    value += packed[from + k * columns + x] << 8 * (size - 1 - k);
                size === 2 ? view.setUint16(to, value, true) : view.setUint32(to, value, true);
            }
            from += planes * columns;
        }
    if (from > packed.length)
        throw new RangeError();
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
    if (flags & 0x1800)
        throw new Error("it has deep pixels or several parts; the page reads pictures of one");
    const { attributes, end } = readHeader(view, 8);
    const tiled = (flags & 0x200) !== 0;
    for (const name of ["channels", "compression", "dataWindow", ...(tiled ? ["tiles"] : [])])
        if (!attributes[name])
            throw new Error(`its header has no ${name}`);
    const compression = view.getUint8(attributes.compression.at);
    if (!(compression in LINES))
        throw new Error(`it is compressed by ${COMPRESSIONS[compression] ?? compression}; the page reads none, RLE, ZIPS, ZIP, PIZ and PXR24: save it so, with Krita or Blender`);
    const [left, top, right, bottom] = [0, 4, 8, 12].map((k) => view.getInt32(attributes.dataWindow.at + k, true));
    const width = right - left + 1, height = bottom - top + 1;
    if (!(width > 0 && height > 0 && width * height <= MOST_PIXELS))
        throw new Error(`it says that it has ${width} x ${height} pixels`);
    const channels = channelsOf(view, attributes.channels);
    const wanted = ["R", "G", "B"].every((name) => channels.some((one) => one.name === name)) ? ["R", "G", "B"]
        : channels.some((one) => one.name === "Y") ? ["Y"] : channels.length === 1 ? [channels[0].name] : null;
    if (!wanted)
        throw new Error(`it has the channels ${channels.map(({ name }) => name).join(", ")}; the page takes R, G and B, or Y, or one alone`);
    const sizes = channels.map(({ type }) => SIZES[type]), pixelBytes = sizes.reduce((sum, size) => sum + size, 0);
    const [blockWidth, lines] = tiled ? [0, 4].map((k) => view.getUint32(attributes.tiles.at + k, true)) : [width, LINES[compression]];
    const columns = Math.ceil(width / blockWidth), blocks = columns * Math.ceil(height / lines), head = tiled ? 20 : 8;
    // No memory for more than what there is can unpack to.
    if (!(end + (8 + head) * blocks <= bytes.length && height * width * pixelBytes <= MOST_RATIO * bytes.length))
        throw new RangeError();
    const data = new Float32Array(width * height * wanted.length);
    for (let block = 0; block < blocks; block++) { // the finest level's come first
        const at = Number(view.getBigUint64(end + 8 * block, true)), size = view.getUint32(at + head - 4, true);
        const [x, y] = tiled ? [view.getUint32(at, true) * blockWidth, view.getUint32(at + 4, true) * lines] : [0, view.getInt32(at, true) - top];
        const area = { x, y, columns: Math.min(blockWidth, width - x), rows: Math.min(lines, height - y) };
        const whole = area.columns * area.rows * pixelBytes;
        if (y < 0 || area.columns < 1 || area.rows < 1 || at + head + size > bytes.length || (tiled && view.getBigUint64(at + 8, true) !== 0n))
            throw new RangeError();
        const packed = bytes.subarray(at + head, at + head + size);
        const plain = compression === 0 || size >= whole ? packed
            : compression === 4 ? unpackPiz(packed, sizes, area.columns, area.rows)
            : compression === 5 ? unpackPlanes(await inflate(packed, whole), channels, area)
            : restore(compression === 1 ? unpackRuns(packed, whole) : await inflate(packed, whole));
        if (plain.length < whole)
            throw new RangeError();
        takeLines(plain, { channels, wanted, width, area }, data);
    }
    return { width, height, channels: wanted.length, type: "f32", data, srgb: false, format: `OpenEXR, ${COMPRESSIONS[compression]}`, comment: "" };
}

// Each line has a channel's pixels after another's.
function takeLines(plain, { channels, wanted, width, area: { x, y, columns, rows } }, data) {
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length), each = wanted.length;
    let at = 0;
    for (let line = y; line < y + rows; line++)
        for (const { name, type } of channels) {
            const k = wanted.indexOf(name), to = each * (line * width + x) + k;
            for (let i = 0; k >= 0 && i < columns; i++)
                data[to + each * i] = type === 1 ? floatOfHalf(view.getUint16(at + 2 * i, true))
                    : type === 2 ? view.getFloat32(at + 4 * i, true) : view.getUint32(at + 4 * i, true);
            at += SIZES[type] * columns;
        }
}
