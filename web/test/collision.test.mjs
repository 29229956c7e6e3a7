// The Collision panel: pairs that follow the meshes, files, keys and the pointer; a mesh that meets itself.
import { Trommel } from "../../build/web/package/node.js";
import { eight, sphere } from "../lib/shapes.js";
import { drop } from "./drop.mjs";
import { difference, picture } from "./pixels.mjs";

const SECONDS = 1000;
const SMALL = { width: 840, height: 540 };
const BOX = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n" +
    "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
const isMark = (r, g, b) => r > 120 && r > 1.8 * g && r > 2 * b;

// Of the part of the stage that no control covers.
function marks({ width, height, data }) {
    let found = 0;
    for (let y = 0; y < height; y++)
        for (let x = 0; x < 0.6 * width; x++) {
            const at = 4 * (y * width + x);
            found += isMark(data[at], data[at + 1], data[at + 2]) ? 1 : 0;
        }
    return found;
}

const pairs = async (page) => Number((await page.textContent(".figures b")).replaceAll(/\s/g, ""));
async function openPanel(open, options = {}, hash = "#collision") {
    const page = await open(hash, { viewport: SMALL, colorScheme: "dark", reducedMotion: "reduce", ...options });
    await page.waitForFunction(() => /\d/.test(document.querySelector(".panel-collision .figures b")?.textContent ?? ""),
                               null, { timeout: 60 * SECONDS });
    return page;
}
async function settled(page, is) {
    await page.waitForFunction((text) => new Function("n", `return ${text}`)(
        Number(document.querySelector(".figures b").textContent.replaceAll(/\s/g, ""))), is, { timeout: 30 * SECONDS });
}

// Which triangles of a mesh cross, by a rule of its own: of two that share no place, an edge of one goes through the
// other. Pairs of numbers; for meshes of which no four such corners lie in one plane.
function crossings({ positions, indices }) {
    const at = (i) => [...positions.subarray(3 * indices[i], 3 * indices[i] + 3)], pairs = [];
    const triangles = Array.from({ length: indices.length / 3 }, (_, t) => [at(3 * t), at(3 * t + 1), at(3 * t + 2)]);
    const keys = triangles.map((corners) => corners.map(String));
    const side = (a, b, c, d) => {
        const [u, v, w] = [b, c, d].map((p) => p.map((x, k) => x - a[k]));
        return Math.sign(u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]));
    };
    const pierces = (p, q, [a, b, c]) => side(a, b, c, p) !== side(a, b, c, q) &&
        side(p, q, a, b) === side(p, q, b, c) && side(p, q, b, c) === side(p, q, c, a);
    const edges = ([a, b, c]) => [[a, b], [b, c], [c, a]];
    for (let i = 0; i < triangles.length; i++)
        for (let j = i + 1; j < triangles.length; j++)
            if (!keys[i].some((key) => keys[j].includes(key)) &&
                [[i, j], [j, i]].some(([e, f]) => edges(triangles[e]).some(([p, q]) => pierces(p, q, triangles[f]))))
                pairs.push([i, j]);
    return pairs;
}

export default async function (t) {
    await t.test("a dropped mesh is told where it meets itself; neighbours do not meet", async ({ open, shot, assert }) => {
        const ball = sphere(2), trommel = await Trommel.create(null, { engine: "cpu" });
        // Two balls that overlap, in one file.
        const mesh = { positions: Float32Array.from([...ball.positions, ...ball.positions.map((x, i) => 7 * x + [6.1, 0.23, 0.57][i % 3])]),
                       indices: Uint32Array.from([...ball.indices, ...ball.indices.map((i) => i + ball.positions.length / 3)]) };
        mesh.positions.forEach((x, i) => i < ball.positions.length && (mesh.positions[i] = 7 * x));
        const expected = crossings(mesh), meeting = new Set(expected.flat());
        assert.ok(expected.length > 50);
        const page = await openPanel(open);
        const timing = page.locator(".panel-collision .timing"), second = page.getByRole("group", { name: "Second mesh" });
        await drop(page, ".panel-collision .stage", ["balls.glb", [...trommel.saveMesh(mesh, "glb")]]);
        await page.getByText("balls.glb: 640 triangles").waitFor({ timeout: 30 * SECONDS });
        await timing.getByText(`${meeting.size} of 640 triangles meet another`).waitFor({ timeout: 30 * SECONDS });
        assert.equal(await pairs(page), expected.length);
        assert.ok(await second.getByRole("radio", { name: "Itself" }).isChecked());
        assert.equal(await page.getByRole("slider").count(), 0);
        await page.waitForFunction(() => /[/&]b=itself/.test(location.hash));
        await page.waitForTimeout(600);
        await shot(page, "collision-itself");
        const lit = await picture(page, ".panel-collision .stage-canvas"), box = await page.locator(".panel-collision .stage-canvas").boundingBox();
        assert.ok(marks(lit) > 40, `${marks(lit)} pixels are lit`);
        // A triangle says how many it meets.
        let text = "";
        for (let y = 100; y < lit.height && !/meets \d/.test(text); y += 3)
            for (let x = 40; x < 0.6 * lit.width && !/meets \d/.test(text); x += 3)
                if (isMark(...lit.data.subarray(4 * (y * lit.width + x), 4 * (y * lit.width + x) + 3))) {
                    await page.mouse.click(box.x + x + 0.5, box.y + y + 0.5);
                    await page.waitForTimeout(200);
                    text = await page.locator(".panel-collision .pick p").innerText();
                }
        const [, triangle, met] = /^Triangle (\d+)\n.*\nmeets (\d+) others?: \d/.exec(text);
        assert.equal(Number(met), expected.filter((pair) => pair.includes(Number(triangle))).length);

        // A soup: its neighbours share places, and no corner.
        await drop(page, ".panel-collision .stage", ["ball.stl", [...trommel.saveMesh(ball, "stl")]]);
        await timing.getByText("320 triangles, the mesh does not meet itself").waitFor({ timeout: 30 * SECONDS });
        assert.equal(await pairs(page), 0);
        await page.waitForTimeout(600);
        assert.equal(marks(await picture(page, ".panel-collision .stage-canvas")), 0);
        await second.getByRole("radio", { name: "Torus" }).check({ force: true });
        await settled(page, "n > 0");
        assert.equal(await page.getByRole("slider").count(), 2);
        // By now the visitor has chosen.
        await drop(page, ".panel-collision .stage", ["balls.glb", [...trommel.saveMesh(mesh, "glb")]]);
        await timing.getByText("9\u2009856 triangles").waitFor({ timeout: 30 * SECONDS });
        assert.ok(await second.getByRole("radio", { name: "Torus" }).isChecked());
        await page.close();

        const linked = await openPanel(open, {}, "#collision/a=eight&b=itself");
        await settled(linked, `n === ${trommel.collide(trommel.tree(eight())).count}`);
        await shot(linked, "collision-eight");
        trommel.close();
    });

    await t.test("a mesh dropped elsewhere is offered to be met with itself", async ({ open, assert }) => {
        const page = await open("#surface", { viewport: SMALL, reducedMotion: "reduce" });
        await drop(page, "#panel-surface", ["box.obj", BOX]);
        await page.getByRole("button", { name: "Does it meet itself?" }).click({ timeout: 60 * SECONDS });
        await page.locator(".panel-collision .timing").getByText("12 triangles, the mesh does not meet itself").waitFor({ timeout: 60 * SECONDS });
        await page.goBack();
        await page.locator("#panel-subdivision").waitFor();
        assert.equal(await page.locator("#alerts .message").count(), 0);
    });

    await t.test("triangles that meet are lit, and those apart are not", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        assert.ok((await pairs(page)) > 20);
        await page.waitForTimeout(600);
        const bars = await page.$$eval(".steps li", (items) => items.map((item) => [item.title, item.getBoundingClientRect().height]));
        assert.ok(bars.length > 3 && /^Step 1 of \d+: 1 pair of boxes$/.test(bars[0][0]), bars[0][0]);
        assert.ok(bars.every(([, height]) => height > 0 && height <= 36) && bars.some(([, height]) => height > 30), "bars");
        const touching = await picture(page, ".panel-collision .stage-canvas");
        assert.ok(marks(touching) > 40, `${marks(touching)} pixels are lit`);
        await shot(page, "collision-dark");
        // The figures are the library's, for the pose that is shown.
        await page.getByRole("slider", { name: "Push it aside" }).fill("1.6");
        await page.getByRole("slider", { name: "Turn the second" }).fill("90");
        await page.keyboard.press("Tab");
        await page.focus(".panel-collision .stage");
        for (let i = 0; i < 25; i++)
            await page.keyboard.press("e");
        await settled(page, "n === 0");
        await page.waitForTimeout(600);
        const apart = await picture(page, ".panel-collision .stage-canvas");
        assert.equal(marks(apart), 0);
        for (let i = 0; i < 12; i++)
            await page.keyboard.press("q");
        await page.getByRole("slider", { name: "Push it aside" }).fill("0.3");
        await settled(page, "n > 0");
        assert.ok(difference(apart, await picture(page, ".panel-collision .stage-canvas")) > 0.01);
    });

    await t.test("the second mesh follows the pointer; elsewhere the camera does", async ({ open, assert }) => {
        const page = await openPanel(open);
        const aside = () => page.getByRole("slider", { name: "Push it aside" }).inputValue();
        const before = await aside();
        // The free part of the stage is its left; b stands a little right of its middle.
        await page.mouse.move(300, 290);
        await page.mouse.down();
        await page.mouse.move(220, 290, { steps: 4 });
        await page.mouse.up();
        assert.ok(Number(await aside()) < Number(before), `${await aside()} after ${before}`);
        const there = await aside();
        await page.mouse.move(30, 500);
        await page.mouse.down();
        await page.mouse.move(90, 500, { steps: 4 });
        await page.mouse.up();
        assert.equal(await aside(), there);
    });

    await t.test("a click tells the triangle and those that it meets, as long as they do", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        const told = page.locator(".panel-collision .pick p");
        const { width, height, data } = await picture(page, ".panel-collision .stage-canvas"), marked = [];
        const box = await page.locator(".panel-collision .stage-canvas").boundingBox();
        for (let y = 0; y < height; y++)
            for (let x = 0; x < 0.6 * width; x++)
                if (isMark(...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)))
                    marked.push([box.x + x + 0.5, box.y + y + 0.5]);
        assert.ok(marked.length > 40);
        // The meshes stand still; of lit pixels one is not at a triangle's edge.
        let text = "";
        for (let i = 0; i < 10 && !/meets [1-9]/.test(text); i++) {
            await page.mouse.click(...marked[Math.floor((i + 0.5) * marked.length / 10)]);
            await told.waitFor({ timeout: 30 * SECONDS });
            await page.waitForTimeout(150);
            text = await told.innerText();
        }
        assert.match(text, /^Triangle [\d\u2009]+ of the (first|second) mesh\n\([-\u2212\d., e]+\)\nmeets [1-9]\d* of the (first|second): \d/);
        await shot(page, "collision-pick");
        await page.getByRole("slider", { name: "Push it aside" }).fill("1.6");
        await page.getByText(/meets none of the/).waitFor({ timeout: 30 * SECONDS });
        await page.focus(".panel-collision .stage");
        await page.keyboard.press("Escape");
        await told.waitFor({ state: "hidden" });
    });

    await t.test("meshes dropped and chosen, damaged ones told", async ({ open, shot, assert }) => {
        const page = await openPanel(open);
        await drop(page, ".panel-collision .stage", ["one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"]);
        await page.locator(".panel-collision .timing").getByText("1 triangle, the mesh does not meet itself").waitFor({ timeout: 30 * SECONDS });
        await drop(page, ".panel-collision .stage", ["box.obj", BOX]);
        await page.getByText("box.obj: 12 triangles").waitFor({ timeout: 30 * SECONDS });
        await settled(page, "n === 0");
        await shot(page, "collision-dropped");
        await drop(page, ".panel-collision .stage", ["cut.stl", "solid\nfacet"]);
        await page.locator("#alerts .message", { hasText: "cut.stl cannot be opened: " }).waitFor({ timeout: 30 * SECONDS });
        await drop(page, ".panel-collision .stage", ["a.txt", "x"]);
        await page.locator("#alerts .message", { hasText: "here are OBJ, STL" }).waitFor({ timeout: 30 * SECONDS });
        await page.getByRole("group", { name: "Second mesh" }).getByRole("radio", { name: "Sphere" }).check({ force: true });
        await page.locator(".panel-collision .timing").getByText("20\u2009492 triangles").waitFor({ timeout: 30 * SECONDS });
        assert.ok((await pairs(page)) > 0);
    });
}
