// Draws meshes that lie in ordinary arrays, on WebGL 2 or WebGL 1: three corners for each triangle, none
// shared, so that every triangle can have its own normal, edges and mark.
import { MESH_FRAGMENT } from "./mesh_look.js";
import { Programs, clearPicture, isWebGL2 } from "./programs.js";

const VERTEX = `
ATTRIBUTE vec3 position;
ATTRIBUTE vec4 corner_and_mark;
ATTRIBUTE vec3 normal_at;
uniform mat4 view, model;
VARYING_OUT vec3 world, normal, corner;
VARYING_OUT float mark;
void main()
{
    world = (model * vec4(position, 1)).xyz;
#ifdef SMOOTH
    normal = mat3(model) * normal_at;
#else
    normal = vec3(0);
#endif
    corner = corner_and_mark.xyz;
    mark = corner_and_mark.w;
    gl_Position = view * vec4(world, 1);
}
`;
const ATTRIBUTES = ["position", "corner_and_mark", "normal_at"];

export class ArrayRenderer {
    constructor(gl) {
        this.gl = gl;
        this.programs = new Programs(gl);
        this.shown = new Map(); // what lies in buffers, by mesh
    }

    #program(isSmooth, isMarked, { onlyEdges, isLabelled, isGlass } = {}) {
        const defines = `${isSmooth ? "#define SMOOTH\n" : ""}${isLabelled ? "#define LABELS\n" : isMarked ? "#define MARKS\n" : ""}${onlyEdges ? "#define EDGES\n" : ""}${isGlass ? "#define GLASS\n" : ""}`;
        return ["corners", VERTEX, MESH_FRAGMENT, defines, ATTRIBUTES];
    }

    // Compiles what drawMesh will need, and does not wait.
    prepare(isSmooth, isMarked = false) {
        this.programs.start(...this.#program(isSmooth, isMarked));
    }

    clear(width, height) {
        clearPicture(this.gl, width, height);
    }

    // A place for a mesh: its arrays go to the device when they are other arrays than those there.
    #place(key) {
        if (!this.shown.has(key))
            this.shown.set(key, { buffers: ATTRIBUTES.map(() => this.gl.createBuffer()), arrays: [null, null, null] });
        return this.shown.get(key);
    }

    #fill(place, k, array) {
        if (place.arrays[k] === array)
            return;
        place.arrays[k] = array;
        this.gl.bindBuffer(this.gl.ARRAY_BUFFER, place.buffers[k]);
        this.gl.bufferData(this.gl.ARRAY_BUFFER, array, this.gl.DYNAMIC_DRAW);
    }

    // Which corner of its triangle each is, and the triangle's mark.
    #corners(place, triangles, marks) {
        if (place.marks === marks && place.triangles === triangles)
            return;
        place.marks = marks;
        place.triangles = triangles;
        const out = new Uint8Array(12 * triangles);
        for (let t = 0; t < triangles; t++)
            for (let k = 0; k < 3; k++) {
                out[12 * t + 5 * k] = 255;
                out[12 * t + 4 * k + 3] = marks ? marks[t] : 0;
            }
        this.#fill(place, 1, out);
    }

    #drawThrough(count) {
        const { gl } = this;
        gl.disable(gl.DEPTH_TEST);
        gl.enable(gl.BLEND);
        gl.blendColor(0, 0, 0, 0.3);
        gl.blendFunc(gl.CONSTANT_ALPHA, gl.ONE_MINUS_CONSTANT_ALPHA);
        gl.drawArrays(gl.TRIANGLES, 0, count);
        gl.disable(gl.BLEND);
        gl.enable(gl.DEPTH_TEST);
    }

    // mesh: {positions, normals (or null: flat), 9 numbers a triangle; marks: a byte a triangle, or none: how
    // much of look.marked its colour has}. look.onlyEdges: nothing but them, in clay, faint
    // where something is before them. look.isLabelled: marks are labels, each of a colour of its own. look.part: {triangleFirst,
    // triangleCount}, default all; look.isGlass: it is seen through. model: where it stands. key: what it is, to keep its buffers apart.
    drawMesh(key, mesh, model, view, look) {
        const { gl } = this;
        const place = this.#place(key);
        const triangles = mesh.positions.length / 9;
        if (!triangles)
            return;
        this.#fill(place, 0, mesh.positions);
        this.#corners(place, triangles, mesh.marks ?? null);
        if (mesh.normals)
            this.#fill(place, 2, mesh.normals);
        const { program, places } = this.programs.get(...this.#program(!!mesh.normals, !!mesh.marks, look));
        gl.useProgram(program);
        if (isWebGL2(gl))
            gl.bindVertexArray(null);
        place.buffers.forEach((buffer, k) => {
            if (k === 2 && !mesh.normals)
                return;
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.enableVertexAttribArray(k);
            gl.vertexAttribPointer(k, k === 1 ? 4 : 3, k === 1 ? gl.UNSIGNED_BYTE : gl.FLOAT, k === 1, 0, 0);
        });
        gl.uniformMatrix4fv(places.view, false, view.matrix);
        gl.uniformMatrix4fv(places.model, false, model);
        for (const name of ["eye", "right", "up"])
            gl.uniform3fv(places[name] ?? null, view[name]);
        for (const name of ["clay", "sky", "ground", "marked"])
            gl.uniform3fv(places[name] ?? null, look[name] ?? look.clay);
        gl.uniform1i(places.colors, look.colors === 1 ? 1 : 0);
        gl.uniform1f(places.wire, look.wire);
        if (look.onlyEdges)
            this.#drawThrough(3 * triangles);
        const { triangleFirst, triangleCount } = look.part ?? { triangleFirst: 0, triangleCount: triangles };
        if (look.isGlass) {
            gl.enable(gl.BLEND);
            gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
            gl.depthMask(false);
        }
        gl.drawArrays(gl.TRIANGLES, 3 * triangleFirst, 3 * triangleCount);
        gl.disable(gl.BLEND);
        gl.depthMask(true);
        for (let k = 0; k < 3; k++)
            gl.disableVertexAttribArray(k);
        gl.bindBuffer(gl.ARRAY_BUFFER, null);
    }
}
