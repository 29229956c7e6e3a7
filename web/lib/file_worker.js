// Reads dropped files and makes meshes to keep, beside the page, with the library's CPU engine: the page
// never waits for either.
import { Trommel } from "../trommel/index.js";
import { extent } from "./corners.js";
import { isExr, loadExr } from "./exr.js";
import { answerCalls } from "./remote.js";

// With threads where the page may have them and they start.
const trommel = Trommel.create(null, { engine: "cpu" })
    .catch(() => Trommel.create(null, { engine: "cpu", threads: 1 }));

const VOLUME_NAME = /\.(nrrd|nhdr|nii|mha|mhd|mrc|map|ccp4|raw|npy)$/i;
const SIZE_LIMIT = 1024 ** 3;

// Inflated by the browser as it arrives, so that a small file cannot ask for all the memory there is.
async function inflated(bytes) {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
        return bytes;
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read().catch(() => {
            throw new Error("its gzip data is damaged or cut short");
        });
        if (done)
            break;
        size += value.length;
        if (size > SIZE_LIMIT) {
            await reader.cancel();
            throw new Error("it inflates to more than 1 GiB, which is more than a page should take");
        }
        parts.push(value);
    }
    const whole = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

const calls = {
    // {kind: "volume", ...LoadedVolume, range} or {kind: "points", ...LoadedPoints, radius, low, high}
    async load({ bytes, name, kind }) {
        const t = await trommel;
        const content = await inflated(new Uint8Array(bytes));
        const plain = name.replace(/\.gz$/i, "");
        if (kind ? kind === "volume" : VOLUME_NAME.test(plain)) {
            const volume = t.loadVolume(content, plain);
            if (/64$/.test(volume.type) && volume.type !== "f64")
                throw new Error(`its samples are ${volume.type}, which the page does not draw`);
            // Textures hold no doubles.
            if (volume.type === "f64")
                Object.assign(volume, { data: Float32Array.from(volume.data), type: "f32" });
            // The page computes with the samples as they are stored, and shows physical values (valueSlope, valueIntercept).
            // A negative slope would turn its surfaces inside out: such samples become physical here.
            const { slope, intercept } = volume;
            if (slope < 0)
                Object.assign(volume, {
                    data: Float32Array.from(volume.data, (value) => slope * value + intercept), type: "f32",
                });
            Object.assign(volume, {
                slope: undefined, intercept: undefined, valueSlope: slope < 0 ? 1 : slope, valueIntercept: slope < 0 ? 0 : intercept,
            });
            const { iso, lower, upper } = t.suggestIso(volume);
            if (!(lower <= upper))
                throw new Error("none of its samples is a finite number");
            return { kind: "volume", name, ...volume, range: [lower, upper], suggested: iso };
        }
        const points = t.loadPoints(content, plain);
        // Far from 0 floats lose what is between the points: the page has them from their first one.
        const first = points.positions.slice(0, 3);
        if (first.some((x) => Math.abs(x) > 1024))
            Object.assign(points, {
                positions: points.positions.map((x, k) => x - first[k % 3]), origin: points.origin.map((x, k) => x + first[k]),
            });
        const resolved = t.resolveField({ points: points.positions });
        return { kind: "points", name, ...points, ...extent(points.positions), radius: resolved.radius };
    },
    // A picture that browsers do not decode, as Trommel.loadPicture gives it.
    async picture({ bytes, name }) {
        const content = new Uint8Array(bytes);
        return isExr(content) ? loadExr(content) : (await trommel).loadPicture(content, name);
    },
    // The mesh of what the page shows, moved by at, as a file: {bytes, vertexCount, triangleCount}.
    async save({ volume, field, at = [0, 0, 0], surface, format }) {
        const t = await trommel;
        const mesh = t.surface(volume ?? { field }, surface);
        const bytes = t.saveMesh({ ...mesh, origin: mesh.origin.map((x, k) => x + at[k]) }, format);
        return { bytes, vertexCount: mesh.vertexCount, triangleCount: mesh.triangleCount };
    },
};

answerCalls(calls);
