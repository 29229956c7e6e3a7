// The corners of a welded mesh, one after the other: positions or normals, 3 numbers a vertex.
export function cornersOf(values, indices) {
    const out = new Float32Array(3 * indices.length);
    for (let i = 0; i < indices.length; i++) {
        out[3 * i] = values[3 * indices[i]];
        out[3 * i + 1] = values[3 * indices[i] + 1];
        out[3 * i + 2] = values[3 * indices[i] + 2];
    }
    return out;
}

// The box around positions: {low, high}.
export function extent(positions) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let v = 0; v < positions.length; v += 3)
        for (let k = 0; k < 3; k++) {
            low[k] = Math.min(low[k], positions[v + k]);
            high[k] = Math.max(high[k], positions[v + k]);
        }
    return { low, high };
}
