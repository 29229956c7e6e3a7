// A slice of a volume as a picture: grey from the least to the greatest sample, and what lies inside of the surface in its
// colour; of labels each in its own (mesh_look.js has the same).

// Where label's hue lies, as mesh_look.js's label_color has it, 0 to 255.
const labelColor = (label) => [0, 0.33, 0.67].map((phase) => 255 * (0.56 + 0.36 * Math.cos(2 * Math.PI * (0.618034 * label + phase))));

// Across that axis at sample at; iso, in samples' values, and inside: [r, g, b], 0 to 255; labels: samples name parts.
// Returns {width, height, data (RGBA)}, the axes that are left from left to right and from below.
export function sliceOf({ data, type, dims, range: [low, high] }, axis, at, { iso, inside, labels = false }) {
    const [u, v] = [0, 1, 2].filter((k) => k !== axis), strides = [1, dims[0], dims[0] * dims[1]];
    const [width, height] = [dims[u], dims[v]], out = new Uint8ClampedArray(4 * width * height);
    const scale = 255 / (high - low || 1), value = type === "f16" ? (i) => floatOfHalf(data[i]) : (i) => Number(data[i]);
    for (let y = 0, to = 0; y < height; y++)
        for (let x = 0; x < width; x++, to += 4) {
            const sample = value(at * strides[axis] + x * strides[u] + (height - 1 - y) * strides[v]), grey = (sample - low) * scale;
            const color = labels ? (sample === 0 ? [0, 0, 0] : labelColor(sample)) : sample >= iso ? inside.map((part) => 0.35 * grey + 0.65 * part) : [grey, grey, grey];
            out.set(color, to);
            out[to + 3] = labels && sample === 0 ? 0 : 255;
        }
    return { width, height, data: out };
}

export function floatOfHalf(h) {
    const sign = h & 0x8000 ? -1 : 1, e = (h >> 10) & 31, f = h & 1023;
    return sign * (e === 0 ? f * 2 ** -24 : e === 31 ? (f ? NaN : Infinity) : (1 + f / 1024) * 2 ** (e - 15));
}
