import { Trommel } from "trommel";

const t = await Trommel.create(globalThis.document?.createElement("canvas"), { threads: 1 });
const weights = t.buffer(Float32Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000));
const kept = t.buffer({ type: "f32", count: 1000 }), count = t.buffer({ type: "u32", count: 1 });
// On the device the text is a shader; where the processor computes, the function does the same.
const text = "bool is_light(float w, tml_params p) { return w < p.f[0]; }";
const keep = { kernel: t.kernel(text, (w, p) => w < p.f[0]), params: { f: [100] } };
t.compact({ keep, payloads: [{ in: weights, out: kept }], count });
// count may stay on the device, as the length of what comes next.
console.log(`${count.readCount()} kept, in order: ${kept.read(0, 5).join(", ")}, ...`);
t.close();
