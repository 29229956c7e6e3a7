// A picture on the device: measured once, and exposed, tone-mapped and drawn as often as asked for,
// with nothing read back. Where there is no WebGL 2, the same on the processor.

// What lies where in a state (trommel/image.h).
export const STATE = { scale: 0, average: 1, target: 2, ev100: 3, low: 4, high: 5 };

const VERTEX = `#version 300 es
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
}`;
// Words are pixels, coded as sRGB; four are blended, as they are.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
uniform highp usampler2D words;
uniform ivec2 size;
uniform vec4 box; // lower left corner and size in pixels of the canvas
out vec4 color;
vec3 pixel(ivec2 at) {
    at = clamp(at, ivec2(0), size - 1);
    int i = at.y * size.x + at.x, row = textureSize(words, 0).x;
    uint w = texelFetch(words, ivec2(i % row, i / row), 0).x;
    return vec3(uvec3(w, w >> 8, w >> 16) & 255u) / 255.0;
}
void main() {
    vec2 place = (gl_FragCoord.xy - box.xy) / box.zw;
    if (place != clamp(place, 0.0, 1.0)) {
        color = vec4(0.0, 0.0, 0.0, 1.0);
        return;
    }
    vec2 at = vec2(place.x, 1.0 - place.y) * vec2(size) - 0.5;
    ivec2 first = ivec2(floor(at));
    vec2 part = at - vec2(first);
    vec3 above = mix(pixel(first), pixel(first + ivec2(1, 0)), part.x);
    vec3 below = mix(pixel(first + ivec2(0, 1)), pixel(first + ivec2(1, 1)), part.x);
    color = vec4(mix(above, below, part.y), 1.0);
}`;

function makeProgram(gl) {
    const program = gl.createProgram();
    for (const [kind, source] of [
        [gl.VERTEX_SHADER, VERTEX],
        [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
        gl.deleteShader(shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
        throw new Error(`the picture's shaders: ${gl.getProgramInfoLog(program)}`);
    return program;
}

// Where a picture of that size goes in a canvas: in the middle, as large as it fits.
function boxIn(width, height, out) {
    const scale = Math.min(width / out.width, height / out.height);
    const w = out.width * scale,
        h = out.height * scale;
    return [(width - w) / 2, (height - h) / 2, w, h];
}

// Draws pictures from the textures in which the device left them.
class TextureScreen {
    constructor(gl) {
        this.gl = gl;
        this.program = makeProgram(gl);
    }

    draw(out) {
        const { gl, program } = this;
        const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, 0, width, height);
        for (const what of [gl.BLEND, gl.DEPTH_TEST, gl.SCISSOR_TEST, gl.CULL_FACE]) gl.disable(what);
        gl.useProgram(program);
        gl.bindVertexArray(null);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, out.buffer.texture.texture);
        gl.bindSampler(0, null);
        gl.uniform1i(gl.getUniformLocation(program, "words"), 0);
        gl.uniform2i(gl.getUniformLocation(program, "size"), out.width, out.height);
        gl.uniform4f(gl.getUniformLocation(program, "box"), ...boxIn(width, height, out));
        gl.drawArrays(gl.TRIANGLES, 0, 3);
        gl.bindTexture(gl.TEXTURE_2D, null);
        gl.useProgram(null);
    }

    destroy() {
        this.gl.deleteProgram(this.program);
    }
}

// Draws pictures of the CPU engine's, into a canvas of no WebGL.
class PixelScreen {
    constructor(canvas) {
        this.canvas = canvas;
        this.made = document.createElement("canvas"); // at the picture's own size
    }

    draw(out) {
        const { canvas, made } = this;
        made.width = out.width;
        made.height = out.height;
        const pixels = new Uint8ClampedArray(out.buffer.read().buffer);
        made.getContext("2d").putImageData(new ImageData(pixels, out.width, out.height), 0, 0);
        const scale = Math.min(devicePixelRatio, 2);
        canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale));
        canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale));
        const context = canvas.getContext("2d");
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(made, ...boxIn(canvas.width, canvas.height, out));
    }

    destroy() {}
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

export class ExposurePicture {
    // picture: what Trommel.loadPicture gives. Where the library computes on the device, it is drawn with gl,
    // otherwise into the canvas that canvasOf() gives. Between its steps the page has its turn.
    static async create(...what) {
        await turn();
        const made = new ExposurePicture(...what);
        try {
            await turn();
            await made.measure("average");
        } catch (error) {
            made.destroy();
            throw error;
        }
        return made;
    }

    constructor(trommel, { gl, canvasOf }, picture) {
        const { width, height, channels, type, data, srgb } = picture;
        this.trommel = trommel;
        this.buffers = [];
        const make = (options) => {
            const buffer = trommel.buffer(options);
            this.buffers.push(buffer);
            return buffer;
        };
        const pixels = make({ type, count: width * height * channels, data });
        this.in = { buffer: pixels, width, height, channels, srgb };
        const shown = make({ type: "u8x4", count: width * height });
        this.out = { buffer: shown, width, height, channels: 4, srgb: true };
        const sizes = trommel.imageSizes();
        this.statsBuffer = make({ type: "u32", count: sizes.stats });
        this.state = make({ type: "f32", count: sizes.state });
        this.screen = trommel.engine === "gl" ? new TextureScreen(gl) : new PixelScreen(canvasOf());
        this.masks = new Map(); // of meters
    }

    // Takes the picture's figures anew, its pixels weighted as that meter does; stats follow once the device has them.
    async measure(meter) {
        const { trommel, in: image } = this;
        this.meter = meter;
        trommel.imageMeasure({ image, stats: this.statsBuffer, ...(meter === "average" ? {} : this.maskOf(meter)) });
        await this.statsBuffer.readAsync();
        if (meter === this.meter) this.stats = trommel.imageStats(this.statsBuffer);
    }

    maskOf(meter) {
        if (!this.masks.has(meter)) {
            const { width, height } = this.in, most = meter === "matrix" ? 5 : 128;
            const sizes = { maskWidth: Math.min(width, most), maskHeight: Math.min(height, most) };
            const data = this.trommel.meterWeights(meter, { width, height, ...sizes });
            const mask = this.trommel.buffer({ type: "u8", count: data.length, data });
            this.buffers.push(mask);
            this.masks.set(meter, { mask, ...sizes });
        }
        return this.masks.get(meter);
    }

    // log2 luminance below which a percentage of the pixels lies.
    percentile(percent) {
        return this.trommel.imagePercentile(percent);
    }

    expose(options) {
        this.trommel.imageExpose({ stats: this.statsBuffer, state: this.state, ...options });
    }

    // Exposes by the state, and draws into the canvas.
    draw(tone) {
        this.trommel.imageTonemap({ in: this.in, out: this.out, state: this.state, tone });
        this.screen.draw(this.out);
    }

    destroy() {
        this.buffers.forEach((buffer) => buffer.destroy());
        this.screen.destroy();
    }
}

// ---- a picture to begin with ---------------------------------------------------------------------

// A low sun over hills and a lit window, in units of which the ground has about 0.05 and the sun 20,000. What has an
// edge covers a share of the pixels there. Between rows the page has its turn.
export async function demoPicture() {
    const width = 768,
        height = 512,
        aspect = width / height,
        data = new Float32Array(3 * width * height);
    // distance: from an edge, in heights of the picture, positive within.
    const cover = (distance) => Math.min(1, Math.max(0, distance * height + 0.5));
    const within = (x, low, high) => cover(Math.min(x - low, high - x));
    const color = [0, 0, 0];
    const over = (share, r, g, b) => {
        if (share <= 0) return;
        color[0] += share * (r - color[0]);
        color[1] += share * (g - color[1]);
        color[2] += share * (b - color[2]);
    };
    let begin = performance.now();
    for (let y = 0, i = 0; y < height; y++) {
        if (performance.now() - begin > 10) {
            await turn();
            begin = performance.now();
        }
        for (let x = 0; x < width; x++, i += 3) {
            const u = x / width,
                v = y / height;
            const d = Math.hypot((u - 0.7) * aspect, v - 0.42);
            const glow = 3 * Math.exp(-d * 7) + 40 * Math.exp(-d * 40);
            over(1, 0.6 + 1.8 * v + 1.5 * glow, 0.9 + 0.9 * v + glow, 1.7 - 0.6 * v + 0.55 * glow);
            over(cover(0.022 - d), 20000, 17000, 12000);
            over(cover(v - (0.62 + 0.05 * Math.sin(9 * u) + 0.02 * Math.sin(31 * u + 1))), 0.2, 0.17, 0.22);
            const blade = 0.03 + 0.03 * Math.sin(500 * u + 90 * v) ** 2;
            over(cover(v - (0.76 + 0.06 * Math.sin(5 * u + 2) + 0.012 * Math.sin(47 * u))), blade, 1.4 * blade, 0.6 * blade);
            // The wall towards the sun is lit.
            const lit = 0.7 + 4 * Math.max(0, u - 0.12);
            const wall = Math.min(within(u * aspect, 0.12 * aspect, 0.3 * aspect), within(v, 0.54, 0.86));
            const roof = Math.min(within(v, 0.45, 0.545), cover((0.02 + (v - 0.45) - Math.abs(u - 0.21)) * aspect));
            over(wall, 0.05 * lit, 0.04 * lit, 0.035 * lit);
            over(roof, 0.035, 0.025, 0.025);
            for (const pane of [0.145, 0.1643, 0.235, 0.2543])
                over(Math.min(within(u * aspect, pane * aspect, (pane + 0.0163) * aspect), within(v, 0.63, 0.74)), 9, 5.5, 2);
            data.set(color, i);
        }
    }
    return {
        width,
        height,
        channels: 3,
        type: "f32",
        data,
        srgb: false,
        format: "made in this page",
        comment: "",
    };
}
