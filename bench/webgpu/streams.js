// A prototype that is not part of the product: docs/webgpu.md measures it. Compaction in one pass
// by look-back with fallback, and the sign bits of a volume, in WGSL; for browsers and for npm's
// webgpu.
//
// A tile of the look-back does not depend on another tile's progress. If the preceding tile has not
// published its sum after some polls, the workgroup counts that tile itself, and publishes the sum
// in its place. So nothing is assumed about the order in which the device runs workgroups, which
// WebGPU does not guarantee. (Smith, Levien, Owens: Decoupled Fallback, 2025.)

const GROUP = 64, EACH = 64, TILE = EACH * GROUP, SIGNS_GROUP = 64; // few barriers: software adapters pay for each

const compactText = `
override LOOKS: u32 = 32;  // before a tile is counted for another
override STALL: u32 = 0;   // tiles 1, 1 + STALL, ... publish their sums late, as a device may
// Flags above counts of 30 bits, so that a later state is a larger number.
const SUM = 0x40000000u;
const PREFIX = 0x80000000u;
const COUNT = 0x3fffffffu;
const EACH = ${EACH}u;
@group(0) @binding(0) var<storage, read> input: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
struct States { ticket: atomic<u32>, helped: atomic<u32>, kept: u32, tiles: array<atomic<u32>> }
@group(0) @binding(2) var<storage, read_write> states: States;
@group(0) @binding(3) var<uniform> params: vec4u; // elements, those below are kept
var<workgroup> sums: array<u32, ${GROUP}>;
var<workgroup> told: u32;

// The kept ones of the thread's 64 consecutive elements.
fn kept(at: u32) -> bool { return at < params.x && input[at / 4u][at % 4u] < params.y; }
fn count_of(tile: u32, local: u32) -> u32 {
    var count = 0u;
    for (var at = tile * ${TILE}u + local * EACH; at < tile * ${TILE}u + (local + 1u) * EACH; at++) { count += u32(kept(at)); }
    return count;
}
// The sums up to and with each thread's.
fn scan(local: u32, value: u32) -> u32 {
    var sum = value;
    for (var step = 1u; step < ${GROUP}u; step *= 2u) {
        sums[local] = sum;
        workgroupBarrier();
        if (local >= step) { sum += sums[local - step]; }
        workgroupBarrier();
    }
    sums[local] = sum;
    return sum;
}
@compute @workgroup_size(${GROUP})
fn main(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) { told = atomicAdd(&states.ticket, 1u); }
    let tile = workgroupUniformLoad(&told);
    if (tile * ${TILE}u >= params.x) { return; }
    let count = count_of(tile, local);
    let before = scan(local, count) - count;
    let total = workgroupUniformLoad(&sums[${GROUP - 1}]);
    if (local == 0u && tile > 0u && (STALL == 0u || tile % max(STALL, 1u) != 1u)) {
        atomicMax(&states.tiles[tile], SUM | total);
    }
    var prefix = 0u;
    for (var at = tile; at > 0u; at--) {
        if (local == 0u) {
            var state = 0u;
            for (var look = 0u; look < LOOKS && state == 0u; look++) { state = atomicLoad(&states.tiles[at - 1u]); }
            told = state;
        }
        var state = workgroupUniformLoad(&told);
        if (state == 0u) {
            _ = scan(local, count_of(at - 1u, local));
            state = SUM | workgroupUniformLoad(&sums[${GROUP - 1}]);
            if (local == 0u) {
                atomicMax(&states.tiles[at - 1u], state); // later states are larger
                atomicAdd(&states.helped, 1u);
            }
        }
        prefix += state & COUNT;
        if ((state & PREFIX) != 0u) { break; }
    }
    if (local == 0u) {
        atomicMax(&states.tiles[tile], PREFIX | (prefix + total));
        if (tile == (params.x - 1u) / ${TILE}u) { states.kept = prefix + total; }
    }
    var to = prefix + before;
    for (var at = tile * ${TILE}u + local * EACH; at < tile * ${TILE}u + (local + 1u) * EACH; at++) {
        if (kept(at)) {
            output[to] = input[at / 4u][at % 4u];
            to++;
        }
    }
}`;

// A word of 32 samples in a row: is each inside?
const signsText = `
@group(0) @binding(0) var<storage, read> volume: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<uniform> params: vec4f; // isovalue
@compute @workgroup_size(${SIGNS_GROUP})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let at = id.x + id.y * groups.x * ${SIGNS_GROUP}u;
    if (at >= arrayLength(&words)) { return; }
    var word = 0u;
    for (var j = 0u; j < 8u; j++) {
        word |= dot(vec4u(volume[8u * at + j] >= vec4f(params.x)), vec4u(1u, 2u, 4u, 8u)) << (4u * j);
    }
    words[at] = word;
}`;

export class WebGpuStreams {
    static async create(gpu) {
        const adapter = await gpu.requestAdapter();
        if (!adapter)
            throw new Error("WebGPU has no adapter here");
        const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
        const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
        device.onuncapturederror = ({ error }) => {
            throw new Error(error.message);
        };
        return new WebGpuStreams(device, `${adapter.info.vendor} ${adapter.info.architecture || adapter.info.description}`);
    }

    constructor(device, name) {
        Object.assign(this, { device, name });
    }

    buffer(size, usage, data) {
        const buffer = this.device.createBuffer({ size: Math.max(Math.ceil(size / 16) * 16, 16), usage: usage | 8 | 4 }); // COPY_DST, COPY_SRC
        if (data)
            this.device.queue.writeBuffer(buffer, 0, data);
        return buffer;
    }

    program(code, buffers, constants = {}) {
        const pipeline = this.device.createComputePipeline({
            layout: "auto", compute: { module: this.device.createShaderModule({ code }), entryPoint: "main", constants },
        });
        const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
        return { pipeline, group: this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }) };
    }

    run({ pipeline, group }, groups, cleared) {
        const encoder = this.device.createCommandEncoder();
        if (cleared)
            encoder.clearBuffer(cleared);
        const pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        const wide = Math.min(groups, 65535);
        pass.dispatchWorkgroups(wide, Math.ceil(groups / wide));
        pass.end();
        this.device.queue.submit([encoder.finish()]);
        return this.device.queue.onSubmittedWorkDone();
    }

    async read(buffer, size) {
        const whole = Math.max(Math.ceil(size / 4) * 4, 4), to = this.device.createBuffer({ size: whole, usage: 9 }); // MAP_READ, COPY_DST
        const encoder = this.device.createCommandEncoder();
        encoder.copyBufferToBuffer(buffer, 0, to, 0, whole);
        this.device.queue.submit([encoder.finish()]);
        await to.mapAsync(1);
        const data = to.getMappedRange().slice(0, size);
        to.destroy();
        return data;
    }

    // Keeps data's numbers below limit. run() resolves when it is done, result() to {kept, helped}.
    compact(data, limit, constants) {
        const count = data.length, tiles = Math.ceil(count / TILE), states = this.buffer(12 + 4 * tiles, 128), out = this.buffer(data.byteLength, 128);
        const program = this.program(compactText, [
            this.buffer(data.byteLength, 128, data), out, states, this.buffer(16, 64, Uint32Array.of(count, limit, 0, 0)),
        ], constants);
        return {
            run: () => this.run(program, tiles, states),
            result: async () => {
                const [, helped, kept] = new Uint32Array(await this.read(states, 12));
                return { helped, kept: new Uint32Array(await this.read(out, 4 * kept)) };
            },
        };
    }

    // For a volume whose number of samples is a multiple of 32.
    signs(volume, iso) {
        const words = volume.length / 32, out = this.buffer(4 * words, 128);
        const program = this.program(signsText, [this.buffer(volume.byteLength, 128, volume), out, this.buffer(16, 64, Float32Array.of(iso, 0, 0, 0))]);
        return { run: () => this.run(program, Math.ceil(words / SIGNS_GROUP)), result: async () => new Uint32Array(await this.read(out, 4 * words)) };
    }
}
