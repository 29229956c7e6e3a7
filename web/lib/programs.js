// The page's own shaders, on WebGL 2 and WebGL 1. Text for both uses ATTRIBUTE, VARYING_OUT and VARYING_IN,
// `color` for what a fragment shader makes, and nothing that GLSL ES 1.00 lacks but derivatives.

const PROLOGUES = {
    2: `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
#define ATTRIBUTE in
#define VARYING_OUT out
#define VARYING_IN in
`,
    1: `#extension GL_OES_standard_derivatives : enable
precision highp float;
precision highp int;
#define ATTRIBUTE attribute
#define VARYING_OUT varying
#define VARYING_IN varying
#define color gl_FragColor
`,
};
const FRAGMENT_2 = "out vec4 color;\n";

export const isWebGL2 = (gl) => "bindSampler" in gl;

// Begins a picture of that size in the canvas, of nothing.
export function clearPicture(gl, width, height) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.colorMask(true, true, true, true);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
}

export class Programs {
    constructor(gl) {
        this.gl = gl;
        this.version = isWebGL2(gl) ? 2 : 1;
        if (this.version === 1)
            gl.getExtension("OES_standard_derivatives");
        this.known = new Map();
    }

    // Has the program of two shaders compiled, and does not wait for it. attributes: names, by location.
    start(name, vertex, fragment, defines = "", attributes = []) {
        const key = name + defines;
        if (this.known.has(key))
            return this.known.get(key);
        const { gl } = this;
        const program = gl.createProgram();
        const heads = [PROLOGUES[this.version], PROLOGUES[this.version] + (this.version === 2 ? FRAGMENT_2 : "")];
        [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].forEach(([stage, text], k) => {
            const shader = gl.createShader(stage);
            gl.shaderSource(shader, heads[k] + defines + text);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
            gl.deleteShader(shader);
        });
        attributes.forEach((attribute, location) => gl.bindAttribLocation(program, location, attribute));
        gl.linkProgram(program);
        const made = { name, program, places: null };
        this.known.set(key, made);
        return made;
    }

    // The same, ready to be used: {program, places: locations of uniforms by name}. Waits where it must.
    get(...what) {
        const made = this.start(...what);
        const { gl } = this;
        const { name, program } = made;
        if (made.places)
            return made;
        if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
            const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
            throw new Error(`The page's shader ${name} does not compile: ${logs.join(" ")}${gl.getProgramInfoLog(program)}`);
        }
        made.places = {};
        const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
        for (let i = 0; i < count; i++) {
            const uniform = gl.getActiveUniform(program, i).name;
            made.places[uniform] = gl.getUniformLocation(program, uniform);
        }
        return made;
    }
}
