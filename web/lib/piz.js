// PIZ, OpenEXR's compression for noisy pictures: values by a table of those that occur, differences over twice as wide a
// neighbourhood each time (a Haar wavelet, whole numbers), and a canonical Huffman code with runs.

const SYMBOLS = 65537, FAST = 12, LENGTH_MOST = 52; // bits: longer codes take more symbols than a block has

// Up to 25 bits from bit at, the first the highest; zeros after the end.
const bitsAt = (bytes, at, n) => {
    const i = at >> 3;
    return ((bytes[i] << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3]) << (at & 7)) >>> (32 - n);
};

// The lengths of symbols' codes from first to last, six bits each, where 59 and more are runs of none. Returns where they end.
function readLengths(bytes, lengths, first, last) {
    let at = 0;
    for (let symbol = first; symbol <= last; symbol++) {
        if (at > 8 * bytes.length)
            throw new RangeError();
        const length = bitsAt(bytes, at, 6);
        at += 6;
        if (length < 59) {
            lengths[symbol] = length;
            continue;
        }
        symbol += length < 63 ? length - 58 : bitsAt(bytes, at, 8) + 5;
        at += length < 63 ? 0 : 8;
    }
    return Math.ceil(at / 8);
}

// Fills out with what the packed bytes say.
function unpackCodes(packed, out) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
    const first = view.getUint32(0, true), run = view.getUint32(4, true), bits = view.getUint32(12, true); // the last symbol repeats
    if (first > run || run >= SYMBOLS)
        throw new RangeError();
    const lengths = new Uint8Array(SYMBOLS), bytes = packed.subarray(20), from = readLengths(bytes, lengths, first, run);
    // By length: how many codes there are, the first one, and where its symbols begin. Longer codes are smaller.
    const counts = new Array(LENGTH_MOST + 2).fill(0), starts = [], places = [];
    for (let symbol = first; symbol <= run; symbol++)
        if (lengths[symbol] > LENGTH_MOST)
            throw new RangeError();
        else
            counts[lengths[symbol]]++;
    for (let length = LENGTH_MOST, code = 0, place = 0; length > 0; length--) {
        starts[length] = code;
        places[length] = place;
        place += counts[length];
        code = Math.floor((code + counts[length]) / 2);
    }
    const symbols = new Uint32Array(SYMBOLS), next = places.slice(), fast = new Uint32Array(1 << FAST);
    for (let symbol = first; symbol <= run; symbol++) {
        const length = lengths[symbol];
        if (length === 0)
            continue;
        const rank = next[length]++ - places[length];
        symbols[places[length] + rank] = symbol;
        if (length <= FAST)
            fast.fill(symbol << 4 | length, (starts[length] + rank) << (FAST - length), (starts[length] + rank + 1) << (FAST - length));
    }
    const codes = bytes.subarray(from), end = Math.min(bits, 8 * codes.length);
    for (let at = 0, size = 0; size < out.length;) {
        if (at >= end)
            throw new RangeError();
        let symbol = fast[bitsAt(codes, at, FAST)];
        if (symbol) {
            at += symbol & 15;
            symbol >>>= 4;
        } else {
            let code = bitsAt(codes, at, FAST), length = FAST;
            at += FAST;
            do {
                if (++length > LENGTH_MOST)
                    throw new RangeError();
                code = 2 * code + bitsAt(codes, at++, 1);
            } while (code < starts[length] || code - starts[length] >= counts[length]);
            symbol = symbols[places[length] + code - starts[length]];
        }
        if (symbol === run) {
            const count = bitsAt(codes, at, 8);
            at += 8;
            if (size === 0 || size + count > out.length)
                throw new RangeError();
            out.fill(out[size - 1], size, size + count);
            size += count;
        } else
            out[size++] = symbol;
    }
}

// Back from a mean and a difference to the two: of 14 bits with signs, or of 16 bits that wrap.
function join14(data, a, b) {
    const difference = data[b] << 16 >> 16, sum = (data[a] << 16 >> 16) + (difference & 1) + (difference >> 1);
    data[a] = sum;
    data[b] = sum - difference;
}
function join16(data, a, b) {
    const second = data[a] - (data[b] >> 1) & 0xffff;
    data[a] = data[b] + second - 0x8000;
    data[b] = second;
}

// The wavelet's inverse in place, of width x height values from first, step apart, whose lines are stride apart.
function unwave(data, first, width, height, step, stride, most) {
    const join = most < 1 << 14 ? join14 : join16;
    let p = 1;
    while (4 * p <= Math.min(width, height))
        p *= 2;
    for (; p >= 1 && 2 * p <= Math.min(width, height); p /= 2) {
        const columns = Math.floor(width / p), rows = Math.floor(height / p), right = p * step, below = p * stride;
        for (let y = 0; y + 1 < rows; y += 2)
            for (let x = 0, at = first + y * below; x < columns; x++, at += right)
                join(data, at, at + below);
        for (let y = 0; y < rows; y++)
            for (let x = 0, at = first + y * below; x + 1 < columns; x += 2, at += 2 * right)
                join(data, at, at + right);
    }
}

// The bytes of a block of width x height pixels as they are without compression; sizes: bytes of each channel's values.
export function unpackPiz(packed, sizes, width, height) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
    const low = view.getUint16(0, true), high = view.getUint16(2, true), used = low <= high ? high - low + 1 : 0, values = [0];
    for (let i = 0; i < used; i++)
        for (let bit = 0, byte = view.getUint8(4 + i); bit < 8; bit++)
            if (byte >> bit & 1 && low + i + bit > 0)
                values.push(8 * (low + i) + bit);
    const words = new Uint16Array(width * height * sizes.reduce((sum, size) => sum + size / 2, 0)), at = 4 + used, size = view.getUint32(at, true);
    if (size > packed.length - at - 4)
        throw new RangeError();
    if (size > 0)
        unpackCodes(packed.subarray(at + 4, at + 4 + size), words);
    let first = 0;
    for (const bytes of sizes) {
        for (let part = 0; part < bytes / 2; part++)
            unwave(words, first + part, width, height, bytes / 2, bytes / 2 * width, values.length - 1);
        first += bytes / 2 * width * height;
    }
    // A channel after another; wanted is a line after another, of its channels.
    const out = new Uint8Array(2 * words.length), lines = new DataView(out.buffer);
    let to = 0;
    for (let y = 0; y < height; y++) {
        let from = 0;
        for (const bytes of sizes) {
            const n = bytes / 2 * width;
            for (let i = from + y * n; i < from + (y + 1) * n; i++, to += 2)
                lines.setUint16(to, values[words[i]] ?? 0, true);
            from += n * height;
        }
    }
    return out;
}
