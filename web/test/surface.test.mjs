// The Surface panel, as a visitor uses it: what is on the screen, what moves it, files in and out.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { drop } from "./drop.mjs";
import { clearMessages, difference, isClay, picture, share } from "./pixels.mjs";
import { openWithoutWebGL2 } from "./without_webgl2.mjs";

const SECONDS = 1000;
const SMALL = { width: 840, height: 540 }; // software draws it

const triangles = async (page) => {
    const text = await page.textContent(".pipeline li:last-child b");
    return text === "–" ? 0 : Number(text.replaceAll(/\s/g, ""));
};

// The panel with a surface that was counted.
async function openPanel(open, hash = "#surface/grid=64", options = {}) {
    const page = await open(hash, { viewport: SMALL, colorScheme: "dark", ...options });
    await surfaceIsThere(page);
    return page;
}
async function surfaceIsThere(page) {
    await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b")?.textContent ?? ""),
                               null, { timeout: 60 * SECONDS });
}
async function pause(page) {
    await page.click(".play button");
    await page.waitForFunction(() => document.querySelector(".play button").textContent === "Play");
    await stillness(page);
}
// Two pictures alike, one after the other.
async function stillness(page) {
    let before = await picture(page, ".stage-canvas");
    for (let tries = 0; tries < 60; tries++) {
        await page.waitForTimeout(150);
        const after = await picture(page, ".stage-canvas");
        if (difference(before, after) === 0)
            return after;
        before = after;
    }
    throw new Error("the picture does not come to rest");
}
const isWater = (r, g, b) => b > 60 && b > 1.3 * r;
const choose = (page, name) => page.getByRole("radio", { name, exact: true }).check({ force: true });
const flip = (page, name) => page.getByRole("switch", { name }).click();

// A ball of samples that fall off from its middle, as NRRD.
function ballVolume(side) {
    const header = `NRRD0004\ntype: uint8\ndimension: 3\nsizes: ${side} ${side} ${side}\nencoding: raw\nspacings: 1 1 1\n\n`;
    const samples = new Uint8Array(side ** 3);
    const middle = (side - 1) / 2;
    for (let i = 0; i < samples.length; i++) {
        const x = i % side, y = Math.floor(i / side) % side, z = Math.floor(i / side / side);
        samples[i] = Math.max(0, 255 - (400 / side) * Math.hypot(x - middle, y - middle, z - middle));
    }
    return Buffer.concat([Buffer.from(header), samples]);
}
// The same shape as halves, in NumPy's format: distances to its surface, some of them no number.
function halfBallVolume(side) {
    const text = `{'descr': '<f2', 'fortran_order': False, 'shape': (${side}, ${side}, ${side}), }`;
    const header = Buffer.alloc(128, " ");
    header.write("\x93NUMPY\x01\x00", "latin1");
    header.writeUInt16LE(118, 8);
    header.write(text, 10);
    header.write("\n", 127);
    const half = (value) => {
        const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
        return value === 0 ? 0 : ((bits >>> 16) & 0x8000) | ((((bits >>> 23) & 0xff) - 112) << 10) | ((bits >>> 13) & 0x3ff);
    };
    const middle = (side - 1) / 2, samples = new Uint16Array(side ** 3);
    for (let i = 0; i < samples.length; i++)
        samples[i] = half(0.3 * side - Math.hypot(i % side - middle, Math.floor(i / side) % side - middle, Math.floor(i / side / side) - middle));
    samples[0] = 0x7e00;
    return Buffer.concat([header, Buffer.from(samples.buffer)]);
}
function ringOfPoints(count) {
    let text = "";
    for (let i = 0; i < count; i++) {
        const angle = (2 * Math.PI * i) / count;
        text += `${(5 * Math.cos(angle)).toFixed(4)} ${(5 * Math.sin(angle)).toFixed(4)} ${(0.5 * Math.sin(5 * angle)).toFixed(4)}\n`;
    }
    return text;
}
const plyOf = (text) => {
    const lines = text.trim().split("\n");
    return `ply\nformat ascii 1.0\nelement vertex ${lines.length}\nproperty float x\nproperty float y\nproperty float z\nend_header\n${text}`;
};

export default async function (t) {
    await t.test("a click tells triangle, place, cell and value", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const side = 32, header = `NRRD0004\ntype: uint8\ndimension: 3\nsizes: ${side} ${side} ${side}\nspace dimension: 3\n` +
            "space directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (100,200,300)\nencoding: raw\n\n";
        await drop(page, ".stage", ["ball.nrrd", Buffer.concat([Buffer.from(header), ballVolume(side).subarray(-(side ** 3))])]);
        await page.getByText("ball.nrrd: 32 × 32 × 32").waitFor({ timeout: 30 * SECONDS });
        await surfaceIsThere(page);
        await flip(page, "Turn");
        await stillness(page);
        const told = page.locator(".panel-surface .pick p");
        await page.mouse.click(270, 300);
        await told.waitFor({ timeout: 60 * SECONDS });
        const text = await told.innerText();
        const [, place, cell, value] = /^Triangle [\d\u2009]+\n\((.*)\)\ncell (.*), value (.*)$/.exec(text) ?? assert.fail(text);
        const at = place.split(", ").map(Number), sample = at.map((x, k) => (x - [100, 200, 300][k]) / 2);
        // As far from the middle as the samples fall to the isovalue, but for their rounding.
        const radius = Math.hypot(...sample.map((x) => x - (side - 1) / 2)), wanted = (255 - Number(value)) * side / 400;
        assert.ok(Math.abs(radius - wanted) < 0.2, `${radius} against ${wanted}`);
        assert.equal(cell, sample.map((x) => Math.floor(x)).join(", "));
        const ring = async () => {
            const { x, y, width, height } = await page.locator(".panel-surface .pick i").boundingBox();
            return [x + width / 2, y + height / 2];
        };
        const [x, y] = await ring();
        assert.ok(Math.hypot(x - 270, y - 300) < 2.5, `the ring is at ${x}, ${y}`);
        await shot(page, "surface-pick");
        // It turns with the surface, and goes with it.
        await page.focus(".panel-surface .stage");
        await page.keyboard.press("ArrowLeft");
        await stillness(page);
        assert.ok(Math.hypot((await ring())[0] - x, (await ring())[1] - y) > 5);
        await page.getByRole("slider", { name: "Isovalue" }).fill("100");
        await told.waitFor({ state: "hidden", timeout: 30 * SECONDS });
        assert.deepEqual(await page.locator("#alerts .message").allTextContents(), []);
    });

    await t.test("a dropped volume shows its physical values, by a negative slope, too", async ({ open, assert }) => {
        const page = await openPanel(open), side = 32, header = new DataView(new ArrayBuffer(352));
        header.setInt32(0, 348, true);
        [3, side, side, side, 1, 1, 1, 1].forEach((n, k) => header.setInt16(40 + 2 * k, n, true));
        header.setInt16(70, 2, true), header.setInt16(72, 8, true); // u8
        [1, 1, 1, 1, 0, 0, 0, 0, 352, -0.5, 100].forEach((x, k) => header.setFloat32(76 + 4 * k, x, true));
        [..."n+1"].forEach((c, k) => header.setUint8(344 + k, c.charCodeAt(0)));
        // Physical values are 100 - stored / 2: half of the ball's, less 27.5.
        const stored = ballVolume(side).subarray(-(side ** 3)).map((x) => 255 - x);
        await drop(page, ".stage", ["ball.nii", Buffer.concat([Buffer.from(header.buffer), Buffer.from(stored)])]);
        await page.getByText("ball.nii: 32 × 32 × 32").waitFor({ timeout: 30 * SECONDS });
        await surfaceIsThere(page);
        await flip(page, "Turn");
        await stillness(page);
        const told = page.locator(".panel-surface .pick p");
        await page.mouse.click(270, 300);
        await told.waitFor({ timeout: 60 * SECONDS });
        const text = await told.innerText();
        const [, place, value] = /\((.*)\)\ncell .*, value (.*)$/.exec(text) ?? assert.fail(text);
        assert.ok(Number(value) >= -27.5 && Number(value) <= 100, text);
        const radius = Math.hypot(...place.split(", ").map((x) => Number(x) - (side - 1) / 2));
        const wanted = (255 - 2 * (Number(value) + 27.5)) * side / 400;
        assert.ok(Math.abs(radius - wanted) < 0.3, `${radius} against ${wanted}`);
    });

    await t.test("what moves halts for a click that meets it", async ({ open, shot, assert }) => {
        const page = await openPanel(open), told = page.locator(".panel-surface .pick p");
        // Beside the surface there is nothing; it goes on.
        await page.mouse.click(40, 420);
        await page.waitForTimeout(1500);
        assert.ok(await told.isHidden());
        await page.waitForFunction(() => document.querySelector(".play button").textContent === "Pause", null, { timeout: 30 * SECONDS });
        await page.focus(".panel-surface .stage");
        await page.keyboard.press("Enter");
        await told.waitFor({ timeout: 60 * SECONDS });
        assert.equal(await page.textContent(".play button"), "Play");
        await shot(page, "surface-pick-dancer");
        // It is the same surface when the device takes over.
        await page.waitForFunction(() => !document.querySelector(".timing").textContent.includes("on the processor"), null, { timeout: 120 * SECONDS });
        await page.waitForTimeout(1500);
        assert.match(await told.innerText(), /^Triangle /);
        assert.ok(await told.isVisible());
    });

    await t.test("a surface is on the screen, and moves", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        if (await page.getByRole("switch", { name: "Turn" }).isChecked())
            await flip(page, "Turn"); // what moves is the surface itself
        const first = await picture(page, ".stage-canvas");
        const filled = share(first, isClay);
        assert.ok(filled > 0.02 && filled < 0.6, `clay on ${filled} of the stage`);
        await page.waitForTimeout(1500);
        assert.ok(difference(first, await picture(page, ".stage-canvas")) > 0.002, "it stands still");
        assert.equal(await page.textContent(".pipeline li:nth-child(2) b"), "64³");
        await shot(page, "surface-dark");

        await pause(page);
        const still = await stillness(page);
        assert.ok(share(still, isClay) > 0.02);
    });

    await t.test("each scene, on both backgrounds", async ({ open, shot, assert }) => {
        const page = await openPanel(open, "#surface/grid=64", { colorScheme: "light" });
        const pictures = [];
        for (const name of ["Swarm", "Water", "Dancer"]) {
            await choose(page, name);
            await page.waitForTimeout(300);
            await surfaceIsThere(page);
            await page.waitForTimeout(500);
            pictures.push(await picture(page, ".stage-canvas"));
            await shot(page, `surface-${name.toLowerCase()}-light`);
        }
        for (const [i, one] of pictures.entries())
            assert.ok(difference(one, pictures[(i + 1) % 3]) > 0.02, `scenes ${i} and ${(i + 1) % 3} look alike`);
    });

    await t.test("the flood: particles by kernels, where they take the less time", async ({ open, shot, assert }) => {
        const page = await openPanel(open, "#surface/scene=flood&grid=64");
        assert.equal((await page.textContent(".pipeline li:first-child b")).replaceAll(/\s/g, ""), "65536");
        await page.waitForFunction(() => !document.querySelector(".timing").textContent.includes("until the device is ready"),
                                   null, { timeout: 150 * SECONDS });
        const first = await picture(page, ".stage-canvas");
        assert.ok(share(first, isWater) > 0.05, `water on ${share(first, isWater)} of the stage`);
        await page.waitForTimeout(3000);
        assert.ok(difference(first, await picture(page, ".stage-canvas")) > 0.01, "it stands still");
        await shot(page, "surface-flood");
        await flip(page, "Turn");
        await pause(page);
        const count = await triangles(page), download = page.waitForEvent("download");
        await page.getByRole("button", { name: "STL", exact: true }).click();
        const stl = await readFile(await (await download).path());
        assert.ok(Math.abs(stl.readUInt32LE(80) - count) < 0.02 * count, `${stl.readUInt32LE(80)} triangles saved, ${count} shown`);
    });

    await t.test("the flood is the same on the device and on the processor", async ({ open, assert }) => {
        const page = await open("test/blank.html");
        const { far, lit, both, steps } = await page.evaluate(async () => {
            const [{ Trommel }, { FLOOD_AT_REST, Flood }, { createPapers }, { LiveSurface }, { MeshRenderer }, { ArrayRenderer }, { OrbitCamera }] =
                await Promise.all(["trommel/index.js", "lib/flood.js", "lib/papers.js", "lib/live_surface.js", "lib/mesh_renderer.js",
                                   "lib/array_renderer.js", "lib/orbit_camera.js"].map((path) => import(`/${path}`)));
            const SIDE = 48, PICTURE = 256, STEPS = 5;
            const grid = { dims: [SIDE, SIDE, SIDE], origin: [-1, -1, -1], spacing: [0, 0, 0].map(() => 2 / (SIDE - 1)) };
            const surface = { iso: 0.4 * FLOOD_AT_REST, normals: "central" };
            const look = { colors: 0, wire: 0, clay: [0.3, 0.6, 0.8], sky: [0.4, 0.5, 0.6], ground: [0.1, 0.1, 0.1] };
            const model = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), view = new OrbitCamera().view(1);
            const gl = Object.assign(document.createElement("canvas"), { width: PICTURE, height: PICTURE }).getContext("webgl2", { antialias: false });
            const arrays = new ArrayRenderer(gl), pixels = [];
            const drawn = (draw) => {
                arrays.clear(PICTURE, PICTURE);
                draw();
                const data = new Uint8Array(4 * PICTURE * PICTURE);
                gl.readPixels(0, 0, PICTURE, PICTURE, gl.RGBA, gl.UNSIGNED_BYTE, data);
                pixels.push(data.filter((_, i) => i % 4 === 3));
            };
            const flow = (flood, volume) => {
                flood.evaluate(volume, grid);
                for (let step = 0; step < STEPS; step++)
                    flood.advance(1.001 / 60, volume, grid);
                return flood.state();
            };
            const t = await Trommel.create(gl), live = new LiveSurface(t, () => {});
            live.setGrid(grid);
            const onDevice = await flow(await Flood.create(t), live.volume);
            live.extract(surface);
            drawn(() => new MeshRenderer(gl).drawMesh(live.mesh(model), view, look));
            const cpu = await createPapers(null, { engine: "cpu" }), samples = cpu.buffer({ type: "f32", count: SIDE ** 3 });
            const onHost = await flow(await Flood.create(cpu), samples);
            drawn(() => arrays.drawMesh("host", cpu.surface({ ...grid, data: samples }, { ...surface, soup: true }), model, view, look));
            return {
                far: onDevice.positions.reduce((sum, at, i) => sum + Math.abs(at - onHost.positions[i]), 0) / onDevice.positions.length,
                lit: pixels.map((picture) => picture.reduce((sum, alpha) => sum + (alpha > 0), 0)),
                both: pixels[0].reduce((sum, alpha, i) => sum + (alpha > 0 && pixels[1][i] > 0), 0),
                steps: Math.round(60 * onDevice.time),
            };
        });
        assert.equal(steps, 5);
        assert.ok(far < 1e-5, `places differ by ${far} on average`);
        assert.ok(lit[0] > 5000, `${lit[0]} pixels of water`);
        assert.ok(both > 0.995 * Math.max(...lit), `${both} of ${lit} pixels are lit alike`);
    });

    await t.test("sliders, normals, soup, colours and lines change the picture", async ({ open, shot, root, assert }) => {
        const page = await openPanel(open, "#surface/grid=64", { reducedMotion: "reduce" });
        let before = await stillness(page);
        const changed = async (what, least = 0.0008) => {
            const after = await stillness(page);
            assert.ok(difference(before, after) >= least, `${what}: ${difference(before, after)} of the picture changed`);
            before = after;
        };
        const few = await triangles(page);
        await page.getByRole("slider", { name: "Radius of a point" }).focus();
        for (let i = 0; i < 30; i++)
            await page.keyboard.press("ArrowRight");
        await changed("radius");
        assert.notEqual(await triangles(page), few);
        await page.getByRole("slider", { name: "Isovalue" }).focus();
        for (let i = 0; i < 3; i++)
            await page.keyboard.press("PageUp");
        await changed("isovalue");
        await choose(page, "128³");
        await page.waitForFunction(() => document.querySelector(".pipeline li:nth-child(2) b").textContent === "128³");
        await changed("128³", 0);
        await page.waitForFunction((least) => Number(document.querySelector(".pipeline li:last-child b").textContent.replaceAll(/\s/g, "")) > least,
                                   2 * few, { timeout: 60 * SECONDS });
        await choose(page, "64³");
        await changed("64³", 0);
        await choose(page, "Normals");
        await changed("colours of normals", 0.02);
        await choose(page, "Flat");
        await changed("flat triangles", 0.005);
        await choose(page, "Sobel");
        await changed("Sobel's normals", 0.005);
        // The mesh alone, drawn by the device: settings lie over the picture's right, figures over its top.
        const meshOnDevice = async () => {
            await page.waitForFunction(() => !/on the processor/.test(document.body.innerText));
            before = await stillness(page);
            const rows = [];
            for (let y = before.height * 0.45; y < before.height * 0.8; y++)
                rows.push(before.data.subarray(4 * Math.floor(y) * before.width, 4 * (Math.floor(y) * before.width + Math.floor(before.width / 2))));
            return { data: Buffer.concat(rows) };
        };
        const welded = await meshOnDevice(), made = await triangles(page);
        await choose(page, "Soup");
        await page.waitForTimeout(500);
        assert.equal(difference(welded, await meshOnDevice()), 0, "a soup looks as the welded mesh does");
        assert.equal(await triangles(page), made);
        await choose(page, "Triangles per cell");
        await changed("triangles per cell", 0.02);
        // Shares of the crossed cells, once they are counted; the colours are the command's.
        await page.waitForFunction(() => /%/.test(document.querySelector(".legend li:last-child").textContent), null, { timeout: 30000 });
        const shares = await page.$$eval(".legend li", (items) => items.map((item) => Number(/: ([0-9.]+) %$/.exec(item.textContent)[1])));
        assert.equal(shares.length, 5);
        assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 100) < 0.3 && shares[0] > 0, `${shares}`);
        const table = /colors\[\]\[PIXEL\] = \{([^;]*)\};/.exec(await readFile(join(root, "cli/draw/cells.c"), "utf8"))[1];
        const command = [...table.matchAll(/\{(\d+), (\d+), (\d+), 255\}/g)].map((color) => color.slice(1).map(Number));
        const colors = await page.$$eval(".legend i", (items) => items.map((item) => getComputedStyle(item).backgroundColor.match(/\d+/g).map(Number)));
        assert.deepEqual(colors, command.slice(1, 6));
        await shot(page, "surface-cells");
        await choose(page, "Clay");
        await choose(page, "Welded");
        await changed("clay", 0.02);
        await flip(page, "Wireframe");
        await changed("wireframe", 0.01);
        await flip(page, "Box");
        await changed("box");
        const bare = await meshOnDevice();
        await flip(page, "Points");
        await page.waitForTimeout(500);
        const dotted = difference(bare, await meshOnDevice());
        assert.ok(dotted > 0.002, `points: ${dotted} of the picture changed`);
        await shot(page, "surface-wireframe");
    });

    await t.test("the camera by mouse and by keys; pausing", async ({ open, assert }) => {
        const page = await openPanel(open, "#surface/grid=64", { reducedMotion: "reduce" });
        assert.equal(await page.textContent(".play button"), "Play", "who wants less motion gets none unasked");
        let before = await stillness(page);
        await page.mouse.move(260, 320);
        await page.mouse.down();
        await page.mouse.move(380, 300, { steps: 4 });
        await page.mouse.up();
        let after = await stillness(page);
        assert.ok(difference(before, after) > 0.01, "dragging turns");
        before = after;
        await page.mouse.wheel(0, -300);
        after = await stillness(page);
        assert.ok(share(after, isClay) > 1.1 * share(before, isClay), "the wheel brings it nearer");
        await page.focus(".stage");
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("ArrowLeft");
        const turned = await stillness(page);
        assert.ok(difference(turned, after) > 0.005, "arrow keys turn");
        await page.keyboard.press(" ");
        await page.waitForTimeout(900);
        assert.ok(difference(turned, await picture(page, ".stage-canvas")) > 0.002, "space plays");
        await page.keyboard.press(" ");
        await stillness(page);
    });

    await t.test("the CT engine: an isovalue's count is the CPU engine's", async ({ open, shot, assert }) => {
        const page = await openPanel(open, "#surface/scene=engine", { reducedMotion: "reduce" });
        const isShown = async (iso) => {
            const expected = await page.evaluate(async (value) => {
                const { Trommel } = await import("./trommel/index.js");
                const packed = (await fetch("data/engine_256x256x128_uint8.raw.gz")).body.pipeThrough(new DecompressionStream("gzip"));
                const trommel = await Trommel.create(null, { engine: "cpu", threads: 1 });
                const data = new Uint8Array(await new Response(packed).arrayBuffer());
                const { triangleCount } = trommel.surface({ data, dims: [256, 256, 128] }, { iso: value });
                trommel.close();
                return triangleCount;
            }, iso);
            await page.waitForFunction((count) => Number(document.querySelector(".pipeline li:last-child b").textContent.replaceAll(/\s/g, "")) === count,
                                       expected, { timeout: 60 * SECONDS });
        };
        await isShown(80);
        assert.ok(share(await stillness(page), (r, g, b) => r > 100 && r > b) > 0.03);
        await shot(page, "surface-engine");
        await page.getByRole("slider", { name: "Isovalue" }).fill("150");
        await isShown(150);
    });

    await t.test("files: points and volumes dropped and opened, damaged ones told", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const tell = async (pattern) => {
            await page.getByText(pattern).last().waitFor({ timeout: 60 * SECONDS });
        };
        await drop(page, ".stage", ["ring.xyz", ringOfPoints(400)]);
        await tell(/ring\.xyz: 400 points/);
        await surfaceIsThere(page);
        assert.equal(await page.textContent(".pipeline li:first-child b"), "400");
        assert.ok(share(await picture(page, ".stage-canvas"), isClay) > 0.005);

        await drop(page, ".stage", ["half.npy", halfBallVolume(32)]);
        await tell(/half\.npy: 32 × 32 × 32 samples of f16/);
        await surfaceIsThere(page);

        await drop(page, ".stage", ["ball.nrrd", ballVolume(32)]);
        await tell(/ball\.nrrd: 32 × 32 × 32 samples of u8/);
        await surfaceIsThere(page);
        await shot(page, "surface-dropped");

        for (const [name, content] of [["cut.nrrd", ballVolume(32).subarray(0, 9000)], ["nonsense.ply", "ply\nformat ascii 1.0\nelement vertex 3\n"],
                                       ["cut.nii.gz", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3])], ["noise.bin", "\x01\x02\x03\x04"]]) {
            await drop(page, ".stage", [name, content]);
            await page.locator("#alerts .message", { hasText: `${name} cannot be opened: ` }).waitFor({ timeout: 30 * SECONDS });
        }
        await drop(page, ".stage", ["a.xyz", ringOfPoints(200)], ["b.xyz", ringOfPoints(100)]);
        await tell(/a\.xyz was opened, of 2 files/);

        // The page lives on.
        const chooser = page.waitForEvent("filechooser");
        await page.getByRole("button", { name: /a\.xyz/ }).click();
        await (await chooser).setFiles({ name: "ring.ply", mimeType: "", buffer: Buffer.from(plyOf(ringOfPoints(300))) });
        await tell(/ring\.ply: 300 points/);
        await choose(page, "Dancer");
        await page.waitForTimeout(300);
        await surfaceIsThere(page);
        assert.ok(share(await picture(page, ".stage-canvas"), isClay) > 0.02);
    });

    await t.test("what is shown is saved: PLY, STL and GLB", async ({ open, assert }) => {
        const page = await openPanel(open, "#surface/grid=64", { reducedMotion: "reduce" });
        await stillness(page);
        const count = await triangles(page);
        const saved = async (format) => {
            const download = page.waitForEvent("download");
            await page.getByRole("button", { name: format, exact: true }).click();
            const file = await download;
            assert.equal(file.suggestedFilename(), `dancer.${format.toLowerCase()}`);
            return readFile(await file.path());
        };
        const ply = (await saved("PLY")).toString("latin1");
        assert.match(ply, new RegExp(`element face ${count}\\b`));
        const stl = await saved("STL");
        assert.equal(stl.readUInt32LE(80), count);
        assert.equal(stl.length, 84 + 50 * count);
        const glb = await saved("GLB");
        assert.equal(glb.toString("latin1", 0, 4), "glTF");
        assert.equal(glb.readUInt32LE(8), glb.length);
    });

    await t.test("a lost context comes back, with its surface", async ({ open, assert }) => {
        const page = await openPanel(open);
        await page.evaluate(() => {
            window.loss = document.querySelector(".stage-canvas").getContext("webgl2").getExtension("WEBGL_lose_context");
            window.loss.loseContext();
        });
        await page.getByText("The graphics context was lost").waitFor();
        await page.evaluate(() => window.loss.restoreContext());
        await page.getByText("The graphics context is back").waitFor({ timeout: 60 * SECONDS });
        await page.waitForTimeout(1000);
        await surfaceIsThere(page);
        const first = await picture(page, ".stage-canvas");
        assert.ok(share(first, isClay) > 0.02);
        await page.waitForTimeout(1000);
        assert.ok(difference(first, await picture(page, ".stage-canvas")) > 0.002, "and moves");
    });

    await t.test("where nothing moves the device takes over all the same, also after a lost context", async ({ open, assert }) => {
        const page = await openPanel(open, "#surface/grid=64", { reducedMotion: "reduce" });
        await page.evaluate(() => {
            window.loss = document.querySelector(".stage-canvas").getContext("webgl2").getExtension("WEBGL_lose_context");
            window.loss.loseContext();
        });
        await page.getByText("The graphics context was lost").waitFor();
        const count = await triangles(page);
        await page.evaluate(() => window.loss.restoreContext());
        await page.waitForFunction(() => !document.querySelector(".timing").textContent.includes("on the processor"), null, { timeout: 120 * SECONDS });
        assert.ok(share(await stillness(page), isClay) > 0.02);
        assert.equal(await triangles(page), count);
    });

    await t.test("without WebGL 2 the processor makes the surface", async ({ open, shot, assert }) => {
        const page = await openWithoutWebGL2(open, "/#surface/grid=64", { viewport: SMALL, colorScheme: "dark" });
        await surfaceIsThere(page);
        await page.getByText("for want of WebGL 2").waitFor();
        const first = await picture(page, ".stage-canvas");
        assert.ok(share(first, isClay) > 0.02);
        await page.waitForTimeout(1500);
        assert.ok(difference(first, await picture(page, ".stage-canvas")) > 0.002, "it stands still");
        assert.ok(await page.getByRole("radio", { name: "Triangles per cell" }).isDisabled());
        await flip(page, "Wireframe");
        await choose(page, "Soup");
        await choose(page, "Flat");
        await page.waitForTimeout(1000);
        await shot(page, "surface-webgl1");
        // The other panels do with what there is.
        await page.getByRole("tab", { name: "Exposure" }).click();
        await page.locator(".exposure .histogram .bins").waitFor({ timeout: 60 * SECONDS });
        await page.getByRole("tab", { name: "Compaction" }).click();
        await page.getByText(/Compared with the library: compaction on the CPU engine gives the same/).waitFor({ timeout: 60 * SECONDS });
    });

    await t.test("a volume lies where its header says on every path", async ({ open, shot, assert }) => {
        // Far away, with its axes turned, and not alike from any two sides.
        const side = 24, samples = new Uint8Array(side ** 3);
        for (let i = 0; i < samples.length; i++) {
            const x = i % side, y = Math.floor(i / side) % side, z = Math.floor(i / side / side);
            const inside = Math.hypot(x - 7, y - 7, z - 7) < 5 || (y > 5 && y < 9 && z > 5 && z < 9 && x > 6 && x < 21) || (z > 6 && z < 20 && Math.hypot(x - 7, y - 7) < 2.5);
            samples[i] = inside ? 200 : 20;
        }
        const header = `NRRD0004\ntype: uint8\ndimension: 3\nspace: right-anterior-superior\nsizes: ${side} ${side} ${side}\nencoding: raw\n` +
            "space directions: (0,2,0) (-2,0,0) (0,0,2)\nspace origin: (130,-70,45)\n\n";
        const file = { name: "placed.nrrd", mimeType: "application/octet-stream", buffer: Buffer.concat([Buffer.from(header), samples]) };
        const options = { viewport: SMALL, colorScheme: "dark", reducedMotion: "reduce" };
        const pictures = [];
        for (const way of ["host", "device"]) {
            const page = way === "host" ? await openWithoutWebGL2(open, "/#surface/grid=64", options) : await openPanel(open, "#surface/grid=64", options);
            await surfaceIsThere(page);
            await page.setInputFiles("input[type=file]", file);
            await page.getByText("24 × 24 × 24", { exact: true }).waitFor();
            if (way === "device")
                await page.waitForFunction(() => !document.querySelector(".timing").textContent.includes("on the processor"), null, { timeout: 120 * SECONDS });
            await page.waitForFunction(() => /[1-9]/.test(document.querySelector(".pipeline li:last-child b").textContent), null, { timeout: 60 * SECONDS });
            await clearMessages(page);
            pictures.push(await stillness(page));
            await shot(page, `surface-placed-${way}`);
        }
        const [host, device] = pictures;
        const isBone = (r, g, b) => r + g + b > 300;
        assert.ok(share(device, isBone) > 0.03, `${share(device, isBone)} of the stage is bone`);
        assert.ok(difference(host, device) < 0.1 * share(device, isBone), `${difference(host, device)} of the stage differs`);
    });

    await t.test("a link is the view: place, moment and a file by its address; and the picture is saved", async ({ open, assert }) => {
        const options = { viewport: SMALL, colorScheme: "dark", reducedMotion: "reduce" };
        const page = await openPanel(open, "#surface/scene=swarm&grid=64&time=12.5&view=1.2,0.4,3.5,0.1,0,0", options);
        const first = await stillness(page);
        await page.locator(".stage").press("ArrowRight");
        await page.waitForFunction(() => !location.hash.includes("view=1.2%2C"));
        assert.ok(difference(first, await stillness(page)) > 0.005, "turned");
        const other = await openPanel(open, "#surface/scene=swarm&grid=64&time=12.5&view=1.2,0.4,3.5,0.1,0,0", options);
        assert.ok(difference(first, await stillness(other)) < 0.004, "the same view");

        const download = page.waitForEvent("download");
        await page.getByRole("button", { name: "PNG", exact: true }).click();
        const png = await readFile(await (await download).path()), canvas = await page.locator(".stage-canvas").boundingBox();
        assert.equal(png.toString("latin1", 1, 4), "PNG");
        assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2 * canvas.width, 2 * canvas.height]);

        const far = await open("#surface/url=data%2Fengine_256x256x128_uint8.raw.gz", options);
        await far.getByText("engine_256x256x128_uint8.raw.gz: 256 × 256 × 128 samples of u8").waitFor({ timeout: 60 * SECONDS });
        const missing = await open("#surface/url=nowhere.nrrd", { ...options, allow: /404/ });
        await missing.getByText("nowhere.nrrd cannot be read: 404").waitFor();
    });

    await t.test("on a phone the dancer's hand is below the figures", async ({ open, assert }) => {
        const page = await openPanel(open, "#surface", { viewport: { width: 390, height: 844 }, colorScheme: "dark", reducedMotion: "reduce" });
        await page.waitForFunction(() => document.querySelector(".panel-surface .timing").textContent);
        assert.ok(share(await picture(page, ".panel-surface .stage-canvas"), isClay) > 0.02, "she is there");
        assert.equal(share(await picture(page, ".panel-surface .timing"), isClay), 0);
    });

    await t.test("a link carries the settings; a phone's width", async ({ open, shot, assert }) => {
        const page = await openPanel(open, "#surface/scene=water&grid=64&normals=central&colors=normals&wire=1&iso=0.6",
                                     { viewport: { width: 390, height: 780 }, colorScheme: "dark", hasTouch: true });
        assert.ok(await page.getByRole("radio", { name: "Water" }).isChecked());
        assert.ok(await page.getByRole("radio", { name: "Central" }).isChecked());
        assert.ok(await page.getByRole("switch", { name: "Wireframe" }).isChecked());
        assert.equal(Number(await page.getByRole("slider", { name: "Isovalue" }).inputValue()).toFixed(2), "0.60");
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the phone");
        await shot(page, "surface-phone");
        await flip(page, "Wireframe");
        await page.waitForFunction(() => !location.hash.includes("wire") && location.hash.includes("scene=water"));
    });
}
