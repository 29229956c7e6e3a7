// Water in a tank, of 65,536 particles that the library's kernels place and move (flood_kernels.h): as GLSL on the device,
// compiled into the page's own module on the processor. Nothing here goes over the particles one by one.

const WIDE = 31, DEEP = 38;       // particles along the block that falls
const SPACING = 0.029;            // between them
const REACH = 2.75;               // of a particle in the field, in spacings
const BALL = 0.2992;              // the field's kernel, summed over a ball of radius 1: its integral
const STEP = 1 / 60;              // seconds
export const FLOOD_AT_REST = BALL * REACH ** 3; // the field of water at rest
export const FLOOD_COUNT = 65536;
// As Trommel.field takes it, but for points and grid.
export const FLOOD_FIELD = { radius: REACH * SPACING, kernel: "wendland", kind: "sum" };

const NAMES = ["flood_start", "flood_velocity", "flood_position"];

// The kernels of a Trommel on gl, or of papers.js's on the CPU engine.
async function kernelsFor(trommel) {
    if (trommel.engine === "cpu") {
        const { compiledKernel } = await import("./papers.js");
        return NAMES.map((name) => compiledKernel(trommel, name));
    }
    const answer = await fetch(new URL("flood_kernels.h", import.meta.url));
    if (!answer.ok)
        throw new Error(`flood_kernels.h: ${answer.status} ${answer.statusText}`);
    const text = await answer.text();
    const library = /TML_LIBRARY\(flood,([\s\S]*?)\n\)\n/.exec(text)[1];
    const sources = Object.fromEntries([...text.matchAll(/TML_KERNEL_WITH\(flood, (\w+), (\w+), (\([^)]*\)), (\{[\s\S]*?\n\})\)/g)]
        .map(([, result, name, params, body]) => [name, `${result} ${name}${params} ${body}`]));
    return NAMES.map((name) => trommel.kernel(sources[name], undefined, library));
}

export class Flood {
    static async create(trommel) {
        return new Flood(trommel, await kernelsFor(trommel));
    }

    constructor(trommel, [start, velocity, position]) {
        this.trommel = trommel;
        this.kernels = { start, velocity, position };
        this.positions = trommel.buffer({ type: "f32x3", count: FLOOD_COUNT, label: "particles" });
        this.velocities = trommel.buffer({ type: "f32x3", count: FLOOD_COUNT, label: "velocities", data: new Float32Array(3 * FLOOD_COUNT) });
        this.time = 0;
        this.owed = 0;
        trommel.map({ kernel: start, params: this.#params(0), length: FLOOD_COUNT, out: this.positions });
    }

    #params(side) {
        return { f: [STEP, this.time, SPACING, 1 / FLOOD_AT_REST], u: [side, WIDE, DEEP] };
    }

    // The field's volume of that side becomes that of the particles as they are.
    evaluate(volume, grid) {
        this.trommel.field({ ...FLOOD_FIELD, points: this.positions, grid }, volume);
    }

    // By one step. volume: as evaluate() has left it, on a cube of samples.
    move(volume, side) {
        const { trommel, positions, velocities, kernels } = this, params = this.#params(side);
        trommel.map({ kernel: kernels.velocity, params, in: [positions, velocities, volume], out: velocities });
        trommel.map({ kernel: kernels.position, params, in: [positions, velocities], out: positions });
        this.time += STEP;
    }

    // By some seconds, where volume is up to date, and that too: two steps at most, as on a slow machine water flows
    // slowly instead of halting the page.
    advance(seconds, volume, grid) {
        this.owed = Math.min(this.owed + seconds, 2 * STEP);
        for (; this.owed >= STEP; this.owed -= STEP) {
            this.move(volume, grid.dims[0]);
            this.evaluate(volume, grid);
        }
    }

    // Where another instance has come to.
    async state() {
        return { positions: await this.positions.readAsync(), velocities: await this.velocities.readAsync(), time: this.time };
    }
    take({ positions, velocities, time }) {
        this.positions.write(positions);
        this.velocities.write(velocities);
        this.time = time;
    }
}
