import { Trommel } from "trommel";

const t = await Trommel.create(globalThis.document?.createElement("canvas"));
// A sun ten thousand times as bright as the ground; t.loadPicture() reads .hdr and .pfm.
const width = 256, height = 128, data = new Float32Array(3 * width * height);
for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 3)
        data.fill(Math.hypot(x - 190, y - 40) < 9 ? 2000 : y > 80 ? 0.2 : 3, i, i + 3);
const pixels = t.expose({ data, width, height, channels: 3 }, { tone: "agx", clip: [5, 95] });
const grey = (x, y) => pixels[4 * (y * width + x)]; // RGBA for putImageData()
console.log(`sun ${grey(190, 40)}, sky ${grey(20, 20)}, ground ${grey(20, 120)} of 255`);
t.close();
