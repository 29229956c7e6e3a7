// 4x4 matrices as 16 numbers, column after column, as WebGL takes them.

export function multiply(a, b) {
    const out = new Float32Array(16);
    for (let column = 0; column < 4; column++)
        for (let row = 0; row < 4; row++) {
            let sum = 0;
            for (let k = 0; k < 4; k++)
                sum += a[4 * k + row] * b[4 * column + k];
            out[4 * column + row] = sum;
        }
    return out;
}

// fov is the vertical angle; shift moves the picture's middle to the right, in half widths, rise up, in half heights.
export function perspective(fov, aspect, near, far, shift, rise) {
    const f = 1 / Math.tan(fov / 2);
    return new Float32Array([
        f / aspect, 0, 0, 0,
        0, f, 0, 0,
        -shift, -rise, (far + near) / (near - far), -1,
        0, 0, (2 * far * near) / (near - far), 0,
    ]);
}

export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
];
export function normalize(a) {
    const length = Math.hypot(a[0], a[1], a[2]);
    return length > 0 ? [a[0] / length, a[1] / length, a[2] / length] : [0, 0, 0];
}

export function lookAt(eye, target, up) {
    const z = normalize(subtract(eye, target));
    const x = normalize(cross(up, z));
    const y = cross(z, x);
    return new Float32Array([
        x[0], y[0], z[0], 0,
        x[1], y[1], z[1], 0,
        x[2], y[2], z[2], 0,
        -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
    ]);
}

// A matrix by four numbers.
export const transform = (m, [x, y, z, w]) =>
    [0, 1, 2, 3].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row] * w);

// Of a matrix whose last row is 0 0 0 1.
export function inverse(m) {
    const column = (k) => [m[4 * k], m[4 * k + 1], m[4 * k + 2]];
    const [a, b, c, to] = [0, 1, 2, 3].map(column);
    const rows = [cross(b, c), cross(c, a), cross(a, b)].map((row) => row.map((x) => x / dot(a, cross(b, c))));
    return new Float32Array([0, 1, 2].flatMap((k) => [...rows.map((row) => row[k]), 0]).concat(rows.map((row) => -dot(row, to)), 1));
}
